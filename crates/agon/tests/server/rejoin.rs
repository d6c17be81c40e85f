//! Players that are lost, come back, cheat, or stay and say nothing, under the policies there are;
//! and a server that is down for longer than a request is open.

use crate::kill::accepted;
use crate::support::{Place, Server, until};
use crate::wire::{BOTH, Transport, Watched, Wire, connect, house_answer, http};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

/// A server and players that are in a tournament `duel` and have been asked.
fn asked(place: &Place, preset: &str, names: &[&str], time: Value) -> (Watched, Vec<Duelist>) {
    let watched = Watched::start(place, &[]);
    let wires = names.iter().zip(BOTH.into_iter().cycle()).map(|(name, transport)| {
        let mut wire = Wire::open(&watched.server, transport);
        let token = wire.log_in(name)["token"].as_str().expect("a token").to_owned();
        (wire, token)
    });
    let wires: Vec<_> = wires.collect();
    let all = if names.len() == 1 { vec![names[0], "house:greedy"] } else { names.to_vec() };
    let mut policy = json!({"match": {"time": time}});
    if preset.starts_with("yahtzee") {
        policy["match"]["best_of"] = json!(3);
    }
    watched.announce("duel", preset, &all, &json!({"policy": policy}));
    let players = wires.into_iter().map(|(mut wire, token)| {
        let request = wire.hear_until("request");
        Duelist { wire, token, request }
    });
    (watched, players.collect())
}

struct Duelist {
    wire: Wire,
    token: String,
    request: Value,
}

fn game_of(request: &Value) -> &str {
    request["id"].as_str().and_then(|id| id.split('.').nth(1)).expect("a game's number")
}

/// The kinds of all faults, with who is charged.
fn charged(place: &Place) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let events = place.events("match/").into_iter();
    let faults = events.map(|(_, event)| event["data"]["faulted"].clone());
    let faults = faults.filter(|faulted| !faulted.is_null());
    faults.map(|faulted| (text(&faulted["player"]), text(&faulted["fault"]["kind"]))).collect()
}

#[test]
fn reconnecting_player_plays_on_or_has_lost_the_game() {
    for (preset, game) in [("yahtzee-queue", "1"), ("yahtzee-class", "2")] {
        let place = Place::new("");
        let patient = json!({"answer_ms": 600_000, "wait_ms": 600_000});
        let (watched, mut players) = asked(&place, preset, &["ann"], patient);
        let ann = players.remove(0);
        drop(ann.wire);
        until("ann is missed", || !place.faults().is_empty());
        let mut back = Wire::open(&watched.server, Transport::WebSocket);
        back.come_back(&ann.token);
        let request = back.hear_until("request");
        assert_eq!(game_of(&request), game, "{preset}");
        assert_eq!(request["id"] == ann.request["id"], game == "1", "{preset}");
        let lost: Vec<_> = request["match"]["games"].as_array().into_iter().flatten().collect();
        assert_eq!(lost.len(), usize::from(game == "2"), "{preset}: {request}");
        assert_eq!(charged(&place), [("ann".to_owned(), "disconnected".to_owned())]);
        drop(watched);
        place.verify();
    }
}

#[test]
fn a_match_whose_players_are_all_gone_ends() {
    for preset in ["yahtzee-queue", "yahtzee-class", "fish"] {
        let place = Place::new("reconnect_ms = 100\n");
        let short = json!({"answer_ms": 600_000, "wait_ms": 100});
        let watched = Watched::start(&place, &[]);
        let mut wires = ["ann", "bob"].map(|name| {
            let mut wire = Wire::open(&watched.server, Transport::Tcp);
            wire.log_in(name);
            wire
        });
        let best_of = if preset == "fish" { 1 } else { 3 };
        let policy = json!({"policy": {"match": {"time": short, "best_of": best_of}}});
        watched.announce("duel", preset, &["ann", "bob"], &policy);
        wires[0].hear_until("request");
        drop(wires);
        until("it is over without them", || place.is_over("duel"));
        let who: BTreeSet<String> = charged(&place).into_iter().map(|(who, _)| who).collect();
        assert_eq!(who, ["ann", "bob"].map(str::to_owned).into(), "{preset}");
        let lobby = place.events("lobby");
        let over = lobby.iter().find(|(_, event)| event["type"] == "tournament-finished");
        assert_eq!(over.expect("the game is over").1["data"]["winners"], json!([]), "{preset}");
        watched.finish(&place, "duel");
    }
}

#[test]
fn cheating_costs_what_the_policy_says() {
    let patient = || json!({"answer_ms": 600_000});
    for preset in ["yahtzee-class", "yahtzee-queue", "fish"] {
        let place = Place::new("");
        let (watched, mut players) = asked(&place, preset, &["ann"], patient());
        let Duelist { mut wire, request, .. } = players.remove(0);
        let dice = request["question"]["dice"].as_array().cloned().unwrap_or_default();
        let missing = (1..=6).find(|die| !dice.contains(&json!(die)));
        let cheat = match preset {
            "fish" => json!({"place": [99, 99]}),
            _ => json!({"keep": [missing.expect("five dice do not show six faces")]}),
        };
        wire.say(&json!({"type": "answer", "id": request["id"], "answer": cheat}));
        let enqueue = json!({"type": "enqueue", "queue": "yahtzee-queue"});
        if preset == "yahtzee-class" {
            assert_eq!(game_of(&wire.hear_until("request")), "2", "the game, not the match");
        } else {
            assert_eq!(wire.notice("tournament-over")["data"]["won"], false);
        }
        assert_eq!(charged(&place)[0], ("ann".to_owned(), "cheat".to_owned()), "{preset}");
        wire.say(&enqueue);
        if preset == "yahtzee-queue" {
            assert_eq!(wire.hear_until("error")["code"], "refused", "ann is blacklisted");
            let (path, why) = ("/api/v1/blacklist/ann", json!({"why": "served its time"}));
            let lifted = http(&watched.server, &watched.operator, "DELETE", path, &why);
            assert_eq!(lifted.0, 204, "{}", lifted.1);
            wire.say(&enqueue);
        }
        assert_eq!(wire.hear_until("done")["what"], "enqueue", "{preset}");
        drop(watched);
        place.verify();
    }
}

