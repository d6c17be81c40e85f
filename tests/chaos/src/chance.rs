//! Random choices from a seed: kinds of disturbances in turn, and numbers of a range.

use agon_bots::SplitMix64;

/// A number of a range, both ends included.
pub(crate) fn within(chance: &mut SplitMix64, (first, last): (u64, u64)) -> u64 {
    chance.between(first, last)
}

/// Draws items so that none repeats before all had their turn.
#[derive(Debug)]
pub(crate) struct Bag<T> {
    all: Vec<T>,
    left: Vec<T>,
}

impl<T: Copy> Bag<T> {
    pub(crate) fn new(all: &[T]) -> Bag<T> {
        Bag { all: all.to_vec(), left: Vec::new() }
    }

    pub(crate) fn draw(&mut self, chance: &mut SplitMix64) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.all);
            chance.shuffle(&mut self.left);
        }
        self.left.pop().expect("a bag holds something")
    }

    /// Puts back an item that could not be used.
    pub(crate) fn put_back(&mut self, one: T) {
        self.left.insert(0, one);
    }
}
