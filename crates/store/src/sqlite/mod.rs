//! The log in a SQLite database, which servers normally use.
//!
//! One file holds all streams, so one sync makes the decisions of many matches durable. This module
//! combines the parts: [`schema`] opens the database, [`writer`] turns a group of appends into a
//! transaction, [`reader`] reads on a connection of its own, [`tail`] knows where streams end and
//! [`chain`] reads a stream from there. [`together`] reads many streams in one pass. [`watermark`]
//! detects that acknowledged records are missing.

mod backup;
mod chain;
mod lookup;
mod migrate;
mod reader;
mod salvage;
mod schema;
mod tail;
mod together;
mod watermark;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::append::Answers;
use crate::disk::write_whole;
use crate::group::{Commit, Group};
use crate::lock::Lock;
use crate::log::{ReaderShare, StreamPart};
use crate::name::check_for_reading;
use crate::{Append, AppendError, Done, DoneAll, Log, LogError, Meter, Snapshot};

pub use backup::Backup;
pub(crate) use reader::Reader;
use watermark::Watermark;
use writer::Writer;

/// A log in a SQLite database.
///
/// Dropping it waits until everything submitted is answered and folds the write-ahead log into
/// the database, which is then one file again.
pub struct SqliteLog {
    /// Before `group`: only the last connection to close can fold the write-ahead log.
    reader: Reader,
    /// None if open for reading only.
    group: Option<Group>,
    meter: Arc<Meter>,
}

impl SqliteLog {
    /// Opens the database for writing, creating it if need be. Only one process can do so at a
    /// time.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        let path = path.as_ref();
        let lock = Lock::take(&lock_path(path), path)?;
        // Checked before anything changes, so that a damaged log stays as it is.
        watermark::check(path)?;
        let db = schema::open_writer(path)?;
        let watermark = Watermark::open(path, &db)?;
        let writer = Writer::new(db).map_err(|error| schema::failure("open", path, &error))?;
        let reader = Reader::open(path)?;
        reader.look_at_tail()?;
        let meter = Arc::<Meter>::default();
        let own = Arc::clone(&meter);
        let group = Group::start(LockedWriter { writer, watermark, meter: own, _lock: lock })
            .map_err(|error| LogError::io("start a thread for", path, &error))?;
        Ok(SqliteLog { reader, group: Some(group), meter })
    }

    /// Opens an existing database for reading, even while another process writes it.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, LogError> {
        watermark::check_for_reading(path.as_ref())?;
        let reader = Reader::open(path.as_ref())?;
        Ok(SqliteLog { reader, group: None, meter: Arc::default() })
    }

    /// How many records of a database were acknowledged, according to its watermark, even if the
    /// database itself is missing.
    pub fn acknowledged(path: impl AsRef<Path>) -> Option<u64> {
        watermark::acknowledged(path.as_ref())
    }

    /// Checks every page and every event of a database, and reports the first damage. Takes as long
    /// as reading the whole file.
    pub fn check(path: impl AsRef<Path>) -> Result<(), LogError> {
        Reader::open(path.as_ref())?.check()
    }
}

impl Log for SqliteLog {
    fn submit(&self, append: Append, done: Done) {
        match &self.group {
            Some(group) => group.submit(append, done),
            None => done(Err(AppendError::ReadOnly)),
        }
    }

    fn submit_all(&self, appends: Vec<Append>, done: DoneAll) {
        match &self.group {
            Some(group) => group.submit_all(appends, done),
            None => done(appends.iter().map(|_| Err(AppendError::ReadOnly)).collect()),
        }
    }

    fn commit_here(
        &self,
        appends: Vec<Append>,
    ) -> Result<Vec<Result<u64, AppendError>>, Vec<Append>> {
        match &self.group {
            Some(group) => group.commit_here(appends),
            None => Err(appends),
        }
    }

    fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        check_for_reading(stream)?;
        self.reader.load(stream, after)
    }

    fn read_together(
        &self,
        streams: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        self.reader.read_together(streams, share, take)
    }

    fn another_reader(&self) -> Result<Option<Box<dyn Log>>, LogError> {
        let reader = Reader::open_mapped(self.reader.path())?;
        Ok(Some(Box::new(SqliteLog { reader, group: None, meter: Arc::default() })))
    }

    fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        self.reader.streams()
    }

    fn latest(&self) -> Result<Option<String>, LogError> {
        self.reader.latest()
    }

    fn flush(&self) -> Result<(), LogError> {
        self.group.as_ref().map_or(Ok(()), Group::flush)
    }

    fn meter(&self) -> Option<Arc<Meter>> {
        Some(Arc::clone(&self.meter))
    }

    fn keep_snapshot(&self, snapshot: &Snapshot) -> Result<(), LogError> {
        let path = snapshot_path(self.reader.path(), &snapshot.stream);
        let text = snapshot.write(self)?;
        write_whole(&path, &text).map_err(|error| LogError::io("write", &path, &error))
    }

    fn snapshot(&self, stream: &str) -> Result<Option<Snapshot>, LogError> {
        let path = snapshot_path(self.reader.path(), stream);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| LogError::io("read", &path, &error))?,
        };
        Snapshot::read(&text, stream, self).map(Some)
    }
}

/// The writer with everything that one commit needs. It holds the lock of the database until it is
/// dropped.
struct LockedWriter {
    writer: Writer,
    watermark: Watermark,
    meter: Arc<Meter>,
    /// Last, so that the database is closed before another process can lock it.
    _lock: Lock,
}

impl Commit for LockedWriter {
    fn commit(&mut self, group: &[&[Append]]) -> Vec<Answers> {
        let LockedWriter { writer, watermark, meter, .. } = self;
        meter.measure(|| writer.commit(group, |last| watermark.note(last)))
    }
}

impl Drop for LockedWriter {
    fn drop(&mut self) {
        // This only saves work: acknowledged records are durable without it.
        let _ = self.writer.close();
    }
}

pub(crate) fn lock_path(path: &Path) -> PathBuf {
    beside(path, ".lock")
}

/// The file of a snapshot. It is separate, so that writing a large one does not delay appends.
fn snapshot_path(path: &Path, stream: &str) -> PathBuf {
    beside(path, &format!(".snapshot-{}", stream.replace('/', ".")))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
