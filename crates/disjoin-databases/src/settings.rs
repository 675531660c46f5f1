//! How to reach a PostgreSQL server: what the URL says, then the service file, then the environment, then defaults, as all
//! programs of PostgreSQL do it.
//!
//! Promises:   a parameter that is not known is refused, since it may have been meant to make the connection safer. A password goes to
//!             the driver, and nowhere else
//! Departs:    `sslmode=allow` is refused; `prefer` never goes on without TLS after TLS has failed
//! Checked by: tests in this file, `tests/it/encrypted.rs`

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use disjoin::location::{Url, decode};
use disjoin::{Error, Result};
use postgres::Config;
use postgres::config::{Host, SslMode};

use crate::login::{Found, password_in, service};
use crate::tls::{Checks, Mode, Roots};
use crate::url::Wanted;

/// What the driver understands.
const OF_DRIVER: [&str; 17] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "options",
    "password",
    "port",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// What is understood here.
const OF_OURS: [&str; 6] = ["passfile", "service", "sslcert", "sslkey", "sslmode", "sslrootcert"];

/// What changes nothing here, and makes nothing safer elsewhere.
const IDLE: [&str; 4] = ["client_encoding", "fallback_application_name", "sslcompression", "sslsni"];

const ENVIRONMENT: [(&str, &str); 18] = [
    ("PGAPPNAME", "application_name"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGDATABASE", "dbname"),
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGLOADBALANCEHOSTS", "load_balance_hosts"),
    ("PGOPTIONS", "options"),
    ("PGPASSFILE", "passfile"),
    ("PGPASSWORD", "password"),
    ("PGPORT", "port"),
    ("PGSERVICE", "service"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGUSER", "user"),
];

/// Where Debian's server has its socket.
const SOCKETS: &str = "/var/run/postgresql";

/// All that is needed to connect.
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) checks: Checks,
    /// Whether all servers are on this machine.
    pub(crate) is_local: bool,
    pub(crate) warnings: Vec<String>,
}

type Values = BTreeMap<String, String>;

/// What the URL asks for, with what it leaves open taken from elsewhere.
pub(crate) fn settings(wanted: &Wanted, variable: &dyn Fn(&str) -> Option<String>) -> Result<Settings> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let home = variable("HOME").or_else(|| variable("USERPROFILE")).map(PathBuf::from);
    let mut values = of_url(wanted)?;
    if let Some(name) = values.get("service").cloned().or_else(|| variable("PGSERVICE")) {
        fill(&mut values, of_service(wanted, &name, &variable, home.as_deref())?);
    }
    let set = |(name, key): (&str, &str)| Some((key.to_owned(), variable(name)?));
    fill(&mut values, ENVIRONMENT.into_iter().filter_map(set).collect());
    fill_defaults(&mut values);
    let config = config(wanted, &values)?;
    let mut checks = checks(wanted, &values, home.as_deref())?;
    if is_reached_by_sockets(&config) {
        // A socket of this machine is not encrypted, whatever is asked for.
        checks.mode = Mode::Disable;
    }
    let mut settings = Settings { is_local: is_local(&config), config, checks, warnings: Vec::new() };
    if settings.config.get_password().is_none() {
        let file = values.get("passfile").map(PathBuf::from);
        let file = file.or_else(|| {
            Some(home?.join(if cfg!(windows) { "AppData/Roaming/postgresql/pgpass.conf" } else { ".pgpass" }))
        });
        if let Some(file) = file {
            look_up_password(wanted, &mut settings, &file)?;
        }
    }
    settings.config.ssl_mode(match settings.checks.mode {
        Mode::Disable => SslMode::Disable,
        Mode::Prefer => SslMode::Prefer,
        Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
    });
    Ok(settings)
}

fn fill(values: &mut Values, others: Vec<(String, String)>) {
    for (key, value) in others {
        values.entry(key).or_insert(value);
    }
}

