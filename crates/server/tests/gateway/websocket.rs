//! The native wire over WebSocket.

use crate::support::websocket::{Client, Heard, handshake};
use crate::support::{HouseBots, Server, Setup, announcement, answer, named, player, until};
use agon_wire::websocket::Opcode;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn players_on_both_transports_play_a_cup() {
    let server = Server::start();
    let bob = player(&server, "bob", "greedy");
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    until("both are in line", || server.line().len() == 2);
    server.announce(announcement("cup", "yahtzee-class", 3, 2));
    let mut bots = HouseBots::new();
    loop {
        let Heard::Message(message) = ann.hear() else { panic!("the connection stays") };
        if message["type"] == "request" {
            ann.say(&answer(&mut bots, "ann", "greedy", &message));
        } else if message["about"] == "tournament-over" {
            break;
        }
    }
    until("the cup is over", || server.finished("cup").is_some());
    let results = server.past_results("cup");
    assert!(results.standings.iter().all(|summary| summary.faults.is_empty()), "{results:?}");
    drop((ann, bob));
    server.verify();
}

#[test]
fn frames_in_parts_and_control_frames_are_understood() {
    let server = Server::start();
    let mut ann = server.connect_websocket();
    let hello = br#"{"type":"hello","protocol":1,"name":"test"}"#;
    ann.frame_with(0x01, &hello[..10]);
    ann.frame(Opcode::Ping, b"are you there?");
    ann.frame_with(0x00, &hello[10..20]);
    ann.frame_with(0x80, &hello[20..]);
    assert_eq!(ann.hear(), Heard::Pong(b"are you there?".to_vec()));
    ann.frame(Opcode::Pong, b"unasked");
    ann.say(r#"{"type":"ping"}"#);
    ann.expect("pong", "");
    // The server answers a close frame.
    ann.frame(Opcode::Close, &1000u16.to_be_bytes());
    assert_eq!(ann.hear(), Heard::Close(Some(1000)));
    assert_eq!(ann.hear(), Heard::End);
}

#[test]
fn invalid_message_is_reported() {
    let mut setup = Setup::default();
    setup.limits.line_bytes_max = 200;
    let server = Server::with(setup);
    let mut ann = server.connect_websocket();
    ann.log_in("ann");
    ann.frame(Opcode::Binary, b"{\"type\":\"ping\"}");
    assert_eq!(ann.expect("error", "binary")["code"], "malformed");
    ann.frame(Opcode::Text, &[b'x'; 201]);
    assert_eq!(ann.expect("error", "more than 200 bytes")["code"], "malformed");
    // Too long in parts, each of which is not.
    ann.frame_with(0x01, &[b'x'; 150]);
    ann.frame_with(0x00, &[b'x'; 150]);
    ann.frame_with(0x80, &[b'x'; 150]);
    assert_eq!(ann.expect("error", "more than 200 bytes")["code"], "malformed");
    ann.frame(Opcode::Text, &[0xff, 0xfe]);
    assert_eq!(ann.expect("error", "utf-8")["code"], "malformed");
    ann.say("");
    assert_eq!(ann.expect("error", "not JSON")["code"], "malformed");
    // A frame is a message: two lines in one are none.
    ann.say("{\"type\":\"ping\"}\n{\"type\":\"ping\"}");
    assert_eq!(ann.expect("error", "not JSON")["code"], "malformed");
    ann.say("{\"type\":\"ping\"}\n");
    ann.expect("pong", "");
}

#[test]
fn broken_frames_end_the_connection_with_a_reason() {
    let server = Server::start();
    let broken: [(&[u8], &str); 5] = [
        (b"\x81\x02{}", "not masked"),
        (b"\xf1\x80\0\0\0\0", "reserved"),
        (b"\x83\x80\0\0\0\0", "opcode"),
        (b"\x80\x80\0\0\0\0", "no message"),
        (b"\x09\x80\0\0\0\0", "control"),
    ];
    for (bytes, why) in broken {
        let mut stranger = server.connect_websocket();
        stranger.stream.write_all(bytes).unwrap();
        assert_eq!(stranger.expect("error", why)["code"], "malformed");
        assert_eq!(stranger.hear(), Heard::Close(Some(1002)));
        assert_eq!(stranger.hear(), Heard::End);
    }
}

/// The server's whole reply to the head of a request, up to the end of the connection.
fn answer_to(server: &Server, head: &str) -> String {
    let mut socket = TcpStream::connect(server.http).unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    socket.write_all(head.as_bytes()).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn handshakes_that_are_none_are_refused() {
    let server = Server::start();
    let close = "connection: close\r\n";
    let good = handshake(close);
    let cases = [
        (format!("GET /api/v1/play HTTP/1.1\r\nhost: test\r\n{close}\r\n"), "426"),
        (good.replace("version: 13", "version: 8"), "426"),
        (good.replace("upgrade: websocket", "upgrade: h2c"), "426"),
        (good.replace("dGhlIHNhbXBsZSBub25jZQ==", "short"), "400"),
        (good.replace("GET", "POST"), "405"),
        (handshake(&format!("{close}origin: http://elsewhere.test\r\n")), "403"),
    ];
    for (head, status) in cases {
        let text = answer_to(&server, &head);
        assert!(text.starts_with(&format!("HTTP/1.1 {status} ")), "{head}{text}");
        assert!(text.contains("application/problem+json"), "{text}");
    }
    // A page of this host may.
    let mut socket = TcpStream::connect(server.http).unwrap();
    socket.write_all(handshake("origin: http://test\r\n").as_bytes()).unwrap();
    let mut start = [0; 12];
    socket.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 101");
}

#[test]
fn half_a_handshake_is_not_waited_for() {
    let mut setup = Setup::default();
    setup.limits.login_ms_max = 50;
    let server = Server::with(setup);
    let good = handshake("");
    for head in ["", &good[..20], &good[..good.len() - 2]] {
        let text = answer_to(&server, head);
        assert!(!text.contains("101"), "{text}");
    }
    // A connection that became a WebSocket has to log in.
    let mut stranger = Client::open(TcpStream::connect(server.http).unwrap());
    stranger.expect("greeting", "");
    assert_eq!(stranger.expect("error", "")["code"], "login-timeout");
    assert_eq!(stranger.hear(), Heard::Close(Some(1000)));
    assert_eq!(stranger.hear(), Heard::End);
}

#[test]
fn player_reconnecting_over_the_other_transport_gets_the_same_request() {
    let server = Server::start();
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    ann.say(r#"{"type":"login","account":"ann","password":"the pw of all","register":true}"#);
    let token = ann.expect("welcome", "ann")["token"].as_str().unwrap().to_owned();
    let mut duel = announcement("duel", "yahtzee-queue", 1, 0);
    duel.selection = named(&["ann", "house:greedy"]);
    server.announce(duel);
    let request = std::iter::from_fn(|| ann.hear()).find(|message| message["type"] == "request");
    let request = request.expect("a request");
    // Taken over by a WebSocket: the same request, and it is answered there.
    let mut socket = server.connect_websocket();
    socket.log_in_with(&token);
    socket.expect("welcome", "ann");
    let mut again = socket.expect_soon("request");
    // It comes with the time that is left.
    assert!(again["deadline_ms"].as_u64() <= request["deadline_ms"].as_u64(), "{again}");
    again["deadline_ms"] = request["deadline_ms"].clone();
    assert_eq!(again, request);
    ann.expect("error", "taken-over");
    assert_eq!(ann.hear(), None);
    socket.say(&answer(&mut HouseBots::new(), "ann", "greedy", &again));
    let next = socket.expect_soon("request");
    assert_ne!(next["id"], request["id"]);
    // Lost, and back over TCP.
    drop(socket);
    until("ann is missed", || server.log_text().contains("player-left"));
    let mut ann = server.connect();
    ann.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    ann.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
    let found = std::iter::from_fn(|| ann.hear()).find(|message| message["type"] == "request");
    assert_eq!(found.expect("a request")["id"], next["id"]);
}
