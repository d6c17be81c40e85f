//! Programs that watch on the Fish port, and what kicked players hear.

use crate::peers::Port;
use serde_json::{Value, json};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// No test waits longer for a message.
const PATIENCE: Duration = Duration::from_secs(60);

/// Two players on a board of twelve tiles: eight placements.
const TWO: &str = "at_most = 2\nconfig = { board = [[1, 2, 3, 1], [2, 1, 5, 2], [1, 4, 1, 3]] }";

/// A connection to the Fish port that has sent its first message.
fn connect(port: &Port, first: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(port.address()).expect("a connection");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time limit");
    stream.write_all(first.to_string().as_bytes()).expect("written");
    stream
}

/// The messages of a connection, as they come.
fn messages(stream: &TcpStream) -> impl Iterator<Item = Value> + use<> {
    let reader = BufReader::new(stream.try_clone().expect("the same connection"));
    let values = serde_json::Deserializer::from_reader(reader).into_iter::<Value>();
    values.map_while(|value| match value {
        Ok(value) => Some(value),
        // The other end is gone.
        Err(error) if error.is_io() => None,
        Err(error) => panic!("no JSON: {error}"),
    })
}

fn observer(port: &Port, value: Value) -> (TcpStream, impl Iterator<Item = Value> + use<>) {
    let stream = connect(port, &json!({"type": "observer_request", "value": value}));
    let mut said = messages(&stream);
    let confirmed = said.next().expect("an answer");
    assert_eq!(confirmed, json!({"type": "observer_confirmation", "value": true}));
    (stream, said)
}

fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["type"].as_str().expect("a type")).collect()
}

/// Everything until the tournament is over.
fn until_the_end(mut said: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut heard: Vec<Value> = Vec::new();
    while heard.last().is_none_or(|message| message["type"] != "tournament_end") {
        heard.push(said.next().expect("a message"));
    }
    heard
}

