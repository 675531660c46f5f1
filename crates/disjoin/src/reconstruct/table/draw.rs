//! A table of records that the original may have been: a value for each cell, sensitive values and sets assigned inside groups.
//!
//! Promises:   every value is one that its cell may stand for, every group has the sensitive values that are published and, of each
//!             class, sets that its clusters may have had. The same seed gives the same table for any number of threads
//! Assumes:    the law of `count.rs`: values of a cell are as likely, columns are independent, all assignments are as likely
//! Departs:    a label that nobody explained stays as it is, and so does a beginning of codes of which none is shown
//! Cost:       linear in the cells
//! Checked by: `tests/it/predicates.rs`

use rand::RngExt;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::super::{Sampling, deal, reconstruct};
use super::{Asked, AskedColumn, SetsOfClasses, Side};
use crate::data::table::{Column, Sets, Table};
use crate::data::{Dictionary, RecordId, Transactions};
use crate::error::{Error, Result};
use crate::generate::stream;
use crate::release::cells::number;

impl Asked<'_> {
    /// Draws the `nth` table of a seed.
    pub fn draw(&self, sampling: &Sampling, nth: u64) -> Result<Table> {
        let Some(Side::Rows { columns, group_of }) = self.sides.first() else {
            return Err(Error::Internal("a table has rows"));
        };
        let drawn = |(at, asked): (usize, &AskedColumn<'_>)| draw_column(asked, sampling.seed, nth, at as u64);
        let mut columns: Vec<Column> = columns.par_iter().enumerate().map(drawn).collect();
        if let Some(tables) = self.split {
            let seed = stream(sampling.seed, "reconstruct/table groups", nth).random();
            let dealt = deal(tables, seed)?;
            columns.extend(dealt.columns.into_iter().skip(tables.quasi.columns.len()));
        }
        let sets = self.sides.iter().find_map(|side| match side {
            Side::Sets { name, sets } => Some(draw_sets(name, sets, group_of, self.sizes.len(), sampling, nth)),
            _ => None,
        });
        Ok(Table::new(group_of.len(), columns, sets))
    }

    /// Whether every row of a table has values that the cells of the release may stand for, in the same order of rows and columns.
    pub fn covers(&self, table: &Table) -> bool {
        let Some(Side::Rows { columns, group_of }) = self.sides.first() else { return false };
        let row_fits = |row: usize| {
            columns
                .iter()
                .zip(&table.columns)
                .all(|(asked, drawn)| asked.cells.covers(asked.column.codes[row], drawn.domain.text(drawn.codes[row])))
        };
        table.n_rows() == group_of.len() && (0..table.n_rows()).all(row_fits)
    }
}

fn draw_column(asked: &AskedColumn<'_>, seed: u64, nth: u64, at: u64) -> Column {
    let mut rng = stream(seed, &format!("reconstruct/table {nth}"), at);
    let mut texts = Dictionary::default();
    let mut draw = |code: &u32| asked.cells.draw(*code, &mut rng).map_or(u32::MAX, |text| texts.intern(&text));
    let codes: Vec<u32> = asked.column.codes.iter().map(&mut draw).collect();
    let (name, role) = (&asked.column.name, asked.column.role);
    match asked.cells.is_of_numbers() && texts.iter().all(|text| number(text).is_some()) {
        true => Column::from_number_codes(name, role, &texts, codes, |text| number(text).unwrap_or_default()),
        false => Column::from_codes(name, role, texts, codes),
    }
}

/// Sets of the clusters of each class, assigned to its records at random; as many of these as there are sets.
fn draw_sets(
    name: &str,
    sets: &SetsOfClasses<'_>,
    group_of: &[u32],
    n_groups: usize,
    sampling: &Sampling,
    nth: u64,
) -> Sets {
    let drawn = reconstruct(&sets.model, sampling, nth);
    let mut of_class: Vec<Vec<RecordId>> = vec![Vec::new(); n_groups];
    let mut next: RecordId = 0;
    for (&class, &n) in sets.class_of_root.iter().zip(&drawn.of_root) {
        of_class[class as usize].extend(next..next + n);
        next += n;
    }
    let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); n_groups];
    group_of.iter().enumerate().for_each(|(row, &group)| rows_of[group as usize].push(row));
    let mut rng = stream(sampling.seed, &format!("reconstruct/table sets {nth}"), 0);
    let mut of_row = vec![None; group_of.len()];
    for (mut rows, records) in rows_of.into_iter().zip(of_class) {
        rows.shuffle(&mut rng);
        rows.into_iter().zip(records).for_each(|(row, record)| of_row[row] = Some(record));
    }
    let dictionary = sets.model.release().dictionary.clone();
    let records: Transactions = drawn.records;
    Sets { name: name.to_owned(), dictionary, records, of_row }
}
