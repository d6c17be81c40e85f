//! The settings of an exam: games, thoroughness and limits.

use crate::doctor::shapes::{Shape, longest, shapes};
use agon_core::{Greeting, MatchRules, Preset};
use agon_games::{GameKind, Registry, Seed};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// An exam that cannot be held.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SettingsError {
    /// No such game.
    #[error("there is no game {0:?}; there are: {1}")]
    Game(String, String),
    /// A configuration that is none.
    #[error("invalid configuration of {0}: {1}")]
    Config(String, String),
}

/// One game to be examined in.
#[derive(Clone)]
pub struct GameExam {
    pub(crate) kind: Arc<dyn GameKind>,
    pub(crate) rules: MatchRules,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) longest: Shape,
    /// True if players propose configurations before a tournament.
    pub(crate) proposals: bool,
    pub(crate) config: String,
}

impl GameExam {
    /// The game called `name`, under the rules of its preset. `config` is what an organiser
    /// changed; without it, all shapes are asked about.
    pub fn new(
        name: &str,
        config: Option<&str>,
        answer_ms: Option<u64>,
    ) -> Result<GameExam, SettingsError> {
        let games = Registry::standard();
        let known = || SettingsError::Game(name.into(), games.names().join(", "));
        let kind = games.kind(name).ok_or_else(known)?;
        let preset = Preset::all().into_iter().find(|preset| preset.game == name);
        let wrong = |why: String| SettingsError::Config(name.into(), why);
        let object = |text: &str| -> Result<Map<String, Value>, SettingsError> {
            serde_json::from_str(text).map_err(|error| wrong(error.to_string()))
        };
        let mut base = object(preset.as_ref().map_or("{}", |preset| preset.config))?;
        if let Some(config) = config {
            base.extend(object(config)?);
        }
        let shapes = shapes(name, &base, kind.seats(), config.is_some());
        // A board may be too small for many players; that is the organiser's to know.
        let mut fitting = shapes.into_iter().map(|shape| {
            let set_up = kind.set_up(&shape.config, shape.seats, &Seed::from_number(0));
            set_up.map(|_| shape)
        });
        let first = fitting.next().expect("a game is for some players");
        let first = first.map_err(|error| wrong(error.to_string()))?;
        let shapes = std::iter::once(first).chain(fitting.filter_map(Result::ok)).collect();
        let policy = preset.map_or_else(
            || Preset::named("yahtzee-class").expect("an existing preset").policy,
            |preset| preset.policy,
        );
        let mut rules = policy.rules;
        rules.time.answer_ms = answer_ms.unwrap_or(rules.time.answer_ms).max(1);
        Ok(GameExam {
            kind: Arc::clone(kind),
            longest: longest(name, &base, *kind.seats().start(), config.is_some()),
            proposals: policy.greeting == Greeting::Proposal,
            config: Value::Object(base).to_string(),
            rules,
            shapes,
        })
    }

    /// All games there are.
    pub fn all(answer_ms: Option<u64>) -> Vec<GameExam> {
        let games = Registry::standard();
        let exams = games.names().into_iter().map(|name| GameExam::new(name, None, answer_ms));
        exams.map(|exam| exam.expect("every game has shapes")).collect()
    }

    pub(crate) fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// How long one answer may take.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_millis(self.rules.time.answer_ms.saturating_add(self.rules.time.bank_ms))
    }
}

impl std::fmt::Debug for GameExam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GameExam").field("game", &self.name()).finish_non_exhaustive()
    }
}

/// The examinations, and how thorough they are.
#[derive(Clone, Debug)]
pub struct ExamSettings {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The games.
    pub games: Vec<GameExam>,
    /// True if the games were named: then a game that the program does not play is a failure.
    pub named: bool,
    /// The number all positions come from.
    pub seed: u64,
    /// Less of everything.
    pub quick: bool,
    /// How long the program may take to say hello.
    pub hello_limit: Duration,
}

impl ExamSettings {
    /// Random positions in every game.
    pub(crate) fn positions(&self) -> usize {
        if self.quick { 60 } else { 400 }
    }

    /// Whole games the candidate plays.
    pub(crate) fn whole_games(&self) -> usize {
        if self.quick { 2 } else { 6 }
    }

    /// Moves at which it is started again.
    pub(crate) fn restarts(&self) -> usize {
        if self.quick { 8 } else { 45 }
    }

    /// At every how many moves of a game.
    pub(crate) fn restart_every(&self) -> usize {
        if self.quick { 4 } else { 1 }
    }

    /// How long one of the large examinations may take before it is cut short.
    pub(crate) fn time_box(&self) -> Duration {
        Duration::from_secs(if self.quick { 20 } else { 60 })
    }
}

/// How far an exam is.
#[derive(Clone, PartialEq, Debug)]
pub struct ExamStep {
    /// The examination that goes on.
    pub exam: &'static str,
    /// Its game.
    pub game: &'static str,
    /// Steps done, and steps there are, roughly.
    pub done: usize,
    /// See `done`.
    pub total: usize,
}
