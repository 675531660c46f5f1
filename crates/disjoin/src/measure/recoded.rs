//! How useful are recoded transactions? What became of terms and of their occurrences, and what is left of itemsets and counts.
//!
//! Paper:      terrovitis2012, section 7.1 (tKd, tKd-ML2, re of generalised data), loukides2011 (UL), terrovitis2008 (NCP)
//! Assumes:    the original is that of the release
//! Departs:    tKd is about terms that are published as themselves: a group is not one of its terms. For tKd-ML2 a group stands for
//!             the lowest node of the taxonomy that is above all its terms, and for all above that; an itemset with an item below
//!             is lost. Occurrences that were suppressed count as lost altogether in `ncp_all`
//! Cost:       mining the original and the release; for the rest a pass over both
//! Checked by: `tests/it/recoded.rs`, against a slow implementation

use rayon::prelude::*;
use serde::Serialize;

use super::queries::{QueryError, ask_with};
use super::relative_error::{Error as RelativeError, Pairs};
use super::top_k::{Best, Deviation};
use crate::data::{Dataset, Hierarchy, RecordId, TermId, Transactions, supports};
use crate::error::{Error, Place, Result};
use crate::observer::Observer;
use crate::reconstruct::Spread;
use crate::release::recoded::utility_loss::Loss;
use crate::release::recoded::{Block, Recoded, RecodedClaim, Suppression};

/// What to measure, and with how much effort.
#[derive(Clone, Copy)]
pub struct RecodedOptions<'a> {
    /// How many itemsets tKd compares.
    pub top: usize,
    /// How many random queries are asked.
    pub queries: usize,
    /// Everything random follows from it.
    pub seed: u64,
    /// A taxonomy of the original's terms, for tKd-ML2.
    pub hierarchy: Option<&'a Hierarchy>,
    /// For each record the line that shows it; needed if there are several blocks.
    pub line_of: Option<&'a [u32]>,
    /// Who watches.
    pub observer: &'a dyn Observer,
}

/// What was found.
#[derive(Debug, Clone, Serialize)]
pub struct RecodedReport {
    /// The number of records.
    pub records: u64,
    /// The number of terms of the original.
    pub terms: usize,
    /// The release's k.
    pub k: u32,
    /// The release's m, if it has one.
    pub m: Option<u32>,
    /// The number of blocks.
    pub blocks: usize,
    /// The seed of all that is random.
    pub seed: u64,
    /// What became of the terms.
    pub became: Became,
    /// The mean of |g| / |I| over published occurrences, 0 for a term that is itself.
    pub ncp: f64,
    /// The same over all occurrences, 1 for those that were suppressed.
    pub ncp_all: f64,
    /// The utility loss.
    pub ul: Ul,
    /// Which of the most frequent itemsets are still the most frequent.
    pub top_k: RecodedTopK,
    /// How far the supports of pairs are off, if groups are spread evenly over their terms.
    pub relative_error: Vec<RecodedWindow>,
    /// How far answers to random queries are off, and whether the truth is within their bounds.
    pub queries: QueryError,
}

/// What became of terms and of their occurrences.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Became {
    /// Terms that are published as themselves wherever they are.
    pub terms_kept: usize,
    /// Terms that are in a group with others, in some block.
    pub terms_generalized: usize,
    /// Terms that are not published at all.
    pub terms_suppressed: usize,
    /// tlost: of the terms with k records or more, the share that are not published as themselves anywhere.
    pub tlost: f64,
    /// The share of occurrences that are published as they are.
    pub occurrences_kept: f64,
    /// The share that are in groups.
    pub occurrences_generalized: f64,
    /// The share that are not published.
    pub occurrences_suppressed: f64,
    /// Records of which nothing is left.
    pub empty_records: u64,
}

