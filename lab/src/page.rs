//! A page: the numbers of a figure as a table and a plot, and what they say about the paper's claims.
//!
//! The list of all verdicts is put together from the pages that exist, so that figures can be drawn one at a time.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use disjoin::report::plot;
use disjoin::{Error, Result};

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

/// Numbers by row and column; those that have no value are NaN.
pub(crate) struct Table {
    axis: &'static str,
    rows: Vec<String>,
    places: Vec<f64>,
    columns: Vec<(String, Vec<f64>)>,
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

    pub(crate) fn column(mut self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.columns.push((name.into(), values));
        self
    }

    pub(crate) fn places(&self) -> &[f64] {
        &self.places
    }

    /// The values of a column; none if there is none of that name.
    pub(crate) fn get(&self, name: &str) -> &[f64] {
        self.columns.iter().find(|column| column.0 == name).map_or(&[], |column| &column.1)
    }

    /// Its columns as groups of bars.
    pub(crate) fn bars(&self, title: &str, y_label: &str) -> String {
        plot::bars(title, y_label, &self.rows, &self.columns)
    }

    /// Those of its columns as lines.
    pub(crate) fn lines(&self, title: &str, y_label: &str, names: &[&str]) -> String {
        let points =
            |name: &&str| (name.to_string(), self.places.iter().copied().zip(self.get(name).to_vec()).collect());
        plot::lines(title, self.axis, y_label, &names.iter().map(points).collect::<Vec<_>>())
    }

    pub(crate) fn markdown(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| &column.0[..]).collect();
        let mut text = format!("| {} | {} |\n|---|{}\n", self.axis, names.join(" | "), "--:|".repeat(names.len()));
        for (i, row) in self.rows.iter().enumerate() {
            let cells: Vec<String> = self.columns.iter().map(|column| number(column.1[i])).collect();
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
        _ => format!("{value:.3}"),
    }
}

const CLAIMS: &str = "## Claims";
const HEAD: &str = "claim | theirs | criterion | ours | verdict |";

impl Page {
    /// Writes `<figure>.md` and `<figure>.svg`.
    pub(crate) fn write(&self, folder: &Path, figure: &str, command: &str) -> Result<()> {
        // Figures of a paper have numbers, what is ours has names.
        let kind = if figure.starts_with(|c: char| c.is_ascii_digit()) { "Figure" } else { "Table" };
        let mut text = format!(
            "# {kind} {figure}: {}\n\n```sh\n{command}\n```\n\n{}\n\n![{kind} {figure}]({figure}.svg)\n\n{}\n{CLAIMS}\n\n| {HEAD}\n|---|---|---|---|---|\n",
            self.title,
            self.data,
            self.table.markdown()
        );
        for claim in &self.claims {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| {} |", claim.cells().join(" | "));
        }
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create the folder", e))?;
        write(&folder.join(format!("{figure}.md")), &text)?;
        write(&folder.join(format!("{figure}.svg")), &self.svg)
    }
}

/// Writes README.md: the introduction, and the claims on the pages of those figures that have been drawn.
pub(crate) fn write_index<'f>(folder: &Path, introduction: &str, figures: impl Iterator<Item = &'f str>) -> Result<()> {
    let mut text = format!("{introduction}\n| figure | {HEAD}\n|---|---|---|---|---|---|\n");
    for figure in figures {
        let Ok(page) = fs::read_to_string(folder.join(format!("{figure}.md"))) else { continue };
        let claims = page.split_once(CLAIMS).map_or("", |(_, claims)| claims);
        for row in claims.lines().filter(|line| line.starts_with("| ")).skip(1) {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| [{figure}]({figure}.md) {row}");
        }
    }
    write(&folder.join("README.md"), &text)
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(|e| Error::io(path, "write", e))
}
