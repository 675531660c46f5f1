//! Files as they come: each is read as a careful person would read it, or refused with its place and a remedy, which is then followed.

#[path = "messy/files.rs"]
mod files;

use disjoin::data::Table;
use disjoin::data::table::Role;
use disjoin::read::rows::{Declared, read_table};
use disjoin::read::{Join, Options};
use serde_json::Value;

use crate::common::{Bench, text};
use files::Cell::{Day, Formula, N, No, S, Wrong};
use files::{Sheet, arrow, batch, bomb, cyrillic, gzip, latin, ods, ods_row, stream, utf16, xlsx};

/// A file of sets that is read.
fn reads(name: &str, content: impl AsRef<[u8]>, flags: &[&str], expected: &str) -> Value {
    let bench = Bench::new();
    bench.file(name, content);
    records(&bench, name, flags, expected)
}

/// Reads a file of sets, and returns what is told of it; records are separated by `/`, terms by a space, and `_` is a space in a term.
fn records(bench: &Bench, name: &str, flags: &[&str], expected: &str) -> Value {
    let args = [&["convert", name, "read.jsonl", "--force", "--json"], flags].concat();
    let (stdout, _) = bench.good(&args);
    let written = std::fs::read_to_string(bench.at("read.jsonl")).unwrap();
    let found: Vec<String> = written
        .lines()
        .map(|line| {
            let mut terms: Vec<String> = serde_json::from_str(line).unwrap();
            terms.sort_unstable();
            terms.iter().map(|term| term.replace(' ', "_")).collect::<Vec<_>>().join(" ")
        })
        .collect();
    assert_eq!(found.join("/"), expected, "{name} {flags:?}");
    serde_json::from_str::<Value>(&stdout).unwrap()["input"].clone()
}

/// A file of sets that is refused: the place, and a remedy which stands in the hint and leads to the records.
fn refused(name: &str, content: impl AsRef<[u8]>, flags: &[&str], place: &str, remedy: &[&str], expected: &str) {
    let bench = Bench::new();
    bench.file(name, content);
    let told = bench.bad(&[&["convert", name, "read.jsonl"], flags].concat());
    assert!(told.contains(&format!("error: {name}{place}")), "{place}: {told}");
    let hint = told.lines().find(|line| line.starts_with("hint: ")).unwrap_or_else(|| panic!("no hint: {told}"));
    // A shell takes the quotes off.
    let spelled =
        remedy.iter().map(|word| if matches!(*word, ";" | "|") { format!("'{word}'") } else { word.to_string() });
    let spelled = spelled.collect::<Vec<_>>().join(" ");
    assert!(hint.contains(&spelled), "{spelled} is not in: {hint}");
    assert!(!told.to_lowercase().contains("secret"), "{told}");
    records(&bench, name, &[flags, remedy].concat(), expected);
}

/// The same where the file must be mended.
fn mended(
    name: &str,
    content: impl AsRef<[u8]>,
    flags: &[&str],
    place: &str,
    hint: &str,
    better: &str,
    expected: &str,
) {
    let bench = Bench::new();
    bench.file(name, content);
    let told = bench.bad(&[&["convert", name, "read.jsonl"], flags].concat());
    assert!(told.contains(&format!("error: {name}{place}")) && told.contains(hint), "{place}, {hint}: {told}");
    assert!(!told.contains("secret"), "{told}");
    bench.file(name, better);
    records(&bench, name, flags, expected);
}

/// A table that is read, as the texts of its columns.
fn table(bench: &Bench, name: &str, options: &Options, roles: &[(&str, Role)]) -> Vec<String> {
    let roles = roles.iter().map(|(name, role)| (name.to_string(), *role)).collect();
    let declared = Declared { roles, ..Declared::default() };
    let (table, _): (Table, _) = read_table(&bench.at(name), options, &declared).unwrap();
    let mut texts: Vec<String> = Vec::new();
    for column in &table.columns {
        let cells: Vec<&str> = column.codes.iter().map(|&code| column.domain.text(code)).collect();
        texts.push(cells.join(","));
    }
    if let Some(sets) = &table.sets {
        let set = |row: &Option<u32>| {
            let terms = row.map(|row| sets.records.record(row)).unwrap_or_default();
            let mut texts: Vec<&str> = terms.iter().map(|&term| sets.dictionary.text(term)).collect();
            texts.sort_unstable();
            texts.join("+")
        };
        texts.push(sets.of_row.iter().map(set).collect::<Vec<_>>().join(","));
    }
    texts
}

