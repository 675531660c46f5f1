//! What `audit` says: what a file keeps that somebody else made. `verify` and `attack` say the same of the classes of a table, in short.

use super::attacks::rules_line;
use super::{numbers, text};
use crate::audit::compared::{Compared, Disagreement};
use crate::audit::require::Met;
use crate::audit::sets::SetsAudit;
use crate::audit::{Matching, Risks, SensitiveAudit, TableAudit, Worst, WorstClass};
use crate::report::dependency;
use crate::report::page::{
    KEPT, Kind, NOT_KEPT, Page, Part, Section, Table, count, decimal, list, number, percent, share,
};
use crate::report::run::Dependencies;

/// What was found in a table.
pub struct Audited<'a> {
    /// The file.
    pub file: &'a str,
    /// Its classes.
    pub found: &'a TableAudit,
    /// Suppressed records that were left out.
    pub left_out: u64,
    /// What was kept of the original, if it was at hand.
    pub compared: Option<&'a Compared>,
    /// Which dependencies survive, if they were looked for.
    pub dependencies: Option<&'a Dependencies>,
    /// What was required.
    pub met: &'a [Met],
    /// Whether values are shown.
    pub names_values: bool,
}

const VALUES_SHOWN: &str = "For the auditor only: this report shows values of single classes.";
const COUNTED_IN_ORIGINAL: &str = "For the inside only: this report shows what was counted in the original data.";

/// The audit of a table.
pub fn audit_page(audited: &Audited<'_>) -> Page {
    let Audited { found, met, .. } = audited;
    let mut sections = vec![columns(audited), classes(audited)];
    if !found.sensitive.is_empty() {
        sections.push(sensitive(&found.sensitive));
    }
    sections.push(risks(&found.risks, found.records, found.matching.as_ref()));
    sections.push(worst(&found.quasi, &found.worst));
    sections.extend(audited.compared.map(|compared| original(compared, found.records)));
    sections.extend(audited.dependencies.map(|of| dependencies(of, audited.names_values)));
    sections.extend((!met.is_empty()).then(|| requirements(met)));
    Page {
        title: format!("Audit of {}", audited.file),
        notice: match (audited.compared.is_some(), audited.names_values) {
            (true, _) => Some(COUNTED_IN_ORIGINAL),
            (false, true) => Some(VALUES_SHOWN),
            (false, false) => None,
        },
        facts: vec![
            ("Records", number(found.records)),
            ("k", number(found.k)),
            ("Classes", number(found.classes)),
            ("Highest re-identification risk", decimal(found.risks.prosecutor.highest)),
        ],
        ..page(met, format!("k = {}.", number(found.k)), sections)
    }
}

/// The audit of sets.
pub fn audit_sets_page(file: &str, found: &SetsAudit, met: &[Met]) -> Page {
    let mut lines = vec![format!(
        "{} of {}.",
        count(found.records, "record", "records"),
        count(found.items, "different item", "different items")
    )];
    if found.generalised > 0 {
        lines.push(format!("{} for several terms.", count(found.generalised, "item stands", "items stand")));
    }
    if found.not_in_hierarchy > 0 && found.not_in_hierarchy < found.items {
        let items = count(found.not_in_hierarchy, "item is", "items are");
        lines.push(format!("{items} not in the hierarchy, and taken for a term."));
    }
    if found.overlapping {
        lines.push(String::from(
            "Some items stand above others: a record counts for every item that its own may stand for.",
        ));
    }
    let row = |of: &crate::audit::sets::OfSize| {
        let at_least = if of.exact { "" } else { "at least " };
        vec![
            of.m.to_string(),
            format!("{at_least}{}", number(of.itemsets)),
            format!("{at_least}{}", number(of.below_k)),
            if of.exact { number(of.fewest) } else { format!("at most {}", number(of.fewest)) },
            format!("{} ({})", number(of.records_at_risk), share(of.records_at_risk, found.records)),
        ]
    };
    let table = Table {
        caption: format!("For an adversary with up to m terms of background knowledge, k = {}", found.k),
        columns: vec![
            ("m", Kind::Number),
            ("itemsets of m items", Kind::Number),
            ("in fewer than k records", Kind::Number),
            ("fewest records", Kind::Number),
            ("records at risk", Kind::Number),
        ],
        rows: found.sizes.iter().map(row).collect(),
    };
    let parts = vec![text(lines.join(" ")), Part::Table(table)];
    let mut sections = vec![Section { id: "sets", heading: "Sets of terms", parts }];
    sections.extend((!met.is_empty()).then(|| requirements(met)));
    let (fewest, m) = found.sizes.last().map_or((0, 0), |of| (of.fewest, of.m));
    let verdict = format!("k^m-anonymity: k = {} for m = {m}.", number(fewest));
    Page { title: format!("Audit of {file}"), ..page(met, verdict, sections) }
}

