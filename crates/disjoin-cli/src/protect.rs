//! `disjoin protect`: from a file to a package.

use std::path::PathBuf;

use clap::ValueEnum;
use disjoin::data::Dataset;
use disjoin::protect::disassociation::{self, DiversityRule, Grouping, Outcome as Disassociation, Params};
use disjoin::publish::{Custody, Destination, Encoding, Package};
use disjoin::read::Intake;
use disjoin::recipe::recoding::Method;
use disjoin::recipe::resolve;
use disjoin::recipe::written::{self, Promised};
use disjoin::release::claim::Parameters;
use disjoin::release::{Claim, Promise};
use disjoin::{Error, Result};
use serde_json::json;

use crate::Outcome;
use crate::args::{Crowd, Input, sensitive_terms};
use crate::recoding;
use crate::table::{Flags, MethodChoice};
use crate::talk::{Talk, count, number};

/// Make a release: no term is lost, but the links that would single somebody out are cut
///
/// Other methods are chosen with --method. For tables see below. For sets: apriori, lra and vpa generalise terms along a hierarchy,
/// suppression and suppression-partial leave terms out, until every set of M items is in K records or in none; coat and pcta
/// generalise terms until the sets of terms of --privacy are. Records stay whole then.
///
/// Writes a folder with two parts. OUT/release may leave the building: the data and the claim that says what is promised.
/// OUT/custody must not: it says which record went where. The folder is replaced as a whole, and only if it is empty or
/// a package that disjoin wrote.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data; "-" is standard input
    file: PathBuf,
    /// The folder to write the package to
    #[arg(short, long, value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    crowd: Crowd,
    /// How records are brought together [default: layered]
    #[arg(long, value_enum, conflicts_with = "paper_literal")]
    grouping: Option<GroupingChoice>,
    /// Group fewer records than this, where possible [default: 2K; with --grouping paper 30, or 2K if that is more]
    #[arg(long, value_name = "N")]
    max_cluster: Option<u32>,
    /// How the data are protected [default: disassociation, or least-loss for tables]
    #[arg(long, value_name = "METHOD", value_parser = crate::table::method_parser())]
    method: Option<MethodChoice>,
    /// Which reading of the guarantee the release promises [default: algorithm-aware]
    #[arg(long, value_enum)]
    promise: Option<PromiseChoice>,
    /// Do not let groups share chunks: faster, but rare terms lose their counts
    #[arg(long)]
    no_refine: bool,
    /// Terms never to be linked with others: a list with commas, or a file with one a line. Of a table: its sensitive columns
    #[arg(long, value_name = "LIST|FILE")]
    sensitive: Option<String>,
    /// Nobody is linked to a sensitive term with a probability above 1/L. Of a table: L different sensitive values in every class
    #[arg(long, value_name = "L", requires = "sensitive")]
    l_diversity: Option<u32>,
    /// How that probability is bounded: by how often the term occurs, or by the group's size alone
    #[arg(long, value_enum, default_value_t = RuleChoice::Multiplicity, requires = "l_diversity")]
    diversity_rule: RuleChoice,
    /// A file of sets of terms, one a line, commas between. Disassociation: their links with each other matter most. coat, pcta:
    /// only terms of one set may stand in for each other [default there: all terms may]
    #[arg(long, value_name = "FILE")]
    utility: Option<String>,
    /// How much terms count when records are grouped, 1 if it is not said: a CSV file of terms and weights
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
    /// The algorithm as in the paper, with its gaps: promises nothing, for experiments only
    #[arg(long, conflicts_with = "promise")]
    paper_literal: bool,
    /// How the data of the release are stored
    #[arg(long, value_enum, default_value_t = EncodingChoice::Jsonl, value_name = "FORMAT")]
    output_format: EncodingChoice,
    #[command(flatten)]
    recoding: recoding::RecodingFlags,
    #[command(flatten)]
    table: Flags,
    #[command(flatten)]
    noise: crate::noise::NoiseFlags,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin protect baskets.dat -o out
  disjoin protect hospital.csv --column diagnoses -k 10 -m 3 -o out
  disjoin protect baskets.dat --promise published -o out
  disjoin protect purchases.csv --format long --id-column customer --item-column product -o out
  disjoin protect hospital.csv --column diagnoses --sensitive \"HIV disease,schizophrenia\" --l-diversity 5 -o out
  disjoin protect baskets.dat --utility sets.txt --weights weights.csv -o out
  disjoin protect baskets.dat --method privbasis --epsilon 1 --delta 1e-6 --top 100 --universe items.txt -o out
  disjoin protect baskets.dat --method diffpart --epsilon 1 --universe items.txt -o out
  disjoin protect people.csv --quasi age,sex,zip --sensitive disease --identifier name --numeric age --beta 2 -o out
  disjoin protect people.csv --quasi age,sex,zip --sensitive job,marital,salary --numeric age,zip \
      --method break-merge -k 5 --l-diversity 2 --knowledge-breach 0.5 -o out
  disjoin protect baskets.dat --method coat --privacy privacy.txt --utility utility.txt -k 5 -o out
  disjoin protect baskets.dat --method apriori --fanout 10 -k 5 -m 2 -o out
  disjoin protect baskets.dat --method suppression -k 5 -m 2 -o out
  disjoin protect sqlite:people.db?table=people --quasi age,sex --sensitive disease --numeric age -o out";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PromiseChoice {
    /// Only against somebody who reads what is published and does not know how it was made: the paper's cut
    Published,
    /// Also against somebody who knows how clusters are cut into chunks
    AlgorithmAware,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum GroupingChoice {
    /// Terms that many share are published together; the others in small groups of records that are alike
    Layered,
    /// Groups by the most frequent terms, as in the paper
    Paper,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleChoice {
    Multiplicity,
    Size,
}

/// Encodings of a release, as the user writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EncodingChoice {
    Jsonl,
    Parquet,
}

