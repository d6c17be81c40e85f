//! Messages in bytes and back, for each transport.

use super::outbox::{Out, Transport, Written};
use agon_wire::lines::Lines;
use agon_wire::native::{self, ToPlayer};
use agon_wire::websocket::{self, BadFrame, Frames, Incoming, Opcode};

/// Bytes that came in, on their way to become messages.
pub(super) enum Framing {
    Lines(Lines),
    Frames(Frames),
}

/// What came in.
pub(super) enum Came<'a> {
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
    pub(super) fn lines(max: usize) -> Framing {
        Framing::Lines(Lines::new(max))
    }

    pub(super) fn frames(max: usize) -> Framing {
        Framing::Frames(Frames::of_client(max))
    }

    pub(super) fn transport(&self) -> Transport {
        match self {
            Framing::Lines(_) => Transport::Tcp,
            Framing::Frames(_) => Transport::WebSocket,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self {
            Framing::Lines(lines) => lines.push(bytes),
            Framing::Frames(frames) => frames.push(bytes),
        }
    }

    pub(super) fn take(&mut self) -> Option<Came<'_>> {
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
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// Where to note that they were written.
    pub(super) written: Vec<Written>,
    /// Whether nothing may follow.
    pub(super) last: bool,
}

impl Batch {
    pub(super) fn add(&mut self, transport: Transport, out: Out) {
        match (transport, out) {
            (_, Out::Line(line, written)) => {
                self.written.extend(written);
                self.line(transport, line);
            }
            // Players on Erlang nodes are written to by the gateway of their node.
            (Transport::Tcp | Transport::Erlang, Out::Heartbeat) => {
                self.line(transport, native::encode(&ToPlayer::Heartbeat));
            }
            (Transport::WebSocket, Out::Heartbeat) => self.frame(Opcode::Ping, &[]),
            (Transport::WebSocket, Out::Pong(payload)) => self.frame(Opcode::Pong, &payload),
            (Transport::WebSocket, Out::Close(code)) => {
                self.frame(Opcode::Close, &code.to_be_bytes());
                self.last = true;
            }
            (Transport::Tcp | Transport::Erlang, Out::Pong(_)) => {}
            (Transport::Tcp | Transport::Erlang, Out::Close(_)) => self.last = true,
        }
    }

    fn line(&mut self, transport: Transport, line: Vec<u8>) {
        match transport {
            // Most batches are one line: no copy of it then.
            Transport::Tcp if self.bytes.is_empty() => self.bytes = line,
            Transport::Tcp | Transport::Erlang => self.bytes.extend_from_slice(&line),
            Transport::WebSocket => {
                self.frame(Opcode::Text, line.strip_suffix(b"\n").unwrap_or(&line));
            }
        }
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        websocket::encode(&mut self.bytes, opcode, payload, None);
    }
}
