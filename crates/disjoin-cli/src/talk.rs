//! What is said, and where: results to stdout, everything else to stderr. Watches the work: progress, and Ctrl-C.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use disjoin::run::Answer;
use disjoin::{Error, Memory, Observer, Result};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::Outcome;

/// Speaks to the user. With `--quiet` only errors are heard.
pub(crate) struct Talk {
    quiet: bool,
    json: bool,
    memory: Memory,
    /// Lives while a stage is under way, and on a terminal only.
    bar: Mutex<Option<ProgressBar>>,
    cancelled: Arc<AtomicBool>,
    /// Whether the work at hand leaves nothing behind, wherever it ends.
    writes_nothing: Arc<AtomicBool>,
}

impl Observer for Talk {
    fn stage(&self, stage: &str) {
        if self.quiet {
            return;
        }
        if !io::stderr().is_terminal() {
            return to_stderr(stage);
        }
        self.with_bar(|bar| {
            bar.reset();
            bar.set_length(0);
            bar.set_message(visible(stage));
            set_style(bar, "{spinner} {msg} ({elapsed})");
        });
    }

    fn warn(&self, warning: &str) {
        Talk::warn(self, warning);
    }

    fn progress(&self, fraction: f64) {
        const PARTS: u64 = 1000;
        if self.quiet || !io::stderr().is_terminal() {
            return;
        }
        self.with_bar(|bar| {
            if bar.length() != Some(PARTS) {
                bar.set_length(PARTS);
                set_style(bar, "{spinner} {msg} {percent} % ({elapsed}, {eta} left)");
            }
            bar.set_position((fraction.clamp(0.0, 1.0) * PARTS as f64) as u64);
        });
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn memory(&self) -> Memory {
        self.memory
    }
}

fn set_style(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

impl Talk {
    /// Listens for Ctrl-C: the first ends the work where it is and leaves nothing behind, the second ends the program.
    pub(crate) fn new(quiet: bool, json: bool, memory: Memory) -> Self {
        let (cancelled, writes_nothing) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (heard, may_end) = (cancelled.clone(), writes_nothing.clone());
        // Where signals cannot be heard, the system ends the program: what it leaves is removed by the next run.
        let _ = ctrlc::set_handler(move || {
            if may_end.load(Ordering::Relaxed) {
                to_stderr(&format!("error: {}", Error::Cancelled));
                std::process::exit(130);
            }
            if heard.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
        Talk { quiet, json, memory, bar: Mutex::new(None), cancelled, writes_nothing }
    }

    /// Does work that nobody can cancel, and that leaves nothing behind: Ctrl-C ends the program meanwhile.
    pub(crate) fn in_memory<T>(&self, work: impl FnOnce() -> T) -> T {
        self.writes_nothing.store(true, Ordering::Relaxed);
        let done = work();
        self.writes_nothing.store(false, Ordering::Relaxed);
        done
    }

    fn with_bar(&self, change: impl FnOnce(&ProgressBar)) {
        // Who panicked with it in hand did so for another reason.
        let mut bar = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        }));
    }

    /// What is wrong with the command line, in the words of its parser: these may repeat what was written there.
    pub(crate) fn usage(error: &clap::Error) {
        let _ = write!(io::stderr(), "{}", visible_lines(&error.render().to_string()));
    }

    /// Whether results go out as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.json
    }

    /// A step of the work begins.
    pub(crate) fn step(&self, text: &str) {
        self.stage(text);
    }

    /// The last step is over: the bar goes away.
    pub(crate) fn end_steps(&self) {
        if let Some(bar) = self.bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take() {
            bar.finish_and_clear();
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
        let (release, custody) = (out.join("release"), out.join("custody"));
        self.note(&format!("{}  may leave the building", release.display()));
        if custody.is_dir() {
            self.note(&format!("{}  must not", custody.display()));
        }
        self.note(&format!("next: disjoin verify {}", out.display()));
    }

    /// Something that may not be what the user meant.
    pub(crate) fn warn(&self, text: &str) {
        self.note(&format!("warning: {text}"));
    }

    /// Errors are heard even with `--quiet`.
    pub(crate) fn error(&self, error: &Error) {
        self.end_steps();
        to_stderr(&format!("error: {error}"));
        if let Some(hint) = error.hint().or_else(|| hint_for(error)) {
            to_stderr(&format!("hint: {hint}"));
        }
    }

    /// What a verb has to say, and what follows for the exit code.
    pub(crate) fn answer(&self, answer: &Answer) -> Result<Outcome> {
        self.remark(answer);
        match self.json {
            true => self.print_json(&answer.json)?,
            false => self.print(&answer.page.text())?,
        }
        Ok(Outcome::of(answer.judged.holds))
    }

    /// Warnings, and files that were written.
    pub(crate) fn remark(&self, answer: &Answer) {
        answer.warnings.iter().for_each(|warning| self.warn(warning));
        let files = answer.wrote.iter().filter(|path| path.is_file());
        files.for_each(|file| self.note(&format!("wrote {}", file.display())));
    }

    /// A result in plain words, to stdout.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        self.end_steps();
        let mut out = io::stdout().lock();
        match out.write_all(visible_lines(text).as_bytes()).and_then(|()| out.flush()) {
            // The reader has gone; what the verb found out still decides the exit code.
            Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|e| Error::io(Path::new("-"), "write the result", e)),
        }
    }

    /// A result for machines, to stdout.
    pub(crate) fn print_json(&self, result: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string_pretty(result).map_err(|_| Error::Internal("a result is always JSON"))?;
        self.print(&(visible_json(&text) + "\n"))
    }
}

/// One line, in which nothing misleads a terminal. A closed stderr is no reason to stop, and there is nobody to tell.
fn to_stderr(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
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

pub(crate) use disjoin::report::{count, number, visible};
use disjoin::report::{visible_json, visible_lines};