fn page(met: &[Met], found: String, sections: Vec<Section>) -> Page {
    let broken: Vec<&str> = met.iter().filter(|met| !met.met).map(|met| met.key.as_str()).collect();
    let verdict = match (met.is_empty(), broken.is_empty()) {
        (true, _) => format!("{found} Nothing was required (--require)."),
        (false, true) => format!("{found} Every requirement is met."),
        (false, false) => format!("{found} NOT met: {}.", list(&broken)),
    };
    let made_by = format!("disjoin {}", env!("CARGO_PKG_VERSION"));
    Page { holds: broken.is_empty(), verdict, sections, made_by, ..Page::default() }
}

fn columns(audited: &Audited<'_>) -> Section {
    let found = audited.found;
    let names = |names: Vec<&str>| if names.is_empty() { String::from("none") } else { names.join(", ") };
    let mut points = vec![
        ("Quasi-identifiers".to_owned(), names(found.quasi.iter().map(String::as_str).collect())),
        ("Sensitive".to_owned(), names(found.sensitive.iter().map(|of| of.column.as_str()).collect())),
    ];
    if !found.unnamed.is_empty() {
        let unnamed = names(found.unnamed.iter().map(String::as_str).collect());
        points
            .push(("Not named".to_owned(), format!("{unnamed}. Taken for insensitive: nothing is measured of them.")));
    }
    Section { id: "columns", heading: "Columns", parts: vec![Part::Points(points)] }
}

fn classes(audited: &Audited<'_>) -> Section {
    let found = audited.found;
    let mut lines = vec![format!(
        "{} in {}. k-anonymity: k = {} ({} in classes of that size; the largest class has {}).",
        count(found.records, "record", "records"),
        count(found.classes, "class", "classes"),
        number(found.k),
        count(found.records_in_smallest, "record", "records"),
        number(found.largest_class),
    )];
    if audited.left_out > 0 {
        lines
            .push(format!("{} left out.", count(audited.left_out, "suppressed record was", "suppressed records were")));
    }
    if found.suppressed > 0 {
        let records = count(found.suppressed, "record is suppressed", "records are suppressed");
        let without = found.k_without_suppressed.map_or_else(
            || String::from("There are no others."),
            |k| format!("They count as a class here; k without them is {} (--without-suppressed).", number(k)),
        );
        lines.push(format!("{records} (* in every quasi-identifier). {without}"));
    }
    Section { id: "classes", heading: "Classes", parts: vec![text(lines.join(" "))] }
}

fn sensitive(columns: &[SensitiveAudit]) -> Section {
    let mut parts = Vec::new();
    for of in columns {
        parts.push(Part::Heading(format!("{}: {}", of.column, count(of.values, "value", "values"))));
        parts.push(Part::Table(measures(of)));
        let guess = &of.guessing;
        parts.push(text(format!(
            "Attribute disclosure: {} in {} have the same value as all others of the class, which is disclosed for certain. Who names the most \
             frequent value of each class is right about {} of people; the baseline is {}.",
            count(guess.homogeneous_records, "record", "records"),
            count(guess.homogeneous_classes, "class", "classes"),
            percent(guess.right),
            percent(guess.baseline),
        )));
    }
    Section { id: "sensitive", heading: "Sensitive values", parts }
}

fn measures(of: &SensitiveAudit) -> Table {
    let row = |name: String, worst: &Worst| vec![name, decimal(worst.value), number(worst.first_record)];
    let mut rows = vec![
        row("distinct l-diversity, l".into(), &of.distinct_l),
        row("entropy l-diversity, l".into(), &of.entropy_l),
    ];
    for recursive in &of.recursive {
        let name = format!("recursive (c,l)-diversity, l = {}, c above", recursive.l);
        rows.push(vec![name, decimal(recursive.c), String::new()]);
    }
    rows.push(row("t-closeness, equal distance, t".into(), &of.t_equal));
    rows.extend(of.t_ordered.iter().map(|t| row("t-closeness, ordered distance, t".into(), t)));
    rows.extend(of.t_hierarchical.iter().map(|t| row("t-closeness, hierarchical distance, t".into(), t)));
    rows.push(row("basic beta-likeness, beta".into(), &of.basic_beta));
    rows.push(match &of.enhanced_beta {
        Some(beta) => row("enhanced beta-likeness, beta".into(), beta),
        None => vec!["enhanced beta-likeness, beta".into(), "none".into(), String::new()],
    });
    let lacking = match of.classes_without_a_value {
        0 => String::new(),
        n => format!(" (of values that occur: {} a value)", count(n, "class lacks", "classes lack")),
    };
    rows.push(row(format!("delta-disclosure, delta{lacking}"), &of.delta));
    rows.push(row("(alpha, k)-anonymity, alpha".into(), &of.alpha));
    Table {
        caption: String::new(),
        columns: vec![
            ("measure", Kind::Words),
            ("value", Kind::Number),
            ("worst class begins at record", Kind::Number),
        ],
        rows,
    }
}

