//! What a class of rows must be like: criteria on its size and on how often it has each sensitive value.
//!
//! Paper:      amiri2016 (k-anonymity and beta-likeness); the models are by Sweeney 2002 (k), Machanavajjhala et al. 2007 (l),
//!             Wong et al. 2006 (alpha, k), Li, Li, Venkatasubramanian 2007 (t), Cao, Karras 2012 (beta) and
//!             Brickell, Shmatikov 2008 (delta)
//! Promises:   a class that holds is within every limit, up to rounding of 1e-9
//! Assumes:    counts of one column at a time: with several sensitive columns, each is protected for itself; a row is a person.
//!             Where people have several rows and they stay apart, a class holds *by people* if its rows can be dealt into
//!             parts, in each of which nobody has two rows and every criterion holds, with the same overall shares. Then
//!             (1) a class has k different people; (2) nobody has a larger share of its rows than one in k, as each part has
//!             k rows and one of theirs at most; (3) every criterion but that on beliefs holds for the class, as it does for
//!             two classes together if for each (shares and distances are convex, entropy is concave, recursive diversity is
//!             monotone: Machanavajjhala et al. 2007); (4) nobody tips a share, as each person counts once in every part. With
//!             one row a person, it is the definition without people
//! Departs:    overall shares p are those of the *published* rows: those of all rows, beside the release, would tell the values
//!             of the rows that were removed. A missing value counts as a value; in an order it comes last
//! Cost:       linear in the number of sensitive values
//! Checked by: `tests/it/criteria.rs`, against slow definitions

use serde::{Deserialize, Serialize};

use crate::data::table::{Column, Table};
use crate::data::{Hierarchy, NodeId, RecordId};
use crate::error::{Error, Result};

/// Room for rounding where a share is exactly at its limit.
pub const ROUNDING: f64 = 1e-9;

/// One thing that every class must satisfy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Criterion {
    /// At least k rows.
    KAnonymity {
        /// How many records cannot be told apart.
        k: u32,
    },
    /// At least l different sensitive values.
    DistinctDiversity {
        /// How many.
        l: u32,
    },
    /// The entropy of sensitive values is at least ln l: as uncertain as l equally likely ones.
    EntropyDiversity {
        /// How many.
        l: f64,
    },
    /// The most frequent value is rarer than c times all from the l-th most frequent on.
    RecursiveDiversity {
        /// How much the most frequent may outweigh the rest.
        c: f64,
        /// From which rank on the rest counts.
        l: u32,
    },
    /// No sensitive value has a share above alpha.
    Frequency {
        /// The highest share.
        alpha: f64,
    },
    /// The sensitive values are distributed as in all rows, within t by the earth mover's distance.
    Closeness {
        /// The greatest distance.
        t: f64,
        /// How far apart two values are.
        distance: Distance,
    },
    /// No sensitive value is more than beta times more frequent, relative to all rows.
    Likeness {
        /// The greatest relative gain.
        beta: f64,
        /// Whether frequent values are bounded more tightly, by -ln p.
        enhanced: bool,
    },
    /// All sensitive values of a person are guessed with a probability of at most this, also if one of them is known. Counts
    /// what a *split* table shows: values of different columns must not be published side by side.
    KnowledgeBreach {
        /// The highest probability.
        most: f64,
    },
    /// An adversary who knows how sensitive values go with quasi-identifiers believes nearly the same of all rows of a class.
    Background {
        /// The greatest Jensen-Shannon divergence of two rows' beliefs, in bits.
        t: f64,
    },
}

/// The distance of two sensitive values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// By rank, as numbers have one.
    Ordered,
    /// All values are equally far apart.
    Equal,
    /// By the height of what they have in common in the hierarchy.
    Hierarchical,
}

/// How a class stands to a criterion.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Reading {
    /// What was measured in the class: its size, diversity, highest share, distance or relative gain.
    pub value: f64,
    /// What it may be at most, or must be at least.
    pub limit: f64,
    /// Whether it is.
    pub holds: bool,
}

