//! The client's identity: a token in the `Authorization` header.

use super::Web;
use super::places::PlaceGuard;
use super::problem::Problem;
use crate::engine::query::FindHolder;
use agon_core::PlayerName;
use agon_core::lobby::{Role, TokenHash};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

/// An authenticated account.
pub(super) struct Caller {
    pub(super) account: PlayerName,
    pub(super) role: Role,
    pub(super) token: TokenHash,
}

impl FromRequestParts<Web> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Caller, Problem> {
        let Some(token) = bearer(&parts.headers) else {
            return Err(Problem::unauthorized("you are not logged in; log in and try again"));
        };
        let holder = web.ask(FindHolder(token.clone())).await?;
        let Some((account, role)) = holder else {
            return Err(Problem::unauthorized(
                "this login is not valid, or it has expired; log in again",
            ));
        };
        Ok(Caller { account, role, token })
    }
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<TokenHash> {
    let header = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| TokenHash::of(token.trim()))
}

/// A place for a request of an operator, however many places others hold.
pub(super) async fn operators_place(web: &Web, headers: &HeaderMap) -> Option<PlaceGuard> {
    let token = bearer(headers)?;
    let (_, role) = web.ask(FindHolder(token)).await.ok()??;
    web.places.operator().filter(|_| role == Role::Operator)
}

/// An authenticated account, or a client without a token.
pub(super) struct MaybeCaller(pub(super) Option<Caller>);

impl FromRequestParts<Web> for MaybeCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<MaybeCaller, Problem> {
        if parts.headers.get(header::AUTHORIZATION).is_none() {
            return Ok(MaybeCaller(None));
        }
        Ok(MaybeCaller(Some(Caller::from_request_parts(parts, web).await?)))
    }
}

/// An authenticated operator.
pub(super) struct Operator(pub(super) PlayerName);

impl FromRequestParts<Web> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Operator, Problem> {
        let who = Caller::from_request_parts(parts, web).await?;
        match who.role {
            Role::Operator => Ok(Operator(who.account)),
            Role::Player => Err(Problem::forbidden(format!(
                "{} is no operator; ask one, or log in as one",
                who.account
            ))),
        }
    }
}
