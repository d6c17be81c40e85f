//! The driver: gives the engine its inputs and carries its effects out.
//!
//! ```text
//!   gateways, web ──▶ inbox ──▶ driver (one thread) ──▶ engine.handle(time, input)
//!      ▲      plain TCP sockets ─▶│      ▲                        │
//!      └── outboxes, replies ◀────┘      └──────── effects ◀──────┘
//!                                 ├──▶ log ──────────▶ Committed
//!                                 ├──▶ house players ▶ House
//!                                 └──▶ passwords ────▶ Checked
//! ```
//!
//! The driver owns the inbox, the clock and the thread. In every turn it polls the plain TCP
//! sockets of native players and handles what they sent; then it handles the inbox. It writes a
//! request on this thread if its socket has room; other messages wait in the connection's outbox.
//! The records of several inputs share one sync of the disk. The driver commits few records itself,
//! which needs no switch between threads. It submits many to the log's own thread, so that it can
//! decide while they are written; see docs/decisions/0027-small-commits-on-the-engine-thread.md.
//!
//! A server may have several engines, each with a driver and a thread of its own. The first has the
//! lobby and the seats; the others own tournaments. They send each other messages through their
//! inboxes, or over a bus if they are on several nodes.

mod engines;
mod handle;
mod held;
mod house;
mod notes;
mod others;
mod resume;

use crate::clock;
use crate::cluster::NodeLinks;
use crate::engine::query::AnyQuery;
use crate::engine::watch::WatcherId;
use crate::engine::{
    AskId, CloseReason, ConnId, Effect, Effects, Engine, EngineError, EngineId, EngineRole, Input,
    LineRange, PasswordCheck, PasswordResult, QueryId, ReadError, Record, Settings, StreamKey,
    Time,
};
use crate::gateway::{DriverSockets, Outbox, Written};
use crate::net::Limits;
use crate::passwords::{Attempt, Finished, Passwords, Purpose, Unchecked};
use crate::throttle::GuessVerdict;
use crate::watch::Watcher;
use crate::{auth, engine};
use agon_bots::Houses;
use agon_core::lobby::Lobby;
use agon_core::{Millis, PlayerName, Timestamp, TournamentId};
use agon_driver::snapshot_of;
use agon_games::Registry;
use agon_store::{Append, AppendError, Doubt, Log, LogError, Turn};
use engines::resume_all;
pub(crate) use engines::{NodeEngine, Parts};
pub use handle::Handle;
use handle::{Alarm, Shared};
pub(crate) use handle::{Archive, Message, Reply};
use held::HeldNotices;
use house::HousePool;
use others::OtherEngines;
use resume::TournamentReader;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::io::ErrorKind;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How far timers may be behind the inputs before the driver runs them in between. Longer than any
/// message takes from its socket to the inbox.
const BEHIND_MS_MAX: Millis = 1_000;

/// How many inputs of sockets, and how many other ones, the driver processes before it submits
/// their records to the log.
const INPUTS_MAX: usize = 256;

/// How many records the driver commits on its own thread. For more, the work of the disk and of
/// the engine at the same time is worth the switch to the log's thread.
const COMMIT_HERE_MAX: usize = 64;

/// How long the driver waits at most for the next input or timer.
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// The driver logs a warning if it does not poll its sockets for longer than this.
const TURN_MS_MAX: Millis = 50;

/// How often it logs that warning at most.
const SLOW_TURN_PAUSE: Duration = Duration::from_secs(60);

/// How often the driver looks at the lease of a log that several nodes share.
const LEASE_PAUSE: Duration = Duration::from_millis(50);

/// How long the log may take for the records in flight when the server stops.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// How long connections may take to read their last messages when the server stops.
const GOODBYE_MAX: Duration = Duration::from_secs(2);

/// Why the server ended with an error.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The log refused a record; the server sends nothing more.
    #[error("the log did not take a record: {0}; the server sent nothing that depends on it")]
    Append(#[from] AppendError),
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The log's content is invalid.
    #[error(transparent)]
    Engine(EngineError),
    /// The system has no random bytes.
    #[error("{0}")]
    Entropy(String),
    /// The system lets the server wait for no sockets.
    #[error("failed to prepare for players' sockets: {0}")]
    Sockets(std::io::Error),
    /// The log did not answer in time when the server stopped.
    #[error(
        "the log did not answer for {0:?}; records that it did not confirm may be lost, and the server sent nothing that depends on them"
    )]
    Undrained(Duration),
    /// Another node owns the log now. This server has forgotten everything and sends nothing more.
    #[error("another node has taken over")]
    TakenOver,
    /// The database does not answer, so another node may own the log now.
    #[error("the database did not answer for {0:?}")]
    NoDatabase(Duration),
    /// The link to the node with the lobby is lost, so the engine of cells has forgotten
    /// everything.
    #[error("the link to the node with the lobby is lost")]
    LinkLost,
}

