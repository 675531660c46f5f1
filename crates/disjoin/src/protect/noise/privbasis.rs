//! PrivBasis: the K most frequent itemsets with noisy supports, found by counting few small sets of items all at once.
//!
//! Paper:      li2012, sections 3 to 5 (Algorithms 1 to 3); constants as in the authors' program
//! Promises:   epsilon-differential privacy (pure accounting), or epsilon and delta (approximate), for neighbours that differ by one
//!             record, added or removed
//! Assumes:    the items and all parameters are public. The number of records is not, and is not told
//! Departs:    from the program, which spends 1.9 epsilon, and clips exponents; draws are exact here. More pairs are drawn than the
//!             paper does (up to 1.3 K sets in all): what is not covered by a basis can never be found. A record counts in a limited
//!             number of bases, the limit being drawn; the count of records with no item of a basis is not taken. The approximate
//!             accounting is ours
//! Cost:       mining the best 1.1 K itemsets once; a few passes over the records; 2^12 counts a basis at most
//! Checked by: tests in this file (sensitivities by brute force); `tests/it/noise.rs`: `privbasis_keeps_its_epsilon_and_half_the_noise_does_not`
//!
//! # Why the budget is kept
//!
//! One record is added (removing it is the same with the signs changed). The support of any itemset then grows by 0 or 1. Each step is
//! one entry of the ledger, whose header tells what mechanisms cost; what a step draws, later steps may use freely.
//!
//! 1. *How many items matter.* f_j is the support of the item of rank j, theta that of the itemset of rank r = ceil(1.1 K) + 1 among all
//!    itemsets of the universe (0 if there are fewer). If n numbers each grow by 0 or 1, so does the one of rank j: at least j numbers
//!    were at least f_j and still are, and fewer than j are above f_j + 1, since fewer than j were above f_j. So f_j and theta grow by 0 or
//!    1, f_j - theta changes by -1, 0 or 1, and the loss |f_j - theta| by at most 1, in either direction. Weights exp(-(e/2) loss): their
//!    logarithms change within [-e/2, e/2], a range of e. One draw.
//! 2. *Which items.* Weights exp(e f), e f changes within [0, e]: a range of e for each draw. Lambda draws without replacement: each is an
//!    exponential mechanism over the items that are left, which is known from the draws before.
//! 3. *Which pairs* of these items: the same with the supports of pairs.
//! 4. *In how many bases a record may count.* Bases follow from 2 and 3. A record touches a basis if it has one of its items. For a limit
//!    l, lost(l) is the sum over records of what they touch beyond l, and the loss is floor(lost(l) / (2 w)) plus a number that does not
//!    depend on data; w is the number of bases. One record more adds at most w - l < 2 w to lost(l), so 0 or 1 to the floor, for all
//!    limits: weights exp(-e loss) have a range of e. One draw.
//! 5. *Counts.* Of each basis, in how many records each non-empty set of its items is exactly what the record has of it. A record counts
//!    in at most l of the bases that it touches; which ones depends on the record and the bases alone, so a record more changes
//!    nothing about others. It adds 1 to at most l counts, one in each basis: the sum of differences, and of their squares, is at most
//!    min(l, w).
//!
//! What follows, adding up and averaging counts, looks at noisy counts only. In the approximate accounting, if step 1 draws at most 12,
//! the rest is accounted for in epsilon, otherwise in rho: the branch of the ledger's header.

use std::collections::HashMap;

use super::bases::{LONGEST, bases, mean_deviation, merge, share};
use super::counts::{Data, add_supersets};
use super::{Known, Ledger, Made, Source};
use crate::data::{TermId, supports};
use crate::error::{Error, Result};
use crate::inspect::{Mining, top_k};
use crate::observer::Observer;
use crate::release::noisy::{Accounting, Amount, Mechanism, NoiseParameters, Noisy, NoisyClaim, Row, Rows};

/// Up to how many items one basis for all is best.
const SINGLE: usize = LONGEST;

