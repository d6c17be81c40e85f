//! Seats: the players of a game by number, and small sets of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One place at a game, counted from 0 in playing order.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Seat(pub u8);

impl Seat {
    /// The seat's position in a list that has one entry per seat.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// All seats of a game for `count` players, in playing order.
    pub fn all(count: usize) -> impl Iterator<Item = Seat> + Clone {
        (0..count as u8).map(Seat)
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seat {}", self.0)
    }
}

/// A set of seats. Games have at most 16.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SeatSet(u16);

impl SeatSet {
    /// The empty set.
    pub const EMPTY: SeatSet = SeatSet(0);

    /// The largest number of seats a game can have.
    pub const CAPACITY: usize = 16;

    /// The seats 0 to `count - 1`.
    #[inline]
    pub fn first_n(count: usize) -> SeatSet {
        assert!(count <= Self::CAPACITY, "a game has at most 16 seats");
        SeatSet(((1u32 << count) - 1) as u16)
    }

    /// The set of exactly one seat.
    #[inline]
    pub fn one(seat: Seat) -> SeatSet {
        SeatSet(1 << seat.0)
    }

    /// The set with seat `n` in it for every bit `n`.
    #[inline]
    pub(crate) fn from_bits(bits: u16) -> SeatSet {
        SeatSet(bits)
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many seats are in the set.
    #[inline]
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns whether `seat` is in the set.
    #[inline]
    pub fn contains(self, seat: Seat) -> bool {
        seat.index() < Self::CAPACITY && self.0 & (1 << seat.0) != 0
    }

    /// Adds `seat` to the set.
    #[inline]
    pub fn insert(&mut self, seat: Seat) {
        self.0 |= 1 << seat.0;
    }

    /// Removes `seat` from the set.
    #[inline]
    pub fn remove(&mut self, seat: Seat) {
        self.0 &= !(1 << seat.0);
    }

    /// The lowest seat in the set.
    #[inline]
    pub fn first(self) -> Option<Seat> {
        (self.0 != 0).then(|| Seat(self.0.trailing_zeros() as u8))
    }
}

impl Iterator for SeatSet {
    type Item = Seat;

    #[inline]
    fn next(&mut self) -> Option<Seat> {
        let seat = self.first()?;
        self.0 &= self.0 - 1;
        Some(seat)
    }
}

impl FromIterator<Seat> for SeatSet {
    fn from_iter<I: IntoIterator<Item = Seat>>(seats: I) -> SeatSet {
        let mut set = SeatSet::EMPTY;
        seats.into_iter().for_each(|seat| set.insert(seat));
        set
    }
}

impl fmt::Debug for SeatSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.map(|seat| seat.0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_what_was_put_in_and_not_taken_out() {
        let mut set = SeatSet::from_iter([Seat(3), Seat(15), Seat(0)]);
        assert_eq!((set.len(), set.is_empty(), set.first()), (3, false, Some(Seat(0))));
        set.insert(Seat(3));
        assert_eq!(set.collect::<Vec<_>>(), [Seat(0), Seat(3), Seat(15)]);
        set.remove(Seat(3));
        set.remove(Seat(7));
        assert_eq!(set.collect::<Vec<_>>(), [Seat(0), Seat(15)]);
        assert_eq!(format!("{set:?}"), "{0, 15}");
        assert!(Seat::all(16).all(|seat| set.contains(seat) == [0, 15].contains(&seat.0)));
        assert!(!set.contains(Seat(16)) && !set.contains(Seat(255)));
        assert_eq!(SeatSet::from_bits(0b1001), SeatSet::from_iter([Seat(0), Seat(3)]));
        assert_eq!(SeatSet::one(Seat(15)).first(), Some(Seat(15)));
        assert!(SeatSet::EMPTY.is_empty() && SeatSet::EMPTY.first().is_none());
    }

    #[test]
    fn the_first_so_many_seats_are_a_set() {
        for count in 0..=SeatSet::CAPACITY {
            let set = SeatSet::first_n(count);
            assert_eq!(set.len(), count);
            assert!(set.eq(Seat::all(count)));
        }
    }

    #[test]
    #[should_panic(expected = "at most 16 seats")]
    fn there_are_no_more_seats_than_a_set_holds() {
        let _ = SeatSet::first_n(17);
    }
}
