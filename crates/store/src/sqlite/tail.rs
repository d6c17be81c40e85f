//! The ends of streams: the rows of `streams`, and the records written since those were updated.
//!
//! An append changes only the end of `records`, so the end of its stream is known only after
//! reading the records behind the mark. They are few and read once: a [`Tail`] remembers how far it
//! has read.

use rusqlite::{Connection, OptionalExtension, Row};
use rustc_hash::FxHashMap;

use super::schema::Fault;

const MARK: &str = "SELECT record_id FROM mark";
const IS_THERE: &str = "SELECT 1 FROM records WHERE id = ?1";
const AFTER: &str = "SELECT id, stream_id, first_seq, count FROM records WHERE id > ?1 ORDER BY id";

/// The end of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// Its last record.
    pub(super) record: i64,
    /// The number of its events.
    pub(super) version: u64,
}

/// A record without its lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slim {
    pub(super) id: i64,
    pub(super) stream_id: i64,
    first_seq: i64,
    count: i64,
}

impl Slim {
    /// From the columns id, stream_id, first_seq, count.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Slim> {
        Ok(Slim {
            id: row.get(0)?,
            stream_id: row.get(1)?,
            first_seq: row.get(2)?,
            count: row.get(3)?,
        })
    }

    fn head(self) -> Head {
        // Invalid numbers are detected when the record is read.
        let end = self.first_seq.saturating_add(self.count).saturating_sub(1);
        Head { record: self.id, version: end.cast_unsigned() }
    }
}

/// The ends of streams that have grown since the mark.
#[derive(Clone, Default)]
pub(super) struct Tail {
    /// The last record read.
    seen: i64,
    heads: FxHashMap<i64, Head>,
}

impl Tail {
    /// Reads the records written since the last call. Call it in the transaction that uses the
    /// ends.
    pub(super) fn catch_up(&mut self, db: &Connection) -> Result<(), Fault> {
        let mark: Option<i64> = db.query_row(MARK, [], |row| row.get(0)).optional()?;
        let mark = mark.ok_or_else(|| Fault::Content("it has no mark".to_owned()))?;
        if mark > self.seen {
            // `streams` is newer now, so the tail never holds more than the records between two
            // marks.
            if db.query_row(IS_THERE, [mark], |_| Ok(())).optional()?.is_none() {
                return Err(missing(mark));
            }
            self.heads.clear();
            self.seen = mark;
        }
        let mut query = db.prepare(AFTER)?;
        let mut rows = query.query([self.seen])?;
        while let Some(row) = rows.next()? {
            let record = Slim::read(row)?;
            // Ids have no gaps. Without this check, a missing last record of a stream would go
            // unnoticed.
            if record.id != self.seen + 1 {
                return Err(missing(self.seen + 1));
            }
            self.add(record);
        }
        Ok(())
    }

    /// A tail that has read nothing after the mark, for callers that find the records by other
    /// means.
    pub(super) fn at_mark(db: &Connection) -> Tail {
        let mark = db.query_row(MARK, [], |row| row.get(0)).unwrap_or(0);
        Tail { seen: mark, heads: FxHashMap::default() }
    }

    /// Adds a record if it comes after those read so far.
    pub(super) fn notice(&mut self, record: Slim) {
        if record.id > self.seen {
            self.add(record);
        }
    }

    fn add(&mut self, record: Slim) {
        self.heads.insert(record.stream_id, record.head());
        self.seen = record.id;
    }

    /// The end of a stream whose row has the end `kept`.
    pub(super) fn head(&self, stream_id: i64, kept: Head) -> Head {
        self.heads.get(&stream_id).copied().unwrap_or(kept)
    }

    /// All ends that are not in `streams` yet, and the last record.
    pub(super) fn into_parts(self) -> (impl Iterator<Item = (i64, Head)>, i64) {
        (self.heads.into_iter(), self.seen)
    }
}

fn missing(id: i64) -> Fault {
    Fault::Content(format!("record {id} is missing"))
}
