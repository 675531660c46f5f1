//! Classes that lose least: rows are cut in two where that saves most, and the few rows in the way of a good cut are suppressed.
//!
//! Paper:      ours, after Mondrian (LeFevre, DeWitt, Ramakrishnan 2006) and the proportional draw of amiri2016
//! Promises:   every class satisfies the criteria as they were when it was made; the table's own order decides no tie but the last
//! Departs:    Mondrian cuts the widest column at its median and refuses a cut if one half fails. Here every cut of every column
//!             is priced by what the two halves lose, rows that must go so that a half satisfies limits on shares included: on
//!             Adult (k 5) the loss is .016 instead of .05 to .12, with beta-likeness 1 it is .15 where ARX has .48
//! Cost:       O(d n) a level of cuts, on all cores; as many levels as a balanced tree has, unless values are very uneven. Where
//!             size and different values decide, nothing is counted: a few rows at the ends of a column show where it can be cut
//! Checked by: `tests/it/tabular.rs`, and `nothing_has_to_be_counted_for_different_values` in this file

use rayon::prelude::*;

use super::agglomerate::{self, Clusters};
use super::extent::Shape;
use super::tally::{Groups, Tally};
use super::trim::{fitting, place, trim};
use super::{Problem, peel};
use crate::data::Partition;
use crate::error::Result;
use crate::release::privacy_models::{Histogram, Judge, are_different, see};

/// So many places to cut are looked at in a column, at quantiles if there are more.
const MOST_PLACES: usize = 255;

/// So many values are looked at for a part of their own, the most frequent ones.
const MOST_SINGLES: usize = 64;

/// Below so many rows cuts are priced by what all columns lose after them, not only the one that is cut.
/// Adult, k 5: .0171 without it, .0162 with it.
const EXACT: usize = 200;

/// So many cuts are priced that way, and so many of one column are looked at.
const PROMISING: usize = 4;

/// From so few rows on, what they have is copied: it stays in the cache nearest to the core.
const NEAR: usize = 1024;

/// From so many rows on, both halves are cut at the same time.
const PARALLEL: usize = 4096;

/// The price of a suppressed record grows by this factor until few enough are removed.
const DEARER: f64 = 1.25;

/// So often at most.
const MOST_PRICES: usize = 20;

/// Classes by cuts, and by levels if columns have hierarchies; whichever loses less.
pub(super) fn partition(problem: &Problem<'_>, most_removed: f64) -> Result<Partition> {
    let mut best = by_cuts(problem, &agglomerate::clusters(problem), most_removed)?;
    let has_hierarchy = problem.shapes.iter().any(|shape| matches!(shape, Shape::Tree { .. }));
    // Rows that are in the way of limits on shares can be removed by cuts only.
    if has_hierarchy && problem.beliefs.is_none() && problem.judge.caps().is_none() {
        let peeled = peel::partition(problem, |rows| cut(problem, &problem.judge, rows, 1.0))?;
        if total_loss(problem, &peeled) < total_loss(problem, &best) {
            best = peeled;
        }
    }
    Ok(best)
}

/// What a partition loses in all: a suppressed record loses everything.
fn total_loss(problem: &Problem<'_>, partition: &Partition) -> f64 {
    let losses: Vec<f64> = (0..partition.len())
        .into_par_iter()
        .map(|class| partition.class(class).len() as f64 * problem.loss(partition.class(class)))
        .collect();
    losses.iter().sum::<f64>() + partition.removed.len() as f64 * problem.quasi.len() as f64
}

/// Cuts each group, at a price of suppression at which few enough are suppressed.
fn by_cuts(problem: &Problem<'_>, clusters: &Clusters, most_removed: f64) -> Result<Partition> {
    let mut price = 1.0;
    let mut tries = 0;
    loop {
        let mut classes = Vec::new();
        for mut rows in clusters.groups.clone() {
            classes.extend(cut(problem, &problem.judge, &mut rows, price));
        }
        let (classes, removed) = set_aside(problem, classes, clusters.removed.clone(), price)?;
        tries += 1;
        let is_few = removed.len() as f64 <= most_removed * problem.table.n_rows() as f64;
        if is_few || tries == MOST_PRICES || problem.judge.caps().is_none() {
            let mut partition = Partition::default();
            classes.iter().for_each(|rows| partition.push(rows));
            partition.removed = removed;
            return Ok(partition);
        }
        price *= DEARER;
    }
}

