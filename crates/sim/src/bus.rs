//! The bus between nodes: it delivers frames late, and while there is trouble it loses, doubles and
//! reorders some.
//!
//! A node may be cut off from it. Then it notices at once that its connection is lost, or never.

use agon_bots::SplitMix64 as Rng;
use agon_core::{Millis, Timestamp};
use std::collections::BTreeMap;

/// The faults of a bus.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BusTrouble {
    /// The longest delay of a frame.
    pub(crate) late_ms_max: Millis,
    /// How many frames of 100,000 have a delay.
    pub(crate) late: u64,
    /// How many frames of 100,000 are lost.
    pub(crate) lost: u64,
    /// How many arrive twice.
    pub(crate) doubled: u64,
    /// How many are overtaken by later ones.
    pub(crate) reordered: u64,
}

/// A frame on its way.
pub(crate) struct InFlight {
    pub(crate) to: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) sent_at: Timestamp,
    /// True if this is the second copy of a frame.
    pub(crate) is_copy: bool,
}

/// How often things happened to frames.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct BusFigures {
    pub(crate) frames: u64,
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    pub(crate) reordered: u64,
}

/// The bus.
pub(crate) struct Bus {
    rng: Rng,
    trouble: BusTrouble,
    in_flight: BTreeMap<(Timestamp, u64), InFlight>,
    /// When the latest frame of each pair of nodes arrives.
    latest: BTreeMap<(u32, u32), Timestamp>,
    /// Until when the frames of a node are lost.
    cut_until: BTreeMap<u32, Timestamp>,
    pub(crate) figures: BusFigures,
}

impl Bus {
    pub(crate) fn new(rng: Rng, trouble: BusTrouble) -> Bus {
        Bus {
            rng,
            trouble,
            in_flight: BTreeMap::new(),
            latest: BTreeMap::new(),
            cut_until: BTreeMap::new(),
            figures: BusFigures::default(),
        }
    }

    /// Cuts a node off until a time. Frames on their way to it are lost.
    pub(crate) fn cut(&mut self, node: u32, until: Timestamp) {
        let known = self.cut_until.entry(node).or_default();
        *known = until.max(*known);
        self.in_flight.retain(|_, frame| frame.to != node);
    }

    /// Ends all trouble, except that some frames are a little late.
    pub(crate) fn heal(&mut self) {
        self.cut_until.clear();
        let late_ms_max = self.trouble.late_ms_max.min(5);
        let late = 10_000;
        self.trouble = BusTrouble { late_ms_max, late, lost: 0, doubled: 0, reordered: 0 };
    }

    fn is_cut(&self, node: u32, now: Timestamp) -> bool {
        self.cut_until.get(&node).is_some_and(|until| now < *until)
    }

    /// A node publishes a frame for another one.
    pub(crate) fn publish(&mut self, from: u32, to: u32, bytes: Vec<u8>, now: Timestamp) {
        self.figures.frames += 1;
        let BusTrouble { late_ms_max, late, lost, doubled, reordered } = self.trouble;
        let draw = self.rng.below(100_000);
        if self.is_cut(from, now) || self.is_cut(to, now) || draw < lost {
            self.figures.lost += 1;
            return;
        }
        let is_overtaken = (lost..lost + reordered).contains(&draw);
        let is_doubled = (lost + reordered..lost + reordered + doubled).contains(&draw);
        let latest = self.latest.get(&(from, to)).copied().unwrap_or_default();
        let late_ms = if self.rng.below(100_000) < late { late_ms_max } else { 0 };
        let mut due = (now + self.rng.between(0, late_ms)).max(latest);
        if is_overtaken {
            self.figures.reordered += 1;
            due += self.rng.between(1, 200);
        } else {
            self.latest.insert((from, to), due);
        }
        if is_doubled {
            self.figures.doubled += 1;
            let again_at = due + self.rng.between(0, 200);
            let copy = InFlight { to, bytes: bytes.clone(), sent_at: now, is_copy: true };
            self.put(again_at, copy);
        }
        self.put(due, InFlight { to, bytes, sent_at: now, is_copy: false });
    }

    fn put(&mut self, due: Timestamp, frame: InFlight) {
        let number = self.figures.frames * 2 + u64::from(frame.is_copy);
        self.in_flight.insert((due, number), frame);
    }

    /// Takes the next frame that has arrived at a node that can read it.
    pub(crate) fn take(&mut self, now: Timestamp, reads: impl Fn(u32) -> bool) -> Option<InFlight> {
        let due = self.in_flight.range(..=(now, u64::MAX));
        let key = due.into_iter().find(|(_, frame)| reads(frame.to)).map(|(key, _)| *key)?;
        self.in_flight.remove(&key)
    }

    /// Forgets the frames for a node that has ended.
    pub(crate) fn forget(&mut self, node: u32) {
        self.in_flight.retain(|_, frame| frame.to != node);
    }

    /// When the next frame arrives at a node that can read it.
    pub(crate) fn next_due(&self, reads: impl Fn(u32) -> bool) -> Option<Timestamp> {
        let mut all = self.in_flight.iter();
        all.find(|(_, frame)| reads(frame.to)).map(|((due, _), _)| *due)
    }
}
