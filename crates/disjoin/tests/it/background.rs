//! Background knowledge: what is believed beforehand, what is believed after a release, and classes that make both alike.
//!
//! * *Slow*: beliefs by their sums over all pairs of rows, posteriors over all arrangements, clusters by the definition of
//!   complete linkage. They would catch a window that is too narrow, a wrong factor, and a pair that was not looked at.
//! * *Worked numbers* of the specification.
//! * *Controls*: an attack wins where a release tells something, and not where it tells nothing.

use std::io::Write;

use disjoin::attack::ClassView;
use disjoin::attack::against_prior::{Before, gain};
use disjoin::attack::background_knowledge::{Crowd, Inference, exact, loss, omega, posteriors, sinkhorn};
use disjoin::data::Partition;
use disjoin::data::table::{Column, Role};
use disjoin::data::{Hierarchy, Table};
use disjoin::knowledge::background::{Beliefs, Estimator, Knowledge, beliefs, jensen_shannon};
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::release::privacy_models::{Criterion, distinct};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

// ---- Beliefs ------------------------------------------------------------------------------------------------------------

/// Two columns of numbers, one of words, one of words with a hierarchy; and a sensitive one. Some values are missing.
fn table(rng: &mut ChaCha8Rng, n: usize) -> Table {
    let mut pick = |n_values: u32| rng.random_bool(0.9).then(|| rng.random_range(0..n_values));
    let mut words = |name: &str, role: Role, n_values: u32| {
        let cells: Vec<Option<String>> = (0..n).map(|_| pick(n_values).map(|value| format!("{name}{value}"))).collect();
        Column::words(name, role, cells.iter().map(Option::as_deref))
    };
    let (plain, mut tree, sensitive) =
        (words("w", Role::Quasi, 3), words("t", Role::Quasi, 6), words("s", Role::Sensitive, 4));
    let hierarchy = Hierarchy::uniform(tree.domain.texts(), 2).unwrap();
    tree.domain.set_hierarchy(hierarchy);
    let mut numbers = |name: &str, n_values: u32| {
        Column::numbers(name, Role::Quasi, (0..n).map(|_| pick(n_values).map(f64::from)).collect::<Vec<_>>())
    };
    let (one, two) = (numbers("a", 20), numbers("b", 5));
    Table::new(n, vec![plain, one, sensitive, tree, two], None)
}

fn distance(column: &Column, a: u32, b: u32) -> f64 {
    let missing = column.domain.missing();
    match (column.domain.numbers(), column.domain.hierarchy()) {
        _ if a == b => 0.0,
        _ if a == missing || b == missing => 1.0,
        (Some(numbers), _) => {
            let range = numbers[numbers.len() - 1] - numbers[0];
            (numbers[a as usize] - numbers[b as usize]).abs() / range
        }
        (None, Some(hierarchy)) => match hierarchy.lowest_common(a, b) {
            None => 1.0,
            // All leaves of a uniform tree of six are below one root; heights by the longest way down.
            Some(node) => {
                let height = |node: u32| {
                    let below = (0..hierarchy.n_terms() as u32).filter(|&leaf| hierarchy.is_ancestor(node, leaf));
                    below.map(|leaf| hierarchy.depth(leaf) - hierarchy.depth(node)).max().unwrap_or(0)
                };
                let whole = (0..hierarchy.n_nodes() as u32).map(height).max().unwrap();
                f64::from(height(node)) / f64::from(whole)
            }
        },
        _ => 1.0,
    }
}

/// Overall shares, of which a hundredth is in every belief.
fn overall(table: &Table) -> Vec<f64> {
    let sensitive = table.sensitive()[0];
    let mut shares = vec![0.0; sensitive.domain.n_codes()];
    sensitive.codes.iter().for_each(|&code| shares[code as usize] += 1.0 / table.n_rows() as f64);
    shares
}

fn check(found: &Beliefs, row: usize, estimate: Option<Vec<f64>>, p: &[f64]) {
    let expected = match estimate {
        Some(shares) => shares.iter().zip(p).map(|(b, p)| 0.99 * b + 0.01 * p).collect(),
        None => p.to_vec(),
    };
    let found = found.of(row as u32);
    assert_eq!(found.len(), expected.len());
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-9), "{row}: {found:?} {expected:?}");
}

