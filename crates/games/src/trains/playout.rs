//! Random play without listing the legal answers.
//!
//! The connections a player can pay for are one bit set. For each colour the map has the set of
//! connections that a number of cards pays for, computed once. Their union without the held
//! connections is counted, and the chosen bit is found. A turn costs a few instructions per 64
//! connections, and allocates only the three destinations given back at the start.

use super::state::{Stage, Trains};
use super::talk::{Answer, OFFER_LEN};
use crate::Seat;

/// The ways to keep two of five.
const PICKS: u64 = 10;

impl Trains {
    /// A legal answer picked evenly by 64 random bits.
    #[inline]
    pub(super) fn any_answer(&self, seat: Seat, choice: u64) -> Answer {
        match self.stage {
            Stage::Setup | Stage::More | Stage::Over => Answer::Ok,
            Stage::Pick => self.any_pick(choice),
            Stage::Play => self.any_turn(seat, choice),
        }
    }

    fn any_pick(&self, choice: u64) -> Answer {
        let mut pick = below(choice, PICKS) as usize;
        // Pick number 0 keeps the first two; the pairs follow in order.
        let mut first = 0;
        while pick >= OFFER_LEN - 1 - first {
            pick -= OFFER_LEN - 1 - first;
            first += 1;
        }
        let second = first + 1 + pick;
        let back = (0..OFFER_LEN).filter(|at| *at != first && *at != second);
        Answer::Return(back.map(|at| self.destination(self.offer[at])).collect())
    }

    #[inline]
    fn any_turn(&self, seat: Seat, choice: u64) -> Answer {
        let reach = self.reach(seat);
        let words = self.free.len();
        // Most maps have few words, whose sets can be kept instead of computed twice.
        let mut made = [0; 4];
        let mut count = 0;
        for word in 0..words {
            let payable = self.payable(&reach, word);
            count += payable.count_ones();
            if let Some(made) = made.get_mut(word) {
                *made = payable;
            }
        }
        let mut pick = below(choice, u64::from(count) + 1) as u32;
        for word in 0..words {
            let payable = made.get(word).copied().unwrap_or_else(|| self.payable(&reach, word));
            let here = payable.count_ones();
            if pick < here {
                return self.nth(word, payable, pick);
            }
            pick -= here;
        }
        Answer::MoreCards
    }

    /// The connection of the `pick`-th bit of a word that has more bits than that.
    #[inline]
    fn nth(&self, word: usize, mut payable: u64, pick: u32) -> Answer {
        for _ in 0..pick {
            payable &= payable - 1;
        }
        let at = word * 64 + payable.trailing_zeros() as usize;
        Answer::Acquire(self.map.connections()[at])
    }
}

/// A number below `n`, as even as 64 bits make it.
#[inline]
fn below(choice: u64, n: u64) -> u64 {
    ((u128::from(choice) * u128::from(n)) >> 64) as u64
}
