//! Hierarchies of terms, from the files of two other tools.
//!
//! ARX: CSV without a header and with as many fields in every line: a value, then what it generalises to, level by
//! level. The separator is a semicolon, a comma or a tab. A label that repeats along a line is one node.
//!
//! Amnesia: text with the lines `distinct`, `name ...`, `type ...` and `height ...` first and `parent has child child
//! ...` after them, in any order here. Names are separated by blanks; other than in Amnesia, one that holds a blank may
//! be quoted. A name that is both a parent and a term of the data is a label with that term below it.
//!
//! Values that the data do not have are left out; what is wrong with the labels above them is an error all the same.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::text::{Rows, detect_separator, head, is_blank_row, validate};
use crate::data::{Dictionary, Fault, Hierarchy, HierarchyBuilder};
use crate::error::{Error, Place, Result};

/// Reads a hierarchy over the terms of `dictionary`, all of which the file must have.
pub fn hierarchy(path: &Path, dictionary: &Dictionary) -> Result<Hierarchy> {
    let bytes = std::fs::read(path).map_err(|source| Error::io(path, "read", source))?;
    parse(&path.display().to_string(), &bytes, dictionary)
}

fn parse(name: &str, bytes: &[u8], dictionary: &Dictionary) -> Result<Hierarchy> {
    let text = validate(name, bytes)?;
    let Some(first) = text.lines().find(|line| !line.trim().is_empty()) else {
        return Err(Error::input(Place::file(name), "is empty: it holds no hierarchy"));
    };
    let mut builder = HierarchyBuilder::new(dictionary);
    if is_amnesia(first) {
        read_amnesia(name, text, dictionary, &mut builder)?;
    } else {
        read_arx(name, text, &mut builder)?;
    }
    builder.finish().map_err(|fault| fault_at(Place::file(name), fault))
}

/// Whether the first line that is not blank can only be Amnesia's.
fn is_amnesia(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        _ if line.contains([';', ',', '\t']) => false,
        [kind] => is_one_of(kind, &["distinct", "range"]),
        [_, "has", _, ..] => true,
        [key, ..] => is_one_of(key, &["name", "type", "height"]),
        [] => false,
    }
}

fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|other| word.eq_ignore_ascii_case(other))
}

fn read_arx(name: &str, text: &str, builder: &mut HierarchyBuilder<'_>) -> Result<()> {
    let Some(separator) = detect_separator(head(text), [b';', b',', b'\t'], true) else {
        let problem = "is neither a hierarchy of ARX (value;label;label) nor one of Amnesia (parent has child child)";
        return Err(Error::input(Place::file(name), problem).with_hint(
            "write one line for each term: the term, then what it generalises to, with semicolons between",
        ));
    };
    let mut rows = Rows::new(name, text, separator);
    let mut row = Vec::new();
    let mut width = None;
    while let Some(line) = rows.next(&mut row)? {
        if is_blank_row(&row) {
            continue;
        }
        let fail = |problem: String, hint: &str| Err(Error::input(Place::line(name, line), problem).with_hint(hint));
        let expected = *width.get_or_insert(row.len());
        if row.len() != expected {
            let problem = format!("has {} fields where the first line has {expected}", row.len());
            return fail(problem, "where a line has fewer levels, repeat its last label; quote fields with separators");
        }
        if let Some(level) = row.iter().skip(1).position(|label| label.is_empty()) {
            let problem = format!("field {} is empty, a label was expected", level + 2);
            return fail(problem, "where a line has fewer levels, repeat the label before");
        }
        let labels = row[1..].iter().map(Cow::as_ref);
        builder.path(&row[0], labels).map_err(|fault| fault_at(Place::line(name, line), fault))?;
    }
    Ok(())
}

