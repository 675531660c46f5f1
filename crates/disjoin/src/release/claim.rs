//! What a release promises, against whom, and with which parameters: the file claim.json.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disassociated::Header;
use crate::error::{Error, Place, Result};

/// The `format` of claim.json.
pub const FORMAT: &str = "disjoin/claim";

/// The version of claim.json that this crate writes, and the only one that it reads.
pub const VERSION: u64 = 1;

/// The form of the data that a [`Claim`] speaks of.
pub const FORM: &str = "disassociated";

/// A reading of the guarantee: which possible originals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// Nothing is promised: made for experiments.
    None,
    /// Possible originals are all datasets that agree with what is published (reading I0).
    Published,
    /// Of these, only datasets whose clusters vertical partitioning cuts into the record chunks that are published
    /// (reading I1).
    AlgorithmAware,
}

impl Promise {
    /// The promise in plain words.
    pub fn text(self, k: u32, m: u32) -> String {
        match self {
            Promise::None => "Nothing. This release was made for experiments and must not be published.".into(),
            Promise::Published => format!(
                "For every set of at most {m} terms that a person's record holds, there is a possible original \
                 dataset, consistent with everything published here, in which at least {k} records hold the set."
            ),
            Promise::AlgorithmAware => format!(
                "For every set of at most {m} terms that a person's record holds, there is a possible original \
                 dataset, consistent with everything published here, in which at least {k} records hold the set; if \
                 the set is of terms of record chunks of one cluster, also one that the algorithm cuts into these \
                 chunks."
            ),
        }
    }

    /// Against whom, in plain words.
    pub fn adversary(self, m: u32) -> String {
        match self {
            Promise::None => "nobody".into(),
            Promise::Published => format!(
                "Someone who knows at most {m} terms of a person's record, no term that the record lacks, and who \
                 reads what is published without also reckoning back through the algorithm that made it."
            ),
            Promise::AlgorithmAware => format!(
                "Someone who knows at most {m} terms of a person's record, no term that the record lacks, and how the \
                 records of a cluster are cut into chunks; who does not also reckon back through how records were \
                 grouped, how clusters came to share chunks, and how rare terms of term chunks are."
            ),
        }
    }
}

/// The claim that travels with a release. Unknown fields are ignored on reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Always [`FORMAT`].
    pub format: String,
    /// Always [`VERSION`].
    pub version: u64,
    /// The form of the data: `disassociated`.
    pub form: String,
    /// The method that made it.
    pub method: String,
    /// The program that made it, with its version.
    pub made_by: String,
    /// The parameters of the method.
    pub parameters: Parameters,
    /// Which reading of the guarantee is promised.
    pub promise: Promise,
    /// The promise in plain words.
    pub promised: String,
    /// Against whom, in plain words.
    pub adversary: String,
    /// The number of records of the original.
    pub records: u64,
}

/// The parameters of disassociation, as published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// The size of the crowd.
    pub k: u32,
    /// The number of terms the adversary may know.
    pub m: u32,
    /// The cluster size that grouping aimed at.
    pub max_cluster: u32,
    /// Whether clusters may share chunks.
    pub refine: bool,
    /// How clusters were cut into chunks.
    #[serde(default)]
    pub cut: CutRule,
    /// Sensitive terms and how they are protected, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
}

impl Parameters {
    /// In how many records of a cluster a sensitive term may be, by what is claimed.
    pub fn most_of_sensitive(&self, size: u32) -> u32 {
        match &self.sensitive {
            // |P| >= l s(t, P)
            Some(Sensitive { l: Some(l), rule, .. }) if rule.as_deref() != Some("size") => size / (*l).max(1),
            _ => size,
        }
    }
}

/// Which chunks a term was offered to when its cluster was cut. Everybody may know it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutRule {
    /// To every chunk, until one let it in: the paper's rule. Whoever knows it knows what was refused.
    #[default]
    Greedy,
    /// To the first chunk that was likely to let it in, by what is published: see `reconstruct/aware/weighed.rs`.
    Weighed,
}

/// What is promised about sensitive terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitive {
    /// The terms, sorted. They stand in term chunks only.
    pub terms: Vec<String>,
    /// If l-diversity is promised: nobody is linked to a sensitive term with a probability above 1/l.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<u32>,
    /// How l was enforced: `multiplicity` or `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl Claim {
    /// The claim of a disassociated release.
    pub fn disassociation(parameters: Parameters, promise: Promise, records: u64) -> Self {
        Claim {
            format: FORMAT.into(),
            version: VERSION,
            form: FORM.into(),
            method: "disassociation".into(),
            made_by: concat!("disjoin ", env!("CARGO_PKG_VERSION")).into(),
            promised: promise.text(parameters.k, parameters.m),
            adversary: promise.adversary(parameters.m),
            parameters,
            promise,
            records,
        }
    }

    /// Reads claim.json.
    pub fn read(path: &Path) -> Result<Self> {
        read_form(path, FORM)
    }

    /// The text of claim.json.
    pub fn to_json(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self).map_err(|_| Error::Internal("a claim is always JSON"))?;
        text.push('\n');
        Ok(text)
    }

    /// Refuses a claim that speaks about other data than the header of the data does.
    pub fn check_header(&self, header: &Header, file: &str) -> Result<()> {
        let agree = [
            (u64::from(self.parameters.k), u64::from(header.k), "k"),
            (u64::from(self.parameters.m), u64::from(header.m), "m"),
            (self.records, header.records, "the number of records"),
        ];
        match agree.iter().find(|(claimed, written, _)| claimed != written) {
            Some((claimed, written, what)) => Err(Error::input(
                Place::file(file),
                format!("{what} is {written} in the data, but {claimed} in the claim"),
            )
            .with_hint("claim.json and the data do not belong together")),
            None => Ok(()),
        }
    }
}

/// Reads the claim of data in one form.
pub(super) fn read_form<C: DeserializeOwned>(path: &Path, form: &str) -> Result<C> {
    let (text, found) = read_head(path)?;
    if found != form {
        let problem = format!("is the claim of a release in the form {found:?}, where {form:?} was expected");
        return Err(Error::input(Place::file(path.display().to_string()), problem));
    }
    serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))
}

/// Reads a claim as far as all claims are alike: its text, and the form of its data.
pub(super) fn read_head(path: &Path) -> Result<(Vec<u8>, String)> {
    /// Looked at first, so that a future version is refused for its version and not for a missing field.
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u64,
        #[serde(default)]
        form: String,
    }
    let text = std::fs::read(path).map_err(|e| Error::io(path, "read the claim", e))?;
    let place = Place::file(path.display().to_string());
    let head: Head = serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))?;
    if head.format != FORMAT {
        return Err(Error::input(place, format!("the format is not \"{FORMAT}\"")));
    }
    if head.version != VERSION {
        let problem = format!("version {} of the claim is not known here; expected {VERSION}", head.version);
        return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote the release"));
    }
    Ok((text, head.form))
}

fn not_a_claim(path: &Path, error: &serde_json::Error) -> Error {
    let place = Place::line(path.display().to_string(), error.line() as u64);
    Error::input(place, format!("not a claim: {}", super::jsonl::describe(error)))
}
