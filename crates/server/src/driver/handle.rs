//! How others reach the engine's thread.

use crate::clock;
use crate::engine::query::{AnyAnswer, AnyQuery, Query, StartWatching};
use crate::engine::watch::{NoWatch, Topic, WatcherId};
use crate::engine::{ConnId, Input, StreamKey};
use crate::gateway::Outbox;
use crate::meters::Meters;
use crate::passwords::Passwords;
use crate::watch::{Watch, Watcher};
use agon_core::Millis;
use agon_games::Registry;
use agon_store::{AppendError, Log};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Weak};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

/// A connection's place in the inbox; it is free again when this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

/// What comes to the driver.
pub(crate) enum Message {
    /// An input of the engine.
    Input(Input),
    /// An input that has a place in the inbox.
    Placed(Input, Place),
    /// A connection was opened.
    Opened { conn: ConnId, out: Outbox, from: IpAddr },
    /// A query, and what to do with its answer.
    Query { query: Box<dyn AnyQuery>, reply: Reply },
    /// The queue of a watcher.
    Watch(WatcherId, Watcher),
    /// Records are durable, or refused; each with its stream, in the order they were decided in.
    Committed { streams: Vec<StreamKey>, results: Vec<Result<u64, AppendError>> },
}

/// What to do with the answer to a query.
pub(crate) type Reply = Box<dyn FnOnce(AnyAnswer) + Send>;

/// What the driver shares with whoever reaches it.
pub(super) struct Shared {
    meters: Meters,
    passwords: Passwords,
    games: Registry,
    /// The log closes with the engine, whatever handles are left.
    log: Weak<dyn Log>,
    /// How many watchers there were.
    watchers: AtomicU64,
}

impl Shared {
    pub(super) fn new(passwords: Passwords, games: Registry, log: Weak<dyn Log>) -> Shared {
        let (meters, watchers) = (Meters::default(), AtomicU64::new(0));
        Shared { meters, passwords, games, log, watchers }
    }
}

/// What is read from the log away from the engine.
#[derive(Clone)]
pub(crate) struct Archive {
    pub(crate) log: Arc<dyn Log>,
    pub(crate) games: Registry,
}

/// How others reach the engine.
#[derive(Clone)]
pub struct Handle {
    inbox: Sender<Message>,
    shared: Arc<Shared>,
}

impl Handle {
    pub(super) fn new(inbox: Sender<Message>, shared: Shared) -> Handle {
        Handle { inbox, shared: Arc::new(shared) }
    }

    #[cfg(test)]
    pub(crate) fn detached() -> (Handle, std::sync::mpsc::Receiver<Message>) {
        let (inbox, receiver) = std::sync::mpsc::channel();
        let (games, passwords) = (Registry::standard(), Passwords::new(None, 1));
        let log = Weak::<agon_store::MemoryLog>::new();
        (Handle::new(inbox, Shared::new(passwords, games, log)), receiver)
    }

    pub(super) fn put(&self, message: Message) {
        // An engine that has ended hears nobody, and whoever waits for it notices by its channel.
        let _ = self.inbox.send(message);
    }

    pub(crate) fn send(&self, input: Input) {
        self.put(Message::Input(input));
    }

    /// Sends an input that has a place in the inbox.
    pub(crate) fn send_placed(&self, input: Input, place: Place) {
        self.put(Message::Placed(input, place));
    }

    /// Opens a connection.
    pub(crate) fn open(&self, conn: ConnId, out: Outbox, from: IpAddr) {
        self.put(Message::Opened { conn, out, from });
    }

    /// Asks the engine to stop once what is in flight is durable.
    pub fn stop(&self) {
        self.shared.meters.stopping.store(true, Ordering::Relaxed);
        self.send(Input::Stop);
    }

    /// When bytes that were just read were there, at the earliest: for how late the server is, no
    /// player is charged.
    pub(crate) fn read_at(&self) -> Millis {
        let now = clock::now_ms();
        let at = self.shared.meters.reads.heard_until(now);
        if at < now {
            self.shared.meters.read_late.add();
        }
        at
    }

    /// What is counted.
    pub(crate) fn meters(&self) -> &Meters {
        &self.shared.meters
    }

    /// Where passwords are checked.
    pub(crate) fn passwords(&self) -> &Passwords {
        &self.shared.passwords
    }

    /// The log, for reading what is over away from the engine; `None` if the engine has ended.
    pub(crate) fn archive(&self) -> Option<Archive> {
        let log = self.shared.log.upgrade()?;
        Some(Archive { log, games: self.shared.games.clone() })
    }

    /// The games there are.
    pub(crate) fn games(&self) -> &Registry {
        &self.shared.games
    }

    /// Asks the engine; `None` if it ended before it could answer.
    pub async fn ask<Q: Query>(&self, query: Q) -> Option<Q::Answer> {
        self.post(query).await.ok()
    }

    /// Hands the engine a query, which it takes in its turn. Nobody has to wait for the answer.
    pub(crate) fn post<Q: Query>(&self, query: Q) -> oneshot::Receiver<Q::Answer> {
        let (sender, answer) = oneshot::channel();
        let reply: Reply = Box::new(move |answer| {
            if let Some(answer) = answer.downcast() {
                let _ = sender.send(answer);
            }
        });
        self.put(Message::Query { query: Box::new(query), reply });
        answer
    }

    /// Begins to watch something that runs; `None` if the engine has ended.
    pub(crate) async fn watch(
        &self,
        topic: Topic,
        seen: Option<u64>,
    ) -> Option<Result<Watch, NoWatch>> {
        let watcher = WatcherId(self.shared.watchers.fetch_add(1, Ordering::Relaxed));
        let (queue, mut watch) = Watcher::new(None);
        self.put(Message::Watch(watcher, queue));
        let end = EndWatch { handle: self.clone(), watcher };
        let early = self.ask(StartWatching { watcher, topic, seen }).await?;
        Some(early.map(|early| {
            watch.begin(early, Box::new(end));
            watch
        }))
    }
}

/// Tells the engine that a watcher is gone, when it is dropped.
struct EndWatch {
    handle: Handle,
    watcher: WatcherId,
}

impl Drop for EndWatch {
    fn drop(&mut self) {
        self.handle.send(Input::Unwatch(self.watcher));
    }
}