impl ServerError {
    /// Returns whether the server may start again at once and wait until it may own the log.
    pub fn may_stand_by(&self) -> bool {
        let is_fenced = |error: &AppendError| matches!(error, AppendError::Fenced { .. });
        match self {
            ServerError::TakenOver | ServerError::NoDatabase(_) => true,
            ServerError::Append(error) => is_fenced(error),
            ServerError::Log(LogError::Io { kind: ErrorKind::NotConnected, .. }) => true,
            _ => false,
        }
    }
}

impl From<EngineError> for ServerError {
    fn from(error: EngineError) -> ServerError {
        match error {
            EngineError::Read(error) => match error.downcast::<LogError>() {
                Ok(error) => ServerError::Log(*error),
                Err(error) => ServerError::Engine(EngineError::Read(error)),
            },
            error => ServerError::Engine(error),
        }
    }
}

/// The engine, and everything its effects need.
pub struct Driver {
    engine: Engine,
    handle: Handle,
    inbox: Receiver<Message>,
    sockets: DriverSockets,
    /// When a slow turn was logged last.
    slow_turn: Option<Instant>,
    log: Arc<dyn Log>,
    outboxes: FxHashMap<ConnId, Outbox>,
    /// Connections that share a socket and have messages that are not flushed.
    unflushed: Vec<ConnId>,
    /// Notices that wait for the next message to their connection.
    held: HeldNotices,
    /// Connections whose outbox is full.
    full: Vec<ConnId>,
    effects: Effects,
    /// The streams of the records that were not submitted to the log yet.
    streams: Vec<StreamKey>,
    appends: Vec<Append>,
    /// How many times records were submitted to the log's thread and are not answered yet.
    submitted: usize,
    houses: HousePool,
    /// Runs work that blocks.
    blocking: tokio::runtime::Handle,
    /// Connections that wait for a password to be checked.
    checking: HashMap<ConnId, Arc<()>>,
    /// The callbacks for answers to queries.
    replies: HashMap<QueryId, Reply>,
    queries: u64,
    watchers: HashMap<WatcherId, Watcher>,
    /// Reads tournaments that the engine takes over.
    tournaments: TournamentReader,
    snapshot: Option<JoinHandle<()>>,
    failed: Option<ServerError>,
    /// Which of the server's engines this is.
    id: EngineId,
    /// How this driver reaches the other engines of the server.
    others: OtherEngines,
    /// The drivers of the other engines, until they run on threads of their own.
    waiting: Vec<Driver>,
    threads: Vec<JoinHandle<()>>,
    /// True if several nodes share the log.
    is_leased: bool,
}

impl Driver {
    /// Opens the engine over a log. Passwords are checked on `runtime`.
    pub fn open(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        limits: &Limits,
        runtime: tokio::runtime::Handle,
    ) -> Result<Driver, ServerError> {
        Driver::open_among(None, log, games, houses, settings, limits, runtime)
    }

