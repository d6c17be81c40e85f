//! Records on their way into the log, and what is to happen when they are there.

use super::{Engine, Input, MatchKey};
use agon_core::{Event, Head, Millis, StreamEnd, TournamentId};
use agon_store::{Append, AppendError};
use std::collections::VecDeque;
use std::sync::Arc;

/// Which stream of the log.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum StreamKey {
    /// The lobby.
    Lobby,
    /// The secret of a tournament that has not started.
    Secret(TournamentId),
    /// A tournament.
    Tournament(TournamentId),
    /// A match.
    Match(MatchKey),
}

impl StreamKey {
    /// The stream's name in the log.
    pub(crate) fn name(&self) -> String {
        match self {
            StreamKey::Lobby => "lobby".into(),
            StreamKey::Secret(id) => format!("secret/{id}"),
            StreamKey::Tournament(id) => format!("tournament/{id}"),
            StreamKey::Match(key) => format!("match/{}/{}", key.0, key.1),
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

/// Something to do once a record is durable.
pub(crate) type Effect = Box<dyn FnOnce(&mut Engine) + Send>;

/// A stream's end, and its records that are not durable yet.
pub(crate) struct Journal {
    end: StreamEnd,
    pub(super) in_flight: u32,
    /// One list per record in flight.
    effects: VecDeque<Vec<Effect>>,
}

impl Journal {
    pub(crate) fn new(end: StreamEnd) -> Journal {
        Journal { end, in_flight: 0, effects: VecDeque::new() }
    }

    /// How many events the stream has, those on their way among them.
    pub(super) fn version(&self) -> u64 {
        self.end.version()
    }

    /// The head of the stream's chain, if it has one; records on their way are part of it.
    pub(super) fn head(&self) -> Option<&Head> {
        self.end.head()
    }

    /// What is to happen when the latest record is durable; `None` if all of them are.
    pub(super) fn last_effects(&mut self) -> Option<&mut Vec<Effect>> {
        self.effects.back_mut()
    }
}

/// Records on their way to the log: each append with its stream.
#[derive(Default)]
pub(super) struct Decided {
    streams: Vec<StreamKey>,
    appends: Vec<Append>,
}

impl Engine {
    /// Hands a record to the log. Its effects happen when it is durable.
    pub(super) fn commit(&mut self, stream: StreamKey, events: &[Event], effects: Vec<Effect>) {
        self.commit_at(self.now_ms(), stream, events, effects);
    }

    /// The same for what was decided at `now`, where that has a meaning: waits count from it.
    pub(super) fn commit_at(
        &mut self,
        now: Millis,
        stream: StreamKey,
        events: &[Event],
        effects: Vec<Effect>,
    ) {
        if events.is_empty() {
            // What is said now may tell of records that are still on their way: it waits for them.
            let latest = self.journals.get_mut(&stream).and_then(|j| j.effects.back_mut());
            match latest {
                Some(latest) => latest.extend(effects),
                None => effects.into_iter().for_each(|effect| effect(self)),
            }
            return;
        }
        let fresh = || Journal::new(stream.new_end());
        let journal = self.journals.entry(stream.clone()).or_insert_with(fresh);
        let (name, expected) = (Arc::clone(journal.end.name()), journal.end.version());
        let append = Append { stream: name, expected, lines: journal.end.record(now, events) };
        journal.in_flight += 1;
        journal.effects.push_back(effects);
        self.decided.streams.push(stream);
        self.decided.appends.push(append);
    }

    /// Hands the log what was decided since the last time, all at once.
    pub(super) fn submit_decided(&mut self) {
        if self.decided.appends.is_empty() {
            return;
        }
        let Decided { streams, appends } = std::mem::take(&mut self.decided);
        let handle = self.handle.clone();
        let done = move |results| handle.send(Input::Committed { streams, results });
        self.log.submit_all(appends, Box::new(done));
    }

    /// Does what waited for records, in the order they were decided in.
    pub(super) fn all_committed(
        &mut self,
        streams: Vec<StreamKey>,
        results: Vec<Result<u64, AppendError>>,
    ) {
        for (stream, result) in streams.into_iter().zip(results) {
            self.committed(stream, result);
            if self.failed.is_some() {
                return;
            }
        }
        self.flush();
    }

    fn committed(&mut self, stream: StreamKey, result: Result<u64, AppendError>) {
        if let Err(error) = result {
            self.failed = Some(error.into());
            return;
        }
        let Some(journal) = self.journals.get_mut(&stream) else { return };
        journal.in_flight -= 1;
        let effects = journal.effects.pop_front().unwrap_or_default();
        self.tournament_records += u64::from(matches!(stream, StreamKey::Tournament(_)));
        effects.into_iter().for_each(|effect| effect(self));
        // An effect may have decided something more about the stream: that is not durable yet.
        if !self.is_durable(&stream) {
            return;
        }
        self.keep_for_later(&stream);
        self.show_watchers(&stream);
        match stream {
            StreamKey::Match(key) => self.speak_now(&key),
            StreamKey::Tournament(id) => self.go_on(&id),
            StreamKey::Lobby => self.snapshot_if_due(),
            StreamKey::Secret(_) => {}
        }
    }

    /// Whether nothing of a stream is on its way.
    pub(super) fn is_durable(&self, stream: &StreamKey) -> bool {
        self.journals.get(stream).is_none_or(|journal| journal.in_flight == 0)
    }
}
