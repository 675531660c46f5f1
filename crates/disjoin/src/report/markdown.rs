//! A report as Markdown: for a ticket, a repository, or a reader without a browser. Pictures are told in words.

use std::fmt::Write;

use super::page::{Kind, NOT_KEPT, Page, Part, Table, plain};

/// A page, dressed.
pub(super) fn dressed(page: &Page) -> String {
    let Page { title, notice, holds: _, verdict, because, facts, sections, made_by } = page;
    let mut out = String::new();
    // Writing to a String cannot fail.
    if let Some(notice) = notice {
        let _ = writeln!(out, "> **{}**\n", escaped(notice));
    }
    let _ = writeln!(out, "# {}\n\n**{}**", escaped(title), escaped(verdict));
    because.iter().for_each(|sentence| {
        let _ = writeln!(out, "{}", escaped(sentence));
    });
    out.push('\n');
    facts.iter().for_each(|(name, fact)| {
        let _ = writeln!(out, "- {name}: {}", escaped(fact));
    });
    for section in sections {
        let _ = writeln!(out, "\n## {}", section.heading);
        section.parts.iter().for_each(|part| add(&mut out, part));
    }
    let _ = writeln!(out, "\n---\n\nMade by {}.", escaped(made_by));
    out
}

fn add(out: &mut String, part: &Part) {
    let _ = match part {
        Part::Heading(heading) => writeln!(out, "\n### {}", escaped(heading)),
        Part::Text(text) => writeln!(out, "\n{}", escaped(text)),
        Part::Points(points) => {
            out.push('\n');
            points.iter().try_for_each(|(name, text)| writeln!(out, "- **{}**: {}", escaped(name), escaped(text)))
        }
        Part::Table(table) => writeln!(out, "\n{}", rendered(table)),
        // What the picture shows stands in tables and sentences around it.
        Part::Figure(_) => Ok(()),
    };
}

fn rendered(table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| *name).collect();
    let rules = table.columns.iter().map(|(_, kind)| if *kind == Kind::Number { "---:" } else { "---" });
    let mut out = format!("{}:\n\n| {} |\n", escaped(&table.caption), names.join(" | "));
    let _ = write!(out, "|{}|", rules.collect::<Vec<_>>().join("|"));
    for row in &table.rows {
        out.push_str("\n|");
        for (cell, (_, kind)) in row.iter().zip(&table.columns) {
            let _ = match kind {
                Kind::Code if cell.chars().all(is_key) => write!(out, " `{cell}` |"),
                Kind::Kept if cell == NOT_KEPT => write!(out, " **{cell}** |"),
                _ => write!(out, " {} |", escaped(cell)),
            };
        }
    }
    out
}

fn is_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    plain(text).fold(String::with_capacity(text.len()), |mut out, c| {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '&' | '~' | '#') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
