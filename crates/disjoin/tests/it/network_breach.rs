//! Somebody who knows how sensitive values go together, against all ways to deal the values of a group. That would catch a state
//! that is counted twice, a weight of the wrong person, and a law that is read by the wrong codes.

use std::collections::BTreeMap;

use crate::tables::bytes_of;
use disjoin::attack::knowledge_breach::{GroupView, fitted, knowledge_breach};
use disjoin::attack::network_breach::{Law, Source, exact, network_breach, of_release, outside, probability};
use disjoin::data::Partition;
use disjoin::data::table::{Column, Role, Table};
use disjoin::knowledge::network::{Cpt, Fitted};
use disjoin::protect::break_merge::break_merge;
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::{SplitClaim, SplitTables};
use disjoin::verify::parse_split;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// All different orders of some values.
fn orders(values: &[u32]) -> Vec<Vec<u32>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut first: Vec<u32> = values.to_vec();
    first.sort_unstable();
    first.dedup();
    let mut all = Vec::new();
    for value in first {
        let mut rest = values.to_vec();
        rest.remove(rest.iter().position(|&other| other == value).unwrap());
        all.extend(orders(&rest).into_iter().map(|order| [&[value][..], &order].concat()));
    }
    all
}

/// The posterior of the first person: every way to deal every column to people, each as likely as its people are together.
fn by_enumeration(group: &GroupView, law: &dyn Fn(&[u32]) -> f64) -> BTreeMap<Vec<u32>, f64> {
    let spread = |counts: &Vec<(u32, u32)>| -> Vec<u32> {
        counts.iter().flat_map(|&(code, count)| std::iter::repeat_n(code, count as usize)).collect()
    };
    let mut ways: Vec<Vec<Vec<u32>>> = vec![Vec::new()];
    for counts in &group.counts {
        let columns = orders(&spread(counts));
        ways = ways
            .into_iter()
            .flat_map(|way| columns.iter().map(move |column| [&way[..], std::slice::from_ref(column)].concat()))
            .collect();
    }
    let person = |way: &[Vec<u32>], at: usize| -> Vec<u32> { way.iter().map(|column| column[at]).collect() };
    let mut posterior: BTreeMap<Vec<u32>, f64> = BTreeMap::new();
    let mut sum = 0.0;
    for way in &ways {
        let weight: f64 = (0..group.size as usize).map(|at| law(&person(way, at))).product();
        *posterior.entry(person(way, 0)).or_default() += weight;
        sum += weight;
    }
    posterior.values_mut().for_each(|weight| *weight /= sum);
    posterior
}

fn random_group(rng: &mut ChaCha8Rng, columns: usize, most: u32) -> GroupView {
    let size = rng.random_range(1..=most);
    let column = |rng: &mut ChaCha8Rng| {
        let mut counts = BTreeMap::new();
        (0..size).for_each(|_| *counts.entry(rng.random_range(0..4)).or_insert(0) += 1);
        counts.into_iter().collect()
    };
    GroupView { size, counts: (0..columns).map(|_| column(rng)).collect() }
}

#[test]
fn posteriors_are_those_of_all_ways_to_deal() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..150 {
        let columns = rng.random_range(1..=3);
        let group = random_group(&mut rng, columns, if columns == 3 { 4 } else { 5 });
        let weights: Vec<f64> = (0..64).map(|_| rng.random_range(0.01..1.0)).collect();
        let law = |codes: &[u32]| weights[codes.iter().fold(0, |at, &code| at * 4 + code as usize)];
        let expected = by_enumeration(&group, &law);
        let ours = exact(&group, law).unwrap();
        assert!((ours.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-9);
        for (codes, likely) in &ours {
            let theirs = expected.get(codes).copied().unwrap_or(0.0);
            assert!((likely - theirs).abs() < 1e-9, "round {round}: {codes:?} {likely} {theirs}");
        }
    }
}

/// If columns are independent by the law, it does not matter which law it is, and shares are all there is.
#[test]
fn an_independent_law_is_definition_3() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..100 {
        let group = random_group(&mut rng, 3, 5);
        let shares: Vec<Vec<f64>> = (0..3).map(|_| (0..4).map(|_| rng.random_range(0.1..1.0)).collect()).collect();
        let law = |codes: &[u32]| codes.iter().zip(&shares).map(|(&code, of)| of[code as usize]).product();
        let approximate = fitted(&group, law).unwrap();
        for (codes, likely) in exact(&group, law).unwrap() {
            let count = |(column, code): (usize, &u32)| {
                group.counts[column].iter().find(|(other, _)| other == code).map_or(0, |&(_, count)| count)
            };
            let product: f64 =
                codes.iter().enumerate().map(|at| f64::from(count(at)) / f64::from(group.size)).product();
            assert!((likely - product).abs() < 1e-9);
            let other = approximate.iter().find(|(other, _)| *other == codes).unwrap().1;
            assert!((other - product).abs() < 1e-9);
        }
    }
}

