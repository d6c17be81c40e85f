//! The map of a game: cities, connections, and what follows from them.
//!
//! A [`Map`] is valid by construction and kept in one canonical order, cities by name and
//! connections by pair, length and colour; games refer to both by their indices. `map_json` reads
//! and writes maps as JSON; `network` computes reachability.

use super::connection::Hint;
use super::network::Network;
use super::{Color, Connection, Length, Name, NameError, Pair};
use crate::Json;
use std::ops::RangeInclusive;
use std::sync::OnceLock;

/// The sides a map may have.
const SIDE: RangeInclusive<u64> = 10..=800;

/// The most cities a map may have: not a rule of the game, but a bound on the cost of a stranger's
/// map.
pub const CITIES_MAX: usize = 1000;

/// The most connections a map may have; see [`CITIES_MAX`].
pub const CONNECTIONS_MAX: usize = 4000;

/// The most cities of a map that a player proposes. Every position of its games includes the whole
/// map, so the map's size determines the size of a replay.
pub const PROPOSED_CITIES_MAX: usize = 100;

/// The most connections of such a map.
pub const PROPOSED_CONNECTIONS_MAX: usize = 300;

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
        /// The text given as its colour.
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

/// A parsed map that is not checked yet.
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
    /// In canonical order; each one's hint is its own index.
    connections: Vec<Connection>,
    network: Network,
    /// The map as JSON, as every request includes it; cached after the first use.
    pub(super) text: OnceLock<Json>,
    /// Each connection as JSON, as requests list the acquired ones; cached after the first use.
    pub(super) connection_texts: OnceLock<Box<[Json]>>,
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
        let (text, connection_texts) = (OnceLock::new(), OnceLock::new());
        Ok(Map { width, height, cities, connections, network, text, connection_texts })
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

    /// Returns whether some path joins the two cities.
    pub fn joined(&self, pair: &Pair) -> bool {
        let parts = [pair.first(), pair.second()]
            .map(|name| self.city(name).map(|city| self.network.part[city]));
        parts[0].is_some() && parts[0] == parts[1]
    }

    /// How many destinations there are: pairs of cities joined by some path.
    pub fn destination_count(&self) -> usize {
        self.network.destination_count
    }

    /// All destinations in order, each as the indices of its two cities. Computed on first use.
    pub fn destinations(&self) -> &[[u16; 2]] {
        self.network.destinations()
    }

    /// The pair of the cities at two places, given in order.
    #[inline]
    pub(super) fn pair(&self, [first, second]: [u16; 2]) -> Pair {
        let name = |place: u16| self.cities[usize::from(place)].name;
        Pair::in_order(name(first), name(second))
    }

    /// Returns whether there are enough destinations for a game of `seats` players.
    pub fn serves(&self, seats: usize) -> bool {
        self.destination_count() >= Map::destinations_needed(seats)
    }

    /// How many destinations a game of `seats` players needs: each player is offered five, after
    /// the players before them kept two each.
    pub fn destinations_needed(seats: usize) -> usize {
        3 + 2 * seats
    }

    pub(super) fn network(&self) -> &Network {
        &self.network
    }
}

/// Two maps are equal if they have the same sides, cities and connections; everything else is
/// derived.
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
mod tests;
