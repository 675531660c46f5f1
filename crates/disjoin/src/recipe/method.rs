//! Every method there is: its name, what it takes, what form its release has, and which keys it knows. The only such list: the
//! command line's `--method`, recipes, refusals, the book's reference and PAPERS.md are made or checked by it.

use serde::{Deserialize, Serialize};

use super::noise;
use super::recoding;
use super::table::Splitting;
use crate::protect::tabular;
use crate::release::Form;

/// A method of protection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// k^m-anonymity without losing a term.
    #[default]
    Disassociation,
    /// k^m-anonymity by generalisation along a hierarchy, the same for all records.
    Apriori,
    /// The same in blocks of similar records, each by itself.
    Lra,
    /// The same, first in parts of the terms.
    Vpa,
    /// k^m-anonymity by suppressing terms in all records.
    Suppression,
    /// k^m-anonymity by suppressing terms in single records.
    SuppressionPartial,
    /// Privacy constraints by generalising the rarest term with what costs least.
    Coat,
    /// Privacy constraints by the cheapest generalisation of any of their terms.
    Pcta,
    /// Differential privacy: a bag of synthetic records.
    Diffpart,
    /// Differential privacy: the most frequent itemsets with noisy supports.
    Privbasis,
    /// Equivalence classes, each row where it costs least.
    LeastLoss,
    /// Equivalence classes by cutting at medians.
    Mondrian,
    /// The same, where rows with the same value may be divided.
    MondrianRelaxed,
    /// Equivalence classes by levels of hierarchies, the same for all rows.
    Lattice,
    /// Microaggregation around the most distant rows.
    Mdav,
    /// Microaggregation of rows in order.
    Sorted,
    /// Microaggregation whose clusters are merged until they are t-close.
    MicroaggregationMerge,
    /// Microaggregation whose clusters exchange rows until they are t-close.
    MicroaggregationSwap,
    /// Microaggregation of rows that are t-close by construction.
    ClosenessFirst,
    /// Equivalence classes along a Hilbert curve.
    Hilbert,
    /// beta-likeness by buckets of sensitive values.
    Burel,
    /// Against background knowledge, k-anonymity first.
    KPrimacy,
    /// Against background knowledge, beta-likeness first.
    BetaPrimacy,
    /// Equivalence classes whose rules from quasi-identifiers to sensitive values are hidden.
    AssociationHiding,
    /// Quasi-identifiers and each sensitive column in tables of their own.
    BreakMerge,
    /// The same with quasi-identifiers as they are, in groups of different sensitive values.
    Anatomy,
}

/// What a method is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// One set of terms a person.
    Sets,
    /// One row of columns a person.
    Table,
}

/// What is known of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The method.
    pub method: Method,
    /// Its name, as people write it.
    pub name: &'static str,
    /// What its release looks like.
    pub form: Form,
    /// What it does, in a few words.
    pub about: &'static str,
    /// The keys of a recipe that it knows besides those of input, measure and output: whole tables end in a dot.
    pub keys: &'static [&'static [&'static str]],
}

impl Entry {
    /// What it is given.
    pub fn takes(&self) -> Shape {
        match self.form {
            Form::Disassociated | Form::Recoded | Form::Noisy => Shape::Sets,
            Form::Classes | Form::Split => Shape::Table,
        }
    }
}

const KM: &[&str] = &["protect.k", "protect.m"];
const SETS: &[&str] = &["protect.grouping", "protect.max_cluster", "protect.promise", "protect.refine"];
const DISASSOCIATION: &[&str] = &[
    "protect.sensitive",
    "protect.l_diversity",
    "protect.diversity_rule",
    "protect.utility",
    "protect.weights",
    "protect.clusters",
    "protect.paper_literal",
    "output.format",
    "attack.run",
    "attack.steps",
    "attack.witnesses",
    "attack.attackers",
    "attack.knows",
    "attack.knows_all",
    "attack.knows_absent",
    "limits.certain_disclosures",
    "limits.reidentification_risk",
    "limits.link_error",
    "limits.association_error",
];
const OF_ITEMSETS: &[&str] = &["limits.itemsets_lost", "limits.terms_lost", "limits.pair_error", "limits.query_error"];
const MEANING: &[&str] = &[
    "attack.corpus",
    "attack.counts",
    "attack.vectors",
    "attack.tokenizer",
    "attack.eliminate",
    "attack.context",
    "attack.rows",
    "attack.seed",
    "limits.advantage",
    "repair.limit",
];
const HIERARCHY: &[&str] = &["protect.hierarchy", "protect.fanout", "protect.cost"];
const CONSTRAINTS: &[&str] =
    &["protect.privacy", "protect.utility", "protect.whole_constraints", "protect.max_suppressed", "protect.force"];
