//! The lobby's side of the links: which nodes have one, and which were given up.

use super::frame::{Broken, FORMAT, Frame, LinkReceiver, Packet};
use crate::EngineId;
use std::collections::BTreeMap;
use std::time::Duration;

/// A node with a link.
struct LinkedNode {
    engine: EngineId,
    link: u64,
    /// Which of the node's attempts to form a link this is.
    attempt: u64,
    receiver: LinkReceiver,
}

/// A node whose link was given up. Its loan must be taken back before anybody resumes its
/// tournaments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LostNode {
    /// The name of the node.
    pub node: String,
    /// Its number among the engines.
    pub engine: EngineId,
}

/// A message or an event from another node.
pub enum FromNode {
    /// Nothing that matters.
    Nothing,
    /// A node without a link offers to own cells. It offers itself again if it gets no link.
    Offered {
        /// The name of the node.
        node: String,
        /// How often it has tried to form a link.
        attempt: u64,
    },
    /// A node whose version is another one offers to own cells.
    OtherVersion(String),
    /// The next packet of a link.
    Packet(EngineId, Packet),
    /// A link was given up.
    Lost(LostNode),
}

/// The lobby's side of all links.
#[derive(Default)]
pub struct Lender {
    nodes: BTreeMap<String, LinkedNode>,
    /// Nodes whose loans are not taken back yet.
    lost: Vec<LostNode>,
    /// The number of the engine that joined last; that of the lobby before the first.
    last_engine: EngineId,
}

impl Lender {
    /// Takes a frame from the bus.
    pub fn take(&mut self, bytes: Vec<u8>, now: Duration) -> FromNode {
        let Some(frame) = Frame::read(bytes) else { return FromNode::Nothing };
        if frame.link == 0 {
            return match frame.alone() {
                Some(Packet::Offer { node, format, .. }) if format != FORMAT => {
                    FromNode::OtherVersion(node)
                }
                Some(Packet::Offer { node, attempt, .. }) => self.offered(node, attempt),
                _ => FromNode::Nothing,
            };
        }
        let mut linked = self.nodes.iter_mut();
        let Some((name, node)) = linked.find(|(_, node)| node.link == frame.link) else {
            return FromNode::Nothing;
        };
        match node.receiver.take(frame, now) {
            Ok(Some(Packet::Close)) | Err(Broken) => {
                let name = name.clone();
                self.lose(&name)
            }
            Ok(Some(packet)) => FromNode::Packet(node.engine, packet),
            Ok(None) => FromNode::Nothing,
        }
    }

    fn offered(&mut self, name: String, attempt: u64) -> FromNode {
        match self.nodes.get(&name) {
            Some(node) if node.attempt >= attempt => FromNode::Nothing,
            // The node has given its link up.
            Some(_) => self.lose(&name),
            None if self.lost.iter().any(|lost| lost.node == name) => FromNode::Nothing,
            None => FromNode::Offered { node: name, attempt },
        }
    }

    /// Opens a link to a node that has offered itself, under the epoch of its loan. Returns the
    /// number of its engine; `None` if there are no more numbers.
    pub fn open(
        &mut self,
        node: String,
        attempt: u64,
        link: u64,
        now: Duration,
    ) -> Option<EngineId> {
        let engine = self.next_engine()?;
        self.last_engine = engine;
        let receiver = LinkReceiver::after(0, now);
        self.nodes.insert(node, LinkedNode { engine, link, attempt, receiver });
        Some(engine)
    }

    /// The next number after the last one that no node has. Numbers of lost nodes are used again,
    /// but as late as possible. The lobby's own number is never used.
    fn next_engine(&self) -> Option<EngineId> {
        let last = self.last_engine.0;
        let after = last.checked_add(1).into_iter().flat_map(|next| next..=u16::MAX);
        let in_use = |engine: &EngineId| {
            self.nodes.values().any(|node| node.engine == *engine)
                || self.lost.iter().any(|lost| lost.engine == *engine)
        };
        after.chain(1..=last).map(EngineId).find(|engine| !in_use(engine))
    }

    /// Gives up the links to nodes that are silent.
    pub fn lose_silent(&mut self, now: Duration) -> Vec<LostNode> {
        let silent = self.nodes.iter().filter(|(_, node)| node.receiver.is_silent(now));
        let silent: Vec<String> = silent.map(|(name, _)| name.clone()).collect();
        silent.iter().filter_map(|name| self.given_up(name)).collect()
    }

