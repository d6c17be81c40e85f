//! Connections of players whose sockets are on other nodes.
//!
//! ```text
//!   player ── socket ── node that stands by                NATS           node with the lobby
//!                       listener, TLS, RelayPort ── Open, Data, Took ──▶  Relays ──▶ gateways
//!                                                ◀── Data, Took, End ──
//! ```
//!
//! A node that stands by accepts connections on its listeners and carries their bytes to the node
//! with the lobby ([`node`]). There each becomes a stream that enters the gateway of its listener
//! like an accepted socket ([`owner`]). Each side keeps the state of a connection in a [`pipe`].
//!
//! One link carries all connections of a node. It is apart from the link of the node's tournaments:
//! it needs no loan, and does not end with one. When it is given up, its connections close, and
//! players reconnect to any node. Nobody is charged for that. Request clocks run from socket to
//! socket ([`times`]), so no player is charged for a slow bus either.
//!
//! See docs/decisions/0040-sockets-on-every-node.md.

mod http;
mod node;
mod owner;
mod packet;
mod pipe;
mod times;

pub(crate) use http::Rewound;
pub use node::{RelayPort, StandbyListener};
pub(crate) use owner::{Accepted, SeatGuard};
pub use owner::{PortConnections, Relays};
pub use packet::packet_again;
pub(crate) use pipe::RelayStream;
pub(crate) use times::RelayTimes;

/// The subject of a node on the bus, for relayed connections.
fn subject_of(node: &str) -> String {
    format!("{}.relay", super::sender::subject_of(node))
}

/// The most connections that one link carries.
const LINK_CONNECTIONS_MAX: usize = 32_768;
