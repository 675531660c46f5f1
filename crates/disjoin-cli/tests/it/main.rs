//! The integration tests of the command line, one theme a file, linked once.

#![allow(clippy::unwrap_used)]

mod analysts;
mod attack;
mod audit;
mod bad_input;
mod book;
mod break_merge;
mod cancel;
mod common;
mod dependency;
mod escapes;
mod estimates;
mod formats;
mod forms;
mod hierarchy;
mod hostile;
mod killed;
mod matrix;
mod measure;
mod messy;
mod modes;
mod noise;
mod package;
mod papers;
mod person;
mod recoding;
mod repair;
mod run;
#[cfg(unix)]
mod secrets;
mod semantic;
#[cfg(unix)]
#[path = "../../../disjoin-databases/tests/it/server.rs"]
mod server;
#[path = "../../../disjoin/tests/it/sources.rs"]
mod sources;
#[cfg(unix)]
mod steward;
mod sweep;
mod table;
mod tidy;
mod verbs;
mod verdicts;
mod verify;
mod words;
