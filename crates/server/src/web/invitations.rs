//! Invitations: what one is invited to, and what one says to it.

use super::body::{Body, Form};
use super::problem::Problem;
use super::who::Who;
use super::{Answer, Web, tournaments};
use agon_core::TournamentId;
use agon_core::lobby::{Invitation, LobbyCommand};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What can be said to an invitation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Said {
    Accept,
    Reject,
    Ready,
}

/// An answer to an invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reply {
    answer: Said,
}

impl Form for Reply {
    const FIELDS: &str = r#"{"answer": "accept", "reject" or "ready"}"#;
    const SECRET: bool = false;
}

pub(super) async fn mine(State(web): State<Web>, who: Who) -> Answer {
    let player = who.account;
    let invited = web.ask_lobby(move |engine| {
        let invited = engine.lobby().invited_to(&player);
        let shown = invited.map(|invitation| shown(invitation, invitation.reply(&player)));
        json!({"invitations": shown.collect::<Vec<_>>()})
    });
    Ok(Json(invited.await?).into_response())
}

fn shown(invitation: &Invitation, reply: Option<agon_core::lobby::Reply>) -> Value {
    json!({
        "tournament": invitation.announcement.id,
        "game": invitation.announcement.game,
        "by": invitation.announcement.by,
        "readying": invitation.readying,
        "reply": reply,
        "closes_at": invitation.closes_at,
    })
}

pub(super) async fn answer(
    State(web): State<Web>,
    Path(id): Path<String>,
    who: Who,
    Body(Reply { answer }): Body<Reply>,
) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    let decided = web.ask_lobby(move |engine| {
        if engine.lobby().tournament(&tournament).is_none() {
            return Err(tournaments::unknown(&tournament));
        }
        let word = match answer {
            Said::Accept => "accepted",
            Said::Reject => "rejected",
            Said::Ready => "ready",
        };
        let body = json!({"tournament": tournament, "player": player, "reply": word});
        let command = match answer {
            Said::Accept => LobbyCommand::Accept { tournament, player },
            Said::Reject => LobbyCommand::Reject { tournament, player },
            Said::Ready => LobbyCommand::BeReady { tournament, player },
        };
        engine.command(command).map(|()| body).map_err(Problem::from)
    });
    Ok(Json(decided.await??).into_response())
}
