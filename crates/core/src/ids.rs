//! Names and numbers that cross module borders, each its own type.

use agon_games::Json;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Milliseconds since the Unix epoch, or a length of time in milliseconds.
pub type Millis = u64;

/// A player's name is empty, too long or has characters that would spoil a table or a log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a player's name: 1 to 50 characters, no control characters, no outer spaces")]
pub struct BadName(pub String);

/// The name an account plays under.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlayerName(Arc<str>);

impl PlayerName {
    /// Parses a name.
    pub fn new(name: &str) -> Result<PlayerName, BadName> {
        let length = name.chars().count();
        let fits = (1..=50).contains(&length) && name.trim() == name;
        if !fits || name.chars().any(char::is_control) {
            return Err(BadName(name.chars().take(60).collect()));
        }
        Ok(PlayerName(name.into()))
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
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The id that is spelt so.
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
                $name(text.into().into())
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

text_id! {
    /// One tournament.
    TournamentId
}

text_id! {
    /// One match of a tournament: `r2m1` is the first match of the second round.
    MatchId
}

text_id! {
    /// One request to one player. The same id is the same request, also after a restart:
    /// `r2m1.3.0.17` is the 18th question to seat 0 in game 3 of match `r2m1`.
    RequestId
}

impl RequestId {
    /// A match's id and numbers after it, joined by dots. Made for every request, so it avoids the
    /// formatting machinery.
    pub(crate) fn numbered(id: &MatchId, numbers: &[u32]) -> RequestId {
        let mut text = String::with_capacity(id.0.len() + numbers.len() * 11);
        text.push_str(&id.0);
        for number in numbers {
            text.push('.');
            push_number(&mut text, *number);
        }
        RequestId(text.as_str().into())
    }
}

fn push_number(text: &mut String, number: u32) {
    if number >= 10 {
        push_number(text, number / 10);
    }
    text.push(char::from(b'0' + (number % 10) as u8));
}

impl MatchId {
    /// Match `number` of round `round`, both from 1.
    pub fn of(round: u32, number: u32) -> MatchId {
        MatchId::from(format!("r{round}m{number}"))
    }
}

/// JSON text that compares by its characters. Values in events are kept in canonical form, so equal
/// values have equal text.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Raw(pub Json);

impl Raw {
    /// The text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Parses text as one JSON value.
    pub fn parse(text: &str) -> Result<Raw, serde_json::Error> {
        serde_json::from_str::<&serde_json::value::RawValue>(text).map(|raw| Raw(raw.to_owned()))
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
