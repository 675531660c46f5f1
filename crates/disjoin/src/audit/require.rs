//! What somebody requires of a file: `k=5,l=2,t=0.3`, and whether it is met.
//!
//! Promises:   a requirement that cannot be looked at is an error, never met
//! Checked by: tests in this file, `tests/it/audit.rs`

use serde::Serialize;

use super::sets::SetsAudit;
use super::{SensitiveAudit, TableAudit};
use crate::error::{Error, Result};
use crate::release::privacy_models::ROUNDING;

/// What can be required, with what it means; those of sensitive values need a sensitive column.
const KEYS: [(&str, Key, &str); 19] = [
    ("k", Key::K, "records of the smallest class (k-anonymity)"),
    ("l", Key::L, "distinct l-diversity"),
    ("entropy-l", Key::EntropyL, "entropy l-diversity"),
    ("recursive", Key::Recursive, "c of recursive (c,l)-diversity"),
    ("t", Key::T, "t-closeness, by the distance that fits each column"),
    ("t-equal", Key::TEqual, "t-closeness, all values equally far apart"),
    ("t-ordered", Key::TOrdered, "t-closeness by rank"),
    ("t-hierarchical", Key::THierarchical, "t-closeness by hierarchy"),
    ("beta", Key::Beta, "basic beta-likeness"),
    ("enhanced-beta", Key::EnhancedBeta, "enhanced beta-likeness"),
    ("delta", Key::Delta, "delta-disclosure"),
    ("alpha", Key::Alpha, "highest share of a sensitive value (alpha, k)"),
    ("prosecutor", Key::Prosecutor, "highest prosecutor risk"),
    ("prosecutor-mean", Key::ProsecutorMean, "mean prosecutor risk"),
    ("journalist", Key::Journalist, "highest journalist risk"),
    ("marketer", Key::Marketer, "marketer risk"),
    ("unique", Key::Unique, "share of unique records"),
    ("at-risk", Key::AtRisk, "share of records above the risk threshold"),
    ("guess", Key::Guess, "advantage of guessing sensitive values by class"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    K,
    L,
    EntropyL,
    Recursive,
    T,
    TEqual,
    TOrdered,
    THierarchical,
    Beta,
    EnhancedBeta,
    Delta,
    Alpha,
    Prosecutor,
    ProsecutorMean,
    Journalist,
    Marketer,
    Unique,
    AtRisk,
    Guess,
}

impl Key {
    /// A limit that somebody may well set.
    fn example(self) -> &'static str {
        match self {
            Key::K => "5",
            Key::L | Key::EntropyL => "2",
            Key::Recursive => "3:2",
            Key::T | Key::TEqual | Key::TOrdered | Key::THierarchical => "0.3",
            Key::Beta | Key::EnhancedBeta | Key::Delta => "1",
            Key::Alpha => "0.5",
            Key::Prosecutor | Key::ProsecutorMean | Key::Journalist | Key::Marketer => "0.2",
            Key::Unique | Key::AtRisk => "0",
            Key::Guess => "0.1",
        }
    }
}

/// One thing that is required.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirement {
    name: &'static str,
    meaning: &'static str,
    key: Key,
    limit: f64,
    /// The rank of recursive diversity.
    rank: u32,
}

/// A requirement, what was found, and whether it is met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Met {
    /// What was required.
    pub key: String,
    /// What it is about.
    pub meaning: String,
    /// Whether the limit is the least value or the greatest.
    pub at_least: bool,
    /// The limit.
    pub limit: f64,
    /// What was found; none if no value of the measure is great enough.
    pub found: Option<f64>,
    /// Whether it is met.
    pub met: bool,
}

/// Reads requirements: names with numbers, with commas between.
pub fn parse(text: &str) -> Result<Vec<Requirement>> {
    let mut all: Vec<Requirement> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, number) = part.split_once('=').ok_or_else(|| {
            let problem = "a name with its limit is expected, as in k=5";
            Error::recipe("require", problem, "for example --require k=5,l=2,t=0.3")
        })?;
        let requirement = one(name.trim(), number.trim())?;
        if all.iter().any(|other| other.key == requirement.key) {
            let problem = format!("{} is required twice", requirement.name);
            return Err(Error::recipe("require", problem, "require everything once"));
        }
        all.push(requirement);
    }
    if all.is_empty() {
        return Err(Error::recipe("require", "names nothing", "for example --require k=5,l=2,t=0.3"));
    }
    Ok(all)
}

