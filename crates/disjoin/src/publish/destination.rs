//! The folder that a package goes to, replaced as a whole.
//!
//! Promises:   at every moment the folder is the old package, the new one, or as absent as before; a folder that is
//!             not a package of ours is never touched; no temporary folder stays behind an error
//! Assumes:    one file system below the parent folder, with atomic renames
//! Cost:       an fsync per file, one per folder
//! Checked by: tests in this file, and the kill test of disjoin-cli (tests/it/package.rs)
//!
//! A temporary folder is called `.NAME.disjoin-0123456789abcdef.tmp`, beside the target. Its maker holds a lock on it,
//! which the system releases when the maker dies: that tells leftovers from the folder of a run that is still at work.
//! Where two folders cannot be exchanged in one step, the old one is first moved to the same name with `.old`.

use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Place, Result};
use crate::release::{claim, class_sets, noisy, recoded, split};

/// What a package may hold. A folder with anything else in it is not ours to delete.
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
const CUSTODY_FILES: [&str; 10] = [
    "custody.json",
    "leaf_of.csv",
    "class_of.csv",
    "line_of.csv",
    "mapping.csv",
    "original.csv",
    "findings.csv",
    "report.html",
    "report.md",
    "report.json",
];

/// A file for what does not fit into memory.
const SCRATCH: &str = "scratch.tmp";

/// A folder that a package can be written to: absent so far, empty, or a package that will be replaced.
#[derive(Debug)]
pub struct Destination {
    /// As given, for messages.
    shown: PathBuf,
    /// Resolved: no symbolic link at its end.
    resolved: PathBuf,
    parent: PathBuf,
    name: OsString,
    replaces: bool,
    /// Held as long as somebody works for this folder.
    _alone: Option<Alone>,
}

/// A lock beside the folder: whoever holds it is the only run that writes there. It goes with its holder.
#[derive(Debug)]
struct Alone {
    path: PathBuf,
    _handle: File,
}

impl Drop for Alone {
    fn drop(&mut self) {
        // Nobody is left to tell; a lock that nobody holds stops nobody.
        let _ = fs::remove_file(&self.path);
    }
}

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
}

/// A package in the making, in its temporary folder. Dropping it removes the folder.
#[derive(Debug)]
pub struct Staging {
    shown: PathBuf,
    folder: PathBuf,
    /// An open handle that holds the lock.
    lock: File,
}

/// What stands at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    EmptyFolder,
    Package,
}

impl Destination {
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