/// The utility loss of COAT.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ul {
    /// In all; 0 where it is too small for a number of this kind.
    pub total: f64,
    /// The logarithm to base 2 of the part that is due to groups; none if there is no group.
    pub log2_generalized: Option<f64>,
    /// The part that is due to suppression.
    pub suppressed: f64,
}

/// tKd of what is published.
#[derive(Debug, Clone, Serialize)]
pub struct RecodedTopK {
    /// How many itemsets were compared.
    pub k: usize,
    /// tKd: on the terms that are published as themselves.
    pub tkd: Deviation,
    /// tKd-ML2: with the ancestors of all terms and groups in a taxonomy, if one was given.
    pub tkd_ml2: Option<Deviation>,
}

/// The relative errors of the pairs of some consecutive terms, by falling support.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecodedWindow {
    /// The rank of its first term, from 0.
    pub first: usize,
    /// The number of its terms: 20, or fewer at the end.
    pub terms: usize,
    /// re.
    pub re: RelativeError,
}

/// Compares a release with its original.
pub fn measure_recoded(
    claim: &RecodedClaim,
    release: &Recoded,
    original: &Dataset,
    options: &RecodedOptions<'_>,
) -> Result<RecodedReport> {
    let release = aligned(release, original)?;
    let block_of = blocks_of_records(&release, original, options.line_of)?;
    options.observer.check();
    let spread = Spread::new(&release, claim.suppression);
    let ((top_k, relative_error), (queries, costs)) = rayon::join(
        || {
            rayon::join(
                || top_k(&release, original, options),
                || {
                    let pairs = Pairs::new(original);
                    let truth = pairs.supports(&original.records);
                    let published = |terms: &Vec<TermId>| {
                        let sets = Pairs::of(terms);
                        let expected = |set: &[TermId; 2]| {
                            options.observer.check();
                            spread.estimate(set).expected
                        };
                        sets.par_iter().map(expected).collect::<Vec<f64>>()
                    };
                    let window = |((first, terms), truth): ((usize, &Vec<TermId>), &Vec<f64>)| RecodedWindow {
                        first,
                        terms: terms.len(),
                        re: RelativeError::new(truth, &published(terms)),
                    };
                    pairs.windows().zip(&truth).map(window).collect()
                },
            )
        },
        || {
            let queries = ask_with(original, options.queries, options.seed, |terms| {
                options.observer.check();
                spread.estimate(terms)
            });
            (queries, costs(claim, &release, original, &block_of))
        },
    );
    let Costs { became, ncp, ncp_all, ul } = costs;
    Ok(RecodedReport {
        records: release.n_records(),
        terms: original.n_terms(),
        k: claim.k,
        m: claim.m(),
        blocks: release.blocks.len(),
        seed: options.seed,
        became,
        ncp,
        ncp_all,
        ul,
        top_k,
        relative_error,
        queries,
    })
}

/// The release in the terms of its original, which must be its original.
fn aligned(release: &Recoded, original: &Dataset) -> Result<Recoded> {
    let refuse = |problem: String| {
        Error::input(Place::file("the original"), problem)
            .with_hint("give the file and the input flags that disjoin protect was given")
    };
    let (records, released) = (original.records.len() as u64, release.n_records());
    if records != released {
        return Err(refuse(format!("has {records} records, but the release was made from {released}")));
    }
    let release = release.clone().in_terms_of(original.dictionary.clone());
    match release.dictionary.len() - original.n_terms() {
        0 => Ok(release),
        strange => Err(refuse(format!("lacks terms that the release has: {strange}"))),
    }
}

