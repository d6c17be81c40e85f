//! The lobby's side of connections: logging in, queues, announcements.

use super::journal::{Effect, StreamKey};
use super::news::news_of;
use super::{AnnounceError, ConnId, Engine, Timer, house};
use crate::auth;
use crate::meters::{End, Login as Outcome};
use crate::names;
use crate::passwords::{Attempt, Finished, Purpose, Unchecked};
use crate::throttle::Verdict;
use crate::wires::Wire;
use agon_core::lobby::{
    AccountKind, LobbyCommand, LobbyRejection, PasswordHash, QueueName, Role, TokenHash,
};
use agon_core::{Event, Fault, FaultKind, PlayerName, TournamentId};
use agon_wire::native::{ToLobby, ToPlayer};
use std::sync::Arc;

/// What a connection proves itself with.
pub(crate) struct Login {
    pub(crate) account: Option<PlayerName>,
    pub(crate) password: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) register: bool,
    /// What sort of player a new account is.
    pub(crate) kind: Option<AccountKind>,
}

/// A password that was hashed or checked away from the engine.
pub(crate) enum Checked {
    /// It is the account's.
    Right(PlayerName),
    /// It is not.
    Wrong(PlayerName),
    /// It is that of a new account.
    New(PlayerName, AccountKind, PasswordHash),
    /// It is the account's, and this is the hash of the next one.
    Changed(PlayerName, PasswordHash),
    /// It could not be hashed.
    Failed(String),
    /// It was not checked.
    Not(Unchecked),
}

impl Checked {
    /// What it means for the count of guesses.
    fn verdict(&self) -> Verdict {
        match self {
            Checked::Right(_) | Checked::New(..) | Checked::Changed(..) => Verdict::Right,
            Checked::Wrong(_) => Verdict::Wrong,
            Checked::Failed(_) | Checked::Not(_) => Verdict::Unchecked,
        }
    }
}

impl Engine {
    /// Lets the lobby decide, commits, and does what follows.
    pub(super) fn step_lobby(
        &mut self,
        command: LobbyCommand,
        mut effects: Vec<Effect>,
    ) -> Result<(), LobbyRejection> {
        let now = self.now_ms();
        let waiting = self.waiting_for(&command);
        let events = self.lobby.step(now, command)?;
        for event in &events {
            match event {
                Event::TournamentStarted(started) => {
                    let plan = started.plan.clone();
                    effects.push(Box::new(move |engine| engine.start_tournament(plan)));
                }
                Event::AccountBlacklisted(listed) => {
                    let account = listed.account.clone();
                    effects.push(Box::new(move |engine| engine.expel(&account)));
                }
                _ => {}
            }
        }
        effects.extend(news_of(&events, waiting));
        self.commit_at(now, StreamKey::Lobby, &events, effects);
        self.set_lobby_timer();
        Ok(())
    }

    /// Has the lobby woken when something of it is due, unless it will be before.
    pub(super) fn set_lobby_timer(&mut self) {
        let Some(deadline) = self.lobby.deadline() else { return };
        if self.lobby_timer.is_none_or(|at| deadline < at) {
            self.lobby_timer = Some(deadline);
            self.set_timer(deadline, Timer::Lobby);
        }
    }

    pub(super) fn lobby_due(&mut self) {
        self.lobby_timer = None;
        while let Some(command) = self.lobby.due(self.now_ms()) {
            if self.step_lobby(command, Vec::new()).is_err() {
                break;
            }
        }
        self.set_lobby_timer();
    }

    /// House players are accounts like others, so that they can be named and looked up.
    pub(super) fn register_houses(&mut self) {
        for game in self.games.names() {
            for (name, _) in self.houses.list(game) {
                let plain = name.split(':').next().unwrap_or(name);
                let Ok(account) = PlayerName::new(&format!("{}{plain}", house::PREFIX)) else {
                    continue;
                };
                if self.lobby.account(&account).is_none() {
                    let (kind, role, password) = (AccountKind::House, Role::Player, None);
                    let command = LobbyCommand::Register { account, kind, role, password };
                    let _ = self.step_lobby(command, Vec::new());
                }
            }
        }
    }

