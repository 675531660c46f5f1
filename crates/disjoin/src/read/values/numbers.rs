//! Numbers as people and spreadsheets write them: a decimal point or comma, separators of thousands, percent, ages as text.
//!
//! Promises:   a column that is plain in all its texts is read as ever. Any other style is chosen only if it reads every text of the
//!             column, and if no other style reads them as other numbers: what can be read in two ways is for people to decide
//! Assumes:    no currency; thousands in groups of three between commas, points, blanks or apostrophes
//! Departs:    ages are whole years: "7 months" and "<1" are 0, "90+" is 90
//! Cost:       a scan of each text for each style
//! Checked by: tests in this file, `tests/it/roles/reading.rs`

use serde::{Deserialize, Serialize};

use super::Choice;

/// What stands before the decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Decimal {
    /// 1,234.5
    Point,
    /// 1.234,5
    Comma,
}

/// How the texts of a column are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NumberStyle {
    /// 1234.5 and 1e6
    Plain,
    /// 1,234.5
    Point,
    /// 1.234,5
    Comma,
    /// 12.5 %
    PointPercent,
    /// 12,5 %
    CommaPercent,
    /// 34 years, <1, 90+
    Age,
}

impl NumberStyle {
    /// All styles; where several read the same numbers, the first is named.
    pub const ALL: [NumberStyle; 6] = [
        NumberStyle::Plain,
        NumberStyle::Point,
        NumberStyle::Comma,
        NumberStyle::PointPercent,
        NumberStyle::CommaPercent,
        NumberStyle::Age,
    ];

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            NumberStyle::Plain => "numbers",
            NumberStyle::Point => "numbers with a decimal point and separators of thousands",
            NumberStyle::Comma => "numbers with a decimal comma",
            NumberStyle::PointPercent => "percentages, published without the sign",
            NumberStyle::CommaPercent => "percentages with a decimal comma, published without the sign",
            NumberStyle::Age => "ages in whole years, published as numbers",
        }
    }

    /// The number that a text is in this style; plain ones may be infinite or none at all.
    pub fn value(self, text: &str) -> Option<f64> {
        let text = text.trim();
        match self {
            NumberStyle::Plain => text.parse().ok(),
            NumberStyle::Point => grouped(text, Decimal::Point),
            NumberStyle::Comma => grouped(text, Decimal::Comma),
            NumberStyle::PointPercent => grouped(text.strip_suffix('%')?.trim_end(), Decimal::Point),
            NumberStyle::CommaPercent => grouped(text.strip_suffix('%')?.trim_end(), Decimal::Comma),
            NumberStyle::Age => age(text),
        }
    }

    fn decimal(self) -> Option<Decimal> {
        match self {
            NumberStyle::Point | NumberStyle::PointPercent => Some(Decimal::Point),
            NumberStyle::Comma | NumberStyle::CommaPercent => Some(Decimal::Comma),
            NumberStyle::Plain | NumberStyle::Age => None,
        }
    }
}

/// Whether a text is a number in some style.
pub fn is_number(text: &str) -> bool {
    NumberStyle::ALL.iter().any(|style| style.value(text).is_some_and(f64::is_finite))
}

/// Which styles read all texts that were met.
#[derive(Debug, Clone, Copy)]
pub struct NumberEvidence {
    reads: [bool; NumberStyle::ALL.len()],
    /// Whether a text is one number with a decimal point and another with a decimal comma.
    differ: bool,
}

impl Default for NumberEvidence {
    fn default() -> Self {
        NumberEvidence { reads: [true; NumberStyle::ALL.len()], differ: false }
    }
}

impl NumberEvidence {
    /// Takes a text into account, if it is a number in some style; tells whether it is.
    pub fn add(&mut self, text: &str) -> bool {
        let values = NumberStyle::ALL.map(|style| style.value(text).filter(|value| value.is_finite()));
        if values.iter().all(Option::is_none) {
            return false;
        }
        for (reads, value) in self.reads.iter_mut().zip(values) {
            *reads &= value.is_some();
        }
        let apart = |one: Option<f64>, other: Option<f64>| one.is_some() && other.is_some() && one != other;
        let [_, point, comma, point_percent, comma_percent, _] = values;
        self.differ |= apart(point, comma) || apart(point_percent, comma_percent);
        true
    }

