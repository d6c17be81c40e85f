//! Queues are bounded: outboxes, appends in flight, and the engine's own queues.

use super::Streams;
use crate::world::{OUTBOX_MAX, World};

/// The most appends in flight. Players answer one request each, and flooding does not add any.
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
