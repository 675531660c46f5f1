//! A lock file beside a target: whoever holds it is the only run that writes there. It is also the list of temporary names that
//! its holders used, so that what a killed run left can be told from what somebody else put there.
//!
//! Promises:   nothing is removed that is not on the list of a lock file of ours, and of a folder on the list only files that we
//!             write; a file of another kind in the place of the lock file is neither used nor removed
//! Assumes:    nobody writes our lists by hand
//! Checked by: tests in this file and in destination.rs, `tests/it/foreign.rs`, and the kill test of disjoin-cli
//!
//! The lock of `NAME` is called `.NAME.disjoin.lock`, a temporary file or folder `.NAME.disjoin-0123456789abcdef.tmp`. Where two
//! folders cannot be exchanged in one step, the old one is first moved to such a name that ends in `.old`. The system
//! releases the lock when its holder dies; the list stays, and the next holder clears up.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::access::{self, Readers};
use super::ours;
use crate::error::{Error, Place, Result};

/// The first line of a lock file.
const HEAD: &str = "disjoin lock: temporary names beside it\n";

/// More than any list of ours takes.
const LONGEST: u64 = 1 << 20;

/// A lock that is held.
#[derive(Debug)]
pub(super) struct Lock {
    parent: PathBuf,
    name: OsString,
    path: PathBuf,
    /// None where files cannot be locked: then nobody can tell leftovers from work, and nothing is cleared up.
    handle: Option<File>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.handle.as_ref().is_some_and(|handle| is_at(handle, &self.path)) {
            // Nobody is left to tell; a lock that nobody holds stops nobody.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Lock {
    /// Takes the lock of `name` in `parent`, and removes what killed holders left. `shown` and
    /// `action` are for messages.
    pub(super) fn take(parent: &Path, name: &OsStr, shown: &Path, action: &'static str) -> Result<Self> {
        let mut own = OsString::from(".");
        own.push(name);
        let dot = if name.is_empty() { "" } else { "." };
        own.push(format!("{dot}disjoin.lock"));
        let path = parent.join(own);
        let handle = hold(&path, shown, action)?;
        let mut lock = Lock { parent: parent.to_path_buf(), name: name.to_owned(), path, handle };
        lock.clear_up()?;
        Ok(lock)
    }

    /// A fresh name beside the target, on the list before anything has it.
    pub(super) fn temporary(&self, ending: &str) -> Result<PathBuf> {
        // Every RandomState has its own random keys.
        let entry = format!("{:016x}.{ending}", RandomState::new().build_hasher().finish());
        if let Some(mut handle) = self.handle.as_ref() {
            let written = handle.write_all(format!("{entry}\n").as_bytes()).and_then(|()| handle.sync_data());
            written.map_err(|e| Error::io(&self.path, "write", e))?;
        }
        Ok(self.beside(&entry))
    }

    fn beside(&self, entry: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(&self.name);
        let dot = if self.name.is_empty() { "" } else { "." };
        name.push(format!("{dot}disjoin-{entry}"));
        self.parent.join(name)
    }

    /// Reads the list of earlier holders and removes what is left of it; starts the list where there is none.
    fn clear_up(&mut self) -> Result<()> {
        let Some(mut handle) = self.handle.as_ref() else { return Ok(()) };
        let mut text = String::new();
        let read = handle.take(LONGEST).read_to_string(&mut text);
        read.map_err(|e| Error::io(&self.path, "read", e))?;
        if text.is_empty() {
            return handle.write_all(HEAD.as_bytes()).map_err(|e| Error::io(&self.path, "write", e));
        }
        for entry in text.lines().skip(1).filter(|entry| is_entry(entry)) {
            let path = self.beside(entry);
            let target = self.parent.join(&self.name);
            let kind = fs::symlink_metadata(&path).map(|data| data.file_type());
            let cleared = match kind {
                // Killed between the two steps of a replacement.
                Ok(kind) if kind.is_dir() && entry.ends_with("old") && fs::symlink_metadata(&target).is_err() => {
                    fs::rename(&path, &target)
                }
                Ok(kind) if kind.is_dir() => ours::remove_leftover(&path),
                Ok(kind) if kind.is_file() => fs::remove_file(&path),
                _ => Ok(()),
            };
            cleared.map_err(|e| Error::io(&path, "remove what an earlier run left", e))?;
        }
        Ok(())
    }
}

/// Whether a line of the list is one of ours.
fn is_entry(line: &str) -> bool {
    let Some((random, ending)) = line.split_once('.') else { return false };
    random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()) && matches!(ending, "tmp" | "old")
}

