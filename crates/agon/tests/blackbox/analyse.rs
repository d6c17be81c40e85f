//! `agon analyse`: luck and skill of a run, a match and a game.

use crate::support::Place;
use serde_json::Value;

/// A round robin of three house players in Yahtzee.
fn played() -> Place {
    let place = Place::new();
    let args = ["run", "--game", "yahtzee", "--format", "round-robin", "--best-of", "3"];
    let more = ["--seed", "7", "--quiet", "--out", "run", "--player"];
    let players = ["ann=house:optimal", "bob=house:greedy", "cyd=house:random"];
    let ended = place.good(&[&args[..], &more, &players].concat());
    assert!(ended.stdout.contains("Luck and skill (95 % intervals)"), "{ended:?}");
    assert!(ended.stdout.contains("ann – bob, 3 games: "), "{ended:?}");
    place
}

fn json(place: &Place, args: &[&str]) -> Value {
    let text = place.good(&[&["analyse", "--json"], args].concat()).stdout;
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn run_is_analysed_as_a_whole_by_match_and_by_game() {
    let place = played();
    let whole = json(&place, &["run"]);
    let players = whole["standings"]["players"].as_array().expect("players");
    let names: Vec<&str> = players.iter().filter_map(|one| one["player"].as_str()).collect();
    assert_eq!(names, ["ann", "bob", "cyd"], "the best decisions first");
    assert!((players[0]["adjusted"]["mean"].as_f64().unwrap() - 254.4865).abs() < 1e-3);
    assert_eq!(players[0]["cost"], 0.0);
    let games = whole["games"].as_array().expect("games");
    assert!(games.iter().all(|game| game["steps"] == Value::Array(Vec::new())));
    let one = json(&place, &["run", "--match", "r2m1", "--game", "2"]);
    let game = &one["games"][0];
    assert_eq!((&game["match"], &game["game"]), (&"r2m1".into(), &2.into()));
    assert!(game["steps"].as_array().expect("steps").len() > 100);
    let file = json(&place, &["run/match/yahtzee/r2m1.jsonl"]);
    let same = json(&place, &["run", "--match", "r2m1"]);
    assert_eq!(file, same, "the file of a match is the match");
    let text = place.good(&["analyse", "run"]).stdout;
    for needle in ["Costliest decisions", "  cyd −", "; better: ", "Values: exact expected"] {
        assert!(text.contains(needle), "{needle}: {text}");
    }
    let text = place.good(&["analyse", "run", "--match", "r2m1", "--game", "1"]).stdout;
    for needle in ["turn 13, box", "what happened", "mistakes"] {
        assert!(text.contains(needle), "{needle}: {text}");
    }
    let replay = place.good(&["replay", "run", "--match", "r2m1", "--last"]).stdout;
    assert!(replay.contains(" without luck ("), "{replay}");
}

#[test]
fn missing_and_unknown_games_are_errors_of_the_caller() {
    let place = played();
    let wrong: [(&[&str], &str); 3] = [
        (&["run", "--match", "r9m9"], "there is no match \"r9m9\" with a finished game"),
        (&["run", "--match", "r1m1", "--game", "7"], "there is no finished game 7 in match"),
        (&["run", "--tournament", "none"], "the log has no finished game"),
    ];
    for (args, message) in wrong {
        let ended = place.agon(&[&["analyse"], args].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(message), "{ended:?}");
    }
    let ended = place.agon(&["analyse", "nowhere"]);
    assert_eq!(ended.code, Some(5), "{ended:?}");
}
