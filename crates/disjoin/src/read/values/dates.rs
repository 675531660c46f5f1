//! Dates: 2024-12-31, 31.12.2024, 31/12/2024 and 12/31/2024, with or without a time of day; and what generalises them.
//!
//! Promises:   the order of day and month is that of the data: some date of the column shows it, or it is for people to say. Points
//!             stand between day, month and year in this order, for nobody writes another with them
//! Assumes:    years of four digits: with two the century is not known
//! Departs:    months without a day, and years, are no dates here: they are codes and numbers
//! Cost:       a scan of each text for each order
//! Checked by: tests in this file, `tests/it/roles/reading.rs`

use serde::{Deserialize, Serialize};

use super::Choice;
use crate::data::{Dictionary, Fault, Hierarchy};
use crate::error::{Error, Result};

/// The order of day and month, for people to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// 31/12/2024
    Dmy,
    /// 12/31/2024
    Mdy,
}

/// How the texts of a column are dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateStyle {
    /// 2024-12-31
    Iso,
    /// 31.12.2024
    Dmy,
    /// 12/31/2024
    Mdy,
}

/// A day of the calendar, and a time of that day if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Date<'a> {
    year: u32,
    month: u32,
    day: u32,
    time: &'a str,
}

impl DateStyle {
    /// All styles.
    pub const ALL: [DateStyle; 3] = [DateStyle::Iso, DateStyle::Dmy, DateStyle::Mdy];

    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            DateStyle::Iso => "dates, year first",
            DateStyle::Dmy => "dates, day before month",
            DateStyle::Mdy => "dates, month before day",
        }
    }

    /// The date that a text is in this style.
    pub fn date(self, text: &str) -> Option<Date<'_>> {
        let text = text.trim();
        let (date, time) = match text.find([' ', 'T']) {
            Some(at) => (&text[..at], text[at + 1..].trim()),
            None => (text, ""),
        };
        if !(time.is_empty() || is_time(time)) {
            return None;
        }
        let mark = date.chars().find(|c| !c.is_ascii_digit()).filter(|mark| ['-', '/', '.'].contains(mark))?;
        let mut parts = date.split(mark);
        let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let (year, month, day) = match (self, mark) {
            (DateStyle::Iso, '-' | '/') => (first, second, third),
            (DateStyle::Dmy, _) => (third, second, first),
            // Nobody writes the month first before a point.
            (DateStyle::Mdy, '-' | '/') => (third, first, second),
            _ => return None,
        };
        let number = |text: &str, lengths: std::ops::RangeInclusive<usize>| -> Option<u32> {
            let is_number = lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok())?
        };
        let (year, month, day) = (number(year, 4..=4)?, number(month, 1..=2)?, number(day, 1..=2)?);
        ((1..=12).contains(&month) && (1..=days(year, month)).contains(&day)).then_some(Date { year, month, day, time })
    }
}

impl Date<'_> {
    /// As it is published: 2024-12-31, and the time after it.
    pub fn text(&self) -> String {
        let Date { year, month, day, time } = self;
        let blank = if time.is_empty() { "" } else { " " };
        format!("{year:04}-{month:02}-{day:02}{blank}{time}")
    }
}

/// Which styles read all texts that were met.
#[derive(Debug, Clone, Copy)]
pub struct DateEvidence {
    reads: [bool; DateStyle::ALL.len()],
}

impl Default for DateEvidence {
    fn default() -> Self {
        DateEvidence { reads: [true; DateStyle::ALL.len()] }
    }
}

impl DateEvidence {
    /// Takes a text into account, if it is a date in some style; tells whether it is.
    pub fn add(&mut self, text: &str) -> bool {
        let dates = DateStyle::ALL.map(|style| style.date(text).is_some());
        if !dates.contains(&true) {
            return false;
        }
        self.reads.iter_mut().zip(dates).for_each(|(reads, date)| *reads &= date);
        true
    }

    /// The style of all of them; `said` is the order that somebody said.
    pub fn choice(&self, said: Option<DateOrder>) -> Choice<DateStyle> {
        let fits = |style: DateStyle| match said {
            Some(DateOrder::Dmy) => style != DateStyle::Mdy,
            Some(DateOrder::Mdy) => style != DateStyle::Dmy,
            None => true,
        };
        let styles = DateStyle::ALL.into_iter().zip(self.reads);
        let read: Vec<DateStyle> = styles.filter(|(style, reads)| *reads && fits(*style)).map(|(s, _)| s).collect();
        match read[..] {
            [] => Choice::Mixed,
            [style] => Choice::Read(style),
            _ => Choice::Ambiguous,
        }
    }
}

/// Chooses the style of a column by all its texts; `said` is the order that somebody said.
pub fn choose_dates<'a>(mut texts: impl Iterator<Item = &'a str>, said: Option<DateOrder>) -> Choice<DateStyle> {
    let mut evidence = DateEvidence::default();
    if texts.all(|text| evidence.add(text)) { evidence.choice(said) } else { Choice::Unread }
}

/// A hierarchy over dates as they are published: day, month, quarter, year, decade.
pub fn calendar(dates: &Dictionary) -> Result<Hierarchy> {
    let paths: Vec<(&str, Vec<String>)> = dates.iter().map(|text| (text, above(text))).collect();
    let paths = paths.iter().map(|(text, above)| (*text, above.iter().map(String::as_str)));
    Hierarchy::from_paths(dates, paths).map_err(|fault: Fault| {
        let _ = fault;
        Error::Internal("dates of a calendar are no tree")
    })
}

