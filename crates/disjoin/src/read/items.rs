//! A list of items, one a line: what a record could hold.

use std::path::Path;

use crate::data::Dictionary;
use crate::error::{Error, Place, Result};
use crate::memory::{Memory, read_file};

/// Reads a list of items.
pub fn items(path: &Path) -> Result<Dictionary> {
    let name = path.display().to_string();
    let bytes = read_file(path, "read the items", Memory::default())?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes().iter().take(e.utf8_error().valid_up_to()).filter(|&&byte| byte == b'\n').count();
        Error::input(Place::line(&name, line as u64), "is not valid UTF-8").with_hint("convert the file to UTF-8")
    })?;
    let mut items = Dictionary::default();
    for (line, at) in text.strip_prefix('\u{feff}').unwrap_or(&text).lines().zip(1_u64..) {
        let item = line.trim();
        if item.chars().any(char::is_control) {
            let problem = "holds a control character, where one item was expected";
            return Err(Error::input(Place::line(&name, at), problem).with_hint("write one item a line"));
        }
        if !item.is_empty() {
            items.intern(item);
        }
    }
    match items.is_empty() {
        true => Err(Error::input(Place::file(name), "lists no item").with_hint("write one item a line")),
        false => Ok(items),
    }
}
