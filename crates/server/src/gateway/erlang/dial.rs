//! Connecting to a node: its address, and the handshake from this side.
//!
//! Players' nodes connect to this server. The server connects to them only to find players and
//! requesters again, who cannot know that it was restarted.

use super::{Hub, epmd, handshake, node};
use crate::{auth, net};
use agon_wire::erlang::handshake::Initiator;
use agon_wire::erlang::term::Atom;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;

/// The timeout of each connection attempt.
const PATIENCE: Duration = Duration::from_secs(5);

/// The address of a node when it was last connected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
    pub(super) node: Atom,
    /// The address it connected from.
    pub(super) from: IpAddr,
    /// The port it listened on, if that was known.
    pub(super) port: Option<u16>,
}

/// Connects to a node and serves it in a task of its own. The error says why it failed.
pub(super) async fn connect(hub: &Arc<Hub>, address: &Address) -> Result<(), String> {
    let name = address.node.as_str();
    let alive = name.split('@').next().unwrap_or_default();
    let place = hub.gateway.place().await;
    let guest = hub.gateway.guest(address.from).ok_or("too many connections from there")?;
    let asked = tokio::time::timeout(PATIENCE, epmd::port_of(epmd_of(hub, address), alive));
    let known = asked.await.map_err(|_| "EPMD did not answer")?.unwrap_or_default();
    // An EPMD that was restarted may not know the node yet.
    let port = known.or(address.port).ok_or("EPMD does not know it")?;
    let to = SocketAddr::new(address.from, port);
    let met = tokio::time::timeout(PATIENCE, shake_hands(hub, to, &address.node));
    let (socket, creation, frames) = met.await.map_err(|_| "it did not answer in time")??;
    let (hub, address) = (Arc::clone(hub), address.clone());
    tokio::spawn(async move {
        let visitor = node::Visitor { name: address.node, creation, from: address.from };
        node::stay(&hub, visitor, socket, frames).await;
        drop((place, guest));
    });
    Ok(())
}

/// The EPMD of the node's machine. On this machine it may have another address than the node.
pub(super) fn epmd_of(hub: &Hub, address: &Address) -> SocketAddr {
    let own = hub.settings.epmd;
    match address.from.is_loopback() || address.from == own.ip() {
        true => own,
        false => SocketAddr::new(address.from, own.port()),
    }
}

type Met = (TcpStream, u32, agon_wire::erlang::frames::Frames);

async fn shake_hands(hub: &Hub, to: SocketAddr, wanted: &Atom) -> Result<Met, String> {
    let mut socket = TcpStream::connect(to).await.map_err(|error| error.to_string())?;
    net::tune(&socket, hub.gateway.limits());
    let challenge = auth::random::<4>().map_err(|error| error.to_string())?;
    let (node, cookie) = (hub.settings.node.0.clone(), hub.settings.cookie.0.clone());
    let challenge = u32::from_be_bytes(challenge);
    let initiator = Initiator::new(node, hub.creation, cookie, challenge, wanted.clone());
    let (peer, frames) = handshake::begin(initiator, &mut socket).await?;
    Ok((socket, peer.creation, frames))
}
