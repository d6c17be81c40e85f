//! Group commit: one sync of the disk makes all waiting appends durable.
//!
//! While one group is being synced, the next gathers. So the busier the log, the larger the group
//! and the cheaper each append. This module provides the thread that commits groups, the queue in
//! front of it and the answers. A caller with few appends can commit them on its own thread while
//! the log is idle, which saves two switches between threads.

use std::io;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::append::{Answers, Pending, gather};
use crate::queue::Queue;
use crate::{Append, Done, DoneAll, LogError};

/// How many appends may wait before callers must wait too.
const QUEUE_MAX: usize = 4096;

/// Makes groups of appends durable. Dropping it closes the log.
pub(crate) trait Commit: Send {
    /// Makes the appends of several callers durable; returns the results of each caller, in order.
    fn commit(&mut self, group: &[&[Append]]) -> Vec<Answers>;
}

enum Job {
    Append(Pending),
    Flush(SyncSender<()>),
}

/// The queue, and the writer of the log.
struct Shared {
    queue: Queue<Job>,
    /// A thread that takes appends holds the lock until they are committed, so groups stay in
    /// order. `None` once the log is closed.
    writer: Mutex<Option<Box<dyn Commit>>>,
}

/// The thread and its queue. Dropping this waits until everything submitted is answered.
pub(crate) struct Group {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Group {
    /// Starts the thread. It drops the writer when it ends.
    pub(crate) fn start(writer: impl Commit + 'static) -> io::Result<Self> {
        let writer: Mutex<Option<Box<dyn Commit>>> = Mutex::new(Some(Box::new(writer)));
        let shared = Arc::new(Shared { queue: Queue::new(QUEUE_MAX), writer });
        let own = Arc::clone(&shared);
        let thread = thread::Builder::new().name("log-writer".to_owned());
        let thread = thread.spawn(move || own.serve())?;
        Ok(Group { shared, thread: Some(thread) })
    }

    pub(crate) fn submit(&self, append: Append, done: Done) {
        if let Err(refused) = append.check() {
            return done(Err(refused));
        }
        // A job that a closed queue rejects reports this itself when it is dropped.
        let _ = self.shared.queue.push(Job::Append(Pending::one(append, done)));
    }

    /// Submits several appends at once, from a caller whose lines are JSON.
    pub(crate) fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        match are_checked(&appends) {
            true => {
                let _ = self.shared.queue.push(Job::Append(Pending::new(appends, done)));
            }
            // An invalid append is rejected alone; each of the others is handled as if submitted
            // alone.
            false => gather(appends, done, |append, done| self.submit(append, done)),
        }
    }

    /// Commits appends on this thread if no other thread commits and nothing waits in the queue;
    /// otherwise returns them. The lines must be JSON.
    pub(crate) fn commit_here(&self, appends: Vec<Append>) -> Result<Answers, Vec<Append>> {
        if !are_checked(&appends) {
            return Err(appends);
        }
        let Ok(mut held) = self.shared.writer.try_lock() else { return Err(appends) };
        // The thread takes appends from the queue under the lock, so none is on its way.
        match &mut *held {
            Some(writer) if self.shared.queue.is_empty() => {
                Ok(writer.commit(&[&appends]).pop().unwrap_or_default())
            }
            _ => Err(appends),
        }
    }

    pub(crate) fn flush(&self) -> Result<(), LogError> {
        let (tx, rx) = sync_channel(1);
        self.shared.queue.push(Job::Flush(tx)).map_err(|_| LogError::Closed)?;
        rx.recv().map_err(|_| LogError::Closed)
    }
}

/// Returns whether the headers of all lines are right.
fn are_checked(appends: &[Append]) -> bool {
    appends.iter().all(|append| append.check_headers().is_ok())
}

