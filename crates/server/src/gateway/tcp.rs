//! The native wire over TCP: a message is a line.

use super::{Gateway, connection};
use crate::cluster::{Accepted, PortConnections};
use crate::engine::seat_side::{Framing, error_line};

/// Accepts players until the task is dropped.
pub async fn serve_tcp(incoming: impl Into<PortConnections>, gateway: Gateway) {
    let mut incoming = incoming.into();
    loop {
        let place = gateway.place().await;
        let (accepted, peer) = incoming.accept().await;
        let Some(guest) = gateway.guest(peer) else {
            gateway.engine().meters().turned_away.add();
            tracing::debug!(from = %peer, "too many connections from one address");
            turn_away(&gateway, &accepted);
            continue;
        };
        let gateway = gateway.clone();
        tokio::spawn(async move {
            if let Some(stream) = gateway.stream(accepted).await {
                let framing = Framing::lines(gateway.limits().line_bytes_max);
                connection::visit(&gateway, peer, stream, framing).await;
            }
            drop((place, guest));
        });
    }
}

/// Sends the reason, as far as it fits into an empty socket, and closes.
fn turn_away(gateway: &Gateway, accepted: &Accepted) {
    let detail = "too many connections from this address; close one".to_owned();
    let words = error_line("too-many-connections", detail);
    match accepted {
        Accepted::Relayed(stream) => stream.say_last(&words),
        // Under TLS nothing can be sent before the handshake, which is too much work for a rejected
        // connection.
        Accepted::Socket(_) if gateway.host().has_tls() => {}
        Accepted::Socket(socket) => drop(socket.try_write(&words)),
    }
}
