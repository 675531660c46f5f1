//! The IBM Quest generator: shopping baskets made of overlapping, imperfectly bought patterns of items.
//!
//! Paper:      Agrawal, Srikant, "Fast algorithms for mining association rules", VLDB 1994, on synthetic data; the
//!             rules are those of the authors' program of 1995 (ALGORITHMS.md, section H), which differs from the paper
//! Promises:   exactly `records` non-empty records; the same ones for any number of threads
//! Assumes:    nothing: parameters are checked
//! Departs:    a stream of random numbers per block of 10,000 records instead of one per distribution, and no pattern
//!             is put back across blocks, so that blocks are independent; empty records are drawn again, where the
//!             program wrote fewer than asked; a put-back of pattern 0 is kept, which the program lost by a trick
//!             with signs; no taxonomy mode
//! Cost:       O(1) per drawn item; memory is the patterns and, per thread, two blocks and one byte per item
//! Checked by: tests in this file

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_distr::weighted::WeightedAliasIndex;
use rand_distr::{Distribution, Exp1, Poisson, StandardNormal};

use super::{blocks_in_order, stream};
use crate::data::{Dataset, TermId, Transactions};
use crate::error::{Error, Result};

/// Generates all records and holds them in memory. Terms are item numbers in decimal.
pub fn quest(params: &Params) -> Result<Dataset> {
    const UNSEEN: TermId = TermId::MAX;
    params.check()?;
    if params.records > u64::from(u32::MAX) {
        return Err(Error::recipe(
            "--records",
            format!("{} records do not fit into one dataset in memory", params.records),
            "write them to a file, which is done block by block",
        ));
    }
    let mut dataset = Dataset::default();
    let mut rename = vec![UNSEEN; params.items];
    quest_blocks(params, |block| {
        for &item in block.all_terms() {
            let term = &mut rename[item as usize];
            if *term == UNSEEN {
                *term = dataset.dictionary.intern(&item.to_string());
            }
        }
        dataset.records.append_renamed(block, &rename);
        Ok(())
    })?;
    Ok(dataset)
}

/// Generates the same records block by block, in order, and forgets each block after `take` has seen it.
///
/// The terms of a block are item numbers, from 0 to `items` − 1, ascending in each record.
pub fn quest_blocks(params: &Params, mut take: impl FnMut(&Transactions) -> Result<()>) -> Result<()> {
    params.check()?;
    let model = Model::draw(params)?;
    blocks_in_order(params.records, |block, n| model.records(params.seed, block, n), |records| take(&records))
}

/// What the baskets shall look like. The papers' symbols are in brackets.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    /// Number of records (|D|).
    pub records: u64,
    /// Mean length that records aim at, at least 1 (|T|). What comes out is near it, not equal to it.
    pub mean_length: f64,
    /// Mean number of items in a pattern, at least 1 (|I|).
    pub mean_pattern: f64,
    /// Number of patterns (|L|).
    pub patterns: usize,
    /// Number of items that may occur (N).
    pub items: usize,
    /// Mean share of a pattern's items that comes from the pattern before it, 0 to 1.
    pub correlation: f64,
    /// Mean confidence of a pattern, 0 to 1: low confidence loses many of its items (1 − the paper's corruption).
    pub confidence: f64,
    /// Standard deviation of the confidence over patterns.
    pub confidence_sd: f64,
    /// Whether confidences are forced into 0 to 1. It changes which values occur, not what they mean: below 0 acts as
    /// 0 and above 1 as 1.
    pub clamp_confidence: bool,
    /// Whether all items are equally likely in patterns; otherwise their weights are Exp(1).
    pub uniform_items: bool,
    /// Where randomness starts.
    pub seed: u64,
}

impl Params {
    /// The defaults of the program of 1995 (preset `gen`): a million records of ten items out of 100,000.
    pub fn program() -> Self {
        Params {
            records: 1_000_000,
            mean_length: 10.0,
            mean_pattern: 4.0,
            patterns: 10_000,
            items: 100_000,
            correlation: 0.25,
            confidence: 0.75,
            // The program calls it a variance and uses it as the deviation.
            confidence_sd: 0.1,
            clamp_confidence: false,
            uniform_items: false,
            seed: 0,
        }
    }

    /// The paper's T10.I4.D100K (preset `vldb94`): 1,000 items, 2,000 patterns that overlap more and break more often.
    pub fn vldb94() -> Self {
        Params {
            records: 100_000,
            patterns: 2_000,
            items: 1_000,
            correlation: 0.5,
            confidence: 0.5,
            // The paper does say variance.
            confidence_sd: 0.1_f64.sqrt(),
            clamp_confidence: true,
            ..Params::program()
        }
    }

