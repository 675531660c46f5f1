//! Many recipes on the same data: what does more privacy cost, and which recipe is best within the limits?
//!
//! Promises:   rows do not depend on each other, nor on the order in which they are made: a sweep can be stopped and gone on with
//! Cost:       a run without writing for each recipe
//! Checked by: tests in this file, crates/disjoin-cli/tests/it/sweep.rs

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Clock, make};
use crate::data::Dataset;
use crate::error::Result;
use crate::recipe::resolve::default_max_cluster;
use crate::recipe::{Protect, Recipe};
use crate::release::Promise;

/// The values to try; where a list is empty, the recipe's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// Sizes of the crowd.
    pub k: Vec<u32>,
    /// Numbers of terms that an adversary may know.
    pub m: Vec<u32>,
    /// Sizes of groups.
    pub max_cluster: Vec<u32>,
    /// Promises.
    pub promise: Vec<Promise>,
}

/// What came out of one recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Tells the recipe and the data from all others.
    pub id: String,
    /// The size of the crowd.
    pub k: u32,
    /// How many terms an adversary may know.
    pub m: u32,
    /// How large groups may become.
    pub max_cluster: u32,
    /// What is promised in the end: a repair may promise more than was asked for.
    pub promise: Promise,
    /// Whether the promise is proved and all limits are kept.
    pub holds: bool,
    /// The keys of limits that are not kept.
    pub broken: Vec<String>,
    /// Certain statements of the attacks.
    pub certain: u64,
    /// The highest probability that a row is a person's, if it was asked.
    pub most_likely: Option<f64>,
    /// Rounds of repair.
    pub repairs: u32,
    /// The share of the most frequent itemsets that are lost (tKd-e).
    pub itemsets_lost: f64,
    /// The share of terms that no chunk shows (tlost).
    pub terms_lost: f64,
    /// The mean relative error of pairs (re-e) over all windows of terms by rank.
    pub pair_error: f64,
    /// The median relative error of counts of random itemsets.
    pub query_error: f64,
    /// Seconds of work.
    pub seconds: f64,
}

/// The recipes of a grid: every combination, those left out in which groups could not hold two crowds.
pub fn recipes(base: &Recipe, grid: &Grid) -> Vec<Recipe> {
    let or = |list: &[u32], own: u32| if list.is_empty() { vec![own] } else { list.to_vec() };
    let (ks, ms) = (or(&grid.k, base.protect.k), or(&grid.m, base.protect.m));
    let sizes = or(&grid.max_cluster, base.protect.max_cluster);
    let promises = if grid.promise.is_empty() { vec![base.protect.promise] } else { grid.promise.clone() };
    // A limit of 1/k that nobody wrote moves with k.
    let follows_k = (base.attack.most_likely - 1.0 / f64::from(base.protect.k)).abs() < f64::EPSILON;
    // So does a default size of groups.
    let Protect { k: own_k, grouping, max_cluster: own_size, .. } = base.protect;
    let size_follows_k = grid.max_cluster.is_empty() && own_size == default_max_cluster(own_k, grouping);
    let mut recipes = Vec::new();
    for (&k, &m) in ks.iter().flat_map(|k| ms.iter().map(move |m| (k, m))) {
        for (&max_cluster, &promise) in sizes.iter().flat_map(|size| promises.iter().map(move |p| (size, p))) {
            let mut recipe = base.clone();
            recipe.protect.k = k;
            recipe.protect.m = m;
            recipe.protect.max_cluster = if size_follows_k { default_max_cluster(k, grouping) } else { max_cluster };
            recipe.protect.promise = promise;
            if follows_k {
                recipe.attack.most_likely = 1.0 / f64::from(k.max(1));
            }
            if recipe.protect.params().check().is_ok() {
                recipes.push(recipe);
            }
        }
    }
    recipes
}