/// What stands above a date: its day if it has a time, its month, its quarter, its year, its decade.
fn above(text: &str) -> Vec<String> {
    let Some(Date { year, month, day, time }) = DateStyle::Iso.date(text) else { return vec!["*".into()] };
    let decade = year / 10 * 10;
    let mut path = Vec::new();
    if !time.is_empty() {
        path.push(format!("{year:04}-{month:02}-{day:02}"));
    }
    path.extend([
        format!("{year:04}-{month:02}"),
        format!("{year:04}-Q{}", month.div_ceil(3)),
        format!("{year:04}"),
        format!("{decade:04}..{:04}", decade + 9),
        String::from("*"),
    ]);
    path
}

fn days(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A time of day: 23:59, 23:59:59, with decimals and a zone.
fn is_time(text: &str) -> bool {
    let text = text.trim_end_matches('Z');
    let end = text.rfind(['+', '-']).filter(|&at| at >= 5).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let two = |text: &str, most: u32| text.len() == 2 && text.parse::<u32>().is_ok_and(|number| number <= most);
    let (clock, decimals) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let is_clock = match parts[..] {
        [hour, minute] => two(hour, 23) && two(minute, 59),
        [hour, minute, second] => two(hour, 23) && two(minute, 59) && two(second, 60),
        _ => false,
    };
    let is_zone = zone.is_empty() || zone[1..].split(':').all(|part| two(part, 59));
    is_clock && is_zone && !decimals.is_empty() && decimals.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for (text, style, expected) in [
            ("2024-02-29", DateStyle::Iso, Some("2024-02-29")),
            ("2023-02-29", DateStyle::Iso, None),
            ("2024/2/3", DateStyle::Iso, Some("2024-02-03")),
            ("31.12.2024", DateStyle::Dmy, Some("2024-12-31")),
            ("1.2.2024", DateStyle::Dmy, Some("2024-02-01")),
            ("1.2.2024", DateStyle::Mdy, None),
            ("1/2/2024", DateStyle::Dmy, Some("2024-02-01")),
            ("1/2/2024", DateStyle::Mdy, Some("2024-01-02")),
            ("12/31/2024", DateStyle::Dmy, None),
            ("01.02.87", DateStyle::Dmy, None),
            ("2024-12-31 23:59:59", DateStyle::Iso, Some("2024-12-31 23:59:59")),
            ("2024-12-31T23:59:59.25Z", DateStyle::Iso, Some("2024-12-31 23:59:59.25Z")),
            ("31.12.2024 23:59", DateStyle::Dmy, Some("2024-12-31 23:59")),
            ("2024-12-31 25:00", DateStyle::Iso, None),
            ("2024-12", DateStyle::Iso, None),
            ("2024", DateStyle::Iso, None),
            ("1-2-3-2024", DateStyle::Dmy, None),
            ("", DateStyle::Iso, None),
        ] {
            assert_eq!(style.date(text).map(|date| date.text()).as_deref(), expected, "{text} {style:?}");
        }
    }

    #[test]
    fn the_order_is_shown_by_the_data_or_said() {
        let cases: [(&[&str], Option<DateOrder>, Choice<DateStyle>); 9] = [
            (&["2024-01-02"], None, Choice::Read(DateStyle::Iso)),
            (&["1/2/2024", "13/2/2024"], None, Choice::Read(DateStyle::Dmy)),
            (&["1/2/2024", "2/13/2024"], None, Choice::Read(DateStyle::Mdy)),
            (&["1/2/2024", "3/4/2024"], None, Choice::Ambiguous),
            (&["1/2/2024", "3/4/2024"], Some(DateOrder::Mdy), Choice::Read(DateStyle::Mdy)),
            (&["13/2/2024", "2/13/2024"], None, Choice::Mixed),
            (&["13/2/2024"], Some(DateOrder::Mdy), Choice::Mixed),
            (&["1.2.2024", "3.4.2024"], None, Choice::Read(DateStyle::Dmy)),
            (&["1.2.2024", "soon"], None, Choice::Unread),
        ];
        for (texts, said, expected) in cases {
            assert_eq!(choose_dates(texts.iter().copied(), said), expected, "{texts:?} {said:?}");
        }
    }

    #[test]
    fn dates_stand_below_month_quarter_year_and_decade() {
        let dates = Dataset::from_texts([["2024-12-31", "2024-11-01", "2023-11-01", "2024-12-31 23:59"]]).dictionary;
        let hierarchy = calendar(&dates).unwrap();
        let chain = |term| {
            let nodes = std::iter::once(term).chain(hierarchy.ancestors(term));
            nodes.map(|node| hierarchy.text(node, &dates)).collect::<Vec<_>>().join(" < ")
        };
        assert_eq!(chain(0), "2024-12-31 < 2024-12 < 2024-Q4 < 2024 < 2020..2029 < *");
        assert_eq!(hierarchy.text(hierarchy.lowest_common(0, 1).unwrap(), &dates), "2024-Q4");
        assert_eq!(hierarchy.text(hierarchy.lowest_common(1, 2).unwrap(), &dates), "2020..2029");
    }
}
