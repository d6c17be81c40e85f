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
