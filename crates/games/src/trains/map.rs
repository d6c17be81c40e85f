//! The map of a game: cities, connections, and what follows from them.
//!
//! A [`Map`] is valid by construction and kept in one canonical order, cities by name and
//! connections by pair, length and colour; games know both by their places in that order. How a
//! map is written as JSON is `map_json`'s business; what is reachable is `network`'s.

use super::connection::Hint;
use super::network::Network;
use super::{Color, Connection, Length, Name, NameError, Pair};
use crate::Json;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The sides a map may have.
const SIDE: RangeInclusive<u64> = 10..=800;

/// The most cities a map may have: no limit of the rules, but a bound on what a stranger's map can
/// cost.
pub const CITIES_MAX: usize = 1000;

/// The most connections a map may have; see [`CITIES_MAX`].
pub const CONNECTIONS_MAX: usize = 4000;

/// A city and its spot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct City {
    /// Its name.
    pub name: Name,
    /// Distance from the left edge.
    pub x: u16,
    /// Distance from the top edge.
    pub y: u16,
}

/// Why something is not a map.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MapError {
    /// It does not have the form of a map.
    #[error("not a map: {0}")]
    Form(String),
    /// A side is too short or too long.
    #[error("the {side} is {given}, not between 10 and 800")]
    Side {
        /// `width` or `height`.
        side: &'static str,
        /// Its length.
        given: u64,
    },
    /// More cities than this server draws.
    #[error("{0} cities are too many; at most 1000")]
    Cities(usize),
    /// More connections than this server draws.
    #[error("{0} connections are too many; at most 4000")]
    Connections(usize),
    /// Not the name of a city.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Two cities share a name.
    #[error("two cities are called {0:?}")]
    SameName(Name),
    /// Two cities share a spot.
    #[error("{one:?} and {other:?} share the spot [{x},{y}]")]
    SameSpot {
        /// The city that comes first by name.
        one: Name,
        /// The other one.
        other: Name,
        /// The spot.
        x: u16,
        /// The spot.
        y: u16,
    },
    /// A city lies outside of the map.
    #[error("{name:?} at [{x},{y}] is off the map")]
    Outside {
        /// The city.
        name: Name,
        /// Its spot.
        x: u64,
        /// Its spot.
        y: u64,
    },
    /// A connection leads to a city the map does not have.
    #[error("a connection names {0:?}, which is not a city of the map")]
    Unknown(String),
    /// A connection leads from a city to itself.
    #[error("{0:?} is connected to itself")]
    Itself(Name),
    /// Not a colour.
    #[error("the connection {pair} is {given:?}, which is not a colour of the game")]
    Color {
        /// Its cities.
        pair: Pair,
        /// What is given as its colour.
        given: String,
    },
    /// Not a length.
    #[error("the {color} connection {pair} has {given} segments, not 3, 4 or 5")]
    Length {
        /// Its cities.
        pair: Pair,
        /// Its colour.
        color: Color,
        /// Its length.
        given: u64,
    },
    /// Two connections of one colour between the same cities.
    #[error("the {color} connection {pair} is there twice")]
    Twice {
        /// Their cities.
        pair: Pair,
        /// Their colour.
        color: Color,
    },
}

/// A city of a draft: its name and spot, not yet checked.
pub(super) type DraftCity = (String, [u64; 2]);

/// What is written in a map, not yet checked.
pub(super) struct Draft {
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) cities: Vec<DraftCity>,
    /// From, to, colour, length.
    pub(super) connections: Vec<(String, String, String, u64)>,
}

/// A map.
#[derive(Clone, Debug)]
pub struct Map {
    width: u16,
    height: u16,
    /// By name.
    cities: Vec<City>,
    /// In their order; each one's hint is its own place.
    connections: Vec<Connection>,
    network: Network,
    /// The map as it goes over the wire with every request, once it was written.
    pub(super) text: OnceLock<Json>,
}

impl Map {
    pub(super) fn from_draft(draft: Draft) -> Result<Map, MapError> {
        let width = side("width", draft.width)?;
        let height = side("height", draft.height)?;
        if draft.cities.len() > CITIES_MAX {
            return Err(MapError::Cities(draft.cities.len()));
        }
        if draft.connections.len() > CONNECTIONS_MAX {
            return Err(MapError::Connections(draft.connections.len()));
        }
        let cities = checked_cities(draft.cities, width, height)?;
        let connections = checked_connections(&draft.connections, &cities)?;
        let network = Network::new(&cities, &connections);
        Ok(Map { width, height, cities, connections, network, text: OnceLock::new() })
    }

