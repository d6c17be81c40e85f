//! One turn for many states at once: its value at the start, and at every choice in it.
//!
//! A *widget* holds a value for every multiset of dice, in several *lanes*, one per upper total.
//! All lanes go through the same steps with the same dice, so the compiler turns each step into
//! vector instructions. The steps of a turn, from its end to its start:
//!
//! 1. [`follow`](Widget::follow): what the game is worth after each box that can be filled;
//! 2. [`score`](Widget::score): every roll is worth its best box;
//! 3. [`throw`](Widget::throw): keepers are worth the mean of what they become by one die more;
//! 4. [`choose`](Widget::choose): a roll is worth the best keepers in it; then 3 and 4 again;
//! 5. [`start`](Widget::start): the turn is worth the mean over its first roll.

use super::card::{Boxes, UPPER_GOAL, face_of};
use super::lattice::{FIRST_ROLL, Lattice, MULTISETS, ROLLS};
use super::rule::Rule;
use super::states::States;
use agon_games::yahtzee::ScoreBox;

/// The type of values. With `f32` the computed optimum is up to 0.0002 too high, because its
/// rounding errors add up over thirteen turns. The error of `f64` is far below any digit shown.
pub(super) type Value = f64;

/// A value for each of `L` upper totals.
pub(super) type Lanes<const L: usize> = [Value; L];

/// The value of closed boxes, which is less than any real value.
const NEVER: Value = -1e6;

/// A power of two above [`MULTISETS`], so that a masked number needs no bounds check.
const ROOM: usize = 512;

/// See the module.
pub(super) struct Widget<const L: usize> {
    /// By face and count: the score in the upper box, plus the value of the rest of the game.
    upper: [[Lanes<L>; 6]; 6],
    /// By lower box: the value of the rest of the game. For the Yahtzee box, after a 0.
    lower: [Lanes<L>; 7],
    /// The value of the rest of the game after 50 in the Yahtzee box.
    after_50: Lanes<L>,
    /// By multiset.
    values: [Lanes<L>; ROOM],
}

impl<const L: usize> Widget<L> {
    /// An empty widget. It is large, so use one for many turns.
    pub(super) fn new() -> Box<Widget<L>> {
        Box::new(Widget {
            upper: [[[NEVER; L]; 6]; 6],
            lower: [[NEVER; L]; 7],
            after_50: [NEVER; L],
            values: [[NEVER; L]; ROOM],
        })
    }

    /// Computes a whole turn: the values of the states of `boxes` with these upper totals, from the
    /// values of all states with more boxes filled.
    pub(super) fn turn(
        &mut self,
        rule: Rule,
        boxes: Boxes,
        totals: &[u8; L],
        table: &[Value],
    ) -> Lanes<L> {
        self.follow(boxes, totals, table);
        self.score(rule, boxes);
        self.throw();
        self.choose();
        self.throw();
        self.choose();
        self.start()
    }

    /// Looks up the value of the rest of the game after each box.
    pub(super) fn follow(&mut self, boxes: Boxes, totals: &[u8; L], table: &[Value]) {
        let states = States::shared();
        for at in boxes.open() {
            let next = boxes.with(at);
            if let Some(face) = face_of(at) {
                for count in 0..=5 {
                    let score = face * count;
                    let row = &mut self.upper[at.index()][usize::from(count)];
                    for (value, total) in row.iter_mut().zip(totals) {
                        let upper = UPPER_GOAL.min(total + score);
                        *value = Value::from(score) + table[states.place(next, upper)];
                    }
                }
            } else {
                let after = |row: &mut Lanes<L>, next| {
                    for (value, total) in row.iter_mut().zip(totals) {
                        *value = table[states.place(next, *total)];
                    }
                };
                after(&mut self.lower[at.index() - 6], next);
                if at == ScoreBox::Yahtzee {
                    after(&mut self.after_50, boxes.with_50());
                }
            }
        }
    }

