//! Rows and columns of a weighted table by their largest gap, kept up to date while cells are eliminated and shrink.
//!
//! Paper:      shao2017, definition 5.2; the bookkeeping is ours
//! Promises:   [`Gaps::best`] is the group with the largest gap, as sorting every group anew would find it; ties go to rows
//!             before columns, and to smaller numbers
//! Assumes:    cells only shrink or vanish. If no cell of a group moved by more than d since its gaps were computed, its gap
//!             is at most d more than that of the same cells then: groups whose bound is below the best are left alone.
//!             This is what makes the attacks incremental: almost all groups have a cell that moved, but few gaps can
//!             have become the largest. If all cells of a group shrink alike, so does its bound
//! Cost:       O(rows + columns) for each elimination, and a pass over each group that comes into question
//! Checked by: tests/semantic.rs: the literal loops, which sort all groups each time, on random tables with ties

use super::Table;

/// Bounds are sums of rounded differences: by so much they are too large rather than too small.
const ROUNDING: f64 = 1e-9;
const LEAST: f64 = 1e-12;

/// Cells of the past are kept in half the space, by so much too large at least, and at most by twice that.
const COARSE: f64 = 2e-7;

/// Of so many groups together the largest bound is kept while the best is looked for.
const BLOCK: usize = 16;

/// Rows and columns with their largest gaps. A group is a row, or a column numbered behind all rows. Cells are the caller's:
/// `weigh` adds those of a group at some places, in this order, to a list; not a number where eliminated or unknown.
pub(super) struct Gaps {
    n_rows: usize,
    n_columns: usize,
    /// For each cell what it was when the gap of its column was computed, row by row: if a row shrinks, they are side by
    /// side. Not a number where eliminated or unknown.
    of_columns: Vec<f32>,
    /// The same for gaps of rows, column by column.
    of_rows: Vec<f32>,
    left_in_row: Vec<usize>,
    left_in_column: Vec<usize>,
    groups: Vec<Group>,
    /// For each group the largest gap that it had then, without the cells that vanished since, or more; minus infinity if
    /// there is none.
    gaps: Vec<f64>,
    /// For each group the most that a cell of it shrank since, or more; 0 if nothing happened to it.
    moved: Vec<f64>,
    /// For each group by what all its cells were multiplied since, apart from that.
    scales: Vec<f64>,
    /// Groups whose largest cell must stay, until the next elimination.
    barred: Vec<(usize, f64)>,
    /// For each block of groups the largest bound.
    tops: Vec<f64>,
    sorted: Vec<f64>,
}

