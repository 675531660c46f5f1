//! What must not leave the building: custody.json and the map from records to clusters.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::kept::{FORMAT, Input, VERSION, read_full_map, read_json, write_map};
use crate::error::{Error, Result};
use crate::protect::disassociation::Stats;
use crate::read::Intake;
use crate::release::Promise;
use crate::release::claim::Parameters;

/// The first line of leaf_of.csv.
const HEADING: &str = "record,cluster";

/// How the release was made: custody.json.
#[derive(Debug, Clone, Serialize)]
pub struct Custody {
    format: &'static str,
    version: u64,
    /// The program that made the package, with its version.
    pub made_by: String,
    /// Where randomness started, if the method used any.
    pub seed: Option<u64>,
    /// What was read, with its digest.
    pub input: Intake,
    /// The parameters of the method.
    pub parameters: Parameters,
    /// Which reading of the guarantee the release promises.
    pub promise: Promise,
    /// What happened on the way.
    pub stats: Stats,
}

impl Custody {
    /// Gathers what is to be kept.
    pub fn new(made_by: &str, input: Intake, parameters: Parameters, promise: Promise, stats: Stats) -> Self {
        let made_by = made_by.to_owned();
        Custody { format: FORMAT, version: VERSION, made_by, seed: None, input, parameters, promise, stats }
    }

    pub(super) fn to_json(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self).map_err(|_| Error::Internal("custody is always JSON"))?;
        text.push('\n');
        Ok(text)
    }
}

/// What a custody folder holds that helps to verify the release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// SHA-256 of the file that was protected, in hexadecimal.
    pub input_sha256: String,
    /// For each record the simple cluster it went to, numbered from 0 depth first through the release.
    pub leaf_of: Vec<u32>,
}

impl Kept {
    /// Reads a custody folder.
    pub fn read(folder: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            input: Input,
        }
        let written: Written = read_json(folder, None, "a release")?;
        let leaf_of = read_full_map(folder, "leaf_of.csv", HEADING)?;
        Ok(Kept { input_sha256: written.input.sha256, leaf_of })
    }
}

/// The map after the simple clusters were put into another order, in which `leaves` are their former numbers; none if the
/// map speaks of others.
pub fn renumber(mut leaf_of: Vec<u32>, leaves: &[u32]) -> Option<Vec<u32>> {
    let mut place = vec![None; leaves.len()];
    for (&before, now) in leaves.iter().zip(0..) {
        *place.get_mut(before as usize)? = Some(now);
    }
    for leaf in &mut leaf_of {
        *leaf = place.get(*leaf as usize).copied().flatten()?;
    }
    Some(leaf_of)
}

/// The text of custody.json with another promise; everything else is told as it was.
pub(super) fn change_promise(text: &[u8], promise: Promise) -> Result<String> {
    let internal = |_| Error::Internal("custody is always JSON");
    let mut written: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(text).map_err(internal)?;
    written.insert("promise".into(), serde_json::to_value(promise).map_err(internal)?);
    let mut text = serde_json::to_string_pretty(&written).map_err(internal)?;
    text.push('\n');
    Ok(text)
}

/// Writes a line `record,cluster` for each record, both numbered from 1.
pub(super) fn write_leaf_of(leaf_of: &[u32], out: &mut impl Write) -> std::io::Result<()> {
    write_map(HEADING, leaf_of.iter().map(|&leaf| Ok(Some(leaf))), out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_follows_its_clusters() {
        // What was cluster 2 stands first now.
        assert_eq!(renumber(vec![0, 1, 2, 2], &[2, 0, 1]), Some(vec![1, 2, 0, 0]));
        assert_eq!(renumber(vec![0, 3], &[2, 0, 1]), None);
    }
}
