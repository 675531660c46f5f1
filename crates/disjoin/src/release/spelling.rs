//! How the cells of a quasi-identifier are to be read: what of its hierarchy everybody knows, and what only its maker does.
//!
//! Promises:   a spelling is claimed only if every value that is published stands below labels that say so by themselves: a month is
//!             its days, `25*` are the codes that begin so, `20-39` are these numbers. Labels of any other kind are [`Spelling::Labels`],
//!             of which a reader knows nothing but the text
//! Assumes:    nothing of values that are not published: they are not looked at
//! Cost:       a pass over the values that occur and the labels above them
//! Checked by: tests in this file, and `tests/it/predicates.rs`

use serde::{Deserialize, Serialize};

use super::cells::{Range, Shown, Value};
use crate::data::table::{Column, Domain};
use crate::data::{Hierarchy, NodeId};

/// What the cells of a quasi-identifier look like, besides `*` and missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    /// Numbers and ranges of them: `20`, `20..29`, `20-39`.
    Numbers,
    /// Values, and lists of them: `a`, `{a|b}`.
    Values,
    /// Dates, months, quarters, years and decades: `2024-05-17`, `2024-05`, `2024-Q2`, `2024`, `2020..2029`.
    Calendar,
    /// Codes, and what codes begin with: `250.01`, `250*`.
    Beginnings,
    /// Values and labels of a hierarchy that is not published.
    Labels,
}

impl Spelling {
    /// How the cells of a column are spelled, whose codes occur as said.
    pub fn of(column: &Column, occurs: &[bool]) -> Spelling {
        let domain = &column.domain;
        let codes: Vec<u32> = (0..domain.missing()).filter(|&code| occurs[code as usize]).collect();
        match (domain.hierarchy(), domain.numbers()) {
            (None, Some(_)) => Spelling::Numbers,
            (None, None) => {
                let is_plain = |text: &str| text != "*" && !text.contains('|') && !text.starts_with('{');
                match codes.iter().all(|&code| is_plain(domain.text(code))) {
                    true => Spelling::Values,
                    false => Spelling::Labels,
                }
            }
            (Some(hierarchy), _) => Self::of_labels(domain, hierarchy, &codes),
        }
    }

    fn of_labels(domain: &Domain, hierarchy: &Hierarchy, codes: &[u32]) -> Spelling {
        let all = |fits: &dyn Fn(&str, &str) -> bool| {
            let of = |code: u32| {
                let label = |node: NodeId| hierarchy.text(node, domain.texts());
                hierarchy.ancestors(code).all(|node| label(node) == "*" || fits(label(node), domain.text(code)))
            };
            codes.iter().all(|&code| of(code))
        };
        let is_date = |text: &str| days(text).is_some_and(|(first, last)| first == last);
        let in_days = |label: &str, value: &str| match (days(label), days(value)) {
            (Some((first, last)), Some((day, _))) => (first..=last).contains(&day),
            _ => false,
        };
        let is_number = |text: &str| matches!(Shown::parse(text), Shown::Value(Value { number: Some(_), .. }));
        let in_range = |label: &str, value: &str| match Shown::parse(label) {
            Shown::Range(range) => Value::new(value).number.is_some_and(|number| range.has(number)),
            _ => false,
        };
        let begins = |label: &str, value: &str| label.strip_suffix('*').is_some_and(|start| value.starts_with(start));
        let texts = |fits: &dyn Fn(&str) -> bool| codes.iter().all(|&code| fits(domain.text(code)));
        match () {
            () if texts(&is_date) && all(&in_days) => Spelling::Calendar,
            () if texts(&is_number) && all(&in_range) => Spelling::Numbers,
            () if texts(&|text| !text.ends_with('*')) && all(&begins) => Spelling::Beginnings,
            () => Spelling::Labels,
        }
    }
}

/// The first and the last day that a text of the calendar stands for, as days since the year 0; of a time its day.
pub fn days(text: &str) -> Option<(i64, i64)> {
    let (date, time) = text.split_once([' ', 'T']).unwrap_or((text, ""));
    let is_time = time.is_empty() || (date.len() == 10 && time.starts_with(|c: char| c.is_ascii_digit()));
    let number = |text: &str, length: usize| -> Option<i64> {
        let is_number = text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok())?
    };
    if !is_time {
        return None;
    }
    if let Some((first, last)) = date.split_once("..") {
        let decade = (day(number(first, 4)?, 1, 1), day(number(last, 4)? + 1, 1, 1) - 1);
        return Some(decade).filter(|(first, last)| first <= last);
    }
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4)?;
    let months = |first: i64, last: i64| {
        let (next_year, next) = if last == 12 { (year + 1, 1) } else { (year, last + 1) };
        (1..=12).contains(&first).then(|| (day(year, first, 1), day(next_year, next, 1) - 1))
    };
    match (parts.next(), parts.next(), parts.next()) {
        (None, ..) => months(1, 12),
        (Some(quarter), None, _) if quarter.starts_with('Q') => {
            let quarter = number(&quarter[1..], 1).filter(|quarter| (1..=4).contains(quarter))?;
            months(3 * quarter - 2, 3 * quarter)
        }
        (Some(month), None, _) => number(month, 2).and_then(|month| months(month, month)),
        (Some(month), Some(of_month), None) => {
            let (month, of_month) = (number(month, 2)?, number(of_month, 2)?);
            let (first, last) = months(month, month)?;
            Some(first + of_month - 1).filter(|day| of_month >= 1 && *day <= last).map(|day| (day, day))
        }
        _ => None,
    }
}

