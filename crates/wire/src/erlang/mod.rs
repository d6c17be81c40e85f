//! Yahtzee in Erlang's terms, `docs/protocol/erlang.md`: the three vocabularies that programs on
//! Erlang nodes speak, and the parts of the distribution protocol that need no socket.
//!
//! ```text
//!   term, decode, encode      terms and the external term format
//!   class, referee, queue     the vocabularies: messages to and from terms
//!   └─ play                   what they share of the game
//!   session                   one player's visit: between a vocabulary and the native protocol
//!   └─ asked, refs            what it was asked, and the references that stand for it
//!   epmd, handshake, control  names and ports, how two nodes meet, what they say afterwards
//!   └─ frames                 how it is cut into messages
//!   location                  where a process is, as the log keeps it
//! ```
//!
//! No rule is here. A message is refused only if it is none, or answers another question; what
//! breaks a rule goes to the game as the answer it is.

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

/// A password. It is never shown.
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
    /// Nothing that is said in it.
    #[error("not a message")]
    NotAMessage,
    /// A message by its name, but not by its fields.
    #[error("{message}: {problem}")]
    Field {
        /// Which message.
        message: &'static str,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A name no account can have.
    #[error("{message}: {bad}")]
    Name {
        /// Which message.
        message: &'static str,
        /// What is wrong with the name.
        bad: BadName,
    },
}

/// A message in whichever vocabulary it is.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// To `yahtzee_manager`.
    Class(class::FromPlayer),
    /// To `main_manager`.
    Referee(referee::FromPlayer),
    /// To `tournament_manager`.
    Queue(queue::FromPlayer),
}

/// The names under which the three vocabularies are reached on the node.
pub const NAMES: [&str; 3] = ["yahtzee_manager", "main_manager", "tournament_manager"];

/// Reads a message, and tells by its form which vocabulary it is from. No message of one has the
/// form of a message of another.
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

/// A name as a program writes it, so that it reads its own spelling back: a list of code points,
/// unless it wrote an atom.
fn spelling(term: &Term) -> Term {
    match term.as_atom() {
        Some(_) => term.clone(),
        None => Term::string(&term.text().unwrap_or_default()),
    }
}

fn strings<'a>(names: impl IntoIterator<Item = &'a PlayerName>) -> Term {
    Term::List(names.into_iter().map(|name| Term::string(name.as_str())).collect())
}
