//! A table of people whose disease goes with who they are: quasi-identifiers, and one sensitive column that they predict.
//!
//! Paper:      Riboni, Pareschi, Bettini, "JS-reduce", IEEE TDSC 2012, on data where background knowledge tells much; the data of
//!             that paper (BKseq) are not public, and nothing of them is known here but that
//! Promises:   the same people for any number of threads; with strength 0 the disease is independent of all other columns
//! Assumes:    nothing about real people: all shares are synthetic
//! Cost:       a few random numbers per person and column, on all cores
//! Checked by: tests in this file
//!
//! A person's age, sex and part of the country make a hidden group, one of 32, and each group has a disease of its own. With
//! probability `strength` the disease is drawn from the group (its own in 17 of 20 cases, else the next one), otherwise from
//! shares that are the same for all. Other columns go with the group half of the time, whatever the strength.

use std::io::{self, Write};

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{blocks_in_order, stream};
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Result};

/// The most quasi-identifiers that people have.
pub const MOST_QUASI: usize = 30;

/// How many people, and what is known about them.
#[derive(Debug, Clone, PartialEq)]
pub struct People {
    /// Number of rows.
    pub rows: u64,
    /// Number of quasi-identifiers, 1 to 30: age, sex, region, education, occupation, marital, then traits.
    pub quasi: usize,
    /// How much the disease goes with age, sex and region, 0 (not at all) to 1.
    pub strength: f64,
    /// Where randomness starts.
    pub seed: u64,
}

impl Default for People {
    fn default() -> Self {
        People { rows: 10_000, quasi: 6, strength: 0.8, seed: 0 }
    }
}

/// Generates a table and holds it in memory.
pub fn people(params: &People) -> Result<Table> {
    const UNSEEN: TermId = TermId::MAX;
    let model = Model::new(params)?;
    if params.rows > u64::from(u32::MAX) {
        let problem = format!("{} rows do not fit into one table in memory", params.rows);
        return Err(Error::recipe("--rows", problem, "write them to a file, which is done block by block"));
    }
    let width = model.texts.len();
    let mut dictionaries = vec![Dictionary::default(); width];
    let mut terms: Vec<Vec<TermId>> = model.texts.iter().map(|texts| vec![UNSEEN; texts.len()]).collect();
    let mut codes: Vec<Vec<u32>> = vec![Vec::new(); width];
    blocks_in_order(
        params.rows,
        |block, n| model.rows(block, n),
        |rows| {
            for column in 0..width {
                let (texts, terms, dictionary) = (&model.texts[column], &mut terms[column], &mut dictionaries[column]);
                codes[column].extend(rows.iter().skip(column).step_by(width).map(|&value| {
                    let term = &mut terms[value as usize];
                    if *term == UNSEEN {
                        *term = dictionary.intern(&texts[value as usize]);
                    }
                    *term
                }));
            }
            Ok(())
        },
    )?;
    let names = model.names();
    let columns = names.iter().zip(dictionaries).zip(codes).enumerate().map(|(i, ((name, texts), codes))| {
        let role = if i + 1 < width { Role::Quasi } else { Role::Sensitive };
        match i {
            AGE => Column::from_number_codes(name, role, &texts, codes, |text| text.parse().unwrap_or(0.0)),
            _ => Column::from_codes(name, role, texts, codes),
        }
    });
    Ok(Table::new(params.rows as usize, columns.collect(), None))
}

/// Generates the same rows as CSV, a header and then block by block, in order, and forgets each after `take` has seen it.
pub fn people_csv(params: &People, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let model = Model::new(params)?;
    take(format!("{}\n", model.names().join(",")).as_bytes())?;
    let make = |block, n| {
        let rows = model.rows(block, n);
        let mut text = Vec::with_capacity(rows.len() * 8);
        for row in rows.chunks_exact(model.texts.len()) {
            for (column, &value) in row.iter().enumerate() {
                if column > 0 {
                    text.push(b',');
                }
                // No text has a comma or a quote in it.
                text.extend_from_slice(model.texts[column][value as usize].as_bytes());
            }
            text.push(b'\n');
        }
        text
    };
    blocks_in_order(params.rows, make, |text| take(&text))
}

/// Writes a table as CSV, with the names of its columns first; sets are left out.
pub fn write_csv(table: &Table, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::Writer::from_writer(out);
    lines.write_record(table.columns.iter().map(|column| &column.name))?;
    for row in 0..table.n_rows() {
        lines.write_record(table.columns.iter().map(|column| column.domain.text(column.codes[row])))?;
    }
    lines.flush()
}

