//! Regrouped releases keep their promise, stay within their limits, and give less away.

use std::collections::BTreeSet;

use disjoin::attack::semantic::{Distance, METHODS, Method, Options};
use disjoin::data::{Dataset, Recoding, TermId};
use disjoin::knowledge::relatedness::corpus::{Builder, Corpus};
use disjoin::knowledge::relatedness::{by_corpus, by_records};
use disjoin::protect::recoding::utility::inconspicuous;
use disjoin::protect::recoding::{Params, coat};
use disjoin::read::policy::{Policy, one_utility_set, random_singletons};
use disjoin::release::recoded::{
    Draft, Promised, Recoded, RecodedClaim, Suppression, utility_as_published, write_recoded,
};
use disjoin::repair::regroup::{Asked, Ended, Fared, Regrouped, regroup};
use disjoin::verify::{RecodedTruth, verify_recoded};
use disjoin::{Error, Unobserved};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const WORDS: usize = 600;

/// Documents that are each about one of some topics.
fn texts(n: usize, topics: usize, rng: &mut ChaCha8Rng) -> Vec<Vec<String>> {
    let document = |_| {
        let topic = rng.random_range(0..topics);
        let length = rng.random_range(8..16);
        let mut word = || ((WORDS / topics) as f64 * rng.random_range(0.0_f64..1.0).powi(2)) as usize;
        (0..length).map(|_| format!("topic{topic}word{}", word())).collect()
    };
    (0..n).map(document).collect()
}

/// A release of such documents in which some words are protected, and what an adversary has read.
struct Case {
    data: Dataset,
    privacy: Vec<Vec<TermId>>,
    claim: RecodedClaim,
    release: Recoded,
    corpus: Corpus,
}

fn case(topics: usize, k: u32, seed: u64, within: Option<usize>) -> Case {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut builder = Builder::default();
    texts(2_000, topics, &mut rng).iter().for_each(|document| builder.add(&document.join(" ")));
    let corpus = builder.finish(Vec::new()).unwrap();
    let data = Dataset::from_texts(texts(300, topics, &mut rng));
    let n_terms = data.n_terms();
    let privacy = random_singletons(n_terms, 0.2, seed).unwrap();
    let utility = match within {
        // Sets of words that have nothing to do with each other.
        Some(n) => (0..n as u32).map(|set| (set..n_terms as u32).step_by(n).collect()).collect(),
        None => one_utility_set(n_terms),
    };
    let params = Params { max_suppressed: 1.0, ..Params::new(k) };
    let policy = Policy { privacy: privacy.clone(), utility: utility.clone() };
    let recoding = coat(&data.records, n_terms, &policy, &params, &Unobserved).unwrap().recoding;
    let (release, claim) = publish(&data, &recoding, &privacy, &utility, k);
    Case { data, privacy, claim, release, corpus }
}

fn publish(
    data: &Dataset,
    recoding: &Recoding,
    privacy: &[Vec<TermId>],
    utility: &[Vec<TermId>],
    k: u32,
) -> (Recoded, RecodedClaim) {
    let draft = Draft::of_recoding(&data.records, 0..data.records.len() as u32, recoding, Vec::new());
    let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft]).unwrap();
    let promise = Promised::constraints(privacy, &data.dictionary, true, &release);
    let utility = utility_as_published(utility, &data.dictionary, &release);
    let suppression = if recoding.suppressed().next().is_some() { Suppression::Terms } else { Suppression::None };
    let claim = RecodedClaim::new(&release, "coat", k, promise, suppression, Some(utility));
    (release, claim)
}

fn mend(case: &Case, methods: &[Method], limit: f64) -> Regrouped {
    let (distance, _) = by_corpus(&case.corpus, &case.data.dictionary);
    mend_against(case, &[&distance], methods, limit, 0.0)
}

