//! The native wire over WebSocket: a message is a text frame. The handshake is HTTP's, see
//! `web/play.rs`.

use super::framing::Framing;
use super::{Gateway, Guest, Stream, connection};
use crate::web::Paced;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

/// Everything was said.
pub(crate) const NORMAL: u16 = 1000;

/// The other end is not there any more.
pub(super) const GOING_AWAY: u16 = 1001;

/// What it sends is no WebSocket.
pub(super) const PROTOCOL_ERROR: u16 = 1002;

/// A place for one more player.
pub(crate) struct Ticket {
    peer: IpAddr,
    _place: OwnedSemaphorePermit,
    _guest: Guest,
}

impl Gateway {
    /// A place for one more player, or a sentence that says why there is none.
    pub(crate) fn ticket(&self, peer: IpAddr) -> Result<Ticket, &'static str> {
        let no_room = |why| {
            self.engine().meters().turned_away.add();
            tracing::debug!(from = %peer, why, "a player was turned away");
            why
        };
        let place = Arc::clone(&self.0.places).try_acquire_owned();
        let _place = place.map_err(|_| no_room("too many players are connected"))?;
        let guest = self.guest(peer).ok_or("too many connections from this address");
        Ok(Ticket { peer, _place, _guest: guest.map_err(no_room)? })
    }

    /// Serves a player whose connection is about to become a WebSocket.
    pub(crate) async fn serve_upgraded(self, upgrade: OnUpgrade, ticket: Ticket) {
        let patience = Duration::from_millis(self.limits().login_ms_max.max(1));
        let Ok(Ok(upgraded)) = tokio::time::timeout(patience, upgrade).await else { return };
        // Our own socket back: what HTTP needed for it is gone.
        let Ok(parts) = upgraded.downcast::<TokioIo<Paced<Stream>>>() else { return };
        let mut framing = Framing::frames(self.limits().line_bytes_max);
        framing.push(&parts.read_buf);
        let stream = parts.io.into_inner().into_inner();
        // Players' sockets are served by threads that no reader of pages keeps busy.
        let runtime = self.0.runtime.clone();
        runtime.spawn(async move {
            if let Ok(stream) = stream.moved_here() {
                connection::visit(&self, ticket.peer, stream, framing).await;
            }
            drop(ticket);
        });
    }
}
