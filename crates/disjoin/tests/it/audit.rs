//! `disjoin audit` against slow definitions, and against the numbers of pycanon that are written down in `audit/pycanon.json`
//! (lab/bench/audit.py --store writes it).

use std::collections::BTreeMap;

use disjoin::Unobserved;
use disjoin::audit::compared::compare;
use disjoin::audit::require;
use disjoin::audit::sets::{audit_sets, release_of};
use disjoin::audit::{
    Asked, Labels, SensitiveAudit, TableAudit, audit_table, criteria, partition, with_numbers, without_suppressed,
};
use disjoin::data::table::{Role, Table};
use disjoin::data::{Dataset, Dictionary, Hierarchy};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, table_bytes};
use disjoin::release::cells::{Shown, Value};
use disjoin::release::generalized::TableClaim;
use disjoin::release::privacy_models::Criterion;
use disjoin::verify::{verify_recoded, verify_table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn table(text: &str, quasi: &[&str], sensitive: &[&str]) -> Table {
    let role = |names: &[&str], role| names.iter().map(|name| (name.to_string(), role)).collect::<Vec<_>>();
    let roles = [role(quasi, Role::Quasi), role(sensitive, Role::Sensitive)].concat();
    let declared = Declared { roles, rest: Some(Role::Other), ..Declared::default() };
    let table = table_bytes("x.csv", text.as_bytes(), &Options::default(), &declared).unwrap().0;
    with_numbers(table, &[Role::Sensitive])
}

fn audited(table: &Table) -> TableAudit {
    audit_table(table, &Labels::new(), &Asked::default(), &Unobserved)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// Classes of a table as the texts of their sensitive values.
fn classes(table: &Table, column: usize) -> Vec<Vec<String>> {
    let text = |of: &disjoin::data::table::Column, row: usize| of.domain.text(of.codes[row]).to_owned();
    let (quasi, sensitive) = (table.quasi(), table.sensitive());
    let mut classes: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for row in 0..table.n_rows() {
        let key = quasi.iter().map(|of| text(of, row)).collect();
        classes.entry(key).or_default().push(text(sensitive[column], row));
    }
    classes.into_values().collect()
}

fn counts(values: &[String]) -> BTreeMap<&str, f64> {
    let mut counts = BTreeMap::new();
    values.iter().for_each(|value| *counts.entry(value.as_str()).or_insert(0.0) += 1.0);
    counts
}

/// Every measure by its definition, one class after the other.
struct Slow {
    distinct: f64,
    entropy: f64,
    /// By rank l, from 2 on: the most frequent value by all from rank l on.
    recursive: Vec<f64>,
    /// As pycanon has it: the rarest value by all from rank l on in ascending order, rounded up.
    ascending: f64,
    equal: f64,
    ordered: f64,
    beta: f64,
    enhanced: Option<f64>,
    delta: f64,
    alpha: f64,
}

fn slowly(table: &Table, column: usize) -> Slow {
    let classes = classes(table, column);
    let all: Vec<String> = classes.concat();
    let (n, overall) = (all.len() as f64, counts(&all));
    let share = |of: &BTreeMap<&str, f64>, value: &str, n: f64| of.get(value).copied().unwrap_or(0.0) / n;
    let mut values: Vec<&str> = overall.keys().copied().collect();
    values
        .sort_by(|a, b| a.parse().unwrap_or(f64::NAN).partial_cmp(&b.parse().unwrap_or(f64::NAN)).unwrap_or(a.cmp(b)));
    let l = classes.iter().map(|class| counts(class).len()).min().unwrap();
    let mut slow = Slow {
        distinct: l as f64,
        entropy: f64::INFINITY,
        recursive: vec![0.0; l.saturating_sub(1).min(9)],
        ascending: f64::NAN,
        equal: 0.0,
        ordered: 0.0,
        beta: 0.0,
        enhanced: Some(0.0),
        delta: 0.0,
        alpha: 0.0,
    };
    for class in &classes {
        let (g, counts) = (class.len() as f64, counts(class));
        let entropy: f64 = counts.values().map(|count| -count / g * (count / g).ln()).sum();
        slow.entropy = slow.entropy.min(entropy.exp());
        let mut sorted: Vec<f64> = counts.values().copied().collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        slow.alpha = slow.alpha.max(sorted[0] / g);
        for (c, l) in slow.recursive.iter_mut().zip(2..) {
            *c = c.max(sorted[0] / sorted[l - 1..].iter().sum::<f64>());
        }
        sorted.reverse();
        if l > 1 {
            slow.ascending = slow.ascending.max((sorted[0] / sorted[l - 1..].iter().sum::<f64>() + 1.0).floor());
        }
        let (mut sum, mut moved, mut cumulated) = (0.0, 0.0, 0.0_f64);
        for value in &values {
            let (q, p) = (share(&counts, value, g), share(&overall, value, n));
            sum += (q - p).abs();
            cumulated += q - p;
            moved += cumulated.abs();
            slow.beta = slow.beta.max((q - p) / p);
            if q > 0.0 {
                slow.delta = slow.delta.max((q / p).ln().abs());
            }
            if q > p {
                let gain = (q - p) / p;
                let is_possible = gain <= -p.ln() + 1e-9;
                slow.enhanced = slow.enhanced.filter(|_| is_possible).map(|most| most.max(gain));
            }
        }
        slow.equal = slow.equal.max(sum / 2.0);
        slow.ordered = slow.ordered.max(moved / (values.len().max(2) - 1) as f64);
    }
    slow
}

fn check(found: &SensitiveAudit, slow: &Slow, name: &str) {
    assert_eq!(found.distinct_l.value, slow.distinct, "{name}");
    assert!(near(found.entropy_l.value, slow.entropy), "{name}");
    let c: Vec<f64> = found.recursive.iter().map(|of| of.c).collect();
    assert!(c.len() == slow.recursive.len() && c.iter().zip(&slow.recursive).all(|(a, b)| near(*a, *b)), "{name}");
    assert!(near(found.t_equal.value, slow.equal), "{name}");
    assert!(found.t_ordered.is_none_or(|t| near(t.value, slow.ordered)), "{name}");
    assert!(near(found.basic_beta.value, slow.beta), "{name}");
    assert_eq!(found.enhanced_beta.is_some(), slow.enhanced.is_some(), "{name}");
    assert!(found.enhanced_beta.zip(slow.enhanced).is_none_or(|(a, b)| near(a.value, b)), "{name}");
    assert!(near(found.delta.value, slow.delta), "{name}");
    assert!(near(found.alpha.value, slow.alpha), "{name}");
}

#[test]
fn the_numbers_are_those_of_pycanon() {
    let stored: serde_json::Value = serde_json::from_str(include_str!("audit/pycanon.json")).unwrap();
    let (mut equal, mut bounded) = (0, 0);
    for case in stored.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let list = |key: &str| -> Vec<&str> {
            case[key].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
        };
        let table = table(case["text"].as_str().unwrap(), &list("quasi"), &list("sensitive"));
        let found = audited(&table);
        let slow: Vec<Slow> = (0..found.sensitive.len()).map(|column| slowly(&table, column)).collect();
        found.sensitive.iter().zip(&slow).for_each(|(found, slow)| check(found, slow, name));
        // pandas takes NA for a missing value, and pycanon leaves such records out.
        if case["na"].as_bool() == Some(true) {
            continue;
        }
        let theirs = |key: &str| case["pycanon"][key].as_f64();
        let most = |of: &dyn Fn(&SensitiveAudit) -> f64| found.sensitive.iter().map(of).fold(0.0, f64::max);
        assert_eq!(Some(found.k as f64), theirs("k"), "{name}");
        assert_eq!(
            Some(found.sensitive.iter().map(|of| of.distinct_l.value).fold(99.0, f64::min)),
            theirs("l"),
            "{name}"
        );
        let t = most(&|of| of.t().value);
        // One value: pycanon divides by nothing.
        assert!(theirs("t").is_none_or(|theirs| near(t, theirs)) && (theirs("t").is_some() || t == 0.0), "{name}");
        let beta = most(&|of| of.basic_beta.value);
        assert!(near(beta, theirs("beta").unwrap()), "{name}");
        assert!(near(most(&|of| of.delta.value), theirs("delta").unwrap()), "{name}");
        assert!(near(most(&|of| of.alpha.value), theirs("alpha").unwrap()), "{name}");
        // pycanon rounds down, also what a rounding error left just below a whole number.
        let entropy = found.sensitive.iter().map(|of| of.entropy_l.value).fold(99.0, f64::min);
        let is_rounded = [entropy - 1e-9, entropy + 1e-9].iter().any(|l| Some(l.floor()) == theirs("entropy"));
        assert!(is_rounded, "{name}: {entropy}");
        // pycanon sorts in ascending order; by the definition the most frequent value comes first, and so it does here.
        if let ([slow], Some(c)) = (&slow[..], theirs("c")) {
            assert_eq!(slow.ascending, c, "{name}");
        }
        match found.sensitive.iter().all(|of| of.enhanced_beta.is_some()) {
            true => {
                equal += 1;
                assert!(near(beta, theirs("enhanced").unwrap()), "{name}");
            }
            // No beta is enough; pycanon says the bound of the rarest value.
            false => {
                bounded += 1;
                assert!(theirs("enhanced").unwrap() <= beta + 1e-9, "{name}");
            }
        }
    }
    assert!(equal + bounded >= 20 && bounded >= 1, "{equal} {bounded}");
}

const CELLS: [&[&str]; 2] = [&["[0, 10[", "[10, 20[", "5-14", "*", "7", "NA"], &["a", "{a,b}", "*", "b", "1*"]];

/// Text of a table by chance, with generalised cells and two sensitive columns.
fn random(rng: &mut ChaCha8Rng) -> String {
    let mut text = String::from("x,y,word,number\n");
    let (cells, values) = (rng.random_range(1..6), rng.random_range(1..5));
    for _ in 0..rng.random_range(1..40) {
        let x = CELLS[0][rng.random_range(0..cells)];
        let y = CELLS[1][rng.random_range(0..cells.min(5))];
        let (word, number) = (rng.random_range(0..values), rng.random_range(0..values * 2));
        text += &format!("\"{x}\",\"{y}\",w{word},{number}\n");
    }
    text
}

#[test]
fn measures_and_risks_are_those_of_the_definitions() {
    let mut rng = ChaCha8Rng::seed_from_u64(23);
    let mut suppressed = 0;
    for round in 0..1000 {
        let text = random(&mut rng);
        let table = table(&text, &["x", "y"], &["word", "number"]);
        let population = rng.random_bool(0.5).then(|| table.n_rows() as u64 * rng.random_range(1..9));
        let asked = Asked { threshold: [0.1, 0.2, 0.34][round % 3], population, ..Asked::default() };
        let found = audit_table(&table, &Labels::new(), &asked, &Unobserved);
        for (column, of) in found.sensitive.iter().enumerate() {
            check(of, &slowly(&table, column), &text);
            let classes = classes(&table, column);
            let most = |class: &Vec<String>| counts(class).values().fold(0.0, |a: f64, b| a.max(*b));
            let all = most(&classes.concat()) / table.n_rows() as f64;
            let right = classes.iter().map(most).sum::<f64>() / table.n_rows() as f64;
            assert!(near(of.guessing.right, right) && near(of.guessing.baseline, all));
            let same = classes.iter().filter(|class| class.iter().all(|value| *value == class[0]));
            assert_eq!(of.guessing.homogeneous_records, same.map(|class| class.len() as u64).sum::<u64>());
        }
        check_risks(&found, &classes(&table, 0), &asked);
        let rest: Vec<&str> = text
            .lines()
            .skip(1)
            .filter(|line| !line.starts_with("\"*\",\"*\"") && !line.starts_with("\"NA\",\"*\""))
            .collect();
        assert_eq!(found.suppressed as usize, table.n_rows() - rest.len());
        if found.suppressed > 0 && !rest.is_empty() {
            suppressed += 1;
            let (without, left_out) = without_suppressed(&table, &Labels::new());
            assert_eq!((left_out, Some(audited(&without).k)), (found.suppressed, found.k_without_suppressed));
        }
    }
    assert!(suppressed > 50, "{suppressed}");
}

/// ARX's formulas, one record after the other.
fn check_risks(found: &TableAudit, classes: &[Vec<String>], asked: &Asked) {
    let sizes: Vec<f64> = classes.iter().flat_map(|class| vec![class.len() as f64; class.len()]).collect();
    let n = sizes.len() as f64;
    let each = asked.population.map_or(1.0, |population| population as f64 / n);
    let prosecutor: Vec<f64> = sizes.iter().map(|size| 1.0 / size).collect();
    let journalist: Vec<f64> = sizes.iter().map(|size| 1.0 / (size * each)).collect();
    let highest = |risks: &[f64]| risks.iter().copied().fold(0.0, f64::max);
    let mean = |risks: &[f64]| risks.iter().sum::<f64>() / n;
    let above = |risks: &[f64]| risks.iter().filter(|&&risk| risk > asked.threshold + 1e-12).count() as u64;
    let risks = &found.risks;
    assert!(near(risks.prosecutor.highest, highest(&prosecutor)) && near(risks.prosecutor.mean, mean(&prosecutor)));
    assert!(near(risks.journalist.highest, highest(&journalist)) && near(risks.journalist.mean, mean(&journalist)));
    assert_eq!(risks.prosecutor.records_at_risk, above(&prosecutor));
    assert!(risks.journalist.records_at_risk.abs_diff(above(&journalist)) == 0 || asked.population.is_some());
    // The marketer finds one record of each class, by the size of the class in the population.
    let marketer: f64 = classes.iter().map(|class| class.len() as f64 / (class.len() as f64 * each)).sum::<f64>() / n;
    assert!(near(risks.marketer, marketer));
    assert_eq!(risks.unique, sizes.iter().filter(|&&size| size == 1.0).count() as u64);
    assert_eq!(found.k as f64, sizes.iter().copied().fold(f64::INFINITY, f64::min));
}

#[test]
fn claims_promise_what_was_found_and_no_more() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut claimed = 0;
    for _ in 0..400 {
        let table = table(&random(&mut rng), &["x", "y"], &["word", "number"]);
        let found = audited(&table);
        let criteria = criteria(&found);
        if criteria.iter().all(|criterion| !matches!(criterion, Criterion::KAnonymity { .. })) {
            assert_eq!(found.k, 1);
            continue;
        }
        claimed += 1;
        let holds = |criteria: &[Criterion]| {
            let claim = TableClaim::new(&table, &partition(&table), "audit", criteria);
            verify_table(&claim, &table, None).holds
        };
        assert!(holds(&criteria), "{criteria:?}");
        // A step further, nothing holds.
        for criterion in &criteria {
            let more = match *criterion {
                Criterion::KAnonymity { k } => Criterion::KAnonymity { k: k + 1 },
                Criterion::DistinctDiversity { l } => Criterion::DistinctDiversity { l: l + 1 },
                Criterion::EntropyDiversity { l } => Criterion::EntropyDiversity { l: l + 2e-4 },
                Criterion::RecursiveDiversity { c, l } => Criterion::RecursiveDiversity { c: c - 2e-4, l },
                Criterion::Frequency { alpha } => Criterion::Frequency { alpha: alpha - 2e-4 },
                Criterion::Closeness { t, distance } if t > 2e-4 => Criterion::Closeness { t: t - 2e-4, distance },
                Criterion::Likeness { beta, enhanced } if beta > 2e-4 => {
                    Criterion::Likeness { beta: beta - 2e-4, enhanced }
                }
                _ => continue,
            };
            assert!(!holds(&[more]), "{more:?}");
        }
    }
    assert!(claimed > 40, "{claimed}");
}

