//! Reading I2, exactly: possible originals are those from which the program makes this very release.
//!
//! All datasets of a tiny space are protected with the same parameters. Those that are published with the same bytes cannot be told
//! apart by somebody who has the source. A set of at most m terms that a record of one of them holds is *breached* if none of
//! them has k records that hold it. Only sets that fewer than k records of an original hold can be; those are counted, so that zero breaches
//! among nothing does not pass for a result. Spaces that are too large are sampled: of a random dataset all worlds of its release (reading I0,
//! `worlds/`) are looked at, and those that would be witnesses are protected again. That is as exact, for the datasets that were drawn.
//!
//! What is published is data.jsonl and the parameters of the claim. Records come in the order of their letters: that the order of lines
//! does not matter is a test of its own.
//!
//! A new way of protecting is one line in [`kept`], with the classes of sets that it promises.

use std::collections::{BTreeMap, BTreeSet};

use crate::worlds::Layout;
use crate::worlds::literal::{TermChunks, Terms, enumerate};
use crate::worlds::random::n_worlds_bound;
use disjoin::data::Dataset;
use disjoin::protect::disassociation::{Diversity, DiversityRule, Grouping, Outcome, Params, disassociate};
use disjoin::release::{Node, jsonl};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use sha2::{Digest, Sha256};

// ---- Ways of protecting --------------------------------------------------------------------------------------------------

/// Where the terms of a set lie, seen from the cluster of a record that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// All in record chunks.
    Record,
    /// All in shared chunks.
    Shared,
    /// Some in record chunks, the others in shared ones.
    Across,
    /// Some in a term chunk, of the cluster or of a node above it.
    Term,
}

const CLASSES: [Class; 4] = [Class::Record, Class::Shared, Class::Across, Class::Term];

/// A way of protecting, and what it promises.
struct Setting {
    name: &'static str,
    params: Params,
    /// Letters. Those that occur are sensitive.
    sensitive: &'static str,
    promised: &'static [Class],
}

/// Ways of which nothing that they promise may be breached.
fn kept() -> Vec<Setting> {
    use Class::{Across, Record, Shared};
    // Small clusters, so that there is a tree.
    let guarded = |k, m| {
        let params = Params { grouping: Grouping::Guarded, algorithm_aware: true, ..Params::paper(k, m) };
        Params { max_cluster: 2 * k, ..params }
    };
    let bare = |k, m| Params { refine: false, ..guarded(k, m) };
    let all: &[Class] = &[Record, Shared, Across];
    // One cluster, so that there is no grouping to learn from: what the weighed cut promises is promised here, too.
    let whole = |k, m| Params { max_cluster: 64, refine: false, algorithm_aware: true, ..Params::paper(k, m) };
    let setting = |name, params, sensitive, promised| Setting { name, params, sensitive, promised };
    vec![
        setting("one cluster, k 2, m 1", whole(2, 1), "", &[Record]),
        setting("one cluster, k 2, m 2", whole(2, 2), "", &[Record]),
        setting("one cluster, k 2, m 3", whole(2, 3), "", &[Record]),
        setting("one cluster, k 3, m 2", whole(3, 2), "", &[Record]),
        setting("one cluster, k 2, m 2, sensitive", whole(2, 2), "a", &[Record]),
        setting("one cluster, k 2, m 2, diverse", diverse(whole(2, 2)), "a", &[Record]),
        setting("guarded, k 2, m 1", guarded(2, 1), "", all),
        setting("guarded, k 2, m 2", guarded(2, 2), "", all),
        setting("guarded, k 2, m 3", guarded(2, 3), "", all),
        setting("guarded, k 3, m 2", guarded(3, 2), "", all),
        setting("guarded, k 3, m 3", guarded(3, 3), "", all),
        setting("guarded, k 2, m 2, sensitive", guarded(2, 2), "a", all),
        setting("guarded without shared chunks, k 2, m 2", bare(2, 2), "", all),
        setting("guarded without shared chunks, k 3, m 3", bare(3, 3), "", all),
    ]
}

