//! Break-Merge on Adult: what hiding rules costs instead, which dependencies are left, how likely values are guessed.

use disjoin::Result;
use disjoin::attack::dependency::Options as Search;
use disjoin::attack::knowledge_breach;
use disjoin::attack::network_breach::{network_breach, of_release, outside};
use disjoin::attack::surviving::{Of, Published, Surviving, surviving};
use disjoin::data::Partition;
use disjoin::data::table::{Role, Table as Rows};
use disjoin::measure::joint_loss;
use disjoin::protect::anatomy::{anatomize, anatomy};
use disjoin::protect::association_hiding::hide;
use disjoin::protect::break_merge::break_merge;
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, read_table};
use disjoin::reconstruct::deal;
use disjoin::release::generalized::{Associations, DATA, Generalized, TableClaim};
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::{Split, SplitClaim, SplitTables};
use disjoin::verify::{SplitBytes, parse_split, parse_table};

use super::NINE;
use crate::estimate::{Estimate, most, spread};
use crate::judge::Limit::{AtLeast, AtMost, LessThan, MoreThan};
use crate::judge::{Claim, check, claim};
use crate::page::{Page, Table};
use crate::papers::Given;

const K: [f64; 4] = [5.0, 10.0, 20.0, 50.0];

/// Every group has so many values of every sensitive column.
const L: u32 = 2;

fn adult(given: &Given) -> Result<Rows> {
    let quasi = ["sex", "age", "race", "marital-status", "education", "native-country"];
    let sensitive = ["workclass", "occupation", "salary-class"];
    let roles =
        quasi.iter().map(|name| (name, Role::Quasi)).chain(sensitive.iter().map(|name| (name, Role::Sensitive)));
    let roles = roles.map(|(name, role)| (name.to_string(), role)).collect();
    let declared = Declared { roles, ..Declared::default() };
    Ok(read_table(&given.file(NINE), &Options::default(), &declared)?.0)
}

pub(super) fn criteria(k: f64) -> Vec<Criterion> {
    vec![Criterion::KAnonymity { k: k as u32 }, Criterion::DistinctDiversity { l: L }]
}

fn classes(rows: &Rows, k: f64) -> Result<Partition> {
    let params = Params { method: Method::LeastLoss, criteria: criteria(k), most_removed: 0.1, seed: 1 };
    anonymize(rows, &params, None)
}

/// What readers see of a split table.
pub(super) fn read(split: &Split<'_>, k: f64) -> Result<SplitTables> {
    let claim = SplitClaim::new(split, "break-merge", &criteria(k));
    parse_split(&claim, "", &bytes_of(split)?)
}

/// The files of a split table, as they are written.
pub(super) fn bytes_of(split: &Split<'_>) -> Result<SplitBytes> {
    let internal = |_| disjoin::Error::Internal("writing to memory does not fail");
    let mut bytes = SplitBytes::default();
    split.write_quasi(&mut bytes.quasi).map_err(internal)?;
    for column in split.table().sensitive() {
        let mut text = Vec::new();
        split.write_sensitive(column, &mut text).map_err(internal)?;
        bytes.sensitive.push(text);
    }
    Ok(bytes)
}

/// What readers see of a table in classes.
fn read_classes(rows: &Rows, partition: &Partition, k: f64) -> Result<Rows> {
    let claim = TableClaim::new(rows, partition, "least-loss", &criteria(k));
    let mut text = Vec::new();
    Generalized::new(rows, partition)
        .write(&mut text)
        .map_err(|_| disjoin::Error::Internal("writing to memory does not fail"))?;
    parse_table(&claim, DATA, &text)
}

fn look(table: &Rows, are_rows: bool) -> Result<Surviving> {
    surviving(&Published::new(table, are_rows)?, &Search::default())
}

