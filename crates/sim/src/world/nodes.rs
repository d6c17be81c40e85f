//! Nodes that share a database: they stand by, claim the log, renew their lease, and fall silent.
//!
//! The rules by which a node tries to claim the log and by which an owner falls silent are those of
//! the server (`agon_store`'s `LeaseCandidate`, `LogStanding` and `Doubt`). The database has its
//! own clock; the clock of a server stands still while its process is stopped or silent.

use super::links::name;
use super::{CRASH_TRIES, Happening, World};
use crate::disk::{Asker, Cell, LEASE_MS, Question, Reply};
use crate::invariants::Failure;
use crate::plan::NodeFault;
use agon_core::{Millis, Timestamp};
use agon_engine::EngineRole;
use agon_engine::links::Borrower;
use agon_store::{BEATS_PER_LEASE, Doubt, LeaseCandidate, LogStanding, Turn, patience};
use std::time::Duration;

/// How often an owner renews its lease, and how often a node that stands by tries to claim the log.
pub(super) const BEAT_MS: Millis = LEASE_MS / BEATS_PER_LEASE as Millis;

/// How often a silent owner looks at its lease.
pub(super) const SILENT_MS: Millis = 50;

/// A process that stands by or owns the log.
pub(crate) struct Node {
    pub(super) id: u32,
    /// The epoch with which it owns the log.
    epoch: Option<u64>,
    /// When the last successful heartbeat was begun.
    renewed: Timestamp,
    has_lost: bool,
    candidate: LeaseCandidate,
    doubt: Doubt,
    is_silent: bool,
    /// True if the process is stopped (SIGSTOP).
    is_stopped: bool,
    /// True if the database has not answered yet.
    is_waiting: bool,
    next_call: Timestamp,
    /// The owner of the log, as far as the node knows.
    pub(super) known_owner: Option<u32>,
    /// Its offers to own cells, and its link if it has one.
    pub(super) borrower: Borrower,
    /// When it next looks after its link.
    pub(super) next_tick: Timestamp,
}

impl Node {
    fn new(id: u32, now: Timestamp) -> Node {
        let mut borrower = Borrower::new(name(id));
        borrower.set_up(true);
        Node {
            id,
            epoch: None,
            renewed: now,
            has_lost: false,
            candidate: LeaseCandidate::default(),
            doubt: Doubt::default(),
            is_silent: false,
            is_stopped: false,
            is_waiting: false,
            next_call: now,
            known_owner: None,
            borrower,
            next_tick: now,
        }
    }

    /// Notes that the node's link has ended.
    pub(super) fn link_ended(&mut self) {
        self.borrower.ended();
    }

    fn standing(&self, now: Timestamp) -> LogStanding {
        let age = Duration::from_millis(now.since(self.renewed));
        LogStanding::of(self.has_lost, age, Duration::from_millis(LEASE_MS))
    }

    /// When the node next has something to do by itself.
    pub(super) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        let call = (!self.is_waiting).then_some(self.next_call);
        let look = self.is_silent.then_some(now + SILENT_MS);
        call.into_iter().chain(look).min().filter(|_| !self.is_stopped)
    }
}

pub(super) fn since_begin(now: Timestamp) -> Duration {
    Duration::from_millis(now.as_ms())
}

impl World {
    /// Starts the nodes. The first one owns the log.
    pub(super) fn start_nodes(&mut self) -> Result<(), Failure> {
        let Some(plan) = &self.plan.nodes else { return self.start_server() };
        for _ in 0..plan.count {
            self.start_node();
        }
        let (id, now) = (self.nodes[0].id, self.now);
        if let Some(epoch) = self.disk.shared(|shared| shared.begin(id, now)) {
            self.own(id, epoch, now, true)?;
        }
        Ok(())
    }

    /// Starts a process that stands by.
    pub(super) fn start_node(&mut self) {
        let id = self.next_server;
        self.next_server += 1;
        self.trace.note(self.now, || format!("node {id} stands by"));
        self.nodes.push(Node::new(id, self.now));
    }

