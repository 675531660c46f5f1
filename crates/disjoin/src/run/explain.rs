//! `explain`: why is something not in a release, and what would have to change?

use std::path::Path;

use super::forms::disassociated::stats_of;
use super::open::Release;
use super::{Answer, open};
use crate::data::TermId;
use crate::error::{Error, Result};
use crate::measure::whereabouts::{link, whereabouts};
use crate::observer::{Observer, observed};
use crate::release::{Disassociated, Form, Node};
use crate::report::{Explained, Shown, explain_page};

/// Says where no, one or two terms stand in a release, and what would bring counts back.
pub fn explain(path: &Path, terms: &[String], observer: &dyn Observer) -> Result<Answer> {
    observed(|| {
        observer.stage("reading the release");
        let opened = open(path, None, observer.memory())?;
        let Release::Disassociated(stored) = &opened.release else {
            let hint = "disjoin measure compares it with the original";
            return opened.refuse("explain", &[Form::Disassociated], hint);
        };
        let release = stored.load(observer)?;
        let ids: Vec<TermId> =
            terms.iter().zip(1..).map(|(text, nth)| find(&release, text, nth)).collect::<Result<_>>()?;
        let told = match ids[..] {
            [] => {
                let happened = match opened.kept()? {
                    Some(kept) => serde_json::from_value(stats_of(&kept)?).ok(),
                    None => None,
                };
                Explained::Release { shown: shown(&release), stats: happened }
            }
            [term] => Explained::Term(whereabouts(&release, term)),
            [a, b, ..] => Explained::Link {
                first: whereabouts(&release, a),
                second: whereabouts(&release, b),
                link: link(&release, a, b),
            },
        };
        Answer::new(explain_page(&told, &stored.claim.parameters), &told)
    })
}

fn find(release: &Disassociated, text: &str, nth: u32) -> Result<TermId> {
    release.dictionary.get(text.trim()).ok_or_else(|| {
        let problem = format!("number {nth} is nowhere in the release");
        let hint = "check the spelling; terms with spaces stand in quotes. No term is ever left out";
        Error::recipe("term", problem, hint)
    })
}

/// How many terms are shown with counts.
fn shown(release: &Disassociated) -> Shown {
    let n = release.dictionary.len();
    let mut is_counted = vec![false; n];
    let mut stack: Vec<&Node> = release.roots.iter().collect();
    let mut mark = |terms: &[TermId]| terms.iter().for_each(|&term| is_counted[term as usize] = true);
    while let Some(node) = stack.pop() {
        match node {
            Node::Simple(simple) => simple.record_chunks.iter().for_each(|chunk| mark(&chunk.terms)),
            Node::Joint(joint) => {
                joint.shared_chunks.iter().for_each(|chunk| mark(&chunk.terms));
                stack.extend(&joint.members);
            }
        }
    }
    let with_counts = is_counted.iter().filter(|&&counted| counted).count() as u64;
    Shown { terms: n as u64, with_counts, listed_only: n as u64 - with_counts }
}
