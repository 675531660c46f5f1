//! What a run or a verb found out, for people who must decide: one page each for those inside and those outside.
//!
//! A [`Run`] is everything that a run found out. In full it belongs into custody: utility and risk were counted in the original.
//! The public page shows only what follows from the release and its claim. The words stand in one place for each form; HTML,
//! Markdown and text only dress them. No page shows a term of the data, but those inside on the dependencies of a table show
//! values that its release shows, and `attack` those of findings where somebody asks for them.

mod answers;
mod classes;
mod dependency;
mod dictionary;
mod disassociated;
mod html;
mod json;
mod markdown;
mod meaning;
pub mod network_svg;
mod noisy;
mod page;
pub mod plot;
mod recoded;
mod run;
mod split;
mod text;

use serde::Serialize;

pub use answers::{
    Audited, CountedPeople, Explained, Shown, UTILITY_PLOTS, attack_page, audit_page, audit_sets_page, chunks_repaired,
    columns_page, demo_page, explain_page, groups_repaired, inspect_page, inspect_table_page, noise_promise,
    noisy_rows, predicates_page, proof_page, query_page, sweep_page, utility_page, utility_plots,
};
pub use classes::Tried;
pub use dependency::{dependencies_html, network_picture};
pub use dictionary::{DataDictionary, DescribedColumn, DescribedTable};
pub use page::{Page, count, number, share, visible, visible_json, visible_lines};
pub use run::{
    AnyClaim, AsRead, Attacked, Before, Believed, Dependencies, Happened, Judgement, Known, Limit, Proof, Repaired,
    Round, Run, Satisfied, SweepRow, Unchecked, Unit, Utility, people_line,
};

/// Who reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// Those who may know what was counted in the original: for custody.
    Inside,
    /// Everybody who gets the release: only what follows from it and from its claim.
    Public,
}
