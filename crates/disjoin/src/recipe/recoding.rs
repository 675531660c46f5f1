//! The part of a recipe that is about recoding sets of terms: the methods of `[protect]` other than disassociation.
//!
//! Promises:   what a method needs is there, and what it does not know is refused with its key
//! Checked by: `crates/disjoin-cli/tests/it/recoding.rs`

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::written;
use crate::error::{Error, Result};
use crate::protect::recoding::CostRule;

/// A method that publishes records of groups of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// k^m-anonymity by generalisation along a hierarchy, the same for all records.
    Apriori,
    /// The same in blocks of similar records, each by itself.
    Lra,
    /// The same, first in parts of the terms.
    Vpa,
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
    pub const ALL: [(&'static str, Method); 7] = [
        ("apriori", Method::Apriori),
        ("lra", Method::Lra),
        ("vpa", Method::Vpa),
        ("suppression", Method::Suppression),
        ("suppression-partial", Method::SuppressionPartial),
        ("coat", Method::Coat),
        ("pcta", Method::Pcta),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Method::ALL.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Whether it generalises along a hierarchy.
    pub fn has_hierarchy(self) -> bool {
        matches!(self, Method::Apriori | Method::Lra | Method::Vpa)
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
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many terms of background knowledge an adversary has; constraints say which terms instead.
    pub m: u32,
    /// The file that says what generalises what.
    pub hierarchy: Option<PathBuf>,
    /// Or how many children a node has in a hierarchy over the sorted terms.
    pub fanout: Option<usize>,
    /// What a generalisation costs.
    pub cost: CostRule,
    /// The least number of records of a block, for lra; its default if it is missing.
    pub block: Option<usize>,
    /// The number of parts of the terms, for vpa.
    pub parts: Option<usize>,
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
        hierarchy: written.hierarchy.as_ref().map(PathBuf::from),
        fanout: written.fanout,
        cost: written.cost.unwrap_or_default(),
        block: written.block,
        parts: written.parts,
        privacy: written.privacy.as_ref().map(PathBuf::from),
        utility: written.utility.as_ref().map(PathBuf::from),
        whole_constraints: written.whole_constraints.unwrap_or(false),
        max_suppressed: written.max_suppressed.unwrap_or(0.0),
        force: written.force.unwrap_or(false),
    })
}

impl Recoding {
    /// Generalisation along a hierarchy over the sorted terms, and the usual of everything else.
    pub fn by_hierarchy(method: Method, k: u32, m: u32, fanout: usize) -> Self {
        Recoding { fanout: Some(fanout), ..Recoding::new(method, k, m) }
    }

    /// The usual of everything that is not said here.
    pub fn new(method: Method, k: u32, m: u32) -> Self {
        Recoding {
            method,
            k,
            m,
            hierarchy: None,
            fanout: None,
            cost: CostRule::default(),
            block: None,
            parts: None,
            privacy: None,
            utility: None,
            whole_constraints: false,
            max_suppressed: 0.0,
            force: false,
        }
    }

    /// Relative paths start at a folder.
    pub(super) fn start_at(&mut self, folder: &Path) {
        for file in [&mut self.privacy, &mut self.utility, &mut self.hierarchy].into_iter().flatten() {
            *file = folder.join(&*file);
        }
    }

    /// Refuses what has no meaning, before anything is read. Which keys a method knows is for the registry to say.
    pub fn check(&self) -> Result<()> {
        let name = self.method.name();
        let refuse = |key: &'static str, problem: String, hint: &str| Err(Error::recipe(key, problem, hint));
        if self.k < 2 {
            return refuse("protect.k", "must be at least 2".into(), "usual values are 3 to 20");
        }
        if self.m < 1 {
            return refuse("protect.m", "must be at least 1".into(), "usual values are 2 or 3");
        }
        if !(0.0..=1.0).contains(&self.max_suppressed) {
            let hint = "a number from 0 to 1, for example 0.05";
            return refuse("protect.max_suppressed", "must be a share".into(), hint);
        }
        if self.method.has_constraints() && self.privacy.is_none() {
            let hint = "name a file of privacy constraints; `disjoin policy` writes one";
            return refuse("protect.privacy", format!("is needed by the method {name}"), hint);
        }
        if self.method.has_hierarchy() && self.hierarchy.is_none() && self.fanout.is_none() {
            let hint = "name a file, or a fanout of 10 to make a hierarchy over the sorted terms";
            return refuse("protect.hierarchy", format!("is needed by the method {name}"), hint);
        }
        if self.hierarchy.is_some() && self.fanout.is_some() {
            return refuse("protect.fanout", "makes a hierarchy, and one is given".into(), "leave one of them out");
        }
        Ok(())
    }
}
