//! Tables of people: in classes, with sets or without, and split.

use disjoin::data::table::{Column, Role};
use disjoin::data::{Hierarchy, Partition, Table};
use disjoin::release::class_sets::{self, ClassSets};
use disjoin::release::generalized::{Associations, SetsClaim};
use disjoin::release::privacy_models::Distance;
use disjoin::release::{Criterion, Disassociated, Generalized, Header, Promise, Split, SplitClaim, TableClaim};

use super::disassociated::{parameters, roots};
use super::{dictionary, terms};
use crate::draw::Draw;
use crate::scratch::Files;

const WORDS: [&str; 6] = ["F", "M", "flu", "gout", "*", "1..2"];

/// A table in equivalence classes.
pub(crate) fn generalized(draw: &mut Draw<'_>) -> Files {
    let k = draw.number(2, 4);
    let table = table(draw, true);
    let partition = partition(draw, k, table.n_rows() as u32);
    let criteria = criteria(draw, k, false);
    let mut claim = TableClaim::new(&table, &partition, "mondrian", &criteria);
    if draw.chance(40) {
        let confidence = f64::from(draw.number(0, 11)) / 10.0;
        claim = claim.with_associations(Associations { confidence, support: draw.number(0, 4) });
    }
    let published = Generalized::new(&table, &partition);
    let mut data = Vec::new();
    published.write(&mut data).expect("memory can be written to");
    let mut files = Files::default();
    if draw.chance(90) {
        let (sets, told) = sets(draw, k, &published);
        let mut text = Vec::new();
        class_sets::write(&sets, &mut text).expect("memory can be written to");
        claim = claim.with_sets(told);
        files = files.with("sets.jsonl", text);
    }
    files.with("claim.json", claim.to_json().expect("a claim is JSON")).with("data.csv", data)
}

/// A split table.
pub(crate) fn split(draw: &mut Draw<'_>) -> Files {
    let k = draw.number(2, 4);
    let table = table(draw, false);
    let partition = partition(draw, k, table.n_rows() as u32);
    let criteria = criteria(draw, k, true);
    let made =
        if draw.chance(128) { Split::of_rows(&table, &partition) } else { Split::of_classes(&table, &partition) };
    let made = made.expect("there is a quasi-identifier and a sensitive column");
    let claim = SplitClaim::new(&made, draw.pick(&["break-merge", "anatomy"]), &criteria);
    let mut quasi = Vec::new();
    made.write_quasi(&mut quasi).expect("memory can be written to");
    let mut files = Files::default().with("quasi.csv", quasi);
    for (column, file) in table.sensitive().into_iter().zip(&claim.files) {
        let mut text = Vec::new();
        made.write_sensitive(column, &mut text).expect("memory can be written to");
        files = files.with(&file.file, text);
    }
    files.with("claim.json", claim.to_json().expect("a claim is JSON"))
}

/// People as a CSV file, with a header that recipes of the pipeline know: q0, q1, s0, s1 and set.
pub(crate) fn people(draw: &mut Draw<'_>) -> String {
    let mut text = String::from("q0,q1,s0,s1,set\n");
    let names = terms(draw, 6);
    for _ in 0..draw.number(4, 30) {
        let set: Vec<&str> = draw.some(&names[..4.min(names.len())], 90);
        let set: Vec<String> = set.iter().filter(|name| !name.contains('"')).map(|&name| name.to_owned()).collect();
        let (age, sex) = (20 + draw.number(0, 6), draw.pick(&["F", "M"]));
        let (first, second) = (draw.pick(&["x", "y", "z", ""]), draw.pick(&["u", "v", "w"]));
        text += &format!("{age},{sex},{first},{second},{}\n", set.join(";"));
    }
    text
}

