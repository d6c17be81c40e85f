//! The native wire over TCP: a message is a line.

use super::{Gateway, accept, connection};
use crate::engine::seat_side::{Framing, error_line};
use std::future::poll_fn;
use std::task::Poll;
use tokio::net::{TcpListener, TcpStream};

/// Accepts players until the task is dropped.
pub async fn serve_tcp(listener: TcpListener, gateway: Gateway) {
    loop {
        let place = gateway.place().await;
        let (socket, peer) = accept(&listener).await;
        let Some(guest) = gateway.guest(peer) else {
            gateway.engine().meters().turned_away.add();
            tracing::debug!(from = %peer, "too many connections from one address");
            turn_away(&gateway, &socket);
            continue;
        };
        let gateway = gateway.clone();
        tokio::spawn(async move {
            if let Some(stream) = gateway.stream(socket).await {
                let framing = Framing::lines(gateway.limits().line_bytes_max);
                connection::visit(&gateway, peer, stream, framing).await;
            }
            drop((place, guest));
        });
    }
}

/// Rejects players, and programs of other systems, until the task is dropped: another node plays.
pub async fn reject_on_standby(players: &TcpListener, others: &[&TcpListener], has_tls: bool) {
    let rejecting = async {
        loop {
            let (socket, _) = accept(players).await;
            if !has_tls {
                let detail = "this node stands by for another one; connect to the next address";
                let _ = socket.try_write(&error_line("standby", detail.to_owned()));
            }
        }
    };
    let closing = poll_fn(|context| {
        for listener in others {
            while let Poll::Ready(Ok(_)) = listener.poll_accept(context) {}
        }
        Poll::<()>::Pending
    });
    tokio::join!(rejecting, closing);
}

/// Sends the reason, as far as it fits into an empty socket, and closes.
fn turn_away(gateway: &Gateway, socket: &TcpStream) {
    // Under TLS nothing can be sent before the handshake, which is too much work for a rejected
    // connection.
    if !gateway.host().has_tls() {
        let detail = "too many connections from this address; close one".to_owned();
        let _ = socket.try_write(&error_line("too-many-connections", detail));
    }
}
