//! The nodes of a cluster on this machine, and what their log says.

use crate::support::{AGON, Place, Process, until};
use agon_servers::{Nats, Postgres};
use agon_store::{Log, PostgresLog};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Stdio;

/// The library that gives a process a wrong clock.
const FAKETIME: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// A database and a folder for the nodes that use it.
pub(crate) struct Cluster {
    pub(crate) place: Place,
    pub(crate) server: Postgres,
    pub(crate) url: String,
    /// The bus over which nodes share the work, if they do.
    pub(crate) bus: Option<Nats>,
}

impl Cluster {
    /// Nodes will have this configuration.
    pub(crate) fn new(config: &str) -> Cluster {
        let server = Postgres::start();
        let url = server.database();
        Cluster { place: Place::new(config), server, url, bus: None }
    }

    /// Nodes will share the work over a bus.
    pub(crate) fn with_bus(config: &str) -> Cluster {
        let mut cluster = Cluster::new(config);
        cluster.bus = Some(Nats::start());
        cluster
    }

    /// The bus.
    pub(crate) fn bus(&mut self) -> &mut Nats {
        self.bus.as_mut().expect("a bus")
    }

    /// Starts a node without waiting for it.
    pub(crate) fn node(&self, name: &str) -> Node {
        let port = || agon::free_port(Ipv4Addr::LOCALHOST.into()).expect("a port");
        let [tcp, http] = [port(), port()].map(|port| format!("127.0.0.1:{port}"));
        let node = Node { name: name.to_owned(), tcp, http, clock: None, process: None };
        self.start_again(node)
    }

    /// Starts a node with more lines of configuration.
    pub(crate) fn node_with(&self, name: &str, more: &str) -> Node {
        let config = std::fs::read_to_string(self.place.path("agon.toml")).expect("a file");
        let file = self.place.path(&format!("{name}.toml"));
        // A table ends the settings before it.
        let all = match more.starts_with('[') {
            true => format!("{config}\n{more}"),
            false => format!("{more}\n{config}"),
        };
        std::fs::write(file, all).expect("a file");
        self.node(name)
    }

    /// Starts a node of a version that reads and writes records up to this one.
    pub(crate) fn node_of_version(&self, name: &str, log_version: u32) -> Node {
        self.node_with(name, &format!("log_version = {log_version}"))
    }

    /// Starts a node on a machine whose clock is wrong by so much, such as `+1h`.
    pub(crate) fn node_with_clock(&self, name: &str, clock: &'static str) -> Node {
        let node = self.node(name);
        self.start_again(Node { clock: Some(clock), ..node })
    }

    /// Starts a node again, at the addresses it had.
    pub(crate) fn start_again(&self, node: Node) -> Node {
        drop(node.process);
        let own = format!("{}.toml", node.name);
        let config = if self.place.path(&own).exists() { &*own } else { "agon.toml" };
        let mut command = self.place.command(&["serve", "--config", config, "--json"]);
        if let Some(clock) = node.clock {
            let library = FAKETIME.iter().find(|path| Path::new(path).exists());
            command.env("LD_PRELOAD", library.expect("libfaketime; scripts/test installs it"));
            command.env("FAKETIME", clock).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        }
        command.args(["--store", &self.url, "--tcp", &node.tcp, "--http", &node.http]);
        if let Some(bus) = &self.bus {
            command.args(["--bus", &bus.url()]);
        }
        let file = self.place.path(&format!("{}.stderr", node.name));
        let stderr = File::options().create(true).append(true).open(file).expect("a file");
        command.stdout(Stdio::null()).stderr(stderr);
        Node { process: Some(Process(command.spawn().expect("agon starts"))), ..node }
    }

