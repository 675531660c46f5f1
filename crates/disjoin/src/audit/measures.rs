//! How sensitive values are spread over classes: diversity, closeness, likeness, disclosure and frequency, each in the class where it stands
//! worst, and what an adversary guesses from it.
//!
//! Promises:   what is reported holds in every class, and no stricter limit does, up to rounding
//! Assumes:    classes were counted (`data/class_counts.rs`); definitions are those of `release/privacy_models.rs`
//! Cost:       for each class the number of values of the column
//! Checked by: `tests/it/audit.rs`

use rayon::prelude::*;
use serde::Serialize;

use super::Classed;
use crate::data::table::{Column, Table};
use crate::observer::Observer;
use crate::release::privacy_models::{
    distance_equal, distance_hierarchical, distance_ordered, distinct, effective_values, enhanced_gain, highest_share,
    log_gain, recursive_ratio, relative_gain,
};

/// Ranks of recursive (c,l)-diversity that are reported at most.
const MOST_RANKS: u32 = 10;

/// A measure in the class where it stands worst.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Worst {
    /// The value.
    pub value: f64,
    /// The first record of the class, counted from 1.
    pub first_record: u64,
}

/// Recursive (c,l)-diversity holds for this l and every c above this one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Recursive {
    /// The rank.
    pub l: u32,
    /// r_1 / (r_l + ... + r_m) in the worst class.
    pub c: f64,
}

/// What an adversary guesses who looks up the class of each person and names its most frequent value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Guessing {
    /// Classes in which all records have the same value.
    pub homogeneous_classes: u64,
    /// Their records: the value of these people is disclosed for certain.
    pub homogeneous_records: u64,
    /// The share of right guesses.
    pub right: f64,
    /// The share of right guesses of somebody who names the most frequent value of all.
    pub baseline: f64,
}

/// What was found in a sensitive column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SensitiveAudit {
    /// The column.
    pub column: String,
    /// Its different values.
    pub values: u64,
    /// Whether all of them are numbers.
    pub numeric: bool,
    /// l of distinct l-diversity.
    pub distinct_l: Worst,
    /// l of entropy l-diversity.
    pub entropy_l: Worst,
    /// Recursive (c,l)-diversity for l from 2 to the distinct one.
    pub recursive: Vec<Recursive>,
    /// t of t-closeness, all values equally far apart.
    pub t_equal: Worst,
    /// t of t-closeness by rank, if values are numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_ordered: Option<Worst>,
    /// t of t-closeness by the hierarchy, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_hierarchical: Option<Worst>,
    /// beta of basic beta-likeness.
    pub basic_beta: Worst,
    /// beta of enhanced beta-likeness; none if no beta is great enough.
    pub enhanced_beta: Option<Worst>,
    /// delta of delta-disclosure privacy, of the values that classes have.
    pub delta: Worst,
    /// Classes that lack a value which others have: by the letter, their delta is infinite.
    pub classes_without_a_value: u64,
    /// alpha of (alpha, k)-anonymity: the highest share of a value.
    pub alpha: Worst,
    /// What an adversary guesses.
    pub guessing: Guessing,
}

impl SensitiveAudit {
    /// t by the distance that fits the column: by hierarchy, by rank, or all values equally far apart.
    pub fn t(&self) -> Worst {
        self.t_hierarchical.or(self.t_ordered).unwrap_or(self.t_equal)
    }
}

/// What is known of a class.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfClass {
    pub(super) distinct: u32,
    pub(super) share: f64,
    most: u32,
    entropy: f64,
    equal: f64,
    ordered: f64,
    hierarchical: f64,
    gain: f64,
    enhanced: Option<f64>,
    log: f64,
}

/// Every sensitive column, with what is known of each class.
pub(super) fn measure(
    table: &Table,
    classed: &Classed,
    observer: &dyn Observer,
) -> Vec<(SensitiveAudit, Vec<OfClass>)> {
    let columns = table.sensitive();
    columns.iter().enumerate().map(|(at, column)| of_column(column, at, classed, observer)).collect()
}

