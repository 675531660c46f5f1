//! Limits on what attacks may find. Without one, what the release promises is the limit. What only the original can tell cannot be
//! limited without it: a limit that nobody looks at would be taken for one that is kept.

use disjoin::recipe::written;

/// The highest values that are accepted.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct Limits {
    /// Certain disclosures, of disassociated data and split tables [default: 0]
    #[arg(long, value_name = "N", alias = "limit")]
    max_certain_disclosures: Option<u64>,
    /// The re-identification (prosecutor) risk, of disassociated data [default: 1/k]
    #[arg(long, value_name = "P")]
    max_reidentification_risk: Option<f64>,
    /// The advantage of semantic attacks over the baseline, of recoded sets [default: not limited]
    #[arg(long, value_name = "SHARE", requires = "original")]
    max_advantage: Option<f64>,
    /// The inference gain over the prior, of tables, in bits a person [default: not limited]
    #[arg(long, value_name = "BITS", requires = "original")]
    max_inference_gain: Option<f64>,
    /// How much beliefs about a person change on average, of tables, in bits [default: not limited]
    #[arg(long, value_name = "BITS", requires = "original")]
    max_belief_change: Option<f64>,
    /// Rules between columns that lead to sensitive values, of tables and split tables [default: not limited]
    #[arg(long, value_name = "N")]
    max_dependency_rules: Option<u64>,
    /// The probability that all sensitive values of a person are guessed, of split tables [default: what the claim promises]
    #[arg(long, value_name = "P", alias = "most-likely")]
    max_knowledge_breach: Option<f64>,
}

impl Limits {
    pub(crate) fn written(&self) -> written::Limits {
        written::Limits {
            certain_disclosures: self.max_certain_disclosures,
            reidentification_risk: self.max_reidentification_risk,
            advantage: self.max_advantage,
            inference_gain: self.max_inference_gain,
            belief_change: self.max_belief_change,
            dependency_rules: self.max_dependency_rules,
            knowledge_breach: self.max_knowledge_breach,
            ..written::Limits::default()
        }
    }
}
