//! A TOML file with every field, flags over it, and what makes no sense in one.

use crate::support::Place;
use std::fs;

const EVERY_FIELD: &str = r#"
preset = "yahtzee-class"
game = "yahtzee"
name = "summer-cup"
players = ["house:greedy", "eve=house:random", "house:random"]
format = "bracket"
pairing = "order"
best_of = 3
slots = 8
concurrency = 1
seed = 77
out = "cup"
crash = "resume"
cheat = "remove"
ties = "replay"
rotate_seats = true

[config]
dice = "independent"

[limits]
answer_ms = 1234
bank_ms = 5678
wait_ms = 4321
hello_ms = 8765
lapses_max = 9
"#;

#[test]
fn every_field_counts() {
    let place = Place::new();
    fs::write(place.path("cup.toml"), EVERY_FIELD).expect("a file");
    place.good(&["run", "--config", "cup.toml", "--quiet"]);
    let text = fs::read_to_string(place.path("cup/run.json")).expect("settings");
    let run: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let expected = [
        ("/concurrency", "1"),
        ("/hello_ms", "8765"),
        ("/plan/id", "\"summer-cup\""),
        ("/plan/preset", "\"yahtzee-class\""),
        ("/plan/game", "\"yahtzee\""),
        ("/plan/config/dice", "\"independent\""),
        ("/plan/players", r#"["greedy","eve","random"]"#),
        ("/plan/policy/format", r#"{"kind":"bracket","slots":8}"#),
        ("/plan/policy/pairing", "\"order\""),
        ("/plan/policy/match/best_of", "3"),
        ("/plan/policy/match/crash", "\"resume\""),
        ("/plan/policy/match/cheat", "\"remove\""),
        ("/plan/policy/match/ties", "\"replay\""),
        ("/plan/policy/match/rotate_seats", "true"),
        ("/plan/policy/match/lapses_max", "9"),
        ("/plan/policy/match/time", r#"{"answer_ms":1234,"bank_ms":5678,"wait_ms":4321}"#),
    ];
    for (at, value) in expected {
        let found = run.pointer(at).map(ToString::to_string);
        assert_eq!(found.as_deref(), Some(value), "{at} in {text}");
    }
    place.good(&["verify", "cup"]);
    // The same seed on the command line is the same tournament; flags win over the file.
    place.good(&["run", "--config", "cup.toml", "--quiet", "--out", "again"]);
    assert_eq!(place.results_text("again"), place.results_text("cup"));
    place.good(&["run", "--config", "cup.toml", "--quiet", "--out", "other", "--seed", "78"]);
    assert_ne!(place.results_text("other"), place.results_text("cup"));
    let args = ["run", "--config", "cup.toml", "--quiet", "--out", "single", "--best-of", "1"];
    place.good(&args);
    assert_eq!(place.results("single")["best_of"], 1);
}

#[test]
fn invalid_setting_is_reported_with_its_place() {
    let place = Place::new();
    let cases = [
        ("presett = \"fish\"", "unknown field `presett`"),
        ("preset = \"fish\"\nplayers = 3", "line 2"),
        ("preset =", "line 1"),
        ("[limits]\nanswer = 3", "unknown field `answer`"),
        ("preset = \"fish\"\ngame = \"trains\"\nplayers = [\"house:random\"]", "is for fish"),
        ("game = \"fish\"\nformat = \"chess\"", "there is no format"),
        ("game = \"fish\"\nplayers = [\"a 'b\"]", "closing one"),
        ("game = \"fish\"\nplayers = [\"house:random\"]\n[config]\nrowz = 1", "rowz"),
        ("game = \"fish\"\nplayers = [\"house:random\"]\nseed = -1", "seed"),
    ];
    for (text, needle) in cases {
        fs::write(place.path("bad.toml"), text).expect("a file");
        let ended = place.agon(&["run", "--config", "bad.toml"]);
        assert_eq!(ended.code, Some(2), "{text}: {ended:#?}");
        assert!(ended.stderr.contains(needle), "{text}: {ended:#?}");
    }
    let ended = place.agon(&["run", "--config", "missing.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    assert!(ended.stderr.contains("failed to read missing.toml"), "{ended:#?}");
}
