//! The section about utility: what the release is still good for, in sentences, tables and pictures. For the inside only.

use super::Story;
use crate::measure::{Deviation, Kept, OfLength, Report, Window};
use crate::report::page::{Figure, Kind, Part, Section, Table, count, decimal, decimal_or_dash, number, percent};
use crate::report::plot::{self, Point, Scale};

/// What the last release is good for, by what was counted in the original.
pub(in crate::report) fn utility(story: &Story<'_>) -> Section {
    let report = &story.utility;
    let mut parts = vec![Part::Text(String::from(
        "Protection costs. These numbers compare what an analyst would find in the release with what is in the original.",
    ))];
    parts.extend(frequent_sets(report));
    parts.extend(pairs(report));
    parts.extend(links(report));
    parts.extend(terms(report));
    parts.extend(report.kept.iter().flat_map(kept));
    parts.extend(queries(report));
    Section { id: "utility", heading: "What the release is still good for", parts }
}

fn frequent_sets(report: &Report) -> Vec<Part> {
    let top = &report.top_k;
    let lost = top.tkd_e.all;
    let sentence = format!(
        "Of the {} most frequent sets of terms, {} still are the most frequent ones by expected counts; {} are not \
         (tKd-e {}).",
        number(top.k as u64),
        percent(1.0 - lost),
        percent(lost),
        decimal(lost),
    );
    let row = |name: &str, of: &Deviation| {
        vec![name.to_owned(), decimal(of.all), decimal(of.at_least_two_terms), decimal(of.generous)]
    };
    let mut rows = vec![
        row("by expected counts (tKd-e)", &top.tkd_e),
        row("by one reconstruction (tKd)", &top.tkd),
        row("by the parts alone (tKd-a)", &top.tkd_a),
    ];
    rows.extend(top.tkd_ml2.iter().map(|of| row("with a taxonomy (tKd-ML2)", of)));
    let table = Table {
        caption: format!("Share of the {} most frequent sets that is lost, from 0 to 1", number(top.k as u64)),
        columns: vec![
            ("Counted", Kind::Words),
            ("All sets", Kind::Number),
            ("Two terms or more", Kind::Number),
            ("Ties in favour", Kind::Number),
        ],
        rows,
    };
    let row = |name: String, of: &OfLength| {
        vec![name, number(of.itemsets as u64), decimal(of.tkd_e), decimal(of.tkd), decimal(of.tkd_a)]
    };
    let by_length = Table {
        caption: format!("The same by length: the promise speaks of sets of at most {} terms", report.m),
        columns: vec![
            ("Sets", Kind::Words),
            ("Of the most frequent", Kind::Number),
            ("Lost by expected counts", Kind::Number),
            ("By one reconstruction", Kind::Number),
            ("By the parts alone", Kind::Number),
        ],
        rows: vec![
            row(format!("at most {} terms", report.m), &top.up_to_m),
            row(format!("more than {} terms", report.m), &top.above_m),
        ],
    };
    let heading = Part::Heading("Frequent sets of terms".into());
    vec![heading, Part::Text(sentence), Part::Table(table), Part::Table(by_length)]
}

/// The ranks of a window, from 1.
fn ranks(window: &Window) -> String {
    format!("{} to {}", window.first + 1, window.first + window.terms)
}

fn pairs(report: &Report) -> Vec<Part> {
    let windows = &report.relative_error;
    let first = windows.first().and_then(|window| Some((window, window.re_e.mean?)));
    let mut parts = vec![Part::Heading("Pairs of terms".into())];
    parts.push(Part::Text(match first {
        None => String::from("There are no pairs of terms to compare."),
        Some((window, error)) => format!(
            "How often two of the {} most frequent terms go together is off by {} on average (re-e): 0 is exact, and 2 \
             means that a pair is lost, or occurs in the release only.",
            number(window.terms as u64),
            decimal(error),
        ),
    }));
    if windows.is_empty() {
        return parts;
    }
    let row = |window: &Window| {
        let error = |of: &crate::measure::RelativeError| decimal_or_dash(of.mean);
        vec![
            ranks(window),
            error(&window.re_e),
            decimal_or_dash(window.re_e.existing),
            error(&window.re),
            error(&window.re_a),
            number(window.re_e.skipped as u64),
        ]
    };
    parts.push(Part::Table(Table {
        caption: String::from("Relative error of the counts of pairs, from 0 to 2, by the rank of their terms"),
        columns: vec![
            ("Terms by rank", Kind::Words),
            ("Expected (re-e)", Kind::Number),
            ("Of pairs that exist", Kind::Number),
            ("One reconstruction (re)", Kind::Number),
            ("Parts alone (re-a)", Kind::Number),
            ("Pairs nobody has", Kind::Number),
        ],
        rows: windows.iter().map(row).collect(),
    }));
    let names: Vec<String> = windows.iter().map(ranks).collect();
    // What is not known is not drawn.
    let bars = windows.iter().map(|window| window.re_e.mean.unwrap_or(f64::NAN)).collect();
    let title = "Relative error of pairs (re-e), by the rank of their terms";
    let values = windows.iter().map(|window| format!("{}: {}", ranks(window), decimal_or_dash(window.re_e.mean)));
    parts.push(Part::Figure(Figure {
        svg: plot::bars(title, "re-e", &names, &[(String::from("re-e"), bars)]),
        caption: String::from("Lower is better. The rarer the terms of a window, the fewer people their pairs have."),
        description: format!("Bars, one for each window of ranks. {}.", values.collect::<Vec<_>>().join("; ")),
    }));
    parts
}

