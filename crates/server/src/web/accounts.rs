//! Accounts and sessions. Hashes never leave, passwords and tokens are never repeated.

use super::body::{Body, Form};
use super::listener::Peer;
use super::page::Page;
use super::problem::Problem;
use super::who::Who;
use super::{Answer, Web};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::Engine;
use crate::meters::Login;
use crate::names;
use crate::passwords::{Attempt, Purpose, Unchecked};
use crate::throttle::Verdict;
use agon_core::PlayerName;
use agon_core::lobby::{Account, AccountKind, LobbyCommand, LobbyRejection, Role};
use axum::Json;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The name no account of the outside may begin with.
const HOUSE: &str = "house:";

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

fn shown(name: &str, account: &Account) -> Value {
    json!({
        "account": name,
        "kind": account.kind,
        "role": account.role,
        "blacklisted": account.blacklisted,
        "registered_at": account.registered_at,
    })
}

pub(super) async fn list(State(web): State<Web>, Query(page): Query<Page>) -> Answer {
    let accounts = web.ask_lobby(move |engine| {
        let all = engine.lobby().accounts().map(|(name, account)| (name.as_str(), account));
        page.of("accounts", all, shown)
    });
    Ok(Json(accounts.await?).into_response())
}

pub(super) async fn one(State(web): State<Web>, Path(name): Path<String>) -> Answer {
    let name = name_of(&name)?;
    let asked = name.clone();
    let account = web.ask_lobby(move |engine| {
        let account = engine.lobby().account(&asked)?;
        let mut shown = shown(asked.as_str(), account);
        shown["wire"] = json!(engine.wire_of(&asked));
        Some(shown)
    });
    let missing = || Problem::not_found(format!("there is no account {name}"));
    let mut account = account.await?.ok_or_else(missing)?;
    account["statistics"] = super::standings::player(&web, &name).await?;
    Ok(Json(account).into_response())
}

pub(super) async fn register(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Body(Registration { account, password, kind }): Body<Registration>,
) -> Answer {
    let account = name_of(&account)?;
    let kind = kind.unwrap_or(AccountKind::Program);
    if account.as_str().starts_with(HOUSE) || kind == AccountKind::House {
        let detail = format!(
            "names that begin with {HOUSE} and the kind house are for house players; choose another"
        );
        return Err(Problem::unprocessable(detail));
    }
    auth::check_new(&password).map_err(Problem::unprocessable)?;
    let account = names::normalized(&account);
    let name = account.clone();
    let (taken, passwords) = web
        .ask_lobby(move |engine| (engine.lobby().account(&name).is_some(), engine.passwords()))
        .await?;
    if taken {
        let detail = format!("the name {account} is taken; log in, or choose another");
        return Err(Problem::conflict(detail));
    }
    names::check_new(&account).map_err(Problem::unprocessable)?;
    let attempt = attempt(peer, &account, Purpose::New);
    let hash = passwords.check(attempt, move || (Verdict::Right, auth::hash(&password)));
    let hash = hash.await.map_err(unchecked)?.map_err(|_| Problem::internal())?;
    let name = account.clone();
    let registered = web.ask_lobby(move |engine| -> Result<_, LobbyRejection> {
        let (account, role, password) = (name.clone(), Role::Player, Some(hash));
        engine.command(LobbyCommand::Register { account, kind, role, password })?;
        Ok(engine.lobby().account(&name).map(|account| shown(name.as_str(), account)))
    });
    let body = registered.await??;
    let location = [(header::LOCATION, location(&account))];
    Ok((StatusCode::CREATED, location, Json(body)).into_response())
}

/// Where an account is found; everything that is not plain is escaped.
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
    let wrong = || Problem::unauthorized("no such account, or another password; register first");
    let account = stored(&web, name_of(&account)?).await?;
    auth::check_length(&password).map_err(Problem::unprocessable)?;
    let right = check(&web, peer, &account, password).await?;
    if !right {
        return Err(wrong());
    }
    let token = auth::new_token().map_err(|_| Problem::internal())?;
    let (name, issued) = (account.clone(), token.clone());
    let from = peer.0;
    let issued = web.ask_lobby(move |engine| {
        let expires_at = engine.issue_token(name.clone(), &issued)?;
        engine.note_login(None, Some(from), Some(&name), Login::Good);
        Ok::<_, LobbyRejection>(expires_at)
    });
    let expires_at = issued.await??;
    let body = json!({"account": account, "token": token, "expires_at": expires_at});
    let uncached = [(header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::CREATED, uncached, Json(body)).into_response())
}

