//! Conditions on records, as somebody writes them: `age 30-39 and sex = F`.
//!
//! ```text
//! PREDICATE  CONDITION and CONDITION ...
//! CONDITION  COLUMN = VALUE     COLUMN != VALUE     COLUMN in {VALUE, VALUE}     COLUMN not in {VALUE, VALUE}
//!            COLUMN < VALUE     also <=, > and >=   COLUMN 30-39                 COLUMN has TERM, or has {TERM, TERM}
//! ```
//!
//! Promises:   an error names the character where it is, and no value: what somebody asks may say something about a person
//! Departs:    there is no `or` and no `not` but these: what a release says of alternatives does not follow from what it says of each
//! Checked by: tests in this file

use crate::error::{Error, Result};

/// How a predicate is written, for hints.
pub(super) const HOW: &str = "write for example: age 30-39 and sex = F; ill in {flu, 'heart failure'}; income >= 1000; diagnoses has \
                              flu. What has blanks or begins with another sign stands in quotes";

/// Conditions that all hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    /// As it was written.
    pub text: String,
    /// The conditions, in order.
    pub(super) conditions: Vec<Condition>,
    /// Which predicate it is, for errors.
    place: String,
}

/// What must hold in a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    pub(super) column: Literal,
    pub(super) written: Written,
}

/// A name or a value, and the character where it begins, counted from 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Written {
    /// One of these, or none of these.
    Is { values: Vec<Literal>, not: bool },
    /// Less, at most, more or at least this.
    Compared { sign: &'static str, value: Literal },
    /// From one to another.
    Within(Literal),
    /// All of these terms.
    Has(Vec<Literal>),
}

impl Predicate {
    /// Reads a predicate; `place` says which one it is.
    pub fn parse(text: &str, place: &str) -> Result<Predicate> {
        let mut parser = Parser { tokens: tokens(text, place)?, next: 0, end: text.chars().count() + 1, place };
        let mut conditions = Vec::new();
        loop {
            conditions.push(parser.condition()?);
            match parser.take() {
                None => break,
                Some(token) if token.is_word("and") => {}
                Some(Token { at, what: What::Text { .. }, .. }) => {
                    return Err(fault(place, at, "a condition ends before this word, and \"and\" was expected"));
                }
                Some(Token { at, .. }) => return Err(fault(place, at, "\"and\" was expected here")),
            }
        }
        Ok(Predicate { text: text.trim().to_owned(), conditions, place: place.to_owned() })
    }

    /// An error at a place of this predicate.
    pub(super) fn fault(&self, at: usize, problem: &str, hint: String) -> Error {
        Error::recipe("predicate", format!("{} at character {at}: {problem}", self.place), hint)
    }
}

fn fault(place: &str, at: usize, problem: &str) -> Error {
    Error::recipe("predicate", format!("{place} at character {at}: {problem}"), HOW)
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    at: usize,
    what: What,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Text { text: String, is_quoted: bool },
    Sign(&'static str),
}

impl Token {
    fn is_word(&self, word: &str) -> bool {
        matches!(&self.what, What::Text { text, is_quoted: false } if text.eq_ignore_ascii_case(word))
    }
}

/// Signs, those first that begin like others.
const SIGNS: [&str; 9] = ["!=", "<=", ">=", "=", "<", ">", "{", "}", ","];

fn tokens(text: &str, place: &str) -> Result<Vec<Token>> {
    let mut found = Vec::new();
    let (mut rest, mut at) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (what, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '"' | '\'' => {
                let (text, length) = quoted(rest, first).ok_or_else(|| fault(place, at, "a quote is not closed"))?;
                (Some(What::Text { text, is_quoted: true }), length)
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Some(What::Sign(sign)), sign.len()),
                None => {
                    let is_end = |c: char| c.is_whitespace() || ",{}=<>\"'".contains(c);
                    // "!" alone is a character like others.
                    let end = rest.find("!=").unwrap_or(rest.len()).min(rest.find(is_end).unwrap_or(rest.len()));
                    (Some(What::Text { text: rest[..end].to_owned(), is_quoted: false }), end)
                }
            },
        };
        found.extend(what.map(|what| Token { at, what }));
        at += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(found)
}

/// The text between quotes, doubled ones inside once, and how long all of it is.
fn quoted(text: &str, quote: char) -> Option<(String, usize)> {
    let mut inner = String::new();
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != quote {
            inner.push(c);
        } else if chars.next_if(|(_, next)| *next == quote).is_some() {
            inner.push(quote);
        } else {
            return Some((inner, at + 1));
        }
    }
    None
}

struct Parser<'a> {
    tokens: Vec<Token>,
    next: usize,
    end: usize,
    place: &'a str,
}

