//! COAT and PCTA against an oracle that counts by definition, and against all recodings of small data.

use std::collections::BTreeSet;

use disjoin::data::Recoding;
use disjoin::data::{TermId, Transactions};
use disjoin::error::{Error, Result};
use disjoin::protect::recoding::coat;
use disjoin::protect::recoding::pcta;
use disjoin::protect::recoding::{Outcome, Params};
use disjoin::read::policy::{Policy, one_utility_set};
use disjoin::release::recoded::utility_loss::of_recoding;
use disjoin::{Observer, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Method = fn(&Transactions, usize, &Policy, &Params, &dyn Observer) -> Result<Outcome>;

struct Instance {
    records: Transactions,
    n_terms: usize,
    policy: Policy,
}

fn transactions(records: &[&[TermId]]) -> Transactions {
    let mut all = Transactions::default();
    for record in records {
        all.push(&mut record.to_vec());
    }
    all
}

fn random(random: &mut ChaCha8Rng, max_terms: usize, max_records: usize, is_one_set: bool) -> Instance {
    let n_terms = random.random_range(1..=max_terms);
    let mut records = Transactions::default();
    let density = random.random_range(0.05..0.7);
    for _ in 0..random.random_range(0..=max_records) {
        records.push(&mut (0..n_terms as TermId).filter(|_| random.random_bool(density)).collect());
    }
    let privacy = (0..random.random_range(0..6))
        .map(|_| (0..random.random_range(1..4)).map(|_| random.random_range(0..n_terms as TermId)).collect())
        .collect();
    let mut utility = one_utility_set(n_terms);
    if !is_one_set {
        // The last set is left out: its terms may not be generalised.
        let n_sets = random.random_range(1..4);
        utility = vec![Vec::new(); n_sets + 1];
        (0..n_terms as TermId).for_each(|term| utility[random.random_range(0..=n_sets)].push(term));
        utility.pop();
        utility.retain(|set| !set.is_empty());
    }
    Instance { records, n_terms, policy: Policy { privacy, utility } }
}

/// Whether no record or k and more hold a set of terms, with groups as sets of terms and nothing precomputed.
fn holds(instance: &Instance, recoding: &Recoding, set: &BTreeSet<TermId>, k: u32) -> bool {
    let suppressed: BTreeSet<TermId> = recoding.suppressed().collect();
    if set.iter().any(|term| suppressed.contains(term)) {
        return true;
    }
    let group = |term: &TermId| recoding.groups().iter().find(|group| group.contains(term)).unwrap();
    let has = |record: &[TermId], term: &TermId| record.iter().any(|held| group(term).contains(held));
    let support = instance.records.iter().filter(|record| set.iter().all(|term| has(record, term))).count() as u32;
    support == 0 || support >= k
}

fn satisfies(instance: &Instance, recoding: &Recoding, params: &Params) -> bool {
    let Policy { privacy, utility } = &instance.policy;
    let all_terms: BTreeSet<TermId> = recoding.groups().concat().into_iter().chain(recoding.suppressed()).collect();
    let keeps_utility = recoding
        .groups()
        .iter()
        .all(|group| group.len() == 1 || utility.iter().any(|set| group.iter().all(|term| set.contains(term))));
    all_terms.len() == instance.n_terms
        && keeps_utility
        && privacy.iter().all(|set| {
            (1_u32..1 << set.len()).filter(|mask| params.subsets || *mask == (1 << set.len()) - 1).all(|mask| {
                let part = set.iter().zip(0..).filter(|(_, at)| mask >> at & 1 == 1).map(|(&term, _)| term).collect();
                holds(instance, recoding, &part, params.k)
            })
        })
}

fn check_against_oracle(method: Method) {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let (mut changed, mut refused, mut suppressed) = (0, 0, 0);
    for round in 0..5000 {
        let is_one_set = rng.random_bool(0.3);
        let instance = random(&mut rng, 10, 30, is_one_set);
        let params = Params {
            k: rng.random_range(2..6),
            max_suppressed: if rng.random_bool(0.5) { 1.0 } else { 0.2 },
            subsets: rng.random_bool(0.7),
            force: false,
        };
        let forced = Params { force: true, ..params };
        let outcome = method(&instance.records, instance.n_terms, &instance.policy, &forced, &Unobserved).unwrap();
        assert!(satisfies(&instance, &outcome.recoding, &params), "round {round}");
        let gone = outcome.recoding.suppressed().count();
        assert_eq!(gone as u64, outcome.stats.suppressed_terms);
        assert_eq!(outcome.stats.is_over_limit, gone as f64 / instance.n_terms as f64 > params.max_suppressed);
        // Where all constraints hold already, nothing is done.
        let is_fine = satisfies(&instance, &Recoding::identity(instance.n_terms), &params);
        assert_eq!(outcome.recoding == Recoding::identity(instance.n_terms), is_fine, "round {round}");
        if is_one_set && instance.records.len() >= params.k as usize {
            assert_eq!(gone, 0, "one group of all terms would do");
        }
        changed += usize::from(!is_fine);
        suppressed += usize::from(gone > 0);
        match method(&instance.records, instance.n_terms, &instance.policy, &params, &Unobserved) {
            Ok(same) => assert_eq!(same, outcome),
            Err(Error::Infeasible { .. }) => {
                assert!(outcome.stats.is_over_limit);
                refused += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    println!("changed {changed}, with suppression {suppressed}, refused {refused} of 5000");
    assert!(changed > 1000 && suppressed > 300 && refused > 100);
}

#[test]
fn coat_satisfies_every_policy() {
    check_against_oracle(coat);
}

#[test]
fn pcta_satisfies_every_policy() {
    check_against_oracle(pcta);
}

/// All ways to put terms into groups or to suppress them.
fn all_recodings(n_terms: usize) -> Vec<Recoding> {
    fn extend(at: TermId, n_terms: usize, groups: &mut Vec<Vec<TermId>>, all: &mut Vec<Recoding>) {
        if at as usize == n_terms {
            all.push(Recoding::from_groups(n_terms, groups.iter().cloned()).unwrap());
            return;
        }
        extend(at + 1, n_terms, groups, all);
        for group in 0..groups.len() {
            groups[group].push(at);
            extend(at + 1, n_terms, groups, all);
            groups[group].pop();
        }
        groups.push(vec![at]);
        extend(at + 1, n_terms, groups, all);
        groups.pop();
    }
    let mut all = Vec::new();
    extend(0, n_terms, &mut Vec::new(), &mut all);
    all
}

fn check_against_optimum(name: &str, method: Method, is_one_set: bool) {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    let recodings: Vec<Vec<Recoding>> = (0..=6).map(all_recodings).collect();
    let mut ratios = Vec::new();
    while ratios.len() < 300 {
        let instance = random(&mut rng, 6, 12, is_one_set);
        let params = Params { max_suppressed: 1.0, ..Params::new(rng.random_range(2..5)) };
        let outcome = method(&instance.records, instance.n_terms, &instance.policy, &params, &Unobserved).unwrap();
        let found = outcome.loss.total();
        if found == 0.0 {
            continue;
        }
        let best = recodings[instance.n_terms]
            .iter()
            .filter(|recoding| satisfies(&instance, recoding, &params))
            .map(|recoding| of_recoding(&instance.records, recoding).total())
            .fold(f64::INFINITY, f64::min);
        assert!(best > 0.0 && found >= best - 1e-12, "found {found}, best {best}");
        ratios.push(found / best);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize];
    let optimal = ratios.iter().filter(|&&ratio| ratio < 1.0 + 1e-9).count();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!(
        "{name}: optimal {optimal} of {}, mean {mean:.2}, median {:.2}, 90 % {:.2}, 99 % {:.2}, worst {:.2}",
        ratios.len(),
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
    assert!(at(0.5) < 2.0 && mean < 4.0);
}

#[test]
fn losses_are_near_the_optimum() {
    check_against_optimum("COAT, one utility set", coat, true);
    check_against_optimum("PCTA, one utility set", pcta, true);
    check_against_optimum("COAT, several", coat, false);
    check_against_optimum("PCTA, several", pcta, false);
}

#[test]
fn a_constraint_that_no_record_had_is_looked_at_again() {
    // {0, 1} is in no record. Merging 0 with 2, the cheapest repair of {0}, brings it into one.
    let records = transactions(&[&[0], &[2, 1], &[1], &[1, 3], &[3, 4], &[3, 4], &[4]]);
    let policy = Policy { privacy: vec![vec![0, 1]], utility: one_utility_set(5) };
    for method in [coat as Method, pcta] {
        let instance = Instance { records: records.clone(), n_terms: 5, policy: policy.clone() };
        let outcome = method(&records, 5, &policy, &Params::new(2), &Unobserved).unwrap();
        assert!(satisfies(&instance, &outcome.recoding, &Params::new(2)));
        assert_eq!(outcome.stats.violated, 1);
        assert!(outcome.stats.merges > 1);
    }
}

#[test]
fn merges_that_cannot_help_are_not_made() {
    // {0, 1} would cost least, but is in no more records than {0}.
    let records = transactions(&[&[0, 1], &[2, 3], &[2], &[3], &[3]]);
    let policy = Policy { privacy: vec![vec![0]], utility: one_utility_set(4) };
    for method in [coat as Method, pcta] {
        let outcome = method(&records, 4, &policy, &Params::new(2), &Unobserved).unwrap();
        assert_eq!(outcome.recoding.groups(), [vec![0, 2], vec![1], vec![3]]);
    }
}

#[test]
fn refusals_say_what_is_missing() {
    let records = transactions(&[&[0, 1], &[1, 2], &[2, 3], &[3], &[3]]);
    let with = |utility: Vec<Vec<TermId>>| Policy { privacy: vec![vec![3], vec![0]], utility };
    let refused = |policy: &Policy, params: &Params| match coat(&records, 4, policy, params, &Unobserved) {
        Err(Error::Infeasible { problem, hint }) => (problem, hint),
        other => panic!("{other:?}"),
    };
    let (problem, hint) = refused(&with(vec![vec![2, 3], vec![0, 1]]), &Params::new(3));
    assert!(problem.contains("privacy constraint 2") && problem.contains("utility constraint 2"), "{problem}");
    assert!(hint.contains("share of 0.25"), "{hint}");
    let (problem, _) = refused(&with(vec![]), &Params::new(3));
    assert!(problem.contains("no utility constraint"), "{problem}");
    // The share that is named does.
    let allowed = Params { max_suppressed: 0.25, ..Params::new(3) };
    let outcome = coat(&records, 4, &with(vec![vec![2, 3], vec![0, 1]]), &allowed, &Unobserved).unwrap();
    assert_eq!(outcome.recoding.suppressed().collect::<Vec<_>>(), [0]);
    assert_eq!((outcome.stats.utility_sets_hit, outcome.stats.is_over_limit), (1, false));
}

#[test]
fn bad_input_is_refused() {
    let records = transactions(&[&[0, 1], &[1]]);
    for method in [coat as Method, pcta] {
        let run = |privacy: Vec<Vec<TermId>>, utility: Vec<Vec<TermId>>, params: Params| {
            method(&records, 2, &Policy { privacy, utility }, &params, &Unobserved)
        };
        let is_recipe = |result: Result<Outcome>| matches!(result, Err(Error::Recipe { .. }));
        assert!(is_recipe(run(vec![vec![]], vec![], Params::new(2))));
        assert!(is_recipe(run(vec![vec![2]], vec![], Params::new(2))));
        assert!(is_recipe(run(vec![vec![0]], vec![vec![0, 1], vec![1]], Params::new(2))));
        assert!(is_recipe(run(vec![vec![0]], vec![], Params::new(1))));
        assert!(is_recipe(run(vec![vec![0]], vec![], Params { max_suppressed: f64::NAN, ..Params::new(2) })));
        assert!(matches!(
            method(&records, 1, &Policy::default(), &Params::new(2), &Unobserved),
            Err(Error::Internal(_))
        ));
        let none = method(&Transactions::default(), 0, &Policy::default(), &Params::new(2), &Unobserved).unwrap();
        assert_eq!(none.recoding, Recoding::identity(0));
    }
}
