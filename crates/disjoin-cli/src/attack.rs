//! `disjoin attack`: what could an adversary learn from a release?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::attack::attackers::Class;
use disjoin::attack::summary::Choice;
use disjoin::run::{self, AttackOptions};

use crate::Outcome;
use crate::choices::choice;
use crate::flags::columns::Background;
use crate::flags::dependencies::Dependencies;
use crate::flags::input::SOURCES;
use crate::flags::limits::Limits;
use crate::flags::original::Original;
use crate::flags::stronger::Stronger;
use crate::flags::words::Semantic;
use crate::talk::Talk;

/// Attack a release as an adversary would: what can be learned that was not meant to be?
///
/// Disassociated data: cover, closure and worlds use knowledge of the algorithm (minimality attacks). Which terms of different
/// chunks go together in fewer than k records, so that an adversary who knows them of a person has fewer than k candidates?
/// Each finds what the one before does, and more; worlds also proves for which clusters there is nothing left to find.
/// reassociate guesses which parts of records belong together; with --corpus, --vectors or --counts also by the meaning of terms.
/// identity is the re-identification (prosecutor) risk for an adversary with two terms of background knowledge.
/// rerun is an adversary who runs the program: small releases are decided by all possible originals; of larger ones, with the original,
/// itemsets are drawn, and for each a dataset is made in which k records hold it and which gives the very same release (witness).
/// With the original, cover problems are counted for attackers of three strengths, and --knows, --knows-all and --knows-absent
/// simulate adversaries who know more than the release promises to withstand.
///
/// Tables: what does an adversary infer who knows how sensitive values go with quasi-identifiers (with the original, in which these
/// people stand)? Which rules between columns lead to sensitive values? With --target, what follows for a person. Split tables: how
/// likely are all sensitive values of a person guessed (knowledge breach)? With --outside, by an adversary who knows other people.
///
/// Recoded sets: which members of a generalised item go with the items beside it, and which were added (semantic attacks)? --corpus
/// or --vectors names what the adversary knows about the meaning of terms.
///
/// With the original, findings are compared with the truth and with a baseline that knows nothing. The result then shows what was
/// counted in the original: it is for those who hold it, and does not belong in the release.
///
/// Ends with exit code 1 if something found is above its limit. What the release does not promise has a limit only if one is set.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The package that disjoin protect wrote, or the folder release in it
    release: PathBuf,
    /// Which attacks to run on disassociated data, with commas between [default: all; rerun if program-aware is promised]
    #[arg(long, value_name = "NAME", value_parser = choice::<Choice>(), value_delimiter = ',')]
    attack: Option<Vec<Choice>>,
    /// How the adversary believes that clusters were cut: as claimed, or greedily by the paper's rule [default: claimed]
    #[arg(long, value_name = "RULE", value_parser = ["claimed", "greedy"])]
    assume: Option<String>,
    /// How long worlds searches for each set of terms before it is left open
    #[arg(long, value_name = "N")]
    steps: Option<u64>,
    /// How many itemsets rerun draws to make witnesses for [default: 1000]
    #[arg(long, value_name = "N")]
    witnesses: Option<u64>,
    /// Other people's data, from which the adversary learns what goes together (split tables, recoded sets)
    #[arg(long, value_name = "FILE", conflicts_with = "dependencies")]
    outside: Option<PathBuf>,
    /// Whose cover problems are counted, with commas between: who knows what serves best, random terms of a tenth of the people, or
    /// words that may be nobody's [default: strong; with the original all]
    #[arg(long, value_name = "NAME", value_parser = choice::<Class>(), value_delimiter = ',')]
    attackers: Option<Vec<Class>>,
    /// Show the terms of findings, not just how many there are
    #[arg(long)]
    show_terms: bool,
    /// Write whom true findings are about to findings.csv in the custody folder, or dependencies with their pictures to
    /// dependencies.html, over an older one
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    stronger: Stronger,
    #[command(flatten)]
    original: Original,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    dependencies: Dependencies,
    #[command(flatten)]
    knowledge: Background,
    #[command(flatten)]
    semantic: Semantic,
}

const EXAMPLES: &str = "\
Examples:
  disjoin attack out
  disjoin attack out --attack cover,identity --show-terms
  disjoin attack out --original baskets.dat --keep
  disjoin attack out --attack rerun --original baskets.dat --witnesses 1000
  disjoin attack out --original baskets.dat --attackers moderate,weak --attack cover
  disjoin attack out --original baskets.dat --knows 3 --knows-absent
  disjoin attack out --original baskets.dat --knows-all bread --knows-absent=wine
  disjoin attack out/release --original patients.csv --column diagnoses --json
  disjoin attack split --max-knowledge-breach 0.4
  disjoin attack split --outside census.csv
  disjoin attack recoded --corpus words.corpus --original baskets.dat --max-advantage 0
  disjoin attack table --original people.csv --max-inference-gain 0.1
  disjoin attack table --dependencies --alpha 0.8 --network-svg network.svg
  disjoin attack table --target age=30-50,sex=F --known government=State --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let original = args.original.originally();
    let asked = args.asked()?;
    let found = run::attack(&args.release, args.original.custody(), &original, &asked, SOURCES, talk);
    talk.answer(&found.map_err(|error| args.original.named(error))?)
}

impl Args {
    fn asked(&self) -> Result<AttackOptions> {
        let mut asked = AttackOptions {
            run: self.attack.clone(),
            steps: self.steps,
            witnesses: self.witnesses,
            assume_greedy: self.assume.as_deref() == Some("greedy"),
            attackers: self.attackers.clone(),
            show_terms: self.show_terms,
            keep: self.keep,
            outside: self.outside.clone(),
            knowledge: self.knowledge.knowledge(),
            input: self.original.input.options(),
            limits: self.limits.written(),
            ..AttackOptions::default()
        };
        self.stronger.write(&mut asked);
        self.dependencies.write(&mut asked)?;
        self.semantic.write(&mut asked)?;
        Ok(asked)
    }
}
