//! `verify`: does a release keep its promise?

use std::path::Path;

use super::open::Originally;
use super::{Answer, forms, opened, refuse_idle};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::read::Sources;
use crate::recipe::Limits;
use crate::recipe::written;
use crate::release::Form;
use crate::report::{AnyClaim, Unchecked, proof_page};

/// Proves or refutes what a release promises, from the release alone; with the original also that it is true to it.
pub fn verify(
    path: &Path,
    custody: Option<&Path>,
    original: &Originally<'_>,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        refuse_idle(custody, original)?;
        if original.location.is_some() && super::open(path, custody, observer.memory())?.form() == Form::Noisy {
            let problem = "shows nothing more of a noisy release: any count may come of any data";
            return Err(Error::recipe("original", problem, "leave it out; disjoin measure compares both"));
        }
        let (opened, original) = opened(path, custody, original, sources, observer)?;
        let proof = forms::verify(&opened, original.as_ref(), observer)?;
        // Whether a promise is kept is decided where everything else is.
        let limits = Limits::resolve(&written::Limits::default(), 1)?;
        let judged = limits.judge(Some(proof.holds()), &super::limits::Found::default());
        let claim = opened.claim();
        let mut unchecked = claim.unchecked(original.is_some());
        unchecked.extend(files_beside(&opened.folder, &claim)?);
        let mut answer = Answer::new(proof_page(&proof, &claim, &unchecked), &proof)?;
        answer.json["unchecked"] = serde_json::to_value(&unchecked).unwrap_or_default();
        answer.judged(judged)
    })
}

/// Files of a release folder that nothing was proved about.
fn files_beside(folder: &Path, claim: &AnyClaim) -> Result<Vec<Unchecked>> {
    let known = claim.files();
    let entries = std::fs::read_dir(folder).map_err(|e| Error::io(folder, "read the release", e))?;
    let mut names: Vec<String> = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect();
    names.retain(|name| !known.contains(name));
    names.sort_unstable();
    let told = |name: String| match name.as_str() {
        "report.html" => Unchecked { what: name, why: "a text for people; read the verdict here instead".into() },
        _ => Unchecked { what: format!("{name:?}"), why: "stands beside the data, and does not belong there".into() },
    };
    Ok(names.into_iter().map(told).collect())
}
