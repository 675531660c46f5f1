//! How useful is a table in classes? What its cells cost, how large its classes are, and how far counts are off.
//!
//! Paper:      amiri2016, section 5 (RGCP); the penalties are by Xu et al. 2006 (NCP) and Ghinita et al. 2007 (GCP),
//!             discernibility by Bayardo, Agrawal 2005, the mean size of classes by LeFevre, DeWitt, Ramakrishnan 2006
//! Assumes:    every row is in a class or removed
//! Departs:    all columns weigh the same
//! Cost:       linear in rows and columns; RGCP and queries as said in their files
//! Checked by: tests/it/table_metrics.rs, against slow definitions
//!
//! All sums are over classes G of |G| rows, of d quasi-identifiers a and n rows:
//!
//! NCP(G) = sum over a of NCP_a(G), where NCP_a is [`Cell::loss`](crate::data::Cell::loss), in `[0, 1]`
//! GCP    = sum over G of |G| NCP(G) / (d n_published)
//! DM     = sum over G of |G|^2 + n (records suppressed)
//! C_avg  = n / (number of classes) / k

mod penalty;
mod queries;

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

pub use queries::{Asked, QueryError};

use crate::data::table::{Column, Table};
use crate::data::{Cell, Partition};

/// What to measure, and with how much effort.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableOptions {
    /// The k that was asked for, in C_avg.
    pub k: u32,
    /// How many random queries are asked.
    pub queries: usize,
    /// The least share of rows that a query is about.
    pub least_share: f64,
    /// Everything random follows from it.
    pub seed: u64,
}

impl Default for TableOptions {
    fn default() -> Self {
        TableOptions { k: 1, queries: 1000, least_share: 0.001, seed: 1 }
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TableReport {
    /// The number of rows of the original (n).
    pub rows: usize,
    /// Rows in classes.
    pub published: usize,
    /// Rows that are not published.
    pub removed: usize,
    /// The mean penalty of each quasi-identifier over published rows.
    pub columns: Vec<ColumnLoss>,
    /// GCP: the mean penalty of a published cell; none if nothing is published.
    pub gcp: Option<f64>,
    /// The same over all rows, those that were removed counting as lost in full.
    pub gcp_all: f64,
    /// RGCP: over all rows, those that were removed counting as if added to the class that suffers least from it.
    pub rgcp: f64,
    /// RGCP where they count as that class is without them.
    pub rgcp_own: f64,
    /// DM: for each row the number of rows that it cannot be told from; all of them, if it was removed.
    pub discernibility: u64,
    /// C_avg: the mean size of a class by rows of the original, in multiples of k; none if nothing is published.
    pub average_class: Option<f64>,
    /// The sizes of classes.
    pub classes: Sizes,
    /// How far answers to random counting queries are off.
    pub queries: QueryError,
}

/// What a column lost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnLoss {
    /// Its name.
    pub column: String,
    /// The mean of NCP over published rows; 0 if there are none.
    pub ncp: f64,
}

/// How large classes are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sizes {
    /// How many there are.
    pub number: usize,
    /// The smallest; 0 if there is none, as all others.
    pub least: u32,
    /// The least sizes that a quarter, half and three quarters of the classes do not exceed.
    pub quartiles: [u32; 3],
    /// The largest.
    pub most: u32,
    /// The mean of published rows.
    pub mean: f64,
    /// Classes by size, from one power of two to below the next; without empty bands.
    pub bands: Vec<Band>,
}

/// Classes of about the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Band {
    /// The least size, a power of two.
    pub from: u32,
    /// The greatest size.
    pub to: u32,
    /// How many classes there are.
    pub classes: usize,
    /// How many rows are in them.
    pub rows: usize,
}

