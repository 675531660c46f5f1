//! The whole way from small data and a recipe to a package, by every method: what is promised is kept, whatever the data are.

use std::fs;
use std::path::Path;

use disjoin::recipe::read_recipe;
use disjoin::recipe::{Method, Shape};
use disjoin::run::{self, Input, Originally};
use disjoin_databases::Databases;

use crate::build::{TERMS, people};
use crate::draw::Draw;
use crate::scratch::{self, Files};
use crate::verbs::{Impatient, fine};

/// Data and a recipe for any method; past the parser is what was protected.
pub(super) fn pipeline(bytes: &[u8]) -> bool {
    let mut draw = Draw::new(bytes);
    let folder = scratch::empty();
    let method = Method::ALL[draw.below(Method::ALL.len())];
    let k = draw.number(2, 3);
    let (file, data, rest) = match method.takes() {
        Shape::Sets => ("sets.jsonl", sets(&mut draw), of_sets(method.name, &mut draw)),
        Shape::Table => ("people.csv", people(&mut draw), of_table(method.name, &mut draw)),
    };
    let recipe = format!(
        "[input]\nfile = \"{file}\"\n[measure]\nqueries = 4\ntop = 8\n[protect]\nmethod = \"{}\"\n{}{rest}[output]\nfolder = \"out\"\n",
        method.name,
        if method.name == "diffpart" || method.name == "privbasis" { String::new() } else { format!("k = {k}\n") },
    );
    Files::default().with(file, data).with("recipe.toml", recipe).with("privacy.txt", "a b\nc\n").write(&folder);
    let Some(recipe) = fine(read_recipe(&folder.join("recipe.toml"))) else { return false };
    let Some(ran) = fine(run::run(&recipe, Input::Named(&Databases), &Impatient::new())) else { return false };
    let proof = &ran.rounds.last().expect("every release is verified").proof;
    assert!(proof.holds(), "what was made keeps its promise: {}", method.name);
    again(&folder);
    true
}

/// The verb comes to the same verdict as the run.
fn again(folder: &Path) {
    let verdict = run::verify(&folder.join("out"), None, &Originally::default(), &Databases, &Impatient::new())
        .expect("it is read");
    assert!(verdict.judged.holds, "a release of a run is verified");
    let _ = fs::metadata(folder.join("out/custody")).expect("there is custody");
}

fn sets(draw: &mut Draw<'_>) -> String {
    let mut record = |_| {
        let mut record = draw.some(&TERMS[..8], 70);
        if record.is_empty() {
            record.push("z");
        }
        serde_json::to_string(&record).expect("texts are JSON") + "\n"
    };
    let n = 24;
    (0..n).map(&mut record).collect()
}

fn of_sets(method: &str, draw: &mut Draw<'_>) -> String {
    match method {
        "disassociation" => format!(
            "m = {}\ngrouping = \"{}\"\npromise = \"{}\"\nrefine = {}\n[attack]\nsteps = 40\n",
            draw.number(1, 3),
            draw.pick(&["layered", "paper"]),
            draw.pick(&["published", "algorithm-aware"]),
            draw.chance(200),
        ),
        "apriori" | "vpa" => format!("m = {}\nfanout = {}\n", draw.number(1, 3), draw.number(2, 4)),
        "lra" => format!("m = {}\nfanout = {}\nblock = {}\n", draw.number(1, 2), draw.number(2, 4), draw.number(2, 12)),
        "coat" | "pcta" => format!("privacy = \"privacy.txt\"\nmax_suppressed = {}.0\n", draw.number(0, 1)),
        "diffpart" => format!("[protect.noise]\nepsilon = {}\n", draw.number(1, 20)),
        "privbasis" => format!("[protect.noise]\nepsilon = {}\ntop = {}\n", draw.number(1, 20), draw.number(1, 8)),
        _ => format!("m = {}\n", draw.number(1, 3)),
    }
}

fn of_table(method: &str, draw: &mut Draw<'_>) -> String {
    let has_sets = !matches!(method, "break-merge" | "anatomy") && draw.chance(80);
    let ids = if has_sets { "[\"s1\"]" } else { "[\"s1\", \"set\"]" };
    let set = if has_sets { "set = \"set\"\n" } else { "" };
    let limits = ["", "l = 2\n", "t = 0.5\n", "beta = 2.0\n", "alpha = 0.7\n"];
    let limit = match method {
        "anatomy" => "l = 2\n",
        "burel" | "beta-likeness-primacy" => "beta = 2.0\n",
        "microaggregation-merge" | "microaggregation-swap" | "closeness-first" => "t = 0.5\n",
        _ => draw.pick(&limits),
    };
    format!(
        "[table]\nquasi = [\"q0\", \"q1\"]\nsensitive = [\"s0\"]\nidentifier = {ids}\nnumeric = [\"q0\"]\n{set}[table.criteria]\n{limit}"
    )
}
