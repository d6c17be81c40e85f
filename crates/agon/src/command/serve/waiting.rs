//! Tournaments from the settings file: announced once their players are connected.

use agon_core::lobby::Announcement;
use agon_server::Handle;
use agon_server::query::AnnounceWhenPresent;
use std::time::Duration;

/// How often to check for their players.
const LOOK_MS: u64 = 50;

/// Announces every tournament as soon as it can start.
pub(super) async fn announce_all(handle: Handle, mut waiting: Vec<Announcement>) {
    let mut timer = tokio::time::interval(Duration::from_millis(LOOK_MS));
    while !waiting.is_empty() {
        timer.tick().await;
        let Some(left) = handle.ask(AnnounceWhenPresent(waiting)).await else { return };
        waiting = left;
    }
}