    /// Checks, before the expensive work, that a package can be written to `path`; also removes what killed runs left.
    pub fn check(path: &Path) -> Result<Self> {
        let resolved = match fs::symlink_metadata(path) {
            Ok(_) => fs::canonicalize(path).map_err(|e| Error::io(path, "use it as the output folder", e))?,
            Err(_) => path.to_path_buf(),
        };
        let Some(name) = resolved.file_name().map(OsStr::to_owned) else {
            return Err(Error::recipe("output.folder", "does not name a folder", "for example out/released"));
        };
        let parent = match resolved.parent() {
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !parent.is_dir() {
            let source = io::Error::new(io::ErrorKind::NotFound, "the folder above it does not exist");
            return Err(Error::io(path, "write the package", source));
        }
        // The shell would stay in the old folder, which is then deleted.
        if std::env::current_dir().is_ok_and(|current| current.starts_with(&resolved)) {
            return Err(Error::recipe(
                "output.folder",
                "is the current folder",
                "go to the folder above it, or name another",
            ));
        }
        let shown = path.to_path_buf();
        let mut destination = Destination { shown, resolved, parent, name, replaces: false, _alone: None };
        destination._alone = destination.be_alone()?;
        destination.remove_leftovers()?;
        destination.replaces = destination.found()? == Found::Package;
        // Whether the system lets us write here is known only by trying: mode bits tell half of it.
        let probe = destination.temporary("tmp");
        fs::create_dir(&probe).map_err(|e| Error::io(path, "write the package", e))?;
        fs::remove_dir(&probe).map_err(|e| Error::io(&probe, "remove the folder", e))?;
        Ok(destination)
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
        let staging = Staging::create(self)?;
        let filled = fill(&staging)?;
        staging.sync_folders()?;
        // Time has passed since `check`: somebody may have put something there.
        match self.found()? {
            Found::Nothing => fs::rename(&staging.folder, &self.resolved).map_err(|e| self.cannot_place(e))?,
            Found::EmptyFolder | Found::Package => self.replace(&staging.folder, exchange)?,
        }
        sync_folder(&self.parent).map_err(|e| self.cannot_place(e))?;
        // What now has the temporary name, if anything, is the old package.
        remove(&staging.folder)
            .map_err(|e| Error::io(&staging.folder, "remove the old package, which the new one has replaced", e))?;
        Ok(filled)
    }

    /// Puts the new folder in the place of the existing one; the old one then has the temporary name.
    fn replace(&self, new: &Path, exchange: impl Fn(&Path, &Path) -> io::Result<()>) -> Result<()> {
        match exchange(new, &self.resolved) {
            Err(error) if is_unsupported(&error) => {}
            done => return done.map_err(|e| self.cannot_place(e)),
        }
        // Two steps, with a moment between them in which nothing stands there. A run that dies in that moment leaves
        // the old package with the name `.old`, and the next run puts it back.
        let aside = self.temporary("old");
        let _lock = lock(&self.resolved).map_err(|e| self.cannot_place(e))?;
        fs::rename(&self.resolved, &aside).map_err(|e| self.cannot_place(e))?;
        if let Err(error) = fs::rename(new, &self.resolved) {
            fs::rename(&aside, &self.resolved).map_err(|e| Error::io(&aside, "put the old package back", e))?;
            return Err(self.cannot_place(error));
        }
        fs::rename(&aside, new).map_err(|e| Error::io(&aside, "remove the old package", e))
    }

    fn cannot_place(&self, source: io::Error) -> Error {
        Error::io(&self.shown, "put the package in place", source)
    }

    /// Refuses to work beside another run that writes to the same folder; nothing where files cannot be locked.
    fn be_alone(&self) -> Result<Option<Alone>> {
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(".disjoin.lock");
        let path = self.parent.join(name);
        loop {
            let handle = File::options().create(true).truncate(false).write(true).open(&path);
            let handle = handle.map_err(|e| Error::io(&self.shown, "write the package", e))?;
            match handle.try_lock() {
                Ok(()) if is_at(&handle, &path) => return Ok(Some(Alone { path, _handle: handle })),
                // Its holder removed it before we had it: there may be a new one.
                Ok(()) => {}
                Err(fs::TryLockError::WouldBlock) => {
                    let problem = "another run of disjoin is writing to this folder";
                    return Err(Error::input(Place::file(self.shown.display().to_string()), problem)
                        .with_hint("wait until it ends, or choose another folder; nothing was changed"));
                }
                Err(fs::TryLockError::Error(_)) => {
                    let _ = fs::remove_file(&path);
                    return Ok(None);
                }
            }
        }
    }

    /// A fresh name beside the target.
    fn temporary(&self, ending: &str) -> PathBuf {
        // Every RandomState has its own random keys.
        let random = RandomState::new().build_hasher().finish();
        let mut name = OsString::from(".");
        name.push(&self.name);
        name.push(format!(".disjoin-{random:016x}.{ending}"));
        self.parent.join(name)
    }

    /// Which of our names this is: `tmp` or `old`, if any.
    fn ending_of<'a>(&self, name: &'a OsStr) -> Option<&'a str> {
        let rest = name.as_encoded_bytes().strip_prefix(b".")?.strip_prefix(self.name.as_encoded_bytes())?;
        let (random, ending) = std::str::from_utf8(rest).ok()?.strip_prefix(".disjoin-")?.split_once('.')?;
        let is_ours = random.len() == 16 && random.bytes().all(|b| b.is_ascii_hexdigit());
        (is_ours && matches!(ending, "tmp" | "old")).then_some(ending)
    }

    fn remove_leftovers(&self) -> Result<()> {
        let cannot = |path: &Path, e| Error::io(path, "remove what an earlier run left", e);
        let entries =
            fs::read_dir(&self.parent).map_err(|e| Error::io(&self.shown, "look at the folder above it", e))?;
        for entry in entries {
            let entry = entry.map_err(|e| Error::io(&self.parent, "list the folder", e))?;
            let name = entry.file_name();
            let Some(ending) = self.ending_of(&name) else { continue };
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            // Locked: another run is at work. Not lockable at all: nobody can tell, so it stays.
            let Ok(_lock) = lock(&path) else { continue };
            if ending == "old" && fs::symlink_metadata(&self.resolved).is_err() {
                fs::rename(&path, &self.resolved).map_err(|e| Error::io(&path, "put the old package back", e))?;
            } else {
                remove(&path).map_err(|e| cannot(&path, e))?;
            }
        }
        Ok(())
    }

    /// What stands at the path; an error if it is not ours to replace.
    fn found(&self) -> Result<Found> {
        let foreign = |problem: &str| {
            Err(Error::input(Place::file(self.shown.display().to_string()), problem)
                .with_hint("name another folder, or move this one away; nothing was changed"))
        };
        match fs::symlink_metadata(&self.resolved) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(e) => return Err(Error::io(&self.shown, "look at the output folder", e)),
            Ok(data) if !data.is_dir() => return foreign("is a file, the output must be a folder"),
            Ok(_) => {}
        }
        let entries = self.list(&self.resolved)?;
        if entries.is_empty() {
            return Ok(Found::EmptyFolder);
        }
        if !has_claim(&self.resolved.join(Part::Release.folder())) {
            return foreign("is a folder with other content, not a package of disjoin");
        }
        for entry in entries {
            let part = [Part::Release, Part::Custody].into_iter().find(|part| entry == part.folder());
            let Some(part) = part else { return foreign("is a package of disjoin, but holds other files, too") };
            let files = self.list(&self.resolved.join(part.folder()))?;
            if !files.iter().all(|file| file.to_str().is_some_and(|name| part.may_hold(name))) {
                return foreign("is a package of disjoin, but holds other files, too");
            }
        }
        Ok(Found::Package)
    }

    fn list(&self, folder: &Path) -> Result<Vec<OsString>> {
        let names = fs::read_dir(folder).and_then(|all| all.map(|entry| entry.map(|e| e.file_name())).collect());
        names.map_err(|e| Error::io(&self.shown, "look at the output folder", e))
    }
}