impl Parser<'_> {
    fn take(&mut self) -> Option<Token> {
        self.next += 1;
        self.tokens.get(self.next - 1).cloned()
    }

    fn takes(&mut self, fits: impl Fn(&Token) -> bool) -> bool {
        let is_next = self.tokens.get(self.next).is_some_and(fits);
        self.next += usize::from(is_next);
        is_next
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        self.takes(|token| token.what == What::Sign(SIGNS.iter().find(|known| **known == sign).unwrap_or(&"")))
    }

    /// A name or a value; `what` it should be, for errors.
    fn literal(&mut self, what: &str) -> Result<Literal> {
        match self.take() {
            Some(Token { at, what: What::Text { text, .. } }) => Ok(Literal { text, at }),
            Some(Token { at, .. }) => Err(fault(self.place, at, &format!("{what} was expected here"))),
            None => Err(fault(self.place, self.end, &format!("{what} was expected, and the text ends"))),
        }
    }

    fn condition(&mut self) -> Result<Condition> {
        if self.tokens.get(self.next).is_some_and(|token| ["and", "or", "not"].iter().any(|word| token.is_word(word))) {
            let at = self.tokens[self.next].at;
            return Err(fault(self.place, at, "a condition begins with the name of a column"));
        }
        let column = self.literal("the name of a column")?;
        let written = match () {
            () if self.takes_sign("=") => Written::Is { values: vec![self.literal("a value")?], not: false },
            () if self.takes_sign("!=") => Written::Is { values: vec![self.literal("a value")?], not: true },
            () if self.takes(|token| token.is_word("in")) => Written::Is { values: self.list()?, not: false },
            () if self.takes(|token| token.is_word("has")) => match self.is_list() {
                true => Written::Has(self.list()?),
                false => Written::Has(vec![self.literal("a term")?]),
            },
            () if self.takes(|token| token.is_word("not")) => match self.takes(|token| token.is_word("in")) {
                true => Written::Is { values: self.list()?, not: true },
                false => return Err(fault(self.place, self.here(), "\"in\" was expected after \"not\"")),
            },
            () => match ["<=", ">=", "<", ">"].into_iter().find(|sign| self.takes_sign(sign)) {
                Some(sign) => Written::Compared { sign, value: self.literal("a number or a date")? },
                None => Written::Within(self.literal("a condition, as = VALUE or 30-39,")?),
            },
        };
        Ok(Condition { column, written })
    }

    fn here(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |token| token.at)
    }

    fn is_list(&self) -> bool {
        self.tokens.get(self.next).is_some_and(|token| token.what == What::Sign("{"))
    }

    fn list(&mut self) -> Result<Vec<Literal>> {
        if !self.takes_sign("{") {
            return Err(fault(self.place, self.here(), "a list was expected, as {a, b}"));
        }
        let mut values = vec![self.literal("a value")?];
        loop {
            match () {
                () if self.takes_sign("}") => return Ok(values),
                () if self.takes_sign(",") => values.push(self.literal("a value")?),
                () => return Err(fault(self.place, self.here(), "a comma or } was expected in the list")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Predicate> {
        Predicate::parse(text, "number 1")
    }

    fn shown(predicate: &Predicate) -> Vec<String> {
        let texts = |all: &[Literal]| all.iter().map(|value| value.text.as_str()).collect::<Vec<_>>().join("|");
        let show = |condition: &Condition| match &condition.written {
            Written::Is { values, not } => {
                format!("{} {} {}", condition.column.text, if *not { "!=" } else { "=" }, texts(values))
            }
            Written::Compared { sign, value } => format!("{} {sign} {}", condition.column.text, value.text),
            Written::Within(value) => format!("{} within {}", condition.column.text, value.text),
            Written::Has(terms) => format!("{} has {}", condition.column.text, texts(terms)),
        };
        predicate.conditions.iter().map(show).collect()
    }

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for (text, expected) in [
            ("age 30-39 and sex = F", &["age within 30-39", "sex = F"][..]),
            ("age>=30 AND age<40", &["age >= 30", "age < 40"]),
            ("a!=b and c not in {x,'y z'}", &["a != b", "c != x|y z"]),
            ("'and' = \"it's\" and b = 'say ''x'''", &["and = it's", "b = say 'x'"]),
            (
                "diagnoses has flu and diagnoses has {gout, 'heart failure'}",
                &["diagnoses has flu", "diagnoses has gout|heart failure"],
            ),
            ("zip = 25* and d 2024-01..2024-03", &["zip = 25*", "d within 2024-01..2024-03"]),
            ("a = ''", &["a = "]),
        ] {
            assert_eq!(shown(&parse(text).unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn faults_are_told_by_their_place_and_without_values() {
        for (text, at, problem) in [
            ("", 1, "the text ends"),
            ("age", 4, "the text ends"),
            ("age =", 6, "the text ends"),
            ("age = secret blank", 14, "\"and\" was expected"),
            ("age = 3 or sex = F", 9, "\"and\" was expected"),
            ("age in secret", 8, "a list was expected"),
            ("age in {a b}", 11, "a comma or }"),
            ("age in {a", 10, "a comma or }"),
            ("é = 'secret", 5, "not closed"),
            ("= 3", 1, "the name of a column"),
            ("age = 3 and", 12, "the text ends"),
            ("not age = 3", 1, "begins with the name"),
            ("age not 3", 9, "\"in\" was expected"),
        ] {
            let error = parse(text).unwrap_err();
            let told = error.to_string();
            assert!(
                told.contains(&format!("number 1 at character {at}: ")) && told.contains(problem),
                "{text}: {told}"
            );
            assert!(!told.contains("secret") && error.hint().is_some(), "{told}");
        }
    }
}
