//! The same data from a CSV file and from a database are the same.

use std::path::{Path, PathBuf};

use disjoin::Unobserved;
use disjoin::data::table::{Column, Role, Sets};
use disjoin::data::{Dataset, Table};
use disjoin::read::rows::{Declared, RowLog, count_table, read_table};
use disjoin::read::{Options, count_table_from, read, read_sets, read_table_from};
use disjoin_databases::Databases;

const CSV: &str =
    "id,age,weight,ill,codes\n1,30,61.5,flu,b;a;b\n2,,70,,\n3,NA,61.50,hiv,\"c;\"\"d;e\"\"\"\n4,-4,,flu,a;c\n";

/// A folder with the same table as `people.csv` and, once all texts and once typed, in `people.db`.
fn both() -> (tempfile::TempDir, PathBuf, [PathBuf; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let (csv, database) = (folder.path().join("people.csv"), folder.path().join("people.db"));
    std::fs::write(&csv, CSV).unwrap();
    let made = "CREATE TABLE texts (id TEXT, age TEXT, weight TEXT, ill TEXT, codes TEXT);
         INSERT INTO texts VALUES ('1', '30', '61.5', 'flu', 'b;a;b'), ('2', '', '70', NULL, NULL),
             ('3', 'NA', '61.50', 'hiv', 'c;\"d;e\"'), ('4', '-4', '', 'flu', 'a;c');
         CREATE TABLE typed (id INTEGER, age INTEGER, weight REAL, ill TEXT, codes TEXT);
         INSERT INTO typed VALUES (1, 30, 61.5, 'flu', 'b;a;b'), (2, NULL, 70, '', ''), (3, NULL, 61.5, 'hiv', 'c;\"d;e\"'),
             (4, -4, NULL, 'flu', 'a;c');";
    rusqlite::Connection::open(&database).unwrap().execute_batch(made).unwrap();
    let url = |table: &str| PathBuf::from(format!("sqlite:{}?table={table}", database.display()));
    (folder, csv, [url("texts"), url("typed")])
}

fn declared(with_set: bool) -> Declared {
    let roles = [("id", Role::Identifier), ("age", Role::Quasi), ("weight", Role::Quasi), ("ill", Role::Sensitive)];
    let set = ("codes", if with_set { Role::Set } else { Role::Identifier });
    let roles = roles.into_iter().chain([set]).map(|(name, role)| (name.to_owned(), role)).collect();
    let numeric = ["age", "weight"].map(String::from).to_vec();
    Declared { roles, numeric, missing: vec!["NA".into()], ..Declared::default() }
}

/// All that is in a table, to compare.
fn content(table: &Table) -> String {
    let column = |column: &Column| {
        let domain =
            (column.domain.texts().iter().collect::<Vec<_>>(), column.domain.numbers(), column.domain.has_missing());
        format!("{} {:?} {:?} {domain:?}", column.name, column.role, column.codes)
    };
    let sets = |sets: &Sets| {
        let terms: Vec<_> = sets.dictionary.iter().collect();
        format!("{} {terms:?} {:?} {:?}", sets.name, sets.of_row, sets.records.iter().collect::<Vec<_>>())
    };
    let columns: Vec<String> = table.columns.iter().map(column).collect();
    format!("{} {columns:?} {:?}", table.n_rows(), table.sets.as_ref().map(sets))
}

fn check_sets(from_file: &Dataset, from_rows: &Dataset) {
    assert!(from_file.dictionary.iter().eq(from_rows.dictionary.iter()));
    assert_eq!(from_file.records, from_rows.records);
}

#[test]
fn tables() {
    let (_folder, csv, urls) = both();
    let (expected, of_file) = read_table(&csv, &Options::default(), &declared(true)).unwrap();
    assert_eq!(of_file.missing, 4);
    for url in urls {
        let (table, intake) =
            read_table_from(&url, &Options::default(), &declared(true), &Databases, &Unobserved).unwrap();
        assert_eq!(content(&table), content(&expected));
        assert_eq!((intake.rows, intake.missing, &intake.columns), (4, of_file.missing, &of_file.columns));
        assert_eq!((intake.format.as_str(), intake.file.as_str()), ("database", url.to_str().unwrap()));
        let (_, again) = read_table_from(&url, &Options::default(), &declared(true), &Databases, &Unobserved).unwrap();
        assert_eq!(again, intake);
        assert_eq!(intake.sha256.len(), 64);
    }
    let (_, of_file_too) =
        read_table_from(&csv, &Options::default(), &declared(true), &Databases, &Unobserved).unwrap();
    assert_eq!(of_file_too, of_file);
}

#[test]
fn counts() {
    let (_folder, csv, urls) = both();
    let mut file = tempfile::tempfile().unwrap();
    let expected = count_table(&csv, &Options::default(), &declared(false), log(&mut file), &Unobserved).unwrap();
    for url in urls.iter().chain([&csv]) {
        let mut file = tempfile::tempfile().unwrap();
        let found =
            count_table_from(url, &Options::default(), &declared(false), log(&mut file), &Databases, &Unobserved)
                .unwrap();
        assert_eq!(content(&found.counted.columns), content(&expected.counted.columns));
        assert_eq!(found.counted.n_groups(), expected.counted.n_groups());
        for group in 0..expected.counted.n_groups() {
            assert_eq!(found.counted.size(group), expected.counted.size(group));
            assert_eq!(found.counted.values(group, 0), expected.counted.values(group, 0));
        }
        assert_eq!((found.intake.rows, found.intake.missing), (4, expected.intake.missing));
    }
}

fn log(file: &mut std::fs::File) -> RowLog<'_> {
    RowLog { file, place: Path::new("rows"), with_values: true }
}

