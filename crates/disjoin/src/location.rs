//! Where data are: the name of a file, or the URL of a table in a database. How to speak of it, and how to keep it.
//!
//! After `?` of a URL stand parameters: `table=NAME`, `query=SELECT ...`, and what the database's driver takes. A query is the
//! last part of a URL.
//!
//! Promises:   [`shown`] has neither passwords nor queries, which may have values in them, and changes nothing that it shows once
//!             more. It is applied to every place and path of an error, to what recipes and reports write, and to names of
//!             inputs. A password may have `@`, `:`, `/` and `?` in it, although it should not
//! Checked by: tests in this file, `crates/disjoin-cli/tests/it/secrets.rs`

/// How to speak of a location: a URL without passwords and queries, or the name of a file as it is.
pub fn shown(location: &str) -> String {
    let Some(url) = Url::of(location) else { return location.to_owned() };
    let shown = url.parameters.iter().filter_map(|parameter| match parameter.split_once('=')? {
        ("query", _) => Some("query=..."),
        (key, value) if SHOWN.contains(&key) && (key == "table" || !value.contains('@')) => Some(*parameter),
        _ => None,
    });
    joined(base_without_password(&url), shown.collect())
}

/// The same location without its password: what a recipe may keep. The query of a URL stays.
pub fn without_password(location: &str) -> String {
    match Url::of(location) {
        // Where the password ends is not clear: what looks like a parameter may be a part of it.
        Some(url) if has_password(location) && base_without_password(&url).ends_with("...") => shown(location),
        Some(url) if has_password(location) => {
            let kept = url.parameters.iter().copied().filter(|parameter| !is_password(parameter));
            joined(base_without_password(&url), kept.collect())
        }
        _ => location.to_owned(),
    }
}

/// Whether a location has a password in it.
pub fn has_password(location: &str) -> bool {
    Url::of(location).is_some_and(|url| {
        base_without_password(&url) != url.base || url.parameters.iter().any(|parameter| is_password(parameter))
    })
}

/// What stands before the colon of a URL, as in `postgres://host/db` and `sqlite:people.db`; files have none.
pub fn scheme(location: &str) -> Option<&str> {
    let (scheme, rest) = location.split_once(':')?;
    let is_known = matches!(scheme, "sqlite" | "postgres" | "postgresql");
    // A single letter is a drive.
    let is_word = scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (is_known || (is_word && rest.starts_with("//"))).then_some(scheme)
}

