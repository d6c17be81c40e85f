//! Short ways to set up and play a game.

use agon_games::yahtzee::{Answer, Config, ScoreBox, Yahtzee};
use agon_games::{Game, Seat, SeatSet, Seed};

/// The vector of the rules.
pub(crate) const VECTOR: [u8; 15] = [2, 3, 6, 4, 6, 2, 6, 5, 1, 4, 3, 2, 6, 1, 4];

pub(crate) const BOTH: [Seat; 2] = [Seat(0), Seat(1)];

/// A game whose first turns have these dice.
pub(crate) fn fixed(config: Config, turns: &[Vec<u8>]) -> Yahtzee {
    let config = Config { fixed_dice: Some(turns.to_vec()), ..config };
    Yahtzee::new(&config, 2, &Seed::from_number(1)).unwrap()
}

pub(crate) fn drawn(config: &Config, seed: u64) -> Yahtzee {
    Yahtzee::new(config, 2, &Seed::from_number(seed)).unwrap()
}

/// A turn's fifteen dice of which the first five are these.
pub(crate) fn first_roll(dice: &[u8]) -> Vec<u8> {
    let mut all = dice.to_vec();
    all.resize(15, 1);
    all
}

pub(crate) fn keep(game: &mut Yahtzee, seat: Seat, keep: [bool; 5]) {
    game.apply(seat, &Answer::keep_places(keep)).unwrap();
}

/// Keeps the first roll and scores it.
pub(crate) fn stand(game: &mut Yahtzee, seat: Seat, at: ScoreBox) {
    keep(game, seat, [true; 5]);
    game.apply(seat, &Answer::score(at)).unwrap();
}

pub(crate) fn answer(json: &str) -> Answer {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
}

/// A seat whose turn it is, picked by `choice`.
pub(crate) fn pick_seat(awaiting: SeatSet, choice: u64) -> Seat {
    let seats: Vec<Seat> = awaiting.collect();
    seats[(choice >> 32) as usize % seats.len()]
}
