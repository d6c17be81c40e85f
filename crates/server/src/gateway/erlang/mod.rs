//! Yahtzee players that are Erlang processes: this server is a hidden node of theirs.
//!
//! ```text
//!   a node ── socket ──▶ node ──▶ player ──▶ engine       each player is a connection of its own
//!      ▲                  │  │       ▲          │
//!      └──── writer ◀─────┘  │       └─ outbox ◀┘
//!                            └──▶ inquiries: requests that need no login
//! ```
//!
//! Nodes connect to this server. After a restart it connects to the nodes of players who were
//! logged in (`again`) and of processes that wait for a result (`requests`).
//!
//! `agon_wire::erlang` defines the messages. This module handles names and ports, cookies,
//! keep-alive ticks, monitors, and which player is on which node.

mod again;
mod dial;
mod epmd;
mod handshake;
mod inquiries;
mod logins;
mod node;
mod player;
mod players;
mod requests;
mod route;
mod writer;

use super::Gateway;
use crate::engine::query::LookBeforeStart;
use agon_core::{Millis, PlayerName, TournamentId};
use agon_wire::erlang::handshake::Cookie;
use agon_wire::erlang::location::Location;
use agon_wire::erlang::refs::Refs;
use agon_wire::erlang::term::{Atom, Pid, Term};
use node::Node;
use player::Player;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

/// The node's settings for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErlangSettings {
    /// The node's name, `agon@localhost`.
    pub node: NodeName,
    /// The shared secret that nodes authenticate with.
    pub cookie: ErlangCookie,
    /// The address of EPMD, or of this server in its place.
    pub epmd: SocketAddr,
    /// After how much silence the server sends a tick. A node that is silent for five ticks, and
    /// for at least five seconds, counts as disconnected.
    pub tick_ms: Millis,
    /// How long players have to accept a tournament.
    pub accept_ms: Millis,
    /// The time limit for answers in tournaments requested over this wire; by default the preset's.
    pub answer_ms: Option<Millis>,
    /// How long a match in such a tournament waits for a disconnected player; by default the
    /// preset's.
    pub wait_ms: Option<Millis>,
    /// The number of games in a match of the queue protocol, whose messages do not say.
    pub queue_games: u32,
}

/// How many silent ticks disconnect a node.
const TICKS_MAX: u64 = 5;

/// The shortest silence that disconnects a node: a busy machine may be silent this long however
/// short ticks are.
const SILENCE_MS_MIN: Millis = 5_000;

/// The limit on requested tournaments that processes wait for and inquiries in progress.
const ASKED_MAX: usize = 1_000;

/// The name of a node, `name@host`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NodeName(Atom);

impl NodeName {
    /// A node name, or a sentence that says why the text is not one.
    pub fn new(text: &str) -> Result<NodeName, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        let good = text.split_once('@').is_some_and(|(name, host)| {
            let parts = [name, host];
            parts.iter().all(|part| !part.is_empty() && part.bytes().all(plain))
        });
        let atom = Atom::new(text).filter(|_| good);
        let why = || format!("{text:?} is no name of a node; use NAME@HOST, as agon@localhost");
        atom.map(NodeName).ok_or_else(why)
    }

    /// The part before the host.
    fn alive(&self) -> &str {
        self.0.as_str().split('@').next().unwrap_or_default()
    }
}

impl std::fmt::Display for NodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.as_str())
    }
}

/// A cookie. It is never shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ErlangCookie(Cookie);

impl ErlangCookie {
    /// A cookie, or a sentence that says why the text is not one.
    pub fn new(text: &str) -> Result<ErlangCookie, String> {
        match text.is_empty() || text.chars().any(char::is_control) || text.len() > 255 {
            true => Err("a cookie has 1 to 255 characters that can be printed".into()),
            false => Ok(ErlangCookie(Cookie(text.to_owned()))),
        }
    }
}

