//! The watermark: a small file beside the database with the number of acknowledged records, so that
//! a start detects missing ones.
//!
//! SQLite ends its write-ahead log at the first frame that differs from what was written. It must
//! do so, because a crash in the middle of a commit looks the same. So one changed bit, or a
//! removed file, drops every record behind it without an error. The watermark is kept apart from
//! both files.
//!
//! After a commit is durable, and before it is acknowledged, the writer notes the number of the
//! last record in the file. The note never claims more than is durable. The operating system has
//! the note at once, so it survives the end of the process. A thread syncs it to the disk soon
//! after, so it also survives a power failure, except for the last moments. Two places are written
//! in turn: when a crash tears one, the other holds the state one commit earlier.
//!
//! The writer also checks that its files are still in their folder: with every commit, but at most
//! fifty times a second. A log whose folder was removed accepts no more records.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use super::beside;
use super::schema::{Fault, failure, open_existing};
use crate::LogError;
use crate::disk::{create_private, sync_above};

/// Each place is on a page of its own, so a torn write affects only one of them.
const PLACE_BYTES: u64 = 4096;
const NOTE_BYTES: usize = 36;
const MAGIC: [u8; 8] = *b"AGONMARK";

/// How long a note may wait for its sync. Every sync takes disk time from commits.
const SYNC_EVERY: Duration = Duration::from_millis(200);

/// How long the writer assumes that its files still exist. A check takes some microseconds, or
/// longer if others use the disk.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The database's own data about its watermark. The table exists only once there is a watermark.
const HAS_TABLE: &str = "SELECT count(*) FROM sqlite_schema WHERE name = 'watermark'";
const ID: &str = "SELECT id FROM watermark";
const LAST: &str = "SELECT coalesce(max(id), 0) FROM records";
const KEEP: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS watermark (id INTEGER NOT NULL) STRICT;
    DELETE FROM watermark;
    INSERT INTO watermark VALUES (?1);
    COMMIT;";
const FORGET: &str = "DROP TABLE IF EXISTS watermark";

/// One note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Note {
    /// How many notes there were before.
    number: u64,
    /// The id of the database.
    id: i64,
    /// The last record of the database.
    last: u64,
}

impl Note {
    fn write(self) -> [u8; NOTE_BYTES] {
        let mut bytes = [0; NOTE_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.id.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.last.to_le_bytes());
        let sum = crc32fast::hash(&bytes[..32]);
        bytes[32..].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Note> {
        let bytes: &[u8; NOTE_BYTES] = bytes.get(..NOTE_BYTES)?.try_into().ok()?;
        let word = |at: usize| bytes[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let sum = u32::from_le_bytes(bytes[32..].try_into().ok()?);
        let sound = bytes[..8] == MAGIC && sum == crc32fast::hash(&bytes[..32]);
        let (number, id, last) = (word(8)?, word(16)?.cast_signed(), word(24)?);
        sound.then_some(Note { number, id, last })
    }
}

/// The contents of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Missing,
    /// Neither place can be read.
    Damaged,
    Note(Note),
}

fn find(path: &Path) -> Result<Found, LogError> {
    let file = file_path(path);
    let mut bytes = Vec::new();
    match File::open(&file).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Missing),
        read => read.map_err(|error| LogError::io("read", &file, &error))?,
    };
    let notes = [0, PLACE_BYTES as usize].map(|at| Note::read(bytes.get(at..).unwrap_or(&[])));
    let latest = notes.into_iter().flatten().max_by_key(|note| note.number);
    Ok(latest.map_or(Found::Damaged, Found::Note))
}

/// The contents of the database.
struct Held {
    last: u64,
    id: Option<i64>,
}

/// `None` without a database, or with an empty one. Changes nothing, so that a damaged write-ahead
/// log stays as it is.
fn held(path: &Path) -> Result<Option<Held>, LogError> {
    if !path.exists() {
        return Ok(None);
    }
    let Some(db) = open_existing(path)? else { return Ok(None) };
    held_by(&db).map(Some).map_err(|fault| fault.into_error("read", path))
}

fn held_by(db: &Connection) -> Result<Held, Fault> {
    let last = db.query_row(LAST, [], |row| row.get::<_, i64>(0))?.cast_unsigned();
    let has_table = db.query_row(HAS_TABLE, [], |row| row.get::<_, i64>(0))? > 0;
    let id = match has_table {
        true => db.query_row(ID, [], |row| row.get(0)).optional()?,
        false => None,
    };
    Ok(Held { last, id })
}

