//! Looking at a log that may be damaged: every stream up to its first bad record.
//!
//! Reading a log refuses what is damaged. Whoever has to find out how much is left reads it here,
//! and gets what is sound before the first record that is not. Nothing is changed.

use std::path::{Path, PathBuf};

use crate::file::{inspect_file, stream_files};
use crate::lock::Lock;
use crate::sqlite::{Reader, lock_path};
use crate::{FileLog, LogError};

/// What a stream holds, as far as it is sound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// The events of all decisions before the first bad one.
    pub lines: Vec<String>,
    /// What is wrong with the next.
    pub damage: Option<Damage>,
}

/// The first bad record of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The number of its first event.
    pub seq: u64,
    /// What is wrong.
    pub reason: String,
    /// Whether a crash explains it: the last decision of a file was not written to its end, and
    /// nobody was told of it.
    pub torn: bool,
}

/// Reads a log that may be damaged.
pub struct Inspector {
    place: Place,
}

enum Place {
    Sqlite(Reader),
    Folder(PathBuf),
}

impl Inspector {
    /// Over a SQLite database, as of now, even while a server writes it.
    pub fn of_sqlite(path: impl AsRef<Path>) -> Result<Inspector, LogError> {
        let reader = Reader::open(path.as_ref())?;
        reader.hold_still()?;
        Ok(Inspector { place: Place::Sqlite(reader) })
    }

    /// Over a folder of files.
    pub fn of_folder(dir: impl AsRef<Path>) -> Result<Inspector, LogError> {
        // Says what is wrong if there is no such folder.
        FileLog::open_read_only(dir.as_ref())?;
        Ok(Inspector { place: Place::Folder(dir.as_ref().to_owned()) })
    }

    /// What is wrong with the database as a file, apart from what is in it.
    pub fn pages(&self) -> Result<(), LogError> {
        match &self.place {
            Place::Sqlite(reader) => reader.check_pages(),
            Place::Folder(_) => Ok(()),
        }
    }

    /// All streams, by name.
    pub fn streams(&self) -> Result<Vec<String>, LogError> {
        match &self.place {
            Place::Sqlite(reader) => {
                Ok(reader.streams()?.into_iter().map(|(name, _)| name).collect())
            }
            Place::Folder(dir) => stream_files(dir),
        }
    }

    /// A stream up to its first bad record.
    pub fn inspect(&self, stream: &str) -> Inspection {
        match &self.place {
            Place::Sqlite(reader) => reader.inspect(stream),
            Place::Folder(dir) => inspect_file(dir, stream),
        }
    }
}

/// Keeps everybody else from writing a database, also one that cannot be opened.
#[derive(Debug)]
pub struct Hold {
    _lock: Lock,
}

impl Hold {
    /// Takes the place of the writer.
    pub fn take(database: impl AsRef<Path>) -> Result<Hold, LogError> {
        let path = database.as_ref();
        Ok(Hold { _lock: Lock::take(&lock_path(path), path)? })
    }
}