/// What PrivBasis is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Params {
    /// The epsilon of the whole.
    pub epsilon: Amount,
    /// The delta of the whole: none for the pure accounting.
    pub delta: Option<Amount>,
    /// K: how many itemsets.
    pub top: u32,
    /// How the budget is shared, in thousandths: steps 1, 2 and 3 together, 4; the rest is for 5. None: by what was measured.
    pub shares: Option<[u64; 3]>,
}

impl Params {
    /// The K best itemsets, with the usual shares.
    pub fn new(epsilon: Amount, delta: Option<Amount>, top: u32) -> Self {
        Params { epsilon, delta, top, shares: None }
    }

    /// Refuses what has no meaning.
    pub fn check(&self) -> Result<()> {
        if self.top == 0 || self.top > MOST_TOP {
            let problem = format!("must be between 1 and {MOST_TOP}");
            return Err(Error::recipe("protect.noise.top", problem, "for example 100"));
        }
        match self.shares {
            Some(shares) if shares.iter().sum::<u64>() >= 1000 || shares.contains(&0) => Err(Error::recipe(
                "shares",
                "must be above 0 and leave something for counts",
                "for example 50, 400 and 20",
            )),
            _ => Ok(()),
        }
    }
}

/// Pairs of more items than this could not be held.
const MOST_TOP: u32 = 10_000;

/// Step 1 looks at the itemset of this rank, in tenths of K; no more items than that are drawn.
const ETA_TENTHS: u64 = 11;

/// Items and pairs together, in tenths of K.
const SETS: u64 = 13;

/// The shares of the pure accounting: as in the paper, but for the limit, which the counts pay for.
const PURE: [u64; 3] = [100, 400, 20];

/// The shares of rho. Lambda is cheap here: a draw of range e costs e^2 / 8.
const CONCENTRATED: [u64; 3] = [40, 460, 30];

/// The K most frequent itemsets, with noise.
pub fn privbasis(known: &Known, params: &Params, source: &mut Source, observer: &dyn Observer) -> Result<Made> {
    params.check()?;
    let mut ledger = match params.delta {
        Some(delta) => Ledger::concentrated(params.epsilon, delta)?,
        None => Ledger::pure(params.epsilon)?,
    };
    let data = Data { known, supports: supports(&known.records, known.items.len()), observer };
    let mut shares = Shares::new(params, &ledger);
    let lambda = how_many_items(&data, params, &shares, &mut ledger, source)?;
    if lambda <= SINGLE && params.delta.is_some() {
        ledger = ledger.branch()?;
        shares = shares.of_rest(ledger.left());
    }
    let found = match lambda {
        0 => Vec::new(),
        lambda if lambda <= SINGLE => {
            let items = draw_items(&data, lambda, shares.select, &mut ledger, source)?;
            let basis = vec![(0..lambda).collect()];
            count(&data, &items, &basis, 1, &mut ledger, source)?
        }
        lambda => {
            let n_pairs = n_pairs(lambda, params.top);
            let (for_items, for_pairs) = shares.split(lambda as u64, n_pairs as u64);
            let items = draw_items(&data, lambda, for_items, &mut ledger, source)?;
            let pairs = draw_pairs(&data, &items, n_pairs, for_pairs, &mut ledger, source)?;
            observer.check();
            let bases = bases(lambda, &pairs);
            observer.check();
            let touched = data.touched(&items, &bases);
            let deviation = mean_deviation(&bases, lambda, &pairs);
            let limit = draw_limit(&touched, bases.len(), deviation, shares.limit, &mut ledger, source)?;
            let variance = |w: usize| match ledger.accounting() {
                Accounting::Pure => (w.min(limit) as f64).powi(2),
                Accounting::Concentrated { .. } => w.min(limit) as f64,
            };
            observer.check();
            let bases = merge(bases, lambda, &pairs, variance);
            observer.check();
            count(&data, &items, &bases, limit.min(bases.len()), &mut ledger, source)?
        }
    };
    let rows = best(found, params.top as usize, known);
    let parameters =
        NoiseParameters { top: Some(params.top), items: Some(lambda as u32), ..NoiseParameters::default() };
    let spent = ledger.close(source.is_demonstration());
    Ok(Made {
        release: Noisy::new(Rows::Itemsets, rows),
        claim: NoisyClaim::new("privbasis", parameters, known.universe, spent),
    })
}