#[test]
fn observer_is_sent_every_placement_move_and_result() {
    let port = Port::open("fish", TWO);
    let (_stream, said) = observer(&port, json!(true));
    let played = port.play("fish", &["eve,message".into(), "bob".into()]);
    let heard = until_the_end(said);
    let all = kinds(&heard);
    let count = |kind: &str| all.iter().filter(|one| **one == kind).count();
    assert_eq!(all[0], "tournament_start");
    assert_eq!(all[1..9], ["broadcast_state"; 8], "one for each placement");
    let placed = |message: &Value| -> usize {
        let players = message["value"]["players"].as_array().expect("players").iter();
        players.map(|player| player["places"].as_array().expect("places").len()).sum()
    };
    assert_eq!(heard[1..9].iter().map(placed).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    let moves = played.said["asked"]["moves"].as_u64().expect("a count") as usize;
    let skipped = heard.iter().filter(|message| message["value"] == "Skip").count();
    assert_eq!(count("broadcast_action"), moves + skipped);
    assert_eq!(all[all.len() - 2..], ["broadcast_game_over", "tournament_end"]);
    let over = &heard[all.len() - 2]["value"];
    assert_eq!(over["winners"], played.report["winners"]);
    assert_eq!(*over, played.said["results"][0][0], "players and observers are told the same");
    port.verify();
}

/// Five players are two games at once: an observer is shown one of them, and then the next round.
#[test]
fn observer_sees_one_game_at_a_time_and_may_choose_a_player() {
    let port = Port::open("fish", "at_most = 5\nconfig = { rows = 5, columns = 5, fish = 2 }");
    let (_one, any) = observer(&port, json!(true));
    let (_other, of_e) = observer(&port, json!("e"));
    let names: Vec<String> = ('a'..='e').map(String::from).collect();
    let played = port.play("fish", &names);
    for (said, follows) in [(until_the_end(any), None), (until_the_end(of_e), Some("e"))] {
        let mut playing: Option<Vec<String>> = None;
        let mut games = 0;
        for message in &said {
            let state = match message["type"].as_str() {
                Some("broadcast_state") => &message["value"],
                Some("broadcast_game_over") => &message["value"]["state"],
                _ => continue,
            };
            let players = state["players"].as_array().expect("players").iter();
            let mut names: Vec<String> =
                players.map(|player| player["name"].as_str().expect("a name").into()).collect();
            names.sort();
            assert_eq!(*playing.get_or_insert(names.clone()), names, "one game at a time");
            assert!(follows.is_none_or(|name| names.iter().any(|one| one == name)));
            if message["type"] == "broadcast_game_over" {
                (playing, games) = (None, games + 1);
            }
        }
        // (a b c)(d e), then (a d).
        let all = if follows.is_some() { 1 } else { 2 };
        assert!((1..=all + 1).contains(&games), "{games}");
    }
    assert_eq!(played.report["winners"], json!(["a"]));
    port.verify();
}

#[test]
fn observer_in_the_middle_of_a_game_is_sent_the_position_first() {
    let port = Port::open("fish", &format!("{TWO}\nanswer_ms = 60000"));
    // One after the other, so that eve plays first.
    let signed_up = |name: &str| {
        let stream = connect(&port, &json!({"type": "signup_request", "value": name}));
        let mut said = messages(&stream);
        assert_eq!(said.next().expect("an answer")["type"], "signup_confirmation");
        (stream, said)
    };
    let mut players = [signed_up("eve"), signed_up("bob")];
    // Both are ready, and whoever is asked first places a penguin.
    for (stream, said) in &mut players {
        let start = said.find(|message| message["type"] == "tournament_start");
        assert!(start.is_some());
        let ready = json!({"type": "tournament_ready", "value": true}).to_string();
        stream.write_all(ready.as_bytes()).expect("written");
    }
    let [(mut eve, mut to_eve), (_, mut to_bob)] = players;
    let is = |kind: &'static str| move |message: &Value| message["type"] == kind;
    to_eve.find(is("player_request_placement")).expect("eve is asked");
    let place = json!({"type": "player_respond_placement", "value": [0, 0]}).to_string();
    eve.write_all(place.as_bytes()).expect("written");
    let state = to_bob.find(is("broadcast_state")).expect("the placement is broadcast");
    let (_stream, mut said) = observer(&port, json!(true));
    assert_eq!(said.next().expect("a message")["type"], "tournament_start");
    assert_eq!(said.next().expect("a message"), state);
}

#[test]
fn observers_that_do_not_read_or_talk_too_much_disturb_nobody() {
    let port = Port::open("fish", "at_most = 5\nconfig = { rows = 5, columns = 5, fish = 2 }");
    let silent: Vec<_> = (0..3).map(|_| observer(&port, json!(true))).collect();
    let (mut flooding, mut said) = observer(&port, json!(true));
    let flood = vec![b' '; 1 << 20];
    // It is cut off in the middle of that, or has sent all of it.
    let _ = flooding.write_all(&flood);
    assert_eq!(said.by_ref().count(), 0, "the connection is closed");
    let names: Vec<String> = ('a'..='e').map(String::from).collect();
    let played = port.play("fish", &names);
    assert_eq!(played.said["asked"], json!({"placements": 25, "moves": 50}));
    assert_eq!(played.report["winners"], json!(["a"]));
    drop(silent);
    port.verify();
}

#[test]
fn observers_see_nothing_before_the_delay_is_over() {
    let port = Port::open_under("fish", "observer_delay_ms = 3600000", TWO);
    let (mut stream, _) = observer(&port, json!(true));
    port.play("fish", &["eve,message".into(), "bob".into()]);
    stream.set_nonblocking(true).expect("a socket");
    let read = stream.read(&mut [0; 16]);
    assert_eq!(read.expect_err("nothing to read").kind(), ErrorKind::WouldBlock);
    port.verify();
}

/// The last message to a kicked player.
fn last_message(wrong: &str) -> Value {
    let port = Port::open("fish", &format!("{TWO}\nanswer_ms = 60000"));
    let eve = format!("eve,message,plain,player_request_move,{wrong}");
    let played = port.play("fish", &[eve, "bob".into()]);
    assert_eq!(played.report["winners"], json!(["bob"]));
    let said = std::fs::read_to_string(port.place.path("transcript")).expect("a transcript");
    let last = said.lines().rfind(|line| line.starts_with("> ")).expect("messages");
    port.verify();
    serde_json::from_str(&last[2..]).expect("JSON")
}

#[test]
fn kicked_player_is_sent_the_position_without_its_penguins() {
    for wrong in [
        r#"{"type":"player_respond_move","value":[[9,9],[0,0]]}"#,
        r#"{"type":"player_respond_placement","value":[0,0]}"#,
    ] {
        let last = last_message(wrong);
        assert_eq!(last["type"], "broadcast_state", "{last}");
        let players = last["value"]["players"].as_array().expect("players");
        let names: Vec<&str> =
            players.iter().map(|player| player["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ["bob"], "{last}");
    }
}
