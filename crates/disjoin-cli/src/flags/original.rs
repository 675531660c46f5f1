//! A release, what it was made from, and what was kept of its making.

use std::path::{Path, PathBuf};

use disjoin::run::Originally;
use disjoin::{Error, Place};

use super::input::{Input, name_of};

/// The original of a release, where it is not needed.
#[derive(clap::Args)]
pub(crate) struct Original {
    /// The data that the release was made from: a file ("-" is standard input) or the URL of a table
    #[arg(long, value_name = "FILE")]
    original: Option<PathBuf>,
    /// The custody folder [default: the one beside the release, if there is one]
    #[arg(long, value_name = "DIR")]
    custody: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) input: Input,
}

impl Original {
    pub(crate) fn originally(&self) -> Originally<'_> {
        Originally { location: self.original.as_deref(), options: self.input.options() }
    }

    pub(crate) fn custody(&self) -> Option<&Path> {
        self.custody.as_deref()
    }

    /// An error about the original names its file.
    pub(crate) fn named(&self, error: Error) -> Error {
        named(error, self.original.as_deref())
    }
}

/// An error about the original names its file.
pub(crate) fn named(error: Error, original: Option<&Path>) -> Error {
    match (error, original) {
        (Error::Input { place, problem, hint }, Some(file)) if place == Place::file("the original") => {
            Error::Input { place: Place::file(name_of(file)), problem, hint }
        }
        (error, _) => error,
    }
}
