//! Observers on the Fish port: programs that only watch, in the words of the message vocabulary.
//!
//! The seed names observers without a message that makes one, so `observer_request` is Agon's own.

use super::broadcast::Broadcasts;
use super::message;
use crate::peer::{PeerMessage, read};
use crate::sign_up::{BadSignUp, cut};
use agon_core::PlayerName;
use agon_games::Refusal;
use agon_games::fish::View;

/// Which games an observer is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Follow {
    /// One game after the other, of any players.
    Any,
    /// The games of one player.
    Player(PlayerName),
}

/// Reads a first value as a request to observe; `None` if it is something else.
pub fn observer_request(first: &str) -> Option<Result<Follow, BadSignUp>> {
    let value = message::value_of("observer_request", first)?;
    let follow = match value {
        "true" => Ok(Follow::Any),
        name => match serde_json::from_str::<String>(name) {
            Ok(name) => PlayerName::new(&name).map(Follow::Player).map_err(BadSignUp::from),
            Err(_) => Err(BadSignUp::NotASignUp(cut(first))),
        },
    };
    Some(follow)
}

/// The messages to one observer.
#[derive(Clone, Debug, Default)]
pub struct Observer {
    broadcasts: Broadcasts,
}

impl Observer {
    /// A new observer.
    pub fn new() -> Observer {
        Observer::default()
    }

    /// Puts something into words. Nothing of it asks for a reply.
    pub fn tell(&mut self, message: &PeerMessage) -> Result<Vec<String>, Refusal> {
        Ok(match message {
            PeerMessage::SignedUp { next: accepted } => vec![message::observing(*accepted)],
            PeerMessage::Begin { .. } => message::start().send.into_iter().collect(),
            PeerMessage::View { view, seats } => {
                let view: View = read(view, "fish")?;
                self.broadcasts.next(&view, seats)
            }
            PeerMessage::GameOver { view, result } => {
                self.broadcasts = Broadcasts::new();
                let view: View = read(view, "fish")?;
                vec![message::game_over(&view, result)]
            }
            PeerMessage::End { won } => message::end(*won).send.into_iter().collect(),
            PeerMessage::Again { .. } | PeerMessage::Question { .. } | PeerMessage::Won(_) => {
                Vec::new()
            }
        })
    }
}
