//! Basket text: one record a line, terms between separators; FIMI files and files of named items.
//!
//! What separates is found out by `readings.rs`, which refuses what can be read in two ways; a run of spaces separates once.
//! Quoted terms follow CSV but end in their line. Every line is data: there is no header and no comment.
//!
//! Blocks of whole lines are read in parallel, each with a dictionary of its own; the dictionaries are then merged in
//! the order of the blocks, which gives every term the id of its first appearance in the file, wherever the cuts are.

use std::io::{self, Write};

use memchr::memchr;
use rayon::prelude::*;

use super::builder::{Counts, check_count, too_long};
use super::readings::{check_shape, of_baskets};
use super::text::{bad_quote, field, is_trimmed, line_of, write_fields};
use super::{Options, Separated};
use crate::data::{Dataset, Dictionary, TermId, Transactions};
use crate::error::Result;
use crate::observer::Observer;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Small enough for two threads to share a file of some megabytes evenly, large enough for a merge to cost nothing.
const BLOCK: usize = 512 << 10;

/// Reads basket text; also says what separates its terms.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<Separated> {
    let separator = options.separator_or(|| of_baskets(name, text, options.format.is_some()))?;
    let (dataset, counts) = read_blocks(name, text, separator, options.max_record_terms, BLOCK, observer)?;
    if options.separator.is_none() {
        check_shape(name, separator, dataset.records.len(), dataset.records.n_incidences(), dataset.n_terms())?;
    }
    Ok((dataset, counts, separator))
}

