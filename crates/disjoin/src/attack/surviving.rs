//! Which dependencies survive in a release: the paper's three networks, told by the names of columns and values.
//!
//! The adversary sees rows: those of a generalized table, or one way to put a split table together again
//! ([`deal`](crate::reconstruct::deal)). What counts as a leak are dependencies that lead to a sensitive column; those among
//! quasi-identifiers are told beside, for generalization makes most of them.
//!
//! Paper:      nadimpalli2014, "Dependencies detection": figures 2 to 4, Algorithm 1, risk levels
//! Promises:   those of [`dependency`](super::dependency); people are counted once, however many rules tell of them
//! Assumes:    a table whose columns have roles, as it is published. Columns that are neither quasi-identifiers nor sensitive are
//!             published beside, so whoever knows them may start from them: they stand with the quasi-identifiers
//! Departs:    nothing beyond [`dependency`](super::dependency). A missing value is a value as any other
//! Cost:       that of three networks; people take the rows times the risks
//! Checked by: tests/it/survive.rs

use rayon::prelude::*;
use serde::Serialize;

use super::dependency::{
    Belief, Dependency, Detect, Found, Options, Reading, Rule, belief, detect, fit, three_networks,
};
use crate::data::Table;
use crate::data::table::Role;
use crate::error::{Error, Result};
use crate::knowledge::network::{Coded, Cpt, Missing, Network, Risk};

/// How a value that is missing is told.
const MISSING: &str = "(missing)";

/// The rows that an adversary sees, and what their codes stand for.
#[derive(Debug, Clone)]
pub struct Published {
    /// The codes: quasi-identifiers and what is published beside them, then the sensitive columns.
    pub data: Coded,
    /// The names of the columns, in that order.
    pub names: Vec<String>,
    /// How many of them are not sensitive.
    pub n_quasi: usize,
    /// For each column the texts of its values, by code.
    pub texts: Vec<Vec<String>>,
    /// Whether the rows are those of people: in one way to put a split table together they are not.
    pub are_rows: bool,
}

impl Published {
    /// The rows of a release.
    pub fn new(table: &Table, are_rows: bool) -> Result<Self> {
        let is_sensitive = |&at: &usize| table.columns[at].role == Role::Sensitive;
        let (sensitive, mut columns): (Vec<usize>, Vec<usize>) = (0..table.columns.len()).partition(is_sensitive);
        let n_quasi = columns.len();
        if sensitive.is_empty() {
            let hint = "name the columns that nobody may learn about a person when you protect the table: --sensitive";
            return Err(Error::recipe("dependencies", "the release has no sensitive column", hint));
        }
        columns.extend(sensitive);
        let data = Coded::from_table(table, &columns, Missing::OwnValue)?;
        let told = |&at: &usize| {
            let domain = &table.columns[at].domain;
            let text = |code: u32| if code < domain.missing() { domain.text(code) } else { MISSING }.to_owned();
            (0..domain.n_codes() as u32).map(text).collect()
        };
        let names = columns.iter().map(|&at| table.columns[at].name.clone()).collect();
        Ok(Published { data, names, n_quasi, texts: columns.iter().map(told).collect(), are_rows })
    }

    fn columns(&self, of: Of) -> Vec<usize> {
        match of {
            Of::Quasi => (0..self.n_quasi).collect(),
            Of::Sensitive => (self.n_quasi..self.names.len()).collect(),
            Of::Both => (0..self.names.len()).collect(),
        }
    }
}

/// The columns of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// What others may know.
    Quasi,
    /// What nobody may learn.
    Sensitive,
    /// Both.
    Both,
}

impl Of {
    /// What it is about, in words.
    pub fn words(self) -> &'static str {
        match self {
            Of::Quasi => "quasi-identifiers",
            Of::Sensitive => "sensitive columns",
            Of::Both => "quasi-identifiers and sensitive columns",
        }
    }
}

/// What survives in a release.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Surviving {
    /// The rows that were looked at.
    pub rows: u64,
    /// Whether they are the rows of people, or one way to put a split table together.
    pub are_rows: bool,
    /// Who has a value with a probability above it is at risk.
    pub alpha: f64,
    /// How likely it may be that anything is reported where columns are independent.
    pub level: f64,
    /// The three networks.
    pub networks: Vec<NetworkTold>,
    /// Different risks that lead to a sensitive column, in all networks.
    pub risks: u64,
    /// How many people have a sensitive value that one of these tells of.
    pub people: u64,
}

