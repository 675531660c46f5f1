//! A first recipe, with a comment for every key, for people to change.
//!
//! Checked by: tests/it/recipes.rs: it is read back, and is what it says the defaults are

use std::fmt::Write as _;

use super::resolve::default_max_cluster;
use crate::protect::disassociation::Grouping;

/// What was asked before a recipe is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// The data.
    pub file: String,
    /// The column with the list of terms, if the data is a table.
    pub column: Option<String>,
    /// The size of the crowd.
    pub k: u32,
    /// How many terms an adversary may know.
    pub m: u32,
    /// Terms that are never to be linked with others.
    pub sensitive: Vec<String>,
    /// The folder of the package.
    pub folder: String,
}

/// The text of a commented recipe.
pub fn template(answers: &Answers) -> String {
    let Answers { file, column, k, m, sensitive, folder } = answers;
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let column = match column {
        Some(column) => format!("column = {}", quoted(column)),
        None => String::from("# column = \"diagnoses\""),
    };
    let sensitive = match sensitive.is_empty() {
        true => String::from("# sensitive = [\"...\"]"),
        false => {
            let list: Vec<String> = sensitive.iter().map(|term| quoted(term)).collect();
            format!("sensitive = [{}]", list.join(", "))
        }
    };
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(
        text,
        "\
# What disjoin does with this data: disjoin run THIS_FILE
# Lines that begin with # are remarks; a value after # is the default.

[input]
# Relative paths start at the folder of this file.
file = {file}
# The column (or JSON field) that holds each person's list of terms; needed if the data is a table.
{column}
# Only where the file's name and content do not say it: basket, spmf, long, csv, jsonl, parquet
# format = \"csv\"
# separator = \",\"
# In the format long, whose row it is, and the term:
# id_column = \"patient\"
# item_column = \"diagnosis\"
# What stands between the terms inside a list column:
# list_separator = \";\"

[protect]
# disassociation keeps all terms and cuts links. Others recode terms: apriori, lra or vpa (with hierarchy = \"tree.csv\" or fanout = 10),
# coat or pcta (with privacy = \"privacy.txt\"), suppression, suppression-partial; most of the keys below are not theirs.
# privbasis or diffpart add noise (with epsilon = 1 in [protect.noise]); none of the keys below is theirs.
# method = \"disassociation\"
# Everybody hides in a crowd of k ...
k = {k}
# ... from somebody who knows up to m terms of a person.
m = {m}
# layered: terms that many share are published together, the others in small groups of records that are alike;
# paper: groups by the most frequent terms.
# grouping = \"layered\"
# Groups stay below this size: larger ones keep more of rare terms, smaller ones more of what goes together.
# max_cluster = {max_cluster}
# algorithm-aware: also against somebody who knows how groups are cut; published: only against somebody who does not.
promise = \"algorithm-aware\"
# Whether groups may share chunks, so that rare terms keep their counts.
# refine = true
# Terms that are never to be linked with others, and with which probability (1/L) at most:
{sensitive}
# l_diversity = 5

# If each row is a person with several columns, say what each column is for (remove the first # of these lines):
# [table]
# # Others may know it, so it is generalised; nobody may learn it; it names people; neither.
# quasi = [\"age\", \"sex\", \"region\"]
# sensitive = [\"disease\"]
# identifier = [\"name\"]
# other = [\"ward\"]
# # A list of terms of each person, cut into chunks inside the classes:
# set = \"diagnoses\"
# numeric = [\"age\"]
# hierarchies = {{ region = \"region.csv\" }}
# method = \"least-loss\"
# most_removed = 0.05
# # What every class must satisfy besides k: l, entropy_l, recursive, alpha, t, beta, background
# [table.criteria]
# beta = 2.0
# [table.at_most]
# loss = 0.3

[attack]
# What is tried against the release before anybody else does.
run = [\"cover\", \"closure\", \"worlds\", \"reassociate\", \"identity\"]
# How many certain statements are put up with, and how likely a row may be a person's (default: 1/k).
most_certain = 0
# most_likely = {likely}
# Methods that recode terms have other attacks, in place of the keys above: what words mean tells which terms of a group were not in
# a record. Words are known from a file that disjoin corpus build wrote, or from counts = \"counts.csv\", or from the release itself.
#     corpus = \"words.corpus\"
#     eliminate = [\"random\", \"largest\", \"threshold\", \"weighted\", \"group\", \"redistribution\", \"calibrated\"]
# How many items beside a group count (all if it is missing), and how many of its records are looked at:
#     context = 5
#     rows = 500
# How much more often than blind guesses they may be right:
#     most_beyond_blind = 0.1

[measure]
# How many of the most frequent itemsets to compare, how many random ones to count.
# top = 1000
# queries = 200
# seed = 1

[measure.at_most]
# The worst that is put up with. Remove the # to set a limit.
# itemsets_lost = 0.2
# terms_lost = 0.2
# pair_error = 0.5
# query_error = 0.5

[repair]
# How often what attacks broke is mended at most.
rounds = 3
# Groups of recoded terms are mended where attacks are right too often (most_beyond_blind; 0 if it is missing). NCP, the loss by generalising,
# may become so many times what it was:
#     limit = 1.5

[output]
folder = {folder}
# jsonl, or parquet for large data
# format = \"jsonl\"
",
        file = quoted(file),
        folder = quoted(folder),
        max_cluster = default_max_cluster(*k, Grouping::Layered),
        likely = 1.0 / f64::from((*k).max(1)),
    );
    text
}
