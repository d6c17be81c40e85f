//! The server's clock: one clock for the engine and for the gateways' socket times, so that both
//! can be compared.
//!
//! It starts at the wall clock's time and then runs by itself: setting the wall clock later changes
//! no deadline. It stops while the process is stopped, the machine sleeps or is far too busy. So
//! input that waited in sockets meanwhile is not late.

use agon_core::Millis;
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
pub(crate) fn now_ms() -> Millis {
    CLOCK.now(|| CLOCK.origin.elapsed().as_millis() as Millis)
}

/// Sets the clock ahead to `at` if it is behind: times in the log must not occur again.
pub(crate) fn not_before(at: Millis) {
    CLOCK.not_before(at, now_ms());
}

/// Sets the clock to `at`, before anything has read it: nodes of a cluster use the database's time.
pub(crate) fn set(at: Millis) {
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
    /// The time at which the clock was stopped; 0 while it runs.
    stopped_at: AtomicU64,
    noting: Mutex<()>,
}

impl Clock {
    fn new(start_ms: Millis) -> Clock {
        Clock {
            origin: Instant::now(),
            ahead: AtomicU64::new(start_ms),
            seen: AtomicU64::new(0),
            still: AtomicU64::new(0),
            stopped_at: AtomicU64::new(0),
            noting: Mutex::new(()),
        }
    }

    /// The time; `elapsed` returns how long ago the origin was.
    fn now(&self, elapsed: impl Fn() -> Millis) -> Millis {
        match self.stopped_at.load(Ordering::Acquire) {
            0 => self.running(elapsed),
            stopped_at => stopped_at,
        }
    }

    /// The time if the clock is not stopped.
    fn running(&self, elapsed: impl Fn() -> Millis) -> Millis {
        loop {
            let seen = self.seen.load(Ordering::Acquire);
            let still = self.still.load(Ordering::Acquire);
            let elapsed = elapsed();
            if elapsed <= seen + STILL_MS {
                if elapsed > seen + FINE_MS {
                    self.seen.fetch_max(elapsed, Ordering::AcqRel);
                }
                let ahead = self.ahead.load(Ordering::Acquire);
                return ahead.wrapping_add(elapsed).saturating_sub(still);
            }
            let _noting = self.noting.lock().unwrap_or_else(|broken| broken.into_inner());
            if self.seen.load(Ordering::Acquire) == seen {
                self.still.fetch_add(elapsed - seen - STILL_MS, Ordering::AcqRel);
                self.seen.store(elapsed, Ordering::Release);
            }
        }
    }

    fn not_before(&self, at: Millis, now: Millis) {
        self.ahead.fetch_add(at.saturating_sub(now), Ordering::AcqRel);
    }

    fn set(&self, at: Millis, now: Millis) {
        self.ahead.fetch_add(at.wrapping_sub(now), Ordering::AcqRel);
    }

    fn stop(&self, now: Millis) {
        self.stopped_at.store(now, Ordering::Release);
    }

    fn resume(&self, elapsed: impl Fn() -> Millis) {
        let stopped_at = self.stopped_at.load(Ordering::Acquire);
        if stopped_at != 0 {
            let passed = self.running(elapsed).saturating_sub(stopped_at);
            self.still.fetch_add(passed, Ordering::AcqRel);
            self.stopped_at.store(0, Ordering::Release);
        }
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
            assert_eq!(clock.now(|| elapsed), 1_000_000 + elapsed);
        }
        // The process is stopped for a minute.
        elapsed += 60_000;
        assert_eq!(clock.now(|| elapsed), 1_010_250);
        elapsed += 100;
        assert_eq!(clock.now(|| elapsed), 1_010_350);
        assert_eq!(clock.now(|| elapsed), 1_010_350);
    }

    #[test]
    fn clock_never_goes_back_for_any_reader() {
        let clock = &Clock::new(1_000);
        let elapsed = &AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let mut before = 0;
                    while elapsed.load(Ordering::Relaxed) < 200_000 {
                        let now = clock.now(|| elapsed.load(Ordering::SeqCst));
                        assert!(now >= before, "{now} after {before}");
                        before = now;
                        // Small steps and, occasionally, a long stop.
                        let step_ms = if now.is_multiple_of(97) { 5_000 } else { 7 };
                        elapsed.fetch_add(step_ms, Ordering::SeqCst);
                    }
                });
            }
        });
        let shown = clock.now(|| elapsed.load(Ordering::SeqCst)) - 1_000;
        assert!(shown < 200_000, "stops do not count: {shown}");
    }

    #[test]
    fn stopped_clock_continues_from_where_it_stopped() {
        let clock = Clock::new(1_000);
        clock.stop(clock.now(|| 100));
        assert_eq!(clock.now(|| 150), 1_100);
        // The clock's own thread reads it all the time, also while it is stopped.
        for elapsed in (100..9_000).step_by(100) {
            clock.running(|| elapsed);
        }
        assert_eq!(clock.now(|| 9_000), 1_100);
        clock.resume(|| 9_000);
        assert_eq!(clock.now(|| 9_000), 1_100);
        assert_eq!(clock.now(|| 9_040), 1_140);
        clock.set(50, clock.now(|| 9_040));
        assert_eq!(clock.now(|| 9_050), 60);
    }

    #[test]
    fn clock_does_not_repeat_times_in_the_log() {
        let clock = Clock::new(10_000);
        let now = || clock.now(|| 100);
        clock.not_before(9_000, now());
        assert_eq!(now(), 10_100, "it is not set back");
        clock.not_before(90_000, now());
        assert_eq!(now(), 90_000);
    }
}
