//! Which role a column should have, and why. A suggestion is made only where a wrong one publishes nobody: what is left out or
//! generalised may be suggested, and so may a sensitive attribute whose name says that it is one. Everything else is a question.
//!
//! Promises:   no column is suggested to be published as it is, but one with the same value in all rows, one that is empty, or one that
//!             its name calls sensitive
//! Checked by: `tests/it/roles/kinds.rs`

use serde::Serialize;

use super::kind::{Kind, date_style, is_near_unique, number_style};
use super::names::Meaning;
use super::tally::Tally;
use crate::read::values::Choice;

/// What a column may be for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suggested {
    /// A direct identifier: never published.
    Identifier,
    /// A quasi-identifier: generalised.
    Quasi,
    /// A sensitive attribute: published as it is, in equivalence classes.
    Sensitive,
    /// An insensitive attribute: published as it is.
    Insensitive,
    /// A list of terms: published in chunks.
    Set,
}

impl Suggested {
    /// All of them, with how a recipe calls them and what happens to such a column.
    pub const ALL: [(Suggested, &'static str, &'static str); 5] = [
        (Suggested::Quasi, "quasi", "a quasi-identifier: others may know it of a person; it is generalised"),
        (
            Suggested::Sensitive,
            "sensitive",
            "a sensitive attribute: nobody may learn it of a person; published in classes",
        ),
        (Suggested::Identifier, "identifier", "a direct identifier, or anything to be left out: never published"),
        (Suggested::Insensitive, "insensitive", "an insensitive attribute: published as it is, in every row"),
        (Suggested::Set, "set", "a list of terms: published in chunks; one column at most"),
    ];

    /// As a recipe calls it.
    pub fn name(self) -> &'static str {
        Suggested::ALL.iter().find(|(role, ..)| *role == self).map_or("", |(_, name, _)| name)
    }
}

/// How a column is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAs {
    /// As numbers, in ranges.
    Numeric,
    /// As dates, by month, quarter, year and decade.
    Date,
    /// As codes, by what they begin with.
    Prefix,
    /// As words.
    Words,
}

/// What only a person can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Nothing tells what the column is for.
    Role,
    /// Nothing tells day from month.
    DateOrder,
    /// Nothing tells decimals from thousands.
    Decimal,
    /// Some cells are no numbers, or no dates, and nothing tells what they mean.
    Unread,
}

/// What is suggested for a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// The role, unless it would be a guess.
    pub role: Option<Suggested>,
    /// Why, in plain words.
    pub reason: String,
    /// How to read it.
    pub read_as: ReadAs,
    /// How it is generalised, in plain words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<&'static str>,
    /// What must be answered first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// What is suggested for a column of a kind.
pub(super) fn suggest(tally: &Tally, kind: Kind, meaning: Option<Meaning>, rows: u64) -> Suggestion {
    let (role, reason) = role_of(tally, kind, meaning, rows);
    let read_as = match kind {
        Kind::Integer | Kind::Number => ReadAs::Numeric,
        Kind::Date => ReadAs::Date,
        Kind::Code => ReadAs::Prefix,
        _ => ReadAs::Words,
    };
    let hierarchy = match read_as {
        _ if role == Some(Suggested::Identifier) || role == Some(Suggested::Set) => None,
        ReadAs::Numeric => Some("ranges of numbers"),
        ReadAs::Date => Some("day, month, quarter, year, decade"),
        ReadAs::Prefix => Some("what codes begin with"),
        ReadAs::Words => Some("sets of values; a file with a hierarchy keeps more"),
    };
    let is_out = role == Some(Suggested::Identifier);
    let question = match role {
        None => Some(Question::Role),
        Some(_) if is_out => None,
        Some(_) => question_of(tally, kind),
    };
    Suggestion { role, reason, read_as, hierarchy, question }
}

/// What about the values must be asked.
fn question_of(tally: &Tally, kind: Kind) -> Option<Question> {
    match kind {
        Kind::Date => match date_style(tally) {
            Choice::Read(_) => None,
            Choice::Ambiguous => Some(Question::DateOrder),
            Choice::Mixed | Choice::Unread => Some(Question::Unread),
        },
        Kind::Integer | Kind::Number => match number_style(tally) {
            Choice::Read(_) => None,
            Choice::Ambiguous => Some(Question::Decimal),
            Choice::Mixed | Choice::Unread => Some(Question::Unread),
        },
        _ => None,
    }
}

fn role_of(tally: &Tally, kind: Kind, meaning: Option<Meaning>, rows: u64) -> (Option<Suggested>, String) {
    use Suggested::{Identifier, Insensitive, Quasi, Sensitive, Set};
    let (values, distinct, own) = (tally.values, tally.different.distinct(), tally.different.own());
    let several = if values > distinct { format!(", {distinct} for {values} rows") } else { String::new() };
    let known = |role: Suggested, reason: &str| (Some(role), reason.to_owned());
    match (kind, meaning) {
        (Kind::Empty, _) => known(Insensitive, "no cell has a value"),
        (_, Some(Meaning::Direct)) => known(Identifier, "its name says that it names or reaches a person"),
        (Kind::Identifier, Some(Meaning::Id)) => {
            (Some(Identifier), format!("its name says that it numbers people or rows{several}"))
        }
        (Kind::Identifier, _) => known(Identifier, "nearly every row has a value of its own"),
        (Kind::FreeText, _) => {
            known(Identifier, "free text may name people: it is left out unless you decide otherwise")
        }
        (Kind::NearUnique, _) => (
            Some(Identifier),
            format!("{own} of {values} rows have a value that no other row has: with it the row is found"),
        ),
        (Kind::List, _) => known(Set, "its cells are lists of terms that come again in other rows"),
        _ if distinct == 1 && values == rows && rows > 1 => known(Insensitive, "all rows have the same value"),
        (_, Some(Meaning::Sensitive)) => {
            known(Sensitive, "its name says something that nobody should learn about a person")
        }
        (_, Some(Meaning::Postcode)) => known(Quasi, "others know where a person lives"),
        (Kind::Date, _) => known(Quasi, "others may know a date in a person's life"),
        (_, Some(Meaning::Known)) => known(Quasi, "others may know it of a person"),
        (Kind::Number | Kind::Integer, _) if is_near_unique(values, distinct, own) => (
            None,
            format!("{own} of {values} rows have a number that no other row has, and its name does not say what it is"),
        ),
        _ => (None, String::from("nothing shows whether others know it of a person, or nobody may learn it")),
    }
}
