//! Tournaments, one after the other and several at once, which an operator announces for as long as
//! the run lasts.

use crate::chance::within;
use crate::history::History;
use crate::player::Player;
use agon_bots::SplitMix64;
use agon_client::http::{Http, HttpError};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a request may take before a retry.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often to poll a tournament.
const LOOK: Duration = Duration::from_millis(500);

/// The tournaments: the preset, how many games a match has, and how many players a tournament.
const KINDS: [(&str, &str, u32, (u64, u64)); 5] = [
    ("yahtzee", "yahtzee-queue", 1, (4, 8)),
    ("fish", "fish", 1, (4, 8)),
    ("yahtzee", "yahtzee-class", 3, (3, 6)),
    ("trains", "trains", 1, (2, 5)),
    ("yahtzee", "yahtzee-referee", 1, (4, 8)),
];

/// The players' deadlines, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) answer_ms: u64,
    pub(crate) wait_ms: u64,
    /// Games of a match, at most.
    pub(crate) best_of_max: u32,
}

impl Times {
    /// The most games that a match may have.
    pub(crate) const BEST_OF_MAX: u32 = 99;
}

#[derive(Default, Debug)]
struct Standing {
    /// Players that are in no tournament.
    free: Vec<usize>,
    running: BTreeSet<String>,
    /// Tournaments that the server accepted.
    announced: BTreeSet<String>,
    over: u64,
    /// How many it refused, by its message.
    refused: BTreeMap<String, u64>,
}

/// The tournaments of a run.
#[derive(Debug)]
pub(crate) struct Cups {
    operator: String,
    http: watch::Receiver<SocketAddr>,
    players: Vec<Arc<Player>>,
    history: Arc<History>,
    times: Times,
    standing: Mutex<Standing>,
}

