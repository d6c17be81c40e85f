//! Connections and the accounts they are attached to. A connection owns no state of a player.

use super::follow_up::{FollowUp, Notices};
use super::journal::StreamKey;
use super::lobby::LoginRequest;
use super::seat::Seat;
use super::{CloseReason, ConnId, Effect, Engine, LoginOutcome, SecondLogin, Tell, Wire, Wires};
use agon_core::lobby::LobbyCommand;
use agon_core::{Fault, Match, Millis, PlayerName, TournamentId};
use agon_games::brief;
use agon_wire::native::{self, FromPlayer, ToLobby, ToPlayer};
use std::net::IpAddr;

/// How many useless lines in a row (no request, no answer) the engine accepts before it closes a
/// connection.
const JUNK_MAX: u32 = 100;

impl Engine {
    pub(super) fn opened(&mut self, conn: ConnId, seat: Seat, from: IpAddr) {
        self.sessions.open(conn, seat, from);
        let server = concat!("agon/", env!("CARGO_PKG_VERSION"));
        let protocol = native::PROTOCOL_VERSION;
        self.send(conn, &ToPlayer::Greeting { protocol, server });
    }

    /// Sends a message. Of these a local program is sent errors only: it knows no lobby.
    pub(super) fn send(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        if matches!(message, ToPlayer::Error { .. }) || !self.is_local(conn) {
            self.write(conn, message);
        }
    }

    /// Writes a message. The driver closes a connection that does not read.
    pub(super) fn write(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        let session = self.sessions.get(conn);
        // Only the native protocol can express messages.
        if session.is_some_and(|session| session.seat.takes_lines()) {
            let line = self.effects.write(&native::encode(message));
            self.effects.push(Effect::Send { conn, line });
        }
    }

    /// Sends a structured call to a connection that takes calls.
    pub(super) fn call(&mut self, conn: ConnId, tell: Tell) {
        if self.sessions.is_open(conn) {
            self.effects.push(Effect::Call { conn, tell: Box::new(tell) });
        }
    }

    pub(super) fn refuse(&mut self, conn: ConnId, code: &str, detail: impl Into<String>) {
        let (id, accepted) = (None, None);
        let detail = brief(detail.into());
        self.send(conn, &ToPlayer::Error { code, id, detail, accepted });
    }

