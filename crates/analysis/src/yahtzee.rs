//! The analysis of Yahtzee: exact, from the solved table.
//!
//! The value of a position is the expected final score of the seat's own card if all later choices
//! are the best ones for that score. The opponent's card has no influence on it: a player who takes
//! a risk to win a lost game pays for it here. The score of a finished game is the table's optimum
//! plus all luck minus all costs, exactly.

use crate::model::{Change, GameModel, Move, Played, Refused, Step};
use crate::sample::Sample;
use agon_bots::yahtzee::{Card, Keepers, Roll, Rule, TurnValues, table};
use agon_games::yahtzee::{Config, Play, ScoreBox, View, Yahtzee};
use agon_games::{Game, Seat, Viewer};

/// Costs below this many points are rounding errors of the table.
const ROUNDING: f64 = 1e-9;

/// The model of Yahtzee, under every joker rule and with either source of dice.
#[derive(Clone, Copy, Debug, Default)]
pub struct YahtzeeModel;

impl GameModel<Yahtzee> for YahtzeeModel {
    fn about(&self) -> &'static str {
        "exact expected final score of the player's own card, from the solved game"
    }

    fn has_luck(&self) -> bool {
        true
    }

    fn steps(&self, played: &Played<'_, Yahtzee>, _: Sample) -> Result<Vec<Step>, Refused> {
        if let Some(fixed) = &played.config.fixed_dice {
            let turns = fixed.len();
            let why = format!(
                "the organiser fixed the dice of {turns} turns, so players could know them and \
                 there is no luck to measure"
            );
            return Err(Refused::Variant(why));
        }
        let view = played.end().view(Viewer::Full);
        let mut steps = Vec::new();
        for seat in Seat::all(played.start.seats()) {
            SeatAnalysis::new(played.moves, seat, &view).turns(&view, &mut steps);
        }
        // Steps of one answer keep their order: the decision, then the draw that follows it.
        steps.sort_by_key(|step| step.answer);
        Ok(steps)
    }
}

/// The luck of each seat in a game so far, in whole points; 0 until the first turn is over. `None` if
/// the organiser fixed dice.
pub(crate) fn luck(config: &Config, game: &Yahtzee) -> Option<Vec<i64>> {
    if config.fixed_dice.is_some() {
        return None;
    }
    let view = game.view(Viewer::Full);
    if view.history.is_empty() {
        return Some(vec![0; game.seats()]);
    }
    let luck = |seat| {
        let mut steps = Vec::new();
        SeatAnalysis::new(&[], seat, &view).turns(&view, &mut steps);
        let draws = steps.iter().filter_map(|step| match step.change {
            Change::Luck { luck, .. } => Some(luck),
            Change::Decision { .. } => None,
        });
        draws.sum::<f64>().round() as i64
    };
    Some(Seat::all(game.seats()).map(luck).collect())
}

/// The analysis of one seat, turn by turn.
struct SeatAnalysis {
    seat: Seat,
    rule: Rule,
    scores: [Option<u16>; 13],
    /// The numbers of the seat's answers, the next one last; empty if nobody needs them.
    answers: Vec<u32>,
    /// The answer that ended the latest turn, of whichever seat; 0 before the first turn.
    turn_began: Vec<u32>,
}

impl SeatAnalysis {
    fn new(moves: &[Move<<Yahtzee as Game>::Answer>], seat: Seat, view: &View) -> SeatAnalysis {
        let mut answers = Vec::new();
        let mut turn_began = vec![0];
        let mut scored = 0;
        for (done, number) in moves.iter().zip(1..) {
            let Move::Answered { seat: own, answer } = done else { continue };
            if *own == seat {
                answers.push(number);
            }
            if matches!(answer, agon_games::yahtzee::Answer::Score(_)) {
                scored += 1;
                if scored % 2 == 0 {
                    turn_began.push(number);
                }
            }
        }
        answers.reverse();
        let rule = Rule::from(view.rule);
        SeatAnalysis { seat, rule, scores: [None; 13], answers, turn_began }
    }

