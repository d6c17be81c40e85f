//! Encoding of messages, for each native transport.

use super::outbox::Out;
use crate::engine::{AskId, Wire};
use agon_wire::native::{self, ToPlayer};
use agon_wire::websocket::{self, Opcode};

/// Bytes for one write.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) bytes: Vec<u8>,
    /// The requests among them.
    pub(crate) asks: Vec<AskId>,
    /// How many waiting messages are in it.
    pub(super) count: usize,
    /// True if nothing may follow.
    pub(crate) last: bool,
}

impl Batch {
    pub(crate) fn add(&mut self, wire: Wire, out: Out) {
        self.count += 1;
        match (wire, out) {
            (_, Out::Line(line, ask)) => {
                self.asks.extend(ask);
                self.line(wire, line);
            }
            (_, Out::Rest(bytes, ask)) => {
                self.asks.extend(ask);
                self.bytes.extend_from_slice(&bytes);
            }
            // Only the native protocol has heartbeats.
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
            // Most batches are one line, which needs no copy.
            _ if self.bytes.is_empty() => self.bytes = line,
            _ => self.bytes.extend_from_slice(&line),
        }
    }

    fn frame(&mut self, opcode: Opcode, payload: &[u8]) {
        websocket::encode(&mut self.bytes, opcode, payload, None);
    }
}