/// What the URL says itself.
fn of_url(wanted: &Wanted) -> Result<Values> {
    let (login, rest) = Url::of(&wanted.address).and_then(|url| url.login()).ok_or_else(|| not_valid(wanted))?;
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, password) = login.map_or(("", ""), |login| login.split_once(':').unwrap_or((login, "")));
    let (mut names, mut ports) = (Vec::new(), Vec::new());
    for host in hosts.split(',') {
        let (name, port) = match host.strip_prefix('[') {
            Some(address) => {
                let (address, port) = address.split_once(']').ok_or_else(|| not_valid(wanted))?;
                (address, port.strip_prefix(':').unwrap_or(port))
            }
            None => host.rsplit_once(':').unwrap_or((host, "")),
        };
        names.push(name);
        ports.push(port);
    }
    let mut values = Values::new();
    let (names, ports) = (names.join(","), ports.join(","));
    for (key, text) in
        [("user", user), ("password", password), ("host", &names), ("port", &ports), ("dbname", database)]
    {
        // Nothing but commas is nothing.
        if text.bytes().any(|byte| byte != b',') {
            values.insert(key.to_owned(), decode(text).ok_or_else(|| not_valid(wanted))?);
        }
    }
    let given = wanted.parameters.iter().filter(|(_, value)| !value.is_empty());
    for (key, value) in given {
        let (key, value) = known(key, value).ok_or_else(|| not_known(wanted))?;
        values.insert(key.to_owned(), value.to_owned());
    }
    Ok(values)
}

/// A parameter as it is called here; none if it is not known.
fn known<'a>(key: &'a str, value: &'a str) -> Option<(&'a str, &'a str)> {
    match (key, value) {
        ("ssl", "true") => Some(("sslmode", "require")),
        ("gssencmode", "disable" | "prefer") => Some((key, value)),
        _ if OF_DRIVER.contains(&key) || OF_OURS.contains(&key) || IDLE.contains(&key) => Some((key, value)),
        _ => None,
    }
}

/// What a service file says of a service: the user's own file is asked first.
fn of_service(
    wanted: &Wanted,
    name: &str,
    variable: &dyn Fn(&str) -> Option<String>,
    home: Option<&Path>,
) -> Result<Vec<(String, String)>> {
    let own = variable("PGSERVICEFILE").map(PathBuf::from).or_else(|| Some(home?.join(".pg_service.conf")));
    let folder = variable("PGSYSCONFDIR").map_or_else(|| PathBuf::from("/etc/postgresql-common"), PathBuf::from);
    let files = own.into_iter().chain([folder.join("pg_service.conf")]);
    let Some(found) = files.into_iter().find_map(|file| service(&std::fs::read_to_string(file).ok()?, name)) else {
        let hint = "write it to ~/.pg_service.conf, or say with PGSERVICEFILE where it is";
        return Err(wanted.error("there is no such service").with_hint(hint));
    };
    let understood = |(key, value): (String, String)| {
        known(&key, &value).filter(|(key, _)| *key != "service").map(|(key, value)| (key.to_owned(), value.to_owned()))
    };
    found.into_iter().map(understood).collect::<Option<_>>().ok_or_else(|| {
        let hint = "write lines of KEY=VALUE that libpq and disjoin know";
        wanted.error("its service has a parameter that disjoin does not know").with_hint(hint)
    })
}

fn fill_defaults(values: &mut Values) {
    if !values.contains_key("host") {
        // With an address alone, that is what its certificate must be for.
        let default = match values.get("hostaddr") {
            Some(address) => address.clone(),
            None if cfg!(unix) && Path::new(SOCKETS).is_dir() => String::from(SOCKETS),
            None => String::from("localhost"),
        };
        values.insert(String::from("host"), default);
    }
    if let (None, Ok(user)) = (values.get("user"), whoami::username()) {
        values.insert(String::from("user"), user);
    }
    if let (None, Some(user)) = (values.get("dbname"), values.get("user").cloned()) {
        values.insert(String::from("dbname"), user);
    }
}

/// The driver's own form of it.
fn config(wanted: &Wanted, values: &Values) -> Result<Config> {
    let written =
        |(key, value): (&String, &String)| format!("{key}='{}' ", value.replace('\\', "\\\\").replace('\'', "\\'"));
    let text: String = values.iter().filter(|(key, _)| OF_DRIVER.contains(&key.as_str())).map(written).collect();
    // What the driver says may quote a password.
    text.parse().map_err(|_| not_valid(wanted))
}

