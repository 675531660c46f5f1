//! Workbooks: one sheet of an xlsx or ods file, whose first row that is not empty names the columns.
//!
//! Dates are written as 2024-12-31, times as 23:59:59, numbers as CSV would have them. Of a formula the stored result is read; a formula
//! without one, and a cell with an error, are refused. Merged cells all have the value that is shown in them. Hidden rows are rows.
//! What was done of this is counted.
//!
//! Promises:   nothing is unpacked beyond the limit for the file; a cell far from the others asks for no memory
//! Assumes:    a table: a header, and below it a row for each person. Rows are counted as the sheet counts them
//! Cost:       the sheet is unpacked twice, once to look at what it declares; its cells are in memory
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/messy.rs`

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use calamine::{Data, Dimensions, ExcelDateTime, Ods, Range, Reader, SheetType, SheetVisible, Xlsx};
use quick_xml::events::{BytesStart, Event};

use super::Format;
use super::readings::listed;
use super::source::{Row, Rows, Told};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, over};
use crate::observer::Observer;

/// Bytes that a cell takes at least, once it is read.
const A_CELL: u64 = 48;

/// Cells by row and column, both from 0.
type Cells = BTreeMap<u32, BTreeMap<u32, Option<String>>>;

/// A sheet as it is stored.
#[derive(Default)]
struct Sheet {
    cells: Cells,
    merged: Vec<Dimensions>,
    hidden_rows: u64,
    formulas: u64,
}

/// The rows of a sheet.
pub(super) fn rows(
    name: &str,
    bytes: &[u8],
    format: Format,
    sheet: Option<&str>,
    observer: &dyn Observer,
) -> Result<Rows<'static>> {
    check_size(name, bytes, observer.memory())?;
    observer.check();
    let (sheet_name, mut sheet) = match format {
        Format::Ods => of_ods(name, bytes, sheet, observer.memory())?,
        _ => of_xlsx(name, bytes, sheet, observer)?,
    };
    let merged_cells = fill_merged(&mut sheet);
    let told = Told::default();
    told.note(|reading| {
        reading.sheet = Some(sheet_name);
        (reading.merged_cells, reading.hidden_rows) = (merged_cells, sheet.hidden_rows);
        reading.formulas = sheet.formulas;
    });
    let mut cells = sheet.cells.into_iter().filter(|(_, row)| row.values().any(Option::is_some));
    let Some((first_row, header)) = cells.next() else {
        return Err(Error::input(Place::file(name), "the sheet is empty").with_hint("name another with --sheet"));
    };
    let (from, to) = bounds(&header);
    let header: Vec<String> = (from..=to).map(|at| header.get(&at).cloned().flatten().unwrap_or_default()).collect();
    let (file, teller, names) = (name.to_owned(), told.clone(), header.clone());
    let mut next_row = first_row + 1;
    let rows = cells.map(move |(number, mut row)| -> Result<Row> {
        let line = u64::from(number) + 1;
        teller.at_line(line);
        let skipped = u64::from(number - next_row);
        next_row = number + 1;
        if skipped > 0 {
            teller.note(|reading| reading.blank_lines += skipped);
        }
        let (first, last) = bounds(&row);
        if first < from || last > to {
            let problem = format!("has a cell beside the {} columns that the header names", names.len());
            return Err(Error::input(Place::line(&file, line), problem)
                .with_hint("remove notes and sums beside the table, or name all columns in its first row"));
        }
        Ok((from..=to).map(|at| row.remove(&at).flatten()).collect())
    });
    Ok(Rows { format, told, ..Rows::new(name, header, rows) })
}

/// The first and the last column with something in it.
fn bounds(row: &BTreeMap<u32, Option<String>>) -> (u32, u32) {
    let mut filled = row.iter().filter(|(_, cell)| cell.is_some()).map(|(at, _)| *at);
    let first = filled.next().unwrap_or(0);
    (first, filled.next_back().unwrap_or(first))
}

/// Refuses an archive that unpacks to more than a file of its size may. Declared sizes may lie: all is unpacked, and thrown away.
fn check_size(name: &str, bytes: &[u8], memory: Memory) -> Result<()> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged(name))?;
    let limit = memory.limit(bytes.len() as u64);
    let mut left = limit;
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(|_| damaged(name))?;
        let unpacked = std::io::copy(&mut entry.take(left + 1), &mut std::io::sink()).map_err(|_| damaged(name))?;
        if unpacked > left {
            return Err(over(Place::file(name), "what is unpacked asks for more", limit));
        }
        left -= unpacked;
    }
    Ok(())
}

fn damaged(name: &str) -> Error {
    Error::input(Place::file(name), "is not a workbook, or is damaged, or has a password")
        .with_hint("open it in a spreadsheet program and save it again, or export the sheet as CSV")
}

/// The sheet that is asked for, or the only one.
fn chosen(name: &str, sheets: &[calamine::Sheet], asked: Option<&str>) -> Result<String> {
    let sheets: Vec<&calamine::Sheet> = sheets.iter().filter(|sheet| sheet.typ == SheetType::WorkSheet).collect();
    let spelled = |sheet: &&calamine::Sheet| match sheet.visible {
        SheetVisible::Visible => format!("'{}'", sheet.name),
        _ => format!("'{}' (hidden)", sheet.name),
    };
    let all: Vec<String> = sheets.iter().map(spelled).collect();
    let names = listed(&all, "and");
    match (asked, &sheets[..]) {
        (Some(asked), _) if sheets.iter().any(|sheet| sheet.name == asked) => Ok(asked.to_owned()),
        (Some(_), _) => Err(Error::input(Place::file(name), "has no sheet of this name")
            .with_hint(format!("name one with --sheet: it has {names}"))),
        (None, [only]) => Ok(only.name.clone()),
        (None, _) => Err(Error::input(Place::file(name), format!("has {} sheets", sheets.len()))
            .with_hint(format!("name one with --sheet: it has {names}"))),
    }
}

fn of_xlsx(name: &str, bytes: &[u8], asked: Option<&str>, observer: &dyn Observer) -> Result<(String, Sheet)> {
    let wrong = |_| damaged(name);
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(wrong)?;
    let chosen = chosen(name, book.sheets_metadata(), asked)?;
    let merged = book.merge_cells_by_sheet_name(&chosen).unwrap_or_default();
    let mut sheet = Sheet { merged, ..Sheet::default() };
    let mut cells = book.worksheet_cells_reader(&chosen).map_err(wrong)?;
    let limit = observer.memory().limit(bytes.len() as u64);
    let mut n_cells = 0;
    while let Some(cell) = cells.next_cell_with_formula().map_err(wrong)? {
        observer.check();
        let (row, column) = cell.pos;
        n_cells += 1;
        if n_cells * A_CELL > limit {
            return Err(over(Place::file(name), "the sheet asks for more", limit));
        }
        let value = text(&cell.value.into()).map_err(|problem| in_cell(name, row, column, problem))?;
        if cell.formula.is_some() {
            sheet.formulas += 1;
            if value.is_none() {
                return Err(in_cell(name, row, column, "is a formula without a stored result"));
            }
        }
        sheet.cells.entry(row).or_default().insert(column, value);
    }
    drop(cells);
    sheet.hidden_rows = hidden_rows(bytes, &chosen).unwrap_or(0);
    Ok((chosen, sheet))
}

fn of_ods(name: &str, bytes: &[u8], asked: Option<&str>, memory: Memory) -> Result<(String, Sheet)> {
    let looked = look_at_ods(bytes).ok_or_else(|| damaged(name))?;
    let most = looked.values().map(|table| table.cells).max().unwrap_or(0);
    memory.check(
        most.saturating_mul(A_CELL),
        bytes.len() as u64,
        || Place::file(name),
        "the sheet that it declares",
    )?;
    let mut book = Ods::new(Cursor::new(bytes)).map_err(|_| damaged(name))?;
    let chosen = chosen(name, book.sheets_metadata(), asked)?;
    let range: Range<Data> = book.worksheet_range(&chosen).map_err(|_| damaged(name))?;
    let formulas = book.worksheet_formula(&chosen).map_err(|_| damaged(name))?;
    let mut sheet = Sheet::default();
    let (top, left) = range.start().unwrap_or_default();
    for (row, column, value) in range.used_cells() {
        let (row, column) = (top + row as u32, left + column as u32);
        let value = text(value).map_err(|problem| in_cell(name, row, column, problem))?;
        sheet.cells.entry(row).or_default().insert(column, value);
    }
    let (top, left) = formulas.start().unwrap_or_default();
    for (row, column, _) in formulas.used_cells().filter(|(_, _, formula)| !formula.is_empty()) {
        let (row, column) = (top + row as u32, left + column as u32);
        sheet.formulas += 1;
        if sheet.cells.get(&row).and_then(|cells| cells.get(&column)).is_none_or(Option::is_none) {
            return Err(in_cell(name, row, column, "is a formula without a stored result"));
        }
    }
    if let Some(table) = looked.get(&chosen) {
        (sheet.merged, sheet.hidden_rows) = (table.merged.clone(), table.hidden_rows);
    }
    Ok((chosen, sheet))
}

fn in_cell(name: &str, row: u32, column: u32, problem: &str) -> Error {
    let mut letters = String::new();
    let mut left = column + 1;
    while left > 0 {
        letters.insert(0, char::from(b'A' + ((left - 1) % 26) as u8));
        left = (left - 1) / 26;
    }
    Error::input(Place::line(name, u64::from(row) + 1).in_column(letters), format!("the cell {problem}"))
        .with_hint("open the workbook in a spreadsheet program, repair or clear the cell, and save it")
}

/// The text of a cell, none if it is empty.
fn text(value: &Data) -> std::result::Result<Option<String>, &'static str> {
    Ok(Some(match value {
        Data::Empty => return Ok(None),
        Data::String(text) => text.trim().to_owned(),
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Bool(truth) => truth.to_string(),
        Data::DateTime(time) => date(time),
        Data::DateTimeIso(text) => text.strip_suffix("T00:00:00").unwrap_or(text).replacen('T', " ", 1),
        Data::DurationIso(text) => text.clone(),
        Data::Error(_) => return Err("holds an error, as #N/A"),
    })
    .filter(|text| !text.is_empty()))
}

/// A date, a time or both, as far as the cell has them.
fn date(time: &ExcelDateTime) -> String {
    let value = time.as_f64();
    if time.is_duration() {
        let seconds = (value * 86_400.0).round() as i64;
        return format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let (date, clock) = (format!("{year:04}-{month:02}-{day:02}"), format!("{hour:02}:{minute:02}:{second:02}"));
    match () {
        () if value.fract() == 0.0 => date,
        () if (0.0..1.0).contains(&value) => clock,
        () => format!("{date} {clock}"),
    }
}

/// Gives merged cells the value that is shown in them, within the rows and columns that have something; counts them.
fn fill_merged(sheet: &mut Sheet) -> u64 {
    let (Some((&top, _)), Some((&bottom, _))) = (sheet.cells.first_key_value(), sheet.cells.last_key_value()) else {
        return 0;
    };
    let last = sheet.cells.values().filter_map(|row| row.last_key_value().map(|(at, _)| *at)).max().unwrap_or(0);
    let mut filled = 0;
    for area in std::mem::take(&mut sheet.merged) {
        let value = sheet.cells.get(&area.start.0).and_then(|row| row.get(&area.start.1)).cloned().flatten();
        let Some(value) = value else { continue };
        for row in area.start.0.max(top)..=area.end.0.min(bottom) {
            for column in area.start.1..=area.end.1.min(last) {
                let cell = sheet.cells.entry(row).or_default().entry(column).or_default();
                if cell.is_none() {
                    *cell = Some(value.clone());
                    filled += 1;
                }
            }
        }
    }
    filled
}

/// An attribute of an element.
fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element.try_get_attribute(name).ok()??;
    found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
}

/// Hands every element of a part of the archive on.
fn each_element(bytes: &[u8], part: &str, take: &mut dyn FnMut(&BytesStart<'_>)) -> Option<()> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let file = archive.by_name(part).ok()?;
    let mut reader = quick_xml::Reader::from_reader(std::io::BufReader::new(file));
    let mut buffer = Vec::new();
    loop {
        match reader.read_event_into(&mut buffer).ok()? {
            Event::Start(element) | Event::Empty(element) => take(&element),
            Event::Eof => return Some(()),
            _ => {}
        }
        buffer.clear();
    }
}

/// How many rows of a sheet of an xlsx file are hidden.
fn hidden_rows(bytes: &[u8], sheet: &str) -> Option<u64> {
    let (mut id, mut target) = (None, None);
    each_element(bytes, "xl/workbook.xml", &mut |element| {
        if element.local_name().as_ref() == "sheet" && attribute(element, "name").as_deref() == Some(sheet) {
            id = attribute(element, "r:id");
        }
    })?;
    let id = id?;
    each_element(bytes, "xl/_rels/workbook.xml.rels", &mut |element| {
        if attribute(element, "Id").as_deref() == Some(&*id) {
            target = attribute(element, "Target");
        }
    })?;
    let target = target?;
    let part = target.strip_prefix('/').map_or_else(|| format!("xl/{target}"), str::to_owned);
    let mut hidden = 0;
    each_element(bytes, &part, &mut |element| {
        let is_hidden = element.local_name().as_ref() == "row"
            && matches!(attribute(element, "hidden").as_deref(), Some("1" | "true"));
        hidden += u64::from(is_hidden);
    })?;
    Some(hidden)
}

/// What the table of an ods file declares.
#[derive(Default)]
struct Declared {
    /// Cells of the rectangle up to the last row and column with something in it.
    cells: u64,
    merged: Vec<Dimensions>,
    hidden_rows: u64,
}

/// The tables of an ods file, before anything is allocated by the numbers that stand in it.
fn look_at_ods(bytes: &[u8]) -> Option<BTreeMap<String, Declared>> {
    let mut tables: BTreeMap<String, Declared> = BTreeMap::new();
    let mut current = String::new();
    // The row and column that come next, how often the row is repeated, and how wide the widest row is.
    let (mut row, mut column, mut repeated, mut widest) = (0_u64, 0_u64, 1_u64, 0_u64);
    let number = |element: &BytesStart<'_>, name: &str| {
        attribute(element, name).and_then(|text| text.parse().ok()).unwrap_or(1_u64)
    };
    each_element(bytes, "content.xml", &mut |element| match element.name().as_ref() {
        "table:table" => {
            current = attribute(element, "table:name").unwrap_or_default();
            (row, column, repeated, widest) = (0, 0, 0, 0);
            tables.insert(current.clone(), Declared::default());
        }
        "table:table-row" => {
            row = row.saturating_add(repeated);
            (column, repeated) = (0, number(element, "table:number-rows-repeated"));
            let is_hidden = attribute(element, "table:visibility").is_some_and(|visibility| visibility != "visible");
            if let Some(table) = tables.get_mut(&current).filter(|_| is_hidden) {
                table.hidden_rows = table.hidden_rows.saturating_add(repeated.min(1 << 20));
            }
        }
        "table:table-cell" | "table:covered-table-cell" => {
            let cells = number(element, "table:number-columns-repeated");
            let Some(table) = tables.get_mut(&current) else { return };
            if attribute(element, "office:value-type").is_some() {
                widest = widest.max(column.saturating_add(cells));
                table.cells = row.saturating_add(repeated).saturating_mul(widest);
            }
            let span = (number(element, "table:number-rows-spanned"), number(element, "table:number-columns-spanned"));
            if span != (1, 1) && row < 1 << 20 && column < 1 << 14 {
                let end = ((row + span.0 - 1).min(1 << 20) as u32, (column + span.1 - 1).min(1 << 14) as u32);
                table.merged.push(Dimensions::new((row as u32, column as u32), end));
            }
            column = column.saturating_add(cells);
        }
        _ => {}
    })?;
    Some(tables)
}
