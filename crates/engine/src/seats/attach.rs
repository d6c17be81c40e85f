//! Connections and the accounts they are attached to. A connection owns no state of a player.

use super::login::LoginRequest;
use super::sessions::Speaker;
use crate::engines::ToLobby as ToLobbyEngine;
use crate::follow_up::{FollowUp, Notices};
use crate::journal::StreamKey;
use crate::port::{FromSeat, GivenAnswer};
use crate::seat::SeatKind;
use crate::timers::Timer;
use crate::{CloseReason, ConnId, Effect, Engine, LoginOutcome, Note, SecondLogin, Tell};
use agon_core::lobby::LobbyCommand;
use agon_core::{Fault, PlayerName, Timestamp, TournamentId};
use agon_games::brief;
use agon_wire::native::{self, FromPlayer, ToLobby, ToPlayer};
use std::net::IpAddr;

/// How many useless lines in a row (no request, no answer) the engine accepts before it closes a
/// connection.
const JUNK_MAX: u32 = 100;

impl Engine {
    pub(crate) fn opened(&mut self, conn: ConnId, seat: SeatKind, from: IpAddr) {
        self.seats.sessions.open(conn, seat, from);
        let server = concat!("agon/", env!("CARGO_PKG_VERSION"));
        let protocol = native::PROTOCOL_VERSION;
        self.send(conn, &ToPlayer::Greeting { protocol, server });
    }

    /// Sends a connection a message. Of these a local program is sent errors only: it knows no
    /// lobby. The driver closes a connection that does not read.
    pub(crate) fn send(&mut self, conn: ConnId, message: &ToPlayer<'_>) {
        if self.services.has_only_cells() {
            // Only connections that take lines are sent anything by another engine.
            return self.services.send_line(conn, message);
        }
        let sessions = &self.seats.sessions;
        let is_error = matches!(message, ToPlayer::Error { .. });
        // Only the native protocol can express messages.
        if sessions.takes_lines(conn) && (is_error || !sessions.is_local(conn)) {
            self.services.send_line(conn, message);
        }
    }

    /// Sends a structured call to a connection that takes calls.
    pub(crate) fn call(&mut self, conn: ConnId, tell: Tell) {
        if self.seats.sessions.is_open(conn) {
            self.services.effects.push(Effect::Call { conn, tell: Box::new(tell) });
        }
    }

    pub(crate) fn refuse(&mut self, conn: ConnId, code: &str, detail: impl Into<String>) {
        let (id, accepted) = (None, None);
        let detail = brief(detail.into());
        self.send(conn, &ToPlayer::Error { code, id, detail, accepted });
    }

    pub(crate) fn said(&mut self, conn: ConnId, message: FromPlayer, at: Timestamp) {
        let Some(speaker) = self.seats.sessions.speaker(conn) else { return };
        match (message, speaker) {
            (FromPlayer::Hello(hello), _) => self.seats.sessions.greet(conn, hello),
            (_, Speaker::Unknown) => {
                self.refuse(conn, "unexpected", "say hello first");
                self.count_junk(conn);
            }
            (FromPlayer::Answer { id, answer }, Speaker::Account(account)) => {
                let given = GivenAnswer::Plain(id.clone(), answer);
                self.answered(conn, &account, id, given, at);
            }
            (FromPlayer::Lobby(ToLobby::Ping {}), _) => self.send(conn, &ToPlayer::Pong),
            (FromPlayer::Lobby(ToLobby::Login { account, password, token, register, kind }), _) => {
                let login = LoginRequest { account, password, token, register, kind };
                self.log_in(conn, login);
            }
            (FromPlayer::Lobby(request), Speaker::Account(account)) => {
                self.tell_cells(&account, FromSeat::Heard);
                self.ask_lobby(conn, account, request);
            }
            (_, Speaker::Stranger) => {
                self.refuse(conn, "not-logged-in", "log in first");
                self.count_junk(conn);
            }
        }
    }

    pub(crate) fn bad_line(&mut self, conn: ConnId, why: &str, line: &str) {
        let account = self.seats.sessions.account(conn).cloned();
        self.refuse(conn, "malformed", why);
        self.count_junk(conn);
        if let Some(account) = account {
            let (why, line) = (why.to_owned(), line.to_owned());
            self.tell_cells(&account, FromSeat::Malformed { why, line });
        }
    }