/// A network, and what follows from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NetworkTold {
    /// Its columns.
    pub of: Of,
    /// Their names.
    pub columns: Vec<String>,
    /// The arrows with what they tell.
    pub arrows: Vec<Arrow>,
    /// The rules of Algorithm 1, as printed.
    pub literal: Vec<RuleTold>,
    /// The rules of Algorithm 1, sensibly read.
    pub sensible: Vec<RuleTold>,
    /// What is more than chance, those that tell of most people first.
    pub dependencies: Vec<DependencyTold>,
    /// How many cells were proposed by each half of the rows.
    pub proposed: [u64; 2],
    /// The network itself, to be drawn.
    #[serde(skip)]
    pub network: Network,
    /// How much each of its arrows tells, in bits.
    #[serde(skip)]
    pub strengths: Vec<f64>,
    /// The tables of columns with parents, to be drawn.
    #[serde(skip)]
    pub tables: Vec<TableTold>,
}

/// A column tells of another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Arrow {
    /// The one that is known.
    pub from: String,
    /// The one that is told of.
    pub to: String,
    /// How much, beyond what else leads there: conditional mutual information.
    pub bits: f64,
}

/// A value of a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Valued {
    /// The column.
    pub column: String,
    /// The value.
    pub value: String,
}

/// A rule of Algorithm 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RuleTold {
    /// The columns on the left.
    pub given: Vec<String>,
    /// The column on the right.
    pub column: String,
    /// Whether that is a sensitive one.
    pub is_sensitive: bool,
    /// The left side of the highest cell.
    pub at: Vec<Valued>,
    /// Its value on the right.
    pub value: String,
    /// Its probability.
    pub highest: f64,
    /// Rows with its left side.
    pub support: u32,
    /// How many times as likely the value is there as among all rows.
    pub lift: f64,
    /// The level of the probability.
    pub risk: Risk,
    /// For each column on the left the highest probability in its own table.
    pub of_parents: Vec<f64>,
    /// People in cells above alpha.
    pub people: u64,
    /// Whether it is more than chance.
    pub confirmed: bool,
}

/// A dependency that is more than chance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DependencyTold {
    /// Who has these.
    pub given: Vec<Valued>,
    /// Has this more often.
    #[serde(flatten)]
    pub told: Valued,
    /// Whether that is a sensitive column.
    pub is_sensitive: bool,
    /// Rows with the given values.
    pub support: u32,
    /// Of these, those with the value.
    pub people: u32,
    /// Their share.
    pub confidence: f64,
    /// The share among all rows.
    pub baseline: f64,
    /// The one divided by the other.
    pub lift: f64,
    /// The share in the half that confirmed it.
    pub held_out: f64,
    /// The probability that chance does as much anywhere.
    pub p_value: f64,
    /// The level of the confidence.
    pub risk: Risk,
    /// Whether the confidence is above alpha.
    pub is_risk: bool,
}

/// The table of a column with parents.
#[derive(Debug, Clone, PartialEq)]
pub struct TableTold {
    /// The column.
    pub column: String,
    /// Whether it is a sensitive one.
    pub is_sensitive: bool,
    /// Its parents.
    pub given: Vec<String>,
    /// The probabilities.
    pub table: Cpt,
    /// The texts of its values.
    pub values: Vec<String>,
    /// Those of its parents.
    pub parent_values: Vec<Vec<String>>,
}

impl TableTold {
    /// A configuration of the parents in words.
    pub fn configuration(&self, codes: &[u32]) -> String {
        let texts = self.parent_values.iter().zip(codes).map(|(values, &code)| values[code as usize].as_str());
        texts.collect::<Vec<_>>().join(", ")
    }
}

