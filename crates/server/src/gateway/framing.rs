//! Messages in bytes and back, for each transport.

use super::outbox::{Note, Out};
use crate::wires::Wire;
use agon_wire::lines::Lines;
use agon_wire::native::{self, ToPlayer};
use agon_wire::websocket::{self, BadFrame, Frames, Incoming, Opcode};

/// Bytes that came in, on their way to become messages.
pub(crate) enum Framing {
    Lines(Lines),
    Frames(Frames),
}

/// What came in.
pub(crate) enum Came<'a> {
    /// A message.
    Message(&'a [u8]),
    /// No message, and why.
    Bad(String),
    /// What follows cannot be understood.
    Broken(String),
    /// A ping frame.
    Ping(&'a [u8]),
    /// A pong frame.
    Pong,
    /// The other end wants to end.
    Close,
}

impl Framing {
    pub(crate) fn lines(max: usize) -> Framing {
        Framing::Lines(Lines::new(max))
    }

    pub(crate) fn frames(max: usize) -> Framing {
        Framing::Frames(Frames::of_client(max))
    }

    pub(super) fn wire(&self) -> Wire {
        match self {
            Framing::Lines(_) => Wire::Tcp,
            Framing::Frames(_) => Wire::WebSocket,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        match self {
            Framing::Lines(lines) => lines.push(bytes),
            Framing::Frames(frames) => frames.push(bytes),
        }
    }

    pub(crate) fn take(&mut self) -> Option<Came<'_>> {
        Some(match self {
            Framing::Lines(lines) => match lines.take()? {
                Ok(line) => Came::Message(line),
                Err(long) => Came::Bad(long.to_string()),
            },
            Framing::Frames(frames) => match frames.take()? {
                Ok(Incoming::Text(text)) => Came::Message(text),
                Ok(Incoming::Ping(payload)) => Came::Ping(payload),
                Ok(Incoming::Pong(_)) => Came::Pong,
                Ok(Incoming::Close(_)) => Came::Close,
                Err(broken @ BadFrame::Broken(_)) => Came::Broken(broken.to_string()),
                Err(bad) => Came::Bad(bad.to_string()),
            },
        })
    }
}

/// Bytes that go out in one write.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// Where to note that they were written.
    pub(crate) notes: Vec<Note>,
    /// How many of those that waited are in it.
    pub(super) count: usize,
    /// Whether nothing may follow.
    pub(crate) last: bool,
}

impl Batch {
    pub(crate) fn add(&mut self, wire: Wire, out: Out) {
        self.count += 1;
        match (wire, out) {
            (_, Out::Line(line, note)) => {
                self.notes.extend(note);
                self.line(wire, line);
            }
            (_, Out::Rest(bytes, note)) => {
                self.notes.extend(note);
                self.bytes.extend_from_slice(&bytes);
            }
            // Only the native protocol has a word for it.
            (Wire::Tcp, Out::Heartbeat) => {
                self.line(wire, native::encode(&ToPlayer::Heartbeat));
            }
            (Wire::WebSocket, Out::Heartbeat) => self.frame(Opcode::Ping, &[]),
            (Wire::WebSocket, Out::Pong(payload)) => self.frame(Opcode::Pong, &payload),
            (Wire::WebSocket, Out::Close(code)) => {
                self.frame(Opcode::Close, &code.to_be_bytes());
                self.last = true;
            }
            (_, Out::Tell(_) | Out::Observed(..) | Out::Heartbeat | Out::Pong(_)) => {}
            (_, Out::Close(_)) => self.last = true,
        }
    }

    fn line(&mut self, wire: Wire, line: Vec<u8>) {
        match wire {
            Wire::WebSocket => {
                self.frame(Opcode::Text, line.strip_suffix(b"\n").unwrap_or(&line));
            }
            // Most batches are one line: no copy of it then.
            _ if self.bytes.is_empty() => self.bytes = line,
            _ => self.bytes.extend_from_slice(&line),
        }
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        websocket::encode(&mut self.bytes, opcode, payload, None);
    }
}
