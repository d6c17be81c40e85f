//! The analysis of Fish: what every placement and every move cost, by the champion's search.
//!
//! The value of a position is the fish that a player will still catch, minus the mean of what the
//! others will catch, if everybody plays on as the search expects. Nothing in Fish is random after
//! the board is laid out, so there are costs but no luck. A cost is exact once the search sees every
//! line to its end, which is so in most of the later half of a game. Before that the error of a
//! cost is how much it changed with the last step of depth.

use crate::model::{Change, GameModel, Move, Played, Refused, Step};
use crate::sample::Sample;
use agon_bots::fish::cost;
use agon_games::fish::{Action, Answer, Fish, Phase};
use agon_games::{Game, Seat, Viewer};

/// The positions that the search examines for one answer: about a millisecond.
const POSITIONS: u64 = 6_000;

/// In analyses of up to this many games every decision is examined.
const GAMES_WHOLE: usize = 500;

/// The model of Fish, for any board and number of players.
#[derive(Clone, Copy, Debug, Default)]
pub struct FishModel;

impl GameModel<Fish> for FishModel {
    fn about(&self) -> &'static str {
        "fish lost compared with the best move that a search finds: the player's own catch minus \
         the mean catch of the others; exact where the error is 0"
    }

    fn has_luck(&self) -> bool {
        false
    }

    fn every(&self, games: usize) -> u32 {
        games.div_ceil(GAMES_WHOLE) as u32
    }

    fn steps(&self, played: &Played<'_, Fish>, sample: Sample) -> Result<Vec<Step>, Refused> {
        let mut game = played.start.clone();
        let mut counts = vec![0; game.seats()];
        let mut steps = Vec::new();
        for (done, number) in played.moves.iter().zip(1..) {
            if let Move::Answered { seat, answer } = done {
                let place = place(&game, *seat, answer, &mut counts[seat.index()]);
                let place = place.filter(|_| sample.contains(number));
                steps.extend(place.and_then(|place| step(&game, number, *seat, answer, place)));
            }
            done.apply(&mut game);
        }
        Ok(steps)
    }
}

/// The place of an answer in the game, after it was counted; `None` for confirmations.
fn place(game: &Fish, seat: Seat, answer: &Answer, count: &mut u32) -> Option<String> {
    if *answer == Answer::Ok {
        return None;
    }
    *count += 1;
    let penguins = game.view(Viewer::Seat(seat)).penguins as u32;
    Some(match game.phase() {
        Phase::Place => format!("placement {count}"),
        _ => format!("move {}", count.saturating_sub(penguins)),
    })
}

/// The step of one answer in its position; `None` if the player had no choice.
fn step(game: &Fish, number: u32, seat: Seat, answer: &Answer, place: String) -> Option<Step> {
    let view = game.view(Viewer::Seat(seat));
    let placing = game.phase() == Phase::Place;
    let quota = if placing { view.penguins } else { 0 };
    let found = cost(&view.state(seat), quota, answer, POSITIONS)?;
    let better = (found.fish > 0.0 && found.better != *answer).then(|| advice(&found.better));
    Some(Step {
        answer: number,
        seat,
        place,
        what: words(answer, ["places at", "moves"]),
        change: Change::Decision { cost: found.fish, better },
        error: found.change,
    })
}

fn advice(answer: &Answer) -> String {
    words(answer, ["place at", "move"])
}

fn words(answer: &Answer, [place, slide]: [&str; 2]) -> String {
    match answer {
        Answer::Ok => "confirms".into(),
        Answer::Place(at) => format!("{place} {at}"),
        Answer::Move(Action { from, to }) => format!("{slide} {from} to {to}"),
    }
}
