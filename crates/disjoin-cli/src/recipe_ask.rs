//! The questions of `disjoin recipe new` on a terminal: one after the other, with what is suggested as the default. A wrong answer is asked
//! again, `?` explains, `<` goes back.

use disjoin::inspect::Suggested;
use disjoin::inspect::profile::{ColumnProfile, Kind, Question, ReadAs, is_near_unique};
use disjoin::protect::disassociation::Params;
use disjoin::read::values::{DateOrder, Decimal};
use disjoin::recipe::{Answers, TableAnswers};
use disjoin::run::Look;
use disjoin::{Error, Result};

use crate::recipe_new::New;
use crate::talk::{Talk, count, number, visible};
use crate::terminal::{line, one_of, say};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Role(usize),
    AsIs(usize),
    Words(usize),
    DateOrder,
    Decimal,
    K,
    M,
    Terms,
    Folder,
}

/// What the user says; what the flags said is the default.
pub(crate) fn asked(args: &New, talk: &Talk) -> Result<Answers> {
    let (file, found) = data(args, talk)?;
    let mut answers = args.answers(file);
    let mut rows = 0;
    if let Look::Table(found) = &found {
        rows = found.rows;
        let columns = count(found.columns.len() as u64, "column", "columns");
        let size = format!("A table of {} and {columns}.", count(rows, "row", "rows"));
        say(&format!("{size} What is each column for? (? explains, < goes back)"))?;
        if let Some(person) = &found.person {
            let people = count(person.people, "person has", "people have");
            say(&format!("{} numbers people: {people} {}.", person.column, count(person.rows, "row", "rows")))?;
        }
        answers.table = Some(TableAnswers::suggested(found));
    }
    let mut at = 0;
    while let Some(&step) = steps(&answers, rows).get(at) {
        let next = put(&mut answers, step, rows)?;
        at = match next {
            Next::On => at + 1,
            Next::Back => at.saturating_sub(1),
        };
        if at == n_columns(&answers, rows) && next == Next::On && lacks_quasi(&answers) {
            say(
                "No column is a quasi-identifier, by which others could find a person: there is nothing to protect. Again, then.",
            )?;
            at = 0;
        }
    }
    Ok(answers)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    On,
    Back,
}

/// The data, asked for until they can be looked at.
fn data(args: &New, talk: &Talk) -> Result<(String, Look)> {
    if let Some(file) = &args.file {
        return Ok((file.clone(), args.look(file, talk)?));
    }
    loop {
        let file = line("Which file holds the data?", "")?;
        match args.look(&file, talk) {
            Ok(found) => return Ok((file, found)),
            Err(Error::Cancelled) => return Err(Error::Cancelled),
            Err(error) => talk.error(&error),
        }
    }
}

/// All questions, as far as the answers so far lead to them.
fn steps(answers: &Answers, rows: u64) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut has_list = answers.table.is_none();
    if let Some(table) = &answers.table {
        for (at, column) in table.columns.iter().enumerate() {
            steps.push(Step::Role(at));
            if is_revealing(&column.found, column.role, rows) {
                steps.push(Step::AsIs(at));
            }
            let is_kept = !matches!(column.role, Some(Suggested::Identifier | Suggested::Set) | None);
            if is_kept && column.found.suggestion.question == Some(Question::Unread) {
                steps.push(Step::Words(at));
            }
        }
        let asks = |question: Question| {
            let is = |found: &ColumnProfile, role| {
                found.suggestion.question == Some(question) && !matches!(role, Some(Suggested::Identifier))
            };
            table.columns.iter().any(|column| is(&column.found, column.role))
        };
        steps.extend(asks(Question::DateOrder).then_some(Step::DateOrder));
        steps.extend(asks(Question::Decimal).then_some(Step::Decimal));
        has_list = table.only_list().is_some();
        steps.push(Step::K);
        steps.extend(table.with_role(Suggested::Set).next().map(|_| Step::M));
    } else {
        steps.extend([Step::K, Step::M]);
    }
    steps.extend(has_list.then_some(Step::Terms));
    steps.push(Step::Folder);
    steps
}

