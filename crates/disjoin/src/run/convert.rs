//! `convert`: the same content in another format.

use std::collections::HashMap;
use std::path::Path;

use super::forms::value;
use super::open;
use super::open::{Release, Stored};
use super::repair::exists;
use crate::data::{Dataset, TermId, Transactions};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Encoding, Package, Part, carry, encoding_of};
use crate::read::{Format, Options, Sources, read_sets};
use crate::release::Form;
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
    /// A package was written.
    Package {
        /// The file of its data.
        file: std::path::PathBuf,
        /// Records of the original.
        records: u64,
    },
}

/// Reads a dataset or a release; a release of disassociated data is written to the folder `to`, everything else is handed back as
/// data.
pub fn convert(
    from: &Path,
    to: &Path,
    format: Option<Format>,
    force: bool,
    options: &Options,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Converted> {
    observed(|| {
        if !from.is_dir() {
            observer.stage("reading the data");
            let (data, intake) = read_sets(from, options, sources, observer)?;
            return Ok(Converted::Data { data, input: value(&intake)?, empty: 0 });
        }
        observer.stage("reading the release");
        let opened = open(from, None)?;
        match &opened.release {
            Release::Recoded(claim, release) => {
                let data = labelled(release);
                let empty = claim.records - data.records.len() as u64;
                Ok(Converted::Data { data, input: serde_json::Value::Null, empty })
            }
            Release::Disassociated(stored) => copy(&opened, stored, to, format, force, observer),
            Release::Classes(..) | Release::Split(..) | Release::Noisy(_) => {
                let hint = "its files are read by any program as they are";
                opened.refuse("convert", &[Form::Disassociated, Form::Recoded], hint)
            }
        }
    })
}

/// Copies disassociated data from one encoding to another, with their custody.
fn copy(
    opened: &super::Opened,
    stored: &Stored,
    to: &Path,
    format: Option<Format>,
    force: bool,
    observer: &dyn Observer,
) -> Result<Converted> {
    let is_file = to.extension().is_some_and(|ending| {
        let ending = ending.to_string_lossy().to_ascii_lowercase();
        ["csv", "dat", "txt", "basket", "spmf", "jsonl", "json", "parquet", "gz", "zst"].contains(&&*ending)
    });
    if is_file {
        let problem = "is the name of a file, and a release becomes a folder";
        let hint = "name a folder; disjoin reconstruct writes files of data that fit the release";
        return Err(Error::recipe("to", problem, hint));
    }
    let encoding = match (format, encoding_of(&opened.folder)?) {
        (Some(Format::JsonLines), _) | (None, Encoding::Parquet) => Encoding::JsonLines,
        (Some(Format::Parquet), _) | (None, Encoding::JsonLines) => Encoding::Parquet,
        (Some(_), _) => {
            return Err(Error::recipe("to_format", "a release is stored as jsonl or parquet", "name one of them"));
        }
    };
    let destination = Destination::check(to)?;
    if destination.replaces() && !force {
        return Err(exists(to));
    }
    let mut roots = stored.roots()?;
    observer.stage("copying the release");
    destination.publish(|staging| {
        let package =
            Package::default().copied(&mut roots, encoding).bytes(Part::Release, "claim.json", stored.claim.to_json()?);
        let package = match &opened.custody {
            Some(custody) => carry(package, custody, &["custody.json", "leaf_of.csv", "original.csv"])?,
            None => package,
        };
        package.write(staging, observer)
    })?;
    let file = to.join(Part::Release.folder()).join(encoding.file_name());
    Ok(Converted::Package { file, records: stored.claim.records })
}

/// The records of a release with a term for each group. Groups of the same terms are the same, in whichever block.
fn labelled(release: &Recoded) -> Dataset {
    let mut data = Dataset::default();
    let mut known: HashMap<&[TermId], TermId> = HashMap::new();
    let mut record = Vec::new();
    let mut records = Transactions::default();
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
                data.dictionary.intern(&label)
            }));
        }
        for (items, count) in block.bag.iter() {
            for _ in 0..count {
                record.clear();
                record.extend(items.iter().map(|&item| ids[item as usize]));
                records.push(&mut record);
            }
        }
    }
    data.records = records;
    data
}
