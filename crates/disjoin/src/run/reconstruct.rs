//! `reconstruct`: datasets that the original may have been.

use std::path::Path;

use super::open;
use super::open::Release;
use crate::data::{Dataset, Transactions};
use crate::error::Result;
use crate::observer::{Observer, observed};
use crate::reconstruct::{Multiplicity, Sampling, reconstruct as draw};
use crate::release::Form;

/// A dataset that was drawn.
pub struct Reconstruction {
    /// Which one it is, from 0.
    pub nth: u64,
    /// The data.
    pub data: Dataset,
    /// Records that got no term, and are left out.
    pub empty: u64,
    /// Records of the original.
    pub records: u64,
}

/// Draws `n` datasets that fit a release as well as the original does, and hands over one after the other.
pub fn reconstruct(
    path: &Path,
    n: u64,
    sampling: &Sampling,
    multiplicity: Multiplicity,
    observer: &dyn Observer,
    mut take: impl FnMut(&Reconstruction) -> Result<()>,
) -> Result<()> {
    observed(|| {
        observer.stage("reading the release");
        let opened = open(path, None, observer.memory())?;
        let Release::Disassociated(stored) = &opened.release else {
            let hint = match opened.form() {
                Form::Recoded => "disjoin convert writes its records with groups as items",
                Form::Noisy => "its data.jsonl is synthetic already",
                _ => "its files are tables that any program reads",
            };
            return opened.refuse("reconstruct", &[Form::Disassociated], hint);
        };
        let release = stored.load(observer)?;
        let model = stored.model(&release, multiplicity, observer)?;
        let mut drawn = Reconstruction {
            nth: 0,
            data: Dataset { dictionary: release.dictionary.clone(), records: Transactions::default() },
            empty: 0,
            records: release.header.records,
        };
        for nth in 0..n {
            observer.stage(&format!("drawing dataset {} of {n}", nth + 1));
            observer.check();
            // The one before is given back first.
            drawn.data.records = Transactions::default();
            let made = draw(&model, sampling, nth);
            (drawn.nth, drawn.empty, drawn.data.records) = (nth, made.empty, made.records);
            take(&drawn)?;
        }
        Ok(())
    })
}
