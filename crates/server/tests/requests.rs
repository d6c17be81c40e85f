//! The content of requests, and the records and messages that a decision costs.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use support::{Client, HouseBots, Server, answer, player};

/// A player that says hello in its own words.
fn log_in(server: &Server, name: &str, hello: &Value) -> Client {
    let mut client = server.connect();
    client.say(&hello.to_string());
    client.say(&format!(
        r#"{{"type":"login","account":"{name}","password":"the pw of {name}","register":true}}"#
    ));
    client.expect("welcome", name);
    client
}

fn hello() -> Value {
    json!({"type": "hello", "protocol": 1, "name": "test"})
}

/// Starts a tournament of two.
fn start(server: &mut Server, preset: &str, policy: Value) {
    server.register_operator("olga", "the pw of olga");
    let body = json!({"account": "olga", "password": "the pw of olga"}).to_string();
    let session = server.http("POST", "/api/v1/sessions", None, &body).expect(201).json();
    let cup = json!({
        "id": "cup", "preset": preset, "policy": policy,
        "selection": {"by": "named", "players": ["ann", "bob"]},
    });
    let token = session["token"].as_str();
    server.http("POST", "/api/v1/tournaments", token, &cup.to_string()).expect(201);
}

fn next_request(client: &mut Client) -> Value {
    loop {
        let message = client.hear().expect("a request");
        if message["type"] == "request" {
            return message;
        }
    }
}

/// Answers requests until one shows a position with a past: a finished game and finished turns.
fn play_on(client: &mut Client, bots: &mut HouseBots) -> Value {
    loop {
        let request = next_request(client);
        if request["match"]["game"].as_u64() > Some(1) && request["view"]["turn"].as_u64() > Some(2)
        {
            return request;
        }
        client.say(&answer(bots, "ann", "greedy", &request));
    }
}

fn past(request: &Value) -> (usize, usize) {
    let length = |list: &Value| list.as_array().expect("a list").len();
    (length(&request["view"]["history"]), length(&request["match"]["games"]))
}

const LONG: &str = r#"{"format":{"kind":"round-robin"},
    "match":{"best_of":9,"ties":"share","crash":"resume"}}"#;

/// The hints for authors of programs are apart from the texts for people, which
/// `Reply::expect` checks.
#[test]
fn unreadable_requests_get_a_plain_text_and_a_hint() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let body = json!({"account": "olga", "password": "the pw of olga"}).to_string();
    let session = server.http("POST", "/api/v1/sessions", None, &body).expect(201).json();
    let token = session["token"].as_str();
    let wrong = r#"{"id":"cup","preset":"fish","selection":{"by":"magic"}}"#;
    for (method, path, body, status, hint) in [
        ("POST", "/api/v1/tournaments", "{", 400, "the body is not JSON at line 1"),
        ("POST", "/api/v1/tournaments", "[]", 422, "send {"),
        ("POST", "/api/v1/tournaments", wrong, 422, "unknown variant `magic`"),
        ("POST", "/api/v1/sessions", r#"{"account":1}"#, 422, "line 1, column 12"),
        ("PATCH", "/api/v1/tournaments", "", 405, "`allow`"),
        ("GET", "/api/v1/events?delay_ms=x", "", 400, "`delay_ms`"),
    ] {
        let problem = server.http(method, path, token, body).expect(status).json();
        let found = problem["hint"].as_str().unwrap_or_default();
        assert!(found.contains(hint), "{method} {path}: {problem}");
    }
    // Without a token, with another one, and with numbers that do not agree.
    server.http("POST", "/api/v1/tournaments", None, wrong).expect(401);
    server.http("POST", "/api/v1/tournaments", Some("no such token"), wrong).expect(401);
    for (selection, due) in [
        (
            json!({"by": "invitation", "players": ["ann"], "at_least": 2, "wait_ms": 1}),
            "only 1 of 2",
        ),
        (json!({"by": "draw", "at_least": 0, "at_most": 2, "wait_ms": 1}), "minimum is 0"),
    ] {
        let cup = json!({"id": "cup", "preset": "fish", "selection": selection}).to_string();
        let problem = server.http("POST", "/api/v1/tournaments", token, &cup);
        let problem = problem.expect(409).json();
        assert!(problem["detail"].as_str().unwrap().contains(due), "{problem}");
    }
}

