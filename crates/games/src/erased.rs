//! Games chosen at run time: the same trait without its types, with JSON, and the registry of all
//! games. A new game is one folder and one line in [`Registry::standard`].

use crate::{
    Game, Outcome, Proposal, PublicScore, Refusal, Seat, SeatSet, Seed, SetupError, Viewer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::any::Any;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

/// One JSON value as text.
pub type Json = Box<RawValue>;

/// A value as JSON text.
///
/// # Panics
/// If the value cannot be JSON (a map with keys that are not strings), which is a bug of its type.
pub fn json<T: Serialize + ?Sized>(value: &T) -> Json {
    serde_json::value::to_raw_value(value).expect("types that cross a wire are JSON")
}

/// A kind of game, such as Fish, before any is set up.
pub trait GameKind: Send + Sync {
    /// The game's name on wires and in logs.
    fn name(&self) -> &'static str;

    /// How many players it is for.
    fn seats(&self) -> RangeInclusive<usize>;

    /// The default configuration.
    fn default_config(&self) -> Json;

    /// JSON Schemas of its questions, views, answers and configurations, under `$defs`.
    fn schemas(&self) -> serde_json::Value;

    /// The configuration in full (defaults filled in) and in canonical form, or why it is not one.
    fn check_config(&self, config: &str) -> Result<Json, SetupError>;

    /// Sets up a game.
    fn set_up(
        &self,
        config: &str,
        seats: usize,
        seed: &Seed,
    ) -> Result<Box<dyn GameState>, SetupError>;

    /// See [`Game::after_undecidable`].
    fn after_undecidable(&self, config: &str) -> Result<Json, SetupError>;

    /// The luck of each seat in a game of this kind so far; `None` if nobody can measure it. See
    /// [`LuckMeasure`].
    fn luck(&self, config: &str, game: &dyn GameState) -> Option<Vec<i64>>;

    /// See [`Game::propose`].
    fn propose(&self, config: &str, proposal: &str, seats_max: usize) -> Proposal<Json>;

    /// See [`Game::draw`]. Rejects text that is no view of this game.
    fn draw(&self, view: &str, names: &[String], colour: bool) -> Result<String, Refusal>;

    /// A question as text for a person, with every legal answer.
    fn ask(&self, question: &str, view: &str) -> Result<QuestionText, Refusal>;

    /// See [`Game::understand`].
    fn understand(&self, text: &str, question: &str, view: &str) -> Result<Json, String>;
}

/// A question to a person.
#[derive(Debug)]
pub struct QuestionText {
    /// See [`Game::ask`].
    pub words: String,
    /// See [`Game::examples`].
    pub examples: &'static str,
    /// Every legal answer, as a person would type it and as JSON.
    pub choices: Vec<(String, Json)>,
}

/// One game in progress, of some kind.
pub trait GameState: Send + Sync + fmt::Debug {
    /// The game's name.
    fn name(&self) -> &'static str;
    /// See [`Game::seats`].
    fn seats(&self) -> usize;
    /// See [`Game::awaiting`].
    fn awaiting(&self) -> SeatSet;
    /// See [`Game::question`].
    fn question(&self, seat: Seat) -> Option<Json>;
    /// See [`Game::only_tells`]; `false` if the seat has no open question.
    fn only_tells(&self, seat: Seat) -> bool;
    /// See [`Game::view`].
    fn view(&self, viewer: Viewer) -> Json;
    /// See [`Game::write_view`].
    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>);
    /// See [`Game::write_view_now`].
    fn write_view_now(&self, viewer: Viewer, out: &mut Vec<u8>);
    /// Writes the [`question`](GameState::question) as JSON. Writes nothing and returns `false` if
    /// there is none.
    fn write_question(&self, seat: Seat, out: &mut Vec<u8>) -> bool;
    /// Parses and checks an answer; returns it in canonical form.
    fn check(&self, seat: Seat, answer: &str) -> Result<Json, Refusal>;
    /// Parses, checks and applies an answer; returns it in canonical form. A rejected answer
    /// changes nothing.
    fn apply(&mut self, seat: Seat, answer: &str) -> Result<Json, Refusal>;
    /// Like [`apply`](GameState::apply), and appends the canonical form to `out`.
    fn apply_to(&mut self, seat: Seat, answer: &str, out: &mut Vec<u8>) -> Result<(), Refusal>;
    /// See [`Game::remove`].
    fn remove(&mut self, seat: Seat);
    /// See [`Game::removed`].
    fn removed(&self) -> SeatSet;
    /// See [`Game::outcome`].
    fn outcome(&self) -> Option<Outcome>;
    /// See [`Game::public_score`].
    fn public_score(&self) -> Option<PublicScore>;
    /// See [`Game::legal`].
    fn legal(&self, seat: Seat) -> Vec<Json>;
    /// See [`Game::drawn`].
    fn drawn(&self) -> Option<Json>;
    /// See [`Game::write_drawn`].
    fn write_drawn(&self, out: &mut Vec<u8>) -> bool;
    /// See [`Game::render`].
    fn render(&self, names: &[String], colour: bool) -> String;
    /// See [`Game::tell`]; `before` must be a game of the same kind.
    fn tell(&self, before: &dyn GameState, seat: Seat, answer: &str) -> String;
    /// A copy.
    fn boxed_clone(&self) -> Box<dyn GameState>;
    /// Returns whether `other` is the same game in the same state.
    fn same(&self, other: &dyn GameState) -> bool;
    /// The game itself, for house players that know its type.
    fn as_any(&self) -> &dyn Any;
}