/// Takes rows out of classes until all satisfy the criteria over what remains, and puts them where they fit.
fn set_aside(
    problem: &Problem<'_>,
    mut classes: Vec<Vec<u32>>,
    mut removed: Vec<u32>,
    price: f64,
) -> Result<(Vec<Vec<u32>>, Vec<u32>)> {
    let dear = price * problem.quasi.len() as f64;
    let mut judge = problem.judge_over(0..problem.table.n_rows() as u32)?;
    // Each round moves the overall shares by what it removed: less and less. What is left then is for `settle`.
    for _ in 0..20 {
        let aside: Vec<Vec<u32>> = classes.par_iter_mut().map(|rows| trim(problem, &judge, rows)).collect();
        problem.observer.check();
        classes.retain(|rows| !rows.is_empty());
        let aside: Vec<u32> = aside.into_iter().flatten().collect();
        let is_done = aside.is_empty();
        removed.extend(place(problem, &judge, &mut classes, aside, dear));
        if is_done {
            break;
        }
        judge = problem.judge_over(classes.iter().flatten().copied())?;
    }
    removed.sort_unstable();
    Ok((classes, removed))
}

/// Cuts rows as long as that loses less; a suppressed record costs `price` times what a row can lose.
pub(super) fn cut(problem: &Problem<'_>, judge: &Judge<'_>, rows: &mut [u32], price: f64) -> Vec<Vec<u32>> {
    let columns: Vec<usize> = (0..problem.quasi.len()).collect();
    let task = Task {
        problem,
        judge,
        dear: price * problem.quasi.len() as f64,
        different: judge.different_only(),
        quasi: problem.quasi.iter().map(|column| &column.codes[..]).collect(),
        sensitive: judge.columns().iter().map(|column| &column.codes[..]).collect(),
        is_near: false,
    };
    let mut classes = Vec::new();
    task.cut(rows, &columns, &mut classes);
    classes
}

struct Task<'a> {
    problem: &'a Problem<'a>,
    judge: &'a Judge<'a>,
    /// What a suppressed record costs.
    dear: f64,
    /// If size and the number of different sensitive values decide: how many of them there must be.
    different: Option<u32>,
    /// The codes of the rows in the quasi-identifiers and sensitive columns.
    quasi: Vec<&'a [u32]>,
    sensitive: Vec<&'a [u32]>,
    /// Whether these are copies, in which rows are near to each other.
    is_near: bool,
}

/// What is used again from cut to cut.
#[derive(Default)]
struct Scratch {
    tallies: Vec<Tally>,
    right: Vec<u32>,
    is_left: Vec<bool>,
}

/// Rows whose code in a column is on the left are parted from the others.
struct Cut {
    column: usize,
    left: Left,
    objective: f64,
    /// Rows of the smaller part: of cuts that lose the same, the more even.
    smaller: u32,
}

enum Left {
    Below(u32),
    /// Sorted.
    Of(Vec<u32>),
}

impl Left {
    fn has(&self, code: u32) -> bool {
        match self {
            Left::Below(end) => code < *end,
            Left::Of(codes) => codes.binary_search(&code).is_ok(),
        }
    }
}