/// Which part of the budget each step may spend, in the measure of the ledger.
struct Shares {
    /// If they were asked for.
    given: Option<[u64; 3]>,
    first: Amount,
    select: Amount,
    limit: Amount,
}

impl Shares {
    fn new(params: &Params, ledger: &Ledger) -> Self {
        let usual = match ledger.accounting() {
            Accounting::Pure => PURE,
            Accounting::Concentrated { .. } => CONCENTRATED,
        };
        let thousandths = params.shares.unwrap_or(usual);
        let of = |i: usize| ledger.left().share(thousandths[i], 1000);
        Shares { given: params.shares, first: of(0), select: of(1), limit: of(2) }
    }

    /// The shares of what is left in epsilon after step 1.
    fn of_rest(self, left: Amount) -> Self {
        let [first, select, limit] = self.given.unwrap_or(PURE);
        let of = |part: u64| left.share(part, 1000 - first);
        Shares { select: of(select), limit: of(limit), ..self }
    }

    /// What items and pairs get: the same for each draw.
    fn split(&self, n_items: u64, n_pairs: u64) -> (Amount, Amount) {
        let items = self.select.share(n_items, n_items + n_pairs);
        (items, self.select.minus(items).unwrap_or_default())
    }
}

/// The range of each of some draws that together cost no more than a budget.
fn range_for(draws: usize, budget: Amount, accounting: &Accounting) -> Result<Amount> {
    let range = match accounting {
        Accounting::Pure => budget.share(1, draws as u64),
        // draws e^2 / 8 = rho, and a little less: the cost is rounded up.
        Accounting::Concentrated { .. } => {
            let rho = budget.units().saturating_sub(1) as f64 / Amount::UNITS as f64;
            Amount::at_most(f64::sqrt(8.0 * rho / draws as f64) * (1.0 - 1e-12))
        }
    };
    match range.units() {
        0 => Err(Error::Infeasible {
            problem: "the budget is too small to be shared by so many draws".into(),
            hint: "raise --epsilon, or ask for fewer itemsets with --top".into(),
        }),
        _ => Ok(range),
    }
}

/// Step 1.
fn how_many_items(
    data: &Data<'_>,
    params: &Params,
    shares: &Shares,
    ledger: &mut Ledger,
    source: &mut Source,
) -> Result<usize> {
    let most = (u64::from(params.top) * ETA_TENTHS).div_ceil(10) as usize;
    let losses = rank_losses(data, most + 1);
    let range = range_for(1, shares.first, ledger.accounting())?;
    ledger.spend("number of items", Mechanism::Exponential { draws: 1, range })?;
    // Half the range: losses may move in both directions.
    let drawn = source.exponential(&losses, range.share(1, 2));
    Ok(drawn.map_or(0, |place| (place + 1).min(most)))
}

/// For each rank of items by support, how far its support is from that of the itemset of a rank.
fn rank_losses(data: &Data<'_>, rank: usize) -> Vec<u64> {
    let best =
        top_k(&data.known.records, data.known.items.len(), &Mining { observer: data.observer, ..Mining::top(rank) });
    let theta = best.get(rank - 1).map_or(0, |itemset| itemset.support);
    let mut by_rank = data.supports.clone();
    by_rank.sort_unstable_by(|a, b| b.cmp(a));
    by_rank.iter().map(|&support| u64::from(support.abs_diff(theta))).collect()
}

/// How many pairs are drawn beside lambda items.
fn n_pairs(lambda: usize, top: u32) -> usize {
    let rest = ((u64::from(top) * SETS / 10) as f64 - lambda as f64).max(1.0);
    let wanted = rest / f64::sqrt((rest / lambda as f64).max(1.0));
    (wanted.round() as usize).clamp(1, lambda * (lambda - 1) / 2)
}

