//! The lobby as everybody may see it: which players are here, which wait where, and all tournaments.
//!
//! It changes with every login, so those who watch it are shown it a few times a second at most:
//! one task asks the engine for all of them, and only while there are any.

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

/// How far two looks at the lobby lie apart at least.
const APART_MS: u64 = 250;

/// The lobby as it is now.
pub(super) async fn look(web: &Web) -> Result<ShownLobby, Problem> {
    let (_, lobby) = web.ask(LookAtLobby { seen: None }).await?;
    lobby.ok_or_else(Problem::internal)
}

pub(super) async fn one(State(web): State<Web>) -> Answer {
    Ok(Json(look(&web).await?).into_response())
}

/// Everybody who watches the lobby.
#[derive(Default)]
pub(super) struct Hub(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    watchers: Vec<Watcher>,
    latest: Option<Shown>,
    /// Whether a task looks after them.
    looked_after: bool,
}

impl Hub {
    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Shows what is new to all; whether there is still somebody.
    fn show(&self, news: Option<Arc<str>>) -> bool {
        let mut inside = self.inside();
        inside.watchers.retain(|watcher| !watcher.is_gone());
        if inside.watchers.is_empty() {
            *inside = Inside::default();
            return false;
        }
        if let Some(text) = news {
            // Who has seen nothing yet is shown a snapshot.
            let about = if inside.latest.is_none() { About::Snapshot } else { About::Change };
            let shown = Shown::new(about, text, now_ms());
            inside.watchers.iter_mut().for_each(|watcher| watcher.show(shown.clone()));
            inside.latest = Some(shown);
        } else if let Some(latest) = &mut inside.latest {
            // It stands so still.
            latest.at = now_ms();
        }
        true
    }
}

/// Begins to watch the lobby.
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

/// Shows all who watch what is new, until nobody does or the engine has ended.
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
