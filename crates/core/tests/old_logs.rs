//! Logs of every version of the format ever written stay readable: they are folded and verified.

use agon_core::verify::{read, verify_match, verify_tournament};
use agon_core::{Event, FORMAT_VERSION};
use agon_games::Registry;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/logs")
}

#[test]
fn logs_of_every_version_follow_from_the_rules() {
    let games = Registry::standard();
    for version in 1..=FORMAT_VERSION {
        let mut checked = 0;
        for entry in std::fs::read_dir(folder().join(format!("v{version}"))).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let texts: Vec<String> = text.lines().map(String::from).collect();
            let lines = read(&texts).unwrap_or_else(|error| panic!("{path:?}: {error}"));
            let events = match &lines[0].event {
                Event::TournamentCreated(_) => {
                    verify_tournament(&lines, &games, None).map(|check| check.events)
                }
                _ => verify_match(&lines, &games, None).map(|check| check.events),
            };
            let events = events.unwrap_or_else(|finding| panic!("{path:?}: {finding}"));
            assert_eq!(events as usize, texts.len(), "{path:?} is checked to its end");
            checked += 1;
        }
        assert!(checked >= 6, "logs of version {version} are kept");
    }
}

/// The log is of an earlier version, which divided players into tables by exchanges alone.
#[test]
fn tables_of_an_earlier_version_are_accepted_and_no_others() {
    let path = folder().join("v1/swiss-tables-tournament.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let texts: Vec<String> = text.lines().map(String::from).collect();
    assert!(text.contains("some of them meet again, since no exchange of players avoids it"));
    let verify = |texts: &[String]| {
        verify_tournament(&read(texts).unwrap(), &Registry::standard(), None).map(|_| ())
    };
    assert_eq!(verify(&texts), Ok(()));
    let paired = |text: &&String| text.contains("\"round-paired\"");
    let last = texts.iter().rfind(paired).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(last).unwrap();
    let matches = &mut line["data"]["matches"];
    let moved = matches[0]["players"][0].take();
    matches[0]["players"][0] = std::mem::replace(&mut matches[1]["players"][0], moved);
    let forged: Vec<String> = texts
        .iter()
        .map(|text| if text == last { line.to_string() } else { text.clone() })
        .collect();
    assert_eq!(verify(&forged).unwrap_err().event, "round-paired");
}
