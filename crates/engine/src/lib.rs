//! The engine: all live machines as one deterministic component. Inputs come in, effects go out.
//!
//! ```text
//!   inputs                         engine                                effects
//!   Opened Said Closed    ──▶ sessions ──▶ lobby ──▶ tournaments  ──▶  Send Ask Call Close
//!   Delivered Checked         (who is          │          │            CheckPassword AskHouse
//!   Committed Refused          connected)      ▼          ▼            Append
//!   House Query Stop                       journals ◀── matches        KeepSnapshot Note
//!   elapse(time)          ──▶ timers       (records in flight,         Show Reply
//!                                           and their follow-ups)
//! ```
//!
//! The engine has no clock, no thread, no channel and no socket. Time and randomness come in, and
//! the driver carries the effects out. The engine guarantees the order: decide, commit, then send.
//! The follow-ups of a record wait in its stream's journal until the log reports the record as
//! durable. A match sends its players messages only while none of its records is in flight.

#![forbid(unsafe_code)]

mod announce;
mod ask;
mod attach;
mod away;
mod blacklist;
pub mod delay;
mod effect;
mod follow_up;
mod house;
mod input;
mod interrupt;
mod journal;
mod live_match;
mod lobby;
mod matches;
pub mod names;
mod news;
mod notes;
mod operator;
pub mod password;
mod peer_observers;
mod peers;
mod ports;
mod presence;
pub mod query;
mod recover;
mod results;
mod seat;
pub mod seat_side;
mod sessions;
pub mod show;
mod snapshots;
mod stop;
mod timers;
mod tournaments;
mod translated;
mod wanted;
pub mod watch;

pub use agon_core::MatchKey;
use agon_core::lobby::Lobby;
use agon_core::{ApplyError, BadLine, Millis, PlayerName, RecoveredMatch, TournamentId};
use agon_games::Registry;
pub use announce::{AnnounceError, check_announcement};
pub use ask::GameCounts;
pub use effect::{
    AskId, CloseReason, Effect, Effects, HouseQuestion, LineRange, LoginOutcome, Note,
    PasswordCheck, PasswordResult, PeerAsk, Record, Tell,
};
pub use input::{BadReply, Input, PeerSaid, Time, TranslatedAnswer};
use journal::Journals;
pub use journal::StreamKey;
use live_match::Matches;
use news::News;
pub use operator::NotObeyed;
use peer_observers::PeerObservers;
use ports::Entropy;
pub use ports::{HousePlayers, LobbySnapshot, ReadError, StreamReader};
pub use query::QueryId;
pub use results::Report;
pub use seat::Wires;
pub use seat::{Form, Seat, Wire};
pub use seat_side::Peers;
pub use sessions::ConnId;
use sessions::Sessions;
use snapshots::Snapshots;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use timers::{Timer, Timers};
use tournaments::LiveTournament;
pub use wanted::Wanted;

/// How the engine handles a login of an account that is on another connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondLogin {
    /// The newest connection takes the account over.
    #[default]
    Takeover,
    /// The oldest connection keeps the account.
    Refuse,
}

/// The engine's settings for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a token is valid.
    pub token_ms: Millis,
    /// How long players have to reconnect after a restart before they are charged as absent.
    pub reconnect_ms: Millis,
    /// Whether players may invite others to a tournament, and not only operators.
    pub players_may_invite: bool,
    /// The seed of all tournaments' secrets, for experiments that must be repeatable.
    pub seed: Option<u64>,
    /// Which connection has an account that logs in twice.
    pub second_login: SecondLogin,
    /// The minimum delay with which observers are shown matches.
    pub observer_delay_ms: Millis,
    /// After how many events of the lobby the engine takes a snapshot; by default, the larger the
    /// lobby, the rarer.
    pub snapshot_every: Option<u64>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            token_ms: 30 * 24 * 3_600_000,
            reconnect_ms: 60_000,
            second_login: SecondLogin::default(),
            players_may_invite: false,
            observer_delay_ms: 0,
            seed: None,
            snapshot_every: None,
        }
    }
}

