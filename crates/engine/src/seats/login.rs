//! Logging in and out, and players' requests to the lobby.

use crate::engines::ToCells;
use crate::follow_up::FollowUp;
use crate::journal::StreamKey;
use crate::query::{AnnounceWanted, NotAnnounced, Query};
use crate::timers::Timer;
use crate::{
    AnnounceError, CloseReason, ConnId, Effect, Engine, LoginOutcome, PasswordCheck,
    PasswordResult, Wanted, names, password,
};
use agon_core::lobby::{AccountKind, LobbyCommand, QueueName, Role, TokenHash};
use agon_core::{Fault, FaultKind, PlayerName, TournamentId};
use agon_wire::native::{ToLobby, ToPlayer};
use serde_json::{Map, Value};

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
    /// True if the account changes its password.
    for_change: bool,
}

impl Engine {
    pub(crate) fn log_in(&mut self, conn: ConnId, login: LoginRequest) {
        if self.seats.sessions.is_checking(conn) {
            return self.refuse(conn, "busy", "the last login is still being checked");
        }
        if self.seats.sessions.account(conn).is_some() {
            let detail = "this connection is logged in; log out, or open another";
            return self.refuse(conn, "unexpected", detail);
        }
        let LoginRequest { account, password, token, register, kind } = login;
        if let Some(token) = token {
            let holder = self.lobby.state().holder(&TokenHash::of(&token), self.now_ms()).cloned();
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
        if self.services.houses.house_of(&account).is_some() {
            self.login_was(conn, Some(&account), LoginOutcome::Refused);
            return self.refuse(conn, "wrong-credentials", "house players do not log in");
        }
        let kind = kind.unwrap_or(AccountKind::Program);
        if kind == AccountKind::House {
            let detail = "an account is a program or a person; house players are the server's own";
            return self.refuse(conn, "malformed", detail);
        }
        // Old accounts may have names that are not normalized.
        let account = match self.lobby.state().account(&account) {
            Some(_) => account,
            None => names::normalized(&account),
        };
        let known = self.lobby.state().account(&account).map(|known| known.password.clone());
        let is_new = known.is_none() && register;
        if is_new && let Err(detail) = names::check_new(&account) {
            return self.refuse(conn, "bad-name", detail);
        }
        // The gateway of a trusted seat keeps strangers out, so its programs may register with the
        // password they were written with.
        let trusted = self.seats.sessions.is_trusted(conn);
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
        let account = checking.account.clone();
        let Some(from) = self.seats.sessions.begin_check(conn, checking) else { return };
        self.services.effects.push(Effect::CheckPassword { conn, from, account, check });
    }

    pub(crate) fn checked(&mut self, conn: ConnId, result: PasswordResult) {
        let checking = self.seats.sessions.end_check(conn);
        let Some(Checking { account, kind, for_change }) = checking else { return };
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
                let keep = self.seats.sessions.token(conn);
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
        let token = self.services.entropy.token();
        match self.issue_token(account.clone(), &token) {
            Ok(_) => self.welcome(conn, account, TokenHash::of(&token), Some(token)),
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
        self.seats.arriving.insert(account.clone());
        let welcome = FollowUp::Welcome { conn, account: account.clone(), hash, token };
        let name = account.clone();
        if self.step_lobby(LobbyCommand::LogIn { account }, vec![welcome]).is_err() {
            self.seats.arriving.remove(&name);
        }
    }

    /// Completes a login that is durable.
    pub(crate) fn let_in(
        &mut self,
        conn: ConnId,
        account: &PlayerName,
        hash: TokenHash,
        token: Option<&str>,
    ) {
        self.seats.arriving.remove(account);
        let (_, waiting) = self.lobby.state().involvement(account);
        let active = self.active_tournaments(account);
        if self.seats.sessions.account(conn).is_some() {
            if !self.is_connected(account) {
                self.log_out_later(account.clone());
            }
            return self.refuse(conn, "unexpected", "this connection is logged in");
        }
        // Another connection may have logged in while this login was in flight.
        if self.is_elsewhere(conn, account) {
            return;
        }
        self.send(conn, &ToPlayer::Welcome { account, token, active, waiting });
        self.seats.sessions.keep_token(conn, hash);
        self.attach(conn, account);
    }

    pub(crate) fn ask_lobby(&mut self, conn: ConnId, player: PlayerName, request: ToLobby) {
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
                let tournament = self.lobby.state().latest_of(tournament);
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
    pub(crate) fn leave(&mut self, conn: ConnId, player: PlayerName, tournament: TournamentId) {
        let tournament = self.lobby.state().left_by(tournament, &player);
        if self.is_on_its_way(&tournament) {
            let detail = "the tournament is moving to another node; try again in a second";
            return self.refuse(conn, "refused", detail.to_owned());
        }
        if let Some(to) = self.cell_engines.owner(&tournament) {
            self.forgive_junk(conn);
            return self.pass(to, ToCells::Withdraw { conn, player, tournament });
        }
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
        let known = self.lobby.state().account(&account).and_then(|known| known.password.clone());
        if self.seats.sessions.is_checking(conn) {
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
    pub(crate) fn log_out_later(&mut self, account: PlayerName) {
        let now = self.services.time.now;
        self.services.present.note_gone(account.clone(), now);
        self.services.timers.set(now + self.services.settings.reconnect_ms, Timer::LogOut(account));
    }

    /// Logs an account out, unless it reconnected or lost a later connection since.
    pub(crate) fn log_out_if_gone(&mut self, account: PlayerName) {
        let since = self.services.present.gone_since(&account);
        let due = since.map(|since| since + self.services.settings.reconnect_ms);
        let is_here = self.is_connected(&account) || self.seats.arriving.contains(&account);
        if is_here || due.is_none_or(|due| due > self.services.time.now) {
            return;
        }
        self.services.present.forget_gone(&account);
        let name = account.clone();
        let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
        self.drop_newcomer(&name);
    }

    /// Logs out the players who did not reconnect after a restart.
    pub(crate) fn log_out_absent(&mut self) {
        // A player who lost a connection since the restart has a later deadline of their own.
        let gone = self.lobby.state().line().iter().filter(|player| {
            !self.is_connected(player)
                && !self.seats.arriving.contains(*player)
                && self.services.present.gone_since(player).is_none()
                && !self.may_be_found(player)
        });
        for account in gone.cloned().collect::<Vec<_>>() {
            let name = account.clone();
            let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
            self.drop_newcomer(&name);
        }
    }

    /// Announces a tournament that a connected player asked for.
    pub(crate) fn announce_for(
        &mut self,
        conn: ConnId,
        player: PlayerName,
        asked: Map<String, Value>,
    ) {
        let wanted: Wanted = match serde_json::from_value(Value::Object(asked)) {
            Ok(wanted) => wanted,
            Err(error) => return self.refuse(conn, "malformed", error.to_string()),
        };
        match (AnnounceWanted { wanted, by: player }).answer(self) {
            Ok(id) => {
                self.forgive_junk(conn);
                let done = FollowUp::Done { conn, what: "announce", about: Some(id) };
                self.once_durable(vec![StreamKey::Lobby], done);
            }
            Err(NotAnnounced::Malformed(detail)) => self.refuse(conn, "malformed", detail),
            Err(NotAnnounced::Refused(AnnounceError::Log(why))) => self.refuse(conn, "failed", why),
            Err(refused) => self.refuse(conn, "refused", refused.to_string()),
        }
    }
}
