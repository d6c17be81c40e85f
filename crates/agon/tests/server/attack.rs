//! Strangers beside honest players: readers of a large replay, and bodies that never come.
//!
//! `AGON_ATTACK_SECONDS=60` makes it last longer, and has it hold the server to its times.

use crate::support::{Place, Server, until};
use agon_core::lobby::{AccountKind, Role, TokenHash};
use agon_core::{AccountRegistered, Event, PlayerName, Timestamp, TokenIssued, record_lines};
use agon_store::{Append, Log, SqliteLog};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Honest players.
const PLAYERS: usize = 100;
/// Anonymous readers of the replay, half of whom do not read.
const READERS: usize = 1_000;
/// Bodies that never come.
const SLOW_BODIES: usize = 300;
/// How long honest players have for an answer.
const ANSWER_MS: u64 = 2_000;

/// Accounts that are there before the server starts; their tokens, the operator's first.
fn accounts(place: &Place) -> Vec<String> {
    std::fs::create_dir(place.path("agon-data")).expect("a folder");
    let log = SqliteLog::open(place.path("agon-data/agon.sqlite")).expect("a log");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_millis() as u64;
    let mut events: Vec<Event> = Vec::new();
    let mut tokens = Vec::new();
    for number in 0..=PLAYERS {
        let role = if number == 0 { Role::Operator } else { Role::Player };
        let account = PlayerName::new(&format!("p{number}")).expect("a name");
        let (kind, password) = (AccountKind::Program, None);
        events.push(AccountRegistered { account: account.clone(), kind, role, password }.into());
        let token = format!("{number:064x}");
        let (hash, expires_at) = (TokenHash::of(&token), now + 3_600_000);
        events.push(
            TokenIssued { account, token: hash, expires_at: Timestamp::from_ms(expires_at) }.into(),
        );
        tokens.push(token);
    }
    let lines = record_lines("lobby", 0, Timestamp::from_ms(now), &events);
    log.append(Append { stream: "lobby".into(), expected: 0, lines }).expect("a record");
    log.flush().expect("a log");
    tokens
}

/// One request; the status and the body.
fn request(address: &str, method: &str, path: &str, token: &str, body: &str) -> (u16, Vec<u8>) {
    let mut socket = TcpStream::connect(address).expect("a connection");
    socket.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let token = match token {
        "" => String::new(),
        token => format!("authorization: Bearer {token}\r\n"),
    };
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\n{token}\
         content-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(head.as_bytes()).expect("it is read");
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer[..answer.len().min(20)]).into_owned();
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    (status, answer)
}

/// The largest map a player may propose.
fn largest_map() -> Value {
    let cities: Vec<Value> =
        (0..100).map(|n| json!([format!("City number {n:02}"), [n % 30, n / 30]])).collect();
    let mut connections = serde_json::Map::new();
    for from in 0..100 {
        let to = (1..=3).map(|step| (from + step) % 100);
        let to: serde_json::Map<String, Value> =
            to.map(|to| (format!("City number {to:02}"), json!({"red": 3}))).collect();
        connections.insert(format!("City number {from:02}"), to.into());
    }
    json!({"width": 40, "height": 40, "cities": cities, "connections": connections})
}

