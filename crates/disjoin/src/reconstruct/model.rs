//! A release laid out for questions about records: which leaf may hold which term, and by which subrecords.
//!
//! In a leaf, a term is *owned* by the lowest place that has it in its domain: a record chunk or the term chunk of the
//! leaf, else a shared chunk of the lowest joint cluster above it. A shared subrecord may lie in a leaf only if its chunk
//! owns all of its terms there. Subrecords that may lie in the same leaves form a *class*; a chunk without conflicts has
//! one class, and a record chunk's class has one leaf.
//!
//! Paper:      terrovitis2012, section 3 (reconstruction), section 5 (conflicts of Lemma 3)
//! Promises:   a release that no dataset can have is refused where that shows without search
//! Cost:       O(leaf, term) pairs; one bit per subrecord and term of a chunk
//! Checked by: tests/it/estimate.rs, against worlds that are laid out by other code

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::fit;
use super::sample::{Multiplicity, MultiplicityLaw};
use crate::data::TermId;
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::{Observer, Unobserved};
use crate::release::occurrences::Occurrences;
use crate::release::{Chunk, Disassociated, Node, Simple};

/// Records that the roots have at least which one task lays out; nothing depends on it. A release lists its small roots
/// first, and most of its records may be in the last few: equal numbers of roots would be unequal work.
const BLOCK: u64 = 1 << 10;

/// In the place of a bag: the term chunk.
pub(crate) const TERM_CHUNK: u32 = u32::MAX;

/// A release, laid out. It borrows the release, and keeps for every term the leaves that may hold it.
pub struct Model<'a> {
    pub(super) release: &'a Disassociated,
    /// About how many bytes the release takes, written.
    pub(super) written: u64,
    pub(super) multiplicity: Multiplicity,
    /// Who watches what is reckoned with it.
    pub(crate) observer: &'a dyn Observer,
    /// The mean multiplicity of a term of a term chunk, as far as the release tells.
    told: f64,
    pub(crate) leaves: Vec<Leaf<'a>>,
    pub(crate) bags: Vec<Bag<'a>>,
    pub(super) classes: Vec<Class>,
    /// For each root, its leaves and its bags.
    pub(crate) roots: Vec<(Range<u32>, Range<u32>)>,
    /// For each bit of each bag, the position of the subrecord in its chunk.
    pub(crate) occurrences: Vec<u32>,
    pub(super) masks: Vec<u64>,
    entries: Vec<Entry>,
    /// Which leaves may hold a term, and how.
    postings: Vec<Posting>,
    /// End of each term in `postings`.
    ends: Vec<usize>,
    /// Which terms a leaf may hold, and how.
    owned: Vec<Owned>,
    /// End of each leaf in `owned`.
    owned_ends: Vec<usize>,
}

/// A simple cluster.
pub(crate) struct Leaf<'a> {
    pub(super) simple: &'a Simple,
    pub(crate) root: u32,
    /// Its record chunks.
    pub(super) bags: Range<u32>,
    /// Shared subrecords that may lie here.
    pub(super) n_guests: u64,
    /// The entry of the terms of its term chunk, if it has any.
    term_chunk_entry: Option<u32>,
}

impl Leaf<'_> {
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.simple.size)
    }
}

/// A record chunk or a shared chunk: a bag of subrecords, each of which is a bit.
pub(crate) struct Bag<'a> {
    pub(crate) chunk: Cow<'a, Chunk>,
    /// Whether it is a term of the term chunk of a joint cluster. How many records hold it is a guess then.
    pub(super) is_guess: bool,
    /// The leaves below it.
    pub(crate) leaves: Range<u32>,
    pub(super) classes: Range<u32>,
    /// Where its bits begin in `occurrences`.
    pub(crate) first: usize,
    /// Where its masks begin: one for each term of its domain.
    pub(super) first_mask: usize,
    pub(crate) n_subrecords: u32,
    /// How much likelier than elsewhere a record of each leaf takes a subrecord, if that is not 1 everywhere.
    pub(super) tilt: Option<Box<[f64]>>,
    /// If not all subrecords may lie in all leaves: the leaves, those together in which the same classes may lie.
    pub(super) regions: Box<[Box<[u32]>]>,
    /// The region of each leaf, if there are regions.
    region: Box<[u32]>,
}

impl Bag<'_> {
    /// The number of words of a mask.
    pub(super) fn words(&self) -> usize {
        words(self.n_subrecords)
    }

    /// Which of the regions a leaf is in.
    #[inline]
    pub(super) fn region_of(&self, leaf: u32) -> u32 {
        self.region.get((leaf - self.leaves.start) as usize).copied().unwrap_or(0)
    }

    /// The factor of one leaf in the law.
    pub(crate) fn tilt_of(&self, leaf: u32) -> f64 {
        self.tilt.as_ref().map_or(1.0, |tilt| tilt[(leaf - self.leaves.start) as usize])
    }
}

