//! Times of relayed connections: those of the nodes with the sockets, by this node's clock.
//!
//! A request clock runs from socket to socket, and both ends are on the other node. That node sends
//! its steady time with every packet, and this node adds one offset to all times of a link. So what
//! a player took is a difference of two times of one clock, however slow the bus is.
//!
//! The offset is the smallest difference that was seen between this node's clock at the arrival of
//! a packet and the time in the packet. It falls at once: this node's clock stands still without
//! its database, and that time counts for nobody. It rises by one part in ten thousand at most, so
//! that clocks may drift apart and a slow bus still charges nobody.
//!
//! Input that is on its way over the bus may be in time although it is not here yet. So the server
//! rules about late players only up to the time to which all links have delivered their input.

use super::packet::{NodeTime, RelayId};
use crate::clock::AtomicTimestamp;
use agon_core::{Millis, Timestamp};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often the offset of a link may rise by a millisecond.
const RISE_PAUSE_MS: Millis = 10_000;

/// How long input that a task does not take holds deadlines up. A connection that sends too fast is
/// read slower, and must not hold them up for longer.
const HOLD_MS_MAX: Millis = 1_000;

/// The times of all relay links of this node.
pub(crate) struct RelayTimes {
    links: Mutex<HashMap<u64, LinkTimes>>,
    /// The time up to which all input of relayed players was passed on; the last time there is, if
    /// there are no such players.
    passed_until: AtomicTimestamp,
}

#[derive(Default)]
struct LinkTimes {
    offset: Offset,
    /// All input that the other node read by then has arrived here.
    arrived_until: Timestamp,
    /// The players' connections whose input is being handled: the time of the oldest, and when it
    /// arrived here.
    handled: BTreeMap<(Timestamp, RelayId), Timestamp>,
    /// How many connections of players there are.
    players: usize,
    is_closed: bool,
}

impl Default for RelayTimes {
    fn default() -> RelayTimes {
        RelayTimes { links: Mutex::default(), passed_until: AtomicTimestamp::new(Timestamp::MAX) }
    }
}

impl RelayTimes {
    /// The time up to which all input of relayed players was passed on.
    pub(crate) fn passed_until(&self) -> Timestamp {
        self.passed_until.load()
    }

    /// The other node was there at `sent`, and had sent all input until `read_until`.
    pub(super) fn alive(&self, link: u64, sent: NodeTime, read_until: NodeTime, now: Timestamp) {
        self.change(link, |times| {
            times.offset.sample(sent, now);
            let arrived_until = times.offset.apply(read_until, now);
            times.arrived_until = times.arrived_until.max(arrived_until);
            times.handled.retain(|_, arrived| now.since(*arrived) <= HOLD_MS_MAX);
        });
    }

    /// The time of the other node by this node's clock. It is a time of writing or reading, so it
    /// is not after `now`.
    pub(super) fn here(&self, link: u64, at: NodeTime, now: Timestamp) -> Timestamp {
        self.links().get(&link).map_or(now, |times| times.offset.apply(at, now))
    }

    /// A connection of the link is a player's from now on.
    pub(super) fn add_player(&self, link: u64) {
        let is_new = !self.links().contains_key(&link);
        self.change(link, |times| {
            times.players += 1;
            // The first packet of a link has the time. So the link is gone already.
            times.is_closed |= is_new;
        });
    }

    /// The engine has handled the end of a player's connection.
    pub(super) fn remove_player(&self, link: u64) {
        self.change(link, |times| times.players -= 1);
    }

    /// The input of a player's connection, which was read at `at`, is being handled.
    pub(super) fn begin(&self, link: u64, conn: RelayId, at: Timestamp, now: Timestamp) {
        self.change(link, |times| {
            times.handled.insert((at, conn), now);
        });
    }

    /// That input was passed on.
    pub(super) fn finish(&self, link: u64, conn: RelayId, at: Timestamp) {
        self.change(link, |times| {
            times.handled.remove(&(at, conn));
        });
    }

    /// The link is gone. Its time stands still until the engine has handled the ends of its
    /// players' connections.
    pub(super) fn close(&self, link: u64) {
        self.change(link, |times| times.is_closed = true);
    }

    fn change(&self, link: u64, change: impl FnOnce(&mut LinkTimes)) {
        let mut links = self.links();
        let times = links.entry(link).or_default();
        change(times);
        if times.is_closed && times.players == 0 {
            links.remove(&link);
        }
        let with_players = links.values().filter(|times| times.players > 0);
        let until = with_players.map(LinkTimes::passed_until).min();
        self.passed_until.store(until.unwrap_or(Timestamp::MAX));
    }

    fn links(&self) -> MutexGuard<'_, HashMap<u64, LinkTimes>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LinkTimes {
    fn passed_until(&self) -> Timestamp {
        let oldest = self.handled.keys().next().map(|(at, _)| *at);
        oldest.map_or(self.arrived_until, |at| at.min(self.arrived_until))
    }
}