impl Drop for Group {
    fn drop(&mut self) {
        self.shared.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // The thread must not join itself: an answer on it may drop the last owner. The panic
            // hook has reported any panic of the thread.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// Commits groups until the log is closed, and then closes the writer.
    fn serve(&self) {
        let _ended = Ended(self);
        let mut jobs = Vec::new();
        while self.queue.wait() {
            let mut group = Vec::new();
            let mut flushes = Vec::new();
            // A writer that panicked on another thread is not used again.
            let Ok(mut held) = self.writer.lock() else { return };
            let Some(writer) = &mut *held else { return };
            self.queue.take(&mut jobs);
            for job in jobs.drain(..) {
                match job {
                    Job::Append(pending) => group.push(pending),
                    Job::Flush(waiting) => flushes.push(waiting),
                }
            }
            let appends: Vec<&[Append]> =
                group.iter().map(|pending| &pending.appends[..]).collect();
            let results = if group.is_empty() { Vec::new() } else { writer.commit(&appends) };
            drop(held);
            assert_eq!(results.len(), group.len(), "an answer for everybody");
            for (pending, results) in group.into_iter().zip(results) {
                pending.answer(results);
            }
            for waiting in flushes {
                // The caller may have stopped waiting.
                let _ = waiting.send(());
            }
        }
        if let Ok(mut held) = self.writer.lock() {
            *held = None;
        }
    }
}

/// The end of the thread. Without it nobody would answer, so it rejects new and waiting appends.
struct Ended<'a>(&'a Shared);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.queue.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AppendError;
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

    fn all_accepted(group: &[&[Append]]) -> Vec<Answers> {
        let accepted = |append: &Append| Ok(append.version_after());
        group.iter().map(|appends| appends.iter().map(accepted).collect()).collect()
    }

    impl<F: FnMut(&[&[Append]]) -> Vec<Answers> + Send> Commit for F {
        fn commit(&mut self, group: &[&[Append]]) -> Vec<Answers> {
            self(group)
        }
    }

    #[test]
    fn a_dead_thread_refuses_instead_of_hanging() {
        let group = Group::start(|_: &[&[Append]]| panic!("a bug, on purpose")).unwrap();
        assert_eq!(submit(&group, 0).recv().unwrap(), Err(AppendError::Closed));
        assert_eq!(group.flush(), Err(LogError::Closed));
        assert_eq!(submit(&group, 0).recv().unwrap(), Err(AppendError::Closed));
    }

    #[test]
    fn an_answer_that_panics_does_not_stop_the_log() {
        let group = Group::start(all_accepted).unwrap();
        group.submit(append(0), Box::new(|_| panic!("a bug, on purpose")));
        assert_eq!(submit(&group, 1).recv().unwrap(), Ok(2));
        assert_eq!(group.flush(), Ok(()));
    }

    #[test]
    fn an_answer_may_submit_even_if_the_queue_is_full_and_may_drop_the_log() {
        let group = Arc::new(Group::start(all_accepted).unwrap());
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
        let group = Group::start(all_accepted).unwrap();
        let waiting: Vec<_> = (0..1000).map(|expected| submit(&group, expected)).collect();
        drop(group);
        for (expected, rx) in (0..).zip(waiting) {
            assert_eq!(rx.try_recv().unwrap(), Ok(expected + 1));
        }
    }

    #[test]
    fn idle_log_commits_on_the_thread_of_the_caller() {
        let (tx, committed_on) = channel();
        let commit = move |group: &[&[Append]]| {
            tx.send(thread::current().id()).unwrap();
            all_accepted(group)
        };
        let group = Group::start(commit).unwrap();
        assert_eq!(group.commit_here(vec![append(0)]), Ok(vec![Ok(1)]));
        assert_eq!(committed_on.recv().unwrap(), thread::current().id());
        assert_eq!(submit(&group, 1).recv().unwrap(), Ok(2));
        assert_ne!(committed_on.recv().unwrap(), thread::current().id());
    }

    #[test]
    fn busy_log_returns_appends_that_would_overtake_others() {
        let (entered, is_in) = channel();
        let (leave, may_leave) = channel::<()>();
        let commit = move |group: &[&[Append]]| {
            entered.send(()).unwrap();
            may_leave.recv().unwrap();
            all_accepted(group)
        };
        let group = Group::start(commit).unwrap();
        let first = submit(&group, 0);
        is_in.recv().unwrap();
        assert_eq!(group.commit_here(vec![append(1)]), Err(vec![append(1)]));
        leave.send(()).unwrap();
        assert_eq!(first.recv().unwrap(), Ok(1));
        let mut bad = append(1);
        bad.expected = 7;
        assert_eq!(group.commit_here(vec![bad.clone()]), Err(vec![bad]), "it is rejected alone");
    }

    #[test]
    fn writer_that_panicked_on_the_thread_of_a_caller_is_not_used_again() {
        let group = Group::start(|_: &[&[Append]]| panic!("a bug, on purpose")).unwrap();
        let here = std::panic::AssertUnwindSafe(|| group.commit_here(vec![append(0)]));
        assert!(std::panic::catch_unwind(here).is_err());
        assert_eq!(group.commit_here(vec![append(0)]), Err(vec![append(0)]));
        assert_eq!(submit(&group, 0).recv().unwrap(), Err(AppendError::Closed));
    }
}
