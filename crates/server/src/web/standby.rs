//! HTTP before the engine is up: while the server reads its log, and while it stands by for another
//! node.
//!
//! A node that stands by answers questions about itself, and relays all other connections to the
//! node with the lobby. Without a link to that node it answers 503.

use super::exposition::Exposition;
use super::listener::CONNECTIONS_MAX;
use super::metrics::{self, Health};
use super::problem::Problem;
use crate::cluster::{RelayPort, Rewound};
use crate::net::{Stream, Tls, accept};
use axum::Json;
use axum::extract::Request;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

/// The limit on connections while the server starts; more wait in the system's queue.
const STARTING_MAX: usize = 64;

/// How long a connection that is answered here may take for its request.
const PATIENCE: Duration = Duration::from_secs(5);

/// Relays connections, or answers requests with 503 and the `reason`, until the server is up or has
/// failed to start; returns the listener.
pub async fn answer_starting(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    relay: Option<Arc<RelayPort>>,
    reason: watch::Receiver<&'static str>,
    mut up: oneshot::Receiver<()>,
) -> TcpListener {
    let places_max = if relay.is_some() { CONNECTIONS_MAX } else { STARTING_MAX };
    let places = Arc::new(Semaphore::new(places_max));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            let place = place.expect("the semaphore is never closed");
            (accept(&listener).await, place)
        };
        let ((socket, from), place) = tokio::select! {
            biased;
            _ = &mut up => break,
            next = next => next,
        };
        let (tls, relay, reason) = (tls.clone(), relay.clone(), *reason.borrow());
        tokio::spawn(async move {
            match relay {
                Some(relay) => answer_or_relay(socket, from, tls, relay, reason, place).await,
                None => {
                    let answering = async {
                        if let Ok(stream) = Stream::accept(socket, tls.as_ref()).await {
                            answer_here(stream, Vec::new(), None, reason).await;
                        }
                    };
                    let _ = tokio::time::timeout(PATIENCE, answering).await;
                    drop(place);
                }
            }
        });
    }
    listener
}

async fn answer_or_relay(
    socket: TcpStream,
    from: IpAddr,
    tls: Option<Arc<Tls>>,
    relay: Arc<RelayPort>,
    reason: &'static str,
    place: OwnedSemaphorePermit,
) {
    // A client with too many connections gets no reply.
    let Some(guest) = relay.visitor(from) else { return };
    let Some(stream) = relay.stream(socket, tls.as_ref()).await else { return };
    let own = relay.route_http(stream, from, (place, guest)).await;
    if let Some((stream, read)) = own {
        let answering = answer_here(stream, read, Some(relay), reason);
        let _ = tokio::time::timeout(PATIENCE, answering).await;
    }
}

/// Answers one request. `read` is the part of it that was read before.
async fn answer_here(
    stream: Stream,
    read: Vec<u8>,
    relay: Option<Arc<RelayPort>>,
    reason: &'static str,
) {
    let service = service_fn(|request: Request<Incoming>| {
        let own = relay.as_ref().and_then(|relay| about_this_node(relay, &request, reason));
        let answer = own.unwrap_or_else(|| Problem::busy(reason).into_response());
        async move { Ok::<Response, Infallible>(answer) }
    });
    let mut http = http1::Builder::new();
    // The next request is for the server itself.
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(PATIENCE);
    let _ = http.serve_connection(TokioIo::new(Rewound { read, stream }), service).await;
}

/// The answer to a question about this node; `None` if it is none, or if the node is not ready.
fn about_this_node(
    relay: &RelayPort,
    request: &Request<Incoming>,
    reason: &'static str,
) -> Option<Response> {
    let counts = relay.counts();
    match (request.uri().path(), request.uri().query()) {
        ("/healthz", None | Some("")) => {}
        ("/healthz", Some("ready")) if counts.is_linked => {}
        ("/healthz", Some("ready")) => return Some(Problem::busy(reason).into_response()),
        ("/metrics", _) => {
            let mut text = Exposition::default();
            let version = format!("version=\"{}\"", env!("CARGO_PKG_VERSION"));
            text.labelled(("agon_build_info", "gauge"), "What runs here.", [(version, 1)]);
            let uptime = relay.started().elapsed().as_secs();
            text.gauge("agon_uptime_seconds", "Since the process started.", uptime);
            let help = "Whether this node stands by and relays its players.";
            text.gauge("agon_relay_up", help, u64::from(counts.is_linked));
            let help = "Connections that this node relays.";
            text.gauge("agon_relay_connections", help, counts.connections as u64);
            let help = "Bytes that this node relayed, in both directions.";
            text.counter("agon_relay_bytes_total", help, counts.bytes);
            let help = "How often this node lost its link to the node with the lobby.";
            text.counter("agon_relay_links_lost_total", help, counts.links_lost);
            let standing = relay.standing();
            if let Some(lease) = standing.lease() {
                metrics::lease(&mut text, &lease);
                let help = "Answers accepted in tournaments that this node has owned.";
                text.counter("agon_decisions_total", help, standing.decisions());
            }
            let content_type = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
            return Some((content_type, text.into_text()).into_response());
        }
        _ => return None,
    }
    let health = Health {
        status: "ok",
        ready: counts.is_linked,
        version: env!("CARGO_PKG_VERSION"),
        uptime_ms: relay.started().elapsed().as_millis() as u64,
    };
    Some(Json(health).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    #[test]
    fn requests_during_the_start_are_answered_with_503() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (up, heard) = oneshot::channel();
            let (_, reason) = watch::channel("the server is starting");
            let starting = tokio::spawn(answer_starting(listener, None, None, reason, heard));
            let mut socket = TcpStream::connect(address).await.unwrap();
            socket.write_all(b"GET /healthz?ready HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            let mut answer = String::new();
            socket.read_to_string(&mut answer).await.unwrap();
            assert!(answer.starts_with("HTTP/1.1 503 "), "{answer}");
            assert!(answer.contains("retry-after: 1") && answer.contains("starting"), "{answer}");
            up.send(()).unwrap();
            let listener = starting.await.unwrap();
            assert_eq!(listener.local_addr().unwrap(), address);
        });
    }
}
