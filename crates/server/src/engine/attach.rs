//! Connections and who is behind them. A connection attaches to an account and owns nothing.

use super::journal::{Effect, StreamKey};
use super::{Engine, SecondLogin, lobby};
use crate::gateway::{Outbox, Tell, Written};
use crate::meters::{End, Login};
use crate::wires::{Wire, Wires};
use agon_core::lobby::{LobbyCommand, TokenHash};
use agon_core::{Fault, Match, Millis, PlayerName, Raw, TournamentId};
use agon_games::brief;
use agon_wire::native::{self, FromPlayer, Hello, ToLobby, ToPlayer};
use agon_wire::peer::Told;
use agon_wire::request::Shows;
use std::net::IpAddr;
use std::sync::Arc;

/// One connection, as long as the server runs.
pub(crate) type ConnId = u64;

/// Lines in a row that ask for nothing and answer nothing before a connection is cut off.
const JUNK_MAX: u32 = 100;

/// A connection and how far it is.
pub(crate) struct Session {
    out: Outbox,
    pub(super) from: IpAddr,
    pub(super) hello: Option<Hello>,
    pub(super) account: Option<PlayerName>,
    /// The token it came with or was given.
    pub(super) token: Option<TokenHash>,
    /// A password is being checked, as long as this is held.
    pub(super) checking: Option<Arc<()>>,
    /// Whether it is shown every change of its matches.
    pub(super) listens: bool,
    /// How its program is reached after a restart, if it cannot reconnect by itself.
    pub(super) location: Option<Raw>,
    /// Whether it let the time of a request pass and has said nothing since.
    pub(super) is_silent: bool,
    junk: u32,
}

impl Session {
    /// Over which wire it is here.
    pub(super) fn wire(&self) -> Wire {
        self.out.wire()
    }

    /// How much its requests show; players may ask for the history in every one.
    pub(super) fn shows(&self) -> Shows {
        let wants_history = self.hello.as_ref().is_some_and(|hello| hello.history);
        match self.out.shows() {
            Shows::Score if wants_history => Shows::History,
            shows => shows,
        }
    }

    /// Sends a message if there is room for it.
    pub(super) fn try_send(&self, message: &ToPlayer<'_>) -> bool {
        // Only native wires have words for messages.
        !self.wire().is_native() || self.out.send(&native::encode(message)).is_some()
    }

    /// Hands over what the wire of another system has words for, if there is room for it.
    pub(super) fn tell(&self, tell: Tell) -> bool {
        self.out.tell(tell)
    }

    /// Hands over what an observer on such a wire may be sent from then on, if there is room for it.
    pub(super) fn tell_observer(&self, told: Told, due: Millis) -> bool {
        self.out.observe(told, due)
    }

    /// Notes that the connection is an observer's: it will not log in.
    pub(super) fn admit_observer(&self) {
        self.out.logged_in();
    }

    /// Sends a line; when that was written, or will be. `None` if there is no room for it.
    pub(super) fn send_line(&self, line: &[u8]) -> Option<Written> {
        self.out.send(line)
    }

    /// Whether what is sent to it has to be flushed.
    pub(super) fn is_shared(&self) -> bool {
        self.out.is_shared()
    }

    /// Notes why it ends.
    pub(super) fn ends(&self, end: End) {
        self.out.ends(end);
    }
}

impl Engine {
    pub(super) fn opened(&mut self, conn: u64, out: Outbox, from: IpAddr) {
        let session = Session {
            out,
            from,
            hello: None,
            account: None,
            token: None,
            checking: None,
            listens: false,
            location: None,
            is_silent: false,
            junk: 0,
        };
        self.sessions.insert(conn, session);
        let server = concat!("agon/", env!("CARGO_PKG_VERSION"));
        let protocol = native::PROTOCOL_VERSION;
        self.send(conn, &ToPlayer::Greeting { protocol, server });
    }

    /// Sends a message, or cuts off a connection that does not read.
    pub(super) fn send(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        self.send_line(conn, &native::encode(message));
    }

