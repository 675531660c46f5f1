//! What is in the data as it is, and who is at risk in it? The flow begins here.

pub mod itemsets;
pub mod profile;
mod published;
pub mod repeats;
pub mod risk;

pub use itemsets::{Itemset, Mining, top_k};
pub use profile::{ColumnProfile, Profiler, Suggested, TableProfile};
pub use published::refuse_revealing;
pub use repeats::{same_records, same_rows};
pub use risk::{Profile, Risk, TableRisk, people_at_risk, profile, risk, rows_at_risk, table_risk};
