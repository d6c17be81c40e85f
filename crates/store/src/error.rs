//! The errors of the store.
//!
//! A failed commit reports its error to every append of the group, so errors can be cloned. That is
//! why an I/O error is kept as its kind and its message.

use std::io;
use std::path::{Path, PathBuf};

/// Why an append was rejected. Readers see nothing of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The stream does not have the version that the writer expected: another writer uses it.
    #[error("stream {stream} is at version {actual}, not {expected}")]
    Conflict {
        /// The stream.
        stream: String,
        /// The version the writer expected.
        expected: u64,
        /// The version the stream has.
        actual: u64,
    },
    /// The name of the stream is not allowed.
    #[error("invalid stream name {stream:?}: {reason}")]
    BadStream {
        /// The name, or the beginning of a long one.
        stream: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// A line is not an event of this stream at this place.
    #[error("invalid event line {line} for stream {stream}: {reason}")]
    BadLine {
        /// The stream.
        stream: String,
        /// Which line of the append, from 1.
        line: usize,
        /// The reason.
        reason: String,
    },
    /// The append has no lines, or is larger than a log accepts at once.
    #[error(
        "an append to stream {stream} has {bytes} bytes; it must have between 1 and \
        {bytes_max}"
    )]
    BadSize {
        /// The stream.
        stream: String,
        /// The size of all lines.
        bytes: usize,
        /// The largest allowed size.
        bytes_max: usize,
    },
    /// The disk is full or failing. The append may be retried. In the rare case that only the last
    /// sync failed, and the log was opened again since, a conflict then shows that the disk holds
    /// the append.
    #[error("failed to write stream {stream}: {message}")]
    Io {
        /// The stream.
        stream: String,
        /// The kind of failure; `StorageFull` for a full disk.
        kind: io::ErrorKind,
        /// The failure in words.
        message: String,
    },
    /// After an earlier failure the contents of the disk are unknown; open the log again.
    #[error("stream {stream} takes no more events since a failed write: {message}")]
    Poisoned {
        /// The stream.
        stream: String,
        /// The failure that poisoned the stream.
        message: String,
    },
    /// Another node has claimed the part of the log that the stream belongs to. This node must
    /// forget the part, and must send nothing about it.
    #[error("stream {stream} is not written: this node does not own {cell}")]
    Fenced {
        /// The stream.
        stream: String,
        /// The part of the log.
        cell: String,
    },
    /// The events already in the stream cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LogError),
    /// The log was opened for reading only.
    #[error("the log is open for reading only")]
    ReadOnly,
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}

/// Why the log could not be opened or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The disk failed, or something is missing or forbidden.
    #[error("failed to {what} {path}: {message}", path = path.display())]
    Io {
        /// The failed action: "open", "read".
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The failure in words.
        message: String,
    },
    /// The stored data differs from what was written.
    #[error("{path}:{line}: {reason}", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The damage.
        reason: String,
    },
    /// The database is damaged, or does not belong to Agon.
    #[error("{path}: {reason}", path = path.display())]
    BadDatabase {
        /// The database file.
        path: PathBuf,
        /// The problem with the database.
        reason: String,
    },
    /// Acknowledged records are missing in the database.
    #[error(
        "{path}: {lost} acknowledged records are gone: it ends with record {found}, and {acknowledged} \
         were acknowledged. The database or its write-ahead log was damaged, removed or replaced. \
         Put a copy back, or accept the loss with `agon log repair --apply`",
        path = path.display(), lost = acknowledged - found
    )]
    Lost {
        /// The database file.
        path: PathBuf,
        /// The last record in the database.
        found: u64,
        /// The last record that was acknowledged.
        acknowledged: u64,
    },
    /// The watermark cannot be used.
    #[error(
        "{path}: {what}, so it is not known whether acknowledged records are gone. Put it back, or \
         accept what is there with `agon log repair --apply`",
        path = path.display()
    )]
    BadWatermark {
        /// The file.
        path: PathBuf,
        /// The reason.
        what: &'static str,
    },
    /// A record is damaged or missing.
    #[error("{path}: stream {stream}, event {seq}: {reason}", path = path.display())]
    BadRecord {
        /// The database file.
        path: PathBuf,
        /// The stream.
        stream: String,
        /// The first missing or damaged event.
        seq: u64,
        /// The problem with the event.
        reason: String,
    },
    /// A snapshot cannot be used. The log still has everything.
    #[error("the snapshot of stream {stream} is not used: {reason}")]
    BadSnapshot {
        /// The stream.
        stream: String,
        /// The problem with the snapshot.
        reason: String,
    },
    /// A later version of this program wrote the database.
    #[error(
        "{path} has format {found}, this program knows formats up to {known}: use a later version",
        path = path.display()
    )]
    Newer {
        /// The database file.
        path: PathBuf,
        /// The format of the database.
        found: i64,
        /// The latest format this program knows.
        known: i64,
    },
    /// Another process has the log open for writing.
    #[error("{path} is in use by another process{holder}", path = path.display())]
    Locked {
        /// The folder or database.
        path: PathBuf,
        /// The process that holds the lock, as ` (pid 123)`; empty if unknown.
        holder: String,
    },
    /// The name of the stream is not allowed.
    #[error("bad stream name {0:?}")]
    BadStream(String),
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
}

impl LogError {
    pub(crate) fn io(what: &'static str, path: &Path, error: &io::Error) -> Self {
        let (kind, message) = (error.kind(), error.to_string());
        LogError::Io { what, path: path.to_owned(), kind, message }
    }
}

impl AppendError {
    pub(crate) fn io(stream: &str, error: &io::Error) -> Self {
        AppendError::Io {
            stream: stream.to_owned(),
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}