    /// Sends a line; when that was written, or will be. `None` if nobody is there to get it, or has
    /// words for it.
    pub(super) fn send_line(&mut self, conn: ConnId, line: &[u8]) -> Option<Written> {
        let session = self.sessions.get(&conn)?;
        if !session.wire().is_native() {
            return None;
        }
        let written = session.out.send(line);
        if written.is_none() {
            // The gateway closes the socket when the outbox is gone.
            self.closed(conn);
        }
        written
    }

    /// Writes what was sent to connections that share a socket.
    pub(super) fn flush(&mut self) {
        for conn in self.unflushed.drain(..) {
            if let Some(session) = self.sessions.get(&conn) {
                session.out.flush();
            }
        }
    }

    pub(super) fn refuse(&mut self, conn: ConnId, code: &str, detail: impl Into<String>) {
        let (id, accepted) = (None, None);
        let detail = brief(detail.into());
        self.send(conn, &ToPlayer::Error { code, id, detail, accepted });
    }

    pub(super) fn said(&mut self, conn: ConnId, message: FromPlayer, at: Millis) {
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        match message {
            FromPlayer::Hello(hello) => {
                session.hello.get_or_insert(hello);
            }
            _ if session.hello.is_none() => {
                self.refuse(conn, "unexpected", "say hello first");
                self.count_junk(conn);
            }
            FromPlayer::Lobby(ToLobby::Ping {}) => self.send(conn, &ToPlayer::Pong),
            FromPlayer::Lobby(ToLobby::Login { account, password, token, register, kind }) => {
                let login = lobby::Login { account, password, token, register, kind };
                self.log_in(conn, login);
            }
            message => match session.account.clone() {
                None => {
                    self.refuse(conn, "not-logged-in", "log in first");
                    self.count_junk(conn);
                }
                Some(account) => match message {
                    FromPlayer::Answer { id, answer } => {
                        self.answered(conn, account, &id, answer, at);
                    }
                    FromPlayer::Lobby(request) => {
                        self.hear_from(conn, &account);
                        self.ask_lobby(conn, account, request);
                    }
                    FromPlayer::Hello(_) => {}
                },
            },
        }
    }

    pub(super) fn bad_line(&mut self, conn: ConnId, why: &str, line: &str) {
        let account = self.sessions.get(&conn).and_then(|session| session.account.clone());
        self.refuse(conn, "malformed", why);
        self.count_junk(conn);
        if let Some(account) = account {
            self.charge_malformed(&account, why, line);
        }
    }

    pub(super) fn count_junk(&mut self, conn: ConnId) {
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        session.junk += 1;
        if session.junk > JUNK_MAX {
            self.refuse(conn, "flood", "too many lines that nobody asked for");
            self.end(conn, End::Flood);
        }
    }

    pub(super) fn forgive_junk(&mut self, conn: ConnId) {
        if let Some(session) = self.sessions.get_mut(&conn) {
            session.junk = 0;
        }
    }

    /// Closes a connection that took too long to say who it is.
    pub(super) fn login_due(&mut self, conn: ConnId) {
        let Some(session) = self.sessions.get(&conn) else { return };
        if session.account.is_none() && session.checking.is_none() {
            self.refuse(conn, "login-timeout", "log in sooner");
            self.end(conn, End::LoginTimeout);
        }
    }

    /// Refuses a login where the account is on another connection and that one keeps it.
    pub(super) fn is_elsewhere(&mut self, conn: ConnId, account: &PlayerName) -> bool {
        let refuses = self.settings.second_login == SecondLogin::Refuse;
        let elsewhere = refuses && self.conn_of(account).is_some_and(|other| other != conn);
        if elsewhere {
            let detail = "the account is on another connection; close that one";
            self.login_was(conn, Some(account), Login::Refused);
            self.refuse(conn, "logged-in-elsewhere", detail);
        }
        elsewhere
    }

