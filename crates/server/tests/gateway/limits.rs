//! Too fast, too silent, too many, too slow.

use crate::support::websocket::{Heard, handshake};
use crate::support::{Server, Setup, until};
use agon_wire::websocket::{Opcode, encode};
use std::io::Write;
use std::time::{Duration, Instant};

#[test]
fn fast_sender_is_read_slower_and_warned_once() {
    let mut setup = Setup::default();
    (setup.limits.lines_per_second_max, setup.limits.lines_burst_max) = (50, 5);
    let server = Server::with(setup);
    let started = Instant::now();
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    (0..20).for_each(|_| ann.say(r#"{"type":"ping"}"#));
    let mut kinds = Vec::new();
    while kinds.iter().filter(|kind| *kind == "pong").count() < 20 {
        let message = ann.hear().expect("nobody is cut off for that");
        let kind = if message["type"] == "error" { &message["code"] } else { &message["type"] };
        kinds.push(kind.as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.iter().filter(|kind| *kind == "slow-down").count(), 1, "{kinds:?}");
    // 21 lines, 5 at once, the others 20 ms apart: the server cannot have been faster.
    assert!(started.elapsed() >= Duration::from_millis(300), "{:?}", started.elapsed());
}

#[test]
fn a_websocket_that_answers_pings_stays_and_one_that_does_not_goes() {
    let mut setup = Setup::default();
    setup.limits.heartbeat_ms = 20;
    let server = Server::with(setup);
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    for _ in 0..5 {
        assert_eq!(ann.hear(), Heard::Ping);
        ann.frame(Opcode::Pong, b"");
    }
    ann.say(r#"{"type":"ping"}"#);
    ann.expect_soon("pong");
    let mut setup = Setup::default();
    (setup.limits.heartbeat_ms, setup.limits.silence_ms_max) = (20, 1_000);
    let server = Server::with(setup);
    let mut bob = server.connect_websocket();
    bob.log_in("bob");
    let end = std::iter::repeat_with(|| bob.hear()).find(|heard| *heard != Heard::Ping);
    assert_eq!(end, Some(Heard::Close(Some(1001))));
    assert_eq!(bob.hear(), Heard::End);
}

#[test]
fn over_tcp_silence_is_no_fault() {
    let mut setup = Setup::default();
    (setup.limits.heartbeat_ms, setup.limits.silence_ms_max) = (10, 300);
    let server = Server::with(setup);
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    ann.say(r#"{"type":"login","account":"ann","password":"the pw of all","register":true}"#);
    let said = std::iter::from_fn(|| ann.hear()).find(|message| message["type"] != "heartbeat");
    assert_eq!(said.expect("a welcome")["type"], "welcome");
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(900) {
        ann.expect("heartbeat", "");
    }
    ann.say(r#"{"type":"ping"}"#);
    let said = std::iter::from_fn(|| ann.hear()).find(|message| message["type"] != "heartbeat");
    assert_eq!(said.expect("still there")["type"], "pong");
}

#[test]
fn a_websocket_that_does_not_read_is_cut_off() {
    let mut setup = Setup::default();
    (setup.limits.outbox_lines_max, setup.limits.write_ms_max) = (4, 100);
    let server = Server::with(setup);
    let mut greedy = server.connect_websocket();
    greedy.log_in("greedy");
    let mut pings = Vec::new();
    for _ in 0..4096 {
        encode(&mut pings, Opcode::Text, br#"{"type":"ping"}"#, Some([1, 2, 3, 4]));
    }
    until("the connection is closed", || greedy.stream.write_all(&pings).is_err());
    until("the engine knows", || server.connections() == 0);
    // Others are served as before.
    server.connect_websocket().log_in("other");
}

#[test]
fn both_transports_share_their_places() {
    let mut setup = Setup::default();
    setup.limits.connections_per_address_max = 2;
    let server = Server::with(setup);
    let (tcp, mut socket) = (server.connect(), server.connect_websocket());
    let refused = server.http_head(&handshake("connection: close\r\n"));
    assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
    assert!(refused.contains("too many connections from this address"), "{refused}");
    drop(tcp);
    until("there is a place", || server.connections() == 1);
    until("a WebSocket takes it", || {
        let head = server.http_head(&handshake("connection: close\r\n"));
        head.starts_with("HTTP/1.1 101 ")
    });
    socket.log_in("ann");
}

#[test]
fn http_connections_from_one_address_have_a_bound() {
    let mut setup = Setup::default();
    setup.limits.connections_per_address_max = 2;
    let server = Server::with(setup);
    let held: Vec<_> = (0..2).map(|_| std::net::TcpStream::connect(server.http).unwrap()).collect();
    let healthz = "GET /healthz HTTP/1.1\r\nhost: test\r\nconnection: close\r\n\r\n";
    until("a third is turned away", || server.http_head(healthz).is_empty());
    drop(held);
    until("there is room again", || server.http_head(healthz).starts_with("HTTP/1.1 200 "));
}
