//! A tournament has the champion that its results imply, counted here without the tournament's
//! code.

use super::course::{self, Course};
use super::{Streams, scores, tournaments};
use crate::world::World;
use agon_core::{Format, How, PlayerName};
use std::collections::{BTreeMap, BTreeSet};

/// The players who must win a tournament of a format, as far as its matches determine them.
type Champions = fn(&Course) -> Result<BTreeSet<PlayerName>, String>;

/// A format, as the simulator knows it.
struct Oracle {
    format: &'static str,
    champions: Champions,
    /// True if its rounds fill a tree, so that only the first one has byes.
    is_tree: bool,
}

/// The formats by name.
const FORMATS: [Oracle; 10] = [
    Oracle { is_tree: true, ..oracle("bracket", survivors) },
    oracle("knockout", survivors),
    oracle("round-robin", leaders),
    oracle("swiss", leaders),
    oracle("double-elimination", twice_beaten_leave),
    oracle("groups", group_winners),
    oracle("gauntlet", largest_share),
    oracle("arena", arena_leaders),
    oracle("stages", last_stage),
    oracle("until-sure", strongest),
];

const fn oracle(format: &'static str, champions: Champions) -> Oracle {
    Oracle { format, champions, is_tree: false }
}

/// Returns whether the rounds of a format fill a tree.
pub(super) fn is_tree(format: &Format) -> bool {
    FORMATS.iter().any(|oracle| oracle.format == format.name() && oracle.is_tree)
}

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

fn champions(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let format = course.format.name();
    let oracle = FORMATS.iter().find(|oracle| oracle.format == format);
    let oracle = oracle.ok_or_else(|| format!("no oracle for {format}"))?;
    (oracle.champions)(course)
}

/// The champions of the last stage. A tournament of which too few players were left for the next
/// stage ends with those.
fn last_stage(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let Format::Stages(stages) = &course.format else { return Err("no stages".into()) };
    let (number, players) = match course.latest_stage() {
        Some((number, part)) if number == stages.stages.len() => return champions(&part),
        Some((number, part)) => (number, part.players),
        None => (0, course.players.clone()),
    };
    let is_left = |player: &&PlayerName| !course.is_out(player) && !course.failed.contains(*player);
    let left: BTreeSet<PlayerName> = players.iter().filter(is_left).cloned().collect();
    match left.len() {
        0 | 1 => Ok(left),
        count => Err(format!("stage {} never began, with {count} players left", number + 1)),
    }
}

/// The players with fewer than two losses. Without a second final, the first one decides.
fn twice_beaten_leave(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let mut losses: BTreeMap<&PlayerName, u32> =
        course.players.iter().map(|player| (player, 0)).collect();
    for played in course.matches() {
        let winners = played.result().map(|result| result.winners).unwrap_or_default();
        for player in &played.players {
            let count = losses.entry(player).or_default();
            if *count > 1 {
                return Err(format!("{player} plays on after two losses"));
            }
            if winners.is_empty() {
                *count = 2;
            } else if !winners.contains(player) {
                *count += 1;
            }
        }
    }
    let has_reset = matches!(&course.format, Format::DoubleElimination(format) if format.reset);
    if has_reset {
        let left = losses.into_iter().filter(|(_, count)| *count < 2);
        return Ok(left.map(|(player, _)| player.clone()).collect());
    }
    let Some((byes, last)) = course.rounds.last() else { return Ok(BTreeSet::new()) };
    let winners = last.iter().filter_map(|played| Some(played.result()?.winners)).flatten();
    Ok(winners.chain(byes.iter().cloned()).collect())
}

/// The best of each group who is not out.
fn group_winners(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let Format::Groups(format) = &course.format else { return Err("no groups".into()) };
    // Without a round nobody met anybody, and the players who are left win.
    if course.rounds.is_empty() {
        let left = course.players.iter().filter(|player| !course.is_out(player));
        return Ok(left.cloned().collect());
    }
    let groups = scores::groups(course);
    let best = groups.iter().flat_map(|group| {
        let is_in = |player: &PlayerName| group.contains(player) && !course.is_out(player);
        scores::best(course, is_in, &format.tie_breaks)
    });
    Ok(best.collect())
}

