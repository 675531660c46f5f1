//! `disjoin corpus`: what words mean, as far as texts show.

use std::path::PathBuf;
use std::time::Instant;

use disjoin::knowledge::relatedness::corpus::Builder;
use disjoin::knowledge::relatedness::spearman;
use disjoin::read::documents;
use disjoin::run::meaning::Words;
use disjoin::{Error, Place, Result};
use serde_json::json;

use crate::Outcome;
use crate::corpus_pairs::{distances, looked_up, read_pairs};
use crate::flags::input::name_of;
use crate::flags::words::recognise;
use crate::sink::write_to;
use crate::talk::{Talk, count, number};

/// Make, ask and check a corpus: what an adversary knows about words
///
/// A corpus is an index of documents: entries of dictionaries, paragraphs of texts, cells of a table. How often words and
/// phrases are met in a document together shows how related they are; disjoin attack uses that against recoded sets.
#[derive(clap::Subcommand)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) enum Args {
    Build(BuildArgs),
    Query(QueryArgs),
    Check(CheckArgs),
}

const EXAMPLES: &str = "\
Examples:
  disjoin corpus build /usr/share/wordnet /usr/share/dictd -o words.corpus
  disjoin corpus build abstracts.csv --column text -o medicine.corpus
  disjoin corpus query words.corpus \"blood pressure\" heart
  disjoin corpus check words.corpus --ratings wordsim353.tsv
  disjoin corpus query wordllama-0.4.0.whl \"blood pressure\" heart";