impl Criterion {
    /// Whether a release shows it: beliefs cannot be read from one.
    pub fn is_checkable(&self) -> bool {
        !matches!(self, Criterion::Background { .. })
    }

    /// Refuses limits that mean nothing.
    pub fn check(&self) -> Result<()> {
        let refuse = |key, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
        match *self {
            Criterion::KAnonymity { k } if k < 2 => refuse("k", "must be at least 2", "for example 5"),
            Criterion::DistinctDiversity { l } if l < 2 => refuse("l", "must be at least 2", "for example 3"),
            Criterion::EntropyDiversity { l } if !(l > 1.0 && l.is_finite()) => {
                refuse("entropy-l", "must be above 1", "for example 3")
            }
            Criterion::RecursiveDiversity { l, .. } if l < 2 => {
                refuse("recursive-l", "the rank l must be at least 2", "for example c 3 and l 3")
            }
            Criterion::RecursiveDiversity { c, .. } if !(c > 0.0 && c.is_finite()) => {
                refuse("recursive-l", "the factor c must be above 0", "for example c 3 and l 3")
            }
            Criterion::Frequency { alpha } if !(alpha > 0.0 && alpha < 1.0) => {
                refuse("alpha", "must be between 0 and 1", "for example 0.5")
            }
            Criterion::Closeness { t, .. } if !(t > 0.0 && t <= 1.0) => {
                refuse("t", "must be above 0 and at most 1", "for example 0.2")
            }
            Criterion::Likeness { beta, .. } if !(beta > 0.0 && beta.is_finite()) => {
                refuse("beta", "must be above 0", "for example 2")
            }
            Criterion::KnowledgeBreach { most } if !(most > 0.0 && most < 1.0) => {
                refuse("knowledge-breach", "must be between 0 and 1", "for example 0.4")
            }
            Criterion::Background { t } if !(t > 0.0 && t <= 1.0) => {
                refuse("background", "must be above 0 and at most 1", "for example 0.2")
            }
            _ => Ok(()),
        }
    }

    /// The criterion in plain words.
    pub fn text(&self) -> String {
        match self {
            Criterion::KAnonymity { k } => format!("at least {k} rows"),
            Criterion::DistinctDiversity { l } => format!("at least {l} different sensitive values"),
            Criterion::EntropyDiversity { l } => format!("sensitive values as uncertain as {l} equally likely ones"),
            Criterion::RecursiveDiversity { c, l } => {
                format!("the most frequent sensitive value rarer than {c} times all from rank {l} on")
            }
            Criterion::Frequency { alpha } => format!("no sensitive value with a share above {alpha}"),
            Criterion::Closeness { t, distance } => {
                let by = match distance {
                    Distance::Ordered => "by rank",
                    Distance::Equal => "all values equally far apart",
                    Distance::Hierarchical => "by hierarchy",
                };
                format!("sensitive values within {t} of their overall distribution ({by})")
            }
            Criterion::Likeness { beta, enhanced } => {
                let tighter = if *enhanced { ", or by -ln p where that is less" } else { "" };
                format!("no sensitive value more frequent than overall by a factor above 1 + {beta}{tighter}")
            }
            Criterion::KnowledgeBreach { most } => format!(
                "all sensitive values of a person guessed with a probability of at most {most}, also if one of them is known"
            ),
            Criterion::Background { t } => {
                format!(
                    "beliefs about any two rows within {t} bits of each other, for an adversary who knows how values go together"
                )
            }
        }
    }

    /// Whether the criterion looks at sensitive values.
    pub fn needs_sensitive(&self) -> bool {
        !matches!(self, Criterion::KAnonymity { .. })
    }
}

/// The number of values that occur.
pub fn distinct(counts: &[u32]) -> u32 {
    counts.iter().filter(|&&count| count > 0).count() as u32
}

