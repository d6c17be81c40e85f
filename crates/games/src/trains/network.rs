//! Tables derived from a map's connections: which cities are joined, and which connections a hand
//! of cards could pay for. Computed once per map and shared by all of its games.

use super::map::City;
use super::{Color, Connection};
use std::sync::OnceLock;

/// The derived tables of a map.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// By connection, the places of its two cities.
    pub(super) ends: Vec<[u16; 2]>,
    /// By city, the part of the map it lies in: the place of the part's first city.
    pub(super) part: Vec<u16>,
    pub(super) destination_count: usize,
    /// Half a million pairs on the largest maps, so they are not listed for maps that are only
    /// proposed.
    destinations: OnceLock<Vec<[u16; 2]>>,
    /// How many words a set of connections takes.
    pub(super) words: usize,
    /// By colour and level, the set of connections of that colour and at most that length. Level 0
    /// is the empty set, level 1 length 3, level 3 all lengths.
    within: Vec<u64>,
}

const LEVELS: usize = 4;

impl Network {
    pub(super) fn new(cities: &[City], connections: &[Connection]) -> Network {
        let place = |name| {
            let found = cities.binary_search_by_key(&name, |city| city.name);
            found.expect("a city of the map") as u16
        };
        let ends: Vec<[u16; 2]> = connections
            .iter()
            .map(|connection| [place(connection.pair.first()), place(connection.pair.second())])
            .collect();
        let part = parts(cities.len(), &ends);
        let mut sizes = vec![0usize; cities.len()];
        part.iter().for_each(|part| sizes[usize::from(*part)] += 1);
        let destination_count = sizes.iter().map(|size| size * size.saturating_sub(1) / 2).sum();
        let words = connections.len().div_ceil(64);
        Network {
            ends,
            part,
            destination_count,
            destinations: OnceLock::new(),
            words,
            within: within(connections, words),
        }
    }

    pub(super) fn destinations(&self) -> &[[u16; 2]] {
        self.destinations.get_or_init(|| {
            let mut list = Vec::with_capacity(self.destination_count);
            for (one, part) in self.part.iter().enumerate() {
                for (other, other_part) in self.part.iter().enumerate().skip(one + 1) {
                    if part == other_part {
                        list.push([one as u16, other as u16]);
                    }
                }
            }
            list
        })
    }

    /// The set of connections of `color` that `cards` cards and as many rails pay for.
    #[inline]
    pub(super) fn within(&self, color: Color, cards: u8) -> &[u64] {
        let level = usize::from(cards.clamp(2, 5) - 2);
        let start = (color.index() * LEVELS + level) * self.words;
        &self.within[start..start + self.words]
    }
}

/// By city, the place of the first city it is joined with.
fn parts(cities: usize, ends: &[[u16; 2]]) -> Vec<u16> {
    let mut part: Vec<u16> = (0..cities as u16).collect();
    fn root(part: &mut [u16], mut city: u16) -> u16 {
        while part[usize::from(city)] != city {
            let above = part[usize::from(city)];
            part[usize::from(city)] = part[usize::from(above)];
            city = above;
        }
        city
    }
    for [one, other] in ends {
        let (one, other) = (root(&mut part, *one), root(&mut part, *other));
        part[usize::from(one.max(other))] = one.min(other);
    }
    (0..cities as u16).map(|city| root(&mut part, city)).collect()
}

fn within(connections: &[Connection], words: usize) -> Vec<u64> {
    let mut within = vec![0; Color::ALL.len() * LEVELS * words];
    for (place, connection) in connections.iter().enumerate() {
        for level in usize::from(connection.length.segments() - 2)..LEVELS {
            let start = (connection.color.index() * LEVELS + level) * words;
            within[start + place / 64] |= 1 << (place % 64);
        }
    }
    within
}
