//! `agon verify`: what was tampered with is named, what is torn or damaged is told apart.

use crate::support::Place;
use std::fs;

/// A finished run of each game.
fn runs() -> Place {
    let place = Place::new();
    for preset in ["yahtzee-class", "fish", "trains"] {
        let args = ["run", "--preset", preset, "--seed", "9", "--quiet", "--out", preset];
        let players = ["--player", "house:random", "house:greedy", "house:random"];
        place.good(&[&args[..], &players].concat());
    }
    place
}

fn log_of(preset: &str, id: &str) -> String {
    format!("{preset}/match/{preset}/{id}.jsonl")
}

/// Verifies `dir` with the file at `path` changed, and puts it back.
fn with_change(place: &Place, dir: &str, path: &str, change: impl Fn(&str) -> String) -> String {
    let path = place.path(path);
    let text = fs::read_to_string(&path).expect("a file of the run");
    let changed = change(&text);
    assert_ne!(changed, text, "the change changes something");
    fs::write(&path, changed).expect("the file can be written");
    let ended = place.agon(&["verify", "--quiet", dir]);
    fs::write(&path, text).expect("the file can be written");
    format!("{}: {}{}", ended.code.unwrap_or(-1), ended.stdout, ended.stderr)
}

fn expect(found: &str, code: &str, needles: &[&str]) {
    assert!(found.starts_with(code), "{found}");
    for needle in needles {
        assert!(found.contains(needle), "{needle:?} is missing: {found}");
    }
}

/// The number of the first line with `word`.
fn line_with(text: &str, word: &str) -> usize {
    1 + text.lines().position(|line| line.contains(word)).expect("a line with the word")
}

#[test]
fn tampering_is_named_with_stream_and_event() {
    let place = runs();
    // A die that luck did not give.
    let log = log_of("yahtzee-class", "r1m2");
    let text = fs::read_to_string(place.path(&log)).expect("a log");
    let dice = r#""drawn":{"turn":1,"dice":[["#;
    let seq = line_with(&text, dice);
    let other = |text: &str| {
        let at = text.find(dice).expect("dice") + dice.len();
        let die = if &text[at..=at] == "1" { "2" } else { "1" };
        format!("{}{die}{}", &text[..at], &text[at + 1..])
    };
    let found = with_change(&place, "yahtzee-class", &log, other);
    expect(&found, "4", &["NOT verified", "match/yahtzee-class/r1m2", &format!("event {seq}")]);
    // An answer that was not given.
    let log = log_of("fish", "r1m1");
    let found = with_change(&place, "fish", &log, |text| {
        text.replacen(r#"{"place":[0,0]}"#, r#"{"place":[9,9]}"#, 1)
    });
    expect(&found, "4", &["match/fish/r1m1", "event"]);
    // A score in the middle of a log, and in the results alone.
    let found = with_change(&place, "trains", &log_of("trains", "r1m1"), |text| {
        text.replacen(r#""scores":["#, r#""scores":[1"#, 1)
    });
    expect(&found, "4", &["match/trains/r1m1", "game-ended"]);
    let results = "trains/results.json";
    let found = with_change(&place, "trains", results, |text| {
        text.replacen("\"rank\": 1", "\"rank\": 2", 1)
    });
    expect(&found, "4", &["results.json", "not what follows from the log"]);
    // A value that stands twice, the true one last.
    let found = with_change(&place, "trains", results, |text| {
        text.replacen("\"winners\":", "\"winners\": [\"eve\"],\n  \"winners\":", 1)
    });
    expect(&found, "4", &["results.json", "not what follows from the log"]);
    // Another winner in the tournament's own stream.
    let log = "fish/tournament/fish.jsonl";
    let found = with_change(&place, "fish", log, |text| {
        text.replacen(r#""winners":["#, r#""winners":["random-2","#, 1)
    });
    expect(&found, "4", &["tournament/fish", "event"]);
    for preset in ["yahtzee-class", "fish", "trains"] {
        place.good(&["verify", preset]);
    }
}

#[test]
fn lost_lines_and_files_are_noticed() {
    let place = runs();
    let log = log_of("fish", "r1m1");
    let without = |number: usize| {
        move |text: &str| {
            let lines = text.lines().enumerate().filter(|(at, _)| *at != number);
            lines.map(|(_, line)| format!("{line}\n")).collect::<String>()
        }
    };
    let found = with_change(&place, "fish", &log, without(7));
    assert!(found.starts_with('4') || found.starts_with('5'), "{found}");
    assert!(found.contains("r1m1"), "{found}");
    fs::rename(place.path(&log), place.path("away")).expect("a move");
    let ended = place.agon(&["verify", "fish"]);
    assert_eq!(ended.code, Some(4), "{ended:#?}");
    assert!(ended.stdout.contains("its log is missing"), "{ended:#?}");
}

#[test]
fn a_torn_end_is_no_damage_but_a_torn_middle_is() {
    let place = runs();
    let log = log_of("trains", "r1m1");
    let text = fs::read_to_string(place.path(&log)).expect("a log");
    fs::write(place.path("copy.jsonl"), &text[..text.len() / 2]).expect("a file");
    let ended = place.agon(&["verify", "copy.jsonl"]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("Torn by a crash"), "{ended:#?}");
    let found = with_change(&place, "trains", &log, |text| text.replacen("\"type\"", "\"ty", 2));
    expect(&found, "5", &["r1m1"]);
    let found = with_change(&place, "trains", &log, |_| "\u{1}\u{2}\n\u{3}\n".to_owned());
    expect(&found, "5", &["r1m1"]);
}

#[test]
fn findings_as_json() {
    let place = runs();
    let good = place.good(&["verify", "--json", "fish", "trains"]).stdout;
    let good: serde_json::Value = serde_json::from_str(&good).expect("JSON");
    assert_eq!((&good["ok"], &good["checked"]["tournaments"]), (&true.into(), &2.into()));
    let path = place.path(&log_of("fish", "r1m1"));
    let text = fs::read_to_string(&path).expect("a log");
    fs::write(&path, text.replacen(r#""scores":["#, r#""scores":[1"#, 1)).expect("a file");
    let ended = place.agon(&["verify", "--json", "fish"]);
    let bad: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((ended.code, &bad["ok"]), (Some(4), &false.into()));
    assert_eq!(bad["stream"], "match/fish/r1m1");
    assert!(bad["seq"].as_u64().is_some_and(|seq| seq > 1), "{bad}");
}

#[test]
fn nothing_to_verify_is_said() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("a folder");
    for path in ["empty", "nowhere", "nowhere.jsonl"] {
        let ended = place.agon(&["verify", path]);
        assert_eq!(ended.code, Some(5), "{ended:#?}");
        assert!(ended.stderr.contains(path), "{ended:#?}");
    }
}
