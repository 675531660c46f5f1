//! The power of the attack with background knowledge: whether it beats what was believed before, and what a class shows.

use disjoin::attack::{Before, Gain, Inference, gain, posteriors};
use disjoin::knowledge::background::beliefs;
use disjoin::protect::tabular::Method;
use disjoin::{Error, Result};

use super::{Asked, Data, METHODS, knowledge};
use crate::judge::{Claim, claim, least, most};
use crate::page::{Page, Table};

const K: u32 = 10;

/// What is asked of all methods besides k.
const BETA: f64 = 3.0;
const T: f64 = 0.05;

/// So many classes are needed for an interval that decides.
const FEWEST: f64 = 30.0;

/// What is asked of beta-primacy, and over which sizes.
const SIZES: [u32; 3] = [10, 100, 1_000];
const BETAS: [f64; 3] = [1.0, 2.0, 3.0];
const DISTANCES: [Option<f64>; 4] = [Some(0.02), Some(0.05), Some(0.2), None];

/// One of the two gains of a row.
type Of = fn(&Row) -> &Gain;

/// A release, attacked.
struct Row {
    data: &'static str,
    method: Method,
    asked: Asked,
    removed: f64,
    classes: f64,
    /// Against what was believed before.
    prior: Gain,
    /// Against the shares of the class.
    class: Gain,
}

pub(super) fn page(data: &[Data]) -> Result<Page> {
    let mut rows: Vec<Row> = Vec::new();
    for data in data {
        eprintln!("  {}", data.name);
        rows.extend(attacked(data)?);
    }
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let table = Table::named("data, asked, method", &names)
        .column("removed", column(|row| row.removed))
        .column("classes", column(|row| row.classes))
        .column("over the prior", column(|row| row.prior.log_score.mean))
        .column("from", column(|row| row.prior.log_score.low))
        .column("to", column(|row| row.prior.log_score.high))
        .column("over the class", column(|row| row.class.log_score.mean))
        .column("from ", column(|row| row.class.log_score.low))
        .column("to ", column(|row| row.class.log_score.high))
        .column("right, prior", column(|row| row.prior.right_before))
        .column("right, class", column(|row| row.class.right_before))
        .column("right, attack", column(|row| row.prior.right_after));
    let first = data.first().map_or("", |data| data.name);
    let drawn: Vec<&Row> = rows.iter().filter(|row| row.data == first && row.is_compared()).collect();
    let methods: Vec<&str> = METHODS.map(Method::name).to_vec();
    let series = |of: fn(&Row) -> f64, is_full: bool| -> Vec<f64> {
        let value = |method: &Method| {
            let is_it = |row: &&&Row| row.method == *method && row.asked.beta.is_some() == is_full;
            drawn.iter().find(is_it).map_or(f64::NAN, |row| of(row))
        };
        METHODS.iter().map(value).collect()
    };
    let svg = Table::named("method", &methods)
        .column("k, over the prior", series(|row| row.prior.log_score.mean, false))
        .column("k, over the class", series(|row| row.class.log_score.mean, false))
        .column("k, beta and t, over the prior", series(|row| row.prior.log_score.mean, true))
        .column("k, beta and t, over the class", series(|row| row.class.log_score.mean, true))
        .bars(&format!("gain of the attack, {first}: k = 10; and with beta = 3, t = 0.05"), "bits a person");
    Ok(Page {
        title: "the power of the attack with background knowledge",
        data: TEXT.into(),
        svg,
        claims: claims(&rows),
        table,
    })
}

/// All releases of a data set: with k alone, with all three criteria, and of beta-primacy many more.
fn attacked(data: &Data) -> Result<Vec<Row>> {
    let prior = beliefs(&data.rows, &knowledge(true))?;
    let full = Asked { k: K, beta: Some(BETA), t: Some(T) };
    let mut all: Vec<(Method, Asked)> =
        METHODS.iter().map(|&method| (method, Asked { k: K, beta: None, t: None })).collect();
    all.extend(METHODS.map(|method| (method, full)));
    for k in SIZES {
        for beta in BETAS {
            all.extend(DISTANCES.map(|t| (Method::BetaPrimacy, Asked { k, beta: Some(beta), t })));
        }
    }
    let mut rows = Vec::new();
    let mut seen: Vec<(Method, Asked)> = Vec::new();
    for (method, asked) in all {
        if seen.contains(&(method, asked)) {
            continue;
        }
        seen.push((method, asked));
        let (partition, _) = match asked.make(data, method) {
            Ok(Some(made)) => made,
            // Burel wants a beta; others may find no class at all.
            Ok(None) | Err(Error::Recipe { .. }) => continue,
            Err(error) => return Err(error),
        };
        let views = data.views(&partition);
        let after = posteriors(&views, &prior, Inference::Exact);
        let gain = |before| gain(&views, &after, &prior, data.truth(), before);
        rows.push(Row {
            data: data.name,
            method,
            asked,
            removed: partition.removed.len() as f64 / data.rows.n_rows().max(1) as f64,
            classes: partition.len() as f64,
            prior: gain(Before::Prior),
            class: gain(Before::Class),
        });
    }
    Ok(rows)
}

