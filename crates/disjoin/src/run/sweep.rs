//! Many recipes on the same data: what does more privacy cost, and which recipe is best within the limits?
//!
//! Promises:   rows do not depend on each other, nor on the order in which they are made: a sweep can be stopped and gone on with.
//!             Every row is judged as a run is
//! Departs:    noisy releases are not swept: a choice among them by what is counted in the data is not covered by their promise
//! Cost:       a run for each recipe, into a scratch folder that is removed
//! Checked by: tests in this file, tests/it/recipes.rs, crates/disjoin-cli/tests/it/sweep.rs

use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::open::{Input, Original};
use super::{Answer, run_to};
use crate::error::{Error, Place, Result};
use crate::observer::{Observer, Quiet, observed};
use crate::protect::disassociation::{Grouping, Params};
use crate::publish::Results;
use crate::read::{Sources, read_sets, read_table_from};
use crate::recipe::{Protect, Recipe, Shape};
use crate::release::privacy_models::Criterion;
use crate::release::{Form, Promise};
use crate::report::{Judgement, SweepRow as Row, plot, sweep_page};

/// Where results go if nothing is said.
pub const FOLDER: &str = "sweep";

/// Rows as they come.
const ROWS: &str = "rows.jsonl";

/// What is made of all rows: a table, and a drawing.
const FILES: [&str; 2] = ["sweep.csv", "frontier.svg"];

/// The values to try; where a list is empty, the recipe's own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// Values of k.
    pub k: Vec<u32>,
    /// Values of m.
    pub m: Vec<u32>,
    /// Sizes of clusters.
    pub max_cluster: Vec<u32>,
    /// Promises.
    pub promise: Vec<Promise>,
}

/// Tries every combination of a grid; results are kept in `folder` as soon as they are there.
pub fn sweep(
    base: &Recipe,
    grid: &Grid,
    folder: &Path,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        refuse_foreign(base, grid)?;
        let recipes = recipes(base, grid);
        if recipes.is_empty() {
            let hint = "clusters must hold 2k records at least";
            return Err(Error::recipe("protect.max_cluster", "no combination can be run", hint));
        }
        let results = Results::open(folder, &FILES)?;
        let mut kept = Kept::open(&results)?;
        observer.stage("reading the data");
        let (data, sha256) = read(base, sources, observer)?;
        let ids: Vec<String> = recipes.iter().map(|recipe| id(recipe, &sha256)).collect();
        let missing: Vec<&Recipe> =
            recipes.iter().zip(&ids).filter(|(_, id)| !kept.rows.contains_key(*id)).map(|(recipe, _)| recipe).collect();
        let done = recipes.len() - missing.len();
        // As many at a time as there are threads: what one recipe does alone, others fill.
        for (batch, at) in missing.chunks(rayon::current_num_threads().max(1)).zip(0..) {
            let first = done + at * rayon::current_num_threads().max(1);
            observer.stage(&format!("recipe {} of {}: {}", first + 1, recipes.len(), named(batch[0])));
            observer.progress(first as f64 / recipes.len() as f64);
            let made: Result<Vec<Row>> =
                batch.par_iter().map(|recipe| row(recipe, &data, &sha256, &results, observer)).collect();
            made?.into_iter().try_for_each(|row| kept.add(row, &results))?;
        }
        let rows: Vec<Row> = ids.iter().filter_map(|id| kept.rows.remove(id)).collect();
        finish(base.form(), rows, done, results)
    })
}

fn finish(form: Form, rows: Vec<Row>, done: usize, mut results: Results) -> Result<Answer> {
    let (on_frontier, best) = (frontier(&rows), best(&rows));
    let (table, drawing) = (csv(&rows), draw(&rows, loss_name(form)));
    results.write(&[(FILES[0], table.as_bytes()), (FILES[1], drawing.as_bytes())])?;
    let told = best.as_ref().map(|(at, why)| serde_json::json!({ "row": at, "why": why }));
    let json = serde_json::json!({ "rows": rows, "frontier": on_frontier, "best": told, "made_before": done });
    let page = sweep_page(&rows, &on_frontier, best.as_ref(), loss_name(form), done);
    let holds = rows.iter().any(|row| row.holds);
    let mut answer = Answer::new(page, &json)?;
    answer.judged = Judgement { proved: None, limits: Vec::new(), holds };
    answer.wrote = FILES.iter().map(|name| results.place(name)).collect();
    Ok(answer)
}

