//! How late the server reads its players' sockets, so that no player is charged for it.
//!
//! Nobody knows the moment at which bytes arrive at a socket; the server knows when it read them.
//! In between, the reading threads were busy or had no processor. A heartbeat on the same threads
//! measures that time: it is as late as everything else there.
//!
//! Input that is read while the heartbeat is late, or just after, may have arrived when the
//! heartbeat was due, and counts as read then. For the same reason, a deadline has passed only if
//! the sockets were read after it. So a player is never charged for more time than they took. They
//! gain at most the server's own lateness at that moment, which no player controls.

use crate::clock::{self, AtomicTimestamp};
use crate::driver::Handle;
use agon_core::{Millis, Timestamp};
use agon_store::Histogram;
use std::time::Duration;

/// How often the heartbeat is due.
const PERIOD_MS: Millis = 10;

/// A heartbeat that is late by no more than this is on time: timers have no finer resolution.
const TOLERANCE_MS: Millis = 5;

/// How long after a late heartbeat a read may still be of a socket that waited as long. The next
/// heartbeat queues behind such reads, so it is late as well if they take longer.
const AFTER_MS: Millis = PERIOD_MS + TOLERANCE_MS;

/// Bounds of the histogram, in milliseconds.
const LATE_MS: &[u64] = &[5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];

/// The heartbeat's measurements. All times are those of the server's clock.
#[derive(Debug)]
pub(crate) struct Lateness {
    /// When the next heartbeat is due; never, if there is no heartbeat.
    due: AtomicTimestamp,
    /// When the last late heartbeat was due and when it came.
    late_from: AtomicTimestamp,
    late_to: AtomicTimestamp,
    /// The lateness of all heartbeats.
    pub(crate) late_ms: Histogram,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            due: AtomicTimestamp::new(Timestamp::MAX),
            late_from: AtomicTimestamp::default(),
            late_to: AtomicTimestamp::default(),
            late_ms: Histogram::new(LATE_MS),
        }
    }
}

impl Lateness {
    /// The time up to which all arrived bytes have been read at `now`. It is also the earliest time
    /// at which bytes that are read now can have arrived.
    pub(crate) fn heard_until(&self, now: Timestamp) -> Timestamp {
        let due = self.due.load();
        if now > due + TOLERANCE_MS {
            return due;
        }
        match now <= self.late_to.load() + AFTER_MS {
            true => now.min(self.late_from.load()),
            false => now,
        }
    }

    fn expect(&self, due: Timestamp) {
        self.due.store(due);
    }

    fn came(&self, due: Timestamp, now: Timestamp) {
        let late_ms = now.since(due);
        self.late_ms.add(late_ms);
        if late_ms > TOLERANCE_MS {
            self.late_from.store(due);
            self.late_to.store(now);
        }
    }
}

/// Measures for ever. It has to run on the threads that read sockets.
pub(crate) async fn beat(engine: Handle) {
    let lateness = &engine.meters().reads;
    loop {
        let due = clock::now_ms() + PERIOD_MS;
        lateness.expect(due);
        tokio::time::sleep(Duration::from_millis(PERIOD_MS)).await;
        lateness.came(due, clock::now_ms());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_late_heartbeat_bytes_count_from_when_they_are_read() {
        let lateness = Lateness::default();
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(1_000)),
            Timestamp::from_ms(1_000),
            "no heartbeat, no lateness"
        );
        lateness.expect(Timestamp::from_ms(1_010));
        assert_eq!(lateness.heard_until(Timestamp::from_ms(1_014)), Timestamp::from_ms(1_014));
        lateness.came(Timestamp::from_ms(1_010), Timestamp::from_ms(1_012));
        lateness.expect(Timestamp::from_ms(1_022));
        assert_eq!(lateness.heard_until(Timestamp::from_ms(1_013)), Timestamp::from_ms(1_013));
    }

    #[test]
    fn late_reads_count_from_when_the_heartbeat_was_due() {
        let lateness = Lateness::default();
        lateness.expect(Timestamp::from_ms(1_010));
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(3_000)),
            Timestamp::from_ms(1_010),
            "it is late, and still is"
        );
        lateness.came(Timestamp::from_ms(1_010), Timestamp::from_ms(3_000));
        lateness.expect(Timestamp::from_ms(3_010));
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(3_008)),
            Timestamp::from_ms(1_010),
            "others may not have had their turn"
        );
        lateness.came(Timestamp::from_ms(3_010), Timestamp::from_ms(3_011));
        lateness.expect(Timestamp::from_ms(3_021));
        assert_eq!(lateness.heard_until(Timestamp::from_ms(3_016)), Timestamp::from_ms(3_016));
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(900)),
            Timestamp::from_ms(900),
            "what was read before was in time"
        );
    }
}
