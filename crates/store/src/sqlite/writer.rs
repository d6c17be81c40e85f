//! Writes the database: a group of appends is a transaction.
//!
//! An append adds a row to `records` and changes nothing else. The ends of streams are in memory,
//! and are written to `streams` now and then, together with the mark up to which they are valid.

use rusqlite::{Connection, OptionalExtension};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

use super::schema::Fault;
use super::tail::{Head, Tail};
use crate::append::Answers;
use crate::{Append, AppendError};

/// The number of streams whose end is kept in memory; a server may run for years.
const STREAMS_MAX: usize = 100_000;

/// How many records may follow the mark: few enough to read them when the log is opened, and many
/// enough to make moving the mark cheap. It costs a row for every stream that has grown.
pub(super) const UNMARKED_MIN: u64 = 20_000;
const UNMARKED_MAX: u64 = 10 * UNMARKED_MIN;
const UNMARKED_PER_STREAM: u64 = 20;

const BEGIN: &str = "BEGIN IMMEDIATE";
const COMMIT: &str = "COMMIT";
const CHANGES: &str = "PRAGMA data_version";
const FIND: &str = "SELECT id, head, version FROM streams WHERE name = ?1";
const CREATE: &str = "INSERT INTO streams (name, head, version) VALUES (?1, 0, ?2)";
const INSERT: &str = "INSERT INTO records (stream_id, prev, first_seq, count, sum, lines) VALUES";
const ROW: &str = "(?,?,?,?,?,?)";
const ADVANCE: &str = "UPDATE streams SET head = ?2, version = ?3 WHERE id = ?1";
const MARK: &str = "UPDATE mark SET record_id = ?1";

/// How many records one statement inserts, the most first. Every statement opens the table and looks
/// for its end.
const INSERTED_AT_ONCE: [usize; 3] = [16, 4, 1];

/// The connection keeps every statement prepared: there are fewer than its cache has room for.
pub(super) struct Writer {
    db: Connection,
    ends: Ends,
    /// SQLite's counter of foreign changes when `ends` was known to be right; `None` if it is not.
    known: Option<i64>,
}

/// Where the streams of the database end, or will after the current transaction.
#[derive(Default)]
struct Ends {
    streams: FxHashMap<Arc<str>, Stream>,
    /// The last record.
    last: i64,
    unmarked: u64,
    /// How many streams have grown since the mark.
    grown: u64,
    /// The statements that insert records, by [`INSERTED_AT_ONCE`].
    inserts: [String; INSERTED_AT_ONCE.len()],
}

/// A record that is not inserted yet.
struct NewRecord<'a> {
    stream_id: i64,
    prev: i64,
    first_seq: i64,
    count: isize,
    lines: Cow<'a, str>,
}

struct Stream {
    id: i64,
    head: Head,
    /// True if the stream has grown since the mark.
    grown: bool,
}

impl Writer {
    pub(super) fn new(db: Connection) -> rusqlite::Result<Self> {
        let inserts =
            INSERTED_AT_ONCE.map(|rows| INSERT.to_owned() + &[ROW].repeat(rows).join(","));
        let inserts_sql = inserts.iter().map(String::as_str);
        for sql in
            [BEGIN, COMMIT, CHANGES, FIND, CREATE, ADVANCE, MARK].into_iter().chain(inserts_sql)
        {
            db.prepare_cached(sql)?;
        }
        let ends = Ends { inserts, ..Ends::default() };
        Ok(Writer { db, ends, known: None })
    }

    #[cfg(test)]
    pub(super) fn db(&self) -> &Connection {
        &self.db
    }

    /// Makes a group durable, and updates the watermark before it acknowledges anything. A conflict
    /// fails one append; a failure of the disk fails all of them, and the transaction is rolled
    /// back.
    pub(super) fn commit(
        &mut self,
        group: &[&[Append]],
        note: impl FnOnce(u64) -> Result<(), Fault>,
    ) -> Vec<Answers> {
        let committed = self.transact(|db, ends| ends.append_all(db, group)).and_then(|results| {
            note(self.ends.last.cast_unsigned())?;
            Ok(results)
        });
        committed.unwrap_or_else(|fault| refuse(group, &fault))
    }

    /// Updates `streams`, so that the next process that opens the log has nothing to catch up with,
    /// and folds the write-ahead log into the database.
    pub(super) fn close(&mut self) -> Result<(), Fault> {
        if self.ends.unmarked > 0 {
            self.transact(|db, ends| Ok(ends.move_mark(db)?))?;
        }
        Ok(self.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
    }

    /// Runs `body` in a transaction, and rolls it back on an error.
    fn transact<T>(
        &mut self,
        body: impl FnOnce(&Connection, &mut Ends) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let done = self.attempt(body);
        if done.is_err() {
            self.known = None;
            if !self.db.is_autocommit() {
                // If this fails too, the next BEGIN reports it, and the next group is rejected.
                let _ = self.db.execute_batch("ROLLBACK");
            }
        }
        done
    }

    fn attempt<T>(
        &mut self,
        body: impl FnOnce(&Connection, &mut Ends) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.db.prepare_cached(BEGIN)?.execute([])?;
        // The lock keeps other servers out, but not a person with a SQL prompt. If anybody else
        // changed the database, or a transaction failed, the writer reads its state again.
        let changes = self.db.prepare_cached(CHANGES)?.query_row([], |row| row.get(0))?;
        if self.known != Some(changes) {
            self.ends.read_again(&self.db)?;
            self.known = Some(changes);
        }
        let done = body(&self.db, &mut self.ends)?;
        self.db.prepare_cached(COMMIT)?.execute([])?;
        Ok(done)
    }
}

impl Ends {
    fn read_again(&mut self, db: &Connection) -> Result<(), Fault> {
        self.streams.clear();
        let mut tail = Tail::default();
        tail.catch_up(db)?;
        let (heads, last) = tail.into_parts();
        let mut advance = db.prepare_cached(ADVANCE)?;
        for (id, head) in heads {
            advance.execute((id, head.record, head.version.cast_signed()))?;
        }
        if last > 0 {
            db.prepare_cached(MARK)?.execute([last])?;
        }
        (self.last, self.unmarked, self.grown) = (last, 0, 0);
        Ok(())
    }

