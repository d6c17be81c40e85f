//! The state that players' gateways and the HTTP interface share, so that neither depends on the
//! other. It has limits on connections, counts by address, TLS and statistics. It also passes
//! WebSockets of the HTTP interface on to become players' connections.

mod guests;
mod limits;
mod paced;
pub(crate) mod socket;
mod tls;

use crate::cluster::Accepted;
use crate::driver::Handle;
use crate::ledger::Ledger;
pub(crate) use guests::{Guest, Guests};
pub use limits::Limits;
pub(crate) use paced::Paced;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
pub(crate) use tls::Stream;
pub use tls::{Tls, TlsError};
use tokio::net::{TcpListener, TcpStream};

/// The state that all listeners of a server share.
pub struct Host {
    engine: Handle,
    limits: Limits,
    tls: Option<Arc<Tls>>,
    /// Connections of players, by address.
    guests: Arc<Guests>,
    ledger: Ledger,
}

impl Host {
    /// The shared state for an engine, with TLS if there is a certificate.
    pub(crate) fn new(engine: Handle, limits: Limits, tls: Option<Arc<Tls>>) -> Arc<Host> {
        let (guests, ledger) = (Arc::default(), Ledger::default());
        Arc::new(Host { engine, limits, tls, guests, ledger })
    }

    pub(crate) fn engine(&self) -> &Handle {
        &self.engine
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Statistics of all tournaments.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Counts a player's connection from an address; `None` if there are too many.
    pub(crate) fn guest(&self, from: IpAddr) -> Option<Guest> {
        self.guests.enter(from, self.limits.connections_per_address_max)
    }

    /// A stream over an accepted connection; `None` if the TLS handshake fails or takes too long.
    /// The node that has a relayed connection's socket has made the handshake.
    pub(crate) async fn stream(&self, accepted: Accepted) -> Option<Stream> {
        let socket = match accepted {
            Accepted::Socket(socket) => socket,
            Accepted::Relayed(stream) => return Some(Stream::Relayed(stream)),
        };
        tune(&socket, &self.limits);
        let patience = Duration::from_millis(self.limits.login_ms_max.max(1));
        let accepted = Stream::accept(socket, self.tls.as_ref());
        tokio::time::timeout(patience, accepted).await.ok()?.ok()
    }

    /// A stream without TLS over an accepted connection.
    pub(crate) fn plain(&self, accepted: Accepted) -> Stream {
        match accepted {
            Accepted::Socket(socket) => {
                tune(&socket, &self.limits);
                Stream::Plain(socket)
            }
            Accepted::Relayed(stream) => Stream::Relayed(stream),
        }
    }
}

/// Sets keep-alive probes, so that the system notices peers that vanish.
pub(crate) fn tune(socket: &TcpStream, limits: &Limits) {
    let idle = Duration::from_millis(limits.heartbeat_ms).max(Duration::from_secs(1));
    let step = (idle / 3).max(Duration::from_secs(1));
    let probes = socket2::TcpKeepalive::new().with_time(idle).with_interval(step);
    let _ = socket.set_nodelay(true);
    // On a system without these options, vanished peers are noticed later.
    let socket = socket2::SockRef::from(socket);
    let _ = socket.set_tcp_keepalive(&probes);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(Duration::from_millis(limits.silence_ms_max)));
}

/// The next connection, and its address.
pub(crate) async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => return (socket, peer.ip()),
            // A failed accept (too many open files) is temporary; wait until others close.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

/// Takes over a WebSocket, with the bytes that were read after its handshake.
pub(crate) type Admitted = Box<dyn FnOnce(Stream, &[u8]) + Send>;

/// Where players' WebSockets go after their handshake.
pub(crate) trait AdmitPlayers: Send + Sync {
    /// A place for one more player, or a sentence that says why there is none.
    fn admit(&self, from: IpAddr) -> Result<Admitted, &'static str>;
}

/// Where the HTTP interface passes players' sockets on.
#[derive(Clone)]
pub struct PlayerSockets(pub(crate) Arc<dyn AdmitPlayers>);