impl From<EncodingChoice> for Encoding {
    fn from(choice: EncodingChoice) -> Self {
        match choice {
            EncodingChoice::Jsonl => Encoding::JsonLines,
            EncodingChoice::Parquet => Encoding::Parquet,
        }
    }
}

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    if let Some(MethodChoice::Recoding(method)) = args.method {
        args.refuse_foreign(method)?;
        args.noise.check_unused()?;
        let hierarchy = args.table.hierarchy_of_terms()?;
        let asked = args.recoding.asked(method, &args.crowd, args.utility.as_deref(), hierarchy);
        return recoding::protect(&args.file, &args.out, &asked, &args.input, talk);
    }
    args.recoding.refuse(matches!(args.method, Some(MethodChoice::Noise(_))))?;
    if !args.table.is_table() && args.table.hierarchy_of_terms()?.is_some() {
        let problem = "is for tables, and for methods that generalise terms";
        return Err(Error::recipe("--hierarchy", problem, "name the method: --method apriori, lra or vpa"));
    }
    args.params_without_terms().check()?;
    if let Some(MethodChoice::Noise(method)) = args.method {
        args.check_noise()?;
        let asked = args.noise.asked(method, args.recoding.fanout, args.table.seed)?;
        return crate::noise::protect(&args.file, &args.out, &asked, &args.input, talk);
    }
    args.noise.check_unused()?;
    if args.table.is_table() {
        if args.method == Some(MethodChoice::Disassociation) {
            let problem = "disassociation is for sets, and --quasi names columns of a table";
            return Err(Error::recipe("--method", problem, "leave it out, or choose a method for tables"));
        }
        args.refuse_beside_table()?;
        let protect = resolve::protect(&args.written());
        let separator = args.input.options().list_separator;
        let asked = args.table.resolve(&protect, args.method, args.sensitive.as_deref(), separator)?;
        if asked.split.is_some() {
            return crate::split::protect(&args.file, &args.out, &asked, &args.input, talk);
        }
        return crate::table::protect(&args.file, &args.out, &asked, &protect, &args.input, talk);
    }
    if args.method.is_some_and(|method| method != MethodChoice::Disassociation) {
        let hint = "say what each column is: --quasi age,sex --sensitive disease --identifier name --other note";
        return Err(Error::recipe("--method", "is for tables, whose columns must be declared", hint));
    }
    if args.table.seed.is_some() {
        let problem = "is for tables and for --demonstration of noise: nothing is drawn here";
        return Err(Error::recipe("--seed", problem, "leave it out"));
    }
    let destination = Destination::check(&args.out)?;
    destination.check_outside(&args.file)?;
    let (data, intake) = args.input.read(&args.file, talk)?;
    let params = args.params(&data)?;
    let made = disassociate(&data, &params, talk)?;
    talk.step("writing the package");
    let made = Made::new(&data, &params, made, intake);
    made.publish(&destination, args.output_format.into(), None)?;
    made.report(&destination, talk)?;
    // The program ends here: giving millions of small pieces back one by one would only take time.
    std::mem::forget((data, made));
    Ok(Outcome::Holds)
}