/// Ways that are known to breach: if they do not, this file has become blind.
fn broken() -> Vec<Setting> {
    let paper = |k, m| Params { max_cluster: 2 * k, ..Params::paper(k, m) };
    let aware = |k, m| Params { algorithm_aware: true, ..paper(k, m) };
    let setting = |name, params| Setting { name, params, sensitive: "", promised: &[Class::Record] };
    vec![
        setting("default, k 2, m 2", Params::new(2, 2)),
        setting("default without refine, k 2, m 2", Params { refine: false, ..Params::new(2, 2) }),
        setting("paper's grouping with merging, k 2, m 2", aware(2, 2)),
        setting("paper's grouping and cut, k 2, m 2", paper(2, 2)),
    ]
}

fn diverse(params: Params) -> Params {
    Params { diversity: Some(Diversity { l: 2, rule: DiversityRule::Multiplicity }), ..params }
}

// ---- Datasets ------------------------------------------------------------------------------------------------------------

/// A dataset: records as bits of letters, ascending.
pub(crate) type Records = Vec<Terms>;

/// All datasets of `n` records over `terms` letters. Not every letter has to occur.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    pub(crate) n: usize,
    pub(crate) terms: u32,
}

impl Space {
    pub(crate) fn datasets(self) -> Vec<Records> {
        fn extend(space: Space, least: Terms, records: &mut Records, all: &mut Vec<Records>) {
            if records.len() == space.n {
                return all.push(records.clone());
            }
            for record in least..1 << space.terms {
                records.push(record);
                extend(space, record, records, all);
                records.pop();
            }
        }
        let mut all = Vec::new();
        extend(self, 1, &mut Vec::new(), &mut all);
        all
    }

    /// The sets of at most m letters.
    pub(crate) fn sets(self, m: u32) -> Vec<Terms> {
        (1..1 << self.terms).filter(|set: &Terms| set.count_ones() <= m).collect()
    }

    fn random(self, rng: &mut ChaCha8Rng) -> Records {
        let share = rng.random_range(0.2..0.7);
        let mut record = || match (0..self.terms).filter(|_| rng.random_bool(share)).map(|t| 1 << t).sum() {
            0 => 1 << rng.random_range(0..self.terms),
            record => record,
        };
        let mut records: Records = (0..self.n).map(|_| record()).collect();
        records.sort_unstable();
        records
    }
}

fn letter(term: u32) -> String {
    char::from(b'a' + term as u8).to_string()
}

pub(crate) fn bit(text: &str) -> Terms {
    1 << (text.as_bytes()[0] - b'a')
}

pub(crate) fn dataset(records: &[Terms]) -> Dataset {
    Dataset::from_texts(records.iter().map(|record| (0..64).filter(move |t| record >> t & 1 == 1).map(letter)))
}

pub(crate) fn holders(records: &[Terms], set: Terms) -> u32 {
    records.iter().filter(|&record| record & set == set).count() as u32
}

pub(crate) fn shown(set: Terms) -> String {
    (0..64).filter(|t| set >> t & 1 == 1).map(letter).collect()
}

// ---- Releases ------------------------------------------------------------------------------------------------------------

impl Setting {
    /// Protects, unless the program refuses to.
    fn protect(&self, data: &Dataset) -> Option<Outcome> {
        let sensitive = data.dictionary.iter().enumerate().filter(|(_, text)| self.sensitive.contains(text));
        let mut params = Params { sensitive: sensitive.map(|(id, _)| id as u32).collect(), ..self.params.clone() };
        if params.sensitive.is_empty() {
            params.diversity = None;
        }
        disassociate(data, &params).ok()
    }

    /// What everybody sees, as a digest: the data, and of the claim what is not the same for all datasets.
    fn published(&self, data: &Dataset, outcome: &Outcome) -> [u8; 32] {
        let mut bytes = Vec::new();
        jsonl::write(&outcome.release, &mut bytes).unwrap();
        let mut named: Vec<&str> = data.dictionary.iter().filter(|text| self.sensitive.contains(text)).collect();
        named.sort_unstable();
        Sha256::new().chain_update(bytes).chain_update(named.concat()).finalize().into()
    }

    fn k(&self) -> u32 {
        self.params.k
    }
}

