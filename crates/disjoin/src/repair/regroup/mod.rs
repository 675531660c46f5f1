//! Regroups generalised sets until their neighbours give nothing away: conspicuous members change places with others that
//! fit the same records.
//!
//! Where an attack by meaning wins, the worst groups are taken one after the other. A member leaves for a term that goes with
//! the records of the group as well as its own do, alone or together with a term that goes with its own; or a term joins;
//! whatever makes added members hardest to tell from original ones. Then all attacks are made again, and judged by the
//! original.
//!
//! Paper:      ours, after shao2017, sections 6.2.3 and 7 (choose what is generalised together so that attacks find little)
//! Promises:   the release keeps its promise, which is proven anew after every exchange; terms are generalised only within its
//!             utility sets; no term is suppressed that was not. NCP stays below the limit. Of all rounds the one is
//!             returned whose strongest attack is weakest. The same for any number of threads
//! Assumes:    the original, and adversaries who each know what one scorer knows: one who knows more may still win. Whoever has
//!             both releases learns more than either tells
//! Cost:       for each group of a round and each adversary the distances of a thousand terms from a dozen contexts, and those
//!             of the likeliest from all of the group's; a verification for each exchange
//! Checked by: tests/it/regroup.rs: promises by brute force, attacks before and after on generated topics

mod conspicuous;
mod remembered;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::attack::semantic::judge::Original;
use crate::attack::semantic::summary::{OfMethod, Summary};
use crate::attack::semantic::{Distance, Method, Options, attack_release};
use crate::data::{Dataset, Recoding, RecordId, TermId, supports};
use crate::error::{Error, Place, Result};
use crate::knowledge::relatedness::Known;
use crate::observer::{Observer, Quiet};
use crate::release::recoded::{Draft, Recoded, RecodedClaim, Suppression, write_recoded};
use crate::verify::{RecodedTruth, verify_recoded};
use conspicuous::{Fit, Telling};
use remembered::Remembered;

/// After so many rounds it is not tried any more.
const ROUNDS: u32 = 30;

/// So many rounds may go by without a weaker strongest attack.
const PATIENCE: u32 = 5;

/// How many terms are tried in a group: of so many, evenly spread, those that fit it best.
const CANDIDATES: usize = 32;
const SCREENED: usize = 1_000;

/// The same for terms that make a group with a member that leaves.
const COMPANIES: usize = 4;
const SCREENED_COMPANIES: usize = 250;

/// How many exchanges of a group are tried, the best first, until one keeps the promise.
const TRIES: usize = 12;

/// An exchange that does not make so many added members harder to tell is none.
const LEAST_GAIN: f64 = 0.25;

/// What is repaired, against whom, and at what price.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// What the release promises.
    pub claim: &'a RecodedClaim,
    /// The release.
    pub release: &'a Recoded,
    /// What it was made from.
    pub original: &'a Dataset,
    /// What adversaries know of the meaning of the original's terms, each for himself. With none nothing is changed.
    pub adversaries: &'a [&'a Distance<'a>],
    /// The attacks that must not win, and what they look at.
    pub options: &'a Options,
    /// The limit on the advantage of an attack over the baseline.
    pub most: f64,
    /// NCP may become so many times what it was.
    pub limit: f64,
}

/// Why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// No attack has an advantage over the baseline above the limit.
    Baseline,
    /// What would help costs more utility than allowed.
    Limit,
    /// Nothing that was tried helps and keeps the promise.
    Exhausted,
}

