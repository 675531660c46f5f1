//! Learns a Bayesian network: `network_adult FILE [hc|tabu|ics|pc]`.
//!
//! FILE is CSV with a header; every column is taken as words. Prints BIC, edges and times.

use std::io::BufRead;
use std::path::Path;
use std::time::Instant;

use disjoin::Error;
use disjoin::data::table::Role;
use disjoin::knowledge::network::{Coded, Missing, Network, Score, hill_climb, ics, pc_stable, score};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, read_table};

fn main() -> disjoin::Result<()> {
    let start = Instant::now();
    let file = std::env::args().nth(1).unwrap_or_default();
    let algorithm = std::env::args().nth(2).unwrap_or_else(|| String::from("tabu"));
    let path = Path::new(&file);
    let opened = std::fs::File::open(path).map_err(|source| Error::io(path, "open", source))?;
    let mut header = String::new();
    std::io::BufReader::new(opened).read_line(&mut header).map_err(|source| Error::io(path, "read", source))?;
    let roles = header.trim().split(',').map(|name| (name.to_owned(), Role::Other)).collect();
    let (table, _) = read_table(path, &Options::default(), &Declared { roles, ..Declared::default() })?;
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    let data = Coded::from_table(&table, &columns, Missing::DropRow)?;
    println!("read     {:8.1} ms, {} distinct rows", start.elapsed().as_secs_f64() * 1e3, data.weights().len());

    let start = Instant::now();
    let network = learn(&data, &algorithm)?;
    println!("learned  {:8.1} ms", start.elapsed().as_secs_f64() * 1e3);
    println!("BIC {:.3}, {} edges", score::total(&data, Score::Mdl, &network)?, network.edges().len());
    for (parent, child) in network.edges() {
        println!("{} -> {}", table.columns[parent].name, table.columns[child].name);
    }
    Ok(())
}

fn learn(data: &Coded, algorithm: &str) -> disjoin::Result<Network> {
    Ok(match algorithm {
        "hc" => hill_climb::learn(data, &hill_climb::Options { patience: 0, ..Default::default() })?.network,
        "tabu" => hill_climb::learn(data, &hill_climb::Options::default())?.network,
        "ics" => ics::learn(data, &ics::Options::default())?.network,
        "pc" => pc_stable::learn(data, &pc_stable::Options::default())?.network,
        other => return Err(Error::recipe("algorithm", format!("{other} is none"), "hc, tabu, ics or pc")),
    })
}
