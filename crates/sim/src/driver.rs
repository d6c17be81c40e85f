//! A server without threads and sockets: the engine under the simulator's own driver.
//!
//! The driver does what a server's driver does, one input after the other, and takes the time as an
//! argument. Connections are [`Socket`](crate::socket::Socket)s: bytes pass through the framing and
//! the translation that gateways use.
//!
//! A server may have several engines. Their messages take a while, and messages of different pairs
//! overtake each other. The world carries messages to and from engines on other nodes.

use crate::sabotage::Sabotage;
use crate::socket::{Origin, Out, Outbox};
use agon_bots::Houses;
use agon_core::lobby::{
    AccountKind, Announcement, Lobby, LobbyCommand, PasswordHash, Role, TokenHash,
};
use agon_core::{Match, Millis, PlayerName, Ruling, Secret, Timestamp, TournamentId};
use agon_driver::{HouseList, LogReader, house_answer, snapshot_of};
use agon_engine::query::{
    AnyAnswer, AnyQuery, CarryOut, Decide, OpenSignUp, Order, Query, RemoteQuery,
};
use agon_engine::{
    ConnId, Effect, Effects, Engine, EngineError, EngineId, EngineMessage, EngineRole,
    HouseQuestion, Input, QueryId, ReadError, Record, Settings, StreamKey, Time, read_tournaments,
};
use agon_games::Registry;
use agon_store::{Append, AppendError, Log, Snapshot};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// How far timers may lag behind the input, as in a real server.
const BEHIND_MS_MAX: Millis = 1_000;

/// The longest delay of a message between two engines: longer than an answer may be on its way.
pub(crate) const PASS_MS_MAX: Millis = 60;

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
    /// An input for an engine.
    Input(EngineId, Input),
    /// Records of an engine that the log committed or rejected, each with its stream.
    Committed(EngineId, Vec<StreamKey>, Vec<Result<u64, AppendError>>),
    /// A message of an engine on another node, and when it was sent.
    Remote(Input, Timestamp),
    /// A query of the lobby's engine on another node, with its number there.
    RemoteQuery(u64, RemoteQuery),
    /// The lobby's engine on another node has passed on all input up to this time.
    LobbyUntil(Timestamp),
    /// The answer to a query that another node has; none if there is no answer.
    Answered(QueryId, Option<AnyAnswer>),
}

/// A message for an engine on another node.
pub(crate) enum Outgoing {
    Passed(EngineId, Box<EngineMessage>),
    Query(EngineId, QueryId, RemoteQuery),
    /// The answer to a query of the lobby's engine, as JSON; none if there will be no answer.
    Answer(u64, Option<String>),
    /// A query of the lobby's engine goes back.
    Return(u64, RemoteQuery),
}

/// The engine and its driver.
pub(crate) struct Driver {
    /// The engines by number. In a server, the first has the lobby and the connections.
    engines: Vec<Engine>,
    /// The number of the first engine.
    first: EngineId,
    /// Messages for engines on other nodes.
    outgoing: Vec<Outgoing>,
    /// The time up to which the lobby's engine on another node has passed on all input.
    lobby_until: Option<Timestamp>,
    /// The queries of the lobby's engine on another node, with the number that each has there.
    remote: BTreeMap<QueryId, (u64, RemoteQuery)>,
    /// Messages between engines, in the order of each pair.
    passed: BTreeMap<(EngineId, EngineId), VecDeque<Passed>>,
    /// How many messages engines have sent; their delays follow from it.
    passed_count: u64,
    /// When the input that the lobby's engine handles now was read.
    read_at: Timestamp,
    /// The world's time at this step.
    world_now: Timestamp,
    /// The origin of the messages that the engines send now.
    origin: Origin,
    /// The tournaments of which engines have committed a record in this process.
    committed: BTreeSet<(EngineId, TournamentId)>,
    sabotage: Option<Sabotage>,
    log: Arc<dyn Log>,
    houses: Arc<Houses>,
    games: Registry,
    pub(crate) limits: Limits,
    next_conn: u64,
    next_query: u64,
    inbox: Receiver<Message>,
    /// A message that was taken from the inbox to see whether there is one.
    next_message: Option<Message>,
    sender: Sender<Message>,
    effects: Effects,
    /// The records of each engine that are not submitted yet.
    records: BTreeMap<EngineId, (Vec<StreamKey>, Vec<Append>)>,
    answers: Answers,
    outboxes: BTreeMap<ConnId, Rc<RefCell<Outbox>>>,
}

