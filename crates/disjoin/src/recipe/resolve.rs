//! From a recipe as written to one with nothing left open: all defaults, and all checks that need no data.
//!
//! Promises:   what is returned can be run; an error names the key, its line if there is a file, and what to write instead
//! Checked by: tests/it/recipes.rs

use std::path::{Path, PathBuf};

use super::written::{self, Promised, Written, parse, place_of};
use super::{
    AtMost, Attack, Input, Measure, Output, OutputFormat, Protect, Recipe, Repair, meaning, noise, recoding, table,
};
use crate::attack::summary::Choice;
use crate::attack::worlds::Worlds;
use crate::data::{Dataset, Interest};
use crate::error::{Error, Place, Result};
use crate::measure;
use crate::protect::disassociation::{Diversity, Grouping, Params};
use crate::read;
use crate::recipe::meaning::Meaning;
use crate::release::Promise;

/// Every default that is not one of a method's own.
mod default {
    pub(super) const K: u32 = 5;
    pub(super) const M: u32 = 2;
    pub(super) const ROUNDS: u32 = 3;
    pub(super) const FOLDER: &str = "out";
    /// One draw, and the closed forms.
    pub(super) const RECONSTRUCTIONS: u64 = 1;
}

/// Reads a recipe and resolves it. Relative paths start at its folder.
pub fn read_recipe(path: &Path) -> Result<Recipe> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|e| Error::io(path, "read the recipe", e))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::input(Place::file(&name), "is not valid UTF-8").with_hint("save the recipe as UTF-8"))?;
    let written = parse(&text, &name)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    resolve(&written, folder, &|key| place_of(&text, &name, key))
}

/// Fills in what is missing and refuses what has no meaning. `place` says where a key stands.
pub fn resolve(written: &Written, folder: &Path, place: &dyn Fn(&str) -> Place) -> Result<Recipe> {
    let refuse = |key: &str, problem: &str, hint: &str| -> Error {
        Error::input(place(key), format!("{key}: {problem}")).with_hint(hint)
    };
    let mut protect = protect(&written.protect);
    for file in [&mut protect.utility, &mut protect.weights] {
        *file = file.take().map(|file| folder.join(file));
    }
    let in_recipe = |error| match error {
        Error::Recipe { key, problem, hint } => refuse(key_of(key), &problem, hint.as_deref().unwrap_or_default()),
        other => other,
    };
    protect.params().check().map_err(in_recipe)?;
    protect.noise = noise::noise(&written.protect).map_err(|error| match noise::as_key(error) {
        Error::Recipe { key, problem, hint } => refuse(key, &problem, hint.as_deref().unwrap_or_default()),
        other => other,
    })?;
    if let Some(noise) = &mut protect.noise {
        noise.start_at(folder);
        refuse_beside_noise(written, &refuse)?;
    }
    match &mut protect.recoding {
        Some(recoding) => {
            recoding.start_at(folder);
            recoding.check().map_err(in_recipe)?;
            // A utility file means something else there, and is the recoding's.
            protect.utility = None;
            if written.table.is_some() {
                return Err(refuse("protect.method", "is for sets of terms, not for tables", "remove it, or [table]"));
            }
            for (key, is_given) in recoding::foreign(&written.protect) {
                if is_given {
                    let problem = format!("is not known by the method {}", recoding.method.name());
                    return Err(refuse(key, &problem, "remove it, or use disassociation"));
                }
            }
            if written.output.format == Some(OutputFormat::Parquet) {
                let problem = "recoded transactions are transactions.jsonl";
                let hint = "remove the key; disjoin convert writes them as a Parquet file of data";
                return Err(refuse("output.format", problem, hint));
            }
        }
        None if protect.noise.is_some() => {}
        None => {
            for (key, is_given) in recoding::own(&written.protect) {
                if is_given {
                    let hint = "remove it, or name a method that recodes terms: method = \"coat\"";
                    return Err(refuse(key, "is not known by disassociation", hint));
                }
            }
        }
    }
    if protect.l_diversity.is_some() && protect.sensitive.is_empty() {
        return Err(refuse("protect.l_diversity", "needs sensitive terms", "name them: sensitive = [\"...\"]"));
    }
    if written.protect.sensitive.as_ref().is_some_and(Vec::is_empty) {
        return Err(refuse("protect.sensitive", "names no term", "name terms, or remove the key"));
    }

    let separator = |key: &str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match read::separator(text) {
            Some(byte) => Ok(Some(byte)),
            None => Err(refuse(key, "is not one character", "write one character, or \"tab\" or \"space\"")),
        },
    };
    let file = written.input.file.as_ref().filter(|file| !file.trim().is_empty());
    let Some(file) = file else {
        return Err(refuse("input.file", "is missing", "name the data: file = \"patients.csv\" under [input]"));
    };
    let defaults = read::Options::default();
    let options = read::Options {
        format: written.input.format,
        separator: separator("input.separator", &written.input.separator)?,
        column: written.input.column.clone(),
        id_column: written.input.id_column.clone(),
        item_column: written.input.item_column.clone(),
        list_separator: separator("input.list_separator", &written.input.list_separator)?,
        max_record_terms: written.input.max_record_terms.unwrap_or(defaults.max_record_terms),
    };
    if options.max_record_terms == 0 {
        return Err(refuse("input.max_record_terms", "must be at least 1", "remove the key: 100000 is allowed"));
    }

    for (key, file) in [("protect.utility", &protect.utility), ("protect.weights", &protect.weights)] {
        if file.is_some() && written.table.is_some() {
            return Err(refuse(
                key,
                "is for sets of terms, not for tables",
                "remove it, or protect the sets without [table]",
            ));
        }
    }
    let table = match &written.table {
        None => None,
        Some(written) => {
            let table = table::resolve(written, protect.k, folder, options.list_separator);
            Some(table.map_err(|error| match error {
                Error::Recipe { key, problem, hint } => refuse(key, &problem, hint.as_deref().unwrap_or_default()),
                other => other,
            })?)
        }
    };

    let mut attack = attack(&written.attack, protect.k);
    attack.meaning =
        meaning::resolve(&written.attack, protect.recoding.is_some(), folder).map_err(|error| match error {
            Error::Recipe { key, problem, hint } => refuse(key, &problem, hint.as_deref().unwrap_or_default()),
            other => other,
        })?;
    if written.attack.run.as_ref().is_some_and(Vec::is_empty) {
        let hint = "name some of cover, closure, worlds, reassociate, identity, or remove the key to run all";
        return Err(refuse("attack.run", "names no attack", hint));
    }
    if !(attack.most_likely > 0.0 && attack.most_likely <= 1.0) {
        let hint = "write a probability above 0 and up to 1, as 0.2 for one in five";
        return Err(refuse("attack.most_likely", "is not a probability", hint));
    }

    let measure = measure(&written.measure);
    if measure.top == 0 {
        return Err(refuse("measure.top", "must be at least 1", "1000 is usual"));
    }
    let AtMost { itemsets_lost, terms_lost, pair_error, query_error } = measure.at_most;
    let limits = [
        ("measure.at_most.itemsets_lost", itemsets_lost, 1.0),
        ("measure.at_most.terms_lost", terms_lost, 1.0),
        ("measure.at_most.pair_error", pair_error, 2.0),
        ("measure.at_most.query_error", query_error, f64::MAX),
    ];
    for (key, limit, most) in limits {
        if limit.is_some_and(|limit| !(0.0..=most).contains(&limit)) {
            let hint = "write a number from 0 on, as 0.1 for a tenth; shares end at 1, errors of pairs at 2";
            return Err(refuse(key, "is out of range", hint));
        }
    }
    let output = &written.output;
    let named = output.folder.as_deref().unwrap_or(default::FOLDER);
    if named.trim().is_empty() {
        return Err(refuse("output.folder", "is empty", "name the folder of the package: folder = \"out\""));
    }
    let repair = Repair { rounds: written.repair.rounds.unwrap_or(default::ROUNDS), limit: written.repair.limit };
    refuse_repair(&repair, &protect, attack.meaning.as_ref(), &refuse)?;
    Ok(Recipe {
        input: Input { file: folder.join(file), options },
        protect,
        table,
        attack,
        measure,
        repair,
        output: Output { folder: folder.join(named), format: output.format.unwrap_or_default() },
    })
}

