//! A policy that blacklists for a cheat does so once, whatever crashes in between. A blacklisted
//! player wins no further tournament.

use super::{Streams, matches, tournaments};
use crate::world::World;
use agon_core::{CheatCost, Event, Line, Millis, PlayerName, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// How long the end of a tournament may have been in flight when a player was listed: as long as
/// the slowest disk takes.
const ON_ITS_WAY_MS: Millis = 5_000;

/// A cheat: the tournament, the match and the number of the event.
type Cheat = (String, String, u64);

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    let mut cheats = cheats(streams);
    let lobby: Vec<&Line> =
        streams.get("lobby").into_iter().flatten().map(|entry| &entry.line).collect();
    for line in &lobby {
        let Event::AccountBlacklisted(listed) = &line.event else { continue };
        if listed.by.is_some() {
            continue;
        }
        let cause = listed.cause.as_ref().ok_or_else(|| format!("event {}: no cause", line.seq))?;
        let key = (cause.tournament.to_string(), cause.match_id.to_string(), cause.event);
        let cheater = cheats.remove(&key).ok_or_else(|| format!("nobody cheated at {key:?}"))?;
        if cheater != listed.account {
            return Err(format!("{cheater} cheated at {key:?}, and {} is listed", listed.account));
        }
    }
    if let Some((key, cheater)) = cheats.into_iter().next() {
        return Err(format!("{cheater} cheated at {key:?}, and was not listed"));
    }
    no_listed_winner(streams, &lobby)
}

/// All cheats that a policy blacklists for, with their players.
fn cheats(streams: &Streams) -> BTreeMap<Cheat, PlayerName> {
    let mut found = BTreeMap::new();
    for (tournament, id, entries) in matches(streams) {
        let Some(Event::MatchCreated(created)) = entries.first().map(|entry| &entry.line.event)
        else {
            continue;
        };
        if created.plan.rules.cheat != CheatCost::Blacklist {
            continue;
        }
        for line in entries.iter().map(|entry| &entry.line) {
            if let Event::PlayerFaulted(faulted) = &line.event
                && faulted.faulted.fault.is_cheat()
            {
                let key = (tournament.to_owned(), id.to_owned(), line.seq);
                found.insert(key, faulted.faulted.player.clone());
            }
        }
    }
    found
}

/// Checks that no champion was on the blacklist when their tournament ended. An operator may give
/// a match or the tournament to a listed player.
fn no_listed_winner(streams: &Streams, lobby: &[&Line]) -> Result<(), String> {
    for (id, entries) in tournaments(streams) {
        let ruled = |line: &Line| {
            matches!(line.event, Event::ResultOverridden(_) | Event::TournamentAwarded(_))
        };
        if entries.iter().any(|entry| ruled(&entry.line)) {
            continue;
        }
        let ended = entries.iter().find_map(|entry| match &entry.line.event {
            Event::TournamentEnded(ended) => Some((entry.line.at, &ended.winners)),
            _ => None,
        });
        let Some((at, winners)) = ended else { continue };
        // Without a match the winner is known at the start, which the lobby records first.
        let has_matches = entries.iter().any(|entry| match &entry.line.event {
            Event::RoundPaired(paired) => !paired.matches.is_empty(),
            _ => false,
        });
        let started = lobby.iter().find(|line| match &line.event {
            Event::TournamentStarted(started) => started.plan.id.as_str() == id,
            _ => false,
        });
        let at = started.filter(|_| !has_matches).map_or(at, |line| line.at);
        let listed = listed_at(lobby, at.before(ON_ITS_WAY_MS), at);
        if let Some(winner) = winners.iter().find(|winner| listed.contains(winner)) {
            return Err(format!("{winner} won {id} and was on the blacklist"));
        }
    }
    Ok(())
}

/// Players who were on the blacklist at `from` and were not removed from it by `to`.
fn listed_at<'a>(lobby: &[&'a Line], from: Timestamp, to: Timestamp) -> BTreeSet<&'a PlayerName> {
    let mut listed = BTreeSet::new();
    for line in lobby {
        match &line.event {
            Event::AccountBlacklisted(one) if line.at <= from => {
                listed.insert(&one.account);
            }
            Event::BlacklistLifted(one) if line.at <= to => {
                listed.remove(&one.account);
            }
            _ => {}
        }
    }
    listed
}
