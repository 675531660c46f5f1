//! A possible original of one cluster, and whether the algorithm would have cut it as published.
//!
//! It changes by exchanges: two records exchange what they have of one chunk. How many records hold each pair of terms, and
//! which refusals have a reason, is kept up to date, so an exchange costs no more than the terms that it moves.

use super::bits::Bits;
use super::cut::Cut;

/// Who holds what.
#[derive(Debug, Clone)]
pub(super) struct World<'c, const W: usize> {
    cut: &'c Cut,
    /// Which records hold each term.
    pub(super) holders: Vec<Bits<W>>,
    /// For each chunk and record, the kind of its subrecord, or [`NOTHING`].
    kinds: Vec<u32>,
    /// For each pair of terms of different chunks, in both orders, how many records hold both.
    together: Vec<u16>,
    /// For each term and each earlier chunk, with how many of the terms it was tried with it is in fewer than k records,
    /// but in one.
    reasons: Vec<u16>,
    /// Where the refusals of each term begin in `reasons`.
    first_refusal: Vec<u32>,
    /// The refusals without such a reason, and where each of them is in this list.
    without_reason: Vec<u32>,
    places: Vec<u32>,
    /// How many chunks each record has something of, and how many have nothing.
    filled: Vec<u16>,
    n_empty: u32,
    /// Which reasons are worth trying, if that is known.
    pub(super) guide: Option<Guide>,
    /// What was done since the last [`World::keep`].
    done: Vec<Exchange>,
    moved: Vec<(u32, bool)>,
    partners: Vec<(u32, bool)>,
}

/// For refusals by one chunk, the reasons that what is wanted leaves possible.
#[derive(Debug, Clone)]
pub(super) struct Guide {
    pub(super) chunk: u32,
    /// Terms that were refused, each with its reasons.
    pub(super) reasons: Vec<(u32, Vec<u32>)>,
}

/// Two records exchange their subrecords of a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    pub(super) chunk: u32,
    pub(super) a: u32,
    pub(super) b: u32,
}

/// What a world is to hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'t> {
    pub(super) terms: &'t [u32],
    /// In how many records at least.
    pub(super) times: u32,
}

/// What is wrong with a world.
#[derive(Debug, Clone, Copy)]
pub(super) enum Problem {
    /// Nothing speaks against this term in this earlier chunk.
    Welcome(u32, u32),
    /// The itemset that is wanted is not there so often.
    Wanted,
    /// Too many records are empty.
    Empty,
}

const NOTHING: u32 = u32::MAX;

impl<'c, const W: usize> World<'c, W> {
    /// One arrangement: subrecords lie one after the other, chunk after chunk, and begin anew where records end.
    pub(super) fn new(cut: &'c Cut) -> Self {
        let (n, size) = (cut.terms.len(), cut.size as usize);
        let mut first_refusal = Vec::with_capacity(n + 1);
        let mut n_refusals = 0;
        for chunk in &cut.chunk_of {
            first_refusal.push(n_refusals);
            n_refusals += chunk;
        }
        let mut world = World {
            cut,
            holders: vec![Bits::EMPTY; n],
            kinds: vec![NOTHING; cut.chunks.len() * size],
            together: vec![0; n * n],
            reasons: vec![0; n_refusals as usize],
            first_refusal,
            without_reason: Vec::new(),
            places: vec![NOTHING; n_refusals as usize],
            filled: vec![0; size],
            n_empty: 0,
            guide: None,
            done: Vec::new(),
            moved: Vec::new(),
            partners: Vec::new(),
        };
        let mut next = 0;
        for (c, chunk) in cut.chunks.iter().enumerate() {
            for (kind, (terms, count)) in (0..).zip(&chunk.rows) {
                for _ in 0..*count {
                    terms.iter().for_each(|&term| world.holders[term as usize].insert(next));
                    world.kinds[c * size + next as usize] = kind;
                    world.filled[next as usize] += 1;
                    next = (next + 1) % cut.size;
                }
            }
        }
        world.n_empty = world.filled.iter().filter(|&&filled| filled == 0).count() as u32;
        for a in 0..n {
            for b in (0..n).filter(|&b| cut.chunk_of[a] != cut.chunk_of[b]) {
                world.together[a * n + b] = world.holders[a].common(&world.holders[b]) as u16;
            }
        }
        for (x, l) in cut.refusals() {
            let few = |y: &&u32| (1..cut.k).contains(&u32::from(world.together[x as usize * n + **y as usize]));
            let reasons = cut.tried_with(x, l).iter().filter(few).count() as u16;
            let refusal = world.first_refusal[x as usize] + l;
            world.reasons[refusal as usize] = reasons;
            if reasons == 0 {
                world.places[refusal as usize] = world.without_reason.len() as u32;
                world.without_reason.push(refusal);
            }
        }
        world
    }