    /// Opens the lobby's engine of a cluster whose other nodes own cells.
    pub fn open_among(
        nodes: Option<Arc<NodeLinks>>,
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        limits: &Limits,
        runtime: tokio::runtime::Handle,
    ) -> Result<Driver, ServerError> {
        let passwords =
            Passwords::new(Some(runtime.clone()), limits.password_checks_per_address_max);
        if let Some(now) = log.clock_ms()? {
            clock::set(Timestamp::from_ms(now));
        }
        let (sender, inbox) = channel();
        let (sockets, waker) =
            DriverSockets::new(limits.inbox_lines_max).map_err(ServerError::Sockets)?;
        let shared = Shared::new(Alarm::new(waker), passwords, games.clone(), Arc::downgrade(&log));
        let mut handle = Handle::new(sender, shared);
        let cell_engines = match settings.role {
            EngineRole::Lobby { cell_engines } => cell_engines,
            EngineRole::LobbyOfNodes { .. } | EngineRole::Cells => 0,
        };
        if cell_engines > 0 || nodes.is_some() {
            handle = handle.counting();
        }
        let parts = Parts::new(log, games, houses, settings, runtime);
        // The other engines read the lobby before the first one writes to it.
        let mut others = Vec::new();
        for number in 1..=cell_engines {
            let (sender, inbox) = channel();
            // It has no sockets, and waits for its inbox in the same way.
            let (sockets, waker) = DriverSockets::new(0).map_err(ServerError::Sockets)?;
            let own = handle.of_engine(sender, Alarm::new(waker));
            let settings = Settings { role: EngineRole::Cells, ..parts.settings.clone() };
            others.push(parts.open(EngineId(number), settings, own, (inbox, sockets))?);
        }
        let settings = parts.settings.clone();
        let mut driver = parts.open(EngineId::LOBBY, settings, handle.clone(), (inbox, sockets))?;
        if cell_engines > 0 {
            let engines: Vec<Handle> =
                std::iter::once(handle).chain(others.iter().map(Driver::handle)).collect();
            for other in &mut others {
                other.others = OtherEngines::Threads(engines.clone());
            }
            driver.others = OtherEngines::Threads(engines);
        }
        if let Some(nodes) = &nodes {
            driver.others = OtherEngines::Nodes(Arc::clone(nodes));
        }
        driver.carry_out();
        driver.waiting = resume_all(others)?;
        if let Some(nodes) = nodes {
            nodes.attach(driver.handle());
        }
        Ok(driver)
    }

    /// A handle to the engine.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// A summary of the engine's state.
    pub fn status(&self) -> engine::EngineStatus {
        self.engine.status()
    }

    /// The lobby, for reading.
    pub fn lobby(&self) -> &Lobby {
        self.engine.lobby()
    }

    /// Restores the counts of wrong passwords from a file, and stores them there.
    pub fn keep_password_counts(&self, file: std::path::PathBuf) {
        self.handle.passwords().keep_in(file);
    }

    /// Runs until the server is stopped, or the log fails.
    pub fn run(mut self) -> Result<(), ServerError> {
        for other in std::mem::take(&mut self.waiting) {
            let lobby = self.handle.clone();
            self.threads.push(std::thread::spawn(move || {
                if let Err(error) = other.run() {
                    lobby.put(Message::Failed(error));
                }
            }));
        }
        loop {
            self.submit();
            self.flush();
            if matches!(self.others, OtherEngines::Lobby(_)) {
                let decisions = self.engine.decisions();
                self.handle.meters().decisions.store(decisions, Ordering::Relaxed);
            }
            if self.held.next_due().is_some() {
                self.release_until(clock::now_ms());
            }
            if let Some(error) = self.failure() {
                return Err(self.end_with(error));
            }
            if self.engine.is_stopping() {
                return self.drain();
            }
            // A commit may lead to more records, which join those of the inputs that wait.
            let pause = self.pause().filter(|_| self.appends.is_empty());
            self.turn(pause.unwrap_or(Duration::ZERO));
        }
    }

    /// Waits for sockets and for messages, at most for a time, and handles them.
    fn turn(&mut self, mut pause: Duration) {
        let mut message = self.inbox.try_recv().ok();
        if message.is_none() && !pause.is_zero() {
            self.handle.alarm().set();
            message = self.inbox.try_recv().ok();
        }
        if message.is_some() {
            pause = Duration::ZERO;
        }
        let earlier_ms = self.sockets.poll(pause);
        self.handle.alarm().unset();
        let is_quiet = self.sockets.is_quiet();
        if !is_quiet {
            self.note_turn(earlier_ms);
        }
        self.take_socket_inputs();
        self.handle.note_sockets_until(self.sockets.heard_until());
        match message.or_else(|| self.inbox.try_recv().ok()) {
            Some(message) => self.take_all(message),
            None if is_quiet => self.elapse(),
            None => {}
        }
    }

    /// Notes how long the sockets waited for this turn.
    fn note_turn(&mut self, waited_ms: Millis) {
        self.handle.meters().turns.add(waited_ms);
        let is_new = self.slow_turn.is_none_or(|logged| logged.elapsed() > SLOW_TURN_PAUSE);
        if waited_ms > TURN_MS_MAX && is_new {
            self.slow_turn = Some(Instant::now());
            tracing::warn!(waited_ms, "the engine was busy; late answers may count as in time");
        }
    }

