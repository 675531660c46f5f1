//! What could an adversary learn? Attacks see a release and what the adversary knows beforehand, never the original.
//!
//! An [`Attack`] turns a [`View`] into [`Findings`]: statements about clusters of the release. Whether they are true is
//! for [`judge`] to say, and for [`summary`] to tell. Only they and [`background`], which stands for what the adversary knew
//! before, see the original; so do [`attackers`] and [`stronger`](mod@stronger), which draw that knowledge. Of tables, [`background_knowledge`] says what is believed of people who are in a class, and
//! [`against_prior`], which is given the truth, whether that is any better than before; of split tables,
//! [`knowledge_breach`](mod@knowledge_breach) says how likely sensitive values are guessed, and
//! [`network_breach`](mod@network_breach) how likely by somebody who knows how they go together. [`dependency`] finds the rules
//! between columns that rows show, and [`surviving`](mod@surviving) tells which of them a release still has.
//!
//! [`rerun`](mod@rerun) is given the program, as everybody may have it, and runs it on possible originals.

pub mod against_prior;
pub mod attackers;
pub mod background;
pub mod background_knowledge;
pub mod dependency;
pub mod judge;
pub mod knowledge_breach;
pub mod network_breach;
pub mod person_breach;

pub mod closure;
pub mod cover;
mod order;
mod originals;
pub mod rerun;
pub mod shared;
pub mod witness;
pub mod worlds;

mod assignment;
pub mod identity;
pub mod reassociate;
mod room;
pub mod stronger;

pub mod semantic;

pub mod summary;
pub mod surviving;

use std::collections::HashSet;

use serde::Serialize;

use crate::data::TermId;
use crate::observer::Observer;
use crate::release::{CutRule, Disassociated};

pub use against_prior::{Before, Gain, Mean, gain};
pub use background::{Attacker, knowledge};
pub use background_knowledge::{ClassView, Inference, Loss, Posteriors, loss, posteriors};
pub use closure::Closure;
pub use cover::Cover;
pub use judge::{Rate, Score, Truth, baseline};
pub use knowledge_breach::{BreachReport, knowledge_breach};
pub use network_breach::{NetworkBreach, network_breach};
pub use person_breach::{PersonBreach, person_breach};
pub use rerun::{Looked, Program, Reran, rerun};
pub use room::check_room;
pub use surviving::{Surviving, surviving};
pub use worlds::Worlds;

/// A way of getting more out of a release than was meant to be in it.
///
/// All that an attack is given is the view: there is no way from here to the original.
pub trait Attack {
    /// A short name: letters, digits, dashes.
    fn name(&self) -> &'static str;

    /// What the adversary concludes.
    fn run(&self, view: &View<'_>) -> Findings;
}

/// What an adversary has in hand.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The release, in the order of its file.
    pub release: &'a Disassociated,
    /// How clusters were cut into chunks, as everybody may know; an adversary can be wrong about it.
    pub cut: CutRule,
    /// What is known about people beforehand.
    pub knowledge: &'a Knowledge,
    /// Who watches the attack, and may stop it.
    pub observer: &'a dyn Observer,
}

/// What an adversary knows about people before seeing the release.
#[derive(Debug, Clone)]
pub enum Knowledge {
    /// Any m terms of any person.
    Anything,
    /// These sets of terms, ascending, each of some person.
    Itemsets(HashSet<Vec<TermId>>),
}

impl Knowledge {
    /// Whether somebody is known to have these terms, ascending.
    pub fn has(&self, terms: &[TermId]) -> bool {
        match self {
            Knowledge::Anything => true,
            Knowledge::Itemsets(itemsets) => itemsets.contains(terms),
        }
    }
}

/// What an attack concludes, and how much of the release it could look at.
#[derive(Debug, Clone, Serialize)]
pub struct Findings {
    /// The attack's name.
    pub attack: &'static str,
    /// What kind of statement the findings are.
    pub says: Says,
    /// The findings, the surest first.
    pub found: Vec<Finding>,
    /// How far the attack got.
    pub coverage: Coverage,
}

/// What a finding states about its cluster and its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Says {
    /// Fewer than k records of the cluster, but at least one, hold all of the terms, if anybody does.
    FewerThanK,
    /// Some record of the cluster holds all of the terms.
    Together,
}

/// One statement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The simple cluster, numbered depth first through the release.
    pub leaf: u32,
    /// The terms, ascending.
    pub terms: Vec<TermId>,
    /// Terms that whoever has those has as well, ascending.
    pub learned: Vec<TermId>,
    /// How sure the adversary is: 1 is certain.
    pub confidence: f64,
}

/// How many clusters an attack could decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Simple clusters in the release.
    pub clusters: u64,
    /// Of these, for how many nothing is left to find.
    pub proved: u64,
    /// For how many something was left open.
    pub open: u64,
}
