//! The engine: one thread that owns every machine and takes one input after the other.
//!
//! It answers for the order of things: decide, commit, then speak. Effects of a record wait in its
//! stream's journal until the log says it is durable; a match speaks to its players only when
//! nothing of it is on its way to the disk.

mod announce;
mod ask;
mod attach;
mod away;
mod blacklist;
pub(crate) mod delay;
mod drive;
mod house;
mod interrupt;
pub(crate) use house::PREFIX as HOUSE;
mod journal;
mod key;
mod lobby;
mod matches;
mod news;
mod notes;
mod operator;
mod peer_observers;
mod peers;
mod presence;
pub mod query;
mod recover;
mod results;
pub(crate) mod show;
mod snapshots;
mod stop;
mod tournaments;
mod translated;
pub(crate) mod watch;

use crate::auth::NoEntropy;
use crate::clock;
use crate::gateway::Outbox;
use crate::meters::Meters;
use crate::passwords::Passwords;
use agon_bots::Houses;
use agon_core::lobby::Lobby;
use agon_core::{ApplyError, BadLine, Fault, Millis, PlayerName, RecoveredMatch, TournamentId};
use agon_games::Registry;
use agon_store::{AppendError, Log, LogError};
use agon_wire::native::FromPlayer;
pub use announce::{AnnounceError, check_announcement};
pub(crate) use ask::Archive;
pub use ask::{GameCounts, hash_password};
pub(crate) use attach::ConnId;
use attach::Session;
pub use drive::{Asked, Driven, Over, Promise, Socket, Wrote};
use house::HousePool;
pub use journal::StreamKey;
use journal::{Decided, Journal};
pub use key::MatchKey;
use matches::LiveMatch;
use news::News;
pub use operator::NotObeyed;
use peer_observers::PeerObservers;
pub(crate) use peers::{AskId, BadReply, PeerSaid};
pub(crate) use results::Report;
use rustc_hash::FxHashMap;
use snapshots::Snapshots;
use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tournaments::LiveTournament;
pub(crate) use translated::TranslatedAnswer;

/// How far timers may be behind what comes in before they are looked at in between. Longer than
/// any message is on its way from its socket to the inbox.
const BEHIND_MS_MAX: Millis = 1_000;

/// Inputs that are taken before the log is handed what was decided about them.
const DECIDED_MAX: usize = 256;

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
    /// Passwords of one address that may wait to be checked.
    pub password_checks_per_address_max: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            token_ms: 30 * 24 * 3_600_000,
            reconnect_ms: 60_000,
            second_login: SecondLogin::default(),
            players_may_invite: false,
            observer_delay_ms: 0,
            password_checks_per_address_max: 1_000,
            seed: None,
        }
    }
}

/// Why the engine ended.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The log refused a record: nothing more may be said.
    #[error(
        "the log did not take a record: {0}; nothing of it was told, and nothing told before is lost"
    )]
    Append(#[from] AppendError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
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
    /// No random bytes.
    #[error("{0}")]
    Entropy(String),
    /// The log did not answer in time when the server was to stop.
    #[error(
        "the log did not answer for {0:?}; what was not answered may be lost, and was told to nobody"
    )]
    Undrained(Duration),
}

impl From<NoEntropy> for EngineError {
    fn from(error: NoEntropy) -> EngineError {
        EngineError::Entropy(error.to_string())
    }
}

/// A connection's place in the inbox; it is free again when this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