/// Subrecords of a bag that may lie in the same leaves; their bits follow each other.
pub(crate) struct Class {
    pub(crate) bits: Range<u32>,
    /// Where they may lie, if not in all leaves of the bag: a bit for each leaf of the bag.
    pub(super) only: Option<Box<[u64]>>,
    /// The number of records where they may lie, tilted. Such a subrecord is in a given one with probability
    /// tilt / `records`.
    pub(crate) records: f64,
}

impl Class {
    /// Whether its subrecords may lie in the `at`-th leaf of the bag.
    #[inline]
    pub(crate) fn may_lie(&self, at: u32) -> bool {
        self.only.as_ref().is_none_or(|only| only[at as usize / 64] >> (at % 64) & 1 == 1)
    }
}

/// That a leaf may hold a term.
#[derive(Clone, Copy)]
pub(crate) struct Posting {
    pub(crate) leaf: u32,
    entry: u32,
}

/// A term that a leaf may hold.
#[derive(Clone, Copy)]
struct Owned {
    term: TermId,
    entry: u32,
}

/// How leaves may hold a term: the same for all leaves of a region of a bag.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The bag that owns the term there, or [`TERM_CHUNK`].
    pub(crate) bag: u32,
    /// Where the mask begins: the bag's subrecords with the term, whether they may lie in the region or not.
    pub(super) mask: u32,
    /// The probability that a given record there holds the term.
    pub(crate) weight: f64,
}

impl<'a> Model<'a> {
    /// Lays a release out.
    pub fn new(release: &'a Disassociated) -> Result<Self> {
        Self::watched(release, &Unobserved)
    }

    /// The same, watched: what is reckoned with the model can be stopped as well.
    pub fn watched(release: &'a Disassociated, observer: &'a dyn Observer) -> Result<Self> {
        let written = check_layout(release, observer.memory())?;
        let part_of = |roots: Range<usize>| {
            observer.check();
            Part::new(&release.roots[roots.clone()], roots.start, release.dictionary.len(), release.header.k)
        };
        let blocks = blocks_of(&release.roots);
        let parts: Vec<Part<'a>> = blocks.into_par_iter().with_max_len(1).map(part_of).collect::<Result<_>>()?;
        let mut model = Model {
            release,
            written,
            multiplicity: Multiplicity::default(),
            observer,
            told: told_multiplicity(release),
            leaves: Vec::new(),
            bags: Vec::new(),
            classes: Vec::new(),
            roots: Vec::new(),
            occurrences: Vec::new(),
            masks: Vec::new(),
            entries: Vec::new(),
            postings: Vec::new(),
            ends: vec![0; release.dictionary.len()],
            owned: Vec::new(),
            owned_ends: Vec::new(),
        };
        let n_words: usize = parts.iter().map(|part| part.masks.len()).sum();
        if u32::try_from(n_words).is_err() {
            let problem = "has more than 2^32 words of subrecords";
            return Err(Error::input(Place::file("the release"), problem).with_hint("split it, and ask its parts"));
        }
        observer.check();
        model.index(&parts);
        model.masks.reserve_exact(n_words);
        model.owned.reserve_exact(parts.iter().map(|part| part.owned.len()).sum());
        model.entries.reserve_exact(parts.iter().map(|part| part.entries.len()).sum());
        model.occurrences.reserve_exact(parts.iter().map(|part| part.occurrences.len()).sum());
        for part in parts {
            observer.check();
            model.append(part);
        }
        let records: u64 = model.leaves.iter().map(Leaf::size).fold(0, u64::saturating_add);
        if records != release.header.records {
            let problem = format!("declares {} records, but its clusters have {records}", release.header.records);
            return Err(Error::input(Place::file("the release"), problem).with_hint("run disjoin verify on it"));
        }
        Ok(model.with_multiplicity(Multiplicity::default()))
    }

    /// The same, with another assumption about the terms of term chunks.
    #[must_use]
    pub fn with_multiplicity(mut self, multiplicity: Multiplicity) -> Self {
        self.multiplicity = multiplicity;
        for leaf in 0..self.leaves.len() as u32 {
            if let Some(entry) = self.leaves[leaf as usize].term_chunk_entry {
                let weight = self.multiplicity_in(leaf).0 / self.leaves[leaf as usize].size() as f64;
                self.entries[entry as usize].weight = weight;
            }
        }
        self
    }

    /// E[mu] and E[mu (mu-1)] of a term in the term chunk of a leaf.
    pub(super) fn multiplicity_in(&self, leaf: u32) -> (f64, f64) {
        self.multiplicity_law(leaf, self.multiplicity).moments()
    }

