//! Tables III to XIII of the paper, cell by cell, against what follows from its Table II.

use disjoin::Result;
use disjoin::attack::knowledge_breach::group_and_value_known;
use disjoin::data::table::{Column, Role, Table as Rows};
use disjoin::knowledge::network::cpt::Risk;
use disjoin::knowledge::network::{Coded, Cpt, Missing, ics};
use disjoin::protect::break_merge::{break_merge, identical_rows};
use disjoin::protect::tabular::{Method, Params};
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::SplitTables;
use disjoin::report::network_svg;

use super::adult::read;
use crate::estimate::Estimate;
use crate::judge::Limit::{AtLeast, AtMost};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};
use crate::papers::Given;

/// Table II: age, gender, zip code, government, marital status, salary.
const TABLE_II: [[&str; 6]; 10] = [
    ["30-50", "F", "13-23", "State", "Never", "<=50"],
    ["30-50", "F", "13-23", "State", "Never", "<=50"],
    ["30-50", "F", "13-23", "Federal", "Married", "<=50"],
    ["30-50", "F", "13-23", "Private", "Divorced", "<=50"],
    ["30-50", "F", "13-23", "Local", "Separated", ">50"],
    ["51-90", "M", "24-58", "Private", "Married", ">50"],
    ["51-90", "M", "24-58", "Self", "Married", "<=50"],
    ["51-90", "M", "24-58", "Private", "Married", ">50"],
    ["51-90", "M", "24-58", "Private", "Divorced", "<=50"],
    ["51-90", "M", "24-58", "Federal", "Never", "<=50"],
];
const AGE: usize = 0;
const GENDER: usize = 1;
const ZIP: usize = 2;
const GOVERNMENT: usize = 3;
const MARITAL: usize = 4;
const SALARY: usize = 5;

/// A printed cell: the given values, the value, what is printed.
type Printed = (Vec<(usize, &'static str)>, (usize, &'static str), f64);

/// Near enough for three printed decimals.
const NEAR: f64 = 0.0006;

pub(super) fn page(_: &Given) -> Result<Page> {
    let rows = rows();
    let names = ["III", "IV", "V", "VI", "VII", "VII, corrected", "VIII", "IX", "X", "XI", "XII", "XIII"];
    let mut counted = Vec::new();
    for (cells, added) in [
        (table_iii(), 0.0),
        (table_iv(), 0.0),
        (table_vi(), 0.0),
        (table_vii(false), 1.0),
        (table_vii(true), 1.0),
        (table_viii(), 0.0),
    ] {
        let mut agree = 0;
        for (given, told, printed) in &cells {
            agree += usize::from((probability(&rows, given, *told, added)? - printed).abs() < NEAR);
        }
        counted.push((cells.len(), agree));
    }
    counted.insert(2, table_v());
    let split = split()?;
    counted.push(table_ix(&split));
    counted.extend(
        [(MARITAL, &TABLE_X[..]), (SALARY, &TABLE_XI), (GOVERNMENT, &TABLE_XII)]
            .map(|(column, printed)| counts(&split, column, printed)),
    );
    counted.push(table_xiii(&split));
    let table = Table::named("table", &names)
        .column("printed cells", counted.iter().map(|(cells, _)| *cells as f64).collect())
        .column("as ours", counted.iter().map(|(_, agree)| *agree as f64).collect());
    let said = [
        "Table III: gender by age and zip code",
        "Table IV: zip code by age",
        "Table V: levels of risk, by where they begin and end",
        "Table VI: salary by government and marital status",
        "Table VII: marital status by government, as printed",
        "Table VII with its misprints put right",
        "Table VIII: government by all other columns",
        "Table IX: quasi-identifiers and groups",
        "Table X: marital status by group",
        "Table XI: salary by group",
        "Table XII: government by group",
        "Table XIII: what is left to guess of Jessica",
    ];
    let judged = |(said, &(cells, agree)): (&'static str, &(usize, usize))| -> Claim {
        let theirs = if said.contains("put right") { "as put right" } else { "as printed" };
        let share = Estimate::exact(agree as f64 / cells as f64);
        claim(said, theirs).case("", [check("share of its cells that are so, to three decimals", share, AtLeast(1.0))])
    };
    let claims = said.into_iter().zip(&counted).map(judged).collect();
    let svg = table.bars("Printed cells that follow from Table II", "cells");
    let data = "Ten people. III, IV and VI have nothing added to counts, VII has 1; X to XII are counts, XIII is Definition 5. Of V \
                the ends of each level are cells, and whether they belong to it; of IX rows are. IX to XII are what Break-Merge publishes, and XIII follows \
                from that. Of X to XII a line of a published table that is not printed counts as a cell as well.";
    Ok(Page { title: "tables III to XIII", data: data.into(), table, svg, claims })
}