/// Make a corpus from files and folders
///
/// x.index with x.dict.dz beside it is a dictionary, data.noun and its like are WordNet's, .csv and .tsv files are tables of
/// which --column holds text, and all others are text with empty lines between documents.
#[derive(clap::Args)]
pub(crate) struct BuildArgs {
    /// Files and folders
    #[arg(required = true)]
    sources: Vec<PathBuf>,
    /// The column of tables that holds text
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Ask how related items are
///
/// Items of several words are looked up as a phrase, by their last word if no document has the phrase, and by the mean over
/// their words if none has that either. The distance is the normalized Google distance: 0 is the same, 4 is the end. That of
/// vectors is 2 (1 - cosine), which has the same ends; an item is the mean over the pieces of its words.
#[derive(clap::Args)]
pub(crate) struct QueryArgs {
    /// A corpus that disjoin corpus build wrote, or vectors: wordllama's wheel, a folder, or a safetensors file
    corpus: PathBuf,
    /// The tokenizer's JSON, where it is not beside the vectors
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// Items: the distance of all pairs is shown
    #[arg(required_unless_present = "pairs")]
    items: Vec<String>,
    /// A file with two items a line, with a tab or comma between
    #[arg(long, value_name = "FILE", conflicts_with = "items")]
    pairs: Option<PathBuf>,
}

/// Read a corpus, show its size, and how well it agrees with people's ratings
#[derive(clap::Args)]
pub(crate) struct CheckArgs {
    /// A corpus that disjoin corpus build wrote, or vectors: wordllama's wheel, a folder, or a safetensors file
    corpus: PathBuf,
    /// The tokenizer's JSON, where it is not beside the vectors
    #[arg(long, value_name = "FILE")]
    tokenizer: Option<PathBuf>,
    /// A file with two items and a rating a line, with a tab or comma between: higher is more related
    #[arg(long, value_name = "FILE")]
    ratings: Option<PathBuf>,
    /// The rank correlation with the ratings that is asked for; less ends with exit code 1
    #[arg(long, value_name = "R", requires = "ratings")]
    least: Option<f64>,
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    match args {
        Args::Build(args) => build(args, talk),
        Args::Query(args) => query(args, talk),
        Args::Check(args) => check(args, talk),
    }
}

fn build(args: &BuildArgs, talk: &Talk) -> Result<Outcome> {
    if !args.force && args.out.exists() {
        return Err(crate::convert::exists(&args.out));
    }
    let mut builder = Builder::default();
    let mut sources = Vec::new();
    for path in &args.sources {
        talk.step(&format!("reading {}", name_of(path)));
        let n = talk.in_memory(|| documents(path, args.column.as_deref(), &mut |document| builder.add(document)))?;
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        sources.push(format!("{name}: {}", count(n, "document", "documents")));
    }
    talk.step("indexing");
    let corpus = talk.in_memory(|| builder.finish(sources))?;
    talk.step(&format!("writing {}", args.out.display()));
    write_to(Some(&args.out), args.force, talk, |out| corpus.write(out, &args.out))?;
    let bytes = std::fs::metadata(&args.out).map_or(0, |data| data.len());
    talk.note(&format!("wrote {}, {} bytes", args.out.display(), number(bytes)));
    tell(&Words::Corpus(corpus), None, talk)
}

/// The size of a corpus or a table.
fn tell(words: &Words, agreement: Option<(f64, u64, u64)>, talk: &Talk) -> Result<Outcome> {
    let mut told = match words {
        Words::Corpus(corpus) => json!({
            "documents": corpus.n_documents(),
            "words": corpus.n_words(),
            "length": corpus.length(),
            "sources": corpus.sources,
        }),
        Words::Vectors(vectors) => json!({ "vectors": vectors.len(), "dimensions": vectors.n_dimensions() }),
        _ => json!({}),
    };
    if talk.is_json() {
        told["spearman"] = json!(agreement.map(|of| of.0));
        told["pairs"] = json!(agreement.map(|of| of.1));
        told["unknown_pairs"] = json!(agreement.map(|of| of.2));
        talk.print_json(&told)?;
        return Ok(Outcome::Holds);
    }
    let mut text = match words {
        Words::Corpus(corpus) => format!(
            "{}, {}, {} in all\n",
            count(corpus.n_documents(), "document", "documents"),
            count(corpus.n_words() as u64, "distinct word", "distinct words"),
            count(corpus.length() as u64, "word", "words")
        ),
        Words::Vectors(vectors) => format!(
            "{} of {}\n",
            count(vectors.len() as u64, "vector", "vectors"),
            count(vectors.n_dimensions() as u64, "number", "numbers")
        ),
        _ => String::new(),
    };
    if let Words::Corpus(corpus) = words {
        corpus.sources.iter().for_each(|source| text.push_str(&format!("  {source}\n")));
    }
    if let Some((correlation, pairs, unknown)) = agreement {
        text.push_str(&format!("rank correlation with ratings: {correlation:.3} on {}", count(pairs, "pair", "pairs")));
        text.push_str(&format!(" ({} unknown, taken for the farthest)\n", number(unknown)));
    }
    talk.print(&text)?;
    Ok(Outcome::Holds)
}

fn query(args: &QueryArgs, talk: &Talk) -> Result<Outcome> {
    talk.step("reading the corpus");
    let corpus = recognise(&args.corpus, args.tokenizer.as_deref())?;
    let (pairs, of_file) = match &args.pairs {
        Some(file) => (read_pairs(file)?, true),
        None => {
            let items = &args.items;
            let pair = |i: usize, j: usize| (items[i].clone(), items[j].clone(), f64::NAN);
            (
                (0..items.len())
                    .flat_map(|i| (i + 1..items.len()).map(move |j| (i, j)))
                    .map(|(i, j)| pair(i, j))
                    .collect(),
                false,
            )
        }
    };
    let start = Instant::now();
    let distances = distances(&corpus, &pairs)?;
    let seconds = start.elapsed().as_secs_f64();
    if of_file {
        let rate = pairs.len() as f64 / seconds.max(1e-9);
        talk.note(&format!(
            "{} in {seconds:.3} s, {} a second",
            count(pairs.len() as u64, "pair", "pairs"),
            number(rate as u64)
        ));
    }
    let shown = |distance: f64| if distance.is_nan() { String::from("unknown") } else { format!("{distance:.5}") };
    if talk.is_json() {
        let rows = pairs.iter().zip(&distances).map(|((a, b, _), &distance)| {
            json!({ "first": a, "second": b, "distance": (!distance.is_nan()).then_some(distance) })
        });
        let items = args.items.iter().map(|item| looked_up(&corpus, item)).collect::<Result<Vec<_>>>()?;
        talk.print_json(&json!({ "items": items, "pairs": rows.collect::<Vec<_>>() }))?;
        return Ok(Outcome::Holds);
    }
    let mut text = String::new();
    for item in &args.items {
        let of = looked_up(&corpus, item)?;
        let documents = of["documents"].as_u64().map_or(String::new(), |n| count(n, "document", "documents") + " ");
        text.push_str(&format!("{item}: {documents}as {}\n", of["as"].as_str().unwrap_or("")));
    }
    for ((a, b, _), &distance) in pairs.iter().zip(&distances) {
        text.push_str(&format!("{a}\t{b}\t{}\n", shown(distance)));
    }
    talk.print(&text)?;
    Ok(Outcome::Holds)
}

fn check(args: &CheckArgs, talk: &Talk) -> Result<Outcome> {
    talk.step("reading the corpus");
    let corpus = recognise(&args.corpus, args.tokenizer.as_deref())?;
    let Some(file) = &args.ratings else { return tell(&corpus, None, talk) };
    let pairs = read_pairs(file)?;
    if pairs.iter().any(|pair| pair.2.is_nan()) {
        let place = Place::file(file.display().to_string());
        return Err(
            Error::input(place, "holds a line without a rating").with_hint("three fields a line: two items, a number")
        );
    }
    let mut distances = distances(&corpus, &pairs)?;
    let unknown = distances.iter().filter(|distance| distance.is_nan()).count() as u64;
    // Whoever leaves out what is unknown would do better the less is known.
    distances.iter_mut().filter(|distance| distance.is_nan()).for_each(|distance| *distance = f64::INFINITY);
    let nearness: Vec<f64> = distances.iter().map(|distance| -distance).collect();
    let ratings: Vec<f64> = pairs.iter().map(|pair| pair.2).collect();
    let correlation = spearman(&nearness, &ratings).unwrap_or_default();
    tell(&corpus, Some((correlation, pairs.len() as u64, unknown)), talk)?;
    let is_enough = args.least.is_none_or(|least| correlation >= least);
    Ok(Outcome::of(is_enough))
}
