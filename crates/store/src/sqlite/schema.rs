//! Opening the database: format, settings, and what to say if it is not ours.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::LogError;

/// "AGON": marks the file as ours.
const APPLICATION_ID: i64 = 0x4147_4f4e;

/// The format this program writes; a later program must go on reading it.
const FORMAT: i64 = 1;

/// One row of `records` is one decision, its events joined by newlines. Rows are kept in the order
/// they were written in, with an index by stream: a group of decisions of many streams then fills
/// a few pages, while rows kept by stream would change a page for each, all of them to be written
/// and synced (measured with 1,024 streams: two and a half times as slow).
const TABLES: &str = "
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        version INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        stream_id INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        count INTEGER NOT NULL,
        lines TEXT NOT NULL,
        sum INTEGER,
        UNIQUE (stream_id, first_seq)
    ) STRICT;
";

/// Whether records have checksums, CRC-32 of their lines. The first programs kept none; what they
/// wrote has none, and they go on reading and writing what has.
pub(super) fn has_sums(db: &Connection) -> rusqlite::Result<bool> {
    let columns = "SELECT count(*) FROM pragma_table_info('records') WHERE name = 'sum'";
    db.query_row(columns, [], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// WAL and FULL: a commit is one sync of the write-ahead log. The checkpoint, which costs two
/// more, comes after 32 MB instead of 4 since a group may be as large as that by itself.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = 8192;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -32768;
";

/// How long to wait for another program that looks into the database.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Opens the database for the writer, creating it if need be.
pub(super) fn open_writer(path: &Path) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let db = open(path, flags)?;
    let failed = |error| failure("open", path, &error);
    if check_format(&db, path)? == 0 {
        create(&db).map_err(failed)?;
    }
    let set_journal = "PRAGMA journal_mode = WAL";
    let journal: String = db.query_row(set_journal, [], |row| row.get(0)).map_err(failed)?;
    if journal != "wal" {
        let reason = format!("cannot keep a write-ahead log here (journal mode {journal})");
        return Err(LogError::BadDatabase { path: path.to_owned(), reason });
    }
    db.execute_batch(SETTINGS).map_err(failed)?;
    if !has_sums(&db).map_err(failed)? {
        db.execute_batch("ALTER TABLE records ADD COLUMN sum INTEGER").map_err(failed)?;
    }
    Ok(db)
}

/// Opens an existing database to read it.
pub(super) fn open_reader(path: &Path) -> Result<Connection, LogError> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    if check_format(&db, path)? == 0 {
        let reason = "the database is empty".to_owned();
        return Err(LogError::BadDatabase { path: path.to_owned(), reason });
    }
    Ok(db)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, LogError> {
    let failed = |error| failure("open", path, &error);
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(failed)?;
    db.busy_timeout(BUSY_WAIT).map_err(failed)?;
    Ok(db)
}

/// The format of the database, 0 if there is nothing in it yet.
fn check_format(db: &Connection, path: &Path) -> Result<i64, LogError> {
    let number = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let found = number("SELECT count(*) FROM sqlite_schema")
        .and_then(|tables| Ok((tables, number("PRAGMA application_id")?)))
        .and_then(|(tables, id)| Ok((tables, id, number("PRAGMA user_version")?)));
    let path = path.to_owned();
    match found.map_err(|error| failure("open", &path, &error))? {
        (0, 0, 0) => Ok(0),
        (_, APPLICATION_ID, FORMAT) => Ok(FORMAT),
        (_, APPLICATION_ID, found) if found > FORMAT => {
            Err(LogError::Newer { path, found, known: FORMAT })
        }
        _ => {
            let reason = "the database belongs to another program".to_owned();
            Err(LogError::BadDatabase { path, reason })
        }
    }
}

fn create(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE; {TABLES}
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {FORMAT};
         COMMIT;"
    ))
}

/// What an error of SQLite means to those who read or open the log.
pub(super) fn failure(what: &'static str, path: &Path, error: &rusqlite::Error) -> LogError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            LogError::BadDatabase { path, reason: error.to_string() }
        }
        Some(_) => LogError::Io { what, path, kind: kind_of(error), message: error.to_string() },
        // A value of a wrong type, a missing row: the file is sound, its content is not.
        None => LogError::BadDatabase { path, reason: error.to_string() },
    }
}

/// The nearest kind of I/O error.
pub(super) fn kind_of(error: &rusqlite::Error) -> io::ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        Some(ErrorCode::CannotOpen) => io::ErrorKind::NotFound,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => io::ErrorKind::PermissionDenied,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io::ErrorKind::ResourceBusy,
        Some(ErrorCode::OutOfMemory) => io::ErrorKind::OutOfMemory,
        _ => io::ErrorKind::Other,
    }
}
