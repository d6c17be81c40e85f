//! Sockets of the HTTP interface: so many at once, so many from one address, none that dawdles.

use super::paced::Paced;
use crate::gateway::{Gateway, Guests, accept};
use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::SockRef;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at once; more wait in the system's queue. Players' WebSockets are not among them.
const CONNECTIONS_MAX: usize = 4_096;

/// Bytes of a head, and of what is read ahead.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Bytes the system keeps for a reader.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Serves the routes until the task is dropped.
pub(super) async fn serve(listener: TcpListener, router: Router, gateway: Gateway) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let guests: Arc<Guests> = Arc::default();
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.expect("the places are never closed");
        let (socket, peer) = accept(&listener).await;
        let per_address_max = gateway.limits().connections_per_address_max;
        // Whoever has so many open is past being told.
        let Some(guest) = guests.enter(peer, per_address_max) else {
            gateway.engine().meters().turned_away.add();
            continue;
        };
        let (router, gateway) = (router.clone(), gateway.clone());
        tokio::spawn(async move {
            serve_one(socket, Peer(peer), router, &gateway).await;
            drop((place, guest));
        });
    }
}

async fn serve_one(socket: TcpStream, peer: Peer, router: Router, gateway: &Gateway) {
    // What the system keeps for a reader that does not read is bounded as well.
    let _ = SockRef::from(&socket).set_send_buffer_size(SEND_BUFFER_BYTES);
    let Some(stream) = gateway.stream(socket).await else { return };
    let routes = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        routes.call(request)
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new());
    // Also between two requests: a connection is not kept for nothing.
    let patience = gateway.limits().login_ms_max.max(1);
    http.header_read_timeout(Duration::from_millis(patience));
    http.max_buf_size(BUFFER_BYTES_MAX);
    let patience = Duration::from_millis(gateway.limits().write_ms_max.max(1));
    let stream = Paced::new(stream, patience);
    // Whatever goes wrong here is between the socket and its other end.
    let _ = http.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
}
