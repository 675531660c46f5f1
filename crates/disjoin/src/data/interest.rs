//! What matters most to those who will use a release.

use super::TermId;

/// Sets of terms whose links with each other matter most, and how much terms count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Interest {
    /// Utility sets: each ascending.
    pub sets: Vec<Vec<TermId>>,
    /// Weights from 0 on, of terms that count more or less than 1.
    pub weights: Vec<(TermId, f64)>,
}

impl Interest {
    /// Whether nothing matters more than anything else.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty() && self.weights.is_empty()
    }
}
