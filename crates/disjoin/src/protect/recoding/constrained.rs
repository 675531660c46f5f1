//! Groups of terms that grow until every privacy constraint is satisfied: what COAT and PCTA have in common.
//!
//! A constraint is satisfied if no record of the release has it, or k and more. It is worked on until it is: the
//! algorithm names two groups to merge, or, where merging cannot help, a group of the constraint is suppressed.
//!
//! Paper:      loukides2011 (COAT), loukides2010 (CBA); their bodies could not be read: see spec D.1 and D.2
//! Promises:   every privacy constraint, and with `subsets` every part of one, is in no record or in k and more; groups
//!             are within utility sets; terms of no utility set are themselves or suppressed; no more terms are
//!             suppressed than allowed, unless forced
//! Assumes:    the adversary knows terms of privacy constraints only, and a suppressed term tells nothing
//! Departs:    (1) constraints that no record has are looked at again after each merge, which can bring 1 to k - 1
//!             records. One pass that drops what is satisfied, as in D.2, leaves them violated: the oracle shows it.
//!             (2) a group is suppressed as soon as all utility sets of a constraint, merged whole, would still not do.
//!             The loop of D.1 merges a whole set first and then suppresses all of it.
//!             (3) a merge that neither brings a new record to a group of the constraint nor joins two of its groups
//!             is not made: it would cost and not help.
//!             (4) the limit of suppression is a share of the terms, not of occurrences. The loop goes on beyond it, so
//!             that a refusal can say which share is needed
//! Cost:       for each merge a pass over the records that hold the groups in question, and the supports, counted up to
//!             k, of the constraints not yet satisfied that they are in
//! Checked by: tests/it/constrained.rs: an oracle on random data, and all recodings on small data

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::lists::{common, union};
use crate::data::{RecordId, TermId, Transactions};
use crate::error::{Error, Result};

use crate::data::Recoding;
use crate::observer::Observer;
use crate::read::policy::Policy;
use crate::release::recoded::utility_loss::{self, Loss, UtilityLoss};

/// More parts of constraints than this are not a policy but a mistake, and would not fit into memory.
const MAX_PARTS: u64 = 1 << 22;

/// Stands for the group of a suppressed term.
const GONE: GroupId = GroupId::MAX;

/// A group of terms: the smallest of them.
pub(crate) type GroupId = TermId;

/// Names the two groups to merge for a constraint, given as its groups; none if no merge can help it.
type Choose = fn(&mut Groups<'_>, &[GroupId]) -> Option<(GroupId, GroupId)>;

/// What to keep, beside the policy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// A constraint must be in so many records, or in none. At least 2.
    pub k: u32,
    /// The largest share of all terms that may be suppressed, from 0 to 1.
    pub max_suppressed: f64,
    /// Whether every part of a privacy constraint must be satisfied too.
    pub subsets: bool,
    /// Whether to go on where more terms must be suppressed than allowed.
    pub force: bool,
}

impl Params {
    /// Parts of constraints are protected too, and nothing may be suppressed.
    pub fn new(k: u32) -> Self {
        Params { k, max_suppressed: 0.0, subsets: true, force: false }
    }

    fn check(&self) -> Result<()> {
        if self.k < 2 {
            let problem = "must be at least 2: one record alone can always be told apart";
            return Err(Error::recipe("protect.k", problem, "usual values are 3 to 20"));
        }
        if !(0.0..=1.0).contains(&self.max_suppressed) {
            return Err(Error::recipe("max-suppressed", "must be a share", "a number from 0 to 1, for example 0.05"));
        }
        Ok(())
    }
}

/// A recoding that satisfies a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// What each term became.
    pub recoding: Recoding,
    /// What that costs.
    pub loss: UtilityLoss,
    /// What was done.
    pub stats: Stats,
}

