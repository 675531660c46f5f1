//! A first recipe for a table: every column with its role, and what is not decided as a question.
//!
//! Promises:   a recipe without a question runs as it is written; one with a question cannot be run until it is answered, and the error
//!             names it. The texts of cells are not in it, but for those that mean "no value" in any table
//! Checked by: tests/it/roles/written.rs

use super::template::{Answers, filled, login, quoted};
use super::written::parse;
use crate::inspect::profile::{ColumnProfile, Kind, Question, ReadAs, Suggested, TableProfile};
use crate::location::without_password;
use crate::read::values::{DateOrder, Decimal};

/// The recipe, with names in braces where answers go.
const TEXT: &str = include_str!("template_table.toml");

/// What was answered about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableAnswers {
    /// Its columns, in order.
    pub columns: Vec<ColumnAnswer>,
    /// The order of day and month, if somebody said it.
    pub date_order: Option<DateOrder>,
    /// What stands before decimals, if somebody said it.
    pub decimal: Option<Decimal>,
    /// What stands between cells, if somebody said it.
    pub separator: Option<String>,
    /// The column that numbers people with several rows, if there is one.
    pub person: Option<String>,
}

/// What was answered about a column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnAnswer {
    /// What was found in it.
    pub found: ColumnProfile,
    /// Its role; none as long as that is a question.
    pub role: Option<Suggested>,
    /// Whether it may be published as it is, though it is near-unique or free text.
    pub publish_as_is: bool,
}

impl TableAnswers {
    /// What is suggested, and nothing that would be a guess.
    pub fn suggested(profile: &TableProfile) -> Self {
        let column = |found: &ColumnProfile| ColumnAnswer {
            found: found.clone(),
            role: found.suggestion.role.filter(|_| found.suggestion.question != Some(Question::Unread)),
            publish_as_is: false,
        };
        TableAnswers {
            columns: profile.columns.iter().map(column).collect(),
            date_order: None,
            decimal: None,
            separator: None,
            person: profile.person.as_ref().map(|person| person.column.clone()),
        }
    }

    /// The columns with a role, in order.
    pub fn with_role(&self, role: Suggested) -> impl Iterator<Item = &ColumnAnswer> {
        self.columns.iter().filter(move |column| column.role == Some(role))
    }

    /// The list of terms, if it is all that is to be published: then the data are records of terms, and no table.
    pub fn only_list(&self) -> Option<&str> {
        let is_left_out = |column: &&ColumnAnswer| matches!(column.role, Some(Suggested::Identifier | Suggested::Set));
        let all = self.columns.iter().all(|column| is_left_out(&column));
        self.with_role(Suggested::Set).next().filter(|_| all).map(|column| column.found.name.as_str())
    }

    /// What must be answered before the recipe can be run.
    pub fn questions(&self) -> Vec<String> {
        let mut questions: Vec<String> = self.columns.iter().filter_map(|column| self.question(column)).collect();
        let is_decided = self.columns.iter().all(|column| column.role.is_some());
        if is_decided && self.only_list().is_none() && self.with_role(Suggested::Quasi).next().is_none() {
            questions.push(
                "No column is a quasi-identifier: which of them do others know of a person? Name it under quasi".into(),
            );
        }
        questions
    }

    fn question(&self, column: &ColumnAnswer) -> Option<String> {
        let ColumnAnswer { found, role, .. } = column;
        let name = &found.name;
        let reading = found.reading.as_deref().unwrap_or_default();
        match (role, found.suggestion.question) {
            (None, Some(Question::Unread)) => Some(format!(
                "{name}: {reading}. Correct those cells, or name the text that means no value under missing; then move the column"
            )),
            (None, _) => Some(format!("What is {name}? {}: name it under one of the roles", found.suggestion.reason)),
            (Some(Suggested::Identifier | Suggested::Set), _) => None,
            (Some(_), Some(Question::DateOrder)) if self.date_order.is_none() => {
                Some(format!("{name}: {reading}. Set date_order to \"dmy\" or \"mdy\""))
            }
            (Some(_), Some(Question::Decimal)) if self.decimal.is_none() => {
                Some(format!("{name}: {reading}. Set decimal to \"point\" or \"comma\""))
            }
            _ => None,
        }
    }
}

