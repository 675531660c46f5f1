//! Rows and columns of a weighted table by their largest gap, kept up to date while cells are eliminated and shrink.
//!
//! Paper:      shao2017, definition 5.2; the bookkeeping is ours
//! Promises:   [`Gaps::best`] is the group with the largest gap, as sorting every group anew would find it; ties go to rows
//!             before columns, and to smaller numbers
//! Assumes:    cells only shrink or vanish. The largest gap of a group then grows by no more than what the one cell below it
//!             moved since gaps were computed; any other gap, and one of 0 below all, by no more than what some cell moved,
//!             and none moved farther than all together. Groups whose bound is below the best are left alone. This is
//!             what makes the attacks incremental: almost all groups have a cell that moved, but few gaps can have become
//!             the largest. If all cells of a group shrink alike, so does its bound
//! Cost:       O(rows + columns) for each elimination, and a pass over each group that comes into question: 1.8 of them for
//!             each elimination of the grouping-based attack, and 2.1, where 2 are needed, of the redistribution-based one
//! Checked by: tests/it/semantic.rs: the literal loops, which sort all groups each time, on random tables with ties

use std::ops::Range;

use super::Table;

/// A sum or difference of cells is right up to such a part of the largest distance, with much room.
const ROUNDING: f64 = 1e-13;

/// So many numbers are looked at together: the machine then compares several at once.
const BLOCK: usize = 16;
const LANES: usize = 4;

/// Rows and columns with their largest gaps. A group is a row, or a column numbered behind all rows. Cells are the caller's:
/// `weigh` adds those of a group at some places, in this order, to a list.
pub(super) struct Gaps {
    n_rows: usize,
    groups: Vec<Group>,
    bounds: Bounds,
    /// Groups whose largest cell must stay, until the next elimination.
    barred: Vec<usize>,
    /// By so much a bound is made larger whenever something moves.
    rounding: f64,
    /// Weighted cells of the group that is sorted.
    sorted: Vec<f64>,
    n_sorted: usize,
    /// The largest bound of each block of groups.
    of_blocks: Vec<f64>,
}

/// A group as it was when its gap was computed, without what vanished since.
struct Group {
    /// Its known cells, by place in the group, ascending; ties by place.
    order: Vec<u32>,
    /// How many of them are below the gap, the lowest such gap if there are several.
    n_lower: usize,
    /// The first place that has the largest cell.
    largest: u32,
    /// How many cells are left, known or not.
    n_left: usize,
}

/// What the largest gap of each group can be now.
struct Bounds {
    /// The largest gap that it had then; minus infinity if it has none, or lost one of the two cells beside it since.
    gaps: Vec<f64>,
    /// The place of the cell below that gap.
    below: Vec<u32>,
    /// How far that cell shrank since, or more.
    below_moved: Vec<f64>,
    /// The largest of the other gaps, without the cells that vanished since, or more; minus infinity if there is no gap.
    others: Vec<f64>,
    /// No cell of it shrank farther since: what happened is added up, whichever cells shrank; 0 if nothing happened to it.
    moved: Vec<f64>,
    /// What follows from all that: no gap is larger.
    tops: Vec<f64>,
}

/// What to eliminate next.
#[derive(Clone, Copy)]
pub(super) struct Best {
    pub(super) gap: f64,
    pub(super) row: usize,
    pub(super) column: usize,
}

/// Who shares the weight of a cell that goes.
#[derive(Clone, Copy)]
pub(super) struct Heirs {
    /// So many known cells, from the nearest on.
    n_known: usize,
    /// How many there are in all. Those that are unknown inherit in vain.
    pub(super) n: usize,
}