/// Step 2.
fn draw_items(
    data: &Data<'_>,
    lambda: usize,
    budget: Amount,
    ledger: &mut Ledger,
    source: &mut Source,
) -> Result<Vec<TermId>> {
    let range = range_for(lambda, budget, ledger.accounting())?;
    ledger.spend("items", Mechanism::Exponential { draws: lambda as u32, range })?;
    let drawn = draw_without_replacement(&data.supports, lambda, range, source, data.observer);
    Ok(drawn.into_iter().map(|place| place as TermId).collect())
}

/// Step 3: pairs of places in the list of items.
fn draw_pairs(
    data: &Data<'_>,
    items: &[TermId],
    n_pairs: usize,
    budget: Amount,
    ledger: &mut Ledger,
    source: &mut Source,
) -> Result<Vec<(usize, usize)>> {
    let range = range_for(n_pairs, budget, ledger.accounting())?;
    ledger.spend("pairs", Mechanism::Exponential { draws: n_pairs as u32, range })?;
    let n = items.len();
    let mut counts = vec![0_u32; n * n];
    data.for_each_record(items, |places| {
        for (i, &a) in places.iter().enumerate() {
            places[i + 1..].iter().for_each(|&b| counts[a.min(b) * n + a.max(b)] += 1);
        }
    });
    let pairs: Vec<(usize, usize)> = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect();
    let supports: Vec<u32> = pairs.iter().map(|&(a, b)| counts[a * n + b]).collect();
    Ok(draw_without_replacement(&supports, n_pairs, range, source, data.observer)
        .into_iter()
        .map(|place| pairs[place])
        .collect())
}

/// Places, one after the other, each with weight exp(range support) among those that are left.
fn draw_without_replacement(
    supports: &[u32],
    draws: usize,
    range: Amount,
    source: &mut Source,
    observer: &dyn Observer,
) -> Vec<usize> {
    let mut places: Vec<usize> = (0..supports.len()).collect();
    let mut losses: Vec<u64> = supports.iter().map(|&support| u64::from(u32::MAX - support)).collect();
    let draw = |_| {
        observer.check();
        let at = source.exponential(&losses, range)?;
        losses.swap_remove(at);
        Some(places.swap_remove(at))
    };
    (0..draws).map_while(draw).collect()
}

/// Step 4. `touched` says how many records touch so many bases.
fn draw_limit(
    touched: &[u64],
    n_bases: usize,
    deviation: f64,
    budget: Amount,
    ledger: &mut Ledger,
    source: &mut Source,
) -> Result<usize> {
    let range = range_for(1, budget, ledger.accounting())?;
    ledger.spend("limit of bases a record", Mechanism::Exponential { draws: 1, range })?;
    // What is left for counts, but for what this took: known beforehand.
    let left = ledger.left().to_f64();
    let noise = |limit: usize| match ledger.accounting() {
        Accounting::Pure => f64::sqrt(2.0) * limit as f64 / left,
        Accounting::Concentrated { .. } => f64::sqrt(limit as f64 / (2.0 * left)),
    };
    let losses: Vec<u64> = limit_losses(touched, n_bases, |limit| (deviation * noise(limit)).round() as u64);
    Ok(source.exponential(&losses, range).map_or(n_bases, |place| place + 1))
}

/// The losses of the limits 1, 2, ..., `n_bases`: half of what a basis loses, since most sets lose alike and keep their order, and noise.
fn limit_losses(touched: &[u64], n_bases: usize, noise: impl Fn(usize) -> u64) -> Vec<u64> {
    let lost = |limit: usize| -> u64 {
        let beyond = touched.iter().enumerate().map(|(n, records)| n.saturating_sub(limit) as u64 * records);
        beyond.sum()
    };
    (1..=n_bases).map(|limit| lost(limit) / (2 * n_bases as u64) + noise(limit)).collect()
}

/// Noisy supports of itemsets: what bases add up to, and the inverse of its variance.
type Found = Vec<(Vec<TermId>, f64)>;

