//! The table of diagnoses of the hospital register: names, places in the hierarchy, and whom they befall.
//!
//! Promises:   each diagnosis has one code, one name, one group and one chapter; each group has one chapter
//! Assumes:    codes and chapters follow ICD-10 at three characters; names are plain words for them. Frequencies and
//!             age profiles are from general knowledge: plausible, not measured, and not to be cited
//! Checked by: tests in mod.rs

use Age::{Any, Between, Infant, Rising, Young};

/// A diagnosis that patients of the register can have.
#[derive(Debug)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The category of ICD-10, three characters.
    pub code: &'static str,
    /// A plain name, without comma or semicolon.
    pub name: &'static str,
    /// The group of related diagnoses.
    pub group: &'static str,
    /// The chapter of ICD-10 that the group is in.
    pub chapter: &'static str,
    /// How many of 1000 patients of the ages and sex most concerned have it without any of the hidden conditions.
    pub(super) per_mille: f64,
    pub(super) age: Age,
    pub(super) sex: BySex,
}

impl Diagnosis {
    /// How much of the full frequency applies at an age and sex; 0 means that it never occurs there.
    pub(super) fn factor(&self, age: u8, male: bool) -> f64 {
        self.age.factor(age) * self.sex.factor(male)
    }
}

/// How a frequency depends on age.
#[derive(Debug, Clone, Copy)]
pub(super) enum Age {
    /// Not at all.
    Any,
    /// In the first year of life only.
    Infant,
    /// Falling, half of it at the given age.
    Young(u8),
    /// Rising, half of it at the given age.
    Rising(u8),
    /// A parabola that is zero at both given ages and beyond.
    Between(u8, u8),
}

impl Age {
    /// The share of the full frequency at an age. Shares below a hundredth are 0, so that no child has dementia.
    pub(super) fn factor(self, age: u8) -> f64 {
        let x = f64::from(age);
        let share = match self {
            Any => 1.0,
            Infant => f64::from(u8::from(age == 0)),
            Young(half) => 1.0 / (1.0 + ((x - f64::from(half)) / 3.0).exp()),
            Rising(half) => 1.0 / (1.0 + ((f64::from(half) - x) / 8.0).exp()),
            Between(from, to) => {
                let (from, to) = (f64::from(from), f64::from(to));
                4.0 * (x - from) * (to - x) / (to - from).powi(2)
            }
        };
        if share < 0.01 { 0.0 } else { share }
    }
}

/// Factors for men and for women.
#[derive(Debug, Clone, Copy)]
pub(super) struct BySex(pub(super) f64, pub(super) f64);

impl BySex {
    pub(super) fn factor(self, male: bool) -> f64 {
        if male { self.0 } else { self.1 }
    }
}

pub(super) const ALL: BySex = BySex(1.0, 1.0);
pub(super) const MEN: BySex = BySex(1.0, 0.0);
pub(super) const WOMEN: BySex = BySex(0.0, 1.0);
pub(super) const MORE_MEN: BySex = BySex(1.0, 0.5);
pub(super) const MORE_WOMEN: BySex = BySex(0.5, 1.0);
pub(super) const RARELY_MEN: BySex = BySex(0.1, 1.0);

/// A group of diagnoses and its chapter.
struct Group(&'static str, &'static str);

const fn d(code: &'static str, name: &'static str, group: Group, per_mille: f64, age: Age, sex: BySex) -> Diagnosis {
    Diagnosis { code, name, group: group.0, chapter: group.1, per_mille, age, sex }
}

const INFECTION: &str = "infectious diseases";
const NEOPLASM: &str = "neoplasms";
const BLOOD: &str = "diseases of the blood";
const ENDOCRINE: &str = "endocrine and metabolic diseases";
const MENTAL: &str = "mental and behavioural disorders";
const NERVOUS: &str = "diseases of the nervous system";
const EYE: &str = "diseases of the eye";
const EAR: &str = "diseases of the ear";
const CIRCULATION: &str = "diseases of the circulatory system";
const RESPIRATION: &str = "diseases of the respiratory system";
const DIGESTION: &str = "diseases of the digestive system";
const SKIN: &str = "diseases of the skin";
const MOVEMENT: &str = "diseases of the musculoskeletal system";
const GENITOURINARY: &str = "diseases of the genitourinary system";
const PREGNANCY: &str = "pregnancy and childbirth";
const PERINATAL: &str = "perinatal conditions";
const CONGENITAL: &str = "congenital malformations";
const SYMPTOM: &str = "symptoms and signs";
const INJURY: &str = "injury and poisoning";
const SPECIAL: &str = "codes for special purposes";
const FACTOR: &str = "factors influencing health";

