//! Announcing a tournament over HTTP.

use super::body::{Body, Form};
use super::caller::Caller;
use super::problem::Problem;
use super::{Answer, Web, standings};
use crate::engine::AnnounceError;
use crate::engine::Wanted;
use crate::engine::query::{AnnounceWanted, NotAnnounced};
use agon_core::TournamentId;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

impl Form for Wanted {
    const FIELDS: &str = r#"{"id": "…", "preset": "…" or "game": "…", "config": {…}, "policy": {…}, "selection": {"by": "…", …}, "house_players": ["…"]}"#;
    const SECRET: bool = false;
}

/// A tournament that was announced.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Announced {
    id: TournamentId,
}

impl Announced {
    /// The answer for a tournament that was announced.
    pub(super) fn created(id: TournamentId) -> Response {
        let location = [(header::LOCATION, format!("/api/v1/tournaments/{id}"))];
        (StatusCode::CREATED, location, Json(Announced { id })).into_response()
    }
}

impl From<NotAnnounced> for Problem {
    fn from(not: NotAnnounced) -> Problem {
        let detail = not.to_string();
        match not {
            NotAnnounced::Busy(..) => Problem::conflict(detail),
            NotAnnounced::NotOperator(_) => Problem::forbidden(detail),
            NotAnnounced::Refused(AnnounceError::Lobby(rejection)) => Problem::from(rejection),
            NotAnnounced::Refused(AnnounceError::Log(_)) => Problem::internal(),
            NotAnnounced::Malformed(_) | NotAnnounced::Refused(_) => Problem::unprocessable(detail),
        }
    }
}

pub(super) async fn announce(
    State(web): State<Web>,
    who: Caller,
    Body(mut wanted): Body<Wanted>,
) -> Answer {
    if let Some(game) = wanted.rated_game() {
        wanted.set_ratings(standings::ratings(&web, game).await?);
    }
    let id = web.ask(AnnounceWanted { wanted, by: who.account }).await??;
    Ok(Announced::created(id))
}
