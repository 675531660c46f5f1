//! The folder that a package goes to, replaced as a whole.
//!
//! Promises:   at every moment the folder is the old package, the new one, or as absent as before; a folder with anything in
//!             it that we did not write is never touched; no temporary folder stays behind an error
//! Assumes:    one file system below the parent folder, with atomic renames
//! Cost:       an fsync per file, one per folder; what is replaced is read twice
//! Checked by: tests in this file, `tests/it/foreign.rs`, and the kill tests of disjoin-cli (tests/it/package.rs, killed.rs)

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::access::{self, Readers};
use super::lock::Lock;
use super::ours::{self, Foreign};
use super::staging::{Part, Staging, sync_folder};
use crate::error::{Error, Place, Result};

/// A folder that a package can be written to: absent so far, empty, or a package that will be replaced.
#[derive(Debug)]
pub struct Destination {
    /// As given, for messages.
    shown: PathBuf,
    /// With all links of the folders above it resolved.
    resolved: PathBuf,
    parent: PathBuf,
    replaces: bool,
    /// What the system gives to a new folder.
    usual: fs::Permissions,
    /// Held as long as somebody works for this folder.
    lock: Lock,
}

/// What stands at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    EmptyFolder,
    Package,
}

impl Destination {
    /// Checks, before the expensive work, that a package can be written to `path`; also removes what killed runs left.
    pub fn check(path: &Path) -> Result<Self> {
        let (parent, name) = split(path)?;
        let resolved = parent.join(&name);
        // The shell would stay in the old folder, which is then deleted.
        if std::env::current_dir().is_ok_and(|current| current.starts_with(&resolved)) {
            return Err(Error::recipe(
                "output.folder",
                "is the current folder",
                "go to the folder above it, or name another",
            ));
        }
        let lock = Lock::take(&parent, &name, path, "write the package")?;
        // Whether the system lets us write here is known only by trying: mode bits tell half of it.
        let probe = lock.temporary("tmp")?;
        let probed = access::create_folder(&probe, Readers::Usual, false).and_then(|()| fs::metadata(&probe));
        let usual = probed.map_err(|e| Error::io(path, "write the package", e))?.permissions();
        fs::remove_dir(&probe).map_err(|e| Error::io(&probe, "remove the folder", e))?;
        let mut destination = Destination { shown: path.to_path_buf(), resolved, parent, replaces: false, usual, lock };
        destination.replaces = destination.found()? == Found::Package;
        Ok(destination)
    }

    /// Refuses a file that would be deleted with the package that is replaced.
    pub fn check_outside(&self, file: &Path) -> Result<()> {
        match fs::canonicalize(file) {
            Ok(file) if file.starts_with(&self.resolved) => {
                let problem = "lies in the folder that the package replaces, and would be deleted with it";
                Err(Error::input(Place::file(file.display().to_string()), problem)
                    .with_hint("move it, or choose another folder for the package"))
            }
            // What cannot be found is for the reader to complain about.
            _ => Ok(()),
        }
    }

    /// The folder as given.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Whether a package stands there that publishing will replace.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    /// Lets `fill` write the package, makes it durable and puts it in place. On any error nothing has changed.
    pub fn publish<T>(&self, fill: impl FnOnce(&Staging) -> Result<T>) -> Result<T> {
        let staging = Staging::create(&self.lock, &self.shown)?;
        let filled = fill(&staging)?;
        staging.seal()?;
        // Who looked into the old folder may look into the new one, and nobody else.
        let old = fs::symlink_metadata(&self.resolved).ok().filter(fs::Metadata::is_dir);
        let readers = old.as_ref().map_or(self.usual.clone(), fs::Metadata::permissions);
        fs::set_permissions(&staging.folder, readers).map_err(|e| self.cannot_place(e))?;
        match old {
            // If somebody has put something there meanwhile, this fails.
            None => fs::rename(&staging.folder, &self.resolved).map_err(|e| self.cannot_place(e))?,
            Some(_) => self.replace(&staging.folder, exchange)?,
        }
        sync_folder(&self.parent).map_err(|e| self.cannot_place(e))?;
        Ok(filled)
    }

