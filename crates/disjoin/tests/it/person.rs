//! Several rows a person, in every form and with every method of the registry: no class, cluster, chunk or group with fewer than
//! k different people, and no person who tips a share.
//!
//! The oracle is a count by hand. It reads the text that was given, numbers people itself, and asks the methods for nothing but
//! where each record went.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use disjoin::data::{Dataset, Evidence, People, Visits};
use disjoin::error::Error;
use disjoin::observer::Unobserved;
use disjoin::protect::disassociation::{disassociate, disassociate_apart};
use disjoin::read::rows::{TableIntake, table_bytes};
use disjoin::read::{Intake, Options, read_bytes};
use disjoin::recipe::{Method, Recipe, Shape, Written, resolve, table};
use disjoin::release::generalized::Generalized;
use disjoin::release::open::InMemory;
use disjoin::release::privacy_models::Criterion;
use disjoin::release::{Claim, Form, Node};
use disjoin::run::forms;
use disjoin::verify::{
    Parts, TableTruth, Truth, parse_table, verify, verify_people, verify_people_of_table, verify_table,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const EPS: f64 = 1e-7;
const VISITS: [Visits; 3] = [Visits::Together, Visits::First, Visits::Apart];

fn named(visits: Visits) -> &'static str {
    match visits {
        Visits::Together => "together",
        Visits::First => "first",
        Visits::Apart => "apart",
    }
}

/// A row as it was given.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    person: String,
    quasi: [u32; 2],
    sensitive: u32,
    terms: BTreeSet<u32>,
}

/// People with one to six rows each, in any order; all rows of a person agree in the columns of the table if they must.
fn random_rows(rng: &mut ChaCha8Rng, agree: bool) -> Vec<Row> {
    let n_people = rng.random_range(4..24);
    let mut rows = Vec::new();
    for person in 0..n_people {
        let own = ([rng.random_range(0..6), rng.random_range(0..3)], rng.random_range(0..5));
        // Few people have many rows.
        let n_rows = if rng.random_range(0..6) == 0 { rng.random_range(1..7) } else { rng.random_range(1..3) };
        for _ in 0..n_rows {
            let (quasi, sensitive) = match agree || rng.random_range(0..2) == 0 {
                true => own,
                false => ([rng.random_range(0..6), rng.random_range(0..3)], rng.random_range(0..5)),
            };
            let terms = (0..rng.random_range(1..5)).map(|_| rng.random_range(0..7_u32).min(rng.random_range(0..9)));
            rows.push(Row { person: format!("p{person}"), quasi, sensitive, terms: terms.collect() });
        }
    }
    for i in (1..rows.len()).rev() {
        rows.swap(i, rng.random_range(0..=i));
    }
    rows
}

fn table_text(rows: &[Row]) -> String {
    let mut text = String::from("a,who,b,s,codes\n");
    for Row { person, quasi: [a, b], sensitive, terms } in rows {
        let codes: Vec<String> = terms.iter().map(|t| format!("t{t}")).collect();
        text += &format!("{a},{person},b{b},s{sensitive},{}\n", codes.join(";"));
    }
    text
}

/// What each record should be: the rows of a person, or one of them.
fn records_by_hand(rows: &[Row], visits: Visits) -> Vec<Vec<Row>> {
    let mut order: Vec<&str> = Vec::new();
    let mut of: HashMap<&str, Vec<Row>> = HashMap::new();
    for row in rows {
        if !of.contains_key(row.person.as_str()) {
            order.push(&row.person);
        }
        of.entry(&row.person).or_default().push(row.clone());
    }
    match visits {
        Visits::Apart => rows.iter().map(|row| vec![row.clone()]).collect(),
        Visits::Together => order.iter().map(|person| of[person].clone()).collect(),
        Visits::First => order.iter().map(|person| of[person][..1].to_vec()).collect(),
    }
}

