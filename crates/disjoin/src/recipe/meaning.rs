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
    /// A corpus: how terms are related.
    pub corpus: Option<PathBuf>,
    /// Or a table of how often items are met, alone and together.
    pub counts: Option<PathBuf>,
    /// Or vectors of words. With nothing, co-occurrence in the release itself.
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
}

impl Meaning {
    /// What the attack is asked for.
    pub fn options(&self) -> Options {
        Options { methods: self.eliminate.clone(), context: self.context, rows: self.rows, seed: self.seed }
    }
}

/// What is asked for by `[attack]`, if terms are recoded. Errors name the key.
pub(super) fn resolve(written: &written::Attack, is_recoding: bool, folder: &Path) -> Result<Option<Meaning>> {
    let refuse = |key: &'static str, problem: &str, hint: &str| Err(Error::recipe(key, problem, hint));
    if !is_recoding {
        return Ok(None);
    }
    if written.corpus.is_some() && written.counts.is_some() {
        return refuse(
            "attack.counts",
            "is knowledge for semantic attacks, and so is attack.corpus",
            "remove one of them",
        );
    }
    if written.vectors.is_some() && (written.corpus.is_some() || written.counts.is_some()) {
        let problem = "are knowledge for semantic attacks, and so is attack.corpus or attack.counts";
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
    }))
}