/// For each record the block that it is in.
fn blocks_of_records(release: &Recoded, original: &Dataset, line_of: Option<&[u32]>) -> Result<Vec<u32>> {
    if release.blocks.len() <= 1 {
        return Ok(vec![0; original.records.len()]);
    }
    let refuse = |problem: &str| Error::input(Place::file("the custody of the release"), problem);
    let Some(line_of) = line_of else {
        return Err(refuse("is needed to measure a release in blocks: only it knows which record is in which")
            .with_hint("give the package with its custody, not the folder release alone"));
    };
    let mut of_line = Vec::with_capacity(release.n_lines());
    for (block, number) in release.blocks.iter().zip(0..) {
        of_line.resize(of_line.len() + block.bag.len(), number);
    }
    let blocks: Option<Vec<u32>> = line_of.iter().map(|&line| of_line.get(line as usize).copied()).collect();
    blocks
        .filter(|blocks| blocks.len() == original.records.len())
        .ok_or_else(|| refuse("does not fit the release and the original"))
}

struct Costs {
    became: Became,
    ncp: f64,
    ncp_all: f64,
    ul: Ul,
}

/// What became of terms and of their occurrences, block by block.
struct Counted {
    kept: u64,
    generalized: u64,
    /// The sizes of the groups of all generalized occurrences.
    spread_over: u64,
    /// Terms that stand for themselves wherever they are shown.
    is_kept: Vec<bool>,
    is_shown: Vec<bool>,
    is_somewhere_itself: Vec<bool>,
    loss: Loss,
}

impl Counted {
    fn new(n_terms: usize) -> Self {
        let nowhere = vec![false; n_terms];
        Counted {
            kept: 0,
            generalized: 0,
            spread_over: 0,
            is_kept: vec![true; n_terms],
            is_shown: nowhere.clone(),
            is_somewhere_itself: nowhere,
            loss: Loss::ZERO,
        }
    }

    /// Where occurrences may be gone `is_partial`.
    fn add(&mut self, block: &Block, ids: &[RecordId], records: &Transactions, is_partial: bool) {
        let mut held = vec![0_u64; block.groups.len()];
        for (items, count) in block.bag.iter() {
            items.iter().for_each(|&item| held[item as usize] += u64::from(count));
        }
        for (group, &support) in block.groups.iter().zip(&held) {
            for &term in group {
                self.is_shown[term as usize] = true;
                self.is_kept[term as usize] &= group.len() == 1;
                self.is_somewhere_itself[term as usize] |= group.len() == 1;
            }
            if group.len() > 1 {
                self.loss = self.loss.plus(Loss::of_group(group.len(), u32::try_from(support).unwrap_or(u32::MAX)));
            }
        }
        let group_of = block.group_of_terms(self.is_kept.len());
        let size = |term: TermId| group_of[term as usize].map(|group| block.groups[group as usize].len() as u64);
        for &term in ids.iter().flat_map(|&id| records.record(id)) {
            match size(term) {
                Some(1) if !is_partial => self.kept += 1,
                None | Some(1) => {}
                Some(size) => {
                    self.generalized += 1;
                    self.spread_over += size;
                }
            }
        }
        if is_partial {
            // Terms that are shown may be gone from single records: what is left is what is counted.
            let shown = |(group, &support): (&Vec<TermId>, &u64)| if group.len() == 1 { support } else { 0 };
            self.kept += block.groups.iter().zip(&held).map(shown).sum::<u64>();
        }
    }
}