/// A release whose groups were changed.
#[derive(Debug, Clone)]
pub struct Regrouped {
    /// What it promises: what it promised before.
    pub claim: RecodedClaim,
    /// The release.
    pub release: Recoded,
    /// For each record of the original the line that shows it.
    pub line_of: Vec<u32>,
    /// What happened.
    pub stats: Stats,
}

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub struct Stats {
    /// Why it ended.
    pub ended: Ended,
    /// How many times all attacks were made.
    pub rounds: u32,
    /// Exchanges that led to what is returned.
    pub exchanges: u64,
    /// Groups of two or more, before and after.
    pub groups: (u64, u64),
    /// The mean of |g| / |I| over published occurrences, before and after.
    pub ncp: (f64, f64),
    /// How each attack of each adversary fared, before and after.
    pub attacks: Vec<Fared>,
}

impl Stats {
    /// The advantage of the best attack over the baseline, by more than chance explains, before and after: 0 if there was none.
    pub fn beyond_blind(&self) -> (f64, f64) {
        let best =
            |of: fn(&Fared) -> &OfMethod| self.attacks.iter().map(|fared| of(fared).beyond_blind()).fold(0.0, f64::max);
        (best(|fared| &fared.before), best(|fared| &fared.after))
    }
}

/// How an attack fared before and after.
#[derive(Debug, Clone, Serialize)]
pub struct Fared {
    /// Whose attack, by the number that he was given.
    pub adversary: usize,
    /// The attack.
    pub attack: Method,
    /// Before.
    pub before: OfMethod,
    /// After.
    pub after: OfMethod,
}

/// Regroups a release until no attack wins, nothing helps, or it would cost too much.
///
pub fn regroup(asked: &Asked<'_>, observer: &dyn Observer) -> Result<Regrouped> {
    let start = State::of_release(asked)?;
    let holders = holders(asked.original);
    let set_of = utility_sets(asked);
    // Rounds ask for the same distances: contexts hardly change.
    let n_terms = asked.original.n_terms();
    let adversaries: Vec<_> = asked.adversaries.iter().map(|distance| Remembered::new(*distance, n_terms)).collect();
    observer.check();
    let before = attack(asked, &start, observer)?;
    let most_ncp = ncp(asked, &start) * asked.limit;
    let (mut best, mut state, mut now) = ((start.clone(), before.clone(), 0), start.clone(), before.clone());
    let (mut rounds, mut since_best, mut exchanges) = (1, 0, 0);
    let ended = loop {
        if strongest(&now) <= asked.most {
            break Ended::Baseline;
        }
        if rounds == ROUNDS || since_best == PATIENCE {
            break Ended::Exhausted;
        }
        observer.stage(&format!("regrouping, round {rounds}"));
        let round = Round { asked, adversaries: &adversaries, holders: &holders, set_of: &set_of, most_ncp, observer };
        let (n, is_limited) = round.exchange(&mut state, &now)?;
        if n == 0 {
            break if is_limited { Ended::Limit } else { Ended::Exhausted };
        }
        exchanges += n;
        rounds += 1;
        now = attack(asked, &state, observer)?;
        since_best += 1;
        if strongest(&now) < strongest(&best.1) {
            (best, since_best) = ((state.clone(), now.clone(), exchanges), 0);
        }
    };
    let (state, now, exchanges) = best;
    let (release, line_of) = state.publish(asked)?;
    let claim = state.claim(asked, &release);
    let truth = RecodedTruth { original: asked.original, line_of: Some(&line_of) };
    if !verify_recoded(&claim, &release, Some(truth), observer).holds {
        return Err(Error::Internal("a regrouped release does not keep its promise"));
    }
    // One that learns may find too little to learn from, before or after.
    let mut attacks = Vec::new();
    for (adversary, (before, now)) in before.found.into_iter().zip(&now.found).enumerate() {
        let after = |attack: Method| now.iter().find(|of| of.attack == attack).cloned();
        attacks.extend(before.into_iter().filter_map(|before| {
            let attack = before.attack;
            Some(Fared { adversary, attack, before, after: after(attack)? })
        }));
    }
    let stats = Stats {
        ended,
        rounds,
        exchanges,
        groups: (start.n_generalised(), state.n_generalised()),
        ncp: (ncp(asked, &start), ncp(asked, &state)),
        attacks,
    };
    Ok(Regrouped { claim, release, line_of, stats })
}

