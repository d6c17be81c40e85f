//! A tournament has the champion its results imply, counted here without the tournament's code.

use super::{Streams, tournaments};
use crate::disk::Entry;
use crate::world::World;
use agon_core::{Event, Format, How, MatchResult, PlayerName};
use std::collections::{BTreeMap, BTreeSet};

/// A match that was reported: who played, and what came of it.
type Played<'a> = (&'a [PlayerName], &'a MatchResult);

/// What a tournament's stream says, as plain lists.
struct Course<'a> {
    format: Format,
    players: Vec<PlayerName>,
    /// By round: who had a bye, and the results with their players.
    rounds: Vec<(Vec<PlayerName>, Vec<Played<'a>>)>,
    /// Who won because the opponent was out of the tournament.
    walkovers: Vec<PlayerName>,
    /// Who was out before the last round was over.
    out: BTreeSet<PlayerName>,
    /// Who failed at the farewell: it loses its win, and nobody gets it.
    failed: BTreeSet<PlayerName>,
    rounds_ended: bool,
    winners: Option<Vec<PlayerName>>,
}

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    for (id, entries) in tournaments(streams) {
        let Some(course) = course(entries) else { return Err(format!("{id} was never created")) };
        let Some(winners) = &course.winners else { continue };
        let implied: BTreeSet<PlayerName> = match course.format {
            Format::RoundRobin => leaders(&course),
            _ => survivors(&course).map_err(|what| format!("{id}: {what}"))?,
        };
        let counts = |player: &&PlayerName| {
            !course.out.contains(*player) && !course.failed.contains(*player)
        };
        let implied: BTreeSet<&PlayerName> = implied.iter().filter(counts).collect();
        let winners: BTreeSet<&PlayerName> = winners.iter().collect();
        if winners != implied {
            return Err(format!("{id}: won by {winners:?}, but results imply {implied:?}"));
        }
    }
    Ok(())
}

fn course(entries: &[Entry]) -> Option<Course<'_>> {
    let Event::TournamentCreated(created) = &entries.first()?.line.event else { return None };
    let mut course = Course {
        format: created.plan.policy.format.clone(),
        players: created.plan.players.clone(),
        rounds: Vec::new(),
        walkovers: Vec::new(),
        out: BTreeSet::new(),
        failed: BTreeSet::new(),
        rounds_ended: false,
        winners: None,
    };
    let mut plans = BTreeMap::new();
    for entry in entries {
        match &entry.line.event {
            Event::RoundPaired(paired) => {
                plans.extend(paired.matches.iter().map(|plan| (&plan.id, &plan.players[..])));
                let walkovers = paired.byes.iter().filter(|bye| bye.walkover.is_some());
                course.walkovers.extend(walkovers.filter_map(|bye| bye.player.clone()));
                let byes = paired.byes.iter().filter_map(|bye| bye.player.clone());
                course.rounds.push((byes.collect(), Vec::new()));
            }
            Event::MatchReported(reported) => {
                let players = plans.get(&reported.id).copied()?;
                course.out.extend(reported.result.out.iter().cloned());
                course.rounds.last_mut()?.1.push((players, &reported.result));
            }
            Event::PlayerDropped(dropped) => {
                let player = dropped.faulted.player.clone();
                match course.rounds_ended {
                    true => course.failed.insert(player),
                    false => course.out.insert(player),
                };
            }
            Event::RoundsEnded(_) => course.rounds_ended = true,
            Event::TournamentEnded(ended) => course.winners = Some(ended.winners.clone()),
            _ => {}
        }
    }
    Some(course)
}

/// Who is left after the last round: who won, or had a bye.
fn survivors(course: &Course<'_>) -> Result<BTreeSet<PlayerName>, String> {
    let mut left: BTreeSet<PlayerName> = course.players.iter().cloned().collect();
    for (byes, results) in &course.rounds {
        let mut next: BTreeSet<PlayerName> = byes.iter().cloned().collect();
        for (players, result) in results {
            next.extend(result.winners.iter().cloned());
            if let Some(stranger) = players.iter().find(|player| !left.contains(*player)) {
                return Err(format!("{stranger} plays on after it lost"));
            }
        }
        if let Some(stranger) = next.iter().find(|player| !left.contains(*player)) {
            return Err(format!("{stranger} advances after it lost"));
        }
        left = next;
    }
    Ok(left)
}

/// Who has most points, then games, then points of games, in a round-robin.
fn leaders(course: &Course<'_>) -> BTreeSet<PlayerName> {
    let mut merits: BTreeMap<&PlayerName, (u32, u32, i64)> =
        course.players.iter().map(|player| (player, (0, 0, 0))).collect();
    for player in &course.walkovers {
        merits.entry(player).or_default().0 += 2;
    }
    let results = course.rounds.iter().flat_map(|(_, results)| results);
    for (players, result) in results.filter(|(_, result)| result.how != How::Void) {
        for player in players.iter() {
            let Some(merit) = merits.get_mut(player) else { continue };
            merit.0 += match (result.winners.contains(player), result.winners.len()) {
                (true, 1) => 2,
                (true, _) => 1,
                (false, _) => 0,
            };
            for game in result.games.iter().filter(|game| game.game >= result.counts_from) {
                let Some(seat) = game.seats.iter().position(|one| one == player) else { continue };
                merit.1 += u32::from(game.winners == [player.clone()]);
                if game.end != agon_core::GameEnd::Void {
                    merit.2 += game.scores.get(seat).copied().unwrap_or(0);
                }
            }
        }
    }
    let in_it = merits.iter().filter(|(player, _)| !course.out.contains(**player));
    let best = in_it.clone().map(|(_, merit)| *merit).max();
    in_it.filter(|(_, merit)| Some(**merit) == best).map(|(player, _)| (*player).clone()).collect()
}