/// The text of a commented recipe for a table.
pub(super) fn of_table(answers: &Answers, table: &TableAnswers) -> String {
    let names = |role| list(table.with_role(role).map(|column| column.found.name.as_str()));
    let read_as = |read_as: ReadAs| {
        let is_read = |column: &&ColumnAnswer| {
            column.found.suggestion.read_as == read_as
                && matches!(column.role, Some(Suggested::Quasi | Suggested::Sensitive | Suggested::Insensitive))
        };
        let is_prefix = read_as == ReadAs::Prefix;
        // Codes that are not generalised are words.
        let wanted = |column: &&ColumnAnswer| !is_prefix || column.role == Some(Suggested::Quasi);
        list(table.columns.iter().filter(is_read).filter(wanted).map(|column| column.found.name.as_str()))
    };
    let set = table.with_role(Suggested::Set).next();
    let m = set.map_or(String::new(), |_| {
        format!(
            "# ... and at least k records for what an adversary with m terms of background knowledge knows.\nm = {}",
            answers.m
        )
    });
    let set_line = set.map_or(String::new(), |column| {
        format!("# The list of terms of each person, published in chunks.\nset = {}", quoted(&column.found.name))
    });
    let values = [
        ("{file}", quoted(&without_password(&answers.file)) + login(&answers.file)),
        ("{separators}", separators(table, set)),
        ("{person}", person(table)),
        ("{k}", answers.k.to_string()),
        ("{m}", m),
        ("{found}", found(table)),
        ("{questions}", questions(table)),
        ("{quasi}", names(Suggested::Quasi)),
        ("{sensitive}", names(Suggested::Sensitive)),
        ("{identifier}", names(Suggested::Identifier)),
        ("{insensitive}", names(Suggested::Insensitive)),
        ("{set}", set_line),
        ("{numeric}", read_as(ReadAs::Numeric)),
        ("{dates}", read_as(ReadAs::Date)),
        ("{prefixes}", read_as(ReadAs::Prefix)),
        ("{details}", details(table)),
        ("{criteria}", criteria(table)),
        ("{folder}", quoted(&answers.folder)),
    ];
    without_blanks(&filled(TEXT, &values))
}

/// The text without lines that answers left empty, one between sections kept.
fn without_blanks(text: &str) -> String {
    let mut all = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let before_section = lines.peek().is_some_and(|next| next.starts_with('['));
        if !line.is_empty() || before_section {
            all.push_str(line);
            all.push('\n');
        }
    }
    all
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", names.map(quoted).collect::<Vec<_>>().join(", "))
}

fn separators(table: &TableAnswers, set: Option<&ColumnAnswer>) -> String {
    let separator = table.separator.as_ref().map(|separator| format!("separator = {}\n", quoted(separator)));
    let within = set.and_then(|column| column.found.list_separator);
    let within = within.map(|mark| {
        format!("# What stands between the terms of a list.\nlist_separator = {}", quoted(&mark.to_string()))
    });
    separator.unwrap_or_default() + &within.unwrap_or_default()
}

/// Whose rows they are: written where recipes know the key, and said otherwise.
pub(super) fn person(table: &TableAnswers) -> String {
    let is_left_out = |name: &&String| table.with_role(Suggested::Identifier).any(|column| column.found.name == **name);
    let Some(column) = table.person.as_ref().filter(is_left_out) else { return String::new() };
    let line = format!("person = {}", quoted(column));
    match parse(&format!("[input]\n{line}\n"), "") {
        Ok(_) => {
            let apart =
                "# Rows of a person stay apart; \"together\" makes one record of them, \"first\" uses the first.";
            let visits = match table.with_role(Suggested::Set).next() {
                // Sets of a person are united.
                Some(_) => String::new(),
                None => format!("\n{apart}\nvisits = \"apart\""),
            };
            format!(
                "# The column that says whose row it is: people have several, and people are counted.\n{line}{visits}"
            )
        }
        Err(_) => {
            format!("# {column} says whose row it is, and people have several: k counts rows here, and not people.")
        }
    }
}

