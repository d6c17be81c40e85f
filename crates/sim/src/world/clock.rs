//! The clock of a process. It stands still while the process is stopped, and while it is silent
//! because its lease has expired.

use agon_core::Timestamp;

/// A clock that follows the world's, except while it stands still.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    /// The times of the world at which it stopped and went on.
    stops: Vec<(Timestamp, Timestamp)>,
    still_since: Option<Timestamp>,
}

impl Clock {
    /// Stops the clock: the time counts for nobody.
    pub(super) fn stop(&mut self, now: Timestamp) {
        self.still_since.get_or_insert(now);
    }

    /// Lets the clock continue from where it stopped.
    pub(super) fn resume(&mut self, now: Timestamp) {
        self.stops.extend(self.still_since.take().map(|since| (since, now)));
    }

    /// Returns the time that the clock shows at a time of the world.
    pub(super) fn read(&self, at: Timestamp) -> Timestamp {
        let at = self.still_since.unwrap_or(at).min(at);
        let before = self.stops.iter().filter(|(stop, _)| *stop < at);
        let still_ms: u64 = before.map(|(stop, end)| (*end).min(at).since(*stop)).sum();
        at.before(still_ms)
    }

    /// When the clock showed a time, by the world's clock. Of a time at which it stood still, that
    /// is the end: the process acts again only then.
    pub(super) fn world_time(&self, shown: Timestamp) -> Timestamp {
        self.stops.iter().fold(shown, |at, (stop, end)| match at >= *stop {
            true => at + end.since(*stop),
            false => at,
        })
    }

    /// When the clock shows a time; `None` while it stands still.
    pub(super) fn when(&self, shown: Timestamp) -> Option<Timestamp> {
        self.still_since.is_none().then(|| self.world_time(shown))
    }
}
