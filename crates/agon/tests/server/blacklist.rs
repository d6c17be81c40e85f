//! The blacklist: a listed player leaves everything it plays in, a server that is killed right
//! after a cheat lists the cheater when it is started again, and `agon verify` finds what was
//! removed from the lobby's log or moved in it.

use crate::kill::seed;
use crate::support::{Place, Server, until};
use crate::wire::{Transport, Watched, Wire, http};
use agon_bots::SplitMix64;
use agon_store::{Append, Log, SqliteLog};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Kills in one run of the tests; `AGON_TEST_KILLS=500` makes it as many as one likes.
const KILLS: u64 = 6;

/// How many cheat at once before every kill.
const CHEATERS: usize = 4;

/// A policy without deadlines that matter, under which players meet in the order they are named in.
fn patient() -> Value {
    let time = json!({"answer_ms": 600_000, "wait_ms": 600_000});
    json!({"policy": {"pairing": "order", "match": {"time": time}}})
}

/// An answer to a request for dice that keeps what was not rolled.
fn cheat(request: &Value) -> Value {
    let dice = request["question"]["dice"].as_array().cloned().unwrap_or_default();
    let missing = (1..=6).find(|die| !dice.contains(&json!(die)));
    let answer = json!({"keep": [missing.expect("five dice do not show six faces")]});
    json!({"type": "answer", "id": request["id"], "answer": answer})
}

/// eve has a bye in the first round of `cup`, and waits for a sign-up and in a queue.
fn between_rounds(place: &Place) -> (Watched, BTreeMap<&'static str, Wire>) {
    let watched = Watched::start(place, &[]);
    let wires = ["ann", "bob", "eve"].map(|name| {
        let mut wire = Wire::open(&watched.server, Transport::Tcp);
        wire.log_in(name);
        (name, wire)
    });
    let mut wires = BTreeMap::from(wires);
    watched.announce("cup", "yahtzee-queue", &["ann", "bob", "eve"], &patient());
    let sign_up = json!({"id": "later", "preset": "fish", "selection": {"by": "sign-up",
        "at_least": 2, "at_most": 9, "wait_ms": 600_000, "second_wait_ms": 0, "second_at_least": 2}});
    let (status, said) =
        http(&watched.server, &watched.operator, "POST", "/api/v1/tournaments", &sign_up);
    assert_eq!(status, 201, "{said}");
    let eve = wires.get_mut("eve").expect("she is here");
    for request in [
        json!({"type": "sign-up", "tournament": "later"}),
        json!({"type": "enqueue", "queue": "yahtzee-queue"}),
    ] {
        eve.say(&request);
        eve.hear_until("done");
    }
    (watched, wires)
}

/// After eve was listed: she is out of everything, knows why, and bob is the champion.
fn eve_is_out(place: &Place, watched: Watched, mut wires: BTreeMap<&'static str, Wire>, why: &str) {
    let eve = wires.get_mut("eve").expect("she is here");
    let told = eve.notice("blacklisted");
    assert!(told["data"]["reason"].as_str().is_some_and(|told| told.contains(why)), "{told}");
    while eve.notice("tournament-over")["data"]["tournament"] != "cup" {}
    let dropped = place.events("tournament/cup").into_iter().find_map(|(_, event)| {
        (event["type"] == "player-dropped").then(|| event["data"]["faulted"].clone())
    });
    let dropped = dropped.expect("eve is dropped");
    assert_eq!(
        (&dropped["player"], &dropped["fault"]["code"]),
        (&json!("eve"), &json!("blacklisted"))
    );
    let waits = |path: &str| {
        let (status, body) = http(&watched.server, "", "GET", path, &Value::Null);
        assert_eq!(status, 200, "{body}");
        body.contains("\"eve\"")
    };
    assert!(!waits("/api/v1/tournaments/later"), "she is signed up for nothing");
    eve.say(&json!({"type": "enqueue", "queue": "yahtzee-queue"}));
    assert_eq!(eve.hear_until("error")["code"], "refused");
    let ann = wires.get_mut("ann").expect("she is here");
    ann.say(&json!({"type": "withdraw", "tournament": "cup"}));
    let bob = wires.get_mut("bob").expect("he is here");
    assert_eq!(bob.notice("tournament-over")["data"]["won"], true, "nobody else is left");
    watched.finish(place, "cup");
}

#[test]
fn a_cheater_between_rounds_of_another_tournament_is_taken_out_of_it() {
    let place = Place::new("");
    let (watched, mut wires) = between_rounds(&place);
    watched.announce("duel", "yahtzee-queue", &["eve", "house:greedy"], &patient());
    let eve = wires.get_mut("eve").expect("she is here");
    let request = eve.hear_until("request");
    eve.say(&cheat(&request));
    eve_is_out(&place, watched, wires, "cheat");
    forged_logs_are_found(&place);
}

