//! The page's data: the positions of a game for late watchers, and people who come
//! back.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use support::{Client, Server, Setup, until};

const API: &str = "/api/v1";
const POSITIONS: &str = "/tournaments/cup/matches/r1m1/games/1/positions";

fn get(server: &Server, path: &str) -> Value {
    server.http("GET", &format!("{API}{path}"), None, "").expect(200).json()
}

/// An operator's token.
fn operator(server: &Server) -> String {
    server.register_operator("olga", "the pw of all");
    let body = json!({"account": "olga", "password": "the pw of all"}).to_string();
    let reply = server.http("POST", &format!("{API}/sessions"), None, &body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

fn announce(server: &Server, preset: &str, players: &[&str], policy: &Value) {
    let token = operator(server);
    let selection = json!({"by": "named", "players": players});
    let cup = json!({"id": "cup", "preset": preset, "selection": selection, "policy": policy});
    let path = format!("{API}/tournaments");
    server.http("POST", &path, Some(&token), &cup.to_string()).expect(201);
}

/// A value after the changes of a JSON Patch.
fn patched(before: &Value, changes: &Value) -> Value {
    let mut now = before.clone();
    for change in changes.as_array().expect("a list") {
        let path = change["path"].as_str().expect("a path");
        let (parent, name) = path.rsplit_once('/').expect("a part of the position");
        let (is_gone, value) = (change["op"] == "remove", change["value"].clone());
        match now.pointer_mut(parent).expect("it is there") {
            Value::Object(fields) if is_gone => drop(fields.remove(name)),
            Value::Object(fields) => drop(fields.insert(name.to_owned(), value)),
            Value::Array(list) if is_gone => drop(list.remove(name.parse().unwrap())),
            Value::Array(list) if change["op"] == "add" => {
                list.insert(name.parse().unwrap(), value)
            }
            Value::Array(list) => list[name.parse::<usize>().unwrap()] = value,
            other => panic!("{path} of {other}"),
        }
    }
    now
}

/// Somebody who answers by hand, of a kind.
fn by_hand(server: &Server, name: &str, kind: &str) -> Client {
    let mut client = server.connect();
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client.say(&format!(
        r#"{{"type":"login","account":"{name}","password":"the pw of all","register":true,"kind":"{kind}"}}"#
    ));
    client.expect("welcome", name);
    client
}

fn next_request(client: &mut Client) -> Value {
    loop {
        let message = client.hear().expect("a request");
        if message["type"] == "request" {
            return message;
        }
    }
}

fn answer(client: &mut Client, request: &Value, answer: &Value) {
    let message = json!({"type": "answer", "id": request["id"], "answer": answer});
    client.say(&message.to_string());
}

fn slow() -> Value {
    json!({"match": {"time": {"answer_ms": 600_000, "bank_ms": 0, "wait_ms": 0}}})
}

/// Places all penguins of a seat, on the first free tiles.
fn place(client: &mut Client) -> Value {
    loop {
        let request = next_request(client);
        if request["question"]["ask"] != "place" {
            return request;
        }
        let taken: Vec<Value> = request["view"]["players"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|player| player["places"].as_array().unwrap().clone())
            .collect();
        let tiles = (0..5).flat_map(|row| (0..5).map(move |column| json!([row, column])));
        let free = tiles.into_iter().find(|tile| !taken.contains(tile)).unwrap();
        answer(client, &request, &json!({"place": free}));
    }
}

#[test]
fn late_observer_is_shown_every_position_so_far() {
    let server = Server::start();
    let mut ann = by_hand(&server, "ann", "person");
    announce(&server, "fish", &["ann", "house:greedy"], &slow());
    let request = place(&mut ann);
    let all = get(&server, POSITIONS);
    let positions = all["positions"].as_array().unwrap();
    // Two confirmations each are shown as changes of the phase, then eight penguins are placed.
    let placed = |position: &Value| {
        let players = position["view"]["players"].as_array().unwrap();
        players.iter().map(|player| player["places"].as_array().unwrap().len()).sum::<usize>()
    };
    let counts: Vec<usize> = positions.iter().map(placed).collect();
    assert_eq!(counts.iter().max(), Some(&8));
    assert!(counts.windows(2).all(|two| two[1] - two[0] <= 1), "none is missing: {counts:?}");
    assert_eq!(all["count"], positions.len());
    assert_eq!(all["changed_at"], positions[positions.len() - 1]["at"]);
    assert!(all["now"].as_u64() >= all["changed_at"].as_u64());
    let live = get(&server, "/tournaments/cup/matches/r1m1");
    assert_eq!(positions[positions.len() - 1]["view"], live["in_progress"]["view"]);
    let rest = get(&server, &format!("{POSITIONS}?after={}", positions.len() - 1));
    assert_eq!(rest["positions"].as_array().unwrap()[..], positions[positions.len() - 1..]);
    // As differences: only the first one is whole, and they lead to the same positions.
    for after in [0, 3] {
        let folded = get(&server, &format!("{POSITIONS}?after={after}&changes=true"));
        let folded = folded["positions"].as_array().unwrap();
        assert_eq!(folded.len(), positions.len() - after);
        assert_eq!(folded[0], positions[after]);
        for (two, position) in positions[after..].windows(2).zip(&folded[1..]) {
            assert!(position.get("view").is_none(), "{position}");
            assert_eq!(patched(&two[0]["view"], &position["changes"]), two[1]["view"]);
        }
    }
    let none = get(&server, &format!("{POSITIONS}?after=1000000"));
    assert_eq!((&none["positions"], &none["count"]), (&json!([]), &all["count"]));
    drop(request);
    for (path, status) in [
        ("/tournaments/cup/matches/r9m9/games/1/positions", 404),
        ("/tournaments/none/matches/r1m1/games/1/positions", 404),
        ("/tournaments/cup/matches/r1m1/games/0/positions", 404),
        ("/tournaments/cup/matches/r1m1/games/1/positions?after=x", 400),
        ("/tournaments/cup/matches/r1m1/games/1/positions?before=1", 400),
    ] {
        server.http("GET", &format!("{API}{path}"), None, "").expect(status);
    }
    let unplayed = get(&server, "/tournaments/cup/matches/r1m1/games/2/positions");
    assert_eq!((&unplayed["count"], unplayed.get("changed_at")), (&json!(0), None));
}

#[test]
fn positions_hide_what_the_public_view_hides_and_what_is_held_back() {
    let server = Server::start();
    let mut ann = by_hand(&server, "ann", "person");
    let mut bob = by_hand(&server, "bob", "person");
    announce(&server, "yahtzee-class", &["ann", "bob"], &slow());
    let (mut first, _) = (next_request(&mut ann), next_request(&mut bob));
    let before = get(&server, POSITIONS);
    for _ in 0..2 {
        answer(&mut ann, &first, &json!({"keep": []}));
        first = next_request(&mut ann);
    }
    assert_eq!(first["question"]["ask"], "score");
    let after = get(&server, POSITIONS);
    assert_eq!(before["positions"], after["positions"], "nobody sees that ann rolled");
    assert_eq!(before["changed_at"], after["changed_at"]);
    for field in ["secret", "sequences", "drawn"] {
        assert!(!after.to_string().contains(field), "{field}");
    }

    let mut setup = Setup::default();
    setup.settings.observer_delay_ms = 3_600_000;
    let held = Server::with(setup);
    let mut ann = by_hand(&held, "ann", "person");
    announce(&held, "fish", &["ann", "house:greedy"], &slow());
    place(&mut ann);
    let hidden = get(&held, POSITIONS);
    assert_eq!((&hidden["count"], &hidden["positions"]), (&json!(0), &json!([])));
}

#[test]
fn a_person_who_loads_the_page_again_was_never_gone() {
    let server = Server::start();
    let mut ann = by_hand(&server, "ann", "person");
    announce(&server, "fish", &["ann", "house:greedy"], &slow());
    let request = place(&mut ann);
    drop(ann);
    until("the connection is gone", || server.connections() == 0);
    let mut back = by_hand(&server, "ann", "person");
    let again = next_request(&mut back);
    assert_eq!((&again["id"], &again["view"]), (&request["id"], &request["view"]));
    let (had, left) = (request["deadline_ms"].as_u64().unwrap(), again["deadline_ms"].as_u64());
    assert!(left.is_some_and(|left| left <= had), "no time is won by it: {had} {left:?}");
    let faults = get(&server, "/tournaments/cup/matches/r1m1/faults");
    assert_eq!(faults["faults"], json!([]));
}

#[test]
fn absent_program_and_logged_out_person_are_charged_at_once() {
    for kind in ["program", "person"] {
        let server = Server::start();
        let mut ann = by_hand(&server, "ann", kind);
        announce(&server, "fish", &["ann", "house:greedy"], &slow());
        place(&mut ann);
        if kind == "person" {
            ann.say(r#"{"type":"logout"}"#);
            ann.expect("done", "logout");
        }
        drop(ann);
        until("it is out", || get(&server, "/tournaments/cup")["standing"] == "over");
        let over = get(&server, "/tournaments/cup/matches/r1m1");
        assert_eq!(over["result"]["faults"][0]["fault"]["kind"], "disconnected");
    }
}

#[test]
fn person_who_does_not_reconnect_is_charged_as_absent() {
    let mut setup = Setup::default();
    // Nobody is waited for any longer than that.
    setup.settings.reconnect_ms = 300;
    let server = Server::with(setup);
    let mut ann = by_hand(&server, "ann", "person");
    announce(&server, "fish", &["ann", "house:greedy"], &slow());
    place(&mut ann);
    drop(ann);
    until("it is out", || get(&server, "/tournaments/cup")["standing"] == "over");
    let over = get(&server, "/tournaments/cup/matches/r1m1");
    assert_eq!(over["result"]["faults"][0]["fault"]["kind"], "disconnected");
    assert_eq!(over["result"]["winners"], json!(["house:greedy"]));
}
