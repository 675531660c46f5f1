//! What a release promises, against whom, and with which parameters: the file claim.json.
//!
//! Promises:   its prose follows from its parameters. A claim whose prose says anything else is refused, and so is one with a field
//!             that this program does not know: nobody can read as proved what was not looked at
//! Departs:    of version 1, whose words were others, the prose is not read but derived; that of version 2 must be the words of that version, and
//!             lacks exceptions that version 3 has. What is proved is said in the words of today, whatever the version
//! Checked by: `tests/it/forged.rs`: every field of every form's claim, forged in every way

use std::ops::{Deref, DerefMut};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::disassociated::Header;
use crate::data::Visits;
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};

/// The `format` of claim.json.
pub const FORMAT: &str = "disjoin/claim";

/// The version of claim.json that this crate writes. Versions 1 and 2 differ in their words only, and are read as well. Other words than those
/// of today are another version: a claim is refused if its words are not those that follow from it.
pub const VERSION: u64 = 3;

/// What to do with a claim that nobody should believe.
const NOT_OURS: &str = "nothing of this release is proved: it was changed after it was made, or not made by disjoin; ask its maker for it again";

/// A form of release: what its data look like, and what can be promised about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Sets of terms, cut into chunks.
    Disassociated,
    /// A table in equivalence classes.
    #[serde(rename = "generalized")]
    Classes,
    /// Quasi-identifiers and sensitive columns in tables of their own.
    Split,
    /// Records of terms and groups of terms.
    Recoded,
    /// Counts with noise.
    Noisy,
}

impl Form {
    /// All of them.
    pub const ALL: [Form; 5] = [Form::Disassociated, Form::Classes, Form::Split, Form::Recoded, Form::Noisy];

    /// What a reader calls data of this form.
    pub fn text(self) -> &'static str {
        match self {
            Form::Disassociated => "a disassociated dataset",
            Form::Classes => "a generalised table",
            Form::Split => "a split table",
            Form::Recoded => "recoded transactions",
            Form::Noisy => "a noisy release",
        }
    }

    /// Its name in claims.
    pub fn name(self) -> &'static str {
        match self {
            Form::Disassociated => "disassociated",
            Form::Classes => "generalized",
            Form::Split => "split",
            Form::Recoded => "recoded",
            Form::Noisy => "noisy",
        }
    }
}

/// What a claim holds about the data of its form, besides what all claims hold.
pub trait Body: Serialize + DeserializeOwned {
    /// The form.
    const FORM: Form;

    /// What is wrong with it, whatever the data are; nothing if it can be used.
    fn fault(&self) -> Option<&'static str> {
        None
    }

    /// The promise in plain words.
    fn promised(&self) -> String;

    /// Against whom, and what is not promised, in plain words.
    fn adversary(&self) -> String;

    /// The promise and the adversary in the words of version 2, where these were others: they left exceptions out.
    fn words_of_version_2(&self) -> (String, String) {
        (self.promised(), self.adversary())
    }

    /// As much of the promise as a release can show: what may be called proved.
    fn provable(&self) -> String {
        self.promised()
    }

    /// Fields that `verify` cannot check, by their paths, each with why not.
    fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)>;
}

/// A reading of the guarantee: which possible originals count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promise {
    /// Nothing is promised: made for experiments.
    None,
    /// Possible originals are all datasets that agree with what is published (reading I0).
    Published,
    /// Of these, only datasets whose clusters vertical partitioning cuts into the record chunks that are published
    /// (reading I1).
    AlgorithmAware,
    /// Of these, only datasets from which the program makes this very release (reading I2), for sets without a term of a term chunk.
    ProgramAware,
}

