//! Clocks of requests run from socket to socket: what waits inside the server is not counted.

use crate::support::websocket::{Client, Heard};
use crate::support::{HouseBots, Server, Setup, announcement, answer, named, until};
use agon_server::query::Query;
use agon_server::{Engine, Handle, StreamKey};
use agon_wire::websocket::{Opcode, encode};
use serde_json::Value;
use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long an answer may take here: much longer than a loaded machine needs for one.
const ANSWER_MS: u64 = 3_000;

/// Somewhat longer than that.
const TOO_LONG: Duration = Duration::from_millis(ANSWER_MS + 500);

fn start_duel(server: &Server) {
    let mut duel = announcement("duel", "yahtzee-class", 1, 0);
    duel.policy.rules.time.answer_ms = ANSWER_MS;
    duel.selection = named(&["ann", "house:greedy"]);
    server.announce(duel);
}

/// Events of the match of one type.
fn events(server: &Server, kind: &str) -> Vec<Value> {
    let text = server.log_text();
    let lines = text.lines().filter(|line| line.contains(r#""stream":"match/duel/"#));
    let events = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["type"] == kind).collect()
}

/// How long ann's first answer took, once it was accepted.
fn first_took_ms(server: &Server, request: &Value) -> u64 {
    let id = request["id"].as_str().unwrap().strip_prefix("duel:").unwrap();
    let mut took_ms = None;
    until("the answer is accepted", || {
        let accepted = events(server, "answer-accepted");
        let own = accepted.iter().find(|event| event["data"]["request"] == id);
        took_ms = own.map(|event| event["data"]["took_ms"].as_u64().unwrap_or(0));
        took_ms.is_some()
    });
    took_ms.unwrap()
}

fn wait(duration: Duration) {
    let started = Instant::now();
    until("time has passed", || started.elapsed() >= duration);
}

#[test]
fn a_request_that_was_not_written_yet_has_no_running_clock() {
    let mut setup = Setup::default();
    let limits = &mut setup.limits;
    (limits.outbox_lines_max, limits.write_ms_max) = (1_000_000, 60_000);
    (limits.lines_per_second_max, limits.lines_burst_max) = (1_000_000, 1_000_000);
    let server = Server::with(setup);
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    // ann does not read, so what she asks for piles up in the server.
    let mut pings = Vec::new();
    for _ in 0..1_000 {
        encode(&mut pings, Opcode::Ping, &[b'x'; 125], Some([1, 2, 3, 4]));
    }
    ann.stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut sent = 0;
    while sent < 100_000 && ann.stream.write_all(&pings).is_ok() {
        sent += 1_000;
    }
    assert!(sent >= 100_000, "the server reads on");
    start_duel(&server);
    until("the match runs", || !events(&server, "game-started").is_empty());
    wait(TOO_LONG);
    assert_eq!(events(&server, "player-faulted"), Vec::<Value>::new());
    // Now she reads, and answers what she finds.
    let request = loop {
        match ann.hear() {
            Heard::Message(message) if message["type"] == "request" => break message,
            Heard::End => panic!("the connection stays"),
            _ => {}
        }
    };
    ann.say(&answer(&mut HouseBots::new(), "ann", "greedy", &request));
    let took_ms = first_took_ms(&server, &request);
    assert!(took_ms < ANSWER_MS, "{took_ms}");
    assert_eq!(events(&server, "player-faulted"), Vec::<Value>::new());
}

/// Keeps the engine's thread busy with something.
struct Busy<F>(F);

impl<F: FnOnce() + Send + 'static> Query for Busy<F> {
    type Answer = ();

    fn streams(&self) -> Vec<StreamKey> {
        Vec::new()
    }

    fn answer(self, _: &mut Engine) {
        (self.0)();
    }
}

/// Holds the engine up until the sender is dropped.
fn hold(server: &Server) -> Sender<()> {
    let (held, until_dropped) = channel::<()>();
    let (entered, inside) = channel();
    let handle = server.handle.clone();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(handle.ask(Busy(move || {
            entered.send(()).unwrap();
            let _ = until_dropped.recv();
        })));
    });
    inside.recv().unwrap();
    held
}

fn asked(server: &Server) -> (Client<TcpStream>, Value) {
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    start_duel(server);
    let request = ann.expect_soon("request");
    (ann, request)
}

#[test]
fn an_answer_that_waits_in_the_server_is_in_time() {
    let server = Server::start();
    let (mut ann, request) = asked(&server);
    let held = hold(&server);
    ann.say(&answer(&mut HouseBots::new(), "ann", "greedy", &request));
    wait(TOO_LONG);
    drop(held);
    let took_ms = first_took_ms(&server, &request);
    assert!(took_ms < ANSWER_MS, "{took_ms}");
    assert_eq!(events(&server, "player-faulted"), Vec::<Value>::new());
}

#[test]
fn an_answer_that_was_read_too_late_is_late_however_busy_the_server_is() {
    let server = Server::start();
    let (mut ann, request) = asked(&server);
    let held = hold(&server);
    wait(TOO_LONG);
    ann.say(&answer(&mut HouseBots::new(), "ann", "greedy", &request));
    // Pongs come from the gateway, in order: the answer is on its way to the engine.
    ann.frame(Opcode::Ping, b"");
    assert_eq!(ann.hear(), Heard::Pong(Vec::new()));
    drop(held);
    until("ann is charged", || !events(&server, "player-faulted").is_empty());
    let fault = &events(&server, "player-faulted")[0]["data"];
    assert!(fault.to_string().contains("timeout"), "{fault}");
    let id = request["id"].as_str().unwrap().strip_prefix("duel:").unwrap();
    let accepted = events(&server, "answer-accepted");
    assert!(accepted.iter().all(|event| event["data"]["request"] != id), "{accepted:?}");
}

#[test]
fn silence_is_charged_although_others_keep_the_server_busy() {
    let mut setup = Setup::default();
    setup.limits.login_ms_max = 600_000;
    let server = Server::with(setup);
    let (_ann, _request) = asked(&server);
    // Whenever the engine has done something, more of it waits.
    let over = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> =
        (0..8).map(|_| keep_busy(server.handle.clone(), Arc::clone(&over))).collect();
    let mut bob = server.connect();
    bob.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    until("ann is charged", || {
        bob.say(r#"{"type":"ping"}"#);
        bob.expect("pong", "");
        !events(&server, "player-faulted").is_empty()
    });
    over.store(true, Ordering::SeqCst);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
}

fn keep_busy(engine: Handle, over: Arc<AtomicBool>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        while !over.load(Ordering::SeqCst) {
            let work = || std::thread::park_timeout(Duration::from_millis(2));
            runtime.block_on(engine.ask(Busy(work)));
        }
    })
}