/// Why the engine cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The log cannot be read.
    #[error("{0}")]
    Read(ReadError),
    /// A line of the log cannot be parsed.
    #[error("{stream}, event {seq}: {bad}")]
    Line {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// The parse error.
        bad: BadLine,
    },
    /// The machines reject an event of the log.
    #[error("{stream}, event {seq}: {error}")]
    Fold {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// The machine's error.
        error: ApplyError,
    },
}

/// A summary of the engine's state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Accounts.
    pub accounts: usize,
    /// Open connections.
    pub connections: usize,
    /// Running tournaments.
    pub tournaments: usize,
    /// Running matches.
    pub matches: usize,
    /// Answers accepted since the start.
    pub decisions: u64,
}

/// Counts since the start.
#[derive(Default)]
struct Counted {
    decisions: u64,
    /// Running games are counted on demand.
    games: GameCounts,
    tournament_records: u64,
    tournaments_started: u64,
    tournaments_ended: u64,
    matches_started: u64,
    matches_ended: u64,
}

/// The engine: all live machines, and the connected players.
pub struct Engine {
    reader: Box<dyn StreamReader>,
    games: Registry,
    houses: Box<dyn HousePlayers>,
    settings: Settings,
    entropy: Entropy,
    /// The time of the input that is being handled.
    time: Time,
    effects: Effects,
    /// The buffer for the request that is being written, reused to save allocations.
    line: Vec<u8>,
    journals: Journals,
    lobby: Lobby,
    tournaments: HashMap<TournamentId, LiveTournament>,
    matches: Matches,
    sessions: Sessions,
    /// Observers on the wires of other systems.
    peer_observers: PeerObservers,
    /// Programs of other systems whose sign-up is in flight.
    arriving: BTreeSet<PlayerName>,
    timers: Timers,
    news: News,
    /// Until when no player is charged as absent, because the server itself was down.
    grace_until: Millis,
    /// Players who were connected before this start, cannot reconnect by themselves and have not
    /// returned.
    cut_off: BTreeSet<PlayerName>,
    counted: Counted,
    watchers: HashMap<watch::Topic, watch::Watchers>,
    held_back: HashMap<MatchKey, delay::HeldBack>,
    snapshots: Snapshots,
    /// The time of the latest event read at the start: the server ran until then.
    seen_at: Cell<Millis>,
    /// Live matches that were folded at the start and are not resumed yet.
    folded_ahead: HashMap<MatchKey, RecoveredMatch>,
    stopping: bool,
    /// Whether the log refused a record. The engine then sends nothing more.
    refused: bool,
    failed: Option<EngineError>,
}

impl Engine {
    /// Opens the engine over a log: folds and resumes the live machines. The engine derives its
    /// secrets and tokens from `key`.
    pub fn open(
        reader: Box<dyn StreamReader>,
        games: Registry,
        houses: Box<dyn HousePlayers>,
        settings: Settings,
        key: [u8; 32],
        now: Millis,
    ) -> Result<Engine, EngineError> {
        let mut engine = Engine {
            reader,
            games,
            houses,
            settings,
            entropy: Entropy::new(key),
            time: Time::at(now),
            effects: Effects::default(),
            line: Vec::new(),
            journals: Journals::default(),
            lobby: Lobby::default(),
            tournaments: HashMap::new(),
            matches: Matches::default(),
            sessions: Sessions::default(),
            peer_observers: PeerObservers::new(),
            arriving: BTreeSet::new(),
            timers: Timers::default(),
            news: News::default(),
            grace_until: 0,
            cut_off: BTreeSet::new(),
            counted: Counted::default(),
            watchers: HashMap::new(),
            held_back: HashMap::new(),
            snapshots: Snapshots::default(),
            seen_at: Cell::new(0),
            folded_ahead: HashMap::new(),
            stopping: false,
            refused: false,
            failed: None,
        };
        engine.recover()?;
        Ok(engine)
    }