impl Staging {
    fn create(destination: &Destination) -> Result<Self> {
        let shown = destination.shown.clone();
        let folder = destination.temporary("tmp");
        fs::create_dir(&folder).map_err(|e| Error::io(&shown, "write the package", e))?;
        match lock(&folder) {
            Ok(lock) => Ok(Staging { shown, folder, lock }),
            // Without locks there is no telling leftovers from work, but the package can still be written.
            Err(_) => match File::open(&folder) {
                Ok(lock) => Ok(Staging { shown, folder, lock }),
                Err(e) => {
                    let _ = fs::remove_dir(&folder);
                    Err(Error::io(&shown, "write the package", e))
                }
            },
        }
    }

    /// Writes one file and makes it durable. Names are those of the format: a package with others is refused later.
    ///
    /// `fill` gets the bare file: it shall hand over large blocks, or wrap it in a `BufWriter` and flush that.
    pub fn write(&self, part: Part, name: &str, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
        if !part.may_hold(name) {
            return Err(Error::Internal("a package was to get a file that is not part of the format"));
        }
        let folder = self.folder.join(part.folder());
        let cannot_write = |e| Error::io(&self.place(part, name), "write", e);
        match make_folder(&folder, part) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(cannot_write(e)),
            _ => {}
        }
        let mut file = File::create_new(folder.join(name)).map_err(cannot_write)?;
        fill(&mut file)?;
        file.sync_all().map_err(cannot_write)
    }

    /// Lets `fill` use a file that is no part of the package, and is gone afterwards. It is as private as custody.
    pub fn scratch<T>(&self, fill: impl FnOnce(&mut File, &Path) -> Result<T>) -> Result<T> {
        let folder = self.folder.join(Part::Custody.folder());
        let path = folder.join(SCRATCH);
        let cannot_write = |e| Error::io(&path, "write", e);
        match make_folder(&folder, Part::Custody) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(cannot_write(e)),
            _ => {}
        }
        let file = File::options().read(true).write(true).create_new(true).open(&path);
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
        for part in [self.release(), self.custody()] {
            match fs::remove_dir_all(&part) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::io(&self.shown, "write the package", e));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Where the file will be in the end, for messages.
    pub fn place(&self, part: Part, name: &str) -> PathBuf {
        self.shown.join(part.folder()).join(name)
    }

    fn sync_folders(&self) -> Result<()> {
        let parts = [Part::Release, Part::Custody].map(|part| self.folder.join(part.folder()));
        parts
            .iter()
            .filter(|part| part.is_dir())
            .try_for_each(|part| sync_folder(part))
            .and_then(|()| ignore_unsupported(self.lock.sync_all()))
            .map_err(|e| Error::io(&self.shown, "write the package", e))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // Nobody is left to tell; the next run tries again.
        let _ = remove(&self.folder);
    }
}

/// Whether the folder has a claim.json that says it is one, of whatever version.
fn has_claim(release: &Path) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: String,
    }
    let text = fs::read(release.join("claim.json")).unwrap_or_default();
    serde_json::from_slice::<Head>(&text).is_ok_and(|head| head.format == claim::FORMAT)
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

