//! Does the budget of a noisy release add up, and is there nothing in it that the budget does not cover?
//!
//! Paper:      the costs of mechanisms are those of mcsherry2009, bun2016, canonne2020 and cesar2021; see the header of
//!             `protect/noise/ledger.rs`, with which this shares no code
//! Promises:   if the verdict holds, mechanisms as the ledger lists them give the epsilon and delta that are claimed, together; the
//!             ledger is that of the method; and claim and data hold no field, file or row that the format does not have
//! Assumes:    that noise was drawn as the ledger says. Nobody can see that in one release: a single noisy number may be any number.
//!             `tests/it/noise.rs` shows it of the program, over many runs
//! Cost:       one pass
//! Checked by: `tests/it/noise.rs`: `forged_releases_are_refuted`

use std::collections::HashSet;
use std::fmt;
use std::path::Path;

use serde::Serialize;

use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};
use crate::release::noisy::{
    Accounting, Amount, DATA, Entry, Mechanism, NEIGHBOURS, Noisy, NoisyClaim, Row, Rows, UNIVERSE, Universe, order,
};

/// A basis of PrivBasis, and so an itemset of it, is not longer.
const LONGEST: usize = 12;

/// A noisy release as its files hold it.
#[derive(Debug, Clone)]
pub struct NoisyFiles {
    /// The claim.
    pub claim: NoisyClaim,
    /// The rows.
    pub data: Noisy,
    /// The listed items, if there is such a list.
    pub universe: Option<Vec<String>>,
    /// Files beside them that are no part of a release.
    pub strange_files: u64,
}

/// Whether a noisy release keeps its promise, as far as that can be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoisyVerdict {
    /// No rule is broken, and something is promised.
    pub holds: bool,
    /// What is claimed.
    pub epsilon: Amount,
    /// What is claimed.
    pub delta: Amount,
    /// The method.
    pub method: String,
    /// Whether the noise can be reproduced.
    pub demonstration: bool,
    /// Rows of the data.
    pub rows: u64,
    /// What was spent, by the entries as they were counted anew, in the measure of the ledger.
    pub spent: Option<Amount>,
    /// What may be spent in that measure.
    pub budget: Amount,
    /// How many checks failed.
    pub violations: u64,
    /// The first 20 of them.
    pub findings: Vec<NoisyFinding>,
    /// The rules that were checked, with counts.
    pub checks: Vec<NoisyCheck>,
}

/// What must be so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoisyRule {
    /// Epsilon is above 0, delta from 0 to below 1, and the neighbours are those of the format.
    Claim,
    /// Each entry costs what its mechanism costs.
    Costs,
    /// Costs and what is unspent make the budget, and the budget gives epsilon and delta.
    Sum,
    /// Each step of the method is in the ledger once, and no other.
    Steps,
    /// There is nothing that the format does not have.
    Nothing,
    /// Rows are in order, different, counted from 1, of known items, and what the method can have made.
    Rows,
}

impl fmt::Display for NoisyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoisyRule::Claim => "the claim means something",
            NoisyRule::Costs => "entries cost what they must",
            NoisyRule::Sum => "the budget adds up",
            NoisyRule::Steps => "every step is in the ledger",
            NoisyRule::Nothing => "nothing else is published",
            NoisyRule::Rows => "rows can be results of the method",
        })
    }
}

const RULES: [NoisyRule; 6] =
    [NoisyRule::Claim, NoisyRule::Costs, NoisyRule::Sum, NoisyRule::Steps, NoisyRule::Nothing, NoisyRule::Rows];

/// What is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoisyFinding {
    /// The rule.
    pub rule: NoisyRule,
    /// What was found, and where.
    pub detail: String,
}

/// A rule, and how often it was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoisyCheck {
    /// The rule.
    pub rule: NoisyRule,
    /// How often it was checked.
    pub checked: u64,
    /// How often it was broken.
    pub violated: u64,
}