/// Looks at the quasi-identifiers of a table, and returns what is told of the file.
fn looked_at(bench: &Bench, name: &str, flags: &[&str]) -> Value {
    let (stdout, _) = bench.good(&[&["inspect", name, "-k", "2", "--json"], flags].concat());
    serde_json::from_str::<Value>(&stdout).unwrap()["input"].clone()
}

const SPACES: &str = "1 2 3\n2 3\n1 3\n";

#[test]
fn baskets_with_one_reading_are_read() {
    reads("a.dat", SPACES, &[], "1 2 3/2 3/1 3");
    reads("b.txt", "1\t2\n2\t3 x\n", &[], "1 2/2 3_x");
    reads("c.dat", "a|b\nb|c\n", &[], "a b/b c");
    reads("d.dat", "a;b\r\nb;c\r\n", &[], "a b/b c");
    let groceries = "citrus fruit,margarine\nyogurt,whole milk\ncoffee\n";
    reads("e.csv", groceries, &[], "citrus_fruit margarine/whole_milk yogurt/coffee");
    reads("f.dat", "\"a, b\" c\n\"d\"\n", &[], "a,_b c/d");
    let told = reads("g.dat", "\n1,2,1\n , 3 ,\n\n4,,5\n", &[], "1 2/3/4 5");
    assert_eq!(
        (&told["empty_records"], &told["duplicate_terms"], &told["empty_terms"]),
        (&2.into(), &1.into(), &3.into())
    );
    assert_eq!(told["reading"]["trimmed_cells"], 2);
    assert_eq!(told["reading"]["separator"], ",");
}

#[test]
fn baskets_with_two_readings_are_refused() {
    let baskets: String = (0..300).map(|i| format!("{} {} {}\n", i % 7, 10 + i % 5, 20 + i % 3)).collect();
    let one_comma = baskets.clone() + "1,secret 2\n";
    let expected = baskets.lines().chain(["1,secret 2"]).map(sorted).collect::<Vec<_>>().join("/");
    refused("a.dat", &one_comma, &[], ":301: can be read in 2 ways", &["--separator", "space"], &expected);
    refused("b.dat", "1,5 2,5\n3,5\n", &[], ":1: can be read in 2 ways", &["--separator", "space"], "1,5 2,5/3,5");
    refused("c.csv", "I10 E11,J45\nI10\n", &[], ":1: can be read in 2 ways", &["--separator", ","], "I10_E11 J45/I10");
    refused("d.dat", "a;b,secret\nd;e\n", &[], ":1: can be read in 2 ways", &["--separator", ";"], "a b,secret/d e");
    let rare = "secret milk\nbread\nbutter,flour\ncheese\nham\n";
    refused(
        "e.dat",
        rare,
        &[],
        ":1: can be read in 2 ways",
        &["--separator", ","],
        "secret_milk/bread/butter flour/cheese/ham",
    );
    let late = "1 2 3\n".repeat(20_000) + "4 5,6\n";
    let expected = "1 2 3/".repeat(20_000) + "4 5,6";
    refused("f.dat", &late, &[], ":20001: holds a tab, semicolon, comma or bar", &["--separator", "space"], &expected);
    let alone: String = (0..40).map(|i| format!("secret{i}\n")).collect();
    let expected: Vec<String> = (0..40).map(|i| format!("secret{i}")).collect();
    refused("g.dat", &alone, &[], ": nearly every record is one term", &["--separator", "space"], &expected.join("/"));
}

fn sorted(line: &str) -> String {
    let mut terms: Vec<&str> = line.split(' ').collect();
    terms.sort_unstable();
    terms.join(" ")
}

#[test]
fn tables_without_a_header_are_never_baskets() {
    let ids: String = (0..15).map(|i| format!("{} {} {}\n", 1000 + i, 30 + i % 3, i % 2)).collect();
    let expected = |text: &str| text.lines().map(|line| sorted(&line.replace(',', " "))).collect::<Vec<_>>().join("/");
    refused("a.dat", &ids, &[], ":1: looks like a table without a header", &["--format", "basket"], &expected(&ids));
    let commas = ids.replace(' ', ",");
    refused("b.csv", &commas, &[], ":1: the file looks like a table", &["--format", "basket"], &expected(&commas));
    refused(
        "c.txt",
        &commas,
        &[],
        ":1: looks like a table without a header",
        &["--format", "basket"],
        &expected(&commas),
    );
    let pairs: String = (0..24).map(|i| format!("{} {}\n", 1 + i / 3, 50 + i % 5)).collect();
    let expected: Vec<String> = (0..8)
        .map(|id| sorted(&(0..3).map(|i| (50 + (3 * id + i) % 5).to_string()).collect::<Vec<_>>().join(" ")))
        .collect();
    refused(
        "d.dat",
        &pairs,
        &[],
        ":1: looks like pairs of an identifier and an item",
        &["--format", "long"],
        &expected.join("/"),
    );
}