/// The name as it is stored: accounts of old may have names in another form.
async fn stored(web: &Web, name: PlayerName) -> Result<PlayerName, Problem> {
    let asked = name.clone();
    let known = web.ask_lobby(move |engine| engine.lobby().account(&asked).is_some()).await?;
    Ok(if known { name } else { names::normalized(&name) })
}

/// Whether it is the account's password. As slow for names that do not exist, so that names cannot
/// be guessed by the clock; and after wrong ones, slower and slower.
async fn check(
    web: &Web,
    Peer(from): Peer,
    account: &PlayerName,
    password: String,
) -> Result<bool, Problem> {
    let name = account.clone();
    let (known, passwords) = web
        .ask_lobby(move |engine| {
            let account = engine.lobby().account(&name);
            (account.and_then(|account| account.password.clone()), engine.passwords())
        })
        .await?;
    let purpose = if known.is_some() { Purpose::Proof } else { Purpose::ProofOfNobody };
    let attempt = attempt(Peer(from), account, purpose);
    let checked = passwords.check(attempt, move || {
        let right = match known {
            Some(hash) => auth::matches(&password, &hash),
            None => {
                let _ = auth::hash(&password);
                false
            }
        };
        (if right { Verdict::Right } else { Verdict::Wrong }, right)
    });
    let checked = checked.await;
    let outcome = match checked {
        Ok(true) => return Ok(true),
        Ok(false) => Login::Wrong,
        Err(_) => Login::Throttled,
    };
    let name = account.clone();
    let note = move |engine: &mut Engine| engine.note_login(None, Some(from), Some(&name), outcome);
    web.ask_lobby(note).await?;
    checked.map_err(unchecked)
}

fn attempt(Peer(from): Peer, account: &PlayerName, purpose: Purpose) -> Attempt {
    Attempt { from, account: account.clone(), purpose, at: now_ms() }
}

/// Says why a password was not checked, and when to try again.
fn unchecked(why: Unchecked) -> Problem {
    match why {
        Unchecked::Failed => Problem::internal(),
        _ => Problem::slow_down(why.to_string(), why.retry_after_s()),
    }
}

pub(super) async fn whose(State(web): State<Web>, Who { account, role, .. }: Who) -> Answer {
    let name = account.clone();
    let kind = web.ask_lobby(move |engine| engine.lobby().account(&name).map(|known| known.kind));
    let kind = kind.await?.ok_or_else(Problem::internal)?;
    Ok(Json(json!({"account": account, "kind": kind, "role": role})).into_response())
}

pub(super) async fn log_out(State(web): State<Web>, who: Who) -> Answer {
    let command = LobbyCommand::RevokeToken { token: who.token };
    web.ask_lobby(move |engine| engine.command(command)).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}

pub(super) async fn change_password(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    who: Who,
    Body(Change { old, new }): Body<Change>,
) -> Answer {
    auth::check_new(&new).map_err(Problem::unprocessable)?;
    auth::check_length(&old).map_err(Problem::unprocessable)?;
    if !check(&web, peer, &who.account, old).await? {
        return Err(Problem::forbidden("`old` is not the account's password; send the right one"));
    }
    let passwords = web.ask_lobby(|engine| engine.passwords()).await?;
    let attempt = attempt(peer, &who.account, Purpose::New);
    let hash = passwords.check(attempt, move || (Verdict::Right, auth::hash(&new)));
    let password = hash.await.map_err(unchecked)?.map_err(|_| Problem::internal())?;
    let (account, keep) = (who.account, Some(who.token));
    let command = LobbyCommand::ChangePassword { account, password, keep };
    web.ask_lobby(move |engine| engine.command(command)).await??;
    Ok(StatusCode::NO_CONTENT.into_response())
}
