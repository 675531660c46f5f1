//! Claims of version 2, as disjoin wrote them. Their words are compared with those that follow from their parameters: whoever
//! changes a word of a promise makes a new version, or every package that there is would be refused.

use std::fs;

use disjoin::release::{Claim, NoisyClaim, RecodedClaim, SplitClaim, TableClaim, form_of};

const CLAIMS: [&str; 6] = [
    include_str!("version_2/disassociated.json"),
    include_str!("version_2/generalized.json"),
    include_str!("version_2/mixed.json"),
    include_str!("version_2/split.json"),
    include_str!("version_2/recoded.json"),
    include_str!("version_2/noisy.json"),
];

#[test]
fn claims_of_version_2_are_read_word_by_word() {
    assert_eq!(read_word_by_word(&CLAIMS), 5);
}

/// Reads claims and writes them again, which must not change them; how many forms there were.
pub(crate) fn read_word_by_word(claims: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claim.json");
    let mut forms = std::collections::HashSet::new();
    for &text in claims {
        fs::write(&path, text).unwrap();
        let form = form_of(&path).unwrap();
        forms.insert(form);
        let again = match form.name() {
            "disassociated" => <Claim>::read(&path).unwrap().to_json(),
            "generalized" => TableClaim::read(&path).unwrap().to_json(),
            "split" => SplitClaim::read(&path).unwrap().to_json(),
            "recoded" => RecodedClaim::read(&path).unwrap().to_json(),
            _ => NoisyClaim::read(&path).unwrap().to_json(),
        };
        assert_eq!(again.unwrap(), text);
    }
    forms.len()
}
