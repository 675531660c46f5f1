//! Arrays as PostgreSQL writes them: `{a,"b c",NULL}`.
//!
//! Elements stand between commas, in quotes where they need them; inside quotes a backslash makes the next character an
//! ordinary one. NULL without quotes is no value. Bounds before the array (`[0:1]={a,b}`) mean nothing for a set.
//!
//! Checked by: tests in this file, `crates/disjoin-databases/tests/it/postgres.rs`

use std::str::Chars;

const NOT_AN_ARRAY: &str = "the cell is not an array as PostgreSQL writes it";

/// The elements of an array, none where there is no value; or what is wrong with it.
pub(super) fn elements(text: &str) -> Result<Vec<Option<String>>, &'static str> {
    let bare = match text.strip_prefix('[').and_then(|rest| rest.split_once("]=")) {
        // There may be bounds of several dimensions; the last ones stand before the array.
        Some((_, rest)) => rest,
        None => text,
    };
    let inside = bare.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).ok_or(NOT_AN_ARRAY)?;
    let mut elements = Vec::new();
    if inside.is_empty() {
        return Ok(elements);
    }
    let mut rest = inside.chars();
    loop {
        let (element, is_last) = next(&mut rest)?;
        elements.push(element);
        if is_last {
            return Ok(elements);
        }
    }
}

/// The next element, and whether it is the last.
fn next(rest: &mut Chars<'_>) -> Result<(Option<String>, bool), &'static str> {
    let (mut text, mut was_quoted, mut in_quotes) = (String::new(), false, false);
    let is_last = loop {
        match rest.next() {
            None if in_quotes => return Err(NOT_AN_ARRAY),
            None => break true,
            Some(',') if !in_quotes => break false,
            Some('"') if in_quotes => in_quotes = false,
            Some(_) if was_quoted && !in_quotes => return Err(NOT_AN_ARRAY),
            Some('"') if text.is_empty() => (was_quoted, in_quotes) = (true, true),
            Some('"') if !in_quotes => return Err(NOT_AN_ARRAY),
            Some('{' | '}') if !in_quotes => return Err("the array has arrays in it"),
            Some('\\') => text.push(rest.next().ok_or(NOT_AN_ARRAY)?),
            Some(character) => text.push(character),
        }
    };
    match (was_quoted, text.is_empty()) {
        (false, true) => Err(NOT_AN_ARRAY),
        (false, false) if text.eq_ignore_ascii_case("null") => Ok((None, is_last)),
        _ => Ok((Some(text), is_last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_taken_apart() {
        let read =
            |text: &str| elements(text).unwrap().into_iter().map(|e| e.unwrap_or("-".into())).collect::<Vec<_>>();
        assert_eq!(read("{}"), Vec::<String>::new());
        assert_eq!(read("{a,b}"), ["a", "b"]);
        assert_eq!(read("{1,NULL,\"NULL\",null}"), ["1", "-", "NULL", "-"]);
        assert_eq!(
            read(r#"{"b c","a,b","say \"x\"","back\\slash","{}","",é}"#),
            ["b c", "a,b", "say \"x\"", "back\\slash", "{}", "", "é"]
        );
        assert_eq!(read("[0:1]={a,b}"), ["a", "b"]);
    }

    #[test]
    fn what_is_no_array_is_refused() {
        for text in [
            "",
            "a",
            "{",
            "{a",
            "a}",
            "{a,}",
            "{,a}",
            "{\"a}",
            "{\"a\"b}",
            "{a\"b\"}",
            "[\"a\",\"b\"]",
            "{\"a\\\"}",
            "{\"a\":1}",
            "[0:1]=a",
        ] {
            assert_eq!(elements(text).unwrap_err(), NOT_AN_ARRAY, "{text}");
        }
        for text in ["{{a,b},{c,d}}", "[1:1][0:1]={{a,b}}", "{a,{b}}"] {
            assert!(elements(text).is_err(), "{text}");
        }
    }
}
