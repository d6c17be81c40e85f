//! The trait that a game's analysis implements, and the list of all models.

use crate::recorded::RecordedGame;
use crate::sample::Sample;
use agon_games::fish::Fish;
use agon_games::trains::Trains;
use agon_games::yahtzee::Yahtzee;
use agon_games::{Game, Seat};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One entry of a game's record.
#[derive(Clone, PartialEq, Debug)]
pub enum Move<A> {
    /// A seat gave an answer, which the game accepted.
    Answered {
        /// The seat.
        seat: Seat,
        /// The answer.
        answer: A,
    },
    /// The referee removed a seat.
    Removed {
        /// The seat.
        seat: Seat,
    },
}

/// A finished game as a model sees it.
#[derive(Debug)]
pub struct Played<'a, G: Game> {
    /// The organiser's settings.
    pub config: &'a G::Config,
    /// The position before the first answer.
    pub start: &'a G,
    /// Everything that happened, in order. Applied to `start` one after the other, no move fails.
    pub moves: &'a [Move<G::Answer>],
}

impl<G: Game> Played<'_, G> {
    /// The position after the last move.
    pub fn end(&self) -> G {
        let mut game = self.start.clone();
        self.moves.iter().for_each(|done| done.apply(&mut game));
        game
    }
}

impl<A> Move<A> {
    /// Applies the move to the position in which it was made.
    ///
    /// # Panics
    /// If the game rejects it: a recorded move was accepted once.
    pub fn apply<G: Game<Answer = A>>(&self, game: &mut G) {
        match self {
            Move::Answered { seat, answer } => {
                game.apply(*seat, answer).expect("a recorded answer was accepted");
            }
            Move::Removed { seat } => game.remove(*seat),
        }
    }
}

/// One step of an analysed game: a random draw or a decision.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The answer that the step belongs to, counted from 1 over all seats of the game. A draw
    /// belongs to the answer that it follows; 0 stands for the set-up of the game.
    pub answer: u32,
    /// The seat that decided, or whose luck it was.
    pub seat: Seat,
    /// The place in the game in words: `turn 5, second roll`.
    pub place: String,
    /// The event in words: `keeps 6 6 6`.
    pub what: String,
    /// Luck or a decision.
    #[serde(flatten)]
    pub change: Change,
    /// The standard error of the luck or the cost; 0 if the model is exact.
    pub error: f64,
}

/// The change that a step made, in the units of the game's score.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// A random draw.
    Luck {
        /// The seat's value after the draw minus its expected value before.
        luck: f64,
        /// The kind of draw, from 0. In Yahtzee it is the number of the roll in its turn.
        #[serde(default)]
        draw: u8,
    },
    /// A decision.
    Decision {
        /// The value of the best choice minus the value of the chosen one; never negative.
        cost: f64,
        /// The best choice in words, if it is better than the chosen one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        better: Option<String>,
    },
}

/// Why a game is not analysed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// No model values this game.
    #[error("there is no analysis for {0}")]
    NoModel(String),
    /// The model does not cover this variant, for the given reason.
    #[error("{0}")]
    Variant(String),
    /// The game is not over, so its luck is still secret.
    #[error("game {0} is not over, and its luck is still secret")]
    Running(u32),
}

/// The analysis of one game. Models have no state: equal games get equal steps.
pub trait GameModel<G: Game>: Send + Sync {
    /// The meaning of the values, and how exact they are, in one sentence for people.
    fn about(&self) -> &'static str;

    /// Returns whether the luck of a game is complete: every random draw has a step of its own, and
    /// the values are exact. Only then may luck be subtracted from results without bias.
    fn has_luck(&self) -> bool;

    /// Of how many decisions one is examined in an analysis of this many games.
    fn every(&self, _games: usize) -> u32 {
        1
    }

    /// The steps of a game, in order: all luck, and the decisions of the sample.
    fn steps(&self, played: &Played<'_, G>, sample: Sample) -> Result<Vec<Step>, Refused>;
}

/// A model of any game.
trait AnyModel: Send + Sync {
    fn game(&self) -> &'static str;
    fn about(&self) -> &'static str;
    fn has_luck(&self) -> bool;
    fn every(&self, games: usize) -> u32;
    fn steps(&self, game: &RecordedGame, sample: Sample) -> Result<Vec<Step>, Refused>;
}

struct Typed<G: Game>(Box<dyn GameModel<G>>);

impl<G: Game> AnyModel for Typed<G> {
    fn game(&self) -> &'static str {
        G::NAME
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn has_luck(&self) -> bool {
        self.0.has_luck()
    }

    fn every(&self, games: usize) -> u32 {
        self.0.every(games)
    }

    fn steps(&self, game: &RecordedGame, sample: Sample) -> Result<Vec<Step>, Refused> {
        let odd = |error: serde_json::Error| Refused::Variant(error.to_string());
        let config = serde_json::from_str(game.config.get()).map_err(odd)?;
        let start = game.start.as_any().downcast_ref::<G>().expect("a game of this name");
        let typed = |done: &Move<String>| {
            Ok(match done {
                Move::Answered { seat, answer } => {
                    Move::Answered { seat: *seat, answer: serde_json::from_str(answer)? }
                }
                Move::Removed { seat } => Move::Removed { seat: *seat },
            })
        };
        let moves: Result<Vec<Move<G::Answer>>, _> = game.moves.iter().map(typed).collect();
        self.0.steps(&Played { config: &config, start, moves: &moves.map_err(odd)? }, sample)
    }
}

/// All models, by game.
pub struct Models {
    all: Vec<Box<dyn AnyModel>>,
    /// How many games the whole analysis has.
    games: usize,
}

impl Models {
    /// The models of this crate.
    pub fn standard() -> Models {
        Models { all: Vec::new(), games: 1 }
            .with::<Yahtzee>(crate::YahtzeeModel)
            .with::<Fish>(crate::FishModel)
            .with::<Trains>(crate::TrainsModel)
    }

    /// The same models for an analysis of this many games.
    #[must_use]
    pub fn among(self, games: usize) -> Models {
        Models { games, ..self }
    }

    /// Adds a model.
    #[must_use]
    pub fn with<G: Game>(mut self, model: impl GameModel<G> + 'static) -> Models {
        self.all.push(Box::new(Typed(Box::new(model))));
        self
    }

    /// See [`GameModel::about`]; `None` if no model values the game.
    pub fn about(&self, game: &str) -> Option<&'static str> {
        self.of(game).map(AnyModel::about)
    }

    /// See [`GameModel::has_luck`].
    pub fn has_luck(&self, game: &str) -> bool {
        self.of(game).is_some_and(AnyModel::has_luck)
    }

    /// See [`GameModel::every`], for the games of this analysis.
    pub fn every(&self, game: &str) -> u32 {
        self.of(game).map_or(1, |model| model.every(self.games).max(1))
    }

    /// The steps of a recorded game, in order.
    pub fn steps(&self, game: &RecordedGame) -> Result<Vec<Step>, Refused> {
        let model = self.of(&game.kind).ok_or_else(|| Refused::NoModel(game.kind.clone()))?;
        model.steps(game, Sample::of(game, self.every(&game.kind)))
    }

    fn of(&self, game: &str) -> Option<&dyn AnyModel> {
        self.all.iter().find(|model| model.game() == game).map(|model| &**model)
    }
}

impl Default for Models {
    fn default() -> Models {
        Models::standard()
    }
}

impl std::fmt::Debug for Models {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.all.iter().map(|model| model.game())).finish()
    }
}
