//! House players of Trains.
//!
//! [`plain`] has the three simple players whose every move the rules define, for tests and
//! demonstrations. [`Greedy`] plays to win. All of them propose the map that comes with the game.

mod greedy;
pub mod plain;

pub use greedy::Greedy;
pub use plain::{BuyNow, Cheat, HoldTen};

use crate::house::{Ask, Bot};
use crate::random::Random;
use agon_games::trains::{Answer, Config, Trains};
use agon_games::{Json, json};

/// Plays a random legal answer, each with the same probability, and proposes a map.
#[derive(Clone, Debug, Default)]
pub struct Anything(Random);

impl Bot<Trains> for Anything {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        self.0.answer(ask)
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }
}

/// The map that comes with the game.
fn default_map() -> Option<Json> {
    Some(json(&Config::default().map))
}
