//! Generalises records until they are k^m-anonymous: `apriori FILE K M [FANOUT] [--check]`.
//!
//! The hierarchy has FANOUT consecutive terms, by default 10, below each node. To the standard output: the NCP, how many
//! terms are generalised, the seconds that it took without reading and, with `--check`, how many sets of up to M nodes are in
//! fewer than K records, counted set by set. See lab/bench/apriori.py.

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

use disjoin::Unobserved;
use disjoin::data::{Hierarchy, Transactions};
use disjoin::protect::recoding::{AprioriParams, apriori};
use disjoin::read::{Options, read};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_checked = arguments.pop_if(|last| last == "--check").is_some();
    let (file, k, m, fanout) = match &arguments[..] {
        [file, k, m] => (file, k.parse()?, m.parse()?, 10),
        [file, k, m, fanout] => (file, k.parse()?, m.parse()?, fanout.parse()?),
        _ => return Err("usage: apriori FILE K M [FANOUT] [--check]".into()),
    };
    let (data, _) = read(Path::new(file), &Options::default())?;
    let hierarchy = Hierarchy::consecutive(&data.dictionary, fanout)?;

    let start = Instant::now();
    let cut = apriori(&data.records, &hierarchy, &AprioriParams::new(k, m), &Unobserved)?;
    let seconds = start.elapsed().as_secs_f64();
    print!("{:.5} {} {seconds:.3}", cut.ncp(&data.records, &hierarchy), cut.n_generalised());
    if is_checked {
        print!(" {}", violations(&cut.recoding(&hierarchy).apply(&data.records), k, m));
    }
    println!();
    Ok(())
}

/// How many sets of up to m groups are in fewer than k records, and in one.
fn violations(records: &Transactions, k: u32, m: u32) -> usize {
    (1..=m as usize)
        .map(|size| {
            let mut counts: HashMap<Vec<u32>, u32> = HashMap::new();
            for record in records.iter() {
                count(record, size, &mut Vec::new(), &mut counts);
            }
            counts.values().filter(|&&count| count < k).count()
        })
        .sum()
}

fn count(rest: &[u32], missing: usize, set: &mut Vec<u32>, counts: &mut HashMap<Vec<u32>, u32>) {
    if missing == 0 {
        match counts.get_mut(&set[..]) {
            Some(count) => *count += 1,
            None => drop(counts.insert(set.clone(), 1)),
        }
        return;
    }
    for (at, &group) in rest.iter().enumerate() {
        set.push(group);
        count(&rest[at + 1..], missing - 1, set, counts);
        set.pop();
    }
}
