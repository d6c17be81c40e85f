//! The command line: help that teaches, mistakes with what to do about them, exit codes.

use crate::support::{Place, python};

const HOUSES: [&str; 3] = ["--player", "house:random", "house:greedy"];

#[test]
fn every_command_has_help() {
    let place = Place::new();
    let whole = place.good(&["--help"]).stdout;
    for word in ["run", "replay", "verify", "bot", "solve", "list", "Exit codes", "130"] {
        assert!(whole.contains(word), "{word} is missing: {whole}");
    }
    let texts = [
        ("run", "agon run --resume cup"),
        ("run", "limits = {"),
        ("run", "Exit codes"),
        ("verify", "Exit codes"),
        ("replay", "--match"),
        ("verify", "*.jsonl"),
        ("bot", "docs/protocol/native.md"),
        ("solve", "--rule"),
        ("list", "--json"),
    ];
    for (command, needle) in texts {
        let help = place.good(&[command, "--help"]).stdout;
        assert!(help.contains(needle), "{command}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command}: {help}");
    }
    assert!(place.good(&["--version"]).stdout.starts_with("agon "));
}

#[test]
fn mistakes_end_with_2_and_say_what_to_do() {
    let place = Place::new();
    place.good(&[&["run", "--preset", "fish", "--out", "taken", "--quiet"], &HOUSES[..]].concat());
    std::fs::create_dir(place.path("empty")).expect("a folder");
    let cases: &[(&[&str], &str)] = &[
        (&["run"], "give --preset (yahtzee-class"),
        (&["run", "--preset", "chess"], "there are: yahtzee-class"),
        (&["run", "--game", "chess"], "there are: yahtzee, fish, trains"),
        (&["run", "--preset", "fish", "--player", "house:best"], "there are: random, greedy"),
        (&["run", "--preset", "fish"], "give players with --player"),
        (&["run", "--preset", "fish", "--player", "house:"], "write house:NAME"),
        (&["run", "--preset", "fish", "--player", "a 'b"], "closing one"),
        (&["run", "--preset", "fish", "--player", "a=house:random", "a=house:greedy"], "called a;"),
        (&["run", "--preset", "fish", "--game", "trains"], "preset fish is for fish"),
        (&["run", "--resume", "empty"], "start one with `agon run"),
        (&["run", "--resume", "nowhere"], "start one with `agon run"),
        (&["run", "--resume", "taken", "--game", "fish"], "cannot be used with"),
        (&["run", "--resume", "taken", "--seed", "4"], "not the number"),
        (&["run", "--frobnicate"], "--help"),
        (&["frobnicate"], "--help"),
        (&["bot", "best"], "agon list"),
        (&["bot", "--game", "fish", "best"], "there are: random, greedy"),
        (&["replay", "taken", "--match", "r7m7"], "there are: r1m1"),
        (&["replay", "taken", "--game", "7"], "there is no game 7"),
    ];
    for (args, needle) in cases {
        let ended = place.agon(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(needle), "{args:?}: {ended:#?}");
        assert_eq!(ended.stdout, "", "{args:?}");
    }
    let with_players: &[(&[&str], &str)] = &[
        (&["--out", "taken"], "agon run --resume taken"),
        (&["--best-of", "2"], "odd number"),
        (&["--best-of", "3"], "choose the format bracket or round-robin"),
        (&["--game-config", "{\"rows\":"], "not a JSON object"),
        (&["--game-config", "[3]"], "not a JSON object"),
        (&["--game-config", "{\"rowz\":3}"], "expected one of `rows`"),
        (&["--concurrency", "0"], "1 to 1024"),
        (&["--slots", "4"], "format bracket"),
        (&["--format", "bracket", "--slots", "3"], "2, 4, 8"),
        (&["--format", "bracket", "--slots", "2", "--player", "house:random"], "do not fit"),
        (&["--name", "Summer Cup"], "of a-z"),
        (&["--answer-ms", "0"], "at least 1"),
        (&["--answer-ms", "soon"], "--answer-ms"),
    ];
    for (flags, needle) in with_players {
        let args = [&["run", "--preset", "fish"], *flags, &HOUSES[..]].concat();
        let ended = place.agon(&args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(needle), "{args:?}: {ended:#?}");
    }
    let args = ["run", "--game", "yahtzee", "--format", "knockout"];
    let three = ["--player", "house:random", "house:random", "house:random"];
    let ended = place.agon(&[&args[..], &three].concat());
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    assert!(ended.stderr.contains("3 players cannot form games"), "{ended:#?}");
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
