//! The side of a node that owns cells: when it offers itself, and when its link has ended.

use super::frame::{Broken, FORMAT, Frame, LinkReceiver, Packet};
use crate::EngineId;
use std::time::Duration;

/// How often a node without a link offers itself.
const OFFER_PAUSE: Duration = Duration::from_millis(250);

/// A message or an event from the lobby's node.
pub enum FromLobby {
    /// Nothing that matters.
    Nothing,
    /// The lobby's node opens a link.
    Open {
        /// The link, which is the epoch of the loan.
        link: u64,
        /// The lobby's node.
        lobby: String,
        /// The number of this node's engine.
        engine: EngineId,
    },
    /// The next packet of the link.
    Packet(Packet),
    /// The link has ended, and why.
    End(&'static str),
}

struct LobbyLink {
    lobby: String,
    number: u64,
    receiver: LinkReceiver,
}

/// The link of a node that owns cells, or its offers while it has none.
pub struct Borrower {
    node: String,
    /// True if the bus is connected.
    is_up: bool,
    /// How many links this node has tried to form. The lobby's node knows old offers by it.
    attempt: u64,
    offered: Option<Duration>,
    link: Option<LobbyLink>,
}

impl Borrower {
    /// A node without a link.
    pub fn new(node: String) -> Borrower {
        Borrower { node, is_up: false, attempt: 1, offered: None, link: None }
    }

    /// Notes whether the bus is connected.
    pub fn set_up(&mut self, is_up: bool) {
        self.is_up = is_up;
    }

    /// Takes a frame from the bus. `owner` is the node that owns the log.
    pub fn take(&mut self, bytes: Vec<u8>, owner: Option<&str>, now: Duration) -> FromLobby {
        let Some(frame) = Frame::read(bytes) else { return FromLobby::Nothing };
        match &mut self.link {
            Some(link) if link.number == frame.link => match link.receiver.take(frame, now) {
                Ok(Some(Packet::Close)) => {
                    FromLobby::End("the node with the lobby has ended the link")
                }
                Ok(Some(packet)) => FromLobby::Packet(packet),
                Ok(None) => FromLobby::Nothing,
                Err(Broken) => FromLobby::End("a message is missing"),
            },
            Some(_) => FromLobby::Nothing,
            None => match frame.alone() {
                Some(Packet::Open { lobby, engine }) if Some(lobby.as_str()) == owner => {
                    FromLobby::Open { link: frame.link, lobby, engine }
                }
                _ => FromLobby::Nothing,
            },
        }
    }

    /// Notes that the node has the loan of a link that the lobby's node opened.
    pub fn opened(&mut self, link: u64, lobby: String, now: Duration) {
        let receiver = LinkReceiver::after(1, now);
        self.link = Some(LobbyLink { lobby, number: link, receiver });
    }

    /// The offer that the node sends the owner of the log now.
    pub fn offer(&mut self, now: Duration) -> Option<Packet> {
        let is_early = self.offered.is_some_and(|at| now.saturating_sub(at) < OFFER_PAUSE);
        if self.link.is_some() || !self.is_up || is_early {
            return None;
        }
        self.offered = Some(now);
        let (node, format) = (self.node.clone(), FORMAT.to_owned());
        Some(Packet::Offer { node, attempt: self.attempt, format })
    }

    /// Why the link must end, if it must.
    pub fn doubt(&self, owner: Option<&str>, now: Duration) -> Option<&'static str> {
        let link = self.link.as_ref()?;
        if link.receiver.is_silent(now) {
            return Some("the node with the lobby is silent");
        }
        (owner != Some(&link.lobby)).then_some("another node has the lobby")
    }

    /// Notes that the link has ended and the engine behind it has forgotten everything.
    pub fn ended(&mut self) {
        self.link = None;
        self.attempt += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::LinkWriter;

    const NOW: Duration = Duration::ZERO;

    fn open(link: u64, lobby: &str) -> Vec<u8> {
        let packet = Packet::Open { lobby: lobby.to_owned(), engine: EngineId(1) };
        let mut frames = Vec::new();
        LinkWriter::new(link).write(&packet.encode(), |frame| frames.push(frame));
        frames.remove(0)
    }

    #[test]
    fn node_offers_itself_now_and_then_and_takes_links_of_the_owner_only() {
        let mut node = Borrower::new("b".to_owned());
        assert!(node.offer(NOW).is_none(), "there is no bus");
        node.set_up(true);
        assert!(matches!(node.offer(NOW), Some(Packet::Offer { attempt: 1, .. })));
        assert!(node.offer(Duration::from_millis(249)).is_none());
        assert!(node.offer(Duration::from_millis(250)).is_some());
        assert!(matches!(node.take(open(7, "c"), Some("a"), NOW), FromLobby::Nothing));
        let taken = node.take(open(7, "a"), Some("a"), NOW);
        assert!(matches!(taken, FromLobby::Open { link: 7, .. }));
        node.opened(7, "a".to_owned(), NOW);
        assert!(node.offer(Duration::from_secs(1)).is_none());
        assert!(matches!(node.take(open(8, "a"), Some("a"), NOW), FromLobby::Nothing));
        node.ended();
        assert!(matches!(
            node.offer(Duration::from_secs(1)),
            Some(Packet::Offer { attempt: 2, .. })
        ));
    }

    #[test]
    fn link_ends_after_a_silence_and_when_another_node_owns_the_log() {
        let mut node = Borrower::new("b".to_owned());
        assert_eq!(node.doubt(None, NOW), None);
        node.opened(7, "a".to_owned(), NOW);
        assert_eq!(node.doubt(Some("a"), Duration::from_millis(1_500)), None);
        assert!(node.doubt(Some("a"), Duration::from_millis(1_501)).is_some());
        assert!(node.doubt(Some("c"), NOW).is_some());
    }
}
