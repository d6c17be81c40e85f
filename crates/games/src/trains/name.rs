//! Names of cities, and unordered pairs of them.
//!
//! Both are small values without a pointer: answers made in this process are copied and compared
//! without an allocation or a count of references.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// The most characters a city's name has.
pub const NAME_LEN_MAX: usize = 25;

/// The name of a city: 1 to 25 of `[a-zA-Z0-9 .,]`. Ordered by code point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(
    /// Padded with zero bytes, which sort before every character a name may have.
    [u8; NAME_LEN_MAX],
);

/// Text that is not the name of a city.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not the name of a city: 1 to 25 of a-z A-Z 0-9 space dot comma")]
pub struct NameError(pub String);

impl Name {
    /// The name, if the text is one.
    pub fn new(text: &str) -> Result<Name, NameError> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b" .,".contains(&byte);
        if text.is_empty() || text.len() > NAME_LEN_MAX || !text.bytes().all(known) {
            // Hostile text may be long; the error repeats only enough to identify it.
            return Err(NameError(text.chars().take(2 * NAME_LEN_MAX).collect()));
        }
        let mut bytes = [0; NAME_LEN_MAX];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Name(bytes))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(self.as_bytes()).expect("names are ASCII")
    }

    /// The characters of the name, which are ASCII.
    pub(super) fn as_bytes(&self) -> &[u8] {
        let len = self.0.iter().position(|byte| *byte == 0).unwrap_or(NAME_LEN_MAX);
        &self.0[..len]
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
        struct Text;
        impl de::Visitor<'_> for Text {
            type Value = Name;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a city")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Name, E> {
                Name::new(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Two different cities. On the wire `[A,B]` with A before B; either order is understood.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "(Name, Name)", into = "(Name, Name)")]
pub struct Pair {
    first: Name,
    second: Name,
}

/// One city given twice where two are needed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is paired with itself")]
pub struct SameCity(pub Name);

impl Pair {
    /// The pair of two cities, in either order.
    pub fn new(one: Name, other: Name) -> Result<Pair, SameCity> {
        match one.cmp(&other) {
            std::cmp::Ordering::Less => Ok(Pair { first: one, second: other }),
            std::cmp::Ordering::Equal => Err(SameCity(one)),
            std::cmp::Ordering::Greater => Ok(Pair { first: other, second: one }),
        }
    }

    /// The pair of two cities whose order is known.
    #[inline]
    pub(super) fn in_order(first: Name, second: Name) -> Pair {
        debug_assert!(first < second, "{first} before {second}");
        Pair { first, second }
    }

    /// The city that comes first by code point.
    #[inline]
    pub fn first(&self) -> Name {
        self.first
    }

    /// The other city.
    #[inline]
    pub fn second(&self) -> Name {
        self.second
    }
}

impl TryFrom<(Name, Name)> for Pair {
    type Error = SameCity;

    fn try_from((one, other): (Name, Name)) -> Result<Pair, SameCity> {
        Pair::new(one, other)
    }
}

impl From<Pair> for (Name, Name) {
    fn from(pair: Pair) -> (Name, Name) {
        (pair.first, pair.second)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} – {}", self.first, self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    #[test]
    fn names_sort_by_code_point_and_a_prefix_comes_first() {
        let mut names = ["a", "Z", "New York", "New", "10", "9", "New York, N.Y."].map(name);
        names.sort_unstable();
        assert_eq!(
            names.map(|name| name.to_string()).join("|"),
            "10|9|New|New York|New York, N.Y.|Z|a"
        );
    }

    #[test]
    fn text_that_is_too_long_empty_or_odd_is_no_name() {
        for text in ["", "São Paulo", "a-b", "a\0", "abcdefghijklmnopqrstuvwxyz"] {
            assert_eq!(Name::new(text), Err(NameError(text.into())));
        }
        assert_eq!(name("abcdefghijklmnopqrstuvwxy").as_str().len(), NAME_LEN_MAX);
    }

    #[test]
    fn pairs_are_read_in_either_order_and_written_in_one() {
        let pair: Pair = serde_json::from_str(r#"["b","a"]"#).expect("a pair");
        assert_eq!(pair, Pair::new(name("a"), name("b")).expect("two cities"));
        assert_eq!(serde_json::to_string(&pair).expect("JSON"), r#"["a","b"]"#);
        assert!(serde_json::from_str::<Pair>(r#"["a","a"]"#).is_err());
        assert!(serde_json::from_str::<Pair>(r#"["a","b","c"]"#).is_err());
    }
}