fn of_column(column: &Column, at: usize, classed: &Classed, observer: &dyn Observer) -> (SensitiveAudit, Vec<OfClass>) {
    observer.check();
    let mut overall = vec![0_u32; column.domain.n_codes()];
    column.codes.iter().for_each(|&code| overall[code as usize] += 1);
    let counts = |class: usize, q: &mut Vec<u32>| {
        q.clear();
        q.resize(overall.len(), 0);
        classed.counted.values(class, at).iter().for_each(|&(code, count)| q[code as usize] = count);
    };
    let classes: Vec<OfClass> = (0..classed.len())
        .into_par_iter()
        .map_init(Vec::new, |q, class| {
            observer.check();
            counts(class, q);
            of_class(column, q, &overall)
        })
        .collect();
    let least = classes.iter().map(|class| class.distinct).min().unwrap_or(0);
    let ratios = |l: u32| {
        let ratio = |q: &mut Vec<u32>, class: usize| {
            counts(class, q);
            recursive_ratio(q, l)
        };
        let c = (0..classed.len()).into_par_iter().map_init(Vec::new, ratio).reduce(|| 0.0, f64::max);
        Recursive { l, c }
    };
    let recursive = (2..=least.min(MOST_RANKS)).map(ratios).collect();
    (summary(column, classed, &classes, &overall, recursive), classes)
}

fn of_class(column: &Column, q: &[u32], p: &[u32]) -> OfClass {
    let domain = &column.domain;
    OfClass {
        distinct: distinct(q),
        share: highest_share(q),
        most: q.iter().copied().max().unwrap_or(0),
        entropy: effective_values(q),
        equal: distance_equal(q, p),
        ordered: if domain.numbers().is_some() { distance_ordered(q, p) } else { 0.0 },
        hierarchical: domain.hierarchy().map_or(0.0, |hierarchy| distance_hierarchical(q, p, hierarchy)),
        gain: relative_gain(q, p),
        enhanced: enhanced_gain(q, p),
        log: log_gain(q, p),
    }
}

fn summary(
    column: &Column,
    classed: &Classed,
    classes: &[OfClass],
    overall: &[u32],
    recursive: Vec<Recursive>,
) -> SensitiveAudit {
    let found = |class: usize, value: f64| Worst { value, first_record: u64::from(classed.firsts[class]) + 1 };
    let worst = |of: &dyn Fn(&OfClass) -> f64, is_worse: &dyn Fn(f64, f64) -> bool| {
        let mut worst: Option<(usize, f64)> = None;
        for (class, value) in classes.iter().map(of).enumerate() {
            if worst.is_none_or(|(_, before)| is_worse(value, before)) {
                worst = Some((class, value));
            }
        }
        worst.map_or(Worst { value: 0.0, first_record: 0 }, |(class, value)| found(class, value))
    };
    let most = |of: &dyn Fn(&OfClass) -> f64| worst(of, &|a, b| a > b);
    let fewest = |of: &dyn Fn(&OfClass) -> f64| worst(of, &|a, b| a < b);
    let n_overall = distinct(overall);
    let is_homogeneous = |class: &&OfClass| class.distinct == 1;
    let guessed: u64 = classes.iter().map(|class| u64::from(class.most)).sum();
    let records = column.codes.len().max(1) as f64;
    SensitiveAudit {
        column: column.name.clone(),
        values: n_overall.into(),
        numeric: column.domain.numbers().is_some(),
        distinct_l: fewest(&|class| f64::from(class.distinct)),
        entropy_l: fewest(&|class| class.entropy),
        recursive,
        t_equal: most(&|class| class.equal),
        t_ordered: column.domain.numbers().map(|_| most(&|class| class.ordered)),
        t_hierarchical: column.domain.hierarchy().map(|_| most(&|class| class.hierarchical)),
        basic_beta: most(&|class| class.gain),
        enhanced_beta: classes
            .iter()
            .all(|class| class.enhanced.is_some())
            .then(|| most(&|class| class.enhanced.unwrap_or(f64::INFINITY))),
        delta: most(&|class| class.log),
        classes_without_a_value: classes.iter().filter(|class| class.distinct < n_overall).count() as u64,
        alpha: most(&|class| class.share),
        guessing: Guessing {
            homogeneous_classes: classes.iter().filter(is_homogeneous).count() as u64,
            homogeneous_records: classes.iter().filter(is_homogeneous).map(|class| u64::from(class.most)).sum(),
            right: guessed as f64 / records,
            baseline: highest_share(overall),
        },
    }
}