    pub(super) fn log_in(&mut self, conn: ConnId, login: Login) {
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        if session.checking.is_some() {
            return self.refuse(conn, "busy", "the last login is still being checked");
        }
        if session.account.is_some() {
            let detail = "this connection is logged in; log out, or open another";
            return self.refuse(conn, "unexpected", detail);
        }
        let Login { account, password, token, register, kind } = login;
        if let Some(token) = token {
            let holder = self.lobby.holder(&TokenHash::of(&token), self.now_ms()).cloned();
            return match holder {
                Some(account) => self.welcome(conn, account, TokenHash::of(&token), None),
                None => {
                    self.login_was(conn, None, Outcome::Wrong);
                    self.refuse(conn, "wrong-credentials", "the token is not good");
                }
            };
        }
        let (Some(account), Some(password)) = (account, password) else {
            let detail = "a login has an account and a password, or a token";
            return self.refuse(conn, "malformed", detail);
        };
        if let Err(detail) = auth::check_length(&password) {
            return self.refuse(conn, "malformed", detail);
        }
        if account.as_str().starts_with(house::PREFIX) {
            self.login_was(conn, Some(&account), Outcome::Refused);
            return self.refuse(conn, "wrong-credentials", "house players do not log in");
        }
        let kind = kind.unwrap_or(AccountKind::Program);
        if kind == AccountKind::House {
            let detail = "an account is a program or a person; house players are the server's own";
            return self.refuse(conn, "malformed", detail);
        }
        // Accounts of old may have names in another form.
        let account = match self.lobby.account(&account) {
            Some(_) => account,
            None => names::normalized(&account),
        };
        let known = self.lobby.account(&account).map(|known| known.password.clone());
        let purpose = match known {
            Some(_) => Purpose::Proof,
            None if register => Purpose::New,
            None => Purpose::ProofOfNobody,
        };
        if purpose == Purpose::New
            && let Err(detail) = names::check_new(&account)
        {
            return self.refuse(conn, "bad-name", detail);
        }
        // Erlang programs register with the password they were written with. The node's cookie, not
        // a password, keeps strangers from that wire.
        if purpose == Purpose::New
            && session.wire() != Wire::Erlang
            && let Err(detail) = auth::check_new(&password)
        {
            return self.refuse(conn, "weak-password", detail);
        }
        let name = account.clone();
        self.check(conn, name, purpose, move || match known {
            Some(Some(hash)) if auth::matches(&password, &hash) => Checked::Right(account),
            Some(_) => Checked::Wrong(account),
            None if register => match auth::hash(&password) {
                Ok(hash) => Checked::New(account, kind, hash),
                Err(error) => Checked::Failed(error),
            },
            // As slow as a wrong password, so that names cannot be guessed by the clock.
            None => {
                let _ = auth::hash(&password);
                Checked::Wrong(account)
            }
        });
    }

    /// Has a password checked away from the engine, unless the connection is closed before.
    fn check(
        &mut self,
        conn: ConnId,
        account: PlayerName,
        purpose: Purpose,
        work: impl FnOnce() -> Checked + Send + 'static,
    ) {
        let (handle, at) = (self.handle(), self.now_ms());
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        let checking = Arc::new(());
        let open = Arc::downgrade(&checking);
        session.checking = Some(checking);
        let attempt = Attempt { from: session.from, account, purpose, at };
        let work = move |start: Result<(), Unchecked>| {
            let (verdict, checked) = match start.map(|()| work()) {
                Ok(checked) => (checked.verdict(), checked),
                Err(why) => (Verdict::Unchecked, Checked::Not(why)),
            };
            let deliver = Box::new(move || handle.send(super::Input::Checked { conn, checked }));
            Finished { verdict, deliver }
        };
        self.passwords.submit(attempt, move || open.strong_count() > 0, work);
    }

    pub(super) fn checked(&mut self, conn: ConnId, checked: Checked) {
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        session.checking = None;
        match checked {
            Checked::Right(account) => self.welcome_with_token(conn, account),
            Checked::Not(why) => {
                self.login_was(conn, None, Outcome::Throttled);
                self.refuse(conn, "slow-down", why.to_string());
                self.count_junk(conn);
            }
            Checked::Wrong(account) => {
                self.login_was(conn, Some(&account), Outcome::Wrong);
                self.refuse(conn, "wrong-credentials", "no such account, or another password");
                self.count_junk(conn);
            }
            Checked::Failed(why) => self.refuse(conn, "failed", why),
            Checked::New(account, kind, hash) => {
                let (name, role, password) = (account.clone(), Role::Player, Some(hash));
                let command = LobbyCommand::Register { account: name, kind, role, password };
                match self.step_lobby(command, Vec::new()) {
                    Ok(()) => self.welcome_with_token(conn, account),
                    Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
                }
            }
            Checked::Changed(account, password) => {
                let keep = self.sessions.get(&conn).and_then(|session| session.token.clone());
                let done = done(conn, "change-password", None);
                let command = LobbyCommand::ChangePassword { account, password, keep };
                if let Err(rejection) = self.step_lobby(command, vec![done]) {
                    self.refuse(conn, "refused", rejection.to_string());
                }
            }
        }
    }

