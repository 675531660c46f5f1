//! How dependencies between the columns of a table are looked for.

use std::path::PathBuf;

use disjoin::attack::dependency::Structure;
use disjoin::run::AttackOptions;
use disjoin::{Error, Result};

/// Dependencies that survive in a table.
#[derive(clap::Args)]
#[command(next_help_heading = "Dependencies (tables and split tables)")]
pub(crate) struct Dependencies {
    /// Only look for rules between columns that lead to sensitive values: from the release alone
    #[arg(long)]
    dependencies: bool,
    /// A sensitive value with a probability above it is at risk
    #[arg(long, value_name = "P")]
    alpha: Option<f64>,
    /// How likely it may be that anything is reported where there is nothing
    #[arg(long, value_name = "P")]
    level: Option<f64>,
    /// Leave out rules from fewer rows
    #[arg(long, value_name = "N")]
    min_support: Option<u32>,
    /// Added to the counts that the rules of Algorithm 1 are read off; 1 is Laplace's rule, which the paper's Table VII has [default: 0]
    #[arg(long, value_name = "N")]
    smoothing: Option<f64>,
    /// How networks are learned: by hill climbing, by conditional independences as the paper and Weka do (ics), or by tests of
    /// independence in any order of columns (pc-stable)
    #[arg(long, value_name = "WAY", value_parser = ["hill-climbing", "ics", "pc-stable"])]
    structure: Option<String>,
    /// Columns that may make two others independent, for --structure ics; the paper's figures need 0
    #[arg(long, value_name = "N", requires = "structure")]
    max_cardinality: Option<usize>,
    /// The most columns that lead to one in a network
    #[arg(long, value_name = "N")]
    max_parents: Option<usize>,
    /// Report what all rows suggest, chance or not, instead of what one half suggests and the other confirms
    #[arg(long)]
    unconfirmed: bool,
    /// A person: published values, as age=30-50,sex=F; may be repeated
    #[arg(long, value_name = "COLUMN=VALUE,...")]
    target: Vec<String>,
    /// What else is known of that person, in the same form
    #[arg(long, value_name = "COLUMN=VALUE,...", requires = "target")]
    known: Vec<String>,
    /// Draw the network of all columns: an SVG file
    #[arg(long, value_name = "FILE")]
    network_svg: Option<PathBuf>,
    /// Replace the drawing if it exists
    #[arg(long, requires = "network_svg")]
    force: bool,
}

impl Dependencies {
    /// Into what an attack is asked.
    pub(crate) fn write(&self, asked: &mut AttackOptions) -> Result<()> {
        asked.dependencies = self.dependencies;
        let dependency = &mut asked.dependency;
        dependency.alpha = self.alpha;
        dependency.level = self.level;
        dependency.min_support = self.min_support;
        dependency.smoothing = self.smoothing;
        dependency.max_parents = self.max_parents;
        dependency.unconfirmed = self.unconfirmed;
        dependency.structure = match (self.structure.as_deref(), self.max_cardinality) {
            (Some("ics"), cardinality) => Some(Structure::ics(cardinality)),
            (_, Some(_)) => return Err(Error::recipe("max_cardinality", "is for --structure ics", "leave it out")),
            (None, None) => None,
            (Some("pc-stable"), None) => Some(Structure::PcStable),
            (Some(_), None) => Some(Structure::HillClimbing),
        };
        asked.target.clone_from(&self.target);
        asked.known.clone_from(&self.known);
        asked.network_svg.clone_from(&self.network_svg);
        asked.force = self.force;
        Ok(())
    }
}
