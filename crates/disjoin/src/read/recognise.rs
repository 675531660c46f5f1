//! Which format is it? Decided by the file's name and its first 64 KiB, unless the options say it.
//!
//! The name decides between families: `.jsonl`, `.ndjson` and `.json`; `.spmf`; `.basket`; `.dat` and `.txt` (basket, or
//! SPMF if every line looks like it); `.csv` and `.tsv`. Other names, and standard input, are judged by content alone.
//! A CSV file is long if it has two columns whose names look like an id and an item, and basket text if its lines
//! neither form a table nor start with a header. What could be read in two ways is an error that says how to choose.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::text::{HEAD, Rows, detect_separator, head, is_blank_row};
use super::{Format, Options};
use crate::error::{Error, Place, Result};

/// The format of what is no text, by its first bytes; of Parquet also by its name.
pub(super) fn kind_of_bytes(name: &str, bytes: &[u8]) -> Result<Option<Format>> {
    let holds = |text: &str| memchr::memmem::find(&bytes[..bytes.len().min(HEAD)], text.as_bytes()).is_some();
    let refuse = |problem: &str, hint: &str| Err(Error::input(Place::file(name), problem).with_hint(hint));
    match () {
        () if bytes.starts_with(b"PAR1") || extension(name) == "parquet" => Ok(Some(Format::Parquet)),
        // The stream has no mark of its own: the length of its schema follows this one.
        () if bytes.starts_with(b"ARROW1") || bytes.starts_with(&[0xff; 4]) => Ok(Some(Format::Arrow)),
        () if !bytes.starts_with(b"PK\x03\x04") => match bytes.starts_with(b"\xd0\xcf\x11\xe0") {
            true => refuse(
                "is a workbook in the format of old versions of Excel",
                "save it as .xlsx, or export the sheet as CSV",
            ),
            false => Ok(None),
        },
        () if holds("application/vnd.oasis.opendocument.spreadsheet") => Ok(Some(Format::Ods)),
        () if holds("[Content_Types].xml") || holds("xl/") => Ok(Some(Format::Xlsx)),
        () => refuse("is a ZIP archive, not data in a known format", "unpack it"),
    }
}

/// The format of a text, and the separator where recognising it has fixed one.
pub(super) fn text_format(name: &str, text: &str, options: &Options) -> Result<(Format, Option<u8>)> {
    let extension = extension(name);
    let is_tsv = extension == "tsv" && head(text).contains('\t');
    let separator = options.separator.or(is_tsv.then_some(b'\t'));
    if let Some(format) = options.format {
        return Ok((format, separator));
    }
    match extension.as_str() {
        "jsonl" | "ndjson" | "json" => Ok((Format::JsonLines, None)),
        "spmf" => Ok((Format::Spmf, None)),
        "basket" => Ok((Format::Basket, separator)),
        "dat" | "txt" if looks_like_spmf(text) => Ok((Format::Spmf, None)),
        "dat" | "txt" => Ok((Format::Basket, separator)),
        "csv" | "tsv" => csv_format(name, text, separator, options),
        _ if text.trim_start().starts_with(['[', '{']) => Ok((Format::JsonLines, None)),
        _ if looks_like_spmf(text) => Ok((Format::Spmf, None)),
        _ if separator.or_else(|| detect(text)).is_some() => csv_format(name, text, separator, options),
        _ => Ok((Format::Basket, None)),
    }
}

/// What a column name seems to announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Id,
    Item,
}

/// Judges a column name by its words.
pub(super) fn kind_of(name: &str) -> Option<Kind> {
    const THINGS: [&str; 14] = [
        "item",
        "product",
        "term",
        "diagnosis",
        "diagnose",
        "drug",
        "article",
        "query",
        "querie",
        "tag",
        "symptom",
        "procedure",
        "purchase",
        "keyword",
    ];
    const OWNERS: [&str; 22] = [
        "id",
        "tid",
        "pid",
        "uid",
        "transaction",
        "record",
        "person",
        "patient",
        "user",
        "customer",
        "member",
        "basket",
        "order",
        "invoice",
        "visit",
        "session",
        "household",
        "client",
        "subject",
        "case",
        "key",
        "row",
    ];
    const LABELS: [&str; 4] = ["code", "description", "value", "word"];
    let words = words(name);
    let holds = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if holds(&THINGS) {
        Some(Kind::Item)
    } else if holds(&OWNERS)
        || words.iter().any(|word| word.strip_suffix("id").is_some_and(|rest| OWNERS.contains(&rest)))
    {
        Some(Kind::Id)
    } else if holds(&LABELS) {
        Some(Kind::Item)
    } else {
        None
    }
}

/// The rows that fit into the text's first 64 KiB, without blank lines.
pub(super) fn sample_rows<'a>(name: &'a str, text: &'a str, separator: u8) -> Result<Vec<Vec<Cow<'a, str>>>> {
    let head = head(text);
    let mut rows = Rows::new(name, head, separator);
    let (mut row, mut sample) = (Vec::new(), Vec::new());
    loop {
        match rows.next(&mut row) {
            Ok(None) => return Ok(sample),
            Ok(Some(_)) if is_blank_row(&row) => {}
            Ok(Some(_)) => sample.push(std::mem::take(&mut row)),
            // The head may end inside a quoted field.
            Err(_) if head.len() < text.len() => return Ok(sample),
            Err(error) => return Err(error),
        }
    }
}

