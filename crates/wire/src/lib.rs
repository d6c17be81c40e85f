//! Wires as pure codecs: bytes in, messages out, and back. No socket, no clock, no task.
//!
//! - [`lines`]: JSON lines with a bound on their length;
//! - [`native`]: Agon's own protocol, `docs/protocol/native.md`;
//! - [`request`]: its requests, written straight from a match;
//! - [`schema`]: the schema of its messages, made from their types;
//! - [`websocket`]: frames of WebSocket, where lines are messages;
//! - [`values`]: JSON values one after the other, with bounds on their size and depth;
//! - [`sign_up`], [`fish`] and [`trains`]: the wires of systems Agon grew from, over such values;
//! - [`peer`]: what is said on them, before it is put into their words and after;
//! - [`erlang`]: those of others, in the terms and the distribution protocol of Erlang.
#![forbid(unsafe_code)]

pub mod erlang;
pub mod fish;
pub mod lines;
pub mod native;
pub mod peer;
pub mod request;
pub mod schema;
pub mod sign_up;
pub mod trains;
pub mod values;
pub mod websocket;
