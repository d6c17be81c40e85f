//! Names and numbers that several modules share, each with a type of its own.

use agon_games::Json;
use schemars::JsonSchema;
use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use smol_str::SmolStr;
use std::fmt;
use std::ops::{Add, AddAssign};
use std::sync::Arc;

/// A length of time in milliseconds.
pub type Millis = u64;

/// A moment, in milliseconds since the Unix epoch. A moment and a length of time add up to a
/// moment. Two moments differ by a length of time.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Timestamp(u64);

impl Timestamp {
    /// A moment that comes after all others.
    pub const MAX: Timestamp = Timestamp(u64::MAX);

    /// The moment this many milliseconds after the Unix epoch.
    pub const fn from_ms(ms: u64) -> Timestamp {
        Timestamp(ms)
    }

    /// The milliseconds since the Unix epoch.
    pub const fn as_ms(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; nothing if it is not earlier.
    pub const fn since(self, earlier: Timestamp) -> Millis {
        self.0.saturating_sub(earlier.0)
    }

    /// The moment `span` after this one, or the last one there is.
    pub const fn saturating_add(self, span: Millis) -> Timestamp {
        Timestamp(self.0.saturating_add(span))
    }

    /// The moment `span` before this one, or the first one there is.
    pub const fn before(self, span: Millis) -> Timestamp {
        Timestamp(self.0.saturating_sub(span))
    }
}

impl Add<Millis> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Millis) -> Timestamp {
        self.saturating_add(span)
    }
}

