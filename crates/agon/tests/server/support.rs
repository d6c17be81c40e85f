//! Servers and players as processes that cannot outlive a test, and connections made by hand.

use agon_store::{Log, SqliteLog};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// No test waits longer than this for anything: far beyond what a loaded machine needs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The binary under test.
pub(crate) const AGON: &str = env!("CARGO_BIN_EXE_agon");

/// Asks again and again until `done`; `what` is for the message when patience ends.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// A folder for one test.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// With this configuration of the server.
    pub(crate) fn new(config: &str) -> Place {
        let place = Place { dir: tempfile::tempdir().expect("a folder for the test") };
        fs::write(place.path("agon.toml"), config).expect("a file");
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `agon` with these arguments, in this folder.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(AGON);
        command.args(args).current_dir(self.dir.path()).stdin(Stdio::null());
        command.env("AGON_CACHE", self.path("cache")).env("AGON_PASSWORD", "swordfish");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `agon` to its end: its code, and all it said.
    pub(crate) fn agon(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut process = Process(self.command(args).spawn().expect("agon starts"));
        let code = process.code();
        (code, process.all_output())
    }

    /// A player that plays one tournament.
    pub(crate) fn player(&self, server: &str, name: &str, plays: &[&str]) -> Process {
        let mut args = vec!["join", "--server", server, "--account", name, "--register", "--once"];
        args.extend(plays);
        let mut command = self.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Process(command.spawn().expect("agon starts"))
    }

    /// The events of all streams whose names begin so, as (stream, event).
    pub(crate) fn events(&self, prefix: &str) -> Vec<(String, Value)> {
        let Ok(log) = SqliteLog::open_read_only(self.path("agon-data/agon.sqlite")) else {
            return Vec::new();
        };
        let streams = log.streams().expect("a log").into_iter().map(|(name, _)| name);
        let own = streams.filter(|name| name.starts_with(prefix));
        let events = own.flat_map(|name| {
            let lines = log.load(&name, 0).expect("a stream");
            lines.into_iter().map(move |line| {
                (name.clone(), serde_json::from_str(&line).expect("lines are JSON"))
            })
        });
        events.collect()
    }

    /// How many events the log holds.
    pub(crate) fn log_len(&self) -> u64 {
        let log = SqliteLog::open_read_only(self.path("agon-data/agon.sqlite"));
        let streams = log.and_then(|log| log.streams()).unwrap_or_default();
        streams.iter().map(|(_, version)| version).sum()
    }

    pub(crate) fn is_over(&self, tournament: &str) -> bool {
        let lobby = self.events("lobby");
        lobby.iter().any(|(_, event)| {
            event["type"] == "tournament-finished" && event["data"]["tournament"] == tournament
        })
    }

    /// Everything anybody was charged with, in any stream.
    pub(crate) fn faults(&self) -> Vec<String> {
        let events = self.events("match/").into_iter().chain(self.events("tournament/"));
        let faults = events.filter(|(_, event)| {
            let kind = event["type"].as_str().unwrap_or_default();
            matches!(kind, "player-left" | "player-faulted" | "wait-expired" | "player-dropped")
        });
        faults.map(|(stream, event)| format!("{stream}: {event}")).collect()
    }

    pub(crate) fn verify(&self) {
        let (code, said) = self.agon(&["verify", "--quiet", "agon-data"]);
        assert_eq!(code, Some(0), "{said}");
    }
}