fn read_amnesia(name: &str, text: &str, dictionary: &Dictionary, builder: &mut HierarchyBuilder<'_>) -> Result<()> {
    let mut rows = Rows::new(name, text, b' ');
    let mut row = Vec::new();
    let mut families = Vec::new();
    while let Some(line) = rows.next(&mut row)? {
        match &row[..] {
            [_, has, _, ..] if has == "has" => families.push((line, std::mem::take(&mut row))),
            _ if is_blank_row(&row) => {}
            [key, _, ..] if families.is_empty() && is_one_of(key, &["name", "type", "height"]) => {}
            [kind] if families.is_empty() && is_one_of(kind, &["distinct"]) => {}
            [kind] if families.is_empty() && is_one_of(kind, &["range"]) => {
                return Err(Error::input(Place::line(name, line), "is a hierarchy of ranges, not of terms")
                    .with_hint("export one of distinct values"));
            }
            _ => {
                return Err(Error::input(Place::line(name, line), "is not of the form: parent has child child ...")
                    .with_hint("quote names that hold blanks"));
            }
        }
    }
    let parents: HashSet<&str> = families.iter().map(|(_, row)| row[0].as_ref()).collect();
    for (line, row) in &families {
        let parent = row[0].as_ref();
        let own = dictionary.get(parent).map(|_| (parent, parent));
        let children = row[2..].iter().map(|child| (child.as_ref(), parent));
        for (child, above) in children.chain(own) {
            let added = if child != above && parents.contains(child) {
                builder.edge(child, above)
            } else {
                builder.path(child, [above])
            };
            added.map_err(|fault| fault_at(Place::line(name, *line), fault))?;
        }
    }
    Ok(())
}

