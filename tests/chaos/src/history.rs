//! The harness's actions and their times, by its own clock: disturbed players, outages of the
//! server, and the violations it saw.

use crate::waits::Waits;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Milliseconds since the run began.
pub(crate) type Ms = u64;

/// One disturbance of a player.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) player: usize,
    pub(crate) what: &'static str,
    pub(crate) from: Ms,
    pub(crate) to: Ms,
}

/// A time when the server did not run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outage {
    pub(crate) from: Ms,
    pub(crate) to: Ms,
}

#[derive(Default, Debug)]
struct Notes {
    touches: Vec<Touch>,
    outages: Vec<Outage>,
    /// Times when the harness itself stalled. The harness is to blame for players who are late
    /// then.
    stalls: Vec<Outage>,
    troubles: BTreeMap<&'static str, u64>,
    complaints: Vec<String>,
}

/// All notes of a run.
#[derive(Debug)]
pub(crate) struct History {
    began: Instant,
    notes: Mutex<Notes>,
    /// How long matches wait for requests.
    pub(crate) waits: Waits,
}

/// The most complaints that are kept; more of them add nothing new.
const COMPLAINTS_MAX: usize = 200;

impl History {
    pub(crate) fn new() -> History {
        History { began: Instant::now(), notes: Mutex::default(), waits: Waits::default() }
    }

    pub(crate) fn now(&self) -> Ms {
        self.began.elapsed().as_millis() as Ms
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Records that a disturbance of a player begins now; returns its number.
    pub(crate) fn touch(&self, player: usize, what: &'static str) -> usize {
        let from = self.now();
        let mut notes = self.notes();
        notes.touches.push(Touch { player, what, from, to: Ms::MAX });
        notes.touches.len() - 1
    }

    /// Records that a disturbance is over.
    pub(crate) fn leave(&self, touch: usize) {
        let now = self.now();
        self.notes().touches[touch].to = now;
    }

    pub(crate) fn outage(&self, from: Ms) {
        let to = self.now();
        self.notes().outages.push(Outage { from, to });
    }

    pub(crate) fn stall(&self, from: Ms) {
        let to = self.now();
        self.notes().stalls.push(Outage { from, to });
    }

    /// Counts a disturbance of the server.
    pub(crate) fn trouble(&self, what: &'static str) {
        *self.notes().troubles.entry(what).or_default() += 1;
    }

    /// Records a violation.
    pub(crate) fn complain(&self, what: String) {
        let mut notes = self.notes();
        if notes.complaints.len() < COMPLAINTS_MAX {
            notes.complaints.push(what);
        }
    }

    pub(crate) fn touches(&self) -> Vec<Touch> {
        self.notes().touches.clone()
    }

    pub(crate) fn outages(&self) -> Vec<Outage> {
        self.notes().outages.clone()
    }

    pub(crate) fn stalls(&self) -> Vec<Outage> {
        self.notes().stalls.clone()
    }

    pub(crate) fn troubles(&self) -> BTreeMap<&'static str, u64> {
        self.notes().troubles.clone()
    }

    pub(crate) fn complaints(&self) -> Vec<String> {
        self.notes().complaints.clone()
    }
}

/// When an event that is due within `ms` after `from` must have happened. Outages of the server
/// extend the time.
pub(crate) fn beyond(outages: &[Outage], from: Ms, ms: Ms) -> Ms {
    let mut until = from.saturating_add(ms);
    // Outages are in order and do not overlap.
    for outage in outages.iter().filter(|outage| outage.to > from) {
        if outage.from < until {
            until = until.saturating_add(outage.to - outage.from.max(from));
        }
    }
    until
}
