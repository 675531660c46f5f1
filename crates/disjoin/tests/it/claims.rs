//! Claims are true to the letter, for somebody who has read them: what a claim publishes beside the data counts as published.

use std::collections::HashMap;

use crate::program_aware::{Records, Space, bit, dataset, holders};
use crate::worlds::Layout;
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use disjoin::Unobserved;
use disjoin::attack::summary::{Choice, Summary, find};
use disjoin::attack::{Knowledge, View, Worlds};
use disjoin::data::table::{Column, Role, Table};
use disjoin::protect::disassociation::{Diversity, DiversityRule, Outcome, Params, disassociate};
use disjoin::protect::tabular::{self, Method, anonymize};
use disjoin::release::claim::{Parameters, Sensitive};
use disjoin::release::generalized::{Generalized, TableClaim};
use disjoin::release::privacy_models::Criterion;
use disjoin::release::{Claim, CutRule, Disassociated, Promise};
use rayon::prelude::*;

const EXCEPTED: &str = "Sets with a sensitive term are excepted";

/// For each set, the most records that hold it in a world of the release in which no leaf has more than `most` of its records with
/// the first letter, which is sensitive.
fn most_holders(release: &Disassociated, sets: &[Terms], most: impl Fn(usize) -> usize) -> Vec<u32> {
    let letters: Vec<Terms> = release.dictionary.iter().map(bit).collect();
    let named = |record: Terms| (0..letters.len()).filter(|t| record >> t & 1 == 1).map(|t| letters[t]).sum::<Terms>();
    let mut sums = vec![0; sets.len()];
    for layout in release.roots.iter().map(Layout::new) {
        let mut of_root = vec![0; sets.len()];
        enumerate(&layout, TermChunks::Enumerated, |world| {
            let leaves: Vec<Records> = world.iter().map(|leaf| leaf.iter().map(|&r| named(r)).collect()).collect();
            if leaves.iter().all(|leaf| holders(leaf, 1) as usize <= most(leaf.len())) {
                let holds = |&set: &Terms| leaves.iter().map(|leaf| holders(leaf, set)).sum::<u32>();
                of_root.iter_mut().zip(sets.iter().map(holds)).for_each(|(most, n)| *most = n.max(*most));
            }
        });
        sums.iter_mut().zip(of_root).for_each(|(sum, most)| *sum += most);
    }
    sums
}

fn claim(params: &Params, records: u64) -> Claim {
    let &Params { k, m, max_cluster, refine, .. } = params;
    let rule = |diversity: &Diversity| match diversity.rule {
        DiversityRule::Multiplicity => String::from("multiplicity"),
        DiversityRule::Size => String::from("size"),
    };
    let (l, rule) = (params.diversity.map(|d| d.l), params.diversity.as_ref().map(rule));
    let sensitive = (!params.sensitive.is_empty()).then(|| Sensitive { terms: vec!["a".into()], l, rule });
    let parameters = Parameters { k, m, max_cluster, refine, cut: params.cut_rule(), sensitive };
    Claim::disassociation(parameters, params.promise(), records)
}

/// Sets that a record holds, with the sensitive term and without, and how many of each no possible original has k times, if everybody
/// knows the rule of the claim.
fn counted(params: &Params, space: Space) -> [[u64; 2]; 2] {
    let sets = space.sets(params.m);
    let one = |records: Records| {
        let mut counts = [[0; 2]; 2];
        let data = dataset(&records);
        let Some(a) = data.dictionary.get("a") else { return counts };
        let params = Params { sensitive: vec![a], ..params.clone() };
        let Ok(Outcome { release, .. }) = disassociate(&data, &params) else { return counts };
        let l = match params.diversity {
            Some(Diversity { l, rule: DiversityRule::Multiplicity }) => l as usize,
            _ => 1,
        };
        let possible = most_holders(&release, &sets, |size| size / l);
        for (&set, most) in sets.iter().zip(possible).filter(|(set, _)| holders(&records, **set) > 0) {
            let of = &mut counts[usize::from(set & 1 == 0)];
            *of = [of[0] + 1, of[1] + u64::from(most < params.k)];
        }
        counts
    };
    let add = |a: [[u64; 2]; 2], b: [[u64; 2]; 2]| [0, 1].map(|i| [0, 1].map(|j| a[i][j] + b[i][j]));
    space.datasets().into_par_iter().map(one).reduce(Default::default, add)
}

/// The rule that a sensitive term is in at most one of l records of a cluster is published, and leaves fewer than k records for many
/// sets with such a term. The claim excepts them, and nothing else has to be excepted.
#[test]
fn sets_with_a_sensitive_term_are_excepted_where_a_rule_bounds_it() {
    for (base, is_layered) in [(Params { max_cluster: 4, ..Params::paper(2, 2) }, false), (Params::new(2, 2), true)] {
        for rule in [None, Some(DiversityRule::Size), Some(DiversityRule::Multiplicity)] {
            let params = Params { diversity: rule.map(|rule| Diversity { l: 2, rule }), ..base.clone() };
            let [sensitive, others] = counted(&params, Space { n: 6, terms: 3 });
            println!("{rule:?}, layered {is_layered}: {sensitive:?} with the term, {others:?} without");
            assert_eq!(others[1], 0, "{rule:?}");
            assert!(sensitive[0] > 500 && others[0] > 500, "{sensitive:?} {others:?}");
            let claimed = claim(&Params { sensitive: vec![0], ..params }, 6);
            let is_excepted = claimed.promised.contains(EXCEPTED);
            assert_eq!(is_excepted, rule == Some(DiversityRule::Multiplicity), "{}", claimed.promised);
            // No exception without need, and none missing.
            assert_eq!(is_excepted, sensitive[1] > 0, "{rule:?}: {sensitive:?}");
        }
    }
}

