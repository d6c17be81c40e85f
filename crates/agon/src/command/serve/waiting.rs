//! Tournaments from the settings file: announced once their players are connected.

use agon_core::PlayerName;
use agon_core::lobby::{Announcement, Selection};
use agon_server::{Engine, Handle};
use std::time::Duration;

/// How often to check for their players.
const LOOK_MS: u64 = 50;

/// Announces every tournament as soon as it can start.
pub(super) async fn announce_all(handle: Handle, mut waiting: Vec<Announcement>) {
    let mut timer = tokio::time::interval(Duration::from_millis(LOOK_MS));
    while !waiting.is_empty() {
        timer.tick().await;
        let looked = handle.call(move |engine| {
            waiting.retain(|announcement| look_for_players(engine, announcement));
            waiting
        });
        let Some(left) = looked.await else { return };
        waiting = left;
    }
}

/// Announces a tournament if its players are connected; returns whether it must wait.
fn look_for_players(engine: &mut Engine, announcement: &Announcement) -> bool {
    let lobby = engine.lobby();
    if lobby.tournament(&announcement.id).is_some() {
        return false;
    }
    let connected = |player: &PlayerName| engine.is_connected(player);
    let free = |player: &&PlayerName| {
        let account = lobby.account(player);
        connected(player) && account.is_some_and(|account| account.blacklisted.is_none())
    };
    let ready = match &announcement.selection {
        Selection::Line { at_most } => {
            lobby.line().iter().filter(free).count() >= *at_most as usize
        }
        Selection::Named { players } => {
            players.iter().all(|player| player.as_str().starts_with("house:") || connected(player))
        }
        _ => false,
    };
    if !ready {
        return true;
    }
    let id = &announcement.id;
    match engine.announce(announcement.clone()) {
        Ok(()) => tracing::info!(tournament = %id, "all players of a tournament are connected"),
        Err(error) => tracing::warn!(tournament = %id, %error, "failed to start a tournament"),
    }
    false
}
