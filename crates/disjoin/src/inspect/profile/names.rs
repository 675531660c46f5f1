//! What the name of a column says about what it is for: whole words in English, German, French and Spanish.
//!
//! Promises:   a name that is not known says nothing: nobody is published because of a guess
//! Checked by: tests in this file, `tests/it/roles/kinds.rs`

/// What a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The number of a person or of a row.
    Id,
    /// Names a person, or leads to one.
    Direct,
    /// Others may know it of a person.
    Known,
    /// A code of places, whose beginnings are larger places.
    Postcode,
    /// Nobody may learn it about a person.
    Sensitive,
}

const ID: &[&str] = &[
    "id",
    "pid",
    "uid",
    "tid",
    "mrn",
    "key",
    "rowid",
    "patient",
    "person",
    "user",
    "customer",
    "member",
    "client",
    "subject",
    "case",
    "fall",
    "kunde",
    "personid",
    "patientid",
    "userid",
    "customerid",
    "caseid",
    "record",
    "row",
    "number",
    "nummer",
    "nr",
    "nhs",
    "insurance",
];
const DIRECT: &[&str] = &[
    "name",
    "surname",
    "forename",
    "firstname",
    "lastname",
    "fullname",
    "vorname",
    "nachname",
    "nom",
    "prenom",
    "nombre",
    "apellido",
    "email",
    "mail",
    "phone",
    "telephone",
    "telefon",
    "mobile",
    "fax",
    "address",
    "adresse",
    "direccion",
    "street",
    "strasse",
    "stra\u{df}e",
    "ssn",
    "iban",
    "passport",
    "account",
    "url",
    "ip",
    "login",
    "username",
    "licence",
    "license",
    "plate",
    "signature",
];
const POSTCODE: &[&str] = &["postcode", "zip", "zipcode", "plz", "postleitzahl", "postal"];
const KNOWN: &[&str] = &[
    "age",
    "alter",
    "edad",
    "sex",
    "gender",
    "geschlecht",
    "sexe",
    "sexo",
    "birth",
    "born",
    "dob",
    "birthdate",
    "birthday",
    "geburtsdatum",
    "geburt",
    "geburtsjahr",
    "naissance",
    "nacimiento",
    "year",
    "jahr",
    "date",
    "datum",
    "fecha",
    "admission",
    "admitted",
    "discharge",
    "aufnahme",
    "entlassung",
    "visit",
    "region",
    "state",
    "land",
    "bundesland",
    "country",
    "county",
    "city",
    "town",
    "ort",
    "stadt",
    "ville",
    "ciudad",
    "district",
    "kreis",
    "area",
    "municipality",
    "nationality",
    "citizenship",
    "native",
    "race",
    "ethnicity",
    "education",
    "degree",
    "school",
    "bildung",
    "occupation",
    "job",
    "profession",
    "beruf",
    "workclass",
    "employer",
    "industry",
    "sector",
    "marital",
    "familienstand",
    "relationship",
    "children",
    "household",
    "family",
    "height",
    "weight",
    "language",
    "sprache",
    "groesse",
    "gewicht",
    "death",
];
const SENSITIVE: &[&str] = &[
    "diagnosis",
    "diagnose",
    "disease",
    "illness",
    "condition",
    "disorder",
    "icd",
    "icd10",
    "hiv",
    "cancer",
    "krankheit",
    "diagnosen",
    "maladie",
    "salary",
    "income",
    "wage",
    "gehalt",
    "einkommen",
    "earning",
    "religion",
    "party",
    "vote",
    "union",
    "orientation",
    "conviction",
    "offence",
    "crime",
    "result",
    "befund",
    "outcome",
    "treatment",
    "therapy",
    "drug",
    "medication",
    "medikament",
    "symptom",
    "procedure",
    "debt",
    "loan",
    "credit",
    "balance",
    "pregnant",
    "pregnancy",
    "disability",
    "depression",
    "alcohol",
    "smoker",
    "smoking",
    "bmi",
];

/// What a name announces, if it is known. What points to a person comes first: nothing of it is published.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let holds = |list: &[&str]| {
        words
            .iter()
            .any(|word| list.contains(&word.as_str()) || word.strip_suffix('s').is_some_and(|one| list.contains(&one)))
    };
    let is_date = holds(&["date", "datum", "fecha", "year", "jahr", "age"]);
    match () {
        () if holds(POSTCODE) => Some(Meaning::Postcode),
        () if holds(DIRECT) => Some(Meaning::Direct),
        () if holds(SENSITIVE) && !is_date => Some(Meaning::Sensitive),
        () if holds(ID) && !holds(KNOWN) => Some(Meaning::Id),
        () if holds(KNOWN) => Some(Meaning::Known),
        () => None,
    }
}

/// The words of a name in lower case: `birthDate` is `birth` and `date`.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous = ' ';
    for character in name.chars() {
        if character.is_alphanumeric() {
            let starts = !previous.is_alphanumeric()
                || (previous.is_lowercase() && character.is_uppercase())
                || (previous.is_alphabetic()
                    && character.is_numeric()
                    && words.last().is_none_or(|word| word != "icd"));
            if starts {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        }
        previous = character;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_whole_words() {
        for (name, expected) in [
            ("patient_id", Some(Meaning::Id)),
            ("PatientID", Some(Meaning::Id)),
            ("first name", Some(Meaning::Direct)),
            ("e-mail", Some(Meaning::Direct)),
            ("ZIP code", Some(Meaning::Postcode)),
            ("PLZ", Some(Meaning::Postcode)),
            ("birthDate", Some(Meaning::Known)),
            ("native-country", Some(Meaning::Known)),
            ("patient age", Some(Meaning::Known)),
            ("date of diagnosis", Some(Meaning::Known)),
            ("diagnoses", Some(Meaning::Sensitive)),
            ("salary-class", Some(Meaning::Sensitive)),
            ("ICD10", Some(Meaning::Sensitive)),
            ("x7", None),
            ("vintage", None),
            ("identity", None),
            ("", None),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }
}