    pub(super) fn lacks_nodes(&self) -> bool {
        self.plan.nodes.as_ref().is_some_and(|plan| self.nodes.len() < plan.count)
    }

    fn node(&mut self, id: u32) -> Option<&mut Node> {
        self.nodes.iter_mut().find(|node| node.id == id)
    }

    /// A node owns the log: it starts the server. With a bus it first takes back all loans, unless
    /// it is the first owner.
    fn own(
        &mut self,
        id: u32,
        epoch: u64,
        asked_at: Timestamp,
        is_first: bool,
    ) -> Result<(), Failure> {
        self.trace.note(self.now, || format!("node {id} owns the log with epoch {epoch}"));
        if let Some(node) = self.node(id) {
            (node.epoch, node.renewed) = (Some(epoch), asked_at);
        }
        let role = match self.bus {
            Some(_) => {
                self.open_links(id, epoch, is_first);
                EngineRole::LobbyOfNodes { joined: 0 }
            }
            None => EngineRole::Lobby { cell_engines: self.plan.cell_engines },
        };
        if self.bus.is_some() && !is_first {
            return Ok(());
        }
        let log = self.disk.open_cell(id, id, Cell::Lobby, epoch);
        self.open_server(id, log, Some(epoch), role)
    }

    /// A process ended. A new one starts a little later and stands by.
    pub(super) fn node_ended(&mut self, id: u32) {
        self.nodes.retain(|node| node.id != id);
        self.owner_links.retain(|links| links.node != id);
        self.end_cells(id, "its process has ended", false);
        self.bus.iter_mut().for_each(|bus| bus.forget(id));
        if self.plan.nodes.is_some() {
            let after_ms = self.rng.between(1, 500);
            self.at(self.now + after_ms, Happening::Start);
        }
    }

    /// Lets the nodes read the database's replies and ask it again.
    pub(super) fn step_nodes(&mut self) -> Result<(), Failure> {
        let now = self.now;
        let Some(replies) = self.disk.shared(|shared| shared.take_replies(now)) else {
            return Ok(());
        };
        for call in replies {
            match call.asker {
                Asker::Node => {}
                Asker::Loan => {
                    self.loan_renewed(call.node, call.asked_at, call.what);
                    continue;
                }
                Asker::Links => {
                    self.loans_answered(call.node, call.what);
                    continue;
                }
            }
            let Some(node) = self.node(call.node) else { continue };
            node.is_waiting = false;
            node.next_call = now + BEAT_MS;
            let has_answer = call.what != Reply::Failed;
            match call.what {
                Reply::Renewed { is_owner } => {
                    node.renewed = call.asked_at;
                    node.has_lost |= !is_owner;
                }
                _ if node.epoch.is_none() => node.candidate.tried(since_begin(now), has_answer),
                _ => {}
            }
            if let Reply::Taken { owner: Some(owner) } = call.what {
                node.known_owner = Some(owner);
            }
            if let Reply::Claimed { epoch } = call.what {
                self.own(call.node, epoch, call.asked_at, false)?;
            }
        }
        for at in 0..self.nodes.len() {
            let node = &self.nodes[at];
            if node.is_stopped || node.is_waiting || node.next_call > now {
                continue;
            }
            let absent = node.known_owner.filter(|owner| self.has_left_bus(*owner));
            let node = &mut self.nodes[at];
            node.is_waiting = true;
            let may_steal = |has_left| {
                let patience = patience(Duration::from_millis(LEASE_MS), has_left);
                node.candidate.may_steal(since_begin(now), patience)
            };
            let what = match node.epoch {
                Some(epoch) => Question::Renew { cell: Cell::Lobby, epoch },
                None => {
                    let absent = absent.filter(|_| may_steal(true));
                    Question::Claim { may_steal: may_steal(false), absent }
                }
            };
            let (id, delay_ms) = (node.id, self.rng.between(0, 4));
            self.disk.shared(|shared| shared.ask(id, now, delay_ms, what));
        }
        self.renew_loans();
        self.hasten_after_claims();
        self.check_database()
    }

