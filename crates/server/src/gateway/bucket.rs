//! The rate limit of one connection: a token bucket.

use agon_core::{Millis, Timestamp};

/// Tokens are counted in thousandths, so that the bucket fills evenly within a second.
const WHOLE: u64 = 1_000;

/// Every this many bytes of a message cost one more token.
const BYTES_PER_TOKEN: usize = 4_096;

/// The tokens of a connection.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    left: u64,
    full: u64,
    per_second: u64,
    filled_at: Timestamp,
}

impl Bucket {
    /// A bucket that is full at `now`.
    pub(super) fn new(per_second: u32, burst: u32, now: Timestamp) -> Bucket {
        // Any one message fits into a full bucket: at worst it takes all tokens.
        let full = u64::from(burst.max(1)) * WHOLE;
        Bucket { left: full, full, per_second: u64::from(per_second.max(1)), filled_at: now }
    }

    /// Takes the tokens for a message of `bytes` bytes; the error says how long to wait for them.
    pub(super) fn take(&mut self, bytes: usize, now: Timestamp) -> Result<(), Millis> {
        let passed = now.since(self.filled_at);
        self.left = self.left.saturating_add(passed.saturating_mul(self.per_second)).min(self.full);
        // After the clock was set back, the bucket fills from the new time on.
        self.filled_at = now;
        let cost = ((1 + bytes / BYTES_PER_TOKEN) as u64 * WHOLE).min(self.full);
        match self.left.checked_sub(cost) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err((cost - self.left).div_ceil(self.per_second)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_and_then_a_steady_stream() {
        let mut bucket = Bucket::new(10, 3, Timestamp::from_ms(1_000));
        assert_eq!([0; 3].map(|_| bucket.take(10, Timestamp::from_ms(1_000))), [Ok(()); 3]);
        assert_eq!(bucket.take(10, Timestamp::from_ms(1_000)), Err(100));
        assert_eq!(bucket.take(10, Timestamp::from_ms(1_099)), Err(1));
        assert_eq!(bucket.take(10, Timestamp::from_ms(1_100)), Ok(()));
        assert_eq!(bucket.take(10, Timestamp::from_ms(1_100)), Err(100));
        // However long the connection was silent, it has no more than a burst.
        assert_eq!([0; 3].map(|_| bucket.take(10, Timestamp::from_ms(900_000))), [Ok(()); 3]);
        assert!(bucket.take(10, Timestamp::from_ms(900_000)).is_err());
    }

    #[test]
    fn long_messages_cost_more_and_are_always_possible() {
        let mut bucket = Bucket::new(1, 5, Timestamp::default());
        assert_eq!(bucket.take(4_096, Timestamp::default()), Ok(()));
        assert_eq!(bucket.take(1_000_000, Timestamp::default()), Err(2_000));
        assert_eq!(bucket.take(1_000_000, Timestamp::from_ms(2_000)), Ok(()));
        assert_eq!(bucket.take(0, Timestamp::from_ms(2_000)), Err(1_000));
    }

    #[test]
    fn clock_set_back_adds_no_tokens_and_removes_none() {
        let mut bucket = Bucket::new(1, 1, Timestamp::from_ms(10_000));
        assert_eq!(bucket.take(0, Timestamp::from_ms(10_000)), Ok(()));
        assert_eq!(bucket.take(0, Timestamp::from_ms(5_000)), Err(1_000));
        assert_eq!(bucket.take(0, Timestamp::from_ms(6_000)), Ok(()));
    }
}
