//! Errors as `application/problem+json` (RFC 9457): what is wrong, and what to do next.

use super::html;
use agon_core::lobby::LobbyRejection;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

const CONTENT_TYPE: &str = "application/problem+json";

/// An error (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Problem")]
pub(super) struct ProblemDetails {
    /// The kind of problem, as a stable word: `urn:agon:problem:…`.
    r#type: String,
    /// The status in words.
    title: &'static str,
    /// The status.
    status: u16,
    /// A description of the problem, and the next step, in words for people.
    detail: String,
    /// A hint for the author of a program: the reason, and the expected form of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// An error answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Problem {
    status: StatusCode,
    /// A stable word for machines, the end of `type`.
    code: &'static str,
    detail: String,
    /// A hint for the author of a program: the reason, and the expected form of the request.
    hint: Option<String>,
    /// After how many seconds to try again.
    retry_after_s: Option<u64>,
}

impl Problem {
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Problem {
        Problem { status, code, detail: detail.into(), hint: None, retry_after_s: None }
    }

    /// The request cannot be read. `hint` tells the author of a program why; a person can only try
    /// something else.
    pub(super) fn unreadable(
        status: StatusCode,
        code: &'static str,
        hint: impl Into<String>,
    ) -> Problem {
        let detail = "the server cannot read this request: something in it is missing or has \
                      another form; correct it and try again";
        Problem { hint: Some(hint.into()), ..Problem::new(status, code, detail) }
    }

    pub(super) fn unauthorized(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNAUTHORIZED, "not-logged-in", detail)
    }

    /// The client sends too much. `detail` says what to do.
    pub(super) fn slow_down(detail: impl Into<String>, retry_after_s: u64) -> Problem {
        let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "slow-down", detail);
        Problem { retry_after_s: Some(retry_after_s), ..problem }
    }

    pub(super) fn forbidden(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    pub(super) fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    pub(super) fn conflict(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::CONFLICT, "conflict", detail)
    }

    pub(super) fn unprocessable(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "not-usable", detail)
    }

    pub(super) fn busy(detail: impl Into<String>) -> Problem {
        let detail = format!("{}; try again in a second", detail.into());
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail);
        Problem { retry_after_s: Some(1), ..problem }
    }

    pub(super) fn stopping() -> Problem {
        Problem::busy("the server is stopping")
    }

    /// An internal error. Its cause is for the operator's log, not for a stranger.
    pub(super) fn internal() -> Problem {
        let detail = "the server failed to answer; tell its operator if it happens again";
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", detail)
    }
}

impl From<LobbyRejection> for Problem {
    fn from(rejection: LobbyRejection) -> Problem {
        let detail = rejection.to_string();
        match rejection {
            LobbyRejection::Unknown(_) => Problem::not_found(detail),
            LobbyRejection::Blacklisted(..) => Problem::forbidden(detail),
            LobbyRejection::NoToken => Problem::unauthorized(detail),
            LobbyRejection::NoRoom | LobbyRejection::TooMany => Problem::busy(detail),
            _ => Problem::conflict(detail),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let details = ProblemDetails {
            r#type: format!("urn:agon:problem:{}", self.code),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: self.detail,
            hint: self.hint,
        };
        let body = serde_json::to_string(&details).expect("a problem is JSON");
        let content_type = (header::CONTENT_TYPE, CONTENT_TYPE);
        let mut response = (self.status, [content_type], body).into_response();
        response.extensions_mut().insert(Detail(details.detail));
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        let (name, value) = match self.status {
            StatusCode::UNAUTHORIZED => (header::WWW_AUTHENTICATE, "Bearer"),
            StatusCode::UPGRADE_REQUIRED => (header::SEC_WEBSOCKET_VERSION, "13"),
            _ => return response,
        };
        response.headers_mut().insert(name, HeaderValue::from_static(value));
        response
    }
}

/// The detail of a problem, which a response carries along for the page that people see.
#[derive(Clone)]
struct Detail(String);

/// Errors of the router itself (no such route, no such method) have the same form. People who open
/// an address in a browser see a page instead.
pub(super) async fn for_every_error(request: Request, next: Next) -> Response {
    let for_people = html::is_for_people(request.uri(), request.headers());
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let status = response.status();
    if for_people && (status.is_client_error() || status.is_server_error()) {
        let detail = response.extensions().get::<Detail>().map(|detail| detail.0.clone());
        let detail = detail.unwrap_or_else(|| format!("this server has nothing at {path}"));
        return html::error(status, &detail);
    }
    let content_type = response.headers().get(header::CONTENT_TYPE);
    let is_problem = content_type.is_some_and(|value| value == CONTENT_TYPE);
    if is_problem || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let problem = match status {
        StatusCode::NOT_FOUND => {
            Problem::not_found("there is no such page; the documentation lists all addresses")
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            let detail = "this address cannot be used in this way; the documentation says how";
            let hint = "the header `allow` lists the methods of this address".to_owned();
            Problem { hint: Some(hint), ..Problem::new(status, "method-not-allowed", detail) }
        }
        _ => Problem::unreadable(status, "bad-request", "docs/http.md describes every route"),
    };
    let mut replaced = problem.into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        replaced.headers_mut().insert(header::ALLOW, allow.clone());
    }
    replaced
}