fn risks(risks: &Risks, records: u64, matching: Option<&Matching>) -> Section {
    let (prosecutor, journalist) = (&risks.prosecutor, &risks.journalist);
    let at_risk = |n: u64| format!("{} ({})", number(n), share(n, records));
    let rows = vec![
        vec![
            "prosecutor".into(),
            decimal(prosecutor.highest),
            decimal(prosecutor.mean),
            at_risk(prosecutor.records_at_risk),
        ],
        vec![
            "journalist".into(),
            decimal(journalist.highest),
            decimal(journalist.mean),
            at_risk(journalist.records_at_risk),
        ],
        vec!["marketer".into(), String::new(), decimal(risks.marketer), String::new()],
    ];
    let table = Table {
        caption: format!("By classes of equal cells; at risk is above {}", decimal(risks.threshold)),
        columns: vec![
            ("risk", Kind::Words),
            ("highest", Kind::Number),
            ("mean", Kind::Number),
            ("records at risk", Kind::Number),
        ],
        rows,
    };
    let population = match journalist.population {
        None => String::from("The file is taken for the whole population: journalist and prosecutor find the same."),
        Some(n) => format!(
            "A population of {} is assumed, of which every class is as large a share as of the file.",
            count(n, "person", "people")
        ),
    };
    let mut parts = vec![
        Part::Table(table),
        text(format!("{} unique. {population}", count(risks.unique, "record is", "records are"))),
    ];
    parts.extend(matching.map(|matching| text(matching_text(matching))));
    Section { id: "risks", heading: "Re-identification risk", parts }
}

fn matching_text(matching: &Matching) -> String {
    if matching.overlapping_classes == 0 && matching.exact {
        return String::from("No cells overlap without being equal.");
    }
    if matching.overlapping_classes == 0 {
        return String::from(
            "There are too many different cells to look for those that overlap: the risks above are upper bounds.",
        );
    }
    let bound = if matching.exact { "" } else { " at most" };
    format!(
        "Cells overlap without being equal: {} in {} may be matched by other classes as well. For an adversary who knows the values of a \
         person and looks at all classes that cover them, the highest risk is{bound} {} ({} at least), the mean of the highest of each record{bound} {}.",
        count(matching.overlapping_records, "record", "records"),
        count(matching.overlapping_classes, "class", "classes"),
        decimal(matching.highest),
        count(matching.fewest_candidates, "candidate", "candidates"),
        decimal(matching.mean),
    )
}

fn worst(quasi: &[String], worst: &[WorstClass]) -> Section {
    let row = |class: &WorstClass| {
        let cells: Vec<String> = quasi.iter().zip(&class.cells).map(|(name, cell)| format!("{name}: {cell}")).collect();
        vec![
            number(class.first_record),
            number(class.records),
            class.distinct.map_or_else(|| String::from("-"), |n| number(n.into())),
            class.highest_share.map_or_else(|| String::from("-"), decimal),
            cells.join("; "),
        ]
    };
    let table = Table {
        caption: String::from("The smallest classes, of these the least diverse"),
        columns: vec![
            ("begins at record", Kind::Number),
            ("records", Kind::Number),
            ("sensitive values", Kind::Number),
            ("highest share", Kind::Number),
            ("cells", Kind::Sentence),
        ],
        rows: worst.iter().map(row).collect(),
    };
    Section { id: "worst", heading: "The worst classes", parts: vec![Part::Table(table)] }
}

