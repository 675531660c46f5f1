//! PostgreSQL: on a server of the tests' own, where its programs are installed.
#![cfg(unix)]

use std::path::Path;

use disjoin::Unobserved;
use disjoin::data::table::Role;
use disjoin::read::rows::Declared;
use disjoin::read::{Options, Row, Sources, read_sets, read_table_from};
use disjoin_databases::Databases;

use crate::server::Server;
use crate::{all, hint, message, row};

const MADE: &str =
    "CREATE TABLE people (age int, weight float8, name text, born date, well boolean, cost numeric(8, 2), tags text[]);
     INSERT INTO people VALUES (34, 61.5, 'Ann', '1990-02-01', true, 12.50, '{a,b}'),
                               (NULL, NULL, NULL, NULL, NULL, NULL, NULL);
     CREATE SCHEMA ward; CREATE TABLE ward.many AS SELECT n FROM generate_series(1, 10000) n;
     CREATE TABLE none (a int, b int); CREATE TABLE \"odd \"\" name; DROP TABLE people; --\" (a int);
     CREATE TABLE sets (person int, codes text[], years int[], plain text);
     INSERT INTO sets VALUES (1, ARRAY['b c', 'a,b', 'say \"x\"', 'back\\slash', 'b c'], '{1990,2001}', '{a,b}'),
                             (2, '{}', NULL, '{a}'), (3, NULL, '[0:1]={7,1990}', 'b'),
                             (4, ARRAY['{}', 'NULL', 'é', 'a,b'], '{}', '');
     CREATE TABLE nulls (codes text[]); INSERT INTO nulls VALUES ('{secret,NULL}');
     CREATE TABLE deep (codes text[]); INSERT INTO deep VALUES ('{{secret,a},{b,c}}');
     CREATE TABLE json (codes jsonb); INSERT INTO json VALUES ('[\"secret\", \"b\"]');
     CREATE ROLE ann LOGIN; CREATE ROLE bob LOGIN; GRANT SELECT ON people TO ann;";

/// One server for all: to start one takes longer than everything else.
#[test]
fn postgres_is_read() {
    let Some(server) = Server::start(false) else { return };
    server.client().unwrap().batch_execute(MADE).unwrap();
    let url = server.url();
    tables_are_read_as_text(&url);
    nothing_is_written_and_no_value_told(&url);
    which_table_is_asked(&url);
    arrays_are_lists(&url);
    arrays_are_sets_of_tables(&url);
}

fn tables_are_read_as_text(url: &str) {
    let (names, rows) = all(&format!("{url}&table=people")).unwrap();
    assert_eq!(names, ["age", "weight", "name", "born", "well", "cost", "tags"]);
    let first = ["34", "61.5", "Ann", "1990-02-01", "t", "12.50", "{a,b}"].map(Some);
    assert_eq!(rows, [row(&first), row(&[None; 7])]);
    let (_, rows) = all(&format!("{url}&table=ward.many")).unwrap();
    assert!(rows == (1..=10_000).map(|n: u32| vec![Some(n.to_string())]).collect::<Vec<Row>>());
    let (names, rows) = all(&format!("{url}&table=none")).unwrap();
    assert_eq!((names.len(), rows.len()), (2, 0));
    assert_eq!(all(&format!("{url}&table=odd \" name; DROP TABLE people; --")).unwrap().1.len(), 0);
    assert_eq!(all(&format!("{url}&query=SELECT count(*) FROM people;")).unwrap().1, [row(&[Some("2")])]);
    let rows = Databases.open(&format!("{url}&password=secret&table=sets"), &Unobserved).unwrap().unwrap();
    assert_eq!((rows.name, rows.arrays), (format!("{url}&table=sets"), vec![1, 2]));
}

