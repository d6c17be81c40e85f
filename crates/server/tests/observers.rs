//! Watching the lobby, tournaments, matches and games, as server-sent events and over
//! WebSocket, at once or late.

#[expect(dead_code, reason = "every test file uses its own part")]
mod support;

use serde_json::{Value, json};
use std::net::TcpStream;
use support::websocket::{Client, Heard};
use support::{Server, Setup, patient_player, player, until};

const API: &str = "/api/v1";

fn get(server: &Server, path: &str) -> Value {
    server.http("GET", &format!("{API}{path}"), None, "").expect(200).json()
}

fn operator(server: &Server) -> String {
    server.register_operator("olga", "the pw of olga");
    let body = json!({"account": "olga", "password": "the pw of olga"}).to_string();
    let reply = server.http("POST", &format!("{API}/sessions"), None, &body).expect(201);
    reply.json()["token"].as_str().unwrap().to_owned()
}

fn announce(server: &Server, token: &str, cup: &Value) {
    let path = format!("{API}/tournaments");
    server.http("POST", &path, Some(token), &cup.to_string()).expect(201);
}

fn cup(id: &str, preset: &str, players: &[&str], policy: Value) -> Value {
    let selection = json!({"by": "named", "players": players});
    json!({"id": id, "preset": preset, "selection": selection, "policy": policy})
}

/// One event over WebSocket.
#[derive(Clone, PartialEq, Debug)]
struct Received {
    event: String,
    id: String,
    data: Value,
}

/// The next event; `None` at the end, which must be a good one.
fn next(client: &mut Client<TcpStream>, path: &str) -> Option<Received> {
    match client.hear() {
        Heard::Message(message) => {
            assert_eq!(message.as_object().unwrap().len(), 3, "{message}");
            support::contract::check_event(path, &message["data"].to_string());
            let text = |name: &str| message[name].as_str().unwrap().to_owned();
            Some(Received { event: text("event"), id: text("id"), data: message["data"].clone() })
        }
        Heard::Close(code) => {
            assert_eq!(code, Some(1000));
            None
        }
        other => panic!("{other:?}"),
    }
}

/// Events until one is as it should be.
fn wait_for(
    client: &mut Client<TcpStream>,
    path: &str,
    what: &str,
    is_so: impl Fn(&Value) -> bool,
) -> Received {
    for _ in 0..1_000 {
        let told = next(client, path).unwrap_or_else(|| panic!("waited in vain: {what}"));
        if is_so(&told.data) {
            return told;
        }
    }
    panic!("waited in vain: {what}")
}

#[test]
fn the_lobby_is_watched_over_both_transports() {
    let server = Server::start();
    let olga = operator(&server);
    let path = format!("{API}/events");
    let mut socket = server.watch(&path);
    let first = next(&mut socket, &path).unwrap();
    assert_eq!((first.event.as_str(), &first.data["here"]), ("snapshot", &json!(0)));
    assert!(first.data["accounts"].as_u64().unwrap() > 3, "house players");
    let mut events = server.events(&path, None);
    assert_eq!(events.next().unwrap().name, "snapshot");

    let ann = player(&server, "ann", "greedy");
    let here = json!([{"player": "ann", "kind": "program", "wire": "tcp"}]);
    let told = wait_for(&mut socket, &path, "ann is here", |lobby| lobby["players"] == here);
    assert_eq!(told.event, "change");
    let window = json!({"by": "sign-up", "at_least": 2, "at_most": 8, "wait_ms": 600_000,
        "second_wait_ms": 0, "second_at_least": 2});
    let open = json!({"id": "open", "preset": "fish", "selection": window});
    announce(&server, &olga, &open);
    let queue = format!("{API}/queues/fish");
    server.http("POST", &queue, Some(&olga), "").expect(200);
    let told = wait_for(&mut socket, &path, "a sign-up and a queue", |lobby| {
        lobby["counts"]["open"] == 1 && lobby["queues"] != json!([])
    });
    assert_eq!(told.data["queues"], json!([{"queue": "fish", "waiting": 1}]));
    assert_eq!(told.data["tournaments"][0]["id"], "open");
    announce(&server, &olga, &cup("cup", "yahtzee-class", &["ann", "house:random"], json!({})));
    let over = |lobby: &Value| lobby["counts"]["over"] == 1 && lobby["here"] == 1;
    let told = wait_for(&mut socket, &path, "the cup is over", over);
    assert_eq!(told.data["tournaments"][1]["standing"], "over");
    let same = events.find(|event| over(&serde_json::from_str(&event.data).unwrap()));
    assert_eq!(same.expect("the other transport tells it too").id, told.id);

    // A watcher who has seen the current state gets nothing until it changes.
    let mut again = server.watch(&format!("{path}?last_event_id={}", told.id));
    drop(ann);
    let gone = format!("{API}/queues/fish");
    server.http("DELETE", &gone, Some(&olga), "").expect(200);
    let next_told = next(&mut again, &path).unwrap();
    assert_ne!(next_told.id, told.id);
    let mut now = get(&server, "/lobby");
    until("the lobby stands as it was told", || {
        now = get(&server, "/lobby");
        now["queues"] == json!([])
    });
}