impl Args {
    /// Refuses flags that methods which recode terms do not know.
    fn refuse_foreign(&self, method: Method) -> Result<()> {
        let foreign = [
            ("--quasi", self.table.is_table()),
            ("--grouping", self.grouping.is_some()),
            ("--promise", self.promise.is_some()),
            ("--max-cluster", self.max_cluster.is_some()),
            ("--no-refine", self.no_refine),
            ("--sensitive", self.sensitive.is_some()),
            ("--weights", self.weights.is_some()),
            ("--paper-literal", self.paper_literal),
            ("--output-format", self.output_format != EncodingChoice::Jsonl),
        ];
        match foreign.into_iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let problem = format!("is not known by the method {}", method.name());
                Err(Error::recipe(key, problem, format!("leave it out; the method knows {}", method.flags())))
            }
            None => Ok(()),
        }
    }

    /// Refuses what has no meaning for noise.
    fn check_noise(&self) -> Result<()> {
        let given = [
            ("--quasi", self.table.is_table()),
            ("--grouping", self.grouping.is_some()),
            ("--promise", self.promise.is_some()),
            ("--sensitive", self.sensitive.is_some()),
            ("--utility", self.utility.is_some()),
            ("--weights", self.weights.is_some()),
            ("--output-format", self.output_format == EncodingChoice::Parquet),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Error::recipe(flag, "is not for methods that add noise", "leave it out")),
            None => Ok(()),
        }
    }

    /// Refuses what has no meaning for tables, or only for a column of sets in them.
    fn refuse_beside_table(&self) -> Result<()> {
        let of_sets = [
            ("--utility", self.utility.is_some()),
            ("--weights", self.weights.is_some()),
            ("--paper-literal", self.paper_literal),
            ("--output-format", self.output_format == EncodingChoice::Parquet),
        ];
        let of_a_column = [
            ("--grouping", self.grouping.is_some()),
            ("--promise", self.promise.is_some()),
            ("--max-cluster", self.max_cluster.is_some()),
            ("--no-refine", self.no_refine),
        ];
        if let Some((flag, _)) = of_sets.into_iter().find(|(_, is_given)| *is_given) {
            return Err(Error::recipe(flag, "is for sets of terms, not for tables", "leave it out"));
        }
        match of_a_column.into_iter().find(|(_, is_given)| *is_given && !self.table.has_sets()) {
            Some((flag, _)) => {
                let problem = "says how sets of terms are cut, and no column is one";
                Err(Error::recipe(flag, problem, "leave it out, or name the column: --set diagnoses"))
            }
            None => Ok(()),
        }
    }

    fn params(&self, data: &Dataset) -> Result<Params> {
        let sensitive = self.sensitive.as_deref().map_or(Ok(Vec::new()), |list| sensitive_terms(list, data))?;
        let interest = resolve::protect(&self.written()).interest(data)?;
        Ok(Params { sensitive, interest, ..self.params_without_terms() })
    }

    /// The same structure that a recipe fills: the same defaults, the same meaning.
    fn written(&self) -> written::Protect {
        let (k, m) = (Some(self.crowd.k), Some(self.crowd.m));
        written::Protect {
            k,
            m,
            grouping: self.grouping.map(|grouping| match grouping {
                GroupingChoice::Layered => Grouping::Layered,
                GroupingChoice::Paper => Grouping::Paper,
            }),
            max_cluster: self.max_cluster,
            promise: self.promise.map(|promise| match promise {
                PromiseChoice::Published => Promised::Published,
                PromiseChoice::AlgorithmAware => Promised::AlgorithmAware,
            }),
            refine: Some(!self.no_refine),
            l_diversity: self.l_diversity,
            diversity_rule: Some(match self.diversity_rule {
                RuleChoice::Multiplicity => DiversityRule::Multiplicity,
                RuleChoice::Size => DiversityRule::Size,
            }),
            utility: self.utility.clone(),
            weights: self.weights.clone(),
            ..written::Protect::default()
        }
    }

    fn params_without_terms(&self) -> Params {
        let params = resolve::protect(&self.written()).params();
        match self.paper_literal {
            true => Params { paper_literal: true, grouping: Grouping::Paper, algorithm_aware: false, ..params },
            false => params,
        }
    }
}

