//! From the texts of a column to its values: numbers in the style that all its texts have, dates in one order, codes with a hierarchy
//! of their beginnings, words.
//!
//! Promises:   nothing that looks like numbers or dates becomes single values silently: it is read as such, or what it was taken for
//!             is said. What can be read in two ways is refused with what to say. Plain numbers are read as ever
//! Checked by: tests of `rows/mod.rs`, `tests/it/roles/reading.rs`

use super::roles::{Expected, Planned};
use super::sink::MISSING;
use super::{ColumnReading, ColumnType, Declared};
use crate::data::table::{Column, Role};
use crate::data::{Dictionary, by_prefix};
use crate::error::{Error, Place, Result};
use crate::read::values::{Choice, DateStyle, NumberStyle, choose_dates, choose_numbers, dates};

/// All integers up to this one are numbers of their own.
const LAST_INTEGER: f64 = (1_u64 << 53) as f64;

/// So many different integers may be names: of a sex, a grade, a region. More are a scale.
const NAMES: usize = 12;

/// A column from codes by first appearance, and how it was read, where that is not plain. `odd` is the line of the first text that is
/// not written plainly.
pub(super) fn column(
    planned: &Planned,
    texts: Dictionary,
    codes: Vec<u32>,
    odd: Option<u64>,
    declared: &Declared,
    file: &str,
) -> Result<(Column, Option<ColumnReading>)> {
    let task = Task { planned, odd, declared, file };
    match planned.expected {
        Expected::Numbers => task.numbers(&texts, codes),
        Expected::Dates => task.dates(&texts, codes),
        Expected::Codes => task.codes(texts, codes),
        Expected::Unsaid if declared.detect && planned.role == Role::Quasi && !task.has_hierarchy() => {
            task.detected(texts, codes)
        }
        Expected::Unsaid | Expected::Words => Ok((task.words(texts, codes), None)),
    }
}

/// Whether a text is an integer that numbers cannot keep.
pub(super) fn is_big_integer(text: &str, value: f64) -> bool {
    value.abs() > LAST_INTEGER && !text.contains(['.', 'e', 'E'])
}

struct Task<'a> {
    planned: &'a Planned,
    odd: Option<u64>,
    declared: &'a Declared,
    file: &'a str,
}

type Made = (Column, Option<ColumnReading>);