/// Sums over all rows that may tell of a row: `learned_from(row, other)`.
fn slow_kernel(table: &Table, bandwidth: f64, row: usize, may_tell: impl Fn(usize) -> bool) -> Option<Vec<f64>> {
    let sensitive = table.sensitive()[0];
    let mut sums = vec![0.0; sensitive.domain.n_codes()];
    for other in (0..table.n_rows()).filter(|&other| may_tell(other)) {
        let factor = |column: &&Column| {
            let x = distance(column, column.codes[row], column.codes[other]);
            if x < bandwidth { 0.75 * (1.0 - (x / bandwidth).powi(2)) / bandwidth } else { 0.0 }
        };
        sums[sensitive.codes[other] as usize] += table.quasi().iter().map(factor).product::<f64>();
    }
    let sum: f64 = sums.iter().sum();
    (sum > 0.0).then(|| sums.iter().map(|share| share / sum).collect())
}

#[test]
fn kernel_beliefs_are_their_sums_over_all_rows() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for round in 0..60 {
        let table = table(&mut rng, 30 + round);
        for bandwidth in [0.1, 0.3, 0.5, 1.0, 1.7] {
            let found = beliefs(&table, &Knowledge { bandwidth, ..Knowledge::default() }).unwrap();
            let p = overall(&table);
            for row in 0..table.n_rows() {
                check(&found, row, slow_kernel(&table, bandwidth, row, |_| true), &p);
            }
        }
    }
}

/// Every row is told of by the other half alone: there is a way to halve the rows that explains all beliefs.
#[test]
fn cross_fitted_beliefs_have_not_seen_their_row() {
    // Each row has its own word: nothing can be said of it unless it was seen itself.
    let names: Vec<String> = (0..40).map(|row| format!("w{row:02}")).collect();
    let quasi = Column::words("w", Role::Quasi, names.iter().map(|name| Some(&name[..])));
    let sensitive = Column::words("s", Role::Sensitive, (0..40).map(|row| Some(["x", "y"][row % 2])));
    let table = Table::new(40, vec![quasi, sensitive], None);
    let p = overall(&table);
    let seen = beliefs(&table, &Knowledge::default()).unwrap();
    assert!((seen.of(0)[0] - 0.995).abs() < 1e-12);
    let knowledge = Knowledge { cross_fit: true, seed: 3, ..Knowledge::default() };
    let unseen = beliefs(&table, &knowledge).unwrap();
    (0..40).for_each(|row| check(&unseen, row, None, &p));

    // With two rows of each word and different values: either both are in one half and know nothing, or they tell of each other.
    let names: Vec<String> = (0..200).map(|row| format!("w{:03}", row / 2)).collect();
    let quasi = Column::words("w", Role::Quasi, names.iter().map(|name| Some(&name[..])));
    let sensitive = Column::words("s", Role::Sensitive, (0..200).map(|row| Some(["x", "y"][row % 2])));
    let table = Table::new(200, vec![quasi, sensitive], None);
    let (p, found) = (overall(&table), beliefs(&table, &knowledge).unwrap());
    assert_eq!(found, beliefs(&table, &knowledge).unwrap());
    let mut apart = 0;
    for row in (0..200).step_by(2) {
        let is_apart = found.of(row)[0] < 0.4;
        apart += u32::from(is_apart);
        let (first, second) = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
        check(&found, row as usize, is_apart.then(|| first.to_vec()), &p);
        check(&found, row as usize + 1, is_apart.then(|| second.to_vec()), &p);
    }
    assert!((30..=70).contains(&apart), "{apart}");
}

#[test]
fn naive_bayes_is_its_product() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for _ in 0..20 {
        let table = table(&mut rng, 60);
        let knowledge = Knowledge { estimator: Estimator::NaiveBayes, ..Knowledge::default() };
        let (found, p) = (beliefs(&table, &knowledge).unwrap(), overall(&table));
        let sensitive = table.sensitive()[0];
        let part = |column: &Column, row: usize| {
            let (code, n) = (column.codes[row], column.domain.n_values() as u32);
            // Column a may have up to 20 numbers, in 16 parts.
            if column.domain.numbers().is_some() && n > 16 && code < n { code * 16 / n } else { code }
        };
        for row in 0..60 {
            let of_value = |value: u32| {
                let rows: Vec<usize> = (0..60).filter(|&row| sensitive.codes[row] == value).collect();
                if rows.is_empty() {
                    return 0.0;
                }
                let factor = |column: &&Column| {
                    let same = rows.iter().filter(|&&other| part(column, other) == part(column, row)).count() as f64;
                    let n_parts = match column.domain.numbers() {
                        Some(numbers) => numbers.len().min(16),
                        None => column.domain.n_values(),
                    };
                    (same + 1.0) / (rows.len() + n_parts + usize::from(column.domain.has_missing())) as f64
                };
                (rows.len() as f64 + 1.0) * table.quasi().iter().map(factor).product::<f64>()
            };
            let weights: Vec<f64> = (0..sensitive.domain.n_codes() as u32).map(of_value).collect();
            let sum: f64 = weights.iter().sum();
            check(&found, row, Some(weights.iter().map(|weight| weight / sum).collect()), &p);
        }
    }
}

