//! A turn played out by the player with the highest mean score, quickly: dice are multisets, and
//! choices are looked up.

use super::card::Card;
use super::lattice::{FIRST_ROLL, Lattice, MULTISETS, ROLLS};
use super::rule::Rule;
use super::table::Table;
use super::turn::TurnValues;
use agon_games::yahtzee::ScoreBox;

/// The dice of one turn, in the order they are used: five for the first roll, then those re-rolled.
pub(super) type TurnDice = [u8; 15];

/// For each multiset of five dice, which multiset of them to keep.
pub(super) type KeepTable = [u16; MULTISETS];

/// Which dice to keep after the first and after the second roll.
#[derive(Clone)]
pub(super) struct KeepPolicy {
    pub(super) first: KeepTable,
    pub(super) second: KeepTable,
}

impl KeepPolicy {
    /// The choices of the player with the highest mean score.
    pub(super) fn of(values: &TurnValues) -> KeepPolicy {
        let [second, first] = values.kept();
        KeepPolicy { first: best_within(first), second: best_within(second) }
    }

    /// The multiset of dice on the table at the end of the turn, if the player has rolled and kept
    /// nothing yet.
    #[inline]
    pub(super) fn play(&self, dice: &TurnDice) -> usize {
        let first = Lattice::shared().number(dice[..5].iter().copied());
        let (second, used) = roll(usize::from(self.first[first]), dice, 5);
        if used == 5 {
            return second;
        }
        roll(usize::from(self.second[second]), dice, used).0
    }
}

/// Adds dice to `kept` from `used` on, until there are five: their multiset, and how many dice of
/// the turn are used then.
#[inline]
pub(super) fn roll(kept: usize, dice: &TurnDice, used: usize) -> (usize, usize) {
    let lattice = Lattice::shared();
    let (mut number, mut used) = (kept, used);
    while number < FIRST_ROLL {
        number = usize::from(lattice.more[number][usize::from(dice[used]) - 1]);
        used += 1;
    }
    (number, used)
}

/// For each multiset of five dice, the multiset within it that has the highest value.
pub(super) fn best_within(values: &[f64; MULTISETS]) -> KeepTable {
    let lattice = Lattice::shared();
    let mut best: KeepTable = std::array::from_fn(|number| number as u16);
    for number in 1..MULTISETS {
        for without in lattice.less(number) {
            let other = best[usize::from(*without)];
            if values[usize::from(other)] > values[usize::from(best[number])] {
                best[number] = other;
            }
        }
    }
    best
}

/// The end of a turn: the box that was filled, its points with a Yahtzee bonus, and the card after.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct TurnEnd {
    pub(super) at: ScoreBox,
    pub(super) points: u16,
    pub(super) card: Card,
}

/// Every box that the rule allows for a roll.
pub(super) fn ends(rule: Rule, card: &Card, number: usize) -> impl Iterator<Item = TurnEnd> {
    let counts = &Lattice::shared().rolls[number - FIRST_ROLL].counts;
    let card = *card;
    card.boxes().open().filter_map(move |at| {
        let points = rule.points(card.boxes(), at, counts)?;
        Some(TurnEnd { at, points, card: card.after(at, counts) })
    })
}

/// The choices of the player with the highest mean score in one turn of one card.
pub(super) struct MeanPlayer<'a> {
    table: &'a Table,
    card: Card,
    keep: KeepPolicy,
    /// By multiset of five: the end of the turn, once it was needed.
    ends: [Option<TurnEnd>; ROLLS],
}

impl MeanPlayer<'_> {
    /// `None` if the card is full.
    pub(super) fn new<'a>(table: &'a Table, card: &Card) -> Option<Box<MeanPlayer<'a>>> {
        let keep = KeepPolicy::of(&*table.turn(card)?);
        Some(Box::new(MeanPlayer { table, card: *card, keep, ends: [None; ROLLS] }))
    }

    #[cfg(test)]
    pub(super) fn keeps(&self) -> &KeepPolicy {
        &self.keep
    }

    /// The end of the turn with these dice.
    pub(super) fn play(&mut self, dice: &TurnDice) -> TurnEnd {
        let number = self.keep.play(dice);
        self.score(number)
    }

    /// The best box for a multiset of five.
    pub(super) fn score(&mut self, number: usize) -> TurnEnd {
        if let Some(end) = self.ends[number - FIRST_ROLL] {
            return end;
        }
        let value = |end: &TurnEnd| f64::from(end.points) + self.table.value(&end.card);
        let mut best: Option<(f64, TurnEnd)> = None;
        for end in ends(self.table.rule(), &self.card, number) {
            if best.is_none_or(|(most, _)| value(&end) > most) {
                best = Some((value(&end), end));
            }
        }
        let (_, end) = best.expect("a card that is not full has a box for every roll");
        self.ends[number - FIRST_ROLL] = Some(end);
        end
    }
}
