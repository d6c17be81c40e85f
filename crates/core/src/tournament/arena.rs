//! Arena: players of similar rating meet, round after round, until a number of rounds was played or
//! a time is over.
//!
//! Everybody begins with the rating that the organiser gave, or 1500. After each match the rating
//! changes as in Elo's system with K = 32, in integers and with a linear expectation, so that it is
//! the same everywhere. A round pairs neighbours by rating, and nobody meets the same opponent twice
//! in a row if that can be avoided. The time comes from an event of the log, never from a clock.

use super::scores::{self, Scores};
use super::{
    DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat,
};
use crate::ids::{MatchId, Millis, PlayerName};
use crate::policy::MatchRules;
use crate::report::{Bye, How, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

/// Players of similar rating meet until a number of rounds or a time is over.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arena {
    /// How many matches a player has at most.
    #[serde(default = "ten")]
    pub rounds: u32,
    /// How long after its start the tournament pairs new rounds, in milliseconds; `None` is without
    /// a limit. The first round is always played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub play_ms: Option<Millis>,
}

fn ten() -> u32 {
    10
}

/// The rating of a player whom nobody rated.
const USUAL_RATING: i64 = 1_500;

/// The most that one match changes a rating.
const STEP_MAX: i64 = 32;

/// The difference of ratings at which the stronger player is expected to win always.
const SURE_DIFFERENCE: i64 = 400;

impl TournamentFormat for Arena {
    fn for_seats(_: RangeInclusive<usize>) -> Arena {
        Arena { rounds: ten(), play_ms: None }
    }

    fn about(&self) -> &'static str {
        "Players of similar rating meet until a number of rounds or a time is over"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        match (self.rounds, self.play_ms) {
            (0 | 10_001.., _) => Err("an arena has 1 to 10000 rounds".into()),
            (_, Some(0)) => Err("play_ms of an arena must be at least 1".into()),
            _ => Ok(()),
        }
    }

    fn players_min(&self) -> usize {
        2
    }

    fn play_ms(&self) -> Option<Millis> {
        self.play_ms
    }

    fn check_late_entry(&self, field: &Field<'_>) -> Result<(), &'static str> {
        match field.rounds.len() < self.rounds as usize && !field.is_time_up {
            true => Ok(()),
            false => Err("the last round has begun"),
        }
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let active: Vec<&PlayerName> =
            order.iter().filter(|player| !field.is_out(player)).collect();
        let has_begun = !field.rounds.is_empty();
        let is_over = field.rounds.len() >= self.rounds as usize || field.is_time_up && has_begun;
        if is_over || active.len() < 2 {
            return NextRound::Winners(field.leaders(self));
        }
        let ratings = ratings(field);
        let rating = |player: &PlayerName| ratings.get(player).copied().unwrap_or(USUAL_RATING);
        let mut ranked = active;
        ranked.sort_by_key(|player| Reverse(rating(player)));
        let byes = sit_out(&mut ranked, field);
        let latest = latest_opponents(field.rounds);
        avoid_repeats(&mut ranked, &latest);
        let round = field.next_number();
        let matches = ranked.chunks_exact(2).zip(1..).map(|(pair, number)| {
            let [one, other] = [pair[0], pair[1]];
            let repeats = latest.get(one) == Some(&other);
            let again = if repeats { "; nobody else is free" } else { "" };
            let mut players = vec![one.clone(), other.clone()];
            if (round + number).is_multiple_of(2) {
                players.reverse();
            }
            let reason = format!("ratings {} and {}{again}", rating(one), rating(other));
            DrawnMatch { id: MatchId::of(round, number), players, reason }
        });
        NextRound::Round(matches.collect(), byes)
    }

    /// The score, then the rating, then points in games.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let (scores, ratings) = (Scores::of(field.players, field.rounds), ratings(field));
        let merit = |PlayerRecord { summary, .. }: &PlayerRecord| {
            let score = scores.get(&summary.player).map_or(0, |score| score.points);
            let rating = ratings.get(&summary.player).copied().unwrap_or(USUAL_RATING);
            vec![score, rating, summary.points]
        };
        records.iter().map(merit).collect()
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        let names = ["score", "rating", "points"].into_iter();
        names.zip(merit).map(|(by, value)| scores::value(by, *value)).collect()
    }

    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount {
        let most = players / 2 * self.rounds as usize;
        MatchCount { matches: most.max(drawn.iter().sum()), is_exact: false }
    }
}

