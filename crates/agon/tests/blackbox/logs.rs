//! `agon log` on the folder of a run: files that anybody can damage with an editor.

use crate::support::Place;
use serde_json::Value;
use std::fs;

fn run() -> Place {
    let place = Place::new();
    let args = ["run", "--preset", "yahtzee-class", "--seed", "9", "--quiet", "--out", "cup"];
    let players = ["--player", "house:random", "house:greedy", "a=house:random", "b=house:greedy"];
    place.good(&[&args[..], &players].concat());
    place
}

/// A finding of `agon log check`, and a change of a line that causes it.
type Damage = (&'static str, fn(&str) -> String);

const MATCH: &str = "cup/match/yahtzee-class/r1m1.jsonl";

#[test]
fn a_damaged_run_is_cut_back_and_played_again_to_the_same_end() {
    let damages: [Damage; 3] = [
        ("not an event", |line| line.replace("\"data\"", "data")),
        ("unknown event", |line| line.replace("answer-accepted", "answer-excepted")),
        ("is due", |line| line.replace("\"seq\":", "\"seq\":1")),
    ];
    for (word, change) in damages {
        let place = run();
        let results = place.results_text("cup");
        place.good(&["log", "check", "cup"]);
        let sound = fs::read_to_string(place.path(MATCH)).expect("a log");
        let at = sound.lines().skip(20).position(|line| line.contains("answer-accepted"));
        let at = at.expect("an answer") + 20;
        let changed: Vec<String> = sound
            .lines()
            .enumerate()
            .map(|(number, line)| if number == at { change(line) } else { line.to_owned() })
            .collect();
        let damaged = changed.join("\n") + "\n";
        fs::write(place.path(MATCH), &damaged).expect("the file can be written");

        let found = place.agon(&["log", "check", "--json", "cup"]);
        assert_eq!(found.code, Some(5), "{found:?}");
        let found: Value = serde_json::from_str(&found.stdout).expect("JSON");
        assert_eq!(found["faults"][0]["stream"], "match/yahtzee-class/r1m1");
        assert_eq!(found["faults"][0]["seq"], at + 1, "{word}: {found}");
        let refused = place.agon(&["log", "backup", "cup", "copy"]);
        let readable = word == "unknown event";
        assert_eq!(refused.code, Some(if readable { 0 } else { 5 }), "{word}: {refused:?}");
        assert_eq!(place.path("copy").exists(), readable, "half a copy is none");

        let planned = place.agon(&["log", "repair", "cup"]);
        assert_eq!(planned.code, Some(5), "{planned:?}");
        assert!(planned.stdout.contains("Nothing was changed"), "{planned:?}");
        assert_eq!(fs::read_to_string(place.path(MATCH)).expect("a log"), damaged);
        let done = place.good(&["log", "repair", "--apply", "cup"]);
        assert!(done.stdout.contains("tournament/yahtzee-class: all after"), "{done:?}");
        let copy = place.path(&format!("{MATCH}.damaged-1"));
        assert_eq!(fs::read_to_string(copy).expect("a copy"), damaged);
        place.good(&["log", "check", "cup"]);
        place.good(&["verify", "--quiet", "cup"]);
        place.good(&["run", "--quiet", "--resume", "cup"]);
        assert_eq!(place.results_text("cup"), results, "the same luck, the same players");
        place.good(&["verify", "--quiet", "cup"]);
    }
}

#[test]
fn a_run_can_be_copied_and_a_torn_one_is_sound() {
    let place = run();
    place.good(&["log", "backup", "cup", "copy"]);
    place.good(&["verify", "--quiet", "copy"]);
    assert_eq!(place.results_text("copy"), place.results_text("cup"));
    let again = place.agon(&["log", "backup", "cup", "copy"]);
    assert_eq!(again.code, Some(2), "{again:?}");
    // Torn by a crash: nobody was told of the last decision, so nothing is wrong.
    let path = place.path(MATCH);
    let text = fs::read_to_string(&path).expect("a log");
    let half = text.lines().nth(20).expect("a line").len() / 2;
    let head: String = text.lines().take(20).map(|line| format!("{line}\n")).collect();
    fs::write(&path, format!("{head}{}", &text.lines().nth(20).expect("a line")[..half]))
        .expect("the file can be written");
    fs::remove_dir_all(place.path("cup/tournament")).expect("a folder");
    fs::create_dir(place.path("cup/tournament")).expect("a folder");
    let torn = place.good(&["log", "check", "cup"]);
    assert!(torn.stdout.contains("Torn by a crash"), "{torn:?}");
}

#[test]
fn path_without_a_log_is_reported() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("a folder");
    for what in ["check", "repair"] {
        for data in ["empty", "missing"] {
            let ended = place.agon(&["log", what, data]);
            assert_eq!(ended.code, Some(5), "{ended:?}");
            assert!(ended.stderr.contains("contains no log"), "{ended:?}");
        }
    }
    fs::write(place.path("notes.sqlite"), "dear diary").expect("a file");
    let ended = place.agon(&["log", "check", "notes.sqlite"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
}