    /// The largest x a city may have.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// The largest y a city may have.
    pub fn height(&self) -> u16 {
        self.height
    }

    /// The cities, by name.
    pub fn cities(&self) -> &[City] {
        &self.cities
    }

    /// The connections, by pair, then length, then colour.
    pub fn connections(&self) -> &[Connection] {
        &self.connections
    }

    /// The place of a city in [`cities`](Map::cities).
    pub fn city(&self, name: Name) -> Option<usize> {
        self.cities.binary_search_by_key(&name, |city| city.name).ok()
    }

    /// The place of a connection in [`connections`](Map::connections), if the map has it.
    #[inline]
    pub fn find(&self, connection: &Connection) -> Option<usize> {
        let hint = usize::from(connection.hint.0);
        if self.connections.get(hint) == Some(connection) {
            return Some(hint);
        }
        self.connections.binary_search(connection).ok()
    }

    /// The places of the two cities a connection joins.
    #[inline]
    pub fn ends(&self, connection: usize) -> [u16; 2] {
        self.network.ends[connection]
    }

    /// Whether some path joins the two cities.
    pub fn joined(&self, pair: &Pair) -> bool {
        let parts = [pair.first(), pair.second()]
            .map(|name| self.city(name).map(|city| self.network.part[city]));
        parts[0].is_some() && parts[0] == parts[1]
    }

    /// How many destinations there are: pairs of cities joined by some path.
    pub fn destination_count(&self) -> usize {
        self.network.destination_count
    }

    /// All destinations in order, each as the places of its two cities. Listed when first asked
    /// for.
    pub fn destinations(&self) -> &[[u16; 2]] {
        self.network.destinations()
    }

    /// The pair of the cities at two places, given in order.
    #[inline]
    pub(super) fn pair(&self, [first, second]: [u16; 2]) -> Pair {
        let name = |place: u16| self.cities[usize::from(place)].name;
        Pair::in_order(name(first), name(second))
    }

    /// Whether there are destinations enough for a game of `seats` players: each is offered five,
    /// when the players before it kept two each.
    pub fn serves(&self, seats: usize) -> bool {
        self.destination_count() >= 3 + 2 * seats
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }
}

/// Two maps are equal if they have the same sides, cities and connections; the rest follows.
impl PartialEq for Map {
    fn eq(&self, other: &Map) -> bool {
        (self.width, self.height) == (other.width, other.height)
            && self.cities == other.cities
            && self.connections == other.connections
    }
}

impl Eq for Map {}

fn side(side: &'static str, given: u64) -> Result<u16, MapError> {
    if SIDE.contains(&given) { Ok(given as u16) } else { Err(MapError::Side { side, given }) }
}

fn checked_cities(drafts: Vec<DraftCity>, width: u16, height: u16) -> Result<Vec<City>, MapError> {
    let mut cities = Vec::with_capacity(drafts.len());
    for (name, [x, y]) in drafts {
        let name = Name::new(&name)?;
        if x > u64::from(width) || y > u64::from(height) {
            return Err(MapError::Outside { name, x, y });
        }
        cities.push(City { name, x: x as u16, y: y as u16 });
    }
    cities.sort_unstable_by_key(|city| (city.x, city.y, city.name));
    for two in cities.windows(2) {
        if (two[0].x, two[0].y) == (two[1].x, two[1].y) && two[0].name != two[1].name {
            let City { x, y, .. } = two[0];
            return Err(MapError::SameSpot { one: two[0].name, other: two[1].name, x, y });
        }
    }
    cities.sort_unstable_by_key(|city| city.name);
    match cities.windows(2).find(|two| two[0].name == two[1].name) {
        Some(two) => Err(MapError::SameName(two[0].name)),
        None => Ok(cities),
    }
}