    /// The law of the multiplicity of a term in the term chunk of a leaf.
    pub(super) fn multiplicity_law(&self, leaf: u32, multiplicity: Multiplicity) -> MultiplicityLaw {
        multiplicity.law(self.release.header.k, self.leaves[leaf as usize].simple.size, self.told)
    }

    /// The release that is laid out.
    pub fn release(&self) -> &'a Disassociated {
        self.release
    }

    /// The leaves that may hold `term`, ascending.
    pub(crate) fn postings(&self, term: TermId) -> &[Posting] {
        let term = term as usize;
        let start = if term == 0 { 0 } else { self.ends[term - 1] };
        &self.postings[start..self.ends[term]]
    }

    /// How the leaf of a posting holds its term.
    #[inline]
    pub(crate) fn entry(&self, posting: &Posting) -> &Entry {
        &self.entries[posting.entry as usize]
    }

    /// The terms that a leaf may hold, and how.
    pub(crate) fn owned(&self, leaf: u32) -> impl Iterator<Item = (TermId, &Entry)> {
        let leaf = leaf as usize;
        let start = if leaf == 0 { 0 } else { self.owned_ends[leaf - 1] };
        self.owned[start..self.owned_ends[leaf]].iter().map(|owned| (owned.term, &self.entries[owned.entry as usize]))
    }

    /// The subrecords of an entry. The term chunk has none.
    #[inline]
    pub(super) fn mask(&self, entry: &Entry) -> &[u64] {
        if entry.bag == TERM_CHUNK {
            return &[];
        }
        &self.masks[entry.mask as usize..entry.mask as usize + self.bags[entry.bag as usize].words()]
    }

    /// The subrecords of a bag that have a term, given by its position in the domain.
    #[inline]
    pub(crate) fn rows(&self, bag: &Bag, at: usize) -> &[u64] {
        &self.masks[bag.first_mask + at * bag.words()..bag.first_mask + (at + 1) * bag.words()]
    }

    /// The classes of a bag.
    #[inline]
    pub(crate) fn classes_of(&self, bag: &Bag) -> &[Class] {
        &self.classes[bag.classes.start as usize..bag.classes.end as usize]
    }

    /// The probability that a given record of `leaf` holds one of the masked subrecords.
    #[inline]
    pub(crate) fn marginal(&self, bag: &Bag, leaf: u32, mask: &[u64]) -> f64 {
        marginal(bag, self.classes_of(bag), leaf, mask)
    }

    /// The number of records where subrecords of a class may lie.
    pub(super) fn room(&self, bag: &Bag, class: &Class) -> u64 {
        let leaves = bag.leaves.clone().filter(|leaf| class.may_lie(leaf - bag.leaves.start));
        // Without a tilt it has been counted before.
        if bag.tilt.is_none() {
            class.records as u64
        } else {
            leaves.map(|leaf| self.leaves[leaf as usize].size()).sum()
        }
    }

    /// All roots, in runs of about `weight` terms of leaves: work that takes about as long each, however it is dealt.
    pub(super) fn runs(&self, weight: usize) -> Vec<Range<usize>> {
        let mut runs = Vec::new();
        let (mut first, mut done) = (0, 0);
        for (root, (leaves, _)) in self.roots.iter().enumerate() {
            let end = self.owned_ends[leaves.end as usize - 1];
            if end - done >= weight || root + 1 == self.roots.len() {
                runs.push(first..root + 1);
                (first, done) = (root + 1, end);
            }
        }
        runs
    }

    /// How many of the masked subrecords may lie in a leaf.
    pub(super) fn count(&self, bag: &Bag, leaf: u32, mask: &[u64]) -> u64 {
        let classes = self.classes_of(bag).iter().filter(|class| class.may_lie(leaf - bag.leaves.start));
        classes.map(|class| popcount_within(mask, &class.bits)).sum()
    }

    /// Sorts the parts' entries by term, leaves ascending within.
    fn index(&mut self, parts: &[Part]) {
        for owned in parts.iter().flat_map(|part| &part.owned) {
            self.ends[owned.term as usize] += 1;
        }
        let mut next = Vec::with_capacity(self.ends.len());
        let mut end = 0;
        for count in &mut self.ends {
            next.push(end);
            end += *count;
            *count = end;
        }
        self.postings = vec![Posting { leaf: 0, entry: 0 }; end];
        let (mut first_leaf, mut first_entry) = (0, 0);
        for part in parts {
            self.observer.check();
            let mut start = 0;
            for (leaf, &end) in (first_leaf..).zip(&part.owned_ends) {
                for owned in &part.owned[start..end] {
                    let next = &mut next[owned.term as usize];
                    self.postings[*next] = Posting { leaf, entry: owned.entry + first_entry };
                    *next += 1;
                }
                start = end;
            }
            first_leaf += part.leaves.len() as u32;
            first_entry += part.entries.len() as u32;
        }
    }

    fn append(&mut self, part: Part<'a>) {
        let shift = |range: Range<u32>, by: usize| range.start + by as u32..range.end + by as u32;
        let shift_all = |mut regions: Box<[Box<[u32]>]>, by: usize| {
            regions.iter_mut().flatten().for_each(|leaf| *leaf += by as u32);
            regions
        };
        let (leaves, bags, classes) = (self.leaves.len(), self.bags.len(), self.classes.len());
        let (roots, occurrences) = (self.roots.len() as u32, self.occurrences.len());
        let (first_mask, first_entry, first_owned) = (self.masks.len(), self.entries.len() as u32, self.owned.len());
        self.leaves.extend(part.leaves.into_iter().map(|leaf| Leaf {
            root: leaf.root + roots,
            bags: shift(leaf.bags, bags),
            term_chunk_entry: leaf.term_chunk_entry.map(|entry| entry + first_entry),
            ..leaf
        }));
        self.bags.extend(part.bags.into_iter().map(|bag| Bag {
            leaves: shift(bag.leaves, leaves),
            classes: shift(bag.classes, classes),
            first: bag.first + occurrences,
            first_mask: bag.first_mask + first_mask,
            regions: shift_all(bag.regions, leaves),
            ..bag
        }));
        self.classes.extend(part.classes);
        self.roots.extend(part.roots.into_iter().map(|(l, b)| (shift(l, leaves), shift(b, bags))));
        self.occurrences.extend(part.occurrences);
        self.masks.extend(part.masks);
        self.entries.extend(part.entries.into_iter().map(|entry| match entry.bag {
            TERM_CHUNK => entry,
            bag => Entry { bag: bag + bags as u32, mask: entry.mask + first_mask as u32, ..entry },
        }));
        let shifted = |owned: Owned| Owned { entry: owned.entry + first_entry, ..owned };
        self.owned.extend(part.owned.into_iter().map(shifted));
        self.owned_ends.extend(part.owned_ends.into_iter().map(|end| end + first_owned));
    }
}