    /// Refuses what has no meaning, and sizes that would only exhaust the memory.
    fn check(&self) -> Result<()> {
        let whole = |key, value: u64, most: u64| match value {
            0 => Err(Error::recipe(key, "must not be 0", "give at least 1")),
            _ if value > most => {
                Err(Error::recipe(key, format!("{value} is too many"), format!("give at most {most}")))
            }
            _ => Ok(()),
        };
        // NaN is in no range.
        let real = |key, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                return Ok(());
            }
            Err(Error::recipe(key, format!("{value} is out of range"), format!("give a number from {least} to {most}")))
        };
        whole("--records", self.records, u64::MAX)?;
        whole("--items", self.items as u64, MOST_ITEMS)?;
        whole("--patterns", self.patterns as u64, MOST_ITEMS)?;
        // A record or pattern cannot hold more items than there are.
        let longest = LONGEST_MEAN.min(self.items as f64);
        real("--mean-length", self.mean_length, 1.0, longest)?;
        real("--mean-pattern", self.mean_pattern, 1.0, longest)?;
        real("--correlation", self.correlation, 0.0, 1.0)?;
        real("--confidence", self.confidence, 0.0, 1.0)?;
        real("--confidence-sd", self.confidence_sd, 0.0, 10.0)?;
        if self.patterns as f64 * self.mean_pattern > MOST_ITEMS as f64 {
            return Err(Error::recipe(
                "--patterns",
                format!("{} patterns of {} items are too many", self.patterns, self.mean_pattern),
                format!("keep patterns times mean pattern length below {MOST_ITEMS}"),
            ));
        }
        Ok(())
    }
}

/// Bound on the items, the patterns, and the items in all patterns: some gigabytes of tables.
const MOST_ITEMS: u64 = 100_000_000;

/// Bound on mean lengths: a block of records then stays below half a gigabyte.
const LONGEST_MEAN: f64 = 10_000.0;

/// A pattern that leaves an item less often than this is of no use: nearly every record would be empty.
const LEAST_YIELD: f64 = 1e-3;

/// Everything that records are drawn from; the same for all blocks.
struct Model {
    n_items: usize,
    patterns: Patterns,
    /// Patterns by weight.
    choose: WeightedAliasIndex<f64>,
    length: Length,
}

/// The patterns, each a run of `items`. A pattern can hold an item twice.
#[derive(Default)]
struct Patterns {
    items: Vec<u32>,
    ends: Vec<usize>,
    weights: Vec<f64>,
    /// The probability that an item is not lost, as far as it is one: it may lie outside 0 to 1.
    confidence: Vec<f64>,
}

impl Model {
    fn draw(params: &Params) -> Result<Self> {
        Model::new(params.items, Patterns::draw(params)?, Length::with_mean(params.mean_length)?)
    }

    fn new(n_items: usize, patterns: Patterns, length: Length) -> Result<Self> {
        let choose = by_weight(patterns.weights.clone())?;
        // Empty records are drawn again, so the loop over records ends only if patterns leave items at all.
        let yielding: f64 = (0..patterns.len()).map(|p| patterns.weights[p] * patterns.chance_of_an_item(p)).sum();
        if yielding < LEAST_YIELD * patterns.weights.iter().sum::<f64>() {
            return Err(Error::recipe(
                "--confidence",
                "nearly every pattern would lose all of its items, and every record would be empty",
                "give a higher confidence, such as 0.75",
            ));
        }
        Ok(Model { n_items, patterns, choose, length })
    }

    fn records(&self, seed: u64, block: u64, n: u64) -> Transactions {
        let mut rng = stream(seed, "quest/records", block);
        let mut basket = Basket::new(self.n_items);
        let mut records = Transactions::default();
        while (records.len() as u64) < n {
            basket.fill(self, &mut rng);
            // An empty basket is not stored and thereby drawn again; `Model::new` made sure that this ends.
            records.push(&mut basket.items);
            basket.clear();
        }
        records
    }
}

