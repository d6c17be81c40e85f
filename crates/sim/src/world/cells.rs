//! Engines of cells on nodes that stand by, with tournaments on loan.

use super::clock::Clock;
use super::links::name;
use super::nodes::{BEAT_MS, SILENT_MS, since_begin};
use super::{Node, World};
use crate::disk::{Cell, LEASE_MS, Question, Reply};
use crate::driver::{Driver, DriverParts, Ended, Outgoing};
use crate::history::Loan;
use crate::invariants::Failure;
use agon_core::{Millis, Timestamp};
use agon_engine::links::{LinkWriter, Packet};
use agon_engine::{EngineError, EngineId, EngineRole, Input};
use agon_store::{AppendError, Doubt, LogStanding, Turn};
use std::time::Duration;

/// How long an engine that stops waits for its records.
const DRAIN_MS_MAX: Millis = 10_000;

/// An engine of cells.
pub(crate) struct CellsEngine {
    /// The number under which it writes.
    pub(crate) id: u32,
    pub(super) node: u32,
    /// The node with the lobby.
    lobby: u32,
    /// The link, which is the epoch of the loan.
    pub(crate) link: u64,
    writer: LinkWriter,
    pub(crate) driver: Driver,
    pub(super) clock: Clock,
    /// It reads the lobby until then.
    busy_until: Timestamp,
    /// When it gives up waiting for its records, if it stops.
    gives_up_at: Option<Timestamp>,
    /// When the last successful heartbeat was begun.
    renewed: Timestamp,
    has_lost: bool,
    doubt: Doubt,
    pub(super) is_silent: bool,
    /// True if the database has not answered the heartbeat yet.
    is_waiting: bool,
    next_call: Timestamp,
}

/// Why an engine of cells ended.
enum CellsEnd {
    /// It lost its loan, or the database, or stops.
    Expected(&'static str),
    /// The log or the engine's state is invalid.
    Failed(Ended),
}

impl CellsEnd {
    fn of(ended: Ended) -> CellsEnd {
        match ended {
            Ended::Refused(AppendError::Fenced { .. }) => {
                CellsEnd::Expected("the log refused a record")
            }
            Ended::Failed(EngineError::Read(_)) => CellsEnd::Expected("the database is away"),
            ended => CellsEnd::Failed(ended),
        }
    }
}

impl CellsEngine {
    pub(super) fn is_stopping(&self) -> bool {
        self.gives_up_at.is_some()
    }

    fn standing(&self, now: Timestamp) -> LogStanding {
        let age = Duration::from_millis(now.since(self.renewed));
        LogStanding::of(self.has_lost, age, Duration::from_millis(LEASE_MS))
    }
}

impl World {
    pub(super) fn cells_of(&self, node: u32) -> Option<usize> {
        self.cells.iter().position(|cells| cells.node == node)
    }

    /// Returns whether nobody else may write the tournaments of an engine of cells.
    pub(crate) fn has_loan(&self, cells: &CellsEngine) -> bool {
        let (cell, epoch) = (Cell::Loan(cells.node), cells.link);
        self.disk.shared(|shared| shared.is_current(cell, epoch)).unwrap_or_default()
    }

    /// A node has a loan: it reads the lobby, and opens an engine.
    pub(super) fn open_cells(
        &mut self,
        node: u32,
        lobby: u32,
        link: u64,
        engine: EngineId,
    ) -> Result<(), Failure> {
        let id = self.next_server;
        self.next_server += 1;
        let (now, epoch) = (self.now, link);
        let log = self.disk.open_cell(id, node, Cell::Loan(node), epoch);
        let (settings, limits) = self.settings(EngineRole::Cells, id);
        let (games, sabotage) = (self.games.clone(), self.sabotage);
        let parts = DriverParts { log, games, settings, limits, sabotage };
        let opened = Driver::open(parts, engine, now);
        if let Some(one) = self.nodes.iter_mut().find(|one| one.id == node) {
            one.borrower.opened(link, name(lobby), since_begin(now));
        }
        let mut writer = LinkWriter::new(link);
        let driver = match opened {
            Ok(driver) => driver,
            // The database does not answer.
            Err(EngineError::Read(_)) => {
                self.disk.shared(|shared| shared.writer_ended(id));
                writer.close(|frame| self.publish(node, lobby, frame));
                self.nodes.iter_mut().filter(|one| one.id == node).for_each(Node::link_ended);
                return Ok(());
            }
            Err(error) => {
                let what = format!("node {node} cannot read the lobby: {error}");
                return Err(Failure::new("replay", what));
            }
        };
        self.trace.note(now, || format!("node {node} plays for {lobby} as {id} ({engine:?})"));
        self.history.loans.insert(id, Loan { server: lobby, started: now, ended: None });
        let busy_until = now + self.rng.between(0, 100);
        self.cells.push(CellsEngine {
            id,
            node,
            lobby,
            link,
            writer,
            driver,
            clock: Clock::default(),
            busy_until,
            gives_up_at: None,
            renewed: now,
            has_lost: false,
            doubt: Doubt::default(),
            is_silent: false,
            is_waiting: false,
            next_call: now,
        });
        Ok(())
    }

