//! A release carried through the verbs, as the command line does it. Errors are answers; what must not be is a panic, an error that
//! calls itself a defect, a promise that does not hold, or work without an end.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use disjoin::data::Dataset;
use disjoin::read::{self, Format};
use disjoin::recipe::written;
use disjoin::reconstruct::{Multiplicity, Sampling};
use disjoin::release::{Disassociated, Form, Node, jsonl};
use disjoin::run::{self, Answer, AttackOptions, Converted, MeasureOptions, Originally, Questions, RepairOptions};
use disjoin::{Error, Observer, Result};
use disjoin_databases::Databases;

use crate::build::TERMS;
use crate::check::confirm;
use crate::draw::Draw;
use crate::scratch::Files;

/// What no input of a few kilobytes may take, however slow the build is.
const PATIENCE: Duration = Duration::from_secs(60);

/// Ends work that takes too long.
pub(crate) struct Impatient(Instant);

impl Impatient {
    pub(crate) fn new() -> Self {
        Impatient(Instant::now())
    }
}

impl Observer for Impatient {
    fn is_cancelled(&self) -> bool {
        self.0.elapsed() > PATIENCE
    }
}

/// What came of it, if the input is to blame for nothing.
pub(crate) fn fine<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Internal(defect)) => panic!("an internal defect: {defect}"),
        Err(Error::Cancelled) => panic!("no end after {} s", PATIENCE.as_secs()),
        Err(error) => {
            // Somebody will read it.
            let _ = error.to_string();
            None
        }
    }
}

fn told(answer: Option<Answer>) -> Option<Answer> {
    if let Some(answer) = &answer {
        let _ = (answer.page.text(), answer.page.html(), answer.page.markdown());
    }
    answer
}

/// Verifies the release in a folder and does one more thing with it; whether it could be opened.
pub(crate) fn carry(files: &Files, folder: &Path, draw: &mut Draw<'_>) -> bool {
    let release = folder.join("release");
    fs::create_dir(&release).expect("the scratch folder is ours");
    files.write(&release);
    let holds = verify(&release, &Originally::default());
    if holds == Some(true) {
        confirm(files);
    }
    let holds = holds == Some(true);
    match draw.number(0, 7) {
        0 => attack(&release, &Originally::default(), draw),
        1 => query(&release, draw),
        2 => reconstruct(files, &release, holds, draw),
        3 => with_original(&release, folder, draw),
        4 => repair(&release, folder, holds, draw),
        5 => explain(&release, draw),
        6 => convert(files, &release, folder),
        _ => drop(verify(folder, &Originally::default())),
    }
    fine(run::open(&release, None, disjoin::Memory::default())).is_some()
}

fn verify(release: &Path, original: &Originally<'_>) -> Option<bool> {
    let answer = told(fine(run::verify(release, None, original, &Databases, &Impatient::new())))?;
    Some(answer.judged.holds)
}

fn attack(release: &Path, original: &Originally<'_>, draw: &mut Draw<'_>) {
    let Some(opened) = fine(run::open(release, None, disjoin::Memory::default())) else { return };
    let mut asked = AttackOptions::default();
    match opened.form() {
        Form::Disassociated => {
            // A search that ends early is as good as a long one.
            (asked.steps, asked.assume_greedy, asked.show_terms) = (Some(40), draw.chance(128), draw.chance(128));
        }
        Form::Recoded => asked.show_terms = draw.chance(128),
        Form::Classes | Form::Split => {
            asked.dependencies = draw.chance(128);
            asked.dependency.unconfirmed = draw.chance(128);
            if draw.chance(100) {
                asked.target = vec![draw.pick(&["q0=F", "q0=1", "q0=*,q1=F", "age=20", "x", "q0="]).to_owned()];
            }
        }
        Form::Noisy => {}
    }
    told(fine(run::attack(release, None, original, &asked, &Databases, &Impatient::new())));
}

/// Conditions, some of which fit the tables of `build`.
const PREDICATES: [&str; 9] = [
    "q0 = F",
    "q0 != 1",
    "q1 in {F, 'x y', 1}",
    "age 20-29",
    "age >= 1e300",
    "s0 = a",
    "items has a",
    "q0 = '",
    "q0 2024-05",
];

