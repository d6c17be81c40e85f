//! The solved game: the value of every state, and the best choices that follow from it.

use super::card::{Boxes, Card};
use super::lattice::Lattice;
use super::roll::{Keepers, Roll};
use super::rule::Rule;
use super::states::States;
use super::widget::{Value, Widget};
use agon_games::yahtzee::ScoreBox;
use std::fmt;

/// The value of the rest of the game from every state, under one rule.
#[derive(Clone, PartialEq)]
pub struct Table {
    pub(super) rule: Rule,
    pub(super) values: Vec<Value>,
}

/// A choice and its value: the expected points from here to the end if all later choices are the
/// best ones. This includes the upper bonus if it is or will be earned.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Best<C> {
    /// The choice.
    pub choice: C,
    /// The expected points.
    pub value: f64,
}

impl Table {
    /// A table that was not solved: `worth` gives the value of each set of boxes, whatever the
    /// upper total. A player who uses it plays each turn as well as these values are right.
    pub(super) fn imagined(rule: Rule, worth: impl Fn(Boxes) -> Value) -> Table {
        let states = States::shared();
        let groups = states.levels().iter().flat_map(|level| &level.groups);
        let values = groups.flat_map(|boxes| vec![worth(*boxes); states.totals(*boxes).len()]);
        Table { rule, values: values.collect() }
    }

    /// The rule that the table was solved for.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The mean score of a whole game with the best choices.
    pub fn optimum(&self) -> f64 {
        self.value(&Card::EMPTY)
    }

    /// The expected points before a turn, including the upper bonus even if it is certain already.
    pub fn value(&self, card: &Card) -> f64 {
        self.values[States::shared().place_of(card)]
    }

    /// The best open box for `roll`; `None` if the card is full.
    pub fn best_box(&self, card: &Card, roll: Roll) -> Option<Best<ScoreBox>> {
        let counts = roll.counts();
        let mut best: Option<Best<ScoreBox>> = None;
        for at in card.boxes().open() {
            let Some(points) = self.rule.points(card.boxes(), at, &counts) else { continue };
            let value = f64::from(points) + self.value(&card.after(at, &counts));
            if best.is_none_or(|best| value > best.value) {
                best = Some(Best { choice: at, value });
            }
        }
        best
    }

    /// The best dice to keep of `roll` with `rolls_left` (at least 1) re-rolls to come; `None` if
    /// the card is full or no re-roll is left. Of equal choices, it returns the one that keeps most
    /// dice.
    pub fn best_keepers(&self, card: &Card, roll: Roll, rolls_left: u8) -> Option<Best<Keepers>> {
        if rolls_left == 0 || card.boxes().filled() == ScoreBox::ALL.len() {
            return None;
        }
        let mut widget = Widget::<1>::new();
        widget.follow(card.boxes(), &[card.upper()], &self.values);
        widget.score(self.rule, card.boxes());
        widget.throw();
        for _ in 1..rolls_left {
            widget.choose();
            widget.throw();
        }
        let lattice = Lattice::shared();
        let options = Keepers::every().map(|choice| {
            let [value] = *widget.value(lattice.number(choice.faces(roll)));
            Best { choice, value }
        });
        options.max_by(|a, b| {
            a.value.total_cmp(&b.value).then(a.choice.count().cmp(&b.choice.count()))
        })
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Table({}, {} states)", self.rule, self.values.len())
    }
}
