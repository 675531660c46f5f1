//! The command line of disjoin.
fn main() {}
