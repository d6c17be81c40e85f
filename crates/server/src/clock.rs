//! The server's clock: one for the engine and for what gateways note about sockets, so that both
//! can be compared.

use agon_core::Millis;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}
