//! Measures of the log: how long commits take, and how many records share one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::append::Answers;

/// The server reports commits that take longer than this.
const SLOW: Duration = Duration::from_millis(250);

/// Bounds for how long a commit takes, in microseconds.
const COMMIT_US: &[u64] =
    &[100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000];

/// Bounds for the number of records of a commit.
const RECORDS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 4_096];

/// Numbers counted in buckets, by any number of threads.
#[derive(Debug)]
pub struct Histogram {
    /// The largest number of each bucket, ascending; one more bucket holds all larger numbers.
    bounds: &'static [u64],
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Histogram {
    /// Creates a bucket up to each of these bounds, inclusive, and one for all larger numbers.
    pub fn new(bounds: &'static [u64]) -> Histogram {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, counts, sum: AtomicU64::new(0) }
    }

    /// Counts a number.
    pub fn add(&self, number: u64) {
        let bucket = self.bounds.partition_point(|bound| *bound < number);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(number, Ordering::Relaxed);
    }

    /// The bounds, each with the count of numbers up to it.
    pub fn cumulated(&self) -> Vec<(u64, u64)> {
        let mut so_far = 0;
        let counts = self.bounds.iter().zip(&self.counts).map(|(bound, count)| {
            so_far += count.load(Ordering::Relaxed);
            (*bound, so_far)
        });
        counts.collect()
    }

    /// The count of numbers larger than every bound.
    pub fn beyond(&self) -> u64 {
        self.counts[self.bounds.len()].load(Ordering::Relaxed)
    }

    /// The sum of all numbers.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }
}

/// Measures of one log, since it was opened.
#[derive(Debug)]
pub struct Meter {
    /// How long commits took, in microseconds.
    pub commit_us: Histogram,
    /// How many records commits had.
    pub records: Histogram,
    /// The number of rejected records.
    pub refused: AtomicU64,
}

impl Default for Meter {
    fn default() -> Meter {
        Meter {
            commit_us: Histogram::new(COMMIT_US),
            records: Histogram::new(RECORDS),
            refused: AtomicU64::new(0),
        }
    }
}

impl Meter {
    /// Measures a commit.
    pub(crate) fn measure(&self, commit: impl FnOnce() -> Vec<Answers>) -> Vec<Answers> {
        let started = Instant::now();
        let results = commit();
        let took = started.elapsed();
        self.commit_us.add(took.as_micros().try_into().unwrap_or(u64::MAX));
        let records = results.iter().map(Vec::len).sum::<usize>() as u64;
        self.records.add(records);
        let refused = results.iter().flatten().filter(|result| result.is_err()).count();
        self.refused.fetch_add(refused as u64, Ordering::Relaxed);
        if took > SLOW {
            let took_ms = took.as_millis() as u64;
            tracing::warn!(took_ms, records, "the log is slow: is the disk busy?");
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AppendError;

    #[test]
    fn every_number_is_in_one_bucket() {
        let histogram = Histogram::new(&[1, 10, 100]);
        [0, 1, 2, 10, 11, 100, 101, 5_000].into_iter().for_each(|number| histogram.add(number));
        assert_eq!(histogram.cumulated(), [(1, 2), (10, 4), (100, 6)]);
        assert_eq!((histogram.beyond(), histogram.sum()), (2, 5_225));
    }

    #[test]
    fn commits_are_measured() {
        let meter = Meter::default();
        let results = meter.measure(|| vec![vec![Ok(1), Err(AppendError::Closed)], vec![Ok(2)]]);
        assert_eq!(results.len(), 2);
        assert_eq!((meter.records.sum(), meter.refused.load(Ordering::Relaxed)), (3, 1));
        let commits = meter.commit_us.cumulated().last().map_or(0, |(_, count)| *count);
        assert_eq!(commits + meter.commit_us.beyond(), 1);
    }
}
