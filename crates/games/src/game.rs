//! The trait of all games: the rest of Agon knows a game only through it.

use crate::erased::json;
use crate::{Outcome, PublicScore, Refusal, Seat, SeatSet, Seed, SetupError};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::RangeInclusive;

/// The viewer of a game. A view is the only way game state leaves the referee.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Viewer {
    /// The player in a seat: the public view and what only this seat may know.
    Seat(Seat),
    /// Anybody, while the game runs: only what every player may know.
    Public,
    /// Everything, for anybody after the game. Callers use it only once [`Game::outcome`] is
    /// `Some`.
    Full,
}

/// A game's verdict about a configuration that a player proposes (a Trains map).
#[derive(Clone, PartialEq, Debug)]
pub enum Proposal<C> {
    /// Acceptable: the configuration with the proposal in it.
    Fits(C),
    /// Well-formed, but too small for the largest game. This is no fault; ask the next player.
    Unfit(String),
    /// Not a valid proposal, which is the player's fault.
    Refused(Refusal),
}

/// A turn-based game for a few seats, as a value.
///
/// # Contract
/// - The same config, seats, seed and answers give the same game, on every machine and version.
/// - While [`outcome`](Game::outcome) is `None`, [`awaiting`](Game::awaiting) is not empty, and
///   every awaited seat has a [`question`](Game::question) and at least one [`legal`](Game::legal)
///   answer.
/// - [`apply`](Game::apply) accepts exactly what [`check`](Game::check) accepts; a rejected answer
///   changes nothing.
/// - A [`view`](Game::view) for a seat or the public does not depend on anything its reader may not
///   know yet: neither luck not drawn yet nor what others hold or chose in secret.
/// - Any sequence of legal answers and removals ends.
pub trait Game: Clone + Debug + PartialEq + Send + Sync + Sized + 'static {
    /// The game's name on wires and in logs: lower-case letters, digits and dashes.
    const NAME: &'static str;

    /// How many players it is for.
    const SEATS: RangeInclusive<usize>;

    /// The settings of an organiser. `Default` is the game as most people play it; unknown fields
    /// are rejected.
    type Config: Serialize
        + DeserializeOwned
        + JsonSchema
        + Default
        + Clone
        + Debug
        + PartialEq
        + Send
        + Sync;

    /// A question to a seat.
    type Question: Serialize
        + DeserializeOwned
        + JsonSchema
        + Clone
        + Debug
        + PartialEq
        + Send
        + Sync;

    /// An answer of a seat.
    type Answer: Serialize + DeserializeOwned + JsonSchema + Clone + Debug + PartialEq + Send + Sync;

    /// The view of a viewer: one type for seats, public and full view. It holds everything that
    /// its reader may know, so that a player needs no memory.
    type View: Serialize + DeserializeOwned + JsonSchema + Clone + Debug + PartialEq + Send + Sync;

    /// A random draw: dice rolled, cards dealt, a board laid out.
    type Drawn: Serialize;

    /// Sets up a game for `seats` players.
    fn new(config: &Self::Config, seats: usize, seed: &Seed) -> Result<Self, SetupError>;

    /// The colour that the player in a seat has, in games that give players colours.
    fn color_of(_seat: Seat) -> Option<&'static str> {
        None
    }

    /// How many seats the game was set up with.
    fn seats(&self) -> usize;

    /// The seats with an open question. Several at once is normal. Empty once the game is over.
    fn awaiting(&self) -> SeatSet;

    /// The open question of `seat`, if it has one.
    fn question(&self, seat: Seat) -> Option<Self::Question>;

    /// Writes a question as JSON. A game may write the same text directly.
    fn write_question(question: &Self::Question, out: &mut Vec<u8>) {
        write_json(question, out);
    }

    /// Returns whether a question only informs the player and is answered with `"ok"`. Protocols
    /// with notifications may deliver it as one and confirm it for the player.
    fn only_tells(_question: &Self::Question) -> bool {
        false
    }

    /// Reads an answer in its usual spelling, which is faster than reading any JSON. Returns `None`
    /// for all other texts, valid or not.
    fn usual_answer(_text: &str) -> Option<Self::Answer> {
        None
    }

    /// Writes an answer as JSON, in canonical form. A game may write the same text directly.
    fn write_answer(answer: &Self::Answer, out: &mut Vec<u8>) {
        write_json(answer, out);
    }

    /// The game as `viewer` may see it.
    fn view(&self, viewer: Viewer) -> Self::View;

    /// Writes the [`view`](Game::view) as JSON. A game may write the same text directly, without
    /// building the view first.
    fn write_view(&self, viewer: Viewer, out: &mut Vec<u8>) {
        write_json(&self.view(viewer), out);
    }

    /// Writes the view without past turns: what a player needs to decide, and nothing that grows
    /// with the game. Lists of past turns are empty.
    fn write_view_now(&self, viewer: Viewer, out: &mut Vec<u8>) {
        self.write_view(viewer, out);
    }

    /// Checks that `seat` may give this answer now.
    fn check(&self, seat: Seat, answer: &Self::Answer) -> Result<(), Refusal>;

    /// Checks and applies an answer.
    fn apply(&mut self, seat: Seat, answer: &Self::Answer) -> Result<(), Refusal>;

    /// Removes a seat from the game, at any time; it gets no more questions. Removing a seat again,
    /// or after the end, changes nothing.
    fn remove(&mut self, seat: Seat);

    /// The seats that were removed.
    fn removed(&self) -> SeatSet;

    /// Scores and ranks, once the game is over.
    fn outcome(&self) -> Option<Outcome>;

    /// The score that a public view shows; `None` if the game has no score before its end.
    fn public_score(_view: &Self::View) -> Option<PublicScore> {
        None
    }

    /// Every legal answer to `question` for the seat that sees `view`, in a fixed order. Where
    /// several spellings mean the same (dice by value or by position), one of them is listed. A
    /// remote player knows no more than these two.
    fn legal_in(question: &Self::Question, view: &Self::View) -> Vec<Self::Answer>;

    /// Every legal answer of `seat` now, in the order of [`legal_in`](Game::legal_in); empty if it
    /// has no open question.
    fn legal(&self, seat: Seat) -> Vec<Self::Answer> {
        self.question(seat).map_or_else(Vec::new, |question| {
            Self::legal_in(&question, &self.view(Viewer::Seat(seat)))
        })
    }

    /// One legal answer of `seat` now, picked evenly among [`legal`](Game::legal) by 64 random
    /// bits. Games avoid listing all answers if they can: simulations play millions of games with
    /// it. Each game defines which bits pick which answer.
    ///
    /// # Panics
    /// May panic, or return an answer that is rejected, if the seat has no open question.
    fn playout_answer(&self, seat: Seat, choice: u64) -> Self::Answer {
        let mut legal = self.legal(seat);
        let pick = choice % legal.len() as u64;
        legal.swap_remove(pick as usize)
    }

    /// The random draw of the latest step (set-up, answer or removal), if any: dice rolled, cards
    /// drawn, a board laid out. Logs keep it, so that it can be verified later.
    fn drawn(&self) -> Option<Self::Drawn>;

    /// Writes [`drawn`](Game::drawn) as JSON. Writes nothing and returns `false` if there is none. A
    /// game may write the same text directly.
    fn write_drawn(&self, out: &mut Vec<u8>) -> bool {
        let drawn = self.drawn();
        drawn.is_some_and(|drawn| {
            write_json(&drawn, out);
            true
        })
    }

    /// [`drawn`](Game::drawn) as a JSON value, for tests and tools.
    fn drawn_value(&self) -> Option<serde_json::Value> {
        self.drawn().map(|drawn| serde_json::to_value(&drawn).expect("drawn values are JSON"))
    }

    /// The position as text for people, from the full view. `names` are the players by seat;
    /// `colour` allows ANSI colours.
    fn render(&self, names: &[String], colour: bool) -> String;

    /// The position as the reader of `view` may see it, as text for people. Players and observers
    /// elsewhere have only a view; [`render`](Game::render) draws the full one.
    fn draw(view: &Self::View, _names: &[String], _colour: bool) -> String {
        format!("{}\n", serde_json::to_string_pretty(view).expect("views are JSON"))
    }

    /// The question as a sentence for a person.
    fn ask(question: &Self::Question, _view: &Self::View) -> String {
        format!("Your answer to {}, as JSON?", json(question))
    }

    /// An answer as a person would type it: [`understand`](Game::understand) reads it back.
    fn phrase(answer: &Self::Answer, _question: &Self::Question, _view: &Self::View) -> String {
        json(answer).to_string()
    }

    /// Parses a person's input; an error explains to that person what is wrong. The answer is
    /// legal, as far as the view shows.
    fn understand(
        text: &str,
        question: &Self::Question,
        view: &Self::View,
    ) -> Result<Self::Answer, String> {
        let answer = serde_json::from_str(text).map_err(|error| format!("no answer: {error}"))?;
        match Self::legal_in(question, view).contains(&answer) {
            true => Ok(answer),
            false => Err("that is against the rules here".into()),
        }
    }

    /// Examples of a person's input.
    fn examples(_question: &Self::Question) -> &'static str {
        "an answer as JSON"
    }

    /// One answer as a sentence for people, without the player's name: "keeps 6 6 6 and rolls two
    /// dice: 6 2". `before` is the position it was given in, `self` the one after.
    fn tell(&self, before: &Self, seat: Seat, answer: &Self::Answer) -> String;

    /// The configuration under which an undecidable match (too many ties in a row) is replayed, if
    /// it differs: Yahtzee switches to independent dice.
    fn after_undecidable(config: &Self::Config) -> Self::Config {
        config.clone()
    }

    /// Judges a configuration proposed by a player before a tournament whose largest game has
    /// `seats_max` players.
    fn propose(
        _config: &Self::Config,
        _proposal: &str,
        _seats_max: usize,
    ) -> Proposal<Self::Config> {
        Proposal::Refused(Refusal::malformed(format!("{} takes no proposals", Self::NAME)))
    }
}

/// Writes a value as JSON.
pub(crate) fn write_json<T: Serialize>(value: &T, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("types that cross a wire are JSON");
}
