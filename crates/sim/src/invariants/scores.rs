//! Scores and tie-breaks of formats in which everybody plays on, counted from the lists of a
//! [`Course`] without the tournament's code.

use super::course::{Course, Played};
use agon_core::{Format, GameEnd, GameResult, How, MatchResult, PlayerName, TieBreak};
use std::collections::{BTreeMap, BTreeSet};

/// The results of one player.
#[derive(Clone, Default)]
pub(super) struct Sheet {
    /// Two for each beaten opponent, and one for each with the same place.
    pub(super) points: i64,
    /// The points that were possible.
    pub(super) possible: i64,
    /// The points for byes without an opponent.
    pub(super) idle: i64,
    /// Each opponent, and the points won against them.
    pub(super) met: Vec<(PlayerName, i64)>,
    pub(super) games: i64,
    pub(super) game_points: i64,
    pub(super) luck: i64,
}

pub(super) type Sheets = BTreeMap<PlayerName, Sheet>;

/// The sheets of all players.
pub(super) fn sheets(course: &Course) -> Sheets {
    let mut all: Sheets =
        course.players.iter().map(|player| (player.clone(), Sheet::default())).collect();
    for (at, (_, matches)) in course.rounds.iter().enumerate() {
        let seats = matches.iter().map(|played| played.players.len()).max().unwrap_or(2) as i64;
        for played in matches {
            match played.result() {
                Some(result) if result.how != How::Void => count(&mut all, played, &result, seats),
                _ => {}
            }
        }
        for bye in &course.byes[at] {
            if let Some(sheet) = bye.player.as_ref().and_then(|player| all.get_mut(player)) {
                sheet.points += 2 * (seats - 1);
                sheet.possible += 2 * (seats - 1);
                sheet.idle += if bye.walkover.is_none() { 2 * (seats - 1) } else { 0 };
            }
            if let Some(sheet) = bye.walkover.as_ref().and_then(|player| all.get_mut(player)) {
                sheet.possible += 2 * (seats - 1);
            }
        }
    }
    all
}

fn count(all: &mut Sheets, played: &Played, result: &MatchResult, seats: i64) {
    let better = |one: &PlayerName, other: &PlayerName| {
        let (one, other) = (order(one, played, result), order(other, played, result));
        match one.cmp(&other) {
            std::cmp::Ordering::Greater => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Less => 2,
        }
    };
    for player in &played.players {
        let others = played.players.iter().filter(|other| *other != player);
        let won: Vec<(PlayerName, i64)> =
            others.map(|other| (other.clone(), better(player, other))).collect();
        let Some(sheet) = all.get_mut(player) else { continue };
        sheet.points += seats - played.players.len() as i64;
        sheet.points += won.iter().map(|(_, points)| points).sum::<i64>();
        sheet.possible += 2 * (seats - 1);
        sheet.met.extend(won);
        for game in result.games.iter().filter(|game| game.game >= result.counts_from) {
            let Some(seat) = game.seats.iter().position(|one| one == player) else { continue };
            if game.end != GameEnd::Void {
                sheet.games += i64::from(game.winners == [player.clone()]);
                sheet.game_points += game.scores.get(seat).copied().unwrap_or(0);
                sheet.luck += game.luck.get(seat).copied().unwrap_or(0);
            }
        }
    }
}

/// How far behind a player is in a match: winners first. Of three and more players the others are
/// ordered by games won, then by their rank in the last game that counts.
fn order(player: &PlayerName, played: &Played, result: &MatchResult) -> (u8, i64, i64) {
    if result.winners.contains(player) {
        return (0, 0, 0);
    }
    if played.players.len() == 2 {
        return (1, 0, 0);
    }
    let seat = played.players.iter().position(|one| one == player).unwrap_or(0);
    let mut counted = result
        .games
        .iter()
        .filter(|game| game.game >= result.counts_from && game.end != GameEnd::Void);
    let rank = counted.next_back().and_then(|game| {
        let seat = game.seats.iter().position(|one| one == player)?;
        game.ranks[seat]
    });
    (1, -i64::from(result.halves[seat]), rank.map_or(255, i64::from))
}

/// The strength of every player by the results of their games: the most likely one, where everybody
/// also has half a drawn game against an average player. Fitted one player after the other, by
/// bisection.
pub(super) fn strengths(course: &Course) -> BTreeMap<PlayerName, f64> {
    let by_pairs = matches!(&course.format, Format::UntilSure(format) if format.pairs);
    let mut met: BTreeMap<&PlayerName, Vec<(&PlayerName, f64, f64)>> = BTreeMap::new();
    for played in course.matches() {
        let Some(result) = played.result().filter(|result| result.how != How::Void) else {
            continue;
        };
        let ([one, other], &[won, lost]) = (&played.players[..], &result.halves[..]) else {
            continue;
        };
        let (won, lost) = match by_pairs {
            true => points_of_pairs(&result, one),
            false => (f64::from(won) / 2.0, f64::from(lost) / 2.0),
        };
        met.entry(one).or_default().push((other, won, won + lost));
        met.entry(other).or_default().push((one, lost, won + lost));
    }
    let mut all: BTreeMap<PlayerName, f64> =
        course.players.iter().map(|player| (player.clone(), 0.0)).collect();
    let expected = |difference: f64| 1.0 / (1.0 + f64::exp(-difference));
    for _ in 0..2_000 {
        let mut change: f64 = 0.0;
        for (player, games) in &met {
            let missing = |own: f64| {
                let of_game = |(other, points, count): &(&PlayerName, f64, f64)| {
                    points - count * expected(own - all.get(*other).copied().unwrap_or(0.0))
                };
                0.5 * (0.5 - expected(own)) + games.iter().map(of_game).sum::<f64>()
            };
            let (mut low, mut high) = (-60.0, 60.0);
            for _ in 0..60 {
                let middle = f64::midpoint(low, high);
                if missing(middle) > 0.0 { low = middle } else { high = middle }
            }
            let before = all.insert((*player).clone(), low).unwrap_or(0.0);
            change = change.max((low - before).abs());
        }
        if change < 1e-9 {
            break;
        }
    }
    all
}

