//! The simulator: the real server in a world of crashes, cut connections and cheats, where a run is
//! a seed.
//!
//! ```text
//!   seed ─▶ Plan ─▶ World: players ── network ── engine (agon-server) ── Disk (the log)
//!                     │                             one thread, virtual time
//!                     ├─▶ invariants, for every message
//!                     └─▶ invariants and a recount of the players' own records, at the end
//! ```
//!
//! The simulator runs the code that ships: the machines of `agon-core`, the codecs of the gateways,
//! and `agon-engine` under the simulator's own driver. Clock, log, connections and players belong
//! to the world. The same seed gives the same run, to the byte.
#![forbid(unsafe_code)]

mod arrangement;
mod bot;
mod bus;
mod disk;
mod driver;
mod history;
mod index;
mod invariants;
mod network;
mod plan;
mod sabotage;
mod said;
mod socket;
mod trace;
mod way;
mod world;

pub use arrangement::{Arrangement, Run};
pub use invariants::Failure;
pub use sabotage::Sabotage;
pub use trace::Trace;

use std::panic::{AssertUnwindSafe, catch_unwind};
use world::World;

/// How many steps are shown before a failure.
const SHOWN_MAX: usize = 60;

/// Figures of the runs that found no failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Figures {
    /// Runs.
    pub seeds: u64,
    /// Games that ended.
    pub games: u64,
    /// Answers accepted.
    pub answers: u64,
    /// Events in the log.
    pub events: u64,
    /// Faults charged to players.
    pub faults: u64,
    /// Messages the servers sent.
    pub lines: u64,
    /// Servers that crashed.
    pub crashes: u64,
    /// Servers that were stopped.
    pub stops: u64,
    /// Orders of the operator that were obeyed.
    pub orders: u64,
    /// Answers over other systems' protocols.
    pub peers: u64,
    /// Servers that lost a stream to another.
    pub conflicts: u64,
    /// Connections that were cut.
    pub cuts: u64,
    /// Records that crashes lost.
    pub lost: u64,
    /// Records that crashes tore.
    pub torn: u64,
    /// Claims of nodes after the first.
    pub claims: u64,
    /// Owners that fell silent because their lease had expired.
    pub silences: u64,
    /// Records of nodes that did not own the log any more, which the database rejected.
    pub fenced: u64,
    /// Groups of records that a node sent again, because nobody knew whether they were committed.
    pub ambiguous: u64,
    /// Promotions of the database's standby.
    pub promotions: u64,
    /// Commits that such a promotion lost, of which nobody had heard.
    pub undone: u64,
    /// Loans of tournaments to nodes that stand by, each with a link.
    pub loans: u64,
    /// Links that were given up.
    pub links_lost: u64,
    /// Answers accepted by nodes with tournaments on loan.
    pub lent_answers: u64,
    /// Frames on the bus between nodes.
    pub frames: u64,
    /// Frames that the bus lost.
    pub frames_lost: u64,
    /// Frames that the bus delivered twice.
    pub frames_doubled: u64,
    /// Frames that the bus delivered after later ones.
    pub frames_reordered: u64,
    /// A digest of the whole log: equal for equal runs.
    pub digest: u64,
}

impl Figures {
    /// Adds the figures of another run.
    pub fn add(&mut self, other: &Figures) {
        self.seeds += other.seeds;
        self.games += other.games;
        self.answers += other.answers;
        self.events += other.events;
        self.faults += other.faults;
        self.lines += other.lines;
        self.crashes += other.crashes;
        self.stops += other.stops;
        self.orders += other.orders;
        self.peers += other.peers;
        self.conflicts += other.conflicts;
        self.cuts += other.cuts;
        self.lost += other.lost;
        self.torn += other.torn;
        self.claims += other.claims;
        self.silences += other.silences;
        self.fenced += other.fenced;
        self.ambiguous += other.ambiguous;
        self.promotions += other.promotions;
        self.undone += other.undone;
        self.loans += other.loans;
        self.links_lost += other.links_lost;
        self.lent_answers += other.lent_answers;
        self.frames += other.frames;
        self.frames_lost += other.frames_lost;
        self.frames_doubled += other.frames_doubled;
        self.frames_reordered += other.frames_reordered;
        self.digest = self.digest.wrapping_add(other.digest);
    }
}

/// Runs one seed.
pub fn run(run: Run) -> Result<Figures, Failure> {
    run_traced(run, Trace::off()).0
}

/// Runs one seed and shows its steps.
pub fn run_traced(run: Run, trace: Trace) -> (Result<Figures, Failure>, Trace) {
    let mut world = World::new(run, trace);
    // A panic of the server is a failure of the seed; the world is dropped after it.
    let ran = catch_unwind(AssertUnwindSafe(|| world.run()));
    let ran = ran.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        let words = words.or_else(|| panic.downcast_ref::<&str>().map(|text| text.to_string()));
        Err(Failure::new("panic", words.unwrap_or_default()))
    });
    world.trace_log();
    let figures = ran.map(|()| world.figures());
    (figures, world.trace)
}

/// A failure with its seed and the steps before it; the same seed repeats them.
pub fn report(run: Run, failure: &Failure) -> String {
    let (_, trace) = run_traced(run, Trace::keep(SHOWN_MAX));
    let steps = trace.into_kept().join("\n");
    let Run { seed, arrangement, .. } = run;
    let Failure { invariant, what } = failure;
    format!("{steps}\nseed {seed} ({arrangement:?}) breaks `{invariant}`: {what}")
}
