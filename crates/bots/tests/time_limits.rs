//! Champions whose time is up: they answer at once, legally, and the same again.

use agon_bots::{HousePlayer, Houses};
use agon_games::{GameState, Registry, Seed};
use std::time::Duration;

/// Plays a game with players that have this much time for each answer; returns their answers.
fn answers(game: &str, name: &str, limit: Option<Duration>) -> Vec<String> {
    let (registry, houses) = (Registry::standard(), Houses::standard());
    let mut state: Box<dyn GameState> =
        registry.kind(game).unwrap().set_up("{}", 2, &Seed::from_number(7)).unwrap();
    let mut player: Box<dyn HousePlayer> = houses.make(game, name).unwrap();
    if let Some(limit) = limit {
        player.limit_time(limit);
    }
    let mut answers = Vec::new();
    while let Some(seat) = state.awaiting().first().filter(|_| answers.len() < 40) {
        let answer = player.answer(name, &answers.len().to_string(), seat, &*state);
        state.apply(seat, answer.get()).expect("a legal answer");
        answers.push(answer.get().to_owned());
    }
    answers
}

#[test]
fn champions_without_time_give_legal_answers_and_repeat_them() {
    for game in ["yahtzee", "fish", "trains"] {
        let hurried = answers(game, "champion", Some(Duration::ZERO));
        assert_eq!(hurried, answers(game, "champion", Some(Duration::ZERO)), "{game}");
    }
}

#[test]
fn trains_champion_without_time_plays_like_its_planner() {
    let hurried = answers("trains", "champion", Some(Duration::ZERO));
    assert_eq!(hurried, answers("trains", "level-3", None));
}
