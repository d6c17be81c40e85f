//! Double elimination: a player is out after the second loss.
//!
//! The players begin in the winners' bracket, a bracket as in `bracket.rs`. A player who loses there
//! moves to the losers' bracket. The winners of both brackets meet in the final. If the player from
//! the losers' bracket wins it, both have one loss, and a second final decides (the reset).
//!
//! With 2^m slots, round r has round r of the winners' bracket (r ≤ m) and round r - 1 of the
//! losers' bracket (2 ≤ r ≤ 2m - 1). The final is round 2m.

use super::bracket::{Slot, slots};
use super::format::elimination;
use super::{
    DrawnMatch, Field, MatchCount, Merit, NextRound, PlayerRecord, Round, TournamentFormat,
};
use crate::ids::{MatchId, PlayerName};
use crate::policy::{MatchRules, Ties};
use crate::report::Bye;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A player is out after the second loss.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoubleElimination {
    /// True if a second final is played if the player from the losers' bracket wins the first.
    #[serde(default = "yes")]
    pub reset: bool,
}

fn yes() -> bool {
    true
}

impl TournamentFormat for DoubleElimination {
    fn for_seats(_: RangeInclusive<usize>) -> DoubleElimination {
        DoubleElimination { reset: true }
    }

    fn about(&self) -> &'static str {
        "A player is out after the second loss"
    }

    fn adapt(&self, rules: &mut MatchRules) {
        rules.ties = Ties::Replay;
        rules.confirm_result = false;
    }

    fn check(&self, rules: &MatchRules) -> Result<(), String> {
        match rules.ties {
            Ties::Share => {
                Err("a double elimination needs one winner a match: ties = \"replay\"".into())
            }
            Ties::Replay => Ok(()),
        }
    }

    fn has_one_winner(&self) -> bool {
        true
    }

    fn next_round(&self, order: &[PlayerName], field: &Field<'_>) -> NextRound {
        let mut brackets = Brackets::new(slots(order, None, field.pairing), self.reset);
        for round in field.rounds {
            let due = brackets.due(field.rounds_before);
            brackets.advance(&due, round);
        }
        brackets.leave(|player| field.is_out(player));
        brackets.draw(field.rounds_before)
    }

    fn merits(&self, records: &[PlayerRecord], _: &Field<'_>) -> Vec<Merit> {
        records.iter().map(elimination::merit).collect()
    }

    fn eliminated<'a>(&self, round: &'a Round, field: &Field<'a>) -> Vec<(&'a PlayerName, u32)> {
        let at = field.rounds.iter().position(|one| std::ptr::eq(one, round));
        let so_far = &field.rounds[..=at.unwrap_or(field.rounds.len() - 1)];
        let out: Vec<&PlayerName> =
            round.losers().filter(|player| losses(player, so_far) >= 2).collect();
        let left = field.players.iter().filter(|player| losses(player, so_far) < 2).count();
        out.into_iter().map(|player| (player, left as u32 + 1)).collect()
    }

    fn place_of_leaver(&self, player: &PlayerName, field: &Field<'_>) -> u32 {
        let lost = field.rounds.iter().flat_map(|round| self.eliminated(round, field));
        let place = lost.into_iter().find(|(loser, _)| *loser == player).map(|(_, place)| place);
        place.unwrap_or_else(|| field.place_behind_all())
    }

    /// Everybody but the winner loses twice. The winner loses once if there is a second final.
    fn matches_total(&self, players: usize, _: &[usize]) -> MatchCount {
        MatchCount { matches: (players * 2).saturating_sub(2), is_exact: false }
    }
}

fn losses(player: &PlayerName, rounds: &[Round]) -> usize {
    rounds.iter().flat_map(Round::losers).filter(|loser| *loser == player).count()
}

/// One place for a match: two slots, and where they come from.
#[derive(Clone)]
struct Due {
    id: MatchId,
    slots: [Slot; 2],
    part: Part,
    reason: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Winners,
    Losers,
    Final,
}

/// Both brackets between two rounds.
struct Brackets {
    reset: bool,
    /// How often the number of slots can be halved.
    depth: u32,
    /// The number of the next round, from 1.
    round: u32,
    /// The slots of the winners' bracket that are still to play; one after its last round.
    winners: Vec<Slot>,
    /// The slots of the losers' bracket.
    losers: Vec<Slot>,
    /// The losers of each round of the winners' bracket so far.
    fallen: Vec<Vec<Slot>>,
    /// The winner of the tournament, once it is decided; the slot may be empty.
    champion: Option<Slot>,
    /// True if the latest final was won from the losers' bracket, so that another one follows.
    is_reset: bool,
}

impl Brackets {
    fn new(first: Vec<Slot>, reset: bool) -> Brackets {
        let depth = first.len().ilog2();
        let (losers, fallen) = (Vec::new(), Vec::new());
        let (champion, is_reset) = (None, false);
        Brackets { reset, depth, round: 1, winners: first, losers, fallen, champion, is_reset }
    }

