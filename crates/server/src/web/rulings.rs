//! The rulings of operators in a tournament, each with its reason, for everybody.

use super::tournaments::unknown;
use super::{Answer, Web, archive};
use crate::engine::query::{FindTournament, FoundTournament};
use agon_core::{Event, Line, MatchId, Override, PlayerName, Ruling, Timestamp, TournamentId, Why};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;

/// The rulings in a tournament.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rulings {
    /// In order of time, also those that were undone.
    rulings: Vec<Ruled>,
}

/// One ruling.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Ruled {
    /// When. For a voided game: when its match was reported.
    at: Timestamp,
    what: What,
    /// The match it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<MatchId>,
    /// The game it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<u32>,
    /// The winners that it names, if it names any.
    #[serde(skip_serializing_if = "Option::is_none")]
    winners: Option<Vec<PlayerName>>,
    /// The operator.
    by: PlayerName,
    /// The reason.
    why: Why,
}

/// The kinds of rulings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum What {
    Paused,
    Resumed,
    Awarded,
    Overridden,
    ReplayOrdered,
    Undone,
    GameVoided,
}

impl Ruled {
    fn new(at: Timestamp, what: What, ruling: &Ruling) -> Ruled {
        let Ruling { by, why } = ruling.clone();
        Ruled { at, what, r#match: None, game: None, winners: None, by, why }
    }

    fn result(at: Timestamp, what: What, result: &Override) -> Ruled {
        let winners = Some(result.winners.clone());
        Ruled { winners, ..Ruled::new(at, what, &result.ruling) }
    }

    fn about(self, id: &MatchId) -> Ruled {
        Ruled { r#match: Some(id.clone()), ..self }
    }
}

pub(super) async fn of_tournament(State(web): State<Web>, Path(id): Path<String>) -> Answer {
    let id = TournamentId::from(id);
    if matches!(web.ask(FindTournament(id.clone())).await?, FoundTournament::Nothing) {
        return Err(unknown(&id));
    }
    let rulings = archive::read(&web, move |archive| {
        let lines = archive::parsed(&archive::tournament_lines(archive, &id)?)?;
        Some(lines.iter().flat_map(ruled).collect())
    });
    Ok(Json(Rulings { rulings: rulings.await? }).into_response())
}

/// The rulings that a line of a tournament's log holds.
fn ruled(line: &Line) -> Vec<Ruled> {
    let at = line.at;
    match &line.event {
        Event::TournamentPaused(paused) => vec![Ruled::new(at, What::Paused, &paused.ruling)],
        Event::TournamentResumed(resumed) => vec![Ruled::new(at, What::Resumed, &resumed.ruling)],
        Event::TournamentAwarded(awarded) => {
            vec![Ruled::result(at, What::Awarded, &awarded.result)]
        }
        Event::ResultOverridden(overridden) => {
            vec![Ruled::result(at, What::Overridden, &overridden.result).about(&overridden.id)]
        }
        Event::ReplayOrdered(ordered) => {
            vec![Ruled::new(at, What::ReplayOrdered, &ordered.ruling).about(&ordered.id)]
        }
        Event::RulingUndone(undone) => {
            vec![Ruled::new(at, What::Undone, &undone.ruling).about(&undone.id)]
        }
        Event::MatchReported(reported) => {
            let games = reported.result.games.iter();
            let voided = games.filter_map(|game| {
                let ruled = Ruled::new(at, What::GameVoided, game.voided.as_ref()?);
                Some(Ruled { game: Some(game.game), ..ruled }.about(&reported.id))
            });
            voided.collect()
        }
        _ => Vec::new(),
    }
}