    /// A packet of the lobby's node arrives.
    pub(super) fn heard_from_lobby(&mut self, node: u32, packet: Packet, sent_at: Timestamp) {
        let Some(at) = self.cells_of(node) else { return };
        let driver = &mut self.cells[at].driver;
        match packet {
            Packet::Passed(message) => {
                driver.hear_remote(Input::Passed { from: EngineId::LOBBY, message }, sent_at);
            }
            Packet::PassedUntil(until) => driver.hear_lobby_until(until),
            Packet::Query { id, query } => driver.ask_remote(id, query),
            _ => {}
        }
    }

    /// The database answered a heartbeat of an engine of cells.
    pub(super) fn loan_renewed(&mut self, node: u32, asked_at: Timestamp, reply: Reply) {
        let now = self.now;
        let Some(at) = self.cells_of(node) else { return };
        let cells = &mut self.cells[at];
        cells.is_waiting = false;
        cells.next_call = now + BEAT_MS;
        if let Reply::Renewed { is_owner } = reply {
            cells.renewed = asked_at;
            cells.has_lost |= !is_owner;
        }
    }

    /// Sends the heartbeats that are due.
    pub(super) fn renew_loans(&mut self) {
        let now = self.now;
        for at in 0..self.cells.len() {
            let CellsEngine { node, link, is_waiting, next_call, .. } = self.cells[at];
            if !is_waiting && next_call <= now && self.is_awake(node) {
                self.cells[at].is_waiting = true;
                let delay_ms = self.rng.between(0, 4);
                let what = Question::Renew { cell: Cell::Loan(node), epoch: link };
                self.disk.shared(|shared| shared.ask(node, now, delay_ms, what));
            }
        }
    }

    /// Runs every engine of cells up to now.
    pub(super) fn step_cells(&mut self) -> Result<(), Failure> {
        let mut at = 0;
        while at < self.cells.len() {
            let CellsEngine { node, id, .. } = self.cells[at];
            match self.step_one(at) {
                Ok(()) => at += 1,
                Err(CellsEnd::Expected(why)) => self.end_cells(node, why, true),
                Err(CellsEnd::Failed(ended)) => {
                    let what = format!("the engine {id} of node {node} ended: {ended}");
                    return Err(Failure::new("owner", what));
                }
            }
        }
        Ok(())
    }

    fn step_one(&mut self, at: usize) -> Result<(), CellsEnd> {
        let now = self.now;
        let node = self.cells[at].node;
        let is_awake = self.is_awake(node);
        let cells = &mut self.cells[at];
        if !is_awake || cells.busy_until > now {
            return Ok(());
        }
        match cells.doubt.turn(cells.standing(now), since_begin(now)) {
            Turn::Act => {}
            Turn::ActAgain(_) => {
                cells.is_silent = false;
                cells.clock.resume(now);
            }
            Turn::FallSilent => {
                cells.is_silent = true;
                cells.clock.stop(now);
                self.history.silences += 1;
                self.trace.note(now, || format!("node {node} is silent with its tournaments"));
                return Ok(());
            }
            Turn::Wait => return Ok(()),
            Turn::TakenOver => return Err(CellsEnd::Expected("the loan is taken back")),
            Turn::NoDatabase(_) => return Err(CellsEnd::Expected("the database does not answer")),
        }
        cells.driver.step(cells.clock.read(now), now).map_err(CellsEnd::of)?;
        match cells.gives_up_at {
            Some(_) if cells.driver.is_drained() => Err(CellsEnd::Expected("it stops")),
            Some(until) if until <= now => Err(CellsEnd::Expected("it stops, without its records")),
            _ => Ok(()),
        }
    }

    /// Asks the engine of a node to stop. It ends when its records are durable, and then its node
    /// does, unless that one owns the log.
    pub(super) fn stop_cells(&mut self, node: u32) {
        let Some(at) = self.cells_of(node) else { return };
        self.cells[at].gives_up_at = Some(self.now + DRAIN_MS_MAX);
        self.cells[at].driver.stop();
    }