    /// The places for matches of the next round.
    fn due(&self, before: u32) -> Vec<Due> {
        let mut all = Vec::new();
        let mut add = |part, slots: &[Slot], reason: String| {
            let id = MatchId::of(before + self.round, all.len() as u32 + 1);
            let slots = [slots[0].clone(), slots[1].clone()];
            all.push(Due { id, slots, part, reason });
        };
        if self.round > self.depth * 2 - 1 {
            let pair = [self.winners[0].clone(), self.losers_left()];
            let reason = match self.is_reset {
                false => "the final: the winners of both brackets",
                true => "the second final: both players have lost once",
            };
            add(Part::Final, &pair, reason.into());
            return all;
        }
        if self.round <= self.depth {
            let count = self.winners.len() / 2;
            let name = match count {
                1 => "the final of the winners' bracket".to_owned(),
                _ => format!("winners' bracket, round {}", self.round),
            };
            for (at, pair) in self.winners.chunks_exact(2).enumerate() {
                let why = match self.round {
                    1 => format!("{name}: slots {} and {}", at * 2 + 1, at * 2 + 2),
                    _ => format!("{name}: two players without a loss"),
                };
                add(Part::Winners, pair, why);
            }
        }
        let entrants = self.losers_due();
        let name = match entrants.len() {
            2 if self.round == self.depth * 2 - 1 => "the final of the losers' bracket".to_owned(),
            _ => format!("losers' bracket, round {}", self.round.saturating_sub(1)),
        };
        for pair in entrants.chunks_exact(2) {
            add(Part::Losers, pair, format!("{name}: two players with one loss"));
        }
        all
    }

    /// The slots of the losers' bracket for the next round. In its first round, and in every second
    /// one after it, players who lost in the winners' bracket enter.
    fn losers_due(&self) -> Vec<Slot> {
        match self.round {
            1 => Vec::new(),
            2 => self.fallen_in(1),
            round if round % 2 == 1 => {
                // Every second time from the other end, so that rematches come late.
                let mut fallen = self.fallen_in(round.div_ceil(2));
                if round % 4 == 3 {
                    fallen.reverse();
                }
                let pairs = self.losers.iter().cloned().zip(fallen);
                pairs.flat_map(|(stayed, fell)| [stayed, fell]).collect()
            }
            _ => self.losers.clone(),
        }
    }

    /// The losers of a round of the winners' bracket. Late rounds of a large one are played before
    /// the losers' bracket has places for their losers, who wait.
    fn fallen_in(&self, round: u32) -> Vec<Slot> {
        self.fallen.get(round as usize - 1).cloned().unwrap_or_default()
    }

    /// The winner of the losers' bracket.
    fn losers_left(&self) -> Slot {
        match self.depth {
            // With two slots nobody plays in the losers' bracket.
            1 => self.fallen_in(1).into_iter().next().flatten(),
            _ => self.losers.first().cloned().flatten(),
        }
    }

    /// Takes the results of a round.
    fn advance(&mut self, due: &[Due], played: &Round) {
        let (mut winners, mut losers, mut fallen) = (Vec::new(), Vec::new(), Vec::new());
        for place in due {
            let [winner, loser] = outcome(place, played);
            match place.part {
                Part::Winners => {
                    winners.push(winner);
                    fallen.push(loser);
                }
                Part::Losers => losers.push(winner),
                Part::Final => self.finish(place, winner, loser),
            }
        }
        let is_final = due.iter().any(|place| place.part == Part::Final);
        if is_final {
            self.round += 1;
            return;
        }
        // Players who fell in this round enter the losers' bracket in the next one at the earliest.
        let entered = self.round == 2 || self.round % 2 == 1;
        if !losers.is_empty() || entered {
            self.losers = losers;
        }
        if self.round <= self.depth {
            self.winners = winners;
            self.fallen.push(fallen);
        }
        self.round += 1;
    }

    fn finish(&mut self, place: &Due, winner: Slot, loser: Slot) {
        let from_losers = winner.is_some() && winner == place.slots[1];
        if from_losers && loser.is_some() && self.reset && !self.is_reset {
            self.is_reset = true;
            return;
        }
        self.champion = Some(winner);
    }

    /// Empties the slots of players who are out.
    fn leave(&mut self, is_out: impl Fn(&PlayerName) -> bool) {
        let fallen = self.fallen.iter_mut().flatten();
        let all = self.winners.iter_mut().chain(&mut self.losers).chain(fallen);
        for slot in all {
            if slot.as_ref().is_some_and(&is_out) {
                *slot = None;
            }
        }
        if let Some(champion) = &mut self.champion
            && champion.as_ref().is_some_and(&is_out)
        {
            *champion = None;
        }
    }

    fn draw(&self, before: u32) -> NextRound {
        if let Some(champion) = &self.champion {
            return NextRound::Winners(champion.iter().cloned().collect());
        }
        let (mut matches, mut byes) = (Vec::new(), Vec::new());
        for Due { id, slots, part, reason } in self.due(before) {
            match slots {
                [Some(one), Some(other)] => {
                    matches.push(DrawnMatch { id, players: vec![one, other], reason });
                }
                [None, None] => {}
                [Some(player), None] | [None, Some(player)] => {
                    let why = match (part, self.round) {
                        (Part::Winners, 1) => format!("the slot beside {player} is empty"),
                        (Part::Final, _) => "no player advanced from the other bracket".to_owned(),
                        _ => "no player advanced from the other side".to_owned(),
                    };
                    let (stage, _) = reason.split_once(':').unwrap_or((&reason, ""));
                    let reason = format!("{stage}: {why}");
                    byes.push(Bye { player: Some(player), reason, walkover: None });
                }
            }
        }
        NextRound::Round(matches, byes)
    }
}

/// The winner and the loser of a place. A player with a bye advances, and nobody loses. Both
/// players of a match without a winner are out.
fn outcome(place: &Due, played: &Round) -> [Slot; 2] {
    let Some(at) = played.place(&place.id) else {
        let has_bye = |player: &&PlayerName| {
            played.byes.iter().any(|bye| bye.player.as_ref() == Some(player))
        };
        return [place.slots.iter().flatten().find(has_bye).cloned(), None];
    };
    let winner = played.results[at].as_ref().and_then(|result| result.winners.first());
    let loser = winner
        .and_then(|winner| played.matches[at].players.iter().find(|player| *player != winner));
    [winner.cloned(), loser.cloned()]
}
