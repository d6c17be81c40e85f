//! The seat side: connections, logins, and the messages of players.
//!
//! ```text
//!   gateways ──▶ sessions, request clocks ──Arrive, Leave, Answer, Delivered──▶ cells
//!                    ▲                                                            │
//!                    └────────────────── Ask, Notice, Recall ◀────────────────────┘
//! ```
//!
//! A session belongs to one connection. Handlers here find out who speaks, and hand the message to
//! the lobby or to the cells. To these a player's seat is a [`PresentPlayers`] entry.

mod answers;
mod attach;
mod cut_off;
mod local;
mod login;
mod peers;
mod present;
mod sessions;

use crate::ConnId;
use crate::seat::SeatKind;
use agon_core::PlayerName;
pub(crate) use peers::is_of_series;
pub(crate) use present::{LineSeat, PlayerSeat, PresentPlayers, RequestWay};
use sessions::Sessions;
use std::collections::BTreeSet;

/// Connections, and what is on its way for them.
#[derive(Default)]
pub(crate) struct Seats {
    sessions: Sessions,
    /// Players whose login or sign-up is in flight: they are on their way back, and not absent.
    arriving: BTreeSet<PlayerName>,
    /// The connections that are notified of sign-ups.
    subscribers: BTreeSet<ConnId>,
}

impl Seats {
    /// Forgets a connection; returns its seat and its account.
    fn forget(&mut self, conn: ConnId) -> Option<(SeatKind, Option<PlayerName>)> {
        self.subscribers.remove(&conn);
        self.sessions.close(conn)
    }

    /// Returns whether a connection is open.
    pub(crate) fn is_open(&self, conn: ConnId) -> bool {
        self.sessions.is_open(conn)
    }

    /// All connections, sorted.
    pub(crate) fn conns(&self) -> Vec<ConnId> {
        self.sessions.conns()
    }

    /// How many connections are open.
    pub(crate) fn len(&self) -> usize {
        self.sessions.len()
    }
}