    pub(super) fn said(&mut self, conn: ConnId, message: FromPlayer, at: Millis) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
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
                let login = LoginRequest { account, password, token, register, kind };
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
        let account = self.sessions.get(conn).and_then(|session| session.account.clone());
        self.refuse(conn, "malformed", why);
        self.count_junk(conn);
        if let Some(account) = account {
            self.charge_malformed(&account, why, line);
        }
    }

    pub(super) fn count_junk(&mut self, conn: ConnId) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        session.junk += 1;
        if session.junk > JUNK_MAX {
            self.refuse(conn, "flood", "too many lines that nobody asked for");
            let fault = Fault::disconnected(format!("sent over {JUNK_MAX} lines nobody asked for"));
            self.lost(conn, &fault, CloseReason::Flood);
        }
    }

    pub(super) fn forgive_junk(&mut self, conn: ConnId) {
        if let Some(session) = self.sessions.get_mut(conn) {
            session.junk = 0;
        }
    }

    /// Closes a connection that did not log in in time.
    pub(super) fn login_due(&mut self, conn: ConnId) {
        let Some(session) = self.sessions.get(conn) else { return };
        if session.account.is_none() && session.checking.is_none() {
            self.refuse(conn, "login-timeout", "log in sooner");
            self.end(conn, CloseReason::LoginTimeout);
        }
    }

    /// Rejects a login if the account is on another connection and that connection keeps it.
    pub(super) fn is_elsewhere(&mut self, conn: ConnId, account: &PlayerName) -> bool {
        let refuses = self.settings.second_login == SecondLogin::Refuse;
        let elsewhere = refuses && self.conn_of(account).is_some_and(|other| other != conn);
        if elsewhere {
            let detail = "the account is on another connection; close that one";
            self.login_was(conn, Some(account), LoginOutcome::Refused);
            self.refuse(conn, "logged-in-elsewhere", detail);
        }
        elsewhere
    }

    /// Attaches a connection to an account. It takes over from another connection of the account.
    pub(super) fn attach(&mut self, conn: ConnId, account: &PlayerName) {
        if !self.sessions.is_open(conn) {
            // The connection was closed while its login was in flight.
            return self.log_out_later(account.clone());
        }
        self.cut_off.remove(account);
        if !self.lobby.line().contains(account) {
            // The reconnect deadline passed while the login was in flight.
            let command = LobbyCommand::LogIn { account: account.clone() };
            let _ = self.step_lobby(command, Vec::new());
        }
        if let Some(old) = self.sessions.attach(conn, account) {
            self.refuse(old, "taken-over", "the account logged in on another connection");
            self.sessions.close(old);
            self.unsubscribe(old);
            self.effects.push(Effect::Close { conn: old, why: CloseReason::TakenOver });
        }
        self.effects.push(Effect::Admit { conn });
        self.login_was(conn, Some(account), LoginOutcome::Good);
        self.tell_tournaments(conn, account);
        self.player_is_here(account);
        // The lobby's records about this account may be in flight. Records that follow send
        // notifications of their own once they are durable.
        let invitations = self.invitations_of(account);
        let owed: Vec<TournamentId> = self.lobby.owed_to(account).cloned().collect();
        let account = account.clone();
        let inform = FollowUp::Inform { conn, account, invitations, owed };
        self.once_durable(vec![StreamKey::Lobby], inform);
    }

    /// Sends a connection that logged in the lobby's notices for its account.
    pub(super) fn inform(
        &mut self,
        conn: ConnId,
        account: &PlayerName,
        invitations: &Notices,
        owed: &[TournamentId],
    ) {
        for (about, data) in invitations {
            self.notify(conn, about, data);
        }
        self.deliver_results(conn, account, owed);
        if self.conn_of(account) == Some(conn) {
            self.tell_blacklisted(account);
        }
    }

    /// Closes a connection, with a reason for the operator.
    pub(super) fn end(&mut self, conn: ConnId, why: CloseReason) {
        if let Some((account, seat)) = self.detach(conn, why) {
            self.miss(&account);
            self.without_connection(account, seat);
        }
    }

    /// The other end closed a connection.
    pub(super) fn closed(&mut self, conn: ConnId) {
        if let Some((account, seat)) = self.detach(conn, CloseReason::Left) {
            self.lose(&account);
            self.without_connection(account, seat);
        }
    }

    /// Like `closed`, with a fault that says how the connection was lost.
    pub(super) fn lost(&mut self, conn: ConnId, fault: &Fault, why: CloseReason) {
        if let Some((account, seat)) = self.detach(conn, why) {
            self.player_is_gone(&account, fault);
            self.without_connection(account, seat);
        }
    }

    /// Forgets a connection. Returns its seat and the account, if that account has no connection
    /// now.
    pub(super) fn detach(&mut self, conn: ConnId, why: CloseReason) -> Option<(PlayerName, Seat)> {
        let (seat, account) = self.sessions.close(conn)?;
        self.effects.push(Effect::Close { conn, why });
        self.unsubscribe(conn);
        self.peer_observers.remove(&conn);
        Some((account?, seat))
    }

    fn without_connection(&mut self, account: PlayerName, seat: Seat) {
        match seat.takes_lines() {
            true => self.log_out_later(account),
            false => self.peer_is_gone(&account),
        }
    }

    /// The seat of a player who is connected.
    pub(super) fn seat_of(&self, player: &PlayerName) -> Option<Seat> {
        self.sessions.of(player).map(|session| session.seat)
    }

    /// Whether a player can receive requests: they are a house player, or connected.
    pub(super) fn is_seated(&self, player: &PlayerName) -> bool {
        self.houses.house_of(player).is_some() || self.conn_of(player).is_some()
    }

    /// The wire over which a player is connected, if they are.
    pub(crate) fn wire_of(&self, player: &PlayerName) -> Option<Wire> {
        self.seat_of(player).map(|seat| seat.wire)
    }

    /// The wires over which the players of a match are connected.
    pub(crate) fn wires(&self, played: &Match) -> Wires {
        let players = played.plan().players.iter();
        players.filter_map(|player| Some((player.clone(), self.wire_of(player)?))).collect()
    }

    pub(super) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.sessions.conn_of(player)
    }
}
