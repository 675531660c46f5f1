//! The power of the attack with background knowledge: whether it beats what was believed before, and what a class shows.

use disjoin::attack::{Before, Gain, Inference, gain, posteriors};
use disjoin::data::Partition;
use disjoin::knowledge::Beliefs;
use disjoin::knowledge::background::beliefs;
use disjoin::protect::tabular::Method;
use disjoin::{Error, Result};

use super::{Asked, Data, METHODS, knowledge};
use crate::estimate::Estimate;
use crate::judge::Limit::{AtMost, MoreThan};
use crate::judge::{Claim, Limit, check, claim};
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

/// Adult, its sensitive values drawn from what is believed, so that the prior is right: as many values as it has, and two.
const DRAWN: [(&str, usize); 2] = [("Adult, values drawn", usize::MAX), ("Adult, two values drawn", 2)];
const DRAWN_SIZES: [u32; 3] = [10, 100, 300];

/// One of the two gains of a row.
type Of = fn(&Row) -> &Gain;

/// A release, attacked.
struct Row {
    data: &'static str,
    method: Method,
    asked: Asked,
    removed: f64,
    classes: f64,
    /// What true counts of as many classes tell whoever was right before, about.
    floor: f64,
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
    if let Some(first) = data.first() {
        for (name, n_values) in DRAWN {
            rows.extend(attacked_if_prior_is_right(&first.drawn(name, n_values))?);
        }
    }
    let names: Vec<String> = rows.iter().map(Row::name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let column = |of: fn(&Row) -> f64| rows.iter().map(of).collect::<Vec<f64>>();
    let table = Table::named("data, asked, method", &names)
        .column("removed", column(|row| row.removed))
        .column("classes", column(|row| row.classes))
        .column("floor", column(|row| row.floor))
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
        claims: claims(&rows).into_iter().chain(claims_if_prior_is_right(&rows)).collect(),
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
        rows.push(Row::new(data, method, asked, &partition, &prior));
    }
    Ok(rows)
}

/// Releases of beta-primacy where the prior is right: the adversary believes what values were drawn from.
fn attacked_if_prior_is_right(data: &Data) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for k in DRAWN_SIZES {
        let asked = Asked { k, beta: Some(BETA), t: Some(T) };
        if let Some((partition, _)) = asked.make(data, Method::BetaPrimacy)? {
            rows.push(Row::new(data, Method::BetaPrimacy, asked, &partition, &data.beliefs));
        }
    }
    Ok(rows)
}

impl Row {
    fn new(data: &Data, method: Method, asked: Asked, partition: &Partition, prior: &Beliefs) -> Self {
        let views = data.views(partition);
        let after = posteriors(&views, prior, Inference::Exact);
        let gain = |before| gain(&views, &after, prior, data.truth(), before);
        let published = (data.rows.n_rows() - partition.removed.len()).max(1) as f64;
        let classes = partition.len() as f64;
        Row {
            data: data.name,
            method,
            asked,
            removed: partition.removed.len() as f64 / data.rows.n_rows().max(1) as f64,
            classes,
            floor: (prior.n_values() as f64 - 1.0) * classes / (2.0 * std::f64::consts::LN_2 * published),
            prior: gain(Before::Prior),
            class: gain(Before::Class),
        }
    }

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

Why no release with true counts can leave the prior unbeaten: let the prior be right, so that the value X of a person has the \
distribution that is believed, independently of others, let classes be made without a look at values, and let N be the counts of the class. The \
exact posterior is P(X | N), and the expected gain is E[log2 P(X | N) / P(X)] = I(X; N), the mutual information: never below 0, and 0 only if X \
and N are independent. They are not: N counts X as well, so that P(X = v | N_v = 0) = 0 while P(X = v) > 0 for every value v that is believed \
possible but not certain, and N_v = 0 has a positive probability if all others may lack v. A prior that is wrong only adds to what counts can \
correct. In a class of g people of whom the same is believed, I(X; N) = H(p) - E[H(N / g)], which is about (m - 1) / (2 g ln 2) bits for m \
values and g well above m (the bias of the entropy of shares, Miller 1955): *floor* is that, over all classes. Classes that must be beta-like are \
chosen by values so that counts are nearly what everybody expects, and tell less than that, but not nothing: the last rows. So t does not help, \
beta a little, m and the size of classes most: for 0.01 bits, classes of 72 (m - 1) people are enough, 938 for the 14 occupations of Adult, and \
72 for two values. In the last rows the values of Adult are drawn anew from what is believed, which makes the prior right, all 14 or folded into two.";

fn claims(rows: &[Row]) -> Vec<Claim> {
    let first = rows.first().map_or("", |row| row.data);
    let adult: Vec<&Row> = rows.iter().filter(|row| row.data == first && row.classes >= FEWEST).collect();
    let those = |of: &dyn Fn(&&&Row) -> bool| adult.iter().filter(of).copied().collect::<Vec<&Row>>();
    let k_only = those(&|row| row.asked.beta.is_none());
    let beta = |has_t: bool| {
        those(&|row| row.method == Method::BetaPrimacy && row.asked.beta.is_some() && row.asked.t.is_some() == has_t)
    };
    let (prior, class): (Of, Of) = (|row| &row.prior, |row| &row.class);
    let (over_prior, over_class) = (OVER_PRIOR, "bits a person that the attack gains over the class");
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

const OVER_PRIOR: &str = "bits a person that the attack gains over the prior";

fn gains(said: &'static str, rows: &[&Row], what: &'static str, of: Of, limit: Limit) -> Claim {
    claim(said, "-").cases(rows, |row| (row.name(), vec![check(what, bits(of(row)), limit)]))
}

/// Where values were drawn from what is believed.
fn claims_if_prior_is_right(rows: &[Row]) -> Vec<Claim> {
    let drawn = |of: &dyn Fn(&&Row) -> bool| {
        let is_drawn = |row: &&Row| DRAWN.iter().any(|(name, _)| row.data == *name) && row.classes >= FEWEST;
        rows.iter().filter(is_drawn).filter(of).collect::<Vec<&Row>>()
    };
    let prior: Of = |row| &row.prior;
    vec![
        gains(
            "(ours) whoever publishes true counts tells more than a prior that is right",
            &drawn(&|row| row.asked.k == DRAWN_SIZES[0]),
            OVER_PRIOR,
            prior,
            MoreThan(0.0),
        ),
        gains(
            "(ours) where the prior is right, two values and classes of 100 tell no more than the prior",
            &drawn(&|row| row.data == DRAWN[1].0 && row.asked.k >= DRAWN_SIZES[1]),
            OVER_PRIOR,
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
