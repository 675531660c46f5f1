//! How is data made safe? One algorithm, one file.

pub mod anatomy;
pub mod association_hiding;
pub mod break_merge;
pub mod disassociation;
pub mod noise;
pub mod recoding;
pub mod tabular;
pub mod within;
