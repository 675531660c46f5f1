//! transactions.jsonl: a header line, then for each block its groups and its records. Written and read line by line.

use std::borrow::Cow;
use std::io::{BufRead, Write};
use std::path::Path;

use serde::Deserialize;

use super::{Bag, Block, FORMAT, Recoded, VERSION};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Place, Result};
use crate::memory::open_file;
use crate::release::jsonl::{Lines, describe, write_number};

/// Bytes of text that are made before they are written.
const BUFFER: usize = 1 << 16;

/// Writes a release. Errors of the writer are handed back as they are: only the caller knows the file's name.
pub fn write_recoded(release: &Recoded, out: &mut impl Write) -> std::io::Result<()> {
    let (records, blocks) = (release.n_records(), release.blocks.len());
    let mut text =
        format!("{{\"format\":\"{FORMAT}\",\"version\":{VERSION},\"records\":{records},\"blocks\":{blocks}}}\n")
            .into_bytes();
    for block in &release.blocks {
        text.extend_from_slice(b"{\"records\":");
        write_number(block.bag.n_records(), &mut text);
        text.extend_from_slice(b",\"groups\":[");
        for (at, (terms, label)) in block.groups.iter().zip(&block.labels).enumerate() {
            text.extend_from_slice(if at == 0 { b"{\"terms\":[" } else { b",{\"terms\":[" });
            for (at, &term) in terms.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                serde_json::to_writer(&mut text, release.dictionary.text(term))?;
            }
            text.push(b']');
            if let Some(label) = label {
                text.extend_from_slice(b",\"label\":");
                serde_json::to_writer(&mut text, label)?;
            }
            text.push(b'}');
        }
        text.extend_from_slice(b"]}\n");
        for (items, count) in block.bag.iter() {
            text.extend_from_slice(b"{\"items\":[");
            for (at, &item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(b',');
                }
                write_number(u64::from(item) + 1, &mut text);
            }
            text.extend_from_slice(b"],\"count\":");
            write_number(u64::from(count), &mut text);
            text.extend_from_slice(b"}\n");
            if text.len() >= BUFFER {
                out.write_all(&text)?;
                text.clear();
            }
        }
    }
    out.write_all(&text)
}

/// Reads transactions.jsonl.
pub fn read_recoded(path: &Path) -> Result<Recoded> {
    let file = open_file(path, "read the release")?;
    parse_recoded(std::io::BufReader::with_capacity(1 << 20, file), &path.display().to_string())
}

/// The same from any text; `file` is named in errors.
///
/// The content is as it stands in the file: whether it makes sense is for `verify` to say. Only what cannot be represented is
/// refused here: items that do not ascend or that no group has, a count of nothing, a term that a group names twice, more or
/// fewer records than a header says.
pub fn parse_recoded(input: impl BufRead, file: &str) -> Result<Recoded> {
    let names = ("recoded transactions", "record");
    let (mut lines, header): (_, Header) = Lines::open(input, file, (FORMAT, VERSION), names)?;
    let mut release = Recoded::default();
    let mut told = Vec::new();
    while lines.next()? {
        let refuse = |problem: String| lines.error(problem);
        let written: Line<'_> =
            serde_json::from_slice(&lines.buffer).map_err(|e| refuse(format!("not a record: {}", describe(&e))))?;
        match written {
            Line { records: Some(records), groups: Some(groups), items: None, count: None } => {
                told.push((lines.line, records));
                release.blocks.push(block(&groups, &mut release.dictionary).map_err(|e| refuse(e.into()))?);
            }
            Line { records: None, groups: None, items: Some(items), count: Some(count) } => {
                let block = release.blocks.last_mut();
                let block = block.ok_or_else(|| refuse("a record stands before any block".into()))?;
                push(block, items, count).map_err(|e| refuse(e.into()))?;
            }
            _ => return Err(refuse("neither the groups of a block nor a record".into())),
        }
    }
    check_whole(&release, &header, &told, file)?;
    Ok(release)
}

/// As many records and blocks follow as the headers say; `told` has the line and the records of each block.
fn check_whole(release: &Recoded, header: &Header, told: &[(u64, u64)], file: &str) -> Result<()> {
    let refuse = |line, problem| Err(Error::input(Place::line(file, line), problem).with_hint("the file is not whole"));
    for (block, &(line, records)) in release.blocks.iter().zip(told) {
        let found = block.bag.n_records();
        if found != records {
            return refuse(line, format!("the block declares {records} records, and {found} follow"));
        }
    }
    let (records, blocks) = (release.n_records(), release.blocks.len() as u64);
    if (records, blocks) != (header.records, header.blocks) {
        let (told, of) = (header.records, header.blocks);
        return refuse(
            1,
            format!("the header declares {told} records in {of} blocks, and {records} in {blocks} follow"),
        );
    }
    Ok(())
}

