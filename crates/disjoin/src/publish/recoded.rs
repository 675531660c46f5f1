//! The package of recoded transactions: what leaves, and what is kept to be able to check it.
//!
//! Promises:   release/ holds claim.json and transactions.jsonl, and tells nothing about the order of the input. custody/ holds how
//!             it was made (custody.json) and which line shows each record (line_of.csv)
//! Checked by: `tests/it/recoded.rs`

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::destination::{Destination, Part, Staging};
use super::kept::{FORMAT, Input, VERSION, read_full_map, read_json, write_map};
use super::package::{Page, write_bytes};
use super::table::write_with;
use crate::error::{Error, Result};
use crate::read::Intake;
use crate::recipe::recoding::Recoding;
use crate::release::recoded::{FORM, Recoded, RecodedClaim, TRANSACTIONS, write_recoded};
use crate::repair::Regrouped;

/// The first line of line_of.csv.
const HEADING: &str = "record,line";

/// How recoded transactions were made: custody.json.
#[derive(Debug, Clone, Serialize)]
pub struct RecodedCustody {
    format: &'static str,
    version: u64,
    form: &'static str,
    /// The program that made the package, with its version.
    pub made_by: String,
    /// Where randomness started, if the method used any: none does.
    pub seed: Option<u64>,
    /// What was read, with its digest.
    pub input: Intake,
    /// What was asked for.
    pub parameters: Recoding,
    /// What happened on the way.
    pub stats: serde_json::Value,
    /// Terms that are not published. They must not be known outside.
    pub suppressed: Vec<String>,
    /// How long it took.
    pub seconds: f64,
}

impl RecodedCustody {
    /// Gathers what is to be kept.
    pub fn new(
        made_by: &str,
        input: Intake,
        parameters: &Recoding,
        stats: serde_json::Value,
        suppressed: Vec<String>,
        seconds: f64,
    ) -> Self {
        RecodedCustody {
            format: FORMAT,
            version: VERSION,
            form: FORM,
            made_by: made_by.to_owned(),
            seed: None,
            input,
            parameters: parameters.clone(),
            stats,
            suppressed,
            seconds,
        }
    }
}

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct RecodedPackage<'a> {
    /// What is promised.
    pub claim: &'a RecodedClaim,
    /// The records.
    pub release: &'a Recoded,
    /// How they were made.
    pub custody: &'a RecodedCustody,
    /// For each record of the original the line that shows it.
    pub line_of: &'a [u32],
    /// Reports about it.
    pub pages: &'a [Page],
}

impl RecodedPackage<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        if self.claim.records != self.release.n_records() {
            return Err(Error::Internal("a claim speaks of other transactions than those that are published"));
        }
        destination.publish(|staging| {
            let (data, custody) =
                rayon::join(|| write_release(staging, self.claim, self.release), || self.write_custody(staging));
            data.and(custody)
        })
    }

    fn write_custody(&self, staging: &Staging) -> Result<()> {
        let text = serde_json::to_string_pretty(self.custody).map_err(|_| Error::Internal("custody is always JSON"))?;
        write_bytes(staging, Part::Custody, "custody.json", (text + "\n").as_bytes())?;
        write_lines(staging, self.line_of)?;
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        Ok(())
    }
}

/// Writes the package of a release whose groups were changed. `from` is the custody of the former one, if it was kept: it goes
/// on, with what happened and where each record is now; its reports speak of the groups as they were and are left behind.
pub fn publish_regrouped(destination: &Destination, mended: &Regrouped, from: Option<&Path>) -> Result<()> {
    let internal = |_| Error::Internal("custody is always JSON");
    let custody = match from {
        Some(folder) => {
            KeptRecoded::read(folder)?;
            let path = folder.join("custody.json");
            let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
            let mut written: serde_json::Map<String, serde_json::Value> =
                serde_json::from_slice(&text).map_err(internal)?;
            written.insert("repaired".into(), serde_json::to_value(&mended.stats).map_err(internal)?);
            Some(serde_json::to_string_pretty(&written).map_err(internal)? + "\n")
        }
        None => None,
    };
    destination.publish(|staging| {
        write_release(staging, &mended.claim, &mended.release)?;
        custody.as_ref().map_or(Ok(()), |custody| {
            write_bytes(staging, Part::Custody, "custody.json", custody.as_bytes())?;
            write_lines(staging, &mended.line_of)
        })
    })
}

fn write_release(staging: &Staging, claim: &RecodedClaim, release: &Recoded) -> Result<()> {
    write_with(staging, Part::Release, TRANSACTIONS, |file| write_recoded(release, file))?;
    write_bytes(staging, Part::Release, "claim.json", claim.to_json()?.as_bytes())
}

fn write_lines(staging: &Staging, line_of: &[u32]) -> Result<()> {
    let places = line_of.iter().map(|&line| Ok(Some(line)));
    write_with(staging, Part::Custody, "line_of.csv", |file| write_map(HEADING, places, file))
}

/// What a custody folder holds that helps to verify and to measure the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecoded {
    /// SHA-256 of the file that was protected, in hexadecimal.
    pub input_sha256: String,
    /// For each record the line that shows it, counted from 0.
    pub line_of: Vec<u32>,
}

impl KeptRecoded {
    /// Reads a custody folder.
    pub fn read(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            input: Input,
        }
        let written: Written = read_json(folder, Some(&[FORM]), "recoded transactions")?;
        let line_of = read_full_map(folder, "line_of.csv", HEADING)?;
        Ok(KeptRecoded { input_sha256: written.input.sha256, line_of })
    }
}
