//! The papers of the lab: which figures they have, from which files they are drawn, and how pages come to be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use disjoin::{Error, Result};

use crate::page::{Origin, Page, claims_of, digest, fingerprint_of, index, write};
use crate::{Scale, amiri2016, barakat2016, judge, nadimpalli2014, shao2017, terrovitis2012};

/// What figures are drawn from.
#[derive(Clone)]
pub(crate) struct Given {
    pub(crate) data: PathBuf,
    pub(crate) scale: Scale,
    /// What disjoin corpus build made of dictionaries.
    pub(crate) corpus: Option<PathBuf>,
    /// Static word vectors.
    pub(crate) vectors: Option<PathBuf>,
    /// Where WordNet's data.noun is.
    pub(crate) wordnet: PathBuf,
}

impl Given {
    /// Small data in a folder.
    pub(crate) fn small(folder: &Path) -> Self {
        let (data, wordnet) = (folder.to_owned(), folder.to_owned());
        Given { data, scale: Scale::Tiny, corpus: None, vectors: None, wordnet }
    }

    /// A file of the data, in their folder or in one of its folders.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let inner = ["adult", "medical-text"].map(|folder| self.data.join(folder).join(name));
        inner.into_iter().find(|path| path.exists()).unwrap_or_else(|| self.data.join(name))
    }
}

