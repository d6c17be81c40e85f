//! Latencies in buckets a sixteenth of an octave wide: cheap to note, exact to seven per cent.

use std::time::Duration;

/// Buckets per octave.
const STEPS: u32 = 16;

/// How often something took how long.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    buckets: Vec<u64>,
    count: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: vec![0; (64 * STEPS) as usize], count: 0 }
    }
}

impl Histogram {
    pub(super) fn note(&mut self, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.buckets[bucket(us)] += 1;
        self.count += 1;
    }

    pub(super) fn clear(&mut self) {
        self.buckets.fill(0);
        self.count = 0;
    }

    /// The time that this share of all stayed below, in milliseconds; 0 if there were none.
    pub(super) fn percentile_ms(&self, share: f64) -> f64 {
        let due = (self.count as f64 * share).ceil() as u64;
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= due && seen > 0 {
                return upper_us(at) as f64 / 1_000.0;
            }
        }
        0.0
    }
}

fn bucket(us: u64) -> usize {
    if us < u64::from(STEPS) {
        return us as usize;
    }
    let octave = us.ilog2();
    let step = (us >> (octave - STEPS.ilog2())) as u32 - STEPS;
    ((octave - STEPS.ilog2() + 1) * STEPS + step) as usize
}

/// The largest time of a bucket.
fn upper_us(at: usize) -> u64 {
    let (octave, step) = (at as u32 / STEPS, u64::from(at as u32 % STEPS));
    match octave {
        0 => step,
        _ => ((u64::from(STEPS) + step + 1) << (octave - 1)) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bucket_that_ends_just_above_it() {
        for us in (0..5_000).chain([1 << 20, (1 << 20) + 1, 123_456_789]) {
            let upper = upper_us(bucket(us));
            assert!(upper >= us && upper as f64 <= us as f64 * 1.0625 + 1.0, "{us}: {upper}");
            assert!(us == 0 || upper_us(bucket(us) - 1) < us, "{us}");
        }
    }

    #[test]
    fn percentiles_are_by_count() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile_ms(0.5), 0.0);
        (1..=100).for_each(|ms| histogram.note(Duration::from_millis(ms)));
        let median = histogram.percentile_ms(0.5);
        assert!((50.0..54.0).contains(&median), "{median}");
        assert!((99.0..106.0).contains(&histogram.percentile_ms(0.99)));
        histogram.clear();
        assert_eq!(histogram.percentile_ms(0.99), 0.0);
    }
}