#[derive(Deserialize)]
struct Header {
    records: u64,
    blocks: u64,
}

#[derive(Deserialize)]
struct Line<'a> {
    records: Option<u64>,
    #[serde(borrow)]
    groups: Option<Vec<Group<'a>>>,
    items: Option<Vec<u32>>,
    count: Option<u32>,
}

#[derive(Deserialize)]
struct Group<'a> {
    #[serde(borrow)]
    terms: Vec<Text<'a>>,
    label: Option<String>,
}

/// A text that is copied only if it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

fn block(groups: &[Group<'_>], dictionary: &mut Dictionary) -> std::result::Result<Block, &'static str> {
    let mut block = Block::default();
    for Group { terms, label } in groups {
        let mut terms: Vec<TermId> = terms.iter().map(|text| dictionary.intern(&text.0)).collect();
        terms.sort_unstable();
        if terms.is_empty() {
            return Err("a group has no terms");
        }
        if !terms.is_sorted_by(|a, b| a < b) {
            return Err("a group names a term twice");
        }
        block.groups.push(terms);
        block.labels.push(label.clone());
    }
    Ok(block)
}

fn push(block: &mut Block, mut items: Vec<u32>, count: u32) -> std::result::Result<(), &'static str> {
    if count == 0 {
        return Err("a count of nothing");
    }
    if !items.is_sorted_by(|a, b| a < b) {
        return Err("the items of a record do not ascend");
    }
    if items.iter().any(|&item| item == 0 || item as usize > block.groups.len()) {
        return Err("an item that no group of the block has");
    }
    items.iter_mut().for_each(|item| *item -= 1);
    let bag: &mut Bag = &mut block.bag;
    bag.push(&items, count);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "{\"format\":\"disjoin/recoded\",\"version\":1,\"records\":3,\"blocks\":1}\n\
        {\"records\":3,\"groups\":[{\"terms\":[\"a\",\"b\"]},{\"terms\":[\"c\"]}]}\n{\"items\":[1],\"count\":2}\n{\"items\":[1,2],\"count\":1}\n";

    #[test]
    fn what_cannot_be_is_refused_with_its_line() {
        assert!(parse_recoded(GOOD.as_bytes(), "x").is_ok());
        for (from, to, line) in [
            ("recoded", "other", 1),
            ("\"version\":1", "\"version\":9", 1),
            ("\"records\":3,\"blocks\":1", "\"records\":3", 1),
            ("\"records\":3,\"blocks\":1", "\"records\":4,\"blocks\":1", 1),
            ("\"records\":3,\"groups\"", "\"records\":2,\"groups\"", 2),
            ("[\"a\",\"b\"]", "[]", 2),
            ("[\"a\",\"b\"]", "[\"a\",\"a\"]", 2),
            ("\"items\":[1],\"count\":2", "\"items\":[0],\"count\":2", 3),
            ("\"items\":[1],\"count\":2", "\"items\":[3],\"count\":2", 3),
            ("\"items\":[1],\"count\":2", "\"items\":[1],\"count\":0", 3),
            ("\"items\":[1],\"count\":2", "\"items\":[1]", 3),
            ("\"items\":[1],\"count\":2", "\"items\":[-1],\"count\":2", 3),
            ("[1,2]", "[2,1]", 4),
            ("[1,2]", "[1,1]", 4),
            ("{\"items\":[1,2],\"count\":1}", "", 4),
            ("{\"items\":[1,2],\"count\":1}", "{\"items\":[1,2", 4),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD);
            let error = parse_recoded(text.as_bytes(), "x").unwrap_err().to_string();
            assert!(error.starts_with(&format!("x:{line}:")), "{to}: {error}");
        }
        assert!(parse_recoded(&b""[..], "x").is_err());
        let early =
            "{\"format\":\"disjoin/recoded\",\"version\":1,\"records\":1,\"blocks\":1}\n{\"items\":[1],\"count\":1}\n";
        assert!(parse_recoded(early.as_bytes(), "x").unwrap_err().to_string().starts_with("x:2:"));
    }
}