/// Fails if acknowledged records are missing in the database.
pub(super) fn check(path: &Path) -> Result<(), LogError> {
    // Read before the database, because a running server may add records in between.
    let found = find(path)?;
    compare(path, found, held(path)?.as_ref())
}

/// Like `check`, for readers: they accept a database without a watermark, which may be a copy.
pub(super) fn check_for_reading(path: &Path) -> Result<(), LogError> {
    match find(path)? {
        Found::Missing => Ok(()),
        _ => check(path),
    }
}

/// Like `check`, for a connection that reads as of the instant that `begin` sets.
pub(super) fn check_instant(
    path: &Path,
    db: &Connection,
    begin: impl FnOnce() -> Result<(), LogError>,
) -> Result<Option<LogError>, LogError> {
    let found = find(path)?;
    begin()?;
    // Other checks find a database that cannot be read at all.
    let held = held_by(db).ok();
    Ok(held.and_then(|held| compare(path, found, Some(&held)).err()))
}

fn compare(path: &Path, found: Found, held: Option<&Held>) -> Result<(), LogError> {
    let unknown = |what| LogError::BadWatermark { path: file_path(path), what };
    let last = held.map_or(0, |held| held.last);
    match (found, held.and_then(|held| held.id)) {
        (Found::Note(note), Some(id)) if note.id != id => {
            Err(unknown("it belongs to another database"))
        }
        (Found::Note(note), _) if last < note.last => {
            let (path, acknowledged) = (path.to_owned(), note.last);
            Err(LogError::Lost { path, found: last, acknowledged })
        }
        (Found::Missing, Some(_)) => Err(unknown("it is missing")),
        (Found::Damaged, Some(_)) => Err(unknown("it is damaged")),
        _ => Ok(()),
    }
}

/// How many records were acknowledged, according to the watermark of a database.
pub(super) fn acknowledged(path: &Path) -> Option<u64> {
    match find(path) {
        Ok(Found::Note(note)) => Some(note.last),
        _ => None,
    }
}

/// Removes the watermark's data from a copy of a database, so that the copy can be used without
/// one.
pub(super) fn forget(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(FORGET)
}

/// The watermark as the writer uses it.
pub(super) struct Watermark {
    file: Arc<File>,
    note: Note,
    files: Vec<KnownFile>,
    /// When the writer last checked that the files exist.
    looked_at: Instant,
    syncer: Syncer,
}

impl Watermark {
    /// Opens the watermark of a checked database, and creates it if necessary.
    pub(super) fn open(path: &Path, db: &Connection) -> Result<Watermark, LogError> {
        let own = file_path(path);
        let failed = |error| LogError::io("write", &own, &error);
        let held = held_by(db).map_err(|fault| fault.into_error("open", path))?;
        let file = match (find(path)?, held.id) {
            (Found::Note(note), Some(_)) => {
                let file = OpenOptions::new().write(true).open(&own).map_err(failed)?;
                (file, Note { last: held.last, ..note })
            }
            _ => create(path, db, held.last)?,
        };
        let (file, note) = file;
        let file = Arc::new(file);
        let files = [path.to_owned(), beside(path, "-wal"), own.clone()];
        let files =
            files.into_iter().map(KnownFile::of).collect::<io::Result<_>>().map_err(failed)?;
        let syncer = Syncer::start(Arc::clone(&file)).map_err(failed)?;
        let looked_at = Instant::now();
        let mut watermark = Watermark { file, note, files, looked_at, syncer };
        watermark.write(held.last).map_err(failed)?;
        Ok(watermark)
    }

    /// Notes the last record of a durable commit, if the files of the log still exist.
    pub(super) fn note(&mut self, last: u64) -> Result<(), Fault> {
        let gone = |what: String| Err(Fault::Content(what));
        let now = Instant::now();
        if now.duration_since(self.looked_at) > LOOK_EVERY {
            if let Some(place) = self.files.iter().find(|place| !place.is_there()) {
                let path = place.path.display();
                return gone(format!("{path} was removed or replaced while the log was open"));
            }
            if let Some(why) = self.syncer.failure() {
                return gone(format!("failed to sync the watermark: {why}"));
            }
            self.looked_at = now;
        }
        match last > self.note.last {
            true => self.write(last).or_else(|why| gone(format!("failed to note records: {why}"))),
            false => Ok(()),
        }
    }

