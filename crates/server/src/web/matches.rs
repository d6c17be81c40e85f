//! Matches: what everybody may see of one while it runs, and all of it after the end.

use super::problem::Problem;
use super::{Answer, Web, answers, archive, tournaments};
use crate::engine::{Engine, MatchKey, StreamKey, show};
use crate::wires::Wires;
use agon_core::lobby::Standing;
use agon_core::{MatchId, TournamentId};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use serde_json::{Value, json};

/// A match as the engine knows it.
pub(super) enum Found {
    /// There is no such tournament.
    NoTournament,
    /// There is no such match in it.
    Nothing,
    /// It runs, or will in a moment.
    Running(Value),
    /// It is over; the log has it.
    Over,
    /// So is the tournament; the log knows whether there was such a match.
    PerhapsOver,
}

pub(super) fn find(engine: &mut Engine, tournament: &TournamentId, id: &MatchId) -> Found {
    if let Some(visible) = engine.visible_match(&MatchKey::new(tournament.clone(), id.clone())) {
        return Found::Running(visible);
    }
    match (engine.lobby().tournament(tournament), engine.live_tournament(tournament)) {
        (None, _) => Found::NoTournament,
        (Some(Standing::Finished(_)), _) => Found::PerhapsOver,
        (_, None) => Found::Nothing,
        (_, Some(live)) => {
            let planned = live.rounds().iter().flat_map(|r| r.matches.iter().zip(&r.results));
            match planned.into_iter().find(|(plan, _)| plan.id == *id) {
                None => Found::Nothing,
                Some((_, Some(_))) => Found::Over,
                Some((plan, None)) => Found::Running(json!({
                    "standing": "waiting",
                    "game": plan.game,
                    "reason": plan.reason,
                    "match": {"tournament": tournament, "id": id, "players": plan.players},
                })),
            }
        }
    }
}

pub(super) fn unknown(tournament: &TournamentId, id: &MatchId) -> Problem {
    let detail = format!("{tournament} has no match {id}; its `pairings` list them");
    Problem::not_found(detail)
}

/// Whether an id can be that of a match; others must not get into the name of a stream.
fn is_plain(id: &MatchId) -> bool {
    id.as_str().bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

pub(super) type Names = Path<(String, String)>;

pub(super) fn names(Path((tournament, id)): Names) -> Result<(TournamentId, MatchId), Problem> {
    let (tournament, id) = (TournamentId::from(tournament), MatchId::from(id));
    match is_plain(&id) {
        true => Ok((tournament, id)),
        false => Err(unknown(&tournament, &id)),
    }
}

pub(super) async fn look(
    web: &Web,
    tournament: &TournamentId,
    id: &MatchId,
) -> Result<Found, Problem> {
    let key = MatchKey::new(tournament.clone(), id.clone());
    let streams = vec![StreamKey::Match(key.clone()), StreamKey::Tournament(tournament.clone())];
    web.ask(streams, move |engine| find(engine, &key.0, &key.1)).await
}

pub(super) async fn one(State(web): State<Web>, path: Names) -> Answer {
    let (tournament, id) = names(path)?;
    match look(&web, &tournament, &id).await? {
        Found::NoTournament => Err(tournaments::unknown(&tournament)),
        Found::Nothing => Err(unknown(&tournament, &id)),
        Found::Running(value) => Ok(Json(value).into_response()),
        Found::Over | Found::PerhapsOver => {
            let mut shown = over(&web, &tournament, &id).await?;
            // Not in events: what they show is the same before and after a restart.
            if shown["standing"] == "over" {
                let key = MatchKey::new(tournament, id);
                shown["head"] =
                    json!(archive::read(&web, move |a| archive::match_head(a, &key)).await?);
            }
            Ok(Json(shown).into_response())
        }
    }
}

/// The version of what is over in a tournament. A match that is over can be played again as long as
/// its tournament runs.
pub(super) async fn version(web: &Web, tournament: &TournamentId) -> Result<u64, Problem> {
    let id = tournament.clone();
    let version = web.ask_lobby(move |engine| match engine.lobby().tournament(&id) {
        Some(Standing::Finished(_)) => 0,
        _ => engine.tournament_records(),
    });
    version.await
}

/// A match that is over.
pub(super) async fn over(
    web: &Web,
    tournament: &TournamentId,
    id: &MatchId,
) -> Result<Value, Problem> {
    let key = MatchKey::new(tournament.clone(), id.clone());
    let found = archive::read(web, move |archive| {
        let lines = archive::match_lines(archive, &key.0, &key.1)?;
        if lines.is_empty() {
            return Some(None);
        }
        let played = archive::match_(archive, &key.0, &key.1)?;
        Some(Some(show::match_(&played, &Wires::new())))
    });
    found.await?.ok_or_else(|| unknown(tournament, id))
}

/// The log of a match that is over.
pub(super) async fn log(State(web): State<Web>, path: Names) -> Answer {
    let (tournament, id) = names(path)?;
    match look(&web, &tournament, &id).await? {
        Found::NoTournament => Err(tournaments::unknown(&tournament)),
        Found::Nothing => Err(unknown(&tournament, &id)),
        Found::Running(_) => Err(Problem::conflict(format!(
            "the log of {id} is shown when it is over; watch its events until then"
        ))),
        Found::Over | Found::PerhapsOver => {
            let key = MatchKey::new(tournament.clone(), id.clone());
            let version = version(&web, &tournament).await?;
            let path = format!("{tournament}/{id}/log");
            let answer = answers::Key { path, version };
            let missing = || unknown(&tournament, &id);
            archive::shared(&web, answer, "application/jsonl", missing, move |archive| {
                Some(archive::as_lines(&archive::match_lines(archive, &key.0, &key.1)?))
            })
            .await
        }
    }
}
