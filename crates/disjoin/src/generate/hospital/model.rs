//! One block of patients: age, sex, home and year first, then hidden conditions, then diagnoses.
//!
//! Promises:   every patient has at least one diagnosis, and none that age or sex rules out
//! Assumes:    codes in the table of conditions are codes in the table of diagnoses (else an internal error)
//! Cost:       one random number per patient and diagnosis; tables of about a megabyte
//! Checked by: tests in mod.rs

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::conditions::CONDITIONS;
use super::diagnoses::DIAGNOSES;
use super::{Register, Sex};
use crate::data::TermId;
use crate::error::{Error, Result};
use crate::generate::stream;

/// Every probability that does not change from patient to patient, by age and sex.
///
/// A diagnosis has several possible causes, each of which suffices (a noisy or): it comes by itself, as often as is
/// usual at this age and sex, or a hidden condition of the patient brings it. Diagnoses of one condition are
/// independent given the condition, and come together because few patients have it. A patient without any gets one as
/// the reason for admission.
#[derive(Default)]
pub(super) struct Model {
    /// Probabilities of all diagnoses, one row for each age and sex.
    background: Vec<f64>,
    /// Running sums of the same rows, to draw the reason for admission from.
    running: Vec<f64>,
    /// How much of a condition's power to bring a diagnosis applies, in the same rows. It is all of it where the
    /// diagnosis has reached half of its full frequency, and nothing where the diagnosis never occurs.
    openness: Vec<f64>,
    /// Probabilities of all conditions, one row for each age and sex, where poverty is average.
    conditions: Vec<f64>,
    /// For each condition its diagnoses and their probabilities.
    causes: Vec<Vec<(TermId, f64)>>,
}

/// The first year of admission, and how many years follow from it on.
const FIRST_YEAR: u16 = 2015;
const N_YEARS: u16 = 10;

/// Ages in years, both ends included, and how many of 1000 patients are of them: hospitals see the very young and the
/// old.
const AGES: [(u8, u8, u32); 8] =
    [(0, 0, 60), (1, 5, 45), (6, 17, 55), (18, 39, 215), (40, 59, 225), (60, 74, 220), (75, 89, 160), (90, 99, 20)];
const N_AGES: usize = 100;

/// Women outnumber men, mostly by childbirth.
const SHARE_OF_MEN: f64 = 0.47;

/// Postcodes have four digits: the first two are the region, from 10, the others the ward, from 0.
const N_REGIONS: u16 = 40;
const N_WARDS: u16 = 30;

impl Model {
    pub(super) fn new() -> Result<Self> {
        let mut model = Model::default();
        for row in 0..2 * N_AGES {
            let (age, male) = ((row / 2) as u8, row % 2 == 0);
            let mut sum = 0.0;
            for diagnosis in DIAGNOSES {
                let factor = diagnosis.factor(age, male);
                let p = diagnosis.per_mille / 1000.0 * factor;
                sum += p;
                model.openness.push((2.0 * factor).min(1.0));
                model.background.push(p);
                model.running.push(sum);
            }
            let p = CONDITIONS.iter().map(|c| c.per_mille / 1000.0 * c.age.factor(age) * c.sex.factor(male));
            model.conditions.extend(p);
        }
        let find = |&(code, p): &(&str, f64)| {
            let position = DIAGNOSES.iter().position(|diagnosis| diagnosis.code == code);
            position.map(|id| (id as TermId, p)).ok_or(Error::Internal("a condition causes an unknown diagnosis"))
        };
        model.causes =
            CONDITIONS.iter().map(|condition| condition.causes.iter().map(find).collect()).collect::<Result<_>>()?;
        Ok(model)
    }

    pub(super) fn patients(&self, seed: u64, block: u64, n: u64) -> Register {
        let mut rng = stream(seed, "hospital/patients", block);
        let mut register = Register::default();
        let mut diagnoses = Vec::new();
        for _ in 0..n {
            let age = draw_age(&mut rng);
            let sex = if chance(&mut rng, SHARE_OF_MEN) { Sex::Male } else { Sex::Female };
            let region = draw_region(&mut rng);
            let postcode = 100 * (10 + region) + rng.random_range(0..N_WARDS);
            let year = FIRST_YEAR + rng.random_range(0..N_YEARS);

            let row = 2 * usize::from(age) + usize::from(sex == Sex::Female);
            diagnoses.clear();
            self.add_background(row, &mut diagnoses, &mut rng);
            self.add_conditions(row, year, poverty(region), &mut diagnoses, &mut rng);
            if diagnoses.is_empty() {
                // Nobody is in hospital without a reason.
                diagnoses.push(self.reason_for_admission(row, &mut rng));
            }

            register.ages.push(age);
            register.sexes.push(sex);
            register.postcodes.push(postcode);
            register.years.push(year);
            register.diagnoses.push(&mut diagnoses);
        }
        register
    }

