//! How bytes become text: UTF-8, UTF-16, and the encodings that were used before them.
//!
//! Bytes that are UTF-8 are text as they are, and nothing is copied. Otherwise a byte order mark decides, or zeros in every second byte
//! (UTF-16 without a mark), or the first line that is not ASCII, with what follows it up to 64 KiB: if that is UTF-8 the file is damaged further
//! down, else the encoding is detected by the letters (the crate chardetng). What was detected is told, with the encodings that would
//! give other letters; too little to go by is refused.
//!
//! Promises:   what a stream and a whole file are read as is the same; a file that begins as UTF-8 is never read as something else
//! Assumes:    nothing. Latin-1 is read as Windows-1252, which has it in it but for control characters
//! Cost:       one look for bytes that are not ASCII where the file is UTF-8; else one copy
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/messy.rs`

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Decoder, DecoderResult, UTF_8, UTF_16BE, UTF_16LE};
use serde::{Serialize, Serializer};

use super::text::{HEAD, column_of, line_of, validate_part};
use crate::error::{Error, Place, Result};

/// An encoding of text, by the names that the web uses: utf-8, utf-16, latin1, windows-1252, shift_jis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding(&'static encoding_rs::Encoding);

impl Encoding {
    /// What all but old files are in.
    pub const UTF_8: Encoding = Encoding(UTF_8);
}

impl FromStr for Encoding {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        encoding_rs::Encoding::for_label(text.trim().as_bytes()).map(Encoding).ok_or_else(|| {
            Error::recipe(
                "input.encoding",
                "is not the name of an encoding",
                "for example utf-8, utf-16, latin1 or windows-1250",
            )
        })
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.name().to_ascii_lowercase())
    }
}

impl Serialize for Encoding {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The encoding of a text, and how it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) encoding: Encoding,
    /// Nobody said it, and no mark does.
    pub(super) is_detected: bool,
    /// Encodings that would give other letters, where it was detected.
    pub(super) others: Vec<Encoding>,
}

impl Known {
    fn sure(encoding: &'static encoding_rs::Encoding) -> Self {
        Known { encoding: Encoding(encoding), is_detected: false, others: Vec::new() }
    }

    pub(super) fn is_utf8(&self) -> bool {
        self.encoding == Encoding::UTF_8
    }
}

/// The bytes as text without a byte order mark, and the encoding they were in.
pub(super) fn decode<'a>(name: &str, bytes: &'a [u8], asked: Option<Encoding>) -> Result<(Cow<'a, str>, Known)> {
    let fault = match asked.filter(|encoding| *encoding != Encoding::UTF_8) {
        Some(_) => None,
        None => match validate_part(name, bytes, 0) {
            Ok(text) => return Ok((Cow::Borrowed(text.strip_prefix('\u{feff}').unwrap_or(text)), Known::sure(UTF_8))),
            Err(error) => Some(error),
        },
    };
    let known = match known(name, bytes, true, asked)? {
        known if known.is_utf8() => return Err(fault.unwrap_or(Error::Internal("UTF-8 is read as UTF-8"))),
        known => known,
    };
    let mut text = String::new();
    Transcoder::new(known.encoding).put(name, bytes, true, (&mut text, 0))?;
    // What was detected wrongly is told as what it is not.
    validate_part(name, text.as_bytes(), 0).map_err(|error| fault.filter(|_| known.is_detected).unwrap_or(error))?;
    Ok((Cow::Owned(text), known))
}

/// Where the first line begins that has a byte beyond ASCII; the end if there is none.
fn first_line_beyond_ascii(bytes: &[u8]) -> usize {
    let first = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
    memchr::memrchr(b'\n', &bytes[..first]).map_or(0, |at| at + 1)
}

/// The encoding of bytes: of the beginning of a file, or of whole lines further down after which there was nothing but ASCII.
fn known(name: &str, bytes: &[u8], is_beginning: bool, asked: Option<Encoding>) -> Result<Known> {
    let marked = encoding_rs::Encoding::for_bom(bytes).map(|(encoding, _)| encoding).filter(|_| is_beginning);
    match (asked, marked) {
        (Some(asked), Some(marked)) if asked.0 != marked && !(is_utf16(asked.0) && is_utf16(marked)) => {
            let problem = format!("begins with the mark of {}, and {asked} was asked for", Encoding(marked));
            return Err(Error::input(Place::file(name), problem)
                .with_hint(format!("leave --encoding out, or say --encoding {}", Encoding(marked))));
        }
        (_, Some(marked)) => return Ok(Known::sure(marked)),
        (Some(asked), None) => return Ok(Known::sure(asked.0)),
        (None, None) => {}
    }
    if let Some(found) = utf16_by_zeros(&bytes[..bytes.len().min(HEAD)]).filter(|_| is_beginning) {
        return Ok(Known { is_detected: true, ..Known::sure(found) });
    }
    detect(name, bytes, first_line_beyond_ascii(bytes))
}

fn is_utf16(encoding: &'static encoding_rs::Encoding) -> bool {
    encoding == UTF_16LE || encoding == UTF_16BE
}

/// Most texts have a zero in one byte of most pairs if they are UTF-16, and none if they are not.
fn utf16_by_zeros(head: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let zeros = |from: usize| head.iter().skip(from).step_by(2).filter(|&&byte| byte == 0).count();
    let (first, second, pairs) = (zeros(0), zeros(1), head.len() / 2);
    match () {
        () if pairs == 0 => None,
        () if 10 * second > 4 * pairs && 20 * first < pairs => Some(UTF_16LE),
        () if 10 * first > 4 * pairs && 20 * second < pairs => Some(UTF_16BE),
        () => None,
    }
}

/// What is compared with what was detected: encodings that use the same bytes for other letters.
const NEIGHBOURS: [&encoding_rs::Encoding; 5] = [
    encoding_rs::WINDOWS_1252,
    encoding_rs::WINDOWS_1250,
    encoding_rs::WINDOWS_1254,
    encoding_rs::WINDOWS_1257,
    encoding_rs::MACINTOSH,
];

/// So many characters beyond ASCII tell an encoding, if no word has letters of both kinds.
const ENOUGH: usize = 10;

/// By the letters; the window is the same in a stream.
fn detect(name: &str, bytes: &[u8], start: usize) -> Result<Known> {
    let window = &bytes[start..bytes.len().min(start + HEAD)];
    let is_cut = start + window.len() < bytes.len();
    match std::str::from_utf8(window) {
        Ok(_) => return Ok(Known::sure(UTF_8)),
        Err(error) if is_cut && error.error_len().is_none() => return Ok(Known::sure(UTF_8)),
        // What is UTF-8 before the fault is no accident.
        Err(error) if !window[..error.valid_up_to()].is_ascii() => return Ok(Known::sure(UTF_8)),
        Err(_) => {}
    }
    // A line that is cut may end within a character.
    let end = if is_cut { memchr::memrchr(b'\n', window).map_or(window.len(), |at| at + 1) } else { window.len() };
    let window = &window[..end];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(window, true);
    let found = detector.guess(None, Utf8Detection::Deny);
    let text = found.decode_without_bom_handling_and_without_replacement(window);
    let is_text = |text: &Cow<'_, str>| !text.chars().any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r'));
    let Some(text) = text.filter(is_text).filter(|text| tells(text)) else { return Err(unclear(name, bytes)) };
    let differs = |encoding: &&&'static encoding_rs::Encoding| {
        let other = encoding.decode_without_bom_handling_and_without_replacement(window);
        **encoding != found && other.filter(is_text).is_some_and(|other| other != text && is_words(&other))
    };
    let others = NEIGHBOURS.iter().filter(differs).map(|encoding| Encoding(encoding)).collect();
    Ok(Known { encoding: Encoding(found), is_detected: true, others })
}

/// Whether there is enough to go by: a word with letters of both kinds, or many that are not ASCII.
fn tells(text: &str) -> bool {
    let is_mixed = |word: &str| {
        word.chars().any(|c| c.is_ascii_alphabetic()) && word.chars().any(|c| !c.is_ascii() && c.is_alphabetic())
    };
    text.split(|c: char| !c.is_alphanumeric()).any(is_mixed) || text.chars().filter(|c| !c.is_ascii()).count() >= ENOUGH
}

/// Whether all that is not ASCII are letters.
fn is_words(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii() || c.is_alphabetic())
}

/// The error for bytes that are not UTF-8, and could be anything else.
fn unclear(name: &str, bytes: &[u8]) -> Error {
    let at = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
    let problem = format!(
        "is not valid UTF-8 (character {} of the line), and too few such characters tell the encoding",
        column_of(bytes, at)
    );
    Error::input(Place::line(name, line_of(bytes, at)), problem)
        .with_hint("name the encoding, as --encoding windows-1252, or convert the file to UTF-8")
}

/// Turns bytes into UTF-8, piece by piece.
pub(super) struct Transcoder {
    encoding: Encoding,
    decoder: Decoder,
}

impl Transcoder {
    pub(super) fn new(encoding: Encoding) -> Self {
        Transcoder { encoding, decoder: encoding.0.new_decoder_with_bom_removal() }
    }

    /// Adds a piece to a text that has so many lines before it; `is_last` if nothing follows.
    pub(super) fn put(
        &mut self,
        name: &str,
        mut bytes: &[u8],
        is_last: bool,
        (text, lines): (&mut String, u64),
    ) -> Result<()> {
        loop {
            let room = self.decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or(0).min(1 << 20);
            text.reserve(room.max(16));
            let (result, read) = self.decoder.decode_to_string_without_replacement(bytes, text, is_last);
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => return Ok(()),
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    let (line, column) =
                        (lines + line_of(text.as_bytes(), text.len()), column_of(text.as_bytes(), text.len()));
                    let problem = format!("is not valid {} (character {column} of the line)", self.encoding);
                    return Err(Error::input(Place::line(name, line), problem)
                        .with_hint("name another encoding with --encoding, or repair the line"));
                }
            }
        }
    }
}

/// A text on its way in, whose encoding is not known before something beyond ASCII is met.
pub(super) enum Incoming {
    /// All was ASCII, or nothing was read yet.
    Open(Option<Encoding>),
    /// Nothing is to be done.
    Utf8(Known),
    /// Another encoding.
    Other(Known, Box<Transcoder>),
}

impl Incoming {
    /// What is known in the end.
    pub(super) fn known(&self) -> Known {
        match self {
            Incoming::Open(_) => Known::sure(UTF_8),
            Incoming::Utf8(known) | Incoming::Other(known, _) => known.clone(),
        }
    }

    /// How many bytes must be at hand to find the encoding out, if those after `from` are the first that are not plain ASCII.
    pub(super) fn wants(&self, bytes: &[u8], from: usize) -> Option<usize> {
        let Incoming::Open(asked) = self else { return None };
        let is_odd = asked.is_some() || !bytes[from..].is_ascii() || bytes[from..].contains(&0);
        is_odd.then(|| first_line_beyond_ascii(bytes) + HEAD + 1)
    }

    /// Finds it out by bytes that are all that is left, or as many as were wanted.
    pub(super) fn decide(&mut self, name: &str, bytes: &[u8], is_beginning: bool) -> Result<()> {
        let Incoming::Open(asked) = self else { return Ok(()) };
        let known = known(name, bytes, is_beginning, *asked)?;
        *self = match known.is_utf8() {
            true => Incoming::Utf8(known),
            false => Incoming::Other(known.clone(), Box::new(Transcoder::new(known.encoding))),
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], asked: Option<&str>) -> Result<(String, Known)> {
        decode("f", bytes, asked.map(|label| label.parse().unwrap())).map(|(text, known)| (text.into_owned(), known))
    }

    fn utf16(text: &str, is_big: bool) -> Vec<u8> {
        text.encode_utf16().flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
    }

    #[test]
    fn marks_zeros_and_letters_tell_the_encoding() {
        let latin = encoding_rs::WINDOWS_1252.encode("name;sjúkdómur\nJürgen;Grippe\nJosé;Übelkeit\n").0.into_owned();
        let polish = encoding_rs::WINDOWS_1250
            .encode("imię;choroba\nŁukasz;grypa\nZdzisław;ból głowy\nŚcibor;angina\n")
            .0
            .into_owned();
        let russian = encoding_rs::WINDOWS_1251.encode("имя;болезнь\nИван;грипп\nМария;ангина\n").0.into_owned();
        for (bytes, expected, is_detected) in [
            ("a;é\n".as_bytes().to_vec(), "utf-8", false),
            ("\u{feff}a;é\n".as_bytes().to_vec(), "utf-8", false),
            (utf16("\u{feff}a;é\n", false), "utf-16le", false),
            (utf16("\u{feff}a;é\n", true), "utf-16be", false),
            (utf16("id,item\n1,flu\n", false), "utf-16le", true),
            (utf16("id,item\n1,flu\n", true), "utf-16be", true),
            (latin, "windows-1252", true),
            (polish, "windows-1250", true),
            (russian, "windows-1251", true),
        ] {
            let (text, known) = read(&bytes, None).unwrap();
            assert_eq!((known.encoding.to_string().as_str(), known.is_detected), (expected, is_detected), "{text}");
            assert!(!text.starts_with('\u{feff}'));
        }
        assert_eq!(read(b"M\xfcller\n", None).unwrap().0, "Müller\n");
        assert_eq!(read(b"M\xfcller\n", Some("latin1")).unwrap().0, "Müller\n");
        let (text, known) = read(b"Ma\xf1ana\n", None).unwrap();
        assert_eq!(text, "Mañana\n");
        assert!(known.others.iter().any(|other| other.to_string() == "windows-1250"), "{known:?}");
    }

    #[test]
    fn what_is_damaged_or_unclear_is_refused_with_its_place() {
        for (bytes, asked, expected) in [
            (&b"a b\nc \xff\xfe\n"[..], None, "f:2: is not valid UTF-8 (character 3 of the line), and too few"),
            ("é\nab\u{e9}".as_bytes(), Some("utf-16le"), "f:1: is not valid utf-16le"),
            (&[b"\xc3\xa9\nab", &b"\xe9z\n"[..]].concat(), None, "f:2: is not valid UTF-8 (character 3 of the line)"),
            (b"ab\n\xe9z\n", Some("utf-8"), "f:2: is not valid UTF-8 (character 1 of the line)"),
            (b"\xff\xfea\0b", None, "f:1: is not valid utf-16le"),
            ("\u{feff}a".as_bytes(), Some("latin1"), "f: begins with the mark of utf-8"),
            (b"a\0\0b\n", None, "f:1: holds a control character"),
        ] {
            let error = read(bytes, asked).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
            assert!(error.hint().is_some());
        }
        assert!("klingon".parse::<Encoding>().is_err());
    }
}
