//! Fair luck inside one game: every die, card and shuffle is a function of a seed, a label and an
//! index, so that anyone who learns the seed can recompute them all.
//!
//! The function, exactly, so that it can be written again in any language:
//!
//! 1. The *stream* of a label is the ChaCha20 key stream (20 rounds, 64-bit block counter, 64-bit
//!    nonce, both little-endian) whose key is the 32-byte seed and whose nonce is the label: at
//!    most eight ASCII characters, padded with zero bytes.
//! 2. *Word* `i`, attempt `a`, is the little-endian 64-bit number at byte `8 * (i % 8)` of the
//!    block with counter `i / 8 + a * 2^32`.
//! 3. A number *below* `n` at index `i`: take attempts 0, 1, 2 … until the word is less than
//!    `floor(2^64 / n) * n`; the number is that word modulo `n`. No value is favoured.
//! 4. A *shuffle* of `m` things from index `s`: for `j` from `m - 1` down to 1, swap thing `j`
//!    with thing `below(j + 1)` at index `s + (m - 1 - j)`.

use crate::chacha::{self, two_blocks};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The 32 bytes all luck of one game derives from. Its debug form does not show them.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed([u8; 32]);

impl Seed {
    /// A seed from given bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }

    /// A seed for tests and examples: the number, little-endian, then zeros.
    pub fn from_number(number: u64) -> Seed {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Seed(bytes)
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(hidden)")
    }
}

/// Words of one chunk: two blocks of eight words.
const CHUNK: u64 = chacha::WORDS as u64;

/// The stream of one label, read by index.
#[derive(Clone)]
pub struct Luck {
    key: [u32; 8],
    nonce: [u32; 2],
    chunk_at: u64,
    chunk: [u64; CHUNK as usize],
}