/// What comes to the engine.
pub(crate) enum Input {
    /// A connection was opened.
    Opened { conn: ConnId, out: Outbox, from: IpAddr },
    /// It said something, and that was read from its socket then.
    Said { conn: ConnId, message: FromPlayer, at: Millis, place: Place },
    /// It said something that is no message.
    Bad { conn: ConnId, why: String, line: String, place: Place },
    /// It is on the wire of another system, and said something that was read then.
    Peer { conn: ConnId, said: PeerSaid, at: Millis },
    /// It answers in the words of another system, which were read then.
    Translated { conn: ConnId, said: TranslatedAnswer, at: Millis, place: Place },
    /// It is gone.
    Closed { conn: ConnId },
    /// It is gone, and its gateway knows why.
    Lost { conn: ConnId, fault: Fault },
    /// It should have logged in by now.
    LoginDue { conn: ConnId },
    /// A password was hashed or checked.
    Checked { conn: ConnId, checked: lobby::Checked },
    /// A house player answers.
    House { key: MatchKey, player: PlayerName, request: agon_core::RequestId, answer: String },
    /// Records are durable, or refused; each with its stream, in the order they were decided in.
    Committed { streams: Vec<StreamKey>, results: Vec<Result<u64, AppendError>> },
    /// A query from outside.
    Query(Box<dyn query::AnyQuery>),
    /// Stop.
    Stop,
}

/// How others reach the engine.
#[derive(Clone)]
pub struct Handle {
    inbox: Sender<Input>,
    meters: Arc<Meters>,
    games: Registry,
    /// The log closes with the engine, whatever handles are left.
    log: Weak<dyn Log>,
    passwords: Passwords,
}

impl Handle {
    pub(crate) fn send(&self, input: Input) {
        // An engine that has ended hears nobody, and whoever waits for it notices by its channel.
        let _ = self.inbox.send(input);
    }

    #[cfg(test)]
    pub(crate) fn detached() -> (Handle, Receiver<Input>) {
        let (inbox, receiver) = channel();
        let (games, passwords) = (Registry::standard(), Passwords::new(None, 1));
        let log = Weak::<agon_store::MemoryLog>::new();
        (Handle { inbox, meters: Arc::default(), games, log, passwords }, receiver)
    }

    /// Asks the engine to stop once what is on its way is durable.
    pub fn stop(&self) {
        self.meters.stopping.store(true, Ordering::Relaxed);
        self.send(Input::Stop);
    }

    /// When bytes that were just read were there, at the earliest: for how late the server is,
    /// nobody is charged.
    pub(crate) fn read_at(&self) -> Millis {
        let now = clock::now_ms();
        let at = self.meters.reads.heard_until(now);
        if at < now {
            self.meters.read_late.add();
        }
        at
    }

    /// The log, for reading what is over away from the engine; `None` if the engine has ended.
    pub(crate) fn archive(&self) -> Option<Archive> {
        Some(Archive { log: self.log.upgrade()?, games: self.games.clone() })
    }

    /// The games there are.
    pub(crate) fn games(&self) -> &Registry {
        &self.games
    }

    /// Where passwords are checked.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.passwords
    }

    /// What is counted.
    pub(crate) fn meters(&self) -> &Meters {
        &self.meters
    }
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

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Timer {
    Match(MatchKey),
    Greeting(TournamentId),
    Resumed(TournamentId),
    Lobby,
    Reconnect,
    LogOut(PlayerName),
    Away(PlayerName),
    News,
    Watch(watch::Topic),
}

