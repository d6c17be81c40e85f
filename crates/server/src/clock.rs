//! The server's clock: one clock for the engine and for the gateways' socket times, so that both
//! can be compared.
//!
//! It starts at the wall clock's time and then runs by itself: setting the wall clock later changes
//! no deadline. It stops while the process is stopped, the machine sleeps or is far too busy. So
//! input that waited in sockets meanwhile is not late.

use agon_core::{Millis, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often a thread reads the clock, if nothing else does.
const TICK: Duration = Duration::from_millis(50);
/// The longest gap between two readings that counts in full. After a longer gap the process was
/// stopped, and only this much counts. The value is not smaller, or a reader at the end of a gap
/// could see an earlier time than another.
const STILL_MS: Millis = 250;
/// Readings closer together than this do not update `seen`.
const FINE_MS: Millis = 10;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> Timestamp {
    CLOCK.now(|| CLOCK.origin.elapsed().as_millis() as Millis)
}

/// Sets the clock ahead to `at` if it is behind: times in the log must not occur again.
pub(crate) fn not_before(at: Timestamp) {
    CLOCK.not_before(at, now_ms());
}

/// Sets the clock to `at`, before anything has read it: nodes of a cluster use the database's time.
pub(crate) fn set(at: Timestamp) {
    CLOCK.set(at, now_ms());
}

/// Stops the clock until [`resume`]: the time in between counts for nobody.
pub(crate) fn stop() {
    CLOCK.stop(now_ms());
}

/// Lets the clock continue from where it stopped.
pub(crate) fn resume() {
    CLOCK.resume(|| CLOCK.origin.elapsed().as_millis() as Millis);
}

static CLOCK: LazyLock<Clock> = LazyLock::new(|| {
    let looking = std::thread::Builder::new().name("clock".into());
    // If the thread cannot be started, the clock advances only with other readings: late, but not
    // wrong.
    let _ = looking.spawn(|| {
        loop {
            std::thread::sleep(TICK);
            now_ms();
        }
    });
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    Clock::new(since.map_or(0, |since| since.as_millis() as Millis))
});

struct Clock {
    origin: Instant,
    /// The time at the origin, plus all later settings.
    ahead: AtomicU64,
    /// When the clock was last read, in milliseconds after the origin.
    seen: AtomicU64,
    /// How long the clock was stopped. Written before `seen` and read after it, so that a reader
    /// who sees the new time also sees how much of it does not count.
    still: AtomicU64,
    /// The time at which the clock was stopped; the first one there is while it runs.
    stopped_at: AtomicTimestamp,
    noting: Mutex<()>,
}

impl Clock {
    fn new(start_ms: Millis) -> Clock {
        Clock {
            origin: Instant::now(),
            ahead: AtomicU64::new(start_ms),
            seen: AtomicU64::new(0),
            still: AtomicU64::new(0),
            stopped_at: AtomicTimestamp::default(),
            noting: Mutex::new(()),
        }
    }

    /// The time; `elapsed` returns how long ago the origin was.
    fn now(&self, elapsed: impl Fn() -> Millis) -> Timestamp {
        self.stopped().unwrap_or_else(|| self.running(elapsed))
    }

    /// The time if the clock is not stopped.
    fn running(&self, elapsed: impl Fn() -> Millis) -> Timestamp {
        loop {
            let seen = self.seen.load(Ordering::Acquire);
            let still = self.still.load(Ordering::Acquire);
            let elapsed = elapsed();
            if elapsed <= seen + STILL_MS {
                if elapsed > seen + FINE_MS {
                    self.seen.fetch_max(elapsed, Ordering::AcqRel);
                }
                let ahead = self.ahead.load(Ordering::Acquire);
                return Timestamp::from_ms(ahead.wrapping_add(elapsed).saturating_sub(still));
            }
            let _noting = self.noting.lock().unwrap_or_else(|broken| broken.into_inner());
            if self.seen.load(Ordering::Acquire) == seen {
                self.still.fetch_add(elapsed - seen - STILL_MS, Ordering::AcqRel);
                self.seen.store(elapsed, Ordering::Release);
            }
        }
    }

    fn not_before(&self, at: Timestamp, now: Timestamp) {
        self.ahead.fetch_add(at.since(now), Ordering::AcqRel);
    }

    fn set(&self, at: Timestamp, now: Timestamp) {
        self.ahead.fetch_add(at.as_ms().wrapping_sub(now.as_ms()), Ordering::AcqRel);
    }

    fn stop(&self, now: Timestamp) {
        self.stopped_at.store(now);
    }

    fn stopped(&self) -> Option<Timestamp> {
        Some(self.stopped_at.load()).filter(|at| *at != Timestamp::default())
    }

    fn resume(&self, elapsed: impl Fn() -> Millis) {
        if let Some(stopped_at) = self.stopped() {
            let passed = self.running(elapsed).since(stopped_at);
            self.still.fetch_add(passed, Ordering::AcqRel);
            self.stopped_at.store(Timestamp::default());
        }
    }
}

/// A time that several threads read and write.
#[derive(Debug, Default)]
pub(crate) struct AtomicTimestamp(AtomicU64);

impl AtomicTimestamp {
    pub(crate) fn new(at: Timestamp) -> AtomicTimestamp {
        AtomicTimestamp(AtomicU64::new(at.as_ms()))
    }

    pub(crate) fn load(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::Acquire))
    }

    pub(crate) fn store(&self, at: Timestamp) {
        self.0.store(at.as_ms(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_runs_while_it_is_read_and_stops_with_the_process() {
        let clock = Clock::new(1_000_000);
        let mut elapsed = 0;
        for _ in 0..100 {
            elapsed += 100;
            assert_eq!(clock.now(|| elapsed), Timestamp::from_ms(1_000_000 + elapsed));
        }
        // The process is stopped for a minute.
        elapsed += 60_000;
        assert_eq!(clock.now(|| elapsed), Timestamp::from_ms(1_010_250));
        elapsed += 100;
        assert_eq!(clock.now(|| elapsed), Timestamp::from_ms(1_010_350));
        assert_eq!(clock.now(|| elapsed), Timestamp::from_ms(1_010_350));
    }

    #[test]
    fn clock_never_goes_back_for_any_reader() {
        let clock = &Clock::new(1_000);
        let elapsed = &AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let mut before = Timestamp::default();
                    while elapsed.load(Ordering::Relaxed) < 200_000 {
                        let now = clock.now(|| elapsed.load(Ordering::SeqCst));
                        assert!(now >= before, "{now} after {before}");
                        before = now;
                        // Small steps and, occasionally, a long stop.
                        let step_ms = if now.as_ms().is_multiple_of(97) { 5_000 } else { 7 };
                        elapsed.fetch_add(step_ms, Ordering::SeqCst);
                    }
                });
            }
        });
        let now = clock.now(|| elapsed.load(Ordering::SeqCst));
        let shown = now.since(Timestamp::from_ms(1_000));
        assert!(shown < 200_000, "stops do not count: {shown}");
    }

    #[test]
    fn stopped_clock_continues_from_where_it_stopped() {
        let clock = Clock::new(1_000);
        clock.stop(clock.now(|| 100));
        assert_eq!(clock.now(|| 150), Timestamp::from_ms(1_100));
        // The clock's own thread reads it all the time, also while it is stopped.
        for elapsed in (100..9_000).step_by(100) {
            clock.running(|| elapsed);
        }
        assert_eq!(clock.now(|| 9_000), Timestamp::from_ms(1_100));
        clock.resume(|| 9_000);
        assert_eq!(clock.now(|| 9_000), Timestamp::from_ms(1_100));
        assert_eq!(clock.now(|| 9_040), Timestamp::from_ms(1_140));
        clock.set(Timestamp::from_ms(50), clock.now(|| 9_040));
        assert_eq!(clock.now(|| 9_050), Timestamp::from_ms(60));
    }

    #[test]
    fn clock_does_not_repeat_times_in_the_log() {
        let clock = Clock::new(10_000);
        let now = || clock.now(|| 100);
        clock.not_before(Timestamp::from_ms(9_000), now());
        assert_eq!(now(), Timestamp::from_ms(10_100), "it is not set back");
        clock.not_before(Timestamp::from_ms(90_000), now());
        assert_eq!(now(), Timestamp::from_ms(90_000));
    }
}
