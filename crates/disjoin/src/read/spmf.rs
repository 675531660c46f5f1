//! SPMF text: integers between spaces, either one transaction a line, or one sequence a line whose itemsets end in `-1`
//! and which itself ends in `-2`.
//!
//! The itemsets of a sequence are united into one record: order is not part of a set-valued dataset. Lines that start
//! with `#` or `%` are comments, those with `@` metadata; `@ITEM=1=apple` names item 1. In a file that names items
//! every item must have a name, and before its first use: a number that stays a number could collide with a name.
//! Utilities, timestamps and any other non-integers are errors, and so is a line in the other form than the first.

use std::io::{self, Write};

use super::Options;
use super::builder::{Builder, Counts};
use crate::data::Dataset;
use crate::error::{Error, Place, Result};
use crate::observer::Observer;

/// Reads SPMF text.
pub(super) fn read(name: &str, text: &str, options: &Options, observer: &dyn Observer) -> Result<(Dataset, Counts)> {
    let mut builder = Builder::new(name, options.max_record_terms, observer);
    let mut names = std::collections::HashMap::new();
    let mut is_sequence = None;
    for (index, line) in text.lines().enumerate() {
        let number = index as u64 + 1;
        let fault = |problem: &str| Error::input(Place::line(name, number), problem);
        if let Some(metadata) = line.strip_prefix('@') {
            if let Some(item) = metadata.strip_prefix("ITEM=") {
                if is_sequence.is_some() {
                    return Err(fault("names an item after the first record"));
                }
                let (item, text) =
                    item.split_once('=').ok_or_else(|| fault("@ITEM needs a number, an equals sign and a name"))?;
                if names.insert(item, text).is_some() {
                    return Err(fault("names an item a second time"));
                }
            }
            continue;
        }
        if line.starts_with(['#', '%']) {
            continue;
        }
        let mut tokens = line.split_ascii_whitespace().peekable();
        if tokens.peek().is_some() {
            let ends_as_sequence = tokens.clone().any(|token| matches!(token, "-1" | "-2"));
            if *is_sequence.get_or_insert(ends_as_sequence) != ends_as_sequence {
                return Err(fault("mixes sequences (with -1 and -2) and plain transactions"));
            }
            if ends_as_sequence && tokens.clone().position(|token| token == "-2") != Some(tokens.clone().count() - 1) {
                return Err(fault("a sequence must end in -2, once"));
            }
        }
        for token in tokens.filter(|token| !matches!(*token, "-1" | "-2")) {
            if !token.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(fault("an item is not a non-negative integer").with_hint(
                    "SPMF items are integers; utilities and timestamps are not read; for named items use --format basket",
                ));
            }
            match names.get(token) {
                Some(text) => builder.term(text),
                None if names.is_empty() => builder.term(token),
                None => return Err(fault("an item has no @ITEM line though others have")),
            }
        }
        builder.end_record(number)?;
    }
    Ok(builder.finish())
}

/// Writes plain transactions of numbers from 1, with their names first.
pub(super) fn write(dataset: &Dataset, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "@CONVERTED_FROM_TEXT")?;
    for (id, term) in dataset.dictionary.iter().enumerate() {
        writeln!(out, "@ITEM={}={term}", id + 1)?;
    }
    for record in dataset.records.iter() {
        for (position, &term) in record.iter().enumerate() {
            write!(out, "{}{}", if position > 0 { " " } else { "" }, u64::from(term) + 1)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::testing::{check, check_fault, read_as, round_trip};
    use super::*;

    #[test]
    fn sequences_become_sets() {
        check("x.spmf", "2 -1 1 2 -1 -2\n# comment\n% too\n3 -1 -2\r\n", &[&["2", "1"], &["3"]]);
        check("x.dat", "1 2 -1 3 -1 -2\n4 -1 -2", &[&["1", "2", "3"], &["4"]]);
    }

    #[test]
    fn transactions_may_have_names() {
        check("x.spmf", "1 2 3\n3\n", &[&["1", "2", "3"], &["3"]]);
        let named = "@CONVERTED_FROM_TEXT\n@ITEM=1=apple\n@ITEM=2=a = b\n2 1\n1\n";
        check("x.txt", named, &[&["a = b", "apple"], &["apple"]]);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, line) in [
            ("1 -1 -2\n1 -1 2\n", 2),
            ("1 -1 -2\n1", 2),
            ("1 2\n3 -1 -2", 2),
            ("1 -2 3 -2", 1),
            ("1 -1 -2\n\n<1> 2 -1 -2", 3),
            ("1 2:6:3 3\n", 1),
            ("@ITEM=1=a\n1\n2\n", 3),
            ("@ITEM=1=a\n1\n@ITEM=2=b\n", 3),
            ("@ITEM=1=a\n@ITEM=1=b\n1", 2),
            ("@ITEM=1", 1),
        ] {
            check_fault("x.spmf", text, Some(line));
        }
        check_fault("x.spmf", "# nothing\n-2\n", None);
    }

    #[test]
    fn round_trips() {
        round_trip(Format::Spmf, "x.spmf", &Options::default());
        round_trip(Format::Spmf, "x", &read_as(Format::Spmf));
    }
}
