//! The numbers behind results: analysis of finished games, text records of games, and simulated
//! tournaments.
//!
//! # Luck and skill
//! A [`GameModel`] values the positions of one game. From its values follow the *luck* of every
//! random draw (the value after it minus the expected value before it) and the *cost* of every
//! decision (the value of the best choice minus that of the chosen one). [`Models`] lists the
//! models by game; [`analyse_game`] and [`analyse_match`] apply them to recorded games;
//! [`adjusted`](mod@adjusted) turns them into results without luck, with intervals.
#![forbid(unsafe_code)]

pub mod adjusted;
mod fish;
mod game_report;
mod model;
pub mod record;
mod recorded;
mod sample;
pub mod simulate;
mod trains;
mod yahtzee;

pub use adjusted::{AdjustedStandings, Estimate, PlayerEstimate};
pub use fish::FishModel;
pub use game_report::{GameAnalysis, PlayerAnalysis, analyse_game, analyse_match};
pub use model::{Change, GameModel, Models, Move, Played, Refused, Step};
pub use recorded::{RecordedGame, RecordingError, recorded_games};
pub use sample::Sample;
pub use trains::TrainsModel;
pub use yahtzee::YahtzeeModel;

use agon_games::Registry;
use agon_games::yahtzee::Yahtzee;

/// All games, with a measure of luck where a model is exact. Programs that play or verify matches
/// use this registry: the results of a match hold its luck if its rules ask for it.
pub fn registry() -> Registry {
    Registry::standard().with_luck::<Yahtzee>(yahtzee::luck)
}