    /// Ends the engine of a node, which forgets everything. A process that lives closes its link.
    pub(super) fn end_cells(&mut self, node: u32, why: &str, is_alive: bool) {
        let Some(at) = self.cells_of(node) else { return };
        let CellsEngine { id, lobby, mut writer, clock, gives_up_at, .. } = self.cells.remove(at);
        self.trace.note(self.now, || format!("node {node} plays no more as {id}: {why}"));
        self.disk.shared(|shared| shared.writer_ended(id));
        self.history.clocks.insert(id, clock);
        if let Some(loan) = self.history.loans.get_mut(&id) {
            loan.ended = Some(self.now);
        }
        if !is_alive {
            return;
        }
        let mut frames = Vec::new();
        writer.close(|frame| frames.push(frame));
        frames.into_iter().for_each(|frame| self.publish(node, lobby, frame));
        self.nodes.iter_mut().filter(|one| one.id == node).for_each(Node::link_ended);
        let owns_log = self.owner_links.iter().any(|links| links.node == node);
        if gives_up_at.is_some() && !owns_log {
            self.disk.shared(|shared| shared.process_ended(node, true));
            self.node_ended(node);
        }
    }

    /// Puts the messages for the lobby's engine on the bus.
    pub(super) fn flush_cells(&mut self) {
        for at in 0..self.cells.len() {
            for outgoing in self.cells[at].driver.take_outgoing() {
                self.write_to_lobby(
                    at,
                    &match outgoing {
                        Outgoing::Passed(_, message) => Packet::Passed(message),
                        Outgoing::Answer(id, answer) => Packet::Answer { id, answer },
                        Outgoing::Return(id, query) => Packet::Return { id, query },
                        Outgoing::Query(..) => unreachable!("only the lobby's engine is asked"),
                    },
                );
            }
        }
    }

    fn write_to_lobby(&mut self, at: usize, packet: &Packet) {
        let CellsEngine { node, lobby, writer, .. } = &mut self.cells[at];
        let (node, lobby, mut frames) = (*node, *lobby, Vec::new());
        writer.write(&packet.encode(), |frame| frames.push(frame));
        frames.into_iter().for_each(|frame| self.publish(node, lobby, frame));
    }

    /// Has every node that stands by look after its link, or offer itself, if it is time.
    pub(super) fn tick_cells(&mut self) {
        let now = self.now;
        let ids: Vec<u32> = self.nodes.iter().map(|node| node.id).collect();
        for id in ids {
            let owns_log = self.owner_links.iter().any(|links| links.node == id);
            if owns_log || !self.reads_bus(id) {
                continue;
            }
            let next_tick = self.next_tick();
            let lobby = self.cells_of(id).map(|at| self.cells[at].lobby);
            let has_left = lobby.is_some_and(|lobby| self.has_left_bus(lobby));
            let Some(node) = self.nodes.iter_mut().find(|node| node.id == id) else { continue };
            if node.next_tick > now {
                continue;
            }
            node.next_tick = next_tick;
            let owner = node.known_owner;
            let doubt = node.borrower.doubt(owner.map(name).as_deref(), since_begin(now));
            let doubt = doubt.or(has_left.then_some("the node with the lobby has left the bus"));
            let offer = owner.and_then(|_| node.borrower.offer(since_begin(now)));
            if let Some(at) = self.cells_of(id) {
                self.write_to_lobby(at, &Packet::Alive);
            }
            if let Some(why) = doubt {
                self.end_cells(id, why, true);
            }
            if let (Some(owner), Some(offer)) = (owner, offer) {
                self.publish(id, owner, offer.alone());
            }
        }
    }

    /// When an engine of cells, or a node that stands by, has something to do next.
    pub(super) fn cells_due(&self) -> Option<Timestamp> {
        let now = self.now;
        let engines = self.cells.iter().filter(|cells| self.is_awake(cells.node));
        let engines = engines.flat_map(|cells| {
            let timer = cells.driver.next_due().and_then(|due| cells.clock.when(due));
            let timer = timer.map(|due| due.max(cells.busy_until));
            let busy = Some(cells.busy_until).filter(|until| *until > now);
            let call = (!cells.is_waiting).then_some(cells.next_call);
            let look = cells.is_silent.then_some(now + SILENT_MS);
            [timer, busy, call, look, cells.gives_up_at].into_iter().flatten()
        });
        let owns_log = |id: u32| self.owner_links.iter().any(|links| links.node == id);
        let ticks = self.nodes.iter().filter(|node| !owns_log(node.id) && self.reads_bus(node.id));
        engines.chain(ticks.map(|node| node.next_tick)).min()
    }
}
