//! `agon join`: a house player or a program plays on a server.
//!
//! One thread decides; others only read, the socket and the programs' output. A program lives as
//! long as its tournament: it does not notice that the connection was lost, and what it answered
//! meanwhile is sent when the server asks again.

mod mind;

use crate::args::JoinArgs;
use crate::exit::{Exit, Misuse};
use agon_core::PlayerName;
use agon_players::Houses;
use agon_wire::lines::Lines;
use agon_wire::native::{self, FromPlayer};
use anyhow::{Context, Result, bail};
use mind::{Mind, Player};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// The first wait before coming back, and the longest.
const BACK_OFF_MS: (u64, u64) = (25, 5_000);
/// The longest line a server sends.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How often a program that ends too early is started again in one tournament.
const STARTS_MAX: u32 = 4;
/// Events that may wait.
const EVENTS_MAX: usize = 256;

/// What the deciding thread hears. Connections and programs have numbers: what an old one said
/// last is no news of the new one.
enum Event {
    Line { connection: u64, line: String },
    Lost { connection: u64 },
    Said { tournament: String, start: u32, line: String },
    Ended { tournament: String, start: u32 },
}

/// The parts of a server's message that matter here.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type")]
    kind: String,
    about: Option<String>,
    tournament: Option<String>,
    #[serde(default)]
    data: Value,
    id: Option<String>,
    #[serde(rename = "match", default)]
    in_match: Value,
    token: Option<String>,
    active: Option<u64>,
    code: Option<String>,
    detail: Option<String>,
}

struct Join<'a> {
    args: &'a JoinArgs,
    player: Arc<Player>,
    password: Option<String>,
    token: Option<String>,
    events: SyncSender<Event>,
    socket: Option<TcpStream>,
    connection: u64,
    /// Attempts since the last welcome.
    attempts: u32,
    /// Whether this connection is logged in.
    welcomed: bool,
    /// Whether the login on its way goes by the token.
    by_token: bool,
    enqueued: bool,
    /// Whether it played in any tournament.
    played: bool,
    minds: BTreeMap<String, Mind>,
}

pub(crate) fn join(args: &JoinArgs) -> Result<Exit> {
    let name = PlayerName::new(&args.account).map_err(|error| Misuse(error.to_string()))?;
    let player = Arc::new(Player::new(name, args)?);
    super::solve::use_cache(None);
    let password = password(args)?;
    if password.is_none() {
        let why = "give the password with --password-file FILE, or in AGON_PASSWORD";
        return Err(Misuse(why.into()).into());
    }
    let (events, receiver) = sync_channel(EVENTS_MAX);
    let mut join = Join {
        args,
        player,
        password,
        token: None,
        events,
        socket: None,
        connection: 0,
        attempts: 0,
        welcomed: false,
        by_token: false,
        enqueued: false,
        played: false,
        minds: BTreeMap::new(),
    };
    let next = "is the server running there?";
    join.connect().with_context(|| format!("failed to reach {}; {next}", args.server))?;
    let exit = join.run(&receiver);
    join.minds.into_values().for_each(|mind| mind.end(None));
    exit
}