    /// Puts the new folder in the place of the existing one, and removes that one. If it is not ours to remove, because something
    /// was put there since `check`, all is as before.
    fn replace(&self, new: &Path, exchange: impl Fn(&Path, &Path) -> io::Result<()>) -> Result<()> {
        let (old, is_exchanged) = match exchange(new, &self.resolved) {
            Ok(()) => (new.to_path_buf(), true),
            Err(error) if is_unsupported(&error) => {
                // Two steps, with a moment between them in which nothing stands there. A run that dies in that moment
                // leaves the old package with the name `.old`, and the next run puts it back.
                let aside = self.lock.temporary("old")?;
                fs::rename(&self.resolved, &aside).map_err(|e| self.cannot_place(e))?;
                (aside, false)
            }
            Err(error) => return Err(self.cannot_place(error)),
        };
        // Nobody has this name of it: what is looked at now stays so.
        if let Err(error) = self.look(&old) {
            let back = if is_exchanged { exchange(&old, &self.resolved) } else { fs::rename(&old, &self.resolved) };
            back.map_err(|e| Error::io(&old, "put the old package back", e))?;
            return Err(error);
        }
        if !is_exchanged && let Err(error) = fs::rename(new, &self.resolved) {
            fs::rename(&old, &self.resolved).map_err(|e| Error::io(&old, "put the old package back", e))?;
            return Err(self.cannot_place(error));
        }
        let removed = if is_empty(&old) { fs::remove_dir(&old) } else { ours::remove_package(&old) };
        removed.map_err(|e| Error::io(&old, "remove the old package, which the new one has replaced", e))
    }

    fn cannot_place(&self, source: io::Error) -> Error {
        Error::io(&self.shown, "put the package in place", source)
    }

    /// What stands at the path; an error if it is not ours to replace.
    fn found(&self) -> Result<Found> {
        match fs::symlink_metadata(&self.resolved) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(e) => return Err(Error::io(&self.shown, "look at the output folder", e)),
            Ok(data) if data.is_symlink() => {
                let hint = "name the folder that it points to, or another; nothing was changed";
                return Err(
                    Error::input(Place::file(self.shown.display().to_string()), "is a symbolic link").with_hint(hint)
                );
            }
            Ok(data) if !data.is_dir() => return Err(self.whole("is a file, the output must be a folder")),
            Ok(_) => {}
        }
        self.look(&self.resolved)
    }

    /// Whether this folder, which is or was the output folder, is empty or a package without anything else in it.
    fn look(&self, folder: &Path) -> Result<Found> {
        if is_empty(folder) {
            return Ok(Found::EmptyFolder);
        }
        let claim = folder.join(Part::Release.folder()).join("claim.json");
        if !fs::symlink_metadata(claim).is_ok_and(|data| data.is_file()) {
            return Err(self.whole("is a folder with other content, not a package of disjoin"));
        }
        match ours::foreign_in(folder).map_err(|e| Error::io(&self.shown, "look at the output folder", e))? {
            None => Ok(Found::Package),
            Some(Foreign { path, problem }) => {
                let place = Place::file(self.shown.join(path).display().to_string());
                let hint = match problem {
                    ours::NO_LIST => "name another folder, or move this package away; nothing was changed",
                    _ => "move it out of the package, or name another folder; nothing was changed",
                };
                Err(Error::input(place, problem).with_hint(hint))
            }
        }
    }

    fn whole(&self, problem: &str) -> Error {
        Error::input(Place::file(self.shown.display().to_string()), problem)
            .with_hint("name another folder, or move this one away; nothing was changed")
    }
}