#[test]
fn encodings_are_found_out_and_told() {
    let lists = "Name;Diagnosen\nJürgen;Übelkeit,Grippe\nJosé;Fieber\n";
    let expected = "Grippe Übelkeit/Fieber";
    let column = ["--column", "Diagnosen"];
    for (name, content, encoding) in [
        ("a.csv", lists.as_bytes().to_vec(), "utf-8"),
        ("b.csv", format!("\u{feff}{lists}").into_bytes(), "utf-8"),
        ("c.csv", utf16(&format!("\u{feff}{lists}"), false), "utf-16le"),
        ("d.csv", utf16(&format!("\u{feff}{lists}"), true), "utf-16be"),
        ("e.csv", utf16(lists, false), "utf-16le"),
        ("f.csv", utf16(lists, true), "utf-16be"),
        ("g.csv", latin(lists), "windows-1252"),
        ("h.csv.gz", gzip(&latin(lists)), "windows-1252"),
    ] {
        let told = reads(name, content, &column, expected);
        assert_eq!(told["reading"]["encoding"], encoding, "{name}");
        let is_detected = matches!(name, "e.csv" | "f.csv" | "g.csv" | "h.csv.gz");
        assert_eq!(told["reading"]["encoding_detected"] == true, is_detected, "{name}");
    }
    reads("i.txt", cyrillic("Грипп,Ангина\nАнгина,Кашель\n"), &[], "Ангина Грипп/Ангина Кашель");
    reads("j.txt", latin("niño señor\nseñor\n"), &["--encoding", "latin1"], "niño señor/señor");
    let bench = Bench::new();
    bench.file("k.txt", latin("niño señor\nseñor\n"));
    let (_, told) = bench.good(&["convert", "k.txt", "read.jsonl"]);
    assert!(
        told.contains("warning: the text was taken for windows-1252; other letters would come of windows-1250"),
        "{told}"
    );
}

#[test]
fn encodings_that_are_unclear_or_damaged_are_refused() {
    let euros = b"5\x80 7\n6\n";
    refused(
        "a.txt",
        euros,
        &[],
        ":1: is not valid UTF-8 (character 2 of the line)",
        &["--encoding", "windows-1252"],
        "5€ 7/6",
    );
    let damaged = ["é a\nb secret".as_bytes(), b"\xe9\n"].concat();
    let place = ":2: is not valid UTF-8 (character 9 of the line)";
    mended("b.txt", damaged, &[], place, "--encoding", "é a\nb c\n", "a é/b c");
    mended(
        "c.txt",
        "a b\nc \0secret\n",
        &[],
        ":2: holds a control character",
        "remove the character",
        "a b\nc\n",
        "a b/c",
    );
    let bench = Bench::new();
    bench.file("d.txt", "\u{feff}é a\n");
    let told = bench.bad(&["convert", "d.txt", "read.jsonl", "--encoding", "latin1"]);
    assert!(told.contains("d.txt: begins with the mark of utf-8") && told.contains("--encoding utf-8"), "{told}");
    records(&bench, "d.txt", &["--encoding", "utf-8"], "a é");
    let told = bench.run(&["convert", "d.txt", "read.jsonl", "--encoding", "klingon"]);
    assert!(told.status.code() == Some(2) && text(&told.stderr).contains("latin1"), "{}", text(&told.stderr));
}

