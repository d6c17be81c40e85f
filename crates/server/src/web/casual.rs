//! Casual games: a player starts one against house players, or invites people.

use super::accounts::name_of;
use super::announce::Announced;
use super::body::{Body, Form};
use super::caller::Caller;
use super::{Answer, Web};
use crate::engine::query::PlayCasual;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

/// A casual game.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CasualGame {
    game: String,
    /// Everybody who plays, in the order of their seats. The account that asks is among them.
    players: Vec<String>,
}

impl Form for CasualGame {
    const FIELDS: &str = r#"{"game": "…", "players": ["…", "house:level-3"]}"#;
    const SECRET: bool = false;
}

pub(super) async fn play(
    State(web): State<Web>,
    who: Caller,
    Body(CasualGame { game, players }): Body<CasualGame>,
) -> Answer {
    let players: Result<Vec<_>, _> = players.iter().map(|name| name_of(name)).collect();
    let id = web.ask(PlayCasual { by: who.account, game, players: players? }).await??;
    Ok(Announced::created(id))
}
