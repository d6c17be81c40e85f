//! What is counted while the server runs. `/metrics` shows it; nothing is decided by it.
//!
//! Counting is one addition without a lock, so it can be done anywhere.

use crate::lateness::Lateness;
use crate::wires::Wire;
use agon_core::FaultKind;
use agon_store::Histogram;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// Bounds for waits, in milliseconds.
const WAIT_MS: &[u64] = &[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000];

/// Bounds for the time from an answer to the next request, in milliseconds: fine where it should be.
const TURN_MS: &[u64] = &[
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30,
    35, 40, 50, 60, 80, 100, 150, 200, 500, 1_000, 5_000,
];

/// Something that is counted.
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

/// Why a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// The other end closed it, or was lost.
    Left,
    /// It logged out.
    LoggedOut,
    /// It did not log in in time.
    LoginTimeout,
    /// Its account logged in on another connection.
    TakenOver,
    /// An operator ended it.
    ByOperator,
    /// It sent too much that nobody asked for.
    Flood,
    /// It did not read: its outbox was full.
    SlowReader,
    /// A write took too long, or failed.
    Unwritable,
    /// It gave no sign of life.
    Silent,
    /// What it sent cannot be understood, and neither what follows.
    Broken,
    /// It plays no more: its tournament is over, or it is out of it, or was not let in.
    Dismissed,
    /// The server stops.
    Stopping,
}

impl End {
    pub(crate) const ALL: [End; 12] = [
        End::Left,
        End::LoggedOut,
        End::LoginTimeout,
        End::TakenOver,
        End::ByOperator,
        End::Flood,
        End::SlowReader,
        End::Unwritable,
        End::Silent,
        End::Broken,
        End::Dismissed,
        End::Stopping,
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            End::Left => "left",
            End::LoggedOut => "logged-out",
            End::LoginTimeout => "login-timeout",
            End::TakenOver => "taken-over",
            End::ByOperator => "by-operator",
            End::Flood => "flood",
            End::SlowReader => "slow-reader",
            End::Unwritable => "unwritable",
            End::Silent => "silent",
            End::Broken => "broken",
            End::Dismissed => "dismissed",
            End::Stopping => "stopping",
        }
    }
}

/// What came of a try to log in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Login {
    /// It is in.
    Good,
    /// The password or the token is not good.
    Wrong,
    /// It was not looked at, after too many wrong ones.
    Throttled,
    /// The account is elsewhere, or may not log in.
    Refused,
}

impl Login {
    pub(crate) const ALL: [Login; 4] =
        [Login::Good, Login::Wrong, Login::Throttled, Login::Refused];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Login::Good => "good",
            Login::Wrong => "wrong",
            Login::Throttled => "throttled",
            Login::Refused => "refused",
        }
    }
}

/// All sorts of faults, with their words.
pub(crate) const FAULTS: [(FaultKind, &str); 7] = [
    (FaultKind::Cheat, "cheat"),
    (FaultKind::Illegal, "illegal"),
    (FaultKind::Malformed, "malformed"),
    (FaultKind::Timeout, "timeout"),
    (FaultKind::Disconnected, "disconnected"),
    (FaultKind::Withdrew, "withdrew"),
    (FaultKind::NoShow, "no-show"),
];

/// Everything that is counted from the start of the process.
#[derive(Debug)]
pub(crate) struct Meters {
    pub(crate) started: Instant,
    /// Whether the server was asked to stop.
    pub(crate) stopping: AtomicBool,
    /// Connections by wire.
    opened: [Counter; Wire::ALL.len()],
    closed: [[Counter; End::ALL.len()]; Wire::ALL.len()],
    /// Connections that were not let in: there were too many.
    pub(crate) turned_away: Counter,
    logins: [Counter; Login::ALL.len()],
    /// Connections that spoke too fast and were read slower.
    pub(crate) slowed: Counter,
    faults: [Counter; FAULTS.len()],
    pub(crate) tournaments_started: Counter,
    pub(crate) tournaments_ended: Counter,
    pub(crate) matches_started: Counter,
    pub(crate) matches_ended: Counter,
    /// How long messages waited between their socket and the engine.
    pub(crate) inbox_ms: Histogram,
    /// From when an answer was read to when the request that follows from it was written.
    pub(crate) turn_ms: Histogram,
    /// How much later than set timers rang.
    pub(crate) late_ms: Histogram,
    /// How late sockets of players are read.
    pub(crate) reads: Lateness,
    /// What was read late, and counts from before.
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
            opened: Default::default(),
            closed: Default::default(),
            turned_away: Counter::default(),
            logins: Default::default(),
            slowed: Counter::default(),
            faults: Default::default(),
            tournaments_started: Counter::default(),
            tournaments_ended: Counter::default(),
            matches_started: Counter::default(),
            matches_ended: Counter::default(),
            inbox_ms: Histogram::new(WAIT_MS),
            turn_ms: Histogram::new(TURN_MS),
            late_ms: Histogram::new(WAIT_MS),
            reads: Lateness::default(),
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

    pub(crate) fn closed(&self, wire: Wire, end: End) -> &Counter {
        &self.closed[wire as usize][end as usize]
    }

    pub(crate) fn login(&self, login: Login) -> &Counter {
        &self.logins[login as usize]
    }

    pub(crate) fn fault(&self, kind: FaultKind) -> &Counter {
        let place = FAULTS.iter().position(|(known, _)| *known == kind);
        &self.faults[place.expect("all sorts of faults are listed")]
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
    fn everything_has_a_counter_of_its_own() {
        let meters = Meters::default();
        let mut words = Vec::new();
        for wire in Wire::ALL {
            meters.opened(wire).add();
            words.push(wire.word());
            for end in End::ALL {
                meters.closed(wire, end).add();
            }
        }
        words.extend(End::ALL.map(End::word));
        words.extend(Login::ALL.map(Login::word));
        Login::ALL.iter().for_each(|login| meters.login(*login).add());
        FAULTS.iter().for_each(|(kind, _)| meters.fault(*kind).add());
        (1..=5).for_each(|class| meters.http(class).add());
        let once = |counter: &Counter| counter.count() == 1;
        assert!(meters.opened.iter().all(once) && meters.closed.iter().flatten().all(once));
        assert!(meters.logins.iter().all(once) && meters.faults.iter().all(once));
        assert!(meters.http.iter().all(once));
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), Wire::ALL.len() + End::ALL.len() + Login::ALL.len());
    }
}
