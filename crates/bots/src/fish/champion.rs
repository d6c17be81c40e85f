//! The champion of Fish, the weaker levels of it, and the cost of other players' answers by its
//! search.

use super::deep::{Bounds, Deep, Loss};
use super::estimate::FISH;
use super::field::Field;
use super::position::{Act, Position};
use crate::house::{Ask, Bot};
use crate::random::Dice;
use agon_games::Game;
use agon_games::fish::{Action, Answer, Fish, Question, State, View};
use std::time::{Duration, Instant};

/// The positions that the champion examines for one answer.
const POSITIONS: u64 = 150_000;

/// Deeper than any game is long that the search sees to its end.
const DEPTH_MAX: u8 = 100;

/// Plays Fish by searching placements and moves as deep as its bounds allow.
#[derive(Clone, Debug)]
pub struct Champion {
    /// How many answers of a thousand are random.
    random_per_mille: usize,
    /// The deepest search, in placements and moves of all players.
    depth: u8,
    time: Option<Duration>,
}

impl Default for Champion {
    fn default() -> Champion {
        Champion { random_per_mille: 0, depth: DEPTH_MAX, time: None }
    }
}

impl Champion {
    /// A player of one of the levels 1 to 5; level 5 is the champion.
    pub fn level(level: u8) -> Champion {
        let (random_per_mille, depth) = match level {
            0 | 1 => (500, 1),
            2 => (200, 1),
            3 => (0, 1),
            4 => (0, 3),
            _ => (0, DEPTH_MAX),
        };
        Champion { random_per_mille, depth, time: None }
    }

    fn best(&self, ask: &Ask<'_, Fish>) -> Option<Answer> {
        let state = ask.view.state(ask.seat);
        let quota = match ask.question {
            Question::Place => ask.view.penguins,
            Question::Move => 0,
            _ => return None,
        };
        let bounds = Bounds {
            depth: self.depth,
            positions: POSITIONS,
            until: self.time.and_then(|time| Instant::now().checked_add(time / 2)),
        };
        if Field::<1>::fits(&state.board) {
            best_answer::<1>(&state, quota, bounds)
        } else {
            best_answer::<7>(&state, quota, bounds)
        }
    }
}

fn best_answer<const W: usize>(state: &State, quota: usize, bounds: Bounds) -> Option<Answer> {
    let field = Field::<W>::new(&state.board);
    let position = Position::new(&field, state, quota);
    let best = Deep::new(&field, bounds).best(&position)?;
    Some(as_answer(state, best.act))
}

/// How much worse an answer is than the best one that a search finds.
#[derive(Clone, PartialEq, Debug)]
pub struct AnswerCost {
    /// The loss in fish: of the player's own future catch minus the mean of the others'.
    pub fish: f64,
    /// The best answer; the given one if the search finds no better.
    pub better: Answer,
    /// True if the search saw every line to its end.
    pub exact: bool,
    /// How much the loss changed with the last step of depth; 0 if it is exact.
    pub change: f64,
}

/// The cost of a placement or a move of the first player of `state`, if everybody plays on as the
/// champion would. Each player places `quota` penguins; 0 after the placements. The search examines
/// at most `positions` positions. `None` if the answer is of another kind.
pub fn cost(state: &State, quota: usize, answer: &Answer, positions: u64) -> Option<AnswerCost> {
    let shape = state.board.shape();
    let tile = |position| Some(shape.tile(position)?.index() as u16);
    let act = match answer {
        Answer::Ok => return None,
        Answer::Place(to) => Act { from: 0, to: tile(*to)? },
        Answer::Move(Action { from, to }) => Act { from: tile(*from)?, to: tile(*to)? },
    };
    let bounds = Bounds { depth: DEPTH_MAX, positions, until: None };
    let loss = if Field::<1>::fits(&state.board) {
        loss::<1>(state, quota, act, bounds)
    } else {
        loss::<7>(state, quota, act, bounds)
    }?;
    let others = (state.players.len() as f64 - 1.0).max(1.0);
    let fish = |units: i32| f64::from(units) / f64::from(FISH) / others;
    Some(AnswerCost {
        fish: fish(loss.units),
        better: as_answer(state, loss.better),
        exact: loss.exact,
        change: if loss.exact { 0.0 } else { fish((loss.units - loss.before).abs()) },
    })
}

fn loss<const W: usize>(state: &State, quota: usize, act: Act, bounds: Bounds) -> Option<Loss> {
    let field = Field::<W>::new(&state.board);
    let position = Position::new(&field, state, quota);
    Deep::new(&field, bounds).loss(&position, act)
}

fn as_answer(state: &State, act: Act) -> Answer {
    let shape = state.board.shape();
    let at = |tile: u16| {
        let tile = shape.all().nth(usize::from(tile) - 1).expect("a tile of the board");
        shape.position(tile)
    };
    match act.from {
        0 => Answer::Place(at(act.to)),
        from => Answer::Move(Action { from: at(from), to: at(act.to) }),
    }
}

impl Bot<Fish> for Champion {
    fn answer(&mut self, ask: &Ask<'_, Fish>) -> Answer {
        let mut dice = Dice::new(ask.player, ask.key);
        let random = dice.below(1000) < self.random_per_mille;
        let best = if random { None } else { self.best(ask) };
        best.unwrap_or_else(|| any_legal(ask.question, ask.view, &mut dice))
    }

    fn limit_time(&mut self, limit: Duration) {
        self.time = Some(limit);
    }
}

/// A random legal answer. A question without one is a bug of the server, and any answer will do.
fn any_legal(question: &Question, view: &View, dice: &mut Dice) -> Answer {
    let mut legal = Fish::legal_in(question, view);
    if legal.is_empty() {
        return Answer::Ok;
    }
    legal.swap_remove(dice.below(legal.len()))
}
