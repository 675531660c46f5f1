//! `audit`: what does a file keep that somebody else made, with whatever tool?

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::repair::exists;
use super::{Answer, AttackOptions, forms};
use crate::audit::compared::{Compared, compare};
use crate::audit::require::{self, Met, Requirement};
use crate::audit::sets::{SetsAudit, audit_sets, release_of};
use crate::audit::{
    self, Asked, Labels, TableAudit, audit_table, criteria, partition, with_numbers, without_suppressed,
};
use crate::data::table::{Role, Table};
use crate::data::{Dataset, Dictionary, Hierarchy};
use crate::error::{Error, Result};
use crate::observer::{Observer, observed};
use crate::publish::{Destination, Package, Part, Readers, check_file, write_file};
use crate::read::rows::{Declared, TableIntake};
use crate::read::{Intake, Options, Sources, hierarchy, hierarchy_terms, read_sets, read_table_from};
use crate::recipe::resolve::default;
use crate::release::generalized::{DATA, Generalized, TableClaim};
use crate::release::privacy_models::Criterion;
use crate::release::recoded::{TRANSACTIONS, write_recoded};
use crate::report::{Audited, Dependencies, Judgement, Limit, Page, audit_page, audit_sets_page};
use crate::verify::verify_table_with;

/// What is asked of a file.
#[derive(Debug, Clone, Default)]
pub struct AuditOptions {
    /// Of a table: columns that others may know.
    pub quasi: Vec<String>,
    /// Of a table: columns that nobody may learn.
    pub sensitive: Vec<String>,
    /// What generalises what: of a column, or of the terms of sets.
    pub hierarchies: Vec<(Option<String>, PathBuf)>,
    /// Thresholds, the population, and whether values are shown.
    pub asked: Asked,
    /// Leave records out whose quasi-identifiers are all suppressed.
    pub without_suppressed: bool,
    /// Of sets: itemsets in fewer records are counted.
    pub k: Option<u32>,
    /// Of sets: how many terms of background knowledge an adversary has.
    pub m: Option<u32>,
    /// What it must keep, as `k=5,l=2`.
    pub require: Option<String>,
    /// What it was made from.
    pub original: Option<PathBuf>,
    /// Look for dependencies between columns.
    pub dependencies: bool,
    /// Where to write a report.
    pub report: Option<PathBuf>,
    /// Where to write a package with a claim of what was found.
    pub claim: Option<PathBuf>,
    /// Replace both if they exist.
    pub force: bool,
    /// How the file is read.
    pub input: Options,
}

/// Audits a table or sets that somebody else made.
pub fn audit(location: &Path, asked: &AuditOptions, sources: &dyn Sources, observer: &dyn Observer) -> Result<Answer> {
    observed(|| {
        let required = asked.require.as_deref().map(require::parse).transpose()?.unwrap_or_default();
        let places = Places::check(location, asked)?;
        let task = Task { location, asked, required: &required, places: &places, sources, observer };
        let answer = if asked.quasi.is_empty() { task.sets() } else { task.rows() }?;
        places.write_report(&answer.page, asked.force)?;
        Ok(places.told(answer))
    })
}

/// What is to be done, with everything that it takes.
struct Task<'a> {
    location: &'a Path,
    asked: &'a AuditOptions,
    required: &'a [Requirement],
    places: &'a Places,
    sources: &'a dyn Sources,
    observer: &'a dyn Observer,
}

/// A table and what was found in it, for programs.
#[derive(Serialize)]
struct OfTable<'a> {
    input: &'a TableIntake,
    #[serde(flatten)]
    found: &'a TableAudit,
    left_out: u64,
    original: Option<&'a Compared>,
    dependencies: Option<serde_json::Value>,
    requirements: &'a [Met],
}