/// Disassociates, telling the steps.
pub(crate) fn disassociate(data: &Dataset, params: &Params, talk: &Talk) -> Result<Disassociation> {
    disassociation::disassociate_with(data, params, &mut |step| talk.step(step.text()))
}

/// A release with its claim and what is kept of its making.
pub(crate) struct Made {
    claim: Claim,
    custody: Custody,
    made: Disassociation,
}

impl Made {
    pub(crate) fn new(data: &Dataset, params: &Params, made: Disassociation, intake: Intake) -> Self {
        let parameters = disjoin::run::parameters(params, data);
        let promise = match (params.paper_literal, params.algorithm_aware) {
            (true, _) => Promise::None,
            (false, true) => Promise::AlgorithmAware,
            (false, false) => Promise::Published,
        };
        let claim = Claim::disassociation(parameters.clone(), promise, made.release.header.records);
        let custody = Custody::new(&claim.made_by, intake, parameters, promise, made.stats.clone());
        Made { claim, custody, made }
    }

    pub(crate) fn publish(&self, destination: &Destination, encoding: Encoding, original: Option<&[u8]>) -> Result<()> {
        let package = Package {
            claim: &self.claim,
            release: &self.made.release,
            encoding,
            custody: &self.custody,
            leaf_of: &self.made.leaf_of,
            original,
            pages: &[],
        };
        package.publish(destination)
    }

    fn report(&self, destination: &Destination, talk: &Talk) -> Result<()> {
        let (stats, out) = (&self.made.stats, destination.path());
        let Parameters { k, m, .. } = self.claim.parameters;
        talk.note(&format!(
            "k = {k}, m = {m}: {} in {}, {} of them joint",
            count(self.claim.records, "record", "records"),
            count(self.made.release.roots.len() as u64, "cluster", "clusters"),
            number(stats.joint_roots),
        ));
        if self.claim.promise == Promise::None {
            talk.warn("this release promises nothing (--paper-literal): do not publish it");
        }
        talk.note_places(out);
        if talk.is_json() {
            let path = |part| out.join(part).to_string_lossy().into_owned();
            talk.print_json(&json!({
                "release": path("release"),
                "custody": path("custody"),
                "replaced": destination.replaces(),
                "input": self.custody.input,
                "parameters": self.claim.parameters,
                "promise": self.claim.promise,
                "promised": self.claim.promised,
                "records": self.claim.records,
                "terms": self.made.release.dictionary.len(),
                "roots": self.made.release.roots.len(),
                "stats": stats,
            }))?;
        }
        Ok(())
    }
}

/// Needed where an output folder is made up by us.
pub(crate) fn make_parent(out: &std::path::Path) -> Result<()> {
    match out.parent() {
        Some(parent) => std::fs::create_dir_all(parent).map_err(|e| Error::io(parent, "make the folder", e)),
        None => Ok(()),
    }
}