#[test]
fn lists_in_cells_are_taken_apart() {
    let column = ["--column", "codes"];
    reads("a.csv", "id,codes\n1,\"[\"\"a\"\",\"\"b, c\"\"]\"\n2,[]\n3,\"[\"\"a\"\", 7]\"\n", &column, "a b,_c/7 a");
    reads("b.csv", "id,codes\n1,a|b\n2,b\n", &column, "a b/b");
    reads("c.csv", "id;codes\n1;a,b\n2;b\n", &column, "a b/b");
    reads("d.csv", "id|codes\n1|a;b\n2|b\n", &column, "a b/b");
    let told = reads("e.csv", "\nid,codes\n\n1, a;b \n2,\"b;\n c\"\n", &column, "a b/b c");
    assert_eq!((&told["reading"]["blank_lines"], &told["reading"]["trimmed_cells"]), (&2.into(), &1.into()));
    let place = ":3 (column codes): semicolons, bars and commas occur";
    refused("f.csv", "id,codes\n1,a;b\n2,a|secret\n", &column, place, &["--list-separator", ";"], "a b/a|secret");
    let place = ":2 (column codes): cannot tell whether blanks separate";
    refused("g.csv", "id,codes\n1,a secret\n2,b\n", &column, place, &["--list-separator", "space"], "a secret/b");
    let place = ":2 (column codes): the cell is written as an array";
    let better = "id,codes\n1,\"[\"\"a\"\",\"\"b\"\"]\"\n";
    mended("h.csv", "id,codes\n1,\"['secret', 'b']\"\n", &column, place, "JSON lists such as", better, "a b");
    let better = "id,codes\n1,a\n2,a;b\n";
    mended(
        "i.csv",
        "id,codes\n1,\"[\"\"secret\"\"]\"\n2,a;b\n",
        &column,
        place,
        "plain lists such as a;b",
        better,
        "a/a b",
    );
}

#[test]
fn faults_of_tables_name_line_and_column() {
    let column = ["--column", "codes"];
    let place = ":3: has 2 fields where the first line has 3: nothing is left for the column codes";
    mended(
        "a.csv",
        "id,age,codes\n1,30,a\n2,secret\n",
        &column,
        place,
        "quote fields",
        "id,age,codes\n1,30,a\n2,40,b\n",
        "a/b",
    );
    let place = ":2: has 4 fields where the first line has 3: field 4 has no column";
    mended(
        "b.csv",
        "id,age,codes\n1,30,a,secret\n",
        &column,
        place,
        "quote fields",
        "id,age,codes\n1,30,\"a,b\"\n",
        "a b",
    );
    let place = ":1 (column codes): the header has this name twice";
    mended("c.csv", "codes,codes\na,b\n", &column, place, "the header has codes, codes", "id,codes\na,b\n", "b");
    mended(
        "d.csv",
        "id,codes\n1,\"secret\n2,b\n",
        &column,
        ":2: a quote is opened",
        "write a quote twice",
        "id,codes\n1,a\n",
        "a",
    );
    let both = "id,codes;x\n1,a;secret\n2,b;z\n";
    let bench = Bench::new();
    bench.file("e.csv", both);
    let told = bench.bad(&["inspect", "e.csv", "--quasi", "id"]);
    assert!(told.contains("e.csv:1: can be read in 2 ways: commas or semicolons may separate the cells"), "{told}");
    assert!(
        told.contains("--separator , gives every row 2 cells; --separator ';' gives") && !told.contains("secret"),
        "{told}"
    );
    looked_at(&bench, "e.csv", &["--quasi", "id", "--separator", ","]);
}

#[test]
fn tables_are_read_with_any_delimiter() {
    let bench = Bench::new();
    let roles = [("age", Role::Quasi), ("pay", Role::Sensitive)];
    for (name, content) in [
        ("a.csv", "age;pay\n30;1,5\n40;2,5\n".as_bytes().to_vec()),
        ("b.csv", b"age|pay\n30|1,5\n40|2,5\n".to_vec()),
        ("c.tsv", b"age\tpay\n30\t1,5\n40\t2,5\n".to_vec()),
        ("d.csv", b"\n age,pay\n\n30,\"1,5\"\r\n40 ,\"2,5\"\r\n".to_vec()),
        ("e.csv", utf16("\u{feff}age\tpay\r\n30\t1,5\r\n40\t2,5\r\n", false)),
    ] {
        bench.file(name, content);
        let texts = table(&bench, name, &Options::default(), &roles);
        assert_eq!(texts, ["30,40", "1,5,2,5"], "{name}");
        let told = looked_at(&bench, name, &["--quasi", "age"]);
        assert_eq!(told["rows"], 2, "{name}");
    }
    let told = looked_at(&bench, "d.csv", &["--quasi", "age"]);
    assert_eq!((&told["reading"]["blank_lines"], &told["reading"]["trimmed_cells"]), (&2.into(), &2.into()));
}