/// exp of the entropy: how many equally likely values would be as uncertain.
pub fn effective_values(counts: &[u32]) -> f64 {
    let n: f64 = counts.iter().map(|&count| f64::from(count)).sum();
    let entropy: f64 = counts.iter().filter(|&&c| c > 0).map(|&c| -f64::from(c) / n * (f64::from(c) / n).ln()).sum();
    entropy.exp()
}

/// r_1 / (r_l + ... + r_m) of the counts in descending order; infinite if there are fewer than l values.
pub fn recursive_ratio(counts: &[u32], l: u32) -> f64 {
    let mut sorted: Vec<u32> = counts.iter().copied().filter(|&count| count > 0).collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u64 = sorted.iter().skip(l.saturating_sub(1) as usize).map(|&count| u64::from(count)).sum();
    match (sorted.first(), rest) {
        (None, _) => 0.0,
        (Some(_), 0) => f64::INFINITY,
        (Some(&most), rest) => f64::from(most) / rest as f64,
    }
}

/// The highest share of a value.
pub fn highest_share(counts: &[u32]) -> f64 {
    let n: u64 = counts.iter().map(|&count| u64::from(count)).sum();
    counts.iter().max().map_or(0.0, |&most| f64::from(most) / (n.max(1)) as f64)
}

/// The earth mover's distance where all values are equally far apart: half the sum of differences.
pub fn distance_equal(q: &[u32], p: &[u32]) -> f64 {
    let (g, n) = (total(q), total(p));
    q.iter().zip(p).map(|(&q, &p)| (f64::from(q) / g - f64::from(p) / n).abs()).sum::<f64>() / 2.0
}

/// The earth mover's distance by rank, of the values that occur in all rows: 1/(m-1) times the sum of |cumulated differences|.
pub fn distance_ordered(q: &[u32], p: &[u32]) -> f64 {
    let (g, n) = (total(q), total(p));
    let (mut cumulated, mut sum, mut ranks) = (0.0, 0.0, 0_u32);
    for (&q, &p) in q.iter().zip(p).filter(|(_, p)| **p > 0) {
        cumulated += f64::from(q) / g - f64::from(p) / n;
        sum += f64::abs(cumulated);
        ranks += 1;
    }
    if ranks < 2 { 0.0 } else { sum / f64::from(ranks - 1) }
}

/// The earth mover's distance by a hierarchy: what must move between the children of a node travels its height.
/// A value without a place in it (a missing one) hangs from the root. What no row has counts for no height: the distance
/// must not disclose how deep the values of suppressed records stand, and readers of a release must find the same.
pub fn distance_hierarchical(q: &[u32], p: &[u32], hierarchy: &Hierarchy) -> f64 {
    let (g, n) = (total(q), total(p));
    let root = hierarchy.n_nodes();
    let terms = hierarchy.n_terms();
    let mut extra = vec![0.0; root + 1];
    let (mut surplus, mut deficit) = (vec![0.0; root + 1], vec![0.0; root + 1]);
    let mut height = vec![0_u32; root + 1];
    let mut occurs = vec![false; root + 1];
    let mut roots = 0;
    let pass = |from: f64, to: usize, surplus: &mut [f64], deficit: &mut [f64], extra: &mut [f64]| {
        extra[to] += from;
        if from > 0.0 { surplus[to] += from } else { deficit[to] -= from }
    };
    for (code, (&q, &p)) in q.iter().zip(p).enumerate() {
        let difference = f64::from(q) / g - f64::from(p) / n;
        match code < terms {
            true => (extra[code], occurs[code]) = (difference, p > 0 || q > 0),
            false => pass(difference, root, &mut surplus, &mut deficit, &mut extra),
        }
        roots += u32::from(code >= terms && p > 0);
    }
    let mut cost = 0.0;
    for node in 0..root {
        if !occurs[node] {
            continue;
        }
        cost += f64::from(height[node]) * f64::min(surplus[node], deficit[node]);
        let parent = hierarchy.parent(node as NodeId).map_or(root, |parent| parent as usize);
        roots += u32::from(parent == root);
        height[parent] = height[parent].max(height[node] + 1);
        occurs[parent] = true;
        pass(extra[node], parent, &mut surplus, &mut deficit, &mut extra);
    }
    // A single tree is its own root.
    let whole = if roots > 1 { height[root] } else { height[root].saturating_sub(1) };
    if roots > 1 {
        cost += f64::from(height[root]) * f64::min(surplus[root], deficit[root]);
    }
    if whole == 0 { 0.0 } else { cost / f64::from(whole) }
}

