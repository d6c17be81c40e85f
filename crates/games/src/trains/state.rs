//! The state of a game in progress, and its set-up.
//!
//! Everything a turn changes has a fixed size, except for the set of free connections, which
//! depends on the map, and the history. Connections, cities and destinations are indices into the
//! map's lists.

use super::config::{TOO_SMALL, too_long};
use super::deck::{self, DECK_LEN, Deck, Kept, Offers};
use super::talk::{HAND_LEN, KEEP_LEN, OFFER_LEN, RAILS};
use super::{Color, Config, Map, Pair};
use crate::{Seat, SeatSet, Seed, SetupError};
use std::sync::Arc;

/// The most players.
pub(super) const SEATS_MAX: usize = 8;

/// The most connections 45 rails pay for.
pub(super) const HELD_MAX: usize = RAILS as usize / 3;

/// The question to the awaited seat, which is also the phase of the game; phases only advance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Setup,
    Pick,
    Play,
    /// Part of a turn: the seat confirms the cards it requested.
    More,
    Over,
}

/// The possessions of one player.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Possessions {
    /// Cards by colour.
    pub(super) hand: [u8; Color::ALL.len()],
    pub(super) rails: u8,
    pub(super) held_len: u8,
    pub(super) held: [u16; HELD_MAX],
    pub(super) kept: Option<[u32; KEEP_LEN]>,
}

impl Possessions {
    /// The connections it holds, in the order it acquired them in.
    #[inline]
    pub(super) fn held(&self) -> &[u16] {
        &self.held[..usize::from(self.held_len)]
    }

    #[inline]
    pub(super) fn hold(&mut self, connection: u16) {
        self.held[usize::from(self.held_len)] = connection;
        self.held_len += 1;
    }
}

/// One public action.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    Picked,
    Drew(u8),
    Acquired(u16),
    Removed,
}

/// The draw of the latest step.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Drawn {
    /// The seat that drew.
    pub(super) seat: u8,
    /// How many cards, the latest of the deck.
    pub(super) cards: u8,
    /// True if destinations were offered.
    pub(super) offered: bool,
}

/// A game of Trains.
#[derive(Clone, PartialEq, Debug)]
pub struct Trains {
    pub(super) map: Arc<Map>,
    pub(super) confirm: bool,
    pub(super) stage: Stage,
    /// The awaited seat, until the game is over.
    pub(super) turn: Seat,
    pub(super) seats: u8,
    pub(super) remaining: SeatSet,
    pub(super) places: [Possessions; SEATS_MAX],
    pub(super) deck: Deck,
    /// The free connections, one bit each.
    pub(super) free: Box<[u64]>,
    /// The seats that have one more turn, once a player is short of rails.
    pub(super) last_turns: Option<SeatSet>,
    /// How many turns in a row changed nothing.
    pub(super) idle: u8,
    /// The destinations the awaited seat picks from.
    pub(super) offer: [u32; OFFER_LEN],
    /// The source of offers; `None` if they are in a fixed order, and after the set-up.
    offers: Option<Box<Offers>>,
    pub(super) drawn: Drawn,
    pub(super) history: Vec<(Seat, Deed)>,
}

impl Trains {
    pub(super) fn set_up(config: &Config, seats: usize, seed: &Seed) -> Result<Trains, SetupError> {
        if !(2..=SEATS_MAX).contains(&seats) {
            return Err(SetupError::Seats { game: "trains", min: 2, max: SEATS_MAX, given: seats });
        }
        let map = Arc::clone(&config.map);
        if !map.serves(seats) {
            return Err(SetupError::TooSmall(TOO_SMALL.into()));
        }
        let (deck, offers) = match &config.deck {
            Some(cards) => (fixed_deck(cards, seats)?, None),
            None => (Deck::random(seed), Some(Box::new(Offers::new(seed)))),
        };
        let mut game = Trains {
            free: all_free(&map),
            map,
            confirm: config.confirm,
            stage: Stage::Setup,
            turn: Seat(0),
            seats: seats as u8,
            remaining: SeatSet::first_n(seats),
            places: [Possessions::default(); SEATS_MAX],
            deck,
            last_turns: None,
            idle: 0,
            offer: [0; OFFER_LEN],
            offers,
            drawn: Drawn::default(),
            history: Vec::with_capacity(HISTORY_USUAL),
        };
        game.set_up_from(0);
        Ok(game)
    }