/// Looks for dependencies in all three networks.
pub fn surviving(published: &Published, options: &Options) -> Result<Surviving> {
    let columns = [Of::Quasi, Of::Sensitive, Of::Both].map(|of| (of, published.columns(of)));
    let three = three_networks(&published.data, &columns[0].1, &columns[1].1, options)?;
    let mut networks = Vec::with_capacity(3);
    let mut risks: Vec<Risky> = Vec::new();
    for ((of, columns), found) in columns.iter().zip([three.quasi, three.sensitive, three.both]) {
        let is_leak = |risk: &&Dependency| columns[risk.child] >= published.n_quasi;
        risks.extend(found.risks().filter(is_leak).map(|risk| Risky {
            given: risk.given.iter().map(|&(column, value)| (columns[column], value)).collect(),
            told: (columns[risk.child], risk.value),
        }));
        networks.push(told(published, *of, columns, found, options)?);
    }
    risks.sort_unstable();
    risks.dedup();
    let people = people(&published.data, &risks);
    let n_risks = risks.len() as u64;
    Ok(Surviving {
        rows: u64::from(published.data.n_rows()),
        are_rows: published.are_rows,
        alpha: options.alpha,
        level: options.level,
        networks,
        risks: n_risks,
        people,
    })
}

/// A risk by the columns of all three networks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Risky {
    given: Vec<(usize, u32)>,
    told: (usize, u32),
}

/// How many people have what some risk tells of them.
fn people(data: &Coded, risks: &[Risky]) -> u64 {
    let has = |row: usize, &(column, value): &(usize, u32)| data.column(column)[row] == value;
    let is_told = |row: usize| risks.iter().any(|risk| has(row, &risk.told) && risk.given.iter().all(|g| has(row, g)));
    let weights = data.weights().par_iter().enumerate();
    weights.filter(|&(row, _)| is_told(row)).map(|(_, &weight)| u64::from(weight)).sum()
}

/// Names of what a network has numbers for; `columns` are its places among all.
struct Names<'a> {
    published: &'a Published,
    columns: &'a [usize],
}

impl Names<'_> {
    fn name(&self, column: usize) -> String {
        self.published.names[self.columns[column]].clone()
    }

    fn values(&self, column: usize) -> &[String] {
        &self.published.texts[self.columns[column]]
    }

    fn is_sensitive(&self, column: usize) -> bool {
        self.columns[column] >= self.published.n_quasi
    }

    fn valued(&self, column: usize, code: u32) -> Valued {
        Valued { column: self.name(column), value: self.values(column)[code as usize].clone() }
    }

    fn rule(&self, rule: &Rule, confirmed: bool) -> RuleTold {
        let cell = &rule.highest;
        let at = rule.parents.iter().zip(&cell.configuration);
        RuleTold {
            given: rule.parents.iter().map(|&parent| self.name(parent)).collect(),
            column: self.name(rule.child),
            is_sensitive: self.is_sensitive(rule.child),
            at: at.map(|(&parent, &code)| self.valued(parent, code)).collect(),
            value: self.values(rule.child)[cell.value as usize].clone(),
            highest: cell.probability,
            support: cell.support,
            lift: cell.lift,
            risk: cell.risk,
            of_parents: rule.of_parents.clone(),
            people: rule.people,
            confirmed,
        }
    }

    fn dependency(&self, d: &Dependency) -> DependencyTold {
        DependencyTold {
            given: d.given.iter().map(|&(column, code)| self.valued(column, code)).collect(),
            told: self.valued(d.child, d.value),
            is_sensitive: self.is_sensitive(d.child),
            support: d.support,
            people: d.people,
            confidence: d.confidence,
            baseline: d.confidence / d.lift,
            lift: d.lift,
            held_out: d.held_out,
            p_value: d.p_value,
            risk: d.risk,
            is_risk: d.is_risk,
        }
    }

    fn table(&self, data: &Coded, child: usize, parents: &[usize]) -> Result<TableTold> {
        Ok(TableTold {
            column: self.name(child),
            is_sensitive: self.is_sensitive(child),
            given: parents.iter().map(|&parent| self.name(parent)).collect(),
            table: Cpt::estimate(data, child, parents, 0.0)?,
            values: self.values(child).to_vec(),
            parent_values: parents.iter().map(|&parent| self.values(parent).to_vec()).collect(),
        })
    }
}