impl AddAssign<Millis> for Timestamp {
    fn add_assign(&mut self, span: Millis) {
        *self = *self + span;
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A player's name that is empty, too long, or has characters that would break a table or a log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a player's name: 1 to 50 characters, no control characters, no outer spaces")]
pub struct BadName(pub String);

/// The name an account plays under.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = 50))]
pub struct PlayerName(Arc<str>);

impl PlayerName {
    /// The longest name.
    pub const CHARS_MAX: usize = 50;

    /// Parses a name.
    pub fn new(name: &str) -> Result<PlayerName, BadName> {
        let length = name.chars().count();
        let fits = (1..=PlayerName::CHARS_MAX).contains(&length) && name.trim() == name;
        if !fits || name.chars().any(char::is_control) {
            return Err(BadName(name.chars().take(60).collect()));
        }
        Ok(PlayerName(name.into()))
    }

    /// The prefix of the names of house players.
    pub const HOUSE: &str = "house:";

    /// The name of a house player in tournaments.
    pub fn of_house(name: &str) -> Result<PlayerName, BadName> {
        PlayerName::new(&format!("{}{name}", PlayerName::HOUSE))
    }

    /// The house player that this is; `None` if it is not one.
    pub fn house(&self) -> Option<&str> {
        PlayerName::house_in(&self.0)
    }

    /// The house player that a text names, such as `greedy` in `house:greedy`; `None` if it names
    /// none.
    pub fn house_in(text: &str) -> Option<&str> {
        text.strip_prefix(PlayerName::HOUSE)
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PlayerName {
    type Error = BadName;

    fn try_from(name: String) -> Result<PlayerName, BadName> {
        PlayerName::new(&name)
    }
}

impl From<PlayerName> for String {
    fn from(name: PlayerName) -> String {
        name.0.to_string()
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident($text:ty)) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub struct $name(#[schemars(with = "String")] $text);

        impl $name {
            /// The id with this text.
            pub fn from_text(text: &str) -> $name {
                $name(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<String>> From<T> for $name {
            fn from(text: T) -> $name {
                $name(<$text>::from(text.into()))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

/// A player's age in years, as the player gives it. It only orders players.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Age(pub u16);

text_id! {
    /// One tournament.
    TournamentId(Arc<str>)
}

text_id! {
    /// One match of a tournament: `r2m1` is the first match of the second round.
    MatchId(Arc<str>)
}

// Many request ids are created and few are long: short ones need no allocation.
text_id! {
    /// One request to one player. The same id is the same request, also after a restart:
    /// `r2m1.3.0.17` is the 18th question to seat 0 in game 3 of match `r2m1`.
    RequestId(SmolStr)
}

impl RequestId {
    /// A match's id followed by numbers, joined by dots. It is created for every request, so it
    /// avoids the formatting machinery and extra allocations.
    pub(crate) fn numbered(id: &MatchId, numbers: [u32; 3]) -> RequestId {
        let mut text = Spelt::default();
        if text.spell(id, numbers) {
            return RequestId(text.as_str().into());
        }
        let [game, seat, turn] = numbers;
        RequestId(format!("{id}.{game}.{seat}.{turn}").into())
    }

    /// Returns whether the id is spelt as [`RequestId::numbered`] spells it.
    pub(crate) fn is_numbered(&self, id: &MatchId, numbers: [u32; 3]) -> bool {
        let mut text = Spelt::default();
        match text.spell(id, numbers) {
            true => text.bytes[..text.len] == *self.0.as_bytes(),
            false => *self == RequestId::numbered(id, numbers),
        }
    }
}

/// How many bytes ids of requests usually have at most. A longer buffer takes longer to clear.
const SPELT_BYTES: usize = 48;

/// A buffer in which a request id is put together.
struct Spelt {
    bytes: [u8; SPELT_BYTES],
    len: usize,
}

impl Default for Spelt {
    fn default() -> Spelt {
        Spelt { bytes: [0; SPELT_BYTES], len: 0 }
    }
}

impl Spelt {
    /// Joins the parts of an id; `false` if the buffer is too small.
    fn spell(&mut self, id: &MatchId, numbers: [u32; 3]) -> bool {
        // A dot and ten digits for each number.
        if id.0.len() + numbers.len() * 11 > self.bytes.len() {
            return false;
        }
        self.push(id.0.as_bytes());
        for number in numbers {
            self.push(b".");
            self.push_number(number);
        }
        true
    }

    fn push(&mut self, piece: &[u8]) {
        self.bytes[self.len..self.len + piece.len()].copy_from_slice(piece);
        self.len += piece.len();
    }

    fn push_number(&mut self, number: u32) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(&[b'0' + (number % 10) as u8]);
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).expect("ids and digits are UTF-8")
    }
}

impl MatchId {
    /// Match `number` of round `round`, both from 1.
    pub fn of(round: u32, number: u32) -> MatchId {
        MatchId::from(format!("r{round}m{number}"))
    }
}

/// JSON text that compares by its characters. Values in events are kept in canonical form, so equal
/// values have equal text.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Raw(pub Json);

impl Raw {
    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Parses text as one JSON value.
    pub fn parse(text: &str) -> Result<Raw, serde_json::Error> {
        serde_json::from_str::<&RawValue>(text).map(|raw| Raw(raw.to_owned()))
    }
}

impl From<Json> for Raw {
    fn from(json: Json) -> Raw {
        Raw(json)
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// JSON text in an event, such as an answer. It compares by its characters, as [`Raw`] does. Short
/// texts need no allocation, and copies of long ones share their memory.
#[derive(Clone, PartialEq, Eq)]
pub struct JsonText(SmolStr);

impl JsonText {
    /// The text that a writer of JSON wrote.
    pub(crate) fn of_written(json: &[u8]) -> JsonText {
        JsonText(std::str::from_utf8(json).expect("JSON is UTF-8").into())
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The same text as a value of its own, for messages.
    pub fn to_raw(&self) -> Raw {
        Raw::parse(&self.0).expect("it is JSON")
    }
}

impl From<&RawValue> for JsonText {
    fn from(json: &RawValue) -> JsonText {
        JsonText(json.get().into())
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<JsonText, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(|json| JsonText::from(&*json))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_one_spelling_however_long_its_match_is_called() {
        for name in ["r1m1", &"m".repeat(200)] {
            let id = MatchId::from_text(name);
            let request = RequestId::numbered(&id, [10, 0, u32::MAX]);
            assert_eq!(request.as_str(), format!("{name}.10.0.4294967295"));
            assert!(request.is_numbered(&id, [10, 0, u32::MAX]));
            assert!(!request.is_numbered(&id, [10, 0, 1]));
            let padded = RequestId::from_text(&format!("{name}.10.0.01"));
            assert!(!padded.is_numbered(&id, [10, 0, 1]));
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        for good in ["a", "Ann Lee", &"é".repeat(50)] {
            let name = PlayerName::new(good).unwrap();
            assert_eq!((name.as_str(), String::from(name.clone())), (good, good.to_owned()));
            assert_eq!(format!("{name} {name:?}"), format!("{good} {good:?}"));
            assert_eq!(PlayerName::try_from(good.to_owned()), Ok(name));
        }
        for bad in ["", " a", "a ", "a\nb", "\u{7f}", &"é".repeat(51)] {
            assert_eq!(PlayerName::new(bad), Err(BadName(bad.into())));
            assert!(serde_json::from_value::<PlayerName>(bad.into()).is_err(), "{bad:?}");
        }
        let long = PlayerName::new(&"x".repeat(1_000)).unwrap_err();
        assert_eq!(long, BadName("x".repeat(60)), "no more is said again than tells it apart");
        assert_eq!(format!("[{:>5}]", PlayerName::new("ann").unwrap()), "[  ann]");
    }

    #[test]
    fn ids_are_written_as_they_are() {
        let id = MatchId::of(12, 3);
        assert_eq!((id.as_str(), format!("{id:>7} {id:?}")), ("r12m3", "  r12m3 r12m3".into()));
        assert_eq!(id, MatchId::from_text("r12m3"));
        for number in [0, 9, 10, 99, 100, 1_000_009] {
            let request = RequestId::numbered(&id, [number, 1, 0]);
            assert_eq!(request.as_str(), format!("r12m3.{number}.1.0"));
        }
    }

    #[test]
    fn raw_values_are_equal_if_their_text_is() {
        let raw = |text| Raw::parse(text).unwrap();
        assert_eq!(
            (raw("[1, 2]").get(), format!("{:?}", raw("[1, 2]"))),
            ("[1, 2]", "[1, 2]".into())
        );
        assert!(raw("[1]") == raw("[1]") && raw("[1]") != raw("[1 ]"));
        assert!(Raw::parse("[1").is_err());
        assert_eq!(Raw::from(agon_games::json(&[1])), raw("[1]"));
    }

    #[test]
    fn json_text_is_kept_as_it_is() {
        for text in ["\"ok\"", "[1, 2]", r#"{"keep":[true,true,true,true,true]}"#] {
            let json: JsonText = serde_json::from_str(text).unwrap();
            assert_eq!((json.get(), format!("{json:?}")), (text, text.to_owned()));
            assert_eq!(json, JsonText::of_written(text.as_bytes()));
            assert_eq!(serde_json::to_string(&json).unwrap(), text);
            assert_eq!(json.to_raw(), Raw::parse(text).unwrap());
        }
    }
}
