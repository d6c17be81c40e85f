//! The search of many players: exchanges of two players that help, and a walk that leaves local
//! optima by exchanges that do not.

use super::{REMATCH, Search};
use crate::matching::Cost;

/// How many exchanges a walk makes.
const STEPS: u32 = 1_500;

/// For how many steps a player does not return to a table; it varies, so that walks do not go in
/// circles.
const AWAY: u32 = 5;
const AWAY_VARIES: u32 = 7;

/// Two players who change places, or one who moves to a table with fewer players.
#[derive(Clone, Copy)]
struct Exchange {
    from: (usize, usize),
    to: (usize, Option<usize>),
}

impl Search {
    /// The cost of a player in a group, instead of `without`.
    fn share(&self, player: usize, group: usize, without: usize) -> Cost {
        if group + 1 == self.groups.len() {
            return self.idle[player];
        }
        let row = &self.pairs[player];
        let others = self.groups[group].iter().filter(|other| **other != without);
        others.map(|other| row[*other]).sum()
    }

    /// By how much an exchange lowers the cost.
    fn gain(&self, Exchange { from, to }: Exchange) -> Cost {
        let player = self.groups[from.0][from.1];
        let own = self.share(player, from.0, player);
        match to.1.map(|at| self.groups[to.0][at]) {
            None => own - self.share(player, to.0, player),
            Some(other) => {
                own + self.share(other, to.0, other)
                    - self.share(player, to.0, other)
                    - self.share(other, from.0, player)
            }
        }
    }

    fn exchange(&mut self, Exchange { from, to }: Exchange) {
        let player = self.groups[from.0][from.1];
        match to.1 {
            Some(at) => {
                self.groups[from.0][from.1] = std::mem::replace(&mut self.groups[to.0][at], player);
            }
            None => {
                self.groups[from.0].remove(from.1);
                self.groups[to.0].push(player);
            }
        }
    }

    /// The exchanges of one player with everybody in other groups.
    fn exchanges_of(&self, from: (usize, usize)) -> impl Iterator<Item = Exchange> {
        let idle = self.groups.len() - 1;
        let size = self.groups[from.0].len();
        (0..self.groups.len()).filter(move |group| *group != from.0).flat_map(move |group| {
            // A table that gives a player to a smaller one takes its size.
            let moves = from.0 != idle && group != idle && size == self.groups[group].len() + 1;
            let places = (0..self.groups[group].len()).map(Some).chain(moves.then_some(None));
            places.map(move |place| Exchange { from, to: (group, place) })
        })
    }

    fn places(&self) -> Vec<(usize, usize)> {
        let groups = self.groups.iter().enumerate();
        groups.flat_map(|(group, all)| (0..all.len()).map(move |at| (group, at))).collect()
    }

    /// Exchanges players while that lowers the cost.
    pub(super) fn descend(&mut self) {
        loop {
            let best = |from: (usize, usize)| {
                let gains = self.exchanges_of(from).map(|one| (self.gain(one), one));
                gains.filter(|(gain, _)| *gain > 0).max_by_key(|(gain, _)| *gain)
            };
            let Some((_, exchange)) =
                self.places().into_iter().filter_map(best).max_by_key(|(gain, _)| *gain)
            else {
                return;
            };
            self.exchange(exchange);
        }
    }

    /// Walks from division to division by the best exchange of a player who meets somebody again,
    /// also if it raises the cost. Ends with the best division on the way, or at once with one of
    /// `least` rematches.
    pub(super) fn wander(&mut self, least: Cost) {
        let count = self.names.len();
        let mut away_until = vec![vec![0; self.groups.len()]; count];
        let (mut total, mut best) = (self.total(&self.groups), self.groups.clone());
        let mut best_total = total;
        for step in 1..=STEPS {
            let mut chosen: Option<(Cost, Exchange)> = None;
            for from in self.places() {
                let player = self.groups[from.0][from.1];
                if self.share(player, from.0, player) < REMATCH {
                    continue;
                }
                for exchange in self.exchanges_of(from) {
                    let gain = self.gain(exchange);
                    let (group, place) = exchange.to;
                    let other = place.map(|at| self.groups[group][at]);
                    let is_away = away_until[player][group] > step
                        || other.is_some_and(|other| away_until[other][from.0] > step);
                    if is_away && total - gain >= best_total {
                        continue;
                    }
                    if chosen.is_none_or(|(most, _)| gain > most) {
                        chosen = Some((gain, exchange));
                    }
                }
            }
            let Some((gain, exchange)) = chosen else { break };
            let Exchange { from, to } = exchange;
            let until = step + AWAY + step % AWAY_VARIES;
            away_until[self.groups[from.0][from.1]][from.0] = until;
            if let Some(at) = to.1 {
                away_until[self.groups[to.0][at]][to.0] = until;
            }
            self.exchange(exchange);
            total -= gain;
            if total < best_total {
                (best_total, best) = (total, self.groups.clone());
                if self.rematches() <= least {
                    break;
                }
            }
        }
        self.groups = best;
        self.descend();
    }
}