fn checked_connections(
    drafts: &[(String, String, String, u64)],
    cities: &[City],
) -> Result<Vec<Connection>, MapError> {
    let known = |text: &str| {
        let unknown = || MapError::Unknown(text.chars().take(50).collect());
        let name = Name::new(text).map_err(|_| unknown())?;
        cities.binary_search_by_key(&name, |city| city.name).map_err(|_| unknown())?;
        Ok::<Name, MapError>(name)
    };
    let mut connections = Vec::with_capacity(drafts.len());
    for (from, to, color, length) in drafts {
        let pair = Pair::new(known(from)?, known(to)?).map_err(|same| MapError::Itself(same.0))?;
        let color = Color::from_name(color)
            .ok_or_else(|| MapError::Color { pair, given: color.chars().take(50).collect() })?;
        let length = Length::new(*length).map_err(|error| MapError::Length {
            pair,
            color,
            given: error.0,
        })?;
        connections.push(Connection::new(pair, color, length));
    }
    connections.sort_unstable_by_key(|connection| (connection.pair, connection.color));
    let twin = connections
        .windows(2)
        .find(|two| (two[0].pair, two[0].color) == (two[1].pair, two[1].color));
    if let Some(two) = twin {
        return Err(MapError::Twice { pair: two[0].pair, color: two[0].color });
    }
    connections.sort_unstable();
    for (place, connection) in connections.iter_mut().enumerate() {
        connection.hint = Hint(place as u16);
    }
    Ok(connections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trains::{Answer, Config, Trains};
    use crate::{Game, Seat, Seed};

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn pair(one: &str, other: &str) -> Pair {
        Pair::new(name(one), name(other)).unwrap()
    }

    /// A draft with cities on a grid, named by number, and connections by numbers.
    fn draft(cities: usize, connections: impl Iterator<Item = (usize, usize, usize)>) -> Draft {
        let city = |at: usize| (format!("{at:04}"), [at as u64 % 40, at as u64 / 40]);
        let connection = |(from, to, color): (usize, usize, usize)| {
            let color = Color::ALL[color].name().to_owned();
            (format!("{from:04}"), format!("{to:04}"), color, 3 + (from + to) as u64 % 3)
        };
        let connections = connections.map(connection).collect();
        Draft { width: 40, height: 30, cities: (0..cities).map(city).collect(), connections }
    }

    /// Every city joined with the next four in all colours.
    fn ladder(cities: usize) -> Draft {
        let all = (0..cities).flat_map(move |from| {
            let next = from + 1..(from + 5).min(cities);
            next.flat_map(move |to| (0..4).map(move |color| (from, to, color)))
        });
        draft(cities, all)
    }

    #[test]
    fn the_largest_map_is_a_map_and_one_more_of_anything_is_not() {
        let full = || draft(1000, (0..4000).map(|at| (at / 4, (at / 4 + 1) % 1000, at % 4)));
        let map = Map::from_draft(full()).unwrap();
        assert_eq!((map.cities().len(), map.connections().len()), (1000, 4000));
        assert_eq!((map.width(), map.height()), (40, 30));
        assert_eq!(map.destination_count(), 1000 * 999 / 2);
        let mut more = full();
        more.connections.push(("0000".into(), "0002".into(), "red".into(), 3));
        assert_eq!(Map::from_draft(more).err(), Some(MapError::Connections(4001)));
        let mut more = full();
        more.cities.push(("x".into(), [30, 30]));
        assert_eq!(Map::from_draft(more).err(), Some(MapError::Cities(1001)));
    }

    #[test]
    fn sides_and_spots_have_bounds() {
        let with = |width, height, spot| {
            let cities = vec![("A".to_owned(), spot)];
            Map::from_draft(Draft { width, height, cities, connections: Vec::new() }).err()
        };
        assert_eq!(with(10, 800, [10, 800]), None);
        assert_eq!(with(800, 10, [0, 0]), None);
        assert_eq!(with(10, 9, [0, 0]), Some(MapError::Side { side: "height", given: 9 }));
        assert_eq!(with(801, 10, [0, 0]), Some(MapError::Side { side: "width", given: 801 }));
        for [x, y] in [[11, 0], [0, 21]] {
            assert_eq!(with(10, 20, [x, y]), Some(MapError::Outside { name: name("A"), x, y }));
        }
    }

    #[test]
    fn cities_are_joined_by_ways_and_parts_are_apart() {
        // 0-1-2 and 3-4-5-6, and 7 for itself.
        let ways = [(0, 1, 0), (1, 2, 1), (5, 6, 3), (3, 4, 2), (4, 5, 2), (4, 5, 0)];
        let map = Map::from_draft(draft(8, ways.into_iter())).unwrap();
        let part = [0, 0, 0, 3, 3, 3, 3, 7];
        let mut due = Vec::new();
        for one in 0..8usize {
            for other in one + 1..8 {
                let pair = pair(&format!("{one:04}"), &format!("{other:04}"));
                assert_eq!(map.joined(&pair), part[one] == part[other], "{pair}");
                if part[one] == part[other] {
                    due.push([one as u16, other as u16]);
                }
            }
        }
        assert_eq!(map.destinations(), due);
        assert_eq!(map.destination_count(), 3 + 6);
        assert!(!map.joined(&pair("0000", "Atlantis")) && !map.joined(&pair("X", "Y")));
        assert!(map.serves(3) && !map.serves(4), "nine are three and two for each");
        assert_eq!((map.city(name("0005")), map.city(name("5"))), (Some(5), None));
        assert_eq!(map.ends(0), [0, 1]);
    }

    #[test]
    fn connections_are_found_by_what_they_are() {
        let map = Map::from_draft(ladder(20)).unwrap();
        for (at, connection) in map.connections().iter().enumerate() {
            assert_eq!(map.find(connection), Some(at));
            let own = Connection::new(connection.pair, connection.color, connection.length);
            assert_eq!(map.find(&own), Some(at), "also without a hint");
            let wrong = Connection { hint: Hint(at as u16 + 1), ..*connection };
            assert_eq!(map.find(&wrong), Some(at), "and with a wrong one");
            assert_eq!(wrong.partial_cmp(connection), Some(std::cmp::Ordering::Equal));
            assert!(wrong == *connection && !(wrong < *connection));
            let longer = Length::ALL.into_iter().find(|length| *length != connection.length);
            let none = Connection { length: longer.unwrap(), ..*connection };
            assert_eq!(map.find(&none), None);
        }
        let same = Map::from_draft(ladder(20)).unwrap();
        assert_eq!(map, same);
        let wider = Map::from_draft(Draft { width: 41, ..ladder(20) }).unwrap();
        let higher = Map::from_draft(Draft { height: 31, ..ladder(20) }).unwrap();
        let fewer = Map::from_draft(draft(20, std::iter::empty())).unwrap();
        let mut moved = ladder(20);
        moved.cities[3].1 = [7, 20];
        for other in [wider, higher, fewer, Map::from_draft(moved).unwrap()] {
            assert_ne!(map, other);
        }
    }

    /// On maps of one word of connections, of just as many as words have bits, and of many words.
    #[test]
    fn what_can_be_paid_is_listed_and_picked_on_maps_of_any_size() {
        for cities in [8, 6, 40] {
            let mut draft = ladder(cities);
            if cities == 8 {
                draft.connections.truncate(64);
            }
            let config = Config::default().with_map(Map::from_draft(draft).unwrap());
            let mut game = Trains::new(&config, 2, &Seed::from_number(1)).unwrap();
            let mut choice = 7u64;
            while let Some(seat) = game.awaiting().first() {
                assert_legal(&game, seat);
                choice = choice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                // Cards come first, so that there is much to choose from.
                let more = game.deck.left() > 150 && game.check(seat, &Answer::MoreCards).is_ok();
                let answer = match more {
                    true => Answer::MoreCards,
                    false => game.playout_answer(seat, choice),
                };
                game.apply(seat, &answer).unwrap();
            }
        }
    }

    fn assert_legal(game: &Trains, seat: Seat) {
        let legal = game.legal(seat);
        if !legal.contains(&Answer::MoreCards) {
            return;
        }
        let acquire = |connection: &Connection| Answer::Acquire(*connection);
        let due = game.map.connections().iter().map(acquire);
        let due = due.filter(|answer| game.check(seat, answer).is_ok());
        assert!(legal[1..].iter().cloned().eq(due));
        // The middles of as many equal parts of all choices: each is picked once, cards last.
        let count = legal.len() as u64;
        let middle = |at: u64| u64::MAX / count * at + u64::MAX / count / 2;
        let picked = (0..count).map(|at| game.playout_answer(seat, middle(at)));
        let due = legal[1..].iter().chain(&legal[..1]).cloned();
        assert!(picked.eq(due));
    }
}
