//! Erlang virtual machines that cannot outlive a test, on an EPMD of their own.

use crate::support::{Place, Process, Server, until};
use std::io::{BufRead, BufReader, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// No test waits longer than this for a word.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const COOKIE: &str = "a-cookie-for-tests";

/// A server that is a node, and what nodes need to find it.
pub(crate) struct Host {
    pub(crate) place: Place,
    pub(crate) server: Server,
    pub(crate) epmd: u16,
    /// The operator's token, which only the first start tells.
    pub(crate) token: String,
}

impl Host {
    /// A server whose players have all the time they need.
    pub(crate) fn start() -> Host {
        Host::with("answer_ms = 100000\nwait_ms = 100000")
    }

    /// A server with these lines in its `[erlang]` section.
    pub(crate) fn with(lines: &str) -> Host {
        Host::with_wait(1_000, lines)
    }

    /// The same, which waits so long for players after a restart.
    pub(crate) fn with_wait(reconnect_ms: u32, lines: &str) -> Host {
        let epmd = free_port();
        let place = Place::new(&config(epmd, reconnect_ms, lines));
        let server = Server::from_command(serve(&place)).expect("a server starts");
        let token = server.said["operator"]["token"].as_str().expect("a token").to_owned();
        Host { place, server, epmd, token }
    }

    /// Kills the server and starts it again.
    pub(crate) fn restart(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        self.server.process.signal(rustix::process::Signal::KILL);
        self.server.process.code();
    }

    /// Starts a server that was killed.
    pub(crate) fn start_again(&mut self) {
        self.server = Server::from_command(serve(&self.place)).expect("a server starts again");
    }

    /// A node of players.
    pub(crate) fn vm(&self, name: &str) -> Vm {
        Vm::start(self.epmd, name, COOKIE)
    }

    /// A node that ticks often enough for servers that do.
    pub(crate) fn vm_with_ticks(&self, name: &str) -> Vm {
        let more = ["-kernel", "net_ticktime", "10", "-kernel", "net_tickintensity", "100"];
        Vm::start_with(self.epmd, name, COOKIE, &more)
    }

    /// The server's log output.
    pub(crate) fn words(&self) -> String {
        std::fs::read_to_string(self.place.path("serve.stderr")).unwrap_or_default()
    }

    pub(crate) fn wait_until_over(&self, tournament: &str) {
        until(&format!("{tournament} is over"), || self.place.is_over(tournament));
    }

    /// The winner of a tournament that is over.
    pub(crate) fn winner(&self, tournament: &str) -> Option<String> {
        let lobby = self.place.events("lobby");
        let over = lobby.iter().find(|(_, event)| {
            event["type"] == "tournament-finished" && event["data"]["tournament"] == tournament
        });
        let (_, event) = over.unwrap_or_else(|| panic!("{tournament} is not over"));
        event["data"]["winners"][0].as_str().map(str::to_owned)
    }

    /// How often something happened in the matches of a tournament.
    pub(crate) fn count(&self, tournament: &str, kind: &str) -> usize {
        let events = self.place.events(&format!("match/{tournament}/"));
        events.iter().filter(|(_, event)| event["type"] == kind).count()
    }

    /// Codes of what players were charged with in their matches.
    pub(crate) fn codes(&self) -> Vec<String> {
        let events = self.place.events("match/");
        let faults = events.iter().map(|(_, event)| &event["data"]["faulted"]["fault"]["code"]);
        faults.filter_map(|code| code.as_str().map(str::to_owned)).collect()
    }

    /// Stops the server and checks everything it wrote.
    pub(crate) fn verify(mut self) {
        self.server.process.signal(rustix::process::Signal::TERM);
        assert_eq!(self.server.process.code(), Some(0), "{}", self.words());
        self.place.verify();
    }
}

pub(crate) fn config(epmd: u16, reconnect_ms: u32, lines: &str) -> String {
    // A server that has just started waits so long for whoever was there before.
    format!(
        "log = \"debug\"\nreconnect_ms = {reconnect_ms}\n[erlang]\ncookie = {COOKIE:?}\nepmd = \"127.0.0.1:{epmd}\"\n{lines}\n"
    )
}

/// `agon serve` in a place, with its words in a file.
pub(crate) fn serve(place: &Place) -> Command {
    let args = ["serve", "--config", "agon.toml", "--json", "--tcp", "127.0.0.1:0"];
    let mut command = place.command(&[&args[..], &["--http", "127.0.0.1:0"]].concat());
    // Words of a server before are kept.
    let mut words = std::fs::OpenOptions::new();
    let words = words.create(true).append(true).open(place.path("serve.stderr")).expect("a file");
    command.stderr(words);
    command
}

/// A port nobody listens on.
pub(crate) fn free_port() -> u16 {
    agon::free_port(Ipv4Addr::LOCALHOST.into()).expect("a port")
}

/// A virtual machine with players in it.
pub(crate) struct Vm {
    pub(crate) process: Process,
    input: ChildStdin,
    output: Receiver<String>,
    /// Lines that were heard and not asked for.
    kept: Vec<String>,
}

impl Vm {
    /// Starts one and waits until it is up.
    pub(crate) fn start(epmd: u16, name: &str, cookie: &str) -> Vm {
        Vm::start_with(epmd, name, cookie, &[])
    }

    /// The same, with more arguments.
    pub(crate) fn start_with(epmd: u16, name: &str, cookie: &str, more: &[&str]) -> Vm {
        let mut command = Command::new("erl");
        command.args(["-noshell", "-start_epmd", "false", "-setcookie", cookie]);
        command.args(["-sname", &format!("{name}@localhost"), "-agon", "agon@localhost"]);
        command.arg("-pa").arg(compiled()).args(more).args(["-s", "player", "main"]);
        command.env("ERL_EPMD_PORT", epmd.to_string()).env("ERL_CRASH_DUMP_SECONDS", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().expect("erl starts: install erlang-base, as scripts/test does");
        let mut process = Process(child);
        let input = process.0.stdin.take().expect("a pipe");
        let stdout = process.0.stdout.take().expect("a pipe");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut vm = Vm { process, input, output, kept: Vec::new() };
        vm.hear("{up,");
        vm
    }

    /// Tells it something.
    pub(crate) fn say(&mut self, term: &str) {
        writeln!(self.input, "{term}.").expect("the machine reads");
    }

    /// Has somebody log in, and waits until it is.
    pub(crate) fn log_in(&mut self, user: &str, vocabulary: &str, options: &str) {
        self.player(user, vocabulary, options);
        self.hear(&format!("{{logged_in,{user:?}}}"));
    }

    /// Has somebody log in.
    pub(crate) fn player(&mut self, user: &str, vocabulary: &str, options: &str) {
        self.say(&format!("{{player,{user:?},\"pw of {user}\",{vocabulary},[{options}]}}"));
    }

    /// Waits for a line that begins so; others are kept for later.
    pub(crate) fn hear(&mut self, begin: &str) -> String {
        if let Some(at) = self.kept.iter().position(|line| line.starts_with(begin)) {
            return self.kept.remove(at);
        }
        let started = Instant::now();
        loop {
            let left = PATIENCE.saturating_sub(started.elapsed());
            match self.output.recv_timeout(left) {
                Ok(line) if line.starts_with(begin) => return line,
                Ok(line) => self.kept.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("waited in vain for {begin}; heard {:?}", self.kept)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("it ended before {begin}; heard {:?}", self.kept)
                }
            }
        }
    }

    /// Returns whether a line that begins so has been heard; it is taken.
    pub(crate) fn heard_already(&mut self, begin: &str) -> bool {
        self.kept.extend(self.output.try_iter());
        let at = self.kept.iter().position(|line| line.starts_with(begin));
        at.map(|at| self.kept.remove(at)).is_some()
    }

    /// Everything that was heard so far and not asked for.
    pub(crate) fn rest(&mut self) -> Vec<String> {
        self.kept.extend(self.output.try_iter());
        std::mem::take(&mut self.kept)
    }

    pub(crate) fn kill(&self) {
        self.process.signal(rustix::process::Signal::KILL);
    }
}

/// The folder with `player.beam`, compiled once for all tests.
fn compiled() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/erlang/player.erl");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("erlang");
    let made = |path: &Path| path.metadata().and_then(|file| file.modified()).ok();
    let beam = target.join("player.beam");
    if made(&beam).is_some_and(|beam| Some(beam) > made(&source)) {
        return target;
    }
    std::fs::create_dir_all(&target).expect("a folder");
    let own = tempfile::tempdir_in(&target).expect("a folder");
    let mut erlc = Command::new("erlc");
    erlc.arg("-Werror").arg("-o").arg(own.path()).arg(&source);
    let status = erlc.status().expect("erlc starts: install erlang-base, as scripts/test does");
    assert!(status.success(), "player.erl can be compiled");
    // Others may compile it at the same time: whoever comes last has made the same.
    std::fs::rename(own.path().join("player.beam"), &beam).expect("a file");
    target
}
