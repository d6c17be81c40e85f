//! An engine to give inputs to, and its effects in words.
//!
//! The log is in memory. Records stay in flight until a test says that they are durable, so a test
//! sees what an input leads to at once and what only follows from a record.

use agon_core::lobby::{
    AccountKind, Announcement, LobbyCommand, PasswordHash, Role, Selection, TokenHash, Window,
};
use agon_core::{
    Event, Greeting, Line, Millis, PlayerName, Preset, Raw, RoundRobin, Secret, SecretKept,
    StreamEnd, Timestamp, TournamentId, TournamentPlan, TournamentStarted,
};
use agon_engine::query::{Decide, OpenSignUp, Query, RemoteQuery};
use agon_engine::{
    AskId, ConnId, Effect, Effects, Engine, EngineId, EngineRole, EngineStatus, HousePlayers,
    Input, LobbySnapshot, LocalPlayers, Note, PeerSaid, QueryId, ReadError, Record, SeatKind,
    Settings, StreamKey, StreamReader, Time, TournamentPart, Wire, read_tournaments,
};
use agon_games::Registry;
use agon_wire::native::{self, Hello};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};

/// The time at which every test begins.
pub(crate) const START: Timestamp = Timestamp::from_ms(1_700_000_000_000);

type Streams = Arc<Mutex<BTreeMap<String, Vec<String>>>>;

struct MemoryReader(Streams);

impl StreamReader for MemoryReader {
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, ReadError> {
        let streams = self.0.lock().unwrap();
        let lines = streams.get(stream).cloned().unwrap_or_default();
        Ok(lines.into_iter().skip(after as usize).collect())
    }

    fn latest(&self) -> Option<String> {
        None
    }

    fn snapshot(&self) -> Result<Option<LobbySnapshot>, ReadError> {
        Ok(None)
    }
}

/// One house player for every game.
struct OneHouse;

impl HousePlayers for OneHouse {
    fn names(&self, _: &str) -> Vec<String> {
        vec!["random".into()]
    }

    fn check(&self, _: &str, name: &str) -> Result<(), String> {
        if name == "random" { Ok(()) } else { Err(format!("no house player {name:?}")) }
    }

    fn proposal(&self, _: &str, _: &str) -> Option<String> {
        None
    }
}

/// An engine, its clock and its log.
pub(crate) struct Bench {
    /// The engine that has the lobby and the seats.
    pub(crate) engine: Engine,
    /// The engines that own cells for it.
    others: Vec<Engine>,
    /// Messages and queries on their way from one engine to another.
    passed: VecDeque<(EngineId, Input)>,
    pub(crate) now: Timestamp,
    /// How far the clock of the lobby's engine is behind those of the others.
    pub(crate) lobby_lag_ms: Millis,
    streams: Streams,
    /// The records in flight, each with the engine that decided it.
    in_flight: Vec<(EngineId, Record)>,
    effects: Effects,
    queries: u64,
    /// How long an answer may take in the tournament that was announced.
    pub(crate) answer_ms: Millis,
    last_request: Option<Value>,
    last_asked: Option<(ConnId, String)>,
    /// The latest request that each connection was called for.
    called: BTreeMap<ConnId, AskId>,
    secrets_wanted: Vec<(EngineId, TournamentId)>,
    /// The tournaments that engines want to read, each with the number of its reading.
    tournaments_wanted: VecDeque<(EngineId, TournamentId, u64)>,
    /// True if the driver is busy reading: tournaments wait for [`Bench::read`].
    pub(crate) is_reading_slow: bool,
    /// The queries that other engines answer.
    forwarded: BTreeMap<QueryId, RemoteQuery>,
}

impl Bench {
    /// An engine over an empty log.
    pub(crate) fn new(settings: Settings) -> Bench {
        Bench::over(Streams::default(), settings)
    }

    fn over(streams: Streams, settings: Settings) -> Bench {
        Bench::over_at(streams, settings, START)
    }