    /// Returns whether a server may act now. An owner whose lease has expired falls silent, and
    /// ends when another node owns the log or the database does not answer for long.
    pub(super) fn take_turn(&mut self, at: usize) -> bool {
        let (id, now) = (self.servers[at].id, self.now);
        let Some(node) = self.node(id) else { return true };
        if node.is_stopped {
            return false;
        }
        let turn = node.doubt.turn(node.standing(now), since_begin(now));
        match turn {
            Turn::Act => return true,
            Turn::ActAgain(_) => {
                node.is_silent = false;
                self.servers[at].clock.resume(now);
                self.trace.note(now, || format!("node {id} acts again"));
                return true;
            }
            Turn::FallSilent => {
                node.is_silent = true;
                self.servers[at].clock.stop(now);
                self.history.silences += 1;
                self.trace.note(now, || format!("node {id} falls silent"));
            }
            Turn::Wait => {}
            Turn::TakenOver | Turn::NoDatabase(_) => {
                self.trace.note(now, || format!("node {id} ends: {turn:?}"));
                let server = self.servers.remove(at);
                self.close_links(id);
                self.lose(server);
            }
        }
        false
    }

    /// Returns whether the bus says that a node is not connected: its process has ended. The bus
    /// says so of every second node, so that the others wait for the rest.
    pub(super) fn has_left_bus(&self, node: u32) -> bool {
        self.bus.is_some() && node.is_multiple_of(2) && self.nodes.iter().all(|one| one.id != node)
    }

    /// Returns whether a node's process is there and not stopped.
    pub(super) fn is_awake(&self, id: u32) -> bool {
        self.nodes.iter().any(|node| node.id == id && !node.is_stopped)
    }

    /// The standing of a node that owns the log.
    pub(super) fn standing_of(&self, id: u32) -> Option<LogStanding> {
        let node = self.nodes.iter().find(|node| node.id == id && node.epoch.is_some())?;
        Some(node.standing(self.now))
    }

    /// Returns whether a server certainly owns the log now.
    pub(super) fn may_act(&self, server: u32) -> bool {
        let node = self.nodes.iter().find(|node| node.id == server);
        node.is_none_or(|node| {
            let is_awake = !node.is_stopped && !node.is_silent;
            is_awake && node.standing(self.now) == LogStanding::Owner
        })
    }

    /// Something goes wrong with the owner of the log or with the database. It waits a while for a
    /// moment when the owner writes.
    pub(super) fn node_fault(&mut self, fault: NodeFault, tries: u32) {
        debug_assert!(tries <= CRASH_TRIES, "patience only shrinks");
        let now = self.now;
        let owner = self.disk.shared(|shared| shared.owner()).flatten();
        let is_node = |id: u32| self.nodes.iter().any(|node| node.id == id);
        let owner = owner.filter(|id| is_node(*id) && self.may_act(*id));
        let is_writing =
            |id: u32| self.disk.shared(|shared| shared.is_writing(id)).unwrap_or_default();
        let Some(id) = owner.filter(|id| tries == 0 || is_writing(*id)) else {
            if tries > 0 {
                let after_ms = self.rng.between(1, 5);
                self.at(now + after_ms, Happening::NodeFault(fault, tries - 1));
            }
            return;
        };
        self.trace.note(now, || format!("{fault:?} happens to node {id}"));
        match fault {
            NodeFault::Stop { ms } => self.stop_process(id, ms),
            NodeFault::Cut { direction, ms, resets } => {
                self.disk.shared(|shared| {
                    shared.cut(id, direction, now + ms);
                    if resets {
                        shared.reset(id, now);
                    }
                });
                self.at(now + ms, Happening::HealLink(id));
                self.stall_commit(id);
            }
            NodeFault::Restart { away_ms } => self.disk.restart_database(away_ms),
            NodeFault::Promote { breaks_ms, promotes_ms } => {
                let until = now + promotes_ms + 500;
                self.disk.shared(|shared| shared.cut_standby(until));
                self.at(now + breaks_ms, Happening::BreakConnections);
                self.at(now + promotes_ms, Happening::PromoteStandby);
            }
        }
    }

