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
//! What is written is read back as the same tree; a label is changed if it is that of another node, too.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use super::text::{Rows, detect_separator, head, is_blank_row, validate, write_fields};
use crate::data::{Dictionary, Fault, Hierarchy, HierarchyBuilder, NodeId};
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};

/// Whose files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HierarchyStyle {
    /// A line for each term: the term, then what it generalises to.
    Arx,
    /// A line for each label: the label, then what is right below it.
    Amnesia,
}

/// Reads a hierarchy over the terms of `dictionary`, all of which the file must have.
pub fn hierarchy(path: &Path, dictionary: &Dictionary) -> Result<Hierarchy> {
    parse_hierarchy(&path.display().to_string(), &bytes_of(path)?, dictionary)
}

/// Reads a hierarchy that must have one root: what generalises everything.
pub fn rooted_hierarchy(path: &Path, dictionary: &Dictionary) -> Result<Hierarchy> {
    let (name, bytes) = (path.display().to_string(), bytes_of(path)?);
    let hierarchy = parse_hierarchy(&name, &bytes, dictionary)?;
    match second_root(&name, validate(&name, &bytes)?)? {
        None => Ok(hierarchy),
        Some(line) => {
            let problem = "does not end in the same label as the lines before: the hierarchy has two roots";
            Err(Error::input(Place::line(name, line), problem)
                .with_hint("put all labels below one that stands for anything, for example *"))
        }
    }
}

/// The terms of a hierarchy, where there are no data that say them: what nothing stands below.
pub fn hierarchy_terms(path: &Path) -> Result<Dictionary> {
    parse_hierarchy_terms(&path.display().to_string(), &bytes_of(path)?)
}

/// The same of a text; `name` is for messages.
pub fn parse_hierarchy_terms(name: &str, bytes: &[u8]) -> Result<Dictionary> {
    let text = validate(name, bytes)?;
    let mut terms = Dictionary::default();
    if first_line(name, text).is_ok_and(is_amnesia) {
        let families = families(name, text)?;
        let parents: HashSet<&str> = families.iter().map(|(_, row)| row[0].as_ref()).collect();
        for (_, row) in &families {
            let is_term = |child: &&str| *child == row[0] || !parents.contains(child);
            for child in row[2..].iter().map(Cow::as_ref).filter(is_term) {
                terms.intern(child);
            }
        }
    } else {
        arx_rows(name, text, |_, row| {
            terms.intern(&row[0]);
            Ok(())
        })?;
    }
    Ok(terms)
}

/// Writes a hierarchy so that [`hierarchy`] reads it back.
pub fn write_hierarchy(
    hierarchy: &Hierarchy,
    dictionary: &Dictionary,
    style: HierarchyStyle,
    path: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    let names = names(hierarchy, dictionary);
    let terms = 0..hierarchy.n_terms() as NodeId;
    let written = match style {
        HierarchyStyle::Arx => write_arx(hierarchy, &names, out),
        HierarchyStyle::Amnesia if terms.clone().any(|term| hierarchy.parent(term).is_none()) => {
            let problem = "a term stands below no label, which the files of Amnesia cannot say";
            return Err(Error::recipe("--style", problem, "write it for ARX"));
        }
        HierarchyStyle::Amnesia if names.iter().any(|name| name.is_empty()) => {
            let problem = "a name is empty, which the files of Amnesia cannot say";
            return Err(Error::recipe("--style", problem, "write it for ARX"));
        }
        HierarchyStyle::Amnesia => write_amnesia(hierarchy, &names, out),
    };
    written.map_err(|source| Error::io(path, "write", source))
}

fn bytes_of(path: &Path) -> Result<Vec<u8>> {
    read_file(path, "read", Memory::default())
}

