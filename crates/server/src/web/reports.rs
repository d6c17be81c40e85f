//! The final report of a tournament: the winners, the standings, the players who cheated or failed,
//! and how sure the result is.

use super::problem::Problem;
use super::tournaments::unknown;
use super::{Answer, Web, archive};
use crate::engine::Report;
use crate::engine::query::{FindTournament, FoundTournament};
use crate::engine::show::ShownTournament;
use agon_core::{Comparison, TournamentId};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;

/// How strong the players of a tournament are, and how sure its podium is. 409 before the end.
pub(super) async fn comparison(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => return Err(unknown(&id)),
        FoundTournament::Over => {}
        _ => {
            let detail = format!("the players of {id} are compared when it is over");
            return Err(Problem::conflict(detail));
        }
    }
    let read = archive::read(&web, move |archive| {
        // A tournament without a stream was not played, so nobody can be compared.
        if archive::tournament_lines(archive, &id)?.is_empty() {
            return Some(Comparison { players: Vec::new(), pairs: Vec::new(), podium: None });
        }
        Some(Comparison::of(&archive::tournament(archive, &id)?.results()))
    });
    Ok(Json(read.await?).into_response())
}

pub(super) async fn one(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    let report = match web.ask(FindTournament(id.clone())).await? {
        FoundTournament::Nothing => return Err(unknown(&id)),
        FoundTournament::NotStarted(ShownTournament::CalledOff { reason, .. }) => {
            Report::without_play(id, format!("called off: {reason}"))
        }
        FoundTournament::Over => {
            let read = archive::read(&web, move |archive| {
                // A tournament without a stream was not played: too few players signed up.
                if archive::tournament_lines(archive, &id)?.is_empty() {
                    return Some(Report::without_play(id, "not played"));
                }
                let played = archive::tournament(archive, &id)?;
                Some(Report::of(id, &played.results()))
            });
            read.await?
        }
        FoundTournament::NotStarted(_) | FoundTournament::Running(_) => {
            let detail = format!("the report of {id} is made when it is over");
            return Err(Problem::conflict(detail));
        }
    };
    Ok(Json(report).into_response())
}
