//! Dependencies that survive in a release: told by names, counted by people, and gone after Break-Merge. That would catch an attack
//! that reads codes of the wrong column, a possible original that ties columns together, and a protection that does not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::tables::bytes_of;
use disjoin::Unobserved;
use disjoin::attack::dependency::{Options, Structure};
use disjoin::attack::person_breach;
use disjoin::attack::surviving::{Of, Published, Surviving, beliefs_about, surviving};
use disjoin::data::table::{Column, Role, Table};
use disjoin::knowledge::network::Risk;
use disjoin::protect::break_merge::{break_merge, identical_rows};
use disjoin::protect::tabular::{Method, Params};
use disjoin::recipe::written::Limits;
use disjoin::reconstruct::deal;
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::{SplitClaim, SplitTables};
use disjoin::report::{Attacked, Dependencies};
use disjoin::verify::{parse_split, verify_split};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn words(name: &str, role: Role, cells: &[String]) -> Column {
    Column::words(name, role, cells.iter().map(|cell| Some(cell.as_str())))
}

/// Whether a release is accepted if no rule may lead to a sensitive value.
fn holds(found: &Surviving, are_classes: bool) -> bool {
    let dependencies = Some(Dependencies { found: found.clone(), person: None });
    let attacked = match are_classes {
        true => Attacked::Classes { inference: None, dependencies, actual: None },
        false => Attacked::Split { breach: None, network: None, promised: None, is_outside: false, dependencies },
    };
    let written = Limits { dependency_rules: Some(0), ..Limits::default() };
    disjoin::recipe::Limits::resolve(&written, 2).unwrap().judge(None, &attacked.found()).holds
}

/// The release of a table whose rows with the same quasi-identifiers are its groups, after criteria were enforced.
fn released(table: &Table, criteria: &[Criterion]) -> (SplitClaim, SplitTables) {
    let params = Params { method: Method::Mondrian, criteria: criteria.to_vec(), most_removed: 0.1, seed: 1 };
    let groups = identical_rows(table, &params).unwrap();
    let split = break_merge(table, &groups).unwrap();
    let claim = SplitClaim::new(&split, "break-merge", criteria);
    let tables = parse_split(&claim, "", &bytes_of(&split)).unwrap();
    (claim, tables)
}

/// Two columns in a group of three and one of two: 6 x 3 ways and 2 x 1 ways, each drawn as often as any other.
#[test]
fn every_way_to_deal_is_as_likely() {
    let cells = |texts: &str| texts.chars().map(String::from).collect::<Vec<_>>();
    let columns = vec![
        words("q", Role::Quasi, &cells("xxxyy")),
        words("a", Role::Sensitive, &cells("12312")),
        words("b", Role::Sensitive, &cells("ccdcc")),
    ];
    let (_, tables) = released(&Table::new(5, columns, None), &[Criterion::KAnonymity { k: 2 }]);
    let mut ways: BTreeMap<Vec<Vec<u32>>, u32> = BTreeMap::new();
    let draws = 7200;
    for seed in 0..draws {
        let table = deal(&tables, seed).unwrap();
        assert_eq!(table.columns[0].codes, tables.quasi.columns[0].codes);
        *ways.entry(table.columns[1..].iter().map(|column| column.codes.clone()).collect()).or_default() += 1;
    }
    assert_eq!(ways.len(), 36);
    // 200 each, give or take 14.
    assert!(ways.values().all(|n| (130..270).contains(n)), "{ways:?}");
    let mut wrong = tables.clone();
    wrong.sensitive[0].counts[0].count += 1;
    assert!(deal(&wrong, 0).is_err());
    wrong.sensitive[0].counts.remove(0);
    assert!(deal(&wrong, 0).is_err());
}

