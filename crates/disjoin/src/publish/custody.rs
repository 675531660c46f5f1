//! What must not leave the building: custody.json, which says how a release was made, and the map from what was read to what is
//! published. One file for all forms: a head, a body by form.
//!
//! Promises:   a custody folder of another form or of an unknown version is refused; version 1 is read as well
//! Checked by: tests in this file

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::package::Watched;
use super::people::read_parts;
use crate::data::Partition;
use crate::error::{Error, Place, Result};
use crate::read::rows::Declared;
use crate::release::jsonl::write_number;
use crate::release::{Criterion, Form};

/// The `format` of custody.json.
const FORMAT: &str = "disjoin/custody";

/// The version that is written. Version 1 lacks the form of disassociated data, and is read as well.
const VERSION: u64 = 2;

/// Text is handed to the system in blocks of this size.
pub(crate) const BLOCK: usize = 1 << 16;

/// The file that says where each record or row went, and its first line; a noisy release has none.
fn map_of(form: Form) -> Option<(&'static str, &'static str)> {
    match form {
        Form::Disassociated => Some(("leaf_of.csv", "record,cluster")),
        Form::Classes | Form::Split => Some(("class_of.csv", "row,class")),
        Form::Recoded => Some(("line_of.csv", "record,line")),
        Form::Noisy => None,
    }
}

/// How a release was made.
#[derive(Debug, Clone, Serialize)]
pub struct Custody {
    format: &'static str,
    version: u64,
    form: Form,
    made_by: &'static str,
    /// Where randomness started, if it started at a known place.
    seed: Option<u64>,
    /// What was read, with its digest.
    input: Value,
    /// What else is kept of this form.
    #[serde(flatten)]
    body: Value,
}

impl Custody {
    /// Gathers what is to be kept: what was read, and an object with what the form keeps.
    pub fn new(form: Form, seed: Option<u64>, input: &impl Serialize, body: Value) -> Result<Self> {
        let input = serde_json::to_value(input).map_err(|_| Error::Internal("what was read is always JSON"))?;
        let made_by = concat!("disjoin ", env!("CARGO_PKG_VERSION"));
        Ok(Custody { format: FORMAT, version: VERSION, form, made_by, seed, input, body })
    }

    /// What was read.
    pub fn input(&self) -> &Value {
        &self.input
    }

    /// One thing that the form keeps.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.body.get(key)
    }

    /// The text of custody.json.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self).map_err(|_| Error::Internal("custody is always JSON"))?;
        Ok(text + "\n")
    }
}

/// What a custody folder holds that helps to verify, attack and measure the release.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// SHA-256 of what was protected, in hexadecimal.
    pub input_sha256: String,
    /// For each record or row what shows it, numbered from 0: the simple cluster depth first through the release, the class in the
    /// order of the file, or the line; none if it is not published.
    pub map: Vec<Option<u32>>,
    /// What was said about columns, of a table.
    pub declared: Declared,
    /// What every class satisfies, of a table.
    pub criteria: Vec<Criterion>,
    /// If values were recoded by levels of their hierarchies: the level of each quasi-identifier.
    pub levels: Option<Vec<u32>>,
    /// Of a table whose rows of a person stay apart: the part of its class that each row is in.
    pub parts: Option<Vec<Option<u32>>>,
    /// custody.json as it is written.
    pub written: Map<String, Value>,
}

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
    #[serde(default = "disassociated")]
    form: Form,
    input: Input,
    #[serde(default)]
    declared: Declared,
    #[serde(default)]
    parameters: Parameters,
    #[serde(default)]
    levels: Option<Vec<u32>>,
}

fn disassociated() -> Form {
    Form::Disassociated
}

#[derive(Deserialize)]
struct Input {
    sha256: String,
}

#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    criteria: Vec<Criterion>,
}