const WIDE: &str = "id,age,DX1,DX2,DX3\n1,30,flu,,gout\n2,40,,,\n3,50,flu,flu,asthma\n";

#[test]
fn wide_tables_become_sets() {
    let told = reads("a.csv", WIDE, &["--set-columns", "DX*"], "flu gout/asthma flu");
    assert_eq!((&told["empty_records"], &told["duplicate_terms"]), (&1.into(), &1.into()));
    assert_eq!(told["reading"]["set_columns"], serde_json::json!(["DX1", "DX2", "DX3"]));
    let bench = Bench::new();
    bench.file("b.csv", WIDE);
    let options = Options { set_columns: vec!["ills=DX*".into()], ..Options::default() };
    let roles = [("id", Role::Identifier), ("age", Role::Quasi), ("ills", Role::Set)];
    assert_eq!(table(&bench, "b.csv", &options, &roles), ["30,40,50", "flu+gout,,asthma+flu"]);
    let ones = "id,flu,gout\n1,1,0\n2,0,1\n3,1,1\n";
    let flags = ["--set-columns", "ills=flu,gout"];
    refused(
        "c.csv",
        ones,
        &flags,
        ": the columns flu to gout hold nothing but zeros and ones",
        &["--indicators"],
        "flu/gout/flu gout",
    );
    let bench = Bench::new();
    bench.file("d.csv", "id,flu,gout\n1,1,0\n2,0,secret\n");
    let told = bench.bad(&["convert", "d.csv", "x.jsonl", "--set-columns", "ills=flu,gout", "--indicators"]);
    assert!(
        told.contains("d.csv:3 (column gout): the cell is neither zero nor one") && !told.contains("secret"),
        "{told}"
    );
    records(&bench, "d.csv", &["--set-columns", "ills=flu,gout"], "0 1/0 secret");
    let told = bench.bad(&["convert", "d.csv", "x.jsonl", "--set-columns", "DX*"]);
    assert!(told.contains("d.csv: no column is called DX*") && told.contains("the table has id, flu, gout"), "{told}");
}

fn visits() -> Sheet {
    Sheet {
        name: "visits",
        rows: vec![
            vec![],
            vec![S("ward"), S("seen"), S("age"), S("double"), S("codes")],
            vec![S("A"), Day(45_657), N(30.0), Formula("C3*2", Some(60.0)), S("a;b")],
            vec![No, Day(45_658), N(40.5), Formula("C4*2", Some(81.0)), S("b")],
            vec![S("B"), Day(45_659), N(50.0), Formula("C5*2", Some(100.0)), S(" c;a ")],
        ],
        hidden: vec![4],
        merged: vec!["A3:A4"],
    }
}

#[test]
fn workbooks_are_read_sheet_by_sheet() {
    let bench = Bench::new();
    bench.file("a.xlsx", xlsx(&[visits()]));
    let told = records(&bench, "a.xlsx", &["--column", "codes"], "a b/b/a c");
    let reading = &told["reading"];
    assert_eq!(
        (&reading["sheet"], &reading["hidden_rows"], &reading["merged_cells"]),
        (&"visits".into(), &1.into(), &1.into())
    );
    assert_eq!((&reading["formulas"], &told["format"]), (&3.into(), &"xlsx".into()));
    let roles = [
        ("ward", Role::Quasi),
        ("seen", Role::Quasi),
        ("age", Role::Quasi),
        ("double", Role::Sensitive),
        ("codes", Role::Set),
    ];
    let texts = table(&bench, "a.xlsx", &Options::default(), &roles);
    assert_eq!(texts, ["A,A,B", "2024-12-31,2025-01-01,2025-01-02", "30,40.5,50", "60,81,100", "a+b,b,a+c"]);
}

