//! What the cells of one column stand for, how likely they are what somebody asks for, and values drawn from them.
//!
//! Promises:   [`Answer::sure`] only if every value that the cell may stand for is asked for, [`Answer::possible`] unless none is:
//!             both exact for one cell that lists or bounds its values. Of labels that are not explained nothing is ruled out
//! Assumes:    for shares and draws, that all values of a cell are as likely: of a range all numbers with as many decimals as the
//!             column shows, of a list each value, of `*` all that the column shows elsewhere. A label that is not explained is
//!             taken for something else than other labels. Where nothing is known of a cell, the share is one half, and a missing value is
//!             drawn
//! Departs:    numbers of a range are any numbers for what is certain: that all of them are whole is not published
//! Cost:       a pass over the different cells of a column
//! Checked by: `tests/it/predicates.rs`, against all values of small universes

use rand::RngExt;

use super::predicate::{Literal, Predicate, Written};
use crate::data::table::Domain;
use crate::data::{Dictionary, Hierarchy};
use crate::error::Result;
use crate::release::cells::{Range, Shown, Value, fits, number};
use crate::release::spelling::{Spelling, date_of, days, range_of_days};

/// More decimals than these are not drawn.
const MOST_DECIMALS: usize = 6;

/// How the cells of a column are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Numbers,
    Dates,
    Words,
    Codes,
    Labels,
    /// Whatever somebody else wrote.
    Foreign,
}

impl Kind {
    pub(super) fn of(spelling: Option<Spelling>) -> Self {
        match spelling {
            Some(Spelling::Numbers) => Kind::Numbers,
            Some(Spelling::Values) => Kind::Words,
            Some(Spelling::Calendar) => Kind::Dates,
            Some(Spelling::Beginnings) => Kind::Codes,
            Some(Spelling::Labels) => Kind::Labels,
            None => Kind::Foreign,
        }
    }
}

/// What a cell stands for.
#[derive(Debug, Clone, PartialEq)]
enum Stands {
    Any,
    One(Value),
    Range(Range),
    Set(Vec<Value>),
    /// Texts that begin so.
    Begins(String),
    /// Texts that look so, with any character for `*`.
    Mask(String),
    /// What only its maker knows.
    Label(String),
}

/// A column that can be asked.
#[derive(Debug, Clone)]
pub(super) struct Cells {
    kind: Kind,
    /// For each code of the column, missing values last.
    stands: Vec<Stands>,
    /// What `*` stands for: the least and the greatest number, or all values that are shown.
    span: Option<Range>,
    shown: Vec<Value>,
    decimals: usize,
    hierarchy: Option<(Hierarchy, Dictionary)>,
}

/// What a cell says to some conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    pub(super) sure: bool,
    pub(super) possible: bool,
    pub(super) share: f64,
}

/// A condition on values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Ranges { ranges: Vec<Range>, not: bool },
    OneOf { values: Vec<Value>, not: bool },
    Begins { starts: Vec<String>, not: bool },
}

impl Cells {
    /// A column by its codes; `is_exact` if every cell is one value. A hierarchy explains labels.
    pub(super) fn new(domain: &Domain, kind: Kind, is_exact: bool, hierarchy: Option<(Hierarchy, Dictionary)>) -> Self {
        let kind = if hierarchy.is_some() { Kind::Words } else { kind };
        let texts: Vec<&str> = (0..domain.n_codes() as u32).map(|code| domain.text(code)).collect();
        let stands = |text: &&str| match (&hierarchy, is_exact) {
            _ if text.is_empty() => Stands::One(Value { text: String::new(), number: None }),
            (_, true) => Stands::One(value(kind, text)),
            (Some((hierarchy, terms)), _) => explained(hierarchy, terms, text),
            (None, _) => stands_for(kind, text),
        };
        let stands: Vec<Stands> = texts.iter().map(stands).collect();
        let mut cells =
            Cells { kind, stands, span: None, shown: Vec::new(), decimals: 0, hierarchy: hierarchy.clone() };
        cells.look_around(&texts);
        cells
    }

