//! What of a package is ours to remove: the names, kinds and digests that its list has, and nothing else.
//!
//! Promises:   a file that is not ours is never removed, nor is the folder that it is in
//! Checked by: tests in destination.rs, `tests/it/foreign.rs`

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::manifest::{LIST, Manifest, Standing};
use super::staging::Part;

/// What is said where the list is missing.
pub(super) const NO_LIST: &str = "is missing or was changed: it lists which files of the package disjoin wrote";

/// What is in the way of removing a package: where, relative to the package, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreign {
    /// Empty for the package itself.
    pub(super) path: PathBuf,
    pub(super) problem: &'static str,
}

/// Looks for something in a folder that keeps it from being removed as a package of ours.
pub(super) fn foreign_in(folder: &Path) -> io::Result<Option<Foreign>> {
    if let Some(standing) = not_a_folder(folder)? {
        return Ok(standing.problem().map(|problem| Foreign { path: PathBuf::new(), problem }));
    }
    for name in list(folder)? {
        let is_part = [Part::Release, Part::Custody].iter().any(|part| name == part.folder());
        let standing = match not_a_folder(&folder.join(&name))? {
            None if is_part => continue,
            standing => standing.unwrap_or(Standing::Folder),
        };
        return Ok(standing.problem().map(|problem| Foreign { path: name.into(), problem }));
    }
    let custody = folder.join(Part::Custody.folder());
    let Some(manifest) = Manifest::read(&custody)? else {
        let list = Path::new(Part::Custody.folder()).join(LIST);
        return Ok(Some(Foreign { path: list, problem: NO_LIST }));
    };
    let files = files(folder)?;
    let checked: io::Result<Vec<Option<Foreign>>> = files
        .par_iter()
        .map(|(part, name)| {
            let path = Path::new(part.folder()).join(name);
            let standing = match name.to_str().map(|name| listed(*part, name)) {
                Some(name) => manifest.standing(&custody, &name)?,
                None => Standing::Unlisted,
            };
            Ok(standing.problem().map(|problem| Foreign { path, problem }))
        })
        .collect();
    Ok(checked?.into_iter().flatten().next())
}

/// What stands there instead of a folder.
fn not_a_folder(path: &Path) -> io::Result<Option<Standing>> {
    let kind = fs::symlink_metadata(path)?.file_type();
    Ok(match kind {
        kind if kind.is_symlink() => Some(Standing::Link),
        kind if kind.is_dir() => None,
        kind if kind.is_file() => Some(Standing::Unlisted),
        _ => Some(Standing::Other),
    })
}

/// Removes a package in which nothing is foreign. What has come meanwhile stays, with an error.
pub(super) fn remove_package(folder: &Path) -> io::Result<()> {
    let custody = folder.join(Part::Custody.folder());
    let manifest = Manifest::read(&custody)?.unwrap_or_default();
    for name in manifest.names() {
        // Of ours only: a list that was made for another folder could name anything.
        if ours(name) {
            remove_file(&custody.join(name))?;
        }
    }
    remove_file(&custody.join(LIST))?;
    remove_folders(folder)
}

/// Removes what a run left in a temporary folder: a package if it is a whole one, else files with names of ours. What holds
/// anything else stays.
pub(super) fn remove_leftover(folder: &Path) -> io::Result<()> {
    let removed = match Manifest::read(&folder.join(Part::Custody.folder()))? {
        Some(_) if foreign_in(folder)?.is_some() => return Ok(()),
        Some(_) => remove_package(folder),
        None => discard(folder),
    };
    match removed {
        Err(e) if matches!(e.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory) => Ok(()),
        done => done,
    }
}

/// Removes a temporary folder of this run, by the names of files that it may have written there.
pub(super) fn discard(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    discard_files(folder)?;
    remove_folders(folder)
}

/// Removes the files of a temporary folder of this run.
pub(super) fn discard_files(folder: &Path) -> io::Result<()> {
    for (part, name) in files(folder)? {
        if name.to_str().is_some_and(|name| part.may_write(name)) {
            remove_file(&folder.join(part.folder()).join(name))?;
        }
    }
    Ok(())
}

/// The name of a file in the list, which stands in custody.
pub(super) fn listed(part: Part, name: &str) -> String {
    match part {
        Part::Custody => name.to_owned(),
        Part::Release => format!("../{}/{name}", part.folder()),
    }
}

/// Whether a listed name is one of a package.
fn ours(name: &str) -> bool {
    let name = name
        .strip_prefix("../")
        .and_then(|rest| rest.strip_prefix(Part::Release.folder())?.strip_prefix('/'))
        .unwrap_or(name);
    !name.is_empty() && !name.contains(['/', '\\']) && name != ".."
}

/// All names in both parts but that of the list; a part that is no folder has none.
fn files(folder: &Path) -> io::Result<Vec<(Part, std::ffi::OsString)>> {
    let mut files = Vec::new();
    for part in [Part::Release, Part::Custody] {
        let path = folder.join(part.folder());
        if fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir()) {
            let is_list = |name: &std::ffi::OsString| part == Part::Custody && name == LIST;
            files.extend(list(&path)?.into_iter().filter(|name| !is_list(name)).map(|name| (part, name)));
        }
    }
    Ok(files)
}

fn list(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names: Vec<_> =
        fs::read_dir(folder)?.map(|entry| entry.map(|e| e.file_name())).collect::<io::Result<_>>()?;
    names.sort_unstable();
    Ok(names)
}

/// Files only, and never what a link points to.
fn remove_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_file() => fs::remove_file(path),
        _ => Ok(()),
    }
}

/// Both parts and the folder, if they are empty.
fn remove_folders(folder: &Path) -> io::Result<()> {
    for part in [Part::Release, Part::Custody] {
        match fs::remove_dir(folder.join(part.folder())) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    fs::remove_dir(folder)
}
