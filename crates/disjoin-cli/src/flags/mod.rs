//! Flags that several verbs share, and what recipes call them. A flag that is not given is not written: defaults are the core's.

pub(crate) mod columns;
pub(crate) mod dependencies;
pub(crate) mod input;
pub(crate) mod limits;
pub(crate) mod noise;
pub(crate) mod original;
pub(crate) mod recoding;
pub(crate) mod sets;
pub(crate) mod stronger;
pub(crate) mod words;

use disjoin::memory::{FREE, MOST, PER_BYTE};
use disjoin::recipe::resolve::default;
use disjoin::{Error, Memory, Result};

/// Flags of every verb.
#[derive(clap::Args)]
pub(crate) struct Common {
    /// Use this many threads instead of one per core
    #[arg(long, value_name = "N", global = true, help_heading = "Common", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
    #[arg(long, value_name = "SIZE", global = true, help_heading = "Common", help = memory_help())]
    pub(crate) memory: Option<Memory>,
    /// Say nothing but errors
    #[arg(long, global = true, help_heading = "Common")]
    pub(crate) quiet: bool,
    /// Print the result as JSON on stdout
    #[arg(long, global = true, help_heading = "Common")]
    pub(crate) json: bool,
}

impl Common {
    /// Nothing has used the pool before, so it can be built only once.
    pub(crate) fn start_threads(&self) -> Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().map_err(|_| Error::recipe("threads", "so many cannot be started", "use fewer"))
    }
}

/// What the limit is for, and what it is where nobody sets one.
fn memory_help() -> String {
    let (most, free) = (MOST >> 30, FREE >> 20);
    format!(
        "How much memory a file may ask for by what it claims or unpacks to [default: {PER_BYTE} times its size, {free}M to {most}G]"
    )
}

/// k and m.
#[derive(clap::Args)]
pub(crate) struct Km {
    #[arg(short, value_name = "K", help = format!("How many records or people cannot be told apart [default: {}]", default::K))]
    pub(crate) k: Option<u32>,
    #[arg(short, value_name = "M", help = format!("How many terms of background knowledge an adversary has [default: {}]", default::M))]
    pub(crate) m: Option<u32>,
}

impl Km {
    /// Both, with their defaults.
    pub(crate) fn both(&self) -> (u32, u32) {
        (self.k.unwrap_or(default::K), self.m.unwrap_or(default::M))
    }
}
