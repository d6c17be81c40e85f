//! The one thread that writes: a group of appends is a transaction.
//!
//! An append adds a row to `records` and changes nothing else. The ends of streams are in memory,
//! and are written to `streams` now and then, together with the mark up to which they are valid.

use rusqlite::{Connection, OptionalExtension, Statement};
use rustc_hash::FxHashMap;
use std::sync::Arc;

use super::schema::Fault;
use super::tail::{Head, Tail};
use crate::append::Pending;
use crate::{Append, AppendError};

/// The number of streams whose end is kept in memory; a server may run for years.
const STREAMS_MAX: usize = 100_000;

/// How many records may follow the mark: few enough to read them when the log is opened, and many
/// enough to make moving the mark cheap. It costs a row for every stream that has grown.
pub(super) const UNMARKED_MIN: u64 = 20_000;
const UNMARKED_MAX: u64 = 10 * UNMARKED_MIN;
const UNMARKED_PER_STREAM: u64 = 20;

/// The results of the appends of one caller.
type Answers = Vec<Result<u64, AppendError>>;

pub(super) struct Writer<'db> {
    db: &'db Connection,
    begin: Statement<'db>,
    commit: Statement<'db>,
    changes: Statement<'db>,
    find: Statement<'db>,
    create: Statement<'db>,
    insert: Statement<'db>,
    advance: Statement<'db>,
    mark: Statement<'db>,
    /// The state of the streams in the database, or after the current transaction.
    streams: FxHashMap<Arc<str>, Stream>,
    /// The last record.
    last: i64,
    unmarked: u64,
    /// How many streams have grown since the mark.
    grown: u64,
    /// SQLite's counter of foreign changes when `streams`, `last`, `unmarked` and `grown` were
    /// known to be right; `None` if they are not.
    known: Option<i64>,
    /// A buffer for the joined lines of an append, reused.
    text: String,
}

struct Stream {
    id: i64,
    head: Head,
    /// Whether the stream has grown since the mark.
    grown: bool,
}

