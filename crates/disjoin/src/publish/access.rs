//! Files and folders are made with the mode that they keep, and opened without following symbolic links.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::path::Path;

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the system lets read new files.
    Usual,
    /// Only the owner: it was made from the original.
    Owner,
}

/// A new file; an error if anything stands there, a symbolic link too.
pub(super) fn create(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = readers;
    options.open(path)
}

/// A new folder, or folders.
pub(super) fn create_folder(path: &Path, readers: Readers, with_parents: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    #[cfg(not(unix))]
    let _ = readers;
    builder.create(path)
}

/// An existing file to read from, and to add to at its end.
pub(super) fn open_append(path: &Path) -> io::Result<File> {
    no_follow(OpenOptions::new().read(true).append(true)).open(path)
}

/// An existing file to read.
pub(super) fn open(path: &Path) -> io::Result<File> {
    no_follow(OpenOptions::new().read(true)).open(path)
}

/// The first bytes of a file; its place stays at the start. Shorter files leave the rest as it is.
pub(super) fn read_at_start(mut file: &File, bytes: &mut [u8]) -> io::Result<()> {
    file.rewind()?;
    let mut at = 0;
    while let n @ 1.. = file.read(&mut bytes[at..])? {
        at += n;
    }
    file.rewind()
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    use rustix::fs::OFlags;
    // A pipe in the place of a file must not make us wait for its other end.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits() as i32)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn no_follow(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether nobody but its owner may use a file; where there are no modes, nobody knows.
#[cfg(unix)]
pub(super) fn is_private(data: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&data.permissions()) & 0o077 == 0
}

#[cfg(not(unix))]
pub(super) fn is_private(_: &fs::Metadata) -> bool {
    true
}

/// Takes a file of ours away from the eyes of others.
#[cfg(unix)]
pub(super) fn make_private(file: &File) -> io::Result<()> {
    match is_private(&file.metadata()?) {
        true => Ok(()),
        false => file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600)),
    }
}

#[cfg(not(unix))]
pub(super) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}
