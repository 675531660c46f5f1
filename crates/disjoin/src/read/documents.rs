//! Documents for a corpus: entries of dictionaries, glosses of WordNet, paragraphs of text files, cells of a column.
//!
//! A file is known by its name: `x.index` with `x.dict` or `x.dict.dz` beside it is a dictionary of the DICT protocol,
//! `data.noun` and its like are WordNet's, `.csv` and `.tsv` are tables, and all others text. A folder stands for the
//! files in it. Each entry, synset, paragraph or cell is one document.
//!
//! Checked by: tests in this file, tests/it/relatedness.rs

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::{decompress, text};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};

/// WordNet's files of synsets.
const WORDNET: [&str; 4] = ["data.noun", "data.verb", "data.adj", "data.adv"];

/// Hands every document of a file or folder to `take`, in the order of names; returns how many there were.
///
/// `column` is the column of a table that holds text.
pub fn documents(path: &Path, column: Option<&str>, take: &mut dyn FnMut(&str)) -> Result<u64> {
    if path.is_dir() {
        let mut n = 0;
        for file in files(path)? {
            n += documents(&file, column, take)?;
        }
        return Ok(n);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let shown = path.display().to_string();
    let bytes = load(path)?;
    let mut n = 0;
    let mut count = |document: &str| {
        n += 1;
        take(document);
    };
    match name.rsplit('.').next().unwrap_or_default().to_ascii_lowercase().as_str() {
        "index" => dictionary(&shown, path, &bytes, &mut count)?,
        _ if WORDNET.contains(&name.as_str()) => glosses(&shown, &bytes, &mut count)?,
        "csv" | "tsv" => cells(&shown, &bytes, name.ends_with("tsv"), column, &mut count)?,
        _ => paragraphs(text::validate(&shown, &bytes)?, &mut count),
    }
    Ok(n)
}

/// The files of a folder that hold documents, by name, folders within it included.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let list = std::fs::read_dir(folder).map_err(|source| Error::io(folder, "list", source))?;
    for entry in list {
        let path = entry.map_err(|source| Error::io(folder, "list", source))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_known = ["txt", "md", "index", "csv", "tsv"].iter().any(|end| name.ends_with(&format!(".{end}")));
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if (is_known && !name.starts_with("index.")) || WORDNET.contains(&name.as_str()) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn load(path: &Path) -> Result<Vec<u8>> {
    let bytes = read_file(path, "read", Memory::default())?;
    Ok(decompress(&path.display().to_string(), &bytes, &crate::observer::Unobserved)?.into_owned())
}

/// Entries of a dictionary: the index has a headword, an offset and a length a line, in digits of base 64.
fn dictionary(name: &str, path: &Path, index: &[u8], take: &mut dyn FnMut(&str)) -> Result<()> {
    let packed = path.with_extension("dict.dz");
    let body = load(&if packed.exists() { packed } else { path.with_extension("dict") })?;
    let index = text::validate(name, index)?;
    let mut seen = HashSet::new();
    for (number, line) in (1..).zip(index.lines()) {
        let wrong = || Error::input(Place::line(name, number), "is not a line of a dictionary's index");
        let mut fields = line.split('\t');
        let (Some(headword), Some(offset), Some(length)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(wrong());
        };
        if headword.starts_with("00-database") || headword.starts_with("00database") {
            continue;
        }
        let (offset, length) = (base_64(offset).ok_or_else(wrong)?, base_64(length).ok_or_else(wrong)?);
        let entry = offset.checked_add(length).and_then(|end| body.get(offset..end)).ok_or_else(|| {
            Error::input(Place::line(name, number), "points behind the end of the dictionary")
                .with_hint("the .index and .dict.dz files must be of the same dictionary")
        })?;
        // Several headwords may lead to one entry.
        if seen.insert((offset, length)) {
            take(&String::from_utf8_lossy(entry));
        }
    }
    Ok(())
}

fn base_64(digits: &str) -> Option<usize> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    digits.bytes().try_fold(0_usize, |sum, byte| sum.checked_mul(64)?.checked_add(value(byte)?.into()))
}

/// Synsets of WordNet: their words and what they mean.
fn glosses(name: &str, bytes: &[u8], take: &mut dyn FnMut(&str)) -> Result<()> {
    for (number, line) in (1..).zip(text::validate(name, bytes)?.lines()) {
        if line.starts_with("  ") {
            continue;
        }
        let wrong = || Error::input(Place::line(name, number), "is not a line of WordNet's data");
        let (head, gloss) = line.split_once('|').ok_or_else(wrong)?;
        let fields: Vec<&str> = head.split_ascii_whitespace().collect();
        let n_words = fields.get(3).and_then(|count| usize::from_str_radix(count, 16).ok()).ok_or_else(wrong)?;
        let words: Vec<String> =
            fields.iter().skip(4).step_by(2).take(n_words).map(|word| word.replace('_', " ")).collect();
        take(&format!("{}. {gloss}", words.join(", ")));
    }
    Ok(())
}

/// Cells of one column.
fn cells(name: &str, bytes: &[u8], is_tab: bool, column: Option<&str>, take: &mut dyn FnMut(&str)) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(if is_tab { b'\t' } else { b',' })
        .flexible(true)
        .from_reader(text::validate(name, bytes)?.as_bytes());
    let header = reader.headers().map_err(|_| Error::input(Place::line(name, 1), "is not the header of a table"))?;
    let missing = || {
        let columns = header.iter().collect::<Vec<_>>().join(", ");
        Error::recipe("--column", "must name the column of a table that holds text", format!("one of {columns}"))
    };
    let at = column.and_then(|column| header.iter().position(|name| name == column)).ok_or_else(missing)?;
    for row in reader.records() {
        let row = row.map_err(|error| {
            let line = error.position().map_or(0, csv::Position::line);
            Error::input(Place::line(name, line), "is not a row of the table")
        })?;
        if let Some(cell) = row.get(at) {
            take(cell);
        }
    }
    Ok(())
}

