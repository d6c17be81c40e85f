//! Bytes from the bus between nodes: NATS, frames, and the packets in them.

use crate::input::Input;
use agon_engine::links::{Frame, LinkReceiver, Packet};
use agon_server::fuzzing;
use std::time::Duration;

/// Frames as pieces of the input: the receiver of a link takes them or gives the link up.
pub fn frames(data: &[u8]) -> bool {
    let (mut input, mut receiver) = (Input(data), LinkReceiver::after(0, Duration::ZERO));
    let mut good = false;
    while !input.is_empty() {
        let piece = input.piece();
        let Some(frame) = Frame::read(piece.to_vec()) else { continue };
        if let Some(alone) = frame.alone_encoded() {
            assert!(alone.len() < piece.len(), "content out of nothing");
        }
        if let Some(packet) = frame.alone() {
            good = true;
            assert_same(&packet);
        }
        match receiver.take_encoded(frame, Duration::ZERO) {
            Ok(Some(packet)) => {
                good = true;
                assert!(packet.len() <= data.len(), "content out of nothing");
            }
            Ok(None) => {}
            Err(_) => return good,
        }
    }
    good
}

/// A packet between the lobby's node and a node with cells.
pub fn packet(data: &[u8]) -> bool {
    let Ok(packet) = serde_json::from_slice::<Packet>(data) else { return false };
    assert_same(&packet);
    true
}

/// A packet has the same bytes after it was read again.
fn assert_same(packet: &Packet) {
    let text = packet.encode();
    let again: Packet = serde_json::from_slice(&text).expect("a packet is read again");
    assert_eq!(again.encode(), text);
}

/// A packet about relayed connections has the same bytes after it was read, unless an address was
/// written in another way.
pub fn relay_packet(data: &[u8]) -> bool {
    let Some(once) = fuzzing::relay_packet(data) else { return false };
    assert_eq!(fuzzing::relay_packet(&once).as_ref(), Some(&once));
    true
}

/// The bytes of a NATS server: no message is longer than what came.
pub fn nats(data: &[u8]) -> bool {
    let messages = fuzzing::nats_messages(data);
    let bytes: usize = messages.iter().map(Vec::len).sum();
    assert!(bytes <= data.len(), "content out of nothing");
    !messages.is_empty()
}
