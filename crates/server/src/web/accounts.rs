//! Accounts and sessions. Answers never contain hashes, and never repeat passwords or tokens.

use super::body::{Body, Form};
use super::caller::Caller;
use super::listener::Peer;
use super::page::Page;
use super::problem::Problem;
use super::{Answer, Web};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::LoginOutcome;
use crate::engine::Wire;
use crate::engine::names;
use crate::engine::password;
use crate::engine::query::{
    Decide, FindAccount, FindPassword, IssueToken, ListAccounts, NoteLogin, Register, ShownAccount,
};
use crate::passwords::{Attempt, Purpose, Unchecked};
use crate::throttle::GuessVerdict;
use agon_core::lobby::{AccountKind, LobbyCommand, PasswordHash, Role};
use agon_core::{PlayerName, PlayerStatistics, Timestamp};
use axum::Json;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A name and a password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Credentials {
    account: String,
    password: String,
}

/// A name and a password for a new account, and what sort of player it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Registration {
    account: String,
    password: String,
    #[serde(default)]
    kind: Option<AccountKind>,
}

impl Form for Registration {
    const FIELDS: &str =
        r#"{"account": "…", "password": "…", "kind": "program" or "person" if you like}"#;
    const SECRET: bool = true;
}

impl Form for Credentials {
    const FIELDS: &str = r#"{"account": "…", "password": "…"}"#;
    const SECRET: bool = true;
}

/// The password and the next one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    old: String,
    new: String,
}

impl Form for Change {
    const FIELDS: &str = r#"{"old": "…", "new": "…"}"#;
    const SECRET: bool = true;
}

pub(super) fn name_of(text: &str) -> Result<PlayerName, Problem> {
    PlayerName::new(text).map_err(|bad| Problem::unprocessable(bad.to_string()))
}

/// An account and what it has done.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountInFull {
    #[serde(flatten)]
    account: ShownAccount,
    /// Over which wire it is here; null if it is not.
    wire: Option<Wire>,
    statistics: PlayerStatistics,
}

/// A new token.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Session")]
pub(super) struct NewSession {
    account: PlayerName,
    token: String,
    expires_at: Timestamp,
}

impl NewSession {
    pub(super) fn new(account: PlayerName, token: String, expires_at: Timestamp) -> NewSession {
        NewSession { account, token, expires_at }
    }

    /// The answer for a new session, which nobody may store.
    pub(super) fn created(self) -> Response {
        let uncached = [(header::CACHE_CONTROL, "no-store")];
        (StatusCode::CREATED, uncached, Json(self)).into_response()
    }
}

/// The account that a token belongs to.
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Holder {
    account: PlayerName,
    kind: AccountKind,
    role: Role,
    /// True if the account is a guest's, who has no password yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    guest: bool,
}

pub(super) async fn list(State(web): State<Web>, Query(page): Query<Page>) -> Answer {
    let page = web.ask(ListAccounts(page.window())).await?;
    Ok(Json(page).into_response())
}

pub(super) async fn one(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let name = name_of(&name)?;
    let missing = || Problem::not_found(format!("there is no account {name}"));
    let (account, wire) = web.ask(FindAccount(name.clone())).await?.ok_or_else(missing)?;
    let statistics = super::standings::player(&web, &name).await?;
    Ok(Json(AccountInFull { account, wire, statistics }).into_response())
}

pub(super) async fn register(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Body(Registration { account, password, kind }): Body<Registration>,
) -> Answer {
    let account = name_of(&account)?;
    let kind = kind.unwrap_or(AccountKind::Program);
    if account.house().is_some() || kind == AccountKind::House {
        let detail =
            "names that begin with house: and the kind house are for house players; choose another";
        return Err(Problem::unprocessable(detail));
    }
    password::check_new(&password).map_err(Problem::unprocessable)?;
    let account = new_name(&web, account).await?;
    let password = new_password(&web, peer, &account, password).await?;
    let location = [(header::LOCATION, location(&account))];
    let registered = web.ask(Register { account, kind, role: Role::Player, password }).await??;
    Ok((StatusCode::CREATED, location, Json(registered)).into_response())
}

/// A name for a new account, in the form in which it is stored.
pub(super) async fn new_name(web: &Web, name: PlayerName) -> Result<PlayerName, Problem> {
    let name = names::normalized(&name);
    if web.ask(FindAccount(name.clone())).await?.is_some() {
        let detail = format!("the name {name} is taken; log in, or choose another");
        return Err(Problem::conflict(detail));
    }
    names::check_new(&name).map_err(Problem::unprocessable)?;
    Ok(name)
}

