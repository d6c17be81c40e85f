//! Ctrl-C and a polite kill: the run stops, says how to go on, and goes on exactly.

use crate::support::{
    Ended, Place, finish, log_bytes, marked, python, signal, stdio, token, until,
};
use rustix::process::Signal;

/// Eight players in matches long enough to be interrupted.
fn arguments<'a>(players: &'a [String], out: &'a str) -> Vec<&'a str> {
    let mut args = vec!["run", "--preset", "yahtzee-class", "--best-of", "9", "--seed", "31"];
    args.extend(["--hello-ms", "60000", "--answer-ms", "60000", "--out", out, "--player"]);
    args.extend(players.iter().map(String::as_str));
    args
}

fn players() -> Vec<String> {
    let own = |at| match at % 2 {
        0 => format!("p{at}={}", stdio("random")),
        _ => format!("p{at}=house:random"),
    };
    (1..=8).map(own).collect()
}

/// The arguments that the run printed for resuming it.
fn printed_command(ended: &Ended) -> Vec<String> {
    let line = ended.stderr.lines().rev().find(|line| line.contains("agon run --resume"));
    let line = line.unwrap_or_else(|| panic!("no resume command: {ended:#?}"));
    let words = line.trim().split(' ').map(|word| word.trim_matches('\'').to_owned());
    words.skip(1).collect()
}

#[test]
fn interrupted_runs_equal_an_undisturbed_one() {
    let (place, players) = (Place::new(), players());
    let (whole, stopped) = (place.arg("whole"), place.arg("stopped"));
    place.good(&arguments(&players, &whole));
    let size = log_bytes(&place.path("whole"));
    let (int, term) = (Signal::INT, Signal::TERM);
    for (signals, part) in [(&[int][..], 4), (&[term], 3), (&[int, int, term], 2)] {
        let _ = std::fs::remove_dir_all(place.path("stopped"));
        let child = place.command(&arguments(&players, &stopped)).spawn().expect("agon starts");
        until("the log has grown", || log_bytes(&place.path("stopped")) > size / part);
        for name in signals {
            signal(child.id(), *name);
        }
        let ended = finish(child);
        assert_eq!(ended.code, Some(130), "{signals:?}: {ended:#?}");
        assert!(ended.stderr.contains("Nothing is lost"), "{ended:#?}");
        assert!(!place.path("stopped/results.json").exists());
        place.good(&["verify", "--quiet", &stopped]);
        let command = printed_command(&ended);
        place.good(&command.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(place.results_text("stopped"), place.results_text("whole"));
        place.good(&["verify", "--quiet", &stopped]);
    }
}

#[test]
fn stopping_waits_for_no_player_and_charges_nobody() {
    let place = Place::new();
    // One never says hello, one hangs at its first request; both could take a minute.
    for (preset, mode) in [("fish", "mute"), ("yahtzee-class", "mute"), ("trains", "hang")] {
        let (out, token) = (place.arg(preset), token(&format!("stop-{preset}")));
        let eve = format!("eve={}", python("misbehave.py", &format!("{mode} 0 {token}")));
        let mut args = vec!["run", "--preset", preset, "--quiet", "--out", &out];
        args.extend(["--hello-ms", "100000", "--answer-ms", "100000"]);
        args.extend(["--player", &eve, "house:random", "house:greedy"]);
        let child = place.command(&args).spawn().expect("agon starts");
        until("the program runs", || !marked(&token).is_empty());
        signal(child.id(), Signal::INT);
        let ended = finish(child);
        assert_eq!(ended.code, Some(130), "{preset}: {ended:#?}");
        until("the program is gone", || marked(&token).is_empty());
        for path in crate::support::logs(&place.path(preset)) {
            let text = std::fs::read_to_string(path).expect("a log");
            assert!(!text.contains("\"fault\""), "{preset}: a fault in the log");
        }
    }
}

#[test]
fn a_run_that_goes_on_elsewhere_is_left_alone() {
    let place = Place::new();
    let out = place.arg("run");
    let eve = format!("eve={}", python("misbehave.py", "hang"));
    let mut args = vec!["run", "--preset", "yahtzee-class", "--quiet", "--out", &out];
    args.extend(["--answer-ms", "100000", "--player", &eve, "house:random"]);
    let child = place.command(&args).spawn().expect("agon starts");
    until("the run has begun", || log_bytes(&place.path("run")) > 0);
    let second = place.agon(&["run", "--resume", &out]);
    assert_eq!(second.code, Some(5), "{second:#?}");
    assert!(second.stderr.contains(&format!("pid {}", child.id())), "{second:#?}");
    signal(child.id(), Signal::TERM);
    assert_eq!(finish(child).code, Some(130));
}
