//! Reading, on a connection of its own, so that it never waits for a commit.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::Client;

use super::schema::{Database, RECONNECT_PAUSE, is_lost};
use crate::LogError;
use crate::line::Header;
use crate::log::{ReaderShare, StreamPart};

const RECORDS: &str = "
    SELECT first_seq, count, checksum, lines FROM agon.records
    WHERE stream = $1 AND first_seq > coalesce((
        SELECT first_seq FROM agon.records
        WHERE stream = $1 AND first_seq <= $2 ORDER BY first_seq DESC LIMIT 1
    ), 1) - 1
    ORDER BY first_seq";

/// The records of several streams, each with the place of its stream among them.
const TOGETHER: &str = "
    SELECT wanted.place, record.first_seq, record.count, record.checksum, record.lines
    FROM unnest($1::text[]) WITH ORDINALITY AS wanted (stream, place)
    JOIN agon.records AS record ON record.stream = wanted.stream
    ORDER BY wanted.place, record.first_seq";

/// How many streams one query reads. Their records are in memory at once, here and in the database.
const STREAMS_PER_QUERY: usize = 200;

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
        let mut records = Records { database: &self.database, stream, due: None };
        let mut lines = Vec::new();
        for row in &rows {
            let record = Record::of(row, 0);
            let text = records.next(&record, first)?;
            let numbered = (record.seq..).zip(text.split('\n'));
            let wanted = numbered.filter(|(number, _)| *number >= first);
            lines.extend(wanted.map(|(_, line)| line.to_owned()));
        }
        if let Some(line) = lines.first() {
            check_place(&self.database, stream, first.cast_unsigned(), line)?;
        }
        Ok(lines)
    }

    /// The lines of several whole streams.
    pub(super) fn load_together(&self, streams: &[&str]) -> Result<Vec<Vec<String>>, LogError> {
        let mut all = vec![Vec::new(); streams.len()];
        let places: Vec<usize> = (0..streams.len()).collect();
        for part in places.chunks(STREAMS_PER_QUERY) {
            self.read_part(streams, part, &mut |StreamPart { stream, lines, .. }| {
                all[stream].extend(lines.split('\n').map(str::to_owned));
            })?;
        }
        Ok(all)
    }

    /// Shows the records of one reader's share of streams.
    pub(super) fn read_together(
        &self,
        streams: &[&str],
        share: ReaderShare,
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        let own = (share.reader as usize..streams.len()).step_by(share.readers.max(1) as usize);
        let own: Vec<usize> = own.collect();
        own.chunks(STREAMS_PER_QUERY).try_for_each(|part| self.read_part(streams, part, take))
    }

    /// Shows the records of the streams at some places of a list, with one query.
    fn read_part(
        &self,
        streams: &[&str],
        places: &[usize],
        take: &mut dyn FnMut(StreamPart<'_>),
    ) -> Result<(), LogError> {
        let names: Vec<&str> = places.iter().map(|place| streams[*place]).collect();
        let rows = self.ask("read", |client| client.query(TOGETHER, &[&names]))?;
        let number = |row: &postgres::Row| row.get::<_, i64>(0);
        for of_stream in rows.chunk_by(|one, next| number(one) == number(next)) {
            // The database counts from 1.
            let place = places[(number(&of_stream[0]) - 1) as usize];
            let stream = streams[place];
            let mut records = Records { database: &self.database, stream, due: None };
            let last = Record::of(&of_stream[of_stream.len() - 1], 1);
            let events = (last.seq + last.count - 1).cast_unsigned();
            for row in of_stream {
                let record = Record::of(row, 1);
                let lines = records.next(&record, 1)?;
                if record.seq == 1 {
                    let line = lines.split('\n').next().unwrap_or(lines);
                    check_place(&self.database, stream, 1, line)?;
                }
                let is_last = record.seq == last.seq;
                take(StreamPart { stream: place, lines, is_last, events });
            }
        }
        Ok(())
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

/// A record as a row of a query.
struct Record<'a> {
    seq: i64,
    count: i64,
    checksum: i64,
    lines: &'a str,
}

impl<'a> Record<'a> {
    /// The record in the columns of a row from the one with this number on.
    fn of(row: &'a postgres::Row, first: usize) -> Record<'a> {
        let number = |at: usize| row.get::<_, i64>(first + at);
        Record { seq: number(0), count: number(1), checksum: number(2), lines: row.get(first + 3) }
    }
}

/// The records of a stream, which are checked one after another.
struct Records<'a> {
    database: &'a Database,
    stream: &'a str,
    /// The number of the next event.
    due: Option<i64>,
}

impl Records<'_> {
    /// Checks the next record; the first one must have event `first`, or come later than that one's
    /// record. Returns its lines.
    fn next<'a>(&mut self, record: &Record<'a>, first: i64) -> Result<&'a str, LogError> {
        let bad = |reason: &str| LogError::BadRecord {
            path: self.database.label().clone(),
            stream: self.stream.to_owned(),
            seq: record.seq.cast_unsigned(),
            reason: reason.to_owned(),
        };
        if self.due.unwrap_or(record.seq.min(first)) != record.seq {
            return Err(bad("a record before it is missing"));
        }
        if i64::from(crc32fast::hash(record.lines.as_bytes())) != record.checksum {
            return Err(bad("its checksum is wrong"));
        }
        self.due = Some(record.seq + record.count);
        Ok(record.lines)
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