#[test]
fn a_server_that_is_down_for_longer_than_a_request_is_open_charges_nobody() {
    const LIMIT_MS: u64 = 3_000;
    let place = Place::new("reconnect_ms = 120000\n");
    let short = json!({"answer_ms": LIMIT_MS, "wait_ms": 100});
    let (watched, players) = asked(&place, "yahtzee-class", &["ann", "bob"], short);
    let address = watched.server.address.clone();
    drop(watched);
    let down = Instant::now();
    let longer = Duration::from_millis(LIMIT_MS + 500);
    until("every limit and every wait has passed", || down.elapsed() > longer);
    let server = Server::start_again(&place, &address);
    let mut here = Vec::new();
    for (player, name) in players.into_iter().zip(["ann", "bob"]) {
        let mut back = Wire::open(&server, Transport::WebSocket);
        back.come_back(&player.token);
        let again = back.hear_until("request");
        assert_eq!(again["id"], player.request["id"], "the same question");
        assert_eq!(again["deadline_ms"], LIMIT_MS, "with all its time");
        back.say(&house_answer("yahtzee", "random", name, &again));
        let id = again["id"].as_str().expect("an id").to_owned();
        until("the answer is taken", || accepted(&place).contains_key(&id));
        here.push(back);
    }
    assert_eq!(place.faults(), Vec::<String>::new());
    drop((here, server));
    place.verify();
}

#[test]
fn a_server_that_stands_still_for_longer_than_a_request_is_open_charges_nobody() {
    const LIMIT_MS: u64 = 3_000;
    let place = Place::new("");
    let short = json!({"answer_ms": LIMIT_MS, "wait_ms": 100});
    let (watched, players) = asked(&place, "yahtzee-class", &["ann", "bob"], short);
    watched.server.process.signal(Signal::STOP);
    let still = Instant::now();
    let mut here = Vec::new();
    for (mut player, name) in players.into_iter().zip(["ann", "bob"]) {
        // It waits in the server's socket.
        player.wire.say(&house_answer("yahtzee", "random", name, &player.request));
        here.push(player);
    }
    let longer = Duration::from_millis(LIMIT_MS + 500);
    until("every limit has passed", || still.elapsed() > longer);
    watched.server.process.signal(Signal::CONT);
    for player in &here {
        let id = player.request["id"].as_str().expect("an id");
        until("the answer is taken", || accepted(&place).contains_key(id));
    }
    assert_eq!(place.faults(), Vec::<String>::new());
    drop((here, watched));
    place.verify();
}

#[test]
fn silent_or_unreading_client_delays_nobody() {
    let config = "[limits]\noutbox_lines_max = 8\nwrite_ms_max = 1000\n\
                  [[tournament]]\nname = \"cup\"\npreset = \"yahtzee-class\"\n\
                  named = [\"ann\", \"bob\"]\nbest_of = 3\n";
    let place = Place::new(config);
    let server = Server::start(&place);
    let silent: Vec<Wire> = (0..100).map(|at| Wire::open(&server, BOTH[at % BOTH.len()])).collect();
    let halves: Vec<_> = (0..20).map(|_| connect(&server.address)).collect();
    halves.iter().for_each(|half| half.shutdown(std::net::Shutdown::Write).expect("a socket"));
    // They log in, ask for a lot, and never read.
    let deaf: Vec<_> = (0..4)
        .map(|at| {
            let mut wire = Wire::open(&server, Transport::Tcp);
            wire.log_in(&format!("deaf {at}"));
            wire
        })
        .collect();
    let talking: Vec<_> = deaf
        .into_iter()
        .map(|mut wire| {
            std::thread::spawn(move || {
                until("it is cut off", || wire.ask_for_more().is_err());
            })
        })
        .collect();
    let mut players =
        ["ann", "bob"].map(|name| place.player(&server.address, name, &["--bot", "house:random"]));
    players.iter_mut().for_each(|player| assert_eq!(player.code(), Some(0)));
    until("the cup is over", || place.is_over("cup"));
    assert_eq!(place.faults(), Vec::<String>::new());
    talking.into_iter().for_each(|deaf| deaf.join().expect("the deaf are cut off"));
    drop((silent, halves, server));
    place.verify();
}

impl Wire {
    /// Sends many pings, whose answers nobody reads.
    fn ask_for_more(&mut self) -> std::io::Result<()> {
        self.socket().write_all("{\"type\":\"ping\"}\n".repeat(2_000).as_bytes())
    }
}