fn nothing_is_written_and_no_value_told(url: &str) {
    for query in ["DELETE FROM people", "SELECT 1; COMMIT; DELETE FROM people", "DELETE FROM people RETURNING age"] {
        assert!(all(&format!("{url}&query={query}")).is_err(), "{query}");
    }
    assert_eq!(all(&format!("{url}&table=people")).unwrap().1.len(), 2);
    let told = message(&format!("{url}&query=SELECT name::int FROM people"));
    assert!(told.contains("22P02") && !told.contains("Ann"), "{told}");
    assert!(message(&format!("{url}&table=nobody")).contains("there is no such table (PostgreSQL says 42P01)"));
    let as_bob = url.replace("tester@", "bob:secret@");
    let told = message(&format!("{as_bob}&table=people"));
    assert!(told.contains("may not read it") && told.contains("bob@") && !told.contains("secret"), "{told}");
}

fn which_table_is_asked(url: &str) {
    assert_eq!(message(url), format!("{url}: which table?"));
    let told = hint(url);
    assert!(told.starts_with("its tables are deep, json, none, nulls, odd \" name"), "{told}");
    assert!(told.contains("people, sets; ") && !told.contains("many") && !told.contains("pg_"), "{told}");
    assert!(told.ends_with("add &table=deep to the URL"), "{told}");
    let only = hint(&format!("{url}&options=-csearch_path%3Dward"));
    assert_eq!(only, "its only table is many; add &table=many to the URL");
}

fn arrays_are_lists(url: &str) {
    let read = |table: &str, column: &str| {
        let options = Options { column: Some(column.into()), ..Options::default() };
        let (dataset, intake) =
            read_sets(Path::new(&format!("{url}&table={table}")), &options, &Databases, &Unobserved)?;
        let text = |&term| dataset.dictionary.text(term).to_owned();
        let records: Vec<Vec<String>> =
            dataset.records.iter().map(|record| record.iter().map(text).collect()).collect();
        disjoin::Result::Ok((records, intake.empty_records))
    };
    let expected = [vec!["b c", "a,b", "say \"x\"", "back\\slash"], vec!["a,b", "{}", "NULL", "é"]];
    assert_eq!(
        read("sets", "codes").unwrap(),
        (expected.map(|r| r.into_iter().map(String::from).collect()).to_vec(), 2)
    );
    let expected = [["1990", "2001"], ["1990", "7"]];
    assert_eq!(read("sets", "years").unwrap(), (expected.map(|r| r.map(String::from).to_vec()).to_vec(), 2));
    for (table, column, problem) in [
        ("sets", "plain", ":1 (column plain): the cell is written as an array"),
        ("nulls", "codes", ":1 (column codes): an item is null"),
        ("deep", "codes", ":1 (column codes): the array has arrays in it"),
    ] {
        let error = read(table, column).unwrap_err();
        assert!(error.to_string().contains(problem) && !format!("{error:?}").contains("secret"), "{error:?}");
    }
    // The only array needs no name.
    let (dataset, _) =
        read_sets(Path::new(&format!("{url}&table=people")), &Options::default(), &Databases, &Unobserved).unwrap();
    assert_eq!(dataset.dictionary.iter().collect::<Vec<_>>(), ["a", "b"]);
}

fn arrays_are_sets_of_tables(url: &str) {
    let roles = [("person", Role::Identifier), ("codes", Role::Set), ("years", Role::Quasi), ("plain", Role::Other)];
    let roles = roles.map(|(name, role)| (name.to_owned(), role)).to_vec();
    let declared = Declared { roles, ..Declared::default() };
    let location = format!("{url}&table=sets");
    let (table, intake) =
        read_table_from(Path::new(&location), &Options::default(), &declared, &Databases, &Unobserved).unwrap();
    let sets = table.sets.unwrap();
    assert_eq!(sets.of_row, [Some(0), None, None, Some(1)]);
    assert_eq!(
        sets.dictionary.iter().collect::<Vec<_>>(),
        ["b c", "a,b", "say \"x\"", "back\\slash", "{}", "NULL", "é"]
    );
    // One year and one plain text are missing.
    assert_eq!((intake.rows, intake.missing), (4, 2));
}