/// f(p) = p (1 + min(beta, -ln p)), the highest share that beta-likeness lets a value of overall share p have; p (1 + beta) in
/// its basic form.
pub fn likeness_cap(p: f64, beta: f64, enhanced: bool) -> f64 {
    match (p > 0.0, enhanced) {
        (false, _) => 0.0,
        (true, true) => p * (1.0 + beta.min(-p.ln())),
        (true, false) => p * (1.0 + beta),
    }
}

/// The greatest relative gain (q - p) / p of a value; infinite for one that does not occur overall.
pub fn relative_gain(q: &[u32], p: &[u32]) -> f64 {
    let (g, n) = (total(q), total(p));
    let gain = |(&q, &p): (&u32, &u32)| match (q, p) {
        (0, _) => -1.0,
        (_, 0) => f64::INFINITY,
        _ => (f64::from(q) / g) / (f64::from(p) / n) - 1.0,
    };
    q.iter().zip(p).map(gain).fold(0.0, f64::max)
}

/// The least beta for which a class keeps enhanced beta-likeness; none if a value is above p (1 - ln p), which no beta allows.
pub fn enhanced_gain(q: &[u32], p: &[u32]) -> Option<f64> {
    let (g, n) = (total(q), total(p));
    let mut most = 0.0_f64;
    for (&q, &p) in q.iter().zip(p).filter(|(q, _)| **q > 0) {
        let (q, p) = (f64::from(q) / g, f64::from(p) / n);
        if q > likeness_cap(p, f64::INFINITY, true) + ROUNDING {
            return None;
        }
        most = most.max(q / p - 1.0);
    }
    Some(most)
}

/// delta-disclosure (Brickell, Shmatikov 2008): the greatest |ln(q / p)| of the values that a class has; infinite for one that does
/// not occur overall. What a class lacks is left out, as pycanon and ARX do: by the letter, delta is then infinite.
pub fn log_gain(q: &[u32], p: &[u32]) -> f64 {
    let (g, n) = (total(q), total(p));
    let of = |(&q, &p): (&u32, &u32)| ((f64::from(q) / g) / (f64::from(p) / n)).ln().abs();
    q.iter().zip(p).filter(|(q, _)| **q > 0).map(of).fold(0.0, f64::max)
}

/// The product of the highest shares of all columns but the one where that is lowest; of a single column its highest share.
/// So likely are, at most, all sensitive values of a person of whom one is known: Definition 5 of nadimpalli2014 in the worst
/// case, and Definition 3 where there is only one column.
pub fn breach_probability(shares: impl IntoIterator<Item = f64>) -> f64 {
    let (mut product, mut lowest, mut n) = (1.0, f64::INFINITY, 0);
    for share in shares {
        product *= share;
        lowest = lowest.min(share);
        n += 1;
    }
    if n > 1 && lowest > 0.0 { product / lowest } else { product }
}

/// Whether rows have at least l different codes in each column; ends with the first that do.
pub fn are_different(l: u32, columns: &[&[u32]], rows: impl Iterator<Item = u32> + Clone) -> bool {
    columns.iter().all(|codes| match l {
        0 | 1 => true,
        2 => {
            let mut codes = rows.clone().map(|row| codes[row as usize]);
            codes.next().is_some_and(|first| codes.any(|code| code != first))
        }
        _ => {
            let mut seen = Vec::new();
            see(l, codes, rows.clone(), &mut seen);
            seen.len() >= l as usize
        }
    })
}

