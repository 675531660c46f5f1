//! The evaluation of amiri2016: k-anonymous, beta-like tables against somebody with background knowledge.
//!
//! Every method of a comparison is asked for the same criteria, with the same beliefs, and may remove as many rows as it likes.

mod attack;
mod frontier;
mod sweeps;

use std::path::Path;
use std::time::Instant;

use disjoin::attack::ClassView;
use disjoin::data::table::{Column, Role, Table as Rows};
use disjoin::data::{Dictionary, Partition};
use disjoin::generate::people::{People, people};
use disjoin::generate::stream;
use disjoin::knowledge::Beliefs;
use disjoin::knowledge::background::{Estimator, Knowledge, beliefs};
use disjoin::protect::tabular::{Method, Params, anonymize};
use disjoin::read::Options;
use disjoin::read::rows::{Declared, read_table};
use disjoin::release::privacy_models::Criterion;
use disjoin::{Error, Result};
use rand::RngExt;

use crate::Scale;
use crate::page::{Page, write};
use crate::papers::{Given, Named, Paper, Put};

pub(crate) const PAPER: Paper = Paper { key: "amiri2016", introduction: INTRODUCTION, figures, draw, small };

type Figure = fn(&[Data]) -> Result<Page>;

/// All are drawn from the same.
const FILES: &[&str] = &["adult.csv"];

const FIGURES: [(&str, Figure); 5] = [
    ("k", sweeps::over_k),
    ("beta", sweeps::over_beta),
    ("distance", sweeps::over_distance),
    ("frontier", frontier::page),
    ("attack", attack::page),
];

const METHODS: [Method; 7] = [
    Method::KPrimacy,
    Method::BetaPrimacy,
    Method::Hilbert,
    Method::MicroaggregationMerge,
    Method::Mondrian,
    Method::Burel,
    Method::LeastLoss,
];

/// The generated people, with two strengths of what goes together.
const PEOPLE: [(&str, f64); 2] = [("people 0.3", 0.3), ("people 0.9", 0.9)];
const N_PEOPLE: u64 = 10_000;

fn figures() -> Vec<Named> {
    FIGURES.iter().map(|&(name, _)| (name, FILES)).collect()
}

fn draw(given: &Given, wanted: &[&str], put: Put<'_>) -> Result<()> {
    let mut data = vec![Data::adult(given)?];
    match given.scale {
        Scale::Tiny => data.push(Data::people("people", 0.5, 300)?),
        Scale::Small | Scale::Full => {
            for (name, strength) in PEOPLE {
                data.push(Data::people(name, strength, N_PEOPLE)?);
            }
        }
    }
    for (name, draw) in FIGURES.into_iter().filter(|figure| wanted.contains(&figure.0)) {
        eprintln!("figure {name}");
        put(name, draw(&data)?)?;
    }
    Ok(())
}

/// A small file with the columns of Adult, in which the occupation goes with the education.
fn small(folder: &Path) -> Result<Given> {
    let mut text =
        String::from("sex;age;race;marital-status;education;native-country;workclass;occupation;salary-class\n");
    for i in 0..400_u32 {
        let mixed = i.wrapping_mul(2_654_435_761) >> 7;
        let of = |step: u32, n: u32| mixed / step % n;
        let (education, noise) = (of(7, 4), u32::from(of(1_001, 5) == 0) * of(13, 5));
        let occupation = (education + noise) % 5;
        text += &format!(
            "s{};{};r{};m{};e{education};c{};w{};o{occupation};<=50K\n",
            of(1, 2),
            20 + of(3, 40),
            of(11, 2),
            of(17, 3),
            of(19, 2),
            of(23, 3)
        );
    }
    write(&folder.join("adult.csv"), &text)?;
    Ok(Given::small(folder))
}

const INTRODUCTION: &str = "\
# amiri2016: the evaluation, drawn again

Amiri, Yazdani, Shakery, Chinaei: Hierarchical anonymization algorithms against background knowledge attack in data releasing,
Knowledge-Based Systems 101, 2016. Made by `cargo run --release -p disjoin-lab -- amiri2016 all --data DIR`; each page tells its
own command.

Of the paper only the abstract and the introduction are at hand: no figure, no number, no procedure. Claims are taken from
there. The two algorithms are our reading of it, and each claim is decided by a criterion on our numbers. Adult is the usual one
of 30,162 complete rows: seven quasi-identifiers, the occupation is sensitive, no hierarchies. BKseq is not public: in its place
are 10,000 generated people whose disease goes with age, sex and part of the country, a little (strength 0.3) and much (0.9).

In a comparison all methods are asked for the same k, beta (enhanced) and distance of beliefs t, with the same beliefs, and may
remove as many rows as they like. Overall shares are those of the published rows, everywhere. Beliefs are those of a naive Bayes
classifier, learned from all rows where classes are made and privacy loss is measured, and from the other half of the rows where
an attack is judged by what is true. The kernel estimate was tried first: without hierarchies its cells are so small that it
repeats the rows that it has seen, and learned from the other half it knows less than the shares of a class.

*Microaggregation* is MDAV with merging of the groups that fail. Closeness-first is not among the methods: it makes classes by
t-closeness, which nobody asks for here.

Chosen after a first look at numbers: naive Bayes in place of the kernel; beta = 3, as at 2 most methods removed nearly all, with
the last look of then (see below); people of strength 0.3 besides those of 0.9, of whom nearly nobody can be published; k = 40, to
see what the size of classes does; and settings in which a method publishes nothing are left out of comparisons. The criterion of
comparisons stayed as it was: lower in every setting; now the mean of differences must be so as well, with its interval over settings.
Releases of fewer than 30 classes are left out of the attack: intervals are over classes.

