//! The part of a report on semantic attacks: what each attack takes for added, and inside whether it is right.
//!
//! Outside, numbers are shown only where the release itself shows what goes together: anybody can count these again. What files
//! of the steward hold about words may come from anywhere, and stays inside.

use super::classes::text;
use super::page::{Figure, Kind, Part, Section, Table, count, decimal, list, number, percent};
use crate::attack::semantic::summary::{OfMethod, RELEASE, Summary};
use crate::repair::regroup::{self, Ended};
use crate::report::plot;

/// What was found, in one sentence, for those inside.
pub(super) fn summary(found: &Summary) -> String {
    if found.coverage.generalised == 0 {
        return String::from("Nothing is generalised: semantic attacks have nothing to infer.");
    }
    if found.coverage.attacked == 0 {
        return format!(
            "Nothing could be tried: no group stands beside terms that {} relates to those of the group.",
            found.distances
        );
    }
    match found.worst().and_then(|of| Some((of, of.score.as_ref()?, of.blind?))) {
        Some((of, score, blind)) => format!(
            "An adversary without background knowledge about people can infer from the meaning of terms which terms of a group were \
             not in a record: {} of what the attack {} rules out was indeed not there; the baseline is {}.",
            percent(score.precision.share),
            of.attack.name(),
            percent(blind.precision),
        ),
        None => String::from("No semantic attack has an advantage over the baseline."),
    }
}

/// The same as a number of the first screen.
pub(super) fn fact(found: &Summary) -> String {
    match found.worst().and_then(|of| Some((of.score.as_ref()?, of.blind?))) {
        Some((score, blind)) => format!(
            "attacks are right in {}, the baseline in {}",
            percent(score.precision.share),
            percent(blind.precision)
        ),
        None => String::from("no advantage over the baseline"),
    }
}

/// What was done about it before, in a few sentences, for those inside.
fn mended(stats: &regroup::Stats) -> String {
    let (before, after) = stats.beyond_blind();
    let how = match stats.ended {
        Ended::Baseline => "That is as little as was asked for.",
        Ended::Limit => "What would help more costs more utility than the recipe allows.",
        Ended::Exhausted => "Nothing else that was tried helps and keeps the promise.",
    };
    if stats.exchanges == 0 {
        return format!("The advantage of attacks was above its limit, and groups were left as they are. {how}");
    }
    format!(
        "The advantage of attacks was above its limit, and groups were repaired: in {} members of groups changed places with terms that \
         fit the same records. The advantage of the best attack over the baseline was {} before, and {} after; NCP became {}, from \
         {}. {how}",
        count(stats.exchanges, "exchange", "exchanges"),
        decimal(before),
        decimal(after),
        decimal(stats.ncp.1),
        decimal(stats.ncp.0),
    )
}

/// The section of a report.
pub(super) fn section(found: &Summary, repaired: Option<&regroup::Stats>, is_inside: bool) -> Section {
    let mut parts = vec![text(
        "A group stands for some of its terms, and the terms beside it suggest which. The release was attacked with knowledge of the \
         meaning of terms, and of nobody: each attack rules out terms of groups that do not go with the rest of a record.",
    )];
    if is_inside {
        parts.extend(repaired.map(|stats| text(mended(stats))));
        parts.push(text(summary(found)));
    }
    if is_inside || found.distances == RELEASE {
        parts.push(Part::Points(points(found)));
        parts.push(Part::Table(table(found, is_inside)));
        parts.extend(picture(found).map(Part::Figure).filter(|_| is_inside));
    } else {
        let names: Vec<&str> = found.attacks.iter().map(|of| of.attack.name()).collect();
        parts.push(text(format!(
            "Tried were {}, with distances from {}. What they found is shown to those who hold the original.",
            list(&names),
            found.distances
        )));
    }
    if !found.left_out.is_empty() {
        parts.push(text(
            "The calibrated attack was left out: too little is published ungeneralised for it to learn from.",
        ));
    }
    Section { id: "words", heading: "Semantic attacks", parts }
}