/// For each leaf, the letters of its record chunks, and those of shared chunks above it that neither its record chunks nor
/// its term chunk has.
fn places(outcome: &Outcome) -> Vec<[Terms; 2]> {
    fn add(node: &Node, above: Terms, of: &dyn Fn(&[u32]) -> Terms, places: &mut Vec<[Terms; 2]>) {
        match node {
            Node::Simple(leaf) => {
                let own = leaf.record_chunks.iter().fold(0, |all, chunk| all | of(&chunk.terms));
                places.push([own, above & !own & !of(&leaf.term_chunk)]);
            }
            Node::Joint(joint) => {
                let above = joint.shared_chunks.iter().fold(above, |all, chunk| all | of(&chunk.terms));
                joint.members.iter().for_each(|member| add(member, above, of, places));
            }
        }
    }
    let dictionary = &outcome.release.dictionary;
    let of = |terms: &[u32]| terms.iter().map(|&t| bit(dictionary.text(t))).fold(0, |all, bit| all | bit);
    let mut places = Vec::new();
    outcome.release.roots.iter().for_each(|root| add(root, 0, &of, &mut places));
    places
}

/// For each of `sets` that some record holds, its best class among these records.
fn classes(records: &[Terms], outcome: &Outcome, sets: &[Terms]) -> Vec<Option<Class>> {
    let places = places(outcome);
    let class = |set: Terms, [own, shared]: [Terms; 2]| match (set & own, set & shared) {
        (inner, outer) if inner | outer != set => Class::Term,
        (_, 0) => Class::Record,
        (0, _) => Class::Shared,
        _ => Class::Across,
    };
    let leaves = |set: Terms| {
        let held = records.iter().zip(&outcome.leaf_of).filter(move |(record, _)| *record & set == set);
        held.map(|(_, &leaf)| leaf as usize)
    };
    sets.iter().map(|&set| leaves(set).map(|leaf| class(set, places[leaf])).min()).collect()
}

// ---- The oracle ----------------------------------------------------------------------------------------------------------

/// What was found. Sets are counted once for each dataset in which they are rare.
#[derive(Debug, Default, Clone)]
struct Tally {
    datasets: u64,
    releases: u64,
    /// Datasets that the program refuses.
    refused: u64,
    /// Datasets of too many worlds to look at.
    skipped: u64,
    /// By class: sets that some record holds, but fewer than k, and those of them that are breached.
    rare: [u64; 4],
    breached: [u64; 4],
    /// Some breaches, to look at: the class, the set and the records.
    examples: Vec<(Class, String)>,
}

impl Tally {
    fn add(&mut self, class: Class, set: Terms, records: &[Terms], is_breach: bool) {
        self.rare[class as usize] += 1;
        self.breached[class as usize] += u64::from(is_breach);
        if is_breach && self.examples.iter().filter(|(of, _)| *of == class).count() < 3 {
            let records: Vec<String> = records.iter().map(|&record| shown(record)).collect();
            self.examples.push((class, format!("{} of {}", shown(set), records.join(" "))));
        }
    }

    fn plus(mut self, mut other: Tally) -> Tally {
        self.datasets += other.datasets;
        self.releases += other.releases;
        self.refused += other.refused;
        self.skipped += other.skipped;
        for i in 0..CLASSES.len() {
            self.rare[i] += other.rare[i];
            self.breached[i] += other.breached[i];
        }
        self.examples.append(&mut other.examples);
        self
    }

    /// Fails if a set that is promised is breached.
    fn check(&self, setting: &Setting) {
        for &class in setting.promised {
            let examples: Vec<_> = self.examples.iter().filter(|(of, _)| *of == class).collect();
            assert_eq!(self.breached[class as usize], 0, "{}, {class:?}: {examples:?}", setting.name);
        }
    }

    fn print(&self, setting: &Setting, of: &str) {
        let Tally { datasets, releases, refused, skipped, .. } = self;
        let counts = CLASSES.map(|c| format!("{c:?} {} of {}", self.breached[c as usize], self.rare[c as usize]));
        let rest = format!("{refused} refused, {skipped} skipped");
        println!(
            "{}, {of}: {datasets} datasets, {releases} releases, {rest}; breached: {}",
            setting.name,
            counts.join(", ")
        );
    }
}

