//! The log of tests and simulations: a map, gone with the process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Append, AppendError, Done, Log, LogError, Snapshot};

/// A log in memory. `submit` calls `done` before it returns.
#[derive(Debug, Default)]
pub struct MemoryLog {
    streams: Mutex<HashMap<String, Vec<String>>>,
    snapshots: Mutex<HashMap<String, String>>,
}

impl MemoryLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<String, Vec<String>>> {
        // No code under the lock can panic halfway through a change.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(&self, append: Append) -> Result<u64, AppendError> {
        append.check_headers()?;
        let mut streams = self.streams();
        let Some(events) = streams.get_mut(&*append.stream) else {
            if append.expected != 0 {
                return Err(append.conflict(0));
            }
            let version = append.version_after();
            streams.insert(append.stream.to_string(), append.lines);
            return Ok(version);
        };
        let actual = events.len() as u64;
        if append.expected != actual {
            return Err(append.conflict(actual));
        }
        events.extend(append.lines);
        Ok(events.len() as u64)
    }
}

impl Log for MemoryLog {
    fn submit(&self, append: Append, done: Done) {
        done(self.accept(append));
    }

    fn append(&self, append: Append) -> Result<u64, AppendError> {
        self.accept(append)
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        crate::name::check_for_reading(stream)?;
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let streams = self.streams();
        let events = streams.get(stream).and_then(|events| events.get(skip..));
        Ok(events.unwrap_or_default().to_vec())
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let streams = self.streams();
        let mut list: Vec<_> =
            streams.iter().map(|(name, events)| (name.clone(), events.len() as u64)).collect();
        drop(streams);
        list.sort();
        Ok(list)
    }

    fn flush(&self) -> Result<(), LogError> {
        Ok(())
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        let text = snapshot.write(self)?;
        let mut snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        snapshots.insert(snapshot.stream.clone(), text);
        Ok(())
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        let snapshots = self.snapshots.lock().unwrap_or_else(PoisonError::into_inner);
        let text = snapshots.get(stream).cloned();
        drop(snapshots);
        text.map(|text| Snapshot::read(&text, stream, self)).transpose()
    }
}
