//! Which decisions of a game are examined.
//!
//! Playing one decision of Trains out takes milliseconds, and a tournament has a hundred thousand of
//! them. A large analysis examines some decisions of every game, drawn at random, each as carefully
//! as in a small one. A decision that was examined then counts for those that were not, so the mean
//! cost of a player stays right.

use crate::recorded::RecordedGame;
use agon_bots::SplitMix64;

/// A random sample of the decisions of one game. The same game always has the same sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Of this many decisions one is examined.
    pub every: u32,
    seed: u64,
}

impl Sample {
    /// All decisions.
    pub const ALL: Sample = Sample { every: 1, seed: 0 };

    /// One of `every` decisions of a game.
    pub fn of(game: &RecordedGame, every: u32) -> Sample {
        let name = format!("{}/{}/{}", game.tournament, game.match_id, game.result.game);
        let add = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Sample { every: every.max(1), seed: name.bytes().fold(0xcbf2_9ce4_8422_2325, add) }
    }

    /// Returns whether the decision with this number in the game is examined.
    pub fn contains(self, answer: u32) -> bool {
        let mut random = SplitMix64::new(self.seed ^ (u64::from(answer) << 32));
        random.below(self.every.into()) == 0
    }
}
