//! Reads several whole streams in one pass over the log.
//!
//! The records of all streams are interleaved. A walk along one stream looks up every record by
//! itself, which costs more than processing it. A pass reads every page once.

use rusqlite::{Connection, OptionalExtension, Row};
use rustc_hash::FxHashMap;

use super::lookup::Stream;
use super::schema::Fault;
use super::tail::Head;
use crate::log::{ReaderShare, StreamPart};

/// The records from `?1` to `?2` of the streams that reader `?4` of `?3` reads. SQLite copies a text
/// to end it with a zero byte, and a blob not.
const RECORDS: &str = "
    SELECT id, stream_id, prev, first_seq, count, sum, CAST(lines AS BLOB) FROM records
    WHERE id BETWEEN ?1 AND ?2 AND stream_id % ?3 = ?4 ORDER BY id";

const LINK: &str = "SELECT prev FROM records WHERE id = ?1";

/// How many records a pass may read for each wanted event. Beyond that, walks are faster.
const RECORDS_PER_EVENT_MAX: u64 = 8;

/// A stream as far as a pass has read it.
struct Wanted {
    /// Its place in the caller's list.
    index: usize,
    head: Head,
    /// Its last record so far; 0 before the first.
    last: i64,
    /// The number of its next event.
    due: u64,
}

/// Shows the records of streams in the order of the log. A stream with a missing or damaged record
/// is not shown to its end.
pub(super) fn read_together(
    db: &Connection,
    streams: Vec<(usize, Stream)>,
    share: ReaderShare,
    take: &mut dyn FnMut(StreamPart<'_>),
) -> Result<(), Fault> {
    let Some((_, oldest)) = streams.iter().min_by_key(|(_, stream)| stream.id) else {
        return Ok(());
    };
    // Streams are numbered in the order of their first records.
    let first = first_record(db, oldest.head.record)?;
    let last = streams.iter().map(|(_, stream)| stream.head.record).max().unwrap_or(0);
    let events: u64 = streams.iter().map(|(_, stream)| stream.head.version).sum();
    if last.abs_diff(first) > events.saturating_mul(RECORDS_PER_EVENT_MAX) {
        return Ok(());
    }
    let (readers, reader) = (i64::from(share.readers), i64::from(share.reader));
    let own = streams.into_iter().filter(|(_, stream)| stream.id % readers == reader);
    let wanted = own.map(|(index, Stream { id, head, .. })| {
        let (last, due) = (0, 1);
        (id, Wanted { index, head, last, due })
    });
    let mut wanted: FxHashMap<i64, Wanted> = wanted.collect();
    let mut query = db.prepare(RECORDS)?;
    let mut rows = query.query([first, last, readers, reader])?;
    while let Some(row) = rows.next()? {
        let id = row.get(1)?;
        let Some(stream) = wanted.get_mut(&id) else { continue };
        match stream.next(row)? {
            Some(part) => take(part),
            // The stream is loaded by itself, which names the damage.
            None => drop(wanted.remove(&id)),
        }
    }
    Ok(())
}

/// Walks back to the first record of a stream.
fn first_record(db: &Connection, head: i64) -> Result<i64, Fault> {
    let mut link = db.prepare(LINK)?;
    let mut id = head;
    loop {
        let prev: Option<i64> = link.query_row([id], |row| row.get(0)).optional()?;
        // The id decreases with every step, so the walk ends.
        match prev.filter(|prev| *prev > 0 && *prev < id) {
            Some(prev) => id = prev,
            None => return Ok(id),
        }
    }
}

impl Wanted {
    /// The next record, from a row of `RECORDS`; `None` if it is damaged, or not the next one.
    fn next<'a>(&mut self, row: &'a Row<'_>) -> rusqlite::Result<Option<StreamPart<'a>>> {
        let (id, prev): (i64, i64) = (row.get(0)?, row.get(2)?);
        let (seq, count) = (row.get::<_, i64>(3)?, row.get::<_, i64>(4)?);
        let (seq, count) = (seq.cast_unsigned(), count.cast_unsigned());
        let sum: Option<i64> = row.get(5)?;
        let Ok(bytes) = row.get_ref(6)?.as_blob() else { return Ok(None) };
        let breaks = memchr::memchr_iter(b'\n', bytes).count() as u64;
        let is_next = prev == self.last && seq == self.due && breaks + 1 == count;
        let is_whole = sum.is_none_or(|sum| sum == i64::from(crc32fast::hash(bytes)));
        let Some(lines) = std::str::from_utf8(bytes).ok().filter(|_| is_next && is_whole) else {
            return Ok(None);
        };
        (self.last, self.due) = (id, seq + count);
        let is_last = id == self.head.record && self.due == self.head.version + 1;
        Ok(Some(StreamPart { stream: self.index, lines, is_last, events: self.head.version }))
    }
}
