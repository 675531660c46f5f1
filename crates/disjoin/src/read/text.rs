//! Lines, separators and quotes: what the text formats have in common.
//!
//! Text is UTF-8 with LF or CRLF line ends; a byte order mark is skipped; control characters other than tab mean that
//! the file is not text. A field is quoted as in CSV: it starts with `"`, doubles the quotes inside it, and nothing but
//! blanks may follow it. Blanks (space, tab, carriage return) around a field do not belong to it, inside quotes they do.
//! A quote that is not the first character of a field is an ordinary character. Open or misplaced quotes are errors,
//! where many CSV readers guess.

use std::borrow::Cow;
use std::io::{self, Write};

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use crate::error::{Error, Place, Result};

/// Detection looks at this much of a file.
pub(crate) const HEAD: usize = 64 << 10;

/// What is wrong with a quote that might still be closed.
pub(crate) const UNCLOSED: &str = "a quote is opened and never closed";

/// The bytes as text, or an error with the line where they stop being text. A byte order mark is skipped.
pub(crate) fn validate<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a str> {
    let text = validate_part(name, bytes, 0).map_err(|error| match std::str::from_utf8(bytes) {
        Ok(_) => error,
        // The flag is for the data, and this is another file.
        Err(_) => error.with_hint("convert the file to UTF-8"),
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The same for whole lines of a file that has so many lines before them.
pub(crate) fn validate_part<'a>(name: &str, bytes: &'a [u8], lines: u64) -> Result<&'a str> {
    let at_line = |offset| Place::line(name, lines + line_of(bytes, offset));
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let problem = format!("is not valid UTF-8 (character {} of the line)", column_of(bytes, at));
        Error::input(at_line(at), problem)
            .with_hint("name the encoding, as --encoding windows-1252, or convert the file to UTF-8")
    })?;
    let is_control = |byte: u8| (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7f;
    // Whole chunks first, without early exit: the compiler turns this into vector instructions.
    for (index, chunk) in bytes.chunks(4096).enumerate() {
        if chunk.iter().fold(false, |found, &byte| found | is_control(byte)) {
            let offset = chunk.iter().position(|&byte| is_control(byte)).unwrap_or(0);
            let problem = "holds a control character: not a text file";
            return Err(Error::input(at_line(index * 4096 + offset), problem)
                .with_hint("name the right --format, or remove the character"));
        }
    }
    for offset in memchr_iter(b'\r', bytes) {
        if bytes.get(offset + 1).is_some_and(|&next| next != b'\n') {
            return Err(Error::input(at_line(offset), "holds a carriage return that does not end a line")
                .with_hint("end lines with LF or CRLF"));
        }
    }
    Ok(text)
}

/// Refuses what cannot separate fields.
pub(crate) fn check_separator(key: &'static str, separator: Option<u8>) -> Result<()> {
    match separator {
        Some(byte) if byte != b'"' && (byte.is_ascii_punctuation() || matches!(byte, b' ' | b'\t')) => Ok(()),
        None => Ok(()),
        Some(_) => Err(Error::recipe(
            key,
            "must be one ASCII punctuation character, a space or a tab, and not a quote",
            "for example , or ;",
        )),
    }
}

/// The beginning of a text for detection: whole lines, unless the first line is longer than that.
pub(crate) fn head(text: &str) -> &str {
    if text.len() <= HEAD {
        return text;
    }
    let head = &text[..text.floor_char_boundary(HEAD)];
    head.rfind('\n').map_or(head, |end| &head[..=end])
}

/// Which of `candidates` stands in most lines outside quotes, the first on a tie; none if none occurs.
pub(crate) fn detect_separator<const N: usize>(text: &str, candidates: [u8; N], multiline: bool) -> Option<u8> {
    let counts = lines_with(text, candidates, multiline);
    let most = counts.iter().copied().max().filter(|&most| most > 0)?;
    counts.iter().position(|&count| count == most).map(|index| candidates[index])
}

