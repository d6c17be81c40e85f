//! The lobby as everybody may see it: who is here, who waits where, which tournaments there are.
//!
//! It changes with every login, so those who watch it are shown it a few times a second at most:
//! one task asks the engine for all of them, and only while there are any.

use super::problem::Problem;
use super::{Answer, Web, tournaments};
use crate::clock::now_ms;
use crate::engine::Engine;
use crate::engine::watch::{About, Shown, WATCHERS_MAX, Watch, Watcher};
use crate::wires::Wire;
use agon_core::PlayerName;
use agon_core::lobby::{AccountKind, Queue, QueueName, Standing};
use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// Players, queues and tournaments of each standing that are listed; all are counted.
const LISTED_MAX: usize = 500;

/// How far two looks at the lobby lie apart at least.
const APART_MS: u64 = 250;

/// The lobby.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Shows {
    /// How many accounts there are.
    accounts: usize,
    /// How many are here.
    here: usize,
    /// Who is here, first who waits longest; the first 500.
    players: Vec<Here>,
    /// Who waits where; the first 500 queues.
    queues: Vec<Waits>,
    /// How many tournaments there are of each standing.
    counts: Counts,
    /// Tournaments by standing and name, up to 500 of each standing.
    #[schemars(with = "Vec<super::shapes::Listed>")]
    tournaments: Vec<Value>,
    /// How old this is, in milliseconds; only in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    behind_ms: Option<u64>,
    /// How many changes were left out before this one; only in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<u64>,
}

/// A player that is here.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Here {
    player: PlayerName,
    kind: AccountKind,
    /// Over which wire; null for who has just gone, or comes over HTTP only.
    wire: Option<Wire>,
}

/// A queue somebody waits in.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Waits {
    queue: QueueName,
    /// How many places are taken.
    waiting: usize,
}

/// Tournaments by standing.
#[derive(Serialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
struct Counts {
    open: usize,
    inviting: usize,
    running: usize,
    over: usize,
    called_off: usize,
}

impl Shows {
    fn of(engine: &Engine) -> Shows {
        let lobby = engine.lobby();
        let here = |player: &PlayerName| {
            let kind = lobby.account(player)?.kind;
            Some(Here { player: player.clone(), kind, wire: engine.wire_of(player) })
        };
        let queues = lobby.queues().take(LISTED_MAX);
        let waits = |(queue, waiting): (&QueueName, &Queue)| Waits {
            queue: queue.clone(),
            waiting: waiting.len(),
        };
        let (mut counts, mut listed) = (Counts::default(), [const { Vec::new() }; 5]);
        for (id, standing) in lobby.tournaments() {
            let (place, count) = match standing {
                Standing::Open(_) => (0, &mut counts.open),
                Standing::Inviting(_) => (1, &mut counts.inviting),
                Standing::Running(_) => (2, &mut counts.running),
                Standing::Finished(_) => (3, &mut counts.over),
                Standing::CalledOff(_) => (4, &mut counts.called_off),
            };
            *count += 1;
            if *count <= LISTED_MAX {
                listed[place].push(tournaments::in_list(engine, id.as_str(), standing));
            }
        }
        Shows {
            accounts: lobby.accounts().count(),
            here: lobby.line().len(),
            players: lobby.line().iter().filter_map(here).take(LISTED_MAX).collect(),
            queues: queues.map(waits).collect(),
            counts,
            tournaments: listed.into_iter().flatten().collect(),
            behind_ms: None,
            skipped: None,
        }
    }
}

pub(super) async fn one(State(web): State<Web>) -> Answer {
    let shows = web.ask_lobby(|engine| Shows::of(engine)).await?;
    Ok(Json(shows).into_response())
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
    fn show(&self, news: Option<String>) -> bool {
        let mut inside = self.inside();
        inside.watchers.retain(|watcher| !watcher.is_gone());
        if inside.watchers.is_empty() {
            *inside = Inside::default();
            return false;
        }
        if let Some(text) = news {
            // Who has seen nothing yet is shown a snapshot.
            let about = if inside.latest.is_none() { About::Snapshot } else { About::Change };
            let shown = Shown::new(about, text.into());
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
        return Err(Problem::busy("too many watch at once"));
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
        let looked = web.ask_lobby(move |engine| look(engine, version)).await;
        match looked {
            Ok((now, text)) => {
                version = Some(now);
                if !web.hub.show(text) {
                    return;
                }
            }
            Err(_) => return *web.hub.inside() = Inside::default(),
        }
        tokio::time::sleep(Duration::from_millis(APART_MS)).await;
    }
}

/// How the lobby stands, if it is another one.
fn look(engine: &Engine, version: Option<u64>) -> (u64, Option<String>) {
    let now = engine.lobby_version();
    let text = (version != Some(now))
        .then(|| serde_json::to_string(&Shows::of(engine)).expect("what is shown is JSON"));
    (now, text)
}
