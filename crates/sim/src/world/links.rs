//! The links of the node that owns the log to the nodes that stand by.
//!
//! The rules by which a link begins and ends are the server's (`agon_engine::links`). Here is what
//! the server's thread for the bus does around them: it lends, takes back, and passes on messages.

use super::nodes::since_begin;
use super::{CRASH_TRIES, Happening, World};
use crate::bus::InFlight;
use crate::disk::{Cell, Direction, Question, Reply};
use crate::driver::Outgoing;
use crate::invariants::Failure;
use crate::plan::BusFault;
use crate::sabotage::Sabotage;
use agon_core::{Millis, Timestamp};
use agon_engine::links::{ALIVE_PAUSE, FromLobby, FromNode, Lender, LinkWriter, LostNode, Packet};
use agon_engine::query::RemoteQuery;
use agon_engine::{EngineId, EngineRole, Input, QueryId};
use agon_store::LogStanding;
use std::collections::BTreeMap;

/// How often a node looks after its links.
pub(super) const TICK_MS: Millis = ALIVE_PAUSE.as_millis() as Millis;

/// How long a new owner waits for the offers of other nodes.
const GATHER_MS: Millis = 1_000;

/// An owner of the log can lend cells so often before an epoch could repeat.
const LOANS_BITS: u32 = 24;

/// The name of a node on the bus.
pub(super) fn name(node: u32) -> String {
    format!("n{node}")
}

fn number(name: &str) -> u32 {
    name.trim_start_matches('n').parse().expect("nodes are numbered")
}

/// The phases of the owner of the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It waits until the records of its own loan are durable.
    Draining,
    /// It takes back all loans.
    Clearing,
    /// It waits for the first offers, until this time.
    Gathering(Timestamp),
    /// Its engine runs.
    Running,
}

/// The frames of a link that a node has taken, for planted bugs of the receiver.
#[derive(Default)]
pub(crate) struct Renumbered {
    /// The number of the last one.
    last: u64,
    /// How many of them were copies.
    copies: u64,
}

/// The links of the owner of the log.
pub(crate) struct Links {
    pub(super) node: u32,
    /// The epoch of the log.
    whole: u64,
    loans: u64,
    lender: Lender,
    /// The node of each engine, and the sending end of the link to it.
    writers: BTreeMap<EngineId, (u32, LinkWriter)>,
    joined: u16,
    phase: Phase,
    /// The node that a loan is asked for, its attempt, and the epoch of the loan.
    lending: Option<(String, u64, u64)>,
    /// The node whose loan is being taken back.
    taking: Option<LostNode>,
    is_asking: bool,
    /// Messages to the lobby's engine, which is not open yet, and when each was sent.
    early: Vec<(Input, Timestamp)>,
    /// The queries that engines on other nodes answer.
    queries: BTreeMap<u64, (EngineId, QueryId, RemoteQuery)>,
    queries_asked: u64,
    pub(super) next_tick: Timestamp,
}

impl World {
    fn links_of(&mut self, node: u32) -> Option<&mut Links> {
        self.owner_links.iter_mut().find(|links| links.node == node)
    }

    /// A node owns the log, and begins to lend. The first one opens its engine at once.
    pub(super) fn open_links(&mut self, node: u32, whole: u64, is_first: bool) {
        let phase = if is_first { Phase::Running } else { Phase::Draining };
        self.owner_links.push(Links {
            node,
            whole,
            loans: 0,
            lender: Lender::default(),
            writers: BTreeMap::new(),
            joined: 0,
            phase,
            lending: None,
            taking: None,
            is_asking: false,
            early: Vec::new(),
            queries: BTreeMap::new(),
            queries_asked: 0,
            next_tick: self.now,
        });
        self.stop_cells(node);
    }

    fn ask_about_loans(&mut self, node: u32, what: Question) {
        let (now, delay_ms) = (self.now, self.rng.between(0, 4));
        self.disk.shared(|shared| shared.ask(node, now, delay_ms, what));
    }

