//! The sockets of the HTTP interface: limits on their number, in all and from one address, and on
//! their time.

use crate::cluster::{Accepted, PortConnections};
use crate::net::{Guests, Host, Paced};
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
use tokio::sync::Semaphore;

/// The limit on connections; more wait in the system's queue. Players' WebSockets do not count.
pub(super) const CONNECTIONS_MAX: usize = 4_096;

/// The size limit of a request head, and of the read buffer.
const BUFFER_BYTES_MAX: usize = 64 * 1024;

/// The size of the system's send buffer.
const SEND_BUFFER_BYTES: usize = 128 * 1024;

/// The address that a request comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// Serves the routes until the task is dropped.
pub(super) async fn serve(mut incoming: PortConnections, router: Router, host: Arc<Host>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let guests: Arc<Guests> = Arc::default();
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        let place = place.expect("the semaphore is never closed");
        let (accepted, peer) = incoming.accept().await;
        let per_address_max = host.limits().connections_per_address_max;
        // A client with this many connections gets no reply.
        let Some(guest) = guests.enter(peer, per_address_max) else {
            host.engine().meters().turned_away.add();
            continue;
        };
        let (router, host) = (router.clone(), Arc::clone(&host));
        tokio::spawn(async move {
            serve_one(accepted, Peer(peer), router, &host).await;
            drop((place, guest));
        });
    }
}

async fn serve_one(accepted: Accepted, peer: Peer, router: Router, host: &Host) {
    if let Accepted::Socket(socket) = &accepted {
        // The system's buffer for a client that does not read is limited as well.
        let _ = SockRef::from(socket).set_send_buffer_size(SEND_BUFFER_BYTES);
    }
    let Some(stream) = host.stream(accepted).await else { return };
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
