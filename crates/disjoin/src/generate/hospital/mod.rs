//! A synthetic hospital register: patients with age, sex, postcode, year of admission and a set of named diagnoses.
//!
//! Promises:   every patient has at least one diagnosis; the same patients for any number of threads
//! Assumes:    nothing about real people: names are plain words for ICD-10 categories; frequencies, ages and
//!             companions of diseases are plausible from general knowledge, not measured. Use it to see how protection
//!             behaves, never to learn about health
//! Cost:       one random number per patient and diagnosis
//! Checked by: tests in this file and in model.rs

mod conditions;
mod diagnoses;
mod model;

use std::io::{self, Write};

pub use diagnoses::Diagnosis;

use diagnoses::DIAGNOSES;
use model::Model;

use super::blocks_in_order;
use crate::data::{Dataset, RecordId, TermId, Transactions};
use crate::error::{Error, Result};

/// Generates a register.
pub fn hospital(params: &Params) -> Result<Register> {
    let range = format!("give a number from 1 to {}", u32::MAX);
    match params.patients {
        0 => return Err(Error::recipe("--patients", "must not be 0", range)),
        n if n > u64::from(u32::MAX) => return Err(Error::recipe("--patients", format!("{n} is too many"), range)),
        _ => {}
    }
    let model = Model::new()?;
    let mut register = Register::default();
    let make = |block, n| model.patients(params.seed, block, n);
    blocks_in_order(params.patients, make, |block| {
        register.append(block);
        Ok(())
    })?;
    Ok(register)
}

/// How many patients, and where randomness starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Params {
    /// Number of patients.
    pub patients: u64,
    /// Where randomness starts.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        // Enough that two diagnoses single somebody out, and few enough to be quick.
        Params { patients: 5000, seed: super::SEED }
    }
}

/// A register: one row per patient, held by columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Register {
    ages: Vec<u8>,
    sexes: Vec<Sex>,
    postcodes: Vec<u16>,
    years: Vec<u16>,
    /// Terms are positions in [`all_diagnoses`].
    diagnoses: Transactions,
}

/// One row of a [`Register`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patient<'a> {
    /// Age in years, 0 to 99.
    pub age: u8,
    /// Sex as registered.
    pub sex: Sex,
    /// Where the patient lives: four digits, of which the first two are the region.
    pub postcode: u16,
    /// The year of admission, 2015 to 2024.
    pub admission_year: u16,
    /// Positions in [`all_diagnoses`], ascending, at least one.
    pub diagnoses: &'a [TermId],
}

/// Sex as registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sex {
    /// Written `F`.
    Female,
    /// Written `M`.
    Male,
}

/// The diagnoses that can occur, in the order of their codes.
pub fn all_diagnoses() -> &'static [Diagnosis] {
    DIAGNOSES
}

/// Writes the hierarchy of diagnoses as ARX reads it: a line for each, `diagnosis;group;chapter;*`.
pub fn write_hierarchy(out: &mut dyn Write) -> io::Result<()> {
    let mut lines = csv::WriterBuilder::new().delimiter(b';').from_writer(out);
    for diagnosis in DIAGNOSES {
        lines.write_record([diagnosis.name, diagnosis.group, diagnosis.chapter, "*"])?;
    }
    lines.flush()
}

impl Register {
    /// The number of patients.
    pub fn len(&self) -> usize {
        self.ages.len()
    }

    /// Whether there is no patient.
    pub fn is_empty(&self) -> bool {
        self.ages.is_empty()
    }

