//! What must not leave the building: custody.json and the map from records to clusters.

use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::protect::disassociation::Stats;
use crate::read::Intake;
use crate::release::Promise;
use crate::release::claim::Parameters;
use crate::release::jsonl::write_number;

const FORMAT: &str = "disjoin/custody";
const VERSION: u64 = 1;

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
        struct Head {
            format: String,
            version: u64,
        }
        #[derive(Deserialize)]
        struct Written {
            input: Input,
        }
        #[derive(Deserialize)]
        struct Input {
            sha256: String,
        }
        let path = folder.join("custody.json");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let place = Place::file(path.display().to_string());
        let bad = |_| Error::input(place.clone(), "is not a custody file of disjoin");
        let head: Head = serde_json::from_slice(&text).map_err(bad)?;
        if head.format != FORMAT {
            return Err(Error::input(place, format!("the format is not \"{FORMAT}\"")));
        }
        if head.version != VERSION {
            let problem = format!("version {} of the custody is not known here; expected {VERSION}", head.version);
            return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote it"));
        }
        let written: Written = serde_json::from_slice(&text).map_err(bad)?;
        let path = folder.join("leaf_of.csv");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let leaf_of = parse_leaf_of(&text, &path.display().to_string())?;
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
    const BLOCK: usize = 1 << 16;
    let mut text = Vec::with_capacity(BLOCK + 64);
    text.extend_from_slice(HEADING.as_bytes());
    text.push(b'\n');
    for (&leaf, record) in leaf_of.iter().zip(1_u64..) {
        write_number(record, &mut text);
        text.push(b',');
        write_number(u64::from(leaf) + 1, &mut text);
        text.push(b'\n');
        if text.len() >= BLOCK {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)
}

fn parse_leaf_of(text: &[u8], name: &str) -> Result<Vec<u32>> {
    let bad = |line| Error::input(Place::line(name, line), format!("expected the lines of \"{HEADING}\", in order"));
    let mut lines = std::str::from_utf8(text).map_err(|_| bad(1))?.lines();
    if lines.next() != Some(HEADING) {
        return Err(bad(1));
    }
    let mut leaf_of = Vec::new();
    for (line, number) in lines.zip(1_u64..) {
        let cluster = line
            .split_once(',')
            .filter(|(record, _)| record.parse() == Ok(number))
            .and_then(|(_, cluster)| cluster.parse::<u32>().ok()?.checked_sub(1));
        leaf_of.push(cluster.ok_or_else(|| bad(number + 1))?);
    }
    Ok(leaf_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_is_read_back() {
        let mut text = Vec::new();
        write_leaf_of(&[0, 7, 12], &mut text).unwrap();
        assert_eq!(text, b"record,cluster\n1,1\n2,8\n3,13\n");
        let long: Vec<u32> = (0..100_000).map(|record| record * 7919 % 30_011).collect();
        let mut text = Vec::new();
        write_leaf_of(&long, &mut text).unwrap();
        assert_eq!(parse_leaf_of(&text, "x").unwrap(), long);
    }

    #[test]
    fn the_map_follows_its_clusters() {
        // What was cluster 2 stands first now.
        assert_eq!(renumber(vec![0, 1, 2, 2], &[2, 0, 1]), Some(vec![1, 2, 0, 0]));
        assert_eq!(renumber(vec![0, 3], &[2, 0, 1]), None);
    }

    #[test]
    fn a_bad_map_is_refused_with_its_line() {
        for (text, line) in [("", 1), ("a,b\n", 1), ("record,cluster\n1,1\n3,1\n", 3), ("record,cluster\n1,0\n", 2)] {
            let error = parse_leaf_of(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(error.starts_with(&format!("x:{line}:")), "{error}");
        }
    }
}
