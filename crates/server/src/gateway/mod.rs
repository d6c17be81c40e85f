//! Gateways own the sockets: on every transport, they pass messages to the engine and back.
//!
//! ```text
//!   tcp ──────────────────▶ driver_sockets (the driver's thread)┐
//!   tcp ── TLS ────────┐                                        ├─▶ engine
//!                      ├─▶ connection (a task) ─────────────────┘
//!   http ── TLS? ── websocket         └── outbox ◀── engine, sweep
//!   wires of other systems ──▶ peer (a task), the same way
//! ```
//!
//! They enforce the limits: connections, sizes, speed, silence. The engine decides who is behind a
//! connection and what its messages mean.

mod arrivals;
mod bucket;
mod connection;
mod direct;
mod driver_sockets;
mod erlang;
mod framing;
mod input_reader;
mod outbox;
mod peer;
mod peer_observer;
mod sweep;
mod tcp;
pub(crate) mod websocket;

use crate::cluster::Accepted;
use crate::driver::Handle;
use crate::lateness;
use crate::ledger::Ledger;
use crate::net::{Guest, Host, Limits, PlayerSockets, Stream, Tls};
use crate::per_minute::PerMinute;
pub(crate) use driver_sockets::{DriverSockets, OpenSocket};
pub use erlang::{ErlangCookie, ErlangError, ErlangSettings, NodeName, serve_erlang};
pub(crate) use outbox::{Outbox, Written};
pub use peer::serve_peers;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
pub use tcp::serve_tcp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The state that all transports of a server share.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    host: Arc<Host>,
    places: Arc<Semaphore>,
    connections: sweep::OpenConnections,
    sign_ups: PerMinute,
    /// The runtime that serves players' sockets.
    runtime: tokio::runtime::Handle,
}

impl Gateway {
    /// Starts a gateway to an engine, with TLS if there is a certificate.
    pub fn start(
        engine: Handle,
        limits: Limits,
        tls: Option<Arc<Tls>>,
        runtime: &tokio::runtime::Handle,
    ) -> Gateway {
        let places = Arc::new(Semaphore::new(limits.connections_max));
        let shared = Shared {
            host: Host::new(engine, limits, tls),
            places,
            connections: sweep::OpenConnections::default(),
            sign_ups: PerMinute::default(),
            runtime: runtime.clone(),
        };
        let gateway = Gateway(Arc::new(shared));
        runtime.spawn(sweep::sweep(gateway.clone()));
        runtime.spawn(lateness::beat(gateway.engine().clone()));
        gateway
    }

    /// The state that this gateway shares with other listeners.
    pub fn host(&self) -> &Arc<Host> {
        &self.0.host
    }

    /// Where the HTTP interface passes players' sockets on.
    pub fn player_sockets(&self) -> PlayerSockets {
        PlayerSockets(Arc::new(self.clone()))
    }

    pub(crate) fn engine(&self) -> &Handle {
        self.0.host.engine()
    }

    fn ledger(&self) -> &Ledger {
        self.0.host.ledger()
    }

    pub(crate) fn limits(&self) -> &Limits {
        self.0.host.limits()
    }

    fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.0)
    }

    /// Waits for a place in the limit on players' connections.
    async fn place(&self) -> OwnedSemaphorePermit {
        let place = Arc::clone(&self.0.places).acquire_owned().await;
        place.expect("the semaphore is never closed")
    }

    /// Counts a player's connection from an address.
    fn guest(&self, from: IpAddr) -> Option<Guest> {
        self.0.host.guest(from)
    }

    /// A stream over an accepted connection; `None` if the handshake fails or takes too long.
    async fn stream(&self, accepted: Accepted) -> Option<Stream> {
        self.0.host.stream(accepted).await
    }

    /// A stream without TLS over an accepted connection.
    fn plain(&self, accepted: Accepted) -> Stream {
        self.0.host.plain(accepted)
    }
}
