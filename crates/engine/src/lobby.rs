//! The lobby's side of connections: logging in, queues, announcements.

use super::follow_up::FollowUp;
use super::journal::StreamKey;
use super::news::news_of;
use super::{
    CloseReason, ConnId, Effect, Engine, LoginOutcome, PasswordCheck, PasswordResult, Timer,
};
use crate::{names, password};
use agon_core::lobby::{AccountKind, LobbyCommand, LobbyRejection, QueueName, Role, TokenHash};
use agon_core::{Event, Fault, FaultKind, PlayerName, TournamentId};
use agon_wire::native::{ToLobby, ToPlayer};

/// The credentials of a login.
pub(crate) struct LoginRequest {
    pub(crate) account: Option<PlayerName>,
    pub(crate) password: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) register: bool,
    /// The kind of a new account.
    pub(crate) kind: Option<AccountKind>,
}

/// A password that is being checked.
pub(crate) struct Checking {
    account: PlayerName,
    /// The kind of a new account.
    kind: AccountKind,
    /// Whether the account changes its password.
    for_change: bool,
}

impl Engine {
    /// Lets the lobby decide, commits its events, and names their follow-ups.
    pub(super) fn step_lobby(
        &mut self,
        command: LobbyCommand,
        mut follow_ups: Vec<FollowUp>,
    ) -> Result<(), LobbyRejection> {
        let now = self.now_ms();
        let waiting = self.waiting_for(&command);
        let events = self.lobby.step(now, command)?;
        for event in &events {
            match event {
                Event::TournamentStarted(started) => {
                    follow_ups.push(FollowUp::Start(Box::new(started.plan.clone())));
                }
                Event::AccountBlacklisted(listed) => {
                    follow_ups.push(FollowUp::Expel(listed.account.clone()));
                }
                _ => {}
            }
        }
        follow_ups.extend(news_of(&events, waiting));
        self.commit_at(now, StreamKey::Lobby, &events, follow_ups);
        self.set_lobby_timer();
        Ok(())
    }

    /// Sets the lobby's timer to its next deadline, unless the timer fires before that.
    pub(super) fn set_lobby_timer(&mut self) {
        if let Some(deadline) = self.lobby.deadline() {
            self.timers.set_lobby(deadline);
        }
    }

    pub(super) fn lobby_due(&mut self) {
        while let Some(command) = self.lobby.due(self.now_ms()) {
            if self.step_lobby(command, Vec::new()).is_err() {
                break;
            }
        }
        self.set_lobby_timer();
    }

    /// Creates accounts for house players, so that they can be named and looked up like others.
    pub(super) fn register_houses(&mut self) {
        for game in self.games.names() {
            for name in self.houses.names(game) {
                let plain = name.split(':').next().unwrap_or(&name);
                let Ok(account) = PlayerName::of_house(plain) else { continue };
                if self.lobby.account(&account).is_none() {
                    let (kind, role, password) = (AccountKind::House, Role::Player, None);
                    let command = LobbyCommand::Register { account, kind, role, password };
                    let _ = self.step_lobby(command, Vec::new());
                }
            }
        }
    }