/// Days since the year 0 of the calendar that is used today, reckoned back.
fn day(year: i64, month: i64, of_month: i64) -> i64 {
    // A year that begins in March has its leap day at the end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + of_month - 1
}

/// The date of a day since the year 0: 2024-05-17.
pub fn date_of(days: i64) -> String {
    let mut year = (days * 400).div_euclid(146_097);
    while day(year + 1, 1, 1) <= days {
        year += 1;
    }
    while day(year, 1, 1) > days {
        year -= 1;
    }
    let month = (2..=12).take_while(|&month| day(year, month, 1) <= days).last().unwrap_or(1);
    format!("{year:04}-{month:02}-{:02}", days - day(year, month, 1) + 1)
}

/// A range of whole days: up to the day after the last, without it, so that months touch each other.
pub fn range_of_days((first, last): (i64, i64)) -> Range {
    Range { low: first as f64, without_low: false, high: (last + 1) as f64, without_high: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::by_prefix;
    use crate::data::table::Role;

    #[test]
    fn the_calendar_is_that_of_the_wall() {
        for (text, first, last) in [
            ("2024-05-17", "2024-05-17", "2024-05-17"),
            ("2024-05-17 10:30", "2024-05-17", "2024-05-17"),
            ("2024-02", "2024-02-01", "2024-02-29"),
            ("1900-02", "1900-02-01", "1900-02-28"),
            ("2024-Q4", "2024-10-01", "2024-12-31"),
            ("2023", "2023-01-01", "2023-12-31"),
            ("2020..2029", "2020-01-01", "2029-12-31"),
        ] {
            let (from, to) = days(text).unwrap();
            assert_eq!((date_of(from).as_str(), date_of(to).as_str()), (first, last), "{text}");
        }
        for text in [
            "2024-13",
            "2024-00",
            "2024-02-30",
            "2024-Q5",
            "24",
            "x",
            "",
            "2024-05-17-1",
            "*",
            "2024-5-1",
            "2029..2020",
        ] {
            assert_eq!(days(text), None, "{text}");
        }
        // Day after day, over leap years and centuries.
        let (first, _) = days("1896").unwrap();
        let mut before = String::new();
        for day in first..first + 3_000 {
            let date = date_of(day);
            assert!(date > before && days(&date) == Some((day, day)), "{date}");
            before = date;
        }
    }

    #[test]
    fn a_spelling_is_claimed_only_if_labels_speak_for_themselves() {
        let spelled = |texts: &[&str], paths: &[(&str, &[&str])]| {
            let mut column = Column::words("c", Role::Quasi, texts.iter().map(|text| Some(*text)));
            if !paths.is_empty() {
                let paths = paths.iter().map(|(value, above)| (*value, above.iter().copied()));
                column.domain.set_hierarchy(Hierarchy::from_paths(column.domain.texts(), paths).unwrap());
            }
            Spelling::of(&column, &vec![true; column.domain.n_codes()])
        };
        assert_eq!(spelled(&["a", "b"], &[]), Spelling::Values);
        assert_eq!(spelled(&["a|b", "b"], &[]), Spelling::Labels);
        assert_eq!(spelled(&["*", "b"], &[]), Spelling::Labels);
        assert_eq!(spelled(&["a", "b"], &[("a", &["x"]), ("b", &["x"])]), Spelling::Labels);
        let month: &[(&str, &[&str])] = &[("2024-05-17", &["2024-05", "*"]), ("2024-05-18", &["2024-05", "*"])];
        assert_eq!(spelled(&["2024-05-17", "2024-05-18"], month), Spelling::Calendar);
        let wrong: &[(&str, &[&str])] = &[("2024-05-17", &["2024-06", "*"]), ("2024-06-18", &["2024-06", "*"])];
        assert_eq!(spelled(&["2024-05-17", "2024-06-18"], wrong), Spelling::Labels);
        assert_eq!(spelled(&["17", "39"], &[("17", &["0-19"]), ("39", &["20-39"])]), Spelling::Numbers);
        assert_eq!(spelled(&["17", "39"], &[("17", &["20-39"]), ("39", &["20-39"])]), Spelling::Labels);
        let mut codes = Column::words("c", Role::Quasi, ["E11.9", "E11.65", "J45"].map(Some));
        codes.domain.set_hierarchy(by_prefix(codes.domain.texts()).unwrap());
        assert_eq!(Spelling::of(&codes, &[true; 4]), Spelling::Beginnings);
        // Values that are not published are not looked at.
        let column = Column::words("c", Role::Quasi, ["a|b", "b"].map(Some));
        assert_eq!(Spelling::of(&column, &[false, true, false]), Spelling::Values);
    }
}
