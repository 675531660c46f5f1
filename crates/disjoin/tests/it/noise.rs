//! Differential privacy, held against what is claimed: neighbours are told apart no better than epsilon allows, releases with half the
//! noise are caught, and forged ones refuted.

use disjoin::Memory;
use disjoin::Unobserved;
use disjoin::data::{Dataset, Dictionary};
use disjoin::protect::noise::diffpart::{self, diffpart};
use disjoin::protect::noise::privbasis::{self, privbasis};
use disjoin::protect::noise::{Known, Made, Source};
use disjoin::release::noisy::{Amount, DATA, Rows, UNIVERSE};
use disjoin::verify::{NoisyRule, open_noisy, verify_noisy};
use disjoin::{Error, Place};

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

/// So many copies of each record, over items that are listed.
fn known(items: &[&str], records: &[(&[&str], usize)]) -> Known {
    let mut listed = Dictionary::default();
    items.iter().for_each(|item| _ = listed.intern(item));
    let copies = records.iter().flat_map(|(record, n)| std::iter::repeat_n(record.iter(), *n));
    Known::listed(&Dataset::from_texts(copies), &listed, &Place::file("items")).unwrap()
}

/// The published count of some terms; 0 if there is none.
fn count(made: &Made, terms: &[&str]) -> i64 {
    let row = made.release.rows.iter().find(|row| row.terms == terms);
    row.map_or(0, |row| row.count as i64)
}

// ---- the falsifier

/// Clopper and Pearson: a bound on a probability, of which at most one in a thousand is wrong. Upper or lower.
fn bound(hits: usize, n: usize, upper: bool) -> f64 {
    const WRONG: f64 = 1e-3;
    let ln_choose: Vec<f64> = (0..n)
        .scan(0.0, |sum, i| {
            let now = *sum;
            *sum += ((n - i) as f64 / (i + 1) as f64).ln();
            Some(now)
        })
        .chain([0.0])
        .collect();
    let probability = |k: usize, p: f64| (ln_choose[k] + k as f64 * p.ln() + (n - k) as f64 * (1.0 - p).ln()).exp();
    if upper && hits == n || !upper && hits == 0 {
        return if upper { 1.0 } else { 0.0 };
    }
    // The probability of what was seen or less (upper), or more (lower), is WRONG at the bound.
    let tail = |p: f64| -> f64 {
        if upper { (0..=hits).map(|k| probability(k, p)).sum() } else { (hits..=n).map(|k| probability(k, p)).sum() }
    };
    let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
    for _ in 0..45 {
        let middle = (low + high) / 2.0;
        if (tail(middle) > WRONG) == upper { low = middle } else { high = middle }
    }
    if upper { high } else { low }
}

/// A lower bound of epsilon: the best of many events is chosen on the first half of the runs and judged on the second.
/// `see` turns a run on one dataset or the other into numbers; events are that one of them is at least, or at most, something.
fn epsilon_of(runs: usize, see: impl Fn(bool, &mut Source) -> Vec<i64>, seed: u64) -> f64 {
    let mut source = Source::demonstration(seed);
    let mut seen = |added: bool| -> Vec<Vec<i64>> { (0..runs).map(|_| see(added, &mut source)).collect() };
    let (without, with) = (seen(false), seen(true));
    let half = runs / 2;
    let hits = |runs: &[Vec<i64>], (feature, sign, least): (usize, i64, i64)| {
        runs.iter().filter(|run| sign * run[feature] >= least).count()
    };
    let mut best = (f64::NEG_INFINITY, (0, 1, 0), false);
    for feature in 0..with[0].len() {
        for sign in [1, -1] {
            let mut levels: Vec<i64> = with[..half].iter().map(|run| sign * run[feature]).collect();
            levels.sort_unstable();
            levels.dedup();
            for least in levels {
                let event = (feature, sign, least);
                let (a, b) = (hits(&with[..half], event) as f64, hits(&without[..half], event) as f64);
                // Rare events tell little: what is left of the ratio two deviations to the wrong side.
                let safe = |a: f64, b: f64| ((a - 2.0 * a.sqrt()).max(1e-9) / (b + 2.0 * b.sqrt() + 1.0)).ln();
                for (score, flipped) in [(safe(a, b), false), (safe(b, a), true)] {
                    if score > best.0 {
                        best = (score, event, flipped);
                    }
                }
            }
        }
    }
    let (_, event, flipped) = best;
    let (more, less) = if flipped { (&without, &with) } else { (&with, &without) };
    let lower = bound(hits(&more[half..], event), runs - half, false);
    (lower / bound(hits(&less[half..], event), runs - half, true)).ln()
}

