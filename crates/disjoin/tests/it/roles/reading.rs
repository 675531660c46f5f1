//! Numbers and dates in tables: read in one way, or refused with what to say; plain ones as ever.

use disjoin::data::Table;
use disjoin::data::cell::Cell;
use disjoin::data::table::Role;
use disjoin::read::Options;
use disjoin::read::rows::{ColumnType, Declared, TableIntake, table_bytes};
use disjoin::read::values::{DateOrder, Decimal};

fn quasi(read: impl FnOnce(&mut Declared)) -> Declared {
    let mut declared = Declared { roles: vec![("a".into(), Role::Quasi)], detect: true, ..Declared::default() };
    read(&mut declared);
    declared
}

fn read(cells: &[&str], declared: &Declared) -> disjoin::Result<(Table, TableIntake)> {
    let rows: Vec<String> = cells.iter().map(|cell| format!("\"{cell}\"\n")).collect();
    table_bytes("x.csv", format!("a\n{}", rows.concat()).as_bytes(), &Options::default(), declared)
}

fn texts(table: &Table) -> Vec<&str> {
    let column = &table.columns[0];
    column.codes.iter().map(|&code| column.domain.text(code)).collect()
}

fn named(column: &str) -> Vec<String> {
    vec![column.to_owned()]
}

