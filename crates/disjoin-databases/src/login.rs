//! The files in which users of PostgreSQL keep passwords (`.pgpass`) and services (`pg_service.conf`).
//!
//! Promises:   a password file that others can read is not used. No word of these files gets into a message
//! Checked by: tests in this file and in `settings.rs`

use std::path::Path;

/// What a password file says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Password(String),
    /// Servers have different passwords, and one would be sent to all.
    Several,
    /// It is not used: why.
    Ignored(String),
}

/// The password for servers, each a host and a port.
pub(crate) fn password_in(file: &Path, servers: &[(String, String)], database: &str, user: &str) -> Found {
    let Ok(metadata) = file.metadata() else { return Found::Nothing };
    if !metadata.is_file() {
        return Found::Ignored(format!("{}: is no file, and no password is taken from it", file.display()));
    }
    if others_may_read(&metadata) {
        let problem = "others may read it, and no password is taken from it; protect it with chmod 600";
        return Found::Ignored(format!("{}: {problem}", file.display()));
    }
    let Ok(text) = std::fs::read_to_string(file) else {
        return Found::Ignored(format!("{}: cannot be read as text", file.display()));
    };
    let mut passwords = servers.iter().map(|(host, port)| line_for(&text, [host, port, database, user]));
    let Some(first) = passwords.next() else { return Found::Nothing };
    match passwords.all(|other| other == first) {
        true => first.map_or(Found::Nothing, Found::Password),
        false => Found::Several,
    }
}

/// What a service file says of a service; none if it does not have it.
pub(crate) fn service(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(name))?;
    let own = lines.take_while(|line| !line.starts_with('[')).filter(|line| !line.is_empty() && !line.starts_with('#'));
    // A line without a value is refused as a key that is not known.
    let pair = |line: &str| {
        let (key, value) = line.split_once('=').unwrap_or(("", ""));
        (key.trim().to_owned(), value.trim().to_owned())
    };
    Some(own.map(pair).collect())
}

#[cfg(unix)]
fn others_may_read(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o077 != 0
}

/// Its folder is the user's own there.
#[cfg(not(unix))]
fn others_may_read(_: &std::fs::Metadata) -> bool {
    false
}

/// The password of the first line that fits.
fn line_for(text: &str, wanted: [&str; 4]) -> Option<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(fields).find_map(|fields| {
        let [host, port, database, user, password] = <[String; 5]>::try_from(fields).ok()?;
        let fits =
            [host, port, database, user].iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        (fits && !password.is_empty()).then_some(password)
    })
}

/// The fields of a line: colons between, and a backslash before what is meant as it is. The last may have colons.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        let character = match character {
            ':' if fields.len() < 5 => {
                fields.push(String::new());
                continue;
            }
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        if let Some(last) = fields.last_mut() {
            last.push(character);
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let text = "# h:1:d:u:no\nh:1:d:u:\nh:2:d:u:two\nh\\:x:*:*:u:b\\:c:d\n*:*:e:*:any\nbroken\n";
        let found = |host, port, database| line_for(text, [host, port, database, "u"]);
        assert_eq!(found("h", "2", "d").as_deref(), Some("two"));
        assert_eq!(found("h:x", "9", "d").as_deref(), Some("b:c:d"));
        assert_eq!(found("i", "2", "e").as_deref(), Some("any"));
        assert_eq!(found("h", "1", "d"), None);
    }
}