fn refuse_foreign(base: &Recipe, grid: &Grid) -> Result<()> {
    if base.form() == Form::Noisy {
        let problem = "is not swept: a choice by what is counted in the data is not covered by its promise";
        return Err(Error::recipe("protect.method", problem, "choose epsilon beforehand, and run one recipe"));
    }
    let given = [
        ("protect.m", !grid.m.is_empty()),
        ("protect.max_cluster", !grid.max_cluster.is_empty()),
        ("protect.promise", !grid.promise.is_empty()),
    ];
    let has_sets = base.table.as_ref().is_none_or(|table| table.declared.has_sets());
    let known = |key: &str| base.method.knows(key) && (base.method.entry().takes() == Shape::Sets || has_sets);
    match given.into_iter().find(|(key, is_given)| *is_given && !known(key)) {
        Some((key, _)) => {
            let problem = format!("is not known by the method {}", base.method.name());
            Err(Error::recipe(key, problem, "leave it out; k can be varied"))
        }
        None => Ok(()),
    }
}

/// The data of all recipes, and their digest.
fn read(base: &Recipe, sources: &dyn Sources, observer: &dyn Observer) -> Result<(Original, String)> {
    let (file, options) = (&base.input.file, &base.input.options);
    Ok(match &base.table {
        None => {
            let (data, intake) = read_sets(file, options, sources, observer)?;
            let sha256 = intake.sha256.clone();
            (Original::Sets { data, intake, kept: None }, sha256)
        }
        Some(asked) => {
            let (table, intake) = read_table_from(file, options, &asked.declared, sources, observer)?;
            let sha256 = intake.sha256.clone();
            (Original::of_table(table, intake), sha256)
        }
    })
}

/// What tells a recipe from the others, for people.
fn named(recipe: &Recipe) -> String {
    let Protect { k, m, max_cluster, .. } = recipe.protect;
    match recipe.form() {
        Form::Disassociated => format!("k = {k}, m = {m}, clusters below {max_cluster}"),
        Form::Recoded => format!("k = {k}, m = {m}"),
        _ => format!("k = {k}"),
    }
}

/// The recipes of a grid: every combination, those left out in which clusters could not hold 2k records.
pub fn recipes(base: &Recipe, grid: &Grid) -> Vec<Recipe> {
    let or = |list: &[u32], own: u32| if list.is_empty() { vec![own] } else { list.to_vec() };
    let (ks, ms) = (or(&grid.k, base.protect.k), or(&grid.m, base.protect.m));
    let sizes = or(&grid.max_cluster, base.protect.max_cluster);
    let promises = if grid.promise.is_empty() { vec![base.protect.promise] } else { grid.promise.clone() };
    // A size of clusters that nobody wrote moves with k.
    let Protect { k: own_k, grouping, max_cluster: own_size, .. } = base.protect;
    let size_follows_k = grid.max_cluster.is_empty() && own_size == Params::usual_cluster(own_k, grouping);
    let mut recipes = Vec::new();
    for (&k, &m) in ks.iter().flat_map(|k| ms.iter().map(move |m| (k, m))) {
        for (&max_cluster, &promise) in sizes.iter().flat_map(|size| promises.iter().map(move |p| (size, p))) {
            let grouping = grouping_for(promise, grouping);
            let max_cluster = if size_follows_k { Params::usual_cluster(k, grouping) } else { max_cluster };
            let mut recipe = with(base, k, m, max_cluster, promise);
            recipe.protect.grouping = grouping;
            if recipe.protect.params().check().is_ok() {
                recipes.push(recipe);
            }
        }
    }
    recipes
}

/// A grouping that keeps the promise: the recipe's own, if it does.
fn grouping_for(promise: Promise, own: Grouping) -> Grouping {
    match (promise, own) {
        (Promise::ProgramAware, _) => Grouping::Guarded,
        (_, Grouping::Guarded) => Params::new(2, 1).grouping,
        (_, own) => own,
    }
}

/// A recipe with other parameters, wherever they stand.
fn with(base: &Recipe, k: u32, m: u32, max_cluster: u32, promise: Promise) -> Recipe {
    let mut recipe = base.clone();
    recipe.protect = Protect { k, m, max_cluster, promise, ..recipe.protect };
    if let Some(recoding) = &mut recipe.protect.recoding {
        (recoding.k, recoding.m) = (k, m);
    }
    for criterion in recipe.table.iter_mut().flat_map(|table| &mut table.criteria) {
        if let Criterion::KAnonymity { k: own } = criterion {
            *own = k;
        }
    }
    if recipe.limits.risk_follows_k {
        recipe.limits.written.reidentification_risk = Some(1.0 / f64::from(k.max(1)));
    }
    recipe
}

