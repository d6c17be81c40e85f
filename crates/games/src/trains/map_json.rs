//! Maps as JSON:
//! `{"width":W,"height":H,"cities":[[Name,[X,Y]],…],"connections":{A:{B:{Color:Length}}}}`.
//!
//! Written in canonical form: everything in code-point order, every connection once under the city
//! that comes first. Read more widely, as people write maps: cities in any order, a connection
//! under either of its cities, cities without connections of their own.

use super::map::{Draft, DraftCity, Map, MapError};
use crate::{Json, brief};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

impl Map {
    /// Reads a map from JSON text.
    pub fn parse(text: &str) -> Result<Map, MapError> {
        let form: Form =
            serde_json::from_str(text).map_err(|error| MapError::Form(brief(error.to_string())))?;
        Map::from_draft(form.into())
    }
}

impl<'de> Deserialize<'de> for Map {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Map, D::Error> {
        Map::from_draft(Form::deserialize(deserializer)?.into()).map_err(de::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    width: u64,
    height: u64,
    cities: Vec<DraftCity>,
    connections: Entries<Entries<Entries<u64>>>,
}

impl From<Form> for Draft {
    fn from(form: Form) -> Draft {
        let Form { width, height, cities, connections } = form;
        let mut drafts = Vec::new();
        for (from, targets) in connections.0 {
            for (to, colors) in targets.0 {
                for (color, length) in colors.0 {
                    drafts.push((from.clone(), to.clone(), color, length));
                }
            }
        }
        Draft { width, height, cities, connections: drafts }
    }
}

/// The entries of a JSON object as they stand there: a key that is there twice is there twice.
struct Entries<T>(Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries<T>, D::Error> {
        struct Reader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
            type Value = Entries<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

impl Map {
    /// The map as JSON. Every request carries one, so the text is made once.
    pub(super) fn text(&self) -> &Json {
        self.text.get_or_init(|| crate::json(&Written(self)))
    }

    /// Each connection as JSON, in the order of the map.
    pub(super) fn connection_texts(&self) -> &[Json] {
        let texts = || self.connections().iter().map(crate::json).collect();
        self.connection_texts.get_or_init(texts)
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text().serialize(serializer)
    }
}

/// A map to be written in full.
struct Written<'a>(&'a Map);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Written(this) = self;
        let cities: Vec<_> =
            this.cities().iter().map(|city| (city.name, [city.x, city.y])).collect();
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("width", &this.width())?;
        map.serialize_entry("height", &this.height())?;
        map.serialize_entry("cities", &cities)?;
        map.serialize_entry("connections", &ByFirst(this))?;
        map.end()
    }
}

/// The connections of a map, grouped by first city, second city and colour.
struct ByFirst<'a>(&'a Map);

impl Serialize for ByFirst<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for group in self.0.connections().chunk_by(|a, b| a.pair.first() == b.pair.first()) {
            map.serialize_entry(&group[0].pair.first(), &BySecond(group))?;
        }
        map.end()
    }
}

struct BySecond<'a>(&'a [super::Connection]);

impl Serialize for BySecond<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for group in self.0.chunk_by(|a, b| a.pair == b.pair) {
            let mut colors: Vec<_> =
                group.iter().map(|connection| (connection.color, connection.length)).collect();
            colors.sort_unstable();
            map.serialize_entry(&group[0].pair.second(), &Colors(&colors))?;
        }
        map.end()
    }
}

struct Colors<'a>(&'a [(super::Color, super::Length)]);

impl Serialize for Colors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Map::parse(text).expect_err("not a map").to_string()
    }

    /// A map of three cities with these connections.
    fn with(connections: &str) -> String {
        format!(
            r#"{{"width":10,"height":800,"cities":[["B",[0,0]],["A",[10,800]],["C",[1,1]]],
            "connections":{connections}}}"#
        )
    }

    #[test]
    fn written_once_in_order_however_it_was_read() {
        let text =
            with(r#"{"C":{},"B":{"A":{"red":3},"C":{"white":5,"blue":5}},"A":{"B":{"green":4}}}"#);
        let map = Map::parse(&text).expect("a map");
        assert_eq!(
            serde_json::to_string(&map).expect("JSON"),
            r#"{"width":10,"height":800,"cities":[["A",[10,800]],["B",[0,0]],["C",[1,1]]],"#
                .to_string()
                + r#""connections":{"A":{"B":{"green":4,"red":3}},"B":{"C":{"blue":5,"white":5}}}}"#
        );
        let order: Vec<String> = map.connections().iter().map(ToString::to_string).collect();
        assert_eq!(
            order,
            ["A – B (red, 3)", "A – B (green, 4)", "B – C (blue, 5)", "B – C (white, 5)"]
        );
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let twice = r#"{"A":{"B":{"red":3}},"B":{"A":{"red":4}}}"#;
        assert_eq!(error(&with(twice)), "the red connection A – B is there twice");
        let twice = r#"{"A":{"B":{"red":3,"red":3}}}"#;
        assert_eq!(error(&with(twice)), "the red connection A – B is there twice");
        let said = error(&with("7"));
        assert!(said.contains("invalid type: integer `7`, expected an object"), "{said}");
        assert_eq!(error(&with(r#"{"A":{"A":{"red":3}}}"#)), r#""A" is connected to itself"#);
        assert_eq!(
            error(&with(r#"{"A":{"D":{"red":3}}}"#)),
            r#"a connection names "D", which is not a city of the map"#
        );
        assert_eq!(
            error(&with(r#"{"A":{"B":{"pink":3}}}"#)),
            r#"the connection A – B is "pink", which is not a colour of the game"#
        );
        assert_eq!(
            error(&with(r#"{"A":{"B":{"red":6}}}"#)),
            "the red connection A – B has 6 segments, not 3, 4 or 5"
        );
    }

    #[test]
    fn cities_have_names_and_spots_of_their_own() {
        let of = |width: &str, cities: &str| {
            error(&format!(
                r#"{{"width":{width},"height":10,"cities":[{cities}],"connections":{{}}}}"#
            ))
        };
        assert_eq!(of("9", ""), "the width is 9, not between 10 and 800");
        assert_eq!(of("801", ""), "the width is 801, not between 10 and 800");
        assert_eq!(of("10", r#"["A",[0,0]],["A",[1,0]]"#), r#"two cities are called "A""#);
        assert_eq!(of("10", r#"["A",[1,0]],["A",[1,0]]"#), r#"two cities are called "A""#);
        assert_eq!(of("10", r#"["B",[1,2]],["A",[1,2]]"#), r#""A" and "B" share the spot [1,2]"#);
        assert_eq!(of("10", r#"["A",[11,0]]"#), r#""A" at [11,0] is off the map"#);
        assert!(of("10", r#"["A",[1.5,0]]"#).contains("floating point `1.5`"));
        assert!(of("10", r#"["A",[-1,0]]"#).contains("integer `-1`"));
        assert!(of("10", r#"["A",[1,0,0]]"#).starts_with("not a map"));
        assert!(of("10", r#"["A!",[1,0]]"#).starts_with(r#""A!" is not the name of a city"#));
    }

    #[test]
    fn hostile_sizes_are_refused() {
        let cities: Vec<String> =
            (0..1001).map(|at| format!(r#"["{at}",[{},{}]]"#, at % 800, at / 800)).collect();
        let text = format!(
            r#"{{"width":800,"height":10,"cities":[{}],"connections":{{}}}}"#,
            cities.join(",")
        );
        assert_eq!(error(&text), "1001 cities are too many; at most 1000");
    }
}
