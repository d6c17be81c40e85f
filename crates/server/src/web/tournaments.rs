//! Tournaments: what there is, how one stands, signing up.

use super::body::{Form, OptionalBody};
use super::page::Page;
use super::problem::Problem;
use super::who::Who;
use super::{Answer, Web, answers, archive};
use crate::engine::{Engine, StreamKey, show};
use agon_core::lobby::{LobbyCommand, Standing};
use agon_core::{Age, TournamentId};
use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// A tournament as the engine knows it.
pub(super) enum Found {
    /// There is none of that name.
    Nothing,
    /// It has not started, or never will.
    Shown(Value),
    /// It runs.
    Running(Value),
    /// It is over; the log has it.
    Over,
}

pub(super) fn find(engine: &Engine, id: &TournamentId) -> Found {
    match engine.lobby().tournament(id) {
        None => Found::Nothing,
        Some(Standing::Open(sign_up)) => {
            let plan = sign_up.announcement.plan(sign_up.players.clone());
            Found::Shown(json!({
                "id": id,
                "standing": "open",
                "plan": show::plan(&plan, false),
                "selection": sign_up.announcement.selection,
                "closes_at": sign_up.closes_at,
                "extended": sign_up.extended,
            }))
        }
        Some(Standing::Inviting(invitation)) => {
            let coming = invitation.coming().cloned().collect();
            let plan = invitation.announcement.plan(coming);
            let replies = invitation
                .replies
                .iter()
                .map(|(player, reply)| json!({"player": player, "reply": reply}));
            Found::Shown(json!({
                "id": id,
                "standing": "inviting",
                "plan": show::plan(&plan, false),
                "selection": invitation.announcement.selection,
                "closes_at": invitation.closes_at,
                "readying": invitation.readying,
                "replies": replies.collect::<Vec<_>>(),
            }))
        }
        Some(Standing::Running(plan)) => match engine.shown_tournament(id) {
            Some(shown) => Found::Running(shown),
            // Its secret is on its way to the log.
            None => Found::Shown(json!({
                "id": id,
                "standing": "running",
                "plan": show::plan(plan, false),
                "pairings": [],
            })),
        },
        Some(Standing::Finished(_)) => Found::Over,
        Some(Standing::CalledOff(why)) => {
            Found::Shown(json!({"id": id, "standing": "called-off", "reason": why}))
        }
    }
}

pub(super) fn unknown(id: &TournamentId) -> Problem {
    Problem::not_found(format!("there is no tournament {id}; GET /api/v1/tournaments lists them"))
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
    who: Result<Who, Problem>,
) -> Answer {
    let account = if mine { Some(who?.account) } else { None };
    let page = Page::new(after, limit);
    let all = web.ask_lobby(move |engine| {
        let lobby = engine.lobby();
        let own = |id: &TournamentId| account.is_none() || lobby.asker(id) == account.as_ref();
        let all = lobby.tournaments().filter(|(id, _)| own(id));
        let shown = |id: &str, standing| in_list(engine, id, standing);
        page.of("tournaments", all.map(|(id, standing)| (id.as_str(), standing)), shown)
    });
    Ok(Json(all.await?).into_response())
}

/// A tournament in a list of them.
pub(super) fn in_list(engine: &Engine, id: &str, standing: &Standing) -> Value {
    let (word, game, players) = match standing {
        Standing::Open(up) => ("open", &up.announcement.game, up.players.len()),
        Standing::Inviting(invitation) => {
            ("inviting", &invitation.announcement.game, invitation.coming().count())
        }
        Standing::Running(plan) if engine.is_interrupted(&plan.id) => {
            let (game, players) = (&plan.game, plan.players.len());
            return json!({
                "id": id, "standing": "running", "game": game, "players": players,
                "interrupted": true,
            });
        }
        Standing::Running(plan) => ("running", &plan.game, plan.players.len()),
        Standing::Finished(winners) => {
            return json!({"id": id, "standing": "over", "winners": winners});
        }
        Standing::CalledOff(why) => {
            return json!({"id": id, "standing": "called-off", "reason": why});
        }
    };
    json!({"id": id, "standing": word, "game": game, "players": players})
}

pub(super) async fn one(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    let asked = id.clone();
    let streams = vec![StreamKey::Tournament(id.clone())];
    match web.ask(streams, move |engine| find(engine, &asked)).await? {
        Found::Nothing => Err(unknown(&id)),
        Found::Shown(value) | Found::Running(value) => Ok(Json(value).into_response()),
        Found::Over => {
            let shown = archive::read(&web, move |archive| archive::shown_tournament(archive, &id));
            Ok(Json(shown.await?).into_response())
        }
    }
}

/// The log of a tournament that is over: it holds the secret all luck came from.
pub(super) async fn log(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    let asked = id.clone();
    match web.ask_lobby(move |engine| find(engine, &asked)).await? {
        Found::Nothing => Err(unknown(&id)),
        Found::Shown(_) | Found::Running(_) => Err(Problem::conflict(format!(
            "the log of {id} is shown when it is over; watch its events until then"
        ))),
        Found::Over => {
            let answer = answers::Key { path: format!("{id}/log"), version: 0 };
            let (asked, missing) = (id.clone(), || unknown(&id));
            archive::shared(&web, answer, "application/jsonl", missing, move |archive| {
                Some(archive::as_lines(&archive::tournament_lines(archive, &asked)?))
            })
            .await
        }
    }
}

/// What a player may say when signing up.
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
    who: Who,
    OptionalBody(Entry { age }): OptionalBody<Entry>,
) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    let decided = web.ask_lobby(move |engine| {
        if engine.lobby().tournament(&tournament).is_none() {
            return Err(unknown(&tournament));
        }
        let tournament = engine.lobby().latest_of(tournament);
        let body = json!({"tournament": tournament, "player": player});
        let command = LobbyCommand::SignUp { tournament, player, age };
        engine.command(command).map(|()| body).map_err(Problem::from)
    });
    Ok((StatusCode::CREATED, Json(decided.await??)).into_response())
}

/// Takes a sign-up back. Of a tournament that runs, matches are forfeited.
pub(super) async fn withdraw(State(web): State<Web>, Path(id): Path<String>, who: Who) -> Answer {
    let (tournament, player) = (TournamentId::from(id), who.account);
    let decided = web.ask_lobby(move |engine| {
        if engine.lobby().tournament(&tournament).is_none() {
            return Err(unknown(&tournament));
        }
        engine.withdraw(tournament, player).map_err(Problem::from)
    });
    // It left its matches as well, each in a stream of its own.
    let streams = decided.await??;
    web.ask(streams, |_| ()).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