impl Task<'_> {
    fn rows(&self) -> Result<Answer> {
        let &Task { location, asked, required, places, sources, observer } = self;
        asked.check_table()?;
        let (labels, declared) = asked.declared()?;
        observer.stage("reading the table");
        let (table, intake) = read_table_from(location, &asked.input, &declared, sources, observer)?;
        let table = with_numbers(table, &[Role::Sensitive]);
        let (table, left_out) = match asked.without_suppressed {
            true => without_suppressed(&table, &labels),
            false => (table, 0),
        };
        if table.n_rows() == 0 {
            let hint = "leave --without-suppressed out";
            return Err(Error::recipe("without-suppressed", "leaves no record: all are suppressed", hint));
        }
        asked.asked.check(table.n_rows() as u64)?;
        observer.stage("counting classes");
        let found = audit_table(&table, &labels, &asked.asked, observer);
        // What cannot be required is said before more is done.
        let met = require::of_table(required, &found)?;
        let compared = asked.compared(&table, &labels, sources, observer)?;
        let dependencies = match asked.dependencies {
            true => Some(forms::classes::dependencies_of(&table, None, &AttackOptions::default(), observer)?),
            false => None,
        };
        if let Some(destination) = &places.claim {
            observer.stage("writing the claim");
            write_table(&table, &found, destination, observer)?;
        }
        let told = Audited {
            file: &intake.file,
            found: &found,
            left_out,
            compared: compared.as_ref(),
            dependencies: dependencies.as_ref(),
            met: &met,
            names_values: asked.asked.name_values,
        };
        let (page, original) = (audit_page(&told), compared.as_ref());
        let dependencies =
            dependencies.as_ref().map(|of| dependencies_told(of, asked.asked.name_values)).transpose()?;
        let result = OfTable { input: &intake, found: &found, left_out, original, dependencies, requirements: &met };
        let mut answer = Answer::new(page, &result)?.judged(judged(&met))?;
        answer.warnings = warnings(&table);
        Ok(answer)
    }
}

/// Rules show values: without them there are counts only.
fn dependencies_told(found: &Dependencies, name_values: bool) -> Result<serde_json::Value> {
    match name_values {
        true => forms::value(found),
        false => {
            let found = &found.found;
            Ok(serde_json::json!({ "alpha": found.alpha, "rules": found.risks, "people": found.people }))
        }
    }
}

/// Columns that nobody named, and that nearly everybody has a value of their own in.
fn warnings(table: &Table) -> Vec<String> {
    let n = table.n_rows();
    let is_unique = |column: &&crate::data::table::Column| n >= 10 && column.domain.n_values() * 10 >= n * 9;
    let tell = |column: &crate::data::table::Column| {
        format!(
            "the column {} has a value of its own in nearly every record, and is not named: if others may know it, nothing here holds; name it with --quasi",
            column.name
        )
    };
    table.with_role(Role::Other).filter(is_unique).map(tell).collect()
}

impl AuditOptions {
    fn check_table(&self) -> Result<()> {
        for (flag, names) in [("quasi", &self.quasi), ("sensitive", &self.sensitive)] {
            if let Some(name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
                let problem = format!("names the column {} twice", name.1);
                return Err(Error::recipe(flag, problem, "name every column once"));
            }
        }
        if let Some(name) = self.sensitive.iter().find(|name| self.quasi.contains(name)) {
            let problem = format!("names the column {name}, which is a quasi-identifier as well");
            return Err(Error::recipe("sensitive", problem, "name it with --quasi or with --sensitive"));
        }
        if self.m.is_some() || self.k.is_some() {
            let key = if self.m.is_some() { "-m" } else { "-k" };
            let hint = "leave it out; --require k=5 asks for k-anonymity";
            return Err(Error::recipe(key, "is for sets, and columns are named", hint));
        }
        if self.dependencies && self.sensitive.is_empty() {
            let problem = "looks for rules that lead to sensitive values, and no column is sensitive";
            return Err(Error::recipe("dependencies", problem, "name columns with --sensitive"));
        }
        Ok(())
    }

    /// Labels of quasi-identifiers, and how the table is read: no column needs a role.
    fn declared(&self) -> Result<(Labels, Declared)> {
        let mut labels = Labels::new();
        let mut hierarchies = Vec::new();
        for (column, path) in &self.hierarchies {
            let Some(column) = column else {
                let problem = "does not say which column it is for";
                return Err(Error::recipe("hierarchy", problem, "write COLUMN=FILE"));
            };
            match (self.quasi.contains(column), self.sensitive.contains(column)) {
                (true, _) => {
                    let terms = hierarchy_terms(path)?;
                    labels.insert(column.clone(), (hierarchy(path, &terms)?, terms));
                }
                (_, true) => hierarchies.push((column.clone(), path.clone())),
                _ => {
                    let problem = format!("is for the column {column}, which is not named");
                    return Err(Error::recipe("hierarchy", problem, "name it with --quasi or --sensitive"));
                }
            }
        }
        let declared = Declared { hierarchies, rest: Some(Role::Other), ..self.roles() };
        Ok((labels, declared))
    }