impl Task<'_> {
    /// `columns` are those in which the rows may differ.
    fn cut(&self, rows: &mut [u32], columns: &[usize], classes: &mut Vec<Vec<u32>>) {
        let mut scratch = Scratch::default();
        // Not by recursion: where one part is small again and again, that would go as deep as there are classes.
        let mut open = vec![(rows, columns.to_vec())];
        while let Some((rows, columns)) = open.pop() {
            self.problem.observer.check();
            if rows.len() <= NEAR && !self.is_near && self.different.is_some() {
                self.cut_near(rows, &columns, classes);
                continue;
            }
            let Some((cut, columns)) = self.best_cut(rows, &columns, &mut scratch) else {
                classes.push(rows.to_vec());
                continue;
            };
            let middle = self.part(rows, &cut, &mut scratch.right);
            let (left, right) = rows.split_at_mut(middle);
            if left.len().min(right.len()) < PARALLEL {
                open.push((right, columns.clone()));
                open.push((left, columns));
                continue;
            }
            // What was used for many rows is not kept while they are cut further.
            scratch = Scratch::default();
            let mut more = Vec::new();
            rayon::join(|| self.cut(left, &columns, classes), || self.cut(right, &columns, &mut more));
            classes.append(&mut more);
        }
    }

    /// The same with copies of what the rows have: it is then at hand, wherever in the table they stand.
    fn cut_near(&self, rows: &[u32], columns: &[usize], classes: &mut Vec<Vec<u32>>) {
        let copy = |codes: &[u32]| -> Vec<u32> { rows.iter().map(|&row| codes[row as usize]).collect() };
        let differs =
            |(column, codes): (usize, &&[u32])| if columns.contains(&column) { copy(codes) } else { Vec::new() };
        let quasi: Vec<Vec<u32>> = self.quasi.iter().enumerate().map(differs).collect();
        let sensitive: Vec<Vec<u32>> = self.sensitive.iter().map(|codes| copy(codes)).collect();
        let near = Task {
            quasi: quasi.iter().map(|codes| &codes[..]).collect(),
            sensitive: sensitive.iter().map(|codes| &codes[..]).collect(),
            is_near: true,
            ..*self
        };
        let mut places: Vec<u32> = (0..rows.len() as u32).collect();
        let first = classes.len();
        near.cut(&mut places, columns, classes);
        classes[first..].iter_mut().flatten().for_each(|place| *place = rows[*place as usize]);
    }

    /// Puts the rows of the left part first, and tells how many they are. Both parts keep their order.
    fn part(&self, rows: &mut [u32], cut: &Cut, right: &mut Vec<u32>) -> usize {
        let codes = self.quasi[cut.column];
        right.clear();
        let mut middle = 0;
        for at in 0..rows.len() {
            let row = rows[at];
            match cut.left.has(codes[row as usize]) {
                true => {
                    rows[middle] = row;
                    middle += 1;
                }
                false => right.push(row),
            }
        }
        rows[middle..].copy_from_slice(right);
        middle
    }

    /// The cut after which rows lose least, and the columns in which they differ; none if they are better left together.
    fn best_cut(&self, rows: &[u32], columns: &[usize], scratch: &mut Scratch) -> Option<(Cut, Vec<usize>)> {
        if rows.len() < 2 * self.judge.k().max(1) as usize {
            return None;
        }
        let is_large = rows.len() >= PARALLEL;
        let with_rows = self.different != Some(1);
        let tally = |(&column, mut tally): (&usize, Tally)| {
            tally.fill(self.quasi[column], self.problem.quasi[column].domain.n_codes(), rows, with_rows);
            (column, self.problem.shapes[column].loss_of(&tally.codes), tally)
        };
        let mut spare = std::mem::take(&mut scratch.tallies);
        spare.resize_with(columns.len(), Tally::default);
        let mut tallies: Vec<(usize, f64, Tally)> = match is_large {
            true => columns.par_iter().zip(spare).map(tally).collect(),
            false => columns.iter().zip(spare).map(tally).collect(),
        };
        let best = self.best_of(rows, &tallies, is_large, &mut scratch.is_left);
        // A column in which all are alike will not differ later.
        let differing = tallies.iter().filter(|(_, loss, _)| *loss > 0.0).map(|(column, ..)| *column).collect();
        scratch.tallies.extend(tallies.drain(..).map(|(.., tally)| tally));
        best.map(|cut| (cut, differing))
    }

    fn best_of(
        &self,
        rows: &[u32],
        tallies: &[(usize, f64, Tally)],
        is_large: bool,
        is_left: &mut Vec<bool>,
    ) -> Option<Cut> {
        let differing = || tallies.iter().filter(|(_, loss, _)| *loss > 0.0);
        let whole = self.whole(rows, differing().map(|(_, loss, _)| loss).sum());
        let look = |(column, loss, tally): &(usize, f64, Tally)| match *loss > 0.0 {
            true => self.cuts_of(&whole, *column, *loss, tally),
            false => Vec::new(),
        };
        let mut cuts: Vec<Cut> = match is_large {
            true => tallies.par_iter().flat_map_iter(look).collect(),
            false => tallies.iter().flat_map(look).collect(),
        };
        if rows.len() <= EXACT {
            cuts.sort_by(|a, b| a.objective.total_cmp(&b.objective).then(b.smaller.cmp(&a.smaller)));
            cuts.truncate(PROMISING);
            let columns: Vec<usize> = differing().map(|(column, ..)| *column).collect();
            cuts.iter_mut().for_each(|cut| cut.objective = self.exact(rows, cut, &columns, is_left));
        }
        let best = cuts.into_iter().min_by(|a, b| {
            a.objective.total_cmp(&b.objective).then(b.smaller.cmp(&a.smaller)).then(a.column.cmp(&b.column))
        })?;
        // A cut that saves nothing now may let others save later.
        (best.objective <= whole.objective + 1e-9).then_some(best)
    }

    fn whole(&self, rows: &[u32], loss: f64) -> Whole {
        let counts = match self.different {
            Some(_) => Histogram { size: rows.len() as u32, ..Histogram::default() },
            None => self.judge.of_rows(rows),
        };
        let fit = match self.different {
            Some(_) if self.holds(counts.size, rows.iter().copied()) => counts.size,
            Some(_) => 0,
            None => fitting(self.judge, &counts),
        };
        let objective = f64::from(fit) * loss + f64::from(counts.size - fit) * self.dear;
        Whole { counts, loss, objective }
    }

    /// Where size and different values decide: whether so many rows may be a class. Ends with the first rows that show it.
    fn holds(&self, size: u32, rows: impl Iterator<Item = u32> + Clone) -> bool {
        size >= self.judge.k() && are_different(self.different.unwrap_or(1), &self.sensitive, rows)
    }

    /// What two parts lose; none if one of them cannot be a class.
    fn objective(&self, left: (&Histogram, f64), right: (&Histogram, f64)) -> Option<f64> {
        let part = |(counts, loss): (&Histogram, f64)| {
            let fit = fitting(self.judge, counts);
            (fit > 0).then(|| f64::from(fit) * loss + f64::from(counts.size - fit) * self.dear)
        };
        Some(part(left)? + part(right)?)
    }

    /// What two parts lose in all columns.
    fn exact(&self, rows: &[u32], cut: &Cut, columns: &[usize], is_left: &mut Vec<bool>) -> f64 {
        let codes = self.quasi[cut.column];
        is_left.clear();
        is_left.extend(rows.iter().map(|&row| cut.left.has(codes[row as usize])));
        let mut losses = [0.0; 2];
        for &column in columns {
            let codes = rows.iter().map(|&row| self.quasi[column][row as usize]);
            let [left, right] = self.problem.shapes[column].losses_of_parts(codes.zip(is_left.iter().copied()));
            (losses[0], losses[1]) = (losses[0] + left, losses[1] + right);
        }
        let part = |of: bool| rows.iter().zip(&*is_left).filter(move |(_, is)| **is == of).map(|(&row, _)| row);
        if self.different.is_some() {
            let sizes = [true, false].map(|of| part(of).count() as u32);
            let holds = self.holds(sizes[0], part(true)) && self.holds(sizes[1], part(false));
            let objective = f64::from(sizes[0]) * losses[0] + f64::from(sizes[1]) * losses[1];
            return if holds { objective } else { f64::INFINITY };
        }
        let [left, right] = [true, false].map(|of| self.judge.of(part(of)));
        self.objective((&left, losses[0]), (&right, losses[1])).unwrap_or(f64::INFINITY)
    }

    /// The promising cuts of a column, by what this column alone loses.
    fn cuts_of(&self, whole: &Whole, column: usize, loss: f64, tally: &Tally) -> Vec<Cut> {
        let shape = &self.problem.shapes[column];
        let groups = Groups::new(shape, tally, loss);
        let others = whole.loss - loss;
        let mut found = Promising::new(if whole.counts.size as usize <= EXACT { PROMISING } else { 1 });
        match self.different {
            Some(_) => self.between_different(whole, &groups, others, &mut found),
            None => self.between(whole, &groups, others, &mut found),
        }
        if !matches!(shape, Shape::Numbers { .. }) {
            self.singles(whole, &groups, others, &mut found);
        }
        let cut = |(objective, smaller, from, to)| {
            let left = match shape {
                Shape::Numbers { .. } => Left::Below(groups.codes(to, to + 1)[0]),
                _ => Left::Of(groups.codes(from, to)),
            };
            Cut { column, left, objective, smaller }
        };
        found.cuts.into_iter().map(cut).collect()
    }

    /// Cuts between two neighbouring groups: those before go left.
    fn between(&self, whole: &Whole, groups: &Groups<'_>, others: f64, found: &mut Promising) {
        let (mut left, mut right) = (self.judge.empty(), whole.counts.clone());
        let mut places = Places::new(whole, groups);
        for end in 1..groups.len() {
            self.shift(groups, end - 1, &mut right, &mut left);
            if !places.is_next(left.size) {
                continue;
            }
            let losses = (groups.loss(0, end), groups.loss(end, groups.len()));
            if let Some(objective) = self.objective((&left, others + losses.0), (&right, others + losses.1)) {
                found.add((objective, left.size.min(right.size), 0, end));
            }
        }
    }

    /// The same where size and different values decide. More rows have no fewer values: from some group on the left part holds,
    /// and up to some other the right one does. Nothing else has to be counted.
    fn between_different(&self, whole: &Whole, groups: &Groups<'_>, others: f64, found: &mut Promising) {
        let Some(first) = self.first_that_holds(groups, 0..groups.len()) else { return };
        let Some(last) = self.first_that_holds(groups, (0..groups.len()).rev()) else { return };
        let mut places = Places::new(whole, groups);
        let mut size = 0;
        for end in 1..groups.len() {
            size += groups.sizes[end - 1];
            if !places.is_next(size) || end <= first || end > last {
                continue;
            }
            let rest = whole.counts.size - size;
            let losses = (groups.loss(0, end), groups.loss(end, groups.len()));
            let objective = f64::from(size) * (others + losses.0) + f64::from(rest) * (others + losses.1);
            found.add((objective, size.min(rest), 0, end));
        }
    }

    /// The first group with which those so far may be a class.
    fn first_that_holds(&self, groups: &Groups<'_>, order: impl Iterator<Item = usize> + Clone) -> Option<usize> {
        let rows = |group: usize| groups.parts(group).iter().flat_map(|&part| groups.tally.rows_of(part)).copied();
        let mut size = 0;
        let mut by_size = order.clone().skip_while(|&group| {
            size += groups.sizes[group];
            size < self.judge.k()
        });
        let enough = by_size.next()?;
        let l = self.different.unwrap_or(1);
        if l <= 1 {
            return Some(enough);
        }
        let mut last = enough;
        for codes in &self.sensitive {
            let mut seen = Vec::with_capacity(l as usize);
            let mut is_past = false;
            let found = order.clone().find(|&group| {
                see(l, codes, rows(group), &mut seen);
                is_past |= group == last;
                is_past && seen.len() >= l as usize
            });
            // Later than all before, for it was not found until then.
            last = found?;
        }
        Some(last)
    }

    /// Cuts that give one group a part of its own.
    fn singles(&self, whole: &Whole, groups: &Groups<'_>, others: f64, found: &mut Promising) {
        // The first and the last are parted by cuts between neighbours.
        for group in (1..groups.len().saturating_sub(1)).take(MOST_SINGLES) {
            let size = groups.sizes[group];
            if size < self.judge.k() {
                continue;
            }
            let rest = whole.counts.size - size;
            let (alone, together) = (others + groups.loss(group, group + 1), others + groups.rest);
            let objective = match self.different {
                Some(_) => {
                    self.single_holds(groups, group, rest).then(|| f64::from(size) * alone + f64::from(rest) * together)
                }
                None => {
                    let (mut left, mut right) = (self.judge.empty(), whole.counts.clone());
                    self.shift(groups, group, &mut right, &mut left);
                    self.objective((&left, alone), (&right, together))
                }
            };
            if let Some(objective) = objective {
                found.add((objective, size.min(rest), group, group + 1));
            }
        }
    }

    /// Whether a group may be a class, and so may the `rest`, where size and different values decide.
    fn single_holds(&self, groups: &Groups<'_>, group: usize, rest: u32) -> bool {
        if self.different == Some(1) {
            return groups.sizes[group] >= self.judge.k() && rest >= self.judge.k();
        }
        let rows = |group: usize| groups.parts(group).iter().flat_map(|&part| groups.tally.rows_of(part)).copied();
        let others = (0..groups.len()).filter(|&other| other != group).flat_map(rows);
        self.holds(groups.sizes[group], rows(group)) && self.holds(rest, others)
    }

    /// Moves the rows of a group from one count to another.
    fn shift(&self, groups: &Groups<'_>, group: usize, from: &mut Histogram, to: &mut Histogram) {
        for &part in groups.parts(group) {
            self.judge.shift(from, to, groups.tally.rows_of(part));
        }
    }
}

