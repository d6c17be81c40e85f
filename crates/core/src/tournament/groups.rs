//! Groups: a round-robin in each of several groups, all at the same time.
//!
//! The players are dealt to the groups by seed, back and forth: with three groups, seeds 1 to 3
//! open groups A to C, seeds 4 to 6 follow in groups C to A, and so on. The winners of the groups
//! win. As a stage, the groups send their first-placed players on, then the second-placed ones.

use super::round_robin;
use super::scores::{self, TieBreak};
use super::swiss::usual_tie_breaks;
use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::ids::{MatchId, PlayerName};
use crate::policy::MatchRules;
use crate::report::{Bye, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// A round-robin in each of several groups.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// How many players a group has at most; three instead of two if one would be alone.
    #[serde(default = "four")]
    pub size: u32,
    /// How often everybody meets everybody in a group.
    #[serde(default = "round_robin::once", skip_serializing_if = "round_robin::is_once")]
    pub cycles: u32,
    /// The tie-breaks between players of a group with equal scores, in order.
    #[serde(default = "usual_tie_breaks")]
    pub tie_breaks: Vec<TieBreak>,
}

fn four() -> u32 {
    4
}

impl Default for Groups {
    fn default() -> Groups {
        Groups { size: four(), cycles: 1, tie_breaks: usual_tie_breaks() }
    }
}

impl TournamentFormat for Groups {
    fn for_seats(_: RangeInclusive<usize>) -> Groups {
        Groups::default()
    }

    fn about(&self) -> &'static str {
        "Everybody meets everybody in groups; the winners of the groups win"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        if !(2..=1_000).contains(&self.size) {
            return Err(format!("a group has 2 to 1000 players, not {}", self.size));
        }
        round_robin::check_cycles(self.cycles)?;
        scores::check(&self.tie_breaks)
    }

    fn players_min(&self) -> usize {
        2
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let (mut matches, mut byes) = (Vec::new(), Vec::new());
        let mut is_over = true;
        for (at, group) in self.deal(order).iter().enumerate() {
            let is_out = |player: &PlayerName| field.is_out(player);
            let (played, number) = (field.rounds.len(), field.next_number());
            let round = round_robin::next(group, is_out, played, self.cycles, number);
            let Some((drawn, idle)) = round else { continue };
            is_over = false;
            let name = group_name(at);
            for one in drawn {
                let id = MatchId::of(number, matches.len() as u32 + 1);
                matches.push(DrawnMatch { id, reason: format!("{name}: {}", one.reason), ..one });
            }
            byes.extend(
                idle.into_iter()
                    .map(|bye| Bye { reason: format!("{name}: {}", bye.reason), ..bye }),
            );
        }
        match is_over {
            true => NextRound::Winners(self.winners(order, field)),
            false => NextRound::Round(matches, byes),
        }
    }

    /// The place in the group first, then the score and the tie-breaks.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let merits = scores::merits(records, field, &self.tie_breaks);
        let groups = groups_met(field);
        let group = |record: &PlayerRecord| groups.get(&record.summary.player);
        let place = |at: usize| match group(&records[at]) {
            None => i64::MIN,
            own => {
                let others = records.iter().zip(&merits).filter(|(other, _)| group(other) == own);
                -(others.filter(|(_, merit)| **merit > merits[at]).count() as i64)
            }
        };
        let places: Vec<i64> = (0..records.len()).map(place).collect();
        let with_place = merits.into_iter().zip(places).map(|(mut merit, place)| {
            merit.insert(0, place);
            merit
        });
        with_place.collect()
    }

    fn measures_luck(&self) -> bool {
        self.tie_breaks.contains(&TieBreak::LuckAdjusted)
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        let Some((place, rest)) = merit.split_first() else { return Vec::new() };
        let place = place
            .checked_neg()
            .map(|behind| TieBreakValue { by: "place-in-group".into(), value: behind + 1 });
        place.into_iter().chain(scores::shown(rest, &self.tie_breaks)).collect()
    }

    /// Players with the same place follow in the order of their groups' winners. So the bracket of a
    /// next stage does not pair players of one group at once.
    fn reorder_advancing(&self, ranked: &mut [PlayerName], field: &Field<'_>) {
        let groups = groups_met(field);
        let mut seen: Vec<Option<usize>> = Vec::new();
        let mut places: HashMap<PlayerName, (usize, usize)> = HashMap::new();
        for player in ranked.iter() {
            let group = groups.get(player).copied();
            let before = seen.iter().filter(|one| **one == group).count();
            seen.push(group);
            let first = seen.iter().position(|one| *one == group).unwrap_or(seen.len());
            places.insert(player.clone(), (before, first));
        }
        ranked.sort_by_key(|player| places.get(player).copied());
    }

    /// Two of each group.
    fn advancing_count(&self, players: usize) -> usize {
        2 * self.count(players)
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        let sizes = self.sizes(players);
        let once: usize = sizes.iter().map(|size| size * size.saturating_sub(1) / 2).sum();
        MatchCount { matches: once * self.cycles as usize, is_exact: true }
    }
}

