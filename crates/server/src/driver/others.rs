//! How a driver reaches the other engines of its server.

use super::handle::{Handle, Message, Reply};
use crate::cluster::{LinkSender, NodeLinks, Packet};
use crate::engine::query::{AnyAnswer, AnyQuery, RemoteQuery};
use crate::engine::watch::{Shown, WatcherId};
use crate::engine::{EngineId, EngineMessage, Input, QueryId};
use agon_core::Timestamp;
use std::collections::HashMap;
use std::sync::Arc;

/// The other engines of a server.
pub(super) enum OtherEngines {
    /// There are none.
    None,
    /// All engines of this server are threads. These are their handles, by number.
    Threads(Vec<Handle>),
    /// This is the lobby's engine, and the others are on nodes with cells.
    Nodes(Arc<NodeLinks>),
    /// This is an engine of cells, and the lobby is on another node.
    Lobby(RemoteLobby),
}

/// The lobby's engine on another node.
pub(super) struct RemoteLobby {
    sender: Arc<LinkSender>,
    /// The time up to which the lobby's engine has passed on all input.
    pub(super) until: Timestamp,
    /// The queries that it asked, with the number that each has there.
    queries: HashMap<QueryId, (u64, RemoteQuery)>,
}

impl RemoteLobby {
    pub(super) fn new(sender: Arc<LinkSender>) -> RemoteLobby {
        RemoteLobby { sender, until: Timestamp::default(), queries: HashMap::new() }
    }

    /// Notes a query of the lobby's engine.
    pub(super) fn asked(&mut self, own: QueryId, id: u64, query: RemoteQuery) {
        self.queries.insert(own, (id, query));
    }

    /// Sends the answer to a query; `None` if there will be none.
    fn answer(&mut self, own: QueryId, answer: Option<AnyAnswer>) {
        if let Some((id, query)) = self.queries.remove(&own) {
            let answer = answer.and_then(|answer| query.encode(answer));
            self.sender.send(&Packet::Answer { id, answer });
        }
    }
}

impl OtherEngines {
    /// Sends a message to another engine.
    pub(super) fn pass(&self, from: EngineId, to: EngineId, message: Box<EngineMessage>) {
        match self {
            OtherEngines::None => {}
            OtherEngines::Threads(engines) => {
                if let Some(engine) = engines.get(usize::from(to.0)) {
                    engine.send(Input::Passed { from, message });
                }
            }
            OtherEngines::Nodes(links) => links.pass(to, message),
            OtherEngines::Lobby(lobby) => lobby.sender.send(&Packet::Passed(message)),
        }
    }

    /// Answers a query of an engine of cells, or returns the answer if it is this engine's own. The
    /// answer follows the earlier messages to the lobby's engine.
    pub(super) fn reply(
        &mut self,
        from: EngineId,
        query: QueryId,
        reply: Option<Reply>,
        answer: AnyAnswer,
    ) {
        match (self, reply) {
            (OtherEngines::Lobby(lobby), _) => lobby.answer(query, Some(answer)),
            (OtherEngines::Threads(engines), Some(reply)) if from != EngineId::LOBBY => {
                engines[0].put(Message::Answered(reply, answer));
            }
            (_, Some(reply)) => reply(answer),
            (_, None) => {}
        }
    }

    /// Notes that a query has no answer.
    pub(super) fn no_reply(&mut self, query: QueryId) {
        if let OtherEngines::Lobby(lobby) = self {
            lobby.answer(query, None);
        }
    }

    /// Has another engine answer a query. `watcher` is a watcher that it subscribes.
    pub(super) fn forward(
        &mut self,
        to: EngineId,
        id: QueryId,
        query: Box<dyn AnyQuery>,
        reply: Option<Reply>,
    ) {
        let as_data = || RemoteQuery::of(&*query).expect("queries about tournaments are data");
        match (self, reply) {
            (OtherEngines::Threads(engines), Some(reply)) => {
                if let Some(engine) = engines.get(usize::from(to.0)) {
                    engine.put(Message::Query { query, reply });
                }
            }
            (OtherEngines::Nodes(links), Some(reply)) => {
                links.ask(to, as_data(), reply, query.watcher());
            }
            (OtherEngines::Lobby(lobby), _) => {
                if let Some((id, _)) = lobby.queries.remove(&id) {
                    lobby.sender.send(&Packet::Return { id, query: as_data() });
                }
            }
            _ => {}
        }
    }

    /// Shows a watcher of the lobby's node its topic; returns the message if the watcher is here.
    pub(super) fn show(&self, watcher: WatcherId, shown: Shown) -> Option<Shown> {
        let OtherEngines::Lobby(lobby) = self else { return Some(shown) };
        lobby.sender.send(&Packet::Show { watcher, shown });
        None
    }

    /// Ends the subscription of a watcher of the lobby's node.
    pub(super) fn end_watch(&self, watcher: WatcherId) {
        if let OtherEngines::Lobby(lobby) = self {
            lobby.sender.send(&Packet::EndWatch(watcher));
        }
    }

    /// Tells the other engines that a watcher is gone.
    pub(super) fn unwatch(&self, watcher: WatcherId) {
        match self {
            OtherEngines::Threads(engines) => {
                engines.iter().skip(1).for_each(|engine| engine.send(Input::Unwatch(watcher)));
            }
            OtherEngines::Nodes(links) => links.unwatch(watcher),
            OtherEngines::None | OtherEngines::Lobby(_) => {}
        }
    }

    /// Tells the other engines that the lobby's engine stops.
    pub(super) fn stop(&self) {
        match self {
            OtherEngines::Threads(engines) => {
                engines.iter().skip(1).for_each(|engine| engine.send(Input::Stop));
            }
            OtherEngines::Nodes(links) => links.stop(),
            OtherEngines::None | OtherEngines::Lobby(_) => {}
        }
    }
}
