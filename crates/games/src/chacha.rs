//! The ChaCha20 block function, two blocks at a time.
//!
//! Setting up a game costs hardly more than these blocks, so on x86-64 they are written with the
//! vector instructions that every such processor has; the compiler does not find them by itself.
//! Elsewhere a plain version does the same.

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

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use plain::two_blocks;
#[cfg(target_arch = "x86_64")]
pub(crate) use vector::two_blocks;

#[cfg(target_arch = "x86_64")]
mod vector {
    use super::{WORDS, initial};
    use safe_arch::{
        add_i32_m128i, bitor_m128i, bitxor_m128i, m128i, shl_imm_u32_m128i, shr_imm_u32_m128i,
        shuffle_ai_f32_all_m128i, shuffle_ai_i16_h64all_m128i, shuffle_ai_i16_l64all_m128i,
    };

    /// The four rows of a block.
    type Rows = [m128i; 4];

    /// The key stream of blocks `counter` and `counter + 1` as little-endian words.
    #[inline]
    pub(crate) fn two_blocks(key: &[u32; 8], nonce: [u32; 2], counter: u64) -> [u64; WORDS] {
        let start = [load(key, nonce, counter), load(key, nonce, counter.wrapping_add(1))];
        let [mut one, mut two] = start;
        for _ in 0..10 {
            // Each step waits for the one before, so the blocks take turns.
            (one, two) = (mix(one), mix(two));
            (one, two) = (to_diagonals(one), to_diagonals(two));
            (one, two) = (mix(one), mix(two));
            (one, two) = (to_columns(one), to_columns(two));
        }
        let mut words = [0; WORDS];
        for row in 0..4 {
            for (block, (rows, start)) in [(one, start[0]), (two, start[1])].iter().enumerate() {
                let pair: [u64; 2] = add_i32_m128i(rows[row], start[row]).into();
                words[8 * block + 2 * row..][..2].copy_from_slice(&pair);
            }
        }
        words
    }

    #[inline(always)]
    fn load(key: &[u32; 8], nonce: [u32; 2], counter: u64) -> Rows {
        let [a, b, c, d] = initial(key, nonce, counter);
        [m128i::from(a), m128i::from(b), m128i::from(c), m128i::from(d)]
    }

    /// Four quarter rounds side by side.
    #[inline(always)]
    fn mix([mut a, mut b, mut c, mut d]: Rows) -> Rows {
        a = add_i32_m128i(a, b);
        d = swap_halves(bitxor_m128i(d, a));
        c = add_i32_m128i(c, d);
        b = rotate::<12, 20>(bitxor_m128i(b, c));
        a = add_i32_m128i(a, b);
        d = rotate::<8, 24>(bitxor_m128i(d, a));
        c = add_i32_m128i(c, d);
        b = rotate::<7, 25>(bitxor_m128i(b, c));
        [a, b, c, d]
    }

    #[inline(always)]
    fn rotate<const LEFT: i32, const RIGHT: i32>(row: m128i) -> m128i {
        bitor_m128i(shl_imm_u32_m128i::<LEFT>(row), shr_imm_u32_m128i::<RIGHT>(row))
    }

    /// Rotates every word by 16.
    #[inline(always)]
    fn swap_halves(row: m128i) -> m128i {
        let half = shuffle_ai_i16_l64all_m128i::<0b10_11_00_01>(row);
        shuffle_ai_i16_h64all_m128i::<0b10_11_00_01>(half)
    }

    // The rows move against the second one instead of it against the first: that is the one a
    // round ends with, so the next round need not wait for it to be moved.

    #[inline(always)]
    fn to_diagonals([a, b, c, d]: Rows) -> Rows {
        [left::<0b10_01_00_11>(a), b, left::<0b00_11_10_01>(c), left::<0b01_00_11_10>(d)]
    }

    #[inline(always)]
    fn to_columns([a, b, c, d]: Rows) -> Rows {
        [left::<0b00_11_10_01>(a), b, left::<0b10_01_00_11>(c), left::<0b01_00_11_10>(d)]
    }

    /// Moves the words of a row to the left, round its end.
    #[inline(always)]
    fn left<const ORDER: i32>(row: m128i) -> m128i {
        shuffle_ai_f32_all_m128i::<ORDER>(row)
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    use super::{WORDS, initial};

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

    #[test]
    fn the_plain_version_does_the_same() {
        let mut key = [0x9e37_79b9_u32; 8];
        for counter in [0, 1, 5, u64::from(u32::MAX), 7 << 32, u64::MAX] {
            key = std::array::from_fn(|at| key[at].rotate_left(at as u32 + 3) ^ counter as u32);
            let nonce = [key[1], !key[2]];
            assert_eq!(two_blocks(&key, nonce, counter), plain::two_blocks(&key, nonce, counter));
        }
    }
}