/// The groups of a release in the terms of the original.
#[derive(Debug, Clone)]
struct State {
    /// Groups of one included; empty where all members left.
    groups: Vec<Vec<TermId>>,
    /// For each term its group, if it is published.
    group_of: Vec<Option<u32>>,
    /// What unchanged groups are called.
    labels: HashMap<Vec<TermId>, String>,
}

impl State {
    /// Refuses releases that are not one recoding of the original.
    fn of_release(asked: &Asked<'_>) -> Result<State> {
        let Asked { claim, release, original, .. } = asked;
        let [block] = &release.blocks[..] else {
            let problem = "has several recodings: there is no group that all records share";
            return Err(Error::recipe("RELEASE", problem, "protect the original again, with one recoding for all"));
        };
        if claim.suppression == Suppression::Occurrences {
            let problem = "was made by suppressing occurrences: there are no groups to change";
            return Err(Error::recipe("RELEASE", problem, "attacks by meaning do not apply to it"));
        }
        let other = || {
            Error::input(Place::file("the original"), "has not the records that the release was made from")
                .with_hint("give the file and the input flags that disjoin protect was given")
        };
        let mut state = State { groups: Vec::new(), group_of: vec![None; original.n_terms()], labels: HashMap::new() };
        for (members, label) in block.groups.iter().zip(&block.labels) {
            let terms = members.iter().map(|&term| original.dictionary.get(release.dictionary.text(term)));
            let mut terms: Vec<TermId> = terms.collect::<Option<_>>().ok_or_else(other)?;
            terms.sort_unstable();
            for &term in &terms {
                state.group_of[term as usize] = Some(state.groups.len() as u32);
            }
            if let Some(label) = label {
                state.labels.insert(terms.clone(), label.clone());
            }
            state.groups.push(terms);
        }
        let text = |release: &Recoded| {
            let mut text = Vec::new();
            write_recoded(release, &mut text).map(|()| text).map_err(|_| Error::Internal("a release is always written"))
        };
        let (again, _) = state.publish(asked)?;
        if text(&again)? == text(release)? { Ok(state) } else { Err(other()) }
    }

    fn recoding(&self) -> Result<Recoding> {
        Recoding::from_groups(self.group_of.len(), self.groups.iter().cloned())
            .ok_or(Error::Internal("a term is in two groups"))
    }

    fn publish(&self, asked: &Asked<'_>) -> Result<(Recoded, Vec<u32>)> {
        let recoding = self.recoding()?;
        let labels = recoding.groups().iter().map(|group| self.labels.get(group).cloned()).collect();
        let records = &asked.original.records;
        let draft = Draft::of_recoding(records, 0..records.len() as RecordId, &recoding, labels);
        Recoded::of_drafts(&asked.original.dictionary, vec![draft])
    }

    fn claim(&self, asked: &Asked<'_>, release: &Recoded) -> RecodedClaim {
        let before = asked.claim;
        let method = before.method.strip_suffix(REGROUPED).unwrap_or(&before.method);
        let (promise, utility) = (before.promise.clone(), before.utility.clone());
        RecodedClaim::new(release, &format!("{method}{REGROUPED}"), before.k, promise, before.suppression, utility)
            .of_people(before.people)
    }

    fn keeps_promise(&self, asked: &Asked<'_>, observer: &dyn Observer) -> Result<bool> {
        observer.check();
        let (release, _) = self.publish(asked)?;
        Ok(verify_recoded(&self.claim(asked, &release), &release, None, observer).holds)
    }

    fn n_generalised(&self) -> u64 {
        self.groups.iter().filter(|group| group.len() > 1).count() as u64
    }

