//! The conditions that a release is checked for, and the count of how it fared.

use serde::Serialize;

/// A condition of the promise, or of agreement with the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// The claim promises something.
    Promise,
    /// k >= 2 and m >= 1.
    Parameters,
    /// A joint cluster has members, and is as large as they are together.
    MemberSizes,
    /// The clusters hold as many records as the header says.
    RecordCount,
    /// No term stands in two chunks of one cluster.
    DisjointDomains,
    /// No chunk is empty, and every term of a chunk is in one of its subrecords.
    EmptyChunk,
    /// A chunk has no more subrecords than its cluster has records.
    ChunkSize,
    /// A simple cluster has a chunk.
    EmptyCluster,
    /// A simple cluster has at least k records.
    ClusterSize,
    /// A record chunk is k^m-anonymous.
    RecordChunkAnonymity,
    /// Lemma 2: a term chunk, or enough subrecords for all records.
    Filling,
    /// A shared chunk without conflicts is k^m-anonymous.
    SharedChunkAnonymity,
    /// A shared chunk with conflicts is k-anonymous.
    SharedChunkConflicts,
    /// A shared chunk with conflicts leaves room.
    SharedChunkRoom,
    /// What the cut into record chunks tells leaves k records for every itemset across them.
    CutGivesNothingAway,
    /// Sensitive terms stand in term chunks only.
    SensitivePlace,
    /// A cluster with a sensitive term has at least l records.
    DiversitySize,
    /// The number of occurrences, if it is told, leaves all possible originals that are counted on.
    OccurrencesLeaveRoom,
    /// The original has as many records as the release.
    OriginalRecords,
    /// The original has the same terms as the release.
    OriginalTerms,
    /// The supports in the original are possible ones in the release.
    OriginalSupports,
    /// The original has as many occurrences as the release tells, if it does.
    OriginalOccurrences,
    /// The custody map sends every record to a cluster, and to each as many as it has.
    CustodyMap,
    /// A record chunk is the bag of projections of its cluster's records.
    CustodyRecordChunks,
    /// The terms of a term chunk occur in its cluster's records.
    CustodyTermChunks,
    /// A shared chunk is the bag of projections of the records below it.
    CustodySharedChunks,
    /// Every term of every record is published.
    CustodyLeftOver,
    /// |P| >= l * s(t, P) for every sensitive term t.
    DiversityMultiplicity,
    /// No two records of one person are in clusters that belong together.
    People,
}

/// The number of rules.
const N_RULES: usize = Rule::ALL.len();

/// How many findings a verdict tells in full.
const N_FINDINGS: usize = 20;

impl std::fmt::Display for Rule {
    /// The name that stands in JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.serialize(f)
    }
}

impl Rule {
    /// All rules, in the order in which they are told.
    pub const ALL: [Rule; 29] = [
        Rule::Promise,
        Rule::Parameters,
        Rule::MemberSizes,
        Rule::RecordCount,
        Rule::DisjointDomains,
        Rule::EmptyChunk,
        Rule::ChunkSize,
        Rule::EmptyCluster,
        Rule::ClusterSize,
        Rule::RecordChunkAnonymity,
        Rule::Filling,
        Rule::SharedChunkAnonymity,
        Rule::SharedChunkConflicts,
        Rule::SharedChunkRoom,
        Rule::CutGivesNothingAway,
        Rule::SensitivePlace,
        Rule::DiversitySize,
        Rule::OccurrencesLeaveRoom,
        Rule::OriginalRecords,
        Rule::OriginalTerms,
        Rule::OriginalSupports,
        Rule::OriginalOccurrences,
        Rule::CustodyMap,
        Rule::CustodyRecordChunks,
        Rule::CustodyTermChunks,
        Rule::CustodySharedChunks,
        Rule::CustodyLeftOver,
        Rule::DiversityMultiplicity,
        Rule::People,
    ];

