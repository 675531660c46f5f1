//! A page: the numbers of a figure as a table and a plot, and what they say about the paper's claims.
//!
//! The lists of all verdicts are put together from the pages that exist, so that figures can be drawn one at a time. A page says by which
//! commit it was drawn and from which files, and carries the fingerprint of the same figure on small generated data: whoever has the
//! sources can draw that again, and see whether they would still draw the page as it is (`fresh.rs`).

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disjoin::report::plot;
use disjoin::{Error, Result};
use sha2::{Digest, Sha256};

use crate::estimate::Estimate;
use crate::judge::Claim;

/// A figure, drawn again.
pub(crate) struct Page {
    pub(crate) title: &'static str,
    /// What was measured on, and how.
    pub(crate) data: String,
    pub(crate) table: Table,
    pub(crate) svg: String,
    pub(crate) claims: Vec<Claim>,
}

/// Where a page comes from.
pub(crate) struct Origin<'a> {
    pub(crate) command: &'a str,
    pub(crate) commit: &'a str,
    /// Files and their digests.
    pub(crate) inputs: &'a [(String, String)],
    /// Of the same figure on generated data.
    pub(crate) fingerprint: &'a str,
}

/// Numbers by row and column; those that have no value are NaN.
pub(crate) struct Table {
    axis: &'static str,
    rows: Vec<String>,
    places: Vec<f64>,
    columns: Vec<Column>,
}

struct Column {
    name: String,
    cells: Vec<Estimate>,
    is_timed: bool,
}

impl Table {
    /// Rows with names.
    pub(crate) fn named(axis: &'static str, names: &[&str]) -> Self {
        let rows = names.iter().map(ToString::to_string).collect();
        Table { axis, rows, places: (0..names.len()).map(|i| i as f64).collect(), columns: Vec::new() }
    }

    /// Rows at numbers.
    pub(crate) fn at(axis: &'static str, places: &[f64]) -> Self {
        Table {
            axis,
            rows: places.iter().map(ToString::to_string).collect(),
            places: places.into(),
            columns: Vec::new(),
        }
    }

    /// Numbers that follow from the data.
    pub(crate) fn column(self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.measured(name, values.into_iter().map(Estimate::exact).collect())
    }

    /// Numbers with intervals.
    pub(crate) fn measured(mut self, name: impl Into<String>, cells: Vec<Estimate>) -> Self {
        self.columns.push(Column { name: name.into(), cells, is_timed: false });
        self
    }

    /// Times, or what follows from them: others in every run.
    pub(crate) fn timed(mut self, name: impl Into<String>, cells: Vec<Estimate>) -> Self {
        self.columns.push(Column { name: name.into(), cells, is_timed: true });
        self
    }

    pub(crate) fn rows(&self) -> &[String] {
        &self.rows
    }

    pub(crate) fn places(&self) -> &[f64] {
        &self.places
    }

    /// The values of a column; none if there is none of that name.
    pub(crate) fn get(&self, name: &str) -> Vec<f64> {
        self.of(name).iter().map(|cell| cell.value).collect()
    }

    /// The same with intervals.
    pub(crate) fn of(&self, name: &str) -> &[Estimate] {
        self.columns.iter().find(|column| column.name == name).map_or(&[], |column| &column.cells)
    }

    /// A number; missing if there is none.
    pub(crate) fn cell(&self, row: usize, name: &str) -> Estimate {
        self.of(name).get(row).copied().unwrap_or_else(Estimate::missing)
    }

    /// A number of a row by its name.
    pub(crate) fn named_cell(&self, row: &str, name: &str) -> Estimate {
        let at = self.rows.iter().position(|other| other == row);
        at.map_or_else(Estimate::missing, |row| self.cell(row, name))
    }

    /// Its columns as groups of bars.
    pub(crate) fn bars(&self, title: &str, y_label: &str) -> String {
        let columns: Vec<(String, Vec<f64>)> =
            self.columns.iter().map(|column| (column.name.clone(), self.get(&column.name))).collect();
        plot::bars(title, y_label, &self.rows, &columns)
    }

    /// Those of its columns as lines.
    pub(crate) fn lines(&self, title: &str, y_label: &str, names: &[&str]) -> String {
        let points = |name: &&str| (name.to_string(), self.places.iter().copied().zip(self.get(name)).collect());
        plot::lines(title, self.axis, y_label, &names.iter().map(points).collect::<Vec<_>>())
    }

    pub(crate) fn markdown(&self) -> String {
        self.written(|_| true)
    }

    fn written(&self, is_shown: fn(&Column) -> bool) -> String {
        let columns: Vec<&Column> = self.columns.iter().filter(|column| is_shown(column)).collect();
        let names: Vec<&str> = columns.iter().map(|column| &column.name[..]).collect();
        let mut text = format!("| {} | {} |\n|---|{}\n", self.axis, names.join(" | "), "--:|".repeat(names.len()));
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = columns.iter().map(|column| number(column.cells[i].value)).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {row} | {} |", cells.join(" | "));
        }
        text
    }
}