    /// What two groups become by an exchange.
    fn after(&self, exchange: Exchange) -> (Vec<TermId>, Vec<TermId>) {
        let Exchange { group, leaves, joins, company } = exchange;
        let without = |group: u32, out: Option<TermId>| {
            self.groups[group as usize].iter().copied().filter(move |&term| Some(term) != out)
        };
        let mut mine: Vec<TermId> = without(group, leaves).chain(joins).collect();
        let other = joins.and_then(|term| self.group_of[term as usize]);
        let stay = other.into_iter().flat_map(|other| without(other, joins));
        let mut others: Vec<TermId> = stay.chain(leaves).chain(company).collect();
        mine.sort_unstable();
        others.sort_unstable();
        (mine, others)
    }

    fn apply(&mut self, exchange: Exchange) {
        let (mine, others) = self.after(exchange);
        let other = exchange.joins.and_then(|term| self.group_of[term as usize]).unwrap_or_else(|| {
            self.groups.push(Vec::new());
            self.groups.len() as u32 - 1
        });
        if let Some(alone) = exchange.company.and_then(|term| self.group_of[term as usize]) {
            self.groups[alone as usize].clear();
        }
        for (group, members) in [(exchange.group, mine), (other, others)] {
            members.iter().for_each(|&term| self.group_of[term as usize] = Some(group));
            self.groups[group as usize] = members;
        }
    }

    fn is_alone(&self, term: TermId) -> bool {
        self.group_of[term as usize].is_some_and(|group| self.groups[group as usize].len() == 1)
    }
}

/// What the method of a claim is called after this.
const REGROUPED: &str = ", regrouped";

/// A change of one group: a member leaves, a term joins, or they change places.
#[derive(Debug, Clone, Copy)]
struct Exchange {
    group: u32,
    leaves: Option<TermId>,
    joins: Option<TermId>,
    /// An ungeneralised term that makes a group with the one that leaves.
    company: Option<TermId>,
}

/// How all attacks fared, and what they found in each group beyond what is found blindly.
#[derive(Debug, Clone)]
struct Attacked {
    /// For each adversary.
    found: Vec<Vec<OfMethod>>,
    /// Members of groups, the worst first, with how many of their cells are found beyond that.
    worst: Vec<(f64, TermId)>,
}

/// The advantage of the best attack over the baseline, by more than chance explains; not above 0 if there is none.
fn strongest(attacked: &Attacked) -> f64 {
    attacked.found.iter().flatten().map(OfMethod::beyond_blind).fold(f64::NEG_INFINITY, f64::max)
}

fn attack(asked: &Asked<'_>, state: &State, observer: &dyn Observer) -> Result<Attacked> {
    observer.check();
    let (release, line_of) = state.publish(asked)?;
    let names: Vec<TermId> = release.dictionary.iter().filter_map(|text| asked.original.dictionary.get(text)).collect();
    let original = Original::new(&release, asked.original, Some(&line_of))?;
    let mut found = Vec::new();
    let mut excess: BTreeMap<TermId, f64> = BTreeMap::new();
    for adversary in asked.adversaries {
        let distance = |a: TermId, b: TermId| adversary(names[a as usize], names[b as usize]);
        let attacked = attack_release(&release, &distance, asked.options, &Quiet(observer));
        // Attacks that know nothing always lose: a release must not be called mended for that.
        if attacked.tables.is_empty() && attacked.coverage.iter().any(|of| of.generalised > 0) {
            let problem = "no group can be attacked: its terms or what stands beside them are not known there";
            return Err(Error::recipe("--corpus, --vectors or --counts", problem, "name one that knows the terms"));
        }
        let attacks = Summary::new(&attacked, "", Known::default(), Some(&original.truth())).attacks;
        for (at, table) in attacked.tables.iter().enumerate() {
            let of_table = |of: &OfMethod| {
                let counts = of.score.as_ref()?.of_tables.get(at)?;
                Some(counts.right as f64 - counts.eliminated as f64 * of.blind?.precision)
            };
            let beyond: f64 = attacks.iter().filter_map(of_table).sum();
            // What one adversary does not see is no comfort where another does.
            let members = table.members.first().map(|&member| names[member as usize]);
            members.into_iter().for_each(|member| *excess.entry(member).or_default() += beyond.max(0.0));
        }
        found.push(attacks);
    }
    let mut worst: Vec<(f64, TermId)> = excess.into_iter().map(|(member, excess)| (excess, member)).collect();
    worst.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    Ok(Attacked { found, worst })
}

