//! The analysis of Trains: what every choice cost, by rollouts of the champion.
//!
//! The value of a choice is the player's lead at the end, their own points minus those of the best
//! other player, in the mean over games that models of the players finish. The model knows what the
//! player knew, and nothing hidden. It is not exact: every cost has its standard error, a better
//! choice is named only where the cost is more than two of them, and the models of the others are
//! guesses. Luck is not measured.

use crate::model::{Change, GameModel, Move, Played, Refused, Step};
use crate::sample::Sample;
use agon_bots::trains::cost;
use agon_games::trains::{Answer, Question, Trains};
use agon_games::{Game, Seat, Viewer};

/// The rollouts for one answer: a few milliseconds.
const ROLLOUTS: u32 = 200;

/// A better choice is named if the cost is more than this many standard errors.
const ERRORS_MIN: f64 = 2.0;

/// In analyses of up to this many games every decision is examined: 150 of them in a game of six.
const GAMES_WHOLE: usize = 30;

/// The model of Trains, for any map and number of players.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrainsModel;

impl GameModel<Trains> for TrainsModel {
    fn about(&self) -> &'static str {
        "points of lead over the best other player that were lost, estimated by 200 rollouts with \
         models of the players; the error is the standard error"
    }

    fn has_luck(&self) -> bool {
        false
    }

    fn every(&self, games: usize) -> u32 {
        games.div_ceil(GAMES_WHOLE) as u32
    }

    fn steps(&self, played: &Played<'_, Trains>, sample: Sample) -> Result<Vec<Step>, Refused> {
        let mut game = played.start.clone();
        let mut turns = vec![0; game.seats()];
        let mut steps = Vec::new();
        for (done, number) in played.moves.iter().zip(1..) {
            if let Move::Answered { seat, answer } = done {
                let place = place(&game, *seat, &mut turns[seat.index()]);
                let place = place.filter(|_| sample.contains(number));
                steps.extend(place.and_then(|place| step(&game, number, *seat, answer, place)));
            }
            done.apply(&mut game);
        }
        Ok(steps)
    }
}

/// The place of an answer in the game, after it was counted; `None` for confirmations.
fn place(game: &Trains, seat: Seat, turns: &mut u32) -> Option<String> {
    match game.question(seat)? {
        Question::Setup { .. } | Question::More { .. } => None,
        Question::Pick { .. } => Some("destinations".into()),
        Question::Play {} => {
            *turns += 1;
            Some(format!("turn {turns}"))
        }
    }
}

/// The step of one answer in its position; `None` if the player had no choice.
fn step(game: &Trains, number: u32, seat: Seat, answer: &Answer, place: String) -> Option<Step> {
    let question = game.question(seat)?;
    let view = game.view(Viewer::Seat(seat));
    let found = cost(&view, seat, &question, answer, ROLLOUTS)?;
    let is_sure = found.points > ERRORS_MIN * found.error;
    let better = is_sure.then(|| Trains::phrase(&found.better, &question, &view));
    Some(Step {
        answer: number,
        seat,
        place,
        what: Trains::phrase(answer, &question, &view),
        change: Change::Decision { cost: found.points, better },
        error: found.error,
    })
}