#[test]
fn a_player_that_an_operator_blacklists_is_taken_out_of_what_it_plays() {
    let place = Place::new("");
    let (watched, mut wires) = between_rounds(&place);
    watched.announce("duel", "yahtzee-class", &["eve", "house:greedy"], &patient());
    wires.get_mut("eve").expect("she is here").hear_until("request");
    let (path, why) = ("/api/v1/blacklist/eve", json!({"why": "sold the match"}));
    let listed = http(&watched.server, &watched.operator, "POST", path, &why);
    assert_eq!(listed.0, 204, "{}", listed.1);
    eve_is_out(&place, watched, wires, "sold the match");
    assert!(place.is_over("duel"), "her match is forfeited");
}

/// A copy of the log whose lobby is changed, and what `agon verify` says of it.
fn verdict(place: &Place, change: impl FnOnce(&mut Vec<Vec<Value>>)) -> (Option<i32>, String) {
    let old = SqliteLog::open_read_only(place.path("agon-data/agon.sqlite")).expect("a log");
    let dir = tempfile::tempdir_in(place.path("")).expect("a folder");
    let new = SqliteLog::open(dir.path().join("agon.sqlite")).expect("a log");
    let mut change = Some(change);
    for (stream, _) in old.streams().expect("streams") {
        let lines = old.load(&stream, 0).expect("a stream");
        let mut records: Vec<Vec<String>> = vec![Vec::new()];
        for line in lines {
            let last = line.contains(r#","more":0,"#);
            records.last_mut().expect("a record").push(line);
            if last {
                records.push(Vec::new());
            }
        }
        records.retain(|record| !record.is_empty());
        if stream == "lobby" {
            let read = |line: &String| serde_json::from_str(line).expect("lines are JSON");
            let mut lobby: Vec<Vec<Value>> =
                records.iter().map(|record| record.iter().map(read).collect()).collect();
            change.take().expect("one lobby")(&mut lobby);
            records = renumbered(&lobby);
        }
        let mut expected = 0;
        for lines in records {
            let append = Append { stream: stream.as_str().into(), expected, lines };
            expected = new.append(append).expect("it is taken");
        }
    }
    drop(new);
    let path = dir.path().to_str().expect("a path").to_owned();
    place.agon(&["verify", "--quiet", &path])
}

/// The lobby's lines again, in the order of their fields, numbered from 1.
fn renumbered(records: &[Vec<Value>]) -> Vec<Vec<String>> {
    let mut seq = 0;
    let mut write = |line: &Value| {
        seq += 1;
        let (at, more, tag, data) = (&line["at"], &line["more"], &line["type"], &line["data"]);
        let head = format!(r#"{{"v":1,"stream":"lobby","seq":{seq},"at":{at},"more":{more}"#);
        format!(r#"{head},"type":{tag},"data":{data}}}"#)
    };
    records.iter().map(|record| record.iter().map(&mut write).collect()).collect()
}

fn listing(records: &[Vec<Value>]) -> usize {
    let found = records.iter().position(|record| record[0]["type"] == "account-blacklisted");
    found.expect("eve is listed")
}

/// Every way to hide or to invent a blacklisting by a policy.
fn forged_logs_are_found(place: &Place) {
    let (code, said) = verdict(place, |_| {});
    assert_eq!(code, Some(0), "{said}");
    type Change = fn(&mut Vec<Vec<Value>>);
    let forgeries: [(&str, Change, &str); 7] = [
        ("removed", |all| drop(all.remove(listing(all))), "did not blacklist eve"),
        (
            "moved to the end",
            |all| {
                let mut record = all.remove(listing(all));
                // With a time that fits there: times that go back are found before.
                let at = all.last().expect("more records")[0]["at"].clone();
                record.iter_mut().for_each(|line| line["at"] = at.clone());
                all.push(record);
            },
            "does not run",
        ),
        (
            "moved up",
            |all| {
                let at = listing(all);
                all.swap(at, at - 1);
            },
            "",
        ),
        (
            "another cause",
            |all| {
                let at = listing(all);
                all[at][0]["data"]["cause"]["event"] = json!(1);
            },
            "no match shows a cheat",
        ),
        (
            "another account",
            |all| {
                let at = listing(all);
                all[at][0]["data"]["account"] = json!("ann");
            },
            "",
        ),
        (
            "twice",
            |all| {
                let record = all[listing(all)].clone();
                all.insert(listing(all) + 1, record);
            },
            "",
        ),
        (
            "no cause, another reason",
            |all| {
                let at = listing(all);
                let data = all[at][0]["data"].as_object_mut().expect("an object");
                data.remove("cause");
                data["reason"] = json!("because");
            },
            "no match shows a cheat",
        ),
    ];
    for (what, change, found) in forgeries {
        let (code, said) = verdict(place, change);
        assert_eq!(code, Some(4), "{what}: {said}");
        assert!(said.contains("NOT verified") && said.contains(found), "{what}: {said}");
    }
    // A log of an earlier program names no cause, and is as good as before.
    let (code, said) = verdict(place, |all| {
        let at = listing(all);
        all[at][0]["data"].as_object_mut().expect("an object").remove("cause");
    });
    assert_eq!(code, Some(0), "{said}");
}

/// The cheats in the log, and the cheats that the lobby has listed for, each as its place.
fn cheats_and_listings(place: &Place) -> (BTreeMap<String, String>, Vec<String>) {
    let cheats = place.events("match/").into_iter().filter_map(|(stream, event)| {
        let faulted = &event["data"]["faulted"];
        let cheated = event["type"] == "player-faulted" && faulted["fault"]["kind"] == "cheat";
        let player = faulted["player"].as_str()?.to_owned();
        cheated.then(|| (format!("{stream} {}", event["seq"]), player))
    });
    let cheats = cheats.collect();
    let listings = place.events("lobby").into_iter().filter_map(|(_, event)| {
        let cause = event["data"].get("cause")?.clone();
        let text = |field: &str| cause[field].as_str().expect("a name").to_owned();
        Some(format!("match/{}/{} {}", text("tournament"), text("match"), cause["event"]))
    });
    (cheats, listings.collect())
}

#[test]
fn a_server_that_is_killed_right_after_a_cheat_lists_the_cheater_when_it_is_back() {
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let mut chance = SplitMix64::new(seed);
    let kills = std::env::var("AGON_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let place = Place::new("reconnect_ms = 120000\n");
    let mut watched = Watched::start(&place, &[]);
    let address = watched.server.address.clone();
    let names: Vec<String> = (0..CHEATERS).map(|at| format!("eve{at}")).collect();
    let (mut derived, mut lifted) = (0, BTreeSet::new());
    let mut takes = Duration::ZERO;
    for kill in 0..=kills.unwrap_or(KILLS) {
        let mut wires = Vec::new();
        for name in &names {
            let mut wire = Wire::open(&watched.server, Transport::Tcp);
            wire.log_in(name);
            let id = format!("duel-{kill}-{name}");
            watched.announce(&id, "yahtzee-queue", &[name, "house:random"], &patient());
            wires.push(wire);
        }
        let lies: Vec<Value> =
            wires.iter_mut().map(|wire| cheat(&wire.hear_until("request"))).collect();
        let since = Instant::now();
        wires.iter_mut().zip(&lies).for_each(|(wire, lie)| wire.say(lie));
        if kill == 0 {
            // The first time nobody dies: it shows how long the disk of this machine takes.
            wires.iter_mut().for_each(|wire| drop(wire.notice("blacklisted")));
            takes = since.elapsed();
        }
        // Some die before the first cheat is durable, some after the last listing is.
        let wait = takes * (chance.below(120) as u32) / 100;
        while since.elapsed() < wait {
            std::hint::spin_loop();
        }
        watched.server.process.signal(Signal::KILL);
        watched.server.process.code();
        let (cheats, listings) = cheats_and_listings(&place);
        derived += cheats.keys().filter(|cheat| !listings.contains(cheat)).count();
        watched.server = Server::start_again(&place, &address);
        let what = format!("seed {seed}, kill {kill}: all are listed");
        until(&what, || cheats_and_listings(&place).1.len() >= cheats.len());
        let (_, listings) = cheats_and_listings(&place);
        for cheat in cheats.keys() {
            let times = listings.iter().filter(|listing| *listing == cheat).count();
            assert_eq!(times, 1, "seed {seed}, kill {kill}: {cheat}");
        }
        // An operator forgives them; the next start must not list them for the same again.
        for name in cheats.iter().filter(|(cheat, _)| lifted.insert((*cheat).clone())) {
            let (path, why) = (format!("/api/v1/blacklist/{}", name.1), json!({"why": "again"}));
            let done = http(&watched.server, &watched.operator, "DELETE", &path, &why);
            assert!(matches!(done.0, 204 | 409), "{}", done.1);
        }
    }
    eprintln!("{} cheats, {derived} of them listed only after the restart", lifted.len());
    assert!(!lifted.is_empty(), "seed {seed}: some cheats were durable");
    drop(watched);
    place.verify();
}
