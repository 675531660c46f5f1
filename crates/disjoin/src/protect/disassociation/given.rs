//! Clusters that somebody gives, in the place of those that the program would make.
//!
//! Paper:      terrovitis2012, figures 2b and 3, whose clusters HORPART does not make of figure 2a
//! Promises:   what the cut and REFINE promise: they take any clusters of k records or more
//! Assumes:    who gives clusters answers for what their choice discloses, as whoever groups by what records hold does
//! Departs:    nothing
//! Cost:       linear in the records
//! Checked by: tests in this file, and figure 3 in crates/disjoin-cli/tests/it/papers.rs

use super::{Grouped, Grouping, Partition, Work, refined};
use crate::data::RecordId;
use crate::error::{Error, Result};

/// Groups records by the number of their cluster; `places` are the records of the input.
pub(super) fn group(cluster_of: &[u32], places: &[RecordId], work: &mut Work<'_>) -> Result<Grouped> {
    let refuse = |problem: String, hint: &str| Err(Error::recipe("protect.clusters", problem, hint));
    if work.params.grouping != Grouping::Paper || work.params.diversity.is_some() {
        let problem = "are for the paper's grouping, without l-diversity".to_owned();
        return refuse(problem, "grouping = \"paper\"");
    }
    let (given, records) = (cluster_of.len(), places.len());
    if given != records {
        return refuse(format!("are given for {given} records, and there are {records}"), "one line a record");
    }
    let mut clusters: Vec<Vec<RecordId>> = Vec::new();
    for (record, &place) in (0..).zip(places) {
        let cluster = cluster_of[place as usize] as usize;
        if clusters.len() <= cluster {
            clusters.resize_with(cluster + 1, Vec::new);
        }
        clusters[cluster].push(record);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    let k = work.params.k as usize;
    let small = clusters.iter().filter(|cluster| cluster.len() < k).count();
    if small > 0 && !work.params.lab.paper_literal {
        return Err(Error::Infeasible {
            problem: format!("of the given clusters, {small} have fewer than k = {k} records"),
            hint: "put their records into larger ones: nothing can be in k records of fewer".into(),
        });
    }
    let mut partition = Partition::default();
    clusters.iter().for_each(|cluster| partition.push(cluster));
    let records = &work.data.records;
    refined(partition, records, work)
}

#[cfg(test)]
mod tests {
    use super::super::figures::FIGURE_2;
    use super::super::{Params, disassociate_given, disassociate_with, tests::records};
    use crate::error::Error;
    use crate::observer::Unobserved;

    #[test]
    fn given_clusters_are_those_that_are_published() {
        let data = records(&FIGURE_2);
        let params = Params::paper(3, 2);
        let given = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1];
        let outcome = disassociate_given(&data, &params, &given, &Unobserved).unwrap();
        let of = |record: usize| outcome.leaf_of[record];
        assert!(
            (0..5).all(|record| of(record) == of(0)) && (5..10).all(|record| of(record) == of(9)) && of(0) != of(9)
        );
        // Those that the program makes are made again.
        let made = disassociate_with(&data, &params, &Unobserved).unwrap();
        let again = disassociate_given(&data, &params, &made.leaf_of, &Unobserved).unwrap();
        assert_eq!(made.release.roots, again.release.roots);
        let wrong = |given: &[u32]| disassociate_given(&data, &params, given, &Unobserved).unwrap_err();
        assert!(matches!(wrong(&[0; 9]), Error::Recipe { .. }));
        assert!(matches!(wrong(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 1]), Error::Infeasible { .. }));
    }
}
