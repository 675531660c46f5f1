//! What a published cell may stand for, in the spellings of the tools that write tables: ARX, Amnesia, sdcMicro, anonypy, pycanon, disjoin.
//!
//! Promises:   a cell that is not recognised stands for its own text and nothing else
//! Assumes:    nothing about the values behind a column: numbers are any real numbers
//! Departs:    two numbers with a comma between are one text (`1,5`): they may be a number of another country
//! Cost:       the length of the cell
//! Checked by: tests in this file
//!
//! | spelling | stands for |
//! |---|---|
//! | `*`, `*****`, `NA`, `<NA>`, `NaN`, `(null)` | anything |
//! | `[20, 30[`, `[20-30)`, `]20,30]`, `20-29`, `20..29`, `>=30`, `<20`, `90+` | a range of numbers |
//! | `{a,b}`, `{a\|b}`, `{a;b}`, and anonypy's `a,b` | one of these |
//! | `2****`, `12**5` | a text of the same length with other characters in place of `*` |
//! | a label of a hierarchy that is given | one of the values below it |
//! | empty | a missing value, which is a value of its own |

use crate::data::{Dictionary, Hierarchy, NodeId};

/// What a cell may stand for.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// Anything.
    Any,
    /// One value.
    Value(Value),
    /// Numbers of a range.
    Range(Range),
    /// One of these, sorted by text.
    Set(Vec<Value>),
    /// Texts of this length with any character in place of `*`.
    Mask(String),
}

/// A value of the original, as far as a table shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// As written.
    pub text: String,
    /// The number that it is, if it is one. `007` is none: leading zeros are those of codes.
    pub number: Option<f64>,
}

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// From here on,
    pub low: f64,
    /// without it, if so.
    pub without_low: bool,
    /// up to here,
    pub high: f64,
    /// without it, if so.
    pub without_high: bool,
}

/// What stands for anything, besides stars.
const ANY: [&str; 5] = ["NA", "<NA>", "NaN", "nan", "(null)"];

impl Value {
    /// A value by its text.
    pub fn new(text: &str) -> Self {
        Value { text: text.to_owned(), number: number(text) }
    }

    fn is(&self, other: &Value) -> bool {
        self.text == other.text || (self.number.is_some() && self.number == other.number)
    }
}

impl Range {
    pub(crate) fn has(&self, number: f64) -> bool {
        (number > self.low || (number == self.low && !self.without_low))
            && (number < self.high || (number == self.high && !self.without_high))
    }

    fn meets(&self, other: &Range) -> bool {
        let before = |a: &Range, b: &Range| a.high < b.low || (a.high == b.low && (a.without_high || b.without_low));
        !before(self, other) && !before(other, self)
    }
}

impl Shown {
    /// What a cell stands for by its spelling.
    pub fn parse(text: &str) -> Shown {
        let text = text.trim();
        if ANY.contains(&text) || (!text.is_empty() && text.bytes().all(|byte| byte == b'*')) {
            return Shown::Any;
        }
        let known = range(text).or_else(|| set(text));
        known.unwrap_or_else(|| match text.contains('*') {
            true => Shown::Mask(text.to_owned()),
            false => Shown::Value(Value::new(text)),
        })
    }

    /// The same where a hierarchy says what labels stand for; `terms` are those that it was built for.
    pub fn parse_in(text: &str, hierarchy: &Hierarchy, terms: &Dictionary) -> Shown {
        if Shown::parse(text) == Shown::Any {
            return Shown::Any;
        }
        let inner = hierarchy.n_terms() as NodeId..hierarchy.n_nodes() as NodeId;
        let is_named = |node: &NodeId| hierarchy.text(*node, terms) == text.trim();
        match inner.into_iter().find(is_named) {
            Some(node) => {
                let below = (0..hierarchy.n_terms() as NodeId).filter(|&term| hierarchy.is_ancestor(node, term));
                Shown::set_of(below.map(|term| Value::new(terms.text(term))).collect())
            }
            None if terms.get(text.trim()).is_some() => Shown::Value(Value::new(text.trim())),
            None => Shown::parse(text),
        }
    }

    fn set_of(mut values: Vec<Value>) -> Shown {
        values.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        values.dedup();
        Shown::Set(values)
    }

    /// Whether the cell may stand for a value.
    pub fn covers(&self, value: &Value) -> bool {
        match self {
            Shown::Any => true,
            Shown::Value(own) => own.is(value),
            Shown::Range(range) => value.number.is_some_and(|number| range.has(number)),
            Shown::Set(values) => {
                let by_text = values.binary_search_by(|own| own.text.as_str().cmp(&value.text)).is_ok();
                by_text || (value.number.is_some() && values.iter().any(|own| own.number == value.number))
            }
            Shown::Mask(mask) => fits(mask, &value.text),
        }
    }

