//! Switches of experiments: what they make promises less than the default, or nothing. No recipe should need them.

/// How disassociation departs from what is published. Nothing of it by default.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ForTheLab {
    /// The paper's algorithm without our corrections. Such a release promises nothing, and says so.
    pub paper_literal: bool,
    /// Chance in the paper's cut, so that a refusal proves nothing. It makes no promise stronger.
    pub reject: Option<Rejection>,
}

impl ForTheLab {
    /// The paper to the letter.
    pub fn paper_literal() -> Self {
        ForTheLab { paper_literal: true, reject: None }
    }

    /// Refusals with the probability `rho`.
    pub fn rejecting(rho: f64, seed: u64) -> Self {
        ForTheLab { paper_literal: false, reject: Some(Rejection { rho, seed }) }
    }
}

/// Refusals by chance: a chunk that is not empty rejects a term that it could let in.
///
/// Whoever sees a term in a later chunk cannot tell whether it had to be there: a dataset that the paper's rule would have cut
/// in another way is less likely than others, but no longer impossible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rejection {
    /// The probability of a rejection. Everybody may know it.
    pub rho: f64,
    /// Decides all rejections. Whoever knows it is not misled.
    pub seed: u64,
}