    pub(super) fn stop_process(&mut self, id: u32, ms: Millis) {
        let now = self.now;
        self.disk.shared(|shared| shared.set_stopped(id, true));
        self.node(id).into_iter().for_each(|node| node.is_stopped = true);
        let own = self.servers.iter_mut().filter(|server| server.id == id);
        own.for_each(|server| server.clock.stop(now));
        let own = self.cells.iter_mut().filter(|cells| cells.node == id);
        own.for_each(|cells| cells.clock.stop(now));
        self.at(now + ms, Happening::Continue(id));
        self.stall_commit(id);
        // Players give a server up that does not answer.
        for link in 0..self.links.len() {
            if self.links[link].server == id && self.links[link].up {
                let after_ms = self.rng.between(300, 3_000);
                self.at(now + after_ms, Happening::Cut(link));
            }
        }
    }

    /// Perhaps lets a commit of the owner take long, and the fault end soon after the next claim.
    fn stall_commit(&mut self, id: u32) {
        if self.rng.chance(500) {
            let until = self.now + self.rng.between(0, 4_000);
            self.disk.shared(|shared| shared.stall(until));
        }
        if self.rng.chance(600) {
            let claims = self.disk.shared(|shared| shared.figures.claims).unwrap_or_default();
            self.hastened = Some((id, claims));
        }
    }

    /// Ends a fault of an earlier owner soon after another node claimed the log.
    fn hasten_after_claims(&mut self) {
        let claims = self.disk.shared(|shared| shared.figures.claims).unwrap_or_default();
        if let Some((id, _)) = self.hastened.take_if(|(_, before)| *before < claims) {
            let after_ms = self.rng.between(0, 150);
            self.at(self.now + after_ms, Happening::Continue(id));
            self.at(self.now + after_ms, Happening::HealLink(id));
        }
    }

    /// A stopped process continues.
    pub(super) fn continue_process(&mut self, id: u32) {
        let now = self.now;
        let Some(node) = self.node(id).filter(|node| node.is_stopped) else { return };
        node.is_stopped = false;
        let is_silent = node.is_silent;
        self.trace.note(now, || format!("node {id} continues"));
        self.disk.shared(|shared| shared.set_stopped(id, false));
        let own = self.servers.iter_mut().filter(|server| server.id == id && !is_silent);
        own.for_each(|server| server.clock.resume(now));
        let own = self.cells.iter_mut().filter(|cells| cells.node == id && !cells.is_silent);
        own.for_each(|cells| cells.clock.resume(now));
    }

    /// Ends everything that is wrong with the nodes and the database.
    pub(super) fn heal_nodes(&mut self) {
        let now = self.now;
        let ids: Vec<u32> = self.nodes.iter().map(|node| node.id).collect();
        ids.into_iter().for_each(|id| self.continue_process(id));
        self.disk.shared(|shared| shared.heal(now));
        self.heal_bus();
        while self.lacks_nodes() {
            self.start_node();
        }
    }

    /// Checks that the database accepted no record of an earlier owner, and lost none that it
    /// acknowledged.
    fn check_database(&self) -> Result<(), Failure> {
        let found = self.disk.shared(|shared| (shared.stale.take(), shared.lost.take()));
        match found {
            Some((Some(what), _)) => Err(Failure::new("fence", what)),
            Some((_, Some(what))) => Err(Failure::new("durability", what)),
            _ => Ok(()),
        }
    }
}
