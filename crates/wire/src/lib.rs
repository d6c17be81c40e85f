//! Wires as pure codecs: bytes in, messages out, and back. No socket, no clock, no task.
//!
//! - [`lines`]: JSON lines with a bound on their length;
//! - [`native`]: Agon's own protocol, `docs/protocol/native.md`;
//! - [`websocket`]: frames of WebSocket, where lines are messages.
#![forbid(unsafe_code)]

pub mod lines;
pub mod native;
pub mod websocket;
