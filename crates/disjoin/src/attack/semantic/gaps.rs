//! Rows and columns of a weighted table by their largest gap, kept up to date while cells are eliminated and shrink.
//!
//! Paper:      shao2017, definition 5.2; the bookkeeping is ours
//! Promises:   [`Gaps::best`] is the group with the largest gap, as sorting every group anew would find it; ties go to rows
//!             before columns, and to smaller numbers
//! Assumes:    cells only shrink or vanish. If no cell of a group moved by more than d since its gaps were computed, its gap
//!             is at most d more than that of the same cells then: groups whose bound is below the best are left alone.
//!             This is what makes the attacks incremental: almost all groups have a cell that moved, but few gaps can
//!             have become the largest
//! Cost:       O(rows + columns) for each elimination, and a pass over each group that comes into question
//! Checked by: tests/semantic.rs: the literal loops, which sort all groups each time, on random tables with ties

use super::Table;

/// Bounds are sums of rounded differences: by so much they are too large rather than too small.
const ROUNDING: f64 = 1e-9;
const LEAST: f64 = 1e-12;

/// Rows and columns with their largest gaps. A group is a row, or a column numbered behind all rows.
pub(super) struct Gaps {
    n_rows: usize,
    n_columns: usize,
    /// Cells row by row, and the same column by column.
    by_row: Vec<Cell>,
    by_column: Vec<Cell>,
    left_in_row: Vec<usize>,
    left_in_column: Vec<usize>,
    groups: Vec<Group>,
    /// For each group the largest gap that it had then, without the cells that vanished since, or more; minus infinity if
    /// there is none.
    gaps: Vec<f64>,
    /// For each group the most that a cell of it shrank since; 0 if nothing happened to it.
    moved: Vec<f64>,
    /// Groups whose largest cell must stay, until the next elimination.
    barred: Vec<(usize, f64)>,
    sorted: Vec<f64>,
}

/// A weighted distance; not a number where eliminated or unknown.
#[derive(Clone, Copy)]
struct Cell {
    now: f64,
    /// As it was when the gap of its row, or of its column, was computed.
    then: f64,
}

/// A group as it was when its gap was computed.
#[derive(Default)]
struct Group {
    /// Its cells, by place in the group, ascending; ties by place.
    order: Vec<u32>,
    /// How many cells there were below the gap, the lowest such gap if there are several.
    n_lower: usize,
    /// The largest gap but one.
    second: f64,
}

