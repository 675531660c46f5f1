//! What verbs say: the same pages as reports, in a few lines.

mod attacks;
mod audited;
mod explained;
mod inspected;
mod measured;
mod proved;
mod ran;
mod swept;

pub use attacks::attack_page;
pub(super) use attacks::reran_in_words;
pub use audited::{Audited, audit_page, audit_sets_page};
pub use explained::{Explained, Shown, explain_page};
pub use inspected::{CountedPeople, columns_page, inspect_page, inspect_table_page};
pub use measured::{UTILITY_PLOTS, predicates_page, query_page, utility_page, utility_plots};
pub use proved::{noise_promise, noisy_rows, proof_page};
pub use ran::{chunks_repaired, demo_page, groups_repaired};
pub use swept::sweep_page;

use super::page::{Kind, Part, Table};

/// How many findings, clusters, rules and values are shown as text; JSON has more.
const SHOWN: usize = 10;

/// A table of which the first column names the rows and the others are numbers.
fn numbers(heads: &[&'static str], rows: Vec<Vec<String>>) -> Part {
    let kind = |(at, &head): (usize, &&'static str)| (head, if at == 0 { Kind::Words } else { Kind::Number });
    Part::Table(Table { caption: String::new(), columns: heads.iter().enumerate().map(kind).collect(), rows })
}

fn text(text: impl Into<String>) -> Part {
    Part::Text(text.into())
}

fn four(value: f64) -> String {
    format!("{value:.4}")
}

fn four_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| String::from("-"), four)
}
