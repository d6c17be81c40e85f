//! The traffic on the connections, as the world recorded it. No server can read or change it.

use crate::world::Clock;
use agon_core::{Millis, Timestamp};
use std::collections::BTreeMap;

/// A request that was written to a player's connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    pub(crate) at: Timestamp,
    pub(crate) server: u32,
    pub(crate) limit_ms: Millis,
}

/// An answer that was read from a player's connection.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) at: Timestamp,
    pub(crate) server: u32,
    pub(crate) answer: String,
    /// The connection, and how many steps the server had taken.
    pub(crate) step: (usize, u64),
}

/// A time during which a server saw a player as connected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Here {
    pub(crate) server: u32,
    pub(crate) from: Timestamp,
    /// `None` while the player is connected.
    pub(crate) to: Option<Timestamp>,
}

/// The lifetime of a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lifetime {
    pub(crate) started: Timestamp,
    pub(crate) ended: Option<Timestamp>,
}

/// The loan of an engine of cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loan {
    /// The server that had the connections.
    pub(crate) server: u32,
    /// When the engine started and ended, by the world's clock.
    pub(crate) started: Timestamp,
    pub(crate) ended: Option<Timestamp>,
}

/// The whole history of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// By player and request.
    pub(crate) written: BTreeMap<(String, String), Vec<Written>>,
    /// By player and request.
    pub(crate) heard: BTreeMap<(String, String), Vec<Heard>>,
    /// Calls outside matches that a player has answered on other systems' protocols, and whether
    /// the answer was in time.
    pub(crate) courtesies: BTreeMap<String, Vec<(Written, bool)>>,
    /// Lines of a player that are not valid messages.
    pub(crate) bad: BTreeMap<String, Vec<String>>,
    /// All that a player has sent on other systems' protocols, where values may run into each
    /// other.
    pub(crate) spoken: BTreeMap<String, String>,
    pub(crate) here: BTreeMap<String, Vec<Here>>,
    /// Reasons for a server to charge a player as absent: a connection closed, or the player did
    /// not read. Each has the time of the server's next step, when the server learns of it.
    pub(crate) ends: BTreeMap<(String, u32), Vec<Option<Timestamp>>>,
    /// Those of them that the server has not learnt of yet.
    unnoticed: Vec<((String, u32), usize)>,
    /// Connections that servers dropped, and in which of their steps.
    pub(crate) dropped: BTreeMap<usize, u64>,
    /// When servers can see that connections of a player broke.
    pub(crate) cuts_of: BTreeMap<String, Vec<Timestamp>>,
    pub(crate) servers: BTreeMap<u32, Lifetime>,
    /// Engines of cells, by the number under which they wrote.
    pub(crate) loans: BTreeMap<u32, Loan>,
    /// The clocks of servers and engines of cells that have ended.
    pub(crate) clocks: BTreeMap<u32, Clock>,
    /// Links between nodes that were given up.
    pub(crate) links_lost: u64,
    /// When each server took a step, by its own clock.
    pub(crate) steps_of: BTreeMap<u32, Vec<Timestamp>>,
    pub(crate) healed_at: Timestamp,
    pub(crate) ended_at: Timestamp,
    pub(crate) waiting_max: usize,
    pub(crate) lines: u64,
    pub(crate) steps: u64,
    pub(crate) crashes: u64,
    pub(crate) cuts: u64,
    pub(crate) conflicts: u64,
    /// How often owners of the log fell silent because their lease had expired.
    pub(crate) silences: u64,
    pub(crate) stops: u64,
    /// Answers over other systems' protocols.
    pub(crate) peers: u64,
}

impl History {
    /// Records whether a player is connected now.
    pub(crate) fn presence(&mut self, player: &str, server: u32, here: bool, now: Timestamp) {
        let open = self.here.get_mut(player).and_then(|all| {
            all.iter_mut().rev().find(|one| one.server == server && one.to.is_none())
        });
        match (here, open) {
            (true, None) => {
                let one = Here { server, from: now, to: None };
                self.here.entry(player.to_owned()).or_default().push(one);
            }
            (false, Some(one)) => one.to = Some(now),
            _ => {}
        }
    }

    /// A server ended, so it has no connected players any more.
    pub(crate) fn server_ended(&mut self, server: u32, now: Timestamp) {
        if let Some(lifetime) = self.servers.get_mut(&server) {
            lifetime.ended = Some(now);
        }
        let open = self.here.values_mut().flatten();
        open.filter(|one| one.server == server && one.to.is_none()).for_each(|one| {
            one.to = Some(now);
        });
    }

    /// Returns whether no other server was up at the same time as this one.
    pub(crate) fn was_alone(&self, server: u32) -> bool {
        let Some(own) = self.servers.get(&server) else { return true };
        let before =
            |one: &Lifetime, other: &Lifetime| one.ended.is_some_and(|end| end <= other.started);
        let mut others = self.servers.iter().filter(|(id, _)| **id != server);
        others.all(|(_, other)| before(own, other) || before(other, own))
    }

    /// Records a reason for absence. A server that drops the connection knows of it immediately.
    pub(crate) fn end(&mut self, player: &str, server: u32, noticed: Option<Timestamp>) {
        let key = (player.to_owned(), server);
        let ends = self.ends.entry(key.clone()).or_default();
        if noticed.is_none() {
            self.unnoticed.push((key, ends.len()));
        }
        ends.push(noticed);
    }

    /// A server takes a step, and so learns of everything that happened before.
    pub(crate) fn noticed(&mut self, server: u32, now: Timestamp) {
        let steps = self.steps_of.entry(server).or_default();
        if steps.last() != Some(&now) {
            steps.push(now);
        }
        if self.unnoticed.is_empty() {
            return;
        }
        let (own, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.unnoticed).into_iter().partition(|((_, of), _)| *of == server);
        self.unnoticed = others;
        for (key, at) in own {
            if let Some(end) = self.ends.get_mut(&key).and_then(|ends| ends.get_mut(at)) {
                *end = Some(now);
            }
        }
    }

    /// When all engines of a server know what the lobby's engine learnt at `at`, if messages
    /// between engines take at most `pass_ms`.
    pub(crate) fn known_at(&self, server: u32, at: Timestamp, pass_ms: Millis) -> Timestamp {
        let steps = self.steps_of.get(&server).map_or(&[][..], Vec::as_slice);
        let next = steps.partition_point(|step| *step < at + pass_ms);
        steps.get(next).copied().unwrap_or(Timestamp::MAX)
    }

    /// Returns whether a server read an answer and did not process it, because it dropped the
    /// connection in the same step for earlier input.
    pub(crate) fn is_unheard(&self, heard: &Heard) -> bool {
        let (link, step) = heard.step;
        self.dropped.get(&link) == Some(&(step + 1))
    }
}
