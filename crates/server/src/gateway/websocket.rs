//! The native wire over WebSocket: a message is a text frame. The HTTP interface makes the
//! handshake and then passes the socket on.

use super::{Gateway, Stream, connection};
use crate::engine::seat_side::Framing;
use crate::net::{AdmitPlayers, Admitted};
use std::net::IpAddr;
use std::sync::Arc;

impl AdmitPlayers for Gateway {
    fn admit(&self, peer: IpAddr) -> Result<Admitted, &'static str> {
        let no_room = |why| {
            self.engine().meters().turned_away.add();
            tracing::debug!(from = %peer, why, "a player was turned away");
            why
        };
        let place = Arc::clone(&self.0.places).try_acquire_owned();
        let place = place.map_err(|_| no_room("too many players are connected"))?;
        let guest = self.guest(peer).ok_or("too many connections from this address");
        let guest = guest.map_err(no_room)?;
        let gateway = self.clone();
        Ok(Box::new(move |stream: Stream, read: &[u8]| {
            let mut framing = Framing::frames(gateway.limits().line_bytes_max);
            framing.push(read);
            // Players' sockets run on threads of their own, which page requests do not keep busy.
            let runtime = gateway.0.runtime.clone();
            runtime.spawn(async move {
                if let Ok(stream) = stream.moved_here() {
                    connection::visit(&gateway, peer, stream, framing).await;
                }
                drop((place, guest));
            });
        }))
    }
}
