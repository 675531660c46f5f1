//! The part of a recipe that is about recoding sets of terms: the methods of `[protect]` other than disassociation.
//!
//! Promises:   what a method needs is there, and what it does not know is refused with its key
//! Checked by: `crates/disjoin-cli/tests/recoding.rs`

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::written;
use crate::error::{Error, Result};

/// A method that publishes records of groups of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// k^m-anonymity by taking terms out of all records.
    Suppression,
    /// k^m-anonymity by taking terms out of single records.
    SuppressionPartial,
    /// Privacy constraints, the rarest term first.
    Coat,
    /// Privacy constraints, the cheapest merge first.
    Pcta,
}

impl Method {
    /// All methods with their names.
    pub const ALL: [(&'static str, Method); 4] = [
        ("suppression", Method::Suppression),
        ("suppression-partial", Method::SuppressionPartial),
        ("coat", Method::Coat),
        ("pcta", Method::Pcta),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Whether it works by privacy constraints, and not by m.
    pub fn has_constraints(self) -> bool {
        matches!(self, Method::Coat | Method::Pcta)
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recoding {
    /// How it is done.
    pub method: Method,
    /// The size of the crowd.
    pub k: u32,
    /// How many terms an adversary may know; constraints say which terms instead.
    pub m: u32,
    /// The file of privacy constraints.
    pub privacy: Option<PathBuf>,
    /// The file of utility constraints.
    pub utility: Option<PathBuf>,
    /// Whether constraints are protected as a whole only, and not their parts.
    pub whole_constraints: bool,
    /// The largest share of terms that may be suppressed.
    pub max_suppressed: f64,
    /// Whether to suppress more where it must be.
    pub force: bool,
}

/// What is asked for by `[protect]`, if its method is one of these; nothing is checked yet.
pub fn recoding(written: &written::Protect, k: u32, m: u32) -> Option<Recoding> {
    let method = written.method?.recoding()?;
    Some(Recoding {
        method,
        k,
        m,
        privacy: written.privacy.as_ref().map(PathBuf::from),
        utility: written.utility.as_ref().map(PathBuf::from),
        whole_constraints: written.whole_constraints.unwrap_or(false),
        max_suppressed: written.max_suppressed.unwrap_or(0.0),
        force: written.force.unwrap_or(false),
    })
}

/// Keys of `[protect]` that only these methods know, and whether they are there.
pub(super) fn own(written: &written::Protect) -> [(&'static str, bool); 4] {
    [
        ("protect.privacy", written.privacy.is_some()),
        ("protect.whole_constraints", written.whole_constraints.is_some()),
        ("protect.max_suppressed", written.max_suppressed.is_some()),
        ("protect.force", written.force.is_some()),
    ]
}

/// Keys of `[protect]` that these methods do not know, and whether they are there.
pub(super) fn foreign(written: &written::Protect) -> [(&'static str, bool); 8] {
    [
        ("protect.grouping", written.grouping.is_some()),
        ("protect.max_cluster", written.max_cluster.is_some()),
        ("protect.promise", written.promise.is_some()),
        ("protect.refine", written.refine.is_some()),
        ("protect.sensitive", written.sensitive.is_some()),
        ("protect.l_diversity", written.l_diversity.is_some()),
        ("protect.diversity_rule", written.diversity_rule.is_some()),
        ("protect.weights", written.weights.is_some()),
    ]
}

impl Recoding {
    /// Relative paths start at a folder.
    pub(super) fn start_at(&mut self, folder: &Path) {
        for file in [&mut self.privacy, &mut self.utility].into_iter().flatten() {
            *file = folder.join(&*file);
        }
    }

    /// Refuses what has no meaning, before anything is read. Keys are named as flags.
    pub fn check(&self) -> Result<()> {
        let name = self.method.name();
        let refuse = |key, problem: String, hint: &str| Err(Error::recipe(key, problem, hint));
        if self.k < 2 {
            return refuse("-k", "must be at least 2: a crowd of one hides nobody".into(), "usual values are 3 to 20");
        }
        if self.m < 1 {
            return refuse("-m", "must be at least 1".into(), "usual values are 2 or 3");
        }
        if !(0.0..=1.0).contains(&self.max_suppressed) {
            return refuse("--max-suppressed", "must be a share".into(), "a number from 0 to 1, for example 0.05");
        }
        if self.method.has_constraints() && self.privacy.is_none() {
            let hint = "name a file of privacy constraints; `disjoin policy` writes one";
            return refuse("--privacy", format!("is needed by the method {name}"), hint);
        }
        let of_constraints = [
            ("--privacy", self.privacy.is_some()),
            ("--utility", self.utility.is_some()),
            ("--whole-constraints", self.whole_constraints),
            ("--max-suppressed", self.max_suppressed > 0.0),
            ("--force", self.force),
        ];
        for (key, is_given) in of_constraints {
            if is_given && !self.method.has_constraints() {
                return refuse(key, format!("is not known by the method {name}"), "leave it out, or use coat or pcta");
            }
        }
        Ok(())
    }
}
