//! The search of Fish against plain minimax: pruning must not change what it finds.

use agon_bots::fish::{best_action, best_action_within};
use agon_games::fish::{Action, Config, Fish, Phase, State};
use agon_games::{Game, Seed};
use proptest::prelude::*;

/// The value of `state` for the player that is `wait` turns from moving and has `depth` moves left.
fn value(state: &State, wait: usize, depth: u32) -> u32 {
    if depth == 0 {
        return state.players[wait].score;
    }
    let count = state.players.len();
    let next_wait = (wait + count - 1) % count;
    let next_depth = if wait == 0 { depth - 1 } else { depth };
    // After the last own move the rest do not matter, so the count goes down before they move.
    let values: Vec<u32> = state
        .actions()
        .into_iter()
        .map(|action| value(&state.after(action).unwrap(), next_wait, next_depth))
        .collect();
    if !values.is_empty() {
        let best = if wait == 0 { values.iter().max() } else { values.iter().min() };
        return *best.unwrap();
    }
    let mut passed = state.clone();
    for skipped in 0..count {
        passed.players.rotate_left(1);
        if !passed.actions().is_empty() {
            return value(&passed, (wait + 2 * count - 1 - skipped) % count, depth);
        }
    }
    state.players[wait].score
}

fn plain(state: &State, depth: u32) -> Option<Action> {
    let count = state.players.len();
    let mut best: Option<(u32, Action)> = None;
    for action in state.actions() {
        let value = value(&state.after(action).unwrap(), count - 1, depth - 1);
        if best.is_none_or(|(most, _)| value > most) {
            best = Some((value, action));
        }
    }
    best.map(|(_, action)| action)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn fish_search_finds_what_plain_minimax_finds(
        rows in 2..=5u32, columns in 2..=3u32, fish in prop::option::of(1..=5u8),
        difficulty in 0..8u32, seats in 2..=4usize, number: u64, choices: [u64; 16],
        depth in 1..=3u32,
    ) {
        let config = Config {
            rows, columns, fish, difficulty, room_check: false, ..Config::default()
        };
        let mut game = Fish::new(&config, seats, &Seed::from_number(number)).unwrap();
        for choice in choices {
            let Some(seat) = game.awaiting().first() else { break };
            if game.phase() == Phase::Move {
                // Any order of players may be to move, and plain minimax takes its time.
                let state = State::from(&game);
                let moves: usize = state.actions().len();
                let depth = if moves > 12 { depth.min(2) } else { depth };
                prop_assert_eq!(best_action(&state, depth), plain(&state, depth));
                prop_assert_eq!(best_action_within(&state, depth, u64::MAX), plain(&state, depth));
                prop_assert!(best_action_within(&state, 6, 50).is_some());
            }
            game.apply(seat, &game.playout_answer(seat, choice)).unwrap();
        }
    }
}

#[test]
fn fish_search_copes_with_odd_positions() {
    let parse = |text: &str| serde_json::from_str::<State>(text).unwrap();
    let nobody = parse(r#"{"players": [], "board": [[1]]}"#);
    assert_eq!(best_action(&nobody, 3), None);
    let none =
        parse(r#"{"players": [{"color": "red", "score": 0, "places": []}], "board": [[1]]}"#);
    assert_eq!(best_action_within(&none, 3, 10), None);
    let alone = parse(
        r#"{"players": [{"color": "red", "score": 9, "places": [[0, 0]]}],
            "board": [[1, 1], [1, 1], [1, 1]]}"#,
    );
    for depth in [0, 1, 2, 5, 400, u32::MAX] {
        assert_eq!(best_action(&alone, depth), plain(&alone, depth.clamp(1, 6)), "{depth}");
    }
    let off = parse(
        r#"{"players": [{"color": "red", "score": 0, "places": [[9, 9], [0, 0]]}],
            "board": [[1, 1], [1, 1]]}"#,
    );
    assert!(best_action(&off, 2).is_some());
}