    /// What the column shows in all: what `*` may stand for, and how many decimals there are.
    fn look_around(&mut self, texts: &[&str]) {
        let mut ends: Vec<f64> = Vec::new();
        for stands in &self.stands {
            match stands {
                Stands::One(Value { number: Some(number), .. }) => ends.push(*number),
                Stands::Range(range) => {
                    // The last day is the one before the end.
                    let high = if self.kind == Kind::Dates { range.high - 1.0 } else { range.high };
                    ends.extend([range.low, high].iter().filter(|end| end.is_finite()));
                }
                Stands::One(value) if !value.text.is_empty() => self.shown.push(value.clone()),
                Stands::Set(values) => self.shown.extend(values.iter().cloned()),
                Stands::Label(text) => self.shown.push(Value { text: text.clone(), number: None }),
                _ => {}
            }
        }
        self.shown.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        self.shown.dedup();
        let (low, high) = ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &e| (l.min(e), h.max(e)));
        self.span = (low <= high).then_some(Range { low, without_low: false, high, without_high: false });
        if self.kind != Kind::Dates && self.span.is_some() {
            let of = |text: &str| text.split_once('.').map_or(0, |(_, rest)| leading_digits(rest));
            let parts = texts.iter().flat_map(|text| text.split("..")).map(of);
            self.decimals = parts.max().unwrap_or(0).min(MOST_DECIMALS);
        }
    }

    /// The values of a condition, as this column reads them. A missing value is written as an empty text.
    pub(super) fn test(&self, written: &Written, predicate: &Predicate) -> Result<Test> {
        match written {
            Written::Is { values, not } if values.iter().any(|value| value.text.is_empty()) => {
                if let (true, Some(value)) = (values.len() > 1, values.iter().find(|value| value.text.is_empty())) {
                    let hint = "ask for missing values alone, as = ''".into();
                    return Err(predicate.fault(value.at, "a missing value is not one of several", hint));
                }
                Ok(Test::OneOf { values: vec![Value { text: String::new(), number: None }], not: *not })
            }
            Written::Is { values, not } => self.one_of(values, *not, predicate),
            Written::Compared { sign, value } => {
                let Range { low, without_low, high, without_high } = self.literal_range(value, predicate)?;
                let from = |low, without_low| Range { low, without_low, high: f64::INFINITY, without_high: false };
                let to = |high, without_high| Range { low: -f64::INFINITY, without_low: false, high, without_high };
                let range = match *sign {
                    "<" => to(low, !without_low),
                    "<=" => to(high, without_high),
                    ">" => from(high, !without_high),
                    _ => from(low, without_low),
                };
                Ok(Test::Ranges { ranges: vec![range], not: false })
            }
            Written::Within(value) => {
                let range = self.literal_range(value, predicate)?;
                Ok(Test::Ranges { ranges: vec![range], not: false })
            }
            Written::Has(terms) => {
                let at = terms.first().map_or(1, |term| term.at);
                let hint = "\"has\" asks for terms of a set-valued column; of others write = or in".into();
                Err(predicate.fault(at, "the column holds no sets", hint))
            }
        }
    }

    fn one_of(&self, values: &[Literal], not: bool, predicate: &Predicate) -> Result<Test> {
        let is_beginning = |value: &Literal| value.text.len() > 1 && value.text.ends_with('*');
        match self.kind {
            Kind::Numbers | Kind::Dates => {
                let ranges = values.iter().map(|value| self.literal_range(value, predicate)).collect::<Result<_>>()?;
                Ok(Test::Ranges { ranges, not })
            }
            Kind::Codes if values.iter().any(is_beginning) => match values.iter().find(|value| !is_beginning(value)) {
                None => {
                    let starts = values.iter().map(|value| value.text[..value.text.len() - 1].to_owned()).collect();
                    Ok(Test::Begins { starts, not })
                }
                Some(other) => {
                    let hint = "ask for codes, or for what they begin with (25*), in a list of its own".into();
                    Err(predicate.fault(other.at, "codes and beginnings of codes stand in one list", hint))
                }
            },
            Kind::Words | Kind::Codes | Kind::Labels | Kind::Foreign => {
                let meant = values.iter().flat_map(|value| self.meant(&value.text));
                Ok(Test::OneOf { values: meant.collect(), not })
            }
        }
    }

    /// A value by its text, or all below it if a hierarchy has it as a label.
    fn meant(&self, text: &str) -> Vec<Value> {
        match &self.hierarchy {
            Some((hierarchy, terms)) => match explained(hierarchy, terms, text) {
                Stands::Set(values) => values,
                _ => vec![value(self.kind, text)],
            },
            None => vec![value(self.kind, text)],
        }
    }

    /// The numbers or days that a text stands for.
    fn literal_range(&self, literal: &Literal, predicate: &Predicate) -> Result<Range> {
        let text = literal.text.trim();
        let (problem, hint) = match self.kind {
            Kind::Dates => {
                let ends = text.split_once("..").and_then(|(first, last)| Some((days(first)?.0, days(last)?.1)));
                let has_time = text.contains([' ', 'T', ':']);
                match days(text).or(ends).filter(|(first, last)| first <= last && !has_time) {
                    Some(found) => return Ok(range_of_days(found)),
                    None => (
                        "is no day, month, quarter or year",
                        "write 2024-05-17, 2024-05, 2024-Q2, 2024 or 2024-01..2024-03",
                    ),
                }
            }
            Kind::Numbers | Kind::Foreign => match (number(text), Shown::parse(text)) {
                (Some(one), _) => {
                    return Ok(Range { low: one, without_low: false, high: one, without_high: false });
                }
                (None, Shown::Range(range)) => return Ok(range),
                _ => (
                    "is no number and no range of numbers",
                    "write 30, 30-39, 1.5..2 or 90+, with a point before decimals",
                ),
            },
            Kind::Words | Kind::Codes | Kind::Labels => {
                ("the column holds no numbers and no dates", "ask for its values, as = VALUE or in {VALUE, VALUE}")
            }
        };
        Err(predicate.fault(literal.at, problem, hint.to_owned()))
    }

    /// What every code says to conditions that must all hold.
    pub(super) fn ask(&self, tests: &[Test]) -> Vec<Answer> {
        self.stands.iter().map(|stands| self.answer(stands, tests)).collect()
    }

    fn answer(&self, stands: &Stands, tests: &[Test]) -> Answer {
        let of = |sure: bool, possible: bool, share: f64| Answer { sure, possible, share };
        match stands {
            Stands::One(value) => {
                let holds = tests.iter().all(|test| test.holds(value));
                of(holds, holds, f64::from(u8::from(holds)))
            }
            Stands::Set(values) => {
                let n = values.iter().filter(|value| tests.iter().all(|test| test.holds(value))).count();
                of(n == values.len(), n > 0, n as f64 / values.len().max(1) as f64)
            }
            Stands::Range(range) => {
                let met = meet_all(*range, tests);
                of(met[..] == [*range], !met.is_empty(), self.share(range, &met))
            }
            Stands::Any => self.answer_any(tests),
            Stands::Begins(start) => {
                let known: Vec<&Value> = self.shown.iter().filter(|value| value.text.starts_with(start)).collect();
                let (sure, possible) = both(tests, |test| test.of_beginning(start));
                of(sure, possible, share_of(&known, tests, sure, possible))
            }
            Stands::Mask(mask) => {
                let known: Vec<&Value> = self.shown.iter().filter(|value| fits(mask, &value.text)).collect();
                let (sure, possible) = both(tests, |test| test.of_mask(mask));
                of(sure, possible, share_of(&known, tests, sure, possible))
            }
            Stands::Label(label) => {
                let (sure, possible) = both(tests, |test| test.of_label(label));
                of(sure, possible, f64::from(u8::from(sure)))
            }
        }
    }

    /// Anything, also a missing value: never sure, and possible unless the conditions exclude each other.
    fn answer_any(&self, tests: &[Test]) -> Answer {
        let listed = tests.iter().find_map(|test| match test {
            Test::OneOf { values, not: false } => Some(values),
            _ => None,
        });
        let all = Range { low: -f64::INFINITY, without_low: false, high: f64::INFINITY, without_high: false };
        let asks_numbers = tests.iter().any(|test| matches!(test, Test::Ranges { .. }));
        let possible = match listed {
            Some(values) => values.iter().any(|value| tests.iter().all(|test| test.holds(value))),
            None if asks_numbers => !meet_all(all, tests).is_empty(),
            None => true,
        };
        let share = match (&self.span, possible) {
            (_, false) => 0.0,
            (Some(span), true) if asks_numbers => self.share(span, &meet_all(*span, tests)),
            (_, true) => share_of(&self.shown.iter().collect::<Vec<_>>(), tests, false, true),
        };
        Answer { sure: false, possible, share }
    }

    /// The share of a range's numbers that lie in some of its parts.
    fn share(&self, range: &Range, parts: &[Range]) -> f64 {
        let (all, met) = (self.points(range).1, parts.iter().map(|part| self.points(part).1).sum::<f64>());
        match () {
            () if parts[..] == [*range] => 1.0,
            () if all >= 1.0 && all.is_finite() => met / all,
            () => 0.5,
        }
    }

    /// The first of the numbers of a range, in units of the last decimal, and how many there are; open ends are those of the column.
    fn points(&self, range: &Range) -> (f64, f64) {
        let unit = 10_f64.powi(self.decimals as i32);
        let within = |end: f64| self.span.map_or(end, |span| end.clamp(span.low, span.high));
        let end = |end: f64| if end.is_finite() { end * unit } else { within(end) * unit };
        // A number that was written with these decimals may be off by a little in units.
        let whole = |x: f64| (x - x.round()).abs() < 1e-6 * x.abs().clamp(1.0, 1e3);
        let (low, high) = (end(range.low), end(range.high));
        let first = match (whole(low), range.without_low) {
            (true, true) => low.round() + 1.0,
            (true, false) => low.round(),
            (false, _) => low.ceil(),
        };
        let last = match (whole(high), range.without_high) {
            (true, true) => high.round() - 1.0,
            (true, false) => high.round(),
            (false, _) => high.floor(),
        };
        (first, (last - first + 1.0).max(0.0))
    }

    /// A value that the cell of a code may stand for; none is a missing one. A label that is not explained stays as it is.
    pub(super) fn draw(&self, code: u32, rng: &mut impl RngExt) -> Option<String> {
        let text_of = |value: &Value| (!value.text.is_empty()).then(|| value.text.clone());
        match &self.stands[code as usize] {
            Stands::One(value) => text_of(value),
            Stands::Set(values) => values.get(rng.random_range(0..values.len().max(1))).and_then(text_of),
            Stands::Range(range) => Some(self.draw_number(range, rng)),
            Stands::Any => match (&self.span, self.shown.len()) {
                (Some(span), n) if n == 0 || matches!(self.kind, Kind::Numbers | Kind::Dates) => {
                    Some(self.draw_number(span, rng))
                }
                (_, 0) => None,
                (_, n) => text_of(&self.shown[rng.random_range(0..n)]),
            },
            Stands::Begins(start) => self.draw_known(rng, |text| text.starts_with(start), &format!("{start}*")),
            Stands::Mask(mask) => self.draw_known(rng, |text| fits(mask, text), mask),
            Stands::Label(label) => Some(label.clone()),
        }
    }

    fn draw_known(&self, rng: &mut impl RngExt, fits: impl Fn(&str) -> bool, otherwise: &str) -> Option<String> {
        let known: Vec<&Value> = self.shown.iter().filter(|value| fits(&value.text)).collect();
        match known.len() {
            0 => Some(otherwise.to_owned()),
            n => Some(known[rng.random_range(0..n)].text.clone()),
        }
    }

    fn draw_number(&self, range: &Range, rng: &mut impl RngExt) -> String {
        let (first, n) = self.points(range);
        let drawn = if n >= 2.0 { first + rng.random_range(0..n as u64) as f64 } else { first };
        if self.kind == Kind::Dates {
            return date_of(drawn as i64);
        }
        // A range that is narrower than the decimals, or has no end, has a number all the same.
        let drawn = drawn / 10_f64.powi(self.decimals as i32) + 0.0;
        let others =
            [range.low, range.high, range.low / 2.0 + range.high / 2.0, 0.0, range.low + 1.0, range.high - 1.0];
        let is_one = |number: &f64| number.is_finite() && range.has(*number);
        std::iter::once(drawn).chain(others).find(is_one).unwrap_or_default().to_string()
    }

    /// Whether a value may be one of those that the cell of a code stands for; a label stands for itself.
    pub(super) fn covers(&self, code: u32, text: &str) -> bool {
        let value = if text.is_empty() { Value { text: String::new(), number: None } } else { value(self.kind, text) };
        let test = [Test::OneOf { values: vec![value.clone()], not: false }];
        match &self.stands[code as usize] {
            Stands::Range(range) => value.number.is_some_and(|number| range.has(number)),
            Stands::Label(label) => label == text,
            Stands::Begins(start) => text.starts_with(start),
            Stands::Mask(mask) => fits(mask, text),
            Stands::Any => true,
            stands => self.answer(stands, &test).possible,
        }
    }

    /// Whether some cell shows a value by itself, in a list or a range.
    pub(super) fn shows(&self, value: &Value) -> bool {
        let test = [Test::OneOf { values: vec![value.clone()], not: false }];
        self.stands.iter().any(|stands| match stands {
            Stands::Any => false,
            Stands::Label(label) => *label == value.text,
            stands => self.answer(stands, &test).possible,
        })
    }

    /// The texts that the column shows, for hints.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.shown.iter().map(|value| value.text.as_str())
    }

    /// Whether its values are numbers.
    pub(super) fn is_of_numbers(&self) -> bool {
        self.kind == Kind::Numbers
    }

    /// Whether some cells are labels that nobody explained.
    pub(super) fn has_labels(&self) -> bool {
        self.stands.iter().any(|stands| matches!(stands, Stands::Label(_)))
    }
}