/// In how many lines each of `candidates` stands outside quotes; `multiline` lets a quoted field span lines.
pub(crate) fn lines_with<const N: usize>(text: &str, candidates: [u8; N], multiline: bool) -> [usize; N] {
    let mut counts = [0; N];
    let mut in_this_line = [false; N];
    let mut quoted = false;
    let mut starts_field = true;
    for byte in text.bytes() {
        if byte == b'"' && (quoted || starts_field) {
            // A doubled quote closes and opens again at once.
            quoted = !quoted;
            starts_field = !quoted;
            continue;
        }
        if byte == b'\n' && (!quoted || !multiline) {
            in_this_line = [false; N];
            quoted = false;
        }
        let candidate = if quoted { None } else { candidates.iter().position(|&candidate| candidate == byte) };
        if let Some(index) = candidate
            && !in_this_line[index]
        {
            in_this_line[index] = true;
            counts[index] += 1;
        }
        starts_field = candidate.is_some() || matches!(byte, b' ' | b'\t' | b'\n');
    }
    counts
}

/// Reads the field at byte `at`: its text, and where the separator, line end or text end after it stands.
///
/// With the space as separator blanks before a field are skipped as well, so that a run of spaces separates once.
#[inline]
pub(crate) fn field(
    text: &str,
    at: usize,
    separator: u8,
    multiline: bool,
) -> std::result::Result<(Cow<'_, str>, usize), &'static str> {
    let bytes = text.as_bytes();
    let mut start = at;
    while start < bytes.len() && is_blank(bytes[start], separator) {
        start += 1;
    }
    if bytes.get(start) == Some(&b'"') {
        return quoted_field(text, start, separator, multiline);
    }
    let mut stop = start;
    while stop < bytes.len() && bytes[stop] != separator && bytes[stop] != b'\n' {
        stop += 1;
    }
    let mut end = stop;
    while end > start && is_blank(bytes[end - 1], separator) {
        end -= 1;
    }
    Ok((Cow::Borrowed(&text[start..end]), stop))
}

fn quoted_field(
    text: &str,
    start: usize,
    separator: u8,
    multiline: bool,
) -> std::result::Result<(Cow<'_, str>, usize), &'static str> {
    let bytes = text.as_bytes();
    let mut from = start + 1;
    let mut content = Cow::Borrowed("");
    loop {
        let rest = &bytes[from..];
        let found = if multiline { memchr(b'"', rest) } else { memchr2(b'"', b'\n', rest) };
        let quote = match found {
            Some(offset) if rest[offset] == b'"' => from + offset,
            _ => return Err(UNCLOSED),
        };
        if content.is_empty() {
            content = Cow::Borrowed(&text[from..quote]);
        } else {
            content.to_mut().push_str(&text[from..quote]);
        }
        if bytes.get(quote + 1) != Some(&b'"') {
            let mut stop = quote + 1;
            while stop < bytes.len() && bytes[stop] != separator && is_blank(bytes[stop], separator) {
                stop += 1;
            }
            return match bytes.get(stop) {
                Some(&byte) if byte != separator && byte != b'\n' => Err("text follows a closing quote"),
                _ => Ok((content, stop)),
            };
        }
        content.to_mut().push('"');
        from = quote + 2;
    }
}

/// Whether a field as it stands has blanks around it that do not belong to it; a run of spaces that separates is none.
#[inline]
pub(crate) fn is_trimmed(raw: &[u8], separator: u8) -> bool {
    let is_blank = |byte: Option<&u8>| byte.is_some_and(|&byte| byte == b' ' || byte == b'\t');
    separator != b' ' && (is_blank(raw.first()) || is_blank(raw.strip_suffix(b"\r").unwrap_or(raw).last()))
}

#[inline]
fn is_blank(byte: u8, separator: u8) -> bool {
    matches!(byte, b' ' | b'\r') || (byte == b'\t' && separator != b'\t')
}

/// Rows of fields, where a quoted field may span lines.
pub(crate) struct Rows<'a> {
    name: &'a str,
    text: &'a str,
    separator: u8,
    at: usize,
    line: u64,
    trimmed: u64,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str, separator: u8) -> Self {
        Self::from_line(name, text, separator, 0)
    }

    /// Rows of a part of a file that has so many lines before it.
    pub(crate) fn from_line(name: &'a str, text: &'a str, separator: u8, lines: u64) -> Self {
        Rows { name, text, separator, at: 0, line: lines, trimmed: 0 }
    }

    /// Where the next row begins; may be beyond the end.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// How many cells so far had blanks around them.
    pub(crate) fn trimmed(&self) -> u64 {
        self.trimmed
    }

    /// Reads the next row and returns the line it starts in, or none at the end. A blank line is one empty field.
    pub(crate) fn next(&mut self, row: &mut Vec<Cow<'a, str>>) -> Result<Option<u64>> {
        row.clear();
        if self.at >= self.text.len() {
            return Ok(None);
        }
        self.line += 1;
        let first_line = self.line;
        loop {
            let (field, stop) = field(self.text, self.at, self.separator, true)
                .map_err(|problem| bad_quote(self.name, self.line, problem))?;
            self.line += memchr_iter(b'\n', &self.text.as_bytes()[self.at..stop]).count() as u64;
            self.trimmed += u64::from(is_trimmed(&self.text.as_bytes()[self.at..stop], self.separator));
            if self.separator != b' ' || !field.is_empty() {
                row.push(field);
            }
            self.at = stop + 1;
            if self.text.as_bytes().get(stop) != Some(&self.separator) {
                if row.is_empty() {
                    row.push(Cow::Borrowed(""));
                }
                return Ok(Some(first_line));
            }
        }
    }
}

