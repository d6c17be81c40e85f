//! Rulings: decisions of an operator about a tournament, always with the operator and their reason.

use crate::ids::PlayerName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A reason that is empty, too long, or has characters that would break a table or a log.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a reason (`why`) has 1 to {max} characters, no control characters, no outer spaces", max = Why::CHARS_MAX)]
pub struct BadWhy;

/// Why an operator did something, for people.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Why(Arc<str>);

impl Why {
    /// The longest reason, in characters.
    pub const CHARS_MAX: usize = 200;

    /// Parses a reason.
    pub fn new(why: &str) -> Result<Why, BadWhy> {
        let fits = (1..=Why::CHARS_MAX).contains(&why.chars().count()) && why.trim() == why;
        match fits && !why.chars().any(char::is_control) {
            true => Ok(Why(why.into())),
            false => Err(BadWhy),
        }
    }

    /// The reason as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Why {
    type Error = BadWhy;

    fn try_from(why: String) -> Result<Why, BadWhy> {
        Why::new(&why)
    }
}

impl From<Why> for String {
    fn from(why: Why) -> String {
        why.0.to_string()
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

/// The operator who decided something, and their reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ruling {
    /// The operator's account.
    pub by: PlayerName,
    /// Why.
    pub why: Why,
}

impl Ruling {
    /// The name under which the server makes rulings. No account has this name.
    pub const SERVER: &str = "the server";

    /// A ruling of the server.
    pub(crate) fn of_server(why: Why) -> Ruling {
        let by = PlayerName::new(Ruling::SERVER).expect("a valid player name");
        Ruling { by, why }
    }
}

/// Which players a restart of the server cut off, and why the tournament rests.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Interruption {
    /// The players who were connected before the restart and cannot reconnect by themselves.
    pub missing: Vec<PlayerName>,
    /// Why, for people.
    pub why: Why,
}

/// Another result for a match, or for a tournament, than the one it came to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Override {
    /// The winners: one or several. Without any, the match is void.
    pub winners: Vec<PlayerName>,
    /// The operator and their reason.
    #[serde(flatten)]
    pub ruling: Ruling,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_short_plain_and_not_empty() {
        for good in ["x", "the power failed – twice", &"é".repeat(200)] {
            let why = Why::new(good).unwrap();
            assert_eq!((why.as_str(), String::from(why.clone())), (good, good.to_owned()));
            assert_eq!(format!("{why} {why:?}"), format!("{good} {good:?}"));
        }
        for bad in ["", " ", " x", "x\n", "a\tb", &"é".repeat(201)] {
            assert!(Why::new(bad).is_err(), "{bad:?}");
            assert!(serde_json::from_value::<Why>(bad.into()).is_err(), "{bad:?}");
        }
    }
}
