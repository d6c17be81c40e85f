//! Strangers: garbage, silence, greed and guesses are turned away, and nobody else notices.

use crate::support::{Client, Place, Server, until};
use std::io::Write;

/// Lines that are no messages, or none that make sense, each in its own way.
fn garbage() -> Vec<Vec<u8>> {
    let deep = "[".repeat(50_000);
    let long = format!(r#"{{"type":"ping","x":"{}"}}"#, "x".repeat(300_000));
    let texts = [
        "",
        " ",
        "\t",
        "garbage",
        "null",
        "true",
        "0",
        "-1",
        "1e999",
        "\"hello\"",
        "[]",
        "[[]]",
        "{}",
        "{",
        "}",
        "{]",
        "{\"",
        "{\"type\"",
        "{\"type\":",
        "{\"type\":}",
        "{\"type\":1}",
        "{\"type\":null}",
        "{\"type\":[]}",
        "{\"type\":{}}",
        "{\"type\":\"\"}",
        "{\"type\":\"dance\"}",
        "{\"type\":\"hello\"}",
        "{\"type\":\"hello\",\"protocol\":1}",
        "{\"type\":\"hello\",\"protocol\":2,\"name\":\"x\"}",
        "{\"type\":\"hello\",\"protocol\":-1,\"name\":\"x\"}",
        "{\"type\":\"hello\",\"protocol\":\"1\",\"name\":\"x\"}",
        "{\"type\":\"hello\",\"protocol\":1,\"name\":7}",
        "{\"type\":\"hello\",\"protocol\":1,\"name\":\"x\",\"nonce\":\"zz\"}",
        "{\"type\":\"answer\"}",
        "{\"type\":\"answer\",\"id\":1,\"answer\":1}",
        "{\"type\":\"answer\",\"id\":\"x\"}",
        "{\"type\":\"answer\",\"answer\":1}",
        "{\"type\":\"answer\",\"id\":\"cup:r1m1.1.0.0\",\"answer\":{\"keep\":[]}}",
        "{\"type\":\"answer\",\"id\":\"\",\"answer\":null}",
        "{\"type\":\"login\"}",
        "{\"type\":\"login\",\"account\":\"\"}",
        "{\"type\":\"login\",\"account\":\"\\u0000\",\"password\":\"x\"}",
        "{\"type\":\"login\",\"account\":\"house:greedy\",\"password\":\"x\"}",
        "{\"type\":\"login\",\"token\":\"\"}",
        "{\"type\":\"login\",\"token\":7}",
        "{\"type\":\"login\",\"password\":\"x\",\"extra\":1}",
        "{\"type\":\"logout\"}",
        "{\"type\":\"logout\",\"x\":1}",
        "{\"type\":\"enqueue\"}",
        "{\"type\":\"enqueue\",\"queue\":\"\"}",
        "{\"type\":\"dequeue\",\"queue\":\"x\"}",
        "{\"type\":\"sign-up\",\"tournament\":\"../lobby\"}",
        "{\"type\":\"withdraw\",\"tournament\":\"cup\"}",
        "{\"type\":\"change-password\",\"old\":\"\",\"new\":\"\"}",
        "{\"type\":\"ping\",\"type\":\"ping\"}",
        "GET / HTTP/1.1",
        "\u{feff}{}",
        "\u{0}\u{0}\u{0}",
        "{\"type\":\"ping\"}{\"type\":\"ping\"}",
        "'; DROP TABLE events; --",
        &deep,
        &long,
    ];
    let mut lines: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    lines.extend([vec![0xff, 0xfe], vec![0x80; 1000], vec![0xc3, 0x28], vec![0; 4096]]);
    lines
}

#[test]
fn garbage_disturbs_nobody() {
    let place = Place::new(
        "[[tournament]]\nname = \"cup\"\npreset = \"yahtzee-class\"\nplayers = 2\nbest_of = 5\n",
    );
    let server = Server::start(&place);
    let mut players = vec![
        place.player(&server.address, "ann", &["--bot", "house:greedy"]),
        place.player(&server.address, "bob", &["--bot", "house:random"]),
    ];
    until("the cup has begun", || !place.events("match/cup").is_empty());
    let lines = garbage();
    assert!(lines.len() >= 50);
    for line in lines {
        for hello in [false, true] {
            let mut stranger = Client::connect(&server.address);
            stranger.hear_until("greeting");
            if hello {
                stranger.say(r#"{"type":"hello","protocol":1,"name":"stranger"}"#);
            }
            let _ = stranger.to.write_all(&line);
            let _ = stranger.to.write_all(b"\n");
            // Whatever that was, the server says something about it, and listens on.
            stranger.say(r#"{"type":"hello","protocol":1,"name":"stranger"}"#);
            stranger.say(r#"{"type":"ping"}"#);
            stranger.hear_until("pong");
        }
    }
    for player in &mut players {
        assert_eq!(player.code(), Some(0));
    }
    until("the cup is over", || place.is_over("cup"));
    assert_eq!(place.faults(), Vec::<String>::new());
    place.verify();
}

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
fn who_does_not_read_is_cut_off() {
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
fn one_address_has_so_many_connections_and_no_more() {
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
