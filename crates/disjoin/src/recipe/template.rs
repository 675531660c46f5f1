//! A first recipe, with a comment for every key, for people to change.
//!
//! Promises:   the password of a URL is left out, and the recipe says how to give it
//! Checked by: tests/it/recipes.rs: it is read back, and has the defaults that it shows

use super::template_table;
use super::template_table::{TableAnswers, of_table};
use crate::inspect::Suggested;
use crate::location::{scheme, without_password};
use crate::protect::disassociation::Params;

/// The recipe, with names in braces where answers go.
const TEXT: &str = include_str!("template.toml");

/// What was asked before a recipe is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Answers {
    /// The data.
    pub file: String,
    /// The column with the list of terms, if the data is a table.
    pub column: Option<String>,
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many terms of background knowledge an adversary has.
    pub m: u32,
    /// Terms that are never to be linked with others.
    pub sensitive: Vec<String>,
    /// The folder of the package.
    pub folder: String,
    /// What each column is, if the data are a table.
    pub table: Option<TableAnswers>,
}

/// The text of a commented recipe.
pub fn template(answers: &Answers) -> String {
    let only_list = answers.table.as_ref().and_then(TableAnswers::only_list);
    if let (Some(table), None) = (&answers.table, only_list) {
        return of_table(answers, table);
    }
    let Answers { file, column, k, m, sensitive, folder, .. } = answers;
    let column = match column.as_deref().or(only_list) {
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
    let values = [
        ("{file}", quoted(&without_password(file)) + login(file)),
        ("{list_separator}", list_separator(answers)),
        ("{person}", person(answers)),
        ("{column}", column),
        ("{k}", k.to_string()),
        ("{m}", m.to_string()),
        ("{max_cluster}", Params::new(*k, *m).max_cluster.to_string()),
        ("{sensitive}", sensitive),
        ("{risk}", (1.0 / f64::from((*k).max(1))).to_string()),
        ("{folder}", quoted(folder)),
    ];
    filled(TEXT, &values)
}

/// As TOML writes a text.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// How to log in to a database, in a remark.
pub(super) fn login(file: &str) -> &'static str {
    match scheme(file) {
        None | Some("sqlite") => "",
        Some(_) => {
            "\n# A password does not stand here: set PGPASSWORD, or write it to ~/.pgpass, which only you may read."
        }
    }
}

/// What stands between the terms of a list, if somebody looked.
fn list_separator(answers: &Answers) -> String {
    let set = answers.table.as_ref().and_then(|table| table.with_role(Suggested::Set).next());
    match set.and_then(|column| column.found.list_separator) {
        Some(mark) => format!("list_separator = {}", quoted(&mark.to_string())),
        None => String::from("# list_separator = \";\""),
    }
}

/// Whose rows they are, if people have several.
fn person(answers: &Answers) -> String {
    answers.table.as_ref().map_or(String::new(), |table| match template_table::person(table) {
        line if line.is_empty() => line,
        line => line + "\n",
    })
}

/// The text with values in place of their names. Values are not looked into: a file may be called `{k}`.
pub(super) fn filled(text: &str, values: &[(&str, String)]) -> String {
    let (mut all, mut rest) = (String::new(), text);
    while let Some((before, _)) = rest.split_once('{') {
        let (_, from_brace) = rest.split_at(before.len());
        all.push_str(before);
        let named = values.iter().find_map(|(name, value)| Some((value.as_str(), from_brace.strip_prefix(name)?)));
        let (value, behind) = named.unwrap_or(("{", from_brace.get(1..).unwrap_or_default()));
        all.push_str(value);
        rest = behind;
    }
    all + rest
}