fn criteria(rng: &mut ChaCha8Rng) -> table::Criteria {
    let mut criteria = table::Criteria::default();
    match rng.random_range(0..6) {
        0 => criteria.l = Some(2),
        1 => criteria.alpha = Some(rng.random_range(0.4..0.9)),
        2 => criteria.t = Some(rng.random_range(0.2..0.7)),
        3 => criteria.beta = Some(rng.random_range(0.5..4.0)),
        4 => (criteria.l, criteria.alpha) = (Some(2), Some(0.8)),
        _ => {}
    }
    criteria
}

fn table_recipe(method: Method, k: u32, visits: Visits, criteria: table::Criteria) -> disjoin::Result<Recipe> {
    let mut written = Written::default();
    (written.input.file, written.input.person) = (Some("x.csv".into()), Some("who".into()));
    written.input.visits = Some(visits);
    (written.protect.method, written.protect.k) = (Some(method), Some(k));
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    written.table = Some(table::Written {
        quasi: names(&["a", "b"]),
        sensitive: names(&["s"]),
        identifier: names(&["codes"]),
        numeric: names(&["a"]),
        suppression_limit: Some(0.9),
        criteria,
        ..table::Written::default()
    });
    resolve(&written, Path::new(""))
}

/// Whether sensitive values, one for each of different people, satisfy the criteria, by their definitions.
fn holds(criteria: &[Criterion], values: &[u32], overall: &[u32]) -> bool {
    let share = |of: &[u32], value: u32| of.iter().filter(|&&v| v == value).count() as f64 / of.len() as f64;
    let all: BTreeSet<u32> = overall.iter().copied().collect();
    criteria.iter().all(|criterion| match *criterion {
        Criterion::KAnonymity { k } => values.len() >= k as usize,
        Criterion::DistinctDiversity { l } => values.iter().collect::<BTreeSet<_>>().len() >= l as usize,
        Criterion::Frequency { alpha } => all.iter().all(|&v| share(values, v) <= alpha + EPS),
        Criterion::Closeness { t, .. } => {
            all.iter().map(|&v| (share(values, v) - share(overall, v)).abs()).sum::<f64>() / 2.0 <= t + EPS
        }
        Criterion::Likeness { beta, .. } => all.iter().all(|&v| {
            let p = share(overall, v);
            share(values, v) <= p * (1.0 + beta.min(-p.ln())) + EPS
        }),
        _ => panic!("no other criterion is asked for here"),
    })
}

fn read_table(recipe: &Recipe, rows: &[Row]) -> (disjoin::data::Table, TableIntake) {
    let asked = recipe.table.as_ref().unwrap();
    let text = table_text(rows);
    table_bytes("x.csv", text.as_bytes(), &recipe.input.options, &asked.declared).unwrap()
}

/// People are those of the text, whatever the reader thinks.
fn check_people(people: &People, rows: &[Row], records: &[Vec<Row>]) {
    let names: BTreeSet<&str> = rows.iter().map(|row| row.person.as_str()).collect();
    assert_eq!((people.people, people.rows), (names.len() as u64, rows.len() as u64));
    assert_eq!(people.of_record.len(), records.len());
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    for (row, &person) in rows.iter().zip(&people.of_row) {
        assert_eq!(*numbers.entry(row.person.as_str()).or_insert(person), person);
    }
    for (record, &person) in records.iter().zip(&people.of_record) {
        assert!(record.iter().all(|row| numbers[row.person.as_str()] == person));
    }
}