    fn append_all(&mut self, db: &Connection, group: &[&[Append]]) -> Result<Vec<Answers>, Fault> {
        let mut new = Vec::with_capacity(group.iter().map(|appends| appends.len()).sum());
        let results = group.iter().map(|appends| -> rusqlite::Result<Answers> {
            appends.iter().map(|append| self.append(db, &mut new, append)).collect()
        });
        let results = results.collect::<rusqlite::Result<_>>()?;
        self.insert(db, &new)?;
        let due = (self.grown * UNMARKED_PER_STREAM).clamp(UNMARKED_MIN, UNMARKED_MAX);
        if self.unmarked >= due || self.streams.len() > STREAMS_MAX {
            self.move_mark(db)?;
        }
        Ok(results)
    }

    /// Adds the record of an append to `new`, unless there is a conflict. Ids have no gaps, so the
    /// id of the record is known before it is inserted.
    fn append<'a>(
        &mut self,
        db: &Connection,
        new: &mut Vec<NewRecord<'a>>,
        append: &'a Append,
    ) -> rusqlite::Result<Result<u64, AppendError>> {
        let stream = match self.streams.get_mut(&append.stream) {
            Some(stream) => stream,
            None => {
                let found = match find(db, &append.stream)? {
                    Some(found) => found,
                    None if append.expected != 0 => return Ok(Err(append.conflict(0))),
                    None => {
                        // The version is that of the first record: a row without records is damage.
                        let version = append.version_after().cast_signed();
                        let id = db.prepare_cached(CREATE)?.insert((&append.stream, version))?;
                        Stream { id, head: Head { record: 0, version: 0 }, grown: false }
                    }
                };
                self.streams.entry(Arc::clone(&append.stream)).or_insert(found)
            }
        };
        let Head { record: prev, version: actual } = stream.head;
        if append.expected != actual {
            return Ok(Err(append.conflict(actual)));
        }
        let (stream_id, first_seq) = (stream.id, (actual + 1).cast_signed());
        let (count, lines) = (append.lines.len().cast_signed(), joined(&append.lines));
        new.push(NewRecord { stream_id, prev, first_seq, count, lines });
        self.last += 1;
        stream.head = Head { record: self.last, version: append.version_after() };
        self.grown += u64::from(!stream.grown);
        stream.grown = true;
        self.unmarked += 1;
        Ok(Ok(stream.head.version))
    }

    /// Inserts records, the last of which has the id `last`.
    fn insert(&self, db: &Connection, mut new: &[NewRecord<'_>]) -> Result<(), Fault> {
        let is_empty = new.is_empty();
        for (rows, sql) in INSERTED_AT_ONCE.into_iter().zip(&self.inserts) {
            if new.len() < rows {
                continue;
            }
            let mut statement = db.prepare_cached(sql)?;
            while let Some((first, rest)) = new.split_at_checked(rows) {
                let mut at = 1;
                for record in first {
                    let lines = &*record.lines;
                    let sum = crc32fast::hash(lines.as_bytes());
                    statement.raw_bind_parameter(at, record.stream_id)?;
                    statement.raw_bind_parameter(at + 1, record.prev)?;
                    statement.raw_bind_parameter(at + 2, record.first_seq)?;
                    statement.raw_bind_parameter(at + 3, record.count)?;
                    statement.raw_bind_parameter(at + 4, sum)?;
                    statement.raw_bind_parameter(at + 5, lines)?;
                    at += 6;
                }
                statement.raw_execute()?;
                new = rest;
            }
        }
        match db.last_insert_rowid() {
            last if is_empty || last == self.last => Ok(()),
            last => Err(Fault::Content(format!("record {} has the id {last}", self.last))),
        }
    }

    fn move_mark(&mut self, db: &Connection) -> rusqlite::Result<()> {
        let mut advance = db.prepare_cached(ADVANCE)?;
        for stream in self.streams.values_mut().filter(|stream| stream.grown) {
            let Head { record, version } = stream.head;
            advance.execute((stream.id, record, version.cast_signed()))?;
            stream.grown = false;
        }
        db.prepare_cached(MARK)?.execute([self.last])?;
        (self.unmarked, self.grown) = (0, 0);
        if self.streams.len() > STREAMS_MAX {
            self.streams.clear();
        }
        Ok(())
    }
}

fn find(db: &Connection, name: &str) -> rusqlite::Result<Option<Stream>> {
    let read = |row: &rusqlite::Row<'_>| {
        let head = Head { record: row.get(1)?, version: row.get::<_, i64>(2)?.cast_unsigned() };
        Ok(Stream { id: row.get(0)?, head, grown: false })
    };
    db.prepare_cached(FIND)?.query_row([name], read).optional()
}

/// The lines of an append as one text.
fn joined(lines: &[String]) -> Cow<'_, str> {
    match lines {
        [line] => line.into(),
        lines => lines.join("\n").into(),
    }
}

/// Rejects every append of the group with the same error.
fn refuse(group: &[&[Append]], fault: &Fault) -> Vec<Answers> {
    let refused = |append: &Append| {
        Err(AppendError::Io {
            stream: append.stream.to_string(),
            kind: fault.kind(),
            message: fault.to_string(),
        })
    };
    group.iter().map(|appends| appends.iter().map(refused).collect()).collect()
}