/// Writes the hierarchy of regions as ARX reads it: a line for each town, `town;province;part;*`.
pub fn write_region_hierarchy(out: &mut dyn Write) -> io::Result<()> {
    for town in 0..N_TOWNS {
        let [name, province, part] = region(town);
        writeln!(out, "{name};{province};{part};*")?;
    }
    Ok(())
}

/// Positions of columns that others depend on.
const AGE: usize = 0;

/// Ages are from the first to before the sum, the middle ones most frequent.
const YOUNGEST: u8 = 18;
const N_AGES: u8 = 73;

/// Where the age groups end.
const BANDS: [u8; 3] = [30, 50, 65];

const SEXES: [&str; 2] = ["female", "male"];

/// Parts of the country, of which every one has four provinces with four towns; and how many of 10 people live there. The same
/// shares hold for provinces of a part and towns of a province.
const PARTS: [&str; 4] = ["north", "east", "south", "west"];
const PER_TEN: [u32; 4] = [4, 3, 2, 1];
const N_TOWNS: u8 = 64;

/// Hidden groups: four ages, two sexes, four parts.
const N_GROUPS: usize = 32;

const EDUCATION: [&str; 8] =
    ["none", "primary", "lower secondary", "upper secondary", "vocational", "bachelor", "master", "doctorate"];

const OCCUPATION: [&str; 14] = [
    "administration",
    "agriculture",
    "care",
    "construction",
    "crafts",
    "education",
    "hospitality",
    "industry",
    "management",
    "research",
    "sales",
    "security",
    "transport",
    "without",
];

const MARITAL: [&str; 5] = ["divorced", "married", "separated", "single", "widowed"];

/// Diseases, and how frequent they are where the group does not matter.
const DISEASES: [(&str, u32); 16] = [
    ("hypertension", 20),
    ("influenza", 16),
    ("diabetes", 13),
    ("asthma", 10),
    ("depression", 9),
    ("arthrosis", 7),
    ("migraine", 6),
    ("gastritis", 5),
    ("anaemia", 4),
    ("heart failure", 3),
    ("kidney disease", 2),
    ("epilepsy", 1),
    ("hepatitis", 1),
    ("cancer", 1),
    ("tuberculosis", 1),
    ("hiv", 1),
];

/// Of 20 people whose group matters so many have the group's own disease.
const OWN_OF_TWENTY: u32 = 17;

/// A town with its province and part.
fn region(town: u8) -> [String; 3] {
    let (part, province, town) = (PARTS[usize::from(town / 16)], town / 4 % 4 + 1, town % 4 + 1);
    [format!("{part} {province}.{town}"), format!("{part} {province}"), part.to_owned()]
}

/// What does not change from row to row.
struct Model<'a> {
    params: &'a People,
    /// For each column the texts of its values; the last is the disease.
    texts: Vec<Vec<String>>,
}

impl<'a> Model<'a> {
    fn new(params: &'a People) -> Result<Self> {
        if params.rows == 0 {
            return Err(Error::recipe("--rows", "must not be 0", "for example 10000"));
        }
        if !(1..=MOST_QUASI).contains(&params.quasi) {
            let problem = format!("must be from 1 to {MOST_QUASI}");
            return Err(Error::recipe("--quasi", problem, "for example 6"));
        }
        if !(0.0..=1.0).contains(&params.strength) {
            return Err(Error::recipe("--strength", "must be from 0 to 1", "for example 0.8"));
        }
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        let mut texts = vec![
            (YOUNGEST..YOUNGEST + N_AGES).map(|age| age.to_string()).collect(),
            owned(&SEXES),
            (0..N_TOWNS).map(|town| region(town).into_iter().next().unwrap_or_default()).collect(),
            owned(&EDUCATION),
            owned(&OCCUPATION),
            owned(&MARITAL),
        ];
        texts.extend((texts.len()..MOST_QUASI).map(|i| (1..=n_trait_values(i)).map(|v| format!("t{v}")).collect()));
        texts.truncate(params.quasi);
        texts.push(DISEASES.iter().map(|&(name, _)| name.to_owned()).collect());
        Ok(Model { params, texts })
    }