/// One table, one method: everything by hand. Tells whether it was published.
fn check_classes(method: Method, k: u32, visits: Visits, criteria: table::Criteria, rows: &[Row]) -> bool {
    let recipe = table_recipe(method, k, visits, criteria).unwrap();
    let asked = recipe.table.as_ref().unwrap();
    let (table, intake) = read_table(&recipe, rows);
    let people = intake.people.as_ref().unwrap();
    let records = records_by_hand(rows, visits);
    check_people(people, rows, &records);
    let made = match forms::classes::make_by_people(asked, &recipe.protect, &table, Some(people), &Unobserved) {
        Err(Error::Infeasible { .. }) => return false,
        made => made.unwrap(),
    };
    assert_eq!(made.claim.people, Some(visits));
    // Where rules are hidden, sensitive values are published as labels.
    let shown = made.hidden.as_ref().map_or(&table, |hidden| &hidden.table);
    let data = Generalized::new(shown, &made.partition);
    let class_of = data.class_of();
    let mut classes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    class_of.iter().enumerate().for_each(|(record, class)| {
        if let Some(class) = class {
            classes.entry(*class).or_default().push(record);
        }
    });
    for members in classes.values() {
        let mut rows_of: BTreeMap<&str, usize> = BTreeMap::new();
        for &record in members {
            *rows_of.entry(&records[record][0].person).or_insert(0) += 1;
        }
        assert!(rows_of.len() >= k as usize, "a class of {} people, {method:?}", rows_of.len());
        let most = rows_of.values().max().unwrap();
        assert!(most * k as usize <= members.len(), "somebody has more than one in k of a class, {method:?}");
    }
    // In every part nobody is twice, and everybody's values count once.
    let overall: Vec<u32> = made.partition.published().iter().map(|&r| records[r as usize][0].sensitive).collect();
    for part in made.partition.classes() {
        let of: BTreeSet<&str> = part.iter().map(|&record| records[record as usize][0].person.as_str()).collect();
        assert_eq!(of.len(), part.len(), "somebody is twice in a part, {method:?}");
        let values: Vec<u32> = part.iter().map(|&record| records[record as usize][0].sensitive).collect();
        assert!(holds(&asked.criteria, &values, &overall), "{method:?} {visits:?} {:?}", asked.criteria);
    }
    // What a reader sees holds as well, and so does what custody shows.
    let mut bytes = Vec::new();
    data.write(&mut bytes).unwrap();
    let published = parse_table(&made.claim, "data.csv", &bytes).unwrap();
    let truth = TableTruth { table: &table, class_of: &class_of };
    let mut verdict = verify_table(&made.claim, &published, Some(truth));
    let part_of = made.partition.class_of(table.n_rows());
    let parts = Parts { table: &table, of_row: &people.of_record, class_of: &class_of, part_of: &part_of };
    verify_people_of_table(&mut verdict, &made.claim.criteria, parts).unwrap();
    assert!(verdict.holds, "{method:?} {visits:?}: {:?}", verdict.findings);
    true
}

/// Methods that put tables into classes, and whether rows of a person may stay apart.
fn class_methods() -> Vec<(Method, bool)> {
    let of_classes = Method::ALL.iter().filter(|entry| entry.form == Form::Classes);
    of_classes
        .map(|entry| (entry.method, !matches!(entry.method, Method::Lattice | Method::AssociationHiding)))
        .collect()
}

#[test]
fn ten_thousand_tables_have_no_class_with_fewer_than_k_people() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    let methods = class_methods();
    let mut published: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for number in 0..10_000 {
        let (method, may_stay) = methods[number % methods.len()];
        let visits = VISITS[(number / methods.len()) % if may_stay { 3 } else { 2 }];
        let rows = random_rows(&mut rng, visits == Visits::Together);
        // Rules are hidden with k alone.
        let hides = method == Method::AssociationHiding;
        let mut criteria = if hides { table::Criteria::default() } else { criteria(&mut rng) };
        // Methods that make classes by one criterion need it.
        match method {
            Method::ClosenessFirst => criteria.t = criteria.t.or(Some(0.5)),
            Method::Burel => criteria.beta = criteria.beta.or(Some(2.0)),
            _ => {}
        }
        let k = rng.random_range(2..5);
        let done = check_classes(method, k, visits, criteria, &rows);
        *published.entry((method.name(), named(visits))).or_insert(0) += usize::from(done);
    }
    assert!(published.values().all(|&n| n > 20), "{published:?}");
}