/// What was done to satisfy a policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Privacy constraints, their parts included if they count, each once.
    pub constraints: u64,
    /// Those of them that the records did not satisfy.
    pub violated: u64,
    /// Pairs of groups that were merged.
    pub merges: u64,
    /// Terms that were suppressed.
    pub suppressed_terms: u64,
    /// Their share of all terms.
    pub suppressed_term_share: f64,
    /// The share of their occurrences in all occurrences.
    pub suppressed_occurrence_share: f64,
    /// Utility constraints with a suppressed term: these are not met.
    pub utility_sets_hit: u64,
    /// Whether more terms were suppressed than allowed.
    pub is_over_limit: bool,
}

/// Satisfies a policy by merging as `choose` says.
pub(crate) fn protect(
    records: &Transactions,
    n_terms: usize,
    policy: &Policy,
    params: &Params,
    choose: Choose,
    observer: &dyn Observer,
) -> Result<Outcome> {
    params.check()?;
    policy.check(n_terms)?;
    if records.all_terms().iter().any(|&term| term as usize >= n_terms) {
        return Err(Error::Internal("records have terms beyond the dictionary"));
    }
    let mut groups = Groups::new(records, n_terms, policy, observer);
    let mut constraints = Constraints::new(policy, params, &groups)?;
    let mut stats = Stats { constraints: constraints.sets.len() as u64, ..Stats::default() };
    stats.violated = constraints.queue.len() as u64;
    let mut refusal = None;
    while let Some(constraint) = constraints.next() {
        while constraints.is_violated(constraint) {
            observer.check();
            let of_constraint = groups.of_set(&constraints.sets[constraint].terms);
            let can_do = groups.reach(&of_constraint, params.k) >= params.k;
            if let Some((one, other)) = choose(&mut groups, &of_constraint).filter(|_| can_do) {
                let merged = groups.merge(one, other);
                stats.merges += 1;
                constraints.merge(&groups, one, other, merged);
                continue;
            }
            let Some(&rarest) = of_constraint.iter().min_by_key(|&&group| groups.rarity(group)) else {
                return Err(Error::Internal("a violated constraint has no group"));
            };
            stats.suppressed_terms += groups.members[rarest as usize].len() as u64;
            stats.suppressed_term_share = stats.suppressed_terms as f64 / n_terms as f64;
            if stats.suppressed_term_share > params.max_suppressed && refusal.is_none() {
                refusal = Some((constraints.sets[constraint].of, groups.utility_of[rarest as usize]));
            }
            groups.suppress(rarest);
            constraints.suppress(rarest);
        }
    }
    stats.is_over_limit = refusal.is_some();
    if let Some((constraint, utility)) = refusal.filter(|_| !params.force) {
        return Err(refuse(constraint, utility, params, stats.suppressed_term_share));
    }
    let recoding = groups.recoding().ok_or(Error::Internal("a term is in two groups"))?;
    let is_gone = |term: TermId| groups.of_term[term as usize] == GONE;
    let occurrences = records.all_terms().iter().filter(|&&term| is_gone(term)).count();
    stats.suppressed_occurrence_share = occurrences as f64 / records.n_incidences().max(1) as f64;
    stats.utility_sets_hit = policy.utility.iter().filter(|set| set.iter().any(|&term| is_gone(term))).count() as u64;
    Ok(Outcome { loss: utility_loss::of_recoding(records, &recoding), recoding, stats })
}

fn refuse(constraint: u32, utility: Option<u32>, params: &Params, needed: f64) -> Error {
    let k = params.k;
    let why = match utility {
        Some(set) => format!("even if utility constraint {} is merged into one group", set + 1),
        None => String::from("as one of its terms is in no utility constraint and cannot be generalised"),
    };
    // Rounded up, so that whoever takes the number by its word is not refused again.
    let needed = (needed * 1e4).ceil() / 1e4;
    Error::Infeasible {
        problem: format!(
            "the utility constraints cannot be satisfied: privacy constraint {} stays below k = {k} records, {why}, \
             and no more than {} % of the terms may be suppressed",
            constraint + 1,
            params.max_suppressed * 100.0,
        ),
        hint: format!(
            "allow a share of {needed} of the terms to be suppressed, put more terms into the utility constraint, or \
             lower k"
        ),
    }
}

