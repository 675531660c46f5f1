//! Who watches long work: which stage it is in, how far it has come, whether it shall stop, and how much memory it may ask for.
//!
//! Promises:   work that is cancelled ends with [`Error::Cancelled`] and leaves nothing behind: packages are put in place by
//!             one rename at the end. Every long loop asks at least every 100 ms
//! Departs:    a loop that learns that it is cancelled unwinds to [`observed`], as salsa does, so that functions which cannot
//!             fail need not pretend that they can. No panic hook hears of it
//! Cost:       asking is a virtual call and a relaxed load; loops ask once per item of a microsecond or more
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/cancel.rs`

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::error::{Error, Result};
use crate::memory::Memory;

/// Watches work, from any thread.
pub trait Observer: Sync {
    /// A stage begins: "reading the data".
    fn stage(&self, _stage: &str) {}

    /// Something that whoever asked for the work should know, and that does not end it.
    fn warn(&self, _warning: &str) {}

    /// How much of the stage is done, from 0 to 1.
    fn progress(&self, _fraction: f64) {}

    /// Whether the work shall stop.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// How much memory the work may ask for by what files claim.
    fn memory(&self) -> Memory {
        Memory::default()
    }
}

/// Watches nothing and never stops anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {}

/// Passes on whether work shall stop and how much memory it may ask for, and keeps to itself how far it is: for one of many.
pub(crate) struct Quiet<'a>(pub(crate) &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    fn memory(&self) -> Memory {
        self.0.memory()
    }
}

/// What unwinds when work is cancelled.
struct Cancelled;

impl std::fmt::Debug for dyn Observer + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Observer")
    }
}

impl dyn Observer + '_ {
    /// Ends the work here if it shall stop. Only under [`observed`].
    #[inline]
    pub fn check(&self) {
        if self.is_cancelled() {
            resume_unwind(Box::new(Cancelled));
        }
    }

    /// The same in a loop that has done `done` of `all`; how far it is is told every so often.
    #[inline]
    pub fn step(&self, done: usize, all: usize) {
        self.check();
        if done & 0x3ff == 0 && all > 0 {
            self.progress(done as f64 / all as f64);
        }
    }
}

/// Does work that may be cancelled.
pub fn observed<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => done,
        Err(payload) if payload.is::<Cancelled>() => Err(Error::Cancelled),
        Err(defect) => resume_unwind(defect),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use rayon::prelude::*;

    use super::*;

    /// Stops after so many questions.
    struct Impatient(AtomicU32);

    impl Observer for Impatient {
        fn is_cancelled(&self) -> bool {
            self.0.fetch_sub(1, Ordering::Relaxed) < 2
        }
    }

    #[test]
    fn loops_end_in_an_error_on_any_number_of_threads() {
        let observer: &dyn Observer = &Impatient(AtomicU32::new(1000));
        let work = || -> Result<u64> {
            Ok((0..1_000_000_u64)
                .into_par_iter()
                .map(|n| {
                    observer.check();
                    n
                })
                .sum())
        };
        assert!(matches!(observed(work), Err(Error::Cancelled)));
        let observer: &dyn Observer = &Unobserved;
        assert_eq!(
            observed(|| {
                observer.step(0, 10);
                Ok(3)
            })
            .ok(),
            Some(3)
        );
    }

    #[test]
    fn defects_are_not_mistaken_for_it() {
        let work = || observed::<()>(|| resume_unwind(Box::new("a defect")));
        assert!(catch_unwind(AssertUnwindSafe(|| work().is_ok())).is_err());
    }
}