/// Step 5.
fn count(
    data: &Data<'_>,
    items: &[TermId],
    bases: &[Vec<usize>],
    limit: usize,
    ledger: &mut Ledger,
    source: &mut Source,
) -> Result<Found> {
    let left = ledger.left();
    let (mechanism, rate, variance) = match ledger.accounting() {
        Accounting::Pure => {
            let rate = left.share(1, limit as u64);
            (Mechanism::DiscreteLaplace { rate, sensitivity: limit as u32 }, rate, 0)
        }
        Accounting::Concentrated { .. } => {
            let (unit, spent) = (u128::from(Amount::UNITS), u128::from(left.units().max(1)));
            let variance = u64::try_from((limit as u128 * unit).div_ceil(2 * spent)).unwrap_or(u64::MAX);
            (Mechanism::DiscreteGaussian { variance, sensitivity_squared: limit as u32 }, left, variance)
        }
    };
    if rate.units() == 0 {
        let problem = "nothing of the budget is left for counts";
        return Err(Error::Infeasible { problem: problem.into(), hint: "raise --epsilon".into() });
    }
    ledger.spend("counts", mechanism)?;
    let exact = data.histograms(items, bases, limit);
    let mut sums: HashMap<Vec<TermId>, (f64, f64)> = HashMap::new();
    for (basis, exact) in bases.iter().zip(exact) {
        data.observer.check();
        // The count of records with nothing of the basis is not taken: it is 0 here, and no support needs it.
        let noise = |source: &mut Source| if variance > 0 { source.gaussian(variance) } else { source.laplace(rate) };
        let mut counts: Vec<i64> = exact.into_iter().map(|exact| exact.saturating_add(noise(source))).collect();
        counts[0] = 0;
        add_supersets(&mut counts);
        for (mask, &support) in counts.iter().enumerate().skip(1) {
            let places: Vec<usize> = (0..basis.len()).filter(|i| mask >> i & 1 == 1).collect();
            let mut terms: Vec<TermId> = places.iter().map(|&i| items[basis[i]]).collect();
            terms.sort_unstable();
            let weight = share(&places, basis);
            let sum = sums.entry(terms).or_default();
            *sum = (sum.0 + weight * support as f64, sum.1 + weight);
        }
    }
    Ok(sums.into_iter().map(|(terms, (sum, weight))| (terms, sum / weight)).collect())
}

