//! The only generator of repeatable numbers, for statistics, house players, the simulator, fuzzing
//! and tests.

/// SplitMix64 (Steele, Lea and Flood): the same numbers for the same seed, on every machine. Not
/// fit for secrets. [`below`](SplitMix64::below) takes a remainder, so its bias is `end` in 2^64.
///
/// ```
/// use agon_stats::SplitMix64;
/// let mut random = SplitMix64::new(1_234_567);
/// assert_eq!(random.next_word(), 6_457_827_717_110_365_317);
/// assert_eq!(random.next_word(), 3_203_168_211_198_807_973);
/// ```
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator with this seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The seed of a generator that continues with the same numbers.
    pub fn seed(&self) -> u64 {
        self.0
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    #[inline]
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_word() % end.max(1)
    }

    /// An index below `count`; 0 if `count` is 0.
    #[inline]
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// A number from `first` to `last`, both included.
    pub fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last.saturating_sub(first) + 1)
    }

    /// True `per_mille` times in a thousand.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// A random element of a list.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.index(all.len())]
    }

    /// Puts a list into a random order.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.index(at + 1));
        }
    }

    /// An independent generator, whose use does not change the numbers of this one.
    #[must_use]
    pub fn fork(&mut self) -> SplitMix64 {
        SplitMix64(self.next_word())
    }
}