#[test]
fn both_transports_send_the_same_events_of_a_match() {
    let server = Server::start();
    let olga = operator(&server);
    let (ann, words) = patient_player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let policy = json!({"match": {"time": {"answer_ms": 600_000}}});
    announce(&server, &olga, &cup("cup", "fish", &["ann", "house:random"], policy));
    let one = "/tournaments/cup/matches/r1m1";
    let path = format!("{API}{one}/events");
    until("the game runs", || {
        server.http("GET", &format!("{API}{one}"), None, "").body.contains("in_progress")
    });
    let mut socket = server.watch(&path);
    let events = server.events(&path, None);
    let watcher = std::thread::spawn(move || events.collect::<Vec<_>>());
    let first = next(&mut socket, &path).unwrap();
    assert_eq!(first.event, "snapshot");
    let mut told = vec![first];
    for turn in 0..1_000 {
        let over = get(&server, one)["standing"] == "over";
        if over {
            break;
        }
        assert!(turn < 999, "it never ends");
        let _ = words.send(());
    }
    drop(words);
    while let Some(next) = next(&mut socket, &path) {
        told.push(next);
    }
    let ended = told.last().unwrap();
    assert_eq!(ended.event, "end");
    // Two, if they caught as many fish.
    assert!(!ended.data["result"]["winners"].as_array().unwrap().is_empty());
    assert!(told.iter().all(|told| told.data["behind_ms"].is_u64()), "how old each is");
    let events = watcher.join().unwrap();
    assert_eq!(events.last().unwrap().id, ended.id, "both transports end alike");
    // A watcher who reconnects late gets the end once, and nothing after it.
    let mut late = server.watch(&format!("{path}?last_event_id={}", told[0].id));
    let again = next(&mut late, &path).unwrap();
    assert_eq!((again.event.as_str(), &again.id), ("end", &ended.id));
    assert_eq!(next(&mut late, &path), None);
    let seen = format!("{path}?last_event_id={}", ended.id);
    server.http("GET", &seen, None, "").expect(204);
    let head = support::websocket::handshake_at(&seen, "");
    assert!(server.http_head(&head).starts_with("HTTP/1.1 204 "));
    drop(ann);
}

