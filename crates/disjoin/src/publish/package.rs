//! What a package holds, and where: `release/` may leave the building, `custody/` must not. One package for all forms.
//!
//! Promises:   files are written at the same time, each as a whole; `release/` says nothing about the order of the input
//! Checked by: `tests/it/table_release.rs`, `tests/it/recoded.rs`, `crates/disjoin-cli/tests/it/package.rs`

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::custody::{self, Custody, map_writer};
use super::manifest::{Hashed, LIST};
use super::staging::{Part, Staging};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::release::open::{InMemory, JsonlWriter, RootStream, copy};
#[cfg(feature = "parquet")]
use crate::release::parquet;
use crate::release::{Disassociated, Form, jsonl};

/// How disassociated data are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// data.jsonl: a cluster a line.
    #[default]
    JsonLines,
    /// data.parquet: the same content for large data.
    Parquet,
}

impl Encoding {
    /// The name of the data file.
    pub fn file_name(self) -> &'static str {
        match self {
            Encoding::JsonLines => "data.jsonl",
            Encoding::Parquet => "data.parquet",
        }
    }
}

/// A file that is written: with every block, it is asked whether to stop.
pub struct Watched<'a, F = Hashed> {
    file: &'a mut F,
    observer: &'a dyn Observer,
}

impl<'a, F: Write> Watched<'a, F> {
    /// Watches a file.
    pub fn new(file: &'a mut F, observer: &'a dyn Observer) -> Self {
        Watched { file, observer }
    }
}

impl<F: Write> Write for Watched<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A buffer that is dropped because the work was cancelled writes once more; to unwind there would abort.
        if !std::thread::panicking() {
            self.observer.check();
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

type Fill<'a> = Box<dyn FnOnce(&mut Watched<'_>) -> Result<()> + Send + 'a>;

/// The files of a package, and how each is filled.
#[derive(Default)]
pub struct Package<'a> {
    files: Vec<(Part, String, Fill<'a>)>,
}

impl<'a> Package<'a> {
    /// A file that is filled by writing to it. Large ones come first: the others are written meanwhile.
    #[must_use]
    pub fn file(
        mut self,
        part: Part,
        name: impl Into<String>,
        fill: impl FnOnce(&mut Watched<'_>) -> io::Result<()> + Send + 'a,
    ) -> Self {
        let name = name.into();
        let place = PathBuf::from(part.folder()).join(&name);
        let fill = move |file: &mut Watched<'_>| fill(file).map_err(|e| Error::io(&place, "write", e));
        self.files.push((part, name, Box::new(fill)));
        self
    }

    /// A file of these bytes.
    #[must_use]
    pub fn bytes(self, part: Part, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        self.file(part, name, move |file| file.write_all(&bytes))
    }

    /// The data of a disassociated release.
    #[must_use]
    pub fn disassociated(mut self, release: &'a Disassociated, encoding: Encoding) -> Self {
        match encoding {
            Encoding::JsonLines => self.file(Part::Release, encoding.file_name(), |file| jsonl::write(release, file)),
            Encoding::Parquet => {
                let fill = move |file: &mut Watched<'_>| copy_to(&mut InMemory::new(release), encoding, file);
                self.files.push((Part::Release, encoding.file_name().into(), Box::new(fill)));
                self
            }
        }
    }

    /// The same root by root: memory does not grow with the release.
    #[must_use]
    pub fn copied(mut self, from: &'a mut (impl RootStream + 'a), encoding: Encoding) -> Self {
        let fill = move |file: &mut Watched<'_>| copy_to(from, encoding, file);
        self.files.push((Part::Release, encoding.file_name().into(), Box::new(fill)));
        self
    }

    /// How the release was made, and where each record or row went.
    pub fn custody<I>(self, form: Form, custody: &Custody, places: I) -> Result<Self>
    where
        I: Iterator<Item = io::Result<Option<u32>>> + Send + 'a,
    {
        let package = self.bytes(Part::Custody, "custody.json", custody.to_json()?);
        Ok(package.map(form, places))
    }

    /// Where each record or row went.
    #[must_use]
    pub fn map<I>(self, form: Form, places: I) -> Self
    where
        I: Iterator<Item = io::Result<Option<u32>>> + Send + 'a,
    {
        match map_writer(form, places) {
            Some((name, fill)) => self.file(Part::Custody, name, fill),
            None => self,
        }
    }