/// The name of a group: A to Z, then numbers.
fn group_name(at: usize) -> String {
    match u8::try_from(at).ok().filter(|at| *at < 26) {
        Some(at) => format!("group {}", char::from(b'A' + at)),
        None => format!("group {}", at + 1),
    }
}

impl Groups {
    /// The number of groups: as few as hold everybody, and no group of one player.
    fn count(&self, players: usize) -> usize {
        players.div_ceil(self.size as usize).min(players / 2).max(1)
    }

    /// The players of each group.
    fn deal(&self, order: &[PlayerName]) -> Vec<Vec<PlayerName>> {
        let count = self.count(order.len());
        let mut groups = vec![Vec::new(); count];
        for (at, player) in order.iter().enumerate() {
            let (row, column) = (at / count, at % count);
            let group = if row.is_multiple_of(2) { column } else { count - 1 - column };
            groups[group].push(player.clone());
        }
        groups
    }

    fn sizes(&self, players: usize) -> Vec<usize> {
        let count = self.count(players);
        (0..count).map(|group| players / count + usize::from(group < players % count)).collect()
    }

    /// The best player of each group who is still in; several if they are equal.
    fn winners(&self, order: &[PlayerName], field: &Field<'_>) -> Vec<PlayerName> {
        let records = field.records();
        let merits = self.merits(&records, field);
        let by_player: HashMap<&PlayerName, &Merit> =
            records.iter().map(|record| &record.summary.player).zip(&merits).collect();
        let best = |group: &Vec<PlayerName>| {
            let left: Vec<&PlayerName> =
                group.iter().filter(|player| !field.is_out(player)).collect();
            let most = left.iter().filter_map(|player| by_player.get(player)).max();
            let best = left.iter().filter(|player| by_player.get(*player) == most);
            best.map(|player| (*player).clone()).collect::<Vec<_>>()
        };
        self.deal(order).iter().flat_map(best).collect()
    }
}

/// A number for the group of each player who has met somebody: players who met, directly or over
/// others, are in one group.
fn groups_met<'a>(field: &Field<'a>) -> HashMap<&'a PlayerName, usize> {
    let mut groups: HashMap<&PlayerName, usize> = HashMap::new();
    let mut join = |players: &[&'a PlayerName]| {
        let known: Vec<usize> = players.iter().filter_map(|one| groups.get(one).copied()).collect();
        let group = known.first().copied().unwrap_or(groups.len());
        groups.values_mut().filter(|one| known.contains(one)).for_each(|one| *one = group);
        groups.extend(players.iter().map(|player| (*player, group)));
    };
    for round in field.rounds {
        round.matches.iter().for_each(|plan| join(&plan.players.iter().collect::<Vec<_>>()));
        for bye in &round.byes {
            if let (Some(winner), Some(loser)) = (&bye.player, &bye.walkover) {
                join(&[winner, loser]);
            }
        }
    }
    groups
}
