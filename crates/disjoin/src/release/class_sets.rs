//! sets.jsonl: the disassociated sets of a table's classes. The form of data.jsonl, with the class of each root.
//!
//! A class is named by its place in data.csv: the first rows that show the same quasi-identifiers are class 1.

use std::io::{BufRead, Write};

use serde::Deserialize;

use super::disassociated::Disassociated;
use super::jsonl::{JsonTexts, Reader, header_line, write_node};
use super::open::load_into;
use crate::data::Dictionary;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// The file's name in a release.
pub const FILE_NAME: &str = "sets.jsonl";

/// Clusters of sets, each within one class.
#[derive(Debug, Clone)]
pub struct ClassSets {
    /// The clusters of all classes, class by class.
    pub release: Disassociated,
    /// For each root its class, counted from 0.
    pub class_of_root: Vec<u32>,
}

/// Writes the clusters with their classes. Errors of the writer are handed back as they are.
pub fn write(sets: &ClassSets, out: &mut impl Write) -> std::io::Result<()> {
    out.write_all(&header_line(&sets.release.header))?;
    let texts = JsonTexts::new(&sets.release.dictionary);
    let mut line = Vec::new();
    for (root, class) in sets.release.roots.iter().zip(&sets.class_of_root) {
        line.clear();
        write_node(root, &texts, &mut line);
        // Every root is an object: the class becomes its first field.
        write!(out, "{{\"class\":{},", u64::from(*class) + 1)?;
        out.write_all(&line[1..])?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads the clusters with their classes. `open` reads the file from the beginning, and is called twice.
pub fn read<R: BufRead + Send>(file: &str, open: impl Fn() -> Result<R>, observer: &dyn Observer) -> Result<ClassSets> {
    let tagged = tags(open()?, file)?;
    let mut class_of_root = Vec::with_capacity(tagged.len());
    for (line, (class, _)) in (2..).zip(tagged) {
        let class = class.checked_sub(1).and_then(|class| u32::try_from(class).ok());
        let bad = || Error::input(Place::line(file, line), "has the number of no class: they are counted from 1");
        class_of_root.push(class.ok_or_else(bad)?);
    }
    let release = load_into(Dictionary::default(), &mut Reader::new(open()?, file)?, observer)?;
    match release.roots.len() == class_of_root.len() {
        true => Ok(ClassSets { release, class_of_root }),
        false => Err(Error::input(Place::file(file), "has lines that are no clusters")),
    }
}

/// How many records the clusters of each class have, by the numbers in the file, which are counted from 1.
pub fn sizes(input: impl BufRead, file: &str) -> Result<Vec<(u64, u64)>> {
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for (line, (class, size)) in (2..).zip(tags(input, file)?) {
        match sizes.last_mut() {
            Some((last, sum)) if *last == class => *sum = sum.saturating_add(size),
            Some((last, _)) if *last > class => {
                return Err(Error::input(Place::line(file, line), "the classes are not in order"));
            }
            _ => sizes.push((class, size)),
        }
    }
    Ok(sizes)
}

/// The class and the size of each root, line by line.
fn tags(input: impl BufRead, file: &str) -> Result<Vec<(u64, u64)>> {
    #[derive(Deserialize)]
    struct Tagged {
        class: u64,
        size: u64,
    }
    let tag = |(line, text): (u64, std::io::Result<String>)| {
        let bad = |problem: &str| Error::input(Place::line(file, line), problem);
        let text = text.map_err(|_| bad("cannot be read"))?;
        let Tagged { class, size } = serde_json::from_str(&text).map_err(|_| bad("has no class and size"))?;
        Ok((class, size))
    };
    (1..).zip(input.lines()).skip(1).map(tag).collect()
}
