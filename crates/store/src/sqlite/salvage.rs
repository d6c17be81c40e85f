//! Recovers records from a database with broken chains by reading every readable record.
//!
//! A chain is followed from its end, so records before a broken link cannot be reached. This module
//! finds them by the stream that every record names.

use rusqlite::{Connection, Statement};
use rustc_hash::FxHashMap;

use super::tail::{Slim, Tail};

const SCAN: &str = "SELECT id, stream_id, first_seq, count FROM records WHERE id > ?1 ORDER BY id";

/// Queries for ids that are known to have been assigned.
const ENDS: [&str; 3] =
    ["SELECT max(id) FROM records", "SELECT max(head) FROM streams", "SELECT record_id FROM mark"];

/// How many unreadable ids to skip, one at a time: enough for thousands of bad pages.
const FAILURES_MAX: usize = 1_000_000;

/// The records of every stream, by their ids, in the order they were written in.
pub(super) struct Salvage {
    streams: FxHashMap<i64, Vec<i64>>,
    /// The ends of streams, as far as they can be known.
    pub(super) tail: Tail,
}

impl Salvage {
    pub(super) fn of(db: &Connection) -> Salvage {
        let mut salvage = Salvage { streams: FxHashMap::default(), tail: Tail::at_mark(db) };
        let Ok(mut query) = db.prepare(SCAN) else { return salvage };
        let ends = ENDS.map(|sql| db.query_row(sql, [], |row| row.get(0)).unwrap_or(0));
        let last = ends.into_iter().max().unwrap_or(0);
        let mut at = 0;
        for _ in 0..FAILURES_MAX {
            match salvage.scan(&mut query, &mut at) {
                // The next id may be on the same bad page, so try ids until one is readable.
                Err(_) if at < last => at += 1,
                _ => break,
            }
        }
        salvage
    }

    fn scan(&mut self, query: &mut Statement<'_>, at: &mut i64) -> rusqlite::Result<()> {
        let mut rows = query.query([*at])?;
        while let Some(row) = rows.next()? {
            let record = Slim::read(row)?;
            *at = record.id;
            self.streams.entry(record.stream_id).or_default().push(record.id);
            self.tail.notice(record);
        }
        Ok(())
    }

    pub(super) fn records_of(&self, stream_id: i64) -> &[i64] {
        self.streams.get(&stream_id).map_or(&[], Vec::as_slice)
    }
}
