//! Programs of other systems: what they are told, they are told when it is durable.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use agon_core::lobby::{Selection, Standing, Window};
use agon_server::Peers;
use agon_wire::fish::Vocabulary;
use agon_wire::peer::Language;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use support::gate::Gate;
use support::{Server, Setup, announcement, until};

/// The bytes that arrived on a socket so far.
fn heard(socket: &mut TcpStream) -> String {
    let mut bytes = [0; 4_096];
    match socket.read(&mut bytes) {
        Ok(count) => String::from_utf8_lossy(&bytes[..count]).into_owned(),
        Err(error) if error.kind() == ErrorKind::WouldBlock => String::new(),
        Err(error) => panic!("{error}"),
    }
}

/// A server's port for Fish programs, where two to `at_most` make a tournament.
fn fish_port(server: &Server, at_most: u32) -> SocketAddr {
    let mut series = announcement("fish", "fish", 1, 0);
    series.policy.rules.time.answer_ms = 1_000;
    series.selection = Selection::SignUp(Window {
        at_least: 2,
        at_most,
        wait_ms: 600_000,
        second_wait_ms: 600_000,
        second_at_least: 2,
        repeat: true,
    });
    let language = Language::Fish(Some(Vocabulary::Call));
    let (sign_up_ms, series) = (60_000, Arc::new(series));
    server.serve_peers(Peers {
        language,
        strict_names: false,
        sign_up_ms,
        order_ms: 60_000,
        tls: false,
        series,
    })
}

#[test]
fn a_tournament_is_announced_to_them_when_it_is_in_the_log() {
    let gate = Arc::new(Gate::default());
    let server = Server::on_gate(Arc::clone(&gate), Setup::default());
    let address = fish_port(&server, 2);
    gate.close_for("tournament/");
    let mut players = ["ann", "bob"].map(|name| {
        let mut socket = TcpStream::connect(address).unwrap();
        write!(socket, "{name:?}").unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    });
    until("it is on its way to the log", || gate.holds("tournament-created") == 1);
    // Everything sent by now has been written once this many other requests were answered.
    for _ in 0..50 {
        server.http("GET", "/healthz", None, "").expect(200);
    }
    assert_eq!(players.each_mut().map(heard), ["", ""]);
    gate.open();
    for socket in &mut players {
        let mut said = String::new();
        until("it begins", || {
            said.push_str(&heard(socket));
            said.contains("start")
        });
    }
}

fn accounts(server: &Server) -> u64 {
    let metrics = server.http("GET", "/metrics", None, "").expect(200).body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("agon_accounts "));
    line.expect("a gauge").parse().expect("a number")
}

#[test]
fn one_address_has_so_many_sign_ups_a_minute() {
    let mut setup = Setup::default();
    setup.limits.sign_ups_per_minute_max = 20;
    let server = Server::with(setup);
    let address = fish_port(&server, 1_000);
    let before = accounts(&server);
    let sockets: Vec<TcpStream> = (0..60)
        .map(|number| {
            let mut socket = TcpStream::connect(address).unwrap();
            write!(socket, "\"name{number}\"").unwrap();
            socket
        })
        .collect();
    until("most are turned away", || {
        let metrics = server.http("GET", "/metrics", None, "").expect(200).body;
        let turned = "agon_connections_refused_total ";
        let line = metrics.lines().find_map(|line| line.strip_prefix(turned));
        line.is_some_and(|count| count.parse::<u64>().unwrap() >= 38)
    });
    let made = accounts(&server) - before;
    assert!((20..=22).contains(&made), "{made}");
    drop(sockets);
    // Names that never played are free again.
    until("they are forgotten", || accounts(&server) == before);
    assert!(server.log_text().contains("account-dropped"));
}

/// Returns whether the server has closed a socket; what came before is passed over.
fn is_closed(socket: &mut TcpStream) -> bool {
    let mut bytes = [0; 4_096];
    match socket.read(&mut bytes) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}

fn sign_up(address: SocketAddr, name: &str) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    write!(socket, "{name:?}").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

fn signed_up(server: &Server, id: &str) -> Vec<String> {
    match server.standing(id) {
        Some(Standing::Open(sign_up)) => sign_up.players.iter().map(|p| p.to_string()).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_blacklisted_program_is_out_of_its_sign_up_and_of_its_tournament() {
    let server = Server::start();
    let address = fish_port(&server, 2);
    server.register_operator("olga", "pw of olga");
    let login = r#"{"account":"olga","password":"pw of olga"}"#;
    let session = server.http("POST", "/api/v1/sessions", None, login).expect(201).json();
    let token = session["token"].as_str().unwrap().to_owned();
    let list = |name: &str| {
        let (path, why) = (format!("/api/v1/blacklist/{name}"), r#"{"why":"a test"}"#);
        server.http("POST", &path, Some(&token), why).expect(204);
    };
    // One waits, and is listed before anybody else comes.
    let mut eve = sign_up(address, "eve");
    until("eve waits", || signed_up(&server, "fish") == ["eve"]);
    list("eve");
    until("eve is sent away", || is_closed(&mut eve));
    assert_eq!(signed_up(&server, "fish"), Vec::<String>::new());
    // One is listed while it plays: the other has won.
    let (mut ann, mut bob) = (sign_up(address, "ann"), sign_up(address, "bob"));
    until("it begins", || heard(&mut ann).contains("start"));
    list("ann");
    until("ann is sent away", || is_closed(&mut ann));
    write!(bob, "\"void\"").unwrap();
    until("it is over", || server.finished("fish").is_some());
    let winners = server.finished("fish").unwrap();
    assert!(winners.iter().all(|winner| winner.as_str() != "ann"), "{winners:?}");
    let mut again = sign_up(address, "ann");
    until("ann is not let in again", || is_closed(&mut again));
}
