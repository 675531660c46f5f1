//! Where a generated or converted file goes: stdout, or a file that appears as a whole, packed by its extension.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use disjoin::publish::{Readers, Watched, write_file};
use disjoin::read::Format;
use disjoin::{Error, Result};

use crate::talk::Talk;

const BUFFER: usize = 1 << 18;

/// Where what a verb makes goes.
#[derive(clap::Args)]
pub(crate) struct To {
    /// The file to write, packed if it ends in .gz or .zst [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

impl To {
    /// Its name, for errors.
    pub(crate) fn path(&self) -> &Path {
        self.out.as_deref().unwrap_or(Path::new("-"))
    }

    pub(crate) fn write<T>(&self, talk: &Talk, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        write_to(self.out.as_deref(), self.force, talk, fill)
    }
}

/// Lets `fill` write to the file, until Ctrl-C (`None` or `-` is stdout); names that end in .gz or .zst are packed.
pub(crate) fn write_to<T>(
    path: Option<&Path>,
    overwrite: bool,
    talk: &Talk,
    fill: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    match path.filter(|path| *path != Path::new("-")) {
        None => {
            let mut stdout = io::stdout().lock();
            let mut out = BufWriter::with_capacity(BUFFER, Watched::new(&mut stdout, talk));
            let filled = fill(&mut out)?;
            out.flush().map_err(|e| Error::io(Path::new("-"), "write", e))?;
            Ok(filled)
        }
        Some(path) => {
            write_file(path, overwrite, Readers::Usual, |file| packed(path, &mut Watched::new(file, talk), fill))
        }
    }
}

fn packed<T>(path: &Path, file: &mut Watched<'_, File>, fill: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let cannot_write = |e| Error::io(path, "write", e);
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let filled = match extension(path).as_str() {
        "gz" => {
            let mut packer = flate2::write::GzEncoder::new(&mut out, flate2::Compression::default());
            let filled = fill(&mut packer)?;
            packer.finish().map_err(cannot_write)?;
            filled
        }
        "zst" => {
            let mut packer = zstd::stream::Encoder::new(&mut out, 0).map_err(cannot_write)?;
            let filled = fill(&mut packer)?;
            packer.finish().map_err(cannot_write)?;
            filled
        }
        _ => fill(&mut out)?,
    };
    out.flush().map_err(cannot_write)?;
    Ok(filled)
}

/// The format that a file's name asks for.
pub(crate) fn format_of(path: &Path) -> Option<Format> {
    let inner = if matches!(extension(path).as_str(), "gz" | "zst") { path.with_extension("") } else { path.into() };
    match extension(&inner).as_str() {
        "dat" | "txt" | "basket" => Some(Format::Basket),
        "spmf" => Some(Format::Spmf),
        "csv" => Some(Format::Table),
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
