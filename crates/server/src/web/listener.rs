//! The sockets of the HTTP interface: limits on their number, in all and from one address, and on
//! their time; and the answers before the engine is up.

use super::problem::Problem;
use crate::net::{Guests, Host, Paced, Stream, Tls, accept};
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot, watch};

/// The limit on connections; more wait in the system's queue. Players' WebSockets do not count.
const CONNECTIONS_MAX: usize = 4_096;

/// The size limit of a request head, and of the read buffer.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// The size of the system's send buffer.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// The limit on connections while the server starts; more wait in the system's queue.
const STARTING_MAX: usize = 64;

/// How long such a connection may take for its request.
const STARTING_PATIENCE: Duration = Duration::from_secs(5);

/// The address that a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Serves the routes until the task is dropped.
pub(super) async fn serve(listener: TcpListener, router: Router, host: Arc<Host>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let guests: Arc<Guests> = Arc::default();
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.expect("the semaphore is never closed");
        let (socket, peer) = accept(&listener).await;
        let per_address_max = host.limits().connections_per_address_max;
        // A client with this many connections gets no reply.
        let Some(guest) = guests.enter(peer, per_address_max) else {
            host.engine().meters().turned_away.add();
            continue;
        };
        let (router, host) = (router.clone(), Arc::clone(&host));
        tokio::spawn(async move {
            serve_one(socket, Peer(peer), router, &host).await;
            drop((place, guest));
        });
    }
}

async fn serve_one(socket: TcpStream, peer: Peer, router: Router, host: &Host) {
    // The system's buffer for a client that does not read is limited as well.
    let _ = SockRef::from(&socket).set_send_buffer_size(SEND_BUFFER_BYTES);
    let Some(stream) = host.stream(socket).await else { return };
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    // This also limits the time between two requests, so idle connections are closed.
    let patience = host.limits().login_ms_max.max(1);
    http.header_read_timeout(Duration::from_millis(patience));
    http.max_buf_size(BUFFER_BYTES_MAX);
    let patience = Duration::from_millis(host.limits().write_ms_max.max(1));
    let stream = Paced::new(stream, patience);
    // Errors here only concern this connection.
    let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}

/// Answers every request with 503 and the `reason` until the server is up or has failed to start;
/// returns the listener.
pub async fn answer_starting(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    reason: watch::Receiver<&'static str>,
    mut up: oneshot::Receiver<()>,
) -> TcpListener {
    let places = Arc::new(Semaphore::new(STARTING_MAX));
    loop {
        let next = async {
            let place = Arc::clone(&places).acquire_owned().await;
            (accept(&listener).await.0, place)
        };
        let (socket, place) = tokio::select! {
            biased;
            _ = &mut up => break,
            next = next => next,
        };
        let (tls, reason) = (tls.clone(), *reason.borrow());
        tokio::spawn(async move {
            let answering = answer_one(socket, tls, reason);
            let _ = tokio::time::timeout(STARTING_PATIENCE, answering).await;
            drop(place);
        });
    }
    listener
}

async fn answer_one(socket: TcpStream, tls: Option<Arc<Tls>>, reason: &'static str) {
    let Ok(stream) = Stream::accept(socket, tls.as_ref()).await else { return };
    let service = service_fn(move |_: Request<Incoming>| async move {
        let problem = Problem::busy(reason);
        Ok::<Response, Infallible>(problem.into_response())
    });
    let mut http = http1::Builder::new();
    // The next request is for the server itself.
    http.keep_alive(false).timer(TokioTimer::new()).header_read_timeout(STARTING_PATIENCE);
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[test]
    fn requests_during_the_start_are_answered_with_503() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let (up, heard) = oneshot::channel();
            let (_, reason) = watch::channel("the server is starting");
            let starting = tokio::spawn(answer_starting(listener, None, reason, heard));
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
