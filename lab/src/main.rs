//! The lab: every figure of a paper's evaluation is one command, and ends as a page with numbers, a plot and a verdict.
//!
//!     cargo run --release -p disjoin-lab -- terrovitis2012 7a --data DIR
//!     cargo run --release -p disjoin-lab -- terrovitis2012 all --data DIR --scale full
//!     cargo run --release -p disjoin-lab -- barakat2016 all --data DIR
//!     cargo run --release -p disjoin-lab -- amiri2016 all --data DIR
//!     cargo run --release -p disjoin-lab -- nadimpalli2014 all --data DIR
//!     cargo run --release -p disjoin-lab -- shao2017 all --data DIR --corpus FILE

mod amiri2016;
mod barakat2016;
mod judge;
mod nadimpalli2014;
mod page;
mod shao2017;
mod terrovitis2012;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

/// Draw the figures of the papers again.
#[derive(Parser)]
#[command(name = "lab")]
struct Cli {
    #[command(subcommand)]
    paper: Paper,
}

#[derive(Subcommand)]
enum Paper {
    /// Terrovitis, Liagouris, Mamoulis, Skiadopoulos: Privacy Preservation by Disassociation, 2012
    Terrovitis2012 {
        /// 7a to 7d, 8a to 8d, 9, 10, 11a to 11c, or all
        figure: String,
        /// Where bms-pos-275k.dat, bms-webview-1.dat and bms-webview-2.dat are
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// How large synthetic data are
        #[arg(long, value_enum, default_value_t = Scale::Small)]
        scale: Scale,
        /// Where pages and plots go
        #[arg(long, value_name = "DIR", default_value = "lab/papers/terrovitis2012")]
        out: PathBuf,
    },
    /// Barakat, Al Bouna, Nassar, Guyeux: On the Evaluation of the Privacy Breach in Disassociated Set-valued Datasets, 2016
    Barakat2016 {
        /// 4, 5, breaches, repairs, or all
        figure: String,
        /// Where bms-webview-1.dat and bms-webview-2.dat are; for repairs also T10I4D100K.dat and bms-pos-275k.dat
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Where pages and plots go
        #[arg(long, value_name = "DIR", default_value = "lab/papers/barakat2016")]
        out: PathBuf,
    },
    /// Amiri, Yazdani, Shakery, Chinaei: Hierarchical anonymization algorithms against background knowledge attack in data
    /// releasing, 2016
    Amiri2016 {
        /// k, beta, distance, attack, or all
        figure: String,
        /// Where adult.csv is
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Where pages and plots go
        #[arg(long, value_name = "DIR", default_value = "lab/papers/amiri2016")]
        out: PathBuf,
    },
    /// Nadimpalli, Vatsavayi: Detection and Prevention of Leaks in Anonymized Datasets, 2014
    Nadimpalli2014 {
        /// example, 7, dependencies, breach, or all
        figure: String,
        /// Where adult9_disc.csv is
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// Where pages and plots go
        #[arg(long, value_name = "DIR", default_value = "lab/papers/nadimpalli2014")]
        out: PathBuf,
    },
    /// Shao, Ong: Exploiting Contextual Information in Attacking Set-Generalized Transactions, 2017
    Shao2017 {
        /// 13, 13b, 13c, 14, 15, 16, ours, context, corpora, controls, or all
        figure: String,
        /// Where medical-abstracts.csv and groceries.csv are
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// What disjoin corpus build made of dictionaries
        #[arg(long, value_name = "FILE")]
        corpus: PathBuf,
        /// Static word vectors, for the table corpora: the wheel of wordllama
        #[arg(long, value_name = "PATH")]
        vectors: Option<PathBuf>,
        /// Where WordNet's data.noun is
        #[arg(long, value_name = "DIR", default_value = "/usr/share/wordnet")]
        wordnet: PathBuf,
        /// Where pages and plots go
        #[arg(long, value_name = "DIR", default_value = "lab/papers/shao2017")]
        out: PathBuf,
    },
}

/// The size of synthetic data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scale {
    /// Two thousand records, for tests
    #[value(hide = true)]
    Tiny,
    /// A tenth of the paper's records
    Small,
    /// As many records as the paper has
    Full,
}

fn main() -> ExitCode {
    let result = match Cli::parse().paper {
        Paper::Terrovitis2012 { figure, data, scale, out } => terrovitis2012::run(&figure, data, scale, &out),
        Paper::Barakat2016 { figure, data, out } => barakat2016::run(&figure, &data, &out),
        Paper::Amiri2016 { figure, data, out } => amiri2016::run(&figure, &data, &out),
        Paper::Nadimpalli2014 { figure, data, out } => nadimpalli2014::run(&figure, &data, &out),
        Paper::Shao2017 { figure, data, corpus, vectors, wordnet, out } => {
            shao2017::Sources::read(&data, &corpus, vectors.as_deref(), &wordnet)
                .and_then(|sources| shao2017::run(&figure, &sources, &out))
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::from(2)
        }
    }
}