/// How the server must show who it is.
fn checks(wanted: &Wanted, values: &Values, home: Option<&Path>) -> Result<Checks> {
    let own = |name: &str| home.map(|home| home.join(".postgresql").join(name)).filter(|file| file.exists());
    let named = |key: &str, name: &str| values.get(key).map(PathBuf::from).or_else(|| own(name));
    let is_system = values.get("sslrootcert").is_some_and(|root| root == "system");
    let mode = match values.get("sslmode").map(String::as_str) {
        None if is_system => Mode::VerifyFull,
        None | Some("prefer") => Mode::Prefer,
        Some("disable") => Mode::Disable,
        Some("require") => Mode::Require,
        Some("verify-ca") => Mode::VerifyCa,
        Some("verify-full") => Mode::VerifyFull,
        Some(_) => {
            let hint = "write disable, prefer, require, verify-ca or verify-full";
            return Err(wanted.error("its sslmode is none that disjoin knows").with_hint(hint));
        }
    };
    if is_system && mode != Mode::VerifyFull {
        let hint =
            "leave sslmode out, or write sslmode=verify-full: everybody can have such a certificate for some host";
        return Err(wanted.error("sslrootcert=system needs sslmode=verify-full").with_hint(hint));
    }
    let roots = match (is_system, values.get("sslrootcert"), mode) {
        (true, ..) => Roots::System,
        (_, Some(file), _) => Roots::File(PathBuf::from(file)),
        (_, None, Mode::Prefer | Mode::Disable) => Roots::None,
        (_, None, _) => own("root.crt").map_or(Roots::None, Roots::File),
    };
    Ok(Checks { mode, roots, certificate: named("sslcert", "postgresql.crt"), key: named("sslkey", "postgresql.key") })
}

/// Takes the password from the user's file.
fn look_up_password(wanted: &Wanted, settings: &mut Settings, file: &Path) -> Result<()> {
    let config = &settings.config;
    let (user, database) = (config.get_user().unwrap_or_default(), config.get_dbname().unwrap_or_default());
    let ports = config.get_ports();
    let port = |at: usize| ports.get(at).or(ports.first()).copied().unwrap_or(5432).to_string();
    let servers: Vec<(String, String)> =
        config.get_hosts().iter().enumerate().map(|(at, host)| (name_of(host), port(at))).collect();
    match password_in(file, &servers, database, user) {
        Found::Nothing => {}
        Found::Password(password) => {
            settings.config.password(password);
        }
        Found::Several => {
            let hint = "name one host";
            return Err(wanted.error("its hosts have different passwords in the password file").with_hint(hint));
        }
        Found::Ignored(why) => settings.warnings.push(why),
    }
    Ok(())
}

/// A host as the password file has it.
fn name_of(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        #[cfg(unix)]
        Host::Unix(folder) if folder == Path::new(SOCKETS) => String::from("localhost"),
        #[cfg(unix)]
        Host::Unix(folder) => folder.display().to_string(),
    }
}

/// An address leads over the network, whatever the host is called.
fn is_reached_by_sockets(config: &Config) -> bool {
    config.get_hostaddrs().is_empty() && config.get_hosts().iter().all(|host| !matches!(host, Host::Tcp(_)))
}

fn is_local(config: &Config) -> bool {
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_here) && config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
}

fn not_valid(wanted: &Wanted) -> Error {
    wanted.error("is not a valid URL").with_hint("write postgres://user@host/database?table=NAME")
}

