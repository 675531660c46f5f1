//! Every form of release as plain tables, for programs that read CSV, Parquet or Arrow, with a dictionary of their columns.
//!
//! Promises:   the tables hold what the release publishes and nothing else, number for number
//! Departs:    ranges and months have their ends in columns of their own beside them; what is listed has a row for each term
//! Cost:       linear in the release
//! Checked by: `crates/disjoin-cli/tests/it/analysts.rs`, by reading the files back

use std::path::{Path, PathBuf};

use super::convert::is_formula;
use super::open::{Opened, Release};
use super::query::sets_of;
use crate::data::table::{Column, Role, Table};
use crate::data::{Dictionary, TermId};
use crate::error::{Error, Result};
use crate::observer::Observer;
use crate::publish::{Readers, check_file, write_file};
use crate::read::Format;
use crate::read::flat::{Flat, FlatColumn, FlatValues};
use crate::release::cells::Shown;
use crate::release::class_sets::ClassSets;
use crate::release::generalized::{PublishedColumn, TableClaim};
use crate::release::noisy::{Noisy, Rows};
use crate::release::recoded::Recoded;
use crate::release::spelling::{Spelling, date_of, days};
use crate::release::split::{SplitClaim, SplitTables};
use crate::release::{Chunk, Disassociated, Node};
use crate::report::{DataDictionary, DescribedColumn, DescribedTable};

/// A table with what is to be said of it.
struct Described {
    /// What its file is called, besides the name that was asked for; none of the first.
    name: Option<String>,
    meaning: String,
    flat: Flat,
    /// Of each column its role, and what it means.
    columns: Vec<(Option<&'static str>, String)>,
}

impl Described {
    fn new(name: Option<&str>, meaning: &str) -> Self {
        let (name, meaning) = (name.map(str::to_owned), meaning.to_owned());
        Described { name, meaning, flat: Flat::default(), columns: Vec::new() }
    }

