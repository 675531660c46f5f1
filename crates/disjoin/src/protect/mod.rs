//! How is data made safe? One algorithm, one file.

pub mod disassociation;
pub mod tabular;
pub mod within;
