//! `query`: how many people have all of these terms, or how many records satisfy these conditions?

mod itemsets;
mod tables;

use std::io::Read as _;
use std::path::Path;

use serde::Serialize;

use self::itemsets::{answers, parsed, texts, unknown};
use super::open::Release;
use super::{Answer, open};
use crate::data::TermId;
use crate::error::{Error, Place, Result};
use crate::inspect::Mining;
use crate::memory::{MOST, Memory, read_file};
use crate::observer::{Observer, Unobserved, observed};
use crate::reconstruct::{Estimate, Multiplicity, Spread, estimate, top_expected, top_spread};
use crate::release::Form;
use crate::release::recoded::Suppression;
use crate::report::{Known, count, number, query_page};
pub(super) use tables::{hierarchies_of, laid_out, sets_of};

/// What is asked for.
#[derive(Clone)]
pub enum Questions {
    /// Itemsets of sets, or predicates of tables, in the order in which they are written.
    Written(Vec<Line>),
    /// The itemsets with the greatest expectations.
    Top(Mining<'static>),
}

/// A question as somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    text: String,
    /// Which one it is: its number, or its file and line.
    place: String,
    file: Option<Place>,
}

impl Line {
    /// What is wrong with it.
    fn fault(&self, key: &'static str, problem: &str, hint: &str) -> Error {
        match &self.file {
            Some(place) => Error::input(place.clone(), problem).with_hint(hint),
            None => Error::recipe(key, format!("{}: {problem}", self.place), hint),
        }
    }
}

/// How a release is asked.
#[derive(Debug, Clone, Default)]
pub struct Asking {
    /// How often a term of a term chunk is taken to occur.
    pub multiplicity: Multiplicity,
    /// Of tables: files that say what labels of a column stand for.
    pub hierarchies: Vec<(String, std::path::PathBuf)>,
}

/// Estimates how many people have all of some terms, or how many records satisfy conditions, from the release alone.
pub fn query(path: &Path, questions: &Questions, asking: &Asking, observer: &dyn Observer) -> Result<Answer> {
    #[derive(Serialize)]
    struct Report<'a> {
        records: u64,
        itemsets: &'a [Known],
    }
    observed(|| {
        observer.stage("reading the release");
        let opened = open(path, None, observer.memory())?;
        asking.check(opened.form())?;
        let (records, is_whole, itemsets) = match &opened.release {
            Release::Disassociated(stored) => {
                let release = stored.load(observer)?;
                let model = stored.model(&release, asking.multiplicity, observer)?;
                let found = match questions {
                    Questions::Written(lines) => parsed(lines)?,
                    Questions::Top(mining) => {
                        observer.stage("searching for the greatest expectations");
                        let found = top_expected(&model, &Mining { observer, ..*mining });
                        texts(found.map_err(|error| stored.named(error))?, &release.dictionary)
                    }
                };
                observer.stage(&format!("estimating {}", count(found.len() as u64, "itemset", "itemsets")));
                // A release has every term of its original.
                let nobody = Estimate { lower: 0, upper: 0, expected: 0.0, deviation: 0.0 };
                let of = |known: &[TermId]| estimate(&model, known);
                (release.header.records, true, answers(found, &release.dictionary, of, nobody, observer))
            }
            Release::Recoded(claim, release) => {
                let spread = Spread::new(release, claim.suppression);
                let found = match questions {
                    Questions::Written(lines) => parsed(lines)?,
                    Questions::Top(mining) => {
                        observer.stage("searching for the greatest expectations");
                        texts(top_spread(&spread, &Mining { observer, ..*mining }), &release.dictionary)
                    }
                };
                let of = |known: &[TermId]| spread.estimate(known);
                let answers = answers(found, &release.dictionary, of, spread.unknown(), observer);
                (claim.records, claim.suppression == Suppression::None, answers)
            }
            Release::Classes(..) | Release::Split(..) => return tables::query(&opened, questions, asking, observer),
            Release::Noisy(_) => {
                let hint = "data.jsonl in it lists what there is, with noisy counts";
                let others = [Form::Disassociated, Form::Classes, Form::Split, Form::Recoded];
                return opened.refuse("query", &others, hint);
            }
        };
        let page = query_page(records, &itemsets);
        let mut answer = Answer::new(page, &Report { records, itemsets: &itemsets })?;
        answer.warnings = unknown(&itemsets, is_whole);
        Ok(answer)
    })
}

impl Questions {
    /// Questions as somebody writes them: terms with commas between, or conditions with "and" between.
    pub fn written(questions: &[String]) -> Self {
        let line = |(text, position): (&String, u64)| Line {
            text: text.clone(),
            place: format!("number {}", number(position)),
            file: None,
        };
        Questions::Written(questions.iter().zip(1..).map(line).collect())
    }

    /// A file with one question a line; blank lines are skipped, `-` is standard input.
    pub fn read(file: &Path) -> Result<Self> {
        let name = if file == Path::new("-") { String::from("standard input") } else { file.display().to_string() };
        let bytes = if file == Path::new("-") {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(MOST).read_to_end(&mut bytes);
            read.map_err(|e| Error::io(file, "read the questions", e))?;
            bytes
        } else {
            read_file(file, "read the questions", Memory::default())?
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::input(Place::file(&name), "is not valid UTF-8").with_hint("convert the file to UTF-8")
        })?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let line = |(text, at): (&str, u64)| Line {
            text: text.to_owned(),
            place: format!("{name}, line {at}"),
            file: Some(Place::line(&name, at)),
        };
        let lines: Vec<Line> = lines.map(line).collect();
        match lines.is_empty() {
            true => Err(Error::input(Place::file(&name), "holds no itemset and no predicate")
                .with_hint("write one a line: terms with commas between, or conditions with \"and\" between")),
            false => Ok(Questions::Written(lines)),
        }
    }

    /// The `n` itemsets of `min` to `max` terms that most people are expected to have.
    pub fn top(n: usize, min: Option<usize>, max: Option<usize>) -> Result<Self> {
        let (min_length, max_length) = (min.unwrap_or(1), max.unwrap_or(usize::MAX));
        match min_length > max_length {
            true => Err(Error::recipe("min_size", "is greater than the largest size", "exchange them")),
            false => Ok(Questions::Top(Mining { k: n, min_length, max_length, excludes: None, observer: &Unobserved })),
        }
    }
}

impl Asking {
    /// Refuses what a form of release has no use for.
    fn check(&self, form: Form) -> Result<()> {
        match form {
            Form::Classes | Form::Split => Ok(()),
            _ if self.hierarchies.is_empty() => Ok(()),
            _ => Err(Error::recipe("hierarchy", "explains labels of tables, and this is none", "leave it out")),
        }
    }
}
