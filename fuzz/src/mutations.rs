//! Mutations of inputs, from reproducible random numbers.

use agon_bots::SplitMix64;

/// Bytes with a meaning to one of the decoders.
const TOKENS: &[u8] = b"[]{}\",:\\u-+.eE0129tfnax= \n\r\t\x00\x1f\x7f\x80\x83\xc3\xa9\xff";

/// The longest input.
pub(crate) const BYTES_MAX: usize = 8 * 1024;

/// One of the inputs with a few bytes changed, inserted, removed, doubled or cut off, or with a
/// piece of another.
pub fn mutated(random: &mut SplitMix64, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = corpus[random.index(corpus.len())].clone();
    for _ in 0..=random.index(5) {
        let at = random.index(bytes.len());
        let (byte, token) = (random.next_word() as u8, TOKENS[random.index(TOKENS.len())]);
        match random.index(10) {
            _ if bytes.is_empty() => bytes.push(byte),
            0 => bytes[at] = byte,
            1 => bytes[at] ^= 1 << (byte % 8),
            2 => bytes[at] = token,
            3 => bytes.insert(at, token),
            4 => drop(bytes.remove(at)),
            5 => bytes.truncate(at),
            6 => bytes.extend_from_within(at..),
            7 => {
                let to = (at + 1 + random.index(16)).min(bytes.len());
                bytes.drain(at..to);
            }
            8 => {
                let other = &corpus[random.index(corpus.len())];
                let from = random.index(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let many = random.index(64);
                bytes.splice(at..at, std::iter::repeat_n(token, many));
            }
        }
        bytes.truncate(BYTES_MAX);
    }
    bytes
}