/// The approximation for groups that are too large comes nearer as they grow.
#[test]
fn larger_groups_are_nearer_to_the_approximation() {
    let law = |codes: &[u32]| if codes[0] == codes[1] { 0.4 } else { 0.1 };
    let far = |times: u32| {
        let counts = vec![vec![(0, 2 * times), (1, times)], vec![(0, times), (1, 2 * times)]];
        let group = GroupView { size: 3 * times, counts };
        let (ours, limit) = (exact(&group, law).unwrap(), fitted(&group, law).unwrap());
        let apart =
            |(codes, p): &(Vec<u32>, f64)| (p - limit.iter().find(|(other, _)| other == codes).unwrap().1).abs();
        ours.iter().map(apart).fold(0.0, f64::max)
    };
    assert!(far(1) > far(4) && far(4) > far(16) && far(16) < 0.005, "{} {} {}", far(1), far(4), far(16));
}

/// Groups of four; the second column repeats the first in nine of ten rows.
fn people(seed: u64, n: usize) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut rows: Vec<[u32; 3]> = Vec::new();
    for row in 0..n {
        let first = rng.random_range(0..4);
        let second = if rng.random_bool(0.9) { first } else { rng.random_range(0..4) };
        rows.push([row as u32 / 4, first, second]);
    }
    let column = |at: usize, name: &str, role| {
        let texts: Vec<String> = rows.iter().map(|row| format!("{name}{}", row[at])).collect();
        Column::words(name, role, texts.iter().map(|text| Some(text.as_str())))
    };
    let columns = vec![column(0, "q", Role::Quasi), column(1, "a", Role::Sensitive), column(2, "b", Role::Sensitive)];
    Table::new(n, columns, None)
}

fn split(table: &Table) -> SplitTables {
    let mut groups = Partition::default();
    (0..table.n_rows() as u32 / 4).for_each(|group| groups.push(&(4 * group..4 * group + 4).collect::<Vec<_>>()));
    let split = break_merge(table, &groups).unwrap();
    let claim = SplitClaim::new(&split, "break-merge", &[Criterion::KAnonymity { k: 4 }]);
    parse_split(&claim, "", &bytes_of(&split)).unwrap()
}

/// Who knows from others that the columns go together guesses better; the release by itself does not tell that.
#[test]
fn other_people_tell_what_the_release_hides() {
    let (table, others) = (people(3, 2000), people(4, 3000));
    let tables = split(&table);
    let alone = knowledge_breach(&tables, None).unwrap();
    let own = network_breach(&tables, &of_release(&tables, 0).unwrap(), None).unwrap();
    assert_eq!((own.source, own.rows, own.exact_groups, own.left_out), (Source::Release, 2000, 500, 0));
    let law = outside(&tables, &others, "others.csv").unwrap();
    let known = network_breach(&tables, &law, Some(0.9)).unwrap();
    assert_eq!((known.source, known.rows, known.arrows), (Source::Outside, 3000, 1));
    let mean = |breach: Option<disjoin::attack::knowledge_breach::Breach>| breach.unwrap().mean;
    assert!(mean(known.value_known) > mean(alone.value_known) + 0.3, "{known:?} {alone:?}");
    // Inside groups of four some of the dependency is left between groups.
    assert!(mean(own.value_known) < mean(known.value_known) - 0.1, "{own:?}");
    assert!(known.above > 0);

    // A law without arrows is what the tables say.
    let uniform = |at: usize| Cpt::known(&[], &[], &[vec![0.25; 4]]).map(|table| (at, table).1).unwrap();
    let network = Fitted::new(vec![uniform(0), uniform(1)]).unwrap();
    assert!((probability(&network, &[1, 2]) - 0.0625).abs() < 1e-12);
    let plain = network_breach(&tables, &Law { network, source: Source::Outside, rows: 1 }, None).unwrap();
    for (ours, theirs) in
        [(plain.group_known, alone.group_known), (plain.value_known.unwrap(), alone.value_known.unwrap())]
    {
        assert!((ours.worst - theirs.worst).abs() < 1e-9 && (ours.mean - theirs.mean).abs() < 1e-9);
    }
}

/// Rows of others in any order, with values that the release does not know, and without a column.
#[test]
fn others_are_read_by_names_and_texts() {
    let tables = split(&people(5, 400));
    let others = people(6, 800);
    let law = outside(&tables, &others, "o").unwrap();
    let mut order: Vec<usize> = (0..800).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(7));
    let turned = |column: &Column| {
        let mut texts: Vec<String> =
            order.iter().map(|&row| column.domain.text(column.codes[row]).to_owned()).collect();
        texts.push(String::from("unheard of"));
        Column::words(&column.name, Role::Sensitive, texts.iter().map(|text| Some(text.as_str())))
    };
    let columns = vec![turned(&others.columns[2]), turned(&others.columns[1])];
    let same = outside(&tables, &Table::new(801, columns, None), "o").unwrap();
    assert_eq!((same.rows, &same.network), (law.rows, &law.network));

    let lacking = Table::new(800, vec![others.columns[1].clone()], None);
    assert!(outside(&tables, &lacking, "o").unwrap_err().to_string().contains("no column b"));
    let strange = ["a", "b"].map(|name| Column::words(name, Role::Sensitive, [Some("unheard of")]));
    let error = outside(&tables, &Table::new(1, strange.to_vec(), None), "o").unwrap_err().to_string();
    assert!(error.contains("no row has values") && !error.contains("unheard"), "{error}");
}
