//! Bracket: single elimination over 2^m slots. Empty slots hold byes.
//!
//! The players fill the smallest bracket that holds them, so that everybody has at most one bye.
//! Slots beyond it hold only byes, and the winner of the smaller bracket beats them. A match for
//! third place can accompany the final.

use super::format::elimination;
use super::{
    DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat,
};
use crate::ids::{MatchId, PlayerName};
use crate::policy::{MatchRules, Pairing, Ties};
use crate::report::{Bye, MatchResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// Single elimination over a power of two of slots; empty slots are byes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bracket {
    /// How many slots, a power of two from 2 on; `None` is the fewest that hold everybody.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// True if the losers of the semi-finals play for third place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub third_place: bool,
}

impl TournamentFormat for Bracket {
    fn for_seats(_: RangeInclusive<usize>) -> Bracket {
        Bracket::default()
    }

    fn about(&self) -> &'static str {
        "Single elimination"
    }

    fn adapt(&self, rules: &mut MatchRules) {
        rules.ties = Ties::Replay;
        rules.confirm_result = false;
    }

    fn check(&self, rules: &MatchRules) -> Result<(), String> {
        match self.slots {
            Some(slots) if slots < 2 || !slots.is_power_of_two() || slots > 1 << 20 => {
                Err(format!("a bracket has 2, 4, 8 … slots, not {slots}"))
            }
            _ if rules.ties == Ties::Share => {
                Err("a bracket needs one winner a match: ties = \"replay\"".into())
            }
            _ => Ok(()),
        }
    }

    fn check_players(&self, players: usize) -> Result<(), String> {
        match self.slots {
            Some(slots) if (slots as usize) < players => Err(format!(
                "{players} players do not fit into {slots} slots; give more slots or leave the \
                 number open"
            )),
            _ => Ok(()),
        }
    }

    fn has_one_winner(&self) -> bool {
        true
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let first = slots(order, self.slots, field.pairing);
        let is_out = |player: &PlayerName| field.is_out(player);
        let rounds = first.len().ilog2() as usize;
        let mut next = next(first, is_out, field.rounds, field.rounds_before);
        let is_final = self.third_place && field.rounds.len() + 1 == rounds;
        if let (NextRound::Round(matches, byes), true) = (&mut next, is_final) {
            third_place(matches, byes, field);
        }
        next
    }

    fn merits(&self, records: &[PlayerRecord], field: &Field<'_>) -> Vec<Merit> {
        let semi_finals = self.third_place.then(|| semi_finals(field)).flatten();
        let merit = |record: &PlayerRecord| {
            let player = &record.summary.player;
            match semi_finals.filter(|at| field.rounds[*at].losers().any(|loser| loser == player)) {
                // The match for third place leads no further than the semi-final before it.
                Some(at) => {
                    vec![at as i64 + 1, third_place_merit(player, field.rounds.get(at + 1))]
                }
                None => elimination::merit(record),
            }
        };
        records.iter().map(merit).collect()
    }

    fn eliminated<'a>(&self, round: &'a Round, field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        let semi_finals = self.third_place.then(|| semi_finals(field)).flatten();
        let at = field.rounds.iter().position(|one| std::ptr::eq(one, round));
        match (at, semi_finals) {
            (Some(at), Some(semi_finals)) if at == semi_finals => Vec::new(),
            (Some(at), Some(semi_finals)) if at > semi_finals => final_places(round),
            _ => elimination::eliminated(round),
        }
    }

    fn place_of_leaver(&self, player: &PlayerName, field: &Field<'_>) -> u32 {
        elimination::place_of_loser(player, field).unwrap_or_else(|| field.place_behind_all())
    }

    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        let third = usize::from(self.third_place && players > 3);
        MatchCount { matches: players.saturating_sub(1) + third, is_exact: true }
    }
}

/// A player, or a bye.
pub(super) type Slot = Option<PlayerName>;

/// Adds the match for third place to the final. If only one loser of a semi-final is left, that
/// player is third without a match.
fn third_place(matches: &mut Vec<DrawnMatch>, byes: &mut Vec<Bye>, field: &Field<'_>) {
    let Some(semi_finals) = field.rounds.last() else { return };
    let losers: Vec<&PlayerName> =
        semi_finals.losers().filter(|player| !field.is_out(player)).collect();
    match losers[..] {
        [one, other] => matches.push(DrawnMatch {
            id: MatchId::of(field.next_number(), 2),
            players: vec![one.clone(), other.clone()],
            reason: "third place: the losers of the semi-finals".into(),
        }),
        [only] if !matches.is_empty() => byes.push(Bye {
            player: Some(only.clone()),
            reason: "third place: nobody else lost a semi-final and is still here".into(),
            walkover: None,
        }),
        _ => {}
    }
}

