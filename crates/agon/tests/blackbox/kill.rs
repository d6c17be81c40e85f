//! Killed at any moment and resumed, a run gives the results of an undisturbed one, to the byte.

use crate::support::{
    Ended, Place, finish, log_bytes, logs, marked, python, signal, stdio, token, until,
};
use agon_bots::SplitMix64;
use rustix::process::Signal;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How often the runs of one tournament are killed.
const KILLS: u32 = 20;

/// A seed from the environment to repeat a failure, else a new one every time.
fn seed() -> u64 {
    let given = std::env::var("AGON_TEST_SEED").ok().and_then(|text| text.parse().ok());
    let now = || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    given.unwrap_or_else(|| now().map_or(0, |since| since.subsec_nanos().into()))
}

/// Eight players, every other one a program.
fn eight(names: [&str; 8]) -> Vec<String> {
    let players = names.iter().zip(1..).map(|(name, at)| match at % 2 {
        0 => format!("p{at}={}", stdio(name)),
        _ => format!("p{at}=house:{name}"),
    });
    players.collect()
}

fn arguments<'a>(flags: &[&'a str], players: &'a [String], out: &'a str) -> Vec<&'a str> {
    let mut args = vec!["run", "--seed", "23", "--quiet", "--out", out];
    args.extend(["--hello-ms", "60000", "--answer-ms", "60000"]);
    args.extend(flags);
    args.push("--player");
    args.extend(players.iter().map(String::as_str));
    args
}

/// Every game of every match was started once, in order, and no answer was accepted twice.
fn nothing_twice(dir: &Path) {
    for path in logs(dir) {
        let text = fs::read_to_string(&path).expect("a log");
        let (mut games, mut answered) = (Vec::new(), BTreeSet::new());
        for line in text.lines() {
            let line: serde_json::Value = serde_json::from_str(line).expect("lines are JSON");
            match line["type"].as_str() {
                Some("game-started") => {
                    games.push(line["data"]["game"].as_u64().expect("a number"))
                }
                Some("answer-accepted") => {
                    let request = line["data"]["request"].to_string();
                    assert!(answered.insert(request.clone()), "{path:?}: {request} twice");
                }
                _ => {}
            }
        }
        let expected: Vec<u64> = (1..=games.len() as u64).collect();
        assert_eq!(games, expected, "{}", path.display());
    }
}

/// Starts or resumes the run and kills it once its log has grown by a random amount; `None` if it
/// was killed, else how it ended.
fn run_and_kill(place: &Place, args: &[&str], grow: u64) -> Option<Ended> {
    let dir = place.path("killed");
    let limit = log_bytes(&dir) + grow;
    let mut child = place.command(args).spawn().expect("agon starts");
    let mut over = false;
    until("the log has grown or the run is over", || {
        over = child.try_wait().expect("a child").is_some();
        over || grow == 0 || log_bytes(&dir) >= limit
    });
    if over {
        return Some(finish(child));
    }
    child.kill().expect("a child can be killed");
    let ended = finish(child);
    // It may have ended by itself in the very moment.
    ended.code.is_some().then_some(ended)
}

fn killed_runs_equal_an_undisturbed_one(flags: &[&str], players: &[String]) {
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let place = Place::new();
    let (whole, killed) = (place.arg("whole"), place.arg("killed"));
    place.good(&arguments(flags, players, &whole));
    let expected = place.results_text("whole");
    let size = log_bytes(&place.path("whole"));
    let start = arguments(flags, players, &killed);
    let resume = ["run", "--quiet", "--resume", &killed];
    let mut chance = SplitMix64::new(seed);
    let mut kills = 0;
    while kills < KILLS {
        let _ = fs::remove_dir_all(place.path("killed"));
        // A run is killed up to six times before the next one starts from nothing.
        let mut over = None;
        for _ in 0..6 {
            let begun = place.path("killed").join("run.json").exists();
            let args = if begun { &resume[..] } else { &start[..] };
            let grow = if chance.below(5) == 0 { 0 } else { 1 + chance.below(size / 3) };
            over = run_and_kill(&place, args, grow);
            if over.is_some() {
                break;
            }
            kills += 1;
        }
        let begun = place.path("killed").join("run.json").exists();
        let ended = over.unwrap_or_else(|| place.agon(if begun { &resume } else { &start }));
        assert_eq!(ended.code, Some(0), "seed {seed}: {ended:#?}");
        assert_eq!(place.results_text("killed"), expected, "seed {seed}");
        place.good(&["verify", "--quiet", &killed]);
        nothing_twice(&place.path("killed"));
    }
}

#[test]
fn yahtzee_bracket() {
    let names = ["greedy", "random", "random", "greedy", "random", "random", "greedy", "random"];
    let flags = ["--preset", "yahtzee-class", "--best-of", "3"];
    killed_runs_equal_an_undisturbed_one(&flags, &eight(names));
}