/// Adds codes of rows that were not seen yet, until there are l.
pub fn see(l: u32, codes: &[u32], rows: impl Iterator<Item = u32>, seen: &mut Vec<u32>) {
    for row in rows {
        if seen.len() >= l as usize {
            return;
        }
        let code = codes[row as usize];
        if !seen.contains(&code) {
            seen.push(code);
        }
    }
}

fn total(counts: &[u32]) -> f64 {
    counts.iter().map(|&count| f64::from(count)).sum::<f64>().max(1.0)
}

/// Counts of a class: its rows, and for each sensitive column the counts of its codes, one column after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Histogram {
    /// The number of rows.
    pub size: u32,
    /// Of these, rows whose set-valued column is not empty.
    pub with_set: u32,
    /// The counts of all codes of all sensitive columns.
    pub counts: Vec<u32>,
}

/// Criteria made ready to be asked of many classes of a table. [`Criterion::Background`] is not asked here: it needs beliefs.
pub struct Judge<'a> {
    criteria: Vec<Criterion>,
    k: u32,
    columns: Vec<&'a Column>,
    /// For each row its set, if the table has a set-valued column.
    sets: Option<&'a [Option<RecordId>]>,
    /// Where the counts of each sensitive column begin, and the end.
    offsets: Vec<usize>,
    overall: Vec<u32>,
    /// For each code the highest share that beta-likeness and alpha allow, if they are asked for.
    caps: Option<Vec<f64>>,
    /// What else looks at counts.
    others: Vec<Criterion>,
}

impl<'a> Judge<'a> {
    /// Criteria over all rows of a table.
    pub fn new(criteria: &[Criterion], table: &'a Table) -> Result<Self> {
        Self::over(criteria, table, 0..table.n_rows() as u32)
    }

    /// Criteria where only some rows are published: overall shares are theirs.
    pub fn over(criteria: &[Criterion], table: &'a Table, rows: impl IntoIterator<Item = u32>) -> Result<Self> {
        let mut judge = Self::of_nothing(criteria, table)?;
        let overall = judge.of(rows);
        judge.set_overall(overall);
        Ok(judge)
    }

    /// The same for rows that were counted already.
    pub fn of_total(criteria: &[Criterion], table: &'a Table, overall: Histogram) -> Result<Self> {
        let mut judge = Self::of_nothing(criteria, table)?;
        judge.set_overall(overall);
        Ok(judge)
    }

    /// The same for rows whose classes were counted already.
    pub fn over_counts(criteria: &[Criterion], table: &'a Table, classes: &[Histogram]) -> Result<Self> {
        let mut judge = Self::of_nothing(criteria, table)?;
        let mut overall = judge.empty();
        for class in classes {
            (overall.size, overall.with_set) = (overall.size + class.size, overall.with_set + class.with_set);
            overall.counts.iter_mut().zip(&class.counts).for_each(|(sum, count)| *sum += count);
        }
        judge.set_overall(overall);
        Ok(judge)
    }

    /// Criteria before anything is known of overall shares.
    fn of_nothing(criteria: &[Criterion], table: &'a Table) -> Result<Self> {
        let columns = table.sensitive();
        for criterion in criteria {
            criterion.check()?;
            if criterion.needs_sensitive() && columns.is_empty() {
                let problem = format!("\"{}\" needs a sensitive column, and none is declared", criterion.text());
                return Err(Error::recipe("sensitive", problem, "name the column with --sensitive"));
            }
            for column in &columns {
                Self::check_distance(criterion, column)?;
            }
        }
        let mut offsets = vec![0];
        for column in &columns {
            offsets.push(offsets[offsets.len() - 1] + column.domain.n_codes());
        }
        let k = criteria.iter().map(|c| if let Criterion::KAnonymity { k } = c { *k } else { 1 }).max().unwrap_or(1);
        let is_other = |c: &&Criterion| {
            use Criterion::{Background, Frequency, KAnonymity, Likeness};
            !matches!(c, KAnonymity { .. } | Likeness { .. } | Frequency { .. } | Background { .. })
        };
        let others = criteria.iter().filter(is_other).copied().collect();
        let sets = table.sets.as_ref().map(|sets| &sets.of_row[..]);
        let criteria = criteria.to_vec();
        Ok(Judge { criteria, k, columns, sets, offsets, overall: Vec::new(), caps: None, others })
    }

