//! A package in the making, in a temporary folder.
//!
//! Promises:   only its owner looks into it until it is in place, and into custody ever; what was written is listed with its
//!             digests; no temporary folder stays behind an error
//! Checked by: tests in destination.rs, `crates/disjoin-cli/tests/it/modes.rs`

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::access::{self, Readers};
use super::lock::Lock;
use super::manifest::{Hashed, LIST, Manifest};
use super::{ours, people};
use crate::error::{Error, Result};
use crate::release::{class_sets, noisy, recoded, split};

/// What a package may hold when it is made.
const RELEASE_FILES: [&str; 9] = [
    "claim.json",
    "data.jsonl",
    "data.parquet",
    "data.csv",
    class_sets::FILE_NAME,
    split::QUASI,
    recoded::TRANSACTIONS,
    noisy::UNIVERSE,
    "report.html",
];
const CUSTODY_FILES: [&str; 11] = [
    "custody.json",
    "leaf_of.csv",
    "class_of.csv",
    "line_of.csv",
    people::PEOPLE,
    people::PARTS,
    "mapping.csv",
    "original.csv",
    "report.html",
    "report.md",
    "report.json",
];

/// A file for what does not fit into memory.
const SCRATCH: &str = "scratch.tmp";

/// The list before it is whole.
const HALF_LIST: &str = "files.sha256.tmp";

/// The two halves of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// May leave the building.
    Release,
    /// Must not.
    Custody,
}

impl Part {
    /// The name of the folder.
    pub fn folder(self) -> &'static str {
        match self {
            Part::Release => "release",
            Part::Custody => "custody",
        }
    }

    /// Whether a package may hold a file of this name.
    fn may_hold(self, name: &str) -> bool {
        match self {
            Part::Release => RELEASE_FILES.contains(&name) || split::is_sensitive_file(name),
            Part::Custody => CUSTODY_FILES.contains(&name),
        }
    }

    /// Whether a file of this name may stand there while a package is made.
    pub(super) fn may_write(self, name: &str) -> bool {
        self.may_hold(name) || self == Part::Custody && [SCRATCH, HALF_LIST, LIST].contains(&name)
    }

    fn readers(self) -> Readers {
        match self {
            Part::Release => Readers::Usual,
            Part::Custody => Readers::Owner,
        }
    }
}

/// A package in the making. Dropping it removes the folder.
#[derive(Debug)]
pub struct Staging {
    shown: PathBuf,
    pub(super) folder: PathBuf,
    written: Mutex<Manifest>,
}

impl Staging {
    /// A folder with a name of the lock; `shown` is where the package will be, for messages.
    pub(super) fn create(lock: &Lock, shown: &Path) -> Result<Self> {
        let folder = lock.temporary("tmp")?;
        access::create_folder(&folder, Readers::Owner, false).map_err(|e| Error::io(shown, "write the package", e))?;
        Ok(Staging { shown: shown.to_path_buf(), folder, written: Mutex::default() })
    }

    /// Writes one file and makes it durable. Names are those of the format.
    ///
    /// `fill` gets the bare file: it shall hand over large blocks, or wrap it in a `BufWriter` and flush that.
    pub fn write(&self, part: Part, name: &str, fill: impl FnOnce(&mut Hashed) -> Result<()>) -> Result<()> {
        if !part.may_hold(name) {
            return Err(Error::Internal("a package was to get a file that is not part of the format"));
        }
        let cannot_write = |e| Error::io(&self.place(part, name), "write", e);
        let file = self.make_folder(part).and_then(|folder| access::create(&folder.join(name), part.readers()));
        let mut file = Hashed::new(file.map_err(cannot_write)?);
        fill(&mut file)?;
        let digest = file.finish().map_err(cannot_write)?;
        self.written().set(&ours::listed(part, name), digest);
        Ok(())
    }

    /// Lets `fill` use a file that is no part of the package, and is gone afterwards. It is as private as custody.
    pub fn scratch<T>(&self, fill: impl FnOnce(&mut File, &Path) -> Result<T>) -> Result<T> {
        let path = self.custody().join(SCRATCH);
        let cannot_write = |e| Error::io(&path, "write", e);
        let file = self.make_folder(Part::Custody).and_then(|_| access::create(&path, Readers::Owner));
        let filled = fill(&mut file.map_err(cannot_write)?, &path)?;
        fs::remove_file(&path).map_err(cannot_write)?;
        Ok(filled)
    }

    /// Where the release stands while it is made: to be read back before it is put in place.
    pub fn release(&self) -> PathBuf {
        self.folder.join(Part::Release.folder())
    }

    /// Where what must not leave stands meanwhile.
    pub fn custody(&self) -> PathBuf {
        self.folder.join(Part::Custody.folder())
    }

    /// Takes back what was written: something better follows.
    pub fn clear(&self) -> Result<()> {
        ours::discard_files(&self.folder).map_err(|e| Error::io(&self.shown, "write the package", e))?;
        *self.written() = Manifest::default();
        Ok(())
    }

    /// Where the file will be in the end, for messages.
    pub fn place(&self, part: Part, name: &str) -> PathBuf {
        self.shown.join(part.folder()).join(name)
    }

    /// Lists what was written, and makes all of it durable.
    pub(super) fn seal(&self) -> Result<()> {
        let cannot_write = |e| Error::io(&self.place(Part::Custody, LIST), "write", e);
        let folder = self.make_folder(Part::Custody).map_err(cannot_write)?;
        let half = folder.join(HALF_LIST);
        let text = self.written().text();
        let written = access::create(&half, Readers::Owner)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()));
        written.and_then(|()| fs::rename(&half, folder.join(LIST))).map_err(cannot_write)?;
        [self.release(), folder, self.folder.clone()]
            .iter()
            .filter(|part| part.is_dir())
            .try_for_each(|part| sync_folder(part))
            .map_err(|e| Error::io(&self.shown, "write the package", e))
    }

    /// The folder of a part, made if it is missing.
    fn make_folder(&self, part: Part) -> io::Result<PathBuf> {
        let folder = self.folder.join(part.folder());
        match access::create_folder(&folder, part.readers(), false) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
            _ => Ok(folder),
        }
    }

    fn written(&self) -> std::sync::MutexGuard<'_, Manifest> {
        // Who panicked with it in hand did so for another reason.
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody is left to tell; the next run tries again. What stands there after an exchange is not of this run.
        let _ = ours::remove_leftover(&self.folder);
    }
}

#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    super::destination::ignore_unsupported(File::open(folder)?.sync_all())
}

#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