impl Gaps {
    /// Begins with weighted distances.
    pub(super) fn new(table: &Table, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> Self {
        let (n_rows, n_columns) = (table.n_rows(), table.n_columns());
        let group = |id: usize| {
            let (n_left, at) = match id.checked_sub(n_rows) {
                None => (n_columns, id * n_columns),
                Some(column) => (n_rows, column),
            };
            let step = if id < n_rows { 1 } else { n_columns };
            let is_known = |&place: &u32| !table.cells()[at + place as usize * step].is_nan();
            Group { order: (0..n_left as u32).filter(is_known).collect(), n_lower: 0, largest: 0, n_left }
        };
        let groups: Vec<Group> = (0..n_rows + n_columns).map(group).collect();
        let farthest = table.known().map(|(_, _, distance)| distance.abs()).fold(0.0, f64::max);
        let mut gaps = Gaps {
            n_rows,
            bounds: Bounds::new(groups.len()),
            groups,
            barred: Vec::new(),
            rounding: f64::MIN_POSITIVE + ROUNDING * farthest,
            sorted: Vec::new(),
            n_sorted: 0,
            of_blocks: Vec::new(),
        };
        (0..n_rows + n_columns).for_each(|group| gaps.compute(group, weigh));
        gaps
    }

    /// The mean of all groups' largest gaps; those without one count as 0. Nothing may have been eliminated yet.
    pub(super) fn mean(&self) -> f64 {
        let gaps = &self.bounds.gaps;
        let sum: f64 = gaps.iter().map(|gap| gap.max(0.0)).sum();
        if gaps.is_empty() { 0.0 } else { sum / gaps.len() as f64 }
    }

    /// How many cells of a group are left, known or not.
    pub(super) fn left(&self, group: usize) -> usize {
        self.groups[group].n_left
    }

    /// How many times a group was weighed and sorted.
    pub(super) fn n_sorted(&self) -> usize {
        self.n_sorted
    }

    /// The group with the largest gap of those whose largest cell may go: it is the last of neither its row nor its column.
    pub(super) fn best(&mut self, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> Option<Best> {
        self.of_blocks.clear();
        self.of_blocks.extend(self.bounds.tops.chunks(BLOCK).map(largest));
        loop {
            let gap = largest(&self.of_blocks);
            let block = self.of_blocks.iter().position(|&top| top == gap && gap > f64::NEG_INFINITY)?;
            let group = (block * BLOCK..self.groups.len()).find(|&group| self.bounds.tops[group] == gap)?;
            if self.bounds.moved[group] > 0.0 {
                self.compute(group, weigh);
            } else {
                let place = self.groups[group].largest as usize;
                let (row, column) = group.checked_sub(self.n_rows).map_or((group, place), |column| (place, column));
                if self.left(row) >= 2 && self.left(self.n_rows + column) >= 2 {
                    return Some(Best { gap, row, column });
                }
                self.barred.push(group);
                self.bounds.tops[group] = f64::NEG_INFINITY;
            }
            let block_of_tops = self.bounds.tops.chunks(BLOCK).nth(block);
            self.of_blocks[block] = block_of_tops.map_or(f64::NEG_INFINITY, largest);
        }
    }

    /// Who inherits if a cell of a group goes: the others below the largest gap as it is now; all others if there are none.
    pub(super) fn heirs(&mut self, id: usize, gone: usize, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) -> Heirs {
        if self.bounds.moved[id] > 0.0 {
            self.compute(id, weigh);
        }
        let group = &self.groups[id];
        let lower = &group.order[..group.n_lower];
        match lower.len() - usize::from(has(lower, gone as u32)) {
            0 => Heirs { n_known: group.order.len() - 1, n: group.n_left - 1 },
            n => Heirs { n_known: n, n },
        }
    }

    /// Takes a cell out. `weighted` tells what a cell of a row and a column is now.
    pub(super) fn eliminate(&mut self, row: usize, column: usize, weighted: impl Fn(usize, usize) -> f64) {
        for group in self.barred.drain(..) {
            self.bounds.update(group);
        }
        self.lose(row, column as u32, |other| weighted(row, other as usize));
        self.lose(self.n_rows + column, row as u32, |other| weighted(other as usize, column));
    }

    /// Bounds a group's gap anew, of whose cells one vanished.
    fn lose(&mut self, id: usize, place: u32, weighted: impl Fn(u32) -> f64) {
        let (group, bounds) = (&mut self.groups[id], &mut self.bounds);
        group.n_left -= 1;
        // What is eliminated is mostly among the largest.
        let Some(rank) = group.order.iter().rposition(|&other| other == place) else { return };
        group.order.remove(rank);
        // Two gaps became one. As it is now will do: what is above only shrinks, and what is below moves from here.
        if let (Some(below), Some(&above)) = (rank.checked_sub(1), group.order.get(rank)) {
            let gap = weighted(above) - weighted(group.order[below]);
            bounds.others[id] = larger(bounds.others[id], gap);
        }
        // The largest gap is gone with the cell above or below it; what became of it is among the others.
        if rank == group.n_lower || rank + 1 == group.n_lower {
            bounds.gaps[id] = f64::NEG_INFINITY;
        }
        group.n_lower -= usize::from(rank < group.n_lower);
        bounds.moved[id] += self.rounding;
        bounds.update(id);
    }

    /// All cells of a group were multiplied by a factor, and so were its gaps, and what its cells moved: it need not be
    /// computed anew. By place, the cells are now smaller by these distances times these shares times `less`.
    pub(super) fn scale(&mut self, id: usize, factor: f64, distances: &[f64], shares: &[f64], less: f64) {
        self.bounds.scale(id, factor, self.rounding);
        let (crossing, place) = self.crossing(id);
        let Bounds { gaps, below, below_moved, others, moved, tops } = &mut self.bounds;
        let [gaps, others] = [gaps, others].map(|of_groups| &of_groups[crossing.clone()]);
        let [below_moved, moved, tops] = [below_moved, moved, tops].map(|of_groups| &mut of_groups[crossing.clone()]);
        // Nothing is added where a cell vanished, which is not a number.
        let and_more = |sum: f64, distance: f64, share: f64| larger(sum, sum + distance * share * less + self.rounding);
        let cells = distances.iter().zip(shares);
        for (((&distance, &share), (moved, top)), &others) in cells.zip(moved.iter_mut().zip(&mut *tops)).zip(others) {
            *moved = and_more(*moved, distance, share);
            *top = larger(*top, others + *moved);
        }
        // Few groups have their largest gap just above this cell: they are looked for several at once.
        let below = below[crossing.clone()].chunks(BLOCK);
        for (first, some) in (0..).step_by(BLOCK).zip(below).filter(|(_, some)| has(some, place)) {
            for at in (first..).zip(some).filter(|(_, below)| **below == place).map(|(at, _)| at) {
                below_moved[at] = and_more(below_moved[at], distances[at], shares[at]);
                tops[at] = larger(tops[at], gaps[at] + below_moved[at]);
            }
        }
    }

    /// The heirs in a group became smaller; `by` makes one of them so, by its place, and says by how much.
    pub(super) fn shrink(&mut self, id: usize, heirs: Heirs, mut by: impl FnMut(usize) -> f64) {
        let (crossing, itself) = self.crossing(id);
        let own_below = self.bounds.below[id];
        let (mut most, mut of_below) = (0.0, 0.0);
        let Bounds { gaps, below, below_moved, others, moved, tops } = &mut self.bounds;
        let [gaps, others] = [gaps, others].map(|of_groups| &of_groups[crossing.clone()]);
        let [below_moved, moved, tops] = [below_moved, moved, tops].map(|of_groups| &mut of_groups[crossing.clone()]);
        let below = &below[crossing];
        for &heir in &self.groups[id].order[..heirs.n_known] {
            let place = heir as usize;
            let by = by(place) + self.rounding;
            most = larger(most, by);
            if heir == own_below {
                of_below = by;
            }
            moved[place] += by;
            tops[place] = larger(tops[place], others[place] + moved[place]);
            if below[place] == itself {
                below_moved[place] += by;
                tops[place] = larger(tops[place], gaps[place] + below_moved[place]);
            }
        }
        self.bounds.moved[id] += most;
        self.bounds.below_moved[id] += of_below;
        self.bounds.update(id);
    }

    /// The groups that cross a group, and at which place of theirs.
    fn crossing(&self, id: usize) -> (Range<usize>, u32) {
        match id.checked_sub(self.n_rows) {
            None => (self.n_rows..self.groups.len(), id as u32),
            Some(column) => (0..self.n_rows, column as u32),
        }
    }

    /// Sorts a group and finds its largest gap.
    fn compute(&mut self, id: usize, weigh: &impl Fn(usize, &[u32], &mut Vec<f64>)) {
        let (group, bounds, sorted) = (&mut self.groups[id], &mut self.bounds, &mut self.sorted);
        self.n_sorted += 1;
        sorted.clear();
        weigh(id, &group.order, sorted);
        sort_nearly_sorted(sorted, &mut group.order);
        let others;
        (bounds.gaps[id], group.n_lower, others) = largest_gap(sorted);
        bounds.below[id] = group.n_lower.checked_sub(1).map_or(u32::MAX, |rank| group.order[rank]);
        // A cell may fall below all others: the gap above it is then new, and at most what it moved.
        bounds.others[id] = if sorted.len() < 2 { f64::NEG_INFINITY } else { larger(0.0, others) };
        (bounds.moved[id], bounds.below_moved[id]) = (0.0, 0.0);
        bounds.update(id);
        if let Some(largest) = sorted.last() {
            let n_smaller = sorted.iter().rposition(|cell| cell < largest).map_or(0, |rank| rank + 1);
            group.largest = group.order[n_smaller];
        }
    }
}

impl Bounds {
    fn new(n_groups: usize) -> Self {
        let of_groups = || vec![0.0; n_groups];
        Bounds {
            gaps: of_groups(),
            below: vec![u32::MAX; n_groups],
            below_moved: of_groups(),
            others: of_groups(),
            moved: of_groups(),
            tops: of_groups(),
        }
    }

    fn update(&mut self, group: usize) {
        self.tops[group] = larger(self.gaps[group] + self.below_moved[group], self.others[group] + self.moved[group]);
    }

    fn scale(&mut self, group: usize, factor: f64, rounding: f64) {
        self.gaps[group] *= factor;
        self.others[group] *= factor;
        self.below_moved[group] = self.below_moved[group] * factor + rounding;
        self.moved[group] = self.moved[group] * factor + rounding;
        self.update(group);
    }
}

/// The first if the second is not a number.
fn larger(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

/// Minus infinity if there are none.
fn largest(numbers: &[f64]) -> f64 {
    let (fours, rest) = numbers.as_chunks::<LANES>();
    let mut best = [f64::NEG_INFINITY; LANES];
    for four in fours {
        for lane in 0..LANES {
            best[lane] = larger(best[lane], four[lane]);
        }
    }
    let [a, b, c, d] = best;
    rest.iter().copied().fold(larger(larger(a, b), larger(c, d)), larger)
}

/// Looks at all of them, several at once, where `contains` would stop at the first.
fn has(places: &[u32], place: u32) -> bool {
    places.iter().fold(false, |is, &other| is | (other == place))
}

/// The largest difference of neighbours, how many cells are below the first such, and the largest of the other differences;
/// minus infinity if there are none.
fn largest_gap(sorted: &[f64]) -> (f64, usize, f64) {
    let above = sorted.get(1..).unwrap_or(&[]);
    let blocks = above.chunks(BLOCK).zip(sorted.chunks(BLOCK));
    let (mut best, mut start, mut others) = (f64::NEG_INFINITY, 0, f64::NEG_INFINITY);
    let mut gaps = [f64::NEG_INFINITY; BLOCK];
    for (block, (above, below)) in blocks.enumerate() {
        for ((gap, above), below) in gaps.iter_mut().zip(above).zip(below) {
            *gap = above - below;
        }
        let of_block = largest(&gaps[..above.len()]);
        if of_block > best {
            (best, start, others) = (of_block, block * BLOCK, best);
        } else {
            others = larger(others, of_block);
        }
    }
    let mut n_lower = 0;
    for (rank, pair) in (start..).zip(sorted[start..].windows(2).take(BLOCK)) {
        match pair[1] - pair[0] {
            gap if gap == best && n_lower == 0 => n_lower = rank + 1,
            gap => others = larger(others, gap),
        }
    }
    (best, n_lower, others)
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
