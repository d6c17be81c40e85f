//! The command line: help that teaches, mistakes with what to do about them, exit codes.

use crate::support::{Place, finish, python, snapshot};
use std::fmt::Write;

const HOUSES: [&str; 3] = ["--player", "house:random", "house:greedy"];

/// The help of a command and, below it, of its commands; each is a snapshot.
fn check_help(place: &Place, command: &[&str]) {
    let mut asked = place.command(&[command, &["--help"]].concat());
    // Help shows what variables hold.
    let variables = std::env::vars().filter(|(name, _)| name.starts_with("AGON_"));
    for (name, _) in variables {
        asked.env_remove(name);
    }
    let help = finish(asked.env_remove("AGON_CACHE").spawn().expect("agon starts")).stdout;
    let name = command.iter().fold("help".to_owned(), |name, word| format!("{name}-{word}"));
    let wide = |line: &str| line.chars().count() > 100 && !line.starts_with("Usage:");
    assert!(!help.lines().any(wide), "{name}: {help}");
    snapshot(&name, &help);
    let listed = help.split("Commands:\n").nth(1).unwrap_or_default();
    let listed = listed.lines().take_while(|line| line.starts_with("  "));
    for line in listed.filter(|line| !line.starts_with("   ")) {
        let below = line.split_whitespace().next().expect("a command has a name");
        if below != "help" {
            check_help(place, &[command, &[below]].concat());
        }
    }
}

#[test]
fn every_command_has_help() {
    let place = Place::new();
    check_help(&place, &[]);
    assert!(place.good(&["--version"]).stdout.starts_with("agon "));
}

#[test]
fn invalid_arguments_exit_with_2_and_name_the_fix() {
    let place = Place::new();
    place.good(&[&["run", "--preset", "fish", "--out", "taken", "--quiet"], &HOUSES[..]].concat());
    std::fs::create_dir(place.path("empty")).expect("a folder");
    let alone: &[&[&str]] = &[
        &["run"],
        &["run", "--preset", "chess"],
        &["run", "--game", "chess"],
        &["run", "--preset", "fish", "--player", "house:best"],
        &["run", "--preset", "fish"],
        &["run", "--preset", "fish", "--player", "house:"],
        &["run", "--preset", "fish", "--player", "a 'b"],
        &["run", "--preset", "fish", "--player", "a=house:random", "a=house:greedy"],
        &["run", "--preset", "fish", "--game", "trains"],
        &["run", "--resume", "empty"],
        &["run", "--resume", "nowhere"],
        &["run", "--resume", "taken", "--game", "fish"],
        &["run", "--resume", "taken", "--seed", "4"],
        &["run", "--frobnicate"],
        &["frobnicate"],
        &["bot", "best"],
        &["bot", "--game", "fish", "best"],
        &["replay", "taken", "--match", "r7m7"],
        &["replay", "taken", "--game", "7"],
    ];
    let with_players: &[&[&str]] = &[
        &["--out", "taken"],
        &["--best-of", "2"],
        &["--best-of", "3"],
        &["--game-config", "{\"rows\":"],
        &["--game-config", "[3]"],
        &["--game-config", "{\"rowz\":3}"],
        &["--concurrency", "0"],
        &["--slots", "4"],
        &["--format", "bracket", "--slots", "3"],
        &["--format", "bracket", "--slots", "2", "--player", "house:random"],
        &["--name", "Summer Cup"],
        &["--answer-ms", "0"],
        &["--answer-ms", "soon"],
    ];
    let three = ["--player", "house:random", "house:random", "house:random"];
    let cases = alone.iter().map(|args| args.to_vec());
    let cases = cases.chain(
        with_players.iter().map(|args| [&["run", "--preset", "fish"], *args, &HOUSES].concat()),
    );
    let odd = [&["run", "--game", "yahtzee", "--format", "knockout"], &three[..]].concat();
    let mut said = String::new();
    for args in cases.chain([odd]) {
        let ended = place.agon(&args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert_eq!(ended.stdout, "", "{args:?}");
        writeln!(said, "$ agon {}\n{}", args.join(" "), ended.stderr).expect("a text grows");
    }
    snapshot("mistakes", &said);
}

#[test]
fn json_is_the_results_file_and_nothing_else() {
    let place = Place::new();
    for preset in ["yahtzee-class", "fish", "trains"] {
        let args = ["run", "--preset", preset, "--json", "--out", preset];
        let ended = place.good(&[&args, &HOUSES[..]].concat());
        assert_eq!(ended.stdout, place.results_text(preset));
        assert_eq!(ended.stderr, "");
        // Asked again, it says the same.
        let again = place.good(&["run", "--resume", preset, "--json"]);
        assert_eq!(again.stdout, ended.stdout);
    }
}

#[test]
fn results_hold_no_times() {
    let place = Place::new();
    for out in ["one", "two"] {
        let args = ["run", "--preset", "trains", "--seed", "5", "--quiet", "--out", out];
        place.good(&[&args, &HOUSES[..]].concat());
    }
    assert_eq!(place.results_text("one"), place.results_text("two"));
    assert!(!place.results_text("one").contains("_ms"));
}

#[test]
fn strict_ends_with_6_only_after_faults() {
    let place = Place::new();
    let args = ["run", "--preset", "trains", "--strict", "--quiet", "--out"];
    let ended = place.agon(&[&args[..], &["clean"], &HOUSES[..]].concat());
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let cheat = ["--player", "house:cheat", "house:random"];
    let ended = place.agon(&[&args[..], &["cheated"], &cheat[..]].concat());
    assert_eq!(ended.code, Some(6), "{ended:#?}");
    assert!(ended.stdout.contains("cheat (r1m1 game 1): cheat (the map has no"), "{ended:#?}");
    let args = ["run", "--preset", "trains", "--quiet", "--out", "lenient"];
    assert_eq!(place.agon(&[&args[..], &cheat].concat()).code, Some(0));
}

#[test]
fn a_tournament_without_a_map_that_fits_ends_with_3() {
    let place = Place::new();
    let players = ["a", "b"].map(|name| format!("{name}={}", python("misbehave.py", "small-map")));
    let mut args = vec!["run", "--preset", "trains", "--quiet", "--out", "run"];
    args.extend(["--hello-ms", "60000", "--player", &players[0], &players[1]]);
    let ended = place.agon(&args);
    assert_eq!(ended.code, Some(3), "{ended:#?}");
    assert!(ended.stderr.contains("could not be held"), "{ended:#?}");
    assert!(place.results("run")["status"].as_str().is_some_and(|s| s.starts_with("aborted: ")));
    place.good(&["verify", "run"]);
    assert_eq!(place.agon(&["run", "--quiet", "--resume", "run"]).code, Some(3));
}

#[test]
fn without_out_a_new_folder_is_made_every_time() {
    let place = Place::new();
    for _ in 0..2 {
        place.good(&[&["run", "--preset", "fish", "--quiet"], &HOUSES[..]].concat());
    }
    assert!(place.path("fish-run/results.json").exists());
    assert!(place.path("fish-run-2/results.json").exists());
    // Without a seed, luck differs: the secrets do.
    let secret = |dir: &str| std::fs::read_to_string(place.path(dir).join("secret")).expect("one");
    assert_ne!(secret("fish-run"), secret("fish-run-2"));
}