/// Figure 7: what hiding rules costs the sensitive columns, by the confidence from which on rules are hidden.
pub(super) fn hiding(given: &Given) -> Result<Page> {
    let rows = adult(given)?;
    let partition = classes(&rows, 10.0)?;
    let confidences = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
    let mut losses: Vec<Vec<f64>> = vec![Vec::new(); 3];
    let names: Vec<String> = rows.sensitive().iter().map(|column| column.name.clone()).collect();
    for confidence in confidences {
        let hidden = hide(&rows, &partition, &Associations { confidence, support: 10 })?;
        hidden.loss.columns.iter().zip(&mut losses).for_each(|((_, loss), all)| all.push(*loss));
    }
    let mut table = Table::at("confidence", &confidences);
    for (name, losses) in names.iter().zip(losses) {
        table = table.column(format!("hiding, {name}"), losses);
    }
    let split = read(&break_merge(&rows, &partition)?, 10.0)?;
    for name in &names {
        // It hides nothing, so that it is the same at any confidence.
        let lost = lost_by_splitting(&rows, &partition, &split, name);
        table = table.column(format!("Break-Merge, {name}"), confidences.iter().map(|_| lost).collect());
    }
    let drawn: Vec<String> = ["hiding", "Break-Merge"]
        .iter()
        .flat_map(|who| names.iter().map(move |name| format!("{who}, {name}")))
        .collect();
    let drawn: Vec<&str> = drawn.iter().map(String::as_str).collect();
    let svg = table.lines("Loss of sensitive columns", "share of levels climbed", &drawn);
    let data = "Adult, least-loss classes of 10 and 2 values of each sensitive column. Rules from quasi-identifiers with a support of 10; no \
                hierarchies, so that one step leads to `*`. Of Break-Merge: the share of published people whose value its tables no longer have, \
                counted in what readers see. What it loses beside that is on the page *breach*: which values belong together.";
    let claims = claims_7(&table, &names);
    Ok(Page { title: "association hiding and Break-Merge", data: data.into(), table, svg, claims })
}

fn claims_7(table: &Table, names: &[String]) -> Vec<Claim> {
    vec![
        claim(
            "Break-Merge loses nothing of a sensitive column by itself, association hiding does",
            "0 against a high level",
        )
        .cases(names, |name| {
            let [hiding, splitting] = ["hiding", "Break-Merge"].map(|who| table.get(&format!("{who}, {name}")));
            let checks = vec![
                check("most that Break-Merge loses", Estimate::exact(most(&splitting)), AtMost(0.0)),
                check("most that hiding loses", Estimate::exact(most(&hiding)), AtLeast(0.05)),
            ];
            (name.clone(), checks)
        }),
        claim("above 50 % values are generalised to a high level, and stay there", "-").cases(names, |name| {
            let hiding = table.of(&format!("hiding, {name}"));
            let above = hiding.get(3..).unwrap_or(&[]);
            let first = above.first().copied().unwrap_or_else(Estimate::missing);
            let checks = vec![
                check("loss at a confidence of 0.6", first, AtLeast(0.5)),
                check("from least to greatest loss from there on", spread(above), LessThan(0.01)),
            ];
            (name.clone(), checks)
        }),
    ]
}

/// The share of published rows whose value of a sensitive column is not in the published tables as often as in the rows.
fn lost_by_splitting(rows: &Rows, partition: &Partition, split: &SplitTables, name: &str) -> f64 {
    let (Some(column), Some(values)) = (
        rows.columns.iter().find(|column| column.name == name),
        split.sensitive.iter().find(|values| values.column == name),
    ) else {
        return f64::NAN;
    };
    let mut had = vec![0_i64; column.domain.n_codes()];
    partition.classes().flatten().for_each(|&row| had[column.codes[row as usize] as usize] += 1);
    let n: i64 = had.iter().sum();
    for line in &values.counts {
        if let Some(code) = column.domain.texts().get(values.domain.texts().text(line.code)) {
            had[code as usize] -= i64::from(line.count);
        }
    }
    had.iter().filter(|left| **left > 0).sum::<i64>() as f64 / n as f64
}

