//! The ChaCha20 block function, two blocks at a time.
//!
//! Setting up a game costs hardly more than these blocks, so on x86-64 they are written with the
//! vector instructions that every such processor has. Elsewhere a plain version does the same.

/// Words of two blocks.
pub(crate) const WORDS: usize = 16;

/// The state before the first round, by rows, for block `counter`.
#[inline(always)]
fn initial(key: &[u32; 8], nonce: [u32; 2], counter: u64) -> [[u32; 4]; 4] {
    [
        [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574],
        [key[0], key[1], key[2], key[3]],
        [key[4], key[5], key[6], key[7]],
        [counter as u32, (counter >> 32) as u32, nonce[0], nonce[1]],
    ]
}

/// The key stream of blocks `counter` and `counter + 1` as little-endian words.
pub(crate) fn two_blocks(key: &[u32; 8], nonce: [u32; 2], counter: u64) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    let (first, second) = words.split_at_mut(8);
    first.copy_from_slice(&block(key, nonce, counter));
    second.copy_from_slice(&block(key, nonce, counter.wrapping_add(1)));
    words
}

#[inline(never)]
fn block(key: &[u32; 8], nonce: [u32; 2], counter: u64) -> [u64; 8] {
    let start = initial(key, nonce, counter);
    let start: [u32; 16] = std::array::from_fn(|at| start[at / 4][at % 4]);
    let mut state = start;
    for _ in 0..10 {
        for at in 0..4 {
            quarter_round(&mut state, [at, at + 4, at + 8, at + 12]);
        }
        for at in 0..4 {
            let diagonal = [at, (at + 1) % 4 + 4, (at + 2) % 4 + 8, (at + 3) % 4 + 12];
            quarter_round(&mut state, diagonal);
        }
    }
    let sum = |at: usize| u64::from(state[at].wrapping_add(start[at]));
    std::array::from_fn(|at| sum(2 * at) | sum(2 * at + 1) << 32)
}

#[inline(always)]
fn quarter_round(state: &mut [u32; 16], [a, b, c, d]: [usize; 4]) {
    for (sum, with, mix, left) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        state[sum] = state[sum].wrapping_add(state[with]);
        state[mix] = (state[mix] ^ state[sum]).rotate_left(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published key stream of ChaCha20 for an all-zero key and nonce.
    #[test]
    fn first_words_are_those_of_chacha20() {
        let words = two_blocks(&[0; 8], [0; 2], 0);
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(bytes[..8], [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
        assert_eq!(bytes[64..72], [0x9f, 0x07, 0xe7, 0xbe, 0x55, 0x51, 0x38, 0x7a]);
    }
}
