//! What each column of a table is for, and what its classes must be like.

use std::path::PathBuf;

use disjoin::knowledge::background::{Estimator, Knowledge};
use disjoin::protect::tabular;
use disjoin::read::values::{DateOrder, Decimal};
use disjoin::recipe::{table, written};
use disjoin::release::generalized::Associations;
use disjoin::release::privacy_models::Distance;
use disjoin::{Error, Result};

use crate::choices::choice;

/// Columns and criteria.
#[derive(clap::Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct Columns {
    /// Quasi-identifiers: columns that others may know, and with which people can be found; they are generalised
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    quasi: Vec<String>,
    /// Direct identifiers: columns that name people, never published
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    identifier: Vec<String>,
    /// Insensitive attributes: they neither help to find people nor are worth hiding, and are published as they are
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi", alias = "other")]
    insensitive: Vec<String>,
    /// A column with a list of terms of each person: published in chunks, inside the classes
    #[arg(long, value_name = "COLUMN", requires = "quasi")]
    set: Option<String>,
    /// Columns of numbers
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    numeric: Vec<String>,
    /// Columns of dates: generalised by month, quarter, year and decade
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    dates: Vec<String>,
    /// The order of day and month, where the dates of a column do not show it
    #[arg(long, value_name = "ORDER", requires = "quasi", value_parser = choice::<DateOrder>())]
    date_order: Option<DateOrder>,
    /// What stands before decimals, where the numbers of a column do not show it
    #[arg(long, value_name = "MARK", requires = "quasi", value_parser = choice::<Decimal>())]
    decimal: Option<Decimal>,
    /// Columns of codes, as postcodes: generalised by what they begin with
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi", alias = "prefix")]
    prefixes: Vec<String>,
    /// Quasi-identifiers whose cells are names, also if they look like numbers or dates
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "quasi")]
    words: Vec<String>,
    /// Sensitive and insensitive columns that may be published as they are, though they are near-unique or free text
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "quasi")]
    publish_as_is: Vec<String>,
    /// A text that means that there is no value, besides empty cells; may be repeated
    #[arg(long, value_name = "TEXT", requires = "quasi")]
    missing: Vec<String>,
    /// What generalises what in a column: an ARX CSV file or an Amnesia text file; may be repeated. Of terms (apriori, lra, vpa): a
    /// file alone
    #[arg(long, value_name = "[COLUMN=]FILE")]
    hierarchy: Vec<String>,
    /// No sensitive value has a share above this in a class
    #[arg(long, value_name = "SHARE", requires = "quasi")]
    alpha: Option<f64>,
    /// Entropy l-diversity: sensitive values of a class as uncertain as so many equally likely ones
    #[arg(long, value_name = "L", requires = "quasi")]
    entropy_l: Option<f64>,
    /// Recursive (c,l)-diversity
    #[arg(long, value_name = "C,L", requires = "quasi", value_parser = recursive)]
    recursive_l: Option<(f64, u32)>,
    /// t-closeness: how far the sensitive values of a class may be from those of all records
    #[arg(long, value_name = "T", requires = "quasi")]
    t_closeness: Option<f64>,
    /// How far apart two sensitive values are, for t-closeness
    #[arg(long, value_name = "DISTANCE", value_parser = choice::<Distance>(), requires = "t_closeness")]
    distance: Option<Distance>,
    /// beta-likeness: by how much more frequent, relatively, a sensitive value may be in a class than in all records
    #[arg(long, value_name = "BETA", requires = "quasi")]
    beta: Option<f64>,
    /// beta-likeness in its basic form: frequent values are not bounded more tightly
    #[arg(long, requires = "beta")]
    basic: bool,
    /// How far beliefs about two records of a class may be apart, in bits, for an adversary with background knowledge
    #[arg(long, value_name = "T", requires = "quasi")]
    background: Option<f64>,
    /// break-merge, anatomy: how likely all sensitive values of a person may be guessed, also if one is known
    #[arg(long, value_name = "P", requires = "quasi")]
    knowledge_breach: Option<f64>,
    /// break-merge, association-hiding: the method that makes the groups
    #[arg(long, value_name = "METHOD", requires = "quasi", value_parser = choice::<tabular::Method>())]
    groups_by: Option<tabular::Method>,
    /// break-merge: the table is anonymous already, records with the same quasi-identifiers are the groups
    #[arg(long, requires = "quasi", conflicts_with = "groups_by")]
    as_is: bool,
    /// association-hiding: from which share on quasi-identifiers disclose a sensitive value
    #[arg(long, value_name = "SHARE", requires = "quasi")]
    confidence: Option<f64>,
    /// association-hiding: in how many records a rule must be seen to count
    #[arg(long, value_name = "N", requires = "quasi")]
    support: Option<u32>,
    /// The suppression limit: the greatest share of records that may be suppressed because they fit into no class
    #[arg(long, value_name = "SHARE", requires = "quasi", alias = "most-removed")]
    suppression_limit: Option<f64>,
    #[command(flatten)]
    pub(crate) knowledge: Background,
    /// The seed of burel; where chance protects (anatomy, noise), with --demonstration only
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
}

