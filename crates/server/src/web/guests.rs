//! Guests: an account for the asking, and how a guest gets a name and a password.

use super::accounts::{self, NewSession};
use super::body::{Body, Form};
use super::caller::Caller;
use super::listener::Peer;
use super::problem::Problem;
use super::{Answer, Web};
use crate::auth;
use crate::clock::now_ms;
use crate::engine::query::{ClaimGuest, IssueToken, NoGuest, RegisterGuest};
use axum::extract::{ConnectInfo, State};
use schemars::JsonSchema;
use serde::Deserialize;

/// After how many seconds an address with too many guests should try again.
const RETRY_AFTER_S: u64 = 10;

/// The name and the password that a guest chooses.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Claiming {
    /// The new name; the guest's own keeps it.
    account: String,
    password: String,
}

impl Form for Claiming {
    const FIELDS: &str = r#"{"account": "…", "password": "…"}"#;
    const SECRET: bool = true;
}

impl From<NoGuest> for Problem {
    fn from(not: NoGuest) -> Problem {
        match not {
            NoGuest::Off => Problem::forbidden(not.to_string()),
            NoGuest::Refused(rejection) => Problem::from(rejection),
        }
    }
}

/// Makes a guest account, and logs it in.
pub(super) async fn register(
    State(web): State<Web>,
    ConnectInfo(Peer(from)): ConnectInfo<Peer>,
) -> Answer {
    let max = web.host.limits().guests_per_minute_max;
    if !web.guests.take(from, max, now_ms()) {
        let detail = "too many guests come from your network; wait a moment, or register";
        return Err(Problem::slow_down(detail, RETRY_AFTER_S));
    }
    let token = auth::new_token().map_err(|_| Problem::internal())?;
    let guest = RegisterGuest { token: token.clone(), from };
    let (account, expires_at) = web.ask(guest).await??;
    Ok(NewSession::new(account, token, expires_at).created())
}

/// Gives the guest who asks a name and a password, and logs in under that name.
pub(super) async fn claim(
    State(web): State<Web>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    who: Caller,
    Body(Claiming { account, password }): Body<Claiming>,
) -> Answer {
    let account = accounts::name_of(&account)?;
    let account = match account == who.account {
        true => account,
        false => accounts::new_name(&web, account).await?,
    };
    let password = accounts::new_password(&web, peer, &account, password).await?;
    let (guest, name) = (who.account, account.clone());
    web.ask(ClaimGuest { guest, account: name, password, keep: who.token }).await??;
    let token = auth::new_token().map_err(|_| Problem::internal())?;
    let issue = IssueToken { account: account.clone(), token: token.clone(), from: peer.0 };
    let expires_at = web.ask(issue).await??;
    Ok(NewSession::new(account, token, expires_at).created())
}
