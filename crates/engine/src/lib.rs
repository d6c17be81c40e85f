//! The engine: all live machines as one deterministic component. Inputs come in, effects go out.
//!
//! ```text
//!   inputs                         engine                                effects
//!   Opened Said Closed    ──▶ sessions ──▶ lobby ──▶ tournaments  ──▶  Send Ask Call Close
//!   Delivered Checked         (who is          │          │            CheckPassword AskHouse
//!   Committed Refused          connected)      ▼          ▼            Append
//!   House Query Stop                       journals ◀── matches        KeepSnapshot Note
//!   elapse(time)          ──▶ timers       (records in flight,         Show Reply
//!                                           what follows from them)
//! ```
//!
//! It has no clock, no thread, no channel and no socket: time and randomness come in, and the
//! driver carries the effects out. It answers for the order of things: decide, commit, then speak.
//! What follows from a record waits in its stream's journal until the log says that the record is
//! durable. A match speaks to its players only when nothing of it is in flight.

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
pub use recover::read_match;
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

/// What happens to a login of an account that is on another connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondLogin {
    /// The newest connection has it.
    #[default]
    Takeover,
    /// The oldest connection keeps it.
    Refuse,
}

/// What an operator may set about the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a token is good.
    pub token_ms: Millis,
    /// How long players have to come back after the server was down before they are missed.
    pub reconnect_ms: Millis,
    /// Whether players may invite others to a tournament, and not only operators.
    pub players_may_invite: bool,
    /// What the secrets of all tournaments come from, for experiments that must be repeatable.
    pub seed: Option<u64>,
    /// Who has an account that logs in twice.
    pub second_login: SecondLogin,
    /// By how much matches are shown late to observers, at least.
    pub observer_delay_ms: Millis,
    /// After how many events of the lobby a snapshot is taken; by default the larger the lobby the
    /// rarer.
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

/// Why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The log cannot be read.
    #[error("{0}")]
    Read(ReadError),
    /// A line of the log cannot be read.
    #[error("{stream}, event {seq}: {bad}")]
    Line {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// What is wrong.
        bad: BadLine,
    },
    /// The log does not fit the machines.
    #[error("{stream}, event {seq}: {error}")]
    Fold {
        /// The stream.
        stream: String,
        /// The event's number.
        seq: u64,
        /// What is wrong.
        error: ApplyError,
    },
}

/// A short account of what goes on.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// Accounts there are.
    pub accounts: usize,
    /// Connections that are open.
    pub connections: usize,
    /// Tournaments that run.
    pub tournaments: usize,
    /// Matches that run.
    pub matches: usize,
    /// Answers accepted since the start.
    pub decisions: u64,
}

/// What is counted since the start.
#[derive(Default)]
struct Counted {
    decisions: u64,
    /// Those in progress are counted when asked for.
    games: GameCounts,
    tournament_records: u64,
    tournaments_started: u64,
    tournaments_ended: u64,
    matches_started: u64,
    matches_ended: u64,
}

/// The engine: all live machines, and who is connected.
pub struct Engine {
    reader: Box<dyn StreamReader>,
    games: Registry,
    houses: Box<dyn HousePlayers>,
    settings: Settings,
    entropy: Entropy,
    /// The time of the input that is being handled.
    time: Time,
    effects: Effects,
    /// The request that is being written; kept, so that not every request needs memory of its own.
    line: Vec<u8>,
    journals: Journals,
    lobby: Lobby,
    tournaments: HashMap<TournamentId, LiveTournament>,
    matches: Matches,
    sessions: Sessions,
    /// Observers on the wires of other systems.
    peer_observers: PeerObservers,
    /// Programs of other systems whose sign-up is on its way to the log.
    arriving: BTreeSet<PlayerName>,
    timers: Timers,
    news: News,
    /// Until when no player is charged as absent, because it was the server that was away.
    grace_until: Millis,
    /// Players who were connected before this start, cannot reconnect by themselves and are not
    /// back.
    cut_off: BTreeSet<PlayerName>,
    counted: Counted,
    watchers: HashMap<watch::Topic, watch::Watchers>,
    held_back: HashMap<MatchKey, delay::HeldBack>,
    snapshots: Snapshots,
    /// The latest event that was read at the start: until then the server was there.
    seen_at: Cell<Millis>,
    /// Live matches that a start has folded and not taken up yet.
    folded_ahead: HashMap<MatchKey, RecoveredMatch>,
    stopping: bool,
    /// The log refused a record: nothing more may be said.
    refused: bool,
    failed: Option<EngineError>,
}

impl Engine {
    /// Opens the engine over a log: folds what is live and resumes it. `key` is where its secrets
    /// and tokens come from.
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

    /// Takes the effects since the last call. `into` is what was taken before; its memory is used
    /// again.
    pub fn take_effects(&mut self, into: &mut Effects) {
        std::mem::swap(&mut self.effects, into);
    }

    /// Why the engine cannot go on, if it cannot.
    pub fn take_failure(&mut self) -> Option<EngineError> {
        self.failed.take()
    }

    /// Whether the server was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// When something is due next.
    pub fn next_due(&self) -> Option<Millis> {
        self.timers.next_due().filter(|_| !self.stopping)
    }

    /// A summary of what runs.
    pub fn status(&self) -> Status {
        Status {
            accounts: self.lobby.accounts().count(),
            connections: self.sessions.len(),
            tournaments: self.tournaments.len(),
            matches: self.matches.len(),
            decisions: self.counted.decisions,
        }
    }

    /// The lobby, to look at.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Handles an input. What follows from it is in [`take_effects`](Engine::take_effects).
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

    /// Does what was due at `until`. Under load that is earlier than now: a driver that handles old
    /// inputs must not expire what later inputs answer. Timers may be early or doubled; whoever
    /// they wake looks at its own clock.
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