    /// Whether two cells may stand for the same value. Of a mask and a range that is not known, and counts as no.
    pub fn meets(&self, other: &Shown) -> bool {
        match (self, other) {
            (Shown::Any, _) | (_, Shown::Any) => true,
            (Shown::Value(value), cell) | (cell, Shown::Value(value)) => cell.covers(value),
            (Shown::Set(values), cell) | (cell, Shown::Set(values)) => values.iter().any(|value| cell.covers(value)),
            (Shown::Range(one), Shown::Range(other)) => one.meets(other),
            (Shown::Mask(one), Shown::Mask(other)) => {
                let agree = |(a, b): (char, char)| a == b || a == '*' || b == '*';
                one.chars().count() == other.chars().count() && one.chars().zip(other.chars()).all(agree)
            }
            (Shown::Mask(_), Shown::Range(_)) | (Shown::Range(_), Shown::Mask(_)) => false,
        }
    }

    /// Whether it stands for more than one value.
    pub fn is_generalised(&self) -> bool {
        !matches!(self, Shown::Value(_))
    }

    /// The kind of cell in a word or two, without a value.
    pub fn kind(&self) -> String {
        match self {
            Shown::Any => "anything".into(),
            Shown::Value(value) if value.text.is_empty() => "missing".into(),
            Shown::Value(_) => "one value".into(),
            Shown::Range(_) => "a range".into(),
            Shown::Set(values) => format!("one of {}", values.len()),
            Shown::Mask(_) => "a masked text".into(),
        }
    }
}

/// Whether a text is one of those that a mask stands for. Another mask is such a text if it says more.
pub(crate) fn fits(mask: &str, text: &str) -> bool {
    let agree = |(mask, c): (char, char)| mask == '*' || mask == c;
    mask.chars().count() == text.chars().count() && mask.chars().zip(text.chars()).all(agree)
}

/// A finite number, as a table writes it.
pub(crate) fn number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_code = digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse::<f64>().ok().filter(|number| number.is_finite() && is_number && !is_code).map(|number| number + 0.0)
}

/// One end of a range, which may be open.
fn bound(text: &str) -> Option<f64> {
    match text.trim() {
        "-inf" | "-\u{221e}" => Some(f64::NEG_INFINITY),
        "inf" | "+inf" | "\u{221e}" | "+\u{221e}" => Some(f64::INFINITY),
        other => number(other),
    }
}

fn range(text: &str) -> Option<Shown> {
    let between = |(low, without_low, high, without_high): (f64, bool, f64, bool)| {
        let is_some = low < high || (low == high && !without_low && !without_high);
        is_some.then_some(Shown::Range(Range { low, without_low, high, without_high }))
    };
    for (sign, without) in [(">=", false), ("\u{2265}", false), (">", true)] {
        if let Some(low) = text.strip_prefix(sign).and_then(|rest| number(rest.trim())) {
            return between((low, without, f64::INFINITY, false));
        }
    }
    for (sign, without) in [("<=", false), ("\u{2264}", false), ("<", true)] {
        if let Some(high) = text.strip_prefix(sign).and_then(|rest| number(rest.trim())) {
            return between((f64::NEG_INFINITY, false, high, without));
        }
    }
    if let Some(low) = text.strip_suffix('+').and_then(number) {
        return between((low, false, f64::INFINITY, false));
    }
    let mut inner = text.chars();
    if let (Some(first @ ('[' | '(' | ']')), Some(last @ (']' | ')' | '['))) = (inner.next(), inner.next_back()) {
        let (low, high) = ends(inner.as_str(), &[",", ";", "..", "-", "\u{2013}"])?;
        return between((low, first != '[', high, last != ']'));
    }
    let (low, high) = ends(text, &["..", "-", "\u{2013}"])?;
    between((low, false, high, false))
}

/// Two numbers with something between; a minus before a number is its own.
fn ends(text: &str, between: &[&str]) -> Option<(f64, f64)> {
    between.iter().find_map(|mark| {
        let mut places = text.match_indices(mark).map(|(at, _)| at).filter(|&at| at > 0);
        places.find_map(|at| Some((bound(&text[..at])?, bound(&text[at + mark.len()..])?)))
    })
}

