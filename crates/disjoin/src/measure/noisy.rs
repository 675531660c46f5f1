//! How useful is a noisy release? Which of the best itemsets it misses, and how far supports are off.
//!
//! Paper:      li2012, section 6 (false negative rate, relative error); terrovitis2012, section 7 (tKd and re of DiffPart)
//! Assumes:    the release was made from the original that it is compared with: nothing in it can show that
//! Departs:    ties at rank K are broken by length, then by terms, as everywhere here
//! Cost:       mining the original, and the published records if there are some
//! Checked by: tests in this file

use std::collections::HashSet;

use serde::Serialize;

use super::relative_error::{Error as RelativeError, FIRST, Pairs};
use super::top_k::{Best, Deviation, deviation, larger};
use crate::data::{Dataset, TermId, Transactions, itemset_supports};
use crate::inspect::{Itemset, Mining, top_k};
use crate::observer::Observer;
use crate::release::noisy::{Noisy, Rows};

/// A published bag is read as records up to so many of them: what is above cannot come from noise that is worth something.
const MOST_RECORDS: u64 = 1 << 31;

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct NoisyReport {
    /// Records of the original.
    pub records: u64,
    /// Terms of the original.
    pub terms: usize,
    /// What a row of the release is.
    pub kind: Rows,
    /// Rows of the release.
    pub rows: usize,
    /// How many of the best itemsets were compared.
    pub top: usize,
    /// The share of the original's K best itemsets that are not among the K best of the release: false negatives.
    pub missed: f64,
    /// The same of those with two terms or more; none if there are none.
    pub missed_larger: Option<f64>,
    /// The mean relative error of supports, over the K best itemsets that are found; none if none is.
    pub support_error: Option<f64>,
    /// Of published records: tKd with all its readings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tkd: Option<Deviation>,
    /// Of published records: how far the supports of pairs are off, in windows of terms by rank.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relative_error: Vec<NoisyWindow>,
}

/// The relative errors of the pairs of some consecutive terms, by falling support.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoisyWindow {
    /// The rank of its first term, from 0.
    pub first: usize,
    /// The number of its terms.
    pub terms: usize,
    /// re of the published records.
    pub re: RelativeError,
}

/// Compares a noisy release with its original, over the `top` best itemsets.
pub fn measure_noisy(release: &Noisy, original: &Dataset, top: usize, observer: &dyn Observer) -> NoisyReport {
    let mining = Mining { observer, ..Mining::top(top) };
    // Noise may publish items that the original does not have.
    let mut dictionary = original.dictionary.clone();
    let mut terms_of = |texts: &[String]| -> Vec<TermId> {
        let mut terms: Vec<TermId> = texts.iter().map(|text| dictionary.intern(text)).collect();
        terms.sort_unstable();
        terms
    };
    let rows: Vec<(Vec<TermId>, u64)> = release.rows.iter().map(|row| (terms_of(&row.terms), row.count)).collect();
    let n_terms = dictionary.len();
    let truth = top_k(&original.records, n_terms, &mining);
    let (found, tkd, relative_error): (Vec<(Vec<TermId>, u64)>, _, _) = match release.kind {
        Rows::Itemsets => (rows.into_iter().take(top).collect(), None, Vec::new()),
        Rows::Records => {
            let published = bag(rows);
            let found = top_k(&published, n_terms, &mining);
            let found = found.into_iter().map(|set| (set.terms, u64::from(set.support))).collect();
            let tkd =
                deviation(&Best::of_original(original, top, observer), &published, n_terms, &larger(top, observer));
            (found, Some(tkd), windows(original, &published, n_terms))
        }
    };
    let (missed, missed_larger) = missed(&truth, &found);
    NoisyReport {
        records: original.records.len() as u64,
        terms: original.n_terms(),
        kind: release.kind,
        rows: release.rows.len(),
        top: truth.len(),
        missed,
        missed_larger,
        support_error: support_error(original, n_terms, &truth, &found),
        tkd,
        relative_error,
    }
}

/// The records that a bag of counts stands for.
fn bag(rows: Vec<(Vec<TermId>, u64)>) -> Transactions {
    let mut records = Transactions::default();
    let mut room = MOST_RECORDS;
    for (mut terms, count) in rows {
        let count = count.min(room);
        room -= count;
        (0..count).for_each(|_| _ = records.push(&mut terms));
    }
    records
}