#[test]
fn worst_classes_show_no_value_unless_asked() {
    let table = table("x,y,s\nsecret,hidden*,p\n\"[1, 2[\",\"{a,b}\",q\n\"[1, 2[\",\"{a,b}\",q\n", &["x", "y"], &["s"]);
    let told = serde_json::to_string(&audited(&table)).unwrap();
    assert!(!told.contains("secret") && !told.contains("hidden") && told.contains("a masked text"), "{told}");
    let asked = Asked { name_values: true, ..Asked::default() };
    let worst = audit_table(&table, &Labels::new(), &asked, &Unobserved).worst;
    assert_eq!((worst[0].cells.as_slice(), worst[0].first_record), (&["secret".to_owned(), "hidden*".into()][..], 1));
}

/// By the definition: for every person of the original all records whose cells cover the person's values.
#[test]
fn the_original_is_compared_record_by_record() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut lost, mut invented) = (0, 0);
    for _ in 0..300 {
        let released = random(&mut rng);
        let mut text = String::from("x,y,word,number\n");
        for _ in 0..rng.random_range(1..30) {
            let (x, y) = (rng.random_range(0..20), ["a", "b", "10", "12"][rng.random_range(0..4)]);
            text += &format!("{x},{y},w{},{}\n", rng.random_range(0..3), rng.random_range(0..4));
        }
        let (quasi, sensitive) = (["x", "y"], ["word", "number"]);
        let release = table(&released, &quasi, &sensitive);
        let original = with_numbers(table(&text, &quasi, &sensitive), &[Role::Quasi]);
        let found = compare(&release, &original, &Labels::new(), 0.3, &Unobserved);
        let rows = |text: &str| -> Vec<Vec<String>> {
            let cells = |line: &str| {
                line.split(if line.contains('"') { "\",\"" } else { "," }).map(str::to_owned).collect::<Vec<_>>()
            };
            let split = |line: &str| -> Vec<String> {
                if !line.contains('"') {
                    return cells(line);
                }
                let (quoted, rest) = line.rsplit_once("\",").unwrap();
                let mut row: Vec<String> =
                    quoted.split("\",\"").map(|cell| cell.trim_matches('"').to_owned()).collect();
                row.extend(rest.split(',').map(str::to_owned));
                row
            };
            text.lines().skip(1).map(split).collect()
        };
        let (ours, theirs) = (rows(&released), rows(&text));
        let covers = |cell: &str, value: &str| Shown::parse(cell).covers(&Value::new(value));
        let fits =
            |record: &[String], person: &[String]| covers(&record[0], &person[0]) && covers(&record[1], &person[1]);
        let is = |record: &[String], person: &[String]| fits(record, person) && record[2..] == person[2..];
        let candidates: Vec<usize> =
            theirs.iter().map(|person| ours.iter().filter(|record| fits(record, person)).count()).collect();
        let without = theirs.iter().filter(|person| !ours.iter().any(|record| is(record, person))).count();
        let none: Vec<u64> = (1..)
            .zip(&ours)
            .filter(|(_, record)| !theirs.iter().any(|person| is(record, person)))
            .map(|(at, _)| at)
            .collect();
        assert_eq!(found.without_release, Some(without as u64));
        assert_eq!(found.without_original.as_ref().unwrap().records, none.len() as u64);
        assert!(found.without_original.as_ref().unwrap().first.iter().all(|record| none.contains(record)));
        let risk = found.risk.unwrap();
        let fewest = candidates.iter().copied().filter(|&n| n > 0).min().unwrap_or(0);
        assert_eq!(risk.fewest_candidates, fewest as u64);
        assert_eq!(risk.at_risk, candidates.iter().filter(|&&n| n > 0 && 1.0 / n as f64 > 0.3).count() as u64);
        let in_order =
            (ours.len() == theirs.len()).then(|| ours.iter().zip(&theirs).filter(|(a, b)| !is(a, b)).count() as u64);
        assert_eq!(found.in_order.map(|of| of.records), in_order);
        lost += without;
        invented += none.len();
    }
    assert!(lost > 100 && invented > 100, "{lost} {invented}");
}