    /// The style of all of them; `said` is what somebody said of their decimals.
    pub fn choice(&self, said: Option<Decimal>) -> Choice<NumberStyle> {
        let fits = |style: &NumberStyle| said.is_none() || style.decimal().is_none_or(|decimal| Some(decimal) == said);
        let read: Vec<NumberStyle> =
            NumberStyle::ALL.into_iter().zip(self.reads).filter(|(_, reads)| *reads).map(|(style, _)| style).collect();
        match read[..] {
            // Somebody who says that commas come before decimals says that points do not.
            [NumberStyle::Plain, ..] if said == Some(Decimal::Comma) && read.contains(&NumberStyle::Comma) => {
                Choice::Read(NumberStyle::Comma)
            }
            [NumberStyle::Plain, ..] => Choice::Read(NumberStyle::Plain),
            _ => match read.iter().copied().filter(fits).collect::<Vec<_>>()[..] {
                [] => Choice::Mixed,
                [one] => Choice::Read(one),
                [NumberStyle::Age, ..] => Choice::Read(NumberStyle::Age),
                [_, ..] if self.differ => Choice::Ambiguous,
                [first, ..] => Choice::Read(first),
            },
        }
    }
}

/// Chooses the style of a column by all its texts; `said` is what somebody said of its decimals.
pub fn choose_numbers<'a>(mut texts: impl Iterator<Item = &'a str>, said: Option<Decimal>) -> Choice<NumberStyle> {
    let mut evidence = NumberEvidence::default();
    if texts.all(|text| evidence.add(text)) { evidence.choice(said) } else { Choice::Unread }
}

/// A number with groups of thousands, or without: digits, and decimals after their mark.
fn grouped(text: &str, decimal: Decimal) -> Option<f64> {
    const BLANKS: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];
    let (mark, other) = if decimal == Decimal::Point { ('.', ',') } else { (',', '.') };
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let (whole, decimals) = digits.split_once(mark).map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !decimals.is_none_or(is_digits) {
        return None;
    }
    let between = whole.chars().find(|c| !c.is_ascii_digit());
    let plain: String = match between {
        None => whole.to_owned(),
        Some(between) if between == other || BLANKS.contains(&between) => {
            let mut groups = whole.split(between);
            let first = groups.next().filter(|first| (1..=3).contains(&first.len()) && is_digits(first))?;
            groups
                .try_fold(first.to_owned(), |all, group| (group.len() == 3 && is_digits(group)).then(|| all + group))?
        }
        Some(_) => return None,
    };
    if !is_digits(&plain) {
        return None;
    }
    let number: f64 = format!("{plain}.{}", decimals.unwrap_or("0")).parse().ok()?;
    Some(sign * number)
}

/// An age: years, with or without their unit, or less than one.
fn age(text: &str) -> Option<f64> {
    const YEARS: [&str; 14] = [
        "y",
        "yr",
        "yrs",
        "y.o.",
        "yo",
        "year",
        "years",
        "year old",
        "years old",
        "j",
        "jahr",
        "jahre",
        "ans",
        "a\u{f1}os",
    ];
    const PARTS: [&str; 15] = [
        "m", "mo", "mos", "mth", "month", "months", "monat", "monate", "mois", "week", "weeks", "wochen", "day",
        "days", "tage",
    ];
    let (oldest, rest) = (text.strip_suffix('+'), text.strip_prefix(['<', '\u{2264}']));
    if let Some(oldest) = oldest {
        return whole_years(oldest.trim());
    }
    let end = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let text = rest.map_or(text, str::trim_start);
    let (digits, unit) = text.split_at(end(text));
    let unit = unit.trim().to_lowercase();
    let number = whole_years(digits)?;
    match () {
        // Only babies are younger than a whole number of years.
        () if rest.is_some() && (number != 1.0 || !(unit.is_empty() || YEARS.contains(&&*unit))) => None,
        () if rest.is_some() => Some(0.0),
        () if unit.is_empty() || YEARS.contains(&&*unit) => Some(number),
        () if PARTS[..9].contains(&&*unit) => Some((number / 12.0).floor()),
        () if ["week", "weeks", "wochen"].contains(&&*unit) => Some((number / 52.2).floor()),
        () if PARTS.contains(&&*unit) => Some((number / 365.3).floor()),
        () => None,
    }
}

