//! What `sweep` says: a row a recipe.

use super::{numbers, text};
use crate::report::page::{Page, Part, count};
use crate::report::run::SweepRow as Row;

/// All rows, those on the frontier, and the best.
pub fn sweep_page(rows: &[Row], on_frontier: &[bool], best: Option<&(usize, String)>, loss: &str, done: usize) -> Page {
    let value = |row: &Row, name: &str| row.found.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    let shown = |value: Option<f64>| match value {
        None => String::from("-"),
        Some(value) if value == value.round() => format!("{value:.0}"),
        Some(value) => format!("{value:.4}"),
    };
    const COLUMNS: [(&str, &str); 11] = [
        ("certain_disclosures", "certain"),
        ("reidentification_risk", "risk"),
        ("advantage", "advantage"),
        ("inference_gain", "gain"),
        ("knowledge_breach", "breach"),
        ("dependency_rules", "rules"),
        ("itemsets_lost", "itemsets"),
        ("terms_lost", "terms"),
        ("query_error", "queries"),
        ("link_error", "links"),
        ("visible_occurrences", "visible"),
    ];
    let used: Vec<&(&str, &str)> =
        COLUMNS.iter().filter(|(name, _)| rows.iter().any(|row| value(row, name).is_some())).collect();
    let optional = |n: Option<u32>| n.map_or(String::from("-"), |n| n.to_string());
    let line = |(at, row): (usize, &Row)| {
        let mark = match (best.is_some_and(|(best, _)| *best == at), on_frontier[at], row.holds) {
            (true, ..) => "best",
            (_, true, _) => "*",
            (.., false) => "limits",
            _ => "",
        };
        let mut cells = vec![row.k.to_string(), optional(row.m), optional(row.max_cluster)];
        cells.extend(used.iter().map(|(name, _)| shown(value(row, name))));
        cells.extend([format!("{:.4}", row.loss), format!("{:.2}", row.seconds), mark.to_owned()]);
        cells
    };
    let mut heads = vec!["k", "m", "clusters"];
    heads.extend(used.iter().map(|(_, head)| *head));
    heads.extend(["loss", "seconds", ""]);
    let mut parts: Vec<Part> = Vec::new();
    if done > 0 {
        parts.push(text(format!("{} had been made before", count(done as u64, "recipe", "recipes"))));
    }
    parts.push(numbers(&heads, rows.iter().enumerate().map(line).collect()));
    parts.push(text(format!(
        "loss: {loss}. * promises as much as no other with as little loss; limits: a limit of the recipe is not kept."
    )));
    Page::answer(parts, best.map_or(String::new(), |(_, why)| format!("Best: {why}.")))
}
