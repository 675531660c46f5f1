//! From a recipe as written to one with nothing left open: all defaults, and all checks that need no data.
//!
//! Promises:   what is returned can be run; an error names the key, its line if there is a file, and what to write instead. A key
//!             that the method does not know is refused, never ignored
//! Checked by: tests/it/recipes.rs

use std::path::{Path, PathBuf};

use super::written::{self, Written, given, parse, place_of};
use super::{
    Attack, Input, Limits, Measure, Method, Output, OutputFormat, Protect, Recipe, Repair, Shape, meaning, noise,
    people, recoding, table,
};
use crate::attack::summary::Choice;
use crate::attack::witness::WITNESSES;
use crate::attack::worlds::Worlds;
use crate::data::{Dataset, Interest};
use crate::error::{Error, Place, Result};
use crate::location::{has_password, scheme};
use crate::measure as measuring;
use crate::memory::{Memory, read_file};
use crate::protect::disassociation::for_the_lab::ForTheLab;
use crate::protect::disassociation::{Diversity, Grouping, Params};
use crate::read;
use crate::release::Promise;

/// Every default that is not one of a method's own.
pub mod default {
    /// How many records or people cannot be told apart.
    pub const K: u32 = 5;
    /// How many terms of background knowledge an adversary has.
    pub const M: u32 = 2;
    /// How often what attacks broke is repaired.
    pub const ROUNDS: u32 = 3;
    /// The folder of the package.
    pub const FOLDER: &str = "out";
    /// One draw, and the closed forms.
    pub const RECONSTRUCTIONS: u64 = 1;
    /// Recoded sets: how many times NCP may become what it was, where somebody asks for a repair.
    pub const NCP_GROWTH: f64 = 1.5;
}

/// Reads a recipe and resolves it. Relative paths start at its folder.
pub fn read_recipe(path: &Path) -> Result<Recipe> {
    let name = path.display().to_string();
    let bytes = read_file(path, "read the recipe", Memory::default())?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::input(Place::file(&name), "is not valid UTF-8").with_hint("save the recipe as UTF-8"))?;
    let written = parse(&text, &name)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    resolve(&written, folder).map_err(|error| in_file(error, &text, &name))
}

/// A parameter that cannot be used stands in the recipe.
pub fn in_file(error: Error, text: &str, file: &str) -> Error {
    match error {
        Error::Recipe { key, problem, hint } => {
            Error::Input { place: place_of(text, file, &key), problem: format!("{key}: {problem}"), hint }
        }
        other => other,
    }
}

/// Fills in what is missing and refuses what has no meaning. Errors name the key.
pub fn resolve(written: &Written, folder: &Path) -> Result<Recipe> {
    let method = method(written)?;
    let idle = idle_keys(written, method)?;
    let input = input(&written.input, folder)?;
    let mut protect = protect(&written.protect);
    for file in [&mut protect.utility, &mut protect.weights, &mut protect.clusters] {
        *file = file.take().map(|file| folder.join(file));
    }
    protect.params().check()?;
    check_promise(&protect)?;
    check_sensitive(&written.protect, &protect)?;
    if let Some(noise) = method.noise() {
        let mut noise = noise::resolve(noise, &written.protect.noise.clone().unwrap_or_default())?;
        noise.start_at(folder);
        protect.noise = Some(noise);
    }
    if let Some(recoding) = &mut protect.recoding {
        recoding.start_at(folder);
        recoding.check()?;
        // A utility file means something else there, and is the recoding's.
        protect.utility = None;
    }
    let table = match &written.table {
        None => None,
        Some(asked) => Some(table::resolve(asked, method, protect.k, folder, &input.options)?),
    };
    people::check(&input.options, method, written.table.as_ref())?;
    let attack = attack(&written.attack, &protect, folder)?;
    let measure = measure(&written.measure)?;
    let limits = Limits::resolve(&written.limits, protect.k)?;
    let named = written.output.folder.as_deref().unwrap_or(default::FOLDER);
    if named.trim().is_empty() {
        return Err(Error::recipe("output.folder", "is empty", "name the folder of the package: folder = \"out\""));
    }
    let repair = Repair { rounds: written.repair.rounds.unwrap_or(default::ROUNDS), limit: written.repair.limit };
    refuse_repair(&repair, &protect, &attack)?;
    let old = |(old, now): &(&str, &str)| format!("{old} is now called {now}");
    let password = has_password(&input.file.to_string_lossy()).then(|| {
        String::from("input.file has a password in it, and whoever reads the recipe knows it; remove it, and set PGPASSWORD or use ~/.pgpass")
    });
    Ok(Recipe {
        input,
        method,
        protect,
        table,
        attack,
        measure,
        limits,
        repair,
        output: Output { folder: folder.join(named), format: written.output.format.unwrap_or_default() },
        notes: written.old_keys.iter().map(old).chain(password).chain(idle).collect(),
    })
}

