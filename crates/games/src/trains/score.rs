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

/// What a destination is worth, for a player that joins it or against one that does not.
const DESTINATION: i64 = 10;

/// What the longest path is worth.
pub(super) const LONGEST: i64 = 20;

/// The most cities 15 connections (45 rails, at least 3 each) can touch.
const CITIES: usize = 30;

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
/// longest counts: it is all a path can want.
struct Net {
    /// By number, the city's place on the map.
    cities: [u16; CITIES],
    len: usize,
    /// By number, the set of neighbours.
    next: [u32; CITIES],
    /// Segments between two neighbours.
    segments: [[u8; CITIES]; CITIES],
}

impl Net {
    fn new(map: &Map, own: &[u16]) -> Net {
        let mut net =
            Net { cities: [0; CITIES], len: 0, next: [0; CITIES], segments: [[0; CITIES]; CITIES] };
        for place in own {
            let [one, other] = map.ends(usize::from(*place)).map(|city| net.number(city));
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
            let city = fresh.trailing_zeros() as usize;
            fresh &= fresh - 1;
            fresh |= self.next[city] & !reached;
            reached |= self.next[city];
        }
        reached & (1 << other) != 0
    }

    fn longest(&self) -> u32 {
        (0..self.len).map(|start| self.longest_from(start, 0)).max().unwrap_or(0)
    }

    /// The most segments of a path that begins in `city` and keeps out of `seen`. There are at
    /// most 15 connections, so even the worst of nets has only some thousands of paths.
    fn longest_from(&self, city: usize, seen: u32) -> u32 {
        let seen = seen | 1 << city;
        let mut open = self.next[city] & !seen;
        let mut longest = 0;
        while open != 0 {
            let next = open.trailing_zeros() as usize;
            open &= open - 1;
            let path = u32::from(self.segments[city][next]) + self.longest_from(next, seen);
            longest = longest.max(path);
        }
        longest
    }
}
