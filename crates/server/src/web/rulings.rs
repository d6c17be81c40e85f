//! The rulings of operators about a tournament or an account, each with its reason, for everybody.

use super::accounts::name_of;
use super::problem::Problem;
use super::tournaments::unknown;
use super::{Answer, Web, archive};
use crate::engine::query::{FindAccountRulings, FindLobbyRulings, FindTournament, FoundTournament};
use agon_core::lobby::{LobbyRuling, LobbyRulingKind};
use agon_core::{
    Event, Faulted, Line, MatchId, Override, PlayerName, Ruling, Timestamp, TournamentId, Why,
};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The rulings in a tournament, or about an account.
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
    /// The player it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<PlayerName>,
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
    Started,
    CalledOff,
    Withdrawn,
    Entered,
    Paused,
    Resumed,
    Awarded,
    Overridden,
    ReplayOrdered,
    Undone,
    GameVoided,
    Blacklisted,
    Lifted,
    LoggedOut,
}

impl Ruled {
    fn new(at: Timestamp, what: What, ruling: &Ruling) -> Ruled {
        let Ruling { by, why } = ruling.clone();
        Ruled { at, what, r#match: None, game: None, player: None, winners: None, by, why }
    }

    /// A ruling that the lobby keeps.
    fn in_lobby(kept: LobbyRuling) -> Ruled {
        let what = match kept.kind {
            LobbyRulingKind::Started => What::Started,
            LobbyRulingKind::CalledOff => What::CalledOff,
            LobbyRulingKind::Withdrawn => What::Withdrawn,
            LobbyRulingKind::Entered => What::Entered,
            LobbyRulingKind::Blacklisted => What::Blacklisted,
            LobbyRulingKind::Lifted => What::Lifted,
            LobbyRulingKind::LoggedOut => What::LoggedOut,
        };
        Ruled { player: kept.player, ..Ruled::new(kept.at, what, &kept.ruling) }
    }

    /// The ruling by which an operator withdrew a player from a running tournament, if a fault
    /// records one.
    fn withdrawal(at: Timestamp, faulted: &Faulted) -> Option<Ruled> {
        let ruling = faulted.fault.withdrawal_ruling()?;
        let player = Some(faulted.player.clone());
        Some(Ruled { player, ..Ruled::new(at, What::Withdrawn, &ruling) })
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
    let in_lobby = web.ask(FindLobbyRulings(id.clone())).await?;
    let in_log = archive::read(&web, move |archive| {
        let lines = archive::parsed(&archive::tournament_lines(archive, &id)?)?;
        Some(lines.iter().flat_map(ruled).collect::<Vec<Ruled>>())
    });
    let mut rulings: Vec<Ruled> = in_lobby.into_iter().map(Ruled::in_lobby).collect();
    rulings.extend(in_log.await?);
    rulings.sort_by_key(|ruled| ruled.at);
    // The log has the withdrawal of a player twice: in the tournament and in their open match.
    let mut withdrawn = BTreeSet::new();
    rulings.retain(|ruled| {
        ruled.what != What::Withdrawn
            || withdrawn.insert((ruled.player.clone(), ruled.why.to_string()))
    });
    Ok(Json(Rulings { rulings }).into_response())
}

pub(super) async fn of_account(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let name = name_of(&name)?;
    let missing = || Problem::not_found(format!("there is no account {name}"));
    let found = web.ask(FindAccountRulings(name.clone())).await?.ok_or_else(missing)?;
    let rulings = found.into_iter().map(Ruled::in_lobby).collect();
    Ok(Json(Rulings { rulings }).into_response())
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
            let faults = reported.result.faults.iter();
            voided.chain(faults.filter_map(|faulted| Ruled::withdrawal(at, faulted))).collect()
        }
        Event::PlayerDropped(dropped) => {
            Ruled::withdrawal(at, &dropped.faulted).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
