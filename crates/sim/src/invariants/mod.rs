//! The invariants, one file each: some hold for every message, most at the end of a run.

mod answers;
mod blacklist;
mod blame;
mod byes;
mod champion;
mod course;
mod effects;
mod endings;
mod entries;
mod leaks;
mod limits;
mod owner;
mod pauses;
mod queues;
mod recount;
mod replay;
mod rulings;
mod scores;
mod statistics;

use crate::disk::Entry;
use crate::index::Index;
use crate::said::Said;
use crate::world::World;
use agon_core::Timestamp;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A violated invariant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The invariant.
    pub invariant: &'static str,
    /// Where it is violated, as text.
    pub what: String,
}

impl Failure {
    pub(crate) fn new(invariant: &'static str, what: impl Into<String>) -> Failure {
        Failure { invariant, what: what.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.invariant, self.what)
    }
}

/// A message that leaves a server.
pub(crate) struct Spoken<'a> {
    pub(crate) player: &'a str,
    pub(crate) said: &'a Said,
    pub(crate) text: &'a str,
    /// When the server decided on it, if no other server was up that may know more.
    pub(crate) decided_at: Option<Timestamp>,
    /// Texts that no player may be sent.
    pub(crate) secrets: &'a BTreeSet<String>,
}

/// All durable streams.
pub(crate) type Streams = BTreeMap<String, Vec<Entry>>;

/// Checks the invariants that hold for every message.
pub(crate) fn when_spoken(spoken: &Spoken<'_>, index: &Index) -> Result<(), Failure> {
    effects::check(spoken, index).map_err(|what| Failure::new("effects", what))?;
    leaks::check(spoken, index).map_err(|what| Failure::new("leaks", what))
}

/// Checks the invariants that hold at any time; runs before servers crash and after healing.
pub(crate) fn while_it_runs(world: &World) -> Result<(), Failure> {
    let streams = world.disk.streams();
    replay::live(world, &streams).map_err(|what| Failure::new("replay", what))?;
    owner::check(world, &streams).map_err(|what| Failure::new("owner", what))
}

/// Checks the invariants that hold at the end.
pub(crate) fn at_the_end(world: &World) -> Result<(), Failure> {
    let streams = world.disk.streams();
    type Check = fn(&World, &Streams) -> Result<(), String>;
    let all: [(&'static str, Check); 15] = [
        ("owner", owner::check),
        ("blacklist", blacklist::check),
        ("replay", replay::check),
        ("answers", answers::check),
        ("blame", blame::check),
        ("limits", limits::check),
        ("endings", endings::check),
        ("champion", champion::check),
        ("byes", byes::check),
        ("statistics", statistics::check),
        ("queues", queues::check),
        ("entries", entries::check),
        ("rulings", rulings::check),
        ("pauses", pauses::check),
        ("recount", recount::check),
    ];
    for (name, check) in all {
        check(world, &streams).map_err(|what| Failure::new(name, what))?;
    }
    Ok(())
}

/// The streams of matches, each with the tournament and its own id.
fn matches(streams: &Streams) -> impl Iterator<Item = (&str, &str, &Vec<Entry>)> {
    streams.iter().filter_map(|(name, entries)| {
        let (tournament, id) = name.strip_prefix("match/")?.split_once('/')?;
        Some((tournament, id, entries))
    })
}

/// The streams of tournaments, each with its id.
fn tournaments(streams: &Streams) -> impl Iterator<Item = (&str, &Vec<Entry>)> {
    streams.iter().filter_map(|(name, entries)| Some((name.strip_prefix("tournament/")?, entries)))
}
