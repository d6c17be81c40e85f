//! What the harness did and when, by its own clock: whom it touched, how long the server was away,
//! and what it saw that should not be.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Milliseconds since the run began.
pub(crate) type Ms = u64;

/// Something that was done to a player.
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
    /// Times when the harness itself did not get on: whoever is late then is late by our fault.
    stalls: Vec<Outage>,
    troubles: BTreeMap<&'static str, u64>,
    complaints: Vec<String>,
}

/// All notes of a run.
#[derive(Debug)]
pub(crate) struct History {
    began: Instant,
    notes: Mutex<Notes>,
}

/// Complaints that are kept; more of them say nothing new.
const COMPLAINTS_MAX: usize = 200;

impl History {
    pub(crate) fn new() -> History {
        History { began: Instant::now(), notes: Mutex::default() }
    }

    pub(crate) fn now(&self) -> Ms {
        self.began.elapsed().as_millis() as Ms
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(|broken| broken.into_inner())
    }

    /// Notes that a player is being touched from now on; gives the note's number.
    pub(crate) fn touch(&self, player: usize, what: &'static str) -> usize {
        let from = self.now();
        let mut notes = self.notes();
        notes.touches.push(Touch { player, what, from, to: Ms::MAX });
        notes.touches.len() - 1
    }

    /// The touch is over.
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

    /// Counts a trouble.
    pub(crate) fn trouble(&self, what: &'static str) {
        *self.notes().troubles.entry(what).or_default() += 1;
    }

    /// Notes something that should not be.
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

/// When something that was to come within `ms` after `from` has come for certain: while the server
/// is away nothing does.
pub(crate) fn beyond(outages: &[Outage], from: Ms, ms: Ms) -> Ms {
    let mut until = from.saturating_add(ms);
    // They are in order, and none overlaps another.
    for outage in outages.iter().filter(|outage| outage.to > from) {
        if outage.from < until {
            until = until.saturating_add(outage.to - outage.from.max(from));
        }
    }
    until
}
