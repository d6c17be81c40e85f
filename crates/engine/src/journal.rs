//! Records in flight to the log, and their follow-ups.

use super::follow_up::FollowUp;
use super::{MatchKey, Record};
use agon_core::{Event, Head, StreamEnd, Timestamp, TournamentId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A stream of the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum StreamKey {
    /// Accounts, queues and announcements.
    Lobby,
    /// The secret of a tournament.
    Secret(TournamentId),
    /// A tournament.
    Tournament(TournamentId),
    /// A match.
    Match(MatchKey),
}

impl StreamKey {
    /// The stream's name in the log.
    pub fn name(&self) -> String {
        match self {
            StreamKey::Lobby => "lobby".into(),
            StreamKey::Secret(id) => format!("secret/{id}"),
            StreamKey::Tournament(id) => format!("tournament/{id}"),
            StreamKey::Match(key) => format!("match/{}/{}", key.tournament, key.id),
        }
    }

    /// The tournament whose cell owns the stream; the lobby's stream belongs to none.
    pub fn tournament(&self) -> Option<&TournamentId> {
        match self {
            StreamKey::Lobby => None,
            StreamKey::Secret(id) | StreamKey::Tournament(id) => Some(id),
            StreamKey::Match(key) => Some(&key.tournament),
        }
    }

    /// The end of the stream before its first record. Only tournaments and matches have a chain.
    fn new_end(&self) -> StreamEnd {
        match self {
            StreamKey::Lobby | StreamKey::Secret(_) => StreamEnd::unchained(self.name(), 0),
            StreamKey::Tournament(_) | StreamKey::Match(_) => StreamEnd::new(self.name()),
        }
    }
}

/// The ends of streams, their records in flight, and the follow-ups of those.
#[derive(Default)]
pub(crate) struct Journals {
    open: FxHashMap<StreamKey, Journal>,
    /// The tournaments of which the log refused a record. Follow-ups of their records never run.
    refused: BTreeSet<TournamentId>,
}

struct Journal {
    end: StreamEnd,
    /// The follow-ups of each record in flight, the oldest first.
    in_flight: VecDeque<Vec<FollowUp>>,
}

impl Journals {
    /// Opens a stream for writing after its end.
    pub(crate) fn open(&mut self, stream: StreamKey, end: StreamEnd) {
        self.open.insert(stream, Journal { end, in_flight: VecDeque::new() });
    }

    /// Forgets a stream that is over; returns the head of its chain.
    pub(crate) fn close(&mut self, stream: &StreamKey) -> Option<Head> {
        self.open.remove(stream)?.end.head().cloned()
    }

    /// Adds a record to a stream, with its follow-ups.
    pub(crate) fn add(
        &mut self,
        stream: StreamKey,
        now: Timestamp,
        events: &[Event],
        follow_ups: Vec<FollowUp>,
    ) -> Record {
        let fresh = || Journal { end: stream.new_end(), in_flight: VecDeque::new() };
        let journal = self.open.entry(stream.clone()).or_insert_with(fresh);
        let (name, expected) = (Arc::clone(journal.end.name()), journal.end.version());
        let lines = journal.end.record(now, events);
        journal.in_flight.push_back(follow_ups);
        Record { stream, name, expected, lines }
    }

    /// Lets follow-ups wait for the latest record of a stream; returns them if none is in flight.
    pub(crate) fn wait(
        &mut self,
        stream: &StreamKey,
        follow_ups: Vec<FollowUp>,
    ) -> Option<Vec<FollowUp>> {
        match self.open.get_mut(stream).and_then(|journal| journal.in_flight.back_mut()) {
            Some(waiting) => {
                waiting.extend(follow_ups);
                None
            }
            None => Some(follow_ups),
        }
    }

    /// Removes the oldest record in flight, which is durable now; returns its follow-ups.
    pub(crate) fn committed(&mut self, stream: &StreamKey) -> Option<Vec<FollowUp>> {
        self.open.get_mut(stream)?.in_flight.pop_front()
    }

    /// Forgets the streams of a tournament of which the log refused a record; returns the follow-ups
    /// that waited for its records.
    pub(crate) fn refuse(&mut self, tournament: &TournamentId) -> Vec<FollowUp> {
        self.refused.insert(tournament.clone());
        let own = |stream: &StreamKey, _: &mut Journal| stream.tournament() == Some(tournament);
        let mut dropped: Vec<_> = self.open.extract_if(own).collect();
        // Sorted by name: the same inputs give the same effects.
        dropped.sort_by_cached_key(|(stream, _)| stream.name());
        dropped.into_iter().flat_map(|(_, journal)| journal.in_flight).flatten().collect()
    }

    /// The open streams of a tournament, sorted by name.
    pub(crate) fn streams_of(&self, tournament: &TournamentId) -> Vec<StreamKey> {
        let own = self.open.keys().filter(|stream| stream.tournament() == Some(tournament));
        let mut own: Vec<StreamKey> = own.cloned().collect();
        own.sort_by_cached_key(StreamKey::name);
        own
    }

    /// Returns whether a stream of a tournament is open. The secret alone does not count: draws
    /// need it before the start.
    pub(crate) fn has_begun(&self, tournament: &TournamentId) -> bool {
        let is_own = |stream: &StreamKey| stream.tournament() == Some(tournament);
        let mut own = self.open.keys().filter(|stream| is_own(stream));
        own.any(|stream| !matches!(stream, StreamKey::Secret(_)))
    }

    /// Forgets the streams of a tournament, none of which has a record in flight.
    pub(crate) fn forget(&mut self, tournament: &TournamentId) {
        self.open.retain(|stream, _| stream.tournament() != Some(tournament));
    }

    /// Allows the records of a tournament that this server takes up.
    pub(crate) fn claim(&mut self, tournament: &TournamentId) {
        self.refused.remove(tournament);
    }

    /// Returns whether the log refused a record of the tournament that owns a stream.
    pub(crate) fn is_refused(&self, stream: &StreamKey) -> bool {
        stream.tournament().is_some_and(|id| self.refused.contains(id))
    }

    /// Returns whether no record of a stream is in flight.
    pub(crate) fn is_durable(&self, stream: &StreamKey) -> bool {
        self.open.get(stream).is_none_or(|journal| journal.in_flight.is_empty())
    }

    /// Returns whether no record of any stream is in flight.
    pub(crate) fn is_drained(&self) -> bool {
        self.open.values().all(|journal| journal.in_flight.is_empty())
    }

    /// How many events a stream has, including those in flight.
    pub(crate) fn version(&self, stream: &StreamKey) -> u64 {
        self.open.get(stream).map_or(0, |journal| journal.end.version())
    }

    /// The head of a stream's chain, if it has one; records in flight are part of it.
    pub(crate) fn head(&self, stream: &StreamKey) -> Option<&Head> {
        self.open.get(stream)?.end.head()
    }
}
