//! Tournaments that move from one engine to another while they run.
//!
//! ```text
//!   lobby's engine             owner               next owner
//!     Release ────────────────▶ forgets the tournament; its last records become durable
//!     ◀──────────────── Released
//!     TakeUp ─────────────────────────────────────▶ reads the log, asks again
//! ```
//!
//! An operator orders a move, or one node has twice the players of another. Then tournaments move,
//! one after the other, as long as that does not turn the imbalance round. A tournament that an
//! operator has moved stays there. Players keep their connections and get the same requests again.
//! While a tournament moves, no engine hears its players; they answer when they are asked again.

use crate::engines::{EngineId, ToCells, ToLobby, tournament_of};
use crate::follow_up::FollowUp;
use crate::{Engine, EngineRole, Note};
use agon_core::lobby::Standing;
use agon_core::{RequestId, TournamentId, TournamentPlan};
use std::collections::BTreeMap;

/// The tournaments that are on their way to another engine.
#[derive(Default)]
pub(crate) struct Moves(BTreeMap<TournamentId, EngineId>);

impl Moves {
    /// Returns whether a tournament is on its way.
    pub(crate) fn has(&self, id: &TournamentId) -> bool {
        self.0.contains_key(id)
    }

    /// Returns whether no tournament is on its way.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets that a tournament moves; returns where to.
    pub(crate) fn take(&mut self, id: &TournamentId) -> Option<EngineId> {
        self.0.remove(id)
    }
}

impl Engine {
    /// Moves a running tournament, as an operator ordered. It stays there.
    pub(crate) fn order_move(&mut self, id: TournamentId, to: EngineId) {
        self.cell_engines.pin(&id);
        self.move_tournament(id, to);
    }

    /// Moves a tournament from the node with the most players to the one with the fewest, if the
    /// imbalance is large enough and nothing moves yet.
    pub(crate) fn rebalance(&mut self) {
        let has_nodes = matches!(self.services.settings.role, EngineRole::LobbyOfNodes { .. });
        let is_busy = !self.cell_engines.moves.is_empty() || self.cells.is_resuming_any();
        let is_allowed = self.cell_engines.may_rebalance && !self.services.stopping;
        if !has_nodes || is_busy || !is_allowed {
            return;
        }
        let Some((from, to, players_max)) = self.cell_engines.imbalance() else { return };
        let may_move = |plan: &&TournamentPlan| {
            let owner = self.cell_engines.owner(&plan.id).unwrap_or(EngineId::LOBBY);
            owner == from
                && self.has_begun(&plan.id)
                && plan.players.len() <= players_max
                && !self.cell_engines.is_pinned(&plan.id)
                && !plan.players.iter().any(|player| self.cannot_reconnect(player))
        };
        let movable = self.lobby.state().running().filter(may_move);
        let largest = movable.max_by_key(|plan| (plan.players.len(), plan.id.clone()));
        if let Some(id) = largest.map(|plan| plan.id.clone()) {
            self.note(Note::Rebalanced { tournament: id.clone(), to });
            self.move_tournament(id, to);
        }
    }

    /// Moves a running tournament to another engine, unless it is there already.
    pub(crate) fn move_tournament(&mut self, id: TournamentId, to: EngineId) {
        let owner = self.cell_engines.owner(&id).unwrap_or(EngineId::LOBBY);
        let Some(plan) = self.running(&id) else { return };
        let may_move =
            owner != to && self.cell_engines.has(to) && !self.cell_engines.moves.has(&id);
        if !may_move {
            return;
        }
        if !self.has_begun(&id) {
            return self.note(Note::Warning(format!("{id} does not move: it is about to begin")));
        }
        if plan.players.iter().any(|player| self.cannot_reconnect(player)) {
            let why = "its players are bound to the node with the lobby";
            return self.note(Note::Warning(format!("{id} does not move: {why}")));
        }
        self.cell_engines.shift(owner, to, plan.players.len());
        self.cell_engines.moves.0.insert(id.clone(), to);
        match owner {
            EngineId::LOBBY => self.release(id),
            owner => self.pass(owner, ToCells::Release(id)),
        }
    }

    /// Returns whether the owner of a tournament knows of it.
    fn has_begun(&self, id: &TournamentId) -> bool {
        self.cell_engines.owner(id).is_some() || self.cells.has_begun(&self.services, id)
    }

    /// Forgets a tournament, and says so when its last records are durable.
    pub(crate) fn release(&mut self, id: TournamentId) {
        self.cells.release(&mut self.services, &id);
        self.cell_engines.give_back(&id);
        let streams = self.services.journals.streams_of(&id);
        self.once_durable(streams, FollowUp::Release(id));
    }

    /// Tells the lobby's engine that a tournament that this engine forgot can be read from the log.
    pub(crate) fn release_durable(&mut self, id: TournamentId) {
        if self.cells.tournament(&id).is_some() {
            // Its secret has become durable meanwhile, so it has begun.
            return self.release(id);
        }
        self.services.journals.forget(&id);
        match self.services.has_only_cells() {
            true => self.services.pass_to_lobby(ToLobby::Released(id)),
            false => self.released(&id),
        }
    }

    /// Lets the next owner of a tournament resume it.
    pub(crate) fn released(&mut self, id: &TournamentId) {
        let Some(plan) = self.running(id) else { return };
        let Some(to) = self.cell_engines.moves.take(id) else { return };
        // The engine that it was to move to may be lost.
        match self.cell_engines.has(to) {
            true => self.cell_engines.own(id, to),
            false => {
                self.place(&plan);
            }
        }
        self.services.give_time_to_reconnect();
        self.resume_in_place(plan);
        self.rebalance();
    }

    /// Resumes a tournament of an engine that has given it back, in the engine that owns it now.
    pub(crate) fn resume_in_place(&mut self, plan: TournamentPlan) {
        if let Some(to) = self.cell_engines.owner(&plan.id) {
            plan.players.iter().for_each(|player| self.pass_seat(to, player));
        }
        self.take_up_in_place(plan);
    }

    /// Returns whether a tournament moves to another engine, or is being read from the log here.
    pub(crate) fn is_on_its_way(&self, id: &TournamentId) -> bool {
        self.cell_engines.moves.has(id) || self.cells.is_resuming(id)
    }

    /// Returns whether the tournament of a request is on its way.
    pub(crate) fn is_request_on_its_way(&self, name: &RequestId) -> bool {
        let is_any = !self.cell_engines.moves.is_empty() || self.cells.is_resuming_any();
        is_any && tournament_of(name).is_some_and(|id| self.is_on_its_way(&id))
    }

    /// Returns whether a tournament is being read from the log.
    pub fn is_resuming(&self) -> bool {
        self.cells.is_resuming_any()
    }

    /// The plan of a tournament that runs.
    pub(crate) fn running(&self, id: &TournamentId) -> Option<TournamentPlan> {
        match self.lobby.state().tournament(id) {
            Some(Standing::Running(plan)) => Some(TournamentPlan::clone(plan)),
            _ => None,
        }
    }
}
