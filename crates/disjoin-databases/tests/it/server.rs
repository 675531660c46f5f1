//! A PostgreSQL server for tests, on a socket in a folder of its own, ended when dropped.

use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) struct Server {
    folder: tempfile::TempDir,
    programs: PathBuf,
    process: Option<Child>,
}

impl Server {
    /// None if PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Server> {
        let mut server = Server { folder: tempfile::tempdir().unwrap(), programs: programs()?, process: None };
        let options = ["-A", "trust", "-U", "tester", "-E", "UTF8", "--no-sync", "-D", "data"];
        assert!(server.command("initdb").args(options).status().unwrap().success());
        let mut command = server.command("postgres");
        command.args(["-D", "data", "-c", "listen_addresses=", "-c", "fsync=off", "-k"]).arg(server.folder.path());
        server.process = Some(command.spawn().unwrap());
        let is_up = |_: &u32| {
            std::thread::sleep(Duration::from_millis(100));
            server.client().is_ok()
        };
        assert!((0..300).find(is_up).is_some(), "the server does not start");
        Some(server)
    }

    /// One of PostgreSQL's programs, run in the folder. They refuse to run as the administrator: nobody runs them then.
    fn command(&self, program: &str) -> Command {
        const NOBODY: u32 = 65534;
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

    pub(crate) fn url(&self) -> String {
        format!("postgres://tester@/postgres?host={}", self.folder.path().display())
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
    folders.retain(|folder| folder.join("initdb").exists() && folder.join("postgres").exists());
    folders.into_iter().next()
}
