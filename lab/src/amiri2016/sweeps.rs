//! What is lost, what is given away and what is removed, as one of the three criteria is made stricter.

use disjoin::Result;
use disjoin::attack::{Inference, Loss, loss, posteriors};
use disjoin::measure::{TableOptions, TableReport, measure_table};
use disjoin::protect::tabular::Method;

use super::{Asked, Data, METHODS};
use crate::estimate::Estimate;
use crate::judge::Limit::{AtLeast, LessThan, MoreThan};
use crate::judge::{Check, Claim, check, claim};
use crate::page::{Page, Table};

/// A number of a release.
type Value = fn(&Made) -> f64;

/// The same with its name.
type Named = (&'static str, Value);

/// What is asked for where it does not change.
const K: u32 = 10;
const BETA: f64 = 3.0;
const T: f64 = 0.2;

/// Posteriors above this are counted: somebody is nearly sure.
const NEARLY_SURE: f64 = 0.9;

pub(super) fn over_k(data: &[Data]) -> Result<Page> {
    // The last is ours: classes as large as those of methods that have larger ones.
    let asked = [5, 10, 15, 20, 40].map(|k| (f64::from(k), Asked { k, beta: Some(BETA), t: Some(T) }));
    page(data, "k", "k from 5 to 40, at beta = 3 and beliefs within 0.2 bits", &asked)
}

pub(super) fn over_beta(data: &[Data]) -> Result<Page> {
    let asked = [1.0, 2.0, 3.0, 4.0, 5.0].map(|beta| (beta, Asked { k: K, beta: Some(beta), t: Some(T) }));
    page(data, "beta", "beta from 1 to 5, at k = 10 and beliefs within 0.2 bits", &asked)
}

pub(super) fn over_distance(data: &[Data]) -> Result<Page> {
    let asked = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5].map(|t| (t, Asked { k: K, beta: Some(BETA), t: Some(t) }));
    page(data, "t", "the distance of beliefs from 0.05 to 0.5 bits, at k = 10 and beta = 3", &asked)
}

/// All settings of the three pages, each once: k, beta and t.
pub(super) const SETTINGS: [(u32, f64, f64); 14] = [
    (5, BETA, T),
    (K, BETA, T),
    (15, BETA, T),
    (20, BETA, T),
    (40, BETA, T),
    (K, 1.0, T),
    (K, 2.0, T),
    (K, 4.0, T),
    (K, 5.0, T),
    (K, BETA, 0.05),
    (K, BETA, 0.1),
    (K, BETA, 0.3),
    (K, BETA, 0.4),
    (K, BETA, 0.5),
];

/// A release, measured.
pub(super) struct Made {
    report: TableReport,
    pub(super) loss: Loss,
    /// The standard deviation of the sizes of classes, in multiples of their mean.
    variation: f64,
    seconds: f64,
}

impl Made {
    pub(super) fn new(data: &Data, method: Method, asked: Asked) -> Result<Option<Self>> {
        let Some((partition, seconds)) = asked.make(data, method)? else { return Ok(None) };
        let options = TableOptions { k: asked.k, queries: 1, ..TableOptions::default() };
        let report = measure_table(&data.rows, &partition, &options);
        let after = posteriors(&data.views(&partition), &data.beliefs, Inference::Exact);
        let sizes: Vec<f64> = partition.classes().map(|rows| rows.len() as f64).collect();
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / n;
        let variance = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / n;
        let loss = loss(&after, &data.beliefs, NEARLY_SURE);
        Ok(Some(Made { report, loss, variation: variance.sqrt() / mean, seconds }))
    }

    pub(super) fn gcp(&self) -> f64 {
        self.report.gcp.unwrap_or(f64::NAN)
    }

    fn rgcp(&self) -> f64 {
        self.report.rgcp
    }

    fn removed(&self) -> f64 {
        self.report.removed as f64 / self.report.rows.max(1) as f64
    }
}

/// One setting of one data set: what each method made, in the order of [`METHODS`].
struct Setting {
    data: &'static str,
    place: f64,
    made: Vec<Option<Made>>,
}

impl Setting {
    /// The share of rows that a method removed.
    fn removed(&self, method: Method) -> f64 {
        let removed = self.of(method, Made::removed);
        if removed.is_nan() { 1.0 } else { removed }
    }