impl Kept {
    /// Reads the custody folder of a release of this form.
    pub fn read(folder: &Path, form: Form) -> Result<Self> {
        let path = folder.join("custody.json");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let place = Place::file(path.display().to_string());
        let bad = |_| Error::input(place.clone(), "is not a custody file of disjoin");
        let written: Map<String, Value> = serde_json::from_slice(&text).map_err(bad)?;
        let head: Head = serde_json::from_value(Value::Object(written.clone())).map_err(bad)?;
        if head.format != FORMAT || head.form != form {
            return Err(Error::input(place, format!("is not the custody of {}", form.text())));
        }
        if !(1..=VERSION).contains(&head.version) {
            let problem = format!("version {} of the custody is not known here; expected {VERSION}", head.version);
            return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote it"));
        }
        let map = match map_of(form) {
            Some((name, heading)) => read_map(&folder.join(name), heading)?,
            None => Vec::new(),
        };
        if !matches!(form, Form::Classes | Form::Split)
            && let Some((at, _)) = map.iter().enumerate().find(|(_, place)| place.is_none())
        {
            let (name, heading) = map_of(form).unwrap_or_default();
            return Err(bad_line(&folder.join(name), at as u64 + 2, heading));
        }
        let parts = if form == Form::Classes { read_parts(folder)? } else { None };
        let Head { input, declared, parameters, levels, .. } = head;
        Ok(Kept { input_sha256: input.sha256, map, declared, criteria: parameters.criteria, levels, parts, written })
    }

    /// The map where everything went somewhere.
    pub fn full_map(&self) -> Vec<u32> {
        self.map.iter().flatten().copied().collect()
    }

    /// The k of k-anonymity; 1 if none was asked for.
    pub fn k(&self) -> u32 {
        let k = |criterion: &Criterion| if let Criterion::KAnonymity { k } = criterion { *k } else { 1 };
        self.criteria.iter().map(k).max().unwrap_or(1)
    }

    /// Which rows of a table are published together, in the order of its file.
    pub fn partition(&self) -> Partition {
        let n_classes = self.map.iter().flatten().max().map_or(0, |&last| last as usize + 1);
        let mut classes: Vec<Vec<u32>> = vec![Vec::new(); n_classes];
        let mut partition = Partition::default();
        for (class, row) in self.map.iter().zip(0..) {
            match class {
                Some(class) => classes[*class as usize].push(row),
                None => partition.removed.push(row),
            }
        }
        classes.iter().for_each(|rows| partition.push(rows));
        partition.levels.clone_from(&self.levels);
        partition
    }

    /// custody.json with one thing changed.
    pub fn with(mut self, key: &str, value: &impl Serialize) -> Result<String> {
        let internal = |_| Error::Internal("custody is always JSON");
        self.written.insert(key.to_owned(), serde_json::to_value(value).map_err(internal)?);
        Ok(serde_json::to_string_pretty(&self.written).map_err(internal)? + "\n")
    }
}

/// The map after what it leads to was put into another order, in which `places` are the former numbers; none if the map speaks
/// of others.
pub fn renumber(mut map: Vec<u32>, places: &[u32]) -> Option<Vec<u32>> {
    let mut place = vec![None; places.len()];
    for (&before, now) in places.iter().zip(0..) {
        *place.get_mut(before as usize)? = Some(now);
    }
    for leaf in &mut map {
        *leaf = place.get(*leaf as usize).copied().flatten()?;
    }
    Some(map)
}

