//! Recoded transactions from the records to the proof: brute force agrees with the verdict, every rule is broken once on purpose,
//! and measures are compared with slow ones.

use std::collections::{BTreeMap, BTreeSet};

use disjoin::data::{Dataset, Hierarchy, Recoding as Groups, TermId};
use disjoin::inspect::Mining;
use disjoin::measure::{RecodedOptions, RecodedReport, measure_recoded};
use disjoin::protect::recoding::{LocalParams, lra};
use disjoin::publish::Kept;
use disjoin::read;
use disjoin::recipe::read_recipe;
use disjoin::recipe::recoding::{Method, Recoding};
use disjoin::reconstruct::{Spread, top_spread};
use disjoin::release::Form;
use disjoin::release::recoded::utility_loss::of_recoding;
use disjoin::release::recoded::{
    Block, Draft, Promised, Recoded, RecodedClaim, Suppression, parse_recoded, utility_as_published, write_recoded,
};
use disjoin::run::forms::recoded::{Recodings, make};
use disjoin::run::{Converted, Converting, Input, convert, protect};
use disjoin::verify::{RecodedRule, RecodedTruth, RecodedVerdict, open_recoded, verify_recoded};
use disjoin::{Error, Unobserved};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Records of letters, none empty.
fn random_records(rng: &mut ChaCha8Rng, n_terms: u8, most: usize) -> Vec<Vec<String>> {
    let density = rng.random_range(0.1..0.8);
    let n = rng.random_range(1..=most);
    let letters = |rng: &mut ChaCha8Rng| -> Vec<String> {
        (0..n_terms).filter(|_| rng.random_bool(density)).map(|at| char::from(b'a' + at).to_string()).collect()
    };
    let mut records: Vec<Vec<String>> = (0..n).map(|_| letters(rng)).filter(|record| !record.is_empty()).collect();
    if records.is_empty() {
        records.push(vec!["a".into()]);
    }
    records
}

fn asked(method: Method, k: u32, m: u32) -> Recoding {
    Recoding { fanout: method.has_hierarchy().then_some(2), ..Recoding::new(method, k, m) }
}