fn rows() -> Rows {
    let column = |at: usize| Column::words("c", Role::Other, TABLE_II.iter().map(|row| Some(row[at])));
    Rows::new(10, (0..6).map(column).collect(), None)
}

fn code(rows: &Rows, (column, text): (usize, &str)) -> u32 {
    rows.columns[column].domain.texts().get(text).unwrap_or(u32::MAX)
}

fn probability(rows: &Rows, given: &[(usize, &str)], told: (usize, &str), added: f64) -> Result<f64> {
    let mut columns: Vec<usize> = given.iter().map(|(column, _)| *column).collect();
    columns.push(told.0);
    let data = Coded::from_table(rows, &columns, Missing::DropRow)?;
    let parents: Vec<usize> = (0..given.len()).collect();
    let table = Cpt::estimate(&data, given.len(), &parents, added)?;
    let configuration: Vec<u32> = given.iter().map(|&pair| code(rows, pair)).collect();
    Ok(table.probability(&configuration, code(rows, told)))
}

fn table_iii() -> Vec<Printed> {
    let rows = [("13-23", "30-50", 1.0), ("13-23", "51-90", 0.5), ("24-58", "30-50", 0.5), ("24-58", "51-90", 0.0)];
    let both = |(zip, age, female): (&'static str, &'static str, f64)| {
        let given = vec![(AGE, age), (ZIP, zip)];
        [(given.clone(), (GENDER, "F"), female), (given, (GENDER, "M"), 1.0 - female)]
    };
    rows.into_iter().flat_map(both).collect()
}

fn table_iv() -> Vec<Printed> {
    let both = |(age, low): (&'static str, f64)| {
        [(vec![(AGE, age)], (ZIP, "13-23"), low), (vec![(AGE, age)], (ZIP, "24-58"), 1.0 - low)]
    };
    [("30-50", 1.0), ("51-90", 0.0)].into_iter().flat_map(both).collect()
}

fn table_vi() -> Vec<Printed> {
    let rows = [
        ("State", "Never", 1.0),
        ("Federal", "Divorced", 0.5),
        ("Private", "Divorced", 1.0),
        ("Local", "Separated", 0.0),
        ("Private", "Married", 0.0),
        ("Self", "Married", 1.0),
        ("Self", "Separated", 0.5),
    ];
    let both = |(government, marital, low): (&'static str, &'static str, f64)| {
        let given = vec![(GOVERNMENT, government), (MARITAL, marital)];
        [(given.clone(), (SALARY, "<=50"), low), (given, (SALARY, ">50"), 1.0 - low)]
    };
    rows.into_iter().flat_map(both).collect()
}

fn table_vii(is_corrected: bool) -> Vec<Printed> {
    let heads = match is_corrected {
        true => ["Never", "Married", "Divorced", "Separated"],
        false => ["Married", "Never", "Divorced", "Separated"],
    };
    let (federal, local) = match is_corrected {
        true => (0.167, [0.2, 0.2, 0.2, 0.4]),
        false => (0.125, [0.25; 4]),
    };
    let rows = [
        ("State", [0.5, 0.167, 0.167, 0.167]),
        ("Federal", [0.333, 0.333, 0.167, federal]),
        ("Private", [0.125, 0.375, 0.375, 0.125]),
        ("Local", local),
        ("Self", [0.2, 0.4, 0.2, 0.2]),
    ];
    let cells = |(government, row): (&'static str, [f64; 4])| {
        heads.into_iter().zip(row).map(move |(head, p)| (vec![(GOVERNMENT, government)], (MARITAL, head), p))
    };
    rows.into_iter().flat_map(cells).collect()
}

/// The printed ends of each level: the lower one and what is just below the upper one belong to it, the upper one does not.
fn table_v() -> (usize, usize) {
    let printed =
        [(0.0, 0.2, Risk::Low), (0.2, 0.5, Risk::Moderate), (0.5, 0.75, Risk::High), (0.75, 1.0, Risk::VeryHigh)];
    let agree = |&(from, to, level): &(f64, f64, Risk)| {
        let is_in = Risk::of(from) == level && Risk::of(to - 1e-9) == level;
        usize::from(is_in) + usize::from(Risk::of(to) != level)
    };
    (2 * printed.len(), printed.iter().map(agree).sum())
}

