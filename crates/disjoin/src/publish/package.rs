//! What a package holds, and where: `release/` may leave the building, `custody/` must not.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::custody::{Custody, Kept, change_promise, renumber, write_leaf_of};
use super::destination::{Destination, Part, Staging};
use crate::error::{Error, Place, Result};
use crate::release::generalized::DATA;
use crate::release::open::{InMemory, JsonlWriter, RootStream, copy};
#[cfg(feature = "parquet")]
use crate::release::parquet;
use crate::release::recoded::TRANSACTIONS;
use crate::release::split::QUASI;
use crate::release::{Claim, Disassociated, Promise, jsonl};

/// How the data of a release are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// data.jsonl: a cluster a line.
    #[default]
    JsonLines,
    /// data.parquet: the same content for large data.
    Parquet,
}

impl Encoding {
    /// The name of the data file.
    pub fn file_name(self) -> &'static str {
        match self {
            Encoding::JsonLines => "data.jsonl",
            Encoding::Parquet => "data.parquet",
        }
    }
}

/// All that is published and kept of one run.
#[derive(Debug, Clone, Copy)]
pub struct Package<'a> {
    /// What is promised.
    pub claim: &'a Claim,
    /// The data that may leave.
    pub release: &'a Disassociated,
    /// How they are stored.
    pub encoding: Encoding,
    /// How they were made.
    pub custody: &'a Custody,
    /// For each record the simple cluster it went to.
    pub leaf_of: &'a [u32],
    /// The original itself, where it exists nowhere else (the demonstration).
    pub original: Option<&'a [u8]>,
    /// Reports about it.
    pub pages: &'a [Page],
}

/// A page of text that goes with a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Whether it may leave.
    pub part: Part,
    /// The name of its file.
    pub name: &'static str,
    /// What it says.
    pub text: String,
}

impl Package<'_> {
    /// Writes the package to its destination, as a whole or not at all.
    pub fn publish(&self, destination: &Destination) -> Result<()> {
        destination.publish(|staging| {
            // The large file on one side and the rest on the other: waiting for the disk overlaps with work.
            let (data, rest) = rayon::join(
                || write_release(staging, self.claim, self.release, self.encoding),
                || self.write_custody(staging),
            );
            data.and(rest)
        })
    }

    fn write_custody(&self, staging: &Staging) -> Result<()> {
        write_bytes(staging, Part::Custody, "custody.json", self.custody.to_json()?.as_bytes())?;
        write_map(staging, self.leaf_of)?;
        for page in self.pages {
            write_bytes(staging, page.part, page.name, page.text.as_bytes())?;
        }
        match self.original {
            Some(original) => write_bytes(staging, Part::Custody, "original.csv", original),
            None => Ok(()),
        }
    }
}

/// Writes `release/`: the claim and the data.
pub fn write_release(staging: &Staging, claim: &Claim, release: &Disassociated, encoding: Encoding) -> Result<()> {
    if encoding == Encoding::Parquet {
        return copy_release(staging, claim, &mut InMemory::new(release), encoding);
    }
    let place = staging.place(Part::Release, encoding.file_name());
    staging.write(Part::Release, encoding.file_name(), |file| {
        jsonl::write(release, file).map_err(|e| Error::io(&place, "write", e))
    })?;
    write_claim(staging, claim)
}

/// Writes `release/` root by root: memory does not grow with the release.
pub fn copy_release(staging: &Staging, claim: &Claim, from: &mut impl RootStream, encoding: Encoding) -> Result<()> {
    let header = from.header();
    let place = staging.place(Part::Release, encoding.file_name()).display().to_string();
    staging.write(Part::Release, encoding.file_name(), |file| {
        let out = BufWriter::with_capacity(1 << 20, file);
        match encoding {
            Encoding::JsonLines => copy(from, JsonlWriter::new(out, &header, &place)?).map(|_| ()),
            #[cfg(feature = "parquet")]
            Encoding::Parquet => copy(from, parquet::Writer::new(out, &header, &place)?).map(|_| ()),
            #[cfg(not(feature = "parquet"))]
            Encoding::Parquet => {
                let problem = "this build of disjoin does not write Parquet";
                Err(Error::recipe("--output-format", problem, "write jsonl, or build with the feature `parquet`"))
            }
        }
    })?;
    write_claim(staging, claim)
}

