//! All multisets of up to five dice, and how they are connected by adding or removing one die.
//!
//! The 462 multisets are numbered by size, so the 252 rolls (five dice) have the last numbers. One
//! die more always means a higher number. Going down the numbers, the value of a multiset follows
//! from those with one die more (the mean of a throw). Going up, it follows from those with one die
//! less (the best choice of keepers).

use super::rule::plain;
use agon_games::yahtzee::ScoreBox;
use std::sync::OnceLock;

/// The number of multisets.
pub(super) const MULTISETS: usize = 462;

/// The number of the first multiset of five.
pub(super) const FIRST_ROLL: usize = 210;

/// The number of multisets of five.
pub(super) const ROLLS: usize = MULTISETS - FIRST_ROLL;

/// The boxes, except Yahtzee, that score the same for every roll that fits them.
const OWN_SCORES: [(ScoreBox, u8); 3] =
    [(ScoreBox::FullHouse, 25), (ScoreBox::SmallStraight, 30), (ScoreBox::LargeStraight, 40)];

/// How the multisets are connected. It is the same for every rule.
pub(super) struct Lattice {
    /// By multiset of fewer than five: the multisets with a 1, 2 … 6 more.
    pub(super) more: [[u16; 6]; FIRST_ROLL],
    /// By multiset: those with a die less, then padding.
    less: [[u16; 5]; MULTISETS],
    /// By multiset: how many entries of `less` count.
    kinds: [u8; MULTISETS],
    /// By roll.
    pub(super) rolls: [RollFacts; ROLLS],
    /// Boxes that score the same for every roll that fits, that score, and those rolls.
    pub(super) patterns: [(ScoreBox, u8, Vec<u16>); 3],
    /// The multisets of five alike.
    pub(super) alike: [usize; 6],
}

/// The facts about five dice that do not depend on a card.
pub(super) struct RollFacts {
    /// How many show 1, 2 … 6.
    pub(super) counts: [u8; 6],
    /// The probability of this roll with five dice.
    pub(super) chance: f64,
    /// The sum of all dice.
    pub(super) sum: u8,
    /// How many of the boxes chance, three and four of a kind score the sum: 1 to 3, in that order.
    pub(super) sum_boxes: u8,
}

impl Lattice {
    /// The only instance.
    pub(super) fn shared() -> &'static Lattice {
        static SHARED: OnceLock<Box<Lattice>> = OnceLock::new();
        SHARED.get_or_init(|| Box::new(Lattice::build()))
    }

    /// The multisets with one die less than multiset `number`.
    #[inline(always)]
    pub(super) fn less(&self, number: usize) -> &[u16] {
        &self.less[number][..usize::from(self.kinds[number]).min(5)]
    }

    /// The number of the multiset of `faces`, of which there are at most five.
    pub(super) fn number(&self, faces: impl Iterator<Item = u8>) -> usize {
        faces.fold(0, |number, face| usize::from(self.more[number][usize::from(face) - 1]))
    }

    fn build() -> Lattice {
        let multisets = multisets();
        let number = |counts: &[u8; 6]| {
            multisets.iter().position(|other| other == counts).expect("a multiset of five at most")
        };
        let pattern = |(at, score)| {
            let earns = |number: &u16| plain(at, &multisets[usize::from(*number)]) > 0;
            (at, score, (FIRST_ROLL as u16..MULTISETS as u16).filter(earns).collect())
        };
        let mut lattice = Lattice {
            more: [[0; 6]; FIRST_ROLL],
            less: [[0; 5]; MULTISETS],
            kinds: [0; MULTISETS],
            rolls: std::array::from_fn(|roll| facts_of(&multisets[FIRST_ROLL + roll])),
            patterns: OWN_SCORES.map(pattern),
            alike: std::array::from_fn(|face| {
                number(&std::array::from_fn(|other| if other == face { 5 } else { 0 }))
            }),
        };
        for (from, counts) in multisets[..FIRST_ROLL].iter().enumerate() {
            for index in 0..6 {
                let mut with = *counts;
                with[index] += 1;
                let to = number(&with);
                lattice.more[from][index] = to as u16;
                let kinds = &mut lattice.kinds[to];
                lattice.less[to][usize::from(*kinds)] = from as u16;
                *kinds += 1;
            }
        }
        lattice
    }
}

/// The counts of all multisets of up to five dice, by size.
fn multisets() -> Vec<[u8; 6]> {
    let mut all = vec![[0; 6]];
    let mut size_at = 0;
    for _ in 0..5 {
        let next_at = all.len();
        for from in size_at..next_at {
            let counts = all[from];
            // Dice are added in ascending order, so that every multiset occurs once.
            let highest = counts.iter().rposition(|count| *count > 0).unwrap_or(0);
            for index in highest..6 {
                let mut with = counts;
                with[index] += 1;
                all.push(with);
            }
        }
        size_at = next_at;
    }
    all
}

fn facts_of(counts: &[u8; 6]) -> RollFacts {
    let factorial = |n: u8| (1..=u32::from(n)).product::<u32>();
    let orders = 120 / counts.iter().map(|count| factorial(*count)).product::<u32>();
    let sums = [ScoreBox::Chance, ScoreBox::ThreeOfAKind, ScoreBox::FourOfAKind];
    RollFacts {
        counts: *counts,
        chance: f64::from(orders) / 7776.0,
        sum: plain(ScoreBox::Chance, counts) as u8,
        sum_boxes: sums.iter().filter(|at| plain(**at, counts) > 0).count() as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_multisets_as_combinatorics_says() {
        let multisets = multisets();
        assert_eq!(multisets.len(), MULTISETS);
        let first_roll = multisets.iter().position(|counts| counts.iter().sum::<u8>() == 5);
        assert_eq!(first_roll, Some(FIRST_ROLL));
    }

    #[test]
    fn a_die_more_is_a_higher_number_and_back() {
        let lattice = Lattice::shared();
        for (from, more) in lattice.more.iter().enumerate() {
            for to in more.map(usize::from) {
                assert!(to > from && lattice.less(to).contains(&(from as u16)));
            }
        }
        let links: usize = (0..MULTISETS).map(|number| lattice.less(number).len()).sum();
        assert_eq!(links, 6 * FIRST_ROLL);
    }

    #[test]
    fn chances_sum_to_one_and_numbers_ignore_order() {
        let lattice = Lattice::shared();
        let sum: f64 = lattice.rolls.iter().map(|facts| facts.chance).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
        let number = lattice.number([6, 1, 6, 2, 1].into_iter());
        assert_eq!(number, lattice.number([1, 1, 2, 6, 6].into_iter()));
        assert_eq!(lattice.rolls[number - FIRST_ROLL].counts, [2, 1, 0, 0, 0, 2]);
    }
}
