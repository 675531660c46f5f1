//! What is said, and where: results to stdout, everything else to stderr.

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use disjoin::read::Intake;
use disjoin::report;
use disjoin::{Error, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Speaks to the user. With `--quiet` only errors are heard.
pub(crate) struct Talk {
    quiet: bool,
    json: bool,
    /// Lives while a step is under way, and on a terminal only.
    spinner: RefCell<Option<ProgressBar>>,
}

impl Talk {
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        Talk { quiet, json, spinner: RefCell::new(None) }
    }

    /// Whether results go out as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A step of the work begins: a spinner on a terminal, a line otherwise.
    pub(crate) fn step(&self, text: &str) {
        if self.quiet {
            return;
        }
        if !io::stderr().is_terminal() {
            return to_stderr(text);
        }
        let mut spinner = self.spinner.borrow_mut();
        let spinner = spinner.get_or_insert_with(|| {
            let spinner = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                spinner.set_style(style);
            }
            spinner.enable_steady_tick(Duration::from_millis(100));
            spinner
        });
        spinner.set_message(text.to_owned());
    }

    /// The last step is over: the spinner goes away.
    pub(crate) fn end_steps(&self) {
        if let Some(spinner) = self.spinner.borrow_mut().take() {
            spinner.finish_and_clear();
        }
    }

    /// Something worth knowing.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            self.end_steps();
            to_stderr(text);
        }
    }

    /// Where a package is, and what to do with it.
    pub(crate) fn note_places(&self, out: &Path) {
        self.note(&format!("{}  may leave the building", out.join("release").display()));
        self.note(&format!("{}  must not", out.join("custody").display()));
        self.note(&format!("next: disjoin verify {}", out.display()));
    }

    /// Something that may not be what the user meant.
    pub(crate) fn warn(&self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    /// What a reader left out.
    pub(crate) fn intake(&self, intake: &Intake) {
        let report = |n: u64, one: &str, many: &str| {
            if n > 0 {
                self.warn(&format!("{} {}", number(n), if n == 1 { one } else { many }));
            }
        };
        report(intake.empty_records, "record without a term was left out", "records without a term were left out");
        report(intake.empty_terms, "field without text was left out", "fields without text were left out");
        report(
            intake.duplicate_terms,
            "repetition of a term within its record was collapsed",
            "repetitions of a term within its record were collapsed",
        );
    }

    /// Errors are heard even with `--quiet`.
    pub(crate) fn error(&self, error: &Error) {
        self.end_steps();
        to_stderr(&format!("error: {error}"));
        if let Some(hint) = error.hint().or_else(|| hint_for(error)) {
            to_stderr(&format!("hint: {hint}"));
        }
    }

    /// A result in plain words, to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        self.end_steps();
        let mut out = io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            // The reader has gone; what the verb found out still decides the exit code.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|e| Error::io(Path::new("-"), "write the result", e)),
        }
    }

    /// A result for machines, to stdout.
    pub(crate) fn print_json(&self, result: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(result).map_err(|_| Error::Internal("a result is always JSON"))?;
        self.print(&(text + "\n"))
    }
}

/// A closed stderr is no reason to stop, and there is nobody to tell.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// What can be done about the commonest refusals of the system.
fn hint_for(error: &Error) -> Option<&'static str> {
    let Error::Io { source, .. } = error else { return None };
    match source.kind() {
        io::ErrorKind::NotFound => Some("check the spelling; relative paths start at the current folder"),
        io::ErrorKind::PermissionDenied => Some("check the permissions, or choose another place"),
        io::ErrorKind::IsADirectory => Some("name a file in it"),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Some("make room or choose another disk; what was there before is unchanged")
        }
        _ => None,
    }
}

/// A number with separators of thousands.
pub(crate) fn number(n: impl TryInto<u64>) -> String {
    n.try_into().map_or(String::from("?"), report::number)
}

/// A count with its noun.
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// A share in percent. What is not nothing is never shown as 0 %, and what is not all never as 100 %.
pub(crate) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 || part == 0 {
        return String::from("0 %");
    }
    if part == whole {
        return String::from("100 %");
    }
    let share = 100.0 * part as f64 / whole as f64;
    match share {
        share if share < 0.05 => String::from("<0.1 %"),
        share if share > 99.95 => String::from(">99.9 %"),
        share => format!("{share:.1} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let shown = [0_u64, 12, 999, 1000, 123_456, 1_234_567].map(number);
        assert_eq!(shown, ["0", "12", "999", "1,000", "123,456", "1,234,567"]);
    }

    #[test]
    fn shares_are_rounded_but_not_to_nothing_or_all() {
        let shown = [(0, 5), (1, 100_000), (1, 3), (99_999, 100_000), (7, 7), (0, 0)].map(|(a, b)| percent(a, b));
        assert_eq!(shown, ["0 %", "<0.1 %", "33.3 %", ">99.9 %", "100 %", "0 %"]);
    }
}
