//! `disjoin sweep`: many recipes on the same data, and the best of them.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use disjoin::publish::write_file;
use disjoin::recipe::{Recipe, read_recipe};
use disjoin::release::Promise;
use disjoin::report::plot;
use disjoin::run::sweep::{Grid, Row, best, csv, frontier, id, recipes, row};
use disjoin::{Error, Place, Result, read};
use rayon::prelude::*;
use serde_json::json;

use crate::Outcome;
use crate::talk::{Talk, count, number};

/// Try many recipes on the same data: what does more privacy cost, and which is best within the limits?
///
/// Every combination of the lists is protected, verified, attacked, repaired and measured, without writing a package; what a
/// list does not say, the recipe does. Each result is kept in DIR/rows.jsonl as soon as it is there: a sweep that was
/// stopped goes on where it was. At the end DIR/sweep.csv has all rows and DIR/frontier.svg shows them.
///
/// The rows tell about the original: they are for whoever holds it. Ends with exit code 1 if no recipe keeps the limits.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The recipe to vary
    #[arg(default_value = "recipe.toml")]
    recipe: PathBuf,
    /// Sizes of the crowd, with commas between
    #[arg(short, value_name = "LIST", value_delimiter = ',')]
    k: Vec<u32>,
    /// Numbers of terms that an adversary may know
    #[arg(short, value_name = "LIST", value_delimiter = ',')]
    m: Vec<u32>,
    /// Sizes of groups
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    max_cluster: Vec<u32>,
    /// Promises
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    promise: Vec<PromiseChoice>,
    /// The folder for the results, made if it is missing
    #[arg(short, long, value_name = "DIR", default_value = "sweep")]
    out: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  disjoin sweep -k 3,5,10 -m 2,3
  disjoin sweep strict.toml -k 5,10,20 --max-cluster 20,30,50,100 -o sweeps/strict
  disjoin sweep -k 5 --promise published,algorithm-aware --json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PromiseChoice {
    Published,
    AlgorithmAware,
}

impl From<PromiseChoice> for Promise {
    fn from(choice: PromiseChoice) -> Self {
        match choice {
            PromiseChoice::Published => Promise::Published,
            PromiseChoice::AlgorithmAware => Promise::AlgorithmAware,
        }
    }
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let base = read_recipe(&args.recipe)?;
    if base.protect.recoding.is_some() || base.protect.noise.is_some() {
        let problem = "only disassociation is swept";
        return Err(Error::recipe("protect.method", problem, "remove the key, or run each recipe by itself"));
    }
    let promise = args.promise.iter().map(|&choice| choice.into()).collect();
    let grid = Grid { k: args.k.clone(), m: args.m.clone(), max_cluster: args.max_cluster.clone(), promise };
    let recipes = recipes(&base, &grid);
    if recipes.is_empty() {
        return Err(Error::recipe(
            "--max-cluster",
            "no combination can be run",
            "groups must hold 2k records at least",
        ));
    }
    talk.step("reading the data");
    let (data, intake) = read::read(&base.input.file, &base.input.options)?;
    std::fs::create_dir_all(&args.out).map_err(|e| Error::io(&args.out, "make the folder", e))?;
    let mut kept = Kept::open(&args.out.join("rows.jsonl"))?;
    let ids: Vec<String> = recipes.iter().map(|recipe| id(recipe, &intake.sha256)).collect();
    let missing: Vec<&Recipe> =
        recipes.iter().zip(&ids).filter(|(_, id)| !kept.rows.contains_key(*id)).map(|(recipe, _)| recipe).collect();
    let (done, n) = ((recipes.len() - missing.len()) as u64, recipes.len());
    // As many at a time as there are threads: what one recipe does alone, others fill.
    let mut number = done;
    for batch in missing.chunks(rayon::current_num_threads().max(1)) {
        let protect = &batch[0].protect;
        talk.step(&format!(
            "recipe {} of {n}: k = {}, m = {}, groups below {}",
            number + 1,
            protect.k,
            protect.m,
            protect.max_cluster
        ));
        let made: Result<Vec<Row>> = batch.par_iter().map(|recipe| row(recipe, &data, &intake.sha256)).collect();
        for row in made? {
            kept.add(row)?;
            number += 1;
        }
    }
    let rows: Vec<Row> = ids.iter().filter_map(|id| kept.rows.remove(id)).collect();
    if done > 0 {
        talk.note(&format!("{} had been made before", count(done, "recipe", "recipes")));
    }
    let on_frontier = frontier(&rows);
    let best = best(&rows);
    write(&args.out.join("sweep.csv"), &csv(&rows))?;
    write(&args.out.join("frontier.svg"), &draw(&rows))?;
    talk.note(&format!("wrote {} and frontier.svg", args.out.join("sweep.csv").display()));
    let holds = rows.iter().any(|row| row.holds);
    if talk.is_json() {
        let best = best.map(|(at, why)| json!({ "row": at, "why": why }));
        talk.print_json(&json!({ "rows": rows, "frontier": on_frontier, "best": best, "made_before": done }))?;
    } else {
        talk.print(&text(&rows, &on_frontier, best.as_ref()))?;
    }
    Ok(if holds { Outcome::Holds } else { Outcome::Broken })
}

