//! The log of a simulated server: it is in memory, answers late, and keeps after a crash only what
//! a disk would have kept.
//!
//! Appends become durable some time after they are submitted, and are acknowledged some time after
//! that. A crash in between truncates every stream independently, as it does files: a loss in one
//! stream implies none in another. A crash may tear the last append; opening the log again cuts it
//! off. All servers of a run share one disk and race for its streams.
//!
//! With nodes, the disk is a database; see [`shared`].

mod shared;

use crate::index::Index;
use crate::sabotage::Sabotage;
use agon_bots::SplitMix64 as Rng;
use agon_core::{Event, Line, Millis, Timestamp};
use agon_store::{Append, AppendError, Done, DoneAll, Log, LogError, Snapshot};
pub(crate) use shared::{Asker, Cell, Direction, LEASE_MS, Question, Reply, Shared, SharedFigures};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::ErrorKind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One durable event: its line as text and parsed, and the server that wrote it.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) line: Line,
    pub(crate) writer: u32,
    /// True if the server had read or written every event before it.
    pub(crate) knows_all: bool,
    /// When the server handed it to the log, which is when it was decided.
    pub(crate) submitted_at: Timestamp,
    /// When it became durable.
    pub(crate) durable_at: Timestamp,
}

/// How slow the disk is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub(crate) sync_ms_max: u64,
    pub(crate) answer_ms_max: u64,
}

struct Batch {
    writer: u32,
    appends: Vec<Append>,
    done: Option<DoneAll>,
    results: Option<Vec<Result<u64, AppendError>>>,
    durable_at: Timestamp,
    answered_at: Timestamp,
}

struct State {
    streams: BTreeMap<String, Vec<Entry>>,
    /// Lines of torn appends, which lie at the end of their streams and belong to no record.
    torn: BTreeMap<Arc<str>, Vec<String>>,
    batches: VecDeque<Batch>,
    /// The latest snapshot and the one before; a crash may leave either, or something damaged.
    snapshots: VecDeque<Snapshot>,
    /// The problem of a snapshot that was taken before its events were durable.
    early: Option<String>,
    index: Index,
    /// How many events of each stream servers have read or written.
    known: BTreeMap<(u32, String), u64>,
    /// When records were submitted, by writer, stream and expected version.
    submitted: BTreeMap<(u32, Arc<str>, u64), Timestamp>,
    rng: Rng,
    pace: Pace,
    now: Timestamp,
    sabotage: Option<Sabotage>,
    /// Streams that servers lost to others. The disk also rejects later appends of such a server.
    lost_streams: BTreeSet<(u32, Arc<str>)>,
    /// Servers whose appends were rejected because another server wrote first.
    beaten: BTreeSet<u32>,
    in_flight_max: usize,
    /// How often crashes lost and tore appends.
    lost: u64,
    torn_count: u64,
    /// The state of the database, if several nodes share it.
    shared: Option<Shared>,
}

/// The disk.
pub(crate) struct Disk(Mutex<State>);

