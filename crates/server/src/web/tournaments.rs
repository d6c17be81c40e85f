//! Tournaments: listing, the state of one, signing up.

use super::body::{Form, OptionalBody};
use super::caller::Caller;
use super::page::Page;
use super::problem::Problem;
use super::{Answer, Web, answers, archive};
use crate::engine::query::{
    FindTournament, FoundTournament, ListLiveScores, ListTournaments, SignUpPlayer, Withdraw,
};
use crate::engine::show::LiveScore;
use agon_core::{Age, PlayerName, TournamentId};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) fn unknown(id: &TournamentId) -> Problem {
    Problem::not_found(format!("there is no tournament {id}; the lobby lists all tournaments"))
}

/// Which tournaments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    /// The `next` of the page before.
    #[serde(default)]
    after: Option<String>,
    /// How many entries, 1 to 1,000; 100 unless said.
    #[serde(default)]
    limit: Option<usize>,
    /// Only those the account asked for.
    #[serde(default)]
    mine: bool,
}

pub(super) async fn list(
    State(web): State<Web>,
    Query(Listed { after, limit, mine }): Query<Listed>,
    who: Result<Caller, Problem>,
) -> Answer {
    let account = if mine { Some(who?.account) } else { None };
    let window = Page::new(after, limit).window();
    let page = web.ask(ListTournaments { window, by: account }).await?;
    Ok(Json(page).into_response())
}

pub(super) async fn one(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    let shown = match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => return Err(unknown(&id)),
        FoundTournament::NotStarted(shown) | FoundTournament::Running(shown) => shown,
        FoundTournament::Over => {
            archive::read(&web, move |archive| archive::shown_tournament(archive, &id)).await?
        }
    };
    Ok(Json(shown).into_response())
}

/// The scores of the running matches of a tournament.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LiveScores {
    tournament: TournamentId,
    matches: Vec<LiveScore>,
}

pub(super) async fn live(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let tournament = TournamentId::from(id);
    if let FoundTournament::Nothing = web.ask(FindTournament(tournament.clone())).await? {
        return Err(unknown(&tournament));
    }
    let matches = web.ask(ListLiveScores(tournament.clone())).await?;
    Ok(Json(LiveScores { tournament, matches }).into_response())
}

/// The log of a finished tournament: it contains the secret of all randomness.
pub(super) async fn log(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => Err(unknown(&id)),
        FoundTournament::NotStarted(_) | FoundTournament::Running(_) => Err(Problem::conflict(
            format!("the log of {id} is shown when it is over; watch its events until then"),
        )),
        FoundTournament::Over => {
            let answer = answers::Key { path: format!("{id}/log"), version: 0 };
            let (asked, missing) = (id.clone(), || unknown(&id));
            archive::shared(&web, answer, "application/jsonl", missing, move |archive| {
                Some(archive::as_lines(&archive::tournament_lines(archive, &asked)?))
            })
            .await
        }
    }
}

/// A player who signed up.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SignedUp {
    tournament: TournamentId,
    player: PlayerName,
}

/// The optional data of a sign-up.
#[derive(Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// The player's age, which decides the order of play in games that go by it.
    #[serde(default)]
    age: Option<Age>,
}

impl Form for Entry {
    const FIELDS: &str = r#"nothing, or {"age": a number from 0 to 65535}"#;
    const SECRET: bool = false;
}

pub(super) async fn sign_up(
    State(web): State<Web>,
    Path(id): Path<String>,
    who: Caller,
    OptionalBody(Entry { age }): OptionalBody<Entry>,
) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    let tournament = web.ask(SignUpPlayer { tournament, player: player.clone(), age }).await??;
    Ok((StatusCode::CREATED, Json(SignedUp { tournament, player })).into_response())
}

/// Withdraws a sign-up. In a running tournament, the player forfeits their matches.
pub(super) async fn withdraw(
    State(web): State<Web>,
    Path(id): Path<String>,
    who: Caller,
) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    web.ask(Withdraw { tournament, player }).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}
