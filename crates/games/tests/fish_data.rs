//! Scripted games and single positions of Fish, kept as data. Games go through the registry, so
//! that what is tested is the JSON others see.

use agon_games::fish::State;
use agon_games::{GameState, Registry, Seat, Seed, Viewer};
use serde_json::{Value, json};

fn data(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("data files are lists")
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("games speak JSON")
}

fn seat(value: &Value) -> Seat {
    Seat(value.as_u64().expect("a seat is a number") as u8)
}

#[test]
fn fish_games_go_as_written() {
    for script in data(include_str!("data/fish/games.json")) {
        let name = &script["name"];
        let seats = script["seats"].as_u64().unwrap() as usize;
        let registry = Registry::standard();
        let kind = registry.kind("fish").expect("Fish is registered");
        let config = script["config"].to_string();
        let mut game = kind.set_up(&config, seats, &Seed::from_number(1)).unwrap();
        for step in script["steps"].as_array().unwrap() {
            take(game.as_mut(), step, &format!("{name} at {step}"));
        }
        assert_eq!(json!(game.outcome()), script["outcome"], "{name}");
    }
}

/// One step of a script: an answer, a removal, or what must hold at this point.
fn take(game: &mut dyn GameState, step: &Value, context: &str) {
    if let Some(answer) = step.get("answer") {
        let from = seat(&step["seat"]);
        if let Some(since) = step.get("since") {
            assert_eq!(parse(game.view(Viewer::Seat(from)).get())["since"], *since, "{context}");
        }
        let refused = game.apply(from, &answer.to_string()).err().map(|refusal| refusal.code);
        assert_eq!(json!(refused), step["refused"], "{context}");
    } else if let Some(removed) = step.get("remove") {
        game.remove(seat(removed));
    } else if let Some(asked) = step.get("asked") {
        let questions: serde_json::Map<String, Value> = game
            .awaiting()
            .map(|seat| (seat.0.to_string(), parse(game.question(seat).unwrap().get())))
            .collect();
        assert_eq!(json!(questions), *asked, "{context}");
    } else {
        let view = parse(game.view(Viewer::Public).get());
        for (key, value) in step["view"].as_object().expect("a known kind of step") {
            assert_eq!(view[key], *value, "{key}: {context}");
        }
    }
}

#[test]
fn fish_positions_have_these_moves() {
    for case in data(include_str!("data/fish/positions.json")) {
        let state: State = serde_json::from_value(case["state"].clone()).unwrap();
        assert_eq!(json!(state.placements()), case["placements"], "{case}");
        assert_eq!(json!(state.actions()), case["actions"], "{case}");
        assert_eq!(json!(state.after_first_step()), case["first_step"], "{case}");
    }
}