fn from_file(table: &Table, text: &str) -> Result<Beliefs, String> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let estimator = Estimator::File(file.path().to_owned());
    let name = file.path().display().to_string();
    beliefs(table, &Knowledge { estimator, ..Knowledge::default() })
        .map_err(|error| error.to_string().replace(&name, "FILE"))
}

#[test]
fn a_file_says_what_is_believed() {
    let sex = Column::words("sex", Role::Quasi, [Some("F"), Some("M"), None, Some("F")]);
    let age = Column::numbers("age", Role::Quasi, [30.0, 30.0, 40.0, 50.0].map(Some));
    let disease = Column::words("disease", Role::Sensitive, ["flu", "cold", "flu", "flu"].map(Some));
    let table = Table::new(4, vec![sex, age, disease], None);
    let p = overall(&table);
    let text = "age,sex,disease,share\n30.0,F,flu,3\n30,F,cold,1\n40,,cold,0.5\n30,X,cold,1\n30,M,cough,1\n";
    let found = from_file(&table, text).unwrap();
    check(&found, 0, Some(vec![0.25, 0.75, 0.0]), &p);
    check(&found, 1, None, &p);
    check(&found, 2, Some(vec![1.0, 0.0, 0.0]), &p);
    check(&found, 3, None, &p);
    // About everybody.
    check(&from_file(&table, "disease,share\nflu,1\n").unwrap(), 3, Some(vec![0.0, 1.0, 0.0]), &p);
    for (text, place) in [
        ("", "FILE"),
        ("share\n", "FILE:1"),
        ("age,disease,part\n", "FILE:1"),
        ("age,sex,share\n", "FILE:1"),
        ("size,disease,share\n", "FILE:1"),
        ("age,age,disease,share\n", "FILE:1"),
        ("age,disease,share\n30,flu,1\n30,flu,x\n", "FILE:3"),
        ("age,disease,share\n30,flu,-1\n", "FILE:2"),
        ("age,disease,share\n30,flu,1\n30,flu,1\n", "FILE:3"),
        ("age,disease,share\n30,flu\n", "FILE:2"),
    ] {
        let error = from_file(&table, text).unwrap_err();
        assert!(error.starts_with(place) && !error.contains("flu"), "{text}: {error}");
    }
}

#[test]
fn tables_of_nothing_have_beliefs_of_nothing() {
    let empty = |role| Column::words("w", role, []);
    let table = Table::new(0, vec![empty(Role::Quasi), empty(Role::Sensitive)], None);
    for estimator in [Estimator::Kernel, Estimator::NaiveBayes] {
        assert_eq!(beliefs(&table, &Knowledge { estimator, ..Knowledge::default() }).unwrap().n_points(), 0);
    }
    let without = Table::new(0, vec![empty(Role::Quasi)], None);
    assert!(beliefs(&without, &Knowledge::default()).is_err());
    for bandwidth in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(beliefs(&table, &Knowledge { bandwidth, ..Knowledge::default() }).is_err());
    }
}

// ---- Posteriors ---------------------------------------------------------------------------------------------------------

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < tolerance)
}

#[test]
fn posteriors_of_the_specification() {
    let beliefs = Beliefs::new(2, vec![0.9, 0.1, 0.5, 0.5], vec![0, 1, 1]);
    let crowd = Crowd::new(&beliefs, &[0, 1, 2], &[2, 1]);
    let found = crowd.of_members(&omega(&crowd));
    assert!(near(&found[0], &[0.9124, 0.0876], 5e-5) && near(&found[1], &[0.5366, 0.4634], 5e-5));
    let found = crowd.of_members(&exact(&crowd).unwrap());
    assert!(near(&found[0], &[0.9474, 0.0526], 5e-5) && near(&found[2], &[0.5263, 0.4737], 5e-5));
}

