//! The only way into a release, of whatever form: its claim, its data, and the custody beside it.
//!
//! Promises:   what a release is is said by its claim; data are read as anybody would read them
//! Departs:    it stands here and not in `release/`: reading a table is for `read`, finding a folder for `publish`
//! Checked by: `crates/disjoin-cli/tests/it/matrix.rs`

use std::path::{Path, PathBuf};

use super::forms::value;
use super::people;
use crate::data::{Dataset, Dictionary, Evidence, People, Table};
use crate::error::{Error, Place, Result};
use crate::memory::Memory;
use crate::observer::Observer;
use crate::publish::{Kept, custody_folder, encoding_of, release_folder};
use crate::read::rows::{ColumnReading, Declared, TableIntake};
use crate::read::{Intake, Options, Sources, read_sets, read_table_from};
use crate::reconstruct::{Model, Multiplicity};
use crate::release::open::{RootStream, Roots, load, load_into};
use crate::release::privacy_models::Criterion;
use crate::release::recoded::Recoded;
use crate::release::split::SplitTables;
use crate::release::{Claim, Disassociated, Form, RecodedClaim, SplitClaim, TableClaim, form_of};
use crate::report::{AnyClaim, AsRead};
use crate::verify::{NoisyFiles, open_noisy, open_recoded, open_split, open_table};

/// An opened release.
pub struct Opened {
    /// The folder with claim.json.
    pub folder: PathBuf,
    /// The custody folder that was named, or the one beside it.
    pub custody: Option<PathBuf>,
    /// What is in it.
    pub release: Release,
}

/// The data of a release with their claim.
pub enum Release {
    /// Sets of terms, cut into chunks; read when they are needed.
    Disassociated(Stored),
    /// A table in equivalence classes.
    Classes(TableClaim, Table),
    /// Quasi-identifiers and sensitive columns in tables of their own.
    Split(SplitClaim, SplitTables),
    /// Records of terms and groups of terms.
    Recoded(RecodedClaim, Recoded),
    /// Counts with noise.
    Noisy(NoisyFiles),
}

/// Disassociated data on disk.
pub struct Stored {
    /// What is promised.
    pub claim: Claim,
    /// data.jsonl or data.parquet.
    pub file: PathBuf,
}

/// Opens a release, given its package or its folder; its files may ask for so much memory.
pub fn open(path: &Path, custody: Option<&Path>, memory: Memory) -> Result<Opened> {
    let folder = release_folder(path)?;
    let claim = folder.join("claim.json");
    let release = match form_of(&claim)? {
        Form::Disassociated => {
            let file = folder.join(encoding_of(&folder)?.file_name());
            Release::Disassociated(Stored { claim: Claim::read(&claim)?, file })
        }
        Form::Classes => open_table(&folder, memory).map(|(claim, table)| Release::Classes(claim, table))?,
        Form::Split => open_split(&folder, memory).map(|(claim, tables)| Release::Split(claim, tables))?,
        Form::Recoded => open_recoded(&folder).map(|(claim, release)| Release::Recoded(claim, release))?,
        Form::Noisy => Release::Noisy(open_noisy(&folder, memory)?),
    };
    let custody = custody_folder(custody, &folder);
    Ok(Opened { folder, custody, release })
}

impl Opened {
    /// The form of its data.
    pub fn form(&self) -> Form {
        match &self.release {
            Release::Disassociated(_) => Form::Disassociated,
            Release::Classes(..) => Form::Classes,
            Release::Split(..) => Form::Split,
            Release::Recoded(..) => Form::Recoded,
            Release::Noisy(_) => Form::Noisy,
        }
    }

    /// What it claims.
    pub fn claim(&self) -> AnyClaim {
        match &self.release {
            Release::Disassociated(stored) => AnyClaim::Disassociated(stored.claim.clone()),
            Release::Classes(claim, _) => AnyClaim::Classes(claim.clone()),
            Release::Split(claim, _) => AnyClaim::Split(claim.clone()),
            Release::Recoded(claim, _) => AnyClaim::Recoded(claim.clone()),
            Release::Noisy(files) => AnyClaim::Noisy(files.claim.clone()),
        }
    }

    /// The program that made it.
    pub fn made_by(&self) -> &str {
        match &self.release {
            Release::Disassociated(stored) => &stored.claim.made_by,
            Release::Classes(claim, _) => &claim.made_by,
            Release::Split(claim, _) => &claim.made_by,
            Release::Recoded(claim, _) => &claim.made_by,
            Release::Noisy(files) => &files.claim.made_by,
        }
    }

    /// The k that is claimed; 1 if there is none.
    pub fn k(&self) -> u32 {
        let of = |criteria: &[Criterion]| {
            let k = |c: &Criterion| if let Criterion::KAnonymity { k } = c { Some(*k) } else { None };
            criteria.iter().filter_map(k).max().unwrap_or(1)
        };
        match &self.release {
            Release::Disassociated(stored) => stored.claim.parameters.k,
            Release::Classes(claim, _) => of(&claim.criteria),
            Release::Split(claim, _) => of(&claim.criteria),
            Release::Recoded(claim, _) => claim.k,
            Release::Noisy(_) => 1,
        }
    }