fn text(release: &Recoded) -> String {
    let mut text = Vec::new();
    write_recoded(release, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The verdict about what is read back, as any reader would.
fn judged(claim: &RecodedClaim, release: &Recoded, truth: Option<RecodedTruth<'_>>) -> RecodedVerdict {
    verify_recoded(claim, &parse_recoded(text(release).as_bytes(), "x").unwrap(), truth, &Unobserved)
}

/// A policy in files beside each other; the folder must outlive them.
fn with_policy(asked: Recoding, privacy: &str, utility: Option<&str>, folder: &std::path::Path) -> Recoding {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    Recoding {
        privacy: Some(write("privacy.txt", privacy)),
        utility: utility.map(|text| write("utility.txt", text)),
        ..asked
    }
}

#[test]
fn every_method_is_proved_with_and_without_its_original() {
    let mut rng = ChaCha8Rng::seed_from_u64(31);
    let folder = tempfile::tempdir().unwrap();
    let (mut empty, mut blocks) = (0, 0);
    for round in 0..400 {
        let records = random_records(&mut rng, 8, 40);
        let data = Dataset::from_texts(&records);
        let (k, m) = (rng.random_range(2..6), rng.random_range(1..4));
        for (_, method) in Method::ALL {
            let mut asked = asked(method, k, m);
            if method.has_constraints() {
                let term = |rng: &mut ChaCha8Rng| {
                    data.dictionary.text(rng.random_range(0..data.n_terms() as TermId)).to_owned()
                };
                let privacy: Vec<String> = (0..3).map(|_| format!("{} {}", term(&mut rng), term(&mut rng))).collect();
                asked = with_policy(Recoding { force: true, ..asked }, &privacy.join("\n"), None, folder.path());
                asked.whole_constraints = rng.random_bool(0.3);
            }
            if method == Method::Lra {
                asked.block = Some(rng.random_range(k as usize..20));
            }
            let Some(made) = protected(&asked, &data) else { continue };
            blocks += made.claim.blocks;
            for line_of in [None, Some(&made.line_of[..])] {
                let verdict = judged(&made.claim, &made.release, Some(RecodedTruth { original: &data, line_of }));
                assert!(verdict.holds, "round {round}, {method:?}: {:?}", verdict.findings);
                let needs_map = made.claim.suppression == Suppression::Occurrences || made.claim.blocks > 1;
                assert_eq!(verdict.against_records, line_of.is_some() || !needs_map);
            }
            let verdict = judged(&made.claim, &made.release, None);
            assert!(verdict.holds && verdict.records == records.len() as u64);
            empty += verdict.empty_records;
            // A crowd in another order has the same numbers of terms, so the same bytes come out.
            let mut order: Vec<usize> = (0..records.len()).collect();
            order.shuffle(&mut rng);
            let mut shuffled = Dataset { dictionary: data.dictionary.clone(), ..Dataset::default() };
            order.iter().for_each(|&at| {
                shuffled.records.push(&mut data.records.record(at as u32).to_vec());
            });
            let again = protected(&asked, &shuffled).unwrap();
            // Blocks of equal records depend on who comes first.
            let is_same = method != Method::Lra || made.claim.blocks == 1;
            assert!(is_same || again.claim.blocks == made.claim.blocks);
            if !is_same {
                continue;
            }
            assert_eq!(text(&again.release), text(&made.release), "round {round}, {method:?}");
        }
    }
    assert!(empty > 100 && blocks > 3000, "{empty} {blocks}");
}

/// What was made; none where fewer than k records cannot hide anybody.
fn protected(asked: &Recoding, data: &Dataset) -> Option<Recodings> {
    match make(asked, data, &Unobserved) {
        Ok(made) => Some(made),
        Err(Error::Infeasible { .. }) if asked.method.has_hierarchy() => {
            assert!(data.records.len() < asked.k as usize);
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// The groups that a published record shows, as sets of texts.
fn shown(release: &Recoded) -> Vec<(usize, Vec<BTreeSet<String>>, u32)> {
    let mut all = Vec::new();
    for (block, at) in release.blocks.iter().zip(0..) {
        for (items, count) in block.bag.iter() {
            let group = |&item: &u32| -> BTreeSet<String> {
                block.groups[item as usize].iter().map(|&term| release.dictionary.text(term).to_owned()).collect()
            };
            all.push((at, items.iter().map(group).collect(), count));
        }
    }
    all
}

/// Whether every set of at most m items of a record is in k records of its block, all counted.
fn is_anonymous(release: &Recoded, k: u64, m: u32) -> bool {
    let all = shown(release);
    all.iter().all(|(block, items, _)| {
        (1_u32..1 << items.len()).filter(|mask| mask.count_ones() <= m).all(|mask| {
            let set: Vec<_> = items.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, g)| g).collect();
            let has = |other: &(usize, Vec<BTreeSet<String>>, u32)| {
                other.0 == *block && set.iter().all(|group| other.1.contains(group))
            };
            all.iter().filter(|other| has(other)).map(|other| u64::from(other.2)).sum::<u64>() >= k
        })
    })
}

/// Whether every constraint is in no record or in k, all counted.
fn satisfies(release: &Recoded, privacy: &[Vec<String>], subsets: bool, k: u64) -> bool {
    let all = shown(release);
    privacy.iter().all(|set| {
        (1_u32..1 << set.len()).filter(|mask| subsets || *mask == (1 << set.len()) - 1).all(|mask| {
            let part: Vec<_> = set.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, t)| t).collect();
            let has = |items: &[BTreeSet<String>]| part.iter().all(|&term| items.iter().any(|g| g.contains(term)));
            let support: u64 = all.iter().filter(|record| has(&record.1)).map(|record| u64::from(record.2)).sum();
            support == 0 || support >= k
        })
    })
}

/// Any groups, in any number of blocks, whatever they are good for.
fn random_release(rng: &mut ChaCha8Rng, data: &Dataset) -> (Recoded, Vec<u32>) {
    let n_blocks = rng.random_range(1..3);
    let mut ids: Vec<Vec<u32>> = vec![Vec::new(); n_blocks];
    (0..data.records.len() as u32).for_each(|id| ids[rng.random_range(0..n_blocks)].push(id));
    let n_groups = rng.random_range(1..=data.n_terms());
    let suppresses = n_blocks == 1 && rng.random_bool(0.3);
    let draft = |ids: Vec<u32>, rng: &mut ChaCha8Rng| {
        let mut groups = vec![Vec::new(); n_groups];
        for term in 0..data.n_terms() as TermId {
            if !(suppresses && rng.random_bool(0.2)) {
                groups[rng.random_range(0..n_groups)].push(term);
            }
        }
        let recoding = Groups::from_groups(data.n_terms(), groups).unwrap();
        Draft::of_recoding(&data.records, ids, &recoding, Vec::new())
    };
    let drafts = ids.into_iter().map(|ids| draft(ids, rng)).collect();
    Recoded::of_drafts(&data.dictionary, drafts).unwrap()
}

#[test]
fn verdicts_are_those_of_brute_force() {
    let mut rng = ChaCha8Rng::seed_from_u64(32);
    let mut held = [0, 0, 0, 0];
    for _ in 0..3000 {
        let records = random_records(&mut rng, 6, 25);
        let data = Dataset::from_texts(&records);
        let (release, line_of) = random_release(&mut rng, &data);
        let is_whole = release.dictionary.len() == data.n_terms();
        let suppression = if is_whole { Suppression::None } else { Suppression::Terms };
        let (k, m) = (rng.random_range(2..5), rng.random_range(1..4));
        let km = RecodedClaim::new(&release, "made up", k, Promised::Km { m }, suppression, None);
        let expected = is_anonymous(&release, u64::from(k), m);
        let truth = RecodedTruth { original: &data, line_of: Some(&line_of) };
        assert_eq!(judged(&km, &release, Some(truth)).holds, expected);
        held[usize::from(expected)] += 1;

        let subsets = rng.random_bool(0.5);
        let letters = |rng: &mut ChaCha8Rng| -> Vec<TermId> {
            (0..rng.random_range(1..4)).map(|_| rng.random_range(0..data.n_terms() as TermId)).collect()
        };
        let privacy: Vec<Vec<TermId>> = (0..2).map(|_| letters(&mut rng)).collect();
        let promise = Promised::constraints(&privacy, &data.dictionary, subsets, &release);
        let claim = RecodedClaim::new(&release, "made up", k, promise, suppression, None);
        let written: Vec<Vec<String>> =
            privacy.iter().map(|set| set.iter().map(|&term| data.dictionary.text(term).to_owned()).collect()).collect();
        // What is told of the constraints is enough to prove all of them.
        let expected = satisfies(&release, &written, subsets, u64::from(k));
        assert_eq!(judged(&claim, &release, None).holds, expected, "{privacy:?} {subsets} {k}");
        held[2 + usize::from(expected)] += 1;
    }
    println!("{held:?}");
    assert!(held.iter().all(|&n| n > 300), "{held:?}");
}

/// Six people: gout and asthma are one group, hiv is gone.
fn example() -> (Dataset, Recoded, Vec<u32>) {
    let data = Dataset::from_texts([
        vec!["flu", "gout"],
        vec!["flu", "asthma"],
        vec!["flu"],
        vec!["flu", "asthma", "gout"],
        vec!["flu", "hiv"],
        vec!["gout"],
    ]);
    let id = |text| data.dictionary.get(text).unwrap();
    let groups = [vec![id("gout"), id("asthma")], vec![id("flu")]];
    let recoding = Groups::from_groups(data.n_terms(), groups).unwrap();
    let draft = Draft::of_recoding(&data.records, 0..6, &recoding, Vec::new());
    let (release, line_of) = Recoded::of_drafts(&data.dictionary, vec![draft]).unwrap();
    (data, release, line_of)
}

fn violated(verdict: &RecodedVerdict) -> Vec<RecodedRule> {
    assert_eq!(verdict.holds, verdict.violations == 0);
    verdict.checks.iter().filter(|check| check.violated > 0).map(|check| check.rule).collect()
}

/// What holds of the example.
fn good_claim(release: &Recoded) -> RecodedClaim {
    let privacy = vec![vec!["asthma".to_owned(), "flu".to_owned()]];
    let constraints = Promised::Constraints { privacy, subsets: true, withheld: 1 };
    let utility = Some(vec![vec!["asthma".to_owned(), "gout".to_owned()]]);
    RecodedClaim::new(release, "coat", 3, constraints, Suppression::Terms, utility)
}

/// A claim with something else in it.
fn changed(claim: &RecodedClaim, change: impl FnOnce(&mut RecodedClaim)) -> RecodedClaim {
    let mut claim = claim.clone();
    change(&mut claim);
    claim
}

#[test]
fn every_rule_of_claims_is_broken_once() {
    let (data, release, line_of) = example();
    let good = good_claim(&release);
    let truth = RecodedTruth { original: &data, line_of: Some(&line_of) };
    assert!(judged(&good, &release, Some(truth)).holds);
    let km = changed(&good, |claim| claim.promise = Promised::Km { m: 2 });
    assert!(judged(&km, &release, Some(truth)).holds);
    assert_eq!(
        text(&release).lines().skip(1).collect::<Vec<_>>(),
        [
            "{\"records\":6,\"groups\":[{\"terms\":[\"asthma\",\"gout\"]},{\"terms\":[\"flu\"]}]}",
            "{\"items\":[1],\"count\":1}",
            "{\"items\":[1,2],\"count\":3}",
            "{\"items\":[2],\"count\":2}",
        ]
    );
    let none = || Promised::Constraints { privacy: vec![], subsets: true, withheld: 0 };
    let strange = |set: &[&str]| Promised::Constraints {
        privacy: vec![set.iter().map(ToString::to_string).collect()],
        subsets: true,
        withheld: 0,
    };
    let many: Vec<String> = (0..40).map(|at| at.to_string()).collect();
    let claims: [(RecodedClaim, &[RecodedRule]); 9] = [
        (changed(&good, |claim| claim.k = 1), &[RecodedRule::Promise]),
        (changed(&good, |claim| claim.promise = Promised::Km { m: 0 }), &[RecodedRule::Promise]),
        (changed(&good, |claim| claim.promise = none()), &[RecodedRule::Promise]),
        (changed(&good, |claim| claim.promise = strange(&[])), &[RecodedRule::Promise]),
        (changed(&good, |claim| claim.records = 7), &[RecodedRule::Records]),
        (changed(&km, |claim| claim.k = 4), &[RecodedRule::Anonymity]),
        (changed(&good, |claim| claim.k = 4), &[RecodedRule::Constraints]),
        (
            changed(&good, |claim| claim.utility = Some(vec![vec!["asthma".into(), "flu".into()]])),
            &[RecodedRule::Utility],
        ),
        (changed(&good, |claim| claim.blocks = 2), &[RecodedRule::Records]),
    ];
    for (claim, rules) in claims {
        assert_eq!(violated(&judged(&claim, &release, None)), rules, "{claim:?}");
    }
    // Terms that are not published are in no record; forty that are would have too many parts.
    assert!(judged(&changed(&good, |claim| claim.promise = strange(&["hiv"])), &release, None).holds);
    let broad = Dataset::from_texts([many.clone(), many.clone(), many.clone()]);
    let draft = Draft::of_recoding(&broad.records, 0..3, &Groups::identity(40), Vec::new());
    let (wide, _) = Recoded::of_drafts(&broad.dictionary, vec![draft]).unwrap();
    let promise = Promised::Constraints { privacy: vec![many], subsets: true, withheld: 0 };
    let claim = RecodedClaim::new(&wide, "coat", 2, promise, Suppression::None, None);
    assert_eq!(violated(&judged(&claim, &wide, None)), [RecodedRule::Constraints]);
}

#[test]
fn every_rule_of_releases_is_broken_once() {
    let (data, release, line_of) = example();
    let good = good_claim(&release);
    let forged = |from: &str, to: &str| {
        let text = text(&release);
        assert!(text.contains(from), "{from}");
        parse_recoded(text.replacen(from, to, 1).as_bytes(), "x").unwrap()
    };
    let releases: [(Recoded, &[RecodedRule]); 6] = [
        (
            forged("{\"terms\":[\"flu\"]}", "{\"terms\":[\"flu\",\"gout\"]}"),
            &[RecodedRule::Groups, RecodedRule::Utility],
        ),
        (forged("{\"terms\":[\"flu\"]}", "{\"terms\":[\"flu\"]},{\"terms\":[\"zoster\"]}"), &[RecodedRule::Groups]),
        (
            forged(
                "{\"items\":[1],\"count\":1}\n{\"items\":[1,2],\"count\":3}",
                "{\"items\":[1,2],\"count\":3}\n{\"items\":[1],\"count\":1}",
            ),
            &[RecodedRule::Order],
        ),
        (
            forged("{\"items\":[1,2],\"count\":3}", "{\"items\":[1,2],\"count\":1}\n{\"items\":[1,2],\"count\":2}"),
            &[RecodedRule::Order],
        ),
        (
            forged("[\"asthma\",\"gout\"]},{\"terms\":[\"flu\"]}", "[\"flu\"]},{\"terms\":[\"asthma\",\"gout\"]}"),
            &[RecodedRule::Order],
        ),
        (
            forged(
                "{\"items\":[1,2],\"count\":3}\n{\"items\":[2],\"count\":2}",
                "{\"items\":[1,2],\"count\":2}\n{\"items\":[2],\"count\":3}",
            ),
            &[RecodedRule::Constraints],
        ),
    ];
    for (release, rules) in &releases {
        assert_eq!(violated(&verify_recoded(&good, release, None, &Unobserved)), *rules, "{}", text(release));
    }
    let whole = changed(&good, |claim| claim.suppression = Suppression::None);
    let empty = forged("{\"items\":[1],\"count\":1}", "{\"items\":[],\"count\":1}");
    assert_eq!(violated(&verify_recoded(&whole, &empty, None, &Unobserved)), [RecodedRule::Empty]);
    assert!(verify_recoded(&good, &empty, None, &Unobserved).holds);

    // With the original.
    let against = |claim: &RecodedClaim, release: &Recoded, line_of| {
        violated(&verify_recoded(claim, release, Some(RecodedTruth { original: &data, line_of }), &Unobserved))
    };
    let whole_rules = [RecodedRule::OriginalTerms, RecodedRule::Conservation];
    assert_eq!(against(&whole, &release, None), whole_rules);
    assert_eq!(against(&whole, &release, Some(&line_of)), whole_rules);
}

#[test]
fn lies_about_the_original_are_found() {
    let (data, release, line_of) = example();
    let claim = RecodedClaim::new(&release, "x", 2, Promised::Km { m: 1 }, Suppression::Terms, None);
    let against = |claim: &RecodedClaim, text: &str, line_of: Option<&[u32]>| {
        let release = parse_recoded(text.as_bytes(), "x").unwrap();
        violated(&verify_recoded(claim, &release, Some(RecodedTruth { original: &data, line_of }), &Unobserved))
    };
    let good = text(&release);
    assert!(against(&claim, &good, None).is_empty() && against(&claim, &good, Some(&line_of)).is_empty());
    // Gout and flu of one person are published as those of two.
    let bad = good.replace(
        "{\"items\":[1],\"count\":1}\n{\"items\":[1,2],\"count\":3}\n{\"items\":[2],\"count\":2}",
        "{\"items\":[1],\"count\":2}\n{\"items\":[1,2],\"count\":2}\n{\"items\":[2],\"count\":2}",
    );
    assert_ne!(bad, good);
    assert_eq!(against(&claim, &bad, None), [RecodedRule::Conservation]);
    assert_eq!(against(&claim, &bad, Some(&line_of)), [RecodedRule::CustodyMap]);
    let strange = good.replace("flu", "influenza");
    assert_eq!(against(&claim, &strange, None), [RecodedRule::OriginalTerms]);
    let fewer = changed(&claim, |claim| claim.records = 5);
    let five = good.replace("\"records\":6", "\"records\":5").replace("[1,2],\"count\":3", "[1,2],\"count\":2");
    assert_eq!(against(&fewer, &five, None), [RecodedRule::OriginalRecords]);
    // A map that sends people to lines that do not show them.
    let mut swapped = line_of.clone();
    swapped.swap(0, 2);
    assert_eq!(against(&claim, &good, Some(&swapped)), [RecodedRule::Conservation]);
    assert_eq!(against(&claim, &good, Some(&line_of[1..])), [RecodedRule::CustodyMap]);
    assert_eq!(against(&claim, &good, Some(&[9; 6])), [RecodedRule::CustodyMap]);
    // Records may lose terms where it is said, but gain none.
    let partly = changed(&claim, |claim| {
        (claim.suppression, claim.promise) = (Suppression::Occurrences, Promised::Km { m: 1 });
    });
    assert!(against(&partly, &good, Some(&line_of)).is_empty());
    let gained =
        good.replace("{\"items\":[1],\"count\":1}\n{\"items\":[1,2],\"count\":3}", "{\"items\":[1,2],\"count\":4}");
    let moved: Vec<u32> = line_of.iter().map(|line| line.saturating_sub(1)).collect();
    assert_eq!(against(&partly, &gained, Some(&moved)), [RecodedRule::Conservation]);
}

fn published(made: &Recodings, data: &Dataset, hierarchy: Option<&Hierarchy>, top: usize) -> RecodedReport {
    let options =
        RecodedOptions { top, queries: 40, seed: 5, hierarchy, line_of: Some(&made.line_of), observer: &Unobserved };
    measure_recoded(&made.claim, &made.release, data, &options).unwrap()
}

/// The supports of all sets of nodes, without a node and its ancestor, by counting; ties as the measure decides them.
fn best(records: &[BTreeSet<u32>], k: usize, excludes: &dyn Fn(u32, u32) -> bool) -> BTreeSet<Vec<u32>> {
    let mut supports: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
    for record in records {
        let nodes: Vec<u32> = record.iter().copied().collect();
        for mask in 1_u32..1 << nodes.len() {
            let set: Vec<u32> =
                nodes.iter().enumerate().filter(|(at, _)| mask >> at & 1 == 1).map(|(_, &n)| n).collect();
            let is_fine = set.iter().all(|&a| set.iter().all(|&b| !excludes(a, b)));
            if is_fine {
                *supports.entry(set).or_default() += 1;
            }
        }
    }
    let mut all: Vec<(Vec<u32>, u32)> = supports.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.len().cmp(&b.0.len())).then(a.0.cmp(&b.0)));
    all.into_iter().take(k).map(|(set, _)| set).collect()
}

