//! Fish against input/output pairs that many independent teams wrote: reachability, single turns,
//! queries, a depth-limited strategy and whole games.

#[path = "support/vectors.rs"]
mod vectors;

use agon_bots::fish::best_action;
use agon_games::fish::{Action, Answer, Board, Config, Fish, Position, Question, State};
use agon_games::{Game, Seat, Seed, Viewer};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Runs every pair of a folder and names all that differ, not just the first.
fn run<I: DeserializeOwned>(
    folder: &str,
    answer: impl Fn(I) -> Value,
    normal: impl Fn(Value) -> Value,
) {
    let Some(pairs) = vectors::pairs(&format!("fish/{folder}")) else { return };
    let count = pairs.len();
    let mut wrong = Vec::new();
    for (name, input, expected) in pairs {
        let input = I::deserialize(input).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (given, expected) = (answer(input), normal(expected));
        if given != expected {
            wrong.push(format!("{name}\n  expected {expected}\n  given    {given}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A value as JSON, or `false` if there is none.
fn or_false<T: serde::Serialize>(value: Option<T>) -> Value {
    value.map_or(json!(false), |value| json!(value))
}

#[test]
fn fish_vectors_xboard() {
    #[derive(Deserialize)]
    struct Input {
        position: Position,
        board: Board,
    }
    run("xboard", |input: Input| json!(input.board.reachable(input.position)), |out| out);
}

#[test]
fn fish_vectors_xstate() {
    // Boards are compared after padding, so expected states are read and written once.
    let normal = |out: Value| match State::deserialize(&out) {
        Ok(state) => json!(state),
        Err(_) => out,
    };
    run("xstate", |state: State| or_false(state.after_first_step()), normal);
}

#[test]
fn fish_vectors_xtree() {
    #[derive(Deserialize)]
    struct Input {
        state: State,
        from: Position,
        to: Position,
    }
    let answer = |input: Input| {
        let action = Action { from: input.from, to: input.to };
        let next = input.state.after(action).expect("the first move is legal");
        or_false(next.approach(input.to))
    };
    run("xtree", answer, |out| out);
}

#[test]
fn fish_vectors_xstrategy() {
    let answer = |(depth, state): (u32, State)| or_false(best_action(&state, depth));
    run("xstrategy", answer, |out| out);
}

#[test]
fn fish_vectors_xref() {
    #[derive(Deserialize)]
    struct Input {
        row: u32,
        column: u32,
        players: Vec<(String, u32)>,
        fish: u8,
    }
    let answer = |input: Input| {
        let config = Config {
            rows: input.row,
            columns: input.column,
            fish: Some(input.fish),
            room_check: false,
            ..Config::default()
        };
        let depths: Vec<u32> = input.players.iter().map(|(_, depth)| *depth).collect();
        let mut names: Vec<&str> =
            winners(&config, &depths).map(|seat| input.players[seat.index()].0.as_str()).collect();
        names.sort_unstable();
        json!(names)
    };
    run("xref", answer, |out| out);
}

/// Plays a game of players that place on the first free tile and search so deep each.
fn winners(config: &Config, depths: &[u32]) -> impl Iterator<Item = Seat> {
    let mut game = Fish::new(config, depths.len(), &Seed::from_number(0)).expect("a game");
    while let Some(seat) = game.awaiting().first() {
        let state = game.view(Viewer::Seat(seat)).state(seat);
        let answer = match game.question(seat) {
            Some(Question::Place) => Answer::Place(state.placements()[0]),
            _ => Answer::Move(best_action(&state, depths[seat.index()]).expect("it can move")),
        };
        game.apply(seat, &answer).expect("a legal answer");
    }
    game.outcome().expect("the game is over").winners()
}