#[test]
fn bounds_of_probabilities_are_those_of_tables() {
    // 0 of 100: 1 - 0.001^(1/100). 50 of 100, one-sided 99.9 %.
    assert!((bound(0, 100, true) - (1.0 - f64::powf(1e-3, 0.01))).abs() < 1e-6);
    assert!((bound(100, 100, false) - f64::powf(1e-3, 0.01)).abs() < 1e-6);
    assert!((0.65..0.66).contains(&bound(50, 100, true)) && (0.34..0.35).contains(&bound(50, 100, false)));
}

const RUNS: usize = 10_000;

#[test]
fn diffpart_keeps_its_epsilon_and_half_the_noise_does_not() {
    let items = ["a", "b", "c"];
    // A record like others, and a record unlike any.
    for (seed, new) in [(1, &["a"][..]), (2, &["b", "c"])] {
        let without = known(&items, &[(&["a"], 12)]);
        let with = known(&items, &[(&["a"], 12), (new, 1)]);
        for fan_out in [10, 2] {
            let see = |epsilon: &str| {
                let params = diffpart::Params {
                    fan_out,
                    keep_millionths: 300_000,
                    publish_millionths: 10_000,
                    ..diffpart::Params::new(amount(epsilon))
                };
                let (with, without) = (&with, &without);
                move |added: bool, source: &mut Source| {
                    let made = diffpart(if added { with } else { without }, &params, source, &Unobserved).unwrap();
                    vec![count(&made, new), count(&made, &["a"])]
                }
            };
            let real = epsilon_of(RUNS, see("1"), seed);
            assert!(real <= 1.0, "{new:?}, fan-out {fan_out}: {real}");
            // Twice the budget is half the noise.
            let half = epsilon_of(RUNS, see("2"), seed);
            assert!(half > 1.0, "{new:?}, fan-out {fan_out}: {half} is not caught");
        }
    }
}

#[test]
fn privbasis_keeps_its_epsilon_and_half_the_noise_does_not() {
    let items = ["a", "b"];
    let base: [(&[&str], usize); 3] = [(&["a"], 25), (&["b"], 25), (&["a", "b"], 25)];
    let without = known(&items, &base);
    for (seed, new) in [(3, &["a"][..]), (4, &["a", "b"])] {
        let with = known(&items, &[base[0], base[1], base[2], (new, 1)]);
        for delta in [None, Some(amount("1e-6"))] {
            let see = |epsilon: &str| {
                // Nearly everything for counts, which are seen.
                let params = privbasis::Params {
                    shares: Some([20, 20, 10]),
                    ..privbasis::Params::new(amount(epsilon), delta, 3)
                };
                let (with, without) = (&with, &without);
                move |added: bool, source: &mut Source| {
                    let made = privbasis(if added { with } else { without }, &params, source, &Unobserved).unwrap();
                    let (a, both) = (count(&made, &["a"]), count(&made, &["a", "b"]));
                    vec![a - both, both, a]
                }
            };
            let real = epsilon_of(RUNS, see("1"), seed);
            assert!(real <= 1.0, "{new:?}, {delta:?}: {real}");
            let half = epsilon_of(RUNS, see("2"), seed);
            assert!(half > 1.0, "{new:?}, {delta:?}: {half} is not caught");
        }
    }
}

// ---- releases

/// A release of each method, with listed items and without.
fn releases() -> Vec<Made> {
    let texts = |i: usize| {
        (0..30).filter(|j| (i * 7 + j * j).is_multiple_of(j + 2)).map(|j| format!("item {j:02}")).collect::<Vec<_>>()
    };
    let data = Dataset::from_texts((0..400).map(texts));
    let mut source = Source::demonstration(9);
    let mut listed = data.dictionary.clone();
    listed.intern("never");
    let all = [Known::occurring(&data), Known::listed(&data, &listed, &Place::file("items")).unwrap()];
    let mut made = Vec::new();
    for known in &all {
        let params = diffpart::Params { fan_out: 6, ..diffpart::Params::new(amount("60")) };
        made.push(diffpart(known, &params, &mut source, &Unobserved).unwrap());
        for delta in [None, Some(amount("1e-6"))] {
            made.push(
                privbasis(known, &privbasis::Params::new(amount("2"), delta, 20), &mut source, &Unobserved).unwrap(),
            );
        }
    }
    for made in &mut made {
        // What is promised by secure noise; seeds make tests the same every time.
        let spent = disjoin::release::noisy::Spent {
            epsilon: made.claim.epsilon,
            delta: made.claim.delta,
            accounting: made.claim.accounting.clone(),
            ledger: made.claim.ledger.clone(),
            unspent: made.claim.unspent,
            demonstration: false,
        };
        let claim = &made.claim;
        made.claim = disjoin::release::NoisyClaim::new(&claim.method, claim.parameters.clone(), claim.universe, spent);
    }
    made
}

