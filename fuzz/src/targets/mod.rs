//! The targets by name.

mod claims;
mod databases;
mod formats;
mod pipeline;
mod readers;
mod recipes;
mod releases;

/// What inputs are made of, which decides how they are changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// Text in pieces and lines.
    Plain,
    /// JSON, as a whole or a line.
    Json,
    /// TOML.
    Toml,
    /// A binary file.
    Binary,
    /// Decisions from which something is built: they mean nothing by themselves.
    Decisions,
}

/// Something that gets bytes from strangers.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// The folder of its seeds.
    pub seeds: &'static str,
    /// What its inputs are made of.
    pub text: Text,
    /// Runs it on an input; whether that got past the parser. Panics if something is wrong.
    pub run: fn(&[u8]) -> bool,
}

const fn target(name: &'static str, seeds: &'static str, text: Text, run: fn(&[u8]) -> bool) -> Target {
    Target { name, seeds, text, run }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("basket", "basket", Text::Plain, readers::basket),
    target("spmf", "spmf", Text::Plain, readers::spmf),
    target("long", "long", Text::Plain, readers::long),
    target("table", "table", Text::Plain, readers::table),
    target("json_lines", "json_lines", Text::Json, readers::json_lines),
    target("parquet", "parquet", Text::Binary, readers::parquet),
    target("parquet_built", "parquet_built", Text::Decisions, readers::parquet_built),
    target("recognised", "recognised", Text::Plain, readers::recognised),
    target("people", "people", Text::Plain, readers::people),
    target("hierarchy", "hierarchy", Text::Plain, readers::hierarchy),
    target("sqlite", "sqlite", Text::Binary, databases::sqlite),
    target("url", "url", Text::Plain, databases::url),
    target("recipe", "recipe", Text::Toml, recipes::recipe),
    target("claim", "claim", Text::Json, claims::claim),
    target("format_jsonl", "format_jsonl", Text::Json, formats::jsonl),
    target("format_parquet", "format_parquet", Text::Binary, formats::parquet),
    target("format_recoded", "format_recoded", Text::Json, formats::recoded),
    target("format_noisy", "format_noisy", Text::Json, formats::noisy),
    target("disassociated", "disassociated", Text::Decisions, releases::disassociated),
    target("disassociated_parquet", "disassociated_parquet", Text::Decisions, releases::disassociated_parquet),
    target("generalized", "generalized", Text::Decisions, releases::generalized),
    target("split", "split", Text::Decisions, releases::split),
    target("recoded", "recoded", Text::Decisions, releases::recoded),
    target("noisy", "noisy", Text::Decisions, releases::noisy),
    target("pipeline", "pipeline", Text::Decisions, pipeline::pipeline),
];