    /// Ties a connection to an account. Another connection of the account is taken over.
    pub(super) fn attach(&mut self, conn: ConnId, account: &PlayerName) {
        if !self.sessions.contains_key(&conn) {
            // It went while its login was on its way to the log.
            return self.log_out_later(account.clone());
        }
        self.gone_since.remove(account);
        self.cut_off.remove(account);
        self.attachments += 1;
        if !self.lobby.line().contains(account) {
            // Its time to come back ran out while its login was on its way to the log.
            let command = LobbyCommand::LogIn { account: account.clone() };
            let _ = self.step_lobby(command, Vec::new());
        }
        if let Some(old) = self.here.insert(account.clone(), conn)
            && old != conn
            && let Some(session) = self.sessions.get_mut(&old)
        {
            session.account = None;
            session.ends(End::TakenOver);
            self.refuse(old, "taken-over", "the account logged in on another connection");
            self.sessions.remove(&old);
            self.unsubscribe(old);
        }
        if let Some(session) = self.sessions.get_mut(&conn) {
            session.account = Some(account.clone());
            session.out.logged_in();
        }
        self.login_was(conn, Some(account), Login::Good);
        self.tell_tournaments(conn, account);
        self.player_is_here(account);
        // What the lobby has for it now may be on its way to the disk. What it has later is told when
        // that is durable.
        let invitations = self.invitations_of(account);
        let owed: Vec<TournamentId> = self.lobby.owed_to(account).cloned().collect();
        let account = account.clone();
        let tell: Effect = Box::new(move |engine| {
            for (about, data) in invitations {
                engine.notify(conn, about, &data);
            }
            engine.deliver_results(conn, &account, &owed);
            if engine.conn_of(&account) == Some(conn) {
                engine.tell_blacklisted(&account);
            }
        });
        self.once_durable(vec![StreamKey::Lobby], tell);
    }

    /// Ends a connection, for a reason the operator may want to know.
    pub(super) fn end(&mut self, conn: ConnId, end: End) {
        if let Some(session) = self.sessions.get(&conn) {
            session.ends(end);
        }
        if let Some((account, wire)) = self.detach(conn) {
            self.miss(&account);
            self.without_connection(account, wire);
        }
    }

    /// A connection was lost.
    pub(super) fn closed(&mut self, conn: ConnId) {
        if let Some((account, wire)) = self.detach(conn) {
            self.lose(&account);
            self.without_connection(account, wire);
        }
    }

    /// The same, for a reason that is known.
    pub(super) fn lost(&mut self, conn: ConnId, fault: &Fault) {
        if let Some((account, wire)) = self.detach(conn) {
            self.player_is_gone(&account, fault);
            self.without_connection(account, wire);
        }
    }

    /// Forgets a connection; the account that is without one now, if it is, and its wire.
    pub(super) fn detach(&mut self, conn: ConnId) -> Option<(PlayerName, Wire)> {
        let session = self.sessions.remove(&conn)?;
        self.unsubscribe(conn);
        self.peer_observers.remove(&conn);
        let wire = session.wire();
        let account = session.account?;
        if self.here.get(&account) != Some(&conn) {
            return None;
        }
        self.here.remove(&account);
        self.attachments += 1;
        Some((account, wire))
    }

    fn without_connection(&mut self, account: PlayerName, wire: Wire) {
        match wire.is_native() {
            true => self.log_out_later(account),
            false => self.peer_is_gone(&account),
        }
    }

    /// Over which wire a player is here, if it is.
    pub(crate) fn wire_of(&self, player: &PlayerName) -> Option<Wire> {
        self.sessions.get(self.here.get(player)?).map(Session::wire)
    }

    /// Over which wires the players of a match are here.
    pub(crate) fn wires(&self, played: &Match) -> Wires {
        let players = played.plan().players.iter();
        players.filter_map(|player| Some((player.clone(), self.wire_of(player)?))).collect()
    }

    pub(super) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.here.get(player).copied()
    }
}
