//! The luck of a game: the deck and the destinations that are offered.
//!
//! Exactly, so that it can be computed again from the seed (see [`Luck`]):
//!
//! - The deck has 250 cards, each of the four colours as likely as any other, whatever the cards
//!   before it. Card `i` is the two-bit number at bit `2 * (i % 32)` of word `i / 32`, attempt 0,
//!   of the stream `deck`: 0 blue, 1 green, 2 red, 3 white.
//! - The five destinations offered to seat `s` are drawn one after the other. Number the
//!   destinations that nobody keeps and that are not among the five yet from 0, in order; the
//!   `j`-th draw takes the one with the number `below(count)` at index `5 * s + j` of the stream
//!   `dests`. They are shown in order.
//!
//! With a fixed deck there is no luck: the first five destinations that nobody keeps are offered.

use super::Color;
use super::talk::{KEEP_LEN, OFFER_LEN};
use crate::{Luck, Seat, Seed};

/// How many cards a deck has.
pub const DECK_LEN: usize = 250;

const CARDS_PER_WORD: usize = 32;
const WORDS: usize = DECK_LEN.div_ceil(CARDS_PER_WORD);

/// The most destinations that can be kept: two by each of eight players.
const KEPT_MAX: usize = KEEP_LEN * 8;

/// The cards in the order they are drawn in, those already drawn included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Deck {
    /// Two bits a card.
    cards: [u64; WORDS],
    len: u8,
    next: u8,
}

impl Deck {
    pub(super) fn random(seed: &Seed) -> Deck {
        let mut luck = Luck::new(seed, "deck");
        let mut cards: [u64; WORDS] = std::array::from_fn(|index| luck.word(index as u32, 0));
        // Equal decks are equal values: no bits beyond the last card.
        cards[WORDS - 1] &= (1 << (2 * (DECK_LEN % CARDS_PER_WORD))) - 1;
        Deck { cards, len: DECK_LEN as u8, next: 0 }
    }

    /// # Panics
    /// If there are more than 250 cards.
    pub(super) fn fixed(given: &[Color]) -> Deck {
        assert!(given.len() <= DECK_LEN, "a deck of {} cards", given.len());
        let mut cards = [0; WORDS];
        for (place, color) in given.iter().enumerate() {
            let bits = (color.index() as u64) << (2 * (place % CARDS_PER_WORD));
            cards[place / CARDS_PER_WORD] |= bits;
        }
        Deck { cards, len: given.len() as u8, next: 0 }
    }

    /// How many cards are left to draw.
    #[inline]
    pub(super) fn left(&self) -> u8 {
        self.len - self.next
    }

    #[inline]
    fn card(&self, place: usize) -> Color {
        let word = self.cards[place / CARDS_PER_WORD];
        Color::ALL[(word >> (2 * (place % CARDS_PER_WORD))) as usize & 3]
    }

    /// Draws a card.
    ///
    /// # Panics
    /// If none is left.
    #[inline]
    pub(super) fn draw(&mut self) -> Color {
        assert!(self.next < self.len, "the deck is empty");
        self.next += 1;
        self.card(usize::from(self.next) - 1)
    }

    /// The latest `N` cards drawn, in the order they were drawn in.
    pub(super) fn latest<const N: usize>(&self) -> [Color; N] {
        let start = usize::from(self.next) - N;
        std::array::from_fn(|at| self.card(start + at))
    }

    /// The cards still to be drawn, in order.
    pub(super) fn rest(&self) -> Vec<Color> {
        (usize::from(self.next)..usize::from(self.len)).map(|place| self.card(place)).collect()
    }
}

/// The source of the offers of destinations.
#[derive(Clone, Debug)]
pub(super) struct Offers {
    seed: Seed,
    luck: Luck,
}

impl Offers {
    pub(super) fn new(seed: &Seed) -> Offers {
        Offers { seed: seed.clone(), luck: Luck::new(seed, "dests") }
    }

    /// Five of the destinations `0..count` except those in `kept`, in order.
    pub(super) fn random(&mut self, seat: Seat, count: usize, kept: &Kept) -> [u32; OFFER_LEN] {
        let mut gone = kept.clone();
        let mut offer = [0; OFFER_LEN];
        for (draw, place) in offer.iter_mut().enumerate() {
            let index = (OFFER_LEN * seat.index() + draw) as u32;
            let number = self.luck.below(index, (count - gone.len) as u64) as u32;
            *place = gone.skip(number);
            gone.insert(*place);
        }
        offer.sort_unstable();
        offer
    }
}

/// The luck is a function of the seed.
impl PartialEq for Offers {
    fn eq(&self, other: &Offers) -> bool {
        self.seed == other.seed
    }
}

/// The first five destinations except those in `kept`.
pub(super) fn in_order(kept: &Kept) -> [u32; OFFER_LEN] {
    std::array::from_fn(|number| kept.skip(number as u32))
}

/// A few destinations that are out of the pool, in order.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Kept {
    places: [u32; KEPT_MAX + OFFER_LEN],
    len: usize,
}

impl Kept {
    pub(super) fn insert(&mut self, place: u32) {
        let at = self.places[..self.len].partition_point(|other| *other < place);
        self.places.copy_within(at..self.len, at + 1);
        self.places[at] = place;
        self.len += 1;
    }

    /// The destination with this number, counting only those not in the set.
    fn skip(&self, number: u32) -> u32 {
        let mut place = number;
        for gone in &self.places[..self.len] {
            place += u32::from(*gone <= place);
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fixed_deck_is_drawn_from_the_front() {
        let cards: Vec<Color> = (0..DECK_LEN).map(|at| Color::ALL[at * at % 7 % 4]).collect();
        let mut deck = Deck::fixed(&cards);
        assert_eq!(deck.rest(), cards);
        assert_eq!((0..40).map(|_| deck.draw()).collect::<Vec<_>>(), cards[..40]);
        assert_eq!(deck.latest::<4>()[..], cards[36..40]);
        assert_eq!(deck.rest(), cards[40..]);
        assert_eq!(deck.left(), 210);
    }

    #[test]
    fn random_decks_are_the_bits_of_the_stream() {
        let seed = Seed::from_number(7);
        let deck = Deck::random(&seed);
        let mut luck = Luck::new(&seed, "deck");
        for (place, card) in deck.rest().into_iter().enumerate() {
            let word = luck.word(place as u32 / 32, 0);
            assert_eq!(card.index() as u64, word >> (2 * (place % 32)) & 3);
        }
        assert_eq!(Deck::fixed(&deck.rest()), deck);
    }

    #[test]
    fn offers_are_what_the_module_says() {
        let seed = Seed::from_number(11);
        let mut kept = Kept::default();
        [3, 0, 7, 19].into_iter().for_each(|place| kept.insert(place));
        assert_eq!(in_order(&kept), [1, 2, 4, 5, 6]);
        for seat in Seat::all(8) {
            let mut pool: Vec<u32> = (0..20).filter(|at| ![3, 0, 7, 19].contains(at)).collect();
            let mut luck = Luck::new(&seed, "dests");
            let mut expected: Vec<u32> = (0..5)
                .map(|j| {
                    pool.remove(luck.below(5 * u32::from(seat.0) + j, 16 - u64::from(j)) as usize)
                })
                .collect();
            expected.sort_unstable();
            assert_eq!(Offers::new(&seed).random(seat, 20, &kept)[..], expected);
        }
    }
}
