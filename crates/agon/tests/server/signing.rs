//! Signing up on the wires of other systems: names, waits, the waiting list, and whom they meet.

use crate::peers::Port;
use crate::support::{Client, until};
use crate::wire::page;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// A connection made by hand.
pub(crate) struct Peer(TcpStream);

impl Peer {
    pub(crate) fn open(port: &Port, first: &str) -> Peer {
        let mut socket = TcpStream::connect(port.address()).expect("the server is there");
        socket.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        socket.write_all(first.as_bytes()).expect("it reads");
        Peer(socket)
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).expect("it reads");
    }

    /// What it is told next, as text; the server sends nothing around its values.
    pub(crate) fn hear(&mut self, expected: &str) {
        let mut bytes = vec![0; expected.len()];
        self.0.read_exact(&mut bytes).expect("something is said");
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
    }

    /// The value it is told next.
    pub(crate) fn value(&mut self) -> Value {
        let mut bytes = Vec::new();
        loop {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("something is said");
            bytes.push(byte[0]);
            if let Ok(value) = serde_json::from_slice(&bytes) {
                return value;
            }
        }
    }

    /// Everything until the server closes the connection.
    pub(crate) fn rest(&mut self) -> String {
        let mut text = String::new();
        self.0.read_to_string(&mut text).expect("it is closed");
        text
    }
}

pub(crate) fn read(port: &Port, path: &str) -> Value {
    serde_json::from_str(&page(&port.server, &format!("/api/v1{path}"))).expect("JSON")
}

fn entered(port: &Port, tournament: &str) -> Value {
    read(port, &format!("/tournaments/{tournament}"))["plan"]["players"].clone()
}

#[test]
fn names_that_are_none_or_taken_are_not_let_in() {
    let port = Port::open("fish", "wait_ms = 600000");
    let _ann = Client::logged_in(&port.server.address, "ann");
    for first in [
        r#""ann""#,
        r#""operator""#,
        r#""abcdefghijklm""#,
        r#""eve7""#,
        "eve ",
        "7 ",
        r#"["eve"]"#,
        r#"{"type":"signup_request","value":"house:greedy"}"#,
        r#"{"type":"signup_request","value":"house:new"}"#,
        r#"{"type":"tournament_ready","value":true}"#,
        "\"\u{1}\"",
        "GET / HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(Peer::open(&port, first).rest(), "", "{first}");
    }
    let _eve = Peer::open(&port, r#""eve""#);
    until("eve is signed up", || entered(&port, "fish") == json!(["eve"]));
    assert_eq!(Peer::open(&port, r#""eve""#).rest(), "", "one at a time");
    assert_eq!(read(&port, "/accounts/eve")["wire"], "fish");
    assert_eq!(read(&port, "/accounts/ann")["wire"], "tcp");
    let said = Client::connect(&port.server.address);
    let mut said = said;
    said.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    said.say(r#"{"type":"login","account":"eve","password":"x"}"#);
    assert_eq!(said.hear_until("error")["code"], "wrong-credentials", "for that wire only");
}

#[test]
fn lenient_names_hold_digits_and_lack_quotes() {
    let port = Port::open("fish", "wait_ms = 600000\nlenient_names = true");
    let _one = Peer::open(&port, "eve7");
    until("eve7 is signed up", || entered(&port, "fish") == json!(["eve7"]));
    let _other = Peer::open(&port, "\"bob2\"");
    until("bob2 is signed up", || entered(&port, "fish") == json!(["eve7", "bob2"]));
}

#[test]
fn too_few_are_sent_home_and_the_next_ones_may_come() {
    let settings = "at_least = 3\nat_most = 4\nwait_ms = 400\nsecond_wait_ms = 400\n\
                    second_at_least = 2\nanswer_ms = 60000";
    let port = Port::open("fish", settings);
    assert_eq!(Peer::open(&port, r#""eve""#).rest(), "", "alone");
    assert_eq!(read(&port, "/tournaments/fish")["standing"], "called-off");
    let mut eve = Peer::open(&port, r#""eve""#);
    let mut bob = Peer::open(&port, r#""bob""#);
    // Two are enough for the second wait.
    eve.hear(r#"["start",[true]]"#);
    bob.hear(r#"["start",[true]]"#);
    drop((eve, bob));
    port.verify();
}

#[test]
fn who_comes_while_others_play_waits_for_the_next_tournament() {
    let port = Port::open("fish", "at_most = 2\nanswer_ms = 60000");
    let sign_up = |name: &str| format!(r#"{{"type":"signup_request","value":"{name}"}}"#);
    let confirmed = |value: bool| format!(r#"{{"type":"signup_confirmation","value":{value}}}"#);
    let mut ann = Peer::open(&port, &sign_up("ann"));
    ann.hear(&confirmed(true));
    let mut bob = Peer::open(&port, &sign_up("bob"));
    bob.hear(&confirmed(true));
    let start = r#"{"type":"tournament_start","value":true}"#;
    ann.hear(start);
    bob.hear(start);
    let mut cat = Peer::open(&port, &sign_up("cat"));
    cat.hear(&confirmed(false));
    assert_eq!(entered(&port, "fish-2"), json!(["cat"]));
    for player in [&mut ann, &mut bob] {
        player.say(r#"{"type":"tournament_ready","value":true}"#);
    }
    ann.hear(r#"{"type":"player_assign_color","value":"red"}"#);
    let wires = &read(&port, "/tournaments/fish/matches/r1m1")["wires"];
    assert_eq!(*wires, json!({"ann": "fish", "bob": "fish"}));
    drop((ann, bob));
    until("nobody is left", || read(&port, "/tournaments/fish")["standing"] == "over");
    drop(cat);
    port.verify();
}

#[test]
fn who_is_not_ready_is_out_and_charged_with_nothing() {
    let port = Port::open("fish", "at_most = 2\nanswer_ms = 60000");
    let mut ann = Peer::open(&port, r#"{"type":"signup_request","value":"ann"}"#);
    ann.hear(r#"{"type":"signup_confirmation","value":true}"#);
    let mut bob = Peer::open(&port, r#""bob""#);
    ann.hear(r#"{"type":"tournament_start","value":true}"#);
    ann.say(r#"{"type":"tournament_ready","value":false}"#);
    assert_eq!(ann.rest(), "");
    bob.hear(r#"["start",[true]]"#);
    bob.say(r#""void""#);
    bob.hear(r#"["end",[true]]"#);
    bob.say(r#""void""#);
    assert_eq!(bob.rest(), "");
    until("it is over", || read(&port, "/tournaments/fish")["standing"] == "over");
    let report = read(&port, "/tournaments/fish/report");
    assert_eq!((&report["winners"], &report["failing"]), (&json!(["bob"]), &json!([])));
    port.verify();
}

#[test]
fn a_native_player_and_one_of_another_system_meet() {
    let port = Port::open("fish", "at_most = 2\nanswer_ms = 60000");
    let plays = ["--bot", "house:greedy", "--sign-up", "fish"];
    let _ann = port.place.player(&port.server.address, "ann", &plays);
    until("ann is signed up", || entered(&port, "fish") == json!(["ann"]));
    let played = port.play("fish", &["eve".to_owned()]);
    assert_eq!(played.list("winners").len() + played.list("failing").len(), 1);
    assert_eq!(played.list("cheating"), Vec::<String>::new());
    assert_eq!(played.list("failing"), Vec::<String>::new());
    port.verify();
}