fn whole_years(digits: &str) -> Option<f64> {
    ((1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_style() {
        use NumberStyle::{Age, Comma, Plain, Point};
        for (text, style, value) in [
            ("1234.5", Plain, Some(1234.5)),
            (" -4 ", Plain, Some(-4.0)),
            ("1,234", Point, Some(1234.0)),
            ("1,234", Comma, Some(1.234)),
            ("1.234,5", Comma, Some(1234.5)),
            ("1.234,5", Point, None),
            ("12,34", Point, None),
            ("12,34", Comma, Some(12.34)),
            ("1 234 567,8", Comma, Some(1_234_567.8)),
            ("1\u{a0}234", Comma, Some(1234.0)),
            ("1'234.5", Point, Some(1234.5)),
            ("1,23,456", Point, None),
            ("1234,567", Point, None),
            (",5", Comma, None),
            ("5,", Comma, None),
            ("", Comma, None),
            ("-", Comma, None),
            ("34 years", Age, Some(34.0)),
            ("34y", Age, Some(34.0)),
            ("<1", Age, Some(0.0)),
            ("< 1 year", Age, Some(0.0)),
            ("<5", Age, None),
            ("90+", Age, Some(90.0)),
            ("7 months", Age, Some(0.0)),
            ("30 Monate", Age, Some(2.0)),
            ("1234 years", Age, None),
            ("34 kg", Age, None),
        ] {
            assert_eq!(style.value(text), value, "{text} {style:?}");
        }
        assert_eq!(NumberStyle::PointPercent.value("12.5 %"), Some(12.5));
        assert_eq!(NumberStyle::CommaPercent.value("12,5%"), Some(12.5));
    }

    #[test]
    fn a_column_has_one_style_or_is_asked_for() {
        use NumberStyle::{Age, Comma, CommaPercent, Plain, Point, PointPercent};
        let cases: [(&[&str], Option<Decimal>, Choice<NumberStyle>); 16] = [
            (&["1", "2.5", "1e3"], None, Choice::Read(Plain)),
            // As it always was: a point stands before decimals.
            (&["1.234", "2.500"], None, Choice::Read(Plain)),
            (&["1.234", "2.500"], Some(Decimal::Comma), Choice::Read(Comma)),
            (&["1", "2,5"], None, Choice::Read(Comma)),
            (&["1.234", "2,5"], None, Choice::Read(Comma)),
            (&["1,234", "5"], None, Choice::Ambiguous),
            (&["1,234", "5"], Some(Decimal::Point), Choice::Read(Point)),
            (&["1,234", "5"], Some(Decimal::Comma), Choice::Read(Comma)),
            (&["1,234", "1,234,567"], None, Choice::Read(Point)),
            (&["1 234", "5"], None, Choice::Read(Point)),
            (&["1,234.5", "2,5"], None, Choice::Mixed),
            (&["1%", "2.5 %"], None, Choice::Read(PointPercent)),
            (&["1%", "2,5 %"], None, Choice::Read(CommaPercent)),
            (&["34 years", "5", "<1"], None, Choice::Read(Age)),
            (&["34", "word"], None, Choice::Unread),
            (&["34", "inf"], None, Choice::Unread),
        ];
        for (texts, said, expected) in cases {
            assert_eq!(choose_numbers(texts.iter().copied(), said), expected, "{texts:?} {said:?}");
        }
    }
}