impl Disk {
    pub(crate) fn new(
        rng: Rng,
        pace: Pace,
        sabotage: Option<Sabotage>,
        is_shared: bool,
    ) -> Arc<Disk> {
        Arc::new(Disk(Mutex::new(State {
            streams: BTreeMap::new(),
            torn: BTreeMap::new(),
            batches: VecDeque::new(),
            snapshots: VecDeque::new(),
            early: None,
            index: Index::default(),
            known: BTreeMap::new(),
            submitted: BTreeMap::new(),
            rng,
            pace,
            now: Timestamp::default(),
            sabotage,
            lost_streams: BTreeSet::new(),
            beaten: BTreeSet::new(),
            in_flight_max: 0,
            lost: 0,
            torn_count: 0,
            shared: is_shared.then(Shared::new),
        })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_pace(&self, pace: Pace) {
        self.state().pace = pace;
    }

    /// Completes the writes and sends the acknowledgements that are due by `now`.
    pub(crate) fn advance(&self, now: Timestamp) {
        let mut state = self.state();
        state.now = now;
        let mut answers = Vec::new();
        if let Some(mut shared) = state.shared.take() {
            answers = state.advance_shared(&mut shared);
            state.shared = Some(shared);
        }
        for at in 0..state.batches.len() {
            if state.batches[at].durable_at <= now && state.batches[at].results.is_none() {
                let (writer, appends) = {
                    let batch = &mut state.batches[at];
                    (batch.writer, batch.appends.clone())
                };
                let results = appends.into_iter().map(|append| state.apply(writer, append));
                let results: Vec<_> = results.collect();
                state.batches[at].results = Some(results);
            }
        }
        while let Some(place) = state.batches.iter().position(|batch| batch.answered_at <= now) {
            let Some(batch) = state.batches.remove(place) else { break };
            if let (Some(done), Some(results)) = (batch.done, batch.results) {
                answers.push((done, results));
            }
        }
        drop(state);
        answers.into_iter().for_each(|(done, results)| done(results));
    }

    /// Returns whether any append is not durable yet.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state();
        let is_shared_busy = state.shared.as_ref().is_some_and(Shared::is_busy);
        is_shared_busy || state.batches.iter().any(|batch| batch.results.is_none())
    }

    /// Returns whether any append is not acknowledged yet.
    pub(crate) fn has_unacknowledged(&self) -> bool {
        let state = self.state();
        state.shared.as_ref().is_some_and(Shared::is_busy) || !state.batches.is_empty()
    }

    /// Uses the database that several nodes share.
    pub(crate) fn shared<T>(&self, with: impl FnOnce(&mut Shared) -> T) -> Option<T> {
        self.state().shared.as_mut().map(with)
    }

    /// Restarts the database, which is away for a while.
    pub(crate) fn restart_database(&self, away_ms: Millis) {
        self.change_database(|state, shared| state.restart_database(shared, away_ms));
    }

    /// Promotes the standby of the database, which is away for a while.
    pub(crate) fn promote_standby(&self, away_ms: Millis) {
        self.change_database(|state, shared| state.promote_standby(shared, away_ms));
    }

    fn change_database(&self, change: impl FnOnce(&mut State, &mut Shared)) {
        let mut state = self.state();
        if let Some(mut shared) = state.shared.take() {
            change(&mut state, &mut shared);
            state.shared = Some(shared);
        }
    }

    /// When the next write or acknowledgement is due.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        let state = self.state();
        let due = state.batches.iter().map(|batch| match batch.results {
            None => batch.durable_at,
            Some(_) => batch.answered_at,
        });
        due.chain(state.shared.as_ref().and_then(Shared::next_due)).min()
    }

    /// A server crashes. Appends that were not acknowledged to it may be lost.
    pub(crate) fn crash(&self, writer: u32, alone: bool) {
        let mut state = self.state();
        if let Some(shared) = &mut state.shared {
            return shared.process_ended(writer, false);
        }
        let all = std::mem::take(&mut state.batches);
        let (own, others): (VecDeque<_>, VecDeque<_>) =
            all.into_iter().partition(|batch| batch.writer == writer);
        state.batches = others;
        let mut cut: BTreeSet<Arc<str>> = BTreeSet::new();
        for batch in own.into_iter().filter(|batch| batch.results.is_none()) {
            for append in batch.appends {
                if cut.contains(&append.stream) {
                    continue;
                }
                let tear = alone && append.lines.len() > 1 && state.rng.chance(600);
                match state.rng.chance(500) {
                    _ if tear => {
                        let kept = state.rng.between(1, append.lines.len() as u64 - 1) as usize;
                        cut.insert(append.stream.clone());
                        state.torn_count += 1;
                        let lines = append.lines[..kept].to_vec();
                        if state.version(&append.stream) == append.expected {
                            state.torn.insert(append.stream, lines);
                        }
                    }
                    true => {
                        let again = append.clone();
                        let kept = state.apply(writer, append).is_ok();
                        if kept && state.sabotage == Some(Sabotage::DoubleApply) {
                            state.apply_again(writer, again);
                        }
                    }
                    false => {
                        state.lost += 1;
                        cut.insert(append.stream);
                    }
                }
            }
        }
        if state.snapshots.len() > 1 && state.rng.chance(200) {
            state.snapshots.pop_back();
        }
        if state.sabotage == Some(Sabotage::LoseDurable) {
            state.lose_the_last(writer);
        }
    }

    /// The problem of an early snapshot, if there is one.
    pub(crate) fn early_snapshot(&self) -> Option<String> {
        self.state().early.clone()
    }

    /// Opens the log for a server, and cuts off torn appends.
    pub(crate) fn open(self: &Arc<Disk>, writer: u32) -> Arc<dyn Log> {
        let mut state = self.state();
        let torn = std::mem::take(&mut state.torn);
        if state.sabotage == Some(Sabotage::KeepTorn) {
            for (stream, lines) in torn {
                for text in lines {
                    let now = state.now;
                    state.push(&stream, text, 0, now);
                }
            }
        }
        drop(state);
        Arc::new(Port { disk: Arc::clone(self), writer, node: writer })
    }

    /// Opens the log for a node that has a cell with this epoch.
    pub(crate) fn open_cell(
        self: &Arc<Disk>,
        writer: u32,
        node: u32,
        cell: Cell,
        epoch: u64,
    ) -> Arc<dyn Log> {
        self.shared(|shared| shared.open(writer, node, cell, epoch));
        Arc::new(Port { disk: Arc::clone(self), writer, node })
    }

    /// Reads the index of durable events.
    pub(crate) fn look<T>(&self, what: impl FnOnce(&Index) -> T) -> T {
        what(&self.state().index)
    }

    /// All durable streams.
    pub(crate) fn streams(&self) -> BTreeMap<String, Vec<Entry>> {
        self.state().streams.clone()
    }

    /// The events of one stream.
    pub(crate) fn stream(&self, name: &str) -> Vec<Entry> {
        self.state().streams.get(name).cloned().unwrap_or_default()
    }

    /// Returns whether the disk rejected an append of this server because another server wrote that
    /// stream.
    pub(crate) fn was_beaten(&self, writer: u32) -> bool {
        self.state().beaten.contains(&writer)
    }

    /// The most appends in flight at once, and how often crashes lost and tore some.
    pub(crate) fn figures(&self) -> (usize, u64, u64) {
        let state = self.state();
        (state.in_flight_max, state.lost, state.torn_count)
    }
}

impl State {
    fn version(&self, stream: &str) -> u64 {
        self.streams.get(stream).map_or(0, |entries| entries.len() as u64)
    }

