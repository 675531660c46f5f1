//! The integration tests of the core, one theme a file, linked once.

#![allow(clippy::unwrap_used)]

/// Two structs of counts added up, field by field.
macro_rules! sum_fields {
    ($of:ident { $($field:ident),+ }, $a:expr, $b:expr) => {
        $of { $($field: $a.$field + $b.$field),+ }
    };
}

mod apriori;
mod attack;
mod audit;
mod aware;
mod background;
mod break_merge;
mod cancel;
mod canonical;
mod claims;
mod constrained;
mod criteria;
mod dependency;
mod estimate;
mod figures;
mod foreign;
mod forged;
mod guarantee;
mod guarded;
mod identity;
mod layered;
mod measure;
mod nadimpalli2014;
mod network;
mod network_breach;
mod noise;
mod occurrences;
mod oracle;
mod person;
mod predicates;
mod program_aware;
mod reassociate;
mod recipes;
mod recoded;
mod regroup;
mod repair;
mod report;
mod rerun;
mod roles;
mod semantic;
mod sources;
mod suppression;
mod survive;
mod table_metrics;
mod table_release;
mod tables;
mod tabular;
mod tidy;
mod utility;
mod verify;
mod version_1;
mod version_2;
mod version_3;
mod within;
mod worlds;
