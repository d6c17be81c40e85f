//! Nodes of a cluster that share the work of one server.
//!
//! ```text
//!   node with the lobby                    NATS                    nodes that stand by
//!   lobby, some cells          ── NodeLinks ──▶ ◀── CellsNode ── replica of the lobby, cells
//!   gateways, some sockets     ── Relays ─────▶ ◀── RelayPort ── sockets
//! ```
//!
//! The node that owns the log has the lobby's engine. The others offer to own cells, and run an
//! engine of cells each. They accept players, and carry their bytes to the node with the lobby
//! ([`relay`]). [`nats`] is the client of the bus, [`sender`] the sending end of a link, [`lobby`]
//! the side of the lobby's node and [`cells`] that of the others. The rules of links are in
//! `agon_engine::links`.
//!
//! The database decides who may write: the owner of the log lends each linked node a cell, and
//! takes it back before the tournaments of a lost node are resumed elsewhere. So a wrong belief
//! about a node, or about the bus, costs time and nothing else.

mod cells;
#[doc(hidden)]
pub mod fuzzing;
mod loans;
mod lobby;
mod meters;
mod nats;
mod relay;
mod sender;

pub(crate) use crate::engine::links::Packet;
pub use cells::CellsNode;
pub use lobby::NodeLinks;
pub use meters::StandbyMeters;
pub use nats::BusAddress;
pub(crate) use relay::{Accepted, RelayStream, RelayTimes, Rewound, SeatGuard};
pub use relay::{PortConnections, RelayPort, Relays, StandbyListener};
pub(crate) use sender::LinkSender;

use nats::{Bus, BusEvent};
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// A node's connection to the bus, and what arrives there.
pub struct BusInbox {
    bus: Arc<Bus>,
    events: Receiver<BusEvent>,
}

impl BusInbox {
    /// Connects a node to the bus. It tries until it succeeds.
    pub fn connect(address: BusAddress, node: &str) -> BusInbox {
        let (bus, events) = Bus::start(address, sender::subject_of(node));
        BusInbox { bus: Arc::new(bus), events }
    }
}
