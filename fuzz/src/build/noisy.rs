//! Noisy releases: rows with counts, beside a claim whose ledger adds up.

use disjoin::release::noisy::{Noisy, Row, Rows};
use serde_json::Value;

use super::terms;
use crate::draw::Draw;
use crate::scratch::Files;

/// Claims of releases that the program made.
const CLAIMS: [&str; 2] =
    [include_str!("../../seeds/claim/noisy-privbasis.json"), include_str!("../../seeds/claim/noisy-diffpart.json")];

/// A release.
pub(crate) fn noisy(draw: &mut Draw<'_>) -> Files {
    let which = draw.below(CLAIMS.len());
    let names = terms(draw, 5);
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..draw.number(0, 12) {
        let terms: Vec<String> = draw.some(&names, 100).into_iter().map(str::to_owned).collect();
        let least = u32::from(!draw.chance(4));
        let count = draw.number(least, 40).into();
        if !terms.is_empty() && (draw.chance(4) || rows.iter().all(|row| row.terms != terms)) {
            rows.push(Row { terms, count });
        }
    }
    let kind = if (which == 0) != draw.chance(8) { Rows::Itemsets } else { Rows::Records };
    let mut data = Vec::new();
    Noisy::new(kind, rows).write(&mut data).expect("memory can be written to");
    let claim: Value = serde_json::from_str(CLAIMS[which]).expect("seeds are JSON");
    let files = Files::default().with("claim.json", format!("{claim:#}\n")).with("data.jsonl", data);
    if claim["universe"] == "listed" || draw.chance(4) {
        let mut listed: Vec<&str> = names;
        listed.sort_unstable();
        return files.with("universe.txt", listed.join("\n") + "\n");
    }
    files
}