fn mend_against(case: &Case, adversaries: &[&Distance<'_>], methods: &[Method], limit: f64, most: f64) -> Regrouped {
    let Case { claim, release, data: original, .. } = case;
    let options = Options { methods: methods.to_vec(), seed: 1, ..Options::default() };
    regroup(&Asked { claim, release, original, adversaries, options: &options, most, limit }, &Unobserved).unwrap()
}

/// By how much the best attack of an adversary is right beyond blind guesses.
fn strongest(mended: &Regrouped, adversary: usize, of: fn(&Fared) -> f64) -> f64 {
    mended.stats.attacks.iter().filter(|fared| fared.adversary == adversary).map(of).fold(f64::MIN, f64::max)
}

/// What a release promises, counted anew: groups are disjoint, records show what their terms became, and every protected
/// term is in no record or in k.
fn check(case: &Case, mended: &Regrouped) {
    let (release, k) = (&mended.release, case.claim.k);
    let truth = RecodedTruth { original: &case.data, line_of: Some(&mended.line_of) };
    assert!(verify_recoded(&mended.claim, release, Some(truth), &Unobserved).holds);
    let [block] = &release.blocks[..] else { panic!("one recoding") };
    let texts =
        |group: &[TermId]| -> BTreeSet<&str> { group.iter().map(|&term| release.dictionary.text(term)).collect() };
    let groups: Vec<BTreeSet<&str>> = block.groups.iter().map(|group| texts(group)).collect();
    let before: BTreeSet<&str> = case.release.dictionary.iter().collect();
    let published: BTreeSet<&str> = groups.iter().flatten().copied().collect();
    assert_eq!(published, before, "terms came or went");
    assert_eq!(groups.iter().map(BTreeSet::len).sum::<usize>(), published.len(), "a term is in two groups");
    let shown = |text: &str| groups.iter().position(|group| group.contains(text));
    for set in &case.privacy {
        let of_set: Option<BTreeSet<usize>> = set.iter().map(|&term| shown(case.data.dictionary.text(term))).collect();
        let Some(of_set) = of_set else { continue };
        let has = |record: &[TermId]| {
            let groups: BTreeSet<usize> =
                record.iter().filter_map(|&term| shown(case.data.dictionary.text(term))).collect();
            of_set.is_subset(&groups)
        };
        let support = case.data.records.iter().filter(|record| has(record)).count();
        assert!(support == 0 || support >= k as usize, "{support}");
    }
    let utility = case.claim.utility.as_ref().unwrap();
    for group in groups.iter().filter(|group| group.len() > 1) {
        assert!(utility.iter().any(|set| group.iter().all(|text| set.iter().any(|other| other == text))));
    }
}

#[test]
fn attacks_fall_to_the_baseline_and_promises_stay() {
    for (k, seed) in [(3, 1), (5, 2)] {
        let case = case(10, k, seed, None);
        let mended = mend(&case, &METHODS, 2.5);
        check(&case, &mended);
        let stats = &mended.stats;
        for Fared { attack, before, after, .. } in &stats.attacks {
            println!("{k} {attack:?}: {:.3} -> {:.3}", before.beyond_blind(), after.beyond_blind());
        }
        println!("{:?} {} rounds, {} exchanges, NCP {:?}", stats.ended, stats.rounds, stats.exchanges, stats.ncp);
        assert!(stats.attacks.iter().filter(|fared| fared.before.beyond_blind() > 0.0).count() >= 5);
        let before = strongest(&mended, 0, |fared| fared.before.beyond_blind());
        let after = strongest(&mended, 0, |fared| fared.after.beyond_blind());
        assert_eq!(stats.ended == Ended::Baseline, after <= 0.0);
        // With larger crowds it takes more members, and not all of them can fit.
        assert!(after <= if k == 3 { 0.0 } else { before / 4.0 }, "{k}: {before} {after}");
        assert!(stats.ncp.1 <= 2.5 * stats.ncp.0);
    }
}

#[test]
fn utility_sets_and_limits_are_kept_where_attacks_still_win() {
    // Within sets of unrelated words there is nothing better to exchange for.
    let case = case(10, 3, 3, Some(40));
    let before = case.release.blocks[0].groups.clone();
    let mended = mend(&case, &[Method::Threshold, Method::Redistribution], 1.0);
    check(&case, &mended);
    let stats = &mended.stats;
    assert!(stats.ncp.1 <= stats.ncp.0 * (1.0 + 1e-12), "{:?}", stats.ncp);
    if stats.exchanges == 0 {
        assert_eq!(mended.release.blocks[0].groups, before);
    }
    let before = strongest(&mended, 0, |fared| fared.before.beyond_blind());
    assert!(strongest(&mended, 0, |fared| fared.after.beyond_blind()) <= before);
}

/// Two who know different halves of the words: what is mended against one is not against the other.
#[test]
fn all_adversaries_count() {
    let methods = [Method::Threshold, Method::Redistribution];
    let halved = case(10, 3, 7, None);
    let (distance, _) = by_corpus(&halved.corpus, &halved.data.dictionary);
    let knows = |half: u32| {
        let is_known = move |term: TermId| term % 2 == half;
        let distance = &distance;
        move |a: TermId, b: TermId| if is_known(a) && is_known(b) { distance(a, b) } else { f64::NAN }
    };
    let (one, other) = (knows(0), knows(1));
    let first = mend_against(&halved, &[&one], &methods, 2.0, 0.0);
    let both = mend_against(&halved, &[&one, &other], &methods, 2.0, 0.0);
    check(&halved, &both);
    let before = |mended: &Regrouped, adversary| strongest(mended, adversary, |fared| fared.before.beyond_blind());
    let after = |mended: &Regrouped, adversary| strongest(mended, adversary, |fared| fared.after.beyond_blind());
    assert_eq!(before(&first, 0), before(&both, 0));
    for adversary in [0, 1] {
        assert!(before(&both, adversary) > 0.05, "{}", before(&both, adversary));
        assert!(after(&both, adversary) < before(&both, adversary) / 2.0, "{}", after(&both, adversary));
    }
    // The other looks at what was mended against one alone.
    let looked_at = Case { release: first.release, claim: first.claim, ..case(10, 3, 7, None) };
    let seen = mend_against(&looked_at, &[&other], &methods, 1.0, 1.0);
    assert_eq!((seen.stats.ended, seen.stats.exchanges), (Ended::Baseline, 0));
    assert!(before(&seen, 0) > after(&both, 1), "{} {}", before(&seen, 0), after(&both, 1));
}

#[test]
fn what_gives_nothing_away_is_left_as_it_is() {
    let case = case(1, 3, 4, None);
    let mended = mend(&case, &[Method::Largest], 1.5);
    assert_eq!((mended.stats.ended, mended.stats.exchanges, mended.stats.rounds), (Ended::Baseline, 0, 1));
    let text = |release: &Recoded| {
        let mut text = Vec::new();
        write_recoded(release, &mut text).unwrap();
        text
    };
    assert_eq!(text(&mended.release), text(&case.release));
    assert_eq!(mended.claim.method, "coat, regrouped");
}

#[test]
fn other_originals_and_other_forms_are_refused() {
    let case = case(5, 3, 5, None);
    let distance = by_records(&case.data.records, case.data.n_terms());
    let asked = |claim, release, original| {
        let options = Options { methods: vec![Method::Largest], context: Some(3), ..Options::default() };
        let adversaries: &[&Distance<'_>] = &[&distance];
        let asked = Asked { claim, release, original, adversaries, options: &options, most: 0.0, limit: 1.2 };
        regroup(&asked, &Unobserved)
    };
    assert!(asked(&case.claim, &case.release, &case.data).is_ok());
    let less = Dataset::from_texts(texts(300, 5, &mut ChaCha8Rng::seed_from_u64(9)));
    assert!(matches!(asked(&case.claim, &case.release, &less), Err(Error::Input { .. })));
    let two = Recoded { dictionary: case.release.dictionary.clone(), blocks: vec![case.release.blocks[0].clone(); 2] };
    assert!(matches!(asked(&case.claim, &two, &case.data), Err(Error::Recipe { .. })));
    let mut partly = case.claim.clone();
    partly.suppression = Suppression::Occurrences;
    assert!(matches!(asked(&partly, &case.release, &case.data), Err(Error::Recipe { .. })));
}

#[test]
fn inconspicuous_sets_leave_less_to_mend() {
    let loose = case(10, 3, 6, None);
    let (distance, _) = by_corpus(&loose.corpus, &loose.data.dictionary);
    let n_terms = loose.data.n_terms();
    let sets = inconspicuous(&loose.privacy, &loose.data.records, n_terms, 12, &distance);
    let policy = Policy { privacy: loose.privacy.clone(), utility: sets.clone() };
    let params = Params { max_suppressed: 1.0, ..Params::new(3) };
    let recoding = coat(&loose.data.records, n_terms, &policy, &params, &Unobserved).unwrap().recoding;
    let (release, claim) = publish(&loose.data, &recoding, &loose.privacy, &sets, 3);
    let careful = Case { claim, release, ..case(10, 3, 6, None) };
    let lead = |case: &Case| {
        let mended = mend(case, &[Method::Threshold], 1.5);
        mended.stats.attacks[0].before.beyond_blind()
    };
    assert!(lead(&careful) < lead(&loose));
}
