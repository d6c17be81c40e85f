//! Accounts, sessions and queues.
#![expect(missing_docs, reason = "fields say what they hold by their names")]

use super::super::Engine;
use super::super::LoginOutcome;
use super::super::Wire;
use super::{ListWindow, Query};
use agon_core::lobby::{
    Account, AccountKind, LobbyCommand, LobbyRejection, PasswordHash, QueueName, Role, TokenHash,
};
use agon_core::{PlayerName, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use std::net::IpAddr;

/// An account.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Account")]
pub struct ShownAccount {
    account: PlayerName,
    pub kind: AccountKind,
    role: Role,
    /// Why it may not enter tournaments, if so.
    blacklisted: Option<String>,
    registered_at: Timestamp,
    /// True if the account is a guest's, who has no password yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guest: bool,
    /// The guest whose games this account continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<PlayerName>,
}

impl ShownAccount {
    fn of(name: &PlayerName, account: &Account) -> ShownAccount {
        ShownAccount {
            account: name.clone(),
            kind: account.kind,
            role: account.role,
            blacklisted: account.blacklisted.clone(),
            registered_at: account.registered_at,
            guest: account.is_guest(),
            claimed: account.guest.clone(),
        }
    }
}

/// A page of accounts, by name.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Accounts")]
pub struct AccountPage {
    accounts: Vec<ShownAccount>,
    /// The value of `after` for the next page; null on the last.
    next: Option<PlayerName>,
}

/// Asks for a page of all accounts.
pub struct ListAccounts(pub ListWindow);

impl Query for ListAccounts {
    type Answer = AccountPage;

    fn answer(self, engine: &mut Engine) -> AccountPage {
        let (accounts, next) =
            self.0.of(engine.lobby.state().accounts(), PlayerName::as_str, ShownAccount::of);
        AccountPage { accounts, next }
    }
}

/// Asks for an account, and over which wire its player is connected.
pub struct FindAccount(pub PlayerName);

impl Query for FindAccount {
    type Answer = Option<(ShownAccount, Option<Wire>)>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let account = engine.lobby.state().account(&self.0)?;
        Some((ShownAccount::of(&self.0, account), engine.services.present.wire_of(&self.0)))
    }
}

/// Asks for the password of an account: `Some(None)` for an account without one.
pub struct FindPassword(pub PlayerName);

impl Query for FindPassword {
    type Answer = Option<Option<PasswordHash>>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.lobby.state().account(&self.0).map(|account| account.password.clone())
    }
}

/// Asks whose token this is, if it is valid now.
pub struct FindHolder(pub TokenHash);

impl Query for FindHolder {
    type Answer = Option<(PlayerName, Role)>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let name = engine.lobby.state().holder(&self.0, engine.now_ms())?.clone();
        let role = engine.lobby.state().account(&name)?.role;
        Some((name, role))
    }
}

/// Has the lobby carry out a command.
pub struct Decide(pub LobbyCommand);

impl Query for Decide {
    type Answer = Result<(), LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        engine.command(self.0)
    }
}

/// Creates an account with a hashed password.
pub struct Register {
    /// Its name.
    pub account: PlayerName,
    /// The kind of its player.
    pub kind: AccountKind,
    /// Its role.
    pub role: Role,
    /// Its password.
    pub password: PasswordHash,
}

impl Query for Register {
    type Answer = Result<ShownAccount, LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let Register { account, kind, role, password } = self;
        let (name, password) = (account.clone(), Some(password));
        engine.command(LobbyCommand::Register { account, kind, role, password })?;
        let account = engine.lobby.state().account(&name);
        account.map(|account| ShownAccount::of(&name, account)).ok_or(LobbyRejection::Unknown(name))
    }
}

/// Gives an authenticated account a token; the answer is when the token expires.
pub struct IssueToken {
    pub account: PlayerName,
    pub token: String,
    pub from: IpAddr,
}

impl Query for IssueToken {
    type Answer = Result<Timestamp, LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let expires_at = engine.issue_token(self.account.clone(), &self.token)?;
        engine.note_login(None, Some(self.from), Some(&self.account), LoginOutcome::Good);
        Ok(expires_at)
    }
}

/// Counts and logs an attempt to log in.
pub struct NoteLogin {
    pub account: PlayerName,
    pub from: IpAddr,
    pub outcome: LoginOutcome,
}

impl Query for NoteLogin {
    type Answer = ();

    fn answer(self, engine: &mut Engine) {
        engine.note_login(None, Some(self.from), Some(&self.account), self.outcome);
    }
}

/// Asks for the players who wait in a queue, in order.
pub struct ListQueue(pub QueueName);

impl Query for ListQueue {
    type Answer = Vec<PlayerName>;

    fn answer(self, engine: &mut Engine) -> Vec<PlayerName> {
        engine.lobby.state().queue(&self.0).to_vec()
    }
}

/// Adds a player to a queue, or takes them out of it; the answer is the queue afterwards.
pub struct ChangeQueue {
    pub queue: QueueName,
    pub player: PlayerName,
    pub enters: bool,
}

impl Query for ChangeQueue {
    type Answer = Result<Vec<PlayerName>, LobbyRejection>;

    fn answer(self, engine: &mut Engine) -> Self::Answer {
        let ChangeQueue { queue, player, enters } = self;
        let name = queue.clone();
        engine.command(match enters {
            true => LobbyCommand::Enqueue { player, queue },
            false => LobbyCommand::Dequeue { player, queue },
        })?;
        Ok(ListQueue(name).answer(engine))
    }
}
