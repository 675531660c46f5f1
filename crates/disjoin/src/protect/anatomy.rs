//! Anatomy: quasi-identifiers stay as they are, and every group has l rows whose sensitive values all differ.
//!
//! Paper:      Xiao, Tao: Anatomy: Simple and Effective Privacy Preservation, VLDB 2006, Figure 3
//! Promises:   no value of a sensitive column has a share above 1/l in a group, and every group satisfies the other criteria
//! Assumes:    no value of the table has a share above 1/l: otherwise no grouping at all would do
//! Departs:    the paper has one sensitive column, and groups are made by the first. Of the rows that it could draw from a bucket,
//!             one is preferred whose other sensitive values the group lacks; groups that still have too much of a value, or are
//!             smaller than k, are then put together until they hold. Buckets are shuffled once, in the order of their content:
//!             the groups do not depend on the order of the input. What is drawn protects people: it comes from
//!             the system's generator, and from a seed only in a demonstration, which promises nothing
//! Cost:       O(n log n) for the order of rows and the largest buckets; memory linear in rows
//! Checked by: `tests/it/break_merge.rs`: 2,000 random tables, counted anew

use std::collections::BinaryHeap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::data::Partition;
use crate::data::table::{Column, Table};
use crate::error::{Error, Result};
use crate::release::privacy_models::{Criterion, Judge};
use crate::release::split::Split;

/// So many rows of a bucket are looked at for one that differs in the other sensitive columns, too.
const TRIED: usize = 16;

/// Puts rows into groups of l different sensitive values; the criteria are asked of every group, besides.
pub fn anatomize(table: &Table, l: u32, criteria: &[Criterion], seed: u64) -> Result<Partition> {
    let Some((first, others)) = table.sensitive().split_first().map(|(first, others)| (*first, others.to_vec())) else {
        let problem = "names no column: there is nothing to take apart";
        return Err(Error::recipe("sensitive", problem, "name the columns that nobody may learn about a person"));
    };
    let judge = Judge::new(&with_shares(criteria, l), table)?;
    check_eligible(table, l)?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut buckets = buckets(table, first, &mut random);
    let mut groups = draw(&mut buckets, l as usize, &others);
    place_rest(buckets, &mut groups, first, &mut random);
    let mut partition = Partition::default();
    together(groups, &judge)?.iter().for_each(|rows| partition.push(rows));
    Ok(partition)
}

/// Splits a table as Anatomy does; the groups are those of [`anatomize`].
pub fn anatomy<'a>(table: &'a Table, groups: &Partition) -> Result<Split<'a>> {
    Split::of_rows(table, groups)
}

/// The criteria, and that no share is above 1/l: what l-diversity means here.
pub fn with_shares(criteria: &[Criterion], l: u32) -> Vec<Criterion> {
    let alpha = 1.0 / f64::from(l.max(2));
    criteria.iter().copied().chain([Criterion::Frequency { alpha }]).collect()
}

/// Refuses a table in which a value is too frequent for any grouping.
fn check_eligible(table: &Table, l: u32) -> Result<()> {
    let most_frequent = |column: &Column| {
        let mut counts = vec![0_u32; column.domain.n_codes()];
        column.codes.iter().for_each(|&code| counts[code as usize] += 1);
        u64::from(counts.iter().max().copied().unwrap_or(0))
    };
    let rows = table.n_rows() as u64;
    let worst =
        table.sensitive().into_iter().map(|column| (most_frequent(column), column)).max_by_key(|(most, _)| *most);
    match worst {
        Some((most, column)) if most * u64::from(l) > rows => Err(Error::Infeasible {
            problem: format!(
                "the most frequent value of {} has {most} of {rows} rows: more than one in {l}",
                column.name
            ),
            hint: match rows / most {
                1 => String::from("Anatomy cannot protect this column: choose another method"),
                can => format!("l can be at most {can}, or choose another method"),
            },
        }),
        _ => Ok(()),
    }
}

