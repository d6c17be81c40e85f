//! The bytes of an input, consumed one after the other to make choices.

use agon_bots::SplitMix64;

/// The rest of an input. At its end every byte is 0.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    /// Returns whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((byte, rest)) => {
                self.0 = rest;
                *byte
            }
            None => 0,
        }
    }

    /// A number of two bytes.
    pub fn number(&mut self) -> usize {
        usize::from(u16::from_be_bytes([self.byte(), self.byte()]))
    }

    /// A number below `count`, or 0 if that is 0. Takes one byte where that is enough.
    pub fn below(&mut self, count: usize) -> usize {
        let number = if count <= 256 { usize::from(self.byte()) } else { self.number() };
        number % count.max(1)
    }

    /// One of these values.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// A piece whose first byte is its length.
    pub fn piece(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (piece, rest) = self.0.split_at(length);
        self.0 = rest;
        piece
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// The same bytes in pieces of 1 to `max`, as a network might deliver them; `how` selects the
/// sizes.
pub fn pieces(bytes: &[u8], how: u8, max: usize) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut random) = (bytes, SplitMix64::new(u64::from(how)));
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = match how {
            0 => 1,
            255 => max,
            _ => 1 + random.index(max),
        };
        let (piece, later) = rest.split_at(length.clamp(1, rest.len()));
        rest = later;
        Some(piece)
    })
}