fn query(release: &Path, draw: &mut Draw<'_>) {
    let multiplicity = multiplicity(draw);
    let questions = match draw.chance(100) {
        true => Questions::top(draw.number(0, 6) as usize, Some(draw.number(0, 2) as usize), None),
        false if draw.chance(128) => {
            Ok(Questions::written(&[draw.some(&PREDICATES, 60).join(" and "), String::from("q0 = F")]))
        }
        false => Ok(Questions::written(&[draw.some(&TERMS, 50).join(","), String::from("a,b")])),
    };
    let Some(questions) = fine(questions) else { return };
    let asking = run::Asking { multiplicity, hierarchies: Vec::new() };
    let answer = fine(run::query(release, &questions, &asking, &Impatient::new()));
    let Some(answer) = told(answer) else { return };
    let known = [&answer.json["itemsets"], &answer.json["predicates"]];
    for known in known.into_iter().find_map(|known| known.as_array()).expect("answers are listed") {
        let (lower, upper) = (known["lower"].as_u64(), known["upper"].as_u64());
        let expected = known["expected"].as_f64().expect("an expectation is a number");
        let (lower, upper) = (lower.expect("a bound is a number") as f64, upper.expect("a bound is a number") as f64);
        assert!(lower <= upper, "bounds are in order");
        assert!(lower - 1e-6 <= expected && expected <= upper + 1e-6, "an expectation lies between its bounds");
    }
}

fn multiplicity(draw: &mut Draw<'_>) -> Multiplicity {
    draw.pick(&[Multiplicity::Told, Multiplicity::One, Multiplicity::Uniform, Multiplicity::Half])
}

fn reconstruct(files: &Files, release: &Path, holds: bool, draw: &mut Draw<'_>) {
    let sampling = Sampling { seed: draw.number(0, 9).into(), fill_empty: draw.chance(200) };
    let published = jsonl::read(files.get("data.jsonl"), "x").ok();
    let take = |drawn: &run::Reconstruction| {
        match &drawn.data {
            run::Drawn::Sets(data) => {
                assert_eq!(data.records.len() as u64 + drawn.empty, drawn.records);
                if let (true, Some(published)) = (holds, &published) {
                    counts_are_published(published, data);
                }
            }
            run::Drawn::Table(table) => assert_eq!(table.n_rows() as u64, drawn.records),
        }
        Ok(())
    };
    let drawing = run::Drawing { n: 2, sampling, multiplicity: multiplicity(draw), hierarchies: Vec::new() };
    fine(run::reconstruct(release, &drawing, &Impatient::new(), take));
}

/// A term that no term chunk has occurs as often as all chunks say; one of term chunks alone at least once in each of its leaves.
fn counts_are_published(published: &Disassociated, data: &Dataset) {
    let n = published.dictionary.len();
    let (mut counted, mut listed) = (vec![0_u64; n], vec![0_u64; n]);
    let mut stack: Vec<&Node> = published.roots.iter().collect();
    while let Some(node) = stack.pop() {
        let chunks = match node {
            Node::Simple(simple) => {
                simple.term_chunk.iter().for_each(|&term| listed[term as usize] += 1);
                &simple.record_chunks
            }
            Node::Joint(joint) => {
                joint.term_chunk.iter().for_each(|&term| listed[term as usize] += 1);
                stack.extend(&joint.members);
                &joint.shared_chunks
            }
        };
        for (terms, count) in chunks.iter().flat_map(disjoin::release::Chunk::subrecords) {
            terms.iter().for_each(|&term| counted[term as usize] += u64::from(count));
        }
    }
    for term in 0..n as u32 {
        let id = data.dictionary.get(published.dictionary.text(term));
        let has = |record: &&[u32]| id.is_some_and(|id| record.contains(&id));
        let support = data.records.iter().filter(has).count() as u64;
        let (counted, listed) = (counted[term as usize], listed[term as usize]);
        match (counted, listed) {
            (_, 0) => assert_eq!(support, counted, "a term occurs as often as is published"),
            (0, _) => assert!(support >= listed, "a term of {listed} term chunks occurs {support} times"),
            _ => {}
        }
    }
}