    /// Handles what the last poll found, up to a limit; the next turn handles the rest.
    fn take_socket_inputs(&mut self) {
        for _ in 0..INPUTS_MAX {
            if self.failed.is_some() || self.engine.is_stopping() {
                return;
            }
            if let Err(error) = self.await_lease() {
                self.failed = Some(error);
                return;
            }
            match self.sockets.next_input(self.handle.meters()) {
                Some(input) => self.feed(self.time(), input),
                None => return,
            }
        }
    }

    fn elapse(&mut self) {
        if let Err(error) = self.await_lease() {
            self.failed = Some(error);
            return;
        }
        let time = self.time();
        // An answer that the lobby's engine passed on before this time may have come just now.
        if self.has_only_cells()
            && let Ok(message) = self.inbox.try_recv()
        {
            return self.take_all(message);
        }
        self.engine.elapse(time, time.now);
        self.carry_out();
    }

    /// Returns whether another engine of this server has the lobby.
    fn has_only_cells(&self) -> bool {
        self.id != EngineId::LOBBY
    }

    /// Waits until this node certainly owns the log. Meanwhile the clock stands still, and the
    /// server neither reads nor sends anything.
    fn await_lease(&mut self) -> Result<(), ServerError> {
        if !self.is_leased {
            return Ok(());
        }
        let follows = self.has_only_cells() && matches!(self.others, OtherEngines::Threads(_));
        let (begun, mut doubt) = (Instant::now(), Doubt::default());
        loop {
            match doubt.turn(self.log.standing(), begun.elapsed()) {
                Turn::Act => return Ok(()),
                Turn::TakenOver => return Err(ServerError::TakenOver),
                // The thread of the lobby's engine stops the clock, and gives up.
                Turn::ActAgain(_) if follows => return Ok(()),
                _ if follows => {}
                Turn::ActAgain(silent) => {
                    clock::resume();
                    self.handle.meters().unsure.store(false, Ordering::Relaxed);
                    let away_ms = silent.as_millis() as u64;
                    tracing::info!(away_ms, "the database answers again; all clocks continue");
                    return Ok(());
                }
                Turn::FallSilent => {
                    clock::stop();
                    self.handle.meters().unsure.store(true, Ordering::Relaxed);
                    tracing::warn!("the database does not answer; all clocks stand still");
                }
                Turn::Wait => {}
                Turn::NoDatabase(unanswered) => return Err(ServerError::NoDatabase(unanswered)),
            }
            std::thread::sleep(LEASE_PAUSE);
        }
    }

    /// Handles a message and those that wait behind it, up to a limit.
    fn take_all(&mut self, first: Message) {
        let mut message = first;
        for left in (0..INPUTS_MAX).rev() {
            if let Err(error) = self.await_lease() {
                self.failed = Some(error);
                return;
            }
            self.take(message);
            self.handle.note_handled();
            if self.failed.is_some() || self.engine.is_stopping() || left == 0 {
                return;
            }
            let Ok(next) = self.inbox.try_recv() else { return };
            message = next;
        }
    }

    fn take(&mut self, message: Message) {
        let time = self.time();
        match message {
            Message::Input(input) => self.feed(time, input),
            Message::Placed(input, place) => {
                drop(place);
                self.feed(time, input);
            }
            // A server that stops drops the outboxes of new connections, which closes them at once.
            Message::Opened { .. } if self.engine.is_stopping() => {}
            Message::Opened { conn, out, from } => {
                let seat = out.seat();
                self.outboxes.insert(conn, out);
                self.feed(time, Input::Opened { conn, seat, from });
            }
            // The engine may have closed the connection in the meantime.
            Message::Read(open) => {
                if self.outboxes.contains_key(&open.conn()) {
                    self.sockets.add(*open);
                }
            }
            Message::NodeGone(conn, guard) => {
                self.feed(time, Input::NodeGone { conn, is_stopping: false });
                drop(guard);
            }
            Message::Query { query, reply } => {
                self.queries += 1;
                let id = QueryId(self.queries);
                self.replies.insert(id, reply);
                self.feed(time, Input::Query { id, query });
            }
            Message::Watch(watcher, queue) => drop(self.watchers.insert(watcher, queue)),
            Message::Answered(reply, answer) => reply(answer),
            Message::RemoteQuery { id, query } => {
                self.queries += 1;
                let own = QueryId(self.queries);
                if let OtherEngines::Lobby(lobby) = &mut self.others {
                    lobby.asked(own, id, query.clone());
                }
                self.feed(time, Input::Query { id: own, query: query.into_query() });
            }
            Message::PassedUntil(until) => {
                if let OtherEngines::Lobby(lobby) = &mut self.others {
                    lobby.until = until;
                }
            }
            Message::Show(watcher, shown) => {
                if let Some(queue) = self.watchers.get_mut(&watcher) {
                    queue.show(shown);
                }
            }
            Message::EndWatch(watcher) => drop(self.watchers.remove(&watcher)),
            Message::Failed(error) => self.failed = Some(error),
            Message::Committed { streams, results } => {
                self.submitted -= 1;
                self.committed(time, streams, results);
            }
        }
    }

