//! What recoded transactions promise, and against whom: their claim.json.
//!
//! Promises:   all that `verify` needs is in it: privacy constraints name terms, not people. Terms that no record shows any more
//!             are not named: of constraints and utility sets only what is published is told
//! Checked by: tests in this file, and `tests/it/recoded.rs`

use serde::{Deserialize, Serialize};

use super::Recoded;
use crate::data::{Dictionary, TermId};
use crate::release::claim::{Body, Claim, Form};

/// The claim that travels with recoded transactions.
pub type RecodedClaim = Claim<Recodings>;

impl Body for Recodings {
    const FORM: Form = Form::Recoded;

    fn promised(&self) -> String {
        promised(&self.promise, self.k, self.blocks, self.utility.is_some())
    }

    fn adversary(&self) -> String {
        adversary(&self.promise, self.suppression)
    }

    fn provable(&self) -> String {
        let mut promise = self.promise.clone();
        if let Promised::Constraints { withheld, .. } = &mut promise {
            *withheld = 0;
        }
        promised(&promise, self.k, self.blocks, self.utility.is_some())
    }

    fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)> {
        let mut fields = Vec::new();
        if let Promised::Constraints { .. } = self.promise {
            fields.push((
                "promise.privacy".into(),
                "which sets of terms are to be protected was decided by the maker of the release",
            ));
            fields.push(("promise.withheld".into(), "sets that are not told cannot be looked for"));
        }
        if self.utility.is_some() {
            fields.push((
                "utility".into(),
                "which terms may be generalised together was decided by the maker of the release",
            ));
        }
        if !with_original {
            fields.push(("suppression".into(), "what was suppressed is seen with the original only"));
        }
        fields
    }
}

/// What is claimed of recoded transactions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recodings {
    /// How many records cannot be told apart.
    pub k: u32,
    /// What is in no record or in k.
    pub promise: Promised,
    /// What may be missing in the records.
    pub suppression: Suppression,
    /// Terms are generalised only with terms of the same of these sets, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utility: Option<Vec<Vec<String>>>,
    /// The number of records of the original.
    pub records: u64,
    /// The number of blocks.
    pub blocks: u64,
}

/// What is in no record or in at least k.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Promised {
    /// Every set of at most m items, in every block.
    Km {
        /// The number of terms that the adversary may know.
        m: u32,
    },
    /// Named sets of terms.
    Constraints {
        /// The sets, each with its terms sorted, as far as their terms are published.
        privacy: Vec<Vec<String>>,
        /// Whether every part of a set is protected as well.
        subsets: bool,
        /// Sets that are not told, as a term of them is not published: no record shows them.
        withheld: u64,
    },
}

/// What may be missing in the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suppression {
    /// Nothing: every term of a record is in one of its items.
    None,
    /// Terms that no group has were suppressed in all records.
    Terms,
    /// Terms may have been taken out of single records.
    Occurrences,
}

impl RecodedClaim {
    /// The claim of a release.
    pub fn new(
        release: &Recoded,
        method: &str,
        k: u32,
        promise: Promised,
        suppression: Suppression,
        utility: Option<Vec<Vec<String>>>,
    ) -> Self {
        let (records, blocks) = (release.n_records(), release.blocks.len() as u64);
        Claim::of(method, Recodings { k, promise, suppression, utility, records, blocks })
    }

    /// How many terms the adversary may know, if any will do.
    pub fn m(&self) -> Option<u32> {
        if let Promised::Km { m } = self.promise { Some(m) } else { None }
    }
}

impl Promised {
    /// Constraints over the terms of `dictionary`, as far as a release tells of them.
    pub fn constraints(privacy: &[Vec<TermId>], dictionary: &Dictionary, subsets: bool, release: &Recoded) -> Self {
        let is_published = |&&term: &&TermId| release.dictionary.get(dictionary.text(term)).is_some();
        let (mut told, mut withheld) = (Vec::new(), 0);
        for set in privacy {
            let left: Vec<&TermId> = set.iter().filter(is_published).collect();
            let is_whole = left.len() == set.len();
            withheld += u64::from(!is_whole);
            // What is left of a set is one of its parts.
            if !left.is_empty() && (is_whole || subsets) {
                told.push(texts(left, dictionary));
            }
        }
        told.sort_unstable();
        told.dedup();
        Promised::Constraints { privacy: told, subsets, withheld }
    }
}

/// Utility sets over the terms of `dictionary`, as far as a release tells of them.
pub fn utility_as_published(utility: &[Vec<TermId>], dictionary: &Dictionary, release: &Recoded) -> Vec<Vec<String>> {
    let is_published = |&&term: &&TermId| release.dictionary.get(dictionary.text(term)).is_some();
    let mut told: Vec<Vec<String>> =
        utility.iter().map(|set| texts(set.iter().filter(is_published).collect(), dictionary)).collect();
    // A set of one allows nothing, as no set does.
    told.retain(|set| set.len() > 1);
    told.sort_unstable();
    told
}

