//! Rows and columns of a weighted table by their largest gap, kept up to date while cells are eliminated and shrink.
//!
//! Paper:      shao2017, definition 5.2; the bookkeeping is ours
//! Promises:   [`Gaps::best`] is the group with the largest gap, as sorting every group anew would find it; ties go to rows
//!             before columns, and to smaller numbers
//! Assumes:    cells only shrink or vanish. The largest gap of a group then grows by no more than what the one cell below it
//!             moved since gaps were computed, any other gap, and one of 0 below all, by no more than what some cell moved:
//!             groups whose bound is below the best are left alone. This is what makes the attacks incremental: almost all groups have a cell
//!             that moved, but few gaps can have become the largest. If all cells of a group shrink alike, so does its bound
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
    /// What is known of each group's gaps.
    bounds: Bounds,
    /// For each group by what all its cells were multiplied since, apart from that.
    scales: Vec<f64>,
    /// Groups whose largest cell must stay, until the next elimination, with their largest gaps and the next ones.
    barred: Vec<(usize, f64, f64)>,
    /// For each block of groups the largest bound.
    tops: Vec<f64>,
    sorted: Vec<f64>,
}

/// What the largest gap of each group can be now. Behind the last there are some without a gap: blocks are whole.
struct Bounds {
    /// The largest gap that it had then; minus infinity if it has none, or lost one of the two cells beside it since.
    gaps: Vec<f64>,
    /// The place of the cell below that gap.
    below: Vec<u32>,
    /// How far that cell shrank since, or more.
    below_moved: Vec<f64>,
    /// The largest of the other gaps, without the cells that vanished since, or more; minus infinity if there is no gap.
    others: Vec<f64>,
    /// The most that a cell of it shrank since, or more; 0 if nothing happened to it.
    moved: Vec<f64>,
}