fn links(report: &Report) -> Vec<Part> {
    let links = &report.links;
    let mut parts = vec![Part::Heading("Links between terms".into())];
    let (Some(pairs), Some(narrow)) = (links.pair_error, links.narrow) else {
        parts.push(Part::Text(String::from("There are no links between terms to compare.")));
        return parts;
    };
    parts.push(Part::Text(format!(
        "{} were drawn as people have them, frequent or not. How many people have one is off by {} on average: 0 is exact, and 2 \
         means that it is lost. For {} of them the bounds of the release are narrower than a factor of two.",
        count(links.drawn as u64, "pair of terms", "pairs of terms"),
        decimal(pairs),
        percent(narrow),
    )));
    let row = |name: &str, value: String, meaning: &str| vec![name.to_owned(), value, meaning.to_owned()];
    parts.push(Part::Table(Table {
        caption: String::from("What is left of links"),
        columns: vec![("Measure", Kind::Words), ("Value", Kind::Number), ("Meaning", Kind::Words)],
        rows: vec![
            row("Link error", decimal(pairs), "relative error of expected counts of pairs, from 0 to 2"),
            row("Of triples", decimal_or_dash(links.triple_error), "the same for three terms"),
            row(
                "Association error",
                decimal_or_dash(links.association_error),
                "error of the mutual information of pairs; 1 if terms look independent",
            ),
            row("Narrow links", decimal(narrow), "share of pairs with bounds narrower than a factor of two"),
            row("Visible occurrences", decimal(links.visible), "share of occurrences that the parts show"),
        ],
    }));
    parts
}

fn terms(report: &Report) -> Vec<Part> {
    let lost = &report.terms_lost;
    let sentence = format!(
        "Of {} that at least {} people have, {} stand in no part that shows how often they occur (tlost {}); {} are \
         without a count in at least one group.",
        count(lost.considered as u64, "term", "terms"),
        number(u64::from(report.k)),
        percent(lost.tlost),
        decimal(lost.tlost),
        percent(lost.tlost_any),
    );
    let hidden = &lost.hidden_by_rank;
    let mean = if hidden.is_empty() { 0.0 } else { hidden.iter().sum::<f64>() / hidden.len() as f64 };
    let none = hidden.iter().filter(|&&share| share == 0.0).count() as u64;
    let title = format!("Occurrences that the parts do not show, of {}", count(hidden.len() as u64, "term", "terms"));
    let figure = Figure {
        svg: plot::by_rank(&title, "terms by falling frequency", "share not shown", hidden, Scale::Log),
        caption: String::from(
            "Each dot is a term, the most frequent on the left: 0 means that the parts show every occurrence, 1 none.",
        ),
        description: format!(
            "A cloud of {}, by falling frequency. {} lose no occurrence; on average {} of a term's occurrences are not \
             shown.",
            count(hidden.len() as u64, "dot", "dots"),
            number(none),
            percent(mean)
        ),
    };
    vec![Part::Heading("Single terms".into()), Part::Text(sentence), Part::Figure(figure)]
}

fn kept(kept: &Kept) -> Vec<Part> {
    let mut sentences = Vec::new();
    if let (Some(links), Some(worst)) = (kept.links, kept.worst) {
        sentences.push(format!(
            "Of the links between terms of the same utility set, the parts show {} on average over {}, and {} of the set \
             that lost most.",
            percent(links),
            count(kept.sets as u64, "set", "sets"),
            percent(worst),
        ));
    }
    sentences.extend(kept.weighed_occurrences.map(|share| {
        format!("Of all occurrences, counted by the weights of their terms, the parts show {}.", percent(share))
    }));
    vec![Part::Heading("What matters most".into()), Part::Text(sentences.join(" "))]
}

fn queries(report: &Report) -> Vec<Part> {
    let queries = &report.queries;
    let mut parts = vec![Part::Heading("Random questions".into())];
    if queries.queries == 0 {
        parts.push(Part::Text(String::from("No random questions were asked.")));
        return parts;
    }
    let defect = if queries.within_bounds < 1.0 { " Anything but 100 % is a defect of the program." } else { "" };
    parts.push(Part::Text(format!(
        "How many people have all terms of a set? {} were asked. Half of the answers are off by {} or less (the mean \
         is {}). The truth was within the bounds that the release gives for {} of them, and within two deviations of \
         the expectation for {}.{defect}",
        count(queries.queries as u64, "random set", "random sets"),
        percent(queries.median),
        percent(queries.mean),
        percent(queries.within_bounds),
        percent(queries.within_two_deviations),
    )));
    let points: Vec<Point> = queries.asked.iter().map(Point::from).collect();
    let title = format!("Random sets of terms: the release against {}", count(report.records, "record", "records"));
    let (x, y) = ("people in the original", "people by the release, with bounds");
    parts.push(Part::Figure(Figure {
        svg: plot::scatter(&title, x, y, &points, Scale::Log),
        caption: String::from(
            "Each dot is a set of terms. On the dashed line the release is right; the thin bars are the bounds that \
             hold whatever the original was.",
        ),
        description: format!(
            "A cloud of {} with bars for their bounds, and a dashed line where the release agrees with the original. \
             The median error is {}; the bounds held for {}.",
            count(points.len() as u64, "dot", "dots"),
            percent(queries.median),
            percent(queries.within_bounds),
        ),
    }));
    parts
}
