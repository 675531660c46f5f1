//! How much may a file ask for? What a file claims costs its writer nothing, so that memory follows from its real size.
//!
//! A file is unpacked, or laid out by the counts that stand in it, up to [`FREE`] bytes and [`PER_BYTE`] for each of its own, and up to
//! [`MOST`] in all. Whoever trusts it sets another limit, which then holds for files of any size. What needs more is an
//! error that names the file, what it asks for, and the limit.
//!
//! Promises:   nothing is allocated by a number that was read before it was compared with the limit
//! Departs:    what stands in a file as it is (rows, terms) is not estimated: it takes a small multiple of the file's size
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/hostile.rs`

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use crate::error::{Error, Place, Result};

/// Bytes that any file may ask for, however small it is.
pub const FREE: u64 = 64 << 20;

/// Bytes that a file may ask for by each of its own.
pub const PER_BYTE: u64 = 100;

/// Bytes that no file may ask for unless somebody says so.
pub const MOST: u64 = 4 << 30;

/// How much memory work on a file may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    most: u64,
    per_byte: Option<u64>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { most: MOST, per_byte: Some(PER_BYTE) }
    }
}

impl Memory {
    /// A limit that somebody set, for files of any size.
    pub fn of(bytes: u64) -> Self {
        Memory { most: bytes, per_byte: None }
    }

    /// The limit for a file of so many bytes.
    pub fn limit(self, bytes: u64) -> u64 {
        self.unpacked(bytes).min(self.most)
    }

    /// How many bytes so many may become where none of them is kept; any number by a limit that somebody set.
    pub fn unpacked(self, packed: u64) -> u64 {
        self.per_byte.map_or(u64::MAX, |per_byte| FREE.saturating_add(packed.saturating_mul(per_byte)))
    }

    /// Refuses what asks for more than a file of so many bytes may; `what` it is that asks is named.
    pub fn check(self, asked: u64, bytes: u64, place: impl FnOnce() -> Place, what: &str) -> Result<()> {
        let limit = self.limit(bytes);
        match asked <= limit {
            true => Ok(()),
            false => Err(over(place(), &format!("{what} asks for {}", shown(asked)), limit)),
        }
    }
}

/// The error for something that `asks` for more than the limit.
pub(crate) fn over(place: Place, asks: &str, limit: u64) -> Error {
    Error::input(place, format!("{asks} of memory, and the limit for this file is {}", shown(limit)))
        .with_hint("if you trust the file, raise the limit: --memory 16G, for instance")
}

/// Units by their letters.
const UNITS: [(char, u32); 4] = [('K', 10), ('M', 20), ('G', 30), ('T', 40)];

/// Bytes as somebody writes them: `800M`, `2G`, or a plain number.
impl FromStr for Memory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let upper = text.trim().to_ascii_uppercase();
        let written = upper.strip_suffix("IB").or(upper.strip_suffix('B')).unwrap_or(&upper);
        let unit = UNITS.iter().find_map(|&(letter, bits)| Some((written.strip_suffix(letter)?, bits)));
        let (digits, bits) = unit.unwrap_or((written, 0));
        let bytes = digits.trim_end().parse().ok().and_then(|number: u64| number.checked_mul(1 << bits));
        bytes.filter(|&bytes| bytes > 0).map(Memory::of).ok_or_else(|| {
            Error::recipe("memory", "is not a number of bytes", "write 2G, 800M or a plain number of bytes")
        })
    }
}

/// Bytes for people.
fn shown(bytes: u64) -> String {
    let unit = UNITS.iter().rev().find(|&&(_, bits)| bytes >> bits > 0);
    match unit {
        Some((letter, bits)) => format!("{:.1} {letter}iB", bytes as f64 / (1_u64 << bits) as f64),
        None => format!("{bytes} bytes"),
    }
}

/// Opens a file to be read. What never ends (a device, a pipe that nobody writes to) is refused, and so is a folder.
pub fn open_file(path: &Path, action: &'static str) -> Result<File> {
    let about = std::fs::metadata(path).map_err(|e| Error::io(path, action, e))?;
    if about.is_dir() {
        return Err(Error::io(path, action, io::ErrorKind::IsADirectory.into()));
    }
    if !about.is_file() {
        let problem = "is a device, a pipe or a socket, and not a file";
        return Err(Error::input(Place::file(path.display().to_string()), problem)
            .with_hint("save the data in a file; disjoin inspect - reads the standard input"));
    }
    File::open(path).map_err(|e| Error::io(path, action, e))
}

/// All bytes of a file, if they are no more than the limit.
pub fn read_file(path: &Path, action: &'static str, memory: Memory) -> Result<Vec<u8>> {
    let file = open_file(path, action)?;
    let size = file.metadata().map_or(0, |about| about.len());
    let place = || Place::file(path.display().to_string());
    memory.check(size, size, place, "the file")?;
    let mut bytes = Vec::new();
    file.take(memory.most).read_to_end(&mut bytes).map_err(|e| Error::io(path, action, e))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_the_size_of_a_file_unless_somebody_sets_one() {
        let memory = Memory::default();
        assert_eq!(memory.limit(0), FREE);
        assert_eq!(memory.limit(1000), FREE + 1000 * PER_BYTE);
        assert_eq!((memory.limit(1 << 40), memory.limit(u64::MAX)), (MOST, MOST));
        assert_eq!(Memory::of(7).limit(1 << 40), 7);
        assert!(memory.check(FREE, 0, || Place::file("f"), "it").is_ok());
        let error = memory.check(103 << 30, 233, || Place::line("f", 2), "the cluster").unwrap_err();
        assert_eq!(
            error.to_string(),
            "f:2: the cluster asks for 103.0 GiB of memory, and the limit for this file is 64.0 MiB"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("--memory")));
    }

    #[test]
    fn bytes_are_written_as_people_do() {
        for (text, bytes) in [("512", 512), ("2G", 2 << 30), ("800m", 800 << 20), ("1 KiB", 1024), ("3TB", 3 << 40)] {
            assert_eq!(text.parse::<Memory>().unwrap(), Memory::of(bytes), "{text}");
        }
        for text in ["", "G", "0", "-1", "1.5G", "nan", "99999999999999999999", "99999999T", "2 X"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read_file(folder.path(), "read", Memory::default()).is_err());
        assert!(read_file(&folder.path().join("none"), "read", Memory::default()).is_err());
        let path = folder.path().join("some");
        std::fs::write(&path, "some text").unwrap();
        assert_eq!(read_file(&path, "read", Memory::default()).unwrap(), b"some text");
        assert!(read_file(&path, "read", Memory::of(8)).unwrap_err().to_string().contains("8 bytes"));
        #[cfg(unix)]
        assert!(read_file(Path::new("/dev/zero"), "read", Memory::default()).is_err());
    }
}
