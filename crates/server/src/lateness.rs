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
use std::sync::Weak;
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

    fn note_beat(&self, due: Timestamp, now: Timestamp) {
        let late_ms = now.since(due);
        self.late_ms.add(late_ms);
        if late_ms > TOLERANCE_MS {
            self.late_from.store(due);
            self.late_to.store(now);
        }
    }
}

/// One poll of the driver's sockets.
pub(crate) struct Polled {
    pub(crate) began: Timestamp,
    /// How long it waits at most for something to report.
    pub(crate) pause: Duration,
    pub(crate) returned: Timestamp,
    /// How many sockets it reported, and how many it can report.
    pub(crate) events: usize,
    pub(crate) events_max: usize,
}

/// The times at which the driver's thread polled the sockets that it reads itself. The thread does
/// other work between two polls, so bytes wait for the next one.
pub(crate) struct PollTimes {
    /// All bytes that arrived by then were read and handled.
    heard_until: Timestamp,
    /// The same at the end of this turn.
    after_turn: Timestamp,
    /// When a row of polls began that cannot report all sockets at once, and how many sockets they
    /// have yet to report. The system reports sockets in the order in which they became ready.
    row: Option<(Timestamp, usize)>,
}

impl PollTimes {
    /// Nothing arrived before `now`.
    pub(crate) fn new(now: Timestamp) -> PollTimes {
        PollTimes { heard_until: now, after_turn: now, row: None }
    }

    /// Returns whether a poll at `now` may wait. After a long turn it may not: it could not tell
    /// bytes that arrived during the turn from bytes that it waited for.
    pub(crate) fn may_wait(&self, now: Timestamp) -> bool {
        now.since(self.heard_until) <= TOLERANCE_MS
    }

    /// Notes a poll of so many sockets. Returns the earliest time at which the bytes that it found
    /// can have arrived: when it returned, if it had to wait for them. Otherwise it is the time up
    /// to which all bytes were read before.
    pub(crate) fn polled(&mut self, poll: &Polled, sockets: usize) -> Timestamp {
        let waited_ms = poll.returned.since(poll.began);
        let is_late = waited_ms > poll.pause.as_millis() as Millis + TOLERANCE_MS;
        if waited_ms > 0 && !poll.pause.is_zero() && !is_late {
            (self.after_turn, self.row) = (poll.returned, None);
            return poll.returned;
        }
        if poll.events < poll.events_max {
            (self.after_turn, self.row) = (poll.began, None);
        } else {
            let (began, left) = self.row.unwrap_or((poll.began, sockets));
            let left = left.saturating_sub(poll.events);
            self.row = (left > 0).then_some((began, left));
            self.after_turn = if left > 0 { self.heard_until } else { began };
        }
        self.heard_until
    }

    /// The input of the last poll was handled.
    pub(crate) fn end_turn(&mut self) {
        self.heard_until = self.after_turn;
    }

    /// All bytes that arrived by then were read and handled.
    pub(crate) fn heard_until(&self) -> Timestamp {
        self.heard_until
    }
}

/// Measures for ever. It has to run on the threads that read sockets.
pub(crate) async fn beat(engine: Handle) {
    loop {
        beat_once(&engine.meters().reads, clock::now_ms).await;
    }
}

/// The same by another clock, as long as somebody uses the measurements.
pub(crate) async fn beat_while_used(lateness: Weak<Lateness>, now: impl Fn() -> Timestamp) {
    while let Some(lateness) = lateness.upgrade() {
        beat_once(&lateness, &now).await;
    }
}

async fn beat_once(lateness: &Lateness, now: impl Fn() -> Timestamp) {
    let due = now() + PERIOD_MS;
    lateness.expect(due);
    tokio::time::sleep(Duration::from_millis(PERIOD_MS)).await;
    lateness.note_beat(due, now());
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
        lateness.note_beat(Timestamp::from_ms(1_010), Timestamp::from_ms(1_012));
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
        lateness.note_beat(Timestamp::from_ms(1_010), Timestamp::from_ms(3_000));
        lateness.expect(Timestamp::from_ms(3_010));
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(3_008)),
            Timestamp::from_ms(1_010),
            "others may not have had their turn"
        );
        lateness.note_beat(Timestamp::from_ms(3_010), Timestamp::from_ms(3_011));
        lateness.expect(Timestamp::from_ms(3_021));
        assert_eq!(lateness.heard_until(Timestamp::from_ms(3_016)), Timestamp::from_ms(3_016));
        assert_eq!(
            lateness.heard_until(Timestamp::from_ms(900)),
            Timestamp::from_ms(900),
            "what was read before was in time"
        );
    }

    fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn poll(began: u64, pause_ms: u64, returned: u64, events: usize) -> Polled {
        let pause = Duration::from_millis(pause_ms);
        Polled { began: at(began), pause, returned: at(returned), events, events_max: 4 }
    }

    #[test]
    fn bytes_that_a_poll_waited_for_count_from_its_return() {
        let mut times = PollTimes::new(at(1_000));
        assert_eq!(times.polled(&poll(1_000, 10, 1_007, 1), 9), at(1_007));
        assert_eq!(times.heard_until(), at(1_000), "they are not handled yet");
        times.end_turn();
        assert_eq!(times.heard_until(), at(1_007));
    }

    #[test]
    fn bytes_that_a_poll_finds_at_once_count_from_the_poll_before() {
        let mut times = PollTimes::new(at(1_000));
        times.polled(&poll(1_020, 0, 1_020, 1), 9);
        times.end_turn();
        assert_eq!(times.polled(&poll(1_100, 10, 1_100, 2), 9), at(1_020), "the turn took 80 ms");
        times.end_turn();
        // A poll that returns too late, because the thread had no processor, is no better.
        assert_eq!(times.polled(&poll(1_110, 10, 1_126, 1), 9), at(1_100));
        times.end_turn();
        assert!(times.may_wait(at(1_115)) && !times.may_wait(at(1_116)));
        assert_eq!(
            times.heard_until(),
            at(1_110),
            "bytes may have arrived while the thread waited"
        );
    }

    #[test]
    fn more_sockets_than_a_poll_reports_are_all_heard_after_a_row_of_polls() {
        let mut times = PollTimes::new(at(1_000));
        // Seven sockets are always ready, and a poll reports four.
        let heard = [1_010, 1_020, 1_030, 1_040].map(|began| {
            let arrived = times.polled(&poll(began, 0, began, 4), 7);
            times.end_turn();
            (arrived.as_ms(), times.heard_until().as_ms())
        });
        assert_eq!(heard, [(1_000, 1_000), (1_000, 1_010), (1_010, 1_010), (1_010, 1_030)]);
    }
}