/// The parts that a driver is opened with.
pub(crate) struct DriverParts {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) games: Registry,
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    pub(crate) sabotage: Option<Sabotage>,
}

/// The content of a message between two engines.
enum Carried {
    Input(Input),
    /// The answer to a query, which must not overtake what its engine sent before.
    Answer(QueryId, AnyAnswer),
}

/// A message between two engines.
struct Passed {
    what: Carried,
    /// When it arrives.
    due: Timestamp,
    /// When the input that led to it was read.
    read_at: Timestamp,
    /// When it was sent, by the world's clock.
    sent_at: Timestamp,
}

/// Answers that no caller has taken yet; none if there is no answer. They outlive the server that
/// gave them.
type Answers = Rc<RefCell<BTreeMap<QueryId, Option<AnyAnswer>>>>;

/// An order that was submitted.
pub(crate) struct Promise {
    query: QueryId,
    answers: Answers,
}

impl Promise {
    /// The result of the order once it is committed; an error says why the server rejected it. The
    /// inner value is `None` if the server gives no answer.
    pub(crate) fn take(&self) -> Option<Option<Result<(), String>>> {
        let Some(answer) = self.answers.borrow_mut().remove(&self.query)? else {
            return Some(None);
        };
        let answer = answer.downcast::<<CarryOut as Query>::Answer>()?;
        Some(Some(answer.map(|_| ()).map_err(|not| not.to_string())))
    }
}

impl Driver {
    /// Opens an engine over a log at `now`. Its number is not 0 if the lobby is on another node.
    pub(crate) fn open(
        parts: DriverParts,
        number: EngineId,
        now: Timestamp,
    ) -> Result<Driver, EngineError> {
        let DriverParts { log, games, settings, limits, sabotage } = parts;
        let houses = Arc::new(Houses::standard());
        let open = |role| {
            let reader = Box::new(LogReader(Arc::clone(&log)));
            let list = Box::new(HouseList(Arc::clone(&houses)));
            let settings = Settings { role, ..settings.clone() };
            // Tournament secrets come from the seed in the settings, tokens from the players.
            Engine::open(reader, games.clone(), list, settings, [0; 32], now)
        };
        let cell_engines = match settings.role {
            EngineRole::Lobby { cell_engines } => cell_engines,
            EngineRole::LobbyOfNodes { .. } | EngineRole::Cells => 0,
        };
        let is_remote = settings.role == EngineRole::Cells;
        // The others read the lobby before the first one writes to it.
        let others = (0..cell_engines).map(|_| open(EngineRole::Cells));
        let others: Vec<Engine> = others.collect::<Result<_, _>>()?;
        let mut engines = vec![open(settings.role)?];
        engines.extend(others);
        let (sender, inbox) = channel();
        let mut driver = Driver {
            engines,
            first: number,
            outgoing: Vec::new(),
            lobby_until: is_remote.then(Timestamp::default),
            remote: BTreeMap::new(),
            passed: BTreeMap::new(),
            passed_count: settings.seed.unwrap_or(0),
            read_at: now,
            world_now: now,
            origin: Origin { decided_at: now, put_at: now },
            committed: BTreeSet::new(),
            sabotage,
            log,
            houses,
            games,
            limits,
            next_conn: 1,
            next_query: 0,
            inbox,
            next_message: None,
            sender,
            effects: Effects::default(),
            records: BTreeMap::new(),
            answers: Answers::default(),
            outboxes: BTreeMap::new(),
        };
        driver.carry_out();
        driver.submit();
        Ok(driver)
    }