    fn push(&mut self, name: &str, values: FlatValues, role: Option<&'static str>, meaning: impl Into<String>) {
        let taken = |name: &str| self.flat.columns.iter().any(|column| column.name == name);
        let mut free = name.to_owned();
        while taken(&free) {
            free.push('_');
        }
        self.flat.columns.push(FlatColumn { name: free, values });
        self.columns.push((role, meaning.into()));
    }
}

/// What was written.
pub(super) struct Written {
    /// The files, the table that was asked for first.
    pub(super) files: Vec<PathBuf>,
    /// Its rows.
    pub(super) rows: u64,
    /// Texts that got a quote before them.
    pub(super) quoted: u64,
}

/// Writes a release as plain tables: the first to the file `to`, others and the dictionary beside it.
pub(super) fn write(
    opened: &Opened,
    to: &Path,
    format: Format,
    (force, keep_formulas): (bool, bool),
    observer: &dyn Observer,
) -> Result<Written> {
    let mut tables = tables(opened, observer)?;
    let mut quoted = 0;
    if format == Format::Table && !keep_formulas {
        quoted = tables.iter_mut().flat_map(|table| &mut table.flat.columns).map(make_safe).sum();
    }
    let extension = to.extension().map(|ending| ending.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = |name: &str, ending: &str| to.with_extension(format!("{name}.{ending}"));
    let path = |table: &Described| table.name.as_ref().map_or(to.to_owned(), |name| beside(name, &extension));
    let mut files: Vec<PathBuf> = tables.iter().map(path).collect();
    let dictionary = dictionary(opened, &tables, &files);
    files.extend([beside("dictionary", "json"), beside("dictionary", "md")]);
    // Nothing is written if something stands in the way.
    files.iter().try_for_each(|file| check_file(file, force).map(|_| ()))?;
    for (table, file) in tables.iter().zip(&files) {
        observer.check();
        write_file(file, force, Readers::Usual, |out| table.flat.write(format, file, out))?;
    }
    let texts = [dictionary.json()?, dictionary.markdown()];
    for (file, text) in files[tables.len()..].iter().zip(texts) {
        let write = |out: &mut std::fs::File| {
            std::io::Write::write_all(out, text.as_bytes()).map_err(|e| Error::io(file, "write", e))
        };
        write_file(file, force, Readers::Usual, write)?;
    }
    let rows = tables.first().map_or(0, |table| table.flat.n_rows() as u64);
    Ok(Written { files, rows, quoted })
}

/// A spreadsheet must not take texts for formulas.
fn make_safe(column: &mut FlatColumn) -> u64 {
    let texts = match &mut column.values {
        FlatValues::Texts(texts, _) | FlatValues::Lists(texts, _) => texts,
        FlatValues::Numbers(_) | FlatValues::Integers(_) => return 0,
    };
    let mut safe = Dictionary::default();
    let mut changed = 0;
    for text in texts.iter() {
        let is_changed = is_formula(text);
        changed += u64::from(is_changed);
        safe.intern(&format!("{}{text}", if is_changed { "'" } else { "" }));
    }
    *texts = safe;
    changed
}

fn dictionary(opened: &Opened, tables: &[Described], files: &[PathBuf]) -> DataDictionary {
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let column = |(column, (role, meaning)): (&FlatColumn, &(Option<&'static str>, String))| DescribedColumn {
        name: column.name.clone(),
        type_name: column.values.type_name(),
        role: *role,
        meaning: meaning.clone(),
    };
    let table = |(table, file): (&Described, &PathBuf)| DescribedTable {
        file: name(file),
        meaning: table.meaning.clone(),
        rows: table.flat.n_rows() as u64,
        columns: table.flat.columns.iter().zip(&table.columns).map(column).collect(),
    };
    DataDictionary::new(&opened.claim(), tables.iter().zip(files).map(table).collect())
}

fn tables(opened: &Opened, observer: &dyn Observer) -> Result<Vec<Described>> {
    match &opened.release {
        Release::Disassociated(stored) => {
            let release = stored.load(observer)?;
            Ok(vec![chunks(&release, None, None)])
        }
        Release::Classes(claim, table) => {
            let mut tables = vec![classes(claim, table)];
            if let Some(ClassSets { release, class_of_root }) = sets_of(opened, observer)? {
                tables.push(chunks(&release, Some("sets"), Some(&class_of_root)));
            }
            Ok(tables)
        }
        Release::Split(claim, tables) => Ok(split(claim, tables)),
        Release::Recoded(_, release) => Ok(recoded(release)),
        Release::Noisy(files) => Ok(vec![noisy(&files.data)]),
    }
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Identifier => "identifier",
        Role::Quasi => "quasi-identifier",
        Role::Sensitive => "sensitive",
        Role::Set => "set",
        Role::Other => "insensitive",
    }
}

fn texts_of(column: &Column) -> FlatValues {
    let missing = column.domain.missing();
    let code = |code: &u32| if *code == missing { u32::MAX } else { *code };
    FlatValues::Texts(column.domain.texts().clone(), column.codes.iter().map(code).collect())
}

/// A quasi-identifier as it is published, with the ends of its ranges beside it.
fn push_quasi(table: &mut Described, column: &Column, told: Option<&PublishedColumn>, is_exact: bool) {
    let spelling = told.and_then(|told| told.cells);
    let meaning = match spelling {
        _ if is_exact => "as in the original",
        Some(Spelling::Numbers) => "a number, or a range of numbers (20..29: from 20 to 29); * is anything",
        Some(Spelling::Values) => "a value, or one of several ({a|b}: a or b); * is anything",
        Some(Spelling::Calendar) => {
            "a day, or the month, quarter (2024-Q2), year or decade that it lies in; * is anything"
        }
        Some(Spelling::Beginnings) => "a code, or what it begins with (25*); * is anything",
        Some(Spelling::Labels) => "a value, or a label of a hierarchy that is not published; * is anything",
        None => "as its maker spelled it; how cells were generalised is not said",
    };
    table.push(&column.name, texts_of(column), Some(role(Role::Quasi)), meaning);
    let texts: Vec<&str> = (0..column.domain.n_codes() as u32).map(|code| column.domain.text(code)).collect();
    match spelling {
        Some(Spelling::Numbers) if !is_exact => {
            let ends = |text: &&str| match Shown::parse(text) {
                Shown::Range(range) => (Some(range.low), Some(range.high)),
                Shown::Value(value) => (value.number, value.number),
                _ => (None, None),
            };
            let (low, high): (Vec<Option<f64>>, Vec<Option<f64>>) = texts.iter().map(ends).unzip();
            let of = |ends: &[Option<f64>]| {
                FlatValues::Numbers(column.codes.iter().map(|&code| ends[code as usize]).collect())
            };
            let name = |end: &str| format!("{}_{end}", column.name);
            table.push(&name("low"), of(&low), None, format!("the least number that {} stands for", column.name));
            table.push(&name("high"), of(&high), None, format!("the greatest number that {} stands for", column.name));
        }
        Some(Spelling::Calendar) if !is_exact => {
            for (end, which) in [("first", "first"), ("last", "last")] {
                let mut dates = Dictionary::default();
                let mut date = |text: &&str| {
                    let day = days(text).map(|(first, last)| if end == "first" { first } else { last });
                    day.map_or(u32::MAX, |day| dates.intern(&date_of(day)))
                };
                let of_code: Vec<u32> = texts.iter().map(&mut date).collect();
                let codes = column.codes.iter().map(|&code| of_code[code as usize]).collect();
                let meaning = format!("the {which} day that {} stands for", column.name);
                table.push(&format!("{}_{end}", column.name), FlatValues::Texts(dates, codes), None, meaning);
            }
        }
        _ => {}
    }
}

fn classes(claim: &TableClaim, table: &Table) -> Described {
    let mut described = Described::new(None, "One row for each published record. Suppressed records are not in it.");
    let flat = Flat::of_table(table);
    for (column, plain) in table.columns.iter().zip(flat.columns) {
        match column.role {
            Role::Quasi => {
                let told = claim.columns.iter().find(|told| told.name == column.name);
                push_quasi(&mut described, column, told, false);
            }
            other => {
                let meaning = match claim.associations.is_some() && other == Role::Sensitive {
                    true => "as in the original, or a label above it, up to * (anything)",
                    false => {
                        "as in the original; which record of the class it belongs to is not disclosed by quasi-identifiers"
                    }
                };
                described.push(&column.name, plain.values, Some(role(other)), meaning);
            }
        }
    }
    let class = crate::reconstruct::table::classes(table).0;
    let class = class.into_iter().map(|class| Some(i64::from(class) + 1)).collect();
    let meaning = "the equivalence class: records of a class show the same quasi-identifiers";
    described.push("class", FlatValues::Integers(class), None, meaning);
    described
}

fn split(claim: &SplitClaim, tables: &SplitTables) -> Vec<Described> {
    let mut quasi = Described::new(None, "One row for each published record: its quasi-identifiers and its group.");
    for column in &tables.quasi.columns {
        let told = claim.columns.iter().find(|told| told.name == column.name);
        push_quasi(&mut quasi, column, told, claim.exact);
    }
    let group = |group: &u32| Some(i64::from(*group) + 1);
    let groups = FlatValues::Integers(tables.group_of.iter().map(group).collect());
    quasi.push(&claim.group_column, groups, None, "the group; the tables of sensitive attributes count by it");
    let mut all = vec![quasi];
    for (values, file) in tables.sensitive.iter().zip(&claim.files) {
        let name = Path::new(&file.file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let meaning = format!(
            "How often each value of {} occurs in each group. Which record of the group has which is not published.",
            values.column
        );
        let mut table = Described::new(name.as_deref(), &meaning);
        let of = |number: fn(&crate::release::split::Count) -> i64| {
            FlatValues::Integers(values.counts.iter().map(|line| Some(number(line))).collect())
        };
        table.push("group", of(|line| i64::from(line.group) + 1), None, "the group");
        let value = match values.domain.numbers() {
            Some(numbers) => {
                FlatValues::Numbers(values.counts.iter().map(|line| numbers.get(line.code as usize).copied()).collect())
            }
            None => {
                let missing = values.domain.missing();
                let code = |code: u32| if code == missing { u32::MAX } else { code };
                let codes = values.counts.iter().map(|line| code(line.code)).collect();
                FlatValues::Texts(values.domain.texts().clone(), codes)
            }
        };
        table.push(
            "value",
            value,
            Some(role(Role::Sensitive)),
            format!("a value of {}, as in the original", values.column),
        );
        table.push("count", of(|line| i64::from(line.count)), None, "how many records of the group have it");
        all.push(table);
    }
    all
}

/// Rows of chunks, while they are gathered.
#[derive(Default)]
struct ChunkRows {
    class: Vec<Option<i64>>,
    numbers: [Vec<Option<i64>>; 6],
    kind: Vec<u32>,
    term: Vec<u32>,
}

impl ChunkRows {
    fn push(&mut self, class: Option<i64>, numbers: [Option<i64>; 6], kind: u32, term: TermId) {
        self.class.push(class);
        self.numbers.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
        self.kind.push(kind);
        self.term.push(term);
    }

    /// A node and those below it; returns the next free number.
    fn node(&mut self, node: &Node, class: Option<i64>, parent: Option<i64>, id: i64) -> i64 {
        let size = Some(node.size() as i64);
        let (chunks, term_chunk, kind) = match node {
            Node::Simple(simple) => (&simple.record_chunks, &simple.term_chunk, 0),
            Node::Joint(joint) => (&joint.shared_chunks, &joint.term_chunk, 1),
        };
        for (chunk, at) in chunks.iter().zip(1..) {
            let subrecords = Chunk::subrecords(chunk);
            for ((terms, count), subrecord) in subrecords.zip(1..) {
                for &term in terms {
                    let numbers = [Some(id), parent, size, Some(at), Some(subrecord), Some(i64::from(count))];
                    self.push(class, numbers, kind, term);
                }
            }
        }
        for &term in term_chunk {
            self.push(class, [Some(id), parent, size, None, None, None], 2, term);
        }
        let mut next = id + 1;
        if let Node::Joint(joint) = node {
            for member in &joint.members {
                next = self.node(member, class, Some(id), next);
            }
        }
        next
    }
}

/// Disassociated sets in the long form: a row for each term of a subrecord, and for each term of a term chunk.
fn chunks(release: &Disassociated, name: Option<&str>, class_of_root: Option<&[u32]>) -> Described {
    let meaning = "One row for each term of each subrecord. Subrecords of different chunks of a cluster belong to the same records, and \
                   which to which is not published.";
    let mut table = Described::new(name, meaning);
    let mut rows = ChunkRows::default();
    let mut next = 1;
    for (root, at) in release.roots.iter().zip(0..) {
        let class: Option<&u32> = class_of_root.and_then(|classes: &[u32]| classes.get(at));
        next = rows.node(root, class.map(|&class| i64::from(class) + 1), None, next);
    }
    let mut kinds = Dictionary::default();
    ["record chunk", "shared chunk", "term chunk"].iter().for_each(|kind| {
        kinds.intern(kind);
    });
    if class_of_root.is_some() {
        table.push("class", FlatValues::Integers(rows.class), None, "the equivalence class of the records");
    }
    let names = [
        ("cluster", "the cluster, or the joint cluster of a shared chunk"),
        ("within", "the joint cluster around it, if there is one"),
        ("records", "how many records the cluster has"),
        ("chunk", "the chunk of the cluster; none for the term chunk"),
        ("subrecord", "the subrecord of the chunk"),
        ("count", "how many records of the cluster hold the subrecord; of the term chunk that is not published"),
    ];
    for ((name, meaning), numbers) in names.into_iter().zip(rows.numbers) {
        table.push(name, FlatValues::Integers(numbers), None, meaning);
    }
    table.push("kind", FlatValues::Texts(kinds, rows.kind), None, "what kind of chunk it is");
    let terms = FlatValues::Texts(release.dictionary.clone(), rows.term);
    table.push("term", terms, Some(role(Role::Set)), "the term, as in the original");
    table
}

/// Recoded sets in the long form, and what their items stand for.
fn recoded(release: &Recoded) -> Vec<Described> {
    let data = super::convert::labelled(release);
    let (mut record_of, mut item_of) = (Vec::new(), Vec::new());
    for (record, items) in (1..).zip(data.records.iter()) {
        record_of.extend(items.iter().map(|_| Some(record)));
        item_of.extend_from_slice(items);
    }
    let mut records = Described::new(None, "One row for each item of each record; records without any are not in it.");
    records.push("record", FlatValues::Integers(record_of), None, "the record, a number without further meaning");
    let items = FlatValues::Texts(data.dictionary.clone(), item_of);
    records.push(
        "item",
        items,
        Some(role(Role::Set)),
        "a term, or a group of terms of which the record has one or more",
    );
    let mut groups = Described::new(Some("items"), "The terms that each item stands for.");
    let (mut item_codes, mut term_codes) = (Vec::new(), Vec::new());
    let mut seen = std::collections::HashSet::new();
    for (group, item) in super::convert::groups_of(release) {
        if seen.insert(item) {
            item_codes.extend(group.iter().map(|_| item));
            term_codes.extend_from_slice(group);
        }
    }
    groups.push("item", FlatValues::Texts(data.dictionary, item_codes), None, "the item");
    let terms = FlatValues::Texts(release.dictionary.clone(), term_codes);
    groups.push("term", terms, Some(role(Role::Set)), "a term that it stands for");
    vec![records, groups]
}

fn noisy(data: &Noisy) -> Described {
    let (id, meaning, of_count) = match data.kind {
        Rows::Records => (
            "record",
            "One row for each term of each kind of record. Records are synthetic.",
            "how many records have exactly these terms, with noise",
        ),
        Rows::Itemsets => (
            "itemset",
            "One row for each term of each itemset.",
            "how many records have these terms, and maybe others, with noise",
        ),
    };
    let mut table = Described::new(None, meaning);
    let mut terms = Dictionary::default();
    let (mut ids, mut counts, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    for (at, row) in (1..).zip(&data.rows) {
        for term in &row.terms {
            ids.push(Some(at));
            counts.push(i64::try_from(row.count).ok());
            codes.push(terms.intern(term));
        }
    }
    table.push(id, FlatValues::Integers(ids), None, "rows with the same number belong together");
    table.push("count", FlatValues::Integers(counts), None, of_count);
    table.push("term", FlatValues::Texts(terms, codes), Some(role(Role::Set)), "the term");
    table
}