    /// Has an owner that waits for something go on.
    pub(super) fn advance_links(&mut self) -> Result<(), Failure> {
        for at in 0..self.owner_links.len() {
            let Links { node, whole, phase, joined, .. } = self.owner_links[at];
            let others = self.nodes.len().saturating_sub(1);
            match phase {
                _ if !self.is_awake(node) => {}
                Phase::Draining if self.cells_of(node).is_none() => {
                    self.owner_links[at].phase = Phase::Clearing;
                    self.ask_about_loans(node, Question::TakeBack { whole, node: None });
                }
                Phase::Gathering(until) if self.now >= until || usize::from(joined) >= others => {
                    self.owner_links[at].phase = Phase::Running;
                    let log = self.disk.open_cell(node, node, Cell::Lobby, whole);
                    let role = EngineRole::LobbyOfNodes { joined };
                    self.open_server(node, log, Some(whole), role)?;
                    let Some(links) = self.links_of(node) else { return Ok(()) };
                    for (input, sent_at) in std::mem::take(&mut links.early) {
                        self.deliver_to_lobby(node, input, sent_at);
                    }
                    return Ok(());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The database answered a question about loans.
    pub(super) fn loans_answered(&mut self, node: u32, reply: Reply) {
        let now = self.now;
        let Some(links) = self.links_of(node) else { return };
        links.is_asking = false;
        let whole = links.whole;
        let (lending, taking) = (links.lending.take(), links.taking.take());
        match (reply, links.phase) {
            (Reply::TakenBack, Phase::Clearing) => {
                links.phase = Phase::Gathering(now + GATHER_MS);
                self.trace.note(now, || format!("node {node} has taken back all loans"));
                let all: Vec<u32> = self.nodes.iter().map(|node| node.id).collect();
                self.hasten_after_taking_back(all);
            }
            (_, Phase::Clearing) => {
                self.ask_about_loans(node, Question::TakeBack { whole, node: None });
            }
            (Reply::TakenBack, _) => {
                let Some(lost) = taking else { return };
                links.lender.taken_back(&lost);
                self.trace.note(now, || format!("node {node} has taken back {lost:?}"));
                self.hasten_after_taking_back(vec![number(&lost.node)]);
                self.deliver_to_lobby(node, Input::EngineLost(lost.engine), now);
            }
            (Reply::Lent { is_lent: true }, _) => {
                if let Some((name, attempt, link)) = lending {
                    self.open_link(node, name, attempt, link);
                }
            }
            _ => {}
        }
    }

    /// Perhaps delivers the records of nodes that are cut off from the database soon after their
    /// loans were taken back, when their streams have hardly grown since.
    fn hasten_after_taking_back(&mut self, nodes: Vec<u32>) {
        for node in nodes {
            if !self.healed && self.rng.chance(700) {
                let after_ms = self.rng.between(0, 20);
                self.at(self.now + after_ms, Happening::HealLink(node));
            }
        }
    }

    /// Opens a link to a node that has a loan now.
    fn open_link(&mut self, node: u32, other: String, attempt: u64, link: u64) {
        let now = self.now;
        let Some(links) = self.links_of(node) else { return };
        let engine = links.lender.open(other.clone(), attempt, link, since_begin(now));
        let engine = engine.expect("fewer nodes than numbers");
        let other = number(&other);
        links.joined = engine.0;
        links.writers.insert(engine, (other, LinkWriter::new(link)));
        let is_running = links.phase == Phase::Running;
        self.trace.note(now, || format!("node {node} lends {other} tournaments as {engine:?}"));
        // Before the node reads the lobby: it must miss no event.
        if is_running && let Some(server) = self.servers.iter_mut().find(|one| one.id == node) {
            server.driver.send(Input::EngineJoined(engine));
        }
        self.write_to_node(node, engine, &Packet::Open { lobby: name(node), engine });
    }

    /// Writes a packet on a link of the owner of the log; returns whether there is the link.
    fn write_to_node(&mut self, node: u32, engine: EngineId, packet: &Packet) -> bool {
        let Some(links) = self.owner_links.iter_mut().find(|links| links.node == node) else {
            return false;
        };
        let Some((other, writer)) = links.writers.get_mut(&engine) else { return false };
        let (other, mut frames) = (*other, Vec::new());
        writer.write(&packet.encode(), |frame| frames.push(frame));
        frames.into_iter().for_each(|frame| self.publish(node, other, frame));
        true
    }

    /// Publishes a frame for a node, which may have ended.
    pub(super) fn publish(&mut self, from: u32, to: u32, frame: Vec<u8>) {
        let is_there = self.nodes.iter().any(|node| node.id == to);
        if let Some(bus) = self.bus.as_mut().filter(|_| is_there) {
            bus.publish(from, to, frame, self.now);
        }
    }

    fn deliver_to_lobby(&mut self, node: u32, input: Input, sent_at: Timestamp) {
        let server = self.servers.iter_mut().find(|one| one.id == node);
        if let Some(server) = server {
            server.driver.hear_remote(input, sent_at);
        } else if let Some(links) = self.links_of(node) {
            links.early.push((input, sent_at));
        }
    }

    /// Hands every frame that has arrived to its node.
    pub(super) fn deliver_frames(&mut self) -> Result<(), Failure> {
        while let Some(mut bus) = self.bus.take() {
            let frame = bus.take(self.now, |node| self.reads_bus(node));
            self.bus = Some(bus);
            let Some(frame) = frame else { break };
            let InFlight { to, sent_at, .. } = frame;
            let bytes = self.renumber(frame);
            let now = since_begin(self.now);
            if let Some(links) = self.links_of(to) {
                let heard = links.lender.take(bytes, now);
                self.heard_from_node(to, heard, sent_at);
            } else if let Some(node) = self.nodes.iter_mut().find(|node| node.id == to) {
                let owner = node.known_owner.map(name);
                let heard = node.borrower.take(bytes, owner.as_deref(), now);
                match heard {
                    FromLobby::Nothing => {}
                    FromLobby::Open { link, lobby, engine } => {
                        self.open_cells(to, number(&lobby), link, engine)?;
                    }
                    FromLobby::Packet(packet) => self.heard_from_lobby(to, packet, sent_at),
                    FromLobby::End(why) => self.end_cells(to, why, true),
                }
            }
        }
        Ok(())
    }

    /// Planted bugs of the receiving end of a link: a gap does not count, or a copy counts as the
    /// next frame.
    fn renumber(&mut self, frame: InFlight) -> Vec<u8> {
        let InFlight { to, mut bytes, is_copy, .. } = frame;
        let read =
            |at: usize| bytes[at..].first_chunk().map_or(0, |first| u64::from_be_bytes(*first));
        let (link, number) = (read(0), read(8));
        if link == 0 {
            return bytes;
        }
        let Renumbered { last, copies } = self.renumbered.entry((link, to)).or_default();
        let new = match self.sabotage {
            Some(Sabotage::IgnoreGap) if !is_copy => *last + 1,
            Some(Sabotage::TakeTwice) => {
                *copies += u64::from(is_copy);
                if is_copy { *last + 1 } else { number + *copies }
            }
            _ => return bytes,
        };
        *last = new;
        bytes[8..16].copy_from_slice(&new.to_be_bytes());
        bytes
    }

    fn heard_from_node(&mut self, node: u32, heard: FromNode, sent_at: Timestamp) {
        match heard {
            FromNode::Nothing | FromNode::OtherVersion(_) => {}
            FromNode::Offered { node: other, attempt } => self.offered(node, other, attempt),
            FromNode::Lost(lost) => self.given_up(node, &lost),
            FromNode::Packet(engine, Packet::Passed(message)) => {
                let input = Input::Passed { from: engine, message };
                self.deliver_to_lobby(node, input, sent_at);
            }
            FromNode::Packet(_, packet) => {
                let Some(links) = self.links_of(node) else { return };
                let (id, returned, answer) = match packet {
                    Packet::Answer { id, answer } => (id, None, answer),
                    Packet::Return { id, query } => (id, Some(query), None),
                    _ => return,
                };
                let Some((_, own, query)) = links.queries.remove(&id) else { return };
                let server = self.servers.iter_mut().find(|one| one.id == node);
                let Some(server) = server else { return };
                match returned {
                    Some(query) => {
                        server.driver.send(Input::Query { id: own, query: query.into_query() });
                    }
                    None => {
                        let answer = answer.and_then(|answer| query.decode(&answer));
                        server.driver.answered(own, answer);
                    }
                }
            }
        }
    }

    fn offered(&mut self, node: u32, other: String, attempt: u64) {
        let is_owner = self.standing_of(node) == Some(LogStanding::Owner);
        let is_stopping = self.servers.iter().any(|one| one.id == node && one.stopping);
        let Some(links) = self.links_of(node) else { return };
        let is_open = matches!(links.phase, Phase::Gathering(_) | Phase::Running);
        if !is_open || !is_owner || is_stopping || links.is_asking {
            return;
        }
        links.loans += 1;
        let (whole, epoch) = (links.whole, (links.whole << LOANS_BITS) + links.loans);
        let borrower = number(&other);
        links.lending = Some((other, attempt, epoch));
        links.is_asking = true;
        self.ask_about_loans(node, Question::Lend { whole, node: borrower, epoch });
    }

    /// The owner of the log gives up a link.
    fn given_up(&mut self, node: u32, lost: &LostNode) {
        self.history.links_lost += 1;
        self.trace.note(self.now, || format!("node {node} gives up {lost:?}"));
        let Some(links) = self.links_of(node) else { return };
        let writer = links.writers.remove(&lost.engine);
        let asked = links.queries.extract_if(.., |_, (engine, ..)| *engine == lost.engine);
        let unanswered: Vec<QueryId> = asked.map(|(_, (_, own, _))| own).collect();
        if let Some((other, mut writer)) = writer {
            writer.close(|frame| {
                if let Some(bus) = &mut self.bus {
                    bus.publish(node, other, frame, self.now);
                }
            });
        }
        if let Some(server) = self.servers.iter_mut().find(|one| one.id == node) {
            unanswered.into_iter().for_each(|own| server.driver.answered(own, None));
        }
    }

    /// An owner that stops closes its links.
    pub(super) fn close_links(&mut self, node: u32) {
        let Some(links) = self.links_of(node) else { return };
        for (_, (other, mut writer)) in std::mem::take(&mut links.writers) {
            let mut frames = Vec::new();
            writer.close(|frame| frames.push(frame));
            frames.into_iter().for_each(|frame| self.publish(node, other, frame));
        }
    }

    /// Puts the messages that engines have for other nodes on the bus.
    pub(super) fn flush_outgoing(&mut self) {
        for at in 0..self.servers.len() {
            let node = self.servers[at].id;
            for outgoing in self.servers[at].driver.take_outgoing() {
                match outgoing {
                    Outgoing::Passed(to, message) => {
                        self.write_to_node(node, to, &Packet::Passed(message));
                    }
                    Outgoing::Query(to, own, query) => self.ask_node(node, to, own, query),
                    Outgoing::Answer(..) | Outgoing::Return(..) => {
                        unreachable!("the lobby's engine answers its own queries")
                    }
                }
            }
        }
        self.flush_cells();
    }

    fn ask_node(&mut self, node: u32, to: EngineId, own: QueryId, query: RemoteQuery) {
        let Some(links) = self.links_of(node) else { return };
        links.queries_asked += 1;
        let id = links.queries_asked;
        links.queries.insert(id, (to, own, query.clone()));
        if !self.write_to_node(node, to, &Packet::Query { id, query }) {
            self.links_of(node).into_iter().for_each(|links| drop(links.queries.remove(&id)));
            if let Some(server) = self.servers.iter_mut().find(|one| one.id == node) {
                server.driver.answered(own, None);
            }
        }
    }

    /// When a node that looks after its links now does so again. Nodes do it together once all is
    /// healed: otherwise these ticks would be most of the steps of a run.
    pub(super) fn next_tick(&self) -> Timestamp {
        match self.healed {
            true => Timestamp::from_ms((self.now.as_ms() / TICK_MS + 1) * TICK_MS),
            false => self.now + TICK_MS,
        }
    }

    /// Has every node look after its links, if it is time.
    pub(super) fn tick_links(&mut self) {
        let now = self.now;
        for at in 0..self.owner_links.len() {
            let Links { node, whole, next_tick, phase, .. } = self.owner_links[at];
            if next_tick > now || !self.reads_bus(node) {
                continue;
            }
            self.owner_links[at].next_tick = self.next_tick();
            // A server that stops hears nobody, so the others must not rule about late answers.
            if self.servers.iter().any(|server| server.id == node && server.stopping) {
                self.close_links(node);
                continue;
            }
            let server = self.servers.iter().find(|one| one.id == node);
            let packet = match server {
                Some(server) => Packet::PassedUntil(server.handled_until.before(1)),
                None => Packet::Alive,
            };
            let engines: Vec<EngineId> = self.owner_links[at].writers.keys().copied().collect();
            for engine in engines {
                self.write_to_node(node, engine, &packet);
            }
            let linked = self.owner_links[at].writers.values().map(|(other, _)| *other);
            let gone: Vec<u32> = linked.filter(|other| self.has_left_bus(*other)).collect();
            let lender = &mut self.owner_links[at].lender;
            let mut lost = lender.lose_silent(since_begin(now));
            let gone = lender.lose_where(|name| gone.contains(&number(name)));
            lost.extend(gone);
            lost.iter().for_each(|lost| self.given_up(node, lost));
            let is_owner = self.standing_of(node) == Some(LogStanding::Owner);
            let links = &mut self.owner_links[at];
            let is_open = matches!(phase, Phase::Gathering(_) | Phase::Running);
            if is_open
                && is_owner
                && !links.is_asking
                && let Some(lost) = links.lender.lost().first()
            {
                let lost = lost.clone();
                let borrower = Some(number(&lost.node));
                (links.taking, links.is_asking) = (Some(lost), true);
                self.ask_about_loans(node, Question::TakeBack { whole, node: borrower });
            }
        }
        self.tick_cells();
    }

    /// Returns whether a node reads what the bus delivers.
    pub(super) fn reads_bus(&self, node: u32) -> bool {
        let is_draining = self.owner_links.iter().any(|links| {
            links.node == node && matches!(links.phase, Phase::Draining | Phase::Clearing)
        });
        let is_stopping = self.cells_of(node).is_some_and(|at| self.cells[at].is_stopping());
        self.is_awake(node) && !is_draining && !is_stopping
    }

    /// When something of the links is due next.
    pub(super) fn links_due(&self) -> Option<Timestamp> {
        let bus = self.bus.as_ref()?;
        let reads = |node: u32| self.reads_bus(node);
        let ticks = self.owner_links.iter().filter(|links| reads(links.node));
        let ticks = ticks.map(|links| match links.phase {
            Phase::Gathering(until) => links.next_tick.min(until),
            _ => links.next_tick,
        });
        let cells = self.cells_due();
        bus.next_due(reads).into_iter().chain(ticks).chain(cells).min()
    }

    /// Something goes wrong with the bus, or with a node that has tournaments on loan. It waits a
    /// while for a moment when such a node writes.
    pub(super) fn bus_fault(&mut self, fault: BusFault, tries: u32) {
        debug_assert!(tries <= CRASH_TRIES, "patience only shrinks");
        let now = self.now;
        let ids: Vec<u32> = self.nodes.iter().map(|node| node.id).collect();
        let lent: Vec<u32> = self.cells.iter().map(|cells| cells.node).collect();
        let lent: Vec<u32> = lent.into_iter().filter(|node| self.reads_bus(*node)).collect();
        let node = match fault {
            BusFault::CutNode { .. } | BusFault::Restart { .. } if ids.is_empty() => return,
            BusFault::CutNode { .. } | BusFault::Restart { .. } => *self.rng.pick(&ids),
            _ if tries > 0 && !lent.iter().any(|node| self.is_writing(*node)) => {
                let after_ms = self.rng.between(1, 20);
                self.at(now + after_ms, Happening::BusFault(fault, tries - 1));
                return;
            }
            _ if lent.is_empty() => return,
            _ => {
                let mut writing = lent.clone();
                writing.retain(|node| self.is_writing(*node));
                *self.rng.pick(if writing.is_empty() { &lent } else { &writing })
            }
        };
        self.trace.note(now, || format!("{fault:?} happens to node {node}"));
        match fault {
            BusFault::CutNode { ms, notices } => self.cut_bus(node, ms, notices),
            BusFault::Restart { away_ms } => {
                ids.into_iter().for_each(|node| self.cut_bus(node, away_ms, true));
            }
            BusFault::Partition { ms } => {
                self.cut_bus(node, ms, false);
                let until = now + ms;
                self.disk.shared(|shared| shared.cut(node, Direction::ToDatabase, until));
                self.at(until, Happening::HealLink(node));
            }
            BusFault::Kill => {
                self.history.crashes += 1;
                self.disk.crash(node, false);
                self.node_ended(node);
            }
            BusFault::Drain => {
                self.history.stops += 1;
                self.stop_cells(node);
            }
            BusFault::Stop { ms } => self.stop_process(node, ms),
            BusFault::CutDatabase { direction, ms, resets } => {
                self.disk.shared(|shared| {
                    shared.cut(node, direction, now + ms);
                    if resets {
                        shared.reset(node, now);
                    }
                });
                self.at(now + ms, Happening::HealLink(node));
            }
        }
    }

    /// Returns whether a record of a node is on its way to the database.
    fn is_writing(&self, node: u32) -> bool {
        self.disk.shared(|shared| shared.is_writing(node)).unwrap_or_default()
    }

    fn cut_bus(&mut self, node: u32, ms: Millis, notices: bool) {
        let until = self.now + ms;
        self.bus.iter_mut().for_each(|bus| bus.cut(node, until));
        if !notices {
            return;
        }
        self.at(until, Happening::BusUp(node));
        if let Some(links) = self.links_of(node) {
            let lost = links.lender.lose_all();
            lost.iter().for_each(|lost| self.given_up(node, lost));
        } else if let Some(one) = self.nodes.iter_mut().find(|one| one.id == node) {
            one.borrower.set_up(false);
            self.end_cells(node, "the connection to the bus is lost", true);
        }
    }

    /// Ends everything that is wrong with the bus.
    pub(super) fn heal_bus(&mut self) {
        self.bus.iter_mut().for_each(crate::bus::Bus::heal);
        self.nodes.iter_mut().for_each(|node| node.borrower.set_up(true));
    }
}