/// How much of a text is rows that end in it: a quote that is open at the end may be closed by what follows.
pub(crate) fn whole_rows(text: &str, separator: u8) -> usize {
    let (mut at, mut end) = (0, 0);
    while at < text.len() {
        match field(text, at, separator, true) {
            Ok((_, stop)) => {
                at = stop + 1;
                if text.as_bytes().get(stop) == Some(&b'\n') {
                    end = at;
                }
            }
            Err(UNCLOSED) => break,
            // Whoever reads the rows will say what is wrong.
            Err(_) => return text.len(),
        }
    }
    end
}

/// The error for a quote that is open or misplaced.
pub(crate) fn bad_quote(name: &str, line: u64, problem: &str) -> Error {
    Error::input(Place::line(name, line), problem).with_hint("inside a quoted field, write a quote twice")
}

/// Whether a row is a blank line.
pub(crate) fn is_blank_row(row: &[Cow<'_, str>]) -> bool {
    matches!(row, [only] if only.is_empty())
}

/// Writes terms with `separator` between them; those that would be read back differently are quoted.
pub(crate) fn write_fields<'a>(
    terms: impl Iterator<Item = &'a str>,
    separator: u8,
    out: &mut dyn Write,
) -> io::Result<()> {
    for (position, term) in terms.enumerate() {
        if position > 0 {
            out.write_all(&[separator])?;
        }
        if needs_quotes(term, separator) {
            write!(out, "\"{}\"", term.replace('"', "\"\""))?;
        } else {
            out.write_all(term.as_bytes())?;
        }
    }
    Ok(())
}

/// Every character that detection may take for a separator is hidden in quotes, and so is what looks like a comment,
/// like the markers of SPMF, or like a byte order mark.
fn needs_quotes(term: &str, separator: u8) -> bool {
    let is_special = |byte: u8| matches!(byte, b',' | b';' | b'\t' | b'|' | b'"' | b'\n' | b'\r') || byte == separator;
    term.is_empty()
        || matches!(term, "-1" | "-2")
        || term.starts_with([' ', '@', '\u{feff}'])
        || term.ends_with(' ')
        || term.bytes().any(is_special)
}