fn table_viii() -> Vec<Printed> {
    let (first, second) = (("30-50", "F", "13-23"), ("51-90", "M", "24-58"));
    let rows = [
        (first, "Never", "<=50", "State"),
        (first, "Married", "<=50", "Federal"),
        (first, "Separated", ">50", "Local"),
        (second, "Never", "<=50", "Federal"),
        (second, "Divorced", "<=50", "Private"),
    ];
    let cells = |((age, gender, zip), marital, salary, one): ((_, _, _), _, _, &'static str)| {
        let given = vec![(AGE, age), (GENDER, gender), (ZIP, zip), (MARITAL, marital), (SALARY, salary)];
        ["State", "Federal", "Private", "Local", "Self"]
            .map(|government| (given.clone(), (GOVERNMENT, government), f64::from(u8::from(government == one))))
    };
    rows.into_iter().flat_map(cells).collect()
}

/// Table II, split by Break-Merge and read as anybody would.
fn split() -> Result<SplitTables> {
    let mut rows = rows();
    for (at, column) in rows.columns.iter_mut().enumerate() {
        column.role = if at < GOVERNMENT { Role::Quasi } else { Role::Sensitive };
        column.name = NAMES[at].into();
    }
    let criteria = vec![Criterion::KAnonymity { k: 5 }, Criterion::DistinctDiversity { l: 2 }];
    let params = Params { method: Method::LeastLoss, criteria, most_removed: 0.0, seed: 1 };
    read(&break_merge(&rows, &identical_rows(&rows, &params)?)?, 5.0)
}

/// Rows of Table IX that are published so, with these groups.
fn table_ix(split: &SplitTables) -> (usize, usize) {
    let printed = |row: usize| if row < 5 { (["30-50", "F", "13-23"], 1) } else { (["51-90", "M", "22-58"], 2) };
    let columns = &split.quasi.columns;
    let is_so = |row: usize| {
        let (cells, group) = printed(row);
        let shown = |(column, text): (&Column, &str)| column.domain.texts().get(text) == Some(column.codes[row]);
        split.group_of[row] + 1 == group && columns.iter().zip(cells).all(shown)
    };
    let n = columns.first().map_or(0, |column| column.codes.len());
    (TABLE_II.len(), (0..n.min(TABLE_II.len())).filter(|&row| is_so(row)).count())
}

const NAMES: [&str; 6] = ["Age", "Gender", "Zipcode", "Government", "Marital-status", "Salary"];

/// An arrow between two columns.
type Arrow = (usize, usize);

/// What ICS finds between columns that are taken in this order, and the plot.
fn network(title: &str, columns: &[usize]) -> Result<(Vec<Arrow>, String)> {
    let data = Coded::from_table(&rows(), columns, Missing::DropRow)?;
    let network = ics::learn(&data, &ics::Options { max_cardinality: 0, ..ics::Options::default() })?.network;
    let names: Vec<String> = columns.iter().map(|&column| NAMES[column].to_owned()).collect();
    let same = vec![0.0; network.edges().len()];
    let arrows = network.edges().into_iter().map(|(parent, child)| (columns[parent], columns[child])).collect();
    Ok((arrows, network_svg::network(title, &names, &network, &same)))
}

/// A figure of the paper: the orders of columns that are tried, and the arrows that it draws.
fn drawn(title: &'static str, orders: &[(&'static str, &[usize])], arrows: &[Arrow]) -> Result<Page> {
    let (mut found, mut svg) = (Vec::new(), String::new());
    for (_, columns) in orders {
        let (of_order, plot) = network(title, columns)?;
        found.push(of_order);
        svg = plot;
    }
    let both = |of_order: &Vec<Arrow>| of_order.iter().filter(|arrow| arrows.contains(arrow)).count() as f64;
    let table = Table::named("order of columns", &orders.iter().map(|order| order.0).collect::<Vec<_>>())
        .column("arrows drawn", found.iter().map(|_| arrows.len() as f64).collect())
        .column("arrows found", found.iter().map(|of_order| of_order.len() as f64).collect())
        .column("both", found.iter().map(both).collect());
    Ok(Page {
        title,
        data: "Table II, networks by ICS with separating sets of size 0. The plot is of the last order.".into(),
        claims: vec![claim_of(&table)],
        table,
        svg,
    })
}

fn claim_of(table: &Table) -> Claim {
    claim("the network is as drawn", "-").cases(0..table.rows().len(), |row| {
        let [drawn, found, both] = ["arrows drawn", "arrows found", "both"].map(|name| table.cell(row, name).value);
        let other = Estimate::exact(drawn + found - 2.0 * both);
        (table.rows()[row].clone(), vec![check("arrows that are drawn or found, and not both", other, AtMost(0.0))])
    })
}

