//! Players' faults: kind and code for everybody, the evidence for the player concerned and for
//! operators.

use super::accounts::name_of;
use super::caller::{Caller, MaybeCaller};
use super::matches::{Found, Names};
use super::problem::Problem;
use super::{Answer, Web, archive, matches, standings};
use crate::driver::Archive;
use crate::engine::MatchKey;
use crate::engine::query::{FindSecrets, ListFaultyMatches, ListPlaying, MatchSecrets};
use agon_core::lobby::Role;
use agon_core::{
    Event, Evidence, FaultKind, Faulted, MatchId, OpenRequest, PlayerName, RequestId, Secrets,
    Timestamp, TournamentId, evidence,
};
use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;

/// Faults, in order of time.
#[derive(Serialize, JsonSchema)]
pub(super) struct Faults {
    faults: Vec<Fault>,
}

/// A fault of a player.
#[derive(Serialize, JsonSchema)]
struct Fault {
    tournament: TournamentId,
    /// Absent before and after the rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#match: Option<MatchId>,
    /// The number of the game, if in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<u32>,
    player: PlayerName,
    kind: FaultKind,
    /// A stable word for machines.
    code: String,
    /// For its owner and for operators only.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<ShownEvidence>,
}

/// The evidence of a fault.
#[derive(Serialize, JsonSchema)]
struct ShownEvidence {
    /// When it was noted.
    at: Timestamp,
    /// A sentence for people.
    detail: String,
    /// The request that was open, if one was.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<RequestId>,
    /// The answer, up to 2,000 bytes of it, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// The player's reply in its own protocol (an Erlang term), up to 2,000 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<String>,
    /// The request, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<OpenRequest>,
}

impl Fault {
    fn of(tournament: &TournamentId, id: Option<&MatchId>, found: Evidence, open: bool) -> Fault {
        let Evidence { at, faulted: Faulted { player, game, request, fault }, asked } = found;
        let (detail, answer, sent) = (fault.detail, fault.answer, fault.sent);
        Fault {
            tournament: tournament.clone(),
            r#match: id.cloned(),
            game,
            player,
            kind: fault.kind,
            code: fault.code.into_owned(),
            evidence: open.then_some(ShownEvidence { at, detail, request, answer, sent, asked }),
        }
    }
}

/// The players whose evidence the client may read.
enum Eyes {
    Nobodys,
    One(PlayerName),
    Everybodys,
}

impl Eyes {
    /// An operator who plays in a match counts as a player until it is over.
    fn of(who: Option<Caller>, players: &[PlayerName], over: bool) -> Eyes {
        match who {
            None => Eyes::Nobodys,
            Some(who)
                if who.role == Role::Operator && (over || !players.contains(&who.account)) =>
            {
                Eyes::Everybodys
            }
            Some(who) => Eyes::One(who.account),
        }
    }

    fn see(&self, player: &PlayerName) -> bool {
        match self {
            Eyes::Nobodys => false,
            Eyes::One(own) => own == player,
            Eyes::Everybodys => true,
        }
    }
}

/// The faults of a match, and its players. Without secrets, the match has to be over.
fn of_stream(
    archive: &Archive,
    key: &MatchKey,
    secrets: Option<Secrets>,
) -> Option<(Vec<Evidence>, Vec<PlayerName>)> {
    let lines = archive::parsed(&archive::match_lines(archive, key)?)?;
    let players = lines.iter().find_map(|line| match &line.event {
        Event::MatchCreated(created) => Some(created.plan.players.clone()),
        _ => None,
    });
    let Some(players) = players else { return Some((Vec::new(), Vec::new())) };
    let secrets = secrets.unwrap_or_else(|| archive::revealed(&lines));
    Some((evidence(&lines, &archive.games, secrets).ok()?, players))
}

pub(super) async fn of_match(
    State(web): State<Web>,
    path: Names,
    MaybeCaller(who): MaybeCaller,
) -> Answer {
    let key = matches::key_of(path)?;
    let over = matches!(matches::look(&web, &key).await?, Found::Over);
    let MatchSecrets { secrets, .. } = web.ask(FindSecrets(key.clone())).await?;
    let asked = key.clone();
    let read = archive::read(&web, move |archive| of_stream(archive, &asked, secrets));
    let (found, players) = read.await?;
    if over && players.is_empty() {
        return Err(matches::unknown(&key));
    }
    let eyes = Eyes::of(who, &players, over);
    let faults = found.into_iter().map(|found| {
        let open = eyes.see(&found.faulted.player);
        Fault::of(&key.tournament, Some(&key.id), found, open)
    });
    Ok(Json(Faults { faults: faults.collect() }).into_response())
}

/// A player's own faults with all details: in running matches, and the latest of finished ones.
pub(super) async fn of_account(
    State(web): State<Web>,
    Path(name): Path<String>,
    who: Caller,
) -> Answer {
    let player = if name == "me" { who.account.clone() } else { name_of(&name)? };
    if player != who.account && who.role != Role::Operator {
        let detail = format!("{} may see its own faults, not those of {player}", who.account);
        return Err(Problem::forbidden(detail));
    }
    let player = standings::known(&web, player.as_str()).await?;
    let lately = standings::lately(&web, &player).await?;
    let mut places = Vec::new();
    for tournament in web.ask(ListPlaying(player.clone())).await? {
        let player = player.clone();
        places.extend(web.ask(ListFaultyMatches { player, tournament }).await?);
    }
    for place in lately.faulty {
        let key = MatchKey::new(place.tournament, place.id);
        if !places.iter().any(|(_, known)| *known == key) {
            places.push((None, key));
        }
    }
    let asked = player.clone();
    let read =
        archive::read(&web, move |archive| {
            let mut faults = Vec::new();
            for (secrets, key) in places {
                let running = secrets.is_some();
                let (found, players) = of_stream(archive, &key, secrets)?;
                let (own, plays) = (who.account == asked, players.contains(&who.account));
                let open = own || !running || !plays;
                let found = found.into_iter().filter(|found| found.faulted.player == asked);
                faults.extend(found.map(|found| {
                    (found.at, Fault::of(&key.tournament, Some(&key.id), found, open))
                }));
            }
            Some(faults)
        });
    let mut faults = read.await?;
    for dropped in lately.dropped {
        let found = Evidence { at: dropped.at, faulted: dropped.faulted, asked: None };
        faults.push((dropped.at, Fault::of(&dropped.tournament, None, found, true)));
    }
    faults.sort_by_key(|(at, _)| *at);
    let faults = faults.into_iter().map(|(_, fault)| fault).collect();
    Ok(Json(Faults { faults }).into_response())
}