    fn names(&self) -> Vec<String> {
        let known = ["age", "sex", "region", "education", "occupation", "marital"].map(String::from);
        let traits = (known.len()..MOST_QUASI).map(|i| format!("trait {}", i + 1 - known.len()));
        let quasi = known.iter().cloned().chain(traits).take(self.params.quasi);
        quasi.chain([String::from("disease")]).collect()
    }

    /// A block of rows, one after the other: the position of each value among its column's texts.
    fn rows(&self, block: u64, n: u64) -> Vec<u8> {
        let mut rng = stream(self.params.seed, "people", block);
        let mut rows = Vec::with_capacity(n as usize * self.texts.len());
        (0..n).for_each(|_| self.person(&mut rng, &mut rows));
        rows
    }

    fn person(&self, rng: &mut ChaCha8Rng, rows: &mut Vec<u8>) {
        // The mean of two: a roof over the ages.
        let age = (rng.random_range(0..N_AGES) + rng.random_range(0..N_AGES)) / 2;
        let sex = rng.random_range(0..SEXES.len() as u8);
        let [part, province, town] = [(); 3].map(|()| weighted(rng, PER_TEN.into_iter()));
        let band = BANDS.iter().filter(|&&end| YOUNGEST + age >= end).count();
        let group = (band * SEXES.len() + usize::from(sex)) * PARTS.len() + part;
        let known = [age, sex, (part * 16 + province * 4 + town) as u8];
        rows.extend(known.iter().take(self.params.quasi));
        for (column, texts) in self.texts.iter().enumerate().take(self.params.quasi).skip(known.len()) {
            let typical = rng.random_bool(0.5);
            let value = if typical { (group * 7 + column * 3) % texts.len() } else { rng.random_range(0..texts.len()) };
            rows.push(value as u8);
        }
        let disease = if rng.random_bool(self.params.strength) {
            let other = usize::from(rng.random_range(0..20) >= OWN_OF_TWENTY);
            (group * DISEASES.len() / N_GROUPS + other) % DISEASES.len()
        } else {
            weighted(rng, DISEASES.iter().map(|&(_, weight)| weight))
        };
        rows.push(disease as u8);
    }
}

/// How many values a further column has: 2 to 10.
fn n_trait_values(column: usize) -> usize {
    2 + column * 4 % 9
}

