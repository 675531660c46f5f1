//! `disjoin measure`: how useful is what remains?

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use disjoin::data::{Dataset, Hierarchy};
use disjoin::measure::{Deviation, Kept, Options, RecodedOptions, RelativeError, Report, measure};
use disjoin::publish::find_release;
use disjoin::read;
use disjoin::release::open::{Package, RootStream, open};
use disjoin::report::plot::{self, Point, Scale};
use disjoin::{Error, Place, Result};

use crate::Outcome;
use crate::args::{Input, MultiplicityChoice, name_original};
use crate::sink::write_to;
use crate::talk::{Talk, count, number};

/// Compare a release with its original: what utility is left?
///
/// tKd is the share of the original's K most frequent itemsets that are no longer among the K most frequent ones: of one
/// reconstruction, of the chunks alone (tKd-a), of expected supports (tKd-e), of a reconstruction with a taxonomy
/// (tKd-ML2). re is the relative error of the supports of pairs, between 0 and 2, in windows of 20 terms by rank: of one
/// reconstruction, of the chunks alone (re-a), of the mean of several reconstructions (re-r2, ...), of expected supports
/// (re-e), of expected supports if rare terms occur more than once in their groups (re-u). tlost is the share of terms with K or more records that no chunk shows.
///
/// Of a table it tells what cells lost (NCP by column, GCP, RGCP), how large classes are, and how far counts are off. Of a split
/// table it also tells how far sensitive values together are from what their tables suggest: the total variation between their
/// joint distribution and the product of the tables, by group.
///
/// Of recoded transactions it tells what became of terms, NCP and UL, tKd of the terms that are published as themselves, and re and
/// query error if groups are spread evenly over their terms.
///
/// Of a noisy release it tells which of the most frequent itemsets are missed, and how far supports are off.
///
/// The result tells about the original: it is for whoever holds it, and does not belong into the release.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// The data that the release was made from; "-" is standard input
    #[arg(long, value_name = "FILE")]
    original: PathBuf,
    /// How many of the most frequent itemsets to compare
    #[arg(long, value_name = "K", default_value_t = Options::default().top as u32, value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// How many reconstructions to average at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = Options::default().reconstructions, value_parser = clap::value_parser!(u64).range(1..=1000))]
    reconstructions: u64,
    /// How many random queries to ask
    #[arg(long, value_name = "N", default_value_t = Options::default().queries)]
    queries: usize,
    /// The seed of all that is random
    #[arg(long, value_name = "SEED", default_value_t = Options::default().seed)]
    seed: u64,
    /// How often a term without a count is taken to occur in its group
    #[arg(long, value_enum, default_value_t = MultiplicityChoice::Told)]
    multiplicity: MultiplicityChoice,
    /// A taxonomy of the terms for tKd-ML2: an ARX CSV file or an Amnesia text file
    #[arg(long, value_name = "FILE")]
    hierarchy: Option<PathBuf>,
    /// Make a taxonomy for tKd-ML2: so many children a node, over the sorted terms
    #[arg(long, value_name = "N", conflicts_with = "hierarchy")]
    fanout: Option<usize>,
    /// Count terms with more than k records in tlost, instead of k or more
    #[arg(long)]
    more_than_k: bool,
    /// Tell how much of the links inside these sets of terms is kept: a file with one set a line
    #[arg(long, value_name = "FILE")]
    utility: Option<PathBuf>,
    /// Tell how many of the occurrences are kept, weighed like this: a CSV file of terms and weights
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Draw support.svg and loss.svg into this folder, over older ones
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin measure out --original baskets.dat
  disjoin measure out --original baskets.dat --fanout 10 --plots plots
  disjoin measure out/release --original patients.csv --column diagnoses --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    if let Some(folder) = crate::split::release_of(&args.release)? {
        return crate::split::measure(&folder, &args.original, args.queries, args.seed, &args.input, talk);
    }
    if let Some(folder) = crate::table::release_of(&args.release)? {
        return crate::table::measure(&folder, &args.original, args.queries, args.seed, &args.input, talk);
    }
    if let Some(folder) = crate::recoding::release_of(&args.release)? {
        return recoded(args, &folder, talk);
    }
    if let Some(folder) = crate::noise::release_of(&args.release)? {
        return crate::noise::measure(&folder, &args.original, args.top, &args.input, talk);
    }
    let (folder, _) = find_release(&args.release)?;
    let Package { claim, mut roots } = open(&folder)?;
    claim.check_header(&roots.header(), roots.file())?;
    if let Some(folder) = &args.plots {
        // Before the work, not after it.
        if folder.exists() && !folder.is_dir() {
            return Err(Error::input(Place::file(folder.display().to_string()), "is a file, a folder was expected")
                .with_hint("choose another name"));
        }
    }
    let (original, _) = args.input.read(&args.original, talk)?;
    let hierarchy = args.taxonomy(&original)?;
    let interest = read::interest(args.utility.as_deref(), args.weights.as_deref(), &original.dictionary)?;
    talk.step("comparing the release with its original");
    let options = Options {
        top: args.top as usize,
        reconstructions: args.reconstructions,
        queries: args.queries,
        seed: args.seed,
        multiplicity: args.multiplicity.into(),
        more_than_k: args.more_than_k,
        hierarchy: hierarchy.as_ref(),
        interest: Some(&interest),
    };
    let report = measure(&mut roots, &original, &options).map_err(|error| name_original(error, &args.original))?;
    if let Some(folder) = &args.plots {
        draw(&report, &original, folder)?;
        talk.note(&format!("wrote {} and loss.svg", folder.join("support.svg").display()));
    }
    if talk.is_json() {
        talk.print_json(&report)?;
    } else {
        talk.print(&text(&report))?;
    }
    Ok(Outcome::Holds)
}

