//! Invitations: a player's invitations, and their replies.

use super::body::{Body, Form};
use super::caller::Caller;
use super::{Answer, Web};
use crate::engine::query::{AnswerInvitation, InvitationReply, ListInvitations, ShownInvitation};
use agon_core::lobby::Reply;
use agon_core::{PlayerName, TournamentId};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reply to an invitation.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Replying {
    answer: InvitationReply,
}

impl Form for Replying {
    const FIELDS: &str = r#"{"answer": "accept", "reject" or "ready"}"#;
    const SECRET: bool = false;
}

/// The invitations of an account.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Invitations {
    invitations: Vec<ShownInvitation>,
}

/// The reply to an invitation.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Answered {
    tournament: TournamentId,
    player: PlayerName,
    reply: Reply,
}

pub(super) async fn mine(State(web): State<Web>, who: Caller) -> Answer {
    let invitations = web.ask(ListInvitations(who.account)).await?;
    Ok(Json(Invitations { invitations }).into_response())
}

pub(super) async fn answer(
    State(web): State<Web>,
    Path(id): Path<String>,
    who: Caller,
    Body(Replying { answer: reply }): Body<Replying>,
) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    let answered =
        Answered { tournament: tournament.clone(), player: player.clone(), reply: reply.kept() };
    web.ask(AnswerInvitation { tournament, player, reply }).await??;
    Ok(Json(answered).into_response())
}