/// Two columns in groups of three and two rows, and a quasi-identifier that both groups share: a person with it may be in either. What is
/// told of the person is the share of all assignments, row by row.
#[test]
fn what_is_told_of_a_person_is_the_share_of_all_assignments() {
    let cells = |texts: &str| texts.chars().map(String::from).collect::<Vec<_>>();
    let columns = vec![
        words("q", Role::Quasi, &cells("xxxyy")),
        words("r", Role::Quasi, &cells("sssss")),
        words("a", Role::Sensitive, &cells("12312")),
        words("b", Role::Sensitive, &cells("ccdcd")),
    ];
    let (_, tables) = released(&Table::new(5, columns, None), &[Criterion::KAnonymity { k: 2 }]);
    // Every assignment, by its draws: with so many seeds each of the 6 x 3 x 2 x 2 has come up.
    let mut seen: BTreeSet<Vec<Vec<u32>>> = BTreeSet::new();
    (0..4000).for_each(|seed| {
        seen.insert(deal(&tables, seed).unwrap().columns[2..].iter().map(|column| column.codes.clone()).collect());
    });
    assert_eq!(seen.len(), 6 * 3 * 2 * 2);
    let code = |column: usize, text: &str| {
        let domain =
            if column < 2 { &tables.quasi.columns[column].domain } else { &tables.sensitive[column - 2].domain };
        (column, domain.texts().get(text).unwrap())
    };
    for has in
        [vec![code(1, "s")], vec![code(1, "s"), code(2, "1")], vec![code(0, "x"), code(3, "d")], vec![code(2, "3")]]
    {
        let fits = |codes: &[Vec<u32>], row: usize| {
            has.iter().all(|&(column, code)| match column {
                0 | 1 => tables.quasi.columns[column].codes[row] == code,
                _ => codes[column - 2][row] == code,
            })
        };
        let is_target = |row: usize| {
            has.iter()
                .filter(|(column, _)| *column < 2)
                .all(|&(column, code)| tables.quasi.columns[column].codes[row] == code)
        };
        let mut of_pair: BTreeMap<(u32, u32), f64> = BTreeMap::new();
        let (mut all, mut rows) = (0.0, 0.0);
        for codes in &seen {
            for row in 0..5 {
                rows += f64::from(u8::from(is_target(row)));
                if fits(codes, row) {
                    all += 1.0;
                    *of_pair.entry((codes[0][row], codes[1][row])).or_default() += 1.0;
                }
            }
        }
        let found = person_breach(&tables, &has);
        assert!((found.known - all / rows).abs() < 1e-12, "{has:?}: {found:?}");
        for (column, shares) in found.columns.iter().enumerate() {
            for (code, share) in shares.iter().enumerate() {
                let of = |(pair, n): (&(u32, u32), &f64)| {
                    if [pair.0, pair.1][column] as usize == code { *n } else { 0.0 }
                };
                assert!((share - of_pair.iter().map(of).sum::<f64>() / all).abs() < 1e-12, "{has:?}: {found:?}");
            }
        }
        let sum: f64 = found.guesses.iter().map(|guess| guess.probability).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{found:?}");
    }
}

/// Table II of nadimpalli2014, with its columns in another order than by role.
fn table_ii() -> Table {
    let rows = [
        "State 30-50 Never F 13-23 <=50",
        "State 30-50 Never F 13-23 <=50",
        "Federal 30-50 Married F 13-23 <=50",
        "Private 30-50 Divorced F 13-23 <=50",
        "Local 30-50 Separated F 13-23 >50",
        "Private 51-90 Married M 24-58 >50",
        "Self 51-90 Married M 24-58 <=50",
        "Private 51-90 Married M 24-58 >50",
        "Private 51-90 Divorced M 24-58 <=50",
        "Federal 51-90 Never M 24-58 <=50",
    ];
    let column = |(at, name): (usize, &&str)| {
        let cells: Vec<String> = rows.iter().map(|row| row.split(' ').nth(at).unwrap().to_owned()).collect();
        let role = if ["government", "marital", "salary"].contains(name) { Role::Sensitive } else { Role::Quasi };
        words(name, role, &cells)
    };
    let names = ["government", "age", "marital", "gender", "zip", "salary"];
    Table::new(10, names.iter().enumerate().map(column).collect(), None)
}