    /// Sets up the first remaining player from `first` on; if there is none, play begins.
    pub(super) fn set_up_from(&mut self, first: u8) {
        match self.remaining.into_iter().find(|seat| seat.0 >= first) {
            Some(seat) => self.deal(seat),
            None => {
                self.offers = None;
                match self.remaining.first() {
                    Some(seat) => (self.stage, self.turn) = (Stage::Play, seat),
                    None => self.stage = Stage::Over,
                }
            }
        }
    }

    fn deal(&mut self, seat: Seat) {
        self.turn = seat;
        self.place_mut(seat).rails = RAILS;
        self.draw(seat, HAND_LEN as u8);
        if self.confirm {
            self.stage = Stage::Setup;
        } else {
            self.offer_destinations();
        }
    }

    /// Offers five destinations to the seat whose turn it is.
    pub(super) fn offer_destinations(&mut self) {
        let mut kept = Kept::default();
        self.places.iter().filter_map(|place| place.kept).flatten().for_each(|at| kept.insert(at));
        self.offer = match &mut self.offers {
            Some(offers) => offers.random(self.turn, self.map.destination_count(), &kept),
            None => deck::in_order(&kept),
        };
        self.stage = Stage::Pick;
        self.drawn.seat = self.turn.0;
        self.drawn.offered = true;
    }

    /// Gives `count` cards to `seat`.
    #[inline]
    pub(super) fn draw(&mut self, seat: Seat, count: u8) {
        for _ in 0..count {
            let color = self.deck.draw();
            self.place_mut(seat).hand[color.index()] += 1;
        }
        self.drawn = Drawn { seat: seat.0, cards: count, offered: false };
    }

    #[inline]
    pub(super) fn place(&self, seat: Seat) -> &Possessions {
        &self.places[seat.index()]
    }

    #[inline]
    pub(super) fn place_mut(&mut self, seat: Seat) -> &mut Possessions {
        &mut self.places[seat.index()]
    }

    /// The offered destinations by name.
    pub(super) fn offered(&self) -> [Pair; OFFER_LEN] {
        self.offer.map(|at| self.destination(at))
    }

    /// A destination by name.
    pub(super) fn destination(&self, at: u32) -> Pair {
        self.map.pair(self.map.destinations()[at as usize])
    }

    /// Returns whether a connection is free.
    #[inline]
    pub(super) fn is_free(&self, connection: usize) -> bool {
        self.free[connection / 64] & (1 << (connection % 64)) != 0
    }

    /// By colour, the set of connections that `seat` could pay for if they were free.
    #[inline]
    pub(super) fn reach(&self, seat: Seat) -> [&[u64]; Color::ALL.len()] {
        let (place, network) = (self.place(seat), self.map.network());
        let of = |color: Color| network.within(color, place.hand[color.index()].min(place.rails));
        [of(Color::Blue), of(Color::Green), of(Color::Red), of(Color::White)]
    }

    /// The free connections in reach, among those of one word of the set.
    #[inline]
    pub(super) fn payable(&self, reach: &[&[u64]; Color::ALL.len()], word: usize) -> u64 {
        (reach[0][word] | reach[1][word] | reach[2][word] | reach[3][word]) & self.free[word]
    }
}

/// Initial capacity for the history of most games, so that turns do not allocate.
const HISTORY_USUAL: usize = 256;

fn all_free(map: &Map) -> Box<[u64]> {
    let count = map.connections().len();
    let bits = |word: usize| match count - 64 * word {
        0..64 => (1 << (count - 64 * word)) - 1,
        _ => u64::MAX,
    };
    (0..map.network().words).map(bits).collect()
}

fn fixed_deck(cards: &[Color], seats: usize) -> Result<Deck, SetupError> {
    if cards.len() > DECK_LEN {
        return Err(SetupError::Config(too_long(cards.len())));
    }
    if cards.len() < HAND_LEN * seats {
        let (given, needed) = (cards.len(), HAND_LEN * seats);
        let problem = format!("a deck of {given} cards; {seats} players begin with {needed}");
        return Err(SetupError::Config(problem));
    }
    Ok(Deck::fixed(cards))
}