/// Terms in groups, and who holds them.
pub(crate) struct Groups<'a> {
    records: &'a Transactions,
    of_term: Vec<GroupId>,
    /// By group; empty for terms that are in the group of another.
    members: Vec<Vec<TermId>>,
    /// By group the records that hold a member, ascending.
    holders: Vec<Vec<RecordId>>,
    /// By term.
    utility_of: Vec<Option<u32>>,
    /// By utility set its groups that any record holds.
    live: Vec<Vec<GroupId>>,
    /// By utility set the records that hold any of its terms, once asked for.
    whole: Vec<Option<Vec<RecordId>>>,
    /// By group the last visit and in how many records it was met; only for [`Groups::best_partner`].
    met: Vec<(u64, u32)>,
    visits: u64,
    observer: &'a dyn Observer,
}

impl<'a> Groups<'a> {
    fn new(records: &'a Transactions, n_terms: usize, policy: &Policy, observer: &'a dyn Observer) -> Self {
        let mut holders = vec![Vec::new(); n_terms];
        for (record, id) in records.iter().zip(0..) {
            record.iter().for_each(|&term| holders[term as usize].push(id));
        }
        let utility_of = policy.utility_of_terms(n_terms);
        let mut live = vec![Vec::new(); policy.utility.len()];
        for (utility, term) in utility_of.iter().zip(0_u32..) {
            if let Some(set) = utility.filter(|_| !holders[term as usize].is_empty()) {
                live[set as usize].push(term);
            }
        }
        Groups {
            records,
            of_term: (0..n_terms as GroupId).collect(),
            members: (0..n_terms as TermId).map(|term| vec![term]).collect(),
            holders,
            utility_of,
            whole: vec![None; live.len()],
            live,
            met: vec![(0, 0); n_terms],
            visits: 0,
            observer,
        }
    }

    /// Rarer groups first, then cheaper ones, then by id.
    pub(crate) fn rarity(&self, group: GroupId) -> (usize, usize, GroupId) {
        // Of groups in as many records the smaller one has the smaller loss.
        (self.holders[group as usize].len(), self.members[group as usize].len(), group)
    }

    /// The group with which this one is merged at the least loss, of those that can help a constraint, and that loss.
    pub(crate) fn best_partner(&mut self, group: GroupId, of_constraint: &[GroupId]) -> Option<(Loss, GroupId)> {
        self.observer.check();
        let utility = self.utility_of[group as usize]?;
        let live = &self.live[utility as usize];
        live.iter().for_each(|&other| self.met[other as usize] = (0, 0));
        for &holder in &self.holders[group as usize] {
            self.visits += 1;
            for &term in self.records.record(holder) {
                // Groups of other utility sets are counted too, which is cheaper than to leave them out.
                if let Some((visit, count)) = self.met.get_mut(self.of_term[term as usize] as usize)
                    && std::mem::replace(visit, self.visits) != self.visits
                {
                    // Nobody reads the counts of terms in no utility set, which are never set back.
                    *count = count.wrapping_add(1);
                }
            }
        }
        let size = self.members[group as usize].len();
        let support = self.holders[group as usize].len() as u32;
        let mut best: Option<(Loss, GroupId)> = None;
        for &other in live.iter().filter(|&&other| other != group) {
            let new = self.holders[other as usize].len() as u32 - self.met[other as usize].1;
            if new == 0 && !of_constraint.contains(&other) {
                continue;
            }
            let loss = Loss::of_group(size + self.members[other as usize].len(), support + new);
            if best.is_none_or(|(least, least_other)| loss < least || (loss == least && other < least_other)) {
                best = Some((loss, other));
            }
        }
        best
    }

