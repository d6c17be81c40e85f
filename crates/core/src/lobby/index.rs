//! An index over all tournaments there ever were: which are open or running, what is due next, and
//! what each player takes part in. It is derived from the rest of the lobby.

use super::{Lobby, QueueName, Standing};
use crate::ids::{Millis, PlayerName, Timestamp, TournamentId};
use std::collections::{BTreeMap, BTreeSet};

/// The queues and tournaments of one player.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Own {
    queues: BTreeSet<QueueName>,
    signed_up: BTreeSet<TournamentId>,
    invited: BTreeSet<TournamentId>,
    playing: BTreeSet<TournamentId>,
}

/// The index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Index {
    /// Tournaments that wait for players or for replies.
    open: BTreeSet<TournamentId>,
    running: BTreeSet<TournamentId>,
    deadlines: BTreeSet<(Timestamp, TournamentId)>,
    own: BTreeMap<PlayerName, Own>,
}

impl Index {
    pub(super) fn open(&self) -> impl Iterator<Item = &TournamentId> {
        self.open.iter()
    }

    pub(super) fn running(&self) -> impl Iterator<Item = &TournamentId> {
        self.running.iter()
    }

    /// The number of tournaments that are open or running.
    pub(super) fn live(&self) -> usize {
        self.open.len() + self.running.len()
    }

    pub(super) fn first_deadline(&self) -> Option<&(Timestamp, TournamentId)> {
        self.deadlines.first()
    }

    pub(super) fn queues_of(&self, player: &PlayerName) -> impl Iterator<Item = &QueueName> {
        self.own.get(player).into_iter().flat_map(|own| &own.queues)
    }

    pub(super) fn signed_up_for(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.own.get(player).into_iter().flat_map(|own| &own.signed_up)
    }

    pub(super) fn invited_to(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.own.get(player).into_iter().flat_map(|own| &own.invited)
    }

    pub(super) fn playing_in(&self, player: &PlayerName) -> impl Iterator<Item = &TournamentId> {
        self.own.get(player).into_iter().flat_map(|own| &own.playing)
    }

    /// Records that a player waits in a queue.
    pub(super) fn enqueued(&mut self, player: &PlayerName, queue: &QueueName) {
        self.change(player, |own| own.queues.insert(queue.clone()));
    }

    /// Records that a player no longer waits in a queue.
    pub(super) fn dequeued(&mut self, player: &PlayerName, queue: &QueueName) {
        self.change(player, |own| own.queues.remove(queue));
    }

    /// Records that a player signed up.
    pub(super) fn signed_up(&mut self, player: &PlayerName, id: &TournamentId) {
        self.change(player, |own| own.signed_up.insert(id.clone()));
    }

    /// Records that a player is no longer signed up.
    pub(super) fn withdrew(&mut self, player: &PlayerName, id: &TournamentId) {
        self.change(player, |own| own.signed_up.remove(id));
    }

    fn change(&mut self, player: &PlayerName, change: impl FnOnce(&mut Own) -> bool) {
        let own = self.own.entry(player.clone()).or_default();
        change(own);
        if *own == Own::default() {
            self.own.remove(player);
        }
    }

    pub(super) fn add_deadline(&mut self, id: &TournamentId, standing: &Standing) {
        if let Some(at) = deadline(standing) {
            self.deadlines.insert((at, id.clone()));
        }
    }

    pub(super) fn remove_deadline(&mut self, id: &TournamentId, standing: &Standing) {
        if let Some(at) = deadline(standing) {
            self.deadlines.remove(&(at, id.clone()));
        }
    }

    fn add(&mut self, id: &TournamentId, standing: &Standing) {
        self.add_deadline(id, standing);
        match standing {
            Standing::Open(sign_up) => {
                self.open.insert(id.clone());
                sign_up.players.iter().for_each(|player| self.signed_up(player, id));
            }
            Standing::Inviting(invitation) => {
                self.open.insert(id.clone());
                for (player, _) in &invitation.replies {
                    self.change(player, |own| own.invited.insert(id.clone()));
                }
            }
            Standing::Running(plan) => {
                self.running.insert(id.clone());
                for player in &plan.players {
                    self.change(player, |own| own.playing.insert(id.clone()));
                }
            }
            Standing::Finished(_) | Standing::CalledOff(_) => {}
        }
    }

    fn remove(&mut self, id: &TournamentId, standing: &Standing) {
        self.remove_deadline(id, standing);
        self.open.remove(id);
        self.running.remove(id);
        match standing {
            Standing::Open(sign_up) => {
                sign_up.players.iter().for_each(|player| self.withdrew(player, id));
            }
            Standing::Inviting(invitation) => {
                for (player, _) in &invitation.replies {
                    self.change(player, |own| own.invited.remove(id));
                }
            }
            Standing::Running(plan) => {
                for player in &plan.players {
                    self.change(player, |own| own.playing.remove(id));
                }
            }
            Standing::Finished(_) | Standing::CalledOff(_) => {}
        }
    }
}

/// The deadline of a tournament; `None` if time decides nothing about it.
fn deadline(standing: &Standing) -> Option<Timestamp> {
    match standing {
        Standing::Open(sign_up) if !sign_up.rests() => Some(sign_up.closes_at),
        Standing::Inviting(invitation) => Some(invitation.deadline()),
        _ => None,
    }
}

impl Lobby {
    /// Sets the standing of a tournament, and updates the index.
    pub(super) fn put(&mut self, id: TournamentId, standing: Standing) {
        if let Some(before) = self.tournaments.get(&id) {
            self.index.remove(&id, before);
        }
        self.index.add(&id, &standing);
        self.tournaments.insert(id, standing);
    }

    /// Changes a waiting tournament and its deadline. The caller updates the index of its players.
    pub(super) fn change(&mut self, id: &TournamentId, change: impl FnOnce(&mut Standing)) {
        let Some(standing) = self.tournaments.get_mut(id) else { return };
        self.index.remove_deadline(id, standing);
        change(standing);
        self.index.add_deadline(id, standing);
    }

    /// Extends all waits by an outage, in which nobody could act.
    pub(super) fn prolong_waits(
        &mut self,
        now: Timestamp,
        away_ms: Millis,
        answers_until: Timestamp,
    ) {
        let waiting: Vec<TournamentId> =
            self.index.deadlines.iter().map(|(_, id)| id.clone()).collect();
        for id in waiting {
            self.change(&id, |standing| match standing {
                Standing::Open(sign_up) => sign_up.prolong(now, away_ms),
                Standing::Inviting(invitation) => invitation.prolong(now, away_ms, answers_until),
                _ => {}
            });
        }
    }

    /// Rebuilds the index from the rest of the lobby.
    pub(super) fn index_all(&mut self) {
        let mut index = Index::default();
        for (id, standing) in &self.tournaments {
            index.add(id, standing);
        }
        for (name, queue) in &self.queues {
            queue.iter().for_each(|player| index.enqueued(player, name));
        }
        self.index = index;
    }
}