/// How many risks lead from one sensitive column to another, and the highest lift of a dependency between them.
fn between(found: &Surviving) -> [f64; 3] {
    let Some(network) = found.networks.iter().find(|network| network.of == Of::Sensitive) else { return [f64::NAN; 3] };
    let risks = network.dependencies.iter().filter(|found| found.is_risk).count() as f64;
    let bits = network.arrows.iter().map(|arrow| arrow.bits).sum();
    [network.dependencies.len() as f64, risks, bits]
}

/// So many of the ways to put a split table together again are looked at.
const DEALS: u64 = 5;

/// Dependencies between sensitive columns before and after.
pub(super) fn dependencies(given: &Given) -> Result<Page> {
    let rows = adult(given)?;
    let mut columns: [[Vec<Estimate>; 4]; 2] = Default::default();
    for k in K {
        let partition = classes(&rows, k)?;
        let before = look(&read_classes(&rows, &partition, k)?, true)?;
        let split = read(&break_merge(&rows, &partition)?, k)?;
        let after = (0..DEALS).map(|seed| look(&deal(&split, seed)?, false)).collect::<Result<Vec<_>>>()?;
        let numbers = |found: &Surviving| {
            let [dependencies, risks, bits] = between(found);
            [dependencies, risks, bits, found.risks as f64]
        };
        let after: Vec<[f64; 4]> = after.iter().map(numbers).collect();
        for (at, value) in numbers(&before).into_iter().enumerate() {
            columns[0][at].push(Estimate::exact(value));
            columns[1][at].push(Estimate::mean(&after.iter().map(|found| found[at]).collect::<Vec<_>>()));
        }
    }
    let mut table = Table::at("k", &K);
    let [before, after] = columns;
    for ((what, before), after) in NUMBERS.into_iter().zip(before).zip(after) {
        table = table.measured(format!("{what}, table"), before).measured(format!("{what}, split"), after);
    }
    let svg = table.lines(
        "What sensitive columns tell of each other",
        "bits",
        &["bits of arrows, table", "bits of arrows, split"],
    );
    let data = format!(
        "Adult. Dependencies that are more than chance (level 0.05 for all three networks together), alpha 0.5. The table in classes, and \
         {DEALS} of the ways to put the split table of the same classes together again, drawn by lot: means of what is found in them."
    );
    let claims = claims_of_dependencies(&table);
    Ok(Page { title: "dependencies before and after Break-Merge", data, table, svg, claims })
}

const NUMBERS: [&str; 4] = ["dependencies", "risks", "bits of arrows", "risks with quasi"];

fn claims_of_dependencies(table: &Table) -> Vec<Claim> {
    let left = |said: &'static str, what: &'static str, limit: f64| {
        claim(said, "-").cases(0..K.len(), |at| {
            let share = table.cell(at, &format!("{what}, split")).over(table.cell(at, &format!("{what}, table")));
            (format!("k = {}", K[at]), vec![check(format!("{what} after over before"), share, AtMost(limit))])
        })
    };
    vec![
        left("Break-Merge reduces the inferences between sensitive columns", "risks", 0.75),
        left(
            "an adversary cannot infer the association between quasi-identifiers and sensitive attributes",
            "risks with quasi",
            0.5,
        ),
        left("(ours) what arrows between sensitive columns tell falls", "bits of arrows", 0.75),
    ]
}

/// How likely values are guessed from groups of k by what the paper defines, by networks, and for certain; and what is lost of joint
/// distributions, by Break-Merge and by Anatomy.
fn breach_at(rows: &Rows, k: f64) -> Result<[f64; 7]> {
    let partition = classes(rows, k)?;
    let tables = read(&break_merge(rows, &partition)?, k)?;
    let alone = knowledge_breach(&tables, None)?;
    let own = network_breach(&tables, &of_release(&tables, 0)?, None)?;
    let other = network_breach(&tables, &outside(&tables, rows, "adult")?, None)?;
    // Anatomy refuses a table in which one value has more than one in l of the rows.
    let anatomized = match anatomize(rows, L, &criteria(k), 1) {
        Ok(groups) => joint_loss(rows, &anatomy(rows, &groups)?.partition()).mean,
        Err(disjoin::Error::Infeasible { .. }) => f64::NAN,
        Err(error) => return Err(error),
    };
    let mean =
        |breach: Option<disjoin::attack::knowledge_breach::Breach>| breach.map_or(f64::NAN, |breach| breach.mean);
    Ok([
        alone.group_known.mean,
        mean(alone.value_known),
        mean(own.value_known),
        mean(other.value_known),
        alone.certain as f64,
        joint_loss(rows, &partition).mean,
        anatomized,
    ])
}

