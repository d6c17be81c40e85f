//! A tournament has the champion that its results imply, counted here without the tournament's
//! code.

use super::course::{self, Course};
use super::{Streams, tournaments};
use crate::world::World;
use agon_core::{How, PlayerName};
use std::collections::{BTreeMap, BTreeSet};

/// The players who must win a tournament of a format, as far as its matches determine them.
type Champions = fn(&Course) -> Result<BTreeSet<PlayerName>, String>;

/// The formats by name.
const FORMATS: [(&str, Champions); 3] =
    [("bracket", survivors), ("knockout", survivors), ("round-robin", leaders)];

pub(super) fn check(_world: &World, streams: &Streams) -> Result<(), String> {
    for (id, entries) in tournaments(streams) {
        let Some(course) = course::read(entries) else {
            return Err(format!("{id} was never created"));
        };
        let Some(winners) = &course.winners else { continue };
        if course.awarded {
            match *winners == course.awarded_to {
                true => continue,
                false => {
                    return Err(format!("{id}: won by {winners:?} against the operator's word"));
                }
            }
        }
        let format = course.format.name();
        let champions = FORMATS.iter().find(|(name, _)| *name == format);
        let (_, champions) = champions.ok_or_else(|| format!("{id}: no oracle for {format}"))?;
        let implied = champions(&course).map_err(|what| format!("{id}: {what}"))?;
        let counts =
            |player: &&PlayerName| !course.is_out(player) && !course.failed.contains(*player);
        let implied: BTreeSet<&PlayerName> = implied.iter().filter(counts).collect();
        let winners: BTreeSet<&PlayerName> = winners.iter().collect();
        if winners != implied {
            return Err(format!("{id}: won by {winners:?}, but results imply {implied:?}"));
        }
    }
    Ok(())
}

/// The players left after the last round: each won, or had a bye.
fn survivors(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let mut left: BTreeSet<PlayerName> = course.players.iter().cloned().collect();
    for (byes, results) in &course.rounds {
        let mut next: BTreeSet<PlayerName> = byes.iter().cloned().collect();
        for played in results {
            let winners = played.result().map(|result| result.winners).unwrap_or_default();
            next.extend(winners);
            if let Some(stranger) = played.players.iter().find(|player| !left.contains(*player)) {
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

/// The players with the most points, then games, then points of games, in a round-robin.
fn leaders(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let mut merits: BTreeMap<&PlayerName, (u32, u32, i64)> =
        course.players.iter().map(|player| (player, (0, 0, 0))).collect();
    for player in &course.walkovers {
        merits.entry(player).or_default().0 += 2;
    }
    let played = course.rounds.iter().flat_map(|(_, results)| results);
    let results = played.filter_map(|played| Some((&played.players, played.result()?)));
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
    let in_it = merits.iter().filter(|(player, _)| !course.is_out(player));
    let best = in_it.clone().map(|(_, merit)| *merit).max();
    let leaders = in_it.filter(|(_, merit)| Some(**merit) == best);
    Ok(leaders.map(|(player, _)| (*player).clone()).collect())
}
