//! `agon doctor`: players that are good pass, and every bad one fails what it is bad at.

use crate::support::{AGON, Ended, Place, finish, marked, signal, snapshot, token, until};
use rustix::process::Signal;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A test player with its arguments.
fn bot(script: &str, args: &[&str]) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bots").join(script);
    let words = ["python3", "-B", &path.display().to_string()].map(String::from);
    words.into_iter().chain(args.iter().map(|word| word.to_string())).collect()
}

fn examine(place: &Place, flags: &[&str], program: &[String]) -> (Ended, Value) {
    let mut args = vec!["doctor", "--json", "--quiet", "--quick", "--seed", "3"];
    if !flags.contains(&"--hello-ms") {
        args.extend(["--hello-ms", "60000"]);
    }
    args.extend(flags);
    args.push("--");
    args.extend(program.iter().map(String::as_str));
    let ended = place.agon(&args);
    let report = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error} in {program:?}: {ended:#?}"));
    (ended, report)
}

/// The names of examinations with this verdict.
fn with<'a>(report: &'a Value, verdict: &str) -> Vec<&'a str> {
    let exams = report["exams"].as_array().expect("a list of examinations").iter();
    let found = exams.filter(|exam| exam["verdict"] == verdict);
    found.map(|exam| exam["name"].as_str().expect("a name")).collect()
}

/// Checks that a program fails exactly these, and that every failure says how to mend it.
fn fails(place: &Place, flags: &[&str], program: &[String], expected: &[&str]) -> Value {
    let (ended, report) = examine(place, flags, program);
    assert_eq!(with(&report, "fail"), expected, "{program:?}: {report:#}");
    let code = if expected.is_empty() { 0 } else { 7 };
    assert_eq!(ended.code, Some(code), "{program:?}: {report:#}");
    assert_eq!(report["passed"], expected.is_empty());
    for exam in report["exams"].as_array().expect("a list") {
        for failure in exam["failures"].as_array().expect("a list") {
            assert!(!failure["fix"].as_str().expect("a text").is_empty(), "{failure:#}");
        }
    }
    report
}

/// Enough time for any machine where time is not what is examined.
const PATIENT: [&str; 4] = ["--game", "yahtzee", "--answer-ms", "60000"];

#[test]
fn house_players_pass_in_all_games() {
    let place = Place::new();
    for name in ["random", "greedy"] {
        let program = [AGON, "bot", name].map(String::from);
        let report = fails(&place, &["--answer-ms", "60000"], &program, &[]);
        assert_eq!(report["games"], serde_json::json!(["yahtzee", "fish", "trains"]));
        assert!(with(&report, "skipped").is_empty(), "{report:#}");
    }
}

/// A report with `…` for every number of milliseconds.
fn without_times(report: &str) -> String {
    let parts: Vec<&str> = report.split(" ms").collect();
    let (last, measured) = parts.split_last().expect("a text has parts");
    let mut text = String::new();
    for part in measured {
        text += part.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        text += "… ms";
    }
    text + last
}

#[test]
fn report_names_each_failure_and_its_fix() {
    let place = Place::new();
    let program = bot("careless.py", &["notice"]);
    let mut args = vec!["doctor", "--quick", "--seed", "3", "--hello-ms", "60000"];
    args.extend(PATIENT);
    args.push("--");
    args.extend(program.iter().map(String::as_str));
    let ended = place.agon(&args);
    assert_eq!(ended.code, Some(7), "{ended:#?}");
    snapshot("doctor-report", &without_times(&ended.stdout));
}

#[test]
fn the_bots_of_the_documents_pass_in_their_game() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for document in ["README.md", "docs/protocol/native.md"] {
        let text = std::fs::read_to_string(root.join(document)).expect("a document");
        let code = text.split("```python\n").nth(1).and_then(|rest| rest.split("```").next());
        let place = Place::new();
        let path: PathBuf = place.path("bot.py");
        std::fs::write(&path, code.expect("a bot")).expect("a file for the bot");
        let program = ["python3", &path.display().to_string()].map(String::from);
        let report = fails(&place, &["--answer-ms", "60000"], &program, &[]);
        assert_eq!(report["games"], serde_json::json!(["yahtzee"]), "{document}");
        // The report names games that the program does not play, and counts no fault for them.
        assert_eq!(with(&report, "note"), ["plays", "plays"], "{document}: {report:#}");
    }
}