#[test]
fn rules_are_told_by_the_names_of_the_paper() {
    let published = Published::new(&table_ii(), true).unwrap();
    assert_eq!(published.names, ["age", "gender", "zip", "government", "marital", "salary"]);
    let structure = Structure::Ics { max_cardinality: 0 };
    let options = Options { structure, max_parents: 6, confirm: false, proposing: 0.1, ..Options::default() };
    let found = surviving(&published, &options).unwrap();
    let sensitive = found.networks.iter().find(|network| network.of == Of::Sensitive).unwrap();
    let marital = sensitive.sensible.iter().find(|rule| rule.column == "marital").unwrap();
    assert_eq!((marital.given.as_slice(), marital.value.as_str()), (&["government".to_owned()][..], "Never"));
    assert_eq!((marital.at[0].value.as_str(), marital.support, marital.people), ("State", 2, 2));
    assert_eq!((marital.highest, marital.risk, marital.is_sensitive), (1.0, Risk::VeryHigh, true));
    // As printed, the one parent's rule holds, and each of two parents', for more than one cell is above alpha.
    let literal: Vec<_> = sensitive.literal.iter().map(|rule| (rule.given.join(","), rule.column.as_str())).collect();
    let expected = [("government", "marital"), ("government", "salary"), ("marital", "salary")];
    assert_eq!(literal, expected.map(|(given, column)| (given.to_owned(), column)));
    let arrows: BTreeSet<_> = sensitive.arrows.iter().map(|arrow| (arrow.from.as_str(), arrow.to.as_str())).collect();
    assert_eq!(arrows, BTreeSet::from(expected));
    assert_eq!(sensitive.tables.iter().find(|table| table.column == "marital").unwrap().configuration(&[4]), "State");

    // People by brute force: whoever has what some risk tells.
    let risks: Vec<_> = found
        .networks
        .iter()
        .flat_map(|network| &network.dependencies)
        .filter(|d| d.is_risk && d.is_sensitive)
        .map(|d| (d.given.clone(), d.told.clone()))
        .collect();
    let different: BTreeSet<_> = risks.iter().cloned().collect();
    assert_eq!(found.risks, different.len() as u64);
    let table = table_ii();
    let has = |row: usize, valued: &disjoin::attack::surviving::Valued| {
        let column = table.columns.iter().find(|column| column.name == valued.column).unwrap();
        column.domain.text(column.codes[row]) == valued.value
    };
    let is_told = |row: &usize| risks.iter().any(|(given, told)| has(*row, told) && given.iter().all(|g| has(*row, g)));
    assert_eq!(found.people, (0..10).filter(is_told).count() as u64);
    assert_eq!(holds(&found, true), found.risks == 0);

    let mut plain = table_ii();
    plain.columns.retain(|column| column.role == Role::Quasi);
    assert!(Published::new(&plain, true).unwrap_err().to_string().contains("no sensitive column"));
}

/// `n_groups` groups of about `size` people. Each has three sensitive values: the second is the first in eight of ten people, the
/// third in seven; nothing depends on the group.
fn planted(seed: u64, n_groups: usize, size: usize) -> Table {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cells: [Vec<String>; 4] = Default::default();
    for row in 0..n_groups * size {
        let first = rng.random_range(0..4);
        let mut like = |share: f64| if rng.random_bool(share) { first } else { rng.random_range(0..4) };
        let (second, third) = (like(0.8), like(0.7));
        let texts = [format!("g{:03}", row % n_groups), format!("a{first}"), format!("b{second}"), format!("c{third}")];
        cells.iter_mut().zip(texts).for_each(|(column, text)| column.push(text));
    }
    let role = |at: usize| if at == 0 { Role::Quasi } else { Role::Sensitive };
    let columns = ["where", "one", "two", "three"].iter().enumerate();
    Table::new(n_groups * size, columns.map(|(at, name)| words(name, role(at), &cells[at])).collect(), None)
}

