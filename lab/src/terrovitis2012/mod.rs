//! The evaluation of terrovitis2012, section 7.2: one figure, one function.

mod peers;
mod real;
mod synthetic;
mod time;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::rc::Rc;

use disjoin::data::Dataset;
use disjoin::generate::quest;
use disjoin::measure::{Options, RecodedReport, RelativeError, Report, Window, measure};
use disjoin::memory::Memory;
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::release::open::InMemory;
use disjoin::{Error, Observer, Result, read};

use crate::Scale;
use crate::estimate::Estimate;
use crate::page::{Page, Table};
use crate::papers::{Given, Named, Paper, Put};

pub(crate) const PAPER: Paper = Paper { key: "terrovitis2012", introduction: INTRODUCTION, figures, draw, small };

type Figure = fn(&Lab<'_>) -> Result<Page>;

const POS: &[&str] = &[FILES[0]];
const FILES: [&str; 3] = ["bms-pos-275k.dat", "bms-webview-1.dat", "bms-webview-2.dat"];

const FIGURES: [(&str, Figure, &[&str]); 13] = [
    ("7a", real::figure_7a, &FILES),
    ("7b", real::figure_7b, POS),
    ("7c", real::figure_7c, POS),
    ("7d", real::figure_7d, POS),
    ("8a", synthetic::figure_8a, &[]),
    ("8b", synthetic::figure_8b, &[]),
    ("8c", synthetic::figure_8c, &[]),
    ("8d", synthetic::figure_8d, &[]),
    ("9", time::figure_9, &FILES),
    ("10", time::figure_10, &[]),
    ("11a", peers::figure_11a, &FILES),
    ("11b", peers::figure_11b, &FILES),
    ("11c", peers::figure_11c, &FILES),
];

/// The paper's defaults.
const K: u32 = 5;
const M: u32 = 2;

const INTRODUCTION: &str = "\
# terrovitis2012: the evaluation, drawn again

Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy Preservation by Disassociation, PVLDB 5(10), 2012, section 7.2.
Made by `cargo run --release -p disjoin-lab -- terrovitis2012 all --data DIR`; each page tells its own command.

The paper prints few numbers; its plots could not be read off our copy, and neither could their axes. So claims are taken
from its text, and each is decided by criteria with limits that we chose. tKd and tlost are shares of itemsets and of terms, with
Wilson's interval; re is on a random reconstruction, with Student's interval over five of them.
POS-275k is a part of POS: 275,000 of its 515,597 records, with 1,515 of its 1,657 terms. WV1 and WV2 are whole.
Synthetic data come from our own Quest generator; each page tells how many records. Everything is measured at m = 2, and at
k = 5 unless k varies; clusters stay below 30 records, or 2k where that is more. tKd is about the 1000 best itemsets, re about the
pairs of terms 200 to 219 by support, tlost about terms with more than k records. tKd-e and re-e, from expected supports
instead of a random reconstruction, are ours.
";

fn figures() -> Vec<Named> {
    FIGURES.iter().map(|&(name, _, files)| (name, files)).collect()
}

fn draw(given: &Given, wanted: &[&str], put: Put<'_>) -> Result<()> {
    let lab = Lab { given, scale: given.scale, measured: RefCell::default(), recoded: RefCell::default() };
    for (name, draw, _) in FIGURES.into_iter().filter(|figure| wanted.contains(&figure.0)) {
        eprintln!("figure {name}");
        put(name, draw(&lab)?)?;
    }
    Ok(())
}

fn small(folder: &Path) -> Result<Given> {
    for (seed, file) in (0..).zip(FILES) {
        let params = quest::Params { records: 2_000, items: 600, patterns: 500, seed, ..quest::Params::program() };
        let path = folder.join(file);
        let mut out = File::create(&path).map_err(|e| Error::io(&path, "write", e))?;
        read::write(&quest::quest(&params)?, read::Format::Basket, &path, &mut out)?;
    }
    Ok(Given::small(folder))
}

impl Scale {
    /// Records of synthetic data, where their number does not vary.
    fn records(self) -> u64 {
        match self {
            Scale::Tiny => 2_000,
            Scale::Small => 100_000,
            Scale::Full => 1_000_000,
        }
    }
}

/// Where data come from, and what was measured on them already.
struct Lab<'g> {
    given: &'g Given,
    scale: Scale,
    measured: RefCell<HashMap<(Source, u32), Rc<Measured>>>,
    /// By Apriori, at k = 5.
    recoded: RefCell<HashMap<Source, Rc<RecodedReport>>>,
}

/// A release, measured with several reconstructions.
struct Measured {
    report: Report,
    /// The same with other reconstructions, without itemsets.
    redrawn: Vec<Report>,
}

/// How many reconstructions there are.
const REDRAWN: u64 = 5;