#[test]
fn games_are_watched_one_by_one() {
    let server = Server::start();
    let olga = operator(&server);
    let (ann, words) = patient_player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let policy = json!({"match": {"best_of": 3, "time": {"answer_ms": 600_000}}});
    announce(&server, &olga, &cup("cup", "yahtzee-class", &["ann", "house:random"], policy));
    let game = |number: u32| format!("/tournaments/cup/matches/r1m1/games/{number}");
    until("the first game runs", || {
        let path = format!("{API}{}", game(1));
        server.http("GET", &path, None, "").body.contains("\"running\"")
    });
    assert_eq!(get(&server, &game(1))["seats"], json!(["ann", "house:random"]));
    assert_eq!(get(&server, &game(2))["standing"], "waiting");
    let none = format!("{API}{}", game(0));
    server.http("GET", &none, None, "").expect(404);
    let (first, second) = (format!("{API}{}/events", game(1)), format!("{API}{}/events", game(2)));
    let events = server.events(&first, None);
    let watcher = std::thread::spawn(move || events.collect::<Vec<_>>());
    let mut socket = server.watch(&second);
    assert_eq!(next(&mut socket, &second).unwrap().data["standing"], "waiting");
    // As many answers as three games can take.
    for _ in 0..3 * 39 {
        let _ = words.send(());
    }
    let told = wait_for(&mut socket, &second, "the second game is over", |game| {
        // Of a turn that only one of them has played nothing is shown.
        let now = &game["view"]["now"];
        assert!(now.is_null() || *now == json!([null, null]), "{game}");
        game["standing"] == "over"
    });
    assert_eq!((told.event.as_str(), &told.data["result"]["game"]), ("end", &json!(2)));
    assert_eq!(next(&mut socket, &second), None, "the end is the last event");
    let events = watcher.join().unwrap();
    let ended: Value = serde_json::from_str(&events.last().unwrap().data).unwrap();
    assert_eq!((&ended["standing"], &ended["number"]), (&json!("over"), &json!(1)));
    assert_eq!(events[0].name, "snapshot");
    until("the cup is over", || get(&server, "/tournaments/cup")["standing"] == "over");
    let full = get(&server, &game(1));
    assert!(full["view"]["sequences"].is_array(), "everything, after the end: {full}");
    assert_eq!(get(&server, &game(50))["standing"], "not-played");
    let over: Vec<_> = server.events(&format!("{API}{}/events", game(50)), None).collect();
    assert_eq!(over.len(), 1);
    drop((words, ann));
}

