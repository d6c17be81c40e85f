//! Any number of players: odd rounds, byes, one alone, more programs than are kept running.

use crate::support::{Place, stdio};

/// Plays among `count` players and checks the log; gives the results.
fn play(flags: &[&str], count: usize, player: impl Fn(usize) -> String) -> serde_json::Value {
    let place = Place::new();
    let out = place.arg("run");
    let players: Vec<String> = (1..=count).map(|at| format!("p{at}={}", player(at))).collect();
    let mut args = vec!["run", "--seed", "41", "--quiet", "--out", &out];
    args.extend(["--answer-ms", "60000", "--hello-ms", "60000"]);
    args.extend(flags);
    args.push("--player");
    args.extend(players.iter().map(String::as_str));
    place.good(&args);
    let checked = place.good(&["verify", &out]).stdout;
    assert!(checked.starts_with("Verified: 1 tournament"), "{checked}");
    let results = place.results("run");
    let about = format!("{count} players, {flags:?}");
    assert_eq!(results["status"], "ended", "{about}");
    assert_eq!(results["standings"].as_array().map(Vec::len), Some(count), "{about}");
    let winners = results["winners"].as_array().map_or(0, Vec::len);
    assert!(winners > 0, "{about}: {results}");
    results
}

fn house(names: &'static [&'static str]) -> impl Fn(usize) -> String {
    move |at| format!("house:{}", names[at % names.len()])
}

fn matches(results: &serde_json::Value) -> usize {
    let rounds = results["rounds"].as_array().expect("rounds").iter();
    rounds.filter_map(|round| round["matches"].as_array()).map(Vec::len).sum()
}

#[test]
fn a_hundred_in_a_bracket() {
    let results = play(&["--preset", "yahtzee-class"], 100, house(&["random", "greedy"]));
    assert_eq!(matches(&results), 99);
}

#[test]
fn knockouts_of_awkward_sizes() {
    for count in [2, 9, 10, 17] {
        play(&["--preset", "fish"], count, house(&["random", "greedy", "search:1"]));
        play(&["--preset", "trains"], count, house(&["random", "hold-10", "buy-now"]));
    }
}

#[test]
fn brackets_of_awkward_sizes() {
    for count in [2, 3, 5, 6, 7, 9] {
        let results = play(&["--preset", "yahtzee-queue"], count, house(&["random"]));
        assert_eq!(matches(&results), count - 1);
    }
}

#[test]
fn round_robin_pairs_every_two_players_once() {
    let flags = ["--preset", "yahtzee-class", "--format", "round-robin", "--best-of", "3"];
    assert_eq!(matches(&play(&flags, 5, house(&["random", "greedy"]))), 10);
    let flags = ["--game", "fish", "--format", "round-robin"];
    assert_eq!(matches(&play(&flags, 6, house(&["random", "greedy"]))), 15);
}

#[test]
fn more_programs_than_are_kept_running() {
    play(&["--preset", "fish", "--concurrency", "4"], 70, |_| stdio("random"));
}
