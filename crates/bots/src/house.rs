//! The interface of house players, and the list of them by game and name.

use crate::{Random, fish, trains, yahtzee};
use agon_games::fish::Fish;
use agon_games::trains::Trains;
use agon_games::yahtzee::Yahtzee;
use agon_games::{Game, GameState, Json, Seat, Viewer, json};
use std::fmt;
use std::time::Duration;

/// One request to a house player.
#[derive(Debug)]
pub struct Ask<'a, G: Game> {
    /// The player's name in the tournament.
    pub player: &'a str,
    /// The request's id. The same id is the same request.
    pub key: &'a str,
    /// The player's seat.
    pub seat: Seat,
    /// The question.
    pub question: &'a G::Question,
    /// The view of the seat: everything that the player may know.
    pub view: &'a G::View,
}

/// A program that plays `G`.
pub trait Bot<G: Game>: Send {
    /// Answers a request. House players answer at once; players that search bound their search.
    fn answer(&mut self, ask: &Ask<'_, G>) -> G::Answer;

    /// The player's proposal when a tournament asks for one (a Trains map), as JSON text.
    fn propose(&mut self) -> Option<Json> {
        None
    }

    /// Sets the time limit of the answers that follow. Players that search bound their search by
    /// a number of steps, so that they are repeatable, and stop early if the time runs out.
    fn limit_time(&mut self, limit: Duration) {
        let _ = limit;
    }
}

impl<G: Game> Bot<G> for Box<dyn Bot<G>> {
    fn answer(&mut self, ask: &Ask<'_, G>) -> G::Answer {
        (**self).answer(ask)
    }

    fn propose(&mut self) -> Option<Json> {
        (**self).propose()
    }

    fn limit_time(&mut self, limit: Duration) {
        (**self).limit_time(limit);
    }
}

/// Why no house player was found, or why it cannot answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum HouseError {
    /// No house player of that name plays that game.
    #[error("no house player {name:?} for {game}; there are: {known}")]
    Unknown {
        /// The requested game.
        game: String,
        /// The requested name.
        name: String,
        /// The known names, comma-separated.
        known: String,
    },
    /// The request does not fit the player's game.
    #[error("the request does not fit the game: {0}")]
    Request(String),
}

/// A house player of any game.
pub trait HousePlayer: Send {
    /// Answers for `seat` of a game in this process. Uses only the seat's view.
    ///
    /// # Panics
    /// If the game is of another kind or the seat has no question: both are bugs of the caller.
    fn answer(&mut self, player: &str, key: &str, seat: Seat, game: &dyn GameState) -> Json;

    /// Answers a request that came over a wire.
    fn answer_text(
        &mut self,
        player: &str,
        key: &str,
        seat: Seat,
        question: &str,
        view: &str,
    ) -> Result<Json, HouseError>;

    /// See [`Bot::propose`].
    fn propose(&mut self) -> Option<Json>;

    /// See [`Bot::limit_time`].
    fn limit_time(&mut self, limit: Duration);
}

struct Typed<G: Game>(Box<dyn Bot<G>>);

impl<G: Game> HousePlayer for Typed<G> {
    fn answer(&mut self, player: &str, key: &str, seat: Seat, game: &dyn GameState) -> Json {
        let game = game.as_any().downcast_ref::<G>().expect("a game this player plays");
        let question = game.question(seat).expect("a seat that is asked");
        let view = game.view(Viewer::Seat(seat));
        json(&self.0.answer(&Ask { player, key, seat, question: &question, view: &view }))
    }

    fn answer_text(
        &mut self,
        player: &str,
        key: &str,
        seat: Seat,
        question: &str,
        view: &str,
    ) -> Result<Json, HouseError> {
        let refuse = |error: serde_json::Error| HouseError::Request(error.to_string());
        let question = serde_json::from_str(question).map_err(refuse)?;
        let view = serde_json::from_str(view).map_err(refuse)?;
        Ok(json(&self.0.answer(&Ask { player, key, seat, question: &question, view: &view })))
    }

    fn propose(&mut self) -> Option<Json> {
        self.0.propose()
    }

    fn limit_time(&mut self, limit: Duration) {
        self.0.limit_time(limit);
    }
}

type Make = Box<dyn Fn(&str) -> Option<Box<dyn HousePlayer>> + Send + Sync>;

struct Entry {
    game: &'static str,
    /// The name as people write it; `search:D` for names with a parameter.
    shown: &'static str,
    about: &'static str,
    make: Make,
}

/// How many levels of strength each game has.
pub const LEVELS: usize = 5;

const LEVEL_NAMES: [&str; LEVELS] = ["level-1", "level-2", "level-3", "level-4", "level-5"];

/// All house players, by game and name.
pub struct Houses {
    entries: Vec<Entry>,
}

