//! Queues are bounded: what waits for a reader, for the log, and in the engine.

use super::Streams;
use crate::world::{OUTBOX_MAX, World};

/// Appends on their way at once; players answer one request each, and flood in vain.
const IN_FLIGHT_MAX: usize = 2_000;

pub(super) fn check(world: &World, _streams: &Streams) -> Result<(), String> {
    let waiting = world.history.waiting_max;
    if waiting > OUTBOX_MAX {
        return Err(format!("{waiting} lines waited for a reader"));
    }
    let (in_flight, ..) = world.disk.figures();
    if in_flight > IN_FLIGHT_MAX {
        return Err(format!("{in_flight} appends were on their way"));
    }
    for server in &world.servers {
        let (known, open) = (server.driver.connections(), server.sockets.len());
        if known > open {
            return Err(format!("server {} knows {known} connections of {open}", server.id));
        }
    }
    Ok(())
}
