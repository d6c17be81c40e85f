//! The map as tables for searching: connections by number, ways between cities, and the longest
//! path of a player.

use agon_games::trains::{Map, Pair};

/// One end of a connection as seen from its other end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) city: u16,
    pub(super) connection: u16,
}

/// The tables of one map.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) ends: Vec<[u16; 2]>,
    pub(super) color: Vec<u8>,
    pub(super) length: Vec<u8>,
    /// By city.
    pub(super) steps: Vec<Vec<Step>>,
}

/// Two cities that a player wants to join.
pub(super) type Goal = [u16; 2];

/// Memory that searches for ways use again and again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    cost: Vec<u32>,
    came: Vec<u16>,
    open: Vec<Open>,
}

/// A connection that can be used, with its price.
#[derive(Clone, Copy, Debug)]
struct Open {
    ends: [u16; 2],
    connection: u16,
    price: u32,
}

const NOWHERE: u16 = u16::MAX;

/// The price of a connection that cannot be used. Two of them can be added.
pub(super) const CLOSED: u32 = u32::MAX / 2;

impl Graph {
    pub(super) fn new(map: &Map) -> Graph {
        let connections = map.connections();
        let ends: Vec<[u16; 2]> = (0..connections.len()).map(|at| map.ends(at)).collect();
        let mut steps = vec![Vec::new(); map.cities().len()];
        for (at, [one, other]) in ends.iter().enumerate() {
            let connection = at as u16;
            steps[usize::from(*one)].push(Step { city: *other, connection });
            steps[usize::from(*other)].push(Step { city: *one, connection });
        }
        Graph {
            ends,
            color: connections.iter().map(|one| one.color.index() as u8).collect(),
            length: connections.iter().map(|one| one.length.segments()).collect(),
            steps,
        }
    }

    /// The numbers of two cities; `None` if the map lacks one.
    pub(super) fn goal(map: &Map, pair: &Pair) -> Option<Goal> {
        Some([map.city(pair.first())? as u16, map.city(pair.second())? as u16])
    }

    /// Appends the connections of the cheapest way between two cities to `way`, without those that
    /// cost nothing, and returns its cost. `prices` are the costs of all connections, [`CLOSED`]
    /// for those that cannot be used.
    pub(super) fn way(
        &self,
        [from, to]: Goal,
        scratch: &mut Scratch,
        prices: &[u32],
        way: &mut Vec<u16>,
    ) -> Option<u32> {
        let cities = self.steps.len();
        scratch.cost.clear();
        scratch.cost.resize(cities, CLOSED);
        scratch.came.clear();
        scratch.came.resize(cities, NOWHERE);
        scratch.cost[usize::from(from)] = 0;
        scratch.open.clear();
        for (at, (ends, price)) in self.ends.iter().zip(prices).enumerate() {
            if *price < CLOSED {
                scratch.open.push(Open { ends: *ends, connection: at as u16, price: *price });
            }
        }
        // Ways are short. Scanning all connections until nothing improves needs no queue, and takes
        // the first of equal ways. Cities as far as the goal are not on a cheaper way to it.
        let cost = &mut scratch.cost[..];
        let mut improved = true;
        while improved {
            improved = false;
            for open in &scratch.open {
                let [one, other] = open.ends.map(usize::from);
                let (near, far) = if cost[one] < cost[other] { (one, other) } else { (other, one) };
                let sum = cost[near] + open.price;
                if sum < cost[far] && sum < cost[usize::from(to)] {
                    cost[far] = sum;
                    scratch.came[far] = open.connection;
                    improved = true;
                }
            }
        }
        if scratch.cost[usize::from(to)] >= CLOSED {
            return None;
        }
        let mut city = to;
        while city != from {
            let at = usize::from(scratch.came[usize::from(city)]);
            if prices[at] > 0 {
                way.push(at as u16);
            }
            let [one, other] = self.ends[at];
            city = if one == city { other } else { one };
        }
        Some(scratch.cost[usize::from(to)])
    }

    /// The longest path over `own` connections, and what extensions of it depend on.
    pub(super) fn paths(&self, own: &[u16]) -> Paths {
        let net = Net::new(self, own);
        let mut paths = Paths { longest: 0, len: net.len as u8, cities: [PathEnd::default(); 30] };
        for start in 0..net.len {
            let longest = net.walk(start, 1 << start);
            let part = net.part(start);
            paths.cities[start] = PathEnd { city: net.cities[start], longest, part };
            paths.longest = paths.longest.max(longest);
        }
        paths
    }