/// The engine.
pub struct Engine {
    log: Arc<dyn Log>,
    games: Registry,
    houses: Arc<Houses>,
    settings: Settings,
    handle: Handle,
    inbox: Receiver<Input>,
    house_pool: HousePool,
    /// The time of the input that is being taken: one look at the clock for each.
    now: Millis,
    /// The line that is being written; kept, so that not every request needs memory of its own.
    line: Vec<u8>,
    journals: FxHashMap<StreamKey, Journal>,
    /// Records decided since the log was last handed some.
    decided: Decided,
    lobby: Lobby,
    tournaments: HashMap<TournamentId, LiveTournament>,
    matches: FxHashMap<MatchKey, LiveMatch>,
    /// In which matches a player is.
    playing: HashMap<PlayerName, BTreeSet<MatchKey>>,
    sessions: FxHashMap<ConnId, Session>,
    /// Connections that share a socket and were sent something since it was written to.
    unflushed: Vec<ConnId>,
    /// Observers on the wires of other systems.
    peer_observers: PeerObservers,
    /// Over which connection a player is here.
    here: HashMap<PlayerName, ConnId>,
    /// Programs of other systems whose sign-up is on its way to the log.
    arriving: BTreeSet<PlayerName>,
    /// How often somebody came or went over a wire.
    attachments: u64,
    /// Since when players in line are without a connection.
    gone_since: HashMap<PlayerName, Millis>,
    timers: BinaryHeap<Reverse<(Millis, Timer)>>,
    /// When the lobby's timer rings next.
    lobby_timer: Option<Millis>,
    news: News,
    /// Until when nobody is missed, because it was us who were away.
    grace_until: Millis,
    /// Who was connected before this start, cannot reconnect by itself and is not back.
    cut_off: BTreeSet<PlayerName>,
    decisions: u64,
    /// Games counted since the start; those in progress are counted when asked for.
    games_seen: GameCounts,
    tournament_records: u64,
    passwords: Passwords,
    watchers: HashMap<watch::Topic, watch::Watchers>,
    held_back: HashMap<MatchKey, delay::HeldBack>,
    snapshots: Snapshots,
    /// The latest event that was read at the start: until then the server was there.
    seen_at: Cell<Millis>,
    /// Live matches that a start has folded and not taken up yet.
    folded_ahead: HashMap<MatchKey, RecoveredMatch>,
    stopping: bool,
    failed: Option<EngineError>,
}

impl Engine {
    /// Opens the engine over a log: folds what is live and takes it up again.
    pub fn open(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        runtime: tokio::runtime::Handle,
    ) -> Result<Engine, EngineError> {
        let now = clock::now_ms();
        let passwords = Passwords::new(Some(runtime), settings.password_checks_per_address_max);
        let mut engine = Engine::empty(log, games, houses, settings, now, passwords);
        let (houses, handle) = (Arc::clone(&engine.houses), engine.handle());
        engine.house_pool = HousePool::start(houses, handle);
        engine.recover()?;
        clock::not_before(engine.now);
        Ok(engine)
    }

    /// An engine that knows nothing of what is in its log yet, and has no threads.
    fn empty(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        now: Millis,
        passwords: Passwords,
    ) -> Engine {
        let (inbox, receiver) = channel();
        let handle = Handle {
            inbox,
            meters: Arc::default(),
            games: games.clone(),
            log: Arc::downgrade(&log),
            passwords: passwords.clone(),
        };
        Engine {
            log,
            games,
            houses: Arc::new(houses),
            settings,
            handle,
            inbox: receiver,
            house_pool: HousePool::Here,
            now,
            line: Vec::new(),
            journals: FxHashMap::default(),
            decided: Decided::default(),
            lobby: Lobby::default(),
            tournaments: HashMap::new(),
            matches: FxHashMap::default(),
            playing: HashMap::new(),
            sessions: FxHashMap::default(),
            unflushed: Vec::new(),
            peer_observers: PeerObservers::new(),
            here: HashMap::new(),
            arriving: BTreeSet::new(),
            attachments: 0,
            gone_since: HashMap::new(),
            timers: BinaryHeap::new(),
            lobby_timer: None,
            news: News::default(),
            grace_until: 0,
            cut_off: BTreeSet::new(),
            decisions: 0,
            games_seen: GameCounts::default(),
            tournament_records: 0,
            passwords,
            watchers: HashMap::new(),
            held_back: HashMap::new(),
            snapshots: Snapshots::default(),
            seen_at: Cell::new(0),
            folded_ahead: HashMap::new(),
            stopping: false,
            failed: None,
        }
    }

