//! Adversaries who know more than a promise covers.

use disjoin::run::AttackOptions;

use crate::choices::from_one;

/// What they know of people, drawn from the original.
#[derive(clap::Args)]
#[command(next_help_heading = "Adversaries who know more than is promised (disassociated data, with the original)")]
pub(crate) struct Stronger {
    /// How many random terms of a person are known [default: m]
    #[arg(long, value_name = "N", value_parser = from_one())]
    knows: Option<u32>,
    /// All holders of this term are known, so of everybody whether they have it; may be repeated
    #[arg(long, value_name = "TERM")]
    knows_all: Vec<String>,
    /// That a person lacks this term is known, or, without a term, one random term that the person lacks; may be repeated
    #[arg(long, value_name = "TERM", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    knows_absent: Vec<String>,
}

impl Stronger {
    /// Into what an attack is asked.
    pub(crate) fn write(&self, asked: &mut AttackOptions) {
        asked.knows = self.knows;
        asked.knows_all.clone_from(&self.knows_all);
        asked.knows_absent.clone_from(&self.knows_absent);
    }
}