#[test]
fn yahtzee_bracket_of_sequential_tests_over_duplicate_games() {
    let names = ["greedy", "random", "random", "greedy", "random", "random", "greedy", "random"];
    let flags = ["--preset", "yahtzee-class", "--sprt", "elo1=300", "pairs=3"];
    killed_runs_equal_an_undisturbed_one(&flags, &eight(names));
}

#[test]
fn fish_knockout() {
    let names =
        ["greedy", "random", "search:2", "greedy", "random", "search:1", "greedy", "search:2"];
    killed_runs_equal_an_undisturbed_one(&["--preset", "fish"], &eight(names));
}

#[test]
fn trains_knockout() {
    let names =
        ["random", "greedy", "hold-10", "buy-now", "random", "hold-10", "greedy", "buy-now"];
    killed_runs_equal_an_undisturbed_one(&["--preset", "trains"], &eight(names));
}

/// A format between house players, over a small board of Fish.
fn killed_format(format: &str, ties: &str) {
    let players: Vec<String> = (1..=6).map(|number| format!("p{number}=house:random")).collect();
    let settings = format!("format = \"{format}\"\nties = \"{ties}\"\ngame = \"fish\"\n");
    let file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    fs::write(file.path(), settings).expect("a file");
    let board = r#"{"rows":4,"columns":3}"#;
    let path = file.path().to_str().expect("a path");
    killed_runs_equal_an_undisturbed_one(&["--config", path, "--game-config", board], &players);
}

#[test]
fn swiss() {
    killed_format("swiss", "share");
}