    fn over_at(streams: Streams, settings: Settings, now: Timestamp) -> Bench {
        let open = |role| {
            let reader = Box::new(MemoryReader(Arc::clone(&streams)));
            let (games, houses) = (Registry::standard(), Box::new(OneHouse));
            let settings = Settings { role, ..settings.clone() };
            Engine::open(reader, games, houses, settings, [1; 32], now).unwrap()
        };
        // A host has no other engines of this kind.
        let cell_engines = if settings.local.is_some() { 0 } else { crate::CELL_ENGINES };
        let others = (0..cell_engines).map(|_| open(EngineRole::Cells)).collect();
        let engine = open(EngineRole::Lobby { cell_engines });
        let mut bench = Bench {
            engine,
            others,
            passed: VecDeque::new(),
            now,
            lobby_lag_ms: 0,
            streams,
            in_flight: Vec::new(),
            effects: Effects::default(),
            queries: 0,
            answer_ms: 0,
            last_request: None,
            last_asked: None,
            called: BTreeMap::new(),
            secrets_wanted: Vec::new(),
            tournaments_wanted: VecDeque::new(),
            is_reading_slow: false,
            forwarded: BTreeMap::new(),
        };
        bench.words();
        bench.commit();
        bench
    }

    /// The same server after a restart: what was durable is there, and nothing else.
    pub(crate) fn restarted(self, settings: Settings) -> Bench {
        Bench::over(self.streams, settings)
    }

    /// Like `restarted`, after the server was down for `ms`.
    pub(crate) fn restarted_after(self, ms: Millis, settings: Settings) -> Bench {
        Bench::over_at(self.streams, settings, self.now + ms)
    }

    /// Gives the engine an input; what it wants done.
    pub(crate) fn give(&mut self, input: Input) -> Vec<String> {
        self.give_to(EngineId::LOBBY, input)
    }

    fn give_to(&mut self, to: EngineId, input: Input) -> Vec<String> {
        let now = self.time_of(to);
        self.engine_mut(to).handle(now, input);
        self.words()
    }

    fn time_of(&self, id: EngineId) -> Time {
        Time::at(match id {
            EngineId::LOBBY => self.now.before(self.lobby_lag_ms),
            _ => self.now,
        })
    }

    fn engine_mut(&mut self, id: EngineId) -> &mut Engine {
        match id {
            EngineId::LOBBY => &mut self.engine,
            EngineId(number) => &mut self.others[usize::from(number) - 1],
        }
    }

    /// A summary of the server's state.
    pub(crate) fn status(&self) -> EngineStatus {
        self.engine.status()
    }

    /// Lets time pass; what the engine wants done.
    pub(crate) fn pass(&mut self, ms: Millis) -> Vec<String> {
        self.now += ms;
        for engine in self.others.iter_mut().chain([&mut self.engine]) {
            engine.elapse(Time::at(self.now), self.now);
        }
        self.words()
    }

    /// Makes the oldest record in flight durable.
    pub(crate) fn commit_one(&mut self) -> Vec<String> {
        self.commit_at(0)
    }

    /// Makes the oldest record of a stream durable.
    pub(crate) fn commit_of(&mut self, stream: &str) -> Vec<String> {
        let at = self.in_flight.iter().position(|(_, record)| &*record.name == stream);
        self.commit_at(at.expect("a record of the stream is in flight"))
    }

    fn commit_at(&mut self, at: usize) -> Vec<String> {
        let (from, Record { stream, name, lines, .. }) = self.in_flight.remove(at);
        self.streams.lock().unwrap().entry(name.to_string()).or_default().extend(lines);
        self.give_to(from, Input::Committed(stream))
    }

    /// Makes everything durable, also what follows; what the engine wants done meanwhile.
    pub(crate) fn commit(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while !self.in_flight.is_empty() {
            all.extend(self.commit_one());
        }
        all
    }

    /// Loses all records in flight, whose engine is lost.
    pub(crate) fn lose_records(&mut self) {
        self.in_flight.clear();
    }

    /// The durable lines of a stream.
    pub(crate) fn lines(&self, stream: &str) -> Vec<String> {
        self.streams.lock().unwrap().get(stream).cloned().unwrap_or_default()
    }

