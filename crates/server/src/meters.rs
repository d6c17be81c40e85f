//! The server's counters. `/metrics` shows them; no decision depends on them.
//!
//! Counting is one addition without a lock, so any thread can count.

use crate::engine::{CloseReason, LoginOutcome, Wire};
use crate::lateness::Lateness;
use agon_core::FaultKind;
use agon_store::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Bounds for waits, in milliseconds.
const WAIT_MS: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/// Bounds for the time from an answer to the next request, in milliseconds: fine in the usual
/// range.
const TURN_MS: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30,
    35, 40, 50, 60, 80, 100, 150, 200, 500, 1_000, 5_000,
];

/// A counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// All kinds of faults, with their names.
pub(crate) const FAULTS: [(FaultKind, &str); 7] = [
    (FaultKind::Cheat, "cheat"),
    (FaultKind::Illegal, "illegal"),
    (FaultKind::Malformed, "malformed"),
    (FaultKind::Timeout, "timeout"),
    (FaultKind::Disconnected, "disconnected"),
    (FaultKind::Withdrew, "withdrew"),
    (FaultKind::NoShow, "no-show"),
];

/// All counters since the start of the process.
#[derive(Debug)]
pub(crate) struct Meters {
    pub(crate) started: Instant,
    /// True if the server was asked to stop.
    pub(crate) stopping: AtomicBool,
    /// True if the lease on the log has expired, so that nothing is read or sent.
    pub(crate) unsure: AtomicBool,
    /// How long this node took to take the log over.
    pub(crate) takeover_ms: AtomicU64,
    /// The answers that an engine for cells has accepted, whose lobby is on another node.
    pub(crate) decisions: AtomicU64,
    /// Connections by wire.
    opened: [Counter; Wire::ALL.len()],
    closed: [[Counter; CloseReason::ALL.len()]; Wire::ALL.len()],
    /// Connections that were rejected because there were too many.
    pub(crate) turned_away: Counter,
    logins: [Counter; LoginOutcome::ALL.len()],
    /// Connections that sent too fast and were read more slowly.
    pub(crate) slowed: Counter,
    faults: [Counter; FAULTS.len()],
    /// How long messages waited between their socket and the engine.
    pub(crate) inbox_ms: Histogram,
    /// From when an answer was read to when the request that follows from it was written.
    pub(crate) turn_ms: Histogram,
    /// How late timers fired.
    pub(crate) late_ms: Histogram,
    /// How late players' sockets are read.
    pub(crate) reads: Lateness,
    /// By how much the input of the driver's sockets counts as earlier than it was read: how long
    /// the driver was away from them.
    pub(crate) turns: Histogram,
    /// How many inputs were read late and count as read earlier.
    pub(crate) read_late: Counter,
    /// HTTP requests by the first digit of their status, from 1.
    http: [Counter; 5],
    pub(crate) http_ms: Histogram,
}

impl Default for Meters {
    fn default() -> Meters {
        Meters {
            started: Instant::now(),
            stopping: AtomicBool::new(false),
            unsure: AtomicBool::new(false),
            takeover_ms: AtomicU64::new(0),
            decisions: AtomicU64::new(0),
            opened: Default::default(),
            closed: Default::default(),
            turned_away: Counter::default(),
            logins: Default::default(),
            slowed: Counter::default(),
            faults: Default::default(),
            inbox_ms: Histogram::new(WAIT_MS),
            turn_ms: Histogram::new(TURN_MS),
            late_ms: Histogram::new(WAIT_MS),
            reads: Lateness::default(),
            turns: Histogram::new(WAIT_MS),
            read_late: Counter::default(),
            http: Default::default(),
            http_ms: Histogram::new(WAIT_MS),
        }
    }
}

impl Meters {
    pub(crate) fn opened(&self, wire: Wire) -> &Counter {
        &self.opened[wire as usize]
    }

    pub(crate) fn closed(&self, wire: Wire, end: CloseReason) -> &Counter {
        &self.closed[wire as usize][end as usize]
    }

    pub(crate) fn login(&self, login: LoginOutcome) -> &Counter {
        &self.logins[login as usize]
    }

    pub(crate) fn fault(&self, kind: FaultKind) -> &Counter {
        let place = FAULTS.iter().position(|(known, _)| *known == kind);
        &self.faults[place.expect("every kind of fault is listed")]
    }

    /// Requests whose status begins with this digit.
    pub(crate) fn http(&self, class: u16) -> &Counter {
        &self.http[usize::from(class.clamp(1, 5)) - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own_counter() {
        let meters = Meters::default();
        let mut words = Vec::new();
        for wire in Wire::ALL {
            meters.opened(wire).add();
            words.push(wire.word());
            for end in CloseReason::ALL {
                meters.closed(wire, end).add();
            }
        }
        words.extend(CloseReason::ALL.map(CloseReason::word));
        words.extend(LoginOutcome::ALL.map(LoginOutcome::word));
        LoginOutcome::ALL.iter().for_each(|login| meters.login(*login).add());
        FAULTS.iter().for_each(|(kind, _)| meters.fault(*kind).add());
        (1..=5).for_each(|class| meters.http(class).add());
        let once = |counter: &Counter| counter.count() == 1;
        assert!(meters.opened.iter().all(once) && meters.closed.iter().flatten().all(once));
        assert!(meters.logins.iter().all(once) && meters.faults.iter().all(once));
        assert!(meters.http.iter().all(once));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Wire::ALL.len() + CloseReason::ALL.len() + LoginOutcome::ALL.len());
    }
}