/// Rows by their value of a column, each bucket in an order that nobody can guess.
fn buckets(table: &Table, first: &Column, random: &mut ChaCha8Rng) -> Vec<Vec<u32>> {
    let columns: Vec<&Column> = table.columns.iter().collect();
    let key = |row: u32| columns.iter().map(move |column| column.codes[row as usize]);
    let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); first.domain.n_codes()];
    first.codes.iter().zip(0..).for_each(|(&code, row)| buckets[code as usize].push(row));
    // Rows that are alike in all columns can be exchanged: the order is that of content.
    buckets.par_iter_mut().for_each(|rows| rows.sort_unstable_by(|&a, &b| key(a).cmp(key(b)).then(a.cmp(&b))));
    for rows in &mut buckets {
        for i in (1..rows.len()).rev() {
            rows.swap(i, random.random_range(0..=i));
        }
    }
    buckets
}

/// One row from each of the l largest buckets, as long as there are l.
fn draw(buckets: &mut [Vec<u32>], l: usize, others: &[&Column]) -> Vec<Vec<u32>> {
    let mut largest: BinaryHeap<(usize, usize)> =
        buckets.iter().map(Vec::len).zip(0..).filter(|(size, _)| *size > 0).collect();
    let mut groups = Vec::new();
    while largest.len() >= l {
        let taken: Vec<(usize, usize)> = (0..l).filter_map(|_| largest.pop()).collect();
        let mut group = Vec::with_capacity(l);
        for (size, bucket) in taken {
            group.extend(take(&mut buckets[bucket], &group, others));
            if size > 1 {
                largest.push((size - 1, bucket));
            }
        }
        groups.push(group);
    }
    groups
}

/// Takes the last row of a bucket, or one shortly before it that has no sensitive value in common with the group.
fn take(bucket: &mut Vec<u32>, group: &[u32], others: &[&Column]) -> Option<u32> {
    let differs = |row: u32| {
        let is_in = |column: &Column| group.iter().any(|&m| column.codes[m as usize] == column.codes[row as usize]);
        !others.iter().any(|column| is_in(column))
    };
    let from = bucket.len().saturating_sub(TRIED);
    let place = (from..bucket.len()).rev().find(|&place| differs(bucket[place]));
    place.or(bucket.len().checked_sub(1)).map(|place| bucket.swap_remove(place))
}

/// Rows that are left, fewer than l, go to groups that lack their value.
fn place_rest(buckets: Vec<Vec<u32>>, groups: &mut Vec<Vec<u32>>, first: &Column, random: &mut ChaCha8Rng) {
    for row in buckets.into_iter().flatten() {
        let value = first.codes[row as usize];
        let start = if groups.is_empty() { 0 } else { random.random_range(0..groups.len()) };
        let lacks = |group: &Vec<u32>| group.iter().all(|&member| first.codes[member as usize] != value);
        let place = (0..groups.len()).map(|i| (start + i) % groups.len()).find(|&place| lacks(&groups[place]));
        match place {
            Some(place) => groups[place].push(row),
            None => groups.push(vec![row]),
        }
    }
}

/// Groups put together, one after the other, until each satisfies the criteria.
fn together(groups: Vec<Vec<u32>>, judge: &Judge<'_>) -> Result<Vec<Vec<u32>>> {
    let mut done: Vec<Vec<u32>> = Vec::with_capacity(groups.len());
    let mut open: Vec<u32> = Vec::new();
    let mut counts = judge.empty();
    for rows in groups {
        rows.iter().for_each(|&row| judge.add(&mut counts, row));
        open.extend(rows);
        if judge.holds(&counts) {
            open.iter().for_each(|&row| judge.remove(&mut counts, row));
            done.push(std::mem::take(&mut open));
        }
    }
    while !open.is_empty() && !judge.holds(&counts) {
        let Some(last) = done.pop() else { return Err(infeasible(judge, &open)) };
        last.iter().for_each(|&row| judge.add(&mut counts, row));
        open.extend(last);
    }
    if !open.is_empty() {
        done.push(open);
    }
    Ok(done)
}

fn infeasible(judge: &Judge<'_>, rows: &[u32]) -> Error {
    let readings = judge.readings(&judge.of(rows.iter().copied()));
    let fails = judge.criteria().iter().zip(readings).find(|(_, reading)| reading.is_some_and(|r| !r.holds));
    let text = fails.map_or_else(String::new, |(criterion, _)| criterion.text());
    Error::Infeasible {
        problem: format!("not even all {} rows as one group have {text}", rows.len()),
        hint: String::from("ask for less"),
    }
}