#[test]
fn lists() {
    let (_folder, csv, urls) = both();
    let options = Options { column: Some("codes".into()), ..Options::default() };
    let (expected, of_file) = read(&csv, &options).unwrap();
    assert_eq!(of_file.empty_records, 1);
    for url in urls {
        let (found, intake) = read_sets(&url, &options, &Databases, &Unobserved).unwrap();
        check_sets(&expected, &found);
        let counts = |intake: &disjoin::read::Intake| {
            (intake.records, intake.empty_records, intake.empty_terms, intake.duplicate_terms)
        };
        assert_eq!(counts(&intake), counts(&of_file));
        assert_eq!((intake.format.to_string().as_str(), intake.file.as_str()), ("database", url.to_str().unwrap()));
        let (_, table) = read_table_from(&url, &Options::default(), &declared(true), &Databases, &Unobserved).unwrap();
        assert_eq!((intake.sha256, intake.bytes), (table.sha256, table.bytes));
        let error = read_sets(&url, &Options::default(), &Databases, &Unobserved).unwrap_err();
        assert!(error.hint().unwrap().contains("id, age, weight, ill, codes"), "{error:?}");
    }
}

#[test]
fn pairs() {
    let folder = tempfile::tempdir().unwrap();
    let (csv, database) = (folder.path().join("long.csv"), folder.path().join("long.db"));
    std::fs::write(&csv, "id,item\n7,b\n3,a\n7,c\n7,b\n9,\n").unwrap();
    let made = "CREATE TABLE long (id INTEGER, item TEXT);
         INSERT INTO long VALUES (7, 'b'), (3, 'a'), (7, 'c'), (7, 'b'), (9, NULL);";
    rusqlite::Connection::open(&database).unwrap().execute_batch(made).unwrap();
    let (expected, of_file) = read(&csv, &Options::default()).unwrap();
    let url = PathBuf::from(format!("sqlite:{}?table=long", database.display()));
    let named = Options { id_column: Some("id".into()), item_column: Some("item".into()), ..Options::default() };
    for options in [Options::default(), named] {
        let (found, intake) = read_sets(&url, &options, &Databases, &Unobserved).unwrap();
        check_sets(&expected, &found);
        assert_eq!((intake.empty_records, intake.empty_terms), (of_file.empty_records, of_file.empty_terms));
    }
}
