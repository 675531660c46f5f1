//! `verify`: does a release keep its promise?

use std::path::Path;

use super::open::Originally;
use super::{Answer, forms, opened};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::read::Sources;
use crate::recipe::Limits;
use crate::recipe::written;
use crate::release::Form;
use crate::report::proof_page;

/// Proves or refutes what a release promises, from the release alone; with the original also that it is true to it.
pub fn verify(
    path: &Path,
    custody: Option<&Path>,
    original: &Originally<'_>,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        if original.location.is_some() && super::open(path, custody)?.form() == Form::Noisy {
            let problem = "shows nothing more of a noisy release: any count may come of any data";
            return Err(Error::recipe("original", problem, "leave it out; disjoin measure compares both"));
        }
        let (opened, original) = opened(path, custody, original, sources, observer)?;
        let proof = forms::verify(&opened, original.as_ref(), observer)?;
        // Whether a promise is kept is decided where everything else is.
        let limits = Limits::resolve(&written::Limits::default(), 1)?;
        let judged = limits.judge(Some(proof.holds()), &super::limits::Found::default());
        Answer::new(proof_page(&proof, &opened.claim()), &proof)?.judged(judged)
    })
}