/// A process that is killed when its test is over.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(self.0.id() as i32).expect("process ids are positive");
        let _ = kill_process(id, signal);
    }

    /// Waits for its end.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let mut status = None;
        until("a process has ended", || {
            status = self.0.try_wait().expect("a child");
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Its whole output, once it has ended; short enough for a pipe.
    pub(crate) fn all_output(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut stdout) = self.0.stdout.take() {
            let _ = stdout.read_to_string(&mut text);
        }
        if let Some(mut stderr) = self.0.stderr.take() {
            let _ = stderr.read_to_string(&mut text);
        }
        text
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that runs.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: String,
    /// The first line it printed.
    pub(crate) said: Value,
}

impl Server {
    /// Starts a server on any port.
    pub(crate) fn start(place: &Place) -> Server {
        Server::start_with(place, &[])
    }

    /// Starts a server on any port, with more arguments.
    pub(crate) fn start_with(place: &Place, more: &[&str]) -> Server {
        Server::try_start(place, "127.0.0.1:0", more).expect("a server starts")
    }

    /// Starts a server on the port it had; somebody may hold it for a moment.
    pub(crate) fn start_again(place: &Place, address: &str) -> Server {
        Server::start_again_with(place, address, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn start_again_with(place: &Place, address: &str, more: &[&str]) -> Server {
        let mut server = None;
        until("the server is up again", || {
            server = Server::try_start(place, address, more);
            server.is_some()
        });
        server.expect("it is up")
    }

    /// The same, with the HTTP interface where it was.
    pub(crate) fn start_with_http(place: &Place, address: &str, http: &str) -> Server {
        let mut server = None;
        until("the server is up again", || {
            server = Server::said_by(Server::spawn_with_http(place, address, http, &[]));
            server.is_some()
        });
        server.expect("it is up")
    }

    fn try_start(place: &Place, address: &str, more: &[&str]) -> Option<Server> {
        Server::said_by(Server::spawn(place, address, more))
    }

    /// Starts a server by a command of the test's own.
    pub(crate) fn from_command(mut command: Command) -> Option<Server> {
        Server::said_by(Process(command.spawn().expect("it starts")))
    }

    fn said_by(mut process: Process) -> Option<Server> {
        let stdout = process.0.stdout.take().expect("a pipe");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let said: Value = serde_json::from_str(&line).ok()?;
        let address = said["players"]["tcp"].as_str().expect("an address").to_owned();
        Some(Server { process, address, said })
    }

    /// Starts a server without waiting for it.
    pub(crate) fn spawn(place: &Place, address: &str, more: &[&str]) -> Process {
        Server::spawn_with_http(place, address, "127.0.0.1:0", more)
    }

    fn spawn_with_http(place: &Place, address: &str, http: &str, more: &[&str]) -> Process {
        let args = ["serve", "--config", "agon.toml", "--json", "--tcp", address, "--http", http];
        let mut command = place.command(&[&args[..], more].concat());
        command.stderr(Stdio::null());
        Process(command.spawn().expect("agon starts"))
    }
}

/// A connection made by hand.
pub(crate) struct Client {
    from: BufReader<TcpStream>,
    pub(crate) to: TcpStream,
}

impl Client {
    pub(crate) fn connect(address: &str) -> Client {
        Client::over(TcpStream::connect(address).expect("the server is there"))
    }

    pub(crate) fn over(to: TcpStream) -> Client {
        to.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        to.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        Client { from: BufReader::new(to.try_clone().expect("a socket")), to }
    }

    pub(crate) fn logged_in(address: &str, name: &str) -> Client {
        let mut client = Client::connect(address);
        client.log_in(name, "swordfish");
        client.hear_until("welcome");
        client
    }

    pub(crate) fn log_in(&mut self, name: &str, password: &str) {
        self.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
        self.say(&format!(
            r#"{{"type":"login","account":"{name}","password":"{password}","register":true}}"#
        ));
    }

    pub(crate) fn say(&mut self, line: &str) {
        let _ = self.to.write_all(format!("{line}\n").as_bytes());
    }

    /// The next message; `None` at the end of the connection.
    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_str(&line).expect("messages are JSON")),
            Err(error) => {
                let timeout = std::io::ErrorKind::WouldBlock;
                assert_ne!(error.kind(), timeout, "waited in vain for a message");
                None
            }
        }
    }

    /// The next message; `None` at the end of the connection, also in the middle of a line.
    pub(crate) fn hear_whole(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.from.read_line(&mut line).unwrap_or(0);
        (read > 0 && line.ends_with('\n'))
            .then(|| serde_json::from_str(&line).expect("messages are JSON"))
    }

    /// The next message of this type.
    pub(crate) fn hear_until(&mut self, kind: &str) -> Value {
        loop {
            let message = self.hear().unwrap_or_else(|| panic!("closed before {kind}"));
            if message["type"] == kind {
                return message;
            }
        }
    }

    /// Everything until the server closes the connection.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.hear()).collect()
    }
}
