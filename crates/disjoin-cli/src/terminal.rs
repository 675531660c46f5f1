//! Questions on a terminal, and their answers.

use std::io::{BufRead, Write as _};
use std::path::Path;

use disjoin::{Error, Result};

use crate::talk::visible;

/// The word that an answer begins, if there is one.
pub(crate) fn one_of<'a>(answer: &str, words: &[&'a str]) -> std::result::Result<&'a str, String> {
    let answer = answer.to_lowercase();
    let begun: Vec<&str> =
        words.iter().copied().filter(|word| !answer.is_empty() && word.starts_with(&answer)).collect();
    match begun[..] {
        [word] => Ok(word),
        _ => Err(format!("write one of {}; ? explains", words.join(", "))),
    }
}

/// Says something between questions.
pub(crate) fn say(text: &str) -> Result<()> {
    let text: Vec<String> = text.split('\n').map(visible).collect();
    let mut out = std::io::stderr();
    writeln!(out, "{}", text.join("\n")).map_err(|e| Error::io(Path::new("terminal"), "ask", e))
}

/// Asks, and returns what was answered; the default if that is nothing.
pub(crate) fn line(question: &str, default: &str) -> Result<String> {
    let terminal = Path::new("terminal");
    let shown = if default.is_empty() { String::new() } else { format!(" [{default}]") };
    let mut out = std::io::stderr();
    write!(out, "{question}{shown} ").and_then(|()| out.flush()).map_err(|e| Error::io(terminal, "ask", e))?;
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    if read.map_err(|e| Error::io(terminal, "read the answer", e))? == 0 {
        let hint = "answer on a terminal, or take what is suggested with --accept-suggestions";
        return Err(Error::recipe("--accept-suggestions", "is needed: the answers ended before the questions", hint));
    }
    let answer = answer.trim();
    Ok(if answer.is_empty() { default.to_owned() } else { answer.to_owned() })
}
