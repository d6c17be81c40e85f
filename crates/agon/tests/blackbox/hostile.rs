//! Programs that attack the run they play in: the sandbox contains each of them, and what it cannot
//! undo is a named fault.

use crate::support::{Ended, Place, finish, logs, marked, python, signal, stdio, token, until};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::net::TcpListener;
use std::path::Path;

/// Plays a match of eve, who attacks, and bob; gives how the command ended.
fn attack(place: &Place, game: &str, flags: &[&str], eve: &str, bob: &str) -> Ended {
    let _ = fs::remove_dir_all(place.path("run"));
    let (eve, bob) = (format!("eve={eve}"), format!("bob={bob}"));
    let mut args = vec!["run", "--game", game, "--quiet", "--out", "run"];
    args.extend(["--hello-ms", "60000", "--answer-ms", "60000"]);
    args.extend(flags);
    args.extend(["--player", &eve, &bob]);
    let ended = place.agon(&args);
    assert_eq!(place.good(&["verify", "--quiet", "run"]).code, Some(0));
    ended
}

/// Eve's report of her attack, once her program has ended.
fn said(place: &Place) -> String {
    fs::read_to_string(place.path("run/evidence/eve-1.stderr")).expect("evidence")
}

/// The codes of a player's faults.
fn codes(results: &Value, player: &str) -> Vec<String> {
    let standings = results["standings"].as_array().expect("standings");
    let own = standings.iter().find(|one| one["player"] == player).expect("everybody is listed");
    let faults = own["faults"].as_array().expect("a list of faults").iter();
    faults.map(|fault| fault[1]["fault"]["code"].as_str().expect("a code").to_owned()).collect()
}

/// Attacks that are simply in vain: the attacker plays on, and nobody is charged.
fn in_vain(mode: &str, argument: &str, expected: &str) -> Place {
    let place = Place::new();
    let bob_token = token("bob");
    let eve = python("hostile.py", &format!("{mode} {argument}"));
    let bob = python("hostile.py", &format!("honest - {bob_token}"));
    let ended = attack(&place, "yahtzee", &[], &eve, &bob);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let words = said(&place);
    assert!(words.contains(expected), "{mode}: {words}");
    let results = place.results("run");
    assert_eq!(codes(&results, "eve"), [""; 0], "{mode}");
    assert_eq!(codes(&results, "bob"), [""; 0], "{mode}");
    let games = &results["rounds"][0]["matches"][0]["result"]["games"];
    assert_eq!(games[0]["end"], "played", "{mode}: {results:#}");
    place
}

/// Attacks that end at a limit: eve is charged with its name, and bob wins.
fn at_a_limit(mode: &str, flags: &[&str], code: &str, expected: &str) {
    let place = Place::new();
    let eve = python("hostile.py", mode);
    let ended = attack(&place, "yahtzee", flags, &eve, "house:random");
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let results = place.results("run");
    assert_eq!(codes(&results, "eve").first().map(String::as_str), Some(code), "{results:#}");
    assert_eq!(results["winners"], serde_json::json!(["bob"]));
    let words = said(&place);
    assert!(words.contains(expected), "{mode}: {words}");
}

#[test]
fn program_cannot_read_the_secret() {
    in_vain("read-secret", "-", "0 secrets found, 0 files of the run opened");
}

#[test]
fn program_cannot_change_its_nonce_once_the_game_is_committed_to() {
    let place = in_vain("grind", "-", "another nonce sent");
    let text = fs::read_to_string(logs(&place.path("run/match")).remove(0)).expect("a log");
    let (first, second) = ("ab".repeat(32), "cd".repeat(32));
    assert!(text.contains(&first) && !text.contains(&second), "{text}");
    // The nonce was in the log before the game began, and the commitment before the nonce.
    let (nonce, started) = (text.find(&first), text.find("game-started"));
    assert!(nonce.is_some() && nonce < started, "{text}");
}

#[test]
fn program_cannot_kill_its_opponent() {
    in_vain("kill", &token("bob"), "kill: 0 killed");
}

#[test]
fn program_cannot_attach_to_the_referee() {
    in_vain("attach", "-", "attach: 0 attached");
}