    /// Gives up the links to some nodes, by their names.
    pub fn lose_where(&mut self, is_lost: impl Fn(&str) -> bool) -> Vec<LostNode> {
        let lost: Vec<String> = self.nodes.keys().filter(|name| is_lost(name)).cloned().collect();
        lost.iter().filter_map(|name| self.given_up(name)).collect()
    }

    /// Gives up all links: the connection to the bus is lost.
    pub fn lose_all(&mut self) -> Vec<LostNode> {
        self.lose_where(|_| true)
    }

    fn lose(&mut self, name: &str) -> FromNode {
        self.given_up(name).map_or(FromNode::Nothing, FromNode::Lost)
    }

    fn given_up(&mut self, name: &str) -> Option<LostNode> {
        let LinkedNode { engine, .. } = self.nodes.remove(name)?;
        let lost = LostNode { node: name.to_owned(), engine };
        self.lost.push(lost.clone());
        Some(lost)
    }

    /// The engine of a node that has a link.
    pub fn engine_of(&self, node: &str) -> Option<EngineId> {
        self.nodes.get(node).map(|linked| linked.engine)
    }

    /// The nodes whose loans are not taken back yet. A node gets no link before that.
    pub fn lost(&self) -> &[LostNode] {
        &self.lost
    }

    /// Notes that the loan of a lost node is taken back.
    pub fn taken_back(&mut self, lost: &LostNode) {
        self.lost.retain(|other| other != lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::frame::LinkWriter;

    const NOW: Duration = Duration::ZERO;

    fn offer(attempt: u64) -> Vec<u8> {
        let (node, format) = ("b".to_owned(), FORMAT.to_owned());
        Packet::Offer { node, attempt, format }.alone()
    }

    #[test]
    fn lost_node_gets_a_new_link_once_its_loan_is_taken_back() {
        let mut lender = Lender::default();
        assert!(matches!(lender.take(offer(1), NOW), FromNode::Offered { attempt: 1, .. }));
        let engine = lender.open("b".to_owned(), 1, 7, NOW).unwrap();
        assert!(matches!(lender.take(offer(1), NOW), FromNode::Nothing), "an old offer");
        let FromNode::Lost(lost) = lender.take(offer(2), NOW) else { panic!() };
        assert_eq!(lost, LostNode { node: "b".to_owned(), engine });
        assert!(matches!(lender.take(offer(2), NOW), FromNode::Nothing), "it is not taken back");
        assert_eq!(lender.lost(), std::slice::from_ref(&lost));
        lender.taken_back(&lost);
        assert!(matches!(lender.take(offer(2), NOW), FromNode::Offered { attempt: 2, .. }));
        assert_eq!(lender.open("b".to_owned(), 2, 8, NOW), Some(EngineId(engine.0 + 1)));
    }

    #[test]
    fn engine_numbers_start_again_after_the_last_one_and_are_never_the_lobbys() {
        let mut lender = Lender::default();
        let stays = lender.open("stays".to_owned(), 1, 1, NOW);
        assert_eq!(stays, Some(EngineId(1)));
        for round in 2..=200_000_u64 {
            let engine = lender.open("b".to_owned(), round, round, NOW).unwrap();
            assert!(engine != EngineId::LOBBY && Some(engine) != stays, "round {round}");
            let FromNode::Lost(lost) = lender.take(offer(round + 1), NOW) else { panic!() };
            assert_eq!(lost.engine, engine);
            lender.taken_back(&lost);
        }
    }

    #[test]
    fn silent_node_is_lost_and_its_late_packets_are_ignored() {
        let mut lender = Lender::default();
        lender.open("b".to_owned(), 1, 7, NOW).unwrap();
        let (mut writer, mut frames) = (LinkWriter::new(7), Vec::new());
        (0..2).for_each(|_| writer.write(&Packet::Alive.encode(), |frame| frames.push(frame)));
        let late = frames.remove(1);
        let taken = lender.take(frames.remove(0), Duration::from_secs(1));
        assert!(matches!(taken, FromNode::Packet(_, Packet::Alive)));
        assert!(lender.lose_silent(Duration::from_millis(2_500)).is_empty());
        assert_eq!(lender.lose_silent(Duration::from_millis(2_501)).len(), 1);
        assert!(matches!(lender.take(late, Duration::from_secs(3)), FromNode::Nothing));
    }

    #[test]
    fn node_of_another_version_gets_no_link() {
        let (node, format) = ("b".to_owned(), "0".to_owned());
        let frame = Packet::Offer { node, attempt: 1, format }.alone();
        assert!(matches!(Lender::default().take(frame, NOW), FromNode::OtherVersion(_)));
    }
}
