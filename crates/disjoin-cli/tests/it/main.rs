//! The integration tests of the command line, one theme a file, linked once.

#![allow(clippy::unwrap_used)]

mod attack;
mod bad_input;
mod book;
mod break_merge;
mod common;
mod dependency;
mod estimates;
mod hierarchy;
mod measure;
mod noise;
mod package;
mod recoding;
mod repair;
mod run;
mod semantic;
mod sweep;
mod table;
mod verbs;
mod verify;
