//! Decides whether some possible original that the algorithm cuts as published holds an itemset so often.
//!
//! Only kinds of subrecords matter, not their places: records that hold the same so far are one class with a number. Chunk
//! after chunk, those of the itemset first, the equal subrecords of a chunk are divided among the classes in all ways,
//! except where it is clear already that the itemset is not reached, or that a refusal is no longer possible: shared
//! records only become more, so once a term is with all that it was tried with in k records, or can no longer be with
//! any, the algorithm would have let it in.
//!
//! Paper:      ours; worlds as in ALGORITHMS.md B.4
//! Promises:   `Yes` and `No` are proved; `Open` says that the number of steps was not enough
//! Cost:       exponential at worst; a given number of steps
//! Checked by: tests/aware.rs, against all worlds of small clusters

use super::cut::Cut;
use super::world::Wanted;

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Open,
}

/// Whether some world holds what is wanted; gives up after so many `steps`.
pub(super) fn can_hold(cut: &Cut, wanted: Wanted<'_>, steps: u64) -> Answer {
    let Wanted { terms: wanted, times } = wanted;
    let is_wanted = |chunk: u32| wanted.iter().any(|&term| cut.chunk_of[term as usize] == chunk);
    let mut order: Vec<u32> = (0..cut.chunks.len() as u32).collect();
    order.sort_by_key(|&chunk| !is_wanted(chunk));
    let mut solver = Solver { cut, wanted, times, order, steps, n_words: cut.terms.len().div_ceil(64).max(1) };
    let nothing = Class { terms: vec![0; solver.n_words], count: cut.size };
    solver.place(0, &[nothing])
}

/// Records that hold the same.
#[derive(Clone)]
struct Class {
    /// A bit for each term.
    terms: Vec<u64>,
    count: u32,
}

impl Class {
    fn has(&self, term: u32) -> bool {
        self.terms[term as usize / 64] >> (term % 64) & 1 == 1
    }
}

struct Solver<'c> {
    cut: &'c Cut,
    wanted: &'c [u32],
    times: u32,
    /// The chunks in the order in which they are placed.
    order: Vec<u32>,
    steps: u64,
    n_words: usize,
}

/// A chunk that is being placed.
struct Stage<'s> {
    /// How many chunks were placed before.
    depth: usize,
    classes: &'s [Class],
    rows: &'s [(Vec<u32>, u32)],
    /// For each kind of subrecord, whether it holds all of the itemset that this chunk has; for each class, the rest of
    /// what has been placed or is being placed.
    row_is_wanted: Vec<bool>,
    class_is_wanted: Vec<bool>,
    /// The pairs of a refused term and a term it was tried with that this chunk decides, refusal by refusal.
    refusals: Vec<Refusal>,
    /// How many of each kind are in each class; the last kind is nothing.
    table: Vec<u32>,
    /// How many records of each class have nothing yet of this chunk.
    room: Vec<u32>,
}

/// A term that was refused, between this chunk and one that was placed before.
struct Refusal {
    pairs: Vec<Pair>,
}

/// The refused term and one that it was tried with: one of them is here, the other was placed before.
struct Pair {
    /// Which kinds of subrecords have the one, which classes the other.
    in_row: Vec<bool>,
    in_class: Vec<bool>,
    /// How many records have both so far.
    count: u32,
}