    /// Returns whether `own` connections join two cities.
    pub(super) fn joins(paths: &Paths, [from, to]: Goal) -> bool {
        let ends = paths.end(from).zip(paths.end(to));
        ends.is_some_and(|(from, to)| from.part == to.part)
    }
}

/// A city of a player's network.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct PathEnd {
    city: u16,
    /// The most segments of a path that ends here.
    longest: u32,
    /// The cities that are joined with it, one bit each.
    part: u32,
}

/// The paths over one player's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Paths {
    /// The most segments of a simple path.
    pub(super) longest: u32,
    len: u8,
    cities: [PathEnd; 30],
}

impl Paths {
    fn end(&self, city: u16) -> Option<&PathEnd> {
        self.cities[..usize::from(self.len)].iter().find(|end| end.city == city)
    }

    /// Returns whether the network has a city.
    pub(super) fn contains(&self, city: u16) -> bool {
        self.end(city).is_some()
    }

    /// Returns whether a longest path ends in a city.
    pub(super) fn ends_in(&self, city: u16) -> bool {
        self.end(city).is_some_and(|end| end.longest == self.longest)
    }

    /// The longest path after another connection of `length`; `None` if it closes a circle, where
    /// paths have to be counted anew.
    pub(super) fn longest_with(&self, [one, other]: [u16; 2], length: u8) -> Option<u32> {
        let (one, other) = (self.end(one), self.end(other));
        let same = one.zip(other).is_some_and(|(one, other)| one.part == other.part);
        let half = |end: Option<&PathEnd>| end.map_or(0, |end| end.longest);
        (!same).then(|| self.longest.max(half(one) + u32::from(length) + half(other)))
    }
}

/// The cities of one player, numbered from 0. 45 rails touch at most 30 cities.
struct Net {
    cities: [u16; 30],
    len: usize,
    near: [[(u8, u8); 8]; 30],
    degree: [u8; 30],
}

impl Net {
    fn new(graph: &Graph, own: &[u16]) -> Net {
        let mut net = Net { cities: [0; 30], len: 0, near: [[(0, 0); 8]; 30], degree: [0; 30] };
        for connection in own {
            let at = usize::from(*connection);
            let [one, other] = graph.ends[at].map(|city| net.number(city));
            net.join(one, other, graph.length[at]);
            net.join(other, one, graph.length[at]);
        }
        net
    }

    fn number(&mut self, city: u16) -> usize {
        let known = self.cities[..self.len].iter().position(|other| *other == city);
        known.unwrap_or_else(|| {
            self.cities[self.len] = city;
            self.len += 1;
            self.len - 1
        })
    }

    /// Of parallel connections only the longest counts. A ninth neighbour is left out: 15
    /// connections hardly ever lead out of one city, and the models need no more than an estimate.
    fn join(&mut self, one: usize, other: usize, length: u8) {
        let degree = usize::from(self.degree[one]);
        for near in &mut self.near[one][..degree] {
            if usize::from(near.0) == other {
                near.1 = near.1.max(length);
                return;
            }
        }
        if degree < 8 {
            self.near[one][degree] = (other as u8, length);
            self.degree[one] += 1;
        }
    }

    /// The most segments of a path that goes on from `city` and keeps out of `seen`.
    fn walk(&self, city: usize, seen: u32) -> u32 {
        let mut longest = 0;
        for (next, segments) in &self.near[city][..usize::from(self.degree[city])] {
            let next = usize::from(*next);
            if seen & (1 << next) == 0 {
                longest = longest.max(u32::from(*segments) + self.walk(next, seen | 1 << next));
            }
        }
        longest
    }

    /// The cities that are joined with `city`.
    fn part(&self, city: usize) -> u32 {
        let mut part = 1u32 << city;
        let mut fresh = part;
        while fresh != 0 {
            let here = fresh.trailing_zeros() as usize;
            fresh &= fresh - 1;
            for (next, _) in &self.near[here][..usize::from(self.degree[here])] {
                let bit = 1 << next;
                fresh |= bit & !part;
                part |= bit;
            }
        }
        part
    }
}