impl Clone for Box<dyn GameState> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

impl PartialEq for dyn GameState {
    fn eq(&self, other: &Self) -> bool {
        self.same(other)
    }
}

/// Measures the luck of each seat in a game so far, in whole points: by how much random draws
/// raised the expected score. `None` if the luck of games with this configuration cannot be
/// measured. Equal games have equal luck on every machine, because the log keeps it.
pub type LuckMeasure<G> = fn(&<G as Game>::Config, &G) -> Option<Vec<i64>>;

/// All games a program knows, by name.
#[derive(Clone)]
pub struct Registry {
    kinds: Vec<Arc<dyn GameKind>>,
}

impl Registry {
    /// The games of this crate.
    pub fn standard() -> Registry {
        Registry { kinds: Vec::new() }
            .with::<crate::yahtzee::Yahtzee>()
            .with::<crate::fish::Fish>()
            .with::<crate::trains::Trains>()
    }

    /// Adds a game.
    ///
    /// # Panics
    /// If there already is a game of that name.
    #[must_use]
    pub fn with<G: Game>(mut self) -> Registry {
        assert!(self.kind(G::NAME).is_none(), "two games are called {}", G::NAME);
        self.kinds.push(Arc::new(Kind::<G> { latest: Mutex::new(None), luck: None }));
        self
    }

    /// Gives one of the games a measure of luck.
    ///
    /// # Panics
    /// If there is no such game.
    #[must_use]
    pub fn with_luck<G: Game>(mut self, luck: LuckMeasure<G>) -> Registry {
        let kind = self.kinds.iter_mut().find(|kind| kind.name() == G::NAME);
        let measured = Kind::<G> { latest: Mutex::new(None), luck: Some(luck) };
        *kind.expect("a game of this registry") = Arc::new(measured);
        self
    }

    /// The game called `name`.
    pub fn kind(&self, name: &str) -> Option<&Arc<dyn GameKind>> {
        self.kinds.iter().find(|kind| kind.name() == name)
    }

    /// All names, in order of registration.
    pub fn names(&self) -> Vec<&'static str> {
        self.kinds.iter().map(|kind| kind.name()).collect()
    }
}

impl Default for Registry {
    fn default() -> Registry {
        Registry::standard()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

struct Kind<G: Game> {
    /// The latest configuration, with its text: the games of a tournament share one, and parsing a
    /// map takes longer than setting up a game on it.
    latest: Mutex<Option<Read<G>>>,
    luck: Option<LuckMeasure<G>>,
}

/// A configuration and the text it was parsed from.
type Read<G> = (Box<str>, Arc<<G as Game>::Config>);

impl<G: Game> Kind<G> {
    fn config(&self, text: &str) -> Result<Arc<G::Config>, SetupError> {
        let mut latest = self.latest.lock().unwrap_or_else(|broken| broken.into_inner());
        if let Some((known, config)) = &*latest
            && **known == *text
        {
            return Ok(Arc::clone(config));
        }
        let config: G::Config = serde_json::from_str(text)
            .map_err(|error| SetupError::Config(format!("{} for {}", error, G::NAME)))?;
        let config = Arc::new(config);
        *latest = Some((text.into(), Arc::clone(&config)));
        Ok(config)
    }
}

impl<G: Game> GameKind for Kind<G> {
    fn name(&self) -> &'static str {
        G::NAME
    }

    fn seats(&self) -> RangeInclusive<usize> {
        G::SEATS
    }

    fn default_config(&self) -> Json {
        json(&G::Config::default())
    }

    fn schemas(&self) -> serde_json::Value {
        crate::schema::of_game::<G>()
    }

    fn check_config(&self, config: &str) -> Result<Json, SetupError> {
        Ok(json(&*self.config(config)?))
    }

    fn set_up(
        &self,
        config: &str,
        seats: usize,
        seed: &Seed,
    ) -> Result<Box<dyn GameState>, SetupError> {
        if !G::SEATS.contains(&seats) {
            let (min, max) = (*G::SEATS.start(), *G::SEATS.end());
            return Err(SetupError::Seats { game: G::NAME, min, max, given: seats });
        }
        Ok(Box::new(State(G::new(&*self.config(config)?, seats, seed)?)))
    }

    fn after_undecidable(&self, config: &str) -> Result<Json, SetupError> {
        Ok(json(&G::after_undecidable(&*self.config(config)?)))
    }

    fn luck(&self, config: &str, game: &dyn GameState) -> Option<Vec<i64>> {
        let (measure, config) = (self.luck?, self.config(config).ok()?);
        measure(&config, game.as_any().downcast_ref::<G>()?)
    }

    fn propose(&self, config: &str, proposal: &str, seats_max: usize) -> Proposal<Json> {
        let config = match self.config(config) {
            Ok(config) => config,
            Err(error) => return Proposal::Unfit(error.to_string()),
        };
        match G::propose(&config, proposal, seats_max) {
            Proposal::Fits(config) => Proposal::Fits(json(&config)),
            Proposal::Unfit(why) => Proposal::Unfit(why),
            Proposal::Refused(refusal) => Proposal::Refused(refusal),
        }
    }

    fn draw(&self, view: &str, names: &[String], colour: bool) -> Result<String, Refusal> {
        Ok(G::draw(&parse(view)?, names, colour))
    }

    fn ask(&self, question: &str, view: &str) -> Result<QuestionText, Refusal> {
        let (question, view) = (parse(question)?, parse(view)?);
        let legal = G::legal_in(&question, &view);
        let choices = legal.iter().map(|a| (G::phrase(a, &question, &view), json(a))).collect();
        let words = G::ask(&question, &view);
        Ok(QuestionText { words, examples: G::examples(&question), choices })
    }

    fn understand(&self, text: &str, question: &str, view: &str) -> Result<Json, String> {
        let question = parse(question).map_err(|refusal| refusal.to_string())?;
        let view = parse(view).map_err(|refusal| refusal.to_string())?;
        G::understand(text, &question, &view).map(|answer| json(&answer))
    }
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    serde_json::from_str(text).map_err(|error| Refusal::malformed(error.to_string()))
}

fn read_answer<G: Game>(text: &str) -> Result<G::Answer, Refusal> {
    G::usual_answer(text).map_or_else(|| parse(text), Ok)
}

#[derive(Debug, Clone, PartialEq)]
struct State<G>(G);

impl<G: Game> GameState for State<G> {
    fn name(&self) -> &'static str {
        G::NAME
    }