/// What was found, a line a column.
fn found(table: &TableAnswers) -> String {
    let line = |column: &ColumnAnswer| {
        let ColumnAnswer { found, role, .. } = column;
        let why = match *role == found.suggestion.role {
            true => format!(": {}", found.suggestion.reason),
            false => String::new(),
        };
        format!("#   {}: {}; {}{why}", shown(&found.name), found.kind.text(), role.map_or("?", Suggested::name))
    };
    table.columns.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// A name within a remark: it must not end the line.
fn shown(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn questions(table: &TableAnswers) -> String {
    let mut lines: Vec<String> =
        table.questions().iter().map(|question| format!("# QUESTION {}", shown(question))).collect();
    let undecided: Vec<&str> =
        table.columns.iter().filter(|column| column.role.is_none()).map(|column| column.found.name.as_str()).collect();
    if !undecided.is_empty() {
        lines.push(format!(
            "# The recipe cannot be run until these have a role.\nundecided = {}",
            list(undecided.into_iter())
        ));
    }
    lines.join("\n")
}

/// Keys that most tables do without.
fn details(table: &TableAnswers) -> String {
    let mut lines = Vec::new();
    let has = |kinds: &[Kind]| {
        let is = |column: &&ColumnAnswer| {
            kinds.contains(&column.found.kind) && !matches!(column.role, Some(Suggested::Identifier) | None)
        };
        table.columns.iter().any(|column| is(&column))
    };
    if let Some(order) = table.date_order.filter(|_| has(&[Kind::Date])) {
        lines.push(format!("date_order = \"{}\"", if order == DateOrder::Dmy { "dmy" } else { "mdy" }));
    }
    if let Some(decimal) = table.decimal.filter(|_| has(&[Kind::Integer, Kind::Number])) {
        lines.push(format!("decimal = \"{}\"", if decimal == Decimal::Comma { "comma" } else { "point" }));
    }
    let kept = |column: &&ColumnAnswer| !matches!(column.role, Some(Suggested::Identifier) | None);
    let mut missing: Vec<&str> =
        table.columns.iter().filter(kept).flat_map(|column| column.found.missing_texts.iter().copied()).collect();
    missing.sort_unstable();
    missing.dedup();
    if !missing.is_empty() {
        lines.push(format!(
            "# Texts that mean that there is no value, besides empty cells.\nmissing = {}",
            list(missing.into_iter())
        ));
    }
    let confirmed: Vec<&str> =
        table.columns.iter().filter(|column| column.publish_as_is).map(|column| column.found.name.as_str()).collect();
    if !confirmed.is_empty() {
        let confirmed = list(confirmed.into_iter());
        lines.push(format!(
            "# Confirmed: published as they are, though they are near-unique or free text.\npublish_as_is = {confirmed}"
        ));
    }
    lines.join("\n")
}

/// What classes must satisfy besides k, if there is something to learn.
fn criteria(table: &TableAnswers) -> String {
    let mut sensitive = table.with_role(Suggested::Sensitive).peekable();
    if sensitive.peek().is_none() {
        return String::from("# [table.criteria]\n# No column is sensitive: classes need k records, and nothing else.");
    }
    let is_scale =
        |column: &ColumnAnswer| column.found.suggestion.read_as == ReadAs::Numeric && column.found.distinct > 20;
    let what =
        "# What every equivalence class must satisfy besides k: l, entropy_l, recursive, alpha, t, beta, background";
    match sensitive.all(is_scale) {
        true => format!(
            "[table.criteria]\n{what}\n# t-closeness: how far numbers may be from those of all records.\nt = 0.3\ndistance = \"ordered\""
        ),
        false => format!(
            "[table.criteria]\n{what}\n# beta-likeness: by how much more frequent a value may be than in all records.\nbeta = 2.0"
        ),
    }
}