/// How often a term of a term chunk occurs on average, if the release tells; else 1, which is certain.
fn told_multiplicity(release: &Disassociated) -> f64 {
    let total = release.header.occurrences;
    let mean = total.and_then(|total| Occurrences::of(&release.roots, release.header.k).mean_multiplicity(total));
    mean.unwrap_or(1.0)
}

/// Refuses roots that ask for more memory than such a release may; about how many bytes it takes, written.
fn check_layout(release: &Disassociated, memory: Memory) -> Result<u64> {
    let mut layout = Layout::default();
    let mut first = None;
    for (root, line) in release.roots.iter().zip(2..) {
        layout.add(root);
        if first.is_none() && layout.bytes > memory.limit(u64::MAX) {
            first = Some(line);
        }
    }
    // Each task has a table of the terms.
    let tables = 8 * (release.dictionary.len() as u64).saturating_mul(rayon::current_num_threads() as u64);
    let (asked, bytes) = (layout.bytes.saturating_add(tables), layout.written);
    let place = || Place { line: first, ..Place::file("the release") };
    memory.check(asked, bytes, place, "laying out what its counts claim")?;
    Ok(bytes)
}

/// What roots ask for when they are laid out, and about how many bytes it took to write them.
#[derive(Default)]
struct Layout {
    bytes: u64,
    written: u64,
}

impl Layout {
    /// Adds a node; returns its leaves.
    fn add(&mut self, node: &Node) -> u64 {
        let (chunks, leaves, n_terms) = match node {
            Node::Simple(simple) => (&simple.record_chunks, 1, simple.term_chunk.len() as u64),
            Node::Joint(joint) => {
                let leaves: u64 = joint.members.iter().map(|member| self.add(member)).sum();
                (&joint.shared_chunks, leaves, joint.term_chunk.len() as u64)
            }
        };
        self.written += 20 + WRITTEN_TERM * n_terms;
        let listed = leaves.saturating_mul(A_TERM.saturating_mul(n_terms));
        self.bytes = self.bytes.saturating_add(listed).saturating_add(64);
        for chunk in chunks {
            let (n, n_terms, n_distinct) = (chunk.n_subrecords(), chunk.terms.len() as u64, chunk.n_distinct() as u64);
            let n_items: u64 = chunk.subrecords().map(|(terms, _)| terms.len() as u64).sum();
            self.written += 20 + WRITTEN_TERM * (n_terms + n_items) + 20 * n_distinct;
            let masks = n.div_ceil(64).saturating_mul(8 * n_terms).saturating_add(n.saturating_mul(4));
            let owned = leaves.saturating_mul(A_TERM * n_terms);
            let places = leaves.div_ceil(64).saturating_mul(8 * (n_terms + 2 * n_distinct));
            self.bytes = self.bytes.saturating_add(128).saturating_add(masks).saturating_add(owned);
            self.bytes = self.bytes.saturating_add(if leaves > 1 { places } else { 0 });
        }
        leaves
    }
}

