//! `docs/protocol/native.md` is the contract: its program plays, its transcript is what happens.

use crate::support::{Place, python};
use std::fs;

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol/native.md");
    fs::read_to_string(path).expect("the document")
}

/// The code block after `opening`.
fn block<'a>(text: &'a str, opening: &str) -> &'a str {
    let (_, rest) = text.split_once(opening).expect("a block");
    rest.split_once("```").expect("an end of the block").0
}

#[test]
fn the_program_of_the_document_plays() {
    let place = Place::new();
    let text = document();
    let program = block(&text, "```python\n");
    let lines = program.lines().filter(|line| !line.is_empty()).count();
    assert!(lines <= 15, "fifteen lines are promised, not {lines}");
    fs::write(place.path("bot.py"), program).expect("a file");
    let mut args = vec!["run", "--preset", "yahtzee-class", "--best-of", "3", "--strict"];
    args.extend(["--hello-ms", "60000", "--answer-ms", "60000", "--quiet", "--out", "run"]);
    args.extend(["--player", "python3 bot.py", "house:random", "again=python3 bot.py"]);
    place.good(&args);
    let results = place.results("run");
    let named = results["standings"].as_array().expect("standings").iter();
    assert!(named.clone().any(|one| one["player"] == "bot"), "{results}");
    place.good(&["verify", "run"]);
}

/// Without the version and the head of the log, which differ from run to run.
fn without_changes(text: &str) -> String {
    let without = |text: &str, field: &str| {
        let (before, rest) = text.split_once(field).expect("the field");
        let (_, after) = rest.split_once('"').expect("the end of a string");
        format!("{before}{after}")
    };
    without(&without(text, r#""server":""#), r#""head":""#)
}

#[test]
fn the_transcript_is_what_happens() {
    let place = Place::new();
    let player = python("greedy_fish.py", "");
    let eve = format!("eve={}", python("recorder.py", &format!("record {player}")));
    let mut args = vec!["run", "--preset", "fish", "--seed", "1", "--quiet", "--out", "run"];
    args.extend(["--game-config", r#"{"rows":4,"columns":3}"#, "--hello-ms", "60000"]);
    // The record is written beside the run.
    args.extend(["--no-sandbox", "--player", &eve, "house:greedy"]);
    place.good(&args);
    let record = fs::read_to_string(place.path("record")).expect("a record");
    let text = document();
    let (_, transcript) = text.split_once("## A transcript").expect("the section");
    let expected = block(transcript, "```text\n");
    assert_eq!(without_changes(&record), without_changes(expected));
}

#[test]
fn the_document_names_every_message_and_code() {
    let text = document();
    for word in ["### hello", "### request", "### notice", "### error", "### end", "### answer"] {
        assert!(text.contains(word), "{word}");
    }
    for code in ["repeated", "late", "foreign", "malformed", "timeout", "disconnected", "no-show"] {
        assert!(text.contains(&format!("`{code}`")), "{code}");
    }
}