impl Patterns {
    fn draw(params: &Params) -> Result<Self> {
        let mut rng = stream(params.seed, "quest/items", 0);
        let weight = |rng: &mut ChaCha8Rng| if params.uniform_items { 1.0 } else { Exp1.sample(rng) };
        let choose_item = by_weight((0..params.items).map(|_| weight(&mut rng)).collect())?;

        let mut rng = stream(params.seed, "quest/patterns", 0);
        let size = Length::with_mean(params.mean_pattern)?;
        let mut patterns = Patterns::default();
        let mut previous: Vec<u32> = Vec::new();
        for _ in 0..params.patterns {
            let size = size.sample(&mut rng);
            let items = &mut patterns.items;
            let start = items.len();
            // The first pattern has nothing to share: `previous` is empty.
            if params.correlation > 0.0 {
                let share: f64 = Exp1.sample(&mut rng);
                let n_same = (size as f64 * params.correlation * share + 0.5) as usize;
                items.extend_from_slice(sample(&mut previous, n_same.min(size), &mut rng));
            }
            while items.len() < start + size {
                items.push(choose_item.sample(&mut rng) as u32);
            }
            previous.clear();
            previous.extend_from_slice(&items[start..]);
            patterns.ends.push(items.len());
        }

        let mut rng = stream(params.seed, "quest/weights", 0);
        for _ in 0..params.patterns {
            patterns.weights.push(Exp1.sample(&mut rng));
            let deviation: f64 = StandardNormal.sample(&mut rng);
            let drawn = params.confidence + params.confidence_sd * deviation;
            patterns.confidence.push(if params.clamp_confidence { drawn.clamp(0.0, 1.0) } else { drawn });
        }
        Ok(patterns)
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    fn items(&self, pattern: usize) -> &[u32] {
        let start = if pattern == 0 { 0 } else { self.ends[pattern - 1] };
        &self.items[start..self.ends[pattern]]
    }

    /// The probability that corruption leaves something of a pattern.
    fn chance_of_an_item(&self, pattern: usize) -> f64 {
        let loss = (1.0 - self.confidence[pattern]).clamp(0.0, 1.0);
        1.0 - loss.powf(self.items(pattern).len() as f64)
    }
}

/// The record being filled, and what passes from one record of a block to the next.
struct Basket {
    items: Vec<u32>,
    /// For each item whether it is in `items`.
    holds: Vec<bool>,
    /// The pattern that did not fit into the record before.
    put_back: Option<usize>,
    scratch: Vec<u32>,
}

impl Basket {
    fn new(n_items: usize) -> Self {
        Basket { items: Vec::new(), holds: vec![false; n_items], put_back: None, scratch: Vec::new() }
    }

    fn fill(&mut self, model: &Model, rng: &mut ChaCha8Rng) {
        let target = model.length.sample(rng).min(model.n_items);
        // Few patterns may not hold enough items to reach the target, so the number of draws is bounded by theirs.
        for _ in 0..model.patterns.len() {
            if self.items.len() >= target {
                break;
            }
            let chosen = self.put_back.take().unwrap_or_else(|| model.choose.sample(rng));
            let pattern = model.patterns.items(chosen);
            let mut len = pattern.len();
            while len > 0 && rng.random::<f64>() > model.patterns.confidence[chosen] {
                len -= 1;
            }
            if self.items.len() + len > target && rng.random::<bool>() {
                // It goes back whole, and is corrupted afresh when it is taken up again.
                self.put_back = Some(chosen);
                break;
            }
            self.scratch.clear();
            self.scratch.extend_from_slice(pattern);
            for &item in sample(&mut self.scratch, len, rng) {
                if !std::mem::replace(&mut self.holds[item as usize], true) {
                    self.items.push(item);
                }
            }
        }
    }

    fn clear(&mut self) {
        for &item in &self.items {
            self.holds[item as usize] = false;
        }
        self.items.clear();
    }
}

/// Lengths 1 + Poisson(mean − 1).
struct Length(Option<Poisson<f64>>);

impl Length {
    fn with_mean(mean: f64) -> Result<Self> {
        // A Poisson distribution wants a positive mean; without one all lengths are 1.
        let rest = (mean > 1.0).then(|| Poisson::new(mean - 1.0)).transpose();
        rest.map(Length).map_err(|_| Error::Internal("a checked mean length has no Poisson distribution"))
    }

    fn sample(&self, rng: &mut ChaCha8Rng) -> usize {
        1 + self.0.as_ref().map_or(0, |rest| rest.sample(rng) as usize)
    }
}

/// Draws `n` of `items` (or all, if there are fewer) without replacement: they are moved to the front.
fn sample<'a>(items: &'a mut [u32], n: usize, rng: &mut ChaCha8Rng) -> &'a [u32] {
    // All of them need no draws: their order has no meaning.
    if n < items.len() {
        for i in 0..n {
            let j = rng.random_range(i..items.len());
            items.swap(i, j);
        }
    }
    &items[..n.min(items.len())]
}

