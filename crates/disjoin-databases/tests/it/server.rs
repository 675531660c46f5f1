//! A PostgreSQL server for tests, in a folder of its own, ended when dropped: on a socket, where everybody may log in, and on a port of
//! this machine, where a password is asked for.

use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

/// The administrator of PostgreSQL does not run it: nobody does.
const NOBODY: u32 = 65534;

/// Who logs in over the network, and with what.
pub(crate) const USER: &str = "steward";
pub(crate) const PASSWORD: &str = "s3cr:t@w/rd";
/// The same as a URL has it.
pub(crate) const WRITTEN_PASSWORD: &str = "s3cr%3At%40w%2Frd";

pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    process: Option<Child>,
    port: u16,
}

impl Server {
    /// With TLS or without. None, and a loud word, if PostgreSQL is not installed; where it must be, that is a failure.
    pub(crate) fn start(with_tls: bool) -> Option<Server> {
        Server::start_with(with_tls.then_some(false))
    }

    /// With a certificate that is its own root.
    #[allow(dead_code, reason = "the tests of the command line need none")]
    pub(crate) fn start_self_signed() -> Option<Server> {
        Server::start_with(Some(true))
    }

    fn start_with(tls: Option<bool>) -> Option<Server> {
        let Some(programs) = programs() else {
            // Not by a macro, whose output a test that passes does not show.
            let _ = std::io::stderr().write_all(b"\nSKIPPED: PostgreSQL is not installed, and its tests did NOT run\n");
            assert!(std::env::var_os("DISJOIN_NEED_POSTGRES").is_none(), "PostgreSQL is not installed");
            return None;
        };
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Server { folder: tempfile::tempdir().unwrap(), programs, process: None, port };
        let options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync", "-D", "data"];
        assert!(server.command("initdb").args(options).status().unwrap().success());
        server.write("data/pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n", 0o600);
        let mut command = server.command("postgres");
        command
            .args(["-D", "data", "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k"])
            .arg(server.folder.path());
        command.args([
            "-c",
            &format!("port={port}"),
            "-c",
            &format!("ssl={}", if tls.is_some() { "on" } else { "off" }),
        ]);
        if let Some(is_self_signed) = tls {
            server.make_certificates(is_self_signed);
            command.args(["-c", "ssl_cert_file=../server.crt", "-c", "ssl_key_file=../server.key"]);
        }
        server.process = Some(command.spawn().unwrap());
        let is_up = |_: &u32| {
            std::thread::sleep(Duration::from_millis(100));
            server.client().is_ok()
        };
        assert!((0..300).find(is_up).is_some(), "the server does not start");
        let user = format!("CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'");
        server.client().unwrap().batch_execute(&user).unwrap();
        Some(server)
    }

    /// A certificate for `localhost`, signed by a root of its own, and a root that signed nothing.
    fn make_certificates(&self, is_self_signed: bool) {
        let root = |name: &str| {
            let mut params = CertificateParams::new(Vec::new()).unwrap();
            params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            params.distinguished_name.push(DnType::CommonName, name);
            CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
        };
        let (ours, other, key) = (root("ours"), root("other"), KeyPair::generate().unwrap());
        let params = CertificateParams::new(vec![String::from("localhost")]).unwrap();
        let certificate = match is_self_signed {
            false => params.signed_by(&key, &ours).unwrap(),
            true => {
                let mut params = params;
                params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
                params.self_signed(&key).unwrap()
            }
        };
        self.write("root.crt", &ours.pem(), 0o644);
        self.write("other.crt", &other.pem(), 0o644);
        self.write("server.crt", &certificate.pem(), 0o644);
        self.write("server.key", &key.serialize_pem(), 0o600);
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.at(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        if path.metadata().unwrap().uid() == 0 {
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// One of PostgreSQL's programs, run in the folder. They refuse to run as the administrator.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let owner = self.folder.path().metadata().unwrap().uid();
        if owner == 0 {
            chown(self.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        if owner == 0 || owner == NOBODY {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    /// By the socket.
    pub(crate) fn url(&self) -> String {
        format!("postgres://tester@/postgres?host={}&port={}", self.folder.path().display(), self.port)
    }

    /// Over the network.
    pub(crate) fn url_by(&self, login: &str, host: &str) -> String {
        format!("postgres://{login}@{host}:{}/postgres?connect_timeout=20", self.port)
    }

    pub(crate) fn client(&self) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(&self.url(), postgres::NoTls)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.command("pg_ctl").args(["stop", "-m", "immediate", "-D", "data"]).status();
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// The folder of PostgreSQL's programs, if it is installed.
fn programs() -> Option<PathBuf> {
    let debian =
        std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = debian.chain(std::env::split_paths(&path)).collect();
    folders.retain(|folder: &PathBuf| has_programs(folder));
    folders.into_iter().next()
}

fn has_programs(folder: &Path) -> bool {
    folder.join("initdb").exists() && folder.join("postgres").exists()
}
