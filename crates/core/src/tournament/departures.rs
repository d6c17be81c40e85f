//! The players who have left a running tournament, and their places.

use super::{Phase, Tournament};
use crate::ids::PlayerName;
use std::collections::BTreeSet;

impl Tournament {
    /// The players who left and are not `known` to have left, each with their place. Each open
    /// match of a round counts as one player who goes on. Once the rounds are over, everybody has
    /// left, except players who still have to confirm the end.
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
        let (out, field) = (self.thrown_out(), self.field());
        let format = self.plan.policy.format.rules();
        let mut departed: Vec<(PlayerName, u32)> = Vec::new();
        for round in &self.state.rounds {
            let lost = format.eliminated(round, &field).into_iter();
            let news = lost.filter(|(player, _)| !known(player) && !out.contains(player));
            departed.extend(news.map(|(player, place)| (player.clone(), place)));
        }
        let out = out.into_iter().filter(|player| !known(player));
        departed.extend(out.map(|one| (one.clone(), format.place_of_leaver(one, &field))));
        departed
    }

    /// The place of a player who left; `None` for a player who is still in.
    pub fn departure(&self, player: &PlayerName) -> Option<u32> {
        if self.is_being_awarded() || self.asked_to_confirm().contains(player) {
            return None;
        }
        if self.rounds_are_over() {
            let mut standings = self.results().standings.into_iter();
            return standings.find(|summary| summary.player == *player).map(|own| own.rank);
        }
        let (format, field) = (self.plan.policy.format.rules(), self.field());
        if self.thrown_out().contains(player) {
            return Some(format.place_of_leaver(player, &field));
        }
        let mut lost = self.state.rounds.iter().flat_map(|round| format.eliminated(round, &field));
        lost.find(|(loser, _)| *loser == player).map(|(_, place)| place)
    }

    /// Returns whether open matches are being called off because the tournament was awarded.
    /// Players learn the winners after that.
    fn is_being_awarded(&self) -> bool {
        self.state.awarded.is_some() && !self.is_over()
    }

    pub(super) fn rounds_are_over(&self) -> bool {
        matches!(self.state.phase, Phase::Farewell(_) | Phase::Ended | Phase::Aborted(_))
    }

    /// The players who have not confirmed the end yet.
    fn asked_to_confirm(&self) -> BTreeSet<&PlayerName> {
        let Phase::Farewell(open) = &self.state.phase else { return BTreeSet::new() };
        let asked = self.state.entrants.iter().zip(open).filter(|(_, open)| **open);
        asked.map(|(entrant, _)| &entrant.player).collect()
    }

    /// The players who are out and in no open match.
    fn thrown_out(&self) -> BTreeSet<&PlayerName> {
        let playing =
            |player: &PlayerName| self.open_matches().any(|plan| plan.players.contains(player));
        let out = self.state.entrants.iter().filter(|entrant| entrant.out);
        out.map(|entrant| &entrant.player).filter(|player| !playing(player)).collect()
    }
}
