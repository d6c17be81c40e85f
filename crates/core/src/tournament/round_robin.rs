//! Round-robin: everybody meets everybody once, by the circle method.
//!
//! The first player stays, and the others move on by one place each round. With an odd number of
//! players, one sits out each round. A player who is out loses their remaining matches without
//! playing.

use super::{DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, TournamentFormat};
use crate::ids::{MatchId, PlayerName};
use crate::policy::MatchRules;
use crate::report::Bye;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Everybody meets everybody once.
// Unknown options are ignored here, because earlier versions accepted them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct RoundRobin {}

impl TournamentFormat for RoundRobin {
    fn for_seats(_: RangeInclusive<usize>) -> RoundRobin {
        RoundRobin {}
    }

    fn about(&self) -> &'static str {
        "Everybody meets everybody"
    }

    fn check(&self, _: &MatchRules) -> Result<(), String> {
        Ok(())
    }

    fn players_min(&self) -> usize {
        2
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let round = next(order, |player| field.is_out(player), field.rounds.len());
        round.unwrap_or_else(|| NextRound::Winners(field.leaders(self)))
    }

    /// Two points for a match won and one for a draw, then games won, then points in games.
    fn merits(&self, records: &[PlayerRecord], _: &Field<'_>) -> Vec<Merit> {
        let merit = |PlayerRecord { summary, .. }: &PlayerRecord| {
            let points = summary.matches_won * 2 + summary.matches_drawn;
            vec![points.into(), summary.games_won.into(), summary.points]
        };
        records.iter().map(merit).collect()
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        MatchCount { matches: players * players.saturating_sub(1) / 2, is_exact: true }
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
fn rounds(players: usize) -> usize {
    if players < 2 { 0 } else { players + players % 2 - 1 }
}

fn next(
    players: &[PlayerName],
    is_out: impl Fn(&PlayerName) -> bool,
    played: usize,
) -> Option<NextRound> {
    let total = rounds(players.len());
    if played >= total {
        return None;
    }
    let round = played as u32 + 1;
    let (mut pairings, mut byes) = (Vec::new(), Vec::new());
    for (one, other) in pairs(players.len(), played) {
        let one = &players[one];
        let Some(other) = other.map(|other| &players[other]) else {
            let reason = format!("{} players: one sits out each round", players.len());
            byes.push(Bye { player: Some(one.clone()), reason, walkover: None });
            continue;
        };
        match (is_out(one), is_out(other)) {
            (false, false) => pairings.push(DrawnMatch {
                id: MatchId::of(round, pairings.len() as u32 + 1),
                players: vec![one.clone(), other.clone()],
                reason: format!("everybody meets everybody: round {round} of {total}"),
            }),
            (true, true) => {}
            (out, _) => {
                let (winner, loser) = if out { (other, one) } else { (one, other) };
                let reason = format!("{loser} is out of the tournament");
                let walkover = Some(loser.clone());
                byes.push(Bye { player: Some(winner.clone()), reason, walkover });
            }
        }
    }
    Some(NextRound::Round(pairings, byes))
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
            let Some(NextRound::Round(pairings, byes)) =
                next(&players, |player| out.contains(player.as_str()), played)
            else {
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