/// The rows of earlier sweeps, and where new ones go.
struct Kept {
    path: PathBuf,
    file: File,
    rows: HashMap<String, Row>,
}

impl Kept {
    fn open(path: &Path) -> Result<Self> {
        let mut rows = HashMap::new();
        let mut text = match std::fs::read(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(e) => return Err(Error::io(path, "read", e)),
        };
        // A sweep that was killed may have left half a line.
        let whole = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let is_cut = whole < text.len();
        text.truncate(whole);
        for (line, number) in text.split(|&byte| byte == b'\n').zip(1..).filter(|(line, _)| !line.is_empty()) {
            let row: Row = serde_json::from_slice(line).map_err(|_| {
                Error::input(Place::line(path.display().to_string(), number), "is not a row of a sweep")
                    .with_hint("choose another folder with -o")
            })?;
            rows.insert(row.id.clone(), row);
        }
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|e| Error::io(path, "open", e))?;
        if is_cut {
            file.set_len(whole as u64).map_err(|e| Error::io(path, "write", e))?;
        }
        Ok(Kept { path: path.to_path_buf(), file, rows })
    }

    /// Adds a row for good: what is here is never made again.
    fn add(&mut self, row: Row) -> Result<()> {
        let mut line = serde_json::to_vec(&row).map_err(|_| Error::Internal("a row is always JSON"))?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.map_err(|e| Error::io(&self.path, "write", e))?;
        self.rows.insert(row.id.clone(), row);
        Ok(())
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    write_file(path, true, |out| out.write_all(text.as_bytes()).map_err(|e| Error::io(path, "write", e)))
}

/// The error of pairs over k, a line for each m and size of groups.
fn draw(rows: &[Row]) -> String {
    let mut series: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for row in rows {
        let name = format!("m = {}, groups below {}", row.m, row.max_cluster);
        let point = (f64::from(row.k), row.pair_error);
        match series.iter_mut().find(|(other, _)| *other == name) {
            Some((_, points)) => points.push(point),
            None => series.push((name, vec![point])),
        }
    }
    for (_, points) in &mut series {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    plot::lines("What more privacy costs", "k", "relative error of pairs (re-e)", &series)
}

fn text(rows: &[Row], on_frontier: &[bool], best: Option<&(usize, String)>) -> String {
    let mut text = format!(
        "{:>5}{:>4}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}{:>9}\n",
        "k", "m", "groups", "certain", "likely", "itemsets", "terms", "pairs", "queries", "seconds"
    );
    for (i, row) in rows.iter().enumerate() {
        let mark = match (best.is_some_and(|(at, _)| *at == i), on_frontier[i], row.holds) {
            (true, ..) => "best",
            (_, true, _) => "*",
            (.., false) => "limits",
            _ => "",
        };
        let likely = row.most_likely.map_or(String::from("-"), |p| format!("{p:.4}"));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{:>5}{:>4}{:>8}{:>10}{likely:>10}{:>10.4}{:>10.4}{:>10.4}{:>10.4}{:>9.2}  {mark}",
            row.k,
            row.m,
            row.max_cluster,
            number(row.certain),
            row.itemsets_lost,
            row.terms_lost,
            row.pair_error,
            row.query_error,
            row.seconds
        );
    }
    let _ = writeln!(
        text,
        "\ncertain, likely: what attacks found. itemsets, terms: shares lost. pairs, queries: relative errors.\n\
         * promises as much as no other with as little error; limits: a limit of the recipe is not kept."
    );
    if let Some((_, why)) = best {
        let _ = writeln!(text, "Best: {why}.");
    }
    text
}
