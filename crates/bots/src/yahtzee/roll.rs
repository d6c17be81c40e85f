//! Five dice on the table, and which of them a player keeps.

use std::fmt;

/// Five dice, in the order they lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Roll([u8; 5]);

impl Roll {
    /// The roll with these faces; `None` unless all are 1 to 6.
    pub fn new(faces: [u8; 5]) -> Option<Roll> {
        faces.iter().all(|face| (1..=6).contains(face)).then_some(Roll(faces))
    }

    /// The faces.
    pub fn faces(self) -> [u8; 5] {
        self.0
    }

    /// How many dice show 1, 2 … 6.
    pub fn counts(self) -> [u8; 6] {
        let mut counts = [0; 6];
        self.0.iter().for_each(|face| counts[usize::from(*face) - 1] += 1);
        counts
    }
}

/// The dice a player keeps, by position.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Keepers(u8);

impl Keepers {
    /// The choice with these flags, one per die.
    pub fn new(flags: [bool; 5]) -> Keepers {
        Keepers((0..5).map(|position| u8::from(flags[position]) << position).sum())
    }

    /// Every choice, from none to all five.
    pub fn every() -> impl Iterator<Item = Keepers> {
        (0..32).map(Keepers)
    }

    /// Returns whether the die at `position` (from 0) is kept.
    pub fn keeps(self, position: usize) -> bool {
        self.0 >> position & 1 != 0
    }

    /// How many dice are kept.
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// One flag per die, true where it is kept.
    pub fn flags(self) -> [bool; 5] {
        std::array::from_fn(|position| self.keeps(position))
    }

    /// The faces kept of `roll`, in their order.
    pub fn faces(self, roll: Roll) -> impl Iterator<Item = u8> {
        (0..5).filter(move |position| self.keeps(*position)).map(move |at| roll.0[at])
    }
}

impl fmt::Debug for Keepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Keepers({:?})", self.flags().map(u8::from))
    }
}