/// Beliefs of some people, drawn from a few so that some have the same; and values dealt to them.
fn class(rng: &mut ChaCha8Rng, people: usize, n_values: usize) -> (Beliefs, Vec<u32>, Vec<u32>) {
    let points = rng.random_range(1..=people);
    let mut shares = Vec::new();
    for _ in 0..points {
        let weights: Vec<f64> = (0..n_values).map(|_| rng.random_range(0.01..1.0_f64).powi(3)).collect();
        shares.extend(weights.iter().map(|weight| weight / weights.iter().sum::<f64>()));
    }
    let of_row = (0..people).map(|_| rng.random_range(0..points as u32)).collect();
    let mut counts = vec![0; n_values];
    (0..people).for_each(|_| counts[rng.random_range(0..n_values)] += 1);
    (Beliefs::new(n_values, shares, of_row), (0..people as u32).collect(), counts)
}

/// The weight of all ways to deal what is left, added to the shares of who gets what.
fn deal(beliefs: &Beliefs, left: &mut [u32], dealt: &mut Vec<usize>, shares: &mut [Vec<f64>]) {
    let person = dealt.len();
    if person == shares.len() {
        let weight: f64 = dealt.iter().enumerate().map(|(person, &value)| beliefs.of(person as u32)[value]).product();
        dealt.iter().enumerate().for_each(|(person, &value)| shares[person][value] += weight);
        return;
    }
    for value in 0..left.len() {
        if left[value] > 0 {
            left[value] -= 1;
            dealt.push(value);
            deal(beliefs, left, dealt, shares);
            dealt.pop();
            left[value] += 1;
        }
    }
}

#[test]
fn exact_posteriors_are_those_of_all_arrangements() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for round in 0..200 {
        let (beliefs, members, counts) = class(&mut rng, 1 + round % 7, 1 + round % 4);
        let mut shares = vec![vec![0.0; counts.len()]; members.len()];
        deal(&beliefs, &mut counts.clone(), &mut Vec::new(), &mut shares);
        let crowd = Crowd::new(&beliefs, &members, &counts);
        let found = crowd.of_members(&exact(&crowd).unwrap());
        for (found, shares) in found.iter().zip(&shares) {
            let sum: f64 = shares.iter().sum();
            assert!(near(found, &shares.iter().map(|share| share / sum).collect::<Vec<_>>(), 1e-9));
        }
    }
}

#[test]
fn sinkhorn_has_the_sums_of_the_class() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for round in 0..100 {
        let (beliefs, members, counts) = class(&mut rng, 1 + round, 1 + round % 9);
        let crowd = Crowd::new(&beliefs, &members, &counts);
        let found = crowd.of_members(&sinkhorn(&crowd));
        assert!(found.iter().all(|shares| (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9));
        for (value, &count) in counts.iter().enumerate() {
            let sum: f64 = found.iter().map(|shares| shares[value]).sum();
            assert!((sum - f64::from(count)).abs() < 1e-6, "{sum} {count}");
        }
        // What it scales is what is believed: odds of odds are kept.
        let (values, people) = (counts.len() - 1, members.len() - 1);
        let odds = |shares: &dyn Fn(usize, usize) -> f64| {
            shares(0, 0) * shares(people, values) / shares(0, values) / shares(people, 0)
        };
        if counts[0] > 0 && counts[values] > 0 {
            let before = odds(&|person, value| beliefs.of(person as u32)[value]);
            assert!((odds(&|person, value| found[person][value]) / before - 1.0).abs() < 1e-6);
        }
    }
    // More people match than there are rows: each may be one of them.
    let beliefs = Beliefs::new(2, vec![0.5, 0.5], vec![0; 4]);
    let crowd = Crowd::new(&beliefs, &[0, 1, 2, 3], &[2, 1]);
    assert!(exact(&crowd).is_none());
    assert!(near(&crowd.of_members(&sinkhorn(&crowd))[3], &[2.0 / 3.0, 1.0 / 3.0], 1e-9));
}

#[test]
fn losses_are_those_of_the_worst_off() {
    let beliefs = Beliefs::new(2, vec![0.5, 0.5, 0.9, 0.1], vec![0, 0, 1, 1]);
    let sure = ClassView { members: vec![0, 1], counts: vec![2, 0] };
    let open = ClassView { members: vec![2, 3], counts: vec![1, 1] };
    let found = posteriors(&[sure, open], &beliefs, Inference::Exact);
    let loss = loss(&found, &beliefs, 0.9);
    assert_eq!((loss.people, loss.above, loss.posterior, loss.ratio), (4, 2, 1.0, 5.0));
    let (one, two) = (0.311278, 0.146793);
    assert!((loss.max - one).abs() < 1e-6 && (loss.mean - (one + two) / 2.0).abs() < 1e-6, "{loss:?}");
}

