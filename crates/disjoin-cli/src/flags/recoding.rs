//! How terms are recoded.

use disjoin::protect::recoding::CostRule;
use disjoin::recipe::written;

use crate::choices::choice;

/// What is asked of methods that recode terms.
#[derive(clap::Args)]
#[command(next_help_heading = "Recoding")]
pub(crate) struct Recoding {
    /// apriori, lra, vpa: make a hierarchy with so many children a node, over the sorted terms, instead of --hierarchy; diffpart: of
    /// the items
    #[arg(long, value_name = "N")]
    pub(crate) fanout: Option<usize>,
    /// apriori, lra, vpa: what a generalisation costs: how much more is lost, how much by it alone, or how many nodes
    #[arg(long, value_name = "RULE", value_parser = choice::<CostRule>())]
    cost: Option<CostRule>,
    /// lra: the least number of records of a block [default: 1000 K]
    #[arg(long, value_name = "N")]
    block: Option<usize>,
    /// vpa: in how many parts the terms are looked at first
    #[arg(long, value_name = "N")]
    parts: Option<usize>,
    /// coat, pcta: the privacy constraints, sets of terms that an adversary may know of a person: a file with one set a line
    #[arg(long, value_name = "FILE")]
    privacy: Option<String>,
    /// coat, pcta: protect constraints as a whole only, and not every part of them
    #[arg(long)]
    whole_constraints: bool,
    /// coat, pcta: the largest share of terms that may be suppressed
    #[arg(long, value_name = "SHARE")]
    max_suppressed: Option<f64>,
    /// coat, pcta: suppress more terms than that where constraints cannot be satisfied otherwise
    #[arg(long)]
    force: bool,
}

impl Recoding {
    /// As a recipe writes it.
    pub(crate) fn write(&self, protect: &mut written::Protect) {
        protect.fanout = self.fanout;
        protect.cost = self.cost;
        protect.block = self.block;
        protect.parts = self.parts;
        protect.privacy.clone_from(&self.privacy);
        protect.whole_constraints = self.whole_constraints.then_some(true);
        protect.max_suppressed = self.max_suppressed;
        protect.force = self.force.then_some(true);
    }
}