    /// One diagnosis by its frequency at this age and sex.
    fn reason_for_admission(&self, row: usize, rng: &mut ChaCha8Rng) -> TermId {
        let running = &self.running[row * DIAGNOSES.len()..][..DIAGNOSES.len()];
        let total = running[running.len() - 1];
        let point = rng.random::<f64>() * total;
        // The first sum above the point belongs to a diagnosis that occurs, for it is above the sum before it. Rounding
        // may put the point at the total; then the last diagnosis that occurs is meant.
        running.partition_point(|&sum| sum <= point && sum < total) as TermId
    }

    fn add_background(&self, row: usize, diagnoses: &mut Vec<TermId>, rng: &mut ChaCha8Rng) {
        let background = &self.background[row * DIAGNOSES.len()..][..DIAGNOSES.len()];
        diagnoses.extend((0..).zip(background).filter(|&(_, &p)| chance(rng, p)).map(|(id, _)| id));
    }

    fn add_conditions(&self, row: usize, year: u16, poverty: f64, diagnoses: &mut Vec<TermId>, rng: &mut ChaCha8Rng) {
        let openness = &self.openness[row * DIAGNOSES.len()..][..DIAGNOSES.len()];
        let p = &self.conditions[row * CONDITIONS.len()..][..CONDITIONS.len()];
        for ((condition, causes), &p) in CONDITIONS.iter().zip(&self.causes).zip(p) {
            let p = if condition.by_poverty { p * poverty } else { p };
            if year < condition.since || !chance(rng, p) {
                continue;
            }
            for &(id, p) in causes {
                if chance(rng, p * openness[id as usize]) {
                    diagnoses.push(id);
                }
            }
        }
    }
}

fn draw_age(rng: &mut ChaCha8Rng) -> u8 {
    let mut left = rng.random_range(0..1000);
    for (from, to, per_mille) in AGES {
        if left < per_mille {
            return rng.random_range(from..=to);
        }
        left -= per_mille;
    }
    // Not reached: the bands add up to 1000, which a test checks.
    0
}

/// Regions differ in size: the first is a city with more than ten times the people of the last.
fn draw_region(rng: &mut ChaCha8Rng) -> u16 {
    // The square of a uniform number has density 1/(2√x): many near 0, few near 1.
    let x: f64 = rng.random();
    (x * x * f64::from(N_REGIONS)) as u16
}

/// How much more or less frequent than average the conditions of poverty are in a region: from half to one and a half.
fn poverty(region: u16) -> f64 {
    // 17 and 40 have no common divisor: every level occurs in one region, without order.
    0.5 + f64::from(region * 17 % N_REGIONS) / f64::from(N_REGIONS - 1)
}

fn chance(rng: &mut ChaCha8Rng, p: f64) -> bool {
    rng.random::<f64>() < p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_cover_everyone_once() {
        assert_eq!(AGES.iter().map(|band| band.2).sum::<u32>(), 1000);
        let ages: Vec<u8> = AGES.iter().flat_map(|&(from, to, _)| from..=to).collect();
        assert!(ages.into_iter().eq(0..N_AGES as u8));
    }

    #[test]
    fn every_age_and_sex_has_reasons_for_admission() {
        let model = Model::new().unwrap();
        assert!(model.running.chunks(DIAGNOSES.len()).all(|row| row[row.len() - 1] > 0.05));
    }

    #[test]
    fn regions_stay_in_range_and_poverty_is_average_overall() {
        let mut rng = stream(1, "test", 0);
        assert!((0..10_000).all(|_| draw_region(&mut rng) < N_REGIONS));
        let mean = (0..N_REGIONS).map(poverty).sum::<f64>() / f64::from(N_REGIONS);
        assert!((mean - 1.0).abs() < 1e-9);
    }
}
