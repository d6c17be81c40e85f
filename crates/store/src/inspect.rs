//! Reads a log that may be damaged: every stream up to its first bad record.
//!
//! Normal reads reject a damaged stream. This module returns the sound records before the first bad
//! one, and changes nothing.

use std::path::{Path, PathBuf};

use crate::file::{inspect_file, stream_files};
use crate::lock::Lock;
use crate::sqlite::{Reader, lock_path};
use crate::{FileLog, LogError};

/// The sound part of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// The events of all decisions before the first bad one.
    pub lines: Vec<String>,
    /// The damage after that, if any.
    pub damage: Option<Damage>,
}

/// The first bad record of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The number of its first event.
    pub seq: u64,
    /// The damage to the record.
    pub reason: String,
    /// True if a crash explains it: the last decision of a file is incomplete, and was never
    /// acknowledged.
    pub torn: bool,
}

/// Reads a log that may be damaged.
pub struct Inspector {
    place: InspectedLog,
}

enum InspectedLog {
    Sqlite(Box<Reader>),
    Folder(PathBuf),
}

impl Inspector {
    /// Inspects a SQLite database as of now, even while a server writes it.
    pub fn of_sqlite(path: impl AsRef<Path>) -> Result<Inspector, LogError> {
        let reader = Reader::open(path.as_ref())?;
        reader.hold_still()?;
        Ok(Inspector { place: InspectedLog::Sqlite(Box::new(reader)) })
    }

    /// Inspects a folder of files.
    pub fn of_folder(dir: impl AsRef<Path>) -> Result<Inspector, LogError> {
        // Fails if there is no such folder.
        FileLog::open_read_only(dir.as_ref())?;
        Ok(Inspector { place: InspectedLog::Folder(dir.as_ref().to_owned()) })
    }

    /// Checks the database file itself, apart from its contents.
    pub fn pages(&self) -> Result<(), LogError> {
        match &self.place {
            InspectedLog::Sqlite(reader) => reader.check_pages(),
            InspectedLog::Folder(_) => Ok(()),
        }
    }

    /// All streams, by name.
    pub fn streams(&self) -> Result<Vec<String>, LogError> {
        match &self.place {
            InspectedLog::Sqlite(reader) => {
                Ok(reader.streams()?.into_iter().map(|(name, _)| name).collect())
            }
            InspectedLog::Folder(dir) => stream_files(dir),
        }
    }

    /// A stream up to its first bad record.
    pub fn inspect(&self, stream: &str) -> Inspection {
        match &self.place {
            InspectedLog::Sqlite(reader) => reader.inspect(stream),
            InspectedLog::Folder(dir) => inspect_file(dir, stream),
        }
    }
}

/// Prevents all other processes from writing a database, even one that cannot be opened.
#[derive(Debug)]
pub struct Hold {
    _lock: Lock,
}

impl Hold {
    /// Takes the writer's lock.
    pub fn take(database: impl AsRef<Path>) -> Result<Hold, LogError> {
        let path = database.as_ref();
        Ok(Hold { _lock: Lock::take(&lock_path(path), path)? })
    }
}
