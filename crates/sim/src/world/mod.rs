//! The world: servers, players and the network between them, in one thread under virtual time.
//!
//! ```text
//!   players ── links (late, cut) ── sockets ── engines ── disk (late, torn, lost)
//! ```
//!
//! A run begins with chaos: the failures that the seed drew happen. Then everything is healed, and
//! all tournaments must end. The world checks every message of a server against the durable events
//! at that moment.

mod cells;
mod chaos;
mod clock;
mod links;
mod nodes;
mod operator;
mod servers;
mod wires;

use crate::bot::{Bot, Out};
use crate::bus::Bus;
use crate::disk::{Disk, SharedFigures};
use crate::driver::Driver;
use crate::history::History;
use crate::invariants::{self, Failure};
use crate::network::Link;
use crate::plan::{BEGIN, BusFault, Cup, NodeFault, Plan, token};
use crate::sabotage::Sabotage;
use crate::socket::Socket;
use crate::trace::Trace;
use crate::{Figures, Run};
use agon_bots::SplitMix64 as Rng;
use agon_core::lobby::{AccountKind, PasswordHash, Role};
use agon_core::{Event, Millis, Secret, Timestamp, TournamentId};
use agon_games::Registry;
use cells::CellsEngine;
pub(crate) use clock::Clock;
use links::{Links, Renumbered};
use nodes::Node;
use operator::OperatorOrders;
pub(crate) use operator::leaves_a_trace;
pub(crate) use servers::LINE_BYTES_MAX;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

/// How long tournaments may take once everything is healed.
const HEALED_MS_MAX: Millis = 900_000;

/// How many lines may wait to be sent to one connection.
pub(crate) const OUTBOX_MAX: usize = 24;

/// How often a crash waits for the disk to be busy.
const CRASH_TRIES: u32 = 400;

/// The most happenings in a run.
const STEPS_MAX: u64 = 400_000;

/// Something that happens at a time.
pub(crate) enum Happening {
    /// A player without an open request checks whether it has something to do.
    Wake(usize),
    Send(usize, Out),
    /// The player's system sends bytes that it held back.
    Flush(usize),
    ToServer(usize, Vec<u8>),
    ToBot(usize, Vec<u8>),
    /// The timers of the server's end of a quiet connection run.
    Look(usize),
    /// The player closes a connection.
    Cut(usize),
    ServerSeesEnd(usize),
    BotSeesEnd(usize),
    CutAny,
    /// A server crashes. Up to this often it waits a little for a moment when the disk is busy.
    CrashAny(u32),
    Start,
    Rival,
    StallAny(Millis),
    StopAny,
    /// The operator gives an order.
    Order,
    Heal,
    /// Something goes wrong with a node or the database. Up to this often it waits a little for a
    /// moment when the owner writes.
    NodeFault(NodeFault, u32),
    /// Something goes wrong with the bus, or with a node that has tournaments on loan. Up to this
    /// often it waits a little for a moment when one writes.
    BusFault(BusFault, u32),
    /// A node has its connection to the bus again.
    BusUp(u32),
    /// A stopped process continues.
    Continue(u32),
    /// The cut between a node and the database ends.
    HealLink(u32),
    /// All connections to the database break.
    BreakConnections,
    PromoteStandby,
}

pub(crate) struct Server {
    pub(crate) id: u32,
    pub(crate) driver: Driver,
    pub(crate) sockets: BTreeMap<usize, Socket>,
    busy_until: Timestamp,
    started: Timestamp,
    /// True if the server was asked to stop.
    stopping: bool,
    /// How many steps it has taken.
    steps: u64,
    /// The epoch with which its node owns the log.
    epoch: Option<u64>,
    clock: Clock,
    /// The time up to which its engine has handled all input.
    handled_until: Timestamp,
}

pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) seed: u64,
    rng: Rng,
    now: Timestamp,
    queue: BinaryHeap<Reverse<(Timestamp, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    next: u64,
    pub(crate) disk: Arc<Disk>,
    pub(crate) servers: Vec<Server>,
    next_server: u32,
    nodes: Vec<Node>,
    /// The bus between the nodes, if they share one.
    bus: Option<Bus>,
    owner_links: Vec<Links>,
    /// The engines of nodes with tournaments on loan.
    pub(crate) cells: Vec<CellsEngine>,
    /// By link and receiver.
    renumbered: BTreeMap<(u64, u32), Renumbered>,
    /// A node whose fault ends soon after the next claim, and how many claims there were.
    hastened: Option<(u32, u64)>,
    pub(crate) links: Vec<Link>,
    /// The connection each player uses.
    current: Vec<Option<usize>>,
    pub(crate) bots: Vec<Bot>,
    pub(crate) operator: OperatorOrders,
    pub(crate) history: History,
    healed: bool,
    /// How many cheats and ends of tournaments were durable at the last crash that followed one.
    results_seen: u64,
    pub(crate) games: Registry,
    /// Secrets and tokens, which no player may ever be sent.
    secrets: BTreeSet<String>,
    sabotage: Option<Sabotage>,
    pub(crate) trace: Trace,
}

