//! The ice: which tiles there are, what is under them, which of them are free, and how far a
//! penguin slides. Knows nothing of turns or players.

use super::bits::nth_bit;
use super::small::Taken;
use super::{Action, Board, DIRECTIONS, Position, Shape, Tile};

/// A set of tiles of one board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TileSet([u64; WORDS]);

/// Enough for [`super::TILES_MAX`] tiles; a power of two, so that an index can be masked.
const WORDS: usize = 8;

impl TileSet {
    #[inline]
    fn word(tile: Tile) -> usize {
        tile.index() / 64 % WORDS
    }

    /// The tiles 1 to `count`.
    fn first_n(count: usize) -> TileSet {
        let mut set = TileSet::default();
        let (whole, rest) = ((count + 1) / 64, (count + 1) % 64);
        set.0[..whole].fill(u64::MAX);
        set.0[whole] = (1 << rest) - 1;
        set.remove(Tile::NONE);
        set
    }

    /// Returns whether `tile` is in the set.
    #[inline]
    pub fn contains(&self, tile: Tile) -> bool {
        self.0[Self::word(tile)] >> (tile.0 % 64) & 1 != 0
    }

    /// Puts `tile` in.
    #[inline]
    pub fn insert(&mut self, tile: Tile) {
        self.0[Self::word(tile)] |= 1 << (tile.0 % 64);
    }

    /// Takes `tile` out.
    #[inline]
    pub fn remove(&mut self, tile: Tile) {
        self.0[Self::word(tile)] &= !(1 << (tile.0 % 64));
    }

    /// How many tiles are in the set.
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Returns whether no tile is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Tile number `n` of the set, counted from 0 in order.
    #[inline]
    fn nth(&self, mut n: usize) -> Option<Tile> {
        for (at, word) in self.0.iter().enumerate() {
            let here = word.count_ones() as usize;
            if n < here {
                return Some(Tile(at as u16 * 64 + nth_bit(*word, n) as u16));
            }
            n -= here;
        }
        None
    }

    /// The tiles in order.
    pub fn iter(&self) -> impl Iterator<Item = Tile> + use<> {
        let mut words = self.0;
        let mut at = 0;
        std::iter::from_fn(move || {
            while words[at] == 0 {
                at += 1;
                if at == WORDS {
                    at -= 1;
                    return None;
                }
            }
            let bit = words[at].trailing_zeros() as u16;
            words[at] &= words[at] - 1;
            Some(Tile(at as u16 * 64 + bit))
        })
    }
}

impl FromIterator<Tile> for TileSet {
    fn from_iter<I: IntoIterator<Item = Tile>>(tiles: I) -> TileSet {
        let mut set = TileSet::default();
        tiles.into_iter().for_each(|tile| set.insert(tile));
        set
    }
}

/// Tiles, the fish under them, and which are free: there, and without a penguin.
///
/// A tile is free until a penguin comes to stand on it and never again after that penguin slid
/// away, so the free tiles are all there is to remember; a tile that is not free is a hole unless
/// somebody stands on it.
#[derive(Clone, PartialEq, Debug)]
pub struct Ice {
    /// The board before anybody stood on it.
    board: Board,
    free: TileSet,
    /// The tiles that are not free, in the form for small boards; stored, because every slide needs
    /// it.
    taken: Taken,
}

impl Ice {
    /// The ice of a board without penguins.
    pub fn new(board: Board) -> Ice {
        let all = board.shape().tiles();
        let free = if board.tiles() == all {
            TileSet::first_n(all)
        } else {
            board.shape().all().filter(|tile| board.fish(*tile) > 0).collect()
        };
        Ice { board, free, taken: Taken::new(free.0[0]) }
    }