impl Test {
    fn holds(&self, value: &Value) -> bool {
        let is_missing = value.text.is_empty() && value.number.is_none();
        match self {
            Test::Ranges { ranges, not } => {
                value.number.is_some_and(|number| ranges.iter().any(|range| range.has(number)) != *not)
            }
            Test::OneOf { values, not } => {
                let same = |own: &Value| own.text == value.text || (own.number.is_some() && own.number == value.number);
                values.iter().any(same) != *not && !(is_missing && *not)
            }
            Test::Begins { starts, not } => {
                !is_missing && starts.iter().any(|start| value.text.starts_with(start)) != *not
            }
        }
    }

    /// Where it holds among numbers.
    fn region(&self) -> Vec<Range> {
        let (ranges, not) = match self {
            Test::Ranges { ranges, not } => (ranges.clone(), *not),
            Test::OneOf { values, not } => {
                let one = |low: f64| Range { low, without_low: false, high: low, without_high: false };
                (values.iter().filter_map(|value| value.number).map(one).collect(), *not)
            }
            Test::Begins { not, .. } => (Vec::new(), *not),
        };
        if not { complement(ranges) } else { merged(ranges) }
    }

    /// Whether it holds for all, and for some, of the texts that begin so.
    fn of_beginning(&self, start: &str) -> (bool, bool) {
        match self {
            Test::OneOf { values, not } => {
                let some = values.iter().any(|value| value.text.starts_with(start));
                if *not { (!some, true) } else { (false, some) }
            }
            Test::Begins { starts, not } => {
                let all = starts.iter().any(|asked| start.starts_with(asked));
                let some = all || starts.iter().any(|asked| asked.starts_with(start));
                if *not { (!some, !all) } else { (all, some) }
            }
            Test::Ranges { .. } => (false, true),
        }
    }

