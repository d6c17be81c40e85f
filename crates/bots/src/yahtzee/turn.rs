//! All values of one turn: before the first roll, after every roll, and of every choice.

use super::card::Card;
use super::lattice::{FIRST_ROLL, Lattice, MULTISETS};
use super::roll::{Keepers, Roll};
use super::table::{Best, Table};
use super::widget::{Value, Widget};
use agon_games::yahtzee::ScoreBox;

/// The values of one turn for one card, if all later choices are the best. They count the points
/// still to come, as those of a [`Table`] do.
pub struct TurnValues {
    card: Card,
    /// By multiset of five: the value of the best box.
    scored: [Value; MULTISETS],
    /// By re-rolls that follow (one, two), then by multiset of keepers.
    kept: [[Value; MULTISETS]; 2],
    /// By re-rolls that are left (one, two), then by multiset of five: the value of the best
    /// keepers.
    rolled: [[Value; MULTISETS]; 2],
    before: Value,
}

impl Table {
    /// All values of the next turn of `card`; `None` if the card is full.
    pub fn turn(&self, card: &Card) -> Option<Box<TurnValues>> {
        if card.boxes().filled() == ScoreBox::ALL.len() {
            return None;
        }
        let mut widget = Widget::<1>::new();
        let values = |widget: &Widget<1>| std::array::from_fn(|number| widget.value(number)[0]);
        widget.follow(card.boxes(), &[card.upper()], &self.values);
        widget.score(self.rule, card.boxes());
        let mut turn = Box::new(TurnValues {
            card: *card,
            scored: values(&widget),
            kept: [[0.0; MULTISETS]; 2],
            rolled: [[0.0; MULTISETS]; 2],
            before: 0.0,
        });
        for re_rolls in 0..2 {
            widget.throw();
            turn.kept[re_rolls] = values(&widget);
            widget.choose();
            turn.rolled[re_rolls] = values(&widget);
        }
        // A player who keeps all dice of the first roll goes straight to scoring.
        let scored = &turn.scored[FIRST_ROLL..];
        turn.kept[1][FIRST_ROLL..].copy_from_slice(scored);
        [turn.before] = widget.start();
        Some(turn)
    }

    /// The value of every open box for `roll` that the rule allows, in the order of the card.
    pub fn boxes(&self, card: &Card, roll: Roll) -> impl Iterator<Item = Best<ScoreBox>> {
        let (card, counts) = (*card, roll.counts());
        card.boxes().open().filter_map(move |at| {
            let points = self.rule.points(card.boxes(), at, &counts)?;
            let value = f64::from(points) + self.value(&card.after(at, &counts));
            Some(Best { choice: at, value })
        })
    }
}

impl TurnValues {
    /// The card before the turn.
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The value before the first roll.
    pub fn before(&self) -> f64 {
        self.before
    }

    /// The values of all keepers, by multiset: with one re-roll left, then with two.
    pub(super) fn kept(&self) -> &[[Value; MULTISETS]; 2] {
        &self.kept
    }

    /// The value of `roll` with 0, 1 or 2 re-rolls left.
    pub fn after(&self, roll: Roll, rolls_left: u8) -> f64 {
        let number = Lattice::shared().number(roll.faces().into_iter());
        match rolls_left {
            0 => self.scored[number],
            1 => self.rolled[0][number],
            _ => self.rolled[1][number],
        }
    }

    /// The value of keeping some dice of `roll` with 1 or 2 re-rolls left.
    pub fn keep(&self, roll: Roll, keepers: Keepers, rolls_left: u8) -> f64 {
        let number = Lattice::shared().number(keepers.faces(roll));
        self.kept[usize::from(rolls_left > 1)][number]
    }

    /// The best dice to keep of `roll` with 1 or 2 re-rolls left. Of equal choices, it returns the
    /// one that keeps most dice.
    pub fn best_keepers(&self, roll: Roll, rolls_left: u8) -> Best<Keepers> {
        let options = Keepers::every()
            .map(|choice| Best { choice, value: self.keep(roll, choice, rolls_left) });
        let best = options.max_by(|a, b| {
            a.value.total_cmp(&b.value).then(a.choice.count().cmp(&b.choice.count()))
        });
        best.expect("32 choices")
    }
}

impl std::fmt::Debug for TurnValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TurnValues({:?}, {:.2})", self.card, self.before)
    }
}
