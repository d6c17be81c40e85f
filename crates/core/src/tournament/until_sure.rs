//! Until sure: the matches that say most about the podium, until it is sure.
//!
//! In the first round everybody plays. After each round the format estimates all strengths from the
//! games so far. It stops when the first places are in the right order with the wanted confidence.
//! Otherwise it pairs the players whose order is the least sure, several matches at a time.
//!
//! The games of a duplicate pair have the same luck, so the pair is the observation.

use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::comparison::points_of_pairs;
use crate::ids::{MatchId, PlayerName};
use crate::policy::MatchRules;
use crate::report::{Bye, How, TieBreakValue};
use agon_stats::{Meeting, Strengths};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Matches until the podium is sure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilSure {
    /// The wanted confidence in percent.
    pub confidence: u32,
    /// How many places have to be sure.
    pub places: u32,
    /// After this many matches the tournament ends without that confidence.
    pub matches_max: u32,
    /// True if a duplicate pair is one observation. It is so in every new tournament with duplicate
    /// games. Logs from before it say nothing, and count each game as an observation of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pairs: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl UntilSure {
    /// The most players.
    pub const PLAYERS_MAX: usize = 100;

    /// The strengths of `players` from all games so far.
    fn strengths(&self, players: &[PlayerName], field: &Field<'_>) -> Strengths {
        let at: BTreeMap<&PlayerName, usize> =
            players.iter().enumerate().map(|(at, player)| (player, at)).collect();
        let mut meetings = Vec::new();
        for round in field.rounds {
            for (plan, result) in round.matches.iter().zip(&round.results) {
                let Some(result) = result.as_ref().filter(|result| result.how != How::Void) else {
                    continue;
                };
                let seated = plan.players.iter().map(|player| at.get(player).copied());
                let (&[Some(one), Some(other)], &[first, second]) =
                    (&seated.collect::<Vec<_>>()[..], &result.halves[..])
                else {
                    continue;
                };
                meetings.push(if self.pairs {
                    let points = points_of_pairs(result, &plan.players[0], &plan.players[1]);
                    Meeting::of_groups(one, other, 2, &points)
                } else {
                    let games = f64::from(first + second) / 2.0;
                    Meeting::of_games(one, other, f64::from(first) / 2.0, games)
                });
            }
        }
        Strengths::fit(players.len(), &meetings, Strengths::PRIOR_GAMES)
    }
}

impl TournamentFormat for UntilSure {
    fn for_seats(_: RangeInclusive<usize>) -> UntilSure {
        UntilSure { confidence: 95, places: 3, matches_max: 1_000, pairs: false }
    }

    fn about(&self) -> &'static str {
        "The matches that tell most, until the podium is sure"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        let UntilSure { confidence, places, matches_max, .. } = self;
        if !(50..=99).contains(confidence) {
            return Err(format!("the confidence is 50 to 99 percent, not {confidence}"));
        }
        if !(1..=10).contains(places) {
            return Err(format!("1 to 10 places can be made sure, not {places}"));
        }
        match (1..=100_000).contains(matches_max) {
            true => Ok(()),
            false => Err(format!("matches_max is 1 to 100000, not {matches_max}")),
        }
    }

    fn use_current_rules(&mut self, rules: &MatchRules) {
        self.pairs = rules.duplicate;
    }

    fn players_min(&self) -> usize {
        2
    }

    fn check_players(&self, players: usize) -> Result<(), String> {
        match players <= UntilSure::PLAYERS_MAX {
            true => Ok(()),
            false => Err(format!("{players} players: this format takes up to 100")),
        }
    }

    /// Nothing is known about players who enter late, so their matches say most.
    fn check_late_entry(&self, _: &Field<'_>) -> Result<(), &'static str> {
        Ok(())
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let is_in = |at: usize| !field.is_out(&order[at]);
        if field.rounds.is_empty() {
            let active: Vec<&PlayerName> =
                order.iter().filter(|player| !field.is_out(player)).collect();
            return match active.len() {
                0 | 1 => NextRound::Winners(active.into_iter().cloned().collect()),
                _ => first_round(&active, field.next_number()),
            };
        }
        let strengths = self.strengths(order, field);
        let ranking = strengths.ranking(is_in);
        let played: usize = field.rounds.iter().map(|round| round.matches.len()).sum();
        let risk = strengths.risk(&ranking, self.places as usize);
        let is_sure = risk <= 1.0 - f64::from(self.confidence) / 100.0;
        if ranking.len() < 2 || is_sure || played >= self.matches_max as usize {
            let winner = ranking.first().map(|at| order[*at].clone());
            return NextRound::Winners(winner.into_iter().collect());
        }
        let round = field.next_number();
        let pairs = strengths.most_telling(&ranking, self.places as usize);
        let drawn = pairs.iter().zip(1..).map(|(&(one, other), number)| {
            let sure = (strengths.superiority(one, other) * 100.0).round();
            DrawnMatch {
                id: MatchId::of(round, number),
                players: vec![order[one].clone(), order[other].clone()],
                reason: format!(
                    "{} is stronger than {} with {sure} % probability: their match tells most",
                    order[one], order[other]
                ),
            }
        });
        NextRound::Round(drawn.collect(), Vec::new())
    }

    /// Players who are still in come first. Then the estimated strength counts, in thousandths of
    /// an Elo point.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let players: Vec<PlayerName> =
            records.iter().map(|record| record.summary.player.clone()).collect();
        let strengths = self.strengths(&players, field);
        let strength = |at: usize| (strengths.elo(at) * 1_000.0).round() as i64;
        let merit =
            |(at, record): (usize, &PlayerRecord)| vec![i64::from(!record.is_out), strength(at)];
        records.iter().enumerate().map(merit).collect()
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        let value = |merit: &i64| TieBreakValue { by: "strength".into(), value: merit / 1_000 };
        merit.last().map(value).into_iter().collect()
    }

    fn matches_total(&self, players: usize, drawn: &[usize]) -> MatchCount {
        let matches = drawn.iter().sum::<usize>().max(players / 2);
        MatchCount { matches, is_exact: false }
    }
}

/// Everybody plays once: neighbours in order of seed.
fn first_round(active: &[&PlayerName], round: u32) -> NextRound {
    let pairs = active.chunks_exact(2);
    let byes = pairs.remainder().iter().map(|player| Bye {
        player: Some((*player).clone()),
        reason: format!("{} players: one sits out the first round", active.len()),
        walkover: None,
    });
    let byes = byes.collect();
    let drawn = pairs.zip(1..).map(|(pair, number)| DrawnMatch {
        id: MatchId::of(round, number),
        players: pair.iter().map(|player| (*player).clone()).collect(),
        reason: "nothing is known yet: everybody plays".into(),
    });
    NextRound::Round(drawn.collect(), byes)
}
