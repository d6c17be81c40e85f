//! Queues: listing the waiting players, joining and leaving.

use super::caller::Caller;
use super::problem::Problem;
use super::{Answer, Web};
use crate::engine::query::{ChangeQueue, ListQueue};
use agon_core::PlayerName;
use agon_core::lobby::QueueName;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;

/// The players who wait in a queue, in order.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Queue")]
pub(super) struct ShownQueue {
    queue: QueueName,
    players: Vec<PlayerName>,
}

fn queue_of(text: &str) -> Result<QueueName, Problem> {
    QueueName::new(text).map_err(|bad| Problem::unprocessable(bad.to_string()))
}

pub(super) async fn list(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let queue = queue_of(&name)?;
    let players = web.ask(ListQueue(queue.clone())).await?;
    Ok(Json(ShownQueue { queue, players }).into_response())
}

pub(super) async fn enter(State(web): State<Web>, Path(name): Path<String>, who: Caller) -> Answer {
    change(&web, queue_of(&name)?, who.account, true).await
}

pub(super) async fn leave(State(web): State<Web>, Path(name): Path<String>, who: Caller) -> Answer {
    change(&web, queue_of(&name)?, who.account, false).await
}

/// Changes a queue, and returns the changed queue.
async fn change(web: &Web, queue: QueueName, player: PlayerName, enters: bool) -> Answer {
    let players = web.ask(ChangeQueue { queue: queue.clone(), player, enters }).await??;
    Ok(Json(ShownQueue { queue, players }).into_response())
}
