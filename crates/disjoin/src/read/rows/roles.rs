//! What each column of a table is for, as declared; anything that does not fit the header is refused.
//!
//! Checked by: tests in this file

use std::collections::{HashMap, HashSet};

use super::Declared;
use crate::data::table::Role;
use crate::error::{Error, Place, Result};

/// So many names of columns are told in an error.
const SHOWN: usize = 40;

/// A column of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planned {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) expected: Expected,
    /// Whether it names people who are counted.
    pub(super) person: bool,
    /// Whether it is looked at whether its values come back: it names people, and nobody is counted.
    pub(super) watched: bool,
}

/// How the cells of a column are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// Nobody said it.
    Unsaid,
    /// As they are, also if they look like numbers.
    Words,
    Numbers,
    Dates,
    /// As they are, and generalised by what they begin with.
    Codes,
}

/// The columns of a header with their roles.
pub(super) fn plan(file: &str, header: &[String], declared: &Declared) -> Result<Vec<Planned>> {
    check_header(file, header)?;
    check_declared(declared)?;
    let named = declared.roles.iter().map(|(column, _)| column).chain(&declared.publish_as_is);
    let named = named.chain(readings(declared).into_iter().flat_map(|(columns, ..)| columns));
    let known: HashSet<&String> = header.iter().collect();
    let others = declared.hierarchies.iter().map(|(column, _)| column).chain(&declared.person);
    for column in named.chain(others) {
        if !known.contains(column) {
            return Err(unknown(file, header, column));
        }
    }
    let roles = roles(declared);
    let mut expected: HashMap<&String, Expected> = HashMap::new();
    for (columns, each, _) in readings(declared) {
        expected.extend(columns.iter().map(|column| (column, each)));
    }
    let is_person = |name: &String| declared.person.as_ref() == Some(name);
    let role =
        |name: &String| roles.get(name).copied().or(is_person(name).then_some(Role::Identifier)).or(declared.rest);
    let undeclared: Vec<&str> = header.iter().filter(|name| role(name).is_none()).map(String::as_str).collect();
    if !undeclared.is_empty() {
        return Err(no_role(file, &undeclared));
    }
    let planned = header.iter().filter_map(|name| {
        let expected = expected.get(name).copied().unwrap_or(Expected::Unsaid);
        let watched = declared.person.is_none() && roles.get(name) == Some(&Role::Identifier);
        role(name).map(|role| Planned { name: name.clone(), role, expected, person: is_person(name), watched })
    });
    Ok(planned.collect())
}