/// A network by names; `columns` are its places among all.
fn told(published: &Published, of: Of, columns: &[usize], found: Found, options: &Options) -> Result<NetworkTold> {
    let data = published.data.select(columns)?;
    let names = Names { published, columns };
    let rule = |rule: &Rule| names.rule(rule, found.confirms(rule));
    let literal =
        Detect { alpha: options.alpha, added: options.smoothing, reading: Reading::Literal, ..Detect::default() };
    let literal = detect(&data, &found.network, &literal)?.iter().map(rule).collect();
    let name = |column: usize| names.name(column);
    let arrow = |((from, to), &bits): ((usize, usize), &f64)| Arrow { from: name(from), to: name(to), bits };
    let arrows = found.network.edges().into_iter().zip(&found.strengths).map(arrow).collect();
    let with_parents = (0..data.n_columns()).filter(|&child| !found.network.parents(child).is_empty());
    let table = |child: usize| names.table(&data, child, found.network.parents(child));
    Ok(NetworkTold {
        of,
        columns: (0..columns.len()).map(name).collect(),
        arrows,
        literal,
        sensible: found.rules.iter().map(rule).collect(),
        dependencies: found.dependencies.iter().map(|dependency| names.dependency(dependency)).collect(),
        proposed: found.proposed,
        tables: with_parents.map(table).collect::<Result<_>>()?,
        strengths: found.strengths,
        network: found.network,
    })
}

/// What is believed of a person in one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BeliefTold {
    /// The column.
    pub column: String,
    /// Rows with the target's values.
    pub rows: u32,
    /// Of these, rows with what is known as well; none where rows are not those of people.
    pub agreeing: Option<u32>,
    /// Value by value, the likeliest after what is known first.
    pub values: Vec<ValueBelief>,
}

/// How likely a value is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ValueBelief {
    /// The value.
    pub value: String,
    /// Its share among all rows: what is believed without the target.
    pub baseline: f64,
    /// Its share among the target's rows.
    pub before: f64,
    /// Its probability after what is known, by the network; none if that is impossible there.
    pub after: Option<f64>,
    /// Its share among the target's rows that agree with what is known, if there are some and rows are those of people.
    pub counted: Option<f64>,
}

/// What follows for each sensitive column of a person who has the values `target`, and `known` as well. Both are places of
/// columns in [`Published`], with codes.
pub fn beliefs_about(
    published: &Published,
    surviving: &Surviving,
    target: &[(usize, u32)],
    known: &[(usize, u32)],
) -> Result<Vec<BeliefTold>> {
    let Some(both) = surviving.networks.iter().find(|network| network.of == Of::Both) else {
        return Err(Error::Internal("the network of all columns is one of three"));
    };
    let data = &published.data;
    let fitted = fit(data, &both.network)?;
    let is_given = |column: usize| target.iter().chain(known).any(|&(other, _)| other == column);
    let asked = (published.n_quasi..published.names.len()).filter(|&column| !is_given(column));
    let about = |column: usize| {
        let everybody = belief(data, &fitted, column, &[], &[])?.before;
        let found = belief(data, &fitted, column, target, known)?;
        Ok(in_words(published, &found, &everybody))
    };
    asked.map(about).collect()
}

fn in_words(published: &Published, found: &Belief, everybody: &[f64]) -> BeliefTold {
    let of = |shares: &Option<Vec<f64>>, code: usize| shares.as_ref().map(|shares| shares[code]);
    let value = |(code, text): (usize, &String)| ValueBelief {
        value: text.clone(),
        baseline: everybody[code],
        before: found.before[code],
        after: of(&found.after, code),
        counted: of(&found.counted, code).filter(|_| published.are_rows),
    };
    // The domain may know a code for missing values that no row has.
    let occurs = |value: &ValueBelief| value.baseline > 0.0;
    let known = published.texts[found.column].iter().take(everybody.len()).enumerate();
    let mut values: Vec<ValueBelief> = known.map(value).filter(occurs).collect();
    let key = |value: &ValueBelief| value.after.unwrap_or(value.before);
    values
        .sort_by(|a, b| key(b).total_cmp(&key(a)).then(b.baseline.total_cmp(&a.baseline)).then(a.value.cmp(&b.value)));
    let agreeing = published.are_rows.then_some(found.agreeing);
    BeliefTold { column: published.names[found.column].clone(), rows: found.rows, agreeing, values }
}
