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
//! Checked by: tests/it/aware.rs, against all worlds of small clusters

use super::cut::Cut;
use super::world::Wanted;
use crate::observer::Observer;

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Open,
}

/// Whether some world holds what is wanted; gives up after so many `steps`.
pub(super) fn can_hold(cut: &Cut, wanted: Wanted<'_>, steps: u64, observer: &dyn Observer) -> Answer {
    let Wanted { terms: wanted, times } = wanted;
    let is_wanted = |chunk: u32| wanted.iter().any(|&term| cut.chunk_of[term as usize] == chunk);
    let mut order: Vec<u32> = (0..cut.chunks.len() as u32).collect();
    order.sort_by_key(|&chunk| !is_wanted(chunk));
    let mut solver =
        Solver { cut, wanted, times, order, steps, n_words: cut.terms.len().div_ceil(64).max(1), observer };
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
    observer: &'c dyn Observer,
}

/// A chunk that is being placed.
struct Stage<'s> {
    /// How many chunks were placed before.
    depth: usize,
    classes: &'s [Class],
    rows: &'s [(Vec<u32>, u32)],
    /// Which kinds of subrecords hold all of the itemset that this chunk has, if it has a part of it, and which classes
    /// all that was placed before.
    wanted: Option<Meeting>,
    /// The refusals that this chunk decides, for each the pairs that may be a reason.
    refusals: Vec<Vec<Meeting>>,
    /// How many of each kind are in each class.
    table: Vec<u32>,
    /// How many records of each class have nothing yet of this chunk, and which have any.
    room: Vec<u32>,
    has_room: Set,
}

/// What is here and what was placed before, and how often they have met so far.
struct Meeting {
    rows: Set,
    classes: Set,
    count: u32,
}

/// Kinds of subrecords, or classes.
#[derive(Clone, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn new(members: impl Iterator<Item = bool>) -> Self {
        let mut words = Vec::new();
        for (i, is_member) in members.enumerate() {
            if i % 64 == 0 {
                words.push(0);
            }
            words[i / 64] |= u64::from(is_member) << (i % 64);
        }
        Set(words)
    }

    fn has(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn put(&mut self, i: usize, is_member: bool) {
        self.0[i / 64] = self.0[i / 64] & !(1 << (i % 64)) | u64::from(is_member) << (i % 64);
    }

    /// Whether some member is at `from` or later.
    fn reaches(&self, from: usize) -> bool {
        self.0.iter().enumerate().skip(from / 64).any(|(i, &word)| {
            let mask = if i == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
            word & mask != 0
        })
    }

    /// Whether both have a member at `from` or later.
    fn meets(&self, other: &Set, from: usize) -> bool {
        self.0.iter().zip(&other.0).enumerate().skip(from / 64).any(|(i, (a, b))| {
            let mask = if i == from / 64 { u64::MAX << (from % 64) } else { u64::MAX };
            a & b & mask != 0
        })
    }
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
        let meeting = |here: &[u32], before: &[u32]| Meeting {
            rows: Set::new(bag.rows.iter().map(|(terms, _)| here.iter().all(|t| terms.contains(t)))),
            classes: Set::new(classes.iter().map(|class| before.iter().all(|&t| class.has(t)))),
            count: 0,
        };
        let mut refusals = Vec::new();
        for (x, l) in cut.refusals() {
            let of_x = cut.chunk_of[x as usize];
            let x_here = of_x == chunk && placed.contains(&l);
            let y_here = l == chunk && placed.contains(&of_x);
            // Larger sets are looked at when the chunk is placed.
            if (x_here || y_here) && cut.m == 2 {
                let pair = |&y: &u32| if x_here { meeting(&[x], &[y]) } else { meeting(&[y], &[x]) };
                refusals.push(cut.tried_with(x, l).iter().map(pair).collect());
            }
        }
        let room: Vec<u32> = classes.iter().map(|class| class.count).collect();
        let mut stage = Stage {
            depth,
            classes,
            rows: &bag.rows,
            wanted: (!here.is_empty()).then(|| meeting(&here, &before)),
            refusals,
            table: vec![0; bag.rows.len() * classes.len()],
            has_room: Set::new(room.iter().map(|&room| room > 0)),
            room,
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
        if self.steps & 0xff == 0 {
            self.observer.check();
        }
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
            stage.count(row, class, here, true);
            if !self.is_hopeless(stage, row, class + 1, left - here) {
                answer = or(answer, self.divide(stage, row, class + 1, left - here));
            }
            stage.count(row, class, here, false);
            stage.table[cell] = 0;
            if answer == Answer::Yes || (answer == Answer::Open && self.steps == 0) {
                break;
            }
        }
        answer
    }

    /// Whether what is divided already excludes an answer; next comes `left` of `row` from `class` on.
    fn is_hopeless(&self, stage: &Stage, row: usize, class: usize, left: u32) -> bool {
        if let Some(wanted) = stage.wanted.as_ref().filter(|wanted| wanted.count < self.times) {
            let missing = self.times - wanted.count;
            let later = (row + 1..stage.rows.len()).filter(|&r| wanted.rows.has(r)).map(|r| stage.rows[r].1);
            let now = if wanted.rows.has(row) { left } else { 0 };
            let room = (0..stage.classes.len()).filter(|&c| wanted.classes.has(c)).map(|c| stage.room[c]);
            if now + later.sum::<u32>() < missing || room.sum::<u32>() < missing {
                return true;
            }
        }
        // Whether a meeting is still to come.
        let can_come = |pair: &Meeting| {
            (pair.rows.reaches(row + 1) && pair.classes.meets(&stage.has_room, 0))
                || (left > 0 && pair.rows.has(row) && pair.classes.meets(&stage.has_room, class))
        };
        let is_no_reason = |pair: &Meeting| pair.count >= self.cut.k || (pair.count == 0 && !can_come(pair));
        stage.refusals.iter().any(|pairs| pairs.iter().all(is_no_reason))
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
    /// Puts `n` subrecords of a kind into a class, or takes them out again.
    fn count(&mut self, row: usize, class: usize, n: u32, put: bool) {
        if n == 0 {
            return;
        }
        self.room[class] = if put { self.room[class] - n } else { self.room[class] + n };
        self.has_room.put(class, self.room[class] > 0);
        for meeting in self.refusals.iter_mut().flatten().chain(&mut self.wanted) {
            if meeting.rows.has(row) && meeting.classes.has(class) {
                meeting.count = if put { meeting.count + n } else { meeting.count - n };
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
