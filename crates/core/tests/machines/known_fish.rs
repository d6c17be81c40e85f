//! The two known tournaments of the Fish rules.

use crate::support::plan::{name, of_preset};
use crate::support::script::houses;
use crate::support::{Played, World};
use agon_core::Secret;
use agon_games::Registry;

fn tournament(players: usize) -> Played {
    let names = (1..=players).map(|number| name(&number.to_string())).collect();
    let config = r#"{"rows":5,"columns":5,"fish":2,"confirm":true}"#;
    let plan = of_preset("fish", config, names);
    let scripts = houses("fish", "greedy", players);
    let secret = Secret::from_seed_number(1);
    let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
    let played = world.play();
    played.assert_verifies();
    played
}

/// The games of every round with their winners: `1 2 3 > 1`.
fn shown(played: &Played) -> Vec<String> {
    let join = |names: &[agon_core::PlayerName]| {
        names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let results = played.results();
    let rounds = results.rounds.iter().map(|round| {
        let games = round
            .matches
            .iter()
            .map(|report| format!("{} > {}", join(&report.players), join(&report.result.winners)));
        games.collect::<Vec<_>>().join(", ")
    });
    rounds.collect()
}

#[test]
fn ten_greedy_players() {
    let played = tournament(10);
    assert_eq!(
        shown(&played),
        ["1 2 3 4 > 1 4, 5 6 7 8 > 5 8, 9 10 > 9", "1 4 5 > 1, 8 9 > 8", "1 8 > 1"]
    );
    assert_eq!(played.winners(), ["1"]);
    assert_eq!((played.asked["place"], played.asked["move"]), (49, 101));
    assert_eq!((played.asked["ready"], played.asked["end"]), (10, 1));
}

#[test]
fn five_greedy_players() {
    let played = tournament(5);
    assert_eq!(shown(&played), ["1 2 3 > 1, 4 5 > 4", "1 4 > 1"]);
    assert_eq!(played.winners(), ["1"]);
    assert_eq!((played.asked["place"], played.asked["move"]), (25, 50));
}