/// Reads a release folder. Fields that data.jsonl or the claim must not have are an error.
pub fn open_noisy(folder: &Path, memory: Memory) -> Result<NoisyFiles> {
    let text = |name: &str| {
        let path = folder.join(name);
        let bytes = read_file(&path, "read the release", memory)?;
        String::from_utf8(bytes)
            .map_err(|_| Error::input(Place::file(path.display().to_string()), "is not valid UTF-8"))
    };
    let claim = NoisyClaim::read(&folder.join("claim.json"))?;
    let data = Noisy::read(&text(DATA)?, &folder.join(DATA).display().to_string())?;
    let universe = match folder.join(UNIVERSE).is_file() {
        true => Some(text(UNIVERSE)?.lines().map(str::to_owned).collect()),
        false => None,
    };
    let is_strange = |name: &str| !["claim.json", DATA, UNIVERSE, "report.html"].contains(&name);
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read the release", e))?;
    let strange_files =
        entries.flatten().filter(|entry| is_strange(&entry.file_name().to_string_lossy())).count() as u64;
    Ok(NoisyFiles { claim, data, universe, strange_files })
}

/// Checks a release against its claim.
pub fn verify_noisy(files: &NoisyFiles) -> NoisyVerdict {
    let (claim, mut tally) = (&files.claim, Tally::default());
    check_claim(claim, &mut tally);
    let (spent, budget) = check_ledger(claim, &mut tally);
    check_steps(claim, &mut tally);
    check_nothing_else(files, &mut tally);
    check_rows(files, &mut tally);
    NoisyVerdict {
        holds: tally.violations == 0 && !claim.demonstration,
        epsilon: claim.epsilon,
        delta: claim.delta,
        method: claim.method.clone(),
        demonstration: claim.demonstration,
        rows: files.data.rows.len() as u64,
        spent,
        budget,
        violations: tally.violations,
        findings: tally.findings,
        checks: RULES
            .iter()
            .zip(tally.counts)
            .map(|(&rule, [checked, violated])| NoisyCheck { rule, checked, violated })
            .collect(),
    }
}

/// Counts what was checked.
#[derive(Default)]
struct Tally {
    counts: [[u64; 2]; RULES.len()],
    violations: u64,
    findings: Vec<NoisyFinding>,
}

impl Tally {
    const SHOWN: usize = 20;

    fn check(&mut self, rule: NoisyRule, holds: bool, detail: impl FnOnce() -> String) {
        let counts = &mut self.counts[rule as usize];
        counts[0] += 1;
        if !holds {
            counts[1] += 1;
            self.violations += 1;
            if self.findings.len() < Self::SHOWN {
                self.findings.push(NoisyFinding { rule, detail: detail() });
            }
        }
    }
}

fn check_claim(claim: &NoisyClaim, tally: &mut Tally) {
    let one = Amount::UNITS;
    tally.check(NoisyRule::Claim, claim.epsilon.units() > 0, || "epsilon is 0".into());
    tally.check(NoisyRule::Claim, claim.delta.units() < one, || "delta is 1 or more: anything may happen".into());
    tally.check(NoisyRule::Claim, claim.neighbours == NEIGHBOURS, || "other neighbours than this format has".into());
}

/// Counts the ledger anew: what was spent, and what may be.
fn check_ledger(claim: &NoisyClaim, tally: &mut Tally) -> (Option<Amount>, Amount) {
    let budget = match claim.accounting {
        Accounting::Pure => claim.epsilon,
        Accounting::Concentrated { rho } => rho,
    };
    if let Accounting::Concentrated { rho } = claim.accounting {
        let is_enough = claim.delta.units() > 0 && delta_bound(rho, claim.epsilon) <= claim.delta.to_f64();
        tally.check(NoisyRule::Sum, is_enough, || {
            format!("rho = {rho} does not give epsilon = {} with delta = {}", claim.epsilon, claim.delta)
        });
    }
    let mut spent = Some(0_u128);
    for entry in &claim.ledger {
        let cost = cost(entry, &claim.accounting);
        let is_right = cost == Some(u128::from(entry.cost.units()));
        tally.check(NoisyRule::Costs, is_right, || match cost {
            Some(cost) => {
                format!("{:?} has a cost of {} in the ledger, but costs {cost} units of 10^-12", entry.step, entry.cost)
            }
            None => format!("{:?} has no cost in this accounting", entry.step),
        });
        spent = spent.zip(cost).map(|(sum, cost)| sum.saturating_add(cost));
    }
    let whole = spent.map(|spent| spent.saturating_add(u128::from(claim.unspent.units())));
    tally.check(NoisyRule::Sum, whole == Some(u128::from(budget.units())), || {
        format!("entries and what is unspent do not make {budget}")
    });
    let spent = spent.and_then(|spent| u64::try_from(spent).ok()).map(Amount::from_units);
    (spent, budget)
}

