//! Maps by ids that the server or its operator made up, such as names of streams. Nobody outside
//! can choose keys that collide, so they can do with a hash that is cheaper than the standard one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by ids of our own.
pub type Ids<K, V> = HashMap<K, V, IdsHasher>;

/// How they are hashed.
pub type IdsHasher = BuildHasherDefault<Quick>;

/// A multiplication for every eight bytes.
#[derive(Clone, Copy, Default)]
pub struct Quick(u64);

impl Quick {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let rest = rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.add(rest);
    }

    fn write_u8(&mut self, byte: u8) {
        self.add(u64::from(byte));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        // The map looks at the highest bits and at the lowest.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::{BuildHasher, Hash};

    #[test]
    fn keys_that_are_alike_have_hashes_that_are_not() {
        let build = BuildHasherDefault::<Quick>::default();
        let hash = |key: &dyn Fn(&mut Quick)| {
            let mut hasher = build.build_hasher();
            key(&mut hasher);
            hasher.finish()
        };
        let names = (0..10_000).map(|n| hash(&|h| ("cup", format!("r1m{n}")).hash(h)));
        let numbers = (0..10_000_u64).map(|n| hash(&|h| n.hash(h)));
        for hashes in [names.collect::<Vec<u64>>(), numbers.collect()] {
            let low: HashSet<u64> = hashes.iter().map(|hash| hash & 0xffff).collect();
            let high: HashSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
            // As random ones would: about 9,300 of 65,536 buckets, and all 128 tags.
            assert!(low.len() > 8_500, "{}", low.len());
            assert!(high.len() > 100, "{}", high.len());
        }
    }
}