    fn turns(mut self, view: &View, steps: &mut Vec<Step>) {
        let finished = view.history.iter().map(|plays| &plays[self.seat.index()]);
        let now = view.now[self.seat.index()].iter();
        let plays: Vec<Play> = finished.chain(now).cloned().collect();
        for (turn, play) in plays.iter().enumerate() {
            // A card from the record of a game is one that can occur, and not full before a turn.
            let Ok(card) = Card::new(&self.scores) else { return };
            let Some(values) = table(self.rule).turn(&card) else { return };
            self.turn(turn, play, &values, steps);
        }
    }

    fn turn(&mut self, turn: usize, play: &Play, values: &TurnValues, steps: &mut Vec<Step>) {
        let began = self.turn_began.get(turn).copied().unwrap_or(0);
        let mut expected = values.before();
        let mut rolled_after = began;
        let mut left = 2;
        for (at, dice) in play.rolls.iter().enumerate() {
            let Some(roll) = Roll::new(*dice) else { return };
            let is_new = at == 0 || play.kept.get(at - 1).is_some_and(|kept| *kept != [true; 5]);
            if is_new {
                let luck = values.after(roll, left) - expected;
                let what = format!("rolls {}", shown(dice.iter().copied()));
                let place = place(turn, at);
                let change = Change::Luck { luck, draw: at as u8 };
                steps.push(self.step(rolled_after, place, what, change));
            }
            if let Some(kept) = play.kept.get(at) {
                let keepers = Keepers::new(*kept);
                let number = self.answers.pop().unwrap_or(0);
                let value = values.keep(roll, keepers, left);
                let best = values.best_keepers(roll, left);
                let cost = (best.value - value).max(0.0);
                let better = (cost > ROUNDING).then(|| keep_words("keep", best.choice, roll));
                let what = keep_words("keeps", keepers, roll);
                let change = Change::Decision { cost, better };
                steps.push(self.step(number, place(turn, at), what, change));
                (expected, rolled_after) = (value, number);
                left = if *kept == [true; 5] { 0 } else { left - 1 };
            } else {
                self.score(turn, play, values, roll, steps);
            }
        }
    }

    /// The choice of a box, if the player got that far.
    fn score(
        &mut self,
        turn: usize,
        play: &Play,
        values: &TurnValues,
        roll: Roll,
        steps: &mut Vec<Step>,
    ) {
        let Some(scored) = play.scored else { return };
        let number = self.answers.pop().unwrap_or(0);
        let table = table(self.rule);
        let choices: Vec<_> = table.boxes(values.card(), roll).collect();
        let of = |at: ScoreBox| choices.iter().find(|choice| choice.choice == at);
        let best = choices.iter().max_by(|a, b| a.value.total_cmp(&b.value));
        let (Some(chosen), Some(best)) = (of(scored.at), best) else { return };
        let cost = (best.value - chosen.value).max(0.0);
        let better = (cost > ROUNDING).then(|| {
            let points = table.rule().points(values.card().boxes(), best.choice, &roll.counts());
            format!("score {} in {}", points.unwrap_or(0), best.choice)
        });
        let points = u16::from(scored.points) + scored.bonus;
        let what = format!("scores {points} in {}", scored.at);
        let place = format!("turn {}, box", turn + 1);
        steps.push(self.step(number, place, what, Change::Decision { cost, better }));
        self.scores[scored.at.index()] = Some(scored.points.into());
    }

    fn step(&self, answer: u32, place: String, what: String, change: Change) -> Step {
        Step { answer, seat: self.seat, place, what, change, error: 0.0 }
    }
}

fn place(turn: usize, roll: usize) -> String {
    let roll = ["first", "second", "third"].get(roll).copied().unwrap_or("last");
    format!("turn {}, {roll} roll", turn + 1)
}

fn keep_words(verb: &str, keepers: Keepers, roll: Roll) -> String {
    match keepers.count() {
        0 => format!("{verb} nothing of {}", shown(roll.faces().into_iter())),
        5 => format!("{verb} all of {}", shown(roll.faces().into_iter())),
        _ => {
            format!("{verb} {} of {}", shown(keepers.faces(roll)), shown(roll.faces().into_iter()))
        }
    }
}

fn shown(dice: impl Iterator<Item = u8>) -> String {
    let mut dice: Vec<u8> = dice.collect();
    dice.sort_unstable();
    dice.iter().map(u8::to_string).collect::<Vec<_>>().join(" ")
}
