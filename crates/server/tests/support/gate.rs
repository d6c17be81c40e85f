//! A log that keeps records waiting for as long as a test likes.

use agon_store::{Append, Done, Log, LogError, MemoryLog};
use std::sync::{Mutex, MutexGuard};

#[derive(Default)]
pub(crate) struct Gate {
    log: MemoryLog,
    held: Mutex<Held>,
}

/// The appends that wait while the gate is closed, and the streams it is closed for.
#[derive(Default)]
struct Held {
    closed: Option<&'static str>,
    waiting: Vec<(Append, Done)>,
}

impl Gate {
    pub(crate) fn close(&self) {
        self.close_for("");
    }

    /// Closes it for streams whose name begins so.
    pub(crate) fn close_for(&self, streams: &'static str) {
        self.held().closed = Some(streams);
    }

    /// Lets everything through, in its order.
    pub(crate) fn open(&self) {
        let mut held = self.held();
        held.closed = None;
        for (append, done) in held.waiting.drain(..) {
            self.log.submit(append, done);
        }
    }

    /// How many records wait that have an event of this type.
    pub(crate) fn holds(&self, kind: &str) -> usize {
        let has = |append: &Append| append.lines.iter().any(|line| is_of(line, kind));
        let held = self.held();
        held.waiting.iter().filter(|(append, _)| has(append)).count()
    }

    /// How many events of this type are in the lobby's stream.
    pub(crate) fn count(&self, kind: &str) -> usize {
        let lines = self.log.load("lobby", 0).unwrap();
        lines.iter().filter(|line| is_of(line, kind)).count()
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap()
    }
}

fn is_of(line: &str, kind: &str) -> bool {
    line.contains(&format!(r#""type":"{kind}""#))
}

impl Log for Gate {
    fn submit(&self, append: Append, done: Done) {
        let mut held = self.held();
        match held.closed.is_some_and(|streams| append.stream.starts_with(streams)) {
            true => held.waiting.push((append, done)),
            false => self.log.submit(append, done),
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
