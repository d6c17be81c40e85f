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
    /// A part of the beginning, told again to a program that is new to a game that goes on. The
    /// answer is checked for its form and changes nothing.
    Again {
        /// Which part.
        part: Part,
        /// What the program is asked after the beginning; empty outside games.
        question: Vec<u8>,
        /// The game as the player sees it; empty outside games.
        view: Vec<u8>,
        /// The players, by seat.
        seats: Arc<[PlayerName]>,
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

/// A part of the beginning of a tournament or of a game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The tournament begins.
    Start,
    /// What the player has: its colour, or its rails and cards.
    Own,
    /// Who else plays.
    Others,
    /// The position.
    Position,
}

impl Told {
    /// Parts of the beginning that come before a question, or before something else.
    pub(crate) fn again(&self, parts: &[Part]) -> Vec<Told> {
        let (question, view, seats) = match self {
            Told::Question { question, view, seats } => (&question[..], &view[..], seats.clone()),
            _ => (&[][..], &[][..], [].into()),
        };
        let part = |part: &Part| Told::Again {
            part: *part,
            question: question.to_vec(),
            view: view.to_vec(),
            seats: Arc::clone(&seats),
        };
        parts.iter().map(part).collect()
    }
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
    /// Reads the first value of a connection as a request to observe; `None` if it is something
    /// else, or if this port has no words for observers.
    pub fn observer(self, first: &str) -> Option<Result<fish::observer::Follow, BadSignUp>> {
        match self {
            Language::Fish(Some(fish::Vocabulary::Call)) | Language::Trains(_) => None,
            Language::Fish(_) => fish::observer::observer_request(first),
        }
    }

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

    /// What has to be told before `told`, because the program behind this connection is new to a
    /// tournament that goes on. Once it was asked for, the program counts as told.
    pub fn beginning(&mut self, told: &Told) -> Vec<Told> {
        match self {
            Speaker::Fish(speaker) => speaker.beginning(told),
            Speaker::Trains(speaker) => speaker.beginning(told),
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
