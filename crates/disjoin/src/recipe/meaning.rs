//! The part of `[attack]` that is about what words mean: what is tried against sets whose terms were recoded.
//!
//! Promises:   keys are those of the flags of `disjoin attack`, with the same meaning; what other methods do not know is refused
//! Checked by: tests/it/recipes.rs, `crates/disjoin-cli/tests/it/semantic.rs`

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::written;
use crate::attack::semantic::{METHODS, Method, Options, ROWS};
use crate::error::{Error, Result};

/// What an adversary knows about words, and what is done with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Meaning {
    /// A corpus of what words mean.
    pub corpus: Option<PathBuf>,
    /// Or a table of how often items are met, alone and together.
    pub counts: Option<PathBuf>,
    /// Or vectors of words. With nothing, the release itself tells what goes together.
    pub vectors: Option<PathBuf>,
    /// How words are cut into pieces, where that is not beside the vectors.
    pub tokenizer: Option<PathBuf>,
    /// The attacks; with none nothing is tried.
    pub eliminate: Vec<Method>,
    /// How many items beside a generalised one count, the rarest first; all if none.
    pub context: Option<usize>,
    /// How many records of a generalised item are looked at.
    pub rows: usize,
    /// Where the randomness of attacks starts.
    pub seed: u64,
    /// By how much more often than blindly an attack may be right.
    pub most_beyond_blind: Option<f64>,
}

impl Meaning {
    /// What the attack is asked for.
    pub fn options(&self) -> Options {
        Options { methods: self.eliminate.clone(), context: self.context, rows: self.rows, seed: self.seed }
    }
}

/// What is asked for by `[attack]`, if terms are recoded. Errors name the key.
pub(super) fn resolve(written: &written::Attack, is_recoding: bool, folder: &Path) -> Result<Option<Meaning>> {
    let refuse = |key, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
    if !is_recoding {
        return match own(written).into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let hint = "remove it, or name a method that recodes terms: method = \"coat\" under [protect]";
                refuse(key, "is for sets whose terms are recoded", hint)
            }
            None => Ok(None),
        };
    }
    if let Some((key, _)) = foreign(written).into_iter().find(|(_, is_given)| *is_given) {
        let hint = "remove it: recoded sets are attacked by what words mean, with corpus, counts and eliminate";
        return refuse(key, "is for disassociation only", hint);
    }
    if written.corpus.is_some() && written.counts.is_some() {
        return refuse("attack.counts", "tells what words mean, and so does attack.corpus", "remove one of them");
    }
    if written.vectors.is_some() && (written.corpus.is_some() || written.counts.is_some()) {
        let problem = "tell what words mean, and so does attack.corpus or attack.counts";
        return refuse("attack.vectors", problem, "remove one of them");
    }
    if written.tokenizer.is_some() && written.vectors.is_none() {
        return refuse("attack.tokenizer", "is for vectors of words, and there are none", "name them: attack.vectors");
    }
    for (key, n) in [("attack.context", written.context), ("attack.rows", written.rows)] {
        if n == Some(0) {
            return refuse(key, "must be at least 1", "remove the key, or write a larger number");
        }
    }
    if written.most_beyond_blind.is_some_and(|most| !(0.0..=1.0).contains(&most)) {
        return refuse("attack.most_beyond_blind", "is not a difference of shares", "a number from 0 to 1, as 0.1");
    }
    let mut eliminate = written.eliminate.clone().unwrap_or_else(|| METHODS.to_vec());
    let mut seen = Vec::new();
    eliminate.retain(|method| {
        !seen.contains(method) && {
            seen.push(*method);
            true
        }
    });
    let file = |name: &Option<String>| name.as_ref().map(|name| folder.join(name));
    Ok(Some(Meaning {
        corpus: file(&written.corpus),
        counts: file(&written.counts),
        vectors: file(&written.vectors),
        tokenizer: file(&written.tokenizer),
        eliminate,
        context: written.context.map(|n| n as usize),
        rows: written.rows.map_or(ROWS, |n| n as usize),
        seed: written.seed.unwrap_or(0),
        most_beyond_blind: written.most_beyond_blind,
    }))
}

/// Keys that only recoded sets know, and whether they are there.
fn own(written: &written::Attack) -> [(&'static str, bool); 9] {
    [
        ("attack.corpus", written.corpus.is_some()),
        ("attack.counts", written.counts.is_some()),
        ("attack.vectors", written.vectors.is_some()),
        ("attack.tokenizer", written.tokenizer.is_some()),
        ("attack.eliminate", written.eliminate.is_some()),
        ("attack.context", written.context.is_some()),
        ("attack.rows", written.rows.is_some()),
        ("attack.seed", written.seed.is_some()),
        ("attack.most_beyond_blind", written.most_beyond_blind.is_some()),
    ]
}

/// Keys that recoded sets do not know, and whether they are there.
fn foreign(written: &written::Attack) -> [(&'static str, bool); 4] {
    [
        ("attack.run", written.run.is_some()),
        ("attack.steps", written.steps.is_some()),
        ("attack.most_certain", written.most_certain.is_some()),
        ("attack.most_likely", written.most_likely.is_some()),
    ]
}
