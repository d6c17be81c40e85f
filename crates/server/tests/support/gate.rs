//! A log that keeps records waiting for as long as a test likes.

use agon_store::{Append, Done, Log, LogError, MemoryLog};
use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Gate {
    log: MemoryLog,
    /// What waits, while it is closed.
    held: Mutex<Option<Vec<(Append, Done)>>>,
}

impl Gate {
    pub(crate) fn close(&self) {
        self.held().get_or_insert_default();
    }

    /// Lets everything through, in its order.
    pub(crate) fn open(&self) {
        let mut held = self.held();
        for (append, done) in held.take().unwrap_or_default() {
            self.log.submit(append, done);
        }
    }

    /// How many records wait that have an event of this type.
    pub(crate) fn holds(&self, kind: &str) -> usize {
        let has = |append: &Append| append.lines.iter().any(|line| is_of(line, kind));
        let held = self.held();
        held.iter().flatten().filter(|(append, _)| has(append)).count()
    }

    /// How many events of this type are in the lobby's stream.
    pub(crate) fn count(&self, kind: &str) -> usize {
        let lines = self.log.load("lobby", 0).unwrap();
        lines.iter().filter(|line| is_of(line, kind)).count()
    }

    fn held(&self) -> MutexGuard<'_, Option<Vec<(Append, Done)>>> {
        self.held.lock().unwrap()
    }
}

fn is_of(line: &str, kind: &str) -> bool {
    line.contains(&format!(r#""type":"{kind}""#))
}

impl Log for Gate {
    fn submit(&self, append: Append, done: Done) {
        match &mut *self.held() {
            Some(held) => held.push((append, done)),
            None => self.log.submit(append, done),
        }
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        self.log.load(stream, after)
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        self.log.streams()
    }

    fn flush(&self) -> Result<(), LogError> {
        self.log.flush()
    }
}
