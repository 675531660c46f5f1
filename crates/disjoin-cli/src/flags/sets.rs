//! How sets of terms are cut into chunks.

use disjoin::protect::disassociation::{DiversityRule, Grouping};
use disjoin::recipe::OutputFormat;
use disjoin::recipe::written::{self, Promised};

use crate::choices::choice;

/// What is asked of disassociation.
#[derive(clap::Args)]
#[command(next_help_heading = "Sets")]
pub(crate) struct Sets {
    /// The promise: published holds against an adversary who does not know the algorithm, algorithm-aware also against one who
    /// does, program-aware also against one who runs the program, with --grouping guarded [default: the strongest that the
    /// grouping keeps]
    #[arg(long, value_name = "PROMISE", value_parser = choice::<Promised>(), conflicts_with = "paper_literal")]
    promise: Option<Promised>,
    /// How records are grouped: layered publishes terms that many share together, paper groups by the most frequent terms,
    /// guarded by supports alone, so that an adversary who runs the program learns no more
    #[arg(long, value_name = "WAY", value_parser = choice::<Grouping>())]
    grouping: Option<Grouping>,
    /// Clusters stay below this size [default: 2 K; 30 with --grouping paper; 3 K with --grouping guarded]
    #[arg(long, value_name = "N")]
    max_cluster: Option<u32>,
    /// Do not let clusters share chunks
    #[arg(long)]
    no_refine: bool,
    /// How l-diversity is bounded: by how often the term occurs, or by the cluster's size alone
    #[arg(long, value_name = "RULE", value_parser = choice::<DiversityRule>(), requires = "l_diversity")]
    diversity_rule: Option<DiversityRule>,
    /// A file of sets of terms, one a line, commas between. Disassociation: their links with each other matter most. coat, pcta:
    /// only terms of one set may stand in for each other
    #[arg(long, value_name = "FILE")]
    utility: Option<String>,
    /// How much terms count when records are grouped, 1 if it is not said: a CSV file of terms and weights
    #[arg(long, value_name = "FILE")]
    weights: Option<String>,
    /// Group records by this file, the name of a cluster in each line, in the order of the records; with --grouping paper
    #[arg(long, value_name = "FILE")]
    clusters: Option<String>,
    /// The algorithm as in the paper, with its gaps: promises nothing, for experiments only
    #[arg(long, hide = true)]
    paper_literal: bool,
    /// How the data of the release are stored
    #[arg(long, value_name = "FORMAT", value_parser = choice::<OutputFormat>())]
    output_format: Option<OutputFormat>,
}

impl Sets {
    /// As a recipe writes it.
    pub(crate) fn write(&self, written: &mut written::Written) {
        let protect = &mut written.protect;
        protect.promise = self.promise;
        protect.grouping = self.grouping;
        protect.max_cluster = self.max_cluster;
        protect.refine = self.no_refine.then_some(false);
        protect.diversity_rule = self.diversity_rule;
        protect.utility.clone_from(&self.utility);
        protect.weights.clone_from(&self.weights);
        protect.clusters.clone_from(&self.clusters);
        protect.paper_literal = self.paper_literal;
        written.output.format = self.output_format;
    }
}
