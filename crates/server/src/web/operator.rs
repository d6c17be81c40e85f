//! What operators do: tournaments are started, called off, paused and resumed, results are ruled
//! about, players are taken out. Every body says why; what cannot be done is a conflict that says
//! what can.

use super::accounts::name_of;
use super::body::{Body, Form};
use super::matches::{self, Names};
use super::problem::Problem;
use super::who::Operator;
use super::{Answer, Web};
use crate::engine::{Engine, MatchKey, NotObeyed, StreamKey};
use agon_core::lobby::{LobbyCommand, LobbyOrder, LobbyRejection};
use agon_core::{
    MatchId, MatchOrder, PlayerName, Ruling, TournamentId, TournamentOrder, TournamentRejection,
    Why,
};
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;

/// Why something is done.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reason {
    why: Why,
}

impl Form for Reason {
    const FIELDS: &str = r#"{"why": "…"}"#;
    const SECRET: bool = false;
}

/// Another result.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Outcome {
    winners: Vec<PlayerName>,
    why: Why,
}

impl Form for Outcome {
    const FIELDS: &str = r#"{"winners": ["…"], "why": "…"}"#;
    const SECRET: bool = false;
}

/// Who is taken out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Player {
    player: PlayerName,
    why: Why,
}

impl Form for Player {
    const FIELDS: &str = r#"{"player": "…", "why": "…"}"#;
    const SECRET: bool = false;
}

impl From<NotObeyed> for Problem {
    fn from(not: NotObeyed) -> Problem {
        let detail = not.to_string();
        match not {
            NotObeyed::NoTournament(_) | NotObeyed::NoMatch(..) => Problem::not_found(detail),
            NotObeyed::Lobby(rejection) => Problem::from(rejection),
            NotObeyed::Tournament(TournamentRejection::Winners(_)) => {
                Problem::unprocessable(detail)
            }
            _ => Problem::conflict(detail),
        }
    }
}

/// Lets the engine do it; answers when everything it touched is durable.
async fn done(
    web: &Web,
    what: impl FnOnce(&mut Engine) -> Result<Vec<StreamKey>, NotObeyed> + Send + 'static,
) -> Answer {
    let streams = web.ask_lobby(what).await??;
    web.ask(streams, |_| ()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn order(web: &Web, id: String, order: TournamentOrder, ruling: Ruling) -> Answer {
    let id = TournamentId::from(id);
    done(web, move |engine| engine.order(&id, order, ruling)).await
}

pub(super) async fn pause(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order(&web, id, TournamentOrder::Pause, Ruling { by, why }).await
}

pub(super) async fn resume(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order(&web, id, TournamentOrder::Resume, Ruling { by, why }).await
}

pub(super) async fn award(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Outcome { winners, why }): Body<Outcome>,
) -> Answer {
    order(&web, id, TournamentOrder::Award { winners }, Ruling { by, why }).await
}

/// An order about a match; that there is such a match is looked up first, for the right answer.
async fn order_match(
    web: &Web,
    path: Names,
    make: impl FnOnce(MatchId) -> TournamentOrder,
    ruling: Ruling,
) -> Answer {
    let (tournament, id) = matches::names(path)?;
    let order = make(id.clone());
    done(web, move |engine| {
        let live = engine.live_tournament(&tournament);
        let known = live.is_none_or(|live| live.rounds().iter().any(|r| r.place(&id).is_some()));
        if !known {
            return Err(NotObeyed::NoMatch(tournament, id));
        }
        engine.order(&tournament, order, ruling)
    })
    .await
}

pub(super) async fn override_result(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Outcome { winners, why }): Body<Outcome>,
) -> Answer {
    let make = |id| TournamentOrder::Override { id, winners };
    order_match(&web, path, make, Ruling { by, why }).await
}

pub(super) async fn replay(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order_match(&web, path, |id| TournamentOrder::Replay { id }, Ruling { by, why }).await
}

pub(super) async fn undo(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order_match(&web, path, |id| TournamentOrder::Undo { id }, Ruling { by, why }).await
}

/// The names of a tournament and a match, and the number of a game.
type Game = Path<(String, String, String)>;

async fn order_game(
    web: &Web,
    Path((tournament, id, game)): Game,
    make: impl FnOnce(u32) -> MatchOrder,
    ruling: Ruling,
) -> Answer {
    let key = MatchKey::from(matches::names(Path((tournament, id)))?);
    let Ok(number) = game.parse::<u32>() else {
        let detail = format!("match {} has no game {game:?}; games are numbered from 1", key.1);
        return Err(Problem::not_found(detail));
    };
    let order = make(number);
    done(web, move |engine| engine.order_game(&key, order, ruling).map(|stream| vec![stream])).await
}

pub(super) async fn void(
    State(web): State<Web>,
    path: Game,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order_game(&web, path, MatchOrder::Void, Ruling { by, why }).await
}

pub(super) async fn undo_void(
    State(web): State<Web>,
    path: Game,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    order_game(&web, path, MatchOrder::UndoVoid, Ruling { by, why }).await
}

async fn order_lobby(web: &Web, id: TournamentId, order: LobbyOrder, ruling: Ruling) -> Answer {
    done(web, move |engine| {
        if engine.lobby().tournament(&id).is_none() {
            return Err(NotObeyed::NoTournament(id));
        }
        engine.order_lobby(order, ruling).map(|()| Vec::new())
    })
    .await
}

pub(super) async fn start(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let id = TournamentId::from(id);
    order_lobby(&web, id.clone(), LobbyOrder::Start(id), Ruling { by, why }).await
}

pub(super) async fn call_off(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let id = TournamentId::from(id);
    order_lobby(&web, id.clone(), LobbyOrder::CallOff(id), Ruling { by, why }).await
}

pub(super) async fn withdraw(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Player { player, why }): Body<Player>,
) -> Answer {
    let id = TournamentId::from(id);
    done(&web, move |engine| engine.order_withdrawal(id, player, Ruling { by, why })).await
}

pub(super) async fn log_out(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let order = LobbyOrder::LogOut(name_of(&account)?);
    done(&web, move |engine| engine.order_lobby(order, Ruling { by, why }).map(|()| Vec::new()))
        .await
}

pub(super) async fn blacklist(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let (account, reason) = (name_of(&account)?, why.to_string());
    let command = LobbyCommand::Blacklist { account, reason, by: Some(by), cause: None };
    decide(&web, command).await
}

pub(super) async fn lift(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let (account, reason) = (name_of(&account)?, why.to_string());
    decide(&web, LobbyCommand::Lift { account, by, reason }).await
}

async fn decide(web: &Web, command: LobbyCommand) -> Answer {
    let decided: Result<(), LobbyRejection> =
        web.ask_lobby(move |engine| engine.command(command)).await?;
    decided?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
