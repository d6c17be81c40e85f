//! Gateways hold sockets: whatever the transport, messages go to the engine and come from it.
//!
//! ```text
//!   tcp ─────── TLS? ──┐                      ┌─▶ engine
//!                      ├─▶ connection (a task)┤
//!   http ── TLS? ── websocket                 └── outbox ◀── engine, sweep
//!   wires of other systems ──▶ peer (a task), the same way
//! ```
//!
//! They answer for bounds: connections, sizes, speed, silence. Who is behind a connection and what
//! its messages mean is up to the engine.

mod arrivals;
mod bucket;
mod connection;
mod direct;
mod erlang;
mod framing;
mod guests;
mod limits;
mod outbox;
mod peer;
mod peer_observer;
mod sign_ups;
mod sweep;
mod talk;
mod tcp;
mod tls;
pub(crate) mod websocket;

use crate::engine::Handle;
use crate::lateness;
use crate::web::Ledger;
pub(crate) use connection::{Todo, end_with, todo};
pub use erlang::{ErlangCookie, ErlangError, ErlangSettings, NodeName, serve_erlang};
pub(crate) use framing::{Batch, Framing};
pub(crate) use guests::{Guest, Guests};
pub use limits::Limits;
pub(crate) use outbox::{Out, Outbox, PeerAsk, Pulse, Tell, Written};
pub use peer::{Peers, serve_peers};
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
pub(crate) use talk::{GRACE_MS, PAUSE_MS, Talk, Words};
pub(crate) use tcp::accept;
pub use tcp::serve_tcp;
pub(crate) use tls::Stream;
pub use tls::{Tls, TlsError};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
pub(crate) use websocket::NORMAL;

/// What all transports of a server share.
#[derive(Clone)]
pub struct Gateway(Arc<Shared>);

struct Shared {
    engine: Handle,
    limits: Limits,
    tls: Option<Arc<Tls>>,
    places: Arc<Semaphore>,
    guests: Arc<Guests>,
    pulses: sweep::Pulses,
    ledger: Arc<Ledger>,
    sign_ups: sign_ups::SignUps,
    /// What serves the sockets of players.
    runtime: tokio::runtime::Handle,
}

impl Gateway {
    /// Begins to look after connections to an engine, with TLS where there is a certificate.
    pub fn start(
        engine: Handle,
        limits: Limits,
        tls: Option<Arc<Tls>>,
        runtime: &tokio::runtime::Handle,
    ) -> Gateway {
        let places = Arc::new(Semaphore::new(limits.connections_max));
        let (guests, pulses, ledger) = (Arc::default(), sweep::Pulses::default(), Arc::default());
        let shared = Shared {
            engine,
            limits,
            tls,
            places,
            guests,
            pulses,
            ledger,
            sign_ups: sign_ups::SignUps::default(),
            runtime: runtime.clone(),
        };
        let gateway = Gateway(Arc::new(shared));
        runtime.spawn(sweep::sweep(gateway.clone()));
        runtime.spawn(lateness::beat(gateway.engine().clone()));
        gateway
    }

    pub(crate) fn engine(&self) -> &Handle {
        &self.0.engine
    }

    /// Statistics, for whoever asks for them over whatever wire.
    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.0.ledger
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    fn downgrade(&self) -> Weak<Shared> {
        Arc::downgrade(&self.0)
    }

    /// Waits for a place among all connections of players.
    async fn place(&self) -> OwnedSemaphorePermit {
        let place = Arc::clone(&self.0.places).acquire_owned().await;
        place.expect("the places are never closed")
    }

    /// Counts a connection of a player from an address.
    pub(crate) fn guest(&self, from: IpAddr) -> Option<Guest> {
        self.0.guests.enter(from, self.0.limits.connections_per_address_max)
    }

    /// A stream over a socket that was accepted; `None` if it is no good, or takes too long.
    pub(crate) async fn stream(&self, socket: TcpStream) -> Option<Stream> {
        self.tune(&socket);
        let patience = Duration::from_millis(self.0.limits.login_ms_max.max(1));
        let accepted = Stream::accept(socket, self.0.tls.as_ref());
        tokio::time::timeout(patience, accepted).await.ok()?.ok()
    }

    /// A stream without TLS over a socket that was accepted.
    fn plain(&self, socket: TcpStream) -> Stream {
        self.tune(&socket);
        Stream::Plain(socket)
    }

    /// Has the system notice peers that are gone without a word.
    fn tune(&self, socket: &TcpStream) {
        let limits = &self.0.limits;
        let idle = Duration::from_millis(limits.heartbeat_ms).max(Duration::from_secs(1));
        let step = (idle / 3).max(Duration::from_secs(1));
        let probes = socket2::TcpKeepalive::new().with_time(idle).with_interval(step);
        let _ = socket.set_nodelay(true);
        // Where a system lacks these, peers that are gone are noticed later.
        let socket = socket2::SockRef::from(socket);
        let _ = socket.set_tcp_keepalive(&probes);
        #[cfg(target_os = "linux")]
        let _ = socket.set_tcp_user_timeout(Some(Duration::from_millis(limits.silence_ms_max)));
    }
}