/// The ratings of all players after the rounds so far.
fn ratings<'a>(field: &Field<'a>) -> BTreeMap<&'a PlayerName, i64> {
    let given = |player: &PlayerName| field.ratings.get(player).copied().unwrap_or(USUAL_RATING);
    let mut ratings: BTreeMap<&PlayerName, i64> =
        field.players.iter().map(|player| (player, given(player))).collect();
    for round in field.rounds {
        for (plan, result) in round.matches.iter().zip(&round.results) {
            let (Some(result), [one, other]) = (result, &plan.players[..]) else { continue };
            if result.how == How::Void {
                continue;
            }
            let won = match (result.winners.contains(one), result.winners.contains(other)) {
                (true, false) => STEP_MAX,
                (false, true) => 0,
                _ => STEP_MAX / 2,
            };
            let (Some(own), Some(theirs)) = (ratings.get(one), ratings.get(other)) else {
                continue;
            };
            let step = won - expected(own - theirs);
            *ratings.entry(one).or_default() += step;
            *ratings.entry(other).or_default() -= step;
        }
    }
    ratings
}

/// The expected result of a player with this much more rating, in steps of rating.
fn expected(difference: i64) -> i64 {
    let difference = difference.clamp(-SURE_DIFFERENCE, SURE_DIFFERENCE);
    (difference + SURE_DIFFERENCE) * STEP_MAX / (2 * SURE_DIFFERENCE)
}

/// Takes one player out of an odd number: the lowest rated of those with the fewest byes.
fn sit_out(ranked: &mut Vec<&PlayerName>, field: &Field<'_>) -> Vec<Bye> {
    if ranked.len().is_multiple_of(2) {
        return Vec::new();
    }
    let byes = |player: &PlayerName| {
        let all = field.rounds.iter().flat_map(|round| &round.byes);
        all.filter(|bye| bye.player.as_ref() == Some(player)).count()
    };
    let lowest = (0..ranked.len()).rev().min_by_key(|at| byes(ranked[*at]));
    let count = ranked.len();
    let player = ranked.remove(lowest.expect("an odd number is not zero")).clone();
    let reason = format!(
        "{count} players: one sits out; {player} has the lowest rating of those with the fewest byes"
    );
    vec![Bye { player: Some(player), reason, walkover: None }]
}

/// The opponent of each player in their latest match.
fn latest_opponents(rounds: &[Round]) -> HashMap<&PlayerName, &PlayerName> {
    let mut latest = HashMap::new();
    for plan in rounds.iter().flat_map(|round| &round.matches) {
        if let [one, other] = &plan.players[..] {
            latest.extend([(one, other), (other, one)]);
        }
    }
    latest
}

/// Exchanges neighbours such that as few pairs as possible meet twice in a row.
fn avoid_repeats<'a>(ranked: &mut [&'a PlayerName], latest: &HashMap<&PlayerName, &'a PlayerName>) {
    let repeats = |one: &PlayerName, other: &PlayerName| {
        latest.get(one).is_some_and(|opponent| **opponent == *other)
    };
    for at in (0..ranked.len()).step_by(2) {
        if !repeats(ranked[at], ranked[at + 1]) {
            continue;
        }
        // The nearest player with whom an exchange removes the repeat and makes no other.
        let fits = |other: &usize| {
            let (one, two) = (ranked[at], ranked[*other]);
            let beside = ranked[*other ^ 1];
            !repeats(one, two) && !repeats(ranked[at + 1], beside)
        };
        let later = (at + 2..ranked.len()).find(fits);
        if let Some(other) = later.or_else(|| (0..at).rev().find(fits)) {
            ranked.swap(at + 1, other);
        }
    }
}
