//! A solitaire score card, reduced to what decides the points still to come: the filled boxes,
//! whether the Yahtzee box holds 50, and the upper section's total up to 63.

use super::rule::plain;
use agon_games::yahtzee::ScoreBox;
use std::fmt;

/// The upper total that earns the upper bonus. Higher totals count as this one.
pub const UPPER_GOAL: u8 = 63;

/// The points of the upper bonus.
pub const UPPER_BONUS: u16 = 35;

/// The face (1 to 6) that `at` collects; `None` for a lower box.
pub(super) fn face_of(at: ScoreBox) -> Option<u8> {
    at.is_upper().then_some(at as u8 + 1)
}

/// The upper box that collects `face`.
pub(super) fn upper_box(face: u8) -> ScoreBox {
    ScoreBox::ALL[usize::from(face) - 1]
}

fn bit(at: ScoreBox) -> u16 {
    1 << at as u16
}

/// The filled boxes, and whether the Yahtzee box holds 50.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Boxes(u16);

/// The bit after those of the thirteen boxes: the Yahtzee box holds 50.
const FIFTY: u16 = 1 << 13;

impl Boxes {
    /// The number of bit patterns, including impossible ones.
    pub(super) const PATTERNS: usize = 1 << 14;

    /// No box filled.
    pub const EMPTY: Boxes = Boxes(0);

    /// The boxes with these bits; `None` if they say that an open Yahtzee box holds 50.
    pub(super) fn from_bits(bits: u16) -> Option<Boxes> {
        let boxes = Boxes(bits);
        let possible = !boxes.yahtzee_is_50() || !boxes.is_open(ScoreBox::Yahtzee);
        (usize::from(bits) < Boxes::PATTERNS && possible).then_some(boxes)
    }

    /// A number below [`Boxes::PATTERNS`], different for every value.
    pub(super) fn bits(self) -> usize {
        usize::from(self.0)
    }

    /// Returns whether `at` is still to be filled.
    pub fn is_open(self, at: ScoreBox) -> bool {
        self.0 & bit(at) == 0
    }

    /// The boxes still to be filled, in the order of the card.
    pub fn open(self) -> impl Iterator<Item = ScoreBox> {
        ScoreBox::ALL.into_iter().filter(move |at| self.is_open(*at))
    }

    /// How many boxes are filled.
    pub fn filled(self) -> usize {
        (self.0 & (FIFTY - 1)).count_ones() as usize
    }

    /// Returns whether the Yahtzee box holds 50.
    pub fn yahtzee_is_50(self) -> bool {
        self.0 & FIFTY != 0
    }

    /// The filled upper boxes as a number below 64.
    pub(super) fn upper_bits(self) -> usize {
        usize::from(self.0 & 63)
    }

    /// These boxes with `at` filled; the Yahtzee box with 0.
    pub(super) fn with(self, at: ScoreBox) -> Boxes {
        Boxes(self.0 | bit(at))
    }

    /// These boxes with 50 in the Yahtzee box.
    pub(super) fn with_50(self) -> Boxes {
        Boxes(self.0 | bit(ScoreBox::Yahtzee) | FIFTY)
    }
}

impl fmt::Debug for Boxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fifty = if self.yahtzee_is_50() { ", yahtzee 50" } else { "" };
        write!(f, "Boxes({:013b}{fifty})", self.0 & (FIFTY - 1))
    }
}

/// Why thirteen numbers are not a score card.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the {at} box cannot hold {score}")]
pub struct BadCard {
    /// The box.
    pub at: ScoreBox,
    /// The score given for it.
    pub score: u16,
}

/// A card that can occur in play, between two turns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Card {
    boxes: Boxes,
    upper: u8,
}

impl Card {
    /// The card before the first turn.
    pub const EMPTY: Card = Card { boxes: Boxes::EMPTY, upper: 0 };

    /// A card from the scores in its boxes, in the order of the card and without Yahtzee bonuses.
    /// Lower boxes other than Yahtzee may hold any score, because it does not affect later points.
    ///
    /// ```
    /// use agon_bots::yahtzee::Card;
    /// let mut scores = [None; 13];
    /// scores[5] = Some(18);
    /// assert!(Card::new(&scores).is_ok());
    /// scores[5] = Some(17);
    /// assert!(Card::new(&scores).is_err());
    /// ```
    pub fn new(scores: &[Option<u16>; 13]) -> Result<Card, BadCard> {
        let mut card = Card::EMPTY;
        for (at, score) in ScoreBox::ALL.into_iter().zip(scores) {
            let Some(score) = *score else { continue };
            let fits = match (face_of(at).map(u16::from), at) {
                (Some(face), _) => score % face == 0 && score <= 5 * face,
                (None, ScoreBox::Yahtzee) => score == 0 || score == 50,
                (None, _) => true,
            };
            if !fits {
                return Err(BadCard { at, score });
            }
            card = card.enter(at, score);
        }
        Ok(card)
    }

    /// The filled boxes.
    pub fn boxes(&self) -> Boxes {
        self.boxes
    }

    /// The upper section's total; 63 stands for all totals from 63 on.
    pub fn upper(&self) -> u8 {
        self.upper
    }

    /// The card after dice with these `counts` are scored in `at`.
    pub(super) fn after(self, at: ScoreBox, counts: &[u8; 6]) -> Card {
        self.enter(at, plain(at, counts))
    }

    /// The card with `score` in `at`; the caller has checked that it fits.
    fn enter(self, at: ScoreBox, score: u16) -> Card {
        let boxes = match (at, score) {
            (ScoreBox::Yahtzee, 50) => self.boxes.with_50(),
            _ => self.boxes.with(at),
        };
        let gain = if at.is_upper() { score as u8 } else { 0 };
        Card { boxes, upper: UPPER_GOAL.min(self.upper + gain) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_knows_its_upper_total_up_to_the_goal() {
        let mut scores = [None; 13];
        (scores[5], scores[4], scores[6]) = (Some(30), Some(20), Some(29));
        assert_eq!(Card::new(&scores).unwrap().upper(), 50);
        scores[3] = Some(16);
        let card = Card::new(&scores).unwrap();
        assert_eq!((card.upper(), card.boxes().filled()), (UPPER_GOAL, 4));
        assert!(!card.boxes().is_open(ScoreBox::ThreeOfAKind));
        assert!(card.boxes().is_open(ScoreBox::Aces));
    }

    #[test]
    fn a_yahtzee_box_holds_nothing_or_fifty() {
        let with = |score| {
            let mut scores = [None; 13];
            scores[ScoreBox::Yahtzee.index()] = Some(score);
            Card::new(&scores)
        };
        assert!(with(50).unwrap().boxes().yahtzee_is_50());
        assert!(!with(0).unwrap().boxes().yahtzee_is_50());
        assert_eq!(with(25), Err(BadCard { at: ScoreBox::Yahtzee, score: 25 }));
    }
}
