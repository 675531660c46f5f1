//! Recipes: what can be read is resolved, or refused by key.

use std::path::Path;

use disjoin::recipe::resolve;
use disjoin::recipe::written::{given, parse};

use crate::verbs::fine;

/// Past the parser is what TOML and the keys allow; what the values mean is for `resolve`.
pub(super) fn recipe(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Some(written) = fine(parse(text, "recipe.toml")) else { return false };
    let _ = given(&written);
    if let Some(recipe) = fine(resolve(&written, Path::new("folder"))) {
        assert!(serde_json::to_value(&recipe).is_ok(), "custody keeps the recipe as JSON");
    }
    true
}