/// The points of both players in the whole duplicate pairs of a match, those of `one` first. A pair
/// does not count if one of its games is void, or if both players were removed from it.
fn points_of_pairs(result: &MatchResult, one: &PlayerName) -> (f64, f64) {
    let (mut own, mut theirs) = (0.0, 0.0);
    let mut games = result.games.iter().filter(|game| game.game >= result.counts_from);
    while let (Some(first), Some(second)) = (games.next(), games.next()) {
        if first.end == GameEnd::Void || second.end == GameEnd::Void {
            continue;
        }
        let points = |game: &GameResult| {
            let seat = usize::from(game.seats[0] != *one);
            Some(match (game.ranks[seat], game.ranks[1 - seat]) {
                (None, None) => return None,
                (Some(_), None) => 1.0,
                (None, Some(_)) => 0.0,
                (Some(rank), Some(other)) if rank == other => 0.5,
                (Some(rank), Some(other)) => f64::from(u8::from(rank < other)),
            })
        };
        if let (Some(first), Some(second)) = (points(first), points(second)) {
            own += first + second;
            theirs += 2.0 - first - second;
        }
    }
    (own, theirs)
}

/// The players with the most points, then by tie-breaks, among those who are not out.
pub(super) fn best(
    course: &Course,
    among: impl Fn(&PlayerName) -> bool,
    tie_breaks: &[TieBreak],
) -> BTreeSet<PlayerName> {
    let sheets = sheets(course);
    let points = |player: &PlayerName| sheets[player].points;
    // Head to head counts all players of the same merit, also those who are out.
    let mut merits: BTreeMap<&PlayerName, Vec<i64>> =
        sheets.iter().map(|(player, sheet)| (player, vec![sheet.points])).collect();
    for tie_break in tie_breaks {
        let before = merits.clone();
        for (player, merit) in &mut merits {
            let sheet = &sheets[*player];
            let met = sheet.met.iter();
            merit.push(match tie_break {
                TieBreak::Buchholz => met.map(|(other, _)| points(other)).sum(),
                TieBreak::SonnebornBerger => met.map(|(other, won)| points(other) * won).sum(),
                TieBreak::HeadToHead => {
                    let equals = met.filter(|(other, _)| before[other] == before[*player]);
                    equals.map(|(_, won)| won).sum()
                }
                TieBreak::Games => sheet.games,
                TieBreak::Points => sheet.game_points,
                TieBreak::LuckAdjusted => sheet.game_points - sheet.luck,
            });
        }
    }
    most(merits.into_iter().filter(|(player, _)| among(player)))
}

/// The players with the largest merit.
pub(super) fn most<'a>(
    merits: impl Iterator<Item = (&'a PlayerName, Vec<i64>)>,
) -> BTreeSet<PlayerName> {
    let all: Vec<(&PlayerName, Vec<i64>)> = merits.collect();
    let largest = all.iter().map(|(_, merit)| merit).max().cloned();
    let best = all.into_iter().filter(|(_, merit)| Some(merit) == largest.as_ref());
    best.map(|(player, _)| player.clone()).collect()
}

/// The ratings of an arena after all its matches.
pub(super) fn ratings(course: &Course) -> BTreeMap<PlayerName, i64> {
    let usual = |player: &PlayerName| course.ratings.get(player).copied().unwrap_or(1_500);
    let mut all: BTreeMap<PlayerName, i64> =
        course.players.iter().map(|player| (player.clone(), usual(player))).collect();
    for played in course.matches() {
        let Some(result) = played.result().filter(|result| result.how != How::Void) else {
            continue;
        };
        let [one, other] = &played.players[..] else { continue };
        let ahead = (all[one] - all[other]).clamp(-400, 400);
        let expected = (ahead + 400) * 32 / 800;
        let got = match (result.winners.contains(one), result.winners.contains(other)) {
            (true, false) => 32,
            (false, true) => 0,
            _ => 16,
        };
        *all.get_mut(one).expect("a player") += got - expected;
        *all.get_mut(other).expect("a player") -= got - expected;
    }
    all
}

/// Sets of players who met, directly or over others; a walkover counts as a meeting.
pub(super) fn groups(course: &Course) -> Vec<BTreeSet<PlayerName>> {
    let mut groups: Vec<BTreeSet<PlayerName>> = Vec::new();
    let met = course.matches().map(|played| played.players.clone());
    let walkovers = course
        .byes
        .iter()
        .flatten()
        .filter_map(|bye| Some(vec![bye.player.clone()?, bye.walkover.clone()?]));
    for players in met.chain(walkovers) {
        let mut joined: BTreeSet<PlayerName> = players.into_iter().collect();
        let touches = |group: &BTreeSet<PlayerName>| !group.is_disjoint(&joined);
        let (same, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(touches);
        joined.extend(same.into_iter().flatten());
        groups = others;
        groups.push(joined);
    }
    groups
}
