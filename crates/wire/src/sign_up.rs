//! The first value of a connection to the Fish and Trains wires: who is it?
//!
//! It is read apart from what follows, for some programs send their name without quotes, which is
//! no JSON. Where the operator allows that, a word of letters and digits is taken for a name.

use crate::values::{BadStream, Limits, Values};
use agon_core::{BadName, PlayerName};

/// The longest name without quotes that is read; every name is shorter.
const WORD_MAX: usize = 64;

/// A first value that signs nobody up.
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
}

/// What was wrong, short enough to be repeated.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(60).collect()
}

/// A name of 1 to `max` letters; with `lenient`, of letters and digits.
pub(crate) fn letters(name: &str, max: usize, lenient: bool) -> Result<PlayerName, BadSignUp> {
    let known = |byte: u8| byte.is_ascii_alphabetic() || (lenient && byte.is_ascii_digit());
    if name.is_empty() || name.len() > max || !name.bytes().all(known) {
        return Err(BadSignUp::NotLetters { name: cut(name), max });
    }
    Ok(PlayerName::new(name)?)
}

/// A connection that has not said who it is.
#[derive(Clone, Debug)]
pub struct Newcomer {
    values: Values,
    first: First,
}

/// What the first value looks like so far.
#[derive(Clone, PartialEq, Eq, Debug)]
enum First {
    /// Nothing but space has come, and names may lack quotes.
    Unknown,
    /// A JSON value.
    Value,
    /// A word without quotes.
    Word {
        text: Vec<u8>,
        /// Whether something else has come after it.
        ended: bool,
    },
}

impl Newcomer {
    /// A connection whose values keep to `limits`; with `lenient`, names may lack quotes.
    pub fn new(limits: Limits, lenient: bool) -> Newcomer {
        let first = if lenient { First::Unknown } else { First::Value };
        Newcomer { values: Values::new(limits), first }
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
            let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric());
            let (more, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            let room = WORD_MAX + 1 - text.len();
            text.extend_from_slice(&more[..more.len().min(room)]);
            *ended = end.is_some();
            bytes = rest;
        }
        self.values.push(bytes);
    }

    /// The first value as JSON text, if it is whole.
    pub fn take(&mut self) -> Option<Result<String, BadStream>> {
        match &self.first {
            First::Unknown => None,
            First::Value => self.values.take().map(|value| value.map(str::to_owned)),
            First::Word { text, ended } => (*ended || text.len() > WORD_MAX).then(|| quoted(text)),
        }
    }

    /// The first value if it is whole when nothing follows: call it when [`take`](Newcomer::take)
    /// gives nothing and the peer has been silent for a while.
    pub fn flush(&mut self) -> Option<Result<String, BadStream>> {
        match &self.first {
            First::Unknown => None,
            First::Value => self.values.flush().map(|value| value.map(str::to_owned)),
            First::Word { text, .. } => Some(quoted(text)),
        }
    }

    /// The stream of what follows the first value.
    pub fn into_values(self) -> Values {
        self.values
    }
}

/// A word as a JSON string.
fn quoted(word: &[u8]) -> Result<String, BadStream> {
    if word.len() > WORD_MAX {
        return Err(BadStream::TooLong(WORD_MAX));
    }
    let word = std::str::from_utf8(word).expect("letters and digits");
    Ok(format!("\"{word}\""))
}