    /// The id of an engine of this server.
    fn id_of(&self, at: usize) -> EngineId {
        EngineId(self.first.0 + at as u16)
    }

    /// The place of an engine in this server; `None` if it is on another node.
    fn place(&self, id: EngineId) -> Option<usize> {
        let at = usize::from(id.0.checked_sub(self.first.0)?);
        (at < self.engines.len()).then_some(at)
    }

    fn engine(&mut self, id: EngineId) -> &mut Engine {
        let at = self.place(id).expect("the engine is of this server");
        &mut self.engines[at]
    }

    /// Processes all waiting input, fires the timers that are due at `now`, and submits the records
    /// to the log. The server's clock may differ from the world's.
    pub(crate) fn step(&mut self, now: Timestamp, world_now: Timestamp) -> Result<(), Ended> {
        self.world_now = world_now;
        let at_once = Origin { decided_at: world_now, put_at: world_now };
        loop {
            let mut heard = false;
            self.origin = at_once;
            while let Some(message) = self.next_message() {
                heard = true;
                self.take(message, now)?;
            }
            self.read_at = now;
            while let Some((to, passed)) = self.next_passed(now) {
                heard = true;
                self.origin.decided_at = passed.sent_at;
                match passed.what {
                    Carried::Input(input) => self.feed(to, input, now),
                    Carried::Answer(id, answer) => {
                        self.answers.borrow_mut().insert(id, Some(answer));
                    }
                }
                self.check()?;
            }
            self.origin = at_once;
            for at in 0..self.engines.len() {
                let time = Time { now, read_until: self.passed_until(self.id_of(at), now) };
                self.engines[at].elapse(time, now);
                self.carry_out();
            }
            self.submit();
            self.check()?;
            // The log may answer immediately, so check the inbox again.
            if !heard {
                return Ok(());
            }
        }
    }

    fn next_message(&mut self) -> Option<Message> {
        self.next_message.take().or_else(|| self.inbox.try_recv().ok())
    }

    /// Returns whether a step at `now` would find anything to do.
    pub(crate) fn has_work(&mut self, now: Timestamp) -> bool {
        self.next_message = self.next_message();
        self.next_message.is_some() || self.next_due().is_some_and(|due| due <= now)
    }

    fn take(&mut self, message: Message, now: Timestamp) -> Result<(), Ended> {
        match message {
            Message::Input(to, input) => self.feed(to, input, now),
            Message::Remote(input, sent_at) => {
                self.origin.decided_at = sent_at;
                self.feed(self.first, input, now);
                self.origin.decided_at = self.world_now;
            }
            Message::RemoteQuery(id, query) => {
                self.next_query += 1;
                let own = QueryId(self.next_query);
                self.remote.insert(own, (id, query.clone()));
                let query = query.into_query();
                self.feed(self.first, Input::Query { id: own, query }, now);
            }
            Message::LobbyUntil(until) => self.lobby_until = Some(until),
            Message::Answered(id, answer) => drop(self.answers.borrow_mut().insert(id, answer)),
            Message::Committed(from, streams, results) => {
                for (stream, result) in streams.into_iter().zip(results) {
                    result.map_err(Ended::Refused)?;
                    let tournament = stream.tournament().cloned();
                    self.committed.extend(tournament.map(|tournament| (from, tournament)));
                    self.feed(from, Input::Committed(stream), now);
                    self.check()?;
                }
            }
        }
        self.check()
    }

    fn check(&mut self) -> Result<(), Ended> {
        let failure = self.engines.iter_mut().find_map(Engine::take_failure);
        failure.map_or(Ok(()), |error| Err(Ended::Failed(error)))
    }

