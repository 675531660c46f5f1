//! How far apart two values of a quasi-identifier are, from 0 to 1.
//!
//! Numbers: |difference| / range. Words: 0 or 1; with a hierarchy the height of what they have in common, by the height of
//! the whole. A missing value is at distance 1 from all others.
//!
//! Cost:       constant, and with a hierarchy its depth
//! Checked by: tests in this file

use crate::data::table::Domain;
use crate::data::{Hierarchy, NodeId};

/// The distance of the codes of a column.
pub(crate) enum Metric<'a> {
    /// Where each number lies in the range, from 0 to 1.
    Numbers(Vec<f64>),
    /// All words are equally far apart.
    Words,
    /// The height of each node as a share of the whole tree's; several trees hang from one more node.
    Tree(&'a Hierarchy, Vec<f64>),
}

impl<'a> Metric<'a> {
    pub(crate) fn new(domain: &'a Domain) -> Self {
        match (domain.numbers(), domain.hierarchy()) {
            (Some(_), _) => Metric::Numbers((0..domain.missing()).map(|code| domain.span(0, code)).collect()),
            (None, Some(hierarchy)) => Metric::Tree(hierarchy, heights(hierarchy)),
            (None, None) => Metric::Words,
        }
    }

    /// The distance of two codes.
    #[inline]
    pub(crate) fn between(&self, one: u32, other: u32) -> f64 {
        if one == other {
            return 0.0;
        }
        match self {
            Metric::Numbers(places) => match (places.get(one as usize), places.get(other as usize)) {
                (Some(one), Some(other)) => (one - other).abs(),
                _ => 1.0,
            },
            Metric::Words => 1.0,
            Metric::Tree(hierarchy, heights) => {
                let is_value = (one.max(other) as usize) < hierarchy.n_terms();
                let common = if is_value { hierarchy.lowest_common(one, other) } else { None };
                common.map_or(1.0, |node| heights[node as usize])
            }
        }
    }

    /// No two different codes are nearer than this.
    pub(crate) fn least(&self) -> f64 {
        match self {
            Metric::Numbers(_) => 0.0,
            Metric::Words => 1.0,
            Metric::Tree(hierarchy, heights) => heights[hierarchy.n_terms()..].iter().copied().fold(1.0, f64::min),
        }
    }
}

fn heights(hierarchy: &Hierarchy) -> Vec<f64> {
    let root = hierarchy.n_nodes();
    let mut heights = vec![0_u32; root + 1];
    let mut roots = 0;
    // A parent's number is greater than its children's.
    for node in 0..root {
        let parent = hierarchy.parent(node as NodeId).map_or(root, |parent| parent as usize);
        roots += u32::from(parent == root);
        heights[parent] = heights[parent].max(heights[node] + 1);
    }
    let whole = if roots > 1 { heights[root] } else { heights[root].saturating_sub(1) };
    heights[..root].iter().map(|&height| f64::from(height) / f64::from(whole.max(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::table::{Column, Role};

    #[test]
    fn distances_by_kind_of_column() {
        let numbers = Column::numbers("n", Role::Quasi, [Some(10.0), Some(20.0), Some(60.0), None]).domain;
        let metric = Metric::new(&numbers);
        assert_eq!([(0, 1), (2, 1), (0, 3), (3, 3)].map(|(a, b)| metric.between(a, b)), [0.2, 0.8, 1.0, 0.0]);
        let mut words = Column::words("w", Role::Quasi, ["a", "b", "c", "d"].map(Some)).domain;
        assert_eq!([(0, 1), (4, 1), (4, 4)].map(|(a, b)| Metric::new(&words).between(a, b)), [1.0, 1.0, 0.0]);
        let paths = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"]), ("d", ["y", "*"])];
        let hierarchy = Hierarchy::from_paths(words.texts(), paths).unwrap();
        words.set_hierarchy(hierarchy);
        let metric = Metric::new(&words);
        assert_eq!([(0, 1), (2, 1), (4, 1), (3, 3)].map(|(a, b)| metric.between(a, b)), [0.5, 1.0, 1.0, 0.0]);
        assert_eq!(metric.least(), 0.5);
        let forest = [("a", ["x"]), ("b", ["x"]), ("c", ["y"]), ("d", ["y"])];
        let hierarchy = Hierarchy::from_paths(words.texts(), forest).unwrap();
        words.set_hierarchy(hierarchy);
        assert_eq!([(0, 1), (2, 1)].map(|(a, b)| Metric::new(&words).between(a, b)), [0.5, 1.0]);
    }
}