/// How far this node's clock is ahead of another node's steady clock.
#[derive(Default)]
struct Offset {
    ms: Option<i64>,
    /// The smallest difference since the offset could rise last.
    smallest: Option<i64>,
    rises_at: Timestamp,
}

impl Offset {
    /// A packet that was sent at `sent` arrived now.
    fn sample(&mut self, sent: NodeTime, now: Timestamp) {
        let seen = now.as_ms().wrapping_sub(sent.0).cast_signed();
        let smallest = self.smallest.map_or(seen, |smallest| smallest.min(seen));
        let ms = self.ms.map_or(seen, |ms| ms.min(seen));
        (self.ms, self.smallest) = (Some(ms), Some(smallest));
        if now >= self.rises_at {
            let rise = i64::from(smallest > ms && self.rises_at > Timestamp::default());
            self.ms = Some(ms + rise);
            (self.smallest, self.rises_at) = (None, now + RISE_PAUSE_MS);
        }
    }

    fn apply(&self, at: NodeTime, now: Timestamp) -> Timestamp {
        let Some(ms) = self.ms else { return now };
        Timestamp::from_ms(at.0.wrapping_add_signed(ms)).min(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: u64 = 9;

    fn ms(at: u64) -> Timestamp {
        Timestamp::from_ms(at)
    }

    #[test]
    fn slow_bus_does_not_change_what_a_player_took() {
        let times = RelayTimes::default();
        times.alive(LINK, NodeTime(100), NodeTime(100), ms(50_100));
        // The request was written at 1,000 and answered 400 ms later; both arrived late.
        let written = times.here(LINK, NodeTime(1_000), ms(51_900));
        times.alive(LINK, NodeTime(1_300), NodeTime(1_300), ms(52_800));
        let read = times.here(LINK, NodeTime(1_400), ms(52_850));
        assert_eq!((written, read.since(written)), (ms(51_000), 400));
    }

    #[test]
    fn first_packet_that_came_late_charges_nobody() {
        let times = RelayTimes::default();
        times.alive(LINK, NodeTime(100), NodeTime(100), ms(51_000));
        let written = times.here(LINK, NodeTime(150), ms(51_100));
        // The bus is fast again, so the offset falls.
        times.alive(LINK, NodeTime(300), NodeTime(300), ms(50_300));
        let read = times.here(LINK, NodeTime(550), ms(50_560));
        assert!(read.since(written) <= 400, "never more than the player took");
    }

    #[test]
    fn offset_rises_slowly_when_clocks_drift_apart() {
        let mut offset = Offset::default();
        offset.sample(NodeTime(0), ms(1_000));
        let at = |offset: &Offset| offset.apply(NodeTime(0), ms(900_000)).as_ms();
        assert_eq!(at(&offset), 1_000);
        for seconds in 1..=100 {
            offset.sample(NodeTime(seconds * 1_000), ms(seconds * 1_000 + 1_500));
        }
        assert!((1_008..=1_010).contains(&at(&offset)), "{}", at(&offset));
        offset.sample(NodeTime(200_000), ms(200_700));
        assert_eq!(at(&offset), 700, "it falls at once");
    }

    #[test]
    fn input_on_its_way_holds_deadlines_up() {
        let times = RelayTimes::default();
        assert_eq!(times.passed_until(), Timestamp::MAX, "no relayed player");
        times.alive(LINK, NodeTime(0), NodeTime(0), ms(50_000));
        times.add_player(LINK);
        times.alive(LINK, NodeTime(500), NodeTime(490), ms(50_500));
        assert_eq!(times.passed_until(), ms(50_490));
        let at = times.here(LINK, NodeTime(480), ms(50_510));
        times.begin(LINK, RelayId(1), at, ms(50_510));
        times.alive(LINK, NodeTime(600), NodeTime(600), ms(50_600));
        assert_eq!(times.passed_until(), ms(50_480), "a task has the input");
        times.finish(LINK, RelayId(1), at);
        assert_eq!(times.passed_until(), ms(50_600));
        // A connection that is read slower holds nothing up for long.
        times.begin(LINK, RelayId(1), at, ms(50_610));
        times.alive(LINK, NodeTime(1_700), NodeTime(1_700), ms(51_700));
        assert_eq!(times.passed_until(), ms(51_700));
    }

    #[test]
    fn time_of_a_lost_link_stands_still_until_its_players_are_handled() {
        let times = RelayTimes::default();
        times.alive(LINK, NodeTime(0), NodeTime(0), ms(50_000));
        times.add_player(LINK);
        times.close(LINK);
        assert_eq!(times.passed_until(), ms(50_000));
        times.remove_player(LINK);
        assert_eq!(times.passed_until(), Timestamp::MAX);
        assert!(times.links().is_empty());
    }
}
