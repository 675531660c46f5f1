//! What `measure` and `query` say.

use super::proved::noise_promise;
use super::{four, four_or_dash, numbers, text};
use crate::measure::{
    Deviation, Kept, Links, NoisyReport, OfLength, RecodedReport, RelativeError, Report, SplitReport, TableReport,
};
use crate::reconstruct::Estimate;
use crate::report::page::{Page, Part, count, number, share};
use crate::report::plot::{self, Point, Scale};
use crate::report::run::{AnyClaim, Known, Satisfied, Unit, Utility};

/// What is left of the original.
pub fn utility_page(utility: &Utility, claim: &AnyClaim) -> Page {
    let mut parts = Vec::new();
    match utility {
        Utility::Disassociated(report) => disassociated(&mut parts, report),
        Utility::Classes(report) => classes(&mut parts, report),
        Utility::Split(report) => split(&mut parts, report),
        Utility::Recoded(report) => recoded(&mut parts, report),
        Utility::Noisy(report) => noisy(&mut parts, report, claim),
    }
    Page::answer(parts, "")
}

/// Rows of a name, a value, and what it means.
fn explained(rows: Vec<(&str, String, String)>) -> Part {
    let width = rows.iter().map(|(_, value, _)| value.chars().count()).max().unwrap_or(0);
    let row =
        |(name, value, meaning): (&str, String, String)| (name.to_owned(), format!("{value:>width$}   {meaning}"));
    Part::Points(rows.into_iter().map(row).collect())
}

fn deviations(k: usize, rows: Vec<(&str, &Deviation)>) -> Vec<Part> {
    let row = |(name, d): (&str, &Deviation)| {
        vec![name.to_owned(), four(d.all), four(d.at_least_two_terms), four(d.generous)]
    };
    let top = text(format!("Of the {} most frequent itemsets, the share that is lost:", number(k as u64)));
    vec![top, numbers(&["", "all", "2+ terms", "ties"], rows.into_iter().map(row).collect())]
}

fn ranks(first: usize, terms: usize) -> String {
    format!("{first}-{}", first + terms)
}

fn disassociated(parts: &mut Vec<Part>, report: &Report) {
    parts.push(text(format!(
        "{}, {}, k = {}, m = {}",
        count(report.records, "record", "records"),
        count(report.terms as u64, "term", "terms"),
        report.k,
        report.m
    )));
    let top = &report.top_k;
    let mut rows =
        vec![("tKd, a reconstruction", &top.tkd), ("tKd-a, chunks alone", &top.tkd_a), ("tKd-e, expected", &top.tkd_e)];
    rows.extend(top.tkd_ml2.as_ref().map(|deviation| ("tKd-ML2", deviation)));
    parts.extend(deviations(top.k, rows));
    let of_length = |name: String, of: &OfLength| {
        vec![name, number(of.itemsets as u64), four(of.tkd), four(of.tkd_a), four(of.tkd_e)]
    };
    let rows = vec![
        of_length(format!("of at most {}", report.m), &top.up_to_m),
        of_length(format!("of more than {}", report.m), &top.above_m),
    ];
    parts.push(numbers(&["terms of an itemset", "itemsets", "tKd", "tKd-a", "tKd-e"], rows));
    let mean = |error: &RelativeError| four_or_dash(error.mean);
    let averaged = report.relative_error.first().map_or(0, |window| window.re_r.len());
    let row = |window: &crate::measure::Window| {
        let mut cells = vec![ranks(window.first, window.terms), mean(&window.re), mean(&window.re_a)];
        cells.extend(window.re_r.iter().map(|averaged| mean(&averaged.error)));
        cells.extend([mean(&window.re_e), mean(&window.re_u)]);
        cells
    };
    const AVERAGED: [&str; 6] = ["re-r2", "re-r5", "re-r10", "re-r20", "re-r50", "re-r100"];
    let mut heads = vec!["terms by rank", "re", "re-a"];
    heads.extend(&AVERAGED[..averaged.min(AVERAGED.len())]);
    heads.extend(["re-e", "re-u"]);
    parts.push(numbers(&heads, report.relative_error.iter().map(row).collect()));
    let lost = &report.terms_lost;
    let considered = count(lost.considered as u64, "term", "terms");
    let mut rows = vec![
        ("tlost", four(lost.tlost), format!("of {considered} in no chunk")),
        ("tlost-any", four(lost.tlost_any), String::from("in at least one term chunk")),
    ];
    if let Some(Kept { sets, links, worst, weighed_occurrences }) = &report.kept {
        if let (Some(links), Some(worst)) = (links, worst) {
            let of = count(*sets as u64, "set", "sets");
            rows.push(("links kept in sets", four(*links), format!("worst {worst:.4}, of {of}")));
        }
        rows.extend(weighed_occurrences.map(|share| ("weighted occurrences kept", four(share), String::new())));
    }
    let queries = &report.queries;
    let asked = count(queries.queries as u64, "itemset", "itemsets");
    rows.push(("query error", four(queries.mean), format!("median {:.4}, of {asked}", queries.median)));
    rows.push(("truth within the bounds", four(queries.within_bounds), String::new()));
    rows.push(("within two deviations", four(queries.within_two_deviations), String::new()));
    rows.extend(links(&report.links));
    parts.push(explained(rows));
}

