//! The load generator: what it prints, what it refuses, and that it leaves nothing behind.

use crate::support::{Place, Process, until};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};

/// The output of a short run.
fn measured(args: &[&str]) -> Value {
    let place = Place::new("");
    let all = [&["bench", "--seconds", "1", "--json", "--quiet"], args].concat();
    let (code, said) = place.agon(&all);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(leftovers(&place), Vec::<String>::new());
    serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
}

#[test]
fn one_match_is_measured_beside_a_ping_pong_with_sync() {
    let seen = measured(&["--players", "2"]);
    for name in ["/latency_ms/p50", "/synced/bare_latency_ms/p50", "/synced/latency_ratio"] {
        let value = seen.pointer(name).and_then(Value::as_f64);
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {seen}");
    }
    assert_eq!(seen["complaint"], Value::Null, "{seen}");
}

#[test]
fn a_kept_log_verifies() {
    let place = Place::new("");
    let args = ["bench", "--seconds", "1", "--players", "4", "--quiet", "--keep"];
    let (code, said) = place.agon(&args);
    assert_eq!(code, Some(0), "{said}");
    let [folder] = &leftovers(&place)[..] else { panic!("one folder is kept") };
    let data = place.path(&format!("{folder}/data"));
    let (code, said) = place.agon(&["verify", &data.to_string_lossy()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Verified: 1 tournament"), "{said}");
}

fn leftovers(place: &Place) -> Vec<String> {
    let files = std::fs::read_dir(place.path("")).expect("the test's folder");
    let names = files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("agon-bench")).collect()
}

#[test]
fn a_run_measures_everything_it_was_asked_for() {
    let seen = measured(&["--players", "8", "--half-load", "--observers", "2", "--restart"]);
    let positive = [
        "/decisions_per_second",
        "/bare_per_second",
        "/ratio",
        "/latency_ms/p50",
        "/latency_ms/p99",
        "/server_cpu_us_per_decision",
        "/bare_cpu_us_per_round_trip",
        "/cpu_ratio",
        "/bytes_per_answer",
        "/bytes_per_request",
        "/half_load/decisions_per_second",
        "/half_load/latency_ms/p99",
        "/half_load/server_ms/p99",
        "/observers/decisions_per_second",
        "/observers/share_of_rate",
        "/observers/events_per_second",
        "/restart/all_back_seconds",
        "/restart/decisions_per_second_after",
    ];
    for name in positive {
        let value = seen.pointer(name).and_then(Value::as_f64);
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {seen}");
    }
    assert!(seen["bytes_per_connection"].is_u64(), "{seen}");
    assert_eq!((&seen["players"], &seen["matches"]), (&8.into(), &4.into()));
    assert_eq!(seen["complaint"], Value::Null, "{seen}");
}

#[test]
fn many_watch_one_match() {
    let seen = measured(&["--game", "fish", "--watchers", "20"]);
    assert_eq!((&seen["watchers"], &seen["asleep"]), (&20.into(), &10.into()));
    // A short run on a busy machine may use less of it than can be measured.
    for name in ["server_cores", "server_cores_unwatched"] {
        assert!(seen[name].as_f64().is_some_and(|value| value >= 0.0), "{name}: {seen}");
    }
    let events = seen["events_per_second"].as_f64();
    assert!(events.is_some_and(|events| events > 0.0 && events <= 11.0), "{seen}");
    assert!(seen["latency_ms"]["p99"].is_f64(), "{seen}");
    assert_eq!(seen["complaint"], Value::Null, "{seen}");
}

#[test]
fn a_steady_load_tells_what_players_see_and_how_the_server_grows() {
    let seen = measured(&["--players", "8", "--steady", "100"]);
    let positive =
        ["/decisions", "/latency_ms/p50", "/latency_ms/max", "/server_ms/p99", "/bytes/most"];
    for name in positive {
        let value = seen.pointer(name).and_then(Value::as_f64);
        assert!(value.is_some_and(|value| value > 0.0), "{name}: {seen}");
    }
    // Never more than was asked for, but for what all begin with.
    let rate = seen["decisions_per_second"].as_f64().expect("a rate");
    assert!(rate <= 110.0, "{seen}");
    assert_eq!((&seen["faults"], &seen["complaint"]), (&0.into(), &Value::Null), "{seen}");
}

#[test]
fn every_game_and_transport_can_be_measured() {
    let runs: [&[&str]; 4] = [
        &["--game", "fish", "--players", "4"],
        &["--game", "trains", "--players", "4"],
        &["--game", "fish", "--wire", "fish", "--players", "4"],
        &["--transport", "ws", "--players", "4", "--matches", "6"],
    ];
    for run in runs {
        let seen = measured(run);
        assert!(seen["decisions_per_second"].as_f64().is_some_and(|rate| rate > 0.0), "{seen}");
        assert_eq!(seen["complaint"], Value::Null, "{seen}");
    }
}

#[test]
fn impossible_measurements_are_rejected() {
    let place = Place::new("");
    let refused = [
        (&["--address", "192.0.2.1"][..], "loopback"),
        (&["--players", "7"], "even"),
        (&["--players", "4", "--matches", "0"], "--matches"),
        (&["--seconds", "0"], "--seconds"),
        (&["--game", "chess"], "chess"),
        (&["--wire", "fish"], "--game fish"),
    ];
    for (args, word) in refused {
        let (code, said) = place.agon(&[&["bench"], args].concat());
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(word), "{args:?}: {said}");
    }
    assert_eq!(leftovers(&place), Vec::<String>::new());
}

#[test]
fn a_run_that_is_interrupted_leaves_nothing_behind() {
    let place = Place::new("");
    let mut command = place.command(&["bench", "--players", "4", "--seconds", "600"]);
    let mut process = Process(command.spawn().expect("agon starts"));
    let stderr = process.0.stderr.take().expect("a pipe");
    let slice = BufReader::new(stderr).lines().map_while(Result::ok);
    assert!(slice.into_iter().any(|line| line.contains("slice 1")), "it gets to the first slice");
    let folder = place.path(&format!("agon-bench-{}", process.0.id()));
    assert!(folder.is_dir());
    process.signal(Signal::INT);
    assert_eq!(process.code(), Some(130));
    assert!(!folder.exists());
    // All processes with the folder among their arguments have ended too.
    let folder = folder.file_name().expect("a name").to_string_lossy().into_owned();
    until("its processes are gone", || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        !lines.into_iter().any(|line| String::from_utf8_lossy(&line).contains(&folder))
    });
}
