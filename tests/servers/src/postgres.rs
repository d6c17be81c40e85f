//! A PostgreSQL server with a data folder of its own, and its standby.

use std::ffi::OsStr;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::{free_port, wait_until};

/// A table that is locked.
pub struct LockedTable {
    _holder: postgres::Client,
    observer: postgres::Client,
}

impl LockedTable {
    /// Waits until a statement has waited for a lock for so long.
    pub fn wait_until_blocked(&mut self, ms: u32) {
        let query = "
            SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
            AND clock_timestamp() - state_change > $1 * interval '1 millisecond'";
        wait_until("a statement waits for the lock", || {
            let blocked = self.observer.query(query, &[&f64::from(ms)]).expect("the blocked");
            !blocked.is_empty()
        });
    }
}

/// A running PostgreSQL server.
pub struct Postgres {
    folder: TempDir,
    port: u16,
    server: Option<Child>,
    databases: AtomicU32,
}

impl Postgres {
    /// Creates a data folder and starts a server on it.
    pub fn start() -> Postgres {
        let folder = tempfile::tempdir().expect("a folder for the database");
        give_to_postgres(folder.path());
        let data = folder.path().join("data");
        run(command("initdb")
            .args(["--auth=trust", "--username=agon", "--encoding=UTF8", "--no-sync", "--pgdata"])
            .arg(&data));
        let mut server =
            Postgres { folder, port: free_port(), server: None, databases: AtomicU32::new(0) };
        server.resume();
        server
    }

    /// Makes a copy that follows this server. Commits here wait for it from now on.
    pub fn standby(&self) -> Postgres {
        let folder = tempfile::tempdir().expect("a folder for the standby");
        give_to_postgres(folder.path());
        run(command("pg_basebackup")
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--pgdata"])
            .arg(folder.path().join("data"))
            .arg("--dbname")
            .arg(format!("host=127.0.0.1 port={} user=agon application_name=standby", self.port)));
        let mut standby =
            Postgres { folder, port: free_port(), server: None, databases: AtomicU32::new(0) };
        standby.resume();
        self.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'");
        self.query("SELECT pg_reload_conf()");
        wait_until("the standby follows", || {
            let query = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
            self.client("postgres")
                .is_ok_and(|mut client| client.query(query, &[]).is_ok_and(|rows| !rows.is_empty()))
        });
        standby
    }

    /// Makes a standby the primary, without another standby.
    pub fn promote(&self) {
        self.query("ALTER SYSTEM SET synchronous_standby_names = ''");
        self.query("SELECT pg_promote(true)");
        self.query("SELECT pg_reload_conf()");
    }

    /// Creates an empty database; returns its address.
    pub fn database(&self) -> String {
        let name = format!("test{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.query(&format!("CREATE DATABASE {name}"));
        self.address(&name)
    }

    /// The address of a database.
    pub fn address(&self, database: &str) -> String {
        format!("postgres://agon@127.0.0.1:{}/{database}", self.port)
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Kills the server and everything it was about to do.
    pub fn kill(&mut self) {
        self.stop_with(Signal::QUIT);
    }

    /// Starts the server on its folder again.
    pub fn resume(&mut self) {
        assert!(self.server.is_none(), "the server runs");
        let log = std::fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join("log"))
            .expect("a file for the server's messages");
        let server = command("postgres")
            .arg("-D")
            .arg(self.folder.path().join("data"))
            .args(["-p", &self.port.to_string(), "-h", "127.0.0.1", "-k", ""])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("PostgreSQL starts; scripts/test installs it");
        self.server = Some(server);
        wait_until("PostgreSQL answers", || self.client("postgres").is_ok());
    }

    /// Runs one statement as the administrator.
    pub fn query(&self, statement: &str) {
        let mut client = self.client("postgres").expect("a connection to PostgreSQL");
        client.batch_execute(statement).unwrap_or_else(|error| panic!("{statement}: {error:?}"));
    }

    /// Runs a statement in a database; returns whether it succeeded.
    pub fn try_in(&self, database: &str, statement: &str) -> bool {
        self.client(database).is_ok_and(|mut client| client.batch_execute(statement).is_ok())
    }

    /// Locks a table of a database, so that every statement about it waits until this is dropped.
    pub fn lock(&self, database: &str, table: &str) -> LockedTable {
        let mut holder = self.client(database).expect("the database answers");
        holder.batch_execute(&format!("BEGIN; LOCK TABLE {table}")).expect("the table is there");
        LockedTable { _holder: holder, observer: self.client("postgres").expect("it answers") }
    }

    fn client(&self, database: &str) -> Result<postgres::Client, postgres::Error> {
        postgres::Client::connect(&self.address(database), postgres::NoTls)
    }

    fn stop_with(&mut self, signal: Signal) {
        let Some(mut server) = self.server.take() else { return };
        if let Some(pid) = Pid::from_raw(server.id().cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process(pid, signal);
        }
        let _ = server.wait();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // QUIT: at once, without a last checkpoint, but children end too.
        self.stop_with(Signal::QUIT);
    }
}

/// A program of PostgreSQL. The server refuses to run as root, so root runs it as `postgres`.
fn command(program: &str) -> Command {
    let path = programs().join(program);
    if !geteuid().is_root() {
        return Command::new(path);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(path);
    command
}

/// The folder with the programs: Debian does not put them into the path.
fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    folders.retain(|folder| folder.join("initdb").exists());
    folders.sort();
    folders.pop().expect("PostgreSQL in /usr/lib/postgresql; scripts/test installs it")
}

fn give_to_postgres(folder: &Path) {
    if geteuid().is_root() {
        let number = |flag: &str| {
            let id = Command::new("id").args([flag, "postgres"]).output().expect("id runs");
            let text = String::from_utf8(id.stdout).expect("a number");
            text.trim().parse().expect("the user postgres exists")
        };
        chown(folder, Some(number("-u")), Some(number("-g"))).expect("root may give folders away");
    }
}

fn run(command: &mut Command) {
    let name = command.get_args().chain([command.get_program()]).map(OsStr::to_string_lossy);
    let name = name.collect::<Vec<_>>().join(" ");
    let done = command.output().unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
}