    /// What the custody folder holds, if there is one.
    pub fn kept(&self) -> Result<Option<Kept>> {
        self.custody.as_ref().map(|folder| Kept::read(folder, self.form())).transpose()
    }

    /// Refuses something that is done with other forms only.
    pub fn refuse<T>(&self, what: &str, forms: &[Form], hint: &str) -> Result<T> {
        let forms: Vec<&str> = forms.iter().map(|form| form.text()).collect();
        let problem = format!("is {}; {what} takes {}", self.form().text(), forms.join(" or "));
        Err(Error::input(Place::file(self.folder.display().to_string()), problem).with_hint(hint))
    }
}

impl Stored {
    /// The data as a stream, whose header agrees with the claim; they may ask for so much memory.
    pub fn roots(&self, memory: Memory) -> Result<Roots> {
        let roots = Roots::open(&self.file, memory)?;
        self.claim.check_header(&roots.header(), roots.file())?;
        Ok(roots)
    }

    /// All of it in memory, its terms sorted.
    pub fn load(&self, observer: &dyn Observer) -> Result<Disassociated> {
        load(&mut self.roots(observer.memory())?, observer)
    }

    /// All of it in memory, its terms in the order of the file.
    pub fn load_as_written(&self, observer: &dyn Observer) -> Result<Disassociated> {
        load_into(Dictionary::default(), &mut self.roots(observer.memory())?, observer)
    }

    /// A release laid out; what no dataset can have is an error, with the file's name.
    pub fn model<'a>(
        &self,
        release: &'a Disassociated,
        multiplicity: Multiplicity,
        observer: &'a dyn Observer,
    ) -> Result<Model<'a>> {
        let model = Model::watched(release, observer).map_err(|error| self.named(error))?;
        Ok(model.with_multiplicity(multiplicity))
    }

    /// The same error, with the file's name: what looks at data in memory does not know it.
    pub fn named(&self, error: Error) -> Error {
        match error {
            Error::Input { place, problem, hint } => {
                let file = self.file.display().to_string();
                Error::Input { place: Place { file, ..place }, problem, hint }
            }
            error => error,
        }
    }
}

/// What a release was made from, as far as somebody has it.
pub enum Original {
    /// A dataset, and which cluster or line shows each of its records.
    Sets {
        /// The data.
        data: Dataset,
        /// What was read.
        intake: Intake,
        /// What custody says of them.
        kept: Option<Kept>,
    },
    /// A table, and which class shows each of its rows.
    Table {
        /// The data.
        table: Table,
        /// What was read.
        intake: TableIntake,
        /// What custody says of them.
        kept: Kept,
    },
}

/// Where an original is, and how it is read.
#[derive(Debug, Clone, Default)]
pub struct Originally<'a> {
    /// The file, or the URL of a table in a database.
    pub location: Option<&'a Path>,
    /// How it is read, where its name and content do not say it.
    pub options: Options,
}

impl Originally<'_> {
    /// Reads it, if it was named; if custody was kept, another file than the one that was protected is refused.
    pub fn read(&self, opened: &Opened, sources: &dyn Sources, observer: &dyn Observer) -> Result<Option<Original>> {
        let Some(location) = self.location else { return Ok(None) };
        let kept = opened.kept()?;
        let is_table = matches!(opened.form(), Form::Classes | Form::Split);
        let original = match (is_table, kept) {
            (false, kept) => {
                let options = self.options_for(opened)?;
                let (data, mut intake) = read_sets(location, &options, sources, observer)?;
                let data = people::join_beyond(data, &mut intake, opened.k());
                Original::Sets { data, intake, kept }
            }
            (true, Some(kept)) => {
                let (table, intake) = read_table_from(location, &self.options, &kept.declared, sources, observer)?;
                Original::Table { table, intake, kept }
            }
            (true, None) => {
                let problem = "is needed: it says what each column is, and which row went where";
                return Err(Error::recipe("custody", problem, "name the custody folder that disjoin protect wrote"));
            }
        };
        original.check(location, opened)?;
        Ok(Some(original))
    }

    /// How sets are read, if records of the release are people's: what became of their rows is in the claim.
    fn options_for(&self, opened: &Opened) -> Result<Options> {
        let Some(visits) = opened.claim().people() else { return Ok(self.options.clone()) };
        if self.options.person.is_none() && self.options.id_column.is_none() {
            let problem = "is needed: records of the release are counted by people";
            return Err(Error::recipe("input.person", problem, "name the column that names people: --person COLUMN"));
        }
        Ok(Options { visits, ..self.options.clone() })
    }

    /// The same where it is needed; `why` it is.
    pub fn needed(
        &self,
        opened: &Opened,
        sources: &dyn Sources,
        why: &str,
        observer: &dyn Observer,
    ) -> Result<Original> {
        self.read(opened, sources, observer)?
            .ok_or_else(|| Error::recipe("original", format!("is needed: {why}"), "name the file that was protected"))
    }
}

