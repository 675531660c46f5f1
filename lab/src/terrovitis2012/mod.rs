//! The evaluation of terrovitis2012, section 7.2: one figure, one function.

mod peers;
mod real;
mod synthetic;
mod time;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use disjoin::data::Dataset;
use disjoin::generate::quest;
use disjoin::measure::{Options, RecodedReport, RelativeError, Report, Window, measure};
use disjoin::protect::disassociation::{Params, disassociate};
use disjoin::release::open::InMemory;
use disjoin::{Error, Result, read};

use crate::Scale;
use crate::page::{Page, Table, write_index};

type Figure = fn(&Lab) -> Result<Page>;

const FIGURES: [(&str, Figure); 13] = [
    ("7a", real::figure_7a),
    ("7b", real::figure_7b),
    ("7c", real::figure_7c),
    ("7d", real::figure_7d),
    ("8a", synthetic::figure_8a),
    ("8b", synthetic::figure_8b),
    ("8c", synthetic::figure_8c),
    ("8d", synthetic::figure_8d),
    ("9", time::figure_9),
    ("10", time::figure_10),
    ("11a", peers::figure_11a),
    ("11b", peers::figure_11b),
    ("11c", peers::figure_11c),
];

/// The paper's defaults.
const K: u32 = 5;
const M: u32 = 2;

const INTRODUCTION: &str = "\
# terrovitis2012: the evaluation, drawn again

Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy Preservation by Disassociation, PVLDB 5(10), 2012, section 7.2.
Made by `cargo run --release -p disjoin-lab -- terrovitis2012 all --data DIR`; each page tells its own command.

The paper prints few numbers; its plots could not be read off our copy, and neither could their axes. So claims are taken
from its text, and each is decided by a criterion that is evaluated on our numbers, with limits that we chose.
POS-275k is a part of POS: 275,000 of its 515,597 records, with 1,515 of its 1,657 terms. WV1 and WV2 are whole.
Synthetic data come from our own Quest generator; each page tells how many records. Everything is measured at m = 2, and at
k = 5 unless k varies; clusters stay below 30 records, or 2k where that is more. tKd is about the 1000 best itemsets, re about the
pairs of terms 200 to 219 by support, tlost about terms with more than k records. tKd-e and re-e, from expected supports
instead of a random reconstruction, are ours.
";

/// Draws a figure, or all of them, and lists the verdicts again.
pub(crate) fn run(figure: &str, data: PathBuf, scale: Scale, out: &Path) -> Result<()> {
    let wanted: Vec<_> = FIGURES.into_iter().filter(|(name, _)| figure == "all" || figure == *name).collect();
    if wanted.is_empty() {
        let all = FIGURES.map(|(name, _)| name).join(", ");
        return Err(Error::recipe("figure", format!("there is no figure {figure}"), format!("one of {all}, or all")));
    }
    let lab = Lab { data, scale, reports: RefCell::default(), recoded: RefCell::default() };
    let scale = scale.name();
    for (name, draw) in wanted {
        eprintln!("figure {name}");
        let command = format!("cargo run --release -p disjoin-lab -- terrovitis2012 {name} --data DIR --scale {scale}");
        draw(&lab)?.write(out, name, &command)?;
    }
    write_index(out, INTRODUCTION, FIGURES.iter().map(|figure| figure.0))
}

impl Scale {
    fn name(self) -> &'static str {
        match self {
            Scale::Tiny => "tiny",
            Scale::Small => "small",
            Scale::Full => "full",
        }
    }

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
struct Lab {
    data: PathBuf,
    scale: Scale,
    reports: RefCell<HashMap<(Source, u32), Rc<Report>>>,
    /// By Apriori, at k = 5.
    recoded: RefCell<HashMap<Source, Rc<RecodedReport>>>,
}

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

impl Lab {
    fn load(&self, source: Source) -> Result<Dataset> {
        let file = match source {
            Source::Pos => "bms-pos-275k.dat",
            Source::Wv1 => "bms-webview-1.dat",
            Source::Wv2 => "bms-webview-2.dat",
            Source::Quest { records, items, mean_length } => {
                let mean_length = f64::from(mean_length);
                return quest::quest(&quest::Params { records, items, mean_length, ..quest::Params::program() });
            }
        };
        Ok(read::read(&self.data.join(file), &read::Options::default())?.0)
    }

