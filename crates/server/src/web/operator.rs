//! Operators' requests: to start, cancel, pause and resume tournaments, to rule about results, and
//! to enter and withdraw players. Every body gives a reason. An order that is not possible is a conflict that
//! says what is possible.

use super::accounts::name_of;
use super::body::{Body, Form};
use super::caller::Operator;
use super::games::Numbered;
use super::matches::{self, Names};
use super::problem::Problem;
use super::{Answer, Web};
use crate::engine::NotObeyed;
use crate::engine::query::{CarryOut, Order};
use agon_core::lobby::LobbyOrder;
use agon_core::{
    MatchId, MatchOrder, PlayerName, Ruling, TournamentOrder, TournamentRejection, Why,
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

/// The player to enter or to withdraw.
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

/// Carries out an order; answers when everything it changed is durable.
async fn carry_out(web: &Web, order: Order, by: PlayerName, why: Why) -> Answer {
    web.ask(CarryOut { order, ruling: Ruling { by, why } }).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn pause(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Tournament(id.into(), TournamentOrder::Pause), by, why).await
}

pub(super) async fn resume(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Tournament(id.into(), TournamentOrder::Resume), by, why).await
}

pub(super) async fn award(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Outcome { winners, why }): Body<Outcome>,
) -> Answer {
    let order = TournamentOrder::Award { winners };
    carry_out(&web, Order::Tournament(id.into(), order), by, why).await
}

/// An order about a match.
fn about_match(
    path: Names,
    make: impl FnOnce(MatchId) -> TournamentOrder,
) -> Result<Order, Problem> {
    let key = matches::key_of(path)?;
    Ok(Order::Tournament(key.tournament.clone(), make(key.id.clone())))
}

pub(super) async fn override_result(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Outcome { winners, why }): Body<Outcome>,
) -> Answer {
    let order = about_match(path, |id| TournamentOrder::Override { id, winners })?;
    carry_out(&web, order, by, why).await
}

pub(super) async fn replay(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let order = about_match(path, |id| TournamentOrder::Replay { id })?;
    carry_out(&web, order, by, why).await
}

pub(super) async fn undo(
    State(web): State<Web>,
    path: Names,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let order = about_match(path, |id| TournamentOrder::Undo { id })?;
    carry_out(&web, order, by, why).await
}

/// An order about a game.
fn about_game(
    Path((tournament, id, game)): Numbered,
    make: impl FnOnce(u32) -> MatchOrder,
) -> Result<Order, Problem> {
    let key = matches::key_of(Path((tournament, id)))?;
    let Ok(number) = game.parse::<u32>() else {
        let detail = format!("match {} has no game {game:?}; games are numbered from 1", key.id);
        return Err(Problem::not_found(detail));
    };
    Ok(Order::Game(key.tournament.clone(), key.id.clone(), make(number)))
}

pub(super) async fn void(
    State(web): State<Web>,
    path: Numbered,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, about_game(path, MatchOrder::Void)?, by, why).await
}

pub(super) async fn undo_void(
    State(web): State<Web>,
    path: Numbered,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, about_game(path, MatchOrder::UndoVoid)?, by, why).await
}

pub(super) async fn start(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Lobby(LobbyOrder::Start(id.into())), by, why).await
}

pub(super) async fn call_off(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Lobby(LobbyOrder::CallOff(id.into())), by, why).await
}

pub(super) async fn withdraw(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Player { player, why }): Body<Player>,
) -> Answer {
    carry_out(&web, Order::Withdraw(id.into(), player), by, why).await
}

pub(super) async fn enter(
    State(web): State<Web>,
    Path(id): Path<String>,
    Operator(by): Operator,
    Body(Player { player, why }): Body<Player>,
) -> Answer {
    let order = LobbyOrder::Enter { tournament: id.into(), player };
    carry_out(&web, Order::Lobby(order), by, why).await
}

pub(super) async fn log_out(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    let order = Order::Lobby(LobbyOrder::LogOut(name_of(&account)?));
    carry_out(&web, order, by, why).await
}

pub(super) async fn blacklist(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Blacklist(name_of(&account)?), by, why).await
}

pub(super) async fn lift(
    State(web): State<Web>,
    Path(account): Path<String>,
    Operator(by): Operator,
    Body(Reason { why }): Body<Reason>,
) -> Answer {
    carry_out(&web, Order::Lift(name_of(&account)?), by, why).await
}