/// Bytes that a term takes about where it is written, with its quotes and comma.
const WRITTEN_TERM: u64 = 7;

/// Bytes that are kept of a term in a leaf: who owns it, where it is posted, and its entry.
const A_TERM: u64 = 64;

/// All roots, in blocks of about [`BLOCK`] records, or of as much that is written.
fn blocks_of(roots: &[Node]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut first, mut records) = (0, 0_u64);
    for (i, root) in roots.iter().enumerate() {
        // A damaged release may say any size, and each task has a table of the terms.
        let mut layout = Layout::default();
        layout.add(root);
        records = records.saturating_add(root.size().min(layout.written));
        if records >= BLOCK || i + 1 == roots.len() {
            blocks.push(first..i + 1);
            (first, records) = (i + 1, 0);
        }
    }
    blocks
}

#[inline]
fn marginal(bag: &Bag, classes: &[Class], leaf: u32, mask: &[u64]) -> f64 {
    let at = leaf - bag.leaves.start;
    let weight = match classes {
        [class] if class.may_lie(at) => popcount(mask) as f64 / class.records,
        classes => (classes.iter().filter(|class| class.may_lie(at)))
            .map(|class| popcount_within(mask, &class.bits) as f64 / class.records)
            .sum(),
    };
    weight * bag.tilt_of(leaf)
}

/// The number of ones.
pub(crate) fn popcount(mask: &[u64]) -> u64 {
    mask.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The number of ones at the positions `bits`.
pub(super) fn popcount_within(mask: &[u64], bits: &Range<u32>) -> u64 {
    if bits.is_empty() {
        return 0;
    }
    let (first, last) = (bits.start as usize / 64, (bits.end - 1) as usize / 64);
    let (from, to) = (u64::MAX << (bits.start % 64), u64::MAX >> ((64 - bits.end % 64) % 64));
    if first == last {
        return u64::from((mask[first] & from & to).count_ones());
    }
    popcount(&[mask[first] & from, mask[last] & to]) + popcount(&mask[first + 1..last])
}

fn words(n_subrecords: u32) -> usize {
    n_subrecords.div_ceil(64) as usize
}

/// Some roots, laid out on their own: numbers begin at 0.
#[derive(Default)]
struct Part<'a> {
    leaves: Vec<Leaf<'a>>,
    bags: Vec<Bag<'a>>,
    classes: Vec<Class>,
    roots: Vec<(Range<u32>, Range<u32>)>,
    occurrences: Vec<u32>,
    masks: Vec<u64>,
    entries: Vec<Entry>,
    owned: Vec<Owned>,
    owned_ends: Vec<usize>,
    /// For each leaf of the present root, the bags of the joint clusters above it, lower ones first.
    above: Vec<Vec<u32>>,
    /// For each bag of the present root, the first bag of the same cluster, and which of its terms which leaf has
    /// elsewhere.
    draft: Vec<Draft>,
    /// The number of records that a term of a joint cluster's term chunk is taken to be in.
    k: u32,
    /// For each term, the last leaf that owns it, and by which bag.
    seen: Vec<(u32, u32)>,
    /// For each entry of `owned` that belongs to the present root, the bag and the position in its domain.
    places: Vec<(u32, u32)>,
}

/// What is known of a bag before all leaves have been looked at.
struct Draft {
    first_of_cluster: u32,
    /// Where its entries begin: region by region, one for each term of its domain.
    first_entry: u32,
    /// Pairs of a leaf and a position in the chunk's domain.
    taken: Vec<(u32, u32)>,
}

/// Why a root is refused.
type Check<T = ()> = std::result::Result<T, &'static str>;

impl<'a> Part<'a> {
    fn new(roots: &'a [Node], first_root: usize, n_terms: usize, k: u32) -> Result<Self> {
        let mut part = Part { seen: vec![(u32::MAX, 0); n_terms], k, ..Part::default() };
        for (i, root) in roots.iter().enumerate() {
            // The header is line 1.
            let place = || Place::line("the release", (first_root + i) as u64 + 2);
            part.add_root(root).map_err(|problem| {
                Error::input(place(), format!("no dataset can have this cluster: {problem}"))
                    .with_hint("run disjoin verify on the release")
            })?;
        }
        // Many parts wait for the last one.
        part.seen = Vec::new();
        Ok(part)
    }