/// Data of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Source {
    Pos,
    Wv1,
    Wv2,
    Quest { records: u64, items: usize, mean_length: u32 },
}

const REAL: [Source; 3] = [Source::Pos, Source::Wv1, Source::Wv2];
const NAMES: [&str; 3] = ["POS-275k", "WV1", "WV2"];

impl Lab<'_> {
    fn load(&self, source: Source) -> Result<Dataset> {
        let file = match source {
            Source::Pos => FILES[0],
            Source::Wv1 => FILES[1],
            Source::Wv2 => FILES[2],
            Source::Quest { records, items, mean_length } => {
                let mean_length = f64::from(mean_length);
                return quest::quest(&quest::Params { records, items, mean_length, ..quest::Params::program() });
            }
        };
        Ok(read::read(&self.given.file(file), &read::Options::default())?.0)
    }

    /// Protects and measures, unless another figure did already.
    fn measured(&self, source: Source, k: u32) -> Result<Rc<Measured>> {
        if let Some(measured) = self.measured.borrow().get(&(source, k)) {
            return Ok(measured.clone());
        }
        let data = self.load(source)?;
        let outcome = disassociate(&data, &Params::paper(k, M))?;
        let with = |seed: u64, top: usize| {
            let options = Options { queries: 0, more_than_k: true, seed, top, observer: &Ours, ..Options::default() };
            measure(&mut InMemory::new(&outcome.release), &data, &options)
        };
        let report = with(1, Options::default().top)?;
        let redrawn = (2..=REDRAWN).map(|seed| with(seed, 1)).collect::<Result<_>>()?;
        let measured = Rc::new(Measured { report, redrawn });
        self.measured.borrow_mut().insert((source, k), measured.clone());
        Ok(measured)
    }

    fn all(&self, sources: impl IntoIterator<Item = Source>) -> Result<Vec<Rc<Measured>>> {
        sources.into_iter().map(|source| self.measured(source, K)).collect()
    }
}

fn utility(data: &Dataset, k: u32, options: Options<'_>) -> Result<Report> {
    let outcome = disassociate(data, &Params::paper(k, M))?;
    let options = Options { queries: 0, more_than_k: true, observer: &Ours, ..options };
    measure(&mut InMemory::new(&outcome.release), data, &options)
}

/// Releases of our own making may be laid out, whatever memory that takes.
struct Ours;

impl Observer for Ours {
    fn memory(&self) -> Memory {
        Memory::of(16 << 30)
    }
}

/// A number of a release, and its name.
type Metric = (&'static str, fn(&Measured) -> Estimate);

const TKD: Metric = ("tKd", |of| lost(of.report.top_k.tkd.all, of.report.top_k.k));
const TKD_A: Metric = ("tKd-a", |of| lost(of.report.top_k.tkd_a.all, of.report.top_k.k));
const TKD_E: Metric = ("tKd-e", |of| lost(of.report.top_k.tkd_e.all, of.report.top_k.k));
const RE: Metric = ("re", |of| of.error_at(200, |window| window.re));
const RE_A: Metric = ("re-a", |of| of.error_at(200, |window| window.re_a));
const RE_E: Metric = ("re-e", |of| of.error_at(200, |window| window.re_e));
const TLOST: Metric = ("tlost", |of| lost(of.report.terms_lost.tlost, of.report.terms_lost.considered));

/// A share of so many that were lost.
fn lost(share: f64, of: usize) -> Estimate {
    match share.is_nan() {
        true => Estimate::missing(),
        false => Estimate::share((share * of as f64).round() as u64, of as u64),
    }
}

impl Measured {
    /// The error of the window that begins at a rank, with each reconstruction; NaN if there are not as many terms.
    fn errors_at(&self, rank: usize, error: impl Fn(&Window) -> RelativeError) -> Vec<f64> {
        let of_report = |report: &Report| {
            let window = report.relative_error.iter().find(|window| window.first == rank);
            window.and_then(|window| error(window).mean).unwrap_or(f64::NAN)
        };
        [&self.report].into_iter().chain(&self.redrawn).map(of_report).collect()
    }

    /// The mean of these errors.
    fn error_at(&self, rank: usize, error: impl Fn(&Window) -> RelativeError) -> Estimate {
        let errors = self.errors_at(rank, error);
        // What depends on no reconstruction is the same with all.
        match errors.iter().all(|&one| one == errors[0]) {
            true => Estimate::exact(errors[0]),
            false => Estimate::mean(&errors),
        }
    }
}

impl Table {
    /// A column for each metric, with a row for each release.
    fn metrics(self, all: &[Rc<Measured>], metrics: &[Metric]) -> Self {
        let add = |table: Table, (name, of): &Metric| table.measured(*name, all.iter().map(|one| of(one)).collect());
        metrics.iter().fold(self, add)
    }
}