    /// How others reach it.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs until it is stopped, or the log fails.
    pub fn run(mut self) -> Result<(), EngineError> {
        while !self.stopping {
            self.submit_decided();
            self.flush();
            let input = match self.pause() {
                None => self.inbox.try_recv().ok(),
                Some(pause) => match self.inbox.recv_timeout(pause) {
                    Ok(input) => Some(input),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => return Ok(()),
                },
            };
            match input {
                Some(input) => self.take_all(input),
                None => {
                    self.now = clock::now_ms();
                    self.on_time(self.now);
                }
            }
            if let Some(error) = self.failed.take() {
                return Err(self.end_with(error));
            }
        }
        self.drain()
    }

    /// Takes an input and those that wait behind it, up to a bound: what is decided about them goes
    /// to the log together.
    fn take_all(&mut self, first: Input) {
        let mut input = first;
        for left in (0..DECIDED_MAX).rev() {
            self.now = clock::now_ms();
            self.take(input);
            if self.failed.is_some() || self.stopping || left == 0 {
                return;
            }
            let Ok(next) = self.inbox.try_recv() else { return };
            input = next;
        }
    }

    /// What goes on.
    pub fn status(&self) -> Status {
        Status {
            accounts: self.lobby.accounts().count(),
            connections: self.sessions.len(),
            tournaments: self.tournaments.len(),
            matches: self.matches.len(),
            decisions: self.decisions,
        }
    }

    /// The lobby, to look at.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Opened { conn, out, from } => self.opened(conn, out, from),
            Input::Said { conn, message, at, place } => {
                drop(place);
                self.handle.meters().inbox_ms.add(self.now_ms().saturating_sub(at));
                self.said(conn, message, at);
                self.keep_time(at);
            }
            Input::Bad { conn, why, line, place } => {
                drop(place);
                self.bad_line(conn, &why, &line);
            }
            Input::Peer { conn, said, at } => {
                self.peer_said(conn, said, at);
                self.keep_time(at);
            }
            Input::Translated { conn, said, at, place } => {
                drop(place);
                self.handle.meters().inbox_ms.add(self.now_ms().saturating_sub(at));
                self.translated(conn, said, at);
                self.keep_time(at);
            }
            Input::Closed { conn } => self.closed(conn),
            Input::Lost { conn, fault } => self.lost(conn, &fault),
            Input::LoginDue { conn } => self.login_due(conn),
            Input::Checked { conn, checked } => self.checked(conn, checked),
            Input::House { key, player, request, answer } => {
                self.house_answered(&key, player, request, answer);
            }
            Input::Committed { streams, results } => self.all_committed(streams, results),
            Input::Query(query) => query.run(self),
            Input::Stop => self.stop(),
        }
    }

    fn now_ms(&self) -> Millis {
        self.now
    }

    /// How long nothing is due; `None` if something is due now.
    fn pause(&self) -> Option<Duration> {
        let longest = Duration::from_secs(60);
        let Some(Reverse((at, _))) = self.timers.peek() else { return Some(longest) };
        let now = clock::now_ms();
        (*at > now).then(|| Duration::from_millis(at - now).min(longest))
    }

    fn set_timer(&mut self, at: Millis, timer: Timer) {
        self.timers.push(Reverse((at, timer)));
    }

    /// Does what is long due although inputs wait: time must not stand still under load. The inbox
    /// is in order, so whatever was read before `read_at` has been taken, or will be at once.
    fn keep_time(&mut self, read_at: Millis) {
        self.on_time(read_at.saturating_sub(BEHIND_MS_MAX));
    }

    /// Does what is due. Timers may be early or doubled; whoever they wake looks at its own clock.
    fn on_time(&mut self, now: Millis) {
        while let Some(Reverse((at, _))) = self.timers.peek()
            && *at <= now
        {
            let Some(Reverse((at, timer))) = self.timers.pop() else { return };
            self.handle.meters().late_ms.add(self.now_ms().saturating_sub(at));
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

/// Tells the operator something that needs no answer.
fn warn(what: &str) {
    tracing::warn!("{what}");
}