/// The folder above a path, without links, and the name in it.
pub(super) fn split(path: &Path) -> Result<(PathBuf, OsString)> {
    let Some(name) = path.file_name().map(OsStr::to_owned) else {
        return Err(Error::recipe("output.folder", "does not name a folder", "for example out/released"));
    };
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let found = fs::canonicalize(parent).ok().filter(|parent| parent.is_dir());
    let missing = || io::Error::new(io::ErrorKind::NotFound, "the folder above it does not exist");
    Ok((found.ok_or_else(|| Error::io(path, "write", missing()))?, name))
}

fn is_empty(folder: &Path) -> bool {
    let is_folder = fs::symlink_metadata(folder).is_ok_and(|data| data.is_dir());
    is_folder && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// ENOSYS and EOPNOTSUPP are `Unsupported`; Linux file systems without the exchange say EINVAL.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}

pub(super) fn ignore_unsupported(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if is_unsupported(&error) { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const CLAIM: &str = r#"{"format":"disjoin/claim","version":1}"#;

    #[test]
    fn two_runs_do_not_write_to_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let first = Destination::check(&out).unwrap();
        let error = Destination::check(&out).unwrap_err();
        assert!(error.to_string().contains("another run") && error.hint().is_some(), "{error}");
        drop(first);
        publish(&out, "x").unwrap();
        // The lock is gone with its holder.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    fn publish(path: &Path, text: &str) -> Result<()> {
        Destination::check(path)?.publish(|staging| fill(staging, text))
    }

    fn fill(staging: &Staging, text: &str) -> Result<()> {
        let put = |part, name, text: &str| {
            staging.write(part, name, |file| {
                file.write_all(text.as_bytes()).map_err(|e| Error::io(Path::new(name), "write", e))
            })
        };
        put(Part::Release, "claim.json", CLAIM)?;
        put(Part::Release, "data.jsonl", text)?;
        put(Part::Custody, "leaf_of.csv", text)
    }

    fn data(out: &Path) -> String {
        fs::read_to_string(out.join("release/data.jsonl")).unwrap()
    }

    /// Everything in the folder, hidden things too.
    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_package_is_made_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        assert_eq!(data(&out), "one");
        assert!(Destination::check(&out).unwrap().replaces());
        publish(&out, "two").unwrap();
        assert_eq!(data(&out), "two");
        assert_eq!(names(folder.path()), ["out"]);
        assert_eq!(names(&out), ["custody", "release"]);
        let empty = folder.path().join("empty");
        fs::create_dir(&empty).unwrap();
        publish(&empty, "three").unwrap();
        assert_eq!(data(&empty), "three");
    }

    #[cfg(unix)]
    #[test]
    fn custody_is_private_and_links_are_not_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (out, link) = (folder.path().join("real/out"), folder.path().join("link"));
        fs::create_dir(folder.path().join("real")).unwrap();
        publish(&out, "one").unwrap();
        let mode = |path: &str| fs::metadata(out.join(path)).unwrap().permissions().mode() & 0o777;
        assert_eq!([mode("custody"), mode("custody/leaf_of.csv"), mode("custody/files.sha256")], [0o700, 0o600, 0o600]);
        // A folder keeps the mode that its owner gave it.
        fs::set_permissions(&out, fs::Permissions::from_mode(0o750)).unwrap();
        publish(&out, "two").unwrap();
        assert_eq!((mode(""), data(&out).as_str()), (0o750, "two"));
        symlink(&out, &link).unwrap();
        symlink(folder.path().join("nowhere"), folder.path().join("dangling")).unwrap();
        for name in ["link", "dangling"] {
            let error = publish(&folder.path().join(name), "three").unwrap_err();
            assert!(error.to_string().contains("symbolic link") && error.hint().is_some(), "{error}");
        }
        assert_eq!(data(&out), "two");
        assert_eq!(names(folder.path()), ["dangling", "link", "real"]);
        // Links in the folders above are the user's own business.
        symlink(folder.path().join("real"), folder.path().join("above")).unwrap();
        publish(&folder.path().join("above/out"), "three").unwrap();
        assert_eq!(data(&out), "three");
    }

    /// Refused, with the path of what is in the way; and taken once that is moved away.
    fn refused(out: &Path, in_the_way: &str) {
        let error = publish(out, "two").unwrap_err();
        assert!(matches!(&error, Error::Input { hint: Some(_), .. }), "{in_the_way}: {error}");
        assert!(error.to_string().contains(in_the_way), "{in_the_way}: {error}");
        assert_eq!(data(out), "one");
        let elsewhere = out.with_file_name("elsewhere");
        fs::rename(out.join(in_the_way), &elsewhere).unwrap();
        publish(out, "two").unwrap_or_else(|error| panic!("{in_the_way}: {error}"));
        assert_eq!(data(out), "two");
        assert!(fs::symlink_metadata(elsewhere).is_ok());
    }

    #[test]
    fn what_is_in_a_package_and_not_ours_is_named_and_untouched() {
        type Spoil = fn(&Path);
        let spoil: [(&str, Spoil); 6] = [
            ("notes.txt", |path| fs::write(path, "mine").unwrap()),
            ("release/notes.txt", |path| fs::write(path, "mine").unwrap()),
            ("release/report.html", |path| {
                fs::create_dir(path).unwrap();
                fs::write(path.join("cat.jpg"), "mine").unwrap();
            }),
            ("custody/report.md", |path| fs::write(path, "mine").unwrap()),
            ("custody/leaf_of.csv", |path| fs::write(path, "changed").unwrap()),
            ("custody/findings.csv", |path| {
                #[cfg(unix)]
                std::os::unix::fs::symlink("leaf_of.csv", path).unwrap();
                #[cfg(not(unix))]
                fs::write(path, "mine").unwrap();
            }),
        ];
        for (name, spoil) in spoil {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("out");
            publish(&out, "one").unwrap();
            spoil(&out.join(name));
            refused(&out, name);
            assert_eq!(names(folder.path()), ["elsewhere", "out"]);
        }
    }

    #[test]
    fn without_its_list_nobody_knows_whose_a_package_is() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        fs::remove_file(out.join("custody/files.sha256")).unwrap();
        let error = publish(&out, "two").unwrap_err();
        assert!(error.to_string().contains("custody/files.sha256") && error.hint().is_some(), "{error}");
        assert_eq!(data(&out), "one");
    }

    #[test]
    fn a_hard_link_elsewhere_survives() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        fs::hard_link(out.join("release/data.jsonl"), folder.path().join("kept")).unwrap();
        publish(&out, "two").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "one");
    }

    #[test]
    fn what_is_not_ours_is_refused_and_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "mine").unwrap();
        fs::create_dir(at("photos")).unwrap();
        fs::write(at("photos/cat.jpg"), "mine").unwrap();
        for name in ["file", "photos"] {
            let error = Destination::check(&at(name)).unwrap_err();
            assert!(matches!(&error, Error::Input { hint: Some(_), .. }), "{name}: {error}");
        }
        assert!(matches!(Destination::check(&at("missing/out")), Err(Error::Io { .. })));
        assert!(matches!(Destination::check(Path::new("/")), Err(Error::Recipe { .. })));
        assert!(matches!(Destination::check(Path::new(".")), Err(Error::Recipe { .. })));
        assert_eq!(fs::read_to_string(at("photos/cat.jpg")).unwrap(), "mine");
        assert_eq!(names(folder.path()), ["file", "photos"]);
    }

    #[test]
    fn what_appears_during_the_work_is_not_touched_either() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let destination = Destination::check(&out).unwrap();
        fs::create_dir(&out).unwrap();
        fs::write(out.join("cat.jpg"), "mine").unwrap();
        assert!(destination.publish(|staging| fill(staging, "one")).is_err());
        drop(destination);
        assert_eq!(names(&out), ["cat.jpg"]);
        assert_eq!(names(folder.path()), ["out"]);
        // In a package, after it was looked at.
        let out = folder.path().join("package");
        publish(&out, "one").unwrap();
        for exchange in [exchange, |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into())] {
            let destination = Destination::check(&out).unwrap();
            fs::write(out.join("custody/mine.txt"), "mine").unwrap();
            let staging = Staging::create(&destination.lock, &out).unwrap();
            fill(&staging, "two").unwrap();
            staging.seal().unwrap();
            assert!(destination.replace(&staging.folder, exchange).unwrap_err().to_string().contains("mine.txt"));
            drop((staging, destination));
            assert_eq!((data(&out).as_str(), names(&out.join("custody")).len()), ("one", 3));
            fs::remove_file(out.join("custody/mine.txt")).unwrap();
        }
        assert_eq!(names(folder.path()), ["out", "package"]);
    }

    #[test]
    fn an_error_leaves_the_old_package_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        let full = |staging: &Staging| {
            staging.write(Part::Release, "claim.json", |_| Ok(()))?;
            staging.write(Part::Release, "data.jsonl", |file| {
                file.write_all(b"tw").map_err(|e| Error::io(&out, "write", e))?;
                Err(Error::io(&staging.place(Part::Release, "data.jsonl"), "write", io::ErrorKind::StorageFull.into()))
            })
        };
        let error = Destination::check(&out).unwrap().publish(full).unwrap_err();
        assert!(error.to_string().contains("out/release/data.jsonl"), "{error}");
        assert_eq!(data(&out), "one");
        assert_eq!(names(folder.path()), ["out"]);
        let foreign_name = |staging: &Staging| staging.write(Part::Release, "x", |_| Ok(()));
        assert!(matches!(Destination::check(&out).unwrap().publish(foreign_name), Err(Error::Internal(_))));
    }

    #[test]
    fn folders_with_temporary_names_that_we_did_not_make_stay() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let kept = [".out.disjoin-0123456789abcdef.old", ".out.disjoin-0123456789abcdef.tmp", ".out.tmp"];
        for name in kept {
            fs::create_dir_all(folder.path().join(name).join("release")).unwrap();
            fs::write(folder.path().join(name).join("release/data.jsonl"), "mine").unwrap();
        }
        publish(&out, "one").unwrap();
        publish(&out, "two").unwrap();
        assert_eq!(names(folder.path()), [kept[0], kept[1], kept[2], "out"]);
    }

    /// As if the run had been killed: its lock is gone, and the list of names in it stays.
    fn kill(destination: Destination, folder: &Path) {
        let path = folder.join(".out.disjoin.lock");
        let list = fs::read(&path).unwrap();
        drop(destination);
        fs::write(&path, list).unwrap();
    }

    #[test]
    fn without_exchange_the_old_package_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        let unsupported = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
        let destination = Destination::check(&out).unwrap();
        let staging = Staging::create(&destination.lock, &out).unwrap();
        fill(&staging, "two").unwrap();
        staging.seal().unwrap();
        destination.replace(&staging.folder, unsupported).unwrap();
        assert_eq!(data(&out), "two");
        // The second step fails: the new folder is gone. The old package is back.
        assert!(destination.replace(&folder.path().join("gone"), unsupported).is_err());
        assert_eq!(data(&out), "two");
        drop((staging, destination));
        assert_eq!(names(folder.path()), ["out"]);
        // A run was killed between the two steps.
        let destination = Destination::check(&out).unwrap();
        let aside = destination.lock.temporary("old").unwrap();
        let half = Staging::create(&destination.lock, &out).unwrap();
        fill(&half, "three").unwrap();
        std::mem::forget(half);
        fs::rename(&out, aside).unwrap();
        kill(destination, folder.path());
        assert!(Destination::check(&out).unwrap().replaces());
        assert_eq!(data(&out), "two");
        assert_eq!(names(folder.path()), ["out"]);
    }

    #[test]
    fn other_errors_of_the_exchange_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        let destination = Destination::check(&out).unwrap();
        let refused = |_: &Path, _: &Path| Err(io::ErrorKind::PermissionDenied.into());
        assert!(destination.replace(&folder.path().join("new"), refused).is_err());
        assert_eq!(data(&out), "one");
    }
}