/// The number, from 1, of the line that holds the byte at `offset`.
pub(crate) fn line_of(bytes: &[u8], offset: usize) -> u64 {
    1 + memchr_iter(b'\n', &bytes[..offset.min(bytes.len())]).count() as u64
}

/// The number, from 1, of the character at `offset` in its line; bytes that are no UTF-8 count one by one.
pub(crate) fn column_of(bytes: &[u8], offset: usize) -> u64 {
    let before = &bytes[..offset.min(bytes.len())];
    let line = &before[memrchr(b'\n', before).map_or(0, |at| at + 1)..];
    1 + line.iter().filter(|&&byte| byte & 0xc0 != 0x80).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, separator: u8) -> Result<Vec<(u64, Vec<String>)>> {
        let mut rows = Rows::new("f", text, separator);
        let (mut row, mut all) = (Vec::new(), Vec::new());
        while let Some(line) = rows.next(&mut row)? {
            all.push((line, row.iter().map(|field| field.to_string()).collect()));
        }
        Ok(all)
    }

    fn check(text: &str, separator: u8, expected: &[(u64, &[&str])]) {
        let expected: Vec<(u64, Vec<String>)> =
            expected.iter().map(|(line, row)| (*line, row.iter().map(|field| field.to_string()).collect())).collect();
        assert_eq!(rows(text, separator).unwrap(), expected, "{text:?}");
    }

    #[test]
    fn rows_follow_csv() {
        check("a, b ,c\r\n\"x,\"\"y\"\"\" ,\n", b',', &[(1, &["a", "b", "c"]), (2, &["x,\"y\"", ""])]);
        check("\"a\nb\",c\n\nd,", b',', &[(1, &["a\nb", "c"]), (3, &[""]), (4, &["d", ""])]);
        check(" a   \"b c\" d \n \n", b' ', &[(1, &["a", "b c", "d"]), (2, &[""])]);
        check("a\t b\t\t\"\"\"\"", b'\t', &[(1, &["a", "b", "", "\""])]);
        check("5\" pipe;x", b';', &[(1, &["5\" pipe", "x"])]);
        check("\"\"\"\"\"\",é\u{3000}", b',', &[(1, &["\"\"", "é\u{3000}"])]);
    }

    #[test]
    fn bad_quotes_are_errors_with_their_line() {
        for (text, line) in [("a\n\"b\nc", 2), ("\"a\nb\"\n\"c\"d\n", 3), ("\"", 1)] {
            match rows(text, b',') {
                Err(Error::Input { place, .. }) => assert_eq!(place.line, Some(line), "{text:?}"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn separators_count_by_line_and_outside_quotes() {
        assert_eq!(lines_with("a,b,c\n\"x;y\",z\n\";\n1;2", [b'\t', b';', b','], false), [0, 1, 2]);
        assert_eq!(lines_with("a,b\n\"x;\ny;\",z\n", [b';', b','], true), [0, 2]);
        assert_eq!(detect_separator("a;b,c", [b'\t', b';', b','], false), Some(b';'));
        assert_eq!(detect_separator("a b", [b'\t', b';', b','], false), None);
    }

    #[test]
    fn text_is_checked_with_its_line() {
        for (bytes, line) in
            [(&b"a\nb\xff"[..], 2), (b"a\n\nb\0c", 3), (b"a\rb", 1), (b"\xff\xfea\0", 1), (b"ok\r\n\x1b[0m", 2)]
        {
            match validate("f", bytes) {
                Err(Error::Input { place, .. }) => assert_eq!(place.line, Some(line), "{bytes:?}"),
                other => panic!("{bytes:?}: {other:?}"),
            }
        }
        let mut long = vec![b'a'; 10_000];
        long[4999] = b'\n';
        long[9000] = 1;
        assert!(matches!(validate("f", &long), Err(Error::Input { place, .. }) if place.line == Some(2)));
        assert_eq!(validate("f", b"\xef\xbb\xbfa\tb\r\n\r").unwrap(), "a\tb\r\n\r");
    }
}