/// Paragraphs: what stands between empty lines.
fn paragraphs(text: &str, take: &mut dyn FnMut(&str)) {
    let mut start = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            if !text[start..at].trim().is_empty() {
                take(&text[start..at]);
            }
            start = at + line.len();
        }
        at += line.len();
    }
    if !text[start..].trim().is_empty() {
        take(&text[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(path: &Path, column: Option<&str>) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let n = documents(path, column, &mut |document| found.push(document.trim().to_owned()))?;
        assert_eq!(n as usize, found.len());
        Ok(found)
    }

    #[test]
    fn every_kind_of_file_gives_documents() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        assert_eq!(all(&write("a.txt", "\none\ntwo\n\n \nthree"), None).unwrap(), ["one\ntwo", "three"]);
        assert_eq!(all(&write("b.csv", "id,text\n1,\"x, y\"\n2,z\n"), Some("text")).unwrap(), ["x, y", "z"]);
        // Offsets 0, 4 and 4 again; lengths 4 and 3.
        write("c.dict", "knotcat");
        let index = write("c.index", "00-database-info\tA\tE\nknot\tA\tE\ncat\tE\tD\nfeline\tE\tD\n");
        assert_eq!(all(&index, None).unwrap(), ["knot", "cat"]);
        let line = "00001740 03 n 02 blood_pressure 0 bp 0 001 ~ 00001930 n 0000 | the pressure of blood  \n";
        let wordnet = write("data.noun", &format!("  1 licence\n{line}"));
        assert_eq!(all(&wordnet, None).unwrap(), ["blood pressure, bp.  the pressure of blood"]);
        assert_eq!(all(folder.path(), Some("text")).unwrap().len(), 2 + 2 + 2 + 1);
    }

    #[test]
    fn wrong_files_are_refused_where_they_are_wrong() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, column, problem) in [
            ("a.csv", "id,text\n1,x\n", None, "--column"),
            ("a.csv", "id,text\n1,x\n", Some("none"), "--column"),
            ("data.verb", "nonsense\n", None, "data.verb:1"),
            ("d.index", "word\tA\n", None, "d.index:1"),
            ("d.index", "word\tA\t!\n", None, "d.index:1"),
            ("d.index", "word\tA\t/\n", None, "behind the end"),
            ("e.index", "word\tA\t/\n", None, "cannot read"),
        ] {
            std::fs::write(folder.path().join("d.dict"), "short").unwrap();
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let error = all(&path, column).unwrap_err().to_string();
            assert!(error.contains(problem), "{name}: {error}");
        }
        assert!(matches!(all(&folder.path().join("none.txt"), None), Err(Error::Io { .. })));
    }
}