    /// Tells the engine that records are durable, or that one was refused. A refusal that concerns
    /// one stream drops its tournament here. Every other one ends this driver.
    fn committed(
        &mut self,
        time: Time,
        streams: Vec<StreamKey>,
        results: Vec<Result<u64, AppendError>>,
    ) {
        for (stream, result) in streams.into_iter().zip(results) {
            match result {
                Ok(_) => self.feed(time, Input::Committed(stream)),
                Err(error) if is_about_one_stream(&error) && stream.tournament().is_some() => {
                    let stream_name = stream.name();
                    tracing::error!(
                        %error,
                        stream = stream_name,
                        "the log refused a record; this node drops the tournament and plays on"
                    );
                    self.feed(time, Input::Refused(stream));
                }
                Err(error) => {
                    self.failed = Some(error.into());
                    return self.feed(time, Input::Refused(stream));
                }
            }
        }
        self.flush();
    }

    /// Gives the engine an input, carries out its effects, and runs timers that are long due: time
    /// must not stand still under load. The inbox is in order, so all input that was read earlier
    /// has been handled.
    fn feed(&mut self, time: Time, input: Input) {
        let read_at = match &input {
            Input::Said { at, .. } | Input::Translated { at, .. } => {
                self.handle.meters().inbox_ms.add(time.now.since(*at));
                Some(*at)
            }
            Input::Peer { at, .. } => Some(*at),
            Input::Passed { .. } if self.has_only_cells() => Some(time.read_until),
            Input::Closed { conn } => {
                self.forget(*conn);
                None
            }
            Input::Unwatch(watcher) => {
                let is_here = self.watchers.remove(watcher).is_some();
                let has_nodes = matches!(self.others, OtherEngines::Nodes(_));
                if !self.has_only_cells() && (has_nodes || !is_here) {
                    self.others.unwatch(*watcher);
                }
                None
            }
            _ => None,
        };
        if let Some(at) = read_at {
            self.handle.note_read_at(at);
        }
        self.engine.handle(time, input);
        if let Some(at) = read_at {
            let until = at.before(BEHIND_MS_MAX);
            let heard_until = self.handle.meters().reads.heard_until(until);
            let relayed = self.handle.relay_times().passed_until();
            let read_until = heard_until.min(self.sockets.heard_until()).min(relayed);
            self.engine.elapse(Time { now: time.now, read_until }, until);
        }
        self.carry_out();
    }

    fn time(&self) -> Time {
        let now = clock::now_ms();
        let heard = self.handle.meters().reads.heard_until(now);
        let read_until = match &self.others {
            OtherEngines::Lobby(lobby) => lobby.until.min(now),
            _ if self.has_only_cells() => heard.min(self.handle.passed_until(now)),
            _ => {
                let relayed = self.handle.relay_times().passed_until();
                heard.min(self.sockets.heard_until()).min(relayed)
            }
        };
        Time { now, read_until }
    }

    /// How long until the next timer, or until a notice is due; `None` if one is due now.
    fn pause(&self) -> Option<Duration> {
        let due = self.engine.next_due().into_iter().chain(self.held.next_due()).min();
        let pause_max = if self.is_leased { LEASE_PAUSE } else { PAUSE_MAX };
        let Some(at) = due else { return Some(pause_max) };
        let now = clock::now_ms();
        (at > now).then(|| Duration::from_millis(at.since(now)).min(pause_max))
    }

    fn failure(&mut self) -> Option<ServerError> {
        self.failed.take().or_else(|| self.engine.take_failure().map(ServerError::from))
    }

