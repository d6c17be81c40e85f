//! What is left of a database whose chains are broken: a look at every record that can be read.
//!
//! A chain is followed from its end, so what comes before a broken link is out of its reach. Here
//! it is found again, by the stream every record names.

use rusqlite::Connection;

use super::tail::{Slim, Tail};
use crate::hash::Ids;

const SCAN: &str = "SELECT id, stream_id, first_seq, count FROM records WHERE id > ?1 ORDER BY id";

/// How often to step over what cannot be read, an id at a time: thousands of bad pages.
const FAILURES_MAX: usize = 1_000_000;

/// The records of every stream, by their ids, in the order they were written in.
pub(super) struct Salvage {
    streams: Ids<i64, Vec<i64>>,
    /// Where streams end, as far as that can be known.
    pub(super) tail: Tail,
}

impl Salvage {
    pub(super) fn of(db: &Connection) -> Salvage {
        let mut salvage = Salvage { streams: Ids::default(), tail: Tail::at_mark(db) };
        let mut at = 0;
        for _ in 0..FAILURES_MAX {
            match salvage.scan(db, &mut at) {
                Ok(()) => break,
                // The same page again, until it is past.
                Err(_) => at += 1,
            }
        }
        salvage
    }

    fn scan(&mut self, db: &Connection, at: &mut i64) -> rusqlite::Result<()> {
        let mut query = db.prepare(SCAN)?;
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
