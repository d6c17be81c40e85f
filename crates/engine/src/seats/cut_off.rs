//! Players whom the server disconnected by a fault of its own. They may reconnect. Programs that
//! cannot reconnect by themselves: where they are, and their return after a restart of the server
//! (`docs/decisions/0016`).

use crate::port::FromSeat;
use crate::{CloseReason, ConnId, Engine, Note};
use agon_core::lobby::LobbyCommand;
use agon_core::{PlayerName, Raw, TournamentId};
use agon_wire::native::{Hello, PROTOCOL_VERSION, ToPlayer};

impl Engine {
    /// Closes a connection whose socket is on a node that is lost or stops. Nobody is charged: the
    /// player may reconnect, as after a restart.
    pub(crate) fn node_gone(&mut self, conn: ConnId, is_stopping: bool) {
        if is_stopping && self.seats.is_open(conn) {
            self.send(conn, &ToPlayer::notice("stopping", None));
        }
        let Some((account, seat)) = self.detach(conn, CloseReason::NodeGone) else { return };
        self.services.give_time_to_reconnect();
        self.tell_cells(&account, FromSeat::CutOff(conn));
        if seat.takes_lines() {
            return;
        }
        match self.still_plays(&account) {
            // The program may return under its name. Its sign-ups end with its process.
            true => {
                self.withdraw_all(&account);
                self.cells.note_cut_off([account]);
            }
            false => self.peer_is_gone(&account),
        }
    }

    /// Returns whether an absent player stays logged in: their node may connect again, and an
    /// operator may resume the tournament that needs them.
    pub(crate) fn may_be_found(&self, player: &PlayerName) -> bool {
        let needed = |id: &TournamentId| self.cells.is_interrupted(id);
        self.is_cut_off(player)
            && self.lobby.state().location(player).is_some()
            && self.lobby.accounts().playing_in(player).any(needed)
    }

    /// Logs out the disconnected players of a finished tournament who play nowhere else.
    pub(crate) fn forget_cut_off(&mut self, id: &TournamentId, players: &[PlayerName]) {
        for player in players {
            let elsewhere = self.lobby.accounts().playing_in(player).any(|other| other != id);
            if self.is_cut_off(player)
                && !elsewhere
                && self.services.time.now >= self.services.grace_until
            {
                let command = LobbyCommand::LogOut { account: player.clone() };
                let _ = self.step_lobby(command, Vec::new());
            }
        }
    }

    /// Returns whether a restart disconnected a player who has not returned.
    pub(crate) fn is_cut_off(&self, player: &PlayerName) -> bool {
        self.cells.is_cut_off(&self.services.present, player)
    }

    /// The players in line whose programs cannot reconnect by themselves.
    pub(crate) fn unable_to_reconnect(&self) -> Vec<PlayerName> {
        let line = self.lobby.state().line().iter();
        line.filter(|player| self.cannot_reconnect(player)).cloned().collect()
    }

    /// Returns whether a player's program cannot reconnect by itself.
    pub(crate) fn cannot_reconnect(&self, player: &PlayerName) -> bool {
        self.lobby.accounts().is_peer(player) || self.lobby.state().location(player).is_some()
    }

    /// How many tournaments a player is in that are not interrupted.
    pub(crate) fn active_in(&self, player: &PlayerName) -> usize {
        self.lobby.accounts().playing_in(player).filter(|id| !self.cells.is_interrupted(id)).count()
    }

    /// How many tournaments a player still has games in, or may have when they start.
    pub(crate) fn active_tournaments(&self, player: &PlayerName) -> usize {
        let playing = self.lobby.accounts().playing_in(player);
        let active = playing.filter(|id| {
            !self.cells.has_departed(id, player) && !self.cell_engines.has_departed(id, player)
        });
        active.count()
    }

    /// The players whom a restart disconnected, where their programs were, and the tournaments they
    /// play in.
    pub(crate) fn cut_off_locations(&self) -> Vec<(PlayerName, Raw, Vec<TournamentId>)> {
        let absent = self.cells.cut_off().filter(|player| self.is_cut_off(player));
        let located = absent.filter_map(|player| {
            let location = self.lobby.state().location(player)?.clone();
            let playing = self.lobby.accounts().playing_in(player).filter(|id| {
                let live = self.cells.tournament(id);
                live.is_some_and(|live| live.departure(player).is_none())
            });
            Some((player.clone(), location, playing.cloned().collect()))
        });
        located.collect()
    }

    /// Records where the program behind a connection is, before it logs in.
    pub(crate) fn locate(&mut self, conn: ConnId, location: Raw) {
        self.seats.sessions.locate(conn, location);
    }

    /// Commits where an account's program is from now on.
    pub(crate) fn keep_location(&mut self, conn: ConnId, account: &PlayerName) {
        let location = self.seats.sessions.location(conn);
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
        let account = self.seats.sessions.account(conn).cloned();
        if let Some(account) = account.filter(|account| self.conn_of(account) == Some(conn)) {
            self.keep_location(conn, &account);
        }
    }

    /// Attaches a connection to an account whose program was found again after a restart; returns
    /// whether that was possible.
    pub(crate) fn attach_again(&mut self, conn: ConnId, account: &PlayerName) -> bool {
        let logged_in =
            self.lobby.state().line().contains(account) && self.conn_of(account).is_none();
        let name = "a program that was found again".to_owned();
        let hello =
            Hello { protocol: PROTOCOL_VERSION, name, nonce: None, proposal: None, history: false };
        let found = logged_in && self.seats.sessions.is_open(conn);
        if found {
            self.seats.sessions.greet(conn, hello);
            self.attach(conn, account);
        }
        found
    }

    /// Undoes `attach_again` for a program that had ended before.
    pub(crate) fn was_not_there(&mut self, conn: ConnId) {
        if let Some((account, _)) = self.detach(conn, CloseReason::Left) {
            self.cells.note_cut_off([account]);
        }
    }
}
