//! Rows along a Hilbert curve, gathered until the criteria hold: the baseline of studies on background knowledge.
//!
//! Paper:      Riboni, Pareschi, Bettini 2012, with the curve through all quasi-identifiers
//! Promises:   beliefs about any two rows of a class are as near as asked for
//! Departs:    a class that is still open when no row is left joins the one before; where beliefs must agree it goes to
//!             `settle`, which merges it if that is possible. In the paper its rows are removed
//! Cost:       O(n log n) and one look at each row that is left for every class; one comparison of beliefs for each class, each
//!             belief that is offered to it and each in it
//! Checked by: tests in this file and `tests/it/tabular.rs`

use super::mdav::gather;
use super::{Problem, curve};
use crate::data::Partition;
use crate::error::Result;
use crate::knowledge::background::{Beliefs, jensen_shannon};

/// The finest grid; more says nothing about who is near to whom.
const MOST_BITS: u32 = 16;

/// The next row along the curve joins the open class if beliefs about it agree with all in it; the class is closed as soon as it
/// satisfies the criteria. Rows that were passed over are the first to be offered to the next.
pub(super) fn partition(problem: &Problem<'_>) -> Result<Partition> {
    let bits = (128 / problem.quasi.len().max(1) as u32).min(MOST_BITS);
    let numbers = curve::numbers(&problem.quasi, bits);
    let mut order = problem.rows();
    order.sort_by_key(|&row| numbers[row as usize]);

    let mut partition = Partition::default();
    let Some((beliefs, t)) = problem.beliefs else {
        gather(problem, order.into_iter().map(|row| vec![row])).iter().for_each(|class| partition.push(class));
        return Ok(partition);
    };
    let judge = &problem.judge;
    let mut company = Company::new(beliefs, t);
    // Rows that were passed over come first, then those that were not reached: both in order.
    let (mut waiting, mut rest) = (Vec::new(), order.as_slice());
    while !waiting.is_empty() || !rest.is_empty() {
        problem.observer.check();
        company.clear();
        let (mut class, mut counts, mut passed) = (Vec::new(), judge.empty(), Vec::new());
        let mut offer = |row: u32| {
            if !company.admits(row) {
                passed.push(row);
                return false;
            }
            class.push(row);
            judge.add(&mut counts, row);
            judge.holds(&counts)
        };
        let closed_by = waiting.iter().position(|&row| offer(row));
        let mut is_closed = closed_by.is_some();
        while let ([row, after @ ..], false) = (rest, is_closed) {
            rest = after;
            is_closed = offer(*row);
        }
        // Whoever was not offered a place stays behind those who were.
        passed.extend_from_slice(&waiting[closed_by.map_or(waiting.len(), |place| place + 1)..]);
        waiting = passed;
        partition.push(&class);
    }
    Ok(partition)
}

/// Who is in the open class, by belief.
struct Company<'a> {
    beliefs: &'a Beliefs,
    t: f64,
    members: Vec<u32>,
    /// For each belief when it was last answered, and how.
    answers: Vec<(u32, bool)>,
    class: u32,
}

impl<'a> Company<'a> {
    fn new(beliefs: &'a Beliefs, t: f64) -> Self {
        let n = beliefs.n_points();
        Company { beliefs, t, members: Vec::new(), answers: vec![(0, false); n], class: 0 }
    }

    /// Opens the next class.
    fn clear(&mut self) {
        self.members.clear();
        self.class += 1;
    }

    /// Whether a row agrees with all members; it then becomes one.
    fn admits(&mut self, row: u32) -> bool {
        let point = self.beliefs.point_of(row);
        let answer = &mut self.answers[point as usize];
        // A belief that was in stays in, and one that was out stays out: members only become more.
        if answer.0 != self.class {
            let near = |&member: &u32| jensen_shannon(self.beliefs.point(member), self.beliefs.point(point)) <= self.t;
            *answer = (self.class, self.members.iter().all(near));
            if answer.1 {
                self.members.push(point);
            }
        }
        answer.1
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Params};
    use super::*;
    use crate::data::table::{Column, Role, Table};
    use crate::release::privacy_models::Criterion;

    #[test]
    fn rows_that_do_not_agree_are_offered_to_the_next_class() {
        let numbers = Column::numbers("n", Role::Quasi, (0..8).map(|i| Some(f64::from(i))));
        let secret = Column::words("s", Role::Sensitive, (0..8).map(|i| Some(if i % 2 == 0 { "a" } else { "b" })));
        let table = Table::new(8, vec![numbers, secret], None);
        // Rows 1, 2 and 5 are believed to be otherwise.
        let beliefs = Beliefs::new(2, vec![1.0, 0.0, 0.0, 1.0], vec![0, 1, 1, 0, 0, 1, 0, 0]);
        let of = |criteria: Vec<Criterion>, beliefs| {
            let params = Params { method: Method::Hilbert, criteria, most_removed: 1.0, seed: 0 };
            let problem = Problem::new(&table, &params, beliefs).unwrap();
            partition(&problem).unwrap().classes().map(<[u32]>::to_vec).collect::<Vec<_>>()
        };
        let k = Criterion::KAnonymity { k: 2 };
        assert_eq!(of(vec![k], None), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        let classes = of(vec![k, Criterion::Background { t: 0.1 }], Some(&beliefs));
        assert_eq!(classes, [vec![0, 3], vec![1, 2], vec![4, 6], vec![5], vec![7]]);
    }
}
