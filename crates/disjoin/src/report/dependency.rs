//! The part of a report on dependencies that survive: the networks drawn, the rules, the tables as heat maps.
//!
//! Values of columns stand here, as they do in the release; all the same it is for the inside, with everything that was found.

use super::classes::text;
use super::html;
use super::page::{Figure, Kind, Page, Part, Section, Table, count, decimal, number, percent};
use crate::attack::surviving::{DependencyTold, NetworkTold, RuleTold, Surviving, TableTold, Valued};
use crate::report::network_svg;

/// How many dependencies, and how many tables of a network, a report shows.
const MOST_DEPENDENCIES: usize = 20;
const MOST_TABLES: usize = 4;

/// A page about the dependencies of a release that somebody looked at, made by this program.
pub fn dependencies_html(found: &Surviving, made_by: &str) -> String {
    let verdict = match found.risks {
        0 => "No dependency survives that leads to sensitive values.",
        _ => "Dependencies survive that lead to sensitive values.",
    };
    html::dressed(&Page {
        title: format!("Dependencies in a release of {}", count(found.rows, "row", "rows")),
        notice: Some(
            "For the inside only: this page shows which rules are worth trying. It must not leave the building.",
        ),
        holds: found.risks == 0,
        verdict: verdict.to_owned(),
        because: vec![summary(found)],
        facts: Vec::new(),
        sections: vec![section(found)],
        made_by: made_by.to_owned(),
    })
}

/// What was found, in one sentence.
pub(super) fn summary(found: &Surviving) -> String {
    format!(
        "{} to a sensitive value with a probability above {}; they are right about {}.",
        count(found.risks, "rule that is more than chance leads", "rules that are more than chance lead"),
        found.alpha,
        count(found.people, "person", "people"),
    )
}

/// The section of a report.
pub(super) fn section(found: &Surviving) -> Section {
    let mut parts = vec![text(summary(found))];
    if !found.are_rows {
        parts.push(text(
            "The release does not show which sensitive values belong together. These numbers were counted in one of the assignments \
             that are consistent with the release, drawn at random: inside a group, columns are independent.",
        ));
    }
    for network in &found.networks {
        parts.push(Part::Heading(format!("Among {}", network.of.words())));
        add_network(&mut parts, network);
    }
    Section { id: "dependencies", heading: "Dependencies that survive", parts }
}

fn add_network(parts: &mut Vec<Part>, network: &NetworkTold) {
    parts.push(Part::Figure(drawn(network)));
    if !network.sensible.is_empty() {
        parts.push(Part::Table(rules(network)));
    }
    if !network.dependencies.is_empty() {
        parts.push(Part::Table(dependencies(network)));
    }
    // Tables of sensitive columns first.
    let mut tables: Vec<&TableTold> = network.tables.iter().collect();
    tables.sort_by_key(|table| !table.is_sensitive);
    parts.extend(tables.into_iter().take(MOST_TABLES).map(|table| Part::Figure(heat_map(table))));
}

/// A network as a picture.
fn drawn(network: &NetworkTold) -> Figure {
    let told =
        |arrow: &crate::attack::surviving::Arrow| format!("{} to {}: {:.3} bits", arrow.from, arrow.to, arrow.bits);
    Figure {
        svg: network_picture(network),
        caption: "Which column depends on which. The wider an arrow, the more information it adds to the others."
            .into(),
        description: network.arrows.iter().map(told).collect::<Vec<_>>().join("; "),
    }
}

/// A network as an SVG file.
pub fn network_picture(network: &NetworkTold) -> String {
    let title = format!("Dependencies among {}", network.of.words());
    network_svg::network(&title, &network.columns, &network.network, &network.strengths)
}

fn heat_map(told: &TableTold) -> Figure {
    let title = format!("{} by {}", told.column, told.given.join(", "));
    let value = |code: u32| told.values[code as usize].clone();
    Figure {
        svg: network_svg::table(&title, &told.table, |codes| told.configuration(codes), value),
        caption: format!("How likely each value of {} is; darker is likelier.", told.column),
        description: format!(
            "a table of {} by {}",
            count(told.table.len() as u64, "row", "rows"),
            count(u64::from(told.table.n_values()), "value", "values")
        ),
    }
}

fn rules(network: &NetworkTold) -> Table {
    let row = |rule: &RuleTold| {
        vec![
            format!("{} → {}", rule.given.join(", "), rule.column),
            format!("{} → {}", values(&rule.at), rule.value),
            decimal(rule.highest),
            number(u64::from(rule.support)),
            decimal(rule.lift),
            rule.risk.to_string(),
            number(rule.people),
            if rule.confirmed { "yes" } else { "no" }.to_owned(),
        ]
    };
    Table {
        caption: "Rules of Algorithm 1, sensibly read".into(),
        columns: vec![
            ("rule", Kind::Words),
            ("highest cell", Kind::Sentence),
            ("probability", Kind::Number),
            ("rows", Kind::Number),
            ("lift", Kind::Number),
            ("risk", Kind::Words),
            ("people", Kind::Number),
            ("more than chance", Kind::Words),
        ],
        rows: network.sensible.iter().map(row).collect(),
    }
}

fn dependencies(network: &NetworkTold) -> Table {
    let row = |found: &DependencyTold| {
        vec![
            format!("{} → {}", pairs(&found.given), pair(&found.told)),
            percent(found.confidence),
            percent(found.baseline),
            decimal(found.lift),
            number(u64::from(found.support)),
            number(u64::from(found.people)),
            found.risk.to_string(),
        ]
    };
    let all = network.dependencies.len();
    let shown = match all <= MOST_DEPENDENCIES {
        true => String::new(),
        false => format!(": the first {MOST_DEPENDENCIES} of {}", number(all as u64)),
    };
    Table {
        caption: format!("What is more than chance{shown}"),
        columns: vec![
            ("who has → has", Kind::Sentence),
            ("share", Kind::Number),
            ("of everybody", Kind::Number),
            ("lift", Kind::Number),
            ("rows", Kind::Number),
            ("people", Kind::Number),
            ("risk", Kind::Words),
        ],
        rows: network.dependencies.iter().take(MOST_DEPENDENCIES).map(row).collect(),
    }
}

fn values(valued: &[Valued]) -> String {
    valued.iter().map(|one| one.value.as_str()).collect::<Vec<_>>().join(", ")
}

fn pair(valued: &Valued) -> String {
    format!("{} = {}", valued.column, valued.value)
}

fn pairs(valued: &[Valued]) -> String {
    valued.iter().map(pair).collect::<Vec<_>>().join(", ")
}
