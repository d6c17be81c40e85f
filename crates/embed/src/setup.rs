//! The set-up of a game: configuration, luck, players, observers and time limits.

use crate::observers::Observers;
use crate::player::{GameUpdate, LocalPlayer, SeatedPlayer};
use crate::player_thread::PlayerThread;
use crate::report::FinalReport;
use crate::running::RunningGame;
use agon_games::{Game, Seat, Seed, SetupError};
use std::collections::BTreeSet;
use std::time::Duration;

/// The default time limit for an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// How long the end of a game waits until players and observers are notified.
const DELIVERY_LIMIT: Duration = Duration::from_secs(1);

/// The longest that the end of a game may wait.
const DELIVERY_LIMIT_MAX: Duration = Duration::from_secs(3_600);

/// A player's id, name and age.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerInfo {
    id: String,
    name: String,
    age: Option<u32>,
}

impl PlayerInfo {
    /// A player with an id that is unique in its game, and a name that need not be.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> PlayerInfo {
        PlayerInfo { id: id.into(), name: name.into(), age: None }
    }

    /// Gives the player's age.
    #[must_use]
    pub fn age(self, years: u32) -> PlayerInfo {
        PlayerInfo { age: Some(years), ..self }
    }
}

/// A player whose name is its id.
impl From<&str> for PlayerInfo {
    fn from(name: &str) -> PlayerInfo {
        PlayerInfo::new(name, name)
    }
}

/// The order of seats where ages are known. Players without an age come after those with one, in
/// the order in which they were added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AgeOrder {
    /// In ascending age, as the rules of Fish say.
    #[default]
    YoungestFirst,
    /// In descending age, as the rules of Trains say.
    OldestFirst,
}

/// Why a game cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The rules refuse the configuration or the number of players.
    #[error(transparent)]
    SetUp(#[from] SetupError),
    /// Two players have one id.
    #[error("two players have the id {0:?}; give each player an id of its own")]
    SameId(String),
    /// The system has no thread left for a player or an observer.
    #[error("failed to start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A game to be played.
pub struct GameSetup<G: Game> {
    config: G::Config,
    seed: Seed,
    answer_limit: Duration,
    delivery_limit: Duration,
    age_order: AgeOrder,
    players: Vec<(PlayerInfo, Box<dyn LocalPlayer<G>>)>,
    observers: Observers<G>,
    /// The first subscription that failed; reported when the game starts.
    failed: Option<std::io::Error>,
}

impl<G: Game> GameSetup<G> {
    /// A game under `config`. Its luck comes from seed number 0 until another seed is given.
    pub fn new(config: G::Config) -> GameSetup<G> {
        GameSetup {
            config,
            seed: Seed::from_number(0),
            answer_limit: ANSWER_LIMIT,
            delivery_limit: DELIVERY_LIMIT,
            age_order: AgeOrder::default(),
            players: Vec::new(),
            observers: Observers::new(),
            failed: None,
        }
    }

    /// Takes luck from a seed.
    #[must_use]
    pub fn seed(self, seed: Seed) -> Self {
        GameSetup { seed, ..self }
    }

    /// Takes luck from a number.
    #[must_use]
    pub fn seed_number(self, number: u64) -> Self {
        self.seed(Seed::from_number(number))
    }

    /// How long a player may take for an answer; 10 seconds by default.
    #[must_use]
    pub fn answer_limit(self, answer_limit: Duration) -> Self {
        GameSetup { answer_limit, ..self }
    }

    /// How long the end of the game waits for players and observers that are still busy with
    /// notifications; one second by default, an hour at most.
    #[must_use]
    pub fn delivery_limit(self, delivery_limit: Duration) -> Self {
        GameSetup { delivery_limit: delivery_limit.min(DELIVERY_LIMIT_MAX), ..self }
    }

    /// Sets the order of seats where ages are known; the youngest sits first by default.
    #[must_use]
    pub fn age_order(self, age_order: AgeOrder) -> Self {
        GameSetup { age_order, ..self }
    }

    /// Adds a player, by name or with a [`PlayerInfo`]. Seats follow ages where they are given, and
    /// the order of calls otherwise.
    #[must_use]
    pub fn player(mut self, info: impl Into<PlayerInfo>, player: impl LocalPlayer<G>) -> Self {
        self.players.push((info.into(), Box::new(player)));
        self
    }

    /// Calls `callback` after every change; see [`Observers::subscribe_game_updates`].
    #[must_use]
    pub fn subscribe_game_updates(
        mut self,
        callback: impl FnMut(&GameUpdate<G>) + Send + 'static,
    ) -> Self {
        self.failed = self.failed.or(self.observers.subscribe_game_updates(callback).err());
        self
    }

    /// Calls `callback` with the final report; see [`Observers::subscribe_final_game_report`].
    #[must_use]
    pub fn subscribe_final_game_report(
        mut self,
        callback: impl FnMut(&FinalReport) + Send + 'static,
    ) -> Self {
        self.failed = self.failed.or(self.observers.subscribe_final_game_report(callback).err());
        self
    }

    /// A handle for subscribing at any time.
    pub fn observers(&self) -> Observers<G> {
        self.observers.clone()
    }

    /// Sets up the game, seats the players and tells them so.
    ///
    /// # Errors
    /// If the rules refuse the configuration, for example a Fish board that cannot hold all
    /// penguins; if two players share an id; if a thread cannot be started.
    pub fn start(mut self) -> Result<RunningGame<G>, StartError> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let count = self.players.len();
        if !G::SEATS.contains(&count) {
            let (min, max) = (*G::SEATS.start(), *G::SEATS.end());
            return Err(SetupError::Seats { game: G::NAME, min, max, given: count }.into());
        }
        let mut ids = BTreeSet::new();
        if let Some((info, _)) = self.players.iter().find(|(info, _)| !ids.insert(&info.id)) {
            return Err(StartError::SameId(info.id.clone()));
        }
        let game = G::new(&self.config, count, &self.seed)?;
        let order = self.age_order;
        self.players.sort_by_key(|(info, _)| match (info.age, order) {
            (None, _) => i64::MAX,
            (Some(age), AgeOrder::YoungestFirst) => i64::from(age),
            (Some(age), AgeOrder::OldestFirst) => -i64::from(age),
        });
        let mut seated = Vec::with_capacity(count);
        for (seat, (info, player)) in Seat::all(count).zip(self.players) {
            let PlayerInfo { id, name, .. } = info;
            let thread = PlayerThread::spawn(&id, player)?;
            seated.push((SeatedPlayer { seat, id, name, color: G::color_of(seat) }, thread));
        }
        let limits = (self.answer_limit, self.delivery_limit);
        Ok(RunningGame::start(game, seated, self.observers, limits))
    }

    /// Plays the game to its end.
    ///
    /// # Errors
    /// As [`start`](GameSetup::start).
    pub fn run(self) -> Result<FinalReport, StartError> {
        self.start().map(RunningGame::run)
    }
}

impl<G: Game> std::fmt::Debug for GameSetup<G> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ids: Vec<&str> = self.players.iter().map(|(info, _)| info.id.as_str()).collect();
        f.debug_struct("GameSetup").field("game", &G::NAME).field("players", &ids).finish()
    }
}