fn ignore_unsupported(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if is_unsupported(&error) { Ok(()) } else { Err(error) })
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    ignore_unsupported(File::open(folder)?.sync_all())
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Custody is for the owner's eyes only.
fn make_folder(folder: &Path, part: Part) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    if part == Part::Custody {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    #[cfg(not(unix))]
    let _ = part;
    builder.create(folder)
}

/// A handle of the folder that holds an exclusive lock on it, if nobody else has one.
fn lock(folder: &Path) -> io::Result<File> {
    let handle = File::open(folder)?;
    handle.try_lock()?;
    Ok(handle)
}

/// Whether a file still has its name.
#[cfg(unix)]
fn is_at(handle: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |data: &fs::Metadata| (data.dev(), data.ino());
    matches!((handle.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if inode(&a) == inode(&b))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
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
    fn custody_is_private_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (out, link) = (folder.path().join("real/out"), folder.path().join("link"));
        fs::create_dir(folder.path().join("real")).unwrap();
        publish(&out, "one").unwrap();
        assert_eq!(fs::metadata(out.join("custody")).unwrap().permissions().mode() & 0o777, 0o700);
        symlink(&out, &link).unwrap();
        publish(&link, "two").unwrap();
        assert_eq!(data(&out), "two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(names(folder.path()), ["link", "real"]);
        symlink(folder.path().join("nowhere"), folder.path().join("dangling")).unwrap();
        assert!(Destination::check(&folder.path().join("dangling")).is_err());
    }

    #[test]
    fn what_is_not_ours_is_refused_and_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "mine").unwrap();
        fs::create_dir_all(at("photos")).unwrap();
        fs::write(at("photos/cat.jpg"), "mine").unwrap();
        publish(&at("package"), "one").unwrap();
        fs::write(at("package/notes.txt"), "mine").unwrap();
        publish(&at("deeper"), "one").unwrap();
        fs::write(at("deeper/release/notes.txt"), "mine").unwrap();
        publish(&at("other"), "one").unwrap();
        fs::write(at("other/release/claim.json"), r#"{"format":"something"}"#).unwrap();
        for name in ["file", "photos", "package", "deeper", "other"] {
            let error = Destination::check(&at(name)).unwrap_err();
            assert!(matches!(&error, Error::Input { hint: Some(_), .. }), "{name}: {error}");
        }
        assert!(matches!(Destination::check(&at("missing/out")), Err(Error::Io { .. })));
        assert!(matches!(Destination::check(Path::new("/")), Err(Error::Recipe { .. })));
        assert!(matches!(Destination::check(Path::new(".")), Err(Error::Recipe { .. })));
        assert_eq!(fs::read_to_string(at("photos/cat.jpg")).unwrap(), "mine");
        assert_eq!(names(folder.path()), ["deeper", "file", "other", "package", "photos"]);
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
    fn leftovers_are_removed_unless_their_maker_lives() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at(".out.disjoin-0123456789abcdef.tmp/release")).unwrap();
        let kept = [".out.disjoin-0123456789abcdeg.tmp", ".out2.disjoin-0123456789abcdef.tmp", ".out.tmp"];
        kept.iter().for_each(|name| fs::create_dir(at(name)).unwrap());
        let alive = at(".out.disjoin-fedcba9876543210.tmp");
        fs::create_dir(&alive).unwrap();
        let lock = lock(&alive).unwrap();
        publish(&out, "one").unwrap();
        let mut expected = kept.map(str::to_owned).to_vec();
        expected.extend([".out.disjoin-fedcba9876543210.tmp".into(), "out".into()]);
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
        drop(lock);
        publish(&out, "two").unwrap();
        assert!(!alive.exists());
    }

    #[test]
    fn without_exchange_the_old_package_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        publish(&out, "one").unwrap();
        let unsupported = |_: &Path, _: &Path| Err(io::ErrorKind::Unsupported.into());
        let destination = Destination::check(&out).unwrap();
        let staging = Staging::create(&destination).unwrap();
        fill(&staging, "two").unwrap();
        destination.replace(&staging.folder, unsupported).unwrap();
        assert_eq!(data(&out), "two");
        assert_eq!(data(&staging.folder), "one");
        // The second step fails: the new folder is gone. The old package is back.
        assert!(destination.replace(&folder.path().join("gone"), unsupported).is_err());
        assert_eq!(data(&out), "two");
        drop((staging, destination));
        assert_eq!(names(folder.path()), ["out"]);
        // A run was killed between the two steps.
        fs::rename(&out, folder.path().join(".out.disjoin-0123456789abcdef.old")).unwrap();
        assert!(Destination::check(&out).unwrap().replaces());
        assert_eq!(data(&out), "two");
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
