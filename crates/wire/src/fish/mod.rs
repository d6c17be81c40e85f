//! The Fish wires, `docs/protocol/fish.md`: two vocabularies for the same game.
//!
//! - [`call`]: the server calls, the client answers with one value, what existing clients speak;
//! - [`message`]: objects with a type and a value both ways, and [`broadcast`], what everybody is
//!   told there. [`observer`]s watch in its words.
//!
//! Questions and views of the game go in and texts come out; replies go in and come out as the
//! game's own answers. The game decides whether an answer keeps to the rules: here a reply is
//! refused only if it is no reply, or the reply to something else.

pub mod broadcast;
pub mod call;
pub mod message;
pub mod observer;
mod speaker;

use crate::sign_up::{BadSignUp, checked_name, cut};
use agon_core::PlayerName;
use agon_games::fish::{Action, Position};
pub use speaker::Speaker;

/// The longest name in the call vocabulary.
pub const NAME_LEN_MAX: usize = 12;

/// The vocabulary of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Vocabulary {
    /// `["setup",[…]]`, answered by a value.
    Call,
    /// `{"type":…,"value":…}` both ways.
    Message,
}

/// Parses the first value of a connection: its vocabulary and its name. The message vocabulary
/// begins with an object, the call vocabulary with a string. If names are `strict`, those of the
/// call vocabulary are letters.
pub fn sign_up(first: &str, strict: bool) -> Result<(Vocabulary, PlayerName), BadSignUp> {
    if first.starts_with('{') {
        let name = message::sign_up(first)?;
        return Ok((Vocabulary::Message, PlayerName::new(&name)?));
    }
    match serde_json::from_str::<String>(first) {
        Ok(name) => Ok((Vocabulary::Call, checked_name(&name, NAME_LEN_MAX, strict)?)),
        Err(_) => Err(BadSignUp::NotASignUp(cut(first))),
    }
}

/// Which reply is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Awaited {
    /// Is the player ready for the tournament?
    Ready,
    /// The confirmation of a message.
    Confirmed,
    /// Where a penguin goes.
    Placement,
    /// How a penguin moves.
    Move,
    /// The confirmation of the tournament's end.
    Farewell,
}

impl Awaited {
    fn wanted(self) -> &'static str {
        match self {
            Awaited::Ready => "whether the player is ready",
            Awaited::Confirmed | Awaited::Farewell => "a confirmation",
            Awaited::Placement => "a position",
            Awaited::Move => "a move",
        }
    }
}

/// A question in the words of a vocabulary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FishRequest {
    /// The message to send, if the vocabulary has words for it.
    pub send: Option<String>,
    /// The awaited reply. Without one, the question only informs the player, and the gateway
    /// confirms it with `"ok"`.
    pub awaited: Option<Awaited>,
}

impl FishRequest {
    fn reply(send: String, awaited: Awaited) -> FishRequest {
        FishRequest { send: Some(send), awaited: Some(awaited) }
    }
}

fn is_position(text: &str) -> bool {
    serde_json::from_str::<Position>(text).is_ok()
}

fn is_action(text: &str) -> bool {
    serde_json::from_str::<Action>(text).is_ok()
}
