//! The messages to and from a player on the wire of another system, independent of that system's
//! vocabulary.
//!
//! [`Speaker`] translates for one connection. It is pure; its only state is the awaited reply and
//! the last view that listeners saw. It knows no rules, policies or clocks.

use crate::{fish, sign_up, trains};
use agon_core::{GameResult, PlayerName};
use agon_games::Refusal;
use serde::de::DeserializeOwned;
use sign_up::BadSignUp;
use std::sync::Arc;

/// A message to a player. Questions and views are JSON as the game writes them.
#[derive(Clone, Debug)]
pub enum PeerMessage {
    /// It is signed up.
    SignedUp {
        /// For the tournament that comes next, and not behind one that runs.
        next: bool,
    },
    /// Its tournament begins; to be answered.
    Begin {
        /// True if the answer is a proposal; otherwise it says whether the player is ready.
        proposes: bool,
    },
    /// A part of the beginning, repeated for a program that is new to a running game. The form of
    /// its answer is checked, but the answer changes nothing.
    Again {
        /// Which part.
        part: Part,
        /// The question after the beginning; empty outside games.
        question: Vec<u8>,
        /// The game as the player sees it; empty outside games.
        view: Vec<u8>,
        /// The players, by seat.
        seats: Arc<[PlayerName]>,
    },
    /// A question of the game, or did not; to be answered.
    Question {
        /// The question.
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
        /// The result.
        result: Box<GameResult>,
    },
    /// It won the game, or did not; to be answered.
    Won(bool),
    /// It won the tournament, or did not; to be answered.
    End {
        /// True if it did.
        won: bool,
    },
}

/// A part of the beginning of a tournament or of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The tournament begins.
    Start,
    /// The player's own colour, or rails and cards.
    Own,
    /// The other players.
    Others,
    /// The position.
    Position,
}

impl PeerMessage {
    /// Parts of the beginning that come before a question, or before something else.
    pub(crate) fn again(&self, parts: &[Part]) -> Vec<PeerMessage> {
        let (question, view, seats) = match self {
            PeerMessage::Question { question, view, seats } => {
                (&question[..], &view[..], seats.clone())
            }
            _ => (&[][..], &[][..], [].into()),
        };
        let part = |part: &Part| PeerMessage::Again {
            part: *part,
            question: question.to_vec(),
            view: view.to_vec(),
            seats: Arc::clone(&seats),
        };
        parts.iter().map(part).collect()
    }
}

/// The texts to send, and the reaction to them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spoken {
    /// Texts, each whole, nothing between or after them.
    pub texts: Vec<String>,
    /// The reaction to the texts.
    pub then: Then,
}

/// The reaction to a message.
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
    /// The wire of Fish: one vocabulary, or both, distinguished by the first value.
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
    /// Reads the first value of a connection as a request to observe; `None` if it is something
    /// else, or if this port has no words for observers.
    pub fn observer(self, first: &str) -> Option<Result<fish::observer::Follow, BadSignUp>> {
        match self {
            Language::Fish(Some(fish::Vocabulary::Call)) | Language::Trains(_) => None,
            Language::Fish(_) => fish::observer::observer_request(first),
        }
    }

    /// Reads the first value of a connection: its name and vocabulary.
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
    /// Returns whether it wants messages about changes that need no answer.
    pub fn listens(&self) -> bool {
        match self {
            Speaker::Fish(speaker) => speaker.listens(),
            Speaker::Trains(_) => false,
        }
    }

    /// The messages that must precede `message`, because the program behind this connection is new to
    /// a running tournament. After this call the program counts as informed.
    pub fn beginning(&mut self, message: &PeerMessage) -> Vec<PeerMessage> {
        match self {
            Speaker::Fish(speaker) => speaker.beginning(message),
            Speaker::Trains(speaker) => speaker.beginning(message),
        }
    }

    /// Translates a message. Fails if this wire has no words for it, for example for a question of
    /// another game.
    pub fn tell(&mut self, message: &PeerMessage) -> Result<Spoken, Refusal> {
        match self {
            Speaker::Fish(speaker) => speaker.tell(message),
            Speaker::Trains(speaker) => speaker.tell(message),
        }
    }

    /// Translates a reply into the expected answer.
    pub fn hear(&mut self, text: &str) -> Result<String, Refusal> {
        match self {
            Speaker::Fish(speaker) => speaker.hear(text),
            Speaker::Trains(speaker) => speaker.hear(text),
        }
    }
}

/// Parses the JSON of a game; fails for another game's.
pub(crate) fn read<T: DeserializeOwned>(json: &[u8], game: &str) -> Result<T, Refusal> {
    serde_json::from_slice(json)
        .map_err(|_| Refusal::malformed(format!("this wire has words for {game} only")))
}

/// The refusal of a reply without a question.
pub(crate) fn unasked() -> Refusal {
    Refusal::malformed("nothing was asked")
}