/// What an adversary knows of how sensitive values go with quasi-identifiers.
#[derive(clap::Args)]
#[command(next_help_heading = "Background knowledge (tables)")]
pub(crate) struct Background {
    /// How an adversary knows how sensitive values go with quasi-identifiers: kernel, naive-bayes, or a file of shares
    #[arg(long, value_name = "kernel|naive-bayes|FILE")]
    knowledge: Option<String>,
    /// For the kernel: how near records must be to count for each other; small is a strong adversary
    #[arg(long, value_name = "SHARE")]
    bandwidth: Option<f64>,
}

impl Background {
    /// What is known, if something was said.
    pub(crate) fn knowledge(&self) -> Option<Knowledge> {
        if self.knowledge.is_none() && self.bandwidth.is_none() {
            return None;
        }
        let usual = Knowledge::default();
        Some(Knowledge {
            estimator: match self.knowledge.as_deref() {
                None => usual.estimator,
                Some("kernel") => Estimator::Kernel,
                Some("naive-bayes") => Estimator::NaiveBayes,
                Some(file) => Estimator::File(PathBuf::from(file)),
            },
            bandwidth: self.bandwidth.unwrap_or(usual.bandwidth),
            ..usual
        })
    }
}

fn recursive(text: &str) -> std::result::Result<(f64, u32), String> {
    let parts = text.split_once(',').and_then(|(c, l)| Some((c.trim().parse().ok()?, l.trim().parse().ok()?)));
    parts.ok_or_else(|| String::from("expected two numbers, as 3,3"))
}

impl Columns {
    /// Whether the input is to be read as a table.
    pub(crate) fn is_table(&self) -> bool {
        !self.quasi.is_empty()
    }

    /// As a recipe writes it; `sensitive` and `l` are flags of sets as well.
    pub(crate) fn write(&self, written: &mut written::Written, sensitive: Option<&str>, l: Option<u32>) -> Result<()> {
        let list = |text: &str| text.split(',').map(|name| name.trim().to_owned()).filter(|n| !n.is_empty()).collect();
        let hides = self.confidence.is_some() || self.support.is_some();
        let usual = Associations::default();
        written.table = Some(table::Written {
            quasi: self.quasi.clone(),
            sensitive: sensitive.map(list).unwrap_or_default(),
            identifier: self.identifier.clone(),
            insensitive: self.insensitive.clone(),
            set: self.set.clone(),
            numeric: self.numeric.clone(),
            dates: self.dates.clone(),
            date_order: self.date_order,
            decimal: self.decimal,
            prefixes: self.prefixes.clone(),
            words: self.words.clone(),
            publish_as_is: self.publish_as_is.clone(),
            undecided: Vec::new(),
            missing: self.missing.clone(),
            hierarchies: self.hierarchy.iter().map(|text| of_column(text)).collect::<Result<_>>()?,
            groups_by: self.groups_by,
            as_is: self.as_is,
            hide: hides.then(|| Associations {
                confidence: self.confidence.unwrap_or(usual.confidence),
                support: self.support.unwrap_or(usual.support),
            }),
            suppression_limit: self.suppression_limit,
            seed: self.seed,
            demonstration: None,
            criteria: table::Criteria {
                l,
                entropy_l: self.entropy_l,
                recursive: self.recursive_l,
                alpha: self.alpha,
                t: self.t_closeness,
                distance: self.distance,
                beta: self.beta,
                enhanced: self.basic.then_some(false),
                background: self.background,
                knowledge_breach: self.knowledge_breach,
            },
            knowledge: self.knowledge.knowledge(),
            dependencies: None,
        });
        Ok(())
    }

    /// The hierarchy of terms: a file, and nothing said about columns.
    pub(crate) fn hierarchy_of_terms(&self) -> Result<Option<String>> {
        match &self.hierarchy[..] {
            [] => Ok(None),
            [file] => Ok(Some(file.clone())),
            _ => Err(Error::recipe("protect.hierarchy", "terms have one hierarchy", "name one file")),
        }
    }
}

/// Hierarchies of columns, as verbs of releases take them.
pub(crate) fn hierarchies_of_columns(written: &[String]) -> Result<Vec<(String, PathBuf)>> {
    written.iter().map(|text| of_column(text).map(|(column, file)| (column, PathBuf::from(file)))).collect()
}

fn of_column(text: &str) -> Result<(String, String)> {
    let parts = text.split_once('=').filter(|(column, file)| !column.is_empty() && !file.is_empty());
    parts
        .map(|(column, file)| (column.to_owned(), file.to_owned()))
        .ok_or_else(|| Error::recipe("table.hierarchies", "does not say which column it is for", "write COLUMN=FILE"))
}