impl Promise {
    /// Its name, as recipes write it.
    pub fn name(self) -> &'static str {
        match self {
            Promise::None => "none",
            Promise::Published => "published",
            Promise::AlgorithmAware => "algorithm-aware",
            Promise::ProgramAware => "program-aware",
        }
    }

    /// The promise in plain words.
    pub fn text(self, k: u32, m: u32) -> String {
        match self {
            Promise::None => "Nothing. This release was made for experiments and must not be published.".into(),
            Promise::Published => format!(
                "For every set of at most {m} terms that a person's record holds, there is a possible original \
                 dataset, consistent with everything published here, in which at least {k} records hold the set."
            ),
            Promise::AlgorithmAware => format!(
                "For every set of at most {m} terms that a person's record holds, there is a possible original \
                 dataset, consistent with everything published here, in which at least {k} records hold the set; if \
                 the set is of terms of record chunks of one cluster, also one that the algorithm cuts into these \
                 chunks."
            ),
            Promise::ProgramAware => format!(
                "For every set of at most {m} terms of record chunks of a cluster that a record holds, there is a dataset \
                 with {k} records holding it from which this program, with these parameters, makes this very release; \
                 likewise where terms of the set are in shared chunks around the cluster. For every set of at most {m} terms \
                 that a person's record holds and of which one is in a term chunk, there is a possible original dataset, \
                 consistent with everything published here, in which at least {k} records hold the set."
            ),
        }
    }

    /// What the promise does not cover though its words could be read so, in plain words.
    fn excepted(self, k: u32) -> String {
        match self {
            Promise::None | Promise::Published | Promise::ProgramAware => String::new(),
            Promise::AlgorithmAware => format!(
                " The latter does not cover sets with a term of a shared chunk or of a term chunk, nor what follows from how \
                 records were grouped: an adversary who runs the program on possible originals may find that fewer than {k} \
                 records hold a set."
            ),
        }
    }

    /// Against whom, in plain words.
    pub fn adversary(self, m: u32) -> String {
        match self {
            Promise::None => "nobody".into(),
            Promise::Published => format!(
                "An adversary with at most {m} terms of background knowledge about a person's record and no knowledge \
                 of terms that the record lacks, who reads what is published without using knowledge of the algorithm \
                 that made it (no minimality attack)."
            ),
            Promise::AlgorithmAware => format!(
                "An adversary with at most {m} terms of background knowledge about a person's record and no knowledge \
                 of terms that the record lacks, who knows the algorithm that cuts the records of a cluster into chunks \
                 (minimality attack); who does not also draw conclusions from how the algorithm grouped records and let \
                 clusters share chunks, nor from how rare terms of term chunks are."
            ),
            Promise::ProgramAware => format!(
                "An adversary with at most {m} terms of background knowledge about a person's record and no knowledge \
                 of terms that the record lacks, who has the source of the program, this claim and its parameters, and can \
                 run the program on any dataset. Of sets with a term of a term chunk it is covered only what can be read \
                 from what is published, not what follows from how the program chose these terms."
            ),
        }
    }
}

/// The claim that travels with a release: a head that all forms share, and a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim<B = Disassociation> {
    /// Always [`FORMAT`].
    pub format: String,
    /// 3, or an older one: 1 and 2 are read as well.
    pub version: u64,
    /// The form of the data.
    pub form: Form,
    /// The method that made it.
    pub method: String,
    /// The program that made it, with its version.
    pub made_by: String,
    /// The promise in plain words.
    pub promised: String,
    /// Against whom, and what is not promised, in plain words.
    pub adversary: String,
    /// If records are counted by people: what became of several rows of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<Visits>,
    /// What is claimed of this form.
    #[serde(flatten)]
    pub body: B,
}

impl<B> Deref for Claim<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.body
    }
}

impl<B> DerefMut for Claim<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.body
    }
}

/// What is claimed of disassociated data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disassociation {
    /// The parameters of the method.
    pub parameters: Parameters,
    /// Which reading of the guarantee is promised.
    pub promise: Promise,
    /// The number of records of the original.
    pub records: u64,
}

impl Body for Disassociation {
    const FORM: Form = Form::Disassociated;

    fn fault(&self) -> Option<&'static str> {
        self.parameters.fault()
    }

    fn promised(&self) -> String {
        self.parameters.promised(self.promise, Words::Whole)
    }

    fn adversary(&self) -> String {
        self.promise.adversary(self.parameters.m)
    }

    fn words_of_version_2(&self) -> (String, String) {
        (self.parameters.promised(self.promise, Words::OfVersion2), self.adversary())
    }

    fn provable(&self) -> String {
        // That the program made it cannot be seen; what follows from its rule of cutting can.
        let shown = if self.promise == Promise::ProgramAware { Promise::AlgorithmAware } else { self.promise };
        self.parameters.promised(shown, Words::Shown)
    }

    fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)> {
        self.parameters.unchecked(self.promise, with_original)
    }
}

