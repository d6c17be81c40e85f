//! Sequences of dice, the dice a player keeps of them, and the resulting hand.
//!
//! Nothing is rolled: the dice on the table follow from the turn's sequence and the keepers chosen
//! so far, so a game stores only the keepers. The points of a hand do not even need the dice in
//! order: every value has a weight, and the sum of a hand's weights identifies the hand.

use super::boxes::ScoreBox;
use super::tables::{ALIKE, DIE_OF_WEIGHT, HAND_OF_WEIGHT, POINTS, USED, WEIGHTS, WEIGHTS_OF_FOUR};
use super::{Places, TURNS};
use crate::{Luck, Seed};

/// Five dice in the order they lie on the table.
pub type Dice = [u8; 5];

/// The fifteen dice of one turn, as their weights; the last is of no die.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sequence([u8; 16]);

impl Sequence {
    /// No dice yet.
    pub(super) const NONE: Sequence = Sequence([0; 16]);

    /// Dice in a sequence.
    pub(super) const LEN: usize = 15;

    /// The dice that the fifteen lowest digits of `word` spell in base six.
    ///
    /// They are turned into a fraction of all there are, from which a multiplication takes four
    /// digits at a time, the highest first: cheaper than divisions from the lowest up.
    #[inline(always)]
    fn from_word(word: u64) -> Sequence {
        const ALL: u64 = 6u64.pow(15);
        const SCALE: u128 = (1u128 << 102).div_ceil(ALL as u128);
        let number = u128::from((word % ALL) << 25);
        // In units of 2^-64; too large by 4 of them at most, where a digit more is 2^25.
        let mut fraction = (((number * SCALE) >> 64) as u64 + 1) << 1;
        let mut take = |count: u128| {
            let product = u128::from(fraction) * count;
            fraction = product as u64;
            WEIGHTS_OF_FOUR[(product >> 64) as usize]
        };
        let last = take(6 * 6 * 6);
        let [third, second, first] = [(); 3].map(|()| take(WEIGHTS_OF_FOUR.len() as u128));
        let mut weights = [0; 16];
        for (four, taken) in weights.as_chunks_mut().0.iter_mut().zip([first, second, third, last])
        {
            *four = taken;
        }
        weights[Sequence::LEN] = 0;
        Sequence(weights)
    }

    /// A sequence of given dice; `None` unless they are fifteen of 1 to 6.
    pub(super) fn from_dice(dice: &[u8]) -> Option<Sequence> {
        let good = dice.len() == Sequence::LEN && dice.iter().all(|die| (1..=6).contains(die));
        good.then(|| {
            let weight = |at: usize| dice.get(at).map_or(0, |die| WEIGHTS[usize::from(die - 1)]);
            Sequence(std::array::from_fn(weight))
        })
    }

    /// All fifteen.
    pub(super) fn dice(self) -> [u8; Sequence::LEN] {
        std::array::from_fn(|at| DIE_OF_WEIGHT[usize::from(self.0[at])])
    }

    /// The dice on the table after the choices of `record`.
    pub(super) fn on_table(self, record: Record) -> Dice {
        let mut weights: Dice = std::array::from_fn(|at| self.0[at]);
        let mut next = weights.len();
        for attempt in 0..2 {
            let kept = record.kept(attempt);
            for at in (0..5).filter(|at| !kept.has(*at)) {
                // At most ten dice are rolled again; the mask saves a check.
                weights[at] = self.0[next % 16];
                next += 1;
            }
        }
        weights.map(|weight| DIE_OF_WEIGHT[usize::from(weight)])
    }

    /// The hand on the table after the choices of `record`, which are complete.
    #[inline]
    pub(super) fn hand(&self, record: Record) -> Hand {
        let used = &USED[(record.0 & KEEPERS) as usize];
        let weight: u32 = (0..16).map(|at| u32::from(self.0[at] & used[at])).sum();
        Hand(HAND_OF_WEIGHT[weight as usize % HAND_OF_WEIGHT.len()])
    }
}