/// A group as it was when its gap was computed.
struct Group {
    /// Its cells, by place in the group, ascending; ties by place.
    order: Vec<u32>,
    /// How many cells there were below the gap, the lowest such gap if there are several.
    n_lower: usize,
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
        let group = |size: usize| Group { order: (0..size as u32).collect(), n_lower: 0, largest: (0.0, 0) };
        let mut gaps = Gaps {
            n_rows,
            n_columns,
            of_columns: vec![f32::NAN; n_rows * n_columns],
            of_rows: vec![f32::NAN; n_rows * n_columns],
            left_in_row: vec![n_columns; n_rows],
            left_in_column: vec![n_rows; n_columns],
            groups: (0..n_rows + n_columns).map(|id| group(if id < n_rows { n_columns } else { n_rows })).collect(),
            bounds: Bounds::new(n_rows + n_columns),
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
        let gaps = &self.bounds.gaps[..self.groups.len()];
        let sum: f64 = gaps.iter().map(|gap| gap.max(0.0)).sum();
        if gaps.is_empty() { 0.0 } else { sum / gaps.len() as f64 }
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
        self.tops.extend((0..self.bounds.gaps.len() / BLOCK).map(|block| self.bounds.top(block)));
        loop {
            let (bound, group) = self.largest()?;
            if self.bounds.moved[group] > 0.0 {
                self.compute(group, weigh);
                self.look_again(group);
                continue;
            }
            let place = self.groups[group].largest.1;
            let (row, column) = group.checked_sub(self.n_rows).map_or((group, place), |column| (place, column));
            if self.left_in_row[row] >= 2 && self.left_in_column[column] >= 2 {
                return Some(Best { gap: bound, row, column });
            }
            let Bounds { gaps, others, .. } = &mut self.bounds;
            self.barred.push((group, gaps[group], others[group]));
            (gaps[group], others[group]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
            self.look_again(group);
        }
    }

    /// The largest bound, and the first group that has it; none if there is none above minus infinity.
    fn largest(&self) -> Option<(f64, usize)> {
        let best = self.tops.iter().copied().fold(f64::NEG_INFINITY, larger);
        let block = self.tops.iter().position(|&top| top == best && best > f64::NEG_INFINITY)?;
        let mut groups = block * BLOCK..self.groups.len();
        groups.find(|&group| self.bounds.of(group) == best).map(|group| (best, group))
    }

    /// Finds the largest bound of a block anew, of whose groups one changed.
    fn look_again(&mut self, group: usize) {
        let block = group / BLOCK;
        self.tops[block] = self.bounds.top(block);
    }

    /// The cells of a group that are below its largest gap as it is now, by place.
    pub(super) fn lower(&mut self, group: usize, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> &[u32] {
        if self.bounds.moved[group] > 0.0 {
            self.compute(group, weigh);
        }
        let group = &self.groups[group];
        &group.order[..group.n_lower]
    }

    /// All cells of a group were multiplied by a factor, and so were its gaps, and what its cells moved: it need not be
    /// computed anew. By place, the cells are now these distances times these shares times `share`.
    pub(super) fn scale(&mut self, id: usize, factor: f64, distances: &[f64], shares: &[f64], share: f64) {
        self.scales[id] *= factor;
        // Rounding is by parts of the cells here, not of their differences.
        self.bounds.scale(id, factor, LEAST * (1.0 + self.groups[id].largest.0));
        let Across { then, scales, below, below_moved, moved, place } = self.across(id);
        let shrunk =
            |then: f32, scale: f64, distance: f64, of_other: f64| f64::from(then) * scale - distance * share * of_other;
        let cells = then.iter().zip(scales).zip(distances).zip(shares);
        for ((((&then, &scale), &distance), &of_other), moved) in cells.zip(moved) {
            *moved = further(*moved, shrunk(then, scale, distance, of_other));
        }
        // Few groups have their largest gap just above this cell: they are looked for several at once.
        for (first, some) in (0..).step_by(BLOCK).zip(below.chunks(BLOCK)).filter(|(_, some)| some.contains(&place)) {
            for at in (first..).zip(some).filter(|(_, below)| **below == place).map(|(at, _)| at) {
                let shrunk = shrunk(then[at], scales[at], distances[at], shares[at]);
                below_moved[at] = further(below_moved[at], shrunk);
            }
        }
    }

    /// Some cells of a group became smaller, by so much at most; `to` makes them so and says what they are now.
    pub(super) fn shrink(&mut self, id: usize, places: &[u32], mut to: impl FnMut(usize) -> (f64, f64)) {
        let mut most = 0.0;
        let Across { then, scales, below, below_moved, moved, place: itself } = self.across(id);
        for &place in places {
            let place = place as usize;
            // Those that are unknown inherit in vain.
            if then[place].is_nan() {
                continue;
            }
            let (before, now) = to(place);
            most = further(most, before - now);
            let shrunk = f64::from(then[place]) * scales[place] - now;
            moved[place] = further(moved[place], shrunk);
            if below[place] == itself {
                below_moved[place] = further(below_moved[place], shrunk);
            }
        }
        self.bounds.moved[id] += most;
        self.bounds.below_moved[id] += most;
    }

    /// The groups that cross a group.
    fn across(&mut self, id: usize) -> Across<'_> {
        let (n_rows, n_columns) = (self.n_rows, self.n_columns);
        let (then, crossing, place) = match id.checked_sub(n_rows) {
            None => (&self.of_columns[id * n_columns..][..n_columns], n_rows..n_rows + n_columns, id),
            Some(column) => (&self.of_rows[column * n_rows..][..n_rows], 0..n_rows, column),
        };
        Across {
            then,
            scales: &self.scales[crossing.clone()],
            below: &self.bounds.below[crossing.clone()],
            below_moved: &mut self.bounds.below_moved[crossing.clone()],
            moved: &mut self.bounds.moved[crossing],
            place: place as u32,
        }
    }

    /// Takes a cell out.
    pub(super) fn eliminate(&mut self, row: usize, column: usize) {
        for (group, gap, others) in self.barred.drain(..) {
            (self.bounds.gaps[group], self.bounds.others[group]) = (gap, others);
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
        // Two gaps became one.
        if let (Some(&below), Some(&above)) = (below, above) {
            let gap = (then(above) - then(below) * (1.0 - 3.0 * COARSE)) * self.scales[id];
            self.bounds.others[id] = self.bounds.others[id].max(gap);
        }
        // The largest gap is gone with the cell above or below it; what became of it is among the others.
        if rank == group.n_lower || rank + 1 == group.n_lower {
            self.bounds.gaps[id] = f64::NEG_INFINITY;
        }
        self.bounds.moved[id] = self.bounds.moved[id].max(LEAST);
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
        let gap = largest_gap(sorted);
        let is_largest = |pair: &[f64]| pair[1] - pair[0] == gap;
        group.n_lower = sorted.windows(2).position(is_largest).map_or(0, |rank| rank + 1);
        self.bounds.gaps[id] = gap;
        self.bounds.below[id] = group.n_lower.checked_sub(1).map_or(u32::MAX, |rank| group.order[rank]);
        // A cell may fall below all others: the gap above it is then new, and at most what it moved.
        let least = if n < 2 { f64::NEG_INFINITY } else { 0.0 };
        let (lower, upper) = sorted.split_at(group.n_lower);
        self.bounds.others[id] = larger(least, larger(largest_gap(lower), largest_gap(upper)));
        group.largest = sorted.last().map_or((0.0, 0), |&largest| {
            let n_below = sorted.iter().rposition(|&cell| cell < largest).map_or(0, |rank| rank + 1);
            (largest, group.order[n_below] as usize)
        });
        self.scales[id] = 1.0;
        (self.bounds.moved[id], self.bounds.below_moved[id]) = (0.0, 0.0);
    }
}

/// What the groups that cross a group knew of its cells, each of which is at the same place in its group.
struct Across<'a> {
    then: &'a [f32],
    scales: &'a [f64],
    below: &'a [u32],
    below_moved: &'a mut [f64],
    moved: &'a mut [f64],
    place: u32,
}

impl Bounds {
    fn new(n_groups: usize) -> Self {
        let n = n_groups.next_multiple_of(BLOCK);
        Bounds {
            gaps: vec![f64::NEG_INFINITY; n],
            below: vec![u32::MAX; n],
            below_moved: vec![0.0; n],
            others: vec![f64::NEG_INFINITY; n],
            moved: vec![0.0; n],
        }
    }