    fn roles(&self) -> Declared {
        let role =
            |names: &[String], role: Role| names.iter().map(move |name| (name.clone(), role)).collect::<Vec<_>>();
        let roles = [role(&self.quasi, Role::Quasi), role(&self.sensitive, Role::Sensitive)].concat();
        Declared { roles, ..Declared::default() }
    }

    /// What was kept of the original, if it was named.
    fn compared(
        &self,
        table: &Table,
        labels: &Labels,
        sources: &dyn Sources,
        observer: &dyn Observer,
    ) -> Result<Option<Compared>> {
        let Some(location) = &self.original else { return Ok(None) };
        observer.stage("reading the original");
        let hierarchies = self.hierarchies.iter().filter_map(|(column, path)| Some((column.clone()?, path.clone())));
        let declared = Declared { hierarchies: hierarchies.collect(), rest: Some(Role::Identifier), ..self.roles() };
        let (original, _) = read_table_from(location, &self.input, &declared, sources, observer)?;
        let original = with_numbers(original, &[Role::Quasi, Role::Sensitive]);
        observer.stage("comparing with the original");
        Ok(Some(compare(table, &original, labels, self.asked.threshold, observer)))
    }
}

fn judged(met: &[Met]) -> Judgement {
    let limit = |met: &Met| Limit {
        key: format!("require.{}", met.key),
        meaning: format!("{}, at {}", met.meaning, if met.at_least { "least" } else { "most" }),
        limit: Some(met.limit),
        value: met.found.unwrap_or(f64::NAN),
        holds: met.met,
    };
    Judgement { proved: None, limits: met.iter().map(limit).collect(), holds: met.iter().all(|met| met.met) }
}

/// The table as a release, with the claim of what was found: proved before it is written.
fn write_table(table: &Table, found: &TableAudit, to: &Destination, observer: &dyn Observer) -> Result<()> {
    let criteria = criteria(found);
    if !criteria.iter().any(|criterion| matches!(criterion, Criterion::KAnonymity { .. })) {
        let problem = "there is nothing to promise: k is 1, and some record is unique";
        return Err(Error::recipe("claim", problem, "leave it out; the report says which classes are the worst"));
    }
    let classes = partition(table);
    let claim = TableClaim::new(table, &classes, audit::METHOD, &criteria);
    if !verify_table_with(&claim, table, None, observer).holds {
        return Err(Error::Internal("a claim of what was found does not hold"));
    }
    let data = Generalized::new(table, &classes);
    let json = claim.to_json()?;
    let package =
        Package::default().file(Part::Release, DATA, |file| data.write(file)).bytes(Part::Release, "claim.json", json);
    to.publish(|staging| package.write(staging, observer))
}

/// Sets and what was found in them, for programs.
#[derive(Serialize)]
struct OfSets<'a> {
    input: &'a Intake,
    #[serde(flatten)]
    found: &'a SetsAudit,
    requirements: &'a [Met],
}

impl Task<'_> {
    fn sets(&self) -> Result<Answer> {
        let &Task { location, asked, required, places, sources, observer } = self;
        let m = asked.check_sets()?;
        let k = asked.k.or_else(|| required.iter().find_map(Requirement::k)).unwrap_or(default::K);
        observer.stage("reading the data");
        let (data, intake) = read_sets(location, &asked.input, sources, observer)?;
        let labels = asked.terms()?;
        let hierarchy = labels.as_ref().map(|(hierarchy, terms)| (hierarchy, terms));
        observer.stage("counting sets of terms");
        let found = audit_sets(&data, hierarchy, k, m, observer);
        let met = require::of_sets(required, &found)?;
        if let Some(destination) = &places.claim {
            observer.stage("writing the claim");
            write_sets(&data, hierarchy, &found, destination, observer)?;
        }
        let page = audit_sets_page(&intake.file, &found, &met);
        Answer::new(page, &OfSets { input: &intake, found: &found, requirements: &met })?.judged(judged(&met))
    }
}