    /// The geometry.
    #[inline]
    pub fn shape(&self) -> &'static Shape {
        self.board.shape()
    }

    /// How many fish are, or were, under a tile.
    #[inline]
    pub fn fish(&self, tile: Tile) -> u8 {
        self.board.fish(tile)
    }

    /// Returns whether `tile` exists and has no penguin.
    #[inline]
    pub fn is_free(&self, tile: Tile) -> bool {
        self.free.contains(tile)
    }

    /// All free tiles.
    #[inline]
    pub fn free(&self) -> &TileSet {
        &self.free
    }

    /// Returns whether any tile is free.
    #[inline]
    pub fn any_free(&self) -> bool {
        match self.shape().small() {
            Some(_) => self.free.0[0] != 0,
            None => !self.free.is_empty(),
        }
    }

    /// A free tile, picked evenly by 64 random bits; `None` if there is none.
    #[inline]
    pub fn pick_free(&self, choice: u64) -> Option<Tile> {
        let count = match self.shape().small() {
            Some(_) => self.free.0[0].count_ones() as usize,
            None => self.free.len(),
        };
        self.free.nth(scale(choice, count))
    }

    /// Places a penguin on a free tile.
    #[inline]
    pub fn occupy(&mut self, tile: Tile) {
        self.free.remove(tile);
        self.taken.insert(tile);
    }

    /// A penguin is lifted off its tile, and the tile stays.
    #[inline]
    pub fn vacate(&mut self, tile: Tile) {
        self.free.insert(tile);
        self.taken.remove(tile);
    }

    /// Returns whether a penguin on `from` can move at all.
    #[inline]
    pub fn can_leave(&self, from: Tile) -> bool {
        match self.shape().small() {
            Some(small) => small.near(from) & self.free.0[0] != 0,
            None => {
                (0..DIRECTIONS).any(|direction| self.is_free(self.shape().next(from, direction)))
            }
        }
    }

    /// Returns whether a penguin on any of these tiles can move.
    #[inline]
    pub fn any_can_leave<const N: usize>(&self, from: &[Tile; N]) -> bool {
        match self.shape().small() {
            Some(small) => {
                let near = from.iter().fold(0, |near, tile| near | small.near(*tile));
                near & self.free.0[0] != 0
            }
            None => from.iter().any(|tile| self.can_leave(*tile)),
        }
    }

    /// How many neighbours of `tile` are free.
    #[inline]
    pub fn exits(&self, tile: Tile) -> usize {
        match self.shape().small() {
            Some(small) => (small.near(tile) & self.free.0[0]).count_ones() as usize,
            None => {
                let near = (0..DIRECTIONS).map(|direction| self.shape().next(tile, direction));
                near.filter(|tile| self.is_free(*tile)).count()
            }
        }
    }

    /// Returns whether a penguin on `from` can slide to `to`.
    #[inline]
    pub fn reaches(&self, from: Tile, to: Tile) -> bool {
        match self.shape().small() {
            Some(small) => small.reaches(self.free.0[0], from, to),
            None => {
                let mut reached = false;
                self.walk(from, |tile| reached |= tile == to);
                reached
            }
        }
    }

    /// How many tiles a penguin on `from` can slide to.
    #[inline]
    pub fn reach_count(&self, from: Tile) -> usize {
        match self.shape().small() {
            Some(small) => small.run_count(self.taken, from),
            None => self.walk_count(from),
        }
    }

    /// The tiles a penguin on `from` can slide to.
    #[inline]
    pub fn reach(&self, from: Tile) -> TileSet {
        match self.shape().small() {
            Some(small) => {
                let mut set = TileSet::default();
                set.0[0] = small.reach(self.taken, from);
                set
            }
            None => self.walk_set(from),
        }
    }

    /// One slide of one of several penguins, picked evenly by 64 random bits; `None` if there is
    /// none. Entries that are [`Tile::NONE`] count as no penguin.
    #[inline]
    pub fn pick_slide<const N: usize>(
        &self,
        penguins: &[Tile; N],
        choice: u64,
    ) -> Option<(Tile, Tile)> {
        match self.shape().small() {
            Some(small) => {
                let taken = self.taken;
                let (mut runs, mut counts) = ([[0; DIRECTIONS]; N], [0; N]);
                for at in 0..N {
                    runs[at] = small.runs(taken, penguins[at]);
                    counts[at] = runs[at].iter().sum();
                }
                let (at, n) = nth(counts, scale(choice, counts.iter().sum()))?;
                let (direction, steps) = nth(runs[at], n)?;
                Some((penguins[at], small.along(penguins[at], direction, steps)))
            }
            None => {
                let counts = penguins.map(|from| self.walk_count(from));
                let (at, n) = nth(counts, scale(choice, counts.iter().sum()))?;
                let (mut left, mut to) = (n as isize, Tile::NONE);
                self.walk(penguins[at], |tile| {
                    to = if left == 0 { tile } else { to };
                    left -= 1;
                });
                Some((penguins[at], to))
            }
        }
    }

    /// Shows every tile a penguin on `from` can slide to, direction by direction.
    #[inline]
    fn walk(&self, from: Tile, mut show: impl FnMut(Tile)) {
        for direction in 0..DIRECTIONS {
            let mut at = self.shape().next(from, direction);
            while self.is_free(at) {
                show(at);
                at = self.shape().next(at, direction);
            }
        }
    }

    fn walk_set(&self, from: Tile) -> TileSet {
        let mut set = TileSet::default();
        self.walk(from, |tile| set.insert(tile));
        set
    }

    fn walk_count(&self, from: Tile) -> usize {
        let mut count = 0;
        self.walk(from, |_| count += 1);
        count
    }

    /// The current board, with penguins on the given tiles.
    pub fn board(&self, occupied: impl IntoIterator<Item = Tile>) -> Board {
        let mut there = self.free;
        occupied.into_iter().for_each(|tile| there.insert(tile));
        let mut board = self.board.clone();
        self.shape().all().filter(|tile| !there.contains(*tile)).for_each(|tile| board.cut(tile));
        board
    }

    /// The fish of every tile in order, with penguins on the given tiles; 0 for a hole.
    pub(super) fn fish_by_tile(
        &self,
        occupied: impl IntoIterator<Item = Tile>,
    ) -> impl Iterator<Item = u8> {
        let mut there = self.free;
        occupied.into_iter().for_each(|tile| there.insert(tile));
        let fish = move |tile| if there.contains(tile) { self.fish(tile) } else { 0 };
        self.shape().all().map(fish)
    }

    /// The tile at a position, if that is on the board.
    #[inline]
    pub fn tile(&self, position: Position) -> Option<Tile> {
        self.shape().tile(position)
    }

    /// An action by positions.
    #[inline]
    pub fn action(&self, from: Tile, to: Tile) -> Action {
        Action { from: self.shape().position(from), to: self.shape().position(to) }
    }
}

/// `choice` scaled from all 64-bit numbers down to the numbers below `count`.
#[inline]
fn scale(choice: u64, count: usize) -> usize {
    ((u128::from(choice) * count as u128) >> 64) as usize
}

/// Thing number `n` of several lots of things: which lot it is in, and its number there; `None` if
/// there are no more than `n`. Has no branch on what is random.
#[inline]
fn nth<const N: usize>(counts: [usize; N], n: usize) -> Option<(usize, usize)> {
    let (mut at, mut before, mut end) = (0, 0, 0);
    for count in counts {
        end += count;
        at += usize::from(n >= end);
        before = if n >= end { end } else { before };
    }
    (at < N).then_some((at, n - before))
}

#[cfg(test)]
mod tests;
