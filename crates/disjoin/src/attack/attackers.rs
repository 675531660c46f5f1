//! What attackers of three strengths get out of cover problems: the four counters of Algorithm 1, and whose whole record it is.
//!
//! A record is *vulnerable* if it holds a pair x, y that the attacker knows and that fewer than k records of its cluster hold.
//! It is disclosed *whole* if what is known and what follows (I, of the cover problem) are all terms that it has: the paper's
//! "complete de-anonymization".
//!
//! Paper:      barakat2016, sections 4, 5.2 and 6, Algorithm 1
//! Promises:   the same seed gives the same counts; without the original nothing is said of records
//! Assumes:    the attacker knows the rule by which clusters were cut
//! Departs:    the paper only asks how many records are de-anonymised, and does not count them
//! Cost:       that of the cover test for each attacker
//! Checked by: tests/it/attack.rs: figures 1 and 3 of the paper, and a slow count

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::cover::{Counters, count};
use super::judge::{Truth, concerned};
use super::{Attack, Attacker, Cover, Knowledge, Says, View, knowledge};
use crate::data::{RecordId, TermId};

/// The paper's classes of attackers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Those terms of each person that serve best.
    Strong,
    /// Random terms of some people.
    Moderate,
    /// Words that may or may not be somebody's.
    Weak,
}

impl Class {
    /// All of them, the strongest first.
    pub const ALL: [Class; 3] = [Class::Strong, Class::Moderate, Class::Weak];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Class::Strong => "strong",
            Class::Moderate => "moderate",
            Class::Weak => "weak",
        }
    }
}

/// The share of people of whom a moderate attacker knows something; the paper does not say.
pub const SHARE: f64 = 0.1;

/// What one attacker gets.
#[derive(Debug, Clone, Serialize)]
pub struct OfAttacker {
    /// Who it is.
    pub attacker: Class,
    /// How many sets of terms are known; nothing if any set may be.
    pub known: Option<u64>,
    /// What Algorithm 1 counts, in its readings.
    #[serde(flatten)]
    pub counters: Counters,
    /// With the original: records that hold a pair which is known and in fewer than k records of the cluster.
    pub vulnerable_records: Option<u64>,
    /// With the original: those of them that are disclosed whole.
    pub whole_records: Option<u64>,
}

/// Counts for each attacker. Moderate and weak ones know something of the original: without it they are left out.
pub fn of_attackers(view: &View<'_>, truth: Option<&Truth<'_>>, chosen: &[Class], seed: u64) -> Vec<OfAttacker> {
    let m = view.release.header.m as usize;
    let of = |&attacker: &Class| {
        view.observer.check();
        let known = match (attacker, truth) {
            (Class::Strong, _) => Knowledge::Anything,
            (Class::Moderate, Some(truth)) => knowledge(Attacker::Moderate { share: SHARE }, truth, m, seed),
            (Class::Weak, Some(truth)) => knowledge(Attacker::Weak, truth, m, seed),
            (Class::Moderate | Class::Weak, None) => return None,
        };
        let view = View { knowledge: &known, ..*view };
        let touched = truth.map(|truth| Touched::count(&view, truth));
        Some(OfAttacker {
            attacker,
            known: match &known {
                Knowledge::Anything => None,
                Knowledge::Itemsets(itemsets) => Some(itemsets.len() as u64),
            },
            counters: count(&view),
            vulnerable_records: touched.as_ref().map(|touched| touched.vulnerable.len() as u64),
            whole_records: touched.as_ref().map(|touched| touched.whole.len() as u64),
        })
    };
    Class::ALL.iter().filter(|class| chosen.contains(class)).filter_map(of).collect()
}

/// Records that findings are about.
#[derive(Default)]
struct Touched {
    vulnerable: HashSet<RecordId>,
    whole: HashSet<RecordId>,
}

impl Touched {
    fn count(view: &View<'_>, truth: &Truth<'_>) -> Self {
        let mut touched = Touched::default();
        for finding in Cover.run(view).found {
            let is_told = |term: &TermId| finding.terms.contains(term) || finding.learned.binary_search(term).is_ok();
            for record in concerned(Says::FewerThanK, &finding, truth, view.release.header.k) {
                touched.vulnerable.insert(record);
                if truth.records().record(record).iter().all(is_told) {
                    touched.whole.insert(record);
                }
            }
        }
        touched
    }
}
