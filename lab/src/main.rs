//! The lab: every figure of a paper's evaluation is one command, and ends as a page with numbers, a plot and verdicts.
//!
//!     cargo run --release -p disjoin-lab -- all --data DIR --corpus FILE
//!     cargo run --release -p disjoin-lab -- terrovitis2012 7a --data DIR
//!     cargo run --release -p disjoin-lab -- check

mod amiri2016;
mod barakat2016;
mod estimate;
mod fresh;
mod judge;
mod nadimpalli2014;
mod page;
mod papers;
mod shao2017;
mod terrovitis2012;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Parser, Subcommand, ValueEnum};
use disjoin::Result;

use papers::{Given, PAPERS};

/// Draw the figures of the papers again.
#[derive(Parser)]
#[command(name = "lab")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Draw every page of every paper, and the table of verdicts
    All(From),
    /// Whether every page is as these sources draw it; needs no data
    Check {
        /// Where the pages are
        #[arg(long, value_name = "DIR", default_value = "lab/papers")]
        out: PathBuf,
    },
    /// Put the table of verdicts together from the pages that are there
    Verdicts {
        /// Where the pages are
        #[arg(long, value_name = "DIR", default_value = "lab/papers")]
        out: PathBuf,
    },
    /// Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy Preservation by Disassociation, 2012
    Terrovitis2012(One),
    /// Barakat, Al Bouna, Nassar, Guyeux: On the Evaluation of the Privacy Breach in Disassociated Set-valued Datasets, 2016
    Barakat2016(One),
    /// Amiri, Yazdani, Shakery, Chinaei: Hierarchical anonymization algorithms against background knowledge attack in data
    /// releasing, 2016
    Amiri2016(One),
    /// Nadimpalli, Vatsavayi: Detection and Prevention of Leaks in Anonymized Datasets, 2014
    Nadimpalli2014(One),
    /// Shao, Ong: Exploiting Contextual Information in Attacking Set-Generalized Transactions, 2017
    Shao2017(One),
}

#[derive(Args)]
struct One {
    /// A figure or table of the paper, or all; an unknown one lists them
    figure: String,
    #[command(flatten)]
    from: From,
}

/// What to draw from, and where to.
#[derive(Args)]
struct From {
    /// Where the data are: baskets, Adult and medical abstracts, in the folder or in its folders adult and medical-text
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// What disjoin corpus build made of dictionaries; shao2017 cannot be drawn without
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Static word vectors, for two tables of shao2017: the wheel of wordllama
    #[arg(long, value_name = "PATH")]
    vectors: Option<PathBuf>,
    /// Where WordNet's data.noun is
    #[arg(long, value_name = "DIR", default_value = "/usr/share/wordnet")]
    wordnet: PathBuf,
    /// How large synthetic data are
    #[arg(long, value_enum, default_value_t = Scale::Small)]
    scale: Scale,
    /// Where pages and plots go
    #[arg(long, value_name = "DIR", default_value = "lab/papers")]
    out: PathBuf,
}

/// The size of synthetic data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    /// Two thousand records, for fingerprints
    #[value(hide = true)]
    Tiny,
    /// A tenth of the paper's records
    Small,
    /// As many records as the paper has
    Full,
}

impl Scale {
    fn name(self) -> &'static str {
        match self {
            Scale::Tiny => "tiny",
            Scale::Small => "small",
            Scale::Full => "full",
        }
    }
}

impl From {
    fn given(self) -> (Given, PathBuf) {
        let From { data, corpus, vectors, wordnet, scale, out } = self;
        (Given { data, scale, corpus, vectors, wordnet }, out)
    }
}

fn main() -> ExitCode {
    let result = match Cli::parse().verb {
        Verb::All(from) => all(from),
        Verb::Check { out } => return check(&out),
        Verb::Verdicts { out } => papers::write_verdicts(&out),
        Verb::Terrovitis2012(one) => draw(terrovitis2012::PAPER.key, one),
        Verb::Barakat2016(one) => draw(barakat2016::PAPER.key, one),
        Verb::Amiri2016(one) => draw(amiri2016::PAPER.key, one),
        Verb::Nadimpalli2014(one) => draw(nadimpalli2014::PAPER.key, one),
        Verb::Shao2017(one) => draw(shao2017::PAPER.key, one),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refused(&error),
    }
}

/// Draws a figure of a paper, or all, and the table of verdicts.
fn draw(key: &str, One { figure, from }: One) -> Result<()> {
    let (given, out) = from.given();
    for paper in PAPERS.iter().filter(|paper| paper.key == key) {
        paper.run(&figure, &given, &out)?;
    }
    papers::write_verdicts(&out)
}

/// Draws everything that can be drawn from what is given.
fn all(from: From) -> Result<()> {
    let (given, out) = from.given();
    for paper in PAPERS {
        if paper.key == shao2017::PAPER.key && given.corpus.is_none() {
            eprintln!("warning: {} is not drawn: it needs --corpus", paper.key);
            continue;
        }
        let start = Instant::now();
        paper.run("all", &given, &out)?;
        eprintln!("{}: {:.0} s", paper.key, start.elapsed().as_secs_f64());
    }
    papers::write_verdicts(&out)
}

fn check(out: &Path) -> ExitCode {
    match fresh::stale(out) {
        Err(error) => refused(&error),
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            eprintln!("hint: draw them again: lab all --data DIR --corpus FILE");
            ExitCode::FAILURE
        }
    }
}

fn refused(error: &disjoin::Error) -> ExitCode {
    eprintln!("error: {error}");
    if let Some(hint) = error.hint() {
        eprintln!("hint: {hint}");
    }
    ExitCode::from(2)
}