    pub(super) fn log_in(&mut self, conn: ConnId, login: LoginRequest) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        if session.checking.is_some() {
            return self.refuse(conn, "busy", "the last login is still being checked");
        }
        if session.account.is_some() {
            let detail = "this connection is logged in; log out, or open another";
            return self.refuse(conn, "unexpected", detail);
        }
        let LoginRequest { account, password, token, register, kind } = login;
        if let Some(token) = token {
            let holder = self.lobby.holder(&TokenHash::of(&token), self.now_ms()).cloned();
            return match holder {
                Some(account) => self.welcome(conn, account, TokenHash::of(&token), None),
                None => {
                    self.login_was(conn, None, LoginOutcome::Wrong);
                    self.refuse(conn, "wrong-credentials", "the token is not good");
                }
            };
        }
        let (Some(account), Some(password)) = (account, password) else {
            let detail = "a login has an account and a password, or a token";
            return self.refuse(conn, "malformed", detail);
        };
        if let Err(detail) = password::check_length(&password) {
            return self.refuse(conn, "malformed", detail);
        }
        if account.house().is_some() {
            self.login_was(conn, Some(&account), LoginOutcome::Refused);
            return self.refuse(conn, "wrong-credentials", "house players do not log in");
        }
        let kind = kind.unwrap_or(AccountKind::Program);
        if kind == AccountKind::House {
            let detail = "an account is a program or a person; house players are the server's own";
            return self.refuse(conn, "malformed", detail);
        }
        // Old accounts may have names that are not normalized.
        let account = match self.lobby.account(&account) {
            Some(_) => account,
            None => names::normalized(&account),
        };
        let known = self.lobby.account(&account).map(|known| known.password.clone());
        let is_new = known.is_none() && register;
        if is_new && let Err(detail) = names::check_new(&account) {
            return self.refuse(conn, "bad-name", detail);
        }
        // The gateway of a trusted seat keeps strangers out, so its programs may register with the
        // password they were written with.
        let trusted = self.sessions.get(conn).is_some_and(|session| session.seat.is_trusted);
        if is_new
            && !trusted
            && let Err(detail) = password::check_new(&password)
        {
            return self.refuse(conn, "weak-password", detail);
        }
        let check = match known {
            Some(hash) => PasswordCheck::Verify { password, hash },
            None if register => PasswordCheck::Hash { password },
            None => PasswordCheck::VerifyNobody { password },
        };
        self.check(conn, Checking { account, kind, for_change: false }, check);
    }

    /// Has the driver check a password, unless the connection closes first.
    fn check(&mut self, conn: ConnId, checking: Checking, check: PasswordCheck) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        let (from, account) = (session.from, checking.account.clone());
        session.checking = Some(checking);
        self.effects.push(Effect::CheckPassword { conn, from, account, check });
    }

    pub(super) fn checked(&mut self, conn: ConnId, result: PasswordResult) {
        let Some(session) = self.sessions.get_mut(conn) else { return };
        let Some(Checking { account, kind, for_change }) = session.checking.take() else { return };
        match result {
            PasswordResult::Right => self.welcome_with_token(conn, account),
            PasswordResult::NotChecked(why) => {
                self.login_was(conn, None, LoginOutcome::Throttled);
                self.refuse(conn, "slow-down", why);
                self.count_junk(conn);
            }
            PasswordResult::Wrong => {
                self.login_was(conn, Some(&account), LoginOutcome::Wrong);
                self.refuse(conn, "wrong-credentials", "no such account, or another password");
                self.count_junk(conn);
            }
            PasswordResult::Failed(why) => self.refuse(conn, "failed", why),
            PasswordResult::Hashed(password) if for_change => {
                let keep = self.sessions.get(conn).and_then(|session| session.token.clone());
                let (what, about) = ("change-password", None);
                let done = FollowUp::Done { conn, what, about };
                let command = LobbyCommand::ChangePassword { account, password, keep };
                if let Err(rejection) = self.step_lobby(command, vec![done]) {
                    self.refuse(conn, "refused", rejection.to_string());
                }
            }
            PasswordResult::Hashed(hash) => {
                let (name, role, password) = (account.clone(), Role::Player, Some(hash));
                let command = LobbyCommand::Register { account: name, kind, role, password };
                match self.step_lobby(command, Vec::new()) {
                    Ok(()) => self.welcome_with_token(conn, account),
                    Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
                }
            }
        }
    }

    fn welcome_with_token(&mut self, conn: ConnId, account: PlayerName) {
        if self.is_elsewhere(conn, &account) {
            return;
        }
        let token = self.entropy.token();
        let expires_at = self.now_ms() + self.settings.token_ms;
        let hash = TokenHash::of(&token);
        let command =
            LobbyCommand::IssueToken { account: account.clone(), token: hash.clone(), expires_at };
        match self.step_lobby(command, Vec::new()) {
            Ok(()) => self.welcome(conn, account, hash, Some(token)),
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    /// Logs an account in once its login is durable.
    fn welcome(
        &mut self,
        conn: ConnId,
        account: PlayerName,
        hash: TokenHash,
        token: Option<String>,
    ) {
        if self.is_elsewhere(conn, &account) {
            return;
        }
        self.keep_location(conn, &account);
        let welcome = FollowUp::Welcome { conn, account: account.clone(), hash, token };
        let _ = self.step_lobby(LobbyCommand::LogIn { account }, vec![welcome]);
    }

    /// Completes a login that is durable.
    pub(super) fn let_in(
        &mut self,
        conn: ConnId,
        account: &PlayerName,
        hash: TokenHash,
        token: Option<&str>,
    ) {
        let (_, waiting) = self.lobby.involvement(account);
        let active = self.active_tournaments(account);
        let other = self.sessions.get(conn).and_then(|session| session.account.as_ref());
        if other.is_some() {
            return self.refuse(conn, "unexpected", "this connection is logged in");
        }
        // Another connection may have logged in while this login was in flight.
        if self.is_elsewhere(conn, account) {
            return;
        }
        self.send(conn, &ToPlayer::Welcome { account, token, active, waiting });
        if let Some(session) = self.sessions.get_mut(conn) {
            session.token = Some(hash);
        }
        self.attach(conn, account);
    }

    pub(super) fn ask_lobby(&mut self, conn: ConnId, player: PlayerName, request: ToLobby) {
        let (what, about, command) = match request {
            ToLobby::Enqueue { queue } => match QueueName::new(&queue) {
                Ok(queue) => ("enqueue", None, LobbyCommand::Enqueue { player, queue }),
                Err(bad) => return self.refuse(conn, "malformed", bad.to_string()),
            },
            ToLobby::Dequeue { queue } => match QueueName::new(&queue) {
                Ok(queue) => ("dequeue", None, LobbyCommand::Dequeue { player, queue }),
                Err(bad) => return self.refuse(conn, "malformed", bad.to_string()),
            },
            ToLobby::SignUp { tournament, age } => {
                let tournament = self.lobby.latest_of(tournament);
                let id = Some(tournament.clone());
                ("sign-up", id, LobbyCommand::SignUp { tournament, player, age })
            }
            ToLobby::Withdraw { tournament } => return self.leave(conn, player, tournament),
            ToLobby::Accept { tournament } => {
                let id = Some(tournament.clone());
                ("accept", id, LobbyCommand::Accept { tournament, player })
            }
            ToLobby::Reject { tournament } => {
                let id = Some(tournament.clone());
                ("reject", id, LobbyCommand::Reject { tournament, player })
            }
            ToLobby::Ready { tournament } => {
                let id = Some(tournament.clone());
                ("ready", id, LobbyCommand::BeReady { tournament, player })
            }
            ToLobby::Subscribe {} => return self.subscribe(conn),
            ToLobby::Announce { tournament } => {
                return self.announce_for(conn, player, tournament);
            }
            ToLobby::Logout {} => return self.log_out(conn, player),
            ToLobby::ChangePassword { old, new } => {
                return self.change_password(conn, player, old, new);
            }
            ToLobby::Login { .. } | ToLobby::Ping {} => return,
        };
        match self.step_lobby(command, vec![FollowUp::Done { conn, what, about }]) {
            Ok(()) => self.forgive_junk(conn),
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    /// Withdraws a sign-up, or leaves a running tournament; confirms it when all of it is durable.
    fn leave(&mut self, conn: ConnId, player: PlayerName, tournament: TournamentId) {
        let tournament = self.lobby.left_by(tournament, &player);
        match self.withdraw(tournament.clone(), player) {
            Ok(mut streams) => {
                self.forgive_junk(conn);
                streams.push(StreamKey::Lobby);
                let about = Some(tournament);
                self.once_durable(streams, FollowUp::Done { conn, what: "withdraw", about });
            }
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    fn change_password(&mut self, conn: ConnId, account: PlayerName, old: String, new: String) {
        if let Err(detail) = password::check_length(&new) {
            return self.refuse(conn, "malformed", detail);
        }
        if let Err(detail) = password::check_new(&new) {
            return self.refuse(conn, "weak-password", detail);
        }
        let known = self.lobby.account(&account).and_then(|known| known.password.clone());
        let Some(session) = self.sessions.get_mut(conn) else { return };
        if session.checking.is_some() {
            return self.refuse(conn, "busy", "the last password is still being checked");
        }
        let kind = AccountKind::Program;
        let checking = Checking { account, kind, for_change: true };
        self.check(conn, checking, PasswordCheck::Change { old, new, hash: known });
    }

    fn log_out(&mut self, conn: ConnId, account: PlayerName) {
        self.send(conn, &ToPlayer::Done { what: "logout", tournament: None });
        let fault = Fault::new(FaultKind::Disconnected, "logged-out", "it logged out");
        self.lost(conn, &fault, CloseReason::LoggedOut);
        let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
    }

    /// Sets the timer that logs an account out if it does not reconnect.
    pub(super) fn log_out_later(&mut self, account: PlayerName) {
        let now = self.now_ms();
        self.sessions.note_gone(account.clone(), now);
        self.timers.set(now + self.settings.reconnect_ms, Timer::LogOut(account));
    }

    /// Logs an account out, unless it reconnected or lost a later connection since.
    pub(super) fn log_out_if_gone(&mut self, account: PlayerName) {
        let since = self.sessions.gone_since(&account);
        let due = since.map(|since| since + self.settings.reconnect_ms);
        if self.is_connected(&account) || due.is_none_or(|due| due > self.now_ms()) {
            return;
        }
        self.sessions.forget_gone(&account);
        let name = account.clone();
        let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
        self.drop_newcomer(&name);
    }

    /// Logs out the players who did not reconnect after a restart.
    pub(super) fn log_out_absent(&mut self) {
        // A player who lost a connection since the restart has a later deadline of their own.
        let gone = self.lobby.line().iter().filter(|player| {
            !self.is_connected(player)
                && self.sessions.gone_since(player).is_none()
                && !self.may_be_found(player)
        });
        for account in gone.cloned().collect::<Vec<_>>() {
            let name = account.clone();
            let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
            self.drop_newcomer(&name);
        }
    }

    /// Makes a token for an operator's account, and the account if there is none. The log stores
    /// only the token's hash.
    pub(super) fn operator_token(&mut self, account: PlayerName) -> Result<String, LobbyRejection> {
        let token = self.entropy.token();
        if self.lobby.account(&account).is_none() {
            let (kind, role, password) = (AccountKind::Person, Role::Operator, None);
            let name = account.clone();
            self.command(LobbyCommand::Register { account: name, kind, role, password })?;
        }
        self.issue_token(account, &token)?;
        Ok(token)
    }
}
