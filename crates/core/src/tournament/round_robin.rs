//! Round-robin: everybody meets everybody once, or several times, by the circle method.
//!
//! The first player stays, and the others move on by one place each round. With an odd number of
//! players, one sits out each round. A player who is out loses their remaining matches without
//! playing. In every second cycle the players of a match exchange seats.

use super::scores::{self, TieBreak};
use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::ids::{MatchId, PlayerName};
use crate::policy::MatchRules;
use crate::report::{Bye, TieBreakValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Everybody meets everybody.
// Unknown options are ignored here, because earlier versions accepted them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RoundRobin {
    /// How often everybody meets everybody.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub cycles: u32,
    /// The tie-breaks between players with equal scores, in order. If there are none, games won
    /// and then points in games decide.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tie_breaks: Vec<TieBreak>,
}

pub(super) fn once() -> u32 {
    1
}

pub(super) fn is_once(cycles: &u32) -> bool {
    *cycles == 1
}

/// The most cycles.
const CYCLES_MAX: u32 = 1_000;

/// Checks a number of cycles.
pub(super) fn check_cycles(cycles: u32) -> Result<(), String> {
    match (1..=CYCLES_MAX).contains(&cycles) {
        true => Ok(()),
        false => Err(format!("everybody meets 1 to {CYCLES_MAX} times, not {cycles}")),
    }
}

impl Default for RoundRobin {
    fn default() -> RoundRobin {
        RoundRobin { cycles: 1, tie_breaks: Vec::new() }
    }
}

impl TournamentFormat for RoundRobin {
    fn for_seats(_: RangeInclusive<usize>) -> RoundRobin {
        RoundRobin::default()
    }

    fn about(&self) -> &'static str {
        "Everybody meets everybody"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        check_cycles(self.cycles)?;
        scores::check(&self.tie_breaks)
    }

    fn players_min(&self) -> usize {
        2
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let (played, number) = (field.rounds.len(), field.next_number());
        let round = next(order, |player| field.is_out(player), played, self.cycles, number);
        let round = round.map(|(matches, byes)| NextRound::Round(matches, byes));
        round.unwrap_or_else(|| NextRound::Winners(field.leaders(self)))
    }

    /// Two points for a match won and one for a draw. Then the tie-breaks decide, or games won and
    /// points in games.
    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        if !self.tie_breaks.is_empty() {
            return scores::merits(records, field, &self.tie_breaks);
        }
        let merit = |PlayerRecord { summary, .. }: &PlayerRecord| {
            let points = summary.matches_won * 2 + summary.matches_drawn;
            vec![points.into(), summary.games_won.into(), summary.points]
        };
        records.iter().map(merit).collect()
    }

    fn measures_luck(&self) -> bool {
        self.tie_breaks.contains(&TieBreak::LuckAdjusted)
    }

    fn shown(&self, merit: &[i64]) -> Vec<TieBreakValue> {
        match self.tie_breaks.is_empty() {
            true => Vec::new(),
            false => scores::shown(merit, &self.tie_breaks),
        }
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        let once = players * players.saturating_sub(1) / 2;
        MatchCount { matches: once * self.cycles as usize, is_exact: true }
    }
}

/// The pairs of a round, by index into the list of players. A player paired with `None` sits out.
fn pairs(players: usize, round: usize) -> Vec<(usize, Option<usize>)> {
    let places = players + players % 2;
    let at = |place: usize| match place {
        0 => 0,
        _ => (place - 1 + round) % (places - 1) + 1,
    };
    let real = |index: usize| (index < players).then_some(index);
    let pairs =
        (0..places / 2).filter_map(|row| match (real(at(row)), real(at(places - 1 - row))) {
            (Some(one), Some(other)) => Some((one.min(other), Some(one.max(other)))),
            (Some(one), None) | (None, Some(one)) => Some((one, None)),
            (None, None) => None,
        });
    pairs.collect()
}

/// The number of rounds.
pub(super) fn rounds(players: usize) -> usize {
    if players < 2 { 0 } else { players + players % 2 - 1 }
}

