//! Yahtzee in Erlang terms, `docs/protocol/erlang.md`: the three vocabularies of programs on Erlang
//! nodes, and the parts of the distribution protocol that need no socket.
//!
//! ```text
//!   term, decode, encode      terms and the external term format
//!   class, referee, queue     the vocabularies: messages to and from terms
//!   └─ play                   what they share of the game
//!   session                   one player's session: between a vocabulary and the native protocol
//!   └─ request, refs          its open requests, and the references that identify them
//!   epmd, handshake, control  names and ports, the handshake, control messages
//!   └─ frames                 how bytes are cut into messages
//!   location                  where a process is, as the log stores it
//! ```
//!
//! This module implements no game rule. It rejects a message only if the message is invalid or
//! answers another question. An answer that breaks a rule goes to the game, which rejects it.

pub mod class;
pub mod control;
pub mod decode;
pub mod encode;
pub mod epmd;
pub mod frames;
pub mod handshake;
pub mod location;
mod play;
pub mod queue;
pub mod referee;
pub mod refs;
mod request;
pub mod session;
pub mod term;

pub use play::Answers;

use agon_core::{BadName, PlayerName};
use std::fmt;
use term::Term;

/// A password. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// A term that is no message of a vocabulary.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadMessage {
    /// Not a message of the vocabulary.
    #[error("not a message")]
    NotAMessage,
    /// A known message with invalid fields.
    #[error("{message}: {problem}")]
    Field {
        /// The message.
        message: &'static str,
        /// The problem.
        problem: &'static str,
    },
    /// An invalid account name.
    #[error("{message}: {bad}")]
    Name {
        /// The message.
        message: &'static str,
        /// The problem of the name.
        bad: BadName,
    },
}

/// A message of any vocabulary.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// Sent to `yahtzee_manager`.
    Class(class::FromPlayer),
    /// Sent to `main_manager`.
    Referee(referee::FromPlayer),
    /// Sent to `tournament_manager`.
    Queue(queue::FromPlayer),
}

/// The registered names of the three vocabularies on the node.
pub const NAMES: [&str; 3] = ["yahtzee_manager", "main_manager", "tournament_manager"];

/// Decodes a message, and detects its vocabulary by its form. No message fits two vocabularies.
pub fn read(term: &Term) -> Result<Message, BadMessage> {
    let tried = match class::read(term) {
        Err(BadMessage::NotAMessage) => referee::read(term).map(Message::Referee),
        read => read.map(Message::Class),
    };
    match tried {
        Err(BadMessage::NotAMessage) => queue::read(term).map(Message::Queue),
        read => read,
    }
}

/// The name of an account, from a field of `message`: a string, or an atom.
fn name(message: &'static str, term: &Term) -> Result<PlayerName, BadMessage> {
    let problem = "the name is neither a string nor an atom";
    let text = text_or_atom(term).ok_or(BadMessage::Field { message, problem })?;
    PlayerName::new(&text).map_err(|bad| BadMessage::Name { message, bad })
}

fn password(message: &'static str, term: &Term) -> Result<Password, BadMessage> {
    let problem = "the password is neither a string nor an atom";
    text_or_atom(term).map(Password).ok_or(BadMessage::Field { message, problem })
}

fn text_or_atom(term: &Term) -> Option<String> {
    term.text().or_else(|| term.as_atom().map(str::to_owned))
}

/// A name as a program spells it, so that it reads its own spelling back: a list of code points,
/// unless it used an atom.
fn spelling(term: &Term) -> Term {
    match term.as_atom() {
        Some(_) => term.clone(),
        None => Term::string(&term.text().unwrap_or_default()),
    }
}

fn strings<'a>(names: impl IntoIterator<Item = &'a PlayerName>) -> Term {
    Term::List(names.into_iter().map(|name| Term::string(name.as_str())).collect())
}
