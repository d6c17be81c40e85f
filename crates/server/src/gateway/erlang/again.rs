//! Players who were logged in before the server was restarted. Their programs never log in twice,
//! so the server looks for them: it connects to their nodes, monitors their processes, and resumes
//! the sessions of those that live.
//!
//! A node may connect by itself in the meantime. Either way, its players are attached once it is
//! connected. A process that is gone is not charged: the engine interrupts the tournaments that
//! need it.

use super::dial::{self, Address};
use super::node::Node;
use super::{Hub, player};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::query::{FindPassword, ListCutOff};
use crate::passwords::{Attempt, Purpose};
use crate::throttle::GuessVerdict;
use agon_core::{PlayerName, TournamentId};
use agon_wire::erlang::Password;
use agon_wire::erlang::location::Location;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::Instant;

/// How long to wait before the next attempt to reach a node.
const AGAIN: Duration = Duration::from_millis(250);

/// How many nodes to look for at once.
const LOOKED_FOR_MAX: usize = 64;

/// A player who was logged in, where they were, and the tournaments they play in.
pub(super) struct CutOff {
    pub(super) user: PlayerName,
    pub(super) location: Location,
    pub(super) tournaments: Vec<TournamentId>,
}

/// The players who were logged in over this wire before the restart and have not returned.
async fn cut_off(hub: &Hub) -> Vec<CutOff> {
    let engine = hub.gateway.engine();
    let all = engine.ask(ListCutOff).await.unwrap_or_default().into_iter();
    let read = all.filter_map(|(user, kept, tournaments)| {
        let location = Location::read(&kept)?;
        Some(CutOff { user, location, tournaments })
    });
    read.filter(|one| one.location.is_of(&hub.settings.node.0)).collect()
}

/// Looks for the nodes of all players who were logged in, until the reconnect deadline.
pub(super) async fn find_all(hub: Arc<Hub>, reconnect: Duration) {
    let deadline = Instant::now() + reconnect;
    let mut wanted: BTreeMap<String, Address> = BTreeMap::new();
    for CutOff { location, .. } in cut_off(&hub).await {
        let Some(pid) = location.pid() else { continue };
        let name = pid.node.as_str().to_owned();
        let address = Address { node: pid.node, from: location.from, port: location.port };
        wanted.insert(name, address);
    }
    let room = Arc::new(Semaphore::new(LOOKED_FOR_MAX));
    for address in wanted.into_values() {
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            find(&hub, &address, deadline).await;
            drop(place);
        });
    }
}

/// Tries to reach a node until it is connected.
async fn find(hub: &Arc<Hub>, address: &Address, deadline: Instant) {
    let node = address.node.as_str();
    loop {
        if hub.nodes().contains_key(&address.node) {
            return;
        }
        let why = match dial::connect(hub, address).await {
            Ok(()) => return tracing::info!(node, "connected to a node after the restart"),
            Err(why) => why,
        };
        if Instant::now() + AGAIN > deadline {
            return tracing::warn!(node, why, "a node was not found again after the restart");
        }
        tracing::debug!(node, why, "a node is not found yet");
        tokio::time::sleep(AGAIN).await;
    }
}

/// Attaches the players of a connected node whom a restart disconnected.
pub(super) async fn attach_players(hub: Arc<Hub>, node: Arc<Node>) {
    for one in cut_off(&hub).await {
        let pid = one.location.pid().filter(|pid| pid.node == node.name);
        // The processes of an earlier run of the node are gone.
        if pid.is_some_and(|pid| pid.creation == node.creation) {
            player::visit_again(&hub, &node, one).await;
        }
    }
}

/// Checks an account's password by its hash: the log stores no passwords to compare with.
pub(super) async fn prove(hub: &Hub, node: &Node, user: &PlayerName, given: &Password) -> bool {
    let (engine, from) = (hub.gateway.engine(), node.from);
    let Some(Some(Some(kept))) = engine.ask(FindPassword(user.clone())).await else {
        return false;
    };
    let (given, account, purpose) = (given.0.clone(), user.clone(), Purpose::Proof);
    let attempt = Attempt { from, account, purpose, at: now_ms() };
    let checked = engine.passwords().check(attempt, move || match auth::matches(&given, &kept) {
        true => (GuessVerdict::Right, true),
        false => (GuessVerdict::Wrong, false),
    });
    checked.await.unwrap_or(false)
}
