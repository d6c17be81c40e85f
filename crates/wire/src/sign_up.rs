//! The first value of a connection to the Fish and Trains wires: its name.
//!
//! It is parsed separately, because some programs send their name without quotes, which is not
//! JSON. Unless names are strict, a bare word is a name. A word that begins an HTTP request is
//! never a name.

use crate::values::{BadValues, Limits, Values};
use agon_core::{BadName, PlayerName};

/// The longest name without quotes that is read; every name is shorter.
const WORD_MAX: usize = 64;

/// A first value that is no sign-up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadSignUp {
    /// Neither a name nor a request to sign up.
    #[error("the first value is neither a name nor a request to sign up: {0}")]
    NotASignUp(String),
    /// A name this wire does not take.
    #[error("{name:?} is not a name: 1 to {max} letters")]
    NotLetters {
        /// The name, cut.
        name: String,
        /// The most letters.
        max: usize,
    },
    /// A name no wire takes.
    #[error(transparent)]
    NotAName(#[from] BadName),
    /// An HTTP request: a browser or a probe, and no player.
    #[error("an HTTP request is no sign-up")]
    Http,
    /// Bytes that are not JSON.
    #[error(transparent)]
    Stream(#[from] BadValues),
}

/// The offending text, shortened for an error message.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// A name; if names are `strict`, one of 1 to `max` letters.
pub(crate) fn checked_name(name: &str, max: usize, strict: bool) -> Result<PlayerName, BadSignUp> {
    let letters = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphabetic());
    if strict && (name.is_empty() || name.len() > max || !letters(name)) {
        return Err(BadSignUp::NotLetters { name: cut(name), max });
    }
    Ok(PlayerName::new(name.trim())?)
}

/// A connection whose name is not known yet.
#[derive(Clone, Debug)]
pub struct Newcomer {
    values: Values,
    first: First,
    strict: bool,
}

/// The first value so far.
#[derive(Clone, PartialEq, Eq, Debug)]
enum First {
    /// Nothing but space has come.
    Unknown,
    /// A JSON value.
    Value,
    /// A word without quotes.
    Word {
        text: Vec<u8>,
        /// True if something else has come after it.
        ended: bool,
    },
}

impl Newcomer {
    /// A connection whose values keep to `limits`; if names are `strict`, they have quotes.
    pub fn new(limits: Limits, strict: bool) -> Newcomer {
        Newcomer { values: Values::new(limits), first: First::Unknown, strict }
    }

    /// Adds bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        if self.first == First::Unknown {
            bytes = bytes.trim_ascii_start();
            self.first = match bytes.first() {
                None => return,
                Some(byte) if byte.is_ascii_alphanumeric() => {
                    First::Word { text: Vec::new(), ended: false }
                }
                Some(_) => First::Value,
            };
        }
        if let First::Word { text, ended: ended @ false } = &mut self.first {
            let end = bytes.iter().position(|byte| !is_word(*byte));
            let (more, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            let room = WORD_MAX + 1 - text.len();
            text.extend_from_slice(&more[..more.len().min(room)]);
            *ended = end.is_some();
            bytes = rest;
        }
        self.values.push(bytes);
    }

    /// The first value as JSON text, if it is whole.
    pub fn take(&mut self) -> Option<Result<String, BadSignUp>> {
        match &self.first {
            First::Unknown => None,
            First::Value => self.values.take().map(|value| Ok(value?.to_owned())),
            First::Word { text, ended } => {
                (*ended || text.len() > WORD_MAX).then(|| quoted(text, self.strict))
            }
        }
    }

    /// The first value if it is whole when nothing follows: call it when [`take`](Newcomer::take)
    /// gives nothing and the peer has been silent for a while.
    pub fn flush(&mut self) -> Option<Result<String, BadSignUp>> {
        match &self.first {
            First::Unknown => None,
            First::Value => self.values.flush().map(|value| Ok(value?.to_owned())),
            First::Word { text, .. } => Some(quoted(text, self.strict)),
        }
    }

    /// The stream after the first value.
    pub fn into_values(self) -> Values {
        self.values
    }
}

/// The first words of HTTP requests.
const METHODS: [&str; 9] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// Returns whether a byte may follow the first of a word.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// A word as a JSON string.
fn quoted(word: &[u8], strict: bool) -> Result<String, BadSignUp> {
    if word.len() > WORD_MAX {
        return Err(BadValues::TooLong(WORD_MAX).into());
    }
    let word = std::str::from_utf8(word).expect("letters, digits and signs of ASCII");
    if METHODS.contains(&word) {
        return Err(BadSignUp::Http);
    }
    match strict {
        true => Err(BadSignUp::NotASignUp(cut(word))),
        false => Ok(format!("\"{word}\"")),
    }
}