#[test]
fn what_is_lost_is_told_by_the_measure_of_tables() {
    let original = "age,word,ill\n20,a,p\n25,b,q\n30,c,p\n40,d,q\n";
    let release = "age,word,ill\n20-25,\"{a,b}\",p\n20-25,\"{a,b}\",q\n\"[30, 41[\",*,p\n\"[30, 41[\",*,q\n";
    let (quasi, sensitive) = (["age", "word"], ["ill"]);
    let original = with_numbers(table(original, &quasi, &sensitive), &[Role::Quasi]);
    let found = compare(&table(release, &quasi, &sensitive), &original, &Labels::new(), 0.2, &Unobserved);
    // Ranges of 5 and 10 out of 20; two words of four, and all.
    assert!(near(found.quasi[0].ncp, (0.25 + 0.5) / 2.0) && near(found.quasi[1].ncp, 0.75));
    assert!(near(found.gcp, (0.375 + 0.75) / 2.0) && near(found.gcp_all, found.gcp));
    assert_eq!((found.in_order.unwrap().records, found.without_release), (0, Some(0)));
    // Ages are spread evenly over what cells cover; of words half goes to a and b, and half to all four.
    assert!(near(found.quasi[0].marginal_error, 0.0) && near(found.quasi[1].marginal_error, 0.25));
    assert!(near(found.sensitive[0].error, 0.0));
}

