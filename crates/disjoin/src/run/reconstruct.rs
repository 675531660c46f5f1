//! `reconstruct`: datasets and tables that the original may have been.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::open;
use super::open::Release;
use super::query::{hierarchies_of, laid_out, sets_of};
use crate::data::{Dataset, Table, Transactions};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::publish::release_folder;
use crate::read::flat::Flat;
use crate::read::{self, Format};
use crate::reconstruct::table::Asked;
use crate::reconstruct::{Multiplicity, Sampling, reconstruct as draw};
use crate::release::{Form, form_of};

/// What is drawn, and how.
#[derive(Debug, Clone)]
pub struct Drawing {
    /// How many.
    pub n: u64,
    /// By which random numbers.
    pub sampling: Sampling,
    /// How often a term of a term chunk is taken to occur.
    pub multiplicity: Multiplicity,
    /// Of tables: files that say what labels of a column stand for.
    pub hierarchies: Vec<(String, PathBuf)>,
}

/// Something that was drawn.
pub struct Reconstruction {
    /// Which one it is, from 0.
    pub nth: u64,
    /// The data.
    pub data: Drawn,
    /// Records that got no term, and are left out.
    pub empty: u64,
    /// Records of the original.
    pub records: u64,
}

/// Data that the original may have been.
pub enum Drawn {
    /// Sets of terms.
    Sets(Dataset),
    /// A table, with sets or without.
    Table(Table),
}

impl Reconstruction {
    /// Writes it; `path` serves in messages.
    pub fn write(&self, format: Format, path: &Path, out: &mut dyn Write) -> Result<()> {
        match &self.data {
            Drawn::Sets(data) => read::write(data, format, path, out),
            Drawn::Table(table) => Flat::of_table(table).write(format, path, out),
        }
    }
}

/// The format that drawn data are written in, if none is named; one that does not hold them is refused.
pub fn drawn_format(path: &Path, asked: Option<Format>) -> Result<Format> {
    let is_table = matches!(form_of(&release_folder(path)?.join("claim.json"))?, Form::Classes | Form::Split);
    match asked {
        None => Ok(if is_table { Format::Table } else { Format::Basket }),
        Some(format) if is_table && !matches!(format, Format::Table | Format::Parquet | Format::Arrow) => {
            let problem = format!("{format} does not hold tables");
            Err(Error::recipe("to_format", problem, "name one of csv, parquet, arrow"))
        }
        Some(format) => Ok(format),
    }
}

/// Draws datasets that fit a release as well as the original does, and hands over one after the other.
pub fn reconstruct(
    path: &Path,
    drawing: &Drawing,
    observer: &dyn Observer,
    take: impl FnMut(&Reconstruction) -> Result<()>,
) -> Result<()> {
    observed(|| {
        observer.stage("reading the release");
        let opened = open(path, None, observer.memory())?;
        let hint = match opened.form() {
            Form::Disassociated => return sets(&opened, drawing, observer, take),
            Form::Classes | Form::Split => return tables(&opened, drawing, observer, take),
            Form::Recoded => "disjoin convert writes its records with groups as items",
            Form::Noisy => "its data.jsonl is synthetic already",
        };
        opened.refuse("reconstruct", &[Form::Disassociated, Form::Classes, Form::Split], hint)
    })
}

fn sets(
    opened: &super::Opened,
    drawing: &Drawing,
    observer: &dyn Observer,
    mut take: impl FnMut(&Reconstruction) -> Result<()>,
) -> Result<()> {
    let Release::Disassociated(stored) = &opened.release else {
        return Err(Error::Internal("a table was taken for sets"));
    };
    if !drawing.hierarchies.is_empty() {
        return Err(Error::recipe("hierarchy", "explains labels of tables, and this is none", "leave it out"));
    }
    let release = stored.load(observer)?;
    let model = stored.model(&release, drawing.multiplicity, observer)?;
    let (dictionary, records) = (release.dictionary.clone(), release.header.records);
    let mut data = Dataset { dictionary, records: Transactions::default() };
    for nth in 0..drawing.n {
        observer.stage(&format!("drawing dataset {} of {}", nth + 1, drawing.n));
        observer.check();
        // The one before is given back first.
        data.records = Transactions::default();
        let made = draw(&model, &drawing.sampling, nth);
        data.records = made.records;
        let drawn = Reconstruction { nth, data: Drawn::Sets(data), empty: made.empty, records };
        take(&drawn)?;
        let Drawn::Sets(before) = drawn.data else { return Err(Error::Internal("sets stay sets")) };
        data = before;
    }
    Ok(())
}

fn tables(
    opened: &super::Opened,
    drawing: &Drawing,
    observer: &dyn Observer,
    mut take: impl FnMut(&Reconstruction) -> Result<()>,
) -> Result<()> {
    let hierarchies = hierarchies_of(&drawing.hierarchies)?;
    let sets = sets_of(opened, observer)?;
    let sets = sets.as_ref().map(|sets| laid_out(sets, drawing.multiplicity, observer)).transpose()?;
    let asked = match &opened.release {
        Release::Classes(claim, table) => Asked::of_classes(claim, table, sets.as_ref(), &hierarchies)?,
        Release::Split(claim, tables) => Asked::of_split(claim, tables, &hierarchies)?,
        _ => return Err(Error::Internal("sets were taken for a table")),
    };
    for nth in 0..drawing.n {
        observer.stage(&format!("drawing table {} of {}", nth + 1, drawing.n));
        observer.check();
        let table = asked.draw(&drawing.sampling, nth)?;
        // A value that its cell does not stand for would be a defect.
        if !asked.covers(&table) {
            return Err(Error::Internal("a table was drawn that does not fit its release"));
        }
        let records = table.n_rows() as u64;
        take(&Reconstruction { nth, data: Drawn::Table(table), empty: 0, records })?;
    }
    Ok(())
}