/// The method, which must take what the input is.
fn method(written: &Written) -> Result<Method> {
    let is_table = written.table.is_some();
    let method = match written.protect.method {
        Some(method) => method,
        // Whoever says which rules are to be hidden wants them hidden.
        None if written.table.as_ref().is_some_and(|table| table.hide.is_some()) => Method::AssociationHiding,
        None if is_table => Method::OF_TABLES,
        None => Method::default(),
    };
    match (method.entry().takes(), is_table) {
        (Shape::Sets, true) => {
            let problem = format!("{} is for sets of terms, and columns of a table are named", method.name());
            Err(Error::recipe("protect.method", problem, "leave it out, or choose a method for tables"))
        }
        (Shape::Table, false) => {
            let problem = format!("{} is for tables, whose columns must be declared", method.name());
            let hint = "say what each column is: quasi, sensitive, identifier, insensitive";
            Err(Error::recipe("protect.method", problem, hint))
        }
        _ => Ok(method),
    }
}

/// A key that the method does not know would be ignored: it is refused instead. One that says what is the default anyway, as
/// `recipe new` writes it, is told in a note.
fn idle_keys(written: &Written, method: Method) -> Result<Vec<String>> {
    let has_sets = written.table.as_ref().is_some_and(|table| table.set.is_some());
    let of_sets = ["protect.grouping", "protect.max_cluster", "protect.promise", "protect.refine"];
    let mut notes = Vec::new();
    for key in given(written) {
        let is_idle = method.entry().takes() == Shape::Table && of_sets.contains(&&*key) && !has_sets;
        let is_table = method.entry().takes() == Shape::Table;
        if is_table && (is_idle || !method.knows(&key)) && says_default(written, &key) {
            notes.push(format!("{key} does nothing with the method {}; leave it out", method.name()));
            continue;
        }
        if is_idle {
            let problem = "is for the column of sets, and none is named";
            return Err(Error::recipe(key, problem, "leave it out, or name the column of sets"));
        }
        if !method.knows(&key) {
            let section = key.rfind('.').map_or("", |at| &key[..=at]);
            let others: Vec<&str> =
                Method::ALL.iter().filter(|entry| entry.method.knows(&key)).map(|entry| entry.name).collect();
            let known = method.keys_in(section).join(", ");
            let hint = match (others.is_empty(), known.is_empty()) {
                (false, _) => format!("leave it out, or choose a method that knows it: {}", others.join(", ")),
                (true, false) => format!("leave it out; the method knows {known}"),
                (true, true) => String::from("leave it out"),
            };
            return Err(Error::recipe(key, format!("is not known by the method {}", method.name()), hint));
        }
    }
    Ok(notes)
}

/// Whether one of the keys that `recipe new` writes out says what holds without it.
fn says_default(written: &Written, key: &str) -> bool {
    match key {
        "protect.m" => written.protect.m == Some(default::M),
        "protect.promise" => written.protect.promise == Some(written::Promised::AlgorithmAware),
        "attack.run" => {
            let promise = written.protect.promise.map_or(Promise::AlgorithmAware, Into::into);
            written.attack.run.as_ref() == Some(&Choice::usual(promise))
        }
        "limits.certain_disclosures" => written.limits.certain_disclosures == Some(0),
        _ => false,
    }
}

fn check_sensitive(written: &written::Protect, protect: &Protect) -> Result<()> {
    if written.sensitive.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::recipe("protect.sensitive", "names no term", "name terms, or remove the key"));
    }
    if protect.l_diversity.is_some() && protect.sensitive.is_empty() {
        let hint = "name them: sensitive = [\"...\"]";
        return Err(Error::recipe("protect.l_diversity", "needs sensitive terms", hint));
    }
    Ok(())
}

