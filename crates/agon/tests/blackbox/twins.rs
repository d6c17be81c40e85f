//! The same players inside `agon`, as programs and written in Python: the same results to the byte.

use crate::support::{Place, python, stdio};

/// Plays the same tournament with each list of players; all results must be equal.
fn all_equal(flags: &[&str], line_ups: &[Vec<String>]) {
    let place = Place::new();
    let mut first: Option<String> = None;
    for (at, players) in line_ups.iter().enumerate() {
        let out = place.arg(&format!("run-{at}"));
        let mut args = vec!["run", "--seed", "11", "--quiet", "--out", &out];
        args.extend(["--hello-ms", "60000", "--answer-ms", "60000"]);
        args.extend(flags);
        args.push("--player");
        args.extend(players.iter().map(String::as_str));
        place.good(&args);
        let text = place.results_text(&format!("run-{at}"));
        assert_eq!(first.get_or_insert(text.clone()), &text, "{flags:?}, line-up {at}");
        place.good(&["verify", "--quiet", &out]);
    }
}

/// `p1=house:NAME p2=…`, and the same as programs.
fn twins(names: &[&str]) -> Vec<Vec<String>> {
    let named = |how: &dyn Fn(&str) -> String| {
        names.iter().zip(1..).map(|(name, at)| format!("p{at}={}", how(name))).collect()
    };
    let mixed = names.iter().zip(1..).map(|(name, at)| match at % 2 {
        0 => format!("p{at}=house:{name}"),
        _ => format!("p{at}={}", stdio(name)),
    });
    vec![named(&|name| format!("house:{name}")), named(&|name| stdio(name)), mixed.collect()]
}

#[test]
fn yahtzee_brackets() {
    let names = ["greedy", "random", "greedy", "random", "random"];
    for preset in ["yahtzee-class", "yahtzee-referee", "yahtzee-queue"] {
        all_equal(&["--preset", preset, "--best-of", "3"], &twins(&names));
    }
}

#[test]
fn fish_knockout() {
    let names = ["greedy", "random", "search:2", "search:1", "random", "greedy"];
    all_equal(&["--preset", "fish"], &twins(&names));
}

#[test]
fn trains_knockout() {
    let names = ["random", "greedy", "hold-10", "buy-now", "cheat"];
    all_equal(&["--preset", "trains"], &twins(&names));
}

#[test]
fn every_game_in_every_format() {
    let names = [
        ("yahtzee", ["greedy", "random", "random", "greedy"]),
        ("fish", ["greedy", "random", "search:1", "random"]),
        ("trains", ["buy-now", "random", "hold-10", "random"]),
    ];
    for (game, names) in names {
        let best_of: &[(&str, &str)] =
            &[("bracket", "3"), ("round-robin", "1"), ("round-robin", "3"), ("knockout", "1")];
        for (format, best_of) in best_of {
            let flags = ["--game", game, "--format", format, "--best-of", best_of];
            all_equal(&flags, &twins(&names));
        }
    }
}

#[test]
fn python_players() {
    let scripts = [
        ("yahtzee-class", "random", "random_yahtzee.py"),
        ("fish", "greedy", "greedy_fish.py"),
        ("trains", "buy-now", "buy_now_trains.py"),
    ];
    for (preset, name, script) in scripts {
        let line_up = |own: String| {
            let fixed = ["a=house:greedy".to_owned(), "d=house:random".to_owned()];
            let [a, d] = fixed;
            vec![a, format!("b={own}"), format!("c={own}"), d]
        };
        let line_ups = [format!("house:{name}"), stdio(name), python(script, "")].map(line_up);
        all_equal(&["--preset", preset], &line_ups);
    }
}

/// Champions count steps and not time, so two runs of them are equal.
#[test]
fn champions_play_the_same_twice() {
    let champions: Vec<String> =
        ["p1=house:champion", "p2=house:champion"].map(String::from).to_vec();
    let board = ["--preset", "fish", "--game-config", r#"{"rows":4,"columns":4}"#];
    all_equal(&board, &[champions.clone(), champions.clone()]);
    all_equal(&["--preset", "yahtzee-class"], &[champions.clone(), champions]);
}
