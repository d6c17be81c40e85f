//! Finding a set bit by its rank, for picking a random tile out of a set.
//!
//! The obvious loop ends after a random number of rounds, which processors guess wrong; this has no
//! branch at all.

/// A one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// By byte and rank: the index of that set bit of the byte.
static IN_BYTE: [[u8; 8]; 256] = in_byte();

const fn in_byte() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut rank) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][rank] = bit;
                rank += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// The index of set bit number `n` of `word`, counted from 0 at the lowest; `word` must have more
/// than `n` bits set.
#[inline]
pub(super) fn nth_bit(word: u64, n: usize) -> u32 {
    let pairs = word - (word >> 1 & (ONES * 0x55));
    let fours = (pairs & (ONES * 0x33)) + (pairs >> 2 & (ONES * 0x33));
    // In each byte, how many bits are set in it and all lower ones: at most 64.
    let up_to = ((fours + (fours >> 4)) & (ONES * 0x0f)).wrapping_mul(ONES);
    // The high bit of each byte says whether the wanted bit lies above it. A guard bit in each
    // byte keeps the subtractions apart.
    let above = ((n as u64 * ONES) | (ONES * 0x80)).wrapping_sub(up_to) & (ONES * 0x80);
    let shift = 8 * above.count_ones() % 64;
    let rank = n as u64 - ((up_to << 8) >> shift & 0xff);
    let byte = word >> shift & 0xff;
    shift + u32::from(IN_BYTE[byte as usize][rank as usize % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_bit_is_found_by_its_rank() {
        let mut word = 1u64;
        for step in 0..2000 {
            let mut rest = if step < 64 { u64::MAX >> step } else { word };
            let all = rest;
            for n in 0..all.count_ones() {
                assert_eq!(nth_bit(all, n as usize), rest.trailing_zeros(), "{all:x} {n}");
                rest &= rest - 1;
            }
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) ^ step;
        }
    }
}
