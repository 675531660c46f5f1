//! What all custody folders have in common: a head that says whose they are, and a map from what was read to what is published.

use std::io::{self, Write};
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Place, Result};
use crate::release::jsonl::write_number;

/// The `format` of custody.json.
pub(super) const FORMAT: &str = "disjoin/custody";

/// The version that is written, and the only one that is read.
pub(super) const VERSION: u64 = 1;

/// Text is handed to the system in blocks of this size.
pub(super) const BLOCK: usize = 1 << 16;

/// What was read, as far as it is needed again.
#[derive(Deserialize)]
pub(super) struct Input {
    pub(super) sha256: String,
}

/// Reads custody.json of one of these forms, or of none in particular; `what` it is called otherwise.
pub(super) fn read_json<T: DeserializeOwned>(folder: &Path, forms: Option<&[&str]>, what: &str) -> Result<T> {
    #[derive(Deserialize)]
    struct Head {
        format: String,
        version: u64,
        #[serde(default)]
        form: String,
    }
    let path = folder.join("custody.json");
    let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
    let place = Place::file(path.display().to_string());
    let bad = |_| Error::input(place.clone(), "is not a custody file of disjoin");
    let head: Head = serde_json::from_slice(&text).map_err(bad)?;
    if head.format != FORMAT || forms.is_some_and(|forms| !forms.contains(&head.form.as_str())) {
        return Err(Error::input(place, format!("is not the custody of {what}")));
    }
    if head.version != VERSION {
        let problem = format!("version {} of the custody is not known here; expected {VERSION}", head.version);
        return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote it"));
    }
    serde_json::from_slice(&text).map_err(bad)
}

/// Writes a line for each thing that was read, with where it went, both numbered from 1; nothing where it went nowhere.
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
pub(super) fn flush_block(text: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    if text.len() >= BLOCK {
        out.write_all(text)?;
        text.clear();
    }
    Ok(())
}

/// Reads such a file of a custody folder.
pub(super) fn read_map(folder: &Path, name: &str, heading: &str) -> Result<Vec<Option<u32>>> {
    let path = folder.join(name);
    let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
    parse_map(&text, &path.display().to_string(), heading)
}

/// The same where everything went somewhere.
pub(super) fn read_full_map(folder: &Path, name: &str, heading: &str) -> Result<Vec<u32>> {
    full(read_map(folder, name, heading)?, &folder.join(name).display().to_string(), heading)
}

fn full(places: Vec<Option<u32>>, name: &str, heading: &str) -> Result<Vec<u32>> {
    places.into_iter().zip(2..).map(|(place, line)| place.ok_or_else(|| bad_line(name, line, heading))).collect()
}

fn bad_line(name: &str, line: u64, heading: &str) -> Error {
    Error::input(Place::line(name, line), format!("expected the lines of \"{heading}\", in order"))
}

fn parse_map(text: &[u8], name: &str, heading: &str) -> Result<Vec<Option<u32>>> {
    let bad = |line| bad_line(name, line, heading);
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
        assert_eq!(parse_map(&written(&long), "x", HEADING).unwrap(), long);
    }

    #[test]
    fn a_bad_map_is_refused_with_its_line() {
        for (text, line) in [("", 1), ("a,b\n", 1), ("row,class\n1,1\n3,1\n", 3), ("row,class\n1,0\n", 2)] {
            let error = parse_map(text.as_bytes(), "x", HEADING).unwrap_err().to_string();
            assert!(error.starts_with(&format!("x:{line}:")), "{error}");
        }
        // Where everything went somewhere, nothing is not a place.
        let error = full(vec![Some(3), None], "x", HEADING).unwrap_err().to_string();
        assert!(error.starts_with("x:3:"), "{error}");
    }
}