    /// A number of a method; NaN if it could publish nothing.
    fn of(&self, method: Method, value: Value) -> f64 {
        let at = METHODS.iter().position(|&other| other == method);
        at.and_then(|at| self.made[at].as_ref()).map_or(f64::NAN, value)
    }
}

fn page(data: &[Data], axis: &'static str, title: &'static str, asked: &[(f64, Asked)]) -> Result<Page> {
    let mut settings = Vec::new();
    for data in data {
        for &(place, asked) in asked {
            eprintln!("  {}, {axis} = {place}", data.name);
            let made = METHODS.iter().map(|&method| Made::new(data, method, asked)).collect::<Result<_>>()?;
            settings.push(Setting { data: data.name, place, made });
        }
    }
    let named = |setting: &Setting| {
        let (data, place) = (setting.data, setting.place);
        METHODS.map(|method| format!("{data}, {axis} = {place}, {}", method.name()))
    };
    let names: Vec<String> = settings.iter().flat_map(named).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns: [Named; 12] = [
        ("GCP", Made::gcp),
        ("RGCP", Made::rgcp),
        ("RGCP own", |made| made.report.rgcp_own),
        ("GCP all", |made| made.report.gcp_all),
        ("privacy loss", |made| made.loss.mean),
        ("at most", |made| made.loss.max),
        ("removed", Made::removed),
        ("classes", |made| made.report.classes.number as f64),
        ("median class", |made| f64::from(made.report.classes.quartiles[1])),
        ("largest class", |made| f64::from(made.report.classes.most)),
        ("C_avg", |made| made.report.average_class.unwrap_or(f64::NAN)),
        ("variation", |made| made.variation),
    ];
    let mut table = Table::named("data, asked, method", &names);
    for (name, value) in columns {
        let of = |setting: &Setting| METHODS.map(|method| setting.of(method, value));
        table = table.column(name, settings.iter().flat_map(of).collect());
    }
    let seconds = |setting: &Setting| METHODS.map(|method| Estimate::exact(setting.of(method, |made| made.seconds)));
    let table = table.timed("seconds", settings.iter().flat_map(seconds).collect());
    let first = data.first().map_or("", |data| data.name);
    let places: Vec<f64> = asked.iter().map(|&(place, _)| place).collect();
    let mut drawn = Table::at(axis, &places);
    for method in METHODS {
        let of_first = settings.iter().filter(|setting| setting.data == first);
        drawn = drawn.column(method.name(), of_first.map(|setting| setting.of(method, Made::rgcp)).collect());
    }
    Ok(Page {
        title,
        data: TEXT.into(),
        svg: drawn.lines(&format!("RGCP by {axis}, {first}"), "RGCP", &METHODS.map(Method::name)),
        table,
        claims: claims(&settings),
    })
}

const TEXT: &str = "\
*GCP* is the mean loss of a published cell; *RGCP* is over all rows, those that were removed counting as if added to the class \
that suffers least from it, *RGCP own* as that class is without them, and *GCP all* as lost in full. *Privacy loss* is the \
divergence JS of what is believed of a published row before and after, in bits: the mean, and the most. *Removed* is a share of \
all rows. *C_avg* is the mean size of a class in multiples of k, *variation* the standard deviation of sizes in multiples of \
their mean. *Seconds* are of the classes alone, once, on a machine that was not idle. A dash: no row could be published.";

/// What must hold of some differences, one for each setting: their mean is below 0, and so is each.
fn below(what: &str, differences: &[f64]) -> Vec<Check> {
    let lower = differences.iter().filter(|&&difference| difference < 0.0).count() as f64;
    vec![
        check(format!("{what}, mean difference over settings"), Estimate::mean(differences), LessThan(0.0)),
        check(
            format!("{what}, share of settings in which it is lower"),
            Estimate::exact(lower / differences.len() as f64),
            AtLeast(1.0),
        ),
    ]
}

