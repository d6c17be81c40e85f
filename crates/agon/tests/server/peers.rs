//! Servers with a port for programs of another system, and the test clients in Python that play
//! there (`examples/fish`, `examples/trains`).

use crate::support::{Place, Process, Server, until};
use crate::wire::{http, page};
use rustix::process::Signal;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// How many tournaments go on at once.
const AT_ONCE: usize = 4;

/// Something of the tests in Python.
pub(crate) fn tests(path: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(path)
}

/// A server with such a port.
pub(crate) struct Port {
    pub(crate) place: Place,
    pub(crate) server: Server,
    system: &'static str,
}

/// The result of a tournament, according to the players and to the server.
pub(crate) struct Played {
    pub(crate) said: Value,
    pub(crate) report: Value,
    pub(crate) tournament: Value,
}

impl Played {
    /// The names in a list of the report, sorted.
    pub(crate) fn list(&self, what: &str) -> Vec<String> {
        let names = self.report[what].as_array().into_iter().flatten();
        let mut names: Vec<String> =
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect();
        names.sort();
        names
    }

    /// The games of a match.
    pub(crate) fn games(&self, round: usize, number: usize) -> &Value {
        &self.tournament["results"]["rounds"][round - 1]["matches"][number - 1]["result"]["games"]
    }
}

impl Port {
    /// Opens one; `settings` are lines of its table.
    pub(crate) fn open(system: &'static str, settings: &str) -> Port {
        Port::open_with(system, 0, 1_000, settings)
    }

    /// Opens one under other settings of the server.
    pub(crate) fn open_under(system: &'static str, server: &str, settings: &str) -> Port {
        Port::open_file(system, 0, &format!("reconnect_ms = 1000\n{server}"), settings)
    }

    /// Opens one that can be opened again.
    pub(crate) fn open_with(
        system: &'static str,
        port: u16,
        reconnect_ms: u32,
        settings: &str,
    ) -> Port {
        Port::open_file(system, port, &format!("reconnect_ms = {reconnect_ms}"), settings)
    }

    fn open_file(system: &'static str, port: u16, server: &str, settings: &str) -> Port {
        let place = Place::new(&format!(
            "{server}\nseed = 7\n\
             [{system}]\nlisten = \"127.0.0.1:{port}\"\n{settings}\n"
        ));
        let server = Server::start(&place);
        Port { place, server, system }
    }

    /// Kills the server and starts it again.
    pub(crate) fn restart(&mut self) {
        self.server.process.signal(Signal::KILL);
        self.server.process.code();
        self.start_again();
    }

    /// Starts a server that was killed.
    pub(crate) fn start_again(&mut self) {
        self.server = Server::start_again(&self.place, &self.server.address);
    }

    pub(crate) fn address(&self) -> &str {
        self.server.said["players"][self.system].as_str().expect("an address")
    }

    /// Has the players in Python play a tournament.
    pub(crate) fn play(&self, tournament: &str, arguments: &[String]) -> Played {
        let mut command = Command::new("python3");
        command.arg("-B").arg(tests(self.system).join("tournament.py"));
        command.arg(self.address()).arg(self.server.said["http"].as_str().expect("an address"));
        command.arg(tournament).args(arguments).stdin(Stdio::null());
        command.env("TRANSCRIPT", self.place.path("transcript"));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut players = Process(command.spawn().expect("python3 starts"));
        let code = players.code();
        let said = players.all_output();
        assert_eq!(code, Some(0), "{said}");
        let said = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
        let report = format!("/api/v1/tournaments/{tournament}/report");
        until("the tournament is over", || {
            http(&self.server, "", "GET", &report, &Value::Null).0 == 200
        });
        let read = |path: &str| serde_json::from_str(&page(&self.server, path)).expect("JSON");
        let (report, path) = (read(&report), format!("/api/v1/tournaments/{tournament}"));
        Played { said, report, tournament: read(&path) }
    }

    /// The server ends, and its log is found to be in order.
    pub(crate) fn verify(self) {
        drop(self.server);
        self.place.verify();
    }
}

/// Compares what the first player heard and said with the recording that a page shows under a
/// heading. With `AGON_RECORD` set it is written there anew instead.
pub(crate) fn compare(port: &Port, page: &str, heading: &str) {
    let said = std::fs::read_to_string(port.place.path("transcript")).expect("a transcript");
    let path = tests("../docs/protocol").join(page);
    let text = std::fs::read_to_string(&path).expect("a page");
    let (before, after) = text.split_once(heading).expect("the heading is there");
    let (between, after) = after.split_once("```text\n").expect("a recording");
    let (recorded, after) = after.split_once("```").expect("its end");
    if std::env::var_os("AGON_RECORD").is_some() {
        let text = format!("{before}{heading}{between}```text\n{said}```{after}");
        return std::fs::write(&path, text).expect("a page that can be written");
    }
    assert_eq!(said, recorded, "{page}: {heading}");
}

/// Runs something for every case, a few at once; what is wrong is told together.
pub(crate) fn for_all<T: Sync>(cases: &[T], run: impl Fn(&T) -> Result<(), String> + Sync) {
    let (next, wrong) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let case = next.lock().expect("nobody panics with it").next();
                    let Some(case) = case else { return };
                    if let Err(why) = run(case) {
                        wrong.lock().expect("nobody panics with it").push(why);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics with it");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The pairs of input and output of other people; `None`, said aloud, if there are none here.
pub(crate) fn vectors(folder: &str) -> Option<Vec<(PathBuf, Value)>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors"));
    let root = std::env::var_os("AGON_VECTORS").map_or_else(beside, PathBuf::from);
    let folder = root.join(folder);
    let Ok(entries) = std::fs::read_dir(&folder) else {
        assert!(std::env::var_os("CI").is_none(), "no vectors at {}", folder.display());
        eprintln!("not run: no vectors at {}", folder.display());
        return None;
    };
    let files = entries.map(|entry| entry.expect("a readable entry").path());
    let mut inputs: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().ends_with("-in.json")).collect();
    inputs.sort();
    let pair = |input: PathBuf| {
        let output = input.to_string_lossy().replace("-in.json", "-out.json");
        let text = std::fs::read_to_string(output).expect("an output for every input");
        (input, serde_json::from_str(&text).expect("outputs are JSON"))
    };
    Some(inputs.into_iter().map(pair).collect())
}
