//! Hundreds of kinds of malformed lines, over both transports, before and after the login, while a
//! tournament goes on: each gets its typed reply, and the tournament is the same to the byte.

use crate::garbage::{Kind, Meant, kinds};
use crate::kill::accepted;
use crate::support::{Place, until};
use crate::wire::{BOTH, Transport, Watched, Wire, connect, house_answer, page};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};

/// After so many kinds a connection is given up for a new one: a hundred would be a flood.
const KINDS_A_CONNECTION: usize = 50;

/// By how much garbage may make the server larger.
const GROWTH_KB_MAX: u64 = 48 * 1024;

/// How far whoever sends garbage has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Connected,
    Greeted,
    LoggedIn,
}

const STAGES: [Stage; 3] = [Stage::Connected, Stage::Greeted, Stage::LoggedIn];

/// The code that a kind of line gets.
fn expected(meant: Meant, stage: Stage) -> &'static str {
    match (meant, stage) {
        (Meant::NoMessage, _) => "malformed",
        (_, Stage::Connected) | (Meant::Login(_), Stage::LoggedIn) => "unexpected",
        (Meant::Login(code), Stage::Greeted) => code,
        (Meant::Account(_), Stage::Greeted) => "not-logged-in",
        (Meant::Account(code), Stage::LoggedIn) => code,
    }
}

/// Somebody who sends garbage over one transport, at one stage.
struct Vandal {
    transport: Transport,
    stage: Stage,
    token: String,
    wire: Option<Wire>,
}

impl Vandal {
    fn open(&self, watched: &Watched) -> Wire {
        let mut wire = Wire::open(&watched.server, self.transport);
        match self.stage {
            Stage::Connected => {}
            Stage::Greeted => wire.say_hello(),
            Stage::LoggedIn => {
                wire.come_back(&self.token);
                wire.hear_until("welcome");
            }
        }
        wire
    }

    /// Sends one kind and looks at the reply.
    fn send(&mut self, watched: &Watched, number: usize, kind: &Kind) {
        let fresh = self.stage == Stage::Connected || number.is_multiple_of(KINDS_A_CONNECTION);
        let wire = match self.wire.take().filter(|_| !fresh) {
            Some(wire) => self.wire.insert(wire),
            None => {
                let wire = self.open(watched);
                self.wire.insert(wire)
            }
        };
        wire.say_bytes(&kind.bytes);
        // The server still accepts connections after any such input.
        wire.say_hello();
        wire.say(&json!({"type": "ping"}));
        let at = format!("{} {:?}: {:?} {:?}", self.stage as u8, self.transport, kind.name, {
            String::from_utf8_lossy(&kind.bytes[..kind.bytes.len().min(100)])
        });
        let mut replies = Vec::new();
        loop {
            let message = wire.hear().unwrap_or_else(|| panic!("{at}: closed"));
            match message["type"].as_str() {
                Some("pong") => break,
                Some("greeting") => {}
                _ => replies.push(message),
            }
        }
        let lines = self.transport == Transport::Tcp && kind.bytes.contains(&b'\n');
        assert!(!replies.is_empty(), "{at}: nothing was said about it");
        assert!(lines || replies.len() == 1, "{at}: {replies:?}");
        for reply in replies {
            assert_eq!(reply["type"], "error", "{at}: {reply}");
            assert_eq!(reply["code"], expected(kind.meant, self.stage), "{at}: {reply}");
            let detail = reply["detail"].as_str().expect("a sentence");
            assert!(!detail.is_empty() && detail.len() < 1_000, "{at}: {reply}");
        }
    }
}

/// Somebody who plays as a house player does.
fn player(watched: &Watched, name: &'static str, house: &'static str) -> Wire {
    let transport = if house == "random" { Transport::Tcp } else { Transport::WebSocket };
    let mut wire = Wire::open(&watched.server, transport);
    wire.log_in(name);
    wire
}

/// Answers everything that is asked until the connection ends.
fn play_on(mut wire: Wire, name: &str, house: &str) {
    while let Some(message) = wire.hear() {
        if message["type"] == "request" {
            wire.say(&house_answer("yahtzee", house, name, &message));
        }
    }
}

/// The most memory the server ever had, in kilobytes.
fn peak_kb(watched: &Watched) -> u64 {
    let path = format!("/proc/{}/status", watched.server.process.0.id());
    let text = std::fs::read_to_string(path).expect("a process");
    let line = text.lines().find(|line| line.starts_with("VmHWM:")).expect("its peak");
    line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).expect("a number")
}

/// The outcome of a tournament: its page, its decisions, and the server's memory.
struct Cup {
    results: Value,
    decisions: BTreeMap<String, Value>,
    peak_kb: u64,
}

