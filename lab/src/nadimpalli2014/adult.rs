//! Break-Merge on Adult: what hiding rules costs instead, which dependencies are left, how likely values are guessed.

use std::path::Path;

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
use disjoin::protect::break_merge::{break_merge, identical_rows};
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, read_table};
use disjoin::reconstruct::deal;
use disjoin::release::generalized::{Associations, DATA, Generalized, TableClaim};
use disjoin::release::privacy_models::Criterion;
use disjoin::release::split::{Split, SplitClaim, SplitTables};
use disjoin::verify::{SplitBytes, parse_split, parse_table};

use crate::judge::{claim, most};
use crate::page::{Page, Table, number};

const K: [f64; 4] = [5.0, 10.0, 20.0, 50.0];

/// Every group has so many values of every sensitive column.
const L: u32 = 2;

fn adult(folder: &Path) -> Result<Rows> {
    let quasi = ["sex", "age", "race", "marital-status", "education", "native-country"];
    let sensitive = ["workclass", "occupation", "salary-class"];
    let roles =
        quasi.iter().map(|name| (name, Role::Quasi)).chain(sensitive.iter().map(|name| (name, Role::Sensitive)));
    let roles = roles.map(|(name, role)| (name.to_string(), role)).collect();
    let declared = Declared { roles, ..Declared::default() };
    Ok(read_table(&folder.join("adult9_disc.csv"), &Options::default(), &declared)?.0)
}

fn criteria(k: f64) -> Vec<Criterion> {
    vec![Criterion::KAnonymity { k: k as u32 }, Criterion::DistinctDiversity { l: L }]
}

fn classes(rows: &Rows, k: f64) -> Result<Partition> {
    let params = Params { method: Method::LeastLoss, criteria: criteria(k), most_removed: 0.1, seed: 1 };
    anonymize(rows, &params, None)
}

/// What readers see of a split table.
fn read(split: &Split<'_>, k: f64) -> Result<SplitTables> {
    let claim = SplitClaim::new(split, "break-merge", &criteria(k));
    parse_split(&claim, "", &bytes_of(split)?)
}

