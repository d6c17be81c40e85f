//! Players whom a restart of the server disconnected: `docs/decisions/0016`.
//!
//! Programs of the Fish and Trains systems and Erlang processes do not reconnect by themselves. The
//! log says which of them were connected. They are never charged for the restart. If a tournament
//! needs one of them and they do not return in time, the engine interrupts the tournament.

use super::Cells;
use super::operator::notice_of;
use crate::Note;
use crate::journal::StreamKey;
use crate::seats::PresentPlayers;
use crate::services::Context;
use agon_core::{
    Fault, FaultKind, Interruption, PlayerName, Timestamp, TournamentAsk, TournamentCommand,
    TournamentId, TournamentPending, Why,
};

/// The reason of an interruption, as players and observers read it.
const WHY: &str = "Interrupted by a server restart; no result counts against anybody";

/// The code for players without whom a tournament begins; it charges them with nothing.
const CUT_OFF: &str = "cut-off";

impl Cells {
    /// Records the players who were connected before this start and cannot reconnect by themselves.
    pub(crate) fn note_cut_off(&mut self, players: impl IntoIterator<Item = PlayerName>) {
        self.cut_off.extend(players);
    }

    /// The players whom a restart disconnected, whether they returned or not.
    pub(crate) fn cut_off(&self) -> impl Iterator<Item = &PlayerName> {
        self.cut_off.iter()
    }

    /// Records that a player whom a restart disconnected has returned.
    pub(crate) fn note_returned(&mut self, player: &PlayerName) {
        self.cut_off.remove(player);
    }

    /// Adds the players whom earlier restarts disconnected from running tournaments.
    pub(super) fn note_cut_off_before(&mut self) {
        let machines = self.tournaments.values().map(|live| &live.machine);
        let earlier = machines
            .flat_map(|machine| machine.cut_off().filter(|player| machine.needs(player)).cloned());
        let earlier: Vec<PlayerName> = earlier.collect();
        let gone: Vec<PlayerName> =
            self.cut_off.iter().filter(|player| self.had_left(player)).cloned().collect();
        for player in gone {
            self.cut_off.remove(&player);
        }
        self.cut_off.extend(earlier);
    }

    /// Returns whether a player was disconnected before the restart: then one of their matches says
    /// so, and the policy of its tournament holds. A match that has removed the player says
    /// nothing: they may have reconnected since, and no match records that.
    fn had_left(&self, player: &PlayerName) -> bool {
        let mut matches = self.matches.keys_of(player);
        matches.any(|key| {
            self.live_match(key).is_some_and(|played| {
                let mut own = played.faults().iter().rev().filter(|one| one.player == *player);
                let last = own.next().map(|faulted| faulted.fault.kind);
                !played.is_here(player)
                    && !played.has_removed(player)
                    && last == Some(FaultKind::Disconnected)
            })
        })
    }

    /// Returns whether a restart disconnected a player who has not returned.
    pub(crate) fn is_cut_off(&self, present: &PresentPlayers, player: &PlayerName) -> bool {
        self.cut_off.contains(player) && present.conn_of(player).is_none()
    }

    /// Returns whether a restart has interrupted a tournament.
    pub(crate) fn is_interrupted(&self, id: &TournamentId) -> bool {
        self.tournaments.get(id).is_some_and(|live| live.machine.interrupted().is_some())
    }

    /// When a tournament has waited long enough for players whom a restart disconnected.
    fn interrupts_at(&self, cx: &Context<'_>, id: &TournamentId) -> Timestamp {
        let own = self.tournaments.get(id).map_or(Timestamp::default(), |live| live.miss_by);
        own.max(cx.grace_until)
    }

    /// Interrupts a tournament if it has waited long enough for a player whom a restart
    /// disconnected; returns whether it did.
    pub(super) fn interrupt_if_cut_off(&mut self, cx: &mut Context<'_>, id: &TournamentId) -> bool {
        if self.cut_off.is_empty() || cx.time.now < self.interrupts_at(cx, id) {
            return false;
        }
        let Some(live) = self.tournaments.get(id) else { return false };
        if live.machine.rounds().is_empty() && self.began_since(cx, live.began_at) {
            return false;
        }
        let players = live.machine.plan().players.iter();
        let missing = players
            .filter(|player| self.is_cut_off(&cx.present, player) && live.machine.needs(player));
        let missing: Vec<PlayerName> = missing.cloned().collect();
        let why = Why::new(WHY).expect("a good reason");
        let players = live.machine.plan().players.clone();
        let Some(live) = self.tournaments.get_mut(id) else { return false };
        let interruption = Interruption { missing, why };
        let count = interruption.missing.len();
        let Ok(events) = live.machine.step(TournamentCommand::Interrupt(interruption)) else {
            return false;
        };
        let ruling = live.machine.paused().expect("it rests now").clone();
        cx.note(Note::Interrupted { tournament: id.clone(), missing: count });
        let data = serde_json::json!({"tournament": id});
        let tell = notice_of(players, "paused", &data, &ruling);
        cx.commit(StreamKey::Tournament(id.clone()), &events, vec![tell]);
        self.follow_play_time(cx, id, &events);
        for key in self.matches.in_tournament(id) {
            self.follow(cx, &key);
        }
        true
    }

    /// Interrupts every tournament that has waited long enough.
    pub(super) fn interrupt_where_cut_off(&mut self, cx: &mut Context<'_>) {
        let mut ids: Vec<TournamentId> = self.tournaments.keys().cloned().collect();
        // Sorted by name: the same inputs give the same log.
        ids.sort();
        for id in ids {
            self.interrupt_if_cut_off(cx, &id);
        }
    }

    /// Handles a match that has waited in vain for a player whom a restart disconnected. Returns
    /// when to check again.
    pub(super) fn wait_for_cut_off(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
    ) -> Timestamp {
        self.interrupt_if_cut_off(cx, id);
        self.interrupts_at(cx, id).max(cx.time.now + 1_000)
    }

    /// Returns whether something began in this run of the server.
    fn began_since(&self, cx: &Context<'_>, at: Timestamp) -> bool {
        at.saturating_add(cx.settings.reconnect_ms) >= cx.grace_until
    }

    /// Handles a tournament's request to a player whom a restart disconnected. A known result
    /// stands, and the engine confirms it for the player. A tournament that the player had only
    /// signed up for begins without them and charges them with nothing. Everything else waits.
    pub(super) fn spare_cut_off(
        &mut self,
        cx: &mut Context<'_>,
        id: &TournamentId,
        pending: TournamentPending,
    ) {
        let began_at = self.tournaments.get(id).map_or(Timestamp::default(), |live| live.began_at);
        let player = pending.player;
        let command = match pending.ask {
            TournamentAsk::Farewell { .. } => {
                let (request, answer) = (pending.id, "\"ok\"".to_owned());
                TournamentCommand::Answer { player, request, answer }
            }
            _ if self.began_since(cx, began_at) => {
                let detail = "a restart of the server cut it off before the tournament began";
                let fault = Fault::new(FaultKind::Withdrew, CUT_OFF, detail);
                TournamentCommand::Drop { player, fault }
            }
            _ => return,
        };
        self.step_tournament(cx, id, command);
    }
}
