//! Reads the records of a stream in order, in each format, and checks that none is missing or
//! damaged.

use rusqlite::{Connection, OptionalExtension, Row};

use super::schema::{Fault, has_sums};
use super::tail::Head;
use crate::line::Header;

/// A record, found by its id.
const RECORD: &str = "
    SELECT first_seq, count, sum, lines, stream_id, prev FROM records WHERE id = ?1";

/// Format 1: the records of a stream from the one that holds event `?2`.
const INDEXED: &str = "
    SELECT first_seq, count, sum, lines FROM records
    WHERE stream_id = ?1 AND first_seq >= coalesce((
        SELECT max(first_seq) FROM records WHERE stream_id = ?1 AND first_seq <= ?2
    ), 0)
    ORDER BY first_seq";

/// The last existing event before a given one; scans every record.
const LAST_BEFORE: &str = "
    SELECT max(first_seq + count - 1) FROM records WHERE stream_id = ?1 AND first_seq < ?2";

/// A decision as it is stored.
pub(super) struct Record {
    seq: u64,
    count: u64,
    sum: Option<i64>,
    /// Its events, joined by newlines, or why they are not text.
    lines: Result<String, String>,
}

impl Record {
    /// From the columns first_seq, count, sum, lines.
    fn read(row: &Row<'_>) -> rusqlite::Result<Record> {
        let lines = row.get_ref(3)?.as_str();
        Ok(Record {
            seq: row.get::<_, i64>(0)?.cast_unsigned(),
            count: row.get::<_, i64>(1)?.cast_unsigned(),
            sum: row.get(2)?,
            lines: lines.map(str::to_owned).map_err(|error| error.to_string()),
        })
    }

    /// The number of the event after it.
    fn next(&self) -> u64 {
        self.seq.saturating_add(self.count)
    }
}

/// Why a stream cannot be read.
#[derive(Debug)]
pub(super) enum Break {
    /// A missing or damaged event, and the reason.
    At(u64, String),
    /// A fault that affects more than this stream.
    Fault(Fault),
}

impl<E: Into<Fault>> From<E> for Break {
    fn from(error: E) -> Self {
        Break::Fault(error.into())
    }
}

/// Walks back from the end of a stream to the record that holds event `first`.
pub(super) fn walk(
    db: &Connection,
    stream_id: i64,
    head: Head,
    first: u64,
) -> Result<Vec<Record>, Break> {
    let mut query = db.prepare(RECORD)?;
    let mut records: Vec<Record> = Vec::new();
    let mut id = head.record;
    while id != 0 {
        let found = query.query_row([id], |row| {
            Ok((row.get::<_, i64>(4)?, row.get::<_, i64>(5)?, Record::read(row)?))
        });
        let after = records.last().map(|record| record.seq);
        match found.optional()? {
            Some((stream, prev, record))
                if stream == stream_id && after.is_none_or(|after| record.seq < after) =>
            {
                // The id decreases with every step, so the walk ends.
                id = if record.seq <= first { 0 } else { prev };
                records.push(record);
            }
            _ => return Err(gap(db, stream_id, after, head.version)),
        }
    }
    records.reverse();
    Ok(records)
}

/// The error of a walk that found no record before event `after`, or at the end of the stream.
fn gap(db: &Connection, stream_id: i64, after: Option<u64>, version: u64) -> Break {
    let before = after.map_or(i64::MAX, u64::cast_signed);
    let last = db.query_row(LAST_BEFORE, (stream_id, before), |row| row.get::<_, Option<i64>>(0));
    let last = match last {
        Ok(last) => last.unwrap_or(0).cast_unsigned(),
        Err(error) => return Break::Fault(error.into()),
    };
    let reason = match after {
        Some(after) => format!("the record before that from {after} is missing"),
        None if last == version => "the end of the stream is not where it should be".to_owned(),
        None => format!("the stream ends at event {last}, not at {version}"),
    };
    Break::At(last.saturating_add(1), reason)
}

/// Like `walk`, in a database of format 1, which has an index.
pub(super) fn look_up(db: &Connection, stream_id: i64, first: u64) -> Result<Vec<Record>, Break> {
    let sql = match has_sums(db, "records")? {
        true => INDEXED.to_owned(),
        false => INDEXED.replace("sum, lines", "NULL, lines"),
    };
    let mut query = db.prepare(&sql)?;
    let records = query.query_map((stream_id, first.cast_signed()), Record::read)?;
    Ok(records.collect::<rusqlite::Result<_>>()?)
}

/// Some records by their ids; unreadable ones are left out.
pub(super) fn pick(db: &Connection, ids: &[i64]) -> Vec<Record> {
    let sql = match has_sums(db, "records") {
        Ok(true) => RECORD.replace(", stream_id, prev", ""),
        _ => RECORD.replace(", stream_id, prev", "").replace("sum, lines", "NULL, lines"),
    };
    let Ok(mut query) = db.prepare(&sql) else { return Vec::new() };
    ids.iter().map_while(|id| query.query_row([id], Record::read).ok()).collect()
}

/// Visits the records of a stream of `version` events, from the one that holds event `first`. It
/// first checks that none is missing or damaged.
pub(super) fn each(
    records: Vec<Record>,
    first: u64,
    version: u64,
    mut show: impl FnMut(u64, &str) -> Result<(), (u64, String)>,
) -> Result<(), (u64, String)> {
    let mut due = None;
    for record in records {
        let (seq, count) = (record.seq, record.count);
        let text = record.lines.as_ref().map_err(|reason| (seq, reason.clone()))?;
        let lines = text.split('\n').count() as u64;
        // A walk from the start must begin with event 1; one from the middle may begin before
        // `first`.
        if due.map_or(seq > first, |due| seq != due) || lines != count {
            let due = due.unwrap_or(first);
            let reason = format!("{lines} events from {seq} where {count} from {due} are due");
            return Err((due, reason));
        }
        let found = crc32fast::hash(text.as_bytes());
        if let Some(kept) = record.sum.filter(|kept| *kept != i64::from(found)) {
            let reason = format!("the checksum of its record is {found:08x}, not {kept:08x}");
            return Err((seq, reason));
        }
        due = Some(record.next());
        show(seq, text)?;
    }
    // A walk from beyond the end has seen the last record, unless the stream has none.
    match due.map_or(0, |due| due - 1) {
        last if last != version => {
            Err((last + 1, format!("the stream ends at event {last}, not at {version}")))
        }
        _ => Ok(()),
    }
}

/// The number of the last event of some records.
pub(super) fn end_of(records: &[Record]) -> u64 {
    records.last().map_or(0, |record| record.next().saturating_sub(1))
}

/// Checks the events of a record; returns the first bad one and the reason.
pub(super) fn check_headers(stream: &str, seq: u64, text: &str) -> Result<(), (u64, String)> {
    let count = text.split('\n').count() as u64;
    for (index, line) in (0..).zip(text.split('\n')) {
        Header::parse(line)
            .map_err(|error| error.to_string())
            .and_then(|head| head.expect(stream, seq + index, Some(count - 1 - index)))
            .map_err(|why| (seq + index, why))?;
    }
    Ok(())
}