/// Takes a page that was drawn.
pub(crate) type Put<'a> = &'a mut dyn FnMut(&'static str, Page) -> Result<()>;

/// A figure, and the files it is drawn from.
pub(crate) type Named = (&'static str, &'static [&'static str]);

/// A paper, drawn again.
pub(crate) struct Paper {
    pub(crate) key: &'static str,
    pub(crate) introduction: &'static str,
    pub(crate) figures: fn() -> Vec<Named>,
    /// Draws some of its figures.
    pub(crate) draw: fn(&Given, &[&str], Put<'_>) -> Result<()>,
    /// Writes small generated data to a folder.
    pub(crate) small: fn(&Path) -> Result<Given>,
}

/// The words that a figure may be drawn from beside the files of the data.
pub(crate) const CORPUS: &str = "corpus";
pub(crate) const VECTORS: &str = "vectors";
pub(crate) const WORDNET: &str = "data.noun";

pub(crate) const PAPERS: [Paper; 5] =
    [terrovitis2012::PAPER, barakat2016::PAPER, amiri2016::PAPER, nadimpalli2014::PAPER, shao2017::PAPER];

impl Paper {
    /// Draws a figure, or all of them.
    pub(crate) fn run(&self, figure: &str, given: &Given, out: &Path) -> Result<()> {
        let figures = (self.figures)();
        let wanted: Vec<&str> =
            figures.iter().map(|named| named.0).filter(|name| figure == "all" || figure == *name).collect();
        if wanted.is_empty() {
            let all = figures.iter().map(|named| named.0).collect::<Vec<_>>().join(", ");
            let problem = format!("there is no figure {figure}");
            return Err(Error::recipe("figure", problem, format!("one of {all}, or all")));
        }
        let folder = out.join(self.key);
        let fingerprints = self.fingerprints(&wanted)?;
        let commit = commit();
        (self.draw)(given, &wanted, &mut |name, page| {
            let of_name = |(other, _): &&(&'static str, String)| *other == name;
            let fingerprint = fingerprints.iter().find(of_name).map_or("", |(_, fingerprint)| fingerprint);
            let files = figures.iter().find(|named| named.0 == name).map_or(&[][..], |named| named.1);
            let inputs = files.iter().filter_map(|file| input(given, file).transpose()).collect::<Result<Vec<_>>>()?;
            let command = self.command(name, given, files);
            page.write(&folder, name, &Origin { command: &command, commit: &commit, inputs: &inputs, fingerprint })
        })
    }

    /// The fingerprints of figures: those of the pages on small generated data.
    pub(crate) fn fingerprints(&self, wanted: &[&str]) -> Result<Vec<(&'static str, String)>> {
        let mut all = Vec::new();
        self.on_small_data(wanted, &mut |name, page| {
            all.push((name, page.fingerprint()));
            Ok(())
        })?;
        Ok(all)
    }

    /// Draws figures on small generated data.
    pub(crate) fn on_small_data(&self, wanted: &[&str], put: Put<'_>) -> Result<()> {
        let folder = tempfile::tempdir().map_err(|e| Error::io(Path::new("a temporary folder"), "create", e))?;
        (self.draw)(&(self.small)(folder.path())?, wanted, put)
    }

    /// The list of its verdicts.
    pub(crate) fn index(&self, folder: &Path) -> String {
        index(folder, self.introduction, (self.figures)().into_iter().map(|named| named.0))
    }

    fn command(&self, figure: &str, given: &Given, files: &[&str]) -> String {
        let mut text = String::new();
        if files.contains(&CORPUS) {
            text += "cargo run --release -p disjoin-cli -- corpus build /usr/share/wordnet /usr/share/dictd -o words.corpus\n";
        }
        text += &format!("cargo run --release -p disjoin-lab -- {} {figure} --data DIR", self.key);
        if files.contains(&CORPUS) {
            text += " --corpus words.corpus";
        }
        if files.contains(&VECTORS) && given.vectors.is_some() {
            text += " --vectors wordllama.whl";
        }
        if self.key == terrovitis2012::PAPER.key {
            text += &format!(" --scale {}", given.scale.name());
        }
        text
    }
}

/// A file that a figure is drawn from, and its digest; none if it is not at hand and need not be.
fn input(given: &Given, file: &str) -> Result<Option<(String, String)>> {
    let path = match file {
        CORPUS => given.corpus.clone(),
        VECTORS => given.vectors.clone(),
        WORDNET => Some(given.wordnet.join(WORDNET)),
        _ => Some(given.file(file)),
    };
    let Some(path) = path else { return Ok(None) };
    let bytes = fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
    Ok(Some((file.to_owned(), digest(&bytes))))
}

/// The commit of the sources, and whether they were changed since.
fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--", "lab/src", "crates/disjoin/src"]);
    match (git(&["rev-parse", "--short=12", "HEAD"]), changed.as_deref()) {
        (Some(commit), Some("")) => commit,
        (Some(commit), _) => format!("{commit} with changes"),
        _ => "unknown".into(),
    }
}

const BEGIN: &str = "<!-- verdicts: made by lab, do not edit -->\n";
const END: &str = "<!-- end of verdicts -->\n";

/// The text of a README with the table of all verdicts between its markers.
pub(crate) fn with_verdicts(readme: &str, out: &Path) -> Result<String> {
    let parts = readme.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or_else(|| {
        Error::recipe("README.md", "has no place for verdicts", "put the two comments of lab/src/papers.rs there")
    })?;
    Ok(format!("{head}{BEGIN}{}{END}{tail}", verdicts(out)))
}

/// Writes the lists of verdicts of every paper, and the table of all.
pub(crate) fn write_verdicts(out: &Path) -> Result<()> {
    for paper in PAPERS {
        let folder = out.join(paper.key);
        fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, "create the folder", e))?;
        write(&folder.join("README.md"), &paper.index(&folder))?;
    }
    let path = out.parent().unwrap_or(out).join("README.md");
    let readme = fs::read_to_string(&path).map_err(|e| Error::io(&path, "read", e))?;
    write(&path, &with_verdicts(&readme, out)?)
}

/// How many claims came out how, and all of them.
fn verdicts(out: &Path) -> String {
    let mut rows = String::new();
    let mut counts = String::new();
    let mut without = Vec::new();
    for paper in PAPERS {
        let mut of_paper = Vec::new();
        for (figure, _) in (paper.figures)() {
            let name = format!("{}/{figure}", paper.key);
            let page = fs::read_to_string(out.join(format!("{name}.md"))).unwrap_or_default();
            if fingerprint_of(&page).is_none() {
                without.push(name);
                continue;
            }
            for row in claims_of(&page) {
                // Without the column of what the paper prints.
                let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
                let [said, _, criterion, number, interval, verdict] = cells[..] else { continue };
                rows += &format!(
                    "| [{name}](papers/{name}.md) | {said} | {criterion} | {number} | {interval} | {verdict} |\n"
                );
                of_paper.push(verdict.to_owned());
            }
        }
        let count = |word: &str| of_paper.iter().filter(|verdict| verdict.starts_with(word)).count();
        let cells = judge::Verdict::ALL.map(|verdict| count(verdict.word()).to_string());
        counts += &format!("| {} | {} |\n", paper.key, cells.join(" | "));
    }
    let words = judge::Verdict::ALL.map(judge::Verdict::word).join(" | ");
    let missing = match without.is_empty() {
        true => String::new(),
        false => format!("\nNot drawn by this code, and not counted: {}.\n", without.join(", ")),
    };
    format!(
        "\n| paper | {words} |\n|---|--:|--:|--:|--:|\n{counts}{missing}\n\
         | page | claim | criterion | number, where it is decided | interval | verdict |\n|---|---|---|---|---|---|\n{rows}\n"
    )
}