fn write(made: &Made, folder: &std::path::Path) -> (String, String) {
    let mut data = Vec::new();
    made.release.write(&mut data).unwrap();
    let data = String::from_utf8(data).unwrap();
    let claim = made.claim.to_json().unwrap();
    std::fs::write(folder.join(DATA), &data).unwrap();
    std::fs::write(folder.join("claim.json"), &claim).unwrap();
    let universe = folder.join(UNIVERSE);
    match claim.contains("\"listed\"") {
        true => std::fs::write(
            universe,
            (0..30).map(|j| format!("item {j:02}\n")).chain([String::from("never\n")]).collect::<String>(),
        )
        .unwrap(),
        false => _ = std::fs::remove_file(universe),
    }
    (claim, data)
}

#[test]
fn releases_hold_and_tell_no_more_than_they_may() {
    let folder = tempfile::tempdir().unwrap();
    for made in releases() {
        assert!(!made.release.rows.is_empty(), "{}", made.claim.method);
        let (claim, _) = write(&made, folder.path());
        let verdict = verify_noisy(&open_noisy(folder.path(), Memory::default()).unwrap());
        assert!(verdict.holds, "{:?}", verdict.findings);
        assert!(verdict.checks.iter().all(|check| check.checked > 0));
        assert_eq!(verdict.spent.unwrap().plus(made.claim.unspent), Some(verdict.budget));
        assert!(!claim.contains("records\":") && !claim.contains("400"));
    }
    // Noise from a seed is no promise, and the claim says so.
    let data = Dataset::from_texts([["x"]]);
    let params = privbasis::Params::new(amount("1"), None, 1);
    let made = privbasis(&Known::occurring(&data), &params, &mut Source::demonstration(1), &Unobserved).unwrap();
    assert!(made.claim.demonstration && made.claim.promised.contains("demonstration"));
    write(&made, folder.path());
    let verdict = verify_noisy(&open_noisy(folder.path(), Memory::default()).unwrap());
    assert!(!verdict.holds && verdict.violations == 0);
    let secure = privbasis(&Known::occurring(&data), &params, &mut Source::secure().unwrap(), &Unobserved).unwrap();
    assert!(!secure.claim.demonstration);
}

/// The rules that a release in a folder breaks.
fn judged(folder: &std::path::Path, claim: &str, data: &str) -> disjoin::Result<Vec<NoisyRule>> {
    std::fs::write(folder.join("claim.json"), claim).unwrap();
    std::fs::write(folder.join(DATA), data).unwrap();
    let verdict = open_noisy(folder, Memory::default()).map(|files| verify_noisy(&files));
    verdict.map(|verdict| verdict.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>())
}

/// Claims that say something else than what was done, with the rule that each breaks.
fn forged_claims(made: &Made, claim: &str) -> Vec<(String, NoisyRule)> {
    let epsilon = format!("\"epsilon\": \"{}\"", made.claim.epsilon);
    let last = made.claim.ledger.last().unwrap();
    let cost = format!("\"cost\": \"{}\"", last.cost);
    let mut forged = vec![
        // Less is claimed than was spent.
        (claim.replace(&epsilon, "\"epsilon\": \"0.1\""), NoisyRule::Sum),
        (claim.replace(&epsilon, "\"epsilon\": \"0\""), NoisyRule::Sum),
        (claim.replace(&cost, "\"cost\": \"0.001\""), NoisyRule::Costs),
        (claim.replace("add or remove one record", "nobody"), NoisyRule::Claim),
        // The number of records is not covered.
        (claim.replacen('{', "{\"records\": 400,", 1), NoisyRule::Nothing),
        (claim.replacen("\"step\"", "\"exact\": 17, \"step\"", 1), NoisyRule::Nothing),
        (claim.replacen("\"parameters\": {", "\"parameters\": {\"n\": 400,", 1), NoisyRule::Nothing),
        (claim.replace(&format!("\"{}\"", made.claim.method), "\"exact\""), NoisyRule::Steps),
    ];
    if made.release.kind == Rows::Itemsets {
        forged.push((claim.replacen("\"step\": \"items\"", "\"step\": \"something\"", 1), NoisyRule::Steps));
        let entry = made.claim.ledger.len() - 2;
        let mut less = made.claim.clone();
        // An entry is left out, and what it cost is called unspent.
        less.unspent = less.unspent.plus(less.ledger.remove(entry).cost).unwrap();
        forged.push((less.to_json().unwrap(), NoisyRule::Steps));
        forged.push((claim.replacen("\"range\": \"", "\"range\": \"3", 1), NoisyRule::Costs));
    }
    if claim.contains("concentrated") {
        forged.push((claim.replacen("\"rho\": \"0.", "\"rho\": \"0.9", 1), NoisyRule::Sum));
        forged.push((claim.replacen("\"delta\": \"0.000001\"", "\"delta\": \"0\"", 1), NoisyRule::Sum));
        forged.push((claim.replacen("\"variance\": ", "\"variance\": 9", 1), NoisyRule::Costs));
    }
    forged
}

