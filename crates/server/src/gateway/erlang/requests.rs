//! Processes that asked for a tournament and wait for its result. Such a process needs no account,
//! so the log stores where it is. It is notified once its node can be reached, also after a restart
//! of the server.

use super::dial::{self, Address};
use super::{Hub, inquiries};
use crate::clock::now_ms;
use crate::engine::query::{Decide, ListRequests};
use crate::gateway::outbox::Receipt;
use agon_core::lobby::{Lobby, LobbyCommand};
use agon_core::{Timestamp, TournamentId};
use agon_wire::erlang::location::Requester;
use agon_wire::erlang::term::{Pid, Term};
use agon_wire::erlang::{class, referee};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to wait before the next attempt to reach a node; it doubles every time.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest such wait.
const AGAIN_MAX: Duration = Duration::from_secs(60);

/// How often to check whether a message was written.
const WRITTEN: Duration = Duration::from_millis(20);

/// Resumes every request that was not answered before the restart.
pub(super) async fn take_up_all(hub: Arc<Hub>) {
    let engine = hub.gateway.engine();
    for request in engine.ask(ListRequests).await.unwrap_or_default() {
        let Some(requester) = Requester::read(&request.reply_to) else { continue };
        let Ok(place) = Arc::clone(&hub.asked).try_acquire_owned() else { return };
        let hub = Arc::clone(&hub);
        tokio::spawn(async move {
            answer(&hub, &request.tournament, &requester).await;
            drop(place);
        });
    }
}

/// Waits until a tournament reaches the state its requester asked for, and notifies them.
pub(super) async fn answer(hub: &Arc<Hub>, id: &TournamentId, requester: &Requester) {
    let reply = match requester.reference() {
        Some(reference) => {
            let winner = inquiries::ended(hub, id).await;
            winner.map(|winner| referee::tournament_ended(&reference, winner.as_ref()))
        }
        None => {
            let players = inquiries::started(hub, id).await;
            let (own, tournament) = (inquiries::own(hub, 0), hub.refs.tournament(id));
            players.map(|players| class::tournament_started(&own, &tournament, &players))
        }
    };
    let Some(pid) = requester.pid() else { return };
    let address = Address { node: pid.node.clone(), from: requester.from, port: requester.port };
    match reply {
        Some(reply) => {
            if !deliver(hub, id, &address, &pid, &reply).await {
                return;
            }
        }
        // The protocols cannot express that a tournament was cancelled before it started.
        None => {
            let (node, reason) = (pid.node.as_str(), "the tournament was called off");
            tracing::info!(node, user = "unknown", reason, "a request is ignored");
        }
    }
    let tournament = id.clone();
    let settled = Decide(LobbyCommand::Deliver { tournament });
    let _ = hub.gateway.engine().ask(settled).await;
}

/// Sends a process a message as soon as its node can be reached; `false` if it gave up.
async fn deliver(
    hub: &Arc<Hub>,
    id: &TournamentId,
    address: &Address,
    pid: &Pid,
    reply: &Term,
) -> bool {
    let mut again = AGAIN;
    loop {
        let node = hub.nodes().get(&address.node).cloned();
        if let Some(node) = node {
            let written = Arc::new(AtomicBool::new(false));
            let receipt = Receipt::Flag(Arc::clone(&written));
            node.tell(pid.clone(), reply.clone(), Some(receipt));
            while !written.load(Ordering::Acquire) && !node.writer.is_closed() {
                tokio::time::sleep(WRITTEN).await;
            }
            if written.load(Ordering::Acquire) {
                return true;
            }
            continue;
        }
        if !is_kept(hub, id).await {
            tracing::info!(tournament = %id, "whoever asked for a tournament was not found again");
            return false;
        }
        let connected = hub.connected.notified();
        match dial::connect(hub, address).await {
            // The node registers itself in a moment.
            Ok(()) => drop(tokio::time::timeout(AGAIN, connected).await),
            Err(_) => {
                let _ = tokio::time::timeout(again, connected).await;
                again = (again * 2).min(AGAIN_MAX);
            }
        }
    }
}

/// Returns whether the log still stores the requester of a tournament: requests are limited in
/// number and time.
async fn is_kept(hub: &Hub, id: &TournamentId) -> bool {
    let kept = hub.gateway.engine().ask(ListRequests).await.unwrap_or_default();
    let now = now_ms();
    let is_young = |since: Timestamp| now.since(since) < Lobby::REQUEST_MS_MAX;
    kept.iter().any(|one| one.tournament == *id && is_young(one.since))
}