/// What cannot be mended: only sets that were generalised alike in all records, against somebody whose knowledge is in a file.
fn refuse_repair(
    repair: &Repair,
    protect: &Protect,
    meaning: Option<&Meaning>,
    refuse: &dyn Fn(&str, &str, &str) -> Error,
) -> Result<()> {
    let Some(limit) = repair.limit else { return Ok(()) };
    let refuse = |problem, hint| Err(refuse("repair.limit", problem, hint));
    let (Some(recoding), Some(meaning)) = (&protect.recoding, meaning) else {
        return refuse("is for sets whose terms are recoded", "remove it, or name such a method: method = \"coat\"");
    };
    if matches!(recoding.method, recoding::Method::Lra | recoding::Method::SuppressionPartial) {
        return refuse(
            "is for methods that treat all records alike",
            "remove it, or choose apriori, vpa, coat or pcta",
        );
    }
    if !(limit >= 1.0 && limit.is_finite()) {
        return refuse("must be a number of 1 or more", "1.5 lets NCP grow by a half");
    }
    if meaning.corpus.is_none() && meaning.counts.is_none() && meaning.vectors.is_none() {
        let hint = "name a file under [attack]: corpus = \"words.corpus\"";
        return refuse("needs what words mean to those who attack", hint);
    }
    if meaning.eliminate.is_empty() {
        return refuse("needs attacks", "remove attack.eliminate, or name some there");
    }
    Ok(())
}

/// What other sections say that has no meaning for methods that add noise.
fn refuse_beside_noise(written: &Written, refuse: &dyn Fn(&str, &str, &str) -> Error) -> Result<()> {
    if written.table.is_some() {
        return Err(refuse("protect.method", "is for sets of terms, not for tables", "remove it, or [table]"));
    }
    if written.output.format == Some(OutputFormat::Parquet) {
        return Err(refuse("output.format", "noisy releases are data.jsonl", "remove the key"));
    }
    if written.measure.at_most != written::AtMost::default() {
        let problem = "would choose among releases by what is counted in the data, which the promise does not cover";
        return Err(refuse("measure.at_most", problem, "remove it; the report in custody tells the measures"));
    }
    Ok(())
}