    fn of_mask(&self, mask: &str) -> (bool, bool) {
        match self {
            Test::OneOf { values, not } => {
                let some = values.iter().any(|value| fits(mask, &value.text));
                let same = values.iter().any(|value| value.text == mask);
                if *not { (!some, !same) } else { (same, some) }
            }
            _ => (false, true),
        }
    }

    /// Whether what stands below a label is asked for: that is known of the label itself only.
    fn of_label(&self, label: &str) -> (bool, bool) {
        match self {
            Test::OneOf { values, not } => {
                let same = values.iter().any(|value| value.text == label);
                // A label stands for values, and none of them is missing.
                let only_missing = values.iter().all(|value| value.text.is_empty());
                match (*not, only_missing) {
                    (true, true) => (true, true),
                    (false, true) => (false, false),
                    (true, false) => (false, !same),
                    (false, false) => (same, true),
                }
            }
            _ => (false, true),
        }
    }
}

fn both(tests: &[Test], of: impl Fn(&Test) -> (bool, bool)) -> (bool, bool) {
    tests.iter().map(of).fold((true, true), |(sure, possible), (s, p)| (sure && s, possible && p))
}

/// The share of known values that are asked for; of none at all, what is certain, or one half.
fn share_of(known: &[&Value], tests: &[Test], sure: bool, possible: bool) -> f64 {
    let n = known.iter().filter(|value| tests.iter().all(|test| test.holds(value))).count();
    match known.len() {
        _ if sure => 1.0,
        _ if !possible => 0.0,
        0 => 0.5,
        all => n as f64 / all as f64,
    }
}