fn taxonomy() -> (Hierarchy, Dictionary) {
    let mut terms = Dictionary::default();
    // Every label has a term that no record shows by itself.
    let paths = [("a", "A"), ("b", "A"), ("a0", "A"), ("c", "C"), ("d", "C"), ("c0", "C"), ("e", "E"), ("e0", "E")];
    paths.iter().for_each(|(term, _)| {
        terms.intern(term);
    });
    let hierarchy = Hierarchy::from_paths(&terms, paths.map(|(term, label)| (term, [label, "all"]))).unwrap();
    (hierarchy, terms)
}

/// What a person may have whose record shows an item.
fn leaves(item: &str) -> Vec<&'static str> {
    match item {
        "A" => vec!["a", "b", "a0"],
        "C" => vec!["c", "d", "c0"],
        "E" => vec!["e", "e0"],
        "all" => vec!["a", "b", "a0", "c", "d", "c0", "e", "e0"],
        item => vec![["a", "b", "c", "d", "e", "x"].into_iter().find(|term| *term == item).unwrap()],
    }
}

/// The fewest records that may be a person's of whom up to m terms are known: every person, every choice of terms.
fn fewest(records: &[Vec<&str>], m: usize) -> u64 {
    let matches = |known: &[&str]| {
        let has = |record: &&Vec<&str>| known.iter().all(|term| record.iter().any(|item| leaves(item).contains(term)));
        records.iter().filter(has).count() as u64
    };
    let mut best = u64::MAX;
    for record in records {
        for mask in 1_u32..1 << record.len() {
            let items: Vec<&str> = (0..record.len()).filter(|at| mask >> at & 1 == 1).map(|at| record[at]).collect();
            if items.len() > m {
                continue;
            }
            let mut choices: Vec<Vec<&str>> = vec![Vec::new()];
            for item in items {
                choices = choices
                    .iter()
                    .flat_map(|known| leaves(item).into_iter().map(move |term| [known.as_slice(), &[term]].concat()))
                    .collect();
            }
            best = choices.iter().map(|known| matches(known)).min().unwrap().min(best);
        }
    }
    best
}