#[test]
fn program_cannot_reach_the_network() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a listener");
    let port = listener.local_addr().expect("an address").port();
    in_vain("network", &port.to_string(), "network: 0 reached");
    assert!(listener.accept().is_err(), "somebody connected");
}

#[test]
fn network_flag_lets_a_program_connect() {
    let place = Place::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let eve = python("hostile.py", &format!("network {port}"));
    let ended = attack(&place, "yahtzee", &["--network"], &eve, "house:random");
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    listener.set_nonblocking(true).expect("a listener");
    assert!(listener.accept().is_ok(), "nobody connected: {}", said(&place));
}

#[test]
fn program_leaves_no_process_behind() {
    let word = token("survivor");
    in_vain("survive", &word, "survive: left");
    until("the survivor is gone", || marked(&word).is_empty());
}

#[test]
fn fork_bomb_ends_at_the_process_limit() {
    at_a_limit("fork", &[], "process-limit", "fork: limited");
}

#[test]
fn program_that_fills_memory_ends_at_the_memory_limit() {
    at_a_limit("memory", &["--memory", "64m"], "memory-limit", "memory: begins");
}

#[test]
fn program_that_fills_the_disk_ends_at_the_file_limit() {
    at_a_limit("disk", &[], "file-limit", "disk: 0 folders written to");
}

#[test]
fn program_that_uses_too_much_processor_time_ends_at_the_cpu_limit() {
    at_a_limit("spin", &["--cpu-time", "1"], "cpu-limit", "spin: begins");
}

#[test]
fn program_is_stopped_while_its_opponent_thinks() {
    let place = Place::new();
    let bob = python("hostile.py", "think 0.3");
    let size = ["--game-config", r#"{"rows":4,"columns":4}"#];
    let ended = attack(&place, "fish", &size, &python("hostile.py", "burn"), &bob);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let words = said(&place);
    let last = words.lines().rev().find(|line| line.contains("burnt in")).expect("a report");
    let numbers: Vec<f64> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [burnt, waited] = numbers[..] else { panic!("{last}") };
    assert!(waited > 0.5, "the opponent thought: {last}");
    assert!(burnt < waited / 2.0, "two processes burnt too much: {last}");
}

#[test]
fn run_folder_may_not_hold_the_programs_of_players() {
    let place = Place::new();
    fs::create_dir(place.path("run")).expect("a folder");
    let eve = format!("'{}' bot greedy", crate::support::AGON);
    let ended = place.agon(&["run", "--game", "fish", "--out", ".", "--player", &eve, &eve]);
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    assert!(ended.stderr.contains("choose another --out"), "{ended:#?}");
}

/// A folder with a `bwrap` that is this script, before everything else in `PATH`.
fn path_with_bwrap(place: &Place, script: &str) -> String {
    let bin = place.path("bin");
    fs::create_dir_all(&bin).expect("a folder");
    fs::write(bin.join("bwrap"), format!("#!/bin/sh\n{script}\n")).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("bwrap"), mode).expect("a mode");
    format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"))
}

/// Runs two programs with such a `bwrap`, and gives how that ended.
fn run_with_bwrap(place: &Place, script: &str) -> Ended {
    let players = [format!("a={}", stdio("greedy")), format!("b={}", stdio("random"))];
    let mut args = vec!["run", "--game", "yahtzee", "--out", "run", "--hello-ms", "60000"];
    args.extend(["--player", &players[0], &players[1]]);
    let mut command = place.command(&args);
    command.env("PATH", path_with_bwrap(place, script));
    let ended = finish(command.spawn().expect("agon starts"));
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    place.good(&["verify", "--quiet", "run"]);
    ended
}

#[test]
fn machine_without_namespaces_says_so_and_keeps_the_secret_in_memory() {
    let place = Place::new();
    let ended = run_with_bwrap(&place, "echo 'bwrap: namespaces are forbidden' >&2; exit 1");
    let warning = ended.stderr.lines().find(|line| line.contains("not protected"));
    let warning = warning.unwrap_or_else(|| panic!("no warning: {ended:#?}"));
    let expected = "files, processes, network, ipc, hostname, namespaces";
    assert!(warning.contains(expected), "{warning}");
    assert!(warning.contains("bwrap: namespaces are forbidden"), "{warning}");
    assert!(!place.path("run/secret").exists());
}

