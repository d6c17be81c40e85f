//! What a player on the wire of another system is told, and what it says, before it is put into that
//! system's words and after.
//!
//! [`Speaker`] is one connection's translation: pure, with no state but which reply is awaited and
//! what listeners were shown last. Rules, policies and time are other people's business.

use crate::{fish, sign_up, trains};
use agon_core::{GameResult, PlayerName};
use agon_games::Refusal;
use serde::de::DeserializeOwned;
use sign_up::BadSignUp;
use std::sync::Arc;

/// Something a player is told. Questions and views are JSON as the game writes them.
#[derive(Clone, Debug)]
pub enum Told {
    /// It is signed up.
    SignedUp {
        /// For the tournament that comes next, and not behind one that runs.
        next: bool,
    },
    /// Its tournament begins; to be answered.
    Begin {
        /// Whether the answer is a proposal, and not whether it is ready.
        proposes: bool,
    },
    /// A question of the game; to be answered.
    Question {
        /// What is asked.
        question: Vec<u8>,
        /// The game as the player sees it.
        view: Vec<u8>,
        /// The players, by seat.
        seats: Arc<[PlayerName]>,
    },
    /// The game as everybody sees it has changed.
    View {
        /// How it looks now.
        view: Vec<u8>,
        /// The players, by seat.
        seats: Arc<[PlayerName]>,
    },
    /// A game is over.
    GameOver {
        /// How it looks at its end.
        view: Vec<u8>,
        /// What came of it.
        result: Box<GameResult>,
    },
    /// Whether it won the game; to be answered.
    Won(bool),
    /// Whether it won the tournament; to be answered.
    End {
        /// Whether it did.
        won: bool,
    },
}

/// What is to be sent, and what comes after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spoken {
    /// Texts, each whole, nothing between or after them.
    pub texts: Vec<String>,
    /// What comes after them.
    pub then: Then,
}

/// What comes after something was told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// A reply, for [`Speaker::hear`].
    Reply,
    /// The wire has no words to ask this with: it is answered so for the player.
    Answered(&'static str),
}

impl Spoken {
    pub(crate) fn only(texts: impl IntoIterator<Item = String>) -> Spoken {
        Spoken { texts: texts.into_iter().collect(), then: Then::Nothing }
    }

    pub(crate) fn asks(text: String) -> Spoken {
        Spoken { texts: vec![text], then: Then::Reply }
    }

    pub(crate) fn answered(text: Option<String>) -> Spoken {
        Spoken { texts: text.into_iter().collect(), then: Then::Answered("\"ok\"") }
    }
}

/// Which words a port expects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// Those of Fish: of one vocabulary, or of both, told apart by the first value.
    Fish(Option<fish::Vocabulary>),
    /// Those of Trains.
    Trains(trains::Vocabulary),
}

/// One connection's translation.
#[derive(Clone, Debug)]
pub enum Speaker {
    /// Fish.
    Fish(fish::Speaker),
    /// Trains.
    Trains(trains::Speaker),
}

impl Language {
    /// Reads the first value of a connection: who is it, and how does it speak?
    pub fn sign_up(self, first: &str, strict: bool) -> Result<(PlayerName, Speaker), BadSignUp> {
        match self {
            Language::Fish(only) => {
                let (vocabulary, name) = fish::sign_up(first, strict)?;
                if only.is_some_and(|only| only != vocabulary) {
                    return Err(BadSignUp::NotASignUp(sign_up::cut(first)));
                }
                Ok((name, Speaker::Fish(fish::Speaker::new(vocabulary))))
            }
            Language::Trains(vocabulary) => {
                let name = trains::sign_up(first, strict)?;
                Ok((name, Speaker::Trains(trains::Speaker::new(vocabulary))))
            }
        }
    }
}

impl Speaker {
    /// Whether it wants to be told of changes that ask for nothing.
    pub fn listens(&self) -> bool {
        match self {
            Speaker::Fish(speaker) => speaker.listens(),
            Speaker::Trains(_) => false,
        }
    }

    /// Puts something into words. Refused is what this wire has none for: a question of another
    /// game.
    pub fn tell(&mut self, told: &Told) -> Result<Spoken, Refusal> {
        match self {
            Speaker::Fish(speaker) => speaker.tell(told),
            Speaker::Trains(speaker) => speaker.tell(told),
        }
    }

    /// A reply as the answer that was asked for.
    pub fn hear(&mut self, text: &str) -> Result<String, Refusal> {
        match self {
            Speaker::Fish(speaker) => speaker.hear(text),
            Speaker::Trains(speaker) => speaker.hear(text),
        }
    }
}

/// Reads what a game wrote; another game's is refused.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8], game: &str) -> Result<T, Refusal> {
    serde_json::from_slice(json)
        .map_err(|_| Refusal::malformed(format!("this wire has words for {game} only")))
}

/// A reply that nothing was asked for.
pub(crate) fn unasked() -> Refusal {
    Refusal::malformed("nothing was asked")
}
