//! `convert`: the same content in another format.

use std::collections::HashMap;
use std::path::Path;

use super::flat;
use super::forms::value;
use super::open;
use super::open::{Release, Stored};
use super::repair::exists;
use crate::data::{Dataset, Dictionary, TermId, Transactions};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Encoding, Package, Part, carry, encoding_of};
use crate::read::{Format, Options, Sources, read_sets};
use crate::release::recoded::Recoded;

/// Members of a group that a label shows; more are counted.
const MEMBERS: usize = 8;

/// What became of it.
pub enum Converted {
    /// Data, to be written to a file by the shell.
    Data {
        /// The data.
        data: Dataset,
        /// What was read, for programs.
        input: serde_json::Value,
        /// Records that are empty, and are left out.
        empty: u64,
    },
    /// Plain tables were written.
    Tables {
        /// The files, that of the records first.
        files: Vec<std::path::PathBuf>,
        /// Rows of the first.
        rows: u64,
        /// Texts that a spreadsheet would take for formulas, and that got a quote before them.
        quoted: u64,
    },
    /// A package was written.
    Package {
        /// The file of its data.
        file: std::path::PathBuf,
        /// Records of the original.
        records: u64,
    },
}

/// How something is converted.
#[derive(Debug, Clone, Default)]
pub struct Converting {
    /// The format to write, where the name does not show it.
    pub format: Option<Format>,
    /// Replace what stands there.
    pub force: bool,
    /// Leave texts as they are that a spreadsheet would take for formulas.
    pub keep_formulas: bool,
    /// How data are read.
    pub options: Options,
}

/// Reads a dataset or a release. A release becomes plain tables if `to` is the name of such a file; one of disassociated data is
/// written to the folder `to` otherwise. Everything else is handed back as data.
pub fn convert(
    from: &Path,
    to: &Path,
    asked: &Converting,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Converted> {
    observed(|| {
        if !from.is_dir() {
            observer.stage("reading the data");
            let (data, intake) = read_sets(from, &asked.options, sources, observer)?;
            return Ok(Converted::Data { data, input: value(&intake)?, empty: 0 });
        }
        observer.stage("reading the release");
        let opened = open(from, None, observer.memory())?;
        if let Some(format) = plain_format(to, asked.format) {
            observer.stage("writing tables");
            let how = (asked.force, asked.keep_formulas);
            let flat::Written { files, rows, quoted } = flat::write(&opened, to, format, how, observer)?;
            return Ok(Converted::Tables { files, rows, quoted });
        }
        match &opened.release {
            Release::Recoded(_, release) => {
                let data = labelled(release);
                // Of the records themselves: a claim may declare any number.
                let empty = release.n_records() - data.records.len() as u64;
                Ok(Converted::Data { data, input: serde_json::Value::Null, empty })
            }
            Release::Disassociated(stored) => copy(&opened, stored, to, asked, observer),
            Release::Classes(..) | Release::Split(..) | Release::Noisy(_) => {
                let problem = "is no name of a file of tables";
                Err(Error::recipe("to", problem, "name a file that ends in .csv, .parquet or .arrow"))
            }
        }
    })
}

/// The format of plain tables that a name asks for, and that nothing contradicts.
fn plain_format(to: &Path, asked: Option<Format>) -> Option<Format> {
    let ending = to.extension()?.to_string_lossy().to_ascii_lowercase();
    let named = match &*ending {
        "csv" => Format::Table,
        "parquet" => Format::Parquet,
        "arrow" | "feather" => Format::Arrow,
        _ => return None,
    };
    (asked.is_none_or(|asked| asked == named)).then_some(named)
}

/// Data for a file that may be opened in a spreadsheet, and how many terms were changed for that: in CSV, a term that a spreadsheet would
/// take for a formula gets a quote before it, `'=1+1`. So does one that begins with quotes before such a term: different terms
/// stay different, and without the first quote of each changed term they are what they were. Other formats stay as they are.
pub fn spreadsheet_safe(mut data: Dataset, format: Format) -> (Dataset, u64) {
    if !matches!(format, Format::Table | Format::Long) || !data.dictionary.iter().any(is_formula) {
        return (data, 0);
    }
    let mut changed = 0;
    let mut dictionary = Dictionary::default();
    for term in data.dictionary.iter() {
        let is_changed = is_formula(term);
        changed += u64::from(is_changed);
        dictionary.intern(&format!("{}{term}", if is_changed { "'" } else { "" }));
    }
    data.dictionary = dictionary;
    (data, changed)
}

/// Whether a spreadsheet takes a cell for a formula, with quotes before it or without; plain numbers, as -5, are none. Where keyboards
/// have wide characters, these begin formulas as well.
pub(super) fn is_formula(term: &str) -> bool {
    let rest = term.trim_start_matches('\'');
    let begins = rest.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    begins && !(rest.len() == term.len() && is_number(term))
}

fn is_number(term: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_whole = |text: &str| is_digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    let (mantissa, exponent) = term.split_once(['e', 'E']).map_or((term, None), |(m, e)| (m, Some(e)));
    let (whole, part) = mantissa.split_once('.').map_or((mantissa, None), |(whole, part)| (whole, Some(part)));
    is_whole(whole) && part.is_none_or(is_digits) && exponent.is_none_or(is_whole)
}

/// Copies disassociated data from one encoding to another, with their custody.
fn copy(
    opened: &super::Opened,
    stored: &Stored,
    to: &Path,
    asked: &Converting,
    observer: &dyn Observer,
) -> Result<Converted> {
    let is_file = to.extension().is_some_and(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        ["csv", "dat", "txt", "basket", "spmf", "jsonl", "json", "parquet", "gz", "zst"].contains(&&*ending)
    });
    if is_file {
        let problem = "is the name of a file, and a release becomes a folder";
        let hint = "name a folder, or a file that ends in .csv, .parquet or .arrow for tables of chunks; disjoin reconstruct writes files of data that fit the release";
        return Err(Error::recipe("to", problem, hint));
    }
    let encoding = match (asked.format, encoding_of(&opened.folder)?) {
        (Some(Format::JsonLines), _) | (None, Encoding::Parquet) => Encoding::JsonLines,
        (Some(Format::Parquet), _) | (None, Encoding::JsonLines) => Encoding::Parquet,
        (Some(_), _) => {
            return Err(Error::recipe("to_format", "a release is stored as jsonl or parquet", "name one of them"));
        }
    };
    let destination = Destination::check(to)?;
    if destination.replaces() && !asked.force {
        return Err(exists(to));
    }
    let mut roots = stored.roots(observer.memory())?;
    observer.stage("copying the release");
    destination.publish(|staging| {
        let package =
            Package::default().copied(&mut roots, encoding).bytes(Part::Release, "claim.json", stored.claim.to_json()?);
        let package = match &opened.custody {
            Some(custody) => carry(package, custody, &["custody.json", "leaf_of.csv", "original.csv", "people.csv"])?,
            None => package,
        };
        package.write(staging, observer)
    })?;
    let file = to.join(Part::Release.folder()).join(encoding.file_name());
    Ok(Converted::Package { file, records: stored.claim.records })
}

