//! Statistics equal a recount from the log, made here by adding up reported results.

use super::{Streams, tournaments};
use crate::world::World;
use agon_core::{Event, GameEnd, How, PlayerName, RatingSettings, Statistics, TournamentId};
use std::collections::BTreeMap;

/// Matches won, lost and tied; games won, lost and tied; points.
type Sums = [i64; 7];

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    let mut statistics = Statistics::new(&world.games, RatingSettings::default());
    let mut sums: BTreeMap<&PlayerName, Sums> = BTreeMap::new();
    for (id, entries) in tournaments(streams) {
        let id = TournamentId::from_text(id);
        let mut plans = BTreeMap::new();
        for entry in entries {
            let applied = statistics.apply(&id, entry.line.at, &entry.line.event);
            applied.map_err(|error| format!("{id}: {error}"))?;
            match &entry.line.event {
                Event::RoundPaired(paired) => {
                    plans.extend(paired.matches.iter().map(|plan| (&plan.id, &plan.players)));
                }
                Event::MatchReported(reported) if reported.result.how != How::Void => {
                    let Some(players) = plans.get(&reported.id) else { continue };
                    for player in players.iter() {
                        let sum = sums.entry(player).or_default();
                        sum[finish(player, &reported.result.winners)] += 1;
                        let result = &reported.result;
                        let games = result.games.iter();
                        let games = games.filter(|game| {
                            game.game >= result.counts_from && game.end != GameEnd::Void
                        });
                        for game in games {
                            let seat = game.seats.iter().position(|one| one == player);
                            sum[3 + finish(player, &game.winners)] += 1;
                            sum[6] += seat.map_or(0, |seat| game.scores[seat]);
                        }
                    }
                }
                _ => {}
            }
        }
    }
    for (player, sum) in sums {
        let total = statistics.player(player).total;
        let (matches, games) = (total.matches, total.games);
        let counted = [matches.won, matches.lost, matches.tied, games.won, games.lost, games.tied];
        let mut all: Vec<i64> = counted.map(i64::from).into();
        all.push(total.points);
        if all != sum {
            return Err(format!("{player}: statistics say {all:?}, the log {sum:?}"));
        }
    }
    Ok(())
}

/// 0 for won, 1 for lost, 2 for shared.
fn finish(player: &PlayerName, winners: &[PlayerName]) -> usize {
    match (winners.contains(player), winners.len()) {
        (true, 1) => 0,
        (true, _) => 2,
        (false, _) => 1,
    }
}