/// The best cuts of a column so far: what is lost, rows of the smaller part, and the groups that go left.
struct Promising {
    cuts: Vec<(f64, u32, usize, usize)>,
    most: usize,
}

impl Promising {
    fn new(most: usize) -> Self {
        Promising { cuts: Vec::with_capacity(most + 1), most }
    }

    /// In order of what is lost, then the more even first, then as they come.
    fn add(&mut self, cut: (f64, u32, usize, usize)) {
        let is_before = |other: &(f64, u32, usize, usize)| other.0.total_cmp(&cut.0).then(cut.1.cmp(&other.1)).is_le();
        let place = self.cuts.partition_point(is_before);
        if place < self.most {
            self.cuts.insert(place, cut);
            self.cuts.truncate(self.most);
        }
    }
}

/// Which places are looked at, if there are many: those at quantiles.
struct Places {
    is_many: bool,
    step: u32,
    next: u32,
}

impl Places {
    fn new(whole: &Whole, groups: &Groups<'_>) -> Self {
        let step = (whole.counts.size as usize / MOST_PLACES) as u32;
        Places { is_many: groups.len() - 1 > MOST_PLACES, step, next: 0 }
    }

    /// Whether the place after so many rows is one of them.
    fn is_next(&mut self, rows: u32) -> bool {
        if self.is_many && rows < self.next {
            return false;
        }
        self.next = rows + self.step;
        true
    }
}

