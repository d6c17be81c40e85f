//! Numbers that look random and are the same every time, and inputs changed by them.

/// SplitMix64: plain, and the same everywhere.
pub(crate) fn mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Bytes that mean something to one of the decoders.
const TOKENS: &[u8] = b"[]{}\",:\\u-+.eE0129tfnax= \n\r\t\x00\x1f\x7f\x80\x83\xc3\xa9\xff";

/// An input is never longer than this.
pub(crate) const BYTES_MAX: usize = 8 * 1024;

/// A source of choices.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u64 {
        mix(&mut self.0)
    }

    /// A number below `count`, or 0 if that is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.number() % count.max(1) as u64) as usize
    }

    /// One of the inputs with a few bytes changed, put in, taken out, doubled or cut off, or with a
    /// piece of another.
    pub fn mutated(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(5) {
            let at = self.below(bytes.len());
            let (byte, token) = (self.number() as u8, TOKENS[self.below(TOKENS.len())]);
            match self.below(10) {
                _ if bytes.is_empty() => bytes.push(byte),
                0 => bytes[at] = byte,
                1 => bytes[at] ^= 1 << (byte % 8),
                2 => bytes[at] = token,
                3 => bytes.insert(at, token),
                4 => drop(bytes.remove(at)),
                5 => bytes.truncate(at),
                6 => bytes.extend_from_within(at..),
                7 => {
                    let to = (at + 1 + self.below(16)).min(bytes.len());
                    bytes.drain(at..to);
                }
                8 => {
                    let other = &corpus[self.below(corpus.len())];
                    let from = self.below(other.len());
                    bytes.splice(at..at, other[from..].iter().copied());
                }
                _ => {
                    let many = self.below(64);
                    bytes.splice(at..at, std::iter::repeat_n(token, many));
                }
            }
            bytes.truncate(BYTES_MAX);
        }
        bytes
    }
}
