//! Opens the database: format, settings, and errors for foreign files.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::migrate::migrate;
use crate::LogError;

/// "AGON": marks the file as ours.
const APPLICATION_ID: i64 = 0x4147_4f4e;

/// The format that this version writes; later versions must be able to read it.
pub(super) const FORMAT: i64 = 2;

/// One row of `records` is one decision, its events joined by newlines. Rows are only appended, and
/// each names the one before it in its stream (`prev`, 0 for the first). So a group of decisions of
/// many streams fills a few pages and changes no other; an index by stream would cost a page for
/// each of them. `lines` comes last, so that reading the other columns of a row reads one page.
///
/// A row of `streams` holds the end of its stream (`head`, its last record, and `version`) as of
/// its last update. Rows are updated when `mark` moves: `streams` covers all records up to the
/// mark, and those after it must be read (see [`super::tail`]).
pub(super) const TABLES: &str = "
    CREATE TABLE streams (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        head INTEGER NOT NULL,
        version INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        stream_id INTEGER NOT NULL,
        prev INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        count INTEGER NOT NULL,
        sum INTEGER,
        lines TEXT NOT NULL
    ) STRICT;
    CREATE TABLE mark (record_id INTEGER NOT NULL) STRICT;
";

/// Returns whether records have checksums, the CRC-32 of their lines. Records of the first versions
/// have none.
pub(super) fn has_sums(db: &Connection, table: &str) -> rusqlite::Result<bool> {
    let columns = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = 'sum'";
    db.query_row(columns, [table], |row| row.get::<_, i64>(0)).map(|count| count > 0)
}

/// WAL and FULL: a commit is one sync of the write-ahead log. The checkpoint, which costs two more,
/// comes after 8 MB: rarer ones cost less in total, but delay callers by 40 ms. Only the end of the
/// file is written, so a small cache is as good as a large one.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA wal_autocheckpoint = 2048;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -8192;
";

/// How long to wait for another program that uses the database.
const BUSY_WAIT: Duration = Duration::from_secs(5);

/// Opens the database for the writer, creating it if need be.
pub(super) fn open_writer(path: &Path) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let db = open(path, flags)?;
    let failed = |error| failure("open", path, &error);
    let found = check_format(&db, path)?;
    if found == 0 {
        create(&db).map_err(failed)?;
    }
    let set_journal = "PRAGMA journal_mode = WAL";
    let journal: String = db.query_row(set_journal, [], |row| row.get(0)).map_err(failed)?;
    if journal != "wal" {
        let reason = format!("cannot keep a write-ahead log here (journal mode {journal})");
        return Err(LogError::BadDatabase { path: path.to_owned(), reason });
    }
    db.execute_batch(SETTINGS).map_err(failed)?;
    if found == 1 {
        migrate(&db).map_err(failed)?;
    }
    Ok(db)
}

/// Opens an existing database to read it.
pub(super) fn open_reader(path: &Path) -> Result<Connection, LogError> {
    let empty = || {
        let reason = "the database is empty".to_owned();
        LogError::BadDatabase { path: path.to_owned(), reason }
    };
    open_existing(path)?.ok_or_else(empty)
}

/// Like `open_reader`, but returns `None` if the database is empty.
pub(super) fn open_existing(path: &Path) -> Result<Option<Connection>, LogError> {
    let db = open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    Ok((check_format(&db, path)? > 0).then_some(db))
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, LogError> {
    let failed = |error| failure("open", path, &error);
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(failed)?;
    db.busy_timeout(BUSY_WAIT).map_err(failed)?;
    Ok(db)
}

/// The format of the database; 0 if it is empty.
fn check_format(db: &Connection, path: &Path) -> Result<i64, LogError> {
    let number = |sql| db.query_row(sql, [], |row| row.get::<_, i64>(0));
    let found = number("SELECT count(*) FROM sqlite_schema")
        .and_then(|tables| Ok((tables, number("PRAGMA application_id")?)))
        .and_then(|(tables, id)| Ok((tables, id, number("PRAGMA user_version")?)));
    let path = path.to_owned();
    match found.map_err(|error| failure("open", &path, &error))? {
        (0, 0, 0) => Ok(0),
        (_, APPLICATION_ID, found @ 1..=FORMAT) => Ok(found),
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
         INSERT INTO mark VALUES (0);
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {FORMAT};
         COMMIT;"
    ))
}

/// Why something cannot be read or written.
#[derive(Debug)]
pub(super) enum Fault {
    /// An error of SQLite.
    Sqlite(rusqlite::Error),
    /// The file is sound, but its contents are not.
    Content(String),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::Sqlite(error)
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Sqlite(error) => error.fmt(out),
            Fault::Content(reason) => reason.fmt(out),
        }
    }
}

impl Fault {
    /// Converts the fault into an error for callers that read or open the log.
    pub(super) fn into_error(self, what: &'static str, path: &Path) -> LogError {
        match self {
            Fault::Sqlite(error) => failure(what, path, &error),
            Fault::Content(reason) => LogError::BadDatabase { path: path.to_owned(), reason },
        }
    }

    /// The nearest kind of I/O error.
    pub(super) fn kind(&self) -> io::ErrorKind {
        match self {
            Fault::Sqlite(error) => kind_of(error),
            Fault::Content(_) => io::ErrorKind::InvalidData,
        }
    }
}

/// Translates an error of SQLite for callers that read or open the log.
pub(super) fn failure(what: &'static str, path: &Path, error: &rusqlite::Error) -> LogError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            LogError::BadDatabase { path, reason: error.to_string() }
        }
        Some(_) => LogError::Io { what, path, kind: kind_of(error), message: error.to_string() },
        // A value of a wrong type or a missing row: the file is sound, but its content is not.
        None => LogError::BadDatabase { path, reason: error.to_string() },
    }
}

fn kind_of(error: &rusqlite::Error) -> io::ErrorKind {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        Some(ErrorCode::CannotOpen) => io::ErrorKind::NotFound,
        Some(ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => io::ErrorKind::PermissionDenied,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => io::ErrorKind::ResourceBusy,
        Some(ErrorCode::OutOfMemory) => io::ErrorKind::OutOfMemory,
        _ => io::ErrorKind::Other,
    }
}