fn by_weight(weights: Vec<f64>) -> Result<WeightedAliasIndex<f64>> {
    WeightedAliasIndex::new(weights).map_err(|_| Error::Internal("weights of a generator are not usable"))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::data::supports;

    fn small() -> Params {
        Params { records: 25_000, patterns: 200, items: 1_000, ..Params::program() }
    }

    /// The records of patterns with given items, confidences and equal weights; all aim at length 1.
    fn of_patterns(patterns: &[(&[u32], f64)], n: u64) -> Result<Transactions> {
        let mut model = Patterns::default();
        for (items, confidence) in patterns {
            model.items.extend_from_slice(items);
            model.ends.push(model.items.len());
            model.weights.push(1.0);
            model.confidence.push(*confidence);
        }
        Ok(Model::new(100, model, Length::with_mean(1.0)?)?.records(7, 0, n))
    }

    fn refused(params: &Params) -> std::borrow::Cow<'static, str> {
        match quest(params) {
            Err(Error::Recipe { key, hint: Some(_), .. }) => key,
            other => panic!("not refused: {other:?}"),
        }
    }

    #[test]
    fn a_seed_means_the_same_records_for_any_number_of_threads() {
        let with_threads = |n, params: &Params| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| quest(params)).unwrap()
        };
        let (one, two) = (with_threads(1, &small()), with_threads(2, &small()));
        assert_eq!(one.records, two.records);
        assert!(one.dictionary.iter().eq(two.dictionary.iter()));
        assert_eq!(one.records, quest(&small()).unwrap().records);
        assert_ne!(one.records, quest(&Params { seed: 1, ..small() }).unwrap().records);
    }

    #[test]
    fn shapes_are_as_asked() {
        for params in
            [small(), Params { uniform_items: true, ..small() }, Params { records: 12_345, ..Params::vldb94() }]
        {
            let dataset = quest(&params).unwrap();
            assert_eq!(dataset.records.len() as u64, params.records);
            let mean = dataset.records.n_incidences() as f64 / params.records as f64;
            assert!((8.0..12.0).contains(&mean), "mean length {mean}");
            assert!(dataset.dictionary.iter().all(|text| text.parse::<usize>().unwrap() < params.items));
            // Which items occur is decided by the patterns: about half of a thousand for 200 patterns of four.
            assert!((350..=params.items).contains(&dataset.n_terms()), "{} items", dataset.n_terms());
        }
    }

    #[test]
    fn blocks_and_dataset_agree_and_ids_follow_first_appearance() {
        let dataset = quest(&small()).unwrap();
        let mut blocks = Vec::new();
        quest_blocks(&small(), |block| {
            blocks.push(block.clone());
            Ok(())
        })
        .unwrap();
        assert_eq!(blocks.iter().map(Transactions::len).collect::<Vec<_>>(), [10_000, 10_000, 5_000]);
        let texts = blocks.iter().flat_map(|block| block.iter()).map(|record| record.iter().map(u32::to_string));
        let read = Dataset::from_texts(texts);
        assert_eq!(read.records, dataset.records);
        assert!(read.dictionary.iter().eq(dataset.dictionary.iter()));
    }

    #[test]
    fn heavy_patterns_are_over_represented() {
        let params = small();
        let patterns = Patterns::draw(&params).unwrap();
        let heaviest = (0..patterns.len())
            .filter(|&p| patterns.items(p).iter().collect::<HashSet<_>>().len() >= 3)
            .max_by(|&a, &b| patterns.weights[a].total_cmp(&patterns.weights[b]))
            .unwrap();
        let dataset = quest(&params).unwrap();
        let ids: HashSet<u32> =
            patterns.items(heaviest).iter().map(|item| dataset.dictionary.get(&item.to_string()).unwrap()).collect();
        let n = params.records as f64;
        let support = supports(&dataset.records, dataset.n_terms());
        let expected: f64 = ids.iter().map(|&id| f64::from(support[id as usize]) / n).product::<f64>() * n;
        let found = dataset.records.iter().filter(|record| ids.iter().all(|id| record.contains(id))).count();
        assert!(found as f64 > 10.0 * expected && found > 100, "{found} found, {expected} expected");
    }

    #[test]
    fn neighbouring_patterns_share_items_only_with_correlation() {
        let shared = |correlation| {
            let params = Params { correlation, items: 100_000, patterns: 2_000, uniform_items: true, ..small() };
            let patterns = Patterns::draw(&params).unwrap();
            let with_previous = |p| patterns.items(p).iter().any(|item| patterns.items(p - 1).contains(item));
            (1..patterns.len()).filter(|&p| with_previous(p)).count()
        };
        assert!(shared(0.0) < 10);
        assert!(shared(0.5) > 1_000);
    }

    #[test]
    fn weights_skew_items_unless_uniform() {
        let most_used = |uniform_items| {
            let params = Params { uniform_items, correlation: 0.0, items: 100, patterns: 10_000, ..small() };
            let mut uses = vec![0; params.items];
            Patterns::draw(&params).unwrap().items.iter().for_each(|&item| uses[item as usize] += 1);
            uses.into_iter().max().unwrap()
        };
        // 40,000 draws of 100 items: 400 each, or up to about ln(100) times as many.
        assert!(most_used(true) < 500);
        assert!(most_used(false) > 1_000);
    }

    #[test]
    fn a_pattern_longer_than_the_target_is_taken_whole_or_put_back() {
        // Half of the time the pattern is refused, the record stays empty, and the next one starts with it.
        let records = of_patterns(&[(&[0, 1, 2, 3, 4], 1.0)], 500).unwrap();
        assert!(records.iter().all(|record| record == [0, 1, 2, 3, 4]));
    }

    #[test]
    fn put_back_patterns_are_not_lost() {
        // Each is drawn for half of the records; if refused patterns were lost, the long ones would have a third.
        let (long, short): (&[u32], &[u32]) = (&[0, 1, 2], &[9]);
        for patterns in [[(long, 1.0), (short, 1.0)], [(short, 1.0), (long, 1.0)]] {
            let records = of_patterns(&patterns, 10_000).unwrap();
            let n_long = records.iter().filter(|record| record.len() == 3).count();
            assert!((4_700..5_300).contains(&n_long), "{n_long}");
        }
    }

    #[test]
    fn corruption_takes_a_geometric_number_of_items() {
        let long: Vec<u32> = (0..20).collect();
        let records = of_patterns(&[(&long, 0.5)], 10_000).unwrap();
        let lost = 20.0 - records.n_incidences() as f64 / records.len() as f64;
        assert!((0.95..1.05).contains(&lost), "{lost}");
        // Every item is equally likely to be lost.
        assert!(supports(&records, 20).iter().all(|&n| (9_350..9_650).contains(&n)));
    }

    #[test]
    fn confidences_beyond_the_ends_act_as_the_ends() {
        let records = of_patterns(&[(&[0, 1], 1.5), (&[2, 3], -0.5)], 1_000).unwrap();
        assert!(records.iter().all(|record| record == [0, 1]));
        assert!(of_patterns(&[(&[0, 1], -0.5)], 10).is_err());
        assert!(of_patterns(&[(&[0, 1], 0.0)], 10).is_err());
    }

    #[test]
    fn an_item_twice_in_a_pattern_is_once_in_the_record() {
        let records = of_patterns(&[(&[5, 5, 5], 1.0)], 10).unwrap();
        assert!(records.iter().all(|record| record == [5]));
    }

    #[test]
    fn the_smallest_sizes_work() {
        let params = Params { items: 1, patterns: 1, mean_length: 1.0, mean_pattern: 1.0, records: 3, ..small() };
        let dataset = quest(&params).unwrap();
        assert_eq!(dataset.records.iter().collect::<Vec<_>>(), [[0], [0], [0]]);
        assert_eq!(dataset.dictionary.text(0), "0");
        // Targets near all items cannot be reached by these patterns, yet every record ends.
        let params = Params { items: 50, patterns: 2, mean_length: 50.0, records: 100, ..small() };
        assert_eq!(quest(&params).unwrap().records.len(), 100);
    }

    #[test]
    fn nonsense_is_refused_by_flag() {
        assert_eq!(refused(&Params { records: 0, ..small() }), "--records");
        assert_eq!(refused(&Params { records: u64::MAX, ..small() }), "--records");
        assert_eq!(refused(&Params { items: 0, ..small() }), "--items");
        assert_eq!(refused(&Params { items: usize::MAX, ..small() }), "--items");
        assert_eq!(refused(&Params { patterns: 0, ..small() }), "--patterns");
        assert_eq!(refused(&Params { patterns: 99_000_000, ..small() }), "--patterns");
        assert_eq!(refused(&Params { items: 5, ..small() }), "--mean-length");
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e9] {
            assert_eq!(refused(&Params { mean_length: bad, ..small() }), "--mean-length");
            assert_eq!(refused(&Params { mean_pattern: bad, ..small() }), "--mean-pattern");
            assert_eq!(refused(&Params { correlation: bad, ..small() }), "--correlation");
            assert_eq!(refused(&Params { confidence: bad, ..small() }), "--confidence");
            assert_eq!(refused(&Params { confidence_sd: bad, ..small() }), "--confidence-sd");
        }
        assert_eq!(refused(&Params { confidence: 0.0, confidence_sd: 0.0, ..small() }), "--confidence");
    }
}