/// The matches and byes of a round; `None` after the last round. `number` is the number of the
/// round in the tournament, and `played` how many rounds were played of these cycles.
pub(super) fn next(
    players: &[PlayerName],
    is_out: impl Fn(&PlayerName) -> bool,
    played: usize,
    cycles: u32,
    number: u32,
) -> Option<(Vec<DrawnMatch>, Vec<Bye>)> {
    let total = rounds(players.len());
    if played >= total * cycles as usize {
        return None;
    }
    let (cycle, round) = (played / total, played % total);
    let reason = match cycles {
        1 => format!("everybody meets everybody: round {} of {total}", round + 1),
        _ => format!(
            "everybody meets everybody: cycle {} of {cycles}, round {} of {total}",
            cycle + 1,
            round + 1
        ),
    };
    let (mut pairings, mut byes) = (Vec::new(), Vec::new());
    for (one, other) in pairs(players.len(), round) {
        let one = &players[one];
        let Some(other) = other.map(|other| &players[other]) else {
            let reason = format!("{} players: one sits out each round", players.len());
            byes.push(Bye { player: Some(one.clone()), reason, walkover: None });
            continue;
        };
        match (is_out(one), is_out(other)) {
            (false, false) => {
                let mut players = vec![one.clone(), other.clone()];
                if cycle % 2 == 1 {
                    players.reverse();
                }
                let id = MatchId::of(number, pairings.len() as u32 + 1);
                pairings.push(DrawnMatch { id, players, reason: reason.clone() });
            }
            (true, true) => {}
            (out, _) => {
                let (winner, loser) = if out { (other, one) } else { (one, other) };
                let reason = format!("{loser} is out of the tournament");
                let walkover = Some(loser.clone());
                byes.push(Bye { player: Some(winner.clone()), reason, walkover });
            }
        }
    }
    Some((pairings, byes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn everybody_meets_everybody_once_and_sits_out_at_most_once() {
        for players in 2..20 {
            let mut met = BTreeSet::new();
            let mut sat_out = BTreeSet::new();
            for round in 0..rounds(players) {
                let mut busy = BTreeSet::new();
                for (one, other) in pairs(players, round) {
                    assert!(busy.insert(one));
                    match other {
                        Some(other) => {
                            assert!(busy.insert(other));
                            assert!(met.insert((one, other)), "{one} and {other} meet twice");
                        }
                        None => assert!(sat_out.insert(one), "{one} sits out twice"),
                    }
                }
                assert_eq!(busy.len(), players);
            }
            assert_eq!(met.len(), players * (players - 1) / 2);
        }
    }

    #[test]
    fn the_first_stays_and_the_others_move_on() {
        let met = |other: usize| Some(other);
        assert_eq!(pairs(4, 0), [(0, met(3)), (1, met(2))]);
        assert_eq!(pairs(4, 1), [(0, met(1)), (2, met(3))]);
        assert_eq!(pairs(4, 2), [(0, met(2)), (1, met(3))]);
        assert_eq!(pairs(3, 0), [(0, None), (1, met(2))]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(rounds), [0, 0, 1, 3, 3, 5]);
    }

    #[test]
    fn players_who_are_out_lose_without_playing() {
        let players: Vec<PlayerName> =
            ["a", "b", "c", "d", "e"].iter().map(|name| PlayerName::new(name).unwrap()).collect();
        let shown = |out: &str, played: usize| {
            let is_out = |player: &PlayerName| out.contains(player.as_str());
            let number = played as u32 + 1;
            let Some((pairings, byes)) = next(&players, is_out, played, 1, number) else {
                return Vec::new();
            };
            let pairings = pairings.into_iter().map(|one| {
                format!("{} {}-{}: {}", one.id, one.players[0], one.players[1], one.reason)
            });
            let byes = byes.into_iter().map(|bye| {
                let over = bye.walkover.map_or(String::new(), |loser| format!(" over {loser}"));
                format!("{}{over}: {}", bye.player.unwrap(), bye.reason)
            });
            pairings.chain(byes).collect::<Vec<String>>()
        };
        let why = "everybody meets everybody: round 1 of 5";
        let sits_out = "a: 5 players: one sits out each round";
        let first = [format!("r1m1 b-e: {why}"), format!("r1m2 c-d: {why}"), sits_out.into()];
        assert_eq!(shown("", 0), first);
        let over = "c over d: d is out of the tournament";
        assert_eq!(shown("d", 0), [format!("r1m1 b-e: {why}"), sits_out.into(), over.into()]);
        let over = "d over c: c is out of the tournament";
        assert_eq!(shown("cbe", 0), [sits_out, over]);
        assert_eq!(shown("", 5), [""; 0]);
    }
}
