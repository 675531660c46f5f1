//! A split table of which only counts are kept: the same files, byte for byte, as [`Split`](super::Split) of the same groups.
//!
//! Promises:   as `split/mod.rs`; text is in memory a block at a time
//! Assumes:    groups show one value in each quasi-identifier
//! Cost:       sorting the groups, and as much time as the files take
//! Checked by: `streams_are_what_is_in_memory` in `tests/it/break_merge.rs`

use std::io::{self, Write};

use super::{check_roles, quasi_line, ranks_of_texts, value_line, write_quasi_header, write_sensitive_header};
use crate::data::table::Column;
use crate::data::{Counted, Table};
use crate::error::Result;

/// Text is handed over in blocks of about this size.
const BLOCK: usize = 1 << 18;

/// Groups in the order in which they are published.
#[derive(Debug, Clone)]
pub struct CountedSplit<'a> {
    counted: &'a Counted,
    order: Vec<u32>,
}

impl<'a> CountedSplit<'a> {
    /// The groups that are not empty, in the order of what they show.
    pub fn new(counted: &'a Counted) -> Result<Self> {
        check_roles(&counted.columns)?;
        let ranks: Vec<Vec<u32>> = counted.columns.quasi().into_iter().map(ranks_of_texts).collect();
        let shown =
            |&group: &u32| counted.tuple(group as usize).iter().zip(&ranks).map(|(&code, rank)| rank[code as usize]);
        let is_left = |group: &u32| counted.size(*group as usize) > 0;
        let mut order: Vec<u32> = (0..counted.n_groups() as u32).filter(is_left).collect();
        order.sort_unstable_by(|a, b| shown(a).cmp(shown(b)));
        Ok(CountedSplit { counted, order })
    }

    /// The columns, without rows.
    pub fn columns(&self) -> &'a Table {
        &self.counted.columns
    }

    /// The number of groups.
    pub fn n_groups(&self) -> usize {
        self.order.len()
    }

    /// The number of rows that are published.
    pub fn n_rows(&self) -> u64 {
        self.order.iter().map(|&group| u64::from(self.counted.size(group as usize))).sum()
    }

    /// For each group of the counts its number in the files, from 0; none if it is not published.
    pub fn numbers(&self) -> Vec<Option<u32>> {
        let mut numbers = vec![None; self.counted.n_groups()];
        self.order.iter().zip(0..).for_each(|(&group, number)| numbers[group as usize] = Some(number));
        numbers
    }

    /// For each code of a sensitive column whether a published row has it.
    pub fn occurring(&self, column: &Column) -> Vec<bool> {
        let mut occurs = vec![false; column.domain.n_codes()];
        let place = self.columns().sensitive().iter().position(|other| other.name == column.name);
        for (place, &group) in place.iter().flat_map(|place| self.order.iter().map(move |group| (place, group))) {
            let values = self.counted.values(group as usize, *place).iter().filter(|(_, count)| *count > 0);
            values.for_each(|&(code, _)| occurs[code as usize] = true);
        }
        occurs
    }

    /// Writes quasi.csv.
    pub fn write_quasi(&self, out: &mut impl Write) -> io::Result<()> {
        let quasi = self.columns().quasi();
        write_quasi_header(&quasi, out)?;
        let (mut line, mut text) = (Vec::new(), Vec::with_capacity(2 * BLOCK));
        for (number, &group) in self.order.iter().enumerate() {
            line.clear();
            let codes = self.counted.tuple(group as usize).iter().zip(&quasi);
            quasi_line(codes.map(|(&code, column)| column.domain.text(code)), number, &mut line);
            for _ in 0..self.counted.size(group as usize) {
                text.extend_from_slice(&line);
                flush_block(&mut text, out)?;
            }
        }
        out.write_all(&text)
    }

    /// Writes the table of a sensitive column, given its place among them.
    pub fn write_sensitive(&self, place: usize, out: &mut impl Write) -> io::Result<()> {
        let sensitive = self.columns().sensitive();
        write_sensitive_header(out)?;
        let mut text = Vec::with_capacity(2 * BLOCK);
        for (number, &group) in self.order.iter().enumerate() {
            for &count in self.counted.values(group as usize, place).iter().filter(|(_, count)| *count > 0) {
                value_line(number, sensitive[place], count, &mut text);
            }
            flush_block(&mut text, out)?;
        }
        out.write_all(&text)
    }
}

fn flush_block(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= BLOCK {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}
