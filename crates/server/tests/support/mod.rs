//! A server in this process and players on sockets.

pub(crate) mod contract;
pub(crate) mod gate;
pub(crate) mod http;
pub(crate) mod websocket;

use agon_bots::{HousePlayer, Houses};
use agon_core::lobby::{AccountKind, Announcement, Role, Selection, Standing};
use agon_core::{Event, PlayerName, Preset, Raw, Results, TournamentId, verify};
use agon_games::{Registry, Seat};
use agon_server::query::{Announce, Count, FindStanding, OpenSignUp, Query, Register};
use agon_server::web::{Hosts, serve_http};
use agon_server::{
    Driver, Engine, EngineRole, Gateway, Handle, Limits, Peers, Settings, StreamKey, Tls,
    hash_password, serve_peers, serve_tcp,
};
use agon_store::{Append, Log, SqliteLog};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Waits until something is so, and says what was waited for if it never is.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

pub(crate) fn name(text: &str) -> PlayerName {
    PlayerName::new(text).unwrap()
}

pub(crate) fn named(names: &[&str]) -> Selection {
    Selection::Named { players: names.iter().map(|text| name(text)).collect() }
}

/// A tournament of a preset for the first `at_most` in line.
pub(crate) fn announcement(id: &str, preset: &str, best_of: u32, at_most: u32) -> Announcement {
    let preset = Preset::named(preset).unwrap();
    let games = Registry::standard();
    let config = games.kind(preset.game).unwrap().check_config(preset.config).unwrap();
    let mut policy = preset.policy;
    policy.rules.best_of = best_of;
    policy.rules.lapses_max = 1_000;
    Announcement {
        id: TournamentId::from(id),
        preset: Some(preset.name.into()),
        game: preset.game.into(),
        config: Raw(config),
        policy,
        selection: Selection::Line { at_most },
        by: None,
    }
}

/// Asks which players are in line, whether that is durable or not.
struct LineNow;

impl Query for LineNow {
    type Answer = Vec<PlayerName>;

    fn streams(&self) -> Vec<StreamKey> {
        Vec::new()
    }

    fn answer(self, engine: &mut Engine) -> Vec<PlayerName> {
        engine.lobby().line().to_vec()
    }
}

/// How a server is to be.
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) limits: Limits,
    pub(crate) tls: Option<Arc<Tls>>,
}

impl Default for Setup {
    fn default() -> Setup {
        // The suite also passes with engines that own tournaments for the first one.
        let cell_engines = std::env::var("AGON_TEST_CELL_ENGINES");
        let cell_engines = cell_engines.map_or(0, |count| count.parse().unwrap());
        let role = EngineRole::Lobby { cell_engines };
        let settings = Settings { reconnect_ms: 20_000, role, ..Settings::default() };
        Setup { settings, limits: Limits::default(), tls: None }
    }
}

pub(crate) struct Server {
    dir: Arc<tempfile::TempDir>,
    pub(crate) handle: Handle,
    pub(crate) address: SocketAddr,
    pub(crate) http: SocketAddr,
    gateway: Gateway,
    runtime: Option<tokio::runtime::Runtime>,
    engine: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start() -> Server {
        Server::with(Setup::default())
    }

    /// A server whose tokens are good for so long.
    pub(crate) fn with_tokens_for(token_ms: u64) -> Server {
        let mut setup = Setup::default();
        setup.settings.token_ms = token_ms;
        Server::with(setup)
    }

    /// A server as it should be for a test.
    pub(crate) fn with(setup: Setup) -> Server {
        Server::over(Arc::new(tempfile::tempdir().unwrap()), setup)
    }

    fn over(dir: Arc<tempfile::TempDir>, setup: Setup) -> Server {
        let log = Arc::new(SqliteLog::open(path(&dir)).unwrap());
        Server::on(log, dir, setup)
    }

    /// A server on a log that the test has a hand on.
    pub(crate) fn on_gate(gate: Arc<gate::Gate>, setup: Setup) -> Server {
        Server::on(gate, Arc::new(tempfile::tempdir().unwrap()), setup)
    }

    fn on(log: Arc<dyn Log>, dir: Arc<tempfile::TempDir>, setup: Setup) -> Server {
        let Setup { settings, limits, tls } = setup;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let (games, houses) = (Registry::standard(), Houses::standard());
        let handle = runtime.handle().clone();
        let engine = Driver::open(log, games, houses, settings, &limits, handle).unwrap();
        let handle = engine.handle();
        let engine = std::thread::spawn(move || engine.run().unwrap());
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let gateway = Gateway::start(handle.clone(), limits, tls, runtime.handle());
        runtime.spawn(serve_tcp(listener, gateway.clone()));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let http = listener.local_addr().unwrap();
        let (host, players) = (Arc::clone(gateway.host()), gateway.player_sockets());
        runtime.spawn(serve_http(listener, host, players, Hosts::new(["test", "agon"])));
        let (runtime, engine) = (Some(runtime), Some(engine));
        Server { dir, handle, address, http, gateway, runtime, engine }
    }