    pub(crate) fn count_junk(&mut self, conn: ConnId) {
        if self.services.has_only_cells() {
            return self.services.pass_to_lobby(ToLobbyEngine::CountJunk(conn));
        }
        if self.seats.sessions.count_junk(conn) > JUNK_MAX {
            self.refuse(conn, "flood", "too many lines that nobody asked for");
            let fault = Fault::disconnected(format!("sent over {JUNK_MAX} lines nobody asked for"));
            self.lost(conn, &fault, CloseReason::Flood);
        }
    }

    pub(crate) fn forgive_junk(&mut self, conn: ConnId) {
        self.seats.sessions.forgive_junk(conn);
    }

    /// Closes a connection that did not log in in time.
    pub(crate) fn login_due(&mut self, conn: ConnId) {
        let sessions = &self.seats.sessions;
        if sessions.is_open(conn) && sessions.account(conn).is_none() && !sessions.is_checking(conn)
        {
            self.refuse(conn, "login-timeout", "log in sooner");
            self.end(conn, CloseReason::LoginTimeout);
        }
    }

    /// Rejects a login if the account is on another connection and that connection keeps it.
    pub(crate) fn is_elsewhere(&mut self, conn: ConnId, account: &PlayerName) -> bool {
        let refuses = self.services.settings.second_login == SecondLogin::Refuse;
        let elsewhere = refuses && self.conn_of(account).is_some_and(|other| other != conn);
        if elsewhere {
            let detail = "the account is on another connection; close that one";
            self.login_was(conn, Some(account), LoginOutcome::Refused);
            self.refuse(conn, "logged-in-elsewhere", detail);
        }
        elsewhere
    }

    /// Attaches a connection to an account. It takes over from another connection of the account.
    pub(crate) fn attach(&mut self, conn: ConnId, account: &PlayerName) {
        if !self.seats.sessions.is_open(conn) {
            // The connection was closed while its login was in flight.
            return self.log_out_later(account.clone());
        }
        self.cells.note_returned(account);
        if !self.lobby.state().line().contains(account) {
            // The reconnect deadline passed while the login was in flight.
            let command = LobbyCommand::LogIn { account: account.clone() };
            let _ = self.step_lobby(command, Vec::new());
        }
        let Some(seat) = self.seats.sessions.attach(conn, account) else { return };
        if let Some(old) = self.services.present.arrive(account, seat) {
            self.refuse(old, "taken-over", "the account logged in on another connection");
            self.seats.forget(old);
            let why = CloseReason::TakenOver;
            self.services.effects.push(Effect::Close { conn: old, why });
        }
        self.services.effects.push(Effect::Admit { conn });
        self.login_was(conn, Some(account), LoginOutcome::Good);
        self.pass_arrival(account);
        self.tell_cells(account, FromSeat::Arrive);
        // The lobby's records about this account may be in flight. Records that follow send
        // notifications of their own once they are durable.
        let invitations = self.lobby.invitations_of(account, self.now_ms());
        let owed: Vec<TournamentId> = self.lobby.state().owed_to(account).cloned().collect();
        let waiting = account.clone();
        let account = account.clone();
        let inform = FollowUp::Inform { conn, account, invitations, owed };
        self.once_durable(vec![StreamKey::Lobby], inform);
        self.fill_queues_of(&waiting);
    }

    /// Sends a connection that logged in the lobby's notices for its account.
    pub(crate) fn inform(
        &mut self,
        conn: ConnId,
        account: &PlayerName,
        invitations: &Notices,
        owed: &[TournamentId],
    ) {
        for (about, data) in invitations {
            self.send(conn, &ToPlayer::notice(about, Some(agon_games::json(data))));
        }
        self.deliver_results(conn, account, owed);
        if self.conn_of(account) == Some(conn) {
            self.tell_blacklisted(account);
        }
    }

    /// Closes a connection, with a reason for the operator.
    pub(crate) fn end(&mut self, conn: ConnId, why: CloseReason) {
        if let Some((account, seat)) = self.detach(conn, why) {
            self.miss(&account);
            self.without_connection(account, seat);
        }
    }

    /// The other end closed a connection.
    pub(crate) fn closed(&mut self, conn: ConnId) {
        if let Some((account, seat)) = self.detach(conn, CloseReason::Left) {
            self.lose(&account);
            self.without_connection(account, seat);
        }
    }

    /// Like `closed`, with a fault that says how the connection was lost.
    pub(crate) fn lost(&mut self, conn: ConnId, fault: &Fault, why: CloseReason) {
        if let Some((account, seat)) = self.detach(conn, why) {
            self.tell_cells(&account, FromSeat::Leave(fault.clone()));
            self.without_connection(account, seat);
        }
    }