    /// Protects and measures, unless another figure did already.
    fn report(&self, source: Source, k: u32) -> Result<Rc<Report>> {
        if let Some(report) = self.reports.borrow().get(&(source, k)) {
            return Ok(report.clone());
        }
        let report = Rc::new(utility(&self.load(source)?, k, Options::default())?);
        self.reports.borrow_mut().insert((source, k), report.clone());
        Ok(report)
    }

    fn reports(&self, sources: impl IntoIterator<Item = Source>) -> Result<Vec<Rc<Report>>> {
        sources.into_iter().map(|source| self.report(source, K)).collect()
    }
}

fn utility(data: &Dataset, k: u32, options: Options<'_>) -> Result<Report> {
    let outcome = disassociate(data, &Params::paper(k, M))?;
    measure(&mut InMemory::new(&outcome.release), data, &Options { queries: 0, more_than_k: true, ..options })
}

/// A number of a report, and its name.
type Metric = (&'static str, fn(&Report) -> f64);

const TKD: Metric = ("tKd", |report| report.top_k.tkd.all);
const TKD_A: Metric = ("tKd-a", |report| report.top_k.tkd_a.all);
const TKD_E: Metric = ("tKd-e", |report| report.top_k.tkd_e.all);
const RE: Metric = ("re", |report| error_at(report, 200, |window| window.re));
const RE_A: Metric = ("re-a", |report| error_at(report, 200, |window| window.re_a));
const RE_E: Metric = ("re-e", |report| error_at(report, 200, |window| window.re_e));
const TLOST: Metric = ("tlost", |report| report.terms_lost.tlost);

/// One of the errors of a window.
type ErrorOf = fn(&Window) -> RelativeError;

/// The error of the window that begins at a rank; NaN if there are not as many terms.
fn error_at(report: &Report, rank: usize, error: ErrorOf) -> f64 {
    let window = report.relative_error.iter().find(|window| window.first == rank);
    window.and_then(|window| error(window).mean).unwrap_or(f64::NAN)
}

impl Table {
    /// A column for each metric, with a row for each report.
    fn metrics(self, reports: &[Rc<Report>], metrics: &[Metric]) -> Self {
        let add = |table: Table, (name, of): &Metric| table.column(*name, reports.iter().map(|r| of(r)).collect());
        metrics.iter().fold(self, add)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn every_figure_becomes_a_page_a_plot_and_rows_of_the_index() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["bms-pos-275k.dat", "bms-webview-1.dat", "bms-webview-2.dat"];
        for (seed, file) in (0..).zip(files) {
            let params = quest::Params { records: 2_000, items: 600, patterns: 500, seed, ..quest::Params::program() };
            let path = folder.path().join(file);
            let mut out = File::create(&path).unwrap();
            read::write(&quest::quest(&params).unwrap(), read::Format::Basket, &path, &mut out).unwrap();
        }
        let out = folder.path().join("out");
        run("all", folder.path().into(), Scale::Tiny, &out).unwrap();
        let index = fs::read_to_string(out.join("README.md")).unwrap();
        for (name, _) in FIGURES {
            let page = fs::read_to_string(out.join(format!("{name}.md"))).unwrap();
            let svg = fs::read_to_string(out.join(format!("{name}.svg"))).unwrap();
            assert!(page.starts_with(&format!("# Figure {name}: ")), "{name}");
            assert!(svg.ends_with("</svg>\n") || svg.ends_with("</svg>"), "{name}");
            assert!(svg.len() < 60_000 && !svg.contains("no data"), "{name}");
            assert!(index.contains(&format!("| [{name}]({name}.md) | ")), "{name}");
            assert!(!page.contains(&*folder.path().to_string_lossy()), "{name} tells a path");
        }
    }

    #[test]
    fn an_unknown_figure_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(run("12", folder.path().into(), Scale::Tiny, folder.path()).is_err());
    }
}