/// The K best, by noisy support; of equal support the shorter, then the lesser terms.
fn best(mut found: Found, top: usize, known: &Known) -> Vec<Row> {
    found.sort_by(|(a, x), (b, y)| y.total_cmp(x).then(a.len().cmp(&b.len())).then_with(|| a.cmp(b)));
    let row = |(terms, support): &(Vec<TermId>, f64)| {
        let terms = terms.iter().map(|&term| known.items.text(term).to_owned()).collect();
        (support.round() >= 1.0).then(|| Row { terms, count: support.round() as u64 })
    };
    found.iter().take(top).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::observer::Unobserved;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    /// Some records over `n_items` items.
    fn draw_records(n_items: u64, n_records: u64, source: &mut Source) -> Vec<Vec<u64>> {
        let record = |source: &mut Source| {
            let length = 1 + source.uniform(n_items);
            (0..length).map(|_| source.uniform(n_items).min(source.uniform(n_items))).collect()
        };
        (0..n_records).map(|_| record(source)).collect()
    }

    /// Over all items, whether they occur or not.
    fn known(n_items: u64, records: &[Vec<u64>]) -> Known {
        let mut listed = crate::data::Dictionary::default();
        (0..n_items).for_each(|item| _ = listed.intern(&item.to_string()));
        let data = Dataset::from_texts(records.iter().map(|record| record.iter().map(u64::to_string)));
        Known::listed(&data, &listed, &crate::error::Place::file("items")).unwrap()
    }

    fn data(known: &Known) -> Data<'_> {
        Data { known, supports: supports(&known.records, known.items.len()), observer: &Unobserved }
    }

    /// Steps 1 and 4 of the header, by brute force: how far losses move if any record is added.
    #[test]
    fn losses_move_as_far_as_is_said() {
        let mut source = Source::demonstration(11);
        let (mut up, mut down, mut limits_moved) = (false, false, false);
        for _ in 0..150 {
            let n_items = 2 + source.uniform(4);
            let mut records = draw_records(n_items, 1 + source.uniform(12), &mut source);
            let rank = 1 + source.uniform(8) as usize;
            let before = rank_losses(&data(&known(n_items, &records)), rank);
            let items: Vec<TermId> = (0..n_items as TermId).collect();
            let bases: Vec<Vec<usize>> = (0..n_items as usize).map(|item| vec![item]).collect();
            let touched = |records: &[Vec<u64>]| data(&known(n_items, records)).touched(&items, &bases);
            let limits = |records: &[Vec<u64>]| limit_losses(&touched(records), bases.len(), |_| 0);
            let limits_before = limits(&records);
            for mask in 1..1_u64 << n_items {
                records.push((0..n_items).filter(|item| mask >> item & 1 == 1).collect());
                let after = rank_losses(&data(&known(n_items, &records)), rank);
                for (&a, &b) in after.iter().zip(&before) {
                    assert!(a.abs_diff(b) <= 1, "{before:?} {after:?}");
                    (up, down) = (up || a > b, down || a < b);
                }
                for (a, b) in limits(&records).into_iter().zip(&limits_before) {
                    assert!(a == *b || a == b + 1);
                    limits_moved |= a > *b;
                }
                records.pop();
            }
        }
        // Both directions occur: half the range is needed.
        assert!(up && down && limits_moved);
    }

    /// Step 5 of the header: one record more changes at most `limit` counts, by one each.
    #[test]
    fn counts_move_as_far_as_is_said() {
        let mut source = Source::demonstration(12);
        let mut most = 0;
        for _ in 0..200 {
            let n_items = 4 + source.uniform(5);
            let mut records = draw_records(n_items, 10, &mut source);
            let n_bases = 2 + source.uniform(4);
            let basis = |source: &mut Source| {
                let mask = 1 + source.uniform((1 << n_items) - 1);
                (0..n_items as usize).filter(|item| mask >> item & 1 == 1).collect::<Vec<_>>()
            };
            let bases: Vec<Vec<usize>> = (0..n_bases).map(|_| basis(&mut source)).collect();
            let limit = 1 + source.uniform(n_bases) as usize;
            let items: Vec<TermId> = (0..n_items as TermId).collect();
            let before = data(&known(n_items, &records)).histograms(&items, &bases, limit);
            records.extend(draw_records(n_items, 1, &mut source));
            let after = data(&known(n_items, &records)).histograms(&items, &bases, limit);
            let changes = after.concat().into_iter().zip(before.concat()).map(|(a, b)| a - b);
            assert!(changes.clone().all(|change| change == 0 || change == 1));
            let sum = changes.sum::<i64>() as usize;
            assert!(sum <= limit, "{sum} {limit}");
            most = most.max(sum);
            assert!(after.iter().all(|counts| counts[0] == 0));
        }
        assert!(most > 2);
    }

    /// The counts of the approximate accounting against what is claimed, at the event that tells neighbours apart best; with half the
    /// noise, more than delta is left over.
    #[test]
    fn gaussian_counts_keep_epsilon_and_delta_and_half_the_noise_does_not() {
        let (epsilon, delta) = (amount("0.5"), amount("0.01"));
        let [without, with] = [20, 21].map(|n| known(1, &vec![vec![0]; n]));
        let mut source = Source::demonstration(15);
        let mut left_over = |ledger: &Ledger| {
            let variance = 1.0 / (2.0 * ledger.left().to_f64());
            let least = 20.5 + epsilon.to_f64() * variance;
            let mut share = |known: &Known| {
                let (data, n) = (data(known), 15_000);
                let mut reaches = || {
                    let found = count(&data, &[0], &[vec![0]], 1, &mut ledger.clone(), &mut source).unwrap();
                    found[0].1 >= least
                };
                (0..n).filter(|_| reaches()).count() as f64 / f64::from(n)
            };
            share(&with) - epsilon.to_f64().exp() * share(&without)
        };
        let real = Ledger::concentrated(epsilon, delta).unwrap();
        let larger =
            |tenths: u64| Ledger::concentrated(Amount::from_units(tenths * Amount::UNITS / 10), delta).unwrap();
        let half = (6..).map(larger).find(|half| half.left().units() >= 4 * real.left().units()).unwrap();
        assert!(left_over(&real) <= 0.01, "{}", left_over(&real));
        assert!(left_over(&half) > 0.02, "{}", left_over(&half));
    }

    #[test]
    fn supports_are_sums_over_supersets() {
        let mut counts = [0, 5, 7, 11];
        add_supersets(&mut counts);
        assert_eq!(counts, [23, 16, 18, 11]);
    }

    /// With a large budget and no limit the best itemsets come back as they are, in both accountings and with one basis or many.
    #[test]
    fn with_a_large_budget_the_best_come_back() {
        let mut source = Source::demonstration(13);
        for (n_items, top) in [(6, 10), (40, 30)] {
            let records = draw_records(n_items, 4000, &mut source);
            let records: Vec<Vec<u64>> =
                records.into_iter().map(|record| record.into_iter().take(4).collect()).collect();
            let known = known(n_items, &records);
            let truth = top_k(&known.records, known.items.len(), &Mining::top(top as usize));
            for delta in [None, Some(amount("1e-6"))] {
                let params = Params::new(amount("900"), delta, top);
                let made = privbasis(&known, &params, &mut source, &Unobserved).unwrap();
                let is_true = |row: &&Row| {
                    let mut terms: Vec<TermId> = row.terms.iter().filter_map(|term| known.items.get(term)).collect();
                    terms.sort_unstable();
                    truth.iter().any(|set| set.terms == terms && u64::from(set.support).abs_diff(row.count) <= 3)
                };
                let kept = made.release.rows.iter().filter(is_true).count();
                assert!(kept * 10 >= truth.len() * 9, "{n_items} {delta:?}: {kept} of {}", truth.len());
            }
        }
    }

    /// Whatever is drawn, costs add up to no more than the budget, and what is left is told.
    #[test]
    fn ledgers_add_up() {
        let mut source = Source::demonstration(14);
        let (mut branches, mut measures) = (Vec::new(), Vec::new());
        for n_items in [1, 5, 14, 60] {
            let known = known(n_items, &draw_records(n_items, 300, &mut source));
            for (epsilon, delta) in [("0.5", None), ("0.5", Some("1e-6")), ("0.01", None), ("3", Some("0.01"))] {
                let params = Params::new(amount(epsilon), delta.map(amount), 20);
                let claim = privbasis(&known, &params, &mut source, &Unobserved).unwrap().claim;
                let budget = match &claim.accounting {
                    Accounting::Pure => amount(epsilon),
                    Accounting::Concentrated { rho } => *rho,
                };
                let costs: u64 = claim.ledger.iter().map(|entry| entry.cost.units()).sum();
                assert_eq!(costs + claim.unspent.units(), budget.units());
                // Hardly anything is left over: rounding, and whole variances.
                assert!(claim.unspent.units() * 10 <= budget.units(), "{claim:?}");
                branches.push(claim.ledger.len());
                measures.push(matches!(claim.accounting, Accounting::Pure) && delta.is_some());
            }
        }
        assert!(branches.contains(&3) && branches.contains(&5) && measures.contains(&true));
    }

    #[test]
    fn nothing_to_count_is_no_error() {
        let empty = known(0, &[]);
        let made =
            privbasis(&empty, &Params::new(amount("1"), None, 5), &mut Source::demonstration(1), &Unobserved).unwrap();
        assert!(made.release.rows.is_empty());
        let unused = known(30, &[]);
        privbasis(
            &unused,
            &Params::new(amount("1"), Some(amount("1e-6")), 5),
            &mut Source::demonstration(1),
            &Unobserved,
        )
        .unwrap();
        for bad in [
            Params::new(amount("1"), None, 0),
            Params { shares: Some([500, 400, 100]), ..Params::new(amount("1"), None, 5) },
        ] {
            assert!(matches!(
                privbasis(&unused, &bad, &mut Source::demonstration(1), &Unobserved),
                Err(Error::Recipe { .. })
            ));
        }
    }
}
