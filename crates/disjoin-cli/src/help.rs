//! `disjoin protect --help`: what the data at hand needs, and not everything at once.

use std::path::Path;

use clap::{Command, CommandFactory};
use disjoin::Unobserved;
use disjoin::inspect::profile::Kind;
use disjoin::read::Options;
use disjoin::run::{Look, look};

use crate::flags::input::SOURCES;

/// Headings that are always shown, and those of each topic.
const ALWAYS: [&str; 2] = ["Input", "Common"];
const TOPICS: [(&str, &[&str]); 4] = [
    ("sets", &["Sets"]),
    ("tables", &["Tables", "Background knowledge (tables)"]),
    ("recoding", &["Recoding"]),
    ("noise", &["Noise"]),
];

/// The help of `protect`, if that is what was asked for.
pub(crate) fn of_protect(arguments: &[String]) -> Option<String> {
    let verb =
        arguments.iter().position(|argument| !argument.starts_with('-')).filter(|&at| arguments[at] == "protect")?;
    let rest = &arguments[verb + 1..];
    let asked = rest.iter().position(|argument| argument == "--help" || argument == "-h")?;
    let named = rest.get(asked + 1).map(String::as_str);
    let is_known = |topic: &&str| *topic == "all" || TOPICS.iter().any(|(name, _)| name == topic);
    let file = rest.iter().find(|argument| Path::new(argument).is_file());
    let topic = named.filter(is_known).or_else(|| file.map(|file| topic_of(file))).unwrap_or("sets");
    let mut all = crate::Cli::command();
    // Flags of all verbs come with it.
    all.build();
    let mut protect = all.find_subcommand("protect")?.clone().bin_name("disjoin protect");
    if topic != "all" {
        protect = only(protect, topic);
    }
    let is_short = rest[asked] == "-h";
    let help = if is_short { protect.render_help() } else { protect.render_long_help() };
    Some(help.to_string())
}

/// What a file needs: a table whose columns are no lists needs roles.
fn topic_of(file: &str) -> &'static str {
    match look(Path::new(file), &Options::default(), SOURCES, &Unobserved) {
        Ok(Look::Table(found)) if found.columns.iter().all(|column| column.kind != Kind::List) => "tables",
        _ => "sets",
    }
}

fn only(protect: Command, topic: &str) -> Command {
    let shown = TOPICS.iter().find(|(name, _)| *name == topic).map_or(&[][..], |(_, headings)| headings);
    protect.mut_args(|argument| {
        let hides = argument.get_help_heading().is_some_and(|h| !ALWAYS.contains(&h) && !shown.contains(&h));
        if hides { argument.hide(true) } else { argument }
    })
}
