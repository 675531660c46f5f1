//! What can go wrong, sorted by who must act.
//!
//! No message ever holds a value of a person: errors end up in logs. Places (file, line, column, row) are
//! enough to find the value in the file that the steward already has.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::location::shown;

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, named after who must act on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data must be changed: a file is not what it should be.
    #[error("{place}: {problem}")]
    Input {
        /// Where in the input.
        place: Place,
        /// What was found and what was expected.
        problem: String,
        /// How to go on.
        hint: Option<String>,
    },
    /// A parameter must be changed: a flag or a key of the recipe.
    #[error("{key}: {problem}")]
    Recipe {
        /// The parameter, as recipes write it: `protect.k`. A shell spells it in its own way.
        key: Cow<'static, str>,
        /// Why its value cannot be used.
        problem: String,
        /// How to go on.
        hint: Option<String>,
    },
    /// Data and parameters are fine one by one, but no release can keep the promise for them.
    #[error("{problem}")]
    Infeasible {
        /// Which bound failed.
        problem: String,
        /// What would satisfy it.
        hint: String,
    },
    /// A step of a method that adds noise asks for more of the privacy budget than is left.
    #[error("{step} asks for {asked} of the privacy budget, of which {left} is left")]
    Budget {
        /// What the budget was to be spent on.
        step: String,
        /// How much.
        asked: String,
        /// How much there is.
        left: String,
    },
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a verb phrase.
        action: &'static str,
        /// The system's own words.
        source: io::Error,
    },
    /// Whoever watched the work stopped it; nothing was written.
    #[error("cancelled: nothing was written")]
    Cancelled,
    /// A defect of disjoin itself.
    #[error("internal defect: {0}; please report it")]
    Internal(&'static str),
}

impl Error {
    /// An [`Error::Input`] without a hint.
    pub fn input(place: Place, problem: impl Into<String>) -> Self {
        Error::Input { place, problem: problem.into(), hint: None }
    }

    /// An [`Error::Recipe`] with a hint.
    pub fn recipe(key: impl Into<Cow<'static, str>>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Error::Recipe { key: key.into(), problem: problem.into(), hint: Some(hint.into()) }
    }

    /// An [`Error::Io`]. A URL that was taken for a path loses its password.
    pub fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        let path = path.to_str().map_or_else(|| path.to_path_buf(), |path| PathBuf::from(shown(path)));
        Error::Io { path, action, source }
    }

    /// The same error with a hint, where the variant can carry one.
    #[must_use]
    pub fn with_hint(mut self, text: impl Into<String>) -> Self {
        if let Error::Input { hint, .. } | Error::Recipe { hint, .. } = &mut self {
            *hint = Some(text.into());
        }
        self
    }

    /// How to go on, if there is something to say.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Input { hint, .. } | Error::Recipe { hint, .. } => hint.as_deref(),
            Error::Infeasible { hint, .. } => Some(hint),
            Error::Budget { .. } | Error::Io { .. } | Error::Cancelled | Error::Internal(_) => None,
        }
    }
}

/// A place in the input: a file, and within it a line, a row or a column, as far as known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it; `-` is standard input.
    pub file: String,
    /// Line number from 1 in text, or row number from 1 in a columnar file.
    pub line: Option<u64>,
    /// The name of a column.
    pub column: Option<String>,
}

impl Place {
    /// The whole file. The password of a URL is not kept.
    pub fn file(name: impl Into<String>) -> Self {
        Place { file: shown(&name.into()), line: None, column: None }
    }

    /// A line (or row) of the file, counted from 1.
    pub fn line(name: impl Into<String>, line: u64) -> Self {
        Place { file: shown(&name.into()), line: Some(line), column: None }
    }

    /// The same place, in a named column.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", if self.file == "-" { "standard input" } else { &self.file })?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, " (column {column})")?;
        }
        Ok(())
    }
}