/// Why the node cannot start.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ErlangError {
    /// EPMD has a node of this name.
    #[error("EPMD already has a node {0}; stop that one, or choose another name with erlang.node")]
    Taken(String),
    /// EPMD gives an unexpected answer.
    #[error("failed to register with EPMD at {epmd}: {why}")]
    Epmd {
        /// Its address.
        epmd: SocketAddr,
        /// The reason.
        why: String,
    },
    /// The node's own port is not known.
    #[error("failed to read the node's own address: {0}")]
    Address(String),
    /// The system has no random bytes.
    #[error("{0}")]
    Entropy(String),
}

/// The state that all nodes share.
struct Hub {
    gateway: Gateway,
    settings: ErlangSettings,
    refs: Arc<Refs>,
    creation: u32,
    /// The connected nodes.
    nodes: Mutex<HashMap<Atom, Arc<Node>>>,
    /// Notified when a tournament that a process may wait for has changed.
    stirred: Notify,
    /// Notified when a node connects.
    connected: Notify,
    asked: Arc<Semaphore>,
}

/// A player and their node.
type OnNode = (Arc<Node>, Arc<Player>);

impl Hub {
    fn nodes(&self) -> MutexGuard<'_, HashMap<Atom, Arc<Node>>> {
        self.nodes.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// A player who is logged in on any node, and that node.
    fn player(&self, user: &PlayerName) -> Option<OnNode> {
        let nodes: Vec<Arc<Node>> = self.nodes().values().cloned().collect();
        nodes.into_iter().find_map(|node| {
            let player = node.players().with_user(user)?;
            Some((node, player))
        })
    }

    /// Sends a message to a process, on the node it runs on.
    fn tell(&self, to: Pid, message: Term) {
        let node = self.nodes().get(&to.node).cloned();
        if let Some(node) = node {
            node.tell(to, message, None);
        }
    }
}

/// Starts the node: registers with EPMD, or answers in its place, and accepts nodes until the
/// runtime ends.
pub async fn serve_erlang(
    listener: TcpListener,
    gateway: Gateway,
    settings: ErlangSettings,
) -> Result<(), ErlangError> {
    let address = listener.local_addr();
    let port = address.map_err(|error| ErlangError::Address(error.to_string()))?.port();
    let own = epmd::node(settings.node.alive(), port);
    let (place, given) = epmd::register(settings.epmd, &own).await?;
    let (kept, tournaments, reconnect_ms) = before(&gateway, &settings.node.0).await;
    // Players who never log in twice hold pids and references of the previous run, so its creation
    // number stays.
    let creation = kept.unwrap_or(given);
    let own_epmd = matches!(place, epmd::EpmdEntry::Ours(_));
    tracing::info!(node = %settings.node, port, epmd = %settings.epmd, own_epmd, "an Erlang node");
    tokio::spawn(epmd::stay(settings.epmd, own, creation, place));
    let refs = Arc::new(Refs::new(settings.node.0.clone(), creation));
    tournaments.iter().for_each(|id| drop(refs.tournament(id)));
    let hub = Arc::new(Hub {
        gateway,
        settings,
        refs,
        creation,
        nodes: Mutex::default(),
        stirred: Notify::new(),
        connected: Notify::new(),
        asked: Arc::new(Semaphore::new(ASKED_MAX)),
    });
    tokio::spawn(node::accept_all(listener, Arc::clone(&hub)));
    tokio::spawn(again::find_all(Arc::clone(&hub), Duration::from_millis(reconnect_ms)));
    tokio::spawn(requests::take_up_all(hub));
    Ok(())
}

/// The log's data about the previous run: the creation number in players' references, the
/// tournaments they may ask about, and how long they have to reconnect.
async fn before(gateway: &Gateway, node: &Atom) -> (Option<u32>, Vec<TournamentId>, Millis) {
    let asked = gateway.engine().ask(LookBeforeStart).await;
    let (locations, tournaments, reconnect_ms) = asked.unwrap_or_default();
    let mut own = locations.iter().filter_map(Location::read).filter(|one| one.is_of(node));
    (own.next().map(|one| one.own_creation), tournaments, reconnect_ms)
}