/// The index of the round of the semi-finals, which has two places for matches.
fn semi_finals(field: &Field<'_>) -> Option<usize> {
    field.rounds.iter().position(|round| round.matches.len() + round.byes.len() == 2)
}

/// How well a loser of a semi-final did in the last round: third, fourth, or not there.
fn third_place_merit(player: &PlayerName, last: Option<&Round>) -> i64 {
    let Some(last) = last else { return 0 };
    let won = last.results.iter().flatten().any(|result| result.winners.contains(player));
    let has_bye = last.byes.iter().any(|bye| bye.player.as_ref() == Some(player));
    let played = last.matches.iter().any(|plan| plan.players.contains(player));
    if won || has_bye { 2 } else { i64::from(played) }
}

/// The places of the losers of the final and of both players of the match for third place.
fn final_places(round: &Round) -> Vec<(&PlayerName, u32)> {
    let all = round.matches.iter().zip(&round.results);
    let places = all.filter_map(|(plan, result)| Some((plan, result.as_ref()?)));
    let places = places.flat_map(|(plan, result)| {
        let is_final = plan.id.as_str().ends_with("m1");
        plan.players.iter().filter_map(move |player| match result.winners.contains(player) {
            true if is_final => None,
            true => Some((player, 3)),
            false => Some((player, if is_final { 2 } else { 4 })),
        })
    });
    places.collect()
}

/// The slots of the first round for players in order of seed.
///
/// Seeded: seed 1 meets the last seed, and seeds 1 and 2 can meet only in the final; the highest
/// seeds get the byes. In order: neighbours meet, and the first players get the byes.
pub(super) fn slots(players: &[PlayerName], count: Option<u32>, pairing: Pairing) -> Vec<Slot> {
    let tight = players.len().next_power_of_two().max(2);
    let count = count.map_or(tight, |count| count as usize).max(tight);
    let mut slots: Vec<Slot> = match pairing {
        Pairing::Order => {
            let byes = tight - players.len();
            let with_bye = players[..byes.min(players.len())].iter();
            let with_bye = with_bye.flat_map(|player| [Some(player.clone()), None]);
            let without = players[byes.min(players.len())..].iter().cloned().map(Some);
            with_bye.chain(without).collect()
        }
        Pairing::Seeded | Pairing::Random | Pairing::Rating => {
            seeds(tight).into_iter().map(|seed| players.get(seed - 1).cloned()).collect()
        }
    };
    slots.resize(count, None);
    slots
}

/// The seeds from the top slot to the bottom one: 1, 8, 4, 5, 2, 7, 3, 6 for eight slots.
fn seeds(count: usize) -> Vec<usize> {
    let mut order = vec![1];
    while order.len() < count {
        let sum = order.len() * 2 + 1;
        order = order.into_iter().flat_map(|seed| [seed, sum - seed]).collect();
    }
    order
}

fn next(
    first: Vec<Slot>,
    is_out: impl Fn(&PlayerName) -> bool,
    rounds: &[Round],
    before: u32,
) -> NextRound {
    let total = first.len().ilog2();
    let players = first.iter().flatten().count();
    let mut slots = first.clone();
    for (at, round) in rounds.iter().enumerate() {
        slots = advance(&slots, before + at as u32 + 1, round);
    }
    for slot in &mut slots {
        if slot.as_ref().is_some_and(&is_out) {
            *slot = None;
        }
    }
    if let [winner] = &slots[..] {
        return NextRound::Winners(winner.iter().cloned().collect());
    }
    let round = rounds.len() as u32 + 1;
    let (mut pairings, mut byes) = (Vec::new(), Vec::new());
    for (at, pair) in slots.chunks_exact(2).enumerate() {
        let number = at as u32 + 1;
        match (&pair[0], &pair[1]) {
            (Some(one), Some(other)) => pairings.push(DrawnMatch {
                id: MatchId::of(before + round, number),
                players: vec![one.clone(), other.clone()],
                reason: pair_reason(round, total, number, at, &first, before),
            }),
            (None, None) => byes.push(Bye {
                player: None,
                reason: format!("slots {} and {} are empty", at * 2 + 1, at * 2 + 2),
                walkover: None,
            }),
            (Some(player), None) | (None, Some(player)) => byes.push(Bye {
                player: Some(player.clone()),
                reason: match round {
                    1 => format!(
                        "{players} players in {} slots: the slot beside {player} is empty",
                        first.len()
                    ),
                    _ => format!("no player advanced from the other side of round {}", round - 1),
                },
                walkover: None,
            }),
        }
    }
    NextRound::Round(pairings, byes)
}