    fn apply(&mut self, writer: u32, append: Append) -> Result<u64, AppendError> {
        let actual = self.version(&append.stream);
        let key = (writer, append.stream.clone());
        if actual != append.expected || self.lost_streams.contains(&key) {
            self.beaten.insert(writer);
            self.lost_streams.insert(key);
            if self.sabotage == Some(Sabotage::TwoOwners) {
                self.apply_again(writer, append);
                return Ok(0);
            }
            let Append { stream, expected, .. } = append;
            return Err(AppendError::Conflict { stream: stream.to_string(), expected, actual });
        }
        let submitted_at = self.submitted_at(writer, &append);
        for text in append.lines {
            self.push(&append.stream, text, writer, submitted_at);
        }
        Ok(self.version(&append.stream))
    }

    /// Appends lines at the end, whatever their numbers are.
    fn apply_again(&mut self, writer: u32, append: Append) {
        let submitted_at = self.submitted_at(writer, &append);
        for text in append.lines {
            let Ok(mut line) = Line::read(&text) else { continue };
            line.seq = self.version(&append.stream) + 1;
            self.push(&append.stream, line.write(), writer, submitted_at);
        }
    }

    /// When a server handed a record to the log.
    fn submitted_at(&self, writer: u32, append: &Append) -> Timestamp {
        let key = (writer, Arc::clone(&append.stream), append.expected);
        self.submitted.get(&key).copied().unwrap_or(self.now)
    }

    fn push(&mut self, stream: &str, text: String, writer: u32, submitted_at: Timestamp) {
        let line = Line::read(&text).expect("servers write lines");
        let durable_at = self.now;
        self.index.add(&line, durable_at);
        let entries = self.streams.entry(stream.to_owned()).or_default();
        let known = self.known.entry((writer, stream.to_owned())).or_default();
        let knows_all = *known >= entries.len() as u64;
        entries.push(Entry { text, line, writer, knows_all, submitted_at, durable_at });
        if knows_all {
            *known = entries.len() as u64;
        }
    }

    /// Removes the last record of a match that was acknowledged to a server.
    fn lose_the_last(&mut self, writer: u32) {
        let matches = self.streams.iter_mut().filter(|(name, entries)| {
            let last = entries.last().map(|entry| entry.writer);
            name.starts_with("match/") && last == Some(writer) && entries.len() > 4
        });
        for (_, entries) in matches {
            entries.pop();
            while entries.last().is_some_and(|entry| entry.line.more > 0) {
                entries.pop();
            }
        }
        self.index_again();
    }

