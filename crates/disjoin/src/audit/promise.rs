//! What a claim may promise of a table that was audited: what was found, and no more.
//!
//! Promises:   every criterion holds in every class; limits are rounded to four decimals, to the side that promises less
//! Checked by: `tests/it/audit.rs`: `verify` proves the claim

use super::TableAudit;
use crate::release::privacy_models::{Criterion, Distance};

/// Limits are told to so many parts of one.
const PARTS: f64 = 10_000.0;

/// The criteria that the classes of a table satisfy. With several sensitive columns those of the column that stands worst; none about
/// sensitive values if there is no such column.
pub fn criteria(audit: &TableAudit) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    if audit.k >= 2 {
        criteria.push(Criterion::KAnonymity { k: u32::try_from(audit.k).unwrap_or(u32::MAX) });
    }
    let all = &audit.sensitive;
    if all.is_empty() {
        return criteria;
    }
    let most = |of: &dyn Fn(&super::SensitiveAudit) -> f64| all.iter().map(of).fold(0.0, f64::max);
    let l = all.iter().map(|column| column.distinct_l.value as u32).min().unwrap_or(0);
    if l >= 2 {
        criteria.push(Criterion::DistinctDiversity { l });
        let entropy = all.iter().map(|column| column.entropy_l.value).fold(f64::INFINITY, f64::min);
        let entropy = (entropy * PARTS).floor() / PARTS;
        criteria.extend((entropy > 1.0).then_some(Criterion::EntropyDiversity { l: entropy }));
        // Strictly less, by definition.
        let c = most(&|column| column.recursive.iter().find(|of| of.l == 2).map_or(f64::INFINITY, |of| of.c));
        let c = (c * PARTS).floor() / PARTS + 1.0 / PARTS;
        criteria.extend(c.is_finite().then_some(Criterion::RecursiveDiversity { c, l: 2 }));
    }
    let above = |value: f64| ((value * PARTS).ceil() / PARTS).max(1.0 / PARTS);
    let alpha = above(most(&|column| column.alpha.value));
    criteria.extend((alpha < 1.0).then_some(Criterion::Frequency { alpha }));
    let t = |distance, value: f64| Criterion::Closeness { t: above(value).min(1.0), distance };
    criteria.push(t(Distance::Equal, most(&|column| column.t_equal.value)));
    let worst = |of: &dyn Fn(&super::SensitiveAudit) -> Option<super::Worst>| -> Option<f64> {
        all.iter()
            .map(|column| of(column).map(|worst| worst.value))
            .try_fold(0.0, |most, value| Some(f64::max(most, value?)))
    };
    criteria.extend(worst(&|column| column.t_ordered).map(|value| t(Distance::Ordered, value)));
    criteria.extend(worst(&|column| column.t_hierarchical).map(|value| t(Distance::Hierarchical, value)));
    criteria.push(match worst(&|column| column.enhanced_beta) {
        Some(beta) => Criterion::Likeness { beta: above(beta), enhanced: true },
        None => Criterion::Likeness { beta: above(most(&|column| column.basic_beta.value)), enhanced: false },
    });
    criteria
}