fn one(name: &str, number: &str) -> Result<Requirement> {
    let lower = name.to_ascii_lowercase().replace('_', "-");
    let Some(&(name, key, meaning)) = KEYS.iter().find(|(known, ..)| *known == lower) else {
        let nearest =
            KEYS.iter().map(|(known, ..)| *known).min_by_key(|known| strsim::damerau_levenshtein(known, &lower));
        let is_near = |known: &&str| strsim::damerau_levenshtein(known, &lower) <= 1 + lower.chars().count() / 3;
        let guess = nearest.filter(is_near).map_or(String::new(), |known| format!("did you mean {known}? "));
        let all: Vec<&str> = KEYS.iter().map(|(known, ..)| *known).collect();
        let problem = format!("{name} is nothing that can be required");
        return Err(Error::recipe("require", problem, format!("{guess}Known are {}", all.join(", "))));
    };
    let (number, rank) = match key {
        Key::Recursive => number.split_once(':').map_or((number, None), |(c, l)| (c, l.trim().parse::<u32>().ok())),
        _ => (number, Some(0)),
    };
    let Some(rank) = rank.filter(|&rank| key != Key::Recursive || rank >= 2) else {
        let problem = "recursive needs c and l, l of 2 or more";
        return Err(Error::recipe("require", problem, "write recursive=C:L, for example recursive=3:2"));
    };
    let limit = number.trim().parse::<f64>().ok().filter(|limit| limit.is_finite() && *limit >= 0.0);
    let Some(limit) = limit else {
        let problem = format!("the limit of {name} is not a number of 0 or more");
        return Err(Error::recipe("require", problem, format!("for example {name}={}", key.example())));
    };
    Ok(Requirement { name, meaning, key, limit, rank })
}

impl Requirement {
    /// The k that is required, if this is it.
    pub fn k(&self) -> Option<u32> {
        (self.key == Key::K).then_some(self.limit.ceil() as u32)
    }

    fn at_least(&self) -> bool {
        matches!(self.key, Key::K | Key::L | Key::EntropyL)
    }

    fn met(&self, found: Option<f64>) -> Met {
        let holds = |found: f64| match (self.at_least(), self.key) {
            (true, _) => found >= self.limit - ROUNDING * self.limit.max(1.0),
            // Strictly less, by definition.
            (false, Key::Recursive) => found < self.limit,
            (false, _) => found <= self.limit + ROUNDING,
        };
        let key = if self.rank > 0 { format!("{} (l = {})", self.name, self.rank) } else { self.name.to_owned() };
        Met {
            key,
            meaning: self.meaning.to_owned(),
            at_least: self.at_least(),
            limit: self.limit,
            found: found.filter(|found| found.is_finite()),
            met: found.is_some_and(holds),
        }
    }

    fn of_table(&self, audit: &TableAudit) -> Result<Option<f64>> {
        let risks = &audit.risks;
        Ok(Some(match self.key {
            Key::K => audit.k as f64,
            Key::Prosecutor => risks.prosecutor.highest,
            Key::ProsecutorMean => risks.prosecutor.mean,
            Key::Journalist => risks.journalist.highest,
            Key::Marketer => risks.marketer,
            Key::Unique => risks.unique_share,
            Key::AtRisk => risks.prosecutor.records_at_risk as f64 / audit.records.max(1) as f64,
            _ => return self.of_columns(&audit.sensitive),
        }))
    }