/// By how much the probability of the true value of `two` is above its share in the group, if `one` is known: for each person,
/// then for each group; the mean over groups with its 95 % interval. The attack sees what is published, the judge the truth.
fn advantage(truth: &Table, published: &Published, found: &Surviving) -> [f64; 3] {
    let text = |column: usize, row: usize| truth.columns[column].domain.text(truth.columns[column].codes[row]);
    let code = |column: usize, text: &str| published.texts[column].iter().position(|t| t == text).unwrap() as u32;
    let mut memory: HashMap<(String, String), HashMap<String, (f64, f64)>> = HashMap::new();
    let mut of_groups: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for row in 0..truth.n_rows() {
        let (group, one, two) = (text(0, row), text(1, row), text(2, row));
        let believed = memory.entry((group.to_owned(), one.to_owned())).or_insert_with(|| {
            let (target, known) = ([(0, code(0, group))], [(1, code(1, one))]);
            let beliefs = beliefs_about(published, found, &target, &known).unwrap();
            let about = beliefs.into_iter().find(|belief| belief.column == "two").unwrap();
            about.values.into_iter().map(|v| (v.value, (v.after.unwrap_or(v.before), v.before))).collect()
        });
        let (after, before) = believed[two];
        of_groups.entry(group).or_default().push(after - before);
    }
    let means: Vec<f64> = of_groups.values().map(|people| people.iter().sum::<f64>() / people.len() as f64).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let error = (means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / (n - 1.0) / n).sqrt();
    [mean - 1.96 * error, mean, mean + 1.96 * error]
}

fn look(table: &Table, are_rows: bool) -> (Published, Surviving) {
    let published = Published::new(table, are_rows).unwrap();
    let found = surviving(&published, &Options::default()).unwrap();
    (published, found)
}

/// The bar: on the k-anonymous table the attack wins; after Break-Merge it does not beat the shares of groups. The table is the
/// positive control: the same attack, on the same people, with the same judge.
#[test]
fn break_merge_leaves_the_shares_of_groups() {
    let criteria = [
        Criterion::KAnonymity { k: 30 },
        Criterion::DistinctDiversity { l: 3 },
        Criterion::KnowledgeBreach { most: 0.45 },
    ];
    for seed in 0..4 {
        let table = planted(seed, 100, 40);
        let (published, found) = look(&table, true);
        let wins = advantage(&table, &published, &found);
        assert!(wins[0] > 0.3, "seed {seed}: {wins:?}");
        assert!(found.risks >= 12 && !holds(&found, true), "seed {seed}: {}", found.risks);

        let (claim, tables) = released(&table, &criteria);
        // The claim, limit on knowledge breach included, is proved from the release alone.
        assert!(verify_split(&claim, &tables, None, &Unobserved).holds);
        assert!(claim.breach_limit() == Some(0.45));
        for world in 0..3 {
            let (published, found) = look(&deal(&tables, world).unwrap(), false);
            let [low, mean, high] = advantage(&table, &published, &found);
            assert!(low <= 0.0 && high < 0.02, "seed {seed}, world {world}: {low} {mean} {high}");
            assert_eq!((found.risks, found.people), (0, 0), "seed {seed}, world {world}");
            assert!(holds(&found, false));
        }
    }
}

/// What groups themselves differ in is published, and a share of 1/g of a dependency with it: no more than that is left in small
/// groups.
#[test]
fn small_groups_keep_a_share_of_a_dependency() {
    let size = 6;
    let mut left = Vec::new();
    for seed in 0..4 {
        let table = planted(seed, 900, size);
        let (published, found) = look(&table, true);
        let wins = advantage(&table, &published, &found)[1];
        let (_, tables) = released(&table, &[Criterion::KAnonymity { k: 2 }]);
        let (published, found) = look(&deal(&tables, 0).unwrap(), false);
        let after = advantage(&table, &published, &found)[1];
        assert_eq!(found.risks, 0);
        left.push(after / wins);
    }
    assert!(left.iter().all(|&share| share < 2.0 / size as f64), "{left:?}");
}