    /// What the rule protects, in one plain sentence.
    pub fn meaning(&self) -> &'static str {
        match self {
            Rule::Promise => "The release promises something that can be checked.",
            Rule::Parameters => "k is at least 2, and the adversary has at least one term of background knowledge.",
            Rule::MemberSizes => "A joint cluster is exactly as large as its members together.",
            Rule::RecordCount => "The clusters hold exactly as many records as the header declares.",
            Rule::DisjointDomains => "No term stands in two chunks of one cluster, so a record's parts never overlap.",
            Rule::EmptyChunk => "Every chunk has subrecords, and every term it names occurs in one of them.",
            Rule::ChunkSize => "No chunk has more parts of records than its cluster has records.",
            Rule::EmptyCluster => "Every cluster publishes something about its records.",
            Rule::ClusterSize => {
                "Every cluster has at least k records: in a smaller one, fewer than k cannot be told apart."
            }
            Rule::RecordChunkAnonymity => {
                "Whatever up to m terms of a record chunk occur together, occur together at least k times."
            }
            Rule::Filling => {
                "The cluster can be filled without an empty record while k records share terms of several chunks."
            }
            Rule::SharedChunkAnonymity => {
                "Whatever up to m terms of a shared chunk occur together, occur together at least k times."
            }
            Rule::SharedChunkConflicts => {
                "Where a term is also published below, every part of a record stands at least k times in the chunk."
            }
            Rule::SharedChunkRoom => {
                "The clusters that may hold a shared part have room for its whole chunk, so no part is forced on anyone."
            }
            Rule::CutGivesNothingAway => {
                "An adversary who knows the algorithm still has k candidates for up to m terms of different chunks (minimality attack)."
            }
            Rule::SensitivePlace => "Sensitive terms stand in term chunks only, linked to no other term.",
            Rule::DiversitySize => "Every cluster with a sensitive term has at least l records to attribute it to.",
            Rule::OccurrencesLeaveRoom => {
                "The total number of terms in all records is published only where nobody is left with fewer than k candidates."
            }
            Rule::OriginalRecords => "No record was lost or added.",
            Rule::OriginalTerms => "No term was lost or added.",
            Rule::OriginalSupports => "Every term occurs as often as the release lets its readers believe.",
            Rule::OriginalOccurrences => "The total number of terms in all records is the true one.",
            Rule::CustodyMap => "Every record went to a cluster, and every cluster has its number of records.",
            Rule::CustodyRecordChunks => "Every record chunk is true of the records of its cluster.",
            Rule::CustodyTermChunks => "Every term of a term chunk does occur in its cluster.",
            Rule::CustodySharedChunks => "Every shared chunk is true of the records below it.",
            Rule::CustodyLeftOver => "Every term of every record is published, in exactly one place.",
            Rule::DiversityMultiplicity => "Nobody is linked to a sensitive term with a probability above 1/l.",
            Rule::People => "Records of a cluster, and of clusters that share chunks with it, are of different people.",
        }
    }
}

/// A condition that is violated, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line of data.jsonl; in data.parquet the number of the root, plus 1. The header is line 1.
    pub line: u64,
    /// Which condition.
    pub rule: Rule,
    /// Where in the line and by how much, in numbers: never a term, which may be a person's.
    pub detail: String,
}

/// How a release fared with one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CheckLine {
    /// The rule.
    pub rule: Rule,
    /// How many chunks, clusters or terms were checked.
    pub checked: u64,
    /// How many of them violate it.
    pub violated: u64,
}

/// Counts of checks and violations, with the first of them in full.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tally {
    checked: [u64; N_RULES],
    violated: [u64; N_RULES],
    pub(super) findings: Vec<Finding>,
}

impl Tally {
    /// Counts a check; `detail` is asked for only if it failed.
    pub(super) fn check(&mut self, rule: Rule, line: u64, holds: bool, detail: impl FnOnce() -> String) {
        self.count(rule, line, 1, u64::from(!holds), detail);
    }

    /// Counts many checks of one kind with one finding.
    pub(super) fn count(
        &mut self,
        rule: Rule,
        line: u64,
        checked: u64,
        violated: u64,
        detail: impl FnOnce() -> String,
    ) {
        self.checked[rule as usize] += checked;
        self.violated[rule as usize] += violated;
        if violated > 0 && self.findings.len() < N_FINDINGS {
            self.findings.push(Finding { line, rule, detail: detail() });
        }
    }

    /// Adds what was found later in the file.
    pub(super) fn append(&mut self, later: Tally) {
        for i in 0..N_RULES {
            self.checked[i] += later.checked[i];
            self.violated[i] += later.violated[i];
        }
        let free = N_FINDINGS - self.findings.len();
        self.findings.extend(later.findings.into_iter().take(free));
    }

    /// The number of violations of all rules.
    pub(super) fn violations(&self) -> u64 {
        self.violated.iter().sum()
    }

    /// The rules that were checked at least once.
    pub(super) fn lines(&self) -> Vec<CheckLine> {
        let line = |&rule: &Rule| CheckLine {
            rule,
            checked: self.checked[rule as usize],
            violated: self.violated[rule as usize],
        };
        Rule::ALL.iter().map(line).filter(|line| line.checked > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_stands_once_in_order_and_has_a_meaning() {
        for (i, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(*rule as usize, i);
            assert!(rule.meaning().ends_with('.') && rule.meaning().len() > 20);
        }
    }

    #[test]
    fn findings_are_kept_up_to_a_limit_and_counted_beyond() {
        let mut tally = Tally::default();
        for line in 0..15 {
            tally.check(Rule::ClusterSize, line, false, || "x".into());
            tally.check(Rule::ClusterSize, line, true, || unreachable!());
        }
        let mut all = tally.clone();
        all.append(tally);
        assert_eq!(all.findings.len(), N_FINDINGS);
        assert_eq!(all.violations(), 30);
        assert_eq!(all.lines(), [CheckLine { rule: Rule::ClusterSize, checked: 60, violated: 30 }]);
    }
}