fn pair_reason(
    round: u32,
    total: u32,
    number: u32,
    at: usize,
    first: &[Slot],
    before: u32,
) -> String {
    let stage = match total - round {
        0 => "the final".to_owned(),
        1 => format!("semi-final {number}"),
        2 => format!("quarter-final {number}"),
        _ => format!("round {round}, match {number}"),
    };
    if round == 1 {
        return format!("{stage}: slots {} and {} of {}", at * 2 + 1, at * 2 + 2, first.len());
    }
    let earlier = |number| MatchId::of(before + round - 1, number);
    let (one, other) = (earlier(number * 2 - 1), earlier(number * 2));
    format!("{stage}: the players who advanced from {one} and {other}")
}

/// The slots after a round. A player with a bye, or whose opponent dropped out, advances.
fn advance(slots: &[Slot], round: u32, played: &Round) -> Vec<Slot> {
    let ids = played.matches.iter().map(|plan| &plan.id);
    let results: HashMap<&MatchId, &Option<MatchResult>> = ids.zip(&played.results).collect();
    let byes: HashSet<&PlayerName> =
        played.byes.iter().filter_map(|bye| bye.player.as_ref()).collect();
    let pairs = slots.chunks_exact(2).enumerate();
    let winners = pairs.map(|(at, pair)| match results.get(&MatchId::of(round, at as u32 + 1)) {
        Some(result) => result.as_ref().and_then(|result| result.winners.first().cloned()),
        None => pair.iter().flatten().find(|player| byes.contains(player)).cloned(),
    });
    winners.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn players(count: usize) -> Vec<PlayerName> {
        (1..=count).map(|number| PlayerName::new(&number.to_string()).unwrap()).collect()
    }

    fn shown(slots: &[Slot]) -> String {
        let names = slots.iter().map(|slot| slot.as_ref().map_or("-", PlayerName::as_str));
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn seeds_meet_as_late_as_they_can() {
        let seeded = |count, slots_| shown(&slots(&players(count), slots_, Pairing::Seeded));
        assert_eq!(seeded(8, None), "1 8 4 5 2 7 3 6");
        assert_eq!(seeded(5, None), "1 - 4 5 2 - 3 -");
        assert_eq!(seeded(3, Some(8)), "1 - 2 3 - - - -");
        assert_eq!(seeded(1, None), "1 -");
    }

    #[test]
    fn in_order_neighbours_meet() {
        let order = |count| shown(&slots(&players(count), None, Pairing::Order));
        assert_eq!(order(4), "1 2 3 4");
        assert_eq!(order(5), "1 - 2 - 3 - 4 5");
        assert_eq!(order(7), "1 - 2 3 4 5 6 7");
    }

    #[test]
    fn every_pairing_and_bye_has_a_reason() {
        let first = slots(&players(5), Some(8), Pairing::Order);
        let NextRound::Round(pairings, byes) = next(first, |player| player.as_str() == "3", &[], 0)
        else {
            panic!("a round")
        };
        let pairings: Vec<String> =
            pairings.iter().map(|one| format!("{} {}", one.id, one.reason)).collect();
        assert_eq!(pairings, ["r1m4 quarter-final 4: slots 7 and 8 of 8"]);
        let byes: Vec<String> = byes.into_iter().map(|bye| bye.reason).collect();
        assert_eq!(
            byes,
            [
                "5 players in 8 slots: the slot beside 1 is empty",
                "5 players in 8 slots: the slot beside 2 is empty",
                "slots 5 and 6 are empty",
            ]
        );
    }

    #[test]
    fn rounds_have_names() {
        let first = slots(&players(16), None, Pairing::Order);
        let reason =
            |round: u32, number: u32| pair_reason(round, 4, number, number as usize - 1, &first, 0);
        assert_eq!(reason(1, 3), "round 1, match 3: slots 5 and 6 of 16");
        let advanced = "the players who advanced from";
        assert_eq!(reason(2, 4), format!("quarter-final 4: {advanced} r1m7 and r1m8"));
        assert_eq!(reason(3, 2), format!("semi-final 2: {advanced} r2m3 and r2m4"));
        assert_eq!(reason(4, 1), format!("the final: {advanced} r3m1 and r3m2"));
    }
}