/// The key of the recipe for a parameter that the method names as a flag.
fn key_of(flag: &str) -> &'static str {
    match flag {
        "-k" => "protect.k",
        "-m" => "protect.m",
        "--grouping" => "protect.grouping",
        "--max-cluster" => "protect.max_cluster",
        "--l-diversity" => "protect.l_diversity",
        "--utility" => "protect.utility",
        "--privacy" => "protect.privacy",
        "--hierarchy" => "protect.hierarchy",
        "--fanout" => "protect.fanout",
        "--cost" => "protect.cost",
        "--block" => "protect.block",
        "--parts" => "protect.parts",
        "--whole-constraints" => "protect.whole_constraints",
        "--max-suppressed" => "protect.max_suppressed",
        "--force" => "protect.force",
        _ => "protect",
    }
}

/// How large groups may become if nothing is said about it.
pub fn default_max_cluster(k: u32, grouping: Grouping) -> u32 {
    match grouping {
        // Terms that would be lost get groups of their own: the others are best in small ones (lab/grouping.md).
        Grouping::Layered => k.saturating_mul(2),
        Grouping::Paper => Params::new(k, default::M).max_cluster,
    }
}

/// How to protect, with all defaults; nothing is checked yet.
pub fn protect(written: &written::Protect) -> Protect {
    let (k, m) = (written.k.unwrap_or(default::K), written.m.unwrap_or(default::M));
    let defaults = Params::new(k, m);
    let grouping = written.grouping.unwrap_or(Grouping::Layered);
    Protect {
        k,
        m,
        grouping,
        max_cluster: written.max_cluster.unwrap_or_else(|| default_max_cluster(k, grouping)),
        promise: match written.promise {
            Some(Promised::Published) => Promise::Published,
            Some(Promised::AlgorithmAware) | None => Promise::AlgorithmAware,
        },
        refine: written.refine.unwrap_or(defaults.refine),
        sensitive: written.sensitive.clone().unwrap_or_default(),
        l_diversity: written.l_diversity,
        diversity_rule: written.diversity_rule.unwrap_or_default(),
        utility: written.utility.as_ref().map(PathBuf::from),
        weights: written.weights.as_ref().map(PathBuf::from),
        recoding: recoding::recoding(written, k, m),
        // It cannot be said without an epsilon: see `resolve`.
        noise: None,
    }
}

impl Protect {
    /// The parameters of the method, without what names terms: these are known once the data is.
    pub fn params(&self) -> Params {
        Params {
            grouping: self.grouping,
            max_cluster: self.max_cluster,
            refine: self.refine,
            algorithm_aware: self.promise == Promise::AlgorithmAware,
            diversity: self.l_diversity.map(|l| Diversity { l, rule: self.diversity_rule }),
            ..Params::new(self.k, self.m)
        }
    }

    /// The same with the sensitive terms of the data, and with what matters most of it.
    pub fn params_for(&self, data: &Dataset) -> Result<Params> {
        let mut sensitive = Vec::with_capacity(self.sensitive.len());
        for (text, position) in self.sensitive.iter().zip(1..) {
            // The position only: the list says what somebody wants to hide.
            let term = data.dictionary.get(text.trim()).ok_or_else(|| {
                let problem = format!("entry {position} of the list does not occur in the data");
                Error::recipe("protect.sensitive", problem, "check the spelling, or remove it from the list")
            })?;
            sensitive.push(term);
        }
        sensitive.sort_unstable();
        sensitive.dedup();
        Ok(Params { sensitive, interest: self.interest(data)?, ..self.params() })
    }

    /// What matters most, by the files of utility sets and of weights.
    pub fn interest(&self, data: &Dataset) -> Result<Interest> {
        read::interest(self.utility.as_deref(), self.weights.as_deref(), &data.dictionary)
    }
}

fn attack(written: &written::Attack, k: u32) -> Attack {
    Attack {
        run: written.run.clone().unwrap_or_else(|| Choice::ALL.to_vec()),
        steps: written.steps.unwrap_or(Worlds::default().steps),
        most_certain: written.most_certain.unwrap_or(0),
        most_likely: written.most_likely.unwrap_or(1.0 / f64::from(k.max(1))),
        // It cannot be said without the method: see `resolve`.
        meaning: None,
    }
}

fn measure(written: &written::Measure) -> Measure {
    let defaults = measure::Options::default();
    let written::AtMost { itemsets_lost, terms_lost, pair_error, query_error } = written.at_most;
    Measure {
        top: written.top.unwrap_or(defaults.top),
        reconstructions: written.reconstructions.unwrap_or(default::RECONSTRUCTIONS),
        queries: written.queries.unwrap_or(defaults.queries),
        seed: written.seed.unwrap_or(defaults.seed),
        at_most: AtMost { itemsets_lost, terms_lost, pair_error, query_error },
    }
}
