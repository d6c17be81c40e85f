//! The final report of a tournament: who won, who is where, who cheated, who failed.

use super::problem::Problem;
use super::tournaments::{Found, find, unknown};
use super::{Answer, Web, archive};
use crate::engine::{Report, StreamKey};
use agon_core::TournamentId;
use agon_core::lobby::Standing;
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;

pub(super) async fn one(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    let asked = id.clone();
    let found = web.ask(vec![StreamKey::Tournament(id.clone())], move |engine| {
        let why = match engine.lobby().tournament(&asked) {
            Some(Standing::CalledOff(why)) => Some(why.clone()),
            _ => None,
        };
        (find(engine, &asked), why)
    });
    let report = match found.await? {
        (Found::Nothing, _) => return Err(unknown(&id)),
        (_, Some(why)) => Report::without_play(format!("called off: {why}")),
        (Found::Over, _) => {
            let over = id.clone();
            let played = archive::read(&web, move |archive| {
                // Those who signed up could not play it: it has no stream.
                match archive::tournament_lines(archive, &over)?.is_empty() {
                    true => Some(None),
                    false => archive::tournament(archive, &over).map(Some),
                }
            });
            let not_played = || Report::without_play("not played");
            played.await?.map_or_else(not_played, |played| Report::of(&played.results()))
        }
        (Found::Shown(_) | Found::Running(_), _) => {
            let detail = format!("the report of {id} is made when it is over");
            return Err(Problem::conflict(detail));
        }
    };
    Ok(Json(report.shown(&id, usize::MAX)).into_response())
}
