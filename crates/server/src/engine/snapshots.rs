//! Snapshots of the lobby, written now and then and at the end, on a thread of their own.
//!
//! A snapshot only saves time: it is taken of what is durable, and whoever cannot read it folds the
//! log. So one that cannot be written is a warning and no more.

use super::Engine;
use super::journal::StreamKey;
use agon_core::lobby::Lobby;
use agon_store::{Log, Snapshot};
use std::sync::Arc;
use std::thread::JoinHandle;

/// Events of the lobby between two snapshots, at least.
const EVERY_MIN: u64 = 10_000;

/// How far snapshots go, and the one that is being written.
#[derive(Default)]
pub(super) struct Snapshots {
    covered: u64,
    writing: Option<JoinHandle<()>>,
    /// After how many events one is taken, on the engine's own thread, if it has no others.
    every: Option<u64>,
}

impl Snapshots {
    /// Those of an engine without threads.
    pub(super) fn here(every: u64) -> Snapshots {
        Snapshots { every: Some(every), ..Snapshots::default() }
    }

    /// The lobby's snapshot and the event it was made after; in words why there is none to use.
    pub(super) fn latest(&self, log: &dyn Log) -> Result<Option<(Lobby, u64)>, String> {
        let stream = StreamKey::Lobby.name();
        let found = log.snapshot(&stream).map_err(|error| error.to_string())?;
        let Some(Snapshot { format, seq, state, .. }) = found else { return Ok(None) };
        if format != Lobby::SNAPSHOT_VERSION {
            let known = Lobby::SNAPSHOT_VERSION;
            return Err(format!("the lobby's snapshot has version {format}, not {known}"));
        }
        let lobby = Lobby::from_snapshot(&state).map_err(|error| error.to_string())?;
        Ok(Some((lobby, seq)))
    }

    /// So many events are in a snapshot.
    pub(super) fn cover(&mut self, seq: u64) {
        self.covered = seq;
    }

    fn wait(&mut self) {
        if let Some(writing) = self.writing.take() {
            let _ = writing.join();
        }
    }
}

impl Engine {
    /// Takes a snapshot if there is enough new in the lobby, and nothing of it is on its way.
    pub(super) fn snapshot_if_due(&mut self) {
        let seq = self.journals.get(&StreamKey::Lobby).map_or(0, |journal| journal.version());
        // The larger the lobby the rarer, so that an event costs the same in all of them.
        let usual = || EVERY_MIN.max(self.lobby.size() as u64);
        let every = self.snapshots.every.unwrap_or_else(usual);
        let busy = self.snapshots.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        let due = seq.saturating_sub(self.snapshots.covered) >= every;
        if !due || busy || !self.is_durable(&StreamKey::Lobby) {
            return;
        }
        self.snapshots.wait();
        self.snapshots.cover(seq);
        if self.snapshots.every.is_some() {
            return keep(&*self.log, &self.lobby, seq);
        }
        let (log, lobby) = (Arc::clone(&self.log), self.lobby.clone());
        self.snapshots.writing = Some(std::thread::spawn(move || keep(&*log, &lobby, seq)));
    }

    /// Takes the snapshot the next start begins with.
    pub(super) fn last_snapshot(&mut self) {
        self.snapshots.wait();
        let seq = self.journals.get(&StreamKey::Lobby).map_or(0, |journal| journal.version());
        if seq > self.snapshots.covered && self.is_durable(&StreamKey::Lobby) {
            keep(&*self.log, &self.lobby, seq);
        }
    }
}

fn keep(log: &dyn Log, lobby: &Lobby, seq: u64) {
    let (stream, format) = (StreamKey::Lobby.name(), Lobby::SNAPSHOT_VERSION);
    let snapshot = Snapshot { stream, format, seq, state: lobby.snapshot() };
    if let Err(error) = log.keep_snapshot(&snapshot) {
        super::warn(&format!("no snapshot of the lobby: {error}; the next start takes longer"));
    }
}