fn links(links: &Links) -> Vec<(&'static str, String, String)> {
    let (pairs, triples) = (four_or_dash(links.pair_error), four_or_dash(links.triple_error));
    let drawn = count(links.drawn as u64, "pair", "pairs");
    vec![
        ("link error", pairs, format!("of {drawn} drawn by occurrence; triples {triples}")),
        ("association error", four_or_dash(links.association_error), String::from("of their mutual information")),
        ("narrow links", four_or_dash(links.narrow), String::from("with bounds narrower than a factor of two")),
        ("visible occurrences", four(links.visible), String::from("in chunks, with their counts")),
    ]
}

fn classes(parts: &mut Vec<Part>, report: &TableReport) {
    let sizes = &report.classes;
    let [quarter, half, most] = sizes.quartiles;
    parts.push(text(format!(
        "{} of {} in {}, {} suppressed\nclasses have {} to {} records; a quarter up to {quarter}, half up to {half}, three \
         quarters up to {most}",
        number(report.published as u64),
        count(report.rows as u64, "record", "records"),
        count(sizes.number as u64, "class", "classes"),
        number(report.removed as u64),
        sizes.least,
        sizes.most
    )));
    let queries = count(report.queries.queries as u64, "query", "queries");
    let p90 = four_or_dash(report.queries.p90);
    let of = |text: &str| text.to_owned();
    parts.push(explained(vec![
        ("GCP", four_or_dash(report.gcp), of("the mean information loss of a published cell")),
        ("GCP-all", four(report.gcp_all), of(GCP_ALL)),
        ("RGCP", four(report.rgcp), of("suppressed records counting as if in the class that suffers least")),
        ("RGCP'", four(report.rgcp_own), of("suppressed records counting as that class does")),
        ("C_avg", four_or_dash(report.average_class), of("the mean size of a class, in multiples of k")),
        ("DM", number(report.discernibility), of("discernibility")),
        (
            "counts",
            four_or_dash(report.queries.median),
            format!("the median relative error of {queries}; nine of ten are within {p90}"),
        ),
    ]));
    let columns = report.columns.iter().map(|column| vec![column.column.clone(), four(column.ncp)]);
    parts.push(numbers(&["column", "NCP"], columns.collect()));
}

/// RGCP can be below GCP, since a suppressed record may fit a class that lost little: this one cannot.
const GCP_ALL: &str =
    "the same over all records, a suppressed one counting as total loss: to compare methods and tools";