    fn check_distance(criterion: &Criterion, column: &Column) -> Result<()> {
        let Criterion::Closeness { distance, .. } = criterion else { return Ok(()) };
        let (lacks, hint) = match distance {
            Distance::Ordered if column.domain.numbers().is_none() => ("is not of numbers", "use the distance equal"),
            Distance::Hierarchical if column.domain.hierarchy().is_none() => {
                ("has no hierarchy", "give it one with --hierarchy, or use the distance equal")
            }
            _ => return Ok(()),
        };
        Err(Error::recipe("distance", format!("the sensitive column {} {lacks}", column.name), hint))
    }

    fn set_overall(&mut self, overall: Histogram) {
        let size = f64::from(overall.size.max(1));
        for criterion in &self.criteria {
            let cap = |&count: &u32| match *criterion {
                Criterion::Likeness { beta, enhanced } => likeness_cap(f64::from(count) / size, beta, enhanced),
                Criterion::Frequency { alpha } => alpha,
                _ => 1.0,
            };
            if matches!(criterion, Criterion::Likeness { .. } | Criterion::Frequency { .. }) {
                let caps = self.caps.get_or_insert_with(|| vec![1.0; overall.counts.len()]);
                caps.iter_mut().zip(&overall.counts).for_each(|(least, count)| *least = least.min(cap(count)));
            }
        }
        self.overall = overall.counts;
    }

    /// The criteria, as given.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// The least size of a class: 1 if k-anonymity is not asked for.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Whether size alone decides.
    pub fn is_size_only(&self) -> bool {
        self.caps.is_none() && self.others.is_empty() && self.sets.is_none()
    }

    /// If size and the number of different values decide: how many of each column there must be, 1 if size alone does. A class
    /// that holds then does so with more rows.
    pub fn different_only(&self) -> Option<u32> {
        let least = |least: u32, c: &Criterion| match c {
            Criterion::DistinctDiversity { l } => Some(least.max(*l)),
            _ => None,
        };
        let least = self.others.iter().try_fold(1, least);
        least.filter(|_| self.caps.is_none() && self.sets.is_none())
    }

    /// Whether two classes that hold may fail as one: true of nothing that looks at one column at a time.
    pub fn is_joint(&self) -> bool {
        self.criteria.iter().any(|criterion| matches!(criterion, Criterion::KnowledgeBreach { .. }))
    }

    /// Whether a criterion other than k-anonymity, alpha and beta-likeness looks at counts.
    pub fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Whether size and the highest share of each value decide.
    pub fn is_caps_only(&self) -> bool {
        self.others.is_empty() && self.sets.is_none()
    }

    /// Whether rows have sets, of which there must be none or k in a class.
    pub fn has_sets(&self) -> bool {
        self.sets.is_some()
    }

    /// The highest share that beta-likeness and alpha allow each code, if they are asked for; laid out as [`Histogram::counts`].
    pub fn caps(&self) -> Option<&[f64]> {
        self.caps.as_deref()
    }

    /// Counts of all published rows, laid out as [`Histogram::counts`].
    pub fn overall(&self) -> &[u32] {
        &self.overall
    }

    /// The sensitive columns, in order.
    pub fn columns(&self) -> &[&'a Column] {
        &self.columns
    }

