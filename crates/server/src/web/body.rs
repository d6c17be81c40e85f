//! Bodies of requests: JSON up to a limit. Errors do not repeat secrets.

use super::problem::Problem;
use super::{Web, caller};
use axum::body::{Bytes, HttpBody, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::net::IpAddr;
use std::time::Duration;

/// The largest body.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// The types that a request body can be parsed into.
pub(super) trait Form: DeserializeOwned + JsonSchema {
    /// Its fields, for the author of a program that sends another form.
    const FIELDS: &str;
    /// True if nothing of it may be repeated, because it holds a password.
    const SECRET: bool;
}

/// Reads the body of a request, in a place made for that and not for ever. A request without one is
/// left as it is.
pub(super) async fn whole(web: &Web, from: IpAddr, request: Request) -> Result<Request, Problem> {
    if request.body().is_end_stream() {
        return Ok(request);
    }
    let _place = match web.places.body(from) {
        Ok(place) => place,
        Err(full) => caller::operators_place(web, request.headers()).await.ok_or(full)?,
    };
    let (parts, body) = request.into_parts();
    let patience_ms = web.host.limits().http_body_ms_max;
    let read = to_bytes(body, BODY_BYTES_MAX);
    let read = tokio::time::timeout(Duration::from_millis(patience_ms), read).await;
    let read = read.map_err(|_| {
        let detail = format!("the request did not arrive within {patience_ms} ms; try again");
        Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail)
    })?;
    let bytes = read.map_err(|_| too_large())?;
    Ok(Request::from_parts(parts, bytes.into()))
}

fn too_large() -> Problem {
    let detail =
        format!("the request is longer than {BODY_BYTES_MAX} bytes, or broke off; send less");
    Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", detail)
}

/// A body that was read.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: Form> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Body<T>, Problem> {
        read(&bytes_of(request).await?).map(Body)
    }
}

/// A parsed body, or the default if there is none.
pub(super) struct OptionalBody<T>(pub(super) T);

impl<S: Send + Sync, T: Form + Default> FromRequest<S> for OptionalBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<OptionalBody<T>, Problem> {
        let bytes = bytes_of(request).await?;
        match bytes.trim_ascii() {
            b"" | b"null" => Ok(OptionalBody(T::default())),
            _ => read(&bytes).map(OptionalBody),
        }
    }
}

async fn bytes_of(request: Request) -> Result<Bytes, Problem> {
    to_bytes(request.into_body(), BODY_BYTES_MAX).await.map_err(|_| too_large())
}

fn read<T: Form>(bytes: &[u8]) -> Result<T, Problem> {
    let read = serde_json::from_slice(bytes).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        if !error.is_data() {
            let hint = format!("the body is not JSON at {place}; send {}", T::FIELDS);
            return Problem::unreadable(StatusCode::BAD_REQUEST, "not-json", hint);
        }
        let why = if T::SECRET { place } else { error.to_string() };
        unusable(format!("{why}; send {}", T::FIELDS))
    })?;
    // Serde accepts a list of values as a struct; the API does not.
    match bytes.trim_ascii_start().first() {
        Some(b'{') => Ok(read),
        _ => Err(unusable(format!("the body is no object; send {}", T::FIELDS))),
    }
}

fn unusable(hint: String) -> Problem {
    Problem::unreadable(StatusCode::UNPROCESSABLE_ENTITY, "not-usable", hint)
}