fn set(text: &str) -> Option<Shown> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    if let Some(inner) = inner {
        let mark = ['|', ';', ','].into_iter().find(|&mark| inner.contains(mark))?;
        return Some(Shown::set_of(inner.split(mark).map(|text| Value::new(text.trim())).collect()));
    }
    // anonypy writes words of a class with commas between, and no blank.
    let parts: Vec<&str> = text.split(',').collect();
    let is_list = parts.len() > 1 && parts.iter().all(|part| !part.is_empty() && part.trim() == *part);
    let is_number = parts.len() == 2 && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_list && !is_number).then(|| Shown::set_of(parts.into_iter().map(Value::new).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(cell: &str, value: &str) -> bool {
        Shown::parse(cell).covers(&Value::new(value))
    }

    #[test]
    fn every_spelling_covers_what_its_tool_means() {
        for (cell, inside, outside) in [
            ("[20, 30[", &["20", "29.9"][..], &["30", "19", "x", ""][..]),
            ("[20,30)", &["20", "29"], &["30"]),
            ("[20-30)", &["20", "29"], &["30"]),
            ("]20, 30]", &["21", "30"], &["20", "31"]),
            ("(20;30)", &["21"], &["20", "30"]),
            ("[-20--10]", &["-20", "-10", "-15.5"], &["-9", "10"]),
            ("[-5, 10[", &["-5", "0"], &["10", "-6"]),
            ("20-29", &["20", "29", "25.0"], &["30", "19"]),
            ("17..29", &["17", "29"], &["30"]),
            (">=30", &["30", "1e9"], &["29"]),
            (">30", &["31"], &["30"]),
            ("<20", &["19", "-5"], &["20"]),
            ("90+", &["90", "104"], &["89"]),
            ("{a,b}", &["a", "b"], &["c", "{a,b}"]),
            ("{a|b, c}", &["a", "b, c"], &["b", "c"]),
            ("{1,2.0}", &["1", "2"], &["3"]),
            ("Private,State-gov", &["Private", "State-gov"], &["State"]),
            ("2****", &["23456", "20000"], &["2345", "33456", "234567"]),
            ("12*45", &["12345"], &["12355"]),
            ("*", &["", "anything"], &[]),
            ("*****", &["x"], &[]),
            ("NA", &["7"], &[]),
            ("(null)", &["7"], &[]),
            ("", &[""], &["0"]),
            ("1,5", &["1,5"], &["1", "5"]),
            ("2020-01-05", &["2020-01-05"], &["2020"]),
            ("2020-12", &["2020-12"], &["2020"]),
            ("[3, 3[", &["[3, 3["], &["3"]),
            ("007", &["007"], &["7"]),
            ("Smith, John", &["Smith, John"], &["Smith"]),
        ] {
            for value in inside {
                assert!(covers(cell, value), "{cell} should cover {value}");
            }
            for value in outside {
                assert!(!covers(cell, value), "{cell} should not cover {value}");
            }
        }
    }

    /// Two cells meet if and only if some value is in both, over all values that tell these cells apart.
    #[test]
    fn cells_meet_where_a_value_is_in_both() {
        let cells = [
            "[2, 5[", "[5, 8[", "5-6", "]6, 9]", "3", "5", "{3,7}", "{a,b}", "{b,c}", "a", "c", "*", "1*", "*2", "12",
            "13", "", ">=9", "<2",
        ];
        let mut values: Vec<Value> = (0..60).map(|n| Value::new(&(f64::from(n) / 4.0).to_string())).collect();
        values.extend(["a", "b", "c", "", "1x", "x2", "12", "zz", "1000"].map(Value::new));
        for one in cells {
            for other in cells {
                let (a, b) = (Shown::parse(one), Shown::parse(other));
                if matches!((&a, &b), (Shown::Mask(_), Shown::Range(_)) | (Shown::Range(_), Shown::Mask(_))) {
                    continue;
                }
                let met = values.iter().any(|value| a.covers(value) && b.covers(value));
                assert_eq!(a.meets(&b), met, "{one} and {other}");
            }
        }
    }

    #[test]
    fn labels_stand_for_what_is_below_them() {
        let mut terms = Dictionary::default();
        ["a", "b", "c"].iter().for_each(|term| {
            terms.intern(term);
        });
        let paths = [("a", ["x", "*"]), ("b", ["x", "*"]), ("c", ["y", "*"])];
        let hierarchy = Hierarchy::from_paths(&terms, paths).unwrap();
        let label = Shown::parse_in("x", &hierarchy, &terms);
        assert!(label.covers(&Value::new("a")) && label.covers(&Value::new("b")) && !label.covers(&Value::new("c")));
        assert!(Shown::parse_in("*", &hierarchy, &terms).covers(&Value::new("c")));
        assert_eq!(Shown::parse_in("c", &hierarchy, &terms), Shown::Value(Value::new("c")));
        assert_eq!(Shown::parse_in("NA", &hierarchy, &terms), Shown::Any);
    }
}
