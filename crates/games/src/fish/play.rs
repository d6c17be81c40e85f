//! The course of a game: the next seat to ask, the effect of an answer, and the removal of players.
//! Nothing here allocates.

use super::check::Step;
use super::{Fish, Phase, SEATS_MAX, Tile, penguins_each};
use crate::{Seat, SeatSet};

/// How many moves [`Recent`] can hold: more than are made from one turn of a player to its next.
const RECENT_MAX: usize = 4;

/// The latest moves, and how many of them each seat has not been shown.
///
/// A player who cannot move never moves again until another player is removed, and a removal resets
/// the count. So a player with an open question has seen all moves but those held here.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Recent {
    /// How many moves there were since the start or the latest removal.
    moves: u32,
    /// By seat: the count of moves right after its own last one; 0 before that.
    own: [u32; SEATS_MAX],
    ring: [[Tile; 2]; RECENT_MAX],
}

impl Recent {
    #[inline]
    fn record(&mut self, seat: Seat, from: Tile, to: Tile) {
        self.ring[self.moves as usize % RECENT_MAX] = [from, to];
        self.moves += 1;
        self.own[seat.index()] = self.moves;
    }

    /// The moves since the last one of a seat; without a seat, the latest move.
    pub(super) fn since(&self, seat: Option<Seat>) -> impl Iterator<Item = [Tile; 2]> {
        let heard = match seat.and_then(|seat| self.own.get(seat.index())) {
            Some(0) => self.moves,
            Some(own) => *own,
            None => self.moves.saturating_sub(1),
        };
        let oldest = self.moves.saturating_sub(RECENT_MAX as u32);
        (heard.max(oldest)..self.moves).map(|at| self.ring[at as usize % RECENT_MAX])
    }
}

impl Fish {
    /// Begins the placement of penguins with the first seat.
    pub(super) fn start_placing(&mut self) {
        self.phase = Phase::Place;
        self.ask_to_place(Seat(self.seats - 1));
    }

    /// Carries out a step that was checked.
    #[inline]
    pub(super) fn take(&mut self, seat: Seat, step: Step) {
        let flock = &mut self.flocks[seat.index()];
        match step {
            Step::Confirm => self.confirm(seat),
            Step::Place(tile) => {
                flock[usize::from(self.placed[seat.index()])] = tile;
                self.placed[seat.index()] += 1;
                self.ice.occupy(tile);
                self.ask_to_place(seat);
            }
            Step::Move { penguin, to } => {
                let from = std::mem::replace(&mut flock[penguin], to);
                self.scores[seat.index()] += u16::from(self.ice.fish(from));
                self.ice.occupy(to);
                self.recent.record(seat, from, to);
                self.ask_to_move(seat);
            }
        }
    }

    /// Takes a seat's penguins off the board; the tiles stay.
    pub(super) fn evict(&mut self, seat: Seat) {
        self.removed.insert(seat);
        for tile in std::mem::take(&mut self.flocks[seat.index()]) {
            if tile != Tile::NONE {
                self.ice.vacate(tile);
            }
        }
        self.recent = Recent::default();
    }

    /// Continues the game after the removal of a seat that owed an answer.
    pub(super) fn go_on_without(&mut self, seat: Seat) {
        if !self.waiting.contains(seat) {
            return;
        }
        match self.phase {
            Phase::PlayingAs | Phase::PlayingWith => self.confirm(seat),
            Phase::Place => self.ask_to_place(seat),
            Phase::Move => self.ask_to_move(seat),
            Phase::Over => {}
        }
    }

    /// A seat confirmed, or was removed.
    fn confirm(&mut self, seat: Seat) {
        self.waiting.remove(seat);
        if !self.waiting.is_empty() {
            return;
        }
        self.introduced = self.staying();
        if self.phase == Phase::PlayingAs && !self.introduced.is_empty() {
            self.phase = Phase::PlayingWith;
            self.waiting = self.introduced;
        } else {
            self.start_placing();
        }
    }

    fn staying(&self) -> SeatSet {
        Seat::all(self.seats.into()).filter(|seat| !self.removed.contains(*seat)).collect()
    }

    /// Asks the next player after `last` that has a penguin left to place. Those that find no free
    /// tile are removed, which may free tiles for the next.
    #[inline]
    fn ask_to_place(&mut self, mut last: Seat) {
        let quota = penguins_each(self.seats.into()) as u8;
        while let Some(seat) = self.next_seat(last, |game, seat| game.placed[seat.index()] < quota)
        {
            if self.ice.any_free() {
                self.waiting = SeatSet::one(seat);
                return;
            }
            self.evict(seat);
            last = seat;
        }
        self.phase = Phase::Move;
        self.ask_to_move(last);
    }

    /// Asks the next player after `last` that can move; if there is none, the game is over.
    #[inline]
    fn ask_to_move(&mut self, last: Seat) {
        match self.next_seat(last, Fish::can_move) {
            Some(seat) => self.waiting = SeatSet::one(seat),
            None => {
                self.phase = Phase::Over;
                self.waiting = SeatSet::EMPTY;
            }
        }
    }

    #[inline]
    fn can_move(&self, seat: Seat) -> bool {
        self.ice.any_can_leave(&self.flocks[seat.index()])
    }

    /// The first seat in playing order after `last`, itself included as the last one, that is still
    /// in and for which `wanted` holds.
    #[inline]
    fn next_seat(&self, last: Seat, wanted: impl Fn(&Fish, Seat) -> bool) -> Option<Seat> {
        let mut seat = last;
        for _ in 0..self.seats {
            seat = if seat.0 + 1 == self.seats { Seat(0) } else { Seat(seat.0 + 1) };
            if !self.removed.contains(seat) && wanted(self, seat) {
                return Some(seat);
            }
        }
        None
    }
}
