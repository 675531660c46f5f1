//! A first recipe, with a comment for every key, for people to change.
//!
//! Promises:   the password of a URL is left out, and the recipe says how to give it
//! Checked by: tests/it/recipes.rs: it is read back, and has the defaults that it shows

use crate::location::{scheme, without_password};
use crate::protect::disassociation::Params;

/// The recipe, with names in braces where answers go.
const TEXT: &str = include_str!("template.toml");

/// What was asked before a recipe is written.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    let how_to_log_in = match scheme(file) {
        None | Some("sqlite") => "",
        Some(_) => {
            "\n# A password does not stand here: set PGPASSWORD, or write it to ~/.pgpass, which only you may read."
        }
    };
    let values = [
        ("{file}", quoted(&without_password(file)) + how_to_log_in),
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

/// The text with values in place of their names. Values are not looked into: a file may be called `{k}`.
fn filled(text: &str, values: &[(&str, String)]) -> String {
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
