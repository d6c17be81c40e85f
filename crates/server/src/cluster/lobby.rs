//! The links of the lobby's node to the nodes with cells.
//!
//! A thread reads the bus. It opens a link when a node offers itself, and gives a link up as
//! [`Lender`] says. Then it takes the node's cell back in the database, and tells the lobby's
//! engine, which resumes the tournaments. Another thread asks the database ([`super::loans`]): a
//! slow database must not keep this one from saying that the node is alive.

use super::BusInbox;
use super::loans::{Answer, Loans};
use super::nats::{Bus, BusEvent};
use super::sender::subject_of;
use super::{LinkSender, Packet};
use crate::clock;
use crate::driver::{Handle, Message, Reply};
use crate::engine::links::{ALIVE_PAUSE, FromNode, Lender, LostNode};
use crate::engine::query::RemoteQuery;
use crate::engine::watch::WatcherId;
use crate::engine::{EngineId, EngineMessage, Input};
use agon_core::TournamentId;
use agon_store::{Log, LogStanding, PostgresLog};
use std::collections::{BTreeMap, HashMap};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the lobby's node waits for offers before it reads its log.
const GATHER_MAX: Duration = Duration::from_secs(1);

/// How often the lobby's node looks for orders of operators.
const ORDERS_PAUSE: Duration = Duration::from_millis(500);

/// A query that an engine on another node answers.
struct AskedQuery {
    engine: EngineId,
    query: RemoteQuery,
    reply: Reply,
}

/// The links of the lobby's node. The driver of the lobby's engine sends through them.
pub struct NodeLinks {
    state: Mutex<LinkState>,
}

#[derive(Default)]
struct LinkState {
    senders: BTreeMap<EngineId, Arc<LinkSender>>,
    /// How many engines have joined since the start.
    engines: u16,
    phase: Phase,
    queries: HashMap<u64, AskedQuery>,
    queries_asked: u64,
    /// The engines that show watchers their topics.
    watchers: HashMap<WatcherId, EngineId>,
}

/// The task of the lobby's node at the moment.
#[derive(Default)]
enum Phase {
    /// It waits for the first offers.
    #[default]
    Gathering,
    /// It reads its log.
    Opening,
    /// Its engine runs.
    Running(Handle),
    /// It stops.
    Stopping,
}

impl NodeLinks {
    /// Takes offers from now on.
    pub fn start(node: String, inbox: BusInbox, log: Arc<PostgresLog>) -> Arc<NodeLinks> {
        let links = Arc::new(NodeLinks { state: Mutex::default() });
        let BusInbox { bus, events } = inbox;
        let loans = Loans::start(Arc::clone(&log));
        let hub = Hub {
            links: Arc::clone(&links),
            node,
            bus,
            log,
            loans,
            begun: Instant::now(),
            lender: Lender::default(),
            early: Vec::new(),
            refused: None,
            orders_due: Instant::now(),
        };
        thread::spawn(move || hub.run(&events));
        links
    }