/// Tells a recipe on some data from all others; where the package would go does not matter.
pub fn id(recipe: &Recipe, input_sha256: &str) -> String {
    let Recipe { input, method, protect, table, attack, measure, limits, repair, output: _, notes: _ } = recipe;
    let options = &input.options;
    let told = format!(
        "{input_sha256} {options:?} {method:?} {protect:?} {table:?} {attack:?} {measure:?} {limits:?} {repair:?}"
    );
    let digest = Sha256::digest(told.as_bytes());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Goes the whole way with one recipe, in a scratch folder of the results that is removed.
pub fn row(
    recipe: &Recipe,
    data: &Original,
    input_sha256: &str,
    results: &Results,
    observer: &dyn Observer,
) -> Result<Row> {
    let id = id(recipe, input_sha256);
    let scratch = results.staging()?;
    let made = run_to(recipe, data.again(), None, |go| go(&scratch), &Quiet(observer))?;
    let attacked = made.last().map(|round| round.attacked.found()).unwrap_or_default();
    let found = attacked.and(made.utility.found()).values();
    let mut broken: Vec<String> =
        made.judgement.limits.iter().filter(|limit| !limit.holds).map(|limit| limit.key.clone()).collect();
    if made.judgement.proved == Some(false) {
        broken.push("promise".into());
    }
    let is_sets = recipe.method.entry().takes() == Shape::Sets;
    let is_cut = recipe.form() == Form::Disassociated;
    Ok(Row {
        id,
        k: recipe.protect.k,
        m: is_sets.then_some(recipe.protect.m),
        max_cluster: is_cut.then_some(recipe.protect.max_cluster),
        promise: made.promise(),
        holds: made.judgement.holds,
        broken,
        repairs: made.rounds.len().saturating_sub(1) as u32,
        found: found.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        loss: made.utility.loss(),
        seconds: made.seconds.iter().map(|(_, seconds)| seconds).sum(),
    })
}

/// What rows of a form are compared by.
pub fn loss_name(form: Form) -> &'static str {
    match form {
        Form::Disassociated => "relative error of pairs (re-e)",
        Form::Classes => "information loss (GCP)",
        Form::Split => "distance of sensitive values together from what their tables suggest",
        Form::Recoded => "NCP",
        Form::Noisy => "share of the best itemsets missed",
    }
}

/// The best row, and why: of those that keep all limits the one with the least loss; of equals the one that promises most. If none
/// keeps them, the one that breaks the fewest.
pub fn best(rows: &[Row]) -> Option<(usize, String)> {
    let rank = |row: &Row| (row.broken.len(), row.loss, std::cmp::Reverse((row.k, row.m)));
    let (at, row) = rows.iter().enumerate().min_by(|(_, a), (_, b)| {
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    })?;
    let n_kept = rows.iter().filter(|row| row.holds).count();
    let m = row.m.map_or(String::new(), |m| format!(", m = {m}"));
    let size = row.max_cluster.map_or(String::new(), |size| format!(", clusters below {size}"));
    let which = format!("k = {}{m}{size}", row.k);
    let why = match row.holds {
        true => format!("{which}: of {n_kept} recipes that keep all limits, the least loss ({:.4})", row.loss),
        false => format!("no recipe keeps all limits; {which} comes nearest and breaks {}", row.broken.join(", ")),
    };
    Some((at, why))
}

/// Which rows no other beats: no other promises as much with less loss.
pub fn frontier(rows: &[Row]) -> Vec<bool> {
    let beats = |a: &Row, b: &Row| {
        let is_more = a.k > b.k || a.m > b.m || a.loss < b.loss;
        a.holds && a.k >= b.k && a.m >= b.m && a.loss <= b.loss && is_more
    };
    rows.iter().map(|row| row.holds && !rows.iter().any(|other| beats(other, row))).collect()
}

/// The rows as CSV: a column for everything that was found.
pub fn csv(rows: &[Row]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in rows.iter().flat_map(|row| &row.found) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let mut text = format!("k,m,max_cluster,promise,holds,broken,repairs,{},loss,seconds\n", names.join(","));
    let optional = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
    for row in rows {
        let promise = row.promise.map_or("", Promise::name);
        let value = |name: &&str| {
            let found = row.found.iter().find(|(other, _)| other == name);
            found.map_or(String::new(), |(_, value)| format!("{value:.6}"))
        };
        let values: Vec<String> = names.iter().map(value).collect();
        text += &format!(
            "{},{},{},{promise},{},{},{},{},{:.6},{:.3}\n",
            row.k,
            optional(row.m),
            optional(row.max_cluster),
            row.holds,
            row.broken.join(" "),
            row.repairs,
            values.join(","),
            row.loss,
            row.seconds
        );
    }
    text
}