/// The share of the best that was not found: of all, and of those with two terms or more.
fn missed(truth: &[Itemset], found: &[(Vec<TermId>, u64)]) -> (f64, Option<f64>) {
    let found: HashSet<&[TermId]> = found.iter().map(|(terms, _)| &terms[..]).collect();
    let share = |sets: &[&Itemset]| {
        let missed = sets.iter().filter(|set| !found.contains(&set.terms[..])).count();
        (!sets.is_empty()).then(|| missed as f64 / sets.len() as f64)
    };
    let all: Vec<&Itemset> = truth.iter().collect();
    let larger: Vec<&Itemset> = truth.iter().filter(|set| set.terms.len() > 1).collect();
    (share(&all).unwrap_or(0.0), share(&larger))
}

/// |s_o - s_p| / s_o, on average over the best that were found.
fn support_error(original: &Dataset, n_terms: usize, truth: &[Itemset], found: &[(Vec<TermId>, u64)]) -> Option<f64> {
    let best: HashSet<&[TermId]> = truth.iter().map(|set| &set.terms[..]).collect();
    let hits: Vec<(&[TermId], u64)> =
        found.iter().map(|(terms, count)| (&terms[..], *count)).filter(|(terms, _)| best.contains(terms)).collect();
    let sets: Vec<&[TermId]> = hits.iter().map(|(terms, _)| *terms).collect();
    let exact = itemset_supports(&original.records, n_terms, &sets);
    let errors =
        hits.iter().zip(exact).map(|((_, noisy), exact)| noisy.abs_diff(exact.into()) as f64 / f64::from(exact));
    (!hits.is_empty()).then(|| errors.sum::<f64>() / hits.len() as f64)
}

fn windows(original: &Dataset, published: &Transactions, n_terms: usize) -> Vec<NoisyWindow> {
    let pairs = Pairs::new(original).with_terms(n_terms);
    let (truth, noisy) = (pairs.supports(&original.records), pairs.supports(published));
    let window = |(i, terms): (usize, usize)| NoisyWindow {
        first: FIRST[i],
        terms,
        re: RelativeError::new(&truth[i], &noisy[i]),
    };
    pairs.lengths().enumerate().map(window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::noisy::Row;

    fn row(terms: &[&str], count: u64) -> Row {
        Row { terms: terms.iter().map(|term| term.to_string()).collect(), count }
    }

    fn original() -> Dataset {
        Dataset::from_texts([&["a", "b"][..], &["a", "b"], &["a"], &["a", "c"], &["c"]])
    }

    #[test]
    fn itemsets_are_compared_by_hand() {
        // The best four: a 4, b 2, c 2, ab 2.
        let release =
            Noisy::new(Rows::Itemsets, vec![row(&["a"], 5), row(&["b"], 2), row(&["b", "z"], 1), row(&["a", "c"], 9)]);
        let report = measure_noisy(&release, &original(), 4, &crate::observer::Unobserved);
        assert_eq!((report.top, report.missed, report.missed_larger), (4, 0.5, Some(1.0)));
        assert_eq!(report.support_error, Some(0.125));
        assert!(report.tkd.is_none() && report.relative_error.is_empty());
    }

    #[test]
    fn records_are_mined_and_the_same_records_lose_nothing() {
        let rows = vec![row(&["a", "b"], 2), row(&["a"], 1), row(&["a", "c"], 1), row(&["c"], 1)];
        let report = measure_noisy(&Noisy::new(Rows::Records, rows), &original(), 5, &crate::observer::Unobserved);
        assert_eq!((report.missed, report.support_error), (0.0, Some(0.0)));
        assert_eq!(report.relative_error[0].re.mean, Some(0.0));
        let other = measure_noisy(
            &Noisy::new(Rows::Records, vec![row(&["new"], 7)]),
            &original(),
            5,
            &crate::observer::Unobserved,
        );
        assert_eq!((other.missed, other.support_error, other.relative_error[0].re.mean), (1.0, None, Some(2.0)));
        assert_eq!(other.tkd.unwrap().all, 1.0);
    }
}