#[test]
fn sheets_must_be_named_and_whole() {
    let bench = Bench::new();
    let notes = Sheet { name: "my notes", rows: vec![vec![S("codes")], vec![S("z")]], ..Sheet::default() };
    bench.file("a.xlsx", xlsx(&[visits(), notes]));
    for flags in [&[][..], &["--sheet", "none"]] {
        let told = bench.bad(&[&["convert", "a.xlsx", "x.jsonl", "--column", "codes"], flags].concat());
        assert!(
            told.contains("error: a.xlsx: has ") && told.contains("--sheet: it has 'visits' and 'my notes'"),
            "{told}"
        );
    }
    records(&bench, "a.xlsx", &["--column", "codes", "--sheet", "visits"], "a b/b/a c");
    records(&bench, "a.xlsx", &["--column", "codes", "--sheet", "my notes"], "z");
    for (name, row, expected) in [
        ("b.xlsx", vec![S("1"), Wrong], "b.xlsx:2 (column B): the cell holds an error"),
        (
            "c.xlsx",
            vec![S("1"), Formula("A1", None)],
            "c.xlsx:2 (column B): the cell is a formula without a stored result",
        ),
        ("d.xlsx", vec![S("1"), S("a"), S("secret")], "d.xlsx:2: has a cell beside the 2 columns"),
    ] {
        let rows = |row| vec![vec![S("id"), S("codes")], row];
        bench.file(name, xlsx(&[Sheet { name: "s", rows: rows(row), ..Sheet::default() }]));
        let told = bench.bad(&["convert", name, "x.jsonl", "--column", "codes"]);
        assert!(told.contains(expected) && told.contains("hint: ") && !told.contains("secret"), "{told}");
        bench.file(name, xlsx(&[Sheet { name: "s", rows: rows(vec![S("1"), S("a;b")]), ..Sheet::default() }]));
        records(&bench, name, &["--column", "codes"], "a b");
    }
    bench.file("e.xlsx", bomb());
    let told = bench.bad(&["convert", "e.xlsx", "x.jsonl"]);
    assert!(told.contains("e.xlsx: what is unpacked asks for more") && told.contains("--memory"), "{told}");
    bench.file("f.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1rest");
    let told = bench.bad(&["convert", "f.xls", "x.jsonl"]);
    assert!(
        told.contains("f.xls: is a workbook in the format of old versions of Excel")
            && told.contains("save it as .xlsx"),
        "{told}"
    );
    bench.file("g.xlsx", &xlsx(&[visits()])[..300]);
    assert!(bench.bad(&["convert", "g.xlsx", "x.jsonl"]).contains("g.xlsx: is not a workbook, or is damaged"));
}

#[test]
fn spreadsheets_of_other_programs_are_read() {
    let rows = [
        ods_row(&["ward", "codes"]),
        "<table:table-row table:visibility=\"filter\"><table:table-cell table:number-rows-spanned=\"2\" office:value-type=\"float\" office:value=\"7\"><text:p>7</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>a;b</text:p></table:table-cell></table:table-row>".to_owned(),
        "<table:table-row><table:covered-table-cell/><table:table-cell office:value-type=\"string\"><text:p>b</text:p></table:table-cell></table:table-row>".to_owned(),
        "<table:table-row><table:table-cell office:value-type=\"date\" office:date-value=\"2024-12-31\"><text:p>31.12.24</text:p></table:table-cell><table:table-cell office:value-type=\"string\"><text:p>c</text:p></table:table-cell></table:table-row>".to_owned(),
    ];
    let bench = Bench::new();
    bench.file("a.ods", ods(&[("s", &rows.concat())]));
    let told = records(&bench, "a.ods", &["--column", "codes"], "a b/b/c");
    let reading = &told["reading"];
    assert_eq!(
        (&reading["hidden_rows"], &reading["merged_cells"], &told["format"]),
        (&1.into(), &1.into(), &"ods".into())
    );
    let roles = [("ward", Role::Quasi), ("codes", Role::Set)];
    assert_eq!(table(&bench, "a.ods", &Options::default(), &roles), ["7,7,2024-12-31", "a+b,b,c"]);
    let far = "<table:table-row table:number-rows-repeated=\"1000000\"><table:table-cell table:number-columns-repeated=\"1000\" office:value-type=\"float\" office:value=\"7\"/></table:table-row>";
    bench.file("b.ods", ods(&[("s", &(ods_row(&["id", "item"]) + far))]));
    let told = bench.bad(&["convert", "b.ods", "x.jsonl"]);
    assert!(told.contains("b.ods: the sheet that it declares asks for"), "{told}");
}

