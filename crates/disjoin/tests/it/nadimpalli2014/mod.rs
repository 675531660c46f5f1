//! Table II of nadimpalli2014, in short: what several tests begin with.

#![allow(dead_code)]

use disjoin::data::Table;
use disjoin::data::table::{Column, Role};

pub(crate) const AGE: usize = 0;
pub(crate) const GENDER: usize = 1;
pub(crate) const ZIPCODE: usize = 2;
pub(crate) const GOVERNMENT: usize = 3;
pub(crate) const MARITAL: usize = 4;
pub(crate) const SALARY: usize = 5;

pub(crate) const QUASI: [usize; 3] = [AGE, ZIPCODE, GENDER];
pub(crate) const SENSITIVE: [usize; 3] = [GOVERNMENT, MARITAL, SALARY];
pub(crate) const ALL: [usize; 6] = [AGE, GENDER, ZIPCODE, GOVERNMENT, MARITAL, SALARY];

/// Table II of the paper.
pub(crate) const TABLE_II: [[&str; 6]; 10] = [
    ["30-50", "F", "13-23", "State", "Never", "<=50"],
    ["30-50", "F", "13-23", "State", "Never", "<=50"],
    ["30-50", "F", "13-23", "Federal", "Married", "<=50"],
    ["30-50", "F", "13-23", "Private", "Divorced", "<=50"],
    ["30-50", "F", "13-23", "Local", "Separated", ">50"],
    ["51-90", "M", "24-58", "Private", "Married", ">50"],
    ["51-90", "M", "24-58", "Self", "Married", "<=50"],
    ["51-90", "M", "24-58", "Private", "Married", ">50"],
    ["51-90", "M", "24-58", "Private", "Divorced", "<=50"],
    ["51-90", "M", "24-58", "Federal", "Never", "<=50"],
];

pub(crate) fn table_ii() -> Table {
    let column = |at: usize| Column::words("c", Role::Other, TABLE_II.iter().map(|row| Some(row[at])));
    Table::new(10, (0..6).map(column).collect(), None)
}
