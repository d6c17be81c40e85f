//! Reading, on a connection of its own, so that it never waits for a commit.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::schema::{failure, has_sums, open_reader};
use crate::line::Header;
use crate::sum::crc32;
use crate::{Damage, Inspection, LogError};

const STREAMS: &str = "SELECT name, version FROM streams ORDER BY name";

/// The records of a stream from the one that holds event `after + 1`, and the version it has. A
/// stream without records is one row without a record.
const RECORDS: &str = "
    SELECT s.version, r.first_seq, r.count, r.lines, r.sum
    FROM streams s LEFT JOIN records r ON r.stream_id = s.id AND r.first_seq >= coalesce((
        SELECT max(first_seq) FROM records WHERE stream_id = s.id AND first_seq <= ?2
    ), 0)
    WHERE s.name = ?1
    ORDER BY r.first_seq";

const ORPHANS: &str = "
    SELECT count(*) FROM records WHERE stream_id NOT IN (SELECT id FROM streams)";

pub(crate) struct Reader {
    path: PathBuf,
    db: Mutex<Connection>,
    /// [`RECORDS`], or the same for a database that has no checksums.
    records: String,
}

impl Reader {
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let db = open_reader(path)?;
        let records = match has_sums(&db).map_err(|error| failure("open", path, &error))? {
            true => RECORDS.to_owned(),
            false => RECORDS.replace("r.sum", "NULL"),
        };
        Ok(Reader { path: path.to_owned(), db: Mutex::new(db), records })
    }

    /// From now on everything is read as of this instant, however the log grows.
    pub(crate) fn hold_still(&self) -> Result<(), LogError> {
        // The instant is that of the first look.
        let begin = "BEGIN; SELECT count(*) FROM sqlite_schema";
        self.lock().execute_batch(begin).map_err(|error| failure("check", &self.path, &error))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn load(&self, stream: &str, after: u64) -> Result<Vec<String>, LogError> {
        let Some(first) = after.checked_add(1).and_then(|first| i64::try_from(first).ok()) else {
            return Ok(Vec::new());
        };
        let mut lines = Vec::new();
        self.each_record(stream, first, |seq, text| {
            let skip = usize::try_from((after + 1).saturating_sub(seq)).unwrap_or(usize::MAX);
            lines.extend(text.split('\n').skip(skip).map(str::to_owned));
            Ok(())
        })?;
        Ok(lines)
    }

    pub(crate) fn streams(&self) -> Result<Vec<(String, u64)>, LogError> {
        let db = self.lock();
        db.prepare(STREAMS)
            .and_then(|mut query| {
                let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?));
                query.query_map([], row)?.collect::<rusqlite::Result<Vec<_>>>()
            })
            .map_err(|error| failure("read", &self.path, &error))
            .map(|list| list.into_iter().map(|(name, v)| (name, v.cast_unsigned())).collect())
    }

    /// Looks at every page and every event; uses up the reader.
    pub(super) fn check(self) -> Result<(), LogError> {
        self.hold_still()?;
        self.check_pages()?;
        for (stream, _) in self.streams()? {
            self.each_record(&stream, 1, |seq, text| check_headers(&stream, seq, text))?;
        }
        Ok(())
    }

    /// Looks at every page, and for records that belong to nobody.
    pub(crate) fn check_pages(&self) -> Result<(), LogError> {
        let failed = |error| failure("check", &self.path, &error);
        let one = |sql| self.lock().query_row(sql, [], |row| row.get::<_, String>(0));
        let verdict = one("PRAGMA quick_check(1)").map_err(failed)?;
        if verdict != "ok" {
            return Err(self.bad(verdict));
        }
        let orphans = self.lock().query_row(ORPHANS, [], |row| row.get::<_, i64>(0));
        match orphans.map_err(failed)? {
            0 => Ok(()),
            count => Err(self.bad(format!("{count} records belong to no stream"))),
        }
    }

    /// A stream up to its first bad record.
    pub(crate) fn inspect(&self, stream: &str) -> Inspection {
        let mut lines: Vec<String> = Vec::new();
        let walked = self.each_record(stream, 1, |seq, text| {
            check_headers(stream, seq, text)?;
            lines.extend(text.split('\n').map(str::to_owned));
            Ok(())
        });
        let damage = walked.err().map(|error| {
            let (seq, reason) = match error {
                LogError::BadRecord { seq, reason, .. } => (seq, reason),
                other => (lines.len() as u64 + 1, other.to_string()),
            };
            Damage { seq, reason, torn: false }
        });
        Inspection { lines, damage }
    }

    /// Shows the records of a stream, beginning with the one that holds event `first`, after
    /// making sure that none is missing in between or at the end and that each is as it was.
    fn each_record(
        &self,
        stream: &str,
        first: i64,
        mut each: impl FnMut(u64, &str) -> Result<(), (u64, String)>,
    ) -> Result<(), LogError> {
        let failed = |error| failure("read", &self.path, &error);
        let bad = |(seq, reason)| LogError::BadRecord {
            path: self.path.clone(),
            stream: stream.to_owned(),
            seq,
            reason,
        };
        let db = self.lock();
        let mut query = db.prepare(&self.records).map_err(failed)?;
        let mut rows = query.query((stream, first)).map_err(failed)?;
        let first = first.cast_unsigned();
        let (mut due, mut version) = (None, 0);
        while let Some(row) = rows.next().map_err(failed)? {
            version = row.get::<_, i64>(0).map_err(failed)?.cast_unsigned();
            let Some(seq) = row.get::<_, Option<i64>>(1).map_err(failed)? else { break };
            let seq = seq.cast_unsigned();
            let count = row.get::<_, i64>(2).map_err(failed)?.cast_unsigned();
            let text = row.get_ref(3).map_err(failed)?.as_str();
            let text = text.map_err(|error| bad((seq, error.to_string())))?;
            let lines = text.split('\n').count() as u64;
            // A walk from the start must begin with 1, one from the middle before its middle.
            if due.map_or(seq > first, |due| seq != due) || lines != count {
                let due = due.unwrap_or(first);
                let reason = format!("{lines} events from {seq} where {count} from {due} are due");
                return Err(bad((due, reason)));
            }
            let kept = row.get::<_, Option<i64>>(4).map_err(failed)?;
            let found = crc32(text.as_bytes());
            if let Some(kept) = kept.filter(|kept| *kept != i64::from(found)) {
                let reason = format!("the checksum of its record is {found:08x}, not {kept:08x}");
                return Err(bad((seq, reason)));
            }
            due = Some(seq + count);
            each(seq, text).map_err(bad)?;
        }
        // A walk from beyond the end has seen the last record, or there was none at all.
        match due.map_or(0, |due| due - 1) {
            last if last != version => {
                let reason = format!("the stream ends at event {last}, not at {version}");
                Err(bad((last + 1, reason)))
            }
            _ => Ok(()),
        }
    }

    fn bad(&self, reason: String) -> LogError {
        LogError::BadDatabase { path: self.path.clone(), reason }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks the events of a record; the first bad one and what is wrong with it.
fn check_headers(stream: &str, seq: u64, text: &str) -> Result<(), (u64, String)> {
    let count = text.split('\n').count() as u64;
    for (index, line) in (0..).zip(text.split('\n')) {
        Header::parse(line)
            .map_err(|error| error.to_string())
            .and_then(|head| head.expect(stream, seq + index, Some(count - 1 - index)))
            .map_err(|why| (seq + index, why))?;
    }
    Ok(())
}
