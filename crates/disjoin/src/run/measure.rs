//! `measure`: how useful is what remains?

use std::path::{Path, PathBuf};

use super::open::Originally;
use super::{Answer, forms, opened};
use crate::data::{Dataset, Hierarchy};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::publish::Results;
use crate::read::{self, Sources};
use crate::recipe::{Limits, Measure, Recipe, resolve, written};
use crate::reconstruct::Multiplicity;
use crate::release::Form;
use crate::report::{UTILITY_PLOTS, Utility, utility_page, utility_plots};

/// What to compare. What is missing has its default.
#[derive(Debug, Clone)]
pub struct MeasureOptions {
    /// How much to compare.
    pub measure: Measure,
    /// How often a term without a count is taken to occur in its cluster.
    pub multiplicity: Multiplicity,
    /// Count terms with more than k records in tlost, instead of k or more.
    pub more_than_k: bool,
    /// A taxonomy of the terms for tKd-ML2.
    pub hierarchy: Option<PathBuf>,
    /// Or how many children a node has in one over the sorted terms.
    pub fanout: Option<usize>,
    /// Sets of terms whose links matter most.
    pub utility: Option<PathBuf>,
    /// How much terms count.
    pub weights: Option<PathBuf>,
    /// Where to draw.
    pub plots: Option<PathBuf>,
    /// The limits.
    pub limits: written::Limits,
}

impl MeasureOptions {
    /// The defaults, but for what is written.
    pub fn new(written: &written::Measure) -> Result<Self> {
        Ok(MeasureOptions {
            measure: resolve::measure(written)?,
            multiplicity: Multiplicity::Told,
            more_than_k: false,
            hierarchy: None,
            fanout: None,
            utility: None,
            weights: None,
            plots: None,
            limits: written::Limits::default(),
        })
    }

    /// What a recipe asks for.
    pub(super) fn of(recipe: &Recipe) -> Self {
        let recoding = recipe.protect.recoding.as_ref();
        MeasureOptions {
            measure: recipe.measure.clone(),
            multiplicity: Multiplicity::Told,
            more_than_k: false,
            hierarchy: recoding.and_then(|recoding| recoding.hierarchy.clone()),
            fanout: recoding.and_then(|recoding| recoding.fanout),
            utility: recipe.protect.utility.clone(),
            weights: recipe.protect.weights.clone(),
            plots: None,
            limits: written::Limits::default(),
        }
    }

    /// The taxonomy, if one is asked for.
    pub(super) fn taxonomy(&self, original: &Dataset) -> Result<Option<Hierarchy>> {
        Ok(match (&self.hierarchy, self.fanout) {
            (Some(file), _) => Some(read::hierarchy(file, &original.dictionary)?),
            (None, Some(fanout)) => Some(Hierarchy::uniform(&original.dictionary, fanout)?),
            (None, None) => None,
        })
    }

    fn check(&self, form: Form) -> Result<()> {
        let of_sets = [
            ("measure.utility", self.utility.is_some()),
            ("measure.weights", self.weights.is_some()),
            ("measure.plots", self.plots.is_some()),
            ("measure.more_than_k", self.more_than_k),
        ];
        let of_terms = [("measure.hierarchy", self.hierarchy.is_some()), ("measure.fanout", self.fanout.is_some())];
        let refuse = |key: &'static str, whose: &str| {
            let problem = format!("is for {whose}, and this is {}", form.text());
            Err(Error::recipe(key, problem, "leave it out"))
        };
        if let Some((key, _)) = of_sets.iter().find(|(_, is)| *is).filter(|_| form != Form::Disassociated) {
            return refuse(key, Form::Disassociated.text());
        }
        let has_terms = matches!(form, Form::Disassociated | Form::Recoded);
        if let Some((key, _)) = of_terms.iter().find(|(_, is)| *is).filter(|_| !has_terms) {
            return refuse(key, "sets of terms");
        }
        Ok(())
    }
}

/// Compares a release with its original.
pub fn measure(
    path: &Path,
    custody: Option<&Path>,
    original: &Originally<'_>,
    asked: &MeasureOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        observer.stage("reading the release");
        asked.check(super::open(path, custody, observer.memory())?.form())?;
        // Before the work, not after it.
        let plots = asked.plots.as_ref().map(|folder| Results::open(folder, &UTILITY_PLOTS)).transpose()?;
        let (opened, read) = opened(path, custody, original, sources, observer)?;
        let why = "what is left is compared with it";
        let original = read.ok_or_else(|| {
            Error::recipe("original", format!("is needed: {why}"), "name the file that was protected")
        })?;
        let utility = forms::measure(&opened, &original, asked, observer)?;
        let judged = Limits::resolve(&asked.limits, opened.k())?.judge(None, &utility.found());
        let mut answer = Answer::new(utility_page(&utility, &opened.claim()), &utility)?.judged(judged)?;
        if let (Some(mut plots), Utility::Disassociated(report)) = (plots, &utility) {
            let drawn = utility_plots(report);
            let files: Vec<(&str, &[u8])> =
                UTILITY_PLOTS.iter().zip(&drawn).map(|(name, svg)| (*name, svg.as_bytes())).collect();
            plots.write(&files)?;
            answer.wrote.extend(files.iter().map(|(name, _)| plots.place(name)));
        }
        Ok(answer)
    })
}