/// Opens and locks the file; none where the file system has no locks.
fn hold(path: &Path, shown: &Path, action: &'static str) -> Result<Option<File>> {
    let cannot = |e| Error::io(shown, action, e);
    loop {
        let handle = match access::create(path, Readers::Owner) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => match open_ours(path)? {
                Some(handle) => handle,
                // Its holder has removed it.
                None => continue,
            },
            created => created.map_err(cannot)?,
        };
        match handle.try_lock() {
            Ok(()) if !is_at(&handle, path) => {}
            Ok(()) if is_ours(&handle).map_err(cannot)? => return Ok(Some(handle)),
            Ok(()) => return Err(foreign(path)),
            Err(fs::TryLockError::WouldBlock) => {
                let problem = "another run of disjoin is writing to it";
                return Err(Error::input(Place::file(shown.display().to_string()), problem)
                    .with_hint("wait until it ends, or choose another name; nothing was changed"));
            }
            Err(fs::TryLockError::Error(_)) => {
                if is_ours(&handle).map_err(cannot)? {
                    let _ = fs::remove_file(path);
                }
                return Ok(None);
            }
        }
    }
}

/// Opens a lock file that exists, if it is a file; none if it is gone.
fn open_ours(path: &Path) -> Result<Option<File>> {
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(data) if !data.is_file() => Err(foreign(path)),
        _ => match access::open_append(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Err(foreign(path)),
            opened => opened.map(Some).map_err(|e| Error::io(path, "open", e)),
        },
    }
}

/// Whether it is a lock file of ours: it says so, or it was made a moment ago for its owner alone.
fn is_ours(handle: &File) -> io::Result<bool> {
    let data = handle.metadata()?;
    if data.len() == 0 {
        return Ok(access::is_private(&data));
    }
    let mut head = vec![0; HEAD.len()];
    access::read_at_start(handle, &mut head)?;
    Ok(head == HEAD.as_bytes())
}

fn foreign(path: &Path) -> Error {
    let problem = "stands where disjoin keeps its lock, and is not a lock of disjoin";
    Error::input(Place::file(path.display().to_string()), problem).with_hint("move it away, or choose another name")
}

/// Whether a file still has its name.
#[cfg(unix)]
fn is_at(handle: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |data: &fs::Metadata| (data.dev(), data.ino());
    matches!((handle.metadata(), fs::symlink_metadata(path)), (Ok(a), Ok(b)) if inode(&a) == inode(&b))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(folder: &Path) -> Result<Lock> {
        Lock::take(folder, OsStr::new("out"), &folder.join("out"), "write")
    }

    #[test]
    fn one_holder_at_a_time_and_nothing_stays() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path()).unwrap();
        let error = take(folder.path()).unwrap_err();
        assert!(error.to_string().contains("another run") && error.hint().is_some(), "{error}");
        drop(first);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        take(folder.path()).unwrap();
    }

    #[test]
    fn what_a_killed_holder_listed_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let lock = take(folder.path()).unwrap();
        let (file, dir) = (lock.temporary("tmp").unwrap(), lock.temporary("tmp").unwrap());
        fs::write(&file, "half").unwrap();
        fs::create_dir_all(dir.join("release")).unwrap();
        fs::write(dir.join("release/data.csv"), "half").unwrap();
        let unlisted = folder.path().join(".out.disjoin-0123456789abcdef.tmp");
        fs::write(&unlisted, "mine").unwrap();
        // Killed: the list stays, the lock goes.
        std::mem::forget(lock);
        let path = folder.path().join(".out.disjoin.lock");
        let (text, other) = (fs::read(&path).unwrap(), folder.path().join("copy"));
        fs::remove_file(&path).unwrap();
        fs::write(&other, text).unwrap();
        fs::rename(&other, &path).unwrap();
        drop(take(folder.path()).unwrap());
        let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [unlisted]);
    }

    #[test]
    fn a_file_of_somebody_else_is_not_used_as_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".out.disjoin.lock");
        for text in ["", "mine", "disjoin lock"] {
            fs::write(&path, text).unwrap();
            if cfg!(unix) || !text.is_empty() {
                let error = take(folder.path()).unwrap_err();
                assert!(error.to_string().contains(".out.disjoin.lock") && error.hint().is_some(), "{error}");
                assert_eq!(fs::read_to_string(&path).unwrap(), text);
            }
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(take(folder.path()).is_err() && path.is_dir());
    }
}