impl Solver<'_> {
    /// Places the chunks from the `depth`-th on, given classes of what lies before.
    fn place(&mut self, depth: usize, classes: &[Class]) -> Answer {
        let Some(&chunk) = self.order.get(depth) else { return self.is_complete(classes) };
        let cut = self.cut;
        let placed = &self.order[..depth];
        let bag = &cut.chunks[chunk as usize];
        let here: Vec<u32> = self.wanted.iter().copied().filter(|&t| cut.chunk_of[t as usize] == chunk).collect();
        let before: Vec<u32> =
            self.wanted.iter().copied().filter(|&t| placed.contains(&cut.chunk_of[t as usize])).collect();
        let mut refusals = Vec::new();
        for (x, l) in cut.refusals() {
            let of_x = cut.chunk_of[x as usize];
            let x_here = of_x == chunk && placed.contains(&l);
            if !x_here && !(l == chunk && placed.contains(&of_x)) {
                continue;
            }
            let pair = |&y: &u32| {
                let (in_row, in_class) = if x_here { (x, y) } else { (y, x) };
                Pair {
                    in_row: bag.rows.iter().map(|(terms, _)| terms.contains(&in_row)).collect(),
                    in_class: classes.iter().map(|class| class.has(in_class)).collect(),
                    count: 0,
                }
            };
            // Larger sets are looked at when the chunk is placed.
            if cut.m == 2 {
                refusals.push(Refusal { pairs: cut.tried_with(x, l).iter().map(pair).collect() });
            }
        }
        let mut stage = Stage {
            depth,
            classes,
            rows: &bag.rows,
            row_is_wanted: bag.rows.iter().map(|(terms, _)| here.iter().all(|t| terms.contains(t))).collect(),
            class_is_wanted: classes.iter().map(|class| before.iter().all(|&t| class.has(t))).collect(),
            refusals,
            table: vec![0; bag.rows.len() * classes.len()],
            room: classes.iter().map(|class| class.count).collect(),
        };
        let left = bag.rows.first().map_or(0, |(_, count)| *count);
        self.divide(&mut stage, 0, 0, left)
    }

    /// Divides what is `left` of the `row`-th kind among the classes from the `class`-th on.
    fn divide(&mut self, stage: &mut Stage, row: usize, class: usize, left: u32) -> Answer {
        if self.steps == 0 {
            return Answer::Open;
        }
        self.steps -= 1;
        if row == stage.rows.len() {
            return self.place_next(stage);
        }
        if left == 0 {
            let next = stage.rows.get(row + 1).map_or(0, |(_, count)| *count);
            return if self.is_hopeless(stage, row + 1, 0, next) {
                Answer::No
            } else {
                self.divide(stage, row + 1, 0, next)
            };
        }
        let room: u32 = stage.room[class..].iter().sum();
        if room < left {
            return Answer::No;
        }
        let (most, least) = (left.min(stage.room[class]), (left + stage.room[class]).saturating_sub(room));
        let cell = row * stage.classes.len() + class;
        let mut answer = Answer::No;
        for here in (least..=most).rev() {
            stage.table[cell] = here;
            stage.room[class] -= here;
            stage.count(row, class, here, true);
            if !self.is_hopeless(stage, row, class + 1, left - here) {
                answer = or(answer, self.divide(stage, row, class + 1, left - here));
            }
            stage.count(row, class, here, false);
            stage.room[class] += here;
            stage.table[cell] = 0;
            if answer == Answer::Yes || (answer == Answer::Open && self.steps == 0) {
                break;
            }
        }
        answer
    }

    /// Whether what is divided already excludes an answer; next comes `left` of `row` from `class` on.
    fn is_hopeless(&self, stage: &Stage, row: usize, class: usize, left: u32) -> bool {
        let n = stage.classes.len();
        // What can still come to classes that `take` accepts, of kinds that `of` accepts.
        let can_come = |of: &dyn Fn(usize) -> bool, take: &dyn Fn(usize) -> bool| {
            let room = |from: usize| -> u32 { (from..n).filter(|&c| take(c)).map(|c| stage.room[c]).sum() };
            let later: u32 = (row + 1..stage.rows.len()).filter(|&r| of(r)).map(|r| stage.rows[r].1.min(room(0))).sum();
            let now = if row < stage.rows.len() && of(row) { left.min(room(class)) } else { 0 };
            (later + now).min(room(0))
        };
        // Only a chunk that has a part of the itemset can keep it away.
        if self.wanted.iter().any(|&t| self.cut.chunk_of[t as usize] == self.order[stage.depth]) {
            let cells = (0..stage.rows.len()).filter(|&r| stage.row_is_wanted[r]);
            let reached: u32 = cells
                .flat_map(|r| (0..n).filter(|&c| stage.class_is_wanted[c]).map(move |c| stage.table[r * n + c]))
                .sum();
            let more = || can_come(&|r| stage.row_is_wanted[r], &|c| stage.class_is_wanted[c]);
            if reached < self.times && reached + more() < self.times {
                return true;
            }
        }
        stage.refusals.iter().any(|refusal| {
            refusal.pairs.iter().all(|pair| {
                pair.count >= self.cut.k
                    || (pair.count == 0 && can_come(&|r| pair.in_row[r], &|c| pair.in_class[c]) == 0)
            })
        })
    }

    /// Goes on with the next chunk, if this one can lie so.
    fn place_next(&mut self, stage: &Stage) -> Answer {
        let n = stage.classes.len();
        let mut classes: Vec<Class> = Vec::new();
        for (c, class) in stage.classes.iter().enumerate() {
            for (r, (terms, _)) in stage.rows.iter().enumerate() {
                let count = stage.table[r * n + c];
                if count > 0 {
                    let mut with = class.terms.clone();
                    terms.iter().for_each(|&term| with[term as usize / 64] |= 1 << (term % 64));
                    classes.push(Class { terms: with, count });
                }
            }
            if stage.room[c] > 0 {
                classes.push(Class { terms: class.terms.clone(), count: stage.room[c] });
            }
        }
        classes.sort_unstable_by(|a, b| a.terms.cmp(&b.terms));
        let placed = &self.order[..=stage.depth];
        let newest = self.order[stage.depth];
        let decided = |x: u32, l: u32| {
            let of_x = self.cut.chunk_of[x as usize];
            (of_x == newest && placed.contains(&l)) || (l == newest && placed.contains(&of_x))
        };
        if self.cut.refusals().any(|(x, l)| decided(x, l) && !self.is_refused(&classes, x, l)) {
            return Answer::No;
        }
        self.place(stage.depth + 1, &classes)
    }

    fn is_refused(&self, classes: &[Class], x: u32, l: u32) -> bool {
        let with_x: Vec<&Class> = classes.iter().filter(|class| class.has(x)).collect();
        self.is_few(&with_x, self.cut.tried_with(x, l), self.cut.m.saturating_sub(1))
    }

    fn is_few(&self, classes: &[&Class], terms: &[u32], left: u32) -> bool {
        left > 0
            && terms.iter().enumerate().any(|(i, &y)| {
                let both: Vec<&Class> = classes.iter().copied().filter(|class| class.has(y)).collect();
                match both.iter().map(|class| class.count).sum::<u32>() {
                    0 => false,
                    n if n < self.cut.k => true,
                    _ => self.is_few(&both, &terms[i + 1..], left - 1),
                }
            })
    }

    fn is_complete(&self, classes: &[Class]) -> Answer {
        let empty: u32 = classes.iter().filter(|c| c.terms.iter().all(|&word| word == 0)).map(|c| c.count).sum();
        let is_wanted = |class: &&Class| self.wanted.iter().all(|&term| class.has(term));
        let held: u32 = classes.iter().filter(is_wanted).map(|class| class.count).sum();
        let reached = self.wanted.is_empty() || held >= self.times;
        if empty <= self.cut.fill && reached { Answer::Yes } else { Answer::No }
    }
}

impl Stage<'_> {
    /// Counts, or takes back, `n` subrecords of a kind in a class.
    fn count(&mut self, row: usize, class: usize, n: u32, more: bool) {
        for pair in self.refusals.iter_mut().flat_map(|refusal| &mut refusal.pairs) {
            if pair.in_row[row] && pair.in_class[class] {
                pair.count = if more { pair.count + n } else { pair.count - n };
            }
        }
    }
}

fn or(a: Answer, b: Answer) -> Answer {
    match (a, b) {
        (Answer::Yes, _) | (_, Answer::Yes) => Answer::Yes,
        (Answer::Open, _) | (_, Answer::Open) => Answer::Open,
        _ => Answer::No,
    }
}