#[test]
fn machine_without_network_namespaces_hides_everything_else() {
    let place = Place::new();
    let script = "case \" $* \" in *--unshare-net*) exit 1;; esac; exec /usr/bin/bwrap \"$@\"";
    let ended = run_with_bwrap(&place, script);
    let warning = ended.stderr.lines().find(|line| line.contains("not protected"));
    let warning = warning.unwrap_or_else(|| panic!("no warning: {ended:#?}"));
    assert!(warning.contains("sandbox: network (this system does not allow"), "{warning}");
    assert!(!warning.contains("files") && !warning.contains("processes"), "{warning}");
    assert!(place.path("run/secret").exists());
}

#[test]
fn doctor_shows_which_protections_hold() {
    let place = Place::new();
    let said = place.good(&["doctor", "--sandbox"]).stdout;
    for word in ["files", "processes", "network", "memory", "pause"] {
        assert!(said.contains(word), "{said}");
    }
    let json = place.good(&["doctor", "--sandbox", "--json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let all = json["protections"].as_array().expect("a list");
    assert_eq!(json["all_hold"], all.iter().all(|one| one["holds"] == true));
    assert!(all.iter().all(|one| one["detail"].as_str().is_some_and(|text| !text.is_empty())));
}

/// The files below a folder that hold the secret that the run is committed to.
fn files_with_secret(dir: &Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false if fs::read_to_string(entry.path()).is_ok_and(|t| t.contains(secret)) => {
                    found.push(entry.path().display().to_string());
                }
                false => {}
            }
        }
    }
    found
}

/// The secret that the tournament's log revealed at its end.
fn revealed(place: &Place) -> String {
    let path = logs(&place.path("run/tournament")).remove(0);
    let text = fs::read_to_string(path).expect("a log");
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    last["data"]["secret"].as_str().expect("a secret").to_owned()
}

#[test]
fn without_a_sandbox_no_file_holds_the_secret() {
    let place = Place::new();
    let eve = python("hostile.py", "read-secret");
    let ended = attack(&place, "yahtzee", &["--no-sandbox"], &eve, "house:random");
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let words = said(&place);
    assert!(words.contains("read-secret: 0 secrets found"), "{words}");
    // The program did look into the folder: there was nothing in it to find.
    assert!(!words.contains(" 0 files of the run opened"), "{words}");
    let found = files_with_secret(&place.path("run"), &revealed(&place));
    assert_eq!(found.len(), 1, "only the end of the log has it: {found:?}");
}

/// Starts a run in which eve waits at her third request until `go` exists.
fn waiting_run(place: &Place, flags: &[&str], word: &str) -> std::process::Child {
    let eve =
        format!("eve={}", python("hostile.py", &format!("wait '{}' {word}", place.arg("go"))));
    let bob = format!("bob={}", stdio("random"));
    let mut args = vec!["run", "--preset", "yahtzee-class", "--quiet", "--out", "run"];
    args.extend(["--hello-ms", "60000"]);
    if !flags.contains(&"--answer-ms") {
        args.extend(["--answer-ms", "60000"]);
    }
    args.extend(flags);
    args.extend(["--player", &eve, &bob, "house:greedy", "c=house:greedy"]);
    let child = place.command(&args).spawn().expect("agon starts");
    until("eve waits", || answers_of_eve(place) >= 2);
    child
}

