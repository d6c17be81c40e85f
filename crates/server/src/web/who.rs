//! The client's identity: a token in the `Authorization` header.

use super::Web;
use super::places::Place;
use super::problem::Problem;
use crate::engine::query::FindHolder;
use agon_core::PlayerName;
use agon_core::lobby::{Role, TokenHash};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

/// An authenticated account.
pub(super) struct Who {
    pub(super) account: PlayerName,
    pub(super) role: Role,
    pub(super) token: TokenHash,
}

impl FromRequestParts<Web> for Who {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Who, Problem> {
        let Some(token) = bearer(&parts.headers) else {
            let detail = "log in, and send the token as `Authorization: Bearer TOKEN`";
            return Err(Problem::unauthorized(detail));
        };
        let holder = web.ask(FindHolder(token.clone())).await?;
        let Some((account, role)) = holder else {
            let detail = "the token is no longer valid; log in again";
            return Err(Problem::unauthorized(detail));
        };
        Ok(Who { account, role, token })
    }
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Option<TokenHash> {
    let header = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| TokenHash::of(token.trim()))
}

/// A place for a request of an operator, however many places others hold.
pub(super) async fn operators_place(web: &Web, headers: &HeaderMap) -> Option<Place> {
    let token = bearer(headers)?;
    let (_, role) = web.ask(FindHolder(token)).await.ok()??;
    web.places.operator().filter(|_| role == Role::Operator)
}

/// An authenticated account, or a client without a token.
pub(super) struct Perhaps(pub(super) Option<Who>);

impl FromRequestParts<Web> for Perhaps {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Perhaps, Problem> {
        if parts.headers.get(header::AUTHORIZATION).is_none() {
            return Ok(Perhaps(None));
        }
        Ok(Perhaps(Some(Who::from_request_parts(parts, web).await?)))
    }
}

/// An authenticated operator.
pub(super) struct Operator(pub(super) PlayerName);

impl FromRequestParts<Web> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Operator, Problem> {
        let who = Who::from_request_parts(parts, web).await?;
        match who.role {
            Role::Operator => Ok(Operator(who.account)),
            Role::Player => Err(Problem::forbidden(format!(
                "{} is no operator; ask one, or log in as one",
                who.account
            ))),
        }
    }
}