    /// Carries out the engine's effects, until there are no more.
    fn carry_out(&mut self) {
        loop {
            self.engine.take_effects(&mut self.effects);
            if self.effects.is_empty() && self.full.is_empty() {
                return;
            }
            let mut list = self.effects.take();
            list.drain(..).for_each(|effect| self.perform(effect));
            self.effects.clear(list);
            for conn in std::mem::take(&mut self.full) {
                self.forget(conn);
                self.engine.handle(self.engine.time(), Input::Closed { conn });
            }
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Send { conn, line } => drop(self.write(conn, &line, None)),
            Effect::Notice { conn, line } => self.send_notice(conn, &line),
            Effect::Ask { conn, ask, line, follows, .. } => {
                if let Some(written) = self.write(conn, &line, Some(&ask)) {
                    self.asked(conn, ask, written, follows);
                }
            }
            Effect::Call { conn, tell } => {
                self.put(conn, |outbox| outbox.tell(tell));
            }
            Effect::Observe { conn, message, due } => {
                self.put(conn, |outbox| outbox.observe(message, due));
            }
            Effect::Admit { conn } => {
                if let Some(outbox) = self.outboxes.get(&conn) {
                    outbox.logged_in();
                }
            }
            Effect::Close { conn, why } => {
                self.release(conn);
                if let Some(outbox) = self.outboxes.get(&conn) {
                    outbox.ends(why);
                    // The gateway closes the socket when its outbox is dropped.
                    self.forget(conn);
                }
            }
            Effect::Append(Record { stream, name, expected, lines }) => {
                self.streams.push(stream);
                self.appends.push(Append { stream: name, expected, lines });
            }
            Effect::CheckPassword { conn, from, account, check } => {
                self.check_password(conn, from, account, check);
            }
            Effect::Load(stream) => self.load(stream),
            Effect::ReadTournament { id, reading } => self.read_tournament(id, reading),
            Effect::AskHouse(question) => {
                if let Some(game) = self.engine.game_of(&question) {
                    self.houses.ask(*question, game.boxed_clone(), self.handle.clone());
                }
            }
            // Only a host of local programs divides its tournament.
            Effect::HandOut(_) | Effect::Report(_) => {}
            Effect::KeepSnapshot { seq, lobby } => self.keep_snapshot(seq, *lobby),
            Effect::Show { watcher, shown } => {
                if let Some(shown) = self.others.show(watcher, shown)
                    && let Some(queue) = self.watchers.get_mut(&watcher)
                {
                    queue.show(shown);
                }
            }
            Effect::EndWatch { watcher } => {
                self.others.end_watch(watcher);
                self.watchers.remove(&watcher);
            }
            Effect::Reply { query, answer } => {
                let reply = self.replies.remove(&query);
                self.others.reply(self.id, query, reply, answer);
            }
            Effect::NoReply { query } => {
                self.others.no_reply(query);
                self.replies.remove(&query);
            }
            Effect::Pass { to, message } => self.others.pass(self.id, to, message),
            Effect::Forward { to, query, what } => self.forward(to, query, what),
            Effect::Note(note) => notes::report(self.handle.meters(), &note),
        }
    }

    /// Writes a notice, or holds it for the next message.
    fn send_notice(&mut self, conn: ConnId, line: &LineRange) {
        let Some(outbox) = self.outboxes.get(&conn) else { return };
        let (text, now) = (self.effects.line(line), self.engine.now_ms());
        if !(outbox.joins_lines() && self.held.hold(conn, text, now)) {
            self.write(conn, line, None);
        }
    }

    /// Has another engine answer a query. A thread also gets the watcher that the query subscribes.
    fn forward(&mut self, to: EngineId, query: QueryId, what: Box<dyn AnyQuery>) {
        let reply = self.replies.remove(&query);
        if let OtherEngines::Threads(engines) = &self.others
            && let Some(engine) = engines.get(usize::from(to.0))
            && let Some(watcher) = what.watcher()
            && let Some(queue) = self.watchers.remove(&watcher)
        {
            engine.put(Message::Watch(watcher, queue));
        }
        self.others.forward(to, query, what, reply);
    }

    /// Writes a message, and before it the notices that wait for it. `None` if the connection is
    /// closed.
    fn write(&mut self, conn: ConnId, line: &LineRange, ask: Option<&AskId>) -> Option<Written> {
        let outbox = self.outboxes.get(&conn)?;
        let line = self.effects.line(line);
        let written = match self.held.take(conn) {
            Some(mut lines) => {
                lines.extend_from_slice(line);
                outbox.send(&lines, ask)
            }
            None => outbox.send(line, ask),
        };
        if ask.is_some() && outbox.is_shared() {
            self.unflushed.push(conn);
        }
        if written == Written::Full {
            self.full.push(conn);
        }
        Some(written)
    }