    /// Builds the index again, after events were removed. No server knows those any more.
    fn index_again(&mut self) {
        for ((_, stream), known) in &mut self.known {
            let version = self.streams.get(stream).map_or(0, Vec::len) as u64;
            *known = version.min(*known);
        }
        let mut index = Index::default();
        let entries = self.streams.values().flatten();
        entries.for_each(|entry| index.add(&entry.line, entry.durable_at));
        self.index = index;
    }
}

/// One server's access to the disk.
struct Port {
    disk: Arc<Disk>,
    writer: u32,
    node: u32,
}

impl Log for Port {
    fn submit(&self, append: Append, done: Done) {
        let done = |results: Vec<Result<u64, AppendError>>| {
            done(results.into_iter().next().unwrap_or(Err(AppendError::Closed)));
        };
        self.submit_all(vec![append], Box::new(done));
    }

    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        let mut state = self.disk.state();
        let now = state.now;
        for append in &appends {
            let key = (self.writer, Arc::clone(&append.stream), append.expected);
            state.submitted.insert(key, now);
        }
        if let Some(shared) = &mut state.shared {
            return shared.submit(self.writer, appends, done);
        }
        let Pace { sync_ms_max, answer_ms_max } = state.pace;
        // Writes keep their order, as with one writer thread.
        let own = state.batches.iter().filter(|batch| batch.writer == self.writer);
        let (behind, answered) = own.fold(Default::default(), |(durable, answered), batch| {
            (batch.durable_at.max(durable), batch.answered_at.max(answered))
        });
        let wait_ms = state.rng.between(0, sync_ms_max);
        let durable_at = (state.now + wait_ms).max(behind);
        let wait_ms = state.rng.between(0, answer_ms_max);
        let answered_at = (durable_at + wait_ms).max(answered);
        let mut done = Some(done);
        let early = state.sabotage == Some(Sabotage::SkipSync);
        let answers = early.then(|| {
            let versions = appends.iter().map(|append| Ok(append.version_after())).collect();
            (done.take(), versions)
        });
        let (writer, results) = (self.writer, None);
        let batch = Batch { writer, appends, done, results, durable_at, answered_at };
        state.batches.push_back(batch);
        state.in_flight_max = state.in_flight_max.max(state.batches.len());
        drop(state);
        if let Some((Some(done), versions)) = answers {
            done(versions);
        }
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        self.connect()?;
        let mut state = self.disk.state();
        let version = state.version(stream);
        state.known.insert((self.writer, stream.to_owned()), version);
        let entries = state.streams.get(stream).map_or(&[][..], Vec::as_slice);
        let skip = usize::try_from(after).unwrap_or(usize::MAX).min(entries.len());
        let texts = entries[skip..].iter().map(|entry| match state.sabotage {
            Some(Sabotage::ForgetBlacklist) => forgive(entry),
            Some(Sabotage::ForgetCheat) => whitewash(entry),
            _ => entry.text.clone(),
        });
        Ok(texts.collect())
    }

    fn clock_ms(&self) -> Result<Option<u64>, LogError> {
        let state = self.disk.state();
        Ok(state.shared.is_some().then(|| state.now.as_ms()))
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        self.connect()?;
        let mut state = self.disk.state();
        let version = state.version(&snapshot.stream);
        if version < snapshot.seq {
            let what = format!("a snapshot of event {} was taken at {version}", snapshot.seq);
            state.early = Some(what);
        }
        state.snapshots.push_back(snapshot.clone());
        if state.snapshots.len() > 2 {
            state.snapshots.pop_front();
        }
        Ok(())
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        self.connect()?;
        let mut state = self.disk.state();
        let Some(mut snapshot) = state.snapshots.back().cloned() else { return Ok(None) };
        let version = state.version(stream);
        if version < snapshot.seq || state.rng.chance(50) {
            let (stream, reason) = (stream.to_owned(), "it is damaged".to_owned());
            return Err(LogError::BadSnapshot { stream, reason });
        }
        if state.sabotage == Some(Sabotage::StaleSnapshot) && snapshot.seq < version {
            snapshot.seq += 1;
        }
        Ok(Some(snapshot))
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let state = self.disk.state();
        let versions = state.streams.iter().map(|(name, all)| (name.clone(), all.len() as u64));
        Ok(versions.collect())
    }

    fn flush(&self) -> Result<(), LogError> {
        Ok(())
    }
}

impl Port {
    /// Fails if the database cannot be reached.
    fn connect(&self) -> Result<(), LogError> {
        let state = self.disk.state();
        let Some(shared) = &state.shared else { return Ok(()) };
        match shared.is_reachable(self.node, state.now) {
            true => Ok(()),
            false => Err(LogError::Io {
                what: "read",
                path: "the database".into(),
                kind: ErrorKind::NotConnected,
                message: "it does not answer".to_owned(),
            }),
        }
    }
}

/// A planted bug: records a cheat as an illegal answer.
fn whitewash(entry: &Entry) -> String {
    match &entry.line.event {
        Event::PlayerFaulted(faulted) if faulted.faulted.fault.is_cheat() => {
            entry.text.replacen("\"kind\":\"cheat\"", "\"kind\":\"illegal\"", 1)
        }
        _ => entry.text.clone(),
    }
}

/// A planted bug: puts somebody else on the blacklist.
fn forgive(entry: &Entry) -> String {
    match &entry.line.event {
        Event::AccountBlacklisted(listed) => {
            let (from, to) = (format!("{:?}", listed.account.as_str()), "\"house:random\"");
            entry.text.replacen(&from, to, 1)
        }
        _ => entry.text.clone(),
    }
}
