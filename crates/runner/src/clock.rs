//! The clock of a run. It never goes back, and never behind the times in the log: setting the wall
//! clock changes nothing in a run.

use agon_core::Timestamp;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunClock {
    began_at: Timestamp,
    began: Instant,
}

impl RunClock {
    /// Starts at the wall clock, or at `latest` if that is later.
    pub(crate) fn start(latest: Timestamp) -> RunClock {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let wall = Timestamp::from_ms(since.map_or(0, |since| since.as_millis() as u64));
        RunClock { began_at: wall.max(latest), began: Instant::now() }
    }

    /// The time in milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> Timestamp {
        self.began_at + self.began.elapsed().as_millis() as u64
    }

    /// When the clock shows `at`.
    pub(crate) fn instant_of(&self, at: Timestamp) -> Instant {
        self.began + Duration::from_millis(at.since(self.began_at))
    }
}
