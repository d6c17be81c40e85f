//! An operator over HTTP against the real server: pause, kill, resume, void, override, undo,
//! verify.

use crate::support::{Client, Place, Server};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const DUEL: &str = "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\n\
                    preset = \"yahtzee-class\"\nnamed = [\"ann\", \"house:greedy\"]\nbest_of = 3\n";

/// One request; its status and body.
fn http(server: &Server, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let base = server.said["http"].as_str().expect("an address");
    let address = base.trim_start_matches("http://").trim_end_matches("/api/v1");
    let mut socket = TcpStream::connect(address).expect("the server is there");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    let body = body.to_string();
    let length = body.len();
    let head = format!(
        "{method} /api/v1/tournaments/cup{path} HTTP/1.0\r\ncontent-type: application/json\r\nauthorization: Bearer {token}\r\n\
         content-length: {length}\r\n\r\n"
    );
    socket.write_all(format!("{head}{body}").as_bytes()).expect("a request");
    let mut text = String::new();
    socket.read_to_string(&mut text).expect("an answer");
    let status = text.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}

/// Some legal answer to a request of Yahtzee.
fn answer(request: &Value) -> String {
    let seat = request["seat"].as_u64().expect("a seat") as usize;
    let answer = match request["question"]["ask"].as_str() {
        Some("keep") => json!({"keep": request["question"]["dice"]}),
        _ => {
            let boxes = request["view"]["cards"][seat]["boxes"].as_object().expect("boxes");
            let free = boxes.iter().find(|(_, points)| points.is_null()).expect("a free box");
            json!({"score": free.0})
        }
    };
    json!({"type": "answer", "id": request["id"], "answer": answer}).to_string()
}

/// Returns whether the connection is asked nothing until it hears the answer to a ping.
fn is_asked_nothing(client: &mut Client) -> bool {
    client.say(r#"{"type":"ping"}"#);
    loop {
        let message = client.hear().expect("a message");
        match message["type"].as_str() {
            Some("pong") => return true,
            Some("request") => return false,
            _ => {}
        }
    }
}

fn notice(client: &mut Client, about: &str) -> Value {
    loop {
        let message = client.hear_until("notice");
        if message["about"] == about {
            return message["data"].clone();
        }
    }
}

#[test]
fn a_cup_is_paused_killed_resumed_ruled_about_and_verified() {
    let place = Place::new(DUEL);
    let server = Server::start(&place);
    let token = server.said["operator"]["token"].as_str().expect("a first token").to_owned();
    let why = json!({"why": "the hall is on fire"});
    let mut ann = Client::logged_in(&server.address, "ann");
    for _ in 0..3 {
        let asked = ann.hear_until("request");
        ann.say(&answer(&asked));
    }
    let asked = ann.hear_until("request");
    assert_eq!(http(&server, &token, "POST", "/pause", &why).0, 204);
    assert_eq!(notice(&mut ann, "paused")["why"], why["why"]);
    // Open requests may still be answered; then nothing moves.
    ann.say(&answer(&asked));
    assert!(is_asked_nothing(&mut ann));
    let events = place.events("match/").len();
    assert!(is_asked_nothing(&mut ann));
    assert_eq!(place.events("match/").len(), events);

    let address = server.address.clone();
    drop(server);
    drop(ann);
    let server = Server::start_again(&place, &address);
    let (_, shown) = http(&server, &token, "GET", "", &Value::Null);
    assert_eq!(shown["paused"], json!({"by": "operator", "why": why["why"]}));
    let mut ann = Client::logged_in(&server.address, "ann");
    notice(&mut ann, "paused");
    assert!(is_asked_nothing(&mut ann));
    assert_eq!(http(&server, &token, "POST", "/resume", &why).0, 204);
    assert!(ann.hear_until("request")["id"].as_str().expect("an id").starts_with("cup:r1m1.1."));

    assert_eq!(http(&server, &token, "POST", "/pause", &why).0, 204);
    let void = "/matches/r1m1/games/1/void";
    assert_eq!(http(&server, &token, "POST", void, &why).0, 204);
    assert_eq!(http(&server, &token, "POST", void, &why).0, 409);
    assert_eq!(http(&server, &token, "POST", "/matches/r1m1/games/1/undo", &why).0, 204);
    assert_eq!(http(&server, &token, "POST", void, &why).0, 204);
    let (_, shown) = http(&server, &token, "GET", "/matches/r1m1", &Value::Null);
    assert_eq!(shown["in_progress"]["voided"]["by"], "operator");
    assert_eq!(http(&server, &token, "POST", "/resume", &why).0, 204);
    notice(&mut ann, "game-void");
    while !ann.hear_until("request")["id"].as_str().expect("an id").starts_with("cup:r1m1.2.") {}
    place.verify();

    assert_eq!(http(&server, &token, "POST", "/pause", &why).0, 204);
    let winners = json!({"winners": ["ann"], "why": "the other one is made of wood"});
    let overrule = "/matches/r1m1/override";
    assert_eq!(http(&server, &token, "POST", overrule, &winners).0, 204);
    assert_eq!(notice(&mut ann, "result-overridden")["winners"], json!(["ann"]));
    assert_eq!(http(&server, &token, "POST", "/matches/r1m1/undo", &why).0, 204);
    assert_eq!(http(&server, &token, "POST", overrule, &winners).0, 204);
    drop(server);
    // A pause, a ruling and a kill: nothing of it is lost, and nothing followed from it yet.
    let server = Server::start_again(&place, &address);
    assert!(!place.is_over("cup"));
    place.verify();
    assert_eq!(http(&server, &token, "POST", "/resume", &why).0, 204);
    crate::support::until("the cup is over", || place.is_over("cup"));
    let (_, shown) = http(&server, &token, "GET", "", &Value::Null);
    assert_eq!(shown["results"]["winners"], json!(["ann"]));
    assert_eq!(shown["results"]["rounds"][0]["matches"][0]["overridden"]["by"], "operator");
    assert_eq!(http(&server, &token, "POST", "/matches/r1m1/undo", &why).0, 409);
    place.verify();
    assert_eq!(place.faults(), Vec::<String>::new(), "nobody was charged");
}