// ---- The judge ----------------------------------------------------------------------------------------------------------

/// People of two kinds: values go with them in nine of ten cases.
fn kinds(rng: &mut ChaCha8Rng, n: usize) -> (Beliefs, Vec<u32>) {
    let kind: Vec<u32> = (0..n).map(|_| rng.random_range(0..2)).collect();
    let truth = kind.iter().map(|&kind| if rng.random_bool(0.9) { kind } else { 1 - kind }).collect();
    (Beliefs::new(2, vec![0.9, 0.1, 0.1, 0.9], kind), truth)
}

fn views(truth: &[u32], size: usize) -> Vec<ClassView> {
    let people: Vec<u32> = (0..truth.len() as u32).collect();
    let view = |members: &[u32]| {
        let mut counts = vec![0; 2];
        members.iter().for_each(|&person| counts[truth[person as usize] as usize] += 1);
        ClassView { members: members.to_vec(), counts }
    };
    people.chunks(size).map(view).collect()
}

#[test]
fn an_attack_is_better_only_where_a_release_tells_something() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (prior, truth) = kinds(&mut rng, 4000);
    // Small classes tell of people; knowledge tells more than the class does.
    let classes = views(&truth, 4);
    let found = posteriors(&classes, &prior, Inference::Exact);
    for before in [Before::Prior, Before::Class] {
        let gain = gain(&classes, &found, &prior, &truth, before);
        assert!(gain.beats && gain.right_after > gain.right_before, "{gain:?}");
        assert_eq!(gain.people, 4000);
    }
    // All people as one class: nothing new is learned of anybody.
    let classes = views(&truth, 4000);
    let found = posteriors(&classes, &prior, Inference::Exact);
    assert!(!gain(&classes, &found, &prior, &truth, Before::Prior).beats);
    // People of one kind together: knowledge tells no more than the class.
    let mut sorted: Vec<u32> = (0..4000).collect();
    sorted.sort_by_key(|&person| prior.point_of(person));
    let classes: Vec<ClassView> = sorted
        .chunk_by(|&a, &b| prior.point_of(a) == prior.point_of(b))
        .flat_map(|kind| kind.chunks(5))
        .map(|members| {
            let mut counts = vec![0; 2];
            members.iter().for_each(|&person| counts[truth[person as usize] as usize] += 1);
            ClassView { members: members.to_vec(), counts }
        })
        .collect();
    let found = posteriors(&classes, &prior, Inference::Exact);
    let class = gain(&classes, &found, &prior, &truth, Before::Class);
    assert!(!class.beats && class.log_score.mean.abs() < 1e-9, "{class:?}");
}

/// Intervals are as wide as they should be: where nothing is learned, about one in forty lies above zero.
#[test]
fn intervals_hold_their_level_where_rows_of_a_class_go_together() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut above = 0;
    for _ in 0..400 {
        // Classes of ten people with the same value, a fair coin; the attack believes what is random.
        let truth: Vec<u32> = (0..60).flat_map(|_| [rng.random_range(0..2); 10]).collect();
        let prior = Beliefs::new(2, vec![0.5, 0.5, 0.6, 0.4], vec![0; 600]);
        let wrong = Beliefs::new(2, vec![0.6, 0.4], vec![0; 600]);
        let classes: Vec<ClassView> = (0..60)
            .map(|class| ClassView { members: (class * 10..class * 10 + 10).collect(), counts: vec![6, 4] })
            .collect();
        let found = posteriors(&classes, &wrong, Inference::Sinkhorn);
        let probability = gain(&classes, &found, &prior, &truth, Before::Prior).probability;
        above += u32::from(probability.low > 0.0);
    }
    assert!((2..=22).contains(&above), "{above}");
}

// ---- Classes ------------------------------------------------------------------------------------------------------------

