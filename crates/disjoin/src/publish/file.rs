//! One file, written to a temporary sibling and renamed.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::access::{self, Readers};
use super::destination::split;
use super::lock::Lock;
use crate::error::{Error, Place, Result};
use crate::observer::observed;

/// Writes a file as a whole or not at all. An existing one is replaced only if `overwrite` says so, and keeps its mode.
///
/// A symbolic link is not followed. What is neither a file nor absent (a device, a pipe, and a link to one, as /dev/stdout) is
/// written to directly: it cannot be replaced.
pub fn write_file<T>(
    path: &Path,
    overwrite: bool,
    readers: Readers,
    fill: impl FnOnce(&mut File) -> Result<T>,
) -> Result<T> {
    let cannot_write = |e| Error::io(path, "write", e);
    if is_device(path) {
        return fill(&mut File::options().write(true).open(path).map_err(cannot_write)?);
    }
    let old = check_file(path, overwrite)?;
    let (parent, name) = split(path)?;
    let lock = Lock::take(&parent, &name, path, "write")?;
    let temporary = lock.temporary("tmp")?;
    // A file that few could read must not become one that many can: it gets the wider mode at the end.
    let first = if old.is_some() { Readers::Owner } else { readers };
    // Cancelled work must not unwind past what it has to remove.
    let written = observed(|| {
        let mut file = access::create(&temporary, first).map_err(cannot_write)?;
        let filled = fill(&mut file)?;
        if let Some(old) = old.filter(|_| readers == Readers::Usual) {
            file.set_permissions(old.permissions()).map_err(cannot_write)?;
        }
        file.sync_all().map_err(cannot_write)?;
        place(&temporary, &parent.join(&name), overwrite).map_err(cannot_write)?;
        Ok(filled)
    });
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Refuses what `write_file` would refuse, before any work is done; otherwise what stands there.
pub fn check_file(path: &Path, overwrite: bool) -> Result<Option<fs::Metadata>> {
    let refuse =
        |problem: &str, hint: &str| Err(Error::input(Place::file(path.display().to_string()), problem).with_hint(hint));
    match fs::symlink_metadata(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::io(path, "write", e)),
        Ok(_) if is_device(path) => Ok(None),
        Ok(data) if data.is_symlink() => refuse("is a symbolic link", "name the file that it points to, or another"),
        Ok(data) if data.is_dir() => refuse("is a folder, a file was expected", "name a file in it"),
        Ok(_) if !overwrite => refuse("exists already", "name another file, or add --force to replace it"),
        Ok(data) => Ok(Some(data)),
    }
}

/// Whether it leads to what can be written to, but neither deleted nor replaced.
fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_dir() && !data.is_file())
}

/// Somebody may have made the file in the meantime: a link is made only where nothing stands, a rename always.
pub(super) fn place(temporary: &Path, target: &Path, overwrite: bool) -> io::Result<()> {
    if !overwrite {
        match fs::hard_link(temporary, target) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(e),
            Ok(()) => return fs::remove_file(temporary),
            // Not every file system has hard links.
            Err(_) if fs::symlink_metadata(target).is_ok() => return Err(io::ErrorKind::AlreadyExists.into()),
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
            let fill = |file: &mut File| file.write_all(text).map_err(|e| Error::io(&path, "write", e));
            write_file(&path, overwrite, Readers::Usual, fill)
        };
        write(false, b"one").unwrap();
        assert!(matches!(write(false, b"two"), Err(Error::Input { .. })));
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(true, b"two").unwrap();
        let failed: Result<()> = write_file(&path, true, Readers::Usual, |file| {
            file.write_all(b"thr").map_err(|e| Error::io(&path, "write", e))?;
            Err(Error::io(&path, "write", io::ErrorKind::StorageFull.into()))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(folder.path(), true, Readers::Usual, |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_and_modes_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("mine"), "mine").unwrap();
        symlink(at("mine"), at("link")).unwrap();
        for overwrite in [false, true] {
            let error = write_file(&at("link"), overwrite, Readers::Usual, |_| Ok(())).unwrap_err();
            assert!(error.to_string().contains("symbolic link") && error.hint().is_some(), "{error}");
        }
        assert_eq!(fs::read(at("mine")).unwrap(), b"mine");
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        fs::set_permissions(at("mine"), fs::Permissions::from_mode(0o640)).unwrap();
        write_file(&at("mine"), true, Readers::Usual, |_| Ok(())).unwrap();
        assert_eq!(mode("mine"), 0o640);
        write_file(&at("mine"), true, Readers::Owner, |_| Ok(())).unwrap();
        assert_eq!(mode("mine"), 0o600);
        // A device takes what it is given.
        write_file(Path::new("/dev/null"), false, Readers::Usual, |_| Ok(())).unwrap();
    }
}
