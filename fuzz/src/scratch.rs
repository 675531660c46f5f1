//! A folder for files that live as long as one execution: in memory where the system has such a place.

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempDir};

thread_local! {
    static FOLDER: OnceCell<TempDir> = const { OnceCell::new() };
}

/// An empty folder; what the last execution left in it is gone.
pub(crate) fn empty() -> PathBuf {
    let path = FOLDER.with(|folder| folder.get_or_init(create).path().join("x"));
    // It may not be there yet.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).expect("the scratch folder is ours");
    path
}

fn create() -> TempDir {
    let memory = Path::new("/dev/shm");
    let mut builder = Builder::new();
    builder.prefix("disjoin-fuzz");
    let made = if memory.is_dir() { builder.tempdir_in(memory) } else { builder.tempdir() };
    made.expect("a temporary folder can be made")
}

/// Files of a release, in memory.
#[derive(Clone, Default)]
pub(crate) struct Files(pub(crate) Vec<(String, Vec<u8>)>);

impl Files {
    pub(crate) fn with(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.0.push((name.to_owned(), bytes.into()));
        self
    }

    pub(crate) fn get(&self, name: &str) -> &[u8] {
        self.0.iter().find(|(other, _)| other == name).map_or(&[], |(_, bytes)| bytes)
    }

    pub(crate) fn write(&self, folder: &Path) {
        for (name, bytes) in &self.0 {
            fs::write(folder.join(name), bytes).expect("the scratch folder is ours");
        }
    }
}
