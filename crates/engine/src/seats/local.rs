//! Players whose programs the host starts itself, as `agon run` does.
//!
//! The host knows its players, so they do not log in. It starts their programs, restarts them after
//! a fault, and gives up on those that do not start.

use crate::{CloseReason, ConnId, Engine, SeatKind};
use agon_core::{Fault, PlayerName};
use agon_wire::native::Hello;
use std::net::{IpAddr, Ipv4Addr};

impl Engine {
    /// Opens a connection and attaches it to its player.
    pub(crate) fn seated(
        &mut self,
        conn: ConnId,
        seat: SeatKind,
        player: &PlayerName,
        hello: Hello,
    ) {
        self.seats.sessions.open(conn, seat, IpAddr::from(Ipv4Addr::LOCALHOST));
        self.seats.sessions.greet(conn, hello);
        self.attach(conn, player);
    }

    /// Sends the requests of a connection again, with the history: the program behind it is a new
    /// one.
    pub(crate) fn restarted(&mut self, conn: ConnId, hello: Hello) {
        let Some(player) = self.seats.sessions.account(conn).cloned() else { return };
        self.seats.sessions.forget_hello(conn);
        self.seats.sessions.greet(conn, hello);
        let Some(seat) = self.seats.sessions.attach(conn, &player) else { return };
        self.services.present.replace(&player, seat);
        self.in_cells(|cells, cx| cells.send_again(cx, &player, conn));
    }

    /// Charges a player whose program does not start. Nobody waits for them.
    pub(crate) fn absent(&mut self, player: &PlayerName, fault: &Fault) {
        if let Some(conn) = self.conn_of(player) {
            self.detach(conn, CloseReason::Left);
        }
        self.in_cells(|cells, cx| cells.give_up(cx, player, fault));
    }
}