#[test]
fn players_of_fish_and_trains_pass() {
    let place = Place::new();
    for (game, script) in [("fish", "greedy_fish.py"), ("trains", "buy_now_trains.py")] {
        let flags = ["--game", game, "--answer-ms", "60000"];
        fails(&place, &flags, &bot(script, &[]), &[]);
    }
}

#[test]
fn careless_players_fail_the_matching_examination() {
    let place = Place::new();
    for (mode, expected) in [
        ("none", &[][..]),
        ("child", &["children"]),
        ("detached-child", &["children"]),
        ("memory", &["positions", "restart"]),
        ("type", &["unknown"]),
        ("field", &["unknown"]),
        ("notice", &["notices"]),
        ("error", &["errors"]),
        ("replies", &["notices"]),
        ("reads", &["pieces"]),
        ("debug", &["stdout"]),
        ("first-box", &["rules", "positions"]),
        ("stays", &["end"]),
    ] {
        fails(&place, &PATIENT, &bot("careless.py", &[mode]), expected);
    }
    fails(&place, &["--game", "trains"], &bot("careless.py", &["map"]), &["proposal"]);
    for (mode, noted) in [("once", "repeat"), ("dice", "same"), ("badly", "end")] {
        let report = fails(&place, &PATIENT, &bot("careless.py", &[mode]), &[]);
        assert!(with(&report, "note").contains(&noted), "{mode}: {report:#}");
    }
}

#[test]
fn players_that_misbehave_fail_and_leave_nothing_behind() {
    let place = Place::new();
    let token = token("doctor-misbehave");
    for (mode, expected) in [
        ("crash-start", "hello"),
        ("version", "hello"),
        ("hello-and-go", "answers"),
        ("flood", "stdout"),
        ("garbage", "stdout"),
        ("wrong-kind", "answers"),
        ("illegal", "rules"),
    ] {
        let program = bot("misbehave.py", &[mode, "0", &token]);
        fails(&place, &PATIENT, &program, &[expected]);
        until("the program's group is gone", || marked(&token).is_empty());
    }
    let program = bot("misbehave.py", &["crash", "3", &token]);
    let report = fails(&place, &PATIENT, &program, &["answers"]);
    // Its last words are with the failure.
    assert!(report.to_string().contains("this bot is about to crash"), "{report:#}");
    for mode in ["twice", "banner"] {
        fails(&place, &PATIENT, &bot("misbehave.py", &[mode]), &[]);
    }
}

#[test]
fn slow_is_something_else_than_silent() {
    let place = Place::new();
    let flags = ["--game", "yahtzee", "--answer-ms", "1000"];
    // Three seconds late with the fifth request of a process, far from the limit.
    let report = fails(&place, &flags, &bot("misbehave.py", &["late", "4"]), &["time"]);
    assert!(report.to_string().contains("longer than 1s"), "{report:#}");
    fails(&place, &flags, &bot("misbehave.py", &["hang"]), &["answers"]);
    let flags = ["--game", "yahtzee", "--hello-ms", "500"];
    fails(&place, &flags, &bot("misbehave.py", &["mute"]), &["hello"]);
}

