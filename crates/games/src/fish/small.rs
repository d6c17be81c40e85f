//! Sliding on boards small enough for one machine word, without a loop over tiles.
//!
//! A set of tiles is a word with bit `tile + 2`; the word's other bits are marks. The way up, tile
//! numbers grow (SE, S, SW); the way down they fall, and there the word is read with its bits
//! reversed. So along any ray the nearest tile is the lowest bit, and the lowest bit of ray and
//! taken tiles is where a penguin stops. Every ray ends in a mark of its own, above all tiles and
//! always taken, so there is always a stop, and a table says how many steps lie before it.

use super::{DIRECTIONS, Shape, Tile};

/// The most tiles of a small board: a word less three marks at either end.
pub(super) const SMALL_MAX: usize = 58;

/// By direction: 0 for up, 1 for down.
const WAY: [usize; DIRECTIONS] = [1, 1, 0, 0, 0, 1];

/// By direction: the mark its rays end in, on its way.
const MARK: [u32; DIRECTIONS] = [61, 62, 61, 62, 63, 63];

/// Tables for one shape. The first index is a tile's number, below 64.
pub(super) struct Small {
    /// By tile and direction: the tiles of the ray, and its mark.
    rays: [[u64; DIRECTIONS]; 64],
    /// By tile, way and bit: how many steps there are before that bit. (There is no bit 64, but
    /// an index that may be 64 would cost a check.)
    before: [[[u8; 65]; 2]; 64],
    /// By two tiles: all tiles from the first, not included, to the second, as bits by tile number;
    /// just [`Tile::NONE`], which is never free, if they are not in line.
    paths: [[u64; 64]; 64],
    /// By tile: its neighbours, as bits by tile number.
    near: [u64; 64],
    /// By tile and direction: where in `along` the tiles of the ray begin.
    starts: [[u16; DIRECTIONS]; 64],
    /// The tiles of all rays, nearest first.
    along: Vec<Tile>,
}

/// The tiles that are not free, both ways. Means nothing on boards that are not small.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Taken([u64; 2]);

impl Taken {
    /// From free tiles as bits by tile number.
    #[inline]
    pub(super) fn new(free: u64) -> Taken {
        let up = !(free << 2);
        Taken([up, up.reverse_bits()])
    }

    /// A tile is no longer free.
    #[inline]
    pub(super) fn insert(&mut self, tile: Tile) {
        if tile.index() <= SMALL_MAX {
            self.0[0] |= 1 << bit(tile, 0);
            self.0[1] |= 1 << bit(tile, 1);
        }
    }

    /// A tile is free again.
    #[inline]
    pub(super) fn remove(&mut self, tile: Tile) {
        if tile.index() <= SMALL_MAX {
            self.0[0] &= !(1 << bit(tile, 0));
            self.0[1] &= !(1 << bit(tile, 1));
        }
    }
}

/// The bit of a tile on a way.
#[inline]
fn bit(tile: Tile, way: usize) -> u32 {
    let up = u32::from(tile.0) + 2;
    if way == 0 { up } else { 63 - up }
}

impl Small {
    /// The tables of `shape`, if it is small.
    pub(super) fn new(shape: &Shape) -> Option<Box<Small>> {
        if shape.tiles() > SMALL_MAX {
            return None;
        }
        let mut small = Box::new(Small {
            rays: [[0; DIRECTIONS]; 64],
            before: [[[0; 65]; 2]; 64],
            paths: [[1; 64]; 64],
            near: [0; 64],
            starts: [[0; DIRECTIONS]; 64],
            along: Vec::new(),
        });
        for from in shape.all().chain([Tile::NONE]) {
            for direction in 0..DIRECTIONS {
                small.add_ray(shape, from, direction);
            }
        }
        Some(small)
    }

    fn add_ray(&mut self, shape: &Shape, from: Tile, direction: usize) {
        let (way, mark) = (WAY[direction], MARK[direction]);
        let at = from.index();
        let (mut steps, mut path) = (0, 0);
        self.starts[at][direction] = self.along.len() as u16;
        let mut tile = shape.next(from, direction);
        if tile != Tile::NONE {
            self.near[at] |= 1 << tile.0;
        }
        while tile != Tile::NONE {
            self.rays[at][direction] |= 1 << bit(tile, way);
            self.before[at][way][bit(tile, way) as usize] = steps;
            self.along.push(tile);
            path |= 1 << tile.0;
            self.paths[at][tile.index()] = path;
            steps += 1;
            tile = shape.next(tile, direction);
        }
        self.rays[at][direction] |= 1 << mark;
        self.before[at][way][mark as usize] = steps;
    }

    /// How many steps a penguin on `from` can take, by direction.
    #[inline(always)]
    pub(super) fn runs(&self, taken: Taken, from: Tile) -> [usize; DIRECTIONS] {
        let (rays, before) = (&self.rays[from.index() % 64], &self.before[from.index() % 64]);
        let mut runs = [0; DIRECTIONS];
        for direction in 0..DIRECTIONS {
            let way = WAY[direction];
            let stop = (rays[direction] & taken.0[way]).trailing_zeros();
            runs[direction] = usize::from(before[way][stop as usize]);
        }
        runs
    }

    /// How many tiles a penguin on `from` can slide to.
    #[inline(always)]
    pub(super) fn run_count(&self, taken: Taken, from: Tile) -> usize {
        let (rays, before) = (&self.rays[from.index() % 64], &self.before[from.index() % 64]);
        let mut count = 0;
        for direction in 0..DIRECTIONS {
            let way = WAY[direction];
            let stop = (rays[direction] & taken.0[way]).trailing_zeros();
            count += u32::from(before[way][stop as usize]);
        }
        count as usize
    }

    /// The tile after `steps` tiles from `from`; only where the ray is that long.
    #[inline]
    pub(super) fn along(&self, from: Tile, direction: usize, steps: usize) -> Tile {
        self.along[usize::from(self.starts[from.index() % 64][direction]) + steps]
    }

    /// Returns whether a penguin on `from` can slide to `to`, given the free tiles as bits by tile
    /// number.
    #[inline]
    pub(super) fn reaches(&self, free: u64, from: Tile, to: Tile) -> bool {
        self.paths[from.index() % 64][to.index() % 64] & !free == 0
    }

    /// The tiles a penguin on `from` can slide to, as bits by tile number.
    #[inline]
    pub(super) fn reach(&self, taken: Taken, from: Tile) -> u64 {
        let mut reached = [0; 2];
        for (direction, ray) in self.rays[from.index() % 64].iter().enumerate() {
            let stops = ray & taken.0[WAY[direction]];
            reached[WAY[direction]] |= ray & (stops & stops.wrapping_neg()).wrapping_sub(1);
        }
        (reached[0] | reached[1].reverse_bits()) >> 2
    }

    /// The neighbours of a tile, as bits by tile number.
    #[inline]
    pub(super) fn near(&self, tile: Tile) -> u64 {
        self.near[tile.index() % 64]
    }
}
