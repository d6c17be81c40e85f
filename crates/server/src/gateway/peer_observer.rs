//! One observer on the Fish port: they are sent messages, and no requests.
//!
//! Delayed messages wait here until they are due. An observer who does not read is disconnected: by
//! the engine when the outbox is full, or here when a write times out.

use super::connection::{self, RelayedSeat};
use super::outbox::{Liveness, Out, Outbox};
use super::{Gateway, Limits, Stream};
use crate::clock::now_ms;
use crate::engine::{CloseReason, Input, PeerSaid, Peers, SeatKind};
use crate::net::socket;
use agon_core::Timestamp;
use agon_wire::fish::observer::{Follow, Observer};
use agon_wire::peer::PeerMessage;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// How many messages may wait. Beyond that the oldest is dropped, and a position is sent instead of
/// the moves that led to it.
const DELAYED_MAX: usize = 4_096;

/// How many bytes an observer may send before they are disconnected: observers have nothing to
/// send.
const UNASKED_MAX: usize = 64 * 1024;

/// Serves an observer until one of the ends closes the connection.
pub(super) async fn serve_observer(
    gateway: &Gateway,
    mut socket: Stream,
    from: IpAddr,
    peers: &Peers,
    follow: Follow,
) {
    let (engine, limits, wire) = (gateway.engine(), gateway.limits(), peers.wire());
    let conn = connection::number();
    let seat = SeatKind::program(wire);
    let (out, outbox) = Outbox::new(conn, seat, limits.outbox_lines_max, None);
    let liveness = Arc::clone(out.liveness());
    gateway.0.connections.add(&liveness);
    engine.meters().opened(wire).add();
    tracing::debug!(conn = conn.0, %from, wire = wire.word(), "an observer connected");
    engine.open(conn, out, from);
    let relayed = RelayedSeat::new(socket.relay().cloned(), conn);
    let said = PeerSaid::Observe { follow, series: Arc::clone(&peers.series) };
    engine.send(Input::Peer { conn, said, at: now_ms() });
    let mut feed = Feed { observer: Observer::new(), delayed: VecDeque::new(), limits };
    feed.run(&mut socket, outbox, &liveness).await;
    relayed.close(engine, conn);
    connection::note_end(engine, &liveness, conn);
}

struct Feed<'a> {
    observer: Observer,
    /// The delayed messages, in order.
    delayed: VecDeque<(Timestamp, PeerMessage)>,
    limits: &'a Limits,
}

impl Feed<'_> {
    async fn run(
        &mut self,
        socket: &mut Stream,
        mut outbox: mpsc::Receiver<Out>,
        liveness: &Liveness,
    ) {
        let mut piece = [0; 512];
        let mut unasked = 0;
        loop {
            while let Some(message) = self.next_due() {
                if !self.write(socket, &message).await {
                    return liveness.ends(CloseReason::Unwritable);
                }
            }
            let wait_ms = self.delayed.front().map(|(due, _)| due.since(now_ms()));
            tokio::select! {
                out = outbox.recv() => match out {
                    Some(Out::Observed(message, due)) => self.delay(*message, due),
                    Some(Out::Close(_)) | None => return self.finish(socket).await,
                    Some(_) => {}
                },
                () = sleep(Duration::from_millis(wait_ms.unwrap_or(0))), if wait_ms.is_some() => {}
                read = socket.read(&mut piece) => {
                    let Ok(count @ 1..) = read else { return };
                    liveness.heard(now_ms());
                    unasked += count;
                    if unasked > UNASKED_MAX {
                        return liveness.ends(CloseReason::Flood);
                    }
                }
            }
        }
    }

    fn next_due(&mut self) -> Option<PeerMessage> {
        let now = now_ms();
        self.delayed.pop_front_if(|(due, _)| *due <= now).map(|(_, message)| message)
    }

    fn delay(&mut self, message: PeerMessage, due: Timestamp) {
        if self.delayed.len() >= DELAYED_MAX {
            self.delayed.pop_front();
        }
        self.delayed.push_back((due, message));
    }

    /// Sends the messages that are due, and closes.
    async fn finish(&mut self, socket: &mut Stream) {
        while let Some(message) = self.next_due() {
            if !self.write(socket, &message).await {
                return;
            }
        }
        let _ = socket.shutdown().await;
    }

    async fn write(&mut self, socket: &mut Stream, message: &PeerMessage) -> bool {
        // This wire cannot express the view of another game.
        let Ok(texts) = self.observer.tell(message) else { return true };
        let text = texts.concat();
        let patience = Duration::from_millis(self.limits.write_ms_max);
        socket::write(socket, text.as_bytes(), patience).await.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_until_due_and_the_oldest_is_dropped_first() {
        let limits = Limits::default();
        let (observer, delayed) = (Observer::new(), VecDeque::new());
        let mut feed = Feed { observer, delayed, limits: &limits };
        feed.delay(PeerMessage::Won(true), now_ms() + 3_600_000);
        assert!(feed.next_due().is_none(), "not for an hour");
        for _ in 0..DELAYED_MAX {
            feed.delay(PeerMessage::Won(false), Timestamp::default());
        }
        assert_eq!(feed.delayed.len(), DELAYED_MAX);
        assert!(matches!(feed.next_due(), Some(PeerMessage::Won(false))), "the oldest is gone");
    }
}
