//! Wires as pure codecs: bytes in, messages out, and back. No socket, no clock, no task.
//!
//! - [`lines`]: JSON lines with a bound on their length;
//! - [`native`]: Agon's own protocol, `docs/protocol/native.md`.
//! - [`values`]: JSON values one after the other, with bounds on their size and depth.
#![forbid(unsafe_code)]

pub mod lines;
pub mod native;
pub mod values;