/// Rows where the word decides most of the sensitive value, so that beliefs are of a few kinds.
fn correlated(rng: &mut ChaCha8Rng, n: usize) -> Table {
    let kind: Vec<usize> = (0..n).map(|_| rng.random_range(0..4)).collect();
    let words = kind.iter().map(|&kind| Some(["a", "b", "c", "d"][kind]));
    let ages: Vec<Option<f64>> =
        (0..n).map(|_| rng.random_bool(0.97).then(|| f64::from(rng.random_range(20..70)))).collect();
    let mut value = |kind: usize| match rng.random_range(0..10) {
        0..4 => ["p", "p", "q", "q"][kind],
        4..7 => ["q", "q", "p", "r"][kind],
        7..9 => "r",
        _ => "s",
    };
    let values: Vec<&str> = kind.iter().map(|&kind| value(kind)).collect();
    let columns = vec![
        Column::words("w", Role::Quasi, words),
        Column::numbers("age", Role::Quasi, ages),
        Column::words("s", Role::Sensitive, values.iter().map(|value| Some(*value))),
    ];
    Table::new(n, columns, None)
}

/// All criteria by their definitions, with overall shares of the published rows.
fn check_classes(table: &Table, partition: &Partition, beliefs: &Beliefs, k: usize, beta: f64, t: f64) {
    let sensitive = table.sensitive()[0];
    let share = |rows: &[u32], value: u32| {
        rows.iter().filter(|&&row| sensitive.codes[row as usize] == value).count() as f64 / rows.len() as f64
    };
    let mut all: Vec<u32> = partition.published().iter().chain(&partition.removed).copied().collect();
    all.sort_unstable();
    assert_eq!(all, (0..table.n_rows() as u32).collect::<Vec<_>>());
    assert!(partition.removed.is_sorted());
    for rows in partition.classes() {
        assert!(rows.len() >= k);
        for value in 0..sensitive.domain.n_codes() as u32 {
            let (q, p) = (share(rows, value), share(partition.published(), value));
            assert!(q == 0.0 || q <= p * (1.0 + beta.min(-p.ln())) + 1e-9, "{q} {p}");
        }
        for &one in rows {
            assert!(rows.iter().all(|&other| jensen_shannon(beliefs.of(one), beliefs.of(other)) <= t));
        }
    }
}

#[test]
fn classes_of_both_methods_keep_every_criterion() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let (mut published, mut rows) = ([0; 2], 0);
    for round in 0..24 {
        let table = correlated(&mut rng, 150 + 20 * round);
        let believed = beliefs(&table, &Knowledge { bandwidth: 0.4, ..Knowledge::default() }).unwrap();
        let (k, beta, t) = (2 + round % 5, [1.0, 2.0, 3.0][round % 3], [0.03, 0.1, 0.3, 1.0][round % 4]);
        let mut criteria = vec![
            Criterion::KAnonymity { k: k as u32 },
            Criterion::Likeness { beta, enhanced: true },
            Criterion::Background { t },
        ];
        if round % 2 == 0 {
            criteria.push(Criterion::DistinctDiversity { l: 2 });
        }
        rows += table.n_rows();
        for (at, method) in [Method::KPrimacy, Method::BetaPrimacy].into_iter().enumerate() {
            let params = Params { method, criteria: criteria.clone(), most_removed: 1.0, seed: 0 };
            let Ok(partition) = anonymize(&table, &params, Some(&believed)) else { continue };
            check_classes(&table, &partition, &believed, k, beta, t);
            if round % 2 == 0 {
                let sensitive = table.sensitive()[0];
                let mut counts = vec![0; sensitive.domain.n_codes()];
                partition.class(0).iter().for_each(|&row| counts[sensitive.codes[row as usize] as usize] += 1);
                assert!(distinct(&counts) >= 2);
            }
            published[at] += partition.n_published();
        }
    }
    assert!(published.iter().all(|&published| published * 10 >= rows * 8), "{published:?} of {rows}");
}

/// Without other criteria, k-anonymity first is microaggregation: near rows together, none removed.
#[test]
fn both_methods_work_without_beliefs_and_are_the_same_in_any_number_of_threads() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let table = correlated(&mut rng, 500);
    for method in [Method::KPrimacy, Method::BetaPrimacy] {
        for criteria in [
            vec![Criterion::KAnonymity { k: 5 }],
            vec![Criterion::KAnonymity { k: 3 }, Criterion::Likeness { beta: 2.0, enhanced: false }],
            vec![Criterion::KAnonymity { k: 3 }, Criterion::EntropyDiversity { l: 2.0 }],
        ] {
            let params = Params { method, criteria, most_removed: 0.1, seed: 0 };
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            let partition = anonymize(&table, &params, None).unwrap();
            assert_eq!(partition, alone.install(|| anonymize(&table, &params, None).unwrap()));
            assert!(partition.len() > 40, "{method:?} {:?}: {}", params.criteria, partition.len());
        }
    }
}