/// How much of a promise is put into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::release) enum Words {
    /// All of it.
    Whole,
    /// What chunks show: not in how many records a sensitive term is.
    Shown,
    /// All of it as in version 2, without the exceptions.
    OfVersion2,
}

/// The parameters of disassociation, as published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters {
    /// How many records cannot be told apart.
    pub k: u32,
    /// How many terms of background knowledge the adversary has.
    pub m: u32,
    /// The cluster size that grouping aimed at.
    pub max_cluster: u32,
    /// Whether clusters may share chunks.
    pub refine: bool,
    /// How clusters were cut into chunks.
    #[serde(default)]
    pub cut: CutRule,
    /// Sensitive terms and how they are protected, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
}

impl Parameters {
    /// What no program of ours writes.
    pub(in crate::release) fn fault(&self) -> Option<&'static str> {
        let sensitive = self.sensitive.as_ref()?;
        match (sensitive.rule.as_deref(), sensitive.l) {
            (Some(rule), _) if !["multiplicity", "size"].contains(&rule) => {
                Some("names a rule of l-diversity that is not known here")
            }
            (Some(_), None) => Some("names a rule of l-diversity, but no l"),
            (_, Some(0 | 1)) => Some("promises an l-diversity that allows everything"),
            _ if !sensitive.terms.is_sorted_by(|a, b| a < b) => Some("lists sensitive terms that are not in order"),
            _ => None,
        }
    }

    /// The promise in plain words.
    pub(in crate::release) fn promised(&self, promise: Promise, words: Words) -> String {
        let mut text = promise.text(self.k, self.m);
        let is_today = words != Words::OfVersion2;
        if is_today {
            text += &promise.excepted(self.k);
        }
        let Some(Sensitive { terms, l, rule }) = self.sensitive.as_ref().filter(|_| promise != Promise::None) else {
            return text;
        };
        let (few, excepted) = match (l, rule.as_deref()) {
            (None, _) => (String::new(), String::new()),
            (Some(l), Some("size")) => (format!(", in clusters of at least {l} records"), String::new()),
            // Whoever knows how few records hold a sensitive term may know that fewer than k hold it with another.
            (Some(l), _) => {
                let few = match words {
                    Words::Shown => format!(", in clusters of at least {l} records"),
                    _ => format!(", each in at most one of {l} records of a cluster"),
                };
                let k = self.k;
                (
                    few,
                    format!(
                        " Sets with a sensitive term are excepted from the promise of {k} records: that rule may \
                               leave fewer."
                    ),
                )
            }
        };
        let (terms, stand) = match terms.len() {
            1 => (String::from("The sensitive term"), "stands"),
            n => (format!("The {n} sensitive terms"), "stand"),
        };
        let excepted = if is_today { excepted } else { String::new() };
        format!("{text} {terms} listed in the claim {stand} in term chunks only{few}.{excepted}")
    }

    /// What cannot be seen in chunks.
    pub(in crate::release) fn unchecked(&self, promise: Promise, with_original: bool) -> Vec<(String, &'static str)> {
        let mut fields = vec![
            ("parameters.max_cluster".into(), "what grouping aimed at; the promise does not depend on it"),
            (
                "parameters.refine".into(),
                "whether clusters were allowed to share chunks; the promise does not depend on it",
            ),
        ];
        let why = match promise {
            Promise::AlgorithmAware | Promise::ProgramAware => {
                "that clusters were cut by this rule; what it discloses is checked, if they were"
            }
            _ => "how clusters were cut; this promise does not depend on it",
        };
        fields.push(("parameters.cut".into(), why));
        if promise == Promise::ProgramAware {
            let why = "rests on the program that made the release: which terms split ranges of records, that k records of a range hold \
                       such a term and k do not, which chunks terms were tried in, and the room that refused terms leave; \
                       k^m-anonymity, sizes and the room that chunks leave are checked. With the original, the attack rerun makes the \
                       release again";
            fields.push(("promise".into(), why));
        }
        if self.sensitive.is_some() {
            fields.push((
                "parameters.sensitive.terms".into(),
                "which terms are sensitive was decided by the maker of the release",
            ));
        }
        if let Some(Sensitive { l: Some(_), rule, .. }) = &self.sensitive
            && rule.as_deref() != Some("size")
            && !with_original
        {
            let why =
                "in how many records of a cluster a sensitive term is: seen with the original and its custody only";
            fields.push(("parameters.sensitive.rule".into(), why));
        }
        fields
    }

    /// In how many records of a cluster a sensitive term may be, by what is claimed.
    pub fn most_of_sensitive(&self, size: u32) -> u32 {
        match &self.sensitive {
            // |P| >= l s(t, P)
            Some(Sensitive { l: Some(l), rule, .. }) if rule.as_deref() != Some("size") => size / (*l).max(1),
            _ => size,
        }
    }
}