/// A format with programs among its players.
#[test]
fn swiss_of_programs() {
    let names = ["greedy", "random", "random", "greedy", "random", "random", "greedy", "random"];
    let mut flags = vec!["--game", "fish", "--format", "swiss:rounds=3"];
    flags.extend(["--game-config", r#"{"rows":4,"columns":3}"#]);
    killed_runs_equal_an_undisturbed_one(&flags, &eight(names));
}

#[test]
fn swiss_at_tables() {
    killed_format("swiss:min=2,max=4,rounds=3", "share");
}

#[test]
fn double_elimination() {
    killed_format("double-elimination", "replay");
}

#[test]
fn bracket_with_third_place() {
    killed_format("bracket:third_place=true", "replay");
}

#[test]
fn round_robin_of_two_cycles() {
    killed_format("round-robin:cycles=2,tie_breaks=head-to-head+points", "share");
}

#[test]
fn gauntlet() {
    killed_format("gauntlet:cycles=2", "share");
}

#[test]
fn arena() {
    killed_format("arena:rounds=4", "share");
}

#[test]
fn arena_whose_time_is_never_over() {
    killed_format("arena:rounds=4,play_ms=86400000", "share");
}

/// The numbers of games depend on the time, so two runs differ. A killed run still ends by its
/// time, follows from its log, and has played at least so long.
#[test]
fn arena_that_ends_by_time() {
    const PLAY_MS: u64 = 700;
    let seed = seed();
    eprintln!("AGON_TEST_SEED={seed}");
    let place = Place::new();
    let killed = place.arg("killed");
    let players: Vec<String> = (1..=5).map(|number| format!("p{number}=house:random")).collect();
    let format = format!("arena:rounds=10000,play_ms={PLAY_MS}");
    let settings = format!("format = \"{format}\"\nties = \"share\"\ngame = \"fish\"\n");
    fs::write(place.path("arena.toml"), settings).expect("a file");
    let config = place.arg("arena.toml");
    let flags = ["--config", config.as_str(), "--game-config", r#"{"rows":4,"columns":3}"#];
    let start = arguments(&flags, &players, &killed);
    let resume = ["run", "--quiet", "--resume", &killed];
    let mut chance = SplitMix64::new(seed);
    let mut over = None;
    for _ in 0..5 {
        let begun = place.path("killed").join("run.json").exists();
        let args = if begun { &resume[..] } else { &start[..] };
        over = run_and_kill(&place, args, 1 + chance.below(60_000));
        if over.is_some() {
            break;
        }
    }
    let ended = over.unwrap_or_else(|| place.agon(&resume));
    assert_eq!(ended.code, Some(0), "seed {seed}: {ended:#?}");
    place.good(&["verify", "--quiet", &killed]);
    nothing_twice(&place.path("killed"));
    let lines = logs(&place.path("killed")).into_iter().flat_map(|path| {
        let text = fs::read_to_string(path).expect("a log");
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    });
    let events: Vec<serde_json::Value> =
        lines.map(|line| serde_json::from_str(&line).expect("JSON")).collect();
    let of = |kind: &str| -> Vec<&serde_json::Value> {
        events.iter().filter(|event| event["type"] == kind).collect()
    };
    let [end] = of("play-time-ended")[..] else { panic!("seed {seed}: its time ends once") };
    let at = |event: &serde_json::Value| event["at"].as_u64().expect("a time");
    let counted = of("play-time-counted");
    let (before, since) = match counted.last() {
        Some(last) => (last["data"]["played_ms"].as_u64().expect("a number"), at(last)),
        None => (0, at(of("tournament-created")[0])),
    };
    let played = before + at(end) - since;
    assert!(played >= PLAY_MS, "seed {seed}: it played for {played} ms");
    let times = counted.iter().map(|event| event["data"]["played_ms"].as_u64());
    assert!(times.is_sorted(), "seed {seed}: {counted:?}");
}

#[test]
fn groups() {
    killed_format("groups:size=3", "share");
}

#[test]
fn until_sure() {
    killed_format("until-sure:confidence=80,places=1,matches_max=20", "share");
}

#[test]
fn groups_and_a_bracket() {
    killed_format("groups:size=3 -> bracket", "replay");
}

#[test]
fn swiss_and_a_double_elimination() {
    killed_format("swiss:rounds=2 -> top 4 double-elimination", "replay");
}

#[test]
fn programs_of_a_killed_run_are_gone_after_it_goes_on() {
    let place = Place::new();
    let (out, token) = (place.arg("run"), token("leftover"));
    // It ignores the end of its input, and hangs at its third request so that the run stands still.
    let eve = format!("eve={}", python("misbehave.py", &format!("stubborn-hang 3 {token}")));
    let mut args = vec!["run", "--preset", "yahtzee-class", "--quiet", "--out", &out];
    args.extend(["--answer-ms", "60000", "--hello-ms", "60000", "--no-sandbox"]);
    args.extend(["--player", &eve, "house:random"]);
    let mut child = place.command(&args).spawn().expect("agon starts");
    let evidence = place.path("run/match/yahtzee-class/r1m1.jsonl");
    let answers =
        || fs::read_to_string(&evidence).map_or(0, |text| text.matches("r1m1.1.0.").count());
    until("the program hangs", || answers() >= 3);
    let own = child.id();
    let bots = || marked(&token).into_iter().filter(|id| *id != own).collect::<Vec<_>>();
    let before = bots();
    assert_eq!(before.len(), 1);
    child.kill().expect("a child can be killed");
    finish(child);
    assert_eq!(bots(), before, "the test player ignores the end of its input");
    let child = place.command(&["run", "--quiet", "--resume", &out]).spawn().expect("agon starts");
    until("the old program is gone", || !bots().contains(&before[0]));
    signal(child.id(), Signal::INT);
    assert_eq!(finish(child).code, Some(130));
    until("the new program is gone too", || bots().is_empty());
}

#[test]
fn sandboxed_programs_end_with_a_killed_run() {
    let place = Place::new();
    let token = token("orphan");
    // It ignores the end of its input, and would hang for ever.
    let eve = format!("eve={}", python("misbehave.py", &format!("stubborn-hang 0 {token}")));
    let mut args = vec!["run", "--preset", "yahtzee-class", "--quiet", "--out", "run"];
    args.extend(["--answer-ms", "60000", "--hello-ms", "60000"]);
    args.extend(["--player", &eve, "house:random"]);
    let mut child = place.command(&args).spawn().expect("agon starts");
    let started = place.path("run/match/yahtzee-class/r1m1.jsonl");
    until("the match has begun", || {
        fs::read_to_string(&started).is_ok_and(|text| text.contains("game-started"))
    });
    assert!(!marked(&token).is_empty());
    child.kill().expect("a child can be killed");
    finish(child);
    until("the program is gone", || marked(&token).is_empty());
}

/// Copies a folder with everything in it.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_folder(&path, &copy);
        } else {
            fs::copy(&path, &copy).expect("a file");
        }
    }
}

#[test]
fn run_that_was_killed_before_runs_used_the_engine_goes_on() {
    let place = Place::new();
    // One match is over, one has begun and one has not.
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/blackbox/data/killed-run");
    copy_folder(&data, &place.path("old"));
    let (old, new) = (place.arg("old"), place.arg("new"));
    place.good(&["run", "--quiet", "--resume", &old]);
    place.good(&["verify", "--quiet", &old]);
    nothing_twice(&place.path("old"));
    let mut args = vec!["run", "--quiet", "--out", &new, "--seed", "3", "--best-of", "1"];
    args.extend(["--preset", "yahtzee-referee", "--format", "round-robin", "--player"]);
    args.extend(["p1=house:optimal", "p2=house:random", "p3=house:random"]);
    place.good(&args);
    assert_eq!(place.results_text("old"), place.results_text("new"));
}