fn lost(truth: &BTreeSet<Vec<u32>>, found: &BTreeSet<Vec<u32>>) -> f64 {
    truth.difference(found).count() as f64 / truth.len().max(1) as f64
}

#[test]
fn measures_are_those_of_slow_ones() {
    let mut rng = ChaCha8Rng::seed_from_u64(33);
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..60 {
        let records = random_records(&mut rng, 6, 30);
        let data = Dataset::from_texts(&records);
        let hierarchy = Hierarchy::uniform(&data.dictionary, 2).unwrap();
        let (k, m) = (rng.random_range(2..5), 2);
        for (_, method) in Method::ALL {
            let mut asked = asked(method, k, m);
            if method.has_constraints() {
                let all: Vec<&str> = data.dictionary.iter().collect();
                let utility = all.chunks(3).map(|set| set.join(" ")).collect::<Vec<_>>().join("\n");
                let privacy = all.chunks(2).map(|set| set.join(" ")).collect::<Vec<_>>().join("\n");
                asked = with_policy(Recoding { force: true, ..asked }, &privacy, Some(&utility), folder.path());
            }
            let Some(made) = protected(&asked, &data) else { continue };
            let report = published(&made, &data, Some(&hierarchy), 12);
            let release = made.release.clone().in_terms_of(data.dictionary.clone());
            let block = &release.blocks[0];
            let shown: Vec<Shown<'_>> = made
                .line_of
                .iter()
                .map(|&line| block.bag.items(line as usize).iter().map(|&item| &block.groups[item as usize]).collect())
                .collect();
            check_occurrences(&report, &data, &shown);
            if made.claim.suppression != Suppression::Occurrences {
                let recoding = Groups::from_groups(data.n_terms(), block.groups.iter().cloned()).unwrap();
                close(report.ul.total, of_recoding(&data.records, &recoding).total());
            }
            check_top_k(&report, &data, &shown, &hierarchy);
            check_errors(&report, &data, &shown, block, &Spread::new(&release, made.claim.suppression));
            assert_eq!(report.queries.within_bounds, 1.0);
        }
    }
}