impl Row {
    fn name(&self) -> String {
        let Asked { k, beta, t } = self.asked;
        let beta = beta.map_or(String::new(), |beta| format!(", beta = {beta}"));
        let t = t.map_or(String::new(), |t| format!(", t = {t}"));
        format!("{}, k = {k}{beta}{t}, {}", self.data, self.method.name())
    }

    /// Whether all methods were asked for the same.
    fn is_compared(&self) -> bool {
        let Asked { k, beta, t } = self.asked;
        k == K && ((beta, t) == (None, None) || (beta, t) == (Some(BETA), Some(T)))
    }
}

const TEXT: &str = "\
The adversary knows who is in which class, and believes what a naive Bayes classifier says that was learned from the other half \
of the rows. Told is how many bits a person the logarithm of the true value's probability gains by the attack, with a 95 % \
interval over classes: *over the prior* (does the release tell anything?) and *over the class*, whose shares everybody sees (does \
knowledge tell more than that? This is what the paper's first requirement is to prevent). A release is *beaten* if the whole \
interval is above 0. Intervals are normal ones over classes: with fewer than 30 classes they decide nothing. *Right* \
is how often the likeliest value is the true one.

The gain over the prior cannot be expected to be 0 or less for any release that tells true counts: what a class of g rows tells \
of its values is news to whoever knew the probabilities only, about (m - 1)/2 log2(g) / g bits a person for m values. It also \
corrects what the prior has wrong of a whole group. It falls as classes grow, and for no other reason.";

fn claims(rows: &[Row]) -> Vec<Claim> {
    let first = rows.first().map_or("", |row| row.data);
    let adult: Vec<&Row> = rows.iter().filter(|row| row.data == first).collect();
    let told = |gain: &Gain| {
        let mean = gain.log_score;
        format!("{:.3} ({:.3} to {:.3})", mean.mean, mean.low, mean.high)
    };
    let k_only: Vec<&&Row> = adult.iter().filter(|row| row.asked.beta.is_none()).collect();
    let with_k = |method: Method, of: Of| {
        k_only.iter().find(|row| row.method == method).map_or(String::new(), |row| told(of(row)))
    };
    let beta: Vec<&&Row> =
        adult.iter().filter(|row| row.method == Method::BetaPrimacy && row.asked.beta.is_some()).collect();
    // Intervals are normal ones over classes: few classes show nothing.
    let has_interval = |row: &&&&Row| row.classes >= FEWEST;
    let list = |of: Of, beaten: bool| -> String {
        let chosen: Vec<String> = beta
            .iter()
            .filter(has_interval)
            .filter(|row| of(row).beats == beaten)
            .map(|row| {
                let Asked { k, beta, t } = row.asked;
                let or_none = |value: Option<f64>| value.map_or_else(|| "none".into(), |value: f64| value.to_string());
                format!("{k}/{}/{} {}", or_none(beta), or_none(t), told(of(row)))
            })
            .collect();
        if chosen.is_empty() { "none".into() } else { chosen.join(", ") }
    };
    let n_beaten = |of: Of| beta.iter().filter(has_interval).filter(|row| of(row).beats).count();
    let n_all = beta.iter().filter(has_interval).count();
    let (prior, class): (Of, Of) = (|row| &row.prior, |row| &row.class);
    let power = |said: &'static str, of: Of| {
        let ours =
            [Method::LeastLoss, Method::Mondrian].map(|method| format!("{} {}", method.name(), with_k(method, of)));
        let holds = !k_only.is_empty() && k_only.iter().all(|row| of(row).beats);
        claim(said, "-").judged("every method with k = 10 alone is beaten, on Adult", ours.join("; "), holds)
    };
    let safe = |said: &'static str, of: Of| {
        let beaten = n_beaten(of);
        claim(said, "-").judged(
            "at some k, beta and t on Adult that leave at least 30 classes",
            format!("not beaten at k/beta/t: {}. Beaten in {beaten} of {n_all}", list(of, false)),
            beaten < n_all,
        )
    };
    vec![
        power("k-anonymity does not protect against background knowledge: the attack beats the prior", prior),
        power("the same: it beats the shares of the class", class),
        power_of_beta(&beta),
        safe("a beta-primacy release is not beaten: the attack tells no more than the shares of the class", class),
        safe("(stronger than the paper says) it tells no more than the prior", prior)
            .because("what a class tells is true and therefore news, see above"),
    ]
}

/// Whether beta-likeness without a limit on beliefs is beaten.
fn power_of_beta(rows: &[&&Row]) -> Claim {
    let alone: Vec<&&&Row> = rows.iter().filter(|row| row.asked.t.is_none() && row.classes >= FEWEST).collect();
    let gains: Vec<f64> = alone.iter().map(|row| row.class.log_score.mean).collect();
    claim("beta-likeness alone does not protect against background knowledge", "-").judged(
        "without t every beta-primacy release of Adult is beaten, over the class",
        format!("{:.3} to {:.3}", least(&gains), most(&gains)),
        !alone.is_empty() && alone.iter().all(|row| row.class.beats),
    )
}