#[test]
fn declared_numbers_are_read_in_any_style() {
    let numeric = quasi(|declared| declared.numeric = named("a"));
    for (cells, expected, reading) in [
        (&["1", "2.50", "-3e2"][..], &["1", "2.5", "-300"][..], None),
        (&["1,5", "2"], &["1.5", "2"], Some("decimal comma")),
        (&["1.234,5", "7"], &["1234.5", "7"], Some("decimal comma")),
        (&["1,234.5", "7"], &["1234.5", "7"], Some("separators of thousands")),
        (&["12 %", "3%"], &["12", "3"], Some("percentages")),
        (&["34 years", "<1", "7"], &["34", "0", "7"], Some("ages")),
    ] {
        let (table, intake) = read(cells, &numeric).unwrap();
        assert_eq!(texts(&table), expected);
        assert!(table.columns[0].domain.numbers().is_some());
        assert_eq!(intake.column_readings.len(), usize::from(reading.is_some()), "{cells:?}");
        assert!(intake.column_readings.iter().all(|found| found.declared && found.text.contains(reading.unwrap())));
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_until_somebody_says_it() {
    let numeric = quasi(|declared| declared.numeric = named("a"));
    let said = |decimal| quasi(|declared| (declared.numeric, declared.decimal) = (named("a"), Some(decimal)));
    let error = read(&["5", "1,234"], &numeric).unwrap_err();
    assert!(error.to_string().starts_with("x.csv:3 (column a): the numbers can be read in two ways"), "{error}");
    assert!(error.hint().unwrap().contains("--decimal comma"));
    assert_eq!(texts(&read(&["5", "1,234"], &said(Decimal::Comma)).unwrap().0), ["5", "1.234"]);
    assert_eq!(texts(&read(&["5", "1,234"], &said(Decimal::Point)).unwrap().0), ["5", "1234"]);
    let error = read(&["5", "1,234.5", "2,5"], &numeric).unwrap_err().to_string();
    assert!(error.starts_with("x.csv:3 (column a)") && error.contains("not written as the other"), "{error}");

    let dates = quasi(|declared| declared.dates = named("a"));
    let error = read(&["1/2/2024", "3/4/2024"], &dates).unwrap_err();
    assert!(error.to_string().contains("no day is above 12") && error.hint().unwrap().contains("--date-order dmy"));
    let dmy = quasi(|declared| (declared.dates, declared.date_order) = (named("a"), Some(DateOrder::Dmy)));
    assert_eq!(texts(&read(&["1/2/2024", "3/4/2024"], &dmy).unwrap().0), ["2024-02-01", "2024-04-03"]);
    let error = read(&["1/2/2024", "30/4/2024", "4/30/2024"], &dates).unwrap_err().to_string();
    assert!(error.starts_with("x.csv:3 (column a)") && error.contains("another order"), "{error}");
    let error = read(&["1/2/2024", "soon"], &dates).unwrap_err().to_string();
    assert!(error.starts_with("x.csv:3 (column a): the cell is not a date"), "{error}");
}

#[test]
fn dates_and_codes_are_generalised_by_what_they_have_in_common() {
    let dates = quasi(|declared| declared.dates = named("a"));
    let (table, intake) = read(&["2.1.1987", "30.3.1987", "5.11.1987", "1.1.1999", ""], &dates).unwrap();
    let domain = &table.columns[0].domain;
    let of = |rows: &[usize]| Cell::cover(domain, rows.iter().map(|&row| table.columns[0].codes[row])).text(domain);
    assert_eq!([of(&[0]), of(&[0, 1]), of(&[0, 2]), of(&[0, 3])], ["1987-01-02", "1987-Q1", "1987", "*"]);
    assert!(
        intake.column_readings[0].kind == ColumnType::Dates
            && intake.column_readings[0].text.contains("day before month")
    );

    let codes = quasi(|declared| declared.prefixes = named("a"));
    let (table, _) = read(&["01234", "01299", "98765"], &codes).unwrap();
    let domain = &table.columns[0].domain;
    let of = |rows: &[usize]| Cell::cover(domain, rows.iter().map(|&row| table.columns[0].codes[row])).text(domain);
    assert_eq!([of(&[0]), of(&[0, 1]), of(&[0, 2])], ["01234", "012*", "*"]);
}

#[test]
fn nothing_numeric_becomes_single_values_silently() {
    let detect = quasi(|_| {});
    let many: Vec<String> = (20..60).map(|age| age.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let (table, intake) = read(&many, &detect).unwrap();
    assert!(table.columns[0].domain.numbers().is_some());
    let [found] = &intake.column_readings[..] else { panic!("{:?}", intake.column_readings) };
    assert!(found.kind == ColumnType::Numbers && !found.declared && found.text.contains("--words a"), "{found:?}");
    // What was found is declared when the original is read again, and nothing else is.
    let again = Declared { detect: false, ..detect.with_readings(&intake.column_readings) };
    assert_eq!(again.numeric, named("a"));
    assert!(read(&many, &again).unwrap().0.columns[0].domain.numbers().is_some());
    assert!(
        read(&many, &Declared { detect: false, ..detect.clone() }).unwrap().0.columns[0].domain.numbers().is_none()
    );

    let words = quasi(|declared| declared.words = named("a"));
    let (table, intake) = read(&many, &words).unwrap();
    assert!(table.columns[0].domain.numbers().is_none() && intake.column_readings.is_empty());

    for (cells, kind) in [
        (&["1", "2", "1"][..], ColumnType::Words),
        (&["01234", "99999"], ColumnType::Words),
        (&["1,5", "2"], ColumnType::Numbers),
        (&["2024-01-02", "2024-05-02"], ColumnType::Dates),
    ] {
        let (_, intake) = read(cells, &detect).unwrap();
        assert_eq!(intake.column_readings.iter().map(|found| found.kind).collect::<Vec<_>>(), [kind], "{cells:?}");
    }
    assert!(read(&["f", "m"], &detect).unwrap().1.column_readings.is_empty());
    assert!(read(&["1,234", "5,678"], &detect).unwrap_err().hint().unwrap().contains("--decimal"));
    assert!(read(&["1/2/2024", "3/4/2024"], &detect).unwrap_err().hint().unwrap().contains("--date-order"));
}

/// Columns that are sensitive or insensitive are published as they are: nothing is read into them.
#[test]
fn only_quasi_identifiers_are_looked_at() {
    for role in [Role::Sensitive, Role::Other] {
        let declared = Declared { roles: vec![("a".into(), role)], detect: true, ..Declared::default() };
        let cells: Vec<String> = (0..40).map(|i| format!("{i}.0")).collect();
        let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        let (table, intake) = read(&cells, &declared).unwrap();
        assert_eq!((texts(&table)[7], intake.column_readings.len()), ("7.0", 0));
    }
}