fn meet_all(range: Range, tests: &[Test]) -> Vec<Range> {
    let mut parts = vec![range];
    for test in tests {
        let region = test.region();
        parts = parts.iter().flat_map(|part| region.iter().filter_map(|other| meet(part, other))).collect();
    }
    parts
}

/// What two ranges have in common, if anything.
fn meet(a: &Range, b: &Range) -> Option<Range> {
    let (low, without_low) = match a.low.total_cmp(&b.low) {
        std::cmp::Ordering::Less => (b.low, b.without_low),
        std::cmp::Ordering::Greater => (a.low, a.without_low),
        std::cmp::Ordering::Equal => (a.low, a.without_low || b.without_low),
    };
    let (high, without_high) = match a.high.total_cmp(&b.high) {
        std::cmp::Ordering::Less => (a.high, a.without_high),
        std::cmp::Ordering::Greater => (b.high, b.without_high),
        std::cmp::Ordering::Equal => (a.high, a.without_high || b.without_high),
    };
    let is_some = low < high || (low == high && !without_low && !without_high);
    is_some.then_some(Range { low, without_low, high, without_high })
}

/// Ranges in order, those that touch as one.
fn merged(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable_by(|a, b| a.low.total_cmp(&b.low).then(a.without_low.cmp(&b.without_low)));
    let mut merged: Vec<Range> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last)
                if range.low < last.high || (range.low == last.high && !(range.without_low && last.without_high)) =>
            {
                if range.high > last.high || (range.high == last.high && !range.without_high) {
                    (last.high, last.without_high) = (range.high, range.without_high);
                }
            }
            _ => merged.push(range),
        }
    }
    merged
}