    /// Where in [`Histogram::counts`] a sensitive column has its counts.
    pub fn counts_of(&self, column: usize) -> std::ops::Range<usize> {
        self.offsets[column]..self.offsets[column + 1]
    }

    /// No rows.
    pub fn empty(&self) -> Histogram {
        Histogram { size: 0, with_set: 0, counts: vec![0; self.offsets[self.columns.len()]] }
    }

    /// Counts of some rows.
    pub fn of(&self, rows: impl IntoIterator<Item = u32>) -> Histogram {
        let mut histogram = self.empty();
        rows.into_iter().for_each(|row| self.add(&mut histogram, row));
        histogram
    }

    /// The same of a list, column by column: what a column has stays at hand.
    pub fn of_rows(&self, rows: &[u32]) -> Histogram {
        let mut histogram = self.empty();
        histogram.size = rows.len() as u32;
        histogram.with_set = self.with_sets(rows);
        for (column, &offset) in self.columns.iter().zip(&self.offsets) {
            let (codes, counts) = (&column.codes, &mut histogram.counts[offset..]);
            rows.iter().for_each(|&row| counts[codes[row as usize] as usize] += 1);
        }
        histogram
    }

    /// Takes rows out of one count, where they must be, and into another.
    pub fn shift(&self, from: &mut Histogram, to: &mut Histogram, rows: &[u32]) {
        let (n, with_set) = (rows.len() as u32, self.with_sets(rows));
        (from.size, from.with_set) = (from.size - n, from.with_set - with_set);
        (to.size, to.with_set) = (to.size + n, to.with_set + with_set);
        for (column, &offset) in self.columns.iter().zip(&self.offsets) {
            let (codes, less, more) = (&column.codes, &mut from.counts[offset..], &mut to.counts[offset..]);
            for &row in rows {
                let code = codes[row as usize] as usize;
                less[code] -= 1;
                more[code] += 1;
            }
        }
    }

    fn with_sets(&self, rows: &[u32]) -> u32 {
        if self.sets.is_some() { rows.iter().map(|&row| self.with_set(row)).sum() } else { 0 }
    }

    /// One row more.
    #[inline]
    pub fn add(&self, histogram: &mut Histogram, row: u32) {
        histogram.size += 1;
        histogram.with_set += self.with_set(row);
        for (column, offset) in self.columns.iter().zip(&self.offsets) {
            histogram.counts[offset + column.codes[row as usize] as usize] += 1;
        }
    }

    /// One row less, which must have been counted.
    #[inline]
    pub fn remove(&self, histogram: &mut Histogram, row: u32) {
        histogram.size -= 1;
        histogram.with_set -= self.with_set(row);
        for (column, offset) in self.columns.iter().zip(&self.offsets) {
            histogram.counts[offset + column.codes[row as usize] as usize] -= 1;
        }
    }

    #[inline]
    fn with_set(&self, row: u32) -> u32 {
        self.sets.map_or(0, |sets| u32::from(sets[row as usize].is_some()))
    }

    /// Whether a class with these counts satisfies all criteria. Of rows with a set there must be none or k: an adversary who
    /// knows a term of a person knows that the set is not empty.
    pub fn holds(&self, class: &Histogram) -> bool {
        if class.size < self.k || (1..self.k).contains(&class.with_set) {
            return false;
        }
        if let Some(caps) = &self.caps {
            let room = f64::from(class.size);
            if class.counts.iter().zip(caps).any(|(&count, cap)| f64::from(count) > cap * room + ROUNDING * room) {
                return false;
            }
        }
        self.others.iter().all(|criterion| {
            (0..self.columns.len()).all(|column| self.reading(criterion, class, column).is_none_or(|r| r.holds))
        })
    }

    /// Whether these rows may be a class; they are not all looked at if the first of them show it.
    pub fn rows_hold(&self, rows: &[u32]) -> bool {
        match self.different_only() {
            Some(l) => {
                let mut columns = self.columns.iter().map(|column| &column.codes[..]);
                rows.len() >= self.k as usize && columns.all(|codes| are_different(l, &[codes], rows.iter().copied()))
            }
            None => rows.len() >= self.k as usize && self.holds(&self.of_rows(rows)),
        }
    }