    fn feed(&mut self, to: EngineId, input: Input, now: Timestamp) {
        let read_at = match &input {
            Input::Said { at, .. } | Input::Peer { at, .. } => Some(*at),
            Input::Closed { conn } => {
                self.outboxes.remove(conn);
                None
            }
            // A stopping server closes new connections immediately.
            Input::Opened { conn, .. } if self.engines[0].is_stopping() => {
                self.close(*conn);
                None
            }
            _ => None,
        };
        self.read_at = read_at.unwrap_or(now);
        let read_until = self.passed_until(to, now);
        let engine = self.engine(to);
        engine.handle(Time { now, read_until }, input);
        if let Some(at) = read_at {
            let until = at.before(BEHIND_MS_MAX);
            engine.elapse(Time { now, read_until: until }, until);
        }
        self.carry_out();
    }

    /// Takes a message between engines that has arrived.
    fn next_passed(&mut self, now: Timestamp) -> Option<(EngineId, Passed)> {
        self.passed.iter_mut().find_map(|((_, to), queue)| {
            let passed = queue.pop_front_if(|passed| passed.due <= now)?;
            Some((*to, passed))
        })
    }

    /// The time up to which an engine has all input that was read.
    fn passed_until(&self, to: EngineId, now: Timestamp) -> Timestamp {
        if let Some(until) = self.lobby_until {
            return until.min(now);
        }
        let queue = self.passed.get(&(EngineId::LOBBY, to));
        // Input that waited while the server stood still may be behind a newer message.
        let read_at = queue.into_iter().flatten().map(|passed| passed.read_at);
        read_at.min().map_or(now, |oldest| oldest.min(now))
    }

    /// Sends a message from one engine to another. It arrives after those that went before it.
    fn pass(&mut self, from: EngineId, to: EngineId, what: Carried) {
        self.passed_count = self.passed_count.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let delay_ms = (self.passed_count >> 33) % (PASS_MS_MAX + 1);
        let queue = self.passed.entry((from, to)).or_default();
        let before = queue.back().map_or(Timestamp::default(), |passed| passed.due);
        let due = (self.engines[0].now_ms() + delay_ms).max(before);
        queue.push_back(Passed { what, due, read_at: self.read_at, sent_at: self.world_now });
    }

    /// Carries out the engine's effects until no more follow from them.
    fn carry_out(&mut self) {
        for at in 0..self.engines.len() {
            loop {
                self.engines[at].take_effects(&mut self.effects);
                if self.effects.is_empty() {
                    break;
                }
                let mut list = self.effects.take();
                let mut full = Vec::new();
                for effect in list.drain(..) {
                    full.extend(self.perform(self.id_of(at), effect));
                }
                self.effects.clear(list);
                for conn in full {
                    self.close(conn);
                    let time = self.engines[at].time();
                    self.engines[at].handle(time, Input::Closed { conn });
                }
            }
        }
    }

    /// Carries out one effect of an engine. Returns the connection if its outbox is full.
    fn perform(&mut self, from: EngineId, effect: Effect) -> Option<ConnId> {
        match effect {
            Effect::Send { conn, line } | Effect::Notice { conn, line } => {
                let line = self.effects.line(&line).to_vec();
                self.put(conn, Out::Line(line, None, Some(self.origin)))
            }
            Effect::Ask { conn, ask, line, .. } => {
                let line = self.effects.line(&line).to_vec();
                self.put(conn, Out::Line(line, Some(ask), Some(self.origin)))
            }
            Effect::Call { conn, tell } => self.put(conn, Out::Tell(tell)),
            // No simulated player observes or has a password, and no server divides tournaments.
            Effect::Observe { .. }
            | Effect::CheckPassword { .. }
            | Effect::HandOut(_)
            | Effect::Report(_)
            | Effect::Admit { .. }
            | Effect::Note(_) => None,
            Effect::NoReply { query } => {
                self.reply(from, query, None);
                None
            }
            Effect::Close { conn, .. } => {
                self.close(conn);
                None
            }
            Effect::Append(Record { stream, name, expected, lines }) => {
                let (streams, appends) = self.records.entry(from).or_default();
                streams.push(stream);
                appends.push(Append { stream: name, expected, lines });
                None
            }
            Effect::Pass { to, message } => {
                self.pass_message(from, to, message);
                None
            }
            Effect::Forward { to, query: id, what: query } => {
                self.forward(from, to, id, query);
                None
            }
            Effect::Load(stream) => {
                let lines = self.log.load(&stream.name(), 0).map_err(ReadError::from);
                self.send_to(from, Input::Loaded { stream, lines });
                None
            }
            Effect::ReadTournament { id, reading } => {
                self.read_tournament(from, id, reading);
                None
            }
            Effect::AskHouse(question) => {
                self.ask_house(from, *question);
                None
            }
            Effect::KeepSnapshot { seq, lobby } => {
                self.keep_snapshot(from, &snapshot_of(&lobby, seq));
                None
            }
            Effect::Reply { query, answer } => {
                self.reply(from, query, Some(answer));
                None
            }
            // The simulation has no HTTP spectators.
            Effect::Show { .. } | Effect::EndWatch { .. } => None,
        }
    }

