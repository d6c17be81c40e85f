//! Group commit: one thread that makes all waiting appends durable together.
//!
//! While one group is being synced, the next gathers. So the busier the log, the larger the group
//! and the cheaper each append. This module provides the thread, the queue in front of it and the
//! answers; the caller makes a group durable.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::append::{Pending, gather};
use crate::queue::Queue;
use crate::{Append, AppendError, Done, DoneAll, LogError};

/// How many appends may wait before callers must wait too.
const QUEUE_MAX: usize = 4096;

enum Job {
    Append(Pending),
    Flush(SyncSender<()>),
}

/// The thread and its queue. Dropping this waits until everything submitted is answered.
pub(crate) struct Group {
    queue: Arc<Queue<Job>>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's end of the queue.
pub(crate) struct Turns {
    queue: Arc<Queue<Job>>,
}

impl Group {
    /// Starts a thread that runs `body`, which must call [`Turns::serve`].
    pub(crate) fn start(body: impl FnOnce(Turns) + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(Queue::new(QUEUE_MAX));
        let turns = Turns { queue: Arc::clone(&queue) };
        let thread = thread::Builder::new().name("log-writer".to_owned()).spawn(|| body(turns))?;
        Ok(Group { queue, thread: Some(thread) })
    }

    pub(crate) fn submit(&self, append: Append, done: Done) {
        if let Err(refused) = append.check() {
            return done(Err(refused));
        }
        // A job that a closed queue rejects reports this itself when it is dropped.
        let _ = self.queue.push(Job::Append(Pending::one(append, done)));
    }

    /// Submits several appends at once, from a caller whose lines are JSON.
    pub(crate) fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        let checked: Result<Vec<()>, AppendError> =
            appends.iter().map(Append::check_headers).collect();
        match checked {
            Ok(_) => {
                let _ = self.queue.push(Job::Append(Pending::new(appends, done)));
            }
            // An invalid append is rejected alone; each of the others is handled as if submitted
            // alone.
            Err(_) => gather(appends, done, |append, done| self.submit(append, done)),
        }
    }

    pub(crate) fn flush(&self) -> Result<(), LogError> {
        let (tx, rx) = sync_channel(1);
        self.queue.push(Job::Flush(tx)).map_err(|_| LogError::Closed)?;
        rx.recv().map_err(|_| LogError::Closed)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread must not join itself: an answer on it may drop the last owner. The panic
            // hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Turns {
    /// Hands over groups of appends until the log is closed. `commit` returns the results of each,
    /// in order, after all successful ones are durable.
    pub(crate) fn serve(
        &self,
        mut commit: impl FnMut(&[Pending]) -> Vec<Vec<Result<u64, AppendError>>>,
    ) {
        let mut jobs = Vec::new();
        while self.queue.take(&mut jobs) {
            let mut group = Vec::with_capacity(jobs.len());
            let mut flushes = Vec::new();
            for job in jobs.drain(..) {
                match job {
                    Job::Append(pending) => group.push(pending),
                    Job::Flush(waiting) => flushes.push(waiting),
                }
            }
            let results = if group.is_empty() { Vec::new() } else { commit(&group) };
            assert_eq!(results.len(), group.len(), "an answer for everybody");
            for (pending, results) in group.into_iter().zip(results) {
                pending.answer(results);
            }
            for waiting in flushes {
                // The caller may have stopped waiting.
                let _ = waiting.send(());
            }
        }
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        // Without the thread nobody would answer, so reject new and waiting appends.
        self.queue.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    fn append(expected: u64) -> Append {
        let seq = expected + 1;
        let line = format!(r#"{{"v":1,"stream":"s","seq":{seq},"at":0,"more":0,"type":"t"}}"#);
        Append { stream: "s".into(), expected, lines: vec![line] }
    }

    fn submit(group: &Group, expected: u64) -> Receiver<Result<u64, AppendError>> {
        let (tx, rx) = channel();
        group.submit(append(expected), Box::new(move |result| tx.send(result).unwrap()));
        rx
    }

    fn all_accepted(group: &[Pending]) -> Vec<Vec<Result<u64, AppendError>>> {
        let accepted = |append: &Append| Ok(append.version_after());
        group.iter().map(|pending| pending.appends.iter().map(accepted).collect()).collect()
    }

    #[test]
    fn a_dead_thread_refuses_instead_of_hanging() {
        let group = Group::start(|turns| turns.serve(|_| panic!("a bug, on purpose"))).unwrap();
        assert_eq!(submit(&group, 0).recv().unwrap(), Err(AppendError::Closed));
        assert_eq!(group.flush(), Err(LogError::Closed));
        assert_eq!(submit(&group, 0).recv().unwrap(), Err(AppendError::Closed));
    }

    #[test]
    fn an_answer_that_panics_does_not_stop_the_log() {
        let group = Group::start(|turns| turns.serve(all_accepted)).unwrap();
        group.submit(append(0), Box::new(|_| panic!("a bug, on purpose")));
        assert_eq!(submit(&group, 1).recv().unwrap(), Ok(2));
        assert_eq!(group.flush(), Ok(()));
    }

    #[test]
    fn an_answer_may_submit_even_if_the_queue_is_full_and_may_drop_the_log() {
        let group = Arc::new(Group::start(|turns| turns.serve(all_accepted)).unwrap());
        let (tx, rx) = channel();
        let last = Arc::clone(&group);
        group.submit(
            append(0),
            Box::new(move |_| {
                for expected in 1..=2 * QUEUE_MAX as u64 {
                    let tx = tx.clone();
                    last.submit(append(expected), Box::new(move |got| tx.send(got).unwrap()));
                }
            }),
        );
        drop(group);
        let answers: Vec<_> = rx.iter().collect();
        let due: Vec<_> = (2..=2 * QUEUE_MAX as u64 + 1).map(Ok).collect();
        assert!(answers == due, "{} answers", answers.len());
    }

    #[test]
    fn dropping_waits_for_every_answer() {
        let group = Group::start(|turns| turns.serve(all_accepted)).unwrap();
        let waiting: Vec<_> = (0..1000).map(|expected| submit(&group, expected)).collect();
        drop(group);
        for (expected, rx) in (0..).zip(waiting) {
            assert_eq!(rx.try_recv().unwrap(), Ok(expected + 1));
        }
    }
}