impl Original {
    /// A table whose custody is not read yet.
    pub(crate) fn of_table(table: Table, intake: TableIntake) -> Self {
        Original::Table { table, intake, kept: Kept::default() }
    }

    /// How its columns were read, where that is not plain.
    pub(crate) fn readings(&self) -> &[ColumnReading] {
        match self {
            Original::Sets { .. } => &[],
            Original::Table { intake, .. } => &intake.column_readings,
        }
    }

    /// Whose rows they were, if a column names people.
    pub(crate) fn people(&self) -> Option<&People> {
        match self {
            Original::Sets { intake, .. } => intake.people.as_ref(),
            Original::Table { intake, .. } => intake.people.as_ref(),
        }
    }

    /// Signs that people should be counted, and are not.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let several = match self {
            Original::Sets { intake, .. } => &intake.several,
            Original::Table { intake, .. } => &intake.several,
        };
        several.iter().map(Evidence::text).collect()
    }

    /// Takes custody of it.
    pub(crate) fn keep(&mut self, custody: Kept) {
        match self {
            Original::Sets { kept, .. } => *kept = Some(custody),
            Original::Table { kept, .. } => *kept = custody,
        }
    }

    /// How it was read.
    pub(crate) fn as_read(&self) -> Result<AsRead> {
        let (told, format, reading, notes) = match self {
            Original::Sets { intake, .. } => {
                (value(intake)?, intake.format.to_string(), &intake.reading, intake.notes())
            }
            Original::Table { intake, .. } => {
                (value(intake)?, intake.format.clone(), &intake.reading, intake.reading.notes())
            }
        };
        let told = if let serde_json::Value::Object(told) = told { told } else { serde_json::Map::new() };
        let how = [format, reading.how()].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ");
        Ok(AsRead { told, how, notes })
    }

    /// Records or rows, and different terms.
    pub(crate) fn size(&self) -> (u64, u64) {
        match self {
            Original::Sets { data, .. } => (data.records.len() as u64, data.n_terms() as u64),
            Original::Table { table, .. } => (table.n_rows() as u64, 0),
        }
    }

    /// Whether it is what was protected, read in the same way.
    fn check(&self, location: &Path, opened: &Opened) -> Result<()> {
        let (kept, sha256, n) = match self {
            Original::Sets { data, intake, kept } => (kept.as_ref(), &intake.sha256, data.records.len()),
            Original::Table { table, intake, kept } => (Some(kept), &intake.sha256, table.n_rows()),
        };
        let Some(kept) = kept else { return Ok(()) };
        let problem = match () {
            () if kept.input_sha256 != *sha256 => "is not the file that was protected: its digest differs",
            () if opened.form() != Form::Noisy && kept.map.len() != n => {
                "is the file that was protected, but was read in another way: the number of records differs"
            }
            () => return Ok(()),
        };
        let place = Place::file(location.to_string_lossy());
        Err(Error::input(place, problem)
            .with_hint("give the file and the input options that disjoin protect was given"))
    }

    /// The dataset; a table has none.
    pub fn sets(&self) -> Result<(&Dataset, Option<&Kept>)> {
        match self {
            Original::Sets { data, kept, .. } => Ok((data, kept.as_ref())),
            Original::Table { .. } => Err(Error::Internal("a table was taken for sets")),
        }
    }

    /// The table; sets have none.
    pub fn table(&self) -> Result<(&Table, &Kept)> {
        match self {
            Original::Table { table, kept, .. } => Ok((table, kept)),
            Original::Sets { .. } => Err(Error::Internal("sets were taken for a table")),
        }
    }
}

/// Data to be protected, from wherever they come.
pub enum Input<'a> {
    /// What the recipe names, opened by these sources.
    Named(&'a dyn Sources),
    /// Sets that were read already.
    Sets(Dataset, Intake),
    /// A table that was read already.
    Table(Table, TableIntake),
}

impl Input<'_> {
    /// The sets.
    pub fn sets(self, location: &Path, options: &Options, observer: &dyn Observer) -> Result<(Dataset, Intake)> {
        match self {
            Input::Named(sources) => read_sets(location, options, sources, observer),
            Input::Sets(data, intake) => Ok((data, intake)),
            Input::Table(..) => Err(wrong_shape("sets of terms", "a table")),
        }
    }

    /// The table.
    pub fn table(
        self,
        location: &Path,
        options: &Options,
        declared: &Declared,
        observer: &dyn Observer,
    ) -> Result<(Table, TableIntake)> {
        match self {
            Input::Named(sources) => read_table_from(location, options, declared, sources, observer),
            Input::Table(table, intake) => Ok((table, intake)),
            Input::Sets(..) => Err(wrong_shape("a table", "sets of terms")),
        }
    }
}

fn wrong_shape(expected: &str, found: &str) -> Error {
    let problem = format!("takes {expected}, and these are {found}");
    Error::recipe("protect.method", problem, "choose a method for them")
}
