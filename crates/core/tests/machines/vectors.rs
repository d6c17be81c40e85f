//! Whole tournaments and games that independent implementations of the rules agree on, played
//! through the tournament, match and referee machines.

use crate::support::plan::{name, of_preset};
use crate::support::script::{except, house};
use crate::support::{Reply, Script, World, vectors};
use agon_core::{Fault, PlayerName, Raw, Secret, TournamentPlan};
use agon_games::Registry;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn vectors_trains_tournaments() {
    vectors::run("trains/xmanager", trains);
}

#[test]
fn vectors_trains_tournaments_with_players_that_hang() {
    vectors::run("trains/xserver", trains);
}

/// Map, players and cards to winners and misbehaving players.
fn trains(input: &[Box<RawValue>]) -> Value {
    let players: Vec<(String, String)> = serde_json::from_str(input[1].get()).expect("players");
    let names = players.iter().map(|(player, _)| name(player)).collect();
    let map = input[0].get();
    let scripts = players.iter().map(|(_, strategy)| script(strategy, map)).collect();
    let config = format!(r#"{{"confirm":true,"deck":{}}}"#, input[2].get());
    let plan = of_preset("trains", &config, names);
    let secret = Secret::from_seed_number(0);
    let played = World::new(plan, Registry::standard(), secret, scripts).expect("a plan").play();
    played.assert_verifies();
    if let Some(reason) = played.tournament.aborted() {
        return json!(format!("error: {reason}"));
    }
    let results = played.results();
    let winners: BTreeSet<&PlayerName> = results.winners.iter().collect();
    let misbehaving: BTreeSet<&PlayerName> =
        results.cheating.iter().chain(&results.failing).collect();
    json!([winners, misbehaving])
}

fn script(strategy: &str, map: &str) -> Script {
    let hangs_in = strategy.strip_prefix("player-bad-").map(str::to_owned);
    let bot = match (&hangs_in, strategy) {
        (Some(_), _) => house("trains", "buy-now"),
        (None, strategy) => house("trains", &strategy.to_lowercase()),
    };
    let map = map.to_owned();
    except(bot, move |call, before| match &hangs_in {
        Some(bad) if bad == call && (call != "play" || before == 3) => Some(Reply::Hang),
        _ if call == "start" => Some(Reply::text(&map)),
        _ => None,
    })
}

#[test]
fn vectors_fish_games() {
    vectors::run("fish/xref", |input| {
        let input: Value = serde_json::from_str(input[0].get()).expect("a game");
        let players = input["players"].as_array().expect("players");
        let names = players.iter().map(|player| name(player[0].as_str().expect("a name")));
        let plan = TournamentPlan {
            config: fish_config(&input),
            ..of_preset("fish", "", names.collect())
        };
        let scripts = players.iter().map(|player| house("fish", &format!("search:{}", player[1])));
        let scripts = scripts.collect();
        let secret = Secret::from_seed_number(0);
        let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
        let played = world.play();
        played.assert_verifies();
        let winners: BTreeSet<&str> = played.winners().into_iter().collect();
        json!(winners)
    });
}

fn fish_config(input: &Value) -> Raw {
    let config = json!({
        "rows": input["row"],
        "columns": input["column"],
        "fish": input["fish"],
        "room_check": false,
        "confirm": true,
    });
    let games = Registry::standard();
    let kind = games.kind("fish").expect("a game");
    Raw(kind.check_config(&config.to_string()).expect("a configuration"))
}

/// Every call of Trains can be the one a player hangs in; whoever hangs misbehaves, once.
#[test]
fn a_player_may_hang_in_any_call() {
    let map = agon_games::json(&agon_games::trains::Config::default().map).to_string();
    for call in ["start", "setup", "pick", "play", "more", "win", "end"] {
        let names = vec![name("bad"), name("one"), name("two")];
        let scripts = [&format!("player-bad-{call}"), "hold-10", "hold-10"];
        let scripts = scripts.iter().map(|strategy| script(strategy, &map)).collect();
        let plan = of_preset("trains", "", names);
        let secret = Secret::from_seed_number(7);
        let world = World::new(plan, Registry::standard(), secret, scripts).expect("a plan");
        let played = world.play();
        played.assert_verifies();
        let results = played.results();
        assert_eq!(results.failing, [name("bad")], "{call}");
        assert!(results.cheating.is_empty() && !results.winners.contains(&name("bad")), "{call}");
        let faults =
            &results.standings.iter().find(|one| one.player == name("bad")).unwrap().faults;
        assert_eq!(faults.len(), 1, "{call}: {faults:?}");
        assert_eq!(faults[0].1.fault, Fault::timeout(2_000), "{call}");
    }
}
