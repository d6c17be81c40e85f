//! Nodes that share a database, and what goes wrong with them.

use crate::bus::BusTrouble;
use crate::disk::Direction;
use agon_bots::SplitMix64 as Rng;
use agon_core::Millis;

/// Something that goes wrong with the owner of the log or with the database.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeFault {
    /// The owner's process is stopped for so long (SIGSTOP), and then continues.
    Stop { ms: Millis },
    /// The owner cannot reach the database, or hears nothing from it, for so long. `resets` says
    /// whether the connection breaks; otherwise everything is delivered late.
    Cut { direction: Direction, ms: Millis, resets: bool },
    /// The database restarts, and is away for so long.
    Restart { away_ms: Millis },
    /// The standby of the database is cut off. A while later the connections to the database break,
    /// and then the standby is promoted.
    Promote { breaks_ms: Millis, promotes_ms: Millis },
}

/// The nodes of a run.
#[derive(Clone, Debug)]
pub(crate) struct NodesPlan {
    /// How many there are.
    pub(crate) count: usize,
    /// When something goes wrong.
    pub(crate) faults: Vec<(Millis, NodeFault)>,
    /// How far the clocks of machines are ahead.
    pub(crate) clock_ahead_ms: Vec<Millis>,
    /// The bus, if the nodes share one.
    pub(crate) bus: Option<BusPlan>,
}

/// Something that goes wrong with the bus, or with a node that has tournaments on loan.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BusFault {
    /// A node is cut off from the bus for so long. It may notice at once.
    CutNode { ms: Millis, notices: bool },
    /// The bus restarts: every node loses its connection for so long.
    Restart { away_ms: Millis },
    /// A node with tournaments dies.
    Kill,
    /// A node with tournaments is asked to stop.
    Drain,
    /// A node with tournaments is stopped for so long (SIGSTOP), and then continues.
    Stop { ms: Millis },
    /// A node with tournaments reaches neither the database nor the bus for so long. Its records
    /// arrive late, after its loan was taken back.
    Partition { ms: Millis },
    /// A node with tournaments cannot reach the database for so long.
    CutDatabase { direction: Direction, ms: Millis, resets: bool },
}

/// The bus of a run.
#[derive(Clone, Debug)]
pub(crate) struct BusPlan {
    /// The faults of the bus.
    pub(crate) trouble: BusTrouble,
    /// When something else goes wrong.
    pub(crate) faults: Vec<(Millis, BusFault)>,
}

impl BusPlan {
    fn draw(rng: &mut Rng, chaos_ms: Millis) -> BusPlan {
        let mut often = |most: u64| match rng.below(3) {
            0 => 0,
            1 => rng.below(most / 10),
            _ => rng.below(most),
        };
        let (lost, doubled, reordered) = (often(1_500), often(60_000), often(1_500));
        let late_ms_max = *rng.pick(&[2, 20, 60]);
        let trouble = BusTrouble { late_ms_max, late: 100_000, lost, doubled, reordered };
        let faults = (0..rng.between(0, 5)).map(|_| (rng.below(chaos_ms), bus_fault(rng)));
        BusPlan { trouble, faults: faults.collect() }
    }
}

fn bus_fault(rng: &mut Rng) -> BusFault {
    match rng.below(13) {
        0..3 => BusFault::CutNode { ms: rng.between(20, 4_000), notices: rng.chance(500) },
        3 => BusFault::Restart { away_ms: rng.between(20, 2_000) },
        4..6 => BusFault::Kill,
        6 => BusFault::Drain,
        7..9 => BusFault::Stop { ms: rng.between(50, 4_000) },
        9..12 => BusFault::Partition { ms: rng.between(1_000, 5_000) },
        _ => BusFault::CutDatabase {
            direction: direction(rng),
            ms: rng.between(50, 6_000),
            resets: rng.chance(500),
        },
    }
}

impl NodesPlan {
    pub(super) fn draw(rng: &mut Rng, chaos_ms: Millis) -> NodesPlan {
        let count = rng.between(1, 4) as usize;
        let faults = (0..rng.between(1, 4)).map(|_| {
            // Many records wait at the beginning, when everybody logs in.
            let until_ms = if rng.chance(300) { chaos_ms.min(1_500) } else { chaos_ms };
            (rng.below(until_ms), fault(rng))
        });
        let faults = faults.collect();
        let clock_ahead_ms = (0..4).map(|_| rng.below(3_600_000)).collect();
        NodesPlan { count, faults, clock_ahead_ms, bus: None }
    }

    /// Nodes that also share a bus. Less happens to the owner of the log.
    pub(super) fn draw_with_bus(rng: &mut Rng, chaos_ms: Millis) -> NodesPlan {
        let mut plan = NodesPlan::draw(rng, chaos_ms);
        plan.count = rng.between(2, 4) as usize;
        plan.faults.truncate(rng.below(3) as usize);
        plan.bus = Some(BusPlan::draw(rng, chaos_ms));
        plan
    }
}

fn direction(rng: &mut Rng) -> Direction {
    *rng.pick(&[Direction::ToDatabase, Direction::FromDatabase, Direction::Both, Direction::Both])
}

fn fault(rng: &mut Rng) -> NodeFault {
    match rng.below(10) {
        0..3 => NodeFault::Stop { ms: rng.between(50, 6_000) },
        3..7 => NodeFault::Cut {
            direction: direction(rng),
            ms: rng.between(50, 6_000),
            resets: rng.chance(500),
        },
        7 => NodeFault::Restart { away_ms: rng.between(20, 3_000) },
        _ => {
            let breaks_ms = rng.between(0, 500);
            let promotes_ms = breaks_ms + rng.between(20, 1_500);
            NodeFault::Promote { breaks_ms, promotes_ms }
        }
    }
}