/// Data whose rows cannot be those of the claim.
fn forged_rows(made: &Made, data: &str) -> Vec<String> {
    let lines: Vec<&str> = data.lines().collect();
    let other = match made.release.kind {
        Rows::Records => data.replace("records", "itemsets"),
        Rows::Itemsets => data.replace("itemsets", "records"),
    };
    let mut forged = vec![
        [lines[0], lines[2], lines[1]].join("\n"),
        [lines[0], lines[1], lines[1]].join("\n"),
        format!("{}\n{{\"terms\":[\"item 01\"],\"count\":0}}", lines[0]),
        format!("{}\n{{\"terms\":[],\"count\":900}}", lines[0]),
        other,
    ];
    if made.release.kind == Rows::Itemsets {
        let long = (0..20).map(|j| format!("\"item {j:02}\"")).collect::<Vec<_>>().join(",");
        forged.push(format!("{}\n{{\"terms\":[{long}],\"count\":5}}", lines[0]));
    }
    forged
}

#[test]
fn forged_releases_are_refuted() {
    let folder = tempfile::tempdir().unwrap();
    let judge = |claim: &str, data: &str| judged(folder.path(), claim, data);
    for (i, made) in releases().iter().enumerate() {
        let (claim, data) = write(made, folder.path());
        assert_eq!(judge(&claim, &data).unwrap(), []);
        for (forged, rule) in forged_claims(made, &claim) {
            assert_ne!(forged, claim);
            // Words that say something else, and fields that do not belong there, are not even read; of version 1 no words are.
            let broken = match judge(&forged.replace("\"version\": 3", "\"version\": 1"), &data) {
                Err(Error::Input { .. }) => vec![NoisyRule::Nothing],
                broken => broken.unwrap(),
            };
            assert!(broken.contains(&rule), "{i}: {rule:?} not in {broken:?}:\n{forged}");
            assert!(judge(&forged, &data).map_or(true, |broken| !broken.is_empty()));
        }
        for forged in forged_rows(made, &data) {
            assert!(judge(&claim, &forged).unwrap().contains(&NoisyRule::Rows), "{i}: {forged}");
        }
        let perfect = claim.replace("Differential privacy", "Perfect privacy");
        assert!(matches!(judge(&perfect, &data), Err(Error::Input { .. })), "{i}");
        // A field more in the data is not even read.
        for forged in
            [data.replacen('}', ",\"records\":400}", 1), data.replacen("\"count\"", "\"exact\":3,\"count\"", 1)]
        {
            assert!(matches!(judge(&claim, &forged), Err(Error::Input { .. })));
        }
        // Items: listed and missing, not listed and there, unknown.
        let has_list = folder.path().join(UNIVERSE).exists();
        let unknown = format!("{}\n{{\"terms\":[\"unheard of\"],\"count\":900}}", data.lines().next().unwrap());
        assert_eq!(judge(&claim, &unknown).unwrap().contains(&NoisyRule::Rows), has_list);
        if has_list {
            std::fs::remove_file(folder.path().join(UNIVERSE)).unwrap();
        } else {
            std::fs::write(folder.path().join(UNIVERSE), "a\n").unwrap();
        }
        assert!(judge(&claim, &data).unwrap().contains(&NoisyRule::Nothing));
        std::fs::write(folder.path().join("counts.csv"), "a,3\n").unwrap();
        write(made, folder.path());
        assert_eq!(judge(&claim, &data).unwrap(), [NoisyRule::Nothing]);
        std::fs::remove_file(folder.path().join("counts.csv")).unwrap();
    }
}

#[test]
fn items_that_are_not_listed_are_refused_without_naming_them() {
    let data = Dataset::from_texts([["flu"], ["gout"], ["secret"]]);
    let mut listed = Dictionary::default();
    ["gout", "flu", "hiv"].iter().for_each(|item| _ = listed.intern(item));
    let error = Known::listed(&data, &listed, &Place::file("items.txt")).unwrap_err().to_string();
    assert!(error.starts_with("items.txt: 1 of the 3 terms") && error.contains("record 3"), "{error}");
    assert!(!error.contains("secret"));
    // The order of the list and of the data does not matter.
    let data = Dataset::from_texts([["gout"], ["flu"]]);
    let known = Known::listed(&data, &listed, &Place::file("items.txt")).unwrap();
    assert_eq!(known.items.iter().collect::<Vec<_>>(), ["flu", "gout", "hiv"]);
}