fn input(written: &written::Input, folder: &Path) -> Result<Input> {
    let separator = |key: &'static str, text: &Option<String>| match text {
        None => Ok(None),
        Some(text) => match read::separator(text) {
            Some(byte) => Ok(Some(byte)),
            None => Err(Error::recipe(key, "is not one character", "write one character, or \"tab\" or \"space\"")),
        },
    };
    let file = written.file.as_ref().filter(|file| !file.trim().is_empty());
    let Some(file) = file else {
        let hint = "name the data: file = \"patients.csv\" under [input]";
        return Err(Error::recipe("input.file", "is missing", hint));
    };
    let options = read::Options {
        format: written.format,
        separator: separator("input.separator", &written.separator)?,
        column: written.column.clone(),
        id_column: written.id_column.clone(),
        item_column: written.item_column.clone(),
        list_separator: separator("input.list_separator", &written.list_separator)?,
        encoding: written.encoding.as_deref().map(str::parse).transpose()?,
        sheet: written.sheet.clone(),
        set_columns: written.set_columns.clone().unwrap_or_default(),
        indicators: written.indicators.unwrap_or(false),
        join: written.join.as_ref().map(|asked| join(asked, folder)).transpose()?,
        max_record_terms: written.max_record_terms.unwrap_or(read::Options::default().max_record_terms),
        person: written.person.clone(),
        visits: written.visits.unwrap_or_default(),
    };
    if options.max_record_terms == 0 {
        let hint = "remove the key: 100000 is allowed";
        return Err(Error::recipe("input.max_record_terms", "must be at least 1", hint));
    }
    // A URL starts nowhere in the file system.
    let is_place = file == "-" || scheme(file).is_some();
    Ok(Input { file: if is_place { PathBuf::from(file) } else { folder.join(file) }, options })
}

/// The table that is joined; it starts at the folder of the recipe, as the first does.
fn join(written: &written::Join, folder: &Path) -> Result<read::Join> {
    let missing = |key, hint| Error::recipe(key, "is missing", hint);
    let file = written.file.as_deref().filter(|file| !file.trim().is_empty());
    let file = file.ok_or_else(|| missing("input.join.file", "name the other table: file = \"diagnoses.csv\""))?;
    let on = written.on.clone().filter(|on| !on.trim().is_empty());
    let on = on.ok_or_else(|| missing("input.join.on", "name the column that both tables have: on = \"patient\""))?;
    Ok(read::Join { file: folder.join(file), on })
}

/// What cannot be repaired: only sets that were generalised alike in all records, against somebody whose knowledge is in a file.
fn refuse_repair(repair: &Repair, protect: &Protect, attack: &Attack) -> Result<()> {
    let Some(limit) = repair.limit else { return Ok(()) };
    let refuse = |problem, hint| Err(Error::recipe("repair.limit", problem, hint));
    let (Some(recoding), Some(meaning)) = (&protect.recoding, &attack.meaning) else {
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
        return refuse("needs the knowledge of a semantic attack", hint);
    }
    if meaning.eliminate.is_empty() {
        return refuse("needs attacks", "remove attack.eliminate, or name some there");
    }
    Ok(())
}

/// Refuses a promise that its grouping does not keep, and a grouping that keeps more than is asked for: nobody is to guess which was meant.
fn check_promise(protect: &Protect) -> Result<()> {
    let is_guarded = protect.grouping == Grouping::Guarded;
    match (is_guarded, protect.promise) {
        (false, Promise::ProgramAware) => {
            Err(Error::recipe("protect.grouping", "must be guarded for the promise program-aware", "guarded"))
        }
        (true, Promise::Published | Promise::AlgorithmAware) => {
            let hint = "program-aware, which is stronger, or leave it out";
            Err(Error::recipe("protect.promise", "must be program-aware for the grouping guarded", hint))
        }
        _ => Ok(()),
    }
}

