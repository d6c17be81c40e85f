//! Announcing a tournament: a preset or a game, what differs from it, and whom to take.

use super::body::{Body, Form};
use super::problem::Problem;
use super::who::Operator;
use super::{Answer, Web};
use crate::engine::{AnnounceError, Archive};
use agon_core::lobby::{Announcement, Selection};
use agon_core::{PlayerName, Policy, Preset, Raw, TournamentId};
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The longest name of a tournament.
const ID_CHARS_MAX: usize = 60;

/// What an operator sends.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    id: String,
    #[serde(default)]
    preset: Option<String>,
    #[serde(default)]
    game: Option<String>,
    /// The fields of the game's configuration that differ from the preset, or from the game.
    #[serde(default)]
    config: Option<serde_json::Map<String, Value>>,
    /// The fields of the policy that differ from the preset; all of them without one.
    #[serde(default)]
    policy: Option<Value>,
    selection: Selection,
}

impl Form for Wanted {
    const FIELDS: &str = r#"{"id": "…", "preset": "…" or "game": "…", "config": {…}, "policy": {…}, "selection": {"by": "…", …}}"#;
    const SECRET: bool = false;
}

pub(super) async fn announce(
    State(web): State<Web>,
    Operator(by): Operator,
    Body(wanted): Body<Wanted>,
) -> Answer {
    let archive = web.ask_lobby(|engine| engine.archive()).await?;
    let announcement = announcement(&archive, wanted, by)?;
    let id = announcement.id.clone();
    let announced = web.ask_lobby(move |engine| engine.announce(announcement)).await?;
    announced.map_err(|error| match error {
        AnnounceError::Lobby(rejection) => Problem::from(rejection),
        AnnounceError::Entropy(_) => Problem::internal(),
        error => Problem::unprocessable(error.to_string()),
    })?;
    let location = [(header::LOCATION, format!("/api/v1/tournaments/{id}"))];
    Ok((StatusCode::CREATED, location, Json(json!({"id": id}))).into_response())
}

/// Puts together what was asked for; everything that can be wrong with it is said here.
fn announcement(
    archive: &Archive,
    wanted: Wanted,
    by: PlayerName,
) -> Result<Announcement, Problem> {
    check_id(&wanted.id)?;
    let preset = wanted.preset.as_deref().map(Preset::named).transpose();
    let preset = preset.map_err(|unknown| Problem::unprocessable(unknown.to_string()))?;
    let game = match (&preset, wanted.game) {
        (Some(preset), Some(game)) if game != preset.game => {
            let detail = format!("preset {} is for {}; leave `game` out", preset.name, preset.game);
            return Err(Problem::unprocessable(detail));
        }
        (Some(preset), _) => preset.game.to_owned(),
        (None, Some(game)) => game,
        (None, None) => return Err(Problem::unprocessable("name a `preset` or a `game`")),
    };
    let kind = archive.games.kind(&game).ok_or_else(|| {
        let known = archive.games.names().join(", ");
        Problem::unprocessable(format!("there is no game {game:?}; there are: {known}"))
    })?;
    let mut config: Value = preset.as_ref().map_or(json!({}), |preset| {
        serde_json::from_str(preset.config).expect("presets have configurations that are JSON")
    });
    merge(&mut config, Value::Object(wanted.config.unwrap_or_default()));
    let config = kind.check_config(&config.to_string());
    let config = config.map_err(|error| Problem::unprocessable(error.to_string()))?;
    let mut policy = preset.as_ref().map_or(json!({}), |preset| json!(preset.policy));
    merge(&mut policy, wanted.policy.unwrap_or(json!({})));
    let policy: Policy = serde_json::from_value(policy)
        .map_err(|error| Problem::unprocessable(format!("the policy is not one: {error}")))?;
    policy.check().map_err(Problem::unprocessable)?;
    Ok(Announcement {
        id: TournamentId::from(wanted.id),
        preset: preset.map(|preset| preset.name.to_owned()),
        game,
        config: Raw(config),
        policy,
        selection: wanted.selection,
        by: Some(by),
    })
}

/// A tournament's name is part of the names of its streams and of addresses.
fn check_id(id: &str) -> Result<(), Problem> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=ID_CHARS_MAX).contains(&id.len()) && !id.starts_with('-');
    match fits && id.bytes().all(plain) {
        true => Ok(()),
        false => Err(Problem::unprocessable(format!(
            "`id` names a tournament: a-z, 0-9 and -, up to {ID_CHARS_MAX}, not first a -"
        ))),
    }
}

/// Objects are merged field by field, except where `kind` says that it is another thing.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from))
            if from.get("kind").is_none_or(|kind| into.get("kind") == Some(kind)) =>
        {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