/// Writes basket text: spaces between terms if no term holds a blank, else commas.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    let has_blanks = dataset.dictionary.iter().any(|term| term.contains([' ', '\t']));
    let separator = if has_blanks { b',' } else { b' ' };
    let mut line = Vec::new();
    for (position, record) in dataset.records.iter().enumerate() {
        for (place, &term) in record.iter().enumerate() {
            line.clear();
            let text = dataset.dictionary.text(term);
            write_fields(std::iter::once(text), separator, &mut line)?;
            // Quotes say that the blanks belong to the term: otherwise they might separate.
            if text.contains([' ', '\t']) && !line.starts_with(b"\"") {
                line = [b"\"", &line[..], b"\""].concat();
            }
            if place > 0 {
                out.write_all(&[separator])?;
            }
            out.write_all(&line)?;
        }
        // A reader must find the comma early, also if the first records have one term each.
        if has_blanks && position == 0 && record.len() == 1 {
            out.write_all(&[separator])?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The records of one block, coded with a dictionary of its own; `ends` has one entry for each non-empty record.
struct Block {
    dictionary: Dictionary,
    terms: Vec<TermId>,
    ends: Vec<usize>,
    counts: Counts,
}

/// What is wrong, and in which line of its block, counted from 0.
struct Fault {
    line: u64,
    /// None: the record is too long.
    quote: Option<&'static str>,
}

fn read_blocks(
    name: &str,
    text: &str,
    separator: u8,
    limit: usize,
    size: usize,
    observer: &dyn Observer,
) -> Result<(Dataset, Counts)> {
    let texts = cut(text, size);
    let done = AtomicUsize::new(0);
    let watched = |block: &&str| {
        observer.check();
        let parsed = parse(block, separator, limit);
        let done = done.fetch_add(block.len(), Ordering::Relaxed) + block.len();
        observer.progress(done as f64 / text.len() as f64);
        parsed
    };
    let parsed: Vec<_> = texts.par_iter().map(watched).collect();
    let mut blocks = Vec::with_capacity(parsed.len());
    for block in parsed {
        blocks.push(block.map_err(|fault| {
            let before: usize = texts[..blocks.len()].iter().map(|text| text.len()).sum();
            let line = line_of(text.as_bytes(), before) + fault.line;
            fault.quote.map_or_else(|| too_long(name, line, limit), |problem| bad_quote(name, line, problem))
        })?);
    }
    check_count(name, blocks.iter().map(|block| block.ends.len()).sum())?;
    Ok(merge(blocks, observer))
}

/// Cuts a text behind the first line end from each multiple of `size` on.
fn cut(mut text: &str, size: usize) -> Vec<&str> {
    let mut blocks = Vec::new();
    while !text.is_empty() {
        let rest = text.as_bytes().get(size..).unwrap_or_default();
        let end = memchr(b'\n', rest).map_or(text.len(), |offset| size + offset + 1);
        let (block, others) = text.split_at(end);
        blocks.push(block);
        text = others;
    }
    blocks
}

fn parse(text: &str, separator: u8, limit: usize) -> std::result::Result<Block, Fault> {
    let bytes = text.as_bytes();
    let mut block = Block {
        dictionary: Dictionary::default(),
        // The shortest term is a digit and a separator, but most are longer: a guess, not a bound.
        terms: Vec::with_capacity(text.len() / 4),
        ends: Vec::with_capacity(text.len() / 32),
        counts: Counts::default(),
    };
    // Small numbers, the usual terms of large files, are looked up by value and not by text: for each the id plus 1.
    let mut numbers: Vec<TermId> = Vec::new();
    let (mut at, mut line) = (0, 0);
    while at < bytes.len() {
        let first = block.terms.len();
        let mut empty_terms = 0;
        loop {
            let stop = match small_number(bytes, at, separator) {
                Some((value, stop)) if value < text.len() => {
                    if value >= numbers.len() {
                        numbers.resize(value + 1, 0);
                    }
                    if numbers[value] == 0 {
                        numbers[value] = block.dictionary.intern(&text[at..stop]) + 1;
                    }
                    block.terms.push(numbers[value] - 1);
                    stop
                }
                _ => {
                    let (term, stop) =
                        field(text, at, separator, false).map_err(|problem| Fault { line, quote: Some(problem) })?;
                    block.counts.trimmed_cells += u64::from(is_trimmed(&bytes[at..stop], separator));
                    if !term.is_empty() {
                        block.terms.push(block.dictionary.intern(&term));
                    } else if separator != b' ' {
                        empty_terms += 1;
                    }
                    stop
                }
            };
            at = stop + 1;
            if bytes.get(stop) != Some(&separator) {
                break;
            }
        }
        if block.terms.len() - first > limit {
            return Err(Fault { line, quote: None });
        }
        if block.terms.len() == first {
            block.counts.empty_records += 1;
        } else {
            block.counts.empty_terms += empty_terms;
            block.ends.push(block.terms.len());
        }
        line += 1;
    }
    Ok(block)
}

/// The number at `at` and where it ends, if it is written as a number always is: up to 7 digits, no leading zero.
#[inline]
fn small_number(bytes: &[u8], at: usize, separator: u8) -> Option<(usize, usize)> {
    let mut value = 0;
    let mut stop = at;
    while let Some(digit) = bytes.get(stop).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
        value = 10 * value + usize::from(digit);
        stop += 1;
        if stop - at > 7 {
            return None;
        }
    }
    let has_leading_zero = bytes.get(at) == Some(&b'0') && stop - at > 1;
    let ends_here = bytes.get(stop).is_none_or(|&byte| byte == separator || byte == b'\n');
    (stop > at && ends_here && !has_leading_zero).then_some((value, stop))
}

/// Joins blocks in order; the result does not show where one ends and the next begins.
fn merge(blocks: Vec<Block>, observer: &dyn Observer) -> (Dataset, Counts) {
    let mut dictionary = Dictionary::default();
    let renames: Vec<Vec<TermId>> =
        blocks.iter().map(|block| block.dictionary.iter().map(|term| dictionary.intern(term)).collect()).collect();
    let renamed = |(block, rename): (Block, Vec<TermId>)| {
        observer.check();
        rename_block(&block, &rename)
    };
    // Sorting the records is the costly part and needs the final ids, so it comes here and in parallel.
    let parts: Vec<_> = blocks.into_par_iter().zip(renames).map(renamed).collect();
    let mut parts = parts.into_iter();
    let (mut records, mut counts) = parts.next().unwrap_or_default();
    for (part, part_counts) in parts {
        observer.check();
        records.append(&part);
        counts.add(part_counts);
    }
    (Dataset { dictionary, records }, counts)
}

fn rename_block(block: &Block, rename: &[TermId]) -> (Transactions, Counts) {
    let mut records = Transactions::default();
    let mut counts = block.counts.clone();
    let mut record = Vec::new();
    let mut start = 0;
    for &end in &block.ends {
        record.clear();
        record.extend(block.terms[start..end].iter().map(|&term| rename[term as usize]));
        counts.duplicate_terms += records.push(&mut record) as u64;
        start = end;
    }
    (records, counts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, read_as, round_trip, texts};
    use super::super::{Format, read_bytes};
    use super::*;
    use crate::error::Error;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn separators_are_detected() {
        for text in ["a b\nb  c \n", "a,b\nb,c", "a;b\r\nb;c\r\n", "a\tb\nb\tc\n", "\u{feff}a , b\n,b,\"c\",,\n"] {
            check("x.basket", text, &[&["a", "b"], &["b", "c"]]);
        }
        check(
            "x.basket",
            "whole milk,5\" pipe\n\"a;b\",\"say \"\"x\"\"\"\n",
            &[&["whole milk", "5\" pipe"], &["a;b", "say \"x\""]],
        );
        let options = Options { separator: Some(b'|'), ..Options::default() };
        let (dataset, _) = read_bytes("x.dat", b"a,b|c d\n", &options).unwrap();
        assert_eq!(texts(&dataset), [["a,b", "c d"]]);
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let (dataset, intake) = read_bytes("x.dat", b"\n3,1,3\n,,\n1,,2,\n  \n1", &Options::default()).unwrap();
        assert_eq!(texts(&dataset), [vec!["3", "1"], vec!["1", "2"], vec!["1"]]);
        assert_eq!((intake.records, intake.empty_records, intake.empty_terms, intake.duplicate_terms), (3, 3, 2, 1));
        assert_eq!(intake.bytes, 20);
    }

    #[test]
    fn numbers_and_texts_share_one_dictionary() {
        check(
            "x.dat",
            "7 07 \"7\" 007 7\n12345678901 0 \"0\"\r\n0\r\n",
            &[&["7", "07", "007"], &["12345678901", "0"], &["0"]],
        );
    }

    #[test]
    fn faults_name_their_line() {
        check_fault("x.dat", "a,b\n\"c,d\ne\"", Some(2));
        check_fault("x.dat", "a b\n\n\"c\"d e\n", Some(3));
        check_fault("x.dat", "\n \n", None);
        let limited = Options { max_record_terms: 2, ..Options::default() };
        let error = read_bytes("x.dat", b"a b\n1 2 3\n", &limited).unwrap_err();
        assert!(matches!(&error, Error::Input { place, .. } if place.line == Some(2)));
        assert!(error.hint().is_some_and(|hint| hint.contains("--max-record-terms")));
        let mut late = "1 2 3\n".repeat(20_000);
        late.push_str("4 5,6\n");
        check_fault("x.dat", &late, Some(20_001));
        check("x.dat", &late.replace("5,6", "\"5,6\"")[114_000..], &{
            let mut expected = vec![&["1", "2", "3"][..]; 1000];
            expected.push(&["4", "5,6"]);
            expected
        });
    }

    #[test]
    fn blocks_do_not_show() {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let pieces = ["1", "17", "900", "07", "é", "\"a b\"", "\"q\"\"\"", " ", " ", " ", "\n", "\n", "\r\n", "x"];
        for separator in [b' ', b','] {
            for _ in 0..300 {
                let n = rng.random_range(0..60);
                let mut text: String = (0..n).map(|_| pieces[rng.random_range(0..pieces.len())]).collect();
                if separator == b',' {
                    text = text.replace(' ', ",");
                }
                let whole = read_blocks("x", &text, separator, 9, usize::MAX, &crate::observer::Unobserved);
                for size in [0, 1, 3, 10] {
                    match (&whole, read_blocks("x", &text, separator, 9, size, &crate::observer::Unobserved)) {
                        (Ok((a, counts)), Ok((b, counts_in_blocks))) => {
                            assert_eq!(*counts, counts_in_blocks);
                            assert_eq!(a.records, b.records);
                            assert!(a.dictionary.iter().eq(b.dictionary.iter()));
                        }
                        (Err(a), Err(b)) => assert_eq!(a.to_string(), b.to_string()),
                        _ => panic!("blocks of {size} differ: {text:?}"),
                    }
                }
            }
        }
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Basket, "x.basket", &Options::default());
        round_trip(Format::Basket, "x.txt", &read_as(Format::Basket));
    }
}