fn answers_of_eve(place: &Place) -> usize {
    let all = logs(&place.path("run/match"));
    let texts = all.iter().filter_map(|path| fs::read_to_string(path).ok());
    let own = texts.filter(|text| text.contains(r#""eve""#));
    own.map(|text| {
        let seat = if text.contains(r#""seats":["eve""#) { 0 } else { 1 };
        text.matches(&format!(r#""seat":{seat},"answer""#)).count()
    })
    .sum()
}

#[test]
fn killed_run_without_a_sandbox_goes_on_with_new_luck() {
    let place = Place::new();
    let mut child = waiting_run(&place, &["--no-sandbox"], &token("luck"));
    assert!(!place.path("run/secret").exists());
    child.kill().expect("a child can be killed");
    finish(child);
    fs::write(place.path("go"), "").expect("a file");
    let ended = place.agon(&["run", "--resume", "run"]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stderr.contains("begin anew"), "{ended:#?}");
    place.good(&["verify", "--quiet", "run"]);
    place.good(&["replay", "run"]);
    place.good(&["log", "check", "run"]);
    let text = fs::read_to_string(logs(&place.path("run/tournament")).remove(0)).expect("a log");
    assert!(text.contains("luck-renewed"), "{text}");
    assert!(place.path("run/match/yahtzee-class/r1m1.jsonl.lost-1").exists());
    assert!(!place.path("run/secret").exists());
}

#[test]
fn killed_run_without_a_sandbox_goes_on_exactly_with_its_seed() {
    let place = Place::new();
    fs::write(place.path("go"), "").expect("a file");
    let flags = ["--no-sandbox", "--seed", "23"];
    assert_eq!(finish(waiting_run(&place, &flags, &token("whole"))).code, Some(0));
    let whole = place.results_text("run");
    fs::remove_dir_all(place.path("run")).expect("a folder");
    fs::remove_file(place.path("go")).expect("a file");
    let mut child = waiting_run(&place, &flags, &token("seeded"));
    child.kill().expect("a child can be killed");
    finish(child);
    fs::write(place.path("go"), "").expect("a file");
    let wrong = place.agon(&["run", "--quiet", "--resume", "run", "--seed", "24"]);
    assert_eq!(wrong.code, Some(2), "{wrong:#?}");
    place.good(&["run", "--quiet", "--resume", "run", "--seed", "23"]);
    assert_eq!(place.results_text("run"), whole);
    place.good(&["verify", "--quiet", "run"]);
}

/// A game in which somebody from outside kills eve's program is void and played again.
fn killed_from_outside_is_void(flags: &[&str]) {
    let place = Place::new();
    let word = token("victim");
    let child = waiting_run(&place, flags, &word);
    // The first of them is the one that the run started.
    let victim = marked(&word).into_iter().filter(|id| *id != child.id()).min();
    fs::write(place.path("go"), "").expect("a file");
    signal(victim.expect("a process"), Signal::KILL);
    let ended = finish(child);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("killed-from-outside: the program of eve"), "{ended:#?}");
    let results = place.results("run");
    assert_eq!(codes(&results, "eve"), [""; 0], "{results:#}");
    let text = results.to_string();
    assert_eq!(text.matches("killed-from-outside").count(), 1, "{results:#}");
    place.good(&["verify", "--quiet", "run"]);
}

#[test]
fn game_is_void_when_somebody_kills_a_sandboxed_program() {
    killed_from_outside_is_void(&[]);
}

#[test]
fn game_is_void_when_somebody_kills_a_program_without_a_sandbox() {
    killed_from_outside_is_void(&["--no-sandbox"]);
}

#[test]
fn game_is_void_when_somebody_stops_a_program_without_a_sandbox() {
    let place = Place::new();
    let word = token("stopped");
    let child = waiting_run(&place, &["--no-sandbox", "--answer-ms", "3000"], &word);
    let victim = marked(&word).into_iter().find(|id| *id != child.id());
    signal(victim.expect("a process"), Signal::STOP);
    fs::write(place.path("go"), "").expect("a file");
    let ended = finish(child);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("killed-from-outside: the program of eve"), "{ended:#?}");
    assert_eq!(codes(&place.results("run"), "eve"), [""; 0], "{ended:#?}");
}

#[test]
fn killer_without_a_sandbox_does_not_become_champion() {
    let place = Place::new();
    let word = token("target");
    let eve = python("hostile.py", &format!("kill {word}"));
    let bob = python("hostile.py", &format!("honest - {word}"));
    let ended = attack(&place, "yahtzee", &["--no-sandbox"], &eve, &bob);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let results = place.results("run");
    assert_eq!(results["winners"], serde_json::json!([]), "{results:#}");
    assert_eq!(codes(&results, "bob"), [""; 0], "{results:#}");
    assert!(ended.stdout.contains("Nobody won."), "{ended:#?}");
}
