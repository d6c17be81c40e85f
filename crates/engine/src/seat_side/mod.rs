//! The side of a connection that holds its socket, without the socket: bytes to messages and back,
//! and calls with their replies. Gateways and the simulator share it.

mod framing;
mod peers;
mod talk;

pub use framing::{
    Framed, Framing, GOING_AWAY, NORMAL, PROTOCOL_ERROR, Received, error_line, read_line, received,
};
pub use peers::Peers;
pub use talk::{GRACE_MS, PAUSE_MS, Talk, Words};
