//! Queues: who waits where, and waiting there oneself.

use super::problem::Problem;
use super::who::Who;
use super::{Answer, Web};
use agon_core::lobby::{LobbyCommand, LobbyRejection, QueueName};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde_json::json;

fn queue_of(text: &str) -> Result<QueueName, Problem> {
    QueueName::new(text).map_err(|bad| Problem::unprocessable(bad.to_string()))
}

pub(super) async fn list(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let queue = queue_of(&name)?;
    let players = web.ask_lobby(move |engine| engine.lobby().queue(&queue).to_vec()).await?;
    Ok(Json(json!({"queue": name, "players": players})).into_response())
}

pub(super) async fn enter(State(web): State<Web>, Path(name): Path<String>, who: Who) -> Answer {
    let (queue, player) = (queue_of(&name)?, who.account);
    decide(&web, queue.clone(), LobbyCommand::Enqueue { player, queue }).await
}

pub(super) async fn leave(State(web): State<Web>, Path(name): Path<String>, who: Who) -> Answer {
    let (queue, player) = (queue_of(&name)?, who.account);
    decide(&web, queue.clone(), LobbyCommand::Dequeue { player, queue }).await
}

/// Does it, and shows the queue as it is then.
async fn decide(web: &Web, queue: QueueName, command: LobbyCommand) -> Answer {
    let decided = web.ask_lobby(move |engine| -> Result<_, LobbyRejection> {
        engine.command(command)?;
        let players = engine.lobby().queue(&queue).to_vec();
        Ok(json!({"queue": queue, "players": players}))
    });
    Ok(Json(decided.await??).into_response())
}
