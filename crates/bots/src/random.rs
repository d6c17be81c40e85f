//! The player that plays a random legal answer, and the repeatable choices of house players.

use crate::SplitMix64;
use crate::house::{Ask, Bot};
use agon_games::Game;

/// Repeatable choices from a key. The key is a request's id, so a request that is repeated after a
/// crash gets the same answer. Not fit for secrets.
#[derive(Clone, Debug)]
pub struct Dice(SplitMix64);

impl Dice {
    /// Choices for `key` and the player called `salt`: the seed is their FNV-1a hash.
    pub fn new(salt: &str, key: &str) -> Dice {
        let mut state = 0xcbf2_9ce4_8422_2325u64;
        for byte in salt.bytes().chain([0]).chain(key.bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Dice(SplitMix64::new(state))
    }

    /// The next 64 bits.
    pub fn next_word(&mut self) -> u64 {
        self.0.next_word()
    }

    /// A number below `n`, close enough to uniform for playing.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next_word()) * n as u128) >> 64) as usize
    }
}

/// Plays a random legal answer, each with the same probability.
#[derive(Clone, Debug, Default)]
pub struct Random;

impl<G: Game> Bot<G> for Random {
    fn answer(&mut self, ask: &Ask<'_, G>) -> G::Answer {
        let mut legal = G::legal_in(ask.question, ask.view);
        let choice = Dice::new(ask.player, ask.key).below(legal.len());
        legal.swap_remove(choice)
    }
}