    /// How a class stands to every criterion: that of the sensitive column where it stands worst. `None` for a criterion that is
    /// not asked here.
    pub fn readings(&self, class: &Histogram) -> Vec<Option<Reading>> {
        let worst = |criterion: &Criterion| {
            let readings = (0..self.columns.len().max(1)).filter_map(|column| self.reading(criterion, class, column));
            readings.reduce(|a, b| if a.excess() >= b.excess() { a } else { b })
        };
        self.criteria.iter().map(worst).collect()
    }

    fn reading(&self, criterion: &Criterion, class: &Histogram, column: usize) -> Option<Reading> {
        let (q, p) = match column < self.columns.len() {
            true => (&class.counts[self.counts_of(column)], &self.overall[self.counts_of(column)]),
            false => (&[][..], &[][..]),
        };
        let at_least =
            |value: f64, limit: f64| Reading { value, limit, holds: value >= limit - ROUNDING * limit.max(1.0) };
        let at_most = |value: f64, limit: f64| Reading { value, limit, holds: value <= limit + ROUNDING };
        Some(match *criterion {
            Criterion::KAnonymity { k } => at_least(f64::from(class.size), f64::from(k)),
            Criterion::DistinctDiversity { l } => at_least(f64::from(distinct(q)), f64::from(l)),
            Criterion::EntropyDiversity { l } => at_least(effective_values(q), l),
            // Strictly less, by definition; rounding does not matter for a quotient of counts and a number like 3.
            Criterion::RecursiveDiversity { c, l } => {
                let value = recursive_ratio(q, l);
                Reading { value, limit: c, holds: value < c }
            }
            Criterion::Frequency { alpha } => at_most(highest_share(q), alpha),
            Criterion::Closeness { t, distance } => at_most(
                match (distance, self.columns[column].domain.hierarchy()) {
                    (Distance::Equal, _) => distance_equal(q, p),
                    (Distance::Ordered, _) => distance_ordered(q, p),
                    (Distance::Hierarchical, Some(hierarchy)) => distance_hierarchical(q, p, hierarchy),
                    (Distance::Hierarchical, None) => f64::INFINITY,
                },
                t,
            ),
            Criterion::Likeness { beta, enhanced } => self.likeness(q, p, beta, enhanced),
            Criterion::KnowledgeBreach { most } => {
                let share = |column| highest_share(&class.counts[self.counts_of(column)]);
                at_most(breach_probability((0..self.columns.len()).map(share)), most)
            }
            Criterion::Background { .. } => return None,
        })
    }

    /// The relative gain of the value that is nearest to its limit or furthest above it.
    fn likeness(&self, q: &[u32], p: &[u32], beta: f64, enhanced: bool) -> Reading {
        let (g, n) = (total(q), total(p));
        let mut worst = Reading { value: 0.0, limit: beta, holds: true };
        for (&q, &p) in q.iter().zip(p).filter(|(q, _)| **q > 0) {
            let (q, p) = (f64::from(q) / g, f64::from(p) / n);
            let limit = if enhanced { beta.min(-p.ln()) } else { beta };
            let value = if p > 0.0 { q / p - 1.0 } else { f64::INFINITY };
            let here = Reading { value, limit, holds: q <= likeness_cap(p, beta, enhanced) + ROUNDING };
            if (here.holds, -here.excess()) < (worst.holds, -worst.excess()) {
                worst = here;
            }
        }
        worst
    }
}

impl Reading {
    /// By how much the limit is missed; negative if it is kept.
    pub fn excess(&self) -> f64 {
        // What must be at least so much falls short of its limit when it fails, what must be at most so much exceeds it.
        let difference = (self.value - self.limit).abs();
        if self.holds { -difference } else { difference }
    }
}