/// How likely values are guessed, and what is lost of joint distributions.
pub(super) fn breach(given: &Given) -> Result<Page> {
    let rows = adult(given)?;
    let mut columns: [Vec<f64>; 7] = Default::default();
    for k in K {
        let values = breach_at(&rows, k)?;
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let names = [
        "KBP, group known",
        "KBP, a value known, too",
        "the same, network of the release",
        "the same, network of all rows",
        "certain values",
        "joint loss, Break-Merge",
        "joint loss, Anatomy",
    ];
    let table = names.iter().zip(columns).fold(Table::at("k", &K), |table, (name, column)| table.column(*name, column));
    let more = |said: &'static str, theirs: &'static str, one: &'static str, other: &'static str, limit| {
        claim(said, theirs).cases(0..K.len(), |at| {
            let difference = table.cell(at, one).less(table.cell(at, other));
            (format!("k = {}", K[at]), vec![check(format!("{one}, less {other}"), difference, limit)])
        })
    };
    let claims = vec![
        more(
            "knowing a value as well makes the others likelier to be guessed (Corollary)",
            "at least Definition 3",
            names[1],
            names[0],
            AtLeast(0.0),
        ),
        more(
            "(ours) who knows how values go together guesses better than the definitions say",
            "-",
            names[3],
            names[1],
            AtLeast(0.01),
        ),
        claim("(ours) Break-Merge gives up joint distributions", "-").cases(0..K.len(), |at| {
            let what = "distance of the joint values of a group from what its tables suggest";
            (format!("k = {}", K[at]), vec![check(what, table.cell(at, names[5]), MoreThan(0.1))])
        }),
    ];
    let svg = table.lines("How likely all other values are guessed", "mean probability", &names[1..4]);
    let data = "Adult. KBP is the paper's knowledge breach probability, on average over people. A network of all rows stands for the best that an \
                adversary could know from elsewhere. Anatomy has no release of \
                it: three of four people have the same salary class, and its groups need two values in equal shares.";
    Ok(Page { title: "knowledge breach and joint loss", data: data.into(), table, svg, claims })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn false_data_make_claims_differ() {
        let names = ["work".to_owned(), "salary".to_owned()];
        let table = |hiding: f64, splitting: f64| {
            names.iter().fold(Table::at("confidence", &[0.3, 0.4, 0.5, 0.6, 0.7]), |table, name| {
                let falling = (1..=5).map(|at| hiding / f64::from(at)).collect();
                table
                    .column(format!("hiding, {name}"), falling)
                    .column(format!("Break-Merge, {name}"), vec![splitting; 5])
            })
        };
        // Break-Merge loses something; hiding loses nothing, and less where less is hidden.
        assert_eq!(claims_7(&table(0.9, 0.2), &names)[0].verdict(), Verdict::Differs);
        assert_eq!(claims_7(&table(0.0, 0.0), &names)[0].verdict(), Verdict::Differs);
        assert_eq!(claims_7(&table(0.9, 0.0), &names)[0].verdict(), Verdict::Reproduced);
        assert_eq!(claims_7(&table(0.9, 0.0), &names)[1].verdict(), Verdict::Differs);
        // Nothing is hidden by splitting.
        let same = NUMBERS.iter().fold(Table::at("k", &K), |table, what| {
            table.column(format!("{what}, table"), vec![18.0; 4]).column(format!("{what}, split"), vec![18.0; 4])
        });
        assert!(claims_of_dependencies(&same).iter().all(|claim| claim.verdict() == Verdict::Differs));
    }
}
