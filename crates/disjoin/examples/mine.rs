//! Prints the K itemsets of the greatest support: `mine FILE K [--repeat N]`.
//!
//! To the standard output a line for each itemset: its support, a tab, its terms. To the standard error the milliseconds
//! that mining took, without reading; with `--repeat`, the least of N.

use std::error::Error;
use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;

use disjoin::inspect::itemsets::{Mining, top_k};
use disjoin::read::{Options, read};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (file, k, repeat) = match arguments[..] {
        [file, k] => (file, k.parse()?, 1),
        [file, k, "--repeat", n] => (file, k.parse()?, n.parse()?),
        _ => return Err("usage: mine FILE K [--repeat N]".into()),
    };
    let (data, _) = read(Path::new(file), &Options::default())?;

    let mut itemsets = Vec::new();
    let mut least = f64::INFINITY;
    for _ in 0..repeat {
        let start = Instant::now();
        itemsets = top_k(&data.records, data.n_terms(), &Mining::top(k));
        least = least.min(start.elapsed().as_secs_f64() * 1000.0);
    }
    eprintln!("{least:.2}");

    let mut out = stdout().lock();
    for itemset in itemsets {
        let terms: Vec<&str> = itemset.terms.iter().map(|&term| data.dictionary.text(term)).collect();
        writeln!(out, "{}\t{}", itemset.support, terms.join(" "))?;
    }
    Ok(())
}