#[test]
fn sets_have_the_k_of_all_choices_of_terms() {
    let (hierarchy, terms) = taxonomy();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut overlapping, mut anonymous, mut claimed) = (0, 0, 0);
    for round in 0..600 {
        // Labels alone, terms alone, or both.
        let items: &[&str] = match round % 3 {
            0 => &["A", "C", "e", "x"],
            1 => &["a", "b", "c", "x"],
            _ => &["A", "a", "c", "C", "E", "all", "x"],
        };
        let some = &items[..rng.random_range(1..=items.len())];
        let records: Vec<Vec<&str>> = (0..rng.random_range(1..25))
            .map(|_| some.iter().copied().filter(|_| rng.random_bool(0.6)).collect::<Vec<_>>())
            .filter(|record| !record.is_empty())
            .collect();
        if records.is_empty() {
            continue;
        }
        let data = Dataset::from_texts(records.clone());
        let found = audit_sets(&data, Some((&hierarchy, &terms)), 3, 3, &Unobserved);
        for of in &found.sizes {
            assert_eq!(of.fewest, fewest(&records, of.m as usize), "{records:?} m = {}", of.m);
            assert_eq!(of.records_at_risk > 0, of.fewest < 3);
        }
        overlapping += u32::from(found.overlapping);
        anonymous += u32::from(found.sizes[2].fewest >= 3);
        if let Ok((release, claim)) = release_of(&data, Some((&hierarchy, &terms)), &found) {
            claimed += 1;
            assert!(verify_recoded(&claim, &release, None, &Unobserved).holds);
            let best = found.sizes.iter().rev().find(|of| of.fewest >= 2).unwrap();
            assert_eq!((u64::from(claim.k), claim.m()), (best.fewest, Some(best.m)));
        }
    }
    assert!(overlapping > 50 && anonymous > 20 && claimed > 50, "{overlapping} {anonymous} {claimed}");
}