const GUT_INFECTION: Group = Group("intestinal infections", INFECTION);
const BACTERIA: Group = Group("bacterial infections", INFECTION);
const VIRUS: Group = Group("viral infections", INFECTION);
const BLOOD_BORNE: Group = Group("viral hepatitis and HIV", INFECTION);
const SEXUAL_INFECTION: Group = Group("sexually transmitted infections", INFECTION);
const FUNGUS: Group = Group("fungal infections", INFECTION);
const GUT_CANCER: Group = Group("digestive cancers", NEOPLASM);
const CHEST_CANCER: Group = Group("respiratory cancers", NEOPLASM);
const SKIN_CANCER: Group = Group("skin cancers", NEOPLASM);
const BREAST_CANCER: Group = Group("cancers of the breast", NEOPLASM);
const FEMALE_CANCER: Group = Group("female genital cancers", NEOPLASM);
const MALE_CANCER: Group = Group("male genital cancers", NEOPLASM);
const URINARY_CANCER: Group = Group("urinary tract cancers", NEOPLASM);
const BLOOD_CANCER: Group = Group("lymphoid and blood cancers", NEOPLASM);
const OTHER_CANCER: Group = Group("other and secondary cancers", NEOPLASM);
const BENIGN: Group = Group("benign neoplasms", NEOPLASM);
const ANAEMIA: Group = Group("anaemias", BLOOD);
const CLOTTING: Group = Group("coagulation and white cell disorders", BLOOD);
const IMMUNE: Group = Group("immune disorders", BLOOD);
const THYROID: Group = Group("thyroid disorders", ENDOCRINE);
const DIABETES: Group = Group("diabetes mellitus", ENDOCRINE);
const NUTRITION: Group = Group("nutrition and obesity", ENDOCRINE);
const METABOLISM: Group = Group("metabolic disorders", ENDOCRINE);
const DEMENTIA: Group = Group("organic mental disorders", MENTAL);
const SUBSTANCE: Group = Group("substance use disorders", MENTAL);
const PSYCHOSIS: Group = Group("schizophrenia and related disorders", MENTAL);
const MOOD: Group = Group("mood disorders", MENTAL);
const NEUROSIS: Group = Group("anxiety and stress disorders", MENTAL);
const BEHAVIOUR: Group = Group("behavioural syndromes", MENTAL);
const DEVELOPMENT: Group = Group("developmental disorders", MENTAL);
const BRAIN_INFLAMMATION: Group = Group("inflammation of the nervous system", NERVOUS);
const DEGENERATION: Group = Group("degenerative brain diseases", NERVOUS);
const EPISODIC: Group = Group("episodic disorders", NERVOUS);
const PARALYSIS: Group = Group("nerve disorders and paralysis", NERVOUS);
const LENS: Group = Group("lens and retina disorders", EYE);
const OTHER_EYE: Group = Group("glaucoma and other eye disorders", EYE);
const EARS: Group = Group("ear disorders", EAR);
const HYPERTENSION: Group = Group("hypertensive diseases", CIRCULATION);
const CORONARY: Group = Group("ischaemic heart diseases", CIRCULATION);
const HEART: Group = Group("other heart diseases", CIRCULATION);
const CEREBROVASCULAR: Group = Group("cerebrovascular diseases", CIRCULATION);
const VESSELS: Group = Group("diseases of arteries and veins", CIRCULATION);
const UPPER_AIRWAY: Group = Group("upper respiratory diseases", RESPIRATION);
const LUNG_INFECTION: Group = Group("lower respiratory infections", RESPIRATION);
const CHRONIC_LUNG: Group = Group("chronic lower respiratory diseases", RESPIRATION);
const OTHER_LUNG: Group = Group("other lung diseases", RESPIRATION);
const STOMACH: Group = Group("upper digestive diseases", DIGESTION);
const BOWEL: Group = Group("bowel diseases", DIGESTION);
const HERNIA: Group = Group("appendix and hernia", DIGESTION);
const LIVER: Group = Group("liver diseases", DIGESTION);
const BILE: Group = Group("gallbladder and pancreas diseases", DIGESTION);
const SKIN_INFECTION: Group = Group("skin infections", SKIN);
const DERMATITIS: Group = Group("dermatitis and psoriasis", SKIN);
const ULCER: Group = Group("skin ulcers", SKIN);
const JOINTS: Group = Group("joint diseases", MOVEMENT);
const RHEUMATIC: Group = Group("rheumatic and connective tissue diseases", MOVEMENT);
const SPINE: Group = Group("back disorders", MOVEMENT);
const BONE: Group = Group("bone and soft tissue disorders", MOVEMENT);
const KIDNEY: Group = Group("kidney diseases", GENITOURINARY);
const URINARY: Group = Group("stones and urinary tract diseases", GENITOURINARY);
const MALE_ORGANS: Group = Group("male genital diseases", GENITOURINARY);
const FEMALE_ORGANS: Group = Group("female genital diseases", GENITOURINARY);
const EARLY_PREGNANCY: Group = Group("early pregnancy problems", PREGNANCY);
const PREGNANCY_DISORDER: Group = Group("disorders in pregnancy", PREGNANCY);
const DELIVERY: Group = Group("delivery and complications", PREGNANCY);
const NEWBORN: Group = Group("newborn conditions", PERINATAL);
const HEART_DEFECT: Group = Group("heart defects", CONGENITAL);
const OTHER_DEFECT: Group = Group("other malformations", CONGENITAL);
const CHEST_SYMPTOM: Group = Group("chest and abdominal symptoms", SYMPTOM);
const BRAIN_SYMPTOM: Group = Group("neurological symptoms", SYMPTOM);
const GENERAL_SYMPTOM: Group = Group("general symptoms", SYMPTOM);
const HEAD_INJURY: Group = Group("head injuries", INJURY);
const TRUNK_INJURY: Group = Group("trunk injuries", INJURY);
const LIMB_INJURY: Group = Group("limb injuries", INJURY);
const POISONING: Group = Group("poisoning and burns", INJURY);
const COVID: Group = Group("new diseases", SPECIAL);
const CARE: Group = Group("care and history", FACTOR);