#[test]
fn delayed_observer_sees_late_events() {
    let server = Server::start();
    let olga = operator(&server);
    let ann = player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let policy = json!({"match": {"best_of": 9}});
    announce(&server, &olga, &cup("cup", "yahtzee-class", &["ann", "house:random"], policy));
    let path = format!("{API}/tournaments/cup/matches/r1m1/events?delay_ms=700");
    let mut events = server.events(&path, None);
    until("the match is there", || {
        if events.status != 200 {
            events = server.events(&path, None);
        }
        events.status == 200
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.last().unwrap().name, "end");
    for event in &events {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        // The server does not delay a match that is already over.
        assert!(data["behind_ms"].as_u64().unwrap() >= 700 || events.len() == 1, "{data}");
    }
    for (query, status) in [("delay_ms=x", 400), ("delay_ms=3600001", 422), ("delay=1", 400)] {
        let path = format!("{API}/tournaments/cup/matches/r1m1/events?{query}");
        server.http("GET", &path, None, "").expect(status);
    }
    drop(ann);
}

/// A game that is held back by its policy, watched while it is played.
fn held_back(server: &Server, policy: Value) {
    let olga = operator(server);
    let (ann, words) = patient_player(server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    announce(server, &olga, &cup("cup", "fish", &["ann", "house:random"], policy));
    let one = "/tournaments/cup/matches/r1m1";
    until("the match is there", || {
        let reply = server.http("GET", &format!("{API}{one}"), None, "");
        reply.status == 200 && reply.json()["standing"] == "running"
    });
    let path = format!("{API}{one}/events");
    let mut socket = server.watch(&path);
    let first = next(&mut socket, &path).unwrap();
    assert_eq!(first.event, "snapshot");
    assert_eq!(first.data.get("in_progress"), None, "{first:?}");
    for _ in 0..4 {
        let before = server.decisions();
        words.send(()).unwrap();
        until("it was answered", || server.decisions() > before);
        let shown = get(server, one);
        assert_eq!(shown.get("in_progress"), None, "{shown}");
        assert_eq!(get(server, &format!("{one}/games/1"))["standing"], "waiting");
    }
    // A finished game gives no player an advantage.
    for _ in 0..1_000 {
        let _ = words.send(());
    }
    until("the cup is over", || get(server, "/tournaments/cup")["standing"] == "over");
    assert_eq!(get(server, one)["standing"], "over");
    let after: Vec<_> = server.events(&path, None).collect();
    assert_eq!((after.len(), after[0].name.as_str()), (1, "end"));
    drop((words, ann));
}

#[test]
fn a_tournament_may_be_held_back() {
    let time = json!({"time": {"answer_ms": 600_000}});
    let server = Server::start();
    held_back(&server, json!({"observer_delay_ms": 3_600_000, "match": time}));
    let olga = json!({"account": "olga", "password": "the pw of olga"}).to_string();
    let olga = server.http("POST", &format!("{API}/sessions"), None, &olga).expect(201).json();
    let mut long = cup("long", "fish", &["house:greedy", "house:random"], json!({}));
    long["policy"] = json!({"observer_delay_ms": 3_600_001});
    let path = format!("{API}/tournaments");
    server.http("POST", &path, olga["token"].as_str(), &long.to_string()).expect(422);
}

#[test]
fn an_operator_may_hold_all_back() {
    let mut setup = Setup::default();
    setup.settings.observer_delay_ms = 3_600_000;
    let server = Server::with(setup);
    held_back(&server, json!({"match": {"time": {"answer_ms": 600_000}}}));
}

/// How it stood a while ago is not known any more, so nothing is shown of the game.
#[test]
fn a_restart_shows_nothing_that_is_held_back() {
    let mut server = Server::start();
    let olga = operator(&server);
    let (ann, words) = patient_player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let time = json!({"time": {"answer_ms": 600_000, "wait_ms": 600_000}, "crash": "resume"});
    let policy = json!({"observer_delay_ms": 3_600_000, "match": time});
    announce(&server, &olga, &cup("cup", "yahtzee-queue", &["ann", "house:random"], policy));
    for _ in 0..4 {
        words.send(()).unwrap();
    }
    until("some of it was played", || server.decisions() > 4);
    server = server.started_again();
    let one = "/tournaments/cup/matches/r1m1";
    let shown = get(&server, one);
    assert_eq!(shown["standing"], "running");
    assert_eq!(shown.get("in_progress"), None, "{shown}");
    assert_eq!(get(&server, &format!("{one}/games/1"))["standing"], "waiting");
    let path = format!("{API}{one}/events");
    let first = next(&mut server.watch(&path), &path).unwrap();
    assert_eq!(first.data.get("in_progress"), None, "{first:?}");
    drop((words, ann));
}

#[test]
fn delayed_events_are_shown_in_the_end() {
    let server = Server::start();
    let olga = operator(&server);
    let ann = player(&server, "ann", "greedy");
    until("ann is in line", || server.line().len() == 1);
    let policy = json!({"observer_delay_ms": 900, "match": {"best_of": 9}});
    announce(&server, &olga, &cup("cup", "yahtzee-class", &["ann", "house:random"], policy));
    let path = format!("{API}/tournaments/cup/matches/r1m1/events");
    let mut events = server.events(&path, None);
    until("the match is there", || {
        if events.status != 200 {
            events = server.events(&path, None);
        }
        events.status == 200
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.last().unwrap().name, "end");
    if events.len() > 1 {
        for event in &events[1..] {
            let data: Value = serde_json::from_str(&event.data).unwrap();
            assert!(data["behind_ms"].as_u64().unwrap() >= 900, "{data}");
        }
    }
    drop(ann);
}

#[test]
fn observers_have_nothing_to_say() {
    let server = Server::start();
    let path = format!("{API}/events");
    let mut socket = server.watch(&path);
    next(&mut socket, &path).unwrap();
    use agon_wire::websocket::Opcode;
    socket.frame(Opcode::Ping, b"there?");
    assert_eq!(socket.hear(), Heard::Pong(b"there?".to_vec()));
    socket.say(r#"{"type":"ping"}"#);
    assert_eq!(socket.hear(), Heard::Close(Some(1008)));
    let mut socket = server.watch(&path);
    next(&mut socket, &path).unwrap();
    socket.frame_with(0xff, b"x");
    assert_eq!(socket.hear(), Heard::Close(Some(1002)));
    let mut socket = server.watch(&path);
    next(&mut socket, &path).unwrap();
    socket.frame(Opcode::Close, &1000_u16.to_be_bytes());
    assert_eq!(socket.hear(), Heard::Close(Some(1000)));
    // Pages of other sites get nothing.
    let head = support::websocket::handshake_at(&path, "origin: http://evil.test\r\n");
    assert!(server.http_head(&head).starts_with("HTTP/1.1 403 "));
}