fn fault_at(place: Place, fault: Fault) -> Error {
    let (problem, hint) = match fault {
        Fault::TwoParents => (
            "a value or label stands below two different labels, here and in a line before".to_owned(),
            "give labels with different parents different names",
        ),
        Fault::Cycle => {
            ("a label stands below itself, by way of others".to_owned(), "order the labels from narrow to wide")
        }
        Fault::Missing(1) => ("one term of the data is not in the hierarchy".to_owned(), "add it"),
        Fault::Missing(n) => (format!("{n} terms of the data are not in the hierarchy"), "add them"),
        fault => (fault.to_string(), "leave out levels"),
    };
    Error::input(place, problem).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;

    fn read(text: &str, terms: &[&str]) -> Result<Vec<String>> {
        let dictionary = Dataset::from_texts([terms]).dictionary;
        let hierarchy = parse("h", text.as_bytes(), &dictionary)?;
        let chain = |term| {
            let nodes = std::iter::once(term).chain(hierarchy.ancestors(term));
            nodes.map(|node| hierarchy.text(node, &dictionary)).collect::<Vec<_>>().join(" < ")
        };
        Ok((0..dictionary.len() as u32).map(chain).collect())
    }

    #[track_caller]
    fn check(text: &str, terms: &[&str], expected: &[&str]) {
        assert_eq!(read(text, terms).unwrap(), expected, "{text:?}");
    }

    #[track_caller]
    fn check_fault(text: &str, terms: &[&str], line: Option<u64>, words: &str) {
        match read(text, terms) {
            Err(Error::Input { place, problem, .. }) => {
                assert_eq!(place.line, line, "{problem}: {text:?}");
                assert!(problem.contains(words), "{problem}: {text:?}");
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn arx_lines_are_paths() {
        let expected = ["flu < virus < *", "gout < joint < *"];
        for text in [
            "flu;virus;*\nhiv;virus;*\ngout;joint;*\nflu;virus;*",
            "\u{feff}flu,virus,*\r\n\r\n\"gout\",joint,*\r\n",
            "\nvalue\tlevel 1\tlevel 2\nflu\tvirus\t*\ngout\tjoint\t*\n",
        ] {
            check(text, &["flu", "gout"], &expected);
        }
        check("\"a;b\";\"x, y\";*\nc;\"say \"\"z\"\"\";*", &["a;b", "c"], &["a;b < x, y < *", "c < say \"z\" < *"]);
        check("015;015;01;*\n016;016;01;*\n015.1;015;01;*", &["015", "016"], &["015 < 01 < *", "016 < 01 < *"]);
        check("Type 2;diabetes;*\nname a;x;*", &["Type 2", "name a"], &["Type 2 < diabetes < *", "name a < x < *"]);
    }

    #[test]
    fn amnesia_lines_are_families() {
        let text = "distinct\nname illness\ntype string\nheight 3\n\nvirus has flu hiv \njoint has gout \n\n* has virus joint \n";
        let expected = ["flu < virus < *", "gout < joint < *"];
        check(text, &["flu", "gout"], &expected);
        check("* has virus joint\nvirus has flu\njoint has gout", &["flu", "gout"], &expected);
        check("name x\n\"any thing\" has \"a b\" c", &["a b", "c"], &["a b < any thing", "c < any thing"]);
        check(
            "01 has 015 016\n015 has 015.1\n",
            &["015", "015.1", "016"],
            &["015 < 015 < 01", "015.1 < 015 < 01", "016 < 01"],
        );
        check("01 has 015 016\n015 has 015 015.1\n", &["015", "016"], &["015 < 01", "016 < 01"]);
        check("HAS has has\n", &["has"], &["has < HAS"]);
    }

    #[test]
    fn faults_name_their_line() {
        let terms = ["a", "b"];
        check_fault("a;x;*\nb;*\n", &terms, Some(2), "2 fields where the first line has 3");
        check_fault("a;x;*\nb;;*\n", &terms, Some(2), "field 2 is empty");
        check_fault("a;x;\nb;y;*\n", &terms, Some(1), "field 3 is empty");
        check_fault("a;x;*\n\nb;x;y\n", &terms, Some(3), "two different labels");
        check_fault("a;x;*\nb;x;*\na;y;*\n", &terms, Some(3), "two different labels");
        check_fault("a;x;y\nb;y;x\n", &terms, Some(2), "below itself");
        check_fault("a;x;y\nc;y;x\n", &terms, Some(2), "below itself");
        check_fault("a;x\n\"b;x\n", &terms, Some(2), "never closed");
        check_fault("c;x\n", &terms, None, "2 terms");
        check_fault("a;x\n", &terms, None, "one term");
        check_fault("x has a\n* has b x\ny has x\n", &terms, Some(3), "two different labels");
        check_fault("x has a\ny has a\n", &terms, Some(2), "two different labels");
        check_fault("x has y a\ny has z b\nz has x\n", &terms, Some(3), "below itself");
        check_fault("range\nname x\n", &terms, Some(1), "ranges");
        check_fault("distinct\nx has a b\nheight 2\n", &terms, Some(3), "parent has child");
        check_fault("distinct\nx y has a b\n", &terms, Some(2), "parent has child");
        check_fault("distinct\nx has\n", &terms, Some(2), "parent has child");
        check_fault("distinct\n", &terms, None, "2 terms");
    }

    #[test]
    fn what_is_no_hierarchy_is_refused() {
        for text in ["", "\n \n", "\u{feff}"] {
            check_fault(text, &["a"], None, "empty");
        }
        check_fault("a b\nc d\n", &["a"], None, "neither");
        check_fault("a\0;x\n", &["a"], Some(1), "control");
        let error = parse("h", b"a;x\nb;\xff\n", &Dictionary::default()).unwrap_err();
        assert!(matches!(error, Error::Input { place, .. } if place.line == Some(2)));
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(hierarchy(folder.path(), &Dictionary::default()), Err(Error::Io { .. })));
        let path = folder.path().join("h.csv");
        std::fs::write(&path, "a;x\n").unwrap();
        assert_eq!(hierarchy(&path, &Dataset::from_texts([["a"]]).dictionary).unwrap().n_nodes(), 2);
    }

    #[test]
    fn messages_hold_no_value() {
        let texts = ["secret;x;*\nsecret;y;*\n", "secret;x\ny;secret;z\n", "x has secret\ny has secret\n", "q;x\n"];
        for text in texts {
            let error = read(text, &["secret"]).unwrap_err();
            assert!(!format!("{error} {:?}", error.hint()).contains("secret"));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic() {
        use rand::{RngExt, SeedableRng};
        let pieces = ["a", "b", "x", ";", ",", "\n", " ", "\"", " has ", "distinct\n", "name", "*", "\r\n", "\t"];
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        for _ in 0..20_000 {
            let text: String =
                (0..rng.random_range(0..20)).map(|_| pieces[rng.random_range(0..pieces.len())]).collect();
            let _ = read(&text, &["a", "b"]);
        }
    }
}