fn texts(terms: Vec<&TermId>, dictionary: &Dictionary) -> Vec<String> {
    let mut texts: Vec<String> = terms.into_iter().map(|&term| dictionary.text(term).to_owned()).collect();
    texts.sort_unstable();
    texts.dedup();
    texts
}

fn promised(promise: &Promised, k: u32, blocks: u64, has_utility: bool) -> String {
    let mut text = match promise {
        Promised::Km { m } => {
            let here = if blocks > 1 { ", in each block" } else { "" };
            format!(
                "Every set of at most {m} items that a record shows is shown by at least {k} records{here}. An item is a term \
                 or a group of terms, of which the record has at least one."
            )
        }
        Promised::Constraints { privacy, subsets, withheld } => {
            let parts = if *subsets { ", and every part of it," } else { "" };
            let sets = match privacy.len() {
                1 => String::from("The set of terms that is listed here"),
                n => format!("Every one of the {n} sets of terms that are listed here"),
            };
            let more = match withheld {
                0 => String::new(),
                1 => String::from(" Of one more set no record shows all terms."),
                n => format!(" Of {n} more sets no record shows all terms."),
            };
            format!("{sets}{parts} is shown by no record or by at least {k}.{more}")
        }
    };
    if has_utility {
        text += " Terms are generalised only with terms of the same utility set.";
    }
    text
}

fn adversary(promise: &Promised, suppression: Suppression) -> String {
    let mut text = match promise {
        Promised::Km { m } => format!(
            "An adversary with at most {m} terms of background knowledge about a person's record and no knowledge of terms that \
             the record lacks, who knows what each item stands for."
        ),
        Promised::Constraints { .. } => String::from(
            "An adversary whose background knowledge about a person's record is nothing but terms of one of the sets that are \
             listed, and who knows what each item stands for. Nothing is promised against an adversary who knows other terms, \
             or terms of two sets.",
        ),
    };
    text += match suppression {
        Suppression::None => "",
        Suppression::Terms => " Terms that no item stands for were suppressed in all records.",
        Suppression::Occurrences => " A record may lack terms that its person has.",
    };
    text += " Nothing is promised against an adversary who infers from the meaning of terms, or from how they go together elsewhere, \
             which term of a group a record has (semantic attack); nor against an adversary who knows the algorithm and infers \
             from it why terms were put into these groups (minimality attack).";
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Recoding};
    use crate::release::recoded::Draft;

    #[test]
    fn claims_name_no_term_that_is_not_published() {
        let data = Dataset::from_texts([vec!["a", "hiv"], vec!["b", "a"], vec!["c"]]);
        let id = |text| data.dictionary.get(text).unwrap();
        let recoding = Recoding::from_groups(4, [vec![id("a"), id("b")], vec![id("c")]]).unwrap();
        let draft = Draft::of_recoding(&data.records, 0..3, &recoding, Vec::new());
        let (release, _) = Recoded::of_drafts(&data.dictionary, vec![draft]).unwrap();
        let privacy = [vec![id("hiv")], vec![id("a"), id("hiv")], vec![id("c"), id("b")], vec![id("b")]];
        let of = |subsets| Promised::constraints(&privacy, &data.dictionary, subsets, &release);
        let told = |sets: &[&[&str]]| sets.iter().map(|set| set.iter().map(ToString::to_string).collect()).collect();
        let all: Vec<Vec<String>> = told(&[&["a"], &["b"], &["b", "c"]]);
        assert_eq!(of(true), Promised::Constraints { privacy: all, subsets: true, withheld: 2 });
        let all: Vec<Vec<String>> = told(&[&["b"], &["b", "c"]]);
        assert_eq!(of(false), Promised::Constraints { privacy: all, subsets: false, withheld: 2 });
        let utility =
            utility_as_published(&[vec![id("hiv"), id("b"), id("a")], vec![id("c")]], &data.dictionary, &release);
        assert_eq!(utility, [["a", "b"]]);

        let claim = RecodedClaim::new(&release, "coat", 2, of(true), Suppression::Terms, Some(utility));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claim.json");
        let text = claim.to_json().unwrap();
        assert!(!text.contains("hiv"));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(RecodedClaim::read(&path).unwrap(), claim);
        assert!(
            Claim::<crate::release::claim::Disassociation>::read(&path).unwrap_err().to_string().contains("recoded")
        );
        let km = RecodedClaim::new(&release, "apriori", 2, Promised::Km { m: 2 }, Suppression::None, None);
        assert_eq!((km.m(), claim.m(), km.records), (Some(2), None, 3));
        assert!(!km.to_json().unwrap().contains("\"utility\""));
    }
}
