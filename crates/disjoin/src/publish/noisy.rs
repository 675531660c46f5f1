//! The package of a noisy release: what leaves, and what is kept.
//!
//! Promises:   release/ holds claim.json, data.jsonl and, if the items are listed, universe.txt. custody/ holds what was read, and
//!             the seed of a demonstration. Runs add reports to both
//! Checked by: `crates/disjoin-cli/tests/it/noise.rs`

use std::io::Write;

use serde::Serialize;

use super::destination::{Destination, Part, Staging};
use super::kept::{FORMAT, VERSION};
use super::package::{Page, write_bytes};
use crate::data::Dictionary;
use crate::error::{Error, Result};
use crate::read::Intake;
use crate::release::noisy::{DATA, FORM, NoiseParameters, Noisy, NoisyClaim, UNIVERSE, Universe};

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct NoisyPackage<'a> {
    /// What is promised.
    pub claim: &'a NoisyClaim,
    /// The data that may leave.
    pub release: &'a Noisy,
    /// All items there are; published if they are listed.
    pub items: &'a Dictionary,
    /// What was read.
    pub input: &'a Intake,
    /// Where noise started, in a demonstration.
    pub seed: Option<u64>,
    /// Reports about it.
    pub pages: &'a [Page],
}

/// How a noisy release was made: custody.json.
#[derive(Serialize)]
struct NoisyCustody<'a> {
    format: &'static str,
    version: u64,
    form: &'static str,
    made_by: &'a str,
    seed: Option<u64>,
    input: &'a Intake,
    method: &'a str,
    parameters: &'a NoiseParameters,
}

impl NoisyPackage<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        if self.claim.demonstration != self.seed.is_some() {
            return Err(Error::Internal("a claim does not tell whether its noise came from a seed"));
        }
        destination.publish(|staging| self.write(staging))
    }

    fn write(&self, staging: &Staging) -> Result<()> {
        let place = staging.place(Part::Release, DATA);
        staging
            .write(Part::Release, DATA, |file| self.release.write(file).map_err(|e| Error::io(&place, "write", e)))?;
        write_bytes(staging, Part::Release, "claim.json", self.claim.to_json()?.as_bytes())?;
        if self.claim.universe == Universe::Listed {
            let mut text = Vec::new();
            for item in self.items.iter() {
                writeln!(text, "{item}").map_err(|e| Error::io(&place, "write", e))?;
            }
            write_bytes(staging, Part::Release, UNIVERSE, &text)?;
        }
        let NoisyClaim { made_by, method, parameters, .. } = self.claim;
        let (seed, input) = (self.seed, self.input);
        let custody =
            NoisyCustody { format: FORMAT, version: VERSION, form: FORM, made_by, seed, input, method, parameters };
        let mut text = serde_json::to_string_pretty(&custody).map_err(|_| Error::Internal("custody is always JSON"))?;
        text.push('\n');
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        write_bytes(staging, Part::Custody, "custody.json", text.as_bytes())
    }
}
