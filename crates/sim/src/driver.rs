//! A server without threads and sockets: the engine under the simulator's own driver.
//!
//! The driver does what a server's driver does, one input after the other, and takes the time as an
//! argument. Connections are [`Socket`](crate::socket::Socket)s: bytes pass through the framing and
//! the translation that gateways use.

use crate::socket::{Out, Outbox};
use agon_bots::Houses;
use agon_core::lobby::{
    AccountKind, Announcement, Lobby, LobbyCommand, PasswordHash, Role, TokenHash,
};
use agon_core::{Match, Millis, PlayerName, Ruling, Secret, Timestamp, TournamentId};
use agon_engine::query::{AnyAnswer, CarryOut, Decide, OpenSignUp, Order, Query};
use agon_engine::{
    ConnId, Effect, Effects, Engine, EngineError, HousePlayers, HouseQuestion, Input,
    LobbySnapshot, QueryId, ReadError, Record, Settings, StreamKey, StreamReader, Time,
};
use agon_games::Registry;
use agon_store::{Append, AppendError, Log, Snapshot};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How far timers may lag behind the input, as in a real server.
const BEHIND_MS_MAX: Millis = 1_000;

/// Why a server ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The log rejected a record.
    Refused(AppendError),
    /// The log is invalid.
    Failed(EngineError),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Refused(error) => write!(f, "the log did not take a record: {error}"),
            Ended::Failed(error) => write!(f, "{error}"),
        }
    }
}

/// Bounds on connections.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// How many messages may wait to be sent to one connection.
    pub(crate) outbox_lines_max: usize,
    /// The longest message a player may send.
    pub(crate) line_bytes_max: usize,
}

/// A message to a server.
enum Message {
    Input(Input),
    /// Records that the log committed or rejected, each with its stream.
    Committed(Vec<StreamKey>, Vec<Result<u64, AppendError>>),
}

/// The engine and its driver.
pub(crate) struct Driver {
    engine: Engine,
    log: Arc<dyn Log>,
    houses: Arc<Houses>,
    pub(crate) limits: Limits,
    next_conn: u64,
    next_query: u64,
    inbox: Receiver<Message>,
    sender: Sender<Message>,
    effects: Effects,
    streams: Vec<StreamKey>,
    appends: Vec<Append>,
    answers: Answers,
    outboxes: BTreeMap<ConnId, Rc<RefCell<Outbox>>>,
}

/// Answers that no caller has taken yet. They outlive the server that gave them.
type Answers = Rc<RefCell<BTreeMap<QueryId, AnyAnswer>>>;

/// An order that was submitted.
pub(crate) struct Promise {
    query: QueryId,
    answers: Answers,
}

impl Promise {
    /// The result of the order once it is committed; an error says why the server rejected it.
    pub(crate) fn take(&self) -> Option<Result<(), String>> {
        let answer = self.answers.borrow_mut().remove(&self.query)?;
        let answer = answer.downcast::<<CarryOut as Query>::Answer>()?;
        Some(answer.map(|_| ()).map_err(|not| not.to_string()))
    }
}

impl Driver {
    /// Opens an engine over a log at `now`.
    pub(crate) fn open(
        log: Arc<dyn Log>,
        games: Registry,
        houses: Houses,
        settings: Settings,
        limits: Limits,
        now: Timestamp,
    ) -> Result<Driver, EngineError> {
        let houses = Arc::new(houses);
        let reader = Box::new(LogReader(Arc::clone(&log)));
        let list = Box::new(HouseList(Arc::clone(&houses)));
        // Tournament secrets come from the seed in the settings, tokens from the players.
        let key = [0; 32];
        let engine = Engine::open(reader, games, list, settings, key, now)?;
        let (sender, inbox) = channel();
        let mut driver = Driver {
            engine,
            log,
            houses,
            limits,
            next_conn: 1,
            next_query: 0,
            inbox,
            sender,
            effects: Effects::default(),
            streams: Vec::new(),
            appends: Vec::new(),
            answers: Answers::default(),
            outboxes: BTreeMap::new(),
        };
        driver.carry_out();
        driver.submit();
        Ok(driver)
    }

    /// Processes all waiting input, fires the timers that are due at `now`, and submits the records
    /// to the log.
    pub(crate) fn step(&mut self, now: Timestamp) -> Result<(), Ended> {
        loop {
            let mut heard = false;
            while let Ok(message) = self.inbox.try_recv() {
                heard = true;
                self.take(message, now)?;
            }
            self.engine.elapse(Time::at(now), now);
            self.carry_out();
            self.submit();
            self.check()?;
            // The log may answer immediately, so check the inbox again.
            if !heard {
                return Ok(());
            }
        }
    }

    fn take(&mut self, message: Message, now: Timestamp) -> Result<(), Ended> {
        match message {
            Message::Input(input) => self.feed(input, now),
            Message::Committed(streams, results) => {
                for (stream, result) in streams.into_iter().zip(results) {
                    result.map_err(Ended::Refused)?;
                    self.feed(Input::Committed(stream), now);
                    self.check()?;
                }
            }
        }
        self.check()
    }