impl Cups {
    pub(crate) fn new(
        operator: String,
        http: watch::Receiver<SocketAddr>,
        players: Vec<Arc<Player>>,
        history: Arc<History>,
        times: Times,
    ) -> Cups {
        let free = (0..players.len()).collect();
        let standing = Mutex::new(Standing { free, ..Standing::default() });
        Cups { operator, http, players, history, times, standing }
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// How many are over, and how many run.
    pub(crate) fn counts(&self) -> (u64, usize) {
        let standing = self.standing();
        (standing.over, standing.running.len())
    }

    /// How often the server refused one, by its message.
    pub(crate) fn refused(&self) -> BTreeMap<String, u64> {
        self.standing().refused.clone()
    }

    /// Tournaments that the server accepted.
    pub(crate) fn announced(&self) -> BTreeSet<String> {
        self.standing().announced.clone()
    }

    pub(crate) fn running(&self) -> Vec<String> {
        self.standing().running.iter().cloned().collect()
    }

    /// Waits until everybody has an account.
    pub(crate) async fn all_known(&self, patience: Duration) -> Result<()> {
        let give_up = Instant::now() + patience;
        for player in &self.players {
            let path = format!("/api/v1/accounts/{}", player.name);
            while self.ask("GET", &path, None).await.is_err() {
                ensure!(Instant::now() < give_up, "{} does not log in", player.name);
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
        Ok(())
    }

    /// Announces tournaments until the run closes, and waits for the end of all of them.
    pub(crate) async fn hold(
        self: Arc<Self>,
        mut chance: SplitMix64,
        closing: watch::Receiver<bool>,
    ) {
        let mut cups = JoinSet::new();
        for number in 1_u64.. {
            let (game, preset, best_of, sizes) = KINDS[(number % KINDS.len() as u64) as usize];
            let size = within(&mut chance, sizes) as usize;
            let Some(taken) = self.take(size, &mut chance, closing.clone()).await else { break };
            let cup = Cup {
                id: format!("{game}-{number}"),
                preset,
                best_of,
                taken,
                with_house: chance.below(4) == 0,
            };
            let (own, closing) = (Arc::clone(&self), closing.clone());
            cups.spawn(async move { own.one(cup, closing).await });
            while cups.try_join_next().is_some() {}
        }
        while cups.join_next().await.is_some() {}
    }

    /// Starts a match of Fish between every two players, longer than any run. Two answers never
    /// count at the same time in Fish.
    pub(crate) async fn start_pairs(&self, closing: watch::Receiver<bool>) {
        for number in 0..self.players.len() / 2 {
            let taken = vec![2 * number, 2 * number + 1];
            let (id, best_of, with_house) = (format!("fish-{number}"), Times::BEST_OF_MAX, false);
            let cup = Cup { id, preset: "fish-league", best_of, taken, with_house };
            self.announce(&cup, closing.clone()).await;
        }
    }

    /// Waits until this many players are free and takes them; `None` when the run closes.
    async fn take(
        &self,
        size: usize,
        chance: &mut SplitMix64,
        closing: watch::Receiver<bool>,
    ) -> Option<Vec<usize>> {
        loop {
            if *closing.borrow() {
                return None;
            }
            {
                let mut standing = self.standing();
                if standing.free.len() >= size {
                    chance.shuffle(&mut standing.free);
                    let rest = standing.free.len() - size;
                    return Some(standing.free.split_off(rest));
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Runs one tournament from its announcement to its end.
    async fn one(&self, cup: Cup, closing: watch::Receiver<bool>) {
        if self.announce(&cup, closing).await {
            self.standing().running.insert(cup.id.clone());
            while !self.is_over(&cup.id).await {
                tokio::time::sleep(LOOK).await;
            }
            let mut standing = self.standing();
            standing.running.remove(&cup.id);
            standing.over += 1;
        } else {
            tokio::time::sleep(LOOK).await;
        }
        self.standing().free.extend(cup.taken);
    }

    /// Announces a tournament; returns whether it takes place. If the server's answer is lost, the
    /// result is looked up.
    async fn announce(&self, cup: &Cup, closing: watch::Receiver<bool>) -> bool {
        let body = cup.body(&self.players, self.times);
        loop {
            match self.ask("POST", "/api/v1/tournaments", Some(&body)).await {
                Ok(_) => {
                    self.standing().announced.insert(cup.id.clone());
                    return true;
                }
                // The server refuses it, or accepted it before in an answer that was lost.
                Err(HttpError::Problem { status: 400..500, detail, .. }) => {
                    if let Some(known) = self.is_known(cup).await {
                        if !known {
                            *self.standing().refused.entry(detail).or_default() += 1;
                        }
                        return known;
                    }
                }
                // Once the run closes, do not retry a tournament that the server does not know.
                Err(_) if *closing.borrow() => {
                    if let Some(known) = self.is_known(cup).await {
                        return known;
                    }
                }
                Err(_) => {}
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns whether the server knows it; `None` if the server does not answer.
    async fn is_known(&self, cup: &Cup) -> Option<bool> {
        match self.ask("GET", &cup.path(), None).await {
            Ok(_) => Some(true),
            Err(HttpError::Problem { status: 404, .. }) => Some(false),
            Err(_) => None,
        }
    }

    async fn is_over(&self, id: &str) -> bool {
        match self.ask("GET", &format!("/api/v1/tournaments/{id}"), None).await {
            Ok(shown) => matches!(shown["standing"].as_str(), Some("over" | "called-off")),
            Err(HttpError::Problem { status: 404, .. }) => {
                self.history.complain(format!("{id} was announced, and nobody knows it any more"));
                true
            }
            Err(_) => false,
        }
    }

    async fn ask(
        &self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, HttpError> {
        let place = *self.http.borrow();
        let (http, _) = Http::parse(&format!("http://{place}"))?;
        let http = http.with_token(Some(self.operator.clone()));
        let lost = |_| HttpError::Unreachable {
            server: place.to_string(),
            why: std::io::ErrorKind::TimedOut.into(),
        };
        let sending = http.send(method, path, body);
        let response = tokio::time::timeout(PATIENCE, sending).await.map_err(lost)??;
        Ok(serde_json::from_slice(&response.body).unwrap_or_default())
    }
}

struct Cup {
    id: String,
    preset: &'static str,
    best_of: u32,
    taken: Vec<usize>,
    with_house: bool,
}

impl Cup {
    fn path(&self) -> String {
        format!("/api/v1/tournaments/{}", self.id)
    }

    fn body(&self, players: &[Arc<Player>], times: Times) -> Value {
        let mut names: Vec<&str> =
            self.taken.iter().map(|number| players[*number].name.as_str()).collect();
        if self.with_house {
            names.push("house:greedy");
        }
        let mut time = json!({"answer_ms": times.answer_ms});
        // In the other presets a lost connection ends the match, so there is no reconnect wait.
        if self.preset.starts_with("yahtzee") || self.preset == "fish-league" {
            time["wait_ms"] = times.wait_ms.into();
        }
        json!({
            "id": self.id,
            "preset": self.preset,
            "selection": {"by": "named", "players": names},
            "policy": {"match": {"time": time, "best_of": self.best_of.min(times.best_of_max)}},
        })
    }
}
