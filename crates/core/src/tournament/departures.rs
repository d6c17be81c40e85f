//! Who has left a tournament that goes on, and in which place.

use super::{Phase, Round, Tournament};
use crate::ids::PlayerName;
use crate::policy::Format;
use std::collections::BTreeSet;

impl Tournament {
    /// Who left and is not `known` to have, with the place it has. While other matches of its round
    /// are open, each is counted with one who goes on. Once the rounds are over that is everybody,
    /// with its rank; but who has to confirm the end is in the tournament until it has.
    pub fn departures(&self, known: impl Fn(&PlayerName) -> bool) -> Vec<(PlayerName, u32)> {
        if self.is_being_awarded() {
            return Vec::new();
        }
        if self.rounds_are_over() {
            let asked = self.asked_to_confirm();
            let standings = self.results().standings.into_iter();
            let news = standings
                .filter(|summary| !known(&summary.player) && !asked.contains(&summary.player));
            return news.map(|summary| (summary.player, summary.rank)).collect();
        }
        let out = self.thrown_out();
        let mut departed: Vec<(PlayerName, u32)> = Vec::new();
        if self.plan.policy.format != Format::RoundRobin {
            for round in &self.state.rounds {
                let place = place_after(round);
                let news = losers(round).filter(|player| !known(player) && !out.contains(player));
                departed.extend(news.map(|player| (player.clone(), place)));
            }
        }
        let out = out.into_iter().filter(|player| !known(player));
        departed.extend(out.map(|player| (player.clone(), self.place_out(player))));
        departed
    }

    /// The place of a player that left, if it did.
    pub fn departure(&self, player: &PlayerName) -> Option<u32> {
        if self.is_being_awarded() || self.asked_to_confirm().contains(player) {
            return None;
        }
        if self.rounds_are_over() {
            let mut standings = self.results().standings.into_iter();
            return standings.find(|summary| summary.player == *player).map(|own| own.rank);
        }
        if self.thrown_out().contains(player) {
            return Some(self.place_out(player));
        }
        let rounds = match self.plan.policy.format {
            Format::RoundRobin => &[][..],
            _ => &self.state.rounds[..],
        };
        rounds.iter().find(|round| losers(round).any(|loser| loser == player)).map(place_after)
    }

    /// Whether open matches are called off because the tournament was awarded: who won is told when
    /// they are.
    fn is_being_awarded(&self) -> bool {
        self.state.awarded.is_some() && !self.is_over()
    }

    fn rounds_are_over(&self) -> bool {
        matches!(self.state.phase, Phase::Farewell(_) | Phase::Ended | Phase::Aborted(_))
    }

    /// Who has not confirmed the end yet.
    fn asked_to_confirm(&self) -> BTreeSet<&PlayerName> {
        let Phase::Farewell(open) = &self.state.phase else { return BTreeSet::new() };
        let asked = self.state.entrants.iter().zip(open).filter(|(_, open)| **open);
        asked.map(|(entrant, _)| &entrant.player).collect()
    }

    /// Who is out and in no match that still runs.
    fn thrown_out(&self) -> BTreeSet<&PlayerName> {
        let playing =
            |player: &PlayerName| self.open_matches().any(|plan| plan.players.contains(player));
        let out = self.state.entrants.iter().filter(|entrant| entrant.out);
        out.map(|entrant| &entrant.player).filter(|player| !playing(player)).collect()
    }

    /// The place of who was thrown out: that of the round it lost in, in a bracket; otherwise
    /// behind everybody who is not.
    fn place_out(&self, player: &PlayerName) -> u32 {
        let lost = self.state.rounds.iter().find(|round| losers(round).any(|one| one == player));
        match (&self.plan.policy.format, lost) {
            (Format::Bracket { .. }, Some(round)) => place_after(round),
            _ => 1 + self.state.entrants.iter().filter(|entrant| !entrant.out).count() as u32,
        }
    }
}

/// Who played in a round and does not go on.
fn losers(round: &Round) -> impl Iterator<Item = &PlayerName> {
    let reported = round.matches.iter().zip(&round.results);
    reported.filter_map(|(plan, result)| Some((plan, result.as_ref()?))).flat_map(
        |(plan, result)| plan.players.iter().filter(|player| !result.winners.contains(player)),
    )
}

/// The place of who loses in a round: behind all who go on.
fn place_after(round: &Round) -> u32 {
    let byes = round.byes.iter().filter(|bye| bye.player.is_some()).count();
    let winners = round.results.iter().map(|result| match result {
        Some(result) => result.winners.len(),
        None => 1,
    });
    1 + (byes + winners.sum::<usize>()) as u32
}
