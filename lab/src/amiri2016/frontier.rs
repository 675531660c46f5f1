//! Both numbers at once: is there a release that loses less information than Hilbert's and tells less?
//!
//! The size of classes trades one for the other, so at the same k each method stands somewhere else. A class of more rows than
//! asked for keeps the promise: the two methods may be asked for a larger k.

use disjoin::Result;
use disjoin::protect::tabular::Method;

use super::sweeps::{Made, SETTINGS};
use super::{Asked, Data};
use crate::estimate::Estimate;
use crate::judge::Limit::LessThan;
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};

/// The methods of the paper, and in how many multiples of k they are tried, the smallest first.
const OURS: [Method; 2] = [Method::KPrimacy, Method::BetaPrimacy];
const TIMES: [f64; 10] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0];

/// A release of Hilbert, and those of one of the two methods that tell less, with the smallest k.
struct Met {
    hilbert: Made,
    /// For each of [`OURS`] the k, and what was made.
    ours: [Option<(u32, Made)>; 2],
}

pub(super) fn page(data: &[Data]) -> Result<Page> {
    let (mut names, mut all) = (Vec::new(), Vec::new());
    // The claim is about real data; of the generated ones too few rows can be published.
    for data in data.iter().take(1) {
        for asked in SETTINGS.map(|(k, beta, t)| Asked { k, beta: Some(beta), t: Some(t) }) {
            let Asked { k, beta, t } = asked;
            let name =
                format!("{}, k = {k}, beta = {}, t = {}", data.name, beta.unwrap_or(f64::NAN), t.unwrap_or(f64::NAN));
            eprintln!("  {name}");
            let Some(hilbert) = Made::new(data, Method::Hilbert, asked)? else { continue };
            let mut ours = [None, None];
            for (method, ours) in OURS.into_iter().zip(&mut ours) {
                *ours = smallest_that_tells_less(data, method, asked, &hilbert)?;
            }
            names.push(name);
            all.push(Met { hilbert, ours });
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let column = |of: &dyn Fn(&Met) -> f64| all.iter().map(of).collect::<Vec<f64>>();
    let mut table = Table::named("data, asked", &names)
        .column("hilbert, GCP", column(&|met| met.hilbert.gcp()))
        .column("hilbert, privacy loss", column(&|met| met.hilbert.loss.mean));
    for (at, method) in OURS.into_iter().enumerate() {
        let of = |value: &dyn Fn(&(u32, Made)) -> f64| column(&|met| met.ours[at].as_ref().map_or(f64::NAN, value));
        table = table
            .column(format!("{}, its k", method.name()), of(&|(k, _)| f64::from(*k)))
            .column(format!("{}, GCP", method.name()), of(&|(_, made)| made.gcp()))
            .column(format!("{}, privacy loss", method.name()), of(&|(_, made)| made.loss.mean));
    }
    let drawn = ["hilbert, GCP", "k-primacy, GCP", "beta-primacy, GCP"];
    let places: Vec<f64> = (1..).take(all.len()).map(f64::from).collect();
    let svg = drawn
        .iter()
        .fold(Table::at("row of the table", &places), |drawn, name| drawn.column(*name, table.get(name).to_vec()));
    let svg = svg.lines("GCP of releases that tell no more than Hilbert's", "GCP", &drawn);
    Ok(Page {
        title: "less lost and less told than by Hilbert, at once",
        data: TEXT.into(),
        svg,
        claims: claims(&table),
        table,
    })
}

/// The release with the smallest k from the one asked for on whose privacy loss is below Hilbert's.
fn smallest_that_tells_less(data: &Data, method: Method, asked: Asked, hilbert: &Made) -> Result<Option<(u32, Made)>> {
    for times in TIMES {
        let k = (f64::from(asked.k) * times).round() as u32;
        let Some(made) = Made::new(data, method, Asked { k, ..asked })? else { continue };
        if made.loss.mean < hilbert.loss.mean {
            return Ok(Some((k, made)));
        }
    }
    Ok(None)
}

fn claims(table: &Table) -> Vec<Claim> {
    let said = [
        "k-primacy is better than Hilbert in information loss and in privacy loss",
        "beta-primacy is better than Hilbert in information loss and in privacy loss",
    ];
    let judged = |(said, method): (&'static str, Method)| {
        claim(said, "-").cases(0..table.rows().len(), |row| {
            let below = |of: &str| {
                let difference = table.cell(row, &format!("{}, {of}", method.name())).value
                    - table.cell(row, &format!("hilbert, {of}")).value;
                check(
                    format!("{of} less that of Hilbert, at the smallest k' that tells less"),
                    Estimate::exact(difference),
                    LessThan(0.0),
                )
            };
            (table.rows()[row].clone(), vec![below("GCP"), below("privacy loss")])
        })
    };
    said.into_iter().zip(OURS).map(judged).collect()
}

const TEXT: &str = "\
The size of classes trades information loss for privacy loss, and Hilbert's classes are larger than k asks for, so at the same k \
the methods stand at different places: the pages on k, beta and distance say who is lower in one number. Here each of the two \
methods is asked for the smallest k' from k on (k times 1, 1.5, 2, 3, 4, 6, 8, 12, 16 or 24) at which its *privacy loss* is below \
Hilbert's, all else equal; a release with k' has the promise with k. It is better in both if its *GCP* is below Hilbert's too. A \
dash: none of these k' tells less.";
