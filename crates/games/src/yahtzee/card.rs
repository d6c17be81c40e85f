//! One player's card: which boxes are empty, jokers, bonuses, totals.

use super::TURNS;
use super::boxes::{Boxes, ScoreBox};
use super::config::Rule;
use super::dice::Hand;
use super::tables::MEMBERS;
use super::view::CardView;

/// The upper section's points that earn the upper bonus.
pub(super) const UPPER_GOAL: u16 = 63;
/// What the upper bonus is worth.
const UPPER_BONUS: u16 = 35;
/// What five alike earn beyond the first ones.
pub(super) const YAHTZEE_BONUS: u16 = 100;

/// What the Yahtzee box holds after five alike.
const YAHTZEE: u8 = 50;
/// Boxes aces to sixes, as bits.
const UPPER: u16 = 0x3f;
/// Boxes three of a kind to chance, as bits.
const LOWER: u16 = 0x1fc0;

/// A set of boxes; bit 0 is aces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BoxSet(u16);

impl BoxSet {
    #[inline]
    pub(super) fn has(self, at: ScoreBox) -> bool {
        self.0 >> (at as u16) & 1 != 0
    }

    /// How many boxes are in the set.
    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Box number `at` of the set, from 0 and the top of the card; any box if there are not that
    /// many.
    #[inline]
    pub(super) fn nth(self, at: usize) -> ScoreBox {
        let (low, high) = (MEMBERS[usize::from(self.0 & 127)], MEMBERS[usize::from(self.0 >> 7)]);
        // The members of the low seven bits, then those of the high ones, four bits each.
        let count = low >> 28;
        let members = u64::from(low & 0xfff_ffff);
        let members = members | (u64::from(high & 0xfff_ffff) + 0x777_7777).wrapping_shl(4 * count);
        const BY_NUMBER: [ScoreBox; 16] = {
            let mut all = [ScoreBox::Chance; 16];
            let mut number = 0;
            while number < TURNS {
                all[number] = ScoreBox::ALL[number];
                number += 1;
            }
            all
        };
        BY_NUMBER[(members >> (4 * (at & 15)) & 15) as usize]
    }
}

/// A card. Empty boxes hold 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Card {
    points: [u8; 16],
    empty: BoxSet,
    bonuses: u8,
}

impl Card {
    pub(super) const EMPTY: Card =
        Card { points: [0; 16], empty: BoxSet(UPPER | LOWER), bonuses: 0 };

    /// A card with these boxes and no bonuses.
    pub(super) fn from_boxes(boxes: &Boxes) -> Card {
        let mut card = Card::EMPTY;
        for at in ScoreBox::ALL {
            if let Some(points) = boxes.of(at) {
                card.points[at.index()] = points;
                card.empty.0 &= !(1 << at as u16);
            }
        }
        card
    }

    #[inline]
    pub(super) fn empty(&self) -> BoxSet {
        self.empty
    }

    /// The empty boxes that `hand` may go into.
    #[inline]
    pub(super) fn open(&self, hand: Hand, rule: Rule) -> BoxSet {
        if rule == Rule::ForcedJoker && hand.alike() != 0 {
            return self.open_to_forced_joker(hand.alike());
        }
        self.empty
    }

    #[cold]
    fn open_to_forced_joker(&self, value: u8) -> BoxSet {
        let own = 1 << (value - 1);
        let empty = self.empty.0;
        let forced = if empty >> ScoreBox::Yahtzee as u16 & 1 != 0 {
            empty
        } else if empty & own != 0 {
            own
        } else if empty & LOWER != 0 {
            empty & LOWER
        } else {
            empty
        };
        BoxSet(forced)
    }

    /// What `hand` gets in the empty box `at`: points, and whether there is a Yahtzee bonus.
    #[inline]
    pub(super) fn worth(&self, hand: Hand, at: ScoreBox, rule: Rule) -> (u8, bool) {
        if hand.alike() != 0 { self.worth_alike(hand, at, rule) } else { (hand.points(at), false) }
    }

    #[cold]
    fn worth_alike(&self, hand: Hand, at: ScoreBox, rule: Rule) -> (u8, bool) {
        let bonus = self.points[ScoreBox::Yahtzee.index()] == YAHTZEE;
        let counts = bonus || rule != Rule::Tournament && !self.empty.has(ScoreBox::Yahtzee);
        let joker = counts && !self.empty.has(ScoreBox::ALL[usize::from(hand.alike() - 1)]);
        let points = match at {
            ScoreBox::FullHouse if joker => 25,
            ScoreBox::SmallStraight if joker => 30,
            ScoreBox::LargeStraight if joker => 40,
            _ => hand.points(at),
        };
        (points, bonus)
    }

    /// Fills the empty box `at`; tells whether there is a Yahtzee bonus.
    #[inline]
    pub(super) fn fill(&mut self, hand: Hand, at: ScoreBox, rule: Rule) -> bool {
        let (points, bonus) = self.worth(hand, at, rule);
        self.points[at.index()] = points;
        self.empty.0 &= !(1 << at as u16);
        self.bonuses += u8::from(bonus);
        bonus
    }

    /// The same card before box `at` was filled.
    pub(super) fn without(mut self, at: ScoreBox, bonus: bool) -> Card {
        self.points[at.index()] = 0;
        self.empty.0 |= 1 << at as u16;
        self.bonuses -= u8::from(bonus);
        self
    }

    /// The points in box `at`, 0 if it is empty.
    pub(super) fn points(&self, at: ScoreBox) -> u8 {
        self.points[at.index()]
    }

    /// The points of the upper boxes, without any bonus.
    #[inline]
    fn upper(&self) -> u16 {
        self.points[..6].iter().map(|points| u16::from(*points)).sum()
    }

    #[inline]
    fn upper_bonus(&self) -> u16 {
        if self.upper() >= UPPER_GOAL { UPPER_BONUS } else { 0 }
    }

    /// The grand total.
    #[inline]
    pub(super) fn total(&self) -> u16 {
        let boxes: u16 = self.points.iter().map(|points| u16::from(*points)).sum();
        boxes + self.upper_bonus() + YAHTZEE_BONUS * u16::from(self.bonuses)
    }

    pub(super) fn view(&self) -> CardView {
        CardView {
            boxes: Boxes(ScoreBox::ALL.map(|at| (!self.empty.has(at)).then(|| self.points(at)))),
            upper: self.upper(),
            upper_bonus: self.upper_bonus(),
            yahtzee_bonuses: self.bonuses,
            total: self.total(),
        }
    }
}