/// Verifies, attacks and measures with an original: one that fits, where that can be drawn, or any.
fn with_original(release: &Path, folder: &Path, draw: &mut Draw<'_>) {
    let file = folder.join("original.jsonl");
    let mut data = None;
    if draw.chance(200) {
        let take = |drawn: &run::Reconstruction| {
            if let run::Drawn::Sets(drawn) = &drawn.data {
                data = Some(drawn.clone());
            }
            Ok(())
        };
        let sampling = Sampling::default();
        let drawing = run::Drawing { n: 1, sampling, multiplicity: multiplicity(draw), hierarchies: Vec::new() };
        fine(run::reconstruct(release, &drawing, &Impatient::new(), take));
        let converted =
            run::convert(release, &folder.join("c"), &run::Converting::default(), &Databases, &Impatient::new());
        if let (None, Some(Converted::Data { data: labelled, .. })) = (&data, fine(converted)) {
            data = Some(labelled);
        }
    }
    let data = data.unwrap_or_else(|| {
        let mut record = |_| draw.some(&TERMS, 60);
        Dataset::from_texts((0..12).map(&mut record).collect::<Vec<_>>())
    });
    let mut text = Vec::new();
    read::write(&data, Format::JsonLines, &file, &mut text).expect("JSON can hold every term");
    fs::write(&file, text).expect("the scratch folder is ours");
    let original = Originally { location: Some(&file), ..Originally::default() };
    match draw.number(0, 2) {
        0 => drop(verify(release, &original)),
        1 => attack(release, &original, draw),
        _ => {
            let written = written::Measure { queries: Some(5), top: Some(10), ..written::Measure::default() };
            let mut asked = MeasureOptions::new(&written).expect("these can be measured");
            asked.fanout = draw.chance(60).then_some(2);
            told(fine(run::measure(release, None, &original, &asked, &Databases, &Impatient::new())));
        }
    }
}

fn repair(release: &Path, folder: &Path, holds: bool, draw: &mut Draw<'_>) {
    let asked = RepairOptions { out: folder.join("repaired"), ..RepairOptions::default() };
    // It searches until it has a proof: a hundred times as long as all other verbs take.
    if draw.chance(32) {
        let done = fine(run::repair(release, &Originally::default(), &asked, &Databases, &Impatient::new()));
        if told(done).is_some() {
            let still = verify(&asked.out, &Originally::default());
            assert!(!holds || still == Some(true), "a repaired release keeps its promise");
        }
    }
}

fn explain(release: &Path, draw: &mut Draw<'_>) {
    let terms: Vec<String> = draw.some(&TERMS, 40).into_iter().map(str::to_owned).collect();
    told(fine(run::explain(release, &terms, &Impatient::new())));
}

/// From one encoding to the other and back: the same content.
fn convert(files: &Files, release: &Path, folder: &Path) {
    let (there, back) = (folder.join("there"), folder.join("back"));
    let asked = run::Converting::default();
    let to = |from: &Path, to: &Path| fine(run::convert(from, to, &asked, &Databases, &Impatient::new()));
    // As plain tables, whatever it is.
    let _ = to(release, &folder.join("plain.csv"));
    let _ = to(release, &folder.join("plain.parquet"));
    let Some(Converted::Package { .. }) = to(release, &there) else { return };
    let Some(Converted::Package { file, .. }) = to(&there, &back) else { panic!("what was converted is read") };
    let bytes = fs::read(file).expect("it was written");
    if files.get("data.jsonl").is_empty() {
        return;
    }
    let content = |bytes: &[u8]| {
        let release = jsonl::read(bytes, "x").expect("what was written is read").canonical();
        (release.dictionary.iter().map(str::to_owned).collect::<Vec<_>>(), release.roots, release.header)
    };
    assert_eq!(content(files.get("data.jsonl")), content(&bytes), "what was converted is the same");
}