#[test]
fn more_house_players_than_the_maximum_create_no_tournament() {
    let server = Server::start();
    server.register_operator("olga", "the pw of olga");
    let body = json!({"account": "olga", "password": "the pw of olga"}).to_string();
    let session = server.http("POST", "/api/v1/sessions", None, &body).expect(201).json();
    let token = session["token"].as_str();
    let announced = |house: &[&str]| {
        let selection = json!({
            "by": "sign-up", "at_least": 2, "at_most": 2, "wait_ms": 600_000,
            "second_wait_ms": 0, "second_at_least": 2,
        });
        let cup = json!({
            "id": "cup", "preset": "fish", "selection": selection, "house_players": house,
        });
        server.http("POST", "/api/v1/tournaments", token, &cup.to_string())
    };
    let many = announced(&["house:level-1", "house:level-2", "house:level-3"]).expect(422).json();
    let detail = many["detail"].as_str().unwrap();
    assert!(detail.contains("3 house players do not fit"), "{detail}");
    let twice = announced(&["house:level-1", "house:level-1"]).expect(422).json();
    assert!(twice["detail"].as_str().unwrap().contains("is named twice"), "{twice}");
    server.http("GET", "/api/v1/tournaments/cup", None, "").expect(404);
    announced(&["house:level-1", "house:level-2"]).expect(201);
}

#[test]
fn reconnecting_player_gets_the_history_once() {
    let mut server = Server::start();
    let mut ann = log_in(&server, "ann", &hello());
    let _bob = player(&server, "bob", "random");
    start(&mut server, "yahtzee-class", serde_json::from_str(LONG).expect("JSON"));
    let mut bots = HouseBots::new();
    let brief = play_on(&mut ann, &mut bots);
    assert_eq!(past(&brief), (0, 0), "{brief}");
    assert!(brief["match"]["won"].is_array() && brief["match"]["best_of"] == 9, "{brief}");
    drop(ann);
    let mut ann = log_in(&server, "ann", &hello());
    let whole = next_request(&mut ann);
    assert_eq!(whole["id"], brief["id"], "the same request");
    let games = brief["match"]["game"].as_u64().expect("a number") as usize - 1;
    let turns = brief["view"]["turn"].as_u64().expect("a number") as usize - 1;
    assert_eq!(past(&whole), (turns, games), "{whole}");
    ann.say(&answer(&mut bots, "ann", "greedy", &whole));
    assert_eq!(past(&next_request(&mut ann)), (0, 0), "once");
}

#[test]
fn player_who_asks_for_the_history_gets_it_with_every_request() {
    let mut server = Server::start();
    let mut hello = hello();
    hello["history"] = true.into();
    let mut ann = log_in(&server, "ann", &hello);
    let _bob = player(&server, "bob", "random");
    start(&mut server, "yahtzee-class", serde_json::from_str(LONG).expect("JSON"));
    let mut bots = HouseBots::new();
    let request = play_on(&mut ann, &mut bots);
    let turn = request["view"]["turn"].as_u64().expect("a number") as usize;
    assert_eq!(past(&request).0, turn - 1, "{request}");
    assert!(past(&request).1 >= 1, "{request}");
}

#[test]
fn decision_with_a_notice_is_one_record() {
    let mut server = Server::start();
    let mut ann = log_in(&server, "ann", &hello());
    let _bob = player(&server, "bob", "hold-10");
    start(&mut server, "trains", json!({}));
    let mut bots = HouseBots::new();
    let mut told = 0;
    loop {
        let message = ann.hear().expect("a message");
        told += usize::from(message["about"] == "told");
        match message["type"].as_str() {
            Some("request") => ann.say(&answer(&mut bots, "ann", "hold-10", &message)),
            _ if message["about"] == "match-over" => break,
            _ => {}
        }
    }
    assert!(told > 2, "the player is still told its cards: {told}");
    let events =
        server.http("GET", "/api/v1/tournaments/cup/matches/r1m1/log", None, "").expect(200);
    let lines: Vec<Value> = events
        .body
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of the log"))
        .collect();
    let confirms =
        |line: &Value| line["data"]["answer"] == "ok" || line["type"] == "result-confirmed";
    let first = |at: usize| at == 0 || lines[at - 1]["more"] == 0;
    let own = (0..lines.len()).filter(|at| first(*at) && confirms(&lines[*at])).count();
    assert!(lines.iter().filter(|line| confirms(line)).count() > 10);
    assert_eq!(own, 0, "confirmations are part of the record that opened them");
}