    /// All patients in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Patient<'_>> {
        (0..self.len()).map(|row| Patient {
            age: self.ages[row],
            sex: self.sexes[row],
            postcode: self.postcodes[row],
            admission_year: self.years[row],
            diagnoses: self.diagnoses.record(row as RecordId),
        })
    }

    /// The sets of diagnoses alone; terms are the diagnoses' names.
    pub fn dataset(&self) -> Dataset {
        Dataset::from_texts(self.iter().map(|patient| patient.diagnoses.iter().map(|&id| DIAGNOSES[id as usize].name)))
    }

    /// Writes `patient,age,sex,postcode,admission_year,diagnoses`, a line for each patient, with `;` between diagnoses.
    /// Patients are numbered from 1.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut lines = csv::Writer::from_writer(out);
        lines.write_record(["patient", "age", "sex", "postcode", "admission_year", "diagnoses"])?;
        let mut names = String::new();
        for (patient, number) in self.iter().zip(1_u64..) {
            names.clear();
            for &id in patient.diagnoses {
                if !names.is_empty() {
                    names.push(';');
                }
                names.push_str(DIAGNOSES[id as usize].name);
            }
            let sex = match patient.sex {
                Sex::Female => "F",
                Sex::Male => "M",
            };
            let [number, age] = [number.to_string(), patient.age.to_string()];
            let [postcode, year] = [patient.postcode.to_string(), patient.admission_year.to_string()];
            lines.write_record([&number, &age, sex, &postcode, &year, &names])?;
        }
        lines.flush()
    }

    fn append(&mut self, mut block: Register) {
        self.ages.append(&mut block.ages);
        self.sexes.append(&mut block.sexes);
        self.postcodes.append(&mut block.postcodes);
        self.years.append(&mut block.years);
        self.diagnoses.append(&block.diagnoses);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    fn of(patients: u64, seed: u64) -> Register {
        hospital(&Params { patients, seed }).unwrap()
    }

    fn id(code: &str) -> TermId {
        DIAGNOSES.iter().position(|d| d.code == code).unwrap() as TermId
    }

    #[test]
    fn a_seed_means_the_same_patients_for_any_number_of_threads() {
        let with_threads = |n| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
            pool.install(|| of(25_000, 3))
        };
        let one = with_threads(1);
        assert_eq!(one, with_threads(2));
        assert_eq!(one, of(25_000, 3));
        assert_ne!(one, of(25_000, 4));
        assert_eq!(one.len(), 25_000);
    }

    #[test]
    fn the_table_is_a_hierarchy() {
        let (mut codes, mut names, mut chapters) = (HashSet::new(), HashSet::new(), HashMap::new());
        for d in DIAGNOSES {
            assert!(codes.insert(d.code), "{} twice", d.code);
            assert!(names.insert(d.name), "{} twice", d.name);
            assert_eq!(*chapters.entry(d.group).or_insert(d.chapter), d.chapter);
            assert_eq!(d.code.len(), 3);
            assert!(![d.name, d.group, d.chapter].iter().any(|text| text.contains([',', ';', '"', '*'])));
        }
        assert!(DIAGNOSES.is_sorted_by_key(|d| d.code));
        let groups: HashSet<&str> = chapters.keys().copied().collect();
        let chapters: HashSet<&str> = chapters.values().copied().collect();
        // A text means one level only, as hierarchies of generalization need.
        assert!(groups.is_disjoint(&chapters) && groups.is_disjoint(&names) && chapters.is_disjoint(&names));
        assert!((150..=280).contains(&DIAGNOSES.len()), "{} diagnoses", DIAGNOSES.len());

        let mut written = Vec::new();
        write_hierarchy(&mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written.lines().count(), DIAGNOSES.len());
        assert!(written.contains("\ntype 2 diabetes;diabetes mellitus;endocrine and metabolic diseases;*\n"));
    }

    #[test]
    fn age_and_sex_rule_diagnoses_out() {
        for patient in of(50_000, 1).iter() {
            assert!(!patient.diagnoses.is_empty());
            assert!(patient.age < 100 && (1000..5000).contains(&patient.postcode));
            assert!((2015..2025).contains(&patient.admission_year));
            for &id in patient.diagnoses {
                let d = &DIAGNOSES[id as usize];
                let male = patient.sex == Sex::Male;
                assert!(d.factor(patient.age, male) > 0.0, "{} at {} (male: {male})", d.name, patient.age);
                if d.chapter == "pregnancy and childbirth" {
                    assert!(!male && (14..=50).contains(&patient.age));
                }
                assert!(d.chapter != "perinatal conditions" || patient.age == 0);
                assert!(!d.name.contains("prostate") || male);
                assert!(d.code != "U07" || patient.admission_year >= 2020);
            }
        }
    }

    #[test]
    fn frequencies_and_companions_are_plausible() {
        let register = of(50_000, 2);
        let n = register.len() as f64;
        let share = |codes: &[&str]| {
            let ids: Vec<TermId> = codes.iter().map(|code| id(code)).collect();
            let holds_all = |patient: &Patient| ids.iter().all(|id| patient.diagnoses.contains(id));
            register.iter().filter(holds_all).count() as f64 / n
        };
        for (code, from, to) in [
            ("I10", 0.20, 0.35),
            ("E11", 0.10, 0.20),
            ("E78", 0.10, 0.22),
            ("I25", 0.05, 0.13),
            ("J45", 0.02, 0.07),
            ("F17", 0.06, 0.16),
            ("O80", 0.02, 0.06),
            ("F20", 0.002, 0.02),
            ("B20", 0.001, 0.01),
        ] {
            let share = share(&[code]);
            assert!((from..to).contains(&share), "{code}: {share}");
        }
        for (a, b) in [
            ("E11", "I10"),
            ("E11", "E66"),
            ("E78", "I25"),
            ("E11", "N18"),
            ("J44", "F17"),
            ("J44", "C34"),
            ("F10", "K70"),
            ("B20", "B18"),
            ("B18", "F11"),
            ("F03", "R29"),
            ("M81", "S72"),
            ("O80", "O70"),
            ("F32", "F41"),
            ("F20", "F17"),
            ("I50", "I48"),
            ("I63", "G81"),
            ("P07", "P22"),
            ("J45", "J30"),
            ("N18", "Z99"),
            ("A41", "N17"),
            ("U07", "J12"),
        ] {
            let lift = share(&[a, b]) / (share(&[a]) * share(&[b]));
            assert!(lift > 1.5, "{a} and {b}: lift {lift}");
        }
        let mean = register.diagnoses.n_incidences() as f64 / n;
        assert!((3.5..4.5).contains(&mean), "mean {mean}");
        let longest = register.iter().map(|patient| patient.diagnoses.len()).max().unwrap();
        assert!((15..60).contains(&longest), "longest {longest}");
    }

    /// The share of patients, of 5,000, who hold a pair of diagnoses that fewer than five of them hold.
    fn risky(seed: u64) -> f64 {
        let register = of(5_000, seed);
        let pairs = |patient: &Patient<'_>| -> Vec<(TermId, TermId)> {
            let d = patient.diagnoses.to_vec();
            (0..d.len()).flat_map(|i| (0..i).map(move |j| (j, i))).map(|(j, i)| (d[j], d[i])).collect()
        };
        let mut supports: HashMap<(TermId, TermId), u32> = HashMap::new();
        register.iter().flat_map(|patient| pairs(&patient)).for_each(|pair| *supports.entry(pair).or_default() += 1);
        let at_risk = |patient: &Patient| pairs(patient).iter().any(|pair| supports[pair] < 5);
        register.iter().filter(at_risk).count() as f64 / 5_000.0
    }

    #[test]
    fn about_half_of_the_patients_are_at_risk() {
        for seed in 0..3 {
            let share = risky(seed);
            assert!((0.4..0.6).contains(&share), "{share}");
        }
    }

    #[test]
    fn the_file_holds_what_the_register_holds() {
        let register = of(300, 5);
        let mut written = Vec::new();
        register.write_csv(&mut written).unwrap();
        let mut lines = csv::Reader::from_reader(&written[..]);
        assert_eq!(lines.headers().unwrap(), vec!["patient", "age", "sex", "postcode", "admission_year", "diagnoses"]);
        let rows: Vec<csv::StringRecord> = lines.records().collect::<std::result::Result<_, _>>().unwrap();
        assert_eq!(rows.len(), 300);
        for ((row, patient), number) in rows.iter().zip(register.iter()).zip(1..) {
            let expected = [number, u32::from(patient.age), patient.postcode.into(), patient.admission_year.into()];
            assert_eq!([0, 1, 3, 4].map(|i| row[i].parse::<u32>().unwrap()), expected);
            assert_eq!(&row[2], if patient.sex == Sex::Male { "M" } else { "F" });
        }
        let read = Dataset::from_texts(rows.iter().map(|row| row[5].split(';')));
        let dataset = register.dataset();
        assert_eq!(read.records, dataset.records);
        assert!(read.dictionary.iter().eq(dataset.dictionary.iter()));
    }

    #[test]
    fn nonsense_is_refused_by_flag() {
        for patients in [0, u64::MAX] {
            let Err(Error::Recipe { key, hint: Some(_), .. }) = hospital(&Params { patients, seed: 0 }) else {
                panic!("not refused")
            };
            assert_eq!(key, "--patients");
        }
    }
}
