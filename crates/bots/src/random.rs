//! The player that plays anything legal, and the repeatable chance house players use.

use crate::house::{Ask, Bot};
use agon_games::Game;

/// Repeatable numbers from a key: a request's id, so that a request asked again after a crash gets
/// the same answer. Not fit for secrets.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Numbers for `key` and the player called `salt`.
    pub fn new(salt: &str, key: &str) -> Dice {
        let mut state = 0xcbf2_9ce4_8422_2325u64;
        for byte in salt.bytes().chain([0]).chain(key.bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Dice(state)
    }

    /// The next 64 bits (splitmix64).
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `n`, near enough to even for playing.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_word()) * n as u128) >> 64) as usize
    }
}

/// Plays any legal answer, each as likely as the other.
#[derive(Clone, Debug, Default)]
pub struct Random;

impl<G: Game> Bot<G> for Random {
    fn answer(&mut self, ask: &Ask<'_, G>) -> G::Answer {
        let mut legal = G::legal_in(ask.question, ask.view);
        let choice = Dice::new(ask.player, ask.key).below(legal.len());
        legal.swap_remove(choice)
    }
}