/// A term that refine shares is rare in every leaf: {a, c} is held by one record in every dataset that the program would publish like
/// this. The claim excepts such sets, and `worlds` finds them in small joint clusters.
#[test]
fn sets_with_shared_terms_are_excepted_and_found() {
    let records: Records =
        ["a", "a", "ac", "b", "b", "bc"].map(|record| record.chars().map(|c| bit(&c.to_string())).sum()).to_vec();
    let params = Params { max_cluster: 4, algorithm_aware: true, ..Params::paper(2, 2) };
    let publish = |records: &Records| {
        let release = disassociate(&dataset(records), &params).unwrap().release;
        let mut bytes = Vec::new();
        disjoin::release::jsonl::write(&release, &mut bytes).unwrap();
        (release, bytes)
    };
    let (release, published) = publish(&records);
    let alike: Vec<Records> =
        Space { n: 6, terms: 3 }.datasets().into_iter().filter(|other| publish(other).1 == published).collect();
    let most = |set: Terms| alike.iter().map(|other| holders(other, set)).max().unwrap();
    assert_eq!((most(0b101), most(0b1)), (1, 3), "{alike:?}");
    let claimed = claim(&params, 6);
    assert!(
        claimed.promise == Promise::AlgorithmAware
            && claimed.promised.contains("does not cover sets with a term of a shared")
    );
    let view =
        View { release: &release, cut: CutRule::Weighed, knowledge: &Knowledge::Anything, observer: &Unobserved };
    let summary = Summary::new(&find(&view, &[Choice::Worlds], &Worlds::default()), None, None, &release);
    assert_eq!((summary.certain, summary.clusters, summary.clusters_with_shared_terms), (2, 2, 2));
    assert_eq!(disjoin::attack::shared::n_decided(&release, CutRule::Weighed), 2);
}

/// Claims of version 2 with the same parameters said too much; they are read, and what is proved of them is said in the words of today.
#[test]
fn what_is_proved_of_an_older_claim_is_said_in_words_that_are_true() {
    let params = Params {
        sensitive: vec![0],
        diversity: Some(Diversity { l: 2, rule: DiversityRule::Multiplicity }),
        ..Params::new(2, 2)
    };
    let today = claim(&params, 6);
    let (promised, adversary) = disjoin::release::claim::Body::words_of_version_2(&today.body);
    let old = Claim { version: 2, promised, adversary, ..today.clone() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claim.json");
    std::fs::write(&path, old.to_json().unwrap()).unwrap();
    let read = <Claim>::read(&path).unwrap();
    assert!(!read.promised.contains(EXCEPTED));
    assert!(disjoin::release::claim::Body::provable(&read.body).contains(EXCEPTED));
    // The words of one version are not those of another.
    for (version, promised) in [(2, &today.promised), (3, &old.promised)] {
        let forged = Claim { version, promised: promised.clone(), ..today.clone() };
        std::fs::write(&path, forged.to_json().unwrap()).unwrap();
        assert!(<Claim>::read(&path).is_err(), "{version}");
    }
}

/// No class shows a sensitive value in more than half of its rows. Whoever has the source asks which tables are published like this one, each as
/// likely beforehand, and is surer than that of some people: classes are as large as they are for a reason. The claim excepts it.
#[test]
fn tables_do_not_promise_anything_against_whoever_has_the_source() {
    const N: usize = 6;
    let criteria = [Criterion::KAnonymity { k: 2 }, Criterion::Frequency { alpha: 0.5 }];
    let table = |values: &[usize; N]| {
        let ages = Column::numbers("age", Role::Quasi, (0..N).map(|age| Some(age as f64)));
        let ill = Column::words("ill", Role::Sensitive, values.iter().map(|&value| Some(["x", "y", "z"][value])));
        Table::new(N, vec![ages, ill], None)
    };
    let mut surest: Vec<(&str, f64)> = Vec::new();
    for method in [Method::Mondrian, Method::LeastLoss, Method::Hilbert] {
        let params = tabular::Params { method, criteria: criteria.to_vec(), most_removed: 0.0, seed: 1 };
        let mut alike: HashMap<Vec<u8>, Vec<[usize; N]>> = HashMap::new();
        for number in 0..3_usize.pow(N as u32) {
            let values: [usize; N] = std::array::from_fn(|row| number / 3_usize.pow(row as u32) % 3);
            let table = table(&values);
            let Ok(partition) = anonymize(&table, &params, None) else { continue };
            let mut bytes = Vec::new();
            Generalized::new(&table, &partition).write(&mut bytes).unwrap();
            alike.entry(bytes).or_default().push(values);
            let claimed = TableClaim::new(&table, &partition, method.name(), &criteria);
            assert!(claimed.adversary.contains("(minimality attack)"), "{}", claimed.adversary);
        }
        let share = |originals: &Vec<[usize; N]>, row: usize, value: usize| {
            originals.iter().filter(|values| values[row] == value).count() as f64 / originals.len() as f64
        };
        let people = || (0..N).flat_map(|row| (0..3).map(move |value| (row, value)));
        let of_release =
            |originals: &Vec<[usize; N]>| people().map(|(row, value)| share(originals, row, value)).fold(0.0, f64::max);
        surest.push((method.name(), alike.values().map(of_release).fold(0.0, f64::max)));
    }
    println!("{surest:?}");
    assert!(surest.iter().any(|(_, share)| *share > 0.5), "{surest:?}");
}
