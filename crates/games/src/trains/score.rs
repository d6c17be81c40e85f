//! Points: segments, destinations and the longest path.

use super::Map;

/// A player's points before the longest path is compared, and that path's length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tally {
    /// Segments, and ten for or against each destination.
    pub(super) points: i64,
    /// The most segments a simple path over the player's own connections has.
    pub(super) longest: u32,
}

/// The points of a destination, for a player who connects it or against one who does not.
const DESTINATION: i64 = 10;

/// The points of the longest path.
pub(super) const LONGEST: i64 = 20;

/// The most cities 15 connections (45 rails, at least 3 each) can touch.
const CITIES: usize = 30;

/// A power of two for quick access.
const SIDE: usize = CITIES.next_power_of_two();

/// Counts the points of a player who holds `own` connections and keeps `destinations`.
pub(super) fn tally(map: &Map, own: &[u16], destinations: &[[u16; 2]]) -> Tally {
    let net = Net::new(map, own);
    let segments = own.iter().map(|at| map.connections()[usize::from(*at)].length.segments());
    let mut points: i64 = segments.map(i64::from).sum();
    for destination in destinations {
        points += if net.joins(*destination) { DESTINATION } else { -DESTINATION };
    }
    Tally { points, longest: net.longest() }
}

/// The cities and connections of one player, numbered from 0. Of parallel connections only the
/// longest counts, because a longest path uses no other.
struct Net {
    /// By number, the city's place on the map.
    cities: [u16; CITIES],
    len: usize,
    /// By number, the set of neighbours.
    next: [u32; CITIES],
    /// Segments between two neighbours.
    segments: [[u8; SIDE]; CITIES],
}

impl Net {
    fn new(map: &Map, own: &[u16]) -> Net {
        let mut net =
            Net { cities: [0; CITIES], len: 0, next: [0; CITIES], segments: [[0; SIDE]; CITIES] };
        for place in own {
            let [one, other] = map.ends(usize::from(*place));
            let (one, other) = (net.number(one), net.number(other));
            let segments = map.connections()[usize::from(*place)].length.segments();
            net.next[one] |= 1 << other;
            net.next[other] |= 1 << one;
            let longest = segments.max(net.segments[one][other]);
            net.segments[one][other] = longest;
            net.segments[other][one] = longest;
        }
        net
    }

    fn find(&self, city: u16) -> Option<usize> {
        self.cities[..self.len].iter().position(|known| *known == city)
    }

    fn number(&mut self, city: u16) -> usize {
        self.find(city).unwrap_or_else(|| {
            self.cities[self.len] = city;
            self.len += 1;
            self.len - 1
        })
    }

    fn joins(&self, [one, other]: [u16; 2]) -> bool {
        let (Some(one), Some(other)) = (self.find(one), self.find(other)) else { return false };
        let mut reached: u32 = 1 << one;
        let mut fresh = reached;
        while fresh != 0 {
            let around = Bits(fresh).fold(0, |set, city| set | self.next[city]);
            fresh = around & !reached;
            reached |= around;
        }
        reached & (1 << other) != 0
    }

    fn longest(&self) -> u32 {
        let starts = Bits(self.ends());
        starts.map(|start| self.longest_from(start, 0)).max().unwrap_or(0)
    }

    /// The cities a longest path can end in. Wherever it ends, it has been to all neighbours, else
    /// it could go on. So it does not end between dead ends: it ends in a city with one neighbour,
    /// or in one that lies on round trips only.
    fn ends(&self) -> u32 {
        let dead_ends = |among: u32, core: u32| {
            let dead = Bits(among).filter(|city| (self.next[*city] & core).count_ones() <= 1);
            dead.fold(0, |set, city| set | 1 << city)
        };
        let all = (1 << self.len) - 1;
        let leaves = dead_ends(all, all);
        // The rest after removing dead ends repeatedly.
        let (mut core, mut dead, mut ends) = (all, leaves, leaves);
        while dead != 0 {
            core &= !dead;
            let around = Bits(dead).fold(0, |set, city| set | self.next[city]) & core;
            dead = dead_ends(around, core);
        }
        for city in Bits(core) {
            ends |= u32::from(self.next[city] & !core == 0) << city;
        }
        ends
    }

    /// The most segments of a path that begins in `city` and keeps out of `seen`. There are at
    /// most 15 connections, so even the worst of nets has only some thousands of paths.
    fn longest_from(&self, city: usize, seen: u32) -> u32 {
        let seen = seen | 1 << city;
        let mut longest = 0;
        for next in Bits(self.next[city] & !seen) {
            let path = u32::from(self.segments[city][next]) + self.longest_from(next, seen);
            longest = longest.max(path);
        }
        longest
    }
}

/// The numbers in a set of bits.
struct Bits(u32);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let bit = (self.0 != 0).then(|| self.0.trailing_zeros() as usize);
        self.0 &= self.0.wrapping_sub(1);
        bit
    }
}
