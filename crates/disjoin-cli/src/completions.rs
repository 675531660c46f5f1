//! `disjoin completions` and `disjoin man`: what shells and readers of manuals want.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_complete::Shell;
use disjoin::{Error, Result};

use crate::talk::Talk;
use crate::{Cli, Outcome};

/// Print completions for a shell
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  disjoin completions bash > /etc/bash_completion.d/disjoin
  disjoin completions zsh > ~/.zfunc/_disjoin
  disjoin completions fish > ~/.config/fish/completions/disjoin.fish";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "disjoin", &mut text);
    talk.print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Holds)
}

/// Write the manual pages, one a verb, to a folder
#[derive(clap::Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The folder, made if it is missing
    folder: PathBuf,
}

const MAN_EXAMPLES: &str = "\
Examples:
  disjoin man man1 && man ./man1/disjoin-run.1";

pub(crate) fn man(args: &ManArgs, talk: &Talk) -> Result<Outcome> {
    let cannot = |path: &Path, e| Error::io(path, "write the manual", e);
    std::fs::create_dir_all(&args.folder).map_err(|e| cannot(&args.folder, e))?;
    clap_mangen::generate_to(Cli::command(), &args.folder).map_err(|e| cannot(&args.folder, e))?;
    talk.note(&format!("wrote the manual to {}", args.folder.display()));
    Ok(Outcome::Holds)
}
