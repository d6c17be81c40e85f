//! Announcing a tournament over HTTP.

use super::body::{Body, Form};
use super::problem::Problem;
use super::who::{Operator, Who};
use super::{Answer, Web};
use crate::engine::AnnounceError;
use crate::wanted::Wanted;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::json;

impl Form for Wanted {
    const FIELDS: &str = r#"{"id": "…", "preset": "…" or "game": "…", "config": {…}, "policy": {…}, "selection": {"by": "…", …}}"#;
    const SECRET: bool = false;
}

/// Operators may ask for anything, players for invitations where the server lets them.
pub(super) async fn announce(
    State(web): State<Web>,
    who: Who,
    operator: Result<Operator, Problem>,
    Body(wanted): Body<Wanted>,
) -> Answer {
    let invites = wanted.invites();
    let (archive, players_may_invite) =
        web.ask_lobby(|engine| (engine.archive(), engine.players_may_invite())).await?;
    let by = match operator {
        Ok(Operator(by)) => by,
        Err(_) if invites && players_may_invite => who.account,
        Err(problem) => return Err(problem),
    };
    let announcement = wanted.announcement(&archive.games, by);
    let announcement = announcement.map_err(Problem::unprocessable)?;
    let id = announcement.id.clone();
    let announced = web.ask_lobby(move |engine| engine.announce(announcement)).await?;
    announced.map_err(|error| match error {
        AnnounceError::Lobby(rejection) => Problem::from(rejection),
        AnnounceError::Entropy(_) | AnnounceError::Log(_) => Problem::internal(),
        error => Problem::unprocessable(error.to_string()),
    })?;
    let location = [(header::LOCATION, format!("/api/v1/tournaments/{id}"))];
    Ok((StatusCode::CREATED, location, Json(json!({"id": id}))).into_response())
}