/// Whether the name says that the file is basket text, and nothing else.
pub(super) fn is_named_basket(name: &str) -> bool {
    extension(name) == "basket"
}

/// The last extension in lower case, that of a compression put aside.
fn extension(name: &str) -> String {
    let lower = name.to_lowercase();
    let bare = lower.strip_suffix(".gz").or_else(|| lower.strip_suffix(".zst")).unwrap_or(&lower);
    Path::new(bare).extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default()
}

fn detect(text: &str) -> Option<u8> {
    detect_separator(head(text), [b'\t', b';', b',', b'|'], true)
}

/// Names of items, or nothing but integers with the marks of sequences in every line.
fn looks_like_spmf(text: &str) -> bool {
    if text.starts_with("@CONVERTED_FROM") || text.starts_with("@ITEM=") {
        return true;
    }
    let mut lines =
        head(text).lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', '%', '@'])).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            let line = line.trim_end();
            (line == "-2" || line.ends_with(" -2") || line.contains(" -1 "))
                && line.split_ascii_whitespace().all(|token| token.parse::<i64>().is_ok())
        })
}

fn csv_format(name: &str, text: &str, separator: Option<u8>, options: &Options) -> Result<(Format, Option<u8>)> {
    if options.column.is_some() {
        return Ok((Format::Table, separator));
    }
    if options.id_column.is_some() || options.item_column.is_some() {
        return Ok((Format::Long, separator));
    }
    let found = separator.or_else(|| detect(text));
    let sample = sample_rows(name, text, found.unwrap_or(b','))?;
    let Some((first, others)) = sample.split_first() else {
        return Ok((Format::Basket, separator));
    };
    let kinds: Vec<_> = first.iter().map(|name| kind_of(name)).collect();
    let is_rectangle = first.len() > 1 && others.iter().all(|row| row.len() == first.len());
    let is_long = is_rectangle && first.len() == 2 && names_pair(&kinds);
    let doubt = doubt_of_one_column(&sample, found).or_else(|| match is_long {
        true => doubt_of_a_pair(first, others, &kinds),
        false => doubt_of_a_header(&sample, &kinds, is_rectangle),
    });
    match doubt {
        Some((problem, hint)) => Err(Error::input(Place::line(name, 1), problem).with_hint(hint)),
        // What separates is for their readers to find out, who refuse what is unclear.
        None if is_long => Ok((Format::Long, separator)),
        None => Ok((Format::Basket, separator)),
    }
}

