//! The sending end of a link over the bus, and the subjects of nodes.

use super::nats::Bus;
use crate::engine::links::{LinkWriter, Packet, alone};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The subject of a node on the bus.
pub(super) fn subject_of(node: &str) -> String {
    let safe = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    format!("agon.node.{}", node.chars().map(safe).collect::<String>())
}

/// The sending end of a link.
pub(crate) struct LinkSender {
    bus: Arc<Bus>,
    subject: String,
    writer: Mutex<LinkWriter>,
}

impl LinkSender {
    pub(super) fn new(bus: Arc<Bus>, node: &str, link: u64) -> LinkSender {
        LinkSender::to(bus, subject_of(node), link)
    }

    /// The sending end of a link to whoever receives a subject.
    pub(super) fn to(bus: Arc<Bus>, subject: String, link: u64) -> LinkSender {
        LinkSender { bus, subject, writer: Mutex::new(LinkWriter::new(link)) }
    }

    /// Sends a packet, unless the link is closed.
    pub(crate) fn send(&self, packet: &Packet) {
        // Not under the lock: encoding takes time.
        self.send_encoded(&packet.encode());
    }

    /// Sends the bytes of a packet, unless the link is closed.
    pub(super) fn send_encoded(&self, packet: &[u8]) {
        self.writer().write(packet, |frame| self.publish(&frame));
    }

    /// Asks the bus whether the other side is there.
    pub(super) fn probe(&self) {
        self.bus.probe(&self.subject);
    }

    /// Closes the link. Nothing is sent on it any more.
    pub(super) fn close(&self) {
        self.writer().close(|frame| self.publish(&frame));
    }

    /// Sends the bytes of the last packet of the link.
    pub(super) fn close_with(&self, packet: &[u8]) {
        self.writer().close_with(packet, |frame| self.publish(&frame));
    }

    fn publish(&self, frame: &[u8]) {
        self.bus.publish(&self.subject, frame);
    }

    fn writer(&self) -> MutexGuard<'_, LinkWriter> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends the bytes of a packet outside of links.
pub(super) fn send_alone(bus: &Bus, subject: &str, packet: &[u8]) {
    bus.publish(subject, &alone(packet));
}
