//! The unchanging part of a position: the tiles, the fish under them, and their neighbours as bit
//! sets. Searches copy and change positions millions of times, so they keep only what changes.

use crate::SplitMix64;
use agon_games::fish::{Board, DIRECTIONS, Tile};

/// The most players of a game.
pub(super) const PLAYERS_MAX: usize = 4;

/// A set of tiles in `W` words. A board of up to 63 tiles needs one word, the largest needs seven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bits<const W: usize>([u64; W]);

impl<const W: usize> Bits<W> {
    pub(super) const EMPTY: Bits<W> = Bits([0; W]);

    #[inline]
    pub(super) fn contains(&self, tile: usize) -> bool {
        self.0[tile / 64] >> (tile % 64) & 1 != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, tile: usize) {
        self.0[tile / 64] |= 1 << (tile % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, tile: usize) {
        self.0[tile / 64] &= !(1 << (tile % 64));
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    #[inline]
    pub(super) fn and(&self, other: &Bits<W>) -> Bits<W> {
        Bits(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    #[inline]
    pub(super) fn or(&self, other: &Bits<W>) -> Bits<W> {
        Bits(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    #[inline]
    pub(super) fn without(&self, other: &Bits<W>) -> Bits<W> {
        Bits(std::array::from_fn(|at| self.0[at] & !other.0[at]))
    }

    /// The tiles in order.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + use<W> {
        let words = self.0;
        (0..W).flat_map(move |at| {
            let mut word = words[at];
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    at * 64 + bit
                })
            })
        })
    }
}

/// The tiles of one board. Tile 0 is off the board: it is never free and has no neighbours.
pub(super) struct Field<const W: usize> {
    pub(super) next: Vec<[u16; DIRECTIONS]>,
    pub(super) near: Vec<Bits<W>>,
    pub(super) fish: Vec<i32>,
    /// Random words whose exclusive or identifies a position: one for each free tile, and one for
    /// each player and the tile of their penguin.
    pub(super) free_keys: Vec<u64>,
    pub(super) penguin_keys: [Vec<u64>; PLAYERS_MAX],
    pub(super) turn_keys: [u64; PLAYERS_MAX],
}

impl<const W: usize> Field<W> {
    /// Returns whether the tiles of the board fit into `W` words.
    pub(super) fn fits(board: &Board) -> bool {
        board.shape().tiles() < W * 64
    }

    pub(super) fn new(board: &Board) -> Field<W> {
        let shape = board.shape();
        let tiles: Vec<Tile> = std::iter::once(Tile::NONE).chain(shape.all()).collect();
        let next: Vec<[u16; DIRECTIONS]> = tiles
            .iter()
            .map(|tile| std::array::from_fn(|way| shape.next(*tile, way).index() as u16))
            .collect();
        let near = next.iter().map(|around| {
            let mut set = Bits::EMPTY;
            around.iter().filter(|tile| **tile != 0).for_each(|tile| set.insert((*tile).into()));
            set
        });
        let mut random = SplitMix64::new(0x666973685f6b6579);
        let mut keys = || tiles.iter().map(|_| random.next_word()).collect::<Vec<u64>>();
        Field {
            near: near.collect(),
            fish: tiles.iter().map(|tile| board.fish(*tile).into()).collect(),
            free_keys: keys(),
            penguin_keys: std::array::from_fn(|_| keys()),
            turn_keys: std::array::from_fn(|_| random.next_word()),
            next,
        }
    }

    /// The free tiles that can be reached step by step from any tile of `from`.
    #[inline]
    pub(super) fn flood(&self, from: &Bits<W>, free: &Bits<W>) -> Bits<W> {
        let mut reached = from.and(free);
        let mut fresh = reached;
        while !fresh.is_empty() {
            fresh = self.around(&fresh).and(free).without(&reached);
            reached = reached.or(&fresh);
        }
        reached
    }

    /// The neighbours of a set of tiles.
    #[inline]
    pub(super) fn around(&self, tiles: &Bits<W>) -> Bits<W> {
        tiles.iter().fold(Bits::EMPTY, |set, tile| set.or(&self.near[tile]))
    }

    /// The fish under a set of tiles.
    #[inline]
    pub(super) fn fish_of(&self, tiles: &Bits<W>) -> i32 {
        tiles.iter().map(|tile| self.fish[tile]).sum()
    }
}
