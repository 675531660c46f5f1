//! Predicates on tables: how many records satisfy them?

use std::io::BufReader;
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use super::{Asking, Line, Questions};
use crate::data::Visits;
use crate::error::{Error, Result};
use crate::memory::open_file;
use crate::observer::Observer;
use crate::read::{hierarchy, hierarchy_terms};
use crate::reconstruct::table::{Asked, Counted, Hierarchies, Note, Predicate, SetsOfClasses};
use crate::reconstruct::{Model, Multiplicity};
use crate::release::class_sets::{self, ClassSets, FILE_NAME};
use crate::report::{Satisfied, Unit, predicates_page};
use crate::run::Answer;
use crate::run::open::{Opened, Release};

/// Answers predicates from a table or a split table.
pub(super) fn query(
    opened: &Opened,
    questions: &Questions,
    asking: &Asking,
    observer: &dyn Observer,
) -> Result<Answer> {
    let Questions::Written(lines) = questions else {
        let hint = "write what to count, as: age 30-39 and sex = F";
        return Err(Error::recipe("top", "is for sets of terms, and this is a table", hint));
    };
    let parse = |line: &Line| Predicate::parse(&line.text, &line.place);
    let predicates: Vec<Predicate> = lines.iter().map(parse).collect::<Result<_>>()?;
    let hierarchies = hierarchies_of(&asking.hierarchies)?;
    let sets = sets_of(opened, observer)?;
    let sets = sets.as_ref().map(|sets| laid_out(sets, asking.multiplicity, observer)).transpose()?;
    let (asked, records) = match &opened.release {
        Release::Classes(claim, table) => {
            (Asked::of_classes(claim, table, sets.as_ref(), &hierarchies)?, table.n_rows() as u64)
        }
        Release::Split(claim, tables) => (Asked::of_split(claim, tables, &hierarchies)?, tables.quasi.n_rows() as u64),
        _ => return Err(Error::Internal("sets were taken for a table")),
    };
    observer.stage("counting");
    let count = |predicate: &Predicate| {
        observer.check();
        asked.count(predicate)
    };
    let counted: Vec<Counted> = predicates.par_iter().map(count).collect::<Result<_>>()?;
    answer(records, unit(opened), &predicates, counted)
}

/// Whose records are counted.
fn unit(opened: &Opened) -> Unit {
    match opened.claim().people() {
        Some(Visits::Together | Visits::First) => Unit::People,
        Some(Visits::Apart) | None => Unit::Records,
    }
}

fn answer(records: u64, unit: Unit, predicates: &[Predicate], counted: Vec<Counted>) -> Result<Answer> {
    #[derive(Serialize)]
    struct Report<'a> {
        records: u64,
        unit: Unit,
        predicates: &'a [Satisfied],
    }
    let warnings =
        (1_u64..).zip(&counted).flat_map(|(nth, counted)| counted.notes.iter().map(move |note| told(nth, note)));
    let warnings: Vec<String> = warnings.collect();
    let of = |(predicate, counted): (&Predicate, Counted)| Satisfied {
        predicate: predicate.text.clone(),
        estimate: counted.estimate,
    };
    let satisfied: Vec<Satisfied> = predicates.iter().zip(counted).map(of).collect();
    let page = predicates_page(records, unit, &satisfied);
    let mut answer = Answer::new(page, &Report { records, unit, predicates: &satisfied })?;
    answer.warnings = warnings;
    answer.warnings.dedup();
    Ok(answer)
}

/// A note in words; values that were asked for are told by their place only.
fn told(nth: u64, note: &Note) -> String {
    match note {
        Note::NotShown { at, column, shown } if shown.is_empty() => {
            format!("predicate {nth}, character {at}: column {column:?} shows no such value")
        }
        Note::NotShown { at, column, shown } => {
            let shown = shown.join(", ");
            format!("predicate {nth}, character {at}: column {column:?} shows no such value; it shows {shown}")
        }
        Note::Labels { column } => format!(
            "column {column:?} shows labels that the release does not explain: no other value is ruled out below them, and the \
             expectation takes them for something else; --hierarchy {column}=FILE explains them"
        ),
    }
}

/// Hierarchies of columns.
pub(in crate::run) fn hierarchies_of(files: &[(String, PathBuf)]) -> Result<Hierarchies> {
    let mut hierarchies = Hierarchies::new();
    for (column, path) in files {
        let terms = hierarchy_terms(path)?;
        hierarchies.insert(column.clone(), (hierarchy(path, &terms)?, terms));
    }
    Ok(hierarchies)
}

/// The sets of a table's classes, if it has some.
pub(in crate::run) fn sets_of(opened: &Opened, observer: &dyn Observer) -> Result<Option<ClassSets>> {
    match &opened.release {
        Release::Classes(claim, _) if claim.sets.is_some() => {
            let path = opened.folder.join(FILE_NAME);
            let open = || open_file(&path, "open the sets of the release").map(BufReader::new);
            class_sets::read(&path.display().to_string(), open, observer).map(Some)
        }
        _ => Ok(None),
    }
}

/// The sets laid out to be asked.
pub(in crate::run) fn laid_out<'a>(
    sets: &'a ClassSets,
    multiplicity: Multiplicity,
    observer: &'a dyn Observer,
) -> Result<SetsOfClasses<'a>> {
    let model = Model::watched(&sets.release, observer)?.with_multiplicity(multiplicity);
    Ok(SetsOfClasses { model, class_of_root: &sets.class_of_root })
}