fn split(parts: &mut Vec<Part>, report: &SplitReport) {
    parts.push(text(format!(
        "{} of {} in {}, {} suppressed",
        number(report.published),
        count(report.rows, "record", "records"),
        count(report.groups, "group", "groups"),
        number(report.removed)
    )));
    let joint = &report.joint;
    let worst = joint.worst_group.map_or(String::from("-"), |group| format!("group {group}"));
    let suggest = "how far sensitive values together are from what their tables suggest (total variation), on average";
    let mut rows = vec![
        ("joint", four(joint.mean), suggest.to_owned()),
        ("", four(joint.worst), format!("the same in the worst group: {worst}")),
        (
            "",
            share((1000.0 * joint.exact_rows).round() as u64, 1000),
            String::from("of records are in groups where nothing is lost"),
        ),
    ];
    if let Some(quasi) = &report.quasi {
        rows.push(("GCP", four_or_dash(quasi.gcp), String::from("the mean information loss of a published cell")));
        rows.push(("GCP-all", four(quasi.gcp_all), String::from(GCP_ALL)));
    }
    parts.push(explained(rows));
    match &report.quasi {
        None => parts.push(text("Quasi-identifiers stand as they were: nothing of them is lost.")),
        Some(quasi) => {
            let columns = quasi.columns.iter().map(|column| vec![column.column.clone(), four(column.ncp)]);
            parts.push(numbers(&["column", "NCP"], columns.collect()));
        }
    }
}

fn recoded(parts: &mut Vec<Part>, report: &RecodedReport) {
    let m = report.m.map_or_else(|| String::from("privacy constraints"), |m| format!("m = {m}"));
    parts.push(text(format!(
        "{}, {}, k = {}, {m}",
        count(report.records, "record", "records"),
        count(report.terms as u64, "term", "terms"),
        report.k,
    )));
    let became = &report.became;
    let row = |name: &str, terms: usize, share: f64| vec![name.to_owned(), number(terms as u64), four(share)];
    let mut rows = vec![
        row("themselves", became.terms_kept, became.occurrences_kept),
        row("in groups", became.terms_generalized, became.occurrences_generalized),
        row("suppressed", became.terms_suppressed, became.occurrences_suppressed),
    ];
    rows.push(vec!["records that are empty".into(), number(became.empty_records), String::new()]);
    parts.push(numbers(&["what became of", "terms", "occurrences"], rows));
    let log2 = report.ul.log2_generalized.map_or(String::from("no groups"), |log2| format!("groups 2^{log2:.1}"));
    parts.push(explained(vec![
        ("NCP", four(report.ncp), format!("{:.4} with what is suppressed", report.ncp_all)),
        ("UL", four(report.ul.total), format!("{log2}, suppressed {:.4}", report.ul.suppressed)),
        ("tlost", four(became.tlost), String::from("not published as themselves, of those with k")),
    ]));
    let top = &report.top_k;
    let mut rows = vec![("tKd", &top.tkd)];
    rows.extend(top.tkd_ml2.as_ref().map(|deviation| ("tKd-ML2", deviation)));
    parts.extend(deviations(top.k, rows));
    let rows = report.relative_error.iter().map(|w| vec![ranks(w.first, w.terms), four_or_dash(w.re.mean)]);
    parts.push(numbers(&["terms by rank", "re"], rows.collect()));
    let queries = &report.queries;
    let asked = count(queries.queries as u64, "itemset", "itemsets");
    parts.push(explained(vec![
        ("query error", four(queries.mean), format!("median {:.4}, of {asked}", queries.median)),
        ("truth within the bounds", four(queries.within_bounds), String::new()),
    ]));
}

fn noisy(parts: &mut Vec<Part>, report: &NoisyReport, claim: &AnyClaim) {
    let described = match claim {
        AnyClaim::Noisy(claim) => format!("{}, {}", claim.method, noise_promise(claim)),
        _ => String::new(),
    };
    parts.push(text(format!(
        "{}, {}; {described}",
        count(report.records, "record", "records"),
        count(report.terms as u64, "term", "terms"),
    )));
    parts.push(explained(vec![
        ("missed", four(report.missed), format!("of the best {} itemsets", number(report.top as u64))),
        ("", four_or_dash(report.missed_larger), String::from("of those with 2+ terms")),
        (
            "error of supports",
            four_or_dash(report.support_error),
            String::from("relative, on average over those found"),
        ),
    ]));
    if let Some(tkd) = &report.tkd {
        parts.extend(deviations(report.top, vec![("tKd", tkd)]));
        let rows = report.relative_error.iter().map(|w| vec![ranks(w.first, w.terms), four_or_dash(w.re.mean)]);
        parts.push(numbers(&["terms by rank", "re"], rows.collect()));
    }
    parts.push(text("No promise covers these numbers."));
}