    /// Writes the notices that wait for the next message to a connection.
    fn release(&mut self, conn: ConnId) {
        if let Some(lines) = self.held.take(conn)
            && let Some(outbox) = self.outboxes.get(&conn)
            && outbox.send(&lines, None) == Written::Full
        {
            self.full.push(conn);
        }
    }

    /// Writes the notices that have waited long enough.
    fn release_until(&mut self, until: Timestamp) {
        while let Some((conn, lines)) = self.held.take_due(until) {
            if let Some(outbox) = self.outboxes.get(&conn)
                && outbox.send(&lines, None) == Written::Full
            {
                self.full.push(conn);
            }
        }
        self.carry_out();
    }

    /// Handles the outcome of sending a request: it was written, or it waits.
    fn asked(&mut self, conn: ConnId, ask: AskId, written: Written, follows: Option<Timestamp>) {
        let until = match written {
            Written::At(at) => {
                let time = self.engine.time();
                self.engine.handle(time, Input::Delivered { conn, ask, at });
                at
            }
            // A request that waits for its reader does not count as the server's delay.
            Written::Later => self.engine.now_ms(),
            Written::Full => return,
        };
        if let Some(at) = follows {
            self.handle.meters().turn_ms.add(until.since(at));
        }
    }

    fn put(&mut self, conn: ConnId, put: impl FnOnce(&Outbox) -> bool) {
        if let Some(outbox) = self.outboxes.get(&conn)
            && !put(outbox)
        {
            self.full.push(conn);
        }
    }

    fn forget(&mut self, conn: ConnId) {
        self.outboxes.remove(&conn);
        self.sockets.remove(conn);
        self.held.take(conn);
        self.checking.remove(&conn);
    }

    /// Flushes the connections that share a socket.
    fn flush(&mut self) {
        for conn in self.unflushed.drain(..) {
            if let Some(outbox) = self.outboxes.get(&conn) {
                outbox.flush();
            }
        }
    }

    /// Commits the collected records, or submits them to the log's thread, all at once.
    fn submit(&mut self) {
        if self.appends.is_empty() {
            return;
        }
        let streams = std::mem::take(&mut self.streams);
        let mut appends = std::mem::take(&mut self.appends);
        if appends.len() <= COMMIT_HERE_MAX && self.submitted == 0 {
            match self.log.commit_here(appends) {
                Ok(results) => return self.committed(self.time(), streams, results),
                Err(not_now) => appends = not_now,
            }
        }
        let handle = self.handle.clone();
        let done = move |results| handle.put(Message::Committed { streams, results });
        self.submitted += 1;
        self.log.submit_all(appends, Box::new(done));
    }

    /// Checks a password on another thread, unless the connection closes first.
    fn check_password(
        &mut self,
        conn: ConnId,
        from: IpAddr,
        account: PlayerName,
        check: PasswordCheck,
    ) {
        let checking = Arc::new(());
        let open = Arc::downgrade(&checking);
        self.checking.insert(conn, checking);
        let purpose = match check {
            PasswordCheck::Verify { .. } | PasswordCheck::Change { .. } => Purpose::Proof,
            PasswordCheck::VerifyNobody { .. } => Purpose::ProofOfNobody,
            PasswordCheck::Hash { .. } => Purpose::New,
        };
        let attempt = Attempt { from, account, purpose, at: self.engine.now_ms() };
        let handle = self.handle.clone();
        let work = move |start: Result<(), Unchecked>| {
            let result = match start {
                Ok(()) => checked(check),
                Err(why) => PasswordResult::NotChecked(why.to_string()),
            };
            let verdict = match result {
                PasswordResult::Right | PasswordResult::Hashed(_) => GuessVerdict::Right,
                PasswordResult::Wrong => GuessVerdict::Wrong,
                PasswordResult::Failed(_) | PasswordResult::NotChecked(_) => {
                    GuessVerdict::Unchecked
                }
            };
            let deliver = Box::new(move || handle.send(Input::Checked { conn, result }));
            Finished { verdict, deliver }
        };
        let is_wanted = move || open.strong_count() > 0;
        self.handle.passwords().submit(attempt, is_wanted, work);
    }

    fn read_tournament(&mut self, id: TournamentId, reading: u64) {
        self.tournaments.read((id, reading), &self.log, &self.handle);
    }