/// Which file holds the map of a form, and how it is written: a line for each thing that was read, with where it went, both
/// numbered from 1; nothing where it went nowhere.
pub(super) fn map_writer<'a, I>(
    form: Form,
    places: I,
) -> Option<(&'static str, impl FnOnce(&mut Watched<'_>) -> io::Result<()> + Send + 'a)>
where
    I: Iterator<Item = io::Result<Option<u32>>> + Send + 'a,
{
    let (name, heading) = map_of(form)?;
    Some((name, move |file: &mut Watched<'_>| write_map(heading, places, file)))
}

pub(super) fn write_map(
    heading: &str,
    places: impl Iterator<Item = io::Result<Option<u32>>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = Vec::with_capacity(BLOCK + 64);
    text.extend_from_slice(heading.as_bytes());
    text.push(b'\n');
    for (place, number) in places.zip(1_u64..) {
        write_number(number, &mut text);
        text.push(b',');
        if let Some(place) = place? {
            write_number(u64::from(place) + 1, &mut text);
        }
        text.push(b'\n');
        flush_block(&mut text, out)?;
    }
    out.write_all(&text)
}

/// Hands text on once there is enough of it.
pub(crate) fn flush_block(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= BLOCK {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}

fn read_map(path: &PathBuf, heading: &str) -> Result<Vec<Option<u32>>> {
    let text = std::fs::read(path).map_err(|e| Error::io(path, "read", e))?;
    parse_map(&text, path, heading)
}

fn bad_line(path: &Path, line: u64, heading: &str) -> Error {
    let place = Place::line(path.display().to_string(), line);
    Error::input(place, format!("expected the lines of \"{heading}\", in order"))
}

pub(super) fn parse_map(text: &[u8], path: &Path, heading: &str) -> Result<Vec<Option<u32>>> {
    let bad = |line| bad_line(path, line, heading);
    let mut lines = std::str::from_utf8(text).map_err(|_| bad(1))?.lines();
    if lines.next() != Some(heading) {
        return Err(bad(1));
    }
    let parse = |(line, number): (&str, u64)| {
        let (first, place) = line.split_once(',').ok_or_else(|| bad(number + 1))?;
        let place = match place {
            "" => Some(None),
            place => place.parse::<u32>().ok().and_then(|place| place.checked_sub(1)).map(Some),
        };
        place.filter(|_| first.parse() == Ok(number)).ok_or_else(|| bad(number + 1))
    };
    lines.zip(1_u64..).map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "row,class";

    #[test]
    fn the_map_is_read_back() {
        let written = |places: &[Option<u32>]| {
            let mut text = Vec::new();
            write_map(HEADING, places.iter().map(|&place| Ok(place)), &mut text).unwrap();
            text
        };
        assert_eq!(written(&[Some(0), None, Some(12)]), b"row,class\n1,1\n2,\n3,13\n");
        let long: Vec<Option<u32>> = (0..100_000).map(|row| Some(row * 7919 % 30_011).filter(|c| c % 7 > 0)).collect();
        assert_eq!(parse_map(&written(&long), Path::new("x"), HEADING).unwrap(), long);
    }

    #[test]
    fn a_bad_map_is_refused_with_its_line() {
        for (text, line) in [("", 1), ("a,b\n", 1), ("row,class\n1,1\n3,1\n", 3), ("row,class\n1,0\n", 2)] {
            let error = parse_map(text.as_bytes(), Path::new("x"), HEADING).unwrap_err().to_string();
            assert!(error.starts_with(&format!("x:{line}:")), "{error}");
        }
    }

    #[test]
    fn custody_of_another_form_is_refused_and_version_1_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        // As version 1 wrote it: without a form.
        write("custody.json", r#"{"format":"disjoin/custody","version":1,"input":{"sha256":"ab"}}"#);
        write("leaf_of.csv", "record,cluster\n1,2\n2,1\n");
        let kept = Kept::read(folder.path(), Form::Disassociated).unwrap();
        assert_eq!((kept.input_sha256.as_str(), kept.full_map()), ("ab", vec![1, 0]));
        let error = Kept::read(folder.path(), Form::Recoded).unwrap_err().to_string();
        assert!(error.contains("is not the custody of recoded transactions"), "{error}");
        // Where everything went somewhere, nothing is not a place.
        write("leaf_of.csv", "record,cluster\n1,2\n2,\n");
        assert!(Kept::read(folder.path(), Form::Disassociated).unwrap_err().to_string().contains("leaf_of.csv:3"));
    }

    #[test]
    fn the_map_follows_its_clusters() {
        // What was cluster 2 stands first now.
        assert_eq!(renumber(vec![0, 1, 2, 2], &[2, 0, 1]), Some(vec![1, 2, 0, 0]));
        assert_eq!(renumber(vec![0, 3], &[2, 0, 1]), None);
    }
}
