//! Receipts of players: what they noted while they played, against the log of a server.

use crate::support::{Client, Place, Server, until};
use serde_json::{Value, json};
use std::fs;

const DUEL: &str = "[[tournament]]\nname = \"duel\"\npreset = \"yahtzee-queue\"\n\
                    named = [\"ann\", \"bob\"]\nbest_of = 1\n";

/// A duel of two players who keep receipts; gives the place it was played at.
fn duel() -> Place {
    let place = Place::new(DUEL);
    let server = Server::start(&place);
    let plays = |file| ["--bot", "house:random", "--receipt", file];
    let mut ann = place.player(&server.address, "ann", &plays("ann.jsonl"));
    let mut bob = place.player(&server.address, "bob", &plays("bob.jsonl"));
    assert_eq!((ann.code(), bob.code()), (Some(0), Some(0)));
    until("the duel is over", || !finished(&place).is_null());
    place
}

/// The event that ended the first tournament, in the lobby's stream.
fn finished(place: &Place) -> Value {
    let lobby = place.events("lobby").into_iter().map(|(_, event)| event);
    let mut finished = lobby.filter(|event| event["type"] == "tournament-finished");
    finished.next().map_or(Value::Null, |event| event["data"].clone())
}

fn receipt(place: &Place, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.path(&format!("{name}.jsonl"))).expect("a receipt");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Verifies the log against a receipt.
fn verify(place: &Place, name: &str, noted: &[Value]) -> (Option<i32>, String) {
    let text: String = noted.iter().map(|entry| format!("{entry}\n")).collect();
    fs::write(place.path("noted.jsonl"), text).expect("a file");
    place.agon(&["verify", "--as", name, "--receipt", "noted.jsonl", "agon-data"])
}

#[test]
fn a_receipt_agrees_with_the_log_and_contradicts_any_other() {
    let place = duel();
    place.verify();
    let head = finished(&place)["head"].as_str().expect("the head of the tournament").to_owned();
    for name in ["ann", "bob"] {
        let noted = receipt(&place, name);
        let (code, said) = verify(&place, name, &noted);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains("The receipt agrees: 1 tournament, 1 match,"), "{said}");
        let ended = noted.last().expect("an end");
        assert_eq!((&ended["type"], &ended["head"]), (&json!("tournament-ended"), &json!(head)));
        let is_answer = |entry: &&Value| entry["type"] == "answer";
        assert!(noted.iter().filter(is_answer).count() > 12, "{noted:?}");
        // Every change to the receipt is detected.
        for (at, field, value) in [
            ("hello", "nonce", json!("00ff")),
            ("tournament", "commitment", json!("0".repeat(64))),
            ("answer", "answer", json!({"score": "chance"})),
            ("answer", "id", json!("q:r1m1.1.9.0")),
            ("match-over", "head", json!("0".repeat(64))),
            ("tournament-ended", "head", json!("0".repeat(64))),
            ("tournament-ended", "winners", json!(["eve"])),
        ] {
            let mut other = noted.clone();
            let entry = other.iter_mut().find(|entry| entry["type"] == at).expect("an entry");
            entry[field] = value;
            let (code, said) = verify(&place, name, &other);
            assert_eq!(code, Some(4), "{at} {field}: {said}");
            assert!(said.contains("by its receipt"), "{said}");
        }
    }
    let (code, said) = verify(&place, "bob", &receipt(&place, "ann"));
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("the receipt of ann, not of bob"), "{said}");
    let (code, said) = place.agon(&["verify", "agon-data", "--head", &head]);
    assert_eq!(code, Some(0), "{said}");
}

/// An operator who plays a tournament again under its name has another log, and good heads.
#[test]
fn a_tournament_that_was_played_again_contradicts_the_receipts_of_the_first() {
    let (first, again) = (duel(), duel());
    again.verify();
    let (code, said) = verify(&again, "ann", &receipt(&first, "ann"));
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("by its receipt, ann was told another commitment"), "{said}");
}

#[test]
fn all_players_get_the_head_at_the_end() {
    let place = Place::new(DUEL);
    let server = Server::start(&place);
    let mut ann = Client::logged_in(&server.address, "ann");
    let plays = ["--bot", "house:greedy"];
    let mut bob = place.player(&server.address, "bob", &plays);
    // She gives up at once, and stays to hear the end.
    let cup = loop {
        let said = ann.hear_until("notice");
        if said["about"] == "tournament" {
            break said["data"]["tournament"].as_str().expect("a name").to_owned();
        }
    };
    ann.say(&json!({"type": "withdraw", "tournament": cup}).to_string());
    let mut told = Vec::new();
    while told.last().is_none_or(|notice: &Value| notice["about"] != "tournament-ended") {
        told.push(ann.hear_until("notice"));
    }
    assert_eq!(bob.code(), Some(0));
    until("it is over", || !finished(&place).is_null());
    let ended = &told.last().expect("an end")["data"];
    assert_eq!(ended["head"], finished(&place)["head"]);
    assert_eq!(ended["winners"], json!(["bob"]));
    let over = told.iter().find(|notice| notice["about"] == "match-over").expect("a match");
    let reports = place.events("tournament/").into_iter().map(|(_, event)| event);
    let report = reports.into_iter().find(|event| event["type"] == "match-reported");
    assert_eq!(over["data"]["head"], report.expect("a report")["data"]["head"]);
    place.verify();
}