#[test]
fn split_tables_have_no_group_with_fewer_than_k_people() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut published = 0;
    for number in 0..2_000 {
        let visits = VISITS[number % 2];
        let rows = random_rows(&mut rng, visits == Visits::Together);
        let method = [Method::BreakMerge, Method::Anatomy][number / 2 % 2];
        let k = rng.random_range(2..4);
        let criteria = table::Criteria { l: Some(2), ..table::Criteria::default() };
        let recipe = table_recipe(method, k, visits, criteria).unwrap();
        let (table, _) = read_table(&recipe, &rows);
        let records = records_by_hand(&rows, visits);
        let Ok(groups) = forms::split::make(recipe.table.as_ref().unwrap(), &table, &Unobserved) else { continue };
        let Ok((_, split)) = groups.split(&table) else { continue };
        let least = if method == Method::Anatomy { 2 } else { k as usize };
        for group in 0..split.n_groups() {
            let of: BTreeSet<&str> =
                split.rows(group).iter().map(|&record| records[record as usize][0].person.as_str()).collect();
            assert!(of.len() == split.rows(group).len() && of.len() >= least, "{method:?}");
        }
        published += 1;
    }
    assert!(published > 500, "{published}");
}

fn sets_options(visits: Visits) -> Options {
    Options { column: Some("codes".into()), person: Some("who".into()), visits, ..Options::default() }
}

fn read_sets(rows: &[Row], visits: Visits) -> (Dataset, Intake) {
    read_bytes("x.csv", table_text(rows).as_bytes(), &sets_options(visits)).unwrap()
}

fn terms_of(record: &[Row]) -> BTreeSet<String> {
    record.iter().flat_map(|row| &row.terms).map(|t| format!("t{t}")).collect()
}

/// The leaves of all roots with the number of their root, in the order of custody.
fn leaves(roots: &[Node]) -> Vec<(usize, disjoin::release::Simple)> {
    let of =
        |(at, root): (usize, &Node)| root.leaves().into_iter().cloned().map(move |leaf| (at, leaf)).collect::<Vec<_>>();
    roots.iter().enumerate().flat_map(of).collect()
}

/// Every itemset of one or two terms that a record chunk shows is one of k different people of the cluster.
fn check_chunks(
    made: &disjoin::protect::disassociation::Outcome,
    of_record: &[&str],
    terms: &[BTreeSet<String>],
    k: usize,
) {
    let text = |t: u32| made.release.dictionary.text(t).to_owned();
    let mut in_root: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (leaf, (root, simple)) in leaves(&made.release.roots).into_iter().enumerate() {
        let members: Vec<usize> = (0..terms.len()).filter(|&r| made.leaf_of[r] as usize == leaf).collect();
        in_root.entry(root).or_default().extend(members.iter().map(|&r| of_record[r]));
        let people = |itemset: &[String]| {
            let has = |r: &&usize| itemset.iter().all(|t| terms[**r].contains(t));
            members.iter().filter(has).map(|&r| of_record[r]).collect::<BTreeSet<_>>().len()
        };
        assert!(people(&[]) >= k, "a cluster of fewer than k people");
        for chunk in &simple.record_chunks {
            for (at, &a) in chunk.terms.iter().enumerate() {
                for &b in &chunk.terms[at..] {
                    let mut itemset = vec![text(a), text(b)];
                    itemset.dedup();
                    assert!([0, k].contains(&people(&itemset).min(k)), "a chunk with fewer than k people");
                }
            }
        }
    }
    for of in in_root.values() {
        assert_eq!(
            of.iter().collect::<BTreeSet<_>>().len(),
            of.len(),
            "somebody is twice in clusters that belong together"
        );
    }
}

