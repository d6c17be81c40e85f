//! The door to the native wire over WebSocket: an HTTP request that becomes a player's connection.

use super::listener::Peer;
use super::problem::Problem;
use super::{Answer, Web};
use agon_wire::websocket::{accept_key, is_key};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// Begins a WebSocket. Who comes is said on it, not here: no header is looked at for that.
pub(super) async fn play(
    State(web): State<Web>,
    ConnectInfo(Peer(peer)): ConnectInfo<Peer>,
    mut request: Request,
) -> Answer {
    if !wants_websocket(request.headers()) {
        let detail = "this page speaks WebSocket (RFC 6455), version 13";
        return Err(Problem::new(StatusCode::UPGRADE_REQUIRED, "upgrade-required", detail));
    }
    let key = accepted(request.headers())?;
    let ticket = web.gateway.ticket(peer).map_err(Problem::busy)?;
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(web.gateway.clone().serve_upgraded(upgrade, ticket));
    Ok(switching(&key))
}

/// Whether a request is to become a WebSocket.
pub(super) fn wants_websocket(headers: &HeaderMap) -> bool {
    names(headers, &header::UPGRADE, "websocket")
        && names(headers, &header::CONNECTION, "upgrade")
        && names(headers, &header::SEC_WEBSOCKET_VERSION, "13")
}

/// What a handshake is answered with, if it may be.
pub(super) fn accepted(headers: &HeaderMap) -> Result<String, Problem> {
    let key = text(headers, &header::SEC_WEBSOCKET_KEY).filter(|key| is_key(key));
    let Some(key) = key.map(accept_key) else {
        let detail = "Sec-WebSocket-Key is sixteen bytes in base64";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "bad-request", detail));
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

/// Whether a header, a list of words, names this one.
fn names(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut words = values.flat_map(|value| value.split(','));
    words.any(|found| found.trim().eq_ignore_ascii_case(word))
}

/// Browsers say which page a WebSocket is for. It has to be one of this host; programs say nothing.
fn is_own_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else { return true };
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let origin = origin.as_ref().and_then(|origin| origin.authority());
    let host = text(headers, &header::HOST);
    origin.zip(host).is_some_and(|(origin, host)| origin.as_str().eq_ignore_ascii_case(host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_host_may_play() {
        let cases = [
            (None, true),
            (Some("http://agon.test:7380"), true),
            (Some("https://Agon.test:7380"), true),
            (Some("http://agon.test"), false),
            (Some("http://evil.test:7380"), false),
            (Some("http://agon.test:7380.evil.test"), false),
            (Some("http://agon.test:7380@evil.test"), false),
            (Some("null"), false),
            (Some(""), false),
        ];
        for (origin, own) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, "agon.test:7380".parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            assert_eq!(is_own_origin(&headers), own, "{origin:?}");
        }
    }
}
