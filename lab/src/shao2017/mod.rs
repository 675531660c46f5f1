//! shao2017 again: semantic attacks on generalised sets, on medical abstracts, groceries and generated texts.

mod data;
mod figures;
mod mended;
mod ours;
mod time;

use std::fs::File;
use std::path::Path;

use disjoin::knowledge::relatedness::corpus::Builder;
use disjoin::{Error, Result};

use crate::page::{Page, write};
use crate::papers::{CORPUS, Given, Named, Paper, Put, VECTORS, WORDNET};
use data::Sources;

pub(crate) const PAPER: Paper = Paper { key: "shao2017", introduction: INTRODUCTION, figures, draw, small };

type Figure = fn(&Sources) -> Result<Page>;

const ABSTRACTS: &str = "medical-abstracts.csv";

const FIGURES: [(&str, Figure, &[&str]); 11] = [
    ("13", figures::abstracts, &[ABSTRACTS, CORPUS]),
    ("13b", figures::groceries, &["groceries.csv", CORPUS]),
    ("13c", figures::dense, &[]),
    ("14", figures::density, &[ABSTRACTS, CORPUS]),
    ("15", figures::constraints, &[ABSTRACTS, CORPUS, WORDNET]),
    ("16", time::time, &[]),
    ("ours", ours::paired, &[ABSTRACTS, CORPUS]),
    ("context", ours::context, &[ABSTRACTS, CORPUS]),
    ("corpora", ours::corpora, &[ABSTRACTS, CORPUS, VECTORS]),
    ("controls", ours::controls, &[]),
    ("mended", mended::mended, &[ABSTRACTS, CORPUS, VECTORS]),
];

fn figures() -> Vec<Named> {
    FIGURES.iter().map(|&(name, _, files)| (name, files)).collect()
}

fn draw(given: &Given, wanted: &[&str], put: Put<'_>) -> Result<()> {
    let sources = Sources::read(given)?;
    for (name, draw, _) in FIGURES.into_iter().filter(|figure| wanted.contains(&figure.0)) {
        eprintln!("figure {name}");
        put(name, draw(&sources)?)?;
    }
    Ok(())
}

/// Generated texts as abstracts and as baskets, a corpus of the same, and a tree of two words.
fn small(folder: &Path) -> Result<Given> {
    let texts = data::topics(260, 8, 300, 5);
    let mut builder = Builder::default();
    texts.iter().for_each(|text| builder.add(&text.join(" ")));
    let rows: String = texts.iter().map(|text| format!("1,{}\n", text.join("; "))).collect();
    write(&folder.join(ABSTRACTS), &format!("condition_label,medical_abstract\n{rows}"))?;
    write(&folder.join("groceries.csv"), &texts.iter().map(|text| text.join(",") + "\n").collect::<String>())?;
    write(&folder.join(WORDNET), "1 03 n 01 entity 0 000 | all\n2 03 n 02 topic 0 word 0 001 @ 1 n 0000 | x\n")?;
    let corpus = folder.join("words.corpus");
    let mut file = File::create(&corpus).map_err(|e| Error::io(&corpus, "write", e))?;
    builder.finish(Vec::new())?.write(&mut file, &corpus)?;
    Ok(Given { corpus: Some(corpus), ..Given::small(folder) })
}

const INTRODUCTION: &str = "\
# shao2017: the evaluation, drawn again

Shao, Ong: Exploiting Contextual Information in Attacking Set-Generalized Transactions, ACM TOIT 17(4), 2017. Made by
`cargo run --release -p disjoin-lab -- shao2017 all --data DIR --corpus words.corpus`; each page tells its own command.

The paper's data are AOL's queries, I2B2's discharge reports and articles of goarticles.com, none of which is at hand. In their place
stand the noun phrases of medical abstracts (as I2B2: one domain, low density), groceries, and generated texts that share many words (as
GoArticle: high density). The paper asks Google how often words are met; here entries of three free dictionaries are the pages
(WordNet, GCIDE, FOLDOC). Numbers of our copy's figures are not readable: claims are those of the text.

Beside each attack stand two baselines that look at nothing: *all* takes every member of every row for added, *all but one* all members of a row
but one, by lot. Intervals are over generalised items (tables of distances), which are drawn again and again.

A share of the terms, drawn at random, must be in k records or none; COAT generalises them with any others unless said otherwise. The
paper prints neither this share nor the number of contextual items: 3 % of the abstracts' terms (about 300 generalised items, the paper
has 112), 30 % elsewhere, and all items.

Read as follows: the weights of a row use the number of columns (the paper's letters are right for square tables); the lower cluster of RBA is
that of weighted distances with the eliminated cell among them, the only reading that ends in figure 9; the vulnerabilities 0.95 and
0.82 in the text are of raw distances, the threshold 0.45 of weighted ones.
";