/// What to eliminate next.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) gap: f64,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Gaps {
    /// Begins with weighted distances.
    pub(super) fn new(table: &Table, cells: Vec<f64>) -> Self {
        let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
        let cell = |at: usize| Cell { now: cells[at], then: cells[at] };
        let turned = (0..n_columns).flat_map(|column| (0..n_rows).map(move |row| row * n_columns + column));
        let group = |size: usize| Group { order: (0..size as u32).collect(), ..Group::default() };
        let mut gaps = Gaps {
            n_rows,
            n_columns,
            by_row: (0..cells.len()).map(cell).collect(),
            by_column: turned.map(cell).collect(),
            left_in_row: vec![n_columns; n_rows],
            left_in_column: vec![n_rows; n_columns],
            groups: (0..n_rows + n_columns).map(|id| group(if id < n_rows { n_columns } else { n_rows })).collect(),
            gaps: vec![f64::NEG_INFINITY; n_rows + n_columns],
            moved: vec![0.0; n_rows + n_columns],
            barred: Vec::new(),
            sorted: Vec::new(),
        };
        (0..n_rows + n_columns).for_each(|group| gaps.compute(group));
        gaps
    }

    /// The mean of all groups' largest gaps; those without one count as 0. Nothing may have been eliminated yet.
    pub(super) fn mean(&self) -> f64 {
        let sum: f64 = self.gaps.iter().map(|gap| gap.max(0.0)).sum();
        if self.gaps.is_empty() { 0.0 } else { sum / self.gaps.len() as f64 }
    }

    pub(super) fn into_cells(self) -> Vec<f64> {
        self.by_row.iter().map(|cell| cell.now).collect()
    }

    pub(super) fn left_in_row(&self, row: usize) -> usize {
        self.left_in_row[row]
    }

    pub(super) fn left_in_column(&self, column: usize) -> usize {
        self.left_in_column[column]
    }

    /// The group with the largest gap of those whose largest cell may go: it is the last of neither its row nor its column.
    pub(super) fn best(&mut self) -> Option<Best> {
        loop {
            let (bound, group) = largest(&self.gaps, &self.moved)?;
            if self.moved[group] > 0.0 {
                self.compute(group);
                continue;
            }
            let (row, column) = self.largest_cell(group);
            if self.left_in_row[row] >= 2 && self.left_in_column[column] >= 2 {
                return Some(Best { gap: bound, row, column });
            }
            self.barred.push((group, bound));
            self.gaps[group] = f64::NEG_INFINITY;
        }
    }

    /// The cells of a row that are below its largest gap as it is now, by column.
    pub(super) fn lower_of_row(&mut self, row: usize) -> Vec<u32> {
        self.lower(row)
    }

    /// The cells of a column that are below its largest gap as it is now, by row.
    pub(super) fn lower_of_column(&mut self, column: usize) -> Vec<u32> {
        self.lower(self.n_rows + column)
    }

    fn lower(&mut self, group: usize) -> Vec<u32> {
        if self.moved[group] > 0.0 {
            self.compute(group);
        }
        let group = &self.groups[group];
        group.order[..group.n_lower].to_vec()
    }

    /// Makes cells of a row smaller: each of `columns`, or all.
    pub(super) fn shrink_row(&mut self, row: usize, columns: Option<&[u32]>, to: impl Fn(usize) -> f64) {
        let start = row * self.n_columns;
        // Those of the last computation are all that are left, and perhaps some more.
        let columns = columns.unwrap_or(&self.groups[row].order);
        let mut most = self.moved[row];
        for &column in columns {
            let column = column as usize;
            let (at, turned) = (start + column, column * self.n_rows + row);
            if self.by_row[at].now.is_nan() {
                continue;
            }
            let cell = to(column);
            (self.by_row[at].now, self.by_column[turned].now) = (cell, cell);
            most = further(most, self.by_row[at].then - cell);
            let moved = &mut self.moved[self.n_rows + column];
            *moved = further(*moved, self.by_column[turned].then - cell);
        }
        self.moved[row] = most;
    }

    /// Makes cells of a column smaller: each of `rows`, or all.
    pub(super) fn shrink_column(&mut self, column: usize, rows: Option<&[u32]>, to: impl Fn(usize) -> f64) {
        let start = column * self.n_rows;
        let rows = rows.unwrap_or(&self.groups[self.n_rows + column].order);
        let mut most = self.moved[self.n_rows + column];
        for &row in rows {
            let row = row as usize;
            let (turned, at) = (start + row, row * self.n_columns + column);
            if self.by_column[turned].now.is_nan() {
                continue;
            }
            let cell = to(row);
            (self.by_row[at].now, self.by_column[turned].now) = (cell, cell);
            most = further(most, self.by_column[turned].then - cell);
            self.moved[row] = further(self.moved[row], self.by_row[at].then - cell);
        }
        self.moved[self.n_rows + column] = most;
    }

    /// Takes a cell out.
    pub(super) fn eliminate(&mut self, row: usize, column: usize) {
        for (group, gap) in self.barred.drain(..) {
            self.gaps[group] = gap;
        }
        self.by_row[row * self.n_columns + column].now = f64::NAN;
        self.by_column[column * self.n_rows + row].now = f64::NAN;
        self.left_in_row[row] -= 1;
        self.left_in_column[column] -= 1;
        self.lose(row, column as u32);
        self.lose(self.n_rows + column, row as u32);
    }

    /// Bounds a group's gap anew, of whose cells one vanished.
    fn lose(&mut self, id: usize, place: u32) {
        let cells = match id.checked_sub(self.n_rows) {
            None => &self.by_row[id * self.n_columns..],
            Some(column) => &self.by_column[column * self.n_rows..],
        };
        let group = &mut self.groups[id];
        let rank = group.order.iter().position(|&other| other == place).unwrap_or(0);
        let is_left = |other: &&u32| !cells[**other as usize].now.is_nan();
        let above = group.order[rank..].iter().find(is_left);
        let below = group.order[..rank].iter().rev().find(is_left);
        match (below, above) {
            // Two gaps became one.
            (Some(&below), Some(&above)) => {
                let gap = cells[above as usize].then - cells[below as usize].then;
                self.gaps[id] = self.gaps[id].max(gap);
                group.second = group.second.max(gap);
            }
            // Without its topmost cell a group has lost the gap below it.
            (Some(_), None) if rank == group.order.len() - 1 && rank == group.n_lower => {
                self.gaps[id] = group.second;
            }
            _ => {}
        }
        self.moved[id] = self.moved[id].max(LEAST);
    }

    /// Sorts a group and finds its largest gap.
    fn compute(&mut self, id: usize) {
        let cells = match id.checked_sub(self.n_rows) {
            None => &mut self.by_row[id * self.n_columns..][..self.n_columns],
            Some(column) => &mut self.by_column[column * self.n_rows..][..self.n_rows],
        };
        let group = &mut self.groups[id];
        self.sorted.clear();
        group.order.retain(|&place| {
            let cell = &mut cells[place as usize];
            cell.then = cell.now;
            if !cell.now.is_nan() {
                self.sorted.push(cell.now);
            }
            !cell.now.is_nan()
        });
        sort_nearly_sorted(&mut self.sorted, &mut group.order);
        let (mut gap, mut n_lower, mut second) = (f64::NEG_INFINITY, 0, f64::NEG_INFINITY);
        for (rank, pair) in self.sorted.windows(2).enumerate() {
            let this = pair[1] - pair[0];
            if this > gap {
                (gap, n_lower, second) = (this, rank + 1, gap);
            } else if this > second {
                second = this;
            }
        }
        (group.n_lower, group.second) = (n_lower, second);
        self.gaps[id] = gap;
        self.moved[id] = 0.0;
    }

    /// The largest cell of a group that was just computed; ties go to the smallest place.
    fn largest_cell(&self, id: usize) -> (usize, usize) {
        let order = &self.groups[id].order;
        match id.checked_sub(self.n_rows) {
            None => (id, first_largest(order, &self.by_row[id * self.n_columns..])),
            Some(column) => (first_largest(order, &self.by_column[column * self.n_rows..]), column),
        }
    }
}