    fn add_root(&mut self, root: &'a Node) -> Check {
        let (leaf, bag) = (self.leaves.len() as u32, self.bags.len() as u32);
        self.above.clear();
        self.draft.clear();
        self.places.clear();
        let first_owned = self.owned.len();
        self.add_node(root, leaf)?;
        let (leaves, bags) = (leaf..self.leaves.len() as u32, bag..self.bags.len() as u32);
        leaves.clone().try_for_each(|leaf| self.own(leaf, leaves.start, bags.start))?;
        bags.clone().try_for_each(|id| self.finish_bag(id, bags.start))?;
        self.link_entries(leaves.clone(), bags.start, first_owned);
        leaves.clone().try_for_each(|leaf| self.check_filled(leaf))?;
        self.roots.push((leaves, bags));
        Ok(())
    }

    fn add_node(&mut self, node: &'a Node, first_leaf: u32) -> Check {
        let (leaf, first_bag) = (self.leaves.len() as u32, self.bags.len() as u32);
        match node {
            Node::Simple(simple) => {
                let room = u64::from(simple.size);
                let leaves = leaf..leaf + 1;
                let mut chunks = simple.record_chunks.iter().map(Cow::Borrowed);
                chunks.try_for_each(|c| self.add_bag(c, leaves.clone(), room, first_bag))?;
                let bags = first_bag..self.bags.len() as u32;
                let root = self.roots.len() as u32;
                self.leaves.push(Leaf { simple, root, bags, n_guests: 0, term_chunk_entry: None });
                self.above.push(Vec::new());
            }
            Node::Joint(joint) => {
                if joint.members.is_empty() {
                    return Err("a joint cluster has no members");
                }
                joint.members.iter().try_for_each(|member| self.add_node(member, first_leaf))?;
                let first_bag = self.bags.len() as u32;
                let leaves = leaf..self.leaves.len() as u32;
                let room = self.leaves[leaf as usize..].iter().map(Leaf::size).sum();
                let mut chunks = joint.shared_chunks.iter().map(Cow::Borrowed);
                chunks.try_for_each(|c| self.add_bag(c, leaves.clone(), room, first_bag))?;
                for &term in &joint.term_chunk {
                    let mut guess = Chunk::new(vec![term]);
                    guess.push(&[term], room.min(u64::from(self.k.max(1))) as u32);
                    self.add_bag(Cow::Owned(guess), leaves.clone(), room, first_bag)?;
                }
                for above in &mut self.above[(leaf - first_leaf) as usize..] {
                    above.extend(first_bag..self.bags.len() as u32);
                }
            }
        }
        Ok(())
    }

    /// Adds a bag as far as its chunk says. Its leaves have `room` records.
    fn add_bag(&mut self, chunk: Cow<'a, Chunk>, leaves: Range<u32>, room: u64, first_of_cluster: u32) -> Check {
        let first = self.occurrences.len();
        // Before memory is asked for: a damaged release may say anything.
        if chunk.n_subrecords() > room {
            return Err("a chunk has more subrecords than there are records");
        }
        let n_subrecords = u32::try_from(chunk.n_subrecords()).map_err(|_| "a chunk has 2^32 subrecords or more")?;
        let first_mask = self.masks.len();
        let draft = Draft { first_of_cluster, first_entry: 0, taken: Vec::new() };
        self.masks.resize(self.masks.len() + words(n_subrecords) * chunk.terms.len(), 0);
        self.occurrences.resize(first + n_subrecords as usize, 0);
        self.bags.push(Bag {
            is_guess: matches!(chunk, Cow::Owned(_)),
            chunk,
            leaves,
            classes: 0..0,
            first,
            first_mask,
            n_subrecords,
            tilt: None,
            regions: Box::new([]),
            region: Box::new([]),
        });
        self.draft.push(draft);
        Ok(())
    }

    /// Lists the terms that a leaf may hold, and notes which of them bags above cannot put there.
    fn own(&mut self, leaf: u32, first_leaf: u32, first_bag: u32) -> Check {
        let simple = self.leaves[leaf as usize].simple;
        for &term in &simple.term_chunk {
            self.seen[term as usize] = (leaf, TERM_CHUNK);
            self.owned.push(Owned { term, entry: 0 });
            self.places.push((TERM_CHUNK, 0));
        }
        let above = std::mem::take(&mut self.above[(leaf - first_leaf) as usize]);
        for id in self.leaves[leaf as usize].bags.clone().chain(above) {
            let bag = &self.bags[id as usize];
            let draft = &mut self.draft[(id - first_bag) as usize];
            for (&term, at) in bag.chunk.terms.iter().zip(0..) {
                let (owner, by) = self.seen[term as usize];
                if owner != leaf {
                    self.seen[term as usize] = (leaf, id);
                    self.owned.push(Owned { term, entry: 0 });
                    self.places.push((id, at));
                } else if bag.leaves.len() == 1 || (by != TERM_CHUNK && by >= draft.first_of_cluster) {
                    return Err("a term is in two chunks of one cluster");
                } else {
                    draft.taken.push((leaf, at));
                }
            }
        }
        self.owned_ends.push(self.owned.len());
        Ok(())
    }