    fn welcome_with_token(&mut self, conn: ConnId, account: PlayerName) {
        if self.is_elsewhere(conn, &account) {
            return;
        }
        let token = match auth::new_token() {
            Ok(token) => token,
            Err(error) => return self.refuse(conn, "failed", error.to_string()),
        };
        let expires_at = self.now_ms() + self.settings.token_ms;
        let hash = TokenHash::of(&token);
        let command =
            LobbyCommand::IssueToken { account: account.clone(), token: hash.clone(), expires_at };
        match self.step_lobby(command, Vec::new()) {
            Ok(()) => self.welcome(conn, account, hash, Some(token)),
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    /// Lets an account in, once that is in the log.
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
        let name = account.clone();
        let welcome: Effect = Box::new(move |engine| {
            let (_, waiting) = engine.lobby.involvement(&name);
            let active = engine.active_tournaments(&name);
            let token = token.as_deref();
            let other = engine.sessions.get(&conn).and_then(|session| session.account.as_ref());
            if other.is_some() {
                return engine.refuse(conn, "unexpected", "this connection is logged in");
            }
            // Another one may have been let in while this one was on its way to the log.
            if engine.is_elsewhere(conn, &name) {
                return;
            }
            engine.send(conn, &ToPlayer::Welcome { account: &name, token, active, waiting });
            if let Some(session) = engine.sessions.get_mut(&conn) {
                session.token = Some(hash);
            }
            engine.attach(conn, &name);
        });
        self.keep_location(conn, &account);
        let _ = self.step_lobby(LobbyCommand::LogIn { account }, vec![welcome]);
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
        match self.step_lobby(command, vec![done(conn, what, about)]) {
            Ok(()) => self.forgive_junk(conn),
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    /// Takes a sign-up back, or leaves a tournament that runs; said when all of it is durable.
    fn leave(&mut self, conn: ConnId, player: PlayerName, tournament: TournamentId) {
        let tournament = self.lobby.left_by(tournament, &player);
        match self.withdraw(tournament.clone(), player) {
            Ok(mut streams) => {
                self.forgive_junk(conn);
                streams.push(StreamKey::Lobby);
                self.once_durable(streams, done(conn, "withdraw", Some(tournament)));
            }
            Err(rejection) => self.refuse(conn, "refused", rejection.to_string()),
        }
    }

    fn change_password(&mut self, conn: ConnId, account: PlayerName, old: String, new: String) {
        if let Err(detail) = auth::check_length(&new) {
            return self.refuse(conn, "malformed", detail);
        }
        if let Err(detail) = auth::check_new(&new) {
            return self.refuse(conn, "weak-password", detail);
        }
        let known = self.lobby.account(&account).and_then(|known| known.password.clone());
        let Some(session) = self.sessions.get_mut(&conn) else { return };
        if session.checking.is_some() {
            return self.refuse(conn, "busy", "the last password is still being checked");
        }
        self.check(conn, account.clone(), Purpose::Proof, move || match known {
            Some(hash) if auth::matches(&old, &hash) => match auth::hash(&new) {
                Ok(hash) => Checked::Changed(account, hash),
                Err(error) => Checked::Failed(error),
            },
            _ => Checked::Wrong(account),
        });
    }

    fn log_out(&mut self, conn: ConnId, account: PlayerName) {
        self.send(conn, &ToPlayer::Done { what: "logout", tournament: None });
        if let Some(session) = self.sessions.get(&conn) {
            session.ends(End::LoggedOut);
        }
        let fault = Fault::new(FaultKind::Disconnected, "logged-out", "it logged out");
        self.lost(conn, &fault);
        let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
    }

    /// A lost connection leaves the line only if it does not come back.
    pub(super) fn log_out_later(&mut self, account: PlayerName) {
        let now = self.now_ms();
        self.gone_since.insert(account.clone(), now);
        self.set_timer(now + self.settings.reconnect_ms, Timer::LogOut(account));
    }

    /// Its time is over, unless it came back, or was lost again later.
    pub(super) fn log_out_if_gone(&mut self, account: PlayerName) {
        let since = self.gone_since.get(&account).copied();
        let due = since.map(|since| since + self.settings.reconnect_ms);
        if self.here.contains_key(&account) || due.is_none_or(|due| due > self.now_ms()) {
            return;
        }
        self.gone_since.remove(&account);
        let name = account.clone();
        let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
        self.drop_newcomer(&name);
    }

    /// Logs out whoever did not come back to a server that was down.
    pub(super) fn log_out_absent(&mut self) {
        // Who was lost since then has a time of its own.
        let gone = self.lobby.line().iter().filter(|player| {
            !self.here.contains_key(*player)
                && !self.gone_since.contains_key(*player)
                && !self.may_be_found(player)
        });
        for account in gone.cloned().collect::<Vec<_>>() {
            let name = account.clone();
            let _ = self.step_lobby(LobbyCommand::LogOut { account }, Vec::new());
            self.drop_newcomer(&name);
        }
    }

    /// Makes a token for an operator's account, and the account if there is none. The log keeps only
    /// the hash of the token.
    pub(super) fn operator_token(&mut self, account: PlayerName) -> Result<String, AnnounceError> {
        let token = auth::new_token().map_err(|e| AnnounceError::Entropy(e.to_string()))?;
        if self.lobby.account(&account).is_none() {
            let (kind, role, password) = (AccountKind::Person, Role::Operator, None);
            let name = account.clone();
            self.command(LobbyCommand::Register { account: name, kind, role, password })?;
        }
        self.issue_token(account, &token)?;
        Ok(token)
    }
}

/// Says that a request was done, and for which tournament.
pub(super) fn done(conn: ConnId, what: &'static str, about: Option<TournamentId>) -> Effect {
    Box::new(move |engine| {
        engine.send(conn, &ToPlayer::Done { what, tournament: about.as_ref() });
    })
}
