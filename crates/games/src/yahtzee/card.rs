//! One player's card: which boxes are empty, jokers, bonuses, totals.

use super::TURNS;
use super::boxes::{Boxes, ScoreBox};
use super::config::Rule;
use super::dice::Hand;
use super::view::CardView;

/// The upper section's points that earn the upper bonus.
pub(super) const UPPER_GOAL: u16 = 63;
/// The points of the upper bonus.
const UPPER_BONUS: u16 = 35;
/// The points of every further five alike.
pub(super) const YAHTZEE_BONUS: u16 = 100;

/// The points of the Yahtzee box after five alike.
const YAHTZEE: u8 = 50;
/// Boxes three of a kind to chance, as bits.
const LOWER: u16 = 0x1fc0;

/// A set of boxes; bit 0 is aces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct BoxSet(u16);

impl BoxSet {
    pub(super) fn has(self, at: ScoreBox) -> bool {
        self.0 >> (at as u16) & 1 != 0
    }

    /// How many boxes are in the set.
    pub(super) fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Box number `n` of the set, from 0 and the top of the card; chance if the set has fewer.
    pub(super) fn nth(self, n: usize) -> ScoreBox {
        let mut boxes = ScoreBox::ALL.into_iter().filter(|at| self.has(*at));
        boxes.nth(n).unwrap_or(ScoreBox::Chance)
    }
}

/// The empty boxes of a card, so that any one of them is found without a search. The last of them
/// takes the place of one that is filled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Empty {
    /// The empty boxes in some order; entries after those mean nothing.
    list: [ScoreBox; 16],
    /// By box: its place in the list, or [`FILLED`].
    places: [u8; 16],
}

/// In place of a place: the box is filled.
const FILLED: u8 = u8::MAX;

impl Empty {
    const ALL: Empty = {
        let mut all = Empty { list: [ScoreBox::Chance; 16], places: [FILLED; 16] };
        let mut at = 0;
        while at < TURNS {
            all.list[at] = ScoreBox::ALL[at];
            all.places[at] = at as u8;
            at += 1;
        }
        all
    };

    #[inline]
    fn has(&self, at: ScoreBox) -> bool {
        self.places[at.index() % 16] != FILLED
    }

    /// Takes out a box that is one of `count`.
    #[inline]
    fn take(&mut self, at: ScoreBox, count: usize) {
        let place = self.places[at.index() % 16];
        let last = self.list[count.wrapping_sub(1) % 16];
        self.list[usize::from(place % 16)] = last;
        self.places[last.index() % 16] = place;
        self.places[at.index() % 16] = FILLED;
    }

    fn set(&self) -> BoxSet {
        let bit = |at: ScoreBox| u16::from(self.has(at)) << at as u16;
        BoxSet(ScoreBox::ALL.into_iter().map(bit).sum())
    }
}

/// A card. Empty boxes hold 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Card {
    points: [u8; 16],
    empty: Empty,
    bonuses: u8,
}

impl Card {
    pub(super) const EMPTY: Card = Card { points: [0; 16], empty: Empty::ALL, bonuses: 0 };

    /// A card with these boxes and no bonuses.
    pub(super) fn from_boxes(boxes: &Boxes) -> Card {
        let mut card = Card::EMPTY;
        let filled = ScoreBox::ALL.into_iter().filter_map(|at| Some((at, boxes.of(at)?)));
        for (turn, (at, points)) in filled.enumerate() {
            card.fill(at, points, TURNS - turn);
        }
        card
    }

    #[inline]
    pub(super) fn is_empty(&self, at: ScoreBox) -> bool {
        self.empty.has(at)
    }

    /// Empty box number `n`, in no particular order.
    #[inline]
    pub(super) fn nth_empty(&self, n: usize) -> ScoreBox {
        self.empty.list[n % 16]
    }

    /// The empty boxes that `hand` may go into.
    pub(super) fn open(&self, hand: Hand, rule: Rule) -> BoxSet {
        let empty = self.empty.set().0;
        if rule != Rule::ForcedJoker || hand.alike() == 0 || self.empty.has(ScoreBox::Yahtzee) {
            return BoxSet(empty);
        }
        let own = 1 << (hand.alike() - 1);
        let forced = if empty & own != 0 {
            own
        } else if empty & LOWER != 0 {
            empty & LOWER
        } else {
            empty
        };
        BoxSet(forced)
    }

    /// The score of `hand` in the empty box `at`: points, and whether there is a Yahtzee bonus.
    pub(super) fn worth(&self, hand: Hand, at: ScoreBox, rule: Rule) -> (u8, bool) {
        if hand.alike() == 0 {
            return (hand.points(at), false);
        }
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

    /// Fills the box `at`, one of `count` empty ones.
    #[inline]
    pub(super) fn fill(&mut self, at: ScoreBox, points: u8, count: usize) {
        self.points[at.index() % 16] = points;
        self.empty.take(at, count);
    }

    pub(super) fn add_bonus(&mut self) {
        self.bonuses += 1;
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
        let boxes: u32 = self.points.iter().map(|points| u32::from(*points)).sum();
        boxes as u16 + self.upper_bonus() + YAHTZEE_BONUS * u16::from(self.bonuses)
    }

    pub(super) fn view(&self) -> CardView {
        CardView {
            boxes: Boxes(ScoreBox::ALL.map(|at| (!self.is_empty(at)).then(|| self.points(at)))),
            upper: self.upper(),
            upper_bonus: self.upper_bonus(),
            yahtzee_bonuses: self.bonuses,
            total: self.total(),
        }
    }

    /// The card as it was before box `at` was filled.
    pub(super) fn view_before(mut self, at: ScoreBox, bonus: bool) -> CardView {
        self.points[at.index()] = 0;
        self.bonuses -= u8::from(bonus);
        let mut view = self.view();
        view.boxes.0[at.index()] = None;
        view
    }
}