/// A position, as likely as its weight says.
fn weighted(rng: &mut ChaCha8Rng, weights: impl Iterator<Item = u32> + Clone) -> usize {
    let drawn = rng.random_range(0..weights.clone().sum::<u32>());
    let running = weights.scan(0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    running.take_while(|&sum| sum <= drawn).count()
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;
    use crate::data::Hierarchy;

    fn of(rows: u64, quasi: usize, strength: f64, seed: u64) -> Table {
        people(&People { rows, quasi, strength, seed }).unwrap()
    }

    fn text(table: &Table) -> String {
        let mut out = Vec::new();
        write_csv(table, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// I(X; Y) in bits, and what two independent columns are expected to show in so few rows.
    fn information(x: &[u32], y: &[u32]) -> (f64, f64) {
        let (mut xs, mut ys, mut both) = (HashMap::new(), HashMap::new(), HashMap::new());
        for (&x, &y) in x.iter().zip(y) {
            *xs.entry(x).or_insert(0.0) += 1.0;
            *ys.entry(y).or_insert(0.0) += 1.0;
            *both.entry((x, y)).or_insert(0.0) += 1.0;
        }
        let n = x.len() as f64;
        let sum: f64 = both.iter().map(|(&(x, y), c): (_, &f64)| c / n * (c * n / (xs[&x] * ys[&y])).log2()).sum();
        (sum, (xs.len() - 1) as f64 * (ys.len() - 1) as f64 / (2.0 * n * 2.0_f64.ln()))
    }

    /// The hidden group of each row, from what is shown.
    fn groups(table: &Table) -> Vec<u32> {
        let [age, sex, region] = [0, 1, 2].map(|i| &table.columns[i]);
        let group = |row: usize| {
            let years: u8 = age.domain.text(age.codes[row]).parse().unwrap();
            let part = region.domain.text(region.codes[row]).split(' ').next().unwrap();
            let part = PARTS.iter().position(|&other| other == part).unwrap() as u32;
            let band = BANDS.iter().filter(|&&end| years >= end).count() as u32;
            (band * 2 + sex.codes[row]) * 4 + part
        };
        (0..table.n_rows()).map(group).collect()
    }

    #[test]
    fn a_seed_means_the_same_people_for_any_number_of_threads() {
        let with_threads = |n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| text(&of(25_000, 8, 0.7, 3)))
        };
        let one = with_threads(1);
        assert!(one == with_threads(2));
        assert!(one != text(&of(25_000, 8, 0.7, 4)));
        assert_eq!(one.lines().next(), Some("age,sex,region,education,occupation,marital,trait 1,trait 2,disease"));
        let mut streamed = Vec::new();
        let params = People { rows: 25_000, quasi: 8, strength: 0.7, seed: 3 };
        people_csv(&params, |text| {
            streamed.extend_from_slice(text);
            Ok(())
        })
        .unwrap();
        assert!(streamed == one.as_bytes());
    }

    #[test]
    fn without_strength_nothing_tells_the_disease() {
        let table = of(40_000, MOST_QUASI, 0.0, 1);
        let disease = &table.columns[MOST_QUASI].codes;
        for column in &table.columns[..MOST_QUASI] {
            let (bits, chance) = information(&column.codes, disease);
            assert!(bits < 1.5 * chance + 0.001, "{}: {bits} bits, by chance {chance}", column.name);
        }
        let (bits, chance) = information(&groups(&table), disease);
        assert!(bits < 1.5 * chance, "{bits} bits, by chance {chance}");
    }

    #[test]
    fn with_strength_the_group_tells_the_disease() {
        let bits = [0.0, 0.3, 0.6, 0.9, 1.0].map(|strength| {
            let table = of(40_000, 4, strength, 2);
            information(&groups(&table), &table.columns[4].codes).0
        });
        assert!(bits.is_sorted() && bits[4] > 2.5, "{bits:?}");
        let table = of(40_000, 4, 1.0, 2);
        for (column, least) in [(0, 0.8), (1, 0.3), (2, 0.2), (3, 0.1)] {
            let bits = information(&table.columns[column].codes, &table.columns[4].codes).0;
            assert!(bits > least, "{column}: {bits} bits");
        }
    }

    #[test]
    fn columns_are_what_they_are_said_to_be() {
        let table = of(20_000, MOST_QUASI, 0.8, 5);
        let roles: Vec<Role> = table.columns.iter().map(|column| column.role).collect();
        assert_eq!(roles, [vec![Role::Quasi; MOST_QUASI], vec![Role::Sensitive]].concat());
        let ages = table.columns[0].domain.numbers().unwrap();
        assert!(ages.len() > 60 && ages[0] >= 18.0 && ages[ages.len() - 1] <= 90.0);
        assert_eq!(table.columns[2].domain.n_values(), 64);
        assert_eq!(table.columns[MOST_QUASI].domain.n_values(), DISEASES.len());
        let names: HashSet<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names.len(), MOST_QUASI + 1);
        for column in &table.columns {
            assert!(column.domain.n_values() > 1 && !column.domain.has_missing());
            assert!(column.domain.texts().iter().all(|text| !text.contains([',', ';', '"', '\n'])));
        }
    }

    #[test]
    fn regions_have_a_hierarchy() {
        let table = of(20_000, 3, 0.8, 5);
        let mut written = Vec::new();
        write_region_hierarchy(&mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert!(written.starts_with("north 1.1;north 1;north;*\n"));
        let texts = table.columns[2].domain.texts();
        let paths =
            written.lines().map(|line| line.split_once(';').unwrap()).map(|(town, rest)| (town, rest.split(';')));
        let hierarchy = Hierarchy::from_paths(texts, paths).unwrap();
        assert_eq!((hierarchy.n_terms(), hierarchy.n_nodes()), (64, 64 + 16 + 4 + 1));
    }

    #[test]
    fn nonsense_is_refused_by_flag() {
        let good = People::default();
        for (params, flag) in [
            (People { rows: 0, ..good.clone() }, "--rows"),
            (People { rows: u64::MAX, ..good.clone() }, "--rows"),
            (People { quasi: 0, ..good.clone() }, "--quasi"),
            (People { quasi: 31, ..good.clone() }, "--quasi"),
            (People { strength: 1.5, ..good.clone() }, "--strength"),
            (People { strength: f64::NAN, ..good }, "--strength"),
        ] {
            assert!(matches!(people(&params), Err(Error::Recipe { key, hint: Some(_), .. }) if key == flag));
        }
    }
}