/// A text of a URL with `%41` turned into `A`; none if it is not such a text.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, following)) = rest.split_first() {
        rest = following;
        bytes.push(match first {
            b'%' => {
                let digits = rest.split_off(..2)?;
                let value = |digit: u8| char::from(digit).to_digit(16);
                (value(digits[0])? * 16 + value(digits[1])?) as u8
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// What may be shown of the parameters of a URL.
const SHOWN: [&str; 11] = [
    "table",
    "host",
    "hostaddr",
    "port",
    "user",
    "dbname",
    "service",
    "sslmode",
    "sslrootcert",
    "connect_timeout",
    "steps",
];

/// A URL, cut into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url<'a> {
    /// What stands before the colon.
    pub scheme: &'a str,
    /// All that stands before the parameters.
    pub base: &'a str,
    /// The parameters, as they are written.
    pub parameters: Vec<&'a str>,
}

impl<'a> Url<'a> {
    /// The parts of a URL; none if the location is a file.
    pub fn of(location: &'a str) -> Option<Url<'a>> {
        let scheme = scheme(location)?;
        // A question mark that an @ follows, before anything is set, is part of a password.
        let is_before = |at: &usize| {
            let rest = &location[at + 1..];
            !rest[..rest.find(['=', '&']).unwrap_or(rest.len())].contains('@')
        };
        let Some(at) = location.match_indices('?').map(|(at, _)| at).find(is_before) else {
            return Some(Url { scheme, base: location, parameters: Vec::new() });
        };
        let (mut parameters, mut rest) = (Vec::new(), &location[at + 1..]);
        while !rest.is_empty() {
            // A query may have anything in it.
            let (parameter, following) = match rest.starts_with("query=") {
                true => (rest, ""),
                false => rest.split_once('&').unwrap_or((rest, "")),
            };
            parameters.push(parameter);
            rest = following;
        }
        Some(Url { scheme, base: &location[..at], parameters })
    }

    /// Who logs in, as `user` or `user:password`, and what follows: hosts and the database. Of URLs with `//`.
    pub fn login(&self) -> Option<(Option<&'a str>, &'a str)> {
        let (_, rest) = self.base.split_once("://")?;
        // A password may have an unescaped @ in it.
        Some(rest.rsplit_once('@').map_or((None, rest), |(login, rest)| (Some(login), rest)))
    }
}

fn joined(base: String, parameters: Vec<&str>) -> String {
    if parameters.is_empty() { base } else { format!("{base}?{}", parameters.join("&")) }
}

/// Whether a parameter is a secret. What is not written as it should be may be one.
fn is_password(parameter: &str) -> bool {
    let Some(key) = parameter.split('=').next().and_then(decode) else { return true };
    ["password", "sslpassword"].contains(&key.trim().to_ascii_lowercase().as_str())
}

/// What stands before the parameters, without the password of `user:password@host`.
fn base_without_password(url: &Url<'_>) -> String {
    let (scheme, base) = (url.scheme, url.base);
    if scheme == "sqlite" {
        return base.to_owned();
    }
    let Some((login, rest)) = url.login() else { return format!("{scheme}:...") };
    if let Some(login) = login {
        return format!("{scheme}://{}@{rest}", login.split(':').next().unwrap_or_default());
    }
    // What follows a colon is a port then. If it is no number, somebody forgot the host after a password.
    let hosts = rest.split('/').next().unwrap_or_default();
    let is_port = |host: &str| match host.rsplit_once(':') {
        Some((_, port)) => host.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    };
    if hosts.split(',').all(is_port) { base.to_owned() } else { format!("{scheme}://...") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_told_from_files() {
        for (url, expected) in [
            ("sqlite:a.db", "sqlite"),
            ("postgres://h/d", "postgres"),
            ("postgresql://h/d?table=t", "postgresql"),
            ("mysql://ann:secret@h/d", "mysql"),
        ] {
            assert_eq!(scheme(url), Some(expected));
        }
        for file in ["a.csv", "-", "c:\\data\\a.csv", "c://a", "postgres", "sqlite.db", "folder/sqlite:x", "a:b"] {
            assert_eq!(scheme(file), None, "{file}");
        }
    }

    #[test]
    fn passwords_and_queries_are_not_shown() {
        for (url, expected) in [
            ("a@b:c.csv", "a@b:c.csv"),
            ("sqlite:a@b.db?table=people", "sqlite:a@b.db?table=people"),
            ("sqlite:a.db?query=SELECT 'Ann' & 1", "sqlite:a.db?query=..."),
            ("sqlite:a.db?key=secret&table=t", "sqlite:a.db?table=t"),
            ("postgres://host:5432,[::1]:7/db?table=t", "postgres://host:5432,[::1]:7/db?table=t"),
            ("postgres://ann:secret@host/db?table=s.t", "postgres://ann@host/db?table=s.t"),
            ("postgres://ann:s%65cret%40@host/db?table=s.t", "postgres://ann@host/db?table=s.t"),
            ("postgresql://ann:se@cret@host/db", "postgresql://ann@host/db"),
            ("postgres://ann:se:@cret@host/db", "postgres://ann@host/db"),
            ("postgres://ann:se/cret@host/db", "postgres://ann@host/db"),
            ("postgres://ann:se?cret@host/db?table=t", "postgres://ann@host/db?table=t"),
            ("postgres://ann:se?cret@host/db", "postgres://ann@host/db"),
            ("postgres://host/db?password=secret&table=t&user=ann", "postgres://host/db?table=t&user=ann"),
            ("postgres://host/db?table=t&PASSWORD=secret", "postgres://host/db?table=t"),
            ("postgres://host/db?table=t&p%61ssword=secret", "postgres://host/db?table=t"),
            ("postgres://host/db?table=t&sslpassword=secret", "postgres://host/db?table=t"),
            ("postgres://ann:secret", "postgres://..."),
            ("postgres://ann:secret/db?table=t", "postgres://...?table=t"),
            ("postgres://ann:secret?x=cret@host/db", "postgres://..."),
            ("postgres:ann:secret@host/db", "postgres:..."),
            ("postgres:/ann:secret@host/db", "postgres:..."),
            ("Postgres://ann:secret@host/db", "Postgres://ann@host/db"),
            ("mysql://ann:secret@host/db", "mysql://ann@host/db"),
        ] {
            assert_eq!(shown(url), expected, "{url}");
            assert_eq!(shown(expected), expected, "{url}");
            assert!(!shown(url).contains("cret"), "{url}");
            assert_eq!(has_password(url), url.contains("cret") && !url.starts_with("sqlite"), "{url}");
            assert!(!without_password(url).contains("cret") || url.starts_with("sqlite"), "{url}");
            assert!(!has_password(&without_password(url)), "{url}");
        }
    }

    #[test]
    fn a_location_without_its_password_still_names_the_same() {
        for (url, expected) in [
            ("a.csv", "a.csv"),
            ("sqlite:a.db?query=SELECT 1 & 2", "sqlite:a.db?query=SELECT 1 & 2"),
            ("postgres://ann@h/d?options=-cx&table=t", "postgres://ann@h/d?options=-cx&table=t"),
            (
                "postgres://ann:secret@h/d?options=-cx&password=p&query=SELECT 'password=1' & 2",
                "postgres://ann@h/d?options=-cx&query=SELECT 'password=1' & 2",
            ),
        ] {
            assert_eq!(without_password(url), expected);
        }
    }
}