fn table(draw: &mut Draw<'_>, with_other: bool) -> Table {
    let n_rows = draw.number(2, 24) as usize;
    let mut columns = Vec::new();
    for at in 0..draw.number(1, 3) {
        columns.push(column(draw, &format!("q{at}"), Role::Quasi, n_rows));
    }
    for at in 0..draw.number(u32::from(!with_other), 2) {
        let mut column = column(draw, &format!("s{at}"), Role::Sensitive, n_rows);
        if draw.chance(60) {
            let texts: Vec<&str> = column.domain.texts().iter().collect();
            let above = texts.iter().enumerate().map(|(at, &text)| (text, [["x", "*"], ["y", "*"]][at % 2]));
            let hierarchy = Hierarchy::from_paths(column.domain.texts(), above);
            hierarchy.into_iter().for_each(|hierarchy| column.domain.set_hierarchy(hierarchy));
        }
        columns.push(column);
    }
    if with_other && draw.chance(60) {
        columns.push(column(draw, "o", Role::Other, n_rows));
    }
    Table::new(n_rows, columns, None)
}

fn column(draw: &mut Draw<'_>, name: &str, role: Role, n_rows: usize) -> Column {
    let n = draw.number(1, WORDS.len() as u32) as usize;
    if draw.chance(100) {
        let cells = (0..n_rows).map(|_| (!draw.chance(8)).then(|| f64::from(draw.number(0, 12)) / 2.0));
        return Column::numbers(name, role, cells.collect::<Vec<_>>());
    }
    let cells = (0..n_rows).map(|_| (!draw.chance(8)).then(|| draw.pick(&WORDS[..n])));
    Column::words(name, role, cells.collect::<Vec<_>>())
}

/// Classes of k rows or more, or nearly always.
fn partition(draw: &mut Draw<'_>, k: u32, n_rows: u32) -> Partition {
    let rows: Vec<u32> = (0..n_rows).collect();
    let mut partition = Partition::default();
    let mut rest = &rows[..];
    while !rest.is_empty() {
        let size = if draw.chance(12) { draw.number(1, 3) } else { draw.number(k, k + 4) } as usize;
        let (class, more) = rest.split_at(if rest.len() < size + k as usize { rest.len() } else { size });
        partition.push(class);
        rest = more;
    }
    partition
}

fn criteria(draw: &mut Draw<'_>, k: u32, is_split: bool) -> Vec<Criterion> {
    let mut criteria = Vec::new();
    if draw.chance(230) {
        criteria.push(Criterion::KAnonymity { k });
    }
    for _ in 0..draw.number(0, 2) {
        let share = f64::from(draw.number(1, 10)) / 10.0;
        let distance = draw.pick(&[Distance::Ordered, Distance::Equal, Distance::Hierarchical]);
        criteria.push(match draw.number(0, 7) {
            0 => Criterion::DistinctDiversity { l: draw.number(1, 3) },
            1 => Criterion::EntropyDiversity { l: 1.0 + share },
            2 => Criterion::RecursiveDiversity { c: 3.0 * share, l: draw.number(1, 3) },
            3 => Criterion::Frequency { alpha: share },
            4 => Criterion::Closeness { t: share, distance },
            5 => Criterion::Likeness { beta: 3.0 * share, enhanced: draw.chance(128) },
            6 if is_split => Criterion::KnowledgeBreach { most: share },
            6 => Criterion::KAnonymity { k: draw.number(0, 4) },
            _ => Criterion::Background { t: share },
        });
    }
    criteria
}

/// Sets inside classes: of a class with any, at least k rows have one.
fn sets(draw: &mut Draw<'_>, k: u32, published: &Generalized<'_>) -> (ClassSets, SetsClaim) {
    let m = draw.number(1, 2);
    let names = terms(draw, 8);
    let dictionary = dictionary(&names);
    let (mut all, mut class_of_root) = (Vec::new(), Vec::new());
    for class in 0..published.n_classes() {
        if draw.chance(170) && published.rows(class).len() >= k as usize {
            let mut root = roots(draw, k, 1, names.len() as u32).remove(0);
            if let disjoin::release::Node::Simple(simple) = &mut root {
                simple.size = simple.size.min(published.rows(class).len() as u32);
            }
            all.push(root);
            class_of_root.push(class as u32);
        }
    }
    let records = all.iter().map(disjoin::release::Node::size).sum();
    let parameters = parameters(draw, k, m, &names);
    let promise = draw.pick(&[Promise::Published, Promise::AlgorithmAware]);
    let header = Header { k, m, records, occurrences: None };
    let sets = ClassSets { release: Disassociated { header, dictionary, roots: all }, class_of_root };
    (sets, SetsClaim { column: String::from("set"), parameters, promise, records })
}
