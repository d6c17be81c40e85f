//! The interface through which all other crates use the log.

use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::append::gather;
use crate::{Append, AppendError, Done, DoneAll, LogError, LogStanding, Meter, Snapshot};

/// A log: streams of events that only grow.
///
/// Any number of threads may use one log. An append is compared with the version of its stream
/// and made durable in one step, so of all writers racing for one version exactly one wins.
pub trait Log: Send + Sync {
    /// Hands an append to the log. `done` is called once, after the append is durable or rejected.
    /// That happens either before this returns or on the log's own thread. It should be short and
    /// must not wait for the log (that is, it may `submit`, but not `append` or `flush`).
    ///
    /// Appends of one stream are answered in the order in which they were submitted. A log with a
    /// queue makes the caller wait here while the queue is full.
    fn submit(&self, append: Append, done: Done);

    /// Hands over several appends at once, which costs less than one by one. `done` is called once
    /// with the result of each, in order, under the same rules as in [`submit`](Log::submit). A log
    /// may trust that the lines are JSON behind their headers.
    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        gather(appends, done, |append, done| self.submit(append, done));
    }

    /// Makes appends durable on the caller's thread and returns the result of each, in order. For
    /// few appends this takes less time than the way to the log's thread and back.
    ///
    /// Returns the appends if the log cannot do so now, because it has no such way, other appends
    /// come first, or a line is invalid. The caller then submits them. A log may trust that the
    /// lines are JSON behind their headers.
    fn commit_here(
        &self,
        appends: Vec<Append>,
    ) -> Result<Vec<Result<u64, AppendError>>, Vec<Append>> {
        Err(appends)
    }

    /// The events of a stream after the first `after`, in order; none if there is no such stream.
    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError>;

    /// The events of several whole streams, in the order of their names here. A log with a long way
    /// to its data answers this faster than one question for each stream.
    fn load_together(&self, streams: &[&str]) -> Result<Vec<Vec<String>>, LogError> {
        streams.iter().map(|stream| self.load(stream, 0)).collect()
    }

    /// Shows the records of one reader's share of whole streams, in one pass over the log, which
    /// costs less than to load each. Records of one stream come in order. A stream whose last
    /// record is shown to no reader must be loaded by itself; a log that has no fast way shows none
    /// at all.
    fn read_together(
        &self,
        _streams: &[&str],
        _share: ReaderShare,
        _take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        Ok(())
    }

    /// Opens one more reader of the same log, for another thread; `None` if threads can share this
    /// one. It is meant for reading much at once.
    fn another_reader(&self) -> Result<Option<Box<dyn Log>>, LogError> {
        Ok(None)
    }

    /// All streams that have events, with their versions, sorted by name.
    fn streams(&self) -> Result<Vec<(String, u64)>, LogError>;

    /// The event that was appended last, over all streams, if this log keeps their order.
    fn latest(&self) -> Result<Option<String>, LogError> {
        Ok(None)
    }

    /// Waits until everything submitted so far is durable even if the power fails.
    fn flush(&self) -> Result<(), LogError>;

    /// Measures of this log, if it keeps any.
    fn meter(&self) -> Option<Arc<Meter>> {
        None
    }

    /// Stores a snapshot in place of the previous one, if this log stores snapshots. Its events
    /// must be durable. This may take long, but delays no append.
    fn keep_snapshot(&self, _snapshot: &Snapshot) -> Result<(), LogError> {
        Ok(())
    }

    /// The snapshot of a stream, if there is one. An error means that it cannot be used; the
    /// stream itself can still be loaded whole.
    fn snapshot(&self, _stream: &str) -> Result<Option<Snapshot>, LogError> {
        Ok(None)
    }

    /// Returns whether this process may act on the contents of the log now. A log that several
    /// nodes share may belong to another one.
    fn standing(&self) -> LogStanding {
        LogStanding::Owner
    }

    /// The lease on this log, if several nodes share it.
    fn lease(&self) -> Option<Lease> {
        None
    }

    /// The time in milliseconds since 1970 by the clock of the log, if it has one for all nodes.
    fn clock_ms(&self) -> Result<Option<u64>, LogError> {
        Ok(None)
    }

    /// Submits an append and waits for the answer.
    fn append(&self, append: Append) -> Result<u64, AppendError> {
        let (tx, rx) = sync_channel(1);
        self.submit(
            append,
            Box::new(move |result| {
                // Cannot fail: the receiver waits below.
                let _ = tx.send(result);
            }),
        );
        rx.recv().unwrap_or(Err(AppendError::Closed))
    }
}

/// The lease of a node on a log, for operators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lease {
    /// The name of this node.
    pub node: String,
    /// How long ago the lease was renewed.
    pub age: Duration,
    /// How many cells this node owns.
    pub cells: usize,
    /// How many appends were rejected because this node did not own their cell.
    pub fenced: u64,
    /// How far the log's clock has moved away from this machine's since the start, in milliseconds.
    pub clock_drift_ms: i64,
}

/// The share of one reader, if several read streams of a log together. The log divides the streams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReaderShare {
    /// The number of this reader, from 0.
    pub reader: u32,
    /// How many readers there are.
    pub readers: u32,
}

impl ReaderShare {
    /// The share of a single reader.
    pub const ALL: ReaderShare = ReaderShare { reader: 0, readers: 1 };
}

/// One record of a stream that is read together with others.
#[derive(Clone, Copy, Debug)]
pub struct StreamPart<'a> {
    /// The stream's place in the list of those that were asked for.
    pub stream: usize,
    /// The lines of the record, joined by newlines.
    pub lines: &'a str,
    /// True if it is the last record of its stream.
    pub is_last: bool,
    /// How many events the stream has.
    pub events: u64,
}

impl<L: Log + ?Sized> Log for Arc<L> {
    fn submit(&self, append: Append, done: Done) {
        (**self).submit(append, done);
    }

    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        (**self).submit_all(appends, done);
    }

    fn commit_here(
        &self,
        appends: Vec<Append>,
    ) -> Result<Vec<Result<u64, AppendError>>, Vec<Append>> {
        (**self).commit_here(appends)
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        (**self).load(stream, after)
    }

    fn load_together(&self, streams: &[&str]) -> Result<Vec<Vec<String>>, LogError> {
        (**self).load_together(streams)
    }

    fn read_together(
        &self,
        streams: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        (**self).read_together(streams, share, take)
    }

    fn another_reader(&self) -> Result<Option<Box<dyn Log>>, LogError> {
        (**self).another_reader()
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        (**self).streams()
    }

    fn latest(&self) -> Result<Option<String>, LogError> {
        (**self).latest()
    }

    fn flush(&self) -> Result<(), LogError> {
        (**self).flush()
    }

    fn meter(&self) -> Option<Arc<Meter>> {
        (**self).meter()
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        (**self).keep_snapshot(snapshot)
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        (**self).snapshot(stream)
    }

    fn standing(&self) -> LogStanding {
        (**self).standing()
    }

    fn lease(&self) -> Option<Lease> {
        (**self).lease()
    }

    fn clock_ms(&self) -> Result<Option<u64>, LogError> {
        (**self).clock_ms()
    }

    fn append(&self, append: Append) -> Result<u64, AppendError> {
        (**self).append(append)
    }
}