#[test]
fn without_a_hierarchy_items_are_counted_as_they_are() {
    let data = Dataset::from_texts([vec!["a", "b"], vec!["a", "b"], vec!["a"], vec!["c", "a", "b"], vec!["c"]]);
    let found = audit_sets(&data, None, 2, 3, &Unobserved);
    let told: Vec<(u64, u64, u64, u64)> =
        found.sizes.iter().map(|of| (of.itemsets, of.below_k, of.fewest, of.records_at_risk)).collect();
    assert_eq!(told, [(3, 0, 2, 0), (3, 2, 1, 1), (1, 1, 1, 1)]);
    assert_eq!((found.records, found.items, found.generalised, found.overlapping), (5, 3, 0, false));
}

#[test]
fn requirements_are_met_or_not() {
    let table = table("x,s\nq,1\nq,2\nr,1\nr,1\nr,2\n", &["x"], &["s"]);
    let found = audited(&table);
    let met = |text: &str| -> Vec<bool> {
        require::of_table(&require::parse(text).unwrap(), &found).unwrap().iter().map(|met| met.met).collect()
    };
    assert_eq!(met("k=2,l=2,entropy-l=1.8,recursive=3:2,alpha=0.7,t=0.1,prosecutor=0.5,unique=0"), [true; 8]);
    assert_eq!(
        met("k=3,l=3,entropy-l=2,recursive=2:2,alpha=0.6,t=0.05,prosecutor=0.4,guess=-0"),
        [false, false, false, false, false, false, false, true]
    );
    // For three values there is no c, whatever it is.
    assert_eq!(met("recursive=99:3"), [false]);
    let refused = |text: &str| require::of_table(&require::parse(text).unwrap(), &found).unwrap_err().to_string();
    assert!(refused("t-hierarchical=0.2").contains("has no hierarchy"));
    let sets = audit_sets(&Dataset::from_texts([["a"], ["a"]]), None, 2, 2, &Unobserved);
    let met = require::of_sets(&require::parse("k=2").unwrap(), &sets).unwrap();
    assert!(met[0].met && met[0].at_least);
    assert!(require::of_sets(&require::parse("l=2").unwrap(), &sets).is_err());
}