/// Three decimals, none for large whole numbers, a dash for none.
pub(crate) fn number(value: f64) -> String {
    match value {
        _ if !value.is_finite() => "-".into(),
        _ if value.fract() == 0.0 && value >= 1_000.0 => value.to_string(),
        // Nothing that rounds to 0 has a sign.
        _ if value.abs() < 0.0005 => format!("{:.3}", 0.0),
        _ => format!("{value:.3}"),
    }
}

const CLAIMS: &str = "## Claims";
const CHECKS: &str = "## Checks";
const DRAWN: &str = "## Drawn";
const HEAD: &str = "claim | theirs | criterion | ours, where it is decided | interval | verdict |";
const FINGERPRINT: &str = "fingerprint `";

impl Page {
    /// Writes `<figure>.md` and `<figure>.svg`.
    pub(crate) fn write(&self, folder: &Path, figure: &str, origin: &Origin<'_>) -> Result<()> {
        // Figures of a paper have numbers, what is ours has names.
        let kind = if figure.starts_with(|c: char| c.is_ascii_digit()) { "Figure" } else { "Table" };
        let text = format!(
            "# {kind} {figure}: {}\n\n```sh\n{}\n```\n\n{}\n\n![{kind} {figure}]({figure}.svg)\n\n{}\n{}\n{}",
            self.title,
            origin.command,
            self.data,
            self.table.markdown(),
            judged(&self.claims.iter().collect::<Vec<_>>()),
            origin.written()
        );
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create the folder", e))?;
        write(&folder.join(format!("{figure}.md")), &text)?;
        write(&folder.join(format!("{figure}.svg")), &self.svg)
    }

    /// The digest of its numbers, criteria and verdicts, without those of times and without prose.
    pub(crate) fn fingerprint(&self) -> String {
        let claims: Vec<&Claim> = self.claims.iter().filter(|claim| !claim.is_timed()).collect();
        let text = self.table.written(|column| !column.is_timed) + &judged(&claims);
        digest(text.as_bytes())[..16].to_owned()
    }
}

/// The claims with their verdicts, and every number that was held against a limit.
fn judged(claims: &[&Claim]) -> String {
    let mut text = format!("{CLAIMS}\n\n| {HEAD}\n|---|---|---|---|---|---|\n");
    for claim in claims {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {} |", claim.cells().join(" | "));
    }
    let head = "| claim | case | number | ours | interval | limit | |\n|--:|---|---|--:|---|---|---|\n";
    let _ = write!(text, "\n{CHECKS}\n\n{head}");
    for (at, claim) in (1..).zip(claims) {
        for row in claim.rows() {
            let _ = writeln!(text, "| {at} | {} |", row.join(" | "));
        }
    }
    text
}

impl Origin<'_> {
    fn written(&self) -> String {
        let files: Vec<String> =
            self.inputs.iter().map(|(name, digest)| format!("* {name}, SHA-256 `{digest}`\n")).collect();
        let from = if files.is_empty() { "generated data alone.\n" } else { "these files:\n\n" };
        format!(
            "{DRAWN}\n\nBy commit `{}`, {FINGERPRINT}{}` on small generated data. From {from}{}",
            self.commit,
            self.fingerprint,
            files.concat()
        )
    }
}

/// The fingerprint that a page carries; none if it has none.
pub(crate) fn fingerprint_of(page: &str) -> Option<&str> {
    let drawn = page.split_once(DRAWN)?.1;
    drawn.split_once(FINGERPRINT)?.1.split('`').next()
}

/// The rows of the claims on a page.
pub(crate) fn claims_of(page: &str) -> Vec<&str> {
    let claims = page.split_once(CLAIMS).map_or("", |(_, rest)| rest.split(CHECKS).next().unwrap_or(""));
    claims.lines().filter(|line| line.starts_with("| ")).skip(1).collect()
}

/// README.md: the introduction, and the claims on the pages of those figures that have been drawn.
pub(crate) fn index<'f>(folder: &Path, introduction: &str, figures: impl Iterator<Item = &'f str>) -> String {
    let mut text = format!("{introduction}\n| figure | {HEAD}\n|---|---|---|---|---|---|---|\n");
    for figure in figures {
        let page = fs::read_to_string(folder.join(format!("{figure}.md"))).unwrap_or_default();
        // What other code drew has no verdicts.
        if fingerprint_of(&page).is_none() {
            continue;
        }
        for row in claims_of(&page) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| [{figure}]({figure}.md) {row}");
        }
    }
    text
}

pub(crate) fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| Error::io(path, "write", e))
}

/// SHA-256, as hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