    /// Has the log refuse the oldest record in flight.
    pub(crate) fn refuse(&mut self) -> Vec<String> {
        let (from, record) = self.in_flight.remove(0);
        self.give_to(from, Input::Refused(record.stream))
    }

    /// Has the driver load the stream of a tournament, as the engine wanted.
    pub(crate) fn load(&mut self, id: &str) -> Vec<String> {
        let stream = StreamKey::Tournament(TournamentId::from(id));
        let lines = Ok(self.streams.lock().unwrap()[&stream.name()].clone());
        self.give(Input::Loaded { stream, lines })
    }

    /// The driver reads the tournament that was wanted first.
    pub(crate) fn read(&mut self) -> Vec<String> {
        let (from, id, reading) = self.tournaments_wanted.pop_front().expect("one is wanted");
        self.engine_read(from, &id, reading);
        self.words()
    }

    /// Asks the engine something.
    pub(crate) fn ask(&mut self, query: impl Query) -> Vec<String> {
        self.queries += 1;
        let id = QueryId(self.queries);
        self.give(Input::Query { id, query: Box::new(query) })
    }

    /// A connection says a line.
    pub(crate) fn say(&mut self, conn: u64, line: &str) -> Vec<String> {
        let message = native::decode(line.as_bytes()).unwrap();
        self.give(Input::Said { conn: ConnId(conn), message, at: self.now })
    }

    /// Opens a connection.
    pub(crate) fn open(&mut self, conn: u64) -> Vec<String> {
        let (seat, from) = (SeatKind::native(Wire::Tcp), IpAddr::V4(Ipv4Addr::LOCALHOST));
        self.give(Input::Opened { conn: ConnId(conn), seat, from })
    }

