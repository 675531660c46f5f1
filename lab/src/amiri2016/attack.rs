//! The power of the attack with background knowledge: whether it beats what was believed before, and what a class shows.

use disjoin::attack::{Before, Gain, Inference, gain, posteriors};
use disjoin::knowledge::background::beliefs;
use disjoin::protect::tabular::Method;
use disjoin::{Error, Result};

use super::{Asked, Data, METHODS, knowledge};
use crate::estimate::Estimate;
use crate::judge::Limit::{AtMost, MoreThan};
use crate::judge::{Claim, check, claim};
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
        .measured("over the prior", rows.iter().map(|row| bits(&row.prior)).collect())
        .column("from", column(|row| row.prior.log_score.low))
        .column("to", column(|row| row.prior.log_score.high))
        .measured("over the class", rows.iter().map(|row| bits(&row.class)).collect())
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
knowledge tell more than that? This is what the paper's first requirement is to prevent). Intervals are normal ones over classes: releases \
with fewer than 30 classes are not judged. *Right* is how often the likeliest value is the true one.

The gain over the prior cannot be expected to be 0 or less for any release that tells true counts: what a class of g rows tells \
of its values is news to whoever knew the probabilities only, about (m - 1)/2 log2(g) / g bits a person for m values. It also \
corrects what the prior has wrong of a whole group. It falls as classes grow, and for no other reason.";

fn claims(rows: &[Row]) -> Vec<Claim> {
    let first = rows.first().map_or("", |row| row.data);
    let adult: Vec<&Row> = rows.iter().filter(|row| row.data == first && row.classes >= FEWEST).collect();
    let those = |of: &dyn Fn(&&&Row) -> bool| adult.iter().filter(of).copied().collect::<Vec<&Row>>();
    let k_only = those(&|row| row.asked.beta.is_none());
    let beta = |has_t: bool| {
        those(&|row| row.method == Method::BetaPrimacy && row.asked.beta.is_some() && row.asked.t.is_some() == has_t)
    };
    let (prior, class): (Of, Of) = (|row| &row.prior, |row| &row.class);
    let gains = |said: &'static str, rows: &[&Row], what: &'static str, of: Of, limit| {
        claim(said, "-").cases(rows, |row| (row.name(), vec![check(what, bits(of(row)), limit)]))
    };
    let (over_prior, over_class) =
        ("bits a person that the attack gains over the prior", "bits a person that the attack gains over the class");
    vec![
        gains(
            "k-anonymity does not protect against background knowledge: the attack beats the prior",
            &k_only,
            over_prior,
            prior,
            MoreThan(0.0),
        ),
        gains("the same: it beats the shares of the class", &k_only, over_class, class, MoreThan(0.0)),
        gains(
            "beta-likeness alone does not protect against background knowledge",
            &beta(false),
            over_class,
            class,
            MoreThan(0.0),
        ),
        gains(
            "beta-primacy protects: the attack tells no more than the shares of the class",
            &beta(true),
            over_class,
            class,
            AtMost(0.01),
        ),
        gains(
            "(stronger than the paper says) it tells no more than the prior",
            &beta(true),
            over_prior,
            prior,
            AtMost(0.01),
        ),
    ]
}

/// The gain of the logarithm of the true value's probability.
fn bits(gain: &Gain) -> Estimate {
    let score = gain.log_score;
    Estimate { value: score.mean, low: score.low, high: score.high }
}