/// A group as it was when its gap was computed.
struct Group {
    /// Its cells, by place in the group, ascending; ties by place.
    order: Vec<u32>,
    /// How many cells there were below the gap, the lowest such gap if there are several.
    n_lower: usize,
    /// The largest gap but for that below the topmost cell.
    second: f64,
    /// The largest cell, and the first place that has it.
    largest: (f64, usize),
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
    pub(super) fn new(table: &Table, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> Self {
        let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
        let group =
            |size: usize| Group { order: (0..size as u32).collect(), n_lower: 0, second: 0.0, largest: (0.0, 0) };
        let mut gaps = Gaps {
            n_rows,
            n_columns,
            of_columns: vec![f32::NAN; n_rows * n_columns],
            of_rows: vec![f32::NAN; n_rows * n_columns],
            left_in_row: vec![n_columns; n_rows],
            left_in_column: vec![n_rows; n_columns],
            groups: (0..n_rows + n_columns).map(|id| group(if id < n_rows { n_columns } else { n_rows })).collect(),
            gaps: vec![f64::NEG_INFINITY; n_rows + n_columns],
            moved: vec![0.0; n_rows + n_columns],
            scales: vec![1.0; n_rows + n_columns],
            barred: Vec::new(),
            tops: Vec::new(),
            sorted: Vec::new(),
        };
        (0..n_rows + n_columns).for_each(|group| gaps.compute(group, weigh));
        gaps
    }

    /// The mean of all groups' largest gaps; those without one count as 0. Nothing may have been eliminated yet.
    pub(super) fn mean(&self) -> f64 {
        let sum: f64 = self.gaps.iter().map(|gap| gap.max(0.0)).sum();
        if self.gaps.is_empty() { 0.0 } else { sum / self.gaps.len() as f64 }
    }

    pub(super) fn left_in_row(&self, row: usize) -> usize {
        self.left_in_row[row]
    }

    pub(super) fn left_in_column(&self, column: usize) -> usize {
        self.left_in_column[column]
    }

    /// The group with the largest gap of those whose largest cell may go: it is the last of neither its row nor its column.
    pub(super) fn best(&mut self, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> Option<Best> {
        self.tops.clear();
        let blocks = self.gaps.chunks(BLOCK).zip(self.moved.chunks(BLOCK));
        self.tops.extend(blocks.map(|(gaps, moved)| top_bound(gaps, moved)));
        loop {
            let (bound, group) = self.largest()?;
            if self.moved[group] > 0.0 {
                self.compute(group, weigh);
                self.look_again(group);
                continue;
            }
            let place = self.groups[group].largest.1;
            let (row, column) = group.checked_sub(self.n_rows).map_or((group, place), |column| (place, column));
            if self.left_in_row[row] >= 2 && self.left_in_column[column] >= 2 {
                return Some(Best { gap: bound, row, column });
            }
            self.barred.push((group, bound));
            self.gaps[group] = f64::NEG_INFINITY;
            self.look_again(group);
        }
    }

    /// The largest bound, and the first group that has it; none if there is none above minus infinity.
    fn largest(&self) -> Option<(f64, usize)> {
        let best = self.tops.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let block = self.tops.iter().position(|&top| top == best && best > f64::NEG_INFINITY)?;
        let groups = block * BLOCK..self.gaps.len();
        groups.into_iter().find(|&group| self.gaps[group] + self.moved[group] == best).map(|group| (best, group))
    }

    /// Finds the largest bound of a block anew, of whose groups one changed.
    fn look_again(&mut self, group: usize) {
        let block = group / BLOCK;
        let groups = block * BLOCK..self.gaps.len().min((block + 1) * BLOCK);
        self.tops[block] = top_bound(&self.gaps[groups.clone()], &self.moved[groups]);
    }

    /// The cells of a group that are below its largest gap as it is now, by place.
    pub(super) fn lower(&mut self, group: usize, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> &[u32] {
        if self.moved[group] > 0.0 {
            self.compute(group, weigh);
        }
        let group = &self.groups[group];
        &group.order[..group.n_lower]
    }

    /// All cells of a group were multiplied by a factor, and are these now, by place. So were its gaps, and what its cells
    /// moved: it need not be computed anew.
    pub(super) fn scale(&mut self, id: usize, factor: f64, now: impl Iterator<Item = f64>) {
        let group = &mut self.groups[id];
        group.second *= factor;
        self.scales[id] *= factor;
        self.gaps[id] *= factor;
        // Rounding is by parts of the cells here, not of their differences.
        self.moved[id] = self.moved[id] * factor + LEAST * (1.0 + group.largest.0);
        let (then, scales, moved) = self.across(id);
        for (((&then, &scale), moved), now) in then.iter().zip(scales).zip(moved).zip(now) {
            *moved = further(*moved, f64::from(then) * scale - now);
        }
    }

    /// Some cells of a group became smaller, by so much at most; `to` makes them so and says what they are now.
    pub(super) fn shrink(&mut self, id: usize, places: &[u32], mut to: impl FnMut(usize) -> (f64, f64)) {
        let mut most = 0.0;
        let (then, scales, moved) = self.across(id);
        for &place in places {
            let place = place as usize;
            // Those that are unknown inherit in vain.
            if then[place].is_nan() {
                continue;
            }
            let (before, now) = to(place);
            most = further(most, before - now);
            moved[place] = further(moved[place], f64::from(then[place]) * scales[place] - now);
        }
        self.moved[id] += most;
    }

    /// What the groups that cross a group knew of its cells, how they were scaled since, and how far they moved.
    fn across(&mut self, id: usize) -> (&[f32], &[f64], &mut [f64]) {
        let (n_rows, n_columns) = (self.n_rows, self.n_columns);
        match id.checked_sub(n_rows) {
            None => {
                (&self.of_columns[id * n_columns..][..n_columns], &self.scales[n_rows..], &mut self.moved[n_rows..])
            }
            Some(column) => {
                (&self.of_rows[column * n_rows..][..n_rows], &self.scales[..n_rows], &mut self.moved[..n_rows])
            }
        }
    }

    /// Takes a cell out.
    pub(super) fn eliminate(&mut self, row: usize, column: usize) {
        for (group, gap) in self.barred.drain(..) {
            self.gaps[group] = gap;
        }
        self.of_columns[row * self.n_columns + column] = f32::NAN;
        self.of_rows[column * self.n_rows + row] = f32::NAN;
        self.left_in_row[row] -= 1;
        self.left_in_column[column] -= 1;
        self.lose(row, column as u32);
        self.lose(self.n_rows + column, row as u32);
    }

    /// Bounds a group's gap anew, of whose cells one vanished.
    fn lose(&mut self, id: usize, place: u32) {
        let (then, first, stride) = match id.checked_sub(self.n_rows) {
            None => (&self.of_rows, id, self.n_rows),
            Some(column) => (&self.of_columns, column, self.n_columns),
        };
        let then = |place: u32| f64::from(then[place as usize * stride + first]);
        let group = &mut self.groups[id];
        // What is eliminated is mostly among the largest.
        let rank = group.order.iter().rposition(|&other| other == place).unwrap_or(0);
        let is_left = |other: &&u32| !then(**other).is_nan();
        let above = group.order[rank..].iter().find(is_left);
        let below = group.order[..rank].iter().rev().find(is_left);
        match (below, above) {
            // Two gaps became one.
            (Some(&below), Some(&above)) => {
                let gap = (then(above) - then(below) * (1.0 - 3.0 * COARSE)) * self.scales[id];
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
    fn compute(&mut self, id: usize, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) {
        let (then, first, stride) = match id.checked_sub(self.n_rows) {
            None => (&mut self.of_rows, id, self.n_rows),
            Some(column) => (&mut self.of_columns, column, self.n_columns),
        };
        let group = &mut self.groups[id];
        self.sorted.clear();
        weigh(id, &group.order, &mut self.sorted);
        let mut n = 0;
        for rank in 0..self.sorted.len().min(group.order.len()) {
            let (cell, place) = (self.sorted[rank], group.order[rank]);
            then[place as usize * stride + first] = (cell * (1.0 + COARSE)) as f32;
            // What vanished is written over by the next.
            (self.sorted[n], group.order[n]) = (cell, place);
            n += usize::from(!cell.is_nan());
        }
        self.sorted.truncate(n);
        group.order.truncate(n);
        sort_nearly_sorted(&mut self.sorted, &mut group.order);
        let sorted = &self.sorted;
        // The topmost gap apart: the other ones are asked for when the topmost cell goes.
        let topmost = match sorted[..] {
            [.., below, above] => above - below,
            _ => f64::NEG_INFINITY,
        };
        let others = largest_gap(&sorted[..n.saturating_sub(1)]);
        (self.gaps[id], group.second) = if topmost > others { (topmost, others) } else { (others, others) };
        let is_largest = |pair: &[f64]| pair[1] - pair[0] == others;
        let lowest = || sorted.windows(2).position(is_largest).map_or(0, |rank| rank + 1);
        group.n_lower = if topmost > others { n - 1 } else { lowest() };
        group.largest = sorted.last().map_or((0.0, 0), |&largest| {
            let n_below = sorted.iter().rposition(|&cell| cell < largest).map_or(0, |rank| rank + 1);
            (largest, group.order[n_below] as usize)
        });
        self.scales[id] = 1.0;
        self.moved[id] = 0.0;
    }
}

fn further(most: f64, moved: f64) -> f64 {
    let moved = moved * (1.0 + ROUNDING) + LEAST;
    if moved > most { moved } else { most }
}

/// The largest of what is made of two slices, as far as both go; minus infinity if there is nothing.
fn top(left: &[f64], right: &[f64], of: impl Fn(f64, f64) -> f64) -> f64 {
    const LANES: usize = 4;
    // Several maxima side by side: the machine then compares several at once.
    let mut best = [f64::NEG_INFINITY; LANES];
    let n = left.len().min(right.len());
    let (left, right) = (left[..n].chunks_exact(LANES), right[..n].chunks_exact(LANES));
    let rest = left.remainder().iter().zip(right.remainder());
    for (left, right) in left.zip(right) {
        for lane in 0..LANES {
            let this = of(left[lane], right[lane]);
            best[lane] = if this > best[lane] { this } else { best[lane] };
        }
    }
    let rest = rest.map(|(&left, &right)| of(left, right));
    best.into_iter().chain(rest).fold(f64::NEG_INFINITY, |a, b| if b > a { b } else { a })
}

/// The largest bound of a block.
fn top_bound(gaps: &[f64], moved: &[f64]) -> f64 {
    top(gaps, moved, |gap, moved| gap + moved)
}

/// The largest difference of neighbours; minus infinity if there are none.
fn largest_gap(sorted: &[f64]) -> f64 {
    top(sorted.get(1..).unwrap_or(&[]), sorted, |above, below| above - below)
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
