//! The hidden conditions of the hospital register: why some diagnoses come together.
//!
//! Promises:   a patient with a condition has each of its diagnoses with the probability given beside it, less where
//!             age or sex make the diagnosis rare, on top of any other cause
//! Assumes:    strengths are from general knowledge: plausible, not measured, and not to be cited
//! Checked by: tests in mod.rs

use super::diagnoses::Age::{self, Any, Between, Infant, Rising, Young};
use super::diagnoses::{ALL, BySex, MORE_MEN, MORE_WOMEN, WOMEN};

/// A state of a patient that is not written in the register but causes several diagnoses that are.
pub(super) struct Condition {
    /// How many of 1000 patients of the ages and sex most concerned are in it.
    pub(super) per_mille: f64,
    pub(super) age: Age,
    pub(super) sex: BySex,
    /// Whether it is more frequent where people are poor.
    pub(super) by_poverty: bool,
    /// The first year of admission in which it occurs.
    pub(super) since: u16,
    /// Codes of diagnoses, and the probability of each given the condition.
    pub(super) causes: &'static [(&'static str, f64)],
}

/// A condition of all times that rich and poor share.
const fn c(per_mille: f64, age: Age, sex: BySex, causes: &'static [(&'static str, f64)]) -> Condition {
    Condition { per_mille, age, sex, by_poverty: false, since: 0, causes }
}

const fn by_poverty(condition: Condition) -> Condition {
    Condition { by_poverty: true, ..condition }
}

