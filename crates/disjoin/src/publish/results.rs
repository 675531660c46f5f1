//! Files that are made from the original and kept in a folder that is not replaced as a whole: rows of a sweep, plots, what an
//! attack found.
//!
//! Promises:   only their owner reads them; a file is replaced only if it is as we wrote it, by the list in its folder; a run that
//!             is killed leaves the old file or the new one
//! Checked by: tests in this file, `tests/it/foreign.rs`, `crates/disjoin-cli/tests/it/modes.rs`

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::access::{self, Readers};
use super::destination::split;
use super::file::place;
use super::lock::Lock;
use super::manifest::{LIST, Manifest, digest};
use super::staging::{Part, Staging};
use crate::error::{Error, Place, Result};

/// A folder for results.
#[derive(Debug)]
pub struct Results {
    folder: PathBuf,
    manifest: Manifest,
    lock: Lock,
    _made: Option<Made>,
}

/// A folder that was made for results: it goes again if none come.
#[derive(Debug)]
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        // Only an empty folder can be removed like this.
        let _ = fs::remove_dir(&self.0);
    }
}

impl Results {
    /// Opens the folder, made if it is missing, before the work: an error if one of these names is taken by a file that is not ours.
    pub fn open(folder: &Path, names: &[&str]) -> Result<Self> {
        let cannot = |e| Error::io(folder, "make the folder", e);
        let made = match fs::symlink_metadata(folder) {
            Ok(data) if data.is_dir() => None,
            Ok(data) if data.is_symlink() => {
                return Err(refuse(folder, "is a symbolic link", "name the folder that it points to, or another"));
            }
            Ok(_) => return Err(refuse(folder, "is a file, a folder was expected", "choose another name")),
            Err(_) => {
                access::create_folder(folder, Readers::Owner, true).map_err(cannot)?;
                Some(Made(folder.to_path_buf()))
            }
        };
        let lock = lock_of(folder)?;
        let read = |e| Error::io(folder, "look at the folder", e);
        let list = folder.join(LIST);
        let manifest = match Manifest::read(folder).map_err(read)? {
            Some(manifest) => manifest,
            None if fs::symlink_metadata(&list).is_ok() => {
                return Err(refuse(&list, "is not a list of files as disjoin wrote it", HINT));
            }
            None => Manifest::default(),
        };
        let results = Results { folder: folder.to_path_buf(), manifest, lock, _made: made };
        names.iter().try_for_each(|name| results.check(name))?;
        Ok(results)
    }

    /// Writes files, each as a whole, over older ones of ours.
    pub fn write(&mut self, files: &[(&str, &[u8])]) -> Result<()> {
        // Until all are there, each may have its old content or its new one.
        for (name, bytes) in files {
            self.check(name)?;
            self.manifest.add(name, digest(bytes));
        }
        self.write_list()?;
        for (name, bytes) in files {
            self.put(name, bytes, true)?;
            self.manifest.set(name, digest(bytes));
        }
        self.write_list()
    }

    /// Makes a file that is added to later, and opens it for that; it is not listed.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<File> {
        self.put(name, bytes, false)?;
        self.append(name)
    }

    /// Opens such a file, and sees to it that only its owner reads it.
    pub fn append(&self, name: &str) -> Result<File> {
        let path = self.folder.join(name);
        let opened = access::open_append(&path).and_then(|file| access::make_private(&file).map(|()| file));
        opened.map_err(|e| Error::io(&path, "open", e))
    }

    /// A temporary folder that a package can be made in, and is never put in place.
    pub fn staging(&self) -> Result<Staging> {
        Staging::create(&self.lock, &self.folder)
    }

    /// Where a file is.
    pub fn place(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn check(&self, name: &str) -> Result<()> {
        let path = self.folder.join(name);
        let standing = self.manifest.standing(&self.folder, name).map_err(|e| Error::io(&path, "read", e))?;
        standing.problem().map_or(Ok(()), |problem| Err(refuse(&path, problem, HINT)))
    }

    fn write_list(&self) -> Result<()> {
        self.put(LIST, self.manifest.text().as_bytes(), true)
    }

    fn put(&self, name: &str, bytes: &[u8], overwrite: bool) -> Result<()> {
        let path = self.folder.join(name);
        let temporary = self.lock.temporary("tmp")?;
        let written = access::create(&temporary, Readers::Owner)
            .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
            .and_then(|()| place(&temporary, &path, overwrite));
        written.map_err(|e: io::Error| {
            let _ = fs::remove_file(&temporary);
            Error::io(&path, "write", e)
        })
    }
}

const HINT: &str = "move it away, or choose another folder";

fn refuse(path: &Path, problem: &str, hint: &str) -> Error {
    Error::input(Place::file(path.display().to_string()), problem).with_hint(hint)
}

/// Custody is a part of its package, which has the lock. Any other folder has a lock inside of it: of the folder above nothing is known.
fn lock_of(folder: &Path) -> Result<Lock> {
    let is_custody = folder.file_name() == Some(OsStr::new(Part::Custody.folder()));
    let package = folder.parent().filter(|package| is_custody && package.join(Part::Release.folder()).is_dir());
    match package.map(fs::canonicalize) {
        Some(Ok(package)) => {
            let (parent, name) = split(&package)?;
            Lock::take(&parent, &name, folder, "write there")
        }
        _ => Lock::take(folder, OsStr::new(""), folder, "write there"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_replaced_only_if_they_are_ours() {
        let folder = tempfile::tempdir().unwrap();
        let plots = folder.path().join("a/plots");
        let open = || Results::open(&plots, &["a.svg", "b.svg"]);
        // Nothing came: nothing stays.
        drop(open().unwrap());
        assert!(!plots.exists());
        let write = |text: &str| open()?.write(&[("a.svg", text.as_bytes()), ("b.svg", b"b")]);
        write("one").unwrap();
        write("two").unwrap();
        assert_eq!(fs::read(plots.join("a.svg")).unwrap(), b"two");
        let names: std::collections::BTreeSet<_> =
            fs::read_dir(&plots).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["a.svg", "b.svg", LIST]);
        fs::write(plots.join("b.svg"), "mine").unwrap();
        let error = write("three").unwrap_err();
        assert!(error.to_string().contains("b.svg") && error.hint() == Some(HINT), "{error}");
        assert_eq!(fs::read(plots.join("a.svg")).unwrap(), b"two");
        // The remedy works.
        fs::rename(plots.join("b.svg"), folder.path().join("b.svg")).unwrap();
        write("three").unwrap();
        fs::write(plots.join(LIST), "mine").unwrap();
        assert!(write("four").unwrap_err().to_string().contains(LIST));
    }
}
