//! Sequences of dice, what a player kept of them, and the hand that came out.
//!
//! Nothing is rolled: the dice on the table follow from the turn's sequence and the keepers chosen
//! so far, so the keepers are all that a game has to remember.

use super::boxes::ScoreBox;
use super::tables::{ALIKE, DICE_OF_ROLL, HAND_OF_ROLL, POINTS, ROLLS, SOURCES};
use super::{Places, TURNS};
use crate::{Luck, Seed};

/// Five dice in the order they lie on the table.
pub type Dice = [u8; 5];

/// The fifteen dice of one turn: three bits each, as value minus one, the first die lowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sequence(u64);

impl Sequence {
    /// Dice in a sequence.
    pub(super) const LEN: usize = 15;

    /// The dice that the fifteen lowest digits of `word` spell in base six.
    #[inline]
    fn from_word(word: u64) -> Sequence {
        let part = |digits: u64| u64::from(DICE_OF_ROLL[(digits % ROLLS as u64) as usize]);
        let middle = word / ROLLS as u64;
        let last = middle / ROLLS as u64;
        Sequence(part(word) | part(middle) << 15 | part(last) << 30)
    }

    /// A sequence of given dice; `None` unless they are fifteen of 1 to 6.
    pub(super) fn from_dice(dice: &[u8]) -> Option<Sequence> {
        let good = dice.len() == Sequence::LEN && dice.iter().all(|die| (1..=6).contains(die));
        good.then(|| {
            Sequence(dice.iter().rev().fold(0, |packed, die| packed << 3 | u64::from(die - 1)))
        })
    }

    /// All fifteen.
    pub(super) fn dice(self) -> [u8; Sequence::LEN] {
        std::array::from_fn(|at| self.die(3 * at as u32))
    }

    /// The dice on the table after the choices of `record`.
    pub(super) fn on_table(self, record: Record) -> Dice {
        let sources = record.sources();
        std::array::from_fn(|at| self.die(sources >> (6 * at) & 63))
    }

    /// The hand on the table after the choices of `record`.
    #[inline]
    pub(super) fn hand(self, record: Record) -> Hand {
        let sources = record.sources();
        let mut roll = 0;
        for at in 0..5 {
            roll = roll * 6 + (self.0.wrapping_shr(sources >> (6 * at)) & 7) as usize;
        }
        Hand(HAND_OF_ROLL[roll])
    }

    fn die(self, shift: u32) -> u8 {
        (self.0 >> shift & 7) as u8 + 1
    }
}

/// The sequences of every turn under a label of luck.
#[inline]
pub(super) fn draw(seed: &Seed, label: &str) -> [Sequence; TURNS] {
    let mut luck = Luck::new(seed, label);
    let mut sequences = [Sequence::default(); TURNS];
    for (turn, sequence) in sequences.iter_mut().enumerate() {
        *sequence = Sequence::from_word(luck.below(turn as u32, 6u64.pow(15)));
    }
    sequences
}

/// How far a seat is in a turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
#[repr(u8)]
pub(super) enum Step {
    /// It chooses keepers of the first roll.
    First,
    /// It chooses keepers of the second roll.
    Second,
    /// It chooses a box.
    Score,
    /// It waits for the other seat.
    Done,
}

/// What one seat chose in one turn. From the lowest bit: five of the first keepers, five of the
/// second, four of the box, one of a Yahtzee bonus, two of the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record(u32);

/// One step further.
const STEP: u32 = 1 << 16;

impl Record {
    /// Nothing chosen yet. Until a player says otherwise it keeps all dice.
    pub(super) const NEW: Record = Record(0x3ff);

    #[inline]
    pub(super) fn step(self) -> Step {
        match self.0 / STEP {
            0 => Step::First,
            1 => Step::Second,
            2 => Step::Score,
            _ => Step::Done,
        }
    }

