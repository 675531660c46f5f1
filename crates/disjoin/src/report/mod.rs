//! What a run did, for people who must decide: one page each for those inside and those outside.
//!
//! A [`Story`] is everything that a run found out. Told in full it belongs into custody: utility and risk were counted in the
//! original. The public page tells only what follows from the release and its claim.
//!
//! The words stand in one place (`words.rs`, and the sections that it puts in order); HTML and Markdown only dress them, and
//! JSON tells the same to programs. No page shows a term of the data, but those inside on the dependencies of a table show values
//! that its release shows.

mod dependency;
mod html;
mod json;
mod markdown;
mod meaning;
pub mod network_svg;
mod noisy;
pub mod plot;
mod recoded;
mod sections;
mod split;
mod table;
mod utility;
mod verdict;
mod words;

use serde::Serialize;

use crate::attack::summary::Summary;
use crate::inspect::Risk;
use crate::measure;
use crate::recipe::Recipe;
use crate::release::Claim;
use crate::repair;
use crate::verify::Verdict;

pub use dependency::{dependencies_html, network_picture};
pub use html::html;
pub use json::{Told, json};
pub use markdown::markdown;
pub use noisy::{NoisyStory, noisy_html, noisy_markdown};
pub use recoded::{RecodedStory, recoded_html, recoded_markdown};
pub use split::{SplitStory, split_html, split_markdown};
pub use table::{TableStory, Tried, table_html, table_markdown};
pub use words::number;

/// Who reads a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Audience {
    /// Those who may know what was counted in the original: for custody.
    Inside,
    /// Everybody who gets the release: only what follows from it and from its claim.
    Public,
}

/// What a run did and found out. Nothing in it is about one person, but for the terms of [`Summary::worst`], which no page
/// shows.
#[derive(Debug, Clone, Serialize)]
pub struct Story {
    /// What was asked for, with all defaults.
    pub recipe: Recipe,
    /// How many records were read, with how many different terms.
    pub records: u64,
    /// How many different terms they hold.
    pub terms: u64,
    /// Who could be singled out in the data as it was.
    pub before: Risk,
    /// What is promised about the last round's release.
    pub claim: Claim,
    /// Protection, and repairs after it.
    pub rounds: Vec<Round>,
    /// What the last round's release is still good for.
    pub utility: measure::Report,
    /// The limits of the recipe, and whether they are kept.
    pub limits: Vec<Limit>,
    /// Whether the promise is proved and every limit is kept.
    pub holds: bool,
    /// Seconds that each stage took, in the order of the stages.
    pub seconds: Vec<(String, f64)>,
}

/// A release, proved and attacked.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    /// What the repair before it changed; nothing for the first round, in which the data was protected.
    pub repaired: Option<repair::Stats>,
    /// Whether it keeps its promise.
    pub verdict: Verdict,
    /// What the attacks found in it.
    pub attacks: Summary,
}

/// A limit of the recipe.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The key of the recipe, as `attack.most_certain`.
    pub key: String,
    /// What it is about, in plain words: "statements that are certain".
    pub meaning: String,
    /// The highest value allowed.
    pub at_most: f64,
    /// The value of this run.
    pub value: f64,
    /// Whether it is kept.
    pub holds: bool,
}