fn not_known(wanted: &Wanted) -> Error {
    let hint = "besides table= and query=, disjoin knows what the guide on databases lists";
    wanted.error("has a parameter that disjoin does not know").with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str, variables: &[(&str, &str)]) -> Result<Settings> {
        let variable =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        settings(&Wanted::parse(url).unwrap(), &variable)
    }

    fn reached(settings: &Settings) -> String {
        let config = &settings.config;
        let hosts: Vec<String> = config.get_hosts().iter().map(name_of).collect();
        let password = config.get_password().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        format!(
            "{:?} {:?} {} {:?} {}",
            config.get_user().unwrap_or_default(),
            password.unwrap_or_default(),
            hosts.join(","),
            config.get_ports(),
            config.get_dbname().unwrap_or_default()
        )
    }

    #[test]
    fn urls_come_first_then_the_environment() {
        let variables = [
            ("PGHOST", "other"),
            ("PGPORT", "7"),
            ("PGUSER", "bob"),
            ("PGDATABASE", "ward"),
            ("PGPASSWORD", "it's \\ a"),
            ("PGSSLMODE", "require"),
        ];
        for (url, expected) in [
            ("postgres://ann:a%40b@h:5/d?table=t", "\"ann\" \"a@b\" h [5] d"),
            ("postgres://ann:a@b@h:5/d", "\"ann\" \"a@b\" h [5] d"),
            ("postgres://ann@h/d", "\"ann\" \"it's \\\\ a\" h [7] d"),
            ("postgres:///?user=eve&host=/tmp,x&port=1,2", "\"eve\" \"it's \\\\ a\" /tmp,x [1, 2] ward"),
            ("postgres://", "\"bob\" \"it's \\\\ a\" other [7] ward"),
            ("postgres://[::1]:6,h,i:9/", "\"bob\" \"it's \\\\ a\" ::1,h,i [6, 5432, 9] ward"),
            ("postgres://h?dbname=d&password=x", "\"bob\" \"x\" h [7] d"),
        ] {
            let settings = of(url, &variables).unwrap();
            assert_eq!(reached(&settings), expected, "{url}");
            assert_eq!(settings.checks.mode, Mode::Require);
        }
        let settings = of("postgres://", &[("PGUSER", "bob"), ("PGHOSTADDR", "127.0.0.1")]).unwrap();
        assert_eq!(reached(&settings), "\"bob\" \"\" 127.0.0.1 [] bob");
        assert!(settings.is_local && settings.checks.mode == Mode::Prefer);
    }

    #[test]
    fn what_is_not_known_is_refused_without_a_word_of_it() {
        for (url, problem) in [
            ("postgres://ann:secret@h/d?sslcrl=x&table=t", "does not know"),
            ("postgres://ann:secret@h/d?sslmode=allow", "sslmode"),
            ("postgres://ann:secret@h/d?gssencmode=require", "does not know"),
            ("postgres://ann:secret@h/d?port=x", "not a valid URL"),
            ("postgres://ann:secret@[h/d", "not a valid URL"),
            ("postgres://h/d?sslrootcert=system&sslmode=require", "sslmode=verify-full"),
            ("postgres://h/d?service=secret-none", "no such service"),
        ] {
            let error = of(url, &[]).err().unwrap();
            assert!(error.to_string().contains(problem), "{error}");
            assert!(!url.contains("ann:secret") || !format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn modes_and_roots_are_those_of_libpq() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".postgresql")).unwrap();
        let root = home.path().join(".postgresql/root.crt");
        let at_home = [("HOME", home.path().to_str().unwrap())];
        let checks = |url: &str| of(url, &at_home).unwrap().checks;
        assert_eq!(checks("postgres://h/d?sslmode=require").roots, Roots::None);
        std::fs::write(&root, "").unwrap();
        assert_eq!(checks("postgres://h/d?sslmode=require").roots, Roots::File(root));
        assert_eq!(checks("postgres://h/d").roots, Roots::None);
        assert_eq!(checks("postgres://h/d?sslrootcert=a.crt").roots, Roots::File("a.crt".into()));
        let system = checks("postgres://h/d?sslrootcert=system");
        assert_eq!((system.roots, system.mode), (Roots::System, Mode::VerifyFull));
        assert_eq!(checks("postgres://h/d?ssl=true").mode, Mode::Require);
    }

    #[cfg(unix)]
    #[test]
    fn services_and_password_files_are_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let text =
            "[a]\nhost=h\n[clinic]\n# ours\nhost=db.example\nport=6543\nuser=ann\nsslmode=verify-full\n[b]\nuser=x\n";
        std::fs::write(at(".pg_service.conf"), text).unwrap();
        std::fs::write(at(".pgpass"), "db.example:6543:*:ann:s\\:e\\\\cret\nh:*:*:*:other\n").unwrap();
        let permit = |mode| std::fs::set_permissions(at(".pgpass"), std::fs::Permissions::from_mode(mode)).unwrap();
        permit(0o600);
        let folder = home.path().to_str().unwrap();
        let at_home = [("HOME", folder), ("PGUSER", "bob")];
        let settings = of("postgres://?service=clinic&dbname=d", &at_home).unwrap();
        assert_eq!(reached(&settings), "\"ann\" \"s:e\\\\cret\" db.example [6543] d");
        assert_eq!(settings.checks.mode, Mode::VerifyFull);
        let variables = [("HOME", folder), ("PGSERVICE", "clinic"), ("PGPASSWORD", "x")];
        assert_eq!(reached(&of("postgres://eve@/d", &variables).unwrap()), "\"eve\" \"x\" db.example [6543] d");
        assert!(
            of("postgres://h,db.example/d?port=6543&user=ann", &at_home)
                .err()
                .unwrap()
                .to_string()
                .contains("different")
        );
        // Others can read it: it is not used, and that is said.
        permit(0o640);
        let settings = of("postgres://?service=clinic&dbname=d", &at_home).unwrap();
        assert!(settings.config.get_password().is_none());
        assert!(settings.warnings[0].contains("chmod 600") && !settings.warnings[0].contains("cret"));
    }
}
