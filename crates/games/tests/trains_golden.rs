//! Whole games of Trains as data: the same seed and answers give the same cards, offers and
//! points, today and in every later version. Logs of old games must stay verifiable, so a
//! difference here is a change of the rules and needs a better reason than a refactoring.
//!
//! `AGON_BLESS=1 cargo test -p agon-games --test trains_golden` writes the file anew.

use agon_games::trains::{Answer, Config, Map, Trains};
use agon_games::{Game, Outcome, Seat, Seed};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One game: how it was set up, what was answered, and what luck and points came of it.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    seats: usize,
    seed: u64,
    confirm: bool,
    steps: Vec<Step>,
    outcome: Outcome,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Step {
    seat: Seat,
    /// Absent where the seat was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
    /// The result of luck before the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drawn: Option<Value>,
}

fn begin(seats: usize, seed: u64, confirm: bool) -> Trains {
    let map = Map::parse(include_str!("data/trains/large_map.json")).expect("a map");
    let config = Config { confirm, ..Config::default() }.with_map(map);
    Trains::new(&config, seats, &Seed::from_number(seed)).expect("a game")
}

/// A game of answers picked by a small generator, with a removal now and then.
fn record(seats: usize, seed: u64, confirm: bool) -> Record {
    let mut game = begin(seats, seed, confirm);
    let mut steps = Vec::new();
    let mut choice = seed;
    while let Some(seat) = game.awaiting().first() {
        choice =
            choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = game.drawn_value();
        let legal = game.legal(seat);
        let answer = if choice >> 58 == 0 {
            game.remove(seat);
            None
        } else {
            let answer = legal[(choice >> 33) as usize % legal.len()].clone();
            game.apply(seat, &answer).expect("legal");
            Some(answer)
        };
        steps.push(Step { seat, answer, drawn });
    }
    Record { seats, seed, confirm, steps, outcome: game.outcome().expect("over") }
}

#[test]
fn recorded_games_come_out_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/trains/games.jsonl");
    if std::env::var_os("AGON_BLESS").is_some() {
        let games = [record(2, 1, false), record(5, 2, true), record(8, 3, false)];
        let lines = games.map(|game| serde_json::to_string(&game).expect("JSON") + "\n");
        std::fs::write(path, lines.concat()).expect("writable");
    }
    let text = std::fs::read_to_string(path).expect("readable");
    assert_eq!(text.lines().count(), 3);
    for line in text.lines() {
        let record: Record = serde_json::from_str(line).expect("a record");
        let mut game = begin(record.seats, record.seed, record.confirm);
        for (at, step) in record.steps.iter().enumerate() {
            assert_eq!(game.drawn_value(), step.drawn, "seed {}, step {at}", record.seed);
            match &step.answer {
                Some(answer) => game.apply(step.seat, answer).expect("legal then, legal now"),
                None => game.remove(step.seat),
            }
        }
        assert_eq!(game.outcome(), Some(record.outcome), "seed {}", record.seed);
    }
}
