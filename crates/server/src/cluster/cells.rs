//! A node that stands by, and owns cells meanwhile.
//!
//! Its thread offers the node to the owner of the log. When that one opens a link, the node reads
//! the lobby and runs an engine of cells. When the link is given up, the engine ends, and the node
//! offers itself again. So nothing of an old state is left in a new link.

use super::nats::{Bus, BusEvent};
use super::sender::{send_alone, subject_of};
use super::{BusInbox, LinkSender, Packet, StandbyMeters};
use crate::driver::{Handle, Message, NodeEngine, Parts};
use crate::engine::links::{ALIVE_PAUSE, Borrower, FromLobby};
use crate::engine::{EngineId, Input};
use crate::{ServerError, Settings};
use agon_bots::Houses;
use agon_games::Registry;
use agon_store::PostgresLog;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long it counts that the bus said that a node is not connected. A node without a link probes
/// more often than that.
const ABSENT_MAX: Duration = Duration::from_millis(600);

/// A node that stands by, and owns cells meanwhile.
pub struct CellsNode {
    shared: Arc<Shared>,
    thread: JoinHandle<BusInbox>,
}

#[derive(Default)]
struct Shared {
    owner: Mutex<Option<LogOwner>>,
    is_stopping: AtomicBool,
}

/// The node that owns the log.
struct LogOwner {
    node: String,
    /// When the bus last said that the node is not connected.
    absent_at: Option<Instant>,
}

impl Shared {
    fn owner(&self) -> MutexGuard<'_, Option<LogOwner>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CellsNode {
    /// Begins to offer the node, once the owner of the log is known.
    pub fn start(
        node: String,
        inbox: BusInbox,
        log: Arc<PostgresLog>,
        games: Registry,
        settings: Settings,
        runtime: tokio::runtime::Handle,
        meters: Arc<StandbyMeters>,
    ) -> CellsNode {
        let shared = Arc::new(Shared::default());
        let parts = Parts::new(log.clone(), games, Houses::standard(), settings, runtime);
        let BusInbox { bus, events } = inbox;
        let runner = Runner {
            shared: Arc::clone(&shared),
            bus,
            log,
            parts: Arc::new(parts),
            begun: Instant::now(),
            borrower: Borrower::new(node),
            meters,
            link: None,
        };
        CellsNode { shared, thread: thread::spawn(move || runner.run(events)) }
    }

    /// Notes which node owns the log.
    pub fn follow(&self, owner: &str) {
        let mut known = self.shared.owner();
        if known.as_ref().is_none_or(|known| known.node != owner) {
            *known = Some(LogOwner { node: owner.to_owned(), absent_at: None });
        }
    }

    /// The owner of the log, if it has left the bus, which happens at once if it is killed.
    pub fn absent_owner(&self) -> Option<String> {
        let owner = self.shared.owner();
        let is_absent = |owner: &&LogOwner| {
            owner.absent_at.is_some_and(|absent_at| absent_at.elapsed() < ABSENT_MAX)
        };
        owner.as_ref().filter(is_absent).map(|owner| owner.node.clone())
    }

    /// Waits until the records of the node's tournaments are durable, and gives them back.
    pub fn stop(self) -> BusInbox {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.thread.join().expect("the thread of a node with cells does not panic")
    }
}

/// A link to the lobby's node, and the engine behind it.
struct LobbyLink {
    lobby: String,
    sender: Arc<LinkSender>,
    handle: Handle,
    engine: JoinHandle<Result<(), ServerError>>,
}

struct Runner {
    shared: Arc<Shared>,
    bus: Arc<Bus>,
    log: Arc<PostgresLog>,
    parts: Arc<Parts>,
    begun: Instant,
    borrower: Borrower,
    meters: Arc<StandbyMeters>,
    link: Option<LobbyLink>,
}

impl Runner {
    fn run(mut self, events: Receiver<BusEvent>) -> BusInbox {
        let mut due = Instant::now();
        loop {
            match events.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(BusEvent::Up) => self.borrower.set_up(true),
                Ok(BusEvent::Down) => {
                    self.borrower.set_up(false);
                    self.end_link("the connection to the bus is lost");
                }
                Ok(BusEvent::Message(message)) => self.take(message.into_bytes()),
                Ok(BusEvent::Unheard(subject)) => self.unheard(&subject),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if self.shared.is_stopping.load(Ordering::Acquire) {
                self.drain();
                return BusInbox { bus: self.bus, events };
            }
            if due <= Instant::now() {
                due = Instant::now() + ALIVE_PAUSE;
                self.look_after_link();
            }
        }
    }