    /// Waits a moment for the offers of so many nodes; returns how many engines have joined.
    pub fn gather(&self, nodes: usize) -> u16 {
        let give_up = Instant::now() + GATHER_MAX;
        while usize::from(self.state().engines) < nodes && Instant::now() < give_up {
            thread::sleep(Duration::from_millis(10));
        }
        let mut state = self.state();
        state.phase = Phase::Opening;
        state.engines
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Delivers what arrives to the lobby's engine from now on.
    pub(crate) fn attach(&self, handle: Handle) {
        self.state().phase = Phase::Running(handle);
    }

    /// Closes all links.
    pub(crate) fn stop(&self) {
        self.state().phase = Phase::Stopping;
    }

    /// Sends a message to an engine, unless it is lost.
    pub(crate) fn pass(&self, to: EngineId, message: Box<EngineMessage>) {
        // Not under the lock: encoding takes time.
        let sender = self.state().senders.get(&to).cloned();
        if let Some(sender) = sender {
            sender.send(&Packet::Passed(message));
        }
    }

    /// Has an engine answer a query. If it is lost, there is no answer.
    pub(crate) fn ask(
        &self,
        to: EngineId,
        query: RemoteQuery,
        reply: Reply,
        watcher: Option<WatcherId>,
    ) {
        let mut state = self.state();
        let Some(sender) = state.senders.get(&to).cloned() else { return };
        state.queries_asked += 1;
        let id = state.queries_asked;
        let packet = Packet::Query { id, query: query.clone() };
        state.queries.insert(id, AskedQuery { engine: to, query, reply });
        state.watchers.extend(watcher.map(|watcher| (watcher, to)));
        drop(state);
        sender.send(&packet);
    }

    /// Ends the subscription of a watcher at another engine.
    pub(crate) fn unwatch(&self, watcher: WatcherId) {
        let mut state = self.state();
        let engine = state.watchers.remove(&watcher);
        let sender = engine.and_then(|engine| state.senders.get(&engine).cloned());
        drop(state);
        if let Some(sender) = sender {
            sender.send(&Packet::Unwatch(watcher));
        }
    }
}

/// The thread that reads the bus.
struct Hub {
    links: Arc<NodeLinks>,
    node: String,
    bus: Arc<Bus>,
    log: Arc<PostgresLog>,
    /// The loans in the database.
    loans: Loans,
    begun: Instant,
    lender: Lender,
    /// Messages to the lobby's engine, which is not open yet.
    early: Vec<Message>,
    /// The last node whose offer was refused because of its version.
    refused: Option<String>,
    /// When to look for orders of operators again.
    orders_due: Instant,
}

impl Hub {
    fn run(mut self, events: &Receiver<BusEvent>) {
        let mut due = Instant::now();
        loop {
            let pause = due.saturating_duration_since(Instant::now());
            match events.recv_timeout(self.loans.pause(pause)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(BusEvent::Up) => self.log.set_on_bus(true),
                Ok(BusEvent::Down) => {
                    self.log.set_on_bus(false);
                    let lost = self.lender.lose_all();
                    lost.iter().for_each(|lost| self.given_up(lost));
                }
                Ok(BusEvent::Message(message)) => self.take(message.into_bytes()),
                Ok(BusEvent::Unheard(subject)) => {
                    let lost = self.lender.lose_where(|node| subject_of(node) == subject);
                    lost.iter().for_each(|lost| self.given_up(lost));
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while let Some(answer) = self.loans.answer() {
                self.answered(answer);
            }
            if due <= Instant::now() {
                due = Instant::now() + ALIVE_PAUSE;
                if matches!(self.links.state().phase, Phase::Stopping) {
                    return self.senders().iter().for_each(|sender| sender.close());
                }
                self.say_alive();
                let silent = self.lender.lose_silent(self.begun.elapsed());
                silent.iter().for_each(|lost| self.given_up(lost));
                self.take_back();
                self.take_orders();
            }
        }
    }

    fn handle(&self) -> Option<Handle> {
        match &self.links.state().phase {
            Phase::Running(handle) => Some(handle.clone()),
            _ => None,
        }
    }

    /// Gives the lobby's engine a message, once it is open.
    fn deliver(&mut self, message: Message) {
        self.early.push(message);
        if let Some(handle) = self.handle() {
            self.early.drain(..).for_each(|message| handle.put(message));
        }
    }

    fn senders(&self) -> Vec<Arc<LinkSender>> {
        self.links.state().senders.values().cloned().collect()
    }

    fn take(&mut self, bytes: Vec<u8>) {
        match self.lender.take(bytes, self.begun.elapsed()) {
            FromNode::Nothing => {}
            FromNode::Offered { node, attempt } => self.offered(node, attempt),
            FromNode::OtherVersion(name) => {
                if self.refused.as_deref() != Some(&name) {
                    tracing::warn!(node = name, "a node of another version stands by only");
                    self.refused = Some(name);
                }
            }
            FromNode::Packet(engine, packet) => self.received(engine, packet),
            FromNode::Lost(lost) => self.given_up(&lost),
        }
    }

    /// Begins to lend a cell to a node, for which a link is opened then.
    fn offered(&mut self, node: String, attempt: u64) {
        let is_open = !matches!(self.links.state().phase, Phase::Opening | Phase::Stopping);
        if is_open && self.log.standing() == LogStanding::Owner {
            self.loans.lend(node, attempt);
        }
    }

    fn answered(&mut self, answer: Answer) {
        match answer {
            Answer::Lent { node, attempt, link } => self.open_link(node, attempt, link),
            Answer::TakenBack(lost) => {
                self.lender.taken_back(&lost);
                self.deliver(Message::Input(Input::EngineLost(lost.engine)));
            }
            Answer::Moves(moves) => moves.into_iter().for_each(|(id, node)| self.order(id, &node)),
        }
    }

    /// Opens a link to a node that has a cell now.
    fn open_link(&mut self, name: String, attempt: u64, link: u64) {
        let sender = Arc::new(LinkSender::new(Arc::clone(&self.bus), &name, link));
        let mut state = self.links.state();
        // The node offers itself again.
        if matches!(state.phase, Phase::Opening | Phase::Stopping) {
            return;
        }
        let opened = self.lender.open(name.clone(), attempt, link, self.begun.elapsed());
        let Some(engine) = opened else {
            return tracing::error!(node = name, "too many nodes; this one stands by only");
        };
        state.engines = state.engines.max(engine.0);
        state.senders.insert(engine, Arc::clone(&sender));
        // Before the node reads the lobby: it must miss no event.
        if let Phase::Running(handle) = &state.phase {
            handle.send(Input::EngineJoined(engine));
        }
        drop(state);
        sender.send(&Packet::Open { lobby: self.node.clone(), engine });
        tracing::info!(node = name, engine = engine.0, "a node joins and owns tournaments");
    }

    fn received(&mut self, engine: EngineId, packet: Packet) {
        match packet {
            Packet::Passed(message) => {
                self.deliver(Message::Input(Input::Passed { from: engine, message }));
            }
            Packet::Answer { id, answer } => {
                let Some(asked) = self.links.state().queries.remove(&id) else { return };
                // Without an answer the reply is dropped, and its caller notices that.
                if let Some(answer) = answer.and_then(|answer| asked.query.decode(&answer)) {
                    self.deliver(Message::Answered(asked.reply, answer));
                }
            }
            Packet::Return { id, query } => {
                let Some(asked) = self.links.state().queries.remove(&id) else { return };
                let query = query.into_query();
                self.deliver(Message::Query { query, reply: asked.reply });
            }
            Packet::Show { watcher, shown } => self.deliver(Message::Show(watcher, shown)),
            Packet::EndWatch(watcher) => {
                self.links.state().watchers.remove(&watcher);
                self.deliver(Message::EndWatch(watcher));
            }
            _ => {}
        }
    }

    /// Tells every node that this one is there, and how far its engine has come.
    fn say_alive(&mut self) {
        let packet = match self.handle() {
            Some(handle) => {
                self.early.drain(..).for_each(|message| handle.put(message));
                Packet::PassedUntil(handle.passed_until(clock::now_ms()))
            }
            None => Packet::Alive,
        };
        for sender in self.senders() {
            sender.send(&packet);
            sender.probe();
        }
    }

    /// Forgets a link that was given up.
    fn given_up(&mut self, LostNode { node, engine }: &LostNode) {
        tracing::warn!(node, engine = engine.0, "the link to a node is lost");
        let mut state = self.links.state();
        if let Some(sender) = state.senders.remove(engine) {
            sender.close();
        }
        // Their replies are dropped, and their callers notice that.
        state.queries.retain(|_, asked| asked.engine != *engine);
        let watchers = state.watchers.extract_if(|_, shown_by| shown_by == engine);
        let ended: Vec<WatcherId> = watchers.map(|(watcher, _)| watcher).collect();
        drop(state);
        ended.into_iter().for_each(|watcher| self.deliver(Message::EndWatch(watcher)));
    }

    /// Takes the cells of lost nodes back. Then the lobby's engine resumes their tournaments.
    fn take_back(&mut self) {
        if self.log.standing() == LogStanding::Owner {
            self.lender.lost().iter().for_each(|lost| self.loans.take_back(lost));
        }
    }

    /// Looks for orders of operators to move tournaments.
    fn take_orders(&mut self) {
        let is_owner = self.log.standing() == LogStanding::Owner;
        if self.orders_due <= Instant::now() && is_owner && self.handle().is_some() {
            self.orders_due = Instant::now() + ORDERS_PAUSE;
            self.loans.take_moves();
        }
    }

    /// Carries out an operator's order to move a tournament.
    fn order(&mut self, tournament: String, node: &str) {
        let to = match self.lender.engine_of(node) {
            Some(engine) => engine,
            None if node == self.node => EngineId::LOBBY,
            None => {
                return tracing::warn!(
                    tournament,
                    node,
                    "the node owns no tournaments; nothing moves"
                );
            }
        };
        tracing::info!(tournament, node, "an operator moves a tournament");
        let tournament = TournamentId::from_text(&tournament);
        self.deliver(Message::Input(Input::Move { tournament, to }));
    }
}