fn original(compared: &Compared, records: u64) -> Section {
    let first = |of: &Disagreement| {
        let named: Vec<String> = of.first.iter().take(super::SHOWN).map(|&record| number(record)).collect();
        match (named.len(), of.records as usize > named.len()) {
            (0, _) => String::new(),
            (_, more) => format!(" (records {}{})", named.join(", "), if more { ", ..." } else { "" }),
        }
    };
    let mut lines = vec![format!("The original has {}.", count(compared.original_records, "record", "records"))];
    if let Some(of) = &compared.in_order {
        lines.push(format!(
            "Record by record in the order of the files, {} with the original{}.",
            count(of.records, "record disagrees", "records disagree"),
            first(of)
        ));
    }
    if let Some(of) = &compared.without_original {
        let told = count(of.records, "record of the file stands", "records of the file stand");
        lines.push(format!("{told} for no record of the original{}.", first(of)));
    }
    if let Some(n) = compared.without_release {
        lines.push(format!(
            "{} by no record of the file.",
            count(n, "record of the original is covered", "records of the original are covered")
        ));
    }
    if let Some(risk) = &compared.risk {
        lines.push(format!(
            "By the values that people have in the original, the highest re-identification risk is {} ({} at least), the mean {}; {} above the threshold.",
            decimal(risk.highest),
            count(risk.fewest_candidates, "candidate", "candidates"),
            decimal(risk.mean),
            count(risk.at_risk, "person is", "people are"),
        ));
    }
    let row = |column: &crate::audit::compared::ColumnKept| {
        let nothing = column.covers_nothing;
        vec![column.column.clone(), decimal(column.ncp), decimal(column.marginal_error), share(nothing, records)]
    };
    let mut rows: Vec<Vec<String>> = compared.quasi.iter().map(row).collect();
    let of_sensitive = |of: &crate::audit::compared::Marginal| {
        vec![of.column.clone(), String::from("-"), decimal(of.error), String::from("-")]
    };
    rows.extend(compared.sensitive.iter().map(of_sensitive));
    let parts = vec![
        text(lines.join(" ")),
        numbers(&["column", "NCP", "error of shares", "covers no value"], rows),
        text(format!(
            "GCP, the mean loss of a published cell, is {}; {} with missing records lost in full.",
            decimal(compared.gcp),
            decimal(compared.gcp_all)
        )),
    ];
    Section { id: "original", heading: "Against the original", parts }
}

fn dependencies(of: &Dependencies, names_values: bool) -> Section {
    match names_values {
        true => dependency::section(&of.found),
        false => {
            let parts = vec![text(rules_line(&of.found))];
            Section { id: "dependencies", heading: "Dependencies that survive", parts }
        }
    }
}

fn requirements(met: &[Met]) -> Section {
    let row = |met: &Met| {
        let limit = format!("at {} {}", if met.at_least { "least" } else { "most" }, decimal(met.limit));
        let found = met.found.map_or_else(|| String::from("none"), decimal);
        vec![met.key.clone(), met.meaning.clone(), limit, found, if met.met { KEPT } else { NOT_KEPT }.to_owned()]
    };
    let table = Table {
        caption: String::new(),
        columns: vec![
            ("required", Kind::Code),
            ("meaning", Kind::Sentence),
            ("limit", Kind::Words),
            ("found", Kind::Number),
            ("kept", Kind::Kept),
        ],
        rows: met.iter().map(row).collect(),
    };
    Section { id: "requirements", heading: "Requirements", parts: vec![Part::Table(table)] }
}

/// What the classes of a table keep, in short, whatever is promised.
pub(super) fn actual_parts(found: &TableAudit) -> Vec<Part> {
    let risks = &found.risks;
    let told = text(format!(
        "Counted in the data: k = {}. Re-identification risk by classes: prosecutor {} at most, {} on average; marketer {}; {} unique.",
        number(found.k),
        decimal(risks.prosecutor.highest),
        decimal(risks.prosecutor.mean),
        decimal(risks.marketer),
        count(risks.unique, "record is", "records are"),
    ));
    let row = |of: &SensitiveAudit| {
        let or_dash = |worst: Option<Worst>| worst.map_or_else(|| String::from("-"), |worst| decimal(worst.value));
        vec![
            of.column.clone(),
            decimal(of.distinct_l.value),
            decimal(of.entropy_l.value),
            decimal(of.t_equal.value),
            or_dash(of.t_ordered),
            or_dash(of.t_hierarchical),
            decimal(of.basic_beta.value),
            decimal(of.alpha.value),
        ]
    };
    let heads = ["sensitive", "l", "entropy l", "t equal", "t ordered", "t hierarchical", "beta", "highest share"];
    vec![told, numbers(&heads, found.sensitive.iter().map(row).collect())]
}
