//! Claims of version 3, as disjoin wrote them: see `version_2.rs`.

use crate::version_2::read_word_by_word;

const CLAIMS: [&str; 7] = [
    include_str!("version_3/disassociated.json"),
    include_str!("version_3/diverse.json"),
    include_str!("version_3/generalized.json"),
    include_str!("version_3/mixed.json"),
    include_str!("version_3/split.json"),
    include_str!("version_3/recoded.json"),
    include_str!("version_3/noisy.json"),
];

#[test]
fn claims_of_version_3_are_read_word_by_word() {
    assert_eq!(read_word_by_word(&CLAIMS), 5);
}
