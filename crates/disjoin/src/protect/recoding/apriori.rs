//! k^m-anonymity by generalisation, level by level: of the ways to repair a set that too few records hold, the cheapest.
//!
//! Paper:      terrovitis2008, sections 4.3 and 4.4 (Apriori-based anonymization)
//! Promises:   every set of at most m nodes that a recoded record holds is held by at least k of them; every term
//!             stands for itself or is generalised with all terms below its node
//! Assumes:    the adversary knows at most m terms of a person, and only terms that the person has
//! Departs:    (1) no count tree over all ancestors: nodes are looked at one by one, rarest first, with those that have
//!             been looked at before, and supports are counted where they are asked for. The paper's order is open
//!             (2) costs are what is added to what was generalised before, as in Amnesia ([`CostRule`])
//!             (3) in the end generalisations that are not needed any more are taken back. One that mends a set may mend
//!             what others were made for
//! Cost:       as many steps as records have sets of up to m nodes, for each level; memory linear in the occurrences
//!             times the levels of the hierarchy
//! Checked by: tests/it/apriori.rs: all sets counted, the loop word by word, all cuts of small hierarchies

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::subtree::{Recoded, Scan};
use crate::data::{Cut, Hierarchy, NodeId, Transactions};
use crate::error::{Error, Result};
use crate::observer::Observer;

/// What a way to repair a set costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostRule {
    /// How much the penalty of all occurrences grows, as in Amnesia.
    #[default]
    Increment,
    /// The penalty of the generalised nodes, also of what was generalised before, as in ARX.
    Alone,
    /// How many nodes are generalised, then how many terms are below them.
    Count,
}

/// What to promise, and how to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AprioriParams {
    /// A set must be in so many records, or in none. At least 2.
    pub k: u32,
    /// How many terms of a person an adversary may know. At least 1.
    pub m: u32,
    /// What a way to repair a set costs.
    pub cost: CostRule,
}

impl AprioriParams {
    /// With the usual costs.
    pub fn new(k: u32, m: u32) -> Self {
        AprioriParams { k, m, cost: CostRule::default() }
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.k < 2 {
            let problem = "must be at least 2: one record alone can always be told apart";
            return Err(Error::recipe("protect.k", problem, "usual values are 3 to 20"));
        }
        if self.m < 1 {
            return Err(Error::recipe("protect.m", "must be at least 1", "usual values are 2 or 3"));
        }
        Ok(())
    }
}

/// The cut on which the records are k^m-anonymous.
pub fn apriori(
    records: &Transactions,
    hierarchy: &Hierarchy,
    params: &AprioriParams,
    observer: &dyn Observer,
) -> Result<Cut> {
    params.check()?;
    let mut on = Recoded::new(records, hierarchy, params.k, observer)?;
    let mut scan = Scan::new(hierarchy);
    anonymise(&mut on, &mut scan, params)?;
    undo(&mut on, &mut scan, params.m as usize);
    on.cut()
}

/// Generalises until all sets of up to m nodes are in k records or in none.
pub(super) fn anonymise(on: &mut Recoded<'_>, scan: &mut Scan, params: &AprioriParams) -> Result<()> {
    for size in 1..=on.longest().min(params.m as usize) {
        on.set_all_settled(false);
        settle(on, scan, size, params.cost)?;
    }
    Ok(())
}

/// Mends all violated sets of so many nodes; smaller ones are not violated.
///
/// Termination: whatever is mended takes at least one node off the cut for good.
fn settle(on: &mut Recoded<'_>, scan: &mut Scan, size: usize, rule: CostRule) -> Result<()> {
    let nodes: Vec<NodeId> = on.nodes().collect();
    let mut queue: BinaryHeap<Reverse<(usize, NodeId)>> = BinaryHeap::with_capacity(nodes.len());
    nodes.into_iter().for_each(|node| queue.push(rarest_first(on, node)));
    while let Some(Reverse((_, node))) = queue.pop() {
        // Nodes that were put in the place of settled ones: what they are in together with this one was not looked at.
        let mut unseen: Vec<NodeId> = Vec::new();
        let mut given = vec![node];
        while on.is_on_cut(node) && !on.is_settled(node) {
            on.observer.check();
            let mut outcome = Ok(());
            let _ = scan.run(on, &given, size, &mut |on, set| match mend(on, set, rule) {
                Ok(nodes) => {
                    let (settled, others): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|&node| on.is_settled(node));
                    unseen.extend(settled);
                    others.into_iter().for_each(|node| queue.push(rarest_first(on, node)));
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    outcome = Err(error);
                    ControlFlow::Break(())
                }
            });
            outcome?;
            unseen.retain(|&other| on.is_on_cut(other));
            match unseen.pop() {
                Some(other) => given = vec![node, other],
                None if on.is_on_cut(node) => on.set_settled(node, true),
                None => {}
            }
        }
    }
    Ok(())
}

/// Sets of rare nodes are violated most likely, and what mends them spares work on the others.
fn rarest_first(on: &mut Recoded<'_>, node: NodeId) -> Reverse<(usize, NodeId)> {
    on.meet(node);
    Reverse((on.holders(node).len(), node))
}

/// Generalises nodes of a set so that k records hold it; returns the nodes that are new on the cut.
fn mend(on: &mut Recoded<'_>, set: &[NodeId], rule: CostRule) -> Result<Vec<NodeId>> {
    let nodes = match cheapest(on, set, rule) {
        Some(nodes) => nodes,
        None if on.is_partial() => Vec::new(),
        None => last_resort(on)?,
    };
    nodes.iter().for_each(|&node| on.generalise(node));
    Ok(nodes)
}