/// The names of all nodes: no label is that of another node, or of a term that does not stand right below it.
fn names<'a>(hierarchy: &'a Hierarchy, dictionary: &'a Dictionary) -> Vec<Cow<'a, str>> {
    let mut taken: HashSet<Cow<'a, str>> = HashSet::new();
    let mut names = Vec::with_capacity(hierarchy.n_nodes());
    for node in 0..hierarchy.n_nodes() as NodeId {
        let mut name = Cow::Borrowed(hierarchy.text(node, dictionary));
        if node as usize >= hierarchy.n_terms() {
            let is_others = |name: &str| dictionary.get(name).is_some_and(|term| hierarchy.parent(term) != Some(node));
            // A name that is made up is no term's at all: a term that repeats itself has no label.
            let is_terms = |name: &Cow<'_, str>| matches!(name, Cow::Owned(made) if dictionary.get(made).is_some());
            while is_others(&name) || is_terms(&name) || taken.contains(&name) {
                name.to_mut().push('\'');
            }
            taken.insert(name.clone());
        }
        names.push(name);
    }
    names
}

fn write_arx(hierarchy: &Hierarchy, names: &[Cow<'_, str>], out: &mut dyn Write) -> io::Result<()> {
    let terms = 0..hierarchy.n_terms() as NodeId;
    let levels = terms.clone().map(|term| hierarchy.depth(term)).max().unwrap_or(0).max(1) as usize;
    for term in terms {
        // Where there are fewer labels the last one is repeated.
        let last = hierarchy.ancestors(term).last().unwrap_or(term);
        let above = hierarchy.ancestors(term).chain(std::iter::repeat(last)).take(levels);
        write_fields(std::iter::once(term).chain(above).map(|node| names[node as usize].as_ref()), b';', out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn write_amnesia(hierarchy: &Hierarchy, names: &[Cow<'_, str>], out: &mut dyn Write) -> io::Result<()> {
    let height = (0..hierarchy.n_terms() as NodeId).map(|term| hierarchy.depth(term) + 1).max().unwrap_or(0);
    writeln!(out, "distinct\nname hierarchy\ntype string\nheight {height}\n")?;
    let mut children = vec![Vec::new(); hierarchy.n_nodes()];
    for node in 0..hierarchy.n_nodes() as NodeId {
        if let Some(parent) = hierarchy.parent(node) {
            children[parent as usize].push(names[node as usize].as_ref());
        }
    }
    for (name, children) in names.iter().zip(&children).skip(hierarchy.n_terms()) {
        write_fields([name.as_ref(), "has"].into_iter().chain(children.iter().copied()), b' ', out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn first_line<'a>(name: &str, text: &'a str) -> Result<&'a str> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.next().ok_or_else(|| Error::input(Place::file(name), "is empty: it holds no hierarchy"))
}

/// Reads a hierarchy from a text; `name` is for messages.
pub fn parse_hierarchy(name: &str, bytes: &[u8], dictionary: &Dictionary) -> Result<Hierarchy> {
    let text = validate(name, bytes)?;
    let mut builder = HierarchyBuilder::new(dictionary);
    if is_amnesia(first_line(name, text)?) {
        read_amnesia(name, text, dictionary, &mut builder)?;
    } else {
        arx_rows(name, text, |line, row| {
            let labels = row[1..].iter().map(Cow::as_ref);
            builder.path(&row[0], labels).map_err(|fault| fault_at(Place::line(name, line), fault))
        })?;
    }
    builder.finish().map_err(|fault| fault_at(Place::file(name), fault))
}

/// The line of a root that is not the first.
fn second_root(name: &str, text: &str) -> Result<Option<u64>> {
    if is_amnesia(first_line(name, text)?) {
        let families = families(name, text)?;
        let mut children: HashSet<&str> = HashSet::new();
        for (_, row) in &families {
            children.extend(row[2..].iter().filter(|child| **child != row[0]).map(Cow::as_ref));
        }
        let mut roots = families.iter().filter(|(_, row)| !children.contains(row[0].as_ref()));
        let first = roots.next().map(|(_, row)| &row[0]);
        return Ok(roots.find(|(_, row)| Some(&row[0]) != first).map(|(line, _)| *line));
    }
    let (mut root, mut second) = (None, None);
    arx_rows(name, text, |line, row| {
        let last = row[row.len() - 1].to_string();
        if *root.get_or_insert_with(|| last.clone()) != last {
            second.get_or_insert(line);
        }
        Ok(())
    })?;
    Ok(second)
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

/// The lines of a file of ARX, each with its number.
fn arx_rows(name: &str, text: &str, mut row_is: impl FnMut(u64, &[Cow<'_, str>]) -> Result<()>) -> Result<()> {
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
        row_is(line, &row)?;
    }
    Ok(())
}

fn read_amnesia(name: &str, text: &str, dictionary: &Dictionary, builder: &mut HierarchyBuilder<'_>) -> Result<()> {
    let families = families(name, text)?;
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

/// A line of Amnesia, with its number.
type Family<'a> = (u64, Vec<Cow<'a, str>>);

/// The lines of a file of Amnesia that say what is below what.
fn families<'a>(name: &'a str, text: &'a str) -> Result<Vec<Family<'a>>> {
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
    Ok(families)
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
        let hierarchy = parse_hierarchy("h", text.as_bytes(), &dictionary)?;
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

    /// Found by fuzzing: a line without its child could not be read back.
    #[test]
    fn an_empty_name_is_not_written_for_amnesia() {
        let terms = parse_hierarchy_terms("h", b"flu;virus;*\n\"\";joint;*\n").unwrap();
        let hierarchy = parse_hierarchy("h", b"flu;virus;*\n\"\";joint;*\n", &terms).unwrap();
        let write = |style| {
            let mut out = Vec::new();
            write_hierarchy(&hierarchy, &terms, style, Path::new("h"), &mut out).map(|()| out)
        };
        assert!(matches!(write(HierarchyStyle::Amnesia), Err(Error::Recipe { key, .. }) if key == "--style"));
        let out = write(HierarchyStyle::Arx).unwrap();
        assert_eq!(parse_hierarchy("h", &out, &terms).unwrap().n_nodes(), hierarchy.n_nodes());
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
        let error = parse_hierarchy("h", b"a;x\nb;\xff\n", &Dictionary::default()).unwrap_err();
        assert!(matches!(error, Error::Input { place, .. } if place.line == Some(2)));
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(hierarchy(folder.path(), &Dictionary::default()), Err(Error::Io { .. })));
        let path = folder.path().join("h.csv");
        std::fs::write(&path, "a;x\n").unwrap();
        assert_eq!(hierarchy(&path, &Dataset::from_texts([["a"]]).dictionary).unwrap().n_nodes(), 2);
    }

    #[test]
    fn two_roots_are_refused_where_one_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h");
        let dictionary = Dataset::from_texts([["a", "b"]]).dictionary;
        let cases = [
            ("a;x;*\nb;y;*\n", None),
            ("a;x\n\nb;y\n", Some(3)),
            ("c;x;*\na;x;*\nb;y;+\n", Some(3)),
            ("x has a\n* has x b\n", None),
            ("x has a\ny has b\n* has y\n", Some(3)),
            ("x has a\nx has b\n", None),
        ];
        for (text, line) in cases {
            std::fs::write(&path, text).unwrap();
            match (rooted_hierarchy(&path, &dictionary), line) {
                (Ok(_), None) => {}
                (Err(Error::Input { place, problem, .. }), Some(_)) => {
                    assert_eq!(place.line, line, "{text:?}");
                    assert!(problem.contains("two roots"), "{problem}");
                }
                (other, _) => panic!("{text:?}: {other:?}"),
            }
            assert!(hierarchy(&path, &dictionary).is_ok(), "{text:?}");
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        use rand::{RngExt, SeedableRng};
        let chains = |hierarchy: &Hierarchy, dictionary: &Dictionary| -> Vec<Vec<String>> {
            let texts = |term| hierarchy.ancestors(term).map(|node| hierarchy.text(node, dictionary).to_owned());
            (0..dictionary.len() as NodeId).map(|term| texts(term).collect()).collect()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h");
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(8);
        let names = ["a", "b c", "d;e", "say \"f\"", "has", "name", "015", "-1", "g,h", "ü"];
        for round in 0..300 {
            let terms: Vec<&str> = names.iter().copied().filter(|_| rng.random_bool(0.7)).collect();
            let dictionary = Dataset::from_texts([&terms]).dictionary;
            // Labels of one level, with some names that terms have as well, below one of two and a root.
            let paths: Vec<(&str, Vec<String>)> = terms
                .iter()
                .map(|&term| {
                    let low = rng.random_range(0..4_usize);
                    let label = if round % 2 == 0 { format!("low {low}") } else { term.to_owned() };
                    let path = [label, format!("high {}", if round % 2 == 0 { low / 2 } else { 7 }), "*".to_owned()];
                    (term, path[rng.random_range(0..3)..].to_vec())
                })
                .collect();
            let paths = paths.iter().map(|(term, path)| (*term, path.iter().map(String::as_str)));
            let tree = Hierarchy::from_paths(&dictionary, paths).unwrap();
            for style in [HierarchyStyle::Arx, HierarchyStyle::Amnesia] {
                let mut out = Vec::new();
                write_hierarchy(&tree, &dictionary, style, &path, &mut out).unwrap();
                std::fs::write(&path, &out).unwrap();
                if terms.is_empty() {
                    continue;
                }
                let read = rooted_hierarchy(&path, &dictionary).unwrap();
                assert_eq!(chains(&read, &dictionary), chains(&tree, &dictionary), "{}", String::from_utf8_lossy(&out));
                let mut of_file: Vec<String> = hierarchy_terms(&path).unwrap().iter().map(str::to_owned).collect();
                of_file.sort_unstable();
                let mut expected = terms.clone();
                expected.sort_unstable();
                assert_eq!(of_file, expected);
            }
        }
    }

    #[test]
    fn labels_that_are_not_their_own_are_changed() {
        let dictionary = Dataset::from_texts([["a", "x", "b"]]).dictionary;
        // The label x stands above a and not above the term x.
        let tree =
            Hierarchy::from_paths(&dictionary, [("a", ["x", "*"]), ("b", ["x", "*"]), ("x", ["y", "*"])]).unwrap();
        for style in [HierarchyStyle::Arx, HierarchyStyle::Amnesia] {
            let mut out = Vec::new();
            write_hierarchy(&tree, &dictionary, style, Path::new("h"), &mut out).unwrap();
            let read = parse_hierarchy("h", &out, &dictionary).unwrap();
            assert_eq!(read.text(read.parent(0).unwrap(), &dictionary), "x'");
            assert_eq!((read.parent(0), read.n_nodes()), (read.parent(2), tree.n_nodes()));
        }
        // Nor may a name that is made up be that of the term right below it.
        let dictionary = Dataset::from_texts([["a'", "a", "b"]]).dictionary;
        let tree =
            Hierarchy::from_paths(&dictionary, [("a'", ["a", "*"]), ("a", ["y", "*"]), ("b", ["y", "*"])]).unwrap();
        let mut out = Vec::new();
        write_hierarchy(&tree, &dictionary, HierarchyStyle::Arx, Path::new("h"), &mut out).unwrap();
        assert_eq!(parse_hierarchy("h", &out, &dictionary).unwrap().n_nodes(), tree.n_nodes());
        // Terms without a label.
        let dictionary = Dataset::from_texts([["a", "x", "b"]]).dictionary;
        let alone = Hierarchy::from_paths(&dictionary, [("a", vec!["x"]), ("x", vec![]), ("b", vec![])]).unwrap();
        let mut out = Vec::new();
        assert!(write_hierarchy(&alone, &dictionary, HierarchyStyle::Amnesia, Path::new("h"), &mut out).is_err());
        write_hierarchy(&alone, &dictionary, HierarchyStyle::Arx, Path::new("h"), &mut out).unwrap();
        assert_eq!(parse_hierarchy("h", &out, &dictionary).unwrap().n_nodes(), 4);
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
            let _ = second_root("h", &text);
        }
    }
}