impl Luck {
    /// The stream of `label` under `seed`.
    ///
    /// # Panics
    /// If the label is empty, longer than eight bytes or not ASCII: labels are constants of a game.
    #[inline]
    pub fn new(seed: &Seed, label: &str) -> Luck {
        assert!(!label.is_empty() && label.len() <= 8 && label.is_ascii(), "label {label:?}");
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(seed.0.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        let mut padded = [0u8; 8];
        padded[..label.len()].copy_from_slice(label.as_bytes());
        let nonce = u64::from_le_bytes(padded);
        let nonce = [nonce as u32, (nonce >> 32) as u32];
        Luck { key, nonce, chunk_at: 0, chunk: two_blocks(&key, nonce, 0) }
    }

    /// Word `index` of the stream, attempt `attempt`.
    #[inline]
    pub fn word(&mut self, index: u32, attempt: u32) -> u64 {
        let at = (u64::from(index) / CHUNK * 2) | (u64::from(attempt) << 32);
        if at != self.chunk_at {
            self.turn_to(at);
        }
        self.chunk[(u64::from(index) % CHUNK) as usize]
    }

    /// An unbiased number below `n` at `index`.
    ///
    /// ```
    /// use agon_games::{Luck, Seed};
    /// let mut luck = Luck::new(&Seed::from_number(1), "dice");
    /// let die = 1 + luck.below(0, 6);
    /// assert!((1..=6).contains(&die));
    /// ```
    #[inline]
    pub fn below(&mut self, index: u32, n: u64) -> u64 {
        self.accepted(index, n) % n
    }

    /// The word that gives the number below `n` at `index`: that number is its remainder. Saves the
    /// division where only parts of the number are wanted.
    #[inline]
    pub(crate) fn accepted(&mut self, index: u32, n: u64) -> u64 {
        assert!(n > 0, "nothing is below 0");
        // 2^64 mod n; words from `2^64 - excess` on are rejected.
        let excess = (u64::MAX % n + 1) % n;
        let last = u64::MAX - excess;
        let word = self.word(index, 0);
        if word <= last { word } else { self.accepted_later(index, last) }
    }

    /// The attempts after the first.
    #[cold]
    fn accepted_later(&mut self, index: u32, last: u64) -> u64 {
        (1..).map(|attempt| self.word(index, attempt)).find(|word| *word <= last).unwrap_or(0)
    }

    #[inline(never)]
    fn turn_to(&mut self, chunk_at: u64) {
        self.chunk = two_blocks(&self.key, self.nonce, chunk_at);
        self.chunk_at = chunk_at;
    }

    /// Shuffles `things`, drawing from index `start` on. Uses `things.len() - 1` indices.
    pub fn shuffle<T>(&mut self, start: u32, things: &mut [T]) {
        for (step, j) in (1..things.len()).rev().enumerate() {
            let other = self.below(start + step as u32, j as u64 + 1) as usize;
            things.swap(j, other);
        }
    }
}

impl fmt::Debug for Luck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Luck(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_do_not_depend_on_the_order_they_are_read_in() {
        let mut forwards = Luck::new(&Seed::from_number(3), "deck");
        let mut backwards = forwards.clone();
        let up: Vec<u64> = (0..100).map(|index| forwards.word(index, index % 3)).collect();
        let mut down: Vec<u64> =
            (0..100).rev().map(|index| backwards.word(index, index % 3)).collect();
        down.reverse();
        assert_eq!(up, down);
    }

    #[test]
    fn numbers_below_six_are_even_and_labels_differ() {
        let mut dice = Luck::new(&Seed::from_number(5), "dice");
        let mut other = Luck::new(&Seed::from_number(5), "deck");
        let mut counts = [0u32; 6];
        let mut same = 0;
        for index in 0..60_000 {
            let die = dice.below(index, 6);
            counts[die as usize] += 1;
            same += u32::from(die == other.below(index, 6));
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert!((9_500..10_500).contains(&same), "{same}");
    }

    #[test]
    fn a_shuffle_keeps_every_thing_and_reaches_every_place() {
        let mut reached = [[false; 5]; 5];
        for number in 0..500 {
            let mut things = [0, 1, 2, 3, 4];
            Luck::new(&Seed::from_number(number), "deck").shuffle(0, &mut things);
            things.iter().enumerate().for_each(|(place, thing)| reached[place][*thing] = true);
            things.sort_unstable();
            assert_eq!(things, [0, 1, 2, 3, 4]);
        }
        assert_eq!(reached, [[true; 5]; 5]);
    }

    /// The second and the third rule of the module, from single blocks.
    #[test]
    fn words_and_numbers_below_are_what_the_module_says() {
        let seed = Seed::from_bytes(std::array::from_fn(|at| 7 * at as u8));
        let (mut luck, mut key) = (Luck::new(&seed, "dice.1"), [0; 8]);
        for (at, word) in key.iter_mut().enumerate() {
            *word = u32::from_le_bytes(std::array::from_fn(|byte| seed.bytes()[4 * at + byte]));
        }
        let nonce = [u32::from_le_bytes(*b"dice"), u32::from_le_bytes(*b".1\0\0")];
        let word = |index: u32, attempt: u32| {
            let block = u64::from(index / 8) + (u64::from(attempt) << 32);
            two_blocks(&key, nonce, block)[index as usize % 8]
        };
        // Of the words, about half are rejected, a quarter twice, and none where n is a power of 2.
        for n in [1, 6, 1 << 40, (1 << 63) + 1, (1 << 63) + (1 << 61), 1 << 63, u64::MAX] {
            let whole = (1u128 << 64) / u128::from(n) * u128::from(n);
            for index in 0..200 {
                let attempts = (0..).map(|attempt| word(index, attempt));
                let taken = attempts.take(100).find(|word| u128::from(*word) < whole).unwrap();
                assert_eq!(luck.accepted(index, n), taken, "below {n} at {index}");
                assert_eq!(luck.below(index, n), taken % n);
            }
        }
        assert_eq!(luck.word(19, 5), word(19, 5));
    }

    /// The fourth rule of the module.
    #[test]
    fn a_shuffle_swaps_from_the_end() {
        for (start, count) in [(0, 2), (0, 9), (30, 17), (5, 1), (5, 0)] {
            let mut luck = Luck::new(&Seed::from_number(8), "deck");
            let mut due: Vec<usize> = (0..count).collect();
            for j in (1..count).rev() {
                let index = start + (count - 1 - j) as u32;
                due.swap(j, luck.below(index, j as u64 + 1) as usize);
            }
            let mut things: Vec<usize> = (0..count).collect();
            luck.shuffle(start, &mut things);
            assert_eq!(things, due);
        }
    }

    #[test]
    fn seeds_and_derived_values_are_not_printed() {
        let seed = Seed::from_number(5);
        assert_eq!(format!("{seed:?}"), "Seed(hidden)");
        assert_eq!(format!("{:?}", Luck::new(&seed, "deck")), "Luck(hidden)");
        assert_eq!(seed.bytes()[..9], [5, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn labels_have_one_to_eight_characters() {
        let seed = Seed::from_number(5);
        let _ = Luck::new(&seed, "12345678");
        for label in ["", "123456789", "dé"] {
            assert!(std::panic::catch_unwind(|| Luck::new(&seed, label)).is_err(), "{label:?}");
        }
    }
}