impl World {
    pub(crate) fn new(run: Run, trace: Trace) -> World {
        let Run { seed, arrangement, sabotage } = run;
        let mut rng = Rng::new(seed);
        let plan = Plan::draw(&mut rng, seed, arrangement);
        let disk = Disk::new(rng.fork(), plan.pace, sabotage, plan.nodes.is_some());
        let bus = plan.nodes.as_ref().and_then(|nodes| nodes.bus.as_ref());
        let bus = bus.map(|plan| Bus::new(Rng::new(seed), plan.trouble));
        let mut bots = vec![Bot::new(0, Default::default(), &plan, rng.fork())];
        for (at, temper) in plan.players.iter().enumerate() {
            bots.push(Bot::new(at + 1, *temper, &plan, rng.fork()));
        }
        let of_cup =
            |id: &str| Secret::from_seed_number(seed).of_tournament(&TournamentId::from(id));
        let mut secrets: BTreeSet<String> =
            plan.cups.iter().map(|cup| of_cup(&cup.id).hex()).collect();
        secrets.extend((0..bots.len()).map(token));
        World {
            seed,
            rng,
            now: BEGIN,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            next: 0,
            disk,
            servers: Vec::new(),
            next_server: 1,
            nodes: Vec::new(),
            bus,
            owner_links: Vec::new(),
            cells: Vec::new(),
            renumbered: BTreeMap::new(),
            hastened: None,
            links: Vec::new(),
            current: vec![None; bots.len()],
            bots,
            operator: OperatorOrders::default(),
            history: History::default(),
            healed: false,
            results_seen: 0,
            games: agon_analysis::registry(),
            secrets,
            sabotage,
            trace,
            plan,
        }
    }

    fn at(&mut self, at: Timestamp, happening: Happening) {
        self.next += 1;
        self.queue.push(Reverse((at, self.next)));
        self.happenings.insert(self.next, happening);
    }

    /// Runs to the end, and checks everything.
    pub(crate) fn run(&mut self) -> Result<(), Failure> {
        self.schedule();
        self.start_nodes()?;
        self.make_accounts()?;
        while !self.is_over() {
            let Some(now) = self.next_time() else {
                return Err(Failure::new("progress", "nothing is left to happen"));
            };
            self.now = now;
            self.history.steps += 1;
            if self.history.steps > STEPS_MAX || now > self.deadline() {
                let open = self.unfinished().join(", ");
                return Err(Failure::new(
                    "progress",
                    format!("{open} did not end after all healed"),
                ));
            }
            while let Some(Reverse((at, number))) = self.queue.peek().copied()
                && at <= now
            {
                self.queue.pop();
                if let Some(happening) = self.happenings.remove(&number) {
                    self.happen(happening)?;
                }
            }
            self.disk.advance(now);
            self.step_nodes()?;
            self.deliver_frames()?;
            self.advance_links()?;
            self.die_after_results()?;
            self.step_servers()?;
            self.step_cells()?;
            self.flush_outgoing();
            self.tick_links();
            self.hear_answers()?;
        }
        self.history.ended_at = self.now;
        invariants::at_the_end(self)
    }

    fn schedule(&mut self) {
        let plan = self.plan.clone();
        for at in &plan.crashes {
            let patience = if self.rng.chance(800) { CRASH_TRIES } else { 0 };
            self.at(BEGIN + *at, Happening::CrashAny(patience));
        }
        plan.rivals.iter().for_each(|at| self.at(BEGIN + *at, Happening::Rival));
        plan.cuts.iter().for_each(|at| self.at(BEGIN + *at, Happening::CutAny));
        plan.stalls.iter().for_each(|(at, ms)| self.at(BEGIN + *at, Happening::StallAny(*ms)));
        plan.stops.iter().for_each(|at| self.at(BEGIN + *at, Happening::StopAny));
        plan.orders.iter().for_each(|at| self.at(BEGIN + *at, Happening::Order));
        for (at, fault) in plan.nodes.iter().flat_map(|nodes| &nodes.faults) {
            let patience = if self.rng.chance(800) { CRASH_TRIES } else { 0 };
            self.at(BEGIN + *at, Happening::NodeFault(*fault, patience));
        }
        let bus = plan.nodes.iter().filter_map(|nodes| nodes.bus.as_ref());
        for (at, fault) in bus.flat_map(|bus| &bus.faults) {
            self.at(BEGIN + *at, Happening::BusFault(*fault, CRASH_TRIES));
        }
        self.at(BEGIN + plan.chaos_ms, Happening::Heal);
        for bot in 0..self.bots.len() {
            self.at(BEGIN + 20 + bot as u64, Happening::Wake(bot));
        }
    }