#[test]
fn frames_are_read_with_categories_and_times() {
    let bench = Bench::new();
    let roles = [("id", Role::Identifier), ("ill", Role::Sensitive), ("seen", Role::Quasi), ("codes", Role::Set)];
    let expected = [
        "flu,,gout,flu",
        "1970-01-01 00:00:00,1970-01-01 00:00:01,1970-01-02 00:00:00,1970-01-01 00:00:00",
        "a+b,a,b+c,a+c",
    ];
    bench.file("a.arrow", arrow(&batch()));
    bench.file("b.feather", stream(&batch()));
    for name in ["a.arrow", "b.feather"] {
        let told = records(&bench, name, &[], "a b/a/b c/a c");
        assert_eq!((&told["format"], &told["duplicate_terms"]), (&"arrow".into(), &1.into()));
        assert_eq!(table(&bench, name, &Options::default(), &roles), expected, "{name}");
    }
    bench.file("c.arrow", &arrow(&batch())[..400]);
    assert!(bench.bad(&["convert", "c.arrow", "x.jsonl"]).contains("c.arrow: is not a whole Arrow file"));
}

const PEOPLE: &str = "patient;age\n7;30\n3;40\n9;50\n";
const DIAGNOSES: &str = "patient,code\n3,flu\n7,gout\n3,asthma\n3,flu\n5,mumps\n";

fn join(file: &std::path::Path, on: &str) -> Options {
    Options { join: Some(Join { file: file.to_path_buf(), on: on.into() }), ..Options::default() }
}

#[test]
fn people_are_joined_with_what_they_have() {
    let bench = Bench::new();
    bench.file("people.csv", PEOPLE);
    bench.file("ills.csv", DIAGNOSES);
    let flags = ["--join", "ills.csv", "--on", "patient"];
    let told = records(&bench, "people.csv", &flags, "gout/asthma flu");
    assert_eq!((&told["empty_records"], &told["duplicate_terms"]), (&1.into(), &1.into()));
    let joined = &told["reading"]["joined"];
    assert_eq!(
        (&joined["rows"], &joined["unmatched_rows"], &joined["unmatched_keys"]),
        (&5.into(), &1.into(), &1.into())
    );
    let roles = [("patient", Role::Identifier), ("age", Role::Quasi), ("code", Role::Set)];
    let texts = table(&bench, "people.csv", &join(&bench.at("ills.csv"), "patient"), &roles);
    assert_eq!(texts, ["30,40,50", "gout,asthma+flu,"]);
    // Many rows with one: every visit gets what is known of the person.
    bench.file("visits.csv", "who,ward\n7,A\n3,B\n7,B\n");
    let roles = [("who", Role::Identifier), ("ward", Role::Quasi), ("age", Role::Quasi)];
    let texts = table(&bench, "visits.csv", &join(&bench.at("people.csv"), "who=patient"), &roles);
    assert_eq!(texts, ["A,B,B", "30,40,30"]);
    bench.file(
        "book.xlsx",
        xlsx(&[Sheet {
            name: "s",
            rows: vec![vec![S("patient"), S("ward")], vec![N(7.0), S("A")], vec![N(3.0), S("B")]],
            ..Sheet::default()
        }]),
    );
    records(&bench, "book.xlsx", &flags, "gout/asthma flu");
}

#[test]
fn joins_that_mean_nothing_are_refused() {
    let bench = Bench::new();
    bench.file("ills.csv", DIAGNOSES);
    bench.file("twice.csv", "patient,age\n3,secret\n7,30\n3,40\n");
    let flags = ["--join", "ills.csv", "--on", "patient"];
    let told = bench.bad(&[&["convert", "twice.csv", "x.jsonl"], &flags[..]].concat());
    assert!(
        told.contains("error: twice.csv:4: has a key that an earlier row has") && told.contains("one row a key"),
        "{told}"
    );
    assert!(!told.contains("secret"), "{told}");
    bench.file("twice.csv", "patient,age\n3,30\n7,30\n");
    records(&bench, "twice.csv", &flags, "asthma flu/gout");
    bench.file("zeros.csv", "patient,age\n007,30\n003,40\n");
    let told = bench.bad(&[&["convert", "zeros.csv", "x.jsonl"], &flags[..]].concat());
    assert!(told.contains("zeros.csv: no key of it occurs in ills.csv") && told.contains("007 is not 7"), "{told}");
    bench.file("zeros.csv", "patient,age\n7,30\n3,40\n");
    records(&bench, "zeros.csv", &flags, "gout/asthma flu");
    bench.file("more.csv", "patient,code,day\n3,flu,1\n3,gout,2\n");
    let more = ["--join", "more.csv", "--on", "patient"];
    let told = bench.bad(&[&["convert", "zeros.csv", "x.jsonl"], &more[..]].concat());
    assert!(
        told.contains("more.csv: has several rows a key") && told.contains("--item-column; it has code, day"),
        "{told}"
    );
    records(&bench, "zeros.csv", &[&more[..], &["--item-column", "code"]].concat(), "flu gout");
    let told = bench.bad(&["convert", "zeros.csv", "x.jsonl", "--join", "more.csv", "--on", "who"]);
    assert!(told.contains("more.csv (column who): there is no such column") && told.contains("FIRST=OTHER"), "{told}");
}