/// What could be read in two ways, and how to choose.
type Doubt = (String, &'static str);

/// What separates the terms of a list in one cell.
const LIST_MARKS: [char; 3] = [';', '|', ','];

fn names_pair(kinds: &[Option<Kind>]) -> bool {
    kinds.contains(&Some(Kind::Id)) && kinds.contains(&Some(Kind::Item))
}

fn doubt_of_one_column(sample: &[Vec<Cow<'_, str>>], separator: Option<u8>) -> Option<Doubt> {
    if sample.iter().any(|row| row.len() != 1) {
        return None;
    }
    if sample.iter().any(|row| row[0].contains(LIST_MARKS)) {
        return Some((
            "every line is one field, and some fields look like lists".into(),
            "use --format csv if the first line is the column's name, else --format basket with --separator",
        ));
    }
    (separator.is_none() && sample.iter().any(|row| row[0].contains([' ', '\t']))).then(|| {
        (
            "cannot tell whether spaces separate the terms or belong to them".into(),
            "name the separator: --separator ' ' or --separator ,",
        )
    })
}

/// Of a table with an id and an item.
fn doubt_of_a_pair(first: &[Cow<'_, str>], others: &[Vec<Cow<'_, str>>], kinds: &[Option<Kind>]) -> Option<Doubt> {
    let (id, item) = if kinds[0] == Some(Kind::Id) { (0, 1) } else { (1, 0) };
    let pairs: Vec<(&str, &str)> = others.iter().map(|row| (&*row[id], &*row[item])).collect();
    doubt_of_pairs(&first.join(", "), &pairs)
}

/// Ids and items that may as well be persons and lists.
fn doubt_of_pairs(header: &str, pairs: &[(&str, &str)]) -> Option<Doubt> {
    let ids: HashSet<&str> = pairs.iter().map(|(id, _)| *id).collect();
    let has_lists = ids.len() == pairs.len() && pairs.iter().any(|(_, item)| item.contains(LIST_MARKS));
    has_lists.then(|| {
        (
            format!("the table ({header}) has one row for each id and cells that look like lists"),
            "name the list column with --column, or use --format long if each cell is one term",
        )
    })
}

fn doubt_of_a_header(sample: &[Vec<Cow<'_, str>>], kinds: &[Option<Kind>], is_rectangle: bool) -> Option<Doubt> {
    let (first, others) = sample.split_first()?;
    let later: HashSet<&str> = others.iter().flatten().map(|field| &**field).collect();
    let first_is_unlike_the_rest = !others.is_empty() && first.iter().all(|field| !later.contains(&**field));
    if is_rectangle && first_is_unlike_the_rest {
        return Some((
            format!("the file looks like a table with {} columns, and none is named as the list of terms", first.len()),
            "name the list column with --column, or an --id-column and an --item-column; if every line is a record of \
             terms, use --format basket",
        ));
    }
    if is_rectangle && others.len() > 1 && columns_are_disjoint(sample) {
        return Some((
            format!("the file looks like a table with {} columns and without a header", first.len()),
            "use --format long if its columns are an id and an item, --format basket if every line is a record of terms",
        ));
    }
    let is_one_name = first.len() == 1 && words(&first[0]).len() <= 2 && kinds[0].is_some();
    (first_is_unlike_the_rest && (names_pair(kinds) || is_one_name)).then(|| {
        (
            "the first line looks like a header, but the lines do not form a table".into(),
            "remove the header or quote the cells that hold separators; if the first line is a record, use --format basket",
        )
    })
}

/// Refuses ids and items that may as well be persons and lists.
pub(super) fn check_pairs(name: &str, header: &str, pairs: &[(&str, &str)]) -> Result<()> {
    match doubt_of_pairs(header, pairs) {
        Some((problem, hint)) => Err(Error::input(Place::line(name, 1), problem).with_hint(hint)),
        None => Ok(()),
    }
}

/// Whether no value occurs in two columns, as in a table and unlike in baskets.
fn columns_are_disjoint(rows: &[Vec<Cow<'_, str>>]) -> bool {
    let mut column_of = HashMap::new();
    rows.iter()
        .flat_map(|row| row.iter().enumerate())
        .filter(|(_, field)| !field.is_empty())
        .all(|(column, field)| *column_of.entry(&**field).or_insert(column) == column)
}

/// The words of a name in lower case and singular: `itemDescriptions` is `item` and `description`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for character in name.chars() {
        if character.is_alphanumeric() {
            let starts = !previous.is_alphanumeric() || (previous.is_lowercase() && character.is_uppercase());
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        }
        previous = character;
    }
    for word in &mut words {
        if word.ends_with('s') && word != "diagnosis" && word.len() > 2 {
            word.pop();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::read_bytes;
    use super::super::testing::check_fault;
    use super::*;

    #[test]
    fn formats_are_recognised() {
        let cases = [
            ("x.dat", "1 2 3\n4\n", Format::Basket),
            ("x.dat", "1 2\n-1 -2\n", Format::Basket),
            ("dir.csv/x.txt", "1 -1 2 -1 -2\n", Format::Spmf),
            ("x", "@CONVERTED_FROM_TEXT\n@ITEM=1=a\n1\n", Format::Spmf),
            ("X.CSV", "citrus fruit,semi-finished bread,margarine\nwhole milk\nyogurt,coffee\n", Format::Basket),
            ("x.csv", "a,b\nb,c\nc,a\n", Format::Basket),
            ("x.csv", "milk\nbread\nmilk\n", Format::Basket),
            ("x.csv", "id,item\n1,a\n1,b\n", Format::Long),
            ("x.csv", "Member_number;itemDescription\n1;a, b\n1;b\n", Format::Long),
            ("x.tsv", "product\torder_id\na\t1\nb\t1\n", Format::Long),
            ("-", "patient,diagnosis\n1,a\n1,b\n", Format::Long),
            ("-", "{\"a\":[1]}", Format::JsonLines),
            ("-", "a b\n", Format::Basket),
        ];
        for (name, text, expected) in cases {
            let format = read_bytes(name, text.as_bytes(), &Options::default()).map(|(_, intake)| intake.format);
            assert_eq!(format.unwrap(), expected, "{name} {text:?}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for text in [
            "sex,age,race\nM,39,x\nF,40,y\n",
            "White;*\nBlack;*\nOther;*\n",
            "who,what\n1,a\n1,b\n",
            "patient,diagnoses\n1,a;b\n2,c\n",
            "items\n\"a,b\"\n\"c\"\n",
            "items\na;b;c\nd;e\n",
            "id,items\n1,a,b\n2,c\n",
            "citrus fruit\nwhole milk\n",
        ] {
            let error = check_fault("x.csv", text, Some(1));
            assert!(error.hint().is_some(), "{text:?}");
        }
    }

    #[test]
    fn names_are_judged_by_words() {
        for name in ["id", "TransactionID", "patient_id", "userid", "Member_number", "InvoiceNo"] {
            assert_eq!(kind_of(name), Some(Kind::Id), "{name}");
        }
        for name in ["item", "Items", "itemDescription", "product_id", "StockCode", "diagnoses"] {
            assert_eq!(kind_of(name), Some(Kind::Item), "{name}");
        }
        for name in ["watermelon", "vintage", "whole milk", "", "age"] {
            assert_eq!(kind_of(name), None, "{name}");
        }
    }
}