fn points(found: &Summary) -> Vec<(String, String)> {
    let (known, coverage) = (&found.terms, &found.coverage);
    let looked_up = known.words + known.phrases + known.heads + known.means;
    let mut points = vec![
        (
            "What is known".to_owned(),
            format!(
                "Distances come from {}, which knows {} of {}.",
                found.distances,
                number(looked_up),
                count(looked_up + known.unknown, "term", "terms")
            ),
        ),
        (
            "What was attacked".to_owned(),
            format!(
                "{} of {} with {} in records; {} known to nobody, {} in a single record.",
                number(coverage.attacked),
                count(coverage.generalised, "generalised item", "generalised items"),
                count(coverage.cells, "member", "members"),
                count(coverage.unknown, "is", "are"),
                number(coverage.single_row),
            ),
        ),
    ];
    if !found.recodings.is_empty() {
        let n = number(found.recodings.len() as u64);
        points.push((
            "Recodings".to_owned(),
            format!(
                "{n}, each for a part of the records: a group of one is another item than the same group of another."
            ),
        ));
    }
    if coverage.rows_left_out > 0 {
        points.push((
            "A sample".to_owned(),
            format!(
                "{} of items in many records were left out; those that were looked at are spread evenly.",
                count(coverage.rows_left_out, "row", "rows")
            ),
        ));
    }
    points
}

fn table(found: &Summary, is_inside: bool) -> Table {
    let judged = |of: &OfMethod| -> Option<Vec<String>> {
        let (score, blind) = (of.score.as_ref()?, of.blind?);
        let precision = &score.precision;
        let interval = match precision.of {
            0 => String::from("-"),
            _ => format!("{:.3} ({:.3} to {:.3})", precision.share, precision.low, precision.high),
        };
        let share = |value: f64| format!("{value:.3}");
        Some(vec![
            interval,
            share(blind.precision),
            share(score.recall.share),
            share(score.f),
            share(blind.f),
            if of.beyond_blind() > 0.0 { "yes" } else { "no" }.to_owned(),
        ])
    };
    let mut columns = vec![("attack", Kind::Code), ("rules out", Kind::Sentence), ("how many", Kind::Number)];
    if is_inside {
        columns.extend([
            ("right (95 %)", Kind::Words),
            ("baseline", Kind::Number),
            ("recall", Kind::Number),
            ("F", Kind::Number),
            ("F of the baseline", Kind::Number),
            ("advantage", Kind::Words),
        ]);
    }
    let row = |of: &OfMethod| {
        let mut row = vec![of.attack.name().to_owned(), of.attack.meaning().to_owned(), number(of.eliminated)];
        if is_inside {
            row.extend(judged(of).unwrap_or_else(|| vec![String::from("-"); 6]));
        }
        row
    };
    Table {
        caption: match is_inside {
            true => {
                "What each attack rules out, and whether it is right. Baseline: as many terms drawn at random".into()
            }
            false => "What each attack rules out; whether it is right only the original shows".into(),
        },
        columns,
        rows: found.attacks.iter().map(row).collect(),
    }
}

/// F beside that of the baseline.
fn picture(found: &Summary) -> Option<Figure> {
    let judged: Vec<(&str, f64, f64)> =
        found.attacks.iter().filter_map(|of| Some((of.attack.name(), of.score.as_ref()?.f, of.blind?.f))).collect();
    if judged.is_empty() || found.coverage.attacked == 0 {
        return None;
    }
    let names: Vec<String> = judged.iter().map(|of| of.0.to_owned()).collect();
    let series = [
        (String::from("the attack"), judged.iter().map(|of| of.1).collect()),
        (String::from("the baseline"), judged.iter().map(|of| of.2).collect()),
    ];
    Some(Figure {
        svg: plot::bars("How much attacks find", "F", &names, &series),
        caption: "F is high where an attack rules out much and is right. Where both bars are equally high, there is no advantage over the baseline.".into(),
        description: judged
            .iter()
            .map(|(name, f, blind)| format!("{name}: {}, baseline {}", decimal(*f), decimal(*blind)))
            .collect::<Vec<_>>()
            .join("; "),
    })
}