    /// Writes all files.
    pub fn write(self, staging: &Staging, observer: &dyn Observer) -> Result<()> {
        // Waiting for the disk overlaps with work.
        self.files.into_par_iter().with_max_len(1).try_for_each(|(part, name, fill)| {
            observer.check();
            let written = staging.write(part, &name, |file| fill(&mut Watched::new(file, observer)));
            // Whoever fills a file does not know which folder it will be in.
            written.map_err(|error| match error {
                Error::Io { action, source, .. } => Error::io(&staging.place(part, &name), action, source),
                other => other,
            })
        })
    }
}

fn copy_to(from: &mut impl RootStream, encoding: Encoding, file: &mut Watched<'_>) -> Result<()> {
    let observer = file.observer;
    let header = from.header();
    let place = format!("{}/{}", Part::Release.folder(), encoding.file_name());
    let out = BufWriter::with_capacity(1 << 20, file);
    match encoding {
        Encoding::JsonLines => copy(from, JsonlWriter::new(out, &header, &place)?, observer).map(|_| ()),
        #[cfg(feature = "parquet")]
        Encoding::Parquet => copy(from, parquet::Writer::new(out, &header, &place)?, observer).map(|_| ()),
        #[cfg(not(feature = "parquet"))]
        Encoding::Parquet => {
            let problem = "this build of disjoin does not write Parquet";
            Err(Error::recipe("output.format", problem, "write jsonl, or build with the feature `parquet`"))
        }
    }
}

/// Where each of these went, as [`Package::map`] takes it.
pub fn everywhere(places: &[u32]) -> impl Iterator<Item = io::Result<Option<u32>>> + Send + '_ {
    places.iter().map(|&place| Ok(Some(place)))
}

/// The same where some went nowhere.
pub fn somewhere(places: Vec<Option<u32>>) -> impl Iterator<Item = io::Result<Option<u32>>> + Send {
    places.into_iter().map(Ok)
}

/// Copies files of a former custody folder that speak of the input, and not of how it was published.
pub fn carry<'a>(package: Package<'a>, from: &Path, names: &[&str]) -> Result<Package<'a>> {
    names.iter().map(|name| from.join(name)).filter(|path| path.is_file()).try_fold(package, |package, path| {
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(package.bytes(Part::Custody, name, bytes))
    })
}

/// How the data of a release folder of disassociated data are stored.
pub fn encoding_of(folder: &Path) -> Result<Encoding> {
    let stored = [Encoding::JsonLines, Encoding::Parquet].map(|e| folder.join(e.file_name()).is_file());
    match stored {
        [true, false] => Ok(Encoding::JsonLines),
        [false, true] => Ok(Encoding::Parquet),
        [false, false] => Err(refuse(folder, "holds neither data.jsonl nor data.parquet")),
        [true, true] => Err(refuse(folder, "holds both data.jsonl and data.parquet: which one is meant?")),
    }
}

/// The folder with claim.json, given a package or its release folder: the claim says which form of data stands beside it.
pub fn release_folder(path: &Path) -> Result<PathBuf> {
    let inner = path.join(Part::Release.folder());
    let folder = if inner.join("claim.json").is_file() { inner } else { path.to_path_buf() };
    match std::fs::metadata(path) {
        Err(e) => Err(Error::io(path, "read the release", e)),
        Ok(data) if !data.is_dir() => Err(refuse(path, "is a file, not the folder of a release")),
        Ok(_) if !folder.join("claim.json").is_file() => Err(refuse(path, "holds no claim.json: not a release")),
        Ok(_) => Ok(folder),
    }
}

/// The custody folder that somebody named, or the one beside a release folder.
pub fn custody_folder(named: Option<&Path>, release: &Path) -> Option<PathBuf> {
    // A package that was made of a release alone has a list of its files there, and nothing else.
    let is_kept = |folder: &PathBuf| {
        std::fs::read_dir(folder)
            .is_ok_and(|mut files| files.any(|file| file.is_ok_and(|file| file.file_name() != LIST)))
    };
    let beside = || release.parent().map(|parent| parent.join(Part::Custody.folder())).filter(is_kept);
    named.map(Path::to_path_buf).or_else(beside)
}

fn refuse(path: &Path, problem: &str) -> Error {
    let hint = "give the folder that disjoin protect wrote, or the folder release in it";
    Error::input(Place::file(path.display().to_string()), problem).with_hint(hint)
}

pub(crate) use custody::{BLOCK, flush_block};
