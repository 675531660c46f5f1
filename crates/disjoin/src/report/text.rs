//! A page as plain text, for a terminal: blocks with a blank line between, numbers in columns.

use super::page::{Kind, Page, Part, Table, visible};

/// A page, dressed.
pub(super) fn dressed(page: &Page) -> String {
    let mut blocks: Vec<String> = Vec::new();
    blocks.extend((!page.title.is_empty()).then(|| page.title.clone()));
    for section in &page.sections {
        blocks.extend((!section.heading.is_empty()).then(|| section.heading.to_owned()));
        blocks.extend(section.parts.iter().filter_map(block));
    }
    blocks.extend((!page.verdict.is_empty()).then(|| page.verdict.clone()));
    // Nothing may confuse a terminal, and no line ends in blanks.
    let lines = |block: &String| block.lines().map(|line| visible(line.trim_end())).collect::<Vec<_>>().join("\n");
    let blocks: Vec<String> = blocks.iter().map(lines).collect();
    if blocks.is_empty() { String::new() } else { blocks.join("\n\n") + "\n" }
}

fn block(part: &Part) -> Option<String> {
    match part {
        Part::Heading(text) | Part::Text(text) => (!text.is_empty()).then(|| text.clone()),
        Part::Points(points) => {
            let points: Vec<(String, String)> =
                points.iter().map(|(name, text)| (visible(name), visible(text))).collect();
            let width = points.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(9);
            let line = |(name, text): &(String, String)| format!("{name:<width$}  {text}");
            Some(points.iter().map(line).collect::<Vec<_>>().join("\n"))
        }
        Part::Table(table) if table.rows.is_empty() => None,
        Part::Table(table) => Some(rendered(table)),
        Part::Figure(_) => None,
    }
}

fn rendered(table: &Table) -> String {
    let heads: Vec<String> = table.columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(|cell| visible(cell)).collect()).collect();
    let all = || std::iter::once(&heads).chain(&rows);
    let width = |column: usize| all().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..heads.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let mut text = String::from(" ");
        for ((cell, (_, kind)), width) in row.iter().zip(&table.columns).zip(&widths) {
            let gap = if text.len() > 1 { "  " } else { " " };
            text += gap;
            text += &match kind {
                Kind::Number => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            };
        }
        text
    };
    let caption = if table.caption.is_empty() { String::new() } else { format!("{}\n", table.caption) };
    caption + &all().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_below_each_other_and_nothing_confuses_a_terminal() {
        let table = Table {
            caption: String::new(),
            columns: vec![("rule", Kind::Words), ("checked", Kind::Number)],
            rows: vec![vec!["a\u{1b}[1m".into(), "3".into()], vec!["longer".into(), "1,234".into()]],
        };
        let page = Page::answer(vec![Part::Text("first".into()), Part::Table(table)], "It holds.");
        assert_eq!(
            page.text(),
            "first\n\n  rule        checked\n  a\\u{1b}[1m        3\n  longer        1,234\n\nIt holds.\n"
        );
        assert_eq!(Page::default().text(), "");
    }
}
