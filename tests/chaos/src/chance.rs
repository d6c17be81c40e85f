//! Numbers from a seed (SplitMix64): what is drawn can be drawn again.

/// A source of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A number of a range, both ends included.
    pub(crate) fn within(&mut self, (first, last): (u64, u64)) -> u64 {
        first + self.next() % (last.saturating_sub(first) + 1)
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            all.swap(at, self.below(at + 1));
        }
    }

    /// A source of its own, so that what it is used for changes nothing else.
    pub(crate) fn fork(&mut self) -> Chance {
        Chance(self.next())
    }
}

/// Draws kinds of things so that none comes again before all had their turn.
#[derive(Debug)]
pub(crate) struct Bag<T> {
    all: Vec<T>,
    left: Vec<T>,
}

impl<T: Copy> Bag<T> {
    pub(crate) fn new(all: &[T]) -> Bag<T> {
        Bag { all: all.to_vec(), left: Vec::new() }
    }

    pub(crate) fn draw(&mut self, chance: &mut Chance) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.all);
            chance.shuffle(&mut self.left);
        }
        self.left.pop().expect("a bag holds something")
    }

    /// Puts back what could not be used.
    pub(crate) fn put_back(&mut self, one: T) {
        self.left.insert(0, one);
    }
}
