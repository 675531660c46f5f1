//! One file, written to a temporary sibling and renamed.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::Path;

use crate::error::{Error, Place, Result};

/// Writes a file as a whole or not at all. An existing one is replaced only if `overwrite` says so.
///
/// What is neither a file nor absent (a device, a pipe) is written to directly: it cannot be replaced.
pub fn write_file<T>(path: &Path, overwrite: bool, fill: impl FnOnce(&mut File) -> Result<T>) -> Result<T> {
    let cannot_write = |e| Error::io(path, "write", e);
    let target = match fs::symlink_metadata(path) {
        Ok(_) => fs::canonicalize(path).map_err(cannot_write)?,
        Err(_) => path.to_path_buf(),
    };
    let refuse =
        |problem: &str, hint: &str| Err(Error::input(Place::file(path.display().to_string()), problem).with_hint(hint));
    match fs::metadata(&target) {
        Ok(data) if data.is_dir() => return refuse("is a folder, a file was expected", "name a file in it"),
        Ok(data) if !data.is_file() => {
            return fill(&mut File::options().write(true).open(&target).map_err(cannot_write)?);
        }
        Ok(_) if !overwrite => return refuse("exists already", "name another file, or add --force to replace it"),
        _ => {}
    }
    let Some(name) = target.file_name() else { return refuse("does not name a file", "name a file") };
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".disjoin-{:016x}.tmp", RandomState::new().build_hasher().finish()));
    let temporary = target.with_file_name(temporary);
    let written = File::create_new(&temporary).map_err(cannot_write).and_then(|mut file| {
        let filled = fill(&mut file)?;
        file.sync_all().map_err(cannot_write)?;
        place(&temporary, &target, overwrite).map_err(cannot_write)?;
        Ok(filled)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Somebody may have made the file in the meantime: a link is made only where nothing stands, a rename always.
fn place(temporary: &Path, target: &Path, overwrite: bool) -> io::Result<()> {
    if !overwrite {
        match fs::hard_link(temporary, target) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
            Ok(()) => return fs::remove_file(temporary),
            // Not every file system has hard links.
            Err(_) => {}
        }
    }
    fs::rename(temporary, target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_come_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.dat");
        let write = |overwrite, text: &'static [u8]| {
            write_file(&path, overwrite, |file| file.write_all(text).map_err(|e| Error::io(&path, "write", e)))
        };
        write(false, b"one").unwrap();
        assert!(matches!(write(false, b"two"), Err(Error::Input { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(true, b"two").unwrap();
        let failed: Result<()> = write_file(&path, true, |file| {
            file.write_all(b"thr").map_err(|e| Error::io(&path, "write", e))?;
            Err(Error::io(&path, "write", io::ErrorKind::StorageFull.into()))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(folder.path(), true, |_| Ok(())).is_err());
    }
}