/// How terms are assigned to chunks when a cluster is cut. Everybody may know it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutRule {
    /// To the first chunk that stays k^m-anonymous: the paper's rule. It depends on the data, and an adversary who knows it
    /// learns from it.
    #[default]
    Greedy,
    /// By what is published alone, a data-independent assignment: see `reconstruct/aware/weighed.rs`.
    Weighed,
}

/// What is promised about sensitive terms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sensitive {
    /// The terms, sorted. They stand in term chunks only.
    pub terms: Vec<String>,
    /// If l-diversity is promised: nobody is linked to a sensitive term with a probability above 1/l.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub l: Option<u32>,
    /// How l was enforced: `multiplicity` or `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl<B: Body> Claim<B> {
    /// A claim of this program.
    pub fn of(method: &str, body: B) -> Self {
        let (promised, adversary) = (body.promised(), body.adversary());
        Claim {
            format: FORMAT.into(),
            version: VERSION,
            form: B::FORM,
            method: method.to_owned(),
            made_by: concat!("disjoin ", env!("CARGO_PKG_VERSION")).into(),
            promised,
            adversary,
            people: None,
            body,
        }
    }

    /// The same claim of data whose records are counted by people.
    #[must_use]
    pub fn of_people(mut self, people: Option<Visits>) -> Self {
        self.people = people;
        (self.promised, self.adversary) = self.with_people((self.body.promised(), self.body.adversary()));
        self
    }

    /// The same words, and what they say about people where those are counted.
    fn with_people(&self, (promised, adversary): (String, String)) -> (String, String) {
        let is_table = matches!(B::FORM, Form::Classes | Form::Split);
        let people = self.people.map_or(("", ""), |people| (people.promised(is_table), people.adversary()));
        (promised + people.0, adversary + people.1)
    }

    /// Reads claim.json of this form.
    pub fn read(path: &Path) -> Result<Self> {
        let (text, found) = read_head(path)?;
        if found != B::FORM {
            let (found, expected) = (found.text(), B::FORM.text());
            let problem = format!("is the claim of {found}, where that of {expected} was expected");
            return Err(Error::input(Place::file(path.display().to_string()), problem));
        }
        let mut claim: Self = serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))?;
        let written: serde_json::Value = serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))?;
        match claim.fault(&written)? {
            Some(fault) => Err(Error::input(Place::file(path.display().to_string()), fault).with_hint(NOT_OURS)),
            None => {
                let today = || claim.with_people((claim.body.promised(), claim.body.adversary()));
                (claim.promised, claim.adversary) = claim.words().unwrap_or_else(today);
                Ok(claim)
            }
        }
    }

    /// The promise and the adversary as they must stand in a claim of its version; in the first they stood in other words.
    fn words(&self) -> Option<(String, String)> {
        match self.version {
            1 => None,
            2 => Some(self.with_people(self.body.words_of_version_2())),
            _ => Some(self.with_people((self.body.promised(), self.body.adversary()))),
        }
    }

    /// Why nobody should believe it, whatever the data are.
    fn fault(&self, written: &serde_json::Value) -> Result<Option<String>> {
        let again = serde_json::to_value(self).map_err(|_| Error::Internal("a claim is always JSON"))?;
        if let Some(field) = strange_field(written, &again) {
            let field = field.trim_end_matches('.');
            return Ok(Some(format!("has the field {field:?}, which claims of this form do not have, or not so")));
        }
        // Defaults are for claims of version 1.
        if let (2.., Some(field)) = (self.version, strange_field(&again, written)) {
            return Ok(Some(format!("lacks the field {:?}", field.trim_end_matches('.'))));
        }
        let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b" .,-+".contains(&b));
        if !is_name(&self.method) || !is_name(&self.made_by) {
            return Ok(Some(String::from("names its method or its program with other characters than names have")));
        }
        let told = (&self.promised, &self.adversary);
        if self.words().is_some_and(|(promised, adversary)| told != (&promised, &adversary)) {
            return Ok(Some(String::from("says something else in words than its parameters say")));
        }
        Ok(self.body.fault().map(str::to_owned))
    }

    /// What `verify` takes from the claim as it is, by field, each with why.
    pub fn unchecked(&self, with_original: bool) -> Vec<(String, &'static str)> {
        let mut fields = vec![
            ("made_by".into(), "which program made it cannot be seen in a release"),
            ("method".into(), "which method made it cannot be seen in a release; only what it promises is checked"),
        ];
        if self.people.is_some() && !with_original {
            let why = "whose records they are cannot be seen in a release: that people are counted is seen with the original and \
                       its custody only";
            fields.push(("people".into(), why));
        }
        fields.extend(self.body.unchecked(with_original));
        fields
    }

    /// The text of claim.json.
    pub fn to_json(&self) -> Result<String> {
        let mut text = serde_json::to_string_pretty(self).map_err(|_| Error::Internal("a claim is always JSON"))?;
        text.push('\n');
        Ok(text)
    }
}