impl Task<'_> {
    fn words(&self, texts: Dictionary, codes: Vec<u32>) -> Column {
        Column::from_codes(&self.planned.name, self.planned.role, texts, codes)
    }

    /// Every text has been checked to be a number in some style.
    fn numbers(&self, texts: &Dictionary, codes: Vec<u32>) -> Result<Made> {
        let style = match choose_numbers(texts.iter(), self.declared.decimal) {
            Choice::Read(style) => style,
            Choice::Ambiguous => return Err(self.two_ways_of_numbers()),
            Choice::Mixed | Choice::Unread => {
                let problem = "the cell is not written as the other numbers of the column are";
                let hint =
                    "write all of them in one way: 1234.5, or 1.234,5 with a decimal comma, or 12 % in all cells";
                return Err(Error::input(self.place(), problem).with_hint(hint));
            }
        };
        if texts.iter().any(|text| style.value(text).is_some_and(|value| is_big_integer(text, value))) {
            let problem = "the column has integers of more digits than numbers keep";
            let hint = "such numbers are names: do not declare the column numeric";
            return Err(Error::input(self.place(), problem).with_hint(hint));
        }
        let reading = (style != NumberStyle::Plain).then(|| self.reading(ColumnType::Numbers, style.text()));
        let Planned { name, role, .. } = self.planned;
        let value = |text: &str| style.value(text).unwrap_or_default();
        Ok((Column::from_number_codes(name, *role, texts, codes, value), reading))
    }

    /// Every text has been checked to be a date in some order.
    fn dates(&self, texts: &Dictionary, codes: Vec<u32>) -> Result<Made> {
        match choose_dates(texts.iter(), self.declared.date_order) {
            Choice::Read(style) => self.dated(texts, codes, style),
            Choice::Ambiguous => Err(self.two_orders()),
            Choice::Mixed | Choice::Unread => {
                let problem = "the cell is a date in another order than others of the column, or than was said";
                let hint = "write all dates in one order; 2024-12-31 is read in one way only";
                Err(Error::input(self.place(), problem).with_hint(hint))
            }
        }
    }

    fn dated(&self, texts: &Dictionary, mut codes: Vec<u32>, style: DateStyle) -> Result<Made> {
        let mut days = Dictionary::default();
        let day = |text: &str| style.date(text).map_or_else(|| text.to_owned(), |date| date.text());
        let rename: Vec<u32> = texts.iter().map(|text| days.intern(&day(text))).collect();
        codes.iter_mut().for_each(|code| *code = rename.get(*code as usize).copied().unwrap_or(MISSING));
        let mut column = self.words(days, codes);
        let mut how = style.text().to_owned();
        if self.is_generalised() && column.domain.n_values() > 0 {
            let hierarchy = dates::calendar(column.domain.texts())?;
            column.domain.set_hierarchy(hierarchy);
            how.push_str("; they are generalised by month, quarter, year and decade");
        }
        Ok((column, Some(self.reading(ColumnType::Dates, &how))))
    }

    fn codes(&self, texts: Dictionary, codes: Vec<u32>) -> Result<Made> {
        let mut column = self.words(texts, codes);
        if self.is_generalised() && column.domain.n_values() > 0 {
            let hierarchy = by_prefix(column.domain.texts()).map_err(|error| match error {
                Error::Infeasible { problem, hint } => Error::input(self.place(), problem).with_hint(hint),
                other => other,
            })?;
            column.domain.set_hierarchy(hierarchy);
        }
        Ok((column, Some(self.reading(ColumnType::Codes, "codes; they are generalised by what they begin with"))))
    }

    /// A quasi-identifier of which nobody said what it is: what looks like numbers or dates is read as such.
    fn detected(&self, texts: Dictionary, codes: Vec<u32>) -> Result<Made> {
        if texts.is_empty() {
            return Ok((self.words(texts, codes), None));
        }
        match choose_dates(texts.iter(), self.declared.date_order) {
            Choice::Read(style) => return self.dated(&texts, codes, style),
            Choice::Ambiguous => return Err(self.two_orders()),
            Choice::Mixed | Choice::Unread => {}
        }
        let style = match choose_numbers(texts.iter(), self.declared.decimal) {
            Choice::Read(style) => style,
            Choice::Ambiguous => return Err(self.two_ways_of_numbers()),
            Choice::Mixed | Choice::Unread => return Ok((self.words(texts, codes), None)),
        };
        let name = &self.planned.name;
        let words = |texts, codes, why: &str| {
            let reading = self.reading(ColumnType::Words, why);
            Ok((self.words(texts, codes), Some(reading)))
        };
        if texts.iter().any(is_code) {
            let why =
                format!("codes, each a value of its own; --prefixes {name} generalises them by what they begin with");
            return words(texts, codes, &why);
        }
        let is_integer = |text: &str| style.value(text).is_some_and(|value| value.fract() == 0.0);
        if texts.len() <= NAMES && style == NumberStyle::Plain && texts.iter().all(is_integer) {
            let why = format!("{} different numbers, each a name; --numeric {name} makes them a scale", texts.len());
            return words(texts, codes, &why);
        }
        let column = self.numbers(&texts, codes)?.0;
        let how =
            format!("{}; they are generalised to ranges, and --words {name} would keep each as a name", style.text());
        Ok((column, Some(self.reading(ColumnType::Numbers, &how))))
    }

    fn reading(&self, kind: ColumnType, text: &str) -> ColumnReading {
        let declared = self.planned.expected != Expected::Unsaid;
        ColumnReading { column: self.planned.name.clone(), kind, text: text.to_owned(), declared }
    }

    fn is_generalised(&self) -> bool {
        matches!(self.planned.role, Role::Quasi | Role::Sensitive)
    }

    fn has_hierarchy(&self) -> bool {
        self.declared.hierarchies.iter().any(|(column, _)| *column == self.planned.name)
    }

    fn place(&self) -> Place {
        let place = self.odd.map_or_else(|| Place::file(self.file), |line| Place::line(self.file, line));
        place.in_column(&self.planned.name)
    }

    fn two_ways_of_numbers(&self) -> Error {
        let problem =
            "the numbers can be read in two ways: in 1,234 the comma may stand before decimals or after thousands";
        Error::input(self.place(), problem).with_hint(
            "say what stands before decimals: --decimal point or --decimal comma; in a recipe, decimal = \"comma\" under [table]",
        )
    }

    fn two_orders(&self) -> Error {
        let problem = "the dates can be read in two ways: no day is above 12, so that nothing shows which is the month";
        Error::input(self.place(), problem).with_hint(
            "say the order: --date-order dmy or --date-order mdy; in a recipe, date_order = \"dmy\" under [table]",
        )
    }
}

/// Whether a text of digits is a name: its zero in front would be lost.
fn is_code(text: &str) -> bool {
    let bytes = text.trim().as_bytes();
    bytes.iter().all(u8::is_ascii_digit) && (bytes.len() > 15 || (bytes.len() > 1 && bytes[0] == b'0'))
}