const COLUMNS: &[&str] = &[
    "protect.k",
    "protect.m",
    "table.quasi",
    "table.sensitive",
    "table.identifier",
    "table.numeric",
    "table.dates",
    "table.date_order",
    "table.decimal",
    "table.prefixes",
    "table.words",
    "table.publish_as_is",
    "table.undecided",
    "table.missing",
    "table.hierarchies.",
    "table.suppression_limit",
    "table.seed",
    "table.criteria.",
    "table.knowledge.",
    "table.dependencies.",
    "limits.dependency_rules",
    "limits.information_loss",
    "limits.query_error",
];
const CLASSES: &[&str] = &["table.insensitive", "table.set", "limits.inference_gain", "limits.belief_change"];
const SPLIT: &[&str] = &["limits.joint_loss", "limits.certain_disclosures", "limits.knowledge_breach"];
/// Where chance protects.
const CHANCE: &[&str] = &["table.demonstration"];
const NOISE: &[&str] = &["protect.noise."];

const BY_HIERARCHY: &[&[&str]] = &[KM, HIERARCHY, MEANING, OF_ITEMSETS];
const IN_BLOCKS: &[&[&str]] = &[KM, HIERARCHY, &["protect.block"], MEANING, OF_ITEMSETS];
const IN_PARTS: &[&[&str]] = &[KM, HIERARCHY, &["protect.parts"], MEANING, OF_ITEMSETS];
const BY_SUPPRESSION: &[&[&str]] = &[KM, MEANING, OF_ITEMSETS];
const BY_CONSTRAINTS: &[&[&str]] = &[KM, CONSTRAINTS, MEANING, OF_ITEMSETS];
const OF_CLASSES: &[&[&str]] = &[COLUMNS, CLASSES, SETS];

macro_rules! entry {
    ($method:ident, $name:literal, Classes, $about:literal) => {
        entry!($method, $name, Classes, $about, OF_CLASSES)
    };
    ($method:ident, $name:literal, $form:ident, $about:literal, $keys:expr) => {
        Entry { method: Method::$method, name: $name, form: Form::$form, about: $about, keys: $keys }
    };
}

impl Method {
    /// All of them: sets first, then tables.
    pub const ALL: [Entry; 26] = [
        entry!(
            Disassociation,
            "disassociation",
            Disassociated,
            "k^m-anonymity without losing a term",
            &[KM, SETS, DISASSOCIATION, OF_ITEMSETS]
        ),
        entry!(Apriori, "apriori", Recoded, "k^m-anonymity by generalisation along a hierarchy", BY_HIERARCHY),
        entry!(Lra, "lra", Recoded, "the same in blocks of similar records", IN_BLOCKS),
        entry!(Vpa, "vpa", Recoded, "the same, first in parts of the terms", IN_PARTS),
        entry!(
            Suppression,
            "suppression",
            Recoded,
            "k^m-anonymity by suppressing terms in all records",
            BY_SUPPRESSION
        ),
        entry!(
            SuppressionPartial,
            "suppression-partial",
            Recoded,
            "k^m-anonymity by suppressing terms in single records",
            BY_SUPPRESSION
        ),
        entry!(Coat, "coat", Recoded, "privacy constraints, the rarest term first", BY_CONSTRAINTS),
        entry!(Pcta, "pcta", Recoded, "privacy constraints, the cheapest merge first", BY_CONSTRAINTS),
        entry!(Diffpart, "diffpart", Noisy, "differential privacy: a bag of synthetic records", &[NOISE]),
        entry!(Privbasis, "privbasis", Noisy, "differential privacy: the most frequent itemsets", &[NOISE]),
        entry!(LeastLoss, "least-loss", Classes, "equivalence classes, each row where it costs least"),
        entry!(Mondrian, "mondrian", Classes, "equivalence classes by cutting at medians"),
        entry!(MondrianRelaxed, "mondrian-relaxed", Classes, "the same, where equal values may be divided"),
        entry!(Lattice, "lattice", Classes, "equivalence classes by levels of hierarchies"),
        entry!(Mdav, "mdav", Classes, "microaggregation around the most distant rows"),
        entry!(Sorted, "sorted", Classes, "microaggregation of rows in order"),
        entry!(MicroaggregationMerge, "microaggregation-merge", Classes, "microaggregation, merged until t-close"),
        entry!(MicroaggregationSwap, "microaggregation-swap", Classes, "microaggregation, exchanged until t-close"),
        entry!(ClosenessFirst, "closeness-first", Classes, "microaggregation that is t-close by construction"),
        entry!(Hilbert, "hilbert", Classes, "equivalence classes along a Hilbert curve"),
        entry!(Burel, "burel", Classes, "beta-likeness by buckets of sensitive values"),
        entry!(KPrimacy, "k-primacy", Classes, "against background knowledge, k-anonymity first"),
        entry!(BetaPrimacy, "beta-primacy", Classes, "against background knowledge, beta-likeness first"),
        entry!(
            AssociationHiding,
            "association-hiding",
            Classes,
            "rules from quasi-identifiers to sensitive values are hidden",
            &[COLUMNS, CLASSES, SETS, &["table.hide.", "table.groups_by"]]
        ),
        entry!(
            BreakMerge,
            "break-merge",
            Split,
            "quasi-identifiers and sensitive columns apart",
            &[COLUMNS, SPLIT, &["table.as_is", "table.groups_by"]]
        ),
        entry!(Anatomy, "anatomy", Split, "the same, with quasi-identifiers as they are", &[COLUMNS, SPLIT, CHANCE]),
    ];

