//! A server that is killed or stopped at any moment and started again loses no decision, takes none
//! twice, and charges nobody.

use crate::support::{AGON, Place, Process, Server, until};
use agon_bots::SplitMix64;
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// A seed from the environment to repeat a failure, else a new one every time.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("AGON_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    given.unwrap_or_else(|| now().map_or(0, |since| since.subsec_nanos().into()))
}

/// A program that notes what it answers.
fn recorder(bot: &str, record: &str) -> String {
    format!("'{AGON}' bot {bot} | tee -a {record}")
}

/// Players by turns: programs that keep a record, and house players.
fn players(place: &Place, server: &str, bots: &[&str]) -> Vec<Process> {
    let all = bots.iter().enumerate().map(|(at, bot)| {
        let name = format!("p{at}");
        if at % 2 == 1 {
            return place.player(server, &name, &["--bot", &format!("house:{bot}")]);
        }
        let line = recorder(bot, &format!("{name}.record"));
        place.player(server, &name, &["--no-sandbox", "--", "sh", "-c", &line])
    });
    all.collect()
}

/// Every request was accepted at most once; gives the answers by tournament-wide request id.
pub(crate) fn accepted(place: &Place) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    for (stream, event) in place.events("match/") {
        if event["type"] != "answer-accepted" {
            continue;
        }
        let tournament = stream.split('/').nth(1).expect("match/TOURNAMENT/ID");
        let request = event["data"]["request"].as_str().expect("a request");
        let id = format!("{tournament}:{request}");
        let before = answers.insert(id.clone(), event["data"]["answer"].clone());
        assert_eq!(before, None, "{id} was accepted twice");
    }
    answers
}

/// Plays tournaments until the server was killed often enough in them.
fn nothing_is_lost(preset: &str, best_of: u32, bots: &[&str], kills: u32, grow_max: u64) {
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let mut chance = SplitMix64::new(seed);
    let mut killed = 0;
    for cup in 1.. {
        assert!(cup <= 20, "seed {seed}: {killed} kills in 20 cups");
        killed +=
            one_cup(preset, best_of, bots, kills.saturating_sub(killed), grow_max, &mut chance);
        if killed >= kills {
            break;
        }
    }
}

/// Plays a tournament while the server is killed up to so many times; says how often it was.
fn one_cup(
    preset: &str,
    best_of: u32,
    bots: &[&str],
    kills: u32,
    grow_max: u64,
    chance: &mut SplitMix64,
) -> u32 {
    let seed = chance.seed();
    let count = bots.len();
    let place = Place::new(&format!(
        "reconnect_ms = 120000\n[[tournament]]\nname = \"cup\"\npreset = \"{preset}\"\n\
         players = {count}\nbest_of = {best_of}\nstart = \"when-ready\"\n"
    ));
    let mut server = Server::start(&place);
    let address = server.address.clone();
    let mut all = players(&place, &address, bots);
    until("the cup has begun", || !place.events("match/cup").is_empty());
    let mut killed = 0;
    while killed < kills && !place.is_over("cup") {
        let limit = place.log_len() + chance.below(grow_max);
        until("the log has grown", || place.log_len() >= limit || place.is_over("cup"));
        if chance.below(4) == 0 {
            server.process.signal(Signal::TERM);
            assert_eq!(server.process.code(), Some(0), "seed {seed}: a polite stop");
        } else {
            drop(server);
            killed += 1;
        }
        if chance.below(4) == 0 {
            // Killed again before, or in the moment, it is up.
            let early = Server::spawn(&place, &address, &[]);
            for _ in 0..chance.below(2_000_000) {
                std::hint::spin_loop();
            }
            drop(early);
            killed += 1;
        }
        server = Server::start_again(&place, &address);
    }
    until("the cup is over", || place.is_over("cup"));
    for player in &mut all {
        assert_eq!(player.code(), Some(0), "seed {seed}");
    }
    drop(server);
    place.verify();
    assert_eq!(
        place.faults(),
        Vec::<String>::new(),
        "seed {seed}: a restart costs nobody anything"
    );
    let answers = accepted(&place);
    let mut recorded = 0;
    for at in (0..count).step_by(2) {
        let text = fs::read_to_string(place.path(&format!("p{at}.record"))).expect("a record");
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("a whole line");
            if line["type"] == "answer" {
                let id = line["id"].as_str().expect("an id");
                assert!(answers.contains_key(id), "seed {seed}: p{at}'s answer to {id} is lost");
                recorded += 1;
            }
        }
    }
    assert!(recorded > 0, "something was recorded");
    eprintln!("{preset}: {killed} kills, {} decisions", answers.len());
    killed
}

#[test]
fn a_cup_of_eight_under_resume() {
    let bots = ["greedy", "random", "random", "greedy", "random", "greedy", "greedy", "random"];
    nothing_is_lost("yahtzee-queue", 5, &bots, 24, 120);
}

#[test]
fn where_a_lost_connection_costs_the_game() {
    let bots = ["greedy", "random", "random", "greedy"];
    nothing_is_lost("yahtzee-class", 3, &bots, 8, 80);
}

#[test]
fn nothing_is_lost_where_absent_players_are_removed() {
    let bots = ["greedy", "random", "random", "greedy", "random", "greedy", "greedy"];
    nothing_is_lost("fish", 1, &bots, 6, 12);
}

#[test]
fn where_results_are_confirmed() {
    let bots = ["hold-10", "buy-now", "random", "buy-now"];
    nothing_is_lost("trains", 1, &bots, 6, 12);
}