/// What an entry costs, in units of 10^-12, rounded up.
fn cost(entry: &Entry, accounting: &Accounting) -> Option<u128> {
    const ONE: u128 = Amount::UNITS as u128;
    let square = |number: u128| number.checked_mul(number);
    let concentrated = matches!(accounting, Accounting::Concentrated { .. });
    match entry.mechanism {
        // r^2 / 8 for each draw of range r, or r.
        Mechanism::Exponential { draws, range } if concentrated => {
            Some(square(range.units().into())?.checked_mul(draws.into())?.div_ceil(8 * ONE))
        }
        Mechanism::Exponential { draws, range } => Some(u128::from(range.units()) * u128::from(draws)),
        // (rate s)^2 / 2, or rate s.
        Mechanism::DiscreteLaplace { rate, sensitivity } => {
            let epsilon = u128::from(rate.units()) * u128::from(sensitivity);
            if concentrated { Some(square(epsilon)?.div_ceil(2 * ONE)) } else { Some(epsilon) }
        }
        // d / (2 v).
        Mechanism::DiscreteGaussian { variance, sensitivity_squared } if concentrated && variance > 0 => {
            Some((u128::from(sensitivity_squared) * ONE).div_ceil(2 * u128::from(variance)))
        }
        Mechanism::Partitioning { path } if !concentrated => Some(path.units().into()),
        _ => None,
    }
}

/// An upper bound of the delta that rho gives for epsilon: the least of exp((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a-1) over some
/// a > 1 (canonne2020, Corollary 13, written in another way), and a little more for rounding.
fn delta_bound(rho: Amount, epsilon: Amount) -> f64 {
    let (rho, epsilon) = (rho.to_f64(), epsilon.to_f64());
    let at = |a: f64| ((a - 1.0) * (a * rho - epsilon) + a * (1.0 - 1.0 / a).ln() - (a - 1.0).ln()).exp();
    // The best order is near 1 + sqrt(ln(1/delta) / rho): looked for on a grid, coarse at first.
    let (mut low, mut high) = (-6.0_f64, 12.0_f64);
    let mut best = f64::INFINITY;
    for _ in 0..6 {
        let step = (high - low) / 100.0;
        let grid = (0..=100).map(|i| low + step * f64::from(i));
        let (bound, place) =
            grid.map(|x| (at(1.0 + x.exp()), x)).fold((f64::INFINITY, low), |a, b| if b.0 < a.0 { b } else { a });
        best = best.min(bound);
        (low, high) = (place - step, place + step);
    }
    best * (1.0 + 1e-10)
}

/// The steps of a method.
fn check_steps(claim: &NoisyClaim, tally: &mut Tally) {
    let steps: Vec<&str> = claim.ledger.iter().map(|entry| entry.step.as_str()).collect();
    let (parameters, mechanism) = (&claim.parameters, |i: usize| claim.ledger.get(i).map(|entry| &entry.mechanism));
    let is_right = match claim.method.as_str() {
        "diffpart" => {
            let has_all = parameters.fan_out.is_some() && parameters.publish_millionths.is_some();
            has_all && steps == ["records"] && matches!(mechanism(0), Some(Mechanism::Partitioning { .. }))
        }
        "privbasis" => {
            // So many draws of items as were drawn to matter; many items need pairs and a limit, few one basis.
            let draws = |i| if let Some(&Mechanism::Exponential { draws, .. }) = mechanism(i) { draws } else { 0 };
            let is_count = matches!(
                claim.ledger.last().map(|entry| &entry.mechanism),
                Some(
                    Mechanism::DiscreteLaplace { sensitivity: 1.., .. }
                        | Mechanism::DiscreteGaussian { sensitivity_squared: 1.., .. }
                )
            );
            match parameters.items {
                Some(0) => steps == ["number of items"],
                Some(items) if items as usize <= LONGEST => {
                    let is_pure = matches!(claim.accounting, Accounting::Pure);
                    steps == ["number of items", "items", "counts"]
                        && draws(0) == 1
                        && draws(1) == items
                        && is_count
                        && is_pure
                }
                Some(items) => {
                    steps == ["number of items", "items", "pairs", "limit of bases a record", "counts"]
                        && draws(0) == 1
                        && draws(1) == items
                        && draws(2) > 0
                        && draws(3) == 1
                        && is_count
                        && matches!(claim.accounting, Accounting::Pure) == (claim.delta.units() == 0)
                }
                None => false,
            }
        }
        _ => false,
    };
    tally.check(NoisyRule::Steps, is_right, || "the ledger is not that of the method".into());
}

