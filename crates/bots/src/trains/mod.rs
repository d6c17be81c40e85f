//! House players of Trains.
//!
//! [`plain`] has the three simple players whose every move the rules define, for tests and
//! demonstrations. [`Greedy`] connects its destinations. All players propose the map that comes
//! with the game. [`Champion`] plays to win:
//!
//! ```text
//!   champion     champion, level-N, cost of answers
//!   └─ valuation     compares the choices of one seat
//!      ├─ beliefs        what an opponent may be, hold and want
//!      │  └─ aims           destinations that explain what an opponent acquired
//!      ├─ tree           the next choices of the seat, compared during rollouts
//!      └─ rollout        one game played to its end by models of the players
//!         ├─ builder         the turns of the champion's own seat
//!         └─ graph           ways and longest paths on the map
//! ```

mod aims;
mod beliefs;
mod builder;
mod champion;
mod graph;
mod greedy;
pub mod plain;
mod rollout;
mod tree;
mod valuation;

pub use champion::{AnswerCost, Champion, cost};
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