#[test]
fn ten_thousand_sets_have_no_chunk_with_fewer_than_k_people() {
    let mut rng = ChaCha8Rng::seed_from_u64(24);
    let mut published = BTreeMap::new();
    for number in 0..10_000 {
        let visits = VISITS[number % 3];
        let rows = random_rows(&mut rng, false);
        let k = rng.random_range(2..5);
        let mut written = Written::default();
        (written.input.file, written.input.person) = (Some("x.csv".into()), Some("who".into()));
        (written.input.visits, written.input.column) = (Some(visits), Some("codes".into()));
        (written.protect.k, written.protect.m) = (Some(k), Some(2));
        written.protect.promise = (number % 2 == 0).then_some(disjoin::recipe::written::Promised::Published);
        let recipe = resolve(&written, Path::new("")).unwrap();
        let (data, mut intake) = read_sets(&rows, visits);
        let people = intake.people.as_mut().unwrap();
        let mut records = records_by_hand(&rows, visits);
        check_people(people, &rows, &records);
        let data = if visits == Visits::Apart { people.join_beyond(data, k) } else { data };
        if visits == Visits::Apart {
            // Rows that were joined are those of one person, and none is lost.
            let mut joined: Vec<Vec<Row>> = vec![Vec::new(); data.records.len()];
            for (row, record) in rows.iter().zip(&people.record_of) {
                joined[record.unwrap() as usize].push(row.clone());
            }
            assert!(joined.iter().all(|rows| rows.iter().all(|row| row.person == rows[0].person)));
            records = joined;
        }
        let terms: Vec<BTreeSet<String>> = records.iter().map(|record| terms_of(record)).collect();
        for (record, terms) in data.records.iter().zip(&terms) {
            let texts: BTreeSet<String> = record.iter().map(|&t| data.dictionary.text(t).to_owned()).collect();
            assert_eq!(texts, *terms);
        }
        let of_record: Vec<&str> = records.iter().map(|rows| rows[0].person.as_str()).collect();
        let params = recipe.protect.params_for(&data).unwrap();
        let made = match visits {
            Visits::Apart => disassociate_apart(&data, &params, &people.of_record, &Unobserved),
            _ => disassociate(&data, &params),
        };
        let Ok(made) = made else { continue };
        check_chunks(&made, &of_record, &terms, k as usize);
        let parameters = forms::disassociated::parameters(&params, &data);
        let claim = Claim::disassociation(parameters, params.promise(), data.records.len() as u64);
        let truth = Truth { original: &data, leaf_of: Some(&made.leaf_of) };
        let mut verdict = verify(&claim, InMemory::new(&made.release), Some(truth)).unwrap();
        verify_people(&mut verdict, InMemory::new(&made.release), &made.leaf_of, &people.of_record, &Unobserved)
            .unwrap();
        assert!(verdict.holds, "{visits:?}: {:?}", verdict.findings);
        *published.entry(named(visits)).or_insert(0) += 1;
    }
    assert!(published.values().all(|&n| n > 2_500), "{published:?}");
}

#[test]
fn recoded_items_are_those_of_k_people_or_of_nobody() {
    let mut rng = ChaCha8Rng::seed_from_u64(25);
    let methods = [Method::Apriori, Method::Lra, Method::Vpa, Method::Suppression, Method::SuppressionPartial];
    for number in 0..2_000 {
        let (method, visits) = (methods[number % 5], VISITS[number / 5 % 2]);
        let rows = random_rows(&mut rng, false);
        let k = rng.random_range(2..5);
        let mut written = Written::default();
        (written.input.file, written.input.person) = (Some("x.csv".into()), Some("who".into()));
        (written.input.visits, written.input.column) = (Some(visits), Some("codes".into()));
        (written.protect.method, written.protect.k, written.protect.m) = (Some(method), Some(k), Some(2));
        written.protect.fanout = matches!(method, Method::Apriori | Method::Lra | Method::Vpa).then_some(2);
        let recipe = resolve(&written, Path::new("")).unwrap();
        let (data, _) = read_sets(&rows, visits);
        let Ok(made) = forms::recoded::make(recipe.protect.recoding.as_ref().unwrap(), &data, &Unobserved) else {
            continue;
        };
        let people: BTreeSet<&str> = rows.iter().map(|row| row.person.as_str()).collect();
        // A record a person: the counts of the bag are those of people.
        assert_eq!(made.release.blocks.iter().map(|block| block.bag.n_records()).sum::<u64>(), people.len() as u64);
        for block in &made.release.blocks {
            let mut of: BTreeMap<(u32, u32), u32> = BTreeMap::new();
            for (items, count) in block.bag.iter() {
                for (at, &a) in items.iter().enumerate() {
                    items[at..].iter().for_each(|&b| *of.entry((a, b)).or_insert(0) += count);
                }
            }
            assert!(of.values().all(|&n| n >= k), "{method:?}");
        }
    }
}

