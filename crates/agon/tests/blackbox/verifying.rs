//! `agon verify`: what was tampered with is named, what is torn or damaged is told apart.

use crate::support::{Place, logs};
use serde_json::{Value, json};
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
fn luck_of_a_tie_break_is_in_the_log_and_verified() {
    let place = Place::new();
    let args = ["run", "--game", "yahtzee", "--format", "swiss:rounds=2,tie_breaks=luck-adjusted"];
    let more = ["--seed", "4", "--quiet", "--out", "cup", "--player"];
    let players =
        ["ann=house:optimal", "bob=house:greedy", "cyd=house:level-1", "dan=house:random"];
    let ended = place.good(&[&args[..], &more, &players].concat());
    assert!(ended.stdout.contains("luck-adjusted"), "{ended:?}");
    place.good(&["verify", "cup"]);
    let analysis = place.good(&["analyse", "--json", "cup"]).stdout;
    let analysis: Value = serde_json::from_str(&analysis).expect("JSON");
    let results = fs::read_to_string(place.path("cup/results.json")).expect("results");
    let results: Value = serde_json::from_str(&results).expect("JSON");
    for one in results["standings"].as_array().expect("standings") {
        let games = analysis["games"].as_array().expect("games").iter();
        let own = games.flat_map(|game| game["players"].as_array().expect("players"));
        let own = own.filter(|player| player["player"] == one["player"]);
        let adjusted: f64 = own.map(|player| player["adjusted"].as_f64().expect("Yahtzee")).sum();
        let shown = one["tie_breaks"][1]["value"].as_f64().expect("a number");
        assert_eq!(one["tie_breaks"][1]["by"], "luck-adjusted");
        assert!((shown - adjusted).abs() <= 1.0, "each of two games is rounded: {one} {adjusted}");
    }
    let found = with_change(&place, "cup", "cup/match/yahtzee/r1m1.jsonl", |text| {
        text.replacen(r#""luck":["#, r#""luck":[99,"#, 1)
    });
    expect(&found, "4", &["match/yahtzee/r1m1", "game-ended"]);
    let fish = ["run", "--game", "fish", "--format", "swiss:tie_breaks=luck-adjusted", "--player"];
    let refused = place.agon(&[&fish[..], &["house:greedy", "house:random"]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("the luck of fish"), "{refused:?}");
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
    let good: Value = serde_json::from_str(&good).expect("JSON");
    assert_eq!((&good["ok"], &good["checked"]["tournaments"]), (&true.into(), &2.into()));
    let path = place.path(&log_of("fish", "r1m1"));
    let text = fs::read_to_string(&path).expect("a log");
    fs::write(&path, text.replacen(r#""scores":["#, r#""scores":[1"#, 1)).expect("a file");
    let ended = place.agon(&["verify", "--json", "fish"]);
    let bad: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_eq!((ended.code, &bad["ok"]), (Some(4), &false.into()));
    assert_eq!(bad["stream"], "match/fish/r1m1");
    assert!(bad["seq"].as_u64().is_some_and(|seq| seq > 1), "{bad}");
}

#[test]
fn empty_folder_is_reported_by_verify() {
    let place = Place::new();
    fs::create_dir(place.path("empty")).expect("a folder");
    for path in ["empty", "nowhere", "nowhere.jsonl"] {
        let ended = place.agon(&["verify", path]);
        assert_eq!(ended.code, Some(5), "{ended:#?}");
        assert!(ended.stderr.contains(path), "{ended:#?}");
    }
}

/// Files of a run, by their paths in it.
type Files = Vec<(std::path::PathBuf, String)>;

fn files(place: &Place, dir: &str) -> Files {
    let results = place.path(dir).join("results.json");
    let all = logs(&place.path(dir)).into_iter().chain([results]);
    all.map(|path| (path.clone(), fs::read_to_string(path).expect("a file"))).collect()
}

/// The output of `agon verify` while files of a run are changed.
fn with_files(place: &Place, dir: &str, whole: &Files, change: impl Fn(&str) -> String) -> String {
    let changed = whole.iter().map(|(path, text)| (path, change(text)));
    changed.for_each(|(path, text)| fs::write(path, text).expect("a file"));
    let ended = place.agon(&["verify", "--quiet", dir]);
    whole.iter().for_each(|(path, text)| fs::write(path, text).expect("a file"));
    format!("{}: {}{}", ended.code.unwrap_or(-1), ended.stdout, ended.stderr)
}

/// The places of all scalars in a value, as JSON pointers.
fn scalars(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(all) => {
            all.iter().for_each(|(name, value)| scalars(value, format!("{at}/{name}"), found));
        }
        Value::Array(all) => {
            let all = all.iter().enumerate();
            all.for_each(|(place, value)| scalars(value, format!("{at}/{place}"), found));
        }
        _ => found.push(at),
    }
}

/// Another value of the same sort.
fn another(value: &Value) -> Value {
    match value {
        Value::Bool(yes) => json!(!yes),
        Value::Number(number) => json!(number.as_i64().unwrap_or(0) + 1),
        Value::String(text) if text.len() == 64 && text.starts_with('0') => {
            json!(format!("1{}", &text[1..]))
        }
        Value::String(text) if text.len() == 64 => json!(format!("0{}", &text[1..])),
        Value::String(text) => json!(format!("{text}x")),
        _ => json!(1),
    }
}

/// One forgery for every field of every event, and those that once got through.
#[test]
fn more_than_fifty_forgeries_of_a_real_run_are_found() {
    let place = Place::new();
    let players = ["--player", "house:greedy", "house:random", "house:greedy"];
    place.good(&[&["run", "--preset", "fish", "--quiet", "--out", "run"], &players[..]].concat());
    let whole = files(&place, "run");
    let champion = place.results("run")["winners"][0].as_str().expect("a champion").to_owned();
    let loser = if champion == "random" { "greedy-2" } else { "random" };
    let (one, other) = (format!("\"{champion}\""), format!("\"{loser}\""));
    let swap =
        |text: &str| text.replace(&one, "\"\t\"").replace(&other, &one).replace("\"\t\"", &other);
    expect(&with_files(&place, "run", &whole, swap), "4", &["NOT verified"]);
    // The first answers confirm notices: the referee gives them in the players' names, at once.
    let long = |text: &str| text.replacen("\"took_ms\":0", "\"took_ms\":99999999", 1);
    let found = with_files(&place, "run", &whole, long);
    expect(&found, "4", &["took_ms should be 0, not 99999999"]);
    let late = |text: &str| match text.rsplit_once("\"took_ms\":0") {
        Some((before, after)) => format!("{before}\"took_ms\":99999999{after}"),
        None => text.to_owned(),
    };
    let found = with_files(&place, "run", &whole, late);
    expect(&found, "4", &["it took 99999999 ms, and the limit was 10000 ms"]);
    let mut tried = std::collections::BTreeSet::new();
    for (path, text) in whole.iter().filter(|(path, _)| path.extension().unwrap() == "jsonl") {
        let lines: Vec<Value> =
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (at, line) in lines.iter().enumerate() {
            let mut places = Vec::new();
            scalars(line, String::new(), &mut places);
            for field in places {
                let words = field.split('/').filter(|part| part.parse::<u32>().is_err());
                let name = format!("{} {}", line["type"], words.collect::<Vec<_>>().join("/"));
                // Plans are repeated in three events; what differs is tried.
                if field.starts_with("/data/plan/") && line["type"] != "match-created" {
                    continue;
                }
                if !tried.insert(name.clone()) {
                    continue;
                }
                let value = line.pointer(&field).expect("a place of the line");
                let mut forged = line.clone();
                *forged.pointer_mut(&field).expect("a place of the line") = another(value);
                let mut all: Vec<String> = text.lines().map(str::to_owned).collect();
                all[at] = forged.to_string();
                fs::write(path, all.join("\n") + "\n").expect("a file");
                let ended = place.agon(&["verify", "--quiet", "run"]);
                let refused = [Some(4), Some(5)].contains(&ended.code);
                assert!(refused, "{name} of {}: {ended:#?}", path.display());
            }
        }
        fs::write(path, text).expect("a file");
    }
    assert!(tried.len() > 50, "{} forgeries", tried.len());
    place.good(&["verify", "run"]);
}

#[test]
fn a_published_head_finds_a_run_that_was_played_again() {
    let place = Place::new();
    let run = |dir: &str, more: &[&str]| {
        let players = ["--player", "house:random", "house:random"];
        let args = ["run", "--preset", "yahtzee-class", "--quiet", "--out", dir];
        place.good(&[&args[..], more, &players].concat());
    };
    run("first", &[]);
    run("again", &[]);
    let head = place.results("first")["head"].as_str().expect("a head").to_owned();
    let said = place.good(&["verify", "first", "--head", &head]).stdout;
    assert!(said.contains(&format!("Head of tournament/yahtzee-class: {head}")), "{said}");
    let other = place.agon(&["verify", "again", "--head", &head]);
    assert_eq!(other.code, Some(4), "{other:#?}");
    assert!(other.stdout.contains(&head), "{other:#?}");
    // The head of one match will do as well.
    let alone = place.good(&["verify", "first/match/yahtzee-class/r1m1.jsonl"]).stdout;
    let of_match = alone.split("r1m1: ").nth(1).expect("a head").trim().to_owned();
    place.good(&["verify", "first", "--head", &of_match]);
    assert_eq!(place.agon(&["verify", "first", "--head", "12"]).code, Some(2));
    // With a seed, results are equal to the byte, and hold no head.
    run("seeded", &["--seed", "5"]);
    assert!(place.results("seeded")["head"].is_null());
}