/// How many questions are about columns.
fn n_columns(answers: &Answers, rows: u64) -> usize {
    let is_of_column = |step: &&Step| matches!(step, Step::Role(_) | Step::AsIs(_) | Step::Words(_));
    steps(answers, rows).iter().filter(is_of_column).count()
}

fn lacks_quasi(answers: &Answers) -> bool {
    let lacks =
        |table: &TableAnswers| table.only_list().is_none() && table.with_role(Suggested::Quasi).next().is_none();
    answers.table.as_ref().is_some_and(lacks)
}

/// Whether a column would be published as it is and should not.
fn is_revealing(found: &ColumnProfile, role: Option<Suggested>, rows: u64) -> bool {
    let filled = rows.saturating_sub(found.missing);
    match role {
        Some(Suggested::Insensitive) => {
            found.kind == Kind::FreeText || is_near_unique(filled, found.distinct, found.own)
        }
        Some(Suggested::Sensitive) => found.kind == Kind::FreeText,
        _ => false,
    }
}

/// Asks one question until it is answered.
fn put(answers: &mut Answers, step: Step, rows: u64) -> Result<Next> {
    if let Step::Role(at) = step {
        describe(answers, at, rows)?;
    }
    loop {
        let (question, default) = question(answers, step);
        let answer = line(&question, &default)?;
        match answer.as_str() {
            "<" => return Ok(Next::Back),
            "?" => say(&help(step))?,
            answer => match take(answers, step, answer) {
                Ok(next) => return Ok(next),
                Err(problem) => say(&format!("  {problem}"))?,
            },
        }
    }
}

/// What was found in a column.
fn describe(answers: &Answers, at: usize, rows: u64) -> Result<()> {
    let Some(column) = answers.table.as_ref().and_then(|table| table.columns.get(at)) else { return Ok(()) };
    let found = &column.found;
    let shown = if found.examples.is_empty() { &found.patterns } else { &found.examples };
    let like = if shown.is_empty() { String::new() } else { format!("; looks like {}", shown.join(", ")) };
    let about = if found.estimated { "about " } else { "" };
    let missing = if found.missing == 0 {
        String::new()
    } else {
        format!(", {} of {} missing", number(found.missing), number(rows))
    };
    let reading = found.reading.as_ref().map_or(String::new(), |reading| format!("; {reading}"));
    let values = count(found.distinct, "value", "values");
    say(&format!("\n{}: {}, {about}{values}{missing}{reading}{like}", found.name, found.kind.text()))?;
    let suggested = found.suggestion.role.map_or("nothing is suggested", Suggested::name);
    say(&format!("  {suggested}: {}", found.suggestion.reason))
}

fn question(answers: &Answers, step: Step) -> (String, String) {
    let column = |at: usize| answers.table.as_ref().and_then(|table| table.columns.get(at));
    let name = |at: usize| column(at).map_or(String::new(), |column| visible(&column.found.name));
    match step {
        Step::Role(at) => {
            let suggested = column(at).and_then(|column| column.role.or(column.found.suggestion.role));
            let names: Vec<&str> = Suggested::ALL.iter().map(|(_, name, _)| *name).collect();
            (
                format!("  role of {} ({})?", name(at), names.join(", ")),
                suggested.map_or("", Suggested::name).to_owned(),
            )
        }
        Step::AsIs(at) => (
            format!("  {} would be published as it is, and leads to people. Confirm (yes, no)?", name(at)),
            "no".into(),
        ),
        Step::Words(at) => (
            format!("  {} has cells that are no such values. Read all of it as words (yes, no)?", name(at)),
            String::new(),
        ),
        Step::DateOrder => ("Which comes first in the dates, day or month (dmy, mdy)?".into(), String::new()),
        Step::Decimal => {
            ("What stands before decimals: is 1,234 a thousand (point) or less than two (comma)?".into(), String::new())
        }
        Step::K => ("\nHow many records or people shall not be told apart (k)?".into(), answers.k.to_string()),
        Step::M => ("How many terms of background knowledge has an adversary (m)?".into(), answers.m.to_string()),
        Step::Terms => (
            "Terms that must never be linked with others? (commas between; empty for none)".into(),
            answers.sensitive.join(","),
        ),
        Step::Folder => ("Which folder does the package go to?".into(), answers.folder.clone()),
    }
}

