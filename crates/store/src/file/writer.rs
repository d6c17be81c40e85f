//! `Sync::Always`: synced before the answer, by one thread, for all who wait together.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use super::files::Files;
use crate::append::Pending;
use crate::queue::Queue;
use crate::{Append, AppendError, Done, LogError};

/// Appends waiting at once before those who submit have to wait too.
const QUEUE_MAX: usize = 4096;

enum Job {
    Append(Pending),
    Flush(SyncSender<()>),
}

pub(super) struct Writer {
    queue: Arc<Queue<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(files: Arc<Files>) -> Result<Self, LogError> {
        let queue = Arc::new(Queue::new(QUEUE_MAX));
        let root = files.root().to_owned();
        let thread = thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn({
                let queue = Arc::clone(&queue);
                move || run(&files, &queue)
            })
            .map_err(|error| LogError::io("start a thread for", &root, &error))?;
        Ok(Writer { queue, thread: Some(thread) })
    }

    pub(super) fn submit(&self, append: Append, done: Done) {
        if let Err(refused) = append.check() {
            return done(Err(refused));
        }
        // A refused job answers for itself when it is dropped.
        let _ = self.queue.push(Job::Append(Pending::new(append, done)));
    }

    pub(super) fn flush(&self) -> Result<(), LogError> {
        let (tx, rx) = sync_channel(1);
        self.queue.push(Job::Flush(tx)).map_err(|_| LogError::Closed)?;
        rx.recv().map_err(|_| LogError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The last owner may be an answer given on that very thread, which ends by itself.
            let _ = thread.join();
        }
    }
}

fn run(files: &Files, queue: &Queue<Job>) {
    struct Abandon<'a>(&'a Queue<Job>);
    impl Drop for Abandon<'_> {
        fn drop(&mut self) {
            self.0.abandon();
        }
    }
    let _abandon = Abandon(queue);
    let mut jobs = Vec::new();
    while queue.take(&mut jobs) {
        commit(files, jobs.drain(..));
    }
}

fn commit(files: &Files, jobs: impl Iterator<Item = Job>) {
    let mut touched = HashMap::new();
    let mut answers = Vec::new();
    let mut flushes = Vec::new();
    for job in jobs {
        match job {
            Job::Flush(waiting) => flushes.push(waiting),
            Job::Append(pending) => {
                let written = files.write(&pending.append).map(|slot| {
                    let id = slot.id;
                    touched.entry(id).or_insert(slot);
                    id
                });
                answers.push((pending, written));
            }
        }
    }
    let touched: Vec<_> = touched.into_values().collect();
    let failures = files.sync(&touched);
    for slot in touched.iter().filter(|slot| !failures.contains_key(&slot.id)) {
        slot.accept();
    }
    for (pending, written) in answers {
        let version = pending.append.version_after();
        pending.answer(written.and_then(|id| match failures.get(&id) {
            None => Ok(version),
            Some(error) => Err(AppendError::clone(error)),
        }));
    }
    for waiting in flushes {
        // Whoever waited may have given up.
        let _ = waiting.send(());
    }
}