    /// Chooses keepers, in the first or second step. Whoever keeps all goes on to scoring.
    #[inline]
    pub(super) fn keep(&mut self, keep: Places) {
        let first = self.0 < STEP;
        // All bits of keepers are set before they are chosen, so what is not kept is flipped.
        let flipped = u32::from(keep.bits() ^ Places::ALL.bits());
        self.0 ^= if first { flipped } else { flipped << 5 };
        self.0 += STEP;
        if first && keep == Places::ALL {
            self.0 += STEP;
        }
    }

    /// Chooses a box, in the third step.
    #[inline]
    pub(super) fn score(&mut self, at: ScoreBox, bonus: bool) {
        self.0 += STEP | (at as u32) << 10 | u32::from(bonus) << 14;
    }

    /// What was kept in attempt 0 or 1.
    pub(super) fn kept(self, attempt: u32) -> Places {
        Places::from_bits((self.0 >> (5 * attempt)) as u8 & 31)
    }

    /// The same turn up to the keepers of `attempts` attempts.
    pub(super) fn until(self, attempts: u32) -> Record {
        Record(self.0 & 0x3ff | 0x3ff & !((1 << (5 * attempts)) - 1))
    }

    /// The box that was chosen; only if one was.
    pub(super) fn scored(self) -> ScoreBox {
        ScoreBox::ALL[(self.0 >> 10 & 15) as usize]
    }

    pub(super) fn bonus(self) -> bool {
        self.0 >> 14 & 1 != 0
    }

    #[inline]
    fn sources(self) -> u32 {
        SOURCES[(self.0 & 0x3ff) as usize]
    }
}

/// Five dice regardless of their order: one of 252.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hand(u8);

impl Hand {
    pub(super) fn of(dice: Dice) -> Option<Hand> {
        let good = dice.iter().all(|die| (1..=6).contains(die));
        good.then(|| {
            Hand(HAND_OF_ROLL[dice.iter().fold(0, |roll, die| roll * 6 + usize::from(die - 1))])
        })
    }

    /// What the hand is worth in a box if it is no joker.
    #[inline]
    pub(super) fn points(self, at: ScoreBox) -> u8 {
        POINTS[usize::from(self.0)][at.index()]
    }

    /// The value all five dice show, or 0 if they differ.
    #[inline]
    pub(super) fn alike(self) -> u8 {
        POINTS[usize::from(self.0)][ALIKE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_spells_its_dice_from_the_lowest_digit_up() {
        let word = 6u64.pow(14) * 5 + 6u64.pow(5) * 3 + 6 + 4;
        let dice = Sequence::from_word(word).dice();
        assert_eq!(dice, [5, 2, 1, 1, 1, 4, 1, 1, 1, 1, 1, 1, 1, 1, 6]);
        assert_eq!(Sequence::from_dice(&dice), Some(Sequence::from_word(word)));
    }

    #[test]
    fn sequences_follow_from_luck_as_documented() {
        let seed = Seed::from_number(7);
        for label in ["dice", "dice.0", "dice.1"] {
            let mut luck = Luck::new(&seed, label);
            for (turn, sequence) in draw(&seed, label).iter().enumerate() {
                let word = luck.below(turn as u32, 6u64.pow(15));
                for (j, die) in sequence.dice().into_iter().enumerate() {
                    assert_eq!(u64::from(die), 1 + word / 6u64.pow(j as u32) % 6);
                }
            }
        }
    }

    #[test]
    fn re_rolled_dice_are_replaced_in_place_from_left_to_right() {
        let sequence = Sequence::from_dice(&[2, 3, 6, 4, 6, 2, 6, 5, 1, 4, 3, 2, 6, 1, 4]).unwrap();
        let mut record = Record::NEW;
        record.keep(Places::from([true, true, false, true, false]));
        assert_eq!(sequence.on_table(record), [2, 3, 2, 4, 6]);
        record.keep(Places::from([true, true, false, true, false]));
        assert_eq!(sequence.on_table(record), [2, 3, 5, 4, 1]);
        assert_eq!(sequence.on_table(record.until(0)), [2, 3, 6, 4, 6]);
        assert_eq!(sequence.on_table(record.until(1)), [2, 3, 2, 4, 6]);
        assert_eq!(Some(sequence.hand(record)), Hand::of([1, 2, 3, 4, 5]));
    }
}
