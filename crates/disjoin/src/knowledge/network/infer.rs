//! What a network says about one node when others are known: the exact posterior, by eliminating variable after variable.
//!
//! Nodes below all that is asked and known do not matter and are left out. The others become factors, in which known nodes
//! are fixed. The node whose elimination joins the fewest strangers goes first: its factors are multiplied, and it is summed out.
//!
//! Paper:      none of its own; Zhang, Poole 1994, with the min-fill order
//! Promises:   the posterior up to rounding, or an error before more memory is taken than allowed
//! Cost:       exponential in the width of the order; the greatest product of factors has at most `max_cells`
//! Checked by: tests/it/network.rs, against sums over all rows that there could be

use super::cpt::Fitted;
use crate::error::{Error, Result};

/// The usual limit of cells of one product: 32 MiB.
pub const MAX_CELLS: usize = 1 << 22;

/// The distribution of a node, given nodes and their values; `None` if such values are impossible together.
pub fn posterior(
    fitted: &Fitted,
    node: usize,
    evidence: &[(usize, u32)],
    max_cells: usize,
) -> Result<Option<Vec<f64>>> {
    let n = fitted.network().n_nodes();
    let mut known: Vec<Option<u32>> = vec![None; n];
    for &(other, value) in evidence {
        let is_there = other < n && value < fitted.sizes()[other];
        if !is_there || known[other].is_some_and(|earlier| earlier != value) {
            let problem = "names a node or a value that is not there, or two values of one node";
            return Err(Error::recipe("evidence", problem, "nodes and values are numbers from 0"));
        }
        known[other] = Some(value);
    }
    if node >= n {
        return Err(Error::recipe("node", "is not there", "nodes are numbers from 0"));
    }
    // A node that is known is asked for as if it were not: its value might be impossible.
    let certain = known[node].take();
    let Some(shares) = eliminate(fitted, node, &known, max_cells)? else { return Ok(None) };
    Ok(match certain {
        None => Some(shares),
        Some(value) if shares[value as usize] > 0.0 => {
            Some((0..).zip(&shares).map(|(other, _)| f64::from(u8::from(other == value))).collect())
        }
        Some(_) => None,
    })
}

fn eliminate(fitted: &Fitted, node: usize, known: &[Option<u32>], max_cells: usize) -> Result<Option<Vec<f64>>> {
    let relevant = relevant(fitted, node, known);
    let mut factors = Vec::new();
    for &at in &relevant {
        factors.push(Factor::of(fitted, at, known, max_cells)?);
    }
    let mut left: Vec<usize> = relevant.into_iter().filter(|&other| other != node && known[other].is_none()).collect();
    while let Some(next) = cheapest(&left, &factors, fitted.sizes()) {
        left.retain(|&other| other != next);
        let (with, without): (Vec<Factor>, Vec<Factor>) =
            factors.into_iter().partition(|factor| factor.nodes.contains(&next));
        factors = without;
        factors.push(product(&with, Some(next), fitted.sizes(), max_cells)?);
    }
    let shares = product(&factors, None, fitted.sizes(), max_cells)?.cells;
    let sum: f64 = shares.iter().sum();
    Ok((sum > 0.0).then(|| shares.iter().map(|share| share / sum).collect()))
}

/// The node, what is known, and all that lies above, ascending.
fn relevant(fitted: &Fitted, node: usize, known: &[Option<u32>]) -> Vec<usize> {
    let mut is_relevant: Vec<bool> = known.iter().map(Option::is_some).collect();
    is_relevant[node] = true;
    for child in fitted.network().order().into_iter().rev().collect::<Vec<_>>() {
        if is_relevant[child] {
            fitted.network().parents(child).iter().for_each(|&parent| is_relevant[parent] = true);
        }
    }
    (0..known.len()).filter(|&node| is_relevant[node]).collect()
}

/// A number for each configuration of some nodes, the last node's value running fastest.
struct Factor {
    nodes: Vec<usize>,
    cells: Vec<f64>,
}