/// An honest player, who answers at once.
fn play(address: &str, token: &str, over: &AtomicBool, answers: &AtomicU64) {
    let mut to = TcpStream::connect(address).expect("a connection");
    to.set_nodelay(true).expect("a socket");
    to.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    let mut from = BufReader::new(to.try_clone().expect("a socket"));
    writeln!(to, r#"{{"type":"hello","protocol":1,"name":"honest"}}"#).expect("it is read");
    writeln!(to, r#"{{"type":"login","token":"{token}"}}"#).expect("it is read");
    let mut line = String::new();
    while !over.load(Ordering::Relaxed) {
        match from.read_line(&mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(_) => continue,
        }
        let message: Value = serde_json::from_str(&line).expect("JSON");
        line.clear();
        if message["type"] != "request" {
            continue;
        }
        let (question, seat) = (&message["question"], message["seat"].as_u64().expect("a seat"));
        let boxes = &message["view"]["cards"][seat as usize]["boxes"];
        let open = || boxes.as_object()?.iter().find(|(_, points)| points.is_null());
        let answer = match question["ask"].as_str() {
            Some("keep") => json!({"keep": question["dice"]}),
            _ => json!({"score": open().expect("an open box").0}),
        };
        let reply = json!({"type": "answer", "id": message["id"], "answer": answer});
        if writeln!(to, "{reply}").is_err() {
            return;
        }
        answers.fetch_add(1, Ordering::Relaxed);
    }
}

/// A reader of the replay who begins again and again; every second one does not read.
async fn read_replay(http: String, path: String, reads: bool, over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        let Ok(mut socket) = tokio::net::TcpStream::connect(&http).await else { continue };
        let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let _ = socket.write_all(head.as_bytes()).await;
        let mut bytes = vec![0; 16 * 1024];
        while reads && let Ok(1..) = socket.read(&mut bytes).await {}
        // A refused reader does not wait as long as the answer asks it to.
        let pause = if reads { 100 } else { 1_000 };
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

/// A body of which one letter comes.
async fn never_send(http: String, over: Arc<AtomicBool>) {
    while !over.load(Ordering::Relaxed) {
        let Ok(mut socket) = tokio::net::TcpStream::connect(&http).await else { continue };
        let head = "POST /api/v1/sessions HTTP/1.1\r\nhost: localhost\r\n\
                    content-type: application/json\r\ncontent-length: 60\r\n\r\n{";
        let _ = socket.write_all(head.as_bytes()).await;
        let mut bytes = [0; 4_096];
        let refused = tokio::time::timeout(Duration::from_secs(3), socket.read(&mut bytes));
        let _ = refused.await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// A number of kilobytes the system knows of the server.
fn memory_kb(server: &Server, field: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.0.id()));
    let status = status.expect("a process");
    let value = status.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    value.trim().trim_end_matches(" kB").trim().parse().expect("a number")
}

/// Everything strangers do, on threads that give way to those of honest players.
fn attack(http: &str, path: &str, over: &Arc<AtomicBool>) -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .on_thread_start(|| {
            let _ = rustix::process::setpriority_process(None, 10);
        })
        .build()
        .expect("a runtime");
    for number in 0..READERS {
        let (http, path, over) = (http.to_owned(), path.to_owned(), Arc::clone(over));
        runtime.spawn(read_replay(http, path, number % 2 == 0, over));
    }
    for _ in 0..SLOW_BODIES {
        runtime.spawn(never_send(http.to_owned(), Arc::clone(over)));
    }
    runtime
}

#[test]
fn readers_and_slow_bodies_do_not_hurt_honest_players() {
    let seconds = std::env::var("AGON_ATTACK_SECONDS").ok().and_then(|text| text.parse().ok());
    let place = Place::new("");
    let tokens = accounts(&place);
    let server = Server::start(&place);
    let web = server.said["http"].as_str().expect("an address");
    let web = web.trim_start_matches("http://").trim_end_matches("/api/v1").to_owned();
    let announce = |body: &Value| {
        let body = body.to_string();
        let (status, answer) = request(&web, "POST", "/api/v1/tournaments", &tokens[0], &body);
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&answer));
    };
    announce(&json!({
        "id": "big", "preset": "trains", "config": {"map": largest_map()},
        "policy": {"greeting": "none", "farewell": "none"},
        "selection": {"by": "named", "players": ["house:buy-now", "house:random"]},
    }));
    until("there is a replay", || place.is_over("big"));
    let path = "/api/v1/tournaments/big/matches/r1m1/games/1/replay";
    let (status, replay) = request(&web, "GET", path, "", "");
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&replay));
    let (over, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let players: Vec<_> = tokens[1..]
        .iter()
        .map(|token| {
            let (address, token) = (server.address.clone(), token.clone());
            let (over, answers) = (Arc::clone(&over), Arc::clone(&answers));
            std::thread::spawn(move || play(&address, &token, &over, &answers))
        })
        .collect();
    until("all are here", || {
        let (_, lobby) = request(&web, "GET", "/api/v1/lobby", "", "");
        String::from_utf8_lossy(&lobby).contains(&format!("\"here\":{PLAYERS}"))
    });
    announce(&json!({
        "id": "honest", "preset": "yahtzee-class",
        "policy": {
            "format": {"kind": "round-robin"},
            "match": {"best_of": 99, "ties": "share", "time": {"answer_ms": ANSWER_MS}},
        },
        "selection": {"by": "line", "at_most": PLAYERS},
    }));
    until("they play", || answers.load(Ordering::Relaxed) > 1_000);
    let before_kb = memory_kb(&server, "VmRSS:");
    let runtime = attack(&web, path, &over);
    let (started, mut slowest) = (Instant::now(), Duration::ZERO);
    while started.elapsed() < Duration::from_secs(seconds.unwrap_or(5)) {
        let asked = Instant::now();
        let (status, answer) = request(&web, "GET", "/healthz", "", "");
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&answer));
        slowest = slowest.max(asked.elapsed());
        std::thread::park_timeout(Duration::from_millis(100));
    }
    let grown_kb = memory_kb(&server, "VmHWM:").saturating_sub(before_kb);
    let metrics = request(&web, "GET", "/metrics", &tokens[0], "").1;
    // Before the players leave: they are charged for that.
    let faults = place.faults();
    over.store(true, Ordering::Relaxed);
    runtime.shutdown_background();
    players.into_iter().for_each(|player| player.join().expect("a player"));
    eprintln!(
        "replay {} kB, {} answers, slowest /healthz {slowest:?}, memory grew by {grown_kb} kB, \
         {} faults",
        replay.len() / 1024,
        answers.load(Ordering::Relaxed),
        faults.len()
    );
    let metrics = String::from_utf8_lossy(&metrics).into_owned();
    for line in metrics.lines().filter(|line| line.contains("late") && !line.starts_with('#')) {
        eprintln!("{line}");
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(grown_kb < 200 * 1024, "{grown_kb} kB");
    if seconds.is_some() {
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    }
}
