//! Reading, on a connection of its own, so that it never waits for a commit.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::Client;

use super::schema::{Database, RECONNECT_PAUSE, is_lost};
use crate::LogError;
use crate::line::Header;

const RECORDS: &str = "
    SELECT first_seq, count, checksum, lines FROM agon.records
    WHERE stream = $1 AND first_seq > coalesce((
        SELECT first_seq FROM agon.records
        WHERE stream = $1 AND first_seq <= $2 ORDER BY first_seq DESC LIMIT 1
    ), 1) - 1
    ORDER BY first_seq";

/// The streams one after another through the index, without reading the records between.
const STREAMS: &str = "
    WITH RECURSIVE name (stream) AS (
        (SELECT stream FROM agon.records ORDER BY stream LIMIT 1)
        UNION ALL
        SELECT (
            SELECT record.stream FROM agon.records AS record
            WHERE record.stream > name.stream ORDER BY record.stream LIMIT 1
        ) FROM name WHERE name.stream IS NOT NULL
    )
    SELECT name.stream, (
        SELECT first_seq + count - 1 FROM agon.records AS record
        WHERE record.stream = name.stream ORDER BY first_seq DESC LIMIT 1
    ) FROM name WHERE name.stream IS NOT NULL";

const LATEST: &str = "SELECT lines FROM agon.records ORDER BY id DESC LIMIT 1";

const KEEP: &str = "
    INSERT INTO agon.snapshots VALUES ($1, $2) ON CONFLICT (stream) DO UPDATE SET body = $2";

/// How long a reader waits for a database that does not answer.
const LOST_MAX: Duration = Duration::from_secs(4);

pub(super) struct Reader {
    database: Database,
    /// None only while the reader is dropped.
    client: Mutex<Option<Client>>,
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Closing a connection blocks, which a thread of an asynchronous runtime may not do.
        let client = self.client.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let _ = std::thread::spawn(move || drop(client)).join();
    }
}

impl Reader {
    pub(super) fn new(database: Database, client: Client) -> Reader {
        Reader { database, client: Mutex::new(Some(client)) }
    }

    pub(super) fn database(&self) -> &Database {
        &self.database
    }

    pub(super) fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let Some(first) = after.checked_add(1).and_then(|first| i64::try_from(first).ok()) else {
            return Ok(Vec::new());
        };
        let rows = self.ask("read", |client| client.query(RECORDS, &[&stream, &first]))?;
        let mut lines = Vec::new();
        let mut due = None;
        for row in rows {
            let (seq, count): (i64, i64) = (row.get(0), row.get(1));
            let text: &str = row.get(3);
            let bad = |reason: &str| LogError::BadRecord {
                path: self.database.label().clone(),
                stream: stream.to_owned(),
                seq: seq.cast_unsigned(),
                reason: reason.to_owned(),
            };
            if due.unwrap_or(seq.min(first)) != seq {
                return Err(bad("a record before it is missing"));
            }
            if i64::from(crc32fast::hash(text.as_bytes())) != row.get::<_, i64>(2) {
                return Err(bad("its checksum is wrong"));
            }
            due = Some(seq + count);
            for (number, line) in (seq..).zip(text.split('\n')) {
                if number >= first {
                    lines.push(line.to_owned());
                }
            }
        }
        if let Some(line) = lines.first() {
            check_place(&self.database, stream, first.cast_unsigned(), line)?;
        }
        Ok(lines)
    }

    pub(super) fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let rows = self.ask("read", |client| client.query(STREAMS, &[]))?;
        let stream = |row: &postgres::Row| (row.get(0), row.get::<_, i64>(1).cast_unsigned());
        Ok(rows.iter().map(stream).collect())
    }

    /// The last event of the last record.
    pub(super) fn latest(&self) -> Result<Option<String>, LogError> {
        let row = self.ask("read", |client| client.query_opt(LATEST, &[]))?;
        Ok(row.and_then(|row| {
            let lines: &str = row.get(0);
            lines.rsplit('\n').next().map(str::to_owned)
        }))
    }

    pub(super) fn keep_snapshot(&self, stream: &str, body: &str) -> Result<(), LogError> {
        self.ask("write a snapshot to", |client| client.execute(KEEP, &[&stream, &body]))?;
        Ok(())
    }

    pub(super) fn snapshot(&self, stream: &str) -> Result<Option<String>, LogError> {
        let query = "SELECT body FROM agon.snapshots WHERE stream = $1";
        let row = self.ask("read", |client| client.query_opt(query, &[&stream]))?;
        Ok(row.map(|row| row.get(0)))
    }

    /// Asks the database something that may be asked twice. If the connection is lost, this tries
    /// for a few seconds to open another.
    pub(super) fn ask<T>(
        &self,
        what: &'static str,
        mut query: impl FnMut(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, LogError> {
        let mut held = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        let client = held.as_mut().ok_or(LogError::Closed)?;
        let mut answer = query(client);
        let begun = Instant::now();
        while answer.as_ref().is_err_and(is_lost) && begun.elapsed() < LOST_MAX {
            std::thread::sleep(RECONNECT_PAUSE);
            answer = self.database.connect().and_then(|new| {
                *client = new;
                query(client)
            });
        }
        answer.map_err(|error| self.database.failure(what, &error))
    }
}

/// Checks that the first line of an answer is the event that was asked for.
fn check_place(database: &Database, stream: &str, seq: u64, line: &str) -> Result<(), LogError> {
    let bad = |reason: String| LogError::BadRecord {
        path: database.label().clone(),
        stream: stream.to_owned(),
        seq,
        reason,
    };
    let header = Header::peek(line).map_err(|error| bad(error.to_string()))?;
    header.expect(stream, seq, None).map_err(bad)
}
