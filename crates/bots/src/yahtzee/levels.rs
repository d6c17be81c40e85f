//! Players of five strengths, for people who want an opponent of their own strength.

use super::bots::{Greedy, Optimal};
use super::champion::Champion;
use crate::house::{Ask, Bot};
use crate::{Dice, Random};
use agon_games::yahtzee::{Answer, Yahtzee};

/// The player of a level from 1 to 5; higher levels are the champion too.
pub fn level(level: u8) -> Box<dyn Bot<Yahtzee>> {
    match level {
        0 | 1 => Box::new(Mixed { share: 30, often: Greedy, seldom: Random }),
        2 => Box::new(Greedy),
        3 => Box::new(Mixed { share: 40, often: Optimal, seldom: Greedy }),
        4 => Box::new(Optimal),
        _ => Box::new(Champion::default()),
    }
}

/// Plays some answers like one player and the others like another one.
struct Mixed<A, B> {
    /// Answers of the second player, in a hundred.
    share: usize,
    often: A,
    seldom: B,
}

impl<A: Bot<Yahtzee>, B: Bot<Yahtzee>> Bot<Yahtzee> for Mixed<A, B> {
    fn answer(&mut self, ask: &Ask<'_, Yahtzee>) -> Answer {
        // The same request gets the same answer.
        match Dice::new(ask.player, ask.key).below(100) < self.share {
            true => self.seldom.answer(ask),
            false => self.often.answer(ask),
        }
    }
}