impl Claim {
    /// The claim of a disassociated release.
    pub fn disassociation(parameters: Parameters, promise: Promise, records: u64) -> Self {
        Claim::of("disassociation", Disassociation { parameters, promise, records })
    }

    /// Refuses a claim that speaks about other data than the header of the data does.
    pub fn check_header(&self, header: &Header, file: &str) -> Result<()> {
        let agree = [
            (u64::from(self.parameters.k), u64::from(header.k), "k"),
            (u64::from(self.parameters.m), u64::from(header.m), "m"),
            (self.records, header.records, "the number of records"),
        ];
        match agree.iter().find(|(claimed, written, _)| claimed != written) {
            Some((claimed, written, what)) => Err(Error::input(
                Place::file(file),
                format!("{what} is {written} in the data, but {claimed} in the claim"),
            )
            .with_hint("claim.json and the data do not belong together")),
            None => Ok(()),
        }
    }
}

/// The form of the data that a claim.json speaks of.
pub fn form_of(path: &Path) -> Result<Form> {
    read_head(path).map(|(_, form)| form)
}

/// Reads a claim as far as all claims are alike: its text, and the form of its data.
fn read_head(path: &Path) -> Result<(Vec<u8>, Form)> {
    /// Looked at first, so that a future version is refused for its version and not for a missing field.
    #[derive(Deserialize)]
    struct Versioned {
        format: String,
        version: u64,
    }
    #[derive(Deserialize)]
    struct Formed {
        form: Form,
    }
    let text = read_file(path, "read the claim", Memory::default())?;
    let place = Place::file(path.display().to_string());
    let version: Versioned = serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))?;
    if version.format != FORMAT {
        return Err(Error::input(place, format!("the format is not \"{FORMAT}\"")));
    }
    if !(1..=VERSION).contains(&version.version) {
        let problem =
            format!("version {} of the claim is not known here; expected {VERSION} or older", version.version);
        return Err(Error::input(place, problem).with_hint("use the version of disjoin that wrote the release"));
    }
    let formed: Formed = serde_json::from_slice(&text).map_err(|e| not_a_claim(path, &e))?;
    Ok((text, formed.form))
}

/// The first field that this program would not have written, or not so.
fn strange_field(written: &serde_json::Value, again: &serde_json::Value) -> Option<String> {
    use serde_json::Value::{Array, Null, Number, Object};
    match (written, again) {
        (Object(written), Object(again)) => written.iter().find_map(|(name, value)| match again.get(name) {
            Some(again) => strange_field(value, again).map(|field| format!("{name}.{field}")),
            None if *value == Null => None,
            None => Some(name.clone()),
        }),
        (Array(written), Array(again)) if written.len() == again.len() => {
            written.iter().zip(again).find_map(|(a, b)| strange_field(a, b))
        }
        // 2 is written for 2.0.
        (Number(a), Number(b)) if a.as_f64() == b.as_f64() => None,
        (written, again) => (written != again).then(String::new),
    }
}

fn not_a_claim(path: &Path, error: &serde_json::Error) -> Error {
    let place = Place::line(path.display().to_string(), error.line() as u64);
    Error::input(place, format!("not a claim: {}", super::jsonl::describe(error)))
}