/// The files of a split table, as they are written.
fn bytes_of(split: &Split<'_>) -> Result<SplitBytes> {
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
pub(super) fn hiding(folder: &Path) -> Result<Page> {
    let rows = adult(folder)?;
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
    let table = table.column("Break-Merge, every column", vec![0.0; confidences.len()]);
    let drawn: Vec<String> =
        names.iter().map(|name| format!("hiding, {name}")).chain(["Break-Merge, every column".into()]).collect();
    let drawn: Vec<&str> = drawn.iter().map(String::as_str).collect();
    let svg = table.lines("Loss of sensitive columns", "share of levels climbed", &drawn);
    let lost: Vec<f64> = drawn[..3].iter().map(|name| most(table.get(name))).collect();
    let flat = drawn[..3].iter().all(|name| {
        let of = table.get(name);
        let above = &of[3..];
        above.iter().all(|loss| (loss - above[0]).abs() < 0.01)
    });
    let highs: Vec<String> = drawn[..3]
        .iter()
        .map(|name| table.get(name).iter().map(|&loss| number(loss)).collect::<Vec<_>>().join(", "))
        .collect();
    let claims = vec![
        claim("Break-Merge loses nothing of a sensitive column by itself, association hiding does", "0 against a high level")
            .judged("0 against a loss above 0 at some confidence, in every column", format!("highest {}", lost.iter().map(|&l| number(l)).collect::<Vec<_>>().join(", ")), lost.iter().all(|&loss| loss > 0.0)),
        claim("above 50 % values are generalised to a high level, and stay there", "-")
            .judged("the loss from 0.6 on differs by less than 0.01", highs.join("; "), flat)
            .because("the fewer rules reach the confidence, the less is generalised; \"probability of the attacker\" may mean something else"),
    ];
    let data = "Adult, least-loss classes of 10 and 2 values of each sensitive column. Rules from quasi-identifiers with a support of 10; no \
                hierarchies, so that one step leads to `*`. What Break-Merge loses is on the page *breach*: which values belong together.";
    Ok(Page { title: "association hiding and Break-Merge", data: data.into(), table, svg, claims })
}

/// Figure 8: how long it takes to split a table, by its number of rows; Adult with all its columns, again and again.
pub(super) fn time(folder: &Path) -> Result<Page> {
    /// So often, and the shortest counts.
    const TIMES: usize = 5;
    let sensitive = ["workclass", "marital-status", "class"];
    let quasi = ["age", "sex", "race"];
    let role = |name: &&str, role| (name.to_string(), role);
    let roles = quasi.iter().map(|name| role(name, Role::Quasi));
    let roles = roles.chain(sensitive.iter().map(|name| role(name, Role::Sensitive))).collect();
    let declared = Declared { roles, rest: Some(Role::Identifier), ..Declared::default() };
    let adult = read_table(&folder.join("adult14_disc.csv"), &Options::default(), &declared)?.0;
    let sizes = [20_000.0, 40_000.0, 60_000.0, 80_000.0, 100_000.0];
    let (mut seconds, mut groups) = (Vec::new(), Vec::new());
    for size in sizes {
        let rows = repeated(&adult, size as usize);
        let params = Params { method: Method::LeastLoss, criteria: criteria(5.0), most_removed: 0.5, seed: 1 };
        let mut shortest = f64::INFINITY;
        let mut found = 0;
        for _ in 0..TIMES {
            let start = std::time::Instant::now();
            let classes = identical_rows(&rows, &params)?;
            let split = break_merge(&rows, &classes)?;
            bytes_of(&split)?;
            shortest = shortest.min(start.elapsed().as_secs_f64());
            found = classes.len();
        }
        seconds.push(shortest);
        groups.push(found as f64);
    }
    let table = Table::at("rows", &sizes)
        .column("seconds", seconds.iter().map(|s| (s * 1000.0).round() / 1000.0).collect())
        .column("groups", groups);
    let svg = table.lines("Time to split", "seconds", &["seconds"]);
    let last = seconds[seconds.len() - 1];
    let claims = vec![
        claim("breaking 100,000 rows takes less than 5 seconds", "below 5 s")
            .judged("below 5 s, on another machine", format!("{last:.3} s"), last < 5.0)
            .because("the machine was busy, or something became slow"),
    ];
    let data = "Adult with all 14 columns (adult14_disc.csv), repeated up to the number of rows: age, sex and race are quasi-identifiers as they \
                stand, work class, marital status and salary class are sensitive, the others are left out; there is no zip code in it. Rows that \
                show the same are a group, of 5 at least and with 2 values of each sensitive column. Grouping, splitting and writing to memory, \
                best of five; reading is not counted.";
    Ok(Page { title: "time to split a table", data: data.into(), table, svg, claims })
}

/// The rows of a table again and again, up to a number.
fn repeated(rows: &Rows, n: usize) -> Rows {
    let mut columns = rows.columns.clone();
    for column in &mut columns {
        let codes = (0..n).map(|row| column.codes[row % column.codes.len()]).collect();
        column.codes = codes;
    }
    Rows::new(n, columns, None)
}

/// How many risks lead from one sensitive column to another, and the highest lift of a dependency between them.
fn between(found: &Surviving) -> [f64; 3] {
    let Some(network) = found.networks.iter().find(|network| network.of == Of::Sensitive) else { return [f64::NAN; 3] };
    let risks = network.dependencies.iter().filter(|found| found.is_risk).count() as f64;
    let bits = network.arrows.iter().map(|arrow| arrow.bits).sum();
    [network.dependencies.len() as f64, risks, bits]
}

/// Dependencies between sensitive columns before and after.
pub(super) fn dependencies(folder: &Path) -> Result<Page> {
    let rows = adult(folder)?;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let (mut all_before, mut all_after) = (Vec::new(), Vec::new());
    for k in K {
        let partition = classes(&rows, k)?;
        let table = look(&read_classes(&rows, &partition, k)?, true)?;
        let split = look(&deal(&read(&break_merge(&rows, &partition)?, k)?, 0)?, false)?;
        (before, after) = ([before, vec![between(&table)]].concat(), [after, vec![between(&split)]].concat());
        all_before.push(table.risks as f64);
        all_after.push(split.risks as f64);
    }
    let of = |found: &[[f64; 3]], at: usize| -> Vec<f64> { found.iter().map(|found| found[at]).collect() };
    let table = Table::at("k", &K)
        .column("dependencies, table", of(&before, 0))
        .column("dependencies, split", of(&after, 0))
        .column("risks, table", of(&before, 1))
        .column("risks, split", of(&after, 1))
        .column("bits of arrows, table", of(&before, 2))
        .column("bits of arrows, split", of(&after, 2))
        .column("risks with quasi, table", all_before)
        .column("risks with quasi, split", all_after);
    let fewer = |a: &str, b: &str| table.get(a).iter().zip(table.get(b)).all(|(before, after)| after < before);
    let list = |name: &str| table.get(name).iter().map(|&value| number(value)).collect::<Vec<_>>().join(", ");
    let pair = |a: &str, b: &str| format!("{} before, {} after, by k", list(a), list(b));
    let claims = vec![
        claim("Break-Merge reduces the inferences between sensitive columns", "-").judged(
            "fewer risks between them after than before, at every k",
            pair("risks, table", "risks, split"),
            fewer("risks, table", "risks, split"),
        ).because("groups differ, and what differs between them is published; and most of Adult works in private and earns at most 50K, so that little makes a risk"),
        claim("an adversary cannot infer the association between quasi-identifiers and sensitive attributes", "-").judged(
            "fewer than half of the risks with quasi-identifiers are left, at every k",
            pair("risks with quasi, table", "risks with quasi, split"),
            table.get("risks with quasi, table").iter().zip(table.get("risks with quasi, split")).all(|(before, after)| 2.0 * after < *before),
        ).because("a group shows its quasi-identifiers and the counts of its sensitive values: what the one tells of the other is all published"),
        claim("(ours) what arrows between sensitive columns tell falls", "-").judged(
            "fewer bits after than before, at every k",
            pair("bits of arrows, table", "bits of arrows, split"),
            fewer("bits of arrows, table", "bits of arrows, split"),
        ),
    ];
    let svg = table.lines(
        "What sensitive columns tell of each other",
        "bits",
        &["bits of arrows, table", "bits of arrows, split"],
    );
    let data = "Adult. Dependencies that are more than chance (level 0.05 for all three networks together), alpha 0.5. The table in classes, and \
                one way to put the split table of the same classes together again.";
    Ok(Page { title: "dependencies before and after Break-Merge", data: data.into(), table, svg, claims })
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
pub(super) fn breach(folder: &Path) -> Result<Page> {
    let rows = adult(folder)?;
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
    let list = |name: &str| table.get(name).iter().map(|&value| number(value)).collect::<Vec<_>>().join(", ");
    let pairs = |a: &str, b: &str, holds: fn(f64, f64) -> bool| {
        table.get(a).iter().zip(table.get(b)).all(|(&a, &b)| holds(a, b))
    };
    let claims = vec![
        claim("knowing a value as well makes the others likelier to be guessed (Corollary)", "at least Definition 3")
            .judged(
                "Definition 5 is at least Definition 3, at every k",
                format!("{} against {}", list(names[1]), list(names[0])),
                pairs(names[1], names[0], |with, without| with >= without),
            ),
        claim("(ours) who knows how values go together guesses better than the definitions say", "-").judged(
            "the mean is higher with a network of all rows, at every k",
            format!("{} against {}", list(names[3]), list(names[1])),
            pairs(names[3], names[1], |network, alone| network > alone),
        ),
        claim("(ours) Break-Merge gives up joint distributions", "-").judged(
            "a distance above 0.1 of the joint values of a group from what its tables suggest, at every k",
            format!("{}; Anatomy {}", list(names[5]), list(names[6])),
            table.get(names[5]).iter().all(|&loss| loss > 0.1),
        ),
    ];
    let svg = table.lines("How likely all other values are guessed", "mean probability", &names[1..4]);
    let data = "Adult. KBP is the paper's knowledge breach probability, on average over people. A network of all rows stands for the best that an \
                adversary could know from elsewhere. Anatomy has no release of \
                it: three of four people have the same salary class, and its groups need two values in equal shares.";
    Ok(Page { title: "knowledge breach and joint loss", data: data.into(), table, svg, claims })
}