    /// Gives every roll the value of its best box.
    pub(super) fn score(&mut self, rule: Rule, boxes: Boxes) {
        let lattice = Lattice::shared();
        // The value after the best lower box with a 0: any roll can score that.
        let mut nothing = [NEVER; L];
        let mut sums = [[NEVER; L]; 3];
        for at in boxes.open().filter(|at| !at.is_upper()) {
            let after = self.lower[at.index() - 6];
            raise(&mut nothing, &after);
            let first = match at {
                ScoreBox::Chance => 0,
                ScoreBox::ThreeOfAKind => 1,
                ScoreBox::FourOfAKind => 2,
                _ => continue,
            };
            sums[first..].iter_mut().for_each(|sum| raise(sum, &after));
        }
        let upper: Vec<usize> =
            boxes.open().filter(|at| at.is_upper()).map(ScoreBox::index).collect();
        for (value, facts) in self.values[FIRST_ROLL..].iter_mut().zip(&lattice.rolls) {
            let mut best = nothing;
            let sum = &sums[usize::from(facts.sum_boxes) - 1];
            raise(&mut best, &plus(sum, Value::from(facts.sum)));
            for index in &upper {
                raise(&mut best, &self.upper[*index][usize::from(facts.counts[*index])]);
            }
            *value = best;
        }
        for (at, score, rolls) in &lattice.patterns {
            if boxes.is_open(*at) {
                let worth = plus(&self.lower[at.index() - 6], Value::from(*score));
                rolls.iter().for_each(|roll| raise(&mut self.values[usize::from(*roll)], &worth));
            }
        }
        for number in lattice.alike {
            let counts = &lattice.rolls[number - FIRST_ROLL].counts;
            self.values[number] = self.score_alike(rule, boxes, counts);
        }
    }

    /// The best box for five alike, where the rules differ.
    fn score_alike(&self, rule: Rule, boxes: Boxes, counts: &[u8; 6]) -> Lanes<L> {
        let mut best = [NEVER; L];
        for at in boxes.open() {
            let Some(points) = rule.points(boxes, at, counts) else { continue };
            let (after, in_after) = match face_of(at) {
                Some(face) => {
                    let count = counts[at.index()];
                    (&self.upper[at.index()][usize::from(count)], face * count)
                }
                None if at == ScoreBox::Yahtzee => (&self.after_50, 0),
                None => (&self.lower[at.index() - 6], 0),
            };
            let points = Value::from(points) - Value::from(in_after);
            raise(&mut best, &plus(after, points));
        }
        best
    }

    /// Gives all multisets of fewer than five dice the mean of those with one die more.
    pub(super) fn throw(&mut self) {
        for (number, more) in Lattice::shared().more.iter().enumerate().rev() {
            let mut sum = self.values[usize::from(more[0]) % ROOM];
            for with in &more[1..] {
                let value = &self.values[usize::from(*with) % ROOM];
                for lane in 0..L {
                    sum[lane] += value[lane];
                }
            }
            for (value, sum) in self.values[number].iter_mut().zip(&sum) {
                *value = sum * (1.0 / 6.0);
            }
        }
    }

    /// Gives every multiset the highest value of any multiset within it.
    pub(super) fn choose(&mut self) {
        let lattice = Lattice::shared();
        for number in 1..MULTISETS {
            let mut best = self.values[number];
            for without in lattice.less(number) {
                raise(&mut best, &self.values[usize::from(*without) % ROOM]);
            }
            self.values[number] = best;
        }
    }

    /// The mean over the first roll.
    pub(super) fn start(&self) -> Lanes<L> {
        let mut mean = [0.0; L];
        let rolls = &Lattice::shared().rolls;
        for (value, facts) in self.values[FIRST_ROLL..].iter().zip(rolls) {
            let chance = facts.chance as Value;
            for lane in 0..L {
                mean[lane] += value[lane] * chance;
            }
        }
        mean
    }

    /// Sets the values of all rolls, in place of [`follow`](Widget::follow) and
    /// [`score`](Widget::score).
    pub(super) fn set_rolls(&mut self, worth: &[Lanes<L>; ROLLS]) {
        self.values[FIRST_ROLL..MULTISETS].copy_from_slice(worth);
    }

    /// The value of a multiset after the last step.
    pub(super) fn value(&self, number: usize) -> &Lanes<L> {
        &self.values[number]
    }
}

/// The higher of two values in every lane. (The `max` of floating point handles NaN, which is
/// slower.)
#[inline(always)]
fn raise<const L: usize>(best: &mut Lanes<L>, other: &Lanes<L>) {
    for lane in 0..L {
        best[lane] = if other[lane] > best[lane] { other[lane] } else { best[lane] };
    }
}

/// Adds the same number in every lane.
#[inline(always)]
fn plus<const L: usize>(lanes: &Lanes<L>, more: Value) -> Lanes<L> {
    let mut sum = *lanes;
    for value in &mut sum {
        *value += more;
    }
    sum
}
