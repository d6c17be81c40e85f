//! Copies a database while a server writes it, and replaces a database by another.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::reader::Reader;
use super::schema::{failure, open_reader};
use super::{SqliteLog, beside, snapshot_path, watermark};
use crate::LogError;
use crate::disk::{create_private, sync_above};

/// The contents of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Streams.
    pub streams: u64,
    /// Events in all of them.
    pub events: u64,
    /// The size of the file.
    pub bytes: u64,
}

impl SqliteLog {
    /// Copies a database at one instant to a new file, even while a server writes it, and checks
    /// every event of the copy. A failure leaves no file behind.
    pub fn backup(from: impl AsRef<Path>, to: impl AsRef<Path>) -> Result<Backup, LogError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        let part = beside(to, ".part");
        if to.exists() {
            let error = std::io::Error::new(ErrorKind::AlreadyExists, "it is there already");
            return Err(LogError::io("make", to, &error));
        }
        let copied = copy(from, &part).and_then(|copied| {
            // Renamed at the end, so that the file is always complete.
            let named = fs::rename(&part, to).and_then(|()| sync_above(to));
            named.map_err(|error| LogError::io("name", to, &error))?;
            Ok(copied)
        });
        if copied.is_err() {
            let _ = fs::remove_file(&part);
        }
        copied
    }

    /// Replaces the database at `path` by `by`. The old one stays under the returned name. The
    /// caller must hold the lock at `path`, and nobody may have `by` open.
    pub fn replace(path: impl AsRef<Path>, by: impl AsRef<Path>) -> Result<PathBuf, LogError> {
        let (path, by) = (path.as_ref(), by.as_ref());
        let failed = |error| LogError::io("replace", path, &error);
        let kept = free_name(path);
        // The write-ahead log belongs only to the database for which it was written.
        let wal = beside(path, "-wal");
        if wal.exists() {
            keep(&wal, &beside(&kept, "-wal")).map_err(failed)?;
        }
        let own = watermark::file_path(path);
        if own.exists() {
            keep(&own, &watermark::file_path(&kept)).map_err(failed)?;
        }
        keep(path, &kept).and_then(|()| sync_above(path)).map_err(failed)?;
        for end in ["-wal", "-shm"] {
            remove(&beside(path, end)).map_err(failed)?;
        }
        remove(&snapshot_path(path, "lobby")).map_err(failed)?;
        // After a crash before the second rename, the log refuses to open, so no loss goes
        // unnoticed.
        fs::rename(by, path).map_err(failed)?;
        let new = watermark::file_path(by);
        match new.exists() {
            true => fs::rename(&new, &own).map_err(failed)?,
            false => remove(&own).map_err(failed)?,
        }
        sync_above(path).map_err(failed)?;
        Ok(kept)
    }
}

impl SqliteLog {
    /// Renames the rest of an unreadable database, so that a server starts with an empty log. The
    /// caller must hold the lock at `path`.
    pub fn set_aside(path: impl AsRef<Path>) -> Result<PathBuf, LogError> {
        let path = path.as_ref();
        let failed = |error| LogError::io("put aside", path, &error);
        let kept = free_name(path);
        for end in ["", "-wal", watermark::END] {
            match fs::rename(beside(path, end), beside(&kept, end)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        remove(&beside(path, "-shm")).map_err(failed)?;
        remove(&snapshot_path(path, "lobby")).map_err(failed)?;
        sync_above(path).map_err(failed)?;
        Ok(kept)
    }
}

/// A free name for a damaged database and its watermark.
fn free_name(path: &Path) -> PathBuf {
    let names = (1..).map(|number| beside(path, &format!(".damaged-{number}")));
    let mut free = names.filter(|name| !name.exists() && !watermark::file_path(name).exists());
    free.next().expect("fewer files than numbers")
}

fn copy(from: &Path, part: &Path) -> Result<Backup, LogError> {
    let failed = |what| move |error| LogError::io(what, part, &error);
    // Created here, so that only its owner may read it from the first byte on.
    create_private(part).map_err(failed("make"))?;
    let db = open_reader(from)?;
    db.execute("VACUUM INTO ?1", [part.to_string_lossy()])
        .map_err(|error| failure("copy", from, &error))?;
    // The copy has no watermark, so it can be used anywhere.
    Connection::open(part)
        .and_then(|copy| watermark::forget(&copy))
        .map_err(|error| failure("copy", part, &error))?;
    File::open(part).and_then(|file| file.sync_all()).map_err(failed("write"))?;
    let reader = Reader::open(part)?;
    let streams = reader.streams()?;
    reader.check()?;
    let events = streams.iter().map(|(_, version)| version).sum();
    let bytes = fs::metadata(part).map_err(failed("read"))?.len();
    Ok(Backup { streams: streams.len() as u64, events, bytes })
}

/// A hard link to a file, or a copy if the file system has no hard links.
fn keep(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::hard_link(from, to).or_else(|_| {
        fs::copy(from, to)?;
        File::open(to)?.sync_all()
    })
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
