//! The work of a node that stands by, for its metrics.

use agon_store::{Lease, Log, PostgresLog};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The counts of a node that stands by.
#[derive(Default)]
pub struct StandbyMeters {
    log: OnceLock<Arc<PostgresLog>>,
    /// The answers that engines for cells accepted here, whose links have ended.
    decisions_before: AtomicU64,
    /// The answers that the present engine for cells has accepted.
    decisions: AtomicU64,
}

impl StandbyMeters {
    /// Notes that the log is open.
    pub fn note_log(&self, log: &Arc<PostgresLog>) {
        // A node opens its log once.
        let _ = self.log.set(Arc::clone(log));
    }

    /// Notes how many answers the present engine has accepted.
    pub(super) fn note_decisions(&self, count: u64) {
        self.decisions.store(count, Ordering::Relaxed);
    }

    /// Notes that the present engine has ended.
    pub(super) fn end_engine(&self) {
        let count = self.decisions.swap(0, Ordering::Relaxed);
        self.decisions_before.fetch_add(count, Ordering::Relaxed);
    }

    /// The answers that were accepted on this node while it stood by.
    pub(crate) fn decisions(&self) -> u64 {
        self.decisions_before.load(Ordering::Relaxed) + self.decisions.load(Ordering::Relaxed)
    }

    /// Returns whether an operator has drained this node.
    pub(super) fn is_drained(&self) -> bool {
        self.log.get().is_some_and(|log| log.is_drained())
    }

    /// The lease of this node, once the log is open.
    pub(crate) fn lease(&self) -> Option<Lease> {
        self.log.get()?.lease()
    }
}