impl<'db> Writer<'db> {
    pub(super) fn new(db: &'db Connection) -> rusqlite::Result<Self> {
        Ok(Writer {
            db,
            begin: db.prepare("BEGIN IMMEDIATE")?,
            commit: db.prepare("COMMIT")?,
            changes: db.prepare("PRAGMA data_version")?,
            find: db.prepare("SELECT id, head, version FROM streams WHERE name = ?1")?,
            create: db.prepare("INSERT INTO streams (name, head, version) VALUES (?1, 0, ?2)")?,
            insert: db.prepare(
                "INSERT INTO records (stream_id, prev, first_seq, count, sum, lines)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?,
            advance: db.prepare("UPDATE streams SET head = ?2, version = ?3 WHERE id = ?1")?,
            mark: db.prepare("UPDATE mark SET record_id = ?1")?,
            streams: FxHashMap::default(),
            last: 0,
            unmarked: 0,
            grown: 0,
            known: None,
            text: String::new(),
        })
    }

    /// Makes a group durable, and updates the watermark before it acknowledges anything. A conflict
    /// fails one append; a failure of the disk fails all of them, and the transaction is rolled
    /// back.
    pub(super) fn commit(
        &mut self,
        group: &[Pending],
        note: impl FnOnce(u64) -> Result<(), Fault>,
    ) -> Vec<Answers> {
        let committed = self.transact(|writer| writer.append_all(group)).and_then(|results| {
            note(self.last.cast_unsigned())?;
            Ok(results)
        });
        committed.unwrap_or_else(|fault| refuse(group, &fault))
    }

    /// Updates `streams`, so that the next process that opens the log has nothing to catch up with.
    pub(super) fn close(mut self) -> Result<(), Fault> {
        match self.unmarked {
            0 => Ok(()),
            _ => self.transact(|writer| Ok(writer.move_mark()?)),
        }
    }

    /// Runs `body` in a transaction, and rolls it back on an error.
    fn transact<T>(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let done = self.begin.execute([]).map_err(Fault::from).and_then(|_| {
            self.look_around()?;
            let done = body(self)?;
            self.commit.execute([])?;
            Ok(done)
        });
        if done.is_err() {
            self.known = None;
            if !self.db.is_autocommit() {
                // If this fails too, the next BEGIN reports it, and the next group is rejected.
                let _ = self.db.execute_batch("ROLLBACK");
            }
        }
        done
    }

    /// The lock keeps other servers out, but not a person with a SQL prompt. If anybody else
    /// changed the database, or a transaction failed, the writer reads its state again.
    fn look_around(&mut self) -> Result<(), Fault> {
        let changes = self.changes.query_row([], |row| row.get(0))?;
        if self.known == Some(changes) {
            return Ok(());
        }
        self.streams.clear();
        let mut tail = Tail::default();
        tail.catch_up(self.db)?;
        let (heads, last) = tail.into_parts();
        for (id, head) in heads {
            self.advance.execute((id, head.record, head.version.cast_signed()))?;
        }
        if last > 0 {
            self.mark.execute([last])?;
        }
        (self.last, self.unmarked, self.grown) = (last, 0, 0);
        self.known = Some(changes);
        Ok(())
    }

    fn append_all(&mut self, group: &[Pending]) -> Result<Vec<Answers>, Fault> {
        let results = group.iter().map(|pending| -> rusqlite::Result<Answers> {
            pending.appends.iter().map(|append| self.append(append)).collect()
        });
        let results = results.collect::<rusqlite::Result<_>>()?;
        let due = (self.grown * UNMARKED_PER_STREAM).clamp(UNMARKED_MIN, UNMARKED_MAX);
        if self.unmarked >= due || self.streams.len() > STREAMS_MAX {
            self.move_mark()?;
        }
        Ok(results)
    }

    fn append(&mut self, append: &Append) -> rusqlite::Result<Result<u64, AppendError>> {
        let stream = match self.streams.get_mut(&append.stream) {
            Some(stream) => stream,
            None => {
                let found = match find(&mut self.find, &append.stream)? {
                    Some(found) => found,
                    None if append.expected != 0 => return Ok(Err(append.conflict(0))),
                    None => {
                        // The version is that of the first record: a row without records is damage.
                        let version = append.version_after().cast_signed();
                        let id = self.create.insert((&append.stream, version))?;
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
        let text = joined(&append.lines, &mut self.text);
        let first_seq = (actual + 1).cast_signed();
        let (count, sum) = (append.lines.len().cast_signed(), crc32fast::hash(text.as_bytes()));
        let record = self.insert.insert((stream.id, prev, first_seq, count, sum, text))?;
        stream.head = Head { record, version: append.version_after() };
        self.grown += u64::from(!stream.grown);
        stream.grown = true;
        self.last = record;
        self.unmarked += 1;
        Ok(Ok(stream.head.version))
    }

    fn move_mark(&mut self) -> rusqlite::Result<()> {
        for stream in self.streams.values_mut().filter(|stream| stream.grown) {
            let Head { record, version } = stream.head;
            self.advance.execute((stream.id, record, version.cast_signed()))?;
            stream.grown = false;
        }
        self.mark.execute([self.last])?;
        (self.unmarked, self.grown) = (0, 0);
        if self.streams.len() > STREAMS_MAX {
            self.streams.clear();
        }
        Ok(())
    }
}

fn find(query: &mut Statement<'_>, name: &str) -> rusqlite::Result<Option<Stream>> {
    let read = |row: &rusqlite::Row<'_>| {
        let head = Head { record: row.get(1)?, version: row.get::<_, i64>(2)?.cast_unsigned() };
        Ok(Stream { id: row.get(0)?, head, grown: false })
    };
    query.query_row([name], read).optional()
}

/// The lines of an append as one text; `memory` is a buffer for joining them.
fn joined<'a>(lines: &'a [String], memory: &'a mut String) -> &'a str {
    if let [line] = lines {
        return line;
    }
    memory.clear();
    for line in lines {
        if !memory.is_empty() {
            memory.push('\n');
        }
        memory.push_str(line);
    }
    memory
}

/// Rejects every append of the group with the same error.
pub(super) fn refuse(group: &[Pending], fault: &Fault) -> Vec<Answers> {
    let refused = |append: &Append| {
        Err(AppendError::Io {
            stream: append.stream.to_string(),
            kind: fault.kind(),
            message: fault.to_string(),
        })
    };
    group.iter().map(|pending| pending.appends.iter().map(refused).collect()).collect()
}
