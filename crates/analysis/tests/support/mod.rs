//! Games between house players, recorded as a log would record them.

use agon_analysis::{Move, RecordedGame};
use agon_bots::{Ask, Bot};
use agon_core::{GameEnd, GameResult, PlayerName, Raw};
use agon_games::yahtzee::{Config, Yahtzee};
use agon_games::{Game, Registry, Seed, Viewer, json};

/// Plays one game of Yahtzee; each bot has the seat of its index.
pub(crate) fn play(config: &Config, seed: u64, bots: [&mut dyn Bot<Yahtzee>; 2]) -> RecordedGame {
    let seed_bytes = Seed::from_number(seed);
    let mut game = Yahtzee::new(config, 2, &seed_bytes).unwrap();
    let text = json(config).to_string();
    let kind = Registry::standard().kind("yahtzee").unwrap().clone();
    let start = kind.set_up(&text, 2, &seed_bytes).unwrap();
    let mut moves = Vec::new();
    while let Some(seat) = game.awaiting().next() {
        let (question, view) = (game.question(seat).unwrap(), game.view(Viewer::Seat(seat)));
        let key = format!("{seed}.{}", moves.len());
        let ask = Ask { player: "bot", key: &key, seat, question: &question, view: &view };
        let answer = bots[seat.index()].answer(&ask);
        game.apply(seat, &answer).unwrap();
        moves.push(Move::Answered { seat, answer: json(&answer).to_string() });
    }
    let outcome = game.outcome().unwrap();
    let names = ["ann", "bob"].map(|name| PlayerName::new(name).unwrap());
    let result = GameResult {
        game: 1,
        winners: outcome.winners().map(|seat| names[seat.index()].clone()).collect(),
        seats: names.to_vec(),
        end: GameEnd::Played,
        scores: outcome.scores,
        ranks: outcome.ranks,
        luck: Vec::new(),
        voided: None,
    };
    RecordedGame {
        tournament: "cup".into(),
        match_id: "r1m1".into(),
        kind: "yahtzee".into(),
        config: Raw::from(json(config)),
        start,
        moves,
        duplicate_of: None,
        result,
    }
}
