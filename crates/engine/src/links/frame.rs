//! A link between two nodes: numbered packets over the bus. Here are the packets between the
//! lobby's node and a node with cells; `relay` has others.
//!
//! No two links have the same number: between the lobby's node and a node with cells it is the
//! epoch of the loan that the link stands for. Every frame names its link and its place in the
//! order of its direction. The receiver ignores a frame that it had before, and one of another
//! link. After a gap it gives the link up, and so it does after a silence or when the connection to
//! the bus is lost. Then both sides start anew: the tournaments are resumed from the log, and
//! players reconnect. So a lost, doubled or reordered message does no harm.

use crate::query::RemoteQuery;
use crate::watch::{Shown, WatcherId};
use crate::{EngineId, EngineMessage};
use agon_core::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long the other side may be silent before a link is given up.
const SILENCE_MAX: Duration = Duration::from_millis(1500);

/// The most bytes of a packet in one frame: a NATS server takes 1 MiB by default.
const FRAME_MAX: usize = 512 * 1024;

/// The bytes before the content of a frame: the link, the number, and whether more of it follows.
const HEADER: usize = 17;

/// The most bytes of one packet: all of them may wait to be written.
const PACKET_MAX: usize = 32 << 20;

/// The version of these packets. Nodes with different versions do not form links.
pub const FORMAT: &str = concat!(env!("CARGO_PKG_VERSION"), "/4");

/// A message between two nodes.
#[derive(Serialize, Deserialize)]
#[expect(missing_docs, reason = "each variant says what its fields are")]
pub enum Packet {
    /// A node offers to own cells, for so many times. It has no link, so the packet has no number.
    Offer { node: String, attempt: u64, format: String },
    /// The lobby's node opens a link, as its first packet. The other one has this number among the
    /// engines.
    Open { lobby: String, engine: EngineId },
    /// The sender ends the link.
    Close,
    /// The sender is there.
    Alive,
    /// A message between the engines.
    Passed(Box<EngineMessage>),
    /// The lobby's engine has passed on all input up to this time.
    PassedUntil(Timestamp),
    /// A query for the engine of cells.
    Query { id: u64, query: RemoteQuery },
    /// The answer to a query, as JSON; none if there will be no answer.
    Answer { id: u64, answer: Option<String> },
    /// A query goes back to the lobby's engine, which answers it instead.
    Return { id: u64, query: RemoteQuery },
    /// A message to a watcher.
    Show { watcher: WatcherId, shown: Shown },
    /// A watcher's subscription ended at the engine of cells.
    EndWatch(WatcherId),
    /// A watcher is gone.
    Unwatch(WatcherId),
}

impl Packet {
    /// The packet as text.
    pub fn encode(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("packets are JSON")
    }

    /// The frame of a packet outside of links.
    pub fn alone(&self) -> Vec<u8> {
        alone(&self.encode())
    }
}

/// The frame of an encoded packet outside of links.
pub fn alone(packet: &[u8]) -> Vec<u8> {
    frame(0, 0, false, packet)
}

/// The sending end of a link: it numbers the frames.
pub struct LinkWriter {
    link: u64,
    /// The number of the next frame; none once the link is closed.
    next: Option<u64>,
}

impl LinkWriter {
    /// The sending end of a new link.
    pub fn new(link: u64) -> LinkWriter {
        LinkWriter { link, next: Some(1) }
    }

    /// Publishes the frames of an encoded packet, unless the link is closed.
    pub fn write(&mut self, packet: &[u8], mut publish: impl FnMut(Vec<u8>)) {
        let Some(number) = &mut self.next else { return };
        let mut parts = packet.chunks(FRAME_MAX).peekable();
        while let Some(part) = parts.next() {
            publish(frame(self.link, *number, parts.peek().is_some(), part));
            *number += 1;
        }
    }

    /// Closes the link. Nothing is sent on it any more.
    pub fn close(&mut self, publish: impl FnMut(Vec<u8>)) {
        self.close_with(&Packet::Close.encode(), publish);
    }

    /// Publishes the frames of the last packet of the link.
    pub fn close_with(&mut self, packet: &[u8], publish: impl FnMut(Vec<u8>)) {
        self.write(packet, publish);
        self.next = None;
    }
}

fn frame(link: u64, number: u64, has_more: bool, part: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEADER + part.len());
    frame.extend_from_slice(&link.to_be_bytes());
    frame.extend_from_slice(&number.to_be_bytes());
    frame.push(u8::from(has_more));
    frame.extend_from_slice(part);
    frame
}

/// A frame from the bus.
pub struct Frame {
    pub(super) link: u64,
    number: u64,
    has_more: bool,
    content: Vec<u8>,
}

impl Frame {
    /// The link that the frame belongs to; 0 outside of links.
    pub fn link(&self) -> u64 {
        self.link
    }

