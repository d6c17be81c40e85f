//! Latencies up to an hour, exact to two digits.

use hdrhistogram::Histogram;
use std::time::Duration;

/// The longest latency, in microseconds; longer ones count as this.
const US_MAX: u64 = 3_600_000_000;

/// A histogram of latencies in microseconds.
#[derive(Clone, Debug)]
pub(super) struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Histogram::new_with_max(US_MAX, 2).expect("a name may have two digits"))
    }
}

impl Latencies {
    pub(super) fn note(&mut self, took: Duration) {
        self.0.saturating_record(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
    }

    pub(super) fn clear(&mut self) {
        self.0.reset();
    }

    /// The latency that this share stayed below, in milliseconds; 0 if there are none.
    pub(super) fn percentile_ms(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_count() {
        let mut latencies = Latencies::default();
        assert_eq!(latencies.percentile_ms(0.5), 0.0);
        (1..=100).for_each(|ms| latencies.note(Duration::from_millis(ms)));
        let median = latencies.percentile_ms(0.5);
        assert!((50.0..51.0).contains(&median), "{median}");
        assert!((99.0..100.0).contains(&latencies.percentile_ms(0.99)));
        latencies.clear();
        assert_eq!(latencies.percentile_ms(0.99), 0.0);
    }
}
