//! Connections, and the account behind each. A connection attaches to an account and owns nothing.

use super::login::Checking;
use super::present::PlayerSeat;
use crate::ConnId;
use crate::seat::SeatKind;
use agon_core::lobby::TokenHash;
use agon_core::{PlayerName, Raw};
use agon_wire::native::Hello;
use rustc_hash::FxHashMap;
use std::net::IpAddr;

/// A connection and its state.
struct Session {
    seat: SeatKind,
    from: IpAddr,
    hello: Option<Hello>,
    account: Option<PlayerName>,
    /// The token it logged in with or was given.
    token: Option<TokenHash>,
    /// The password that is being checked.
    checking: Option<Checking>,
    /// True if it is shown every change of its matches.
    listens: bool,
    /// How to reach its program after a restart, if it cannot reconnect by itself.
    location: Option<Raw>,
    /// Useless lines in a row: no request, no answer.
    junk: u32,
}

/// The account or program behind a connection.
pub(super) enum Speaker {
    /// The connection did not say hello.
    Unknown,
    /// The connection is not logged in.
    Stranger,
    /// The account that the connection is logged in as.
    Account(PlayerName),
}

/// All connections.
#[derive(Default)]
pub(crate) struct Sessions(FxHashMap<ConnId, Session>);

impl Sessions {
    pub(super) fn open(&mut self, conn: ConnId, seat: SeatKind, from: IpAddr) {
        let session = Session {
            seat,
            from,
            hello: None,
            account: None,
            token: None,
            checking: None,
            listens: false,
            location: None,
            junk: 0,
        };
        self.0.insert(conn, session);
    }

    /// Forgets a connection; returns its seat and its account.
    pub(super) fn close(&mut self, conn: ConnId) -> Option<(SeatKind, Option<PlayerName>)> {
        self.0.remove(&conn).map(|session| (session.seat, session.account))
    }

    pub(crate) fn is_open(&self, conn: ConnId) -> bool {
        self.0.contains_key(&conn)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// All connections, sorted: the same inputs give the same effects.
    pub(crate) fn conns(&self) -> Vec<ConnId> {
        let mut conns: Vec<ConnId> = self.0.keys().copied().collect();
        conns.sort_unstable();
        conns
    }

    pub(crate) fn takes_lines(&self, conn: ConnId) -> bool {
        self.0.get(&conn).is_some_and(|session| session.seat.takes_lines())
    }

    /// Returns whether it is a program that the host runs for one tournament.
    pub(super) fn is_local(&self, conn: ConnId) -> bool {
        self.0.get(&conn).is_some_and(|session| session.seat.is_local)
    }

    pub(super) fn is_trusted(&self, conn: ConnId) -> bool {
        self.0.get(&conn).is_some_and(|session| session.seat.is_trusted)
    }

    /// The address of the other end.
    pub(crate) fn from(&self, conn: ConnId) -> Option<IpAddr> {
        self.0.get(&conn).map(|session| session.from)
    }

    /// The account that a connection is logged in as.
    pub(crate) fn account(&self, conn: ConnId) -> Option<&PlayerName> {
        self.0.get(&conn)?.account.as_ref()
    }

    /// The account or program behind a connection; `None` if it is closed.
    pub(super) fn speaker(&self, conn: ConnId) -> Option<Speaker> {
        let session = self.0.get(&conn)?;
        Some(match &session.account {
            _ if session.hello.is_none() => Speaker::Unknown,
            None => Speaker::Stranger,
            Some(account) => Speaker::Account(account.clone()),
        })
    }

    /// Keeps the first hello of a connection.
    pub(super) fn greet(&mut self, conn: ConnId, hello: Hello) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.hello.get_or_insert(hello);
        }
    }

    /// Forgets the hello of a connection, whose program is replaced.
    pub(super) fn forget_hello(&mut self, conn: ConnId) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.hello = None;
        }
    }

    /// Records that the player behind a connection is shown every change of their matches.
    pub(super) fn set_listens(&mut self, conn: ConnId, listens: bool) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.listens = listens;
        }
    }

    /// Logs a connection in as an account; returns the seat of the player behind it.
    pub(super) fn attach(&mut self, conn: ConnId, account: &PlayerName) -> Option<PlayerSeat> {
        let session = self.0.get_mut(&conn)?;
        session.account = Some(account.clone());
        let (seat, listens) = (session.seat, session.listens);
        Some(PlayerSeat::of_connection(conn, seat, listens, session.hello.as_ref()))
    }

    pub(super) fn is_checking(&self, conn: ConnId) -> bool {
        self.0.get(&conn).is_some_and(|session| session.checking.is_some())
    }

    /// Records the password check that a connection waits for; returns the connection's address.
    pub(super) fn begin_check(&mut self, conn: ConnId, checking: Checking) -> Option<IpAddr> {
        let session = self.0.get_mut(&conn)?;
        session.checking = Some(checking);
        Some(session.from)
    }

    /// Takes the password check that a connection waits for.
    pub(super) fn end_check(&mut self, conn: ConnId) -> Option<Checking> {
        self.0.get_mut(&conn)?.checking.take()
    }

    pub(super) fn token(&self, conn: ConnId) -> Option<TokenHash> {
        self.0.get(&conn)?.token.clone()
    }

    pub(super) fn keep_token(&mut self, conn: ConnId, token: TokenHash) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.token = Some(token);
        }
    }

    /// Where the program behind a connection is.
    pub(super) fn location(&self, conn: ConnId) -> Option<Raw> {
        self.0.get(&conn)?.location.clone()
    }

    pub(super) fn locate(&mut self, conn: ConnId, location: Raw) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.location = Some(location);
        }
    }

    /// Counts a useless line; returns how many there were in a row.
    pub(super) fn count_junk(&mut self, conn: ConnId) -> u32 {
        let Some(session) = self.0.get_mut(&conn) else { return 0 };
        session.junk += 1;
        session.junk
    }

    pub(super) fn forgive_junk(&mut self, conn: ConnId) {
        if let Some(session) = self.0.get_mut(&conn) {
            session.junk = 0;
        }
    }
}