impl AuditOptions {
    /// How many terms are known; refuses what is for tables.
    fn check_sets(&self) -> Result<u32> {
        let Some(m) = self.m.filter(|&m| m > 0) else {
            let hint = "name the columns that others may know, as --quasi age,sex; of sets of terms say -m 3";
            return Err(Error::recipe("quasi", "is missing, and so is -m: is it a table, or sets of terms?", hint));
        };
        let of_tables = [
            ("sensitive", !self.sensitive.is_empty()),
            ("original", self.original.is_some()),
            ("population", self.asked.population.is_some()),
            ("name-values", self.asked.name_values),
            ("without-suppressed", self.without_suppressed),
            ("dependencies", self.dependencies),
        ];
        match of_tables.iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => Err(Error::recipe(*key, "is for tables", "name columns with --quasi, or leave it out")),
            None if self.k == Some(0) => Err(Error::recipe("-k", "must be at least 1", "for example 5")),
            None => Ok(m),
        }
    }

    /// The hierarchy of terms, if one is given.
    fn terms(&self) -> Result<Option<(Hierarchy, Dictionary)>> {
        match &self.hierarchies[..] {
            [] => Ok(None),
            [(None, path)] => {
                let terms = hierarchy_terms(path)?;
                Ok(Some((hierarchy(path, &terms)?, terms)))
            }
            _ => Err(Error::recipe("hierarchy", "terms have one hierarchy, and no column", "name one file")),
        }
    }
}

fn write_sets(
    data: &Dataset,
    hierarchy: Option<(&Hierarchy, &Dictionary)>,
    found: &SetsAudit,
    to: &Destination,
    observer: &dyn Observer,
) -> Result<()> {
    let (release, claim) = release_of(data, hierarchy, found)?;
    if !crate::verify::verify_recoded(&claim, &release, None, observer).holds {
        return Err(Error::Internal("a claim of what was found does not hold"));
    }
    let json = claim.to_json()?;
    let package = Package::default().file(Part::Release, TRANSACTIONS, |file| write_recoded(&release, file)).bytes(
        Part::Release,
        "claim.json",
        json,
    );
    to.publish(|staging| package.write(staging, observer))
}

/// Turns a page into text.
type Dress = fn(&Page) -> String;

/// Where results go, looked at before the work.
struct Places {
    claim: Option<Destination>,
    folder: Option<PathBuf>,
    report: Option<(PathBuf, Dress)>,
}

impl Places {
    fn check(location: &Path, asked: &AuditOptions) -> Result<Self> {
        let report =
            asked.report.as_ref().map(|path| dressed_by(path).map(|dress| (path.clone(), dress))).transpose()?;
        if let Some((path, _)) = &report {
            check_file(path, asked.force)?;
        }
        let claim = asked.claim.as_ref().map(|path| Destination::check(path)).transpose()?;
        if let (Some(destination), Some(path)) = (&claim, &asked.claim) {
            if destination.replaces() && !asked.force {
                return Err(exists(path));
            }
            destination.check_outside(location)?;
        }
        Ok(Places { claim, folder: asked.claim.clone(), report })
    }

    fn write_report(&self, page: &Page, force: bool) -> Result<()> {
        let Some((path, dress)) = &self.report else { return Ok(()) };
        write_file(path, force, Readers::Owner, |out| {
            std::io::Write::write_all(out, dress(page).as_bytes()).map_err(|e| Error::io(path, "write", e))
        })
    }

    fn told(&self, mut answer: Answer) -> Answer {
        answer.wrote.extend(self.report.iter().map(|(path, _)| path.clone()));
        if let Some(folder) = &self.folder {
            answer.tell_places(folder, false);
        }
        answer
    }
}

/// How a report is dressed, by the name of its file.
fn dressed_by(path: &Path) -> Result<Dress> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Ok(Page::html),
        Some("md") => Ok(Page::markdown),
        Some("txt") => Ok(Page::text),
        _ => Err(Error::recipe(
            "report",
            "does not say how it is written",
            "name a file that ends in .html, .md or .txt",
        )),
    }
}
