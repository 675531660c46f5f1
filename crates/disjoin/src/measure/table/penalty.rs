//! What do suppressed records cost? Each as much as the class that would suffer least from taking it in: RGCP.
//!
//! Paper:      amiri2016, section 5
//! Assumes:    the paper says that the penalty goes with the ranges of the nearest class, not how; G*(r) is the class whose
//!             NCP(G u {r}) - NCP(G) is least, of these the smallest, of these the one with the least NCP. Growths that differ
//!             by rounding alone count as the same. If there is no class, the row is lost in full
//! Cost:       rows with the same quasi-identifiers once; for each, one comparison a class, which ends at the first column
//!             that makes it worse than the best so far, and one union for each different cell of a column
//! Checked by: tests/it/table_metrics.rs, against unions of classes and rows
//!
//! RGCP = ( sum over G of |G| NCP(G) + sum over removed r of NCP(G*(r) u {r}) ) / (d n); with `own`, NCP(G*(r)) instead.

use rayon::prelude::*;

use super::Shown;
use crate::data::cell::node_loss;
use crate::data::table::{Column, Domain};
use crate::data::{Cell, NodeId};

/// Growths are the same if they differ by less.
const SAME: f64 = 1e-12;

/// The sums over suppressed records of NCP(G* u {r}) and of NCP(G*).
pub(super) fn of_removed(shown: &Shown<'_>, removed: &[u32]) -> (f64, f64) {
    if shown.sizes.is_empty() {
        let all = shown.columns.len() as f64 * removed.len() as f64;
        return (all, all);
    }
    // In this order the first of all classes with the least growth is G*.
    let mut order: Vec<u32> = (0..shown.sizes.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        shown.sizes[a].cmp(&shown.sizes[b]).then(shown.losses[a].total_cmp(&shown.losses[b]))
    });
    let labels: Vec<Vec<f64>> = shown.columns.iter().map(|column| label_losses(&column.domain)).collect();

    let codes = |row: u32| shown.columns.iter().map(move |column| column.codes[row as usize]);
    let mut rows = removed.to_vec();
    rows.par_sort_unstable_by(|&a, &b| codes(a).cmp(codes(b)));
    let alike: Vec<&[u32]> = rows.chunk_by(|&a, &b| codes(a).eq(codes(b))).collect();
    let penalties: Vec<(f64, f64)> = alike
        .par_iter()
        .map_init(
            || vec![Vec::new(); shown.columns.len()],
            |growths: &mut Vec<Vec<f64>>, rows| {
                for (position, column) in shown.columns.iter().enumerate() {
                    let code = column.codes[rows[0] as usize];
                    let growth =
                        |(cell, loss): &(Cell, f64)| loss_with(column, cell, *loss, code, &labels[position]) - loss;
                    growths[position].clear();
                    growths[position].extend(shown.cells[position].iter().map(growth));
                }
                let (class, growth) = nearest(shown, &order, growths);
                let (times, own) = (rows.len() as f64, shown.losses[class as usize]);
                (times * (own + growth), times * own)
            },
        )
        .collect();
    penalties.iter().fold((0.0, 0.0), |sum, penalty| (sum.0 + penalty.0, sum.1 + penalty.1))
}

/// The first class in `order` that grows least, and by how much; `growths` are those of every different cell.
fn nearest(shown: &Shown<'_>, order: &[u32], growths: &[Vec<f64>]) -> (u32, f64) {
    let mut best = (0, f64::INFINITY);
    for &class in order {
        let mut sum = 0.0;
        for (&place, growths) in shown.places(class as usize).iter().zip(growths) {
            sum += growths[place as usize];
            if sum >= best.1 - SAME {
                break;
            }
        }
        if sum < best.1 - SAME {
            best = (class, sum);
            if sum <= SAME {
                break;
            }
        }
    }
    best
}

/// The loss of the smallest cell that covers a cell, of the loss `before`, and one more code.
fn loss_with(column: &Column, cell: &Cell, before: f64, code: u32, labels: &[f64]) -> f64 {
    let domain = &column.domain;
    if cell.covers(domain, code) {
        return before;
    }
    match (domain.hierarchy(), domain.numbers(), cell) {
        (None, None, cell) => {
            let words = if let Cell::Set(codes) = cell { codes.len() } else { 1 };
            (words + 1) as f64 / (domain.n_values() + usize::from(domain.has_missing())) as f64
        }
        // Nothing but `*` covers missing values and others.
        _ if code == domain.missing() => 1.0,
        (Some(hierarchy), _, Cell::Value(node) | Cell::Node(node)) => (hierarchy.lowest_common(*node, code))
            .map_or(1.0, |node| labels.get(node as usize - domain.n_values()).copied().unwrap_or(1.0)),
        (None, Some(_), Cell::Value(value)) => domain.span(code.min(*value), code.max(*value)),
        (None, Some(_), Cell::Range(first, last)) => domain.span(code.min(*first), code.max(*last)),
        _ => 1.0,
    }
}

/// The losses of all labels of a hierarchy; looking for the range of one each time would take as long as all its values.
fn label_losses(domain: &Domain) -> Vec<f64> {
    domain.hierarchy().map_or_else(Vec::new, |hierarchy| {
        let labels = hierarchy.n_terms()..hierarchy.n_nodes();
        labels.into_par_iter().map(|node| node_loss(domain, hierarchy, node as NodeId)).collect()
    })
}
