//! Signing up on the wires of other systems: names, waits, the waiting list, and whom they meet.

use crate::peers::Port;
use crate::support::{Client, until};
use crate::wire::{http, page};
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

    /// The next value from the server, as text. The server sends nothing around its values.
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
fn sign_ups_without_a_name_are_refused() {
    let port = Port::open("fish", "wait_ms = 600000");
    for first in [
        r#"["eve"]"#,
        r#""""#,
        r#"{"type":"signup_request","value":"house:greedy"}"#,
        r#""house:new""#,
        r#"{"type":"tournament_ready","value":true}"#,
        "\"\u{1}\"",
    ] {
        assert_eq!(Peer::open(&port, first).rest(), "", "{first}");
    }
    assert_eq!(entered(&port, "fish"), json!([]));
}

#[test]
fn strict_names_are_letters_in_quotes_and_nobody_elses() {
    let port = Port::open("fish", "wait_ms = 600000\nstrict_names = true");
    let _ann = Client::logged_in(&port.server.address, "ann");
    for first in [
        r#""ann""#,
        r#""operator""#,
        r#""abcdefghijklm""#,
        r#""eve7""#,
        "eve ",
        "7 ",
        r#"{"type":"signup_request","value":"ann"}"#,
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
fn programs_of_the_same_name_are_told_apart() {
    let port = Port::open("fish", "wait_ms = 600000\norder_ms = 60000");
    let _ann = Client::logged_in(&port.server.address, "ann");
    let firsts = [
        r#""AIClient""#,
        r#""AIClient""#,
        "AIClient",
        r#""ann""#,
        r#"{"type":"signup_request","value":"AIClient"}"#,
        "bot_7",
        r#""abcdefghijklmnop""#,
        "bot_7\n",
    ];
    let mut peers = firsts.map(|first| Peer::open(&port, first));
    let due = [
        "AIClient",
        "AIClient-2",
        "AIClient-3",
        "ann-2",
        "AIClient-4",
        "bot_7",
        "abcdefghijklmnop",
        "bot_7-2",
    ];
    until("all are signed up", || entered(&port, "fish") == json!(due));
    // The next player gets the first free number.
    peers[1] = Peer::open(&port, r#""Zoe""#);
    until("one is gone", || !entered(&port, "fish").to_string().contains("AIClient-2"));
    let _back = Peer::open(&port, r#""AIClient""#);
    until("the name is used again", || entered(&port, "fish")[8] == "AIClient-2");
}

#[test]
fn programs_of_one_name_play_a_whole_tournament() {
    let port = Port::open("fish", "at_least = 4\nat_most = 4\nanswer_ms = 60000");
    let played = port.play("fish", &["AIClient"; 4].map(str::to_owned));
    let names = ["AIClient", "AIClient-2", "AIClient-3", "AIClient-4"];
    assert_eq!(played.tournament["plan"]["players"], json!(names));
    assert!(played.list("winners").iter().all(|winner| names.contains(&winner.as_str())));
    assert_eq!(played.list("cheating"), Vec::<String>::new());
    assert_eq!(played.list("failing"), Vec::<String>::new());
    port.verify();
}

#[test]
fn http_request_is_answered_and_signs_nobody_up() {
    for system in ["fish", "trains"] {
        let port = Port::open(system, "wait_ms = 600000");
        for request in ["GET / HTTP/1.1\r\nhost: here\r\n\r\n", "POST /api HTTP/1.1\r\n\r\n{}"] {
            let answer = Peer::open(&port, request).rest();
            assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
            assert!(answer.contains(&format!("for {system} programs")), "{answer}");
        }
        assert_eq!(entered(&port, system), json!([]));
    }
}

#[test]
fn program_that_disconnects_before_the_start_loses_its_place() {
    let port = Port::open("fish", "at_least = 2\nat_most = 2\nwait_ms = 600000\nanswer_ms = 60000");
    let ghost = Peer::open(&port, r#""ghost""#);
    until("the ghost is signed up", || entered(&port, "fish") == json!(["ghost"]));
    drop(ghost);
    until("the ghost is gone", || entered(&port, "fish") == json!([]));
    let mut bob = Peer::open(&port, r#""bob""#);
    until("bob is signed up", || entered(&port, "fish") == json!(["bob"]));
    assert_eq!(read(&port, "/tournaments/fish")["standing"], "open", "bob waits for another");
    let mut cat = Peer::open(&port, r#""cat""#);
    bob.hear(r#"["start",[true]]"#);
    cat.hear(r#"["start",[true]]"#);
    drop((bob, cat));
    port.verify();
}

#[test]
fn program_that_signs_up_again_is_confirmed_again() {
    let port = Port::open("fish", "wait_ms = 600000");
    let sign_up = r#"{"type":"signup_request","value":"ann"}"#;
    for _ in 0..3 {
        let mut ann = Peer::open(&port, sign_up);
        ann.hear(r#"{"type":"signup_confirmation","value":true}"#);
        assert_eq!(entered(&port, "fish"), json!(["ann"]));
        drop(ann);
        until("ann is gone", || entered(&port, "fish") == json!([]));
    }
    port.verify();
}

#[test]
fn tournaments_of_other_series_do_not_put_anybody_on_the_waiting_list() {
    let port = Port::open("fish", "at_least = 2\nat_most = 2\nanswer_ms = 60000");
    let token = port.server.said["operator"]["token"].as_str().expect("a first token");
    // They never answer, so both tournaments run on.
    let _players = ["ann", "bob"].map(|name| Client::logged_in(&port.server.address, name));
    for id in ["fishing-club", "fish-club", "fish-7"] {
        let cup = json!({"id": id, "preset": "yahtzee-class",
            "selection": {"by": "named", "players": ["ann", "bob"]}});
        assert_eq!(http(&port.server, token, "POST", "/api/v1/tournaments", &cup).0, 201);
    }
    // A sign-up like that of the port, and another's.
    let plan = read(&port, "/tournaments/fish");
    let club = json!({"id": "fish-fans", "preset": "fish", "selection": plan["selection"]});
    assert_eq!(http(&port.server, token, "POST", "/api/v1/tournaments", &club).0, 201);
    let sign_up = |name: &str| format!(r#"{{"type":"signup_request","value":"{name}"}}"#);
    let confirmed = |value: bool| format!(r#"{{"type":"signup_confirmation","value":{value}}}"#);
    let mut cat = Peer::open(&port, &sign_up("cat"));
    cat.hear(&confirmed(true));
    assert_eq!(entered(&port, "fish"), json!(["cat"]));
    let mut dan = Peer::open(&port, &sign_up("dan"));
    dan.hear(&confirmed(true));
    dan.hear(r#"{"type":"tournament_start","value":true}"#);
    let mut eve = Peer::open(&port, &sign_up("eve"));
    eve.hear(&confirmed(false));
}

/// Connects so many programs one after the other; they say their names in the order of `says`.
fn sign_up_in_order(port: &Port, count: usize, says: impl Iterator<Item = usize>) -> Vec<Peer> {
    let mut peers: Vec<Peer> = (0..count).map(|_| Peer::open(port, "")).collect();
    says.for_each(|at| peers[at].say(&format!("\"p{at}\"")));
    peers
}

#[test]
fn sign_ups_are_taken_in_the_order_in_which_connections_were_accepted() {
    const COUNT: usize = 60;
    for system in ["fish", "trains"] {
        let settings = "at_most = 100\nwait_ms = 600000\nsign_up_ms = 60000\norder_ms = 60000";
        let port = Port::open(system, settings);
        let due: Vec<String> = (0..COUNT).map(|at| format!("p{at}")).collect();
        let seated = |peers: Vec<Peer>| {
            until("all are signed up", || entered(&port, system)[COUNT - 1].is_string());
            assert_eq!(entered(&port, system), json!(due), "{system}");
            drop(peers);
            until("all are gone", || entered(&port, system) == json!([]));
        };
        // One after the other, as launchers do it.
        for _ in 0..3 {
            let peers = due.iter().map(|name| Peer::open(&port, &format!("{name:?}")));
            seated(peers.collect());
        }
        // The names come in another order than the connections.
        seated(sign_up_in_order(&port, COUNT, (0..COUNT).rev()));
        seated(sign_up_in_order(&port, COUNT, (0..COUNT).map(|at| (at * 7 + 3) % COUNT)));
        port.verify();
    }
}

#[test]
fn connections_that_fail_or_close_do_not_hold_up_later_sign_ups() {
    let settings = "wait_ms = 600000\nsign_up_ms = 600000\norder_ms = 600000";
    let port = Port::open("fish", settings);
    let mut first = Peer::open(&port, "");
    let (mut bad, closed) = (Peer::open(&port, "{}"), Peer::open(&port, ""));
    let _bob = Peer::open(&port, r#""bob""#);
    assert_eq!(bad.rest(), "");
    drop(closed);
    first.say(r#""ann""#);
    until("both are signed up", || entered(&port, "fish") == json!(["ann", "bob"]));
}

#[test]
fn silent_connections_give_up_their_place_in_the_order_and_may_sign_up_later() {
    let settings = "wait_ms = 600000\nsign_up_ms = 600000\norder_ms = 200";
    let port = Port::open("fish", settings);
    let mut silent: Vec<Peer> = (0..20).map(|_| Peer::open(&port, "")).collect();
    let _bob = Peer::open(&port, r#""bob""#);
    until("bob is signed up", || entered(&port, "fish") == json!(["bob"]));
    silent[7].say(r#""late""#);
    until("both are signed up", || entered(&port, "fish") == json!(["bob", "late"]));
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
fn program_that_arrives_during_a_tournament_waits_for_the_next() {
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
fn player_who_is_not_ready_is_out_without_a_fault() {
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

#[test]
fn sign_ups_of_lost_programs_do_not_outlive_the_server() {
    let free = agon::free_port(std::net::Ipv4Addr::LOCALHOST.into()).expect("a port");
    let settings = "at_least = 2\nat_most = 3\nwait_ms = 600000\nanswer_ms = 60000";
    let mut port = Port::open_with("fish", free, 60_000, settings);
    let _before = ["ann", "bob"].map(|name| Peer::open(&port, &format!("{name:?}")));
    until("both are signed up", || entered(&port, "fish") == json!(["ann", "bob"]));
    port.restart();
    until("nobody is signed up", || entered(&port, "fish") == json!([]));
    let mut peers = ["cat", "ann", "bob"].map(|name| Peer::open(&port, &format!("{name:?}")));
    peers.iter_mut().for_each(|peer| peer.hear(r#"["start",[true]]"#));
    assert_eq!(entered(&port, "fish"), json!(["cat", "ann", "bob"]));
    drop(peers);
    port.verify();
}

#[test]
fn programs_of_one_name_take_up_their_seats_after_a_restart() {
    let free = agon::free_port(std::net::Ipv4Addr::LOCALHOST.into()).expect("a port");
    let settings = "at_least = 2\nat_most = 2\nwait_ms = 600000\nanswer_ms = 60000";
    let mut port = Port::open_with("fish", free, 60_000, settings);
    let mut before = [(); 2].map(|()| Peer::open(&port, r#""AIClient""#));
    before.iter_mut().for_each(|peer| peer.hear(r#"["start",[true]]"#));
    assert_eq!(entered(&port, "fish"), json!(["AIClient", "AIClient-2"]));
    port.restart();
    let _again = [(); 3].map(|()| Peer::open(&port, r#""AIClient""#));
    for account in ["AIClient", "AIClient-2", "AIClient-3"] {
        until(&format!("{account} is connected"), || {
            read(&port, &format!("/accounts/{account}"))["wire"] == "fish"
        });
    }
    // Two play on, and the third waits for the next tournament.
    assert_eq!(entered(&port, "fish-2"), json!(["AIClient-3"]));
}