    /// The running tournaments of each node, by its address, as `agon cluster status` shows them.
    pub(crate) fn owners(&self) -> BTreeMap<String, Vec<String>> {
        let (_, said) = self.place.agon(&["cluster", "status", "--json", "--store", &self.url]);
        let Ok(said) = serde_json::from_str::<Value>(&said) else { return BTreeMap::new() };
        let nodes = said["nodes"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let own = nodes.map(|node| {
            let tournaments = node["tournaments"].as_array().into_iter().flatten();
            (text(&node["address"]), tournaments.map(text).collect())
        });
        own.collect()
    }

    /// Everything that a node has written on stderr.
    pub(crate) fn said_by(&self, node: &Node) -> String {
        let file = self.place.path(&format!("{}.stderr", node.name));
        std::fs::read_to_string(file).unwrap_or_default()
    }

    /// The events of all streams whose names begin so, as (stream, event).
    pub(crate) fn events(&self, prefix: &str) -> Vec<(String, Value)> {
        let Ok(log) = PostgresLog::open_read_only(&self.url) else { return Vec::new() };
        let streams = log.streams().unwrap_or_default().into_iter();
        let own = streams.map(|(name, _)| name).filter(|name| name.starts_with(prefix));
        let events = own.flat_map(|name| {
            let lines = log.load(&name, 0).unwrap_or_default();
            let event = |line: String| serde_json::from_str(&line).expect("lines are JSON");
            lines.into_iter().map(move |line| (name.clone(), event(line)))
        });
        events.collect()
    }

    pub(crate) fn log_len(&self) -> u64 {
        let log = PostgresLog::open_read_only(&self.url);
        let streams = log.and_then(|log| log.streams()).unwrap_or_default();
        streams.iter().map(|(_, version)| version).sum()
    }

    pub(crate) fn is_over(&self, tournament: &str) -> bool {
        self.events("lobby").iter().any(|(_, event)| {
            event["type"] == "tournament-finished" && event["data"]["tournament"] == tournament
        })
    }

    /// Checks that the log follows from the rules and charges nobody; returns the accepted answers
    /// by request.
    pub(crate) fn check(&self) -> BTreeMap<String, Value> {
        let (code, said) = self.place.agon(&["verify", "--quiet", &self.url]);
        assert_eq!(code, Some(0), "{said}");
        let mut answers = BTreeMap::new();
        for (stream, event) in self.events("match/").into_iter().chain(self.events("tournament/")) {
            let kind = event["type"].as_str().unwrap_or_default();
            let is_fault = matches!(
                kind,
                "player-left" | "player-faulted" | "wait-expired" | "player-dropped"
            );
            assert!(!is_fault, "{stream}: {event}");
            if kind == "answer-accepted" {
                let tournament = stream.split('/').nth(1).expect("match/TOURNAMENT/ID");
                let request = event["data"]["request"].as_str().expect("a request");
                let id = format!("{tournament}:{request}");
                let before = answers.insert(id.clone(), event["data"]["answer"].clone());
                assert_eq!(before, None, "{id} was accepted twice");
            }
        }
        answers
    }

    /// Checks that every answer in the record of a player is in the log.
    pub(crate) fn has_all_answers(&self, player: &str, answers: &BTreeMap<String, Value>) {
        let text = std::fs::read_to_string(self.place.path(&format!("{player}.record")));
        let text = text.expect("a record");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line"));
        let own: Vec<Value> = lines.filter(|line| line["type"] == "answer").collect();
        assert!(!own.is_empty(), "{player} answered");
        for line in own {
            let id = line["id"].as_str().expect("an id");
            assert!(answers.contains_key(id), "{player}'s answer to {id} is lost");
        }
    }

    /// A player that keeps a record of its answers and plays one tournament.
    pub(crate) fn player(&self, nodes: &[&Node], name: &str, bot: &str) -> Process {
        let addresses: Vec<&str> = nodes.iter().map(|node| node.tcp.as_str()).collect();
        self.player_at(&addresses.join(","), name, bot)
    }

    /// The same, with the addresses of the servers.
    pub(crate) fn player_at(&self, addresses: &str, name: &str, bot: &str) -> Process {
        let line = format!("'{AGON}' bot {bot} | tee -a {name}.record");
        self.place.player(addresses, name, &["--no-sandbox", "--", "sh", "-c", &line])
    }
}

impl Drop for Cluster {
    /// Shows what the nodes said if a test fails.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for name in ["a", "b", "c"] {
            let said = std::fs::read_to_string(self.place.path(&format!("{name}.stderr")));
            eprintln!("--- node {name}\n{}", said.unwrap_or_default());
        }
    }
}

/// A node.
pub(crate) struct Node {
    name: String,
    pub(crate) tcp: String,
    pub(crate) http: String,
    /// How wrong the clock of its machine is.
    clock: Option<&'static str>,
    process: Option<Process>,
}

impl Node {
    pub(crate) fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the node was started")
    }

    /// Kills the node, as if its machine lost power.
    pub(crate) fn kill(&mut self) {
        self.process = None;
    }

    /// Sends a request; returns the connection.
    fn request(&self, method: &str, path: &str, body: &str) -> Option<TcpStream> {
        self.request_as("", method, path, body)
    }

    /// The status and the body of the answer to an operator.
    pub(crate) fn order(&self, path: &str, body: &str, token: &str) -> Option<(u16, String)> {
        let mut answer = String::new();
        let header = format!("authorization: Bearer {token}\r\n");
        self.request_as(&header, "POST", path, body)?.read_to_string(&mut answer).ok()?;
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        Some((status, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    fn request_as(&self, header: &str, method: &str, path: &str, body: &str) -> Option<TcpStream> {
        let mut socket = TcpStream::connect(&self.http).ok()?;
        let patience = std::time::Duration::from_secs(10);
        socket.set_read_timeout(Some(patience)).expect("a timeout");
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             {header}content-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        );
        socket.write_all(request.as_bytes()).ok()?;
        Some(socket)
    }

    /// The lines of an answer that goes on, such as a stream of events.
    pub(crate) fn lines(&self, path: &str) -> impl Iterator<Item = String> + use<> {
        let socket = self.request("GET", path, "").expect("the node answers");
        BufReader::new(socket).lines().map_while(Result::ok)
    }

    /// The status and the body of a page; `None` if the node does not answer.
    pub(crate) fn get(&self, path: &str) -> Option<(u16, String)> {
        self.send("GET", path, "")
    }

    /// The status and the body of an answer; `None` if the node does not answer.
    pub(crate) fn send(&self, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
        let mut answer = String::new();
        self.request(method, path, body)?.read_to_string(&mut answer).ok()?;
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        Some((status, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.get("/healthz?ready").is_some_and(|(status, _)| status == 200)
    }

    pub(crate) fn await_ready(&self) {
        until(&format!("node {} plays", self.name), || self.is_ready());
    }

    pub(crate) fn await_standby(&self) {
        until(&format!("node {} stands by", self.name), || {
            let answer = self.get("/healthz?ready");
            answer.is_some_and(|(status, body)| status == 503 && body.contains("stands by"))
        });
    }
}