fn help(step: Step) -> String {
    match step {
        Step::Role(_) => {
            let lines: Vec<String> =
                Suggested::ALL.iter().map(|(_, name, about)| format!("    {name:<12} {about}")).collect();
            format!("{}\n    The beginning of a word is enough. < goes back.", lines.join("\n"))
        }
        Step::AsIs(_) => "  With the value of a person the row is found. no asks for another role.".into(),
        Step::Words(_) => "  Each different text is a value of its own then. no asks for another role.".into(),
        Step::DateOrder => "  dmy: 1/2/2024 is the first of February; mdy: it is the second of January.".into(),
        Step::Decimal => "  point: 1,234.5; comma: 1.234,5.".into(),
        Step::K => "  5 is a start; 10 or more where anybody may read the release. A whole number of 2 or more.".into(),
        Step::M => "  How many of a person's terms somebody may know. A whole number of 1 or more.".into(),
        Step::Terms => "  For example: HIV disease,schizophrenia".into(),
        Step::Folder => "  A folder with release/, which may leave the building, and custody/, which must not.".into(),
    }
}

/// Takes an answer, or says what is wrong with it.
fn take(answers: &mut Answers, step: Step, answer: &str) -> std::result::Result<Next, String> {
    match step {
        Step::Role(at) => return role(answers, at, answer),
        Step::AsIs(at) | Step::Words(at) => {
            let yes = one_of(answer, &["yes", "no"])? == "yes";
            let column = answers.table.as_mut().and_then(|table| table.columns.get_mut(at));
            let Some(column) = column else { return Ok(Next::On) };
            match (step, yes) {
                (_, false) => {
                    (column.role, column.publish_as_is) = (None, false);
                    return Ok(Next::Back);
                }
                (Step::AsIs(_), true) => column.publish_as_is = true,
                (_, true) => {
                    column.found.suggestion.read_as = ReadAs::Words;
                    column.found.suggestion.question = None;
                    return Ok(Next::On);
                }
            }
        }
        Step::DateOrder | Step::Decimal => {
            let names: [&str; 2] = if step == Step::DateOrder { ["dmy", "mdy"] } else { ["point", "comma"] };
            let chosen = one_of(answer, &names)?;
            let Some(table) = &mut answers.table else { return Ok(Next::On) };
            match chosen {
                "dmy" => table.date_order = Some(DateOrder::Dmy),
                "mdy" => table.date_order = Some(DateOrder::Mdy),
                "point" => table.decimal = Some(Decimal::Point),
                _ => table.decimal = Some(Decimal::Comma),
            }
        }
        Step::K | Step::M => {
            let n: u32 = answer.parse().map_err(|_| String::from("write a whole number, as 5"))?;
            let (k, m) = if step == Step::K { (n, answers.m) } else { (answers.k, n) };
            Params::new(k, m).check().map_err(|error| error.to_string())?;
            (answers.k, answers.m) = (k, m);
        }
        Step::Terms => {
            answers.sensitive =
                answer.split(',').map(|term| term.trim().to_owned()).filter(|t| !t.is_empty()).collect();
        }
        Step::Folder => match answer.is_empty() {
            true => return Err("name a folder".into()),
            false => answers.folder = answer.to_owned(),
        },
    }
    Ok(Next::On)
}

fn role(answers: &mut Answers, at: usize, answer: &str) -> std::result::Result<Next, String> {
    let names: Vec<&str> = Suggested::ALL.iter().map(|(_, name, _)| *name).collect();
    let name = one_of(answer, &names)?;
    let role = Suggested::ALL.iter().find(|(_, known, _)| *known == name).map(|(role, ..)| *role);
    let Some(table) = &mut answers.table else { return Ok(Next::On) };
    let other = table.columns.iter().enumerate().any(|(i, column)| i != at && column.role == Some(Suggested::Set));
    let Some(column) = table.columns.get_mut(at) else { return Ok(Next::On) };
    match role {
        Some(Suggested::Set) if column.found.kind != Kind::List => Err("its cells are no lists of terms".into()),
        Some(Suggested::Set) if other => Err("another column is the set; go back with < to change that".into()),
        role => {
            (column.role, column.publish_as_is) = (role, false);
            Ok(Next::On)
        }
    }
}