    /// Sends another engine a message.
    fn pass_message(&mut self, from: EngineId, to: EngineId, message: Box<EngineMessage>) {
        // A planted bug: a result is only in the memory of the engine that decided it.
        if self.sabotage == Some(Sabotage::EffectInMemory)
            && let Some(tournament) = message.result_of()
            && !self.committed.contains(&(from, tournament.clone()))
        {
            return;
        }
        match self.place(to) {
            None => self.outgoing.push(Outgoing::Passed(to, message)),
            Some(_) => self.pass(from, to, Carried::Input(Input::Passed { from, message })),
        }
    }

    /// Leaves a query to another engine.
    fn forward(&mut self, from: EngineId, to: EngineId, id: QueryId, query: Box<dyn AnyQuery>) {
        if self.place(to).is_some() {
            return self.pass(from, to, Carried::Input(Input::Query { id, query }));
        }
        let query = RemoteQuery::of(&*query).expect("queries about tournaments are data");
        self.outgoing.push(match self.remote.remove(&id) {
            Some((id, _)) => Outgoing::Return(id, query),
            None => Outgoing::Query(to, id, query),
        });
    }

    /// Gives a query its answer, or notes that it has none.
    fn reply(&mut self, from: EngineId, id: QueryId, answer: Option<AnyAnswer>) {
        if let Some((number, query)) = self.remote.remove(&id) {
            let answer = answer.and_then(|answer| query.encode(answer));
            self.outgoing.push(Outgoing::Answer(number, answer));
            return;
        }
        match answer {
            Some(answer) if from != self.first => {
                self.pass(from, EngineId::LOBBY, Carried::Answer(id, answer));
            }
            answer => drop(self.answers.borrow_mut().insert(id, answer)),
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

    fn keep_snapshot(&mut self, from: EngineId, snapshot: &Snapshot) {
        // A snapshot is only an optimisation, so a failure does not matter.
        let _ = self.log.keep_snapshot(snapshot);
        let engine = self.engine(from);
        engine.handle(engine.time(), Input::SnapshotKept);
    }

    fn ask_house(&mut self, from: EngineId, question: HouseQuestion) {
        let houses = Arc::clone(&self.houses);
        let Some(game) = self.engine(from).game_of(&question) else { return };
        // A simulated world has its own time, so house players need not look at the clock.
        let Ok(mut house) = houses.make(game.name(), &question.name) else { return };
        let input = house_answer(&mut *house, question, game);
        self.send_to(from, input);
    }

    fn submit(&mut self) {
        for (from, (streams, appends)) in std::mem::take(&mut self.records) {
            let sender = self.sender.clone();
            // A server that has ended ignores the answer.
            let done = move |results| drop(sender.send(Message::Committed(from, streams, results)));
            self.log.submit_all(appends, Box::new(done));
        }
    }

    /// Puts an input into the inbox; the next step processes it.
    pub(crate) fn send(&self, input: Input) {
        self.send_to(self.first, input);
    }

    /// Puts a message of an engine on another node into the inbox.
    pub(crate) fn hear_remote(&self, input: Input, sent_at: Timestamp) {
        let _ = self.sender.send(Message::Remote(input, sent_at));
    }

    /// Puts a query of the lobby's engine on another node into the inbox.
    pub(crate) fn ask_remote(&self, id: u64, query: RemoteQuery) {
        let _ = self.sender.send(Message::RemoteQuery(id, query));
    }

    /// Puts the answer to a query that another node had into the inbox.
    pub(crate) fn answered(&self, id: QueryId, answer: Option<AnyAnswer>) {
        let _ = self.sender.send(Message::Answered(id, answer));
    }

    /// Notes, after the messages before, that the lobby's engine on another node has passed on all
    /// input up to a time.
    pub(crate) fn hear_lobby_until(&self, until: Timestamp) {
        let _ = self.sender.send(Message::LobbyUntil(until));
    }

    /// Takes the messages for engines on other nodes.
    pub(crate) fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    /// Reads a tournament for an engine, which gets it later.
    fn read_tournament(&self, from: EngineId, id: TournamentId, reading: u64) {
        let reader = LogReader(Arc::clone(&self.log));
        let stored = read_tournaments(&reader, &self.games, &[id]);
        let stored = stored.map(|mut stored| Box::new(stored.remove(0)));
        self.send_to(from, Input::TournamentRead { reading, stored });
    }

    fn send_to(&self, to: EngineId, input: Input) {
        let _ = self.sender.send(Message::Input(to, input));
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let due = self.engines.iter().filter_map(Engine::next_due);
        let arriving = self.passed.values().filter_map(|queue| Some(queue.front()?.due));
        due.chain(arriving).min()
    }

    /// Begins to stop: the server notifies players and processes no new requests.
    pub(crate) fn stop(&mut self) {
        for engine in &mut self.engines {
            engine.handle(engine.time(), Input::Stop);
        }
        self.carry_out();
    }

    /// Returns whether all decisions are durable.
    pub(crate) fn is_drained(&self) -> bool {
        self.engines.iter().all(Engine::is_drained)
    }

    /// Writes a snapshot for the next start, and closes all connections.
    pub(crate) fn finish(&mut self) {
        self.engines[0].finish();
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
        let engine = &mut self.engines[0];
        engine.handle(engine.time(), input);
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
        if self.engines[0].lobby().account(&account).is_none() {
            let name = account.clone();
            self.decide(Decide(LobbyCommand::Register { account: name, kind, role, password }));
            self.token(account, token);
        }
    }

    /// Gives an account a token.
    pub(crate) fn token(&mut self, account: PlayerName, token: &str) {
        let expires_at = self.engines[0].now_ms() + Settings::default().token_ms;
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

    /// Returns whether a player is connected, over any connection.
    pub(crate) fn is_here(&self, player: &PlayerName) -> bool {
        self.engines[0].is_connected(player)
    }

    /// Connections the engine knows of.
    pub(crate) fn connections(&self) -> usize {
        self.engines[0].status().connections
    }

    /// The lobby, if none of its records is in flight.
    pub(crate) fn durable_lobby(&self) -> Option<&Lobby> {
        let engine = &self.engines[0];
        engine.is_durable(&StreamKey::Lobby).then(|| engine.lobby())
    }

    /// The running matches without records in flight, each with the secret of its tournament.
    pub(crate) fn durable_matches(&self) -> impl Iterator<Item = (&TournamentId, &Match, &Secret)> {
        self.engines.iter().flat_map(|engine| {
            let all = engine.live_matches();
            all.filter(|(key, ..)| engine.is_durable(&StreamKey::Match((*key).clone())))
                .map(|(key, played, secret)| (&key.tournament, played, secret))
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.outboxes.values().for_each(|outbox| outbox.borrow_mut().close());
    }
}