fn further(most: f64, moved: f64) -> f64 {
    let moved = moved * (1.0 + ROUNDING) + LEAST;
    if moved > most { moved } else { most }
}

/// The largest sum of both, and the first place that has it; none if there is none above minus infinity.
fn largest(gaps: &[f64], moved: &[f64]) -> Option<(f64, usize)> {
    const LANES: usize = 8;
    // Several maxima side by side: the machine then compares several at once.
    let mut best = [f64::NEG_INFINITY; LANES];
    let (left, right) = (gaps.chunks_exact(LANES), moved.chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    for (gaps, moved) in left.zip(right) {
        for lane in 0..LANES {
            let sum = gaps[lane] + moved[lane];
            best[lane] = if sum > best[lane] { sum } else { best[lane] };
        }
    }
    let rest = rest.map(|(gap, moved)| gap + moved);
    let best = best.into_iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a });
    let is_best = |(gap, moved): (&f64, &f64)| gap + moved == best;
    (best > f64::NEG_INFINITY).then(|| gaps.iter().zip(moved).position(is_best)).flatten().map(|place| (best, place))
}

/// Ascending, ties by place. What was sorted a moment ago takes one pass.
fn sort_nearly_sorted(cells: &mut [f64], places: &mut [u32]) {
    let mut moves = 0;
    for next in 1..cells.len() {
        let (cell, place) = (cells[next], places[next]);
        let mut at = next;
        while at > 0 && (cells[at - 1] > cell || cells[at - 1] == cell && places[at - 1] > place) {
            cells[at] = cells[at - 1];
            places[at] = places[at - 1];
            at -= 1;
        }
        cells[at] = cell;
        places[at] = place;
        moves += next - at;
        if moves > 8 * cells.len() {
            let mut pairs: Vec<(f64, u32)> = cells.iter().copied().zip(places.iter().copied()).collect();
            pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (at, (cell, place)) in pairs.into_iter().enumerate() {
                (cells[at], places[at]) = (cell, place);
            }
            return;
        }
    }
}

/// The last of a sorted group, or the first of those that are as large.
fn first_largest(order: &[u32], cells: &[Cell]) -> usize {
    let Some(&last) = order.last() else { return 0 };
    let tied = order.iter().rev().take_while(|&&place| cells[place as usize].now >= cells[last as usize].now);
    tied.copied().min().unwrap_or(last) as usize
}
