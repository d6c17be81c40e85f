//! The players: one plays by the exact table, the other looks only at the current turn.

use super::card::Card;
use super::roll::Roll;
use super::rule::Rule;
use super::shared;
use super::table::Table;
use crate::house::{Ask, Bot};
use agon_games::yahtzee::{Answer, Question, ScoreBox, View, Yahtzee};
use std::sync::OnceLock;

/// Plays for the highest mean score, exactly: no player has a higher one. (Beating an opponent is a
/// different aim: a player who is behind late in a game may do better by taking risks.)
#[derive(Clone, Debug, Default)]
pub struct Optimal;

impl Bot<Yahtzee> for Optimal {
    fn answer(&mut self, ask: &Ask<'_, Yahtzee>) -> Answer {
        answer(ask, shared::table)
    }
}

/// Plays for the most points in the current turn. Of boxes with the same points it takes the one
/// that is worth least to an expert.
#[derive(Clone, Debug, Default)]
pub struct Greedy;

impl Bot<Yahtzee> for Greedy {
    fn answer(&mut self, ask: &Ask<'_, Yahtzee>) -> Answer {
        answer(ask, greedy_table)
    }
}

/// The mean score of the best player in each box, in hundredths of a point.
const USUAL: [u16; 13] =
    [211, 528, 857, 1216, 1569, 1919, 2166, 1310, 2259, 2946, 3271, 1687, 2201];

/// Less than a point for all boxes together, so it decides only between boxes with the same points.
const USUAL_WEIGHT: f64 = 1e-5;

/// The table of a player who ignores later turns, except that filling a box costs a little.
fn greedy_table(rule: Rule) -> &'static Table {
    static TABLES: [OnceLock<Table>; 3] = [const { OnceLock::new() }; 3];
    TABLES[rule as usize].get_or_init(|| {
        Table::imagined(rule, |boxes| {
            boxes.open().map(|at| f64::from(USUAL[at.index()])).sum::<f64>() * USUAL_WEIGHT
        })
    })
}

fn answer(ask: &Ask<'_, Yahtzee>, table: impl Fn(Rule) -> &'static Table) -> Answer {
    let rule = Rule::from(ask.view.rule);
    let card = own_card(ask.view, ask.seat.index());
    match *ask.question {
        Question::Keep { roll, dice } => {
            let rolls_left = if roll == 1 { 2 } else { 1 };
            let best = card
                .zip(Roll::new(dice))
                .and_then(|(card, roll)| table(rule).best_keepers(&card, roll, rolls_left));
            // A question that no game asks can come only from outside; any answer is good enough.
            Answer::keep_places(best.map_or([true; 5], |best| best.choice.flags()))
        }
        Question::Score { dice } => {
            let best = card
                .zip(Roll::new(dice))
                .and_then(|(card, roll)| table(rule).best_box(&card, roll));
            Answer::score(best.map_or(ScoreBox::Chance, |best| best.choice))
        }
    }
}

/// The card of a seat; `None` if the card cannot occur in play.
pub(super) fn own_card(view: &View, seat: usize) -> Option<Card> {
    let boxes = &view.cards.get(seat)?.boxes;
    Card::new(&boxes.0.map(|points| points.map(u16::from))).ok()
}