/// What [`utility_plots`] are called.
pub const UTILITY_PLOTS: [&str; 2] = ["support.svg", "loss.svg"];

/// Pictures of what is left: supports with their bounds, and occurrences without a count.
pub fn utility_plots(report: &Report) -> [String; 2] {
    let points: Vec<Point> = report.queries.asked.iter().map(Point::from).collect();
    let title = format!("Random itemsets of {} records (k = {}, m = {})", number(report.records), report.k, report.m);
    let scatter =
        plot::scatter(&title, "support in the original", "expected support, with bounds", &points, Scale::Log);
    let title = format!("Occurrences that the chunks do not show, of {} terms", number(report.terms as u64));
    let loss =
        plot::by_rank(&title, "terms by falling support", "share", &report.terms_lost.hidden_by_rank, Scale::Log);
    [scatter, loss]
}

/// The width that the itemset column grows to.
const WIDEST: usize = 48;

/// How many people have all terms of each itemset.
pub fn query_page(records: u64, itemsets: &[Known]) -> Page {
    if itemsets.is_empty() {
        return Page::answer(Vec::new(), "There is no such itemset.");
    }
    let row = |known: &Known| {
        let Estimate { lower, upper, expected, deviation } = known.estimate;
        vec![itemset(&known.terms), number(lower), tenths(expected), tenths(deviation), number(upper)]
    };
    let people = count(records, "person", "people");
    let parts = vec![
        text(format!("Of {people}, so many have all terms of the itemset:")),
        numbers(&["itemset", "lower", "expected", "+/-", "upper"], itemsets.iter().map(row).collect()),
    ];
    Page::answer(parts, "")
}

/// How many records of a table satisfy each predicate.
pub fn predicates_page(records: u64, unit: Unit, satisfied: &[Satisfied]) -> Page {
    let row = |of: &Satisfied| {
        let Estimate { lower, upper, expected, deviation } = of.estimate;
        vec![cut(of.predicate.clone()), number(lower), tenths(expected), tenths(deviation), number(upper)]
    };
    let all = match unit {
        Unit::People => count(records, "published person", "published people"),
        Unit::Records => count(records, "published record", "published records"),
    };
    let parts = vec![
        text(format!("Of {all}, so many satisfy the predicate:")),
        numbers(&["predicate", "lower", "expected", "+/-", "upper"], satisfied.iter().map(row).collect()),
        text(
            "lower and upper are certain. The expectation takes all values of a cell as equally likely, and all assignments inside a \
             group. Suppressed records are not counted: their number is not published.",
        ),
    ];
    Page::answer(parts, "")
}

/// An itemset as it is written in a query, cut where it is too long.
fn itemset(terms: &[String]) -> String {
    let quoted = |term: &String| match term.contains(',') || term.starts_with('"') || term.trim() != term.as_str() {
        true => format!("\"{}\"", term.replace('"', "\"\"")),
        false => term.clone(),
    };
    cut(terms.iter().map(quoted).collect::<Vec<_>>().join(", "))
}

fn cut(written: String) -> String {
    match written.chars().count() > WIDEST {
        true => written.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => written,
    }
}

/// A number that is not negative, with one decimal.
fn tenths(x: f64) -> String {
    let tenths = (10.0 * x).round() as u64;
    format!("{}.{}", number(tenths / 10), tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn itemsets_are_shown_as_they_are_written() {
        let show = |terms: &[&str]| itemset(&terms.iter().map(|&term| term.into()).collect::<Vec<_>>());
        assert_eq!(show(&["a, b", "c"]), "\"a, b\", c");
        assert_eq!(show(&[&"x".repeat(48)]), "x".repeat(48));
        assert_eq!(show(&[&"ä".repeat(49)]), "ä".repeat(47) + "…");
    }

    #[test]
    fn decimals_are_rounded_and_grouped() {
        assert_eq!([0.0, 0.04, 0.05, 9.96, 1234.56].map(tenths), ["0.0", "0.0", "0.1", "10.0", "1,234.6"]);
    }
}