    fn owner(&self) -> Option<String> {
        self.shared.owner().as_ref().map(|owner| owner.node.clone())
    }

    /// Nobody receives a subject: the node that did has left the bus.
    fn unheard(&mut self, subject: &str) {
        if let Some(owner) = &mut *self.shared.owner()
            && subject_of(&owner.node) == subject
        {
            owner.absent_at = Some(Instant::now());
        }
        if self.link.as_ref().is_some_and(|link| subject_of(&link.lobby) == subject) {
            self.end_link("the node with the lobby has left the bus");
        }
    }

    /// Offers the node, or checks that its link still stands.
    fn look_after_link(&mut self) {
        if self.log.is_drained() {
            if let Some(link) = &self.link {
                tracing::info!(lobby = link.lobby, "an operator drains this node");
            }
            return self.drain();
        }
        let owner = self.owner();
        let now = self.begun.elapsed();
        let Some(link) = &self.link else {
            if let Some(owner) = owner
                && let Some(offer) = self.borrower.offer(now)
            {
                let subject = subject_of(&owner);
                send_alone(&self.bus, &subject, &offer.encode());
                self.bus.probe(&subject);
            }
            return;
        };
        link.sender.send(&Packet::Alive);
        link.sender.probe();
        self.meters.note_decisions(link.handle.meters().decisions.load(Ordering::Relaxed));
        if link.engine.is_finished() {
            self.end_link("the engine has ended");
        } else if let Some(why) = self.borrower.doubt(owner.as_deref(), now) {
            self.end_link(why);
        }
    }

    fn take(&mut self, bytes: Vec<u8>) {
        let owner = self.owner();
        match self.borrower.take(bytes, owner.as_deref(), self.begun.elapsed()) {
            FromLobby::Nothing => {}
            FromLobby::Open { link, lobby, engine } => self.open_link(link, lobby, engine),
            FromLobby::Packet(packet) => self.received(packet),
            FromLobby::End(why) => self.end_link(why),
        }
    }

    fn open_link(&mut self, number: u64, lobby: String, engine: EngineId) {
        let opened = match self.log.borrow_cells(number) {
            Ok(()) => NodeEngine::new(&self.parts),
            Err(error) => Err(ServerError::Log(error)),
        };
        let node = match opened {
            Ok(node) => node,
            Err(error) => return tracing::error!("failed to open an engine for cells: {error}"),
        };
        tracing::info!(lobby, engine = engine.0, "this node owns tournaments");
        let sender = Arc::new(LinkSender::new(Arc::clone(&self.bus), &lobby, number));
        let (parts, out, handle) = (Arc::clone(&self.parts), Arc::clone(&sender), node.handle());
        let engine = thread::spawn(move || node.run(&parts, engine, out));
        self.borrower.opened(number, lobby.clone(), self.begun.elapsed());
        self.link = Some(LobbyLink { lobby, sender, handle, engine });
    }

    fn received(&mut self, packet: Packet) {
        let Some(link) = &self.link else { return };
        match packet {
            Packet::Passed(message) => {
                link.handle.send(Input::Passed { from: EngineId::LOBBY, message });
            }
            Packet::PassedUntil(until) => link.handle.put(Message::PassedUntil(until)),
            Packet::Query { id, query } => link.handle.put(Message::RemoteQuery { id, query }),
            Packet::Unwatch(watcher) => link.handle.send(Input::Unwatch(watcher)),
            _ => {}
        }
    }

    /// Ends the link and its engine, which forgets everything.
    fn end_link(&mut self, why: &'static str) {
        let Some(link) = self.link.take() else { return };
        tracing::warn!(lobby = link.lobby, "{why}; this node owns no tournaments now");
        link.sender.close();
        link.handle.put(Message::Failed(ServerError::LinkLost));
        self.finish(link.engine);
    }

    /// Ends the engine once its records are durable, then the link.
    fn drain(&mut self) {
        let Some(link) = self.link.take() else { return };
        link.handle.stop();
        self.finish(link.engine);
        link.sender.close();
    }

    fn finish(&mut self, engine: JoinHandle<Result<(), ServerError>>) {
        match engine.join() {
            Ok(Ok(()) | Err(ServerError::LinkLost)) => {}
            Ok(Err(error)) => tracing::warn!("the engine for cells has ended: {error}"),
            // The panic hook has reported it.
            Err(_) => {}
        }
        if let Err(error) = self.log.end_loan() {
            tracing::warn!("{error}");
        }
        self.meters.end_engine();
        self.borrower.ended();
    }
}