fn claims(settings: &[Setting]) -> Vec<Claim> {
    use Method::{BetaPrimacy, Hilbert, KPrimacy, LeastLoss};
    let lower = |said: &'static str, of: &[Named], one: Method, others: &[Method]| {
        let comparisons: Vec<(Method, Named)> =
            others.iter().flat_map(|&other| of.iter().map(move |&named| (other, named))).collect();
        let cases = settings
            .chunk_by(|a, b| a.data == b.data)
            .flat_map(|of_data| comparisons.iter().map(move |&(other, (what, value))| (of_data, other, what, value)));
        claim(said, "-").cases(cases, |(of_data, other, what, value)| {
            let difference = |setting: &Setting| setting.of(one, value) - setting.of(other, value);
            // Where one of them publishes nothing there is nothing to compare.
            let differences: Vec<f64> = of_data.iter().map(difference).filter(|value| !value.is_nan()).collect();
            let data = of_data.first().map_or("", |setting| setting.data);
            (format!("{data}, {}, {what}", other.name()), below("the number", &differences))
        })
    };
    let loss: Named = ("privacy loss", |made| made.loss.mean);
    let gcp: [Named; 2] = [("GCP", Made::gcp), ("RGCP", Made::rgcp)];
    vec![
        lower("k-primacy has the lower information loss of the two", &gcp, KPrimacy, &[BetaPrimacy]),
        lower("beta-primacy has the lower privacy loss of the two", &[loss], BetaPrimacy, &[KPrimacy]),
        lower(
            "k-primacy has more balanced classes",
            &[("variation of sizes", |made| made.variation)],
            KPrimacy,
            &[BetaPrimacy],
        ),
        lower("k-primacy loses less information than Hilbert", &gcp, KPrimacy, &[Hilbert]),
        lower("beta-primacy loses less information than Hilbert", &gcp, BetaPrimacy, &[Hilbert]),
        lower("k-primacy has a lower privacy loss than Hilbert", &[loss], KPrimacy, &[Hilbert]),
        lower("beta-primacy has a lower privacy loss than Hilbert", &[loss], BetaPrimacy, &[Hilbert]),
        fewest(settings, "k-primacy removes fewer rows than the others", KPrimacy),
        fewest(settings, "beta-primacy removes fewer rows than the others", BetaPrimacy),
        turned(settings),
        lower(
            "(ours) least-loss loses less than both, removed rows counting as lost",
            &[("GCP all", |made| made.report.gcp_all)],
            LeastLoss,
            &[KPrimacy, BetaPrimacy],
        ),
    ]
}

/// Whether a method removes fewer rows than the algorithms of others; who publishes nothing removes all.
fn fewest(settings: &[Setting], said: &'static str, method: Method) -> Claim {
    let others = [Method::Hilbert, Method::MicroaggregationMerge, Method::Mondrian, Method::Burel];
    claim(said, "-").cases(others, |other| {
        let difference = |setting: &Setting| setting.removed(method) - setting.removed(other);
        (other.name().into(), below("share of rows removed", &settings.iter().map(difference).collect::<Vec<_>>()))
    })
}

/// RGCP shows what GCP hides: two methods of which GCP prefers one and RGCP the other.
fn turned(settings: &[Setting]) -> Claim {
    let (mut pairs, mut turned, mut against) = (0, 0, 0);
    for made in settings.iter().map(|setting| setting.made.iter().flatten().collect::<Vec<_>>()) {
        for (i, one) in made.iter().enumerate() {
            for other in &made[..i] {
                pairs += 1;
                // The one that GCP prefers first.
                let (better, worse) = if one.gcp() < other.gcp() { (one, other) } else { (other, one) };
                if worse.rgcp() < better.rgcp() {
                    turned += 1;
                    against += u64::from(better.removed() > worse.removed());
                }
            }
        }
    }
    claim("RGCP shows what GCP hides where many rows are removed", "-").case(
        "",
        [
            check(
                "share of pairs of methods whose order RGCP turns round",
                Estimate::share(turned, pairs),
                MoreThan(0.0),
            ),
            check("of these, against the one that removes more", Estimate::share(against, turned), AtLeast(0.9)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Verdict;

    #[test]
    fn false_data_make_claims_differ() {
        let of = |differences: &[f64]| claim("said", "-").case("", below("x", differences)).verdict();
        assert_eq!(of(&[-0.1, -0.12, -0.11]), Verdict::Reproduced);
        assert_eq!(of(&[0.1, 0.12, 0.11]), Verdict::Differs);
        assert_eq!(of(&[-0.1, -0.12, 0.01]), Verdict::Differs, "not in every setting");
        assert_eq!(of(&[]), Verdict::NotTried);
    }
}