/// Writes `custody/` after that of a release whose simple clusters were put into another order: `leaves` are their former
/// numbers. Files that are not known here are left behind: they speak of the clusters as they were.
pub fn carry_custody(staging: &Staging, from: &Path, leaves: &[u32], promise: Promise) -> Result<()> {
    let leaf_of = renumber(Kept::read(from)?.leaf_of, leaves)
        .ok_or_else(|| Error::input(Place::file(from.display().to_string()), "is not the custody of this release"))?;
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::io(path, "read", e));
    let changed = change_promise(&read(&from.join("custody.json"))?, promise)?;
    write_bytes(staging, Part::Custody, "custody.json", changed.as_bytes())?;
    write_map(staging, &leaf_of)?;
    let original = from.join("original.csv");
    match original.is_file() {
        true => write_bytes(staging, Part::Custody, "original.csv", &read(&original)?),
        false => Ok(()),
    }
}

fn write_map(staging: &Staging, leaf_of: &[u32]) -> Result<()> {
    let place = staging.place(Part::Custody, "leaf_of.csv");
    staging.write(Part::Custody, "leaf_of.csv", |file| {
        write_leaf_of(leaf_of, file).map_err(|e| Error::io(&place, "write", e))
    })
}

fn write_claim(staging: &Staging, claim: &Claim) -> Result<()> {
    write_bytes(staging, Part::Release, "claim.json", claim.to_json()?.as_bytes())
}

pub(super) fn write_bytes(staging: &Staging, part: Part, name: &str, bytes: &[u8]) -> Result<()> {
    staging
        .write(part, name, |file| file.write_all(bytes).map_err(|e| Error::io(&staging.place(part, name), "write", e)))
}

/// The release folder of a package, given the package or the release folder itself, and how its data are stored.
pub fn find_release(path: &Path) -> Result<(PathBuf, Encoding)> {
    let folder = release_folder(path)?;
    let stored = [Encoding::JsonLines, Encoding::Parquet].map(|e| folder.join(e.file_name()).is_file());
    match stored {
        [true, false] => Ok((folder, Encoding::JsonLines)),
        [false, true] => Ok((folder, Encoding::Parquet)),
        [false, false] if folder.join(DATA).is_file() => {
            Err(refuse(path, "holds data.csv: a generalized table, where disassociated data were expected"))
        }
        [false, false] if folder.join(QUASI).is_file() => {
            Err(refuse(path, "holds quasi.csv: a split table, where disassociated data were expected"))
        }
        [false, false] if folder.join(TRANSACTIONS).is_file() => {
            let problem = "holds transactions.jsonl: recoded transactions, where disassociated data were expected";
            Err(refuse(path, problem).with_hint("disjoin verify, attack, measure, query and convert know this form"))
        }
        [false, false] => Err(refuse(path, "holds neither data.jsonl nor data.parquet")),
        [true, true] => Err(refuse(path, "holds both data.jsonl and data.parquet: which one is meant?")),
    }
}

/// The release folder of the package of a generalized table, given the package or the release folder itself.
pub fn find_table_release(path: &Path) -> Result<PathBuf> {
    let folder = release_folder(path)?;
    match folder.join(DATA).is_file() {
        true => Ok(folder),
        false => Err(refuse(path, "holds no data.csv: not the release of a generalized table")),
    }
}

/// The release folder of the package of a split table, given the package or the release folder itself.
pub fn find_split_release(path: &Path) -> Result<PathBuf> {
    let folder = release_folder(path)?;
    match folder.join(QUASI).is_file() {
        true => Ok(folder),
        false => Err(refuse(path, "holds no quasi.csv: not the release of a split table")),
    }
}

/// The folder with claim.json: what it claims tells which form of data stands beside it.
pub fn release_folder(path: &Path) -> Result<PathBuf> {
    let inner = path.join(Part::Release.folder());
    let folder = if inner.join("claim.json").is_file() { inner } else { path.to_path_buf() };
    match std::fs::metadata(path) {
        Err(e) => Err(Error::io(path, "read the release", e)),
        Ok(data) if !data.is_dir() => Err(refuse(path, "is a file, not the folder of a release")),
        Ok(_) if !folder.join("claim.json").is_file() => Err(refuse(path, "holds no claim.json: not a release")),
        Ok(_) => Ok(folder),
    }
}

fn refuse(path: &Path, problem: &str) -> Error {
    let hint = "give the folder that disjoin protect wrote, or the folder release in it";
    Error::input(Place::file(path.display().to_string()), problem).with_hint(hint)
}