/// A number more, such as that of records, would not be covered by the budget. A field more in the claim is not even read.
fn check_nothing_else(files: &NoisyFiles, tally: &mut Tally) {
    let strange = files.strange_files;
    tally.check(NoisyRule::Nothing, strange == 0, || {
        format!("{strange} files stand beside the data that do not belong there")
    });
    let is_listed = files.claim.universe == Universe::Listed;
    tally.check(NoisyRule::Nothing, files.universe.is_some() == is_listed, || match is_listed {
        true => format!("{UNIVERSE} is missing"),
        false => format!("{UNIVERSE} lists items, which the claim takes from the data"),
    });
}

fn check_rows(files: &NoisyFiles, tally: &mut Tally) {
    let (claim, Noisy { kind, rows }) = (&files.claim, &files.data);
    let is_kind = match claim.method.as_str() {
        "diffpart" => *kind == Rows::Records,
        _ => *kind == Rows::Itemsets,
    };
    tally.check(NoisyRule::Rows, is_kind, || "rows are of another kind than the method makes".into());
    let most = claim.parameters.top.map(u64::from);
    let too_many = most.is_some_and(|most| rows.len() as u64 > most);
    tally.check(NoisyRule::Rows, !too_many, || "there are more itemsets than were asked for".into());
    // The last counts of a path get at most all of epsilon: no threshold is lower.
    let least = claim.parameters.publish_millionths.map_or(1, |c2| {
        let least = c2 as f64 / 1e6 * f64::sqrt(2.0) / claim.epsilon.to_f64();
        (least.ceil() as u64).max(1)
    });
    let known: Option<HashSet<&str>> = files.universe.as_ref().map(|items| items.iter().map(String::as_str).collect());
    let mut seen = HashSet::new();
    for (i, row) in rows.iter().enumerate() {
        let line = i + 2;
        let fault = fault(row, rows.get(i.wrapping_sub(1)), *kind, least, known.as_ref());
        let fault = fault.or_else(|| (!seen.insert(&row.terms)).then_some("is there twice"));
        let is_long = *kind == Rows::Itemsets && row.terms.len() > LONGEST;
        let fault = fault.or(is_long.then_some("is longer than any basis"));
        tally
            .check(NoisyRule::Rows, fault.is_none(), || format!("line {line} of {DATA} {}", fault.unwrap_or_default()));
    }
}

/// What is wrong with a row by itself, or after the one before it.
fn fault(
    row: &Row,
    before: Option<&Row>,
    kind: Rows,
    least: u64,
    known: Option<&HashSet<&str>>,
) -> Option<&'static str> {
    let is_known = |term: &String| known.is_none_or(|known| known.contains(term.as_str()));
    match () {
        () if row.terms.is_empty() => Some("has no terms"),
        () if !row.terms.is_sorted_by(|a, b| a < b) => Some("has terms that are not in order"),
        () if row.count < least => Some("has a count below what is published"),
        () if !row.terms.iter().all(is_known) => Some("has a term that is not listed"),
        () if before.is_some_and(|before| order(kind, before, row).is_gt()) => Some("is not in order"),
        () => None,
    }
}