/// All numbers that are in none of the ranges.
fn complement(ranges: Vec<Range>) -> Vec<Range> {
    let mut rest = Vec::new();
    let (mut low, mut without_low) = (-f64::INFINITY, false);
    for range in merged(ranges) {
        let before = Range { low, without_low, high: range.low, without_high: !range.without_low };
        rest.extend(meet(&before, &before));
        (low, without_low) = (range.high, !range.without_high);
    }
    let last = Range { low, without_low, high: f64::INFINITY, without_high: false };
    rest.extend(meet(&last, &last).filter(|_| low < f64::INFINITY));
    rest
}

/// A value as a column of this kind has it.
fn value(kind: Kind, text: &str) -> Value {
    let number = match kind {
        Kind::Numbers | Kind::Foreign => number(text),
        Kind::Dates => days(text).filter(|(first, last)| first == last).map(|(day, _)| day as f64),
        Kind::Words | Kind::Codes | Kind::Labels => None,
    };
    Value { text: text.to_owned(), number }
}

fn stands_for(kind: Kind, text: &str) -> Stands {
    let label = || Stands::Label(text.to_owned());
    match kind {
        _ if text == "*" => Stands::Any,
        Kind::Numbers => match Shown::parse(text) {
            Shown::Value(Value { number: Some(_), .. }) => Stands::One(value(kind, text)),
            Shown::Range(range) => Stands::Range(range),
            _ => label(),
        },
        Kind::Dates => match days(text) {
            Some((first, last)) if first == last => Stands::One(value(kind, text)),
            Some(found) => Stands::Range(range_of_days(found)),
            None => label(),
        },
        Kind::Words => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some(inner) => Stands::Set(inner.split('|').map(|text| value(kind, text)).collect()),
            None => Stands::One(value(kind, text)),
        },
        Kind::Codes => match text.strip_suffix('*') {
            Some(start) => Stands::Begins(start.to_owned()),
            None => Stands::One(value(kind, text)),
        },
        Kind::Labels => label(),
        Kind::Foreign => match Shown::parse(text) {
            Shown::Any => Stands::Any,
            Shown::Value(found) if found.number.is_some() => Stands::One(found),
            Shown::Range(range) => Stands::Range(range),
            // A word with commas may be one, and any word a label.
            Shown::Set(values) if text.starts_with('{') => Stands::Set(values),
            Shown::Mask(mask) => Stands::Mask(mask),
            Shown::Value(_) | Shown::Set(_) => label(),
        },
    }
}

/// What a cell stands for where a hierarchy explains labels; what it does not have stays a label.
fn explained(hierarchy: &Hierarchy, terms: &Dictionary, text: &str) -> Stands {
    match Shown::parse_in(text, hierarchy, terms) {
        Shown::Any => Stands::Any,
        Shown::Set(values) if terms.get(text).is_none() || values.len() > 1 => {
            Stands::Set(values.into_iter().map(|v| value(Kind::Words, &v.text)).collect())
        }
        _ if terms.get(text).is_some() => Stands::One(value(Kind::Words, text)),
        _ => Stands::Label(text.to_owned()),
    }
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