/// Tells a recipe on some data from all others; where the package would go does not matter.
pub fn id(recipe: &Recipe, input_sha256: &str) -> String {
    let Recipe { input, protect, table: _, attack, measure, repair, output: _ } = recipe;
    let told = format!("{input_sha256} {:?} {protect:?} {attack:?} {measure:?} {repair:?}", input.options);
    let digest = Sha256::digest(told.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Goes the whole way with one recipe, and writes nothing.
pub fn row(recipe: &Recipe, data: &Dataset, input_sha256: &str) -> Result<Row> {
    super::refuse_others(recipe)?;
    let mut clock = Clock { seconds: Vec::new() };
    let made = make(recipe, data, &mut clock, &mut |_| {})?;
    let last = made.rounds.last().map(|round| &round.attacks);
    let errors: Vec<f64> = made.utility.relative_error.iter().filter_map(|window| window.re_e.mean).collect();
    let mut broken: Vec<String> =
        made.limits.iter().filter(|limit| !limit.holds).map(|limit| limit.key.clone()).collect();
    if made.rounds.last().is_some_and(|round| !round.verdict.holds) {
        broken.push("promise".into());
    }
    Ok(Row {
        id: id(recipe, input_sha256),
        k: recipe.protect.k,
        m: recipe.protect.m,
        max_cluster: recipe.protect.max_cluster,
        promise: made.claim.promise,
        holds: made.holds,
        broken,
        certain: last.map_or(0, |attacks| attacks.certain),
        most_likely: last.and_then(|attacks| attacks.identity).map(|risk| risk.worst),
        repairs: made.rounds.len().saturating_sub(1) as u32,
        itemsets_lost: made.utility.top_k.tkd_e.all,
        terms_lost: made.utility.terms_lost.tlost,
        pair_error: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
        query_error: made.utility.queries.median,
        seconds: clock.seconds.iter().map(|(_, seconds)| seconds).sum(),
    })
}

/// The best row, and why: of those that keep all limits the one with the least error of pairs; of equals the one that promises
/// most. If none keeps them, the one that breaks the fewest.
pub fn best(rows: &[Row]) -> Option<(usize, String)> {
    let rank = |row: &Row| (row.broken.len(), row.pair_error, std::cmp::Reverse((row.k, row.m)));
    let (at, row) = rows.iter().enumerate().min_by(|(_, a), (_, b)| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    })?;
    let n_kept = rows.iter().filter(|row| row.holds).count();
    let why = match row.holds {
        true => format!(
            "k = {}, m = {}, groups below {}: of {n_kept} recipes that keep all limits, the least error of pairs ({:.4})",
            row.k, row.m, row.max_cluster, row.pair_error
        ),
        false => format!(
            "no recipe keeps all limits; k = {}, m = {}, groups below {} comes nearest and breaks {}",
            row.k,
            row.m,
            row.max_cluster,
            row.broken.join(", ")
        ),
    };
    Some((at, why))
}

/// Which rows no other beats: no other promises as much with less error.
pub fn frontier(rows: &[Row]) -> Vec<bool> {
    let beats = |a: &Row, b: &Row| {
        let is_more = a.k > b.k || a.m > b.m || a.pair_error < b.pair_error;
        a.holds && a.k >= b.k && a.m >= b.m && a.pair_error <= b.pair_error && is_more
    };
    rows.iter().map(|row| row.holds && !rows.iter().any(|other| beats(other, row))).collect()
}

/// The rows as CSV.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "k,m,max_cluster,promise,holds,broken,certain,most_likely,repairs,itemsets_lost,terms_lost,pair_error,query_error,seconds\n",
    );
    for row in rows {
        let promise = match row.promise {
            Promise::None => "none",
            Promise::Published => "published",
            Promise::AlgorithmAware => "algorithm-aware",
        };
        let most_likely = row.most_likely.map_or(String::new(), |p| format!("{p:.6}"));
        let line = format!(
            "{},{},{},{promise},{},{},{},{most_likely},{},{:.6},{:.6},{:.6},{:.6},{:.3}\n",
            row.k,
            row.m,
            row.max_cluster,
            row.holds,
            row.broken.join(" "),
            row.certain,
            row.repairs,
            row.itemsets_lost,
            row.terms_lost,
            row.pair_error,
            row.query_error,
            row.seconds
        );
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(k: u32, pair_error: f64, broken: &[&str]) -> Row {
        Row {
            id: String::new(),
            k,
            m: 2,
            max_cluster: 30,
            promise: Promise::AlgorithmAware,
            holds: broken.is_empty(),
            broken: broken.iter().map(|&key| key.to_owned()).collect(),
            certain: 0,
            most_likely: None,
            repairs: 0,
            itemsets_lost: 0.0,
            terms_lost: 0.0,
            pair_error,
            query_error: 0.0,
            seconds: 1.0,
        }
    }

    #[test]
    fn the_best_keeps_the_limits_and_loses_least() {
        let rows = [row(3, 0.1, &["promise"]), row(5, 0.3, &[]), row(10, 0.2, &[]), row(10, 0.4, &[])];
        let (at, why) = best(&rows).unwrap();
        assert_eq!(at, 2);
        assert!(why.starts_with("k = 10, m = 2"), "{why}");
        assert_eq!(frontier(&rows), [false, false, true, false]);
        let (at, why) = best(&rows[..1]).unwrap();
        assert!(at == 0 && why.contains("breaks promise"), "{why}");
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn of_equals_the_one_that_promises_most() {
        let rows = [row(3, 0.1, &[]), row(5, 0.1, &[])];
        assert_eq!(best(&rows).map(|(at, _)| at), Some(1));
        assert_eq!(frontier(&rows), [false, true]);
    }
}
