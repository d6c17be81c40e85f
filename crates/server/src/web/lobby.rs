//! The public view of the lobby: connected players, queues, and all tournaments.
//!
//! The lobby changes with every login, so its watchers are shown it at most a few times a second.
//! One task asks the engine for all of them, and only while there are any.

use super::problem::Problem;
use super::{Answer, Web};
use crate::clock::now_ms;
use crate::engine::query::{LookAtLobby, ShownLobby};
use crate::engine::show;
use crate::engine::watch::{About, Shown, WATCHERS_MAX};
use crate::watch::{Watch, Watcher};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The minimum time between two queries of the lobby.
const APART_MS: u64 = 250;

/// The present lobby.
pub(super) async fn look(web: &Web) -> Result<ShownLobby, Problem> {
    let (_, lobby) = web.ask(LookAtLobby { seen: None }).await?;
    lobby.ok_or_else(Problem::internal)
}

pub(super) async fn one(State(web): State<Web>) -> Answer {
    Ok(Json(look(&web).await?).into_response())
}

/// All watchers of the lobby.
#[derive(Default)]
pub(super) struct Hub(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    watchers: Vec<Watcher>,
    latest: Option<Shown>,
    /// True if a task serves them.
    looked_after: bool,
}

impl Hub {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Sends the new state to all watchers; returns whether there are any left.
    fn show(&self, news: Option<Arc<str>>) -> bool {
        let mut inside = self.inside();
        inside.watchers.retain(|watcher| !watcher.is_gone());
        if inside.watchers.is_empty() {
            *inside = Inside::default();
            return false;
        }
        if let Some(text) = news {
            // The first message is a snapshot.
            let about = if inside.latest.is_none() { About::Snapshot } else { About::Change };
            let shown = Shown::new(about, text.into(), now_ms());
            inside.watchers.iter_mut().for_each(|watcher| watcher.show(shown.clone()));
            inside.latest = Some(shown);
        } else if let Some(latest) = &mut inside.latest {
            // The state is still current.
            latest.at = now_ms();
        }
        true
    }
}

/// Subscribes to the lobby.
pub(super) fn watch(web: &Web, seen: Option<u64>) -> Result<Watch, Problem> {
    let mut inside = web.hub.inside();
    inside.watchers.retain(|watcher| !watcher.is_gone());
    if inside.watchers.len() >= WATCHERS_MAX {
        return Err(Problem::busy("too many spectators (limit 2000); try again later"));
    }
    let (mut watcher, watch) = Watcher::new(seen);
    if let Some(latest) = &inside.latest {
        watcher.show(Shown { about: About::Snapshot, ..latest.clone() });
    }
    inside.watchers.push(watcher);
    if !std::mem::replace(&mut inside.looked_after, true) {
        tokio::spawn(look_after(web.clone()));
    }
    Ok(watch)
}

/// Sends all watchers the changes, until there are none left or the engine has ended.
async fn look_after(web: Web) {
    let mut version = None;
    loop {
        match web.ask(LookAtLobby { seen: version }).await {
            Ok((now, lobby)) => {
                version = Some(now);
                if !web.hub.show(lobby.map(|lobby| show::text(&lobby))) {
                    return;
                }
            }
            Err(_) => return *web.hub.inside() = Inside::default(),
        }
        tokio::time::sleep(Duration::from_millis(APART_MS)).await;
    }
}