impl Args {
    /// The taxonomy for tKd-ML2, if one is asked for.
    fn taxonomy(&self, original: &Dataset) -> Result<Option<Hierarchy>> {
        Ok(match (&self.hierarchy, self.fanout) {
            (Some(file), _) => Some(read::hierarchy(file, &original.dictionary)?),
            (None, Some(fanout)) => Some(Hierarchy::uniform(&original.dictionary, fanout)?),
            (None, None) => None,
        })
    }
}

/// The same for recoded transactions.
fn recoded(args: &Args, folder: &Path, talk: &Talk) -> Result<Outcome> {
    let foreign = [
        ("--utility", args.utility.is_some()),
        ("--weights", args.weights.is_some()),
        ("--plots", args.plots.is_some()),
        ("--more-than-k", args.more_than_k),
    ];
    if let Some((key, _)) = foreign.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Error::recipe(
            key,
            "is for disassociated data, and these are recoded transactions",
            "leave it out",
        ));
    }
    let (original, _) = args.input.read(&args.original, talk)?;
    let hierarchy = args.taxonomy(&original)?;
    let line_of = crate::recoding::line_of(folder)?;
    let options = RecodedOptions {
        top: args.top as usize,
        queries: args.queries,
        seed: args.seed,
        hierarchy: hierarchy.as_ref(),
        line_of: line_of.as_deref(),
    };
    crate::recoding::measure(folder, &original, &options, talk).map_err(|error| name_original(error, &args.original))
}

fn draw(report: &Report, original: &Dataset, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create the folder", e))?;
    let points: Vec<Point> = report.queries.asked.iter().map(Point::from).collect();
    let title = format!("Random itemsets of {} records (k = {}, m = {})", number(report.records), report.k, report.m);
    let scatter =
        plot::scatter(&title, "support in the original", "expected support, with bounds", &points, Scale::Log);
    let title = format!("Occurrences that the chunks do not show, of {} terms", number(original.n_terms() as u64));
    let loss =
        plot::by_rank(&title, "terms by falling support", "share", &report.terms_lost.hidden_by_rank, Scale::Log);
    for (name, svg) in [("support.svg", scatter), ("loss.svg", loss)] {
        let path = folder.join(name);
        write_to(Some(&path), true, |out| out.write_all(svg.as_bytes()).map_err(|e| Error::io(&path, "write", e)))?;
    }
    Ok(())
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{}, {}, k = {}, m = {}",
        count(report.records, "record", "records"),
        count(report.terms as u64, "term", "terms"),
        report.k,
        report.m
    );
    let top = &report.top_k;
    let _ = writeln!(
        text,
        "\n  {:<26}{:>10}{:>10}{:>10}",
        format!("top {}", number(top.k as u64)),
        "all",
        "2+ terms",
        "ties"
    );
    let mut row = |name: &str, deviation: &Deviation| {
        let Deviation { all, at_least_two_terms, generous } = deviation;
        let _ = writeln!(text, "  {name:<26}{all:>10.4}{at_least_two_terms:>10.4}{generous:>10.4}");
    };
    row("tKd, a reconstruction", &top.tkd);
    row("tKd-a, chunks alone", &top.tkd_a);
    row("tKd-e, expected", &top.tkd_e);
    if let Some(deviation) = &top.tkd_ml2 {
        row("tKd-ML2", deviation);
    }
    let shown = |error: &RelativeError| error.mean.map_or(String::from("-"), |mean| format!("{mean:.4}"));
    let _ = write!(text, "\n  {:<16}{:>9}{:>9}", "terms by rank", "re", "re-a");
    for averaged in report.relative_error.first().iter().flat_map(|window| &window.re_r) {
        let _ = write!(text, "{:>9}", format!("re-r{}", averaged.reconstructions));
    }
    let _ = writeln!(text, "{:>9}{:>9}", "re-e", "re-u");
    for window in &report.relative_error {
        let ranks = format!("{}-{}", window.first, window.first + window.terms);
        let _ = write!(text, "  {ranks:<16}{:>9}{:>9}", shown(&window.re), shown(&window.re_a));
        for averaged in &window.re_r {
            let _ = write!(text, "{:>9}", shown(&averaged.error));
        }
        let _ = writeln!(text, "{:>9}{:>9}", shown(&window.re_e), shown(&window.re_u));
    }
    let lost = &report.terms_lost;
    let _ = writeln!(
        text,
        "\n  {:<26}{:>10.4}   of {} in no chunk\n  {:<26}{:>10.4}   in at least one term chunk",
        "tlost",
        lost.tlost,
        count(lost.considered as u64, "term", "terms"),
        "tlost-any",
        lost.tlost_any
    );
    if let Some(Kept { sets, links, worst, weighed_occurrences }) = &report.kept {
        let _ = writeln!(text);
        if let (Some(links), Some(worst)) = (links, worst) {
            let of = count(*sets as u64, "set", "sets");
            let _ = writeln!(text, "  {:<26}{links:>10.4}   worst {worst:.4}, of {of}", "links kept in sets");
        }
        if let Some(share) = weighed_occurrences {
            let _ = writeln!(text, "  {:<26}{share:>10.4}", "weighed occurrences kept");
        }
    }
    let queries = &report.queries;
    let _ = writeln!(
        text,
        "\n  {:<26}{:>10.4}   median {:.4}, of {}\n  {:<26}{:>10.4}\n  {:<26}{:>10.4}",
        "query error",
        queries.mean,
        queries.median,
        count(queries.queries as u64, "itemset", "itemsets"),
        "truth within the bounds",
        queries.within_bounds,
        "within two deviations",
        queries.within_two_deviations
    );
    text
}