    /// Finds a bag's classes and their law, and gives every subrecord its bit.
    fn finish_bag(&mut self, id: u32, first_bag: u32) -> Check {
        let draft = &self.draft[(id - first_bag) as usize];
        let bag = &mut self.bags[id as usize];
        let leaves = &self.leaves[bag.leaves.start as usize..bag.leaves.end as usize];
        let sizes: Vec<f64> = leaves.iter().map(|leaf| leaf.size() as f64).collect();
        let first_class = self.classes.len();
        let order = classes_of(bag, draft, &sizes, &mut self.classes)?;
        bag.classes = first_class as u32..self.classes.len() as u32;
        bag.tilt = fit::tilt(&mut self.classes[first_class..], &sizes)?;
        bag.regions = regions_of(&self.classes[first_class..], bag.leaves.clone());
        if !bag.regions.is_empty() {
            bag.region = vec![0; bag.leaves.len()].into();
            for (region, leaves) in (0..).zip(&bag.regions) {
                leaves.iter().for_each(|leaf| bag.region[(leaf - bag.leaves.start) as usize] = region);
            }
        }
        let words = bag.words();
        let mut next = 0;
        for &i in &order {
            let (terms, count) = bag.chunk.subrecord(i as usize);
            let bits = next..next + count as usize;
            next = bits.end;
            self.occurrences[bag.first + bits.start..bag.first + bits.end].fill(i);
            for term in terms {
                // A subrecord lies within its chunk's domain: both readers check it.
                let at = bag.chunk.terms.binary_search(term).map_err(|_| "a subrecord is outside its chunk")?;
                let mask = &mut self.masks[bag.first_mask + at * words..bag.first_mask + (at + 1) * words];
                bits.clone().for_each(|bit| mask[bit / 64] |= 1 << (bit % 64));
            }
        }
        let is_own = self.leaves[bag.leaves.start as usize].bags.contains(&id);
        if bag.is_guess {
            // As many as it takes.
            let leaves = &mut self.leaves[bag.leaves.start as usize..bag.leaves.end as usize];
            leaves.iter_mut().for_each(|leaf| leaf.n_guests = leaf.n_guests.saturating_add(leaf.size()));
        } else if !is_own {
            for leaf in bag.leaves.clone() {
                let classes = self.classes[first_class..].iter().filter(|class| class.may_lie(leaf - bag.leaves.start));
                self.leaves[leaf as usize].n_guests += classes.map(|class| class.bits.len() as u64).sum::<u64>();
            }
        }
        Ok(())
    }

    /// Makes the entries of a root, now that regions are known, and ties the leaves' terms to them.
    fn link_entries(&mut self, leaves: Range<u32>, first_bag: u32, first_owned: usize) {
        for ((id, bag), draft) in (first_bag..).zip(&self.bags[first_bag as usize..]).zip(&mut self.draft) {
            draft.first_entry = self.entries.len() as u32;
            let classes = &self.classes[bag.classes.start as usize..bag.classes.end as usize];
            let examples = bag.regions.iter().map(|region| region[0]);
            let no_region = bag.regions.is_empty().then_some(bag.leaves.start);
            for leaf in examples.chain(no_region) {
                for at in 0..bag.chunk.terms.len() {
                    let mask = bag.first_mask + at * bag.words();
                    let weight = marginal(bag, classes, leaf, &self.masks[mask..mask + bag.words()]);
                    self.entries.push(Entry { bag: id, mask: mask as u32, weight });
                }
            }
        }
        let mut next = first_owned;
        for leaf in leaves {
            for owned in &mut self.owned[next..self.owned_ends[leaf as usize]] {
                let (id, at) = self.places[next - first_owned];
                owned.entry = if id == TERM_CHUNK {
                    let leaf = &mut self.leaves[leaf as usize];
                    let weight = 1.0 / leaf.size() as f64;
                    *leaf.term_chunk_entry.get_or_insert_with(|| {
                        self.entries.push(Entry { bag: TERM_CHUNK, mask: 0, weight });
                        self.entries.len() as u32 - 1
                    })
                } else {
                    let bag = &self.bags[id as usize];
                    let terms = bag.chunk.terms.len() as u32;
                    self.draft[(id - first_bag) as usize].first_entry + bag.region_of(leaf) * terms + at
                };
                next += 1;
            }
        }
    }

