//! Players: house players that keep their own record, as tasks of the harness or as separate
//! processes.

use crate::chance::within;
use crate::history::History;
use crate::link::Link;
use crate::record::Record;
use crate::wire::{Transport, Wire};
use agon_bots::SplitMix64;
use agon_bots::{HousePlayer, Houses};
use agon_games::Seat;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

/// How long connecting and logging in may take.
const LOGIN: Duration = Duration::from_secs(20);
/// After this long without a message, the player sends a ping.
const QUIET: Duration = Duration::from_secs(20);
/// After this many pings in a row without an answer, the player gives the connection up.
const QUIET_MAX: u32 = 3;
/// The first and the longest wait before a reconnect.
const BACK_OFF_MS: (u64, u64) = (20, 1_000);

/// How a player plays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// As a task of the harness.
    Task(Transport),
    /// As a separate process.
    Process,
}

/// A player.
#[derive(Debug)]
pub(crate) struct Player {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) how: How,
    /// True if the harness may disturb the player. Players who are left alone must never be
    /// charged.
    pub(crate) touchable: bool,
    pub(crate) link: Link,
    record: Mutex<Record>,
}

impl Player {
    pub(crate) fn new(number: usize, how: How, touchable: bool, link: Link) -> Player {
        let name = format!("p{number:03}");
        Player { number, name, how, touchable, link, record: Mutex::default() }
    }

    pub(crate) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    pub(crate) fn password(&self) -> String {
        format!("the word of {}", self.name)
    }

    /// The house player behind it.
    pub(crate) fn house(&self) -> &'static str {
        ["greedy", "random"][self.number % 2]
    }
}

/// How long players think, in milliseconds.
pub(crate) type Think = (u64, u64);

/// Plays until `over`, and gives no more answers once it should be `silent`.
pub(crate) async fn play(
    player: Arc<Player>,
    history: Arc<History>,
    think: Think,
    mut chance: SplitMix64,
    mut over: watch::Receiver<bool>,
    silent: watch::Receiver<bool>,
) {
    let How::Task(transport) = player.how else { return };
    let houses = Houses::standard();
    let mut playing = ChaosPlayer { player, history, think, silent, houses, token: None };
    let mut by_game = BTreeMap::new();
    let mut wait_ms = BACK_OFF_MS.0;
    loop {
        let before = playing.player.record().logins;
        tokio::select! {
            _ = playing.visit(transport, &mut by_game, &mut chance) => {}
            _ = over.wait_for(|over| *over) => return,
        }
        if playing.player.record().logins > before {
            wait_ms = BACK_OFF_MS.0;
        }
        let jitter = within(&mut chance, (0, wait_ms / 2));
        tokio::time::sleep(Duration::from_millis(wait_ms + jitter)).await;
        wait_ms = (wait_ms * 2).min(BACK_OFF_MS.1);
    }
}

/// A player that plays and reconnects until the chaos is over.
struct ChaosPlayer {
    player: Arc<Player>,
    history: Arc<History>,
    think: Think,
    /// True if the player stays connected and does not answer any more.
    silent: watch::Receiver<bool>,
    houses: Houses,
    token: Option<String>,
}

type HousePlayers = BTreeMap<String, Box<dyn HousePlayer>>;

impl ChaosPlayer {
    /// Runs one connection from its beginning to its end.
    async fn visit(
        &mut self,
        transport: Transport,
        by_game: &mut HousePlayers,
        chance: &mut SplitMix64,
    ) -> io::Result<()> {
        let entering = tokio::time::timeout(LOGIN, self.enter(transport));
        let mut wire = entering.await.map_err(|_| io::ErrorKind::TimedOut)??;
        self.player.record().logins += 1;
        let mut quiet = 0;
        loop {
            let Ok(heard) = tokio::time::timeout(QUIET, wire.hear()).await else {
                quiet += 1;
                if quiet > QUIET_MAX {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                wire.say(r#"{"type":"ping"}"#).await?;
                continue;
            };
            quiet = 0;
            let message: Value = self.read(&heard?);
            self.player.record().heard(&message);
            if message["type"] == "request" {
                let Some((id, answer)) = self.answer(&message, by_game) else { continue };
                self.history.waits.asked(&id, self.history.now());
                let think = Duration::from_millis(within(chance, self.think));
                self.think(&id, think, &wire).await;
                if *self.silent.borrow() {
                    continue;
                }
                self.history.waits.waiting(&id, self.history.now());
                // Record the answer before sending it: the server may read it even if the send
                // fails.
                self.player.record().answered(&id, &answer, Some(self.history.now()));
                wire.say(&format!(r#"{{"type":"answer","id":"{id}","answer":{answer}}}"#)).await?;
            }
        }
    }

    /// Waits for so long. The match waits for another connection as soon as this one is lost.
    async fn think(&self, id: &str, think: Duration, wire: &Wire) {
        let thinking = tokio::time::sleep(think);
        let mut thinking = std::pin::pin!(thinking);
        tokio::select! {
            () = &mut thinking => return,
            () = wire.lost() => self.history.waits.waiting(id, self.history.now()),
        }
        thinking.await;
    }

    fn read(&self, bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            let (name, text) = (&self.player.name, String::from_utf8_lossy(bytes));
            self.history.complain(format!("{name} was sent what is no JSON: {error}: {text}"));
            Value::Null
        })
    }

    /// Connects and logs in, by token once there is one.
    async fn enter(&mut self, transport: Transport) -> io::Result<Wire> {
        let mut wire = Wire::open(self.player.link.address, transport).await?;
        let map = self.houses.make("trains", "greedy").ok().and_then(|mut house| house.propose());
        let hello = json!({"type": "hello", "protocol": 1, "name": "chaos", "proposal": map});
        wire.say(&hello.to_string()).await?;
        let (name, password) = (&self.player.name, self.player.password());
        let login = match &self.token {
            Some(token) => json!({"type": "login", "token": token}),
            None => json!({
                "type": "login", "account": name, "password": password, "register": true,
            }),
        };
        wire.say(&login.to_string()).await?;
        loop {
            let message: Value = self.read(&wire.hear().await?);
            match message["type"].as_str() {
                Some("welcome") => {
                    if let Some(token) = message["token"].as_str() {
                        self.token = Some(token.to_owned());
                    }
                    return Ok(wire);
                }
                Some("error") => {
                    let code = message["code"].as_str().unwrap_or_default();
                    if code == "wrong-credentials" {
                        let what = format!("{name} was not let in: {message}");
                        self.history.complain(what);
                        self.token = None;
                    }
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                _ => {}
            }
        }
    }

    /// The answer of its house player, the same for every repeated request.
    fn answer(&self, request: &Value, by_game: &mut HousePlayers) -> Option<(String, String)> {
        let id = request["id"].as_str()?;
        // Tournaments are named after their game.
        let game = id.split('-').next()?;
        if !by_game.contains_key(game) {
            let made = self.houses.make(game, self.player.house()).ok()?;
            by_game.insert(game.to_owned(), made);
        }
        let house = by_game.get_mut(game)?;
        let seat: Seat = serde_json::from_value(request["seat"].clone()).ok()?;
        let (question, view) = (request["question"].to_string(), request["view"].to_string());
        match house.answer_text(&self.player.name, id, seat, &question, &view) {
            Ok(answer) => Some((id.to_owned(), answer.get().to_owned())),
            Err(error) => {
                self.history.complain(format!("a request that cannot be read: {error}: {request}"));
                None
            }
        }
    }
}