/// Compares a table in classes with its original.
pub fn measure_table(table: &Table, partition: &Partition, options: &TableOptions) -> TableReport {
    let shown = Shown::new(table, partition);
    let (n, published, removed) = (table.n_rows(), partition.n_published(), partition.removed.len());
    let d = shown.columns.len().max(1) as f64;
    let columns = shown.columns.iter().enumerate().map(|(position, column)| ColumnLoss {
        column: column.name.clone(),
        ncp: shown.loss_of_column(position) / published.max(1) as f64,
    });
    // The sum over G of |G| NCP(G).
    let lost: f64 = shown.sizes.iter().zip(&shown.losses).map(|(&size, loss)| f64::from(size) * loss).sum();
    let ((nearest, own), queries) = rayon::join(
        || penalty::of_removed(&shown, &partition.removed),
        || queries::ask(table, &shown, options.queries, options.least_share, options.seed),
    );
    let of_all = |penalty: f64| (lost + penalty) / (d * n.max(1) as f64);
    let square = |&size: &u32| u64::from(size) * u64::from(size);
    TableReport {
        rows: n,
        published,
        removed,
        columns: columns.collect(),
        gcp: (published > 0).then(|| lost / (d * published as f64)),
        gcp_all: of_all(d * removed as f64),
        rgcp: of_all(nearest),
        rgcp_own: of_all(own),
        discernibility: shown.sizes.iter().map(square).sum::<u64>() + n as u64 * removed as u64,
        average_class: (!partition.is_empty()).then(|| n as f64 / partition.len() as f64 / f64::from(options.k.max(1))),
        classes: Sizes::new(&shown.sizes),
        queries,
    }
}

/// The different cells of a column, with their losses.
type Cells = Vec<(Cell, f64)>;

/// What is published, every different cell of a column once.
struct Shown<'a> {
    columns: Vec<&'a Column>,
    /// For each column its different cells.
    cells: Vec<Cells>,
    /// For each class the places of its cells, column by column.
    of_class: Vec<u32>,
    /// For each class its number of rows, |G|.
    sizes: Vec<u32>,
    /// For each class the penalty of a row, NCP(G).
    losses: Vec<f64>,
}

impl<'a> Shown<'a> {
    fn new(table: &'a Table, partition: &Partition) -> Self {
        let columns = table.quasi();
        let (d, n) = (columns.len(), partition.len());
        let parts: Vec<(Cells, Vec<u32>)> = (columns.par_iter().enumerate())
            .map(|(position, column)| {
                let made: Vec<Cell> = (0..n)
                    .into_par_iter()
                    .with_min_len(64)
                    .map(|class| partition.cell(column, position, partition.class(class)))
                    .collect();
                let mut places: HashMap<Cell, u32> = HashMap::new();
                let mut cells = Vec::new();
                let mut place = |cell: Cell| {
                    *places.entry(cell).or_insert_with_key(|cell| {
                        cells.push((cell.clone(), cell.loss(&column.domain)));
                        cells.len() as u32 - 1
                    })
                };
                let of_class = made.into_iter().map(&mut place).collect();
                (cells, of_class)
            })
            .collect();
        let mut shown = Shown {
            columns,
            cells: Vec::with_capacity(d),
            of_class: vec![0; d * n],
            sizes: partition.classes().map(|rows| rows.len() as u32).collect(),
            losses: vec![0.0; n],
        };
        for (position, (cells, of_class)) in parts.into_iter().enumerate() {
            for (class, place) in of_class.into_iter().enumerate() {
                shown.of_class[class * d + position] = place;
                shown.losses[class] += cells[place as usize].1;
            }
            shown.cells.push(cells);
        }
        shown
    }

    /// The places of a class's cells.
    fn places(&self, class: usize) -> &[u32] {
        &self.of_class[class * self.columns.len()..][..self.columns.len()]
    }

    /// The sum over G of |G| NCP_a(G).
    fn loss_of_column(&self, position: usize) -> f64 {
        let loss = |class: usize| self.cells[position][self.places(class)[position] as usize].1;
        self.sizes.iter().enumerate().map(|(class, &size)| f64::from(size) * loss(class)).sum()
    }
}

impl Sizes {
    fn new(sizes: &[u32]) -> Self {
        let mut sorted = sizes.to_vec();
        sorted.sort_unstable();
        let mut bands: Vec<Band> = Vec::new();
        for &size in &sorted {
            let from = 1 << size.max(1).ilog2();
            match bands.last_mut() {
                Some(band) if band.from == from => {
                    band.classes += 1;
                    band.rows += size as usize;
                }
                _ => bands.push(Band { from, to: from + (from - 1), classes: 1, rows: size as usize }),
            }
        }
        let rows: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        Sizes {
            number: sizes.len(),
            least: sorted.first().copied().unwrap_or(0),
            quartiles: [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share).unwrap_or(0)),
            most: sorted.last().copied().unwrap_or(0),
            mean: rows as f64 / sizes.len().max(1) as f64,
            bands,
        }
    }
}

/// The least of some sorted values that at least this share of them does not exceed.
fn quantile<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}