Why so many rows are removed: the three requirements work against each other. Where knowledge tells much, rows of which the same
is believed have the same sensitive value, and beta-likeness forbids that. Rows are removed until it holds.

Chosen after trials on Adult: classes that fail at the last look lose the rows that are too many, where they were removed whole at
first, by all methods alike. In beta-primacy the largest class that can be drawn from a cluster has some value as often as it may be had,
so any cut leaves a row too many on one side: a cut may leave such rows over, at a price, and must be worth what smaller classes tell, a
tenth of the loss where classes are small, less where they are large.
";

/// A table, and what is believed of its rows.
struct Data {
    name: &'static str,
    rows: Rows,
    /// What the adversary is taken to believe where classes are made: learned from all rows.
    beliefs: Beliefs,
}

impl Data {
    fn new(name: &'static str, rows: Rows) -> Result<Self> {
        let beliefs = beliefs(&rows, &knowledge(false))?;
        Ok(Data { name, rows, beliefs })
    }

    fn adult(given: &Given) -> Result<Self> {
        let quasi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];
        let others = [("occupation", Role::Sensitive), ("salary-class", Role::Other)];
        let roles = quasi.iter().map(|&name| (name, Role::Quasi)).chain(others);
        let declared = Declared {
            roles: roles.map(|(name, role)| (name.to_owned(), role)).collect(),
            numeric: vec!["age".into()],
            ..Declared::default()
        };
        let options = Options { separator: Some(b';'), ..Options::default() };
        Data::new("Adult", read_table(&given.file("adult.csv"), &options, &declared)?.0)
    }

    fn people(name: &'static str, strength: f64, rows: u64) -> Result<Self> {
        Data::new(name, people(&People { rows, quasi: 6, strength, seed: 1 })?)
    }

    /// The same people with sensitive values drawn from what is believed of each, folded into `n_values` where there are more: what is
    /// believed is right then.
    fn drawn(&self, name: &'static str, n_values: usize) -> Data {
        let n_values = n_values.min(self.beliefs.n_values());
        let fold = |point: u32| {
            let mut shares = vec![0.0; n_values];
            self.beliefs.point(point).iter().enumerate().for_each(|(value, share)| shares[value % n_values] += share);
            shares
        };
        let points: Vec<f64> = (0..self.beliefs.n_points() as u32).flat_map(fold).collect();
        let of_row: Vec<u32> = (0..self.rows.n_rows() as u32).map(|row| self.beliefs.point_of(row)).collect();
        let beliefs = Beliefs::new(n_values, points, of_row);
        let mut rng = stream(1, "lab/amiri2016/drawn", 0);
        let codes = (0..self.rows.n_rows() as u32).map(|row| {
            let mut left: f64 = rng.random_range(0.0..1.0);
            let is_it = |share: &f64| {
                left -= share;
                left < 0.0
            };
            beliefs.of(row).iter().position(is_it).unwrap_or(n_values - 1) as u32
        });
        let codes: Vec<u32> = codes.collect();
        let mut texts = Dictionary::default();
        (0..n_values).for_each(|value| {
            texts.intern(&format!("v{value:03}"));
        });
        let mut columns = self.rows.columns.clone();
        for column in columns.iter_mut().filter(|column| column.role == Role::Sensitive) {
            *column = Column::from_codes(&column.name, Role::Sensitive, texts.clone(), codes.clone());
        }
        Data { name, rows: Rows::new(self.rows.n_rows(), columns, None), beliefs }
    }

    /// The codes of the sensitive values.
    fn truth(&self) -> &[u32] {
        self.rows.with_role(Role::Sensitive).next().map_or(&[], |column| &column.codes)
    }

    /// What an adversary sees of each class.
    fn views(&self, partition: &Partition) -> Vec<ClassView> {
        let truth = self.truth();
        let view = |rows: &[u32]| {
            let mut counts = vec![0; self.beliefs.n_values()];
            rows.iter().for_each(|&row| counts[truth[row as usize] as usize] += 1);
            ClassView { members: rows.to_vec(), counts }
        };
        partition.classes().map(view).collect()
    }
}

/// What the adversary knows: a naive Bayes classifier.
fn knowledge(cross_fit: bool) -> Knowledge {
    Knowledge { estimator: Estimator::NaiveBayes, cross_fit, ..Knowledge::default() }
}

/// What is asked for; beta and t may be left out.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Asked {
    k: u32,
    beta: Option<f64>,
    t: Option<f64>,
}

impl Asked {
    fn criteria(self) -> Vec<Criterion> {
        let beta = self.beta.map(|beta| Criterion::Likeness { beta, enhanced: true });
        let t = self.t.map(|t| Criterion::Background { t });
        [Some(Criterion::KAnonymity { k: self.k }), beta, t].into_iter().flatten().collect()
    }

    /// Rows in classes, and how many seconds it took; none if no row can be published.
    fn make(self, data: &Data, method: Method) -> Result<Option<(Partition, f64)>> {
        let start = Instant::now();
        let params = Params { method, criteria: self.criteria(), most_removed: 1.0, seed: 1 };
        match anonymize(&data.rows, &params, Some(&data.beliefs)) {
            Ok(partition) => Ok(Some((partition, start.elapsed().as_secs_f64()))),
            Err(Error::Infeasible { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
