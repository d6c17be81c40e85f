//! Strangers: garbage, silence, greed and guesses are turned away, and nobody else notices.

use crate::support::{Client, Place, Server, until};
use std::io::Write;

#[test]
fn too_much_garbage_ends_the_connection() {
    let place = Place::new("");
    let server = Server::start(&place);
    let mut stranger = Client::connect(&server.address);
    // One after the other: what is unread when a connection is closed may take answers with it.
    for _ in 0..=100 {
        stranger.say("garbage");
        assert_eq!(stranger.hear_until("error")["code"], "malformed");
    }
    let said = stranger.rest();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["code"], "flood");
}

#[test]
fn silence_without_a_login_ends_the_connection() {
    let place = Place::new("[limits]\nlogin_ms_max = 50\n");
    let server = Server::start(&place);
    for lines in [&[][..], &[r#"{"type":"hello","protocol":1,"name":"x"}"#]] {
        let mut stranger = Client::connect(&server.address);
        lines.iter().for_each(|line| stranger.say(line));
        let said = stranger.rest();
        assert_eq!(said.last().map(|last| &last["code"]), Some(&"login-timeout".into()));
    }
}

#[test]
fn client_that_does_not_read_is_disconnected() {
    let place = Place::new("[limits]\noutbox_lines_max = 4\nwrite_ms_max = 100\n");
    let server = Server::start(&place);
    let mut greedy = Client::logged_in(&server.address, "greedy");
    let pings = "{\"type\":\"ping\"}\n".repeat(4096);
    until("the connection is closed", || greedy.to.write_all(pings.as_bytes()).is_err());
    // Others are served as before.
    let mut other = Client::logged_in(&server.address, "other");
    other.say(r#"{"type":"ping"}"#);
    other.hear_until("pong");
}

#[test]
fn connections_per_address_are_limited() {
    let place = Place::new("[limits]\nconnections_per_address_max = 3\n");
    let server = Server::start(&place);
    let mut three: Vec<Client> = (0..3).map(|_| Client::connect(&server.address)).collect();
    three.iter_mut().for_each(|client| drop(client.hear_until("greeting")));
    let said = Client::connect(&server.address).rest();
    assert_eq!(said.len(), 1, "{said:?}");
    assert_eq!(said[0]["code"], "too-many-connections");
    three.pop();
    until("there is room again", || {
        let first = Client::connect(&server.address).hear();
        first.is_some_and(|message| message["type"] == "greeting")
    });
}

#[test]
fn guesses_have_to_wait() {
    let place = Place::new("");
    let server = Server::start(&place);
    drop(Client::logged_in(&server.address, "ann"));
    let mut guesser = Client::connect(&server.address);
    let mut codes = Vec::new();
    for number in 0..6 {
        guesser.log_in("ann", &format!("guess {number}"));
        codes.push(guesser.hear_until("error")["code"].as_str().expect("a code").to_owned());
    }
    assert_eq!(codes[..5], ["wrong-credentials"; 5]);
    assert_eq!(codes[5], "slow-down");
    // Later, the right password is good again.
    until("the wait is over", || {
        let mut ann = Client::connect(&server.address);
        ann.log_in("ann", "swordfish");
        let said = std::iter::from_fn(|| ann.hear());
        let mut said = said.filter(|message| message["type"] != "greeting");
        said.next().is_some_and(|message| message["type"] == "welcome")
    });
}

#[test]
fn a_restart_gives_a_guesser_no_new_guesses() {
    let place = Place::new("");
    let mut server = Server::start(&place);
    drop(Client::logged_in(&server.address, "ann"));
    let mut guesser = Client::connect(&server.address);
    for number in 0..5 {
        guesser.log_in("ann", &format!("guess {number}"));
        assert_eq!(guesser.hear_until("error")["code"], "wrong-credentials");
    }
    let kept = place.path("agon-data/agon.sqlite.passwords");
    until("the counts are kept", || {
        std::fs::read_to_string(&kept).is_ok_and(|text| text.contains("\"ann\",\"127.0.0.1\"]},5"))
    });
    server.process.signal(rustix::process::Signal::KILL);
    server.process.code();
    let server = Server::start(&place);
    let mut guesser = Client::connect(&server.address);
    let mut codes = Vec::new();
    while codes.last().is_none_or(|code| code != "slow-down") {
        guesser.log_in("ann", "another guess");
        codes.push(guesser.hear_until("error")["code"].as_str().expect("a code").to_owned());
        assert!(codes.len() <= 2, "one guess after the wait, and no more: {codes:?}");
    }
}

#[test]
fn registrations_do_not_pile_up_memory() {
    let place = Place::new("");
    let server = Server::start(&place);
    // Hashing a password takes 19 MiB, one after the other.
    for number in 0..12 {
        drop(Client::logged_in(&server.address, &format!("p{number}")));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.process.0.id()));
    let status = status.expect("a process");
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most = most.and_then(|text| text.split_whitespace().next()?.parse::<u64>().ok());
    assert!(most.is_some_and(|kilobytes| kilobytes < 128 * 1024), "{most:?} kB");
}