    /// The column that stands worst.
    fn of_columns(&self, columns: &[SensitiveAudit]) -> Result<Option<f64>> {
        if columns.is_empty() {
            let problem = format!("{} is about sensitive values, and no column is sensitive", self.name);
            return Err(Error::recipe("require", problem, "name the columns with --sensitive"));
        }
        let lacks = |column: &SensitiveAudit, what: &str, hint: &str| {
            let problem = format!("{}: the sensitive column {} {what}", self.name, column.column);
            Error::recipe("require", problem, hint.to_owned())
        };
        let value = |column: &SensitiveAudit| -> Result<Option<f64>> {
            Ok(Some(match self.key {
                Key::L => column.distinct_l.value,
                Key::EntropyL => column.entropy_l.value,
                Key::Recursive => return Ok(column.recursive.iter().find(|of| of.l == self.rank).map(|of| of.c)),
                Key::TEqual => column.t_equal.value,
                Key::TOrdered => match column.t_ordered {
                    Some(t) => t.value,
                    None => return Err(lacks(column, "is not of numbers", "require t or t-equal")),
                },
                Key::THierarchical => match column.t_hierarchical {
                    Some(t) => t.value,
                    None => return Err(lacks(column, "has no hierarchy", "give one with --hierarchy COLUMN=FILE")),
                },
                Key::Beta => column.basic_beta.value,
                Key::EnhancedBeta => return Ok(column.enhanced_beta.map(|beta| beta.value)),
                Key::Delta => column.delta.value,
                Key::Alpha => column.alpha.value,
                Key::Guess => column.guessing.right - column.guessing.baseline,
                _ => column.t().value,
            }))
        };
        let found: Vec<Option<f64>> = columns.iter().map(value).collect::<Result<_>>()?;
        let worse = if self.at_least() { f64::min } else { f64::max };
        Ok(found.into_iter().reduce(|a, b| Some(worse(a?, b?))).flatten())
    }
}

/// Whether a table meets what is required.
pub fn of_table(required: &[Requirement], audit: &TableAudit) -> Result<Vec<Met>> {
    required.iter().map(|one| Ok(one.met(one.of_table(audit)?))).collect()
}

/// Whether sets meet what is required: k, for every m that was looked at.
pub fn of_sets(required: &[Requirement], audit: &SetsAudit) -> Result<Vec<Met>> {
    let worst = audit.sizes.last().map_or(0, |of| of.fewest);
    let of = |one: &Requirement| match one.key {
        Key::K => {
            let is_exact = audit.sizes.iter().all(|of| of.exact);
            let mut met = one.met(Some(worst as f64));
            met.meaning = format!("records with the same {} items at most (k^m-anonymity)", audit.sizes.len());
            // What was not counted may be below.
            met.met &= is_exact;
            Ok(met)
        }
        _ => {
            let problem = format!("{} is about tables, and these are sets", one.name);
            Err(Error::recipe("require", problem, "require k, or name columns with --quasi"))
        }
    };
    required.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_names_with_numbers() {
        let all = parse("k=5, L = 2,recursive=3:2,t_equal=0.25").unwrap();
        let told: Vec<(&str, f64, u32)> = all.iter().map(|one| (one.name, one.limit, one.rank)).collect();
        assert_eq!(told, [("k", 5.0, 0), ("l", 2.0, 0), ("recursive", 3.0, 2), ("t-equal", 0.25, 0)]);
        assert_eq!(all[0].k(), Some(5));
    }

    #[test]
    fn examples_can_be_required() {
        for (name, key, _) in KEYS {
            assert!(one(name, key.example()).is_ok(), "{name}");
        }
    }

    #[test]
    fn what_cannot_be_required_is_refused_with_a_remedy() {
        for (text, problem, hint) in [
            ("", "names nothing", "k=5"),
            ("k", "as in k=5", "--require k=5"),
            ("k=five", "limit of k is not a number", "for example k=5"),
            ("k=-1", "limit of k is not a number", "for example k=5"),
            ("kk=5", "kk is nothing", "did you mean k?"),
            ("enropy-l=2", "enropy-l is nothing", "did you mean entropy-l?"),
            ("zebra=2", "zebra is nothing", "Known are k, l"),
            ("t=near", "limit of t is not a number", "for example t=0.3"),
            ("recursive=x:2", "limit of recursive is not a number", "for example recursive=3:2"),
            ("recursive=3", "needs c and l", "recursive=3:2"),
            ("recursive=3:1", "needs c and l", "recursive=3:2"),
            ("k=5,k=6", "required twice", "once"),
        ] {
            let error = parse(text).unwrap_err();
            let told = format!("{error} / {}", error.hint().unwrap());
            assert!(told.contains(problem) && told.contains(hint), "{told}");
        }
    }
}