#[test]
fn same_seed_repeats_the_exam_and_the_table_shows_the_seed() {
    let place = Place::new();
    let program = [AGON, "bot", "greedy"];
    let seeded = |seed: &str| {
        let mut args = vec!["doctor", "--quick", "--game", "fish", "--seed", seed, "--"];
        args.extend(program);
        place.good(&args).stdout
    };
    let rows = |text: &str| {
        let timed = |line: &&str| !line.contains(" ms");
        text.lines().filter(timed).map(str::to_owned).collect::<Vec<_>>()
    };
    let first = seeded("7");
    assert!(first.contains("Passed; repeat with --seed 7"), "{first}");
    assert_eq!(rows(&first), rows(&seeded("7")));
    let failed = place.agon(&["doctor", "--game", "fish", "--seed", "7", "--", "no-such-program"]);
    assert_eq!(failed.code, Some(7));
    assert!(failed.stdout.contains("cannot be started: No such file"), "{}", failed.stdout);
    for args in [
        &["doctor", "--game", "chess", "--", "x"][..],
        &["doctor", "--game", "fish", "--game-config", "{\"rows\":0}", "--", "x"],
        &["doctor"],
        &["doctor", "--listen", "127.0.0.1:0"],
    ] {
        assert_eq!(place.agon(args).code, Some(2), "{args:?}");
    }
}

#[test]
fn ctrl_c_shows_results_so_far_and_ends_the_program() {
    let place = Place::new();
    let token = token("doctor-ctrl-c");
    let program = bot("misbehave.py", &["hang", "0", &token]);
    let mut args = vec!["doctor", "--game", "yahtzee", "--answer-ms", "600000", "--"];
    args.extend(program.iter().map(String::as_str));
    let child = place.command(&args).spawn().expect("agon starts");
    until("the program runs", || marked(&token).len() > 1);
    signal(child.id(), Signal::INT);
    let ended = finish(child);
    assert_eq!(ended.code, Some(130), "{ended:#?}");
    assert!(ended.stdout.contains("Stopped before the end"), "{ended:#?}");
    until("the program is gone", || marked(&token).is_empty());
}

/// Examines a player that connects by itself.
fn guest(place: &Place, mode: &str, expected: &[&str]) -> Value {
    let limit = if expected.is_empty() { "60000" } else { "10000" };
    let flags = ["--game", "yahtzee", "--answer-ms", limit, "--listen", "127.0.0.1:0"];
    let mut flags = flags.to_vec();
    if mode == "stays-away" || mode == "anonymous" {
        flags.extend(["--hello-ms", "3000"]);
    }
    fails(place, &flags, &bot("careless_guest.py", &[mode, "{server}"]), expected)
}

#[test]
fn a_player_that_connects_is_examined_over_its_socket() {
    let place = Place::new();
    let report = guest(&place, "none", &[]);
    assert!(with(&report, "skipped").is_empty(), "{report:#}");
    for exam in ["connect", "heartbeat", "together", "cut", "restart", "taken-over"] {
        assert!(with(&report, "pass").contains(&exam), "{report:#}");
    }
    let report = guest(&place, "password", &[]);
    assert_eq!(with(&report, "note"), ["cut"], "{report:#}");
    for (mode, expected) in [
        ("anonymous", &["connect"][..]),
        ("fights", &["taken-over"]),
        ("heartbeat", &["heartbeat"]),
        ("answered", &["cut"]),
        ("one", &["together"]),
    ] {
        guest(&place, mode, expected);
    }
    let report = guest(&place, "stays-away", &["cut"]);
    assert_eq!(with(&report, "skipped"), ["restart", "taken-over"], "{report:#}");
    assert!(
        report.to_string().contains("after a lost connection: no program connects"),
        "{report:#}"
    );
}

#[test]
fn agon_join_passes_over_its_socket() {
    let place = Place::new();
    std::fs::write(place.path("password"), "pw\n").expect("a file");
    let password = place.arg("password");
    let words = [AGON, "join", "--server", "{server}", "--account", "eve", "--register"];
    let more = ["--password-file", &password, "--bot", "house:greedy"];
    let program: Vec<String> = words.iter().chain(&more).map(|word| word.to_string()).collect();
    for game in ["yahtzee", "fish", "trains"] {
        let flags = ["--game", game, "--answer-ms", "60000", "--listen", "127.0.0.1:0"];
        fails(&place, &flags, &program, &[]);
    }
}