    /// The time of the latest input.
    pub fn time(&self) -> Time {
        self.time
    }

    /// The time of the latest input, or of the latest event of the log if that is later.
    pub fn now_ms(&self) -> Millis {
        self.time.now
    }

    /// Takes the effects since the last call. `into` is the previous list; its memory is reused.
    pub fn take_effects(&mut self, into: &mut Effects) {
        std::mem::swap(&mut self.effects, into);
    }

    /// Takes the error that keeps the engine from continuing, if there is one.
    pub fn take_failure(&mut self) -> Option<EngineError> {
        self.failed.take()
    }

    /// Whether the server was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// When the next timer is due.
    pub fn next_due(&self) -> Option<Millis> {
        self.timers.next_due().filter(|_| !self.stopping)
    }

    /// A summary of the engine's state.
    pub fn status(&self) -> Status {
        Status {
            accounts: self.lobby.accounts().count(),
            connections: self.sessions.len(),
            tournaments: self.tournaments.len(),
            matches: self.matches.len(),
            decisions: self.counted.decisions,
        }
    }

    /// The lobby, for reading.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Handles an input. Its effects are in [`take_effects`](Engine::take_effects).
    pub fn handle(&mut self, time: Time, input: Input) {
        if self.refused {
            return;
        }
        self.time = time;
        match input {
            input if self.stopping => self.handle_last(input),
            Input::Opened { conn, seat, from } => self.opened(conn, seat, from),
            Input::Said { conn, message, at } => self.said(conn, message, at),
            Input::Bad { conn, why, line } => self.bad_line(conn, &why, &line),
            Input::Peer { conn, said, at } => self.peer_said(conn, said, at),
            Input::Translated { conn, said, at } => self.translated(conn, said, at),
            Input::Delivered { conn, ask, at } => self.delivered(conn, &ask, at),
            Input::Closed { conn } => self.closed(conn),
            Input::Lost { conn, fault } => self.lost(conn, &fault, CloseReason::Left),
            Input::LoginDue { conn } => self.login_due(conn),
            Input::Checked { conn, result } => self.checked(conn, result),
            Input::House { key, player, request, answer } => {
                self.house_answered(&key, player, request, answer);
            }
            Input::Committed(stream) => self.committed(stream),
            Input::Refused(_) => self.refused = true,
            Input::SnapshotKept => self.snapshots.kept(),
            Input::Query { id, query } => query.run(id, self),
            Input::Unwatch(watcher) => self.unwatch(watcher),
            Input::Stop => self.stop(),
        }
    }

    /// Runs the timers that were due at `until`. Under load that is earlier than now: a driver that
    /// handles old inputs must not expire requests that later inputs answer. Timers may fire early
    /// or twice, so each handler checks its own deadline.
    pub fn elapse(&mut self, time: Time, until: Millis) {
        self.time = time;
        if !self.stopping && !self.refused {
            self.on_time(until);
        }
    }

    fn note(&mut self, note: Note) {
        self.effects.push(Effect::Note(note));
    }

    fn on_time(&mut self, now: Millis) {
        while let Some((at, timer)) = self.timers.pop_due(now) {
            self.note(Note::TimerLate(self.time.now.saturating_sub(at)));
            match timer {
                Timer::Match(key) => self.match_due(&key, now),
                Timer::Greeting(tournament) => self.greeting_due(&tournament),
                Timer::Resumed(tournament) => self.miss_after_pause(&tournament),
                Timer::Lobby => self.lobby_due(),
                Timer::Reconnect => self.miss_the_absent(),
                Timer::LogOut(account) => self.log_out_if_gone(account),
                Timer::Away(account) => self.miss_if_away(&account),
                Timer::News => self.news_due(),
                Timer::Watch(topic) => self.show_late(&topic),
            }
        }
    }
}