    fn check(&mut self) -> Result<(), Ended> {
        self.engine.take_failure().map_or(Ok(()), |error| Err(Ended::Failed(error)))
    }

    fn feed(&mut self, input: Input, now: Timestamp) {
        let read_at = match &input {
            Input::Said { at, .. } | Input::Peer { at, .. } => Some(*at),
            Input::Closed { conn } => {
                self.outboxes.remove(conn);
                None
            }
            // A stopping server closes new connections immediately.
            Input::Opened { conn, .. } if self.engine.is_stopping() => {
                self.close(*conn);
                None
            }
            _ => None,
        };
        self.engine.handle(Time::at(now), input);
        if let Some(at) = read_at {
            let until = at.before(BEHIND_MS_MAX);
            self.engine.elapse(Time { now, read_until: until }, until);
        }
        self.carry_out();
    }

    /// Carries out the engine's effects until no more follow from them.
    fn carry_out(&mut self) {
        loop {
            self.engine.take_effects(&mut self.effects);
            if self.effects.is_empty() {
                return;
            }
            let mut list = self.effects.take();
            let mut full = Vec::new();
            for effect in list.drain(..) {
                full.extend(self.perform(effect));
            }
            self.effects.clear(list);
            for conn in full {
                self.close(conn);
                self.engine.handle(self.engine.time(), Input::Closed { conn });
            }
        }
    }

    /// Carries out one effect. Returns the connection if its outbox is full.
    fn perform(&mut self, effect: Effect) -> Option<ConnId> {
        match effect {
            Effect::Send { conn, line } | Effect::Notice { conn, line } => {
                let line = self.effects.line(&line).to_vec();
                self.put(conn, Out::Line(line, None))
            }
            Effect::Ask { conn, ask, line, .. } => {
                let line = self.effects.line(&line).to_vec();
                self.put(conn, Out::Line(line, Some(ask)))
            }
            Effect::Call { conn, tell } => self.put(conn, Out::Tell(tell)),
            // No simulated player observes over another system's protocol, and a server does not
            // divide its tournaments.
            Effect::Observe { .. }
            | Effect::HandOut(_)
            | Effect::Report(_)
            | Effect::Admit { .. }
            | Effect::Pass { .. }
            | Effect::Forward { .. }
            | Effect::NoReply { .. }
            | Effect::Note(_) => None,
            Effect::Close { conn, .. } => {
                self.close(conn);
                None
            }
            Effect::Append(Record { stream, name, expected, lines }) => {
                self.streams.push(stream);
                self.appends.push(Append { stream: name, expected, lines });
                None
            }
            // Simulated players log in with tokens.
            Effect::CheckPassword { .. } => None,
            Effect::Load(stream) => {
                let lines = self.log.load(&stream.name(), 0).map_err(ReadError::from);
                self.send(Input::Loaded { stream, lines });
                None
            }
            Effect::AskHouse(question) => {
                self.ask_house(*question);
                None
            }
            Effect::KeepSnapshot { seq, lobby } => {
                let (stream, format) = (StreamKey::Lobby.name(), Lobby::SNAPSHOT_VERSION);
                let snapshot = Snapshot { stream, format, seq, state: lobby.snapshot() };
                // A snapshot is only an optimisation, so a failure does not matter.
                let _ = self.log.keep_snapshot(&snapshot);
                self.engine.handle(self.engine.time(), Input::SnapshotKept);
                None
            }
            Effect::Reply { query, answer } => {
                self.answers.borrow_mut().insert(query, answer);
                None
            }
            // The simulation has no HTTP spectators.
            Effect::Show { .. } | Effect::EndWatch { .. } => None,
        }
    }

    fn close(&mut self, conn: ConnId) {
        if let Some(outbox) = self.outboxes.remove(&conn) {
            outbox.borrow_mut().close();
        }
    }

    fn put(&mut self, conn: ConnId, out: Out) -> Option<ConnId> {
        let outbox = self.outboxes.get(&conn)?;
        (!outbox.borrow_mut().put(out)).then_some(conn)
    }

    fn ask_house(&mut self, question: HouseQuestion) {
        let Some(game) = self.engine.game_of(&question) else { return };
        // A simulated world has its own time, so house players need not look at the clock.
        let HouseQuestion { key, player, name, request, seat, .. } = question;
        let Ok(mut house) = self.houses.make(game.name(), &name) else { return };
        let answer = house.answer(player.as_str(), request.as_str(), seat, game);
        let answer = answer.get().to_owned();
        self.send(Input::House { key, player, request, answer });
    }

    fn submit(&mut self) {
        if self.appends.is_empty() {
            return;
        }
        let streams = std::mem::take(&mut self.streams);
        let appends = std::mem::take(&mut self.appends);
        let sender = self.sender.clone();
        // A server that has ended ignores the answer.
        let done = move |results| drop(sender.send(Message::Committed(streams, results)));
        self.log.submit_all(appends, Box::new(done));
    }

    /// Puts an input into the inbox; the next step processes it.
    pub(crate) fn send(&self, input: Input) {
        let _ = self.sender.send(Message::Input(input));
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        self.engine.next_due()
    }

