//! A position as the deep search changes it: free tiles, penguins, and the player to act.
//!
//! Scores are not part of it. Fish that are already caught do not change which future is best, so
//! the search values futures only, and positions that differ in scores share their value.

use super::field::{Bits, Field, PLAYERS_MAX};
use agon_games::fish::State;

/// The most penguins of one player.
pub(super) const FLOCK_MAX: usize = 5;

/// One act: a placement if `from` is 0, else a slide.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Act {
    pub(super) from: u16,
    pub(super) to: u16,
}

/// Where the penguins of one player stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Flock {
    tiles: [u16; FLOCK_MAX],
    len: u8,
}

impl Flock {
    #[inline]
    pub(super) fn tiles(&self) -> &[u16] {
        &self.tiles[..usize::from(self.len)]
    }

    #[inline]
    fn put(&mut self, tile: u16) {
        self.tiles[usize::from(self.len)] = tile;
        self.len += 1;
    }

    #[inline]
    fn change(&mut self, from: u16, to: u16) {
        for tile in &mut self.tiles {
            *tile = if *tile == from { to } else { *tile };
        }
    }
}

/// A position. The player at index 0 is the one for whom the search decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position<const W: usize> {
    pub(super) free: Bits<W>,
    pub(super) flocks: [Flock; PLAYERS_MAX],
    pub(super) players: u8,
    pub(super) turn: u8,
    /// Penguins that each player still places after this; the game is in its placement phase while
    /// the player to act has one.
    pub(super) unplaced: [u8; PLAYERS_MAX],
    pub(super) key: u64,
}

impl<const W: usize> Position<W> {
    /// The position of `state`, whose first player acts. Each player places `quota` penguins in
    /// all; 0 if the placements are over.
    pub(super) fn new(field: &Field<W>, state: &State, quota: usize) -> Position<W> {
        let (ice, flocks) = state.on_ice();
        let mut free = Bits::EMPTY;
        ice.free().iter().for_each(|tile| free.insert(tile.index()));
        let mut position = Position {
            free,
            flocks: [Flock::default(); PLAYERS_MAX],
            players: flocks.len().min(PLAYERS_MAX) as u8,
            turn: 0,
            unplaced: [0; PLAYERS_MAX],
            key: field.turn_keys[0],
        };
        for (player, tiles) in flocks.iter().enumerate().take(PLAYERS_MAX) {
            for tile in tiles.iter().take(FLOCK_MAX) {
                position.flocks[player].put(tile.index() as u16);
                position.key ^= field.penguin_keys[player][tile.index()];
            }
            let placed = position.flocks[player].len;
            position.unplaced[player] = (quota.min(FLOCK_MAX) as u8).saturating_sub(placed);
        }
        free.iter().for_each(|tile| position.key ^= field.free_keys[tile]);
        position
    }

    /// Returns whether the player to act places a penguin.
    #[inline]
    pub(super) fn places(&self) -> bool {
        self.unplaced[usize::from(self.turn)] > 0
    }

    /// Returns whether a player has a penguin that can move.
    #[inline]
    pub(super) fn can_move(&self, field: &Field<W>, player: usize) -> bool {
        let tiles = self.flocks[player].tiles().iter();
        tiles.into_iter().any(|tile| !field.near[usize::from(*tile)].and(&self.free).is_empty())
    }

    /// The slides of the player to act, penguin by penguin.
    #[inline]
    pub(super) fn slides(&self, field: &Field<W>, mut show: impl FnMut(Act)) {
        for from in self.flocks[usize::from(self.turn)].tiles() {
            for direction in 0..field.next[usize::from(*from)].len() {
                let mut to = field.next[usize::from(*from)][direction];
                while self.free.contains(usize::from(to)) {
                    show(Act { from: *from, to });
                    to = field.next[usize::from(to)][direction];
                }
            }
        }
    }

    /// The position after an act of the player to act, with the next player in turn.
    #[inline]
    #[must_use]
    pub(super) fn after(&self, field: &Field<W>, act: Act) -> Position<W> {
        let mut next = *self;
        let player = usize::from(self.turn);
        let to = usize::from(act.to);
        next.free.remove(to);
        next.key ^= field.free_keys[to] ^ field.penguin_keys[player][to];
        if act.from == 0 {
            next.flocks[player].put(act.to);
            next.unplaced[player] -= 1;
        } else {
            next.flocks[player].change(act.from, act.to);
            next.key ^= field.penguin_keys[player][usize::from(act.from)];
        }
        next.pass(field);
        next
    }

    /// Gives the turn to the next player.
    #[inline]
    pub(super) fn pass(&mut self, field: &Field<W>) {
        let next = if self.turn + 1 >= self.players { 0 } else { self.turn + 1 };
        self.key ^= field.turn_keys[usize::from(self.turn)] ^ field.turn_keys[usize::from(next)];
        self.turn = next;
    }

    /// Gives the turn to the first player, this one included, who can act. Returns whether there is
    /// one. A player who finds no free tile to place on is passed over like one who cannot move.
    #[inline]
    pub(super) fn skip_stuck(&mut self, field: &Field<W>) -> bool {
        let placing = self.unplaced != [0; PLAYERS_MAX] && !self.free.is_empty();
        for _ in 0..self.players {
            let player = usize::from(self.turn);
            let acts =
                if placing { self.unplaced[player] > 0 } else { self.can_move(field, player) };
            if acts {
                return true;
            }
            self.pass(field);
        }
        false
    }
}