/// How to protect, with all defaults; nothing is checked yet.
pub fn protect(written: &written::Protect) -> Protect {
    let (k, m) = (written.k.unwrap_or(default::K), written.m.unwrap_or(default::M));
    let usual = Params::new(k, m);
    let grouping = match written.paper_literal {
        true => Grouping::Paper,
        false => written.grouping.unwrap_or(match written.promise {
            Some(written::Promised::ProgramAware) => Grouping::Guarded,
            _ => usual.grouping,
        }),
    };
    Protect {
        k,
        m,
        grouping,
        max_cluster: written.max_cluster.unwrap_or_else(|| Params::usual_cluster(k, grouping)),
        promise: match written.promise {
            _ if written.paper_literal => Promise::None,
            Some(asked) => asked.into(),
            None => Params { grouping, ..usual.clone() }.promise(),
        },
        refine: written.refine.unwrap_or(usual.refine),
        sensitive: written.sensitive.clone().unwrap_or_default(),
        l_diversity: written.l_diversity,
        diversity_rule: written.diversity_rule.unwrap_or_default(),
        utility: written.utility.as_ref().map(PathBuf::from),
        weights: written.weights.as_ref().map(PathBuf::from),
        clusters: written.clusters.as_ref().map(PathBuf::from),
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
            lab: ForTheLab { paper_literal: self.promise == Promise::None, reject: None },
            algorithm_aware: matches!(self.promise, Promise::AlgorithmAware | Promise::ProgramAware),
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

/// What to try, with all defaults.
pub fn attack(written: &written::Attack, protect: &Protect, folder: &Path) -> Result<Attack> {
    if written.run.as_ref().is_some_and(Vec::is_empty) {
        let hint =
            "name some of cover, closure, worlds, reassociate, identity, rerun, or remove the key for the usual ones";
        return Err(Error::recipe("attack.run", "names no attack", hint));
    }
    Ok(Attack {
        run: written.run.clone().unwrap_or_else(|| Choice::usual(protect.promise)),
        steps: written.steps.unwrap_or(Worlds::default().steps),
        attackers: written.attackers.clone(),
        knows: written.knows,
        knows_all: written.knows_all.clone().unwrap_or_default(),
        knows_absent: written.knows_absent.clone().unwrap_or_default(),
        witnesses: written.witnesses.unwrap_or(WITNESSES),
        meaning: meaning::resolve(written, protect.recoding.is_some(), folder)?,
    })
}

/// What to measure, with all defaults.
pub fn measure(written: &written::Measure) -> Result<Measure> {
    let usual = measuring::Options::default();
    let measure = Measure {
        top: written.top.unwrap_or(usual.top),
        reconstructions: written.reconstructions.unwrap_or(default::RECONSTRUCTIONS),
        queries: written.queries.unwrap_or(usual.queries),
        seed: written.seed.unwrap_or(usual.seed),
    };
    match measure.top {
        0 => Err(Error::recipe("measure.top", "must be at least 1", "1000 is usual")),
        _ => Ok(measure),
    }
}

impl Limits {
    /// Limits with their defaults: nothing certain, and nobody found with more than 1/k.
    pub fn resolve(written: &written::Limits, k: u32) -> Result<Limits> {
        let shares = [
            ("limits.advantage", written.advantage, 1.0),
            ("limits.inference_gain", written.inference_gain, f64::MAX),
            ("limits.belief_change", written.belief_change, f64::MAX),
            ("limits.itemsets_lost", written.itemsets_lost, 1.0),
            ("limits.terms_lost", written.terms_lost, 1.0),
            ("limits.pair_error", written.pair_error, 2.0),
            ("limits.query_error", written.query_error, f64::MAX),
            ("limits.link_error", written.link_error, 2.0),
            ("limits.association_error", written.association_error, f64::MAX),
            ("limits.information_loss", written.information_loss, 1.0),
            ("limits.joint_loss", written.joint_loss, 1.0),
        ];
        for (key, limit, most) in shares {
            if limit.is_some_and(|limit| !(0.0..=most).contains(&limit)) {
                let hint = "write a number from 0 on, as 0.1 for a tenth; shares end at 1, errors of pairs at 2";
                return Err(Error::recipe(key, "is out of range", hint));
            }
        }
        let risk = written.reidentification_risk;
        let probabilities =
            [("limits.reidentification_risk", risk), ("limits.knowledge_breach", written.knowledge_breach)];
        for (key, limit) in probabilities {
            if limit.is_some_and(|limit| !(limit > 0.0 && limit <= 1.0)) {
                let hint = "write a probability above 0 and up to 1, as 0.2 for one in five";
                return Err(Error::recipe(key, "is not a probability", hint));
            }
        }
        let certain_disclosures = written.certain_disclosures.or(Some(0));
        let reidentification_risk = risk.or(Some(1.0 / f64::from(k.max(1))));
        let written = written::Limits { certain_disclosures, reidentification_risk, ..*written };
        Ok(Limits { written, risk_follows_k: risk.is_none() })
    }
}

/// Whether disassociated data are to be stored as Parquet.
impl OutputFormat {
    /// The encoding of disassociated data.
    pub fn is_parquet(self) -> bool {
        self == OutputFormat::Parquet
    }
}
