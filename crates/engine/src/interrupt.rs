//! Players whom a restart of the server disconnected: `docs/decisions/0016`.
//!
//! Programs of the Fish and Trains systems and Erlang processes do not reconnect by themselves. The
//! log says which of them were connected. They are never charged for the restart. If a tournament
//! needs one of them and they do not return in time, the engine interrupts the tournament.

use super::journal::StreamKey;
use super::operator::telling;
use super::{CloseReason, ConnId, Engine, Note};
use agon_core::lobby::LobbyCommand;
use agon_core::{
    Fault, FaultKind, Interruption, Millis, PlayerName, Raw, TournamentAsk, TournamentCommand,
    TournamentId, TournamentPending, Why,
};
use agon_wire::native::{Hello, PROTOCOL_VERSION};

/// The reason of an interruption, as players and observers read it.
const WHY: &str = "Interrupted by a server restart; no result counts against anybody";

/// The code for players without whom a tournament begins; it charges them with nothing.
const CUT_OFF: &str = "cut-off";

impl Engine {
    /// Records the players who were connected before this start and cannot reconnect by themselves.
    pub(super) fn note_cut_off(&mut self) {
        let connected = self.lobby.line().iter().filter(|player| self.cannot_reconnect(player));
        self.cut_off = connected.cloned().collect();
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

    /// Whether a player was disconnected before the restart: then one of their matches says so, and
    /// the policy of its tournament holds. A match that has removed the player says nothing: they
    /// may have reconnected since, and no match records that.
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

    /// Whether an absent player stays logged in: their node may connect again, and an operator may
    /// resume the tournament that needs them.
    pub(super) fn may_be_found(&self, player: &PlayerName) -> bool {
        let needed = |id: &TournamentId| self.is_interrupted(id);
        self.is_cut_off(player)
            && self.lobby.location(player).is_some()
            && self.lobby.playing_in(player).any(needed)
    }

    /// Logs out the disconnected players of a finished tournament who play nowhere else.
    pub(super) fn forget_cut_off(&mut self, id: &TournamentId, players: &[PlayerName]) {
        for player in players {
            let elsewhere = self.lobby.playing_in(player).any(|other| other != id);
            if self.is_cut_off(player) && !elsewhere && self.now_ms() >= self.grace_until {
                let command = LobbyCommand::LogOut { account: player.clone() };
                let _ = self.step_lobby(command, Vec::new());
            }
        }
    }

    /// Whether a player's program cannot reconnect by itself.
    fn cannot_reconnect(&self, player: &PlayerName) -> bool {
        self.is_peer(player) || self.lobby.location(player).is_some()
    }

    /// Whether a restart disconnected a player who has not returned.
    pub(super) fn is_cut_off(&self, player: &PlayerName) -> bool {
        self.cut_off.contains(player) && self.conn_of(player).is_none()
    }

    /// Whether a restart has interrupted a tournament.
    pub(crate) fn is_interrupted(&self, id: &TournamentId) -> bool {
        self.tournaments.get(id).is_some_and(|live| live.machine.interrupted().is_some())
    }

    /// How many tournaments a player is in that are not interrupted.
    pub(super) fn active_in(&self, player: &PlayerName) -> usize {
        self.lobby.playing_in(player).filter(|id| !self.is_interrupted(id)).count()
    }

    /// When a tournament has waited long enough for players whom a restart disconnected.
    fn interrupts_at(&self, id: &TournamentId) -> Millis {
        let own = self.tournaments.get(id).map_or(0, |live| live.miss_by);
        own.max(self.grace_until)
    }

    /// Interrupts a tournament if it has waited long enough for a player whom a restart
    /// disconnected; returns whether it did.
    pub(super) fn interrupt_if_cut_off(&mut self, id: &TournamentId) -> bool {
        if self.cut_off.is_empty() || self.now_ms() < self.interrupts_at(id) {
            return false;
        }
        let Some(live) = self.tournaments.get(id) else { return false };
        if live.machine.rounds().is_empty() && self.began_since(live.began_at) {
            return false;
        }
        let players = live.machine.plan().players.iter();
        let missing =
            players.filter(|player| self.is_cut_off(player) && live.machine.needs(player));
        let missing: Vec<PlayerName> = missing.cloned().collect();
        let why = Why::new(WHY).expect("a good reason");
        let players = live.machine.plan().players.clone();
        let Some(live) = self.tournaments.get_mut(id) else { return false };
        let interruption = Interruption { missing, why };
        let count = interruption.missing.len();
        let Ok(events) = live.machine.step(TournamentCommand::Interrupt(interruption)) else {
            return false;
        };
        let ruling = live.machine.paused().expect("the tournament is paused now").clone();
        self.note(Note::Interrupted { tournament: id.clone(), missing: count });
        let data = serde_json::json!({"tournament": id});
        let tell = telling(players, "paused", &data, &ruling);
        self.commit(StreamKey::Tournament(id.clone()), &events, vec![tell]);
        for key in self.matches.in_tournament(id) {
            self.follow(&key);
        }
        true
    }

    /// Interrupts every tournament that has waited long enough.
    pub(super) fn interrupt_where_cut_off(&mut self) {
        let mut ids: Vec<TournamentId> = self.tournaments.keys().cloned().collect();
        // Sorted by name: the same inputs give the same log.
        ids.sort();
        for id in ids {
            self.interrupt_if_cut_off(&id);
        }
    }

    /// Handles a match that has waited in vain for a player whom a restart disconnected. Returns
    /// when to check again.
    pub(super) fn wait_for_cut_off(&mut self, id: &TournamentId) -> Millis {
        self.interrupt_if_cut_off(id);
        self.interrupts_at(id).max(self.now_ms() + 1_000)
    }

    /// Whether something began in this run of the server.
    fn began_since(&self, at: Millis) -> bool {
        at.saturating_add(self.settings.reconnect_ms) >= self.grace_until
    }

    /// Handles a tournament's request to a player whom a restart disconnected. A known result
    /// stands, and the engine confirms it for the player. A tournament that the player had only
    /// signed up for begins without them and charges them with nothing. Everything else waits.
    pub(super) fn spare_cut_off(&mut self, id: &TournamentId, pending: TournamentPending) {
        let began_at = self.tournaments.get(id).map_or(0, |live| live.began_at);
        let player = pending.player;
        let command = match pending.ask {
            TournamentAsk::Farewell { .. } => {
                let (request, answer) = (pending.id, "\"ok\"".to_owned());
                TournamentCommand::Answer { player, request, answer }
            }
            _ if self.began_since(began_at) => {
                let detail = "a restart of the server cut it off before the tournament began";
                let fault = Fault::new(FaultKind::Withdrew, CUT_OFF, detail);
                TournamentCommand::Drop { player, fault }
            }
            _ => return,
        };
        self.step_tournament(id, command);
    }

    /// The players whom a restart disconnected, where their programs were, and the tournaments they
    /// play in.
    pub(crate) fn cut_off_locations(&self) -> Vec<(PlayerName, Raw, Vec<TournamentId>)> {
        let absent = self.cut_off.iter().filter(|player| self.is_cut_off(player));
        let located = absent.filter_map(|player| {
            let location = self.lobby.location(player)?.clone();
            let playing = self.lobby.playing_in(player).filter(|id| {
                let live = self.tournaments.get(id);
                live.is_some_and(|live| live.machine.departure(player).is_none())
            });
            Some((player.clone(), location, playing.cloned().collect()))
        });
        located.collect()
    }

    /// Records where the program behind a connection is, before it logs in.
    pub(crate) fn locate(&mut self, conn: ConnId, location: Raw) {
        if let Some(session) = self.sessions.get_mut(conn) {
            session.location = Some(location);
        }
    }

    /// Commits where an account's program is from now on.
    pub(super) fn keep_location(&mut self, conn: ConnId, account: &PlayerName) {
        let location = self.sessions.get(conn).and_then(|session| session.location.clone());
        let command = LobbyCommand::Locate { account: account.clone(), location };
        if let Err(why) = self.step_lobby(command, Vec::new()) {
            let words = format!("the location of {account} cannot be kept: {why}");
            self.note(Note::Warning(words));
        }
    }

    /// Commits where the program of an account that logged in is now, and which processes play for
    /// it.
    pub(crate) fn relocate(&mut self, conn: ConnId, location: Raw) {
        self.locate(conn, location);
        let account = self.sessions.get(conn).and_then(|session| session.account.clone());
        if let Some(account) = account.filter(|account| self.conn_of(account) == Some(conn)) {
            self.keep_location(conn, &account);
        }
    }

    /// Attaches a connection to an account whose program was found again after a restart; returns
    /// whether that was possible.
    pub(crate) fn attach_again(&mut self, conn: ConnId, account: &PlayerName) -> bool {
        let logged_in = self.lobby.line().contains(account) && self.conn_of(account).is_none();
        let name = "a program that was found again".to_owned();
        let hello =
            Hello { protocol: PROTOCOL_VERSION, name, nonce: None, proposal: None, history: false };
        match self.sessions.get_mut(conn) {
            Some(session) if logged_in => {
                session.hello.get_or_insert(hello);
                self.attach(conn, account);
                true
            }
            _ => false,
        }
    }

    /// Undoes `attach_again` for a program that had ended before.
    pub(crate) fn was_not_there(&mut self, conn: ConnId) {
        if let Some((account, _)) = self.detach(conn, CloseReason::Left) {
            self.cut_off.insert(account);
        }
    }
}