    /// Creates the accounts before any failure.
    fn make_accounts(&mut self) -> Result<(), Failure> {
        let now = self.now;
        let server = &mut self.servers[0];
        for number in 0..self.bots.len() {
            let role = if number == 0 { Role::Operator } else { Role::Player };
            let person = self.bots[number].temper.person;
            let kind = if person { AccountKind::Person } else { AccountKind::Program };
            let name = self.bots[number].name.clone();
            // Players on other systems' protocols have only a name.
            let password = (!self.bots[number].is_peer()).then(|| PasswordHash::new("none"));
            server.driver.account(name, (kind, role), password, &token(number));
        }
        self.step_servers()?;
        while let Some(due) = self.disk.next_due() {
            self.now = due.max(now);
            self.disk.advance(self.now);
            self.step_servers()?;
        }
        Ok(())
    }

    fn deadline(&self) -> Timestamp {
        BEGIN + self.plan.chaos_ms + HEALED_MS_MAX
    }

    /// Announced tournaments that are not over. A sign-up of a series without entrants may stay
    /// open for ever.
    fn unfinished(&self) -> Vec<String> {
        self.disk.look(|index| index.unfinished().map(str::to_owned).collect())
    }

    /// Returns whether the operator has the result of every announcement.
    fn is_announced(&self) -> bool {
        let operator = &self.bots[0].record;
        let said = |cup: &Cup| {
            let key = ("announce".to_owned(), cup.id.clone());
            operator.done.contains(&key) || operator.refused.contains(&key)
        };
        self.plan.cups.iter().all(said)
    }

    fn is_over(&self) -> bool {
        let quiet = self.healed && self.queue.is_empty() && !self.disk.has_unacknowledged();
        let quiet = quiet && self.operator.has_nothing_open();
        quiet && self.is_announced() && self.unfinished().is_empty()
    }

    fn next_time(&self) -> Option<Timestamp> {
        let happening = self.queue.peek().map(|Reverse((at, _))| *at);
        let timers = self.servers.iter().filter_map(|server| {
            let due = server.clock.when(server.driver.next_due()?)?;
            Some(due.max(server.busy_until))
        });
        let busy = self.servers.iter().map(|server| server.busy_until).filter(|at| *at > self.now);
        let disk = self.disk.next_due().into_iter();
        let nodes = self.nodes.iter().filter_map(|node| node.next_due(self.now));
        let next = happening.into_iter().chain(timers).chain(busy).chain(disk).chain(nodes);
        let next = next.chain(self.links_due()).min();
        next.map(|next| next.max(self.now))
    }
}

impl World {
    /// Traces the log without the secrets, and without the answers, which are traced earlier.
    pub(crate) fn trace_log(&mut self) {
        if !self.trace.is_printed() {
            return;
        }
        let mut streams = self.disk.streams();
        streams.retain(|name, _| !name.starts_with("secret/"));
        for entry in streams.values().flatten() {
            if !matches!(entry.line.event, Event::AnswerAccepted(_)) {
                self.trace
                    .note(entry.line.at, || format!("log of {}: {}", entry.writer, entry.text));
            }
        }
    }

    /// The figures of the run.
    pub(crate) fn figures(&self) -> Figures {
        let streams = self.disk.streams();
        let (_, lost, torn) = self.disk.figures();
        let History { lines, crashes, conflicts, cuts, stops, peers, silences, .. } = self.history;
        let shared = self.disk.shared(|shared| shared.figures).unwrap_or_default();
        let SharedFigures { claims, fenced, ambiguous, promotions, undone, loans } = shared;
        let bus = self.bus.as_ref().map(|bus| bus.figures).unwrap_or_default();
        let obeyed = self.operator.given.iter().filter(|given| given.answer == Some(Ok(())));
        let orders = obeyed.count() as u64;
        let mut figures = Figures {
            seeds: 1,
            lines,
            crashes,
            conflicts,
            cuts,
            stops,
            peers,
            orders,
            lost,
            torn,
            claims,
            silences,
            fenced,
            ambiguous,
            promotions,
            undone,
            loans,
            links_lost: self.history.links_lost,
            frames: bus.frames,
            frames_lost: bus.lost,
            frames_doubled: bus.doubled,
            frames_reordered: bus.reordered,
            ..Figures::default()
        };
        for entry in streams.values().flatten() {
            figures.events += 1;
            match &entry.line.event {
                Event::GameEnded(_) => figures.games += 1,
                Event::AnswerAccepted(_) => {
                    figures.answers += 1;
                    let is_lent = self.history.loans.contains_key(&entry.writer);
                    figures.lent_answers += u64::from(is_lent);
                }
                Event::PlayerLeft(_) | Event::PlayerFaulted(_) | Event::WaitExpired(_) => {
                    figures.faults += 1;
                }
                _ => {}
            }
            for byte in entry.text.bytes() {
                figures.digest = (figures.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
        figures
    }
}