#[test]
fn quirks_come_together() {
    let messy =
        "\u{feff}\r\n Patient ; Codes ;Note\r\n\r\n1; a|b ;\"two\r\nlines; and a semicolon\"\r\n2;b|b|;\r\n3;;x\r\n";
    let flags = ["--column", "Codes"];
    for (name, content) in
        [("a.csv", messy.as_bytes().to_vec()), ("b.csv", utf16(messy, true)), ("c.csv.gz", gzip(messy.as_bytes()))]
    {
        let told = reads(name, content, &flags, "a b/b");
        let reading = &told["reading"];
        assert_eq!(
            (&told["empty_records"], &told["empty_terms"], &told["duplicate_terms"]),
            (&1.into(), &1.into(), &1.into())
        );
        assert_eq!(
            (&reading["blank_lines"], &reading["trimmed_cells"], &reading["separator"]),
            (&2.into(), &3.into(), &";".into())
        );
    }
    let wide = latin("Größe;D1;D2\nklein;Übel;\ngroß;;Grippe\n");
    let told = reads("d.csv", wide, &["--set-columns", "D*"], "Übel/Grippe");
    assert_eq!(told["reading"]["encoding"], "windows-1252");
    let bench = Bench::new();
    bench.file("people.csv", latin("Nr;Größe\n1;klein\n2;groß\n"));
    bench.file("ills.tsv", utf16("\u{feff}Nr\tCode\n1\tflu\n1\tgout\n2\tflu\n", false));
    records(&bench, "people.csv", &["--join", "ills.tsv", "--on", "Nr"], "flu gout/flu");
    let sheet = Sheet {
        name: "s",
        rows: vec![
            vec![S("id"), S("DX1"), S("DX2")],
            vec![],
            vec![N(1.0), S("flu"), No],
            vec![N(2.0), S("gout"), S("flu")],
        ],
        ..Sheet::default()
    };
    bench.file("wide.xlsx", xlsx(&[sheet]));
    let told = records(&bench, "wide.xlsx", &["--set-columns", "DX*"], "flu/flu gout");
    assert_eq!(told["reading"]["blank_lines"], 1);
}

#[test]
fn recipes_say_the_same_and_reports_repeat_what_was_repaired() {
    let bench = Bench::new();
    let people: String = (0..40).map(|i| format!("{i}; {} \n", 30 + i % 3)).collect();
    bench.file("people.csv", latin(&format!("Nr;Größe\n\n{people}")));
    let ills: String = (0..80).map(|i| format!("{},code {}\n", i / 2, i % 4)).collect();
    bench.file("ills.csv", format!("who,ill\n{ills}99,other\n"));
    bench.file(
        "recipe.toml",
        "[input]\nfile = \"people.csv\"\nencoding = \"latin1\"\nseparator = \";\"\n[input.join]\nfile = \"ills.csv\"\non = \"Nr=who\"\n\
         [protect]\nk = 3\n[output]\nfolder = \"out\"\n",
    );
    let (stdout, stderr) = bench.good(&["run", "--json"]);
    assert!(
        stderr.contains("warning: 40 cells had blanks around them") && stderr.contains("1 blank line was left out"),
        "{stderr}"
    );
    assert!(stderr.contains("1 key of the joined table has no row here"), "{stderr}");
    let told: Value = serde_json::from_str(&stdout).unwrap();
    let reading = &told["run"]["input"]["reading"];
    assert_eq!((&reading["trimmed_cells"], &reading["encoding"]), (&40.into(), &"windows-1252".into()));
    assert_eq!(reading["joined"]["unmatched_keys"], 1);
    let report = std::fs::read_to_string(bench.at("out/custody/report.md")).unwrap();
    assert!(
        report.contains("40 cells had blanks around them") && report.contains("1 key of the joined table"),
        "{report}"
    );
    let public = std::fs::read_to_string(bench.at("out/release/report.html")).unwrap();
    assert!(
        !public.contains("blanks around") && !public.contains("people.csv"),
        "the public page tells of the original"
    );
}
