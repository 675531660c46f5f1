//! What is in the data as it is, and who is at risk in it? The flow begins here.

mod columns;
pub mod itemsets;
pub mod risk;

pub use columns::{Column, Role, columns};
pub use itemsets::{Itemset, Mining, top_k};
pub use risk::{Profile, Risk, TableRisk, profile, risk, rows_at_risk, table_risk};
