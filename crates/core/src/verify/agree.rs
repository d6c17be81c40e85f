//! Checks that the streams of a log agree with each other.

use super::{Finding, LobbyCheck, MatchCheck, TournamentCheck, blacklist};
use crate::ids::{PlayerName, TournamentId};
use crate::plan::TournamentPlan;
use std::collections::BTreeMap;

/// Compares streams that were verified one by one: tournaments by id, matches by stream name.
///
/// A log that is still being written may be read stream by stream. The lobby must be read before
/// the tournaments, and the tournaments before the matches: streams that are read later may be
/// ahead.
pub fn agree(
    lobby: Option<&LobbyCheck>,
    tournaments: &BTreeMap<String, TournamentCheck>,
    matches: &BTreeMap<String, MatchCheck>,
) -> Result<(), Finding> {
    for (id, tournament) in tournaments {
        let prefix = format!("match/{id}/");
        for match_id in tournament.reported.keys().chain(tournament.earlier.keys()) {
            let name = format!("{prefix}{match_id}");
            if !matches.contains_key(&name) {
                return Err(whole(&name, "the tournament reports it, but its log is missing"));
            }
        }
        // Every stream has the name of its subject, so these are the tournament's own matches.
        let own = matches.range(prefix.clone()..);
        for (name, check) in own.take_while(|(name, _)| name.starts_with(&prefix)) {
            tournament.agrees(check).map_err(|what| whole(name, what))?;
        }
    }
    // Matches may be kept alone, but not beside tournaments to which they do not belong.
    let alone = lobby.is_none() && tournaments.is_empty();
    let lost = |check: &MatchCheck| !tournaments.contains_key(check.plan.tournament.as_str());
    if let Some((name, _)) = matches.iter().find(|(_, check)| !alone && lost(check)) {
        return Err(whole(name, "the log of its tournament is missing"));
    }
    let Some(lobby) = lobby else { return Ok(()) };
    for (id, plan) in &lobby.started {
        let Some(tournament) = tournaments.get(id.as_str()) else { continue };
        let late = started_as(&tournament.plan, plan)
            .ok_or_else(|| whole(&stream(id), "its plan is not the one the lobby started"))?;
        // The log of a tournament that runs may be ahead of the lobby's.
        let entered = |player: &PlayerName| lobby.entered.contains(&(id.clone(), player.clone()));
        if lobby.finished.contains_key(id) && !late.iter().all(entered) {
            return Err(whole(&stream(id), "a player entered it whom the lobby did not enter"));
        }
    }
    let known = |id: &String| lobby.started.contains_key(&TournamentId::from_text(id));
    if let Some(id) = tournaments.keys().find(|id| !known(id)) {
        return Err(whole(&format!("tournament/{id}"), "the lobby never started it"));
    }
    lobby.finished.keys().try_for_each(|id| finished(id, lobby, tournaments))?;
    blacklist::agree(lobby, tournaments, matches)
}

/// The players who entered a tournament after the lobby started it; `None` if its plan is another
/// one.
fn started_as<'a>(plan: &'a TournamentPlan, started: &TournamentPlan) -> Option<&'a [PlayerName]> {
    let late = plan.players.strip_prefix(&started.players[..])?;
    let first = TournamentPlan { players: started.players.clone(), ..plan.clone() };
    // The tournament itself records which edition of the format's rules it follows.
    let mut current = started.clone();
    current.policy.format.use_current_rules(&started.policy.rules);
    (first == *started || first == current).then_some(late)
}

/// Checks that a tournament ended as the lobby says.
fn finished(
    id: &TournamentId,
    lobby: &LobbyCheck,
    tournaments: &BTreeMap<String, TournamentCheck>,
) -> Result<(), Finding> {
    // A tournament that could not be played has no log. A tournament that a repair abandoned has
    // none either: only its winners are known.
    let Some(check) = tournaments.get(id.as_str()) else { return Ok(()) };
    let what = match lobby.heads.get(id) {
        _ if check.secret.is_none() || !is_over(check) => {
            "the lobby says that it is over, and it is not"
        }
        _ if Some(&check.results.winners) != lobby.finished.get(id) => {
            "its winners are not those the lobby was told"
        }
        Some(told) if check.head.as_ref() != Some(told) => {
            "its head is not the one the lobby was told"
        }
        None if !check.predates_chain => "it has a head, and the lobby was told none",
        _ => return Ok(()),
    };
    Err(whole(&stream(id), what))
}

fn is_over(check: &TournamentCheck) -> bool {
    check.results.status == "ended" || check.results.status.starts_with("aborted: ")
}

fn stream(id: &TournamentId) -> String {
    format!("tournament/{id}")
}

fn whole(stream: &str, what: &str) -> Finding {
    Finding { stream: stream.into(), seq: 1, event: "whole".into(), what: what.into() }
}