    /// Loads a stream on another thread.
    fn load(&self, stream: StreamKey) {
        let (log, handle) = (Arc::clone(&self.log), self.handle.clone());
        self.blocking.spawn_blocking(move || {
            let lines = log.load(&stream.name(), 0).map_err(ReadError::from);
            handle.send(Input::Loaded { stream, lines });
        });
    }

    fn keep_snapshot(&mut self, seq: u64, lobby: Lobby) {
        let (log, handle) = (Arc::clone(&self.log), self.handle.clone());
        self.snapshot = Some(std::thread::spawn(move || {
            if let Err(error) = log.keep_snapshot(&snapshot_of(&lobby, seq)) {
                tracing::warn!("no snapshot of the lobby: {error}; the next start takes longer");
            }
            handle.send(Input::SnapshotKept);
        }));
    }

    fn wait_for_snapshot(&mut self) {
        if let Some(writing) = self.snapshot.take() {
            let _ = writing.join();
        }
    }

    /// Waits for the log, closes the connections and takes a snapshot for the next start.
    fn drain(mut self) -> Result<(), ServerError> {
        self.stop_others();
        let give_up = Instant::now() + DRAIN_MAX;
        loop {
            self.submit();
            if let Some(error) = self.failure() {
                self.say_goodbye();
                return Err(error);
            }
            if self.engine.is_drained() {
                break;
            }
            // A commit on this thread may lead to more records, of which no message will come.
            if !self.appends.is_empty() {
                continue;
            }
            let left = give_up.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(message) => self.take(message),
                Err(_) => return Err(ServerError::Undrained(DRAIN_MAX)),
            }
        }
        self.log.flush()?;
        self.say_goodbye();
        self.wait_for_snapshot();
        self.engine.finish();
        self.carry_out();
        self.wait_for_snapshot();
        self.handle.passwords().keep();
        Ok(())
    }

    /// Stops after an internal error. Players are only notified that the server stops.
    fn end_with(mut self, error: ServerError) -> ServerError {
        if !self.engine.is_stopping() {
            self.engine.tell_stopping();
            self.carry_out();
        }
        self.say_goodbye();
        self.stop_others();
        error
    }

    /// Stops the other engines of this server, and waits until their records are durable.
    fn stop_others(&mut self) {
        if !self.has_only_cells() {
            self.others.stop();
        }
        for thread in self.threads.drain(..) {
            // The panic hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }

    /// Closes the outboxes and waits until the gateways have written their contents.
    fn say_goodbye(&mut self) {
        self.release_until(Timestamp::MAX);
        let mut leaving: HashSet<ConnId> = self.outboxes.keys().copied().collect();
        self.outboxes.values().for_each(|outbox| outbox.ends(CloseReason::Stopping));
        self.outboxes.clear();
        let give_up = Instant::now() + GOODBYE_MAX;
        while !leaving.is_empty() {
            let left = give_up.saturating_duration_since(Instant::now());
            match self.inbox.recv_timeout(left) {
                Ok(Message::Input(Input::Closed { conn }) | Message::NodeGone(conn, _)) => {
                    leaving.remove(&conn);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

/// Returns whether a refusal says nothing about other streams: somebody else has written this one,
/// or its record is invalid.
fn is_about_one_stream(error: &AppendError) -> bool {
    matches!(
        error,
        AppendError::Conflict { .. }
            | AppendError::BadStream { .. }
            | AppendError::BadLine { .. }
            | AppendError::BadSize { .. }
    )
}

/// Checks or hashes a password. Slow on purpose.
fn checked(check: PasswordCheck) -> PasswordResult {
    let hashed = |password: &str| match auth::hash(password) {
        Ok(hash) => PasswordResult::Hashed(hash),
        Err(error) => PasswordResult::Failed(error),
    };
    match check {
        PasswordCheck::Verify { password, hash: Some(hash) } if auth::matches(&password, &hash) => {
            PasswordResult::Right
        }
        PasswordCheck::Verify { .. } => PasswordResult::Wrong,
        PasswordCheck::VerifyNobody { password } => {
            // As slow as a wrong password, so that the response time does not reveal which names
            // exist.
            let _ = auth::hash(&password);
            PasswordResult::Wrong
        }
        PasswordCheck::Hash { password } => hashed(&password),
        PasswordCheck::Change { old, new, hash: Some(hash) } if auth::matches(&old, &hash) => {
            hashed(&new)
        }
        PasswordCheck::Change { .. } => PasswordResult::Wrong,
    }
}
