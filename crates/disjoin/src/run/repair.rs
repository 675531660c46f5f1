//! `repair`: a release that discloses less, proved before it is written.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::forms::recoded::Room;
use super::forms::{disassociated, recoded};
use super::open::{Originally, Release};
use super::{Answer, AttackOptions, opened};
use crate::error::{Error, Place, Result};
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Part};
use crate::read::Sources;
use crate::recipe::resolve::default;
use crate::recipe::{Limits, written};
use crate::release::Form;
use crate::repair::regroup::Ended;
use crate::report::{Page, chunks_repaired, groups_repaired};

/// How a release is repaired.
#[derive(Default)]
pub struct RepairOptions {
    /// The folder to write the package to.
    pub out: PathBuf,
    /// Replace it if it exists.
    pub force: bool,
    /// Recoded sets: NCP may become so many times what it was.
    pub ncp_growth: Option<f64>,
    /// Recoded sets: what adversaries know about words.
    pub attack: AttackOptions,
}

/// Repairs a release and writes the package of the new one. Disassociated data need no original; recoded sets do.
pub fn repair(
    path: &Path,
    original: &Originally<'_>,
    asked: &RepairOptions,
    sources: &dyn Sources,
    observer: &dyn Observer,
) -> Result<Answer> {
    observed(|| {
        let destination = Destination::check(&asked.out)?;
        if destination.replaces() && !asked.force {
            return Err(exists(&asked.out));
        }
        let form = super::open(path, None, observer.memory())?.form();
        if form == Form::Disassociated && (original.location.is_some() || asked.attack.has_words()) {
            let key = if original.location.is_some() { "original" } else { "attack.corpus" };
            let problem = "is for recoded transactions, and disassociated data are repaired without it";
            return Err(Error::recipe(key, problem, "leave it out"));
        }
        let (opened, read) = opened(path, None, original, sources, observer)?;
        let mut answer = match (&opened.release, read) {
            (Release::Disassociated(stored), _) => {
                let mended = disassociated::mend(&opened, stored, observer)?;
                observer.stage("writing the package");
                destination.publish(|staging| mended.package()?.write(staging, observer))?;
                let claim = mended.claim();
                let json = json!({
                    "promise": claim.promise,
                    "promised": claim.promised,
                    "records": claim.records,
                    "stats": mended.stats,
                });
                Answer::new(Page::of_text(&chunks_repaired(&mended.stats)), &json)?
            }
            (Release::Recoded(claim, release), read) => {
                let read = read.ok_or_else(|| {
                    let problem = "is needed: groups are made anew from what they were made of";
                    Error::recipe("original", problem, "give the file that disjoin protect was given")
                })?;
                let room = Room { most: 0.0, ncp_growth: asked.ncp_growth.unwrap_or(default::NCP_GROWTH) };
                if !(room.ncp_growth >= 1.0 && room.ncp_growth.is_finite()) {
                    let hint = "1.5 lets NCP grow by a half";
                    return Err(Error::recipe("repair.limit", "must be a number of 1 or more", hint));
                }
                let (data, _) = read.sets()?;
                let (mended, known) = recoded::mend(&opened, (claim, release), data, &asked.attack, room, observer)?;
                observer.stage("writing the package");
                destination.publish(|staging| mended.package()?.write(staging, observer))?;
                let stats = &mended.regrouped.stats;
                let json = json!({
                    "promised": mended.regrouped.claim.promised,
                    "records": mended.regrouped.claim.records,
                    "adversaries": known,
                    "stats": stats,
                });
                let limits = written::Limits { advantage: Some(0.0), ..written::Limits::default() };
                let left = if stats.ended == Ended::Baseline { 0.0 } else { stats.beyond_blind().1 };
                let found = super::limits::Found { advantage: Some(left), ..Default::default() };
                let judged = Limits::resolve(&limits, 1)?.judge(None, &found);
                Answer::new(groups_repaired(stats, &known), &json)?.judged(judged)?
            }
            (Release::Classes(..) | Release::Split(..) | Release::Noisy(_), _) => {
                let hint = "protect the original again, with stronger criteria";
                return opened.refuse("repair", &[Form::Disassociated, Form::Recoded], hint);
            }
        };
        answer.tell_places(&asked.out, opened.custody.is_some());
        Ok(answer)
    })
}

/// What is said of something that would be replaced.
pub(super) fn exists(path: &Path) -> Error {
    Error::input(Place::file(path.display().to_string()), "exists already")
        .with_hint("choose another name, or add --force to replace it")
}

impl Answer {
    /// Where a package is, with the parts that it has.
    pub(super) fn tell_places(&mut self, out: &Path, with_custody: bool) {
        let path = |part: Part| out.join(part.folder());
        self.wrote.push(path(Part::Release));
        if with_custody {
            self.wrote.push(path(Part::Custody));
        }
        if let Some(fields) = self.json.as_object_mut() {
            fields.insert("release".into(), path(Part::Release).to_string_lossy().into());
            let custody = with_custody.then(|| path(Part::Custody).to_string_lossy().into_owned());
            fields.insert("custody".into(), custody.into());
        }
    }
}

impl AttackOptions {
    fn has_words(&self) -> bool {
        self.corpus.is_some() || self.counts.is_some() || self.vectors.is_some() || self.sentences.is_some()
    }
}
