//! sets.jsonl: the disassociated sets of a table's classes. The form of data.jsonl, with the class of each root.
//!
//! A class is named by its place in data.csv: the first rows that show the same quasi-identifiers are class 1.

use std::io::{BufRead, Write};

use serde::Deserialize;

use super::disassociated::Disassociated;
use super::jsonl::{JsonTexts, header_line, write_node};
use crate::error::{Error, Place, Result};

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

/// How many records the clusters of each class have, by the numbers in the file, which are counted from 1.
pub fn sizes(input: impl BufRead, file: &str) -> Result<Vec<(u64, u64)>> {
    #[derive(Deserialize)]
    struct Tagged {
        class: u64,
        size: u64,
    }
    let mut sizes: Vec<(u64, u64)> = Vec::new();
    for (line, text) in (1..).zip(input.lines()).skip(1) {
        let bad = |problem: &str| Error::input(Place::line(file, line), problem);
        let text = text.map_err(|_| bad("cannot be read"))?;
        let Tagged { class, size } = serde_json::from_str(&text).map_err(|_| bad("has no class and size"))?;
        match sizes.last_mut() {
            Some((last, sum)) if *last == class => *sum = sum.saturating_add(size),
            Some((last, _)) if *last > class => return Err(bad("the classes are not in order")),
            _ => sizes.push((class, size)),
        }
    }
    Ok(sizes)
}
