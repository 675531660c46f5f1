#![no_main]
use disjoin::read::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| disjoin_fuzz::read_and_write_again(bytes, Some(Format::Parquet)));
