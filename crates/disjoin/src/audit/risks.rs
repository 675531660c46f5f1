//! How probably is a record a person's? By the sizes of classes: prosecutor, journalist and marketer risk.
//!
//! Paper:      El Emam, Dankar 2008; ARX reports the same
//! Assumes:    the prosecutor knows that the person is in the file, the journalist does not and looks at a population, the marketer
//!             wants as many people as possible
//! Departs:    of a population only the size is known: a class of f records stands for f N / n people of it
//! Cost:       linear in classes
//! Checked by: `tests/it/audit.rs`, by ARX's published formulas, record by record
//!
//! With classes of f records, J of them, n records in all, F people of the population in a class:
//!
//! prosecutor: max 1/f, mean J/n; journalist: max 1/F, mean over records of 1/F; marketer: sum over classes of f/F, by n.

use serde::Serialize;

/// Risks of identity disclosure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Risks {
    /// Records with a risk above it are counted as at risk.
    pub threshold: f64,
    /// For somebody who knows that the person is in the file.
    pub prosecutor: Prosecutor,
    /// For somebody who does not.
    pub journalist: Journalist,
    /// The share of all people whom somebody would find who wants as many as possible.
    pub marketer: f64,
    /// Records that are the only ones of their class.
    pub unique: u64,
    /// Their share.
    pub unique_share: f64,
}

/// Prosecutor risk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prosecutor {
    /// The highest.
    pub highest: f64,
    /// The mean of all records.
    pub mean: f64,
    /// The lowest.
    pub lowest: f64,
    /// Records with the highest.
    pub records_at_highest: u64,
    /// Records above the threshold.
    pub records_at_risk: u64,
}

/// Journalist risk.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Journalist {
    /// The size of the population; none if the file is taken for all of it.
    pub population: Option<u64>,
    /// The highest.
    pub highest: f64,
    /// The mean of all records.
    pub mean: f64,
    /// Records above the threshold.
    pub records_at_risk: u64,
}

/// Risks by the sizes of classes.
pub(super) fn risks(sizes: &[u32], threshold: f64, population: Option<u64>) -> Risks {
    let n: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
    let (least, most) = (sizes.iter().min().copied().unwrap_or(1), sizes.iter().max().copied().unwrap_or(1));
    let records = |holds: &dyn Fn(u32) -> bool| -> u64 {
        sizes.iter().filter(|&&size| holds(size)).map(|&size| u64::from(size)).sum()
    };
    let one_of = |size: u32| 1.0 / f64::from(size.max(1));
    // People of the population for each record.
    let each = population.map_or(1.0, |population| population as f64 / n.max(1) as f64);
    let mean = sizes.len() as f64 / n.max(1) as f64;
    let unique = records(&|size| size == 1);
    Risks {
        threshold,
        prosecutor: Prosecutor {
            highest: one_of(least),
            mean,
            lowest: one_of(most),
            records_at_highest: records(&|size| size == least),
            records_at_risk: records(&|size| one_of(size) > threshold),
        },
        journalist: Journalist {
            population,
            highest: one_of(least) / each,
            mean: mean / each,
            records_at_risk: records(&|size| one_of(size) / each > threshold),
        },
        marketer: mean / each,
        unique,
        unique_share: unique as f64 / n.max(1) as f64,
    }
}