/// The rows to be cut: what they lose uncut.
struct Whole {
    counts: Histogram,
    loss: f64,
    objective: f64,
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::Hierarchy;
    use crate::data::table::{Column, Role, Table};
    use crate::release::privacy_models::Criterion;
    use rand::{RngExt, SeedableRng};

    /// The same cuts with counts of all sensitive values at every place.
    #[test]
    fn nothing_has_to_be_counted_for_different_values() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(9);
        let (mut classes, mut rounds) = (0, 0);
        while rounds < 150 {
            // Some tables are larger than what is copied, some values rarer than l.
            let n = if rounds % 10 == 0 { 3 * NEAR } else { rng.random_range(4..300) };
            let mut column = |i: u32, role: Role| {
                let most = rng.random_range(1..if role == Role::Quasi { 90 } else { 5 });
                let mut value =
                    || (rng.random_range(0..9) > 0).then(|| rng.random_range(0..most).min(rng.random_range(0..most)));
                let values: Vec<Option<u32>> = (0..n).map(|_| value()).collect();
                let texts: Vec<Option<String>> =
                    values.iter().map(|value| value.map(|value| format!("v{value}"))).collect();
                match i % 3 {
                    0 => Column::numbers("n", role, values.iter().map(|value| value.map(f64::from))),
                    _ => Column::words("w", role, texts.iter().map(Option::as_deref)),
                }
            };
            let mut columns: Vec<Column> = (0..4).map(|i| column(i, Role::Quasi)).collect();
            columns.extend((0..rounds % 3 + 1).map(|i| column(i + 1, Role::Sensitive)));
            if columns[2].domain.n_values() > 0 {
                let hierarchy = Hierarchy::uniform(columns[2].domain.texts(), 3).unwrap();
                columns[2].domain.set_hierarchy(hierarchy);
            }
            let table = Table::new(n, columns, None);
            let l = rounds % 4;
            let mut criteria = vec![Criterion::KAnonymity { k: 3 }];
            criteria.extend((l > 1).then_some(Criterion::DistinctDiversity { l }));
            let params = Params { method: Method::LeastLoss, criteria, most_removed: 0.5, seed: 0 };
            let problem = Problem::new(&table, &params, None).unwrap();
            let fast = cut(&problem, &problem.judge, &mut problem.rows(), 1.0);
            let codes = |columns: &[&'_ Column]| columns.iter().map(|column| column.codes.clone()).collect::<Vec<_>>();
            let (quasi, sensitive) = (codes(&problem.quasi), codes(problem.judge.columns()));
            let slow = Task {
                problem: &problem,
                judge: &problem.judge,
                dear: problem.quasi.len() as f64,
                different: None,
                quasi: quasi.iter().map(|codes| &codes[..]).collect(),
                sensitive: sensitive.iter().map(|codes| &codes[..]).collect(),
                is_near: false,
            };
            let mut counted = Vec::new();
            slow.cut(&mut problem.rows(), &[0, 1, 2, 3], &mut counted);
            assert_eq!(fast, counted, "round {rounds}");
            (classes, rounds) = (classes + fast.len(), rounds + 1);
        }
        assert!(classes > 1500, "{classes}");
    }
}
