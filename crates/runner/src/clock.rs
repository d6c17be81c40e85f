//! The clock of a run. It never goes back, and never behind the times in the log: setting the wall
//! clock changes nothing in a run.

use agon_core::Millis;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    began_ms: Millis,
    began: Instant,
}

impl RunClock {
    /// Starts at the wall clock, or after `latest_ms` if that is later.
    pub(crate) fn start(latest_ms: Millis) -> RunClock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall_ms = since.map_or(0, |since| since.as_millis() as u64);
        RunClock { began_ms: wall_ms.max(latest_ms), began: Instant::now() }
    }

    /// The time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> Millis {
        self.began_ms + self.began.elapsed().as_millis() as u64
    }

    /// When the clock shows `ms`.
    pub(crate) fn instant_of(&self, ms: Millis) -> Instant {
        self.began + Duration::from_millis(ms.saturating_sub(self.began_ms))
    }
}