/// The players with the largest share of their possible points, without pauses.
fn largest_share(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let sheets = scores::sheets(course);
    let merit = |sheet: &scores::Sheet| {
        let possible = sheet.possible - sheet.idle;
        let share = match possible {
            0 => 0,
            _ => (sheet.points - sheet.idle) * 1_000 / possible,
        };
        vec![share, sheet.games, sheet.game_points]
    };
    let left = sheets.iter().filter(|(player, _)| !course.is_out(player));
    Ok(scores::most(left.map(|(player, sheet)| (player, merit(sheet)))))
}

/// The players with the most points, then the highest rating.
fn arena_leaders(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let (sheets, ratings) = (scores::sheets(course), scores::ratings(course));
    let left = sheets.iter().filter(|(player, _)| !course.is_out(player));
    let merit = |player: &PlayerName, sheet: &scores::Sheet| {
        vec![sheet.points, ratings[player], sheet.game_points]
    };
    Ok(scores::most(left.map(|(player, sheet)| (player, merit(player, sheet)))))
}

/// The strongest player by the results of all games. Of several who are equally strong, any may
/// have won.
fn strongest(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let left: Vec<&PlayerName> =
        course.players.iter().filter(|player| !course.is_out(player)).collect();
    if course.rounds.is_empty() {
        return Ok(left.into_iter().cloned().collect());
    }
    let strengths = scores::strengths(course);
    let best = left.iter().map(|player| strengths[*player]).fold(f64::MIN, f64::max);
    let winners = course.winners.iter().flatten();
    let is_best = |player: &&PlayerName| {
        strengths.get(*player).is_some_and(|own| *own > best - 1e-6) && left.contains(player)
    };
    let winners: BTreeSet<PlayerName> = winners.filter(is_best).cloned().collect();
    let due = left.into_iter().filter(|player| strengths[*player] > best - 1e-6);
    // A winner who failed at the farewell lost the win, and nobody gets it.
    let failed = || due.clone().find(|player| course.failed.contains(*player)).cloned();
    Ok(match winners.is_empty() {
        true => failed().or_else(|| due.clone().next().cloned()).into_iter().collect(),
        false => winners,
    })
}

/// The players left after the last round: each won, or had a bye. In a bracket with a match for
/// third place, only the first match of the last round counts.
fn survivors(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    if matches!(&course.format, Format::Bracket(format) if format.third_place) {
        return Ok(winners_of_first_matches(course));
    }
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

/// The winner of the final of a bracket with a match for third place, or the only finalist.
fn winners_of_first_matches(course: &Course) -> BTreeSet<PlayerName> {
    let Some((_, last)) = course.rounds.last() else { return BTreeSet::new() };
    let byes = course.byes.last().into_iter().flatten();
    let is_final = |reason: &str| !reason.starts_with("third place");
    let finals = last.iter().filter(|played| is_final(&played.reason));
    let winners = finals.filter_map(|played| Some(played.result()?.winners)).flatten();
    let alone = byes.filter(|bye| is_final(&bye.reason)).filter_map(|bye| bye.player.clone());
    winners.chain(alone).collect()
}

/// The players with the most points, then by tie-breaks. A round-robin without tie-breaks counts
/// games, then points of games.
fn leaders(course: &Course) -> Result<BTreeSet<PlayerName>, String> {
    let tie_breaks = match &course.format {
        Format::Swiss(format) => Some(&format.tie_breaks),
        Format::RoundRobin(format) => Some(&format.tie_breaks).filter(|list| !list.is_empty()),
        _ => None,
    };
    if let Some(tie_breaks) = tie_breaks {
        return Ok(scores::best(course, |player| !course.is_out(player), tie_breaks));
    }
    let mut merits: BTreeMap<&PlayerName, (u32, u32, i64)> =
        course.players.iter().map(|player| (player, (0, 0, 0))).collect();
    for player in course.walkovers() {
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
