//! Why an answer or a set-up is rejected.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The longest sentence that repeats a sender's own words.
const BRIEF_CHARS_MAX: usize = 300;

/// Truncates a sentence that may repeat long input.
pub fn brief(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(BRIEF_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// The kind of a refusal. Policies treat the kinds differently: Fish, for example, separates
/// cheating players from failing ones.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// The seat owes no answer now.
    NotAsked,
    /// Not an answer at all: it does not parse.
    Malformed,
    /// An answer, but not of the kind that was asked for.
    WrongKind,
    /// An answer of the right kind that breaks a rule: cheating.
    Illegal,
}

/// A typed reason for rejecting an answer. The game's state is unchanged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Refusal {
    /// The kind of refusal.
    pub kind: RefusalKind,
    /// A stable word for machines, such as `box-filled`.
    pub code: Cow<'static, str>,
    /// A sentence for people, with the values concerned.
    pub detail: String,
}

impl Refusal {
    /// The seat owes no answer now.
    pub fn not_asked(detail: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::NotAsked, "not-asked", detail)
    }

    /// The answer does not parse.
    pub fn malformed(detail: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Malformed, "malformed", detail)
    }

    /// The answer is not of the kind that was asked for.
    pub fn wrong_kind(detail: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::WrongKind, "wrong-kind", detail)
    }

    /// The answer breaks the rule named by `code`.
    pub fn illegal(code: &'static str, detail: impl Into<String>) -> Refusal {
        Refusal::new(RefusalKind::Illegal, code, detail)
    }

    fn new(kind: RefusalKind, code: &'static str, detail: impl Into<String>) -> Refusal {
        Refusal { kind, code: Cow::Borrowed(code), detail: detail.into() }
    }
}

/// Why a game cannot be set up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// The game is not for this many players.
    #[error("{game} is for {min} to {max} players, not {given}")]
    Seats {
        /// The game's name.
        game: &'static str,
        /// The fewest players it takes.
        min: usize,
        /// The most players it takes.
        max: usize,
        /// How many were given.
        given: usize,
    },
    /// The configuration does not parse or contradicts itself.
    #[error("bad configuration: {0}")]
    Config(String),
    /// The board or map is too small for the players.
    #[error("{0}")]
    TooSmall(String),
}