    fn seats(&self) -> usize {
        self.0.seats()
    }

    fn awaiting(&self) -> SeatSet {
        self.0.awaiting()
    }

    fn question(&self, seat: Seat) -> Option<Json> {
        self.0.question(seat).map(|question| json(&question))
    }

    fn only_tells(&self, seat: Seat) -> bool {
        self.0.question(seat).is_some_and(|question| G::only_tells(&question))
    }

    fn view(&self, viewer: Viewer) -> Json {
        json(&self.0.view(viewer))
    }

    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.0.write_view(viewer, out);
    }

    fn write_view_now(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.0.write_view_now(viewer, out);
    }

    fn write_question(&self, seat: Seat, out: &mut Vec<u8>) -> bool {
        let question = self.0.question(seat);
        question.is_some_and(|question| {
            G::write_question(&question, out);
            true
        })
    }

    fn check(&self, seat: Seat, answer: &str) -> Result<Json, Refusal> {
        let answer = read_answer::<G>(answer)?;
        self.0.check(seat, &answer)?;
        Ok(json(&answer))
    }

    fn apply(&mut self, seat: Seat, answer: &str) -> Result<Json, Refusal> {
        let answer = read_answer::<G>(answer)?;
        self.0.apply(seat, &answer)?;
        Ok(json(&answer))
    }

    fn apply_to(&mut self, seat: Seat, answer: &str, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let answer = read_answer::<G>(answer)?;
        self.0.apply(seat, &answer)?;
        G::write_answer(&answer, out);
        Ok(())
    }

    fn remove(&mut self, seat: Seat) {
        self.0.remove(seat);
    }

    fn removed(&self) -> SeatSet {
        self.0.removed()
    }

    fn outcome(&self) -> Option<Outcome> {
        self.0.outcome()
    }

    fn public_score(&self) -> Option<PublicScore> {
        G::public_score(&self.0.view(Viewer::Public))
    }

    fn legal(&self, seat: Seat) -> Vec<Json> {
        self.0.legal(seat).iter().map(json).collect()
    }

    fn drawn(&self) -> Option<Json> {
        self.0.drawn().map(|drawn| json(&drawn))
    }

    fn write_drawn(&self, out: &mut Vec<u8>) -> bool {
        self.0.write_drawn(out)
    }

    fn render(&self, names: &[String], colour: bool) -> String {
        self.0.render(names, colour)
    }

    fn tell(&self, before: &dyn GameState, seat: Seat, answer: &str) -> String {
        let before = before.as_any().downcast_ref::<G>().expect("a game of the same kind");
        match read_answer::<G>(answer) {
            Ok(answer) => self.0.tell(before, seat, &answer),
            Err(refusal) => refusal.to_string(),
        }
    }

    fn boxed_clone(&self) -> Box<dyn GameState> {
        Box::new(self.clone())
    }

    fn same(&self, other: &dyn GameState) -> bool {
        other.as_any().downcast_ref::<G>() == Some(&self.0)
    }

    fn as_any(&self) -> &dyn Any {
        &self.0
    }
}

#[cfg(test)]
mod tests;