    /// Forgets a connection. Returns its seat and the account, if that account has no connection
    /// now.
    pub(crate) fn detach(
        &mut self,
        conn: ConnId,
        why: CloseReason,
    ) -> Option<(PlayerName, SeatKind)> {
        let (seat, account) = self.seats.forget(conn)?;
        self.services.effects.push(Effect::Close { conn, why });
        self.cells.forget_observer(conn);
        let account = account.filter(|account| self.services.present.leave(account, conn))?;
        self.pass_detached(&account, conn);
        Some((account, seat))
    }

    /// Forgets a connection that closes because the server stops: nobody is charged as absent.
    pub(crate) fn forget(&mut self, conn: ConnId) {
        if let Some((_, Some(account))) = self.seats.forget(conn) {
            self.services.present.leave(&account, conn);
        }
    }

    fn without_connection(&mut self, account: PlayerName, seat: SeatKind) {
        match seat.takes_lines() {
            true => self.log_out_later(account),
            false => self.peer_is_gone(&account),
        }
    }

    /// Handles the lost connection of an account: charges a program at once, and a person after a
    /// while.
    fn lose(&mut self, account: &PlayerName) {
        let away_ms = self.services.away_ms();
        match self.lobby.accounts().is_person(account) && away_ms > 0 {
            true => {
                let at = self.services.time.now + away_ms;
                self.services.timers.set(at, Timer::Away(account.clone()));
            }
            false => self.miss(account),
        }
    }

    /// Charges a person as absent, unless they reconnected or lost a later connection since.
    pub(crate) fn miss_if_away(&mut self, account: &PlayerName) {
        let since = self.services.present.gone_since(account);
        let due =
            since.is_some_and(|since| since + self.services.away_ms() <= self.services.time.now);
        if due && self.conn_of(account).is_none() {
            self.miss(account);
        }
    }

    fn miss(&mut self, account: &PlayerName) {
        let fault = Fault::disconnected("the connection was lost");
        self.tell_cells(account, FromSeat::Leave(fault));
    }

    pub(crate) fn conn_of(&self, player: &PlayerName) -> Option<ConnId> {
        self.services.conn_of(player)
    }

    /// Returns whether a player has a connection.
    pub fn is_connected(&self, player: &PlayerName) -> bool {
        self.conn_of(player).is_some()
    }

    /// Reports the outcome of a connection's attempt to log in.
    pub(crate) fn login_was(
        &mut self,
        conn: ConnId,
        account: Option<&PlayerName>,
        outcome: LoginOutcome,
    ) {
        let from = self.seats.sessions.from(conn);
        self.note_login(Some(conn), from, account, outcome);
    }

    /// Reports the outcome of an attempt to log in, over any wire.
    pub(crate) fn note_login(
        &mut self,
        conn: Option<ConnId>,
        from: Option<IpAddr>,
        account: Option<&PlayerName>,
        outcome: LoginOutcome,
    ) {
        // A name without an account may be a password in the wrong field.
        let lobby = self.lobby.state();
        let account = account.filter(|name| lobby.account(name).is_some()).cloned();
        self.note(Note::Login { conn, from, account, outcome });
    }

    /// Subscribes a connection to sign-ups: it is sent the open ones now, and later ones when they
    /// open.
    pub(crate) fn subscribe(&mut self, conn: ConnId) {
        self.seats.subscribers.insert(conn);
        self.forgive_junk(conn);
        self.once_durable(vec![StreamKey::Lobby], FollowUp::ConfirmSubscription(conn));
    }

    pub(crate) fn confirm_subscription(&mut self, conn: ConnId) {
        self.send(conn, &ToPlayer::Done { what: "subscribe", tournament: None });
        if let Some(data) = self.lobby.open_sign_ups(self.now_ms()) {
            self.send(conn, &ToPlayer::notice("sign-up-open", Some(agon_games::json(&data))));
        }
    }

    /// Queues a sign-up that opened, if anybody is subscribed.
    pub(crate) fn sign_up_opened(&mut self, id: TournamentId) {
        if !self.seats.subscribers.is_empty() {
            self.lobby.sign_up_opened(&mut self.services, id);
        }
    }

    /// Notifies subscribers of sign-ups that opened.
    pub(crate) fn tell_news(&mut self) {
        let Some(data) = self.lobby.take_news(self.now_ms()) else { return };
        let data = agon_games::json(&data);
        for conn in self.seats.subscribers.clone() {
            self.send(conn, &ToPlayer::notice("sign-up-open", Some(data.clone())));
        }
    }
}