    /// What is there now is what [`World::revert`] comes back to.
    pub(super) fn keep(&mut self) {
        self.done.clear();
    }

    /// Takes back all that was done since.
    pub(super) fn revert(&mut self) {
        while let Some(exchange) = self.done.pop() {
            self.apply(exchange);
        }
    }

    pub(super) fn exchange(&mut self, exchange: Exchange) {
        self.apply(exchange);
        self.done.push(exchange);
    }

    /// Takes back the last exchange.
    pub(super) fn undo(&mut self) {
        if let Some(exchange) = self.done.pop() {
            self.apply(exchange);
        }
    }

    fn apply(&mut self, Exchange { chunk, a, b }: Exchange) {
        let (cut, n, size) = (self.cut, self.cut.terms.len(), self.cut.size as usize);
        let at = |chunk: usize, record: u32| chunk * size + record as usize;
        let here = chunk as usize;
        let (kind_a, kind_b) = (self.kinds[at(here, a)], self.kinds[at(here, b)]);
        if kind_a == kind_b {
            return;
        }
        // Terms that only one of the two has: in this chunk, and in the others.
        let mut moved = std::mem::take(&mut self.moved);
        let mut partners = std::mem::take(&mut self.partners);
        moved.clear();
        partners.clear();
        for (c, bag) in cut.chunks.iter().enumerate() {
            let (kind_a, kind_b) = (self.kinds[at(c, a)], self.kinds[at(c, b)]);
            if kind_a == kind_b {
                continue;
            }
            let list = if c == here { &mut moved } else { &mut partners };
            let terms = |kind: u32| bag.rows.get(kind as usize).map_or(&[][..], |(terms, _)| &terms[..]);
            list.extend(terms(kind_a).iter().filter(|t| !self.holders[**t as usize].has(b)).map(|&t| (t, true)));
            list.extend(terms(kind_b).iter().filter(|t| !self.holders[**t as usize].has(a)).map(|&t| (t, false)));
        }
        for &(t, of_a) in &moved {
            self.holders[t as usize].swap(a, b);
            for &(u, with_a) in &partners {
                // A term that leaves record a no longer meets those of a, and meets those of b.
                let more = of_a != with_a;
                let before = u32::from(self.together[t as usize * n + u as usize]);
                let after = if more { before + 1 } else { before - 1 };
                self.together[t as usize * n + u as usize] = after as u16;
                self.together[u as usize * n + t as usize] = after as u16;
                let (was, is) = ((1..cut.k).contains(&before), (1..cut.k).contains(&after));
                if was != is {
                    self.recount(t, u, is);
                }
            }
        }
        self.kinds.swap(at(here, a), at(here, b));
        if kind_a == NOTHING || kind_b == NOTHING {
            let (from, to) = if kind_b == NOTHING { (a, b) } else { (b, a) };
            self.filled[from as usize] -= 1;
            self.n_empty += u32::from(self.filled[from as usize] == 0);
            self.n_empty -= u32::from(self.filled[to as usize] == 0);
            self.filled[to as usize] += 1;
        }
        (self.moved, self.partners) = (moved, partners);
    }

    /// A pair has become a reason for a refusal, or no longer is one.
    fn recount(&mut self, t: u32, u: u32, is_reason: bool) {
        let (of_t, of_u) = (self.cut.chunk_of[t as usize], self.cut.chunk_of[u as usize]);
        let (x, y, l) = if of_t > of_u { (t, u, of_u) } else { (u, t, of_t) };
        if y > x {
            return; // Tried after it.
        }
        let refusal = self.first_refusal[x as usize] + l;
        let reasons = &mut self.reasons[refusal as usize];
        *reasons = if is_reason { *reasons + 1 } else { *reasons - 1 };
        match (*reasons, is_reason) {
            (0, _) => {
                self.places[refusal as usize] = self.without_reason.len() as u32;
                self.without_reason.push(refusal);
            }
            (1, true) => {
                let place = self.places[refusal as usize] as usize;
                self.without_reason.swap_remove(place);
                if let Some(&moved) = self.without_reason.get(place) {
                    self.places[moved as usize] = place as u32;
                }
            }
            _ => {}
        }
    }

