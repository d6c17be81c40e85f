//! Connections, and the player behind each. A connection attaches to an account and owns nothing.

use super::lobby::Checking;
use super::seat::{Form, Seat};
use agon_core::lobby::TokenHash;
use agon_core::{Millis, PlayerName, Raw};
use agon_wire::native::Hello;
use agon_wire::request::Shows;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::net::IpAddr;

/// The number of a connection, unique while the server runs.
pub type ConnId = u64;

/// A connection and its state.
pub(crate) struct Session {
    pub(super) seat: Seat,
    pub(super) from: IpAddr,
    pub(super) hello: Option<Hello>,
    pub(super) account: Option<PlayerName>,
    /// The token it logged in with or was given.
    pub(super) token: Option<TokenHash>,
    /// The password that is being checked.
    pub(super) checking: Option<Checking>,
    /// Whether it is shown every change of its matches.
    pub(super) listens: bool,
    /// How to reach its program after a restart, if it cannot reconnect by itself.
    pub(super) location: Option<Raw>,
    /// Whether its player let a request time out and has sent nothing since.
    pub(super) is_silent: bool,
    /// Useless lines in a row: no request, no answer.
    pub(super) junk: u32,
}

impl Session {
    /// How much its requests show; players may ask for the history in every request. `None` if it
    /// takes calls.
    pub(super) fn shows(&self) -> Option<Shows> {
        let wants_history = self.hello.as_ref().is_some_and(|hello| hello.history);
        match self.seat.form {
            Form::Lines(Shows::Score) if wants_history => Some(Shows::History),
            Form::Lines(shows) => Some(shows),
            Form::Calls => None,
        }
    }

    fn new(seat: Seat, from: IpAddr) -> Session {
        Session {
            seat,
            from,
            hello: None,
            account: None,
            token: None,
            checking: None,
            listens: false,
            location: None,
            is_silent: false,
            junk: 0,
        }
    }
}

/// All connections.
#[derive(Default)]
pub(crate) struct Sessions {
    by_conn: FxHashMap<ConnId, Session>,
    /// The connection of each connected player.
    here: HashMap<PlayerName, ConnId>,
    /// Since when players are without a connection.
    gone_since: HashMap<PlayerName, Millis>,
    /// How often a player connected or disconnected.
    changes: u64,
}

impl Sessions {
    pub(crate) fn open(&mut self, conn: ConnId, seat: Seat, from: IpAddr) {
        self.by_conn.insert(conn, Session::new(seat, from));
    }

    pub(crate) fn get(&self, conn: ConnId) -> Option<&Session> {
        self.by_conn.get(&conn)
    }

    pub(crate) fn get_mut(&mut self, conn: ConnId) -> Option<&mut Session> {
        self.by_conn.get_mut(&conn)
    }

    pub(crate) fn is_open(&self, conn: ConnId) -> bool {
        self.by_conn.contains_key(&conn)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_conn.len()
    }

    /// All connections, sorted: the same inputs give the same effects.
    pub(crate) fn conns(&self) -> Vec<ConnId> {
        let mut conns: Vec<ConnId> = self.by_conn.keys().copied().collect();
        conns.sort_unstable();
        conns
    }

    /// The connection of a player, if they are connected.
    pub(crate) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.here.get(player).copied()
    }

    /// The session of a player who is connected.
    pub(crate) fn of(&self, player: &PlayerName) -> Option<&Session> {
        self.get(self.conn_of(player)?)
    }

    /// Attaches a connection to an account; returns the account's previous connection.
    pub(crate) fn attach(&mut self, conn: ConnId, account: &PlayerName) -> Option<ConnId> {
        self.gone_since.remove(account);
        self.changes += 1;
        let old = self.here.insert(account.clone(), conn).filter(|old| *old != conn);
        if let Some(session) = old.and_then(|old| self.get_mut(old)) {
            session.account = None;
        }
        if let Some(session) = self.get_mut(conn) {
            session.account = Some(account.clone());
        }
        old
    }

    /// Forgets a connection. Returns its seat and the account, if that account has no connection
    /// now.
    pub(crate) fn close(&mut self, conn: ConnId) -> Option<(Seat, Option<PlayerName>)> {
        let session = self.by_conn.remove(&conn)?;
        let account = session.account.filter(|account| self.here.get(account) == Some(&conn));
        if let Some(account) = &account {
            self.here.remove(account);
            self.changes += 1;
        }
        Some((session.seat, account))
    }

    /// Since when a player is without a connection.
    pub(crate) fn gone_since(&self, player: &PlayerName) -> Option<Millis> {
        self.gone_since.get(player).copied()
    }

    /// Records since when a player is without a connection.
    pub(crate) fn note_gone(&mut self, player: PlayerName, since: Millis) {
        self.gone_since.insert(player, since);
    }

    /// Forgets that a player is without a connection.
    pub(crate) fn forget_gone(&mut self, player: &PlayerName) {
        self.gone_since.remove(player);
    }

    /// How often a player connected or disconnected.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }
}

#[cfg(test)]
mod tests {
    use super::super::seat::Wire;
    use super::*;

    #[test]
    fn newest_connection_has_the_account() {
        let (mut sessions, ann) = (Sessions::default(), PlayerName::new("ann").unwrap());
        let (seat, from) = (Seat::native(Wire::Tcp), IpAddr::from([127, 0, 0, 1]));
        [1, 2].into_iter().for_each(|conn| sessions.open(conn, seat, from));
        assert_eq!(sessions.attach(1, &ann), None);
        assert_eq!(sessions.attach(2, &ann), Some(1));
        assert_eq!(sessions.close(1), Some((seat, None)), "it lost the account before");
        assert_eq!(sessions.conn_of(&ann), Some(2));
        assert_eq!(sessions.close(2), Some((seat, Some(ann.clone()))));
        assert_eq!((sessions.conn_of(&ann), sessions.len()), (None, 0));
        assert_eq!(sessions.close(2), None);
    }
}
