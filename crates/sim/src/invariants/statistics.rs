//! Statistics equal a recount from the log, made here by adding up reported results.

use super::course::{self, Course};
use super::{Streams, tournaments};
use crate::world::World;
use agon_core::{
    GameEnd, GameResult, How, MatchResult, PlayerName, RatingSettings, Statistics, TournamentId,
};
use std::collections::BTreeMap;

/// Matches won, lost and tied; games won, lost and tied; points.
type Sums = [i64; 7];

pub(super) fn check(world: &World, streams: &Streams) -> Result<(), String> {
    let mut statistics = Statistics::new(&world.games, RatingSettings::default());
    let mut sums: BTreeMap<&PlayerName, Sums> = BTreeMap::new();
    let courses = tournaments(streams).map(|(id, entries)| (id, entries, course::read(entries)));
    let courses: Vec<_> = courses.collect();
    for (id, entries, course) in &courses {
        let id = TournamentId::from_text(id);
        for entry in entries.iter() {
            let applied = statistics.apply(&id, entry.line.at, &entry.line.event);
            applied.map_err(|error| format!("{id}: {error}"))?;
        }
        for played in course.iter().flat_map(Course::matches) {
            let Some(result) = played.result().filter(|result| result.how != How::Void) else {
                continue;
            };
            for player in &played.players {
                add(sums.entry(player).or_default(), player, &result);
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

fn add(sum: &mut Sums, player: &PlayerName, result: &MatchResult) {
    sum[finish(player, &result.winners)] += 1;
    let counts = |game: &&GameResult| game.game >= result.counts_from && game.end != GameEnd::Void;
    // A match restarts after ties in a row. They count as ties, although they settled nothing.
    let before = result.games.iter().rev().filter(|game| game.game < result.counts_from);
    let ties = before.take_while(|game| game.end == GameEnd::Played && game.winners.len() > 1);
    sum[5] += ties.filter(|game| game.winners.contains(player)).count() as i64;
    for game in result.games.iter().filter(counts) {
        let seat = game.seats.iter().position(|one| one == player);
        sum[3 + finish(player, &game.winners)] += 1;
        sum[6] += seat.map_or(0, |seat| game.scores[seat]);
    }
}

/// 0 for won, 1 for lost, 2 for shared.
fn finish(player: &PlayerName, winners: &[PlayerName]) -> usize {
    match (winners.contains(player), winners.len()) {
        (true, 1) => 0,
        (true, _) => 2,
        (false, _) => 1,
    }
}