/// Differential privacy is about people as soon as one person is one record: all rows of one change one record of what is drawn from.
#[test]
fn neighbours_differ_by_one_person() {
    let mut rng = ChaCha8Rng::seed_from_u64(26);
    let bag = |rows: &[Row], visits| {
        let (data, _) = read_sets(rows, visits);
        let texts =
            |record: &[u32]| record.iter().map(|&t| data.dictionary.text(t).to_owned()).collect::<BTreeSet<_>>();
        data.records.iter().map(texts).collect::<Vec<_>>()
    };
    for number in 0..500 {
        let visits = VISITS[number % 2];
        let rows = random_rows(&mut rng, false);
        let without = rows[rng.random_range(0..rows.len())].person.clone();
        let fewer: Vec<Row> = rows.iter().filter(|row| row.person != without).cloned().collect();
        let (mut all, less) = (bag(&rows, visits), bag(&fewer, visits));
        assert_eq!(all.len(), less.len() + 1);
        for record in &less {
            let at = all.iter().position(|other| other == record).expect("the records of others are the same");
            all.swap_remove(at);
        }
        assert_eq!(all.len(), 1);
    }
}

/// Every method of the registry counts people, and keeps rows apart or refuses that by name.
#[test]
fn every_method_takes_people_or_refuses_by_name() {
    let apart = ["disassociation", "least-loss", "mondrian", "mondrian-relaxed", "mdav", "sorted", "hilbert", "burel"];
    let too = ["microaggregation-merge", "microaggregation-swap", "closeness-first", "k-primacy", "beta-primacy"];
    for entry in Method::ALL {
        for visits in VISITS {
            let l =
                table::Criteria { l: (entry.method != Method::AssociationHiding).then_some(2), ..Default::default() };
            let resolved = match entry.takes() {
                Shape::Table => table_recipe(entry.method, 3, visits, l),
                Shape::Sets => {
                    let mut written = Written::default();
                    (written.input.file, written.input.person) = (Some("x.csv".into()), Some("who".into()));
                    (written.input.visits, written.input.column) = (Some(visits), Some("codes".into()));
                    written.protect.method = Some(entry.method);
                    written.protect.fanout = entry.method.knows("protect.fanout").then_some(2);
                    written.protect.privacy = entry.method.knows("protect.privacy").then(|| "p.txt".into());
                    written.protect.noise = entry
                        .method
                        .noise()
                        .map(|_| toml::from_str::<disjoin::recipe::noise::Written>("epsilon = \"1\"").unwrap());
                    resolve(&written, Path::new(""))
                }
            };
            let may_stay = apart.contains(&entry.name) || too.contains(&entry.name);
            match (visits, resolved) {
                (Visits::Apart, Err(error)) if !may_stay => {
                    let told = error.to_string();
                    assert!(told.contains("cannot stay apart") && told.contains(entry.name), "{told}");
                }
                (_, resolved) => {
                    resolved.unwrap_or_else(|error| panic!("{} {visits:?}: {error}", entry.name));
                }
            }
        }
    }
    let mut written = Written::default();
    written.input.file = Some("x.csv".into());
    written.input.visits = Some(Visits::Apart);
    assert!(resolve(&written, Path::new("")).unwrap_err().to_string().contains("no column names people"));
}

