//! Connections to PostgreSQL: encrypted where they can be, and refused where the server is not who it should be.
#![cfg(unix)]

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use disjoin::observer::observed;
use disjoin::read::Sources;
use disjoin::{Error, Observer};
use disjoin_databases::Databases;

use crate::server::{Server, USER, WRITTEN_PASSWORD};
use crate::{all, hint, message, row};

/// Whether the server says that this very connection is encrypted.
const IS_ENCRYPTED: &str = "query=SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

fn login() -> String {
    format!("{USER}:{WRITTEN_PASSWORD}")
}

#[test]
fn connections_are_encrypted_and_servers_are_checked() {
    let Some(server) = Server::start(true) else { return };
    let (right, wrong) = (server.url_by(&login(), "localhost"), server.url_by(&login(), "127.0.0.1"));
    let (root, other) = (server.at("root.crt"), server.at("other.crt"));
    let is_encrypted = |url: &str| all(&format!("{url}&{IS_ENCRYPTED}")).map(|(_, rows)| rows);
    let (yes, no) = ([row(&[Some("t")])], [row(&[Some("f")])]);
    for mode in ["", "&sslmode=prefer", "&sslmode=require"] {
        assert_eq!(is_encrypted(&format!("{right}{mode}")).unwrap(), yes, "{mode}");
    }
    assert_eq!(is_encrypted(&format!("{right}&sslmode=disable")).unwrap(), no);
    assert_eq!(is_encrypted(&format!("{}&sslmode=verify-full", server.url())).unwrap(), no, "a socket");
    for (url, mode, root, expected) in [
        (&right, "verify-full", &root, None),
        (&wrong, "verify-full", &root, Some("for another host")),
        (&wrong, "verify-ca", &root, None),
        (&wrong, "require", &root, None),
        (&right, "verify-full", &other, Some("not signed by a root certificate")),
        (&right, "verify-ca", &other, Some("not signed by a root certificate")),
        (&right, "require", &other, Some("not signed by a root certificate")),
        (&right, "prefer", &other, Some("not signed by a root certificate")),
        (&right, "verify-ca", &server.at("none.crt"), Some("no certificate that can be read")),
        (&right, "verify-ca", &server.at("server.key"), Some("no certificate that can be read")),
        (&right, "verify-ca", &server.at("server.crt"), Some("not signed by a root certificate")),
    ] {
        let asked = format!("{url}&sslmode={mode}&sslrootcert={}", root.display());
        match (is_encrypted(&asked), expected) {
            (Ok(rows), None) => assert_eq!(rows, yes, "{asked}"),
            (Err(error), Some(expected)) => {
                assert!(error.to_string().contains(expected), "{asked}: {error}");
                assert!(!format!("{error:?}").contains("s3cr"), "{error:?}");
            }
            (found, _) => panic!("{asked}: {found:?}"),
        }
    }
    assert!(
        message(&format!("{right}&sslrootcert=system&{IS_ENCRYPTED}")).contains("not signed by a root certificate")
    );
    passwords_are_asked_for(&server);
}

fn passwords_are_asked_for(server: &Server) {
    let url = format!("{}&passfile=/none&table=t", server.url_by(USER, "localhost"));
    assert!(message(&url).ends_with("asks for a password"), "{}", message(&url));
    assert!(hint(&url).contains("PGPASSWORD"));
    let told = message(&format!("{}&table=t", server.url_by(&format!("{USER}:other-s3cret"), "localhost")));
    assert!(told.contains("does not let this user in") && !told.contains("s3cr"), "{told}");
    // From a file, unless others can read it.
    let file = server.at("passwords");
    std::fs::write(&file, format!("localhost:*:*:{USER}:{}\n", crate::server::PASSWORD.replace(':', "\\:"))).unwrap();
    let permit = |mode| {
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        format!("{}&passfile={}&{IS_ENCRYPTED}", server.url_by(USER, "localhost"), file.display())
    };
    assert!(all(&permit(0o600)).is_ok());
    let url = permit(0o604);
    assert!(message(&url).ends_with("asks for a password"));
    assert!(hint(&url).contains("others may read it") && hint(&url).contains("chmod 600"), "{}", hint(&url));
}

/// The certificate of the PostgreSQL manual: the server signed it itself, and it may sign others.
#[test]
fn a_certificate_may_be_its_own_root() {
    let Some(server) = Server::start_self_signed() else { return };
    let url = server.url_by(&login(), "localhost");
    let own = server.at("server.crt");
    for mode in ["verify-ca", "verify-full"] {
        assert!(all(&format!("{url}&sslmode={mode}&sslrootcert={}&{IS_ENCRYPTED}", own.display())).is_ok());
        let other = format!("{url}&sslmode={mode}&sslrootcert={}&{IS_ENCRYPTED}", server.at("other.crt").display());
        assert!(all(&other).is_err());
    }
}

/// Warnings that were heard, and whether to stop.
#[derive(Default)]
struct Listener {
    warnings: Mutex<Vec<String>>,
    stop: AtomicBool,
}

impl Observer for Listener {
    fn warn(&self, warning: &str) {
        self.warnings.lock().unwrap().push(warning.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[test]
fn without_tls_only_those_who_ask_for_it_are_refused() {
    let Some(server) = Server::start(false) else { return };
    let url = server.url_by(&login(), "localhost");
    for mode in ["", "&sslmode=prefer", "&sslmode=disable"] {
        assert!(all(&format!("{url}{mode}&{IS_ENCRYPTED}")).is_ok(), "{mode}");
    }
    let root = "&sslrootcert=/none";
    for mode in ["require", "verify-ca", "verify-full"] {
        let told = message(&format!("{url}&sslmode={mode}&{IS_ENCRYPTED}"));
        let expected = ["the server has no TLS, and sslmode asks for it", "no root certificate is known"];
        assert!(expected.iter().any(|expected| told.contains(expected)), "{told}");
        assert!(message(&format!("{url}&sslmode={mode}{root}&{IS_ENCRYPTED}")).contains("no certificate"));
    }
    // To this machine nothing is said.
    let listener = Listener::default();
    let _ = Databases.open(&format!("{url}&{IS_ENCRYPTED}"), &listener).unwrap().unwrap();
    assert_eq!(listener.warnings.lock().unwrap().len(), 0);
    queries_are_cancelled(&server);
}

fn queries_are_cancelled(server: &Server) {
    let url = format!("{}&query=SELECT pg_sleep(600)", server.url());
    let (listener, start) = (Listener::default(), Instant::now());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(700));
            listener.stop.store(true, Ordering::Relaxed);
        });
        let read = || Databases.open(&url, &listener).unwrap()?.rows.collect::<disjoin::Result<Vec<_>>>();
        assert!(matches!(observed(read), Err(Error::Cancelled)));
    });
    assert!(start.elapsed() < Duration::from_secs(10));
    // The server has ended it, too.
    let sleeping = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'FETCH%'";
    let mut client = server.client().unwrap();
    let has_ended = |_: &u32| {
        std::thread::sleep(Duration::from_millis(100));
        client.query(sleeping, &[]).unwrap().is_empty()
    };
    assert!((0..50).find(has_ended).is_some());
    let limited = format!("{}&options=-c%20statement_timeout%3D300&query=SELECT pg_sleep(600)", server.url());
    assert!(message(&limited).contains("took longer than allowed") && hint(&limited).contains("statement_timeout"));
}