/// All diagnoses, in the order of their codes.
pub(super) const DIAGNOSES: &[Diagnosis] = &[
    d("A04", "bacterial bowel infection", GUT_INFECTION, 10.0, Rising(60), ALL),
    d("A08", "viral gastroenteritis", GUT_INFECTION, 28.0, Young(8), ALL),
    d("A09", "infectious gastroenteritis", GUT_INFECTION, 24.0, Any, ALL),
    d("A15", "tuberculosis of the lung", BACTERIA, 1.6, Rising(25), MORE_MEN),
    d("A41", "sepsis", BACTERIA, 10.0, Rising(60), ALL),
    d("A46", "erysipelas", BACTERIA, 12.0, Rising(55), ALL),
    d("A53", "syphilis", SEXUAL_INFECTION, 1.6, Between(15, 65), MORE_MEN),
    d("A56", "chlamydia infection", SEXUAL_INFECTION, 4.0, Between(14, 50), MORE_WOMEN),
    d("A60", "genital herpes", SEXUAL_INFECTION, 2.4, Between(15, 60), MORE_WOMEN),
    d("A69", "Lyme disease", BACTERIA, 1.6, Any, ALL),
    d("B01", "chickenpox", VIRUS, 4.0, Young(10), ALL),
    d("B02", "shingles", VIRUS, 8.0, Rising(60), ALL),
    d("B16", "acute hepatitis B", BLOOD_BORNE, 1.4, Between(16, 75), MORE_MEN),
    d("B18", "chronic hepatitis C", BLOOD_BORNE, 3.0, Between(18, 85), MORE_MEN),
    d("B20", "HIV disease", BLOOD_BORNE, 2.4, Between(16, 80), MORE_MEN),
    d("B27", "infectious mononucleosis", VIRUS, 4.0, Between(8, 30), ALL),
    d("B37", "candidiasis", FUNGUS, 6.0, Any, ALL),
    d("C15", "oesophageal cancer", GUT_CANCER, 2.4, Rising(62), MORE_MEN),
    d("C16", "stomach cancer", GUT_CANCER, 3.0, Rising(64), MORE_MEN),
    d("C18", "colon cancer", GUT_CANCER, 14.0, Rising(66), ALL),
    d("C20", "rectal cancer", GUT_CANCER, 7.0, Rising(64), MORE_MEN),
    d("C22", "liver cancer", GUT_CANCER, 2.0, Rising(62), MORE_MEN),
    d("C25", "pancreatic cancer", GUT_CANCER, 4.0, Rising(66), ALL),
    d("C34", "lung cancer", CHEST_CANCER, 10.0, Rising(62), MORE_MEN),
    d("C43", "malignant melanoma", SKIN_CANCER, 4.0, Rising(50), ALL),
    d("C44", "other skin cancer", SKIN_CANCER, 18.0, Rising(70), ALL),
    d("C50", "breast cancer", BREAST_CANCER, 26.0, Rising(52), BySex(0.01, 1.0)),
    d("C53", "cervical cancer", FEMALE_CANCER, 3.0, Between(25, 85), WOMEN),
    d("C54", "cancer of the uterus", FEMALE_CANCER, 5.0, Rising(58), WOMEN),
    d("C56", "ovarian cancer", FEMALE_CANCER, 4.0, Rising(56), WOMEN),
    d("C61", "prostate cancer", MALE_CANCER, 28.0, Rising(66), MEN),
    d("C62", "testicular cancer", MALE_CANCER, 3.0, Between(15, 55), MEN),
    d("C64", "kidney cancer", URINARY_CANCER, 4.0, Rising(60), MORE_MEN),
    d("C67", "bladder cancer", URINARY_CANCER, 8.0, Rising(66), MORE_MEN),
    d("C71", "brain cancer", OTHER_CANCER, 2.0, Any, ALL),
    d("C73", "thyroid cancer", OTHER_CANCER, 2.4, Between(15, 85), MORE_WOMEN),
    d("C78", "secondary cancer of lung or liver", OTHER_CANCER, 3.0, Rising(58), ALL),
    d("C79", "secondary cancer of bone or brain", OTHER_CANCER, 2.0, Rising(58), ALL),
    d("C81", "Hodgkin lymphoma", BLOOD_CANCER, 1.2, Between(10, 75), ALL),
    d("C83", "non-Hodgkin lymphoma", BLOOD_CANCER, 5.0, Rising(58), ALL),
    d("C90", "multiple myeloma", BLOOD_CANCER, 2.4, Rising(64), ALL),
    d("C91", "lymphoid leukaemia", BLOOD_CANCER, 2.4, Any, ALL),
    d("C92", "myeloid leukaemia", BLOOD_CANCER, 2.0, Rising(56), ALL),
    d("D12", "colon polyp", BENIGN, 24.0, Rising(56), ALL),
    d("D25", "uterine fibroids", BENIGN, 24.0, Between(25, 62), WOMEN),
    d("D50", "iron deficiency anaemia", ANAEMIA, 24.0, Any, MORE_WOMEN),
    d("D57", "sickle cell disease", ANAEMIA, 1.4, Young(40), ALL),
    d("D62", "anaemia after bleeding", ANAEMIA, 10.0, Rising(50), ALL),
    d("D63", "anaemia in chronic disease", ANAEMIA, 6.0, Rising(65), ALL),
    d("D66", "haemophilia", CLOTTING, 1.0, Any, MEN),
    d("D69", "low platelet count", CLOTTING, 5.0, Any, ALL),
    d("D70", "low white cell count", CLOTTING, 3.0, Any, ALL),
    d("D86", "sarcoidosis", IMMUNE, 1.6, Between(20, 75), ALL),
    d("E03", "underactive thyroid", THYROID, 60.0, Rising(50), BySex(0.25, 1.0)),
    d("E04", "goitre", THYROID, 18.0, Rising(45), BySex(0.3, 1.0)),
    d("E05", "overactive thyroid", THYROID, 10.0, Between(15, 95), BySex(0.3, 1.0)),
    d("E06", "thyroiditis", THYROID, 4.0, Between(12, 80), RARELY_MEN),
    d("E10", "type 1 diabetes", DIABETES, 10.0, Any, ALL),
    d("E11", "type 2 diabetes", DIABETES, 50.0, Rising(58), ALL),
    d("E40", "malnutrition", NUTRITION, 6.0, Rising(75), ALL),
    d("E55", "vitamin D deficiency", NUTRITION, 14.0, Any, ALL),
    d("E66", "obesity", NUTRITION, 50.0, Between(8, 90), ALL),
    d("E78", "high cholesterol", METABOLISM, 54.0, Rising(52), ALL),
    d("E84", "cystic fibrosis", METABOLISM, 1.2, Young(38), ALL),
    d("E86", "dehydration", METABOLISM, 18.0, Any, ALL),
    d("E87", "electrolyte disorder", METABOLISM, 32.0, Rising(65), ALL),
    d("F03", "dementia", DEMENTIA, 20.0, Rising(84), ALL),
    d("F05", "delirium", DEMENTIA, 8.0, Rising(80), ALL),
    d("F10", "alcohol use disorder", SUBSTANCE, 18.0, Between(15, 85), BySex(1.0, 0.35)),
    d("F11", "opioid use disorder", SUBSTANCE, 3.0, Between(15, 65), MORE_MEN),
    d("F12", "cannabis use disorder", SUBSTANCE, 5.0, Between(13, 50), MORE_MEN),
    d("F17", "tobacco dependence", SUBSTANCE, 35.0, Between(14, 90), MORE_MEN),
    d("F20", "schizophrenia", PSYCHOSIS, 3.6, Between(15, 85), ALL),
    d("F25", "schizoaffective disorder", PSYCHOSIS, 1.6, Between(16, 75), ALL),
    d("F31", "bipolar disorder", MOOD, 4.0, Between(15, 80), ALL),
    d("F32", "depression", MOOD, 36.0, Between(10, 100), MORE_WOMEN),
    d("F41", "anxiety disorder", NEUROSIS, 26.0, Between(8, 90), MORE_WOMEN),
    d("F42", "obsessive-compulsive disorder", NEUROSIS, 1.6, Between(8, 65), ALL),
    d("F43", "stress disorder", NEUROSIS, 10.0, Between(8, 85), MORE_WOMEN),
    d("F45", "somatoform disorder", NEUROSIS, 6.0, Between(12, 85), MORE_WOMEN),
    d("F50", "eating disorder", BEHAVIOUR, 3.6, Between(10, 38), RARELY_MEN),
    d("F51", "insomnia", BEHAVIOUR, 12.0, Rising(40), ALL),
    d("F60", "personality disorder", BEHAVIOUR, 3.0, Between(15, 60), MORE_WOMEN),
    d("F79", "intellectual disability", DEVELOPMENT, 3.0, Young(45), ALL),
    d("F84", "autism", DEVELOPMENT, 5.0, Young(22), BySex(1.0, 0.3)),
    d("F90", "attention deficit disorder", DEVELOPMENT, 10.0, Between(4, 30), BySex(1.0, 0.4)),
    d("G03", "meningitis", BRAIN_INFLAMMATION, 1.4, Any, ALL),
    d("G20", "Parkinson disease", DEGENERATION, 14.0, Rising(74), ALL),
    d("G30", "Alzheimer disease", DEGENERATION, 14.0, Rising(84), ALL),
    d("G35", "multiple sclerosis", DEGENERATION, 4.0, Between(16, 80), MORE_WOMEN),
    d("G40", "epilepsy", EPISODIC, 16.0, Any, ALL),
    d("G43", "migraine", EPISODIC, 18.0, Between(10, 70), BySex(0.3, 1.0)),
    d("G45", "transient ischaemic attack", EPISODIC, 12.0, Rising(66), ALL),
    d("G47", "sleep apnoea", EPISODIC, 24.0, Between(25, 90), BySex(1.0, 0.3)),
    d("G56", "carpal tunnel syndrome", PARALYSIS, 12.0, Between(25, 95), MORE_WOMEN),
    d("G62", "polyneuropathy", PARALYSIS, 12.0, Rising(64), ALL),
    d("G80", "cerebral palsy", PARALYSIS, 2.4, Young(35), ALL),
    d("G81", "paralysis of one side", PARALYSIS, 4.0, Rising(66), ALL),
    d("H25", "cataract", LENS, 36.0, Rising(70), ALL),
    d("H33", "retinal detachment", LENS, 4.0, Rising(52), ALL),
    d("H35", "macular degeneration", LENS, 14.0, Rising(76), ALL),
    d("H36", "diabetic retinopathy", LENS, 2.0, Rising(50), ALL),
    d("H40", "glaucoma", OTHER_EYE, 18.0, Rising(68), ALL),
    d("H66", "middle ear infection", EARS, 28.0, Young(8), ALL),
    d("H81", "vertigo", EARS, 16.0, Rising(52), ALL),
    d("H90", "hearing loss", EARS, 18.0, Rising(74), ALL),
    d("I10", "essential hypertension", HYPERTENSION, 160.0, Rising(56), ALL),
    d("I11", "hypertensive heart disease", HYPERTENSION, 20.0, Rising(72), ALL),
    d("I20", "angina pectoris", CORONARY, 18.0, Rising(62), MORE_MEN),
    d("I21", "heart attack", CORONARY, 20.0, Rising(62), MORE_MEN),
    d("I25", "ischaemic heart disease", CORONARY, 60.0, Rising(66), MORE_MEN),
    d("I26", "pulmonary embolism", VESSELS, 8.0, Rising(56), ALL),
    d("I34", "mitral valve disease", HEART, 10.0, Rising(72), ALL),
    d("I35", "aortic valve disease", HEART, 14.0, Rising(74), ALL),
    d("I42", "cardiomyopathy", HEART, 6.0, Rising(52), MORE_MEN),
    d("I48", "atrial fibrillation", HEART, 64.0, Rising(72), ALL),
    d("I50", "heart failure", HEART, 36.0, Rising(76), ALL),
    d("I61", "brain haemorrhage", CEREBROVASCULAR, 4.0, Rising(64), ALL),
    d("I63", "stroke", CEREBROVASCULAR, 18.0, Rising(68), ALL),
    d("I65", "narrowed carotid artery", CEREBROVASCULAR, 10.0, Rising(68), MORE_MEN),
    d("I70", "peripheral artery disease", VESSELS, 18.0, Rising(66), MORE_MEN),
    d("I71", "aortic aneurysm", VESSELS, 5.0, Rising(68), BySex(1.0, 0.25)),
    d("I80", "deep vein thrombosis", VESSELS, 10.0, Rising(50), ALL),
    d("I83", "varicose veins", VESSELS, 20.0, Between(20, 95), MORE_WOMEN),
    d("I85", "oesophageal varices", VESSELS, 1.6, Rising(48), MORE_MEN),
    d("J06", "upper respiratory infection", UPPER_AIRWAY, 40.0, Young(9), ALL),
    d("J12", "viral pneumonia", LUNG_INFECTION, 4.0, Any, ALL),
    d("J18", "pneumonia", LUNG_INFECTION, 24.0, Any, ALL),
    d("J20", "acute bronchitis", LUNG_INFECTION, 14.0, Any, ALL),
    d("J21", "bronchiolitis", LUNG_INFECTION, 50.0, Young(2), ALL),
    d("J30", "hay fever", UPPER_AIRWAY, 18.0, Between(4, 70), ALL),
    d("J32", "chronic sinusitis", UPPER_AIRWAY, 10.0, Between(10, 80), ALL),
    d("J35", "enlarged tonsils", UPPER_AIRWAY, 44.0, Between(1, 26), ALL),
    d("J42", "chronic bronchitis", CHRONIC_LUNG, 8.0, Rising(58), ALL),
    d("J44", "chronic obstructive pulmonary disease", CHRONIC_LUNG, 34.0, Rising(62), ALL),
    d("J45", "asthma", CHRONIC_LUNG, 26.0, Any, ALL),
    d("J84", "lung fibrosis", OTHER_LUNG, 4.0, Rising(66), ALL),
    d("J90", "pleural effusion", OTHER_LUNG, 8.0, Rising(66), ALL),
    d("J96", "respiratory failure", OTHER_LUNG, 8.0, Rising(64), ALL),
    d("K02", "tooth decay", STOMACH, 16.0, Young(16), ALL),
    d("K21", "acid reflux", STOMACH, 56.0, Rising(45), ALL),
    d("K25", "stomach ulcer", STOMACH, 8.0, Rising(56), ALL),
    d("K29", "gastritis", STOMACH, 32.0, Rising(30), ALL),
    d("K35", "acute appendicitis", HERNIA, 28.0, Between(4, 55), ALL),
    d("K40", "inguinal hernia", HERNIA, 32.0, Any, BySex(1.0, 0.1)),
    d("K43", "abdominal wall hernia", HERNIA, 12.0, Rising(48), ALL),
    d("K50", "Crohn disease", BOWEL, 3.0, Between(10, 75), ALL),
    d("K51", "ulcerative colitis", BOWEL, 3.0, Between(12, 80), ALL),
    d("K56", "bowel obstruction", BOWEL, 12.0, Rising(60), ALL),
    d("K57", "diverticular disease", BOWEL, 36.0, Rising(62), ALL),
    d("K58", "irritable bowel syndrome", BOWEL, 8.0, Between(14, 75), MORE_WOMEN),
    d("K59", "constipation", BOWEL, 22.0, Any, ALL),
    d("K61", "anal abscess", BOWEL, 5.0, Between(15, 75), MORE_MEN),
    d("K64", "haemorrhoids", BOWEL, 18.0, Between(18, 95), ALL),
    d("K70", "alcoholic liver disease", LIVER, 4.0, Between(25, 85), BySex(1.0, 0.4)),
    d("K74", "cirrhosis of the liver", LIVER, 4.0, Rising(54), MORE_MEN),
    d("K76", "fatty liver", LIVER, 16.0, Between(15, 90), ALL),
    d("K80", "gallstones", BILE, 34.0, Rising(44), MORE_WOMEN),
    d("K81", "gallbladder inflammation", BILE, 6.0, Rising(48), ALL),
    d("K85", "acute pancreatitis", BILE, 8.0, Rising(36), ALL),
    d("K90", "coeliac disease", BOWEL, 2.4, Any, MORE_WOMEN),
    d("L02", "skin abscess", SKIN_INFECTION, 12.0, Between(10, 90), ALL),
    d("L03", "cellulitis", SKIN_INFECTION, 14.0, Rising(40), ALL),
    d("L20", "atopic dermatitis", DERMATITIS, 12.0, Young(18), ALL),
    d("L40", "psoriasis", DERMATITIS, 10.0, Rising(28), ALL),
    d("L89", "pressure ulcer", ULCER, 8.0, Rising(80), ALL),
    d("L97", "leg ulcer", ULCER, 6.0, Rising(72), ALL),
    d("M05", "rheumatoid arthritis", RHEUMATIC, 10.0, Rising(48), MORE_WOMEN),
    d("M10", "gout", JOINTS, 14.0, Rising(58), BySex(1.0, 0.25)),
    d("M16", "arthrosis of the hip", JOINTS, 38.0, Rising(64), ALL),
    d("M17", "arthrosis of the knee", JOINTS, 44.0, Rising(60), ALL),
    d("M23", "knee joint damage", JOINTS, 26.0, Between(12, 75), ALL),
    d("M32", "lupus", RHEUMATIC, 1.6, Between(14, 75), RARELY_MEN),
    d("M35", "Sjogren syndrome", RHEUMATIC, 2.0, Rising(48), RARELY_MEN),
    d("M41", "scoliosis", SPINE, 5.0, Any, MORE_WOMEN),
    d("M45", "ankylosing spondylitis", SPINE, 2.0, Between(18, 80), MORE_MEN),
    d("M48", "spinal stenosis", SPINE, 16.0, Rising(66), ALL),
    d("M51", "slipped disc", SPINE, 26.0, Between(20, 80), ALL),
    d("M54", "back pain", SPINE, 40.0, Rising(34), ALL),
    d("M75", "shoulder disorder", BONE, 24.0, Between(25, 90), ALL),
    d("M79", "fibromyalgia", BONE, 5.0, Between(25, 80), RARELY_MEN),
    d("M81", "osteoporosis", BONE, 36.0, Rising(74), BySex(0.2, 1.0)),
    d("N10", "kidney infection", KIDNEY, 12.0, Any, BySex(0.3, 1.0)),
    d("N17", "acute kidney failure", KIDNEY, 14.0, Rising(70), ALL),
    d("N18", "chronic kidney disease", KIDNEY, 52.0, Rising(72), ALL),
    d("N20", "kidney stones", URINARY, 24.0, Between(16, 90), MORE_MEN),
    d("N25", "renal bone disease", KIDNEY, 1.6, Rising(56), ALL),
    d("N39", "urinary tract infection", URINARY, 36.0, Rising(60), MORE_WOMEN),
    d("N40", "enlarged prostate", MALE_ORGANS, 76.0, Rising(66), MEN),
    d("N43", "hydrocele", MALE_ORGANS, 8.0, Any, MEN),
    d("N47", "tight foreskin", MALE_ORGANS, 24.0, Young(11), MEN),
    d("N80", "endometriosis", FEMALE_ORGANS, 18.0, Between(16, 52), WOMEN),
    d("N81", "prolapse of the uterus", FEMALE_ORGANS, 20.0, Rising(60), WOMEN),
    d("N83", "ovarian cyst", FEMALE_ORGANS, 20.0, Between(12, 60), WOMEN),
    d("N92", "heavy menstruation", FEMALE_ORGANS, 18.0, Between(12, 56), WOMEN),
    d("N97", "female infertility", FEMALE_ORGANS, 6.0, Between(22, 46), WOMEN),
    d("O00", "ectopic pregnancy", EARLY_PREGNANCY, 8.0, Between(14, 50), WOMEN),
    d("O03", "miscarriage", EARLY_PREGNANCY, 32.0, Between(14, 50), WOMEN),
    d("O04", "termination of pregnancy", EARLY_PREGNANCY, 16.0, Between(14, 50), WOMEN),
    d("O14", "pre-eclampsia", PREGNANCY_DISORDER, 6.0, Between(14, 50), WOMEN),
    d("O20", "bleeding in early pregnancy", EARLY_PREGNANCY, 18.0, Between(14, 50), WOMEN),
    d("O21", "severe pregnancy sickness", PREGNANCY_DISORDER, 10.0, Between(14, 50), WOMEN),
    d("O24", "gestational diabetes", PREGNANCY_DISORDER, 10.0, Between(14, 50), WOMEN),
    d("O42", "premature rupture of membranes", DELIVERY, 8.0, Between(14, 50), WOMEN),
    d("O60", "preterm labour", DELIVERY, 10.0, Between(14, 50), WOMEN),
    d("O70", "perineal tear at delivery", DELIVERY, 6.0, Between(14, 50), WOMEN),
    d("O72", "bleeding after delivery", DELIVERY, 4.0, Between(14, 50), WOMEN),
    d("O80", "normal delivery", DELIVERY, 65.0, Between(14, 50), WOMEN),
    d("O82", "delivery by caesarean section", DELIVERY, 29.0, Between(14, 50), WOMEN),
    d("P07", "preterm birth", NEWBORN, 56.0, Infant, ALL),
    d("P22", "newborn breathing trouble", NEWBORN, 56.0, Infant, ALL),
    d("P36", "newborn sepsis", NEWBORN, 14.0, Infant, ALL),
    d("P59", "newborn jaundice", NEWBORN, 150.0, Infant, ALL),
    d("P92", "newborn feeding problem", NEWBORN, 56.0, Infant, ALL),
    d("Q21", "hole in the heart", HEART_DEFECT, 5.0, Young(6), ALL),
    d("Q53", "undescended testicle", OTHER_DEFECT, 22.0, Young(7), MEN),
    d("Q65", "hip dysplasia", OTHER_DEFECT, 6.0, Young(5), MORE_WOMEN),
    d("Q90", "Down syndrome", OTHER_DEFECT, 2.4, Young(35), ALL),
    d("R07", "chest pain", CHEST_SYMPTOM, 36.0, Rising(38), ALL),
    d("R10", "abdominal pain", CHEST_SYMPTOM, 40.0, Any, ALL),
    d("R13", "swallowing disorder", CHEST_SYMPTOM, 6.0, Rising(72), ALL),
    d("R29", "tendency to fall", BRAIN_SYMPTOM, 18.0, Rising(80), ALL),
    d("R32", "urinary incontinence", GENERAL_SYMPTOM, 16.0, Rising(76), MORE_WOMEN),
    d("R47", "speech disturbance", BRAIN_SYMPTOM, 4.0, Rising(68), ALL),
    d("R51", "headache", BRAIN_SYMPTOM, 18.0, Any, ALL),
    d("R55", "fainting", GENERAL_SYMPTOM, 24.0, Any, ALL),
    d("R56", "febrile convulsions", BRAIN_SYMPTOM, 18.0, Young(5), ALL),
    d("R57", "shock", GENERAL_SYMPTOM, 3.0, Rising(62), ALL),
    d("R64", "wasting", GENERAL_SYMPTOM, 2.0, Rising(70), ALL),
    d("S02", "fracture of skull or face", HEAD_INJURY, 10.0, Any, MORE_MEN),
    d("S06", "concussion or brain injury", HEAD_INJURY, 32.0, Any, MORE_MEN),
    d("S22", "fracture of rib or chest spine", TRUNK_INJURY, 10.0, Rising(42), ALL),
    d("S32", "fracture of pelvis or lower spine", TRUNK_INJURY, 8.0, Rising(60), ALL),
    d("S36", "injury of abdominal organs", TRUNK_INJURY, 1.6, Between(4, 80), MORE_MEN),
    d("S42", "fracture of shoulder or upper arm", LIMB_INJURY, 16.0, Any, ALL),
    d("S52", "fracture of the forearm", LIMB_INJURY, 28.0, Any, ALL),
    d("S72", "fracture of the thigh bone", LIMB_INJURY, 16.0, Rising(78), MORE_WOMEN),
    d("S82", "fracture of the lower leg", LIMB_INJURY, 24.0, Between(5, 95), ALL),
    d("S83", "knee ligament injury", LIMB_INJURY, 18.0, Between(10, 60), MORE_MEN),
    d("T30", "burns", POISONING, 5.0, Any, ALL),
    d("T39", "painkiller overdose", POISONING, 4.0, Between(12, 60), MORE_WOMEN),
    d("T42", "sedative overdose", POISONING, 3.0, Between(14, 75), MORE_WOMEN),
    d("T78", "severe allergy", POISONING, 8.0, Any, ALL),
    d("U07", "COVID-19", COVID, 0.0, Any, ALL),
    d("Z51", "chemotherapy session", CARE, 8.0, Rising(55), ALL),
    d("Z95", "cardiac implant or stent", CARE, 18.0, Rising(68), MORE_MEN),
    d("Z99", "dialysis dependence", CARE, 2.0, Rising(56), ALL),
];