/// Draws the sequences of every turn under a label of luck.
#[inline(always)]
pub(super) fn draw(seed: &Seed, label: &str, sequences: &mut [Sequence; TURNS]) {
    let mut luck = Luck::new(seed, label);
    for (turn, sequence) in sequences.iter_mut().enumerate() {
        *sequence = Sequence::from_word(luck.accepted(turn as u32, 6u64.pow(15)));
    }
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

/// The choices of one seat in one turn, as bits.
///
/// It begins as a lone 1 bit. A choice of keepers shifts everything up by five bits and fills them,
/// so the position of the 1 is the number of choices. Above it are four bits for the box, one for a
/// Yahtzee bonus and one that marks the turn as done. The highest bit says whether the game ended
/// before that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Record(u32);

/// The keepers of both choices.
const KEEPERS: u32 = 0x3ff;
/// Records below this lack the first or the second choice of keepers.
const COMPLETE: u32 = 1 << 10;
/// The box brought a Yahtzee bonus.
const BONUS: u32 = 1 << 15;
/// Records from here on have a box.
const SCORED: u32 = 1 << 16;
/// The game ended during this turn.
const OVER: u32 = 1 << 31;

impl Record {
    /// Nothing chosen yet.
    pub(super) const NEW: Record = Record(1);

    #[inline]
    pub(super) fn step(self) -> Step {
        match self.0 {
            0..2 => Step::First,
            2..COMPLETE => Step::Second,
            COMPLETE..SCORED => Step::Score,
            _ => Step::Done,
        }
    }

    /// Chooses keepers, in the first or second step. Keeping all dice leads straight to scoring.
    #[inline]
    pub(super) fn keep(&mut self, keep: Places) {
        const KEPT_ALL_AT_ONCE: u32 = 1 << 5 | Places::ALL.bits() as u32;
        let kept = self.0 << 5 | u32::from(keep.bits());
        self.0 = if kept == KEPT_ALL_AT_ONCE { COMPLETE | KEEPERS } else { kept };
    }

    /// Chooses a box, in the third step.
    #[inline]
    pub(super) fn score(&mut self, at: ScoreBox) {
        self.0 += SCORED | (at as u32) << 11;
    }

    /// The box that is about to be chosen brings a Yahtzee bonus.
    pub(super) fn add_bonus(&mut self) {
        self.0 |= BONUS;
    }

    /// The game ends here.
    pub(super) fn end(&mut self) {
        self.0 |= OVER;
    }

    /// The same turn as if the game had not ended in it.
    pub(super) fn played(self) -> Record {
        Record(self.0 & !OVER)
    }

    /// The dice kept in attempt 0 or 1; all of them until the player chooses.
    pub(super) fn kept(self, attempt: u32) -> Places {
        let keepers = match self.step() {
            Step::First => KEEPERS,
            Step::Second => self.0 << 5 | u32::from(Places::ALL.bits()),
            Step::Score | Step::Done => self.0,
        };
        Places::from_bits((keepers >> (5 - 5 * attempt)) as u8 & 31)
    }

    /// How many choices of keepers a viewer of the turn sees.
    pub(super) fn attempts(self) -> u32 {
        match self.step() {
            Step::First => 0,
            Step::Second => 1,
            // Keeping all of the first roll leaves no second choice.
            Step::Score | Step::Done => 1 + u32::from(self.kept(0) != Places::ALL),
        }
    }

    /// The same turn up to the keepers of `attempts` attempts.
    pub(super) fn until(self, attempts: u32) -> Record {
        (0..attempts).fold(Record::NEW, |record, attempt| {
            Record(record.0 << 5 | u32::from(self.kept(attempt).bits()))
        })
    }

    /// The box that was chosen; only if one was.
    pub(super) fn scored(self) -> ScoreBox {
        ScoreBox::ALL[(self.0 >> 11 & 15) as usize]
    }

    pub(super) fn bonus(self) -> bool {
        self.0 & BONUS != 0
    }
}

/// Five dice regardless of their order: one of 252.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hand(u8);

impl Hand {
    pub(super) fn of(dice: Dice) -> Option<Hand> {
        let good = dice.iter().all(|die| (1..=6).contains(die));
        let weight = |die: &u8| usize::from(WEIGHTS[usize::from(die - 1)]);
        good.then(|| Hand(HAND_OF_WEIGHT[dice.iter().map(weight).sum::<usize>()]))
    }

    /// The points of the hand in a box if it is no joker.
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
    fn word_spells_its_dice_from_the_lowest_digit() {
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
            let mut sequences = [Sequence::NONE; TURNS];
            draw(&seed, label, &mut sequences);
            for (turn, sequence) in sequences.iter().enumerate() {
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

    #[test]
    fn weighing_finds_the_hand_on_the_table_after_any_choices() {
        let mut sequences = [Sequence::NONE; TURNS];
        draw(&Seed::from_number(8), "dice", &mut sequences);
        for (turn, sequence) in sequences.into_iter().enumerate() {
            for choices in (turn as u32 % 7..1024).step_by(7) {
                let record = Record(COMPLETE | choices);
                let hand = Hand::of(sequence.on_table(record));
                assert_eq!(Some(sequence.hand(record)), hand, "{choices:b}");
            }
        }
    }

    #[test]
    fn weighing_takes_the_digits_of_any_number() {
        let all = 6u64.pow(15);
        let ends = (0..16).flat_map(|digits| [6u64.pow(digits) - 1, all - 6u64.pow(digits)]);
        let spread = (0..2000).map(|step| step * (u64::MAX / 2000) + step);
        for word in ends.filter(|word| *word < all).chain(spread) {
            let dice: [u8; 15] =
                std::array::from_fn(|at| (word / 6u64.pow(at as u32) % 6) as u8 + 1);
            assert_eq!(Sequence::from_word(word).dice(), dice, "{word}");
        }
    }
}