/// One pass over the groups in which attacks find most.
struct Round<'a> {
    asked: &'a Asked<'a>,
    adversaries: &'a [Remembered<'a>],
    holders: &'a [Vec<RecordId>],
    set_of: &'a [Option<u32>],
    most_ncp: f64,
    observer: &'a dyn Observer,
}

impl Round<'_> {
    /// The best exchange for each group that is found out; how many there were, and whether one was too dear.
    fn exchange(&self, state: &mut State, attacked: &Attacked) -> Result<(u64, bool)> {
        let records = &self.asked.original.records;
        let mut fit = Fit::new(records, self.holders, self.contexts(state), self.adversaries);
        let (mut n, mut is_limited) = (0, false);
        let mut touched: HashSet<u32> = HashSet::new();
        for &(_, member) in attacked.worst.iter().take_while(|(excess, _)| *excess > 0.0) {
            let Some(group) = state.group_of[member as usize].filter(|group| !touched.contains(group)) else {
                continue;
            };
            self.observer.check();
            let ranked = self.rank(state, group, &touched, &mut fit);
            for (_, exchange) in ranked.into_iter().take(TRIES) {
                let mut next = state.clone();
                next.apply(exchange);
                if ncp(self.asked, &next) > self.most_ncp {
                    is_limited = true;
                    continue;
                }
                if next.keeps_promise(self.asked, self.observer)? {
                    touched.insert(group);
                    let elsewhere = exchange.joins.into_iter().chain(exchange.company);
                    touched.extend(elsewhere.filter_map(|term| state.group_of[term as usize]));
                    *state = next;
                    n += 1;
                    break;
                }
            }
        }
        Ok((n, is_limited))
    }

    /// Exchanges of a group that make it harder to tell what was added, the best first.
    fn rank(&self, state: &State, group: u32, touched: &HashSet<u32>, fit: &mut Fit<'_>) -> Vec<(f64, Exchange)> {
        let members = &state.groups[group as usize];
        let now = tells(members, fit);
        let is_free = |&term: &TermId| {
            state.group_of[term as usize].is_some_and(|other| other != group && !touched.contains(&other))
        };
        let free: Vec<TermId> = (0..state.group_of.len() as TermId).filter(is_free).collect();
        let may_join = |&term: &TermId| self.allows(members.iter().copied().chain([term]));
        let joining: Vec<TermId> = free.iter().copied().filter(may_join).collect();
        let joining = fit.likeliest(members, &sample(joining, SCREENED), CANDIDATES);
        let mut ranked = Vec::new();
        for leaves in members.iter().map(|&member| Some(member)).chain([None]) {
            let may_come = |&term: &TermId| {
                state.is_alone(term) && leaves.is_some_and(|leaves| self.allows([leaves, term].into_iter()))
            };
            let companies: Vec<TermId> = free.iter().copied().filter(may_come).collect();
            let companies = sample(companies, SCREENED_COMPANIES);
            let companies = leaves.map_or(Vec::new(), |leaves| fit.likeliest(&[leaves], &companies, COMPANIES));
            for joins in joining.iter().map(|&joins| Some(joins)).chain([None]) {
                self.observer.check();
                let other = joins.and_then(|term| state.group_of[term as usize]);
                let of_other = other.map_or(0.0, |other| tells(&state.groups[other as usize], fit));
                // Where others are there already, nobody needs company.
                let is_needed = joins.is_none_or(|joins| state.is_alone(joins));
                let with = companies.iter().filter(|&&company| is_needed && Some(company) != joins);
                for company in with.map(|&company| Some(company)).chain([None]) {
                    let exchange = Exchange { group, leaves, joins, company };
                    let (mine, others) = state.after(exchange);
                    let is_allowed = self.allows(mine.iter().copied()) && self.allows(others.iter().copied());
                    if mine.len() < 2 || mine == *members || !is_allowed {
                        continue;
                    }
                    let gain = now + of_other - tells(&mine, fit) - tells(&others, fit);
                    if gain > LEAST_GAIN {
                        ranked.push((gain, exchange));
                    }
                }
            }
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked
    }

    /// Whether a utility set has all of these terms; where there are no such sets anything goes, and so does a single term.
    fn allows(&self, mut terms: impl Iterator<Item = TermId>) -> bool {
        let Some(first) = terms.next() else { return true };
        self.asked.claim.utility.is_none() || {
            let set = self.set_of[first as usize];
            let mut rest = terms.peekable();
            rest.peek().is_none() || set.is_some() && rest.all(|term| self.set_of[term as usize] == set)
        }
    }

    /// What each record of the original shows ungeneralised: the rarest where only some count.
    fn contexts(&self, state: &State) -> Vec<Vec<TermId>> {
        let is_single =
            |&term: &TermId| state.group_of[term as usize].is_some_and(|group| state.groups[group as usize].len() == 1);
        let of_record = |record: &[TermId]| {
            let mut context: Vec<TermId> = record.iter().copied().filter(is_single).collect();
            if let Some(most) = self.asked.options.context.filter(|&most| most < context.len()) {
                context.sort_by_key(|&term| self.holders[term as usize].len());
                context.truncate(most);
            }
            context
        };
        self.asked.original.records.iter().map(of_record).collect()
    }
}

