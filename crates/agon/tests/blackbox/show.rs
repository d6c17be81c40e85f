//! Output for people: replays, lists, brackets, the demonstration, the solver.

use crate::support::{Place, snapshot};
use agon_core::Preset;

fn played(preset: &str) -> Place {
    let place = Place::new();
    let args = ["run", "--preset", preset, "--seed", "1", "--quiet", "--out", "run"];
    place.good(&[&args[..], &["--player", "ann=house:greedy", "bob=house:random"]].concat());
    place
}

fn has(text: &str, needles: &[&str]) {
    for needle in needles {
        assert!(text.contains(needle), "{needle:?} is missing:\n{text}");
    }
}

#[test]
fn yahtzee_as_text() {
    let place = played("yahtzee-class");
    let text = place.good(&["replay", "run"]).stdout;
    has(&text, &["r1m1 of yahtzee-class: ann – bob", "Game 1\n", "Yahtzee, turn 1 of 13"]);
    has(&text, &["ann keeps ", " and rolls ", "ann scores ", " in chance with ", "⚀"]);
    has(&text, &["all turns played", "upper bonus", "total", "Game 1 goes to ann."]);
    has(&text, &["The match goes to ann.\n"]);
    assert!(!text.contains('\u{1b}'), "colours only where they are wanted");
    let coloured = place.good(&["replay", "run", "--colour", "always"]).stdout;
    assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
}

#[test]
fn fish_as_text() {
    let place = played("fish");
    let text = place.good(&["replay", "run"]).stdout;
    has(&text, &["ann places a penguin at 0,0", "ann slides from", " and eats ", " fish"]);
    has(&text, &["R red ", "W white ", "Game 1 goes to"]);
}

#[test]
fn trains_as_text() {
    let place = played("trains");
    let text = place.good(&["replay", "run"]).stdout;
    has(&text, &["oAlderwick", "rails", "ann keeps two of five destinations", "deck: "]);
    has(&text, &[" wants ", " holds ", "the game is over"]);
}

#[test]
fn parts_of_a_replay() {
    let place = played("fish");
    let whole = place.good(&["replay", "run", "--every", "1"]).stdout;
    let last = place.good(&["replay", "run", "--last"]).stdout;
    assert!(last.len() * 3 < whole.len(), "{last}");
    has(&last, &["Game 1", "R red", "The match goes to"]);
    assert!(!last.contains("slides"), "{last}");
    let file = "run/match/fish/r1m1.jsonl";
    assert_eq!(place.good(&["replay", file, "--every", "1"]).stdout, whole);
    let json = place.good(&["replay", "run", "--match", "r1m1", "--game", "1", "--json"]).stdout;
    for line in json.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON lines");
        assert!(line["event"]["type"].is_string());
    }
}

#[test]
fn lists_name_everything() {
    let place = Place::new();
    snapshot("list", &place.good(&["list"]).stdout);
    let json = place.good(&["list", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["presets"].as_array().map(Vec::len), Some(Preset::NAMES.len()));
    assert_eq!(json["games"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_bracket_for_people() {
    let place = Place::new();
    let args = ["run", "--preset", "yahtzee-referee", "--seed", "2", "--out", "run", "--player"];
    let long = "a-name-that-goes-on-and-on-and-on=house:random";
    let ended = place.good(&[&args[..], &["ann=house:greedy", "bob=house:random", long]].concat());
    snapshot("results-bracket", &ended.stdout);
    has(&ended.stderr, &["continue with: agon run --resume run"]);
}

#[test]
fn a_cross_table_for_people() {
    let place = Place::new();
    let args = ["run", "--preset", "yahtzee-class", "--format", "round-robin", "--seed", "2"];
    let players = ["--player", "ann=house:greedy", "bob=house:random", "cyd=house:random"];
    let ended = place.good(&[&args[..], &["--out", "run"], &players].concat());
    snapshot("results-round-robin", &ended.stdout);
}

/// Every row has the value of every tie-break, and a bye is one short line.
#[test]
fn tie_breaks_of_a_swiss_tournament_with_their_values() {
    let place = Place::new();
    let order = "buchholz+sonneborn-berger+head-to-head+games+points+luck-adjusted";
    let format = format!("swiss:rounds=3,tie_breaks={order}");
    let mut args = vec!["run", "--game", "yahtzee", "--format", &format, "--seed", "3"];
    args.extend(["--out", "run", "--player", "ann=house:greedy", "bob=house:random"]);
    args.extend(["cyd=house:random", "dan=house:greedy", "eve=house:level-1"]);
    let ended = place.good(&args);
    snapshot("results-swiss", &ended.stdout);
    for row in place.results("run")["standings"].as_array().expect("rows") {
        let values = row["tie_breaks"].as_array().expect("values").iter();
        let names: Vec<&str> = values.map(|one| one["by"].as_str().expect("a name")).collect();
        assert_eq!(names, ["score"].into_iter().chain(order.split('+')).collect::<Vec<_>>());
    }
}

#[test]
fn a_knockout_for_people() {
    let place = Place::new();
    let args = ["run", "--preset", "fish", "--seed", "2", "--out", "run", "--player"];
    let players = ["ann=house:greedy", "bob=house:random", "cyd=house:random"];
    let ended = place.good(&[&args[..], &players, &["dan=house:greedy"]].concat());
    snapshot("results-knockout", &ended.stdout);
}

#[test]
fn the_demonstration_ends_well_and_leaves_nothing() {
    let place = Place::new();
    std::fs::create_dir(place.path("tmp")).expect("a folder");
    let mut command = place.command(&["demo"]);
    let child = command.env("TMPDIR", place.path("tmp")).spawn().expect("agon starts");
    let ended = crate::support::finish(child);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    has(
        &ended.stdout,
        &["a Yahtzee cup", " wins.", "How the games of the final ended", "Verified: "],
    );
    let left = std::fs::read_dir(place.path("tmp")).expect("a folder").count();
    assert_eq!(left, 0);
}

#[test]
fn the_optimum_of_yahtzee() {
    let place = Place::new();
    for solved in [true, false] {
        let args = ["solve", "yahtzee", "--rule", "forced-joker", "--json", "--cache", "tables"];
        let text = place.good(&args).stdout;
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        // The best mean score under the official rules, where a joker is forced.
        let optimum = json["optimum"].as_f64().expect("a number");
        assert!((optimum - 254.5877).abs() < 0.0001, "{text}");
        assert_eq!(json["solved"], solved, "the second time it is in the cache");
    }
}