/// Vandals of every sort. One account for each: a second login would take the first one's
/// connection.
fn vandals(watched: &Watched) -> Vec<Vandal> {
    let all = BOTH.into_iter().flat_map(|transport| STAGES.map(|stage| (transport, stage)));
    let all = all.map(|(transport, stage)| {
        let name = format!("vandal {transport:?} {stage:?}");
        let welcome = Wire::open(&watched.server, transport).log_in(&name);
        let token = welcome["token"].as_str().expect("a token").to_owned();
        Vandal { transport, stage, token, wire: None }
    });
    all.collect()
}

/// Plays a cup of four; between two answers of the first player `disturb` has its way.
fn cup(mut disturb: impl FnMut(&Watched, &mut [Vandal]) -> bool) -> Cup {
    let place = Place::new("");
    let watched = Watched::start(&place, &["--seed", "17"]);
    let mut first = player(&watched, "ann", "greedy");
    let others = [("bob", "random"), ("cat", "greedy"), ("dan", "random")];
    let wires = others.map(|(name, house)| (player(&watched, name, house), name, house));
    let slow = json!({"policy": {"match": {"best_of": 15, "time": {"answer_ms": 600_000}}}});
    watched.announce("cup", "yahtzee-class", &["ann", "bob", "cat", "dan"], &slow);
    let players =
        wires.map(|(wire, name, house)| std::thread::spawn(move || play_on(wire, name, house)));
    let mut vandals = vandals(&watched);
    let mut asked = first.hear_until("request");
    // Nothing can end while ann's match goes on, and ann waits for the vandals.
    while disturb(&watched, &mut vandals) {
        first.say(&house_answer("yahtzee", "greedy", "ann", &asked));
        asked = first.hear_until("request");
    }
    assert!(!place.is_over("cup"), "all of it happened while the cup went on");
    first.say(&house_answer("yahtzee", "greedy", "ann", &asked));
    let first = std::thread::spawn(move || play_on(first, "ann", "greedy"));
    until("the cup is over", || place.is_over("cup"));
    let shown: Value = serde_json::from_str(&page(&watched.server, "/api/v1/tournaments/cup"))
        .expect("pages are JSON");
    let cup = Cup {
        results: shown["results"].clone(),
        decisions: accepted(&place),
        peak_kb: peak_kb(&watched),
    };
    assert_eq!(place.faults(), Vec::<String>::new());
    watched.finish(&place, "cup");
    first.join().expect("ann's own checks hold");
    players.into_iter().for_each(|player| player.join().expect("a player's own checks hold"));
    cup
}

#[test]
fn malformed_lines_disturb_no_tournament() {
    let all = kinds();
    let mut different: Vec<&[u8]> = all.iter().map(|kind| kind.bytes.as_slice()).collect();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() >= 200 && different.len() == all.len(), "{} kinds", different.len());
    eprintln!("{} kinds", all.len());

    let undisturbed = cup(|_, _| false);
    let mut sent = 0;
    let disturbed = cup(|watched, vandals| {
        let few = all.iter().enumerate().skip(sent).take(4);
        for (number, kind) in few {
            vandals.iter_mut().for_each(|vandal| vandal.send(watched, number, kind));
            sent += 1;
        }
        sent < all.len()
    });
    assert_eq!(sent, all.len());
    assert_eq!(undisturbed.results.to_string(), disturbed.results.to_string());
    assert_eq!(undisturbed.decisions, disturbed.decisions);
    let (before, after) = (undisturbed.peak_kb, disturbed.peak_kb);
    eprintln!("{before} kB undisturbed, {after} kB with garbage");
    assert!(after <= before + GROWTH_KB_MAX, "{before} kB grew to {after} kB");
}

#[test]
fn other_protocols_on_the_http_port_are_refused_or_closed() {
    let place = Place::new("[limits]\nlogin_ms_max = 500\n");
    let watched = Watched::start(&place, &[]);
    let address = watched.server.said["http"].as_str().expect("an address");
    // A whole request is no other protocol here.
    let other = |bytes: &[u8]| !bytes.starts_with(b"GET / HTTP/1.1");
    let all = kinds();
    let others = all.iter().filter(|kind| kind.name == "another protocol" && other(&kind.bytes));
    for kind in others {
        let mut socket = connect(address);
        // It may be closed over what it did not read.
        let _ = socket.write_all(&kind.bytes);
        let _ = socket.shutdown(std::net::Shutdown::Write);
        let mut said = Vec::new();
        let _ = socket.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let http = said.is_empty() || said.starts_with("HTTP/1.1 4");
        assert!(http, "{:?} got {said:?}", String::from_utf8_lossy(&kind.bytes));
    }
    assert!(page(&watched.server, "/healthz").contains(r#""status":"ok""#));
    drop(watched);
    let said = std::fs::read_to_string(place.path("stderr")).expect("a file");
    assert!(!said.contains("panicked"), "{said}");
    place.verify();
}
