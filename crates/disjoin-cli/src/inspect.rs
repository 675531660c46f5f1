//! `disjoin inspect`: who could be singled out in the raw data?

use std::path::PathBuf;

use disjoin::Result;
use disjoin::run::{self, InspectOptions};

use crate::Outcome;
use crate::flags::Km;
use crate::flags::input::{Input, SOURCES};
use crate::talk::Talk;

/// Show who could be singled out in the data as it is
///
/// A record is at risk if it holds a set of at most M terms that fewer than K records hold: an adversary who knows these terms of
/// a person then knows the person's record, or nearly so. The count is exact. Of a table, the columns are listed, with a
/// suggestion what they are for. With --quasi, the records of the table are counted that share these columns with fewer than K.
///
/// Ends with exit code 0 whatever the risk is: raw data promises nothing.
#[derive(clap::Args)]
#[command(after_long_help = EXAMPLES, after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The data: a file ("-" is standard input), or the URL of a table in a database
    ///
    /// postgres://user@host/database?table=NAME or sqlite:FILE?table=NAME. Set PGPASSWORD or use ~/.pgpass for the password; sslmode=verify-full checks the server.
    file: PathBuf,
    #[command(flatten)]
    km: Km,
    /// Of a table: the columns that others may know of a person
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    quasi: Vec<String>,
    #[command(flatten)]
    input: Input,
}

const EXAMPLES: &str = "\
Examples:
  disjoin inspect baskets.dat
  disjoin inspect hospital.csv --column diagnoses -k 10 -m 3
  disjoin inspect people.csv --quasi age,sex,postcode -k 5
  zcat baskets.dat.gz | disjoin inspect - --json";

pub(crate) fn run(args: &Args, talk: &Talk) -> Result<Outcome> {
    let (k, m) = args.km.both();
    let asked = InspectOptions { k, m, quasi: args.quasi.clone(), input: args.input.options() };
    talk.answer(&run::inspect(&args.file, &asked, SOURCES, talk)?)
}