    /// Opens a connection and has it say hello.
    pub(crate) fn connect(&mut self, conn: u64) {
        self.open(conn);
        self.say(conn, r#"{"type":"hello","protocol":1,"name":"a test"}"#);
    }

    /// Makes an account that has its name as token.
    pub(crate) fn account(&mut self, name: &str, role: Role) {
        let account = PlayerName::new(name).unwrap();
        // With a password it is no account for the wires of other systems.
        let (kind, password) = (AccountKind::Program, Some(PasswordHash::new("a hash")));
        let command = LobbyCommand::Register { account: account.clone(), kind, role, password };
        self.ask(Decide(command));
        let (token, expires_at) = (TokenHash::of(name), self.now + 1_000_000_000);
        self.ask(Decide(LobbyCommand::IssueToken { account, token, expires_at }));
        self.commit();
    }

    /// Logs an account in over a new connection; what the engine wants done when it is durable.
    pub(crate) fn log_in(&mut self, conn: u64, name: &str) -> Vec<String> {
        self.connect(conn);
        let mut all = self.say(conn, &format!(r#"{{"type":"login","token":"{name}"}}"#));
        all.extend(self.commit());
        all
    }

    /// Ann, Bob and the operator, logged in over connections 1, 2 and 3.
    pub(crate) fn lobby_of_two() -> Bench {
        let mut bench = Bench::new(Settings::default());
        bench.account("operator", Role::Operator);
        bench.account("ann", Role::Player);
        bench.account("bob", Role::Player);
        bench.log_in(1, "ann");
        bench.log_in(2, "bob");
        bench.log_in(3, "operator");
        bench
    }

    /// The two in a tournament of this preset, asked in its first match.
    pub(crate) fn two_players(preset: &str, policy: &str) -> Bench {
        let mut bench = Bench::lobby_of_two();
        bench.announce_only(preset, policy, r#"["ann","bob"]"#);
        bench.commit();
        bench
    }

    /// A host that starts the programs of four players itself, one match at a time. They said hello
    /// over connections 1 to 4, and the tournament `cup` has begun.
    pub(crate) fn host_of_four() -> Bench {
        Bench::host_with(TournamentPart::Whole)
    }

    /// The settings of a host that plays this part of a tournament, one match at a time.
    pub(crate) fn local_settings(part: TournamentPart) -> Settings {
        let local = Some(LocalPlayers { matches_max: 1, start_ms: 10_000, part });
        Settings { local, ..Settings::default() }
    }

    /// Like `host_of_four`, for a host that plays this part of the tournament.
    pub(crate) fn host_with(part: TournamentPart) -> Bench {
        let (id, preset) = (TournamentId::from("cup"), Preset::named("yahtzee-class").unwrap());
        let names = ["ann", "bob", "cid", "dan"].map(|name| PlayerName::new(name).unwrap());
        let players = names.to_vec();
        let mut policy = preset.policy;
        policy.format = RoundRobin::default().into();
        let config = Raw::parse(preset.config).unwrap();
        let (preset, game) = (None, preset.game.to_owned());
        let plan = TournamentPlan { id: id.clone(), preset, game, config, policy, players };
        let secret = Secret::from_seed_number(1);
        let kept = SecretKept { tournament: id.clone(), secret };
        let started = TournamentStarted { plan };
        let events: [(StreamKey, Event); 2] =
            [(StreamKey::Lobby, started.into()), (StreamKey::Secret(id), kept.into())];
        let lines = events.map(|(stream, event)| {
            (
                stream.name(),
                StreamEnd::unchained(stream.name(), 0).record(Timestamp::default(), &[event]),
            )
        });
        let streams = Arc::new(Mutex::new(lines.into_iter().collect()));
        let mut bench = Bench::over(streams, Bench::local_settings(part));
        for (player, conn) in names.into_iter().zip(1..) {
            let (conn, seat) = (ConnId(conn), SeatKind::local());
            bench.give(Input::Seated { conn, seat, player, hello: hello() });
            bench.commit();
        }
        bench
    }

    /// Programs of the Fish system on connections 1 and 2, which signed up for the tournament `fish`
    /// and are asked whether they are ready.
    pub(crate) fn two_programs() -> Bench {
        let preset = Preset::named("fish").unwrap();
        let mut policy = preset.policy;
        policy.greeting = Greeting::Ready;
        let (wait_ms, second_wait_ms, repeat) = (1_000, 1_000, false);
        let (at_least, at_most, second_at_least) = (2, 2, 2);
        let window = Window { at_least, at_most, wait_ms, second_wait_ms, second_at_least, repeat };
        let kind = Registry::standard().kind(preset.game).unwrap().clone();
        let series = Arc::new(Announcement {
            id: "fish".into(),
            preset: Some(preset.name.into()),
            game: preset.game.into(),
            config: Raw(kind.check_config(preset.config).unwrap()),
            policy,
            selection: Selection::SignUp(window),
            by: None,
        });
        let mut bench = Bench::new(Settings::default());
        bench.ask(OpenSignUp(Arc::clone(&series)));
        bench.commit();
        for (conn, name) in [(1, "ann"), (2, "bob")] {
            let (conn, seat) = (ConnId(conn), SeatKind::program(Wire::Fish));
            let from = IpAddr::V4(Ipv4Addr::LOCALHOST);
            bench.give(Input::Opened { conn, seat, from });
            let (name, series) = (PlayerName::new(name).unwrap(), Arc::clone(&series));
            let said = PeerSaid::SignUp { name, strict: true, listens: false, series };
            bench.give(Input::Peer { conn, said, at: START });
            bench.commit();
        }
        bench
    }

    /// The operator announces the tournament `cup` of these players.
    pub(crate) fn announce_only(
        &mut self,
        preset: &str,
        policy: &str,
        players: &str,
    ) -> Vec<String> {
        let wanted = format!(
            r#"{{"type":"announce","tournament":{{"id":"cup","preset":"{preset}","policy":{policy},
               "selection":{{"by":"named","players":{players}}}}}}}"#
        );
        let preset = Preset::named(preset).unwrap();
        self.answer_ms = preset.policy.rules.time.answer_ms;
        self.say(3, &wanted.replace('\n', ""))
    }

    /// The request that was written last.
    pub(crate) fn last_request(&self) -> &Value {
        self.last_request.as_ref().expect("somebody was asked")
    }