    /// Opens a port for programs of another system, and a sign-up for them.
    pub(crate) fn serve_peers(&self, peers: Peers) -> SocketAddr {
        let runtime = self.runtime.as_ref().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let series = Arc::clone(&peers.series);
        let opened = runtime.block_on(self.handle.ask(OpenSignUp(series)));
        opened.unwrap().unwrap();
        runtime.spawn(serve_peers(listener, self.gateway.clone(), peers));
        address
    }

    /// Everything in memory is gone; what is in the log is there.
    pub(crate) fn started_again(mut self) -> Server {
        self.end();
        Server::over(Arc::clone(&self.dir), Setup::default())
    }

    /// The same, an hour later: everything in the log has become older.
    pub(crate) fn started_much_later(mut self) -> Server {
        self.end();
        let dir = tempfile::tempdir().unwrap();
        let old = SqliteLog::open_read_only(path(&self.dir)).unwrap();
        let aged = SqliteLog::open(path(&dir)).unwrap();
        for (stream, _) in old.streams().unwrap() {
            let (mut expected, mut lines) = (0, Vec::new());
            for line in old.load(&stream, 0).unwrap() {
                let last = line.contains(r#","more":0,"#);
                lines.push(an_hour_older(&line));
                if last {
                    let lines = std::mem::take(&mut lines);
                    expected = aged
                        .append(Append { stream: stream.as_str().into(), expected, lines })
                        .unwrap();
                }
            }
        }
        drop(aged);
        Server::over(Arc::new(dir), Setup::default())
    }

    fn end(&mut self) {
        self.handle.stop();
        if let Some(engine) = self.engine.take() {
            engine.join().unwrap();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }

    /// Keeps all threads that hold the sockets busy for so long.
    pub(crate) fn stall(&self, time: Duration) {
        let runtime = self.runtime.as_ref().unwrap();
        let busy = (0..4).map(|_| runtime.spawn(async move { std::thread::sleep(time) }));
        let busy: Vec<_> = busy.collect();
        runtime.block_on(async {
            for task in busy {
                task.await.unwrap();
            }
        });
    }

    fn ask<Q: Query>(&self, query: Q) -> Q::Answer {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(self.handle.ask(query)).unwrap()
    }

    pub(crate) fn announce(&self, announcement: Announcement) {
        self.ask(Announce(announcement)).unwrap();
    }

    pub(crate) fn line(&self) -> Vec<PlayerName> {
        self.ask(LineNow)
    }

    pub(crate) fn decisions(&self) -> u64 {
        self.ask(Count).status.decisions
    }

    pub(crate) fn connections(&self) -> usize {
        self.ask(Count).status.connections
    }

    /// The winners of a finished tournament.
    pub(crate) fn finished(&self, id: &str) -> Option<Vec<PlayerName>> {
        match self.standing(id) {
            Some(Standing::Finished(winners)) => Some(winners),
            _ => None,
        }
    }

    /// Where a tournament stands.
    pub(crate) fn standing(&self, id: &str) -> Option<Standing> {
        self.ask(FindStanding(TournamentId::from(id)))
    }

    pub(crate) fn tournament_is_unknown(&self, id: &TournamentId) -> bool {
        self.standing(id.as_str()).is_none()
    }

    pub(crate) fn past_results(&self, id: &str) -> Results {
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(self.handle.past_results(TournamentId::from(id))).unwrap()
    }

    /// Makes an operator, as whoever runs the server does.
    pub(crate) fn register_operator(&self, account: &str, password: &str) {
        let (account, password) = (name(account), hash_password(password).unwrap());
        let (kind, role) = (AccountKind::Program, Role::Operator);
        self.ask(Register { account, kind, role, password }).unwrap();
    }

    /// A request to the HTTP interface.
    pub(crate) fn http(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: &str,
    ) -> http::Reply {
        http::send(self.http, method, path, token, body)
    }

    /// The head of the reply to a request.
    pub(crate) fn http_head(&self, head: &str) -> String {
        http::head(self.http, head)
    }

    pub(crate) fn events(&self, path: &str, last: Option<&str>) -> http::Events {
        http::Events::open(self.http, path, last)
    }

    /// A WebSocket, with its greeting heard.
    pub(crate) fn connect_websocket(&self) -> websocket::Client<TcpStream> {
        let mut client = websocket::Client::open(TcpStream::connect(self.http).unwrap());
        client.expect("greeting", "agon");
        client
    }

    /// Events over WebSocket.
    pub(crate) fn watch(&self, path: &str) -> websocket::Client<TcpStream> {
        websocket::Client::open_at(TcpStream::connect(self.http).unwrap(), path)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn http_address(&self) -> SocketAddr {
        self.http
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// All lines of the log.
    pub(crate) fn log_text(&self) -> String {
        let log = SqliteLog::open_read_only(path(&self.dir)).unwrap();
        let streams = log.streams().unwrap();
        let texts = streams.iter().flat_map(|(name, _)| log.load(name, 0).unwrap());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Checks every stream against the rules.
    pub(crate) fn verify(mut self) {
        self.end();
        let games = Registry::standard();
        let log = SqliteLog::open_read_only(path(&self.dir)).unwrap();
        let mut checked = 0;
        let mut secrets = std::collections::BTreeMap::new();
        for (name, _) in log.streams().unwrap() {
            let lines = verify::read(&log.load(&name, 0).unwrap()).unwrap();
            if let Some(Event::TournamentEnded(ended)) = lines.last().map(|line| &line.event) {
                secrets.insert(name.replace("tournament/", ""), ended.secret.clone());
            }
            if name.starts_with("match/") {
                checked += verify::verify_match(&lines, &games, None).unwrap().events;
            } else if name.starts_with("tournament/") {
                checked += verify::verify_tournament(&lines, &games, None).unwrap().events;
            }
        }
        assert!(checked > 0, "there was something to check");
        let lobby = verify::read(&log.load("lobby", 0).unwrap()).unwrap();
        let check = verify::verify_lobby(&lobby, |id| secrets.get(id.as_str()).cloned()).unwrap();
        assert_eq!(check.unchecked, 0, "every draw can be checked");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn an_hour_older(line: &str) -> String {
    let (before, rest) = line.split_once(r#","at":"#).unwrap();
    let (at, after) = rest.split_once(',').unwrap();
    let at = at.parse::<u64>().unwrap() - 3_600_000;
    format!(r#"{before},"at":{at},{after}"#)
}

fn path(dir: &tempfile::TempDir) -> PathBuf {
    dir.path().join("agon.sqlite")
}

/// A connection that a test speaks over by hand.
pub(crate) struct Client {
    from: BufReader<TcpStream>,
    pub(crate) to: TcpStream,
}

impl Client {
    fn connect(address: SocketAddr) -> Client {
        Client::over(TcpStream::connect(address).unwrap())
    }

    /// Over a connection that was just opened.
    pub(crate) fn over(to: TcpStream) -> Client {
        to.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        to.set_nodelay(true).unwrap();
        let mut client = Client { from: BufReader::new(to.try_clone().unwrap()), to };
        client.expect("greeting", "agon");
        client
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    pub(crate) fn hear(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.from.read_line(&mut line) {
            Ok(1..) => Some(serde_json::from_str(&line).unwrap()),
            _ => None,
        }
    }

    /// The next message.
    pub(crate) fn next(&mut self) -> Value {
        self.hear().expect("a message")
    }

    /// The next notice about this; messages before it are passed over.
    pub(crate) fn notice(&mut self, about: &str) -> Value {
        loop {
            let message = self.hear().unwrap_or_else(|| panic!("closed before {about}"));
            assert_ne!(message["type"], "error", "{message}");
            if message["about"] == about {
                return message["data"].clone();
            }
        }
    }

    /// Checks that the server has sent nothing else up to now, and returns its answer to a ping.
    pub(crate) fn is_silent(&mut self) {
        self.say(r#"{"type":"ping"}"#);
        self.expect("pong", "");
    }

    /// The next message, which must be of this type and hold this text.
    pub(crate) fn expect(&mut self, kind: &str, text: &str) -> Value {
        let message = self.hear().expect("a message");
        assert_eq!(message["type"], kind, "{message}");
        assert!(message.to_string().contains(text), "{text:?} in {message}");
        message
    }
}

/// A player that thinks like a house player; it ends with the connection, or when dropped.
pub(crate) struct Player {
    gone: Arc<AtomicBool>,
    to: Option<TcpStream>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Player {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
        if let Some(to) = self.to.take() {
            let _ = to.shutdown(std::net::Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn log_in(address: SocketAddr, name: &str) -> Client {
    let mut client = Client::connect(address);
    client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
    client.say(&format!(
        r#"{{"type":"login","account":"{name}","password":"the pw of {name}","register":true}}"#
    ));
    client
}

/// A connection that is logged in under a name, and the welcome it got.
pub(crate) fn welcomed(server: &Server, name: &str) -> (Client, Value) {
    let mut client = log_in(server.address, name);
    let welcome = client.expect("welcome", name);
    (client, welcome)
}

pub(crate) fn player(server: &Server, name: &str, house: &str) -> Player {
    let mut client = log_in(server.address, name);
    client.expect("welcome", name);
    let (gone, to) = (Arc::new(AtomicBool::new(false)), client.to.try_clone().unwrap());
    let (name, house) = (name.to_owned(), house.to_owned());
    let thread = std::thread::spawn(move || {
        play(&mut client, &name, &house, u32::MAX);
    });
    Player { gone, to: Some(to), thread: Some(thread) }
}

/// A player that answers once for every word it gets.
pub(crate) fn patient_player(server: &Server, name: &str, house: &str) -> (Player, Sender<()>) {
    let mut client = log_in(server.address, name);
    client.expect("welcome", name);
    let (gone, to) = (Arc::new(AtomicBool::new(false)), client.to.try_clone().unwrap());
    let (words, heard) = channel::<()>();
    let (name, house) = (name.to_owned(), house.to_owned());
    let thread = std::thread::spawn(move || {
        let mut bots = HouseBots::new();
        while let Some(message) = client.hear() {
            if message["type"] == "request" && heard.recv().is_ok() {
                client.say(&answer(&mut bots, &name, &house, &message));
            }
        }
    });
    (Player { gone, to: Some(to), thread: Some(thread) }, words)
}

/// A player that drops its connection after every `answers` answers, and comes back.
pub(crate) fn flaky_player(server: &Server, name: &str, house: &str, answers: u32) -> Player {
    let gone = Arc::new(AtomicBool::new(false));
    let (address, stop) = (server.address, Arc::clone(&gone));
    let (name, house) = (name.to_owned(), house.to_owned());
    let mut client = log_in(address, &name);
    let welcome = client.expect("welcome", &name);
    let token = welcome["token"].as_str().unwrap().to_owned();
    let thread = std::thread::spawn(move || {
        loop {
            let over = play(&mut client, &name, &house, answers);
            if over || stop.load(Ordering::SeqCst) {
                return;
            }
            client = Client::connect(address);
            client.say(r#"{"type":"hello","protocol":1,"name":"test"}"#);
            client.say(&format!(r#"{{"type":"login","token":"{token}"}}"#));
        }
    });
    Player { gone, to: None, thread: Some(thread) }
}

/// Answers requests until the connection ends or enough were answered, or, where that is bounded,
/// the tournament is over; says whether it is.
fn play(client: &mut Client, name: &str, house: &str, answers: u32) -> bool {
    let mut bots = HouseBots::new();
    let mut left = answers;
    while let Some(message) = client.hear() {
        if message["about"] == "tournament-over" && answers != u32::MAX {
            return true;
        }
        if message["type"] != "request" {
            continue;
        }
        if left == 0 {
            return false;
        }
        left -= 1;
        let line = answer(&mut bots, name, house, &message);
        if writeln!(client.to, "{line}").is_err() {
            return false;
        }
    }
    false
}

/// House players that answer for a player, by game.
pub(crate) type HouseBots = Vec<(String, Box<dyn HousePlayer>)>;

/// The answer to a request, as a line.
pub(crate) fn answer(bots: &mut HouseBots, name: &str, house: &str, message: &Value) -> String {
    let id = message["id"].as_str().unwrap().to_owned();
    let game = game_of(message);
    if !bots.iter().any(|(known, _)| known == game) {
        bots.push((game.into(), Houses::standard().make(game, house).unwrap()));
    }
    let (_, bot) = bots.iter_mut().find(|(known, _)| known == game).unwrap();
    let seat = Seat(message["seat"].as_u64().unwrap() as u8);
    let (question, view) = (message["question"].to_string(), message["view"].to_string());
    let answer = bot.answer_text(name, &id, seat, &question, &view).unwrap();
    format!(r#"{{"type":"answer","id":"{id}","answer":{answer}}}"#)
}

/// Which game a request is about, by what it asks.
fn game_of(message: &Value) -> &'static str {
    match message["question"]["ask"].as_str().unwrap() {
        "keep" | "score" => "yahtzee",
        "place" | "move" => "fish",
        _ => "trains",
    }
}
