//! `Sync::Process`: written before the answer, synced soon after by a thread in the background.
//!
//! Written data survives the end of its process, whatever the cause. The sync protects against a
//! crash of the machine.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::files::{Files, Slot};
use crate::{Append, AppendError, Done, LogError};

/// How long a write may wait for its sync to begin.
const SYNC_WAIT: Duration = Duration::from_millis(200);

pub(super) struct Flusher {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    files: Arc<Files>,
    dirty: Mutex<Dirty>,
    changed: Condvar,
    /// Held from taking the dirty streams until they are synced, so that `flush` cannot overtake
    /// a round that is under way.
    round: Mutex<()>,
}

#[derive(Default)]
struct Dirty {
    slots: HashMap<u64, Arc<Slot>>,
    closing: bool,
}

impl Flusher {
    pub(super) fn start(files: Arc<Files>) -> Result<Self, LogError> {
        let shared = Arc::new(Shared {
            files,
            dirty: Mutex::default(),
            changed: Condvar::new(),
            round: Mutex::default(),
        });
        let thread = thread::Builder::new()
            .name("log-flusher".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.run()
            })
            .map_err(|error| LogError::io("start a thread for", shared.files.root(), &error))?;
        Ok(Flusher { shared, thread: Some(thread) })
    }

    pub(super) fn submit(&self, append: Append, done: Done) {
        done(self.append(&append));
    }

    pub(super) fn append(&self, append: &Append) -> Result<u64, AppendError> {
        append.check()?;
        self.write(append)
    }

    /// Like [`Flusher::append`], but trusts that the text after the header of a line is JSON.
    pub(super) fn append_trusted(&self, append: &Append) -> Result<u64, AppendError> {
        append.check_headers()?;
        self.write(append)
    }

    fn write(&self, append: &Append) -> Result<u64, AppendError> {
        let slot = self.shared.files.write(append)?;
        slot.accept();
        self.shared.mark(slot);
        Ok(append.version_after())
    }

    pub(super) fn flush(&self) -> Result<(), LogError> {
        self.shared.sync()
    }
}

impl Drop for Flusher {
    fn drop(&mut self) {
        self.shared.lock().closing = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // The thread returns nothing: a failed sync has poisoned its stream.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Dirty> {
        self.dirty.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(&self, slot: Arc<Slot>) {
        let mut dirty = self.lock();
        let is_first = dirty.slots.is_empty();
        dirty.slots.entry(slot.id).or_insert(slot);
        if is_first {
            self.changed.notify_all();
        }
    }

    fn run(&self) {
        loop {
            let dirty = self.lock();
            let idle = |dirty: &mut Dirty| dirty.slots.is_empty() && !dirty.closing;
            let dirty =
                self.changed.wait_while(dirty, idle).unwrap_or_else(PoisonError::into_inner);
            let (dirty, _) = self
                .changed
                .wait_timeout_while(dirty, SYNC_WAIT, |dirty| !dirty.closing)
                .unwrap_or_else(PoisonError::into_inner);
            let closing = dirty.closing;
            drop(dirty);
            // A failed sync poisons its stream, which then accepts no more events.
            let _ = self.sync();
            if closing {
                return;
            }
        }
    }

    fn sync(&self) -> Result<(), LogError> {
        let _round = self.round.lock().unwrap_or_else(PoisonError::into_inner);
        let slots: Vec<_> = std::mem::take(&mut self.lock().slots).into_values().collect();
        let failures = self.files.sync(&slots);
        match slots.iter().find_map(|slot| Some((slot, failures.get(&slot.id)?))) {
            None => Ok(()),
            Some((slot, error)) => Err(failed(slot.path.clone(), error)),
        }
    }
}

fn failed(path: PathBuf, error: &AppendError) -> LogError {
    let kind = match error {
        AppendError::Io { kind, .. } => *kind,
        _ => io::ErrorKind::Other,
    };
    LogError::Io { what: "sync", path, kind, message: error.to_string() }
}