    /// Reads a frame; `None` if these bytes are none.
    pub fn read(mut bytes: Vec<u8>) -> Option<Frame> {
        let number = |at: usize| Some(u64::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
        let (link, number, has_more) = (number(0)?, number(8)?, *bytes.get(16)? != 0);
        bytes.drain(..HEADER);
        Some(Frame { link, number, has_more, content: bytes })
    }

    /// The packet in a frame that stands alone, outside of links or as the first of one.
    pub fn alone(&self) -> Option<Packet> {
        serde_json::from_slice(self.alone_encoded()?).ok()
    }

    /// The bytes of that packet.
    pub fn alone_encoded(&self) -> Option<&[u8]> {
        let is_alone = !self.has_more && self.number <= 1;
        is_alone.then_some(&*self.content)
    }
}

/// A frame is missing or cannot be read, so the link must start anew.
#[derive(PartialEq, Eq, Debug)]
pub struct Broken;

/// The receiving end of a link.
pub struct LinkReceiver {
    /// The number of the next frame.
    next: u64,
    /// The parts of a packet that is not whole yet.
    parts: Vec<u8>,
    heard: Duration,
}

impl LinkReceiver {
    /// The receiving end, after so many frames.
    pub fn after(frames: u64, now: Duration) -> LinkReceiver {
        LinkReceiver { next: frames + 1, parts: Vec::new(), heard: now }
    }

    /// Takes a frame of the link; returns the packet that it completes.
    pub fn take(&mut self, frame: Frame, now: Duration) -> Result<Option<Packet>, Broken> {
        let packet = self.take_encoded(frame, now)?;
        let packet = packet.map(|packet| serde_json::from_slice(&packet));
        packet.transpose().map_err(|_| Broken)
    }

    /// Takes a frame of the link; returns the bytes of the packet that it completes.
    pub fn take_encoded(&mut self, frame: Frame, now: Duration) -> Result<Option<Vec<u8>>, Broken> {
        self.heard = now;
        if frame.number < self.next {
            return Ok(None);
        }
        if frame.number > self.next || self.parts.len() + frame.content.len() > PACKET_MAX {
            return Err(Broken);
        }
        self.next += 1;
        if self.parts.is_empty() {
            self.parts = frame.content;
        } else {
            self.parts.extend_from_slice(&frame.content);
        }
        Ok((!frame.has_more).then(|| std::mem::take(&mut self.parts)))
    }

    /// Returns whether the other side has been silent for too long.
    pub fn is_silent(&self, now: Duration) -> bool {
        now.saturating_sub(self.heard) > SILENCE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    fn numbered(number: u64, packet: &Packet) -> Frame {
        let text = serde_json::to_vec(packet).unwrap();
        Frame::read(frame(7, number, false, &text)).unwrap()
    }

    #[test]
    fn doubled_frames_are_ignored_and_a_gap_breaks_the_link() {
        let mut receiver = LinkReceiver::after(0, NOW);
        assert!(matches!(receiver.take(numbered(1, &Packet::Alive), NOW), Ok(Some(Packet::Alive))));
        assert!(matches!(receiver.take(numbered(1, &Packet::Close), NOW), Ok(None)));
        assert!(matches!(receiver.take(numbered(2, &Packet::Close), NOW), Ok(Some(Packet::Close))));
        assert!(receiver.take(numbered(4, &Packet::Alive), NOW).is_err(), "frame 3 is lost");
        assert!(
            LinkReceiver::after(0, NOW).take(numbered(2, &Packet::Alive), NOW).is_err(),
            "reordered"
        );
    }

    #[test]
    fn packet_in_several_frames_is_whole_again() {
        let packet = Packet::Answer { id: 1, answer: Some("x".repeat(100)) };
        let text = serde_json::to_vec(&packet).unwrap();
        let (first, rest) = text.split_at(40);
        let mut receiver = LinkReceiver::after(0, NOW);
        let first = Frame::read(frame(7, 1, true, first)).unwrap();
        assert!(matches!(receiver.take(first, NOW), Ok(None)));
        let last = receiver.take(Frame::read(frame(7, 2, false, rest)).unwrap(), NOW);
        let Ok(Some(Packet::Answer { answer: Some(answer), .. })) = last else { panic!() };
        assert_eq!(answer.len(), 100);
    }

    #[test]
    fn bytes_that_are_no_frame_are_ignored() {
        assert!(Frame::read(b"hello".to_vec()).is_none());
        let frame = Frame::read(frame(0, 0, false, b"no packet")).unwrap();
        assert!(frame.alone().is_none());
        assert!(LinkReceiver::after(0, NOW).take(numbered(1, &Packet::Alive), NOW).is_ok());
    }
}