    /// The records that hold any term of a chunk.
    pub(super) fn held(&self, chunk: u32) -> Bits<W> {
        let terms = self.cut.chunks[chunk as usize].terms.iter();
        terms.fold(Bits::EMPTY, |held, &term| held.or(&self.holders[term as usize]))
    }

    /// How many records hold all of these terms.
    #[inline]
    pub(super) fn support(&self, terms: &[u32]) -> u32 {
        match *terms {
            [a, b] => self.holders[a as usize].common(&self.holders[b as usize]),
            _ => self.holding(terms).len(),
        }
    }

    /// The records that hold all of these terms.
    pub(super) fn holding(&self, terms: &[u32]) -> Bits<W> {
        let mut terms = terms.iter().map(|&term| self.holders[term as usize]);
        let first = terms.next().unwrap_or(Bits::EMPTY);
        terms.fold(first, |held, other| held.and(&other))
    }

    /// The records without any term.
    pub(super) fn empty(&self) -> Bits<W> {
        let held = self.holders.iter().fold(Bits::EMPTY, |held, other| held.or(other));
        Bits::first(self.cut.size).without(&held)
    }

    /// How much is wrong: what is wanted counts as often as it is missing, and a refusal without a reason once, or with a
    /// guide as many times as records are in the way of the nearest one.
    pub(super) fn wrong(&self, wanted: &Wanted<'_>) -> u32 {
        let missing = wanted.times.saturating_sub(self.support(wanted.terms));
        let far = |&refusal: &u32| {
            let (x, l) = self.refusal(refusal);
            self.nearest(x, l).map_or(1, |(far, _)| far)
        };
        let welcome = match (self.cut.m, &self.guide) {
            (2, None) => self.without_reason.len() as u32,
            (2, Some(_)) => self.without_reason.iter().map(far).sum(),
            _ => self.without_reason.iter().filter(|&&refusal| self.is_welcome(refusal)).count() as u32,
        };
        missing + self.n_empty.saturating_sub(self.cut.fill) + welcome
    }

    /// The term that is nearest to being a reason for a refusal, and how many records are in the way.
    pub(super) fn nearest(&self, x: u32, l: u32) -> Option<(u32, u32)> {
        let together = &self.together[x as usize * self.cut.terms.len()..];
        let far = |&y: &u32| match u32::from(together[y as usize]) {
            0 => (1, y),
            n => ((n + 1).saturating_sub(self.cut.k), y),
        };
        self.reasons_for(x, l).iter().map(far).min()
    }

    /// The terms that are worth making a reason for a refusal.
    pub(super) fn reasons_for(&self, x: u32, l: u32) -> &[u32] {
        let guide = self.guide.as_ref().filter(|guide| guide.chunk == l);
        let guided = guide.and_then(|guide| guide.reasons.iter().find(|(refused, _)| *refused == x));
        guided.map_or_else(|| self.cut.tried_with(x, l), |(_, reasons)| &reasons[..])
    }

    fn refusal(&self, number: u32) -> (u32, u32) {
        let x = self.first_refusal.partition_point(|&first| first <= number) as u32 - 1;
        (x, number - self.first_refusal[x as usize])
    }

    /// Lists what is wrong.
    pub(super) fn problems(&self, wanted: &Wanted<'_>, problems: &mut Vec<Problem>) {
        problems.clear();
        if self.support(wanted.terms) < wanted.times {
            problems.push(Problem::Wanted);
        }
        if self.n_empty > self.cut.fill {
            problems.push(Problem::Empty);
        }
        let welcome = self.without_reason.iter().filter(|&&refusal| self.cut.m == 2 || self.is_welcome(refusal));
        problems.extend(welcome.map(|&refusal| {
            let (x, l) = self.refusal(refusal);
            Problem::Welcome(x, l)
        }));
    }

    /// Whether a refusal that no pair is a reason for has no larger set as a reason either.
    fn is_welcome(&self, refusal: u32) -> bool {
        let (x, l) = self.refusal(refusal);
        !self.is_few(self.cut.tried_with(x, l), &self.holders[x as usize], self.cut.m - 1)
    }

    /// Whether some set of at most `left` of these terms is, in `within`, in fewer than k records but in one.
    fn is_few(&self, terms: &[u32], within: &Bits<W>, left: u32) -> bool {
        terms.iter().enumerate().any(|(i, &y)| {
            let both = within.and(&self.holders[y as usize]);
            match both.len() {
                0 => false,
                n if n < self.cut.k => true,
                _ => left > 1 && self.is_few(&terms[i + 1..], &both, left - 1),
            }
        })
    }
}
