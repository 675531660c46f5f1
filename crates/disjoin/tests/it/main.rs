//! The integration tests of the core, one theme a file, linked once.

#![allow(clippy::unwrap_used)]

mod apriori;
mod attack;
mod aware;
mod background;
mod break_merge;
mod constrained;
mod criteria;
mod dependency;
mod estimate;
mod guarantee;
mod identity;
mod layered;
mod measure;
mod nadimpalli2014;
mod network;
mod network_breach;
mod noise;
mod occurrences;
mod oracle;
mod reassociate;
mod recipes;
mod recoded;
mod regroup;
mod repair;
mod report;
mod semantic;
mod suppression;
mod survive;
mod table_metrics;
mod table_release;
mod tables;
mod tabular;
mod tidy;
mod utility;
mod verify;
mod within;
mod worlds;
