//! Figures 5, 6 and 8 to 10: how long it takes to learn a network, and to split a table, by the number of rows.

use std::time::Instant;

use disjoin::data::table::{Column, Role, Table as Rows};
use disjoin::generate::people::{People, people};
use disjoin::knowledge::network::{Coded, Missing, ics};
use disjoin::protect::break_merge::{break_merge, identical_rows};
use disjoin::protect::tabular::{Method, Params};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, read_table};
use disjoin::{Error, Result};

use super::FOURTEEN;
use super::adult::{bytes_of, criteria};
use crate::estimate::Estimate;
use crate::judge::Limit::LessThan;
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};
use crate::papers::Given;

const SIZES: [f64; 5] = [20_000.0, 40_000.0, 60_000.0, 80_000.0, 100_000.0];

/// Each time is the mean of so many.
const TIMES: usize = 5;

const QUASI: [&str; 3] = ["age", "sex", "race"];
const SENSITIVE: [&str; 3] = ["workclass", "marital-status", "class"];

pub(super) fn figure_5(given: &Given) -> Result<Page> {
    let limit = claim("a network of 100,000 rows with one sensitive column takes less than 1.2 seconds", "below 1.2 s");
    learning(given, &SENSITIVE[..1], limit, 1.2)
}

pub(super) fn figure_6(given: &Given) -> Result<Page> {
    let limit = claim("a network of 100,000 rows with three sensitive columns takes nearly 1.7 seconds", "1.7 s");
    learning(given, &SENSITIVE, limit, 1.7)
}

pub(super) fn figure_8(given: &Given) -> Result<Page> {
    let adult = adult(given, &SENSITIVE)?;
    let data = "Adult with all 14 columns (adult14_disc.csv), repeated up to the number of rows: age, sex and race are quasi-identifiers as they \
                stand, work class, marital status and salary class are sensitive, the others are left out; there is no zip code in it. ";
    splitting(&|size| Ok(repeated(&adult, size)), data, "breaking 100,000 rows takes less than 5 seconds")
}

pub(super) fn figure_9(_: &Given) -> Result<Page> {
    let data = "Generated people: age, sex and region are quasi-identifiers, the disease is sensitive. ";
    splitting(&|rows| generated(rows, false), data, "breaking the disease data takes less than 5 seconds")
}

pub(super) fn figure_10(_: &Given) -> Result<Page> {
    let data = "Generated people: age, sex and region are quasi-identifiers; the disease is sensitive, and so is a salary class, which every \
                third of the people has above the limit. ";
    splitting(&|rows| generated(rows, true), data, "breaking the salary data takes less than 5 seconds")
}

/// How long ICS takes, as Weka has it by default.
fn learning(given: &Given, sensitive: &[&str], limit: Claim, most: f64) -> Result<Page> {
    let adult = adult(given, sensitive)?;
    let (mut seconds, mut arrows) = (Vec::new(), Vec::new());
    for size in SIZES {
        let rows = repeated(&adult, size as usize);
        let columns: Vec<usize> =
            (0..rows.columns.len()).filter(|&at| rows.columns[at].role != Role::Identifier).collect();
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..TIMES {
            let start = Instant::now();
            let data = Coded::from_table(&rows, &columns, Missing::OwnValue)?;
            found = ics::learn(&data, &ics::Options::default())?.network.edges().len();
            times.push(start.elapsed().as_secs_f64());
        }
        seconds.push(Estimate::mean(&times));
        arrows.push(found as f64);
    }
    let table = Table::at("rows", &SIZES).timed("seconds", seconds).column("arrows", arrows);
    let data = format!(
        "Adult (adult14_disc.csv), repeated up to the number of rows: age, sex and race, and of the sensitive columns {}; there is no zip code \
         in it. ICS as in Weka, separating sets of up to two columns; rows are coded and the network is learned, mean of five; reading is not \
         counted. The paper repeats rows so that every class has 1,000.",
        sensitive.join(", ")
    );
    let svg = table.lines("Time to learn a network", "seconds", &["seconds"]);
    let last = table.cell(SIZES.len() - 1, "seconds");
    let claims =
        vec![limit.timed().case("", [check("seconds for 100,000 rows, on another machine", last, LessThan(most))])];
    Ok(Page { title: "time to learn a network", data, table, svg, claims })
}

/// How long Break-Merge takes.
fn splitting(made: &dyn Fn(usize) -> Result<Rows>, data: &str, said: &'static str) -> Result<Page> {
    let (mut seconds, mut groups) = (Vec::new(), Vec::new());
    for size in SIZES {
        let rows = made(size as usize)?;
        let params = Params { method: Method::LeastLoss, criteria: criteria(5.0), most_removed: 1.0, seed: 1 };
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..TIMES {
            let start = Instant::now();
            let classes = identical_rows(&rows, &params)?;
            let split = break_merge(&rows, &classes)?;
            bytes_of(&split)?;
            times.push(start.elapsed().as_secs_f64());
            found = classes.len();
        }
        seconds.push(Estimate::mean(&times));
        groups.push(found as f64);
    }
    let table = Table::at("rows", &SIZES).timed("seconds", seconds).column("groups", groups);
    let svg = table.lines("Time to split", "seconds", &["seconds"]);
    let last = table.cell(SIZES.len() - 1, "seconds");
    let claims = vec![
        claim(said, "below 5 s")
            .timed()
            .case("", [check("seconds for 100,000 rows, on another machine", last, LessThan(5.0))]),
    ];
    let data = format!(
        "{data}Rows that show the same are a group, of 5 at least and with 2 values of each sensitive column. Grouping, splitting and writing to \
         memory, mean of five; reading is not counted."
    );
    Ok(Page { title: "time to split a table", data, table, svg, claims })
}

fn adult(given: &Given, sensitive: &[&str]) -> Result<Rows> {
    let role = |name: &&str, role| (name.to_string(), role);
    let roles = QUASI.iter().map(|name| role(name, Role::Quasi));
    let roles = roles.chain(sensitive.iter().map(|name| role(name, Role::Sensitive))).collect();
    let declared = Declared { roles, rest: Some(Role::Identifier), ..Declared::default() };
    Ok(read_table(&given.file(FOURTEEN), &Options::default(), &declared)?.0)
}

/// The rows of a table again and again, up to a number.
fn repeated(rows: &Rows, n: usize) -> Rows {
    let mut columns = rows.columns.clone();
    for column in &mut columns {
        let codes = (0..n).map(|row| column.codes[row % column.codes.len()]).collect();
        column.codes = codes;
    }
    Rows::new(n, columns, None)
}

fn generated(rows: usize, with_salary: bool) -> Result<Rows> {
    let mut columns = people(&People { rows: rows as u64, quasi: 3, ..People::default() })?.columns;
    if columns.len() != 4 {
        return Err(Error::Internal("three quasi-identifiers and a disease"));
    }
    if with_salary {
        let cell = |row: usize| Some(if row.is_multiple_of(3) { ">50k" } else { "<=50k" });
        columns.push(Column::words("salary", Role::Sensitive, (0..rows).map(cell)));
    }
    Ok(Rows::new(rows, columns, None))
}
