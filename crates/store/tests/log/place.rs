//! Somewhere to keep a log, so that a test can open it again; and events to put in it.

use std::sync::Arc;

use agon_store::{Append, Claim, FileLog, Log, MemoryLog, PostgresLog, SqliteLog, Sync};
use tempfile::TempDir;

/// Each way to keep a log.
pub(crate) enum Place {
    /// Opening it again gives the same one.
    Memory(Arc<MemoryLog>),
    /// A folder of files.
    File(TempDir, Sync),
    /// A database in a folder.
    Sqlite(TempDir),
    /// A database of a server, by its address.
    Postgres(String),
}

impl Place {
    pub(crate) fn memory() -> Self {
        Place::Memory(Arc::default())
    }

    pub(crate) fn file_process() -> Self {
        Place::File(tempfile::tempdir().unwrap(), Sync::Process)
    }

    pub(crate) fn file_always() -> Self {
        Place::File(tempfile::tempdir().unwrap(), Sync::Always)
    }

    pub(crate) fn sqlite() -> Self {
        Place::Sqlite(tempfile::tempdir().unwrap())
    }

    /// Opens the log, which must not be open already.
    pub(crate) fn open(&self) -> Arc<dyn Log> {
        match self {
            Place::Memory(log) => Arc::clone(log) as Arc<dyn Log>,
            Place::File(dir, sync) => Arc::new(FileLog::open(dir.path(), *sync).unwrap()),
            Place::Sqlite(dir) => Arc::new(SqliteLog::open(dir.path().join("log.db")).unwrap()),
            Place::Postgres(url) => {
                let node = crate::postgres::node("alone");
                let log = PostgresLog::open(url, node, |_| "all").unwrap();
                assert!(matches!(log.claim("all"), Ok(Claim::Owned(_))));
                Arc::new(log)
            }
        }
    }
}

/// A decision of `count` events whose data is `tag`.
pub(crate) fn decision(stream: &str, expected: u64, count: u64, tag: &str) -> Append {
    let line = |index| {
        let (seq, more) = (expected + 1 + index, count - 1 - index);
        let head = format!(r#""v":1,"stream":"{stream}","seq":{seq},"at":0,"more":{more}"#);
        format!(r#"{{{head},"type":"t","data":"{tag}"}}"#)
    };
    Append { stream: stream.into(), expected, lines: (0..count).map(line).collect() }
}