/// The groups that a record of the original shows.
type Shown<'a> = Vec<&'a Vec<TermId>>;

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} {b}");
}

fn check_occurrences(report: &RecodedReport, data: &Dataset, shown: &[Shown<'_>]) {
    let (mut kept, mut wide, mut gone, mut ncp) = (0, 0, 0, 0.0);
    for (record, shown) in data.records.iter().zip(shown) {
        for term in record {
            match shown.iter().find(|group| group.contains(term)) {
                Some(group) if group.len() == 1 => kept += 1,
                Some(group) => {
                    wide += 1;
                    ncp += group.len() as f64 / data.n_terms() as f64;
                }
                None => gone += 1,
            }
        }
    }
    let n = data.records.n_incidences() as f64;
    close(report.became.occurrences_kept, f64::from(kept) / n);
    close(report.became.occurrences_generalized, f64::from(wide) / n);
    close(report.became.occurrences_suppressed, f64::from(gone) / n);
    close(report.ncp, ncp / f64::from((kept + wide).max(1)));
    close(report.ncp_all, (ncp + f64::from(gone)) / n);
    let empty = shown.iter().filter(|shown| shown.is_empty()).count();
    assert_eq!(report.became.empty_records, empty as u64);
    let became = report.became;
    assert_eq!(became.terms_kept + became.terms_generalized + became.terms_suppressed, data.n_terms());
}

/// tKd by listing all itemsets.
fn check_top_k(report: &RecodedReport, data: &Dataset, shown: &[Shown<'_>], hierarchy: &Hierarchy) {
    let sets = |records: Vec<Vec<u32>>| -> Vec<BTreeSet<u32>> {
        records.into_iter().map(|record| record.into_iter().collect()).collect()
    };
    let truth = sets(data.records.iter().map(<[u32]>::to_vec).collect());
    let themselves = |groups: &Shown<'_>| groups.iter().filter(|g| g.len() == 1).map(|g| g[0]).collect();
    let never = |_: u32, _: u32| false;
    let found = best(&sets(shown.iter().map(themselves).collect()), 12, &never);
    close(report.top_k.tkd.all, lost(&best(&truth, 12, &never), &found));
    let above = |term: u32| std::iter::once(term).chain(hierarchy.ancestors(term)).collect::<BTreeSet<u32>>();
    let extended = |terms: &[u32]| terms.iter().flat_map(|&term| above(term)).collect::<BTreeSet<u32>>();
    // A group stands for every node that is above all of its terms.
    let nodes = |groups: &Shown<'_>| -> BTreeSet<u32> {
        let common = |g: &&Vec<TermId>| g.iter().map(|&t| above(t)).reduce(|a, b| &a & &b).unwrap();
        groups.iter().flat_map(common).collect()
    };
    let excludes = |a: u32, b: u32| hierarchy.is_ancestor(a, b);
    let truth = best(&data.records.iter().map(extended).collect::<Vec<_>>(), 12, &excludes);
    let found = best(&shown.iter().map(nodes).collect::<Vec<_>>(), 12, &excludes);
    close(report.top_k.tkd_ml2.unwrap().all, lost(&truth, &found));
}

/// re and estimates by the formula of the spec.
fn check_errors(report: &RecodedReport, data: &Dataset, shown: &[Shown<'_>], block: &Block, spread: &Spread<'_>) {
    let support = |groups: &[&Vec<TermId>]| {
        shown.iter().filter(|shown| groups.iter().all(|group| shown.contains(group))).count() as f64
    };
    let mut errors = Vec::new();
    for a in 0..data.n_terms() as TermId {
        for b in a + 1..data.n_terms() as TermId {
            let group = |term| block.groups.iter().find(|group| group.contains(&term));
            let expected = match (group(a), group(b)) {
                (Some(x), Some(y)) => support(&[x, y]) / (x.len() * y.len()) as f64,
                _ => 0.0,
            };
            let told = spread.estimate(&[a, b]);
            close(told.expected, expected);
            let truth = data.records.iter().filter(|r| r.contains(&a) && r.contains(&b)).count();
            assert!((told.lower..=told.upper).contains(&(truth as u64)), "{told:?} {truth}");
            if truth as f64 + expected > 0.0 {
                errors.push((truth as f64 - expected).abs() / ((truth as f64 + expected) / 2.0));
            }
        }
    }
    if let Some(window) = report.relative_error.first() {
        let mean = (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64);
        close(window.re.mean.unwrap_or(-1.0), mean.unwrap_or(-1.0));
    }
}

#[test]
fn blocks_are_measured_by_their_own_groups() {
    let mut rng = ChaCha8Rng::seed_from_u64(34);
    let mut several = 0;
    for _ in 0..40 {
        let data = Dataset::from_texts(random_records(&mut rng, 8, 60));
        let hierarchy = Hierarchy::uniform(&data.dictionary, 2).unwrap();
        let asked = Recoding { block: Some(10), ..Recoding::by_hierarchy(Method::Lra, 2, 2, 2) };
        let Some(made) = protected(&asked, &data) else { continue };
        let params = LocalParams { block: 10, ..LocalParams::new(2, 2) };
        let local = lra(&data.records, &hierarchy, &params, &Unobserved).unwrap();
        let report = published(&made, &data, Some(&hierarchy), 12);
        assert!((report.ncp - local.ncp(&data.records, &hierarchy)).abs() < 1e-9);
        assert_eq!((report.ncp, report.queries.within_bounds), (report.ncp_all, 1.0));
        several += usize::from(made.claim.blocks > 1);
        if made.claim.blocks > 1 {
            let options =
                RecodedOptions { top: 1, queries: 0, seed: 1, hierarchy: None, line_of: None, observer: &Unobserved };
            let refused = measure_recoded(&made.claim, &made.release, &data, &options).unwrap_err();
            assert!(refused.to_string().contains("custody"), "{refused}");
        }
    }
    assert!(several > 10, "{several}");
}

#[test]
fn packages_are_written_and_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("baskets.dat");
    std::fs::write(&file, "a b\na b\na c\nd\n").unwrap();
    let (data, intake) = read::read(&file, &read::Options::default()).unwrap();
    let asked = asked(Method::Suppression, 2, 2);
    let made = make(&asked, &data, &Unobserved).unwrap();
    assert_eq!(made.suppressed, ["c", "d"]);
    let recipe = folder.path().join("recipe.toml");
    std::fs::write(&recipe, "input.file = \"baskets.dat\"\nprotect = { method = \"suppression\", k = 2, m = 2 }\n")
        .unwrap();
    let recipe = read_recipe(&recipe).unwrap();
    assert_eq!(recipe.protect.recoding.as_ref(), Some(&asked));
    protect(&recipe, Input::Sets(data.clone(), intake.clone()), &Unobserved).unwrap();
    let Recodings { claim, release, line_of, .. } = &made;
    let (read, records) = open_recoded(&folder.path().join("out/release")).unwrap();
    assert_eq!((&read, text(&records)), (claim, text(release)));
    let kept = Kept::read(&folder.path().join("out/custody"), Form::Recoded).unwrap();
    assert_eq!((&kept.full_map(), kept.input_sha256), (line_of, intake.sha256));
    // What is gone is told in custody and nowhere else.
    let told = |file: &str| std::fs::read_to_string(folder.path().join("out").join(file)).unwrap();
    assert!(told("custody/custody.json").contains("\"d\""));
    assert!(!told("release/claim.json").contains("\"d\"") && !told("release/transactions.jsonl").contains("\"d\""));
    let sets = utility_as_published(&[vec![0, 1, 2]], &data.dictionary, release);
    assert_eq!(sets, [["a", "b"]]);
}

#[test]
fn the_greatest_expectations_are_those_of_all_itemsets() {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    for round in 0..150 {
        let data = Dataset::from_texts(random_records(&mut rng, 7, 30));
        let method = [Method::Apriori, Method::Lra, Method::Suppression][round % 3];
        let asked = Recoding { block: (method == Method::Lra).then_some(4), ..asked(method, 2, 1) };
        // Where there are fewer records than the crowd needs there is no release to ask.
        let Ok(made) = make(&asked, &data, &Unobserved) else { continue };
        let spread = Spread::new(&made.release, made.claim.suppression);
        let n_terms = made.release.dictionary.len();
        let mut all: Vec<(i64, usize, Vec<TermId>)> = (1_u32..1 << n_terms)
            .map(|set| (0..n_terms as TermId).filter(|term| set >> term & 1 == 1).collect::<Vec<_>>())
            .map(|terms| ((spread.estimate(&terms).expected * -1e6).round() as i64, terms.len(), terms))
            .filter(|of| of.0 < 0)
            .collect();
        all.sort_unstable();
        let (k, min_length) = (rng.random_range(1..40), rng.random_range(1..4));
        let max_length = rng.random_range(min_length..6);
        let found = top_spread(&spread, &Mining { k, min_length, max_length, excludes: None, observer: &Unobserved });
        let found: Vec<(i64, usize, Vec<TermId>)> =
            found.into_iter().map(|of| ((of.support * -1e6).round() as i64, of.terms.len(), of.terms)).collect();
        all.retain(|of| (min_length..=max_length).contains(&of.1));
        all.truncate(k);
        assert_eq!(found, all, "{round}");
    }
}

/// What is empty is counted in the records: a claim may declare any number of them.
#[test]
fn a_claim_of_too_few_records_is_converted_and_refuted() {
    let data = Dataset::from_texts([vec!["a"], vec!["b"], vec!["a", "b"]]);
    let groups = Groups::from_groups(2, [vec![0, 1]]).unwrap();
    let mut draft = Draft::of_recoding(&data.records, 0..3, &groups, Vec::new());
    draft.push(3, &mut Vec::new());
    let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft]).unwrap();
    let mut claim = RecodedClaim::new(&release, "apriori", 2, Promised::Km { m: 1 }, Suppression::Occurrences, None);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("transactions.jsonl"), text(&release)).unwrap();
    for records in [4, 1, 0] {
        claim.records = records;
        std::fs::write(folder.path().join("claim.json"), claim.to_json().unwrap()).unwrap();
        let to = folder.path().join("out.jsonl");
        let converted = convert(folder.path(), &to, &Converting::default(), &read::Files, &Unobserved).unwrap();
        let Converted::Data { data, empty, .. } = converted else { panic!("records become data") };
        assert_eq!((data.records.len(), empty), (3, 1));
        assert_eq!(judged(&claim, &release, None).holds, records == 4);
    }
}