    /// No gap of the group is larger.
    fn of(&self, group: usize) -> f64 {
        larger(self.gaps[group] + self.below_moved[group], self.others[group] + self.moved[group])
    }

    /// The largest bound of a block.
    fn top(&self, block: usize) -> f64 {
        let Bounds { gaps, below_moved, others, moved, .. } = self;
        let [gaps, below_moved, others, moved] = [gaps, below_moved, others, moved]
            .map(|of_groups| of_groups[block * BLOCK..][..BLOCK].as_chunks::<LANES>().0.iter());
        let mut best = [f64::NEG_INFINITY; LANES];
        for (((gaps, below_moved), others), moved) in gaps.zip(below_moved).zip(others).zip(moved) {
            for lane in 0..LANES {
                let bound = larger(gaps[lane] + below_moved[lane], others[lane] + moved[lane]);
                best[lane] = larger(best[lane], bound);
            }
        }
        largest_of(best)
    }

    fn scale(&mut self, group: usize, factor: f64, rounding: f64) {
        self.gaps[group] *= factor;
        self.others[group] *= factor;
        self.below_moved[group] = self.below_moved[group] * factor + rounding;
        self.moved[group] = self.moved[group] * factor + rounding;
    }
}

fn further(most: f64, moved: f64) -> f64 {
    larger(most, moved * (1.0 + ROUNDING) + LEAST)
}

/// So many maxima are kept side by side: the machine then compares several at once.
const LANES: usize = 4;

fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

fn largest_of([a, b, c, d]: [f64; LANES]) -> f64 {
    larger(larger(a, b), larger(c, d))
}

/// The largest difference of neighbours; minus infinity if there are none.
fn largest_gap(sorted: &[f64]) -> f64 {
    let above = sorted.get(1..).unwrap_or(&[]);
    let ((above, last_above), (below, last_below)) =
        (above.as_chunks::<LANES>(), sorted[..above.len()].as_chunks::<LANES>());
    let mut best = [f64::NEG_INFINITY; LANES];
    for (above, below) in above.iter().zip(below) {
        for lane in 0..LANES {
            best[lane] = larger(best[lane], above[lane] - below[lane]);
        }
    }
    for ((above, below), best) in last_above.iter().zip(last_below).zip(&mut best) {
        *best = larger(*best, above - below);
    }
    largest_of(best)
}

/// Ascending, ties by place. What was sorted a moment ago takes one pass.
fn sort_nearly_sorted(cells: &mut [f64], places: &mut [u32]) {
    let mut moves = 0;
    for next in 1..cells.len() {
        let (cell, place) = (cells[next], places[next]);
        if cells[next - 1] < cell {
            continue;
        }
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
