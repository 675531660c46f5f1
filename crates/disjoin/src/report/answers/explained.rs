//! What `explain` says: where terms stand, why a count is missing, and what would bring it back.

use serde::Serialize;

use super::{numbers, text};
use crate::measure::whereabouts::{Link, Whereabouts};
use crate::release::claim::Parameters;
use crate::report::page::{Page, Part, count, number, share};
use crate::report::run::Happened;

/// What there is to say.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Explained {
    /// The release as a whole.
    Release {
        /// How many terms have counts.
        shown: Shown,
        /// What the algorithm did, if custody is at hand.
        stats: Option<Happened>,
    },
    /// One term.
    Term(Whereabouts),
    /// Two terms.
    Link {
        /// The first.
        first: Whereabouts,
        /// The second.
        second: Whereabouts,
        /// How they stand to each other.
        link: Link,
    },
}

/// How many terms are shown with counts.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Shown {
    /// All terms.
    pub terms: u64,
    /// In some chunk, so that there is a count.
    pub with_counts: u64,
    /// In term chunks only.
    pub listed_only: u64,
}

/// Why something is not in a release.
pub fn explain_page(told: &Explained, parameters: &Parameters) -> Page {
    let k = parameters.k;
    let parts = match told {
        Explained::Release { shown, stats } => {
            let mut parts = vec![text(format!(
                "{} ({}) of {} have counts in some cluster; {} are only listed where they occur.\n\n\
                 A term is only listed where fewer than {k} people of a cluster have it, and no {k} people of the clusters\n\
                 that share chunks with it do; or it was moved to the term chunk, so that the cut discloses nothing.",
                number(shown.with_counts),
                share(shown.with_counts, shown.terms),
                count(shown.terms, "term", "terms"),
                number(shown.listed_only),
            ))];
            parts.extend(stats.as_ref().map(happened));
            parts.push(text(remedies(parameters)));
            parts
        }
        Explained::Term(found) => vec![text(place(found)), text(why(found, parameters))],
        Explained::Link { first, second, link } => {
            vec![text(format!("first:  {}\nsecond: {}", place(first), place(second))), text(together(link, parameters))]
        }
    };
    Page::answer(parts, "")
}

fn happened(stats: &Happened) -> Part {
    let rows = [
        (stats.clusters, "clusters"),
        (stats.small_clusters_merged, "clusters had fewer than k records and were merged with others"),
        (stats.terms_set_aside, "terms of clusters moved to the term chunk, so that the cut discloses nothing"),
        (stats.terms_moved_by_lemma_2, "terms of clusters listed, so that no record of the cluster need be empty"),
        (stats.joins, "times two clusters came to share chunks"),
        (
            stats.joins_refused_for_promise,
            "times they could not: one cluster would not have kept terms enough to fill its records",
        ),
    ];
    let rows = rows.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| vec![what.to_owned(), number(n)]);
    numbers(&["what the algorithm did", ""], rows.collect())
}

fn place(found: &Whereabouts) -> String {
    let mut parts = Vec::new();
    if found.in_record_chunks > 0 {
        let clusters = count(found.in_record_chunks, "cluster", "clusters");
        parts.push(format!("counted in {clusters} ({})", count(found.record_support, "person", "people")));
    }
    if found.in_shared_chunks > 0 {
        let chunks = count(found.in_shared_chunks, "shared chunk", "shared chunks");
        parts.push(format!("counted in {chunks} ({})", count(found.shared_support, "person", "people")));
    }
    if found.in_term_chunks > 0 {
        parts.push(format!("only listed in {}", count(found.in_term_chunks, "cluster", "clusters")));
    }
    if parts.is_empty() { String::from("nowhere") } else { parts.join(", ") }
}

fn why(found: &Whereabouts, parameters: &Parameters) -> String {
    if found.in_term_chunks == 0 {
        return String::from("Nothing is lost: every cluster that has the term counts it.");
    }
    let k = parameters.k;
    let counted = found.in_record_chunks + found.in_shared_chunks > 0;
    let what = if counted { "In those clusters" } else { "Its count is lost: in every cluster" };
    format!(
        "{what} fewer than {k} people have it (or it was moved to the term chunk, so that the cut discloses nothing), and no\n\
         cluster that it could be shared with brings {k} together.\n\n{}",
        remedies(parameters)
    )
}

fn together(link: &Link, parameters: &Parameters) -> String {
    let (k, max_cluster) = (parameters.k, parameters.max_cluster);
    let mut lines = Vec::new();
    if link.chunks > 0 {
        let (chunks, people) = (count(link.chunks, "chunk", "chunks"), count(link.support, "person", "people"));
        lines.push(format!("Linked in {chunks}: {people} have both for certain."));
    }
    if link.cut_apart > 0 {
        let clusters = count(link.cut_apart, "cluster", "clusters");
        lines.push(format!(
            "Cut apart in {clusters}: together with all terms of one chunk they would have shown a set that fewer than {k} have,\n\
             or were likely to."
        ));
    }
    if link.one_is_rare > 0 {
        let clusters = count(link.one_is_rare, "cluster", "clusters");
        lines.push(format!("Not linked in {clusters}, where one of them is only listed: fewer than {k} have it."));
    }
    if lines.is_empty() {
        lines.push("No cluster has both in chunks of its own: whether anybody has both cannot be seen.".into());
    }
    lines.push(format!(
        "\nTo link them in more clusters: a smaller k, or larger clusters (max_cluster, now {max_cluster}), so that {k} people with\n\
         both come together. disjoin query estimates how many have both, with bounds."
    ));
    lines.join("\n")
}

fn remedies(parameters: &Parameters) -> String {
    let Parameters { k, max_cluster, refine, .. } = parameters;
    let mut text = format!(
        "What would bring counts back:\n\
         \x20 a smaller k (now {k}): fewer people must share a term in a cluster\n\
         \x20 larger clusters (max_cluster, now {max_cluster}): more of those who share it come together"
    );
    if !refine {
        text.push_str("\n  sharing chunks between clusters (refine)");
    }
    text.push_str(
        "\nTry them at once: disjoin sweep. A term that fewer than k people have in all can never get a count.",
    );
    text
}