/// Protects every dataset of a space and looks at all that are published alike.
fn examine(setting: &Setting, space: Space) -> Tally {
    let sets = space.sets(setting.params.m);
    let protect = |records: Records| {
        let data = dataset(&records);
        let outcome = setting.protect(&data)?;
        let classes = classes(&records, &outcome, &sets);
        Some((setting.published(&data, &outcome), records, classes))
    };
    let all = space.datasets();
    let n = all.len() as u64;
    let mut protected: Vec<_> = all.into_par_iter().filter_map(protect).collect();
    protected.par_sort_unstable_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
    let mut tally = Tally { datasets: n, refused: n - protected.len() as u64, ..Tally::default() };
    for alike in protected.chunk_by(|a, b| a.0 == b.0) {
        tally.releases += 1;
        for (i, &set) in sets.iter().enumerate() {
            let most = alike.iter().map(|(_, records, _)| holders(records, set)).max().unwrap_or(0);
            for (_, records, classes) in alike {
                if let (Some(class), true) = (classes[i], holders(records, set) < setting.k()) {
                    tally.add(class, set, records, most < setting.k());
                }
            }
        }
    }
    tally
}

/// The same for one dataset of a larger space: its rare sets, each with a witness among the worlds of its release or without.
fn examine_one(setting: &Setting, space: Space, seed: u64, most_worlds: f64) -> Tally {
    let records = space.random(&mut ChaCha8Rng::seed_from_u64(seed));
    let data = dataset(&records);
    let mut tally = Tally { datasets: 1, releases: 1, ..Tally::default() };
    let Some(outcome) = setting.protect(&data) else { return Tally { refused: 1, releases: 0, ..tally } };
    let layouts: Vec<Layout> = outcome.release.roots.iter().map(Layout::new).collect();
    if layouts.iter().map(n_worlds_bound).product::<f64>() > most_worlds {
        return Tally { skipped: 1, releases: 0, ..tally };
    }
    let sets = space.sets(setting.params.m);
    let classes = classes(&records, &outcome, &sets);
    let is_rare = |&i: &usize| classes[i].is_some() && holders(&records, sets[i]) < setting.k();
    let rare: Vec<usize> = (0..sets.len()).filter(is_rare).collect();
    let mut open: BTreeSet<Terms> = rare.iter().map(|&i| sets[i]).collect();
    let published = setting.published(&data, &outcome);
    let mut seen = BTreeSet::new();
    all_worlds(&outcome, &layouts, &mut |world| {
        let could_witness = open.iter().any(|&set| holders(world, set) >= setting.k());
        if !could_witness || !seen.insert(world.to_vec()) {
            return;
        }
        let data = dataset(world);
        if setting.protect(&data).is_some_and(|outcome| setting.published(&data, &outcome) == published) {
            open.retain(|&set| holders(world, set) < setting.k());
        }
    });
    for i in rare {
        tally.add(classes[i].unwrap(), sets[i], &records, open.contains(&sets[i]));
    }
    tally
}

/// Calls `visit` with every world of a release (reading I0), its records ascending, some more than once.
fn all_worlds(outcome: &Outcome, layouts: &[Layout], visit: &mut dyn FnMut(&[Terms])) {
    let letters: Vec<Terms> = outcome.release.dictionary.iter().map(bit).collect();
    let named = |record: Terms| (0..64).filter(|t| record >> t & 1 == 1).map(|t| letters[t as usize]).sum::<Terms>();
    let mut worlds: BTreeSet<Records> = BTreeSet::from([Vec::new()]);
    for layout in layouts {
        let mut of_root: BTreeSet<Records> = BTreeSet::new();
        enumerate(layout, TermChunks::Enumerated, |world| {
            let mut records: Records = world.iter().flatten().map(|&record| named(record)).collect();
            records.sort_unstable();
            of_root.insert(records);
        });
        let joined =
            |world: &Records| of_root.iter().map(|other| sorted([&world[..], other].concat())).collect::<Vec<_>>();
        worlds = worlds.iter().flat_map(joined).collect();
    }
    worlds.iter().for_each(|world| visit(world));
}

fn sorted(mut records: Records) -> Records {
    records.sort_unstable();
    records
}

fn sample(setting: &Setting, space: Space, seeds: std::ops::Range<u64>) -> Tally {
    let one = |seed| examine_one(setting, space, seed, 200_000.0);
    seeds.into_par_iter().map(one).reduce(Tally::default, Tally::plus)
}

/// How many of these random datasets are published in another way if their lines stand in another order.
fn order_matters(setting: &Setting, space: Space, seeds: std::ops::Range<u64>) -> usize {
    let differs = |&seed: &u64| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let records = space.random(&mut rng);
        let mut shuffled = records.clone();
        (1..shuffled.len()).rev().for_each(|i| shuffled.swap(i, rng.random_range(0..=i)));
        let published = |records: &[Terms]| {
            let data = dataset(records);
            setting.protect(&data).map(|outcome| setting.published(&data, &outcome))
        };
        published(&records) != published(&shuffled)
    };
    seeds.into_par_iter().filter(differs).count()
}