    /// The groups of a set of terms, each once; none if one of them is gone.
    fn of_set(&self, terms: &[TermId]) -> Vec<GroupId> {
        let mut groups: Vec<GroupId> = terms.iter().map(|&term| self.of_term[term as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        if groups.last() == Some(&GONE) {
            groups.clear();
        }
        groups
    }

    /// In how many records a set of terms is, counted up to k.
    fn support(&self, terms: &[TermId], k: u32) -> u32 {
        self.observer.check();
        common(self.of_set(terms).iter().map(|&group| &self.holders[group as usize][..]).collect(), k)
    }

    /// In how many records these groups would be if each was its whole utility set, counted up to k.
    fn reach(&mut self, groups: &[GroupId], k: u32) -> u32 {
        for &group in groups {
            if let Some(set) = self.utility_of[group as usize]
                && self.whole[set as usize].is_none()
            {
                let mut is_in = vec![false; self.records.len()];
                for &group in &self.live[set as usize] {
                    self.holders[group as usize].iter().for_each(|&record| is_in[record as usize] = true);
                }
                let whole = is_in.iter().zip(0..).filter(|(is_in, _)| **is_in).map(|(_, record)| record);
                self.whole[set as usize] = Some(whole.collect());
            }
        }
        let list = |&group: &GroupId| match self.utility_of[group as usize] {
            Some(set) => self.whole[set as usize].as_deref().unwrap_or_default(),
            None => &self.holders[group as usize][..],
        };
        common(groups.iter().map(list).collect(), k)
    }

    /// Makes two groups of one utility set into one.
    fn merge(&mut self, one: GroupId, other: GroupId) -> GroupId {
        let (into, from) = (one.min(other), one.max(other));
        let moved = std::mem::take(&mut self.members[from as usize]);
        moved.iter().for_each(|&term| self.of_term[term as usize] = into);
        self.members[into as usize].extend(moved);
        let lost = std::mem::take(&mut self.holders[from as usize]);
        self.holders[into as usize] = union(&self.holders[into as usize], &lost);
        self.remove_live(from);
        into
    }

    /// Takes the terms of a group out of all records.
    fn suppress(&mut self, group: GroupId) {
        self.remove_live(group);
        if let Some(set) = self.utility_of[group as usize] {
            self.whole[set as usize] = None;
        }
        std::mem::take(&mut self.members[group as usize]).iter().for_each(|&term| self.of_term[term as usize] = GONE);
        self.holders[group as usize] = Vec::new();
    }

    fn remove_live(&mut self, group: GroupId) {
        if let Some(set) = self.utility_of[group as usize] {
            self.live[set as usize].retain(|&other| other != group);
        }
    }

    fn recoding(&self) -> Option<Recoding> {
        Recoding::from_groups(self.of_term.len(), self.members.iter().cloned())
    }
}

/// A privacy constraint or a part of one.
struct Constraint {
    terms: Vec<TermId>,
    /// Its number in the policy.
    of: u32,
    /// In how many records it is, counted up to k.
    support: u32,
}

/// The constraints, and which of them is next.
struct Constraints {
    k: u32,
    sets: Vec<Constraint>,
    /// By group the constraints it is in, ascending, without those that are in k records: these stay so, or are gone.
    of_group: Vec<Vec<u32>>,
    /// Violated constraints by support, most first, then by size and number, least first. Entries may be out of date.
    queue: BinaryHeap<(u32, Reverse<usize>, Reverse<u32>)>,
}

impl Constraints {
    fn new(policy: &Policy, params: &Params, groups: &Groups<'_>) -> Result<Self> {
        let sets = if params.subsets { parts(&policy.privacy)? } else { wholes(&policy.privacy) };
        let of_group = vec![Vec::new(); groups.of_term.len()];
        let mut constraints = Constraints { k: params.k, sets, of_group, queue: BinaryHeap::new() };
        for number in 0..constraints.sets.len() as u32 {
            if constraints.count(groups, number) {
                for &term in &constraints.sets[number as usize].terms {
                    constraints.of_group[term as usize].push(number);
                }
            }
        }
        Ok(constraints)
    }

    /// The violated constraint that is nearest to k.
    fn next(&mut self) -> Option<usize> {
        while let Some((support, _, Reverse(number))) = self.queue.pop() {
            let number = number as usize;
            if self.sets[number].support == support && self.is_violated(number) {
                return Some(number);
            }
        }
        None
    }

    fn is_violated(&self, number: usize) -> bool {
        (1..self.k).contains(&self.sets[number].support)
    }

    /// Counts a constraint again; whether it is in fewer than k records.
    fn count(&mut self, groups: &Groups<'_>, number: u32) -> bool {
        let set = &mut self.sets[number as usize];
        let support = groups.support(&set.terms, self.k);
        if std::mem::replace(&mut set.support, support) != support && (1..self.k).contains(&support) {
            self.queue.push((support, Reverse(set.terms.len()), Reverse(number)));
        }
        support < self.k
    }

    fn merge(&mut self, groups: &Groups<'_>, one: GroupId, other: GroupId, merged: GroupId) {
        let lists = [one, other].map(|group| std::mem::take(&mut self.of_group[group as usize]));
        let mut numbers = union(&lists[0], &lists[1]);
        numbers.retain(|&number| self.sets[number as usize].support < self.k && self.count(groups, number));
        self.of_group[merged as usize] = numbers;
    }

    fn suppress(&mut self, group: GroupId) {
        for number in std::mem::take(&mut self.of_group[group as usize]) {
            self.sets[number as usize].support = 0;
        }
    }
}

/// The privacy constraints themselves, each once.
fn wholes(privacy: &[Vec<TermId>]) -> Vec<Constraint> {
    let mut seen = HashSet::new();
    let mut sets = Vec::new();
    for (set, of) in privacy.iter().zip(0..) {
        let mut terms = set.clone();
        terms.sort_unstable();
        terms.dedup();
        if seen.insert(terms.clone()) {
            sets.push(Constraint { terms, of, support: 0 });
        }
    }
    sets
}

/// All parts of privacy constraints, each once.
fn parts(privacy: &[Vec<TermId>]) -> Result<Vec<Constraint>> {
    let mut seen = HashSet::new();
    let mut parts = Vec::new();
    let mut n_parts = 0_u64;
    for whole in wholes(privacy) {
        n_parts = n_parts.saturating_add(1_u64.checked_shl(whole.terms.len() as u32).unwrap_or(u64::MAX));
        if n_parts > MAX_PARTS {
            let problem = format!("constraint {} has {} terms: too many parts", whole.of + 1, whole.terms.len());
            let hint = "shorten it, or protect whole constraints only (subsets = false)";
            return Err(Error::recipe("privacy constraints", problem, hint));
        }
        for mask in 1_u64..1 << whole.terms.len() {
            let in_mask = |&(_, at): &(&TermId, u32)| mask >> at & 1 == 1;
            let terms: Vec<TermId> = whole.terms.iter().zip(0..).filter(in_mask).map(|(&term, _)| term).collect();
            if seen.insert(terms.clone()) {
                parts.push(Constraint { terms, of: whole.of, support: 0 });
            }
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_listed_once_and_not_without_end() {
        let listed = |privacy: &[Vec<TermId>]| {
            parts(privacy).map(|parts| parts.into_iter().map(|part| (part.terms, part.of)).collect::<Vec<_>>())
        };
        let expected = vec![(vec![1], 0), (vec![2], 0), (vec![1, 2], 0), (vec![3], 1), (vec![2, 3], 1)];
        assert_eq!(listed(&[vec![2, 1, 2], vec![2, 3], vec![1, 2]]).unwrap(), expected);
        assert!(matches!(listed(&[(0..70).collect()]), Err(Error::Recipe { .. })));
        assert!(matches!(listed(&[(0..30).collect()]), Err(Error::Recipe { .. })));
    }
}
