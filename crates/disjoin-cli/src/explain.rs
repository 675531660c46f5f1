//! `disjoin explain`: why is something not in a release, and what would have to change?

use std::fmt::Write as _;
use std::path::PathBuf;

use disjoin::data::TermId;
use disjoin::measure::whereabouts::{Link, Whereabouts, link, whereabouts};
use disjoin::publish::find_release;
use disjoin::release::Disassociated;
use disjoin::{Error, Place, Result};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::reconstruct::Loaded;
use crate::talk::{Talk, count, number, percent};
use crate::verify::custody_of;

/// Say why a term lost its count, why two terms are no longer linked, why groups were not joined, and what would help
///
/// Without terms, the release as a whole: how many terms keep counts, how many are only listed, and, if the custody folder is
/// beside it, what the algorithm did and refused. With one term: where it stands. With two: how they stand to each other.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// One term, or two
    #[arg(value_name = "TERM", num_args = 0..=2)]
    terms: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  disjoin explain out
  disjoin explain out asthma
  disjoin explain out flu asthma --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let loaded = Loaded::read(&args.release, talk)?;
    let release = &loaded.release;
    let ids: Vec<TermId> =
        args.terms.iter().zip(1..).map(|(text, nth)| find(release, text, nth)).collect::<Result<_>>()?;
    let told = match ids[..] {
        [] => {
            let (folder, _) = find_release(&args.release)?;
            let stats = custody_of(None, &folder).map(|custody| Stats::read(&custody)).transpose()?;
            Told::Release { shown: Shown::count(release), stats }
        }
        [term] => Told::Term(whereabouts(release, term)),
        [a, b, ..] => {
            Told::Link { first: whereabouts(release, a), second: whereabouts(release, b), link: link(release, a, b) }
        }
    };
    if talk.is_json() {
        talk.print_json(&told)?;
    } else {
        let parameters = &loaded.claim.parameters;
        talk.print(&told.text(parameters.k, parameters.max_cluster, parameters.refine))?;
    }
    Ok(Outcome::Holds)
}

fn find(release: &Disassociated, text: &str, nth: u32) -> Result<TermId> {
    release.dictionary.get(text.trim()).ok_or_else(|| {
        let problem = format!("term {nth} is nowhere in the release");
        Error::recipe(
            "TERM",
            problem,
            "check the spelling; terms with spaces stand in quotes. No term is ever left out",
        )
    })
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
    Release { shown: Shown, stats: Option<Stats> },
    Term(Whereabouts),
    Link { first: Whereabouts, second: Whereabouts, link: Link },
}

/// How many terms are shown with counts.
#[derive(Serialize)]
struct Shown {
    terms: u64,
    /// In some chunk, so that there is a count.
    with_counts: u64,
    /// In term chunks only.
    listed_only: u64,
}

impl Shown {
    fn count(release: &Disassociated) -> Self {
        let n = release.dictionary.len();
        let mut is_counted = vec![false; n];
        let mut stack: Vec<&disjoin::release::Node> = release.roots.iter().collect();
        let mut mark = |terms: &[TermId]| terms.iter().for_each(|&term| is_counted[term as usize] = true);
        while let Some(node) = stack.pop() {
            match node {
                disjoin::release::Node::Simple(simple) => {
                    simple.record_chunks.iter().for_each(|chunk| mark(&chunk.terms));
                }
                disjoin::release::Node::Joint(joint) => {
                    joint.shared_chunks.iter().for_each(|chunk| mark(&chunk.terms));
                    stack.extend(&joint.members);
                }
            }
        }
        let with_counts = is_counted.iter().filter(|&&counted| counted).count() as u64;
        Shown { terms: n as u64, with_counts, listed_only: n as u64 - with_counts }
    }
}

/// What the algorithm did, as custody.json tells it.
#[derive(Serialize, Deserialize)]
struct Stats {
    clusters: u64,
    small_clusters_merged: u64,
    terms_moved_by_lemma_2: u64,
    #[serde(default)]
    terms_set_aside: u64,
    joins: u64,
    joins_refused_for_promise: u64,
}

impl Stats {
    fn read(custody: &std::path::Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Written {
            stats: Stats,
        }
        let path = custody.join("custody.json");
        let text = std::fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        let bad = |_| Error::input(Place::file(path.display().to_string()), "is not a custody file of disjoin");
        serde_json::from_slice::<Written>(&text).map(|written| written.stats).map_err(bad)
    }
}

