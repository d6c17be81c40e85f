//! One connection of a map, by the names of its cities: `["Boston","New York","red",3]`.

use super::{Color, Name, Pair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How many segments a connection has: 3, 4 or 5.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u64", into = "u64")]
#[schemars(extend("minimum" = 3, "maximum" = 5))]
pub struct Length(u8);

/// A number of segments no connection has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a connection has 3, 4 or 5 segments, not {0}")]
pub struct LengthError(pub u64);

impl Length {
    /// All lengths.
    pub const ALL: [Length; 3] = [Length(3), Length(4), Length(5)];

    /// The length of this many segments.
    pub fn new(segments: u64) -> Result<Length, LengthError> {
        if (3..=5).contains(&segments) {
            Ok(Length(segments as u8))
        } else {
            Err(LengthError(segments))
        }
    }

    /// How many segments.
    #[inline]
    pub fn segments(self) -> u8 {
        self.0
    }
}

impl TryFrom<u64> for Length {
    type Error = LengthError;

    fn try_from(segments: u64) -> Result<Length, LengthError> {
        Length::new(segments)
    }
}

impl From<Length> for u64 {
    fn from(length: Length) -> u64 {
        u64::from(length.0)
    }
}

/// A connection between two cities. Ordered by pair, then length, then colour.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "(Name, Name, Color, Length)", into = "(Name, Name, Color, Length)")]
pub struct Connection {
    /// The cities.
    pub pair: Pair,
    /// How many segments it has; it costs as many cards of its colour, and as many rails.
    pub length: Length,
    /// Its colour.
    pub color: Color,
    /// Where the map that made this value keeps it. Only a guess that saves a search: it is
    /// checked before it is believed, and values that differ in it alone are equal.
    pub(super) hint: Hint,
}

impl Connection {
    /// A connection, on some map or none.
    pub fn new(pair: Pair, color: Color, length: Length) -> Connection {
        Connection { pair, length, color, hint: Hint(u16::MAX) }
    }
}

/// A place in a map's list of connections that equality and order do not look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hint(pub(super) u16);

impl PartialEq for Hint {
    fn eq(&self, _other: &Hint) -> bool {
        true
    }
}

impl Eq for Hint {}

impl PartialOrd for Hint {
    fn partial_cmp(&self, other: &Hint) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Hint {
    fn cmp(&self, _other: &Hint) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl std::hash::Hash for Hint {
    fn hash<H: std::hash::Hasher>(&self, _state: &mut H) {}
}

impl TryFrom<(Name, Name, Color, Length)> for Connection {
    type Error = super::SameCity;

    fn try_from(
        (one, other, color, length): (Name, Name, Color, Length),
    ) -> Result<Connection, super::SameCity> {
        Ok(Connection::new(Pair::new(one, other)?, color, length))
    }
}

impl From<Connection> for (Name, Name, Color, Length) {
    fn from(connection: Connection) -> (Name, Name, Color, Length) {
        let Connection { pair, length, color, .. } = connection;
        (pair.first(), pair.second(), color, length)
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {})", self.pair, self.color, self.length.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> serde_json::Result<Connection> {
        serde_json::from_str(text)
    }

    #[test]
    fn either_order_of_cities_is_the_same_connection() {
        let connection = read(r#"["New York","Boston","red",3]"#).expect("a connection");
        assert_eq!(connection, read(r#"["Boston","New York","red",3]"#).expect("a connection"));
        assert_eq!(
            serde_json::to_string(&connection).expect("JSON"),
            r#"["Boston","New York","red",3]"#
        );
        assert_eq!(connection.to_string(), "Boston – New York (red, 3)");
    }

    #[test]
    fn order_is_by_pair_then_length_then_color() {
        let mut texts = [
            r#"["A","C","blue",3]"#,
            r#"["A","B","white",3]"#,
            r#"["A","B","blue",4]"#,
            r#"["A","B","red",3]"#,
        ];
        texts.sort_by_key(|text| read(text).expect("a connection"));
        let last = texts.map(|text| &text[5..]);
        assert_eq!(
            last,
            [r#""B","red",3]"#, r#""B","white",3]"#, r#""B","blue",4]"#, r#""C","blue",3]"#]
        );
    }

    #[test]
    fn invalid_connection_does_not_parse() {
        for text in [
            r#"["A","A","red",3]"#,
            r#"["A","B","red",6]"#,
            r#"["A","B","red",3.0]"#,
            r#"["A","B","pink",3]"#,
            r#"["A","B","red"]"#,
            r#"["A","B","red",3,3]"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let said = read(r#"["A",5,"red",3]"#).expect_err("5 is no name").to_string();
        assert!(said.contains("expected the name of a city"), "{said}");
        assert_eq!(
            Length::new(6).expect_err("too long").to_string(),
            "a connection has 3, 4 or 5 segments, not 6"
        );
    }
}