// ---- Tests ---------------------------------------------------------------------------------------------------------------

/// More than 20,000 datasets, each protected in every way.
const SPACES: [Space; 3] = [Space { n: 5, terms: 4 }, Space { n: 8, terms: 3 }, Space { n: 12, terms: 3 }];

/// Too many to enumerate: sampled.
const LARGER: [Space; 2] = [Space { n: 6, terms: 5 }, Space { n: 8, terms: 6 }];

#[test]
fn nothing_that_is_promised_is_breached() {
    for setting in kept() {
        let all = SPACES.iter().map(|&space| examine(&setting, space)).reduce(Tally::plus).unwrap();
        all.print(&setting, "all datasets");
        let drawn = LARGER.iter().map(|&space| sample(&setting, space, 0..1_000)).reduce(Tally::plus).unwrap();
        drawn.print(&setting, "drawn");
        all.check(&setting);
        drawn.check(&setting);
        assert!(all.datasets >= 20_000 && all.datasets - all.refused >= 10_000, "{}", setting.name);
        // A single term of a chunk is in k records.
        assert!(setting.params.m == 1 || all.rare[Class::Record as usize] > 0, "{}", setting.name);
    }
}

/// The control: ways that do not promise it do not keep it, and both ways of looking see that.
#[test]
fn groupings_that_give_sets_away_are_seen() {
    for setting in broken() {
        let all = examine(&setting, SPACES[0]);
        all.print(&setting, "all datasets");
        let drawn = sample(&setting, LARGER[0], 0..500);
        drawn.print(&setting, "drawn");
        for tally in [all, drawn] {
            assert!(tally.breached[Class::Record as usize] > 0, "{}: {tally:?}", setting.name);
        }
    }
}

/// The breach that the issue names: nothing but this dataset is published like this.
#[test]
fn five_records_give_a_pair_away() {
    let setting = &broken()[0];
    let records =
        sorted(["c", "ab", "a", "bc", "c"].map(|record| record.chars().map(|c| bit(&c.to_string())).sum()).to_vec());
    let published = |records: &Records| {
        let data = dataset(records);
        setting.protect(&data).map(|outcome| setting.published(&data, &outcome))
    };
    let this = published(&records);
    let alike: Vec<Records> =
        Space { n: 5, terms: 3 }.datasets().into_iter().filter(|other| published(other) == this).collect();
    assert!(alike.contains(&records));
    assert!(alike.iter().all(|other| holders(other, 0b11) < 2), "{alike:?}");
}

/// The two ways of looking agree.
#[test]
fn drawn_datasets_are_judged_as_in_the_whole_space() {
    let space = Space { n: 5, terms: 4 };
    for setting in kept().iter().chain(&broken()) {
        let all = space.datasets();
        let sets = space.sets(setting.params.m);
        let mut most: BTreeMap<[u8; 32], Vec<u32>> = BTreeMap::new();
        for records in &all {
            let data = dataset(records);
            let Some(outcome) = setting.protect(&data) else { continue };
            let most = most.entry(setting.published(&data, &outcome)).or_insert_with(|| vec![0; sets.len()]);
            most.iter_mut().zip(&sets).for_each(|(most, &set)| *most = holders(records, set).max(*most));
        }
        for seed in 0..40 {
            let records = space.random(&mut ChaCha8Rng::seed_from_u64(seed));
            let data = dataset(&records);
            let Some(outcome) = setting.protect(&data) else { continue };
            let tally = examine_one(setting, space, seed, f64::INFINITY);
            let most = &most[&setting.published(&data, &outcome)];
            let breached = sets.iter().zip(most).filter(|&(&set, &n)| holders(&records, set) > 0 && n < setting.k());
            assert_eq!(tally.breached.iter().sum::<u64>(), breached.count() as u64, "{} {seed}", setting.name);
        }
    }
}

#[test]
fn the_order_of_lines_does_not_matter() {
    for setting in kept().iter().chain(&broken()) {
        let n: usize = LARGER.iter().map(|&space| order_matters(setting, space, 0..2_000)).sum();
        assert_eq!(n, 0, "{}", setting.name);
    }
}
