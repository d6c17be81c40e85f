//! The champion of Trains, the weaker levels of it, and the cost of other players' answers by its
//! rollouts.

use super::default_map;
use super::valuation::{Difference, Limits, Valuation};
use crate::SplitMix64;
use crate::house::{Ask, Bot};
use crate::random::{Dice, Random};
use agon_games::trains::{Answer, Question, Trains, View};
use agon_games::{Json, Seat};
use std::time::{Duration, Instant};

/// The rollouts that the champion plays for one answer.
const ROLLOUTS: u32 = 700;

/// The rollouts of level 4.
const ROLLOUTS_FEW: u32 = 150;

/// Plays Trains by playing every choice out many times against models of the others.
#[derive(Clone, Debug)]
pub struct Champion {
    /// Without rollouts it plays as the models of planners do.
    rollouts: u32,
    /// How many answers of a thousand are random.
    random_per_mille: usize,
    time: Option<Duration>,
}

impl Default for Champion {
    fn default() -> Champion {
        Champion { rollouts: ROLLOUTS, random_per_mille: 0, time: None }
    }
}

impl Champion {
    /// A player of one of the levels 1 to 5; level 5 is the champion.
    pub fn level(level: u8) -> Champion {
        let (random_per_mille, rollouts) = match level {
            0 | 1 => (500, 0),
            2 => (200, 0),
            3 => (0, 0),
            4 => (0, ROLLOUTS_FEW),
            _ => (0, ROLLOUTS),
        };
        Champion { rollouts, random_per_mille, time: None }
    }
}

impl Bot<Trains> for Champion {
    fn answer(&mut self, ask: &Ask<'_, Trains>) -> Answer {
        if let Question::Setup { .. } | Question::More { .. } = ask.question {
            return Answer::Ok;
        }
        let mut dice = Dice::new(ask.player, ask.key);
        if dice.below(1000) < self.random_per_mille {
            return Random.answer(ask);
        }
        let random = SplitMix64::new(dice.next_word());
        let until = self.time.and_then(|time| Instant::now().checked_add(time / 2));
        let mut valuation = Valuation::new(ask.view, ask.seat, random);
        let mut candidates = valuation.candidates(ask.question);
        let best = match self.rollouts {
            0 => valuation.planned(&candidates),
            rollouts => valuation.best(&mut candidates, Limits { rollouts, until }),
        };
        candidates.swap_remove(best).answer
    }

    fn propose(&mut self) -> Option<Json> {
        default_map()
    }

    fn limit_time(&mut self, limit: Duration) {
        self.time = Some(limit);
    }
}

/// How much worse an answer is than the best one that rollouts find.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerCost {
    /// The loss of lead: the player's own points minus those of the best other player.
    pub points: f64,
    /// The standard error of the loss.
    pub error: f64,
    /// The best answer; the given one if none is better.
    pub better: Answer,
}

/// The cost of an answer of `seat`, whose own view this is, by about `rollouts` rollouts; `None` if
/// there was no choice. The same arguments give the same cost.
pub fn cost(
    view: &View,
    seat: Seat,
    question: &Question,
    answer: &Answer,
    rollouts: u32,
) -> Option<AnswerCost> {
    let mut valuation = Valuation::new(view, seat, SplitMix64::new(u64::from(view.deck)));
    let mut candidates = valuation.candidates(question);
    let chosen = candidates.iter().position(|candidate| candidate.is(answer))?;
    if candidates.len() < 2 {
        return None;
    }
    let limits = Limits { rollouts, until: None };
    let best = valuation.best(&mut candidates, limits);
    let Difference { mean, error } = match best == chosen {
        true => Difference::default(),
        false => valuation.lead_difference(&candidates[best], &candidates[chosen], rollouts / 4),
    };
    let at = if mean > 0.0 { best } else { chosen };
    let better = candidates.swap_remove(at).answer;
    Some(AnswerCost { points: mean.max(0.0), error, better })
}