fn password(args: &JoinArgs) -> Result<Option<String>> {
    let Some(path) = &args.password_file else { return Ok(std::env::var("AGON_PASSWORD").ok()) };
    let unread = |error| Misuse(format!("failed to read {}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(unread)?;
    Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
}

impl Join<'_> {
    fn run(&mut self, events: &Receiver<Event>) -> Result<Exit> {
        loop {
            match events.recv().context("failed: nobody is left to listen to")? {
                Event::Line { connection, line } if connection == self.connection => {
                    let over = self.heard(&line)?;
                    if over {
                        return Ok(Exit::Success);
                    }
                }
                Event::Lost { connection } if connection == self.connection => self.come_back(),
                Event::Said { tournament, start, line } => self.said(&tournament, start, line),
                Event::Ended { tournament, start } => self.program_ended(&tournament, start)?,
                _ => {}
            }
        }
    }

    /// Connects, says hello and logs in. What the server says to it comes as events.
    fn connect(&mut self) -> Result<()> {
        let socket = TcpStream::connect(&self.args.server)?;
        if socket.local_addr()? == socket.peer_addr()? {
            // On one machine, whoever knocks at a free port often enough is let in by itself.
            bail!("nobody listens on {}", self.args.server);
        }
        socket.set_nodelay(true)?;
        self.connection += 1;
        self.welcomed = false;
        let (from, connection, events) =
            (socket.try_clone()?, self.connection, self.events.clone());
        std::thread::spawn(move || listen(from, connection, &events));
        self.socket = Some(socket);
        let proposal = self.player.proposal();
        let name = concat!("agon-join/", env!("CARGO_PKG_VERSION"));
        self.say(&json!({
            "type": "hello",
            "protocol": native::PROTOCOL_VERSION,
            "name": name,
            "proposal": proposal,
        }));
        self.log_in()
    }

    fn log_in(&mut self) -> Result<()> {
        self.by_token = self.token.is_some();
        let login = match (&self.token, &self.password) {
            (Some(token), _) => json!({"type": "login", "token": token}),
            (None, Some(password)) => json!({
                "type": "login",
                "account": self.player.name,
                "password": password,
                "register": self.args.register,
            }),
            (None, None) => bail!("failed to log in: there is neither a token nor a password"),
        };
        self.say(&login);
        Ok(())
    }

    /// Comes back after a lost connection, however long that takes.
    fn come_back(&mut self) {
        loop {
            self.socket = None;
            let (first, longest) = BACK_OFF_MS;
            let wait = first.saturating_mul(1 << self.attempts.min(16)).min(longest);
            self.attempts += 1;
            if self.attempts == 5 {
                eprintln!("agon: {} is not there; trying again until it is", self.args.server);
            }
            std::thread::sleep(Duration::from_millis(wait));
            if self.connect().is_ok() {
                return;
            }
        }
    }

    fn say(&mut self, message: &Value) {
        self.send(&message.to_string());
    }

    /// Sends a line; if the connection is lost, its reader will say so.
    fn send(&mut self, line: &str) {
        if let Some(socket) = &mut self.socket {
            let _ = socket.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Takes a message of the server; says whether everything is over.
    fn heard(&mut self, line: &str) -> Result<bool> {
        // Messages that are not known here are of a later version.
        let Ok(message) = serde_json::from_str::<Message>(line) else { return Ok(false) };
        match message.kind.as_str() {
            "welcome" => return Ok(self.welcomed(message)),
            "notice" => return self.noticed(line, &message),
            "request" => self.asked(line, &message),
            "error" => self.refused(line, &message)?,
            _ => {}
        }
        Ok(false)
    }

    fn welcomed(&mut self, message: Message) -> bool {
        self.attempts = 0;
        self.welcomed = true;
        if message.token.is_some() {
            self.token = message.token;
        }
        if self.connection == 1 {
            eprintln!("agon: logged in as {} on {}", self.args.account, self.args.server);
        }
        if let (Some(queue), false) = (&self.args.queue, self.enqueued) {
            self.enqueued = true;
            let enqueue = json!({"type": "enqueue", "queue": queue});
            self.say(&enqueue);
        }
        if message.active == Some(0) {
            // What it played in ended while the connection was lost.
            std::mem::take(&mut self.minds).into_values().for_each(|mind| mind.end(None));
            return self.args.once && self.played;
        }
        false
    }

    fn noticed(&mut self, line: &str, message: &Message) -> Result<bool> {
        let tournament = message.data["tournament"].as_str().unwrap_or_default().to_owned();
        match message.about.as_deref() {
            Some("tournament") => {
                self.played = true;
                if !self.minds.contains_key(&tournament) {
                    let mind = Mind::start(&self.player, &message.data, 1, &self.events)?;
                    self.minds.insert(tournament, mind);
                }
            }
            Some("tournament-over") => {
                let won = message.data["won"].as_bool();
                let word = if won == Some(true) { "won" } else { "over" };
                eprintln!("agon: tournament {tournament}: {word}");
                if let Some(mind) = self.minds.remove(&tournament) {
                    mind.end(won);
                }
                return Ok(self.args.once);
            }
            Some("match-over") => {}
            _ => {
                let named = message.tournament.as_ref();
                if let Some(mind) = named.and_then(|name| self.minds.get_mut(name)) {
                    mind.tell(line);
                }
            }
        }
        Ok(false)
    }

    fn asked(&mut self, line: &str, message: &Message) {
        let tournament = message.in_match["tournament"].as_str().unwrap_or_default();
        let (Some(mind), Some(id)) = (self.minds.get_mut(tournament), &message.id) else { return };
        if let Some(answer) = mind.ask(id, line, self.connection) {
            self.send(&answer);
        }
    }

    fn refused(&mut self, line: &str, message: &Message) -> Result<()> {
        let code = message.code.as_deref().unwrap_or_default();
        let detail = message.detail.as_deref().unwrap_or_default();
        match code {
            "wrong-credentials" if self.by_token && self.password.is_some() => {
                self.token = None;
                self.log_in()?;
            }
            "wrong-credentials" => {
                bail!("failed to log in: {detail}; --register makes a new account")
            }
            "taken-over" => bail!("failed to play on: {detail}"),
            "repeated" | "late" | "foreign" | "malformed" => {
                let id = message.id.as_deref().unwrap_or_default();
                let tournament = id.split_once(':').map(|(tournament, _)| tournament);
                let named = |name: &str| tournament.is_none_or(|tournament| tournament == name);
                let minds = self.minds.iter_mut().filter(|(name, _)| named(name));
                minds.for_each(|(_, mind)| mind.tell(line));
            }
            // Another try with the password has to wait. Whoever is in is only read slower.
            "slow-down" if self.welcomed => {}
            "slow-down" => {
                if let Some(socket) = &self.socket {
                    let _ = socket.shutdown(std::net::Shutdown::Both);
                }
            }
            _ => eprintln!("agon: the server says {code}: {detail}"),
        }
        Ok(())
    }

    /// Passes on what a player says: answers, and what is no message at all.
    fn said(&mut self, tournament: &str, start: u32, line: String) {
        let connection = self.connection;
        let Some(mind) = self.minds.get_mut(tournament).filter(|mind| mind.start == start) else {
            return;
        };
        match native::decode(line.as_bytes()) {
            Ok(FromPlayer::Hello(_)) => mind.greeted = true,
            Ok(FromPlayer::Answer { id, .. }) => {
                mind.answered(id.as_str(), &line, connection);
                self.send(&line);
            }
            Ok(FromPlayer::Lobby(_)) => eprintln!("agon: the program may not say {line}"),
            Err(_) if mind.greeted => self.send(&line),
            // A banner.
            Err(_) => {}
        }
    }

    /// A program that ended before its tournament is started again, and asked again.
    fn program_ended(&mut self, tournament: &str, start: u32) -> Result<()> {
        let Some(mind) = self.minds.remove(tournament) else { return Ok(()) };
        if mind.start != start {
            self.minds.insert(tournament.to_owned(), mind);
            return Ok(());
        }
        if start >= STARTS_MAX {
            bail!("failed to play on: the program ended {STARTS_MAX} times in one tournament");
        }
        eprintln!("agon: the program ended; starting it again");
        let (about, open) = mind.ended();
        let mut mind = Mind::start(&self.player, &about, start + 1, &self.events)?;
        for (id, line) in open {
            mind.ask(&id, &line, self.connection);
        }
        self.minds.insert(tournament.to_owned(), mind);
        Ok(())
    }
}

/// Reads lines from the server until the connection is lost.
fn listen(mut from: TcpStream, connection: u64, events: &SyncSender<Event>) {
    let mut lines = Lines::new(LINE_BYTES_MAX);
    let mut piece = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        lines.push(&piece[..count]);
        while let Some(line) = lines.take() {
            let Ok(line) = line else { continue };
            let line = String::from_utf8_lossy(line).into_owned();
            if events.send(Event::Line { connection, line }).is_err() {
                return;
            }
        }
    }
    let _ = events.send(Event::Lost { connection });
}

/// Whether there is a house player of that name in any game.
fn check_house(name: &str) -> Result<()> {
    let (games, houses) = (agon_games::Registry::standard(), Houses::standard());
    if games.names().iter().any(|game| houses.make(game, name).is_ok()) {
        return Ok(());
    }
    Err(Misuse(format!("no house player {name:?} in any game; see `agon list`")).into())
}