    /// The connection that was asked last, and the request's name within its match.
    pub(crate) fn last_asked(&self) -> (ConnId, String) {
        self.last_asked.clone().expect("somebody was asked")
    }

    /// The latest request that a program was called for.
    pub(crate) fn asked_of(&self, conn: u64) -> Option<AskId> {
        self.called.get(&ConnId(conn)).cloned()
    }

    /// Answers a request on a connection.
    pub(crate) fn answer(&mut self, conn: u64, request: &str, answer: &str) -> Vec<String> {
        self.say(conn, &format!(r#"{{"type":"answer","id":"cup:{request}","answer":{answer}}}"#))
    }

    /// A request was written to its socket at `at`.
    pub(crate) fn deliver(&mut self, conn: u64, request: &str, at: Timestamp) {
        let key = agon_engine::MatchKey::new(TournamentId::from("cup"), "r1m1".into());
        let ask = AskId::Match(key, request.into());
        self.give(Input::Delivered { conn: ConnId(conn), ask, at });
    }

    /// The effects of all engines in words, also of what they pass to each other.
    fn words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        loop {
            for id in 0..=self.others.len() {
                words.extend(self.words_of(EngineId(id as u16)));
            }
            let now = Time::at(self.now);
            if let Some((to, input)) = self.passed.pop_front() {
                let now = self.time_of(to);
                self.engine_mut(to).handle(now, input);
            } else if let Some((from, id)) = self.secrets_wanted.pop() {
                // The driver looks up the secret of a tournament that starts.
                let stream = StreamKey::Secret(id);
                let lines = Ok(self.lines(&stream.name()));
                self.engine_mut(from).handle(now, Input::Loaded { stream, lines });
            } else if !self.is_reading_slow
                && let Some((from, id, reading)) = self.tournaments_wanted.pop_front()
            {
                self.engine_read(from, &id, reading);
            } else {
                return words;
            }
        }
    }

    /// The driver has read a tournament from the log.
    fn engine_read(&mut self, from: EngineId, id: &TournamentId, reading: u64) {
        let reader = MemoryReader(Arc::clone(&self.streams));
        let ids = [id.clone()];
        let stored = read_tournaments(&reader, &Registry::standard(), &ids);
        let stored = stored.map(|mut stored| Box::new(stored.remove(0)));
        let time = self.time_of(from);
        self.engine_mut(from).handle(time, Input::TournamentRead { reading, stored });
    }

    fn words_of(&mut self, from: EngineId) -> Vec<String> {
        let mut effects = std::mem::take(&mut self.effects);
        self.engine_mut(from).take_effects(&mut effects);
        self.effects = effects;
        let mut list = self.effects.take();
        let mut words = Vec::new();
        for effect in list.drain(..) {
            words.extend(in_words(&effect, &self.effects));
            if let Effect::Ask { conn, ask, line, .. } = &effect {
                self.last_asked = Some((*conn, request(ask)));
                self.last_request = serde_json::from_slice(self.effects.line(line)).ok();
            }
            if let Effect::Call { conn, tell } = &effect {
                let ask = tell.ask.iter().map(|ask| (*conn, ask.id.clone()));
                self.called.extend(ask);
            }
            if let Effect::ReadTournament { id, reading } = &effect {
                self.tournaments_wanted.push_back((from, id.clone(), *reading));
            }
            if let Effect::Load(StreamKey::Secret(id)) = &effect {
                self.secrets_wanted.push((from, id.clone()));
            }
            match effect {
                Effect::Append(record) => self.in_flight.push((from, record)),
                // Between nodes messages, queries and answers are bytes.
                Effect::Pass { to, message } => {
                    let message = as_bytes(&message);
                    self.passed.push_back((to, Input::Passed { from, message }));
                }
                Effect::Forward { to, query: id, what } => {
                    let query = as_bytes(&RemoteQuery::of(&*what).expect("a query as data"));
                    self.forwarded.insert(id, query.clone());
                    self.passed.push_back((to, Input::Query { id, query: query.into_query() }));
                }
                Effect::Reply { query, answer } => {
                    if let Some(query) = self.forwarded.remove(&query) {
                        let answer = query.encode(answer).expect("an answer as data");
                        let decoded = query.decode(&answer).expect("an answer to the query");
                        assert_eq!(query.encode(decoded), Some(answer));
                    }
                }
                _ => {}
            }
        }
        self.effects.clear(list);
        words
    }
}

/// A copy that went over a wire. It has the same bytes.
fn as_bytes<T: Serialize + for<'de> Deserialize<'de>>(message: &T) -> T {
    let text = serde_json::to_string(message).expect("messages are JSON");
    let copy = serde_json::from_str(&text).expect("a message");
    assert_eq!(serde_json::to_string(&copy).expect("messages are JSON"), text);
    copy
}

/// The hello of a program.
pub(crate) fn hello() -> Hello {
    let name = "a program".to_owned();
    Hello { protocol: native::PROTOCOL_VERSION, name, nonce: None, proposal: None, history: false }
}

/// An effect in a few words; `None` for late timers and for the progress of matches.
fn in_words(effect: &Effect, effects: &Effects) -> Option<String> {
    Some(match effect {
        Effect::Send { conn, line } | Effect::Notice { conn, line } => {
            format!("send {conn} {}", message(effects.line(line)))
        }
        Effect::Ask { conn, ask, .. } => format!("ask {conn} {}", request(ask)),
        Effect::Call { conn, tell } => match &tell.ask {
            Some(ask) => format!("call {conn} {}", request(&ask.id)),
            None => format!("call {conn}"),
        },
        Effect::Observe { conn, .. } => format!("observe {conn}"),
        Effect::Admit { conn } => format!("admit {conn}"),
        Effect::Close { conn, why } => format!("close {conn} {}", why.word()),
        Effect::Append(record) => {
            let events = record.lines.iter().map(|line| event(line)).collect::<Vec<_>>();
            format!("append {}: {}", record.name, events.join(", "))
        }
        Effect::CheckPassword { conn, account, .. } => format!("check password {conn} {account}"),
        Effect::Load(stream) => format!("load {}", stream.name()),
        Effect::ReadTournament { id, .. } => format!("read {id}"),
        Effect::AskHouse(question) => format!("ask {} {}", question.player, question.request),
        Effect::HandOut(plan) => format!("hand out {}", plan.id),
        Effect::Report(report) => format!("report {}", report.key.id),
        Effect::KeepSnapshot { seq, .. } => format!("keep snapshot {seq}"),
        Effect::Show { watcher, shown } => format!("show {} {:?}", watcher.0, shown.about),
        Effect::EndWatch { watcher } => format!("end watch {}", watcher.0),
        Effect::Reply { query, .. } => format!("reply {}", query.0),
        Effect::Pass { .. } | Effect::Forward { .. } => return None,
        Effect::NoReply { query } => format!("no reply {}", query.0),
        Effect::Note(Note::TimerLate(_) | Note::MatchStarted { .. } | Note::GameEnded { .. }) => {
            return None;
        }
        Effect::Note(Note::Login { outcome, .. }) => format!("note login {}", outcome.word()),
        Effect::Note(Note::Fault { faulted, .. }) => {
            format!("note fault {} {}", faulted.player, faulted.fault.kind)
        }
        Effect::Note(note) => {
            let words = format!("{note:?}");
            let name = words.split([' ', '(', '{']).next().unwrap_or_default();
            format!("note {name}")
        }
    })
}

fn request(ask: &AskId) -> String {
    match ask {
        AskId::Match(_, id) | AskId::Tournament(_, id) => id.to_string(),
    }
}

/// A line in words: its type and its subject.
fn message(line: &[u8]) -> String {
    let line: Value = serde_json::from_slice(line).unwrap();
    let words = ["type", "code", "about", "what"].iter().filter_map(|name| line[name].as_str());
    words.collect::<Vec<_>>().join(" ")
}

/// The name of the event in a line of the log.
fn event(line: &str) -> String {
    Line::read(line).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    line["type"].as_str().unwrap().to_owned()
}