    fn check_filled(&self, leaf: u32) -> Check {
        let leaf = &self.leaves[leaf as usize];
        let bags = &self.bags[leaf.bags.start as usize..leaf.bags.end as usize];
        let filled = leaf.n_guests + bags.iter().map(|bag| u64::from(bag.n_subrecords)).sum::<u64>();
        let is_filled = !leaf.simple.term_chunk.is_empty() || filled >= leaf.size();
        if is_filled { Ok(()) } else { Err("it has more records than there is content for") }
    }
}

/// The leaves of a bag by the classes that may lie in them; nothing if all may lie in all.
fn regions_of(classes: &[Class], leaves: Range<u32>) -> Box<[Box<[u32]>]> {
    if classes.iter().all(|class| class.only.is_none()) {
        return Box::new([]);
    }
    // For each leaf, a bit for each class.
    let words = classes.len().div_ceil(64);
    let mut welcome = vec![0_u64; words * leaves.len()];
    for (i, class) in classes.iter().enumerate() {
        for at in (0..leaves.len()).filter(|&at| class.may_lie(at as u32)) {
            welcome[at * words + i / 64] |= 1 << (i % 64);
        }
    }
    let welcome = |leaf: u32| &welcome[(leaf - leaves.start) as usize * words..][..words];
    let mut sorted: Vec<u32> = leaves.clone().collect();
    sorted.sort_by(|&a, &b| welcome(a).cmp(welcome(b)));
    sorted.chunk_by(|&a, &b| welcome(a) == welcome(b)).map(|region| region.into()).collect()
}

/// Adds the classes of a bag to `classes`; returns its distinct subrecords in their order.
fn classes_of(bag: &Bag, draft: &Draft, sizes: &[f64], classes: &mut Vec<Class>) -> Check<Vec<u32>> {
    let n_distinct = bag.chunk.n_distinct() as u32;
    if draft.taken.is_empty() {
        classes.push(Class { bits: 0..bag.n_subrecords, only: None, records: sizes.iter().sum() });
        return Ok((0..n_distinct).collect());
    }
    // For each term, the leaves that have it elsewhere; for each subrecord, those that have none of its terms.
    let words = sizes.len().div_ceil(64);
    let mut elsewhere = vec![0_u64; words * bag.chunk.terms.len()];
    for &(leaf, at) in &draft.taken {
        let leaf = leaf - bag.leaves.start;
        elsewhere[at as usize * words + leaf as usize / 64] |= 1 << (leaf % 64);
    }
    let may_lie = |i: u32| -> Box<[u64]> {
        let mut only: Box<[u64]> = vec![u64::MAX; words].into();
        only[words - 1] = u64::MAX >> ((64 - sizes.len() % 64) % 64);
        for term in bag.chunk.subrecord(i as usize).0 {
            let at = bag.chunk.terms.binary_search(term).unwrap_or(0);
            only.iter_mut().zip(&elsewhere[at * words..]).for_each(|(only, elsewhere)| *only &= !elsewhere);
        }
        only
    };
    let mut sorted: Vec<(Box<[u64]>, u32)> = (0..n_distinct).map(|i| (may_lie(i), i)).collect();
    sorted.sort_unstable();
    let mut end = 0;
    for alike in sorted.chunk_by(|a, b| a.0 == b.0) {
        let start = end;
        end += alike.iter().map(|&(_, i)| bag.chunk.subrecord(i as usize).1).sum::<u32>();
        let mut class = Class { bits: start..end, only: Some(alike[0].0.clone()), records: 0.0 };
        let here = (0_u32..).zip(sizes).filter(|&(at, _)| class.may_lie(at));
        (class.records, class.only) = match here.clone().count() {
            0 => return Err("a shared subrecord has terms that every member has elsewhere"),
            n if n == sizes.len() => (here.map(|(_, size)| size).sum(), None),
            _ => (here.map(|(_, size)| size).sum(), class.only.clone()),
        };
        classes.push(class);
    }
    Ok(sorted.into_iter().map(|(_, i)| i).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ones_are_counted_within_a_range() {
        let mask = [u64::MAX, 0b1011, u64::MAX];
        for (bits, expected) in [(0..0, 0), (0..64, 64), (63..66, 3), (64..67, 2), (130..131, 1), (0..192, 131)] {
            assert_eq!(popcount_within(&mask, &bits), expected, "{bits:?}");
        }
        assert_eq!(popcount(&mask), 131);
    }
}