/// What was said of how columns are read, with what to call it.
fn readings(declared: &Declared) -> [(&[String], Expected, &'static str); 4] {
    [
        (&declared.numeric, Expected::Numbers, "numbers"),
        (&declared.dates, Expected::Dates, "dates"),
        (&declared.prefixes, Expected::Codes, "codes with prefixes"),
        (&declared.words, Expected::Words, "words"),
    ]
}

/// The roles that were declared, by column.
fn roles(declared: &Declared) -> HashMap<&String, Role> {
    declared.roles.iter().map(|(column, role)| (column, *role)).collect()
}

/// Names that are told, the first of them if there are many.
fn shown(names: &[&str]) -> String {
    match names.len().saturating_sub(SHOWN) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

fn check_header(file: &str, header: &[String]) -> Result<()> {
    let mut met = HashSet::new();
    for (i, name) in header.iter().enumerate() {
        if name.is_empty() {
            return Err(Error::input(Place::line(file, 1), format!("the header has no name for column {}", i + 1))
                .with_hint("give every column a name in the first line"));
        }
        if !met.insert(name) {
            return Err(Error::input(Place::line(file, 1).in_column(name), "the header has this name twice")
                .with_hint("give every column a name of its own"));
        }
        if name.chars().any(char::is_control) {
            return Err(Error::input(Place::line(file, 1), "the name of a column holds a control character")
                .with_hint(format!("give column {} another name", i + 1)));
        }
    }
    Ok(())
}

/// Refuses what contradicts itself, whatever the header.
fn check_declared(declared: &Declared) -> Result<()> {
    let refuse = |problem: String, hint: &str| Err(Error::recipe("roles", problem, hint));
    let (mut met, mut has_set) = (HashSet::new(), false);
    for (column, role) in &declared.roles {
        if !met.insert(column) {
            return refuse(format!("the column {column} is given a role twice"), "give every column one role");
        }
        if *role == Role::Set && std::mem::replace(&mut has_set, true) {
            return refuse(
                "there are two set-valued columns".into(),
                "name one with --set, and give others another role",
            );
        }
    }
    let roles = roles(declared);
    let named = declared.person.as_ref().and_then(|person| Some((person, *roles.get(person)?)));
    if let Some((person, _)) = named.filter(|(_, role)| *role != Role::Identifier) {
        let problem = format!("the column {person} names people, and is given another role");
        return refuse(problem, "people are named by an identifier, which is never published: give it no other role");
    }
    let role = |name: &String| roles.get(name).copied().or(declared.rest);
    let mut read = HashSet::new();
    for (columns, _, what) in readings(declared) {
        for column in columns {
            if matches!(role(column), Some(Role::Identifier | Role::Set)) {
                return refuse(
                    format!("the column {column} is declared as {what}, and as an identifier or a set"),
                    "these are quasi-identifiers, sensitive or insensitive attributes",
                );
            }
            if !read.insert(column) {
                return refuse(
                    format!("the column {column} is declared as {what}, and as something else"),
                    "name it once: as numbers, dates, codes with prefixes, or words",
                );
            }
        }
    }
    for column in &declared.publish_as_is {
        if !matches!(role(column), Some(Role::Other | Role::Sensitive)) {
            return refuse(
                format!("the column {column} is not published as it is by its role"),
                "only insensitive and sensitive attributes are; give it such a role, or do not confirm it",
            );
        }
    }
    check_hierarchies(declared, role)
}

fn check_hierarchies(declared: &Declared, role: impl Fn(&String) -> Option<Role>) -> Result<()> {
    let refuse = |problem: String, hint: &str| Err(Error::recipe("roles", problem, hint));
    for (i, (column, _)) in declared.hierarchies.iter().enumerate() {
        if declared.hierarchies[..i].iter().any(|(other, _)| other == column) {
            return refuse(format!("the column {column} is given two hierarchies"), "give it one");
        }
        if declared.dates.contains(column) || declared.prefixes.contains(column) {
            return refuse(
                format!("the column {column} is given a hierarchy beside the one of its dates or prefixes"),
                "leave out one of the two",
            );
        }
        if matches!(role(column), Some(Role::Identifier | Role::Set | Role::Other)) {
            return refuse(
                format!("the column {column} has a hierarchy, and is neither a quasi-identifier nor sensitive"),
                "hierarchies are for columns named with --quasi or --sensitive",
            );
        }
    }
    Ok(())
}

fn unknown(file: &str, header: &[String], column: &str) -> Error {
    let distance = |name: &&String| strsim::damerau_levenshtein(column, name);
    let nearest = header.iter().min_by_key(distance).filter(|name| distance(name) <= 1 + column.chars().count() / 3);
    let guess = nearest.map_or(String::new(), |name| format!("did you mean {name}? "));
    Error::input(Place::file(file), format!("has no column {column}"))
        .with_hint(format!("{guess}The columns are {}", shown(&header.iter().map(String::as_str).collect::<Vec<_>>())))
}

fn no_role(file: &str, columns: &[&str]) -> Error {
    let (are, they) = if columns.len() == 1 { ("this column has", "it is") } else { ("these columns have", "each is") };
    Error::input(Place::file(file), format!("{are} no role: {}", shown(columns))).with_hint(format!(
        "say what {they} for, as in --quasi a,b --sensitive c --identifier d --insensitive e --set f: --quasi for what others may \
         know of a person, --sensitive for what nobody may learn, --identifier for names and numbers of persons (never \
         published), --set for lists, --insensitive for the rest"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn declared(roles: &[(&str, Role)]) -> Declared {
        Declared { roles: roles.iter().map(|(name, role)| (name.to_string(), *role)).collect(), ..Declared::default() }
    }

    fn fault(header: &[&str], declared: &Declared) -> String {
        let error = plan("x.csv", &names(header), declared).unwrap_err();
        format!("{error} / {}", error.hint().unwrap())
    }

    #[test]
    fn every_column_needs_one_role() {
        let given = declared(&[("age", Role::Quasi), ("name", Role::Identifier)]);
        let planned = plan("x.csv", &names(&["name", "age"]), &Declared { numeric: names(&["age"]), ..given.clone() });
        let planned_as =
            |name: &str, role, expected, watched| Planned { name: name.into(), role, expected, person: false, watched };
        let both = [
            planned_as("name", Role::Identifier, Expected::Unsaid, true),
            planned_as("age", Role::Quasi, Expected::Numbers, false),
        ];
        assert_eq!(planned.unwrap(), both);
        let told = fault(&["name", "age", "zip", "note"], &given);
        assert!(told.contains("no role: zip, note") && told.contains("--quasi") && told.contains("--set f"), "{told}");
    }

    #[test]
    fn names_that_the_file_lacks_are_told_with_the_nearest() {
        let told = fault(&["age", "zip"], &declared(&[("agee", Role::Quasi), ("zip", Role::Other)]));
        assert!(
            told.contains("no column agee") && told.contains("did you mean age? The columns are age, zip"),
            "{told}"
        );
        let told = fault(&["age", "zip"], &declared(&[("diagnosis", Role::Sensitive)]));
        assert!(!told.contains("mean"), "{told}");
        let mut given = declared(&[("age", Role::Quasi)]);
        given.numeric = names(&["ages"]);
        assert!(fault(&["age"], &given).contains("no column ages"));
    }

    #[test]
    fn contradictions_are_refused() {
        let one = |role| declared(&[("a", role)]);
        assert!(fault(&["a"], &declared(&[("a", Role::Quasi), ("a", Role::Other)])).contains("a role twice"));
        assert!(fault(&["a", "b"], &declared(&[("a", Role::Set), ("b", Role::Set)])).contains("two set-valued"));
        assert!(fault(&["a", "a"], &one(Role::Quasi)).contains("twice"));
        assert!(fault(&["a", ""], &one(Role::Quasi)).contains("no name for column 2"));
        for role in [Role::Identifier, Role::Set] {
            assert!(fault(&["a"], &Declared { numeric: names(&["a"]), ..one(role) }).contains("as numbers"));
        }
        let twice = Declared { numeric: names(&["a"]), dates: names(&["a"]), ..one(Role::Quasi) };
        assert!(fault(&["a"], &twice).contains("as dates, and as something else"));
        assert!(
            fault(&["a"], &Declared { publish_as_is: names(&["a"]), ..one(Role::Quasi) })
                .contains("not published as it is")
        );
        assert!(fault(&["a"], &Declared { words: names(&["b"]), ..one(Role::Quasi) }).contains("no column b"));
        for role in [Role::Identifier, Role::Set, Role::Other] {
            let hierarchies = vec![("a".to_string(), PathBuf::from("h.csv"))];
            assert!(fault(&["a"], &Declared { hierarchies, ..one(role) }).contains("has a hierarchy"));
        }
    }
}