/// The hash of a new password.
pub(super) async fn new_password(
    web: &Web,
    peer: Peer,
    account: &PlayerName,
    password: String,
) -> Result<PasswordHash, Problem> {
    password::check_new(&password).map_err(Problem::unprocessable)?;
    let attempt = attempt(peer, account, Purpose::New);
    let passwords = web.handle.passwords();
    let hash = passwords.check(attempt, move || (GuessVerdict::Right, auth::hash(&password)));
    hash.await.map_err(unchecked)?.map_err(|_| Problem::internal())
}

/// The URL of an account, percent-encoded.
fn location(account: &PlayerName) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let escaped = account.as_str().bytes().map(|byte| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("/api/v1/accounts/{}", escaped.collect::<String>())
}

pub(super) async fn log_in(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Body(Credentials { account, password }): Body<Credentials>,
) -> Answer {
    let wrong = || {
        let detail = "there is no such account, or it has another password; try again, or register";
        Problem::unauthorized(detail)
    };
    let account = stored(&web, name_of(&account)?).await?;
    password::check_length(&password).map_err(Problem::unprocessable)?;
    let right = check(&web, peer, &account, password).await?;
    if !right {
        return Err(wrong());
    }
    let token = auth::new_token().map_err(|_| Problem::internal())?;
    let (name, issued) = (account.clone(), token.clone());
    let issued = web.ask(IssueToken { account: name, token: issued, from: peer.0 });
    let expires_at = issued.await??;
    Ok(NewSession::new(account, token, expires_at).created())
}

/// The name as it is stored: old accounts may have names that are not normalized.
async fn stored(web: &Web, name: PlayerName) -> Result<PlayerName, Problem> {
    let known = web.ask(FindAccount(name.clone())).await?.is_some();
    Ok(if known { name } else { names::normalized(&name) })
}

/// Returns whether this is the account's password. The check is as slow for names that do not
/// exist, so that the response time does not reveal names. After wrong passwords it becomes slower
/// and slower.
async fn check(
    web: &Web,
    Peer(from): Peer,
    account: &PlayerName,
    password: String,
) -> Result<bool, Problem> {
    let known = web.ask(FindPassword(account.clone())).await?.flatten();
    let purpose = if known.is_some() { Purpose::Proof } else { Purpose::ProofOfNobody };
    let attempt = attempt(Peer(from), account, purpose);
    let checked = web.handle.passwords().check(attempt, move || {
        let right = match known {
            Some(hash) => auth::matches(&password, &hash),
            None => {
                let _ = auth::hash(&password);
                false
            }
        };
        (if right { GuessVerdict::Right } else { GuessVerdict::Wrong }, right)
    });
    let checked = checked.await;
    let outcome = match checked {
        Ok(true) => return Ok(true),
        Ok(false) => LoginOutcome::Wrong,
        Err(_) => LoginOutcome::Throttled,
    };
    web.ask(NoteLogin { account: account.clone(), from, outcome }).await?;
    checked.map_err(unchecked)
}

fn attempt(Peer(from): Peer, account: &PlayerName, purpose: Purpose) -> Attempt {
    Attempt { from, account: account.clone(), purpose, at: now_ms() }
}

/// The error for a password that was not checked, with the time to retry.
fn unchecked(why: Unchecked) -> Problem {
    match why {
        Unchecked::Failed => Problem::internal(),
        _ => Problem::slow_down(why.to_string(), why.retry_after_s()),
    }
}

pub(super) async fn of_token(
    State(web): State<Web>,
    Caller { account, role, .. }: Caller,
) -> Answer {
    let found = web.ask(FindAccount(account.clone())).await?;
    let (ShownAccount { kind, guest, .. }, _) = found.ok_or_else(Problem::internal)?;
    Ok(Json(Holder { account, kind, role, guest }).into_response())
}

pub(super) async fn log_out(State(web): State<Web>, who: Caller) -> Answer {
    web.ask(Decide(LobbyCommand::RevokeToken { token: who.token })).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn change_password(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    who: Caller,
    Body(Change { old, new }): Body<Change>,
) -> Answer {
    password::check_new(&new).map_err(Problem::unprocessable)?;
    password::check_length(&old).map_err(Problem::unprocessable)?;
    if !check(&web, peer, &who.account, old).await? {
        return Err(Problem::forbidden("that is not the account's password; try again"));
    }
    let password = new_password(&web, peer, &who.account, new).await?;
    let (account, keep) = (who.account, Some(who.token));
    let command = LobbyCommand::ChangePassword { account, password, keep };
    web.ask(Decide(command)).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}
