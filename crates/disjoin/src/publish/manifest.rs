//! files.sha256: which files of a folder disjoin wrote, and what was in them. `sha256sum -c files.sha256` checks it, too.
//!
//! Promises:   a list that was changed is no list; a file is ours only if it is a regular file with a digest of the list
//! Checked by: tests in this file, `tests/it/foreign.rs`

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::access;

/// The name of the list, in the folder of what it lists.
pub(super) const LIST: &str = "files.sha256";

/// How the first line begins; the digest of all other lines follows.
const HEAD: &str = "# written by disjoin ";

/// The longest list that is read: more than any of ours.
const LONGEST: u64 = 1 << 24;

/// Names relative to the folder of the list, each with its digests in hexadecimal: while a file is being replaced, it may have
/// either of two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    digests: BTreeMap<String, Vec<String>>,
}

/// How a file stands to what is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Absent,
    Ours,
    /// Listed, with other content.
    Changed,
    /// A file that is not listed.
    Unlisted,
    Folder,
    Link,
    /// A device, a pipe.
    Other,
}

impl Standing {
    /// What is wrong with it, if we were to replace or remove it.
    pub(super) fn problem(self) -> Option<&'static str> {
        match self {
            Standing::Absent | Standing::Ours => None,
            Standing::Changed => Some("was changed since disjoin wrote it, and would be lost"),
            Standing::Unlisted => Some("was not written by disjoin, and would be lost"),
            Standing::Folder => Some("is a folder that disjoin did not make, and would be lost"),
            Standing::Link => Some("is a symbolic link, which disjoin neither follows nor removes"),
            Standing::Other => Some("is not a file, and disjoin neither writes to it nor removes it"),
        }
    }
}

impl Manifest {
    /// Reads the list of a folder: none if there is none, or if it is not one of ours as we wrote it.
    pub(super) fn read(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(LIST);
        match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() => {}
            _ => return Ok(None),
        }
        let mut text = Vec::new();
        access::open(&path)?.take(LONGEST).read_to_end(&mut text)?;
        Ok(std::str::from_utf8(&text).ok().and_then(Manifest::parse))
    }

    fn parse(text: &str) -> Option<Self> {
        let (head, lines) = text.split_once('\n')?;
        if head.strip_prefix(HEAD)? != hex(&Sha256::digest(lines)) {
            return None;
        }
        let mut manifest = Manifest::default();
        for line in lines.lines() {
            let (digest, name) = line.split_once("  ")?;
            manifest.digests.entry(name.to_owned()).or_default().push(digest.to_owned());
        }
        Some(manifest)
    }

    /// The text of the list.
    pub(super) fn text(&self) -> String {
        let of = |(name, digests): (&String, &Vec<String>)| {
            digests.iter().map(|digest| format!("{digest}  {name}\n")).collect::<String>()
        };
        let lines: String = self.digests.iter().map(of).collect();
        format!("{HEAD}{}\n{lines}", hex(&Sha256::digest(&lines)))
    }

    /// Lists a file; what was listed under its name before is forgotten.
    pub(super) fn set(&mut self, name: &str, digest: String) {
        self.digests.insert(name.to_owned(), vec![digest]);
    }

    /// Lists one more content that a file may have.
    pub(super) fn add(&mut self, name: &str, digest: String) {
        let digests = self.digests.entry(name.to_owned()).or_default();
        if !digests.contains(&digest) {
            digests.push(digest);
        }
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.digests.keys().map(String::as_str)
    }

    /// How the file of this name stands to the list of its folder.
    pub(super) fn standing(&self, folder: &Path, name: &str) -> io::Result<Standing> {
        let path = folder.join(name);
        let kind = match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Standing::Absent),
            found => found?.file_type(),
        };
        Ok(match self.digests.get(name) {
            _ if kind.is_symlink() => Standing::Link,
            _ if kind.is_dir() => Standing::Folder,
            _ if !kind.is_file() => Standing::Other,
            None => Standing::Unlisted,
            Some(digests) if digests.contains(&digest_of(&path)?) => Standing::Ours,
            Some(_) => Standing::Changed,
        })
    }
}

/// The digest of these bytes, as the list has it.
pub(super) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = access::open(path)?;
    let mut hasher = Sha256::new();
    let mut block = vec![0; 1 << 16];
    while let n @ 1.. = file.read(&mut block)? {
        hasher.update(&block[..n]);
    }
    Ok(hex(&hasher.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file whose digest is reckoned while it is written.
#[derive(Debug)]
pub struct Hashed {
    file: fs::File,
    hasher: Sha256,
}

impl Hashed {
    pub(super) fn new(file: fs::File) -> Self {
        Hashed { file, hasher: Sha256::new() }
    }

    /// Makes the file durable; its digest.
    pub(super) fn finish(self) -> io::Result<String> {
        self.file.sync_all()?;
        Ok(hex(&self.hasher.finalize()))
    }
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.file.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_back_and_a_changed_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::default();
        manifest.set("../release/claim.json", digest(b"{}"));
        manifest.set("a b.csv", digest(b"x"));
        manifest.add("a b.csv", digest(b"y"));
        let text = manifest.text();
        assert!(text.contains(&format!("{}  a b.csv\n", digest(b"x"))), "{text}");
        let read = |text: &str| {
            fs::write(folder.path().join(LIST), text).unwrap();
            Manifest::read(folder.path()).unwrap()
        };
        assert_eq!(read(&text), Some(manifest));
        assert_eq!(read(&text.replace("a b.csv", "c.csv")), None);
        assert_eq!(read("mine"), None);
    }

    #[test]
    fn a_file_is_ours_by_name_kind_and_content() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let mut manifest = Manifest::default();
        ["a", "b", "c", "d"].iter().for_each(|name| manifest.set(name, digest(b"x")));
        fs::write(at("a"), "x").unwrap();
        fs::write(at("b"), "y").unwrap();
        fs::create_dir(at("c")).unwrap();
        fs::write(at("e"), "x").unwrap();
        let standing = |name| manifest.standing(folder.path(), name).unwrap();
        assert_eq!(
            ["a", "b", "c", "e"].map(standing),
            [Standing::Ours, Standing::Changed, Standing::Folder, Standing::Unlisted]
        );
        assert_eq!(standing("d"), Standing::Absent);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("a"), at("d")).unwrap();
            assert_eq!(standing("d"), Standing::Link);
        }
    }
}