#[test]
fn people_twice_in_what_belongs_together_are_found() {
    // Everybody has the same row twice.
    let row = |i: u32| Row {
        person: format!("p{}", i / 2),
        quasi: [i / 4, 0],
        sensitive: i / 2 % 3,
        terms: BTreeSet::from([i / 4, 8]),
    };
    let rows: Vec<Row> = (0..16).map(row).collect();
    let (data, intake) = read_sets(&rows, Visits::Apart);
    // Protected as if every row were a person.
    let params = disjoin::protect::disassociation::Params::new(2, 2);
    let made = disassociate(&data, &params).unwrap();
    let claim = Claim::disassociation(
        forms::disassociated::parameters(&params, &data),
        params.promise(),
        data.records.len() as u64,
    );
    let mut verdict = verify(&claim, InMemory::new(&made.release), None).unwrap();
    assert!(verdict.holds);
    let of_record = &intake.people.as_ref().unwrap().of_record;
    verify_people(&mut verdict, InMemory::new(&made.release), &made.leaf_of, of_record, &Unobserved).unwrap();
    assert!(!verdict.holds && verdict.findings[0].detail.contains("another one in the same clusters"));

    let recipe = table_recipe(Method::Mondrian, 2, Visits::Apart, table::Criteria::default()).unwrap();
    let asked = recipe.table.as_ref().unwrap();
    let (table, intake) = read_table(&recipe, &rows);
    let made = forms::classes::make(asked, &recipe.protect, &table, &Unobserved).unwrap();
    let data = Generalized::new(&table, &made.partition);
    let mut bytes = Vec::new();
    data.write(&mut bytes).unwrap();
    let class_of = data.class_of();
    let published = parse_table(&made.claim, "data.csv", &bytes).unwrap();
    let of_row = &intake.people.as_ref().unwrap().of_row;
    for part_of in [&class_of[..], &[]] {
        let mut verdict = verify_table(&made.claim, &published, None);
        assert!(verdict.holds);
        let parts = Parts { table: &table, of_row, class_of: &class_of, part_of };
        verify_people_of_table(&mut verdict, &made.claim.criteria, parts).unwrap();
        assert!(!verdict.holds, "nobody was found");
    }
}

#[test]
fn rows_that_differ_are_refused_by_column_and_count() {
    let rows = "who,age,ill\n1,30,secret\n1,31,secret\n2,40,flu\n";
    let recipe = |visits| {
        let mut recipe = table_recipe(Method::Mondrian, 2, visits, table::Criteria::default()).unwrap();
        let declared = &mut recipe.table.as_mut().unwrap().declared;
        declared.roles = vec![
            ("age".into(), disjoin::data::table::Role::Quasi),
            ("ill".into(), disjoin::data::table::Role::Sensitive),
        ];
        declared.numeric.clear();
        recipe
    };
    let read = |recipe: &Recipe, text: &str| {
        table_bytes("x.csv", text.as_bytes(), &recipe.input.options, &recipe.table.as_ref().unwrap().declared)
    };
    let error = read(&recipe(Visits::Together), rows).unwrap_err();
    let told = format!("{error} {}", error.hint().unwrap());
    assert!(told.contains("age (1 people)") && !told.contains("secret") && told.contains("--first-visit"), "{told}");
    let (first, intake) = read(&recipe(Visits::First), rows).unwrap();
    assert_eq!((first.n_rows(), intake.rows, intake.people.unwrap().record_of), (2, 2, vec![Some(0), None, Some(1)]));
    // Values of rows that are not used leave no trace.
    assert_eq!(first.columns[0].domain.texts().iter().collect::<Vec<_>>(), ["30", "40"]);
    let (apart, intake) = read(&recipe(Visits::Apart), rows).unwrap();
    assert_eq!((apart.n_rows(), intake.people.unwrap().of_row), (3, vec![0, 0, 1]));
    let error = read(&recipe(Visits::Apart), "who,age,ill\n1,30,x\n,31,y\n").unwrap_err().to_string();
    assert!(error.starts_with("x.csv:3: the row names no person"), "{error}");
}