/// The records of a release with a term for each group. Groups of the same terms are the same, in whichever block.
pub(super) fn labelled(release: &Recoded) -> Dataset {
    let (dictionary, ids) = labels(release);
    let mut data = Dataset { dictionary, records: Transactions::default() };
    let mut record = Vec::new();
    for (block, ids) in release.blocks.iter().zip(&ids) {
        for (items, count) in block.bag.iter() {
            for _ in 0..count {
                record.clear();
                record.extend(items.iter().map(|&item| ids[item as usize]));
                data.records.push(&mut record);
            }
        }
    }
    data
}

/// The groups of a release with the terms that stand for them in [`labelled`].
pub(super) fn groups_of(release: &Recoded) -> Vec<(&[TermId], TermId)> {
    let mut all = Vec::new();
    for (block, ids) in release.blocks.iter().zip(labels(release).1) {
        all.extend(block.groups.iter().map(Vec::as_slice).zip(ids));
    }
    all
}

/// A term for each group, block by block.
fn labels(release: &Recoded) -> (Dictionary, Vec<Vec<TermId>>) {
    let mut dictionary = Dictionary::default();
    let mut known: HashMap<&[TermId], TermId> = HashMap::new();
    let mut all = Vec::with_capacity(release.blocks.len());
    for block in &release.blocks {
        let mut ids = Vec::with_capacity(block.groups.len());
        for group in &block.groups {
            let n_known = known.len();
            ids.push(*known.entry(group).or_insert_with(|| {
                let texts: Vec<&str> = group.iter().take(MEMBERS).map(|&term| release.dictionary.text(term)).collect();
                let label = match group.len() - texts.len() {
                    0 => texts.join("|"),
                    more => format!("{}|+{more}#{}", texts.join("|"), n_known + 1),
                };
                dictionary.intern(&label)
            }));
        }
        all.push(ids);
    }
    (dictionary, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_reckon_gets_a_quote_and_nothing_is_mixed_up() {
        let terms =
            ["=1+1", "'=1+1", "''=1+1", "+a", "-5", "-5.25", "+1e-3", "-", "-5a", "@sum", "a=1", "'a", "－1", "5"];
        let data = Dataset::from_texts([terms]);
        let (safe, changed) = spreadsheet_safe(data.clone(), Format::Table);
        let texts: Vec<&str> = safe.dictionary.iter().collect();
        assert_eq!(
            texts,
            [
                "'=1+1", "''=1+1", "'''=1+1", "'+a", "-5", "-5.25", "+1e-3", "'-", "'-5a", "'@sum", "a=1", "'a",
                "'－1", "5"
            ]
        );
        assert_eq!((changed, safe.records.len(), safe.n_terms()), (8, 1, terms.len()));
        assert_eq!(spreadsheet_safe(data, Format::JsonLines).1, 0);
    }
}