pub(super) fn figure_2(_: &Given) -> Result<Page> {
    let orders: [(&str, &[usize]); 2] =
        [("that of Table II", &[AGE, GENDER, ZIP]), ("zip code before gender", &[AGE, ZIP, GENDER])];
    drawn("the network of quasi-identifiers", &orders, &[(AGE, ZIP), (AGE, GENDER), (ZIP, GENDER)])
}

pub(super) fn figure_3(_: &Given) -> Result<Page> {
    let arrows = [(GOVERNMENT, MARITAL), (GOVERNMENT, SALARY), (MARITAL, SALARY)];
    drawn("the network of sensitive columns", &[("that of Table II", &[GOVERNMENT, MARITAL, SALARY])], &arrows)
}

pub(super) fn figure_4(_: &Given) -> Result<Page> {
    let to_government = [AGE, GENDER, ZIP, MARITAL, SALARY].map(|parent| (parent, GOVERNMENT));
    let others = [(AGE, GENDER), (AGE, ZIP), (GENDER, ZIP), (MARITAL, SALARY)];
    let arrows = [&to_government[..], &others].concat();
    drawn(
        "the network of all columns",
        &[("that of Table II", &[AGE, GENDER, ZIP, GOVERNMENT, MARITAL, SALARY])],
        &arrows,
    )
}

const TABLE_X: [(usize, &str, usize); 7] = [
    (1, "Married", 1),
    (1, "Never", 2),
    (1, "Divorced", 1),
    (1, "Separated", 1),
    (2, "Married", 3),
    (2, "Never", 1),
    (2, "Divorced", 1),
];
const TABLE_XI: [(usize, &str, usize); 4] = [(1, "<=50", 4), (1, ">50", 1), (2, "<=50", 3), (2, ">50", 2)];
const TABLE_XII: [(usize, &str, usize); 7] = [
    (1, "State", 2),
    (1, "Federal", 1),
    (1, "Private", 1),
    (1, "Local", 1),
    (2, "Private", 3),
    (2, "Self", 1),
    (2, "Federal", 1),
];

/// How many people of a group have a value, as it is published.
fn count(split: &SplitTables, group: usize, column: usize, value: &str) -> usize {
    let Some(values) = split.sensitive.iter().find(|values| values.column == NAMES[column]) else { return 0 };
    let code = values.domain.texts().get(value);
    let of_value = values.counts.iter().filter(|line| line.group as usize + 1 == group && Some(line.code) == code);
    of_value.map(|line| line.count as usize).sum()
}

/// Lines that are printed or published, and those that are both.
fn counts(split: &SplitTables, column: usize, printed: &[(usize, &str, usize)]) -> (usize, usize) {
    let agree = printed.iter().filter(|(group, value, n)| count(split, *group, column, value) == *n).count();
    let published =
        split.sensitive.iter().find(|values| values.column == NAMES[column]).map_or(0, |values| values.counts.len());
    (printed.len() + published - agree, agree)
}

fn table_xiii(split: &SplitTables) -> (usize, usize) {
    let printed = [("Never", 0.32, 0.08), ("Married", 0.16, 0.04), ("Divorced", 0.16, 0.04), ("Separated", 0.16, 0.04)];
    let ours = |marital: &str, salary: &str| {
        let known = [(GOVERNMENT, "State"), (MARITAL, marital), (SALARY, salary)];
        group_and_value_known(5, &known.map(|(column, value)| count(split, 1, column, value) as u32), 0)
    };
    let near = |(marital, low, high): &(&str, f64, f64)| {
        usize::from((ours(marital, "<=50") - low).abs() < NEAR)
            + usize::from((ours(marital, ">50") - high).abs() < NEAR)
    };
    (8, printed.iter().map(near).sum())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn cells_that_are_printed_wrong_are_found() {
        let split = split().unwrap();
        let mut wrong = TABLE_X;
        wrong[1].2 = 3;
        assert_eq!((counts(&split, MARITAL, &TABLE_X), counts(&split, MARITAL, &wrong)), ((7, 7), (8, 6)));
        // A line that is published and not printed.
        assert_eq!(counts(&split, MARITAL, &TABLE_X[1..]), (7, 6));
        assert_eq!((table_ix(&split), table_xiii(&split)), ((10, 5), (8, 8)));
        let page = drawn("said", &[("as it is", &[GOVERNMENT, MARITAL, SALARY])], &[(SALARY, MARITAL)]).unwrap();
        assert_eq!(page.claims[0].verdict(), Verdict::Differs);
    }
}
