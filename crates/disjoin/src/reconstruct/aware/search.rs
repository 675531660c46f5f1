//! Looks for a possible original of a cluster that the algorithm cuts as published and that holds an itemset so often.
//!
//! Walks from world to world: of what is wrong one thing is picked at random, and two records exchange their subrecords of
//! one chunk so that it gets better; of a few such exchanges the first after which less is wrong is made, or the best. A world that is
//! found is a proof, and can be checked by whoever doubts it; not to find one proves nothing.
//!
//! Paper:      selman1994: Selman, Kautz, Cohen: Noise Strategies for Improving Local Search, AAAI 1994, for the walk
//! Promises:   what is returned has nothing wrong with it
//! Cost:       a step is a few exchanges
//! Checked by: tests/it/aware.rs

use rand::RngExt;
use rand::seq::IndexedRandom;

use super::bits::Bits;
use super::cut::Cut;
use super::world::{Exchange, Problem, Wanted, World};
use crate::observer::Observer;

/// How hard is tried.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    pub(super) walks: u32,
    pub(super) steps: u32,
}

/// How many exchanges are compared in a step.
const CANDIDATES: usize = 3;

/// Walks from where `world` is; ends in what was found, or where it began.
pub(super) fn search<const W: usize>(
    cut: &Cut,
    wanted: Wanted<'_>,
    world: &mut World<'_, W>,
    effort: Effort,
    rng: &mut impl RngExt,
    observer: &dyn Observer,
) -> bool {
    let mut problems = Vec::new();
    for _ in 0..effort.walks {
        world.keep();
        for step_of_walk in 0..effort.steps {
            if step_of_walk & 0xff == 0 {
                observer.check();
            }
            world.problems(&wanted, &mut problems);
            let Some(&problem) = problems.choose(rng) else { return true };
            step(cut, wanted, world, problem, rng);
        }
        world.revert();
    }
    false
}

/// Makes one of a few exchanges: the first that makes it better, or the one after which least is wrong.
fn step<const W: usize>(
    cut: &Cut,
    wanted: Wanted<'_>,
    world: &mut World<'_, W>,
    problem: Problem,
    rng: &mut impl RngExt,
) {
    let now = world.wrong(&wanted);
    let mut best: Option<(u32, Exchange)> = None;
    for _ in 0..CANDIDATES {
        let Some(exchange) = propose(cut, wanted, world, problem, rng) else { continue };
        world.exchange(exchange);
        let left = world.wrong(&wanted);
        if left < now {
            return;
        }
        world.undo();
        if best.is_none_or(|(least, _)| left < least) {
            best = Some((left, exchange));
        }
    }
    if let Some((_, exchange)) = best {
        world.exchange(exchange);
    }
}

fn propose<const W: usize>(
    cut: &Cut,
    wanted: Wanted<'_>,
    world: &World<'_, W>,
    problem: Problem,
    rng: &mut impl RngExt,
) -> Option<Exchange> {
    match problem {
        Problem::Wanted => bring_together(&parts(cut, wanted.terms, world, rng), wanted.times, rng),
        Problem::Welcome(x, l) => {
            let others = world.reasons_for(x, l);
            // With a guide mostly for the nearest, and sometimes for any other, lest the walk goes in circles.
            let is_guided = world.guide.is_some() && rng.random_bool(0.75);
            let y = if is_guided { world.nearest(x, l)?.1 } else { *others.choose(rng)? };
            let mut with = world.holders[y as usize];
            let mut n = 2;
            // With larger sets, only where pairs do not do.
            while n < cut.m && rng.random_bool(0.5) {
                with = with.and(&world.holders[*others.choose(rng)? as usize]);
                n += 1;
            }
            let (of_x, of_l) = ((cut.chunk_of[x as usize], world.holders[x as usize]), (l, with));
            if of_x.1.common(&with) == 0 {
                return bring_together(&[of_l, of_x], 1, rng);
            }
            // Too often: one of them goes where neither is.
            let (together, neither) = (of_x.1.and(&with), Bits::first(cut.size).without(&of_x.1.or(&with)));
            let chunk = if rng.random_bool(0.5) { of_x.0 } else { l };
            Some(Exchange { chunk, a: pick(&together, rng)?, b: pick(&neither, rng)? })
        }
        Problem::Empty => {
            let a = pick(&world.empty(), rng)?;
            let chunk = rng.random_range(0..cut.chunks.len() as u32);
            let others = (0..cut.chunks.len() as u32).filter(|&other| other != chunk);
            let elsewhere = others.fold(Bits::EMPTY, |held, other| held.or(&world.held(other)));
            Some(Exchange { chunk, a, b: pick(&world.held(chunk).and(&elsewhere), rng)? })
        }
    }
}

/// The parts of an itemset, chunk by chunk in random order, with their holders.
fn parts<const W: usize>(
    cut: &Cut,
    wanted: &[u32],
    world: &World<'_, W>,
    rng: &mut impl RngExt,
) -> Vec<(u32, Bits<W>)> {
    let mut parts: Vec<(u32, Bits<W>)> = Vec::new();
    for &term in wanted {
        let (chunk, holders) = (cut.chunk_of[term as usize], world.holders[term as usize]);
        match parts.iter_mut().find(|(other, _)| *other == chunk) {
            Some((_, together)) => *together = together.and(&holders),
            None => parts.push((chunk, holders)),
        }
    }
    let n = parts.len();
    (1..n).rev().for_each(|i| parts.swap(i, rng.random_range(0..=i)));
    parts
}

/// One more record that holds the first parts that fewer than `times` hold together.
fn bring_together<const W: usize>(parts: &[(u32, Bits<W>)], times: u32, rng: &mut impl RngExt) -> Option<Exchange> {
    let ((_, first), rest) = parts.split_first()?;
    let mut others = *first;
    for &(chunk, part) in rest {
        let together = others.and(&part);
        if together.len() < times {
            return Some(Exchange {
                chunk,
                a: pick(&others.without(&part), rng)?,
                b: pick(&part.without(&others), rng)?,
            });
        }
        others = together;
    }
    None
}

/// A random record of a set.
fn pick<const W: usize>(records: &Bits<W>, rng: &mut impl RngExt) -> Option<u32> {
    let n = records.len();
    if n == 0 { None } else { records.nth(rng.random_range(0..n)) }
}