#[test]
fn every_format_with_columns_names_people() {
    let expected = [vec!["a", "b", "c"], vec!["d"]];
    let jsonl =
        "{\"who\":7,\"codes\":[\"a\",\"b\"]}\n{\"who\":\"x\",\"codes\":[\"d\"]}\n{\"who\":7,\"codes\":[\"c\",\"a\"]}\n";
    let csv = "who,codes\n7,a;b\nx,d\n7,c;a\n";
    let by_id = Options { person: None, id_column: Some("who".into()), ..sets_options(Visits::Together) };
    for (name, text, options) in [
        ("x.jsonl", jsonl, sets_options(Visits::Together)),
        ("x.csv", csv, sets_options(Visits::Together)),
        ("x.csv", csv, by_id),
    ] {
        let (data, intake) = read_bytes(name, text.as_bytes(), &options).unwrap();
        let texts: Vec<Vec<&str>> =
            data.records.iter().map(|record| record.iter().map(|&t| data.dictionary.text(t)).collect()).collect();
        assert_eq!(texts, expected);
        let people = intake.people.unwrap();
        assert_eq!((people.people, people.rows, people.column.as_str(), intake.records), (2, 3, "who", 2));
    }
    // The long format has a row a term; its ids are people.
    let long = Options { person: Some("who".into()), item_column: Some("what".into()), ..Options::default() };
    let (data, intake) = read_bytes("x.csv", b"who,what\n7,a\nx,d\n7,c\n", &long).unwrap();
    assert_eq!((data.records.len(), intake.people.unwrap().people), (2, 2));
    let keep = Options { visits: Visits::Apart, ..long.clone() };
    assert!(
        read_bytes("x.csv", b"who,what\n7,a\nx,d\n7,c\n", &keep).unwrap_err().to_string().contains("one row a term")
    );
    let two = Options { id_column: Some("what".into()), ..long };
    assert!(read_bytes("x.csv", b"who,what\n7,a\n", &two).unwrap_err().to_string().contains("names another column"));
    let basket = Options { person: Some("who".into()), ..Options::default() };
    assert!(read_bytes("x.dat", b"1 2 3\n4 5\n", &basket).unwrap_err().to_string().contains("without columns"));
}

#[test]
fn ids_that_come_back_are_told_where_nobody_is_counted() {
    let mut text = String::from("patient_id,codes\n");
    (0..60).for_each(|row| text += &format!("p{},t{};u{}\n", row / 3, row % 7, row % 5));
    let options = Options { column: Some("codes".into()), ..Options::default() };
    let (_, intake) = read_bytes("x.csv", text.as_bytes(), &options).unwrap();
    let expected = Evidence::Identifier { column: "patient_id".into(), rows: 60, different: 20, most_rows: 3 };
    assert_eq!(intake.several, std::slice::from_ref(&expected));
    assert!(expected.text().contains("--person patient_id"));
    let named = Options { person: Some("patient_id".into()), ..options };
    assert!(read_bytes("x.csv", text.as_bytes(), &named).unwrap().1.several.is_empty());

    let roles = [("patient_id", disjoin::data::table::Role::Identifier), ("codes", disjoin::data::table::Role::Quasi)];
    let roles = roles.map(|(name, role)| (name.to_owned(), role)).to_vec();
    let declared = disjoin::read::rows::Declared { roles, ..Default::default() };
    let (_, intake) = table_bytes("x.csv", text.as_bytes(), &Options::default(), &declared).unwrap();
    assert_eq!(intake.several, [expected]);
}