/// Some of these terms, evenly spread.
fn sample(terms: Vec<TermId>, most: usize) -> Vec<TermId> {
    let step = terms.len().div_ceil(most).max(1);
    terms.into_iter().step_by(step).collect()
}

/// About how many added members of a group are found beyond those found blindly, by all adversaries together.
fn tells(members: &[TermId], fit: &mut Fit<'_>) -> f64 {
    if members.len() < 2 { 0.0 } else { fit.telling(members).iter().map(Telling::lead).sum() }
}

/// For each term the records that hold it.
fn holders(data: &Dataset) -> Vec<Vec<RecordId>> {
    let mut holders: Vec<Vec<RecordId>> = vec![Vec::new(); data.n_terms()];
    for (id, record) in (0..).zip(data.records.iter()) {
        record.iter().for_each(|&term| holders[term as usize].push(id));
    }
    holders
}

/// For each term the utility set that it is in, if the release has such sets.
fn utility_sets(asked: &Asked<'_>) -> Vec<Option<u32>> {
    let mut set_of = vec![None; asked.original.n_terms()];
    for (number, set) in (0..).zip(asked.claim.utility.iter().flatten()) {
        for term in set.iter().filter_map(|text| asked.original.dictionary.get(text)) {
            set_of[term as usize] = Some(number);
        }
    }
    set_of
}

/// The mean of |g| / |I| over published occurrences, as `measure` has it.
fn ncp(asked: &Asked<'_>, state: &State) -> f64 {
    let supports = supports(&asked.original.records, state.group_of.len());
    let (mut spread, mut published) = (0.0, 0.0);
    for (support, group) in supports.iter().zip(&state.group_of) {
        let Some(group) = group else { continue };
        let size = state.groups[*group as usize].len();
        published += f64::from(*support);
        spread += f64::from(*support) * if size > 1 { size as f64 / state.group_of.len() as f64 } else { 0.0 };
    }
    if published == 0.0 { 0.0 } else { spread / published }
}