impl Told {
    fn text(&self, k: u32, max_cluster: u32, refine: bool) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = match self {
            Told::Release { shown, stats } => {
                let _ = writeln!(
                    text,
                    "{} ({}) of {} keep counts in some group; {} are only listed where they occur.\n\n\
                     A term is only listed where fewer than {k} people of a group have it, and no {k} people of the groups\n\
                     that share chunks with it do; or it was set aside, so that the cut gives nothing away.\n",
                    number(shown.with_counts),
                    percent(shown.with_counts, shown.terms),
                    count(shown.terms, "term", "terms"),
                    number(shown.listed_only),
                );
                if let Some(stats) = stats {
                    stats.tell(&mut text);
                }
                writeln!(text, "{}", remedies(k, max_cluster, refine))
            }
            Told::Term(found) => writeln!(text, "{}\n{}", place(found), why(found, k, max_cluster, refine)),
            Told::Link { first, second, link } => {
                let _ = writeln!(text, "first:  {}\nsecond: {}\n", place(first), place(second));
                writeln!(text, "{}", together(link, k, max_cluster))
            }
        };
        text
    }
}

impl Stats {
    fn tell(&self, text: &mut String) {
        let mut line = |n: u64, what: &str| {
            if n > 0 {
                let _ = writeln!(text, "  {:>12}  {what}", number(n));
            }
        };
        line(self.clusters, "groups of people");
        line(self.small_clusters_merged, "groups were too small to hide anybody and were merged with others");
        line(self.terms_set_aside, "terms of groups set aside, so that the cut gives nothing away");
        line(self.terms_moved_by_lemma_2, "terms of groups listed, so that no record of the group need be empty");
        line(self.joins, "times two groups came to share chunks");
        line(
            self.joins_refused_for_promise,
            "times they could not: one group would not have kept terms enough to fill its records",
        );
        text.push('\n');
    }
}

fn place(found: &Whereabouts) -> String {
    let mut parts = Vec::new();
    if found.in_record_chunks > 0 {
        let groups = count(found.in_record_chunks, "group", "groups");
        parts.push(format!("counted in {groups} ({})", count(found.record_support, "person", "people")));
    }
    if found.in_shared_chunks > 0 {
        let chunks = count(found.in_shared_chunks, "chunk that groups share", "chunks that groups share");
        parts.push(format!("counted in {chunks} ({})", count(found.shared_support, "person", "people")));
    }
    if found.in_term_chunks > 0 {
        parts.push(format!("only listed in {}", count(found.in_term_chunks, "group", "groups")));
    }
    if parts.is_empty() { String::from("nowhere") } else { parts.join(", ") }
}

fn why(found: &Whereabouts, k: u32, max_cluster: u32, refine: bool) -> String {
    if found.in_term_chunks == 0 {
        return String::from("\nNothing is lost: every group that has the term counts it.");
    }
    let counted = found.in_record_chunks + found.in_shared_chunks > 0;
    let what = if counted { "In those groups" } else { "Its count is lost: in every group" };
    format!(
        "\n{what} fewer than {k} people have it (or it was set aside, so that the cut gives nothing away), and no group that\n\
         it could be shared with brings {k} together.\n\n{}",
        remedies(k, max_cluster, refine)
    )
}

fn together(link: &Link, k: u32, max_cluster: u32) -> String {
    let mut text = String::new();
    if link.chunks > 0 {
        let _ = writeln!(
            text,
            "Linked in {}: {} have both for certain.",
            count(link.chunks, "chunk", "chunks"),
            count(link.support, "person", "people")
        );
    }
    if link.cut_apart > 0 {
        let _ = writeln!(
            text,
            "Cut apart in {}: together with all terms of one chunk they would have shown a set that fewer than {k} have,\n\
             or were likely to.",
            count(link.cut_apart, "group", "groups")
        );
    }
    if link.one_is_rare > 0 {
        let _ = writeln!(
            text,
            "Not linked in {}, where one of them is only listed: fewer than {k} have it.",
            count(link.one_is_rare, "group", "groups")
        );
    }
    if link.chunks + link.cut_apart + link.one_is_rare == 0 {
        text.push_str("No group has both in chunks of its own: whether anybody has both cannot be seen.\n");
    }
    let _ = write!(
        text,
        "\nTo link them in more groups: a smaller k, or larger groups (--max-cluster, now {max_cluster}), so that {k} people with both\n\
         come together. disjoin query tells how many have both, with bounds."
    );
    text
}

fn remedies(k: u32, max_cluster: u32, refine: bool) -> String {
    let mut text = format!(
        "What would bring counts back:\n\
         \x20 a smaller k (now {k}): fewer people must share a term in a group\n\
         \x20 larger groups (--max-cluster, now {max_cluster}): more of those who share it come together"
    );
    if !refine {
        text.push_str("\n  sharing chunks between groups (leave out --no-refine)");
    }
    text.push_str(
        "\nTry them at once: disjoin sweep. A term that fewer than k people have in all can never get a count.",
    );
    text
}
