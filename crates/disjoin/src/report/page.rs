//! A page before it is dressed: what is said, in which order, and how numbers are written. Reports and the answers of verbs are
//! such pages; `html.rs`, `markdown.rs` and `text.rs` only dress them.

/// What a report or a verb says, from its top to its end.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub(super) title: String,
    /// Who must not read it.
    pub(super) notice: Option<&'static str>,
    pub(super) holds: bool,
    /// The first sentence that is read; in text the last.
    pub(super) verdict: String,
    /// What it rests on.
    pub(super) because: Vec<String>,
    /// The numbers of the first screen, with their names.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) sections: Vec<Section>,
    /// Which program made it.
    pub(super) made_by: String,
}

#[derive(Debug, Clone)]
pub(super) struct Section {
    /// Where links point to.
    pub(super) id: &'static str,
    pub(super) heading: &'static str,
    pub(super) parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub(super) enum Part {
    /// A heading below that of the section.
    Heading(String),
    Text(String),
    /// Points, each with what it is about.
    Points(Vec<(String, String)>),
    Table(Table),
    Figure(Figure),
}

/// The first cell of a row names it.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) columns: Vec<(&'static str, Kind)>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Words,
    /// Words that need room.
    Sentence,
    Number,
    /// Something to be written as it is, as a key of the recipe.
    Code,
    /// [`KEPT`] or [`NOT_KEPT`].
    Kept,
}

/// What every report with counts of the original says first.
pub(super) const INSIDE_ONLY: &str = "For the inside only: this report shows what was counted in the original data. The report \
                                      itself must not leave the building, whatever it shows about the release.";

pub(super) const KEPT: &str = "kept";
pub(super) const NOT_KEPT: &str = "not kept";

#[derive(Debug, Clone)]
pub(super) struct Figure {
    pub(super) svg: String,
    /// How to read it.
    pub(super) caption: String,
    /// What it shows, for those who do not see it.
    pub(super) description: String,
}

impl Page {
    /// What a verb says: parts, and a sentence at the end.
    pub(super) fn answer(parts: Vec<Part>, verdict: impl Into<String>) -> Page {
        let section = Section { id: "answer", heading: "", parts };
        Page { verdict: verdict.into(), sections: vec![section], ..Page::default() }
    }

    /// A few words.
    pub fn of_text(text: &str) -> Page {
        Page::answer(vec![Part::Text(text.to_owned())], "")
    }

    /// As one HTML file that needs nothing else.
    pub fn html(&self) -> String {
        super::html::dressed(self)
    }

    /// As Markdown.
    pub fn markdown(&self) -> String {
        super::markdown::dressed(self)
    }

    /// As plain text, for a terminal.
    pub fn text(&self) -> String {
        super::text::dressed(self)
    }
}

/// A number with separators of thousands.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// A share of 0 to 1 in percent. What is not nothing is never shown as 0 %, and what is not all never as 100 %.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        percent if !percent.is_finite() => String::from("unknown"),
        percent if percent > 0.0 && percent < 0.05 => String::from("less than 0.1 %"),
        percent if percent < 100.0 && percent > 99.95 => String::from("more than 99.9 %"),
        percent => format!("{} %", format!("{percent:.1}").trim_end_matches(".0")),
    }
}

/// A share of counts in percent.
pub fn share(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// A measure: whole numbers as such, others with up to four decimals, and never a zero that is none.
pub(super) fn decimal(value: f64) -> String {
    if !value.is_finite() {
        return String::from("unknown");
    }
    if value == value.round() && (0.0..1e15).contains(&value) {
        return number(value as u64);
    }
    if value.abs() < 0.00005 {
        return format!("{value:.1e}");
    }
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A measure if there is one.
pub(super) fn decimal_or_dash(value: Option<f64>) -> String {
    value.map_or_else(|| String::from("\u{2013}"), decimal)
}

/// a, b and c.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Whether a character does something to the text around it instead of being seen: control characters (C0, DEL and C1), those that
/// turn the direction of writing, those without width, and separators of lines. Terms, names of columns and files may hold them.
fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
            | '\u{fffe}' | '\u{ffff}')
        || c.is_control()
}

/// A text in which everything can be seen, and nothing does anything: what a terminal, a browser or a reader could be misled by is
/// written as `\u{1b}`.
pub fn visible(text: &str) -> String {
    text.chars().flat_map(|c| shown(c, is_unseen(c))).collect()
}

/// The same for a text of several lines: these, and tabs between columns, stay.
pub fn visible_lines(text: &str) -> String {
    text.chars().flat_map(|c| shown(c, is_unseen(c) && !matches!(c, '\n' | '\t'))).collect()
}

/// JSON in which everything can be seen, and which says the same: outside of ASCII there are strings only, and in a string
/// `\u001b` is the character itself.
pub fn visible_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match is_unseen(c) && c != '\n' {
            // All of them are in the first plane.
            true => out += &format!("\\u{:04x}", u32::from(c)),
            false => out.push(c),
        }
    }
    out
}

/// For markup, which takes lines and tabs for blanks.
pub(super) fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().flat_map(|c| match c {
        '\n' | '\r' | '\t' => shown(' ', false),
        c => shown(c, is_unseen(c)),
    })
}

fn shown(c: char, is_escaped: bool) -> impl Iterator<Item = char> {
    let escaped = is_escaped.then(|| c.escape_unicode());
    escaped.into_iter().flatten().chain((!is_escaped).then_some(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_but_not_to_nothing_or_all() {
        let shown = [0.0, 0.00001, 1.0 / 3.0, 0.250_000_001, 0.99999, 1.0].map(percent);
        assert_eq!(shown, ["0 %", "less than 0.1 %", "33.3 %", "25 %", "more than 99.9 %", "100 %"]);
        assert_eq!((share(1, 2), share(0, 0)), ("50 %".to_owned(), "0 %".to_owned()));
    }

    #[test]
    fn numbers_are_written_for_people() {
        let shown = [0.0, 1234.0, 0.25, 0.123_456, 0.000_001, f64::NAN].map(decimal);
        assert_eq!(shown, ["0", "1,234", "0.25", "0.1235", "1.0e-6", "unknown"]);
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn what_is_not_seen_is_written_out() {
        let hostile = "a\u{1b}[2J\r\u{7f}\u{9b}\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}\u{61c}b\n\tc";
        let seen = "a\\u{1b}[2J\\u{d}\\u{7f}\\u{9b}\\u{202e}\\u{2066}\\u{200b}\\u{feff}\\u{2028}\\u{61c}b";
        assert_eq!(visible(hostile), format!("{seen}\\u{{a}}\\u{{9}}c"));
        assert_eq!(visible_lines(hostile), format!("{seen}\n\tc"));
        assert_eq!(plain("a\u{202e}b\n\u{7}").collect::<String>(), "a\\u{202e}b \\u{7}");
        assert_eq!(visible("naïve 日本 שלום 😀"), "naïve 日本 שלום 😀");
        let json = serde_json::to_string_pretty(&[hostile]).unwrap();
        let shown = visible_json(&json);
        assert!(shown.chars().all(|c| c == '\n' || !is_unseen(c)), "{shown}");
        assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap(), [hostile]);
    }
}
