//! Duplicate games: groups of games with the same luck, in which every player takes every seat once.
//!
//! Game `k` of a group (from 0) has the secret, the number and the nonces of the group's first game
//! for its luck, and the players move on by `k` seats. The log reveals the secret only after the
//! group's last game, or when the match ends or restarts before it. Groups are counted from the
//! latest restart. A group in which a game is void does not count, and another takes its place.

use super::step::Record;
use super::{Finished, Match, Rejection};
use crate::fair::Secret;
use crate::policy::Ties;
use crate::report::{GameEnd, How};
use agon_stats::{PairCounts, SprtState, SprtVerdict};
use std::sync::Arc;

impl Match {
    /// The results of duplicate pairs so far, from the view of the first player of the match.
    pub fn pairs(&self) -> PairCounts {
        self.state.pairs
    }

    /// The state of the sequential test; `None` if the match has none.
    pub fn sprt(&self) -> Option<SprtState> {
        let rule = self.plan.rules.sprt.as_ref()?;
        Some(rule.test().after_pairs(&self.state.pairs))
    }

    /// The first game of the group of `game`; the game itself if games are not duplicated.
    pub(super) fn luck_of(&self, game: u32) -> u32 {
        match self.plan.rules.duplicate && game >= self.state.counts_from {
            true => game - (game - self.state.counts_from) % self.group_size(),
            false => game,
        }
    }

    /// Returns whether no game with the same luck follows.
    pub(super) fn is_last_of_group(&self, game: u32) -> bool {
        !self.plan.rules.duplicate || game + 1 == self.luck_of(game) + self.group_size()
    }

    /// The secret of a group that was begun, but not played to its end.
    pub(super) fn secret_of_open_group(&self) -> Option<Secret> {
        let latest = self.state.finished.len() as u32;
        let open = latest >= self.state.counts_from && !self.is_last_of_group(latest);
        open.then(|| self.secrets.of_game(self.luck_of(latest))).flatten()
    }

    fn group_size(&self) -> u32 {
        self.state.sides.len() as u32
    }

    /// The groups since the latest restart, without those in which a game is void. The last one
    /// may not be complete.
    fn groups(&self) -> impl Iterator<Item = &[Arc<Finished>]> {
        let since = self.state.finished.get(self.state.counts_from as usize - 1..);
        let groups = since.unwrap_or_default().chunks(self.group_size() as usize);
        groups.filter(|group| group.iter().all(|one| one.result.end != GameEnd::Void))
    }

    /// The half points of a side in some games.
    fn halves_in(&self, games: &[Arc<Finished>], side: usize) -> u32 {
        let player = &self.state.sides[side].player;
        let halves = games.iter().map(|finished| {
            let winners = &finished.result.winners;
            match (winners.contains(player), winners.len()) {
                (true, 1) => 2,
                (true, _) => 1,
                (false, _) => 0,
            }
        });
        halves.sum()
    }

    /// Counts the latest game. Matches may have thousands of games, so the earlier ones are counted
    /// again only if a ruling changed them.
    pub(super) fn count_duplicate_game(&mut self) {
        let latest = self.state.finished.len();
        let group = self.luck_of(latest as u32) as usize - 1..latest;
        let games = &self.state.finished[group];
        if games.iter().any(|one| one.result.end == GameEnd::Void) {
            return self.recount_groups();
        }
        let sides = 0..self.state.sides.len();
        let newest = &games[games.len() - 1..];
        let halves: Vec<u32> = sides.map(|side| self.halves_in(newest, side)).collect();
        if games.len() == 2 && self.is_last_of_group(latest as u32) {
            let of_first = self.halves_in(games, 0);
            self.state.pairs.add(of_first as usize);
        }
        let sides = self.state.sides.iter_mut().zip(halves);
        sides.for_each(|(side, halves)| side.halves += halves);
    }

    /// Counts all games since the latest restart again.
    pub(super) fn recount_groups(&mut self) {
        let (mut halves, mut pairs) = (vec![0; self.state.sides.len()], PairCounts::default());
        for group in self.groups() {
            for (side, halves) in halves.iter_mut().enumerate() {
                *halves += self.halves_in(group, side);
            }
            if group.len() == 2 && self.group_size() == 2 {
                pairs.add(self.halves_in(group, 0) as usize);
            }
        }
        self.state.pairs = pairs;
        self.state.ties_in_row = 0;
        let sides = self.state.sides.iter_mut().zip(halves);
        sides.for_each(|(side, halves)| side.halves = halves);
    }

    /// Continues after a game: with the group's next game, with another group, or with the end.
    pub(super) fn after_duplicate_game(&mut self, record: &mut Record) -> Result<(), Rejection> {
        let ties = self.plan.rules.ties;
        let is_broken = self.state.sides.iter().any(|side| self.is_out(side));
        match ties {
            Ties::Share if is_broken => {
                self.end_by_score(record);
                return Ok(());
            }
            Ties::Replay if is_broken => {
                let winners = self.players(|side| !self.is_out(side));
                self.end_match(record, winners, How::Forfeit, Vec::new());
                return Ok(());
            }
            _ => {}
        }
        if self.is_last_of_group(self.state.finished.len() as u32) {
            if let Some(state) = self.sprt() {
                if self.end_by_test(record, &state) {
                    return Ok(());
                }
            } else if self.is_decided() {
                self.end_by_score(record);
                return Ok(());
            } else if self.groups_played() >= self.groups_max() {
                return self.undecidable(record);
            }
        }
        if ties == Ties::Replay {
            self.restart_if_all_gone(record);
        }
        self.gather(record)
    }

    /// The groups that were played to their end and count.
    fn groups_played(&self) -> u32 {
        let size = self.group_size() as usize;
        self.groups().filter(|group| group.len() == size).count() as u32
    }

    /// The number of groups after which a match that is still level is undecidable.
    fn groups_max(&self) -> u32 {
        let best_of = self.plan.rules.best_of;
        best_of + best_of.div_ceil(2)
    }

    /// Returns whether the score cannot change the winner any more. After the last group a level
    /// match is a draw, or goes on with another group if ties are replayed.
    fn is_decided(&self) -> bool {
        let rules = &self.plan.rules;
        let mut halves: Vec<u32> = self.state.sides.iter().map(|side| side.halves).collect();
        halves.sort_unstable_by(|one, other| other.cmp(one));
        let lead = halves.first().unwrap_or(&0) - halves.get(1).unwrap_or(&0);
        match rules.best_of.saturating_sub(self.groups_played()) {
            0 => lead > 0 || rules.ties == Ties::Share,
            left => lead > left * 2 * self.group_size(),
        }
    }

    /// Ends the match if the sequential test knows its answer, or has no more pairs.
    fn end_by_test(&mut self, record: &mut Record, state: &SprtState) -> bool {
        let pairs_max = self.plan.rules.sprt.as_ref().map_or(0, |rule| rule.pairs_max);
        let side = match state.verdict {
            Some(SprtVerdict::H1) => 0,
            Some(SprtVerdict::H0) => 1,
            None if self.state.pairs.pairs() < u64::from(pairs_max) => return false,
            None => {
                let halves: Vec<u32> = self.state.sides.iter().map(|side| side.halves).collect();
                let is_level = halves.windows(2).all(|pair| pair[0] == pair[1]);
                if !is_level || self.plan.rules.ties == Ties::Share {
                    self.end_by_score(record);
                    return true;
                }
                // Somebody has to win, and the first player did not show to be the stronger one.
                1
            }
        };
        let winners = self.plan.players.get(side).cloned().into_iter().collect();
        self.end_match(record, winners, How::Played, Vec::new());
        true
    }
}