/// Everything becomes the root, if there is one and enough records hold it.
fn last_resort(on: &Recoded<'_>) -> Result<Vec<NodeId>> {
    if on.n_records() < on.k as usize {
        return Err(Error::Infeasible {
            problem: format!("there are fewer than k = {} records", on.k),
            hint: "lower k, or publish nothing".into(),
        });
    }
    on.root().map(|root| vec![root]).ok_or_else(|| Error::Infeasible {
        problem: "the hierarchy has more than one root, and to generalise terms to their roots is not enough".into(),
        hint: "put all labels below one root, or lower k or m".into(),
    })
}

/// The nodes to generalise to so that k records hold what becomes of a set, of all choices the cheapest; the root of
/// all is none of them.
fn cheapest(on: &mut Recoded<'_>, set: &[NodeId], rule: CostRule) -> Option<Vec<NodeId>> {
    let above = |&node: &NodeId| on.hierarchy.ancestors(node).take_while(|&above| on.is_choice(above)).collect();
    let above: Vec<Vec<NodeId>> = set.iter().map(above).collect();
    above.iter().flatten().for_each(|&node| on.meet(node));
    let mut best = None;
    choose(on, set, &above, rule, &mut Vec::new(), &mut best);
    best.map(|best| best.nodes)
}

/// A way to mend a set. The order is that of preference.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Choice {
    price: u64,
    /// How many terms are below the nodes.
    terms: u64,
    /// Ascending.
    nodes: Vec<NodeId>,
}

/// Goes through all choices for the nodes of `set`, with `chosen` for those before it.
fn choose(
    on: &Recoded<'_>,
    set: &[NodeId],
    above: &[Vec<NodeId>],
    rule: CostRule,
    chosen: &mut Vec<NodeId>,
    best: &mut Option<Choice>,
) {
    on.observer.check();
    let (price, terms) = price(on, chosen, rule);
    // More nodes, or higher ones, are never cheaper.
    if best.as_ref().is_some_and(|best| (price, terms) > (best.price, best.terms)) {
        return;
    }
    let (Some((&node, set)), Some((above_node, above))) = (set.split_first(), above.split_first()) else {
        if on.support(chosen) >= on.k {
            let mut nodes: Vec<NodeId> = chosen.iter().copied().filter(|&node| !on.is_on_cut(node)).collect();
            nodes.sort_unstable();
            let choice = Choice { price, terms, nodes };
            if best.as_ref().is_none_or(|best| choice < *best) {
                *best = Some(choice);
            }
        }
        return;
    };
    for node in std::iter::once(node).chain(above_node.iter().copied()) {
        if chosen.iter().any(|&other| other == node || on.hierarchy.is_ancestor(other, node)) {
            // One node stands for both.
            choose(on, set, above, rule, chosen, best);
            return;
        }
        if chosen.iter().any(|&other| on.hierarchy.is_ancestor(node, other)) {
            // That the one before goes up as far is a choice of its own.
            return;
        }
        chosen.push(node);
        choose(on, set, above, rule, chosen, best);
        chosen.pop();
    }
}

/// What a choice costs, and how many terms it generalises.
fn price(on: &Recoded<'_>, chosen: &[NodeId], rule: CostRule) -> (u64, u64) {
    let (mut price, mut terms) = (0, 0);
    for &node in chosen.iter().filter(|&&node| !on.is_on_cut(node)) {
        terms += u64::from(on.hierarchy.leaves_below(node));
        price += match rule {
            CostRule::Increment => on.cost(node) - on.cost_below(node),
            CostRule::Alone => on.cost(node),
            CostRule::Count => 1,
        };
    }
    (price, terms)
}

/// Takes generalisations back, the one that saves most first, as long as no set becomes violated.
///
/// One try for each node is enough: with other nodes taken back meanwhile, fewer records hold a set, not more.
pub(super) fn undo(on: &mut Recoded<'_>, scan: &mut Scan, m: usize) {
    on.set_all_settled(true);
    let saves = |on: &Recoded<'_>, node: NodeId| {
        on.cost(node) - on.children(node).iter().map(|&child| on.cost(child)).sum::<u64>()
    };
    let mut queue: BinaryHeap<(u64, NodeId)> = on.nodes().map(|node| (saves(on, node), node)).collect();
    while let Some((_, node)) = queue.pop() {
        on.observer.check();
        if on.children(node).is_empty() {
            continue;
        }
        if can_be_children(on, scan, node, m) {
            queue.extend(on.children(node).iter().map(|&child| (saves(on, child), child)));
        } else {
            on.generalise(node);
            on.set_settled(node, true);
        }
    }
}

/// Puts the children of a node in its place; whether no set is violated after that.
fn can_be_children(on: &mut Recoded<'_>, scan: &mut Scan, node: NodeId, m: usize) -> bool {
    on.specialise(node);
    let mut children = on.children(node).to_vec();
    children.sort_unstable_by_key(|&child| on.holders(child).len());
    for size in 1..=on.longest().min(m) {
        children.iter().for_each(|&child| on.set_settled(child, false));
        for &child in &children {
            if scan.run(on, &[child], size, &mut |_, _| ControlFlow::Break(())).is_break() {
                return false;
            }
            on.set_settled(child, true);
        }
    }
    true
}