    /// What a table is protected by if nothing is said.
    pub const OF_TABLES: Method = Method::LeastLoss;

    /// What is known of it.
    pub fn entry(self) -> &'static Entry {
        // Every variant has its line: a test counts them.
        Self::ALL.iter().find(|entry| entry.method == self).unwrap_or(&Self::ALL[0])
    }

    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// The method of a name.
    pub fn named(name: &str) -> Option<Method> {
        Self::ALL.iter().find(|entry| entry.name == name).map(|entry| entry.method)
    }

    /// Whether it knows a key of a recipe.
    pub fn knows(self, key: &str) -> bool {
        let common = ["input.", "measure.", "output.folder", "protect.method", "repair.rounds"];
        let is = |known: &&str| *known == key || (known.ends_with('.') && key.starts_with(*known));
        common.iter().any(is) || self.entry().keys.iter().copied().flatten().any(is)
    }

    /// The keys of `[protect]`, `[table]` and so on that it knows, for hints.
    pub fn keys_in(self, section: &str) -> Vec<&'static str> {
        let keys = self.entry().keys.iter().copied().flatten();
        keys.filter_map(|key| key.strip_prefix(section)).map(|key| key.trim_end_matches('.')).collect()
    }

    /// The algorithm, if terms are recoded.
    pub fn recoding(self) -> Option<recoding::Method> {
        recoding::Method::ALL.iter().find(|(name, _)| *name == self.name()).map(|(_, method)| *method)
    }

    /// The algorithm, if noise is added.
    pub fn noise(self) -> Option<noise::Method> {
        noise::Method::ALL.iter().find(|(name, _)| *name == self.name()).map(|(_, method)| *method)
    }

    /// How a table is split, if it is.
    pub fn splitting(self) -> Option<Splitting> {
        match self {
            Method::BreakMerge => Some(Splitting::BreakMerge),
            Method::Anatomy => Some(Splitting::Anatomy),
            _ => None,
        }
    }

    /// How classes are made, if it makes them itself.
    pub fn classes(self) -> Option<tabular::Method> {
        tabular::Method::ALL.iter().find(|(name, _)| *name == self.name()).map(|(_, method)| *method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_of_every_family_is_listed_once_and_leads_back_to_it() {
        let tabular = tabular::Method::ALL.iter().map(|(name, _)| *name);
        let recoding = recoding::Method::ALL.iter().map(|(name, _)| *name);
        let noise = noise::Method::ALL.iter().map(|(name, _)| *name);
        let others = ["disassociation", "association-hiding", "break-merge", "anatomy"];
        let mut known: Vec<&str> = tabular.chain(recoding).chain(noise).chain(others).collect();
        let mut listed: Vec<&str> = Method::ALL.iter().map(|entry| entry.name).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
        for entry in Method::ALL {
            assert_eq!(Method::named(entry.name), Some(entry.method));
            let as_written = serde_json::to_value(entry.method).unwrap();
            assert_eq!(as_written, entry.name);
        }
    }

    #[test]
    fn keys_are_known_by_those_whose_they_are() {
        assert!(Method::Lra.knows("protect.block") && !Method::Vpa.knows("protect.block"));
        assert!(Method::Mondrian.knows("table.criteria.beta") && !Method::Coat.knows("table.quasi"));
        assert!(Method::Privbasis.knows("protect.noise.epsilon") && !Method::Privbasis.knows("protect.k"));
        assert!(Method::Coat.keys_in("protect.").contains(&"privacy"));
    }
}
