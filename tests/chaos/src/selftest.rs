//! Tests of the checker, which may find nothing because it is blind: a small log and its records,
//! with one violation at a time.

use crate::blame::{self, Deeds};
use crate::check::{self, Read};
use crate::history::{History, Outage, Touch, beyond};
use crate::link::Link;
use crate::log::LogPlace;
use crate::player::{How, Player};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch;

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A tournament of one match of one game with three answers.
fn events() -> Vec<(&'static str, &'static str, Value)> {
    let (game, cup) = ("match/cup-1/r1m1", "lobby");
    let seats = ["p000", "p001"];
    let accepted = |request: &str, seat: u8, answer: Value| {
        let data = json!({"request": request, "seat": seat, "answer": answer, "took_ms": 5});
        (game, "answer-accepted", data)
    };
    let result = json!({
        "game": 1, "seats": seats, "end": "played", "scores": [1, 0], "ranks": [1, 2],
        "winners": ["p000"],
    });
    let ended = json!({
        "winners": ["p000"], "how": "played", "halves": [2, 0], "games": [], "counts_from": 1,
        "faults": [], "out": [],
    });
    let started = json!({"game": 1, "seats": seats, "commitment": ZEROS, "nonces": [null, null]});
    vec![
        (game, "game-started", started),
        accepted("r1m1.1.0.0", 0, json!({"keep": [1]})),
        accepted("r1m1.1.1.0", 1, json!({"keep": [2]})),
        accepted("r1m1.1.0.1", 0, json!({"score": "aces"})),
        (game, "game-ended", json!({"result": result, "secret": ZEROS})),
        (game, "match-ended", json!({"result": ended})),
        (cup, "tournament-finished", json!({"tournament": "cup-1", "winners": ["p000"]})),
    ]
}

fn fault(kind: &str) -> (&'static str, &'static str, Value) {
    let fault = json!({"kind": kind, "code": kind, "detail": "a sentence"});
    let faulted = json!({"player": "p000", "game": 1, "fault": fault});
    ("match/cup-1/r1m1", "player-left", json!({"faulted": faulted}))
}