/// The loss over k, a line for each m and size of clusters.
fn draw(rows: &[Row], loss: &str) -> String {
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for row in rows {
        let m = row.m.map_or(String::from("all rows"), |m| format!("m = {m}"));
        let name = m + &row.max_cluster.map_or(String::new(), |size| format!(", clusters below {size}"));
        let point = (f64::from(row.k), row.loss);
        match series.iter_mut().find(|(other, _)| *other == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name, vec![point])),
        }
    }
    for (_, points) in &mut series {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    plot::lines("What more privacy costs", "k", loss, &series)
}

/// The rows of earlier sweeps, and where new ones go.
struct Kept {
    path: PathBuf,
    /// None before the first row.
    file: Option<File>,
    rows: HashMap<String, Row>,
}

impl Kept {
    fn open(results: &Results) -> Result<Self> {
        let path = results.place(ROWS);
        let cannot = |e| Error::io(&path, "read", e);
        let foreign = |line| {
            Error::input(Place::line(path.display().to_string(), line), "is not a row of a sweep")
                .with_hint("choose another folder for the results")
        };
        match std::fs::symlink_metadata(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Kept { path, file: None, rows: HashMap::new() });
            }
            Ok(data) if !data.is_file() => return Err(foreign(1)),
            found => found.map_err(cannot)?,
        };
        let text = std::fs::read(&path).map_err(cannot)?;
        let (whole, half) = text.split_at(text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        let mut rows = HashMap::new();
        for (line, number) in whole.split_inclusive(|&byte| byte == b'\n').zip(1..) {
            let row: Row = serde_json::from_slice(line).map_err(|_| foreign(number))?;
            rows.insert(row.id.clone(), row);
        }
        // The file was made with its first row. A sweep that was killed may have left half a line after it.
        if rows.is_empty() || !is_half_a_row(half) {
            return Err(foreign(1 + rows.len() as u64));
        }
        let file = results.append(ROWS)?;
        if !half.is_empty() {
            file.set_len(whole.len() as u64).map_err(|e| Error::io(&path, "write", e))?;
        }
        Ok(Kept { path, file: Some(file), rows })
    }

    /// Adds a row for good: what is here is never made again.
    fn add(&mut self, row: Row, results: &Results) -> Result<()> {
        let mut line = serde_json::to_vec(&row).map_err(|_| Error::Internal("a row is always JSON"))?;
        line.push(b'\n');
        match &mut self.file {
            Some(file) => {
                let written = file.write_all(&line).and_then(|()| file.sync_data());
                written.map_err(|e| Error::io(&self.path, "write", e))?;
            }
            None => self.file = Some(results.create(ROWS, &line)?),
        }
        self.rows.insert(row.id.clone(), row);
        Ok(())
    }
}

/// Whether a row begins like this, or nothing is there.
fn is_half_a_row(text: &[u8]) -> bool {
    const START: &[u8] = b"{\"id\":\"";
    let is_cut = || serde_json::from_slice::<Row>(text).map_or_else(|error| error.is_eof(), |_| true);
    START.starts_with(text) || text.starts_with(START) && is_cut()
}

impl Original {
    /// The same data once more, to be protected.
    fn again(&self) -> Input<'static> {
        match self {
            Original::Sets { data, intake, .. } => Input::Sets(data.clone(), intake.clone()),
            Original::Table { table, intake, .. } => Input::Table(table.clone(), intake.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(k: u32, loss: f64, broken: &[&str]) -> Row {
        Row {
            id: String::new(),
            k,
            m: Some(2),
            max_cluster: Some(30),
            promise: Some(Promise::AlgorithmAware),
            holds: broken.is_empty(),
            broken: broken.iter().map(|&key| key.to_owned()).collect(),
            repairs: 0,
            found: vec![("certain_disclosures".into(), 0.0)],
            loss,
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
        assert!(csv(&rows).lines().all(|line| line.split(',').count() == 10), "{}", csv(&rows));
    }

    #[test]
    fn of_equals_the_one_that_promises_most() {
        let rows = [row(3, 0.1, &[]), row(5, 0.1, &[])];
        assert_eq!(best(&rows).map(|(at, _)| at), Some(1));
        assert_eq!(frontier(&rows), [false, true]);
    }
}