fn costs(claim: &RecodedClaim, release: &Recoded, original: &Dataset, block_of: &[u32]) -> Costs {
    let n_terms = original.n_terms();
    let mut records_of: Vec<Vec<RecordId>> = vec![Vec::new(); release.blocks.len()];
    for (&block, id) in block_of.iter().zip(0..) {
        if let Some(records) = records_of.get_mut(block as usize) {
            records.push(id);
        }
    }
    let mut counted = Counted::new(n_terms);
    for (block, ids) in release.blocks.iter().zip(&records_of) {
        counted.add(block, ids, &original.records, claim.suppression == Suppression::Occurrences);
    }
    let Counted { kept, generalized, spread_over, is_kept, is_shown, is_somewhere_itself, loss } = counted;
    let occurrences = original.records.n_incidences() as u64;
    let suppressed = occurrences.saturating_sub(kept + generalized);
    let before = supports(&original.records, n_terms);
    let frequent: Vec<usize> = (0..n_terms).filter(|&term| before[term] >= claim.k).collect();
    let lost = frequent.iter().filter(|&&term| !is_somewhere_itself[term]).count();
    let share = |part: u64, whole: u64| part as f64 / whole.max(1) as f64;
    let terms = |is: &dyn Fn(usize) -> bool| (0..n_terms).filter(|&term| is(term)).count();
    let empty = |(items, count): (&[u32], u32)| if items.is_empty() { u64::from(count) } else { 0 };
    let became = Became {
        terms_kept: terms(&|term| is_shown[term] && is_kept[term]),
        terms_generalized: terms(&|term| is_shown[term] && !is_kept[term]),
        terms_suppressed: terms(&|term| !is_shown[term]),
        tlost: share(lost as u64, frequent.len() as u64),
        occurrences_kept: share(kept, occurrences),
        occurrences_generalized: share(generalized, occurrences),
        occurrences_suppressed: share(suppressed, occurrences),
        empty_records: release.blocks.iter().flat_map(|block| block.bag.iter()).map(empty).sum(),
    };
    let spread_over = spread_over as f64 / n_terms.max(1) as f64;
    let n_records = original.records.len().max(1) as f64;
    let loss = loss.share(n_terms, n_records);
    let gone = suppressed as f64 / n_records;
    Costs {
        became,
        ncp: spread_over / (kept + generalized).max(1) as f64,
        ncp_all: (spread_over + suppressed as f64) / occurrences.max(1) as f64,
        ul: Ul {
            total: loss.value() + gone,
            log2_generalized: (loss != Loss::ZERO).then(|| loss.log2()),
            suppressed: gone,
        },
    }
}

fn top_k(release: &Recoded, original: &Dataset, options: &RecodedOptions<'_>) -> RecodedTopK {
    let &RecodedOptions { top, hierarchy, observer, .. } = options;
    let as_themselves = |group: &Vec<TermId>, nodes: &mut Vec<u32>| {
        if let [term] = group[..] {
            nodes.push(term);
        }
    };
    let with_ancestors = |hierarchy: &Hierarchy| {
        let node = |group: &Vec<TermId>, nodes: &mut Vec<u32>| {
            let first = group.first().copied();
            let lowest = first
                .and_then(|first| group[1..].iter().try_fold(first, |node, &term| hierarchy.lowest_common(node, term)));
            if let Some(lowest) = lowest {
                nodes.push(lowest);
                nodes.extend(hierarchy.ancestors(lowest));
            }
        };
        super::top_k::multilevel_of(original, &translated(release, node, observer), hierarchy, top, observer)
    };
    let (tkd, tkd_ml2) = rayon::join(
        || {
            let best = Best::of_original(original, top, observer);
            let published = translated(release, as_themselves, observer);
            super::top_k::deviation_of(&best, &published, original.n_terms(), top, observer)
        },
        || hierarchy.map(with_ancestors),
    );
    RecodedTopK { k: top, tkd, tkd_ml2 }
}

/// Every published record with what its groups stand for.
fn translated(
    release: &Recoded,
    stands_for: impl Fn(&Vec<TermId>, &mut Vec<u32>),
    observer: &dyn Observer,
) -> Transactions {
    let mut records = Transactions::default();
    let mut record = Vec::new();
    for Block { groups, bag, .. } in &release.blocks {
        let nodes: Vec<Vec<u32>> = groups
            .iter()
            .map(|group| {
                let mut nodes = Vec::new();
                stands_for(group, &mut nodes);
                nodes
            })
            .collect();
        for (items, count) in bag.iter() {
            observer.check();
            for _ in 0..count {
                record.clear();
                items.iter().for_each(|&item| record.extend_from_slice(&nodes[item as usize]));
                records.push(&mut record);
            }
        }
    }
    records
}