    /// Begins to stop: the server notifies players and processes no new requests.
    pub(crate) fn stop(&mut self) {
        self.engine.handle(self.engine.time(), Input::Stop);
        self.carry_out();
    }

    /// Whether all decisions are durable.
    pub(crate) fn is_drained(&self) -> bool {
        self.engine.is_drained()
    }

    /// Writes a snapshot for the next start, and closes all connections.
    pub(crate) fn finish(&mut self) {
        self.engine.finish();
        self.carry_out();
        self.outboxes.values().for_each(|outbox| outbox.borrow_mut().close());
    }

    /// The id of a new connection.
    pub(crate) fn next_conn(&mut self) -> ConnId {
        let conn = ConnId(self.next_conn);
        self.next_conn += 1;
        conn
    }

    /// Opens an outbox for a connection.
    pub(crate) fn open_outbox(&mut self, conn: ConnId) -> Rc<RefCell<Outbox>> {
        let outbox = Rc::new(RefCell::new(Outbox::new(self.limits.outbox_lines_max)));
        self.outboxes.insert(conn, Rc::clone(&outbox));
        outbox
    }

    fn query(&mut self, query: impl Query) -> (QueryId, Input) {
        self.next_query += 1;
        let id = QueryId(self.next_query);
        (id, Input::Query { id, query: Box::new(query) })
    }

    /// Queries the engine immediately, between two steps, and ignores the answer.
    fn decide(&mut self, query: impl Query) {
        let (id, input) = self.query(query);
        self.engine.handle(self.engine.time(), input);
        self.carry_out();
        self.answers.borrow_mut().remove(&id);
    }

    /// Creates an account with this token if there is none.
    pub(crate) fn account(
        &mut self,
        account: PlayerName,
        (kind, role): (AccountKind, Role),
        password: Option<PasswordHash>,
        token: &str,
    ) {
        if self.engine.lobby().account(&account).is_none() {
            let name = account.clone();
            self.decide(Decide(LobbyCommand::Register { account: name, kind, role, password }));
            self.token(account, token);
        }
    }

    /// Gives an account a token.
    pub(crate) fn token(&mut self, account: PlayerName, token: &str) {
        let expires_at = self.engine.now_ms() + Settings::default().token_ms;
        let token = TokenHash::of(token);
        self.decide(Decide(LobbyCommand::IssueToken { account, token, expires_at }));
    }

    /// Submits an order to the engine, which processes it in turn.
    pub(crate) fn order(&mut self, order: Order, ruling: Ruling) -> Promise {
        let (id, input) = self.query(CarryOut { order, ruling });
        self.send(input);
        Promise { query: id, answers: Rc::clone(&self.answers) }
    }

    /// Opens a sign-up for programs of another system, as a starting server does.
    pub(crate) fn open_sign_up(&mut self, series: &Arc<Announcement>) {
        self.decide(OpenSignUp(Arc::clone(series)));
    }

    /// Whether a player is connected, over any connection.
    pub(crate) fn is_here(&self, player: &PlayerName) -> bool {
        self.engine.is_connected(player)
    }

    /// Connections the engine knows of.
    pub(crate) fn connections(&self) -> usize {
        self.engine.status().connections
    }

    /// The lobby, if none of its records is in flight.
    pub(crate) fn durable_lobby(&self) -> Option<&Lobby> {
        self.engine.is_durable(&StreamKey::Lobby).then(|| self.engine.lobby())
    }

    /// The running matches without records in flight, each with the secret of its tournament.
    pub(crate) fn durable_matches(&self) -> impl Iterator<Item = (&TournamentId, &Match, &Secret)> {
        let all = self.engine.live_matches();
        all.filter(|(key, ..)| self.engine.is_durable(&StreamKey::Match((*key).clone())))
            .map(|(key, played, secret)| (&key.tournament, played, secret))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.outboxes.values().for_each(|outbox| outbox.borrow_mut().close());
    }
}

/// Read access to the log.
struct LogReader(Arc<dyn Log>);

impl StreamReader for LogReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        Ok(self.0.load(stream, after)?)
    }

    fn latest(&self) -> Option<String> {
        self.0.latest().ok().flatten()
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        let found = self.0.snapshot(&StreamKey::Lobby.name())?;
        Ok(found.map(|found| LobbySnapshot {
            format: found.format,
            seq: found.seq,
            state: found.state,
        }))
    }
}

/// The house players of a server.
struct HouseList(Arc<Houses>);

impl HousePlayers for HouseList {
    fn names(&self, game: &str) -> Vec<String> {
        self.0.list(game).into_iter().map(|(name, _)| name.to_owned()).collect()
    }

    fn check(&self, game: &str, name: &str) -> Result<(), String> {
        self.0.make(game, name).map(|_| ()).map_err(|error| error.to_string())
    }

    fn proposal(&self, game: &str, name: &str) -> Option<String> {
        let mut house = self.0.make(game, name).ok()?;
        Some(house.propose()?.get().to_owned())
    }
}