/// Two players with complete records: the first is left alone, the second is not.
async fn players() -> Vec<Arc<Player>> {
    let server = watch::Sender::new("127.0.0.1:9".parse().expect("an address"));
    let mut players = Vec::new();
    for number in 0..2 {
        let link = Link::open(server.subscribe()).await.expect("a port");
        players.push(Arc::new(Player::new(number, How::Process, number == 1, link)));
    }
    {
        let mut first = players[0].record();
        first.answered("cup-1:r1m1.1.0.0", r#"{"keep":[1]}"#, Some(1_000));
        first.answered("cup-1:r1m1.1.0.1", r#"{ "score": "aces" }"#, Some(3_000));
        for turn in 0..2 {
            first.heard(&json!({"type": "request", "id": format!("cup-1:r1m1.1.0.{turn}")}));
        }
        let over = json!({"tournament": "cup-1", "match": "r1m1", "won": true});
        first.heard(&json!({"type": "notice", "about": "match-over", "data": over}));
        first.heard(&json!({"type": "notice", "about": "tournament-over", "data": over}));
    }
    players[1].record().answered("cup-1:r1m1.1.1.0", r#"{"keep":[2]}"#, Some(2_000));
    players
}

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Writes the events to a database, one a record, and checks it.
fn checked(test: &str, events: &[(&str, &str, Value)], players: &[Arc<Player>]) -> Read {
    let name = format!("agon-chaos-{test}-{}", std::process::id());
    let dir = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&dir.0).expect("a folder");
    let db = rusqlite::Connection::open(dir.0.join("agon.sqlite")).expect("a database");
    db.execute_batch("CREATE TABLE records (id INTEGER PRIMARY KEY, lines TEXT)").expect("a table");
    for (at, (stream, kind, data)) in events.iter().enumerate() {
        let head = json!({"v": 1, "stream": stream, "seq": at + 1, "at": 0, "more": 0});
        let mut line = head;
        (line["type"], line["data"]) = ((*kind).into(), data.clone());
        let insert = "INSERT INTO records (lines) VALUES (?1)";
        db.execute(insert, [line.to_string()]).expect("a record");
    }
    drop(db);
    let announced = ["cup-1".to_owned()].into();
    check::check(&LogPlace::Folder(dir.0.clone()), players, &announced, &History::new(), true)
        .expect("a log")
}

#[tokio::test]
async fn valid_log_has_no_complaints() {
    let players = players().await;
    let read = checked("well", &events(), &players);
    assert_eq!(read.complaints, [""; 0]);
    assert_eq!((read.decisions(), read.lost, read.doubled), (3, 0, 0));
}

#[tokio::test]
async fn every_violation_in_the_log_is_found() {
    let lose = |at: usize| {
        let mut events = events();
        events.remove(at);
        events
    };
    let twice = || {
        let mut events = events();
        events.insert(3, events[1].clone());
        events
    };
    let change = |at: usize, data: Value| {
        let mut events = events();
        events[at].2["answer"] = data;
        events
    };
    let foreign = || {
        let mut events = events();
        events[2].2["request"] = "r1m1.1.1.7".into();
        events
    };
    let wrongs = [
        ("an answer is lost", lose(1), "is not in the log"),
        ("an answer is doubled", twice(), "was accepted twice"),
        ("another answer", change(2, json!({"keep": [3]})), "not {\"keep\":[3]}"),
        ("an answer nobody sent", foreign(), "never sent"),
        ("a result is lost", lose(5), "told that won is true"),
        ("a tournament is lost", lose(6), "was announced, and is not in the log"),
    ];
    for (at, (what, events, complaint)) in wrongs.into_iter().enumerate() {
        let players = players().await;
        let read = checked(&format!("wrong{at}"), &events, &players);
        let found = read.complaints.iter().any(|found| found.contains(complaint));
        assert!(found, "{what}: {:?}", read.complaints);
    }
}

#[tokio::test]
async fn false_messages_to_players_are_found() {
    let told = json!({"type": "error", "code": "repeated", "id": "cup-1:r1m1.1.0.0",
                      "accepted": {"keep": [6]}});
    let asked = json!({"type": "request", "id": "cup-1:r1m1.1.0.3"});
    let lost = json!({"type": "notice", "about": "match-over",
                      "data": {"tournament": "cup-1", "match": "r1m1", "won": false}});
    for (at, message) in [told, asked, lost].into_iter().enumerate() {
        let players = players().await;
        players[0].record().heard(&message);
        let read = checked(&format!("told{at}"), &events(), &players);
        assert!(!read.complaints.is_empty(), "{message}");
    }
    // An answer that is sent and not in the log counts as lost, unless its game was broken off.
    let players = players().await;
    players[1].record().answered("cup-1:r1m1.1.1.1", "{}", Some(4_000));
    let read = checked("lost", &events(), &players);
    assert_eq!((read.lost, read.complaints.len()), (1, 1), "{:?}", read.complaints);
    let mut broken = events();
    broken[4].2["result"]["end"] = "void".into();
    let read = checked("broken", &broken, &players);
    assert_eq!((read.lost, read.complaints.len()), (0, 0), "{:?}", read.complaints);
}

#[tokio::test]
async fn faults_need_a_disturbance_near_in_time() {
    let players = players().await;
    // Charges the first player, between the answers at 2,000 and at 3,000 ms.
    let charged = |kind: &str| {
        let mut events = events();
        events.insert(3, fault(kind));
        checked(&format!("fault-{kind}"), &events, &players)
    };
    let touch = |from, to| vec![Touch { player: 0, what: "a cut", from, to }];
    let mut stalls: Vec<Outage> = Vec::new();
    let judged = |kind: &str, touches: &[Touch], outages: &[Outage], stalls: &[Outage]| {
        let deeds = Deeds { players: &players, touches, outages, stalls, answer_ms: 5_000 };
        blame::judge(&charged(kind).faults, &deeds).1.len()
    };
    assert_eq!(judged("disconnected", &[], &[], &stalls), 1, "nothing was done to it");
    assert_eq!(judged("disconnected", &touch(1_500, 1_600), &[], &stalls), 0);
    assert_eq!(judged("timeout", &touch(0, 900), &[], &stalls), 0);
    assert_eq!(judged("timeout", &touch(9_000, 9_100), &[], &stalls), 1, "that was later");
    assert_eq!(judged("cheat", &touch(1_500, 1_600), &[], &stalls), 1, "no cut makes a cheat");
    let away = [Outage { from: 1_000, to: 2_500 }];
    assert_eq!(judged("disconnected", &[], &away, &stalls), 1, "the server's troubles are its own");
    stalls.push(Outage { from: 500, to: 2_200 });
    assert_eq!(judged("timeout", &[], &[], &stalls), 1, "the harness was slow, not that slow");
    stalls.push(Outage { from: 2_200, to: 6_000 });
    assert_eq!(judged("timeout", &[], &[], &stalls), 0);
}

#[test]
fn outages_extend_the_time() {
    let away = [Outage { from: 1_000, to: 5_000 }, Outage { from: 6_000, to: 7_000 }];
    assert_eq!(beyond(&away, 0, 500), 500);
    assert_eq!(beyond(&away, 0, 1_500), 5_500);
    assert_eq!(beyond(&away, 0, 2_500), 7_500, "both hold it up");
    assert_eq!(beyond(&away, 900, 200), 5_100);
    assert_eq!(beyond(&away, 8_000, 200), 8_200);
}