impl Factor {
    /// The table of a node, with known nodes fixed.
    fn of(fitted: &Fitted, node: usize, known: &[Option<u32>], max_cells: usize) -> Result<Self> {
        let table = fitted.table(node);
        let open: Vec<usize> = table.parents().iter().copied().filter(|&parent| known[parent].is_none()).collect();
        let mut nodes = open.clone();
        if known[node].is_none() {
            nodes.push(node);
        }
        let n_cells = n_cells(&nodes, fitted.sizes(), max_cells)?;
        let mut cells = Vec::with_capacity(n_cells);
        let mut codes: Vec<u32> = table.parents().iter().map(|&parent| known[parent].unwrap_or(0)).collect();
        loop {
            let distribution = table.distribution(&codes);
            match known[node] {
                Some(value) => cells.push(distribution[value as usize]),
                None => cells.extend(distribution),
            }
            let mut has_next = false;
            for (code, &parent) in codes.iter_mut().zip(table.parents()).rev() {
                if known[parent].is_none() {
                    *code = (*code + 1) % fitted.sizes()[parent];
                    has_next = *code > 0;
                    if has_next {
                        break;
                    }
                }
            }
            if !has_next {
                return Ok(Factor { nodes, cells });
            }
        }
    }
}

fn n_cells(nodes: &[usize], sizes: &[u32], max_cells: usize) -> Result<usize> {
    let product = nodes.iter().try_fold(1_usize, |product, &node| product.checked_mul(sizes[node] as usize));
    product.filter(|&product| product <= max_cells).ok_or_else(|| Error::Infeasible {
        problem: format!("the posterior would need a table of more than {max_cells} cells"),
        hint: String::from("learn a network with fewer parents a node"),
    })
}

/// The node that joins the fewest strangers if it is eliminated; then that with the smallest product; then the lowest.
fn cheapest(left: &[usize], factors: &[Factor], sizes: &[u32]) -> Option<usize> {
    let neighbours = |node: usize| -> Vec<usize> {
        let with = factors.iter().filter(|factor| factor.nodes.contains(&node));
        let mut nodes: Vec<usize> = with.flat_map(|factor| factor.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    };
    let cost = |node: usize| {
        let nodes = neighbours(node);
        let meet = |a: usize, b: usize| factors.iter().any(|f| f.nodes.contains(&a) && f.nodes.contains(&b));
        let pairs = nodes.iter().enumerate().flat_map(|(at, &a)| nodes[..at].iter().map(move |&b| (a, b)));
        let strangers = pairs.filter(|&(a, b)| !meet(a, b)).count();
        (strangers, nodes.iter().map(|&node| f64::from(sizes[node])).product::<f64>())
    };
    let costs = left.iter().map(|&node| (cost(node), node));
    costs.min_by(|(a, _), (b, _)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map(|(_, node)| node)
}

/// The product of factors, with a node summed out if one is given. It is scaled so that the greatest cell is 1: with much
/// evidence, numbers would vanish.
fn product(factors: &[Factor], summed: Option<usize>, sizes: &[u32], max_cells: usize) -> Result<Factor> {
    let mut nodes: Vec<usize> = factors.iter().flat_map(|factor| factor.nodes.iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    // The one to be summed runs fastest.
    nodes.retain(|&node| Some(node) != summed);
    let kept = nodes.len();
    nodes.extend(summed);
    let n_cells = n_cells(&nodes, sizes, max_cells)?;
    let steps: Vec<Vec<usize>> = factors.iter().map(|factor| steps(factor, &nodes, sizes)).collect();
    let inner = summed.map_or(1, |node| sizes[node] as usize);
    let mut cells = vec![0.0; n_cells / inner.max(1)];
    let mut codes = vec![0; nodes.len()];
    let mut places = vec![0_usize; factors.len()];
    for at in 0..n_cells {
        cells[at / inner] += factors.iter().zip(&places).map(|(factor, &place)| factor.cells[place]).product::<f64>();
        for (digit, &node) in nodes.iter().enumerate().rev() {
            codes[digit] += 1;
            places.iter_mut().zip(&steps).for_each(|(place, steps)| *place += steps[digit]);
            if codes[digit] < sizes[node] {
                break;
            }
            places.iter_mut().zip(&steps).for_each(|(place, steps)| *place -= steps[digit] * sizes[node] as usize);
            codes[digit] = 0;
        }
    }
    let greatest = cells.iter().copied().fold(0.0, f64::max);
    if greatest > 0.0 {
        cells.iter_mut().for_each(|cell| *cell /= greatest);
    }
    nodes.truncate(kept);
    Ok(Factor { nodes, cells })
}

/// For each node how far a factor's cells are apart if its code rises by one; 0 if the factor does not have it.
fn steps(factor: &Factor, nodes: &[usize], sizes: &[u32]) -> Vec<usize> {
    let step = |node: &usize| match factor.nodes.iter().position(|other| other == node) {
        Some(place) => factor.nodes[place + 1..].iter().map(|&after| sizes[after] as usize).product(),
        None => 0,
    };
    nodes.iter().map(step).collect()
}