impl Houses {
    /// The players that come with this crate.
    pub fn standard() -> Houses {
        Houses { entries: Vec::new() }
            .with_random::<Yahtzee>()
            .with::<Yahtzee, yahtzee::Greedy>("greedy", "the most points in the turn at hand")
            .with::<Yahtzee, yahtzee::Optimal>("optimal", "the highest mean score there can be")
            .with::<Yahtzee, yahtzee::Champion>(
                "champion",
                "the strongest: plays for the win against the opponent's card",
            )
            .with_levels::<Yahtzee>(
                yahtzee::level,
                [
                    "greedy, but three answers in ten are random",
                    "the most points in the turn at hand",
                    "optimal, but four answers in ten are greedy",
                    "the highest mean score there can be",
                    "the champion",
                ],
            )
            .with_random::<Fish>()
            .with::<Fish, fish::Greedy>(
                "greedy",
                "first free tile; the most fish with the next move",
            )
            .with_parameter::<Fish, fish::Searcher>(
                "search:D",
                "looks D own moves ahead, 1 to 6; plain search is search:2",
                fish::Searcher::named,
            )
            .with::<Fish, fish::Richest>(
                "richest",
                "the richest free tile; looks two own moves ahead",
            )
            .with::<Fish, fish::Champion>(
                "champion",
                "searches placements and moves as deep as it can; plays endgames exactly",
            )
            .with_levels::<Fish>(
                |level| Box::new(fish::Champion::level(level)),
                [
                    "every second answer random, the others one step ahead",
                    "every fifth answer random, the others one step ahead",
                    "looks one step ahead",
                    "looks three steps ahead",
                    "the champion",
                ],
            )
            .with::<Trains, trains::Anything>(
                "random",
                "any legal answer, each as likely as the other",
            )
            .with::<Trains, trains::Greedy>("greedy", "joins its destinations, then builds on")
            .with::<Trains, trains::HoldTen>("hold-10", "buys the first it can with over ten cards")
            .with::<Trains, trains::BuyNow>("buy-now", "buys the first it can at once")
            .with::<Trains, trains::Champion>(
                "champion",
                "plays every choice out many times against models of the others",
            )
            .with::<Trains, trains::Cheat>("cheat", "asks for a connection that is not there")
            .with_levels::<Trains>(
                |level| Box::new(trains::Champion::level(level)),
                [
                    "every second answer random, the others by a plan",
                    "every fifth answer random, the others by a plan",
                    "joins its destinations on a joint plan, then extends its longest path",
                    "plays every choice out a few times",
                    "the champion",
                ],
            )
    }

    /// Adds a player of a fixed name.
    #[must_use]
    pub fn with<G: Game, B: Bot<G> + Default + 'static>(
        self,
        name: &'static str,
        about: &'static str,
    ) -> Houses {
        self.with_parameter::<G, B>(name, about, move |given| (given == name).then(|| B::default()))
    }

    /// Adds a player whose name carries a parameter. `make` gets the name as written and returns
    /// `None` if it is not a name of this player.
    #[must_use]
    pub fn with_parameter<G: Game, B: Bot<G> + 'static>(
        mut self,
        shown: &'static str,
        about: &'static str,
        make: impl Fn(&str) -> Option<B> + Send + Sync + 'static,
    ) -> Houses {
        let make: Make = Box::new(move |given| {
            make(given).map(|bot| Box::new(Typed::<G>(Box::new(bot))) as Box<dyn HousePlayer>)
        });
        self.entries.push(Entry { game: G::NAME, shown, about, make });
        self
    }

    /// Adds the players `level-1` to `level-5`, weakest first. `make` gets the number of a level.
    #[must_use]
    pub fn with_levels<G: Game>(
        mut self,
        make: fn(u8) -> Box<dyn Bot<G>>,
        about: [&'static str; LEVELS],
    ) -> Houses {
        for ((level, name), about) in (1..).zip(LEVEL_NAMES).zip(about) {
            let named = move |given: &str| (given == name).then(|| make(level));
            self = self.with_parameter::<G, Box<dyn Bot<G>>>(name, about, named);
        }
        self
    }

    /// Adds the player that plays a random legal answer.
    #[must_use]
    pub fn with_random<G: Game>(self) -> Houses {
        self.with::<G, Random>("random", "any legal answer, each as likely as the other")
    }

    /// The player called `name` in `game`.
    pub fn make(&self, game: &str, name: &str) -> Result<Box<dyn HousePlayer>, HouseError> {
        let of_game = || self.entries.iter().filter(|entry| entry.game == game);
        of_game().find_map(|entry| (entry.make)(name)).ok_or_else(|| {
            let known: Vec<&str> = of_game().map(|entry| entry.shown).collect();
            HouseError::Unknown { game: game.into(), name: name.into(), known: known.join(", ") }
        })
    }

    /// Names and descriptions of the players of `game`.
    pub fn list(&self, game: &str) -> Vec<(&'static str, &'static str)> {
        let of_game = self.entries.iter().filter(|entry| entry.game == game);
        of_game.map(|entry| (entry.shown, entry.about)).collect()
    }
}

impl Default for Houses {
    fn default() -> Houses {
        Houses::standard()
    }
}

impl fmt::Debug for Houses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|e| (e.game, e.shown))).finish()
    }
}