/// All hidden conditions. The comment above each says what it stands for.
#[rustfmt::skip]
pub(super) const CONDITIONS: &[Condition] = &[
    // Metabolic syndrome.
    by_poverty(c(560.0, Rising(50), ALL, &[
        ("I10", 0.75), ("E78", 0.55), ("E11", 0.45), ("E66", 0.35), ("I25", 0.28), ("N18", 0.16), ("G47", 0.08),
        ("K76", 0.08), ("M10", 0.05), ("Z95", 0.06),
    ])),
    // Complications of diabetes.
    c(120.0, Rising(58), ALL, &[("E11", 0.9), ("G62", 0.4), ("H36", 0.35), ("N18", 0.35), ("L97", 0.15), ("I70", 0.2)]),
    // Failing heart.
    c(240.0, Rising(72), ALL, &[("I50", 0.85), ("I48", 0.5), ("I10", 0.5), ("N18", 0.3), ("I34", 0.12), ("J90", 0.12)]),
    // Coronary event.
    c(120.0, Rising(62), MORE_MEN, &[
        ("I21", 0.6), ("I25", 0.8), ("I10", 0.5), ("E78", 0.5), ("Z95", 0.35), ("I20", 0.2),
    ]),
    // Stroke.
    c(120.0, Rising(70), ALL, &[("I63", 0.8), ("G81", 0.45), ("R47", 0.35), ("R13", 0.2), ("I10", 0.5), ("I48", 0.25)]),
    // Smoker's diseases.
    by_poverty(c(300.0, Between(20, 95), MORE_MEN, &[
        ("F17", 0.75), ("J44", 0.42), ("I70", 0.15), ("J18", 0.12), ("C34", 0.1), ("J42", 0.1), ("C67", 0.03),
    ])),
    // Alcohol.
    by_poverty(c(140.0, Between(18, 85), BySex(1.0, 0.35), &[
        ("F10", 0.9), ("F17", 0.4), ("K70", 0.3), ("K85", 0.1), ("G62", 0.1), ("S06", 0.12), ("I85", 0.1),
        ("D69", 0.08), ("K74", 0.12),
    ])),
    // Drug injection and its infections.
    by_poverty(c(22.0, Between(16, 70), MORE_MEN, &[
        ("F11", 0.75), ("B18", 0.5), ("B20", 0.3), ("L02", 0.12), ("F17", 0.4), ("T42", 0.08),
    ])),
    // HIV with its companions.
    c(9.0, Between(16, 75), BySex(1.0, 0.35), &[
        ("B20", 0.95), ("B18", 0.2), ("A53", 0.2), ("B37", 0.2), ("A15", 0.06),
    ]),
    // Frailty.
    c(470.0, Rising(83), ALL, &[
        ("R29", 0.5), ("F03", 0.4), ("M81", 0.4), ("S72", 0.28), ("N39", 0.3), ("R32", 0.3), ("E86", 0.2),
        ("F05", 0.15), ("L89", 0.12), ("G30", 0.15), ("E87", 0.15),
    ]),
    // Childbirth.
    c(470.0, Between(14, 50), WOMEN, &[
        ("O80", 0.6), ("O82", 0.3), ("O70", 0.3), ("O42", 0.15), ("O24", 0.12), ("D50", 0.1), ("O72", 0.1),
        ("O60", 0.08), ("O14", 0.07),
    ]),
    // A difficult start in life.
    c(560.0, Infant, ALL, &[("P07", 0.5), ("P22", 0.45), ("P59", 0.6), ("P92", 0.35), ("P36", 0.08), ("Q21", 0.04)]),
    // Infections of small children.
    c(540.0, Young(6), ALL, &[("J06", 0.45), ("J21", 0.3), ("H66", 0.3), ("A08", 0.25), ("E86", 0.2), ("R56", 0.12)]),
    // Atopy.
    c(96.0, Young(30), ALL, &[("J45", 0.6), ("J30", 0.45), ("L20", 0.35), ("T78", 0.12)]),
    // Severe mental illness.
    by_poverty(c(50.0, Between(15, 80), ALL, &[
        ("F20", 0.5), ("F31", 0.25), ("F25", 0.12), ("F17", 0.5), ("F12", 0.25), ("E66", 0.15),
    ])),
    // Low mood, worry and pain.
    c(190.0, Between(12, 95), MORE_WOMEN, &[
        ("F32", 0.65), ("F41", 0.5), ("M54", 0.25), ("F51", 0.15), ("G43", 0.12), ("F45", 0.12), ("M79", 0.1),
        ("K58", 0.08),
    ]),
    // Emotional instability and self-harm.
    c(22.0, Between(12, 50), MORE_WOMEN, &[
        ("F60", 0.6), ("T39", 0.3), ("T42", 0.25), ("F32", 0.4), ("F43", 0.3), ("F50", 0.1),
    ]),
    // Autoimmune tendency.
    c(43.0, Between(15, 90), BySex(0.3, 1.0), &[
        ("M05", 0.4), ("M35", 0.2), ("E06", 0.25), ("M32", 0.12), ("M81", 0.15),
    ]),
    // Worn joints and spine.
    c(190.0, Rising(62), ALL, &[("M17", 0.5), ("M16", 0.45), ("M48", 0.2), ("M54", 0.35), ("I10", 0.4)]),
    // Advanced cancer.
    c(120.0, Rising(60), ALL, &[
        ("C78", 0.5), ("C79", 0.35), ("Z51", 0.45), ("D63", 0.25), ("D70", 0.12), ("R64", 0.1),
    ]),
    // Septic illness.
    c(50.0, Rising(66), ALL, &[
        ("A41", 0.9), ("N17", 0.5), ("J18", 0.35), ("N39", 0.35), ("J96", 0.3), ("R57", 0.2), ("E87", 0.2),
    ]),
    // Heavy accident.
    c(22.0, Between(10, 80), MORE_MEN, &[
        ("S06", 0.5), ("S22", 0.45), ("S32", 0.25), ("S82", 0.2), ("S02", 0.25), ("S36", 0.12), ("D62", 0.2),
    ]),
    // COVID-19.
    Condition { since: 2020, ..c(120.0, Any, ALL, &[("U07", 1.0), ("J12", 0.4), ("J96", 0.2)]) },
    // Ageing eyes.
    c(140.0, Rising(74), ALL, &[("H25", 0.7), ("H40", 0.3), ("H35", 0.3)]),
    // Gallstone disease.
    c(49.0, Rising(42), MORE_WOMEN, &[("K80", 0.95), ("K81", 0.45), ("K85", 0.15)]),
    // Inflammatory bowel disease.
    c(14.0, Between(10, 75), ALL, &[("K50", 0.55), ("K51", 0.45), ("D50", 0.25), ("K61", 0.15)]),
    // End-stage kidney disease.
    c(43.0, Rising(60), ALL, &[("N18", 1.0), ("Z99", 0.6), ("D63", 0.45), ("N25", 0.4), ("I10", 0.7)]),
    // Early brain damage.
    c(19.0, Young(45), ALL, &[("G40", 0.6), ("F79", 0.5), ("G80", 0.4)]),
];
