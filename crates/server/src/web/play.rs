//! The entry to the native wire over WebSocket: an HTTP request that becomes a player's connection.

use super::guard::is_own_origin;
use super::listener::Peer;
use super::problem::Problem;
use super::{Answer, Web};
use crate::net::{Paced, Stream};
use agon_wire::websocket::{accept_key, is_key};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::time::timeout;

/// Begins a WebSocket. Players log in over it; no HTTP header counts for that.
pub(super) async fn play(
    State(web): State<Web>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    mut request: Request,
) -> Answer {
    if !wants_websocket(request.headers()) {
        let detail = "this address is for programs that play; they connect over WebSocket \
                      (RFC 6455), version 13";
        return Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade-required", detail));
    }
    let key = accepted(request.headers())?;
    let admitted = web.players.0.admit(peer).map_err(Problem::busy)?;
    let upgrade = hyper::upgrade::on(&mut request);
    let patience = Duration::from_millis(web.host.limits().login_ms_max.max(1));
    tokio::spawn(async move {
        let Ok(Ok(upgraded)) = timeout(patience, upgrade).await else { return };
        // Takes our own socket back; HTTP's state for it is gone.
        let Ok(parts) = upgraded.downcast::<TokioIo<Paced<Stream>>>() else { return };
        admitted(parts.io.into_inner().into_inner(), &parts.read_buf);
    });
    Ok(switching(&key))
}

/// Returns whether a request asks for a WebSocket.
pub(super) fn wants_websocket(headers: &HeaderMap) -> bool {
    names(headers, &header::UPGRADE, "websocket")
        && names(headers, &header::CONNECTION, "upgrade")
        && names(headers, &header::SEC_WEBSOCKET_VERSION, "13")
}

/// The answer to a handshake, if it is valid.
pub(super) fn accepted(headers: &HeaderMap) -> Result<String, Problem> {
    let key = text(headers, &header::SEC_WEBSOCKET_KEY).filter(|key| is_key(key));
    let Some(key) = key.map(accept_key) else {
        let hint = "Sec-WebSocket-Key is sixteen bytes in base64";
        return Err(Problem::unreadable(StatusCode::BAD_REQUEST, "bad-request", hint));
    };
    match is_own_origin(headers) {
        true => Ok(key),
        false => Err(Problem::forbidden("pages of other sites may not connect here")),
    }
}

/// The last answer over HTTP.
pub(super) fn switching(key: &str) -> Response {
    let headers = [
        (header::UPGRADE, "websocket"),
        (header::CONNECTION, "upgrade"),
        (header::SEC_WEBSOCKET_ACCEPT, key),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether a header, which is a list of words, contains this one.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut words = values.flat_map(|value| value.split(','));
    words.any(|found| found.trim().eq_ignore_ascii_case(word))
}
