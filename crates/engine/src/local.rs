//! Players whose programs the host starts itself, as `agon run` does.
//!
//! The host knows its players, so they do not log in. It starts their programs, restarts them after
//! a fault, and gives up on those that do not start. A signal from outside that ends or stops a
//! program is nobody's fault: the game counts for nothing, and the match plays it again.

use super::{CloseReason, ConnId, Engine, MatchKey, Seat};
use agon_core::{
    Command, Fault, MatchOrder, PlayerName, Ruling, TournamentAsk, TournamentCommand,
    TournamentOrder,
};
use agon_wire::native::Hello;
use std::net::{IpAddr, Ipv4Addr};

impl Engine {
    /// Whether a connection is to a program that the host runs.
    pub(super) fn is_local(&self, conn: ConnId) -> bool {
        self.sessions.get(conn).is_some_and(|session| session.seat.is_local)
    }

    /// Opens a connection and attaches it to its player.
    pub(super) fn seated(&mut self, conn: ConnId, seat: Seat, player: &PlayerName, hello: Hello) {
        self.sessions.open(conn, seat, IpAddr::from(Ipv4Addr::LOCALHOST));
        if let Some(session) = self.sessions.get_mut(conn) {
            session.hello = Some(hello);
        }
        self.attach(conn, player);
    }

    /// Sends the requests of a connection again, with the history: the program behind it is a new
    /// one.
    pub(super) fn restarted(&mut self, conn: ConnId, hello: Hello) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        session.hello = Some(hello);
        let Some(player) = session.account.clone() else { return };
        for key in self.matches.of(&player) {
            if let Some(live) = self.matches.get_mut(&key) {
                live.forget_sent_to(conn);
            }
            self.speak(&key);
        }
    }

    /// Charges a player whose program does not start. Nobody waits for them.
    pub(super) fn absent(&mut self, player: &PlayerName, fault: &Fault) {
        if let Some(conn) = self.conn_of(player) {
            self.detach(conn, CloseReason::Left);
        }
        for key in self.matches.of(player) {
            let (player, fault) = (player.clone(), fault.clone());
            let _ = self.step_match(&key, Command::Leave { player: player.clone(), fault });
            let _ = self.step_match(&key, Command::Expire { player });
        }
        for id in self.lobby.playing_in(player).cloned().collect::<Vec<_>>() {
            let open = self.live_tournament(&id).and_then(|machine| machine.pending_of(player));
            let greeted =
                open.is_some_and(|open| !matches!(open.ask, TournamentAsk::Farewell { .. }));
            if greeted {
                let (player, fault) = (player.clone(), fault.clone());
                self.step_tournament(&id, TournamentCommand::Drop { player, fault });
            }
        }
    }

    /// Voids the running game of a match. The match itself goes on, with another game.
    pub(super) fn void_running_game(&mut self, key: &MatchKey, ruling: &Ruling) {
        let referee = self.live_match(key).and_then(|played| played.referee());
        let Some(game) = referee.map(|referee| referee.number()) else { return };
        for order in [MatchOrder::Pause, MatchOrder::Void(game), MatchOrder::Resume] {
            let _ = self.step_match(key, Command::Order { order, ruling: ruling.clone() });
        }
    }

    /// Ends a match without a winner. Its tournament decides that, and the match follows.
    pub(super) fn abandon(&mut self, key: &MatchKey, ruling: &Ruling) {
        let over = TournamentOrder::Override { id: key.id.clone(), winners: Vec::new() };
        for order in [TournamentOrder::Pause, over, TournamentOrder::Resume] {
            let command = TournamentCommand::Order { order, ruling: ruling.clone() };
            self.step_tournament(&key.tournament, command);
        }
        self.follow(key);
    }
}