    fn write(&mut self, last: u64) -> io::Result<()> {
        self.note = Note { number: self.note.number + 1, last, ..self.note };
        let at = (self.note.number % 2) * PLACE_BYTES;
        write_at(&self.file, &self.note.write(), at)?;
        self.syncer.wake();
        Ok(())
    }
}

/// Creates a watermark: first the file, then the entry in the database. A crash in between leaves a
/// file that claims no more than exists.
fn create(path: &Path, db: &Connection, last: u64) -> Result<(File, Note), LogError> {
    let own = file_path(path);
    let failed = |error| LogError::io("make", &own, &error);
    let refused = |error| failure("open", path, &error);
    let id = db.query_row("SELECT random()", [], |row| row.get(0)).map_err(refused)?;
    let note = Note { number: 0, id, last };
    let file = create_private(&own).map_err(failed)?;
    file.set_len(2 * PLACE_BYTES).map_err(failed)?;
    // Both places, so that no later write needs room on the disk.
    let written = [0, PLACE_BYTES].into_iter().try_for_each(|at| {
        let mut page = vec![0; PLACE_BYTES as usize];
        page[..NOTE_BYTES].copy_from_slice(&note.write());
        write_at(&file, &page, at)
    });
    written.and_then(|()| file.sync_all()).map_err(failed)?;
    sync_above(&own).map_err(failed)?;
    db.execute_batch(&KEEP.replace("?1", &id.to_string())).map_err(refused)?;
    Ok((file, note))
}

/// The suffix of the file's name after that of the database.
pub(super) const END: &str = ".watermark";

pub(super) fn file_path(path: &Path) -> PathBuf {
    beside(path, END)
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// A file that the log writes, and its identity when it was opened.
struct KnownFile {
    path: PathBuf,
    identity: (u64, u64),
}

impl KnownFile {
    fn of(path: PathBuf) -> io::Result<KnownFile> {
        let identity = identity(&path)?;
        Ok(KnownFile { path, identity })
    }

    fn is_there(&self) -> bool {
        identity(&self.path).is_ok_and(|found| found == self.identity)
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::metadata(path).map(|_| (0, 0))
}

/// The thread that syncs the file, so that no commit waits for it.
struct Syncer {
    shared: Arc<(Mutex<Work>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Work {
    is_due: bool,
    is_over: bool,
    failure: Option<String>,
}

impl Syncer {
    fn start(file: Arc<File>) -> io::Result<Syncer> {
        let shared = Arc::<(Mutex<Work>, Condvar)>::default();
        let own = Arc::clone(&shared);
        let name = "log-watermark".to_owned();
        let thread = thread::Builder::new().name(name).spawn(move || serve(&file, &own))?;
        Ok(Syncer { shared, thread: Some(thread) })
    }

    fn wake(&self) {
        let mut work = lock(&self.shared.0);
        if !std::mem::replace(&mut work.is_due, true) {
            self.shared.1.notify_one();
        }
    }

    fn failure(&self) -> Option<String> {
        lock(&self.shared.0).failure.clone()
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        lock(&self.shared.0).is_over = true;
        self.shared.1.notify_one();
        if let Some(thread) = self.thread.take() {
            // The thread does not panic; if it did, the panic hook has reported it.
            let _ = thread.join();
        }
    }
}

fn serve(file: &File, (work, stirred): &(Mutex<Work>, Condvar)) {
    loop {
        let mut held = lock(work);
        while !held.is_due && !held.is_over {
            held = stirred.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        let is_over = held.is_over;
        held.is_due = false;
        drop(held);
        if let Err(error) = file.sync_data() {
            lock(work).failure.get_or_insert_with(|| error.to_string());
        }
        if is_over {
            return;
        }
        let held = lock(work);
        let paused = stirred.wait_timeout_while(held, SYNC_EVERY, |work| !work.is_over);
        drop(paused.unwrap_or_else(PoisonError::into_inner));
    }
}

fn lock(work: &Mutex<Work>) -> MutexGuard<'_, Work> {
    work.lock().unwrap_or_else(PoisonError::into_inner)
}
